//! A model on the device: vertices, indices, animation texture. Bytes go from the file to the device as they are.

use core::ops::Range;
use std::sync::{Arc, OnceLock};

use super::Error;
use super::cache::Fill;
use super::crowd::Run;
use super::error::at_most;
use super::layouts::{Layouts, vertex_buffers};
use super::material::{MaterialConstants, MaterialUniform};
use super::palette::{Poses, computes};
use crate::shader::{
    ANIMATION_BINDING, DRAWN_BINDING, FIELD_BINDING, INSTANCES_BINDING, LOOKS_BINDING, MODEL_BINDING, MODEL_BYTES,
    ModelUniform, Variant,
};
use crate::{
    AnimationTexture, ByteRange, ClipRecord, Encoding, IndexRange, MAX_CLIPS, MAX_LEVELS, MeshPart, Metadata, Model,
    Payload, TexelFormat, cull, files,
};

/// The model, or the same in another encoding, that a device can play.
pub(crate) fn playable<'m>(device: &wgpu::Device, model: &'m Model) -> Result<&'m Model, Error> {
    let limits = device.limits();
    let plays =
        |model: &Model| if model.meta.encoding.needs_compute() { computes(&limits, &model.meta) } else { Ok(()) };
    match plays(model) {
        Ok(()) => Ok(model),
        Err(error) => model.others.iter().find(|other| plays(other).is_ok()).ok_or(error),
    }
}

/// What the vertex stage needs of a model.
#[derive(Debug)]
pub(crate) struct Geometry {
    pub(crate) variant: Variant,
    pub(crate) vertex_count: u32,
    mesh: MeshBuffers,
    index_format: wgpu::IndexFormat,
    /// First indices are counted from the start of the buffer that they are in.
    pub(crate) parts: Vec<MeshPart>,
    /// The indices of each part in each level of detail, likewise; the finest first.
    pub(crate) levels: Vec<Vec<IndexRange>>,
    /// What each level is off, metres: 0 of the finest.
    pub(crate) errors: Vec<f32>,
    /// What the clips reach, where instances can be culled by it: [`cull::pack_bounds`].
    pub(crate) bounds: Option<Vec<u32>>,
    motion: Motion,
    /// What skins poses for a cache, once a crowd has one.
    fill: OnceLock<Fill>,
}

/// Where bones come from.
#[derive(Debug)]
enum Motion {
    /// The animation texture, and the model's bind group with it once something is drawn.
    Texture(wgpu::TextureView, OnceLock<wgpu::BindGroup>),
    /// A compute pass; each palette has a bind group of its own.
    Poses(Arc<Poses>),
}

const OTHER_BAKE: &str = "request a device with higher limits, or bake the model smaller (fps, fewer clips, trs-f16)";
const OTHER_LIMITS: &str = "request the device with at least wgpu::Limits::downlevel_webgl2_defaults()";

