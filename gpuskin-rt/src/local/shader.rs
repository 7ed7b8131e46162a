//! The compute shader that evaluates poses of `local-packed` into a palette, as text. Needs no wgpu.

use core::fmt::Write;

use bytemuck::{Pod, Zeroable};

use super::LocalTransform;
use super::layout::{bone, clip, header, node, track};
use crate::LayerSet;

/// Most nodes whose matrices fit the 16 KiB of workgroup memory that every device has.
pub const WORKGROUP_NODES: usize = 336;
/// Bytes of workgroup memory that hold what an instance shows.
pub const SHOWN_BYTES: u64 = 208;
/// The compute entry point: one workgroup an instance, counted along x, then y; along z now and the moment before.
pub const ENTRY_POINT: &str = "gpuskin_write_palette";

/// Where the matrices of nodes stand while the hierarchy is composed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scratch {
    /// In workgroup memory: at most [`WORKGROUP_NODES`].
    Workgroup,
    /// Behind the bones of each instance in the palette.
    Palette,
}

impl Scratch {
    /// The one for so many nodes.
    pub const fn of(nodes: usize) -> Self {
        if nodes <= WORKGROUP_NODES { Self::Workgroup } else { Self::Palette }
    }

    /// Matrices that an instance takes in the palette.
    pub const fn stride(self, bones: usize, nodes: usize) -> usize {
        match self {
            Self::Workgroup => bones,
            Self::Palette => bones + nodes,
        }
    }
}

/// Binding 0 of the palette pass. Twin of `GpuskinPaletteParameters` in `shaders/local_palette.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PaletteUniform {
    /// The moment: [`Time::words`](crate::Time::words).
    pub clock: [u32; 2],
    /// The one before, likewise, where its poses are kept.
    pub clock_before: [u32; 2],
    /// Instances to evaluate.
    pub instances: u32,
    /// The first of them, among those of the buffer and of the palette.
    pub first_instance: u32,
    /// Matrices from one instance's first to the next one's: [`Scratch::stride`] for each moment.
    pub stride: u32,
    /// Where live poses begin in what lies over the clips, in units of four words.
    pub live_at: u32,
    /// From one live pose to the next, likewise: [`live_stride`].
    pub live_stride: u32,
    /// Matrices from an instance's pose to that of the moment before.
    pub before: u32,
    /// Where live poses of the moment before begin, as `live_at`.
    pub live_before_at: u32,
    /// Most workgroups along x.
    pub most_groups: u32,
}

/// Words of one node's or bone's live transform: a `LocalTransform`, or three rows; three times four.
pub const LIVE_WORDS: usize = size_of::<LocalTransform>() / 4;

/// From one live pose to the next in units of four words: as much as nodes or bones need, whichever are more.
pub const fn live_stride(bones: usize, nodes: usize) -> usize {
    (if bones > nodes { bones } else { nodes }) * LIVE_WORDS / 4
}

/// WGSL of the palette pass. Group 0: [`PaletteUniform`], the model's words, the instances, the palette, and what lies
/// over the instances' clips: words of [`LayerSet`]s, then live poses.
pub fn palette(scratch: Scratch) -> String {
    let scratch = match scratch {
        Scratch::Workgroup => include_str!("../../shaders/local_workgroup.wgsl"),
        Scratch::Palette => include_str!("../../shaders/local_storage.wgsl"),
    };
    let modules = [
        include_str!("../../shaders/playback.wgsl"),
        include_str!("../../shaders/instance.wgsl"),
        include_str!("../../shaders/skin_matrix.wgsl"),
        include_str!("../../shaders/local_bindings.wgsl"),
        include_str!("../../shaders/local.wgsl"),
        include_str!("../../shaders/local_layers.wgsl"),
        scratch,
        include_str!("../../shaders/local_palette.wgsl"),
    ];
    let mut text = constants();
    for module in modules {
        text.push('\n');
        text.push_str(module);
    }
    text
}

/// The layout's numbers, from where they are defined.
fn constants() -> String {
    let mut text = String::from("// Layout of the words: module layout of gpuskin-rt/src/local.rs.\n");
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
        ("node_above", node::ABOVE),
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
