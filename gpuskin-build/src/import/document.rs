//! Types of the glTF JSON, based on `gltf::json`.
//!
//! The JSON is deserialized through [`super::json_budget`], which filters input that `gltf::json` cannot
//! handle. Only types are checked here: the validation of `gltf` panics on damaged files. Indices
//! are looked up with [`super::file::File::get`]. Some types of `gltf::json` are replaced, because
//! they lose data:
//!
//! - [`GltfNode`]: `gltf::json` rounds transforms to `f32`.
//! - [`GltfMesh`]: `gltf::json` rounds morph weights to `f32`.
//! - [`GltfPrimitive`]: `gltf::json` drops unknown attribute names of morph targets.
//! - [`GltfTexture`]: `gltf::json` reads a texture without an image as image 2^32 - 1.
//! - [`View`]: `gltf::json` keeps compression as an untyped tree.
//! - [`Scene`]: `gltf::json` rejects scenes without nodes, which glTF allows.
//! - [`GltfAnimation`], [`GltfChannel`], [`Target`]: `gltf::json` rejects a whole file for one channel without
//!   a node, as `KHR_animation_pointer` has them, and drops unknown path names.
//! - [`Document`], which contains lists of these types.

use std::collections::BTreeMap;

use gltf::json::mesh::{Mode, Semantic};
use gltf::json::validation::{Checked, USize64};
use gltf::json::{self, Accessor, Index};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::json_budget::{Budget, BudgetDeserializer};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::limits;

/// Maximum size of the JSON text, in bytes. Parsed JSON can take thirty times as much memory. A
/// character with 76 clips has 2 MB of JSON.
const MAX_JSON: usize = 1 << 28;

/// Byte order mark of UTF-8.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Root object of a glTF file: `gltf::json::Root` with the replaced types of this module.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub asset: json::Asset,
    pub scene: Option<Index<json::Scene>>,
    #[serde(default)]
    pub scenes: Vec<Scene>,
    #[serde(default)]
    pub nodes: Vec<GltfNode>,
    #[serde(default)]
    pub meshes: Vec<GltfMesh>,
    #[serde(default)]
    pub skins: Vec<json::Skin>,
    #[serde(default)]
    pub animations: Vec<GltfAnimation>,
    #[serde(default)]
    pub accessors: Vec<json::Accessor>,
    #[serde(default)]
    pub buffer_views: Vec<View>,
    #[serde(default)]
    pub buffers: Vec<json::Buffer>,
    #[serde(default)]
    pub materials: Vec<json::Material>,
    #[serde(default)]
    pub textures: Vec<GltfTexture>,
    #[serde(default)]
    pub images: Vec<json::Image>,
    #[serde(default)]
    pub samplers: Vec<json::texture::Sampler>,
    #[serde(default)]
    pub extensions_used: Vec<String>,
    #[serde(default)]
    pub extensions_required: Vec<String>,
    #[serde(default)]
    pub extensions: DocumentExtensions,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct DocumentExtensions {
    #[serde(rename = "KHR_materials_variants")]
    pub variants: Option<VariantList>,
}

/// Content of `KHR_materials_variants` in the document.
#[derive(Debug, Deserialize)]
pub(super) struct VariantList {
    #[serde(default)]
    pub variants: Vec<VariantName>,
}

#[derive(Debug, Deserialize)]
pub(super) struct VariantName {
    pub name: Option<String>,
}

