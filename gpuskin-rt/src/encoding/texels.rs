//! Reads an animation texture in memory. CPU reference of the shaders that define `gpuskin_bone`.

use glam::{Vec3, Vec4};
use half::f16;

use super::{Encoding, TexelFormat, from_fixed16, packed};
use crate::layers::{LayerBlend, LiveBones};
use crate::local::LocalTracks;
use crate::playback::{ClipRecord, FramePair};
use crate::record::rotate;
use crate::{Affine3, AnimationTexture, PoseBlend};

/// An animation texture in memory, read on the CPU like the vertex shader's `textureLoad` reads it
/// on the GPU.
#[derive(Clone, Copy, Debug)]
pub struct Texels<'a> {
    encoding: Encoding,
    texture: AnimationTexture,
    bytes: &'a [u8],
    local: Option<LocalTracks<'a>>,
}

impl<'a> Texels<'a> {
    /// Wraps the bytes of all layers of the texture, rows from the top, as in the level of the KTX2
    /// file. `None` if there are fewer bytes than the texture needs, or the words of `local-packed`
    /// are invalid.
    pub fn new(encoding: Encoding, texture: AnimationTexture, bytes: &'a [u8]) -> Option<Self> {
        if (bytes.len() as u64) < texture.byte_len(encoding) {
            return None;
        }
        let local = if encoding.needs_compute() { Some(LocalTracks::new(bytes)?) } else { None };
        Some(Self { encoding, texture, bytes, local })
    }

    /// Wraps bytes that [`Texels::new`] has checked before.
    pub(crate) fn trusted(encoding: Encoding, texture: AnimationTexture, bytes: &'a [u8]) -> Self {
        Self { encoding, texture, bytes, local: encoding.needs_compute().then(|| LocalTracks::trusted(bytes)) }
    }

    /// Returns whether the texture contains all frames of these clips with `rows` rows each, so
    /// that reading them does not panic.
    pub(crate) fn holds(&self, clips: &[ClipRecord], rows: usize) -> bool {
        let AnimationTexture { width, height, layers, frames_per_layer, frames, .. } = self.texture;
        let in_a_layer = u128::from(frames_per_layer.min(frames))
            * u128::from(self.texture.rows)
            * u128::from(self.encoding.texels());
        let places = match &self.local {
            Some(tracks) => {
                let same = |(i, clip): (usize, &ClipRecord)| tracks.record(i) == *clip;
                tracks.bone_count() == rows && tracks.clip_count() == clips.len() && clips.iter().enumerate().all(same)
            }
            None => {
                self.texture.rows as usize == rows
                    && in_a_layer <= u128::from(width) * u128::from(height)
                    && u64::from(frames_per_layer) * u64::from(layers) >= u64::from(frames)
            }
        };
        let stored = |clip: &ClipRecord| {
            let end = clip.first_frame.checked_add(clip.stored);
            let within = clip.first_frame >= self.encoding.range_frames() && end.is_some_and(|end| end <= frames);
            clip.is_sound() && within
        };
        !clips.is_empty() && places && clips.iter().all(stored)
    }

