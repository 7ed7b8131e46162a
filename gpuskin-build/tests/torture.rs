//! Bakes that are killed, and concurrent bakes. `cargo xtask torture` runs the long versions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gpuskin_build::{BakeOptions, Manifest, bake};

const POLE: &str = include_str!("data/pole.gltf");

/// A folder with models, a cache and an output folder.
struct Place {
    folder: tempfile::TempDir,
    models: usize,
}

type Files = BTreeMap<String, Vec<u8>>;

impl Place {
    fn new(models: usize) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap(), models };
        fs::create_dir(place.path("art")).unwrap();
        let model = |n| format!("[[model]]\nname = \"pole{n}\"\npath = \"art/pole{n}.gltf\"\n");
        let manifest = (0..models).map(model).collect::<String>();
        fs::write(place.path("gpuskin.toml"), format!("[bake]\ndevices = [\"compute\", \"webgl2\"]\n{manifest}"))
            .unwrap();
        place.version(0);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes other sources, and returns the result of a clean bake of them.
    fn version(&self, version: usize) -> Files {
        for n in 0..self.models {
            let text = POLE.replace("\"wood\"", &format!("\"wood {version}\""));
            fs::write(self.path(&format!("art/pole{n}.gltf")), text).unwrap();
        }
        let manifest = Manifest::load(&self.path("gpuskin.toml")).unwrap();
        bake(&manifest, &BakeOptions::default()).unwrap_or_else(|failed| panic!("{}", failed.diagnostics)).files
    }

    fn start(&self) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpuskin"));
        command.args(["bake", "--manifest"]).arg(self.path("gpuskin.toml")).arg("--out").arg(self.path("baked"));
        command.env("GPUSKIN_CACHE", self.path("cache")).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Returns the number of models that were baked.
    #[track_caller]
    fn finish(&self, child: Child) -> usize {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let start = format!("{} model", self.models);
        let rest = text.lines().find_map(|line| line.strip_prefix(&start)).unwrap().trim_start_matches('s');
        match rest {
            " baked" => self.models,
            ", nothing to bake" => 0,
            some => some.trim_start_matches(", ").trim_end_matches(" of them baked").parse().unwrap(),
        }
    }

    fn out(&self) -> Files {
        let mut files = Files::new();
        let mut folders = vec![self.path("baked")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(self.path("baked")).unwrap().to_str().unwrap().replace('\\', "/");
                    files.insert(name, fs::read(&path).unwrap());
                }
            }
        }
        files
    }

    /// Whether a bake is between its first unfinished file and its last rename.
    fn is_writing(&self) -> bool {
        let unfinished = |folder: &Path| {
            let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
            names.into_iter().any(|name| name.to_string_lossy().starts_with(".gpuskin-"))
        };
        let folders = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let models = (0..self.models).map(|n| self.path(&format!("baked/gpuskin/pole{n}")));
        unfinished(&self.path("baked")) || models.flat_map(folders).any(|folder| unfinished(&folder))
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// Kills `count` bakes. Every second one is killed as soon as it writes, or a little later.
fn kills(count: usize, least_writing: usize) {
    let place = Place::new(4);
    let mut old = place.version(0);
    let start = Instant::now();
    place.finish(place.start());
    let whole = start.elapsed().as_micros() as u64;
    let (mut random, mut writing, mut mixed) = (Random(0x2545_F491_4F6C_DD1D), 0, 0);
    for n in 1..=count {
        let new = place.version(n);
        let mut child = place.start();
        if n % 2 == 0 {
            while !place.is_writing() && child.try_wait().unwrap().is_none() {}
            std::thread::sleep(Duration::from_micros(random.below(2000)));
        } else {
            std::thread::sleep(Duration::from_micros(random.below(whole)));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        writing += usize::from(place.is_writing());
        let found = place.out();
        for (name, bytes) in found.iter().filter(|(name, _)| !name.contains(".gpuskin-")) {
            assert!(
                old.get(name) == Some(bytes) || new.get(name) == Some(bytes),
                "kill {n}: {name} is neither the old nor the new file"
            );
        }
        // The module and all files that it names are those of one bake.
        let module = &found["gpuskin.rs"];
        let bake = if *module == new["gpuskin.rs"] { &new } else { &old };
        assert!(bake.iter().all(|(name, bytes)| found.get(name) == Some(bytes)), "kill {n}: {:?}", found.keys());
        mixed += usize::from(found.keys().any(|name| !bake.contains_key(name) && !name.contains(".gpuskin-")));
        place.finish(place.start());
        assert!(place.out() == new, "kill {n}: {:?}", place.out().keys());
        assert_eq!(fs::read_dir(place.path("cache/unfinished")).unwrap().count(), 0, "kill {n}");
        old = new;
    }
    println!(
        "torture: {count} kills, {writing} of them between the first unfinished file and the last rename, \
         {mixed} left files of two bakes"
    );
    assert!(writing >= least_writing, "{writing}");
}

#[test]
fn killed_bakes_leave_intact_files() {
    kills(10, 1);
}

#[test]
#[ignore = "takes minutes; run by `cargo xtask torture`"]
fn a_thousand_killed_bakes_leave_intact_files() {
    kills(1000, 200);
}

/// Runs several bakes of the same manifest at the same time.
fn together(bakes: usize, rounds: usize) {
    let place = Place::new(3);
    let mut baked = 0;
    for round in 1..=rounds {
        let new = place.version(round);
        let children: Vec<_> = (0..bakes).map(|_| place.start()).collect();
        baked += children.into_iter().map(|child| place.finish(child)).sum::<usize>();
        assert!(place.out() == new, "round {round}: {:?}", place.out().keys());
    }
    let least = rounds * place.models;
    println!("torture: {bakes} concurrent bakes, {rounds} rounds: {baked} models baked, at least {least} expected");
    assert!(baked >= least && baked * 10 <= least * 11, "{baked} of {least}");
}

#[test]
fn concurrent_bakes_share_the_work() {
    together(2, 4);
    together(8, 2);
}

#[test]
#[ignore = "takes minutes; run by `cargo xtask torture`"]
fn concurrent_bakes_share_the_work_for_long() {
    together(2, 200);
    together(8, 200);
}

#[test]
fn concurrent_bakes_without_a_common_cache_leave_intact_files() {
    let place = Place::new(3);
    for round in 1..4 {
        let new = place.version(round);
        let children: Vec<_> = (0..3)
            .map(|n| {
                let mut command = Command::new(env!("CARGO_BIN_EXE_gpuskin"));
                command
                    .args(["bake", "--manifest"])
                    .arg(place.path("gpuskin.toml"))
                    .arg("--out")
                    .arg(place.path("baked"));
                command.env("GPUSKIN_CACHE", place.path(&format!("cache{n}"))).stdout(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        children.into_iter().for_each(|child| assert_eq!(place.finish(child), 3));
        assert!(place.out() == new);
    }
}

#[test]
#[ignore = "takes minutes; run by `cargo xtask torture`"]
fn a_thousand_models() {
    let place = Place::new(1000);
    let timed = || {
        let start = Instant::now();
        let baked = place.finish(place.start());
        (baked, start.elapsed())
    };
    let (baked, cold) = timed();
    assert_eq!(baked, 1000);
    let mut again = Vec::new();
    for _ in 0..20 {
        let (baked, took) = timed();
        assert_eq!(baked, 0);
        again.push(took);
    }
    again.sort();
    let source = place.path("art/pole500.gltf");
    fs::write(&source, fs::read_to_string(&source).unwrap() + "\n").unwrap();
    let (baked, one) = timed();
    assert_eq!(baked, 1);
    println!(
        "torture: 1000 models: {cold:?}; without changes: {:?} (minimum {:?}); with one changed: {one:?}",
        again[10], again[0]
    );
}
