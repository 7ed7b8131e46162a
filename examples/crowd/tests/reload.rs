//! Models that change while the demo runs.

use std::path::Path;
use std::time::Duration;
use std::{fs, thread};

use crowd::frame::Stage;
use crowd::gpu::Gpu;
use crowd::headless::{FORMAT, picture};
use crowd::reload::{Models, Watch};
use gpuskin_rt::LoadError;

/// Where build.rs left the models.
const BAKED: &str = concat!(env!("OUT_DIR"), "/gpuskin");
const COUNT: u32 = 200;
const SIZE: [u32; 2] = [160, 96];

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        fs::copy(&entry, to.join(entry.file_name().unwrap())).unwrap();
    }
}

/// What a watch says once the folder is at rest.
fn next(watch: &mut Watch) -> Option<Result<Models, LoadError>> {
    (0..20).find_map(|_| {
        thread::sleep(Duration::from_millis(100));
        watch.poll()
    })
}

/// Puts another content hash in place of one in all files.
fn rehash(folder: &Path, old: [u8; 16], new: [u8; 16]) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let mut bytes = fs::read(&path).unwrap();
        if let Some(at) = bytes.windows(16).position(|window| *window == old) {
            bytes[at..at + 16].copy_from_slice(&new);
            fs::write(&path, bytes).unwrap();
        }
    }
}

#[test]
fn models_change_while_it_runs_and_broken_ones_change_nothing() {
    let Ok(gpu) = Gpu::headless() else {
        let required = std::env::var_os("GPUSKIN_REQUIRE_GPU").is_some_and(|v| v == "1");
        assert!(!required, "GPUSKIN_REQUIRE_GPU=1, and there is no device");
        return println!("SKIPPED: no device; GPUSKIN_REQUIRE_GPU=1 makes this a failure");
    };
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    for name in ["soldier", "hound"] {
        copy(&Path::new(BAKED).join(name), &place(name));
    }
    let mut stage = Stage::new(&gpu.device, &gpu.queue, FORMAT, COUNT).unwrap();
    let draw = |stage: &mut Stage| picture(&gpu.device, &gpu.queue, stage, SIZE).unwrap();
    let baked = draw(&mut stage);

    let mut watch = Watch::new(folder.path());
    stage.reload(&next(&mut watch).unwrap().unwrap()).unwrap();
    assert!(draw(&mut stage) == baked, "the same files are the same picture");
    assert!(next(&mut watch).is_none(), "nothing has changed");

    // A soldier of other triangles: every other is left out. Its files agree on another content hash.
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
    assert!(next(&mut watch).is_none(), "it is said once");
    assert!(draw(&mut stage) == thin);
    copy(&Path::new(BAKED).join("soldier"), &place("soldier"));
    stage.reload(&next(&mut watch).unwrap().unwrap()).unwrap();
    assert!(draw(&mut stage) == baked);

    // A soldier that is a hound has not the clips that the program was built for.
    let wrong = Watch::new(folder.path()).load().unwrap();
    let wrong = Models { soldier: wrong.hound.clone(), ..wrong };
    let error = stage.reload(&wrong).unwrap_err().to_string();
    assert!(error.contains("soldier") && error.contains("the program was built for"), "{error}");
    assert!(draw(&mut stage) == baked);
}
