//! Sky: a pipeline that is independent of crowds.

use gpuskin_rt::{Camera, wgpu};

use crate::gpu::DEPTH;

#[derive(Debug)]
pub(crate) struct Sky {
    sight: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    pipeline: wgpu::RenderPipeline,
}

impl Sky {
    pub(crate) fn new(device: &wgpu::Device, format: wgpu::TextureFormat) -> Self {
        let module = device.create_shader_module(wgpu::include_wgsl!("sky.wgsl"));
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("sky"),
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: None,
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: Default::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(false),
                depth_compare: Some(wgpu::CompareFunction::LessEqual),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: None,
                compilation_options: Default::default(),
                targets: &[Some(format.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let sight = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("sight"),
            size: 80,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("sight"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: sight.as_entire_binding() }],
        });
        Self { sight, bind_group, pipeline }
    }

    pub(crate) fn prepare(&self, queue: &wgpu::Queue, camera: &Camera) {
        let clip_to_world = glam::Mat4::from_cols_array_2d(&camera.view_proj).inverse().to_cols_array();
        let [x, y, z] = camera.eye;
        let words: Vec<f32> = clip_to_world.into_iter().chain([x, y, z, 0.0]).collect();
        queue.write_buffer(&self.sight, 0, bytemuck::cast_slice(&words));
    }

    pub(crate) fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        pass.draw(0..3, 0..1);
    }
}
