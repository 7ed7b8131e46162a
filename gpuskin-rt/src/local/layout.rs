//! Layout of the words of `local-packed`: one storage buffer per model. All offsets count words
//! from the start of the buffer.
//!
//! | section | content |
//! |---|---|
//! | [`header`] | counts, and offsets of the other sections |
//! | [`node`] | parent of a node, and its rest transform |
//! | [`bone`] | node and inverse bind matrix of a bone |
//! | clips | offset of each [`clip`] |
//! | [`clip`] | frames of a clip; one entry per node |
//! | masks | sets of nodes, `ceil(nodes / 32)` words each: one bit per node, lowest bit first |
//! | tracks | per node that leaves its rest transform in the clip: the tracks of rotation, translation and scale, as far as they differ from rest |
//! | frames | consecutive; each is a row of bits with the values of all nodes, padded to whole words |
//!
//! An entry has two bits per property ([`Kind`]; rotation, translation, scale from bit 0 up), and
//! the offset of the node's tracks from bit 6 up. A constant track is its value, three floats. An
//! animated track ([`track`]) holds the position of its three components in a frame, their bit
//! widths, and how to decode them:
//!
//! ```text
//! component c = origin[c] + (bits[c] - (2^width[c] - 1) / 2) * step
//! ```
//!
//! A rotation also has three numbers: the [stereographic projection](super::from_projection) of its
//! quaternion, which has the same precision everywhere. An animated rotation is relative to the
//! origin: `origin * value`.

/// Greatest bit width of a component: an `f32` holds it exactly.
pub const MAX_WIDTH: u32 = 24;
/// Greatest number of nodes: every bone, and three times as many nodes between them.
pub const MAX_NODES: u32 = 4096;
/// Greatest number of bones.
pub const MAX_BONES: u32 = 1024;

/// Start of the buffer.
pub mod header {
    /// Number of nodes.
    pub const NODES: usize = 0;
    /// Number of bones.
    pub const BONES: usize = 1;
    /// Length of a chain link in nodes, at least 1: long joint chains are composed link by link. 1
    /// if all chains are short.
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
    /// Number of words.
    pub const WORDS: usize = 9;
}

/// Words of a node.
pub mod node {
    /// Rest rotation: unit quaternion `x, y, z, w`, floats.
    pub const ROTATION: usize = 0;
    /// Rest translation in the parent's space, metres, floats.
    pub const TRANSLATION: usize = 4;
    /// Index of the parent, which precedes the node.
    pub const PARENT: usize = 7;
    /// Rest scale per axis, floats.
    pub const SCALE: usize = 8;
    /// Index of the ancestor one chain link up; the parent, if a link is one node.
    pub const CHAIN_PARENT: usize = 11;
    /// Number of words.
    pub const WORDS: usize = 12;
    /// Parent of a root, and ancestor of nodes in the first link.
    pub const NO_PARENT: u32 = u32::MAX;
}

/// Words of a bone.
pub mod bone {
    /// Inverse bind matrix: rows of a 3x4 matrix, floats.
    pub const INVERSE_BIND: usize = 0;
    /// Index of the bone's node.
    pub const NODE: usize = 12;
    /// Number of words.
    pub const WORDS: usize = 13;
}

/// Words of a clip.
pub mod clip {
    /// Number of words per frame.
    pub const FRAME_WORDS: usize = 0;
    /// Offset of the clip's first frame.
    pub const FRAMES_AT: usize = 1;
    /// Number of intervals between frames, as in [`ClipRecord`](crate::ClipRecord).
    pub const INTERVALS: usize = 2;
    /// Number of stored frames, as in [`ClipRecord`](crate::ClipRecord).
    pub const STORED: usize = 3;
    /// Number of the clip's first frame, counted through all clips; ascending.
    pub const FIRST_FRAME: usize = 4;
    /// For an additive clip, index plus 1 of the clip whose first frame is the reference pose; 0
    /// for an ordinary clip.
    pub const REFERENCE: usize = 5;
    /// Run of identical frames, as in [`ClipRecord`](crate::ClipRecord).
    pub const HELD: usize = 6;
    /// First entry; one per node.
    pub const ENTRIES: usize = 7;
}

/// Words of an animated track.
pub mod track {
    /// Position of the track in a frame, bits.
    pub const BIT: usize = 0;
    /// Bit widths of the components, five bits each; in the upper half the quantisation step, the
    /// upper half of an `f32`.
    pub const SHAPE: usize = 1;
    /// Origin: three floats.
    pub const ORIGIN: usize = 2;
    /// Number of words.
    pub const WORDS: usize = 5;
    /// Number of words of a constant track.
    pub const CONSTANT_WORDS: usize = 3;
}

/// Returns the number of words of a mask over `nodes` nodes.
pub const fn mask_words(nodes: usize) -> usize {
    nodes.div_ceil(32)
}

/// Behaviour of a property of a node in a clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The value of the node's rest transform.
    Rest,
    /// One constant value.
    Constant,
    /// An animated value, interpolated between frames.
    Moving,
    /// An animated value that each frame holds until the next one, stored as [`Kind::Moving`].
    Held,
}

impl Kind {
    /// Returns the number of words of the track.
    pub const fn words(self) -> usize {
        match self {
            Self::Rest => 0,
            Self::Constant => track::CONSTANT_WORDS,
            Self::Moving | Self::Held => track::WORDS,
        }
    }
}

/// Returns the kind of a property of an entry: 0 is rotation, 1 translation, 2 scale.
pub const fn entry_kind(entry: u32, property: u32) -> Kind {
    match (entry >> (2 * property)) & 3 {
        0 => Kind::Rest,
        1 => Kind::Constant,
        2 => Kind::Moving,
        _ => Kind::Held,
    }
}

/// Returns the offset of the tracks of an entry.
pub const fn entry_track(entry: u32) -> u32 {
    entry >> 6
}

/// Packs an entry; `None` if the offset has more than 26 bits.
pub fn entry(kinds: [Kind; 3], track: usize) -> Option<u32> {
    let track = u32::try_from(track).ok().filter(|t| t >> 26 == 0)?;
    let [rotation, translation, scale] = kinds.map(|kind| kind as u32);
    Some((track << 6) | (scale << 4) | (translation << 2) | rotation)
}

/// Returns the bit width of a component.
pub const fn shape_width(shape: u32, component: u32) -> u32 {
    (shape >> (5 * component)) & 31
}

/// Returns the quantisation step of a track.
pub const fn shape_step(shape: u32) -> f32 {
    f32::from_bits(shape & 0xffff_0000)
}

/// Packs bit widths, at most [`MAX_WIDTH`], and the quantisation step, rounded up.
pub fn shape(widths: [u32; 3], step: f32) -> u32 {
    let step = step.to_bits().saturating_add(0xffff) & 0xffff_0000;
    step | widths[2] << 10 | widths[1] << 5 | widths[0]
}

/// Decodes the bits of a component to a number of steps from the middle of its range.
pub const fn centred(bits: u32, width: u32) -> f32 {
    bits as f32 - 0.5 * ((1_u32 << width) - 1) as f32
}
