//! WGSL of the compute pass that evaluates poses of `local-packed` into a palette. Does not need
//! wgpu.

use core::fmt::Write;

use bytemuck::{Pod, Zeroable};

use super::LocalTransform;
use super::layout::{bone, clip, header, node, track};
use crate::{LayerSet, bit_fields};

/// Numbers of nodes for whose matrices a palette pass has workgroup memory, ascending. With less memory, a
/// device evaluates more poses at the same time. The last one fits the 16 KiB that every device has.
pub const WORKGROUP_NODES: [usize; 3] = [96, 192, 336];
/// Workgroup memory for the pose blend of an instance, bytes.
pub const POSE_BLEND_BYTES: u64 = 208;
/// Compute entry point: one workgroup per instance, counted along x, then y; z 0 is the current
/// time, z 1 the previous time.
pub const ENTRY_POINT: &str = "gpuskin_write_palette";

/// Memory for the node matrices while the hierarchy is composed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scratch {
    /// Workgroup memory for so many nodes, one of [`WORKGROUP_NODES`].
    Workgroup(usize),
    /// The palette, behind the bones of each instance.
    Palette,
}

impl Scratch {
    /// Number of different values.
    pub const COUNT: usize = WORKGROUP_NODES.len() + 1;

    /// Returns the memory to use for `nodes` nodes.
    pub fn of(nodes: usize) -> Self {
        WORKGROUP_NODES.into_iter().find(|most| nodes <= *most).map_or(Self::Palette, Self::Workgroup)
    }

    /// Returns the number of this value, from 0 to [`Self::COUNT`].
    pub fn index(self) -> usize {
        WORKGROUP_NODES.into_iter().take_while(|nodes| self != Self::Workgroup(*nodes)).count()
    }

    /// Returns the number of matrices per instance in the palette.
    pub const fn stride(self, bones: usize, nodes: usize) -> usize {
        match self {
            Self::Workgroup(_) => bones,
            Self::Palette => bones + nodes,
        }
    }
}

/// Uniform of the palette pass, binding 0. CPU layout of `GpuskinPaletteParameters` in
/// `shaders/local_palette.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PaletteUniform {
    /// Current time: [`Time::words`](crate::Time::words).
    pub time: [u32; 2],
    /// Previous time: [`Time::words`](crate::Time::words). Used if the palette holds poses of the
    /// previous frame.
    pub previous_time: [u32; 2],
    /// Number of instances to evaluate.
    pub instances: u32,
    /// Index of the first of them in the instance buffer and in the palette.
    pub first_instance: u32,
    /// Number of matrices per instance in the palette: [`Scratch::stride`] per time.
    pub stride: u32,
    /// Offset of the live poses in the layer buffer, in vectors of four words.
    pub live_at: u32,
    /// Distance between live poses, in vectors of four words: [`live_stride`].
    pub live_stride: u32,
    /// Number of matrices from an instance's current pose to its previous pose.
    pub previous_offset: u32,
    /// Offset of the live poses of the previous frame, in vectors of four words.
    pub previous_live_at: u32,
    /// Greatest number of workgroups along x.
    pub max_groups: u32,
    /// Bits of the level of detail in word 10 of the records that a culling pass writes; 0: poses serve the finest level.
    pub level_mask: u32,
    /// Zero.
    pub reserved: u32,
}

/// Number of words per node or bone of a live pose: a `LocalTransform` or three rows, both three
/// vectors of four words.
pub const LIVE_WORDS: usize = size_of::<LocalTransform>() / 4;

/// Returns the distance between live poses in vectors of four words: room for all nodes or all
/// bones, whichever are more.
pub const fn live_stride(bones: usize, nodes: usize) -> usize {
    (if bones > nodes { bones } else { nodes }) * LIVE_WORDS / 4
}

/// Returns the WGSL of the palette pass. Group 0: [`PaletteUniform`], the words of the model, the
/// instances, the palette, and the layer buffer: words of [`LayerSet`]s, followed by live poses.
pub fn palette(scratch: Scratch) -> String {
    text(scratch, &[include_str!("../../shaders/local_bindings.wgsl")])
}

/// Returns the WGSL of the palette pass of a batch. Group 0: [`PaletteUniform`], the words
/// of all models, the playback records of the poses, the palette, and the table of crowds. `scratch`: for the model with the most
/// nodes, in workgroup memory. `table`: WGSL of that table, [`batch_table`](crate::cull::batch_table).
pub fn batch_palette(scratch: Scratch, table: &str) -> String {
    text(scratch, &[table, include_str!("../../shaders/local_batch.wgsl")])
}

fn text(scratch: Scratch, bindings: &[&str]) -> String {
    let mut text = constants() + &bit_fields::wgsl();
    let scratch = match scratch {
        Scratch::Workgroup(nodes) => {
            let _ = writeln!(text, "const gpuskin_workgroup_nodes: u32 = {nodes}u;");
            include_str!("../../shaders/local_workgroup.wgsl")
        }
        Scratch::Palette => include_str!("../../shaders/local_storage.wgsl"),
    };
    let first = [
        include_str!("../../shaders/playback.wgsl"),
        include_str!("../../shaders/instance.wgsl"),
        include_str!("../../shaders/skin_matrix.wgsl"),
        include_str!("../../shaders/local_parameters.wgsl"),
    ];
    let then = [
        include_str!("../../shaders/playback_words.wgsl"),
        include_str!("../../shaders/local.wgsl"),
        include_str!("../../shaders/local_layers.wgsl"),
        scratch,
        include_str!("../../shaders/local_palette.wgsl"),
    ];
    for module in first.iter().chain(bindings).chain(&then) {
        text.push('\n');
        text.push_str(module);
    }
    text
}

/// Returns the constants of the layout as WGSL.
pub(crate) fn constants() -> String {
    let mut text = String::from("// Layout of the words: gpuskin-rt/src/local/layout.rs.\n");
    for (name, value) in [
        ("node_count", header::NODES),
        ("bone_count", header::BONES),
        ("link", header::LINK),
        ("clip_count", header::CLIPS),
        ("nodes_at", header::NODES_AT),
        ("bones_at", header::BONES_AT),
        ("clips_at", header::CLIPS_AT),
        ("mask_count", header::MASKS),
        ("masks_at", header::MASKS_AT),
        ("node_rotation", node::ROTATION),
        ("node_translation", node::TRANSLATION),
        ("node_parent", node::PARENT),
        ("node_chain_parent", node::CHAIN_PARENT),
        ("node_scale", node::SCALE),
        ("node_words", node::WORDS),
        ("bone_node", bone::NODE),
        ("bone_words", bone::WORDS),
        ("frame_words", clip::FRAME_WORDS),
        ("frames_at", clip::FRAMES_AT),
        ("intervals", clip::INTERVALS),
        ("stored", clip::STORED),
        ("reference", clip::REFERENCE),
        ("held", clip::HELD),
        ("entries", clip::ENTRIES),
        ("track_origin", track::ORIGIN),
        ("moving_words", track::WORDS),
        ("constant_words", track::CONSTANT_WORDS),
        ("slot_vectors", LayerSet::WORDS / 4),
        ("layer_vectors", 3),
        ("live_vector", 6),
    ] {
        let _ = writeln!(text, "const gpuskin_{name}: u32 = {value}u;");
    }
    text
}
