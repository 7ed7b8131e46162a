//! File fingerprints: detect whether a file has changed without reading it.

use std::fs::Metadata;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Minimum nanoseconds between two changes with different modification times: system clocks tick at
/// 100 Hz or faster. `COARSE_TICK` is for file systems with whole seconds, some of which count in
/// steps of two.
const TICK: i64 = 20_000_000;
const COARSE_TICK: i64 = 2_100_000_000;
const SECOND: i64 = 1_000_000_000;

/// Metadata of a file or folder. Times are in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileStat {
    size: u64,
    modified: i64,
    /// Time of the last change of content or metadata, which programs cannot set back. Zero on
    /// systems without it.
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

    /// Returns the metadata of a path; `None` if it does not exist.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().map(|metadata| Self::of(&metadata))
    }

    /// Returns the time from which on a further change is certain to have another modification
    /// time.
    pub(crate) fn settles_at(&self) -> i64 {
        let latest = self.modified.max(self.changed);
        latest.saturating_add(if latest % SECOND == 0 { COARSE_TICK } else { TICK })
    }
}

/// Current time in nanoseconds since 1970.
pub(crate) fn now() -> i64 {
    nanoseconds(SystemTime::now())
}

fn nanoseconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |ns| -ns),
    }
}

/// Fingerprint of a file that was read: its metadata before reading, the time of reading, and the
/// digest of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileFingerprint {
    pub(crate) stat: FileStat,
    pub(crate) at: i64,
    pub(crate) digest: [u8; 32],
}

impl FileFingerprint {
    /// Whether every later change is certain to change the metadata. A file that was modified just
    /// before it was read can change again without a new modification time.
    pub(crate) fn is_settled(&self) -> bool {
        self.stat.settles_at() <= self.at
    }

    /// Whether the file is unchanged according to its current metadata.
    pub(crate) fn is_unchanged(&self, stat: Option<FileStat>) -> bool {
        self.is_settled() && stat == Some(self.stat)
    }
}
