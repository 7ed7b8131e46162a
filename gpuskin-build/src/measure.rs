//! What baking lost: the distance between the glTF evaluated in `f64`, with all its influences, and the result as
//! drawn, over every source vertex.
//!
//! With source matrices S and drawn ones D, source weights w and drawn ones w', and positions p and p', the error of a
//! vertex is
//!
//! ```text
//! sum w S p - sum w' D p'  =  sum (S - D) w' p'  +  sum S (w p - w' p')
//! ```
//!
//! over homogeneous points. Both sums are of small numbers, so after the differences, taken in `f64`, `f32` is precise
//! and fast.

mod bones;
mod bounds;
mod mesh;
mod moments;
mod normals;
mod stepped;
mod tally;
#[cfg(test)]
mod tests;
mod within;

use gpuskin_rt::vertex::Vertex;
use gpuskin_rt::{Aabb, ClipRecord, ErrorInfo, Normals, Texels};

use crate::frames::FrameGrid;
use crate::model::Model;
use bones::ClipWork;
use mesh::MeasuredMesh;

pub(crate) use moments::{SampleTime, SampleTimes};
pub use moments::{drawn_pose, playback_at};
pub(crate) use stepped::SteppedVertices;
pub(crate) use tally::{MeasuredClip, ErrorLocation, ErrorTally, measure_all};
pub use within::{MotionQuery, motion_within};

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub struct DrawnModel<'a> {
    /// The animation texture.
    pub texels: Texels<'a>,
    /// Vertices as unpacked by the shader.
    pub vertices: &'a [Vertex],
    /// For each source vertex: its vertex.
    pub baked_of_source: &'a [u32],
    /// How bones turn normals.
    pub normals: Normals,
}

/// The errors of a clip.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ClipErrors {
    /// At the frames' own times.
    pub encoding: ErrorInfo,
    /// Between them as well, but for what STEP tracks move.
    pub motion: ErrorInfo,
    /// What the frames reach, metres.
    pub bounds: Aabb,
    /// Tracks with STEP keys, which jump between frames in the source and do not in the picture.
    pub step_tracks: usize,
}

/// At which times to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasuredTimes {
    /// At frames, between them and at source keys.
    All,
    /// At no more than this many frames of each clip: an estimate.
    Some(u32),
}

/// Measures every clip of a model.
pub fn measure(
    model: &Model,
    grids: &[FrameGrid],
    records: &[ClipRecord],
    drawn: &DrawnModel<'_>,
    times: MeasuredTimes,
) -> Vec<ClipErrors> {
    let mesh = MeasuredMesh::new(model, drawn);
    let work = |i| ClipWork::new((model, i), grids[i], records[i], &mesh, drawn, times);
    measure_all(&(0..model.clips.len()).map(work).collect::<Vec<_>>(), mesh.vertices)
}
