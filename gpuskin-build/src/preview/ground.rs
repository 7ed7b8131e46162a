//! The ground below a model, as a reference for its feet.

use bytemuck::{Pod, Zeroable};
use gpuskin_rt::internals::Camera;

use super::framing::Framing;

/// Half side of the ground, relative to the half width of the view.
const EXTENT: f32 = 1.3;
/// Linear colour between lines and on lines, with opacity.
const COLOR: [f32; 4] = [0.5, 0.515, 0.54, 0.45];
const LINE: [f32; 4] = [0.2, 0.21, 0.23, 0.8];

/// Same layout as `Ground` in `ground.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct GroundUniform {
    view_proj: [[f32; 4]; 4],
    center: [f32; 3],
    extent: f32,
    offset: [f32; 2],
    step: f32,
    padding: u32,
    color: [f32; 4],
    line: [f32; 4],
}

/// A square with a grid.
pub(super) struct Ground {
    pipeline: wgpu::RenderPipeline,
    uniform: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
}

impl Ground {
    pub(super) fn new(
        device: &wgpu::Device,
        color: wgpu::TextureFormat,
        depth: wgpu::TextureFormat,
        samples: u32,
    ) -> Self {
        let module = device.create_shader_module(wgpu::include_wgsl!("ground.wgsl"));
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("preview ground"),
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex"),
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState { topology: wgpu::PrimitiveTopology::TriangleStrip, ..Default::default() },
            // Models are drawn first: parts above the ground hide it, parts below it show through.
            depth_stencil: Some(wgpu::DepthStencilState {
                format: depth,
                depth_write_enabled: Some(false),
                depth_compare: Some(wgpu::CompareFunction::LessEqual),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: wgpu::MultisampleState { count: samples, ..Default::default() },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fragment"),
                compilation_options: Default::default(),
                targets: &[Some(wgpu::ColorTargetState {
                    format: color,
                    blend: Some(wgpu::BlendState::ALPHA_BLENDING),
                    write_mask: wgpu::ColorWrites::ALL,
                })],
            }),
            multiview_mask: None,
            cache: None,
        });
        let uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("preview ground"),
            size: size_of::<GroundUniform>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("preview ground"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() }],
        });
        Self { pipeline, uniform, bind_group }
    }

    /// Sets the position of the ground for the following submissions.
    pub(super) fn place(&self, queue: &wgpu::Queue, framing: &Framing, camera: &Camera) {
        let Framing { target, half, ground, step, .. } = *framing;
        let extent = EXTENT * half[0];
        let between_lines = |center: f32| (center - extent).rem_euclid(step) + extent;
        let uniform = GroundUniform {
            view_proj: camera.view_proj,
            center: [target.x, ground, target.z],
            extent,
            offset: [between_lines(target.x), between_lines(target.z)],
            step,
            padding: 0,
            color: COLOR,
            line: LINE,
        };
        queue.write_buffer(&self.uniform, 0, bytemuck::bytes_of(&uniform));
    }

    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        pass.draw(0..4, 0..1);
    }
}
