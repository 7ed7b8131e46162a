//! Statistics, verification and cleanup of a whole cache.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use super::{Cache, EntryKind, UNFINISHED, entry, is_entry};
use crate::fs;

/// Maximum size of a list of used entries, in bytes.
pub(crate) const MAX_USES: u64 = 256 << 20;

/// Contents of a cache.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Number and bytes of entries per kind; `None` for entries of another version.
    pub kinds: BTreeMap<Option<EntryKind>, (usize, u64)>,
    /// Size limit in bytes.
    pub limit: u64,
}

/// Result of [`Cache::verify`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Verified {
    /// Number of undamaged entries.
    pub sound: usize,
    /// Damaged entries, which have been removed.
    pub damaged: Vec<PathBuf>,
}

struct EntryFile {
    path: PathBuf,
    name: String,
    size: u64,
    used: SystemTime,
}

impl Cache {
    /// Counts the entries.
    pub(crate) fn stats(&self) -> Stats {
        let mut stats = Stats { limit: self.limit, ..Stats::default() };
        for found in self.entries() {
            let kind = entry::parse(&found.name).map(|(kind, _)| kind);
            let (count, bytes) = stats.kinds.entry(kind).or_default();
            *count += 1;
            *bytes += found.size;
        }
        stats
    }

    /// Removes all entries. Returns their number and bytes.
    pub(crate) fn clean(&self) -> (usize, u64) {
        fs::remove_unfinished(&self.folder.join(UNFINISHED), false);
        let gone = self.entries().into_iter().filter(|found| fs::remove(&found.path).is_ok());
        gone.fold((0, 0), |(count, bytes), found| (count + 1, bytes + found.size))
    }

    /// Reads every entry, and removes damaged ones and those of another version.
    pub(crate) fn verify(&self) -> Verified {
        let mut verified = Verified::default();
        for EntryFile { path, name, .. } in self.entries() {
            let sound = entry::parse(&name).is_some_and(|(kind, key)| entry::read(&path, kind, &key, u64::MAX).is_ok());
            if sound {
                verified.sound += 1;
            } else {
                let _ = fs::remove(&path);
                verified.damaged.push(path);
            }
        }
        verified
    }

    /// Removes unfinished files of interrupted bakes. If the entries exceed the size limit, also
    /// removes the least recently used ones, except those that this bake used.
    pub(crate) fn tidy(&self) {
        if !self.state().written {
            return;
        }
        fs::remove_unfinished(&self.folder.join(UNFINISHED), false);
        let mut entries = self.entries();
        let mut total: u64 = entries.iter().map(|found| found.size).sum();
        if total <= self.limit {
            return;
        }
        let again = self.used_by_bakes();
        for found in &mut entries {
            found.used = found.used.max(again.get(&found.name).copied().unwrap_or(found.used));
        }
        entries.sort_by(|a, b| (a.used, &a.name).cmp(&(b.used, &b.name)));
        let used = &self.state().used;
        for found in entries.iter().filter(|found| !used.contains(&found.name)) {
            if total <= self.limit {
                break;
            }
            if fs::remove(&found.path).is_ok() {
                total -= found.size;
            }
        }
    }

    /// Returns the last use of each entry by bakes that had nothing to do.
    fn used_by_bakes(&self) -> BTreeMap<String, SystemTime> {
        let mut used = BTreeMap::new();
        for list in self.entries() {
            let Some((EntryKind::Uses, key)) = entry::parse(&list.name) else { continue };
            let Ok(data) = entry::read(&list.path, EntryKind::Uses, &key, MAX_USES) else { continue };
            for name in String::from_utf8_lossy(&data).lines() {
                let last = used.entry(name.to_owned()).or_insert(list.used);
                *last = list.used.max(*last);
            }
        }
        used
    }

    /// Stores the list of entries that this bake used.
    pub(crate) fn remember_uses(&self, key: &blake3::Hash) {
        let names: Vec<String> = self.state().used.iter().cloned().collect();
        self.put(EntryKind::Uses, key, names.join("\n").as_bytes());
    }

    fn entries(&self) -> Vec<EntryFile> {
        let found = |path: PathBuf| {
            let metadata = path.metadata().ok()?;
            let name = path.file_name()?.to_string_lossy().into_owned();
            Some(EntryFile { name, size: metadata.len(), used: metadata.modified().ok()?, path })
        };
        fs::entries(&self.folder)
            .unwrap_or_default()
            .into_iter()
            .filter(|path| is_entry(path))
            .filter_map(found)
            .collect()
    }
}
