//! What the baker tells the runtime of a model: one type, written as Rust constants for the game and as postcard into
//! the KTX2 file for tools.

mod clip;

use std::borrow::Cow;

pub use clip::{ClipEvent, ClipInfo, ErrorInfo, RootKey, RootMotion};

use crate::{ColorTexture, Encoding, Material, VertexFormat, VertexRange};

/// Text in a constant, or read at run time.
pub type Str = Cow<'static, str>;
/// A list in a constant, or read at run time.
pub type List<T> = Cow<'static, [T]>;

/// Version of [`Metadata`] and of the files that belong to it.
pub const FORMAT_VERSION: u32 = 8;

/// Texels along the longest side and layers that every device has: WebGL2's limits.
pub const MAX_SIDE: u32 = 2048;
/// Layers of an array texture that every device has.
pub const MAX_LAYERS: u32 = 256;
/// Clips of a model: their records share one 16 KiB uniform buffer with the model's ranges.
pub const MAX_CLIPS: usize = 1018;
/// Parts of a model: a bit each in an instance.
pub const MAX_PARTS: usize = 16;
/// Masks of a model: their index is a byte.
pub const MAX_MASKS: usize = 255;
/// Levels of detail of a model, the finest included.
pub const MAX_LEVELS: usize = 8;
/// Events of a clip.
pub const MAX_EVENTS: usize = 4096;

/// A baked model: what it is, and where its bytes are.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// What it is.
    pub meta: Metadata,
    /// `anim-<encoding>.ktx2`.
    pub animation: Payload,
    /// `mesh.bin`.
    pub mesh: Payload,
    /// `color-<n>-<format>.ktx2`: for each of [`Metadata::textures`] one a format, in the order of its formats.
    pub textures: List<Payload>,
    /// The same model for devices that cannot play this one, best first: clips, bones and materials are the same. Their
    /// textures are those of this one.
    pub others: List<Model>,
}

/// The bytes of a file, and where in it the GPU's data stands.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct Payload {
    /// The bytes.
    pub data: Data,
    /// Bytes of the file.
    pub size: u64,
    /// Where in the file [`Metadata::content_hash`] stands: a file of another bake is refused.
    pub hash_at: u64,
    /// Mip levels, largest first; for `mesh.bin` the whole file.
    pub levels: List<ByteRange>,
}

/// Where the bytes of a file are.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub enum Data {
    /// In the executable, or in memory.
    Bytes(List<u8>),
    /// In a file beside the game. [`crate::files`] says where it is looked for.
    File {
        /// Path under the folder of side files, with `/`.
        name: Str,
        /// Folder that the bake wrote to: its `gpuskin/` is the last place that is looked at, so that `cargo run` works.
        baked: Str,
    },
}

/// A part of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct ByteRange {
    /// Bytes from its start.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
}

/// Everything about a baked model but its bytes.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct Metadata {
    /// BLAKE3 over all of the model's data, cut to 16 bytes: the files of a set agree on it.
    /// First, so that it stands at the start of the postcard value.
    pub content_hash: [u8; 16],
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// Name in the manifest.
    pub name: Str,
    /// How bones stand in the texture; or vertices, where [`Encoding::is_vertex`].
    pub encoding: Encoding,
    /// Shape of the texture.
    pub texture: AnimationTexture,
    /// How bones turn normals.
    pub normals: Normals,
    /// Clips, in the order of the manifest, then of the file.
    pub clips: List<ClipInfo>,
    /// Bones that move vertices, and sockets. A row of the texture each, unless rows are vertices.
    pub bones: List<BoneInfo>,
    /// Names of all clips' events, sorted.
    pub events: List<Str>,
    /// Bones that a layer acts on, in the order of the manifest.
    pub masks: List<MaskInfo>,
    /// Names of the meshes that an instance may leave off, in the order of the manifest; at most [`MAX_PARTS`].
    pub parts: List<Str>,
    /// Vertices and indices.
    pub mesh: MeshInfo,
    /// Materials of the parts.
    pub materials: List<Material>,
    /// Textures of the materials.
    pub textures: List<ColorTexture>,
    /// Bounds in the rest pose, metres.
    pub rest_bounds: Aabb,
    /// Bounds over all clips, metres: what the baked frames reach.
    pub bounds: Aabb,
}

