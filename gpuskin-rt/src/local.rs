//! `local-packed`: node-to-parent transforms in as few bits as the error allows, and the hierarchy
//! that composes them into skinning matrices. CPU reference of `shaders/local.wgsl`.
//!
//! A pose is evaluated in three steps. They are separate functions, so that a caller can change
//! transforms between them:
//!
//! | function | input | output |
//! |---|---|---|
//! | [`LocalTracks::locals`] | a clip between two frames | a [`LocalTransform`] per node |
//! | [`LocalTracks::globals`] | local transforms, parents before children | a node-to-model matrix per node |
//! | [`LocalTracks::bones`] | node-to-model matrices | a [`Affine3`] per bone |
//!
//! Clips are blended as lists of [`LocalTransform`]s. [`LocalTracks::pose_over`] also applies
//! layers and live bones.
//!
//! [`layout`] documents the words of the buffer.

use bytemuck::{Pod, Zeroable};
use glam::{Vec3, Vec4};

use crate::playback::{ClipRecord, FramePair, stepped};
use crate::record::PoseBlend;
use crate::skin_matrix::{Affine3, compose};
use crate::{InstanceRecord, Time};

pub mod layout;
mod over;
mod rotation;
pub mod shader;
mod validate;
mod words;

use layout::{Kind, bone, clip, header, node, track};
pub use rotation::{from_projection, multiply, slerp, to_projection};
use words::Words;

/// A node-to-parent transform: scale first, then rotation, then translation. Memory layout as in
/// the shaders.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct LocalTransform {
    /// Unit quaternion `x, y, z, w`.
    #[doc(hidden)]
    pub rotation: Vec4,
    /// Translation in the parent's space, metres.
    #[doc(hidden)]
    pub translation: Vec3,
    /// Scale per axis.
    #[doc(hidden)]
    pub scale: Vec3,
    /// Padding to three vectors of four numbers.
    reserved: [f32; 2],
}

impl LocalTransform {
    /// Identity.
    #[doc(hidden)]
    pub const IDENTITY: Self =
        Self { rotation: Vec4::W, translation: Vec3::ZERO, scale: Vec3::ONE, reserved: [0.0; 2] };

    /// Makes a transform from a rotation (unit quaternion `x, y, z, w`), a translation in metres
    /// and a scale per axis.
    pub fn new(rotation: impl Into<[f32; 4]>, translation: impl Into<[f32; 3]>, scale: impl Into<[f32; 3]>) -> Self {
        Self {
            rotation: rotation.into().into(),
            translation: translation.into().into(),
            scale: scale.into().into(),
            reserved: [0.0; 2],
        }
    }

    /// Returns the rotation, a unit quaternion `x, y, z, w`.
    pub fn rotation(&self) -> [f32; 4] {
        self.rotation.into()
    }

    /// Returns the translation in the parent's space, metres.
    pub fn translation(&self) -> [f32; 3] {
        self.translation.into()
    }

    /// Returns the scale per axis.
    pub fn scale(&self) -> [f32; 3] {
        self.scale.into()
    }

    /// Interpolates from `self` (t = 0) to `other` (t = 1): rotation along the shorter arc at
    /// constant angular speed, translation and scale component-wise.
    #[doc(hidden)]
    pub fn blend(&self, other: &Self, t: f32) -> Self {
        Self::new(
            slerp(self.rotation, other.rotation, t),
            lerp(self.translation, other.translation, t),
            lerp(self.scale, other.scale, t),
        )
    }

    /// Returns the matrix `translation * rotation * scale`.
    #[doc(hidden)]
    pub fn matrix(&self) -> Affine3 {
        let m = Affine3::from_trs(self.rotation, self.translation, 1.0);
        let scale = self.scale.extend(1.0);
        Affine3 { rows: m.rows.map(|row| row * scale) }
    }
}

/// Interpolates component-wise from `a` (t = 0) to `b` (t = 1).
fn lerp(a: Vec3, b: Vec3, t: f32) -> Vec3 {
    a * (1.0 - t) + b * t
}

/// The validated words of a model: every offset in them is in range.
#[derive(Clone, Copy, Debug)]
pub struct LocalTracks<'a> {
    words: Words<'a>,
}

