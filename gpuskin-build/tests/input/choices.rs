//! Decisions of the importer: bones, clips and their names, included nodes, and the messages for
//! rejected input.

use std::path::Path;

use crate::common::build::{Gltf, figure};
use crate::common::{Outcome, animation, at, clip, entry, import_entry, refused, warned};
use glam::{DMat4, DVec3};
use gpuskin_build::internals::import::Pixels;
use gpuskin_build::internals::manifest::{ClipEntry, EventEntry, ModelEntry, Rename};
use gpuskin_build::internals::manifest::{ForwardAxis, UpAxis};
use gpuskin_build::internals::model::{Local, Model, Primitive};
use miette::Diagnostic as _;
use serde_json::json;

/// Returns the vertices in the scene, at rest.
fn rest(model: &Model, p: &Primitive) -> Vec<DVec3> {
    let mut global = vec![DMat4::IDENTITY; model.nodes.len()];
    for &i in &model.order {
        let local = match model.nodes[i].local {
            Local::Trs(t) => DMat4::from_scale_rotation_translation(t.scale, t.rotation, t.translation),
            Local::Matrix(m) => m,
        };
        global[i] = model.nodes[i].parent.map_or(local, |p| global[p] * local);
    }
    let bone = |b: u16| global[model.bones[usize::from(b)].node] * model.bones[usize::from(b)].inverse_bind;
    let vertex =
        |v: usize| p.influences.of(v).iter().map(|(b, w)| bone(*b).transform_point3(p.positions[v]) * *w).sum();
    (0..p.positions.len()).map(vertex).collect()
}

fn near(a: &[DVec3], b: &[[f64; 3]]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!(a.distance(DVec3::from_array(*b)) < 1e-6, "found {a}, expected {b:?}");
    }
}

fn names(model: &Model) -> Vec<&str> {
    model.clips.iter().map(|c| c.name.as_str()).collect()
}