    /// Returns the encoding.
    #[doc(hidden)]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    pub(super) fn texture(&self) -> &AnimationTexture {
        &self.texture
    }

    /// Returns the skinning matrices of all bones, for two frames or a pose blend.
    ///
    /// # Panics
    /// If a frame is not in the texture, or its rows are vertices.
    pub fn pose(&self, shown: impl Into<PoseBlend>) -> Vec<Affine3> {
        let shown = shown.into();
        match &self.local {
            Some(tracks) => tracks.pose(shown),
            None => (0..self.texture.rows).map(|bone| self.bone(shown, bone)).collect(),
        }
    }

    /// Returns the skinning matrix of `bone`, for two frames or a pose blend. To read all bones,
    /// [`Texels::pose`] is faster in [`Encoding::LocalPacked`].
    ///
    /// # Panics
    /// If a frame or the bone is not in the texture, or its rows are vertices.
    pub fn bone(&self, shown: impl Into<PoseBlend>, bone: u32) -> Affine3 {
        let shown = shown.into();
        match &self.local {
            Some(tracks) => tracks.bone(shown, bone as usize),
            None => shown.mix(|frames| self.stored(frames, bone), StoredBone::mix).matrix(),
        }
    }

    /// Returns the skinning matrix of `bone` including layers and live bones. Encodings other than
    /// [`Encoding::LocalPacked`] ignore these. A layer whose mask the model does not have is
    /// ignored, and so are live bones that are fewer than the model's.
    ///
    /// # Panics
    /// In the cases of [`Texels::bone`].
    #[doc(hidden)]
    pub fn bone_over(&self, shown: impl Into<PoseBlend>, over: &LayerBlend<'_>, bone: u32) -> Affine3 {
        match &self.local {
            Some(tracks) => tracks.bone_over(shown, &sound(tracks, over), bone as usize),
            None => self.bone(shown, bone),
        }
    }

    /// Returns the skinning matrices of all bones including layers and live bones, as [`Texels::bone_over`] does.
    ///
    /// # Panics
    /// In the cases of [`Texels::bone`].
    #[cfg(feature = "wgpu")]
    pub(crate) fn pose_over(&self, shown: impl Into<PoseBlend>, over: &LayerBlend<'_>) -> Vec<Affine3> {
        match &self.local {
            Some(tracks) => tracks.pose_over(shown, &sound(tracks, over)),
            None => self.pose(shown),
        }
    }

    /// Interpolates a bone between two frames.
    fn stored(&self, frames: FramePair, bone: u32) -> StoredBone {
        let t = frames.t;
        match self.encoding {
            Encoding::TrsPacked => {
                let [least, rest] = [2, 1].map(|before| self.integers(frames.first - before, bone, 0));
                let range = packed::Range::from_texels([least, rest]);
                let (qa, pa, sa) = packed::unpack(self.integers(frames.a, bone, 0), &range);
                let (qb, pb, sb) = packed::unpack(self.integers(frames.b, bone, 0), &range);
                let place = pa * (1.0 - t) + pb * t;
                StoredBone::Trs {
                    rotation: blend_rotation(qa, qb, t),
                    place: place.extend(sa * (1.0 - t) + sb * t),
                    pivot: range.pivot,
                }
            }
            Encoding::TrsF16 | Encoding::Fixed16 => {
                let ((qa, ta), (qb, tb)) = (self.trs(frames.a, bone), self.trs(frames.b, bone));
                StoredBone::Trs {
                    rotation: blend_rotation(qa, qb, t),
                    place: ta * (1.0 - t) + tb * t,
                    pivot: Vec3::ZERO,
                }
            }
            Encoding::MatrixF32 | Encoding::MatrixF16 | Encoding::MatrixUnorm => {
                StoredBone::Matrix(self.matrix(frames.a, bone).lerp(self.matrix(frames.b, bone), t))
            }
            Encoding::LocalPacked => unreachable!("local tracks are no texels"),
            Encoding::VatF32
            | Encoding::VatF16
            | Encoding::VatUnorm8
            | Encoding::VatUnorm16
            | Encoding::VatUnorm24
            | Encoding::VatPacked
            | Encoding::VatPackedFine => panic!("encoding {} stores vertices, not bones", self.encoding.name()),
        }
    }

    /// Returns the skinning matrix of a bone in a frame.
    fn matrix(&self, frame: u32, bone: u32) -> Affine3 {
        let rows = [0, 1, 2];
        if !self.encoding.has_model_range() {
            return Affine3 { rows: rows.map(|k| self.floats(frame, bone, k)) };
        }
        let (min, extent) = (self.texture.range.min, self.texture.range.extent);
        let row = |k: u32| {
            let axis = k as usize;
            let fraction = Vec4::from_array(self.integers(frame, bone, k).map(|v| v as f32)) * (1.0 / 65_535.0);
            let rotation = fraction.truncate() * extent[3] + Vec3::splat(min[3]);
            rotation.extend(min[axis] + extent[axis] * fraction.w)
        };
        Affine3 { rows: rows.map(row) }
    }

    /// Returns the quaternion, and translation and scale, of a bone in a frame.
    fn trs(&self, frame: u32, bone: u32) -> (Vec4, Vec4) {
        let pairs = |k: u32| {
            let [a, b] = [k, k + 1].map(|k| self.integers(frame, bone, k).map(|v| v as u8));
            Vec4::new(
                from_fixed16([a[0], a[1]]),
                from_fixed16([a[2], a[3]]),
                from_fixed16([b[0], b[1]]),
                from_fixed16([b[2], b[3]]),
            )
        };
        match self.encoding {
            Encoding::Fixed16 => (pairs(0), pairs(2)),
            _ => (self.floats(frame, bone, 0), self.floats(frame, bone, 1)),
        }
    }

    fn at(&self, frame: u32, bone: u32, k: u32) -> usize {
        self.texture.byte_offset(self.encoding, frame, bone, k) as usize
    }

    pub(super) fn floats(&self, frame: u32, bone: u32, k: u32) -> Vec4 {
        let at = self.at(frame, bone, k);
        let channel = |i: usize| match self.encoding.format() {
            TexelFormat::Rgba16Float => {
                let at = at + i * 2;
                f16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]).to_f32()
            }
            _ => {
                let at = at + i * 4;
                f32::from_le_bytes([0, 1, 2, 3].map(|b| self.bytes[at + b]))
            }
        };
        Vec4::new(channel(0), channel(1), channel(2), channel(3))
    }

    pub(super) fn integers(&self, frame: u32, bone: u32, k: u32) -> [u32; 4] {
        let at = self.at(frame, bone, k);
        let width = self.encoding.format().bytes() / 4;
        let channel = |i: usize| {
            let bytes = &self.bytes[at + i * width..][..width];
            bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
        };
        [0, 1, 2, 3].map(channel)
    }
}

