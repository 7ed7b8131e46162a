//! Metadata and file references of a baked model. The baker writes one type, [`Metadata`], in two
//! forms: as Rust constants for the game, and as postcard in the KTX2 file for tools.

mod access;
mod clip;

pub use access::{Handle, MorphWeightError};
pub use clip::{ClipEvent, ClipInfo, ErrorInfo, RootKey, RootMotion};

use crate::aabb::Aabb;
use crate::list::{List, Str};
use crate::{ColorTexture, Encoding, Material, VertexFormat, VertexRange};

/// Version of [`Metadata`] and of the files it describes.
pub const FORMAT_VERSION: u32 = 16;

/// Greatest texture side, in texels, that every device supports (the WebGL2 limit).
pub const MAX_SIDE: u32 = 2048;
/// Greatest number of array texture layers that every device supports (the WebGL2 limit).
pub const MAX_LAYERS: u32 = 256;
/// Greatest number of clips per model: an instance record has 14 bits for the index of a clip.
pub const MAX_CLIPS: usize = 1 << 14;
/// Greatest number of parts per model: an instance has one bit per part.
pub const MAX_PARTS: usize = 16;
/// Greatest number of variants per model, its own look included: an instance has one byte for its variant.
pub const MAX_VARIANTS: usize = 256;
/// Greatest number of masks per model: a mask index is one byte.
pub const MAX_MASKS: usize = 255;
/// Greatest number of levels of detail per model, including LOD 0.
pub const MAX_LODS: usize = 8;
/// Greatest number of events per clip.
pub const MAX_EVENTS: usize = 4096;

/// A baked model: its metadata and its files.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Everything about the model except the bytes of its files.
    pub meta: Metadata,
    /// Animation texture, file `anim-<encoding>.ktx2`.
    #[doc(hidden)]
    pub animation: Payload,
    /// Vertices, indices and clip records, file `mesh.bin`.
    #[doc(hidden)]
    pub mesh: Payload,
    /// Material textures, files `color-<n>-<format>.ktx2`: for each entry of
    /// [`Metadata::textures`], one file per format, in the order of its formats.
    #[doc(hidden)]
    pub textures: List<Payload>,
    /// Fallbacks for devices that cannot play this encoding, best first. Clips, bones and materials
    /// are identical; fallbacks use the textures of this model.
    #[doc(hidden)]
    pub others: List<Model>,
}

/// A file of a baked model, and the byte ranges in it that are uploaded to the GPU.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct Payload {
    /// Location of the bytes.
    pub data: Data,
    /// Size of the file, bytes.
    pub size: u64,
    /// Byte offset of [`Metadata::content_hash`] in the file. A file with another hash comes from
    /// another bake and is refused.
    pub hash_at: u64,
    /// Byte ranges of the mip levels, largest first; for `mesh.bin`, one range: the whole file.
    pub levels: List<ByteRange>,
}

impl Payload {
    /// A texture in a format that the program's target does not need:
    /// [`ColorFormat::is_in_program`](crate::ColorFormat::is_in_program).
    #[doc(hidden)]
    pub const LEFT_OUT: Self =
        Self { data: Data::Bytes(List::Borrowed(&[])), size: 0, hash_at: 0, levels: List::Borrowed(&[]) };

    /// Whether the program does not contain the file.
    #[doc(hidden)]
    pub const fn is_left_out(&self) -> bool {
        self.size == 0
    }

    /// Returns the name of the file, if it is not in memory.
    pub(crate) fn side_file(&self) -> Option<&str> {
        match &self.data {
            Data::File { name, .. } => Some(name),
            Data::Bytes(_) => None,
        }
    }
}

/// Location of the bytes of a file.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub enum Data {
    /// In the executable, or in memory.
    Bytes(List<u8>),
    /// In a file next to the game. [`set_asset_folder`](crate::set_asset_folder) sets the folder
    /// that is searched first; [`provide_file`](crate::provide_file) replaces the file by bytes.
    File {
        /// Path relative to the folder of side files, with `/` separators.
        name: Str,
        /// Output folder of the bake, or the end of its path in a release build. Its `gpuskin/`
        /// subfolder is searched last, so that `cargo run` works.
        baked: Str,
    },
}

