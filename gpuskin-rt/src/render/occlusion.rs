//! Occlusion: what was drawn becomes a pyramid of depths, and instances that it hides cost the main view nothing.

use std::sync::{OnceLock, Weak};

use super::compute::{layout, pipeline};
use super::cull::RevealPipelines;
use super::descriptor::RendererDescriptor;
use super::layouts::{Layouts, bind_group, uniform};
use super::{CrowdRenderer, Error, View};
use crate::cull::{self, Before, LevelUniform, PYRAMID, PYRAMID_GROUP, PyramidUniform, pyramid_levels};

/// Parameters of a level begin at multiples of so many bytes, as bindings must.
const LEVEL_STRIDE: u64 = 256;
const LABEL: Option<&str> = Some("gpuskin occlusion");

/// What a renderer has for it.
#[derive(Debug)]
pub(crate) struct Occlusion {
    reversed: bool,
    /// Of the second culling pass: [`PyramidUniform`], and the pyramid.
    layout: wgpu::BindGroupLayout,
    reveal: OnceLock<RevealPipelines>,
    /// What makes a level of the one before it.
    above: OnceLock<Builder>,
    /// What makes the first, of pictures with so many samples.
    first: Option<(u32, Builder)>,
    pyramid: Option<Pyramid>,
}

/// A pipeline that makes a level.
#[derive(Debug)]
struct Builder {
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::ComputePipeline,
}

/// The depths of a texture.
#[derive(Debug)]
struct Pyramid {
    /// `None`: of nothing, which hides nothing.
    depth: Option<wgpu::Texture>,
    /// What makes each level, and its size.
    levels: Vec<(wgpu::BindGroup, [u32; 2])>,
    bind_group: wgpu::BindGroup,
}

impl Occlusion {
    /// `None` where it is not asked for, or the device cannot: on OpenGL what is written to a level of a texture gets lost
    /// while another level of it is bound to be read, and depths are no textures of numbers.
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
        Some(Self { reversed, layout, reveal: OnceLock::new(), above: OnceLock::new(), first: None, pyramid: None })
    }

    /// Makes the pyramid for a depth texture, where it is not there; for one that cannot be read, one that hides nothing.
    fn bind(&mut self, gpu: (&wgpu::Device, &wgpu::Queue), depth: &wgpu::Texture) -> Result<(), Error> {
        let readable = readable(depth);
        let depth = readable.is_ok().then_some(depth);
        if self.pyramid.as_ref().is_some_and(|pyramid| pyramid.depth.as_ref() == depth) {
            return readable;
        }
        if let Some(samples) = depth.map(wgpu::Texture::sample_count)
            && self.first.as_ref().is_none_or(|(of, _)| *of != samples)
        {
            let before = Before::Depth { samples, reversed: self.reversed };
            self.first = Some((samples, Builder::new(gpu.0, before)));
        }
        let above = self.above.get_or_init(|| Builder::new(gpu.0, Before::Level));
        let first = self.first.as_ref().map(|(_, builder)| builder);
        self.pyramid = Some(Pyramid::new(gpu, &self.layout, [first.unwrap_or(above), above], depth, self.reversed));
        readable
    }

    fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        let (Some(pyramid), Some(above)) = (&self.pyramid, self.above.get()) else { return };
        for (i, (bind_group, size)) in pyramid.levels.iter().enumerate() {
            let builder = self.first.as_ref().filter(|_| i == 0).map_or(above, |(_, first)| first);
            pass.set_pipeline(&builder.pipeline);
            pass.set_bind_group(0, bind_group, &[]);
            let [across, down] = size.map(|side| side.div_ceil(PYRAMID_GROUP));
            pass.dispatch_workgroups(across, down, 1);
        }
    }

    fn pipelines(&self, device: &wgpu::Device, layouts: &Layouts) -> &RevealPipelines {
        self.reveal.get_or_init(|| layouts.culling().reveal(device, &self.layout))
    }
}

/// Depths, which need no filter.
fn picture(multisampled: bool) -> wgpu::BindingType {
    wgpu::BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Float { filterable: false },
        view_dimension: wgpu::TextureViewDimension::D2,
        multisampled,
    }
}

