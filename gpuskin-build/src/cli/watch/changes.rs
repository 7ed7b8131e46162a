//! Changes of files, found by comparing their metadata.
//!
//! Polling works on every file system, network folders included, and sees an editor that saves by
//! renaming. It costs one call of the system per file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::fs::fingerprint::FileStat;

/// Time between two looks at the files.
const INTERVAL: Duration = Duration::from_millis(50);
/// Time in which no file may change before the result of a bake counts: editors and exporters write a file in
/// several steps, or several files.
const QUIET: Duration = Duration::from_millis(100);

/// Metadata of files at one time; `None` for a file that does not exist.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Snapshot(BTreeMap<PathBuf, Option<FileStat>>);

impl Snapshot {
    /// Looks at files.
    pub(super) fn of<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        Self(paths.into_iter().map(|path| (path.clone(), FileStat::at(path))).collect())
    }

    /// Returns the snapshot of other files: those that it has are kept, the others are looked at.
    pub(super) fn extended(&self, paths: &BTreeSet<PathBuf>) -> Self {
        let known = |path: &PathBuf| self.0.get(path).copied().unwrap_or_else(|| FileStat::at(path));
        Self(paths.iter().map(|path| (path.clone(), known(path))).collect())
    }

    /// Whether the snapshot has all of these files.
    pub(super) fn has(&self, paths: &BTreeSet<PathBuf>) -> bool {
        paths.iter().all(|path| self.0.contains_key(path))
    }

    fn now(&self) -> Self {
        Self::of(self.0.keys())
    }

    /// Waits until a file has changed since the snapshot.
    pub(super) fn wait_for_change(&self) {
        while self.now() == *self {
            sleep(INTERVAL);
        }
    }

    /// Whether no file has changed since the snapshot, which was taken at `taken`. Waits until it is old enough to
    /// tell.
    pub(super) fn is_final(&self, taken: Instant) -> bool {
        while self.now() == *self {
            if taken.elapsed() >= QUIET {
                return true;
            }
            sleep(INTERVAL / 2);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_new_files_and_removed_files_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let paths = BTreeSet::from([path.clone()]);
        let none = Snapshot::of(&paths);
        assert_eq!(none, none.now());
        std::fs::write(&path, "1").unwrap();
        let one = none.now();
        assert_ne!(one, none);
        none.wait_for_change();
        let start = Instant::now();
        assert!(!none.is_final(start));
        assert!(one.is_final(start) && start.elapsed() >= QUIET);
        std::fs::write(folder.path().join("b"), "22").unwrap();
        std::fs::rename(folder.path().join("b"), &path).unwrap();
        assert_ne!(one.now(), one, "saved by renaming");
        let other = one.extended(&BTreeSet::from([path.clone(), folder.path().join("c")]));
        assert_eq!(other.0[&path], one.0[&path], "a change during a bake is not lost");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(one.now(), none);
    }
}