/// Shape of an animation texture, and where the texels of a bone or vertex stand in it.
///
/// Texel `k` of a row in a frame is number `(frame * rows + row) * texels + k`, counted over the frames of one
/// layer, in rows of `width`. Frames do not straddle layers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct AnimationTexture {
    /// Texels across; a power of two.
    pub width: u32,
    /// Texels down.
    pub height: u32,
    /// Array layers; 1 is a plain 2D texture.
    pub layers: u32,
    /// Frames in a layer.
    pub frames_per_layer: u32,
    /// Frames of all clips, those that hold ranges included.
    pub frames: u32,
    /// Rows of a frame: bones; or [`Encoding::range_rows`], then vertices.
    pub rows: u32,
    /// What integers are fractions of, where the model has one range for all.
    pub range: ValueRange,
}

/// How bones turn normals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub enum Normals {
    /// By the cofactor matrix of the blended 3x3, which is its inverse transpose up to a factor: exact.
    #[default]
    Cofactor,
    /// By the blended 3x3 itself, as most engines do: up to 55 degrees off at sharply bent joints.
    Plain,
}

/// Ranges of packed values: `value = min + extent * fraction`. In [`Encoding::MatrixUnorm`] the three axes of the
/// translation, metres, then the elements of the 3x3. In [`Encoding::VatUnorm16`] and its like the three axes of positions,
/// metres, then tangents.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct ValueRange {
    /// Least values.
    pub min: [f32; 4],
    /// Greatest values less the least.
    pub extent: [f32; 4],
}

impl AnimationTexture {
    /// Bytes of all layers.
    pub fn byte_len(&self, encoding: Encoding) -> u64 {
        u64::from(self.width) * u64::from(self.height) * u64::from(self.layers) * encoding.format().bytes() as u64
    }

    /// Column, row and layer of texel `k` of `row` in `frame`.
    pub fn texel(&self, encoding: Encoding, frame: u32, row: u32, k: u32) -> [u32; 3] {
        let layer = frame / self.frames_per_layer;
        let n = ((frame - layer * self.frames_per_layer) * self.rows + row) * encoding.texels() + k;
        [n % self.width, n / self.width, layer]
    }

    /// The same as an offset into the bytes of all layers.
    pub fn byte_offset(&self, encoding: Encoding, frame: u32, row: u32, k: u32) -> u64 {
        let [x, y, layer] = self.texel(encoding, frame, row, k).map(u64::from);
        ((layer * u64::from(self.height) + y) * u64::from(self.width) + x) * encoding.format().bytes() as u64
    }
}

/// A bone: a joint of a skin, a node that carries a rigid mesh, or a socket.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct BoneInfo {
    /// Name of its node.
    pub name: Str,
    /// The nearest ancestor that is a bone too.
    pub parent: Option<u32>,
    /// The bone's frame in bind space, rows of a 3x4 matrix in metres: the inverse of its inverse bind matrix.
    /// A skin matrix times this is the bone's own transform in the model.
    pub bind: [[f32; 4]; 3],
}

/// Bones that a layer acts on.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct MaskInfo {
    /// Name in the manifest.
    pub name: Str,
    /// A bit a bone, 32 a word, the first in the lowest.
    pub bones: List<u32>,
}

impl MaskInfo {
    /// Whether a bone is in it.
    pub fn contains(&self, bone: usize) -> bool {
        self.bones.get(bone / 32).is_some_and(|word| word >> (bone % 32) & 1 != 0)
    }
}

/// Where the mesh stands in `mesh.bin`, and how.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct MeshInfo {
    /// Layout of a vertex.
    pub format: VertexFormat,
    /// Ranges of packed values.
    pub range: VertexRange,
    /// Number of vertices.
    pub vertex_count: u32,
    /// Bytes of the vertices.
    pub vertices: ByteRange,
    /// Bytes of the indices.
    pub indices: ByteRange,
    /// Indices are 32-bit, else 16-bit.
    pub wide_indices: bool,
    /// Bytes of the [`ClipRecord`](crate::ClipRecord)s.
    pub clips: ByteRange,
    /// Sub-meshes, one a part and material: those that are always worn first.
    pub parts: List<MeshPart>,
    /// The same sub-meshes with fewer triangles, from fine to coarse; fewer than [`MAX_LEVELS`]. They use the same vertices.
    pub levels: List<MeshLevel>,
    /// Where vertices stand still, if they are baked: [`Model::rest_mesh`] has them.
    pub rest: Option<RestInfo>,
}