#[test]
fn bones_are_shared_and_unused_joints_dropped() {
    let outcome = figure().import();
    let model = outcome.model();
    // The hat follows the head's bone, the stones share a static bone, and the unused joint is not
    // a bone.
    let bones: Vec<_> = model.bones.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(bones, ["Spine", "Head", "Stone1"]);
    let [body, hat, stone1, stone2] = &model.primitives[..] else { panic!("four primitives") };
    near(&rest(model, body), &[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    near(&rest(model, stone1), &[[3.0, 0.0, 0.0], [4.0, 0.0, 0.0], [3.0, 1.0, 0.0]]);
    near(&rest(model, stone2), &[[0.0, 0.0, 0.0], [-2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]);
    near(&rest(model, hat), &[[-0.24, 1.57, 0.0], [0.04, 2.53, 0.0], [-1.2, 1.85, 0.0]]);
    assert_eq!(body.influences.of(2), [(1, 0.75), (0, 0.25)]);
    // The mirrored stone still faces +Z.
    assert_eq!((stone1.triangles[0], stone2.triangles[0]), ([0, 1, 2], [0, 2, 1]));
    assert_eq!(stone2.normals.as_ref().map(|n| n[0]), Some(DVec3::Z));
}

#[test]
fn mirrored_node_has_a_mirrored_inverse_bind() {
    let mut g = Gltf::new();
    let mesh = g.triangle();
    let node = g.node(None, json!({ "name": "Shield", "mesh": mesh, "scale": [1, 1, -1] }));
    g.clip("Swing", &[node]);
    let outcome = g.import();
    let model = outcome.model();
    let primitive = &model.primitives[0];
    assert!(model.bones[0].inverse_bind.determinant() < 0.0);
    assert_eq!(primitive.triangles[0], [0, 2, 1]);
    near(&rest(model, primitive), &[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
}

#[test]
fn static_props_share_a_bone() {
    let mut g = figure();
    let mesh = g.triangle();
    for i in 0..50 {
        g.node(None, json!({ "name": format!("Prop{i}"), "mesh": mesh, "translation": [i, 0, 0] }));
        g.node(Some(2), json!({ "name": format!("Feather{i}"), "mesh": mesh, "translation": [i, 0, 0] }));
    }
    assert_eq!(g.import().model().bones.len(), 3);
    // A prop with zero scale is invisible, and not an error.
    g.node(None, json!({ "name": "Flat", "mesh": mesh, "scale": [0, 0, 0] }));
    assert_eq!(g.import().model().bones.len(), 3);
}

#[test]
fn bone_with_singular_inverse_bind_is_not_shared() {
    let mut g = figure();
    let view =
        g.json["accessors"][g.json["skins"][0]["inverseBindMatrices"].as_u64().expect("index") as usize]["bufferView"]
            .clone();
    let offset =
        g.json["bufferViews"][view.as_u64().expect("index") as usize]["byteOffset"].as_u64().expect("offset") as usize;
    // The Z axis of the head's matrix.
    g.bin[offset + 64 + 40..][..4].copy_from_slice(&0_f32.to_le_bytes());
    let outcome = g.import();
    let bones: Vec<_> = outcome.model().bones.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(bones, ["Spine", "Head", "Head", "Stone1"]);
    assert_eq!(outcome.model().bones[2].inverse_bind, DMat4::IDENTITY);
}

#[test]
fn skins_share_bones_of_common_joints() {
    let mut g = figure();
    let skin = g.json["skins"][0].clone();
    let skin = g.push("skins", skin);
    g.node(None, json!({ "name": "Coat", "mesh": 0, "skin": skin }));
    assert_eq!(g.import().model().bones.len(), 3);
}

#[test]
fn too_many_bones_are_rejected() {
    let mut g = Gltf::new();
    let mesh = g.triangle();
    let nodes: Vec<usize> = (0..1025).map(|i| g.node(None, json!({ "name": format!("N{i}"), "mesh": mesh }))).collect();
    g.clip("Move", &nodes);
    refused(&g.import(), &["1025 bones", "1024"]);
}

#[test]
fn clips_are_named_after_their_animations() {
    let outcome = figure().import();
    assert_eq!(names(outcome.model()), ["walk", "run_fast"]);
    assert_eq!(outcome.model().clips[1].source, "Armature|RunFast");
    let mut g = figure();
    g.clip("Other|Jump", &[1]);
    g.push("animations", json!({}));
    let outcome = g.import();
    assert_eq!(names(outcome.model()), ["armature_walk", "armature_run_fast", "other_jump", "animation_3"]);
    warned(&outcome, &["`animation 3` moves nothing"]);
}

#[test]
fn listed_clips_are_imported_and_unknown_ones_rejected() {
    let choose = |clips| figure().import_with(|e| e.clips = Some(clips));
    let outcome = choose(vec![clip("sprint", Some("Armature|RunFast")), clip("walk", None)]);
    assert_eq!(names(outcome.model()), ["sprint", "walk"]);
    assert_eq!(outcome.model().clips[0].index, 1);
    let help =
        |outcome: &Outcome| format!("{}", outcome.diagnostics.iter().next().and_then(|f| f.help()).expect("help"));
    let outcome = choose(vec![clip("wakl", None)]);
    refused(&outcome, &["clip `wakl` not found"]);
    assert_eq!(help(&outcome), "did you mean `walk`? Available: `walk`, `run_fast`");
    let outcome = choose(vec![clip("walk", Some("Armature|walk"))]);
    refused(&outcome, &["clip `Armature|walk` not found"]);
    assert_eq!(help(&outcome), "did you mean `Armature|Walk`? Available: `Armature|Walk`, `Armature|RunFast`");
}

#[test]
fn clips_with_the_same_name_get_numbers() {
    let import = |titles: &[&str], change: &dyn Fn(&mut ModelEntry)| {
        let mut g = figure();
        titles.iter().for_each(|title| {
            g.clip(title, &[1]);
        });
        g.import_with(change)
    };
    let baked = |titles: &[&str]| import(titles, &|_| {});
    // In another case: the clip whose title is the name keeps it.
    let outcome = baked(&["Armature|walk"]);
    assert_eq!(names(outcome.model()), ["walk_2", "run_fast", "walk"]);
    warned(
        &outcome,
        &[
            "model.glb: 2 clips have the name `walk` in Rust: `Armature|walk` keeps it, `Armature|Walk` becomes `walk_2`",
        ],
    );
    let outcome = baked(&["Armature|Walk"]);
    assert_eq!(names(outcome.model()), ["walk", "run_fast", "walk_2"]);
    let message = "2 clips are named `Armature|Walk`: the first is baked as `walk`, the others as `walk_2`";
    assert_eq!(outcome.warnings(), [format!("model `model`: model.glb: {message}")]);
    let help = outcome.diagnostics.iter().next().expect("a warning").help_text();
    assert!(help.contains("`exclude_clips = [\"walk_2\"]`") && help.contains("source = \"walk_2\""), "{help}");
    // Numbers that other clips have are skipped.
    let outcome = baked(&["Armature|Walk", "Armature|Walk_2", "Armature|Walk", "Armature|Walk3"]);
    assert_eq!(names(outcome.model()), ["walk", "run_fast", "walk_3", "walk_2", "walk_4", "walk3"]);
    // Names without letters.
    assert_eq!(names(baked(&["Armature|-", "Armature|+"]).model()), ["walk", "run_fast", "unnamed", "unnamed_2"]);
    let many = vec!["Armature|Walk"; 9];
    warned(&baked(&many), &["10 clips are named `Armature|Walk`", "`walk_5`, `walk_6` and 4 more"]);
    let mixed = [&["Armature|walk"][..], &many].concat();
    warned(&baked(&mixed), &["11 clips have the name `walk`", "`Armature|Walk` becomes `walk_6`, and 5 more"]);

    // Excluded clips leave their name to others; numbers can be excluded, too.
    let exclude = |pattern: &str| import(&["Armature|walk"], &|e| e.exclude_clips = vec![at(pattern.to_owned())]);
    let outcome = exclude("Armature|walk");
    assert_eq!((names(outcome.model()), outcome.warnings().len()), (vec!["walk", "run_fast"], 0));
    let outcome = exclude("walk_2");
    assert_eq!((names(outcome.model()), outcome.warnings().len()), (vec!["run_fast", "walk"], 0));
    assert_eq!(outcome.model().clips[1].index, 2);
    warned(&exclude("walk_3"), &["`exclude_clips`: no clip is named `walk_3`"]);
}

#[test]
fn tables_find_clips_with_the_same_name() {
    let listed = |title: &str, tables: Vec<ClipEntry>| {
        let mut g = figure();
        g.clip(title, &[1]);
        g.import_with(|e| e.clips = Some(tables))
    };
    let index = |outcome: &Outcome| outcome.model().clips.iter().map(|clip| clip.index).collect::<Vec<_>>();
    let other = "Armature|walk";
    assert_eq!(index(&listed(other, vec![clip("walk", Some(other))])), [2]);
    refused(&listed(other, vec![clip("walk", None)]), &["matches two clips"]);
    // The numbers say which is which if all are listed.
    let outcome = listed(other, vec![clip("walk", None), clip("walk_2", None)]);
    assert_eq!((index(&outcome), outcome.warnings().len()), (vec![2, 0], 0));

    let same = "Armature|Walk";
    let outcome = listed(same, vec![clip("walk", Some(same))]);
    warned(&outcome, &["2 clips", "the first one is used"]);
    let help = outcome.diagnostics.iter().next().expect("a warning").help_text();
    assert_eq!(help, "if another one is meant, write its name with a number as `source`: `walk_2`");
    assert_eq!(index(&outcome), [0]);
    let outcome = listed(same, vec![clip("stride", Some("walk_2")), clip("walk", None)]);
    assert_eq!((index(&outcome), outcome.warnings().len()), (vec![2, 0], 0));
    // Settings are those of the table.
    let mut second = clip("walk_2", None);
    second.events = vec![EventEntry { name: at("step".into()), times: vec![at(0.5)] }];
    let outcome = listed(same, vec![clip("walk", None), second]);
    assert_eq!(outcome.model().clips.iter().map(|clip| clip.events.len()).collect::<Vec<_>>(), [0, 1]);
    refused(&listed(same, vec![clip("walk_3", None)]), &["clip `walk_3` not found"]);
}

fn with_other(other: &Gltf, clips: Option<Vec<gpuskin_build::internals::manifest::ClipEntry>>) -> Outcome {
    with_renamed(other, clips, &[])
}

fn with_renamed(
    other: &Gltf,
    clips: Option<Vec<gpuskin_build::internals::manifest::ClipEntry>>,
    rename: &[(&str, &str)],
) -> Outcome {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("model.glb"), figure().glb()).expect("writable");
    std::fs::write(folder.path().join("other.glb"), other.glb()).expect("writable");
    let mut entry = entry("model.glb");
    entry.animations = vec![animation("other.glb")];
    entry.clips = clips;
    let rename = rename.iter().map(|(from, to)| Rename { from: (*from).to_owned(), to: (*to).to_owned() });
    entry.rename = rename.collect();
    let outcome = import_entry(folder.path(), &entry, Pixels::Decode);
    assert_eq!(outcome.inputs.len(), 2);
    outcome
}

#[test]
fn clips_from_other_files_match_nodes_by_name() {
    let mut g = Gltf::new();
    let tail = g.node(None, json!({ "name": "Tail" }));
    let head = g.node(None, json!({ "name": "Head" }));
    g.clip("mixamo.com", &[head, tail]);
    // Meshes of the other file are ignored, even compressed ones.
    g.json["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    let outcome = with_other(&g, None);
    // The name says nothing about the clip.
    assert_eq!(names(outcome.model()), ["walk", "run_fast", "other"]);
    let clip_ = &outcome.model().clips[2];
    assert_eq!((clip_.file.as_deref(), clip_.channels.len(), clip_.channels[0].node), (Some("other.glb"), 1, 2));
    warned(&outcome, &["1 of 2 nodes", "`Tail`"]);

    g.json["animations"][0]["name"] = json!("Armature|Walk");
    let outcome = with_other(&g, None);
    assert_eq!(names(outcome.model()), ["walk", "run_fast", "walk_2"]);
    warned(&outcome, &["`Armature|Walk` of model.glb keeps it", "`Armature|Walk` of other.glb becomes `walk_2`"]);
    let source = Some("other.glb#Armature|Walk");
    let outcome = with_other(&g, Some(vec![clip("walk", source)]));
    assert!(outcome.model().clips[0].file.is_some());
    warned(&with_other(&g, Some(vec![clip("run_fast", None)])), &["other.glb", "no clip of this file is baked"]);

    let mut g = Gltf::new();
    let tail = g.node(None, json!({ "name": "Tail" }));
    g.clip("Wag", &[tail]);
    refused(&with_other(&g, None), &["other.glb", "only nodes that", "`Tail`"]);
}

#[test]
fn clips_match_nodes_whose_names_differ_in_a_prefix() {
    let moving = |nodes: &[&str]| {
        let mut g = Gltf::new();
        let nodes: Vec<usize> = nodes.iter().map(|name| g.node(None, json!({ "name": name }))).collect();
        g.clip("wave", &nodes);
        g
    };
    let moved =
        |outcome: &Outcome| -> Vec<usize> { outcome.model().clips[2].channels.iter().map(|c| c.node).collect() };
    let mixamo = moving(&["mixamorig:Head", "mixamorig:Spine"]);
    let outcome = with_other(&mixamo, None);
    assert_eq!(moved(&outcome), [1, 2]);
    warned(&outcome, &["2 nodes are matched", "`mixamorig:Head` with `Head`"]);
    // With the suggested key there is no warning.
    let outcome = with_renamed(&mixamo, None, &[("mixamorig:*", "*")]);
    assert_eq!((moved(&outcome), outcome.warnings().len()), (vec![1, 2], 0));
    let outcome = with_renamed(&moving(&["skull", "Bone_Spine_R"]), None, &[("skull", "Head"), ("Bone_*_R", "*")]);
    assert_eq!((moved(&outcome), outcome.warnings().len()), (vec![1, 2], 0));
    // Names that nearly match are listed, but not matched.
    refused(&with_other(&moving(&["Hed", "Spines"]), None), &["nearly match: `Hed` = `Head`, `Spines` = `Spine`"]);
    // But not those that another node moves.
    let warnings = with_other(&moving(&["Head", "mixamorig:Spine", "Hed", "Spines"]), None).warnings();
    assert!(warnings.iter().any(|warning| warning.contains("2 of 4 nodes")), "{warnings:#?}");
    assert!(!warnings.iter().any(|warning| warning.contains("nearly match")), "{warnings:#?}");
    refused(&with_renamed(&moving(&["Head"]), None, &[("*", "x*")]), &["only nodes that"]);
}

#[test]
fn missing_file_hides_errors_about_its_clips() {
    let clips = || Some(vec![clip("walk", None), clip("wave", None)]);
    let outcome = figure().import_with(|e| (e.animations, e.clips) = (vec![animation("wave.glb")], clips()));
    assert_eq!(outcome.errors().len(), 1, "{:#?}", outcome.errors());
    refused(&outcome, &["cannot read", "wave.glb"]);
    refused(&figure().import_with(|e| e.clips = clips()), &["clip `wave` not found"]);
}

#[test]
fn include_and_exclude_select_nodes() {
    let choose = |include: &[&str], exclude: &[&str]| {
        let list = |names: &[&str]| names.iter().map(|n| at((*n).to_owned())).collect::<Vec<_>>();
        figure().import_with(|e| (e.include, e.exclude) = (list(include), list(exclude)))
    };
    let parts = |outcome: &Outcome| outcome.model().primitives.iter().map(|p| p.node).collect::<Vec<_>>();
    assert_eq!(parts(&choose(&["Body"], &[])), [3]);
    assert_eq!(parts(&choose(&["Root", "Stone1"], &[])), [4, 5]);
    assert_eq!(parts(&choose(&[], &["Root", "Stone1"])), [3, 6]);
    refused(&choose(&["Bodi"], &[]), &["node `Bodi` not found"]);
    refused(&choose(&[], &["Triangle"]), &["node `Triangle` not found"]);
    refused(&choose(&["Body"], &["Body"]), &["no mesh to draw"]);
}

#[test]
fn all_errors_are_reported_together() {
    let mut g = figure();
    g.json["meshes"][1]["primitives"][0]["attributes"]["POSITION"] = json!(999);
    g.json["meshes"][2]["primitives"][0]["material"] = json!(7);
    g.json["animations"][0]["samplers"][0]["interpolation"] = json!("BEZIER");
    let outcome = g.import_with(|e| e.include = vec![at("Boddy".into()), at("Hat".into()), at("Stone1".into())]);
    refused(&outcome, &["model.glb", "mesh 1 `Triangle`, primitive 0", "POSITION", "accessor 999 does not exist"]);
    refused(&outcome, &["material 7"]);
    refused(&outcome, &["clip `Armature|Walk`", "`BEZIER`"]);
    refused(&outcome, &["`Boddy`"]);
    assert!(outcome.inputs.iter().any(|i| i.ends_with("model.glb")));
}

#[test]
fn unknown_enum_values_are_rejected() {
    let refuse = |place: &str, value: serde_json::Value, parts: &[&str]| {
        let mut g = textured(&png(4, 4));
        *g.json.pointer_mut(place).expect("a place") = value;
        refused(&g.import(), parts);
    };
    let position = figure().json["meshes"][1]["primitives"][0]["attributes"]["POSITION"].clone();
    let place = |key: &str| format!("/accessors/{position}/{key}");
    refuse(&place("componentType"), json!(5124), &["POSITION", "unknown component type 5124"]);
    refuse(&place("type"), json!("VEC9"), &["POSITION", "expected VEC3, found VEC9"]);
    refuse(&place("type"), json!("MAT2"), &["POSITION", "expected VEC3, found MAT2"]);
    refuse(&place("count"), json!(-1), &["accessors[", "].count", "whole number"]);
    let place = "/materials/1/alphaMode";
    refuse(place, json!("DITHER"), &["material 1 `Felt`", "unknown alpha mode `DITHER`"]);

    let mut g = figure();
    g.json["meshes"][1]["primitives"][0]["mode"] = json!(7);
    refused(&g.import(), &["mesh 1 `Triangle`, primitive 0", "unknown primitive mode 7"]);
    let mut g = figure();
    let indices = json!({ "bufferView": 0, "componentType": 5126 });
    let place = format!("/accessors/{position}");
    g.json.pointer_mut(&place).expect("a place")["sparse"] =
        json!({ "count": 1, "indices": indices, "values": { "bufferView": 0 } });
    refused(&g.import(), &["POSITION", "sparse", "component type 5126", "not allowed"]);
}

#[test]
fn missing_files_clips_and_meshes_are_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let outcome = crate::common::import_file(folder.path(), "gone.glb");
    refused(&outcome, &["cannot read", "gone.glb"]);
    assert_eq!(outcome.inputs.len(), 1);
    refused(
        &crate::common::import_file(folder.path().parent().expect("above"), folder.path().to_str().expect("UTF-8")),
        &["not a regular file"],
    );
    let mut g = figure();
    g.json["animations"] = json!([]);
    let still = g.import();
    let clips: Vec<_> = still.model().clips.iter().map(|clip| (clip.name.as_str(), clip.end)).collect();
    assert_eq!(clips, [("still", 0.0)], "a model without animation has one pose");
    assert!(still.warnings().is_empty(), "{:?}", still.warnings());
    let named = g.import_with(|entry| entry.clips = Some(vec![clip("run", None)]));
    refused(&named, &["clip `run` not found: the file has no animation"]);
    let mut g = Gltf::new();
    let node = g.node(None, json!({}));
    g.clip("Run", &[node]);
    refused(&g.import(), &["no mesh to draw"]);
}

#[test]
fn text_that_is_not_gltf_is_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |text: &str| {
        std::fs::write(folder.path().join("a.gltf"), text).expect("writable");
        crate::common::import_file(folder.path(), "a.gltf")
    };
    refused(&read(""), &["a.gltf", "not glTF"]);
    refused(&read("Kaydara FBX Binary"), &["a.gltf", "not glTF"]);
    refused(&read("{}"), &["asset"]);
    refused(&read(r#"{"asset":{"version":"1.0"}}"#), &["\"1.0\" is not supported"]);
    refused(&read(r#"{"asset":{"version":"2.0"},"nodes":[{},{"mesh":-1}]}"#), &["nodes[1].mesh", "whole number"]);
    refused(
        &read(r#"{"asset":{"version":"2.0"},"extensionsRequired":["VENDOR_x","KHR_mesh_quantization"]}"#),
        &["`VENDOR_x`"],
    );
    refused(&read(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))), &["a.gltf"]);
}

#[test]
fn invalid_vertex_data_warns() {
    let mut g = figure();
    let zero = g.floats("VEC4", &[0.0, 0.0, 0.0, 0.0, 3.0, 1.0, 0.0, 0.0, 0.5, 0.5, -1.0, 0.0]);
    let primitive = &mut g.json["meshes"][0]["primitives"][0];
    primitive["attributes"]["WEIGHTS_0"] = json!(zero);
    primitive["targets"] = json!([{ "POSITION": 0 }]);
    let outcome = g.import();
    warned(&outcome, &["vertices without weights follow their first joint: 1 of 3"]);
    warned(&outcome, &["weights of 1 of 3 vertices sum to 4.000"]);
    warned(&outcome, &["negative weights are set to zero: 1"]);
    let influences = &outcome.model().primitives[0].influences;
    assert_eq!(influences.of(0), [(0, 1.0)]);
    assert_eq!(influences.of(1), [(1, 0.75), (0, 0.25)]);
    // As some exporters write a vertex without weights: zeros, divided by their sum.
    let nan = g.floats(
        "VEC4",
        &[f32::NAN; 4].into_iter().chain([1.0, 0.0, 0.0, 0.0, f32::INFINITY, 1.0, 0.0, 0.0]).collect::<Vec<_>>(),
    );
    g.json["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] = json!(nan);
    let outcome = g.import();
    warned(&outcome, &["weights that are infinite or NaN are set to zero: 5"]);
    warned(&outcome, &["vertices without weights follow their first joint: 1 of 3"]);
    assert_eq!(outcome.model().primitives[0].influences.of(0), [(0, 1.0)]);

    let mut g = figure();
    let nan = g.floats("VEC3", &[f32::NAN; 9]);
    g.json["meshes"][1]["primitives"][0]["attributes"]["NORMAL"] = json!(nan);
    warned(&g.import(), &["NORMAL", "9 numbers are not finite"]);
    g.json["meshes"][1]["primitives"][0]["attributes"]["POSITION"] = json!(nan);
    refused(&g.import(), &["POSITION", "element 0 is not finite"]);

    let mut g = figure();
    g.json["meshes"][0]["primitives"][0]["attributes"].as_object_mut().expect("object").remove("JOINTS_0");
    warned(&g.import(), &["no JOINTS_0"]);
    let mut g = figure();
    g.json["meshes"][1]["primitives"][0]["mode"] = json!(1);
    warned(&g.import(), &["lines", "not drawn"]);
}

#[test]
fn key_times_are_checked() {
    let with = |times: &[f32]| {
        let mut g = figure();
        let input = g.floats("SCALAR", times);
        let output = g.floats("VEC3", &vec![1.0; times.len() * 3]);
        g.json["animations"][0]["samplers"][0] = json!({ "input": input, "output": output });
        g.import()
    };
    let outcome = with(&[0.5, 1.5]);
    assert_eq!((outcome.model().clips[0].start, outcome.model().clips[0].end), (0.5, 1.5));
    refused(&with(&[0.0, 2.0, 1.0]), &["clip `Armature|Walk`, sampler 0", "key 2 at 1 s is earlier than key 1 at 2 s"]);
    refused(&with(&[0.0, f32::INFINITY]), &["sampler 0", "not finite"]);
    warned(&with(&[0.0, 1.0, 1.0, 2.0]), &["several keys at one time"]);
    warned(&with(&[-1.0, 1.0]), &["first key is at -1 s"]);
}

#[test]
fn last_of_two_channels_is_used() {
    let mut g = figure();
    g.clip("Armature|Twice", &[1, 1]);
    let output = g.floats("VEC3", &[7.0; 6]);
    let animation = &mut g.json["animations"][2];
    let input = animation["samplers"][0]["input"].clone();
    animation["samplers"].as_array_mut().expect("a list").push(json!({ "input": input, "output": output }));
    animation["channels"][1]["sampler"] = json!(1);
    let outcome = g.import();
    warned(&outcome, &["two channels", "`Spine`"]);
    let channels = &outcome.model().clips[2].channels;
    assert_eq!((channels.len(), channels[0].curve.values[0].x), (1, 7.0));
}

#[test]
fn node_matrix_stays_a_matrix() {
    let mut g = figure();
    g.json["nodes"][0] = json!({ "name": "Root", "children": [1], "matrix": [2,0,0,0, 0,2,0,0, 0,0,2,0, 5,0,0,1] });
    let outcome = g.import();
    assert!(matches!(outcome.model().nodes[0].local, Local::Matrix(_)));
}

#[test]
fn scale_and_up_axis_transform_the_root() {
    let outcome = figure().import_with(|e| (e.scale, e.up, e.forward) = (0.01, UpAxis::Z, ForwardAxis::NegY));
    let root = outcome.model().root;
    near(&[root.transform_point3(DVec3::new(100.0, 200.0, 300.0))], &[[1.0, 3.0, -2.0]]);
}

#[test]
fn forward_axis_turns_the_root() {
    // A point one unit ahead of the model, two above it and three to its left.
    for (up, forward, point) in [
        (UpAxis::Y, ForwardAxis::Z, [3.0, 2.0, 1.0]),
        (UpAxis::Y, ForwardAxis::NegZ, [-3.0, 2.0, -1.0]),
        (UpAxis::Y, ForwardAxis::X, [1.0, 2.0, -3.0]),
        (UpAxis::Y, ForwardAxis::NegX, [-1.0, 2.0, 3.0]),
        (UpAxis::Z, ForwardAxis::NegY, [3.0, -1.0, 2.0]),
        (UpAxis::Z, ForwardAxis::Y, [-3.0, 1.0, 2.0]),
        (UpAxis::Z, ForwardAxis::X, [1.0, 3.0, 2.0]),
        (UpAxis::Z, ForwardAxis::NegX, [-1.0, -3.0, 2.0]),
    ] {
        let outcome = figure().import_with(|e| (e.up, e.forward) = (up, forward));
        let root = outcome.model().root;
        near(&[root.transform_point3(DVec3::from_array(point))], &[[3.0, 2.0, 1.0]]);
        assert!(root.to_cols_array().iter().all(|c| c.to_bits() != (-0.0_f64).to_bits()), "{up:?} {forward:?}");
    }
}

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(vec![]);
    image::RgbImage::new(width, height).write_to(&mut bytes, image::ImageFormat::Png).expect("encodes");
    bytes.into_inner()
}

/// Returns the figure with a texture on its hat.
fn textured(image: &[u8]) -> Gltf {
    let mut g = figure();
    let view = g.view(image);
    g.push("images", json!({ "bufferView": view, "name": "skin" }));
    g.push("samplers", json!({ "magFilter": 9728, "wrapS": 33071, "wrapT": 33648 }));
    g.push("textures", json!({ "source": 0, "sampler": 0 }));
    let transform = json!({ "offset": [0.5, 0.25], "rotation": std::f64::consts::FRAC_PI_2, "scale": [2, 1] });
    let base = json!({ "index": 0, "extensions": { "KHR_texture_transform": transform } });
    g.push("materials", json!({ "name": "unused" }));
    let pbr = json!({ "baseColorTexture": base, "baseColorFactor": [1, 0.5, 0, 1] });
    g.push(
        "materials",
        json!({ "name": "Felt", "pbrMetallicRoughness": pbr, "alphaMode": "MASK", "doubleSided": true }),
    );
    let uv = g.floats("VEC2", &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    let primitive = &mut g.json["meshes"][1]["primitives"][0];
    primitive["attributes"]["TEXCOORD_0"] = json!(uv);
    primitive["material"] = json!(1);
    g
}

#[test]
fn blended_materials_are_imported_without_warning() {
    let mut g = textured(&png(4, 4));
    g.json["materials"][1]["alphaMode"] = json!("BLEND");
    let outcome = g.import();
    let felt = outcome.model().materials.iter().find(|m| m.name == "Felt").expect("the material");
    assert_eq!((felt.alpha_blend, felt.alpha_cutoff), (true, None));
    assert!(!format!("{:?}", outcome.diagnostics).contains("alpha"), "{:?}", outcome.diagnostics);
}

#[test]
fn materials_are_imported() {
    let outcome = textured(&png(4, 4)).import();
    let model = outcome.model();
    // The default material of the other meshes comes first; the unused material is dropped.
    assert_eq!(model.materials.len(), 2);
    let felt = &model.materials[1];
    assert_eq!((felt.name.as_str(), felt.base_color, felt.alpha_cutoff), ("Felt", [1.0, 0.5, 0.0, 1.0], Some(0.5)));
    let texture = felt.base_color_texture.expect("textured");
    assert!(texture.nearest && felt.double_sided && !felt.normal_map);
    assert_eq!(texture.wrap, [gpuskin_rt::internals::Wrap::Clamp, gpuskin_rt::internals::Wrap::Mirror]);
    assert_eq!((model.images[0].width, model.images[0].rgba.len()), (4, 64));
    let uvs: Vec<DVec3> = model.primitives[1].uvs.iter().map(|uv| uv.extend(0.0)).collect();
    near(&uvs, &[[0.5, 0.25, 0.0], [0.5, -1.75, 0.0], [1.5, 0.25, 0.0]]);
    assert!(model.primitives[0].uvs.is_empty());
}

#[test]
fn unsupported_images_are_rejected() {
    refused(&textured(&png(4, 4)[..40]).import(), &["material 1 `Felt`", "image 0 (skin)", "cannot be decoded"]);
    refused(&textured(&png(8200, 2)).import(), &["8200 x 2"]);
    refused(&textured(b"\xABKTX 20\xBB\r\n\x1A\n").import(), &["KTX2"]);
    refused(&textured(b"RIFF\0\0\0\0WEBPVP8 ").import(), &["cannot be decoded"]);
    refused(&textured(b"GIF89a").import(), &["Gif images are not supported"]);
    refused(&textured(b"text").import(), &["not PNG, JPEG, WebP or KTX2"]);
    let mut g = textured(b"");
    g.json["textures"][0] = json!({ "extensions": { "EXT_texture_avif": { "source": 0 } } });
    refused(&g.import(), &["EXT_texture_avif"]);
    let mut g = textured(&png(4, 4));
    g.json["meshes"][1]["primitives"][0]["attributes"].as_object_mut().expect("object").remove("TEXCOORD_0");
    warned(&g.import(), &["no TEXCOORD_0"]);
}

#[test]
fn specular_glossiness_warns() {
    let mut g = figure();
    g.push(
        "materials",
        json!({ "extensions": { "KHR_materials_pbrSpecularGlossiness": { "diffuseFactor": [1, 0, 0, 1] } } }),
    );
    g.json["meshes"][1]["primitives"][0]["material"] = json!(0);
    warned(&g.import(), &["material 0", "KHR_materials_pbrSpecularGlossiness"]);
}

#[test]
fn referenced_files_are_inputs() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        std::fs::write(path, bytes).expect("writable");
    };
    let mut g = textured(b"");
    write("art/data one.bin", &g.bin);
    write("art/t/skin.png", &png(2, 2));
    g.json["buffers"] = json!([{ "byteLength": g.bin.len(), "uri": "data%20one.bin" }]);
    g.json["images"][0] = json!({ "uri": "t/skin.png" });
    write("art/a.gltf", g.json.to_string().as_bytes());
    let outcome = crate::common::import_file(folder.path(), "art/a.gltf");
    assert_eq!(outcome.model().images[0].name, "image 0 (t/skin.png)");
    let inputs: Vec<&Path> = outcome.inputs.iter().map(|i| i.strip_prefix(folder.path()).expect("below")).collect();
    assert_eq!(inputs, ["art/a.gltf", "art/data one.bin", "art/t/skin.png"].map(Path::new));

    // A missing file counts as an input: when it appears, the build has to run again.
    g.json["images"][0] = json!({ "uri": "gone.png" });
    write("art/a.gltf", g.json.to_string().as_bytes());
    let outcome = crate::common::import_file(folder.path(), "art/a.gltf");
    refused(&outcome, &["image 0 (gone.png)", "cannot read"]);
    assert!(outcome.inputs.contains(&folder.path().join("art/gone.png")));

    g.json["buffers"] = json!([{ "uri": "data%20one.bin" }]);
    write("art/a.gltf", g.json.to_string().as_bytes());
    refused(&crate::common::import_file(folder.path(), "art/a.gltf"), &["buffers[0].byteLength is missing"]);
}

#[test]
fn files_without_meshes_say_where_their_clips_belong() {
    let refusal = |g: &Gltf| {
        let outcome = g.import();
        let diagnostic = outcome.diagnostics.iter().next().expect("an error");
        format!("{diagnostic}; {}", diagnostic.help_text())
    };
    let mut g = Gltf::new();
    let hips = g.node(None, json!({ "name": "Hips" }));
    let none = refusal(&g);
    assert!(none.ends_with("the file has no mesh to draw; export the file together with its meshes"), "{none}");
    g.clip("Walk", &[hips]);
    let clips = refusal(&g);
    assert!(clips.contains("the file has clips, but no mesh to draw; set `path` to a file of the"), "{clips}");
    assert!(clips.ends_with("and write `animations = [\"model.glb\"]`"), "{clips}");
    g.triangle();
    assert!(refusal(&g).contains("the scene has no mesh to draw"));
}

#[test]
fn excluded_clips_are_not_baked() {
    let excluded = |patterns: &[&str]| {
        let patterns = patterns.iter().map(|pattern| at((*pattern).to_owned())).collect();
        figure().import_with(|entry| entry.exclude_clips = patterns)
    };
    // By the name in the file, the same without the prefix that all clips share, or the name in Rust.
    for pattern in ["Armature|RunFast", "RunFast", "run_fast", "Run*", "*Fast", "*|RunFast", "R*t"] {
        assert_eq!(names(excluded(&[pattern]).model()), ["walk"], "{pattern}");
    }
    assert!(excluded(&["RunFast"]).warnings().is_empty());
    // The rest pose is left.
    assert_eq!(names(excluded(&["*"]).model()), ["still"]);
    let outcome = excluded(&["RunFsat"]);
    assert_eq!(names(outcome.model()), ["walk", "run_fast"]);
    warned(&outcome, &["`exclude_clips`: no clip is named `RunFsat`"]);
    let outcome = figure().import_with(|entry| {
        entry.exclude_clips = vec![at("Walk".into())];
        entry.clips = Some(vec![clip("walk", None)]);
    });
    assert_eq!(names(outcome.model()), ["walk"]);
    warned(&outcome, &["`exclude_clips` has no effect", "lists the clips to bake"]);
}

#[test]
fn clips_of_one_name_in_several_files_can_be_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut other = figure();
    other.json["animations"].as_array_mut().expect("a list").remove(0);
    // A clip with the same keys would be left out.
    other.json["animations"][0]["samplers"][0]["interpolation"] = json!("STEP");
    std::fs::write(folder.path().join("model.glb"), figure().glb()).expect("writable");
    std::fs::write(folder.path().join("other.glb"), other.glb()).expect("writable");
    let mut entry = entry("model.glb");
    entry.animations = vec![animation("other.glb")];
    let outcome = import_entry(folder.path(), &entry, Pixels::Decode);
    assert_eq!(names(outcome.model()), ["walk", "run_fast", "run_fast_2"]);
    let help = outcome.diagnostics.iter().next().expect("a warning").help_text();
    assert!(help.contains("exclude_clips = [\"run_fast_2\"]"), "{help}");
    entry.exclude_clips = vec![at("run_fast_2".into())];
    let outcome = import_entry(folder.path(), &entry, Pixels::Decode);
    assert_eq!(names(outcome.model()), ["walk", "run_fast"]);
    entry.exclude_clips = vec![at("RunFast".into())];
    assert_eq!(names(import_entry(folder.path(), &entry, Pixels::Decode).model()), ["walk"]);
}
