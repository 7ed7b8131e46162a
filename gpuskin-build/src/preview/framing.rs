//! Camera view of a row of cells.

use glam::{Vec2, Vec3};
use gpuskin_rt::internals::Camera;

/// Factor by which a view is larger than its content.
const MARGIN: f32 = 1.12;
/// Clips whose extent exceeds the median by this factor get their own scale.
const MAX_TRAVEL: f32 = 1.3;
/// If the lowest point is further from 0 than this share of the model's height, the ground is
/// placed at the lowest point.
const GROUND_TOLERANCE: f32 = 0.08;

/// Direction of the camera as seen from the model, in radians. The default is to the left of a model
/// that looks along +Z, and slightly above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orbit {
    /// Angle about +Y: 0 sees the model's front, pi / 2 its left side (+X), pi its back.
    pub yaw: f32,
    /// Angle above the ground, from -pi / 2 (from below) to pi / 2 (from above).
    pub pitch: f32,
}

impl Default for Orbit {
    fn default() -> Self {
        Self { yaw: 0.62, pitch: 0.3 }
    }
}

impl Orbit {
    /// Returns the orthonormal axes of the camera: right, up, and towards the camera.
    fn axes(self) -> [Vec3; 3] {
        let (sin, cos) = self.yaw.sin_cos();
        let toward = Vec3::new(sin * self.pitch.cos(), self.pitch.sin(), cos * self.pitch.cos());
        let right = Vec3::new(cos, 0.0, -sin);
        [right, toward.cross(right), toward]
    }
}

/// Extent of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClipExtent {
    /// Box along the camera's axes, in world units.
    min: Vec3,
    max: Vec3,
    /// Lowest and highest point in world units.
    heights: [f32; 2],
}

impl ClipExtent {
    const EMPTY: Self =
        Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY, heights: [f32::INFINITY, f32::NEG_INFINITY] };

    /// Returns the extent of points in world space, as seen from `orbit`.
    pub(super) fn of(points: impl IntoIterator<Item = Vec3>, orbit: Orbit) -> Self {
        let axes = orbit.axes();
        points.into_iter().fold(Self::EMPTY, |all, p| {
            let seen = Vec3::from(axes.map(|axis| axis.dot(p)));
            all.union(Self { min: seen, max: seen, heights: [p.y; 2] })
        })
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            heights: [self.heights[0].min(other.heights[0]), self.heights[1].max(other.heights[1])],
        }
    }

    /// Replaces an extent that is empty, a single point or infinite by a cube of one unit.
    fn clamped(self, orbit: Orbit) -> Self {
        let diagonal = (self.max - self.min).length();
        if self.min.is_finite() && self.max.is_finite() && diagonal.is_finite() && diagonal > f32::MIN_POSITIVE {
            return self;
        }
        let corner = |i: i32| Vec3::new((i & 1) as f32 - 0.5, (i >> 1 & 1) as f32, (i >> 2) as f32 - 0.5);
        Self::of((0..8).map(corner), orbit)
    }
}

/// An orthographic view, in world units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Framing {
    /// Direction of the camera.
    orbit: Orbit,
    /// Centre of the view.
    pub(super) target: Vec3,
    /// Distance from the centre to the right edge and to the upper edge.
    pub(super) half: [f32; 2],
    /// Height of the ground.
    pub(super) ground: f32,
    /// Distance of grid lines.
    pub(super) step: f32,
    /// Visible depth before and behind the centre.
    reach: f32,
}

impl Framing {
    /// Creates a view of an extent. `aspect` is width divided by height.
    fn new(outline: ClipExtent, orbit: Orbit, aspect: f32) -> Self {
        let ClipExtent { min, max, heights: [low, high] } = outline.clamped(orbit);
        let (middle, size) = (min.midpoint(max), max - min);
        let half_width = 0.5 * size.x.max(size.y * aspect).max(1e-3 * size.z) * MARGIN;
        let near_ground = low.abs() <= GROUND_TOLERANCE * (high - low).max(half_width);
        let [right, up, toward] = orbit.axes();
        Self {
            orbit,
            target: right * middle.x + up * middle.y + toward * middle.z,
            half: [half_width, half_width / aspect],
            ground: if near_ground { 0.0 } else { low },
            step: round_step(half_width * 0.5),
            reach: size.z + 4.0 * half_width,
        }
    }

