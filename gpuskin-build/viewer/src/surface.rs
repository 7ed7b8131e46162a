//! A model with displaced vertices, or with a colour per vertex.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use gpuskin_rt::internals::Material;
use gpuskin_rt::pipeline::{self, CustomDraw, SampledTexture};
use gpuskin_rt::{Camera, Crowd, CrowdRenderer, Dynamic, Model, Time, View, wgpu};

use crate::gpu::{DEPTH, Gpu, SAMPLES};

/// Colours of a surface. The numbers are those of `surface.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colors {
    /// Materials in the runtime's default light.
    Materials = 0,
    /// Share of the greatest value: black, blue, red, yellow, white.
    Heat = 1,
    /// Weight of a mask: from grey to green.
    Mask = 2,
}

/// A vertex: displacement in world space, metres, and share of the greatest value, 0..1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct SurfaceVertex {
    pub(crate) displacement: [f32; 3],
    pub(crate) share: f32,
}

/// Layout of `Surface` in `surface.wgsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct SurfaceUniform {
    view_proj: [[f32; 4]; 4],
    eye: [f32; 4],
    to_light: [f32; 4],
    time: [u32; 2],
    colors: u32,
    padding: u32,
}

/// Layout of `Paint` in `surface.wgsl`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct PaintUniform {
    base_color: [f32; 4],
    emissive: [f32; 3],
    alpha_cutoff: f32,
    unlit: u32,
    flat_triangles: u32,
    padding: [u32; 2],
}

/// Pipeline and buffers for one model.
#[derive(Debug)]
pub(crate) struct Surface {
    pipeline: wgpu::RenderPipeline,
    bind_group: wgpu::BindGroup,
    uniform: wgpu::Buffer,
    vertices: wgpu::Buffer,
    /// Bind groups of each material: with normals of the mesh, and with one normal per triangle.
    paints: Vec<[wgpu::BindGroup; 2]>,
}

