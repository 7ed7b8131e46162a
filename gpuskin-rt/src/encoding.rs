//! Encodings of bone and vertex animation in texels.

mod fixed16;
pub mod packed;
mod texels;
pub mod vat;

pub use fixed16::{fixed16, from_fixed16};
pub use texels::Texels;

/// Encoding of bone or vertex animation in an animation texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Encoding {
    /// Skinning matrices as rows of a 3x4 matrix, three RGBA32F texels: 48 bytes per bone per
    /// frame. The exact baseline.
    MatrixF32,
    /// Skinning matrices in half floats, three RGBA16F texels: 24 bytes per bone per frame.
    MatrixF16,
    /// Skinning matrices in 16-bit fractions of ranges per model, one range for the 3x3 and one per
    /// axis of the translation. Three RGBA16Uint texels: 24 bytes per bone per frame.
    MatrixUnorm,
    /// Quaternion, translation and uniform scale in half floats, two RGBA16F texels: 16 bytes per
    /// bone per frame. No shear, no non-uniform scale.
    TrsF16,
    /// Quaternion, translation and uniform scale in 18-bit integers within ranges per bone and
    /// clip, one RGBA32Uint texel: 16 bytes per bone per frame. The rotation is about the bone's
    /// own position. No shear, no non-uniform scale.
    TrsPacked,
    /// Quaternion, translation and uniform scale with sign, 7 integer bits and 8 fraction bits
    /// each, four RGBA8Uint texels: 16 bytes per bone per frame. For devices without half floats.
    /// Values up to 127.99, in steps of 1/256: coarse.
    Fixed16,
    /// Rotation, translation and scale relative to the parent, for nodes that move, in as few bits
    /// as the tolerance allows: commonly 2 to 7 bytes per bone per frame. Stored in a buffer of
    /// words instead of a texture. A compute pass composes the hierarchy and interpolates rotations
    /// as glTF specifies. Represents any matrix. Requires compute and storage buffers.
    LocalPacked,
    /// Vertices: position, normal and tangent in two RGBA32F texels: 32 bytes per vertex per frame.
    VatF32,
    /// Vertices: position, normal and tangent in half floats, two RGBA16F texels: 16 bytes per
    /// vertex per frame.
    VatF16,
    /// Vertices: positions in 8-bit fractions of the model's range per axis, normals in 32 bits,
    /// two RGBA8Uint texels: 8 bytes per vertex per frame. Coarse.
    VatUnorm8,
    /// Vertices: positions in 16-bit fractions of the model's range per axis, split over the bytes
    /// of two texels; 12 bytes per vertex per frame.
    VatUnorm16,
    /// Vertices: positions in 24-bit fractions of the model's range per axis, split over the bytes
    /// of three texels; 16 bytes per vertex per frame.
    VatUnorm24,
    /// Vertices: positions in 16-bit fractions of the frame's range, normals in 16 bits, one
    /// RGBA16Uint texel: 8 bytes per vertex per frame. No tangents.
    VatPacked,
    /// Vertices: positions in 24-bit fractions of the frame's range, normals in 32 bits, tangents
    /// in 16, one RGBA32Uint texel: 16 bytes per vertex per frame.
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
    /// Returns the size of a texel, bytes.
    #[doc(hidden)]
    pub const fn bytes(self) -> usize {
        match self {
            Self::R32Uint | Self::Rgba8Uint => 4,
            Self::Rgba16Uint | Self::Rgba16Float => 8,
            Self::Rgba32Uint | Self::Rgba32Float => 16,
        }
    }

    /// Returns whether texels are integers: `texture_2d<u32>`; otherwise they are floats:
    /// `texture_2d<f32>`.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::R32Uint | Self::Rgba8Uint | Self::Rgba16Uint | Self::Rgba32Uint)
    }
}

impl Encoding {
    /// All encodings: those of bones, then those of vertices, each from the most to the least
    /// precise.
    #[doc(hidden)]
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

    /// Returns the name that `gpuskin.toml` uses.
    #[doc(hidden)]
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

    /// Returns the encoding with the given name.
    #[doc(hidden)]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|e| e.name() == name)
    }

    /// Returns the number of texels per bone or vertex per frame; 1 for [`Encoding::LocalPacked`],
    /// where bit widths vary.
    #[doc(hidden)]
    pub const fn texels(self) -> u32 {
        match self {
            Self::MatrixF32 | Self::MatrixF16 | Self::MatrixUnorm | Self::VatUnorm16 => 3,
            Self::TrsF16 | Self::VatF32 | Self::VatF16 | Self::VatUnorm8 => 2,
            Self::TrsPacked | Self::LocalPacked | Self::VatPacked | Self::VatPackedFine => 1,
            Self::Fixed16 | Self::VatUnorm24 => 4,
        }
    }

    /// Returns the format of the texels.
    #[doc(hidden)]
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

    /// Returns the size in bytes per bone or vertex per frame, from [`Encoding::texels`].
    #[doc(hidden)]
    pub const fn bytes(self) -> usize {
        self.texels() as usize * self.format().bytes()
    }

    /// Returns the number of range frames that precede the first frame of a clip.
    #[doc(hidden)]
    pub const fn range_frames(self) -> u32 {
        match self {
            Self::TrsPacked => packed::RANGE_FRAMES,
            _ => 0,
        }
    }

    /// Returns whether the encoding keeps the full precision of 32-bit floats. Such models also get
    /// full-precision vertices.
    #[doc(hidden)]
    pub const fn is_exact(self) -> bool {
        matches!(self, Self::MatrixF32 | Self::VatF32)
    }

    /// Returns whether a compute pass evaluates the poses; otherwise the vertex shader reads the
    /// animation texture.
    #[doc(hidden)]
    pub const fn needs_compute(self) -> bool {
        matches!(self, Self::LocalPacked)
    }

    /// Returns whether the encoding represents any affine bone transform; otherwise rotation,
    /// translation and uniform scale only.
    #[doc(hidden)]
    pub const fn holds_shear(self) -> bool {
        !matches!(self, Self::TrsF16 | Self::TrsPacked | Self::Fixed16)
    }
}
