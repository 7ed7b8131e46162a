//! Command line: `inspect` of glTF files, and `new`.

#[path = "input/common/mod.rs"]
mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::build::{Gltf, figure};
use serde_json::{Value, json};

fn gpuskin(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpuskin"));
    command.env("GPUSKIN_CACHE", folder.join(".cache")).env_remove("GPUSKIN_COMMAND");
    command.args(args).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[track_caller]
fn succeeds(folder: &Path, args: &[&str]) -> String {
    let output = gpuskin(folder, args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// Returns standard error of a command that must fail with the given exit status.
#[track_caller]
fn fails(folder: &Path, args: &[&str], status: i32) -> String {
    let output = gpuskin(folder, args);
    assert_eq!(output.status.code(), Some(status), "{args:?}: {}", text(&output.stderr));
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    text(&output.stderr)
}

fn folder_with(name: &str, bytes: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), bytes).unwrap();
    folder
}

/// Returns the report about a model, after checking that its lines fit a terminal.
#[track_caller]
fn inspect(model: &Gltf) -> String {
    let folder = folder_with("model.glb", &model.glb());
    let report = succeeds(folder.path(), &["inspect", "model.glb"]);
    let long: Vec<&str> = report.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(long.is_empty(), "{long:?}");
    report
}

#[track_caller]
fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in:\n{text}");
    }
}

/// Returns the draft at the end of a report.
fn draft(report: &str) -> &str {
    report.split_once("\nDraft of gpuskin.toml\n\n").expect("a draft").1
}

/// How the figure of a test is exported.
#[derive(Clone, Copy)]
struct Export {
    /// Units of the file per metre.
    units: f32,
    z_up: bool,
    backwards: bool,
}

const CORRECT: Export = Export { units: 1.0, z_up: false, backwards: false };

/// Returns a figure of 1.8 m with named bones and the clips `Idle` (loops) and `Attack` (loops,
/// though it should not).
fn soldier(export: Export) -> Gltf {
    let at = |[x, y, z]: [f32; 3]| {
        let [x, z] = if export.backwards { [-x, -z] } else { [x, z] };
        let [x, y, z] = if export.z_up { [x, -z, y] } else { [x, y, z] };
        [x, y, z].map(|c| c * export.units)
    };
    let mut g = Gltf::new();
    let node = |g: &mut Gltf, parent: Option<usize>, name: &str, p: [f32; 3]| {
        g.node(parent, json!({ "name": name, "translation": at(p) }))
    };
    let root = node(&mut g, None, "Root", [0.0; 3]);
    let hips = node(&mut g, Some(root), "Hips", [0.0, 1.0, 0.0]);
    let spine = node(&mut g, Some(hips), "Spine", [0.0, 0.2, 0.0]);
    node(&mut g, Some(spine), "Head", [0.0, 0.5, 0.0]);
    for (side, x) in [("L", 1.0), ("R", -1.0)] {
        node(&mut g, Some(spine), &format!("Hand.{side}"), [0.7 * x, 0.3, 0.0]);
        let leg = node(&mut g, Some(hips), &format!("UpperLeg.{side}"), [0.1 * x, 0.0, 0.0]);
        let foot = node(&mut g, Some(leg), &format!("Foot.{side}"), [0.0, -0.9, 0.0]);
        node(&mut g, Some(foot), &format!("Toe.{side}"), [0.0, -0.05, 0.15]);
    }
    let positions = [[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.0, 1.8, 0.0]].map(at).concat();
    let position = g.floats("VEC3", &positions);
    let joints = g.bytes("VEC4", 3, &[0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
    let weights = g.floats("VEC4", &[1.0, 0.0, 0.0, 0.0].repeat(3));
    let mut matrices = [[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]; 2];
    matrices[1][12..15].copy_from_slice(&at([0.0, -1.2, 0.0]));
    let matrices = g.floats("MAT4", &matrices.concat());
    let attributes = json!({ "POSITION": position, "JOINTS_0": joints, "WEIGHTS_0": weights });
    let mesh = g.push("meshes", json!({ "primitives": [{ "attributes": attributes }] }));
    g.push("skins", json!({ "joints": [root, spine], "inverseBindMatrices": matrices }));
    g.node(None, json!({ "name": "Body", "mesh": mesh, "skin": 0 }));
    let sword = g.triangle();
    let hand = g.json["nodes"].as_array().unwrap().iter().position(|n| n["name"] == "Hand.R").unwrap();
    let scale = [0.2 * export.units; 3];
    g.node(Some(hand), json!({ "name": "Sword", "mesh": sword, "scale": scale }));
    for name in ["Idle", "Attack"] {
        let input = g.floats("SCALAR", &[0.0, 0.5, 1.0]);
        let s = std::f32::consts::FRAC_1_SQRT_2;
        let output = g.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, s, 0.0, s, 0.0, 0.0, 0.0, 1.0]);
        let samplers = json!([{ "input": input, "output": output }]);
        let channels = json!([{ "sampler": 0, "target": { "node": spine, "path": "rotation" } }]);
        g.push("animations", json!({ "name": name, "channels": channels, "samplers": samplers }));
    }
    g
}

