//! Animation files whose nodes and morph targets are matched with those of the model.

use crate::common::build::{Gltf, figure};
use crate::common::manifest::folder;
use crate::common::samples::{face, talk};
use crate::common::{Outcome, animation, clip, entry, import_entry, refused, warned};
use glam::DVec3;
use gpuskin_build::internals::import::Pixels;
use gpuskin_build::internals::manifest::{AnimationEntry, ClipEntry};
use gpuskin_build::internals::model::Local;
use serde_json::{Value, json};

/// Imports a model with the clips of another file.
fn import(model: &Gltf, other: &Gltf) -> Outcome {
    import_files(model, &[("other.glb", other.clone())], None)
}

/// Imports a model with the clips of other files. `clips`: those of the manifest, if it lists them.
fn import_files(model: &Gltf, others: &[(&str, Gltf)], clips: Option<Vec<ClipEntry>>) -> Outcome {
    let folder = folder();
    let write = |name: &str, g: &Gltf| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder to make");
        std::fs::write(path, g.glb()).expect("a file to write");
    };
    write("model.glb", model);
    others.iter().for_each(|(name, g)| write(name, g));
    let mut entry = entry("model.glb");
    entry.animations = others.iter().map(|(name, _)| animation(name)).collect();
    entry.clips = clips;
    import_entry(folder.path(), &entry, Pixels::Decode)
}

fn named(mut g: Gltf, names: Value) -> Gltf {
    g.json["meshes"][0]["extras"] = json!({ "targetNames": names });
    g
}

/// A face without a second node, whose mesh has a third target: as the first one.
fn larger_face() -> Gltf {
    let mut g = face();
    let targets = g.json["meshes"][0]["primitives"][0]["targets"].as_array_mut().expect("a list");
    targets.push(targets[0].clone());
    g.json["meshes"][0]["weights"] = json!([0.5, 0.1, 0.25]);
    g.json["nodes"][1]["weights"] = json!([0, 1, 0]);
    g
}

/// Value of a number of the file.
fn f64_of(value: f32) -> f64 {
    value.into()
}

#[track_caller]
fn weights(outcome: &Outcome) -> &[f64] {
    let curve = &outcome.model().clips[0].morphs[0].curve;
    assert_eq!(curve.targets, outcome.model().nodes[0].weights.len());
    &curve.values
}

