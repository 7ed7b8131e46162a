//! Events, root motion, layers, parts and sockets in `gpuskin.toml`, and their diagnostics.

use crate::common::manifest::has_errors;
use gpuskin_build::internals::manifest::RootMotion;
use gpuskin_build::{Manifest, Style};

const HOUND: &str = "[[model]]\nname = \"hound\"\npath = \"hound.glb\"\n";

fn parse(text: &str) -> Result<Manifest, String> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/gpuskin.toml");
    Manifest::parse(&path, text).map_err(|diagnostics| diagnostics.render(Style::Plain))
}

/// Asserts the diagnostics, in order: location, message and help.
#[track_caller]
fn refuses(keys: &str, expected: &[(&str, &str, &str)]) {
    let rendered = parse(&format!("{HOUND}{keys}")).expect_err("the manifest must be rejected");
    // A long path of the checkout wraps the message: words are compared, not lines.
    has_errors(&rendered.replace("\n  │ ", " "), expected);
}

#[test]
fn all_playback_keys_are_read() {
    let text = format!(
        r#"{HOUND}
sockets = ["Jaw"]
root = "Hips"
parts = {{ collar = ["Collar", "Bell"], ears = ["Ear.L"] }}
[model.masks]
head = {{ root = "Neck1" }}
body = {{ roots = ["Hips"], exclude = ["Neck1", "Tail1"] }}
[model.clips.walk]
events = {{ step = [0.25, 0], bark = 0.5 }}
root_motion = "planar"
[model.clips.idle]
additive = "walk"
events = {{ bark = [] }}
[model.clips.run]
additive = true
root_motion = "full"
"#
    );
    let manifest = parse(&text).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    let model = &manifest.models[0];
    assert_eq!((&*model.sockets[0].value, &*model.root.as_ref().unwrap().value), ("Jaw", "Hips"));
    let [head, body] = &model.masks[..] else { panic!("expected two masks") };
    assert_eq!((&*head.name.value, &*head.roots[0].value, head.exclude.len()), ("head", "Neck1", 0));
    assert_eq!((&*body.name.value, &*body.roots[0].value, body.exclude.len()), ("body", "Hips", 2));
    let parts: Vec<_> = model.parts.iter().map(|part| (&*part.name.value, part.nodes.len())).collect();
    assert_eq!(parts, [("collar", 2), ("ears", 1)]);
    let [walk, idle, run] = &model.clips.as_ref().unwrap()[..] else { panic!("three clips") };
    let times: Vec<Vec<f64>> = walk.events.iter().map(|e| e.times.iter().map(|t| t.value).collect()).collect();
    assert_eq!(times, [vec![0.25, 0.0], vec![0.5]]);
    assert_eq!(&text[walk.events[0].times[0].span.clone()], "0.25");
    assert_eq!(walk.root_motion.as_ref().map(|at| at.value), Some(RootMotion::Planar));
    assert_eq!(run.root_motion.as_ref().map(|at| at.value), Some(RootMotion::Full));
    assert_eq!(idle.additive.as_ref().map(|at| &*at.value), Some("walk"));
    assert_eq!(run.additive.as_ref().map(|at| &*at.value), Some("run"), "`additive = true` refers to the clip itself");
    assert!(idle.events[0].times.is_empty() && model.needs_locals() && !model.wants_vertices());
}

#[test]
fn invalid_events_are_rejected() {
    refuses(
        "[model.clips.walk]\nevents = { a = nan, b = [-1, inf, 0.5], c = \"x\", \"||\" = 1 }\n",
        &[
            ("toml:5:16]", "event `a` has an invalid time", "from the start of the clip"),
            ("toml:5:26]", "event `b` has an invalid time", ""),
            ("toml:5:30]", "event `b` has an invalid time", ""),
            ("toml:5:45]", "`c` must be a time in seconds, or an array of times, not a string", ""),
            ("toml:5:50]", "the name of event `||` cannot become a Rust identifier", "another name"),
        ],
    );
    let many = format!("[model.clips.walk]\nevents = {{ a = [{}] }}\n", "1,".repeat(4097));
    refuses(&many, &[("", "a clip can have at most 4096 events", "")]);
    refuses("[model.clips.walk]\nevents = [1]\n", &[("toml:5:10]", "`events` must be a table of times", "")]);
}

#[test]
fn unknown_additive_reference_is_rejected() {
    refuses(
        "[model.clips.walk]\nadditive = \"ilde\"\nroot_motion = \"flat\"\n[model.clips.idle]\nadditive = 1\n",
        &[
            ("toml:5:12]", "clip `ilde` not found in [model.clips]", "did you mean \"idle\"?"),
            ("toml:6:15]", "`root_motion` cannot be \"flat\"", "\"planar\" or \"full\""),
            ("toml:8:12]", "`additive` must be true or the name of a clip, not a number", ""),
        ],
    );
}

#[test]
fn invalid_masks_and_parts_are_rejected() {
    refuses(
        "parts = { a = \"Body\", b = [] }\n[model.masks]\nhead = {}\ntail = 1\nback = { rot = \"Hips\" }\n",
        &[
            ("toml:4:15]", "`a` must be an array of strings, not a string", "write [\"Body\"]"),
            ("toml:4:27]", "part `b` has no nodes", ""),
            ("toml:6:1]", "mask `head` has no root", "{ root = \"Spine1\" }"),
            ("toml:7:8]", "mask `tail` must be a table", "upper_body"),
            ("toml:8:10]", "a mask has no key `rot`", "did you mean `root`?"),
        ],
    );
    let parts: Vec<String> = (0..17).map(|i| format!("p{i} = [\"Body\"]")).collect();
    refuses(
        &format!("parts = {{ {} }}\n", parts.join(", ")),
        &[("toml:4:9]", "the model has 17 parts; it can have at most 16", "")],
    );
}

#[test]
fn colliding_part_and_mask_names_are_rejected() {
    refuses(
        "parts = { a-b = [\"Body\"], a_b = [\"Body\"] }\n",
        &[("toml:4:27]", "parts `a-b` and `a_b` would both become `parts::HOUND_A_B`", "another name")],
    );
    refuses(
        "[model.masks]\nhead = { root = \"Neck1\" }\n[model.clips]\nmask_head = { source = \"walk\" }\n",
        &[("toml:5:1]", "and mask `head` of `hound` would both become `HOUND_MASK_HEAD`", "another name")],
    );
}

#[test]
fn bone_settings_need_a_bone_encoding() {
    refuses(
        "mode = \"vertex\"\nsockets = [\"Jaw\"]\n",
        &[("toml:5:11]", "`sockets` needs bones, but the model is baked in vertex mode", "mode = \"bone\"")],
    );
    refuses(
        "encoding = \"trs-packed\"\n[model.masks]\nhead = { root = \"Neck1\" }\n",
        &[("toml:5:", "`masks` needs local bone transforms, which trs-packed does not store", "remove `encoding`")],
    );
    refuses(
        "devices = [\"webgl2\"]\n[model.clips.walk]\nadditive = true\n",
        &[("toml:6:12]", "`additive` needs compute shaders", "add \"compute\"")],
    );
}
