//! glTF's JSON: what of it the import needs, in `f64`.
//!
//! Not `gltf::json`: that rounds node transforms to `f32`, and drops what it was not built for. Nothing here is checked
//! beyond types; indices are looked up through [`super::file::File`].

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, SeqAccess, Visitor};

use crate::finding::Finding;

/// Longest list of a file. A character with 76 clips has 9,000 accessors.
const MAX_LIST: usize = 1 << 20;
/// Largest JSON text, bytes: parsed, it can take thirty times that. The character above has 2 MB.
const MAX_JSON: usize = 1 << 28;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub asset: Asset,
    pub scene: Option<Whole>,
    #[serde(default)]
    pub scenes: List<Scene>,
    #[serde(default)]
    pub nodes: List<Node>,
    #[serde(default)]
    pub meshes: List<Mesh>,
    #[serde(default)]
    pub skins: List<Skin>,
    #[serde(default)]
    pub animations: List<Animation>,
    #[serde(default)]
    pub accessors: List<Accessor>,
    #[serde(default)]
    pub buffer_views: List<BufferView>,
    #[serde(default)]
    pub buffers: List<Buffer>,
    #[serde(default)]
    pub materials: List<Material>,
    #[serde(default)]
    pub textures: List<Texture>,
    #[serde(default)]
    pub images: List<Image>,
    #[serde(default)]
    pub samplers: List<TextureSampler>,
    #[serde(default)]
    pub extensions_required: List<String>,
}

impl Document {
    /// Parses it; errors say where in the document they are.
    pub(super) fn parse(json: &[u8]) -> Result<Self, Finding> {
        const HELP: &str = "export it as glTF 2.0 (.glb or .gltf)";
        if json.len() > MAX_JSON {
            let message = format!("its JSON has {} bytes; at most {MAX_JSON} are read", json.len());
            return Err(Finding::error(message).help("keep binary data in .bin files, or export as .glb"));
        }
        let json = json.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(json);
        let end = json.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
        let json = &json[..end];
        let document: Self = serde_json::from_slice(json).map_err(|error| {
            let json = &mut serde_json::Deserializer::from_slice(json);
            match serde_path_to_error::deserialize::<_, Self>(json) {
                Err(e) if e.path().iter().next().is_some() => {
                    Finding::error(format!("its JSON is not glTF: {}: {}", e.path(), e.inner()))
                }
                _ => Finding::error(format!("it is not glTF: {error}")).help(HELP),
            }
        })?;
        let version = &document.asset.version;
        let newer = document.asset.min_version.as_deref().is_some_and(|v| v != "2.0");
        if !version.starts_with("2.") || newer {
            let version = document.asset.min_version.as_ref().filter(|_| newer).unwrap_or(version);
            return Err(Finding::error(format!("glTF version {version:?} is not supported")).help(HELP));
        }
        Ok(document)
    }
}

/// A whole number that is not negative. `3.0` is one, too, as the specification asks of readers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Whole(pub u64);

impl Whole {
    /// As an index; one that no list has where it is too large.
    pub(super) fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Whole;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number that is not negative")
            }
            fn visit_u64<E: Error>(self, v: u64) -> Result<Whole, E> {
                Ok(Whole(v))
            }
            fn visit_f64<E: Error>(self, v: f64) -> Result<Whole, E> {
                // 2^53: above, not every whole number is an f64.
                if (0.0..=9_007_199_254_740_992.0).contains(&v) && v.fract() == 0.0 {
                    return Ok(Whole(v as u64));
                }
                Err(E::invalid_value(serde::de::Unexpected::Float(v), &self))
            }
        }
        deserializer.deserialize_any(Number)
    }
}

/// A list that refuses to grow without bound.
#[derive(Debug)]
pub(super) struct List<T>(Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Deref for List<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
            type Value = List<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<List<T>, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = sequence.next_element()? {
                    if list.len() == MAX_LIST {
                        return Err(A::Error::custom(format!("a list of more than {MAX_LIST} items")));
                    }
                    list.push(item);
                }
                Ok(List(list))
            }
        }
        deserializer.deserialize_seq(Items(PhantomData))
    }
}

