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
//! Blending two clips or laying one over the other is blending lists of [`LocalTransform`]s.
//!
//! [`layout`] says how the words stand.

use glam::{Vec3, Vec4};

use crate::playback::{ClipRecord, FramePair};
use crate::skin_matrix::SkinMatrix;

pub mod layout;
mod rotation;
pub mod shader;
mod validate;

use layout::{Kind, bone, clip, header, node, track};
pub use rotation::{from_projection, multiply, slerp, to_projection};

/// A node's transform to its parent: scale first, then rotation, then translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalTransform {
    /// Unit quaternion `x, y, z, w`.
    pub rotation: Vec4,
    /// Metres in the parent's space.
    pub translation: Vec3,
    /// Per axis.
    pub scale: Vec3,
}

impl LocalTransform {
    /// Moves nothing.
    pub const IDENTITY: Self = Self { rotation: Vec4::W, translation: Vec3::ZERO, scale: Vec3::ONE };

    /// From `self` (t = 0) to `other` (t = 1): along the shorter arc at even speed, the rest component-wise.
    pub fn blend(&self, other: &Self, t: f32) -> Self {
        Self {
            rotation: slerp(self.rotation, other.rotation, t),
            translation: lerp(self.translation, other.translation, t),
            scale: lerp(self.scale, other.scale, t),
        }
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
    words: &'a [u32],
}

impl<'a> LocalTracks<'a> {
    /// `None` where the words are not what [`layout`] says.
    pub fn new(words: &'a [u32]) -> Option<Self> {
        validate::is_sound(words).then_some(Self { words })
    }

    /// Nodes of the hierarchy, those of a level after those of the levels above.
    pub fn node_count(&self) -> usize {
        self.words[header::NODES] as usize
    }

    /// Bones.
    pub fn bone_count(&self) -> usize {
        self.words[header::BONES] as usize
    }

    /// Clips.
    pub fn clip_count(&self) -> usize {
        self.words[header::CLIPS] as usize
    }

    /// A clip's frames, counted from 0 in every clip.
    ///
    /// # Panics
    /// If there is no such clip.
    pub fn record(&self, clip: usize) -> ClipRecord {
        let at = self.clip_at(clip);
        let (intervals, stored) = (self.words[at + clip::INTERVALS], self.words[at + clip::STORED]);
        ClipRecord { first_frame: 0, intervals, stored, ..ClipRecord::default() }
    }

    /// Every node's transform to its parent between two frames of a clip, counted from the clip's first.
    ///
    /// # Panics
    /// If there is no such clip or frame.
    pub fn locals(&self, clip: usize, frames: FramePair) -> Vec<LocalTransform> {
        (0..self.node_count()).map(|node| self.local(clip, frames, node)).collect()
    }

    /// One node of [`Self::locals`].
    ///
    /// # Panics
    /// If there is no such clip, frame or node.
    pub fn local(&self, clip: usize, frames: FramePair, node: usize) -> LocalTransform {
        let at = self.clip_at(clip);
        assert!(node < self.node_count() && frames.a.max(frames.b) < self.words[at + clip::STORED]);
        let entry = self.words[at + clip::ENTRIES + node];
        let rest = self.word(header::NODES_AT) + node * node::WORDS;
        let block = |frame: u32| self.word(at + clip::FRAMES_AT) + frame as usize * self.word(at + clip::FRAME_WORDS);
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
        LocalTransform { rotation, translation, scale }
    }

    /// Every node's transform to the model.
    ///
    /// # Panics
    /// If there are fewer transforms than nodes.
    pub fn globals(&self, locals: &[LocalTransform]) -> Vec<SkinMatrix> {
        let mut globals: Vec<SkinMatrix> = Vec::with_capacity(self.node_count());
        for (i, local) in locals[..self.node_count()].iter().enumerate() {
            let parent = self.words[self.word(header::NODES_AT) + i * node::WORDS + node::PARENT];
            let own = local.matrix();
            globals.push(if parent == node::NO_PARENT { own } else { compose(&globals[parent as usize], &own) });
        }
        globals
    }

    /// Every bone's skin matrix: its node's transform after its inverse bind matrix.
    ///
    /// # Panics
    /// If there are fewer transforms than nodes.
    pub fn bones(&self, globals: &[SkinMatrix]) -> Vec<SkinMatrix> {
        let first = self.word(header::BONES_AT);
        let bone = |i: usize| {
            let at = first + i * bone::WORDS;
            let row = |r: usize| Vec4::from([0, 1, 2, 3].map(|c| self.float(at + bone::INVERSE_BIND + 4 * r + c)));
            compose(&globals[self.word(at + bone::NODE)], &SkinMatrix { rows: [0, 1, 2].map(row) })
        };
        (0..self.bone_count()).map(bone).collect()
    }

    /// All three steps: every bone between two frames of a clip, counted from the clip's first.
    ///
    /// # Panics
    /// If there is no such clip or frame.
    pub fn pose(&self, clip: usize, frames: FramePair) -> Vec<SkinMatrix> {
        self.bones(&self.globals(&self.locals(clip, frames)))
    }

    fn clip_at(&self, clip: usize) -> usize {
        assert!(clip < self.clip_count());
        self.word(self.word(header::CLIPS_AT) + clip)
    }

    fn word(&self, at: usize) -> usize {
        self.words[at] as usize
    }

    fn float(&self, at: usize) -> f32 {
        f32::from_bits(self.words[at])
    }

    fn vector(&self, at: usize) -> Vec3 {
        Vec3::from([0, 1, 2].map(|c| self.float(at + c)))
    }

    /// What a moving track has in a frame, from the track's origin; `block`: first word of the frame.
    fn offset(&self, track: usize, block: usize) -> Vec3 {
        let shape = self.words[track + track::SHAPE];
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
        let low = self.words[word] >> shift;
        // Shifted twice: a shift by 32 is none.
        let high = (self.words[word + 1] << (31 - shift)) << 1;
        (low | high) & ((1 << width) - 1)
    }
}

#[cfg(test)]
mod tests;
