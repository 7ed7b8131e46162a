//! Textures of materials: images and samplers.

use std::collections::{BTreeMap, BTreeSet};

use gltf::json::texture::{MagFilter, WrappingMode};
use gltf::json::validation::Checked;
use gltf::json::{self, Index};
use gpuskin_rt::internals::Wrap;

use super::file::File;
use super::{color_factor, pixels, uri};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::model::{Image, Texture};

/// Maximum side length of an image, in texels: the default texture limit of wgpu.
const MAX_SIDE: u32 = 8192;

/// Number of textures that an error lists.
const LISTED: usize = 5;

/// Whether images are decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pixels {
    /// Images are decoded.
    Decode,
    /// Images are read and their size is checked; [`Image::rgba`] stays empty.
    SizeOnly,
}

/// Reads textures and their images, each image once.
pub(super) struct TextureReader {
    pixels: Pixels,
    image_slots: BTreeMap<usize, Result<usize, Diagnostic>>,
    texels: u64,
    /// Pairs of images whose texture is larger than both.
    combined: BTreeSet<[usize; 2]>,
    /// Textures that only an extension gives an image, with the names of the extensions.
    in_extensions: BTreeMap<usize, String>,
    pub images: Vec<Image>,
}

impl TextureReader {
    pub(super) fn new(pixels: Pixels) -> Self {
        Self {
            pixels,
            image_slots: BTreeMap::new(),
            texels: 0,
            combined: BTreeSet::new(),
            in_extensions: BTreeMap::new(),
            images: Vec::new(),
        }
    }

    /// Reads a texture. Returns `None` for a texture without an image, which glTF allows.
    pub(super) fn texture(
        &mut self,
        file: &File<'_>,
        index: Index<json::Texture>,
    ) -> Result<Option<Texture>, Diagnostic> {
        let document = &file.document;
        let texture = file.get(&document.textures, index, "texture")?;
        let Some(image) = texture.image() else {
            if texture.extensions.is_empty() {
                return Ok(None);
            }
            let kinds: Vec<&str> = texture.extensions.keys().map(String::as_str).collect();
            self.in_extensions.insert(index.value(), kinds.join(", "));
            return Ok(Some(Texture {
                image: self.placeholder(),
                wrap: [Wrap::Repeat; 2],
                nearest: false,
                second_uv: false,
            }));
        };
        let sampler = match texture.sampler {
            Some(sampler) => Some(file.get(&document.samplers, sampler, "texture sampler")?),
            None => None,
        };
        let wrap = |mode: Option<Checked<WrappingMode>>| match mode {
            Some(Checked::Valid(WrappingMode::ClampToEdge)) => Wrap::Clamp,
            Some(Checked::Valid(WrappingMode::MirroredRepeat)) => Wrap::Mirror,
            _ => Wrap::Repeat,
        };
        Ok(Some(Texture {
            image: self.image(file, image)?,
            wrap: [wrap(sampler.map(|s| s.wrap_s)), wrap(sampler.map(|s| s.wrap_t))],
            nearest: sampler.and_then(|s| s.mag_filter).is_some_and(|m| m == Checked::Valid(MagFilter::Nearest)),
            second_uv: false,
        }))
    }

