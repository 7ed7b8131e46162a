//! Layers over the surface of a material, from extensions that `gltf::json` has no types for: clear coat and sheen.

use gltf::json;
use gltf::json::texture::Info;
use serde::Deserialize;

use crate::model::Material;

pub(super) const CLEARCOAT: &str = "KHR_materials_clearcoat";
pub(super) const SHEEN: &str = "KHR_materials_sheen";

/// Content of [`CLEARCOAT`].
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Clearcoat {
    clearcoat_factor: f32,
    pub(super) clearcoat_texture: Option<Info>,
    clearcoat_roughness_factor: f32,
    pub(super) clearcoat_roughness_texture: Option<Info>,
    pub(super) clearcoat_normal_texture: Option<json::material::NormalTexture>,
}

/// Content of [`SHEEN`].
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Sheen {
    sheen_color_factor: [f32; 3],
    pub(super) sheen_color_texture: Option<Info>,
    sheen_roughness_factor: f32,
    pub(super) sheen_roughness_texture: Option<Info>,
}

/// Clear coat and sheen of a material; the default ones where the material has none, or where they cannot be read.
#[derive(Default)]
pub(super) struct SurfaceLayers {
    pub(super) coat: Clearcoat,
    pub(super) sheen: Sheen,
}

impl SurfaceLayers {
    /// Reads the extensions of a material. `warn` gets a message per extension that cannot be read.
    pub(super) fn of(source: &json::Material, warn: &mut dyn FnMut(String)) -> Self {
        Self { coat: content(source, CLEARCOAT, warn), sheen: content(source, SHEEN, warn) }
    }

    /// Reads the factors. `warn` gets a message per factor that is out of range.
    pub(super) fn read_factors(&self, material: &mut Material, warn: &mut dyn FnMut(String)) {
        let Self { coat, sheen } = self;
        for (read, to, what) in [
            (coat.clearcoat_factor, &mut material.clearcoat, "strength"),
            (coat.clearcoat_roughness_factor, &mut material.clearcoat_roughness, "roughness"),
        ] {
            *to = read.clamp(0.0, 1.0);
            if *to != read {
                warn(format!("the {what} {read} of the clear coat is not in 0..1 and is set to {to}"));
            }
        }
        if let Some(normals) = &coat.clearcoat_normal_texture {
            if normals.scale.is_finite() {
                material.clearcoat_normal_scale = normals.scale;
            } else {
                warn(format!("the scale {} of the clear coat's normals is not finite and is set to 1", normals.scale));
            }
        }
        let (color, roughness) = (sheen.sheen_color_factor, sheen.sheen_roughness_factor);
        material.sheen_color = color.map(|c| c.clamp(0.0, 1.0));
        if material.sheen_color != color {
            warn(format!("the colour {color:?} of the sheen is not in 0..1 and is set to {:?}", material.sheen_color));
        }
        material.sheen_roughness = roughness.clamp(0.0, 1.0);
        if material.sheen_roughness != roughness {
            let set = material.sheen_roughness;
            warn(format!("the roughness {roughness} of the sheen is not in 0..1 and is set to {set}"));
        }
    }
}

/// Returns the content of an extension; the default if the material has none, or if it cannot be read.
fn content<'a, T: Default + Deserialize<'a>>(
    source: &'a json::Material,
    name: &str,
    warn: &mut dyn FnMut(String),
) -> T {
    let Some(content) = source.extensions.as_ref().and_then(|extensions| extensions.others.get(name)) else {
        return T::default();
    };
    T::deserialize(content).unwrap_or_else(|e| {
        warn(format!("{name} is ignored: {e}"));
        T::default()
    })
}
