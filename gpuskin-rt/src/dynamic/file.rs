//! The container. Of the `ktx2` crate only what reads parts: its reader also takes the format descriptor apart, which we do
//! not need, and panics on some.

use core::ops::Range;

use ktx2::{Format, Header, KeyValueDataIterator, LevelIndex};

use crate::ByteRange;

/// Where the parts of a file are.
#[derive(Debug)]
pub(super) struct Ktx2 {
    pub(super) format: Option<Format>,
    /// Texels across and down; layers, at least 1.
    pub(super) size: [u32; 3],
    /// Mip levels, largest first.
    pub(super) levels: Vec<ByteRange>,
    /// The value of the key `gpuskin`.
    pub(super) value: Range<usize>,
}

/// More than any texture has.
const MOST_LEVELS: u32 = 32;

impl Ktx2 {
    /// All ranges are within the bytes.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let short = || "it is cut short".to_owned();
        let header = bytes.first_chunk::<{ Header::LENGTH }>().ok_or_else(short)?;
        let header = Header::from_bytes(header).map_err(|e| format!("it is no KTX2 file: {e}"))?;
        if header.supercompression_scheme.is_some() || header.pixel_depth > 0 || header.face_count != 1 {
            return Err("it is no plain texture of layers".into());
        }
        if !(1..=MOST_LEVELS).contains(&header.level_count) {
            return Err(format!("it has {} mip levels", header.level_count));
        }
        let mut levels = Vec::with_capacity(header.level_count as usize);
        for n in 0..header.level_count as usize {
            let entry = bytes.get(Header::LENGTH + n * LevelIndex::LENGTH..).and_then(<[u8]>::first_chunk);
            let LevelIndex { byte_offset, byte_length, .. } = LevelIndex::from_bytes(entry.ok_or_else(short)?);
            let end = byte_offset.checked_add(byte_length).filter(|end| *end <= bytes.len() as u64);
            end.ok_or_else(short)?;
            levels.push(ByteRange { offset: byte_offset, len: byte_length });
        }
        let (start, len) = (header.index.kvd_byte_offset as usize, header.index.kvd_byte_length as usize);
        let pairs = start.checked_add(len).and_then(|end| bytes.get(start..end)).ok_or_else(short)?;
        let value = KeyValueDataIterator::new(pairs).find(|(key, _)| *key == "gpuskin");
        let value = value.ok_or("it was not baked by gpuskin")?.1;
        let at = value.as_ptr() as usize - bytes.as_ptr() as usize;
        let size = [header.pixel_width, header.pixel_height, header.layer_count.max(1)];
        Ok(Self { format: header.format, size, levels, value: at..at + value.len() })
    }
}