impl Surface {
    /// # Errors
    /// If a texture cannot be drawn, or the model has too many vertices for the device.
    pub(crate) fn new(
        gpu: &Gpu,
        renderer: &mut CrowdRenderer,
        crowd: &Crowd<Dynamic>,
        model: &Model,
    ) -> Result<Self, String> {
        let (device, label) = (&gpu.device, Some("surface"));
        let variant = crowd.variant();
        let bytes = u64::from(crowd.meta().mesh.vertex_count.max(1)) * size_of::<SurfaceVertex>() as u64;
        if bytes > device.limits().max_storage_buffer_binding_size {
            return Err("the model has too many vertices for this device".to_owned());
        }
        let entry = match variant.has_vertex_index() {
            true => include_str!("surface_vertex_numbered.wgsl"),
            false => include_str!("surface_vertex.wgsl"),
        };
        let text = pipeline::source(variant, 1) + include_str!("surface.wgsl") + entry;
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label,
            source: wgpu::ShaderSource::Wgsl(text.into()),
        });
        let buffer = |binding, ty| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        };
        let vertices = wgpu::BufferBindingType::Storage { read_only: true };
        let entries = [
            buffer(0, wgpu::BufferBindingType::Uniform),
            wgpu::BindGroupLayoutEntry { visibility: wgpu::ShaderStages::VERTEX, ..buffer(1, vertices) },
        ];
        let bindings = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
        let fragment = |binding, ty| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::FRAGMENT,
            ty,
            count: None,
        };
        let texture = wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: true },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let sampler = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
        let entries = [
            buffer(0, wgpu::BufferBindingType::Uniform),
            fragment(1, texture),
            fragment(2, sampler),
            fragment(3, texture),
            fragment(4, sampler),
        ];
        let painted = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(&bindings), Some(renderer.model_layout(variant)), Some(&painted)],
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
        let uniform = buffer_of(gpu, size_of::<SurfaceUniform>() as u64, wgpu::BufferUsages::UNIFORM);
        let vertices = buffer_of(gpu, bytes, wgpu::BufferUsages::STORAGE);
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label,
            layout: &bindings,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: vertices.as_entire_binding() },
            ],
        });
        let white = white(gpu);
        let mut paints = Vec::new();
        for (index, material) in (0..).zip(model.meta.materials.iter()) {
            let textures = renderer.material_textures(model, index).map_err(|error| error.to_string())?;
            let [base, emissive] = [textures.base_color, textures.emissive].map(|one| one.unwrap_or(white.clone()));
            paints.push([false, true].map(|flat| paint(gpu, &painted, material, flat, [&base, &emissive])));
        }
        Ok(Self { pipeline, bind_group, uniform, vertices, paints })
    }

    /// Uploads the vertices of the model.
    pub(crate) fn set(&self, gpu: &Gpu, vertices: &[SurfaceVertex]) {
        let bytes: &[u8] = bytemuck::cast_slice(vertices);
        gpu.queue.write_buffer(&self.vertices, 0, &bytes[..bytes.len().min(self.vertices.size() as usize)]);
    }

    pub(crate) fn prepare(&self, gpu: &Gpu, camera: &Camera, eye: Vec3, time: Time, colors: Colors) {
        let to_light = Vec3::new(0.4, 0.8, 0.45).normalize();
        let uniform = SurfaceUniform {
            view_proj: camera.view_proj,
            eye: eye.extend(0.0).into(),
            to_light: to_light.extend(0.0).into(),
            time: time.words(),
            colors: colors as u32,
            padding: 0,
        };
        gpu.queue.write_buffer(&self.uniform, 0, bytemuck::bytes_of(&uniform));
    }

    pub(crate) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, crowd: &Crowd<Dynamic>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        crowd.draw_with(pass, CustomDraw::new(1).in_view(View::MAIN), |pass, part| {
            if let Some(paints) = self.paints.get(part.material as usize) {
                pass.set_bind_group(2, &paints[usize::from(part.flat)], &[]);
            }
        });
    }
}

fn buffer_of(gpu: &Gpu, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("surface"),
        size,
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

/// Creates the bind group of a material with base colour and emitted light.
fn paint(
    gpu: &Gpu,
    layout: &wgpu::BindGroupLayout,
    material: &Material,
    flat: bool,
    [base, emissive]: [&SampledTexture; 2],
) -> wgpu::BindGroup {
    let uniform = buffer_of(gpu, size_of::<PaintUniform>() as u64, wgpu::BufferUsages::UNIFORM);
    let content = PaintUniform {
        base_color: material.base_color,
        emissive: if material.emits() { material.emissive } else { [0.0; 3] },
        alpha_cutoff: material.alpha_cutoff.unwrap_or(0.0),
        unlit: material.unlit.into(),
        flat_triangles: flat.into(),
        padding: [0; 2],
    };
    gpu.queue.write_buffer(&uniform, 0, bytemuck::bytes_of(&content));
    let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
    gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("paint"),
        layout,
        entries: &[
            entry(0, uniform.as_entire_binding()),
            entry(1, wgpu::BindingResource::TextureView(&base.view)),
            entry(2, wgpu::BindingResource::Sampler(&base.sampler)),
            entry(3, wgpu::BindingResource::TextureView(&emissive.view)),
            entry(4, wgpu::BindingResource::Sampler(&emissive.sampler)),
        ],
    })
}

/// Creates a white texel, for materials without a texture.
fn white(gpu: &Gpu) -> SampledTexture {
    let size = wgpu::Extent3d { width: 1, height: 1, depth_or_array_layers: 1 };
    let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("white"),
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8Unorm,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(4), rows_per_image: None };
    gpu.queue.write_texture(texture.as_image_copy(), &[255; 4], layout, size);
    let sampler = gpu.device.create_sampler(&Default::default());
    SampledTexture { view: texture.create_view(&Default::default()), sampler, second_uv: false }
}
