//! Materials and their textures.

use crate::list::{List, Str};

/// A material in glTF's metallic-roughness model.
///
/// The diffuse material uses base colour, alpha and emitted light; the metallic-roughness material uses all
/// properties. `RendererDescriptor::shading` chooses between them.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct Material {
    /// Name in the glTF file; may be empty.
    #[doc(hidden)]
    pub name: Str,
    /// Base colour: linear RGBA, multiplied with the texture and the vertex colour.
    pub base_color: [f32; 4],
    /// Base colour and alpha; sRGB.
    #[doc(hidden)]
    pub base_color_texture: Option<MaterialTexture>,
    /// Whether the alpha of the base colour texture is a tint mask: the share of an instance's tint, 0..1. For opaque
    /// materials, whose alpha is not read otherwise. A tint's own alpha is multiplied with the whole surface.
    pub tint_mask: bool,
    /// Layer of the base colour texture per variant of the model; empty if the texture has one layer for all.
    #[doc(hidden)]
    pub variant_layers: List<u8>,
    /// Metallic factor, 0..1, multiplied with the blue channel of [`Material::orm_texture`].
    pub metallic: f32,
    /// Roughness factor, 0..1, multiplied with the green channel of [`Material::orm_texture`].
    pub roughness: f32,
    /// Strength of the occlusion in the red channel of [`Material::orm_texture`], 0..1.
    pub occlusion_strength: f32,
    /// Whether the occlusion in [`Material::orm_texture`] has the second texture coordinates of the vertices.
    pub occlusion_second_uv: bool,
    /// Refractive index of the dielectric part (`KHR_materials_ior`): 1.5 unless the file names another; 0 for a surface
    /// that reflects all light.
    pub ior: f32,
    /// Strength of the dielectric's reflection, 0..1 (`KHR_materials_specular`).
    pub specular: f32,
    /// Colour of the dielectric's reflection at normal incidence, linear RGB; may exceed 1 (`KHR_materials_specular`).
    pub specular_color: [f32; 3],
    /// Colour of the dielectric's reflection, sRGB, with its strength in alpha; both are 1 without a texture for them.
    #[doc(hidden)]
    pub specular_texture: Option<MaterialTexture>,
    /// Strength of a clear coat over the surface, 0..1 (`KHR_materials_clearcoat`).
    pub clearcoat: f32,
    /// Roughness of the clear coat, 0..1.
    pub clearcoat_roughness: f32,
    /// Strength and roughness of the clear coat in red and green; linear. A channel is 1 if the material has no texture
    /// for it.
    #[doc(hidden)]
    pub clearcoat_texture: Option<MaterialTexture>,
    /// Factor for x and y of the tangent-space normals of the clear coat.
    pub clearcoat_normal_scale: f32,
    /// Tangent-space normals of the clear coat, stored as those of [`Material::normal_texture`]; linear. Without them, the
    /// coat has the normals of the mesh.
    #[doc(hidden)]
    pub clearcoat_normal_texture: Option<MaterialTexture>,
    /// Colour of a sheen over the surface, as of cloth: linear RGB, 0..1 (`KHR_materials_sheen`).
    pub sheen_color: [f32; 3],
    /// Roughness of the sheen, 0..1.
    pub sheen_roughness: f32,
    /// Colour of the sheen, sRGB, with its roughness in alpha; both are 1 without a texture for them.
    #[doc(hidden)]
    pub sheen_texture: Option<MaterialTexture>,
    /// Occlusion, roughness and metallic in red, green and blue; linear. A channel is 1 if the
    /// material has no texture for it.
    #[doc(hidden)]
    pub orm_texture: Option<MaterialTexture>,
    /// Factor for x and y of the tangent-space normals.
    pub normal_scale: f32,
    /// Tangent-space normals, -1..1 stored as 0..1, y up; linear.
    #[doc(hidden)]
    pub normal_texture: Option<MaterialTexture>,
    /// Emitted light: linear RGB, multiplied with the texture; may exceed 1
    /// (`KHR_materials_emissive_strength`).
    pub emissive: [f32; 3],
    /// Emitted light; sRGB.
    #[doc(hidden)]
    pub emissive_texture: Option<MaterialTexture>,
    /// Whether back faces are drawn.
    pub double_sided: bool,
    /// Alpha below which fragments are discarded.
    pub alpha_cutoff: Option<f32>,
    /// Whether alpha blends the surface over things behind it (alpha mode BLEND of glTF).
    pub alpha_blend: bool,
    /// Whether the base colour is drawn without lighting (`KHR_materials_unlit`).
    pub unlit: bool,
}

