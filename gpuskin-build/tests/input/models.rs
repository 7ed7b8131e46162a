//! The shared models: all can be imported, and match the independent reference.

use crate::common::{import_entry, import_file, models, morph_weights, shared};
use glam::{DMat3, DMat4, DQuat, DVec3, DVec4};
use gpuskin_build::internals::import::Pixels;
use gpuskin_build::internals::model::{Clip, Curve, Interpolation, Local, Model, Property, Trs};

/// Position tolerance, relative to the size of the model. The reference is stored as `f32`.
const POSITION: f64 = 2e-7;
/// Normal tolerance in radians: 0.01 degrees.
const NORMAL: f64 = 1.7e-4;

#[test]
#[ignore = "needs the shared models; run by `cargo xtask test --only shared-models`"]
fn all_shared_models_are_imported() {
    let folder = shared().join("models");
    let mut count = 0;
    for path in models(&folder) {
        let outcome = import_file(&folder, &path);
        assert!(outcome.inputs.contains(&folder.join(&path)));
        let model = outcome.model();
        for warning in outcome.warnings() {
            println!("{warning}");
        }
        let vertices: usize = model.primitives.iter().map(|p| p.positions.len()).sum();
        let (bones, clips) = (model.bones.len(), model.clips.len());
        println!("{path}: {bones} bones, {vertices} vertices, {clips} clips");
        count += 1;
    }
    assert!(count >= 28, "only {count} models found");
}

#[test]
#[ignore = "needs the shared models; run by `cargo xtask test --only shared-models`"]
fn shared_models_have_expected_names_and_counts() {
    let folder = shared().join("models");
    let outcome = import_file(&folder, "KnightCharacter/KnightCharacter.glb");
    let knight = outcome.model();
    assert_eq!((knight.primitives.len(), knight.materials.len(), knight.clips.len()), (3, 3, 12));
    assert_eq!(knight.clips[9].name, "run_sword_right");
    assert_eq!(knight.clips[9].source, "HumanArmature|Run_swordRight");

    let outcome = import_entry(&folder, &crate::common::entry("Knight/Knight.glb"), Pixels::SizeOnly);
    let knight = outcome.model();
    assert_eq!(knight.clips[0].name, "_1h_melee_attack_chop");
    assert_eq!((knight.images.len(), knight.images[0].rgba.len()), (1, 0));
    assert!(knight.bones.len() <= 41);

    // A file beside the glTF file is an input.
    let outcome = import_file(&folder, "SimpleSkin/glTF/SimpleSkin.gltf");
    assert!(outcome.inputs.len() > 1, "{:?}", outcome.inputs);

    // One of the two rigid boxes is static.
    assert_eq!(import_file(&folder, "BoxAnimated/BoxAnimated.glb").model().bones.len(), 2);
    let robot = import_file(&folder, "RobotExpressive/RobotExpressive.glb");
    let names: Vec<&str> = robot.model().morph_tracks.iter().map(|track| &*track.name).collect();
    assert_eq!(names, ["Angry", "Surprised", "Sad"]);
    assert!(robot.warnings().iter().any(|w| w.contains("weights")), "{:#?}", robot.warnings());
}

#[test]
#[ignore = "needs the shared models; run by `cargo xtask test --only shared-models`"]
fn vertices_of_shared_models_match_the_reference() {
    let shared = shared();
    let mut compared = 0;
    for path in models(&shared.join("models")) {
        let outcome = import_entry(&shared.join("models"), &crate::common::entry(&path), Pixels::SizeOnly);
        let model = outcome.model();
        let expected = shared.join("truth/expected").join(path.replace('/', "__"));
        for clip in std::fs::read_dir(&expected).expect("ground truth").map(|e| e.expect("readable").path()) {
            compare(model, &clip, &path);
            compared += 1;
        }
    }
    assert!(compared >= 47, "only {compared} clips compared");
}

