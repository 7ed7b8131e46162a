//! Model on the device: vertices, indices, animation texture. File bytes are uploaded unchanged.

use core::ops::Range;
use std::sync::{Arc, OnceLock};

use super::Error;
use super::cache::Fill;
use super::crowd::DrawRun;
use super::error::at_most;
use super::layouts::{Layouts, vertex_buffers};
use super::material::{MaterialConstants, MaterialUniform};
use super::palette::{PoseEvaluator, computes};
use crate::shader::{
    ANIMATION_BINDING, APPEARANCES_BINDING, FIELD_BINDING, INSTANCES_BINDING, LIST_BINDING, MODEL_BINDING, MODEL_BYTES,
    ModelUniform, Variant,
};
use crate::{
    AnimationTexture, ByteRange, ClipRecord, Encoding, IndexRange, MAX_CLIPS, MAX_LODS, MeshPart, Metadata, Model,
    Payload, TexelFormat, cull, files,
};

/// Returns the first encoding of a model that a device can play: the model itself, or one of its
/// alternatives.
pub(crate) fn playable<'m>(device: &wgpu::Device, model: &'m Model) -> Result<&'m Model, Error> {
    let limits = device.limits();
    let plays =
        |model: &Model| if model.meta.encoding.needs_compute() { computes(&limits, &model.meta) } else { Ok(()) };
    match plays(model) {
        Ok(()) => Ok(model),
        Err(error) => model.others.iter().find(|other| plays(other).is_ok()).ok_or(error),
    }
}

/// Vertex stage data of a model.
#[derive(Debug)]
pub(crate) struct Geometry {
    pub(crate) variant: Variant,
    pub(crate) vertex_count: u32,
    mesh: MeshBuffers,
    index_format: wgpu::IndexFormat,
    /// Mesh parts; first indices count from the start of the index buffer.
    pub(crate) parts: Vec<MeshPart>,
    /// Index ranges `[level][part]`, finest LOD first; first indices count from the start of the
    /// index buffer.
    pub(crate) lods: Vec<Vec<IndexRange>>,
    /// LOD error per level, metres; 0 for the finest LOD.
    pub(crate) errors: Vec<f32>,
    /// Bounds of the clips ([`cull::pack_bounds`]), if instances can be culled.
    pub(crate) bounds: Option<Vec<u32>>,
    motion: Motion,
    /// Pipeline that fills a pose cache; created when a crowd first needs it.
    fill: OnceLock<Fill>,
}

