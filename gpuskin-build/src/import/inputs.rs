//! Files that an import reads, with their fingerprints.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::fs::fingerprint::{FileFingerprint, FileStat, now};
use crate::limits;

/// Files that were read, or that should have been.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs {
    files: BTreeMap<PathBuf, ReadState>,
    digests: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ReadState {
    /// The file was not read to its end.
    Nothing,
    /// Fingerprint of the content that was read.
    Content(FileFingerprint),
    /// The file was read twice, with different content.
    Changing,
}

impl Inputs {
    /// Creates a set that stores the digest of each file that is read.
    pub(crate) fn with_digests() -> Self {
        Self { digests: true, ..Self::default() }
    }

    /// Creates a set that stores paths only.
    pub(crate) fn without_digests() -> Self {
        Self::default()
    }

    /// Reads a regular file of at most `most` bytes, and records it.
    pub(crate) fn read(&mut self, path: &Path, most: u64) -> Result<Vec<u8>, Diagnostic> {
        self.seen(path, None);
        let failed = |e: std::io::Error| {
            Diagnostic::error(DiagnosticCode::FileUnreadable, format!("cannot read {}: {e}", path.display()))
        };
        // Checked before opening: opening a pipe would block until it has a writer.
        let metadata = fs::metadata(path).map_err(failed)?;
        if !metadata.is_file() {
            return Err(Diagnostic::error(
                DiagnosticCode::FileUnreadable,
                format!("{} is not a regular file", path.display()),
            ));
        }
        let (stat, at) = (FileStat::of(&metadata), now());
        let mut bytes = Vec::new();
        // The file may grow while it is read.
        if metadata.len() <= most {
            crate::fs::open(path).and_then(|f| f.take(most + 1).read_to_end(&mut bytes)).map_err(failed)?;
        }
        if metadata.len() > most || bytes.len() as u64 > most {
            let message = format!("{} is larger than the limit of {}", path.display(), limits::format_bytes(most));
            return Err(Diagnostic::error(DiagnosticCode::LimitFile, message));
        }
        self.seen(path, Some((stat, at, &bytes)));
        Ok(bytes)
    }

    /// Records a file. `content` is the file metadata from before the read, the time of the read,
    /// and the bytes that were read.
    pub(super) fn seen(&mut self, path: &Path, content: Option<(FileStat, i64, &[u8])>) {
        let seen = self.files.entry(path.to_owned()).or_insert(ReadState::Nothing);
        let Some((stat, at, bytes)) = content.filter(|_| self.digests) else { return };
        let fingerprint = FileFingerprint { stat, at, digest: *blake3::hash(bytes).as_bytes() };
        *seen = match *seen {
            ReadState::Content(first) if first.digest != fingerprint.digest => ReadState::Changing,
            ReadState::Changing => ReadState::Changing,
            ReadState::Nothing | ReadState::Content(_) => ReadState::Content(fingerprint),
        };
    }

    /// Records a file with a known fingerprint.
    pub(crate) fn known(&mut self, path: PathBuf, fingerprint: FileFingerprint) {
        self.files.insert(path, ReadState::Content(fingerprint));
    }

    /// Returns the sorted paths.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.keys()
    }

    /// Returns the fingerprint of each file, or `None` if one of them is unknown.
    pub(crate) fn fingerprints(&self) -> Option<Vec<(&Path, FileFingerprint)>> {
        self.files
            .iter()
            .map(|(path, seen)| match seen {
                ReadState::Content(fingerprint) => Some((path.as_path(), *fingerprint)),
                ReadState::Nothing | ReadState::Changing => None,
            })
            .collect()
    }
}
