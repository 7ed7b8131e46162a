//! Root motion of the clips of a model as the GPU reads it, in vectors of four words. CPU side of
//! `shaders/root_motion.wgsl`.
//!
//! | vectors | |
//! |---|---|
//! | 4 per clip | [`ClipHeader`] |
//! | 3 per key | translation in metres, 0; unit quaternion; half rotation vector to the next key in radians, 0 |
//!
//! A whole loop is a [`Screw`]. The angle of `n` loops is taken from integers: turns per loop with 64 fraction bits, times the
//! number of loops, wrap exactly.

use bytemuck::{Pod, Zeroable};
use glam::{DQuat, DVec3};

use crate::ClipInfo;
use crate::root_motion::Displacement;

/// Vectors per clip.
const CLIP_VECTORS: usize = size_of::<ClipHeader>() / 16;
/// Vectors per key.
const KEY_VECTORS: usize = 3;

/// Displacement of a clip over one loop, and where its keys are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct ClipHeader {
    /// Index of the vector at which the keys start.
    first_key: u32,
    /// Number of keys minus 1; 0: the clip does not move the instance.
    intervals: u32,
    /// Turns per loop, 0..0.5: upper word, lower word of 64 fraction bits.
    turns: [u32; 2],
    /// [`Screw::axis`].
    axis: [f32; 3],
    /// [`Screw::angle`].
    angle: f32,
    /// [`Screw::along`].
    along: [f32; 3],
    reserved: u32,
    /// [`Screw::across`].
    across: [f32; 3],
    also_reserved: u32,
}

/// Returns the table of a model; `None` if no clip has root motion.
pub(crate) fn pack(clips: &[ClipInfo]) -> Option<Vec<[u32; 4]>> {
    if clips.iter().all(|clip| clip.root_keys().len() < 2) {
        return None;
    }
    let mut keys: Vec<[u32; 4]> = Vec::new();
    let mut headers = Vec::with_capacity(clips.len());
    for clip in clips {
        let list: Vec<Displacement> = clip.root_keys().iter().map(Displacement::of).collect();
        let (Some(whole), true) = (list.last(), list.len() > 1) else {
            headers.push(ClipHeader::default());
            continue;
        };
        let first_key = (clips.len() * CLIP_VECTORS + keys.len()) as u32;
        headers.push(ClipHeader { first_key, intervals: list.len() as u32 - 1, ..ClipHeader::of(whole) });
        for (i, key) in list.iter().enumerate() {
            let next = list.get(i + 1).map_or(key.rotation, |next| next.rotation);
            let half = 0.5 * rotation_vector(key.rotation.conjugate() * next);
            let vectors =
                [key.translation.as_vec3().extend(0.0), key.rotation.as_quat().into(), half.as_vec3().extend(0.0)];
            keys.extend(vectors.map(|vector| vector.to_array().map(f32::to_bits)));
        }
    }
    debug_assert!(keys.len().is_multiple_of(KEY_VECTORS));
    Some([bytemuck::cast_slice(&headers), &keys[..]].concat())
}

impl ClipHeader {
    /// Makes the header of a clip from its displacement over one loop.
    fn of(whole: &Displacement) -> Self {
        let Screw { axis, angle, along, across } = Screw::of(whole);
        let turns = (angle / core::f64::consts::TAU * 64_f64.exp2()) as u64;
        Self {
            turns: [(turns >> 32) as u32, turns as u32],
            axis: axis.as_vec3().into(),
            angle: angle as f32,
            along: along.as_vec3().into(),
            across: across.as_vec3().into(),
            ..Self::default()
        }
    }
}

/// Displacement over one loop as a turn about an axis, and translations along and across it. The displacement over `n` loops
/// is
///
/// ```text
/// rotation    = turn by n angle
/// translation = n along + turn by n angle / 2 of across * sin(n angle / 2) / (angle / 2)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Screw {
    /// Unit vector.
    axis: DVec3,
    /// Radians, 0..pi.
    angle: f64,
    /// Metres.
    pub(crate) along: DVec3,
    /// Translation across the axis, turned back by half of the angle, times (angle / 2) / sin(angle / 2): metres along the
    /// arc.
    pub(crate) across: DVec3,
}

impl Screw {
    pub(crate) fn of(whole: &Displacement) -> Self {
        let turn = rotation_vector(whole.rotation);
        let half = 0.5 * turn.length();
        let axis = turn.try_normalize().unwrap_or(DVec3::Y);
        let along = axis * axis.dot(whole.translation);
        let across = DQuat::from_axis_angle(axis, -half) * (whole.translation - along);
        let longer = if half > 1e-9 { half / half.sin() } else { 1.0 };
        Self { axis, angle: 2.0 * half, along, across: across * longer }
    }
}

/// Returns the rotation vector of a unit quaternion along the shorter arc: axis times angle, radians.
fn rotation_vector(q: DQuat) -> DVec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let (axis, sine) = (DVec3::new(q.x, q.y, q.z), DVec3::new(q.x, q.y, q.z).length());
    if sine < 1e-30 { DVec3::ZERO } else { axis * (2.0 * sine.atan2(q.w) / sine) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screws_repeat_as_displacements_do() {
        let axes = [DVec3::Y, DVec3::new(0.3, -1.0, 0.2), DVec3::X, DVec3::new(-1.0, -1.0, -1.0)];
        for axis in axes.map(DVec3::normalize) {
            for angle in [0.0, 1e-8, 1e-3, -0.4, 2.0, 3.1, -core::f64::consts::PI] {
                let rotation = DQuat::from_axis_angle(axis, angle);
                let whole = Displacement { rotation, translation: DVec3::new(0.4, -0.1, 1.7) };
                let screw = Screw::of(&whole);
                assert!((0.0..core::f64::consts::PI + 1e-9).contains(&screw.angle), "{angle}: {screw:?}");
                for loops in [-1000_i32, -1, 0, 1, 2, 7, 12_345] {
                    let half = 0.5 * screw.angle * f64::from(loops);
                    let arc = if screw.angle > 1e-6 { half.sin() * 2.0 / screw.angle } else { loops.into() };
                    let turned = DQuat::from_axis_angle(screw.axis, half) * screw.across;
                    let found = screw.along * f64::from(loops) + turned * arc;
                    let expected = whole.repeated(loops.into());
                    let turn = DQuat::from_axis_angle(screw.axis, 2.0 * half);
                    // Where the turn is tiny, the arc is rounded to a line.
                    assert!(
                        found.distance(expected.translation) < 1e-3,
                        "{axis} {angle} {loops}: {found} {expected:?}"
                    );
                    assert!(turn.dot(expected.rotation).abs() > 1.0 - 1e-9, "{axis} {angle} {loops}");
                }
            }
        }
    }
}