/// A byte range of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct ByteRange {
    /// Offset from the start of the file, bytes.
    pub offset: u64,
    /// Length, bytes.
    pub len: u64,
}

/// Everything about a baked model except the bytes of its files.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct Metadata {
    /// BLAKE3 hash over all of the model's data, truncated to 16 bytes. All files of one bake carry
    /// the same hash.
    ///
    /// First field, so that it comes first in the postcard value.
    #[doc(hidden)]
    pub content_hash: [u8; 16],
    /// Version of the format: [`FORMAT_VERSION`].
    #[doc(hidden)]
    pub format_version: u32,
    /// Name in the manifest.
    #[doc(hidden)]
    pub name: Str,
    /// Encoding of the bones in the animation texture; of the vertices if [`Encoding::is_vertex`].
    #[doc(hidden)]
    pub encoding: Encoding,
    /// Shape of the animation texture.
    #[doc(hidden)]
    pub texture: AnimationTexture,
    /// Method by which skinning transforms normals.
    #[doc(hidden)]
    pub normals: Normals,
    /// Clips, in the order of the manifest, then of the glTF file.
    #[doc(hidden)]
    pub clips: List<ClipInfo>,
    /// Bones that move vertices, and sockets. Each bone is one row of the animation texture, unless
    /// rows are vertices.
    #[doc(hidden)]
    pub bones: List<BoneInfo>,
    /// Event names of all clips, sorted.
    #[doc(hidden)]
    pub events: List<Str>,
    /// Bone masks for layers, in the order of the manifest.
    #[doc(hidden)]
    pub masks: List<MaskInfo>,
    /// Morph targets whose weights bones have; the same in all encodings of a model.
    #[doc(hidden)]
    pub morphs: List<MorphInfo>,
    /// Names of the meshes that an instance can hide, in the order of the manifest; at most
    /// [`MAX_PARTS`].
    #[doc(hidden)]
    pub parts: List<Str>,
    /// Names of the variants of the materials: `base`, then those of the manifest in its order; at most
    /// [`MAX_VARIANTS`]. Empty if the model has only its own look.
    #[doc(hidden)]
    pub variants: List<Str>,
    /// Vertices, indices and levels of detail.
    #[doc(hidden)]
    pub mesh: MeshInfo,
    /// Materials of the mesh parts.
    #[doc(hidden)]
    pub materials: List<Material>,
    /// Textures of the materials.
    #[doc(hidden)]
    pub textures: List<ColorTexture>,
    /// Bounding box of the rest pose. Model space, metres.
    #[doc(hidden)]
    pub rest_bounds: Aabb,
    /// Bounding box of all baked frames of all clips. Model space, metres.
    #[doc(hidden)]
    pub bounds: Aabb,
}

/// Shape of an animation texture, and the addresses of its texels.
///
/// Texel `k` of a row in a frame has the index `(frame * rows + row) * texels + k`, counted over
/// the frames of one layer; texels fill lines of `width`. A frame never straddles two layers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct AnimationTexture {
    /// Width in texels; a power of two.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Number of array layers; 1 is a plain 2D texture.
    pub layers: u32,
    /// Number of frames per layer.
    pub frames_per_layer: u32,
    /// Number of frames of all clips, including frames that hold ranges.
    pub frames: u32,
    /// Number of rows per frame: bones; or [`Encoding::range_rows`] followed by vertices.
    pub rows: u32,
    /// Range of quantised values, for encodings that have one range per model.
    pub range: ValueRange,
}

/// Method by which skinning transforms normals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub enum Normals {
    /// Cofactor matrix of the blended 3x3, which equals its inverse transpose up to a factor:
    /// exact.
    #[default]
    Cofactor,
    /// The blended 3x3 itself, as most engines do: errors of up to 55 degrees at sharply bent
    /// joints.
    Plain,
}