fn compare(model: &Model, expected: &std::path::Path, path: &str) {
    let text = std::fs::read_to_string(expected.join("frames.json")).expect("frames.json");
    let info: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let bytes = std::fs::read(expected.join("frames.bin")).expect("frames.bin");
    let number = |v: &serde_json::Value| v.as_u64().expect("number") as usize;
    let vector = |at: usize| {
        let x = |i: usize| f64::from(f32::from_le_bytes(bytes[at + 4 * i..][..4].try_into().expect("four bytes")));
        DVec3::new(x(0), x(1), x(2))
    };
    let index = number(&info["clip"]["index"]);
    let clip = model.clips.iter().find(|c| c.index == index).expect("clip");
    assert!((clip.end - info["clip"]["end"].as_f64().expect("end")).abs() < 1e-9);
    let size = info["size"].as_f64().expect("size");
    let primitives = info["primitives"].as_array().expect("primitives");
    let order: Vec<_> = primitives.iter().map(|p| (number(&p["node"]), number(&p["primitive"]))).collect();
    assert_eq!(order, model.primitives.iter().map(|p| (p.node, p.index)).collect::<Vec<_>>(), "{path}");
    let (mut worst, mut turned) = (0.0_f64, 0.0_f64);
    for frame in info["frames"].as_array().expect("frames") {
        let time = frame["time"].as_f64().expect("time");
        let skin = skin_matrices(model, clip, time);
        let offset = number(&frame["offset"]);
        for (p, e) in model.primitives.iter().zip(primitives) {
            assert_eq!(p.positions.len(), number(&e["vertices"]));
            assert_eq!(p.targets.len(), number(&e["targets"]));
            let weights = morph_weights(model, Some(clip), p.node, time);
            assert_eq!(p.normals.is_some(), !e["normalOffset"].is_null());
            for v in 0..p.positions.len() {
                let mut m = DMat4::ZERO;
                for (bone, weight) in p.influences.of(v) {
                    m += skin[usize::from(*bone)] * *weight;
                }
                let position = m.transform_point3(p.position(v, &weights));
                worst = worst.max(position.distance(vector(offset + number(&e["positionOffset"]) + 12 * v)) / size);
                let Some(normal) = p.normal(v, &weights) else { continue };
                let expected = vector(offset + number(&e["normalOffset"]) + 12 * v);
                turned = turned.max(cofactor(DMat3::from_mat4(m), normal).distance(expected));
            }
        }
    }
    println!("{path} clip {index}: position error {worst:.1e} of the size, normal error {turned:.1e} rad");
    assert!(
        worst <= POSITION && turned <= NORMAL,
        "{path} clip {index}: position error {worst:e} of the size, normal error {turned:e} rad"
    );
}

fn cofactor(m: DMat3, n: DVec3) -> DVec3 {
    let [a, b, c] = [m.x_axis, m.y_axis, m.z_axis];
    let sign = if m.determinant() < 0.0 { -1.0 } else { 1.0 };
    (DMat3::from_cols(b.cross(c), c.cross(a), a.cross(b)) * n * sign).normalize_or_zero()
}

fn skin_matrices(model: &Model, clip: &Clip, time: f64) -> Vec<DMat4> {
    let mut global = vec![DMat4::IDENTITY; model.nodes.len()];
    for &i in &model.order {
        let node = &model.nodes[i];
        let channels: Vec<_> = clip.channels.iter().filter(|c| c.node == i).collect();
        let mut trs = match node.local {
            Local::Trs(trs) => trs,
            Local::Matrix(_) => Trs::IDENTITY,
        };
        for channel in &channels {
            let value = sample(&channel.curve, channel.property, time);
            match channel.property {
                Property::Translation => trs.translation = value.truncate(),
                Property::Rotation => trs.rotation = DQuat::from_vec4(value).normalize(),
                Property::Scale => trs.scale = value.truncate(),
            }
        }
        let local = match node.local {
            Local::Matrix(m) if channels.is_empty() => m,
            _ => DMat4::from_scale_rotation_translation(trs.scale, trs.rotation, trs.translation),
        };
        global[i] = node.parent.map_or(local, |p| global[p] * local);
    }
    model.bones.iter().map(|b| global[b.node] * b.inverse_bind).collect()
}

fn sample(curve: &Curve, property: Property, time: f64) -> DVec4 {
    let (times, values) = (&curve.times, &curve.values);
    let each = if curve.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let value = |key: usize| values[key * each + each / 2];
    let after = times.partition_point(|t| *t <= time);
    if after == 0 || after == times.len() {
        return value(after.saturating_sub(1));
    }
    let k = after - 1;
    let span = times[k + 1] - times[k];
    let u = (time - times[k]) / span;
    match curve.interpolation {
        Interpolation::Step => value(k),
        Interpolation::Linear if property == Property::Rotation => {
            DVec4::from(DQuat::from_vec4(value(k)).slerp(DQuat::from_vec4(value(k + 1)), u))
        }
        Interpolation::Linear => value(k) + (value(k + 1) - value(k)) * u,
        Interpolation::CubicSpline => {
            let (u2, u3) = (u * u, u * u * u);
            value(k) * (2.0 * u3 - 3.0 * u2 + 1.0)
                + values[k * 3 + 2] * (span * (u3 - 2.0 * u2 + u))
                + value(k + 1) * (3.0 * u2 - 2.0 * u3)
                + values[k * 3 + 3] * (span * (u3 - u2))
        }
    }
}
