//! Lighting and shadows of a renderer, for its own material and for pipelines of a game.

use super::environment::EnvironmentMap;
use super::gpu::{Gpu, guarded};
use super::pipelines::PassKind;
use super::{Camera, CrowdRenderer, Error, Light, View};
use crate::Environment;
use crate::lighting::{Lighting, PunctualLight};
use crate::shader::material;

impl CrowdRenderer {
    /// Sets the light. Takes effect at the next [`CrowdRenderer::prepare`]. Where
    /// [`RendererDescriptor::shading`](crate::RendererDescriptor::shading) is the metallic-roughness model, this is
    /// `set_lighting(&light.into())`.
    pub fn set_light(&mut self, light: Light) {
        (self.light, self.lighting) = (light, light.into());
    }

    /// Sets light, fog and exposure. Takes effect at the next [`CrowdRenderer::prepare`]. Where
    /// [`RendererDescriptor::shading`](crate::RendererDescriptor::shading) is diffuse, the sun and the ambient light
    /// from above and below are drawn.
    pub fn set_lighting(&mut self, lighting: &Lighting) {
        (self.light, self.lighting) = (Light::of(lighting), *lighting);
    }

    /// Replaces all point and spot lights. Takes effect at the next [`CrowdRenderer::prepare`].
    ///
    /// Lights with a [`shadow`](PunctualLight::shadow) get tiles of the shadow map in their order: sort them by importance. One
    /// that needs more tiles than are left lights without a shadow. A light of no intensity takes none.
    ///
    /// Each pixel computes lights with shadows, lights without a [`range`](PunctualLight::range), and of the others those that
    /// may reach it.
    ///
    /// ```no_run
    /// # use gpuskin_rt::{CrowdRenderer, Error};
    /// use gpuskin_rt::{LightCone, PunctualLight};
    ///
    /// # fn torches(renderer: &CrowdRenderer) -> Result<(), Error> {
    /// // With LightingFeatures { lights: 16, .. } in the renderer's descriptor.
    /// let torch = PunctualLight { position: [2.0, 1.8, 0.0], color: [1.0, 0.6, 0.3], intensity: 12.0, ..Default::default() };
    /// let cone = LightCone { direction: [0.0, -1.0, 0.0], inner: 0.3, outer: 0.5 };
    /// let lamp = PunctualLight { position: [0.0, 5.0, 0.0], intensity: 80.0, cone: Some(cone), ..Default::default() };
    /// renderer.set_lights(&[torch, PunctualLight { range: Some(8.0), ..lamp }])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If there are more lights than [`LightingFeatures::lights`](crate::LightingFeatures::lights); the lights then
    /// stay as they were.
    pub fn set_lights(&self, lights: &[PunctualLight]) -> Result<(), Error> {
        let most = self.lit.as_ref().map_or(0, |lit| lit.features.lights);
        if lights.len() > most as usize {
            let reason = format!(
                "set_lights: {} lights, but the renderer has {most}; raise LightingFeatures::lights of its descriptor",
                lights.len()
            );
            return Err(Error::Descriptor { reason });
        }
        if let Some(lit) = &self.lit {
            lit.set_lights(lights);
        }
        Ok(())
    }

    /// Sets the environment that surfaces mirror. `None` mirrors no light, as before the first call. Diffuse light is
    /// that of [`Lighting::ambient`]: [`Ambient::environment`](crate::Ambient::environment) makes both agree.
    ///
    /// ```no_run
    /// # use gpuskin_rt::{CrowdRenderer, Environment, Error};
    /// use gpuskin_rt::{Ambient, Lighting};
    ///
    /// # fn harbour(renderer: &mut CrowdRenderer, harbour: &Environment) -> Result<(), Error> {
    /// // With LightingFeatures { environment: true, .. } in the renderer's descriptor; harbour: &environments::HARBOUR.
    /// renderer.set_environment(Some(harbour))?;
    /// renderer.set_lighting(&Lighting { ambient: Ambient::environment(harbour), ..Default::default() });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Bind groups of [`CrowdRenderer::lighting_group`] are made anew.
    ///
    /// # Errors
    /// If [`LightingFeatures::environment`](crate::LightingFeatures::environment) is off, or the file cannot be loaded;
    /// the environment then stays as it was.
    pub fn set_environment(&mut self, environment: Option<&Environment>) -> Result<(), Error> {
        let gpu = Gpu { device: &self.device, queue: &self.queue };
        let Some(lit) = self.lit.as_mut().filter(|lit| lit.features.environment) else {
            let reason =
                "set_environment: the renderer mirrors none; set LightingFeatures::environment of its descriptor";
            return Err(Error::Descriptor { reason: reason.into() });
        };
        let map = guarded(&self.device, || match environment {
            Some(environment) => EnvironmentMap::new(gpu, environment),
            None => Ok(EnvironmentMap::black(gpu)),
        })?;
        lit.environment = Some(map);
        self.bind_lighting();
        Ok(())
    }