#[test]
fn inspect_hints_at_skins_without_animation() {
    let mut model = soldier(CORRECT);
    model.json["animations"] = json!([]);
    contains(&inspect(&model), &["Likely mistakes", "a skin, but no animation", "animations = [\"run.glb\"]"]);
}

#[test]
fn inspect_reports_a_model_and_drafts_a_manifest() {
    let model = soldier(CORRECT);
    let report = inspect(&model);
    contains(
        &report,
        &[
            "model.glb  ",
            "\nNodes (14)\n",
            "\n      Spine                                       joint, spine\n",
            "hand (socket?)",
            "\n  Body                                            skinned mesh, 1 triangle\n",
            "\n  skin 0: 2 joints\n",
            "  idle    Idle ",
            "attack  Attack          1.00    24.0  once ",
            "2 triangles, 6 vertices",
            "vertices by bones per vertex: 1: 100.0 %",
        ],
    );
    assert!(!report.contains("Likely mistakes"), "{report}");
    let draft = draft(&report);
    contains(
        draft,
        &[
            "[[model]]\nname = \"model\"\npath = \"model.glb\"\n",
            "sockets = [\"Hand.L\", \"Hand.R\", \"Head\"]\n",
            "[model.parts]\nsword = [\"Sword\"]\n",
            "[model.masks]\nupper_body = { root = \"Spine\" }\n",
            "idle = {}",
            "attack = {}",
        ],
    );
    let folder = folder_with("model.glb", &model.glb());
    std::fs::write(folder.path().join("gpuskin.toml"), draft).unwrap();
    succeeds(folder.path(), &["bake", "--dry-run"]);
}

#[test]
fn inspect_finds_wrong_units_and_axes() {
    let report = inspect(&soldier(Export { units: 100.0, ..CORRECT }));
    contains(&report, &["the figure is 180 m tall", "`scale = 0.01`", "1.80 m tall"]);
    contains(draft(&report), &["scale = 0.01  # 180 m without it, 1.80 m with it\n"]);
    let report = inspect(&soldier(Export { units: 0.01, ..CORRECT }));
    contains(&report, &["`scale = 100`"]);
    contains(draft(&report), &["scale = 100.0"]);
    let report = inspect(&soldier(Export { units: 10.0, ..CORRECT }));
    contains(&report, &["if the file is in decimetres", "`scale = 0.1`", "1.80 m tall"]);
    // No unit makes a figure of it.
    let report = inspect(&soldier(Export { units: 1e-5, ..CORRECT }));
    contains(&report, &["set `scale` to metres per unit of the file"]);
    assert!(!draft(&report).contains("scale = "), "{report}");

    let report = inspect(&soldier(Export { z_up: true, ..CORRECT }));
    contains(&report, &["the model stands along +z"]);
    assert!(!report.contains("forward is"), "{report}");
    contains(draft(&report), &["up = \"z\"\n"]);
    let report = inspect(&soldier(Export { backwards: true, ..CORRECT }));
    contains(
        &report,
        &["the toes point along -z, and forward is +z: an instance that moves forward walks", "backwards"],
    );
    contains(draft(&report), &["forward = \"-z\"\n"]);
    let report = inspect(&soldier(Export { z_up: true, backwards: true, units: 100.0 }));
    contains(&report, &["stands along +z", "180 m tall", "along -z"]);
    contains(draft(&report), &["up = \"z\"\nforward = \"y\"\n"]);
}

