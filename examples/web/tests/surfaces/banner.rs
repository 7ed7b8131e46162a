//! The model `banner`: cloth that joints move, an unlit sign that turns, and a pole with vertex colours and flat triangles.

use std::f32::consts::PI;

use serde_json::{Value, json};

use super::gltf_file::File;

/// Columns and rows of the cloth.
const COLUMNS: usize = 16;
const ROWS: usize = 6;
/// Joint of the pole, which never moves. Joints 1 to 4 move the cloth, from the pole outwards.
const POLE: u8 = 0;
const CLOTH_JOINTS: usize = 4;
const SIGN: u8 = 5;
/// Keyframes of a clip, which lasts one second.
const KEYS: usize = 9;

/// Triangles with a material.
#[derive(Default)]
struct Mesh {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    uvs: Vec<[f32; 2]>,
    joints: Vec<[u8; 4]>,
    weights: Vec<[f32; 4]>,
    indices: Vec<u16>,
}

impl Mesh {
    fn vertex(&mut self, position: [f32; 3], normal: [f32; 3], uv: [f32; 2], joints: [u8; 2], second: f32) {
        self.positions.push(position);
        self.normals.push(normal);
        self.uvs.push(uv);
        self.joints.push([joints[0], joints[1], 0, 0]);
        self.weights.push([1.0 - second, second, 0.0, 0.0]);
    }

    fn quad(&mut self, [a, b, c, d]: [usize; 4]) {
        self.indices.extend([a, b, c, a, c, d].map(|vertex| vertex as u16));
    }

    /// Cloth from the pole to the right, each vertex between two joints.
    fn cloth() -> Self {
        let mut mesh = Self::default();
        for row in 0..=ROWS {
            for column in 0..=COLUMNS {
                let [u, v] = [column as f32 / COLUMNS as f32, row as f32 / ROWS as f32];
                let along = u * CLOTH_JOINTS as f32;
                let joint = (along as usize).min(CLOTH_JOINTS - 1) as u8;
                let position = [0.03 + 0.95 * u, 1.5 - 0.6 * v, 0.0];
                mesh.vertex(position, [0.0, 0.0, 1.0], [u, v], [joint, joint + 1], along - f32::from(joint));
                if row < ROWS && column < COLUMNS {
                    let at = |row: usize, column: usize| row * (COLUMNS + 1) + column;
                    mesh.quad([at(row + 1, column), at(row + 1, column + 1), at(row, column + 1), at(row, column)]);
                }
            }
        }
        mesh
    }

    /// Box around the y axis, with a height that begins at `low`.
    fn cuboid(half: [f32; 3], low: f32, joint: u8) -> Self {
        let mut mesh = Self::default();
        for (axis, side) in (0..3).flat_map(|axis| [(axis, -1.0), (axis, 1.0_f32)]) {
            let first = mesh.positions.len();
            for (u, v) in [(-side, -1.0), (side, -1.0), (side, 1.0), (-side, 1.0)] {
                let mut normal = [0.0; 3];
                normal[axis] = side;
                let mut position = normal;
                (position[(axis + 1) % 3], position[(axis + 2) % 3]) = (u, v);
                let mut position = [0, 1, 2].map(|axis| position[axis] * half[axis]);
                position[1] += low + half[1];
                mesh.vertex(position, normal, [0.5 + 0.5 * u, 0.5 - 0.5 * v], [joint, POLE], 0.0);
            }
            mesh.quad([first, first + 1, first + 2, first + 3]);
        }
        mesh
    }

    /// Writes the mesh. Returns its attributes and the index of its indices.
    fn write(&self, file: &mut File) -> Value {
        let joints = file.accessor("VEC4", 5121, self.joints.len(), &self.joints.concat());
        let indices: Vec<u8> = self.indices.iter().flat_map(|index| index.to_le_bytes()).collect();
        json!({ "indices": file.accessor("SCALAR", 5123, self.indices.len(), &indices), "attributes": {
            "POSITION": file.floats("VEC3", self.positions.concat()), "NORMAL": file.floats("VEC3", self.normals.concat()),
            "TEXCOORD_0": file.floats("VEC2", self.uvs.concat()), "JOINTS_0": joints,
            "WEIGHTS_0": file.floats("VEC4", self.weights.concat()) } })
    }
}

