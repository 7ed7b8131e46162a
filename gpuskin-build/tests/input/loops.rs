//! Loops: guesses, warnings, and seams that are closed.

use gpuskin_build::{BakeOptions, BakedModel, Manifest, Style, bake};
use serde_json::json;

use crate::common::build::{Gltf, figure};

/// Returns a figure whose spine rises by `gap` metres during a clip of this name.
fn rises(name: &str, gap: f32) -> Gltf {
    let mut g = figure();
    let input = g.floats("SCALAR", &[0.0, 0.5, 1.0]);
    let output = g.floats("VEC3", &[0.0, 1.0, 0.0, 0.3, 1.0, 0.0, 0.0, 1.0 + gap, 0.0]);
    let channel = json!({ "sampler": 0, "target": { "node": 1, "path": "translation" } });
    let samplers = json!([{ "input": input, "output": output }]);
    g.json["animations"] = json!([{ "name": name, "channels": [channel], "samplers": samplers }]);
    g
}

/// Bakes a model, and returns it with its warnings.
fn baked(g: &Gltf, keys: &str) -> (BakedModel, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("model.glb"), g.glb()).expect("writable");
    let text = format!("[[model]]\nname = \"model\"\npath = \"model.glb\"\nencoding = \"matrix-f32\"\n{keys}");
    let manifest = Manifest::parse(&folder.path().join("gpuskin.toml"), text)
        .unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(Style::Plain)));
    let mut baked = bake(&manifest, &BakeOptions::default()).unwrap_or_else(|failed| panic!("{}", failed.diagnostics));
    (baked.models.remove(0), baked.warnings.render(Style::Plain))
}

#[test]
fn visible_gaps_decide_about_cycles() {
    // The model is 6.4 m in diagonal: 3 cm are not seen in an idle; 30 cm are, but freezing would be worse.
    for (name, gap, looped) in [
        ("Idle", 0.0, true),
        ("Idle", 0.03, true),
        ("Idle", 0.3, true),
        ("Dance", 0.03, true),
        ("Dance", 0.3, false),
        ("Attack", 0.0, false),
        ("Attack", 0.3, false),
        ("Sway", 0.0, true),
        ("Sway", 0.03, false),
    ] {
        let (model, warnings) = baked(&rises(name, gap), "");
        assert_eq!(model.meta.clips[0].looped, looped, "{name} {gap}");
        assert!((model.loops[0].source_gap - f64::from(gap)).abs() < 1e-6, "{:?}", model.loops[0]);
        assert!(model.loops[0].guessed);
        let doubted = warnings.contains("gpuskin::clip::plays_once");
        assert_eq!(doubted, name == "Dance" && !looped, "{name} {gap}:\n{warnings}");
        let jumps = warnings.contains("gpuskin::clip::seam");
        assert_eq!(jumps, looped && gap > 0.1, "{name} {gap}:\n{warnings}");
    }
}

#[test]
fn loops_that_jump_have_a_warning() {
    let jumps = rises("Idle", 0.3);
    let (model, warnings) = baked(&jumps, "clips.idle = { loop = true }\n");
    assert!(model.meta.clips[0].looped && !model.loops[0].guessed);
    assert!(
        warnings.contains("gpuskin::clip::seam") && warnings.contains("`idle`") && warnings.contains("30.0 cm"),
        "{warnings}"
    );
    assert!(warnings.contains("loop = \"close\""), "{warnings}");
    let (model, warnings) = baked(&jumps, "clips.idle = { loop = false }\n");
    assert!(!model.meta.clips[0].looped && warnings.is_empty(), "{warnings}");
}

#[test]
fn seams_are_blended_shut() {
    let (model, warnings) = baked(&rises("Idle", 0.3), "clips.idle = { loop = \"close\" }\n");
    assert!(warnings.is_empty(), "{warnings}");
    assert!(model.meta.clips[0].looped);
    let ends = model.loops[0];
    assert!((ends.source_gap - 0.3).abs() < 1e-6 && ends.gap < 1e-6, "{ends:?}");
    // A clip of the same length without the gap: no frame is added.
    let (same, _) = baked(&rises("Idle", 0.0), "clips.idle = { loop = true }\n");
    assert_eq!(model.meta.clips[0].intervals, same.meta.clips[0].intervals);
}

#[test]
fn missing_last_key_adds_a_frame() {
    let mut g = figure();
    // A turn in 24 keys at 24 per second, without the key that closes it.
    let angles = (0..24).map(|i| i as f32 / 24.0 * std::f32::consts::PI);
    let (times, turns): (Vec<f32>, Vec<[f32; 4]>) =
        angles.enumerate().map(|(i, half)| (i as f32 / 24.0, [0.0, half.sin(), 0.0, half.cos()])).unzip();
    let (input, output) = (g.floats("SCALAR", &times), g.floats("VEC4", turns.as_flattened()));
    let channel = json!({ "sampler": 0, "target": { "node": 1, "path": "rotation" } });
    let samplers = json!([{ "input": input, "output": output }]);
    g.json["animations"] = json!([{ "name": "spin", "channels": [channel], "samplers": samplers }]);
    let (model, warnings) = baked(&g, "");
    let clip = &model.meta.clips[0];
    assert!(clip.looped && (clip.duration - 1.0).abs() < 1e-6, "{clip:?}");
    assert!(model.loops[0].gap < 1e-6 && model.loops[0].source_gap > 0.1, "{:?}", model.loops[0]);
    assert!(warnings.is_empty(), "{warnings}");
    let (model, _) = baked(&g, "clips.spin = { loop = false }\n");
    assert!((model.meta.clips[0].duration - 23.0 / 24.0).abs() < 1e-6);
}