impl Document {
    /// Parses the JSON of a glTF file. Errors name the location in the document. The parsed
    /// document may take at most `memory` bytes.
    pub(super) fn parse(json: &[u8], memory: u64) -> Result<Self, Diagnostic> {
        const HELP: &str = "export it as glTF 2.0 (.glb or .gltf)";
        if json.len() > MAX_JSON {
            let message = format!("the JSON has {} bytes; at most {MAX_JSON} bytes are supported", json.len());
            return Err(Diagnostic::error(DiagnosticCode::LimitJson, message)
                .help("keep binary data in .bin files, or export as .glb"));
        }
        let json = text(json);
        let budget = Budget::new(memory);
        let read = || {
            let mut json = serde_json::Deserializer::from_slice(json);
            let document = Self::deserialize(BudgetDeserializer::new(&mut json, &budget))?;
            json.end().map(|()| document)
        };
        let document = read().map_err(|error| {
            if budget.is_spent() {
                let message = format!("the parsed JSON takes more than {}", limits::format_bytes(memory));
                return Diagnostic::error(DiagnosticCode::LimitMemory, message);
            }
            let budget = Budget::new(memory);
            let json = &mut serde_json::Deserializer::from_slice(json);
            match serde_path_to_error::deserialize::<_, Self>(BudgetDeserializer::new(json, &budget)) {
                Err(e) if e.path().iter().next().is_some() => Diagnostic::error(
                    DiagnosticCode::GltfSyntax,
                    format!("the JSON is not valid glTF: {}: {}", e.path(), e.inner()),
                ),
                _ => Diagnostic::error(DiagnosticCode::GltfSyntax, format!("the file is not glTF: {error}")).help(HELP),
            }
        })?;
        let version = &document.asset.version;
        let newer = document.asset.min_version.as_deref().is_some_and(|v| v != "2.0");
        if !version.starts_with("2.") || newer {
            let version = document.asset.min_version.as_ref().filter(|_| newer).unwrap_or(version);
            return Err(Diagnostic::error(
                DiagnosticCode::GltfVersion,
                format!("glTF version {version:?} is not supported"),
            )
            .help(HELP));
        }
        Ok(document)
    }
}

/// Strips the byte order mark and the trailing zero bytes that some exporters add as padding.
pub(super) fn text(json: &[u8]) -> &[u8] {
    let json = json.strip_prefix(BYTE_ORDER_MARK).unwrap_or(json);
    let end = json.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
    &json[..end]
}

/// Returns the JSON value at a path such as `/accessors/3/type`, for error messages: `gltf::json`
/// reads an unknown value as `Checked::Invalid` and drops its text.
pub(super) fn written(json: &[u8], place: &str) -> Option<String> {
    let mut value: &RawValue = serde_json::from_slice(text(json)).ok()?;
    for step in place.split('/').skip(1) {
        value = match step.parse::<usize>() {
            Ok(index) => *serde_json::from_str::<Vec<&RawValue>>(value.get()).ok()?.get(index)?,
            Err(_) => serde_json::from_str::<BTreeMap<String, &RawValue>>(value.get()).ok()?.remove(step)?,
        };
    }
    Some(serde_json::from_str(value.get()).unwrap_or_else(|_| value.get().to_owned()))
}

/// A scene. Unlike in `gltf::json`, its list of nodes may be missing.
#[derive(Debug, Deserialize)]
pub(super) struct Scene {
    pub name: Option<String>,
    #[serde(default)]
    pub nodes: Vec<Index<json::Node>>,
}

/// A node with its transform in `f64`; `gltf::json` rounds it to `f32`.
#[derive(Debug, Deserialize)]
pub(super) struct GltfNode {
    pub name: Option<String>,
    #[serde(default)]
    pub children: Vec<Index<json::Node>>,
    pub mesh: Option<Index<json::Mesh>>,
    pub skin: Option<Index<json::Skin>>,
    pub weights: Option<Vec<f64>>,
    pub matrix: Option<Box<[f64; 16]>>,
    pub translation: Option<[f64; 3]>,
    pub rotation: Option<[f64; 4]>,
    pub scale: Option<[f64; 3]>,
    #[serde(default)]
    pub extensions: BTreeMap<String, IgnoredAny>,
}

/// A mesh with its morph weights in `f64`.
#[derive(Debug, Deserialize)]
pub(super) struct GltfMesh {
    pub name: Option<String>,
    pub primitives: Vec<GltfPrimitive>,
    pub weights: Option<Vec<f64>>,
}

/// A primitive with all attributes of its morph targets.
#[derive(Debug, Deserialize)]
pub(super) struct GltfPrimitive {
    pub attributes: BTreeMap<Checked<Semantic>, Index<Accessor>>,
    pub indices: Option<Index<Accessor>>,
    pub material: Option<Index<json::Material>>,
    #[serde(default)]
    pub mode: Checked<Mode>,
    #[serde(default)]
    pub targets: Vec<BTreeMap<String, Index<Accessor>>>,
    #[serde(default)]
    pub extensions: PrimitiveExtensions,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct PrimitiveExtensions {
    #[serde(rename = "KHR_draco_mesh_compression")]
    pub draco: Option<Draco>,
    #[serde(rename = "KHR_materials_variants")]
    pub variants: Option<VariantMappings>,
}

/// Content of `KHR_materials_variants` in a primitive.
#[derive(Debug, Deserialize)]
pub(super) struct VariantMappings {
    #[serde(default)]
    pub mappings: Vec<VariantMapping>,
}

/// A material that a primitive has in some variants.
#[derive(Debug, Deserialize)]
pub(super) struct VariantMapping {
    pub material: Index<json::Material>,
    /// Indices into the list of the document.
    pub variants: Vec<u32>,
}

/// Content of `KHR_draco_mesh_compression`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Draco {
    pub buffer_view: Index<json::buffer::View>,
    /// Identifiers of attributes in the compressed data, by name, such as `POSITION`.
    pub attributes: BTreeMap<String, u32>,
}

