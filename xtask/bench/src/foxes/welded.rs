//! The fox as a modelling program would export it. The file has no normals, which glTF renders
//! flat: no two triangles share a vertex. With smooth normals, vertices of equal position, texture
//! coordinates and weights become one.

use std::collections::HashMap;
use std::path::Path;

use glam::Vec3;
use serde_json::{Value, json};

/// Bits of a vertex that must be equal: position, texture coordinates, joints, weights.
type Key = ([u32; 3], [u32; 2], [u16; 4], [u32; 4]);

/// Writes a copy of `from`, a GLB file of one mesh with one primitive, with smooth normals and
/// shared vertices.
pub(super) fn write(from: &Path, to: &Path) -> Result<(), String> {
    let bytes = std::fs::read(from).map_err(|e| format!("{}: {e}", from.display()))?;
    let wrong = |what: &str| format!("{}: {what}", from.display());
    let glb = gltf::binary::Glb::from_slice(&bytes).map_err(|e| wrong(&e.to_string()))?;
    let mut document: Value = serde_json::from_slice(&glb.json).map_err(|e| wrong(&e.to_string()))?;
    let mut bin = glb.bin.ok_or_else(|| wrong("no binary chunk"))?.into_owned();

    let file = gltf::Gltf::from_slice(&bytes).map_err(|e| wrong(&e.to_string()))?;
    let primitive = file.meshes().next().and_then(|mesh| mesh.primitives().next()).ok_or_else(|| wrong("no mesh"))?;
    let reader = primitive.reader(|_| file.blob.as_deref());
    let positions: Vec<[f32; 3]> = reader.read_positions().ok_or_else(|| wrong("no positions"))?.collect();
    let uvs = reader.read_tex_coords(0).ok_or_else(|| wrong("no texture coordinates"))?.into_f32();
    let joints = reader.read_joints(0).ok_or_else(|| wrong("no joints"))?.into_u16();
    let weights = reader.read_weights(0).ok_or_else(|| wrong("no weights"))?.into_f32();

    let mut smooth: HashMap<[u32; 3], Vec3> = HashMap::new();
    let place = |position: [f32; 3]| position.map(f32::to_bits);
    for triangle in positions.as_chunks::<3>().0 {
        let [a, b, c] = [0, 1, 2].map(|i| Vec3::from(triangle[i]));
        for corner in triangle {
            // The cross product is twice as long as the triangle's area, so that large triangles
            // weigh more.
            *smooth.entry(place(*corner)).or_default() += (b - a).cross(c - a);
        }
    }
    let mut numbers: HashMap<Key, u16> = HashMap::new();
    let mut vertices: Vec<(Key, Vec3)> = Vec::new();
    let mut indices = Vec::new();
    for (((position, uv), joints), weights) in positions.iter().zip(uvs).zip(joints).zip(weights) {
        let key = (place(*position), uv.map(f32::to_bits), joints, weights.map(f32::to_bits));
        let number = *numbers.entry(key).or_insert_with(|| {
            vertices.push((key, smooth[&key.0].normalize_or_zero()));
            (vertices.len() - 1) as u16
        });
        indices.push(number);
    }

    let count = vertices.len();
    let mut add = |bytes: Vec<u8>, component: u32, shape: &str, count: usize| -> Result<usize, String> {
        bin.resize(bin.len().next_multiple_of(4), 0);
        let view = json!({ "buffer": 0, "byteOffset": bin.len(), "byteLength": bytes.len() });
        bin.extend(bytes);
        let view = push(&mut document, "bufferViews", view).ok_or_else(|| wrong("no buffer views"))?;
        let accessor = json!({ "bufferView": view, "componentType": component, "type": shape, "count": count });
        push(&mut document, "accessors", accessor).ok_or_else(|| wrong("no accessors"))
    };
    let words = |of: &dyn Fn(&(Key, Vec3)) -> Vec<u32>| -> Vec<u8> {
        vertices.iter().flat_map(of).flat_map(u32::to_le_bytes).collect()
    };
    let position = add(words(&|v| v.0.0.to_vec()), 5126, "VEC3", count)?;
    let normal = add(words(&|v| v.1.to_array().map(f32::to_bits).to_vec()), 5126, "VEC3", count)?;
    let uv = add(words(&|v| v.0.1.to_vec()), 5126, "VEC2", count)?;
    let joint_bytes = vertices.iter().flat_map(|v| v.0.2).flat_map(u16::to_le_bytes).collect();
    let joint = add(joint_bytes, 5123, "VEC4", count)?;
    let weight = add(words(&|v| v.0.3.to_vec()), 5126, "VEC4", count)?;
    let index = add(indices.iter().flat_map(|i| i.to_le_bytes()).collect(), 5123, "SCALAR", indices.len())?;
    let all = || positions.iter().map(|p| Vec3::from(*p));
    let (least, most) = (all().reduce(Vec3::min), all().reduce(Vec3::max));
    document["accessors"][position]["min"] = json!(least.unwrap_or_default().to_array());
    document["accessors"][position]["max"] = json!(most.unwrap_or_default().to_array());
    let primitive = &mut document["meshes"][0]["primitives"][0];
    primitive["attributes"] =
        json!({ "POSITION": position, "NORMAL": normal, "TEXCOORD_0": uv, "JOINTS_0": joint, "WEIGHTS_0": weight });
    primitive["indices"] = json!(index);
    document["buffers"][0]["byteLength"] = json!(bin.len());
    std::fs::write(to, crate::glb::file(&document, bin)).map_err(|e| format!("{}: {e}", to.display()))
}

/// Appends an item to a list of the document. Returns its index.
fn push(document: &mut Value, list: &str, item: Value) -> Option<usize> {
    let list = document[list].as_array_mut()?;
    list.push(item);
    Some(list.len() - 1)
}
