//! glTF's JSON, as types of `gltf::json`.
//!
//! They are read through [`super::tamed`], which keeps away what `gltf::json` cannot take. Nothing here is checked beyond
//! types: not by `gltf`'s validation, which panics on damaged files; indices are looked up through
//! [`super::file::File`]. Ours are, because something would be lost:
//!
//! - [`Node`]: `gltf::json` rounds transforms to `f32`.
//! - [`Mesh`]: it rounds weights, too. [`Primitive`]: it drops names of morph target attributes that it does not know.
//! - [`View`]: it keeps compression as an untyped tree.
//! - [`Scene`]: `gltf::json` refuses scenes without nodes, which glTF has.
//! - [`Animation`], [`Channel`], [`Target`]: `gltf::json` refuses whole files for one channel without a node, as
//!   `KHR_animation_pointer` has them, and drops the names of paths that it does not know.
//! - [`Document`], which has these in its lists.

use std::collections::BTreeMap;

use gltf::json::mesh::{Mode, Semantic};
use gltf::json::validation::{Checked, USize64};
use gltf::json::{self, Accessor, Index};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::tamed::Tamed;
use crate::finding::{Code, Finding};

/// Largest JSON text, bytes: parsed, it can take thirty times that. A character with 76 clips has 2 MB.
const MAX_JSON: usize = 1 << 28;

/// As `gltf::json::Root`, with our nodes, scenes and animations.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub asset: json::Asset,
    pub scene: Option<Index<json::Scene>>,
    #[serde(default)]
    pub scenes: Vec<Scene>,
    #[serde(default)]
    pub nodes: Vec<Node>,
    #[serde(default)]
    pub meshes: Vec<Mesh>,
    #[serde(default)]
    pub skins: Vec<json::Skin>,
    #[serde(default)]
    pub animations: Vec<Animation>,
    #[serde(default)]
    pub accessors: Vec<json::Accessor>,
    #[serde(default)]
    pub buffer_views: Vec<View>,
    #[serde(default)]
    pub buffers: Vec<json::Buffer>,
    #[serde(default)]
    pub materials: Vec<json::Material>,
    #[serde(default)]
    pub textures: Vec<json::Texture>,
    #[serde(default)]
    pub images: Vec<json::Image>,
    #[serde(default)]
    pub samplers: Vec<json::texture::Sampler>,
    #[serde(default)]
    pub extensions_used: Vec<String>,
    #[serde(default)]
    pub extensions_required: Vec<String>,
}

impl Document {
    /// Parses it; errors say where in the document they are.
    pub(super) fn parse(json: &[u8]) -> Result<Self, Finding> {
        const HELP: &str = "export it as glTF 2.0 (.glb or .gltf)";
        if json.len() > MAX_JSON {
            let message = format!("its JSON has {} bytes; at most {MAX_JSON} are read", json.len());
            return Err(
                Finding::error(Code::LimitJson, message).help("keep binary data in .bin files, or export as .glb")
            );
        }
        let json = text(json);
        let read = || {
            let mut json = serde_json::Deserializer::from_slice(json);
            let document = Self::deserialize(Tamed::new(&mut json))?;
            json.end().map(|()| document)
        };
        let document = read().map_err(|error| {
            let json = &mut serde_json::Deserializer::from_slice(json);
            match serde_path_to_error::deserialize::<_, Self>(Tamed::new(json)) {
                Err(e) if e.path().iter().next().is_some() => {
                    Finding::error(Code::GltfSyntax, format!("its JSON is not glTF: {}: {}", e.path(), e.inner()))
                }
                _ => Finding::error(Code::GltfSyntax, format!("it is not glTF: {error}")).help(HELP),
            }
        })?;
        let version = &document.asset.version;
        let newer = document.asset.min_version.as_deref().is_some_and(|v| v != "2.0");
        if !version.starts_with("2.") || newer {
            let version = document.asset.min_version.as_ref().filter(|_| newer).unwrap_or(version);
            return Err(
                Finding::error(Code::GltfVersion, format!("glTF version {version:?} is not supported")).help(HELP)
            );
        }
        Ok(document)
    }
}

