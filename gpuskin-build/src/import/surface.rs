//! Material textures other than the base colour: normals, occlusion, roughness, metallic, emission, specular,
//! and those of its layers. An invalid texture is ignored with a warning.

use gltf::json::extensions::texture::TextureTransform;
use gltf::json::texture::Info;
use gltf::json::{self, Index};

use super::coordinates::UvSource;
use super::file::File;
use super::report::Report;
use super::surface_layers::SurfaceLayers;
use super::textures::TextureReader;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::model::{Material, Texture};

/// A texture and the source of its coordinates.
pub(super) struct TextureUse {
    /// Name in messages, such as `normal`.
    what: &'static str,
    index: Index<json::Texture>,
    uv: Result<UvSource, Diagnostic>,
}

impl TextureUse {
    fn new(what: &'static str, index: Index<json::Texture>, set: u32, transform: Option<&TextureTransform>) -> Self {
        Self { what, index, uv: UvSource::new(set, transform) }
    }

    fn of_info(what: &'static str, info: &Info) -> Self {
        let transform = info.extensions.as_ref().and_then(|e| e.texture_transform.as_ref());
        Self::new(what, info.index, info.tex_coord, transform)
    }

    /// Creates the value from the raw JSON of extensions, for textures whose JSON types do not
    /// include `KHR_texture_transform`.
    fn of_json(
        what: &'static str,
        index: Index<json::Texture>,
        set: u32,
        extensions: Option<&serde_json::Map<String, serde_json::Value>>,
    ) -> Self {
        match extensions.and_then(|all| all.get("KHR_texture_transform")) {
            None => Self::new(what, index, set, None),
            Some(value) => match serde_json::from_value(value.clone()) {
                Ok(transform) => Self::new(what, index, set, Some(&transform)),
                Err(e) => Self {
                    what,
                    index,
                    uv: Err(Diagnostic::error(DiagnosticCode::MaterialInvalid, format!("KHR_texture_transform: {e}"))),
                },
            },
        }
    }
}

/// The textures of a material other than its base colour.
pub(super) struct MaterialTextures {
    normal: Option<TextureUse>,
    metallic_roughness: Option<TextureUse>,
    occlusion: Option<TextureUse>,
    emissive: Option<TextureUse>,
    specular: Option<TextureUse>,
    specular_color: Option<TextureUse>,
    clearcoat: Option<TextureUse>,
    clearcoat_roughness: Option<TextureUse>,
    clearcoat_normal: Option<TextureUse>,
    sheen_color: Option<TextureUse>,
    sheen_roughness: Option<TextureUse>,
}

/// Texture coordinates of a material's vertices, and the name of the material.
pub(super) struct BaseColor<'a> {
    pub uv: Option<UvSource>,
    pub label: &'a Label,
}

impl MaterialTextures {
    pub(super) fn of(source: &json::Material) -> Self {
        let occlusion = source
            .occlusion_texture
            .as_ref()
            .map(|t| TextureUse::of_json("occlusion", t.index, t.tex_coord, t.extensions.as_ref().map(|e| &e.others)));
        let pbr = &source.pbr_metallic_roughness;
        let metallic_roughness =
            pbr.metallic_roughness_texture.as_ref().map(|info| TextureUse::of_info("metallic-roughness", info));
        let emissive = source.emissive_texture.as_ref().map(|info| TextureUse::of_info("emissive", info));
        let extension = source.extensions.as_ref().and_then(|e| e.specular.as_ref());
        let of = |what, info: Option<&Info>| info.map(|info| TextureUse::of_info(what, info));
        let specular = of("specular", extension.and_then(|e| e.specular_texture.as_ref()));
        let specular_color = of("specular colour", extension.and_then(|e| e.specular_color_texture.as_ref()));
        // Warnings are those of `read`.
        let SurfaceLayers { coat, sheen } = SurfaceLayers::of(source, &mut |_| {});
        let clearcoat = of("clear coat", coat.clearcoat_texture.as_ref());
        let clearcoat_roughness = of("clear coat's roughness", coat.clearcoat_roughness_texture.as_ref());
        let normal_of = |what, t: &json::material::NormalTexture| {
            TextureUse::of_json(what, t.index, t.tex_coord, t.extensions.as_ref().map(|e| &e.others))
        };
        let normal = source.normal_texture.as_ref().map(|t| normal_of("normal", t));
        let clearcoat_normal = coat.clearcoat_normal_texture.as_ref().map(|t| normal_of("clear coat's normal", t));
        let sheen_color = of("sheen colour", sheen.sheen_color_texture.as_ref());
        let sheen_roughness = of("sheen roughness", sheen.sheen_roughness_texture.as_ref());
        Self {
            normal,
            metallic_roughness,
            occlusion,
            emissive,
            specular,
            specular_color,
            clearcoat,
            clearcoat_roughness,
            clearcoat_normal,
            sheen_color,
            sheen_roughness,
        }
    }

