//! A cache shared by several machines, behind the local one: results of other machines are
//! downloaded instead of computed.
//!
//! Errors of the shared cache are reported once and never fail a bake.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::entry::EntryKind;
use super::shared_mode::SharedMode;
use crate::diagnostic::{Diagnostic, DiagnosticCode};

/// Transfers of one bake from and to a shared cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedUse {
    /// Downloaded entries: number and bytes.
    pub downloaded: (usize, u64),
    /// Uploaded entries: number and bytes.
    pub uploaded: (usize, u64),
    /// Number of damaged entries, which were not used.
    pub damaged: usize,
}

/// A shared cache during one bake.
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
    /// Reason why the shared cache is no longer used.
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
        let trouble = Some("gpuskin-build was compiled without the feature `shared-cache`".to_owned());
        Self {
            url: url.to_owned(),
            mode,
            #[cfg(feature = "shared-cache")]
            remote,
            state: Mutex::new(SharedState { trouble, ..SharedState::default() }),
        }
    }

    /// Opens the shared cache given by the environment variables.
    pub(super) fn of_environment() -> Option<Self> {
        let url = std::env::var("GPUSKIN_SHARED_CACHE").ok().filter(|url| !url.is_empty())?;
        let mode = std::env::var("GPUSKIN_SHARED_CACHE_MODE").unwrap_or_default();
        let known = if mode.is_empty() { Some(SharedMode::Read) } else { SharedMode::parse(&mode) };
        Some(known.map_or_else(
            || {
                let trouble = format!("GPUSKIN_SHARED_CACHE_MODE is `{mode}`; expected `read` or `read-write`");
                let shared = Self::new(&url, SharedMode::Read);
                shared.state().trouble = Some(trouble);
                shared
            },
            |mode| Self::new(&url, mode),
        ))
    }

    /// Whether entries of this kind are uploaded.
    pub(super) fn writes(&self, kind: EntryKind) -> bool {
        self.mode == SharedMode::ReadWrite && is_shared(kind) && self.state().trouble.is_none()
    }

    /// Downloads an entry of at most `most` bytes. `sound` verifies the bytes and returns their
    /// content.
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
            Some(_) => add(&mut state.used.downloaded, len),
            None => state.used.damaged += 1,
        }
        entry
    }

    /// Uploads an entry.
    pub(super) fn put(&self, kind: EntryKind, name: &str, entry: Vec<u8>) {
        if !self.writes(kind) {
            return;
        }
        let len = entry.len();
        let result = self.send(name, entry);
        let mut state = self.state();
        match result {
            Ok(()) => add(&mut state.used.uploaded, len),
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

    /// Returns a warning if the shared cache could not be used.
    pub(super) fn note(&self) -> Option<Diagnostic> {
        let state = self.state();
        let message = format!("the shared cache {} is not used: {}", self.url, state.trouble.as_ref()?);
        Some(Diagnostic::warning(DiagnosticCode::CacheShared, message))
    }

    fn state(&self) -> MutexGuard<'_, SharedState> {
        // No code that can panic leaves the state inconsistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether entries of this kind are independent of the machine. Build stamps, lists of uses and
/// counts are not.
pub(super) fn is_shared(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Color | EntryKind::Inputs | EntryKind::Model | EntryKind::File)
}

fn add((count, bytes): &mut (usize, u64), len: usize) {
    *count += 1;
    *bytes += len as u64;
}
