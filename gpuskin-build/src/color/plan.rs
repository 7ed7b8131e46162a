//! Textures of a model: one per image and use, shared by all materials.

use std::borrow::Cow;

use gpuskin_rt::internals::{Material, MaterialTexture, Wrap};

use super::coverage;
use super::enlarge::{Sampling, enlarged};
use super::mips::MipFilter;
use crate::model::{Model, Texture};

/// Sides of an image, in texels, from which it may be enlarged to whole blocks.
const LEAST_ENLARGED: u32 = 128;

/// A texture to bake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTexture {
    source: TexelSource,
    /// Meaning of its values.
    pub(super) kind: MipFilter,
    /// Least alpha of a texel that is drawn, 1..=255, if alpha is a mask: mip levels keep its coverage.
    pub(super) least_alpha: Option<u8>,
    /// How smaller images are enlarged; `None` if all have one size.
    enlarging: Option<Sampling>,
    /// Samplers of the materials: wrap modes of the first, and whether magnification in any uses the nearest texel.
    sampling: Option<Sampling>,
}

/// How a texture is enlarged to whole blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WholeBlocks {
    /// Width and height in texels.
    pub size: [u32; 2],
    pub sampling: Sampling,
    /// Whether nothing is lost: all texels have one colour.
    pub is_exact: bool,
}

impl PlannedTexture {
    fn new(source: TexelSource, kind: MipFilter) -> Self {
        Self { source, kind, least_alpha: None, enlarging: None, sampling: None }
    }

    /// Plans a texture whose channels are those of two images. `sampled`: the one whose sampler the texture has.
    fn combined(source: TexelSource, kind: MipFilter, model: &Model, sampled: &Texture) -> Self {
        let [a, b] = source.images().map(|image| image.map(|image| &model.images[image]));
        let differ = a.zip(b).is_some_and(|(a, b)| [a.width, a.height] != [b.width, b.height]);
        let enlarging = differ.then_some(Sampling { wrap: sampled.wrap, nearest: sampled.nearest });
        Self { enlarging, ..Self::new(source, kind) }
    }
}

/// Source of texels, as indices into [`Model::images`].
#[derive(Clone, Debug, PartialEq, Eq)]
enum TexelSource {
    /// Layers of one size; at least one. Alpha is that of the layer, or the red of another image in all layers.
    Images { layers: Vec<usize>, alpha: Option<usize> },
    /// Red of the first image, green and blue of the second; 255 for a missing image.
    Orm { occlusion: Option<usize>, metallic_roughness: Option<usize> },
    /// Red, green and blue of the first image, alpha of the second; 255 for a missing image.
    ColorAndAlpha { color: Option<usize>, alpha: Option<usize> },
    /// Red of the first image, green of the second; 255 for a missing image.
    Coat { strength: Option<usize>, roughness: Option<usize> },
}

impl TexelSource {
    /// The image of a layer, or the images of its channels.
    fn images(&self) -> [Option<usize>; 2] {
        match *self {
            Self::Images { ref layers, .. } => [Some(layers[0]), None],
            Self::Orm { occlusion: a, metallic_roughness: b }
            | Self::Coat { strength: a, roughness: b }
            | Self::ColorAndAlpha { color: a, alpha: b } => [a, b],
        }
    }
}