impl Geometry {
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        layouts: &Layouts,
        model: &Model,
        materials: &MaterialConstants,
    ) -> Result<Self, Error> {
        let meta = &model.meta;
        let variant = Variant::of(meta);
        consistent(meta).map_err(|reason| Error::model(&meta.name, reason))?;
        allowed(&device.limits(), meta, variant, materials)?;

        let mesh = load(meta, &model.mesh)?;
        let part = |range: ByteRange| slice(meta, &mesh, range, "mesh.bin");
        let (vertices, indices, clips) = (part(meta.mesh.vertices)?, part(meta.mesh.indices)?, part(meta.mesh.clips)?);
        let animation = load(meta, &model.animation)?;
        let level = model.animation.levels.first().copied().unwrap_or_default();
        let texels = slice(meta, &animation, level, "the animation texture")?;
        let mut uniform = ModelUniform::of(meta);
        let bounds = variant.encoding.needs_compute().then(|| cull::pack_bounds(meta)).flatten();
        let poses = if variant.encoding.needs_compute() {
            let poses = Poses::new(device, queue, layouts, meta, texels)?;
            (uniform.palette_stride, uniform.palette_before) = (poses.stride(), poses.before());
            if let Some(bounds) = &bounds {
                [uniform.value_min, uniform.value_extent] = cull::whole_reach(bounds);
            }
            Some(Arc::new(poses))
        } else {
            None
        };
        let constants = [bytemuck::bytes_of(&uniform), clips];
        let mesh = MeshBuffers::new(device, queue, constants, materials, (vertices, poses.is_some()), indices);

        let motion = match poses {
            Some(poses) => Motion::Poses(poses),
            None => Motion::Texture(animation_texture(device, queue, meta, texels)?, OnceLock::new()),
        };
        let index_format = if meta.mesh.wide_indices { wgpu::IndexFormat::Uint32 } else { wgpu::IndexFormat::Uint16 };
        // Counted from the start of the buffer: Mesa's lavapipe draws indirectly as if indices were bound there.
        let before = (mesh.indices.1.start / index_format.byte_size() as u64) as u32;
        let part = |part: &MeshPart| MeshPart { first_index: before + part.first_index, ..*part };
        let (vertex_count, parts) = (meta.mesh.vertex_count, meta.mesh.parts.iter().map(part).collect::<Vec<_>>());
        let range = |range: &IndexRange| IndexRange { first_index: before + range.first_index, ..*range };
        let finest = parts.iter().map(|p| IndexRange { first_index: p.first_index, index_count: p.index_count });
        let coarser = meta.mesh.levels.iter().map(|level| level.parts.iter().map(range).collect());
        let levels = std::iter::once(finest.collect()).chain(coarser).collect();
        let errors = std::iter::once(0.0).chain(meta.mesh.levels.iter().map(|level| level.error)).collect();
        let fill = OnceLock::new();
        Ok(Self { variant, vertex_count, mesh, index_format, parts, levels, errors, bounds, motion, fill })
    }

    /// What evaluates poses, where the model has that instead of a texture.
    pub(crate) fn poses(&self) -> Option<&Arc<Poses>> {
        match &self.motion {
            Motion::Poses(poses) => Some(poses),
            Motion::Texture(..) => None,
        }
    }

    /// What skins poses for a cache.
    pub(crate) fn fill(&self, device: &wgpu::Device) -> &Fill {
        self.fill.get_or_init(|| Fill::new(device, self.variant))
    }

    /// The uniform buffer of the model.
    pub(crate) fn constants(&self) -> wgpu::BindingResource<'_> {
        self.mesh.constants()
    }

    /// Bytes of the vertices.
    pub(crate) fn vertices_len(&self) -> u64 {
        self.mesh.vertices.end - self.mesh.vertices.start
    }

    /// The vertices as a storage buffer, where the model needs compute.
    pub(crate) fn vertex_words(&self) -> wgpu::BindingResource<'_> {
        let size = wgpu::BufferSize::new(self.vertices_len());
        let offset = self.mesh.vertices.start;
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: &self.mesh.buffer, offset, size })
    }

    /// The model's bind group with a palette, or vertices of a cache in its place, the instances that share it, and a list of those that are drawn
    /// (the whole, or what stands at the dynamic offset), and how all look.
    pub(crate) fn with_palette(
        &self,
        device: &wgpu::Device,
        layouts: &Layouts,
        palette: &wgpu::Buffer,
        records: wgpu::BufferBinding<'_>,
        list: wgpu::BufferBinding<'_>,
        looks: wgpu::BufferBinding<'_>,
    ) -> wgpu::BindGroup {
        let resources = [
            (ANIMATION_BINDING, palette.as_entire_binding()),
            (MODEL_BINDING, self.mesh.constants()),
            (INSTANCES_BINDING, wgpu::BindingResource::Buffer(records)),
            (DRAWN_BINDING, wgpu::BindingResource::Buffer(list)),
            (LOOKS_BINDING, wgpu::BindingResource::Buffer(looks)),
        ];
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("gpuskin model with a palette"),
            layout: layouts.model(self.variant),
            entries: &resources.map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }),
        })
    }

    /// Makes the model's bind group with its texture, where it has one, before the first draw.
    pub(crate) fn bind_texture(&self, device: &wgpu::Device, layouts: &Layouts) {
        if let Motion::Texture(animation, bind_group) = &self.motion {
            let animation = wgpu::BindingResource::TextureView(animation);
            let layout = layouts.model(self.variant);
            bind_group.get_or_init(|| model_bind_group(device, layout, [animation, self.mesh.constants()]));
        }
    }

    /// The model's bind group with its texture; `None` where it has none, and before [`Self::bind_texture`].
    pub(crate) fn texture(&self) -> Option<&wgpu::BindGroup> {
        match &self.motion {
            Motion::Texture(_, bind_group) => bind_group.get(),
            Motion::Poses(_) => None,
        }
    }

    /// The model's bind group with its texture and a field; `None` where it has no texture.
    pub(crate) fn with_field(
        &self,
        device: &wgpu::Device,
        layouts: &Layouts,
        field: &wgpu::Buffer,
    ) -> Option<wgpu::BindGroup> {
        let (Motion::Texture(animation, _), Some(layout)) = (&self.motion, layouts.field(self.variant)) else {
            return None;
        };
        let animation = wgpu::BindingResource::TextureView(animation);
        Some(model_bind_group(device, layout, [animation, self.mesh.constants(), field.as_entire_binding()]))
    }

    /// Binds vertices and indices, for `draw_indexed`.
    pub(crate) fn bind_mesh(&self, pass: &mut wgpu::RenderPass<'_>) {
        pass.set_vertex_buffer(0, self.vertices());
        let (buffer, range) = &self.mesh.indices;
        pass.set_index_buffer(buffer.slice(..range.end), self.index_format);
    }

    /// The same with vertices of a cache, where the run has them: it says whether.
    pub(crate) fn bind_cached(&self, pass: &mut wgpu::RenderPass<'_>, group: u32, run: &Run<'_>) -> bool {
        let Some((palette, cached)) = run.palette.as_ref().and_then(|palette| Some((palette, palette.cached?))) else {
            self.bind(pass, group, run);
            return false;
        };
        pass.set_bind_group(group, cached, &[palette.offset]);
        self.bind_mesh(pass);
        true
    }

    /// Binds everything but the pipeline, for `draw_indexed`.
    pub(crate) fn bind(&self, pass: &mut wgpu::RenderPass<'_>, group: u32, run: &Run<'_>) {
        match &run.palette {
            Some(palette) => pass.set_bind_group(group, palette.bind_group, &[palette.offset]),
            None => {
                pass.set_bind_group(group, self.texture(), &[]);
                pass.set_vertex_buffer(1, run.records);
                pass.set_vertex_buffer(2, run.looks);
            }
        }
        self.bind_mesh(pass);
    }

    /// The constants of a material, for its bind group.
    pub(crate) fn material(&self, index: usize) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.mesh.buffer,
            offset: self.mesh.materials + index as u64 * self.mesh.material_stride,
            size: wgpu::BufferSize::new(size_of::<MaterialUniform>() as u64),
        })
    }

    /// The vertices, as a vertex buffer.
    pub(crate) fn vertices(&self) -> wgpu::BufferSlice<'_> {
        self.mesh.buffer.slice(self.mesh.vertices.clone())
    }
}

