//! Quantised tracks: three numbers per frame, stored as rest, as a constant, or with the fewest
//! bits for a quantisation step.

use glam::{DQuat, DVec3, DVec4};
use gpuskin_rt::internals::local::layout::{self, MAX_WIDTH};

/// Stored form of a property of a joint in a clip.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Track {
    /// The joint's rest value.
    Rest,
    /// One value for all frames.
    Constant([f32; 3]),
    /// A value per frame.
    Moving(MovingTrack),
}

/// A track with a value per frame.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MovingTrack {
    /// Bit widths and quantisation step, packed by [`layout::shape`].
    pub(super) shape: u32,
    pub(super) origin: [f32; 3],
    /// Whether each frame is held until the next one.
    pub(super) held: bool,
    /// Quantised components of each frame, in [`MovingTrack::widths`] bits.
    pub(super) frames: Vec<[u32; 3]>,
}

impl MovingTrack {
    pub(super) fn widths(&self) -> [u32; 3] {
        [0, 1, 2].map(|c| layout::shape_width(self.shape, c))
    }

    /// Returns the offset of a frame from the origin.
    fn offset(&self, frame: usize) -> DVec3 {
        let widths = self.widths();
        let step = layout::shape_step(self.shape);
        DVec3::from([0, 1, 2].map(|c| f64::from(layout::centred(self.frames[frame][c], widths[c]) * step)))
    }
}

impl Track {
    /// Returns the size of the track in bits, in a clip with `frames` frames.
    pub(super) fn bits(&self, frames: usize) -> usize {
        match self {
            Self::Rest => 0,
            Self::Constant(_) => layout::track::CONSTANT_WORDS * 32,
            Self::Moving(moving) => layout::track::WORDS * 32 + frames * moving.widths().iter().sum::<u32>() as usize,
        }
    }

    /// Holds each frame until the next one.
    pub(super) fn held_if(mut self, held: bool) -> Self {
        if let Self::Moving(moving) = &mut self {
            moving.held = held;
        }
        self
    }

    pub(super) fn is_moving(&self) -> bool {
        matches!(self, Self::Moving(_))
    }

    /// Quantises translations or scales, with an error of at most half a step per component. `rest`
    /// is the joint's rest value.
    pub(super) fn of_vectors(values: &[DVec3], rest: [f32; 3], step: f64) -> Self {
        let exact = DVec3::from(rest.map(f64::from));
        if values.iter().all(|v| (*v - exact).abs().max_element() <= step / 2.0) {
            return Self::Rest;
        }
        let (least, greatest) = bounds(values);
        let origin = ((least + greatest) / 2.0).as_vec3();
        let offsets: Vec<DVec3> = values.iter().map(|v| *v - origin.as_dvec3()).collect();
        match moving(origin.to_array(), &offsets, step) {
            Some(moving) => Self::Moving(moving),
            None => Self::Constant(origin.to_array()),
        }
    }

    /// Quantises rotations. `step` applies to their stereographic projections, which are about a
    /// quarter of the angle.
    pub(super) fn of_rotations(values: &[DQuat], rest: [f32; 4], step: f64) -> Self {
        let exact = DQuat::from_vec4(DVec4::from(rest.map(f64::from))).normalize();
        let from = |origin: DQuat| -> Vec<DVec3> {
            let inverse = origin.conjugate();
            values.iter().map(|q| project(inverse * *q)).collect()
        };
        if from(exact).iter().all(|p| p.abs().max_element() <= step / 2.0) {
            return Self::Rest;
        }
        // Finds the origin from which the track extends equally far in all directions; a few
        // iterations suffice.
        let mut origin = middle(values);
        for _ in 0..4 {
            let (least, greatest) = bounds(&from(origin));
            origin = (origin * unproject((least + greatest) / 2.0)).normalize();
        }
        let stored = project(origin).as_vec3();
        match moving(stored.to_array(), &from(unproject(stored.as_dvec3())), step) {
            Some(moving) => Self::Moving(moving),
            None => Self::Constant(stored.to_array()),
        }
    }

    /// Returns the decoded translation or scale.
    pub(super) fn vector(&self, frame: usize, rest: [f32; 3]) -> DVec3 {
        match self {
            Self::Rest => DVec3::from(rest.map(f64::from)),
            Self::Constant(value) => DVec3::from(value.map(f64::from)),
            Self::Moving(moving) => DVec3::from(moving.origin.map(f64::from)) + moving.offset(frame),
        }
    }

    /// Returns the decoded rotation.
    pub(super) fn rotation(&self, frame: usize, rest: [f32; 4]) -> DQuat {
        match self {
            Self::Rest => DQuat::from_vec4(DVec4::from(rest.map(f64::from))),
            Self::Constant(value) => unproject(DVec3::from(value.map(f64::from))),
            Self::Moving(moving) => {
                unproject(DVec3::from(moving.origin.map(f64::from))) * unproject(moving.offset(frame))
            }
        }
    }
}

