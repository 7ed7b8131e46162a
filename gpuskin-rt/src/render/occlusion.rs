//! Occlusion culling: depth that was drawn becomes a depth pyramid, and instances that it occludes
//! cost the main view nothing.

use std::sync::OnceLock;

use super::Error;
use super::compute::{layout, pipeline};
use super::cull::{RevealPipelines, Views};
use super::descriptor::RendererDescriptor;
use super::gpu::Gpu;
use super::layouts::{bind_group, uniform};
use crate::cull::{
    self, MipUniform, PYRAMID_ENTRY_POINT, PYRAMID_GROUP_SIZE, PyramidSource, PyramidUniform, pyramid_mip_levels,
};

/// Byte alignment of the parameters of a pyramid level, as bindings require.
const MIP_STRIDE: u64 = 256;
pub(super) const LABEL: Option<&str> = Some("gpuskin occlusion");

/// Occlusion culling of a renderer.
#[derive(Debug)]
pub(crate) struct Occlusion {
    reversed: bool,
    /// Layout of group 1 of the second culling pass: [`PyramidUniform`] and the pyramid.
    layout: wgpu::BindGroupLayout,
    /// Pipelines of the second culling pass: for models with few clips, and for models with many.
    reveal: [OnceLock<RevealPipelines>; 2],
    /// Builds a pyramid level from the level before it.
    next: OnceLock<MipPass>,
    /// Sample count of the depth texture, and the pipeline that builds the first pyramid level from
    /// it.
    first: Option<(u32, MipPass)>,
    pub(super) pyramid: Option<Pyramid>,
}

/// Pipeline that builds one pyramid level.
#[derive(Debug)]
struct MipPass {
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::ComputePipeline,
}

/// Depth pyramid of a depth texture.
#[derive(Debug)]
pub(super) struct Pyramid {
    /// Depth texture; `None` for an empty pyramid, which occludes nothing.
    depth: Option<wgpu::Texture>,
    /// Per level: bind group of the pipeline that builds it, and size in texels.
    mip_levels: Vec<(wgpu::BindGroup, [u32; 2])>,
    pub(super) bind_group: wgpu::BindGroup,
}

impl Occlusion {
    /// `None` if occlusion culling is off, or impossible on the device. On OpenGL, writes to one
    /// mip level of a texture are lost while another mip level is bound for reading, and depth
    /// textures cannot be read as float textures.
    pub(super) fn new(device: &wgpu::Device, descriptor: &RendererDescriptor) -> Option<Self> {
        let reversed = descriptor.reversed_depth().filter(|_| descriptor.occlusion && descriptor.culling)?;
        let limits = device.limits();
        let computes =
            limits.max_storage_textures_per_shader_stage > 0 && limits.max_compute_invocations_per_workgroup >= 64;
        if !computes || device.adapter_info().backend == wgpu::Backend::Gl {
            return None;
        }
        let parameters = uniform(size_of::<PyramidUniform>() as u64, false);
        let layout = layout(device, LABEL, &[parameters, picture(false)]);
        Some(Self { reversed, layout, reveal: Default::default(), next: OnceLock::new(), first: None, pyramid: None })
    }

    /// Creates the pyramid for a depth texture, unless it exists already. For a depth texture that
    /// cannot be read, creates an empty pyramid, which occludes nothing.
    pub(super) fn bind(&mut self, gpu: Gpu<'_>, depth: &wgpu::Texture) -> Result<(), Error> {
        let readable = readable(depth);
        let depth = readable.is_ok().then_some(depth);
        if self.pyramid.as_ref().is_some_and(|pyramid| pyramid.depth.as_ref() == depth) {
            return readable;
        }
        if let Some(samples) = depth.map(wgpu::Texture::sample_count)
            && self.first.as_ref().is_none_or(|(of, _)| *of != samples)
        {
            let source = PyramidSource::Depth { samples, reversed: self.reversed };
            self.first = Some((samples, MipPass::new(gpu.device, source)));
        }
        let next = self.next.get_or_init(|| MipPass::new(gpu.device, PyramidSource::Mip));
        let first = self.first.as_ref().map(|(_, builder)| builder);
        self.pyramid = Some(Pyramid::new(gpu, &self.layout, [first.unwrap_or(next), next], depth, self.reversed));
        readable
    }

