//! Material textures other than the base colour: normals, occlusion, roughness, metallic, emission.
//! The renderer's own material draws only emission. An invalid texture is ignored with a warning.

use gltf::json::extensions::texture::TextureTransform;
use gltf::json::texture::Info;
use gltf::json::{self, Index};

use super::file::File;
use super::report::Report;
use super::textures::{TextureReader, UvSource};
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
}

/// Texture coordinates of a material's vertices, and the name of the material.
pub(super) struct BaseColor<'a> {
    pub uv: Option<UvSource>,
    pub label: &'a Label,
}

impl MaterialTextures {
    pub(super) fn of(source: &json::Material) -> Self {
        let normal = source
            .normal_texture
            .as_ref()
            .map(|t| TextureUse::of_json("normal", t.index, t.tex_coord, t.extensions.as_ref().map(|e| &e.others)));
        let occlusion = source
            .occlusion_texture
            .as_ref()
            .map(|t| TextureUse::of_json("occlusion", t.index, t.tex_coord, t.extensions.as_ref().map(|e| &e.others)));
        let pbr = &source.pbr_metallic_roughness;
        let metallic_roughness =
            pbr.metallic_roughness_texture.as_ref().map(|info| TextureUse::of_info("metallic-roughness", info));
        let emissive = source.emissive_texture.as_ref().map(|info| TextureUse::of_info("emissive", info));
        Self { normal, metallic_roughness, occlusion, emissive }
    }

    /// Returns the texture coordinates of a material without a base colour texture.
    pub(super) fn uv(&self) -> Option<UvSource> {
        let all = [&self.normal, &self.metallic_roughness, &self.occlusion, &self.emissive];
        all.into_iter().flatten().find_map(|texture| texture.uv.as_ref().ok().copied())
    }

    /// Reads factors and textures. `uv` is the source of the vertices' texture coordinates; `label`
    /// names the material.
    pub(super) fn read(
        self,
        textures: &mut TextureReader,
        file: &File<'_>,
        source: &json::Material,
        base: &BaseColor<'_>,
        material: &mut Material,
        report: &mut Report<'_>,
    ) {
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
            let diagnostic = Diagnostic::warning(DiagnosticCode::MaterialInvalid, message).within(label);
            report.warn(diagnostic.within(Label::file(&file.shown)));
        }
        material.emissive = emissive.map(|c| c.clamp(0.0, f32::MAX));

        let mut warn = |what: &str, diagnostic: Diagnostic| {
            let message = format!("the {what} texture is ignored: {}", diagnostic.message());
            let diagnostic = Diagnostic::warning(DiagnosticCode::MaterialTexture, message)
                .within(label)
                .within(Label::file(&file.shown));
            report.warn(diagnostic);
        };
        let mut read = |texture: Option<TextureUse>| -> Option<Texture> {
            let texture = texture?;
            let found = texture.uv.and_then(|own| match uv {
                Some(uv) if uv != own => Err(Diagnostic::error(
                    DiagnosticCode::MaterialTexture,
                    "its texture coordinates differ from those of the base colour, and vertices have only one set",
                )),
                _ => textures.texture(file, texture.index)?.ok_or_else(|| {
                    let message = format!("texture {} has no image", texture.index);
                    Diagnostic::error(DiagnosticCode::MaterialTexture, message)
                }),
            });
            found.map_err(|diagnostic| warn(texture.what, diagnostic)).ok()
        };
        material.normal_texture = read(self.normal);
        material.metallic_roughness_texture = read(self.metallic_roughness);
        material.occlusion_texture = read(self.occlusion);
        material.emissive_texture = read(self.emissive);
        if let (Some(occlusion), Some(other)) = (material.occlusion_texture, material.metallic_roughness_texture) {
            let [a, b] = [occlusion, other].map(|t| &textures.images[t.image]);
            if (a.width, a.height) != (b.width, b.height) {
                let message = format!(
                    "it has {} x {} texels, but the metallic-roughness texture, with which it is combined, has {} x {}",
                    a.width, a.height, b.width, b.height
                );
                warn("occlusion", Diagnostic::error(DiagnosticCode::MaterialTexture, message));
                material.occlusion_texture = None;
            }
        }
    }
}
