//! Files that an import reads, and what stood in them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::fs::stat::{Sight, Stat};

/// Files that were read, or should have been.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs {
    files: BTreeMap<PathBuf, Seen>,
    digests: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Seen {
    /// It was not read to its end.
    Nothing,
    /// This was in it.
    Content(Sight),
    /// It was read twice, and was not the same.
    Changing,
}

impl Inputs {
    /// With the digest of all that is read.
    pub(crate) fn with_digests() -> Self {
        Self { digests: true, ..Self::default() }
    }

    /// Paths alone.
    pub(crate) fn without_digests() -> Self {
        Self::default()
    }

    /// Notes a file; with what the file system said before it was read, when that was, and what was read.
    pub(super) fn seen(&mut self, path: &Path, content: Option<(Stat, i64, &[u8])>) {
        let seen = self.files.entry(path.to_owned()).or_insert(Seen::Nothing);
        let Some((stat, at, bytes)) = content.filter(|_| self.digests) else { return };
        let sight = Sight { stat, at, digest: *blake3::hash(bytes).as_bytes() };
        *seen = match *seen {
            Seen::Content(first) if first.digest != sight.digest => Seen::Changing,
            Seen::Changing => Seen::Changing,
            Seen::Nothing | Seen::Content(_) => Seen::Content(sight),
        };
    }

    /// Notes a file whose content is known.
    pub(crate) fn known(&mut self, path: PathBuf, sight: Sight) {
        self.files.insert(path, Seen::Content(sight));
    }

    /// Their paths, sorted.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.keys()
    }

    /// What stood in each of them; `None`: it is not known of all.
    pub(crate) fn sights(&self) -> Option<Vec<(&Path, Sight)>> {
        self.files
            .iter()
            .map(|(path, seen)| match seen {
                Seen::Content(sight) => Some((path.as_path(), *sight)),
                Seen::Nothing | Seen::Changing => None,
            })
            .collect()
    }
}
