//! A tube of any number of vertices on a chain of 64 joints, with four or eight joints per vertex; four
//! clips of two seconds.

use serde_json::{Value, json};

const JOINTS: usize = 64;
const SEGMENTS: usize = 24;
const CLIPS: usize = 4;
/// Number of morph targets, and of those that a clip moves.
const TARGETS: usize = 50;
const ACTIVE: usize = 20;
/// Keys per clip, 30 per second.
const KEYS: usize = 61;
/// Size of the tube, in metres.
const HEIGHT: f32 = 1.8;
const RADIUS: f32 = 0.2;

/// Kind of a tube.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum TubeKind {
    /// Four influences per vertex.
    Four,
    /// Eight influences per vertex.
    Eight,
    /// Four influences per vertex, and 50 morph targets of which each clip moves 20.
    Morphs,
}

/// Creates a GLB file of a tube.
pub(super) fn glb(vertices: u32, kind: TubeKind) -> Vec<u8> {
    let (eight, morphs) = (kind == TubeKind::Eight, kind == TubeKind::Morphs);
    let rings = (vertices as usize / SEGMENTS).max(2);
    let mut file = File::default();
    let (mut positions, mut normals, mut joints, mut weights) = (vec![], vec![], vec![], vec![]);
    let (mut more_joints, mut more_weights): (Vec<u8>, Vec<f32>) = (vec![], vec![]);
    for ring in 0..rings {
        let up = ring as f32 / (rings - 1) as f32;
        // Weights of the two nearest joints and of their neighbours.
        let at = up * (JOINTS - 1) as f32;
        let first = (at.floor() as usize).clamp(1, JOINTS - 3) - 1;
        let near = [0, 1, 2, 3].map(|i| (2.0 - (at - (first + i) as f32).abs()).max(0.05));
        // With eight, also of the two beyond on both sides.
        let far = [-2, -1, 4, 5].map(|i| (first as i32 + i).clamp(0, JOINTS as i32 - 1) as u8);
        let far_weight = if eight { 0.04 } else { 0.0 };
        let sum = near.iter().sum::<f32>() + 4.0 * far_weight;
        for segment in 0..SEGMENTS {
            let (sin, cos) = (segment as f32 / SEGMENTS as f32 * std::f32::consts::TAU).sin_cos();
            let radius = RADIUS * (1.0 - 0.6 * up);
            positions.extend([cos * radius, up * HEIGHT, sin * radius]);
            normals.extend([cos, 0.0, sin]);
            joints.extend([0, 1, 2, 3].map(|i| (first + i) as u8));
            weights.extend(near.map(|weight| weight / sum));
            more_joints.extend(far);
            more_weights.extend([far_weight / sum; 4]);
        }
    }
    let mut indices: Vec<u32> = Vec::new();
    for (ring, segment) in (0..rings - 1).flat_map(|ring| (0..SEGMENTS).map(move |segment| (ring, segment))) {
        let next = (segment + 1) % SEGMENTS;
        let corner = |ring: usize, segment: usize| (ring * SEGMENTS + segment) as u32;
        let [a, b, c, d] =
            [corner(ring, segment), corner(ring + 1, segment), corner(ring, next), corner(ring + 1, next)];
        indices.extend([a, b, c, c, b, d]);
    }
    let step = HEIGHT / (JOINTS - 1) as f32;
    let binds: Vec<f32> = (0..JOINTS)
        .flat_map(|i| {
            let mut matrix = [0.0; 16];
            for diagonal in [0, 5, 10, 15] {
                matrix[diagonal] = 1.0;
            }
            matrix[13] = -(i as f32) * step;
            matrix
        })
        .collect();
    let position = file.floats("VEC3", &positions);
    file.json["accessors"][position]["min"] = json!([-RADIUS, 0.0, -RADIUS]);
    file.json["accessors"][position]["max"] = json!([RADIUS, HEIGHT, RADIUS]);
    let mut attributes = json!({
        "POSITION": position,
        "NORMAL": file.floats("VEC3", &normals),
        "JOINTS_0": file.accessor(&joints, 5121, "VEC4", joints.len() / 4),
        "WEIGHTS_0": file.floats("VEC4", &weights),
    });
    if eight {
        attributes["JOINTS_1"] = json!(file.accessor(&more_joints, 5121, "VEC4", more_joints.len() / 4));
        attributes["WEIGHTS_1"] = json!(file.floats("VEC4", &more_weights));
    }
    let targets: Vec<Value> = match morphs {
        true => (0..TARGETS).map(|target| file.target(target, &positions, &normals)).collect(),
        false => Vec::new(),
    };
    let words: Vec<u8> = indices.iter().flat_map(|i| i.to_le_bytes()).collect();
    let indices = file.accessor(&words, 5125, "SCALAR", indices.len());
    let mut primitive = json!({ "attributes": attributes, "indices": indices });
    if morphs {
        primitive["targets"] = json!(targets);
    }
    file.json["meshes"] = json!([{ "primitives": [primitive] }]);
    let binds = file.floats("MAT4", &binds);
    file.json["skins"] = json!([{ "joints": (0..JOINTS).collect::<Vec<_>>(), "inverseBindMatrices": binds }]);
    let joint = |i: usize| {
        let up = if i == 0 { 0.0 } else { step };
        let mut node = json!({ "name": format!("joint {i}"), "translation": [0.0, up, 0.0] });
        if i + 1 < JOINTS {
            node["children"] = json!([i + 1]);
        }
        node
    };
    let mut nodes: Vec<Value> = (0..JOINTS).map(joint).collect();
    nodes.push(json!({ "name": "tube", "mesh": 0, "skin": 0 }));
    file.json["nodes"] = json!(nodes);
    file.json["scenes"] = json!([{ "nodes": [0, JOINTS] }]);
    let clips: Vec<Value> = (0..CLIPS).map(|clip| file.clip(clip, morphs)).collect();
    file.json["animations"] = json!(clips);
    file.finish()
}

