//! An animation texture in memory, read as the vertex shader reads it. Twin of the shaders that define `gpuskin_bone`.

use glam::{Vec3, Vec4};
use half::f16;

use super::{Encoding, TexelFormat, from_fixed16, packed};
use crate::layers::{LiveBones, Over};
use crate::local::LocalTracks;
use crate::playback::{ClipRecord, FramePair};
use crate::record::rotate;
use crate::{AnimationTexture, Shown, SkinMatrix};

/// An animation texture in memory: what the vertex shader's `textureLoad` sees, on the CPU.
#[derive(Clone, Copy, Debug)]
pub struct Texels<'a> {
    encoding: Encoding,
    texture: AnimationTexture,
    bytes: &'a [u8],
    local: Option<LocalTracks<'a>>,
}

impl<'a> Texels<'a> {
    /// `bytes`: all layers of the texture, rows top down, as in the level of the KTX2 file.
    /// `None` where there are fewer bytes than the texture needs, or words that lead nowhere.
    pub fn new(encoding: Encoding, texture: AnimationTexture, bytes: &'a [u8]) -> Option<Self> {
        if (bytes.len() as u64) < texture.byte_len(encoding) {
            return None;
        }
        let local = if encoding.needs_compute() { Some(LocalTracks::new(bytes)?) } else { None };
        Some(Self { encoding, texture, bytes, local })
    }

    /// The same of bytes that [`Texels::new`] has looked at.
    pub(crate) fn trusted(encoding: Encoding, texture: AnimationTexture, bytes: &'a [u8]) -> Self {
        Self { encoding, texture, bytes, local: encoding.needs_compute().then(|| LocalTracks::trusted(bytes)) }
    }

    /// Whether all frames of these clips, and so many rows, are in it: reading them does not panic.
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

    /// How bones or vertices stand in it.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    pub(super) fn texture(&self) -> &AnimationTexture {
        &self.texture
    }

    /// The matrices of all bones, in two frames or of an instance that fades from one clip to another.
    ///
    /// # Panics
    /// If a frame is not in the texture, or its rows are vertices.
    pub fn pose(&self, shown: impl Into<Shown>) -> Vec<SkinMatrix> {
        let shown = shown.into();
        match &self.local {
            Some(tracks) => tracks.pose(shown),
            None => (0..self.texture.rows).map(|bone| self.bone(shown, bone)).collect(),
        }
    }

    /// The matrix of `bone`, likewise. For all bones [`Texels::pose`] is faster where they share a hierarchy.
    ///
    /// # Panics
    /// If a frame or the bone is not in the texture, or its rows are vertices.
    pub fn bone(&self, shown: impl Into<Shown>, bone: u32) -> SkinMatrix {
        let shown = shown.into();
        match &self.local {
            Some(tracks) => tracks.bone(shown, bone as usize),
            None => shown.mix(|frames| self.stored(frames, bone), StoredBone::mix).matrix(),
        }
    }

    /// The same with what lies over the clip, in [`Encoding::LocalPacked`]; in other encodings nothing lies over it. Masks that
    /// the model has not hold no node, and live bones that are fewer than the model's are left out.
    ///
    /// # Panics
    /// As [`Texels::bone`].
    pub fn bone_over(&self, shown: impl Into<Shown>, over: &Over<'_>, bone: u32) -> SkinMatrix {
        let Some(tracks) = &self.local else { return self.bone(shown, bone) };
        let mut over = *over;
        for layer in &mut over.layers {
            layer.weight = if layer.mask.is_none_or(|mask| mask < tracks.mask_count()) { layer.weight } else { 0.0 };
        }
        over.live = over.live.filter(|(live, _)| match live {
            LiveBones::Model(bones) => bones.len() >= tracks.bone_count(),
            LiveBones::Local(nodes) => nodes.len() >= tracks.node_count(),
        });
        tracks.bone_over(shown, &over, bone as usize)
    }

    /// A bone between two frames.
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
            other if other.is_vertex() => panic!("rows of {} are vertices", other.name()),
            _ => StoredBone::Matrix(self.matrix(frames.a, bone).lerp(self.matrix(frames.b, bone), t)),
        }
    }

    /// The skin matrix of a bone in a frame.
    fn matrix(&self, frame: u32, bone: u32) -> SkinMatrix {
        let rows = [0, 1, 2];
        if self.encoding != Encoding::MatrixUnorm {
            return SkinMatrix { rows: rows.map(|k| self.floats(frame, bone, k)) };
        }
        let (min, extent) = (self.texture.range.min, self.texture.range.extent);
        let row = |k: u32| {
            let axis = k as usize;
            let fraction = Vec4::from_array(self.integers(frame, bone, k).map(|v| v as f32)) * (1.0 / 65_535.0);
            let rotation = fraction.truncate() * extent[3] + Vec3::splat(min[3]);
            rotation.extend(min[axis] + extent[axis] * fraction.w)
        };
        SkinMatrix { rows: rows.map(row) }
    }

    /// Quaternion; translation and scale.
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

/// A bone as an encoding holds it: what clips are mixed in.
#[derive(Clone, Copy)]
enum StoredBone {
    Matrix(SkinMatrix),
    /// `x -> scale * rotation * (x - pivot) + place`; the scale is the place's `w`.
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
        // Clips round their pivots on their own: where the other has this one.
        let moved = q.truncate() + q.w * rotate(other_rotation, pivot - r);
        let rotation = blend_rotation(rotation, other_rotation, t);
        Self::Trs { rotation, place: place * (1.0 - t) + moved.extend(q.w) * t, pivot }
    }

    fn matrix(self) -> SkinMatrix {
        match self {
            Self::Matrix(matrix) => matrix,
            Self::Trs { rotation, place, pivot } => {
                let turned = SkinMatrix::from_trs(rotation, Vec3::ZERO, place.w);
                turned.translated(place.truncate() - turned.direction(pivot))
            }
        }
    }
}

/// From one rotation (t = 0) to the other along the shorter arc: a quaternion and its negative are the same rotation.
fn blend_rotation(a: Vec4, b: Vec4, t: f32) -> Vec4 {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    (a * (1.0 - t) + b * t).normalize()
}
