//! Damaged, truncated and malicious files. Each must be imported or rejected with a message. None
//! may panic, hang, use unbounded memory, or read forbidden files.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::build::{Gltf, figure, glb};
use crate::common::mutate::{Random, places};
use crate::common::{Outcome, entry, import_file, import_within, refused, shared};
use gpuskin_build::Diagnostic;
use gpuskin_build::internals::import::Pixels;
use gpuskin_build::internals::manifest::Limits;
use serde_json::{Value, json};

/// Time limit: far above the time of any of these files in an unoptimised build.
const PATIENCE: Duration = Duration::from_secs(120);

/// Imports bytes as `model.glb` of a folder.
fn import(folder: &Path, bytes: &[u8]) -> Outcome {
    std::fs::write(folder.join("model.glb"), bytes).expect("writable");
    let start = Instant::now();
    let outcome = import_file(folder, "model.glb");
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    outcome
}

#[test]
fn truncated_files_are_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = figure().glb();
    for end in 0..whole.len() {
        assert!(
            import(folder.path(), &whole[..end]).model.is_none(),
            "a model was imported from {end} of {} bytes",
            whole.len()
        );
    }
    import(folder.path(), &whole).model();
}

#[test]
fn files_of_other_formats_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    for (bytes, parts) in [
        (&b"Kaydara FBX Binary  \0\x1a\0"[..], ["not glTF: it is an FBX file", "export it as glTF 2.0"]),
        (b"\n<!DOCTYPE html><html>", ["not glTF: it is a web page", "download the model itself"]),
        (b"BLENDER-v402", ["not glTF: it is a Blender file", "export it as glTF 2.0"]),
        (b"PK\x03\x04", ["not glTF: it is a ZIP archive", "unpack it"]),
        (b" \n", ["not glTF: it is empty", "export or copy it again"]),
    ] {
        let outcome = import(folder.path(), bytes);
        refused(&outcome, &parts[..1]);
        let help: String = outcome.diagnostics.iter().map(Diagnostic::help_text).collect();
        assert!(help.starts_with(parts[1]), "{help}");
    }
}

#[test]
fn truncated_chunks_are_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut g = figure();
    let bin = g.bin.clone();
    g.json["buffers"] = json!([{ "byteLength": bin.len() }]);
    let text = g.json.to_string();
    for end in 0..text.len() {
        assert!(import(folder.path(), &glb(&text.as_bytes()[..end], &bin)).model.is_none(), "{end}");
    }
    for end in 0..bin.len() - 3 {
        assert!(import(folder.path(), &glb(text.as_bytes(), &bin[..end])).model.is_none(), "{end}");
    }
}

#[test]
fn changed_bytes_do_not_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = figure().glb();
    let mut random = Random(1);
    for _ in 0..3000 {
        let mut file = whole.clone();
        for _ in 0..1 + random.below(4) {
            let at = random.below(file.len());
            file[at] = match random.below(3) {
                0 => random.below(256) as u8,
                1 => file[at] ^ (1 << random.below(8)),
                _ => *random.of(b"0123456789-{}[],:\"e."),
            };
        }
        import(folder.path(), &file);
    }
}

/// Replaces single values of the document. Tries every value with every replacement, of which one
/// in `every` is run.
fn values_changed(folder: &Path, file: &Gltf, every: usize) -> usize {
    #[rustfmt::skip]
    let replacements = [
        json!(null), json!(true), json!("x"), json!([]), json!({}), json!([[[]]]),
        json!(0), json!(1), json!(2), json!(3), json!(5), json!(7), json!(-1), json!(255), json!(0.5), json!(3.0),
        json!(5120), json!(5121), json!(5122), json!(5123), json!(5125), json!(5126),
        json!(65_535), json!(1_000_000), json!(i32::MAX), json!(u32::MAX), json!(1_u64 << 32), json!(i64::MAX), json!(u64::MAX),
        json!(1e30), json!(-1e300), json!(1e308), json!("SCALAR"), json!("VEC4"), json!("MAT4"), json!("CUBICSPLINE"), json!("STEP"),
        json!("rotation"), json!("weights"), json!("../a.bin"), json!("data:;base64,AAAA"), json!([0, 0, 0, 0]), json!([1e308, 0, 0]),
    ];
    let mut json = file.json.clone();
    json["buffers"] = json!([{ "byteLength": file.bin.len() }]);
    let mut all = vec![];
    places(&json, String::new(), &mut all);
    let mut random = Random(2);
    let mut count = 0;
    for place in &all {
        for replacement in &replacements {
            if random.below(every) > 0 {
                continue;
            }
            let mut changed = json.clone();
            *changed.pointer_mut(place).expect("a place") = replacement.clone();
            let start = Instant::now();
            let outcome = import(folder, &glb(changed.to_string().as_bytes(), &file.bin));
            assert!(start.elapsed() < PATIENCE, "{place} = {replacement}");
            assert!(outcome.diagnostics.iter().count() < 60, "{place} = {replacement}: too many diagnostics");
            count += 1;
        }
    }
    count
}