#[test]
fn inspect_finds_names_and_scales_that_cause_trouble() {
    let mut model = soldier(CORRECT);
    model.json["nodes"][0]["scale"] = json!([0.01, 0.01, 0.01]);
    model.json["nodes"][3].as_object_mut().unwrap().remove("name");
    model.json["nodes"][4]["name"] = json!("Hips");
    model.json["extensionsUsed"] = json!(["KHR_mesh_quantization", "VENDOR_magic"]);
    let report = inspect(&model);
    contains(
        &report,
        &[
            "the node `Root` above the joints has the scale 0.010",
            "1 of 14 nodes have no name",
            "several nodes have the name `Hips`",
            "(node 3, unnamed)",
            "scale 0.010",
        ],
    );
    let line = |name: &str| report.lines().find(|line| line.trim().starts_with(name)).unwrap().to_owned();
    assert!(line("KHR_mesh_quantization").ends_with("used, read, or without effect on poses"));
    assert!(line("VENDOR_magic").ends_with("used, not read"));
}

#[test]
fn inspect_limits_the_output_of_large_models() {
    let mut model = soldier(CORRECT);
    for i in 0..1000 {
        model.node(Some(0), json!({ "name": format!("Leaf{i}") }));
    }
    let folder = folder_with("model.glb", &model.glb());
    let short = succeeds(folder.path(), &["inspect", "model.glb"]);
    contains(&short, &["\nNodes (1014)\n", "  (894 lines left out; --all prints them)\n"]);
    assert!(short.lines().count() < 200);
    assert!(succeeds(folder.path(), &["inspect", "--all", "model.glb"]).contains("Leaf999"));
}

#[test]
fn inspect_prints_json() {
    let folder = folder_with("model.glb", &soldier(CORRECT).glb());
    let report: Value = serde_json::from_str(&succeeds(folder.path(), &["inspect", "--json", "model.glb"])).unwrap();
    assert_eq!(report["nodes"][2]["name"], "Spine");
    assert_eq!(report["nodes"][2]["role"], "spine");
    assert_eq!(report["clips"][0]["loops"], true);
    assert_eq!(report["clips"][1]["loops"], false);
    assert_eq!(report["mesh"]["vertices"], 6);
    assert_eq!(report["bakeable"], true);
    assert!(report["draft"].as_str().unwrap().contains("[[model]]"));
}