/// A texture with the images that extensions give it.
#[derive(Debug, Deserialize)]
pub(super) struct GltfTexture {
    pub sampler: Option<Index<json::texture::Sampler>>,
    /// The image of the core format: PNG or JPEG.
    pub source: Option<Index<json::Image>>,
    /// `None` for the extensions whose content is not read.
    #[serde(default)]
    pub extensions: BTreeMap<String, Option<ExtensionImage>>,
}

/// Content of `EXT_texture_webp` and `KHR_texture_basisu`.
#[derive(Debug, Deserialize)]
pub(super) struct ExtensionImage {
    source: Option<Index<json::Image>>,
}

impl GltfTexture {
    /// Returns the image to read: of the core format, else WebP, else KTX2, which loses most.
    pub(super) fn image(&self) -> Option<Index<json::Image>> {
        let of = |name| self.extensions.get(name).and_then(|image| image.as_ref()?.source);
        self.source.or_else(|| of("EXT_texture_webp")).or_else(|| of("KHR_texture_basisu"))
    }
}

/// A buffer view with its compression.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct View {
    pub buffer: Index<json::Buffer>,
    pub byte_length: USize64,
    pub byte_offset: Option<USize64>,
    pub byte_stride: Option<USize64>,
    #[serde(default)]
    extensions: ViewExtensions,
}

#[derive(Debug, Default, Deserialize)]
struct ViewExtensions {
    #[serde(rename = "EXT_meshopt_compression")]
    ext: Option<Meshopt>,
    #[serde(rename = "KHR_meshopt_compression")]
    khr: Option<Meshopt>,
}

impl View {
    /// Returns the compression header, if the view is compressed.
    pub(super) fn compression(&self) -> Option<&Meshopt> {
        self.extensions.khr.as_ref().or(self.extensions.ext.as_ref())
    }
}

/// Header of `EXT_meshopt_compression` or `KHR_meshopt_compression`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Meshopt {
    pub buffer: Index<json::Buffer>,
    pub byte_offset: Option<USize64>,
    pub byte_length: USize64,
    pub byte_stride: USize64,
    pub count: USize64,
    pub mode: String,
    pub filter: Option<String>,
}

/// An animation with the channels of this module.
#[derive(Debug, Deserialize)]
pub(super) struct GltfAnimation {
    pub name: Option<String>,
    #[serde(default)]
    pub channels: Vec<GltfChannel>,
    #[serde(default)]
    pub samplers: Vec<json::animation::Sampler>,
}

/// A channel with the target of this module.
#[derive(Debug, Deserialize)]
pub(super) struct GltfChannel {
    pub sampler: Index<json::animation::Sampler>,
    pub target: Target,
}

/// Node and property that a channel animates. Unlike in `gltf::json`, the node may be missing, and
/// the path may be one that an extension defines.
#[derive(Debug, Deserialize)]
pub(super) struct Target {
    pub node: Option<Index<json::Node>>,
    #[serde(default)]
    pub path: String,
    extensions: Option<TargetExtensions>,
}

#[derive(Debug, Deserialize)]
struct TargetExtensions {
    #[serde(rename = "KHR_animation_pointer")]
    animation_pointer: Option<AnimationPointer>,
}

/// `KHR_animation_pointer`: JSON pointer to the animated property.
#[derive(Debug, Deserialize)]
struct AnimationPointer {
    #[serde(default)]
    pointer: String,
}

impl Target {
    /// JSON pointer to the animated property, if the channel has one.
    pub(super) fn pointer(&self) -> Option<&str> {
        let pointer = self.extensions.as_ref()?.animation_pointer.as_ref()?;
        (self.path == "pointer").then_some(&pointer.pointer)
    }

