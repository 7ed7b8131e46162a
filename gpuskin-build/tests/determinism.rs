//! `gpuskin bake` writes the same bytes in any environment. Each run is a separate process, with
//! other hash seeds and addresses. (`tests/determinism.rs` of the workspace compares an unoptimised
//! baker, in a build script, with an optimised one.)

#[path = "input/common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use common::models;

/// Bakes a manifest and returns the output files.
fn bake(folder: &Path, manifest: &Path, from: &Path, environment: &[(&str, &OsStr)]) -> BTreeMap<String, Vec<u8>> {
    let out = folder.join("baked");
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpuskin"));
    command.args(["bake".as_ref(), "--manifest".as_ref(), manifest.as_os_str(), "--out".as_ref(), out.as_os_str()]);
    command.current_dir(from).env("GPUSKIN_CACHE", folder.join("cache")).envs(environment.iter().copied());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut files = BTreeMap::new();
    let mut stack = vec![out.clone()];
    while let Some(next) = stack.pop() {
        for path in std::fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                stack.push(path);
            } else {
                let name = path.strip_prefix(&out).unwrap().to_str().unwrap().to_owned();
                files.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

#[test]
fn output_does_not_depend_on_the_environment() {
    let figure = common::build::figure().glb();
    // A model with a morph target, and clips with all kinds of curves.
    let json = include_bytes!("../../fuzz/seeds/figure.gltf");
    let face = common::build::glb(json, include_bytes!("../../fuzz/seeds/figure.bin"));
    let manifest = "[[model]]\nname = \"figure\"\npath = \"figure.glb\"\n\
                    [[model]]\nname = \"face\"\npath = \"face.glb\"\nmode = \"vertex\"\n\
                    [[model]]\nname = \"coarse\"\npath = \"figure.glb\"\nencoding = \"fixed16\"\nfps = \"auto\"\n";
    let place = |folder: &Path| {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("figure.glb"), &figure).unwrap();
        std::fs::write(folder.join("face.glb"), &face).unwrap();
        std::fs::write(folder.join("gpuskin.toml"), manifest).unwrap();
    };
    let all = tempfile::tempdir().unwrap();
    let here = all.path().join("here");
    place(&here);
    assert_eq!(models(&here), ["face.glb", "figure.glb"]);
    let first = bake(&here, &here.join("gpuskin.toml"), all.path(), &[("RAYON_NUM_THREADS", "1".as_ref())]);
    assert!(first.len() >= 7, "{:?}", first.keys());

    let there = all.path().join("a longer way/to the/äпplication");
    place(&there);
    let value = OsStr::new;
    type Run<'a> = (&'a Path, &'a Path, &'a [(&'a str, &'a OsStr)]);
    let runs: [Run<'_>; 5] = [
        (&here.join("gpuskin.toml"), &here, &[("RAYON_NUM_THREADS", value("2"))]),
        (Path::new("gpuskin.toml"), &there, &[("RAYON_NUM_THREADS", value("7")), ("LC_ALL", value("tr_TR.UTF-8"))]),
        (Path::new("./gpuskin.toml"), &there, &[("LC_ALL", value("de_DE.UTF-8")), ("TZ", value("Asia/Kathmandu"))]),
        (Path::new("../äпplication/gpuskin.toml"), &there, &[("LC_ALL", value("C")), ("NO_COLOR", value("1"))]),
        (&there.join("gpuskin.toml"), all.path(), &[("HOME", value("/nowhere")), ("TMPDIR", all.path().as_os_str())]),
    ];
    for (run, (manifest, from, environment)) in runs.into_iter().enumerate() {
        let own = all.path().join(format!("run {run}"));
        let files = bake(&own, manifest, from, environment);
        assert!(files.keys().eq(first.keys()), "run {run}: {:?}", files.keys());
        for (name, bytes) in &files {
            assert!(*bytes == first[name], "run {run}: {name} differs");
        }
    }
}