/// Source of the bones.
#[derive(Debug)]
enum Motion {
    /// Animation texture; the model's bind group is created before the first draw.
    Texture(wgpu::TextureView, OnceLock<wgpu::BindGroup>),
    /// Pose pass; each palette has its own bind group.
    Computed(Arc<PoseEvaluator>),
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
            let poses = PoseEvaluator::new(device, queue, layouts, meta, texels)?;
            (uniform.palette_stride, uniform.palette_previous) = (poses.stride(), poses.previous_offset());
            if let Some(bounds) = &bounds {
                [uniform.value_min, uniform.value_extent] = cull::all_clip_bounds(bounds);
            }
            Some(Arc::new(poses))
        } else {
            None
        };
        let constants = [bytemuck::bytes_of(&uniform), clips];
        let mesh = MeshBuffers::new(device, queue, constants, materials, (vertices, poses.is_some()), indices);

        let motion = match poses {
            Some(poses) => Motion::Computed(poses),
            None => Motion::Texture(animation_texture(device, queue, meta, texels)?, OnceLock::new()),
        };
        let index_format = if meta.mesh.wide_indices { wgpu::IndexFormat::Uint32 } else { wgpu::IndexFormat::Uint16 };
        // Counted from the start of the buffer: in indirect draws, Mesa's lavapipe ignores the
        // offset of the index binding.
        let before = (mesh.indices.1.start / index_format.byte_size() as u64) as u32;
        let part = |part: &MeshPart| MeshPart { first_index: before + part.first_index, ..*part };
        let (vertex_count, parts) = (meta.mesh.vertex_count, meta.mesh.parts.iter().map(part).collect::<Vec<_>>());
        let range = |range: &IndexRange| IndexRange { first_index: before + range.first_index, ..*range };
        let finest = parts.iter().map(|p| IndexRange { first_index: p.first_index, index_count: p.index_count });
        let coarser = meta.mesh.levels.iter().map(|level| level.parts.iter().map(range).collect());
        let lods = std::iter::once(finest.collect()).chain(coarser).collect();
        let errors = std::iter::once(0.0).chain(meta.mesh.levels.iter().map(|level| level.error)).collect();
        let fill = OnceLock::new();
        Ok(Self { variant, vertex_count, mesh, index_format, parts, lods, errors, bounds, motion, fill })
    }

    /// Pose pass of the model; `None` if it has an animation texture.
    pub(crate) fn poses(&self) -> Option<&Arc<PoseEvaluator>> {
        match &self.motion {
            Motion::Computed(poses) => Some(poses),
            Motion::Texture(..) => None,
        }
    }

    /// Pipeline that skins poses into a cache.
    pub(crate) fn fill(&self, device: &wgpu::Device) -> &Fill {
        self.fill.get_or_init(|| Fill::new(device, self.variant))
    }

    /// Uniform buffer binding of the model.
    pub(crate) fn constants(&self) -> wgpu::BindingResource<'_> {
        self.mesh.constants()
    }

    /// Bytes of the vertices.
    pub(crate) fn vertices_len(&self) -> u64 {
        self.mesh.vertices.end - self.mesh.vertices.start
    }

    /// Vertices as a storage buffer, if the model needs compute.
    pub(crate) fn vertex_words(&self) -> wgpu::BindingResource<'_> {
        let size = wgpu::BufferSize::new(self.vertices_len());
        let offset = self.mesh.vertices.start;
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: &self.mesh.buffer, offset, size })
    }

    /// Creates the model's bind group for a palette, or for a cache's vertex buffer in its place.
    /// `records` and `appearances`: instances of the palette. `list`: drawn instances, the whole list or
    /// the part at the dynamic offset.
    pub(crate) fn with_palette(
        &self,
        device: &wgpu::Device,
        layouts: &Layouts,
        palette: &wgpu::Buffer,
        records: wgpu::BufferBinding<'_>,
        list: wgpu::BufferBinding<'_>,
        appearances: wgpu::BufferBinding<'_>,
    ) -> wgpu::BindGroup {
        let resources = [
            (ANIMATION_BINDING, palette.as_entire_binding()),
            (MODEL_BINDING, self.mesh.constants()),
            (INSTANCES_BINDING, wgpu::BindingResource::Buffer(records)),
            (LIST_BINDING, wgpu::BindingResource::Buffer(list)),
            (APPEARANCES_BINDING, wgpu::BindingResource::Buffer(appearances)),
        ];
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("gpuskin model with a palette"),
            layout: layouts.model(self.variant),
            entries: &resources.map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }),
        })
    }

    /// Creates the model's bind group with its animation texture, if it has one. Called before the
    /// first draw.
    pub(crate) fn bind_texture(&self, device: &wgpu::Device, layouts: &Layouts) {
        if let Motion::Texture(animation, bind_group) = &self.motion {
            let animation = wgpu::BindingResource::TextureView(animation);
            let layout = layouts.model(self.variant);
            bind_group.get_or_init(|| model_bind_group(device, layout, [animation, self.mesh.constants()]));
        }
    }

    /// Returns the bind group with the animation texture; `None` if the model has none, or before
    /// [`Self::bind_texture`].
    pub(crate) fn texture(&self) -> Option<&wgpu::BindGroup> {
        match &self.motion {
            Motion::Texture(_, bind_group) => bind_group.get(),
            Motion::Computed(_) => None,
        }
    }

    /// Creates the bind group with animation texture and field; `None` if the model has no texture.
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

    /// Binds cached vertices if the run has them, otherwise does the same as [`Self::bind`].
    /// Returns whether they are cached.
    pub(crate) fn bind_cached(&self, pass: &mut wgpu::RenderPass<'_>, group: u32, run: &DrawRun<'_>) -> bool {
        let Some((palette, cached)) = run.palette.as_ref().and_then(|palette| Some((palette, palette.cached?))) else {
            self.bind(pass, group, run);
            return false;
        };
        pass.set_bind_group(group, cached, &[palette.offset]);
        self.bind_mesh(pass);
        true
    }

    /// Binds everything but the pipeline, for `draw_indexed`.
    pub(crate) fn bind(&self, pass: &mut wgpu::RenderPass<'_>, group: u32, run: &DrawRun<'_>) {
        match &run.palette {
            Some(palette) => pass.set_bind_group(group, palette.bind_group, &[palette.offset]),
            None => {
                pass.set_bind_group(group, self.texture(), &[]);
                pass.set_vertex_buffer(1, run.records);
                pass.set_vertex_buffer(2, run.appearances);
            }
        }
        self.bind_mesh(pass);
    }

    /// Constants of a material, for its bind group.
    pub(crate) fn material(&self, index: usize) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.mesh.buffer,
            offset: self.mesh.materials + index as u64 * self.mesh.material_stride,
            size: wgpu::BufferSize::new(size_of::<MaterialUniform>() as u64),
        })
    }

    /// Vertices, as a vertex buffer.
    pub(crate) fn vertices(&self) -> wgpu::BufferSlice<'_> {
        self.mesh.buffer.slice(self.mesh.vertices.clone())
    }
}