impl Builder {
    fn new(device: &wgpu::Device, before: Before) -> Self {
        let level = wgpu::BindingType::StorageTexture {
            access: wgpu::StorageTextureAccess::WriteOnly,
            format: wgpu::TextureFormat::R32Float,
            view_dimension: wgpu::TextureViewDimension::D2,
        };
        let multisampled = matches!(before, Before::Depth { samples: 2.., .. });
        let parameters = uniform(size_of::<LevelUniform>() as u64, false);
        let layout = layout(device, LABEL, &[picture(multisampled), level, parameters]);
        let pipeline = pipeline(device, LABEL, (&cull::pyramid(before), PYRAMID), &[&layout]);
        Self { layout, pipeline }
    }
}

impl Pyramid {
    fn new(
        (device, queue): (&wgpu::Device, &wgpu::Queue),
        layout: &wgpu::BindGroupLayout,
        builders: [&Builder; 2],
        depth: Option<&wgpu::Texture>,
        reversed: bool,
    ) -> Self {
        let [width, height] = depth.map_or([1, 1], |depth| [depth.width(), depth.height()]);
        let count = if depth.is_some() { pyramid_levels(width, height) } else { 0 };
        let buffer = |size, bytes: &[u8]| {
            let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
            let descriptor = wgpu::BufferDescriptor { label: LABEL, size, usage, mapped_at_creation: false };
            let buffer = device.create_buffer(&descriptor);
            queue.write_buffer(&buffer, 0, bytes);
            buffer
        };
        // Powers of two, so that half of a level is never less than what the next one needs.
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
        let size_of_level = |level: u32| [width, height].map(|side| side.div_ceil(1 << level));
        let mut parameters = vec![0; LEVEL_STRIDE as usize * count as usize];
        for (level, bytes) in (1..).zip(parameters.chunks_exact_mut(LEVEL_STRIDE as usize)) {
            let uniform = LevelUniform { size: size_of_level(level), before: size_of_level(level - 1) };
            bytes[..size_of::<LevelUniform>()].copy_from_slice(bytemuck::bytes_of(&uniform));
        }
        let parameters = buffer(LEVEL_STRIDE * u64::from(count.max(1)), &parameters);
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
            let before = if i == 0 { one(depth, 0) } else { one(&texture, i - 1) };
            let size = wgpu::BufferSize::new(size_of::<LevelUniform>() as u64);
            let parameters = wgpu::BufferBinding { buffer: &parameters, offset: u64::from(i) * LEVEL_STRIDE, size };
            let (builder, written) = (builders[usize::from(i > 0)], one(&texture, i));
            let resources = [
                wgpu::BindingResource::TextureView(&before),
                wgpu::BindingResource::TextureView(&written),
                wgpu::BindingResource::Buffer(parameters),
            ];
            (group(&builder.layout, &resources), size_of_level(i + 1))
        };
        let levels = depth.into_iter().flat_map(|depth| (0..count).map(move |i| (i, depth))).map(level).collect();
        let uniform = PyramidUniform {
            size: [width as f32, height as f32],
            levels: count,
            away: if reversed { -1.0 } else { 1.0 },
            slack: depth.map_or(0.0, |depth| step(depth.format())),
            ..PyramidUniform::default()
        };
        let uniform = buffer(size_of::<PyramidUniform>() as u64, bytemuck::bytes_of(&uniform));
        let whole = texture.create_view(&Default::default());
        let resources = [uniform.as_entire_binding(), wgpu::BindingResource::TextureView(&whole)];
        let bind_group = group(layout, &resources);
        Self { depth: depth.cloned(), levels, bind_group }
    }
}

/// How far what a format stores may be from a depth, rounded up.
fn step(format: wgpu::TextureFormat) -> f32 {
    match format {
        wgpu::TextureFormat::Depth16Unorm => 1.0 / 65_535.0,
        wgpu::TextureFormat::Depth24Plus | wgpu::TextureFormat::Depth24PlusStencil8 => 1.0 / (1 << 23) as f32,
        // Those of sums are greater.
        _ => 0.0,
    }
}

