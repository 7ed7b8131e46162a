//! What part of the world a row of cells shows.

use glam::Vec3;
use gpuskin_rt::{Aabb, Camera};

/// The camera stands to the right of where models face (+z), and looks down a little. Radians.
const YAW: f32 = 0.62;
const PITCH: f32 = 0.3;
/// Room around what is framed.
const MARGIN: f32 = 1.06;
/// Clips that reach this much further than most have rows of their own scale.
const FAR: f32 = 1.5;
/// A model is as large as its ground is far from the lowest of it, at most so: else the ground is put under it.
const GROUND_TOLERANCE: f32 = 0.2;

/// A parallel view, in world units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Framing {
    /// The middle of what is seen.
    pub(super) target: Vec3,
    /// From the middle to the left and the upper edge.
    pub(super) half: [f32; 2],
    /// Height of the ground.
    pub(super) ground: f32,
    /// Units between the lines of its grid.
    pub(super) step: f32,
    /// How far what is seen reaches from the middle.
    reach: f32,
}

/// Towards the camera; to its right; up in its picture.
fn axes() -> [Vec3; 3] {
    let toward = Vec3::new(YAW.sin() * PITCH.cos(), PITCH.sin(), YAW.cos() * PITCH.cos());
    let right = Vec3::Y.cross(toward).normalize();
    [toward, right, toward.cross(right)]
}

impl Framing {
    /// Shows a box. `aspect`: width over height.
    fn new(bounds: Aabb, aspect: f32) -> Self {
        let bounds = sane(bounds);
        let (min, max) = (Vec3::from(bounds.min), Vec3::from(bounds.max));
        let (middle, size) = (min.midpoint(max), max - min);
        let [_, right, up] = axes();
        // A box is symmetric: so is its outline.
        let reach = |axis: Vec3| 0.5 * size.dot(axis.abs());
        let half_width = reach(right).max(reach(up) * aspect) * MARGIN;
        let near_ground = min.y.abs() <= GROUND_TOLERANCE * size.y.max(0.25 * size.length());
        Self {
            target: middle,
            half: [half_width, half_width / aspect],
            ground: if near_ground { 0.0 } else { min.y },
            step: round_step(half_width * 0.4),
            reach: size.length() + 4.0 * half_width,
        }
    }

    /// Whether all of a box is seen.
    fn shows(&self, bounds: Aabb) -> bool {
        let bounds = sane(bounds);
        let (min, max) = (Vec3::from(bounds.min), Vec3::from(bounds.max));
        let (off, size) = (min.midpoint(max) - self.target, max - min);
        let [_, right, up] = axes();
        let within = |axis: Vec3, half: f32| off.dot(axis).abs() + 0.5 * size.dot(axis.abs()) <= half;
        within(right, self.half[0]) && within(up, self.half[1])
    }

    pub(super) fn camera(&self) -> Camera {
        let eye = self.target + axes()[0] * self.reach;
        Camera::orthographic_look_at(eye, self.target, self.half[0], self.half[1], 2.0 * self.reach)
    }
}

/// Views of the clips that reach so far. Most are the same, so that poses can be compared: those of clips that
/// reach much further than half of all do are not.
pub(super) fn frame(clips: &[Aabb], aspect: f32) -> Vec<Framing> {
    let own: Vec<Framing> = clips.iter().map(|clip| Framing::new(*clip, aspect)).collect();
    let mut sizes: Vec<f32> = own.iter().map(|framing| framing.half[0]).collect();
    sizes.sort_by(f32::total_cmp);
    let Some(&middle) = sizes.get(sizes.len().saturating_sub(1) / 2) else { return own };
    let near = clips.iter().zip(&own).filter(|(_, framing)| framing.half[0] <= FAR * middle);
    let common = Framing::new(near.fold(Aabb::EMPTY, |all, (clip, _)| all.union(sane(*clip))), aspect);
    let fitting = |(clip, own): (&Aabb, &Framing)| match common.shows(*clip) {
        true => common,
        false => Framing { ground: common.ground, ..*own },
    };
    clips.iter().zip(&own).map(fitting).collect()
}

/// The view that most of these are.
pub(super) fn common(framings: &[Framing]) -> Option<Framing> {
    framings.iter().copied().max_by_key(|a| framings.iter().filter(|b| a == *b).count())
}

