//! What cannot be baked, in a game outside this workspace that bakes in its build script: everything that is wrong
//! comes out at once, and what was good stays.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gpuskin_build::{BakeOptions, Manifest, bake};
use gpuskin_tests::shared::{entries, workspace};

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

/// The model of `golden/`, which bakes.
fn pole() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/pole.gltf")).unwrap()
}

/// The same with a joint that is no node.
fn stump() -> String {
    let text = pole();
    assert!(text.contains("\"joints\": [0, 1]"), "the model is not as this test knows it");
    text.replace("\"joints\": [0, 1]", "\"joints\": [0, 7]")
}

#[test]
fn all_that_is_wrong_is_reported_together() {
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
    assert!(rendered.contains("Rig|Sway"), "what there is instead: {rendered}");
    for file in ["gpuskin.toml", "art/pole.gltf", "art/stump.gltf"] {
        assert!(failed.inputs.iter().any(|input| input.ends_with(file)), "{file} is not watched: {:?}", failed.inputs);
    }
}

/// A game in a workspace of its own.
struct Game {
    folder: PathBuf,
}

impl Game {
    /// The same place in every run, so that the crates that it depends on are built once.
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
        // The same versions as here, which are there without a network.
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

    /// What it prints, and where its files are.
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

/// All files below a folder, and what stands in them.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    // What is kept from bake to bake is no output.
    for path in entries(folder).into_iter().filter(|path| !path.ends_with("gpuskin-cache")) {
        if path.is_dir() {
            files.extend(snapshot(&path));
        } else {
            files.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    files
}

/// One game from its first build on: a step needs what the one before left.
#[test]
fn a_game_that_bakes_in_its_build_script() {
    let game = Game::new();
    game.write("gpuskin.toml", GOOD);
    let (line, out_dir) = game.run();
    assert_eq!(line, "pole");
    let good = snapshot(&out_dir);
    let names: Vec<String> = good.keys().map(|p| p.strip_prefix(&out_dir).unwrap().display().to_string()).collect();
    assert_eq!(names, ["gpuskin/pole/anim-local-packed.ktx2", "gpuskin/pole/mesh.bin", "gpuskin.rs"]);

    // Nothing changed: nothing runs.
    let again = stderr(&game.cargo(&["build", "--release", "-v"]));
    assert!(again.contains("Fresh gpuskin-test-game") && !again.contains("Running"), "{again}");

    // Both errors come as cargo's own, and what is there stays.
    game.write("gpuskin.toml", &[GOOD, BROKEN, WITHOUT_A_CLIP].concat());
    game.write("art/stump.gltf", &stump());
    let output = game.cargo(&["build", "--release"]);
    let text = stderr(&output);
    assert!(!output.status.success(), "{text}");
    let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("error: ")).collect();
    for part in ["`stump`", "stump.gltf", "`mast`", "Rig|Swap", "gpuskin.toml:"] {
        assert!(errors.iter().any(|line| line.contains(part)), "no error with {part}:\n{text}");
    }
    assert!(!text.contains("panicked") && !text.contains("`pole`"), "{text}");
    assert!(snapshot(&out_dir) == good, "a failed bake has written");
    let output = game.cargo(&["build", "--release"]);
    assert!(!output.status.success(), "an error does not go away by itself");

    // One repaired, the other still wrong; then both.
    game.write("art/stump.gltf", &pole());
    let text = stderr(&game.cargo(&["build", "--release"]));
    assert!(text.contains("`mast`") && !text.contains("`stump`"), "{text}");
    game.write("gpuskin.toml", &[GOOD, BROKEN, &WITHOUT_A_CLIP.replace("Swap", "Sway")].concat());
    assert_eq!(game.run(), ("pole stump mast".to_owned(), out_dir.clone()));
    assert!(good.keys().filter(|path| !path.ends_with("gpuskin.rs")).all(|p| fs::read(p).unwrap() == good[p]));

    // A change to the art alone is seen, and what is no longer made goes.
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
