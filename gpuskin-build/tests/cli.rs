//! Command line: error messages, exit statuses and output of each command.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn gpuskin(args: &[&str]) -> Output {
    in_folder(Path::new("."), args)
}

fn in_folder(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpuskin"));
    command
        .env("GPUSKIN_CACHE", folder.join("cache"))
        .args(args)
        .current_dir(folder)
        .env_remove("GPUSKIN_COMMAND")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Returns the only folder in the folder of a model.
fn content_folder(model: &Path) -> PathBuf {
    let mut folders = std::fs::read_dir(model).unwrap().map(|entry| entry.unwrap().path());
    let first = folders.next().unwrap();
    assert!(first.is_dir() && folders.next().is_none(), "{}", model.display());
    first
}

#[track_caller]
fn misused(args: &[&str], expected: &str) {
    let output = gpuskin(args);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.starts_with(&format!("error: {expected}\n")), "{stderr}");
    assert!(stderr.contains("\nUsage: gpuskin "), "{stderr}");
    assert!(output.stdout.is_empty());
}

#[test]
fn command_line_errors_are_specific() {
    misused(&[], "no command given");
    misused(&["bak"], "unknown command `bak`: did you mean `bake`?");
    misused(&["frobnicate"], "unknown command `frobnicate`");
    misused(&["bake", "--manifst", "x"], "unknown flag `--manifst`: did you mean `--manifest`?");
    misused(&["bake", "-q"], "unknown flag `-q`");
    misused(&["bake", "--out"], "`--out` needs a value: --out DIR");
    misused(&["bake", "--check=yes"], "unexpected argument for option '--check': \"yes\"");
    misused(&["bake", "--out", "a", "--out", "b"], "`--out` is given twice");
    misused(&["bake", "soldier"], "unexpected argument `soldier`: did you mean `--model soldier`?");
    misused(
        &["bake", "soldier.glb"],
        "unexpected argument `soldier.glb`: models are declared in gpuskin.toml; `gpuskin inspect` and `gpuskin view` take a file",
    );
    misused(
        &["bake", "art/gpuskin.toml"],
        "unexpected argument `art/gpuskin.toml`: did you mean `--manifest art/gpuskin.toml`?",
    );
    misused(&["bake", "--check", "--dry-run"], "`--check` and `--dry-run` exclude each other");
    misused(&["bake", "--shard", "4/4"], "invalid value `4/4` for `--shard`: expected I/N, for example 0/4 to 3/4");
    misused(&["bake", "--shard", "0/4", "--merge"], "`--shard` and `--merge` exclude each other");
    misused(&["bake", "--merge", "--check"], "`--merge` and `--check` exclude each other");
    misused(&["cache", "purge"], "unknown argument `purge`: expected stats, clean or verify");
    misused(&["inspect"], "missing argument MODEL.glb|FILE.ktx2|FOLDER");
    misused(&["inspect", "a", "b"], "unexpected argument `b`");
    misused(&["preview", "--model", "a"], "missing flag `--out FILE.png`");
    misused(&["preview", "--model", "a", "--out", "a.jpg"], "invalid value `a.jpg` for `--out`: expected a .png file");
    let encoded = |names: &'static str| ["preview", "--model", "a", "--out", "a.png", "--encoding", names];
    misused(&encoded("matrix-16"), "invalid value `matrix-16` for `--encoding`: did you mean `matrix-f16`?");
    misused(&encoded("matrix-f32,fixd16"), "invalid value `fixd16` for `--encoding`: did you mean `fixed16`?");
    misused(
        &encoded("trs-f16, trs-f16"),
        "`--encoding trs-f16,trs-f16` compares trs-f16 with itself: expected two different encodings",
    );
    misused(
        &encoded("trs-f16,fixed16,matrix-f32"),
        "`--encoding` names 3 encodings: expected one, or two separated by a comma",
    );
    let acted = |flag: &'static str, names: &'static str| ["preview", "--model", "a", "--out", "a.png", flag, names];
    misused(&acted("--crossfade", "walk"), "`--crossfade` expects two clips, for example walk,run");
    misused(
        &acted("--layer", "walk,attack,upper_body,more"),
        "`--layer` expects two clips and optionally a mask, for example walk,attack,upper_body",
    );
    let both = [&acted("--crossfade", "walk,run")[..], &["--encoding", "trs-f16,fixed16"]].concat();
    misused(&both, "`--crossfade` and `--layer` accept only one encoding");
    let clips = [&acted("--crossfade", "walk,run")[..], &["--clips", "walk"]].concat();
    misused(&clips, "`--crossfade` and `--layer` name their clips: remove `--clips`");
    misused(&acted("--lod", "-1"), "invalid value `-1` for `--lod`: expected a number, 0 for the finest level");
    for camera in ["below", "30", "30,91", "1,2,3", "nan,0"] {
        let message = format!(
            "invalid value `{camera}` for `--camera`: expected front, back, left, right, top, bottom, \
             or two angles in degrees such as 30,15, the second from -90 to 90"
        );
        misused(&acted("--camera", camera), &message);
    }
    let viewed = |flag: &'static str, value: &'static str| ["view", "a.glb", "--out", "a.png", flag, value];
    let sizes = "expected width and height from 16 to 16384 pixels, such as 1280x960";
    misused(&viewed("--size", "64"), &format!("invalid value `64` for `--size`: {sizes}"));
    misused(&viewed("--size", "0x64"), &format!("invalid value `0x64` for `--size`: {sizes}"));
    misused(&viewed("--show", "skelton"), "invalid value `skelton` for `--show`: did you mean `skeleton`?");
    misused(&viewed("--time", "inf"), "invalid value `inf` for `--time`: expected a number");
    misused(&viewed("--model", "a"), "`--model` names a model of a manifest: remove it for a glTF file");
    misused(&["view", "a.glb", "--out", "a.jpg"], "invalid value `a.jpg` for `--out`: expected a .png file");
    let nothing = gpuskin(&encoded("trs-f16,"));
    assert!(
        nothing.status.code() == Some(2)
            && text(&nothing.stderr).contains("invalid value `` for `--encoding`: expected one of matrix-f32, ")
    );
    let pose = ["pose", "--model", "a", "--clip", "0", "--out", "x", "--path"];
    let with = |rest: &[&'static str]| [&pose[..], rest].concat();
    misused(&pose[..7], "missing flag `--path source|cpu|gpu`");
    misused(&with(&["cpu"]), "missing flag `--times T,T,...` or `--frames all|N,N,...`");
    misused(&with(&["cpu", "--times", "0", "--frames", "0"]), "`--times` and `--frames` exclude each other");
    misused(&with(&["cpu", "--times", "0,x"]), "invalid number `x` in `--times`");
    misused(&with(&["cpu", "--times", "nan"]), "invalid number `nan` in `--times`");
    misused(&with(&["cpu", "--frames", "-1"]), "invalid number `-1` in `--frames`");
    misused(&with(&["scource", "--times", "0"]), "invalid value `scource` for `--path`: did you mean `source`?");
    misused(
        &with(&["cpu", "--times", "0", "--encoding", "matrix-16"]),
        "invalid value `matrix-16` for `--encoding`: did you mean `matrix-f16`?",
    );
}

#[test]
fn help_names_all_commands() {
    let output = gpuskin(&["--help"]);
    assert!(output.status.success());
    for command in ["bake", "cache", "inspect", "new", "pose", "preview", "schema", "view", "watch"] {
        assert!(text(&output.stdout).contains(&format!("\n  {command}")));
        let help = gpuskin(&[command, "--help"]);
        let help_text = text(&help.stdout);
        assert!(help.status.success() && help_text.contains(&format!("Usage: gpuskin {command}")), "{help_text}");
        assert!(help_text.lines().all(|line| line.chars().count() <= 120), "{help_text}");
    }
    assert!(text(&gpuskin(&["--version"]).stdout).starts_with("gpuskin "));
}

#[test]
fn diagnostics_in_a_pipe_have_no_colours() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("gpuskin.toml"), "[[model]]\nname = \"a\"\npath = \"a.glb\"\nfsp = 3\n").unwrap();
    let output = in_folder(folder.path(), &["bake"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    assert_eq!(
        text(&output.stderr).replace(folder.path().to_str().unwrap(), "FOLDER"),
        "gpuskin::file::not_found
  × file not found: a.glb
   ╭─[gpuskin.toml:3:8]
 3 │ path = \"a.glb\"
   ·        ───────
   ╰────
  help: paths are relative to FOLDER

gpuskin::manifest::unknown_key
  × [[model]] has no key `fsp`
   ╭─[gpuskin.toml:4:1]
 4 │ fsp = 3
   · ───
   ╰────
  help: did you mean `fps`?
"
    );
    let json = in_folder(folder.path(), &["bake", "--message-format", "json"]);
    assert!(json.status.code() == Some(1) && json.stderr.is_empty());
    let objects: Vec<serde_json::Value> =
        text(&json.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let codes: Vec<_> = objects.iter().map(|object| object["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["gpuskin::file::not_found", "gpuskin::manifest::unknown_key"]);
    let output = in_folder(folder.path(), &["bake", "--manifest", "no.toml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("the manifest no.toml does not exist"));
}

#[test]
fn names_of_a_manifest_are_checked_once() {
    let folder = samples();
    let path = folder.path().join("gpuskin.toml");
    let twice = std::fs::read_to_string(&path).unwrap().replace("name = \"hound\"", "name = \"soldier\"");
    std::fs::write(path, twice).unwrap();
    let errors = fails(folder.path(), &["bake"]);
    assert_eq!(errors.matches("two models are named `soldier`").count(), 1, "{errors}");
}

#[test]
fn dry_run_shows_warnings() {
    let folder = samples();
    let path = folder.path().join("gpuskin.toml");
    let manifest = std::fs::read_to_string(&path).unwrap() + "exclude_clips = [\"rnu\"]\n";
    std::fs::write(path, manifest).unwrap();
    let output = in_folder(folder.path(), &["bake", "--dry-run"]);
    let (found, warnings) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && found.starts_with("soldier  "), "{found}{warnings}");
    assert!(warnings.contains("gpuskin::manifest::no_effect"), "{warnings}");
}

#[test]
fn inspect_rejects_other_files() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.ktx2"), b"not at all").unwrap();
    let output = in_folder(folder.path(), &["inspect", "a.ktx2"]);
    let expected = "gpuskin::inspect::unknown_file\n  × a.ktx2 is neither a glTF model nor a KTX2 file\n  help: pass ";
    let stderr = text(&output.stderr);
    assert!(output.status.code() == Some(1) && stderr.starts_with(expected), "{stderr}");
    let output = in_folder(folder.path(), &["inspect", "b.ktx2"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("b.ktx2 cannot be read"));
    // Models in other formats, known by their content or by their names.
    for (name, content) in [("a.bin", &b"Kaydara FBX Binary"[..]), ("a.usdz", b"content"), ("a.OBJ", b"v 0 0 0")] {
        std::fs::write(folder.path().join(name), content).unwrap();
        let output = in_folder(folder.path(), &["inspect", name]);
        let expected = format!("{name} is neither a glTF model nor a KTX2 file\n  help: export it as glTF 2.0");
        let stderr = text(&output.stderr);
        assert!(output.status.code() == Some(1) && stderr.contains(&expected), "{stderr}");
    }
}

const SAMPLES: [(&str, &str); 2] = [("soldier", "matrix-f16"), ("hound", "trs-f16")];

/// A folder with the sample models and a manifest for them.
fn samples() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut manifest = String::new();
    for (name, encoding) in SAMPLES {
        let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets");
        std::fs::copy(assets.join(format!("{name}.glb")), folder.path().join(format!("{name}.glb"))).unwrap();
        manifest += &format!("[[model]]\nname = \"{name}\"\npath = \"{name}.glb\"\nencoding = \"{encoding}\"\n");
    }
    std::fs::write(folder.path().join("gpuskin.toml"), manifest).unwrap();
    folder
}

#[track_caller]
fn works(folder: &Path, args: &[&str]) -> String {
    let output = in_folder(folder, args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[track_caller]
fn fails(folder: &Path, args: &[&str]) -> String {
    let output = in_folder(folder, args);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    text(&output.stderr)
}

#[test]
fn bake_check_cache_and_inspect_agree() {
    let folder = samples();
    let folder = folder.path();
    let planned = works(folder, &["bake", "--dry-run"]);
    assert_eq!(planned.lines().count(), 2, "{planned}");
    assert!(fails(folder, &["bake", "--check"]).contains("missing baked/gpuskin.rs"));
    assert!(!folder.join("baked").exists());

    let report = works(folder, &["bake"]);
    for part in [
        "soldier  matrix-f16, ",
        "hound  trs-f16, ",
        "  encoding error  ",
        "  motion error    ",
        "  attack      40   30      1.3  once, guessed (0) ",
    ] {
        assert!(report.contains(part), "`{part}` is missing in:\n{report}");
    }
    assert!(report.lines().all(|line| line.chars().count() <= 110), "{report}");
    assert!(works(folder, &["bake", "--check"]).ends_with("baked is up to date\n"));
    assert!(
        report.contains("\n2 models, nothing to bake\n"),
        "`bake` bakes models that `bake --check` has cached: {report}"
    );
    assert_eq!(works(folder, &["bake"]), report, "a bake without changes prints another report");
    let stats = works(folder, &["cache", "stats"]);
    assert!(stats.contains("  model         2  ") && stats.contains("limit: 4096 MiB"), "{stats}");
    assert!(works(folder, &["cache", "verify"]).contains(" entries are intact in "));
    assert!(works(folder, &["cache", "clean"]).contains(" entries removed, "));
    for (name, encoding) in SAMPLES {
        let text = works(folder, &["inspect", &format!("baked/gpuskin/{name}")]);
        assert!(text.contains(&format!("/anim-{encoding}.ktx2  ")), "{text}");
        assert!(text.contains(&format!("\n{name}  {encoding}, ")) && text.contains("content hash"), "{text}");
    }
    let formats: &[(&str, &str)] = if cfg!(feature = "textures") {
        &[("bc7", "BC7_SRGB_BLOCK"), ("astc", "ASTC_4x4_SRGB_BLOCK"), ("rgba8", "R8G8B8A8_SRGB")]
    } else {
        &[("rgba8", "R8G8B8A8_SRGB")]
    };
    for (ending, format) in formats {
        assert!(report.contains(&format!("{ending} ")), "texture sizes are missing: {report}");
        let color = content_folder(&folder.join("baked/gpuskin/soldier")).join(format!("color-0-{ending}.ktx2"));
        let color = works(folder, &["inspect", color.to_str().unwrap()]);
        assert!(color.contains(format) && color.contains("content hash") && color.contains("SRGB"), "{color}");
    }

    let hound = content_folder(&folder.join("baked/gpuskin/hound"));
    std::fs::write(hound.join("mesh.bin"), b"x").unwrap();
    let changed = hound.strip_prefix(folder).unwrap().display();
    assert!(fails(folder, &["bake", "--check"]).contains(&format!("changed {changed}/mesh.bin")));
}

#[test]
fn bake_model_refuses_a_folder_with_other_models() {
    let folder = samples();
    let folder = folder.path();
    works(folder, &["bake"]);
    let refused = fails(folder, &["bake", "--model", "hound"]);
    assert!(refused.contains("baked also contains other models (soldier)"), "{refused}");
    assert!(content_folder(&folder.join("baked/gpuskin/soldier")).join("mesh.bin").exists());
    works(folder, &["bake", "--model", "hound", "--check"]);
    works(folder, &["bake", "--model", "hound", "--out", "hound"]);
    assert!(content_folder(&folder.join("hound/gpuskin/hound")).join("mesh.bin").exists());
    assert!(fails(folder, &["bake", "--model", "hond"]).contains("model `hond` not found"));
}

#[test]
fn pose_writes_source_vertices() {
    let folder = samples();
    let folder = folder.path();
    let args = ["pose", "--model", "hound", "--clip", "0", "--times", "0,0.1,99", "--path", "source", "--out", "pose"];
    works(folder, &args);
    let json = std::fs::read_to_string(folder.join("pose/frames.json")).unwrap();
    assert!(json.contains("\"frameBytes\""), "{json}");
    assert!(folder.join("pose/frames.bin").metadata().unwrap().len() > 0);
}

#[test]
fn one_bake_reports_all_errors() {
    let folder = samples();
    let folder = folder.path();
    std::fs::write(folder.join("broken.glb"), b"glTF, but not for long").unwrap();
    let manifest = "[[model]]\nname = \"a\"\npath = \"nowhere.glb\"\n[[model]]\nname = \"b\"\npath = \"broken.glb\"\n";
    std::fs::write(folder.join("gpuskin.toml"), manifest).unwrap();
    let stderr = fails(folder, &["bake"]);
    assert!(stderr.contains("file not found: nowhere.glb") && stderr.contains("broken.glb"), "{stderr}");
    assert_eq!(stderr.matches("  × ").count(), 2, "{stderr}");
}

#[test]
#[cfg(target_os = "linux")]
fn second_bake_with_a_bare_manifest_path_bakes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let [home, game] = ["home", "game"].map(|name| folder.path().join(name));
    std::fs::create_dir_all(&game).unwrap();
    let hound = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/hound.glb");
    std::fs::copy(hound, game.join("hound.glb")).unwrap();
    let manifest = "[[model]]\nname = \"hound\"\npath = \"hound.glb\"\ntextures = [\"rgba8\"]\n";
    std::fs::write(game.join("gpuskin.toml"), manifest).unwrap();
    let bake = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpuskin"));
        for variable in ["GPUSKIN_CACHE", "GPUSKIN_COMMAND", "CARGO_TARGET_DIR", "XDG_CACHE_HOME"] {
            command.env_remove(variable);
        }
        let output = command.arg("bake").current_dir(&game).env("HOME", &home).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let _ = std::fs::remove_dir_all(game.join("baked"));
        text(&output.stdout)
    };
    // Outside of a Cargo package, the cache is in the user's cache folder, and `bake` says so.
    let first = bake();
    assert!(first.contains("1 model baked"), "{first}");
    let place =
        format!("cache in {}, because the manifest is not in a Cargo package", home.join(".cache/gpuskin").display());
    assert!(first.contains(&place), "{first}");
    let second = bake();
    assert!(second.contains("1 model, nothing to bake"), "{second}");
    // In a package, it is in the target folder.
    std::fs::write(game.join("Cargo.lock"), "").unwrap();
    let [first, second] = [bake(), bake()];
    assert!(first.contains("1 model baked") && !first.contains("cache in"), "{first}");
    assert!(second.contains("1 model, nothing to bake"), "{second}");
    assert!(game.join("target/gpuskin-cache").is_dir());
}
