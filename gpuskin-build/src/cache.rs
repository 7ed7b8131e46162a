//! Cache of results that are expensive to compute: one file per entry, named by the hash of
//! everything that the result depends on.
//!
//! Entries are written atomically. Each contains its own name and a checksum, which are verified on
//! every read; a damaged entry counts as missing and is written again. The cache is optional: if it
//! cannot be written, every bake computes its results again.

mod entry;
#[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "only the command line prints statistics"))]
mod maintenance;
#[cfg(feature = "shared-cache")]
mod remote;
mod shared;
mod shared_mode;
mod traffic;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::fs;
use crate::fs::lock::Lock;
pub use entry::EntryKind;
use entry::{FILE_ENDING, name};
use shared::SharedCache;
pub use shared::SharedUse;
pub use shared_mode::SharedMode;
#[cfg(feature = "cli")]
pub(crate) use traffic::{SharedTraffic, Traffic};

/// Default size limit of a cache, in bytes.
const LIMIT: u64 = 4 << 30;
/// Size limit of a cache in the `OUT_DIR` of a build script, in bytes.
const OWN_LIMIT: u64 = 1 << 30;
/// Subfolder of unfinished files.
const UNFINISHED: &str = "unfinished";
const LOCKS: &str = "locks";

/// A folder with cached results of bakes, one file per result. Several bakes can use it at the same time.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
    stores_files: bool,
    shared: Option<SharedCache>,
    state: Mutex<CacheState>,
}

#[derive(Debug, Default)]
struct CacheState {
    /// Names of the entries that were read or written.
    used: BTreeSet<String>,
    hits: usize,
    damaged: usize,
    /// Number of entries that were computed and stored.
    made: usize,
    written: bool,
    /// First error of a failed write.
    unwritable: Option<String>,
}