/// Extensions of which only the presence matters.
pub(super) type Extensions = BTreeMap<String, IgnoredAny>;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asset {
    #[serde(default)]
    pub version: String,
    pub min_version: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Scene {
    #[serde(default)]
    pub nodes: List<Whole>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Node {
    pub name: Option<String>,
    #[serde(default)]
    pub children: List<Whole>,
    pub mesh: Option<Whole>,
    pub skin: Option<Whole>,
    pub matrix: Option<Box<[f64; 16]>>,
    pub translation: Option<[f64; 3]>,
    pub rotation: Option<[f64; 4]>,
    pub scale: Option<[f64; 3]>,
    #[serde(default)]
    pub extensions: Extensions,
}

#[derive(Debug, Deserialize)]
pub(super) struct Mesh {
    pub name: Option<String>,
    pub primitives: List<Primitive>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Primitive {
    #[serde(default)]
    pub attributes: BTreeMap<String, Whole>,
    pub indices: Option<Whole>,
    pub material: Option<Whole>,
    pub mode: Option<Whole>,
    #[serde(default)]
    pub targets: List<IgnoredAny>,
    #[serde(default)]
    pub extensions: Extensions,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    pub joints: List<Whole>,
    pub inverse_bind_matrices: Option<Whole>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Animation {
    pub name: Option<String>,
    #[serde(default)]
    pub channels: List<Channel>,
    #[serde(default)]
    pub samplers: List<Sampler>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Channel {
    pub sampler: Whole,
    pub target: Target,
}

#[derive(Debug, Deserialize)]
pub(super) struct Target {
    pub node: Option<Whole>,
    #[serde(default)]
    pub path: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Sampler {
    pub input: Whole,
    pub output: Whole,
    pub interpolation: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub buffer_view: Option<Whole>,
    #[serde(default)]
    pub byte_offset: Whole,
    pub component_type: Whole,
    #[serde(default)]
    pub normalized: bool,
    pub count: Whole,
    #[serde(rename = "type")]
    pub shape: String,
    pub sparse: Option<Box<Sparse>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Sparse {
    pub count: Whole,
    pub indices: SparseIndices,
    pub values: SparseValues,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseIndices {
    pub buffer_view: Whole,
    #[serde(default)]
    pub byte_offset: Whole,
    pub component_type: Whole,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseValues {
    pub buffer_view: Whole,
    #[serde(default)]
    pub byte_offset: Whole,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub buffer: Whole,
    #[serde(default)]
    pub byte_offset: Whole,
    pub byte_length: Whole,
    pub byte_stride: Option<Whole>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub uri: Option<String>,
    pub byte_length: Whole,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Material {
    pub name: Option<String>,
    pub pbr_metallic_roughness: Option<Pbr>,
    pub normal_texture: Option<TextureInfo>,
    pub alpha_mode: Option<String>,
    pub alpha_cutoff: Option<f64>,
    #[serde(default)]
    pub double_sided: bool,
    #[serde(default)]
    pub extensions: Extensions,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Pbr {
    pub base_color_factor: Option<[f64; 4]>,
    pub base_color_texture: Option<TextureInfo>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextureInfo {
    pub index: Whole,
    #[serde(default)]
    pub tex_coord: Whole,
    #[serde(default)]
    pub extensions: TextureInfoExtensions,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct TextureInfoExtensions {
    #[serde(rename = "KHR_texture_transform")]
    pub transform: Option<TextureTransform>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextureTransform {
    pub offset: Option<[f64; 2]>,
    pub rotation: Option<f64>,
    pub scale: Option<[f64; 2]>,
    pub tex_coord: Option<Whole>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Texture {
    pub sampler: Option<Whole>,
    pub source: Option<Whole>,
    #[serde(default)]
    pub extensions: Extensions,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Image {
    pub name: Option<String>,
    pub uri: Option<String>,
    pub buffer_view: Option<Whole>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextureSampler {
    pub mag_filter: Option<Whole>,
    pub wrap_s: Option<Whole>,
    pub wrap_t: Option<Whole>,
}
