//! Basis Universal: blocks to UASTC, and UASTC to the formats of devices.
//!
//! The one module that talks to `basis-universal`, most of whose functions trust their callers. What makes that sound here:
//!
//! - Images are made and filled from slices whose length is computed beside them; nothing keeps a pointer to them.
//! - Only blocks that [`encode`] made, or that a cache gave back under their checksum, are transcoded.
//! - Settings go through `basis-universal-sys`: the crate's own setter of the quality level ORs with the default.
//! - Both of the library's initialisations run before anything else, under one lock: they write the same tables.
#![allow(unsafe_code, reason = "the library's functions are")]

use std::sync::Once;

use basis_universal::BasisTextureFormat;
use basis_universal::encoding::{Compressor, CompressorParams, encoder_init};
use basis_universal::sys;
use basis_universal::transcoding::{
    DecodeFlags, LowLevelUastcTranscoder, SliceParametersUastc, TranscoderBlockFormat, transcoder_init,
};
use gpuskin_rt::ColorFormat;

use super::blocks::{EncodedBlock, BlockTexels};

/// What a result depends on beside the blocks. Change it with the crate's version and with what is set here.
pub const VERSION: &str = "basis-universal 0.3.1, UASTC level 2";
/// Blocks of one call: an image as wide as `ACROSS` of them.
pub const CHUNK: usize = 4096;
const ACROSS: usize = 64;
/// A `.basis` file of one image: header and one slice descriptor, then the blocks.
const OVERHEAD: usize = 77 + 23;

/// How much is invested in the part of UASTC that only ETC2 is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EtcHints {
    /// Little: nobody will make ETC2 of it. Half of the time is saved, the texels are the same.
    Poor,
    /// As much as the library does by itself.
    Good,
}

fn initialise() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        encoder_init();
        transcoder_init();
    });
}

/// Blocks to UASTC, at most [`CHUNK`] of them.
pub fn encode(blocks: &[BlockTexels], hints: EtcHints) -> Result<Vec<EncodedBlock>, &'static str> {
    let Some(last) = blocks.last().filter(|_| blocks.len() <= CHUNK) else { return Ok(Vec::new()) };
    initialise();
    let down = blocks.len().div_ceil(ACROSS);
    let (width, height) = (ACROSS * 4, down * 4);
    let mut rgba = vec![0; width * height * 4];
    for index in 0..ACROSS * down {
        let block = blocks.get(index).unwrap_or(last);
        for (y, row) in block.chunks_exact(16).enumerate() {
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
    // The image is copied: `rgba` has the four channels of `width` times `height` texels that the call reads.
    params.source_image_mut(0).init(&rgba, width as u32, height as u32, 4);

    // One thread: callers have chunks for others.
    let mut compressor = Compressor::new(1);
    // SAFETY: the parameters hold one image of the size that its texels have, and outlive the compressor's use of them.
    if !unsafe { compressor.init(&params) } {
        return Err("basis-universal refuses the image");
    }
    // SAFETY: the compressor is initialised. Not the crate's `process`: it makes an enum of any error number.
    let result = unsafe { sys::compressor_process(compressor.0) };
    if result != sys::basisu_basis_compressor_error_code_cECSuccess {
        return Err("basis-universal cannot encode the image");
    }
    let file = compressor.basis_file();
    if file.len() != OVERHEAD + ACROSS * down * 16 {
        return Err("basis-universal writes another layout than it is known for");
    }
    let (encoded, _) = file[OVERHEAD..].as_chunks::<16>();
    Ok(encoded[..blocks.len()].to_vec())
}

/// UASTC of [`encode`] to blocks of a format; `None` for one without blocks.
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
        // A row of blocks: as many as the slice has.
        let slice = SliceParametersUastc {
            num_blocks_x: count,
            num_blocks_y: 1,
            has_alpha: true,
            original_width: count * 4,
            original_height: 4,
        };
        let made = transcoder.transcode_slice(chunk.as_flattened(), slice, DecodeFlags::empty(), format);
        let made = made.map_err(|_| "basis-universal cannot transcode what it encoded")?;
        match made.as_chunks::<16>() {
            (blocks, []) if blocks.len() == chunk.len() => all.extend_from_slice(blocks),
            _ => return Err("basis-universal transcodes to another size than it is known for"),
        }
    }
    Ok(Some(all))
}