    pub(super) fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        let (Some(pyramid), Some(next)) = (&self.pyramid, self.next.get()) else { return };
        for (i, (bind_group, size)) in pyramid.mip_levels.iter().enumerate() {
            let builder = self.first.as_ref().filter(|_| i == 0).map_or(next, |(_, first)| first);
            pass.set_pipeline(&builder.pipeline);
            pass.set_bind_group(0, bind_group, &[]);
            let [across, down] = size.map(|side| side.div_ceil(PYRAMID_GROUP_SIZE));
            pass.dispatch_workgroups(across, down, 1);
        }
    }

    /// Layout of the bind group of the pyramid.
    pub(super) fn layout(&self) -> &wgpu::BindGroupLayout {
        &self.layout
    }

    /// `many_clips`: as in [`Views::pipelines`].
    pub(super) fn pipelines(&self, device: &wgpu::Device, views: &Views, many_clips: bool) -> &RevealPipelines {
        self.reveal[usize::from(many_clips)].get_or_init(|| views.pipelines(many_clips).reveal(device, &self.layout))
    }
}

/// Binding of a texture that is read without filtering.
fn picture(multisampled: bool) -> wgpu::BindingType {
    wgpu::BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Float { filterable: false },
        view_dimension: wgpu::TextureViewDimension::D2,
        multisampled,
    }
}

impl MipPass {
    fn new(device: &wgpu::Device, source: PyramidSource) -> Self {
        let level = wgpu::BindingType::StorageTexture {
            access: wgpu::StorageTextureAccess::WriteOnly,
            format: wgpu::TextureFormat::R32Float,
            view_dimension: wgpu::TextureViewDimension::D2,
        };
        let multisampled = matches!(source, PyramidSource::Depth { samples: 2.., .. });
        let parameters = uniform(size_of::<MipUniform>() as u64, false);
        let layout = layout(device, LABEL, &[picture(multisampled), level, parameters]);
        let pipeline = pipeline(device, LABEL, (&cull::pyramid(source), PYRAMID_ENTRY_POINT), &[&layout]);
        Self { layout, pipeline }
    }
}

