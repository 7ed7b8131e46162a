//! Targets with readable depth, a wall drawn by the game's own pipeline, and the numbers of the
//! drawn instances.

use gpuskin_rt::internals::render::{CustomDraw, vertex_buffers};
use gpuskin_rt::internals::*;

use super::Gpu;
use super::own::{Own, OwnDescriptor};

/// Odd after some halvings, so that pyramid levels have incomplete texels.
pub const WIDTH: u32 = 192;
pub const HEIGHT: u32 = 106;

/// Colour and depth with `samples` samples per pixel.
pub struct Targets {
    color: wgpu::Texture,
    resolved: Option<wgpu::Texture>,
    pub depth: wgpu::Texture,
}

impl Targets {
    pub fn new(gpu: &Gpu, depth: wgpu::TextureFormat, samples: u32) -> Self {
        let texture = |format, sample_count, usage| {
            gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d { width: WIDTH, height: HEIGHT, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: usage | wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            })
        };
        let color = wgpu::TextureFormat::Rgba8UnormSrgb;
        let copied = wgpu::TextureUsages::COPY_SRC;
        let of_depth = if samples == 1 { copied } else { wgpu::TextureUsages::empty() };
        Self {
            color: texture(color, samples, if samples == 1 { copied } else { wgpu::TextureUsages::empty() }),
            resolved: (samples > 1).then(|| texture(color, 1, copied)),
            depth: texture(depth, samples, wgpu::TextureUsages::TEXTURE_BINDING | of_depth),
        }
    }

    /// Runs a pass that clears the targets or keeps them.
    pub fn pass(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        reversed: bool,
        clear: bool,
        draw: impl FnOnce(&mut wgpu::RenderPass<'_>),
    ) {
        let [color, depth] = [&self.color, &self.depth].map(|texture| texture.create_view(&Default::default()));
        let resolved = self.resolved.as_ref().map(|texture| texture.create_view(&Default::default()));
        let load = if clear { wgpu::LoadOp::Clear(wgpu::Color::BLACK) } else { wgpu::LoadOp::Load };
        draw(&mut encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &color,
                depth_slice: None,
                resolve_target: resolved.as_ref(),
                ops: wgpu::Operations { load, store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(self.depth_ops(&depth, reversed, clear)),
            ..Default::default()
        }));
    }

    /// Runs a pass with depth only, not reversed.
    pub fn depth_pass(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        clear: bool,
        draw: impl FnOnce(&mut wgpu::RenderPass<'_>),
    ) {
        let depth = self.depth.create_view(&Default::default());
        draw(&mut encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            depth_stencil_attachment: Some(self.depth_ops(&depth, false, clear)),
            ..Default::default()
        }));
    }

    fn depth_ops<'v>(
        &self,
        view: &'v wgpu::TextureView,
        reversed: bool,
        clear: bool,
    ) -> wgpu::RenderPassDepthStencilAttachment<'v> {
        let far = if reversed { 0.0 } else { 1.0 };
        let load = if clear { wgpu::LoadOp::Clear(far) } else { wgpu::LoadOp::Load };
        let stencil = wgpu::Operations { load: wgpu::LoadOp::Clear(0), store: wgpu::StoreOp::Discard };
        wgpu::RenderPassDepthStencilAttachment {
            view,
            depth_ops: Some(wgpu::Operations { load, store: wgpu::StoreOp::Store }),
            stencil_ops: self.depth.format().has_stencil_aspect().then_some(stencil),
        }
    }

    /// Submits, and reads the colours back.
    pub fn finish(&self, gpu: &Gpu, encoder: wgpu::CommandEncoder) -> Vec<u8> {
        read(gpu, encoder, self.resolved.as_ref().unwrap_or(&self.color), wgpu::TextureAspect::All)
    }

    /// Submits, and reads the depths back; single-sampled only.
    pub fn depths(&self, gpu: &Gpu, encoder: wgpu::CommandEncoder) -> Vec<f32> {
        bytemuck::pod_collect_to_vec(&read(gpu, encoder, &self.depth, wgpu::TextureAspect::DepthOnly))
    }
}

