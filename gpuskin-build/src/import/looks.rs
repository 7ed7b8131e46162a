//! Base colours of a material per variant of the model, which become layers of its base colour texture.

use super::textures::TextureReader;
use crate::diagnostic::Diagnostic;
use crate::model::{Material, Texture};
use gpuskin_rt::internals::Wrap;

/// Side of the image of a base colour without a texture, in texels: that of a block of compressed formats.
const PLAIN_SIDE: u32 = 4;

/// Base colour of a material in one variant: an image multiplied by a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    /// Linear RGBA.
    pub factor: [f32; 4],
    /// Index into [`TextureReader::images`]; `None` is white.
    pub image: Option<usize>,
}

/// Base colours of a material.
#[derive(Clone, Debug)]
pub(super) struct Looks {
    /// Base colours by variant, up to the last one that differs; the first is the material's own.
    looks: Vec<Look>,
}

impl Looks {
    /// Creates the base colours of a material that has the same in all variants.
    pub(super) fn of(own: Look) -> Self {
        Self { looks: vec![own] }
    }

    /// Returns the base colour of the material itself.
    pub(super) fn own(&self) -> Look {
        self.looks[0]
    }

    /// Sets the base colour in a variant.
    pub(super) fn set(&mut self, variant: usize, look: Look) {
        if self.looks.len() <= variant {
            self.looks.resize(variant + 1, self.own());
        }
        self.looks[variant] = look;
    }

    /// Returns an image whose size all images have.
    pub(super) fn image(&self) -> Option<usize> {
        self.looks.iter().find_map(|look| look.image)
    }

    /// Sets the images that a material has in the variants. `count`: number of variants with the model's own look. `most`: limit on texels.
    ///
    /// Factors that differ are multiplied with the images. The factor of the material becomes the greatest one per channel,
    /// so that no product exceeds the range of an image.
    pub(super) fn bake(
        &self,
        material: &mut Material,
        textures: &mut TextureReader,
        count: usize,
        most: u64,
    ) -> Result<(), Diagnostic> {
        let looks = &self.looks;
        let own = looks[0];
        if looks.iter().all(|look| *look == own) {
            return Ok(());
        }
        let images: Vec<usize> = if looks.iter().all(|look| look.factor == own.factor && look.image.is_some()) {
            looks.iter().filter_map(|look| look.image).collect()
        } else {
            let image = looks.iter().find_map(|look| look.image);
            let size = image.map_or([PLAIN_SIDE; 2], |image| textures.size(image));
            let factor = |c: usize| looks.iter().map(|look| look.factor[c]).fold(0.0, f32::max);
            let greatest: [f32; 4] = std::array::from_fn(factor);
            material.base_color = greatest;
            let layer = |look: &Look| {
                let ratio = |c: usize| if greatest[c] > 0.0 { (look.factor[c] / greatest[c]).max(0.0) } else { 1.0 };
                textures.multiplied(look.image, size, std::array::from_fn(ratio), most)
            };
            looks.iter().map(layer).collect::<Result<_, _>>()?
        };
        let first = images[0];
        let plain = Texture { image: first, wrap: [Wrap::Repeat; 2], nearest: false, second_uv: false };
        material.base_color_texture.get_or_insert(plain).image = first;
        material.variant_images = images;
        material.variant_images.resize(count, first);
        Ok(())
    }
}

impl TextureReader {
    /// Returns width and height of an image, in texels.
    pub(super) fn size(&self, image: usize) -> [u32; 2] {
        let image = &self.images[image];
        [image.width, image.height]
    }
}
