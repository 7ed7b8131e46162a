//! Files of a texture in the block-compressed formats of devices.
//!
//! Distinct blocks are encoded in chunks of a fixed size, so the result does not depend on the
//! number of threads.

use gpuskin_rt::internals::{ColorFormat, ColorTexture};

use crate::cache::Cache;
#[cfg(feature = "textures")]
use crate::cache::EntryKind;
use crate::container::Ktx2;
#[cfg(feature = "textures")]
use crate::container::LevelBytes;
use crate::diagnostic::Diagnostic;
#[cfg(feature = "textures")]
use crate::diagnostic::DiagnosticCode;
use crate::manifest::Textures;

/// An encoded texture.
#[derive(Debug, Default)]
pub struct EncodedFiles {
    /// A file per requested block-compressed format, in the requested order, with zeros in the place of the content hash.
    pub formats: Vec<(ColorFormat, Ktx2)>,
    /// Mip levels as UASTC, if requested.
    pub universal: Option<Vec<Vec<u8>>>,
}

/// Encodes a texture in all requested formats except RGBA8. `levels`: sizes and texels of its mip levels, largest first, each
/// with its layers one after the other.
#[cfg(feature = "textures")]
pub fn encode<'a>(
    levels: impl IntoIterator<Item = ([u32; 2], &'a [u8])>,
    info: &ColorTexture,
    textures: &Textures,
    cache: Option<&Cache>,
) -> Result<EncodedFiles, Diagnostic> {
    use super::basis::{self, EtcHints};
    use super::blocks::Blocks;
    use super::file;
    use rayon::prelude::*;

    let compressed: Vec<ColorFormat> =
        textures.formats.iter().copied().filter(|format| *format != ColorFormat::Rgba8).collect();
    if compressed.is_empty() && !textures.universal {
        return Ok(EncodedFiles::default());
    }
    let failed = |why: &str| Diagnostic::error(DiagnosticCode::ImageEncoder, why);
    let blocks = Blocks::of(levels);
    // Universal files can be transcoded to ETC2 elsewhere.
    let etc = textures.universal || compressed.contains(&ColorFormat::Etc2);
    let hints = if etc { EtcHints::Good } else { EtcHints::Poor };

    let mut key = blake3::Hasher::new();
    key.update(format!("{}, {hints:?}\n", basis::VERSION).as_bytes());
    key.update(blocks.distinct.as_flattened());
    let key = key.finalize();
    let len = blocks.distinct.len() * 16;
    let kept = cache.and_then(|cache| cache.get(EntryKind::Color, &key, len as u64)).filter(|kept| kept.len() == len);
    let uastc = match kept {
        Some(kept) => kept.as_chunks::<16>().0.to_vec(),
        None => {
            let chunks = blocks.distinct.par_chunks(basis::CHUNK).map(|chunk| basis::encode(chunk, hints));
            let chunks: Vec<_> = chunks.collect::<Result<_, _>>().map_err(failed)?;
            let made = chunks.concat();
            if let Some(cache) = cache {
                cache.put(EntryKind::Color, &key, made.as_flattened());
            }
            made
        }
    };
    let layers = info.layers as usize;
    let mut result = EncodedFiles::default();
    for format in compressed {
        if let Some(encoded) = basis::transcode(&uastc, format).map_err(failed)? {
            result.formats.push((format, file::write(info, format, &blocks.levels(layers, &encoded))));
        }
    }
    result.universal =
        textures.universal.then(|| blocks.levels(layers, &uastc).iter().map(LevelBytes::to_vec).collect());
    Ok(result)
}

/// Fails for every format except RGBA8.
#[cfg(not(feature = "textures"))]
pub fn encode<'a>(
    _levels: impl IntoIterator<Item = ([u32; 2], &'a [u8])>,
    _info: &ColorTexture,
    textures: &Textures,
    _cache: Option<&Cache>,
) -> Result<EncodedFiles, Diagnostic> {
    if textures.universal || textures.formats.iter().any(|format| *format != ColorFormat::Rgba8) {
        return Err(crate::manifest::needs_feature());
    }
    Ok(EncodedFiles::default())
}
