//! Warnings and errors that say the same of several places: one is shown, and counts the others.

use crate::common::build::{Gltf, figure};
use crate::common::{Outcome, animation, entry, import_entry, import_file};
use gpuskin_build::internals::import::Pixels;
use serde_json::{Value, json};

/// Returns the figure with further meshes, each named after a letter, whose primitive has an additional attribute.
fn with_meshes(names: &str, attribute: &str, values: &[f32]) -> Gltf {
    let mut g = figure();
    for name in names.chars() {
        let mesh = g.triangle();
        let accessor = g.floats("VEC4", values);
        g.json["meshes"][mesh]["name"] = json!(name.to_string());
        g.json["meshes"][mesh]["primitives"][0]["attributes"][attribute] = json!(accessor);
        g.node(None, json!({ "mesh": mesh }));
    }
    g
}

fn json_of(outcome: &Outcome, index: usize) -> Value {
    let diagnostic = outcome.diagnostics.iter().nth(index).expect("a diagnostic");
    serde_json::from_str(&diagnostic.to_json()).expect("JSON")
}

const COLORS: &str = "the primitive has more than one set of vertex colours; only COLOR_0 is used";

#[test]
fn a_warning_counts_the_places_of_which_it_holds() {
    let imported = |names: &str| with_meshes(names, "COLOR_1", &[1.0; 12]).import();
    let message = |rest: &str| format!("model `model`: model.glb: mesh 3 `A`, primitive 0: {COLORS}{rest}");
    let outcome = imported("A");
    assert_eq!(outcome.warnings(), [message("")]);
    assert!(json_of(&outcome, 0).get("others").is_none());
    assert_eq!(imported("AB").warnings(), [message("; also at another place: mesh 4 `B`, primitive 0")]);
    let three = "; also at 3 other places: mesh 4 `B`, primitive 0; mesh 5 `C`, primitive 0; mesh 6 `D`, primitive 0";
    assert_eq!(imported("ABCD").warnings(), [message(three)]);
    let outcome = imported("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    let many = three.replace(" 3 ", " 25 ") + "; and 22 more";
    assert_eq!(outcome.warnings(), [message(&many)]);
    let object = json_of(&outcome, 0);
    let others = &object["others"];
    assert_eq!((&others["count"], others["places"].as_array().expect("a list").len()), (&json!(25), 20));
    assert_eq!(others["places"][19], json!("mesh 23 `U`, primitive 0"));
    assert_eq!((&object["message"], &object["file"]), (&json!(message(&many)), &json!("model.glb")));
}

#[test]
fn a_mesh_of_two_nodes_is_one_place() {
    let mut g = with_meshes("AB", "COLOR_1", &[1.0; 12]);
    g.node(None, json!({ "mesh": 4 }));
    g.node(None, json!({ "mesh": 3 }));
    let warnings = g.import().warnings();
    assert!(
        warnings.len() == 1 && warnings[0].ends_with("also at another place: mesh 4 `B`, primitive 0"),
        "{warnings:#?}"
    );
}

#[test]
fn different_facts_have_warnings_of_their_own() {
    // Numbers differ, facts do not.
    let mut g = with_meshes("AB", "COLOR_0", &[2.0; 12]);
    let colors = g.floats("VEC4", &[0.5, 0.5, 0.5, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    g.json["meshes"][4]["primitives"][0]["attributes"]["COLOR_0"] = json!(colors);
    let mesh = g.triangle();
    let colors = g.floats("VEC4", &[f32::NAN, 0.5, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    g.json["meshes"][mesh]["primitives"][0]["attributes"]["COLOR_0"] = json!(colors);
    g.node(None, json!({ "mesh": mesh }));
    let warnings = g.import().warnings();
    assert_eq!(warnings.len(), 2, "{warnings:#?}");
    assert!(warnings[0].contains("12 numbers are outside of 0..1") && warnings[0].ends_with("mesh 4 `B`, primitive 0"));
    assert!(warnings[1].ends_with("COLOR_0: 1 numbers are not finite and are set to zero"), "{warnings:#?}");

    // A normal and a tangent.
    let mut g = with_meshes("A", "TANGENT", &[f32::NAN; 12]);
    let normals = g.floats("VEC3", &[f32::NAN; 9]);
    g.json["meshes"][1]["primitives"][0]["attributes"]["NORMAL"] = json!(normals);
    let warnings = g.import().warnings();
    assert!(warnings.len() == 2 && warnings.iter().all(|warning| !warning.contains("also at")), "{warnings:#?}");
}

#[test]
fn weights_of_several_meshes_have_one_warning_per_fault() {
    let mut g = figure();
    for (i, weights) in [[0.0; 12], [0.5; 12], [0.0; 12]].into_iter().enumerate() {
        let mesh = g.json["meshes"][0].clone();
        let mesh = g.push("meshes", mesh);
        let weights = g.floats("VEC4", &weights);
        g.json["meshes"][mesh]["name"] = json!(format!("Piece{i}"));
        g.json["meshes"][mesh]["primitives"][0]["attributes"]["WEIGHTS_0"] = json!(weights);
        g.node(None, json!({ "mesh": mesh, "skin": 0 }));
    }
    let outcome = g.import();
    let without = "mesh 3 `Piece0`, primitive 0: vertices without weights follow their first joint: 3 of 3";
    let sum = "mesh 4 `Piece1`, primitive 0: the weights of 3 of 3 vertices sum to 2.000 to 2.000; they are divided by \
               their sum";
    let expected = [format!("{without}; also at another place: mesh 5 `Piece2`, primitive 0"), sum.to_owned()];
    assert_eq!(outcome.warnings(), expected.map(|message| format!("model `model`: model.glb: {message}")));
}

#[test]
fn missing_images_are_collected_with_their_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let imported = |key: &str| {
        let mut g = with_meshes("ABC", "TANGENT", &[1.0; 12]);
        let uvs = g.floats("VEC2", &[0.0; 6]);
        for (i, file) in ["a.png", "b.png", "a.png"].into_iter().enumerate() {
            let image = g.push("images", json!({ "uri": file }));
            let texture = g.push("textures", json!({ "source": image }));
            let texture = json!({ "index": texture });
            let material = match key {
                "normalTexture" => json!({ "name": format!("M{i}"), "normalTexture": texture }),
                _ => json!({ "name": format!("M{i}"), "pbrMetallicRoughness": { "baseColorTexture": texture } }),
            };
            let material = g.push("materials", material);
            let primitive = &mut g.json["meshes"][3 + i]["primitives"][0];
            primitive["material"] = json!(material);
            primitive["attributes"]["TEXCOORD_0"] = json!(uvs);
        }
        std::fs::write(folder.path().join("model.glb"), g.glb()).expect("writable");
        import_file(folder.path(), "model.glb")
    };
    let others = "; also at 2 other places: material 1 `M1`: image 1 (b.png); material 2 `M2`: image 2 (a.png)";
    let warnings = imported("normalTexture").warnings();
    assert_eq!(warnings.len(), 1, "{warnings:#?}");
    let start =
        "model `model`: model.glb: material 0 `M0`: the normal texture is ignored: image 0 (a.png): cannot read";
    assert!(warnings[0].starts_with(start) && warnings[0].ends_with(others), "{}", warnings[0]);
    // Missing base colours are errors.
    let outcome = imported("baseColorTexture");
    let errors = outcome.errors();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert!(errors[0].contains("image 0 (a.png): cannot read"), "{}", errors[0]);
    assert_eq!(json_of(&outcome, 0)["others"]["count"], json!(2));
}

#[test]
fn places_in_other_files_have_the_name_of_the_file() {
    let mut g = figure();
    let times = g.floats("SCALAR", &[-0.5, 1.0]);
    for i in 0..2 {
        g.json["animations"][i]["samplers"][0]["input"] = json!(times);
    }
    let mut other = g.clone();
    other.json["animations"].as_array_mut().expect("a list").remove(0);
    other.json["animations"][0]["name"] = json!("Jump");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("model.glb"), g.glb()).expect("writable");
    std::fs::write(folder.path().join("other.glb"), other.glb()).expect("writable");
    let mut entry = entry("model.glb");
    entry.animations = vec![animation("other.glb")];
    let warnings = import_entry(folder.path(), &entry, Pixels::Decode).warnings();
    let expected = "model `model`: model.glb: clip `Armature|Walk`: the first key is at -0.5 s; the part before 0 s is \
                    not played; also at 2 other places: clip `Armature|RunFast`; other.glb: clip `Jump`";
    assert_eq!(warnings, [expected]);
}

#[test]
fn clips_and_nodes_are_places() {
    let mut g = figure();
    let values = g.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
    for i in 0..2 {
        g.json["animations"][i]["samplers"][0]["output"] = json!(values);
        for channel in g.json["animations"][i]["channels"].as_array_mut().expect("a list") {
            channel["target"]["path"] = json!("rotation");
        }
    }
    let warnings = g.import().warnings();
    let turns = "the rotation turns by about 180 degrees or more between its keys at 0.000 s and 1.000 s";
    let first =
        format!("model `model`: model.glb: clip `Armature|Walk`: node 1 `Spine`: {turns}; also at 2 other places: ");
    let others = "clip `Armature|Walk`: node 2 `Head`; clip `Armature|RunFast`: node 2 `Head`";
    assert_eq!(warnings, [first + others]);

    let mut g = figure();
    let idle = g.node(None, json!({ "name": "Nothing" }));
    for name in ["Armature|A", "Armature|B", "Armature|C"] {
        g.clip(name, &[idle]);
    }
    let message =
        "clip `Armature|A` moves nothing that is drawn; also at 2 other places: clip `Armature|B`; clip `Armature|C`";
    assert_eq!(g.import().warnings(), [format!("model `model`: {message}")]);
}