impl Material {
    /// Returns whether dielectrics reflect otherwise than with a refractive index of 1.5; false if the material is unlit.
    #[doc(hidden)]
    pub fn has_specular(&self) -> bool {
        let unusual = self.ior != 1.5 || self.specular != 1.0 || self.specular_color != [1.0; 3];
        !self.unlit && (unusual || self.specular_texture.is_some())
    }

    /// Returns whether the material has a clear coat; false if it is unlit.
    #[doc(hidden)]
    pub fn has_clearcoat(&self) -> bool {
        !self.unlit && self.clearcoat > 0.0
    }

    /// Returns whether the material has a sheen; false if it is unlit.
    #[doc(hidden)]
    pub fn has_sheen(&self) -> bool {
        !self.unlit && self.sheen_color.iter().any(|c| *c > 0.0)
    }

    /// Returns whether the material emits light; false if it is unlit.
    #[doc(hidden)]
    pub fn emits(&self) -> bool {
        !self.unlit && self.emissive.iter().any(|c| *c > 0.0)
    }

    /// Returns the layer that a variant has in the texture array of base colours, which
    /// [`CrowdRenderer::layered_material_textures`](crate::CrowdRenderer::layered_material_textures) returns. `None` if all variants have
    /// the same base colour: there is no array.
    ///
    /// `variant`: [`ModelVariant::index`](crate::ModelVariant::index). Variants that the model does not have are drawn as its own look.
    pub fn base_color_layer(&self, variant: u8) -> Option<u8> {
        let own = self.variant_layers.first()?;
        Some(*self.variant_layers.get(usize::from(variant)).unwrap_or(own))
    }

    /// Returns whether the base colour texture has a layer per look of the material.
    #[doc(hidden)]
    pub fn has_layers(&self) -> bool {
        !self.variant_layers.is_empty()
    }

    /// Returns whether the alpha of the base colour texture is drawn as a tint mask; false for a material that is not opaque
    /// or has no base colour texture.
    pub fn has_tint_mask(&self) -> bool {
        let opaque = self.alpha_cutoff.is_none() && !self.alpha_blend;
        self.tint_mask && opaque && self.base_color_texture.is_some()
    }

    /// Returns whether textures have the layers that the material uses, and no others. `layers`: number of layers of a
    /// texture.
    #[cfg(any(feature = "wgpu", feature = "dynamic"))]
    pub(crate) fn layers_are_sound(&self, layers: impl Fn(&MaterialTexture) -> u32) -> bool {
        let count = self.base_color_texture.as_ref().map_or(1, &layers);
        let mut others = self.textures().skip(usize::from(self.base_color_texture.is_some()));
        let exist = self.variant_layers.iter().all(|layer| u32::from(*layer) < count);
        (count > 1) == self.has_layers() && exist && others.all(|texture| layers(texture) == 1)
    }

    /// Returns whether vertices have the texture coordinates that textures need. `second`: whether they have second ones.
    #[cfg(any(feature = "wgpu", feature = "dynamic"))]
    pub(crate) fn has_coordinates(&self, second: bool) -> bool {
        second || !(self.occlusion_second_uv || self.textures().any(|texture| texture.second_uv))
    }

    /// Returns all textures of the material.
    #[doc(hidden)]
    pub fn textures(&self) -> impl Iterator<Item = &MaterialTexture> {
        let own = [&self.base_color_texture, &self.orm_texture, &self.normal_texture, &self.emissive_texture];
        let layers = [&self.clearcoat_texture, &self.clearcoat_normal_texture, &self.sheen_texture];
        own.into_iter().chain([&self.specular_texture]).chain(layers).flatten()
    }
}

/// A texture of a material and its sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct MaterialTexture {
    /// Index into [`Metadata::textures`](crate::Metadata::textures).
    pub texture: u32,
    /// Wrapping along u and v.
    pub wrap: [Wrap; 2],
    /// Whether the nearest texel is used instead of filtering.
    pub nearest: bool,
    /// Whether the texture has the second texture coordinates of the vertices. In [`Material::orm_texture`], this is true of
    /// roughness and metallic.
    pub second_uv: bool,
}

