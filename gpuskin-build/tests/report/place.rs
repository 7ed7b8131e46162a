//! A folder with models, a manifest and a cache, in which the program runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use base64::Engine;
use serde_json::Value;

/// Name of a bone of [`Place::hostile`], before its 10,000 letters.
pub const HOSTILE: &str = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u{202e}\u{0}--><!--";

pub struct Place {
    folder: tempfile::TempDir,
}

/// Returns the text of a small glTF model with two clips.
pub fn pole() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pole.gltf")).unwrap()
}

/// Returns a manifest of models with default settings.
pub fn manifest_of(names: &[&str]) -> String {
    names.iter().map(|name| format!("[[model]]\nname = \"{name}\"\npath = \"{name}.gltf\"\n")).collect()
}

/// Returns the data within a page.
pub fn data_of(page: &str) -> Value {
    let (_, data) = page.split_once(" id=\"data\">").unwrap();
    let packed = base64::engine::general_purpose::STANDARD.decode(data.split('<').next().unwrap()).unwrap();
    serde_json::from_reader(flate2::read::GzDecoder::new(&packed[..])).unwrap()
}

impl Place {
    /// A folder with `pole.gltf` and a manifest.
    pub fn new(manifest: &str) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        place.write("pole.gltf", &pole());
        place.write("gpuskin.toml", manifest);
        place
    }

    /// The sample models.
    pub fn samples() -> Self {
        let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets");
        let place = Self::new(&std::fs::read_to_string(assets.join("gpuskin.toml")).unwrap());
        for name in ["soldier.glb", "hound.glb"] {
            std::fs::copy(assets.join(name), place.path(name)).unwrap();
        }
        place
    }

    /// A model whose names are HTML, change the direction of text, and are long.
    pub fn hostile() -> Self {
        let place = Self::new("[[model]]\nname = \"pole\"\npath = \"hostile.gltf\"\n");
        let mut json: Value = serde_json::from_str(&pole()).unwrap();
        let name = format!("{HOSTILE}{}", "x".repeat(10_000));
        json["nodes"][0]["name"] = name.clone().into();
        json["nodes"][1]["name"] = format!("{name}2").into();
        json["animations"][0]["name"] = name.into();
        place.write("hostile.gltf", &json.to_string());
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file as editors do: beside its place, then moved there. No reader sees a part of it.
    pub fn write(&self, name: &str, text: &str) {
        let part = self.path(&format!("{name}.part"));
        std::fs::write(&part, text).unwrap();
        std::fs::rename(part, self.path(name)).unwrap();
    }

    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    #[track_caller]
    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Returns the command in the folder, with a cache of its own.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpuskin"));
        command.args(args).current_dir(self.folder.path()).env("GPUSKIN_CACHE", self.path("cache"));
        command.env_remove("GPUSKIN_COMMAND");
        command
    }

    fn run(&self, flags: &[&str]) -> Output {
        self.command(&[&["bake"], flags].concat()).output().unwrap()
    }

    /// Bakes, and returns standard output.
    #[track_caller]
    pub fn bake(&self, flags: &[&str]) -> String {
        let output = self.run(flags);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Bakes something that fails, and returns standard error.
    #[track_caller]
    pub fn fails(&self, flags: &[&str]) -> String {
        let output = self.run(flags);
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).unwrap()
    }

    /// Runs a wrong command line, and returns standard error.
    #[track_caller]
    pub fn misuses(&self, flags: &[&str]) -> String {
        let output = self.run(flags);
        assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).unwrap()
    }

    /// Runs a build script with `GPUSKIN_REPORT`, and returns what it prints for Cargo.
    pub fn build_script(&self, report: &str) -> String {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env("GPUSKIN_TEST_BUILD_SCRIPT", "gpuskin.toml").env("GPUSKIN_REPORT", report);
        command.env("OUT_DIR", self.path("")).env("GPUSKIN_CACHE", self.path("cache"));
        let output = command.current_dir(self.folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}