/// Constants, materials, vertices and indices of a model in one buffer, written at once: for small models the number of
/// writes is what start-up costs.
#[derive(Debug)]
struct MeshBuffers {
    buffer: wgpu::Buffer,
    /// Bytes before the first material, and from one to the next.
    materials: u64,
    material_stride: u64,
    vertices: Range<u64>,
    /// In a buffer of their own on OpenGL: WebGL allows nothing else beside indices.
    indices: (wgpu::Buffer, Range<u64>),
}

impl MeshBuffers {
    fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        constants: [&[u8]; 2],
        materials: &MaterialConstants,
        (vertices, storage): (&[u8], bool),
        indices: &[u8],
    ) -> Self {
        use wgpu::BufferUsages as Usages;
        let apart = device.adapter_info().backend == wgpu::Backend::Gl;
        let usage = Usages::UNIFORM | Usages::VERTEX | if apart { Usages::empty() } else { Usages::INDEX };
        // Not every device has storage buffers.
        let usage = usage | if storage { Usages::STORAGE } else { Usages::empty() };
        let beside = if apart { &[][..] } else { indices };
        let word = wgpu::COPY_BUFFER_ALIGNMENT;
        let pieces = [
            (constants[0], word),
            (constants[1], word),
            (&materials.bytes, materials.alignment),
            (vertices, if storage { device.limits().min_storage_buffer_offset_alignment.into() } else { word }),
            (beside, word),
        ];
        let (buffer, [.., materials_at, vertices, beside]) = write(device, queue, usage, MODEL_BYTES, pieces);
        let indices = if apart {
            let (buffer, [whole]) = write(device, queue, Usages::INDEX, 0, [(indices, word)]);
            (buffer, whole)
        } else {
            (buffer.clone(), beside)
        };
        Self { vertices, indices, buffer, materials: materials_at.start, material_stride: materials.stride }
    }

    /// Uniforms are bound at their full size; the shader reads no clip that the model has not.
    fn constants(&self) -> wgpu::BindingResource<'_> {
        let size = wgpu::BufferSize::new(MODEL_BYTES);
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: &self.buffer, offset: 0, size })
    }
}

