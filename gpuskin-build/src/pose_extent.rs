//! Extent of poses: bounds of the rest pose, and the gap between the ends of a clip.

use gpuskin_rt::internals::Aabb;

use crate::frames::FrameGrid;
use crate::model::{Clip, Model};
use crate::sample::{Rows, Sampler};
use crate::vertex_mode::Evaluator;

/// Returns the greatest distance, in metres, between a vertex at the start and at the end of a
/// clip, with root motion removed. `morphs` includes morph targets.
pub fn seam(model: &Model, clip: &Clip, morphs: bool) -> f64 {
    let ends = FrameGrid { stored: 2, ..FrameGrid::still(clip.end) };
    if morphs {
        let evaluator = Evaluator::in_place(model, clip, &ends);
        let (start, end) = (evaluator.at(0.0), evaluator.at(clip.end));
        return start.positions().zip(end.positions()).map(|(a, b)| a.distance(b)).fold(0.0, f64::max);
    }
    let sampler = Sampler::in_place(model, clip, &ends);
    greatest_distance(model, &sampler.skin_matrices(0.0), &sampler.skin_matrices(clip.end))
}

/// Returns the bounding box of all vertices in the rest pose, in metres, with the morph weights of
/// the file.
pub fn rest_bounds(model: &Model) -> Aabb {
    let mut bounds = Aabb::EMPTY;
    for at in Evaluator::new(model, None).at(0.0).positions() {
        let at = at.as_vec3().to_array();
        bounds = bounds.union(Aabb { min: at, max: at });
    }
    bounds
}

/// Returns the diagonal of the rest pose's bounding box, in metres. Relative tolerances refer to
/// it.
pub fn rest_diagonal(model: &Model) -> f64 {
    f64::from(rest_bounds(model).diagonal())
}

/// Returns the greatest distance of a vertex between two poses, in metres.
fn greatest_distance(model: &Model, a: &[Rows], b: &[Rows]) -> f64 {
    let mut greatest: f64 = 0.0;
    for primitive in &model.primitives {
        for (v, p) in primitive.positions.iter().enumerate() {
            let mut d = [0.0; 3];
            for &(bone, weight) in primitive.influences.of(v) {
                let (ma, mb) = (&a[bone as usize], &b[bone as usize]);
                for r in 0..3 {
                    d[r] += weight
                        * ((ma[r][0] - mb[r][0]) * p.x
                            + (ma[r][1] - mb[r][1]) * p.y
                            + (ma[r][2] - mb[r][2]) * p.z
                            + (ma[r][3] - mb[r][3]));
                }
            }
            greatest = greatest.max(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        }
    }
    greatest.sqrt()
}

/// Maximum distance between the first and last pose of a looping clip, relative to the diagonal of
/// the rest pose: 0.1 mm for 2 m.
pub const SEAM_TOLERANCE: f64 = 5e-5;

/// Maximum distance between the first and last pose for the exact encoding, relative to the
/// diagonal of the rest pose.
pub const EXACT_SEAM_TOLERANCE: f64 = 5e-6;
