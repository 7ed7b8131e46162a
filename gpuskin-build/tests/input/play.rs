//! Events, root motion, masks, parts, additive clips and sockets: from files and manifests to
//! metadata, tracks and poses.

use crate::common::build::{Gltf, figure};
use crate::common::{at, clip};
use glam::DVec3;
use gpuskin_build::internals::manifest::{EventEntry, MaskEntry, PartEntry, RootMotion};
use gpuskin_build::internals::pose::{PosePath, PoseRequest, PoseTimes, pose};
use gpuskin_build::{BakeOptions, Manifest, Style, bake};
use gpuskin_rt::internals::local::LocalTracks;
use gpuskin_rt::internals::{Encoding, Model, RootKey};
use serde_json::json;

/// Returns a manifest with one model, in a temporary folder.
fn manifest(g: &Gltf, keys: &str) -> (tempfile::TempDir, Manifest) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("model.glb"), g.glb()).expect("writable");
    let text = format!("[[model]]\nname = \"model\"\npath = \"model.glb\"\n{keys}");
    let manifest = Manifest::parse(&folder.path().join("gpuskin.toml"), text);
    (folder, manifest.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(Style::Plain))))
}

fn baked(g: &Gltf, keys: &str) -> Model {
    let (_folder, manifest) = manifest(g, keys);
    let baked = bake(&manifest, &BakeOptions::default()).unwrap_or_else(|failed| panic!("{}", failed.diagnostics));
    baked.runtime_models().remove(0)
}

fn events(names: &[&str], times: &[f64]) -> Vec<EventEntry> {
    let event =
        |name: &&str| EventEntry { name: at((*name).to_owned()), times: times.iter().map(|t| at(*t)).collect() };
    names.iter().map(event).collect()
}

#[test]
fn events_come_from_files_and_manifests() {
    let mut g = figure();
    g.json["animations"][0]["extras"] =
        json!({ "events": { "step": [0.75, 0.25], "hit": 0.5, "late": 1.5, "|": 0.1 } });
    g.json["animations"][1]["extras"] =
        json!({ "events": [{ "name": "step", "time": 1 }, { "name": "a", "time": 0 }] });
    let outcome = g.import_with(|entry| {
        let walk = events(&["hit"], &[0.1, 0.9]);
        entry.clips = Some(vec![
            gpuskin_build::internals::manifest::ClipEntry { events: walk, ..clip("walk", None) },
            clip("run_fast", None),
        ]);
    });
    let model = outcome.model();
    assert_eq!(model.events, ["a", "hit", "step"]);
    assert_eq!(
        model.clips[0].events,
        [(0.1, 1), (0.25, 2), (0.75, 2), (0.9, 1)],
        "events of the manifest must replace those of the file"
    );
    assert_eq!(model.clips[1].events, [(0.0, 0), (1.0, 2)]);
    let warnings = outcome.warnings().join("\n");
    assert!(
        warnings.contains("`late` at 1.5 s is outside of the clip")
            && warnings.contains("cannot become a Rust identifier")
    );

    let late = g.import_with(|entry| {
        let walk = events(&["hit"], &[1.25]);
        entry.clips = Some(vec![gpuskin_build::internals::manifest::ClipEntry { events: walk, ..clip("walk", None) }]);
    });
    assert!(late.errors()[0].contains("clip `walk` ends at 1 s, before this event"), "{:?}", late.errors());
}

#[test]
fn invalid_extras_are_ignored_or_warn() {
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    for extras in [json!(5), json!([1]), json!({ "events": null }), json!({ "other": { "events": 1 } })] {
        let mut g = figure();
        g.json["animations"][0]["extras"] = extras;
        assert_eq!(g.import().warnings(), Vec::<String>::new());
    }
    for events in [json!(1), json!("x"), json!([1]), json!({ "a": "x" }), json!({ "a": [[1]] }), json!({ "a": deep })] {
        let mut g = figure();
        g.json["animations"][0]["extras"] = json!({ "events": events });
        let outcome = g.import();
        assert!(outcome.model().events.is_empty());
        assert!(
            outcome.warnings().join("\n").contains("`extras.events` is ignored: it is neither"),
            "{:?}",
            outcome.warnings()
        );
    }
}

