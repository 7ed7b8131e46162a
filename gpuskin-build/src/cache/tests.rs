use super::*;

const COLOR: EntryKind = EntryKind::Color;

#[test]
fn get_returns_stored_data_unless_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path().join("below"));
    let (key, other) = (blake3::hash(b"key"), blake3::hash(b"other"));
    assert_eq!(cache.get(COLOR, &key, 5), None);
    assert!(cache.put(COLOR, &key, b"value"));
    assert_eq!(cache.get(COLOR, &key, 5).as_deref(), Some(&b"value"[..]));
    assert_eq!(
        (cache.get(COLOR, &key, 4), cache.get(COLOR, &other, 5), cache.get(EntryKind::Model, &key, 5)),
        (None, None, None)
    );
    assert_eq!(cache.hits(), 1);

    let path = cache.folder().join(name(COLOR, &key));
    let good = std::fs::read(&path).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        std::fs::write(&path, &bad).unwrap();
        assert_eq!(cache.get(COLOR, &key, 5), None, "entry with byte {at} flipped");
        std::fs::write(&path, &good[..at]).unwrap();
        assert_eq!(cache.get(COLOR, &key, 5), None, "entry truncated at {at}");
    }
    assert!(cache.damaged() >= 2 * good.len());
    // An entry copied to another name is damaged, too.
    cache.put(COLOR, &other, b"other");
    std::fs::copy(cache.folder().join(name(COLOR, &other)), &path).unwrap();
    assert_eq!(cache.get(COLOR, &key, 5), None);
    cache.put(COLOR, &key, b"value");
    assert!(cache.get(COLOR, &key, 5).is_some() && cache.notes().is_empty());
}

fn aged(cache: &Cache, kind: EntryKind, key: &blake3::Hash, seconds: u64) {
    let file = std::fs::File::open(cache.folder().join(name(kind, key))).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(seconds)).unwrap();
}

#[test]
fn tidy_removes_least_recently_used_entries_first() {
    let folder = tempfile::tempdir().unwrap();
    let keys = [b"a", b"b", b"c", b"d", b"e"].map(|key| blake3::hash(key));
    let earlier = Cache::new(folder.path());
    for (n, key) in keys[..4].iter().enumerate() {
        earlier.put(COLOR, key, &[0; 1000]);
        aged(&earlier, COLOR, key, 1000 - n as u64);
    }
    std::fs::write(folder.path().join("note.txt"), "mine").unwrap();
    // `a` is used again directly; `b` by a bake that had nothing to do.
    let lister = Cache::new(folder.path());
    lister.get(COLOR, &keys[1], 1000).unwrap();
    lister.remember_uses(&keys[0]);
    aged(&earlier, COLOR, &keys[1], 999);
    let cache = Cache::new(folder.path()).with_limit(4 * 1150);
    cache.get(COLOR, &keys[0], 1000).unwrap();
    cache.put(COLOR, &keys[4], &[0; 1000]);
    cache.tidy();
    let left = keys.map(|key| folder.path().join(name(COLOR, &key)).exists());
    assert_eq!(left, [true, true, false, true, true]);
    assert!(folder.path().join("note.txt").exists());

    // Entries used by the current bake are kept, even if they exceed the limit.
    let small = Cache::new(folder.path()).with_limit(1);
    small.put(COLOR, &keys[2], b"x");
    small.get(COLOR, &keys[4], 1000).unwrap();
    small.tidy();
    assert_eq!(keys.map(|key| folder.path().join(name(COLOR, &key)).exists()), [false, false, true, false, true]);
}

#[test]
fn stats_verify_and_clean_count_entries() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path());
    let keys = [b"a", b"b", b"c"].map(|key| blake3::hash(key));
    assert!(keys.iter().all(|key| cache.put(EntryKind::File, key, b"12345")));
    std::fs::write(folder.path().join("0123.gpuskin-cache"), "of an earlier version").unwrap();
    let bad = folder.path().join(name(EntryKind::File, &keys[1]));
    std::fs::write(&bad, "").unwrap();
    assert_eq!(cache.stats().kinds[&Some(EntryKind::File)].0, 3);
    assert_eq!(cache.stats().kinds[&None], (1, 21));
    let verified = cache.verify();
    assert_eq!((verified.sound, verified.damaged.len()), (2, 2));
    assert!(!bad.exists());
    assert_eq!(cache.clean().0, 2);
    assert_eq!((cache.clean().0, cache.stats().kinds.len()), (0, 0));
}

#[test]
fn unwritable_cache_warns_and_stays_empty() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let cache = Cache::new(folder.path().join("file/cache"));
    let key = blake3::hash(b"key");
    assert!(!cache.put(COLOR, &key, b"value"));
    assert_eq!(cache.get(COLOR, &key, 5), None);
    assert!(cache.notes()[0].to_string().contains("cannot be written"));
}

#[test]
fn tidy_removes_abandoned_files_only() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path());
    let unfinished = folder.path().join(UNFINISHED);
    let being_written = fs::write_unfinished(&unfinished, &[b"half"]).unwrap();
    std::fs::write(unfinished.join(".gpuskin-left"), "half").unwrap();
    cache.put(COLOR, &blake3::hash(b"key"), b"value");
    cache.tidy();
    assert!(being_written.path.exists() && !unfinished.join(".gpuskin-left").exists());
}

#[test]
fn size_parses_units() {
    assert_eq!(["12", "3 KiB", "5MiB", "4 GiB", "1T"].map(size), [12, 3 << 10, 5 << 20, 4 << 30, 1 << 40].map(Some));
    assert_eq!(["", "GiB", "-1", "1.5 GiB", "9999999999 TiB"].map(size), [None; 5]);
}
