//! Error of a bake: the distance between the glTF model, evaluated in `f64` with all its
//! influences, and the model as drawn, for every source vertex.
//!
//! With source matrices S and drawn matrices D, source weights w and drawn weights w', and
//! positions p and p', the error of a vertex is
//!
//! ```text
//! sum w S p - sum w' D p'  =  sum (S - D) w' p'  +  sum S (w p - w' p')
//! ```
//!
//! over homogeneous points. Both sums are of small numbers: the differences are computed in `f64`,
//! and the rest in `f32`, which is then precise enough and fast.

mod bone_matrices;
mod bone_term;
mod bounds;
mod clip;
mod curve;
mod difference;
mod drawn;
mod location;
mod mesh;
mod morphed;
mod motion;
mod normal_bounds;
mod normals;
mod sample_times;
mod source_mesh;
mod stepped_vertices;
mod tally;
#[cfg(test)]
mod tests;

use gpuskin_rt::internals::ClipRecord;

use crate::frames::FrameGrid;
use crate::model::Model;
use clip::ClipWork;

pub(crate) use curve::GreatestError;
pub use curve::{CurvePoint, ErrorCurve, VertexErrors};
pub(crate) use difference::SampleDifference;
pub use difference::{BoneBox, ClipDifference};
pub use drawn::{DrawnModel, drawn_pose, playback_at};
pub(crate) use location::ErrorLocation;
pub(crate) use mesh::MeasuredMesh;
pub use motion::{MotionQuery, motion_within};
pub use sample_times::MeasuredTimes;
pub(crate) use sample_times::{SampleTime, SampleTimes};
pub use source_mesh::SourceMesh;
pub(crate) use stepped_vertices::SteppedVertices;
pub use tally::ClipErrors;
pub(crate) use tally::{ErrorTally, Measured, MeasuredClip, measure_all};

/// Measures every clip of a model. Returns the errors and the curve of each. `mesh`: that of `drawn`.
pub fn measure(
    model: &Model,
    mesh: &MeasuredMesh,
    grids: &[FrameGrid],
    records: &[ClipRecord],
    drawn: &DrawnModel<'_>,
    times: MeasuredTimes,
) -> Vec<(ClipErrors, ErrorCurve)> {
    let mut boxes = source_mesh::boxes(drawn.vertices, model.bones.len());
    if times != MeasuredTimes::All || !ClipDifference::kept(grids, 12 * boxes.len(), drawn.vertices.len()) {
        boxes.clear();
    }
    let work = |i| ClipWork::new(model, i, grids[i], records[i], mesh, drawn, times).recording(&boxes);
    let all = measure_all(&(0..model.clips.len()).map(work).collect::<Vec<_>>(), mesh.vertices);
    let with_vertices = |Measured { errors, mut curve, points, differences }| {
        curve.difference = ClipDifference::new(differences);
        if !points.is_empty() {
            curve.vertices = VertexErrors::new(&mesh.vertex_errors(&points, drawn));
        }
        (errors, curve)
    };
    all.into_iter().map(with_vertices).collect()
}