impl Pyramid {
    fn new(
        Gpu { device, queue }: Gpu<'_>,
        layout: &wgpu::BindGroupLayout,
        builders: [&MipPass; 2],
        depth: Option<&wgpu::Texture>,
        reversed: bool,
    ) -> Self {
        let [width, height] = depth.map_or([1, 1], |depth| [depth.width(), depth.height()]);
        let count = if depth.is_some() { pyramid_mip_levels(width, height) } else { 0 };
        let buffer = |size, bytes: &[u8]| {
            let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
            let descriptor = wgpu::BufferDescriptor { label: LABEL, size, usage, mapped_at_creation: false };
            let buffer = device.create_buffer(&descriptor);
            queue.write_buffer(&buffer, 0, bytes);
            buffer
        };
        // Powers of two: half of a mip level, rounded down, is then never smaller than the next
        // pyramid level.
        let side = |pixels: u32| pixels.div_ceil(2).next_power_of_two();
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: LABEL,
            size: wgpu::Extent3d { width: side(width), height: side(height), depth_or_array_layers: 1 },
            mip_level_count: count.max(1),
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::R32Float,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::STORAGE_BINDING,
            view_formats: &[],
        });
        let size_of_mip_level = |level: u32| [width, height].map(|side| side.div_ceil(1 << level));
        let mut parameters = vec![0; MIP_STRIDE as usize * count as usize];
        for (level, bytes) in (1..).zip(parameters.as_chunks_mut::<{ MIP_STRIDE as usize }>().0) {
            let uniform = MipUniform { size: size_of_mip_level(level), source_size: size_of_mip_level(level - 1) };
            bytes[..size_of::<MipUniform>()].copy_from_slice(bytemuck::bytes_of(&uniform));
        }
        let parameters = buffer(MIP_STRIDE * u64::from(count.max(1)), &parameters);
        let one = |texture: &wgpu::Texture, level: u32| {
            texture.create_view(&wgpu::TextureViewDescriptor {
                base_mip_level: level,
                mip_level_count: Some(1),
                aspect: if texture.format().has_depth_aspect() {
                    wgpu::TextureAspect::DepthOnly
                } else {
                    wgpu::TextureAspect::All
                },
                ..Default::default()
            })
        };
        let group = |layout: &_, resources: &[wgpu::BindingResource<'_>]| bind_group(device, LABEL, layout, resources);
        let level = |(i, depth): (u32, &wgpu::Texture)| {
            let source = if i == 0 { one(depth, 0) } else { one(&texture, i - 1) };
            let size = wgpu::BufferSize::new(size_of::<MipUniform>() as u64);
            let parameters = wgpu::BufferBinding { buffer: &parameters, offset: u64::from(i) * MIP_STRIDE, size };
            let (builder, written) = (builders[usize::from(i > 0)], one(&texture, i));
            let resources = [
                wgpu::BindingResource::TextureView(&source),
                wgpu::BindingResource::TextureView(&written),
                wgpu::BindingResource::Buffer(parameters),
            ];
            (group(&builder.layout, &resources), size_of_mip_level(i + 1))
        };
        let mip_levels = depth.into_iter().flat_map(|depth| (0..count).map(move |i| (i, depth))).map(level).collect();
        let uniform = PyramidUniform {
            size: [width as f32, height as f32],
            mip_levels: count,
            depth_sign: if reversed { -1.0 } else { 1.0 },
            depth_tolerance: depth.map_or(0.0, |depth| step(depth.format())),
            ..PyramidUniform::default()
        };
        let uniform = buffer(size_of::<PyramidUniform>() as u64, bytemuck::bytes_of(&uniform));
        let whole = texture.create_view(&Default::default());
        let resources = [uniform.as_entire_binding(), wgpu::BindingResource::TextureView(&whole)];
        let bind_group = group(layout, &resources);
        Self { depth: depth.cloned(), mip_levels, bind_group }
    }
}

/// Returns an upper bound for the rounding error of a depth format.
fn step(format: wgpu::TextureFormat) -> f32 {
    match format {
        wgpu::TextureFormat::Depth16Unorm => 1.0 / 65_535.0,
        wgpu::TextureFormat::Depth24Plus | wgpu::TextureFormat::Depth24PlusStencil8 => 1.0 / (1 << 23) as f32,
        // The rounding errors of the shader's sums are greater.
        _ => 0.0,
    }
}

/// Checks that the shaders can read a depth texture.
fn readable(depth: &wgpu::Texture) -> Result<(), Error> {
    let wrong = |reason: String| Err(Error::Descriptor { reason: format!("reveal: {reason}") });
    let format = depth.format();
    if !format.has_depth_aspect() {
        return wrong(format!("{format:?} is not a depth format; pass the depth texture of the main view"));
    }
    if !depth.usage().contains(wgpu::TextureUsages::TEXTURE_BINDING) {
        return wrong(
            "the depth texture cannot be read; create it with wgpu::TextureUsages::TEXTURE_BINDING".to_owned(),
        );
    }
    let layers = depth.depth_or_array_layers();
    if depth.dimension() != wgpu::TextureDimension::D2 || layers != 1 {
        return wrong(format!("the depth texture has {layers} layers; use a 2D texture with a single layer"));
    }
    Ok(())
}
