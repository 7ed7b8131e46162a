//! Builder of glTF files.

use gpuskin_build::internals::import::Pixels;
use serde_json::{Value, json};

use super::{Outcome, entry, import_entry};

/// A glTF file under construction.
#[derive(Clone)]
pub struct Gltf {
    pub json: Value,
    pub bin: Vec<u8>,
}

impl Gltf {
    /// Creates a file with one empty scene.
    pub fn new() -> Self {
        let json = json!({ "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [] }] });
        Self { json, bin: vec![] }
    }

    /// Appends an item to a list of the document. Returns its index.
    pub fn push(&mut self, list: &str, item: Value) -> usize {
        let list = self.json.as_object_mut().expect("object").entry(list).or_insert_with(|| json!([]));
        let list = list.as_array_mut().expect("a list");
        list.push(item);
        list.len() - 1
    }

    /// Adds a child node, or a root node of the scene. Returns its index.
    pub fn node(&mut self, parent: Option<usize>, item: Value) -> usize {
        let node = self.push("nodes", item);
        let above = match parent {
            None => &mut self.json["scenes"][0]["nodes"],
            Some(parent) => &mut self.json["nodes"][parent]["children"],
        };
        if above.is_null() {
            *above = json!([]);
        }
        above.as_array_mut().expect("a list").push(json!(node));
        node
    }

    pub fn view(&mut self, bytes: &[u8]) -> usize {
        while !self.bin.len().is_multiple_of(4) {
            self.bin.push(0);
        }
        let offset = self.bin.len();
        self.bin.extend(bytes);
        self.push("bufferViews", json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() }))
    }

    pub fn floats(&mut self, shape: &str, values: &[f32]) -> usize {
        let width = match shape {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let view = self.view(&values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
        let count = values.len() / width;
        self.push("accessors", json!({ "bufferView": view, "componentType": 5126, "count": count, "type": shape }))
    }

    pub fn bytes(&mut self, shape: &str, count: usize, values: &[u8]) -> usize {
        let view = self.view(values);
        self.push("accessors", json!({ "bufferView": view, "componentType": 5121, "count": count, "type": shape }))
    }

    /// Adds a mesh with the triangle (0,0,0) (1,0,0) (0,1,0), facing +Z. Returns its index.
    pub fn triangle(&mut self) -> usize {
        let position = self.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        let normal = self.floats("VEC3", &[0.0, 0.0, 1.0].repeat(3));
        let attributes = json!({ "POSITION": position, "NORMAL": normal });
        self.push("meshes", json!({ "name": "Triangle", "primitives": [{ "attributes": attributes }] }))
    }

    /// Adds a clip that moves nodes from 0 to (1, 2, 3) within one second. Returns its index.
    pub fn clip(&mut self, name: &str, nodes: &[usize]) -> usize {
        let input = self.floats("SCALAR", &[0.0, 1.0]);
        let output = self.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
        let channel = |node: &usize| json!({ "sampler": 0, "target": { "node": node, "path": "translation" } });
        let channels: Vec<Value> = nodes.iter().map(channel).collect();
        let samplers = json!([{ "input": input, "output": output }]);
        self.push("animations", json!({ "name": name, "channels": channels, "samplers": samplers }))
    }

    pub fn glb(&self) -> Vec<u8> {
        let mut json = self.json.clone();
        json["buffers"] = json!([{ "byteLength": self.bin.len() }]);
        glb(json.to_string().as_bytes(), &self.bin)
    }

    /// Imports the file from a temporary folder.
    pub fn import(&self) -> Outcome {
        self.import_with(|_| {})
    }

    pub fn import_with(&self, change: impl FnOnce(&mut gpuskin_build::internals::manifest::ModelEntry)) -> Outcome {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("model.glb"), self.glb()).expect("writable");
        let mut entry = entry("model.glb");
        change(&mut entry);
        import_entry(folder.path(), &entry, Pixels::Decode)
    }
}

/// Returns a GLB file with two chunks.
pub fn glb(json: &[u8], bin: &[u8]) -> Vec<u8> {
    let mut json = json.to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut bin = bin.to_vec();
    bin.resize(bin.len().next_multiple_of(4), 0);
    let mut file = b"glTF\x02\0\0\0".to_vec();
    file.extend((28 + json.len() as u32 + bin.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", &json), (b"BIN\0", &bin)] {
        file.extend((chunk.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(chunk);
    }
    file
}

/// Returns a figure: a root, a spine and a head with a skinned triangle, a hat as a child of the
/// head, two static stones, and two clips.
pub fn figure() -> Gltf {
    let mut g = Gltf::new();
    let root = g.node(None, json!({ "name": "Root" }));
    let spine = g.node(Some(root), json!({ "name": "Spine", "translation": [0, 1, 0] }));
    let head = g.node(Some(spine), json!({ "name": "Head", "translation": [0, 0.5, 0], "rotation": [0, 0, 0.6, 0.8] }));
    let mesh = g.triangle();
    let joints = g.bytes("VEC4", 3, &[0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0]);
    let weights = g.floats("VEC4", &[0.5, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.25, 0.75, 0.0, 0.0]);
    let primitive = &mut g.json["meshes"][mesh]["primitives"][0];
    primitive["attributes"]["JOINTS_0"] = json!(joints);
    primitive["attributes"]["WEIGHTS_0"] = json!(weights);
    #[rustfmt::skip]
    let inverse_bind = g.floats("MAT4", &[
        1.0, 0.0, 0.0, 0.0,  0.0, 1.0, 0.0, 0.0,  0.0, 0.0, 1.0, 0.0,  0.0, -1.0, 0.0, 1.0,
        0.28, -0.96, 0.0, 0.0,  0.96, 0.28, 0.0, 0.0,  0.0, 0.0, 1.0, 0.0,  -1.44, -0.42, 0.0, 1.0,
        1.0, 0.0, 0.0, 0.0,  0.0, 1.0, 0.0, 0.0,  0.0, 0.0, 1.0, 0.0,  0.0, 0.0, 0.0, 1.0,
    ]);
    // No vertex uses the root joint.
    g.push("skins", json!({ "joints": [spine, head, root], "inverseBindMatrices": inverse_bind }));
    g.node(None, json!({ "name": "Body", "mesh": mesh, "skin": 0 }));
    let hat = g.triangle();
    g.node(Some(head), json!({ "name": "Hat", "mesh": hat, "translation": [0, 0.25, 0] }));
    let stone = g.triangle();
    g.node(None, json!({ "name": "Stone1", "mesh": stone, "translation": [3, 0, 0] }));
    g.node(None, json!({ "name": "Stone2", "mesh": stone, "scale": [-2, 2, 2] }));
    g.clip("Armature|Walk", &[spine, head]);
    g.clip("Armature|RunFast", &[head]);
    g
}
