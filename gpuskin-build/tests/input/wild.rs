//! glTF as exporters write it: mirrors, vertex colours, scenes, strips, and features that are not
//! drawn.

use crate::common::build::{Gltf, figure};
use crate::common::{Outcome, warned};
use glam::{DMat3, DMat4, DVec3};
use gpuskin_build::internals::model::{Local, Model, Primitive};
use serde_json::json;

/// Returns corners and normal of a triangle in the rest pose.
fn drawn(model: &Model, primitive: &Primitive, triangle: usize) -> ([DVec3; 3], DVec3) {
    let mut global = vec![DMat4::IDENTITY; model.nodes.len()];
    for &i in &model.order {
        let local = match model.nodes[i].local {
            Local::Trs(t) => DMat4::from_scale_rotation_translation(t.scale, t.rotation, t.translation),
            Local::Matrix(m) => m,
        };
        global[i] = model.nodes[i].parent.map_or(local, |p| global[p] * local);
    }
    let skin = |v: usize| {
        let mut sum = DMat4::ZERO;
        for (bone, weight) in primitive.influences.of(v) {
            let bone = &model.bones[usize::from(*bone)];
            sum += global[bone.node] * bone.inverse_bind * *weight;
        }
        sum
    };
    let corners = primitive.triangles[triangle].map(|v| v as usize);
    let normal = primitive.normals.as_ref().map_or(DVec3::ZERO, |n| n[corners[0]]);
    let normal = DMat3::from_mat4(skin(corners[0])).inverse().transpose() * normal;
    (corners.map(|v| skin(v).transform_point3(primitive.positions[v])), normal.normalize_or_zero())
}

/// Whether all triangles are counter-clockwise around their normals, as in the source meshes.
fn seen_from_outside(model: &Model) -> bool {
    model.primitives.iter().all(|p| {
        (0..p.triangles.len()).all(|t| {
            let ([a, b, c], normal) = drawn(model, p, t);
            (b - a).cross(c - a).dot(normal) > 0.0
        })
    })
}

#[test]
fn mirrored_meshes_keep_their_front_faces() {
    let with = |change: &dyn Fn(&mut Gltf)| {
        let mut g = figure();
        change(&mut g);
        g.import()
    };
    assert!(seen_from_outside(with(&|_| {}).model()));
    // A mirrored root, as exporters of left-handed tools write it.
    for scale in [json!([-1, 1, 1]), json!([1, 1, -2]), json!([-1, -1, -1])] {
        let outcome = with(&|g| g.json["nodes"][0]["scale"] = scale.clone());
        let model = outcome.model();
        assert!(seen_from_outside(model), "{scale}");
        let body = model.primitives.iter().find(|p| p.skin.is_some()).expect("skinned");
        assert_eq!(body.triangles[0], [0, 2, 1]);
        assert!(!outcome.warnings().iter().any(|w| w.contains("mirror")), "{:?}", outcome.warnings());
        // Vertex positions are those of the file, mirrored by the root.
        let still = with(&|_| {});
        let (here, there) = (drawn(model, body, 0).0, drawn(still.model(), &still.model().primitives[0], 0).0);
        let s: Vec<f64> = scale.as_array().expect("a list").iter().map(|x| x.as_f64().expect("number")).collect();
        let expected = [there[0], there[2], there[1]].map(|p| p * DVec3::new(s[0], s[1], s[2]));
        assert!(here.iter().zip(expected).all(|(a, b)| a.distance(b) < 1e-6), "found {here:?}, expected {expected:?}");
    }
    // Mirrored bones with mirrored inverse bind matrices need no correction.
    let outcome = with(&|g| {
        g.json["nodes"][0]["scale"] = json!([-1, 1, 1]);
        let matrices = g.json["skins"][0]["inverseBindMatrices"].as_u64().expect("index") as usize;
        let view = g.json["accessors"][matrices]["bufferView"].as_u64().expect("index") as usize;
        let at = g.json["bufferViews"][view]["byteOffset"].as_u64().expect("offset") as usize;
        for matrix in 0..3 {
            for row in 0..3 {
                // Flips the signs of the first column.
                g.bin[at + matrix * 64 + row * 4 + 3] ^= 0x80;
            }
        }
    });
    assert_eq!(outcome.model().primitives[0].triangles[0], [0, 1, 2]);
    // If only one of two joints is mirrored, no winding is right, and a warning says so.
    warned(&with(&|g| g.json["nodes"][2]["scale"] = json!([-1, 1, 1])), &["node 3 `Body`", "some joints", "mirror"]);
}

fn colored(colors: &[f32], shape: &str) -> Gltf {
    let mut g = figure();
    let accessor = g.floats(shape, colors);
    g.push("materials", json!({ "name": "Cloth", "pbrMetallicRoughness": { "baseColorFactor": [0.5, 1, 1, 1] } }));
    let primitive = &mut g.json["meshes"][0]["primitives"][0];
    primitive["attributes"]["COLOR_0"] = json!(accessor);
    primitive["material"] = json!(0);
    g
}

