//! Lighting and shadows of a renderer, for its own material and for pipelines of a game.

use super::pipelines::PassKind;
use super::{Camera, CrowdRenderer, Light, View};
use crate::lighting::Lighting;
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

    /// Draws the shadows of all crowds and fields. Call it in every frame after [`CrowdRenderer::prepare`] and
    /// before drawing, in the same encoder or a later one. Without
    /// [`LightingFeatures::shadows`](crate::LightingFeatures::shadows), it does nothing.
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

    /// Draws the shadows of all crowds and fields, and calls `draw` in each cascade for the game's own geometry.
    /// The camera is that of the cascade: orthographic, depth from 0 at the sun to 1, or reversed as
    /// [`RendererDescriptor::depth_compare`](crate::RendererDescriptor::depth_compare). The pass has one
    /// attachment: depth, `Depth32Float`, one sample. Viewport and scissor are set.
    pub fn draw_shadows_with(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        mut draw: impl FnMut(&mut wgpu::RenderPass<'_>, &Camera),
    ) {
        let Some(shadows) = self.lit.as_ref().and_then(|lit| lit.shadows.as_ref()) else { return };
        let mut pass = shadows.begin(encoder);
        for (i, view) in shadows.views.iter().enumerate() {
            shadows.set_tile(&mut pass, i);
            self.draw_pass(&mut pass, *view, PassKind::Shadow);
            if let Some(camera) = self.camera_of(*view) {
                draw(&mut pass, &camera);
            }
        }
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
    /// | `gpuskin_ambient(normal)` | ambient irradiance over pi |
    /// | `gpuskin_sun_visibility(world, normal)` | fraction of the sunlight that reaches a point; 1 without shadows |
    /// | `gpuskin_in_fog(radiance, world)` | radiance seen through the fog |
    /// | `gpuskin_fog_radiance(world)` | radiance of dense fog in the direction of a point |
    /// | `gpuskin_tone_mapped(radiance)` | radiance with exposure and tone mapping |
    pub fn lighting_source(&self, group: u32) -> Option<String> {
        Some(material::lighting(self.lit.as_ref()?.features.code(), group))
    }
}