/// A box with an inside: what is empty or not finite is a box of one unit.
fn sane(bounds: Aabb) -> Aabb {
    let diagonal = bounds.diagonal();
    let corners = bounds.min.iter().chain(&bounds.max);
    if corners.clone().all(|c| c.is_finite()) && diagonal.is_finite() && diagonal > f32::MIN_POSITIVE {
        return bounds;
    }
    Aabb { min: [-0.5, 0.0, -0.5], max: [0.5, 1.0, 0.5] }
}

/// The nearest of 1, 2 and 5 times a power of ten that is not greater.
fn round_step(size: f32) -> f32 {
    let power = 10_f32.powf(size.log10().floor());
    match size / power {
        digit if digit >= 5.0 => 5.0 * power,
        digit if digit >= 2.0 => 2.0 * power,
        _ => power,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Mat4;

    fn cube(low: f32, high: f32) -> Aabb {
        Aabb { min: [low, 0.0, low], max: [high; 3] }
    }

    fn on_screen(framing: &Framing, bounds: Aabb) -> bool {
        let clip = Mat4::from_cols_array_2d(&framing.camera().view_proj);
        (0..8).all(|i| {
            let pick = |axis: usize| [bounds.min, bounds.max][i >> axis & 1][axis];
            let p = clip.project_point3(Vec3::new(pick(0), pick(1), pick(2)));
            p.x.abs() <= 1.0 && p.y.abs() <= 1.0 && (0.0..=1.0).contains(&p.z)
        })
    }

    #[test]
    fn boxes_of_all_sizes_fill_the_cell() {
        for size in [1e-6, 0.01, 1.0, 200.0, 1e9] {
            let bounds = cube(-0.5 * size, size);
            let framing = Framing::new(bounds, 0.9);
            assert!(on_screen(&framing, bounds), "{size}");
            assert!(framing.shows(bounds), "{size}");
            assert!(!framing.shows(cube(-size, 1.5 * size)), "{size}");
            assert!(framing.half[0] < 2.0 * size && framing.step > 0.05 * size && framing.step < size, "{framing:?}");
        }
    }

    #[test]
    fn a_clip_that_goes_far_leaves_the_others_large() {
        let clips = [cube(-1.0, 1.0), cube(-1.1, 1.1), cube(-0.9, 1.0), cube(-40.0, 40.0)];
        let framings = frame(&clips, 0.9);
        assert_eq!(framings[0], framings[1]);
        assert_eq!(framings[0], framings[2]);
        assert!(framings[3].half[0] > 20.0 * framings[0].half[0]);
        for (clip, framing) in clips.iter().zip(&framings) {
            assert!(on_screen(framing, *clip));
        }
    }

    #[test]
    fn the_ground_is_at_0_unless_the_model_is_elsewhere() {
        assert_eq!(Framing::new(cube(-1.0, 1.0), 1.0).ground, 0.0);
        let sunk = Aabb { min: [-1.0, -0.1, -1.0], max: [1.0; 3] };
        assert_eq!(Framing::new(sunk, 1.0).ground, 0.0);
        let centered = Aabb { min: [-1.0; 3], max: [1.0; 3] };
        assert_eq!(Framing::new(centered, 1.0).ground, -1.0);
    }

    #[test]
    fn nonsense_is_framed_as_one_unit() {
        let point = Aabb { min: [1.0; 3], max: [1.0; 3] };
        let endless = Aabb { min: [-f32::MAX; 3], max: [f32::MAX; 3] };
        for bounds in [Aabb::EMPTY, point, endless, Aabb { min: [f32::NAN; 3], max: [1.0; 3] }] {
            let framing = frame(&[bounds], 0.9)[0];
            assert!(framing.half[0] > 0.4 && framing.half[0] < 2.0, "{framing:?}");
        }
        assert!(frame(&[], 1.0).is_empty());
    }

    #[test]
    fn steps_are_round() {
        for (size, step) in [(1.0, 1.0), (1.9, 1.0), (2.5, 2.0), (7.0, 5.0), (430.0, 200.0)] {
            assert_eq!(round_step(size), step);
        }
        assert!((round_step(0.03) - 0.02).abs() < 1e-6);
    }
}
