//! Shading of the built-in material: its model and its features.

use std::borrow::Cow;

use super::Error;
use crate::cull::MAX_VIEWS;
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
    /// (WebGL2). [`CrowdRenderer::set_lights`](super::CrowdRenderer::set_lights) sets them. With room for more than four,
    /// each pixel reads those that may reach it, from a grid of the world; a texture of 320 KiB holds it.
    pub lights: u32,
    /// Shadows of the point and spot lights whose [`PunctualLight::shadow`](crate::PunctualLight::shadow) is set. Call
    /// [`CrowdRenderer::draw_shadows`](super::CrowdRenderer::draw_shadows) in every frame.
    pub light_shadows: Option<LightShadowDescriptor>,
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
    /// surface that faces the light, with shadows. It is called for lights below the surface, too.
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

/// Shadows of point and spot lights: square tiles of the shadow map, each with a perspective view from its light.
///
/// A spot light takes one tile, a point light six: the faces of a cube. A spot light whose
/// [`LightCone::outer`](crate::LightCone::outer) is above 1.3 radians (75 degrees) takes six, too. Tiles are given in the order
/// of [`CrowdRenderer::set_lights`](super::CrowdRenderer::set_lights).
#[derive(Clone, Debug, PartialEq)]
pub struct LightShadowDescriptor {
    /// Number of tiles, at least 1. Each is a view: instances are culled for it, and it has its own levels of detail. Main
    /// view, cascades and tiles are at most [`View::MAX_CULLED`](super::View::MAX_CULLED) views together.
    pub tiles: u32,
    /// Texels along a side of a tile, at least 64. Tiles and cascades share the shadow map, which takes 4 bytes per texel. With
    /// three cascades, tiles use the free quarter of it first.
    pub size: u32,
}

