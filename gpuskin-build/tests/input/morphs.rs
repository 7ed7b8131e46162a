//! Morph targets: their deltas, weights and diagnostics.

use crate::common::build::Gltf;
use crate::common::samples::{face, talk};
use crate::common::{Outcome, refused, warned};
use glam::{DMat4, DVec3};
use serde_json::{Value, json};

#[track_caller]
fn near(a: &[f64], b: &[f64]) {
    assert!(a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6), "found {a:?}, expected {b:?}");
}

#[test]
fn nodes_with_one_mesh_have_separate_weights() {
    let mut g = face();
    talk(&mut g, "LINEAR", &[0.0, 1.0], &[0.0, 0.0, 1.0, 0.5]);
    let outcome = g.import();
    let model = outcome.model();
    near(&model.nodes[0].weights, &[0.5, 0.1]);
    near(&model.nodes[1].weights, &[0.0, 1.0]);
    let curve = &model.clips[0].morphs[0].curve;
    assert_eq!((curve.targets, &curve.values[..], &curve.times[..]), (2, &[0.0, 0.0, 1.0, 0.5][..], &[0.0, 1.0][..]));
    assert_eq!(model.clips[0].morphs.len(), 1);
    let [face, twin] = &model.primitives[..] else { panic!("two primitives") };
    near(&face.position(2, &[0.5, 0.1]).to_array(), &[0.0, 1.0, 1.0]);
    near(&face.position(0, &[0.5, 0.1]).to_array(), &[0.4, 0.0, 0.0]);
    near(&face.normal(2, &[0.5, 0.1]).expect("normals").to_array(), &[0.0, 0.5, 1.0]);
    assert!(face.targets[1].normals.is_none());
    // The scale of node `Twin` is applied to its vertices, and so to its targets.
    let bone = usize::from(twin.influences.of(0)[0].0);
    let bone = &model.bones[bone];
    let global = if bone.node == 1 { DMat4::from_scale(DVec3::splat(2.0)) } else { DMat4::IDENTITY };
    let to_scene = global * bone.inverse_bind;
    near(&to_scene.transform_point3(twin.position(0, &[0.0, 1.0])).to_array(), &[8.0, 0.0, 0.0]);
    let normal = twin.normal(2, &[0.5, 0.0]).expect("normals").normalize();
    near(&normal.to_array(), &DVec3::new(0.0, 0.5, 1.0).normalize().to_array());
}

/// Imports the model without its morph targets.
fn without(g: &Gltf) -> Outcome {
    g.import_with(|entry| entry.morphs = false)
}

#[test]
fn morph_loss_is_reported_in_metres() {
    let mut g = face();
    // The first target moves a vertex by 2 m, and by 3 m at the middle key. Node `Twin` has scale
    // 2, so its 4 m are 8 m, at rest.
    talk(&mut g, "LINEAR", &[0.0, 1.0, 2.0], &[0.0, 0.0, 1.5, 0.0, 0.0, 0.0]);
    warned(&without(&g), &["morph targets are not baked", "up to 8.00 m", "`Twin`", "in the rest pose"]);
    g.json["nodes"][1]["weights"] = json!([0, 0]);
    warned(&without(&g), &["morph targets are not baked", "up to 3.00 m", "`Face`", "clip `Talk` at 1.000 s"]);
    g.json["animations"][0]["samplers"][0]["output"] = g.json["animations"][0]["samplers"][0]["input"].clone();
    refused(&without(&g), &["clip `Talk`, channel 0", "node 0 `Face`", "has 3 values, but 3 keys need 6"]);

    let mut g = face();
    for node in 0..2 {
        g.json["nodes"][node]["weights"] = json!([0, 0]);
    }
    g.clip("Hop", &[0]);
    warned(&without(&g), &["morph targets are not baked", "no clip uses them"]);
}

#[test]
fn mismatched_counts_warn_or_fail() {
    let change = |place: &str, value: Value| {
        let mut g = face();
        g.clip("Hop", &[0]);
        *g.json.pointer_mut(place).expect("a place") = value;
        g.import()
    };
    let outcome = change("/meshes/0/weights", json!([1]));
    warned(&outcome, &["node 0 `Face`", "1 weights for 2 morph targets", "missing weights are set to 0"]);
    near(&outcome.model().nodes[0].weights, &[1.0, 0.0]);
    let outcome = change("/nodes/1/weights", json!([1, 0, 3]));
    warned(&outcome, &["node 1 `Twin`", "3 weights for 2 morph targets", "are ignored"]);
    near(&outcome.model().nodes[1].weights, &[1.0, 0.0]);
    refused(&change("/nodes/1/weights", json!([1e300, 0])), &["node 1 `Twin`", "range of f32"]);
    let target = "/meshes/0/primitives/0/targets/0/POSITION";
    refused(
        &change(target, json!(99)),
        &["mesh 0 `Triangle`, primitive 0", "target 0, POSITION", "accessor 99 does not exist"],
    );
    let many = vec![json!({}); 2000];
    refused(&change("/meshes/0/primitives/0/targets", json!(many)), &["2000 morph targets; at most 1024"]);

    let mut g = face();
    let short = g.floats("VEC3", &[0.0; 6]);
    g.json["meshes"][0]["primitives"][0]["targets"][1]["POSITION"] = json!(short);
    refused(&g.import(), &["target 1, POSITION", "2 elements", "3"]);
    let nan = g.floats("VEC3", &[0.0, 0.0, f32::NAN, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    g.json["meshes"][0]["primitives"][0]["targets"][1]["POSITION"] = json!(nan);
    refused(&g.import(), &["target 1, POSITION", "element 0 is not finite"]);
}

#[test]
fn ignored_attributes_and_channels_warn() {
    let mut g = face();
    let delta = g.json["meshes"][0]["primitives"][0]["targets"][0]["POSITION"].clone();
    g.json["meshes"][0]["primitives"][0]["targets"][0]["COLOR_0"] = delta.clone();
    g.json["meshes"][0]["primitives"][0]["targets"][0]["TANGENT"] = delta;
    talk(&mut g, "LINEAR", &[0.0, 1.0], &[0.0, 0.0, 1.0, 0.5]);
    let outcome = g.import();
    warned(&outcome, &["mesh 0 `Triangle`, primitive 0", "`COLOR_0`", "are ignored"]);
    warned(&outcome, &["morph targets of `TANGENT` are ignored"]);
    // Weights of a node without targets; the last of two channels.
    let mesh = g.triangle();
    g.node(None, json!({ "name": "Plain", "mesh": mesh }));
    let channels = g.json["animations"][0]["channels"].as_array_mut().expect("a list");
    channels.push(json!({ "sampler": 0, "target": { "node": 2, "path": "weights" } }));
    channels.push(json!({ "sampler": 0, "target": { "node": 0, "path": "weights" } }));
    let outcome = g.import();
    warned(&outcome, &["clip `Talk`", "node 2 `Plain`", "no morph targets"]);
    warned(&outcome, &["node 0 `Face`: weights has two channels; the last one is used"]);
    assert_eq!(outcome.model().clips[0].morphs.len(), 1);
}