/// GLB file under construction.
struct File {
    json: Value,
    bin: Vec<u8>,
}

impl Default for File {
    fn default() -> Self {
        let json = json!({ "asset": { "version": "2.0" }, "scene": 0, "bufferViews": [], "accessors": [] });
        Self { json, bin: Vec::new() }
    }
}

impl File {
    fn accessor(&mut self, bytes: &[u8], component: u32, shape: &str, count: usize) -> usize {
        let offset = self.bin.len();
        self.bin.extend(bytes);
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let views = self.json["bufferViews"].as_array_mut().expect("a list");
        views.push(json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() }));
        let view = views.len() - 1;
        let accessors = self.json["accessors"].as_array_mut().expect("a list");
        accessors.push(json!({ "bufferView": view, "componentType": component, "type": shape, "count": count }));
        accessors.len() - 1
    }

    fn floats(&mut self, shape: &str, values: &[f32]) -> usize {
        let width = match shape {
            "SCALAR" => 1,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.accessor(&bytes, 5126, shape, values.len() / width)
    }

    /// Adds a morph target: a bulge around a place on the tube, which a fifth of its vertices have. As in a face, ten
    /// targets move a vertex.
    fn target(&mut self, target: usize, positions: &[f32], normals: &[f32]) -> Value {
        let middle = (target as f32 + 0.5) / TARGETS as f32 * HEIGHT;
        let (mut moved, mut turned) = (Vec::new(), Vec::new());
        for (position, normal) in positions.as_chunks::<3>().0.iter().zip(normals.as_chunks::<3>().0) {
            let away = (position[1] - middle).abs() / (0.1 * HEIGHT);
            let size = (1.0 - away).max(0.0) * 0.02;
            moved.extend(normal.map(|n| n * size));
            turned.extend([0.0, if size > 0.0 { (position[1] - middle).signum() * 0.1 } else { 0.0 }, 0.0]);
        }
        json!({ "POSITION": self.floats("VEC3", &moved), "NORMAL": self.floats("VEC3", &turned) })
    }

    /// Adds a clip: a wave through all joints, with another shape in each clip.
    /// With `morphs`, also of the weights of 20 targets.
    fn clip(&mut self, clip: usize, morphs: bool) -> Value {
        let times: Vec<f32> = (0..KEYS).map(|key| key as f32 / 30.0).collect();
        let input = self.floats("SCALAR", &times);
        let [least, most] = [0, KEYS - 1].map(|key| key as f32 / 30.0);
        self.json["accessors"][input]["min"] = json!([least]);
        self.json["accessors"][input]["max"] = json!([most]);
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        for joint in 0..JOINTS {
            let turn = |key: usize| {
                let cycle = key as f32 / (KEYS - 1) as f32;
                let wave = (cycle + joint as f32 * 0.02 * (clip + 1) as f32) * std::f32::consts::TAU;
                let (sin, cos) = (0.02 * wave.sin()).sin_cos();
                if clip.is_multiple_of(2) { [sin, 0.0, 0.0, cos] } else { [0.0, sin * 0.6, sin * 0.8, cos] }
            };
            let rotations: Vec<f32> = (0..KEYS).flat_map(turn).collect();
            let output = self.floats("VEC4", &rotations);
            samplers.push(json!({ "input": input, "output": output }));
            channels.push(json!({ "sampler": joint, "target": { "node": joint, "path": "rotation" } }));
        }
        if morphs {
            let weight = |key: usize, target: usize| {
                let cycle = key as f32 / (KEYS - 1) as f32 + target as f32 * 0.13;
                let moves = (target + clip * 7) % TARGETS < ACTIVE;
                if moves { 0.5 - 0.5 * (cycle * std::f32::consts::TAU).cos() } else { 0.0 }
            };
            let weights: Vec<f32> =
                (0..KEYS).flat_map(|key| (0..TARGETS).map(move |target| weight(key, target))).collect();
            let output = self.floats("SCALAR", &weights);
            channels.push(json!({ "sampler": samplers.len(), "target": { "node": JOINTS, "path": "weights" } }));
            samplers.push(json!({ "input": input, "output": output }));
        }
        json!({ "name": format!("wave {clip}"), "samplers": samplers, "channels": channels })
    }

    fn finish(mut self) -> Vec<u8> {
        self.json["buffers"] = json!([{ "byteLength": self.bin.len() }]);
        crate::glb::file(&self.json, self.bin)
    }
}
