//! Surfaces: properties of a mesh part that select its pipelines.

use crate::shader::DiffuseCode;
use crate::shader::material::{SurfaceCode, TextureSet};
use crate::{Material, MaterialTexture, MeshPart};

/// Properties of a mesh part and its material that select a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Surface {
    pub(super) double_sided: bool,
    pub(super) masked: bool,
    pub(super) blended: bool,
    pub(super) flat: bool,
    pub(super) response: LightResponse,
    /// Whether dielectrics reflect otherwise than with a refractive index of 1.5.
    pub(super) specular: bool,
    pub(super) clearcoat: bool,
    pub(super) sheen: bool,
    pub(super) textures: TextureSet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LightResponse {
    Lit,
    Emissive,
    Unlit,
}

impl Surface {
    /// `full`: whether the renderer draws the metallic-roughness model.
    pub(crate) fn of(part: &MeshPart, material: &Material, full: bool) -> Self {
        let blended = material.alpha_blend;
        let masked = material.alpha_cutoff.is_some() && !blended;
        let response = match material {
            _ if material.unlit => LightResponse::Unlit,
            _ if material.emits() => LightResponse::Emissive,
            _ => LightResponse::Lit,
        };
        let flat = part.flat && response != LightResponse::Unlit;
        let textures = textures(material, full);
        let specular = full && material.has_specular();
        let clearcoat = full && material.has_clearcoat();
        let sheen = full && material.has_sheen();
        let double_sided = material.double_sided;
        Self { double_sided, masked, blended, flat, response, specular, clearcoat, sheen, textures }
    }

    /// Properties that select the code of the diffuse material.
    pub(super) fn diffuse_code(self) -> DiffuseCode {
        let has = |feature| self.textures.has(feature);
        let second_emissive = self.textures.is_second(TextureSet::EMISSIVE);
        DiffuseCode { layers: has(TextureSet::LAYERS), tint_mask: has(TextureSet::TINT_MASK), second_emissive }
    }

    /// Properties that select the code of the metallic-roughness material.
    pub(super) fn code(self) -> SurfaceCode {
        let Self { masked, flat, response, specular, clearcoat, sheen, textures, .. } = self;
        let (unlit, emits) = (response == LightResponse::Unlit, response == LightResponse::Emissive);
        SurfaceCode { textures, masked, flat, unlit, emits, specular, clearcoat, sheen }
    }
}

/// Returns the textures of a material that the renderer samples. Without `full`, that are a base colour and,
/// if the material emits light, an emissive texture, white ones if the material has none.
pub(crate) fn textures(material: &Material, full: bool) -> TextureSet {
    let set = TextureSet::default()
        .with(TextureSet::LAYERS, material.has_layers())
        .with(TextureSet::TINT_MASK, material.has_tint_mask());
    let second = |texture: &Option<MaterialTexture>| texture.is_some_and(|texture| texture.second_uv);
    let emissive = material.emits() && second(&material.emissive_texture);
    if !full {
        let set = set.with(TextureSet::BASE_COLOR, true).with(TextureSet::EMISSIVE, material.emits());
        return set.with_second(TextureSet::EMISSIVE, emissive);
    }
    let set = set.with(TextureSet::BASE_COLOR, material.base_color_texture.is_some());
    if material.unlit {
        return set;
    }
    let (coat, sheen) = (material.has_clearcoat(), material.has_sheen());
    let used = [
        (TextureSet::EMISSIVE, &material.emissive_texture, material.emits()),
        (TextureSet::ORM, &material.orm_texture, true),
        (TextureSet::NORMAL, &material.normal_texture, true),
        (TextureSet::SPECULAR, &material.specular_texture, true),
        (TextureSet::CLEARCOAT, &material.clearcoat_texture, coat),
        (TextureSet::CLEARCOAT_NORMAL, &material.clearcoat_normal_texture, coat),
        (TextureSet::SHEEN, &material.sheen_texture, sheen),
    ];
    let set = used
        .into_iter()
        .filter(|(.., used)| *used)
        .fold(set, |set, (name, texture, _)| set.with(name, texture.is_some()).with_second(name, second(texture)));
    set.with_second(TextureSet::OCCLUSION, material.orm_texture.is_some() && material.occlusion_second_uv)
}
