//! Results that are dear to compute, kept in a folder under the hash of all that they depend on.
//!
//! An entry is written whole or not at all. It holds its own name and a checksum, and is checked whenever it is read: a
//! damaged one is as good as none, and is written anew. A cache is never needed; where it cannot be written, every bake
//! computes anew.

mod entry;
mod tidy;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::finding::{Code, Finding};
use crate::fs;
use crate::fs::lock::Lock;
pub use entry::Kind;
use entry::{FILE_ENDING, name};
pub use tidy::{Stats, Verified};

/// Bytes that a cache of its own may take.
const LIMIT: u64 = 4 << 30;
/// Bytes that a cache in the `OUT_DIR` of a build script may take.
const OWN_LIMIT: u64 = 1 << 30;
/// Where files stand that are not finished.
const UNFINISHED: &str = "unfinished";
const LOCKS: &str = "locks";

/// A folder of results. Several bakes may use it at the same time.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
    keeps_files: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Names of entries that were read or written.
    used: BTreeSet<String>,
    hits: usize,
    damaged: usize,
    written: bool,
    /// The first reason why something could not be kept.
    unwritable: Option<String>,
}

impl Cache {
    /// A cache in a folder, which is made when something is first kept. `GPUSKIN_CACHE_SIZE` says how large it may become;
    /// what was not used for longest goes first.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let wish = std::env::var("GPUSKIN_CACHE_SIZE").ok().and_then(|text| size(&text));
        Self { folder: folder.into(), limit: wish.unwrap_or(LIMIT), keeps_files: true, state: Mutex::default() }
    }

    /// The cache of one build script. Baked files are not kept twice: they stand beside it.
    pub(crate) fn of_script(out_dir: &Path) -> Self {
        Self { limit: OWN_LIMIT, keeps_files: false, ..Self::new(out_dir.join("gpuskin-cache")) }
    }

    /// With another limit, in bytes.
    pub fn with_limit(self, limit: u64) -> Self {
        Self { limit, ..self }
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

    /// Results that were there and damaged.
    pub fn damaged(&self) -> usize {
        self.state().damaged
    }

    /// Whether baked files are kept.
    pub(crate) fn keeps_files(&self) -> bool {
        self.keeps_files
    }

    /// What was kept under a key, if it is there, undamaged and at most so many bytes long.
    pub(crate) fn get(&self, kind: Kind, key: &blake3::Hash, most: u64) -> Option<Vec<u8>> {
        let name = name(kind, key);
        let path = self.folder.join(&name);
        let found = entry::read(&path, kind, key, most);
        let mut state = self.state();
        match found {
            Ok(data) => {
                state.hits += 1;
                state.used.insert(name);
                drop(state);
                touch(&path);
                Some(data)
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(_) => {
                state.damaged += 1;
                None
            }
        }
    }

    /// Keeps a result; where that fails, [`Cache::note`] says so.
    pub(crate) fn put(&self, kind: Kind, key: &blake3::Hash, data: &[u8]) -> bool {
        let name = name(kind, key);
        let write = || {
            let bytes = entry::bytes(kind, key, data);
            let unfinished = fs::write_unfinished(&self.folder.join(UNFINISHED), &bytes)?;
            fs::rename(unfinished.path, &self.folder.join(&name))
        };
        // Somebody who tidies up may take a file away between its making and its lock: once more.
        let kept = write().or_else(|e| if e.kind() == io::ErrorKind::NotFound { write() } else { Err(e) });
        let mut state = self.state();
        state.written |= kept.is_ok();
        match kept {
            Ok(()) => state.used.insert(name),
            Err(error) => {
                state.unwritable.get_or_insert_with(|| error.to_string());
                false
            }
        }
    }

    /// Says that this bake stands on an entry, which it did not have to read.
    pub(crate) fn stands_on(&self, kind: Kind, key: &blake3::Hash) {
        self.state().used.insert(name(kind, key));
    }

    /// Marks an entry as used now.
    pub(crate) fn used_again(&self, kind: Kind, key: &blake3::Hash) {
        touch(&self.folder.join(name(kind, key)));
    }

    /// Keeps out everybody else who asks for the same lock.
    pub(crate) fn lock(&self, key: &blake3::Hash, waiting: impl FnOnce()) -> Lock {
        Lock::file(&self.folder.join(LOCKS).join(key.to_hex().as_str()), waiting)
    }

    /// Why results were not kept, if they were not.
    pub fn note(&self) -> Option<Finding> {
        let state = self.state();
        let why = state.unwritable.as_ref()?;
        let message = format!("the cache {} cannot be written: {why}", self.folder.display());
        let help = "the next bake does the same work again; GPUSKIN_CACHE names another folder";
        Some(Finding::warning(Code::CacheUnwritable, message).help(help))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing is left half-done where a panic could be.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where it can be said, an entry's time is that of its last use.
fn touch(path: &Path) {
    let _ = std::fs::File::open(path).and_then(|file| file.set_modified(std::time::SystemTime::now()));
}

/// `500 MiB`, `4GiB`, or bytes.
fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let factor = match text[digits..].trim() {
        "" | "B" => 1,
        "KiB" | "K" => 1 << 10,
        "MiB" | "M" => 1 << 20,
        "GiB" | "G" => 1 << 30,
        "TiB" | "T" => 1 << 40,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(factor)
}

/// Whether a file in the folder of a cache is one of its entries.
fn is_entry(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == FILE_ENDING)
}

#[cfg(test)]
mod tests;
