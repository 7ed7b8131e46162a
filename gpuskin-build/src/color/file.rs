//! KTX2 file of a texture in one format.

use gpuskin_rt::internals::{ColorFormat, ColorTexture};
use ktx2::Format;

use crate::container::{self, HASH_LEN, Ktx2, LevelBytes};

/// Writes the mip levels of a texture, largest first, with zeros in the place of the content hash.
pub fn write<L: LevelBytes>(info: &ColorTexture, format: ColorFormat, levels: &[L]) -> Ktx2 {
    let texture = container::TextureFile {
        format: vulkan(format, info.srgb),
        texel_bytes: format.block_bytes() as usize,
        width: info.width,
        height: info.height,
        layers: info.layers,
        faces: 1,
        levels,
    };
    container::write(&texture, &[0; HASH_LEN])
}

pub(super) fn vulkan(format: ColorFormat, srgb: bool) -> Format {
    Format::new(format.vulkan(srgb)).expect("a number of Vulkan is not 0")
}
