//! Malicious files: a valid figure with one inconsistency each. Each must give a specific
//! diagnostic.

use crate::common::build::{Gltf, figure, glb};
use crate::common::import_file;
use serde_json::json;

/// Name, change, expected code, and a part of the expected message.
type Trick = (&'static str, fn(&mut Gltf), &'static str, &'static str);

/// Returns the first primitive, a skinned triangle.
fn primitive(g: &mut Gltf) -> &mut serde_json::Value {
    &mut g.json["meshes"][0]["primitives"][0]
}

fn attribute<'a>(g: &'a mut Gltf, name: &str) -> &'a mut serde_json::Value {
    let accessor = primitive(g)["attributes"][name].as_u64().unwrap();
    &mut g.json["accessors"][accessor as usize]
}

/// Adds an image to the first material.
fn image(g: &mut Gltf, uri: &str) {
    g.json["images"] = json!([{ "uri": uri }]);
    g.json["textures"] = json!([{ "source": 0 }]);
    g.json["materials"] = json!([{ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }]);
    primitive(g)["material"] = json!(0);
}

/// Replaces the positions by a view that is declared as compressed.
fn compressed(g: &mut Gltf, count: u64, stride: u64, mode: &str, filter: &str) {
    let bytes = [&[0xA0][..], &[0; 64]].concat();
    let view = g.view(&bytes);
    let extension = json!({ "buffer": 0, "byteOffset": g.json["bufferViews"][view]["byteOffset"], "byteLength": bytes.len(),
        "byteStride": stride, "count": count, "mode": mode, "filter": filter });
    let extensions = json!({ "EXT_meshopt_compression": extension });
    g.json["extensionsUsed"] = json!(["EXT_meshopt_compression"]);
    let view = g.push(
        "bufferViews",
        json!({ "buffer": 0, "byteLength": count.saturating_mul(stride), "extensions": extensions }),
    );
    let position = attribute(g, "POSITION");
    position["bufferView"] = json!(view);
    position["count"] = json!(count);
}

#[rustfmt::skip]
const TRICKS: [Trick; 33] = [
    ("a stride shorter than an element", |g| g.json["bufferViews"][0]["byteStride"] = json!(4), "gltf::bad_buffer", "stride of 4"),
    ("a negative stride", |g| g.json["bufferViews"][0]["byteStride"] = json!(-12), "gltf::syntax", "byteStride"),
    ("a stride of half the address space", |g| g.json["bufferViews"][0]["byteStride"] = json!(1_u64 << 63), "gltf::bad_buffer", "exceed buffer"),
    ("a view that wraps around", |g| g.json["bufferViews"][0]["byteOffset"] = json!(u64::MAX - 3), "gltf::bad_buffer", "exceed buffer"),
    ("an accessor that wraps around", |g| attribute(g, "POSITION")["byteOffset"] = json!(u64::MAX), "gltf::bad_buffer", "exceed buffer"),
    ("a huge vertex count", |g| attribute(g, "POSITION")["count"] = json!(1_u64 << 53), "limit::vertices", "vertices"),
    ("vertices without data", |g| {
        let position = attribute(g, "POSITION");
        position.as_object_mut().unwrap().remove("bufferView");
        position["count"] = json!(300_000_000);
    }, "limit::vertices", "300000000"),
    ("sparse indices out of range", |g| {
        let (at, values) = (g.view(&[9, 0, 0, 0]), g.view(&[0; 12]));
        attribute(g, "POSITION")["sparse"] = json!({ "count": 1, "indices": { "bufferView": at, "componentType": 5123 }, "values": { "bufferView": values } });
    }, "gltf::bad_accessor", "index 9 is out of range for 3"),
    ("more sparse values than elements", |g| {
        attribute(g, "POSITION")["sparse"] = json!({ "count": 1_u64 << 40, "indices": { "bufferView": 0, "componentType": 5123 }, "values": { "bufferView": 0 } });
    }, "gltf::bad_accessor", "replacements for 3 elements"),
    ("indices that are vectors", |g| { let a = g.floats("VEC3", &[0.0; 3]); primitive(g)["indices"] = json!(a); }, "gltf::bad_accessor", "expected SCALAR"),
    ("indices with fractions", |g| { let a = g.floats("SCALAR", &[0.0; 3]); primitive(g)["indices"] = json!(a); }, "gltf::bad_accessor", "F32"),
    ("a joint that the skin does not have", |g| { let a = g.bytes("VEC4", 3, &[250; 12]); primitive(g)["attributes"]["JOINTS_0"] = json!(a); }, "skin::bad_joint", "joint 250"),
    ("fewer joints than vertices", |g| { let a = g.bytes("VEC4", 2, &[0; 8]); primitive(g)["attributes"]["JOINTS_0"] = json!(a); }, "mesh::bad_attribute", "2 elements"),
    ("a gap in the sets of joints", |g| {
        let (joints, weights) = (primitive(g)["attributes"]["JOINTS_0"].clone(), primitive(g)["attributes"]["WEIGHTS_0"].clone());
        primitive(g)["attributes"]["JOINTS_2"] = joints;
        primitive(g)["attributes"]["WEIGHTS_2"] = weights;
    }, "skin::dropped_influences", "no JOINTS_1"),
    ("1000 joints per vertex", |g| {
        let (joints, weights) = (primitive(g)["attributes"]["JOINTS_0"].clone(), primitive(g)["attributes"]["WEIGHTS_0"].clone());
        for set in 1..250 {
            primitive(g)["attributes"][format!("JOINTS_{set}")] = joints.clone();
            primitive(g)["attributes"][format!("WEIGHTS_{set}")] = weights.clone();
        }
    }, "limit::influences", "32"),
    ("a skin without joints", |g| g.json["skins"][0]["joints"] = json!([]), "skin::invalid", "joints"),
    ("a node that is its own child", |g| g.json["nodes"][2]["children"] = json!([2]), "node::not_a_tree", "child"),
    ("scales whose product overflows", |g| {
        let mut below = 0;
        for _ in 0..40 {
            below = g.push("nodes", json!({ "scale": [1e30, 1e30, 1e30], "children": [below] }));
        }
        g.json["scenes"][0]["nodes"][0] = json!(below);
    }, "gltf::not_finite", "scales or translations"),
    ("a transform that JSON cannot write", |g| g.json["nodes"][0]["scale"] = json!(["NaN", 1, 1]), "gltf::syntax", "scale"),
    ("too few values for the interpolation", |g| g.json["animations"][0]["samplers"][0]["interpolation"] = json!("CUBICSPLINE"), "clip::bad_curve", "need 6"),
    ("20,000 copies of a clip", |g| {
        let clip = g.json["animations"][0].clone();
        g.json["animations"] = json!(vec![clip; 20_000]);
    }, "limit::clips", "20000"),
    ("2000 morph targets", |g| {
        let position = primitive(g)["attributes"]["POSITION"].clone();
        primitive(g)["targets"] = json!(vec![json!({ "POSITION": position }); 2000]);
    }, "limit::morphs", "2000"),
    ("a morph target of another mesh's size", |g| { let a = g.floats("VEC3", &[0.0; 6]); primitive(g)["targets"] = json!([{ "POSITION": a }]); }, "mesh::bad_attribute", "2 elements"),
    ("an invalid image", |g| image(g, "data:image/png;base64,AAAA"), "image::invalid", "image 0"),
    ("invalid base64", |g| image(g, "data:image/png;base64,@@"), "uri::bad_data", "base64"),
    ("textures in an extension", |g| {
        image(g, "");
        let only = json!({ "extensions": { "EXT_texture_avif": { "source": 0 } } });
        g.json["textures"] = json!([only, only]);
        g.json["materials"][0]["normalTexture"] = json!({ "index": 1 });
    }, "image::invalid", "textures 0, 1 have no image in a supported format, only EXT_texture_avif"),
    ("a data URI without data", |g| image(g, "data:image/png;base64"), "uri::bad_data", "comma"),
    ("compressed data that exceed the limit", |g| compressed(g, 1 << 40, 12, "ATTRIBUTES", "NONE"), "limit::vertices", "vertices"),
    ("compressed data with a stride of 0", |g| compressed(g, 3, 0, "ATTRIBUTES", "NONE"), "gltf::bad_compression", "stride of 0"),
    ("a filter for another stride", |g| compressed(g, 3, 12, "ATTRIBUTES", "QUATERNION"), "gltf::bad_compression", "stride of 12"),
    ("an index count that is not a multiple of 3", |g| compressed(g, 7, 4, "TRIANGLES", "NONE"), "gltf::bad_compression", "whole triangles"),
    ("an unknown primitive mode", |g| primitive(g)["mode"] = json!(99), "mesh::bad_index", "mode 99"),
    ("an unknown required extension", |g| g.json["extensionsRequired"] = json!(["VENDOR_secret"]), "gltf::required_extension", "VENDOR_secret"),
];