/// A buffer of at least so many bytes with these pieces one after the other, each from a multiple of so many bytes; and
/// where they stand.
fn write<const N: usize>(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    usage: wgpu::BufferUsages,
    least: u64,
    pieces: [(&[u8], u64); N],
) -> (wgpu::Buffer, [Range<u64>; N]) {
    let mut end = 0_u64;
    let places = pieces.map(|(piece, alignment)| {
        let start = end.next_multiple_of(alignment);
        end = (start + piece.len() as u64).next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
        start..start + piece.len() as u64
    });
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("gpuskin mesh"),
        size: end.max(least),
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    // No view: the device has said why through its error handler, and nothing can be written.
    if let Some(mut view) = wgpu::BufferSize::new(end).and_then(|size| queue.write_buffer_with(&buffer, 0, size)) {
        for (place, (piece, _)) in places.iter().zip(pieces) {
            view.slice(place.start as usize..place.end as usize).copy_from_slice(piece);
        }
    }
    (buffer, places)
}

/// The animation, the model's constants, a field.
fn model_bind_group<const N: usize>(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    resources: [wgpu::BindingResource<'_>; N],
) -> wgpu::BindGroup {
    let bindings = [ANIMATION_BINDING, MODEL_BINDING, FIELD_BINDING];
    let entries: Vec<_> = bindings
        .into_iter()
        .zip(resources)
        .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some("gpuskin model"), layout, entries: &entries })
}

/// Draws a part of what is bound, by its index and what it is.
pub(crate) fn draw_part(pass: &mut wgpu::RenderPass<'_>, index: usize, part: &MeshPart, run: &Run<'_>) {
    match run.palette.as_ref().and_then(|palette| palette.draws) {
        Some(draws) => draws.draw(pass, index),
        None => pass.draw_indexed(part.first_index..part.first_index + part.index_count, 0, 0..run.instances),
    }
}

/// The bytes of a file of the model.
pub(crate) fn load<'a>(meta: &Metadata, payload: &'a Payload) -> Result<std::borrow::Cow<'a, [u8]>, Error> {
    files::load(payload, &meta.content_hash).map_err(|error| Error::Files { model: meta.name.to_string(), error })
}

/// Part of a file.
pub(crate) fn slice<'a>(meta: &Metadata, bytes: &'a [u8], range: ByteRange, file: &str) -> Result<&'a [u8], Error> {
    let end = range.offset.checked_add(range.len).and_then(|end| usize::try_from(end).ok());
    let part = end.and_then(|end| bytes.get(range.offset as usize..end));
    part.ok_or_else(|| Error::model(&meta.name, format!("{file} is shorter than its constants say")))
}

fn animation_texture(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    meta: &Metadata,
    texels: &[u8],
) -> Result<wgpu::TextureView, Error> {
    let shape = &meta.texture;
    if texels.len() as u64 != shape.byte_len(meta.encoding) {
        return Err(Error::model(&meta.name, "the animation texture is not as large as its constants say"));
    }
    let size = wgpu::Extent3d { width: shape.width, height: shape.height, depth_or_array_layers: shape.layers };
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("gpuskin animation"),
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: texture_format(meta.encoding),
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(shape.width * meta.encoding.format().bytes() as u32),
        rows_per_image: Some(shape.height),
    };
    queue.write_texture(texture.as_image_copy(), texels, layout, size);
    // The dimension follows from the layers, here and in wgpu's GL backend, which sees nothing else.
    Ok(texture.create_view(&wgpu::TextureViewDescriptor::default()))
}

fn texture_format(encoding: Encoding) -> wgpu::TextureFormat {
    match encoding.format() {
        TexelFormat::R32Uint => wgpu::TextureFormat::R32Uint,
        TexelFormat::Rgba8Uint => wgpu::TextureFormat::Rgba8Uint,
        TexelFormat::Rgba16Uint => wgpu::TextureFormat::Rgba16Uint,
        TexelFormat::Rgba32Uint => wgpu::TextureFormat::Rgba32Uint,
        TexelFormat::Rgba16Float => wgpu::TextureFormat::Rgba16Float,
        TexelFormat::Rgba32Float => wgpu::TextureFormat::Rgba32Float,
    }
}

