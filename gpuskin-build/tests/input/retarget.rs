//! Clips retargeted from other skeletons: the manifest, the motion, and what is said about bones without counterpart.

use std::path::Path;

use glam::{DMat4, DVec3};
use gpuskin_build::internals::import::Pixels;
use gpuskin_build::internals::manifest::BoneEntry;
use gpuskin_build::internals::model::{Clip, Model, SourceMotion};
use gpuskin_build::internals::sample::Sampler;
use gpuskin_build::{Manifest, Style};
use serde_json::{Value, json};

use crate::common::build::Gltf;
use crate::common::mutate::Random;
use crate::common::{Outcome, at, import_entry, shared};

use crate::mutations::mutate;

/// Bones of the sample soldier, and their names in Mixamo.
const MIXAMO: [(&str, &str); 20] = [
    ("Hips", "Hips"),
    ("Spine", "Spine"),
    ("Chest", "Spine1"),
    ("Neck", "Neck"),
    ("Head", "Head"),
    ("Shoulder.L", "LeftShoulder"),
    ("UpperArm.L", "LeftArm"),
    ("LowerArm.L", "LeftForeArm"),
    ("Hand.L", "LeftHand"),
    ("UpperLeg.L", "LeftUpLeg"),
    ("LowerLeg.L", "LeftLeg"),
    ("Foot.L", "LeftFoot"),
    ("Toe.L", "LeftToeBase"),
    ("Shoulder.R", "RightShoulder"),
    ("UpperArm.R", "RightArm"),
    ("LowerArm.R", "RightForeArm"),
    ("UpperLeg.R", "RightUpLeg"),
    ("LowerLeg.R", "RightLeg"),
    ("Foot.R", "RightFoot"),
    ("Toe.R", "RightToeBase"),
];

/// Changes the JSON of a GLB file.
fn edited(glb: &[u8], edit: impl FnOnce(&mut Value)) -> Vec<u8> {
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let mut json: Value = serde_json::from_slice(&glb[20..20 + length]).unwrap();
    edit(&mut json);
    let mut text = serde_json::to_vec(&json).unwrap();
    text.resize(text.len().next_multiple_of(4), b' ');
    let rest = &glb[20 + length..];
    let mut out = b"glTF\x02\0\0\0".to_vec();
    out.extend(((20 + text.len() + rest.len()) as u32).to_le_bytes());
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(b"JSON");
    out.extend(text);
    out.extend(rest);
    out
}

/// A folder with the sample soldier, and with its clips on a skeleton with Mixamo's names, in centimetres, looking to the
/// left.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let soldier = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/soldier.glb")).unwrap();
    let mixamo = edited(&soldier, |json| {
        for node in json["nodes"].as_array_mut().unwrap() {
            let name = MIXAMO.iter().find(|(of_soldier, _)| node["name"] == *of_soldier);
            if let Some((_, name)) = name {
                node["name"] = format!("mixamorig:{name}").into();
            }
        }
        let roots = json["scenes"][0]["nodes"].take();
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let turned = json!({ "name": "Centimetres", "scale": [100, 100, 100], "rotation": [0, half, 0, half],
            "children": roots });
        let nodes = json["nodes"].as_array_mut().unwrap();
        nodes.push(turned);
        let root = nodes.len() - 1;
        json["scenes"][0]["nodes"] = json!([root]);
    });
    std::fs::write(folder.path().join("soldier.glb"), &soldier).unwrap();
    std::fs::write(folder.path().join("mixamo.glb"), mixamo).unwrap();
    folder
}

fn import_text(folder: &Path, text: &str) -> Outcome {
    let parsed = Manifest::parse(&folder.join("gpuskin.toml"), text);
    let mut manifest = parsed.unwrap_or_else(|diagnostics| panic!("{}", diagnostics.render(Style::Plain)));
    import_entry(folder, &manifest.models.remove(0), Pixels::SizeOnly)
}

