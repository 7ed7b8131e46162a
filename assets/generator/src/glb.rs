//! Writes a model as binary glTF 2.0. The keys of JSON objects are sorted, so the bytes depend on
//! the model alone.

use crate::mesh::Part;
use crate::skeleton::{Clip, FPS, Pose, Skeleton};
use glam::{DQuat, DVec3};
use serde_json::{Value, json};

pub(crate) struct Material {
    pub(crate) name: &'static str,
    /// Linear base colour factor.
    pub(crate) color: [f64; 3],
    pub(crate) textured: bool,
    pub(crate) metallic: f64,
    pub(crate) roughness: f64,
}

/// Parts that share a material; the number is an index into [`Model::materials`].
pub(crate) type Primitive = (usize, Vec<Part>);

/// Mesh without a skin, rigidly attached to a bone.
pub(crate) struct Rigid {
    pub(crate) name: &'static str,
    pub(crate) bone: usize,
    /// Translation in the bone's space, metres.
    pub(crate) translation: DVec3,
    pub(crate) rotation: DQuat,
    pub(crate) primitives: Vec<Primitive>,
}

pub(crate) struct Model {
    pub(crate) name: &'static str,
    pub(crate) skeleton: Skeleton,
    pub(crate) materials: Vec<Material>,
    /// PNG file of the base colour texture.
    pub(crate) texture: Vec<u8>,
    pub(crate) body: Vec<Primitive>,
    pub(crate) rigid: Vec<Rigid>,
    pub(crate) clips: Vec<Clip>,
}

const FLOAT: u32 = 5126;
const U16: u32 = 5123;
const U8: u32 = 5121;
const ARRAY: u32 = 34962;
const ELEMENTS: u32 = 34963;

