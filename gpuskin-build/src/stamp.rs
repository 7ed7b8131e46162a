//! Build stamp: the inputs and outputs of a bake. The next bake compares it with the file system,
//! and detects without reading a file that there is nothing to do.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::cache::{Cache, EntryKind};
use crate::diagnostic::CachedDiagnostic;
use crate::fs;
use crate::fs::fingerprint::{FileFingerprint, FileStat, now};

/// Maximum size of a source file in bytes: the largest size that a GLB header can state.
const MAX_SOURCE_BYTES: u64 = u32::MAX as u64;
/// Maximum size of a build stamp in bytes.
const MAX_STAMP_BYTES: u64 = 256 << 20;
/// Maximum time in nanoseconds to wait until the modification times of the outputs are settled.
const MAX_SETTLE_WAIT: i64 = 50_000_000;

/// Record of a bake.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct BuildStamp {
    /// Digest of the manifest's text.
    pub(crate) manifest: [u8; 32],
    /// Files that were read, relative to the manifest's folder.
    pub(crate) inputs: BTreeMap<PathBuf, FileFingerprint>,
    /// Files and folders that were written, relative to the output folder. The digest of a folder
    /// is zero.
    pub(crate) outputs: BTreeMap<String, FileFingerprint>,
    /// Report about the models.
    pub(crate) text: String,
    pub(crate) warnings: Vec<CachedDiagnostic>,
    pub(crate) models: usize,
    /// Number of files, and their bytes.
    pub(crate) files: usize,
    pub(crate) bytes: u64,
}

impl BuildStamp {
    /// Loads the build stamp of a key.
    pub(crate) fn load(cache: &Cache, key: &blake3::Hash) -> Option<Self> {
        postcard::from_bytes(&cache.get(EntryKind::Stamp, key, MAX_STAMP_BYTES)?).ok()
    }

    pub(crate) fn save(&self, cache: &Cache, key: &blake3::Hash) {
        if let Ok(bytes) = postcard::to_stdvec(self) {
            cache.depends_on(EntryKind::Stamp, key);
            cache.remember_uses(key);
            cache.put(EntryKind::Stamp, key, &bytes);
        }
    }

    /// Whether all inputs and outputs are unchanged according to their metadata.
    pub(crate) fn is_unchanged(&self, manifest_folder: &Path, out: &Path) -> bool {
        let inputs = self.inputs.par_iter().all(|(path, s)| s.is_unchanged(FileStat::at(&manifest_folder.join(path))));
        inputs
            && self
                .outputs
                .par_iter()
                .all(|(name, fingerprint)| fingerprint.is_unchanged(FileStat::at(&out.join(name))))
    }

    /// Records the outputs. `digests` are those of the output files. Paths of inputs are relative
    /// to `folder`.
    pub(crate) fn record_outputs(&mut self, folder: &Path, out: &Path, digests: &BTreeMap<String, blake3::Hash>) {
        let mut names: BTreeMap<String, [u8; 32]> = BTreeMap::new();
        for (name, digest) in digests {
            names.insert(name.clone(), *digest.as_bytes());
            for (at, _) in name.match_indices('/') {
                names.insert(name[..at].to_owned(), [0; 32]);
            }
        }
        names.insert(String::new(), [0; 32]);
        let look = || -> BTreeMap<String, FileFingerprint> {
            let at = now();
            let fingerprint = |(name, digest): (&String, &[u8; 32])| {
                Some((name.clone(), FileFingerprint { stat: FileStat::at(&out.join(name))?, at, digest: *digest }))
            };
            names.iter().filter_map(fingerprint).collect()
        };
        self.outputs = look();
        // A file that was just written could change again without a new modification time.
        let settled = self.outputs.values().map(|fingerprint| fingerprint.stat.settles_at()).max().unwrap_or_default();
        let wait = settled.saturating_sub(now());
        if (1..=MAX_SETTLE_WAIT).contains(&wait) {
            std::thread::sleep(std::time::Duration::from_nanos(wait as u64));
            self.outputs = look();
        }
        // Sources that were read right after they were written have the same problem, and are read
        // again.
        for (path, fingerprint) in self.inputs.iter_mut().filter(|(_, fingerprint)| !fingerprint.is_settled()) {
            if let Some(again) = read_fingerprint(&folder.join(path)).filter(|again| again.digest == fingerprint.digest)
            {
                *fingerprint = again;
            }
        }
    }
}

/// Fingerprints of files: taken from the last bake if the metadata is unchanged, else read.
#[derive(Debug)]
pub(crate) struct FingerprintIndex<'a> {
    before: &'a BTreeMap<PathBuf, FileFingerprint>,
    folder: &'a Path,
    recorded: Mutex<BTreeMap<PathBuf, FileFingerprint>>,
}

impl<'a> FingerprintIndex<'a> {
    /// `before` holds the fingerprints of the last bake, with paths relative to `folder`. With an
    /// empty map, every file is read.
    pub(crate) fn new(before: &'a BTreeMap<PathBuf, FileFingerprint>, folder: &'a Path) -> Self {
        Self { before, folder, recorded: Mutex::default() }
    }

    /// Returns the fingerprint of a file.
    pub(crate) fn fingerprint(&self, path: &Path) -> Option<FileFingerprint> {
        if let Some(fingerprint) = self.recorded().get(path) {
            return Some(*fingerprint);
        }
        let known = self.before.get(path.strip_prefix(self.folder).unwrap_or(path));
        let known = known.filter(|fingerprint| fingerprint.is_unchanged(FileStat::at(path))).copied();
        let fingerprint = known.or_else(|| read_fingerprint(path))?;
        self.record(path, fingerprint);
        Some(fingerprint)
    }

    /// Records the fingerprint of a file.
    pub(crate) fn record(&self, path: &Path, fingerprint: FileFingerprint) {
        self.recorded().insert(path.to_owned(), fingerprint);
    }

    fn recorded(&self) -> std::sync::MutexGuard<'_, BTreeMap<PathBuf, FileFingerprint>> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_fingerprint(path: &Path) -> Option<FileFingerprint> {
    let metadata =
        std::fs::metadata(path).ok().filter(|metadata| metadata.is_file() && metadata.len() <= MAX_SOURCE_BYTES)?;
    let (stat, at) = (FileStat::of(&metadata), now());
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(fs::open(path).ok()?.take(MAX_SOURCE_BYTES)).ok()?;
    Some(FileFingerprint { stat, at, digest: *hasher.finalize().as_bytes() })
}
