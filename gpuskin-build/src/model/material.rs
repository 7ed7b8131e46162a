//! Materials of a model, and their images.

/// A material.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Name; may be empty.
    pub name: String,
    /// Base colour factor, linear RGBA.
    pub base_color: [f32; 4],
    /// Texture that is multiplied by the factor.
    pub base_color_texture: Option<Texture>,
    /// Image whose red is the share of an instance's tint, as an index into [`Model::images`](super::Model::images); only for opaque materials with
    /// a base colour texture, whose size it has.
    pub tint_mask: Option<usize>,
    /// Image of the base colour texture per variant, as indices into [`Model::images`](super::Model::images), all of one size; empty if the
    /// image is the same in all variants.
    pub variant_images: Vec<usize>,
    /// Metallic factor, 0..1, multiplied by the blue channel of the metallic-roughness texture.
    pub metallic: f32,
    /// Roughness factor, 0..1, multiplied by the green channel of the metallic-roughness texture.
    pub roughness: f32,
    /// Texture with roughness in green and metallic in blue.
    pub metallic_roughness_texture: Option<Texture>,
    /// Strength of the occlusion texture, 0..1.
    pub occlusion_strength: f32,
    /// Texture with occlusion in red.
    pub occlusion_texture: Option<Texture>,
    /// Whether the material or its clear coat has a normal map, which needs tangents.
    pub normal_map: bool,
    /// Scale of x and y of the normal map.
    pub normal_scale: f32,
    /// Normal map, if it is usable.
    pub normal_texture: Option<Texture>,
    /// Emissive factor, linear RGB, multiplied by `KHR_materials_emissive_strength`.
    pub emissive: [f32; 3],
    /// Texture that is multiplied by the factor.
    pub emissive_texture: Option<Texture>,
    /// Refractive index: `KHR_materials_ior`.
    pub ior: f32,
    /// Strength of the dielectric's reflection, 0..1: `KHR_materials_specular`.
    pub specular: f32,
    /// Colour of the dielectric's reflection, linear RGB: `KHR_materials_specular`.
    pub specular_color: [f32; 3],
    /// Texture with the strength in alpha. Has the texture coordinates of the colour texture, if there is one.
    pub specular_texture: Option<Texture>,
    /// Texture that is multiplied by the colour.
    pub specular_color_texture: Option<Texture>,
    /// Strength of the clear coat, 0..1: `KHR_materials_clearcoat`.
    pub clearcoat: f32,
    /// Roughness of the clear coat, 0..1.
    pub clearcoat_roughness: f32,
    /// Texture with the strength in red. Has the texture coordinates of the roughness texture, if there is one.
    pub clearcoat_texture: Option<Texture>,
    /// Texture with the roughness in green.
    pub clearcoat_roughness_texture: Option<Texture>,
    /// Scale of x and y of the coat's normal map.
    pub clearcoat_normal_scale: f32,
    /// Normal map of the coat alone, if it is usable.
    pub clearcoat_normal_texture: Option<Texture>,
    /// Colour of the sheen, linear RGB, 0..1: `KHR_materials_sheen`.
    pub sheen_color: [f32; 3],
    /// Roughness of the sheen, 0..1.
    pub sheen_roughness: f32,
    /// Texture that is multiplied by the colour.
    pub sheen_color_texture: Option<Texture>,
    /// Texture with the roughness in alpha. Has the texture coordinates of the colour texture, if there is one.
    pub sheen_roughness_texture: Option<Texture>,
    /// Whether back faces are drawn.
    pub double_sided: bool,
    /// Cutoff of alpha mode MASK.
    pub alpha_cutoff: Option<f32>,
    /// Whether the alpha mode is BLEND.
    pub alpha_blend: bool,
    /// Whether the base colour is drawn without lighting: `KHR_materials_unlit`.
    pub unlit: bool,
}

impl Material {
    /// Returns whether there is a texture.
    pub(crate) fn is_textured(&self) -> bool {
        self.base_color_texture.is_some() || self.further_textures().next().is_some()
    }

    /// Returns whether a texture has the second texture coordinates.
    pub(crate) fn has_second_uv(&self) -> bool {
        self.further_textures().any(|texture| texture.second_uv)
    }

    /// Returns all textures but that of the base colour.
    fn further_textures(&self) -> impl Iterator<Item = Texture> {
        let base =
            [self.metallic_roughness_texture, self.occlusion_texture, self.normal_texture, self.emissive_texture];
        let coat = [self.clearcoat_texture, self.clearcoat_roughness_texture, self.clearcoat_normal_texture];
        let specular = [self.specular_texture, self.specular_color_texture];
        let sheen = [self.sheen_color_texture, self.sheen_roughness_texture];
        base.into_iter().chain(coat).chain(specular).chain(sheen).flatten()
    }

    /// Returns whether the normal map, else that of the clear coat, has the second texture coordinates.
    pub(crate) fn has_second_normal_map(&self) -> bool {
        self.normal_texture.or(self.clearcoat_normal_texture).is_some_and(|texture| texture.second_uv)
    }
}

impl Default for Material {
    /// Returns the default material of glTF.
    fn default() -> Self {
        Self {
            name: String::new(),
            base_color: [1.0; 4],
            base_color_texture: None,
            tint_mask: None,
            variant_images: Vec::new(),
            metallic: 1.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            occlusion_strength: 1.0,
            ior: 1.5,
            specular: 1.0,
            specular_color: [1.0; 3],
            specular_texture: None,
            specular_color_texture: None,
            clearcoat: 0.0,
            clearcoat_roughness: 0.0,
            clearcoat_texture: None,
            clearcoat_roughness_texture: None,
            clearcoat_normal_scale: 1.0,
            clearcoat_normal_texture: None,
            sheen_color: [0.0; 3],
            sheen_roughness: 0.0,
            sheen_color_texture: None,
            sheen_roughness_texture: None,
            occlusion_texture: None,
            normal_map: false,
            normal_scale: 1.0,
            normal_texture: None,
            emissive: [0.0; 3],
            emissive_texture: None,
            double_sided: false,
            alpha_cutoff: None,
            alpha_blend: false,
            unlit: false,
        }
    }
}

/// A reference to an image, with sampling settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Texture {
    /// Index into [`Model::images`](super::Model::images).
    pub image: usize,
    /// Wrap modes along u and v.
    pub wrap: [gpuskin_rt::internals::Wrap; 2],
    /// Whether magnification uses the nearest texel.
    pub nearest: bool,
    /// Whether it has the second texture coordinates of the vertices.
    pub second_uv: bool,
}

/// A decoded colour image.
#[derive(Clone)]
pub struct Image {
    /// Name in messages, such as `image 3 (textures/skin.png)`.
    pub name: String,
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// RGBA8 texels, top row first. Materials decide whether they are sRGB. Empty if only the size
    /// was requested.
    pub rgba: Vec<u8>,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Image({}, {} x {})", self.name, self.width, self.height)
    }
}
