//! How a bone's motion stands in texels, and how it is read back. Twins of `shaders/matrix.wgsl` and
//! `shaders/trs.wgsl`.

use glam::{Vec3, Vec4};
use half::f16;

use crate::playback::FramePair;
use crate::{AnimationTexture, SkinMatrix};

/// An encoding of bone motion in an animation texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Encoding {
    /// Rows of the 3x4 skin matrix, three RGBA32F texels: the exact baseline, 48 bytes a bone and frame.
    MatrixF32,
    /// The same in halves, three RGBA16F texels: 24 bytes.
    MatrixF16,
    /// Quaternion, then translation and uniform scale, two RGBA16F texels: 16 bytes. No shear, no non-uniform scale.
    TrsF16,
}

/// Format of the texels of an animation texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TexelFormat {
    /// Four 16-bit floats.
    Rgba16Float,
    /// Four 32-bit floats.
    Rgba32Float,
}

impl TexelFormat {
    /// Bytes of a texel.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Rgba16Float => 8,
            Self::Rgba32Float => 16,
        }
    }
}

impl Encoding {
    /// All of them, best precision first.
    pub const ALL: [Self; 3] = [Self::MatrixF32, Self::MatrixF16, Self::TrsF16];

    /// Its name in `gpuskin.toml`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MatrixF32 => "matrix-f32",
            Self::MatrixF16 => "matrix-f16",
            Self::TrsF16 => "trs-f16",
        }
    }

    /// The encoding of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|e| e.name() == name)
    }

    /// Texels of one bone in one frame.
    pub const fn texels(self) -> u32 {
        match self {
            Self::MatrixF32 | Self::MatrixF16 => 3,
            Self::TrsF16 => 2,
        }
    }

    /// Format of the texels.
    pub const fn format(self) -> TexelFormat {
        match self {
            Self::MatrixF32 => TexelFormat::Rgba32Float,
            Self::MatrixF16 | Self::TrsF16 => TexelFormat::Rgba16Float,
        }
    }

    /// Bytes of one bone in one frame.
    pub const fn bytes(self) -> usize {
        self.texels() as usize * self.format().bytes()
    }

    /// Whether the encoding keeps everything that 32-bit floats can: it comes with full-precision vertices.
    pub const fn is_exact(self) -> bool {
        matches!(self, Self::MatrixF32)
    }
}

/// An animation texture in memory: what the vertex shader's `textureLoad` sees, on the CPU.
#[derive(Clone, Copy, Debug)]
pub struct Texels<'a> {
    encoding: Encoding,
    texture: AnimationTexture,
    bytes: &'a [u8],
}

impl<'a> Texels<'a> {
    /// `bytes`: all layers of the texture, rows top down, as in the level of the KTX2 file.
    /// `None` where there are fewer bytes than the texture needs.
    pub fn new(encoding: Encoding, texture: AnimationTexture, bytes: &'a [u8]) -> Option<Self> {
        (bytes.len() as u64 >= texture.byte_len(encoding)).then_some(Self { encoding, texture, bytes })
    }

    /// The matrix of `bone` between two frames.
    ///
    /// # Panics
    /// If a frame or the bone is not in the texture.
    pub fn bone(&self, frames: FramePair, bone: u32) -> SkinMatrix {
        match self.encoding {
            Encoding::MatrixF32 | Encoding::MatrixF16 => {
                let matrix = |frame| SkinMatrix { rows: [0, 1, 2].map(|k| self.texel(frame, bone, k)) };
                matrix(frames.a).lerp(matrix(frames.b), frames.t)
            }
            Encoding::TrsF16 => {
                let (qa, qb) = (self.texel(frames.a, bone, 0), self.texel(frames.b, bone, 0));
                let (ta, tb) = (self.texel(frames.a, bone, 1), self.texel(frames.b, bone, 1));
                // Shortest arc: a quaternion and its negative are the same rotation.
                let qb = if qa.dot(qb) < 0.0 { -qb } else { qb };
                let q = (qa * (1.0 - frames.t) + qb * frames.t).normalize();
                let t = ta * (1.0 - frames.t) + tb * frames.t;
                SkinMatrix::from_trs(q, Vec3::new(t.x, t.y, t.z), t.w)
            }
        }
    }

    fn texel(&self, frame: u32, bone: u32, k: u32) -> Vec4 {
        let at = self.texture.byte_offset(self.encoding, frame, bone, k) as usize;
        let channel = |i: usize| match self.encoding.format() {
            TexelFormat::Rgba16Float => {
                let at = at + i * 2;
                f16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]).to_f32()
            }
            TexelFormat::Rgba32Float => {
                let at = at + i * 4;
                f32::from_le_bytes([0, 1, 2, 3].map(|b| self.bytes[at + b]))
            }
        };
        Vec4::new(channel(0), channel(1), channel(2), channel(3))
    }
}
