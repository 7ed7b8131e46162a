//! Invalid numbers: each is repaired with a warning or rejected with an error. Both name the
//! location, and baked numbers are always finite. The documentation of `gpuskin_build::import` has
//! a table of all cases.

use crate::common::bake::try_bake;
use crate::common::build::{Gltf, figure};
use crate::common::import_file;
use serde_json::json;

#[track_caller]
fn refused(g: &Gltf, parts: &[&str]) {
    let errors = try_bake(g).expect_err("the file must be rejected");
    assert!(errors.iter().any(|e| parts.iter().all(|p| e.contains(p))), "no error contains {parts:?}: {errors:#?}");
    assert!(errors.iter().all(|e| e.contains("model `model`") && e.contains("model.glb")), "{errors:#?}");
}

#[track_caller]
fn repaired(g: &Gltf, parts: &[&str]) {
    let warnings = try_bake(g).unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert!(
        warnings.iter().any(|w| parts.iter().all(|p| w.contains(p))),
        "no warning contains {parts:?}: {warnings:#?}"
    );
}

/// Returns the figure with a third clip that has one channel.
fn moving(path: &str, interpolation: &str, shape: &str, times: &[f32], values: &[f32]) -> Gltf {
    let mut g = figure();
    let (input, output) = (g.floats("SCALAR", times), g.floats(shape, values));
    let samplers = json!([{ "input": input, "output": output, "interpolation": interpolation }]);
    let channels = json!([{ "sampler": 0, "target": { "node": 1, "path": path } }]);
    g.push("animations", json!({ "name": "Odd", "channels": channels, "samplers": samplers }));
    g
}

/// Returns the labels of the last two accessors: key times and values.
fn accessors(g: &Gltf) -> [String; 2] {
    let count = g.json["accessors"].as_array().expect("a list").len();
    [count - 2, count - 1].map(|i| format!("accessor {i}"))
}

/// Returns the byte offset of an accessor's data in the binary chunk.
fn place(g: &Gltf, accessor: &serde_json::Value) -> usize {
    let index = |v: &serde_json::Value| v.as_u64().expect("index") as usize;
    let view = index(&g.json["accessors"][index(accessor)]["bufferView"]);
    index(&g.json["bufferViews"][view]["byteOffset"])
}

