//! Runs every seed of the fuzz targets, and every input that once crashed one. With
//! `GPUSKIN_FUZZ_SECONDS`, also runs random mutations of them for that many seconds per target.
//! `cargo fuzz run TARGET` in `fuzz/` also looks for new code paths, and needs a nightly compiler.

#[path = "input/common/mutate.rs"]
#[allow(dead_code, reason = "parts are used only by another test")]
mod mutate;
#[path = "../../fuzz/src/targets.rs"]
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use mutate::Random;

/// Time limit per input; long enough for a machine that is busy with other work.
const PATIENCE: Duration = Duration::from_secs(60);
/// Maximum length of mutated inputs, in bytes.
const LONGEST: usize = 1 << 14;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz")
}

/// Runs a target on the checked-in inputs, then on mutations of them.
fn replay(target: &str, run: fn(&[u8])) {
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    for folder in ["corpus", "crashes"] {
        let found = std::fs::read_dir(fuzz().join(folder).join(target)).into_iter().flatten();
        let mut paths: Vec<_> = found.map(|entry| entry.expect("readable").path()).collect();
        paths.sort();
        seeds.extend(paths.iter().map(|path| std::fs::read(path).expect("readable")));
    }
    assert!(!seeds.is_empty(), "no seeds found for {target}");
    seeds.iter().for_each(|seed| run(seed));
    let Some(seconds) = std::env::var("GPUSKIN_FUZZ_SECONDS").ok() else { return };
    let end = Instant::now() + Duration::from_secs(seconds.parse().expect("a number of seconds"));
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    let mut random = Random(now.as_nanos() as u64);
    let mut count = 0;
    while Instant::now() < end {
        let mut input = random.of(&seeds[..]).clone();
        for _ in 0..1 + random.below(8) {
            let other: &Vec<u8> = random.of(&seeds);
            change(&mut input, other, &mut random);
        }
        let start = Instant::now();
        let failed = catch_unwind(AssertUnwindSafe(|| run(&input))).is_err();
        let slow = start.elapsed() > PATIENCE;
        if failed || slow {
            let path = fuzz().join("crashes").join(target).join(format!("found-{:08x}", random.below(1 << 31)));
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
            std::fs::write(&path, &input).expect("writable");
            panic!("{} {}", path.display(), if slow { "takes too long" } else { "crashes" });
        }
        count += 1;
    }
    eprintln!("{target}: {count} executions");
}

/// Applies a random mutation.
fn change(input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    const NUMBERS: [u32; 8] = [0, 1, 0x7F, 0xFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0x0001_0000];
    let at = random.below(input.len() + 1);
    match random.below(8) {
        0 => input.insert(at, random.below(256) as u8),
        1 => input.truncate(at),
        2 => {
            let end = (at + 1 + random.below(16)).min(input.len());
            input.drain(at..end);
        }
        3 => {
            let from = random.below(other.len() + 1);
            let part = &other[from..(from + random.below(64)).min(other.len())];
            input.splice(at..at, part.iter().copied());
        }
        4 => {
            let bytes = random.of(&NUMBERS).to_le_bytes();
            for (byte, new) in input[at..].iter_mut().zip(&bytes[..1 + random.below(4)]) {
                *byte = *new;
            }
        }
        5 => input[at..].iter_mut().take(1 + random.below(4)).for_each(|byte| *byte = random.below(256) as u8),
        _ => input[at..].iter_mut().take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
    }
    input.truncate(LONGEST);
}

#[test]
fn manifest() {
    replay("manifest", targets::manifest);
}

#[test]
fn gltf() {
    replay("gltf", targets::gltf);
}

#[test]
fn glb() {
    replay("glb", targets::glb);
}

#[test]
fn ktx2() {
    replay("ktx2", targets::ktx2);
}

#[test]
fn metadata() {
    replay("metadata", targets::metadata);
}

#[test]
fn cache() {
    replay("cache", targets::cache);
}