/// Whether a model's constants agree with each other, as far as drawing relies on it.
fn consistent(meta: &Metadata) -> Result<(), &'static str> {
    let (mesh, texture) = (&meta.mesh, &meta.texture);
    let index_bytes = if mesh.wide_indices { 4 } else { 2 };
    let index_count = mesh.indices.len / index_bytes;
    // Words of a storage buffer are checked where they are read.
    let textured = !meta.encoding.needs_compute();
    let frames_hold = |first: u32, stored: u32| first.checked_add(stored).is_some_and(|end| end <= texture.frames);
    let checks = [
        (meta.clips.is_empty(), "it has no clips"),
        (meta.clips.len() > MAX_CLIPS, "it has more clips than the runtime holds"),
        (mesh.clips.len != (meta.clips.len() * size_of::<ClipRecord>()) as u64, "its clip records are incomplete"),
        (
            !meta.clips.iter().all(|c| c.record().is_sound() && frames_hold(c.first_frame, c.stored)),
            "a clip has not its frames",
        ),
        (!meta.clips.iter().all(|c| c.first_frame >= meta.encoding.range_frames()), "a clip has no ranges"),
        (mesh.vertex_count == 0 || index_count == 0, "it has no vertices"),
        (
            mesh.vertices.len != u64::from(mesh.vertex_count) * mesh.format.stride() as u64,
            "its vertices are incomplete",
        ),
        (
            !mesh.parts.iter().all(|p| u64::from(p.first_index) + u64::from(p.index_count) <= index_count),
            "a part has more indices than there are",
        ),
        (!mesh.parts.iter().all(|p| (p.material as usize) < meta.materials.len()), "a part has no material"),
        (mesh.levels.len() >= MAX_LEVELS, "it has more levels of detail than the runtime holds"),
        (!mesh.levels.iter().all(|l| l.parts.len() == mesh.parts.len()), "a level of detail has other parts than it"),
        (
            !mesh
                .levels
                .iter()
                .flat_map(|l| l.parts.iter())
                .all(|p| u64::from(p.first_index) + u64::from(p.index_count) <= index_count),
            "a level of detail has more indices than there are",
        ),
        (!texture.width.is_power_of_two(), "the width of its animation texture is not a power of two"),
        (!Variant::of(meta).is_sound(), "its vertices do not go with its encoding"),
        (texture.rows <= meta.encoding.range_rows(), "its animation texture has no vertices"),
        (texture.rows == 0 || texture.frames_per_layer == 0, "its animation texture is empty"),
        (
            u64::from(texture.frames_per_layer) * u64::from(texture.layers) < u64::from(texture.frames),
            "its animation texture has fewer frames than its clips",
        ),
        (
            textured
                && u64::from(texture.frames_per_layer.min(texture.frames))
                    * u64::from(texture.rows)
                    * u64::from(meta.encoding.texels())
                    > u64::from(texture.width) * u64::from(texture.height),
            "its animation texture is smaller than its frames",
        ),
    ];
    checks.into_iter().find(|(wrong, _)| *wrong).map_or(Ok(()), |(_, reason)| Err(reason))
}

/// Whether a device can hold a model.
fn allowed(
    limits: &wgpu::Limits,
    meta: &Metadata,
    variant: Variant,
    materials: &MaterialConstants,
) -> Result<(), Error> {
    let (mesh, texture) = (&meta.mesh, &meta.texture);
    // A storage buffer instead of a texture has limits of its own.
    let texture = if meta.encoding.needs_compute() { &AnimationTexture::default() } else { texture };
    let what = |text: &'static str| move || format!("{}: {text}", meta.name);
    let side = u64::from(limits.max_texture_dimension_2d);
    at_most(texture.width.into(), side, OTHER_BAKE, what("texels across the animation texture"))?;
    at_most(texture.height.into(), side, OTHER_BAKE, what("texels down the animation texture"))?;
    let layers = limits.max_texture_array_layers.into();
    at_most(texture.layers.into(), layers, OTHER_BAKE, what("layers of the animation texture"))?;
    at_most(mesh.vertices.len, limits.max_buffer_size, OTHER_BAKE, what("bytes of vertices"))?;
    at_most(mesh.indices.len, limits.max_buffer_size, OTHER_BAKE, what("bytes of indices"))?;
    let together =
        [mesh.vertices.len, mesh.indices.len, MODEL_BYTES, materials.bytes.len() as u64 + materials.alignment]
            .into_iter()
            .fold(0, u64::saturating_add);
    at_most(together, limits.max_buffer_size, OTHER_BAKE, what("bytes of vertices and indices"))?;
    let stride = mesh.format.stride() as u64;
    at_most(stride, limits.max_vertex_buffer_array_stride.into(), OTHER_LIMITS, what("bytes of a vertex"))?;
    let attributes = vertex_buffers(variant).attributes() as u64;
    at_most(attributes, limits.max_vertex_attributes.into(), OTHER_LIMITS, what("vertex attributes"))?;
    let uniform = limits.max_uniform_buffer_binding_size.min(limits.max_buffer_size);
    at_most(MODEL_BYTES, uniform, OTHER_LIMITS, what("bytes of a uniform buffer"))
}
