//! Writer of glTF files.

use serde_json::{Value, json};

/// A glTF file under construction.
#[derive(Default)]
pub(super) struct File {
    json: serde_json::Map<String, Value>,
    bytes: Vec<u8>,
}

impl File {
    /// Appends an item to a list of the document. Returns its index.
    pub(super) fn push(&mut self, list: &str, item: Value) -> usize {
        let list = self.json.entry(list).or_insert_with(|| json!([])).as_array_mut().expect("a list");
        list.push(item);
        list.len() - 1
    }

    /// Appends values of a component type. Returns the index of their accessor.
    pub(super) fn accessor(&mut self, shape: &str, component: u32, count: usize, bytes: &[u8]) -> usize {
        let view = json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() });
        self.bytes.extend(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let view = self.push("bufferViews", view);
        self.push("accessors", json!({ "bufferView": view, "componentType": component, "count": count, "type": shape }))
    }

    pub(super) fn floats(&mut self, shape: &str, values: Vec<f32>) -> usize {
        let lanes = shape.strip_prefix("VEC").map_or(1, |lanes| lanes.parse().expect("a number"));
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.accessor(shape, 5126, values.len() / lanes, &bytes)
    }

    /// Returns the document and its bytes, which belong in the file `uri`. The scene has all nodes at its root.
    pub(super) fn finish(self, uri: &str, nodes: usize) -> (Value, Vec<u8>) {
        let mut json = Value::Object(self.json);
        json["asset"] = json!({ "version": "2.0" });
        json["scenes"] = json!([{ "nodes": (0..nodes).collect::<Vec<usize>>() }]);
        json["scene"] = json!(0);
        json["buffers"] = json!([{ "uri": uri, "byteLength": self.bytes.len() }]);
        (json, self.bytes)
    }
}