#[derive(Default)]
struct Writer {
    bin: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Writer {
    fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let mut view = json!({ "buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len() });
        if let Some(target) = target {
            view["target"] = target.into();
        }
        self.bin.extend(bytes);
        self.views.push(view);
        self.views.len() - 1
    }

    /// Adds an accessor with its own buffer view.
    fn accessor(&mut self, bytes: &[u8], target: Option<u32>, component: u32, kind: &str, count: usize) -> usize {
        let view = self.view(bytes, target);
        self.accessors.push(json!({ "bufferView": view, "componentType": component, "type": kind, "count": count }));
        self.accessors.len() - 1
    }

    fn floats<const N: usize>(&mut self, values: &[[f64; N]], target: Option<u32>, kind: &str, bounds: bool) -> usize {
        let rows: Vec<[f32; N]> = values.iter().map(|v| v.map(|x| x as f32)).collect();
        let bytes: Vec<u8> = rows.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        let index = self.accessor(&bytes, target, FLOAT, kind, rows.len());
        if bounds {
            let fold = |f: fn(f32, f32) -> f32| -> Vec<f32> {
                (0..N).map(|i| rows.iter().map(|r| r[i]).reduce(f).unwrap()).collect()
            };
            self.accessors[index]["min"] = fold(f32::min).into();
            self.accessors[index]["max"] = fold(f32::max).into();
        }
        index
    }

    fn mesh(&mut self, name: &str, primitives: &[Primitive], skinned: bool) -> Value {
        let mut list = Vec::new();
        for (material, parts) in primitives {
            let vertices: Vec<_> = parts.iter().flat_map(|p| &p.vertices).collect();
            let column = |f: fn(DVec3) -> [f64; 3], g: &dyn Fn(usize) -> DVec3| {
                (0..vertices.len()).map(|i| f(g(i))).collect::<Vec<_>>()
            };
            let positions = column(|v| v.to_array(), &|i| vertices[i].position);
            let normals = column(|v| v.to_array(), &|i| vertices[i].normal);
            let uvs: Vec<[f64; 2]> = vertices.iter().map(|v| v.uv.to_array()).collect();
            let mut attributes = json!({
                "POSITION": self.floats(&positions, Some(ARRAY), "VEC3", true),
                "NORMAL": self.floats(&normals, Some(ARRAY), "VEC3", false),
                "TEXCOORD_0": self.floats(&uvs, Some(ARRAY), "VEC2", false),
            });
            if skinned {
                let bones: Vec<u8> = vertices.iter().flat_map(|v| v.skin.bones).collect();
                let weights: Vec<u8> = vertices.iter().flat_map(|v| v.skin.weights).collect();
                attributes["JOINTS_0"] = self.accessor(&bones, Some(ARRAY), U8, "VEC4", vertices.len()).into();
                let w = self.accessor(&weights, Some(ARRAY), U8, "VEC4", vertices.len());
                self.accessors[w]["normalized"] = true.into();
                attributes["WEIGHTS_0"] = w.into();
            }
            let mut indices = Vec::new();
            let mut base = 0;
            for part in parts {
                for i in part.triangles.iter().flatten() {
                    indices.push(u16::try_from(base + i).expect("a primitive has at most 65,536 vertices"));
                }
                base += part.vertices.len() as u32;
            }
            let bytes: Vec<u8> = indices.iter().flat_map(|i| i.to_le_bytes()).collect();
            let indices = self.accessor(&bytes, Some(ELEMENTS), U16, "SCALAR", indices.len());
            list.push(json!({ "attributes": attributes, "indices": indices, "material": material }));
        }
        json!({ "name": name, "primitives": list })
    }

    /// Writes channels only for bones that move: a rotation that equals the node's needs none.
    fn clip(&mut self, clip: &Clip, skeleton: &Skeleton, first_bone: usize) -> Value {
        let step = clip.spline.unwrap_or(1);
        let picked: Vec<&Pose> = clip.frames.iter().step_by(step).collect();
        let times: Vec<[f64; 1]> = (0..picked.len()).map(|i| [(i * step) as f64 / FPS]).collect();
        let input = self.floats(&times, None, "SCALAR", true);
        let seconds = step as f64 / FPS;
        let mode = if clip.spline.is_some() { "CUBICSPLINE" } else { "LINEAR" };
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        let mut push = |bone: usize, path: &str, output: usize| {
            channels.push(json!({ "sampler": samplers.len(), "target": { "node": first_bone + bone, "path": path } }));
            samplers.push(json!({ "input": input, "output": output, "interpolation": mode }));
        };
        let root: Vec<[f64; 3]> = picked.iter().map(|p| (p.root + skeleton.bones[0].at).to_array()).collect();
        push(0, "translation", self.floats(&with_tangents(root, clip, seconds), None, "VEC3", false));
        for bone in 0..skeleton.bones.len() {
            let mut keys: Vec<[f64; 4]> = Vec::new();
            for pose in &picked {
                let mut q = pose.local[bone].to_array();
                // q and -q are the same rotation; neighbouring keys get the same sign.
                let before = keys.last().copied().unwrap_or([0.0, 0.0, 0.0, 1.0]);
                if q.iter().zip(before).map(|(a, b)| a * b).sum::<f64>() < 0.0 {
                    q = q.map(|x| -x);
                }
                keys.push(q);
            }
            let still = keys.iter().all(|k| k.iter().zip([0.0, 0.0, 0.0, 1.0]).all(|(a, b)| libm::fabs(a - b) < 1e-6));
            if !still {
                let output = self.floats(&with_tangents(keys, clip, seconds), None, "VEC4", false);
                push(bone, "rotation", output);
            }
        }
        let mut animation = json!({ "name": clip.name, "samplers": samplers, "channels": channels });
        animation["extras"] = json!({ "loop": clip.looped });
        if let Some(speed) = clip.speed {
            animation["extras"]["speed"] = speed.into();
        }
        animation
    }
}

/// Adds tangents for CUBICSPLINE, which needs (in-tangent, value, out-tangent) per key, tangents
/// per second. LINEAR keys stay as they are.
fn with_tangents<const N: usize>(keys: Vec<[f64; N]>, clip: &Clip, seconds: f64) -> Vec<[f64; N]> {
    if clip.spline.is_none() {
        return keys;
    }
    let last = keys.len() - 1;
    let mut out = Vec::with_capacity(keys.len() * 3);
    for (i, key) in keys.iter().enumerate() {
        let (before, after) = match (i, clip.looped) {
            (0, true) => (last - 1, 1),
            (i, true) if i == last => (last - 1, 1),
            _ => (i.saturating_sub(1), (i + 1).min(last)),
        };
        let tangent = core::array::from_fn(|c| (keys[after][c] - keys[before][c]) / (2.0 * seconds));
        out.extend([tangent, *key, tangent]);
    }
    out
}

/// Returns the bytes of the whole file.
pub(crate) fn write(model: &Model) -> Vec<u8> {
    let mut w = Writer::default();
    let bones = &model.skeleton.bones;
    let round = |v: DVec3| v.to_array().map(|x| libm::round(x * 1e6) / 1e6);
    // Node 0 is the model, then the bones, then the skinned mesh and the rigid ones.
    let first_bone = 1;
    let body = first_bone + bones.len();
    let mut nodes = vec![json!({ "name": model.name, "children": [first_bone] })];
    for (i, bone) in bones.iter().enumerate() {
        let mut node = json!({ "name": bone.name, "translation": round(model.skeleton.local_offset(i)) });
        let mut children: Vec<usize> =
            (0..bones.len()).filter(|&c| bones[c].parent == Some(i)).map(|c| first_bone + c).collect();
        children.extend(model.rigid.iter().enumerate().filter(|(_, r)| r.bone == i).map(|(k, _)| body + 1 + k));
        if !children.is_empty() {
            node["children"] = children.into();
        }
        nodes.push(node);
    }
    nodes.push(json!({ "name": "Body", "mesh": 0, "skin": 0 }));
    let mut meshes = vec![w.mesh("Body", &model.body, true)];
    for rigid in &model.rigid {
        let mut node = json!({ "name": rigid.name, "mesh": meshes.len() });
        if rigid.translation != DVec3::ZERO {
            node["translation"] = round(rigid.translation).into();
        }
        if rigid.rotation != DQuat::IDENTITY {
            node["rotation"] = rigid.rotation.to_array().map(|x| x as f32).into();
        }
        nodes.push(node);
        meshes.push(w.mesh(rigid.name, &rigid.primitives, false));
    }
    let inverse: Vec<[f64; 16]> = (0..bones.len())
        .map(|i| {
            // The sum of the rounded offsets up to the root, so that matrix and nodes agree.
            let mut at = [0.0; 3];
            let mut b = Some(i);
            while let Some(k) = b {
                at = core::array::from_fn(|c| at[c] + round(model.skeleton.local_offset(k))[c]);
                b = bones[k].parent;
            }
            [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -at[0], -at[1], -at[2], 1.0]
        })
        .collect();
    let inverse = w.floats(&inverse, None, "MAT4", false);
    let joints: Vec<usize> = (0..bones.len()).map(|i| first_bone + i).collect();
    let animations: Vec<Value> = model.clips.iter().map(|c| w.clip(c, &model.skeleton, first_bone)).collect();
    let image = w.view(&model.texture, None);
    let materials: Vec<Value> = model
        .materials
        .iter()
        .map(|m| {
            let mut pbr = json!({ "metallicFactor": m.metallic, "roughnessFactor": m.roughness });
            if m.textured {
                pbr["baseColorTexture"] = json!({ "index": 0 });
            } else {
                pbr["baseColorFactor"] = json!([m.color[0], m.color[1], m.color[2], 1.0]);
            }
            json!({ "name": m.name, "pbrMetallicRoughness": pbr })
        })
        .collect();
    w.bin.resize(w.bin.len().next_multiple_of(4), 0);
    let document = json!({
        "asset": { "version": "2.0", "generator": "gpuskin-assets" },
        "scene": 0,
        "scenes": [{ "name": model.name, "nodes": [0, body] }],
        "nodes": nodes,
        "meshes": meshes,
        "skins": [{ "name": model.name, "inverseBindMatrices": inverse, "joints": joints, "skeleton": first_bone }],
        "animations": animations,
        "materials": materials,
        "textures": [{ "source": 0, "sampler": 0 }],
        "samplers": [{ "magFilter": 9729, "minFilter": 9987 }],
        "images": [{ "name": model.name, "bufferView": image, "mimeType": "image/png" }],
        "accessors": w.accessors,
        "bufferViews": w.views,
        "buffers": [{ "byteLength": w.bin.len() }],
    });
    let mut text = String::new();
    sorted(&document, &mut text);
    text.push_str(&" ".repeat(text.len().next_multiple_of(4) - text.len()));
    let total = 12 + 8 + text.len() + 8 + w.bin.len();
    let mut out = b"glTF".to_vec();
    out.extend(2u32.to_le_bytes());
    out.extend((total as u32).to_le_bytes());
    for (kind, data) in [(b"JSON", text.as_bytes()), (b"BIN\0", &w.bin)] {
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(kind);
        out.extend(data);
    }
    out
}

/// Writes JSON with sorted object keys, whatever map type serde_json was built with.
fn sorted(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by(|a, b| a.0.cmp(b.0));
            out.push('{');
            for (i, (key, value)) in entries.into_iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                out.push_str(&json!(key).to_string());
                out.push(':');
                sorted(value, out);
            }
            out.push('}');
        }
        Value::Array(list) => {
            out.push('[');
            for (i, value) in list.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                sorted(value, out);
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}