#[test]
fn inspect_names_clips_that_would_collide() {
    let mut model = figure();
    let spine = 1;
    model.clip("armature_walk", &[spine]);
    model.clip("Armature|Walk", &[spine]);
    let folder = folder_with("model.glb", &model.glb());
    let report = succeeds(folder.path(), &["inspect", "model.glb"]);
    // The one that is written so in the file keeps the name.
    let tables = ["\narmature_walk = { source = \"armature_walk\"", "\narmature_walk_2 = {}", "\narmature_walk_3 = {}"];
    contains(draft(&report), &tables);
    std::fs::write(folder.path().join("gpuskin.toml"), draft(&report)).unwrap();
    let output = gpuskin(folder.path(), &["bake", "--dry-run"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn inspect_reports_all_errors_of_a_file_that_cannot_be_baked() {
    let mut model = soldier(CORRECT);
    model.json["animations"][0]["channels"][0]["target"]["node"] = json!(99);
    model.json["nodes"][0]["rotation"] = json!([0, 0, 0, 0]);
    let folder = folder_with("model.glb", &model.glb());
    let output = gpuskin(folder.path(), &["inspect", "model.glb"]);
    assert!(output.status.success());
    contains(&text(&output.stderr), &["node 99 does not exist", "zero-length quaternion"]);
    assert!(!text(&output.stderr).contains("gpuskin.toml"), "{}", text(&output.stderr));
    contains(&text(&output.stdout), &["Spine", "# The baker refuses the file: 1 error, printed above."]);

    // A model without clips.
    let mut model = soldier(CORRECT);
    model.json.as_object_mut().unwrap().remove("animations");
    let report = inspect(&model);
    contains(&report, &["still  pose of the file", "2 triangles"]);
    assert!(!draft(&report).contains("[model.clips]"), "{report}");
}

#[test]
fn inspect_of_damaged_files_fails_with_a_diagnostic() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    contains(&fails(folder, &["inspect", "missing.glb"], 1), &["missing.glb", "cannot be read"]);
    std::fs::create_dir(folder.join("folder.glb")).unwrap();
    contains(&fails(folder, &["inspect", "folder.glb"], 1), &["folder.glb"]);
    std::fs::write(folder.join("text.gltf"), "{ \"asset\": ").unwrap();
    contains(&fails(folder, &["inspect", "text.gltf"], 1), &["gpuskin::gltf::syntax"]);
    let whole = soldier(CORRECT).glb();
    let step = whole.len() / 40;
    for length in (0..whole.len()).step_by(step.max(1)) {
        std::fs::write(folder.join("cut.glb"), &whole[..length]).unwrap();
        let output = gpuskin(folder, &["inspect", "cut.glb"]);
        let stderr = text(&output.stderr);
        assert!(output.status.code() == Some(1) && stderr.contains("gpuskin::"), "{length}: {stderr}");
    }
    let mut cycle = soldier(CORRECT);
    cycle.json["nodes"][3]["children"] = json!([0]);
    std::fs::write(folder.join("cycle.glb"), cycle.glb()).unwrap();
    let output = gpuskin(folder, &["inspect", "cycle.glb"]);
    assert!(output.status.success() && text(&output.stderr).contains("gpuskin::node::not_a_tree"));
    for seed in 0..40_usize {
        let mut bytes = whole.clone();
        for k in 0..8 {
            let at = (seed * 7919 + k * 104_729) % bytes.len();
            bytes[at] = bytes[at].wrapping_add(17 + k as u8);
        }
        std::fs::write(folder.join("changed.glb"), &bytes).unwrap();
        let output = gpuskin(folder, &["inspect", "changed.glb"]);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{seed}: {}", text(&output.stderr));
    }
}

/// Returns the sorted names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn new_writes_a_package_with_a_model() {
    let folder = folder_with("Hero Model.glb", &soldier(Export { units: 100.0, ..CORRECT }).glb());
    let folder = folder.path();
    let output = succeeds(folder, &["new", "game", "--model", "Hero Model.glb"]);
    contains(&output, &["cd game\n", "cargo run --release\n", "180 m tall"]);
    assert_eq!(names(folder), ["Hero Model.glb", "game"]);
    let game = folder.join("game");
    assert_eq!(names(&game), [".gitignore", "Cargo.toml", "art", "build.rs", "gpuskin.toml", "src"]);
    assert_eq!(names(&game.join("src")), ["app.rs", "ground.rs", "main.rs"]);
    assert_eq!(
        std::fs::read(game.join("art/Hero Model.glb")).unwrap(),
        std::fs::read(folder.join("Hero Model.glb")).unwrap()
    );
    let read = |path: &str| std::fs::read_to_string(game.join(path)).unwrap();
    let cargo: toml::Table = read("Cargo.toml").parse().unwrap();
    assert_eq!(cargo["package"]["name"].as_str(), Some("game"));
    let runtime = cargo["dependencies"]["gpuskin-rt"]["path"].as_str().unwrap();
    assert!(Path::new(runtime).join("Cargo.toml").is_file(), "{runtime}");
    contains(&read("src/main.rs"), &["models::HeroModel", "clips::HERO_MODEL_IDLE,", "const HEIGHT: f32 = 1.8;"]);
    assert!(!read("src/main.rs").contains("HERO_MODEL_ATTACK"), "a clip that plays once is not in the crowd");
    assert!(!read("src/main.rs").contains("{{"));
    contains(&read("gpuskin.toml"), &["path = \"art/Hero Model.glb\"", "scale = 0.01"]);
    succeeds(&game, &["bake", "--dry-run"]);
}

#[test]
fn new_hides_what_a_hand_holds_besides_its_first_mesh() {
    let mut model = soldier(CORRECT);
    let mesh = model.triangle();
    let node = |model: &Gltf, name: &str| {
        model.json["nodes"].as_array().unwrap().iter().position(|node| node["name"] == name).unwrap()
    };
    for (parent, name) in
        [("Hand.R", "Grip"), ("Grip", "Axe"), ("Hand.L", "Shield"), ("Head", "Helmet"), ("Head", "Hat")]
    {
        let parent = node(&model, parent);
        let is_mesh = name != "Grip";
        model.node(Some(parent), if is_mesh { json!({ "name": name, "mesh": mesh }) } else { json!({ "name": name }) });
    }
    let folder = folder_with("hero.glb", &model.glb());
    succeeds(folder.path(), &["new", "game", "--model", "hero.glb"]);
    let main = std::fs::read_to_string(folder.path().join("game/src/main.rs")).unwrap();
    contains(&main, &["HIDDEN: [gpuskin_rt::Part<models::Hero>; 1] = [\n    parts::HERO_AXE,\n];\n"]);
    contains(&main, &["crowd.spawn(HIDDEN.into_iter().fold(instance, Instance::without));"]);
    let manifest = std::fs::read_to_string(folder.path().join("game/gpuskin.toml")).unwrap();
    contains(&manifest, &["axe = [\"Axe\"]", "sword = [\"Sword\"]", "shield = [\"Shield\"]", "hat = [\"Hat\"]"]);
}

#[test]
fn new_without_a_model_uses_the_sample() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    succeeds(folder.path(), &["new", "empty"]);
    let game = folder.path().join("empty");
    let read = |path: &str| std::fs::read_to_string(game.join(path)).unwrap();
    contains(&read("gpuskin.toml"), &["art/soldier.glb", "upper_body", "Hand.R", "sword"]);
    contains(&read("src/main.rs"), &["clips::SOLDIER_WALK,", "crowd.spawn(instance);"]);
    assert!(!read("src/main.rs").contains("HIDDEN"), "the sample holds one mesh in each hand");
    assert!(game.join("art/soldier.glb").is_file());
}

