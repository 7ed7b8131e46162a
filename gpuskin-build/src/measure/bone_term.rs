//! Contribution of one bone to the error of a vertex, and bounds that hold without evaluating it.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use crate::vector_math::Lanes;

/// Contribution of one bone to the error of a vertex.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct BoneTerm {
    pub(super) bone: u32,
    /// Drawn position times drawn weight, and the drawn weight.
    pub(super) drawn: [f32; 4],
    /// Source position times source weight, and the source weight.
    pub(super) source: [f32; 4],
    /// Source minus drawn.
    pub(super) lost: [f32; 4],
}

/// Homogeneous corners of a box, four per element, in one lane per corner.
pub(super) type BoxCorners = [[Lanes; 4]; 2];

/// Returns the coefficients of a point's bound: the sum of its drawn weights, the sum of |d|, |sum
/// d|, and the sum of the weighted position differences. `position` is the source position.
pub(super) fn slack(position: Vec3, entries: &[BoneTerm]) -> Lanes {
    let (mut weights, mut sizes, mut sum, mut places) = (0.0, 0.0, 0.0_f32, 0.0);
    for entry in entries {
        let [x, y, z, lost] = entry.lost;
        weights += entry.drawn[3];
        sizes += lost.abs();
        sum += lost;
        // The second term covers the rounding of a position to `f32`.
        places += (Vec3::new(x, y, z) - position * lost).length() + 1e-6 * lost.abs() * position.length();
    }
    [weights, sizes, sum.abs() + 1e-6 * sizes, places]
}

/// Returns the corners of a box.
pub(super) fn corners(low: Vec3, high: Vec3) -> BoxCorners {
    let x = [low.x, high.x, low.x, high.x];
    let y = [low.y, low.y, high.y, high.y];
    [low.z, high.z].map(|z| [x, y, [z; 4], [1.0; 4]])
}
