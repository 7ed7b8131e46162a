//! Results that are dear to compute, kept in a folder under the hash of all that they depend on.
//!
//! An entry is written whole or not at all. It holds its own name and a checksum, and is checked whenever it is read: a
//! damaged one is as good as none, and is written anew. A cache is never needed; where it cannot be written, every bake
//! computes anew.

mod entry;
#[cfg(feature = "shared-cache")]
mod remote;
mod shared;
mod tidy;
mod traffic;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::diagnostic::{DiagnosticCode, Diagnostic};
use crate::fs;
use crate::fs::lock::Lock;
pub use entry::EntryKind;
use entry::{FILE_ENDING, name};
use shared::SharedCache;
pub use shared::{SharedMode, SharedUse};
pub use tidy::{Stats, Verified};
pub use traffic::{SharedTraffic, Traffic};

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
    shared: Option<SharedCache>,
    state: Mutex<CacheState>,
}

#[derive(Debug, Default)]
struct CacheState {
    /// Names of entries that were read or written.
    used: BTreeSet<String>,
    hits: usize,
    damaged: usize,
    /// Entries that were made and kept.
    made: usize,
    written: bool,
    /// The first reason why something could not be kept.
    unwritable: Option<String>,
}

impl Cache {
    /// A cache in a folder, which is made when something is first kept. `GPUSKIN_CACHE_SIZE` says how large it may become;
    /// what was not used for longest goes first.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let wish = std::env::var("GPUSKIN_CACHE_SIZE").ok().and_then(|text| size(&text));
        let limit = wish.unwrap_or(LIMIT);
        Self { folder: folder.into(), limit, keeps_files: true, shared: None, state: Mutex::default() }
    }

    /// The cache of one build script. Baked files are not kept twice: they stand beside it.
    pub(crate) fn of_script(out_dir: &Path) -> Self {
        Self { limit: OWN_LIMIT, keeps_files: false, ..Self::new(out_dir.join("gpuskin-cache")) }
    }

    /// With another limit, in bytes.
    pub fn with_limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// With a cache behind it that others share: `s3://bucket/folder`, `gs://`, `az://` or `file:///folder`. What is not
    /// here is taken from there; what is neither here nor there is made and, if `mode` says so, put there. An entry that is
    /// damaged, or not what its name says, is none. Where the shared cache cannot be reached, [`Cache::notes`] says so and
    /// it is not asked again.
    ///
    /// It needs the feature `shared-cache`. Whoever may write to it decides what is baked: digests find damage, not malice.
    pub fn with_shared(self, url: &str, mode: SharedMode) -> Self {
        Self { shared: Some(SharedCache::new(url, mode)), ..self }
    }

    /// With the shared cache that `GPUSKIN_SHARED_CACHE` names, if it names one: to read from, or as
    /// `GPUSKIN_SHARED_CACHE_MODE` says (`read` or `read-write`).
    pub fn with_shared_of_environment(self) -> Self {
        Self { shared: SharedCache::of_environment(), ..self }
    }

    /// The shared cache, and what came from there.
    pub fn shared_use(&self) -> Option<(&str, SharedUse)> {
        self.shared.as_ref().map(|shared| (shared.url.as_str(), shared.used()))
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

    /// Whether baked files are kept here.
    pub(crate) fn keeps_files(&self) -> bool {
        self.keeps_files
    }

    /// Whether anybody wants a baked file: this cache, or those who share one.
    pub(crate) fn takes_files(&self) -> bool {
        self.keeps_files || self.shared.as_ref().is_some_and(|shared| shared.takes(EntryKind::File))
    }

    fn keeps(&self, kind: EntryKind) -> bool {
        self.keeps_files || kind != EntryKind::File
    }

    /// What was kept under a key, if it is there, undamaged and at most so many bytes long.
    pub(crate) fn get(&self, kind: EntryKind, key: &blake3::Hash, most: u64) -> Option<Vec<u8>> {
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
                return Some(data);
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(_) => state.damaged += 1,
        }
        drop(state);
        self.fetch(kind, key, &name, most)
    }

    /// The same from the shared cache, and from now on from here.
    fn fetch(&self, kind: EntryKind, key: &blake3::Hash, name: &str, most: u64) -> Option<Vec<u8>> {
        let sound = |bytes| entry::open(bytes, kind, key);
        let data = self.shared.as_ref()?.get(kind, name, entry::len(most), sound)?;
        if self.keeps(kind) {
            self.write(name, &entry::bytes(kind, key, &data));
        }
        Some(data)
    }

    /// Keeps a result; where that fails, [`Cache::notes`] says so.
    pub(crate) fn put(&self, kind: EntryKind, key: &blake3::Hash, data: &[u8]) -> bool {
        let name = name(kind, key);
        let bytes = entry::bytes(kind, key, data);
        let kept = self.keeps(kind) && self.write(&name, &bytes);
        self.state().made += usize::from(shared::is_shared(kind));
        if let Some(shared) = &self.shared {
            shared.put(kind, &name, bytes);
        }
        kept
    }

    /// Writes an entry.
    fn write(&self, name: &str, bytes: &[u8]) -> bool {
        let write = || {
            let unfinished = fs::write_unfinished(&self.folder.join(UNFINISHED), bytes)?;
            fs::rename(unfinished.path, &self.folder.join(name))
        };
        // Somebody who tidies up may take a file away between its making and its lock: once more.
        let kept = write().or_else(|e| if e.kind() == io::ErrorKind::NotFound { write() } else { Err(e) });
        let mut state = self.state();
        state.written |= kept.is_ok();
        match kept {
            Ok(()) => state.used.insert(name.to_owned()),
            Err(error) => {
                state.unwritable.get_or_insert_with(|| error.to_string());
                false
            }
        }
    }

    /// Says that this bake stands on an entry, which it did not have to read.
    pub(crate) fn stands_on(&self, kind: EntryKind, key: &blake3::Hash) {
        self.state().used.insert(name(kind, key));
    }

    /// Marks an entry as used now.
    pub(crate) fn used_again(&self, kind: EntryKind, key: &blake3::Hash) {
        touch(&self.folder.join(name(kind, key)));
    }

    /// Keeps out everybody else who asks for the same lock.
    pub(crate) fn lock(&self, key: &blake3::Hash, waiting: impl FnOnce()) -> Lock {
        Lock::file(&self.folder.join(LOCKS).join(key.to_hex().as_str()), waiting)
    }

    /// Why results were not kept, or not taken from the shared cache, if they were not.
    pub fn notes(&self) -> Vec<Diagnostic> {
        let unwritable = self.state().unwritable.as_ref().map(|why| {
            let message = format!("the cache {} cannot be written: {why}", self.folder.display());
            let help = "the next bake does the same work again; GPUSKIN_CACHE names another folder";
            Diagnostic::warning(DiagnosticCode::CacheUnwritable, message).help(help)
        });
        unwritable.into_iter().chain(self.shared.as_ref().and_then(SharedCache::note)).collect()
    }

    fn state(&self) -> MutexGuard<'_, CacheState> {
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