/// Returns the materials for the runtime, and the textures that they use.
pub fn plan(model: &Model) -> (Vec<Material>, Vec<PlannedTexture>) {
    let mut planned: Vec<PlannedTexture> = Vec::new();
    let mut place = |texture: PlannedTexture| {
        planned.iter().position(|have| *have == texture).unwrap_or_else(|| {
            planned.push(texture);
            planned.len() - 1
        }) as u32
    };
    let mut layered = |texture: &Option<Texture>, layers: Vec<usize>, alpha, kind| {
        texture.as_ref().map(|t| {
            let layers = if layers.is_empty() { vec![t.image] } else { layers };
            sampled(t, place(PlannedTexture::new(TexelSource::Images { layers, alpha }, kind)))
        })
    };
    let mut materials: Vec<Material> = Vec::with_capacity(model.materials.len());
    for m in &model.materials {
        let (layers, variant_layers) = layers(&m.variant_images);
        let base_color_texture = layered(&m.base_color_texture, layers, m.tint_mask, MipFilter::Light);
        let mut image = |texture, kind| layered(texture, Vec::new(), None, kind);
        materials.push(Material {
            name: m.name.clone().into(),
            base_color: m.base_color,
            base_color_texture,
            tint_mask: m.tint_mask.is_some(),
            variant_layers: variant_layers.into(),
            metallic: m.metallic,
            roughness: m.roughness,
            occlusion_strength: m.occlusion_strength,
            occlusion_second_uv: m.occlusion_texture.is_some_and(|texture| texture.second_uv),
            orm_texture: None,
            ior: m.ior,
            specular: m.specular,
            specular_color: m.specular_color,
            specular_texture: None,
            clearcoat: m.clearcoat,
            clearcoat_roughness: m.clearcoat_roughness,
            clearcoat_texture: None,
            clearcoat_normal_scale: m.clearcoat_normal_scale,
            clearcoat_normal_texture: image(&m.clearcoat_normal_texture, MipFilter::Normals),
            sheen_color: m.sheen_color,
            sheen_roughness: m.sheen_roughness,
            sheen_texture: None,
            normal_scale: m.normal_scale,
            normal_texture: image(&m.normal_texture, MipFilter::Normals),
            emissive: m.emissive,
            emissive_texture: image(&m.emissive_texture, MipFilter::Light),
            double_sided: m.double_sided,
            unlit: m.unlit,
            alpha_cutoff: match m.base_color_texture {
                Some(_) => m.alpha_cutoff.map(coverage::cutoff_of_texture),
                None => m.alpha_cutoff,
            },
            alpha_blend: m.alpha_blend,
        });
    }
    for (m, material) in model.materials.iter().zip(&mut materials) {
        let (occlusion, metallic_roughness) = (&m.occlusion_texture, &m.metallic_roughness_texture);
        // The sampler of the metallic-roughness texture takes precedence.
        material.orm_texture = metallic_roughness.as_ref().or(occlusion.as_ref()).map(|t| {
            let index = |texture: &Option<Texture>| texture.as_ref().map(|t| t.image);
            let source =
                TexelSource::Orm { occlusion: index(occlusion), metallic_roughness: index(metallic_roughness) };
            sampled(t, place(PlannedTexture::combined(source, MipFilter::Numbers, model, t)))
        });
        let (strength, roughness) = (&m.clearcoat_texture, &m.clearcoat_roughness_texture);
        material.clearcoat_texture = roughness.as_ref().or(strength.as_ref()).map(|t| {
            let index = |texture: &Option<Texture>| texture.as_ref().map(|t| t.image);
            let source = TexelSource::Coat { strength: index(strength), roughness: index(roughness) };
            sampled(t, place(PlannedTexture::combined(source, MipFilter::Numbers, model, t)))
        });
        let mut color_and_alpha = |color: Option<Texture>, alpha: Option<Texture>| {
            let texture = color.or(alpha)?;
            let source = TexelSource::ColorAndAlpha { color: color.map(|t| t.image), alpha: alpha.map(|t| t.image) };
            Some(sampled(&texture, place(PlannedTexture::combined(source, MipFilter::Light, model, &texture))))
        };
        material.specular_texture = color_and_alpha(m.specular_color_texture, m.specular_texture);
        material.sheen_texture = color_and_alpha(m.sheen_color_texture, m.sheen_roughness_texture);
    }
    let least = coverage::least_alphas(&materials, planned.len());
    planned.iter_mut().zip(least).for_each(|(texture, least)| texture.least_alpha = least);
    for used in materials.iter().flat_map(Material::textures) {
        let known = &mut planned[used.texture as usize].sampling;
        known.get_or_insert(Sampling { wrap: used.wrap, nearest: false }).nearest |= used.nearest;
    }
    (materials, planned)
}

/// Returns the different images of a material, and the place of each variant's image among them; nothing if all variants
/// have the same image.
fn layers(images: &[usize]) -> (Vec<usize>, Vec<u8>) {
    let (mut layers, mut places) = (Vec::new(), Vec::with_capacity(images.len()));
    for image in images {
        let place = layers.iter().position(|layer| layer == image).unwrap_or_else(|| {
            layers.push(*image);
            layers.len() - 1
        });
        // A model has at most 256 variants.
        places.push(place as u8);
    }
    if layers.len() > 1 { (layers, places) } else { Default::default() }
}

/// Whether all RGBA8 texels are the same.
fn is_one_color(rgba: &[u8]) -> bool {
    let texels = rgba.as_chunks::<4>().0;
    texels.iter().all(|texel| *texel == texels[0])
}