/// Content beyond the edge of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub enum Wrap {
    /// The texture repeats.
    Repeat,
    /// The texture repeats mirrored.
    Mirror,
    /// The edge texels continue.
    Clamp,
}

/// A material texture with mip levels, stored in one or several formats, one file per format.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct ColorTexture {
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Number of mip levels, each half the size of the one before, rounded down.
    pub levels: u32,
    /// Number of array layers, at least 1; more only for base colours that differ between variants of the model.
    pub layers: u32,
    /// Whether red, green and blue are sRGB, which samplers convert to linear; otherwise they are
    /// linear.
    pub srgb: bool,
    /// Formats, best first: a device uses the first one that it supports. One file per format, in
    /// this order.
    pub formats: List<ColorFormat>,
}

impl ColorTexture {
    /// Returns width and height of a mip level, texels.
    pub fn level_size(&self, level: u32) -> [u32; 2] {
        [self.width, self.height].map(|side| side.checked_shr(level).unwrap_or(0).max(1))
    }

    /// Returns the size of a mip level in a format, all layers together, bytes.
    pub fn level_bytes(&self, format: ColorFormat, level: u32) -> u64 {
        format.image_bytes(self.level_size(level)).saturating_mul(self.layers.into())
    }
}

/// Texel format of a [`ColorTexture`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub enum ColorFormat {
    /// Four bytes per texel. Every device supports it.
    Rgba8,
    /// BC7, one byte per texel: desktop GPUs.
    Bc7,
    /// ASTC in blocks of 4 x 4, one byte per texel: phones, and Apple's computers.
    Astc,
    /// ETC2 with EAC alpha, one byte per texel: older phones.
    Etc2,
}

impl ColorFormat {
    /// All formats, best first.
    pub const ALL: [Self; 4] = [Self::Bc7, Self::Astc, Self::Etc2, Self::Rgba8];

    /// Returns the name that `gpuskin.toml` and file names use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rgba8 => "rgba8",
            Self::Bc7 => "bc7",
            Self::Astc => "astc",
            Self::Etc2 => "etc2",
        }
    }

    /// Returns the format with the given name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the number of the format in Vulkan and KTX2 (`VkFormat`). `srgb`: whether colours are
    /// encoded as sRGB.
    #[doc(hidden)]
    pub const fn vulkan(self, srgb: bool) -> u32 {
        match (self, srgb) {
            (Self::Rgba8, false) => 37,
            (Self::Rgba8, true) => 43,
            (Self::Bc7, false) => 145,
            (Self::Bc7, true) => 146,
            (Self::Etc2, false) => 151,
            (Self::Etc2, true) => 152,
            (Self::Astc, false) => 157,
            (Self::Astc, true) => 158,
        }
    }

    /// Whether a program for this target contains the format, given all formats of a texture. Formats that
    /// no device of the target needs are left out; see [`Self::is_needed`].
    #[doc(hidden)]
    pub const fn is_in_program(self, formats: &[Self]) -> bool {
        self.is_needed(formats, Target::THIS)
    }

    /// Whether devices of a target need the format, given all formats of a texture.
    ///
    /// Every GPU reads BC7 on Windows, macOS and Linux for x86, and ASTC on Android and iOS: other
    /// compressed formats are left out. A browser with WebGPU reads BC7, or ASTC and ETC2: if the texture
    /// has BC7 and ASTC, others are left out, except RGBA8 for WebGL2, which guarantees neither.
    const fn is_needed(self, formats: &[Self], target: Target) -> bool {
        let [bc7, astc] = [has(formats, Self::Bc7), has(formats, Self::Astc)];
        match (self, target) {
            (Self::Bc7, Target::Desktop)
            | (Self::Astc, Target::Phone)
            | (Self::Rgba8, Target::Desktop | Target::Phone) => true,
            (_, Target::Desktop) => !bc7,
            (_, Target::Phone) => !astc,
            (Self::Bc7 | Self::Astc, Target::Web { .. }) => true,
            (Self::Rgba8, Target::Web { webgl: true }) => true,
            (_, Target::Web { .. }) => !(bc7 && astc),
            (_, Target::Other) => true,
        }
    }

    /// Returns the side of a block in texels; 1 for uncompressed formats.
    pub const fn block_side(self) -> u32 {
        match self {
            Self::Rgba8 => 1,
            Self::Bc7 | Self::Astc | Self::Etc2 => 4,
        }
    }

    /// Returns the size of a block, or of a texel if uncompressed, bytes.
    pub const fn block_bytes(self) -> u32 {
        match self {
            Self::Rgba8 => 4,
            Self::Bc7 | Self::Astc | Self::Etc2 => 16,
        }
    }

    /// Returns the number of blocks per axis of an image of `size` texels.
    pub fn blocks(self, size: [u32; 2]) -> [u32; 2] {
        size.map(|side| side.div_ceil(self.block_side()))
    }

    /// Returns the size of an image of `size` texels, rounded up to whole blocks, bytes.
    pub fn image_bytes(self, size: [u32; 2]) -> u64 {
        let [across, down] = self.blocks(size).map(u64::from);
        across * down * u64::from(self.block_bytes())
    }
}

