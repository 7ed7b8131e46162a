//! Draw runs: instances of a crowd that are drawn together.

use core::ops::Range;

use super::cull::Draws;
use crate::{IndexRange, MeshPart};

/// Draw run: instances that are drawn together.
pub(crate) struct DrawRun<'a> {
    pub(crate) places: wgpu::BufferSlice<'a>,
    pub(crate) playbacks: wgpu::BufferSlice<'a>,
    /// Transforms of the previous frame, if shaders read them.
    pub(crate) previous: Option<wgpu::BufferSlice<'a>>,
    pub(crate) instances: u32,
    /// Number of the run's first instance in the crowd.
    pub(crate) first: u32,
    /// Level of detail of the run, and its index range per part, if the CPU has chosen it.
    pub(crate) lod: Option<(u32, &'a [IndexRange])>,
    /// Poses of the run, if a pass has drawn them.
    pub(crate) poses: Option<&'a DrawnPoses>,
    /// Number of the run's first instance in its buffers.
    pub(crate) start: u32,
    /// Palette of the run; `None` if the model has an animation texture.
    pub(crate) palette: Option<PaletteDraw<'a>>,
}

/// Poses of a list of instances that a pass has drawn into a texture.
#[derive(Clone, Debug)]
pub(crate) struct DrawnPoses {
    /// Model, poses and places.
    pub(crate) bind_group: wgpu::BindGroup,
    /// Byte offset of the places.
    pub(crate) offset: u32,
    /// Number of the buffers that the bind group refers to.
    pub(crate) generation: u64,
    /// Number of the frame for which they were drawn.
    pub(crate) frame: u64,
}

/// Poses of instances that do not read their own from the palette.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherPoses {
    /// Shared poses, whose vertices are cached. The palette has them too.
    Cached,
    /// Poses for which the palette has no room. Vertices evaluate them.
    Slotless,
}

/// Draw run: instances drawn from one palette.
pub(crate) struct PaletteDraw<'a> {
    pub(crate) instances: u32,
    /// Levels of detail of this run.
    pub(crate) lods: Range<u32>,
    /// Number of the run's first instance in the crowd.
    pub(crate) first: u32,
    pub(crate) bind_group: &'a wgpu::BindGroup,
    /// Bind group with what vertices read instead of the palette, if that is not the place of the run's poses.
    pub(crate) others: Option<(OtherPoses, &'a wgpu::BindGroup)>,
    /// Whether a compute pass has added the morph targets of all instances.
    pub(crate) morphs_added: bool,
    /// Byte offset of the run's instance list.
    pub(crate) offset: u32,
    /// Indirect draws, if instances are culled.
    pub(crate) draws: Option<Draws<'a>>,
}

impl DrawRun<'_> {
    /// Place of the poses of the run, if that is not the palette.
    pub(crate) fn others(&self) -> Option<OtherPoses> {
        self.palette.as_ref().and_then(|palette| Some(palette.others?.0))
    }

    /// Numbers of the run's instances in its buffers.
    pub(crate) fn numbers(&self) -> Range<u32> {
        self.start..self.start + self.instances
    }
}

/// Draws a mesh part with the bound resources. `index`: index of the part.
pub(crate) fn draw_part(pass: &mut wgpu::RenderPass<'_>, index: usize, part: &MeshPart, run: &DrawRun<'_>) {
    match run.palette.as_ref().and_then(|palette| palette.draws) {
        Some(draws) => draws.draw(pass, index),
        None => {
            let finest = IndexRange { first_index: part.first_index, index_count: part.index_count };
            let chosen = run.lod.and_then(|(_, parts)| parts.get(index)).copied();
            let IndexRange { first_index, index_count } = chosen.unwrap_or(finest);
            // A part may have no triangles left in a coarse level.
            if index_count > 0 {
                pass.draw_indexed(first_index..first_index + index_count, 0, run.numbers());
            }
        }
    }
}
