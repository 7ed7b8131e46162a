//! Locks between processes. The system releases the locks of a process when it ends for any reason,
//! so locks never become stale.

use std::fs::{self, File, TryLockError};
use std::path::Path;

/// A lock, held until it is dropped. Holds nothing on file systems without locks, such as some
/// network file systems: concurrent bakes then do the same work twice, and their files are still
/// intact.
#[derive(Debug)]
pub(crate) struct Lock(Option<File>);

impl Lock {
    /// Locks a file that is created for this purpose and not removed. Calls `waiting` if another
    /// process holds the lock.
    pub(crate) fn file(path: &Path, waiting: impl FnOnce()) -> Self {
        let open = || {
            fs::create_dir_all(path.parent()?).ok()?;
            File::options().create(true).truncate(false).write(true).open(path).ok()
        };
        Self(open().and_then(|file| take(file, waiting)))
    }

    /// Locks an existing folder without creating a file in it.
    pub(crate) fn folder(path: &Path, waiting: impl FnOnce()) -> Self {
        // Only Unix can open folders.
        if cfg!(unix) {
            Self(File::open(path).ok().and_then(|file| take(file, waiting)))
        } else {
            Self::file(&path.join(".gpuskin.lock"), waiting)
        }
    }

    /// Whether a lock is held.
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