fn soldier(animations: &str, more: &str) -> String {
    format!("[[model]]\nname = \"soldier\"\npath = \"soldier.glb\"\nanimations = [{animations}]\n{more}")
}

const RETARGETED: &str = r#"{ path = "mixamo.glb", retarget = "humanoid" }"#;
const CLIPS: &str =
    "[model.clips.own]\nsource = \"soldier.glb#walk\"\n[model.clips.other]\nsource = \"mixamo.glb#walk\"\n";

fn clip<'a>(model: &'a Model, name: &str) -> &'a Clip {
    model.clips.iter().find(|clip| clip.name == name).unwrap()
}

#[test]
fn same_motion_with_other_names_axes_and_units_gives_the_same_poses() {
    let folder = folder();
    let outcome = import_text(folder.path(), &soldier(RETARGETED, CLIPS));
    let model = outcome.model();
    let [own, other] = ["own", "other"].map(|name| Sampler::new(model, Some(clip(model, name))));
    let mut moved = 0.0_f64;
    for step in 0..=20 {
        let time = f64::from(step) / 20.0 * clip(model, "own").end;
        let [a, b] = [own.globals(time), other.globals(time)];
        for (name, _) in MIXAMO {
            let node = model.nodes.iter().position(|node| node.name == name).unwrap();
            let [a, b] = [a[node], b[node]].map(|m| m.w_axis.truncate());
            assert!(a.distance(b) < 2e-3, "{name} at {time} s: {a} and {b}");
            moved = moved.max(a.distance(own.global(node, 0.0).w_axis.truncate()));
        }
    }
    assert!(moved > 0.2, "the clip moves bones by {moved} m");
    let warnings = outcome.warnings().join("\n");
    for expected in ["have no counterpart in the model", "`SkirtFront.L`"] {
        assert!(warnings.contains(expected), "{expected} is missing in {warnings}");
    }
}

/// Writes the Mixamo file of a folder without skin and meshes, as exporters write clips alone: its nodes have the pose of a frame,
/// in which a knee is bent.
fn write_clips_alone(folder: &Path) {
    let clips = edited(&std::fs::read(folder.join("mixamo.glb")).unwrap(), |json| {
        json.as_object_mut().unwrap().remove("skins");
        json.as_object_mut().unwrap().remove("meshes");
        for node in json["nodes"].as_array_mut().unwrap() {
            let node = node.as_object_mut().unwrap();
            node.remove("skin");
            node.remove("mesh");
            if node["name"] == "mixamorig:LeftLeg" {
                node.insert("rotation".into(), json!([0.5, 0, 0, 0.75_f64.sqrt()]));
            }
        }
    });
    std::fs::write(folder.join("clips.glb"), clips).unwrap();
}