#[test]
fn morph_targets_are_matched_by_name() {
    let mut other = named(face(), json!(["Blink", "Smile"]));
    talk(&mut other, "LINEAR", &[0.0, 1.0], &[0.1, 0.2, 0.3, 0.4]);
    let swapped = import(&named(face(), json!(["Smile", "Blink"])), &other);
    assert_eq!(weights(&swapped), [0.2, 0.1, 0.4, 0.3].map(f64_of));
    assert!(swapped.warnings().is_empty(), "{:#?}", swapped.warnings());

    // A target that the file does not have keeps its weight.
    let more = import(&named(larger_face(), json!(["Blink", "Frown", "Smile"])), &other);
    assert_eq!(weights(&more), [f64_of(0.1), 0.1, f64_of(0.2), f64_of(0.3), 0.1, f64_of(0.4)]);
    assert!(more.warnings().is_empty(), "{:#?}", more.warnings());

    // Tangents, values, tangents.
    let mut other = named(face(), json!(["Blink", "Smile"]));
    talk(&mut other, "CUBICSPLINE", &[0.0], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let cubic = import(&named(larger_face(), json!(["Smile", "Frown", "Blink"])), &other);
    assert_eq!(weights(&cubic), [2.0, 0.0, 1.0, 4.0, 0.1, 3.0, 6.0, 0.0, 5.0]);
}

#[test]
fn morph_targets_that_the_model_lacks_are_named_if_they_move() {
    let names = json!(["Blink", "Wink", "Smile"]);
    for (wink, warns) in [(0.0, false), (0.5, true)] {
        let mut other = named(larger_face(), names.clone());
        talk(&mut other, "LINEAR", &[0.0, 1.0], &[0.0, 0.0, 0.25, 1.0, wink, 0.75]);
        let outcome = import(&named(face(), json!(["Smile", "Blink"])), &other);
        assert_eq!(weights(&outcome), [0.25, 0.0, 0.75, 1.0]);
        match warns {
            true => warned(&outcome, &["other.glb", "no morph targets of these names", "Wink"]),
            false => assert!(outcome.warnings().is_empty(), "{:#?}", outcome.warnings()),
        }
    }
}

#[test]
fn morph_targets_without_names_are_matched_by_their_number() {
    let mut other = face();
    talk(&mut other, "LINEAR", &[0.0, 1.0], &[0.0, 0.5, 1.0, 0.25]);
    for model in [face(), named(face(), json!(["Smile", "Blink"])), named(face(), json!(["Smile", "Smile"]))] {
        assert_eq!(weights(&import(&model, &other)), [0.0, 0.5, 1.0, 0.25]);
    }
    let outcome = import(&larger_face(), &other);
    assert!(outcome.model().clips[0].morphs.is_empty());
    warned(&outcome, &["other.glb", "clip `Talk`", "node 0 `Face`", "2 morph targets", "the model 3"]);
    // Names of which none is known.
    let outcome = import(&named(larger_face(), json!(["A", "B", "C"])), &named(other, json!(["D", "E"])));
    assert!(outcome.model().clips[0].morphs.is_empty());
    warned(&outcome, &["their names do not tell which is which"]);
}

/// Moves the rotation of the spine and of the head.
fn turning() -> Gltf {
    turning_to([0.6, 0.0, 0.0, 0.8])
}

fn turning_to([x, y, z, w]: [f32; 4]) -> Gltf {
    let mut g = figure();
    let (input, output) = (g.floats("SCALAR", &[0.0, 1.0]), g.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, x, y, z, w]));
    let channel = |node: usize| json!({ "sampler": 0, "target": { "node": node, "path": "rotation" } });
    let samplers = json!([{ "input": input, "output": output }]);
    g.json["animations"] = json!([{ "name": "Turn", "channels": [channel(1), channel(2)], "samplers": samplers }]);
    g
}

/// Returns the figure without clips.
fn still() -> Gltf {
    let mut g = figure();
    g.json["animations"] = json!([]);
    g
}

/// Gives the spine and the head a matrix.
fn with_matrices(mut g: Gltf, shear: f64) -> Gltf {
    for node in [1, 2] {
        let node = g.json["nodes"][node].as_object_mut().expect("an object");
        ["translation", "rotation", "scale"].iter().for_each(|key| drop(node.remove(*key)));
        node.insert("matrix".into(), json!([0, 2, 0, 0, -2, shear, 0, 0, 0, 0, 2, 0, 3, 4, 5, 1]));
    }
    g
}

#[test]
fn channels_of_other_files_leave_the_rest_of_a_matrix() {
    let outcome = import(&with_matrices(still(), 0.0), &turning());
    assert!(outcome.warnings().is_empty(), "{:#?}", outcome.warnings());
    for node in [1, 2] {
        let Local::Trs(trs) = outcome.model().nodes[node].local else { panic!("node {node} has a matrix") };
        assert!(trs.translation.abs_diff_eq(DVec3::new(3.0, 4.0, 5.0), 1e-9), "{trs:?}");
        assert!(trs.scale.abs_diff_eq(DVec3::splat(2.0), 1e-9), "{trs:?}");
    }
    let outcome = import(&with_matrices(still(), 1.0), &turning());
    warned(&outcome, &["node 1 `Spine`", "whose matrix shears", "also at another place: node 2"]);
    assert!(matches!(outcome.model().nodes[1].local, Local::Matrix(_)));
}