    /// Returns an error about all textures whose image only an extension gives: they have one cause.
    pub(super) fn images_in_extensions(&self) -> Option<Diagnostic> {
        let kinds = self.in_extensions.values().next()?;
        let names: Vec<String> = self.in_extensions.keys().map(ToString::to_string).collect();
        let listed = names.iter().take(LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = match names.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (noun, verb) = if names.len() == 1 { ("texture", "has") } else { ("textures", "have") };
        let message = format!("{noun} {listed}{more} {verb} no image in a supported format, only {kinds}");
        Some(Diagnostic::error(DiagnosticCode::ImageInvalid, message).help(pixels::CONVERT))
    }

    /// Returns the index of an image in place of one that cannot be read, until the error is reported.
    fn placeholder(&mut self) -> usize {
        self.images.push(Image { name: String::new(), width: 1, height: 1, rgba: vec![255; 4] });
        self.images.len() - 1
    }

    /// Returns the index in [`Self::images`] of an image of the file.
    fn image(&mut self, file: &File<'_>, index: Index<json::Image>) -> Result<usize, Diagnostic> {
        if let Some(slot) = self.image_slots.get(&index.value()) {
            return slot.clone();
        }
        let slot = self.read_image(file, index).map(|image| {
            self.images.push(image);
            self.images.len() - 1
        });
        self.image_slots.insert(index.value(), slot.clone());
        slot
    }

    fn read_image(&mut self, file: &File<'_>, index: Index<json::Image>) -> Result<Image, Diagnostic> {
        let source = file.get(&file.document.images, index, "image")?;
        let uri = source.uri.as_deref().filter(|uri| !uri::is_data(uri));
        let shown = uri.or(source.name.as_deref()).unwrap_or_default();
        let name = if shown.is_empty() { format!("image {index}") } else { format!("image {index} ({shown})") };
        let within = |diagnostic: Diagnostic| diagnostic.within(&name);
        let owned;
        let bytes = match (&source.uri, source.buffer_view) {
            (Some(uri), _) => {
                owned = file.resource(uri).map_err(|e| within(unreadable(e)))?;
                &owned[..]
            }
            (None, Some(view)) => file.view(view).map_err(within)?.0,
            (None, None) => {
                return Err(within(Diagnostic::error(
                    DiagnosticCode::ImageInvalid,
                    "the image has neither a URI nor a buffer view",
                )));
            }
        };
        let (width, height, rgba) = self.decode(bytes, file.limits().image).map_err(within)?;
        Ok(Image { name, width, height, rgba })
    }

    /// Returns the index in [`Self::images`] of an image that is not part of a glTF file. `name`: its path.
    pub(super) fn other_image(&mut self, name: String, bytes: &[u8], most: u64) -> Result<usize, Diagnostic> {
        let (width, height, rgba) = self.decode(bytes, most).map_err(|diagnostic| diagnostic.within(&name))?;
        Ok(self.shared(Image { name, width, height, rgba }))
    }

    /// Returns the index of an image multiplied by a factor of linear RGBA, 0..1. `None`: a white image of a size.
    pub(super) fn multiplied(
        &mut self,
        image: Option<usize>,
        size: [u32; 2],
        factor: [f32; 4],
        most: u64,
    ) -> Result<usize, Diagnostic> {
        if let (Some(image), [1.0, 1.0, 1.0, 1.0]) = (image, factor) {
            return Ok(image);
        }
        self.claim(size, most)?;
        let [width, height] = size;
        let name = image.map_or_else(|| "a base colour".to_owned(), |image| self.images[image].name.clone());
        let rgba = match (self.pixels, image) {
            (Pixels::SizeOnly, _) => Vec::new(),
            (Pixels::Decode, Some(image)) => color_factor::multiply(self.images[image].rgba.clone(), factor),
            (Pixels::Decode, None) => color_factor::multiply(vec![255; width as usize * height as usize * 4], factor),
        };
        Ok(self.shared(Image { name, width, height, rgba }))
    }

    /// Returns the index of an image, or of another one with the same texels.
    fn shared(&mut self, image: Image) -> usize {
        // Equal images are one layer, also if one of them is the model's own.
        let same = |other: &Image| !image.rgba.is_empty() && (other.width, &other.rgba) == (image.width, &image.rgba);
        if let Some(index) = self.images.iter().position(same) {
            return index;
        }
        self.images.push(image);
        self.images.len() - 1
    }

    fn decode(&mut self, bytes: &[u8], most: u64) -> Result<(u32, u32, Vec<u8>), Diagnostic> {
        let image = pixels::Encoded::new(bytes)?;
        let [width, height] = image.size()?;
        if width.max(height) > MAX_SIDE || width.min(height) == 0 {
            let message = format!("the image has {width} x {height} texels; at most {MAX_SIDE} per side are supported");
            return Err(Diagnostic::error(DiagnosticCode::LimitImage, message));
        }
        self.claim([width, height], most)?;
        if self.pixels == Pixels::SizeOnly {
            return Ok((width, height, Vec::new()));
        }
        Ok((width, height, image.rgba()?))
    }

    /// Adds the texels by which the texture that two images share exceeds the larger one, as a row and a column do.
    pub(super) fn claim_combined(&mut self, images: [usize; 2], most: u64) -> Result<(), Diagnostic> {
        let [a, b] = images.map(|image| self.size(image).map(u64::from));
        let area = |[width, height]: [u64; 2]| width * height;
        let excess = area([a[0].max(b[0]), a[1].max(b[1])]) - area(a).max(area(b));
        if excess == 0 || !self.combined.insert(images) {
            return Ok(());
        }
        let claimed = self.claim_texels(excess, most);
        if claimed.is_err() {
            self.combined.remove(&images);
            self.texels -= excess;
        }
        claimed
    }

    /// Adds an image to the sum of texels, before it is allocated.
    fn claim(&mut self, [width, height]: [u32; 2], most: u64) -> Result<(), Diagnostic> {
        self.claim_texels(u64::from(width) * u64::from(height), most)
    }

    fn claim_texels(&mut self, texels: u64, most: u64) -> Result<(), Diagnostic> {
        self.texels += texels;
        if self.texels > most {
            let message = format!("the images of the model have more than {most} texels in total");
            return Err(Diagnostic::error(DiagnosticCode::LimitImage, message));
        }
        Ok(())
    }
}

/// Returns the error of an image, which is shown once for all files that are missing or cannot be read.
fn unreadable(error: Diagnostic) -> Diagnostic {
    if error.code() == DiagnosticCode::FileUnreadable { error.collected_as("an image cannot be read") } else { error }
}
