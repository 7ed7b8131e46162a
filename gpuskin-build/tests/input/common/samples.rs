//! Small files that each use one feature of glTF.

use serde_json::{Value, json};

use super::build::Gltf;

/// Returns a triangle with two morph targets. The first moves its last vertex along Z and turns its
/// normal; the second, a sparse one, moves the first vertex along X.
pub fn face() -> Gltf {
    let mut g = Gltf::new();
    let mesh = g.triangle();
    let lift = g.floats("VEC3", &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0]);
    let turn = g.floats("VEC3", &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let places = g.bytes("SCALAR", 1, &[0]);
    let places = g.json["accessors"][places]["bufferView"].clone();
    let values = g.floats("VEC3", &[4.0, 0.0, 0.0]);
    let values = g.json["accessors"][values]["bufferView"].clone();
    let indices = json!({ "bufferView": places, "componentType": 5121 });
    let sparse = json!({ "count": 1, "indices": indices, "values": { "bufferView": values } });
    let push = g.push("accessors", json!({ "componentType": 5126, "type": "VEC3", "count": 3, "sparse": sparse }));
    g.json["meshes"][mesh]["primitives"][0]["targets"] =
        json!([{ "POSITION": lift, "NORMAL": turn }, { "POSITION": push }]);
    g.json["meshes"][mesh]["weights"] = json!([0.5, 0.1]);
    g.node(None, json!({ "name": "Face", "mesh": mesh }));
    g.node(None, json!({ "name": "Twin", "mesh": mesh, "scale": [2, 2, 2], "weights": [0, 1] }));
    g
}

/// Adds a clip that animates the weights of the face.
pub fn talk(g: &mut Gltf, interpolation: &str, times: &[f32], values: &[f32]) -> usize {
    let (input, output) = (g.floats("SCALAR", times), g.floats("SCALAR", values));
    let samplers = json!([{ "input": input, "output": output, "interpolation": interpolation }]);
    let channels = json!([{ "sampler": 0, "target": { "node": 0, "path": "weights" } }]);
    g.push("animations", json!({ "name": "Talk", "channels": channels, "samplers": samplers }))
}

/// Adds an accessor with elements `stride` bytes apart.
pub fn packed(g: &mut Gltf, shape: &str, component: u32, normalized: bool, stride: usize, bytes: &[u8]) -> usize {
    let view = g.view(bytes);
    g.json["bufferViews"][view]["byteStride"] = json!(stride);
    let count = bytes.len() / stride;
    g.push(
        "accessors",
        json!({ "bufferView": view, "componentType": component, "normalized": normalized, "count": count, "type": shape }),
    )
}

/// Returns a moving triangle with the given accessors as attributes.
pub fn hopping(fill: impl FnOnce(&mut Gltf) -> Value) -> Gltf {
    let mut g = Gltf::new();
    let primitive = fill(&mut g);
    let mesh = g.push("meshes", json!({ "name": "Leaf", "primitives": [primitive] }));
    let node = g.node(None, json!({ "name": "Leaf", "mesh": mesh }));
    g.clip("Hop", &[node]);
    g.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    g.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    g
}

pub fn shorts(values: &[i16]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Returns a triangle with quantised vertices and a quantised morph target.
pub fn quantized() -> Gltf {
    hopping(|g| {
        let position = packed(g, "VEC3", 5122, false, 8, &shorts(&[-2, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0]));
        // The lowest value also represents -1.
        let normal = packed(g, "VEC3", 5120, true, 4, &[0, 0, 127, 0, 0, 0, 0x80, 0, 127, 0, 0, 0]);
        let tangent = packed(g, "VEC4", 5120, true, 4, &[127, 0, 0, 0x81, 127, 0, 0, 127, 0, 127, 0, 127]);
        let raise = packed(g, "VEC3", 5122, false, 8, &shorts(&[0, 0, 3, 0, 0, 0, 0, 0, 0, 0, -3, 0]));
        let turn = packed(g, "VEC3", 5120, true, 4, &[0x81, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        json!({
            "attributes": { "POSITION": position, "NORMAL": normal, "TANGENT": tangent },
            "targets": [{ "POSITION": raise, "NORMAL": turn }]
        })
    })
}

/// Returns the triangle with compressed positions and indices, in the layout of gltfpack: views in
/// a fallback buffer without data, compressed streams in the binary chunk.
pub fn compressed() -> Gltf {
    let positions: [[f32; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]];
    let vertices = meshopt::encode_vertex_buffer(&positions).expect("encodes");
    let triangle = meshopt::encode_index_buffer(&[0, 1, 2], 3).expect("encodes");
    let mut g = Gltf::new();
    let view = |g: &mut Gltf, bytes: &[u8], mode: &str, stride: usize| {
        while !g.bin.len().is_multiple_of(4) {
            g.bin.push(0);
        }
        let compression = json!({
            "buffer": 0, "byteOffset": g.bin.len(), "byteLength": bytes.len(), "byteStride": stride, "mode": mode, "count": 3
        });
        g.bin.extend(bytes);
        g.push(
            "bufferViews",
            json!({ "buffer": 1, "byteLength": 3 * stride, "extensions": { "EXT_meshopt_compression": compression } }),
        )
    };
    let (vertices, triangle) = (view(&mut g, &vertices, "ATTRIBUTES", 12), view(&mut g, &triangle, "TRIANGLES", 2));
    let position =
        g.push("accessors", json!({ "bufferView": vertices, "componentType": 5126, "count": 3, "type": "VEC3" }));
    let indices =
        g.push("accessors", json!({ "bufferView": triangle, "componentType": 5123, "count": 3, "type": "SCALAR" }));
    let primitive = json!({ "attributes": { "POSITION": position }, "indices": indices });
    let mesh = g.push("meshes", json!({ "primitives": [primitive] }));
    let node = g.node(None, json!({ "mesh": mesh }));
    g.clip("Hop", &[node]);
    g.json["extensionsRequired"] = json!(["EXT_meshopt_compression"]);
    g
}
