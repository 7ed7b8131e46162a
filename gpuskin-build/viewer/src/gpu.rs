//! Device, canvas and render targets.

use std::sync::{Arc, Mutex, PoisonError};

use gpuskin_rt::{CrowdRenderer, wgpu};
use web_sys::HtmlCanvasElement;

pub(crate) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth24Plus;
pub(crate) const SAMPLES: u32 = 4;

/// Device of a canvas.
#[derive(Debug)]
pub(crate) struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    /// sRGB format in which the canvas is drawn to.
    pub(crate) format: wgpu::TextureFormat,
    targets: Option<Targets>,
    /// First error that the device reported by itself, or the reason for which it is lost.
    fault: Arc<Mutex<Option<String>>>,
}

/// Multisampled colour, and depth.
#[derive(Debug)]
struct Targets {
    color: wgpu::TextureView,
    depth: wgpu::TextureView,
}

impl Gpu {
    /// Opens a device for a canvas.
    ///
    /// # Errors
    /// If the browser has no WebGPU, or no adapter for it.
    pub(crate) async fn open(canvas: HtmlCanvasElement) -> Result<Self, String> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::BROWSER_WEBGPU;
        let instance = wgpu::Instance::new(descriptor);
        let adapter = instance.request_adapter(&Default::default()).await.map_err(|error| error.to_string())?;
        let surface =
            instance.create_surface(wgpu::SurfaceTarget::Canvas(canvas)).map_err(|error| error.to_string())?;
        let descriptor = wgpu::DeviceDescriptor {
            required_limits: adapter.limits(),
            required_features: adapter.features() & CrowdRenderer::OPTIONAL_FEATURES,
            ..Default::default()
        };
        let (device, queue) = adapter.request_device(&descriptor).await.map_err(|error| error.to_string())?;
        let mut config = surface.get_default_config(&adapter, 1, 1).ok_or("the canvas cannot be drawn to")?;
        let format = config.format.add_srgb_suffix();
        if format != config.format {
            config.view_formats = vec![format];
        }
        // The picture is read back by tests.
        config.usage |= wgpu::TextureUsages::COPY_SRC;
        let fault = Arc::<Mutex<Option<String>>>::default();
        let note = |text: String, fault: &Mutex<Option<String>>| {
            fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(text);
        };
        let (lost, error) = (fault.clone(), fault.clone());
        device.set_device_lost_callback(move |_, reason| note(format!("the device is lost: {reason}"), &lost));
        device.on_uncaptured_error(Arc::new(move |found: wgpu::Error| note(found.to_string(), &error)));
        Ok(Self { device, queue, surface, config, format, targets: None, fault })
    }

    /// Returns an error if the device reported one.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone().map_or(Ok(()), Err)
    }

    /// Sets the size of the canvas in pixels.
    pub(crate) fn resize(&mut self, [width, height]: [u32; 2]) {
        let largest = self.device.limits().max_texture_dimension_2d;
        let size = [width.clamp(1, largest), height.clamp(1, largest)];
        if size != [self.config.width, self.config.height] || self.targets.is_none() {
            [self.config.width, self.config.height] = size;
            self.surface.configure(&self.device, &self.config);
            let target = |format| target(&self.device, size, format);
            self.targets = Some(Targets { color: target(self.format), depth: target(DEPTH) });
        }
    }

    /// Runs the commands of `prepare`, draws `draw` to the canvas over a background colour (linear RGB), and gives the
    /// picture to `after`. Does none of that while the canvas has no picture to draw to.
    pub(crate) fn frame(
        &self,
        background: [f32; 3],
        prepare: impl FnOnce(&mut wgpu::CommandEncoder) -> Result<(), String>,
        draw: impl FnOnce(&mut wgpu::RenderPass<'_>),
        after: impl FnOnce(&mut wgpu::CommandEncoder, &wgpu::Texture),
    ) -> Result<(), String> {
        let Some(targets) = &self.targets else { return Ok(()) };
        let picture = match self.surface.get_current_texture() {
            wgpu::CurrentSurfaceTexture::Success(picture) | wgpu::CurrentSurfaceTexture::Suboptimal(picture) => picture,
            _ => return Ok(()),
        };
        let view = wgpu::TextureViewDescriptor { format: Some(self.format), ..Default::default() };
        let view = picture.texture.create_view(&view);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        prepare(&mut encoder)?;
        let [r, g, b] = background.map(f64::from);
        {
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("model"),
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
            draw(&mut pass);
        }
        after(&mut encoder, &picture.texture);
        self.queue.submit([encoder.finish()]);
        self.queue.present(picture);
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