#[test]
fn channels_for_matrices_of_the_same_file_have_one_warning() {
    let outcome = with_matrices(turning(), 0.0).import();
    warned(
        &outcome,
        &[
            "clip `Turn`: node 1 `Spine`: a channel moves a node that has a matrix",
            "; also at another place: clip `Turn`: node 2 `Head`",
        ],
    );
    assert_eq!(outcome.warnings().len(), 1, "{:#?}", outcome.warnings());
}

#[test]
fn files_with_the_same_unknown_nodes_have_one_warning() {
    let mut other = turning();
    let cape = other.node(None, json!({ "name": "Cape" }));
    let channels = other.json["animations"][0]["channels"].as_array_mut().expect("a list");
    channels.push(json!({ "sampler": 0, "target": { "node": cape, "path": "rotation" } }));
    let mut back = other.clone();
    back.json["animations"][0]["name"] = json!("Turn back");
    let outcome = import_files(&still(), &[("turn.glb", other), ("back.glb", back)], None);
    warned(
        &outcome,
        &["2 files of `animations`, `turn.glb`, `back.glb`: 1 of 3 nodes", "do not exist in model.glb: `Cape`"],
    );
    assert_eq!(outcome.warnings().len(), 1, "{:#?}", outcome.warnings());
}

/// Returns an animation file with clips of these names.
fn with_clips(titles: &[&str]) -> Gltf {
    titled(turning(), titles)
}

/// Returns the figure with clips of these names which differ from those of [`with_clips`].
fn with_other_clips(titles: &[&str]) -> Gltf {
    titled(turning_to([0.0, 0.6, 0.0, 0.8]), titles)
}

/// Gives a file with one clip more of them, of these names.
fn titled(mut g: Gltf, titles: &[&str]) -> Gltf {
    let clip = g.json["animations"][0].clone();
    let titled = |title: &&str| {
        let mut clip = clip.clone();
        clip["name"] = json!(title);
        clip
    };
    g.json["animations"] = titles.iter().map(titled).collect();
    g
}

#[track_caller]
fn names(outcome: &Outcome) -> Vec<&str> {
    assert!(outcome.warnings().is_empty(), "{:#?}", outcome.warnings());
    outcome.model().clips.iter().map(|clip| &*clip.name).collect()
}

#[test]
fn clips_without_names_of_their_own_have_those_of_their_files() {
    let files = [
        ("art/walk.glb", &["Armature|mixamo.com|Layer0"][..]),
        ("art/Run fast.v2.glb", &["Armature|mixamo.com|Layer0"]),
        ("jump.glb", &["Take 001"]),
        ("wave.glb", &[""]),
        // Two clips share a file.
        ("both.glb", &["Take 002", "Take 003"]),
        ("idle.glb", &["Hero|Idle_01"]),
        // Two files with clips of the same name.
        ("left.glb", &["Hero|Turn"]),
        ("right.glb", &["Hero|Turn"]),
    ]
    .map(|(name, titles)| (name, with_clips(titles)));
    let expected = ["walk", "run_fast_v2", "jump", "wave", "take_002", "take_003", "idle_01", "left", "right"];
    assert_eq!(names(&import_files(&still(), &files, None)), expected);
    // The manifest finds them by these names.
    let listed = vec![clip("left", None), clip("walk", None)];
    assert_eq!(names(&import_files(&still(), &files[..1], Some(listed[1..].to_vec()))), ["walk"]);
    let outcome = import_files(&still(), &[files[0].clone(), files[6].clone(), files[7].clone()], Some(listed));
    assert_eq!(outcome.model().clips.len(), 2);

    // The model's own clips have their own names.
    assert_eq!(names(&import(&with_clips(&["Take 001"]), &with_clips(&["Nod"]))), ["take_001", "nod"]);
    let twice = [("a/walk.glb", with_clips(&["Take 001"])), ("b/walk.glb", with_other_clips(&["Take 001"]))];
    let outcome = import_files(&still(), &twice, None);
    let names: Vec<&str> = outcome.model().clips.iter().map(|clip| &*clip.name).collect();
    assert_eq!(names, ["walk", "walk_2"]);
    warned(&outcome, &["`Take 001` of a/walk.glb keeps it", "`Take 001` of b/walk.glb becomes `walk_2`"]);
}

