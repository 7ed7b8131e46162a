//! Batches: crowds of different models whose culling, poses and draws are merged, so that their cost
//! depends on the number of instances and not on the number of models. CPU layout of
//! `shaders/batch.wgsl`. Does not need wgpu.

use bytemuck::{Pod, Zeroable};

use crate::cull::CullUniform;

/// Greatest number of instances of a crowd in a batch, and of draws per set of lists: the index of a drawn
/// instance is the number of the draw in its upper half, and counts the entries of a list in its lower half.
pub const MAX_BATCHED_INSTANCES: u32 = 1 << 16;
/// Word offset of the first word that belongs to a crowd in the buffer of lists; before it, the number
/// of poses to evaluate.
pub const LENGTHS_AT: u32 = 64;
/// Number of words before the lengths of a crowd's lists: palette slots requested, and assigned.
pub const LENGTHS_HEADER: u32 = 2;

/// Crowd of a batch. CPU layout of `GpuskinBatchedCrowd`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct BatchedCrowd {
    /// Parameters of the culling passes; `time` and `ignore_marks` are those of the frame instead.
    pub culling: CullUniform,
    /// Number of the crowd's first instance in the buffers of instances.
    pub first_instance: u32,
    /// Word offset of the lengths of the crowd's lists in the buffer of lists.
    pub lengths_at: u32,
    /// Word offset of the crowd's lists within a set.
    pub lists_at: u32,
    /// Offset of the bounds of the crowd's clips, in vectors of four words.
    pub bounds_at: u32,
    /// Word offset of the animation of the crowd's model.
    pub words_at: u32,
    /// First matrix of the crowd's palette.
    pub palette_at: u32,
    /// Matrices per palette slot.
    pub stride: u32,
    /// Matrices from a pose to the previous pose; 0 if that is not kept.
    pub previous_offset: u32,
    /// Number of the crowd's first draw in a set.
    pub draws_at: u32,
    /// Unused, zero.
    pub reserved_0: u32,
    /// Unused, zero.
    pub reserved_1: u32,
    /// Unused, zero.
    pub reserved_2: u32,
}

/// Uniform of the passes of a batch. CPU layout of `GpuskinBatchFrame`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct BatchFrame {
    /// Time: [`Time::words`](crate::Time::words).
    pub time: [u32; 2],
    /// Not 0: the main view ignores the occlusion marks and shows every instance in its frustum.
    pub ignore_marks: u32,
    /// Number of workgroups of the culling passes.
    pub groups: u32,
    /// Word offset of the first set of lists.
    pub sets_at: u32,
    /// Words per set of lists.
    pub set_words: u32,
    /// Draws per set of lists.
    pub draws: u32,
    /// Number of crowds.
    pub crowds: u32,
}

/// Constants of a crowd of a batch, for its vertex shader. CPU layout of `GpuskinDrawnCrowd`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct DrawnCrowd {
    /// Least position, metres.
    pub position_min: [f32; 3],
    /// Matrices per palette slot.
    pub palette_stride: u32,
    /// Greatest position minus least position, metres.
    pub position_extent: [f32; 3],
    /// Matrices from a pose to the previous pose; 0 if that is not kept.
    pub palette_previous: u32,
    /// Least texture coordinate.
    pub uv_min: [f32; 2],
    /// Greatest texture coordinate minus least texture coordinate.
    pub uv_extent: [f32; 2],
    /// First matrix of the crowd's palette.
    pub palette_at: u32,
    /// Number of the crowd's first instance in the buffers of instances.
    pub first_instance: u32,
    /// Unused, zero.
    pub reserved_0: u32,
    /// Unused, zero.
    pub reserved_1: u32,
}
