//! `Texels + metadata -> KTX2 bytes`: a writer over the parts that the `ktx2` crate has.
//!
//! Layout of the KTX 2.0 specification, section 3: header, level index, data format descriptor, key/value data, then
//! levels, the smallest first.

use gpuskin_rt::ByteRange;
use ktx2::dfd::{Basic, Block};
use ktx2::{Format, Header, Index, LevelIndex};

/// What becomes a KTX2 file: one uncompressed 2D texture, or an array of them.
#[derive(Debug)]
pub struct Texture<'a> {
    /// Format of a texel.
    pub format: Format,
    /// Bytes of a texel.
    pub texel_bytes: usize,
    /// Texels across.
    pub width: u32,
    /// Texels down.
    pub height: u32,
    /// Array layers; 1 is a plain 2D texture.
    pub layers: u32,
    /// Mip levels, largest first; all layers each.
    pub levels: &'a [Vec<u8>],
}

/// A KTX2 file and where its parts stand.
#[derive(Clone, Debug, PartialEq)]
pub struct Ktx2 {
    /// The file.
    pub bytes: Vec<u8>,
    /// Mip levels, largest first.
    pub levels: Vec<ByteRange>,
    /// Where the value of the key `gpuskin` starts.
    pub value_at: u64,
}

/// Key of the metadata.
pub const KEY: &str = "gpuskin";
const WRITER: &str = concat!("gpuskin-build ", env!("CARGO_PKG_VERSION"));

/// Writes a texture, with `value` under the key `gpuskin`.
pub fn write(texture: &Texture<'_>, value: &[u8]) -> Ktx2 {
    let (basic, type_size) = Basic::from_format(texture.format).expect("formats of ours have a descriptor");
    let block = Block::Basic(basic).to_vec();
    let mut descriptor = (block.len() as u32 + 4).to_le_bytes().to_vec();
    descriptor.extend(block);

    // Keys in the order of their bytes, values of text with a NUL (section 3.11).
    let mut pairs = entry("KTXwriter", &[WRITER.as_bytes(), &[0]].concat());
    let value_in_pairs = pairs.len() + 4 + KEY.len() + 1;
    pairs.extend(entry(KEY, value));

    let descriptor_at = Header::LENGTH + texture.levels.len() * LevelIndex::LENGTH;
    let pairs_at = descriptor_at + descriptor.len();
    let mut end = pairs_at + pairs.len();
    let align = lcm(texture.texel_bytes, 4);
    let mut index =
        vec![LevelIndex { byte_offset: 0, byte_length: 0, uncompressed_byte_length: 0 }; texture.levels.len()];
    for (level, entry) in texture.levels.iter().zip(&mut index).rev() {
        let length = level.len() as u64;
        let at = end.next_multiple_of(align);
        *entry = LevelIndex { byte_offset: at as u64, byte_length: length, uncompressed_byte_length: length };
        end = at + level.len();
    }

    let header = Header {
        format: Some(texture.format),
        type_size,
        pixel_width: texture.width,
        pixel_height: texture.height,
        pixel_depth: 0,
        layer_count: if texture.layers > 1 { texture.layers } else { 0 },
        face_count: 1,
        level_count: texture.levels.len() as u32,
        supercompression_scheme: None,
        index: Index {
            dfd_byte_offset: descriptor_at as u32,
            dfd_byte_length: descriptor.len() as u32,
            kvd_byte_offset: pairs_at as u32,
            kvd_byte_length: pairs.len() as u32,
            sgd_byte_offset: 0,
            sgd_byte_length: 0,
        },
    };
    let mut bytes = Vec::with_capacity(end);
    bytes.extend(header.as_bytes());
    index.iter().for_each(|entry| bytes.extend(entry.as_bytes()));
    bytes.extend(descriptor);
    bytes.extend(pairs);
    for (level, entry) in texture.levels.iter().zip(&index).rev() {
        bytes.resize(entry.byte_offset as usize, 0);
        bytes.extend(level);
    }
    let levels = index.iter().map(|e| ByteRange { offset: e.byte_offset, len: e.byte_length }).collect();
    Ktx2 { bytes, levels, value_at: (pairs_at + value_in_pairs) as u64 }
}

/// Length, key, NUL, value, padding to four bytes.
fn entry(key: &str, value: &[u8]) -> Vec<u8> {
    let mut bytes = ((key.len() + 1 + value.len()) as u32).to_le_bytes().to_vec();
    bytes.extend(key.as_bytes());
    bytes.push(0);
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn lcm(a: usize, b: usize) -> usize {
    let gcd = |mut a: usize, mut b: usize| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    a / gcd(a, b) * b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ktx2_crate_reads_back_what_was_written() {
        for (format, texel_bytes, layers) in
            [(Format::R16G16B16A16_SFLOAT, 8, 1), (Format::R32G32B32A32_SFLOAT, 16, 3), (Format::R8G8B8A8_SRGB, 4, 1)]
        {
            let level = |scale: usize, fill| vec![fill; 8 * 4 / scale / scale * texel_bytes * layers as usize];
            let levels = [level(1, 1), level(2, 2)];
            let texture = Texture { format, texel_bytes, width: 8, height: 4, layers, levels: &levels };
            let file = write(&texture, &[7; 13]);
            let reader = ktx2::Reader::new(&file.bytes).unwrap();
            let header = reader.header();
            assert_eq!((header.format, header.pixel_width, header.pixel_height), (Some(format), 8, 4));
            assert_eq!(header.layer_count, if layers > 1 { layers } else { 0 });
            assert!(reader.levels().map(|l| l.data.to_vec()).eq(levels.iter().cloned()));
            for (range, level) in file.levels.iter().zip(&levels) {
                assert_eq!(range.offset as usize % lcm(texel_bytes, 4), 0);
                assert_eq!(&file.bytes[range.offset as usize..][..range.len as usize], level);
            }
            let pairs: Vec<_> = reader.key_value_data().collect();
            assert_eq!(pairs.iter().map(|(key, _)| *key).collect::<Vec<_>>(), ["KTXwriter", "gpuskin"]);
            assert_eq!(pairs[1].1, [7; 13]);
            assert_eq!(&file.bytes[file.value_at as usize..][..13], [7; 13]);
            let (basic, _) = Basic::from_format(format).unwrap();
            assert_eq!(reader.basic_dfd(), Some(&basic));
        }
    }
}