#[test]
fn changed_values_of_a_figure_do_not_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    let count = values_changed(folder.path(), &figure(), 3);
    assert!(count > 3000, "{count}");
}

/// Values of `KHR_materials_variants`, of the materials and of the images.
#[test]
fn changed_values_of_variants_do_not_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    let count = values_changed(folder.path(), &crate::file_variants::uniforms(), 4);
    assert!(count > 2000, "{count}");
}

#[test]
#[ignore = "needs the shared models; run by `cargo xtask test --only shared-models`"]
fn changed_values_of_shared_models_do_not_panic() {
    let models = shared().join("models");
    let folder = tempfile::tempdir().expect("a folder");
    for (path, every) in [("RiggedSimple/RiggedSimple.glb", 15), ("InterpolationTest/InterpolationTest.glb", 60)] {
        let file = std::fs::read(models.join(path)).expect("readable");
        let length = u32::from_le_bytes(file[12..16].try_into().expect("four bytes")) as usize;
        let mut json: Value = serde_json::from_slice(&file[20..20 + length]).expect("JSON");
        // Decoding the texture repeatedly would take most of the time.
        json.as_object_mut().expect("object").remove("materials");
        for mesh in json["meshes"].as_array_mut().expect("a list") {
            mesh["primitives"][0].as_object_mut().expect("object").remove("material");
        }
        let file = Gltf { json, bin: file[28 + length..].to_vec() };
        assert!(values_changed(folder.path(), &file, every) > 300, "{path}");
    }
}

#[test]
fn invalid_hierarchies_are_rejected() {
    let mut g = figure();
    g.json["nodes"][2]["children"] = json!([0]);
    refused(&g.import(), &["cycle"]);
    let mut g = figure();
    g.json["nodes"][5]["children"] = json!([5]);
    refused(&g.import(), &["node 5 `Stone1`", "cycle"]);
    let mut g = figure();
    g.json["nodes"][2]["children"] = json!([1]);
    refused(&g.import(), &["node 2 `Head`", "child node 1 is also a child of node 0"]);
    g.json["nodes"][2]["children"] = json!([9000]);
    refused(&g.import(), &["node 2 `Head`", "child node 9000 does not exist"]);
    let mut g = figure();
    g.json["scenes"][0]["nodes"] = json!([77]);
    refused(&g.import(), &["scene", "node 77"]);
    g.json["scene"] = json!(3);
    refused(&g.import(), &["scene 3"]);
}

/// Imports a file with a high limit of the hierarchy's depth.
fn deep(file: &Gltf) -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("model.glb"), file.glb()).expect("writable");
    let limits = Limits { depth: 1 << 20, ..Limits::default() };
    import_within(folder.path(), &entry("model.glb"), Pixels::Decode, limits)
}

#[test]
fn deep_hierarchies_are_limited() {
    let mut g = Gltf::new();
    let mesh = g.triangle();
    g.clip("Move", &[0, 50_000]);
    let depth = 100_000;
    let nodes: Vec<Value> = (0..depth).map(|i| json!({ "mesh": mesh, "children": [i + 1] })).collect();
    g.json["nodes"] = json!(nodes);
    g.push("nodes", json!({ "mesh": mesh, "scale": [1, 1, 2] }));
    g.json["scenes"][0]["nodes"] = json!([0]);
    let start = Instant::now();
    refused(&g.import(), &["node 4096", "4097 levels deep"]);
    let outcome = deep(&g);
    assert!(start.elapsed() < PATIENCE);
    assert_eq!((outcome.model().bones.len(), outcome.model().primitives.len()), (2, depth + 1));

    // Each level doubles the scale.
    let nodes: Vec<Value> = (0..depth).map(|i| json!({ "children": [i + 1], "scale": [2, 2, 2] })).collect();
    g.json["nodes"] = json!(nodes);
    g.push("nodes", json!({ "mesh": mesh }));
    refused(&deep(&g), &["not finite"]);

    let nodes: Vec<Value> = (0..300_000).map(|_| json!({})).collect();
    g.json["nodes"] = json!(nodes);
    refused(&g.import(), &["300000 nodes"]);
}