impl Cache {
    /// Creates a cache in a folder. The folder is created with the first entry.
    /// `GPUSKIN_CACHE_SIZE` sets the size limit; beyond it, the least recently used entries are
    /// removed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let wish = std::env::var("GPUSKIN_CACHE_SIZE").ok().and_then(|text| size(&text));
        let limit = wish.unwrap_or(LIMIT);
        Self { folder: folder.into(), limit, stores_files: true, shared: None, state: Mutex::default() }
    }

    /// Creates the cache of a build script. It does not store baked files, because they are already
    /// in the output folder beside it.
    pub(crate) fn of_script(out_dir: &Path) -> Self {
        Self { limit: OWN_LIMIT, stores_files: false, ..Self::new(out_dir.join("gpuskin-cache")) }
    }

    /// Sets the size limit, in bytes.
    pub fn with_limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// Adds a shared cache behind this one: `s3://bucket/folder`, `gs://`, `az://` or
    /// `file:///folder`. An entry that is missing here is downloaded from it. With
    /// [`SharedMode::ReadWrite`], new results are also uploaded to it. A damaged entry, or one
    /// whose content does not match its name, counts as missing. If the shared cache cannot be
    /// reached, the bake warns, and it is not used again.
    ///
    /// Needs the feature `shared-cache`. Write access to the shared cache is access to the baked
    /// files: digests detect damage, not tampering.
    pub fn with_shared(self, url: &str, mode: SharedMode) -> Self {
        Self { shared: Some(SharedCache::new(url, mode)), ..self }
    }

    /// Adds the shared cache given by `GPUSKIN_SHARED_CACHE`, if the variable is set.
    /// `GPUSKIN_SHARED_CACHE_MODE` is `read` (the default) or `read-write`.
    pub(crate) fn with_shared_from_environment(self) -> Self {
        Self { shared: SharedCache::of_environment(), ..self }
    }

    /// Returns the URL of the shared cache, and the transfers of this bake.
    pub(crate) fn shared_use(&self) -> Option<(&str, SharedUse)> {
        self.shared.as_ref().map(|shared| (shared.url.as_str(), shared.used()))
    }

    /// Creates the cache in the folder given by the environment variable `GPUSKIN_CACHE`, if it is
    /// set.
    pub(crate) fn shared() -> Option<Self> {
        std::env::var_os("GPUSKIN_CACHE").filter(|folder| !folder.is_empty()).map(Self::new)
    }

    /// Folder of the cache.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Number of results that were found in the cache.
    #[cfg(test)]
    pub(crate) fn hits(&self) -> usize {
        self.state().hits
    }

    /// Number of damaged entries that were found.
    #[cfg(test)]
    pub(crate) fn damaged(&self) -> usize {
        self.state().damaged
    }

    /// Whether baked files are stored in this cache.
    pub(crate) fn stores_files(&self) -> bool {
        self.stores_files
    }

    /// Whether baked files are stored in this cache or uploaded to the shared cache.
    pub(crate) fn shares_files(&self) -> bool {
        self.stores_files || self.shared.as_ref().is_some_and(|shared| shared.writes(EntryKind::File))
    }

    fn stores(&self, kind: EntryKind) -> bool {
        self.stores_files || kind != EntryKind::File
    }

    /// Returns the entry of a key, if it exists, is undamaged and has at most `most` bytes.
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

    /// Downloads an entry from the shared cache, and stores it here.
    fn fetch(&self, kind: EntryKind, key: &blake3::Hash, name: &str, most: u64) -> Option<Vec<u8>> {
        let sound = |bytes| entry::open(bytes, kind, key);
        let data = self.shared.as_ref()?.get(kind, name, entry::len(most), sound)?;
        if self.stores(kind) {
            self.write(name, &[&entry::head(kind, key, &data), &data]);
        }
        Some(data)
    }

    /// Stores a result. Returns whether it is in this cache; [`Cache::notes`] reports errors.
    pub(crate) fn put(&self, kind: EntryKind, key: &blake3::Hash, data: &[u8]) -> bool {
        let name = name(kind, key);
        let parts = [&entry::head(kind, key, data)[..], data];
        let kept = self.stores(kind) && self.write(&name, &parts);
        self.state().made += usize::from(shared::is_shared(kind));
        if let Some(shared) = &self.shared {
            shared.put(kind, &name, parts.concat());
        }
        kept
    }

    /// Writes an entry from the parts of its file. Returns whether that succeeded.
    fn write(&self, name: &str, parts: &[&[u8]]) -> bool {
        let write = || {
            let unfinished = fs::write_unfinished(&self.folder.join(UNFINISHED), parts)?;
            fs::rename(unfinished.path, &self.folder.join(name))
        };
        // A concurrent cleanup can remove the temporary file between its creation and its lock, so
        // a missing file is retried once.
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

    /// Records that this bake depends on an entry without having read it.
    pub(crate) fn depends_on(&self, kind: EntryKind, key: &blake3::Hash) {
        self.state().used.insert(name(kind, key));
    }

    /// Sets the time of an entry's last use to now.
    pub(crate) fn mark_used(&self, kind: EntryKind, key: &blake3::Hash) {
        touch(&self.folder.join(name(kind, key)));
    }

    /// Takes the lock of a key. Other bakes wait for it.
    pub(crate) fn lock(&self, key: &blake3::Hash, waiting: impl FnOnce()) -> Lock {
        Lock::file(&self.folder.join(LOCKS).join(key.to_hex().as_str()), waiting)
    }

    /// Returns warnings about entries that could not be stored and about a shared cache that could
    /// not be used.
    pub(crate) fn notes(&self) -> Vec<Diagnostic> {
        let unwritable = self.state().unwritable.as_ref().map(|why| {
            let message = format!("the cache {} cannot be written: {why}", self.folder.display());
            let help = "the next bake does the same work again; set GPUSKIN_CACHE to another folder";
            Diagnostic::warning(DiagnosticCode::CacheUnwritable, message).help(help)
        });
        unwritable.into_iter().chain(self.shared.as_ref().and_then(SharedCache::note)).collect()
    }

    fn state(&self) -> MutexGuard<'_, CacheState> {
        // No code that can panic leaves the state inconsistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sets the modification time of an entry, which is the time of its last use. Errors are ignored.
fn touch(path: &Path) {
    let _ = std::fs::File::open(path).and_then(|file| file.set_modified(std::time::SystemTime::now()));
}

/// Parses a size: `500 MiB`, `4GiB`, or a number of bytes.
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

/// Whether a file in the cache folder is an entry.
fn is_entry(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == FILE_ENDING)
}

#[cfg(test)]
mod tests;
