//! How the motion of bones or vertices stands in texels.

mod fixed16;
pub mod packed;
mod texels;
pub mod vat;

pub use fixed16::{fixed16, from_fixed16};
pub use texels::Texels;

/// An encoding of the motion of bones or vertices in an animation texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Encoding {
    /// Rows of the 3x4 skin matrix, three RGBA32F texels: the exact baseline, 48 bytes a bone and frame.
    MatrixF32,
    /// The same in halves, three RGBA16F texels: 24 bytes.
    MatrixF16,
    /// The same in 16-bit fractions of the model's ranges, one of the 3x3 and one of each axis of the translation: three
    /// RGBA16Uint texels, 24 bytes.
    MatrixUnorm,
    /// Quaternion, then translation and uniform scale, two RGBA16F texels: 16 bytes. No shear, no non-uniform scale.
    TrsF16,
    /// Quaternion, translation and uniform scale in 18-bit integers within ranges of the bone and clip, one RGBA32Uint
    /// texel: 16 bytes. The rotation turns about the bone's own place. No shear, no non-uniform scale.
    TrsPacked,
    /// Quaternion, translation and uniform scale with a sign, 7 integer and 8 fraction bits each, four RGBA8Uint texels:
    /// 16 bytes, for devices without half floats. Values up to 127.99, in steps of 1/256: coarse.
    Fixed16,
    /// Local rotation, translation and scale of the nodes that move, in as few bits as the tolerance allows, in a buffer
    /// of words instead of a texture: commonly 2 to 7 bytes. A compute pass composes the hierarchy; rotations are
    /// interpolated as glTF asks. Any matrix. Needs compute and storage buffers. [`crate::local`] says more.
    LocalPacked,
    /// Vertices: position, normal and tangent in two RGBA32F texels: 32 bytes a vertex and frame.
    VatF32,
    /// The same in halves, two RGBA16F texels: 16 bytes.
    VatF16,
    /// Vertices: positions in 8-bit fractions of the model's range along each axis, normals in 32 bits, two RGBA8Uint
    /// texels: 8 bytes. Coarse.
    VatUnorm8,
    /// The same with 16-bit fractions, split over the bytes of two texels: 12 bytes.
    VatUnorm16,
    /// The same with 24-bit fractions, split over the bytes of three texels: 16 bytes.
    VatUnorm24,
    /// Vertices: positions in 16-bit fractions of the frame's range, normals in 16 bits, one RGBA16Uint texel: 8 bytes. No
    /// tangents.
    VatPacked,
    /// Vertices: positions in 24-bit fractions of the frame's range, normals in 32 bits, tangents in 16, one RGBA32Uint
    /// texel: 16 bytes.
    VatPackedFine,
}

/// Format of the texels of an animation texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TexelFormat {
    /// One 32-bit integer.
    R32Uint,
    /// Four 8-bit integers.
    Rgba8Uint,
    /// Four 16-bit integers.
    Rgba16Uint,
    /// Four 32-bit integers.
    Rgba32Uint,
    /// Four 16-bit floats.
    Rgba16Float,
    /// Four 32-bit floats.
    Rgba32Float,
}

impl TexelFormat {
    /// Bytes of a texel.
    pub const fn bytes(self) -> usize {
        match self {
            Self::R32Uint | Self::Rgba8Uint => 4,
            Self::Rgba16Uint | Self::Rgba16Float => 8,
            Self::Rgba32Uint | Self::Rgba32Float => 16,
        }
    }

    /// Texels are integers: `texture_2d<u32>`, else `texture_2d<f32>`.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::R32Uint | Self::Rgba8Uint | Self::Rgba16Uint | Self::Rgba32Uint)
    }
}

impl Encoding {
    /// All of them: bones, then vertices, best precision first.
    pub const ALL: [Self; 14] = [
        Self::MatrixF32,
        Self::LocalPacked,
        Self::TrsPacked,
        Self::MatrixUnorm,
        Self::MatrixF16,
        Self::TrsF16,
        Self::Fixed16,
        Self::VatF32,
        Self::VatPackedFine,
        Self::VatUnorm24,
        Self::VatUnorm16,
        Self::VatPacked,
        Self::VatF16,
        Self::VatUnorm8,
    ];

    /// Its name in `gpuskin.toml`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MatrixF32 => "matrix-f32",
            Self::MatrixF16 => "matrix-f16",
            Self::MatrixUnorm => "matrix-unorm",
            Self::TrsF16 => "trs-f16",
            Self::TrsPacked => "trs-packed",
            Self::Fixed16 => "fixed16",
            Self::LocalPacked => "local-packed",
            Self::VatF32 => "vat-f32",
            Self::VatF16 => "vat-f16",
            Self::VatUnorm8 => "vat-unorm8",
            Self::VatUnorm16 => "vat-unorm16",
            Self::VatUnorm24 => "vat-unorm24",
            Self::VatPacked => "vat-packed",
            Self::VatPackedFine => "vat-packed-fine",
        }
    }

    /// The encoding of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|e| e.name() == name)
    }

    /// Texels of one bone or vertex in one frame; for [`Encoding::LocalPacked`], of which bones have as many bits as they
    /// need, 1.
    pub const fn texels(self) -> u32 {
        match self {
            Self::MatrixF32 | Self::MatrixF16 | Self::MatrixUnorm | Self::VatUnorm16 => 3,
            Self::TrsF16 | Self::VatF32 | Self::VatF16 | Self::VatUnorm8 => 2,
            Self::TrsPacked | Self::LocalPacked | Self::VatPacked | Self::VatPackedFine => 1,
            Self::Fixed16 | Self::VatUnorm24 => 4,
        }
    }

    /// Format of the texels.
    pub const fn format(self) -> TexelFormat {
        match self {
            Self::MatrixF32 | Self::VatF32 => TexelFormat::Rgba32Float,
            Self::MatrixF16 | Self::TrsF16 | Self::VatF16 => TexelFormat::Rgba16Float,
            Self::MatrixUnorm | Self::VatPacked => TexelFormat::Rgba16Uint,
            Self::TrsPacked | Self::VatPackedFine => TexelFormat::Rgba32Uint,
            Self::Fixed16 | Self::VatUnorm8 | Self::VatUnorm16 | Self::VatUnorm24 => TexelFormat::Rgba8Uint,
            Self::LocalPacked => TexelFormat::R32Uint,
        }
    }

    /// Bytes of one bone or vertex in one frame, by [`Encoding::texels`].
    pub const fn bytes(self) -> usize {
        self.texels() as usize * self.format().bytes()
    }

    /// Frames before a clip's first, which hold the ranges of its bones.
    pub const fn range_frames(self) -> u32 {
        match self {
            Self::TrsPacked => packed::RANGE_FRAMES,
            _ => 0,
        }
    }

    /// Whether the encoding keeps everything that 32-bit floats can: it comes with full-precision vertices.
    pub const fn is_exact(self) -> bool {
        matches!(self, Self::MatrixF32 | Self::VatF32)
    }

    /// Whether a compute pass makes skin matrices of it, else the vertex shader reads it as a texture.
    pub const fn needs_compute(self) -> bool {
        matches!(self, Self::LocalPacked)
    }

    /// Whether it holds whatever bones do, else rotations with a translation and a uniform scale only.
    pub const fn holds_shear(self) -> bool {
        !matches!(self, Self::TrsF16 | Self::TrsPacked | Self::Fixed16)
    }
}
