//! How far points can be off at a moment, without looking at each.
//!
//! With what a source weight is more than the drawn one, d = w - w', the error of a point (see [`super`]) is
//!
//! ```text
//! sum w' (S - D) p'  +  sum d S p  +  sum w' S (p - p')
//! ```
//!
//! The first is at most what the worst of the point's bones does to a corner of the box around its points, times the weights. In
//! the second S p is in the box around all that bones may reach then: its middle times the sum of the d, and its radius times
//! the sum of their sizes. In the third a bone stretches by at most a norm of its matrix.

use glam::Vec3;

use super::bones::{BoneMatrices, greatest_of, least_of};
use super::mesh::{BoneTerm, PointGroup, MeasuredMesh};
use crate::vector_math::{Lanes, dot_lanes, dot_of, greatest_lanes, least_lanes, times};

/// What rounding may do, to everything.
const ROUNDING: f32 = 1.01;

/// Corners of a box, homogeneous, four at a time by components.
pub(super) type BoxCorners = [[Lanes; 4]; 2];

/// Bounds at a moment.
pub(super) struct ErrorBounds {
    /// What each bone does to the points that it moves, metres.
    bones: Vec<f32>,
    /// What belongs to the last three lanes of [`slack`].
    radius: f32,
    middle: f32,
    stretch: f32,
}

impl ErrorBounds {
    pub(super) fn new(mesh: &MeasuredMesh, bones: &[BoneMatrices]) -> Self {
        let mut bounds = Self { bones: vec![0.0; bones.len()], radius: 0.0, middle: 0.0, stretch: 0.0 };
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
            }
        }
        bounds.bones.iter_mut().for_each(|squared| *squared = squared.sqrt());
        let (low, high) = (Vec3::from(low.map(least_of)), Vec3::from(high.map(greatest_of)));
        (bounds.radius, bounds.middle) = ((high - low).length() * 0.5, ((high + low) * 0.5).length());
        bounds.stretch = bounds.stretch.sqrt();
        bounds
    }

    /// Metres that a point of a group is off at most; no number where nothing is known.
    pub(super) fn of(&self, group: &PointGroup) -> f32 {
        self.with(worst(group.bones.iter().map(|&bone| self.bones[bone as usize])), &group.slack)
    }

    /// The same of all points.
    pub(super) fn of_all(&self, mesh: &MeasuredMesh) -> f32 {
        self.with(worst(self.bones.iter().copied()), &mesh.slack)
    }

    fn with(&self, worst: f32, slack: &Lanes) -> f32 {
        ROUNDING * dot_lanes(slack, &[worst, self.radius, self.middle, self.stretch])
    }
}

/// The greatest; no number where one is none.
fn worst(bounds: impl Iterator<Item = f32>) -> f32 {
    bounds.fold(0.0, |worst: f32, bound| if bound <= worst || worst.is_nan() { worst } else { bound })
}

/// What a point's bound is made of: the sum of its drawn weights, of the sizes of what weights lose, the size of their sum, and what
/// is lost of positions. `position`: of the source.
pub(super) fn slack(position: Vec3, entries: &[BoneTerm]) -> Lanes {
    let (mut weights, mut sizes, mut sum, mut places) = (0.0, 0.0, 0.0_f32, 0.0);
    for entry in entries {
        let [x, y, z, lost] = entry.lost;
        weights += entry.drawn[3];
        sizes += lost.abs();
        sum += lost;
        // Beside it, what `f32` leaves of a position.
        places += (Vec3::new(x, y, z) - position * lost).length() + 1e-6 * lost.abs() * position.length();
    }
    [weights, sizes, sum.abs() + 1e-6 * sizes, places]
}

/// The corners of a box.
pub(super) fn corners((low, high): (Vec3, Vec3)) -> BoxCorners {
    let x = [low.x, high.x, low.x, high.x];
    let y = [low.y, low.y, high.y, high.y];
    [low.z, high.z].map(|z| [x, y, [z; 4], [1.0; 4]])
}

fn three(matrix: &[[f32; 4]; 3], points: &[Lanes; 4]) -> [Lanes; 3] {
    [times(&matrix[0], points), times(&matrix[1], points), times(&matrix[2], points)]
}
