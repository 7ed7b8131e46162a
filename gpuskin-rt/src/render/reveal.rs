//! Second pass of occlusion culling.

use std::sync::Weak;

use super::gpu::Gpu;
use super::occlusion::LABEL;
use super::{CrowdRenderer, Error, View};

impl CrowdRenderer {
    /// Finds the instances that the main view shows beside those drawn already. Call it in every
    /// frame with [`RendererDescriptor::occlusion`](super::RendererDescriptor::occlusion), between the first and the second pass.
    ///
    /// [`CrowdRenderer::prepare`] gives [`View::MAIN`] the instances that were not occluded in the
    /// last frame. Draw them, and the game's own opaque geometry. `depth` is the depth texture of
    /// that pass: as large as the picture, stored at the end of the pass, and readable
    /// (`TEXTURE_BINDING`). Submit `encoder` after that pass, or record the pass in it. `reveal`
    /// then tests all instances in view against `depth`; those that are not occluded and not drawn
    /// yet are drawn over it, as [`View::REVEALED`].
    ///
    /// Each frame is therefore complete, however far the camera and instances jump: visibility of
    /// the last frame saves time but decides nothing. Other views, such as shadow maps, draw all
    /// instances that they see. If any instance of a crowd has live bones, instances of that crowd
    /// with layers are never occluded.
    ///
    /// In the first frame, and in a frame after one without `reveal`, the main view draws all
    /// instances in view. Where instances are not culled
    /// ([`Crowd::explain`](crate::Crowd::explain)), all are drawn in the first pass, and none are
    /// revealed.
    ///
    /// ```no_run
    /// # use gpuskin_rt::{wgpu, Camera, CrowdRenderer, Error, View};
    /// # fn frame(renderer: &mut CrowdRenderer, queue: &wgpu::Queue, mut encoder: wgpu::CommandEncoder, camera: &Camera,
    /// #   seconds: f64, depth: &wgpu::Texture, clear: &wgpu::RenderPassDescriptor<'_>,
    /// #   load: &wgpu::RenderPassDescriptor<'_>) -> Result<(), Error> {
    /// renderer.prepare(queue, &mut encoder, camera, seconds)?;
    /// renderer.draw(&mut encoder.begin_render_pass(clear));
    /// renderer.reveal(&mut encoder, depth)?;
    /// renderer.draw_view(&mut encoder.begin_render_pass(load), View::REVEALED);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If `depth` cannot be read. All instances in view are then revealed: the picture is right,
    /// but nothing is saved.
    pub fn reveal(&mut self, encoder: &mut wgpu::CommandEncoder, depth: &wgpu::Texture) -> Result<(), Error> {
        if self.culling().is_none() {
            return Ok(());
        }
        let (device, queue) = (self.device.clone(), self.queue.clone());
        let (Some(occlusion), Some(views)) = (&mut self.occlusion, &self.culled_views) else { return Ok(()) };
        let alone: Vec<_> = self.alone.iter().filter_map(Weak::upgrade).collect();
        let drawn: Vec<_> = alone.iter().filter_map(|c| c.drawn()).filter(|d| d.palettes.is_some()).collect();
        if drawn.is_empty() && self.batching.is_empty() {
            return Ok(());
        }
        let gpu = Gpu { device: &device, queue: &queue };
        let result = occlusion.bind(gpu, depth);
        let descriptor = wgpu::ComputePassDescriptor { label: LABEL, timestamp_writes: None };
        let mut pass = encoder.begin_compute_pass(&descriptor);
        occlusion.record(&mut pass);
        let pipelines = |many_clips| occlusion.pipelines(&device, views, many_clips);
        if let Some(pyramid) = &occlusion.pyramid {
            self.batching.reveal(&mut pass, (occlusion.layout(), &pyramid.bind_group));
            for (palettes, d) in drawn.iter().filter_map(|d| Some((d.palettes.as_ref()?, d))) {
                palettes.reveal(&mut pass, &pipelines, &pyramid.bind_group, d.instances);
            }
        }
        drop(pass);
        self.crowds.iter().filter_map(Weak::upgrade).for_each(|crowd| crowd.set_revealed());
        for crowd in &alone {
            crowd.record_attachments(gpu, encoder, std::iter::once(Some(View::REVEALED)));
        }
        result
    }
}
