//! KTX2 container. Uses only the parsers of single parts from the `ktx2` crate: its reader also
//! parses the format descriptor, which is not needed here, and panics on some.

use core::ops::Range;

use ktx2::{Format, Header, KeyValueDataIterator, LevelIndex};

use crate::ByteRange;

/// Byte ranges of the parts of a file.
#[derive(Debug)]
pub(super) struct Ktx2 {
    pub(super) format: Option<Format>,
    /// Width and height in texels; number of layers, at least 1.
    pub(super) size: [u32; 3],
    /// Byte ranges of the mip levels, largest first.
    pub(super) levels: Vec<ByteRange>,
    /// Byte range of the value of the key `gpuskin`.
    pub(super) value: Range<usize>,
}

/// More mip levels than any texture has.
const MOST_LEVELS: u32 = 32;

impl Ktx2 {
    /// Parses a file. All ranges are within the bytes.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let short = || "file is truncated".to_owned();
        let header = bytes.first_chunk::<{ Header::LENGTH }>().ok_or_else(short)?;
        let header = Header::from_bytes(header).map_err(|e| format!("not a KTX2 file: {e}"))?;
        if header.supercompression_scheme.is_some() || header.pixel_depth > 0 || header.face_count != 1 {
            return Err("not an uncompressed 2D or 2D array texture".into());
        }
        if !(1..=MOST_LEVELS).contains(&header.level_count) {
            return Err(format!("{} mip levels, expected 1 to {MOST_LEVELS}", header.level_count));
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
        let value = value.ok_or("not baked by gpuskin: key `gpuskin` not found")?.1;
        let at = value.as_ptr() as usize - bytes.as_ptr() as usize;
        let size = [header.pixel_width, header.pixel_height, header.layer_count.max(1)];
        Ok(Self { format: header.format, size, levels, value: at..at + value.len() })
    }
}
