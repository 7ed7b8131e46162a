//! Passes of a frame, and what they draw into.

use crowd::frame::LIGHT;
use crowd::scene::{Cast, Scene};
use gpuskin_rt::{Camera, CrowdRenderer, RendererDescriptor, wgpu};

use crate::gpu::Gpu;
use crate::ground::{Ground, HORIZON};

const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth24Plus;
const SAMPLES: u32 = 4;

/// Renderer, scene and targets of a canvas.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) renderer: CrowdRenderer,
    pub(crate) scene: Option<Scene>,
    ground: Ground,
    config: wgpu::SurfaceConfiguration,
    /// sRGB format in which the canvas is drawn to.
    format: wgpu::TextureFormat,
    targets: Option<Targets>,
}

/// Multisampled colour, and depth.
#[derive(Debug)]
struct Targets {
    color: wgpu::TextureView,
    depth: wgpu::TextureView,
}

impl Stage {
    /// Creates a renderer without a scene.
    ///
    /// # Errors
    /// If the device cannot draw to the canvas.
    pub(crate) fn new(gpu: &Gpu) -> Result<Self, String> {
        let mut config = gpu.surface.get_default_config(&gpu.adapter, 1, 1).ok_or("the canvas cannot be drawn to")?;
        let formats = gpu.surface.get_capabilities(&gpu.adapter).formats;
        config.format = formats.iter().copied().find(|format| format.is_srgb()).unwrap_or(config.format);
        // WebGPU canvases are sRGB through a view alone.
        let format = config.format.add_srgb_suffix();
        if format != config.format {
            config.view_formats = vec![format];
        }
        let descriptor = RendererDescriptor {
            color_format: format,
            depth_format: Some(DEPTH),
            sample_count: SAMPLES,
            light: LIGHT,
            ..Default::default()
        };
        let renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).map_err(|error| error.to_string())?;
        let ground = Ground::new(&gpu.device, format, DEPTH, SAMPLES);
        Ok(Self { renderer, scene: None, ground, config, format, targets: None })
    }

    /// Replaces the scene.
    ///
    /// # Errors
    /// If a model cannot be loaded.
    pub(crate) fn set_scene(&mut self, count: u32, cast: Cast) -> Result<(), String> {
        self.scene = None;
        let scene = Scene::with_cast(&mut self.renderer, count, cast).map_err(|error| error.to_string())?;
        self.scene = Some(scene);
        Ok(())
    }

    /// Sets the size of the canvas in pixels.
    pub(crate) fn resize(&mut self, gpu: &Gpu, [width, height]: [u32; 2]) {
        let largest = gpu.device.limits().max_texture_dimension_2d;
        let size = [width.clamp(1, largest), height.clamp(1, largest)];
        if size != [self.config.width, self.config.height] || self.targets.is_none() {
            [self.config.width, self.config.height] = size;
            gpu.surface.configure(&gpu.device, &self.config);
            self.targets = Some(Targets {
                color: target(&gpu.device, size, self.format),
                depth: target(&gpu.device, size, DEPTH),
            });
        }
    }

    /// Draws the scene at a time, seconds.
    ///
    /// # Errors
    /// If the device failed; not if the canvas has no picture to draw to.
    pub(crate) fn draw(&mut self, gpu: &Gpu, camera: &Camera, time: f64) -> Result<(), String> {
        let Some(targets) = &self.targets else { return Ok(()) };
        let picture = match gpu.surface.get_current_texture() {
            wgpu::CurrentSurfaceTexture::Success(picture) | wgpu::CurrentSurfaceTexture::Suboptimal(picture) => picture,
            _ => return Ok(()),
        };
        let view = wgpu::TextureViewDescriptor { format: Some(self.format), ..Default::default() };
        let view = picture.texture.create_view(&view);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        if let Some(scene) = &self.scene {
            scene.advance(time);
        }
        let camera = camera.with_height(self.config.height);
        self.renderer.prepare(&gpu.queue, &mut encoder, &camera, time).map_err(|error| error.to_string())?;
        self.ground.prepare(&gpu.queue, &camera);
        {
            let [r, g, b] = HORIZON.map(f64::from);
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("crowds and ground"),
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: &targets.color,
                    depth_slice: None,
                    resolve_target: Some(&view),
                    ops: wgpu::Operations {
                        load: wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a: 1.0 }),
                        store: wgpu::StoreOp::Discard,
                    },
                })],
                depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                    view: &targets.depth,
                    depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                    stencil_ops: None,
                }),
                ..Default::default()
            });
            self.renderer.draw(&mut pass);
            self.ground.draw(&mut pass);
        }
        gpu.queue.submit([encoder.finish()]);
        gpu.queue.present(picture);
        Ok(())
    }
}

fn target(device: &wgpu::Device, [width, height]: [u32; 2], format: wgpu::TextureFormat) -> wgpu::TextureView {
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("canvas"),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: SAMPLES,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    });
    texture.create_view(&Default::default())
}