#[test]
fn repeated_primitives_are_limited() {
    let mut g = Gltf::new();
    let primitives = vec![json!({ "attributes": {} }); 100_000];
    let mesh = g.push("meshes", json!({ "primitives": primitives }));
    let nodes: Vec<Value> = (0..100_000).map(|_| json!({ "mesh": mesh })).collect();
    g.json["nodes"] = json!(nodes);
    g.json["scenes"][0]["nodes"] = json!((0..nodes.len()).collect::<Vec<_>>());
    g.clip("Hop", &[0]);
    let start = Instant::now();
    refused(&g.import(), &["node 2", "more than 262144 primitives"]);
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

#[test]
fn accessors_beyond_their_data_are_rejected() {
    let mut g = figure();
    let view = g.bytes("SCALAR", 1, &[0]);
    let view = g.json["accessors"][view]["bufferView"].clone();
    // Imports the figure with a new accessor as an attribute of the hat.
    let with = |attribute: &str, keys: Value| {
        let mut g = Gltf { json: g.json.clone(), bin: g.bin.clone() };
        let mut accessor = json!({ "componentType": 5126, "type": "VEC3", "bufferView": 0 });
        accessor.as_object_mut().expect("object").extend(keys.as_object().expect("object").clone());
        let accessor = g.push("accessors", accessor);
        g.json["meshes"][1]["primitives"][0]["attributes"][attribute] = json!(accessor);
        g.import()
    };
    let sparse = |count: u64| {
        let indices = json!({ "bufferView": view, "componentType": 5121 });
        json!({ "count": count, "indices": indices, "values": { "bufferView": 0 } })
    };
    for count in [1_u64 << 21, 1 << 32, u64::MAX / 12, u64::MAX] {
        let outcome = with("NORMAL", json!({ "count": count, "bufferView": null, "sparse": sparse(1) }));
        refused(&outcome, &["NORMAL", "without a buffer view"]);
        refused(&with("NORMAL", json!({ "count": count })), &["NORMAL", "exceed buffer view 0"]);
        let outcome = with("NORMAL", json!({ "count": 1, "byteOffset": count }));
        refused(&outcome, &["NORMAL", "exceed buffer view 0"]);
        refused(&with("POSITION", json!({ "count": count })), &["POSITION"]);
    }
    refused(&with("NORMAL", json!({ "count": 3, "sparse": sparse(4) })), &["sparse", "4 replacements for 3"]);
    refused(&with("NORMAL", json!({ "count": 0 })), &["NORMAL", "no elements"]);

    // One accessor without data, used a thousand times.
    let mut g = figure();
    let zeros = g.push("accessors", json!({ "componentType": 5126, "type": "VEC3", "count": 1 << 20 }));
    for _ in 0..1000 {
        g.push("meshes", json!({ "primitives": [{ "attributes": { "POSITION": zeros } }] }));
        let mesh = g.json["meshes"].as_array().expect("a list").len() - 1;
        g.node(None, json!({ "mesh": mesh }));
    }
    let start = Instant::now();
    refused(&g.import(), &["the model has more than 4194304"]);
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

#[test]
fn clips_with_accessors_without_data_are_limited() {
    let mut g = figure();
    let times = g.floats("SCALAR", &(0..1 << 16).map(|i| i as f32).collect::<Vec<_>>());
    let zeros = g.push("accessors", json!({ "componentType": 5126, "type": "VEC3", "count": 1 << 16 }));
    let channels = json!([{ "sampler": 0, "target": { "node": 0, "path": "scale" } }]);
    for i in 0..1000 {
        let samplers = json!([{ "input": times, "output": zeros }]);
        g.push("animations", json!({ "name": format!("C{i}"), "channels": channels, "samplers": samplers }));
    }
    let start = Instant::now();
    refused(&g.import(), &["the decoded model is larger than the limit of 512 MiB"]);
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

#[test]
fn sparse_values_replace_elements() {
    let mut g = figure();
    let places = g.bytes("SCALAR", 2, &[0, 2]);
    let places = g.json["accessors"][places]["bufferView"].clone();
    let values = g.floats("VEC3", &[9.0, 8.0, 7.0, 6.0, 5.0, 4.0]);
    let values = g.json["accessors"][values]["bufferView"].clone();
    let sparse = json!({
        "count": 2, "indices": { "bufferView": places, "componentType": 5121 }, "values": { "bufferView": values }
    });
    let accessor = g.push("accessors", json!({ "componentType": 5126, "type": "VEC3", "count": 3, "sparse": sparse }));
    g.json["meshes"][1]["primitives"][0]["attributes"] = json!({ "POSITION": accessor });
    let outcome =
        g.import_with(|e| e.include = vec![crate::common::at("Stone1".into()), crate::common::at("Hat".into())]);
    // Positions are in the space of the head's bone; the hat's own node is 0.25 above it.
    let hat = &outcome.model().primitives[0];
    let expected = [[9.0, 8.25, 7.0], [0.0, 0.25, 0.0], [6.0, 5.25, 4.0]];
    assert_eq!(hat.positions.iter().map(|p| p.to_array()).collect::<Vec<_>>(), expected);
    g.bin[0] = 0;
    g.json["accessors"][accessor]["count"] = json!(2);
    refused(&g.import(), &["sparse", "index 2 is out of range for 2"]);
}

#[test]
fn many_errors_are_summarised() {
    let mut g = figure();
    for i in 0..1000 {
        g.push("meshes", json!({ "name": format!("M{i}"), "primitives": [{ "attributes": { "POSITION": 999_999 } }] }));
        let mesh = g.json["meshes"].as_array().expect("a list").len() - 1;
        g.node(None, json!({ "mesh": mesh }));
    }
    let outcome = g.import();
    assert!(outcome.errors().len() < 30);
    refused(&outcome, &["980 more errors"]);
}

#[test]
fn uris_outside_the_folder_are_rejected() {
    let above = tempfile::tempdir().expect("a folder");
    let folder = above.path().join("art");
    std::fs::create_dir(&folder).expect("writable");
    let mut g = figure();
    let secret = above.path().join("secret.bin");
    std::fs::write(&secret, &g.bin).expect("writable");
    let absolute = secret.to_str().expect("UTF-8");
    let mut import = |uri: &str| {
        g.json["buffers"] = json!([{ "byteLength": g.bin.len(), "uri": uri }]);
        std::fs::write(folder.join("a.gltf"), g.json.to_string()).expect("writable");
        import_file(&folder, "a.gltf")
    };
    for uri in ["../secret.bin", "%2e%2e/secret.bin", "x/../../secret.bin", "..\\secret.bin", absolute] {
        refused(&import(uri), &["a.gltf", "buffer 0", "the URI"]);
    }
    refused(&import(&format!("file://{absolute}")), &["has a scheme"]);
    refused(&import("https://example.com/a.bin"), &["has a scheme"]);
    refused(&import("%ff"), &["UTF-8"]);
    refused(&import("."), &["buffer 0"]);
    // Everything in the file needs the buffer.
    let gone = import("gone.bin");
    refused(&gone, &["a.gltf: buffer 0: cannot read"]);
    assert_eq!(gone.errors().len(), 1, "{:#?}", gone.errors());
    let help = gone.diagnostics.iter().map(Diagnostic::help_text).collect::<String>();
    assert_eq!(help, "copy the file along with a.gltf, or export as .glb, which contains all files");
    let help = |uri: &str, import: &mut dyn FnMut(&str) -> Outcome| {
        import(uri).diagnostics.iter().map(|diagnostic| diagnostic.help_text().to_owned()).collect::<String>()
    };
    assert_eq!(help("..\\a.bin", &mut import), "write the URI with `/`, or export as .glb");
    assert!(help("C:\\a.bin", &mut import).starts_with("copy the file into the folder of the glTF file"));
    std::fs::write(folder.join("lfs.bin"), "version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
        .expect("writable");
    refused(&import("lfs.bin"), &["a.gltf: buffer 0: ", "lfs.bin is a Git LFS pointer"]);
    assert_eq!(help("lfs.bin", &mut import), "run `git lfs pull`");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&secret, folder.join("link.bin")).expect("links");
        refused(&import("link.bin"), &["a link that leaves the folder"]);
        std::os::unix::fs::symlink(above.path(), folder.join("up")).expect("links");
        refused(&import("up/secret.bin"), &["a link that leaves the folder"]);
        std::os::unix::fs::symlink("loop", folder.join("loop")).expect("links");
        refused(&import("loop"), &["cannot read"]);
        std::fs::write(folder.join("real.bin"), std::fs::read(&secret).expect("readable")).expect("writable");
        std::os::unix::fs::symlink("real.bin", folder.join("near.bin")).expect("links");
        import("near.bin").model();
        // Opening a pipe would block until it has a writer.
        let made = std::process::Command::new("mkfifo").arg(folder.join("pipe")).status();
        if made.is_ok_and(|status| status.success()) {
            refused(&import("pipe"), &["not a regular file"]);
        }
    }
}