impl Default for LightShadowDescriptor {
    /// Six tiles of 512 x 512 texels, for a point light or six spot lights: 6 MiB, or nothing beside three cascades of
    /// 2048 x 2048 texels.
    fn default() -> Self {
        Self { tiles: 6, size: 512 }
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
        let Self { shadows, fog, environment, lights, light_shadows, tone_mapping, surface: _, light: _ } = self;
        LightingCode {
            shadows: shadows.is_some(),
            light_shadows: light_shadows.as_ref().map_or(0, |shadows| shadows.tiles),
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

    /// Checks that the device can hold the shadow map. `depth_compare`: comparison of the renderer.
    pub(super) fn check_shadows(
        &self,
        device: &wgpu::Device,
        depth_compare: wgpu::CompareFunction,
        reversed: Option<bool>,
    ) -> Result<(), Error> {
        let wrong = |reason: String| Err(Error::Descriptor { reason });
        let Some(layout) = ShadowLayout::new(self) else { return Ok(()) };
        let most = device.limits().max_texture_dimension_2d;
        let cascades = self.shadows.as_ref().map_or(0, |shadows| shadows.cascades);
        if let Some(ShadowDescriptor { cascades, size, distance, caster_distance }) = self.shadows.clone() {
            if !(1..=MAX_CASCADES as u32).contains(&cascades) {
                return wrong(format!("shadows.cascades: {cascades} cascades; choose 1 to {MAX_CASCADES}"));
            }
            let most = most / columns_and_rows(cascades)[0];
            if !(16..=most).contains(&size) {
                return wrong(format!(
                    "shadows.size: {size} texels; this device holds 16 to {most} with {cascades} cascades"
                ));
            }
            if !(distance > 0.0 && caster_distance >= 0.0 && distance.is_finite() && caster_distance.is_finite()) {
                return wrong(format!(
                    "shadows: distance must be a positive number of metres, and caster_distance not negative, not \
                     {distance} and {caster_distance}"
                ));
            }
        }
        if let Some(LightShadowDescriptor { tiles, size }) = self.light_shadows {
            if self.lights == 0 {
                return wrong("light_shadows: the renderer has no lights; set LightingFeatures::lights".into());
            }
            let most_tiles = MAX_VIEWS as u32 - 1 - cascades;
            if !(1..=most_tiles).contains(&tiles) {
                return wrong(format!(
                    "light_shadows.tiles: {tiles} tiles; choose 1 to {most_tiles} with {cascades} cascades"
                ));
            }
            if !(64..=most).contains(&size) || layout.size.iter().any(|side| *side > most) {
                let [width, height] = layout.size;
                return wrong(format!(
                    "light_shadows.size: {size} texels, which make a shadow map of {width} x {height}; a tile has at \
                     least 64, and this device holds {most} x {most}"
                ));
            }
        }
        if reversed.is_none() {
            return wrong(format!(
                "shadows: depth_compare must be Less, LessEqual, Greater or GreaterEqual, not {depth_compare:?}"
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

/// Columns and rows of the cascades in the shadow map.
fn columns_and_rows(cascades: u32) -> [u32; 2] {
    [cascades.min(2), cascades.div_ceil(2)]
}

/// Square of a shadow map, texels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ShadowTile {
    /// Column and row of the first texel.
    pub(crate) first: [u32; 2],
    pub(crate) side: u32,
}

/// Places of cascades and tiles of lights in the shadow map.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShadowLayout {
    /// Width and height of the shadow map, texels.
    pub(crate) size: [u32; 2],
    /// Cascades, then tiles of lights.
    pub(crate) tiles: Vec<ShadowTile>,
}

impl ShadowLayout {
    /// Returns `None` without shadows. Unusable descriptors give a layout that no device holds.
    pub(crate) fn new(features: &LightingFeatures) -> Option<Self> {
        let (sun, lights) = (features.shadows.as_ref(), features.light_shadows.as_ref());
        if sun.is_none() && lights.is_none() {
            return None;
        }
        let (cascades, side) = sun.map_or((0, 0), |sun| (sun.cascades.min(MAX_CASCADES as u32), sun.size));
        let [columns, rows] = columns_and_rows(cascades);
        let [width, height] = [columns, rows].map(|count| count.saturating_mul(side));
        let cascade = |i: u32| ShadowTile { first: [i % 2, i / 2].map(|at| at.saturating_mul(side)), side };
        let mut tiles: Vec<_> = (0..cascades).map(cascade).collect();
        let mut size = [width, height];
        if let Some(lights) = lights {
            let (side, count) = (lights.size.max(1), lights.tiles.min(MAX_VIEWS as u32));
            let mut place = |i: u32, columns: u32, corner: [u32; 2]| {
                let first =
                    [0, 1].map(|k| corner[k].saturating_add([i % columns, i / columns][k].saturating_mul(side)));
                tiles.push(ShadowTile { first, side });
                size = [0, 1].map(|k| size[k].max(first[k].saturating_add(side)));
            };
            // The fourth cascade's place.
            let free = if cascades == 3 { width / 2 / side } else { 0 };
            let in_quarter = free.saturating_mul(free).min(count);
            (0..in_quarter).for_each(|i| place(i, free, [width / 2, height / 2]));
            let left = count - in_quarter;
            let columns = (width / side).max((f64::from(left)).sqrt().ceil() as u32).max(1);
            (0..left).for_each(|i| place(i, columns, [0, height]));
        }
        Some(Self { size, tiles })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_of_the_shadow_map_do_not_overlap() {
        let cascades = [None, Some((1, 512)), Some((2, 512)), Some((3, 512)), Some((4, 512)), Some((3, 100))];
        for sun in cascades {
            for (tiles, size) in [(0, 0), (1, 64), (6, 128), (11, 512), (10, 171), (4, 600)] {
                let shadows =
                    sun.map(|(cascades, size)| ShadowDescriptor { cascades, size, ..ShadowDescriptor::default() });
                let light_shadows = (tiles > 0).then_some(LightShadowDescriptor { tiles, size });
                let features = LightingFeatures { shadows, light_shadows, ..Default::default() };
                let Some(layout) = ShadowLayout::new(&features) else {
                    assert!(sun.is_none() && tiles == 0);
                    continue;
                };
                assert_eq!(layout.tiles.len() as u32, sun.map_or(0, |sun| sun.0) + tiles);
                for (i, a) in layout.tiles.iter().enumerate() {
                    assert!((0..2).all(|k| a.first[k] + a.side <= layout.size[k]), "{layout:?}");
                    for b in &layout.tiles[..i] {
                        let apart =
                            (0..2).any(|k| a.first[k] + a.side <= b.first[k] || b.first[k] + b.side <= a.first[k]);
                        assert!(apart, "{layout:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn tiles_beside_three_cascades_take_no_memory() {
        let (shadows, light_shadows) = (Some(Default::default()), Some(Default::default()));
        let both = ShadowLayout::new(&LightingFeatures { shadows, light_shadows, ..Default::default() }).unwrap();
        assert_eq!((both.size, both.tiles[3].first), ([4096; 2], [2048; 2]));
    }
}