    /// Returns the texture coordinates of a material without a base colour texture.
    pub(super) fn uv(&self) -> Option<UvSource> {
        let base = [&self.normal, &self.metallic_roughness, &self.occlusion, &self.emissive];
        let specular = [&self.specular, &self.specular_color];
        let coat = [&self.clearcoat, &self.clearcoat_roughness, &self.clearcoat_normal];
        let sheen = [&self.sheen_color, &self.sheen_roughness];
        let mut all = base.into_iter().chain(specular).chain(coat).chain(sheen).flatten();
        all.find_map(|texture| texture.uv.as_ref().ok().copied())
    }

    /// Reads factors and textures. Returns the source of the second texture coordinates, if a texture has others than
    /// the base colour.
    pub(super) fn read(
        self,
        textures: &mut TextureReader,
        file: &File<'_>,
        source: &json::Material,
        base: &BaseColor<'_>,
        material: &mut Material,
        report: &mut Report<'_>,
    ) -> Option<UvSource> {
        let BaseColor { uv, label } = *base;
        let pbr = &source.pbr_metallic_roughness;
        (material.metallic, material.roughness) = (pbr.metallic_factor.0, pbr.roughness_factor.0);
        material.occlusion_strength = source.occlusion_texture.as_ref().map_or(1.0, |t| t.strength.0);
        material.normal_scale = source.normal_texture.as_ref().map_or(1.0, |t| t.scale);
        let strength = source.extensions.as_ref().and_then(|e| e.emissive_strength.as_ref());
        let strength = strength.map_or(1.0, |s| s.emissive_strength.0);
        let emissive = source.emissive_factor.0.map(|c| c * strength);
        if emissive.iter().any(|c| *c < 0.0) {
            let message = "the emissive factor is negative and is set to zero";
            let diagnostic = Diagnostic::warning(DiagnosticCode::MaterialInvalid, message).collected().within(label);
            report.warn(diagnostic.within(Label::file(&file.shown)));
        }
        material.emissive = emissive.map(|c| c.clamp(0.0, f32::MAX));

        let mut warn = |message| {
            let diagnostic = Diagnostic::warning(DiagnosticCode::MaterialInvalid, message).collected().within(label);
            report.warn(diagnostic.within(Label::file(&file.shown)));
        };
        let layers = SurfaceLayers::of(source, &mut warn);
        layers.read_factors(material, &mut warn);
        read_dielectric(source, material, &mut warn);
        let mut warn = |what: &str, diagnostic: Diagnostic| {
            let message = format!("the {what} texture is ignored: {}", diagnostic.message());
            let warning = Diagnostic::warning(DiagnosticCode::MaterialTexture, message).collected_like(&diagnostic);
            report.warn(warning.collected().within(label).within(Label::file(&file.shown)));
        };
        let mut second: Option<UvSource> = None;
        let mut read = |texture: Option<TextureUse>| -> Option<Texture> {
            let texture = texture?;
            let found = texture.uv.and_then(|own| {
                let second_uv = uv.is_some_and(|uv| uv != own);
                if second_uv && second.is_some_and(|second| second != own) {
                    return Err(Diagnostic::error(
                        DiagnosticCode::MaterialTexture,
                        "its texture coordinates are the third of the material, and vertices have at most two",
                    ));
                }
                let found = textures.texture(file, texture.index)?.ok_or_else(|| {
                    let message = format!("texture {} has no image", texture.index);
                    let place = Label::from(format_args!("texture {}", texture.index));
                    Diagnostic::error(DiagnosticCode::MaterialTexture, message).collected_as("no image").placed(place)
                })?;
                second = second.or(second_uv.then_some(own));
                Ok(Texture { second_uv, ..found })
            });
            found.map_err(|diagnostic| warn(texture.what, diagnostic)).ok()
        };
        material.normal_texture = read(self.normal);
        material.metallic_roughness_texture = read(self.metallic_roughness);
        material.occlusion_texture = read(self.occlusion);
        material.emissive_texture = read(self.emissive);
        material.specular_texture = read(self.specular);
        material.specular_color_texture = read(self.specular_color);
        material.clearcoat_texture = read(self.clearcoat);
        material.clearcoat_roughness_texture = read(self.clearcoat_roughness);
        material.clearcoat_normal_texture = read(self.clearcoat_normal);
        material.normal_map |= material.clearcoat > 0.0 && material.clearcoat_normal_texture.is_some();
        material.sheen_color_texture = read(self.sheen_color);
        material.sheen_roughness_texture = read(self.sheen_roughness);
        // Textures that share the channels of one, and normal maps with the same tangents.
        let mut differs = |texture: &mut Option<Texture>, other: Option<Texture>, what: &str, name: &str| {
            let differ = matches!((*texture, other), (Some(a), Some(b)) if a.second_uv != b.second_uv);
            if texture.take_if(|_| differ).is_some() {
                let message = format!(
                    "its texture coordinates differ from those of the {name} texture, with which it is combined"
                );
                warn(what, Diagnostic::error(DiagnosticCode::MaterialTexture, message));
            }
        };
        differs(&mut material.specular_texture, material.specular_color_texture, "specular", "specular colour");
        let roughness = material.clearcoat_roughness_texture;
        differs(&mut material.clearcoat_texture, roughness, "clear coat", "clear coat's roughness");
        differs(&mut material.clearcoat_normal_texture, material.normal_texture, "clear coat's normal", "normal");
        differs(&mut material.sheen_roughness_texture, material.sheen_color_texture, "sheen roughness", "sheen colour");
        let mut combine = |texture: &mut Option<Texture>, other: Option<Texture>, what: &str| {
            let (Some(own), Some(other)) = (*texture, other) else { return };
            if let Err(diagnostic) = textures.claim_combined([own.image, other.image], file.limits().image) {
                warn(what, diagnostic);
                *texture = None;
            }
        };
        combine(&mut material.occlusion_texture, material.metallic_roughness_texture, "occlusion");
        combine(&mut material.specular_texture, material.specular_color_texture, "specular");
        combine(&mut material.clearcoat_texture, roughness, "clear coat");
        combine(&mut material.sheen_roughness_texture, material.sheen_color_texture, "sheen roughness");
        for (texture, other, what, name) in [
            (material.occlusion_texture, material.metallic_roughness_texture, "occlusion", "metallic-roughness"),
            (material.specular_texture, material.specular_color_texture, "specular", "specular colour"),
            (material.clearcoat_texture, roughness, "clear coat", "clear coat's roughness"),
            (material.sheen_roughness_texture, material.sheen_color_texture, "sheen roughness", "sheen colour"),
        ] {
            let sampler = |texture: Texture| (texture.wrap, texture.nearest);
            if texture.zip(other).is_some_and(|(a, b)| sampler(a) != sampler(b)) {
                let message = format!(
                    "the {what} texture is drawn with the sampler of the {name} texture, with which it is combined: its \
                     own has other wrap modes or another filter"
                );
                let diagnostic =
                    Diagnostic::warning(DiagnosticCode::MaterialSampler, message).collected().within(label);
                report.warn(diagnostic.within(Label::file(&file.shown)));
            }
        }
        second.filter(|_| material.has_second_uv())
    }
}

/// Reads refractive index, strength and colour of the dielectric's reflection.
fn read_dielectric(source: &json::Material, material: &mut Material, warn: &mut dyn FnMut(String)) {
    let Some(extensions) = &source.extensions else { return };
    if let Some(ior) = &extensions.ior {
        let ior = ior.ior.0;
        if ior == 0.0 || ior >= 1.0 {
            material.ior = ior;
        } else {
            warn(format!("the refractive index {ior} is not possible and is set to 1.5"));
        }
    }
    if let Some(specular) = &extensions.specular {
        let (factor, color) = (specular.specular_factor.0, specular.specular_color_factor.0);
        if (0.0..=1.0).contains(&factor) {
            material.specular = factor;
        } else {
            material.specular = factor.clamp(0.0, 1.0);
            warn(format!("the specular factor {factor} is not in 0..1 and is set to {}", material.specular));
        }
        if color.iter().any(|c| *c < 0.0) {
            warn("the specular colour is negative and is set to zero".to_owned());
        }
        material.specular_color = color.map(|c| c.clamp(0.0, f32::MAX));
    }
}
