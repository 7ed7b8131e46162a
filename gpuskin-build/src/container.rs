//! `Texels + metadata -> KTX2 bytes`: a writer based on the types of the `ktx2` crate.
//!
//! Layout as in the KTX 2.0 specification, section 3: header, level index, data format descriptor,
//! key/value data, then mip levels, smallest first.

use gpuskin_rt::internals::ByteRange;
use ktx2::dfd::{Basic, Block};
use ktx2::{Format, Header, Index, LevelIndex, SupercompressionScheme};

/// Content of a KTX2 file: one 2D texture, an array of 2D textures, or a cube map.
#[derive(Debug)]
pub struct TextureFile<'a, L> {
    /// Texel format.
    pub format: Format,
    /// Bytes per texel, or per block of texels.
    pub texel_bytes: usize,
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Number of array layers; 1 for a plain 2D texture.
    pub layers: u32,
    /// Number of faces: 6 for a cube map, else 1.
    pub faces: u32,
    /// Mip levels, largest first, each with all layers and faces.
    pub levels: &'a [L],
}

/// Bytes of a mip level. They may be gathered where the file is written, so that no other copy of them is made.
pub trait LevelBytes {
    /// Number of bytes.
    fn len(&self) -> usize;

    /// Appends the bytes.
    fn append_to(&self, file: &mut Vec<u8>);

    /// Returns a copy of the bytes.
    fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        self.append_to(&mut bytes);
        bytes
    }
}

impl LevelBytes for Vec<u8> {
    fn len(&self) -> usize {
        self.len()
    }

    fn append_to(&self, file: &mut Vec<u8>) {
        file.extend(self);
    }
}

/// A KTX2 file and the location of its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Ktx2 {
    /// Content of the file.
    pub bytes: Vec<u8>,
    /// Byte ranges of the mip levels, largest first.
    pub levels: Vec<ByteRange>,
    /// Byte offset of the value of the key `gpuskin`.
    pub value_at: u64,
}

impl Ktx2 {
    /// Mip levels, largest first.
    pub fn levels(&self) -> impl Iterator<Item = &[u8]> {
        self.levels.iter().map(|level| &self.bytes[level.offset as usize..][..level.len as usize])
    }

    /// Replaces the value of the key `gpuskin` by another one of its length.
    pub fn set_value(&mut self, value: &[u8]) {
        self.bytes[self.value_at as usize..][..value.len()].copy_from_slice(value);
    }
}

/// Bytes of a content hash.
pub const HASH_LEN: usize = 16;
/// Key of the metadata.
pub const KEY: &str = "gpuskin";
const WRITER: &str = concat!("gpuskin-build ", env!("CARGO_PKG_VERSION"));

/// Writes a texture, with `value` under the key `gpuskin`.
pub fn write<L: LevelBytes>(texture: &TextureFile<'_, L>, value: &[u8]) -> Ktx2 {
    let (basic, type_size) = Basic::from_format(texture.format).expect("all formats used here have a descriptor");
    let levels: Vec<_> = texture.levels.iter().map(|data| MipLevel { data, unpacked: data.len() }).collect();
    let contents = Contents {
        format: Some(texture.format),
        type_size,
        size: [texture.width, texture.height],
        layers: texture.layers,
        faces: texture.faces,
        scheme: None,
        align: lcm(texture.texel_bytes, 4),
        levels: &levels,
    };
    file(&contents, basic, value)
}

/// A texture that can be transcoded to the format of any device: UASTC blocks of 4 x 4 texels.
#[cfg(feature = "textures")]
#[derive(Debug)]
pub struct UniversalTexture<'a> {
    /// Width and height in texels.
    pub size: [u32; 2],
    /// Number of array layers; 1 for a plain 2D texture.
    pub layers: u32,
    /// Whether red, green and blue are sRGB values.
    pub srgb: bool,
    /// Whether a texel is not opaque.
    pub alpha: bool,
    /// Mip levels, largest first, each with all layers, as whole blocks.
    pub levels: &'a [Vec<u8>],
}

