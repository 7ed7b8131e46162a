//! Bytes of the files of a model.

use std::borrow::Cow;

use super::Error;
use crate::{ByteRange, Metadata, Payload, files};

/// Loads the bytes of a file of the model.
pub(crate) fn load<'a>(meta: &Metadata, payload: &'a Payload) -> Result<Cow<'a, [u8]>, Error> {
    files::load(payload, &meta.content_hash).map_err(|error| Error::Files { model: meta.name.to_string(), error })
}

/// Returns a byte range of a file.
pub(crate) fn slice<'a>(meta: &Metadata, bytes: &'a [u8], range: ByteRange, file: &str) -> Result<&'a [u8], Error> {
    let end = range.offset.checked_add(range.len).and_then(|end| usize::try_from(end).ok());
    let part = end.and_then(|end| bytes.get(range.offset as usize..end));
    part.ok_or_else(|| Error::model(&meta.name, format!("{file} is shorter than the metadata says")))
}

/// Reads little-endian 32-bit words.
pub(crate) fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}