/// Where the vertices of a mesh stand still, if the animation texture has them all the time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct RestInfo {
    /// Bytes of their positions, normals and tangents, in the order of [`MeshInfo::vertices`]: [`vertex::rest`](crate::vertex::rest).
    pub vertices: ByteRange,
    /// Least position, metres.
    pub position_min: [f32; 3],
    /// Greatest position less the least.
    pub position_extent: [f32; 3],
    /// The clip that shows them so; `None`: as the file stands without any.
    pub clip: Option<u16>,
    /// When, in seconds from its start.
    pub seconds: f64,
}

impl MeshInfo {
    /// Triangles of a level of detail, all parts worn: 0 is the finest, [`MeshInfo::parts`]. None where there is no such
    /// level.
    pub fn triangles(&self, level: usize) -> u64 {
        let parts = self.parts.iter().map(|part| part.index_count);
        let coarser = || self.levels.get(level - 1).into_iter().flat_map(|level| level.parts.iter());
        let indices: u64 =
            if level == 0 { parts.map(u64::from).sum() } else { coarser().map(|p| u64::from(p.index_count)).sum() };
        indices / 3
    }
}

/// A level of detail that is coarser than [`MeshInfo::parts`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct MeshLevel {
    /// How far its surface is from that of the finest level, metres: the greatest distance found, over poses of all clips.
    pub error: f32,
    /// The indices of each of [`MeshInfo::parts`]; of nothing, where the level leaves a material out.
    pub parts: List<IndexRange>,
}

/// Some of a mesh's indices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct IndexRange {
    /// The first.
    pub first_index: u32,
    /// How many, three a triangle.
    pub index_count: u32,
}

/// Triangles that share a material, and are shaded alike, and worn or left off together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct MeshPart {
    /// Index into [`Metadata::materials`].
    pub material: u32,
    /// Index into [`Metadata::parts`]; `None`: always worn.
    pub part: Option<u8>,
    /// Each triangle has one normal, its own: that of its corners as they are drawn, across their derivatives on the
    /// screen. Triangles share corners; the normals of these are smooth, for pipelines that do without.
    pub flat: bool,
    /// First index.
    pub first_index: u32,
    /// Indices, three a triangle.
    pub index_count: u32,
}

/// A box along the axes, metres. Empty where `min` is greater than `max`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct Aabb {
    /// Least corner.
    pub min: [f32; 3],
    /// Greatest corner.
    pub max: [f32; 3],
}

impl Aabb {
    /// Holds nothing.
    pub const EMPTY: Self = Self { min: [f32::INFINITY; 3], max: [f32::NEG_INFINITY; 3] };

    /// Length of the diagonal, metres; 0 when empty.
    pub fn diagonal(&self) -> f32 {
        let d = glam::Vec3::from(self.max) - glam::Vec3::from(self.min);
        if d.min_element() < 0.0 { 0.0 } else { d.length() }
    }

    /// The least box that holds both.
    pub fn union(self, other: Self) -> Self {
        let (min, max) = (glam::Vec3::from(self.min), glam::Vec3::from(self.max));
        Self { min: min.min(other.min.into()).into(), max: max.max(other.max.into()).into() }
    }
}

#[cfg(feature = "dynamic")]
impl Metadata {
    /// As it stands in the KTX2 file under the key `gpuskin`.
    pub fn to_postcard(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("plain data always serialises")
    }

    /// From the value of the key `gpuskin`.
    ///
    /// # Errors
    /// What is not a value of this [`FORMAT_VERSION`].
    pub fn from_postcard(bytes: &[u8]) -> Result<Self, MetadataError> {
        let meta: Self = postcard::from_bytes(bytes).map_err(|e| MetadataError(e.to_string()))?;
        if meta.format_version != FORMAT_VERSION {
            return Err(MetadataError(format!("version {} instead of {FORMAT_VERSION}", meta.format_version)));
        }
        Ok(meta)
    }
}

/// Why metadata could not be read.
#[cfg(feature = "dynamic")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataError(String);

#[cfg(feature = "dynamic")]
impl core::fmt::Display for MetadataError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "the metadata is not readable: {}", self.0)
    }
}

#[cfg(feature = "dynamic")]
impl std::error::Error for MetadataError {}
