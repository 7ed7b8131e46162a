//! Encodings of bone and vertex animation in texels.

mod fixed16;
pub mod packed;
mod texels;
pub mod vat;

pub use fixed16::{fixed16, from_fixed16};
pub use texels::Texels;

/// Facts about an encoding. Its decoder is in `texels.rs` or `vat.rs`, its encoder in gpuskin-build's
/// `encode`; the compiler reports both if a case is missing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodingInfo {
    name: &'static str,
    texels: u32,
    format: TexelFormat,
    /// WGSL modules that read it.
    pub(crate) wgsl: &'static [&'static str],
    is_vertex: bool,
    range_frames: u32,
    range_rows: u32,
    has_model_range: bool,
    is_exact: bool,
    needs_compute: bool,
    holds_shear: bool,
    holds_tangents: bool,
}

impl EncodingInfo {
    /// Encoding of bones as any affine transform, in an animation texture without value ranges.
    const fn bones(name: &'static str, texels: u32, format: TexelFormat, wgsl: &'static [&'static str]) -> Self {
        Self {
            name,
            texels,
            format,
            wgsl,
            is_vertex: false,
            range_frames: 0,
            range_rows: 0,
            has_model_range: false,
            is_exact: false,
            needs_compute: false,
            holds_shear: true,
            holds_tangents: true,
        }
    }

    /// Encoding of vertices without value ranges.
    const fn vertices(name: &'static str, texels: u32, format: TexelFormat, wgsl: &'static [&'static str]) -> Self {
        Self { is_vertex: true, ..Self::bones(name, texels, format, wgsl) }
    }
}

/// Texts of WGSL files, by their names.
macro_rules! wgsl {
    ($($name:literal),*) => { &[$(include_str!(concat!("../shaders/", $name, ".wgsl"))),*] };
}

/// Declares the encodings, in the order that files number them.
macro_rules! encodings {
    ($($(#[$doc:meta])* $variant:ident = $info:expr;)*) => {
        /// Encoding of bone or vertex animation in an animation texture. A new one is a new version of the
        /// format of baked files.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
        pub enum Encoding {
            $($(#[$doc])* $variant,)*
        }

        impl Encoding {
            /// Number of encodings.
            #[doc(hidden)]
            pub const COUNT: usize = [$(stringify!($variant)),*].len();

            pub(crate) const fn info(self) -> &'static EncodingInfo {
                match self {
                    $(Self::$variant => const { &$info },)*
                }
            }
        }
    };
}

encodings! {
    /// Skinning matrices as rows of a 3x4 matrix, three RGBA32F texels: 48 bytes per bone per
    /// frame. The exact baseline.
    MatrixF32 = EncodingInfo {
        is_exact: true,
        ..EncodingInfo::bones("matrix-f32", 3, TexelFormat::Rgba32Float, wgsl!["bone_matrix", "matrix"])
    };
    /// Skinning matrices in half floats, three RGBA16F texels: 24 bytes per bone per frame.
    MatrixF16 = EncodingInfo::bones("matrix-f16", 3, TexelFormat::Rgba16Float, wgsl!["bone_matrix", "matrix"]);
    /// Skinning matrices in 16-bit fractions of ranges per model, one range for the 3x3 and one per
    /// axis of the translation. Three RGBA16Uint texels: 24 bytes per bone per frame.
    MatrixUnorm = EncodingInfo {
        has_model_range: true,
        ..EncodingInfo::bones("matrix-unorm", 3, TexelFormat::Rgba16Uint, wgsl!["bone_matrix", "matrix_unorm"])
    };
    /// Quaternion, translation and uniform scale in half floats, two RGBA16F texels: 16 bytes per
    /// bone per frame. No shear, no non-uniform scale.
    TrsF16 = EncodingInfo {
        holds_shear: false,
        ..EncodingInfo::bones("trs-f16", 2, TexelFormat::Rgba16Float, wgsl!["bone_trs", "trs"])
    };
    /// Quaternion, translation and uniform scale in 18-bit integers within ranges per bone and
    /// clip, one RGBA32Uint texel: 16 bytes per bone per frame. The rotation is about the bone's
    /// own position. No shear, no non-uniform scale.
    TrsPacked = EncodingInfo {
        holds_shear: false,
        range_frames: packed::RANGE_FRAMES,
        ..EncodingInfo::bones("trs-packed", 1, TexelFormat::Rgba32Uint, wgsl!["trs_packed"])
    };
    /// Quaternion, translation and uniform scale with sign, 7 integer bits and 8 fraction bits
    /// each, four RGBA8Uint texels: 16 bytes per bone per frame. For devices without half floats.
    /// Values up to 127.99, in steps of 1/256: coarse.
    Fixed16 = EncodingInfo {
        holds_shear: false,
        ..EncodingInfo::bones("fixed16", 4, TexelFormat::Rgba8Uint, wgsl!["bone_trs", "fixed16"])
    };
    /// Rotation, translation and scale relative to the parent, for nodes that move, in as few bits
    /// as the tolerance allows: commonly 2 to 7 bytes per bone per frame. Stored in a buffer of
    /// words instead of a texture. A compute pass composes the hierarchy and interpolates rotations
    /// as glTF specifies. Represents any matrix. Requires compute and storage buffers.
    LocalPacked = EncodingInfo {
        needs_compute: true,
        ..EncodingInfo::bones("local-packed", 1, TexelFormat::R32Uint, wgsl!["bone_palette"])
    };
    /// Vertices: position, normal and tangent in two RGBA32F texels: 32 bytes per vertex per frame.
    VatF32 = EncodingInfo {
        is_exact: true,
        ..EncodingInfo::vertices("vat-f32", 2, TexelFormat::Rgba32Float, wgsl!["vat_float"])
    };
    /// Vertices: position, normal and tangent in half floats, two RGBA16F texels: 16 bytes per
    /// vertex per frame.
    VatF16 = EncodingInfo::vertices("vat-f16", 2, TexelFormat::Rgba16Float, wgsl!["vat_float"]);
    /// Vertices: positions in 8-bit fractions of the model's range per axis, normals in 32 bits,
    /// two RGBA8Uint texels: 8 bytes per vertex per frame. Coarse.
    VatUnorm8 = EncodingInfo {
        has_model_range: true,
        ..EncodingInfo::vertices("vat-unorm8", 2, TexelFormat::Rgba8Uint, wgsl!["vat_unorm", "vat_unorm8"])
    };
    /// Vertices: positions in 16-bit fractions of the model's range per axis, split over the bytes
    /// of two texels; 12 bytes per vertex per frame.
    VatUnorm16 = EncodingInfo {
        has_model_range: true,
        ..EncodingInfo::vertices("vat-unorm16", 3, TexelFormat::Rgba8Uint, wgsl!["vat_unorm", "vat_unorm16"])
    };
    /// Vertices: positions in 24-bit fractions of the model's range per axis, split over the bytes
    /// of three texels; 16 bytes per vertex per frame.
    VatUnorm24 = EncodingInfo {
        has_model_range: true,
        ..EncodingInfo::vertices("vat-unorm24", 4, TexelFormat::Rgba8Uint, wgsl!["vat_unorm", "vat_unorm24"])
    };
    /// Vertices: positions in 16-bit fractions of the frame's range, normals in 16 bits, one
    /// RGBA16Uint texel: 8 bytes per vertex per frame. No tangents.
    VatPacked = EncodingInfo {
        holds_tangents: false,
        range_rows: 3,
        ..EncodingInfo::vertices("vat-packed", 1, TexelFormat::Rgba16Uint, wgsl!["vat_packed"])
    };
    /// Vertices: positions in 24-bit fractions of the frame's range, normals in 32 bits, tangents
    /// in 16, one RGBA32Uint texel: 16 bytes per vertex per frame.
    VatPackedFine = EncodingInfo {
        range_rows: 2,
        ..EncodingInfo::vertices("vat-packed-fine", 1, TexelFormat::Rgba32Uint, wgsl!["vat_packed_fine"])
    };
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

    /// Returns the number of the format in Vulkan and KTX2 (`VkFormat`).
    #[doc(hidden)]
    pub const fn vulkan(self) -> u32 {
        match self {
            Self::Rgba8Uint => 41,
            Self::Rgba16Uint => 95,
            Self::Rgba16Float => 97,
            Self::R32Uint => 98,
            Self::Rgba32Uint => 107,
            Self::Rgba32Float => 109,
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
    pub const ALL: [Self; Self::COUNT] = [
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
        self.info().name
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
        self.info().texels
    }

    /// Returns the format of the texels.
    #[doc(hidden)]
    pub const fn format(self) -> TexelFormat {
        self.info().format
    }

    /// Returns the size in bytes per bone or vertex per frame, from [`Encoding::texels`].
    #[doc(hidden)]
    pub const fn bytes(self) -> usize {
        self.texels() as usize * self.format().bytes()
    }

    /// Returns the number of range frames that precede the first frame of a clip.
    #[doc(hidden)]
    pub const fn range_frames(self) -> u32 {
        self.info().range_frames
    }

    /// Returns whether the encoding keeps the full precision of 32-bit floats. Such models also get
    /// full-precision vertices.
    #[doc(hidden)]
    pub const fn is_exact(self) -> bool {
        self.info().is_exact
    }

    /// Returns whether a compute pass evaluates the poses; otherwise the vertex shader reads the
    /// animation texture.
    #[doc(hidden)]
    pub const fn needs_compute(self) -> bool {
        self.info().needs_compute
    }

    /// Returns whether the encoding represents any affine bone transform; otherwise rotation,
    /// translation and uniform scale only.
    #[doc(hidden)]
    pub const fn holds_shear(self) -> bool {
        self.info().holds_shear
    }

    /// Returns whether rows of the animation texture are vertices; otherwise they are bones.
    #[doc(hidden)]
    pub const fn is_vertex(self) -> bool {
        self.info().is_vertex
    }

    /// Returns whether tangents can be read: the encoding stores them, or its rows are bones, which
    /// transform them.
    #[doc(hidden)]
    pub const fn holds_tangents(self) -> bool {
        self.info().holds_tangents
    }

    /// Returns the number of rows per frame that hold the frame's range, before the vertices.
    #[doc(hidden)]
    pub const fn range_rows(self) -> u32 {
        self.info().range_rows
    }

    /// Returns whether values are fractions of the ranges of the whole model,
    /// [`AnimationTexture::range`](crate::AnimationTexture::range).
    #[doc(hidden)]
    pub const fn has_model_range(self) -> bool {
        self.info().has_model_range
    }
}
