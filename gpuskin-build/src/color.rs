//! Textures of materials, with their mip levels, in the formats that the manifest names.
//!
//! | function or module | input | output |
//! |---|---|---|
//! | [`plan`] | materials of the source | materials for the runtime, and the textures that they use |
//! | `enlarge` | the smaller of two images that share a texture | its texels in the size of the other one |
//! | `mips` | an image | its mip levels |
//! | `coverage` | mip levels of an alpha mask | levels that show the same share of their texels |
//! | `blocks` | mip levels | distinct blocks of 4 x 4 texels |
//! | `encode` | blocks | mip levels in every format, from the cache if possible |

#[cfg(feature = "textures")]
mod basis;
#[cfg(feature = "textures")]
mod blocks;
mod coverage;
mod encode;
mod enlarge;
mod mips;
mod plan;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use gpuskin_rt::internals::{ColorFormat, ColorTexture};
use ktx2::Format;
use rayon::prelude::*;

use crate::cache::Cache;
use crate::container::{self, Ktx2};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics};
use crate::manifest::Textures;
use crate::model::Model;
pub(crate) use mips::to_linear;
use mips::{MipFilter, mips};
pub use plan::{PlannedTexture, plan};

/// A texture in all its formats.
#[derive(Debug)]
pub struct BakedTexture {
    /// Description for the runtime.
    pub info: ColorTexture,
    /// Encoded mip levels: `[format][level]`.
    files: Vec<Vec<Vec<u8>>>,
    /// Mip levels as UASTC, if a universal file is wanted.
    universal: Option<Vec<Vec<u8>>>,
    /// Whether a texel is not opaque.
    alpha: bool,
}

/// Bakes the textures of a model.
pub fn bake(
    model: &Model,
    planned: &[PlannedTexture],
    textures: &Textures,
    cache: Option<&Cache>,
    diagnostics: &mut Diagnostics,
) -> Vec<BakedTexture> {
    let results: Vec<_> = planned.par_iter().map(|planned| texture(model, planned, textures, cache)).collect();
    let mut all = Vec::with_capacity(results.len());
    let mut said = BTreeSet::new();
    for (planned, result) in planned.iter().zip(results) {
        let within =
            |diagnostic: Diagnostic| diagnostic.within(planned.name(model)).within(format!("model `{}`", model.name));
        match result {
            Ok((baked, warning)) => {
                all.push(baked);
                // Several textures may have one image.
                let warning = warning.map(within).filter(|warning| said.insert(warning.message().to_owned()));
                warning.into_iter().for_each(|warning| diagnostics.push(warning));
            }
            Err(error) => diagnostics.push(within(error)),
        }
    }
    all
}

fn texture(
    model: &Model,
    planned: &PlannedTexture,
    textures: &Textures,
    cache: Option<&Cache>,
) -> Result<(BakedTexture, Option<Diagnostic>), Diagnostic> {
    let size = planned.size(model);
    let (mut alpha, layers) = (false, planned.layers());
    // [layer][level]
    let images: Vec<Vec<Vec<u8>>> = (0..layers)
        .map(|layer| {
            let rgba = planned.texels(model, layer);
            alpha |= rgba.as_chunks::<4>().0.iter().any(|texel| texel[3] != 255);
            let mut levels = mips(planned.kind, size, rgba);
            if let Some(least) = planned.least_alpha {
                coverage::keep_coverage(&mut levels, least);
            }
            levels
        })
        .collect();
    let levels = images.first().map_or(0, Vec::len);
    let mut info = ColorTexture {
        width: size[0],
        height: size[1],
        levels: levels as u32,
        layers: layers as u32,
        srgb: planned.kind == MipFilter::Light,
        formats: textures.formats.clone().into(),
    };
    // wgpu and WebGPU only support block-compressed textures of whole blocks.
    let fits = |format: &ColorFormat| size.iter().all(|side| side.is_multiple_of(format.block_side()));
    let mut wanted = Textures { formats: textures.formats.clone(), universal: textures.universal };
    let mut warning = None;
    if !wanted.formats.iter().all(fits) {
        let [width, height] = size;
        let message =
            format!("{width} x {height} texels do not divide into blocks of 4 x 4: the texture is baked as rgba8 only");
        warning = Some(
            Diagnostic::warning(DiagnosticCode::ImageBlocks, message)
                .help("scale the image to multiples of 4, or use `textures = [\"rgba8\"]`"),
        );
        info.formats = vec![ColorFormat::Rgba8].into();
        wanted.formats = info.formats.to_vec();
    }
    let sized = (0..levels).flat_map(|level| {
        let size = info.level_size(level as u32);
        images.iter().map(move |image| (size, &image[level][..]))
    });
    let encode::EncodedLevels { mut formats, universal } = encode::encode(sized, &wanted, cache)?;
    // A level has its layers one after the other.
    let joined = |images: Vec<Vec<u8>>| match layers {
        1 => images,
        _ => images.chunks(layers).map(<[Vec<u8>]>::concat).collect(),
    };
    let mut plain = Some(images);
    let files = info.formats.iter().map(|format| match formats.iter_mut().find(|(made, _)| made == format) {
        Some((_, levels)) => joined(std::mem::take(levels)),
        None => plain.take().map_or_else(Vec::new, by_level),
    });
    let files = files.collect();
    let universal = universal.map(joined);
    Ok((BakedTexture { files, info, universal, alpha }, warning))
}

/// Returns the mip levels of all layers, each with its layers one after the other. `images`: mip levels of each layer.
fn by_level(images: Vec<Vec<Vec<u8>>>) -> Vec<Vec<u8>> {
    match <[_; 1]>::try_from(images) {
        Ok([levels]) => levels,
        Err(images) => {
            let levels = images.first().map_or(0, Vec::len);
            let of = |level: usize| images.iter().map(|image| &image[level][..]).collect::<Vec<_>>();
            (0..levels).map(|level| of(level).concat()).collect()
        }
    }
}

impl BakedTexture {
    /// Returns all encoded bytes, for the content hash.
    pub fn bytes(&self) -> impl Iterator<Item = &[u8]> {
        self.files.iter().chain(&self.universal).flatten().map(Vec::as_slice)
    }

    /// Returns one file per format, with the name of the format.
    pub fn files(&self, content_hash: &[u8]) -> impl Iterator<Item = (&'static str, Ktx2)> {
        self.info.formats.iter().zip(&self.files).map(|(format, levels)| {
            let texture = container::TextureFile {
                format: vulkan(*format, self.info.srgb),
                texel_bytes: format.block_bytes() as usize,
                width: self.info.width,
                height: self.info.height,
                layers: self.info.layers,
                faces: 1,
                levels,
            };
            (format.name(), container::write(&texture, content_hash))
        })
    }

    /// Returns the universal file, if it is wanted.
    pub fn universal(&self, content_hash: &[u8]) -> Option<Vec<u8>> {
        #[cfg(feature = "textures")]
        {
            let ColorTexture { width, height, layers, srgb, .. } = self.info;
            let levels = self.universal.as_ref()?;
            let texture =
                container::UniversalTexture { size: [width, height], layers, srgb, alpha: self.alpha, levels };
            container::write_universal(&texture, content_hash)
        }
        #[cfg(not(feature = "textures"))]
        {
            let _ = (content_hash, self.alpha);
            None
        }
    }
}

fn vulkan(format: ColorFormat, srgb: bool) -> Format {
    Format::new(format.vulkan(srgb)).expect("a number of Vulkan is not 0")
}