#[test]
fn clips_without_a_skin_take_the_pose_of_a_file_that_has_one() {
    let folder = folder();
    write_clips_alone(folder.path());
    let clips = CLIPS.replace("mixamo.glb#", "clips.glb#");
    let alone = r#"{ path = "clips.glb", retarget = "humanoid" }"#;
    let apart = |outcome: &Outcome| {
        let model = outcome.model();
        let [own, other] = ["own", "other"].map(|name| Sampler::new(model, Some(clip(model, name))));
        let of = |name: &str| {
            let node = model.nodes.iter().position(|node| node.name == name).unwrap();
            (0..=10).map(move |step| (node, f64::from(step) / 10.0 * clip(model, "own").end))
        };
        let all = MIXAMO.iter().flat_map(|(name, _)| of(name));
        all.map(|(node, time)| own.global(node, time).w_axis.distance(other.global(node, time).w_axis))
            .fold(0.0, f64::max)
    };
    let made = import_text(folder.path(), &soldier(alone, &clips));
    let warnings = made.warnings().join("\n");
    assert!(warnings.contains("`left_lower_leg` is 64 degrees off a standing pose"), "{warnings}");
    assert!(apart(&made) < 0.12, "{} m", apart(&made));

    let both = format!("{alone}, {RETARGETED}");
    let found = import_text(folder.path(), &soldier(&both, &clips));
    let warnings = found.warnings().join("\n");
    assert!(!warnings.contains("standing pose"), "{warnings}");
    assert!(apart(&found) < 2e-3, "{} m", apart(&found));
    // The model itself has the skeleton.
    let text = "[[model]]\nname = \"m\"\npath = \"mixamo.glb\"\nanimations = [{ path = \"clips.glb\", retarget = \"humanoid\" }]\n\
                [model.clips.other]\nsource = \"clips.glb#walk\"\n";
    let warnings = import_text(folder.path(), text).warnings().join("\n");
    assert!(!warnings.contains("standing pose"), "{warnings}");
    // A file that is there for its pose alone needs no clips.
    let pose = edited(&std::fs::read(folder.path().join("mixamo.glb")).unwrap(), |json| {
        json.as_object_mut().unwrap().remove("animations");
    });
    std::fs::write(folder.path().join("mixamo.glb"), pose).unwrap();
    let found = import_text(folder.path(), &soldier(&both, &clips));
    let warnings = found.warnings().join("\n");
    assert!(!warnings.contains("no clip of this file"), "{warnings}");
    assert!(apart(&found) < 2e-3, "{} m", apart(&found));
}

#[test]
fn files_that_lack_the_same_are_named_in_one_warning() {
    let folder = folder();
    std::fs::copy(folder.path().join("mixamo.glb"), folder.path().join("again.glb")).unwrap();
    let both = format!("{RETARGETED}, {{ path = \"again.glb\", retarget = \"humanoid\" }}");
    let clips = format!("{CLIPS}[model.clips.again]\nsource = \"again.glb#walk\"\n");
    let outcome = import_text(folder.path(), &soldier(&both, &clips));
    outcome.model();
    let lacking: Vec<_> = outcome.warnings().into_iter().filter(|text| text.contains("counterpart")).collect();
    assert_eq!(lacking.len(), 1, "{lacking:?}");
    for expected in ["2 files of `animations`", "mixamo.glb", "again.glb", "moving nodes of the files"] {
        assert!(lacking[0].contains(expected), "{expected} is missing in {lacking:?}");
    }
}

#[test]
fn tables_name_the_bones_that_names_do_not_tell() {
    let folder = folder();
    let odd = edited(&std::fs::read(folder.path().join("mixamo.glb")).unwrap(), |json| {
        let nodes = json["nodes"].as_array_mut().unwrap();
        nodes.iter_mut().find(|node| node["name"] == "Hand.R").unwrap()["name"] = "Glove".into();
    });
    std::fs::write(folder.path().join("mixamo.glb"), odd).unwrap();
    let warnings = import_text(folder.path(), &soldier(RETARGETED, CLIPS)).warnings().join("\n");
    assert!(
        warnings.contains("bones of the model have no counterpart") && warnings.contains("`right_hand`"),
        "{warnings}"
    );
    let bones = r#"{ path = "mixamo.glb", retarget = "humanoid", bones = { right_hand = "Glove" } }"#;
    let outcome = import_text(folder.path(), &soldier(bones, CLIPS));
    outcome.model();
    assert!(!outcome.warnings().join("\n").contains("`right_hand`"), "{:?}", outcome.warnings());
    let entry = |bones: Vec<BoneEntry>| {
        let mut manifest = Manifest::parse(&folder.path().join("gpuskin.toml"), soldier(RETARGETED, CLIPS)).unwrap();
        manifest.models[0].humanoid = bones;
        manifest.models.remove(0)
    };
    let named = |bone: &str, node: &str| BoneEntry { bone: at(bone.into()), node: at(node.into()) };
    let unused = soldier("", "humanoid = { left_hand = \"Hand.L\" }\n");
    let warnings = import_text(folder.path(), &unused).warnings().join("\n");
    assert!(warnings.contains("[model.humanoid] has no effect"), "{warnings}");
    let outcome = import_entry(folder.path(), &entry(vec![named("left_hnd", "Hand.L")]), Pixels::SizeOnly);
    let errors = outcome.errors().join("\n");
    assert!(errors.contains("a humanoid has no bone `left_hnd`"), "{errors}");
    let outcome = import_entry(folder.path(), &entry(vec![named("left_hand", "Hend.L")]), Pixels::SizeOnly);
    assert!(outcome.errors().join("\n").contains("node `Hend.L` not found"), "{:?}", outcome.errors());
}

