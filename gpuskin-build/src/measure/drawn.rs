//! The drawn model: baked texels and vertices as the runtime decodes them.

use gpuskin_rt::internals::morph::MorphLists;
use gpuskin_rt::internals::playback::{clamped_offset, frame_pair};
use gpuskin_rt::internals::vertex::Vertex;
use gpuskin_rt::internals::{Affine3, ClipRecord, Encoding, Normals, Playback, Texels, Time};

use crate::frames::FrameGrid;

/// A baked model as it is drawn.
#[derive(Clone, Copy, Debug)]
pub struct DrawnModel<'a> {
    /// Texels of the animation texture.
    pub texels: Texels<'a>,
    /// Vertices as unpacked by the shader.
    pub vertices: &'a [Vertex],
    /// Index of the baked vertex. `[source vertex]`
    pub baked_of_source: &'a [u32],
    /// Deltas of morph targets as unpacked by the shader.
    pub morphs: MorphLists<'a>,
    /// Method by which bones transform normals.
    pub normals: Normals,
}

impl DrawnModel<'_> {
    /// Whether the encoding holds STEP tracks beside tracks that it interpolates.
    pub(crate) fn holds_steps(&self) -> bool {
        self.texels.encoding() == Encoding::LocalPacked
    }
}

/// Returns the matrices of all bones as drawn at a time of a clip, interpolated between frames.
pub fn drawn_pose(texels: &Texels<'_>, grid: &FrameGrid, record: &ClipRecord, seconds: f64) -> Vec<Affine3> {
    let frames = frame_pair(&playback_at(grid, seconds), record, Time::ZERO);
    texels.pose(frames)
}

/// Returns the playback of a time of a clip, clamped to its ends. The playback refers to the first
/// clip of its table.
pub fn playback_at(grid: &FrameGrid, seconds: f64) -> Playback {
    let fraction = if grid.duration > 0.0 { seconds / grid.duration } else { 0.0 };
    Playback { offset: clamped_offset(fraction), clip: Playback::ONCE, ..Playback::default() }
}