#[test]
fn vertex_colours_are_merged_or_kept() {
    // One colour for all vertices of a material becomes the colour of the material.
    let outcome = colored(&[0.5, 0.25, 1.0].repeat(3), "VEC3").import();
    let model = outcome.model();
    assert_eq!(model.materials[0].base_color, [0.25, 0.25, 1.0, 1.0]);
    assert!(model.primitives.iter().all(|p| p.colors.is_none()));
    assert!(!outcome.warnings().iter().any(|w| w.contains("COLOR_0")));
    // Different colours are kept.
    let several = [1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.5];
    let outcome = colored(&several, "VEC4").import();
    assert!(!outcome.warnings().iter().any(|w| w.contains("COLOR_0")));
    let colors = outcome.model().primitives[0].colors.as_ref().expect("kept");
    assert_eq!(colors.concat(), several);
    // White has no effect beside vertices without colours; another colour is kept.
    let shared = |color: f32| {
        let mut g = colored(&[color; 9], "VEC3");
        g.json["meshes"][1]["primitives"][0]["material"] = json!(0);
        g.import()
    };
    let kept = |color| shared(color).model().primitives.iter().filter(|p| p.colors.is_some()).count();
    assert_eq!((kept(1.0), kept(0.5)), (0, 1));
    // Normalised integers, and numbers that are not finite.
    let mut g = colored(&[0.0; 9], "VEC3");
    let bytes = g.bytes("VEC4", 3, &[255, 0, 51, 255].repeat(3));
    g.json["accessors"][bytes]["normalized"] = json!(true);
    g.json["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = json!(bytes);
    assert_eq!(g.import().model().materials[0].base_color, [0.5, 0.0, 0.2, 1.0]);
    warned(&colored(&[f32::NAN; 9], "VEC3").import(), &["primitive 0", "COLOR_0", "9 numbers are not finite"]);
    let outcome = colored(&[7.0, -1.0, 0.5].repeat(3), "VEC3").import();
    warned(&outcome, &["primitive 0", "COLOR_0", "6 numbers are outside of 0..1"]);
    assert_eq!(outcome.model().materials[0].base_color, [0.5, 0.0, 0.5, 1.0]);
}

#[test]
fn specular_glossiness_uses_the_diffuse_colour() {
    let mut g = figure();
    let glossy = json!({ "diffuseFactor": [1, 0.5, 0, 1], "specularFactor": [0, 0, 0] });
    g.push("materials", json!({ "name": "Old", "extensions": { "KHR_materials_pbrSpecularGlossiness": glossy } }));
    g.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    let outcome = g.import();
    warned(&outcome, &["material 0 `Old`", "diffuse colour is drawn"]);
    assert_eq!(outcome.model().materials[0].base_color, [1.0, 0.5, 0.0, 1.0]);
    // The core base colour takes precedence.
    g.json["materials"][0]["pbrMetallicRoughness"] = json!({ "baseColorFactor": [0, 0, 1, 1] });
    assert_eq!(g.import().model().materials[0].base_color, [0.0, 0.0, 1.0, 1.0]);
}

#[test]
fn unsupported_material_extensions_warn() {
    let mut g = figure();
    let coat = json!({ "KHR_materials_transmission": { "transmissionFactor": 1 }, "KHR_materials_iridescence": {} });
    for i in 0..7 {
        let material = g.push("materials", json!({ "name": format!("Lack{i}"), "extensions": coat }));
        let mesh = g.json["meshes"][0].clone();
        let mesh = g.push("meshes", mesh);
        g.json["meshes"][mesh]["primitives"][0]["material"] = json!(material);
        g.node(None, json!({ "mesh": mesh, "skin": 0 }));
    }
    g.push("materials", json!({ "name": "Unused", "extensions": { "KHR_materials_dispersion": {} } }));
    let unlit = json!({ "KHR_materials_unlit": {}, "KHR_materials_dispersion": {} });
    g.push("materials", json!({ "name": "Flat", "extensions": unlit }));
    g.json["meshes"][0]["primitives"][0]["material"] = json!(8);
    g.json["extensionsUsed"] = json!(["KHR_materials_transmission", "VENDOR_physics", "KHR_lights_punctual"]);
    let outcome = g.import();
    warned(&outcome, &["`Lack0`", "and 2 more", "`KHR_materials_iridescence`, `KHR_materials_transmission`"]);
    warned(&outcome, &["`Flat` are not drawn: `KHR_materials_dispersion`"]);
    assert!(!outcome.warnings().iter().any(|w| w.contains("unlit")));
    let drawn = &outcome.model().materials;
    assert_eq!(drawn.iter().filter(|m| m.unlit).map(|m| &*m.name).collect::<Vec<_>>(), ["Flat"]);
    warned(&outcome, &["unknown extensions: `VENDOR_physics`"]);
    let warnings = outcome.warnings();
    assert_eq!(warnings.iter().filter(|w| w.contains("transmission")).count(), 1, "{warnings:#?}");
    assert!(!warnings.iter().any(|w| w.contains("Unused") || w.contains("punctual")), "{warnings:#?}");
}

#[test]
fn vrm_files_say_what_is_left_out() {
    for (used, listed) in [
        (json!(["VRM", "KHR_materials_unlit"]), "of the VRM extensions `VRM`, only the humanoid bones are read"),
        (json!(["VRMC_vrm", "VRMC_springBone"]), "of the VRM extensions `VRMC_springBone`, `VRMC_vrm`, only"),
    ] {
        let mut g = figure();
        let toon = json!({ "VRMC_materials_mtoon": { "specVersion": "1.0" } });
        let material = g.push("materials", json!({ "name": "Hair", "extensions": toon }));
        g.json["meshes"][0]["primitives"][0]["material"] = json!(material);
        g.json["extensionsUsed"] = used.clone();
        g.json["extensionsRequired"] = used;
        let outcome = g.import();
        warned(&outcome, &[listed]);
        assert_eq!(outcome.warnings().len(), 1, "{:#?}", outcome.warnings());
    }
}

#[test]
fn default_scene_is_baked_and_others_warn() {
    let mut g = figure();
    let mesh = g.triangle();
    let extra = g.push("nodes", json!({ "name": "Tree", "mesh": mesh }));
    g.push("scenes", json!({ "name": "Forest", "nodes": [extra] }));
    let outcome = g.import();
    warned(&outcome, &["2 scenes", "`scene 0` (the default)", "not `Forest`"]);
    assert!(outcome.model().primitives.iter().all(|p| p.node != extra));
    g.json["scene"] = json!(1);
    g.clip("Sway", &[extra]);
    let outcome = g.import();
    warned(&outcome, &["`Forest` (the default)", "not `scene 0`"]);
    assert_eq!(outcome.model().primitives.iter().map(|p| p.node).collect::<Vec<_>>(), [extra]);
    g.json.as_object_mut().expect("object").remove("scene");
    warned(&g.import(), &["`scene 0` (the first"]);
}

#[test]
fn strips_and_fans_become_triangles() {
    let triangles = |mode: u32, indices: Option<(u32, Vec<u8>)>| {
        let mut g = Gltf::new();
        let corners: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]];
        let position = g.floats("VEC3", corners.as_flattened());
        let mut primitive = json!({ "attributes": { "POSITION": position }, "mode": mode });
        if let Some((component, bytes)) = indices {
            let size = match component {
                5121 => 1,
                5123 => 2,
                _ => 4,
            };
            let accessor = g.bytes("SCALAR", bytes.len() / size, &bytes);
            g.json["accessors"][accessor]["componentType"] = json!(component);
            primitive["indices"] = json!(accessor);
        }
        let mesh = g.push("meshes", json!({ "primitives": [primitive] }));
        let node = g.node(None, json!({ "mesh": mesh }));
        g.clip("Hop", &[node]);
        g.import()
    };
    let list = |outcome: &Outcome| outcome.model().primitives[0].triangles.clone();
    assert_eq!(list(&triangles(4, None)), [[0, 1, 2]]);
    assert_eq!(list(&triangles(5, None)), [[0, 1, 2], [1, 3, 2]]);
    assert_eq!(list(&triangles(6, None)), [[1, 2, 0], [2, 3, 0]]);
    let wide = |size: usize| [0_u32, 1, 3, 0, 3, 2].iter().flat_map(|i| i.to_le_bytes()[..size].to_vec()).collect();
    for (component, size) in [(5121, 1), (5123, 2), (5125, 4)] {
        assert_eq!(list(&triangles(4, Some((component, wide(size))))), [[0, 1, 3], [0, 3, 2]]);
    }
    // Strips joined by degenerate triangles, a list that is one index short, and degenerate
    // triangles only.
    assert_eq!(list(&triangles(5, Some((5121, vec![0, 1, 2, 2, 3])))), [[0, 1, 2]]);
    assert_eq!(list(&triangles(4, Some((5121, vec![0, 1, 2, 3, 3])))), [[0, 1, 2]]);
    assert!(list(&triangles(4, Some((5121, vec![1, 1, 1])))).is_empty());
    let outcome = triangles(5, Some((5121, vec![0, 1, 2, 255, 1, 2, 3])));
    assert!(outcome.errors().iter().any(|e| e.contains("index 3 is 255")), "{:?}", outcome.errors());
}
