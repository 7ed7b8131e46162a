//! A cache that many share, behind the local one: what others have baked is a download.
//!
//! Whatever goes wrong with it is said once and costs time, never a bake.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cache::EntryKind;
use crate::diagnostic::{DiagnosticCode, Diagnostic};

/// What may be done with a shared cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SharedMode {
    /// Entries are taken from it.
    #[default]
    Read,
    /// What it does not have is put there, too.
    ReadWrite,
}

impl SharedMode {
    /// `read` or `read-write`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "read" => Some(Self::Read),
            "read-write" => Some(Self::ReadWrite),
            _ => None,
        }
    }
}

/// What came from a shared cache and went there: entries and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedUse {
    /// Entries that were taken from it.
    pub taken: (usize, u64),
    /// Entries that were put there.
    pub put: (usize, u64),
    /// Entries that were not what they should be, and not used.
    pub damaged: usize,
}

/// A cache elsewhere, as one bake sees it.
#[derive(Debug)]
pub(super) struct SharedCache {
    pub(super) url: String,
    mode: SharedMode,
    #[cfg(feature = "shared-cache")]
    remote: Option<super::remote::Remote>,
    state: Mutex<SharedState>,
}

#[derive(Debug, Default)]
struct SharedState {
    used: SharedUse,
    /// Why it is not asked any more.
    trouble: Option<String>,
}

impl SharedCache {
    pub(super) fn new(url: &str, mode: SharedMode) -> Self {
        #[cfg(feature = "shared-cache")]
        let (remote, trouble) = match super::remote::Remote::open(url, mode) {
            Ok(remote) => (Some(remote), None),
            Err(trouble) => (None, Some(trouble)),
        };
        #[cfg(not(feature = "shared-cache"))]
        let trouble = Some("this gpuskin-build is built without its feature `shared-cache`".to_owned());
        Self {
            url: url.to_owned(),
            mode,
            #[cfg(feature = "shared-cache")]
            remote,
            state: Mutex::new(SharedState { trouble, ..SharedState::default() }),
        }
    }

    /// The one that the environment names.
    pub(super) fn of_environment() -> Option<Self> {
        let url = std::env::var("GPUSKIN_SHARED_CACHE").ok().filter(|url| !url.is_empty())?;
        let mode = std::env::var("GPUSKIN_SHARED_CACHE_MODE").unwrap_or_default();
        let known = if mode.is_empty() { Some(SharedMode::Read) } else { SharedMode::parse(&mode) };
        Some(known.map_or_else(
            || {
                let trouble =
                    format!("GPUSKIN_SHARED_CACHE_MODE is `{mode}`, which is neither `read` nor `read-write`");
                let shared = Self::new(&url, SharedMode::Read);
                shared.state().trouble = Some(trouble);
                shared
            },
            |mode| Self::new(&url, mode),
        ))
    }

    /// Whether it takes what was made here.
    pub(super) fn takes(&self, kind: EntryKind) -> bool {
        self.mode == SharedMode::ReadWrite && is_shared(kind) && self.state().trouble.is_none()
    }

    /// An entry of a name, as it stands in a file, of at most so many bytes. `sound`: what it holds, if it is undamaged.
    pub(super) fn get<T>(
        &self,
        kind: EntryKind,
        name: &str,
        most: u64,
        sound: impl FnOnce(Vec<u8>) -> Option<T>,
    ) -> Option<T> {
        if !is_shared(kind) || self.state().trouble.is_some() {
            return None;
        }
        let found = match self.fetch(name, most) {
            Ok(found) => found?,
            Err(trouble) => {
                self.state().trouble.get_or_insert(trouble);
                return None;
            }
        };
        let len = found.len();
        let entry = sound(found);
        let mut state = self.state();
        match entry {
            Some(_) => add(&mut state.used.taken, len),
            None => state.used.damaged += 1,
        }
        entry
    }

    /// Puts a whole entry there.
    pub(super) fn put(&self, kind: EntryKind, name: &str, entry: Vec<u8>) {
        if !self.takes(kind) {
            return;
        }
        let len = entry.len();
        let result = self.send(name, entry);
        let mut state = self.state();
        match result {
            Ok(()) => add(&mut state.used.put, len),
            Err(trouble) => {
                state.trouble.get_or_insert(trouble);
            }
        }
    }

    #[cfg(feature = "shared-cache")]
    fn fetch(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, String> {
        self.remote.as_ref().map_or(Ok(None), |remote| remote.get(name, most))
    }

    #[cfg(feature = "shared-cache")]
    fn send(&self, name: &str, entry: Vec<u8>) -> Result<(), String> {
        self.remote.as_ref().map_or(Ok(()), |remote| remote.put(name, entry))
    }

    #[cfg(not(feature = "shared-cache"))]
    fn fetch(&self, _: &str, _: u64) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }

    #[cfg(not(feature = "shared-cache"))]
    fn send(&self, _: &str, _: Vec<u8>) -> Result<(), String> {
        Ok(())
    }

    pub(super) fn used(&self) -> SharedUse {
        self.state().used
    }

    /// Why it was not asked, if it was not.
    pub(super) fn note(&self) -> Option<Diagnostic> {
        let state = self.state();
        let message = format!("the shared cache {} is left aside: {}", self.url, state.trouble.as_ref()?);
        Some(Diagnostic::warning(DiagnosticCode::CacheShared, message))
    }

    fn state(&self) -> MutexGuard<'_, SharedState> {
        // Nothing is left half-done where a panic could be.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is the same on any machine: not what a bake left on this one.
pub(super) fn is_shared(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Color | EntryKind::Inputs | EntryKind::Model | EntryKind::File)
}

fn add((count, bytes): &mut (usize, u64), len: usize) {
    *count += 1;
    *bytes += len as u64;
}
