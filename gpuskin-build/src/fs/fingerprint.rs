//! Whether a file is still the one that was looked at, without reading it.

use std::fs::Metadata;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Nanoseconds that pass before a file system gives a change another time than the one before: system clocks tick at
/// 100 Hz or faster. Where times are whole seconds, it is one of those that count by two.
const TICK: i64 = 20_000_000;
const COARSE_TICK: i64 = 2_100_000_000;
const SECOND: i64 = 1_000_000_000;

/// What the file system says of a file, or of a folder. Times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileStat {
    size: u64,
    modified: i64,
    /// Of the content or of what is said here; it cannot be set back. Zero where the system has none.
    changed: i64,
    inode: u64,
}

impl FileStat {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let (changed, inode) = {
            use std::os::unix::fs::MetadataExt;
            (metadata.ctime().saturating_mul(SECOND).saturating_add(metadata.ctime_nsec()), metadata.ino())
        };
        #[cfg(not(unix))]
        let (changed, inode) = (0, 0);
        Self { size: metadata.len(), modified: metadata.modified().map_or(i64::MAX, nanoseconds), changed, inode }
    }

    /// `None`: there is nothing.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().map(|metadata| Self::of(&metadata))
    }

    /// When a change will show as another time than this one's.
    pub(crate) fn settles(&self) -> i64 {
        let latest = self.modified.max(self.changed);
        latest.saturating_add(if latest % SECOND == 0 { COARSE_TICK } else { TICK })
    }
}

/// Now.
pub(crate) fn now() -> i64 {
    nanoseconds(SystemTime::now())
}

fn nanoseconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |ns| -ns),
    }
}

/// A file that was read: what the file system said before, when that was, and what stood in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileFingerprint {
    pub(crate) stat: FileStat,
    pub(crate) at: i64,
    pub(crate) digest: [u8; 32],
}

impl FileFingerprint {
    /// Whether a change after it must show in what the file system says. A file as young as the look at it may change once
    /// more and keep its time.
    pub(crate) fn is_settled(&self) -> bool {
        self.stat.settles() <= self.at
    }

    /// Whether the file has not changed, as far as the file system knows.
    pub(crate) fn still_holds(&self, stat: Option<FileStat>) -> bool {
        self.is_settled() && stat == Some(self.stat)
    }
}
