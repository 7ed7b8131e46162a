//! Build script of a game whose path has spaces and non-ASCII letters, and whose target folder is
//! elsewhere. The script reads the game's folder, writes only to `OUT_DIR`, and runs only after a
//! change.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use gpuskin_test_harness::{Need, run, test};
use gpuskin_tests::shared::{entries, workspace};

/// Need of strace, which traces the system calls of the build script.
const STRACE: Need = Need {
    variable: "GPUSKIN_REQUIRE_STRACE",
    missing: || match Command::new("strace").arg("-V").output() {
        Ok(_) if cfg!(target_os = "linux") => None,
        _ => Some("strace is not installed, or this is not Linux".to_owned()),
    },
};

/// Need of a user that the permissions of files apply to.
const USER: Need = Need {
    variable: "GPUSKIN_REQUIRE_USER",
    missing: || match cfg!(unix) {
        false => Some("folders can be made read-only only on Unix".to_owned()),
        true if is_root() && Command::new("setpriv").arg("--version").output().is_err() => {
            Some("root may write anywhere, and setpriv is not installed to run as another user".to_owned())
        }
        true => None,
    },
};

fn main() -> ExitCode {
    run([
        test!(build_script_writes_no_sources_and_runs_only_after_changes),
        test!(build_script_makes_the_same_files_for_another_target),
        test!(build_script_writes_only_to_out_dir_and_uses_no_network, STRACE),
        test!(build_script_runs_over_read_only_sources, USER),
    ])
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Two PNG images of 4 x 4 texels, as hexadecimal digits.
const IMAGES: [&str; 2] = [
    "89504e470d0a1a0a0000000d494844520000000400000004080200000026930929000000294944415478da0dc7310100000cc23084551867452170cb972412\
     1b1713048be353a9adeb67323b370fa7631341061a2b550000000049454e44ae426082",
    "89504e470d0a1a0a0000000d494844520000000400000004080200000026930929000000304944415478da0dc7a10100300803c1b82e8563295c7ea838962b\
     e74e4fb4b058a15774e162eb32f4e061e7123a386cf8b33313b10a8527bb0000000049454e44ae426082",
];

fn image(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

/// glTF text of the model in `golden/`, with a texture file beside it.
fn model(texture: &str) -> String {
    let text = fs::read_to_string(workspace().join("tests/golden/pole.gltf")).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let uvs = serde_json::json!({ "componentType": 5126, "count": 6, "type": "VEC2" });
    let accessors = json["accessors"].as_array_mut().unwrap();
    accessors.push(uvs);
    let last = accessors.len() - 1;
    json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = last.into();
    json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"] = serde_json::json!({ "index": 0 });
    json["textures"] = serde_json::json!([{ "source": 0 }]);
    json["images"] = serde_json::json!([{ "uri": texture }]);
    json.to_string()
}

struct Game {
    folder: PathBuf,
    target: PathBuf,
}

impl Game {
    fn new() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ein Spiel mit Bäumen/игра");
        let _ = fs::remove_dir_all(&folder);
        // The workspace's target folder, so that the dependencies are built once.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned();
        let game = Self { folder, target };
        let path = |name: &str| format!("{:?}", workspace().join(name).to_str().unwrap());
        let text = format!(
            "[package]\nname = \"gpuskin-test-build-script\"\nedition = \"2024\"\n[workspace]\n\
             [dependencies]\ngpuskin-rt = {{ path = {}, default-features = false }}\n\
             [build-dependencies]\ngpuskin-build = {{ path = {} }}\n",
            path("gpuskin-rt"),
            path("gpuskin-build")
        );
        game.write("Cargo.toml", text.as_bytes());
        game.write("build.rs", b"fn main() {\n    gpuskin_build::build(\"gpuskin.toml\");\n}\n");
        game.write("src/lib.rs", b"gpuskin_rt::include_baked!();\n");
        let manifest = "[bake]\ntextures = [\"bc7\"]\nstorage = \"file\"\n[[model]]\nname = \"oak\"\npath = \"art/Eiche grün.gltf\"\n\
                        [[model]]\nname = \"elm\"\npath = \"art/вяз.gltf\"\n";
        game.write("gpuskin.toml", manifest.as_bytes());
        game.write("art/Eiche grün.gltf", model("Rinde%20gr%C3%BCn.png").as_bytes());
        game.write("art/вяз.gltf", model("вяз.png").as_bytes());
        game.write("art/Rinde grün.png", &image(IMAGES[0]));
        game.write("art/вяз.png", &image(IMAGES[0]));
        // The workspace's lock file: these versions are downloaded already, so that no network is
        // needed.
        fs::copy(workspace().join("Cargo.lock"), game.folder.join("Cargo.lock")).unwrap();
        game.cargo(&["clean", "--release", "--package", "gpuskin-test-build-script"]);
        game
    }

    fn write(&self, file: &str, bytes: &[u8]) {
        let path = self.folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn cargo(&self, args: &[&str]) -> Output {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(args).arg("--offline").current_dir(&self.folder).env("CARGO_TARGET_DIR", &self.target);
        command.env_remove("OUT_DIR").env_remove("GPUSKIN_CACHE").env("CARGO_TERM_COLOR", "never").output().unwrap()
    }

    /// Builds the game, which must succeed. Returns cargo's messages.
    #[track_caller]
    fn build(&self) -> String {
        let output = self.cargo(&["build", "--release", "-v"]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}");
        text
    }

    fn built(&self, file: &str) -> PathBuf {
        built(&self.target, file)
    }
}

/// Locks the game: the tests take turns, in any order.
fn game() -> MutexGuard<'static, Game> {
    static GAME: LazyLock<Mutex<Game>> = LazyLock::new(|| Mutex::new(Game::new()));
    GAME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The game's newest folder in `release/build` of a target folder that contains `file`.
fn built(target: &Path, file: &str) -> PathBuf {
    let all = entries(&target.join("release/build")).into_iter();
    let mut all: Vec<_> = all
        .filter(|path| path.to_string_lossy().contains("/gpuskin-test-build-script-") && path.join(file).exists())
        .collect();
    all.sort_by_key(|path| fs::metadata(path.join(file)).unwrap().modified().unwrap());
    all.pop().unwrap_or_else(|| panic!("no {file} in {}", target.display()))
}

/// All files below a folder, with their contents and modification times.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut files = BTreeMap::new();
    for path in entries(folder) {
        if path.is_dir() {
            files.extend(snapshot(&path));
        } else {
            let since = fs::metadata(&path).unwrap().modified().unwrap();
            files.insert(path.clone(), (fs::read(&path).unwrap(), since));
        }
    }
    files
}

/// Builds the game again and again: each step starts from the state that the last one left.
fn build_script_writes_no_sources_and_runs_only_after_changes() {
    let game = game();
    let before = snapshot(&game.folder);
    game.build();
    assert!(snapshot(&game.folder) == before, "the build changed files in the game's folder");
    let out = game.built("out/gpuskin.rs").join("out");
    let first = snapshot(&out);
    let again = game.build();
    assert!(again.contains("Fresh gpuskin-test-build-script") && !again.contains("Running"), "{again}");

    // A changed texture of one model: the files of the other model are not even rewritten.
    game.write("art/вяз.png", &image(IMAGES[1]));
    game.build();
    let second = snapshot(&out);
    let changed: Vec<String> = second
        .iter()
        .filter(|(path, state)| first.get(*path) != Some(state) && !path.starts_with(out.join("gpuskin-cache")))
        .map(|(path, _)| path.strip_prefix(&out).unwrap().display().to_string())
        .collect();
    assert!(changed.iter().any(|path| path.starts_with("gpuskin/elm/")), "{changed:?}");
    assert!(changed.iter().all(|path| path.starts_with("gpuskin/elm/") || path == "gpuskin.rs"), "{changed:?}");
    let again = game.build();
    assert!(again.contains("Fresh gpuskin-test-build-script") && !again.contains("Running"), "{again}");
}

/// Builds for another target: the script still runs on the host, and writes the same files.
fn build_script_makes_the_same_files_for_another_target() {
    let game = game();
    game.build();
    let rustc = |args: &[&str]| {
        let output = Command::new("rustc").args(args).current_dir(&game.folder).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    // A target that differs from the host, if its standard library is installed. Otherwise the host
    // by its triple: cargo then also keeps build scripts apart from the target's output.
    let other = "wasm32-unknown-unknown";
    let said = rustc(&["-vV"]);
    let this = said.lines().find_map(|line| line.strip_prefix("host: ")).expect("`rustc -vV` prints the host");
    let installed = Path::new(rustc(&["--print", "target-libdir", "--target", other]).trim()).is_dir();
    let target = if installed { other } else { this };
    let output = game.cargo(&["build", "--release", "--target", target]);
    assert!(output.status.success(), "{target}: {}", String::from_utf8_lossy(&output.stderr));
    let made = |folder: &Path| -> BTreeMap<PathBuf, Vec<u8>> {
        let out = built(folder, "out/gpuskin.rs").join("out");
        let files = snapshot(&out).into_iter().filter(|(path, _)| !path.starts_with(out.join("gpuskin-cache")));
        files.map(|(path, (bytes, _))| (path.strip_prefix(&out).unwrap().to_owned(), bytes)).collect()
    };
    let (here, there) = (made(&game.target), made(&game.target.join(target)));
    assert!(here.len() > 4 && here == there, "{target}: {:?}, {:?}", here.keys(), there.keys());
}

/// Runs the build script under strace, and checks that it writes only to `OUT_DIR` and uses no
/// network.
fn build_script_writes_only_to_out_dir_and_uses_no_network() {
    let game = game();
    game.build();
    let script = game.built("build-script-build").join("build-script-build");
    let folder = tempfile::tempdir().unwrap();
    let (out, trace) = (folder.path().join("out dir"), folder.path().join("trace"));
    fs::create_dir(&out).unwrap();
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-s", "4096", "-e", "trace=%file,%network,ftruncate", "-o"]).arg(&trace).arg(script);
    command.current_dir(&game.folder).env("OUT_DIR", &out).env_remove("GPUSKIN_CACHE");
    let output = command.env("CARGO_MANIFEST_DIR", &game.folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && out.join("gpuskin.rs").exists(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(!said.contains("cargo::error") && !said.contains("cargo::warning"), "{said}");
    let watched = said.lines().filter_map(|line| line.strip_prefix("cargo::rerun-if-changed="));
    let watched: Vec<&str> = watched.collect();
    assert_eq!(watched.len(), 5, "{watched:?}");
    assert!(watched.iter().all(|path| !Path::new(path).starts_with(&out)), "{watched:?}");

    // strace prints non-ASCII letters as octal numbers; the path of this `OUT_DIR` has none.
    let out = out.to_str().unwrap();
    let text = fs::read_to_string(&trace).unwrap();
    let mut writes = 0;
    for line in text.lines() {
        let Some((call, rest)) = line.split_once('(') else { continue };
        let call = call.rsplit(' ').next().unwrap_or(call);
        assert!(!["socket", "connect", "sendto"].contains(&call), "{line}");
        let opens =
            call.starts_with("open") && ["O_WRONLY", "O_RDWR", "O_CREAT"].iter().any(|flag| rest.contains(flag));
        let changes = [
            "creat", "mkdir", "unlink", "rmdir", "rename", "link", "symlink", "chmod", "chown", "truncate", "utime",
            "mknod",
        ]
        .iter()
        .any(|start| call.starts_with(start));
        if opens || changes {
            assert!(
                rest.contains(out) || rest.contains("\"/dev/") || rest.contains("\"/proc/"),
                "write outside OUT_DIR: {line}"
            );
            writes += 1;
        }
    }
    assert!(writes > 5, "{text}");
}

/// Runs the build script over read-only sources, as a user that the permissions apply to.
fn build_script_runs_over_read_only_sources() {
    let game = game();
    game.build();
    let folder = tempfile::tempdir().unwrap();
    let (tree, out) = (folder.path().join("nur lesen"), folder.path().join("out"));
    let bits = |path: &Path, mode: &str| {
        let status = Command::new("chmod").args(["-R", mode]).arg(path).status().unwrap();
        assert!(status.success(), "chmod {mode}");
    };
    assert!(Command::new("cp").arg("-R").arg(&game.folder).arg(&tree).status().unwrap().success());
    let script = folder.path().join("script");
    fs::copy(game.built("build-script-build").join("build-script-build"), &script).unwrap();
    fs::create_dir(&out).unwrap();
    bits(folder.path(), "a=rX");
    bits(&out, "a=rwX");
    let mut command = if is_root() {
        // Root may write to read-only files, so the script runs as another user.
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&script);
        command
    } else {
        Command::new(&script)
    };
    command.current_dir(&tree).env("OUT_DIR", &out).env("CARGO_MANIFEST_DIR", &tree).env_remove("GPUSKIN_CACHE");
    let output = command.output().unwrap();
    // Makes the folder writable again, so that it can be removed.
    bits(folder.path(), "u+w");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(!said.contains("cargo::error") && !said.contains("cargo::warning"), "{said}");
    assert!(out.join("gpuskin.rs").exists());
}