#[test]
fn malicious_files_give_specific_diagnostics() {
    let mut failed = Vec::new();
    for (name, change, code, part) in TRICKS {
        let mut g = figure();
        change(&mut g);
        let outcome = g.import();
        let found: Vec<String> =
            outcome.diagnostics.iter().map(|f| format!("{}: {}", f.code().name(), f.message())).collect();
        let said = found.iter().any(|line| line.starts_with(&format!("gpuskin::{code}: ")) && line.contains(part));
        // Data that could not be read must not also be reported as a clip that moves nothing.
        let idle = !outcome.errors().is_empty() && found.iter().any(|line| line.contains("moves nothing"));
        if !said || idle {
            failed.push(format!("{name}: expected {code} with `{part}`, found {found:#?}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn wrong_container_lengths_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let whole = figure().glb();
    let json = u32::from_le_bytes(whole[12..16].try_into().unwrap()) as usize;
    // Length of the file, of the first chunk, of the second chunk.
    for at in [8, 12, 20 + json] {
        for length in [0, 1, 19, 0x7FFF_FFFF, 0xFFFF_FFFC, u32::MAX] {
            let mut file = whole.clone();
            file[at..at + 4].copy_from_slice(&u32::to_le_bytes(length));
            std::fs::write(folder.path().join("model.glb"), file).unwrap();
            let outcome = import_file(folder.path(), "model.glb");
            assert!(outcome.model.is_none() && !outcome.errors().is_empty(), "{length} at {at}");
        }
    }
    // Data after the end and a byte order mark are accepted; UTF-16 is rejected.
    let text = serde_json::from_slice::<serde_json::Value>(&whole[20..20 + json]).unwrap().to_string();
    let bin = &whole[28 + json..];
    let import = |bytes: &[u8]| {
        std::fs::write(folder.path().join("model.glb"), bytes).unwrap();
        import_file(folder.path(), "model.glb")
    };
    import(&[&whole[..], b"more"].concat()).model();
    import(&glb(format!("\u{FEFF}{text}").as_bytes(), bin)).model();
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let errors = import(&glb(&wide, bin)).errors();
    assert!(["not glTF", "not valid glTF", "JSON"].iter().any(|part| errors[0].contains(part)), "{errors:?}");
}