impl<'a> LocalTracks<'a> {
    /// Validates little-endian words; `None` if they do not follow [`layout`].
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let words = Words(bytes.as_chunks().0);
        validate::is_sound(words).then_some(Self { words })
    }

    /// Wraps bytes that [`LocalTracks::new`] has checked before.
    pub(crate) fn trusted(bytes: &'a [u8]) -> Self {
        Self { words: Words(bytes.as_chunks().0) }
    }

    /// Returns the number of nodes of the hierarchy.
    #[doc(hidden)]
    pub fn node_count(&self) -> usize {
        self.word(header::NODES)
    }

    /// Returns the number of bones.
    #[doc(hidden)]
    pub fn bone_count(&self) -> usize {
        self.word(header::BONES)
    }

    /// Returns the number of clips.
    #[doc(hidden)]
    pub fn clip_count(&self) -> usize {
        self.word(header::CLIPS)
    }

    /// Returns the frames of a clip. Frames are numbered through all clips.
    ///
    /// # Panics
    /// If the clip does not exist.
    #[doc(hidden)]
    pub fn record(&self, clip: usize) -> ClipRecord {
        let at = self.clip_at(clip);
        let [first_frame, intervals, stored, held] =
            [clip::FIRST_FRAME, clip::INTERVALS, clip::STORED, clip::HELD].map(|i| self.words.get(at + i));
        ClipRecord { first_frame, intervals, stored, held }
    }

    /// Returns the index of the clip whose first frame is the reference pose of an additive clip;
    /// `None` for an ordinary clip.
    ///
    /// # Panics
    /// If the clip does not exist.
    #[doc(hidden)]
    pub fn reference(&self, clip: usize) -> Option<usize> {
        self.word(self.clip_at(clip) + clip::REFERENCE).checked_sub(1)
    }

    /// Returns the number of masks.
    #[doc(hidden)]
    pub fn mask_count(&self) -> usize {
        self.word(header::MASKS)
    }

    /// Returns whether a mask contains a node.
    ///
    /// # Panics
    /// If the mask or the node does not exist.
    #[doc(hidden)]
    pub fn mask(&self, mask: usize, node: usize) -> bool {
        assert!(mask < self.mask_count() && node < self.node_count());
        let at = self.word(header::MASKS_AT) + mask * layout::mask_words(self.node_count());
        self.words.get(at + node / 32) >> (node % 32) & 1 != 0
    }

    /// Returns the transform of every node to its parent, for what an instance shows at `time`, fades included: the start of
    /// an animator of a game's own. Nodes are in the order that [`LiveBones::Local`](crate::LiveBones::Local) expects.
    pub fn locals_at(&self, instance: &InstanceRecord, time: impl Into<Time>) -> Vec<LocalTransform> {
        let records: Vec<ClipRecord> = (0..self.clip_count()).map(|clip| self.record(clip)).collect();
        let blend = instance.pose_blend(&records, time.into());
        let mix =
            |a: Vec<LocalTransform>, b: Vec<LocalTransform>, t| a.iter().zip(&b).map(|(a, b)| a.blend(b, t)).collect();
        blend.mix(|frames| self.locals(frames), mix)
    }

    /// Returns the node-to-parent transform of every node between two frames of a clip.
    ///
    /// # Panics
    /// If no clip has these frames.
    #[doc(hidden)]
    pub fn locals(&self, frames: FramePair) -> Vec<LocalTransform> {
        let clip = self.clip_of(frames);
        (0..self.node_count()).map(|node| self.local(clip, frames, node)).collect()
    }

    /// Returns the offset of the clip that two frames belong to.
    fn clip_of(&self, frames: FramePair) -> usize {
        // Binary search: most clips are sorted by their first frame.
        let (mut low, mut high) = (0, self.clip_count());
        while high - low > 1 {
            let middle = (low + high) / 2;
            if self.record(middle).first_frame <= frames.first { low = middle } else { high = middle }
        }
        // Linear search: a clip that shares the frames of another is not in order.
        if self.record(low).first_frame != frames.first {
            low = (0..self.clip_count()).find(|clip| self.record(*clip).first_frame == frames.first).unwrap_or(low);
        }
        let record = self.record(low);
        let stored = |frame: u32| frame.wrapping_sub(record.first_frame) < record.stored;
        assert!(frames.first == record.first_frame && stored(frames.a) && stored(frames.b), "{frames:?}");
        self.clip_at(low)
    }

    /// Returns the transform of a node between two frames of the clip at an offset.
    fn local(&self, at: usize, frames: FramePair, node: usize) -> LocalTransform {
        let entry = self.words.get(at + clip::ENTRIES + node);
        let rest = self.word(header::NODES_AT) + node * node::WORDS;
        let block = |frame: u32| {
            self.word(at + clip::FRAMES_AT) + (frame - frames.first) as usize * self.word(at + clip::FRAME_WORDS)
        };
        let (a, b) = (block(frames.a), block(frames.b));
        let mut track = layout::entry_track(entry) as usize;
        let blend = |kind| if kind == Kind::Held { stepped(frames.t) } else { frames.t };
        let rotation = match layout::entry_kind(entry, 0) {
            Kind::Rest => Vec4::from([0, 1, 2, 3].map(|c| self.float(rest + node::ROTATION + c))),
            Kind::Constant => from_projection(self.vector(track)),
            kind @ (Kind::Moving | Kind::Held) => {
                let [a, b] = [a, b].map(|block| from_projection(self.offset(track, block)));
                multiply(from_projection(self.vector(track + track::ORIGIN)), slerp(a, b, blend(kind)))
            }
        };
        track += layout::entry_kind(entry, 0).words();
        let moving = |track: usize, kind: Kind| {
            let origin = self.vector(track + track::ORIGIN);
            origin + lerp(self.offset(track, a), self.offset(track, b), blend(kind))
        };
        let translation = match layout::entry_kind(entry, 1) {
            Kind::Rest => self.vector(rest + node::TRANSLATION),
            Kind::Constant => self.vector(track),
            kind => moving(track, kind),
        };
        track += layout::entry_kind(entry, 1).words();
        let scale = match layout::entry_kind(entry, 2) {
            Kind::Rest => self.vector(rest + node::SCALE),
            Kind::Constant => self.vector(track),
            kind => moving(track, kind),
        };
        LocalTransform::new(rotation, translation, scale)
    }

    /// Returns the node-to-model transform of every node.
    ///
    /// # Panics
    /// If there are fewer transforms than nodes.
    pub fn globals(&self, locals: &[LocalTransform]) -> Vec<Affine3> {
        let mut globals: Vec<Affine3> = Vec::with_capacity(self.node_count());
        for (i, local) in locals[..self.node_count()].iter().enumerate() {
            let own = local.matrix();
            globals.push(self.parent(i).map_or(own, |p| compose(&globals[p], &own)));
        }
        globals
    }

    /// Returns the skinning matrix of every bone: its node's transform times its inverse bind
    /// matrix.
    ///
    /// # Panics
    /// If there are fewer transforms than nodes.
    pub fn bones(&self, globals: &[Affine3]) -> Vec<Affine3> {
        (0..self.bone_count()).map(|i| compose(&globals[self.bone_node(i)], &self.inverse_bind(i))).collect()
    }

    /// Evaluates all three steps: returns the skinning matrices of all bones for two frames or a
    /// pose blend.
    ///
    /// # Panics
    /// If no clip has these frames.
    #[doc(hidden)]
    pub fn pose(&self, shown: impl Into<PoseBlend>) -> Vec<Affine3> {
        let mix =
            |a: Vec<LocalTransform>, b: Vec<LocalTransform>, t| a.iter().zip(&b).map(|(a, b)| a.blend(b, t)).collect();
        self.bones(&self.globals(&shown.into().mix(|frames| self.locals(frames), mix)))
    }

    /// Returns one bone of [`Self::pose`], bit-exact, evaluating only the node and its ancestors.
    ///
    /// # Panics
    /// If no clip has these frames, or the bone does not exist.
    #[doc(hidden)]
    pub fn bone(&self, shown: impl Into<PoseBlend>, bone: usize) -> Affine3 {
        assert!(bone < self.bone_count());
        let shown = shown.into();
        let local = |frames, node| self.local(self.clip_of(frames), frames, node);
        let own = |node: usize| shown.mix(|frames| local(frames, node), |a, b, t| a.blend(&b, t)).matrix();
        compose(&self.chain(self.bone_node(bone), own), &self.inverse_bind(bone))
    }

    /// Returns the node-to-model transform of a node. `own`: node-to-parent transform of a node;
    /// called for the node and its ancestors.
    fn chain(&self, node: usize, own: impl Fn(usize) -> Affine3) -> Affine3 {
        let above = |node: usize| std::iter::successors(Some(node), |node| self.parent(*node));
        // From the root down, without allocating: as many nodes per round as the array holds.
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
        global.unwrap_or(Affine3::IDENTITY)
    }

    /// Returns the parent of a node; `None` for a root.
    ///
    /// # Panics
    /// If the node does not exist.
    pub fn parent(&self, node: usize) -> Option<usize> {
        assert!(node < self.node_count());
        let parent = self.words.get(self.word(header::NODES_AT) + node * node::WORDS + node::PARENT);
        (parent != node::NO_PARENT).then_some(parent as usize)
    }

    /// Returns the node of a bone.
    ///
    /// # Panics
    /// If the bone does not exist.
    pub fn bone_node(&self, bone: usize) -> usize {
        assert!(bone < self.bone_count());
        self.word(self.word(header::BONES_AT) + bone * bone::WORDS + bone::NODE)
    }

    fn inverse_bind(&self, bone: usize) -> Affine3 {
        let at = self.word(header::BONES_AT) + bone * bone::WORDS + bone::INVERSE_BIND;
        Affine3 { rows: [0, 4, 8].map(|row| Vec4::from([0, 1, 2, 3].map(|c| self.float(at + row + c)))) }
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

    /// Returns the value of an animated track in a frame, relative to the track's origin. `block`:
    /// first word of the frame.
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

    /// Returns `width` bits, at most 24, starting at bit `bit` of a block.
    fn bits(&self, block: usize, bit: usize, width: u32) -> u32 {
        if width == 0 {
            return 0;
        }
        let (word, shift) = (block + bit / 32, (bit % 32) as u32);
        let low = self.words.get(word) >> shift;
        // Shifted twice, because a shift by 32 would overflow.
        let high = (self.words.get(word + 1) << (31 - shift)) << 1;
        (low | high) & ((1 << width) - 1)
    }
}

#[cfg(test)]
mod tests;