#[test]
fn metadata_has_phases_masks_and_references() {
    let keys = "sockets = [\"Root\"]\nparts = { hat = [\"Hat\"] }\n\
                [model.masks]\nall = { root = \"Root\" }\nspine = { root = \"Spine\", exclude = [\"Head\"] }\n\
                [model.clips]\nwalk = { events = { step = [0, 0.25, 1] } }\nrun_fast = { additive = \"walk\" }\n";
    let model = baked(&figure(), keys);
    let meta = &model.meta;
    assert_eq!(meta.encoding, Encoding::LocalPacked);
    let phases: Vec<u32> = meta.clips[0].events.iter().map(|event| event.phase).collect();
    assert_eq!(phases, [0, 1 << 30, u32::MAX]);
    assert_eq!((meta.clips[0].additive, meta.clips[1].additive), (None, Some(0)));
    let names: Vec<&str> = meta.bones.iter().map(|bone| &*bone.name).collect();
    let of = |mask: usize| -> Vec<&str> {
        (0..names.len()).filter(|bone| meta.masks[mask].contains(*bone)).map(|bone| names[bone]).collect()
    };
    assert_eq!(of(0), ["Root", "Spine", "Head"]);
    assert_eq!(of(1), ["Spine"]);
    assert!(names.iter().any(|name| name.starts_with("Stone")), "{names:?}");

    let parts: Vec<Option<u8>> = meta.mesh.parts.iter().map(|part| part.part).collect();
    assert_eq!((&*meta.parts, &parts[..]), (&["hat".into()][..], &[None, Some(0)][..]));
    let indices: u32 = meta.mesh.parts.iter().map(|part| part.index_count).sum();
    assert_eq!(indices, 3 * 4, "every triangle must be in one part");

    let texture = &model.animation;
    let gpuskin_rt::internals::Data::Bytes(bytes) = &texture.data else { panic!("expected data in memory") };
    let level = texture.levels[0];
    let tracks = LocalTracks::new(&bytes[level.offset as usize..][..level.len as usize]).expect("valid tracks");
    assert_eq!((tracks.mask_count(), tracks.reference(0), tracks.reference(1)), (2, None, Some(0)));
    let in_mask = |mask: usize| (0..tracks.node_count()).filter(|node| tracks.mask(mask, *node)).count();
    // The root does not move, so it is merged into the spine.
    assert_eq!((in_mask(0), in_mask(1)), (2, 1));
}

#[test]
fn invalid_nodes_are_rejected() {
    let mut g = figure();
    g.json["nodes"][0]["name"] = json!("Root");
    let errors = g.import_with(|entry| {
        entry.sockets = vec![at("Haed".into())];
        entry.masks = vec![
            MaskEntry { name: at("m".into()), roots: vec![at("Spnie".into())], exclude: vec![] },
            MaskEntry { name: at("none".into()), roots: vec![at("Spine".into())], exclude: vec![at("Root".into())] },
        ];
        let part = |name: &str, node: &str| PartEntry { name: at(name.into()), nodes: vec![at(node.into())] };
        entry.parts = vec![part("a", "Hat"), part("b", "Head"), part("c", "Spine"), part("d", "Triangle")];
        let clips = [("walk", RootMotion::Full), ("run_fast", RootMotion::Planar)];
        let root = |(name, kind)| gpuskin_build::internals::manifest::ClipEntry {
            root_motion: Some(at(kind)),
            ..clip(name, None)
        };
        entry.clips = Some(clips.into_iter().map(root).collect());
    });
    let errors: Vec<String> =
        errors.diagnostics.iter().filter(|f| f.is_error()).map(|f| f.render(Style::Plain)).collect();
    for (message, help) in [
        ("sockets: node `Haed` not found in the scene", "did you mean `Head`?"),
        ("masks: node `Spnie` not found in the scene", "did you mean `Spine`?"),
        ("mask `none` has no bone", "name nodes of the skeleton"),
        ("the mesh of node `Hat` is in two parts, `a` and `b`", "name nodes further down"),
        ("parts: node `Triangle` not found in the scene", "this is the name of a mesh"),
        ("clip `walk` moves no common ancestor of all bones", "root = \"Hips\""),
    ] {
        let found = errors.iter().any(|e| e.contains(message) && e.contains(help));
        assert!(found, "{message}: {help}\n{errors:#?}");
    }
}

/// Returns a cart that turns, climbs and drives, as the parent of everything that is drawn.
fn driven() -> Gltf {
    let mut g = Gltf::new();
    let cart = g.node(None, json!({ "name": "Cart", "translation": [2, 0, 1] }));
    let arm = g.node(Some(cart), json!({ "name": "Arm", "translation": [0, 1, 0] }));
    let (body, hand) = (g.triangle(), g.triangle());
    g.node(Some(cart), json!({ "name": "Body", "mesh": body }));
    g.node(Some(arm), json!({ "name": "Blade", "mesh": hand }));
    let steps: Vec<f32> = (0..=24).map(|i| i as f32 / 24.0).collect();
    let input = g.floats("SCALAR", &steps);
    let turn: Vec<f32> = steps.iter().flat_map(|t| [0.0, (0.9 * t).sin(), 0.0, (0.9 * t).cos()]).collect();
    let way: Vec<f32> = steps.iter().flat_map(|t| [2.0 + 3.0 * t, 0.4 * (5.0 * t).sin(), 1.0 - t * t]).collect();
    let wave: Vec<f32> = steps.iter().flat_map(|t| [(2.0 * t).sin() * 0.5, 1.0 + 0.2 * t, 0.0]).collect();
    let [turn, way, wave] = [("VEC4", turn), ("VEC3", way), ("VEC3", wave)].map(|(shape, v)| g.floats(shape, &v));
    let sampler = |output: usize| json!({ "input": input, "output": output });
    let channel = |sampler: usize, node: usize, path: &str| json!({ "sampler": sampler, "target": { "node": node, "path": path } });
    let channels = [channel(0, cart, "rotation"), channel(1, cart, "translation"), channel(2, arm, "translation")];
    let samplers = [sampler(turn), sampler(way), sampler(wave)];
    g.push("animations", json!({ "name": "drive", "channels": channels, "samplers": samplers }));
    g
}

