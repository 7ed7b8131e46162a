//! `local-packed`: every node's own transform to its parent, as few bits as the error allows, and the hierarchy that
//! turns them into skin matrices. Twin of `shaders/local.wgsl`.
//!
//! A pose is made in three steps, which are functions of their own so that something can stand between them:
//!
//! | | | |
//! |---|---|---|
//! | [`LocalTracks::locals`] | a clip between two frames | a [`LocalTransform`] a node |
//! | [`LocalTracks::globals`] | those, parents before children | a matrix a node, to the model |
//! | [`LocalTracks::bones`] | those | a [`SkinMatrix`] a bone |
//!
//! Blending two clips is blending lists of [`LocalTransform`]s; [`LocalTracks::pose_over`] also lays layers and bones of the
//! game's own over them.
//!
//! [`layout`] says how the words stand.

use bytemuck::{Pod, Zeroable};
use glam::{Vec3, Vec4};

use crate::playback::{ClipRecord, FramePair};
use crate::record::Shown;
use crate::skin_matrix::SkinMatrix;

pub mod layout;
mod over;
mod rotation;
pub mod shader;
mod validate;

use layout::{Kind, bone, clip, header, node, track};
pub use rotation::{from_projection, multiply, slerp, to_projection};

/// A node's transform to its parent: scale first, then rotation, then translation. In memory as shaders read it.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct LocalTransform {
    /// Unit quaternion `x, y, z, w`.
    pub rotation: Vec4,
    /// Metres in the parent's space.
    pub translation: Vec3,
    /// Per axis.
    pub scale: Vec3,
    /// Three times four numbers in all.
    reserved: [f32; 2],
}

impl LocalTransform {
    /// Moves nothing.
    pub const IDENTITY: Self = Self::new(Vec4::W, Vec3::ZERO, Vec3::ONE);

    /// A rotation (unit quaternion `x, y, z, w`), a translation in metres and a scale per axis.
    pub const fn new(rotation: Vec4, translation: Vec3, scale: Vec3) -> Self {
        Self { rotation, translation, scale, reserved: [0.0; 2] }
    }

    /// From `self` (t = 0) to `other` (t = 1): along the shorter arc at even speed, the rest component-wise.
    pub fn blend(&self, other: &Self, t: f32) -> Self {
        Self::new(
            slerp(self.rotation, other.rotation, t),
            lerp(self.translation, other.translation, t),
            lerp(self.scale, other.scale, t),
        )
    }

    /// Rows of its matrix: `translation * rotation * scale`.
    pub fn matrix(&self) -> SkinMatrix {
        let m = SkinMatrix::from_trs(self.rotation, self.translation, 1.0);
        let scale = self.scale.extend(1.0);
        SkinMatrix { rows: m.rows.map(|row| row * scale) }
    }
}

/// Component-wise from `a` (t = 0) to `b` (t = 1).
fn lerp(a: Vec3, b: Vec3, t: f32) -> Vec3 {
    a * (1.0 - t) + b * t
}

/// `a * b` of affine matrices by their upper three rows: `b` acts first.
pub fn compose(a: &SkinMatrix, b: &SkinMatrix) -> SkinMatrix {
    let row = |r: Vec4| b.rows[0] * r.x + b.rows[1] * r.y + b.rows[2] * r.z + Vec4::new(0.0, 0.0, 0.0, r.w);
    SkinMatrix { rows: a.rows.map(row) }
}

/// The words of a model, checked: every offset in them leads to words that are there.
#[derive(Clone, Copy, Debug)]
pub struct LocalTracks<'a> {
    words: Words<'a>,
}

/// Little-endian words, wherever they begin.
#[derive(Clone, Copy, Debug)]
struct Words<'a>(&'a [[u8; 4]]);

impl<'a> Words<'a> {
    fn get(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.0[at])
    }

    /// Words from one on; `None` where there are not as many.
    fn section(&self, at: u32, len: usize) -> Option<Words<'a>> {
        let at = at as usize;
        self.0.get(at..at.checked_add(len)?).map(Words)
    }
}

