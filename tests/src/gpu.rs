//! Devices that tests draw on.

use std::sync::OnceLock;

use gpuskin_rt::wgpu;
use gpuskin_test_harness::{Need, note};

/// Backends that the tests run on, one after the other.
pub const BACKENDS: [wgpu::Backends; 2] = [wgpu::Backends::VULKAN, wgpu::Backends::GL];

/// Device and queue of an adapter.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// Name of the adapter and its backend.
    pub name: String,
    /// Device of the adapter.
    pub device: wgpu::Device,
    /// Queue of the device.
    pub queue: wgpu::Queue,
}

/// Creates a [`Need`] of a device on one of some backends, which is searched once per process.
macro_rules! device {
    ($backends:expr, $limits:path, $missing:literal) => {
        Need {
            variable: "GPUSKIN_REQUIRE_GPU",
            missing: || {
                static FOUND: OnceLock<bool> = OnceLock::new();
                let opens = |backends: wgpu::Backends| request(backends, $limits(), wgpu::Features::empty()).is_ok();
                let found = *FOUND.get_or_init(|| $backends.into_iter().any(opens));
                (!found).then(|| $missing.to_owned())
            },
        }
    };
}

/// Need of a device with WebGL2's limits on one of the [`BACKENDS`].
pub const GPU: Need =
    device!(BACKENDS, wgpu::Limits::downlevel_webgl2_defaults, "no GPU or software renderer on Vulkan or OpenGL");

/// Need of a device with compute shaders on one of the [`BACKENDS`].
pub const COMPUTE: Need =
    device!(BACKENDS, wgpu::Limits::downlevel_defaults, "no device with compute shaders on Vulkan or OpenGL");

/// Need of a device with compute shaders on Vulkan.
pub const VULKAN: Need =
    device!([wgpu::Backends::VULKAN], wgpu::Limits::downlevel_defaults, "no GPU or software renderer on Vulkan");

/// Need of a device with WebGL2's limits on any backend of wgpu.
pub const ANY_GPU: Need =
    device!([wgpu::Backends::all()], wgpu::Limits::downlevel_webgl2_defaults, "no GPU or software renderer");

/// Need of a device with compute shaders on any backend of wgpu.
pub const ANY_COMPUTE: Need =
    device!([wgpu::Backends::all()], wgpu::Limits::downlevel_defaults, "no device with compute shaders");

/// Opens a device with WebGL2's limits. Returns `None` if the backend has no adapter, and fails if `GPUSKIN_REQUIRE_GPU` is
/// set.
pub fn open(backends: wgpu::Backends) -> Option<Gpu> {
    open_with(backends, wgpu::Features::empty())
}

/// Opens a device as [`open`] does, with those of `features` that the adapter has.
pub fn open_with(backends: wgpu::Backends, features: wgpu::Features) -> Option<Gpu> {
    report(backends, request(backends, wgpu::Limits::downlevel_webgl2_defaults(), features))
}

/// Opens a device with compute on Vulkan.
///
/// # Panics
/// If there is none: for tests that need it.
pub fn vulkan() -> Gpu {
    open_compute(wgpu::Backends::VULKAN).expect("a device, which the test needs")
}

/// Opens a device with compute shaders and storage buffers, and with `INDIRECT_FIRST_INSTANCE` if the adapter has it, so
/// that all levels of detail are one draw call.
pub fn open_compute(backends: wgpu::Backends) -> Option<Gpu> {
    report(backends, request(backends, wgpu::Limits::downlevel_defaults(), wgpu::Features::INDIRECT_FIRST_INSTANCE))
}

fn request(backends: wgpu::Backends, required_limits: wgpu::Limits, features: wgpu::Features) -> Result<Gpu, String> {
    let descriptor = wgpu::InstanceDescriptor { backends, ..wgpu::InstanceDescriptor::new_without_display_handle() };
    let instance = wgpu::Instance::new(descriptor);
    pollster::block_on(async {
        let adapter = instance.request_adapter(&Default::default()).await.map_err(|e| e.to_string())?;
        let required_features = adapter.features() & features;
        let descriptor = wgpu::DeviceDescriptor { required_limits, required_features, ..Default::default() };
        let (device, queue) = adapter.request_device(&descriptor).await.map_err(|e| e.to_string())?;
        let info = adapter.get_info();
        Ok(Gpu { name: format!("{} ({:?})", info.name, info.backend), device, queue })
    })
}

