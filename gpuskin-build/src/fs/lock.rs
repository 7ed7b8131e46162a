//! Locks between processes. The system takes them back from processes that end, however they end: none is ever stale.

use std::fs::{self, File, TryLockError};
use std::path::Path;

/// Held until it is dropped. Where there are no locks, as on some network file systems, it holds nothing: bakes at the
/// same time then do work twice, and their files are still whole.
#[derive(Debug)]
pub(crate) struct Lock(Option<File>);

impl Lock {
    /// By a file of its own, which stays. `waiting` is called when somebody else has it.
    pub(crate) fn file(path: &Path, waiting: impl FnOnce()) -> Self {
        let open = || {
            fs::create_dir_all(path.parent()?).ok()?;
            File::options().create(true).truncate(false).write(true).open(path).ok()
        };
        Self(open().and_then(|file| take(file, waiting)))
    }

    /// By a folder, which must be there, without a trace in it.
    pub(crate) fn folder(path: &Path, waiting: impl FnOnce()) -> Self {
        // Elsewhere folders cannot be opened.
        if cfg!(unix) {
            Self(File::open(path).ok().and_then(|file| take(file, waiting)))
        } else {
            Self::file(&path.join(".gpuskin.lock"), waiting)
        }
    }

    /// Whether there is anything to hold.
    pub(crate) fn held(&self) -> bool {
        self.0.is_some()
    }
}

fn take(file: File, waiting: impl FnOnce()) -> Option<File> {
    match file.try_lock() {
        Ok(()) => return Some(file),
        Err(TryLockError::WouldBlock) => waiting(),
        Err(TryLockError::Error(_)) => return None,
    }
    loop {
        match file.lock() {
            Ok(()) => return Some(file),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}