    /// Draws the shadows of all crowds and fields. Call it in every frame after [`CrowdRenderer::prepare`] and
    /// before drawing, in the same encoder or a later one. Without
    /// [`LightingFeatures::shadows`](crate::LightingFeatures::shadows) and
    /// [`LightingFeatures::light_shadows`](crate::LightingFeatures::light_shadows), it does nothing.
    ///
    /// ```no_run
    /// # use gpuskin_rt::{wgpu, Camera, CrowdRenderer, Error};
    /// # fn frame(renderer: &mut CrowdRenderer, device: &wgpu::Device, queue: &wgpu::Queue, camera: &Camera,
    /// #          seconds: f64, pass: &wgpu::RenderPassDescriptor<'_>) -> Result<(), Error> {
    /// let mut encoder = device.create_command_encoder(&Default::default());
    /// renderer.prepare(queue, &mut encoder, camera, seconds)?;
    /// renderer.draw_shadows(&mut encoder);
    /// renderer.draw(&mut encoder.begin_render_pass(pass));
    /// queue.submit([encoder.finish()]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn draw_shadows(&self, encoder: &mut wgpu::CommandEncoder) {
        self.draw_shadows_with(encoder, |_, _| ());
    }

    /// Draws the shadows of all crowds and fields, and calls `draw` for each cascade of the sun and each view of a light with
    /// a shadow, for the game's own geometry. The camera is that of the view: orthographic for the sun, perspective for lights.
    /// Depth is 0 at the light and 1 far away, or reversed as
    /// [`RendererDescriptor::depth_compare`](crate::RendererDescriptor::depth_compare). The pass has one
    /// attachment: depth, `Depth32Float`, one sample. Viewport and scissor are set.
    pub fn draw_shadows_with(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        mut draw: impl FnMut(&mut wgpu::RenderPass<'_>, &Camera),
    ) {
        let Some(map) = self.lit.as_ref().and_then(|lit| lit.shadow_map.as_ref()) else { return };
        let mut pass = map.begin(encoder);
        for (i, view) in map.views.iter().enumerate() {
            // A tile without a light is not drawn.
            let Some(camera) = self.camera_of(*view).filter(|camera| *camera != Camera::BLIND) else { continue };
            map.set_tile(&mut pass, i);
            self.draw_pass(&mut pass, *view, PassKind::Shadow);
            draw(&mut pass, &camera);
        }
    }

    /// Views of the shadow map: the cascades of the sun, then the tiles of lights.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub fn shadow_views(&self) -> &[View] {
        self.lit.as_ref().and_then(|lit| lit.shadow_map.as_ref()).map_or(&[], |map| &map.views)
    }

    /// Layout of [`CrowdRenderer::lighting_group`]; `None` if
    /// [`RendererDescriptor::shading`](crate::RendererDescriptor::shading) is diffuse.
    pub fn lighting_layout(&self) -> Option<&wgpu::BindGroupLayout> {
        self.layouts.lit_view.as_ref()
    }

    /// Bind group with camera, time, light and shadows of a view, for a game's own pipelines; `None` if
    /// [`RendererDescriptor::shading`](crate::RendererDescriptor::shading) is diffuse, or for a view of another
    /// renderer.
    pub fn lighting_group(&self, view: View) -> Option<&wgpu::BindGroup> {
        self.lit_group(view)
    }

    /// Returns the WGSL that reads [`CrowdRenderer::lighting_group`] in `@group(group)`; `None` if
    /// [`RendererDescriptor::shading`](crate::RendererDescriptor::shading) is diffuse.
    ///
    /// | WGSL | |
    /// |---|---|
    /// | `gpuskin_view.view_proj`, `gpuskin_view.eye` | camera |
    /// | `gpuskin_scene.time` | time for `gpuskin_skin_vertex` |
    /// | `gpuskin_lighting.to_sun`, `gpuskin_lighting.sun` | direction towards the sun, and its illuminance over pi |
    /// | `gpuskin_irradiance(world, face_normal, normal)` | irradiance over pi of ambient light, the sun, and the lights that reach a point, with shadows: what a matte surface reflects is its colour times this. `normal` is `face_normal`, or that of a normal map; both are unit vectors |
    /// | `gpuskin_ambient(normal)` | ambient irradiance over pi |
    /// | `gpuskin_reflected(normal, to_eye, roughness)` | ambient radiance that a surface mirrors |
    /// | `gpuskin_sun_visibility(world, normal)` | fraction of the sunlight that reaches a point; 1 without shadows |
    /// | `gpuskin_lights.count`, `gpuskin_light(index, world)` | with lights: their number, and `to_light` and `color` (illuminance over pi, without shadow) at a point. Lights with shadows come first |
    /// | `gpuskin_nearby_lights(world)`, `gpuskin_nearby_light(nearby, i)` | with lights: those that may reach a point, and the index of one of them; `i` is below `nearby.count` |
    /// | `gpuskin_light_visibility(index, world, normal)` | with shadows of lights: fraction of the light that reaches a point; 1 for a light without shadow |
    /// | `gpuskin_in_fog(radiance, world)` | radiance seen through the fog |
    /// | `gpuskin_fog_radiance(world)` | radiance of dense fog in the direction of a point |
    /// | `gpuskin_tone_mapped(radiance)` | radiance with exposure and tone mapping |
    pub fn lighting_source(&self, group: u32) -> Option<String> {
        Some(material::lighting_of_games(self.lit.as_ref()?.features.code(), group))
    }
}