/// Constants, materials, vertices and indices of a model in one buffer, written at once: for small
/// models, the number of writes dominates the start-up time.
#[derive(Debug)]
struct MeshBuffers {
    buffer: wgpu::Buffer,
    /// Byte offset of the first material; bytes per material.
    materials: u64,
    material_stride: u64,
    vertices: Range<u64>,
    /// Indices, in a separate buffer on OpenGL: WebGL does not allow other data in an index buffer.
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
        // Some devices have no storage buffers.
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

    /// Binds the full size of the uniform; the shader reads only the clips that the model has.
    fn constants(&self) -> wgpu::BindingResource<'_> {
        let size = wgpu::BufferSize::new(MODEL_BYTES);
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: &self.buffer, offset: 0, size })
    }
}

/// Creates a buffer of at least `least` bytes, and writes pieces with their alignments one after
/// the other. Returns the byte range of each piece.
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
    // Without a view, the device has reported the reason to its error handler, and nothing can be
    // written.
    if let Some(mut view) = wgpu::BufferSize::new(end).and_then(|size| queue.write_buffer_with(&buffer, 0, size)) {
        for (place, (piece, _)) in places.iter().zip(pieces) {
            view.slice(place.start as usize..place.end as usize).copy_from_slice(piece);
        }
    }
    (buffer, places)
}

/// Creates a bind group of the animation, the model's constants and, for a field, its uniform.
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

/// Draws a mesh part with the bound resources. `index`: index of the part.
pub(crate) fn draw_part(pass: &mut wgpu::RenderPass<'_>, index: usize, part: &MeshPart, run: &DrawRun<'_>) {
    match run.palette.as_ref().and_then(|palette| palette.draws) {
        Some(draws) => draws.draw(pass, index),
        None => pass.draw_indexed(part.first_index..part.first_index + part.index_count, 0, 0..run.instances),
    }
}

/// Loads the bytes of a file of the model.
pub(crate) fn load<'a>(meta: &Metadata, payload: &'a Payload) -> Result<std::borrow::Cow<'a, [u8]>, Error> {
    files::load(payload, &meta.content_hash).map_err(|error| Error::Files { model: meta.name.to_string(), error })
}

/// Returns a byte range of a file.
pub(crate) fn slice<'a>(meta: &Metadata, bytes: &'a [u8], range: ByteRange, file: &str) -> Result<&'a [u8], Error> {
    let end = range.offset.checked_add(range.len).and_then(|end| usize::try_from(end).ok());
    let part = end.and_then(|end| bytes.get(range.offset as usize..end));
    part.ok_or_else(|| Error::model(&meta.name, format!("{file} is shorter than the metadata says")))
}

