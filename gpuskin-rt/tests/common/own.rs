//! A pipeline of a test's own over the instances of a crowd, whose targets hold words, and what it drew.

use gpuskin_rt::render::vertex_buffers;
use gpuskin_rt::shader::Variant;
use gpuskin_rt::{CrowdRenderer, shader, wgpu};

use super::Gpu;

/// A pipeline with a uniform buffer of its own in group 0, and the model in group 1.
pub struct Own {
    pipeline: wgpu::RenderPipeline,
    group: wgpu::BindGroup,
    targets: Vec<wgpu::Texture>,
}

impl Own {
    /// `text`: entry points `vertex` and `fragment`, the latter with so many outputs of four words; `bytes`: of the uniform
    /// buffer.
    pub fn new(
        gpu: &Gpu,
        renderer: &CrowdRenderer,
        variant: Variant,
        (text, bytes): (&str, &[u8]),
        topology: wgpu::PrimitiveTopology,
        (side, targets): (u32, usize),
    ) -> Self {
        let device = &gpu.device;
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl((shader::source(variant, 1) + text).into()),
        });
        let own = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::VERTEX,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Uniform,
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            }],
        });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&own), Some(renderer.model_layout(variant))],
            immediate_size: 0,
        });
        let target = Some(wgpu::TextureFormat::Rgba32Uint.into());
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex"),
                compilation_options: Default::default(),
                buffers: &vertex_buffers(variant).layouts(),
            },
            primitive: wgpu::PrimitiveState { topology, ..Default::default() },
            depth_stencil: None,
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fragment"),
                compilation_options: Default::default(),
                targets: &vec![target; targets],
            }),
            multiview_mask: None,
            cache: None,
        });
        let uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes.len() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        gpu.queue.write_buffer(&uniform, 0, bytes);
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &own,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() }],
        });
        let texture = |_| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d { width: side, height: side, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: wgpu::TextureFormat::Rgba32Uint,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
                view_formats: &[],
            })
        };
        Self { pipeline, group, targets: (0..targets).map(texture).collect() }
    }

    /// The texels of each target after a pass, as floats; zero where nothing is drawn. The side is a multiple of 16.
    pub fn draw(
        &self,
        gpu: &Gpu,
        mut encoder: wgpu::CommandEncoder,
        draw: impl FnOnce(&mut wgpu::RenderPass<'_>),
    ) -> Vec<Vec<[f32; 4]>> {
        let views: Vec<_> = self.targets.iter().map(|target| target.create_view(&Default::default())).collect();
        let attachment = |view| {
            let ops = wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT), ..Default::default() };
            Some(wgpu::RenderPassColorAttachment { view, depth_slice: None, resolve_target: None, ops })
        };
        {
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                color_attachments: &views.iter().map(attachment).collect::<Vec<_>>(),
                ..Default::default()
            });
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &self.group, &[]);
            draw(&mut pass);
        }
        let buffers: Vec<_> = self
            .targets
            .iter()
            .map(|target| {
                let row = target.width() * 16;
                let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
                    label: None,
                    size: u64::from(row * target.height()),
                    usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                    mapped_at_creation: false,
                });
                let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
                let to = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
                encoder.copy_texture_to_buffer(target.as_image_copy(), to, target.size());
                buffer
            })
            .collect();
        gpu.queue.submit([encoder.finish()]);
        buffers.iter().for_each(|buffer| buffer.map_async(wgpu::MapMode::Read, .., |result| result.unwrap()));
        gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        let texels = |buffer: &wgpu::Buffer| bytemuck::cast_slice(&buffer.get_mapped_range(..).unwrap()).to_vec();
        buffers.iter().map(texels).collect()
    }
}
