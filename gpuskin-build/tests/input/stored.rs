//! Storage of vertices and keys: quantised and compressed.

use crate::common::build::Gltf;
use crate::common::samples::{compressed, hopping, packed, quantized};
use crate::common::{Outcome, refused};
use glam::DVec3;
use serde_json::{Value, json};

#[track_caller]
fn near(a: &[DVec3], b: &[[f64; 3]]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!(a.distance(DVec3::from_array(*b)) < 1e-9, "found {a}, expected {b:?}");
    }
}

#[test]
fn positions_accept_every_component_type() {
    const CORNERS: [[i16; 3]; 3] = [[0, 0, 0], [100, 0, 0], [0, 100, 20]];
    for (component, size, top) in [(5120, 1, 127.0), (5121, 1, 255.0), (5122, 2, 32767.0), (5123, 2, 65535.0)] {
        for normalized in [false, true] {
            let bytes: Vec<u8> = CORNERS
                .iter()
                .flat_map(|corner| {
                    let mut bytes: Vec<u8> = corner.iter().flat_map(|x| x.to_le_bytes()[..size].to_vec()).collect();
                    bytes.resize(4 * size, 0xff);
                    bytes
                })
                .collect();
            let g = hopping(
                |g| json!({ "attributes": { "POSITION": packed(g, "VEC3", component, normalized, 4 * size, &bytes) } }),
            );
            let outcome = g.import();
            let scale = if normalized { 1.0 / top } else { 1.0 };
            let expected = CORNERS.map(|c| c.map(|x| f64::from(x) * scale));
            near(&outcome.model().primitives[0].positions, &expected);
            assert!(outcome.warnings().is_empty(), "{:?}", outcome.warnings());
        }
    }
}

#[test]
fn quantised_directions_and_targets_are_decoded() {
    let mut g = quantized();
    let outcome = g.import();
    let leaf = &outcome.model().primitives[0];
    near(&leaf.positions, &[[-2.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]);
    near(leaf.normals.as_ref().expect("there"), &[[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]);
    assert_eq!(leaf.tangents.as_ref().expect("there").iter().map(|t| t.w).collect::<Vec<_>>(), [-1.0, 1.0, 1.0]);
    near(&leaf.targets[0].positions, &[[0.0, 0.0, 3.0], [0.0, 0.0, 0.0], [0.0, 0.0, -3.0]]);
    near(&leaf.targets[0].normals.as_ref().expect("there")[..1], &[[-1.0, 0.0, 0.0]]);

    g.json.as_object_mut().expect("object").remove("extensionsUsed");
    g.json.as_object_mut().expect("object").remove("extensionsRequired");
    let warnings = g.import().warnings();
    assert!(warnings.iter().any(|w| w.contains("does not declare KHR_mesh_quantization")), "{warnings:?}");

    let mut g = quantized();
    let normal = g.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"].as_u64().expect("index") as usize;
    g.json["accessors"][normal]["normalized"] = json!(false);
    refused(&g.import(), &["mesh 0 `Leaf`, primitive 0", "NORMAL", "accessor 1", "I8, which are not allowed"]);
}

/// Imports a file with a second buffer that has no data.
fn import(g: &Gltf) -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    let mut json = g.json.clone();
    let fallback = json!({ "byteLength": 42, "extensions": { "EXT_meshopt_compression": { "fallback": true } } });
    json["buffers"] = json!([{ "byteLength": g.bin.len() }, fallback]);
    std::fs::write(folder.path().join("a.glb"), crate::common::build::glb(json.to_string().as_bytes(), &g.bin))
        .expect("writable");
    crate::common::import_file(folder.path(), "a.glb")
}

#[test]
fn compressed_views_are_decoded() {
    let mut g = compressed();
    let outcome = import(&g);
    let primitive = &outcome.model().primitives[0];
    near(&primitive.positions, &[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]]);
    assert_eq!(primitive.triangles, [[0, 1, 2]]);
    // The newer extension has another name.
    for view in g.json["bufferViews"].as_array_mut().expect("a list") {
        if let Some(extensions) = view.get_mut("extensions").and_then(Value::as_object_mut) {
            let compression = extensions.remove("EXT_meshopt_compression").expect("there");
            extensions.insert("KHR_meshopt_compression".into(), compression);
        }
    }
    g.json["extensionsRequired"] = json!(["KHR_meshopt_compression"]);
    import(&g).model();
    // Without the extension, the view refers to a buffer without data.
    g.json["bufferViews"][0].as_object_mut().expect("object").remove("extensions");
    refused(&import(&g), &["a.glb: buffer 1 has no URI"]);
}

#[test]
fn damaged_compression_is_rejected() {
    let change = |view: usize, key: &str, value: Value, parts: &[&str]| {
        let mut g = compressed();
        g.json["bufferViews"][view]["extensions"]["EXT_meshopt_compression"][key] = value;
        let outcome = import(&g);
        let place = format!("buffer view {view}");
        refused(&outcome, &[&["meshopt compression", &place][..], parts].concat());
    };
    for count in [json!(0), json!(4), json!(u64::MAX), json!(u64::MAX / 12), json!(1_u64 << 40)] {
        change(0, "count", count.clone(), &["POSITION", "the view has 36 bytes"]);
    }
    for stride in [json!(0), json!(3), json!(11), json!(1000), json!(u64::MAX)] {
        change(0, "byteStride", stride, &["POSITION", "stride"]);
    }
    change(0, "byteLength", json!(5), &["cannot be decompressed"]);
    change(0, "byteLength", json!(0), &["cannot be decompressed"]);
    change(0, "byteLength", json!(u64::MAX), &["exceed buffer 0"]);
    change(0, "byteOffset", json!(u64::MAX), &["exceed buffer 0"]);
    change(0, "buffer", json!(7), &["buffer 7 does not exist"]);
    change(0, "mode", json!("TRIANGLES"), &["stride"]);
    change(0, "filter", json!("QUATERNION"), &["stride of 12"]);
    change(1, "mode", json!("POINTS"), &["unknown mode `POINTS`"]);
    change(1, "mode", json!("INDICES"), &["indices", "cannot be decompressed"]);
    change(1, "filter", json!("OCTAHEDRAL"), &["indices cannot have a filter"]);
    // Within the limits of the file format, but more data than a model may decode to.
    let mut g = compressed();
    let count = 1_u64 << 36;
    g.json["bufferViews"][0]["byteLength"] = json!(count * 12);
    g.json["bufferViews"][0]["extensions"]["EXT_meshopt_compression"]["count"] = json!(count);
    refused(&import(&g), &["buffer view 0", "the decoded model is larger than"]);
}
