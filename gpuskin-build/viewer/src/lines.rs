//! Lines in world space: the ground's grid, bones, bounds, and the path of root motion.

use bytemuck::{Pod, Zeroable};
use gpuskin_rt::wgpu;

use crate::gpu::{DEPTH, Gpu, SAMPLES};

/// End of a line: position in world space, metres, and linear RGB.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct LineEnd {
    pub(crate) position: [f32; 3],
    pub(crate) color: [f32; 3],
}

/// Pipelines and buffers of lines.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Lines behind surfaces are hidden; and lines that are always seen.
    pipelines: [wgpu::RenderPipeline; 2],
    bind_group: wgpu::BindGroup,
    uniform: wgpu::Buffer,
    ends: wgpu::Buffer,
    /// Number of line ends of each kind.
    counts: [u32; 2],
}

impl Lines {
    pub(crate) fn new(gpu: &Gpu) -> Self {
        let (device, label) = (&gpu.device, Some("lines"));
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label,
            source: wgpu::ShaderSource::Wgsl(include_str!("lines.wgsl").into()),
        });
        let bindings = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label,
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
            label,
            bind_group_layouts: &[Some(&bindings)],
            immediate_size: 0,
        });
        let pipeline = |compare| {
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label,
                layout: Some(&layout),
                vertex: wgpu::VertexState {
                    module: &module,
                    entry_point: None,
                    compilation_options: Default::default(),
                    buffers: &[Some(wgpu::VertexBufferLayout {
                        array_stride: size_of::<LineEnd>() as u64,
                        step_mode: wgpu::VertexStepMode::Vertex,
                        attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3],
                    })],
                },
                primitive: wgpu::PrimitiveState { topology: wgpu::PrimitiveTopology::LineList, ..Default::default() },
                depth_stencil: Some(wgpu::DepthStencilState {
                    format: DEPTH,
                    depth_write_enabled: Some(false),
                    depth_compare: Some(compare),
                    stencil: Default::default(),
                    bias: Default::default(),
                }),
                multisample: wgpu::MultisampleState { count: SAMPLES, ..Default::default() },
                fragment: Some(wgpu::FragmentState {
                    module: &module,
                    entry_point: None,
                    compilation_options: Default::default(),
                    targets: &[Some(gpu.format.into())],
                }),
                multiview_mask: None,
                cache: None,
            })
        };
        let uniform = buffer(device, 64, wgpu::BufferUsages::UNIFORM);
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label,
            layout: &bindings,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() }],
        });
        let pipelines = [wgpu::CompareFunction::LessEqual, wgpu::CompareFunction::Always].map(pipeline);
        let ends = buffer(device, 1 << 12, wgpu::BufferUsages::VERTEX);
        Self { pipelines, bind_group, uniform, ends, counts: [0; 2] }
    }

    /// Uploads the lines of a frame: those that surfaces hide, and those that are always seen.
    pub(crate) fn prepare(&mut self, gpu: &Gpu, view_proj: &[[f32; 4]; 4], hidden: &[LineEnd], seen: &[LineEnd]) {
        let bytes = size_of_val(hidden) + size_of_val(seen);
        if bytes as u64 > self.ends.size() {
            self.ends = buffer(&gpu.device, bytes.next_power_of_two() as u64, wgpu::BufferUsages::VERTEX);
        }
        gpu.queue.write_buffer(&self.uniform, 0, bytemuck::cast_slice(view_proj));
        gpu.queue.write_buffer(&self.ends, 0, bytemuck::cast_slice(hidden));
        gpu.queue.write_buffer(&self.ends, size_of_val(hidden) as u64, bytemuck::cast_slice(seen));
        self.counts = [hidden.len() as u32, seen.len() as u32];
    }

    pub(crate) fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        pass.set_bind_group(0, &self.bind_group, &[]);
        pass.set_vertex_buffer(0, self.ends.slice(..));
        let [hidden, seen] = self.counts;
        for (pipeline, range) in self.pipelines.iter().zip([0..hidden, hidden..hidden + seen]) {
            if !range.is_empty() {
                pass.set_pipeline(pipeline);
                pass.draw(range, 0..1);
            }
        }
    }
}

fn buffer(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("lines"),
        size,
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}