/// Whether the depths of a texture can be read.
fn readable(depth: &wgpu::Texture) -> Result<(), Error> {
    let wrong = |reason: String| Err(Error::Descriptor { reason: format!("reveal: {reason}") });
    let format = depth.format();
    if !format.has_depth_aspect() {
        return wrong(format!("{format:?} has no depth; give it what the main view's depth was drawn to"));
    }
    if !depth.usage().contains(wgpu::TextureUsages::TEXTURE_BINDING) {
        return wrong("the depth texture cannot be read; make it with wgpu::TextureUsages::TEXTURE_BINDING".to_owned());
    }
    let layers = depth.depth_or_array_layers();
    if depth.dimension() != wgpu::TextureDimension::D2 || layers != 1 {
        return wrong(format!("the depth texture has {layers} layers; draw the main view to one with a single layer"));
    }
    Ok(())
}

impl CrowdRenderer {
    /// Finds what the main view shows beside what was drawn already: with [`RendererDescriptor::occlusion`], between the two
    /// halves of every frame.
    ///
    /// [`CrowdRenderer::prepare`] gives [`View::MAIN`] those instances that nothing hid in the last frame. They are drawn,
    /// with whatever of the game's own is opaque, and `depth` is what they were drawn to: as large as the picture, which
    /// fills it, stored at the end of the pass, and readable (`TEXTURE_BINDING`). `encoder` must be submitted after that, or
    /// have drawn it itself. All instances in sight are then compared with it, and those that it does not hide are drawn over
    /// it, as [`View::REVEALED`].
    /// So each frame is the picture of the whole crowd, however the camera and instances jump: what was seen
    /// last saves time and decides nothing. Other views, a shadow map's, draw all that they see. Instances of crowds with
    /// live bones that have layers are never hidden.
    ///
    /// In the first frame, and in one after a frame without `reveal`, the main view shows all that it sees. Where instances
    /// are not culled ([`Crowd::explain`](crate::Crowd::explain)) all is drawn at first, and nothing is revealed.
    ///
    /// ```no_run
    /// # use gpuskin_rt::{wgpu, Camera, CrowdRenderer, Error, View};
    /// # fn frame(renderer: &mut CrowdRenderer, queue: &wgpu::Queue, mut encoder: wgpu::CommandEncoder, camera: &Camera,
    /// #   seconds: f64, depth: &wgpu::Texture, clear: &wgpu::RenderPassDescriptor<'_>,
    /// #   load: &wgpu::RenderPassDescriptor<'_>) -> Result<(), Error> {
    /// renderer.prepare(queue, &mut encoder, camera, seconds)?;
    /// renderer.draw(&mut encoder.begin_render_pass(clear));
    /// renderer.reveal(&mut encoder, depth)?;
    /// renderer.draw_view(&mut encoder.begin_render_pass(load), View::REVEALED);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the depths cannot be read. All that is in sight is revealed then: the picture is right, and nothing is saved.
    pub fn reveal(&mut self, encoder: &mut wgpu::CommandEncoder, depth: &wgpu::Texture) -> Result<(), Error> {
        if self.culling().is_none() {
            return Ok(());
        }
        let (device, queue) = (self.device.clone(), self.queue.clone());
        let Some(occlusion) = &mut self.occlusion else { return Ok(()) };
        let crowds: Vec<_> = self.crowds.iter().filter_map(Weak::upgrade).collect();
        let drawn: Vec<_> = crowds.iter().filter_map(|c| c.drawn()).filter(|d| d.palettes.is_some()).collect();
        if drawn.is_empty() {
            return Ok(());
        }
        let result = occlusion.bind((&device, &queue), depth);
        let descriptor = wgpu::ComputePassDescriptor { label: LABEL, timestamp_writes: None };
        let mut pass = encoder.begin_compute_pass(&descriptor);
        occlusion.record(&mut pass);
        let pipelines = occlusion.pipelines(&device, &self.layouts);
        if let Some(pyramid) = &occlusion.pyramid {
            let hides = (pipelines, &pyramid.bind_group);
            for (palettes, d) in drawn.iter().filter_map(|d| Some((d.palettes.as_ref()?, d))) {
                palettes.reveal(&mut pass, hides, d.instances);
            }
        }
        drop(pass);
        for crowd in &crowds {
            crowd.set_revealed();
            crowd.record_attachments((&device, &queue), encoder, std::iter::once(Some(View::REVEALED)));
        }
        result
    }
}