    /// Node and path. A pointer to a property of a node that has a path of its own is the same as that path.
    pub(super) fn animated(&self) -> (Option<Index<json::Node>>, &str) {
        let of_node = || {
            let (node, path) = self.pointer()?.strip_prefix("/nodes/")?.split_once('/')?;
            let has_path = matches!(path, "translation" | "rotation" | "scale" | "weights");
            let node = node.bytes().all(|digit| digit.is_ascii_digit()).then(|| node.parse().ok())??;
            has_path.then_some((Some(Index::new(node)), path))
        };
        of_node().unwrap_or((self.node, &self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(rest: serde_json::Value) -> Result<Document, String> {
        let mut json = serde_json::json!({ "asset": { "version": "2.0" } });
        json.as_object_mut().expect("object").extend(rest.as_object().expect("object").clone());
        Document::parse(json.to_string().as_bytes(), 1 << 20).map_err(|e| e.to_string())
    }

    #[track_caller]
    fn refused(rest: serde_json::Value, parts: &[&str]) {
        let error = parse(rest).expect_err("refused");
        assert!(parts.iter().all(|part| error.contains(part)), "{parts:?} not in {error}");
    }

    #[test]
    fn missing_fields_are_reported_with_their_path() {
        use serde_json::json;
        refused(
            json!({ "meshes": [{ "primitives": [{ "attributes": {} }, {}] }] }),
            &["meshes[0].primitives[1]", "`attributes`"],
        );
        refused(json!({ "meshes": [{}] }), &["meshes[0]", "`primitives`"]);
        refused(json!({ "skins": [{}] }), &["skins[0]", "`joints`"]);
        refused(json!({ "accessors": [{ "count": 1, "type": "VEC3" }] }), &["accessors[0]", "`componentType`"]);
        refused(json!({ "bufferViews": [{ "buffer": 0 }] }), &["bufferViews[0]", "`byteLength`"]);
        refused(
            json!({ "animations": [{ "samplers": [{ "input": 0 }] }] }),
            &["animations[0].samplers[0]", "`output`"],
        );
    }

    #[test]
    fn indices_must_be_whole_numbers() {
        use serde_json::json;
        let scene =
            |index: serde_json::Value| parse(json!({ "scene": index })).map(|d| d.scene.expect("there").value());
        assert_eq!((scene(json!(3)), scene(json!(3.0)), scene(json!(3e2))), (Ok(3), Ok(3), Ok(300)));
        assert_eq!(scene(json!(u32::MAX)), Ok(u32::MAX as usize));
        // Index 2^32 must not wrap to scene 0.
        for index in [json!(1_u64 << 32), json!(4294967296.0), json!(-1), json!(0.5), json!(1e300), json!("0")] {
            refused(json!({ "scene": index }), &["scene: ", "whole number"]);
        }
        let count = |count: serde_json::Value| {
            let accessor = json!({ "componentType": 5126.0, "count": count, "type": "VEC3" });
            parse(json!({ "accessors": [accessor] })).map(|d| d.accessors[0].count.0)
        };
        assert_eq!((count(json!(1_u64 << 40)), count(json!(4294967296.0))), (Ok(1 << 40), Ok(1 << 32)));
        refused(
            json!({ "meshes": [{ "primitives": [{ "attributes": {}, "mode": (1_u64 << 32) + 4 }] }] }),
            &["primitives[0].mode"],
        );
    }

    #[test]
    fn extension_names_are_kept_and_extras_dropped() {
        use serde_json::json;
        let accessor =
            json!({ "componentType": 5126, "count": 1, "type": "VEC3", "min": [[[]]], "max": 5, "extras": [1] });
        let material =
            json!({ "extras": "x", "extensions": { "VENDOR_x": { "a": [1, 2] }, "KHR_materials_unlit": {} } });
        let document = parse(json!({ "accessors": [accessor], "materials": [material], "extras": 5 })).expect("parses");
        assert!(document.accessors[0].min.is_none() && document.accessors[0].max.is_none());
        let extensions = &document.materials[0].extensions.as_ref().expect("there").others;
        assert_eq!(json!(extensions), json!({ "VENDOR_x": null, "KHR_materials_unlit": null }));
    }

    #[test]
    fn written_finds_json_values() {
        let json = br#"{"accessors":[{},{"type":"VEC9","componentType":7}]}"#;
        assert_eq!(written(json, "/accessors/1/type").as_deref(), Some("VEC9"));
        assert_eq!(written(json, "/accessors/1/componentType").as_deref(), Some("7"));
        assert_eq!(written(json, "/accessors/2/type"), None);
    }
}