/// Notes a backend without a device, or fails if `GPUSKIN_REQUIRE_GPU` is set.
fn report(backends: wgpu::Backends, opened: Result<Gpu, String>) -> Option<Gpu> {
    let missing = |error: &String| {
        assert!(!GPU.is_required(), "{} is set, and there is no device for {backends:?}: {error}", GPU.variable);
        note!("SKIPPED on {backends:?}: no device ({error}); {}=1 makes this a failure", GPU.variable);
    };
    opened.inspect_err(missing).ok()
}

/// Square render targets: colour and depth.
#[derive(Debug)]
pub struct Canvas {
    side: u32,
    color: wgpu::Texture,
    depth: wgpu::Texture,
}

impl Canvas {
    /// Creates targets of `side` x `side` pixels. `side` is a multiple of 64, because rows are
    /// copied in units of 256 bytes.
    pub fn new(gpu: &Gpu, side: u32) -> Self {
        let texture = |format, usage| {
            gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d { width: side, height: side, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: usage | wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            })
        };
        let color = texture(wgpu::TextureFormat::Rgba8UnormSrgb, wgpu::TextureUsages::empty());
        let depth = texture(wgpu::TextureFormat::Depth32Float, wgpu::TextureUsages::TEXTURE_BINDING);
        Self { side, color, depth }
    }

    /// Depth texture, with the contents that the last pass left.
    pub fn depth(&self) -> &wgpu::Texture {
        &self.depth
    }

    /// Encodes a pass over both targets, cleared to black and depth 1.
    pub fn pass(&self, encoder: &mut wgpu::CommandEncoder, draw: impl FnOnce(&mut wgpu::RenderPass<'_>)) {
        self.loaded(encoder, (wgpu::LoadOp::Clear(wgpu::Color::BLACK), wgpu::LoadOp::Clear(1.0)), draw);
    }

    /// Encodes a pass over both targets that keeps their contents.
    pub fn pass_over(&self, encoder: &mut wgpu::CommandEncoder, draw: impl FnOnce(&mut wgpu::RenderPass<'_>)) {
        self.loaded(encoder, (wgpu::LoadOp::Load, wgpu::LoadOp::Load), draw);
    }

    fn loaded(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        (color, depth): (wgpu::LoadOp<wgpu::Color>, wgpu::LoadOp<f32>),
        draw: impl FnOnce(&mut wgpu::RenderPass<'_>),
    ) {
        draw(&mut encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.color.create_view(&Default::default()),
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: color, store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth.create_view(&Default::default()),
                depth_ops: Some(wgpu::Operations { load: depth, store: wgpu::StoreOp::Store }),
                stencil_ops: None,
            }),
            ..Default::default()
        }));
    }

    /// Submits the commands, and reads the colours back.
    pub fn finish(&self, gpu: &Gpu, mut encoder: wgpu::CommandEncoder) -> Picture {
        let row = self.side * 4;
        assert_eq!(row % wgpu::COPY_BYTES_PER_ROW_ALIGNMENT, 0);
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(row * self.side),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
        let target = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
        encoder.copy_texture_to_buffer(self.color.as_image_copy(), target, self.color.size());
        gpu.queue.submit([encoder.finish()]);
        buffer.map_async(wgpu::MapMode::Read, .., |result| result.expect("a buffer that can be mapped"));
        gpu.device.poll(wgpu::PollType::wait_indefinitely()).expect("the device answers");
        let bytes = buffer.get_mapped_range(..).expect("mapped");
        Picture { side: self.side, pixels: bytes.as_chunks::<4>().0.to_vec() }
    }
}

/// Picture in RGBA8 as stored (sRGB), rows from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    side: u32,
    pixels: Vec<[u8; 4]>,
}

impl Picture {
    /// Whether a pixel differs from the black background.
    pub fn covered(&self, x: u32, y: u32) -> bool {
        self.pixels[(y * self.side + x) as usize][..3] != [0; 3]
    }

    /// Red, green and blue of a pixel, as stored.
    pub fn color(&self, x: u32, y: u32) -> [u8; 3] {
        let [r, g, b, _] = self.pixels[(y * self.side + x) as usize];
        [r, g, b]
    }

    /// Root mean square of the colour differences over all pixels that are not black in both
    /// pictures; 0 to 255.
    pub fn difference(&self, other: &Self) -> f64 {
        let pairs = self.pixels.iter().zip(&other.pixels).filter(|(a, b)| a[..3] != [0; 3] || b[..3] != [0; 3]);
        let squares: Vec<f64> = pairs
            .flat_map(|(a, b)| [0, 1, 2].map(|c| f64::from(a[c].abs_diff(b[c]))))
            .map(|difference| difference * difference)
            .collect();
        (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt()
    }

    /// Number of different colours.
    pub fn colors(&self) -> usize {
        self.pixels.iter().collect::<std::collections::BTreeSet<_>>().len()
    }
}
