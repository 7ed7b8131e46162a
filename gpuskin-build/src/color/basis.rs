//! Basis Universal: encodes blocks as UASTC, and transcodes UASTC to the formats of devices.
//!
//! The only module that calls `basis-universal`, most of whose functions do not check their
//! arguments. It is sound because:
//!
//! - Images are created from slices whose length is computed here; no pointer to them is kept.
//! - Only blocks that [`encode`] made, or that the cache returned with a valid checksum, are transcoded.
//! - Settings are made through `basis-universal-sys`, because the crate's own setter of the quality level ORs with the default.
//! - Both initialisations of the library run first, under one lock, because they write the same tables.
#![allow(unsafe_code, reason = "the functions of the library are unsafe")]

use std::sync::Once;

use basis_universal::BasisTextureFormat;
use basis_universal::encoding::{Compressor, CompressorParams, encoder_init};
use basis_universal::sys;
use basis_universal::transcoding::{
    DecodeFlags, LowLevelUastcTranscoder, SliceParametersUastc, TranscoderBlockFormat, transcoder_init,
};
use gpuskin_rt::internals::ColorFormat;

use super::blocks::{BlockTexels, EncodedBlock};

/// Part of the cache key, in addition to the blocks. Change it with the version of the crate and
/// with the settings here.
pub const VERSION: &str = "basis-universal 0.3.1, UASTC level 2";
/// Maximum number of blocks per call: an image of `ACROSS` blocks per row.
pub const CHUNK: usize = 4096;
const ACROSS: usize = 64;
/// Bytes before the blocks in a `.basis` file with one image: header and one slice descriptor.
const OVERHEAD: usize = 77 + 23;

/// Effort for the part of UASTC that is only used to make ETC2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EtcHints {
    /// Little effort, for files that are not transcoded to ETC2. Takes half the time and gives the
    /// same texels.
    Poor,
    /// The default effort of the library.
    Good,
}

fn initialise() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        encoder_init();
        transcoder_init();
    });
}

/// Encodes at most [`CHUNK`] blocks as UASTC.
pub fn encode(blocks: &[BlockTexels], hints: EtcHints) -> Result<Vec<EncodedBlock>, &'static str> {
    let Some(last) = blocks.last().filter(|_| blocks.len() <= CHUNK) else { return Ok(Vec::new()) };
    initialise();
    let down = blocks.len().div_ceil(ACROSS);
    let (width, height) = (ACROSS * 4, down * 4);
    let mut rgba = vec![0; width * height * 4];
    for index in 0..ACROSS * down {
        let block = blocks.get(index).unwrap_or(last);
        for (y, row) in block.as_chunks::<16>().0.iter().enumerate() {
            let at = ((index / ACROSS * 4 + y) * width + index % ACROSS * 4) * 4;
            rgba[at..at + 16].copy_from_slice(row);
        }
    }

    let flags = sys::UastcPackFlags_PackUASTCLevelDefault
        | match hints {
            EtcHints::Poor => sys::UastcPackFlags_PackUASTCETC1FastestHints,
            EtcHints::Good => 0,
        };
    let mut params = CompressorParams::new();
    params.set_basis_format(BasisTextureFormat::UASTC4x4);
    // SAFETY: `params` holds a live pointer until it is dropped at the end of this function.
    unsafe { sys::compressor_params_set_pack_uastc_flags(params.0, flags) };
    // The image is copied. `rgba` has four channels for `width` times `height` texels, which is
    // what the call reads.
    params.source_image_mut(0).init(&rgba, width as u32, height as u32, 4);

    // One thread per call: callers encode several chunks in parallel.
    let mut compressor = Compressor::new(1);
    // SAFETY: the parameters contain one image of the stated size, and live until the compressor
    // has used them.
    if !unsafe { compressor.init(&params) } {
        return Err("basis-universal rejected the image");
    }
    // SAFETY: the compressor is initialised. The crate's `process` is not used, because it converts
    // unknown error numbers to an enum.
    let result = unsafe { sys::compressor_process(compressor.0) };
    if result != sys::basisu_basis_compressor_error_code_cECSuccess {
        return Err("basis-universal could not encode the image");
    }
    let file = compressor.basis_file();
    if file.len() != OVERHEAD + ACROSS * down * 16 {
        return Err("basis-universal wrote an unknown file layout");
    }
    let (encoded, _) = file[OVERHEAD..].as_chunks::<16>();
    Ok(encoded[..blocks.len()].to_vec())
}

/// Transcodes UASTC made by [`encode`] to a block format. Returns `None` for a format without
/// blocks.
pub fn transcode(uastc: &[EncodedBlock], format: ColorFormat) -> Result<Option<Vec<EncodedBlock>>, &'static str> {
    let format = match format {
        ColorFormat::Rgba8 => return Ok(None),
        ColorFormat::Bc7 => TranscoderBlockFormat::BC7,
        ColorFormat::Astc => TranscoderBlockFormat::ASTC_4x4,
        ColorFormat::Etc2 => TranscoderBlockFormat::ETC2_RGBA,
    };
    initialise();
    let transcoder = LowLevelUastcTranscoder::new();
    let mut all = Vec::with_capacity(uastc.len());
    for chunk in uastc.chunks(CHUNK) {
        let count = chunk.len() as u32;
        // One row of blocks.
        let slice = SliceParametersUastc {
            num_blocks_x: count,
            num_blocks_y: 1,
            has_alpha: true,
            original_width: count * 4,
            original_height: 4,
        };
        let made = transcoder.transcode_slice(chunk.as_flattened(), slice, DecodeFlags::empty(), format);
        let made = made.map_err(|_| "basis-universal could not transcode its own output")?;
        match made.as_chunks::<16>() {
            (blocks, []) if blocks.len() == chunk.len() => all.extend_from_slice(blocks),
            _ => return Err("basis-universal transcoded to an unexpected size"),
        }
    }
    Ok(Some(all))
}