/// Features that these packages have in the workspace, too: cargo reuses what was compiled with the same features.
const FEATURES_OF_WORKSPACE: &str = r#"
[target.'cfg(all())'.dependencies]
glam = { version = "*", default-features = false, features = ["libm"] }
num-traits = "*"
thiserror = "2"
wgpu = { version = "*", default-features = false, features = ["noop", "webgl"] }
"#;

/// The promise of the README: two commands from nothing to a picture.
#[test]
#[ignore = "compiles wgpu for another package; run by `cargo xtask test --only new-game`"]
fn new_game_builds_and_draws() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    succeeds(folder.path(), &["new", "game", "--gpuskin", repository.to_str().unwrap()]);
    let game = folder.path().join("game");
    // The versions of the workspace, so that its compiled dependencies are reused and no registry is asked.
    std::fs::copy(repository.join("Cargo.lock"), game.join("Cargo.lock")).unwrap();
    let manifest = std::fs::read_to_string(game.join("Cargo.toml")).unwrap() + FEATURES_OF_WORKSPACE;
    std::fs::write(game.join("Cargo.toml"), manifest).unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let status = Command::new(env!("CARGO"))
        .args(["run", "--release", "--offline", "--target-dir"])
        .arg(target)
        // The game's manifest optimises build scripts, which would compile all dependencies of macros again, for one model.
        .args(["--config", "profile.release.build-override.opt-level=0"])
        .arg("--config")
        .arg(repository.join(".cargo/config.toml"))
        .current_dir(&game)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
    let picture = image::open(game.join("out.png")).unwrap().into_rgb8();
    assert_eq!(picture.dimensions(), (1280, 720));
    let share = |counts: &dyn Fn([i32; 3]) -> bool| {
        let pixels = picture.pixels().filter(|pixel| counts(pixel.0.map(i32::from)));
        pixels.count() as f64 / f64::from(1280 * 720)
    };
    // Tunics and shields are red, the ground is yellow in the sun, and shadows on it are grey: 2.4 % of the pixels are as dark without.
    let crowd = share(&|[r, g, _]| r > 90 && r > 2 * g);
    let ground = share(&|[r, g, b]| r > 120 && (r - g).abs() < 25 && b < g);
    let shadows = share(&|[r, g, b]| r.max(g) < 90 && (r - g).abs() < 20 && (g - b).abs() < 25);
    assert!(crowd > 0.02 && ground > 0.3 && shadows > 0.05, "crowd {crowd}, ground {ground}, shadows {shadows}");
}

