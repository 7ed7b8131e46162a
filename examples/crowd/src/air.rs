//! Shadows, haze and sky in one full-screen pass, so that the crowds need no material of their own
//! for them.

use bytemuck::{Pod, Zeroable};
use glam::Mat4;
use gpuskin_rt::{Camera, Light, wgpu};

use crate::frame::{self, Targets};

/// Uniform data; the layout equals that of `Air` in `air.wgsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct AirUniform {
    view_proj: [[f32; 4]; 4],
    clip_to_world: [[f32; 4]; 4],
    world_to_sun: [[f32; 4]; 4],
    eye: [f32; 4],
    to_sun: [f32; 4],
    sun: [f32; 4],
    sky: [f32; 4],
    ground: [f32; 4],
}

/// Size of the shadow map in texels: along the field, and across it, where the low sun foreshortens
/// it.
const SHADOW_MAP: [u32; 2] = [8192, 4096];

#[derive(Debug)]
pub(crate) struct Air {
    uniform: wgpu::Buffer,
    /// Layout of bind group 0; the ground uses it too.
    pub(crate) layout: wgpu::BindGroupLayout,
    pub(crate) bind_group: wgpu::BindGroup,
    shadow_map: wgpu::TextureView,
    shadows: wgpu::BindGroup,
    drawn_layout: wgpu::BindGroupLayout,
    pipeline: wgpu::RenderPipeline,
}

impl Air {
    pub(crate) fn new(device: &wgpu::Device, format: wgpu::TextureFormat) -> Self {
        use wgpu::{BindingResource, BindingType, TextureSampleType};
        let texture = |sample_type, multisampled| BindingType::Texture {
            sample_type,
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled,
        };
        let uniform_type = BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        let comparison = BindingType::Sampler(wgpu::SamplerBindingType::Comparison);
        let layout = layout(device, "air", &[uniform_type]);
        let shadow_layout = self::layout(device, "shadows", &[texture(TextureSampleType::Depth, false), comparison]);
        // Depth is read as numbers too, because GL lacks `textureLoad` of depth textures.
        let samples = texture(TextureSampleType::Float { filterable: false }, frame::samples(device) > 1);
        let drawn_layout = self::layout(device, "drawn", &[samples; 2]);

        let uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("air"),
            size: size_of::<AirUniform>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        // Devices with a smaller texture limit get coarser shadows.
        let size = SHADOW_MAP.map(|side| side.min(device.limits().max_texture_dimension_2d));
        let shadow_map = frame::target(device, "shadow map", size, frame::DEPTH, 1);
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("shadows"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            compare: Some(wgpu::CompareFunction::LessEqual),
            ..Default::default()
        });
        let shadow = [BindingResource::TextureView(&shadow_map), BindingResource::Sampler(&sampler)];
        Self {
            bind_group: bind(device, &layout, [uniform.as_entire_binding()]),
            shadows: bind(device, &shadow_layout, shadow),
            pipeline: pipeline(device, [&layout, &shadow_layout, &drawn_layout], format),
            uniform,
            layout,
            shadow_map,
            drawn_layout,
        }
    }

    /// Uploads camera, sun and light.
    pub(crate) fn prepare(&self, queue: &wgpu::Queue, camera: &Camera, sun: &Camera, light: &Light) {
        let four = |[x, y, z]: [f32; 3]| [x, y, z, 0.0];
        let uniform = AirUniform {
            view_proj: camera.view_proj,
            clip_to_world: Mat4::from_cols_array_2d(&camera.view_proj).inverse().to_cols_array_2d(),
            world_to_sun: sun.view_proj,
            eye: four(camera.eye),
            to_sun: four(glam::Vec3::from(light.to_sun).normalize().into()),
            sun: four(light.sun),
            sky: four(light.sky),
            ground: four(light.ground),
        };
        queue.write_buffer(&self.uniform, 0, bytemuck::bytes_of(&uniform));
    }

    /// Begins the pass for the crowds' shadows.
    pub(crate) fn begin_shadows<'e>(&self, encoder: &'e mut wgpu::CommandEncoder) -> wgpu::RenderPass<'e> {
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("shadows"),
            depth_stencil_attachment: Some(frame::cleared_depth(&self.shadow_map)),
            ..Default::default()
        })
    }

    /// Binds the colour and depth of a frame for the haze pass.
    pub(crate) fn bind_drawn(&self, device: &wgpu::Device, views: [&wgpu::TextureView; 2]) -> wgpu::BindGroup {
        bind(device, &self.drawn_layout, views.map(wgpu::BindingResource::TextureView))
    }

    /// Draws a frame's targets into the picture, with shadows and haze.
    pub(crate) fn draw(&self, encoder: &mut wgpu::CommandEncoder, targets: &Targets, picture: &wgpu::TextureView) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("haze"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: picture,
                depth_slice: None,
                resolve_target: None,
                ops: Default::default(),
            })],
            ..Default::default()
        });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        pass.set_bind_group(1, &self.shadows, &[]);
        pass.set_bind_group(2, &targets.bind_group, &[]);
        pass.draw(0..3, 0..1);
    }
}

fn layout(device: &wgpu::Device, label: &str, types: &[wgpu::BindingType]) -> wgpu::BindGroupLayout {
    let entry = |(binding, &ty)| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
        ty,
        count: None,
    };
    let entries: Vec<_> = (0..).zip(types).map(entry).collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries: &entries })
}

fn bind<const N: usize>(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    resources: [wgpu::BindingResource<'_>; N],
) -> wgpu::BindGroup {
    let entries: Vec<_> =
        (0..).zip(resources).map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }).collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
}

fn pipeline(
    device: &wgpu::Device,
    layouts: [&wgpu::BindGroupLayout; 3],
    format: wgpu::TextureFormat,
) -> wgpu::RenderPipeline {
    let mut text = concat!(include_str!("air.wgsl"), include_str!("haze.wgsl")).to_owned();
    if frame::samples(device) == 1 {
        text = text.replace("texture_multisampled_2d", "texture_2d").replace("SAMPLES: i32 = 4", "SAMPLES: i32 = 1");
    }
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("haze"),
        source: wgpu::ShaderSource::Wgsl(text.into()),
    });
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("haze"),
        bind_group_layouts: &layouts.map(Some),
        immediate_size: 0,
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("haze"),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            buffers: &[],
        },
        primitive: Default::default(),
        depth_stencil: None,
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            targets: &[Some(format.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}