impl<'a> LocalTracks<'a> {
    /// Little-endian words; `None` where they are not what [`layout`] says.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let words = Words(bytes.as_chunks().0);
        validate::is_sound(words).then_some(Self { words })
    }

    /// The same of bytes that [`LocalTracks::new`] has looked at.
    pub(crate) fn trusted(bytes: &'a [u8]) -> Self {
        Self { words: Words(bytes.as_chunks().0) }
    }

    /// Nodes of the hierarchy, parents before their children.
    pub fn node_count(&self) -> usize {
        self.word(header::NODES)
    }

    /// Bones.
    pub fn bone_count(&self) -> usize {
        self.word(header::BONES)
    }

    /// Clips.
    pub fn clip_count(&self) -> usize {
        self.word(header::CLIPS)
    }

    /// A clip's frames; they are numbered through all clips.
    ///
    /// # Panics
    /// If there is no such clip.
    pub fn record(&self, clip: usize) -> ClipRecord {
        let at = self.clip_at(clip);
        let [first_frame, intervals, stored, held] =
            [clip::FIRST_FRAME, clip::INTERVALS, clip::STORED, clip::HELD].map(|i| self.words.get(at + i));
        ClipRecord { first_frame, intervals, stored, held }
    }

    /// Index of the clip whose first frame is the pose that a clip adds to; `None` where it is a pose of its own.
    ///
    /// # Panics
    /// If there is no such clip.
    pub fn reference(&self, clip: usize) -> Option<usize> {
        self.word(self.clip_at(clip) + clip::REFERENCE).checked_sub(1)
    }

    /// Masks.
    pub fn mask_count(&self) -> usize {
        self.word(header::MASKS)
    }

    /// Whether a node is in a mask.
    ///
    /// # Panics
    /// If there is no such mask or node.
    pub fn mask(&self, mask: usize, node: usize) -> bool {
        assert!(mask < self.mask_count() && node < self.node_count());
        let at = self.word(header::MASKS_AT) + mask * layout::mask_words(self.node_count());
        self.words.get(at + node / 32) >> (node % 32) & 1 != 0
    }

    /// Every node's transform to its parent between two frames of a clip.
    ///
    /// # Panics
    /// If there is no clip with these frames.
    pub fn locals(&self, frames: FramePair) -> Vec<LocalTransform> {
        let clip = self.clip_of(frames);
        (0..self.node_count()).map(|node| self.local(clip, frames, node)).collect()
    }

    /// Offset of the clip of two frames.
    fn clip_of(&self, frames: FramePair) -> usize {
        // Clips stand in the order of their frames.
        let (mut low, mut high) = (0, self.clip_count());
        while high - low > 1 {
            let middle = (low + high) / 2;
            if self.record(middle).first_frame <= frames.first { low = middle } else { high = middle }
        }
        // But for those that have the frames of another.
        if self.record(low).first_frame != frames.first {
            low = (0..self.clip_count()).find(|clip| self.record(*clip).first_frame == frames.first).unwrap_or(low);
        }
        let record = self.record(low);
        let stored = |frame: u32| frame.wrapping_sub(record.first_frame) < record.stored;
        assert!(frames.first == record.first_frame && stored(frames.a) && stored(frames.b), "{frames:?}");
        self.clip_at(low)
    }

    /// A node between two frames of the clip at an offset.
    fn local(&self, at: usize, frames: FramePair, node: usize) -> LocalTransform {
        let entry = self.words.get(at + clip::ENTRIES + node);
        let rest = self.word(header::NODES_AT) + node * node::WORDS;
        let block = |frame: u32| {
            self.word(at + clip::FRAMES_AT) + (frame - frames.first) as usize * self.word(at + clip::FRAME_WORDS)
        };
        let (a, b) = (block(frames.a), block(frames.b));
        let mut track = layout::entry_track(entry) as usize;
        let rotation = match layout::entry_kind(entry, 0) {
            Kind::Rest => Vec4::from([0, 1, 2, 3].map(|c| self.float(rest + node::ROTATION + c))),
            Kind::Constant => from_projection(self.vector(track)),
            Kind::Moving => {
                let [a, b] = [a, b].map(|block| from_projection(self.offset(track, block)));
                multiply(from_projection(self.vector(track + track::ORIGIN)), slerp(a, b, frames.t))
            }
        };
        track += layout::entry_kind(entry, 0).words();
        let moving = |track: usize| {
            let origin = self.vector(track + track::ORIGIN);
            origin + lerp(self.offset(track, a), self.offset(track, b), frames.t)
        };
        let translation = match layout::entry_kind(entry, 1) {
            Kind::Rest => self.vector(rest + node::TRANSLATION),
            Kind::Constant => self.vector(track),
            Kind::Moving => moving(track),
        };
        track += layout::entry_kind(entry, 1).words();
        let scale = match layout::entry_kind(entry, 2) {
            Kind::Rest => self.vector(rest + node::SCALE),
            Kind::Constant => self.vector(track),
            Kind::Moving => moving(track),
        };
        LocalTransform::new(rotation, translation, scale)
    }

    /// Every node's transform to the model.
    ///
    /// # Panics
    /// If there are fewer transforms than nodes.
    pub fn globals(&self, locals: &[LocalTransform]) -> Vec<SkinMatrix> {
        let mut globals: Vec<SkinMatrix> = Vec::with_capacity(self.node_count());
        for (i, local) in locals[..self.node_count()].iter().enumerate() {
            let own = local.matrix();
            globals.push(self.parent(i).map_or(own, |p| compose(&globals[p], &own)));
        }
        globals
    }

    /// Every bone's skin matrix: its node's transform after its inverse bind matrix.
    ///
    /// # Panics
    /// If there are fewer transforms than nodes.
    pub fn bones(&self, globals: &[SkinMatrix]) -> Vec<SkinMatrix> {
        (0..self.bone_count()).map(|i| compose(&globals[self.bone_node(i)], &self.inverse_bind(i))).collect()
    }

    /// All three steps: every bone, in two frames or of an instance that fades from one clip to another.
    ///
    /// # Panics
    /// If there is no clip with these frames.
    pub fn pose(&self, shown: impl Into<Shown>) -> Vec<SkinMatrix> {
        let mix =
            |a: Vec<LocalTransform>, b: Vec<LocalTransform>, t| a.iter().zip(&b).map(|(a, b)| a.blend(b, t)).collect();
        self.bones(&self.globals(&shown.into().mix(|frames| self.locals(frames), mix)))
    }

    /// One bone of [`Self::pose`], to the last bit, through its own chain of nodes.
    ///
    /// # Panics
    /// If there is no clip with these frames, or no such bone.
    pub fn bone(&self, shown: impl Into<Shown>, bone: usize) -> SkinMatrix {
        assert!(bone < self.bone_count());
        let shown = shown.into();
        let local = |frames, node| self.local(self.clip_of(frames), frames, node);
        let own = |node: usize| shown.mix(|frames| local(frames, node), |a, b, t| a.blend(&b, t)).matrix();
        compose(&self.chain(self.bone_node(bone), own), &self.inverse_bind(bone))
    }

    /// A node's transform to the model; `own`: its transform to its parent, and that of each node above it.
    fn chain(&self, node: usize, own: impl Fn(usize) -> SkinMatrix) -> SkinMatrix {
        let above = |node: usize| std::iter::successors(Some(node), |node| self.parent(*node));
        // From the root down without a list: as many nodes at a time as there is room for.
        let mut some = [0_usize; 32];
        let mut left = above(node).count();
        let mut global = None;
        while left > 0 {
            let count = left.min(some.len());
            left -= count;
            for (place, node) in some.iter_mut().zip(above(node).skip(left)).take(count) {
                *place = node;
            }
            for &node in some[..count].iter().rev() {
                let own = own(node);
                global = Some(global.map_or(own, |global| compose(&global, &own)));
            }
        }
        global.unwrap_or(SkinMatrix::IDENTITY)
    }

    /// The parent of a node; `None` for a root.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn parent(&self, node: usize) -> Option<usize> {
        assert!(node < self.node_count());
        let parent = self.words.get(self.word(header::NODES_AT) + node * node::WORDS + node::PARENT);
        (parent != node::NO_PARENT).then_some(parent as usize)
    }

    /// The node of a bone.
    ///
    /// # Panics
    /// If there is no such bone.
    pub fn bone_node(&self, bone: usize) -> usize {
        assert!(bone < self.bone_count());
        self.word(self.word(header::BONES_AT) + bone * bone::WORDS + bone::NODE)
    }

    fn inverse_bind(&self, bone: usize) -> SkinMatrix {
        let at = self.word(header::BONES_AT) + bone * bone::WORDS + bone::INVERSE_BIND;
        SkinMatrix { rows: [0, 4, 8].map(|row| Vec4::from([0, 1, 2, 3].map(|c| self.float(at + row + c)))) }
    }

    fn clip_at(&self, clip: usize) -> usize {
        assert!(clip < self.clip_count());
        self.word(self.word(header::CLIPS_AT) + clip)
    }

    fn word(&self, at: usize) -> usize {
        self.words.get(at) as usize
    }

    fn float(&self, at: usize) -> f32 {
        f32::from_bits(self.words.get(at))
    }

    fn vector(&self, at: usize) -> Vec3 {
        Vec3::from([0, 1, 2].map(|c| self.float(at + c)))
    }

    /// What a moving track has in a frame, from the track's origin; `block`: first word of the frame.
    fn offset(&self, track: usize, block: usize) -> Vec3 {
        let shape = self.words.get(track + track::SHAPE);
        let mut bit = self.word(track + track::BIT);
        let step = layout::shape_step(shape);
        Vec3::from([0, 1, 2].map(|c| {
            let width = layout::shape_width(shape, c);
            let value = self.bits(block, bit, width);
            bit += width as usize;
            layout::centred(value, width) * step
        }))
    }

    /// `width` bits, at most 24, from the `bit`-th of a block on.
    fn bits(&self, block: usize, bit: usize, width: u32) -> u32 {
        if width == 0 {
            return 0;
        }
        let (word, shift) = (block + bit / 32, (bit % 32) as u32);
        let low = self.words.get(word) >> shift;
        // Shifted twice: a shift by 32 is none.
        let high = (self.words.get(word + 1) << (31 - shift)) << 1;
        (low | high) & ((1 << width) - 1)
    }
}

#[cfg(test)]
mod tests;