#[test]
fn other_skeletons_are_refused_with_the_bones_that_they_lack() {
    let folder = folder();
    let hound = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/hound.glb");
    std::fs::copy(hound, folder.path().join("hound.glb")).unwrap();
    let animations = r#"{ path = "hound.glb", retarget = "humanoid" }"#;
    let outcome = import_text(folder.path(), &soldier(animations, "[model.clips.run]\nsource = \"hound.glb#run\"\n"));
    let errors = outcome.errors().join("\n");
    assert!(errors.contains("hound.glb: no humanoid skeleton: no nodes found for"), "{errors}");
    assert!(errors.contains("`left_foot`"), "{errors}");
}

#[test]
fn clips_that_are_too_long_are_refused() {
    let folder = folder();
    let glb = std::fs::read(folder.path().join("mixamo.glb")).unwrap();
    let long = edited(&glb, |json| {
        let nodes = json["nodes"].as_array().unwrap();
        let hips = nodes.iter().position(|node| node["name"] == "mixamorig:Hips").unwrap();
        // Positions of the mesh are times and values of a clip of many years.
        let (times, values) = ([0.0_f32, 1e9], [0.0_f32; 6]);
        let uri = |numbers: &[f32]| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
            format!("data:application/octet-stream;base64,{}", base64(&bytes))
        };
        let first = json["buffers"].as_array().unwrap().len();
        for (i, (numbers, kind)) in [(&times[..], "SCALAR"), (&values[..], "VEC3")].into_iter().enumerate() {
            let list = |json: &mut Value, name: &str, item: Value| json[name].as_array_mut().unwrap().push(item);
            list(json, "buffers", json!({ "byteLength": numbers.len() * 4, "uri": uri(numbers) }));
            list(json, "bufferViews", json!({ "buffer": first + i, "byteLength": numbers.len() * 4 }));
            let view = json["bufferViews"].as_array().unwrap().len() - 1;
            list(json, "accessors", json!({ "bufferView": view, "componentType": 5126, "count": 2, "type": kind }));
        }
        let last = json["accessors"].as_array().unwrap().len() - 1;
        json["animations"] = json!([{ "name": "walk", "samplers": [{ "input": last - 1, "output": last }],
            "channels": [{ "sampler": 0, "target": { "node": hips, "path": "translation" } }] }]);
    });
    std::fs::write(folder.path().join("mixamo.glb"), long).unwrap();
    let outcome = import_text(folder.path(), &soldier(RETARGETED, "[model.clips.w]\nsource = \"mixamo.glb#walk\"\n"));
    let errors = outcome.errors().join("\n");
    assert!(errors.contains("does not fit into the memory limit"), "{errors}");
}

/// Sources with errors give a model with finite curves, or a diagnostic. None may panic or hang.
#[test]
fn damaged_sources_do_not_panic() {
    let folder = folder();
    write_clips_alone(folder.path());
    for name in ["mixamo.glb", "clips.glb"] {
        damaged(folder.path(), &std::fs::read(folder.path().join(name)).unwrap());
    }
}

