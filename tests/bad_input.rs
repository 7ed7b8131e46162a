//! Failing bakes in the build script of a game outside this workspace: all errors are reported
//! together, and the files of the last good bake stay.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gpuskin_build::{BakeOptions, Manifest, bake};
use gpuskin_tests::shared::{entries, name, workspace};

const GOOD: &str = r#"
[[model]]
name = "pole"
path = "art/pole.gltf"
"#;
const BROKEN: &str = r#"
[[model]]
name = "stump"
path = "art/stump.gltf"
"#;
const WITHOUT_A_CLIP: &str = r#"
[[model]]
name = "mast"
path = "art/pole.gltf"
[model.clips]
sway = { source = "Rig|Swap" }
"#;

/// glTF text of the model in `golden/`, which bakes without errors.
fn pole() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/pole.gltf")).unwrap()
}

/// glTF text of [`pole`] with a joint index that is out of range.
fn stump() -> String {
    let text = pole();
    assert!(text.contains("\"joints\": [0, 1]"), "golden/pole.gltf has changed: this test replaces its joints");
    text.replace("\"joints\": [0, 1]", "\"joints\": [0, 7]")
}

#[test]
fn all_errors_are_reported_together() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("art")).unwrap();
    fs::write(folder.path().join("art/pole.gltf"), pole()).unwrap();
    fs::write(folder.path().join("art/stump.gltf"), stump()).unwrap();
    let text = [BROKEN, GOOD, WITHOUT_A_CLIP].concat();
    let manifest = Manifest::parse(&folder.path().join("gpuskin.toml"), text).unwrap();
    let failed = bake(&manifest, &BakeOptions::default()).unwrap_err();
    let errors: Vec<&str> = failed.diagnostics.iter().filter(|f| f.is_error()).map(|f| f.message()).collect();
    let [broken, clip] = errors[..] else { panic!("{errors:#?}") };
    assert!(broken.contains("`stump`") && broken.contains("stump.gltf"), "{broken}");
    assert!(clip.contains("`mast`") && clip.contains("Rig|Swap"), "{clip}");
    let rendered = failed.diagnostics.to_string();
    assert!(rendered.contains("Rig|Sway"), "the message does not suggest the existing clip: {rendered}");
    for file in ["gpuskin.toml", "art/pole.gltf", "art/stump.gltf"] {
        assert!(
            failed.inputs.iter().any(|input| input.ends_with(file)),
            "{file} is not among the inputs: {:?}",
            failed.inputs
        );
    }
}

/// Game in its own workspace.
struct Game {
    folder: PathBuf,
}

