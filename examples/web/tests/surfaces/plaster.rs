//! The model `plaster`: two halves of a column that turns. Normal map, occlusion and emission have other texture coordinates
//! than the base colour: in the upper half another attribute, in the lower one a transform.

use serde_json::{Value, json};

use super::gltf_file::File;

/// Columns and rows of a half.
const COLUMNS: usize = 16;
const ROWS: usize = 4;
/// Angle from the middle of a half to its borders, radians.
const ANGLE: f32 = 1.3;
/// Radius of the column and height of a half, metres.
const RADIUS: f32 = 0.6;
const HEIGHT: f32 = 0.7;

/// Returns the document and its bytes.
pub(super) fn model() -> (Value, Vec<u8>) {
    let mut file = File::default();
    let textures = ["checks.png", "orm.png", "bumps.png"].map(|uri| {
        let image = file.push("images", json!({ "uri": uri }));
        file.push("textures", json!({ "source": image }))
    });
    let transform = json!({ "offset": [0.3, 0.1], "rotation": 0.7, "scale": [1.7, 0.6] });
    let others = [json!({ "texCoord": 1 }), json!({ "extensions": { "KHR_texture_transform": transform } })];
    let (mut normals, mut uvs, mut second, mut indices) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for row in 0..=ROWS {
        for column in 0..=COLUMNS {
            let [u, v] = [column as f32 / COLUMNS as f32, row as f32 / ROWS as f32];
            let (sin, cos) = (ANGLE * (2.0 * u - 1.0)).sin_cos();
            normals.push([sin, 0.0, cos]);
            uvs.extend([2.0 * u, v]);
            // Turned by a right angle, sheared, and larger.
            second.extend([0.1 + 0.6 * v + 0.3 * u, 0.9 - 0.8 * u]);
            if row < ROWS && column < COLUMNS {
                let [a, b] = [0, 1].map(|below| ((row + below) * (COLUMNS + 1) + column) as u16);
                indices.extend([a, b, a + 1, a + 1, b, b + 1]);
            }
        }
    }
    let bytes: Vec<u8> = indices.iter().flat_map(|i: &u16| i.to_le_bytes()).collect();
    let index = file.accessor("SCALAR", 5123, indices.len(), &bytes);
    let height = |vertex: usize| HEIGHT * (1.0 - (vertex / (COLUMNS + 1)) as f32 / ROWS as f32);
    let normal = file.floats("VEC3", normals.concat());
    let [uv, second] = [uvs, second].map(|uvs| file.floats("VEC2", uvs));
    let mut primitives = Vec::new();
    for (half, (name, other)) in ["Upper", "Lower"].into_iter().zip(others).enumerate() {
        let [base, orm, bumps] = textures.map(|index| json!({ "index": index }));
        let moved = |texture: &Value| {
            let mut moved = other.clone();
            moved["index"] = texture["index"].clone();
            moved
        };
        let pbr = json!({ "baseColorTexture": base, "metallicRoughnessTexture": orm, "metallicFactor": 0 });
        let material = json!({ "name": name, "pbrMetallicRoughness": pbr, "normalTexture": moved(&bumps),
            "occlusionTexture": moved(&orm), "emissiveTexture": moved(&base), "emissiveFactor": [0.3, 0.2, 0.4] });
        let low = -HEIGHT * half as f32;
        let place = |(vertex, [x, _, z]): (usize, &[f32; 3])| [RADIUS * x, low + height(vertex), RADIUS * z];
        let positions = normals.iter().enumerate().flat_map(place).collect();
        let mut attributes = json!({ "POSITION": file.floats("VEC3", positions), "NORMAL": normal, "TEXCOORD_0": uv });
        if half == 0 {
            attributes["TEXCOORD_1"] = json!(second);
        }
        let material = file.push("materials", material);
        primitives.push(json!({ "material": material, "indices": index, "attributes": attributes }));
    }
    let mesh = file.push("meshes", json!({ "primitives": primitives }));
    let node = file.push("nodes", json!({ "name": "Plaster", "mesh": mesh }));
    let input = file.floats("SCALAR", vec![0.0, 0.5, 1.0]);
    let turn = |angle: f32| [0.0, (0.5 * angle).sin(), 0.0, (0.5 * angle).cos()];
    let output = file.floats("VEC4", [-0.6, 0.6, -0.6].map(turn).concat());
    let channel = json!({ "sampler": 0, "target": { "node": node, "path": "rotation" } });
    let sampler = json!({ "input": input, "output": output });
    file.push("animations", json!({ "name": "turn", "samplers": [sampler], "channels": [channel] }));
    file.push("extensionsUsed", json!("KHR_texture_transform"));
    file.finish("plaster.bin", node + 1)
}
