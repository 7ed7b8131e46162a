//! A test's own pipeline for instances, with targets of 32-bit words that are read back.

use bytemuck::Pod;
use gpuskin_rt::internals::render::VertexBuffers;
use gpuskin_rt::wgpu;

use super::Gpu;

/// Distance between uniforms, bytes.
const SLOT: usize = 256;

/// Shader, inputs and targets of [`Own`].
pub struct OwnDescriptor<'a> {
    /// WGSL with the entry points `vertex` and `fragment`, the latter with an output per target.
    /// Group 0 is one uniform buffer; group 1 holds the instances.
    pub text: String,
    pub instances: &'a wgpu::BindGroupLayout,
    pub buffers: VertexBuffers,
    /// Contents of the uniform buffer; the pass selects one of them.
    pub uniforms: Vec<&'a [u8]>,
    pub topology: wgpu::PrimitiveTopology,
    /// Format of the targets, their number, and their side in texels.
    pub format: wgpu::TextureFormat,
    pub targets: usize,
    pub side: u32,
}

pub struct Own {
    pipeline: wgpu::RenderPipeline,
    group: wgpu::BindGroup,
    targets: Vec<wgpu::Texture>,
}

impl Own {
    pub fn new(gpu: &Gpu, descriptor: OwnDescriptor<'_>) -> Self {
        let device = &gpu.device;
        let OwnDescriptor { text, instances, buffers, uniforms, topology, format, targets, side } = descriptor;
        let source = wgpu::ShaderSource::Wgsl(text.into());
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
        let own = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::VERTEX,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Uniform,
                    has_dynamic_offset: true,
                    min_binding_size: None,
                },
                count: None,
            }],
        });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&own), Some(instances)],
            immediate_size: 0,
        });
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex"),
                compilation_options: Default::default(),
                buffers: &buffers.layouts(),
            },
            primitive: wgpu::PrimitiveState { topology, ..Default::default() },
            depth_stencil: None,
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fragment"),
                compilation_options: Default::default(),
                targets: &vec![Some(format.into()); targets],
            }),
            multiview_mask: None,
            cache: None,
        });
        let mut bytes = vec![0; uniforms.len() * SLOT];
        uniforms
            .iter()
            .zip(bytes.chunks_mut(SLOT))
            .for_each(|(uniform, slot)| slot[..uniform.len()].copy_from_slice(uniform));
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes.len() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        gpu.queue.write_buffer(&buffer, 0, &bytes);
        let size = wgpu::BufferSize::new(SLOT as u64);
        let uniform = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: &buffer, offset: 0, size });
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &own,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: uniform }],
        });
        let texture = |_| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d { width: side, height: side, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
                view_formats: &[],
            })
        };
        Self { pipeline, group, targets: (0..targets).map(texture).collect() }
    }

    /// Selects another uniform; a pass begins with the first.
    pub fn bind(&self, pass: &mut wgpu::RenderPass<'_>, uniform: usize) {
        pass.set_bind_group(0, &self.group, &[(uniform * SLOT) as u32]);
    }

    /// Runs a pass and returns the texels of each target, rows from the top; zero where nothing is
    /// drawn.
    pub fn draw<T: Pod>(
        &self,
        gpu: &Gpu,
        mut encoder: wgpu::CommandEncoder,
        draw: impl FnOnce(&mut wgpu::RenderPass<'_>),
    ) -> Vec<Vec<T>> {
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
            self.bind(&mut pass, 0);
            draw(&mut pass);
        }
        let bytes = |target: &wgpu::Texture| target.width() * target.format().block_copy_size(None).unwrap();
        let buffers: Vec<_> = self
            .targets
            .iter()
            .map(|target| {
                let row = bytes(target).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
                let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
                    label: None,
                    size: u64::from(row * target.height()),
                    usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                    mapped_at_creation: false,
                });
                let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
                let to = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
                encoder.copy_texture_to_buffer(target.as_image_copy(), to, target.size());
                (buffer, row as usize, bytes(target) as usize)
            })
            .collect();
        gpu.queue.submit([encoder.finish()]);
        buffers.iter().for_each(|(buffer, ..)| buffer.map_async(wgpu::MapMode::Read, .., |result| result.unwrap()));
        gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        let texels = |(buffer, row, bytes): &(wgpu::Buffer, usize, usize)| {
            let mapped = buffer.get_mapped_range(..).unwrap();
            mapped.chunks(*row).flat_map(|row| bytemuck::pod_collect_to_vec::<u8, T>(&row[..*bytes])).collect()
        };
        buffers.iter().map(texels).collect()
    }
}