/// Kind of target, by the formats that its GPUs read.
#[derive(Clone, Copy)]
enum Target {
    /// Windows, macOS, and Linux for x86.
    Desktop,
    /// Android and iOS.
    Phone,
    /// Browsers.
    Web {
        /// Whether the program can run on WebGL2.
        webgl: bool,
    },
    Other,
}

impl Target {
    /// Target of this program.
    const THIS: Self = if cfg!(any(
        target_os = "windows",
        target_os = "macos",
        all(target_os = "linux", any(target_arch = "x86", target_arch = "x86_64"))
    )) {
        Self::Desktop
    } else if cfg!(any(target_os = "android", target_os = "ios")) {
        Self::Phone
    } else if cfg!(target_family = "wasm") {
        Self::Web { webgl: cfg!(feature = "webgl") }
    } else {
        Self::Other
    };
}

/// Whether a list contains a format; a constant function, unlike `contains`.
const fn has(formats: &[ColorFormat], wanted: ColorFormat) -> bool {
    let mut i = 0;
    while i < formats.len() {
        if formats[i] as u8 == wanted as u8 {
            return true;
        }
        i += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_contain_the_formats_that_their_target_needs() {
        use ColorFormat::{Astc, Bc7, Etc2, Rgba8};
        let kept = |target, formats: &[ColorFormat]| {
            formats.iter().copied().filter(|format| format.is_needed(formats, target)).collect::<Vec<_>>()
        };
        let [webgpu, webgl] = [false, true].map(|webgl| Target::Web { webgl });
        let all = [Astc, Bc7, Etc2, Rgba8];
        assert_eq!(kept(Target::Desktop, &all), [Bc7, Rgba8]);
        assert_eq!(kept(Target::Phone, &all), [Astc, Rgba8]);
        assert_eq!(kept(webgpu, &all), [Astc, Bc7]);
        assert_eq!(kept(webgl, &all), [Astc, Bc7, Rgba8]);
        assert_eq!(kept(Target::Other, &all), all);
        // Without a format that all browsers read, the others are kept.
        assert_eq!(kept(webgpu, &[Bc7, Etc2, Rgba8]), [Bc7, Etc2, Rgba8]);
        for target in [Target::Desktop, Target::Phone, webgpu, webgl, Target::Other] {
            assert_eq!(kept(target, &[Etc2, Rgba8]), [Etc2, Rgba8]);
            assert_eq!(kept(target, &[Rgba8]), [Rgba8]);
        }
        if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            assert_eq!(all.map(|format| format.is_in_program(&all)), [false, true, false, true]);
        }
    }

    #[test]
    fn image_size_is_rounded_up_to_whole_blocks() {
        assert_eq!(ColorFormat::Rgba8.image_bytes([5, 3]), 60);
        assert_eq!(ColorFormat::Bc7.image_bytes([5, 3]), 32);
        assert_eq!(ColorFormat::Astc.image_bytes([1, 1]), 16);
        assert!(ColorFormat::ALL.into_iter().all(|format| ColorFormat::from_name(format.name()) == Some(format)));
    }

    #[test]
    fn mip_levels_end_at_one_texel() {
        let formats = vec![].into();
        let texture = ColorTexture { width: 20, height: 3, levels: 5, layers: 1, srgb: true, formats };
        assert_eq!(
            [0, 1, 2, 4, 5, 40].map(|l| texture.level_size(l)),
            [[20, 3], [10, 1], [5, 1], [1, 1], [1, 1], [1, 1]]
        );
    }
}
