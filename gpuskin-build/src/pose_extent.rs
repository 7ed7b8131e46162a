//! Extent of the rest pose.

use gpuskin_rt::internals::Aabb;

use crate::model::Model;
use crate::vertex_mode::Evaluator;

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