#[test]
fn poses_include_root_motion() {
    let g = driven();
    let times = PoseTimes::Seconds(vec![0.0, 0.013, 0.3, 0.5, 0.77, 1.0]);
    let of = |keys: &str, path: PosePath| {
        let (_folder, manifest) = manifest(&g, keys);
        let request =
            PoseRequest { model: "model".into(), clip: "drive".into(), times: times.clone(), path, encoding: None };
        pose(&manifest, &request).unwrap_or_else(|e| panic!("{e}")).frames
    };
    let source = of("", PosePath::Source);
    for (kind, encoding, tolerance) in [
        ("planar", "matrix-f32", 2e-3),
        ("full", "matrix-f32", 2e-3),
        ("planar", "local-packed", 2e-3),
        ("full", "local-packed", 2e-3),
        ("planar", "vat-f32", 2e-3),
    ] {
        let keys = format!(
            "encoding = \"{encoding}\"\nscale = 0.5\nup = \"z\"\n[model.clips]\ndrive = {{ root_motion = \"{kind}\" }}\n"
        );
        let drawn = of(&keys, PosePath::Cpu);
        // The poses are in the space of the source, without the manifest's scale and up axis.
        for (frame, (a, b)) in source.iter().zip(&drawn).enumerate() {
            for ((p, n), (q, m)) in a.iter().zip(b) {
                assert!(p.distance(*q) < tolerance, "{kind} {encoding} frame {frame}: {p} {q}");
                assert!(n.distance(*m) < 1e-2, "{kind} {encoding} frame {frame}: {n} {m}");
            }
        }
        let again = of(&keys, PosePath::Source);
        let same = |(a, b): (&(DVec3, DVec3), &(DVec3, DVec3))| a.0.distance(b.0) < 1e-12;
        assert!(
            source.iter().flatten().zip(again.iter().flatten()).all(same),
            "source poses must not depend on the manifest"
        );
    }
}

#[test]
fn metadata_has_root_motion() {
    let g = driven();
    let text = |kind: &str| {
        format!("fps = 24\nencoding = \"matrix-f32\"\n[model.clips]\ndrive = {{ root_motion = \"{kind}\" }}\n")
    };
    let planar = baked(&g, &text("planar"));
    let clip = &planar.meta.clips[0];
    let motion = clip.root_motion.as_ref().expect("root motion");
    assert!(motion.planar && motion.keys.len() == clip.intervals as usize + 1);
    assert_eq!(motion.keys[0], RootKey::IDENTITY);
    // Turned by 1.8 rad about Y, and moved from (2, 1) to (5, 0). The displacement turns about the
    // origin.
    let last = motion.keys[motion.keys.len() - 1];
    let turn = glam::Quat::from_array(last.rotation);
    assert!(turn.angle_between(glam::Quat::from_rotation_y(1.8)) < 1e-4, "{turn}");
    let end = turn * glam::Vec3::new(2.0, 0.0, 1.0) + glam::Vec3::from(last.translation);
    assert!(end.abs_diff_eq(glam::Vec3::new(5.0, 0.0, 0.0), 1e-5), "{end}");
    assert!(motion.keys.iter().all(|key| key.translation[1] == 0.0 && key.rotation[0] == 0.0));
    // Bounds without the displacement are as high as before, but not as wide.
    assert!(clip.bounds.max[0] - clip.bounds.min[0] < 3.0, "{:?}", clip.bounds);
    // Errors are those after the displacement is applied: mainly from interpolating an arc.
    assert!(clip.encoding_error.max < 1e-5 && clip.motion_error.max < 2e-3, "{clip:?}");

    let full = baked(&g, &text("full"));
    let keys = &full.meta.clips[0].root_motion.as_ref().expect("root motion").keys;
    assert!(keys.iter().any(|key| key.translation[1] > 0.3));
}