#[test]
fn clips_of_one_name_in_several_files_get_numbers() {
    let other = with_other_clips(&["Turn"]);
    let outcome = import(&turning(), &other);
    let clips: Vec<_> = outcome.model().clips.iter().map(|clip| (&*clip.name, clip.file.as_deref())).collect();
    assert_eq!(clips, [("turn", None), ("turn_2", Some("other.glb"))]);
    let message =
        "2 clips have the name `turn` in Rust: `Turn` of model.glb keeps it, `Turn` of other.glb becomes `turn_2`";
    assert_eq!(outcome.warnings(), [format!("model `model`: {message}")]);
    // A table finds the clip by its number. The name alone could be either of them.
    let listed = |tables| import_files(&turning(), &[("other.glb", other.clone())], Some(tables));
    let outcome = listed(vec![clip("turn_2", None)]);
    assert_eq!(outcome.model().clips[0].file.as_deref(), Some("other.glb"));
    refused(
        &listed(vec![clip("turn", None)]),
        &["`turn` matches two clips: `Turn` of model.glb and `Turn` of other.glb"],
    );
    let outcome = listed(vec![clip("turn_2", None), clip("turn", None)]);
    assert_eq!(outcome.model().clips[1].file, None);
    assert!(outcome.warnings().is_empty(), "{:#?}", outcome.warnings());
}

#[test]
fn many_clips_with_numbers_are_one_warning() {
    let titles = ["Idle", "Walk", "Run", "Jump", "Fall", "Land", "Die"];
    let own = with_clips(&titles);
    let outcome = import(&own, &with_other_clips(&titles));
    let names: Vec<&str> = outcome.model().clips.iter().map(|clip| &*clip.name).collect();
    assert_eq!(names[5..9], ["land", "die", "idle_2", "walk_2"]);
    let message = "7 names in Rust are those of several clips each: one clip keeps the name, the others are baked as \
                   `die_2`, `fall_2`, `idle_2`, `jump_2`, `land_2` and 2 more";
    assert_eq!(outcome.warnings(), [format!("model `model`: {message}")]);
    // Two names have a warning each, which says which clip is meant.
    let outcome = import(&own, &with_other_clips(&titles[..2]));
    assert_eq!(outcome.warnings().len(), 2, "{:#?}", outcome.warnings());
    warned(&outcome, &["`Idle` of other.glb becomes `idle_2`"]);
    warned(&outcome, &["`Walk` of other.glb becomes `walk_2`"]);
}