/// Returns the document and its bytes.
pub(super) fn model() -> (Value, Vec<u8>) {
    let mut file = File::default();
    let names = ["Pole", "Cloth1", "Cloth2", "Cloth3", "Cloth4", "Sign"];
    let joints = names.map(|name| file.push("nodes", json!({ "name": name })));
    let image = file.push("images", json!({ "uri": "checks.png" }));
    let texture = json!({ "index": file.push("textures", json!({ "source": image })) });
    let pbr = json!({ "baseColorTexture": texture, "metallicFactor": 0, "roughnessFactor": 0.7 });
    let plain = json!({ "metallicFactor": 0, "roughnessFactor": 0.9 });
    let materials = [
        json!({ "name": "Cloth", "pbrMetallicRoughness": pbr, "doubleSided": true }),
        json!({ "name": "Sign", "pbrMetallicRoughness": pbr, "extensions": { "KHR_materials_unlit": {} } }),
        json!({ "name": "Pole", "pbrMetallicRoughness": plain }),
    ];
    let pole = Mesh::cuboid([0.06, 0.95, 0.06], 0.0, POLE);
    let meshes = [Mesh::cloth(), Mesh::cuboid([0.4, 0.16, 0.1], 1.6, SIGN), pole];
    let mut primitives = Vec::new();
    for (mesh, material) in meshes.into_iter().zip(materials) {
        let mut primitive = mesh.write(&mut file);
        if material["name"] == "Pole" {
            let color = |position: &[f32; 3]| [0.9 - 0.4 * position[1], 0.4, 0.1 + 0.4 * position[1], 1.0];
            let colors = mesh.positions.iter().flat_map(color).collect();
            primitive["attributes"]["COLOR_0"] = json!(file.floats("VEC4", colors));
            primitive["attributes"].as_object_mut().expect("an object").remove("NORMAL");
        }
        primitive["material"] = json!(file.push("materials", material));
        primitives.push(primitive);
    }
    let mesh = file.push("meshes", json!({ "primitives": primitives }));
    let skin = file.push("skins", json!({ "joints": joints }));
    let node = file.push("nodes", json!({ "name": "Banner", "mesh": mesh, "skin": skin }));
    let times = (0..KEYS).map(|key| key as f32 / (KEYS - 1) as f32);
    let input = file.floats("SCALAR", times.clone().collect());
    for clip in ["wave", "hang"] {
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        let mut animate = |joint: usize, path: &str, output: usize| {
            channels.push(json!({ "sampler": samplers.len(), "target": { "node": joint, "path": path } }));
            samplers.push(json!({ "input": input, "output": output }));
        };
        for (number, joint) in joints.into_iter().enumerate().take(CLOTH_JOINTS + 1).skip(1) {
            let number = number as f32;
            // Waves travel along the cloth, or it hangs down.
            let moved = |time: f32| match clip {
                "wave" => [0.0, 0.0, 0.07 * number * (2.0 * PI * time - 0.9 * number).sin()],
                _ => [-0.12 * number, -0.15 * number, 0.04 * number],
            };
            animate(joint, "translation", file.floats("VEC3", times.clone().flat_map(moved).collect()));
        }
        // The sign turns about the pole.
        let turn = |time: f32| [0.0, (PI * time).sin(), 0.0, (PI * time).cos()];
        animate(joints[usize::from(SIGN)], "rotation", file.floats("VEC4", times.clone().flat_map(turn).collect()));
        file.push("animations", json!({ "name": clip, "samplers": samplers, "channels": channels }));
    }
    file.finish("banner.bin", node + 1)
}
