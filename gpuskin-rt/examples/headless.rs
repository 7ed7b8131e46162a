//! Draws a crowd without a window, and writes a PNG: `cargo run --release -p gpuskin-rt --example headless`.
//!
//! The model is two triangles on two bones. It is committed as baked files, so this example has no build script; most games
//! bake in one, and write `include_baked!()`.

use gpuskin_rt::{
    Camera, Crowd, CrowdDescriptor, CrowdRenderer, Curve, Instance, RendererDescriptor, Repeat, Transition, wgpu,
};

gpuskin_rt::include_baked!("examples/baked");

type Error = Box<dyn std::error::Error>;

/// Instances per side of the square.
const SIDE: u32 = 20;
/// Width and height of the picture, in pixels.
const SIZE: u32 = 512;

fn main() -> Result<(), Error> {
    let (device, queue) = pollster::block_on(open())?;
    let mut renderer = CrowdRenderer::new(
        &device,
        &queue,
        RendererDescriptor {
            color_format: wgpu::TextureFormat::Rgba8UnormSrgb,
            depth_format: Some(wgpu::TextureFormat::Depth32Float),
            ..Default::default()
        },
    )?;
    let descriptor = CrowdDescriptor { capacity: SIDE * SIDE, ..Default::default() };
    let crowd = Crowd::<models::Pole>::new(&mut renderer, descriptor)?;
    for i in 0..SIDE * SIDE {
        let position = [(i % SIDE) as f32 * 2.0, 0.0, (i / SIDE) as f32 * -2.0];
        let swaying = Instance::at(position).play(clips::POLE_SWAY).phase(i as f32 * 0.618 % 1.0);
        let id = crowd.spawn(swaying.repeat(Repeat::Loop));
        // Every third pole falls over, from the pose that it has at that moment.
        if i % 3 == 0 {
            crowd.play(id, clips::POLE_FALL_OVER, Transition::crossfade(0.2).curve(Curve::Smooth))?;
        }
    }

    let targets = Targets::new(&device);
    let mut encoder = device.create_command_encoder(&Default::default());
    let camera = Camera::perspective_look_at([20.0, 12.0, 16.0], [20.0, 0.0, -16.0], 0.9, 1.0, 0.1, 100.0);
    // The time is in seconds. A game calls both functions once in a frame.
    renderer.prepare(&queue, &mut encoder, &camera, 0.1)?;
    renderer.draw(&mut targets.pass(&mut encoder));
    targets.save(&device, &queue, encoder, "headless.png")?;
    println!("headless.png: {SIZE} x {SIZE} pixels, {} instances", SIDE * SIDE);
    Ok(())
}

async fn open() -> Result<(wgpu::Device, wgpu::Queue), Error> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = instance.request_adapter(&Default::default()).await?;
    let descriptor = wgpu::DeviceDescriptor {
        required_features: CrowdRenderer::OPTIONAL_FEATURES & adapter.features(),
        required_limits: wgpu::Limits::downlevel_defaults().using_alignment(adapter.limits()),
        ..Default::default()
    };
    Ok(adapter.request_device(&descriptor).await?)
}

/// Textures that are drawn to.
struct Targets {
    color: wgpu::Texture,
    depth: wgpu::Texture,
}

impl Targets {
    fn new(device: &wgpu::Device) -> Self {
        let texture = |format| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d { width: SIZE, height: SIZE, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
                view_formats: &[],
            })
        };
        Self { color: texture(wgpu::TextureFormat::Rgba8UnormSrgb), depth: texture(wgpu::TextureFormat::Depth32Float) }
    }

    fn pass<'e>(&self, encoder: &'e mut wgpu::CommandEncoder) -> wgpu::RenderPass<'e> {
        let clear = wgpu::Color { r: 0.3, g: 0.4, b: 0.5, a: 1.0 };
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.color.create_view(&Default::default()),
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(clear), store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth.create_view(&Default::default()),
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        })
    }

    /// Submits the commands, and writes the colours as a PNG.
    fn save(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        mut encoder: wgpu::CommandEncoder,
        path: &str,
    ) -> Result<(), Error> {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(SIZE * SIZE * 4),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(SIZE * 4), rows_per_image: None };
        let target = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
        encoder.copy_texture_to_buffer(self.color.as_image_copy(), target, self.color.size());
        queue.submit([encoder.finish()]);
        buffer.map_async(wgpu::MapMode::Read, .., |result| result.expect("a buffer that can be mapped"));
        device.poll(wgpu::PollType::wait_indefinitely())?;
        let mut png = png::Encoder::new(std::fs::File::create(path)?, SIZE, SIZE);
        png.set_color(png::ColorType::Rgba);
        png.write_header()?.write_image_data(&buffer.get_mapped_range(..)?)?;
        Ok(())
    }
}
