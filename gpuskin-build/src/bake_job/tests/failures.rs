//! Damaged cache entries and failing file operations.

use std::fs;
use std::path::PathBuf;

use super::TestFolder;
use crate::fs::Op;
use crate::fs::fault::{self, Fault};

/// Damages cache entries: flips a bit, truncates, swaps or empties them.
fn mutate(seed: &mut u64, entries: &[PathBuf]) -> usize {
    let mut random = |below: usize| {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        (*seed % below as u64) as usize
    };
    for path in entries {
        let mut bytes = fs::read(path).unwrap();
        let at = random(bytes.len());
        match random(4) {
            0 => bytes[at] ^= 1 << random(8),
            1 => bytes.truncate(at),
            2 => bytes = fs::read(&entries[random(entries.len())]).unwrap(),
            _ => bytes.clear(),
        }
        fs::write(path, bytes).unwrap();
    }
    entries.len()
}

fn mutations(least: usize) {
    let place = TestFolder::new(4);
    place.baked();
    let good = place.out();
    let (mut seed, mut mutated, mut rounds) = (0x9E37_79B9_7F4A_7C15, 0, 0);
    while mutated < least {
        rounds += 1;
        let mut entries = crate::fs::entries(&place.path("cache")).unwrap();
        entries.retain(|path| path.is_file());
        // Damages all entries, or one in three, so that some models stay intact.
        if rounds % 2 == 0 {
            entries = entries.into_iter().skip(rounds % 3).step_by(3).collect();
        }
        mutated += mutate(&mut seed, &entries);
        fs::remove_dir_all(place.path("baked")).unwrap();
        place.baked();
        assert_eq!(place.out(), good, "round {rounds}");
        if rounds % 5 == 0 {
            fs::remove_dir_all(place.path("baked")).unwrap();
            assert_eq!((place.baked(), place.out()), (0, good.clone()), "entries were not repaired in round {rounds}");
            assert_eq!(place.cache().verify().damaged, Vec::<PathBuf>::new());
        }
    }
    println!("torture: {mutated} mutated entries in {rounds} bakes");
}

#[test]
fn damaged_entries_are_written_again() {
    mutations(400);
}

#[test]
#[ignore = "takes minutes; run by `cargo xtask torture`"]
fn damaged_entries_are_written_again_at_length() {
    mutations(10_000);
}

/// A bake that has nothing to do does not look for unfinished files. So the build stamp must be the
/// last file that a bake writes: an interrupted bake must not leave a stamp.
#[test]
fn build_stamp_is_the_last_file_written() {
    let place = TestFolder::new(1);
    let mut versions = 0;
    // Makes the nth rename in the cache fail. Returns whether there was one.
    let mut failing = |nth: usize| {
        versions += 1;
        place.model(0, versions);
        let planned = fault::plan(&place.path("cache"), Op::Rename, nth, Fault::Error(EIO));
        place.baked();
        planned.triggered()
    };
    let moves = (0..).find(|&nth| !failing(nth)).unwrap();
    assert!(moves > 3 && failing(moves - 1), "{moves}");
    let left = place.path("cache/unfinished/.gpuskin-left");
    fs::write(&left, "half").unwrap();
    place.baked();
    assert!(!left.exists(), "the last of {moves} renames is not that of the build stamp");
}

const ENOSPC: i32 = 28;
const EIO: i32 = 5;
const EMFILE: i32 = 24;

/// Provokes every failure of a bake over an older one, one at a time. Returns their number.
fn faults(folders: &[&str], must_fail: bool) -> usize {
    let place = TestFolder::new(2);
    place.baked();
    let old = place.out();
    (0..2).for_each(|n| place.model(n, 1));
    place.baked();
    let new = place.out();
    let mut triggered = 0;
    let kinds = [
        (Op::Open, Fault::Error(EMFILE)),
        (Op::Open, Fault::Error(EIO)),
        (Op::Write, Fault::Error(ENOSPC)),
        (Op::Write, Fault::Error(EIO)),
        (Op::Write, Fault::ShortThenFull),
        (Op::Write, Fault::Short),
        (Op::Sync, Fault::Error(EIO)),
        (Op::Rename, Fault::Error(ENOSPC)),
        (Op::Rename, Fault::Error(EIO)),
    ];
    for (op, fault) in kinds {
        for nth in 0.. {
            (0..2).for_each(|n| place.model(n, 0));
            place.baked();
            assert_eq!(place.out(), old);
            (0..2).for_each(|n| place.model(n, 1));
            // The cache has nothing of the new bake.
            let _ = fs::remove_dir_all(place.path("cache"));
            let plans: Vec<_> = folders.iter().map(|folder| fault::plan(&place.path(folder), op, nth, fault)).collect();
            let result = place.run();
            let hit = plans.iter().any(fault::FaultGuard::triggered);
            drop(plans);
            match &result {
                Err(failed) => {
                    let text = failed.diagnostics.to_string();
                    assert!(hit && text.contains("cannot "), "{op:?} {nth} {fault:?}: {text}");
                    assert_eq!(place.out(), old, "{op:?} {nth} {fault:?}");
                }
                Ok(_) => {
                    assert_eq!(place.out(), new, "{op:?} {nth} {fault:?}");
                    // Files that cannot be compared are written again; short writes are continued.
                    let harmless = op == Op::Open || fault == Fault::Short;
                    assert!(!must_fail || !hit || harmless, "{op:?} {nth} {fault:?}");
                }
            }
            if !hit {
                break;
            }
            triggered += 1;
            assert!(place.run().is_ok());
            assert_eq!(place.out(), new);
        }
    }
    triggered
}

#[test]
fn failures_leave_the_last_good_bake() {
    let (sources_and_outputs, cache) = (faults(&["art", "baked"], true), faults(&["cache"], false));
    println!("torture: {sources_and_outputs} failures of sources and outputs, {cache} of the cache");
    assert!(sources_and_outputs >= 40 && cache >= 50);
}