    /// Creates a view of a sphere at the origin of `target`, whose size does not depend on the
    /// direction of the camera.
    pub(super) fn sphere(target: Vec3, radius: f32, ground: f32, orbit: Orbit, aspect: f32) -> Self {
        let half_height = radius * MARGIN / aspect.min(1.0);
        let half = [half_height * aspect, half_height];
        Self { orbit, target, half, ground, step: round_step(radius * 0.5), reach: 4.0 * half[0].max(half[1]) }
    }

    /// Returns the axes of the camera: right, up, and towards the camera.
    pub(super) fn axes(&self) -> [Vec3; 3] {
        self.orbit.axes()
    }

    /// Returns the position of a point in a picture of `size` pixels, from its upper left corner.
    pub(super) fn pixel(&self, point: Vec3, size: [u32; 2]) -> Vec2 {
        let [right, up, _] = self.axes();
        let from_target = point - self.target;
        let ndc = Vec2::new(right.dot(from_target) / self.half[0], up.dot(from_target) / self.half[1]);
        Vec2::new((0.5 + 0.5 * ndc.x) * size[0] as f32, (0.5 - 0.5 * ndc.y) * size[1] as f32)
    }

    /// Whether an extent is completely visible.
    fn shows(&self, outline: ClipExtent) -> bool {
        let ClipExtent { min, max, .. } = outline.clamped(self.orbit);
        let middle = Vec3::from(self.orbit.axes().map(|axis| axis.dot(self.target)));
        let half = Vec3::new(self.half[0], self.half[1], self.reach);
        (min - middle).cmpge(-half).all() && (max - middle).cmple(half).all()
    }

    /// Returns the camera. Depth is 0 at `reach` before the centre, and 1 at `reach` behind it.
    pub(super) fn camera(&self) -> Camera {
        let [right, up, toward] = self.orbit.axes();
        let rows = [right / self.half[0], up / self.half[1], toward / (-2.0 * self.reach)];
        let [x, y, z] = rows.map(|row| -row.dot(self.target));
        let column = |i: usize| [rows[0][i], rows[1][i], rows[2][i], 0.0];
        Camera {
            view_proj: [column(0), column(1), column(2), [x, y, z + 0.5, 1.0]],
            eye: (self.target + toward * self.reach).to_array(),
            // A height of 0 selects the finest LOD.
            height: 0.0,
        }
    }
}

/// Returns the views of clips. Most share one view, so that poses can be compared; clips with a
/// much larger extent than the median have their own.
pub(super) fn frame(clips: &[ClipExtent], orbit: Orbit, aspect: f32) -> Vec<Framing> {
    let own: Vec<Framing> = clips.iter().map(|clip| Framing::new(*clip, orbit, aspect)).collect();
    let mut sizes: Vec<f32> = own.iter().map(|framing| framing.half[0]).collect();
    sizes.sort_by(f32::total_cmp);
    let Some(&middle) = sizes.get(sizes.len().saturating_sub(1) / 2) else { return own };
    let near = clips.iter().zip(&own).filter(|(_, framing)| framing.half[0] <= MAX_TRAVEL * middle);
    let all = near.fold(ClipExtent::EMPTY, |all, (clip, _)| all.union(clip.clamped(orbit)));
    let common = Framing::new(all, orbit, aspect);
    let fitting = |(clip, own): (&ClipExtent, &Framing)| match common.shows(*clip) {
        true => common,
        false => Framing { ground: common.ground, ..*own },
    };
    clips.iter().zip(&own).map(fitting).collect()
}

/// Returns the most frequent view.
pub(super) fn common(framings: &[Framing]) -> Option<Framing> {
    framings.iter().copied().max_by_key(|a| framings.iter().filter(|b| a == *b).count())
}