fn sampled(texture: &Texture, place: u32) -> MaterialTexture {
    MaterialTexture { texture: place, wrap: texture.wrap, nearest: texture.nearest, second_uv: texture.second_uv }
}

impl PlannedTexture {
    /// Name of the source image, for messages.
    pub(super) fn name<'m>(&self, model: &'m Model) -> &'m str {
        &model.images[self.image()].name
    }

    /// Width and height in texels: the greatest of all images.
    pub(super) fn size(&self, model: &Model) -> [u32; 2] {
        let size = |image: usize| [model.images[image].width, model.images[image].height];
        self.source
            .images()
            .into_iter()
            .flatten()
            .map(size)
            .fold([1; 2], |[w, h], [width, height]| [w.max(width), h.max(height)])
    }

    /// Returns how the texture may be enlarged to whole blocks of 4 x 4 texels. `None` if single texels are to be seen, or it is so
    /// small that it would look blurred. `layers`: texels of each layer, which has this size.
    pub(super) fn whole_blocks(&self, size: [u32; 2], layers: &[Cow<'_, [u8]>]) -> Option<WholeBlocks> {
        let is_exact = layers.iter().all(|texels| is_one_color(texels));
        let blurs =
            self.sampling.is_none_or(|sampling| sampling.nearest) || size.iter().any(|side| *side < LEAST_ENLARGED);
        let sampling = self.sampling.unwrap_or(Sampling { wrap: [Wrap::Repeat; 2], nearest: true });
        let size = size.map(|side| side.next_multiple_of(4));
        (is_exact || !blurs).then_some(WholeBlocks { size, sampling, is_exact })
    }

    /// Number of array layers.
    pub(super) fn layers(&self) -> usize {
        if let TexelSource::Images { layers, .. } = &self.source { layers.len() } else { 1 }
    }

    /// Index of the image that names the texture.
    fn image(&self) -> usize {
        match self.source {
            TexelSource::Images { ref layers, .. } => layers[0],
            TexelSource::Orm { occlusion, metallic_roughness } => {
                metallic_roughness.or(occlusion).expect("an ORM texture has at least one source image")
            }
            TexelSource::Coat { strength, roughness } => {
                roughness.or(strength).expect("a texture of a coat has at least one source image")
            }
            TexelSource::ColorAndAlpha { color, alpha } => {
                color.or(alpha).expect("a texture of a colour and alpha has at least one source image")
            }
        }
    }

    /// Returns the texels of a layer as RGBA8, rows from top to bottom.
    pub(super) fn texels<'m>(&self, model: &'m Model, layer: usize) -> Cow<'m, [u8]> {
        let channels = match self.source {
            TexelSource::Images { ref layers, alpha } => {
                let texels = &model.images[layers[layer]].rgba;
                let Some(alpha) = alpha else { return texels.into() };
                let (mut texels, mask) = (texels.clone(), model.images[alpha].rgba.as_chunks::<4>().0);
                texels.as_chunks_mut::<4>().0.iter_mut().zip(mask).for_each(|(to, from)| to[3] = from[0]);
                return texels.into();
            }
            TexelSource::Orm { occlusion, metallic_roughness } => [(occlusion, 0..1), (metallic_roughness, 1..3)],
            TexelSource::ColorAndAlpha { color, alpha } => [(color, 0..3), (alpha, 3..4)],
            TexelSource::Coat { strength, roughness } => [(strength, 0..1), (roughness, 1..2)],
        };
        let [width, height] = self.size(model);
        let mut texels = vec![255; width as usize * height as usize * 4];
        let mut copy = |image: Option<usize>, channels: std::ops::Range<usize>| {
            let Some(image) = image else { return };
            let image = &model.images[image];
            let own = (&image.rgba[..], [image.width, image.height]);
            let from: Cow<'_, [u8]> = match self.enlarging {
                Some(sampling) => enlarged(self.kind, own, [width, height], sampling).into(),
                None => own.0.into(),
            };
            for (to, from) in texels.as_chunks_mut::<4>().0.iter_mut().zip(from.as_chunks::<4>().0) {
                to[channels.clone()].copy_from_slice(&from[channels.clone()]);
            }
        };
        channels.into_iter().for_each(|(image, channels)| copy(image, channels));
        texels.into()
    }
}
