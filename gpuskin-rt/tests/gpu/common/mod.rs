//! Shared code of the GPU tests: devices, and models that are not baked.

pub mod bounds;
pub mod brdf;
pub mod cells;
pub mod lit;
pub mod local;
pub mod model;
pub mod occlusion;
pub mod own;
pub mod random;
pub mod squares;

use std::sync::OnceLock;

use gpuskin_rt::{CrowdRenderer, wgpu};
use gpuskin_test_harness::{Need, note};

/// Creates a [`Need`] of a device, which is searched once.
macro_rules! device {
    ($backends:expr, $limits:path, $missing:literal) => {
        Need {
            variable: "GPUSKIN_REQUIRE_GPU",
            missing: || {
                static FOUND: OnceLock<bool> = OnceLock::new();
                let opens = |backends| request(backends, $limits(), wgpu::Features::empty()).is_ok();
                let found = *FOUND.get_or_init(|| $backends.into_iter().any(opens));
                (!found).then(|| $missing.to_owned())
            },
        }
    };
}

/// Need of a device on one of the [`BACKENDS`].
pub const GPU: Need =
    device!(BACKENDS, wgpu::Limits::downlevel_webgl2_defaults, "no GPU or software renderer on Vulkan or OpenGL");

/// Need of a device with compute shaders on one of the [`BACKENDS`].
pub const COMPUTE: Need =
    device!(BACKENDS, wgpu::Limits::downlevel_defaults, "no device with compute shaders on Vulkan or OpenGL");

/// Need of a device with compute shaders on Vulkan.
pub const VULKAN: Need =
    device!([wgpu::Backends::VULKAN], wgpu::Limits::downlevel_defaults, "no GPU or software renderer on Vulkan");

/// Need of a Vulkan device with [`wide_targets`].
pub const WIDE_TARGETS: Need =
    device!([wgpu::Backends::VULKAN], wide_targets, "no Vulkan device that draws 64 bytes per pixel");

/// Limits of a device with compute shaders that draws 64 bytes per pixel, and binds eight storage buffers per shader
/// stage.
pub fn wide_targets() -> wgpu::Limits {
    wgpu::Limits { max_color_attachment_bytes_per_sample: 64, ..eight_storage_buffers() }
}

/// Need of a Vulkan device with [`eight_storage_buffers`].
pub const EIGHT_BUFFERS: Need =
    device!([wgpu::Backends::VULKAN], eight_storage_buffers, "no Vulkan device with eight storage buffers per stage");

/// Limits of a device with compute shaders that binds eight storage buffers per shader stage, which batches need.
pub fn eight_storage_buffers() -> wgpu::Limits {
    wgpu::Limits { max_storage_buffers_per_shader_stage: 8, ..wgpu::Limits::downlevel_defaults() }
}

/// Need of a Vulkan device that indexes tables of textures.
pub const TEXTURE_TABLES: Need = Need {
    variable: "GPUSKIN_REQUIRE_TEXTURE_TABLES",
    missing: || {
        let gpu = request(wgpu::Backends::VULKAN, wgpu::Limits::default(), CrowdRenderer::OPTIONAL_FEATURES);
        let has = |gpu: Gpu| gpu.device.limits().max_binding_array_elements_per_shader_stage >= 96;
        (!gpu.is_ok_and(has)).then(|| {
            "no Vulkan device that indexes tables of textures; with Debian's chromium, \
             VK_DRIVER_FILES=/usr/lib/chromium/vk_swiftshader_icd.json selects SwiftShader, which does"
                .to_owned()
        })
    },
};

/// Backends that the tests run on, one at a time.
pub const BACKENDS: [wgpu::Backends; 2] = [wgpu::Backends::VULKAN, wgpu::Backends::GL];

/// A device and its queue.
pub struct Gpu {
    pub name: String,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
}

/// Opens a device with the WebGL2 limits, which are all that the renderer needs.
pub fn gpu(backends: wgpu::Backends) -> Option<Gpu> {
    gpu_with(backends, wgpu::Limits::downlevel_webgl2_defaults())
}

/// Opens a device with compute and the limits that every such device has.
pub fn compute(backends: wgpu::Backends) -> Option<Gpu> {
    gpu_with(backends, wgpu::Limits::downlevel_defaults())
}

/// Opens a device with compute that binds eight storage buffers per shader stage.
pub fn compute_eight(backends: wgpu::Backends) -> Option<Gpu> {
    gpu_with(backends, eight_storage_buffers())
}

/// Opens a device; `None`, with a note, if the backend has no adapter. Where [`GPU`] is required, that
/// is a failure.
pub fn gpu_with(backends: wgpu::Backends, limits: wgpu::Limits) -> Option<Gpu> {
    // The feature lets all levels of detail be drawn in one call, as in a game.
    open(backends, limits, wgpu::Features::INDIRECT_FIRST_INSTANCE)
}

/// Opens a device with those of the features that its adapter has, and with the adapter's own
/// alignments, which are finer than the default ones.
pub fn open(backends: wgpu::Backends, limits: wgpu::Limits, features: wgpu::Features) -> Option<Gpu> {
    let missing = |error: &String| {
        assert!(!GPU.is_required(), "{} is set, and there is no device for {backends:?}: {error}", GPU.variable);
        note!("SKIPPED on {backends:?}: no device ({error}); {}=1 makes this a failure", GPU.variable);
    };
    request(backends, limits, features).inspect_err(missing).ok()
}

