//! Tolerances that give way: what misses one of them still meets the others.

use gpuskin_build::{BakeOptions, Baked, Manifest, Style, bake};
use serde_json::json;

use crate::common::build::Gltf;

const KEYS: usize = 61;

/// An object that appears for a moment, by scales of a bone and of its child that compensates, as Maya exports them; and a
/// bone that turns between any two of 15 frames per second and back, which no encoding follows.
fn compensated() -> Gltf {
    let mut g = Gltf::new();
    let [thin, flat] = [g.triangle(), g.triangle()];
    let parent = g.node(None, json!({ "name": "Parent" }));
    let child = g.node(Some(parent), json!({ "name": "Child", "mesh": thin, "translation": [0, 1, 0] }));
    let turned = g.node(None, json!({ "name": "Turned", "mesh": flat }));
    let input = g.floats("SCALAR", &(0..KEYS).map(|key| key as f32 / 30.0).collect::<Vec<_>>());
    let shown = |key: usize| (10..12).contains(&key);
    let shrinks: Vec<f32> = (0..KEYS).flat_map(|key| [if shown(key) { 0.24 } else { 1e-8 }; 3]).collect();
    let grows: Vec<f32> = (0..KEYS).flat_map(|key| [if shown(key) { 1.0 / 0.24 } else { 8e-8 }; 3]).collect();
    let turns: Vec<f32> =
        (0..KEYS).flat_map(|key| if key % 2 == 0 { [0.0, 0.0, 0.0, 1.0] } else { [0.0, 0.0, 0.6, 0.8] }).collect();
    let outputs = [g.floats("VEC3", &shrinks), g.floats("VEC3", &grows), g.floats("VEC4", &turns)];
    let samplers = outputs.map(|output| json!({ "input": input, "output": output }));
    let targets = [(parent, "scale"), (child, "scale"), (turned, "rotation")];
    let channels: Vec<_> = (0..)
        .zip(targets)
        .map(|(sampler, (node, path))| json!({ "sampler": sampler, "target": { "node": node, "path": path } }))
        .collect();
    g.push("animations", json!({ "name": "blink", "channels": channels, "samplers": samplers }));
    g
}

fn baked(keys: &str) -> Baked {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("model.glb"), compensated().glb()).unwrap();
    let text = format!("[[model]]\nname = \"model\"\npath = \"model.glb\"\nfps = 15\n{keys}");
    let manifest = Manifest::parse(&folder.path().join("gpuskin.toml"), text);
    let manifest = manifest.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(Style::Plain)));
    let options = BakeOptions { explain: true, ..BakeOptions::default() };
    bake(&manifest, &options).unwrap_or_else(|failed| panic!("{}", failed.diagnostics))
}

#[test]
fn errors_between_frames_leave_those_at_frames_small() {
    let masks = "[model.masks]\nall = { root = \"Parent\" }\n";
    let [chosen, named] = ["", "encoding = \"local-packed\"\n"].map(|keys| baked(&format!("{keys}{masks}")));
    let error = |baked: &Baked| baked.models[0].meta.clips[0].encoding_error.max;
    let limit = chosen.models[0].meta.rest_bounds.diagonal() * 5e-5;
    assert!(error(&named) <= limit, "{} of {limit}", error(&named));
    assert!(error(&chosen) <= limit, "{} of {limit}", error(&chosen));
    let warnings = chosen.warnings.to_string();
    assert!(warnings.contains("sets no `motion_tolerance`"), "{warnings}");
    let candidates = &chosen.models[0].candidates;
    let candidate = candidates.iter().find(|candidate| candidate.refused.is_none()).unwrap();
    assert_eq!(candidate.errors[0].encoding.max, error(&chosen), "what is explained is what is baked");
}