/// The JSON without a byte order mark and the zeros that some exporters pad it with.
pub(super) fn text(json: &[u8]) -> &[u8] {
    let json = json.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(json);
    let end = json.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
    &json[..end]
}

/// What the JSON says at a place, `/accessors/3/type`. For messages: `gltf::json` reads what it does not know as
/// `Checked::Invalid`, and that is all.
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

/// A scene; in `gltf::json` it must have nodes.
#[derive(Debug, Deserialize)]
pub(super) struct Scene {
    pub name: Option<String>,
    #[serde(default)]
    pub nodes: Vec<Index<json::Node>>,
}

/// A node with its transform in `f64`, as the file has it; `gltf::json` rounds it to `f32`.
#[derive(Debug, Deserialize)]
pub(super) struct Node {
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
pub(super) struct Mesh {
    pub name: Option<String>,
    pub primitives: Vec<Primitive>,
    pub weights: Option<Vec<f64>>,
}

/// A primitive with all attributes of its morph targets.
#[derive(Debug, Deserialize)]
pub(super) struct Primitive {
    pub attributes: BTreeMap<Checked<Semantic>, Index<Accessor>>,
    pub indices: Option<Index<Accessor>>,
    pub material: Option<Index<json::Material>>,
    #[serde(default)]
    pub mode: Checked<Mode>,
    #[serde(default)]
    pub targets: Vec<BTreeMap<String, Index<Accessor>>>,
    #[serde(default)]
    pub extensions: BTreeMap<String, IgnoredAny>,
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
    /// How it is compressed.
    pub(super) fn compression(&self) -> Option<&Meshopt> {
        self.extensions.khr.as_ref().or(self.extensions.ext.as_ref())
    }
}

/// `EXT_meshopt_compression` and its successor.
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

/// An animation with our channels.
#[derive(Debug, Deserialize)]
pub(super) struct Animation {
    pub name: Option<String>,
    #[serde(default)]
    pub channels: Vec<Channel>,
    #[serde(default)]
    pub samplers: Vec<json::animation::Sampler>,
}

/// A channel with our target.
#[derive(Debug, Deserialize)]
pub(super) struct Channel {
    pub sampler: Index<json::animation::Sampler>,
    pub target: Target,
}

/// What a channel moves. It may have no node, and its path may be one that an extension defines; in `gltf::json` neither.
#[derive(Debug, Deserialize)]
pub(super) struct Target {
    pub node: Option<Index<json::Node>>,
    #[serde(default)]
    pub path: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(rest: serde_json::Value) -> Result<Document, String> {
        let mut json = serde_json::json!({ "asset": { "version": "2.0" } });
        json.as_object_mut().expect("object").extend(rest.as_object().expect("object").clone());
        Document::parse(json.to_string().as_bytes()).map_err(|e| e.to_string())
    }

    #[track_caller]
    fn refused(rest: serde_json::Value, parts: &[&str]) {
        let error = parse(rest).expect_err("refused");
        assert!(parts.iter().all(|part| error.contains(part)), "{parts:?} not in {error}");
    }

    #[test]
    fn what_is_missing_is_said_with_its_place() {
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
    fn whole_numbers() {
        use serde_json::json;
        let scene =
            |index: serde_json::Value| parse(json!({ "scene": index })).map(|d| d.scene.expect("there").value());
        assert_eq!((scene(json!(3)), scene(json!(3.0)), scene(json!(3e2))), (Ok(3), Ok(3), Ok(300)));
        assert_eq!(scene(json!(u32::MAX)), Ok(u32::MAX as usize));
        // Not the scene 0.
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
    fn of_extensions_the_names_are_kept_and_of_extras_nothing() {
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
    fn what_is_written_is_found() {
        let json = br#"{"accessors":[{},{"type":"VEC9","componentType":7}]}"#;
        assert_eq!(written(json, "/accessors/1/type").as_deref(), Some("VEC9"));
        assert_eq!(written(json, "/accessors/1/componentType").as_deref(), Some("7"));
        assert_eq!(written(json, "/accessors/2/type"), None);
    }
}
