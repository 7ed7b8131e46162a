//! `Model -> pixels`: draws cells with the runtime, row by row.

use gpuskin_rt::internals::{
    Camera, Crowd, CrowdDescriptor, CrowdRenderer, Dynamic, Instance, InstanceId, RendererDescriptor, Repeat, Time,
};

use super::framing::Framing;
use super::ground::Ground;
use super::layout::COLUMNS;
use super::options::PreviewModel;
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::gpu::Gpu;

const SAMPLES: u32 = 4;
const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
/// Linear colour.
const BACKGROUND: wgpu::Color = wgpu::Color { r: 0.72, g: 0.735, b: 0.76, a: 1.0 };

/// A model with a renderer, ground and render targets.
pub(super) struct PreviewScene {
    device: wgpu::Device,
    queue: wgpu::Queue,
    renderer: CrowdRenderer,
    crowd: Crowd<Dynamic>,
    actor: InstanceId,
    ground: Ground,
    targets: Targets,
    cell: [u32; 2],
}

impl PreviewScene {
    /// Uploads a model. Cells have `cell` pixels.
    pub(super) fn new(gpu: Gpu, model: &PreviewModel, cell: [u32; 2]) -> Result<Self, Diagnostic> {
        let Gpu { device, queue } = gpu;
        let descriptor = RendererDescriptor {
            color_format: COLOR,
            depth_format: Some(DEPTH),
            sample_count: SAMPLES,
            ..Default::default()
        };
        let mut renderer = CrowdRenderer::new(&device, &queue, descriptor).map_err(failed)?;
        let crowd = CrowdDescriptor { capacity: 1, ..Default::default() };
        let crowd = Crowd::with_model(&mut renderer, &model.runtime, crowd).map_err(failed)?;
        let actor = crowd.spawn(Instance::at([0.0; 3]));
        let ground = Ground::new(&device, COLOR, DEPTH, SAMPLES);
        let targets = Targets::new(&device, cell);
        Ok(Self { device, queue, renderer, crowd, actor, ground, targets, cell })
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
        let stride = self.targets.stride as usize;
        self.targets.read(&self.device, |bytes| use_pixels(bytes, stride))
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
        self.actor = self.crowd.spawn(model.instance(clip.into()).repeat(Repeat::Loop));
        begin(&self.crowd, self.actor).map_err(failed)?;
        for (column, &seconds) in (0..COLUMNS).zip(times) {
            self.draw_cell(column, &camera, start + seconds)?;
        }
        let stride = self.targets.stride as usize;
        self.targets.read(&self.device, |bytes| use_pixels(bytes, stride))
    }

    fn draw_cell(&mut self, column: u32, camera: &Camera, time: Time) -> Result<(), Diagnostic> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        self.renderer.prepare(&self.queue, &mut encoder, camera, time).map_err(failed)?;
        {
            let mut pass = self.targets.begin(&mut encoder);
            self.renderer.draw(&mut pass);
            self.ground.draw(&mut pass);
        }
        self.targets.copy(&mut encoder, column * self.cell[0]);
        self.queue.submit([encoder.finish()]);
        Ok(())
    }
}

/// Returns the camera of a view, which selects the level of detail to draw.
fn camera(model: &PreviewModel, framing: &Framing) -> Camera {
    Camera { height: model.camera_height(framing.half[1]), ..framing.camera() }
}

fn failed(error: gpuskin_rt::internals::Error) -> Diagnostic {
    Diagnostic::error(DiagnosticCode::GpuFailed, error.to_string())
}

/// Render targets of a cell, and a readback buffer for a row of cells.
struct Targets {
    samples: wgpu::TextureView,
    depth: wgpu::TextureView,
    cell: wgpu::Texture,
    readback: wgpu::Buffer,
    stride: u32,
}

impl Targets {
    fn new(device: &wgpu::Device, [width, height]: [u32; 2]) -> Self {
        let texture = |label, format, sample_count, usage| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | usage,
                view_formats: &[],
            })
        };
        let none = wgpu::TextureUsages::empty();
        let samples = texture("preview samples", COLOR, SAMPLES, none);
        let depth = texture("preview depth", DEPTH, SAMPLES, none);
        let stride = (COLUMNS * width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        Self {
            samples: samples.create_view(&Default::default()),
            depth: depth.create_view(&Default::default()),
            cell: texture("preview cell", COLOR, 1, wgpu::TextureUsages::COPY_SRC),
            readback: device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("preview row"),
                size: u64::from(stride) * u64::from(height),
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                mapped_at_creation: false,
            }),
            stride,
        }
    }

    fn begin<'e>(&self, encoder: &'e mut wgpu::CommandEncoder) -> wgpu::RenderPass<'e> {
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("preview cell"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.samples,
                depth_slice: None,
                resolve_target: Some(&self.cell.create_view(&Default::default())),
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(BACKGROUND), store: wgpu::StoreOp::Discard },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        })
    }

    /// Copies the cell into the row buffer, `left` pixels from its start.
    fn copy(&self, encoder: &mut wgpu::CommandEncoder, left: u32) {
        encoder.copy_texture_to_buffer(
            self.cell.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &self.readback,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: u64::from(left) * 4,
                    bytes_per_row: Some(self.stride),
                    rows_per_image: None,
                },
            },
            self.cell.size(),
        );
    }

    fn read(&self, device: &wgpu::Device, use_pixels: impl FnOnce(&[u8])) -> Result<(), Diagnostic> {
        let failed = |reason: String| {
            Diagnostic::error(DiagnosticCode::GpuFailed, format!("the image could not be read back: {reason}"))
        };
        let (sender, receiver) = std::sync::mpsc::channel();
        self.readback.map_async(wgpu::MapMode::Read, .., move |result| {
            let _ = sender.send(result);
        });
        device.poll(wgpu::PollType::wait_indefinitely()).map_err(|e| failed(e.to_string()))?;
        receiver.recv().map_err(|e| failed(e.to_string()))?.map_err(|e| failed(e.to_string()))?;
        use_pixels(&self.readback.get_mapped_range(..).map_err(|e| failed(e.to_string()))?);
        self.readback.unmap();
        Ok(())
    }
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