/// A bone in the form in which an encoding blends clips.
#[derive(Clone, Copy)]
enum StoredBone {
    Matrix(Affine3),
    /// `x -> scale * rotation * (x - pivot) + place`; the scale is `place.w`.
    Trs {
        rotation: Vec4,
        place: Vec4,
        pivot: Vec3,
    },
}

impl StoredBone {
    fn mix(self, other: Self, t: f32) -> Self {
        let (Self::Trs { rotation, place, pivot }, Self::Trs { rotation: other_rotation, place: q, pivot: r }) =
            (self, other)
        else {
            return Self::Matrix(self.matrix().lerp(other.matrix(), t));
        };
        // Each clip rounds its pivot on its own: moves the position of the other clip to this
        // pivot.
        let moved = q.truncate() + q.w * rotate(other_rotation, pivot - r);
        let rotation = blend_rotation(rotation, other_rotation, t);
        Self::Trs { rotation, place: place * (1.0 - t) + moved.extend(q.w) * t, pivot }
    }

    fn matrix(self) -> Affine3 {
        match self {
            Self::Matrix(matrix) => matrix,
            Self::Trs { rotation, place, pivot } => {
                let turned = Affine3::from_trs(rotation, Vec3::ZERO, place.w);
                turned.translated(place.truncate() - turned.direction(pivot))
            }
        }
    }
}

/// Interpolates rotations from `a` (t = 0) to `b` (t = 1) along the shorter arc: a quaternion and
/// its negative are the same rotation.
fn blend_rotation(a: Vec4, b: Vec4, t: f32) -> Vec4 {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    (a * (1.0 - t) + b * t).normalize()
}

/// Returns a layer blend without layers whose mask a model does not have, and without live bones that are fewer than the model's.
fn sound<'a>(tracks: &LocalTracks<'_>, over: &LayerBlend<'a>) -> LayerBlend<'a> {
    let mut over = *over;
    for layer in &mut over.layers {
        layer.weight = if layer.mask.is_none_or(|mask| mask < tracks.mask_count()) { layer.weight } else { 0.0 };
    }
    over.live = over.live.filter(|(live, _)| match live {
        LiveBones::Model(bones) => bones.len() >= tracks.bone_count(),
        LiveBones::Local(nodes) => nodes.len() >= tracks.node_count(),
    });
    over
}