fn animation_texture(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    meta: &Metadata,
    texels: &[u8],
) -> Result<wgpu::TextureView, Error> {
    let shape = &meta.texture;
    if texels.len() as u64 != shape.byte_len(meta.encoding) {
        return Err(Error::model(&meta.name, "the size of the animation texture differs from the metadata"));
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
    // The view dimension follows from the number of layers, as in wgpu's GL backend, which does not
    // know the descriptor.
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

/// Checks that a model's metadata is consistent, as far as drawing relies on it.
fn consistent(meta: &Metadata) -> Result<(), &'static str> {
    let (mesh, texture) = (&meta.mesh, &meta.texture);
    let index_bytes = if mesh.wide_indices { 4 } else { 2 };
    let index_count = mesh.indices.len / index_bytes;
    // Frames in a storage buffer are checked where they are read.
    let textured = !meta.encoding.needs_compute();
    let frames_hold = |first: u32, stored: u32| first.checked_add(stored).is_some_and(|end| end <= texture.frames);
    let checks = [
        (meta.clips.is_empty(), "the model has no clips"),
        (meta.clips.len() > MAX_CLIPS, "the model has more clips than the runtime supports"),
        (mesh.clips.len != (meta.clips.len() * size_of::<ClipRecord>()) as u64, "the clip records have the wrong size"),
        (
            !meta.clips.iter().all(|c| c.record().is_sound() && frames_hold(c.first_frame, c.stored)),
            "a clip record is invalid, or its frames exceed the animation texture",
        ),
        (
            !meta.clips.iter().all(|c| c.first_frame >= meta.encoding.range_frames()),
            "a clip has no value ranges before its frames",
        ),
        (mesh.vertex_count == 0 || index_count == 0, "the mesh has no vertices or no indices"),
        (
            mesh.vertices.len != u64::from(mesh.vertex_count) * mesh.format.stride() as u64,
            "the vertex data has the wrong size",
        ),
        (
            !mesh.parts.iter().all(|p| u64::from(p.first_index) + u64::from(p.index_count) <= index_count),
            "a mesh part exceeds the index buffer",
        ),
        (
            !mesh.parts.iter().all(|p| (p.material as usize) < meta.materials.len()),
            "a mesh part refers to a material that does not exist",
        ),
        (mesh.levels.len() >= MAX_LODS, "the mesh has more levels of detail than the runtime supports"),
        (
            !mesh.levels.iter().all(|l| l.parts.len() == mesh.parts.len()),
            "a level of detail has a different number of parts than the mesh",
        ),
        (
            !mesh
                .levels
                .iter()
                .flat_map(|l| l.parts.iter())
                .all(|p| u64::from(p.first_index) + u64::from(p.index_count) <= index_count),
            "a level of detail exceeds the index buffer",
        ),
        (!texture.width.is_power_of_two(), "the width of the animation texture is not a power of two"),
        (!Variant::of(meta).is_sound(), "the vertex format does not match the encoding"),
        (texture.rows <= meta.encoding.range_rows(), "the animation texture has no rows for vertices"),
        (texture.rows == 0 || texture.frames_per_layer == 0, "the animation texture is empty"),
        (
            u64::from(texture.frames_per_layer) * u64::from(texture.layers) < u64::from(texture.frames),
            "the animation texture has fewer frames than the metadata says",
        ),
        (
            textured
                && u64::from(texture.frames_per_layer.min(texture.frames))
                    * u64::from(texture.rows)
                    * u64::from(meta.encoding.texels())
                    > u64::from(texture.width) * u64::from(texture.height),
            "the animation texture is too small for its frames",
        ),
    ];
    checks.into_iter().find(|(wrong, _)| *wrong).map_or(Ok(()), |(_, reason)| Err(reason))
}

/// Checks that a model fits the limits of a device.
fn allowed(
    limits: &wgpu::Limits,
    meta: &Metadata,
    variant: Variant,
    materials: &MaterialConstants,
) -> Result<(), Error> {
    let (mesh, texture) = (&meta.mesh, &meta.texture);
    // A storage buffer has limits of its own.
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
    at_most(stride, limits.max_vertex_buffer_array_stride.into(), OTHER_LIMITS, what("bytes per vertex"))?;
    let attributes = vertex_buffers(variant).attributes() as u64;
    at_most(attributes, limits.max_vertex_attributes.into(), OTHER_LIMITS, what("vertex attributes"))?;
    let uniform = limits.max_uniform_buffer_binding_size.min(limits.max_buffer_size);
    at_most(MODEL_BYTES, uniform, OTHER_LIMITS, what("bytes of a uniform buffer"))
}
