//! How the words of `local-packed` stand: one storage buffer a model. All offsets count words from the buffer's start.
//!
//! | section | |
//! |---|---|
//! | [`header`] | counts, and where the others are |
//! | [`node`] | a node's parent, and its transform where a clip has nothing else |
//! | [`bone`] | a bone's node and inverse bind matrix |
//! | clips | where each [`clip`] is |
//! | [`clip`] | its frames; an entry a node |
//! | masks | sets of nodes, `ceil(nodes / 32)` words each: a bit a node, the first in the lowest |
//! | tracks | of each node that leaves its rest in the clip: rotation, translation, scale, those that do |
//! | frames | one after the other, each a row of bits with all of its nodes, padded to a word |
//!
//! An entry has two bits a property ([`Kind`]; rotation, translation, scale from bit 0 up) and the offset of the node's
//! tracks from bit 6 on. A constant track is its value, three floats. A moving one ([`track`]) says where in a frame its
//! three components stand, how wide, and what they mean:
//!
//! ```text
//! component c = origin[c] + (bits[c] - (2^width[c] - 1) / 2) * step
//! ```
//!
//! A rotation is three numbers too: the quaternion's [stereographic projection](super::from_projection), which needs no
//! fourth and has the same precision everywhere. What moves is relative to the origin: origin * moved.

/// Greatest width of a component: what an `f32` holds exactly.
pub const MAX_WIDTH: u32 = 24;
/// Most nodes: every bone and as many between them.
pub const MAX_NODES: u32 = 4096;
/// Most bones.
pub const MAX_BONES: u32 = 1024;

/// Where the buffer begins.
pub mod header {
    /// Number of nodes.
    pub const NODES: usize = 0;
    /// Number of bones.
    pub const BONES: usize = 1;
    /// Nodes of a link, at least 1: long chains are composed link by link. 1: they are short.
    pub const LINK: usize = 2;
    /// Number of clips.
    pub const CLIPS: usize = 3;
    /// Offset of the nodes.
    pub const NODES_AT: usize = 4;
    /// Offset of the bones.
    pub const BONES_AT: usize = 5;
    /// Offset of the clips' offsets.
    pub const CLIPS_AT: usize = 6;
    /// Number of masks.
    pub const MASKS: usize = 7;
    /// Offset of the masks.
    pub const MASKS_AT: usize = 8;
    /// Words of it.
    pub const WORDS: usize = 9;
}

/// A node.
pub mod node {
    /// Unit quaternion `x, y, z, w`, floats.
    pub const ROTATION: usize = 0;
    /// Metres in the parent's space, floats.
    pub const TRANSLATION: usize = 4;
    /// Index of its parent, which stands before it.
    pub const PARENT: usize = 7;
    /// Per axis, floats.
    pub const SCALE: usize = 8;
    /// Index of the node that is a link above it: its parent where a link is one node.
    pub const ABOVE: usize = 11;
    /// Words of it.
    pub const WORDS: usize = 12;
    /// The parent of roots, and what is above the first links.
    pub const NO_PARENT: u32 = u32::MAX;
}

/// A bone.
pub mod bone {
    /// Rows of the 3x4 matrix from the mesh as modelled to the node's space, floats.
    pub const INVERSE_BIND: usize = 0;
    /// Index of its node.
    pub const NODE: usize = 12;
    /// Words of it.
    pub const WORDS: usize = 13;
}

/// A clip.
pub mod clip {
    /// Words of a frame.
    pub const FRAME_WORDS: usize = 0;
    /// Offset of its first frame.
    pub const FRAMES_AT: usize = 1;
    /// Intervals between frames, as in [`ClipRecord`](crate::ClipRecord).
    pub const INTERVALS: usize = 2;
    /// Frames stored, as there.
    pub const STORED: usize = 3;
    /// Number of its first frame, counted through all clips; ascending.
    pub const FIRST_FRAME: usize = 4;
    /// One more than the index of the clip whose first frame is the pose that this one adds to; 0: a pose of its own.
    pub const REFERENCE: usize = 5;
    /// Frames that the first of them stands for: [`HeldFrames::bits`](crate::HeldFrames::bits).
    pub const HELD: usize = 6;
    /// One entry a node.
    pub const ENTRIES: usize = 7;
}

/// A moving track.
pub mod track {
    /// Where in a frame it stands, bits.
    pub const BIT: usize = 0;
    /// Widths of the components, five bits each; in the upper half the step, the upper half of an `f32`.
    pub const SHAPE: usize = 1;
    /// Three floats.
    pub const ORIGIN: usize = 2;
    /// Words of it.
    pub const WORDS: usize = 5;
    /// Words of a constant one.
    pub const CONSTANT_WORDS: usize = 3;
}

/// Words of a mask over so many nodes.
pub const fn mask_words(nodes: usize) -> usize {
    nodes.div_ceil(32)
}

/// What a property of a node does in a clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is as the node has it.
    Rest,
    /// It has one value.
    Constant,
    /// It moves.
    Moving,
}

impl Kind {
    /// Words of its track.
    pub const fn words(self) -> usize {
        match self {
            Self::Rest => 0,
            Self::Constant => track::CONSTANT_WORDS,
            Self::Moving => track::WORDS,
        }
    }
}

/// The kind of a property of an entry: rotation, translation, scale are 0, 1, 2.
pub const fn entry_kind(entry: u32, property: u32) -> Kind {
    match (entry >> (2 * property)) & 3 {
        0 => Kind::Rest,
        1 => Kind::Constant,
        _ => Kind::Moving,
    }
}

/// Offset of the tracks of an entry.
pub const fn entry_track(entry: u32) -> u32 {
    entry >> 6
}

/// An entry; `None` where the offset has more than 26 bits.
pub fn entry(kinds: [Kind; 3], track: usize) -> Option<u32> {
    let track = u32::try_from(track).ok().filter(|t| t >> 26 == 0)?;
    let [rotation, translation, scale] = kinds.map(|kind| kind as u32);
    Some((track << 6) | (scale << 4) | (translation << 2) | rotation)
}

/// Width of a component, bits.
pub const fn shape_width(shape: u32, component: u32) -> u32 {
    (shape >> (5 * component)) & 31
}

/// What one unit of a component is worth.
pub const fn shape_step(shape: u32) -> f32 {
    f32::from_bits(shape & 0xffff_0000)
}

/// The widths, at most [`MAX_WIDTH`], and the step that is `step` or the next greater one.
pub fn shape(widths: [u32; 3], step: f32) -> u32 {
    let step = step.to_bits().saturating_add(0xffff) & 0xffff_0000;
    step | widths[2] << 10 | widths[1] << 5 | widths[0]
}

/// A component's bits as a number of steps from the middle of its range.
pub const fn centred(bits: u32, width: u32) -> f32 {
    bits as f32 - 0.5 * ((1_u32 << width) - 1) as f32
}