/// Ranges of quantised values: `value = min + extent * fraction`.
///
/// In [`Encoding::MatrixUnorm`]: the three axes of the translation in metres, then the elements of
/// the 3x3. In the `VatUnorm` encodings: the three axes of the position in metres, then the
/// tangent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct ValueRange {
    /// Least values.
    pub min: [f32; 4],
    /// Greatest values minus least values.
    pub extent: [f32; 4],
}

impl AnimationTexture {
    /// Returns the size of all layers in bytes.
    pub fn byte_len(&self, encoding: Encoding) -> u64 {
        u64::from(self.width) * u64::from(self.height) * u64::from(self.layers) * encoding.format().bytes() as u64
    }

    /// Returns column, row and layer of texel `k` of `row` in `frame`.
    pub fn texel(&self, encoding: Encoding, frame: u32, row: u32, k: u32) -> [u32; 3] {
        let layer = frame / self.frames_per_layer;
        let n = ((frame - layer * self.frames_per_layer) * self.rows + row) * encoding.texels() + k;
        [n % self.width, n / self.width, layer]
    }

    /// Returns the byte offset of texel `k` of `row` in `frame`, counted over all layers.
    pub fn byte_offset(&self, encoding: Encoding, frame: u32, row: u32, k: u32) -> u64 {
        let [x, y, layer] = self.texel(encoding, frame, row, k).map(u64::from);
        ((layer * u64::from(self.height) + y) * u64::from(self.width) + x) * encoding.format().bytes() as u64
    }
}

/// A bone: a joint of a skin, a node that carries a rigid mesh, or a socket.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct BoneInfo {
    /// Name of the glTF node.
    pub name: Str,
    /// Index of the nearest ancestor that is also a bone.
    #[doc(hidden)]
    pub parent: Option<u32>,
    /// Bone-to-model transform in the bind pose: rows of a 3x4 matrix, metres; the inverse of the
    /// inverse bind matrix. `skinning matrix * bind` is the bone's transform in model space.
    pub bind: [[f32; 4]; 3],
}

/// A bone mask: the bones that a layer affects.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct MaskInfo {
    /// Name in the manifest.
    pub name: Str,
    /// One bit per bone, 32 bones per word, lowest bit first.
    pub bones: List<u32>,
}

impl MaskInfo {
    /// Returns whether the mask contains a bone.
    pub fn contains(&self, bone: usize) -> bool {
        self.bones.get(bone / 32).is_some_and(|word| word >> (bone % 32) & 1 != 0)
    }
}

/// A morph target of a model in bone mode. A bone that moves no vertex has its weight.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct MorphInfo {
    /// Name in the glTF file.
    pub name: Str,
    /// Index of the bone.
    #[doc(hidden)]
    pub bone: u32,
    /// Axis of the bone's translation: 0, 1 or 2.
    #[doc(hidden)]
    pub axis: u32,
    /// Translation of the bone along the axis at a weight of one, metres.
    #[doc(hidden)]
    pub scale: f32,
}

/// Layout of the mesh in `mesh.bin`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct MeshInfo {
    /// Layout of a vertex.
    pub format: VertexFormat,
    /// Ranges of quantised vertex attributes.
    pub range: VertexRange,
    /// Number of vertices, those of coarser levels of detail included.
    pub vertex_count: u32,
    /// Byte range of the vertices.
    pub vertices: ByteRange,
    /// Byte range of the indices.
    pub indices: ByteRange,
    /// Whether indices are 32-bit; otherwise they are 16-bit.
    pub wide_indices: bool,
    /// Byte range of the [`ClipRecord`](crate::ClipRecord)s.
    pub clips: ByteRange,
    /// Sub-meshes of LOD 0, one per part and material; sub-meshes that cannot be hidden come first.
    pub parts: List<MeshPart>,
    /// Coarser LODs of the same sub-meshes, from fine to coarse; fewer than [`MAX_LODS`]. They
    /// use the same vertices.
    pub levels: List<MeshLod>,
    /// Greatest distance between a vertex with all influences and with its greatest four alone, over poses of all clips; 0 if
    /// no vertex has more than four. Metres.
    pub influence_error: f32,
    /// Byte range of the deltas of morph targets ([`MorphLists`](crate::morph::MorphLists)); of length zero
    /// if there are none.
    pub morphs: ByteRange,
    /// Rest pose of the vertices, if vertices are baked; [`Model::rest_mesh`] unpacks it.
    pub rest: Option<RestInfo>,
}

