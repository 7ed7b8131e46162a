//! The ground: a pipeline of the page's own, in plain light and haze.

use bytemuck::{Pod, Zeroable};
use crowd::frame::LIGHT;
use crowd::land::{self, Vertex};
use gpuskin_rt::{Camera, wgpu};
use wgpu::util::DeviceExt;

/// Colour of the sky at the horizon, linear: the haze ends in it.
pub(crate) const HORIZON: [f32; 3] = [0.62, 0.58, 0.52];

/// Layout of `Ground` in `ground.wgsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct GroundUniform {
    view_proj: [[f32; 4]; 4],
    eye: [f32; 4],
    to_sun: [f32; 4],
    sun: [f32; 4],
    sky: [f32; 4],
    horizon: [f32; 4],
}

/// Buffers and pipeline of the ground.
#[derive(Debug)]
pub(crate) struct Ground {
    uniform: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    index_count: u32,
    pipeline: wgpu::RenderPipeline,
}

impl Ground {
    pub(crate) fn new(
        device: &wgpu::Device,
        color: wgpu::TextureFormat,
        depth: wgpu::TextureFormat,
        sample_count: u32,
    ) -> Self {
        let label = Some("ground");
        let (vertices, indices) = land::grid();
        let buffer = |usage, contents: &[u8]| {
            device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label, contents, usage })
        };
        let uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label,
            size: size_of::<GroundUniform>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label,
            source: wgpu::ShaderSource::Wgsl(include_str!("ground.wgsl").into()),
        });
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label,
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: None,
                compilation_options: Default::default(),
                buffers: &[Some(wgpu::VertexBufferLayout {
                    array_stride: size_of::<Vertex>() as u64,
                    step_mode: wgpu::VertexStepMode::Vertex,
                    attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3],
                })],
            },
            primitive: Default::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: depth,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Less),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: wgpu::MultisampleState { count: sample_count, ..Default::default() },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: None,
                compilation_options: Default::default(),
                targets: &[Some(color.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() }],
        });
        Self {
            uniform,
            bind_group,
            vertices: buffer(wgpu::BufferUsages::VERTEX, bytemuck::cast_slice(&vertices)),
            indices: buffer(wgpu::BufferUsages::INDEX, bytemuck::cast_slice(&indices)),
            index_count: indices.len() as u32,
            pipeline,
        }
    }

    pub(crate) fn prepare(&self, queue: &wgpu::Queue, camera: &Camera) {
        let four = |[x, y, z]: [f32; 3]| [x, y, z, 0.0];
        let uniform = GroundUniform {
            view_proj: camera.view_proj,
            eye: four(camera.eye),
            to_sun: four(LIGHT.to_sun),
            sun: four(LIGHT.sun),
            sky: four(LIGHT.sky),
            horizon: four(HORIZON),
        };
        queue.write_buffer(&self.uniform, 0, bytemuck::bytes_of(&uniform));
    }

    pub(crate) fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        pass.set_vertex_buffer(0, self.vertices.slice(..));
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..self.index_count, 0, 0..1);
    }
}