impl Game {
    /// Creates the game in a folder that is the same in every run, so that its dependencies are
    /// built once.
    fn new() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("game");
        let _ = fs::remove_dir_all(&folder);
        let game = Self { folder };
        let path = |name: &str| format!("{:?}", workspace().join(name).to_str().unwrap());
        game.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"gpuskin-test-game\"\nedition = \"2024\"\n[workspace]\n\
                 [dependencies]\ngpuskin-rt = {{ path = {}, default-features = false }}\n\
                 [build-dependencies]\ngpuskin-build = {{ path = {} }}\n",
                path("gpuskin-rt"),
                path("gpuskin-build")
            ),
        );
        game.write("build.rs", "fn main() {\n    gpuskin_build::build(\"gpuskin.toml\");\n}\n");
        let main = "gpuskin_rt::include_baked!();\n\
                    fn main() {\n    \
                    let names: Vec<&str> = models::ALL.iter().map(|model| &*model.meta.name).collect();\n    \
                    println!(\"{}\\n{}\", env!(\"OUT_DIR\"), names.join(\" \"));\n}\n";
        game.write("src/main.rs", main);
        game.write("art/pole.gltf", &pole());
        // The workspace's lock file: these versions are downloaded already, so that no network is
        // needed.
        fs::copy(workspace().join("Cargo.lock"), game.folder.join("Cargo.lock")).unwrap();
        game.cargo(&["clean", "--release", "--package", "gpuskin-test-game"]);
        game
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn cargo(&self, args: &[&str]) -> Output {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let mut command = Command::new(cargo);
        command.args(args).arg("--offline").current_dir(&self.folder).env("CARGO_TARGET_DIR", target);
        command.env_remove("OUT_DIR").env("CARGO_TERM_COLOR", "never").output().unwrap()
    }

    /// Runs the game. Returns the line that it prints, and its `OUT_DIR`.
    #[track_caller]
    fn run(&self) -> (String, PathBuf) {
        let output = self.cargo(&["run", "--release"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        let (out_dir, line) = text.trim_end().split_once('\n').unwrap();
        (line.to_owned(), out_dir.into())
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// All files below a folder, with their contents.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    // The cache is no output.
    for path in entries(folder).into_iter().filter(|path| !path.ends_with("gpuskin-cache")) {
        if path.is_dir() {
            files.extend(snapshot(&path));
        } else {
            files.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    files
}

/// Builds one game again and again: each step starts from the state that the last one left.
#[test]
fn build_script_reports_errors_and_keeps_the_last_good_bake() {
    let game = Game::new();
    game.write("gpuskin.toml", GOOD);
    let (line, out_dir) = game.run();
    assert_eq!(line, "pole");
    let good = snapshot(&out_dir);
    let names: Vec<&str> = good.keys().map(|path| name(path)).collect();
    assert_eq!(names, ["anim-local-packed.ktx2", "mesh.bin", "gpuskin.rs"]);

    // Without a change, cargo runs nothing.
    let again = stderr(&game.cargo(&["build", "--release", "-v"]));
    assert!(again.contains("Fresh gpuskin-test-game") && !again.contains("Running"), "{again}");

    // Both errors are printed as cargo errors, and the files of the last bake stay.
    game.write("gpuskin.toml", &[GOOD, BROKEN, WITHOUT_A_CLIP].concat());
    game.write("art/stump.gltf", &stump());
    let output = game.cargo(&["build", "--release"]);
    let text = stderr(&output);
    assert!(!output.status.success(), "{text}");
    let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("error: ")).collect();
    for part in ["`stump`", "stump.gltf", "`mast`", "Rig|Swap", "gpuskin.toml:"] {
        assert!(errors.iter().any(|line| line.contains(part)), "no error contains {part}:\n{text}");
    }
    assert!(!text.contains("panicked") && !text.contains("`pole`"), "{text}");
    assert!(snapshot(&out_dir) == good, "a failed bake changed files in OUT_DIR");
    let output = game.cargo(&["build", "--release"]);
    assert!(!output.status.success(), "a second build without changes must fail too");

    // One error is fixed, then the other.
    game.write("art/stump.gltf", &pole());
    let text = stderr(&game.cargo(&["build", "--release"]));
    assert!(text.contains("`mast`") && !text.contains("`stump`"), "{text}");
    game.write("gpuskin.toml", &[GOOD, BROKEN, &WITHOUT_A_CLIP.replace("Swap", "Sway")].concat());
    assert_eq!(game.run(), ("pole stump mast".to_owned(), out_dir.clone()));
    assert!(good.keys().filter(|path| !path.ends_with("gpuskin.rs")).all(|p| fs::read(p).unwrap() == good[p]));

    // A changed source file alone triggers a bake, and files that are no longer made are removed.
    let before = snapshot(&out_dir);
    game.write("art/stump.gltf", &pole().replace("0.25", "0.5"));
    assert_eq!(game.run().0, "pole stump mast");
    let changed = |(path, bytes): (&PathBuf, Vec<u8>)| before.get(path) != Some(&bytes);
    let changed = snapshot(&out_dir).into_iter().filter(|(p, b)| changed((p, b.clone())));
    let changed: Vec<PathBuf> = changed.map(|(path, _)| path.strip_prefix(&out_dir).unwrap().to_owned()).collect();
    assert!(changed.iter().all(|p| p.starts_with("gpuskin/stump") || p.ends_with("gpuskin.rs")), "{changed:?}");
    assert!(changed.len() > 1, "{changed:?}");
    game.write("gpuskin.toml", &GOOD.replace("\"pole\"", "\"mast\""));
    assert_eq!(game.run().0, "mast");
    let left = entries(&out_dir.join("gpuskin"));
    assert_eq!(left, [out_dir.join("gpuskin/mast")]);
    let again = stderr(&game.cargo(&["build", "--release", "-v"]));
    assert!(again.contains("Fresh gpuskin-test-game") && !again.contains("Running"), "{again}");
}