fn put(g: &mut Gltf, accessor: &serde_json::Value, float: usize, value: f32) {
    let at = place(g, accessor) + 4 * float;
    g.bin[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

#[test]
fn figure_bakes_without_warnings() {
    assert_eq!(try_bake(&figure()).expect("the file can be baked"), Vec::<String>::new());
}

#[test]
fn keys_that_are_not_finite_are_rejected() {
    for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let g = moving("translation", "LINEAR", "VEC3", &[0.0, 1.0], &[0.0, 0.0, 0.0, 1.0, odd, 0.0]);
        let [_, values] = accessors(&g);
        refused(
            &g,
            &["clip `Odd`, channel 0 (sampler 0)", "node 1 `Spine`", "values", &values, "element 1 is not finite"],
        );
        let g = moving("translation", "LINEAR", "VEC3", &[0.0, odd], &[0.0; 6]);
        let [times, _] = accessors(&g);
        refused(&g, &["clip `Odd`, sampler 0", "key times", &times, "element 1 is not finite"]);
    }
    // Tangents of cubic curves are checked as well.
    let mut values = [0.0; 18];
    values[2] = f32::NAN;
    let g = moving("scale", "CUBICSPLINE", "VEC3", &[0.0, 1.0], &values);
    refused(&g, &["clip `Odd`", "node 1 `Spine`", "element 0 is not finite"]);
}

#[test]
fn unsorted_key_times_are_rejected() {
    let g = moving("translation", "LINEAR", "VEC3", &[0.0, 1.0, 0.5], &[0.0; 9]);
    let [times, _] = accessors(&g);
    refused(&g, &["clip `Odd`, sampler 0", &times, "key 2 at 0.5 s is earlier than key 1 at 1 s"]);
    let g = moving("translation", "LINEAR", "VEC3", &[0.0, 0.5, 0.5, 1.0], &[0.0; 12]);
    let [times, _] = accessors(&g);
    repaired(&g, &["clip `Odd`", "several keys at one time", "sampler 0", &times, "jumps"]);
    let g = moving("translation", "LINEAR", "VEC3", &[-0.5, 0.5], &[0.0; 6]);
    repaired(&g, &["clip `Odd`", "first key is at -0.5 s"]);
    // A very long clip, and one that is shorter than `f32` resolves.
    let g = moving("translation", "LINEAR", "VEC3", &[0.0, 3e38], &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    let errors = try_bake(&g).expect_err("the file must be rejected");
    assert!(errors.iter().any(|e| e.contains("`model`") && e.contains("clip `odd` alone")), "{errors:#?}");
    let tiny = f32::from_bits(1);
    try_bake(&moving("translation", "LINEAR", "VEC3", &[0.0, tiny], &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]))
        .expect("the file can be baked");
}

#[test]
fn empty_clips_warn_or_fail() {
    let mut g = figure();
    g.push("animations", json!({ "name": "Empty" }));
    repaired(&g, &["clip `Empty` moves nothing"]);
    let g = moving("translation", "LINEAR", "VEC3", &[0.0], &[0.0, 1.0, 0.0]);
    assert_eq!(try_bake(&g).expect("the file can be baked"), Vec::<String>::new());
    let mut g = moving("translation", "LINEAR", "VEC3", &[0.0], &[0.0, 1.0, 0.0]);
    let last = g.json["accessors"].as_array().expect("a list").len() - 2;
    g.json["accessors"][last]["count"] = json!(0);
    refused(&g, &["clip `Odd`, sampler 0", &format!("accessor {last}"), "no elements"]);
    let g = moving("translation", "LINEAR", "VEC3", &[0.0, 1.0], &[0.0; 9]);
    let [_, values] = accessors(&g);
    refused(&g, &["clip `Odd`", "node 1 `Spine`", &values, "has 3 values, but 2 keys need 2"]);
}

#[test]
fn zero_quaternions_are_repaired() {
    let zero = [0.0; 4];
    let turn = [0.0, 0.0, 0.6, 0.8];
    for (interpolation, values) in [
        ("LINEAR", [turn, zero, turn].concat()),
        ("STEP", [turn, zero, turn].concat()),
        ("CUBICSPLINE", [zero, turn, zero, zero, zero, zero, zero, turn, zero].concat()),
    ] {
        let g = moving("rotation", interpolation, "VEC4", &[0.0, 0.5, 1.0], &values);
        let [_, accessor] = accessors(&g);
        repaired(&g, &["clip `Odd`", "node 1 `Spine`", &accessor, "1 rotations", "zero-length"]);
    }
    let mut g = figure();
    g.json["nodes"][1]["rotation"] = json!([0, 0, 0, 0]);
    repaired(&g, &["node 1 `Spine`", "zero-length"]);
    // A spline between opposite keys passes through zero; rotations of any length are normalised.
    let through = [&zero[..], &[0.0, 0.0, 0.0, 1.0], &zero, &zero, &[0.0, 0.0, 0.0, -1.0], &zero].concat();
    try_bake(&moving("rotation", "CUBICSPLINE", "VEC4", &[0.0, 1.0], &through)).expect("the file can be baked");
    let long = [[0.0, 0.0, 0.0, 1e38], [0.0, 0.0, 1e-38, 0.0]].concat();
    try_bake(&moving("rotation", "LINEAR", "VEC4", &[0.0, 1.0], &long)).expect("the file can be baked");
}

#[test]
fn weights_are_repaired_and_joints_checked() {
    let with = |weights: [f32; 4]| {
        let mut g = figure();
        let accessor = g.json["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"].clone();
        for (i, weight) in weights.into_iter().enumerate() {
            put(&mut g, &accessor, i, weight);
        }
        g
    };
    let place = "mesh 0 `Triangle`, primitive 0";
    for odd in [f32::NAN, f32::INFINITY] {
        repaired(&with([0.5, odd, 0.0, 0.0]), &[place, "weights that are infinite or NaN are set to zero: 1"]);
    }
    repaired(&with([0.0; 4]), &[place, "vertices without weights follow their first joint: 1 of 3"]);
    repaired(&with([0.8, 0.8, 0.0, 0.0]), &[place, "sum to 1.600"]);
    repaired(&with([1.0, -0.5, 0.0, 0.0]), &[place, "negative weights are set to zero: 1"]);
    try_bake(&with([3e38, 3e38, 3e38, 3e38])).expect("the file can be baked");

    let mut g = figure();
    let joints = g.json["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"].clone();
    let at = self::place(&g, &joints);
    g.bin[at + 4] = 9;
    let accessor = format!("accessor {joints}");
    refused(&g, &[place, &accessor, "vertex 1: joint 9 does not exist; the skin has 3 joints"]);
    // A joint without weight moves nothing, so its index does not matter.
    g.bin[at + 4] = 1;
    g.bin[at + 6] = 9;
    try_bake(&g).expect("the file can be baked");
}

#[test]
fn odd_bind_matrices_warn() {
    let mut g = figure();
    let accessor = g.json["skins"][0]["inverseBindMatrices"].clone();
    let label = format!("skin 0: inverse bind matrices: accessor {accessor}");
    for i in 0..16 {
        put(&mut g, &accessor, i, 0.0);
    }
    repaired(&g, &[&label, "element 0, for joint `Spine`", "singular"]);
    repaired(&g, &[&label, "element 0, for joint `Spine`", "last row of the matrix is not 0 0 0 1"]);
    // Flat along Z, and so flat that the inverse exceeds `f32`.
    for depth in [0.0, 1e-38, f32::from_bits(1)] {
        let mut g = figure();
        put(&mut g, &accessor, 10, depth);
        try_bake(&g).expect("the file can be baked");
    }
    // An unused joint may have any matrix.
    let mut g = figure();
    for i in 32..48 {
        put(&mut g, &accessor, i, 0.0);
    }
    assert_eq!(try_bake(&g).expect("the file can be baked"), Vec::<String>::new());
    put(&mut g, &accessor, 3, f32::NAN);
    refused(&g, &["skin 0", "inverse bind matrices", &format!("accessor {accessor}"), "not finite"]);
    let mut g = figure();
    g.json["nodes"][1] = json!({ "name": "Spine", "children": [2], "matrix": [1,0,0,1, 0,1,0,0, 0,0,1,0, 0,1,0,2] });
    repaired(&g, &["node 1 `Spine`", "last row"]);
}

#[test]
fn accessors_beyond_their_buffers_are_rejected() {
    let change = |key: &str, value: serde_json::Value| {
        let mut g = moving("translation", "LINEAR", "VEC3", &[0.0, 1.0], &[0.0; 6]);
        let last = g.json["accessors"].as_array().expect("a list").len() - 1;
        g.json["accessors"][last][key] = value;
        (format!("accessor {last}"), g)
    };
    for count in [3_u64, 1 << 32, u64::MAX / 12, u64::MAX] {
        let (accessor, g) = change("count", json!(count));
        refused(&g, &["clip `Odd`", "node 1 `Spine`", &accessor, "exceed buffer view"]);
    }
    let (accessor, g) = change("byteOffset", json!(4));
    refused(&g, &["clip `Odd`", &accessor, "exceed buffer view"]);
    let (accessor, g) = change("bufferView", json!(99));
    refused(&g, &["clip `Odd`", &accessor, "buffer view 99 does not exist"]);
    let (_, mut g) = change("byteOffset", json!(0));
    let last = g.json["bufferViews"].as_array().expect("a list").len() - 1;
    g.json["bufferViews"][last]["byteLength"] = json!(1000);
    refused(&g, &["clip `Odd`", &format!("buffer view {last}"), "exceed buffer 0"]);
}

#[test]
fn values_outside_the_encoding_range_are_rejected() {
    // Beyond the range of 16-bit floats; with a scale also beyond 32-bit floats.
    let mut g = moving("translation", "LINEAR", "VEC3", &[0.0, 1.0], &[0.0, 0.0, 0.0, 3e38, 0.0, 0.0]);
    let errors = try_bake(&g).expect_err("the file must be rejected");
    assert!(errors.iter().any(|e| e.contains("`odd`") && e.contains("out of the range of")), "{errors:#?}");
    g.json["nodes"][0]["scale"] = json!([1e300, 1, 1]);
    let errors = try_bake(&g).expect_err("the file must be rejected");
    assert!(errors.iter().any(|e| e.contains("outside the range of 32-bit floats")), "{errors:#?}");
    // A vertex outside the range, independent of any clip.
    let mut g = figure();
    let position = g.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"].clone();
    put(&mut g, &position, 0, 3e38);
    let errors = try_bake(&g).expect_err("the file must be rejected");
    assert!(errors.iter().any(|e| e.contains("outside the range of 32-bit floats")), "{errors:#?}");
}

#[test]
fn attributes_that_are_not_finite_are_repaired_or_rejected() {
    let mut g = figure();
    let normal = g.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"].clone();
    put(&mut g, &normal, 1, f32::NAN);
    repaired(&g, &["mesh 0 `Triangle`, primitive 0", "NORMAL: 1 numbers are not finite and are set to zero"]);
    let mut g = figure();
    let position = g.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"].clone();
    put(&mut g, &position, 4, f32::NAN);
    refused(&g, &["mesh 0 `Triangle`, primitive 0", "POSITION", &format!("accessor {position}"), "element 1"]);
    // Triangles without area have no normal.
    let mut g = figure();
    for float in 0..9 {
        put(&mut g, &position, float, 1.0);
    }
    g.json["meshes"][0]["primitives"][0]["attributes"].as_object_mut().expect("object").remove("NORMAL");
    try_bake(&g).expect("the file can be baked");
}

#[test]
fn broken_rules_without_effect_warn() {
    let with = |change: &dyn Fn(&mut Gltf)| {
        let mut g = figure();
        change(&mut g);
        g
    };
    let scene = with(&|g| {
        g.json.as_object_mut().expect("object").remove("scenes");
    });
    repaired(&scene, &["model.glb", "the default scene is 0, but the file has no scenes"]);
    repaired(&with(&|g| g.json["skins"][0]["skeleton"] = json!(99)), &["skin 0", "node 99"]);

    let matrix = json!([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
    let mut g = moving("translation", "LINEAR", "VEC3", &[0.0, 1.0], &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let node = g.json["nodes"][1].as_object_mut().expect("object");
    for key in ["translation", "rotation", "scale"] {
        node.remove(key);
    }
    node.insert("matrix".to_owned(), matrix);
    repaired(&g, &["`Odd`", "a channel moves a node that has a matrix"]);

    // Rounding to 8 bits is no reason for a warning.
    for (rotation, expected) in [([0.0, 0.0, 0.0, 3.0], Some("length 3.000")), ([0.0, 0.0, 0.0, 1.01], None)] {
        let warnings = try_bake(&with(&|g| g.json["nodes"][1]["rotation"] = json!(rotation))).expect("bakes");
        match expected {
            Some(text) => assert!(warnings.iter().any(|w| w.contains(text)), "{warnings:#?}"),
            None => assert!(warnings.is_empty(), "{warnings:#?}"),
        }
    }
    let keys = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5];
    let g = moving("rotation", "LINEAR", "VEC4", &[0.0, 1.0], &keys);
    repaired(&g, &["`Odd`", &accessors(&g)[1], "1 rotations are not of unit length"]);
    // The tangents of a cubic key have any length.
    let mut keys = [0.0; 24];
    (keys[7], keys[19], keys[8]) = (1.0, 1.0, 9.0);
    let warnings = try_bake(&moving("rotation", "CUBICSPLINE", "VEC4", &[0.0, 1.0], &keys)).expect("bakes");
    assert!(!warnings.iter().any(|w| w.contains("unit length")), "{warnings:#?}");
}

#[test]
fn restart_indices_warn() {
    let mut g = figure();
    let vertices = 256;
    let mut positions = vec![0.0; 3 * vertices];
    (positions[1], positions[3 * 255]) = (1.0, 1.0);
    let position = g.floats("VEC3", &positions);
    let view = g.view(&[0, 1, 255]);
    let indices =
        g.push("accessors", json!({ "bufferView": view, "componentType": 5121, "count": 3, "type": "SCALAR" }));
    g.json["meshes"][2]["primitives"][0] = json!({ "attributes": { "POSITION": position }, "indices": indices });
    repaired(&g, &["mesh 2", "1 indices are 255, which glTF forbids"]);
}

#[test]
fn odd_chunks_warn() {
    let plain = figure().glb();
    let json_end = 20 + u32::from_le_bytes(plain[12..16].try_into().expect("4 bytes")) as usize;
    let file = |chunks: &[&[u8]]| {
        let mut file = plain[..12].to_vec();
        chunks.iter().for_each(|chunk| file.extend(*chunk));
        let length = file.len() as u32;
        file[8..12].copy_from_slice(&length.to_le_bytes());
        file
    };
    let (json, bin) = (&plain[12..json_end], &plain[json_end..]);
    let mut marked = json.to_vec();
    marked.splice(8..8, *b"\xEF\xBB\xBF ");
    let length = (marked.len() - 8) as u32;
    marked[..4].copy_from_slice(&length.to_le_bytes());
    for (chunks, expected) in [
        (&[bin, json][..], "the binary chunk precedes the JSON chunk"),
        (&[json, json, bin], "a second JSON chunk"),
        (&[json, bin, bin, bin], "a second binary chunk"),
        (&[&marked, bin], "a byte order mark"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("model.glb"), file(chunks)).expect("writable");
        let outcome = import_file(folder.path(), "model.glb");
        let warnings = outcome.warnings();
        assert!(outcome.model.is_some() && warnings.len() == 1 && warnings[0].contains(expected), "{warnings:#?}");
    }
}