/// Imports damaged copies of a file.
fn damaged(folder: &Path, glb: &[u8]) {
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let mut json: Value = serde_json::from_slice(&glb[20..20 + length]).unwrap();
    // The mesh is not read, so damage to it would test nothing.
    for list in ["meshes", "materials", "textures", "images"] {
        json.as_object_mut().unwrap().remove(list);
    }
    json["nodes"].as_array_mut().unwrap().iter_mut().for_each(|node| {
        node.as_object_mut().unwrap().remove("mesh");
    });
    let mut imported = 0;
    for seed in 0..400 {
        let (mut random, bin) = (Random(seed), glb[28 + length..].to_vec());
        let mut file = Gltf { json: json.clone(), bin };
        (0..=random.below(3)).for_each(|_| mutate(&mut file, &mut random));
        std::fs::write(folder.join("mixamo.glb"), file.glb()).unwrap();
        let start = std::time::Instant::now();
        let clips = "[model.clips.w]\nsource = \"mixamo.glb#walk\"\n";
        let outcome = import_text(folder, &soldier(RETARGETED, clips));
        assert!(start.elapsed().as_secs() < 60, "seed {seed}");
        let Some(model) = &outcome.model else { continue };
        imported += 1;
        let sampler = Sampler::new(model, Some(&model.clips[0]));
        for time in [0.0, 0.3, 1e9] {
            assert!(sampler.globals(time).iter().all(DMat4::is_finite), "seed {seed} at {time}");
        }
    }
    assert!((100..400).contains(&imported), "{imported} of 400 files were imported");
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= chunk.len() { digit as char } else { '=' });
        }
    }
    text
}

