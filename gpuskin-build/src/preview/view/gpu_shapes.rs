//! Pipelines that draw surfaces and shapes.

use gpuskin_rt::internals::Camera;
use wgpu::util::{BufferInitDescriptor, DeviceExt};

use super::shapes::{ShapeVertex, Shapes};
use super::surfaces::{Surface, SurfaceVertex};
use crate::preview::targets::{DEPTH, SAMPLES};

/// Draws surfaces and shapes of `view.wgsl`.
pub(super) struct ShapeRenderer {
    surfaces: wgpu::RenderPipeline,
    shapes: wgpu::RenderPipeline,
    uniform: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
}

/// Vertices and indices of one picture.
pub(super) struct ShapeBuffers {
    surfaces: Vec<(wgpu::Buffer, wgpu::Buffer, u32)>,
    shapes: Option<(wgpu::Buffer, u32)>,
}

impl ShapeRenderer {
    pub(super) fn new(device: &wgpu::Device, format: wgpu::TextureFormat) -> Self {
        let module = device.create_shader_module(wgpu::include_wgsl!("../view.wgsl"));
        let group = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("view"),
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
            label: Some("view"),
            bind_group_layouts: &[Some(&group)],
            immediate_size: 0,
        });
        let uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("view"),
            size: 64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("view"),
            layout: &group,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() }],
        });
        let pipeline = |entry_point, buffer: wgpu::VertexBufferLayout<'_>, depth: wgpu::DepthStencilState| {
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(entry_point),
                layout: Some(&layout),
                vertex: wgpu::VertexState {
                    module: &module,
                    entry_point: Some(entry_point),
                    compilation_options: Default::default(),
                    buffers: &[Some(buffer)],
                },
                primitive: Default::default(),
                depth_stencil: Some(depth),
                multisample: wgpu::MultisampleState { count: SAMPLES, ..Default::default() },
                fragment: Some(wgpu::FragmentState {
                    module: &module,
                    entry_point: Some("fragment"),
                    compilation_options: Default::default(),
                    targets: &[Some(wgpu::ColorTargetState {
                        format,
                        blend: Some(wgpu::BlendState::ALPHA_BLENDING),
                        write_mask: wgpu::ColorWrites::ALL,
                    })],
                }),
                multiview_mask: None,
                cache: None,
            })
        };
        let depth = |write, compare, bias| wgpu::DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(write),
            depth_compare: Some(compare),
            stencil: Default::default(),
            bias,
        };
        // The colour of a mask lies on the surface that the crowd has drawn.
        let nearer = wgpu::DepthBiasState { constant: -64, slope_scale: -1.0, clamp: 0.0 };
        let surface = wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x4];
        let shape = wgpu::vertex_attr_array![0 => Float32x2, 1 => Float32x4];
        let buffer = |stride: usize, attributes| wgpu::VertexBufferLayout {
            array_stride: stride as u64,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes,
        };
        Self {
            surfaces: pipeline(
                "surface",
                buffer(size_of::<SurfaceVertex>(), &surface),
                depth(true, wgpu::CompareFunction::LessEqual, nearer),
            ),
            shapes: pipeline(
                "shape",
                buffer(size_of::<ShapeVertex>(), &shape),
                depth(false, wgpu::CompareFunction::Always, Default::default()),
            ),
            uniform,
            bind_group,
        }
    }

    /// Uploads the content of a picture.
    pub(super) fn upload(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        camera: &Camera,
        surfaces: &[Surface],
        shapes: &Shapes,
    ) -> ShapeBuffers {
        queue.write_buffer(&self.uniform, 0, bytemuck::bytes_of(&camera.view_proj));
        let buffer = |contents: &[u8], usage| {
            device.create_buffer_init(&BufferInitDescriptor { label: Some("view"), contents, usage })
        };
        let surface = |surface: &Surface| {
            let vertices = buffer(bytemuck::cast_slice(&surface.vertices), wgpu::BufferUsages::VERTEX);
            let indices = buffer(bytemuck::cast_slice(&surface.indices), wgpu::BufferUsages::INDEX);
            (vertices, indices, surface.indices.len() as u32)
        };
        let filled = surfaces.iter().filter(|surface| !surface.indices.is_empty());
        let shapes = (!shapes.vertices.is_empty()).then(|| {
            let vertices = buffer(bytemuck::cast_slice(&shapes.vertices), wgpu::BufferUsages::VERTEX);
            (vertices, shapes.vertices.len() as u32)
        });
        ShapeBuffers { surfaces: filled.map(surface).collect(), shapes }
    }

    pub(super) fn draw_surfaces(&self, pass: &mut wgpu::RenderPass<'_>, buffers: &ShapeBuffers) {
        pass.set_pipeline(&self.surfaces);
        pass.set_bind_group(0, &self.bind_group, &[]);
        for (vertices, indices, count) in &buffers.surfaces {
            pass.set_vertex_buffer(0, vertices.slice(..));
            pass.set_index_buffer(indices.slice(..), wgpu::IndexFormat::Uint32);
            pass.draw_indexed(0..*count, 0, 0..1);
        }
    }

    pub(super) fn draw_shapes(&self, pass: &mut wgpu::RenderPass<'_>, buffers: &ShapeBuffers) {
        let Some((vertices, count)) = &buffers.shapes else { return };
        pass.set_pipeline(&self.shapes);
        pass.set_bind_group(0, &self.bind_group, &[]);
        pass.set_vertex_buffer(0, vertices.slice(..));
        pass.draw(0..*count, 0..1);
    }
}
