//! Shading of the built-in material: its model and its features.

use std::borrow::Cow;

use super::Error;
use crate::lighting::{PunctualUniform, ToneMapping};
use crate::shader::material::{LightingCode, OwnFunctions};

/// Shading of the built-in material.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Shading {
    /// Base colour and emitted light, in the light of a sun that wraps around and ambient light from above and
    /// below: [`Light`](crate::Light). The cheapest, for distant crowds and weak devices.
    #[default]
    Diffuse,
    /// glTF's metallic-roughness model with normal, occlusion and emissive textures, in the light of
    /// [`Lighting`](crate::Lighting). `MetallicRoughness(Default::default())` draws it without shadows and fog.
    MetallicRoughness(LightingFeatures),
}

/// Features of [`Shading::MetallicRoughness`]. A feature that is off costs no instruction and no binding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LightingFeatures {
    /// Shadows of the sun. Call [`CrowdRenderer::draw_shadows`](super::CrowdRenderer::draw_shadows) in every
    /// frame.
    pub shadows: Option<ShadowDescriptor>,
    /// Whether fog is drawn; its parameters are in [`Lighting::fog`](crate::Lighting::fog).
    pub fog: bool,
    /// Whether surfaces mirror an environment:
    /// [`CrowdRenderer::set_environment`](super::CrowdRenderer::set_environment) sets it. Without, they mirror
    /// [`Lighting::ambient`](crate::Lighting::ambient).
    pub environment: bool,
    /// Greatest number of point and spot lights, at most 1,024, or 341 on devices with uniform buffers of 16 KiB
    /// (WebGL2). [`CrowdRenderer::set_lights`](super::CrowdRenderer::set_lights) sets them. Each pixel reads all
    /// lights that are set.
    pub lights: u32,
    /// Curve from radiance to the picture.
    pub tone_mapping: ToneMapping,
    /// WGSL of the game that changes lit surfaces before light is computed: a function
    /// `fn surface(point: SurfacePoint, uv: vec2<f32>) -> SurfacePoint`, and whatever it needs. `point` is the
    /// surface as the material describes it, `uv` its texture coordinates.
    ///
    /// | member of `SurfacePoint` | |
    /// |---|---|
    /// | `position: vec3<f32>` | world space, metres |
    /// | `face_normal`, `normal: vec3<f32>` | unit normals on the visible side: of the mesh, and with the normal map |
    /// | `to_eye: vec3<f32>` | unit vector |
    /// | `base_color: vec3<f32>` | linear, with texture, vertex colour and tint |
    /// | `metallic`, `roughness`, `occlusion: f32` | 0..1 |
    /// | `emitted: vec3<f32>` | emitted radiance, nits |
    ///
    /// The function may also read what [`CrowdRenderer::lighting_source`](super::CrowdRenderer::lighting_source)
    /// lists. Begin names of your own with a prefix of your own. A mistake in the text is an error when the first
    /// crowd is made. Unlit surfaces do not call it.
    pub surface: Option<Cow<'static, str>>,
    /// WGSL of the game that reflects the light of the sun and of each point and spot light: a function
    /// `fn light(point: SurfacePoint, to_light: vec3<f32>, color: vec3<f32>) -> vec3<f32>`, which returns the radiance towards
    /// the eye, nits. `point` is that of [`Self::surface`], `to_light` a unit vector, and `color` the radiance of a white matte
    /// surface that faces the light, with the shadows of the sun. It is called for lights below the surface, too.
    ///
    /// `gpuskin_reflected_light(point, to_light, color)` returns what the material would reflect, and 0 below the surface.
    /// Ambient light, clear coats, emitted light and fog stay as they are. Otherwise the text is as that of
    /// [`Self::surface`].
    pub light: Option<Cow<'static, str>>,
}

/// Shadows of the sun, in cascades that the renderer fits to the main camera in every frame.
#[derive(Clone, Debug, PartialEq)]
pub struct ShadowDescriptor {
    /// Number of cascades, 1 to 4. Each is a view: instances are culled for it, and it has its own levels of
    /// detail.
    pub cascades: u32,
    /// Texels along a side of a cascade, at least 16. The shadow map has two cascades side by side, and takes
    /// 4 bytes per texel.
    pub size: u32,
    /// Distance from the main camera up to which shadows are drawn, metres.
    pub distance: f32,
    /// Distance, towards the sun, up to which things outside the picture cast shadows into it, metres.
    pub caster_distance: f32,
}

impl Default for ShadowDescriptor {
    /// Three cascades of 2048 x 2048 texels, 48 MiB, for 100 m.
    fn default() -> Self {
        Self { cascades: 3, size: 2048, distance: 100.0, caster_distance: 100.0 }
    }
}

impl Shading {
    /// Features of the metallic-roughness model; `None` for another model.
    pub(super) fn features(&self) -> Option<&LightingFeatures> {
        match self {
            Self::Diffuse => None,
            Self::MetallicRoughness(features) => Some(features),
        }
    }
}

impl LightingFeatures {
    /// Features that select shader code.
    pub(super) fn code(&self) -> LightingCode {
        let Self { shadows, fog, environment, lights, tone_mapping, surface: _, light: _ } = self;
        LightingCode {
            shadows: shadows.is_some(),
            fog: *fog,
            environment: *environment,
            lights: *lights,
            tone_mapping: *tone_mapping,
        }
    }

    /// WGSL of the game.
    pub(super) fn own_functions(&self) -> OwnFunctions<'_> {
        OwnFunctions { surface: self.surface.as_deref(), light: self.light.as_deref() }
    }

    /// Checks that the device can hold the lights.
    pub(super) fn check_lights(&self, device: &wgpu::Device) -> Result<(), Error> {
        let bytes = device.limits().max_uniform_buffer_binding_size.saturating_sub(LIGHTS_HEADER);
        let most = (bytes / size_of::<PunctualUniform>() as u64).min(MAX_LIGHTS) as u32;
        if self.lights > most {
            let reason = format!("lights: {} lights; this device holds at most {most}", self.lights);
            return Err(Error::Descriptor { reason });
        }
        Ok(())
    }
}

impl ShadowDescriptor {
    /// Checks that the device can hold the shadow map.
    pub(super) fn check(&self, device: &wgpu::Device) -> Result<(), Error> {
        let Self { cascades, size, distance, caster_distance } = *self;
        let wrong = |reason: String| Err(Error::Descriptor { reason });
        if !(1..=MAX_CASCADES as u32).contains(&cascades) {
            return wrong(format!("shadows.cascades: {cascades} cascades; choose 1 to {MAX_CASCADES}"));
        }
        let most = device.limits().max_texture_dimension_2d / tiles(cascades)[0];
        if !(16..=most).contains(&size) {
            let text = format!("shadows.size: {size} texels; this device holds 16 to {most} with {cascades} cascades");
            return wrong(text);
        }
        if !(distance > 0.0 && caster_distance >= 0.0 && distance.is_finite() && caster_distance.is_finite()) {
            return wrong(format!(
                "shadows: distance must be a positive number of metres, and caster_distance not negative, not \
                 {distance} and {caster_distance}"
            ));
        }
        Ok(())
    }
}

/// Largest number of point and spot lights.
const MAX_LIGHTS: u64 = 1024;
/// Bytes of the uniform before the lights.
pub(super) const LIGHTS_HEADER: u64 = 16;

/// Largest number of cascades.
pub(crate) const MAX_CASCADES: usize = 4;

/// Columns and rows of the tiles of cascades in the shadow map.
pub(crate) fn tiles(cascades: u32) -> [u32; 2] {
    [cascades.min(2), cascades.div_ceil(2)]
}