/// Returns the stereographic projection; `gpuskin_rt::local::to_projection` in `f64`.
pub(super) fn project(q: DQuat) -> DVec3 {
    let q = if q.w < 0.0 { -q } else { q };
    DVec3::new(q.x, q.y, q.z) / (1.0 + q.w)
}

/// Returns the rotation of a stereographic projection; `gpuskin_rt::local::from_projection` in
/// `f64`.
fn unproject(p: DVec3) -> DQuat {
    let square = p.length_squared();
    let v = p * 2.0;
    DQuat::from_xyzw(v.x, v.y, v.z, 1.0 - square) * (1.0 / (1.0 + square))
}

/// Returns the normalised sum of rotations, each with the sign nearer to the first.
fn middle(values: &[DQuat]) -> DQuat {
    let first = values[0];
    let near = |q: &DQuat| if q.dot(first) < 0.0 { -*q } else { *q };
    let sum = values.iter().fold(DVec4::ZERO, |sum, q| sum + DVec4::from(near(q)));
    let length = sum.length();
    if length > 1e-3 { DQuat::from_vec4(sum / length) } else { first }
}

fn bounds(values: &[DVec3]) -> (DVec3, DVec3) {
    values.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)))
}

/// Quantises offsets from an origin with the fewest bits per component for an error of at most half
/// a step. Returns `None` if that is zero bits.
fn moving(origin: [f32; 3], offsets: &[DVec3], step: f64) -> Option<MovingTrack> {
    let reach = offsets.iter().fold(DVec3::ZERO, |reach, v| reach.max(v.abs()));
    let widths = (reach * 2.0).to_array().map(|extent| width(extent / step));
    if widths == [0; 3] {
        return None;
    }
    // Reduces the step to use the full bit widths. A component that moves has at least one bit, so
    // its step is not zero.
    let needed = |c: usize| 2.0 * reach[c] / f64::from(1_u32 << widths[c]);
    let step = needed(0).max(needed(1)).max(needed(2)) as f32;
    let shape = layout::shape(widths, step);
    let step = f64::from(layout::shape_step(shape));
    let frames = offsets.iter().map(|v| {
        [0, 1, 2].map(|c| {
            let most = f64::from((1_u32 << widths[c]) - 1);
            (v[c] / step + most / 2.0).round().clamp(0.0, most) as u32
        })
    });
    Some(MovingTrack { shape, origin, held: false, frames: frames.collect() })
}

/// Returns the number of bits that count to `steps`.
fn width(steps: f64) -> u32 {
    (0..MAX_WIDTH).find(|w| f64::from(1_u32 << w) >= steps).unwrap_or(MAX_WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_decode_within_half_a_step() {
        let values: Vec<DVec3> =
            (0..20).map(|i| DVec3::new(f64::from(i) * 0.1, 3.0, f64::from(i * i) * 1e-3)).collect();
        for step in [1.0, 0.01, 1e-5] {
            let track = Track::of_vectors(&values, [0.0; 3], step);
            for (i, v) in values.iter().enumerate() {
                let error = (track.vector(i, [0.0; 3]) - *v).abs().max_element();
                assert!(error <= step * 0.5 * 1.01 + 2e-7, "{step}: {error}");
            }
            let Track::Moving(moving) = track else { panic!("the track moves") };
            assert_eq!(moving.widths()[1], 0);
        }
        assert_eq!(Track::of_vectors(&values, [1.0, 3.0, 0.0], 4.0), Track::Rest);
        assert_eq!(Track::of_vectors(&values[..1], [9.0; 3], 0.1), Track::Constant([0.0, 3.0, 0.0]));
    }

    #[test]
    fn rotations_decode_within_half_a_step() {
        let rest = [0.0, 0.0, 0.0, 1.0];
        for turn in [0.01, 0.3, 3.0] {
            let values: Vec<DQuat> = (0..20)
                .map(|i| DQuat::from_rotation_x(0.7) * DQuat::from_rotation_z(turn * f64::from(i - 7)))
                .collect();
            for step in [1e-2, 1e-4, 1e-6] {
                let track = Track::of_rotations(&values, rest, step);
                for (i, q) in values.iter().enumerate() {
                    let error = project(track.rotation(i, rest) * q.conjugate()).length();
                    // Towards the middle of a great arc, the angle per step is up to twice as
                    // large.
                    assert!(error <= step * 0.5 * 1.8 + 2e-7, "{turn} {step}: {error}");
                }
            }
        }
        assert_eq!(Track::of_rotations(&[DQuat::IDENTITY; 3], rest, 1e-5), Track::Rest);
    }
}
