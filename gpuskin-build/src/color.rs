//! Textures of materials, with their mip levels, in the formats that the manifest names.
//!
//! | function or module | input | output |
//! |---|---|---|
//! | [`plan`] | materials of the source | materials for the runtime, and the textures that they use |
//! | `enlarge` | the smaller of two images that share a texture, or one that has no whole blocks | its texels in a larger size |
//! | `mips` | an image | its mip levels |
//! | `coverage` | mip levels of an alpha mask | levels that show the same share of their texels |
//! | `blocks` | mip levels | distinct blocks of 4 x 4 texels |
//! | `encode` | blocks | files in every format, from the cache if possible |
//! | `file` | mip levels | a KTX2 file |

#[cfg(feature = "textures")]
mod basis;
#[cfg(feature = "textures")]
mod blocks;
mod coverage;
mod encode;
mod enlarge;
mod file;
mod mips;
mod plan;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeSet;

use gpuskin_rt::internals::{ColorFormat, ColorTexture};
use rayon::prelude::*;

use crate::cache::Cache;
use crate::container::{HASH_LEN, Ktx2, LevelBytes};
#[cfg(feature = "textures")]
use crate::container::{UniversalTexture, write_universal};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics};
use crate::manifest::Textures;
use crate::model::Model;
use enlarge::enlarged;
pub(crate) use mips::to_linear;
use mips::{MipFilter, smaller_mips};
use plan::WholeBlocks;
pub use plan::{PlannedTexture, plan};

/// A texture in all its formats.
#[derive(Debug)]
pub struct BakedTexture {
    /// Description for the runtime.
    pub info: ColorTexture,
    /// A file per format, with zeros in the place of the content hash.
    files: Vec<Ktx2>,
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
    let source_size = planned.size(model);
    let [width, height] = source_size;
    // wgpu and WebGPU only support block-compressed textures of whole blocks.
    let fits = |format: &ColorFormat| source_size.iter().all(|side| side.is_multiple_of(format.block_side()));
    let is_uneven = !textures.formats.iter().all(fits);
    let layers = planned.layers();
    let texels: Vec<Cow<'_, [u8]>> = (0..layers).map(|layer| planned.texels(model, layer)).collect();
    let enlarged = is_uneven.then(|| planned.whole_blocks(source_size, &texels)).flatten();
    let size = enlarged.map_or(source_size, |larger| larger.size);
    let images: Vec<ImageLevels<'_>> =
        texels.into_iter().map(|texels| ImageLevels::new(planned, (texels, source_size), enlarged)).collect();
    let alpha = images.iter().any(|image| image.first.as_chunks::<4>().0.iter().any(|texel| texel[3] != 255));
    let levels = images.first().map_or(0, |image| 1 + image.smaller.len());
    let mut info = ColorTexture {
        width: size[0],
        height: size[1],
        levels: levels as u32,
        layers: layers as u32,
        srgb: planned.kind == MipFilter::Light,
        formats: textures.formats.clone().into(),
    };
    let mut wanted = Textures { formats: textures.formats.clone(), universal: textures.universal };
    if is_uneven && enlarged.is_none() {
        info.formats = vec![ColorFormat::Rgba8].into();
        wanted.formats = info.formats.to_vec();
    }
    let is_exact = enlarged.is_some_and(|larger| larger.is_exact);
    let warning = (is_uneven && !is_exact).then(|| {
        let instead = match enlarged {
            Some(WholeBlocks { size: [width, height], .. }) => format!("enlarged to {width} x {height}"),
            None => "baked as rgba8 only".to_owned(),
        };
        let message = format!("{width} x {height} texels do not divide into blocks of 4 x 4: the texture is {instead}");
        Diagnostic::warning(DiagnosticCode::ImageBlocks, message)
            .help("scale the image to multiples of 4, or use `textures = [\"rgba8\"]`")
    });
    let plain: Vec<PlainLevel<'_>> =
        (0..levels).map(|level| PlainLevel(images.iter().map(|image| image.level(level)).collect())).collect();
    let sized = plain.iter().enumerate().flat_map(|(level, layers)| {
        let size = info.level_size(level as u32);
        layers.0.iter().map(move |texels| (size, *texels))
    });
    let encode::EncodedFiles { mut formats, universal } = encode::encode(sized, &info, &wanted, cache)?;
    let files = info.formats.iter().map(|format| match formats.iter().position(|(made, _)| made == format) {
        Some(made) => formats.swap_remove(made).1,
        None => file::write(&info, *format, &plain),
    });
    let files = files.collect();
    Ok((BakedTexture { files, info, universal, alpha }, warning))
}

/// RGBA8 mip levels of a layer.
struct ImageLevels<'m> {
    first: Cow<'m, [u8]>,
    /// All other levels, largest first.
    smaller: Vec<Vec<u8>>,
}

impl<'m> ImageLevels<'m> {
    /// `first`, `size`: texels of the layer, and its width and height. `larger`: how it is enlarged.
    fn new(
        planned: &PlannedTexture,
        (mut first, mut size): (Cow<'m, [u8]>, [u32; 2]),
        larger: Option<WholeBlocks>,
    ) -> Self {
        if let Some(larger) = larger {
            first = enlarged(planned.kind, (&first, size), larger.size, larger.sampling).into();
            size = larger.size;
        }
        let mut smaller = smaller_mips(planned.kind, size, &first);
        if let Some(least) = planned.least_alpha {
            coverage::keep_coverage(&first, &mut smaller, least);
        }
        Self { first, smaller }
    }

    fn level(&self, level: usize) -> &[u8] {
        level.checked_sub(1).map_or(&*self.first, |level| &self.smaller[level])
    }
}

/// RGBA8 mip level, by layers.
struct PlainLevel<'a>(Vec<&'a [u8]>);

impl LevelBytes for PlainLevel<'_> {
    fn len(&self) -> usize {
        self.0.iter().map(|layer| layer.len()).sum()
    }

    fn append_to(&self, file: &mut Vec<u8>) {
        self.0.iter().for_each(|layer| file.extend_from_slice(layer));
    }
}

impl BakedTexture {
    /// Returns all encoded bytes, for the content hash.
    pub fn bytes(&self) -> impl Iterator<Item = &[u8]> {
        self.files.iter().flat_map(Ktx2::levels).chain(self.universal.iter().flatten().map(Vec::as_slice))
    }

    /// Returns the universal file, if it is wanted.
    pub fn universal(&self, content_hash: &[u8; HASH_LEN]) -> Option<Vec<u8>> {
        #[cfg(feature = "textures")]
        {
            let ColorTexture { width, height, layers, srgb, .. } = self.info;
            let levels = self.universal.as_ref()?;
            let texture = UniversalTexture { size: [width, height], layers, srgb, alpha: self.alpha, levels };
            write_universal(&texture, content_hash)
        }
        #[cfg(not(feature = "textures"))]
        {
            let _ = (content_hash, self.alpha);
            None
        }
    }

    /// Returns one file per format, with the name of the format.
    pub fn into_files(self, content_hash: &[u8; HASH_LEN]) -> impl Iterator<Item = (&'static str, Ktx2)> {
        let Self { info, files, .. } = self;
        files.into_iter().enumerate().map(move |(n, mut file)| {
            file.set_value(content_hash);
            (info.formats[n].name(), file)
        })
    }
}