/// Writes a universal texture, compressed with zstd. Returns `None` if compression fails.
#[cfg(feature = "textures")]
pub fn write_universal(texture: &UniversalTexture<'_>, value: &[u8]) -> Option<Vec<u8>> {
    use ktx2::dfd::{ChannelTypeQualifiers, DataFormatFlags, SampleInformation};
    use ktx2::{ColorModel, ColorPrimaries, TransferFunction};

    /// KHR_DF_CHANNEL_UASTC_RGB and _RGBA (Khronos Data Format Specification).
    const CHANNELS: [u8; 2] = [0, 3];
    /// A high level is affordable: the files are small, and are compressed once.
    const ZSTD_LEVEL: i32 = 19;
    let basic = Basic {
        color_model: Some(ColorModel::UASTC),
        color_primaries: Some(ColorPrimaries::BT709),
        transfer_function: Some(if texture.srgb { TransferFunction::SRGB } else { TransferFunction::Linear }),
        flags: DataFormatFlags::STRAIGHT_ALPHA,
        texel_block_dimensions: [4, 4, 1, 1].map(|side: u8| side.try_into().expect("not zero")),
        // Value before supercompression (KHR data format issue 27).
        bytes_planes: [16, 0, 0, 0, 0, 0, 0, 0],
        sample_information: vec![SampleInformation {
            bit_offset: 0,
            bit_length: 128.try_into().expect("not zero"),
            channel_type: CHANNELS[usize::from(texture.alpha)],
            channel_type_qualifiers: ChannelTypeQualifiers::empty(),
            sample_positions: [0; 4],
            lower: 0,
            upper: u32::MAX,
        }],
    };
    let packed: Vec<Vec<u8>> =
        texture.levels.iter().map(|level| zstd::bulk::compress(level, ZSTD_LEVEL)).collect::<Result<_, _>>().ok()?;
    let levels: Vec<_> =
        packed.iter().zip(texture.levels).map(|(data, unpacked)| MipLevel { data, unpacked: unpacked.len() }).collect();
    let contents = Contents {
        format: None,
        type_size: 1,
        size: texture.size,
        layers: texture.layers,
        faces: 1,
        scheme: Some(SupercompressionScheme::Zstandard),
        align: 1,
        levels: &levels,
    };
    Some(file(&contents, basic, value).bytes)
}

/// A mip level as stored in the file.
struct MipLevel<'a, L> {
    data: &'a L,
    /// Bytes before supercompression.
    unpacked: usize,
}

/// Content of a file except descriptor and key/value data.
struct Contents<'a, L> {
    format: Option<Format>,
    type_size: u32,
    size: [u32; 2],
    layers: u32,
    faces: u32,
    scheme: Option<SupercompressionScheme>,
    /// Alignment of mip levels in bytes.
    align: usize,
    levels: &'a [MipLevel<'a, L>],
}

fn file<L: LevelBytes>(texture: &Contents<'_, L>, basic: Basic, value: &[u8]) -> Ktx2 {
    let block = Block::Basic(basic).to_vec();
    let mut descriptor = (block.len() as u32 + 4).to_le_bytes().to_vec();
    descriptor.extend(block);

    // Keys are sorted by their bytes; text values end with NUL (section 3.11).
    let mut pairs = entry("KTXwriter", &[WRITER.as_bytes(), &[0]].concat());
    let value_in_pairs = pairs.len() + 4 + KEY.len() + 1;
    pairs.extend(entry(KEY, value));

    let descriptor_at = Header::LENGTH + texture.levels.len() * LevelIndex::LENGTH;
    let pairs_at = descriptor_at + descriptor.len();
    let mut end = pairs_at + pairs.len();
    let mut index =
        vec![LevelIndex { byte_offset: 0, byte_length: 0, uncompressed_byte_length: 0 }; texture.levels.len()];
    for (level, entry) in texture.levels.iter().zip(&mut index).rev() {
        let at = end.next_multiple_of(texture.align);
        *entry = LevelIndex {
            byte_offset: at as u64,
            byte_length: level.data.len() as u64,
            uncompressed_byte_length: level.unpacked as u64,
        };
        end = at + level.data.len();
    }

    let header = Header {
        format: texture.format,
        type_size: texture.type_size,
        pixel_width: texture.size[0],
        pixel_height: texture.size[1],
        pixel_depth: 0,
        layer_count: if texture.layers > 1 { texture.layers } else { 0 },
        face_count: texture.faces,
        level_count: texture.levels.len() as u32,
        supercompression_scheme: texture.scheme,
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
        level.data.append_to(&mut bytes);
    }
    let levels = index.iter().map(|e| ByteRange { offset: e.byte_offset, len: e.byte_length }).collect();
    Ktx2 { bytes, levels, value_at: (pairs_at + value_in_pairs) as u64 }
}

/// Returns a key/value entry: length, key, NUL, value, padding to four bytes.
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
    fn written_file_is_read_by_the_ktx2_crate() {
        for (format, texel_bytes, layers) in
            [(Format::R16G16B16A16_SFLOAT, 8, 1), (Format::R32G32B32A32_SFLOAT, 16, 3), (Format::R8G8B8A8_SRGB, 4, 1)]
        {
            let level = |scale: usize, fill| vec![fill; 8 * 4 / scale / scale * texel_bytes * layers as usize];
            let levels = [level(1, 1), level(2, 2)];
            let texture = TextureFile { format, texel_bytes, width: 8, height: 4, layers, faces: 1, levels: &levels };
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