#[test]
fn a_clip_that_several_files_have_is_baked_once() {
    let library = |title: &str| with_clips(&["Rest", title]);
    let files = [("walks.glb", library("Walk")), ("runs.glb", library("Run"))];
    let outcome = import_files(&still(), &files, None);
    assert_eq!(names(&outcome), ["rest", "walk", "run"]);
    assert_eq!(outcome.model().clips[0].file.as_deref(), Some("walks.glb"));
    // Also if the manifest lists the clips: by their name, of one of the files, or both.
    let listed = |tables| import_files(&still(), &files, Some(tables));
    let files_of = |outcome: &Outcome| -> Vec<Option<String>> {
        outcome.model().clips.iter().map(|clip| clip.file.clone()).collect()
    };
    let outcome = listed(vec![clip("rest", None), clip("run", None)]);
    assert_eq!((names(&outcome), &*files_of(&outcome)[0].clone().unwrap()), (vec!["rest", "run"], "walks.glb"));
    let outcome = listed(vec![clip("walk", None), clip("rest", Some("runs.glb#Rest"))]);
    assert_eq!(files_of(&outcome)[1].as_deref(), Some("runs.glb"));
    assert_eq!(names(&listed(vec![clip("rest_2", None), clip("rest", None)])), ["rest_2", "rest"]);

    // Clips that differ in a key, a node, an interpolation or an event are not the same.
    let changes: [fn(&mut Gltf); 4] = [
        |g| *g = titled(turning_to([0.0, 0.6, 0.0, 0.8]), &["Rest", "Run"]),
        |g| g.json["nodes"][2]["name"] = json!("Neck"),
        |g| g.json["animations"][0]["samplers"][0]["interpolation"] = json!("STEP"),
        |g| g.json["animations"][0]["extras"] = json!({ "events": { "step": [0.5] } }),
    ];
    for change in changes {
        let mut other = library("Run");
        change(&mut other);
        let outcome = import_files(&still(), &[files[0].clone(), ("runs.glb", other)], None);
        let names: Vec<&str> = outcome.model().clips.iter().map(|clip| &*clip.name).collect();
        assert_eq!(names, ["rest", "walk", "rest_2", "run"], "{:#?}", outcome.warnings());
    }
    // A file that differs may be anywhere among them.
    let other = ("a.glb", with_other_clips(&["Rest"]));
    let outcome = import_files(&still(), &[other, files[0].clone(), files[1].clone()], None);
    let found: Vec<&str> = outcome.model().clips.iter().map(|clip| &*clip.name).collect();
    assert_eq!(found, ["rest", "rest_2", "walk", "run"]);
    // Clips of other names in one file are not the same either.
    assert_eq!(names(&import_files(&still(), &[("walks.glb", with_clips(&["Rest", "Pose"]))], None)), ["rest", "pose"]);
}

/// Imports a model with entries of `animations`, of which `other.glb` and `model.glb` exist.
fn import_entries(animations: Vec<AnimationEntry>, clips: Option<Vec<ClipEntry>>) -> Outcome {
    let folder = folder();
    std::fs::write(folder.path().join("model.glb"), turning().glb()).expect("a file to write");
    std::fs::write(folder.path().join("other.glb"), with_clips(&["Nod", "Wave"]).glb()).expect("a file to write");
    let mut entry = entry("model.glb");
    (entry.animations, entry.clips) = (animations, clips);
    import_entry(folder.path(), &entry, Pixels::Decode)
}

#[test]
fn a_file_that_is_named_twice_is_read_once() {
    let told = |outcome: &Outcome, message: &str, help: &str| {
        let clips = outcome.model().clips.iter().map(|clip| &*clip.name).collect::<Vec<_>>().join(" ");
        let warnings: Vec<_> = outcome.diagnostics.iter().collect();
        assert_eq!(warnings.len(), 1, "{warnings:#?}");
        assert_eq!(warnings[0].message(), format!("model `model`: `animations` names {message}"));
        assert!(warnings[0].help_text().contains(help), "{}", warnings[0].help_text());
        clips
    };
    let outcome = import_entries(vec![animation("./model.glb")], None);
    let of_path = "./model.glb, which is the model's own file: its clips are read once";
    assert_eq!(told(&outcome, of_path, "remove the file from `animations`"), "turn");
    let outcome = import_entries(vec![animation("other.glb"), animation("a/../other.glb")], None);
    let twice = "a/../other.glb twice: its clips are read once";
    assert_eq!(told(&outcome, twice, "remove one of the two"), "turn nod wave");
    // Clips that are missing are still reported.
    refused(&import_entries(vec![animation("model.glb")], Some(vec![clip("jump", None)])), &["clip `jump` not found"]);
    let retargeted = AnimationEntry { retarget: Some(vec![]), ..animation("other.glb") };
    let outcome = import_entries(vec![animation("other.glb"), retargeted], None);
    refused(&outcome, &["`animations` names other.glb twice, with different `retarget` or `bones`"]);
}
