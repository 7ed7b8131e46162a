//! Models that change while the demo runs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use std::{fs, thread};

use crowd::frame::Stage;
use crowd::gpu::Gpu;
use crowd::headless::{FORMAT, picture};
use crowd::reload::{Models, Watch};
use gpuskin_rt::LoadError;
use gpuskin_test_harness::{Need, run, test};

/// Folder in which build.rs baked the models.
const BAKED: &str = concat!(env!("OUT_DIR"), "/gpuskin");
const COUNT: u32 = 200;
const SIZE: [u32; 2] = [160, 96];

const GPU: Need = Need {
    variable: "GPUSKIN_REQUIRE_GPU",
    missing: || Gpu::headless().err().map(|_| "no GPU or software renderer".to_owned()),
};

fn main() -> ExitCode {
    run([test!(changed_models_are_reloaded_and_broken_ones_ignored, GPU)])
}

/// Folder with the files of a model: the only one in the folder of the model.
fn baked_files(model: &str) -> PathBuf {
    let mut folders = fs::read_dir(Path::new(BAKED).join(model)).unwrap().map(|entry| entry.unwrap().path());
    folders.next().unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        fs::copy(&entry, to.join(entry.file_name().unwrap())).unwrap();
    }
}

/// Result of the watch once the folder no longer changes.
fn next(watch: &mut Watch) -> Option<Result<Models, LoadError>> {
    (0..20).find_map(|_| {
        thread::sleep(Duration::from_millis(100));
        watch.poll()
    })
}

/// Replaces a content hash by another one in all files of a folder.
fn rehash(folder: &Path, old: [u8; 16], new: [u8; 16]) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let mut bytes = fs::read(&path).unwrap();
        if let Some(at) = bytes.windows(16).position(|window| *window == old) {
            bytes[at..at + 16].copy_from_slice(&new);
            fs::write(&path, bytes).unwrap();
        }
    }
}

fn changed_models_are_reloaded_and_broken_ones_ignored() {
    let gpu = Gpu::headless().expect("a device, which the test needs");
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    for name in ["soldier", "hound"] {
        copy(&baked_files(name), &place(name));
    }
    let mut stage = Stage::new(&gpu.device, &gpu.queue, FORMAT, COUNT).unwrap();
    let draw = |stage: &mut Stage| picture(&gpu.device, &gpu.queue, stage, SIZE).unwrap();
    let baked = draw(&mut stage);

    let mut watch = Watch::new(folder.path());
    stage.reload(&next(&mut watch).unwrap().unwrap()).unwrap();
    assert!(draw(&mut stage) == baked, "equal files must give equal pictures");
    assert!(next(&mut watch).is_none(), "unchanged files were loaded again");

    // A soldier without every other triangle. Its files agree on another content hash.
    let mesh = place("soldier/mesh.bin");
    let whole = fs::read(&mesh).unwrap();
    let indices = crowd::baked::models::SOLDIER.meta.mesh.indices;
    let range = indices.offset as usize..(indices.offset + indices.len) as usize;
    let mut thinned = whole.clone();
    thinned[range].chunks_mut(12).for_each(|pair| pair.iter_mut().take(6).for_each(|byte| *byte = 0));
    fs::write(&mesh, thinned).unwrap();
    rehash(&place("soldier"), crowd::baked::models::SOLDIER.meta.content_hash, [7; 16]);
    stage.reload(&next(&mut watch).unwrap().unwrap()).unwrap();
    let thin = draw(&mut stage);
    assert!(thin != baked);

    fs::write(&mesh, &whole[..whole.len() / 2]).unwrap();
    let error = next(&mut watch).unwrap().unwrap_err().to_string();
    assert!(error.contains("soldier") && error.contains("mesh.bin"), "{error}");
    assert!(next(&mut watch).is_none(), "the error was reported twice");
    assert!(draw(&mut stage) == thin);
    copy(&baked_files("soldier"), &place("soldier"));
    stage.reload(&next(&mut watch).unwrap().unwrap()).unwrap();
    assert!(draw(&mut stage) == baked);

    // A hound in place of the soldier lacks the clips that the program was built for.
    let wrong = Watch::new(folder.path()).load().unwrap();
    let wrong = Models { soldier: wrong.hound.clone(), ..wrong };
    let error = stage.reload(&wrong).unwrap_err().to_string();
    assert!(error.contains("soldier: the later bake lacks the clip `"), "{error}");
    assert!(draw(&mut stage) == baked);
}