#[test]
fn mistakes_in_the_manifest_are_named() {
    let folder = folder();
    for (animations, more, expected) in [
        (
            r#"{ path = "mixamo.glb", retarget = "humanoyd" }"#,
            "",
            vec!["`retarget` cannot be \"humanoyd\"", "humanoid"],
        ),
        (r#"{ retarget = "humanoid" }"#, "", vec!["the file has no `path`"]),
        (r#"{ path = "mixamo.glb", bones = { hips = "Hips" } }"#, "", vec!["`bones` needs `retarget`"]),
        (r#"{ path = "mixamo.glb", retarget = "humanoid", bones = { hips = 3 } }"#, "", vec!["`hips` must be"]),
        (
            r#"{ path = "mixamo.glb", retargt = "humanoid" }"#,
            "",
            vec!["has no key `retargt`", "did you mean `retarget`?"],
        ),
        ("3", "", vec!["`animations` must be an array of paths and tables"]),
        (RETARGETED, "humanoid = \"Hips\"\n", vec!["`humanoid` must be a table of nodes by bone"]),
    ] {
        let parsed = Manifest::parse(&folder.path().join("gpuskin.toml"), soldier(animations, more));
        let text = parsed.expect_err(animations).render(Style::Plain);
        assert!(expected.iter().all(|part| text.contains(part)), "{animations}: {text}");
    }
}

/// Greatest distance by which a foot of the target slides while the source's foot stands on the ground and does not turn: the difference of
/// their ways along the ground, which for a clip on the spot is a treadmill. Returns it with the number of keys.
fn slide(model: &Model, clip: &Clip, motion: &SourceMotion, [of_target, of_source]: [&str; 2]) -> (f64, usize) {
    let node = |nodes: &[gpuskin_build::internals::model::Node], name: &str| {
        nodes.iter().position(|node| node.name == name).unwrap()
    };
    let (target, source) = (node(&model.nodes, of_target), node(&motion.skeleton.nodes, of_source));
    let (to, from) = (Sampler::new(model, Some(clip)), Sampler::new(&motion.skeleton, Some(&motion.clip)));
    let placed: DMat4 = model.root * motion.placed;
    let keys = &clip.channels.iter().map(|channel| &channel.curve.times).max_by_key(|times| times.len()).unwrap();
    let pose = |&time: &f64| {
        let foot = placed * from.global(source, time);
        let axis = foot.y_axis.truncate().normalize();
        (to.global(target, time).w_axis.truncate(), foot.w_axis.truncate(), axis)
    };
    let poses: Vec<(DVec3, DVec3, DVec3)> = keys.iter().map(pose).collect();
    let lowest = poses.iter().map(|(_, foot, _)| foot.y).fold(f64::MAX, f64::min);
    let highest = poses.iter().map(|(_, foot, _)| foot.y).fold(f64::MIN, f64::max);
    let (mut greatest, mut stood) = (0.0_f64, 0);
    for pair in poses.windows(2) {
        let [a, b] = [pair[0], pair[1]];
        let is_low = a.1.y.max(b.1.y) < lowest + 0.1 * (highest - lowest);
        if is_low && a.2.angle_between(b.2) < 0.005 {
            let [way, wanted] = [b.0 - a.0, b.1 - a.1].map(|way| way.with_y(0.0));
            greatest = greatest.max(way.distance(wanted));
            stood += 1;
        }
    }
    (greatest, stood)
}

#[test]
#[ignore = "needs the shared models; run by `cargo xtask test --only shared-models`"]
fn shared_walks_do_not_slide_on_other_characters() {
    let folder = shared().join("models");
    let cesium = "[model.humanoid]\nhips = \"Skeleton_torso_joint_1\"\nhead = \"Skeleton_neck_joint_1\"\n\
        left_upper_leg = \"leg_joint_L_1\"\nleft_lower_leg = \"leg_joint_L_2\"\nleft_foot = \"leg_joint_L_3\"\n\
        right_upper_leg = \"leg_joint_R_1\"\nright_lower_leg = \"leg_joint_R_2\"\nright_foot = \"leg_joint_R_3\"\n\
        left_upper_arm = \"Skeleton_arm_joint_L__4_\"\nleft_lower_arm = \"Skeleton_arm_joint_L__3_\"\n\
        right_upper_arm = \"Skeleton_arm_joint_R\"\nright_lower_arm = \"Skeleton_arm_joint_R__2_\"\n";
    let mut worst = 0.0_f64;
    for (name, bones, source, walk, feet) in [
        ("Knight", "", "KnightCharacter", "HumanArmature|Walking", [["foot.l", "Foot.L"], ["foot.r", "Foot.R"]]),
        ("Knight", "", "RobotExpressive", "Walking", [["foot.l", "Foot.L"], ["foot.r", "Foot.R"]]),
        ("RobotExpressive", "", "Knight", "Walking_A", [["Foot.L", "foot.l"], ["Foot.R", "foot.r"]]),
        ("KnightCharacter", "", "Knight", "Walking_A", [["Foot.L", "foot.l"], ["Foot.R", "foot.r"]]),
        ("CesiumMan", cesium, "Knight", "Walking_A", [["leg_joint_L_3", "foot.l"], ["leg_joint_R_3", "foot.r"]]),
    ] {
        let text = format!(
            "[[model]]\nname = \"m\"\npath = \"{name}/{name}.glb\"\n\
            animations = [{{ path = \"{source}/{source}.glb\", retarget = \"humanoid\" }}]\n{bones}\
            [model.clips.walk]\nsource = \"{source}/{source}.glb#{walk}\"\n"
        );
        let outcome = import_text(&folder, &text);
        let model = outcome.model();
        let clip = &model.clips[0];
        let motion = clip.retargeted_from.as_ref().unwrap();
        for feet in feet {
            let (slide, keys) = slide(model, clip, motion, feet);
            println!("{name} walks as {source}: {} slides {:.2} mm in {keys} keys", feet[0], 1000.0 * slide);
            assert!(keys > 3, "{name}: {} stands in {keys} keys", feet[0]);
            assert!(slide < 0.002, "{name} walks as {source}: {} slides {slide} m", feet[0]);
            worst = worst.max(slide);
        }
    }
    assert!(worst > 0.0);
}
