//! Upper bounds of the errors of points at a sample time, without evaluating each point.
//!
//! With d = w - w', the excess of a source weight over the drawn weight, the error of a point (see
//! [`super`]) is
//!
//! ```text
//! sum w' (S - D) p'  +  sum d S p  +  sum w' S (p - p')
//! ```
//!
//! The first sum is bounded by the worst error, over the bones of the point, at the corners of the
//! box around the points of a bone, times the sum of the weights. In the second sum, S p lies in
//! the box around all points of all bones: the sum is bounded by the length of the box centre times
//! |sum d|, plus the half diagonal of the box times the sum of |d|. In the third sum, each bone
//! stretches a vector by at most a norm of its matrix.

use glam::Vec3;

use super::bone_matrices::BoneMatrices;
use super::mesh::{MeasuredMesh, PointGroup};
use super::morphed::MorphBound;
use crate::vector_math::{Lanes, dot_lanes, dot_of, greatest_lanes, least_lanes, max_lane, min_lane, times};

/// Factor that covers rounding errors in all bounds.
const ROUNDING: f32 = 1.01;

/// Error bounds at a sample time.
pub(super) struct ErrorBounds {
    /// Upper bound of the error at points of each bone, in metres. `[bone]`
    bones: Vec<f32>,
    /// Factors of the last three lanes of [`slack`](super::bone_term::slack): half diagonal and length of the centre of the
    /// box around all points, and the greatest norm of a matrix.
    radius: f32,
    middle: f32,
    stretch: f32,
    /// Greatest norm of a difference of matrices, without their translation.
    difference: f32,
}

impl ErrorBounds {
    pub(super) fn new(mesh: &MeasuredMesh, bones: &[BoneMatrices]) -> Self {
        let mut bounds =
            Self { bones: vec![0.0; bones.len()], radius: 0.0, middle: 0.0, stretch: 0.0, difference: 0.0 };
        let (mut low, mut high) = ([[f32::INFINITY; 4]; 3], [[f32::NEG_INFINITY; 4]; 3]);
        for ((bone, corners), bound) in bones.iter().zip(&mesh.boxes).zip(&mut bounds.bones) {
            for corners in corners.iter().flatten() {
                let off = three(&bone.difference, corners);
                *bound = worst([*bound].into_iter().chain(dot_of(&off, &off)));
                let [x, y, z] = three(&bone.source, corners);
                low = [least_lanes(low[0], x), least_lanes(low[1], y), least_lanes(low[2], z)];
                high = [greatest_lanes(high[0], x), greatest_lanes(high[1], y), greatest_lanes(high[2], z)];
            }
            if corners.is_some() {
                let square = |row: &[f32; 4]| row[0] * row[0] + row[1] * row[1] + row[2] * row[2];
                bounds.stretch = bounds.stretch.max(bone.source.iter().map(square).sum());
                let difference: f32 = bone.difference.iter().map(square).sum();
                bounds.difference = worst([bounds.difference, difference].into_iter());
            }
        }
        bounds.bones.iter_mut().for_each(|squared| *squared = squared.sqrt());
        let (low, high) = (Vec3::from(low.map(min_lane)), Vec3::from(high.map(max_lane)));
        (bounds.radius, bounds.middle) = ((high - low).length() * 0.5, ((high + low) * 0.5).length());
        (bounds.stretch, bounds.difference) = (bounds.stretch.sqrt(), bounds.difference.sqrt());
        bounds
    }

    /// Returns an upper bound of the error of the points of a group, in metres, or NaN if unknown. `bones`: matrices of
    /// the pose, for what morph targets do. With movements m and m' before skinning, they add
    ///
    /// ```text
    /// sum w S (m - m')  +  sum w (S - D) m'  +  sum (w - w') D m'
    /// ```
    pub(super) fn of(&self, group: &PointGroup, bones: &[BoneMatrices]) -> f32 {
        let at_rest = self.with(worst(group.bones.iter().map(|&bone| self.bones[bone as usize])), &group.slack);
        let Some(MorphBound { moved, lost, .. }) = group.morph_bound(bones) else { return at_rest };
        // The second lane is the sum of |w - w'|.
        let weights = group.slack[1];
        let drawn = self.stretch + self.difference;
        at_rest + ROUNDING * (self.stretch * lost + (self.difference + weights * drawn) * moved)
    }

    /// Returns an upper bound of the error of all points, in metres, or NaN if unknown.
    pub(super) fn of_all(&self, mesh: &MeasuredMesh) -> f32 {
        self.with(worst(self.bones.iter().copied()), &mesh.slack)
    }

    fn with(&self, worst: f32, slack: &Lanes) -> f32 {
        ROUNDING * dot_lanes(slack, &[worst, self.radius, self.middle, self.stretch])
    }
}

/// Returns the maximum, or NaN if one bound is NaN.
fn worst(bounds: impl Iterator<Item = f32>) -> f32 {
    bounds.fold(0.0, |worst: f32, bound| if bound <= worst || worst.is_nan() { worst } else { bound })
}

fn three(matrix: &[[f32; 4]; 3], points: &[Lanes; 4]) -> [Lanes; 3] {
    [times(&matrix[0], points), times(&matrix[1], points), times(&matrix[2], points)]
}