/// Four bytes per pixel, rows from the top.
fn read(gpu: &Gpu, mut encoder: wgpu::CommandEncoder, texture: &wgpu::Texture, aspect: wgpu::TextureAspect) -> Vec<u8> {
    let (width, size) = (texture.width() * 4, texture.size());
    assert_eq!(width % wgpu::COPY_BYTES_PER_ROW_ALIGNMENT, 0);
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(width * size.height),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(width), rows_per_image: None };
    let from = wgpu::TexelCopyTextureInfo { texture, mip_level: 0, origin: wgpu::Origin3d::ZERO, aspect };
    encoder.copy_texture_to_buffer(from, wgpu::TexelCopyBufferInfo { buffer: &buffer, layout }, size);
    gpu.queue.submit([encoder.finish()]);
    buffer.map_async(wgpu::MapMode::Read, .., |result| result.unwrap());
    gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    buffer.get_mapped_range(..).unwrap().to_vec()
}

/// A wall drawn by the game's own pipeline: covers the left part of the picture, about 20 metres
/// away.
pub struct Wall(wgpu::RenderPipeline);

impl Wall {
    pub fn new(gpu: &Gpu, format: wgpu::TextureFormat, samples: u32, reversed: bool) -> Self {
        // For a camera whose depth is 0 at 0.1 m and 1 at 90 m.
        let depth = 90.0 / 89.9 * (1.0 - 0.1 / 20.0);
        let depth = if reversed { 1.0 - depth } else { depth };
        let text = format!(
            "@vertex fn vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {{
                let at = vec2<f32>(vec2<u32>(index & 1u, index >> 1u));
                return vec4<f32>(-1.0 + 1.1 * at.x, -1.0 + 2.0 * at.y, {depth:?}, 1.0);
            }}
            @fragment fn fragment() -> @location(0) vec4<f32> {{ return vec4<f32>(0.1, 0.4, 0.2, 1.0); }}"
        );
        let source = wgpu::ShaderSource::Wgsl(text.into());
        let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let compare = if reversed { wgpu::CompareFunction::Greater } else { wgpu::CompareFunction::Less };
        Self(gpu.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex"),
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState { topology: wgpu::PrimitiveTopology::TriangleStrip, ..Default::default() },
            depth_stencil: Some(wgpu::DepthStencilState {
                format,
                depth_write_enabled: Some(true),
                depth_compare: Some(compare),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: wgpu::MultisampleState { count: samples, ..Default::default() },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fragment"),
                compilation_options: Default::default(),
                targets: &[Some(wgpu::TextureFormat::Rgba8UnormSrgb.into())],
            }),
            multiview_mask: None,
            cache: None,
        }))
    }

    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        pass.set_pipeline(&self.0);
        pass.draw(0..4, 0..1);
    }
}

/// Writes the number of an instance plus 1 to a pixel of its own.
const NUMBERS: &str = r"
    @vertex
    fn vertex(input: GpuskinInput) -> @builtin(position) vec4<f32> {
        let number = gpuskin_instance_number(input);
        let place = (vec2<f32>(vec2<u32>(number % 64u, number / 64u)) + 0.5) / 64.0 * 2.0 - 1.0;
        return vec4<f32>(place.x, -place.y, 0.0, 1.0);
    }

    @fragment
    fn fragment() -> @location(0) vec4<u32> { return vec4<u32>(1u); }
";

/// Returns the numbers of the instances of the first pass of the main view, and of the revealed
/// instances, drawn with the game's own pipeline.
pub fn numbers(gpu: &Gpu, renderer: &CrowdRenderer, crowd: &Crowd<Dynamic>) -> [Vec<u32>; 2] {
    let variant = crowd.variant();
    let own = Own::new(
        gpu,
        OwnDescriptor {
            text: shader::source(variant, 1) + NUMBERS,
            instances: renderer.model_layout(variant),
            buffers: vertex_buffers(variant),
            uniforms: vec![&[]],
            topology: wgpu::PrimitiveTopology::PointList,
            format: wgpu::TextureFormat::R32Uint,
            targets: 1,
            side: 64,
        },
    );
    [View::MAIN, View::REVEALED].map(|view| {
        let encoder = gpu.device.create_command_encoder(&Default::default());
        let pixels: Vec<Vec<u32>> =
            own.draw(gpu, encoder, |pass| crowd.draw_with(pass, CustomDraw::new(1).in_view(view), |_, _| ()));
        (0..).zip(&pixels[0]).filter(|(_, drawn)| **drawn > 0).map(|(number, _)| number).collect()
    })
}