fn request(backends: wgpu::Backends, limits: wgpu::Limits, features: wgpu::Features) -> Result<Gpu, String> {
    let descriptor = wgpu::InstanceDescriptor { backends, ..wgpu::InstanceDescriptor::new_without_display_handle() };
    let instance = wgpu::Instance::new(descriptor);
    pollster::block_on(async {
        let adapter = instance.request_adapter(&Default::default()).await.map_err(|e| e.to_string())?;
        let required_features = adapter.features() & features;
        let mut required_limits = limits.using_alignment(adapter.limits());
        if required_features.contains(wgpu::Features::TEXTURE_BINDING_ARRAY) {
            required_limits.max_binding_array_elements_per_shader_stage =
                adapter.limits().max_binding_array_elements_per_shader_stage;
        }
        let descriptor = wgpu::DeviceDescriptor { required_limits, required_features, ..Default::default() };
        let (device, queue) = adapter.request_device(&descriptor).await.map_err(|e| e.to_string())?;
        let info = adapter.get_info();
        Ok(Gpu { name: format!("{} ({:?})", info.name, info.backend), device, queue })
    })
}

/// Opens a device that validates and draws nothing.
pub fn noop(limits: wgpu::Limits) -> Gpu {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::NOOP;
    descriptor.backend_options.noop.enable = true;
    let instance = wgpu::Instance::new(descriptor);
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()))
        .expect("the noop adapter is always available");
    let descriptor = wgpu::DeviceDescriptor { required_limits: limits, ..Default::default() };
    let (device, queue) =
        pollster::block_on(adapter.request_device(&descriptor)).expect("the noop adapter accepts any limits");
    Gpu { name: "noop".into(), device, queue }
}

/// A picture: RGBA8 as stored (sRGB), rows from the top.
#[derive(Clone, PartialEq)]
pub struct Picture {
    pub side: u32,
    pub pixels: Vec<[u8; 4]>,
}

impl Picture {
    pub fn at(&self, x: u32, y: u32) -> [u8; 4] {
        self.pixels[(y * self.side + x) as usize]
    }

    /// Returns the number of pixels that differ from the background.
    pub fn covered(&self) -> usize {
        self.pixels.iter().filter(|p| **p != self.pixels[0]).count()
    }

    pub fn save(&self, path: &std::path::Path) {
        let file = std::fs::File::create(path).unwrap();
        let mut encoder = png::Encoder::new(file, self.side, self.side);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header().unwrap().write_image_data(self.pixels.as_flattened()).unwrap();
    }
}

/// Square colour and depth targets.
pub struct Canvas {
    pub side: u32,
    pub color: wgpu::Texture,
    pub depth: wgpu::Texture,
}

impl Canvas {
    pub fn new(gpu: &Gpu, side: u32) -> Self {
        let texture = |format, usage| {
            gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d { width: side, height: side, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: usage | wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            })
        };
        Self {
            side,
            color: texture(wgpu::TextureFormat::Rgba8UnormSrgb, wgpu::TextureUsages::COPY_SRC),
            depth: texture(wgpu::TextureFormat::Depth32Float, wgpu::TextureUsages::TEXTURE_BINDING),
        }
    }

    /// Runs a pass with colour and depth, cleared to dark grey and 1.
    pub fn pass(&self, encoder: &mut wgpu::CommandEncoder, draw: impl FnOnce(&mut wgpu::RenderPass<'_>)) {
        self.color_pass(encoder, wgpu::LoadOp::Clear(1.0), draw);
    }

    /// Runs a pass that keeps the depth.
    pub fn pass_over_depth(&self, encoder: &mut wgpu::CommandEncoder, draw: impl FnOnce(&mut wgpu::RenderPass<'_>)) {
        self.color_pass(encoder, wgpu::LoadOp::Load, draw);
    }

    fn color_pass(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        depth: wgpu::LoadOp<f32>,
        draw: impl FnOnce(&mut wgpu::RenderPass<'_>),
    ) {
        let color = self.color.create_view(&Default::default());
        let attachment = wgpu::RenderPassColorAttachment {
            view: &color,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load: wgpu::LoadOp::Clear(wgpu::Color { r: 0.01, g: 0.01, b: 0.01, a: 1.0 }),
                store: wgpu::StoreOp::Store,
            },
        };
        draw(&mut encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(attachment)],
            depth_stencil_attachment: Some(depth_attachment(&self.depth.create_view(&Default::default()), depth)),
            ..Default::default()
        }));
    }

    /// Runs a pass with depth only, cleared to 1.
    pub fn depth_pass(&self, encoder: &mut wgpu::CommandEncoder, draw: impl FnOnce(&mut wgpu::RenderPass<'_>)) {
        draw(&mut encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            depth_stencil_attachment: Some(depth_attachment(
                &self.depth.create_view(&Default::default()),
                wgpu::LoadOp::Clear(1.0),
            )),
            ..Default::default()
        }));
    }

    /// Submits, and reads the colours back.
    pub fn finish(&self, gpu: &Gpu, mut encoder: wgpu::CommandEncoder) -> Picture {
        let row = (self.side * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(row * self.side),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        encoder.copy_texture_to_buffer(
            self.color.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &buffer,
                layout: wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None },
            },
            self.color.size(),
        );
        gpu.queue.submit([encoder.finish()]);
        buffer.map_async(wgpu::MapMode::Read, .., |result| result.unwrap());
        gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        let bytes = buffer.get_mapped_range(..).unwrap();
        let rows = bytes.chunks(row as usize).map(|r| r[..self.side as usize * 4].as_chunks::<4>().0);
        Picture { side: self.side, pixels: rows.flatten().copied().collect() }
    }
}

fn depth_attachment(view: &wgpu::TextureView, load: wgpu::LoadOp<f32>) -> wgpu::RenderPassDepthStencilAttachment<'_> {
    wgpu::RenderPassDepthStencilAttachment {
        view,
        depth_ops: Some(wgpu::Operations { load, store: wgpu::StoreOp::Store }),
        stencil_ops: None,
    }
}