#[test]
fn new_copies_the_files_of_a_gltf() {
    let model = soldier(CORRECT);
    let folder = tempfile::tempdir().unwrap();
    let art = folder.path().join("art");
    std::fs::create_dir_all(art.join("data")).unwrap();
    let mut document = model.json.clone();
    document["buffers"] = json!([{ "byteLength": model.bin.len(), "uri": "data/hero.bin" }]);
    std::fs::write(art.join("hero.gltf"), document.to_string()).unwrap();
    std::fs::write(art.join("data/hero.bin"), &model.bin).unwrap();
    succeeds(folder.path(), &["new", "game", "--model", "art/hero.gltf"]);
    assert!(folder.path().join("game/art/data/hero.bin").is_file());
    succeeds(&folder.path().join("game"), &["bake", "--dry-run"]);
}

#[test]
fn new_leaves_nothing_behind_on_errors() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("broken.glb"), b"glTF").unwrap();
    std::fs::create_dir(folder.join("full")).unwrap();
    std::fs::write(folder.join("full/file"), b"mine").unwrap();
    let before = names(folder);
    for name in ["1game", "a b", "fn", "test", ".."] {
        contains(&fails(folder, &["new", name], 2), &["cannot be the name of a package"]);
    }
    contains(&fails(folder, &["new"], 2), &["missing argument NAME"]);
    contains(&fails(folder, &["new", "game", "--gpuskin", "full"], 2), &["expected a checkout of gpuskin"]);
    contains(&fails(folder, &["new", "full"], 1), &["the folder full exists and is not empty"]);
    contains(&fails(folder, &["new", "still.glb"], 2), &["cannot be the name of a package"]);
    contains(&fails(folder, &["new", "game", "--model", "broken.glb"], 1), &["broken.glb"]);
    contains(&fails(folder, &["new", "game", "--model", "missing.glb"], 1), &["missing.glb"]);
    assert_eq!(names(folder), before);
    assert_eq!(names(&folder.join("full")), ["file"]);
}

#[test]
#[ignore = "needs the shared models; run by `cargo xtask test --only shared-models`"]
fn drafts_of_shared_models_can_be_baked() {
    let models = common::shared().join("models");
    for name in common::models(&models) {
        let path = models.join(&name);
        let folder = tempfile::tempdir().unwrap();
        let output = gpuskin(folder.path(), &["inspect", path.to_str().unwrap()]);
        let (report, errors) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success() && !errors.contains("panicked"), "{name}: {errors}");
        assert!(report.lines().skip(1).all(|line| line.chars().count() <= 100 || line.starts_with("path")), "{report}");
        if !report.contains("The baker refuses the file") {
            std::fs::write(folder.path().join("gpuskin.toml"), draft(&report)).unwrap();
            let output = gpuskin(folder.path(), &["bake", "--dry-run"]);
            let stderr = text(&output.stderr);
            // Known defect: with a mask, `auto` refuses models that miss the default tolerance by a
            // little. `new` then leaves the mask out.
            let refused = stderr.contains("gpuskin::encoding::tolerance") && report.contains("[model.masks]");
            assert!(output.status.success() || refused, "{name}: {stderr}");
        }
    }
}