/// Rest pose of a mesh whose vertices are baked into the animation texture.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct RestInfo {
    /// Byte range of the rest positions, normals and tangents, in the order of
    /// [`MeshInfo::vertices`]; layout in [`vertex::rest`](crate::vertex::rest).
    pub vertices: ByteRange,
    /// Least position, metres.
    pub position_min: [f32; 3],
    /// Greatest position minus least position, metres.
    pub position_extent: [f32; 3],
    /// Index of the clip whose pose is the rest pose; `None`: the pose of the file without any
    /// clip.
    pub clip: Option<u16>,
    /// Time of the rest pose in the clip, seconds.
    pub seconds: f64,
}

impl MeshInfo {
    /// Returns the number of triangles of a level of detail with all parts visible. Level 0 is
    /// [`MeshInfo::parts`]; 0 if the level does not exist.
    pub fn triangles(&self, level: usize) -> u64 {
        let parts = self.parts.iter().map(|part| part.index_count);
        let coarser = || self.levels.get(level - 1).into_iter().flat_map(|level| level.parts.iter());
        let indices: u64 =
            if level == 0 { parts.map(u64::from).sum() } else { coarser().map(|p| u64::from(p.index_count)).sum() };
        indices / 3
    }
}

/// A level of detail coarser than [`MeshInfo::parts`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct MeshLod {
    /// LOD error, metres: greatest distance between this surface and LOD 0 that was measured over
    /// poses of all clips.
    pub error: f32,
    /// Index range for each of [`MeshInfo::parts`]; empty where this level leaves out a material.
    pub parts: List<IndexRange>,
}

/// A range of mesh indices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct IndexRange {
    /// First index.
    pub first_index: u32,
    /// Number of indices, three per triangle.
    pub index_count: u32,
}

/// Triangles that share a material and a kind of shading, and are shown or hidden together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct MeshPart {
    /// Index into [`Metadata::materials`].
    pub material: u32,
    /// Index into [`Metadata::parts`]; `None`: always visible.
    pub part: Option<u8>,
    /// Whether each triangle is shaded with its face normal, from the screen-space derivatives of
    /// the position. Triangles still share vertices; the stored normals are smooth, for pipelines
    /// without flat shading.
    pub flat: bool,
    /// First index.
    pub first_index: u32,
    /// Number of indices, three per triangle.
    pub index_count: u32,
}

#[cfg(feature = "dynamic")]
impl Metadata {
    /// Serialises to the value that the KTX2 file holds under the key `gpuskin`.
    pub fn to_postcard(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("plain data always serialises")
    }

    /// Deserialises the value of the key `gpuskin`.
    ///
    /// # Errors
    /// If the bytes are not metadata of this [`FORMAT_VERSION`].
    pub fn from_postcard(bytes: &[u8]) -> Result<Self, MetadataError> {
        let meta: Self = postcard::from_bytes(bytes).map_err(|e| MetadataError(e.to_string()))?;
        if meta.format_version != FORMAT_VERSION {
            return Err(MetadataError(format!("format version {}, expected {FORMAT_VERSION}", meta.format_version)));
        }
        Ok(meta)
    }
}

/// Error of [`Metadata::from_postcard`].
#[cfg(feature = "dynamic")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataError(String);

#[cfg(feature = "dynamic")]
impl core::fmt::Display for MetadataError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "cannot read the metadata: {}", self.0)
    }
}

#[cfg(feature = "dynamic")]
impl std::error::Error for MetadataError {}
