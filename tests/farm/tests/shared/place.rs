//! Simulated machines that bake the same models, each in its own folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const POLE: &str = include_str!("../../../../gpuskin-build/tests/data/pole.gltf");
/// Number of models in the manifest.
pub const MODELS: usize = 3;

pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Source files, and the machines that bake them.
pub struct Place {
    folder: tempfile::TempDir,
}

/// Output of a bake.
pub struct Said {
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(place.path("art")).unwrap();
        let mut manifest = "[bake]\ndevices = [\"compute\", \"webgl2\"]\n".to_owned();
        for n in 0..MODELS {
            manifest += &format!("[[model]]\nname = \"pole{n}\"\npath = \"art/pole{n}.gltf\"\n");
            let text = POLE.replace("\"wood\"", &format!("\"wood {n}\""));
            fs::write(place.path(&format!("art/pole{n}.gltf")), text).unwrap();
        }
        fs::write(place.path("gpuskin.toml"), manifest).unwrap();
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, machine: &str, variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpuskin-farm"));
        command.env("GPUSKIN_CACHE", self.path(&format!("{machine}/cache")));
        for name in ["GPUSKIN_SHARED_CACHE", "GPUSKIN_SHARED_CACHE_MODE", "HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
            command.env_remove(name);
        }
        command.env("NO_PROXY", "*").envs(variables.iter().copied());
        command
    }

    /// Bakes on a machine, which must succeed.
    #[track_caller]
    pub fn bake(&self, machine: &str, variables: &[(&str, &str)]) -> Said {
        let mut command = self.command(machine, variables);
        command.arg("bake").arg("--manifest").arg(self.path("gpuskin.toml"));
        run(command.arg("--out").arg(self.path(&format!("{machine}/baked"))))
    }

    /// Bakes on a machine as a build script does, without `GPUSKIN_CACHE`.
    #[track_caller]
    pub fn script(&self, machine: &str, variables: &[(&str, &str)]) -> Said {
        let out = self.path(&format!("{machine}/baked"));
        fs::create_dir_all(&out).unwrap();
        let mut command = self.command(machine, variables);
        run(command.env_remove("GPUSKIN_CACHE").env("OUT_DIR", &out).arg("script").arg(self.path("gpuskin.toml")))
    }

    #[track_caller]
    pub fn stats(&self, machine: &str) -> String {
        run(self.command(machine, &[]).args(["cache", "stats"])).stdout
    }

    /// Files that a machine has baked, without its cache.
    pub fn out(&self, machine: &str) -> Files {
        let mut files = tree(&self.path(&format!("{machine}/baked")));
        files.retain(|path, _| !path.starts_with("gpuskin-cache"));
        files
    }
}

impl Said {
    /// Number of models that were baked instead of taken from a cache.
    #[track_caller]
    pub fn baked(&self) -> usize {
        let start = format!("{MODELS} models");
        match self.stdout.lines().find_map(|line| line.strip_prefix(&start)).unwrap() {
            " baked" => MODELS,
            ", nothing to bake" => 0,
            some => some.trim_start_matches(", ").trim_end_matches(" of them baked").parse().unwrap(),
        }
    }
}

#[track_caller]
fn run(command: &mut Command) -> Said {
    let output = command.output().unwrap();
    let said =
        Said { stdout: String::from_utf8(output.stdout).unwrap(), stderr: String::from_utf8(output.stderr).unwrap() };
    assert!(output.status.success(), "{}{}", said.stdout, said.stderr);
    said
}

/// All files below a folder, with their contents.
pub fn tree(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    files
}
