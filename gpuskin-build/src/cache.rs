//! Results that are dear to compute, kept in a folder under the hash of all that they depend on.
//!
//! An entry is written whole or not at all, and checked when it is read: a damaged one is as good as none. A cache is
//! never needed; where it cannot be written, every bake computes anew.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::finding::{Code, Finding};
use crate::output;

/// Starts an entry; with another layout comes another number.
const MAGIC: [u8; 8] = *b"gpuskin1";
/// Magic number and checksum.
const HEAD: usize = 8 + blake3::OUT_LEN;
const SUFFIX: &str = "gpuskin-cache";

/// A folder of results. Several bakes may use it at the same time.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    used: BTreeSet<PathBuf>,
    hits: usize,
    /// The first reason why something could not be kept.
    unwritable: Option<String>,
}

impl Cache {
    /// A cache in a folder, which is made when something is first kept.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), state: Mutex::default() }
    }

    /// The folder that the environment variable `GPUSKIN_CACHE` names.
    pub fn shared() -> Option<Self> {
        std::env::var_os("GPUSKIN_CACHE").filter(|folder| !folder.is_empty()).map(Self::new)
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Results that were there.
    pub fn hits(&self) -> usize {
        self.state().hits
    }

    /// What was kept under a key, if it is there, undamaged and `len` bytes long.
    pub(crate) fn get(&self, key: &blake3::Hash, len: usize) -> Option<Vec<u8>> {
        let path = self.path(key);
        let file = fs::File::open(&path).ok()?;
        // No more than what is expected is read, and a byte to tell that there is more.
        let mut bytes = Vec::with_capacity(HEAD + len + 1);
        file.take((HEAD + len + 1) as u64).read_to_end(&mut bytes).ok()?;
        let (head, data) = bytes.split_at_checked(HEAD)?;
        let sound = head[..8] == MAGIC && data.len() == len && head[8..] == *blake3::hash(data).as_bytes();
        if !sound {
            return None;
        }
        let mut state = self.state();
        state.used.insert(path);
        state.hits += 1;
        drop(state);
        bytes.drain(..HEAD);
        Some(bytes)
    }

    /// Keeps a result; where that fails, [`Cache::note`] says so.
    pub(crate) fn put(&self, key: &blake3::Hash, data: &[u8]) {
        let entry = [&MAGIC[..], blake3::hash(data).as_bytes(), data].concat();
        let path = self.path(key);
        let kept = output::replace(&path, &entry);
        let mut state = self.state();
        match kept {
            Ok(()) => drop(state.used.insert(path)),
            Err(error) => drop(state.unwritable.get_or_insert_with(|| error.to_string())),
        }
    }

    /// Removes what this cache was not asked for since it was made: for folders that belong to one manifest.
    pub fn sweep(&self) {
        let state = self.state();
        for path in fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|e| e == SUFFIX) && !state.used.contains(&path) {
                // Whoever else wants it gone has been faster.
                let _ = fs::remove_file(&path);
            }
        }
    }

    /// Why results were not kept, if they were not.
    pub fn note(&self) -> Option<Finding> {
        let state = self.state();
        let why = state.unwritable.as_ref()?;
        let message = format!("the texture cache {} cannot be written: {why}", self.folder.display());
        let help = "every bake encodes all textures again; GPUSKIN_CACHE names another folder";
        Some(Finding::warning(Code::CacheUnwritable, message).help(help))
    }

    fn path(&self, key: &blake3::Hash) -> PathBuf {
        self.folder.join(format!("{}.{SUFFIX}", key.to_hex()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing is left half-done where a panic could be.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_comes_back_unless_it_was_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("below"));
        let (key, other) = (blake3::hash(b"key"), blake3::hash(b"other"));
        assert_eq!(cache.get(&key, 5), None);
        cache.put(&key, b"value");
        assert_eq!(cache.get(&key, 5).as_deref(), Some(&b"value"[..]));
        assert_eq!((cache.get(&key, 4), cache.get(&key, 6), cache.get(&other, 5)), (None, None, None));
        assert_eq!(cache.hits(), 1);

        let path = cache.path(&key);
        let good = fs::read(&path).unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            fs::write(&path, &bad).unwrap();
            assert_eq!(cache.get(&key, 5), None, "byte {at}");
            fs::write(&path, &good[..at]).unwrap();
            assert_eq!(cache.get(&key, 5), None, "cut at {at}");
        }
        cache.put(&key, b"value");
        assert!(cache.get(&key, 5).is_some() && cache.note().is_none());
    }

    #[test]
    fn sweeping_leaves_what_was_used_and_what_is_not_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let keys = [b"a", b"b", b"c"].map(|key| blake3::hash(key));
        let earlier = Cache::new(folder.path());
        keys[..2].iter().for_each(|key| earlier.put(key, b"x"));
        fs::write(folder.path().join("note.txt"), "mine").unwrap();
        let cache = Cache::new(folder.path());
        cache.get(&keys[1], 1).unwrap();
        cache.put(&keys[2], b"y");
        cache.sweep();
        assert!(
            cache.get(&keys[0], 1).is_none() && cache.get(&keys[1], 1).is_some() && cache.get(&keys[2], 1).is_some()
        );
        assert!(folder.path().join("note.txt").exists());
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_none() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let cache = Cache::new(folder.path().join("file/cache"));
        let key = blake3::hash(b"key");
        cache.put(&key, b"value");
        assert_eq!(cache.get(&key, 5), None);
        assert!(cache.note().unwrap().to_string().contains("cannot be written"));
    }
}
