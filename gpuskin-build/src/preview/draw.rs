//! `Model -> pixels`: draws cells with the runtime, row by row.

use glam::Vec3;
use gpuskin_rt::internals::{
    Camera, Crowd, CrowdDescriptor, CrowdRenderer, Dynamic, Instance, InstanceId, RendererDescriptor, Repeat, Time,
};

use super::framing::Framing;
use super::ground::Ground;
use super::layout::COLUMNS;
use super::options::PreviewModel;
use super::targets::{DEPTH, PICTURE_FORMAT, Picture, SAMPLES, Targets};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::gpu::Gpu;

/// A model with a renderer, ground and render targets.
pub(super) struct PreviewScene {
    device: wgpu::Device,
    queue: wgpu::Queue,
    renderer: CrowdRenderer,
    crowd: Crowd<Dynamic>,
    actor: InstanceId,
    ground: Ground,
    targets: Targets,
    picture: Picture,
    cell: [u32; 2],
}

impl PreviewScene {
    /// Uploads a model. Cells have `cell` pixels.
    pub(super) fn new(gpu: Gpu, model: &PreviewModel, cell: [u32; 2]) -> Result<Self, Diagnostic> {
        let Gpu { device, queue } = gpu;
        let descriptor = RendererDescriptor {
            color_format: PICTURE_FORMAT,
            depth_format: Some(DEPTH),
            sample_count: SAMPLES,
            ..Default::default()
        };
        let mut renderer = CrowdRenderer::new(&device, &queue, descriptor).map_err(failed)?;
        let crowd = CrowdDescriptor { capacity: 1, ..Default::default() };
        let crowd = Crowd::with_model(&mut renderer, &model.runtime, crowd).map_err(failed)?;
        let actor = crowd.spawn(Instance::at([0.0; 3]));
        let ground = Ground::new(&device, PICTURE_FORMAT, DEPTH, SAMPLES);
        let targets = Targets::new(&device, PICTURE_FORMAT, cell);
        let picture = Picture::new(&device, cell, COLUMNS);
        Ok(Self { device, queue, renderer, crowd, actor, ground, targets, picture, cell })
    }

    /// Draws a clip at several times side by side. Passes RGBA rows and their length in bytes to
    /// `use_pixels`.
    pub(super) fn row(
        &mut self,
        model: &PreviewModel,
        clip: usize,
        framing: &Framing,
        times: &[f64],
        use_pixels: impl FnOnce(&[u8], usize),
    ) -> Result<(), Diagnostic> {
        let camera = camera(model, framing);
        self.ground.place(&self.queue, framing, &camera);
        for (column, &seconds) in (0..COLUMNS).zip(times) {
            self.crowd.set(self.actor, model.standing(clip, seconds)).map_err(|stale| failed(stale.into()))?;
            self.draw_cell(column, &camera, Time::ZERO)?;
        }
        self.picture.read(&self.device, use_pixels)
    }

    /// Draws a playing clip at several times after `begin` starts a transition. Passes RGBA rows
    /// and their length in bytes to `use_pixels`.
    pub(super) fn sequence(
        &mut self,
        model: &PreviewModel,
        clip: u16,
        framing: &Framing,
        times: &[f64],
        begin: impl FnOnce(&Crowd<Dynamic>, InstanceId) -> Result<(), gpuskin_rt::internals::Error>,
        use_pixels: impl FnOnce(&[u8], usize),
    ) -> Result<(), Diagnostic> {
        let camera = camera(model, framing);
        self.ground.place(&self.queue, framing, &camera);
        // Time continues from row to row, because a command to a crowd starts at the time of the
        // last `prepare`.
        let start = self.renderer.time();
        self.crowd.despawn(self.actor).map_err(|stale| failed(stale.into()))?;
        self.actor = self.crowd.spawn(model.instance(clip.into(), Vec3::ZERO).repeat(Repeat::Loop));
        begin(&self.crowd, self.actor).map_err(failed)?;
        for (column, &seconds) in (0..COLUMNS).zip(times) {
            self.draw_cell(column, &camera, start + seconds)?;
        }
        self.picture.read(&self.device, use_pixels)
    }

    fn draw_cell(&mut self, column: u32, camera: &Camera, time: Time) -> Result<(), Diagnostic> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        self.renderer.prepare(&self.queue, &mut encoder, camera, time).map_err(failed)?;
        {
            let mut pass = self.targets.begin(&mut encoder, &self.picture.view);
            self.renderer.draw(&mut pass);
            self.ground.draw(&mut pass);
        }
        self.picture.copy(&mut encoder, column * self.cell[0]);
        self.queue.submit([encoder.finish()]);
        Ok(())
    }
}

/// Returns the camera of a view, which selects the level of detail to draw.
fn camera(model: &PreviewModel, framing: &Framing) -> Camera {
    Camera { height: model.camera_height(model.lod, framing.half[1]), ..framing.camera() }
}

pub(super) fn failed(error: gpuskin_rt::internals::Error) -> Diagnostic {
    Diagnostic::error(DiagnosticCode::GpuFailed, error.to_string())
}

/// Runs GPU commands, and returns errors of the device instead of panicking.
pub(super) fn guarded<T>(device: &wgpu::Device, run: impl FnOnce() -> Result<T, Diagnostic>) -> Result<T, Diagnostic> {
    let filters = [wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation, wgpu::ErrorFilter::Internal];
    let scopes = filters.map(|filter| device.push_error_scope(filter));
    let result = run();
    // Error scopes are popped from the innermost to the outermost.
    let complaints = scopes.into_iter().rev().filter_map(|scope| pollster::block_on(scope.pop()));
    match complaints.last() {
        Some(complaint) => {
            Err(Diagnostic::error(DiagnosticCode::GpuFailed, format!("the GPU reported an error: {complaint}")))
        }
        None => result,
    }
}
