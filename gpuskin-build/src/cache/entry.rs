//! Format of an entry: `magic | key | digest of kind, key and data | data`, in a file named after
//! kind and key.

use std::io;
use std::path::Path;

use crate::fs;

/// First bytes of an entry. The number changes with the format.
const MAGIC: [u8; 8] = *b"gpuskin2";
const HEAD: usize = 8 + 2 * blake3::OUT_LEN;
pub(super) const FILE_ENDING: &str = "gpuskin-cache";

/// Kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EntryKind {
    /// An encoded texture.
    Color,
    /// List of a model's input files.
    Inputs,
    /// A model: metadata, report, and the digests of its files.
    Model,
    /// A baked file, named by its digest.
    File,
    /// Build stamp: the inputs and outputs of a bake, to detect that a bake has nothing to do.
    Stamp,
    /// Names of the entries that a bake used.
    Uses,
    /// Transfer counts.
    Traffic,
}

impl EntryKind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Color, Self::Inputs, Self::Model, Self::File, Self::Stamp, Self::Uses, Self::Traffic];

    /// Returns the name that is used in file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Color => "color",
            Self::Inputs => "inputs",
            Self::Model => "model",
            Self::File => "file",
            Self::Stamp => "stamp",
            Self::Uses => "uses",
            Self::Traffic => "counts",
        }
    }
}

pub(super) fn name(kind: EntryKind, key: &blake3::Hash) -> String {
    format!("{}-{}.{FILE_ENDING}", kind.name(), key.to_hex())
}

/// Parses the file name of an entry.
pub(super) fn parse(name: &str) -> Option<(EntryKind, blake3::Hash)> {
    let (kind, key) = name.strip_suffix(FILE_ENDING)?.strip_suffix('.')?.split_once('-')?;
    let kind = EntryKind::ALL.into_iter().find(|k| k.name() == kind)?;
    Some((kind, blake3::Hash::from_hex(key).ok()?))
}

fn digest(kind: EntryKind, key: &blake3::Hash, data: &[u8]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(kind.name().as_bytes()).update(key.as_bytes()).update(data);
    hasher.finalize()
}

/// Returns what precedes the data in an entry's file.
pub(super) fn head(kind: EntryKind, key: &blake3::Hash, data: &[u8]) -> Vec<u8> {
    [&MAGIC[..], key.as_bytes(), digest(kind, key, data).as_bytes()].concat()
}

/// Bytes of an entry with `data` bytes of data.
pub(super) fn len(data: u64) -> u64 {
    data.saturating_add(HEAD as u64)
}

/// Returns the data of an entry if it is undamaged.
pub(super) fn open(mut bytes: Vec<u8>, kind: EntryKind, key: &blake3::Hash) -> Option<Vec<u8>> {
    let (head, data) = bytes.split_at_checked(HEAD)?;
    let sound =
        head[..8] == MAGIC && head[8..40] == *key.as_bytes() && head[40..] == *digest(kind, key, data).as_bytes();
    if !sound {
        return None;
    }
    bytes.drain(..HEAD);
    Some(bytes)
}

/// Reads and verifies an entry with at most `most` bytes of data.
pub(super) fn read(path: &Path, kind: EntryKind, key: &blake3::Hash, most: u64) -> io::Result<Vec<u8>> {
    let bytes = fs::read(path, len(most))?;
    open(bytes, kind, key).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "it is damaged"))
}
