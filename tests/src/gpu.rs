//! Devices that tests draw on.

use gpuskin_rt::wgpu;

/// The backends that tests run on, one by one.
pub const BACKENDS: [wgpu::Backends; 2] = [wgpu::Backends::VULKAN, wgpu::Backends::GL];

/// A device and how to talk to it.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// The adapter and its backend.
    pub name: String,
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
}

/// A device with WebGL2's limits; `None`, said plainly, where there is no adapter. `GPUSKIN_REQUIRE_GPU=1` makes that a
/// failure.
pub fn open(backends: wgpu::Backends) -> Option<Gpu> {
    open_with(backends, wgpu::Features::empty())
}

/// The same with those of these features that the adapter has.
pub fn open_with(backends: wgpu::Backends, features: wgpu::Features) -> Option<Gpu> {
    request(backends, wgpu::Limits::downlevel_webgl2_defaults(), features)
}

/// A device with compute and storage buffers, and with what draws levels of detail at once where the adapter has it.
pub fn open_compute(backends: wgpu::Backends) -> Option<Gpu> {
    request(backends, wgpu::Limits::downlevel_defaults(), wgpu::Features::INDIRECT_FIRST_INSTANCE)
}

fn request(backends: wgpu::Backends, required_limits: wgpu::Limits, features: wgpu::Features) -> Option<Gpu> {
    let descriptor = wgpu::InstanceDescriptor { backends, ..wgpu::InstanceDescriptor::new_without_display_handle() };
    let instance = wgpu::Instance::new(descriptor);
    let opened = pollster::block_on(async {
        let adapter = instance.request_adapter(&Default::default()).await.map_err(|e| e.to_string())?;
        let required_features = adapter.features() & features;
        let descriptor = wgpu::DeviceDescriptor { required_limits, required_features, ..Default::default() };
        let (device, queue) = adapter.request_device(&descriptor).await.map_err(|e| e.to_string())?;
        let info = adapter.get_info();
        Ok::<_, String>(Gpu { name: format!("{} ({:?})", info.name, info.backend), device, queue })
    });
    opened
        .inspect_err(|e| {
            let required = std::env::var_os("GPUSKIN_REQUIRE_GPU").is_some_and(|v| v == "1");
            assert!(!required, "GPUSKIN_REQUIRE_GPU=1, and there is no device for {backends:?}: {e}");
            println!("SKIPPED on {backends:?}: no device ({e}); GPUSKIN_REQUIRE_GPU=1 makes this a failure");
        })
        .ok()
}

/// Square targets to draw to: colour, and depth.
#[derive(Debug)]
pub struct Canvas {
    side: u32,
    color: wgpu::Texture,
    depth: wgpu::Texture,
}

impl Canvas {
    /// `side` pixels each way, a multiple of 64 as rows are copied.
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

    /// Its depth, as the passes left it.
    pub fn depth(&self) -> &wgpu::Texture {
        &self.depth
    }

    /// A pass over both, cleared to black and 1.
    pub fn pass(&self, encoder: &mut wgpu::CommandEncoder, draw: impl FnOnce(&mut wgpu::RenderPass<'_>)) {
        self.loaded(encoder, (wgpu::LoadOp::Clear(wgpu::Color::BLACK), wgpu::LoadOp::Clear(1.0)), draw);
    }

    /// A pass over what is there.
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

    /// Submits, and reads the colours back.
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

/// A picture: RGBA8 as stored (sRGB), rows top down.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    side: u32,
    pixels: Vec<[u8; 4]>,
}

impl Picture {
    /// Whether a pixel is not black as the background is.
    pub fn covered(&self, x: u32, y: u32) -> bool {
        self.pixels[(y * self.side + x) as usize][..3] != [0; 3]
    }

    /// Root of the mean square of the differences, over all colours of the pixels that are not black in both; 0..255.
    pub fn difference(&self, other: &Self) -> f64 {
        let pairs = self.pixels.iter().zip(&other.pixels).filter(|(a, b)| a[..3] != [0; 3] || b[..3] != [0; 3]);
        let squares: Vec<f64> = pairs
            .flat_map(|(a, b)| [0, 1, 2].map(|c| f64::from(a[c].abs_diff(b[c]))))
            .map(|difference| difference * difference)
            .collect();
        (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt()
    }

    /// How many colours there are.
    pub fn colors(&self) -> usize {
        self.pixels.iter().collect::<std::collections::BTreeSet<_>>().len()
    }
}
