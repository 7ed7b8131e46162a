//! Textures: a whole bake without a cache, compared with the encoder library alone on the same
//! images, with as many threads.
#![allow(unsafe_code, reason = "the library is called as its documentation says")]

use std::collections::BTreeSet;
use std::path::Path;

use basis_universal::encoding::{ColorSpace, Compressor, CompressorParams};
use basis_universal::transcoding::{TranscodeParameters, Transcoder, TranscoderTextureFormat};
use basis_universal::{BasisTextureFormat, sys};
use gpuskin_build::internals::import::{Pixels, import};
use gpuskin_build::internals::model::Image;
use gpuskin_build::{BakeOptions, Cache, Diagnostics, Manifest, bake};

use crate::Options;
use crate::bake::find_models;
use crate::context::text;
use crate::report::{heading, line, seconds};

pub(crate) fn measure(options: &Options) -> Result<(), String> {
    heading("textures: UASTC level 2 with mips, to BC7 and ASTC");
    let manifest = Manifest::load(&options.manifest).map_err(|findings| text(&findings))?;
    compare("the sample manifest", &manifest)?;
    let Some(folder) = &options.models else { return Ok(()) };
    compare("the folder of models", &all_of(folder)?)
}

/// Manifest of all models of a folder that can be baked.
fn all_of(folder: &Path) -> Result<Manifest, String> {
    let mut files = Vec::new();
    find_models(folder, &mut files).map_err(|e| format!("{}: {e}", folder.display()))?;
    files.sort();
    let path = folder.join("gpuskin.toml");
    let mut all = String::new();
    for (n, file) in files.iter().enumerate() {
        let model = format!("[[model]]\nname = \"m{n}\"\npath = '{}'\n", file.display());
        let manifest = Manifest::parse(&path, model.clone()).map_err(|findings| text(&findings))?;
        if bake(&manifest, &BakeOptions { skip_errors: true, ..Default::default() }).is_ok() {
            all += &model;
        }
    }
    Manifest::parse(&path, all).map_err(|findings| text(&findings))
}

fn compare(name: &str, manifest: &Manifest) -> Result<(), String> {
    let mut images = Vec::new();
    for entry in &manifest.models {
        let (mut findings, mut inputs) = (Diagnostics::default(), BTreeSet::new());
        let model = import(manifest, entry, Pixels::Decode, &mut findings, &mut inputs);
        images.extend(model.ok_or_else(|| text(&findings))?.images);
    }
    let texels: usize = images.iter().map(|image| image.rgba.len() / 4).sum();
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()) as u32;
    let (library, bytes) = seconds(|| images.iter().map(|image| encode(image, threads)).sum::<usize>());
    let (baking, baked) = seconds(|| bake(manifest, &BakeOptions::default()));
    let baked = baked.map_err(|failed| text(&failed.diagnostics))?;
    let made: usize = baked.files.iter().filter(|(name, _)| name.contains("/color-")).map(|(_, file)| file.len()).sum();
    let folder = std::env::temp_dir().join(format!("gpuskin-bench-cache-{}", std::process::id()));
    let cached = || bake(manifest, &BakeOptions { cache: Some(&Cache::new(&folder)), ..Default::default() });
    let _ = cached();
    let (warm, _) = seconds(cached);
    let _ = std::fs::remove_dir_all(&folder);
    line(name, format!("{} images, {:.2} Mtexel, {threads} threads", images.len(), texels as f64 / 1e6));
    line("  the library alone", format!("{:8.1} ms  {:8.1} KiB", library * 1e3, bytes as f64 / 1024.0));
    line("  the whole bake", format!("{:8.1} ms  {:8.1} KiB of textures", baking * 1e3, made as f64 / 1024.0));
    line("  with the cache filled", format!("{:8.1} ms", warm * 1e3));
    line("  bake over the library alone", format!("{:.2} x", baking / library));
    Ok(())
}

/// Encodes an image with the library alone. Returns the bytes of BC7 and ASTC.
fn encode(image: &Image, threads: u32) -> usize {
    assert_eq!(image.rgba.len(), image.width as usize * image.height as usize * 4);
    let file = compress(&image.rgba, [image.width, image.height], ColorSpace::Srgb, threads);
    [TranscoderTextureFormat::BC7_RGBA, TranscoderTextureFormat::ASTC_4x4_RGBA]
        .into_iter()
        .map(|format| transcode(&file, format).iter().map(Vec::len).sum::<usize>())
        .sum()
}

/// Compresses texels to a UASTC file at level 2, with mip levels if they are colours.
pub(crate) fn compress(rgba: &[u8], [width, height]: [u32; 2], space: ColorSpace, threads: u32) -> Vec<u8> {
    let mut params = CompressorParams::new();
    params.set_basis_format(BasisTextureFormat::UASTC4x4);
    params.set_color_space(space);
    params.set_generate_mipmaps(matches!(space, ColorSpace::Srgb));
    let flags = sys::UastcPackFlags_PackUASTCLevelDefault | sys::UastcPackFlags_PackUASTCETC1FastestHints;
    // SAFETY: the pointer is that of `params`, which outlives the call.
    unsafe { sys::compressor_params_set_pack_uastc_flags(params.0, flags) };
    params.source_image_mut(0).init(rgba, width, height, 4);
    let mut compressor = Compressor::new(threads);
    // SAFETY: the parameters hold an image of the size that its texels have.
    let made = unsafe { compressor.init(&params) && compressor.process().is_ok() };
    assert!(made, "the library encodes {width} x {height}");
    compressor.basis_file().to_vec()
}

/// Transcodes the mip levels of a UASTC file.
pub(crate) fn transcode(file: &[u8], format: TranscoderTextureFormat) -> Vec<Vec<u8>> {
    let mut transcoder = Transcoder::new();
    transcoder.prepare_transcoding(file).expect("its own file");
    let level = |level_index| {
        let level = TranscodeParameters { level_index, ..Default::default() };
        transcoder.transcode_image_level(file, format, level).expect("its own file")
    };
    let levels = (0..transcoder.image_level_count(file, 0)).map(level).collect();
    transcoder.end_transcoding();
    levels
}
