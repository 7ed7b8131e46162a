//! Errors of the vertices of a clip, as colours on the model.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use gpuskin_rt::pipeline::{self, CustomDraw};
use gpuskin_rt::{Camera, Crowd, CrowdRenderer, Dynamic, Time, View, wgpu};

use crate::gpu::{DEPTH, Gpu, SAMPLES};

/// Layout of `Heat` in `heat.wgsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct HeatUniform {
    view_proj: [[f32; 4]; 4],
    to_light: [f32; 4],
    time: [u32; 2],
    padding: [u32; 2],
}

/// Pipeline and buffers for one model.
#[derive(Debug)]
pub(crate) struct Heat {
    pipeline: wgpu::RenderPipeline,
    bind_group: wgpu::BindGroup,
    uniform: wgpu::Buffer,
    shares: wgpu::Buffer,
}

impl Heat {
    pub(crate) fn new(gpu: &Gpu, renderer: &CrowdRenderer, crowd: &Crowd<Dynamic>) -> Self {
        let (device, label) = (&gpu.device, Some("errors of vertices"));
        let variant = crowd.variant();
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label,
            source: wgpu::ShaderSource::Wgsl((pipeline::source(variant, 1) + include_str!("heat.wgsl")).into()),
        });
        let buffer = |binding, ty| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        };
        let shares = wgpu::BufferBindingType::Storage { read_only: true };
        let entries = [
            buffer(0, wgpu::BufferBindingType::Uniform),
            wgpu::BindGroupLayoutEntry { visibility: wgpu::ShaderStages::VERTEX, ..buffer(1, shares) },
        ];
        let bindings = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(&bindings), Some(renderer.model_layout(variant))],
            immediate_size: 0,
        });
        let buffers = pipeline::vertex_buffers(variant);
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label,
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vertex"),
                compilation_options: Default::default(),
                buffers: &buffers.layouts(),
            },
            primitive: Default::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Less),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: wgpu::MultisampleState { count: SAMPLES, ..Default::default() },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fragment"),
                compilation_options: Default::default(),
                targets: &[Some(gpu.format.into())],
            }),
            multiview_mask: None,
            cache: None,
        });
        let buffer = |size: usize, usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label,
                size: size as u64,
                usage: usage | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let uniform = buffer(size_of::<HeatUniform>(), wgpu::BufferUsages::UNIFORM);
        let vertices = crowd.meta().mesh.vertex_count as usize;
        let shares = buffer(vertices.next_multiple_of(4).max(4), wgpu::BufferUsages::STORAGE);
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label,
            layout: &bindings,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: shares.as_entire_binding() },
            ],
        });
        Self { pipeline, bind_group, uniform, shares }
    }

    /// Uploads the errors of a clip: a byte per vertex.
    pub(crate) fn set(&self, gpu: &Gpu, shares: &[u8]) {
        let mut padded = shares.to_vec();
        padded.resize(self.shares.size() as usize, 0);
        gpu.queue.write_buffer(&self.shares, 0, &padded);
    }

    pub(crate) fn prepare(&self, gpu: &Gpu, camera: &Camera, time: Time) {
        let to_light = Vec3::new(0.4, 0.8, 0.45).normalize().extend(0.0);
        let uniform =
            HeatUniform { view_proj: camera.view_proj, to_light: to_light.into(), time: time.words(), padding: [0; 2] };
        gpu.queue.write_buffer(&self.uniform, 0, bytemuck::bytes_of(&uniform));
    }

    pub(crate) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, crowd: &Crowd<Dynamic>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        crowd.draw_with(pass, CustomDraw::new(1).in_view(View::MAIN), |_, _| {});
    }
}