/// Returns the largest number of the form 1, 2 or 5 times a power of ten that is at most `size`.
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

    fn corners(min: Vec3, max: Vec3) -> Vec<Vec3> {
        let pick = |i: usize, axis: usize| [min, max][i >> axis & 1][axis];
        (0..8).map(|i| Vec3::new(pick(i, 0), pick(i, 1), pick(i, 2))).collect()
    }

    fn cube(low: f32, high: f32) -> Vec<Vec3> {
        corners(Vec3::new(low, 0.0, low), Vec3::splat(high))
    }

    fn outline(points: &[Vec3]) -> ClipExtent {
        ClipExtent::of(points.iter().copied(), Orbit::default())
    }

    fn on_screen(framing: &Framing, points: &[Vec3]) -> bool {
        let clip = Mat4::from_cols_array_2d(&framing.camera().view_proj);
        points.iter().all(|p| {
            let p = clip.project_point3(*p);
            p.x.abs() <= 1.0 && p.y.abs() <= 1.0 && (0.0..=1.0).contains(&p.z)
        })
    }

    #[test]
    fn models_of_all_sizes_fill_the_cell() {
        for size in [1e-6, 0.01, 1.0, 200.0, 1e9] {
            let points = cube(-0.5 * size, size);
            let framing = Framing::new(outline(&points), Orbit::default(), 0.9);
            assert!(on_screen(&framing, &points), "{size}");
            assert!(framing.shows(outline(&points)), "{size}");
            assert!(!framing.shows(outline(&cube(-size, 1.5 * size))), "{size}");
            assert!(framing.half[0] < 2.0 * size && framing.step > 0.05 * size && framing.step < size, "{framing:?}");
        }
    }

    #[test]
    fn orbit_sees_the_side_that_its_angles_say() {
        use std::f32::consts::{FRAC_PI_2, PI};
        for (yaw, pitch, toward, right) in [
            (0.0, 0.0, Vec3::Z, Vec3::X),
            (FRAC_PI_2, 0.0, Vec3::X, Vec3::NEG_Z),
            (PI, 0.0, Vec3::NEG_Z, Vec3::NEG_X),
            (0.0, FRAC_PI_2, Vec3::Y, Vec3::X),
        ] {
            let axes = Orbit { yaw, pitch }.axes();
            assert!(axes[2].distance(toward) < 1e-6 && axes[0].distance(right) < 1e-6, "{yaw} {pitch}: {axes:?}");
            assert!(axes[0].cross(axes[1]).distance(axes[2]) < 1e-6);
        }
    }

    #[test]
    fn large_clip_does_not_shrink_the_others() {
        let clips = [cube(-1.0, 1.0), cube(-1.1, 1.1), cube(-0.9, 1.0), cube(-40.0, 40.0)];
        let framings = frame(&clips.each_ref().map(|clip| outline(clip)), Orbit::default(), 0.9);
        assert_eq!(framings[0], framings[1]);
        assert_eq!(framings[0], framings[2]);
        assert_eq!(common(&framings), Some(framings[0]));
        assert!(framings[3].half[0] > 20.0 * framings[0].half[0]);
        for (clip, framing) in clips.iter().zip(&framings) {
            assert!(on_screen(framing, clip));
        }
    }

    #[test]
    fn ground_is_at_0_unless_the_model_is_below() {
        let ground = |low: f32| {
            Framing::new(outline(&corners(Vec3::new(-1.0, low, -1.0), Vec3::splat(1.0))), Orbit::default(), 1.0).ground
        };
        assert_eq!([0.0, -0.1, -1.0].map(ground), [0.0, 0.0, -1.0]);
    }

    #[test]
    fn degenerate_extents_are_framed_as_one_unit() {
        for points in [vec![], vec![Vec3::ONE], vec![Vec3::MIN, Vec3::MAX], vec![Vec3::NAN; 3]] {
            let framing = frame(&[outline(&points)], Orbit::default(), 0.9)[0];
            assert!(framing.half[0] > 0.4 && framing.half[0] < 2.0, "{framing:?}");
        }
        assert!(frame(&[], Orbit::default(), 1.0).is_empty() && common(&[]).is_none());
    }

    #[test]
    fn steps_are_round() {
        for (size, step) in [(1.0, 1.0), (1.9, 1.0), (2.5, 2.0), (7.0, 5.0), (430.0, 200.0)] {
            assert_eq!(round_step(size), step);
        }
        assert!((round_step(0.03) - 0.02).abs() < 1e-6);
    }
}
