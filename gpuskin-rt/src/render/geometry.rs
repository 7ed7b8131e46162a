//! Model on the device: vertices, indices, animation texture. File bytes are uploaded unchanged.

use core::ops::Range;
use std::sync::{Arc, OnceLock};

use super::Error;
use super::cache::{CacheSource, Fill};
use super::compute::LazyPipelines;
use super::cull::CullMesh;
use super::draw_run::{DrawRun, OtherPoses};
use super::layouts::Layouts;
use super::material::MaterialConstants;
use super::model_checks::{allowed, consistent};
use super::morph_pass::{MorphPass, MorphRoom};
use super::palette::{PalettePipelines, PoseEvaluator};
use super::payload::{load, slice};
use super::pose_pass::PLACES_BYTES;
use super::words_texture::words_texture;
use crate::local::shader::Scratch;
use crate::shader::{
    ANIMATION_BINDING, CLIPS_ACROSS, CLIPS_BINDING, FIELD_BINDING, LIST_BINDING, MODEL_BINDING, MODEL_BYTES,
    MORPHS_BINDING, ModelUniform, PLACES_BINDING, PLAYBACKS_BINDING, POSES_BINDING, PREVIOUS_BINDING, UNIFORM_CLIPS,
    VERTICES_BINDING, Variant,
};
use crate::{ByteRange, Encoding, IndexRange, MeshPart, Metadata, Model, TexelFormat, cull, morph};

/// Vertex stage data of a model.
#[derive(Debug)]
pub(crate) struct Geometry {
    pub(crate) variant: Variant,
    pub(crate) vertex_count: u32,
    /// Constants of the model, up to the records of its clips.
    pub(crate) constants: ModelUniform,
    mesh: MeshBuffers,
    pub(crate) index_format: wgpu::IndexFormat,
    /// Mesh parts; first indices count from the start of the index buffer.
    pub(crate) parts: Vec<MeshPart>,
    /// Index ranges `[level][part]`, finest LOD first; first indices count from the start of the
    /// index buffer.
    pub(crate) lods: Vec<Vec<IndexRange>>,
    /// LOD error per level, metres; 0 for the finest LOD.
    pub(crate) errors: Vec<f32>,
    /// [`MeshInfo::influence_error`](crate::model::MeshInfo::influence_error).
    influence_error: f32,
    /// Bounds of the clips ([`cull::pack_bounds`]), if instances can be culled.
    pub(crate) bounds: Option<Vec<u32>>,
    motion: Motion,
    /// Deltas of morph targets.
    morphs: Option<wgpu::TextureView>,
    /// Pipeline that fills a pose cache; created when a crowd first needs it.
    fill: OnceLock<Fill>,
}

/// Source of the bones.
#[derive(Debug)]
enum Motion {
    /// Animation texture, and clip records if they are in a texture; the model's bind group is created before
    /// the first draw.
    Texture(wgpu::TextureView, Option<wgpu::TextureView>, OnceLock<wgpu::BindGroup>),
    /// Pose pass; each palette has its own bind group.
    Computed(Arc<PoseEvaluator>),
}

/// Memory for the poses of a model's instances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoseMemory {
    /// Poses per instance in a palette: 1, or 2 for motion vectors.
    pub(crate) pose_times: u32,
    /// Greatest number of bytes per palette for the sums of morph targets.
    pub(crate) morph_bytes: u64,
}

/// Buffers of the instances that are drawn from a palette.
#[derive(Clone)]
pub(crate) struct InstanceBindings<'a> {
    pub(crate) places: wgpu::BufferBinding<'a>,
    /// Instance lists.
    pub(crate) list: wgpu::BufferBinding<'a>,
    pub(crate) playbacks: wgpu::BufferBinding<'a>,
    /// Transforms of the previous frame, if shaders read them.
    pub(crate) previous: Option<wgpu::BufferBinding<'a>>,
}

impl Geometry {
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        pipelines: &LazyPipelines<PalettePipelines>,
        PoseMemory { pose_times, morph_bytes }: PoseMemory,
        model: &Model,
        materials: &MaterialConstants,
    ) -> Result<Self, Error> {
        let meta = &model.meta;
        let buffers = device.limits().max_storage_buffers_per_shader_stage;
        let variant = Variant::of(meta).on_device(pose_times > 1, buffers);
        consistent(meta).map_err(|reason| Error::model(&meta.name, reason))?;
        allowed(&device.limits(), meta, variant, materials)?;

        let bytes = load(meta, &model.mesh)?;
        let part = |range: ByteRange| slice(meta, &bytes, range, "mesh.bin");
        let (vertices, indices, clips) = (part(meta.mesh.vertices)?, part(meta.mesh.indices)?, part(meta.mesh.clips)?);
        let animation = load(meta, &model.animation)?;
        let level = model.animation.levels.first().copied().unwrap_or_default();
        let texels = slice(meta, &animation, level, "the animation texture")?;
        let morphs = meta.mesh.morphs;
        let morphs = (morphs.len > 0).then(|| slice(meta, &bytes, morphs, "mesh.bin")).transpose()?;
        let mut uniform = ModelUniform::of(meta);
        let words = morphs.unwrap_or_default();
        let mut morph_room = MorphRoom::new(meta, words, pose_times, 0);
        uniform.morph_vertices = morph_room.vertices;
        let bounds = cull::pack_bounds(meta);
        let poses = if variant.encoding.needs_compute() {
            let poses = PoseEvaluator::new(device, queue, pipelines, pose_times, meta, texels)?;
            (uniform.palette_stride, uniform.palette_previous) = (poses.stride(), poses.previous_offset());
            if let Some(bounds) = &bounds {
                [uniform.value_min, uniform.value_extent] = cull::all_clip_bounds(bounds);
            }
            // At most half of a palette, because bones need theirs too.
            let most = morph_bytes.min(poses.binding / 2);
            morph_room = MorphRoom::new(meta, words, pose_times, most);
            (uniform.morph_slots, uniform.morph_stride) = (morph_room.slots, morph_room.stride);
            Some(poses)
        } else {
            None
        };
        let in_uniform = if meta.clips.len() > UNIFORM_CLIPS { &[] } else { clips };
        let of_model = [bytemuck::bytes_of(&uniform), in_uniform];
        let mesh = MeshBuffers::new(device, queue, of_model, materials, (vertices, poses.is_some()), indices);

        let deltas = |bytes| words_texture(device, queue, "gpuskin morph targets", morph::ACROSS as u32, bytes);
        let morphs = morphs.map(deltas);
        let poses = match (poses, &morphs) {
            (Some(poses), Some(lists)) if morph_room.slots > 0 => {
                let pipelines = &pipelines.get().morphs;
                let (tangents, constants) = (meta.mesh.format.tangent, mesh.buffer.clone());
                let pass = MorphPass::new(device, pipelines, tangents, lists.clone(), constants);
                Some(poses.with_morphs(morph_room, pass))
            }
            (poses, _) => poses,
        };
        let motion = match poses {
            Some(poses) => Motion::Computed(Arc::new(poses)),
            None => {
                let records =
                    variant.clip_texture.then(|| words_texture(device, queue, "gpuskin clips", CLIPS_ACROSS, clips));
                Motion::Texture(animation_texture(device, queue, meta, texels)?, records, OnceLock::new())
            }
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
        let constants = uniform;
        Ok(Self {
            variant,
            vertex_count,
            constants,
            mesh,
            index_format,
            parts,
            lods,
            errors,
            influence_error: meta.mesh.influence_error,
            bounds,
            motion,
            morphs,
            fill,
        })
    }

    /// Memory for node matrices that the pose pass of the model needs.
    pub(crate) fn scratch(&self) -> Scratch {
        self.poses().map_or(Scratch::of(0), |poses| poses.scratch())
    }

    /// Pose pass of the model; `None` if it has an animation texture.
    pub(crate) fn poses(&self) -> Option<&Arc<PoseEvaluator>> {
        match &self.motion {
            Motion::Computed(poses) => Some(poses),
            Motion::Texture(..) => None,
        }
    }

    /// Model, as a pose cache is filled from it.
    pub(crate) fn cache_source(&self, device: &wgpu::Device) -> CacheSource<'_> {
        CacheSource {
            fill: self.fill.get_or_init(|| Fill::new(device, self.variant)),
            vertex_count: self.vertex_count,
            constants: self.mesh.constants(),
            vertices: self.vertex_words(),
        }
    }

    /// Mesh, as the culling pass needs it.
    pub(crate) fn cull_mesh(&self) -> CullMesh<'_> {
        CullMesh {
            lods: &self.lods,
            errors: &self.errors,
            influence_error: self.influence_error,
            vertex_count: self.vertex_count,
            pose_times: self.poses().map_or(1, |poses| poses.pose_times()),
        }
    }

    /// Bytes of the vertices.
    pub(crate) fn vertices_len(&self) -> u64 {
        self.mesh.vertices.end - self.mesh.vertices.start
    }

    /// Bytes of the indices.
    pub(crate) fn indices_len(&self) -> u64 {
        self.mesh.indices.1.end - self.mesh.indices.1.start
    }

    /// Number of the first index, from which the ranges of parts count.
    pub(crate) fn first_index(&self) -> u32 {
        (self.mesh.indices.1.start / self.index_format.byte_size() as u64) as u32
    }

    /// Copies vertices and indices to byte offsets of other buffers.
    pub(crate) fn copy_mesh(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        (vertices, vertices_at): (&wgpu::Buffer, u64),
        (indices, indices_at): (&wgpu::Buffer, u64),
    ) {
        let (from, range) = (&self.mesh.buffer, &self.mesh.vertices);
        encoder.copy_buffer_to_buffer(from, range.start, vertices, vertices_at, self.vertices_len());
        let (from, range) = &self.mesh.indices;
        let bytes = self.indices_len().next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
        encoder.copy_buffer_to_buffer(from, range.start, indices, indices_at, bytes);
    }

    /// Vertices as a storage buffer, if the model needs compute.
    fn vertex_words(&self) -> wgpu::BindingResource<'_> {
        let size = wgpu::BufferSize::new(self.vertices_len());
        let offset = self.mesh.vertices.start;
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: &self.mesh.buffer, offset, size })
    }

    /// Creates the model's bind group for a palette, or for a cache's vertex buffer in its place.
    /// `instances`: those of the palette. Their list: drawn instances, the whole list or
    /// the part at the dynamic offset.
    pub(crate) fn with_palette(
        &self,
        device: &wgpu::Device,
        layouts: &Layouts,
        palette: wgpu::BufferBinding<'_>,
        instances: InstanceBindings<'_>,
    ) -> wgpu::BindGroup {
        let InstanceBindings { places, list, playbacks, previous } = instances;
        let previous = previous.map(|previous| (PREVIOUS_BINDING, wgpu::BindingResource::Buffer(previous)));
        let resources = [
            (ANIMATION_BINDING, wgpu::BindingResource::Buffer(palette)),
            (MODEL_BINDING, self.mesh.constants()),
            (PLACES_BINDING, wgpu::BindingResource::Buffer(places)),
            (LIST_BINDING, wgpu::BindingResource::Buffer(list)),
            (PLAYBACKS_BINDING, wgpu::BindingResource::Buffer(playbacks)),
        ];
        let vertices = self.variant.loads_influences.then(|| (VERTICES_BINDING, self.vertex_words()));
        let entries = resources.into_iter().chain(previous).chain(vertices).chain(self.morphs());
        let entries: Vec<_> = entries.map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }).collect();
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("gpuskin model with a palette"),
            layout: layouts.model(self.variant),
            entries: &entries,
        })
    }

    /// Binding of the deltas of morph targets.
    fn morphs(&self) -> Option<(u32, wgpu::BindingResource<'_>)> {
        self.morphs.as_ref().map(|morphs| (MORPHS_BINDING, wgpu::BindingResource::TextureView(morphs)))
    }

    /// Creates the model's bind group with drawn poses and the places of a list of instances in them.
    pub(crate) fn with_poses(
        &self,
        device: &wgpu::Device,
        layouts: &Layouts,
        poses: &wgpu::TextureView,
        places: &wgpu::Buffer,
    ) -> wgpu::BindGroup {
        let size = wgpu::BufferSize::new(PLACES_BYTES);
        let places = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: places, offset: 0, size });
        let resources = [wgpu::BindingResource::TextureView(poses), self.mesh.constants(), places];
        let entries = [ANIMATION_BINDING, MODEL_BINDING, POSES_BINDING].into_iter().zip(resources).chain(self.morphs());
        let entries: Vec<_> = entries.map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource }).collect();
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("gpuskin model with drawn poses"),
            layout: layouts.model(self.variant),
            entries: &entries,
        })
    }

    /// Creates the model's bind group with its animation texture, if it has one. Called before the
    /// first draw.
    pub(crate) fn bind_texture(&self, device: &wgpu::Device, layouts: &Layouts) {
        if let Motion::Texture(animation, clips, bind_group) = &self.motion {
            let layout = layouts.frames(self.variant);
            bind_group.get_or_init(|| self.model_bind_group(device, layout, (animation, clips.as_ref()), None));
        }
    }

    /// Returns the bind group with the animation texture; `None` if the model has none, or before
    /// [`Self::bind_texture`].
    pub(crate) fn texture(&self) -> Option<&wgpu::BindGroup> {
        match &self.motion {
            Motion::Texture(.., bind_group) => bind_group.get(),
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
        let (Motion::Texture(animation, clips, _), Some(layout)) = (&self.motion, layouts.field(self.variant)) else {
            return None;
        };
        Some(self.model_bind_group(device, layout, (animation, clips.as_ref()), Some(field)))
    }

    /// Creates a bind group of the animation and the clip records, if they are in a texture, the model's
    /// constants and, for a field, its uniform.
    fn model_bind_group(
        &self,
        device: &wgpu::Device,
        layout: &wgpu::BindGroupLayout,
        (animation, clips): (&wgpu::TextureView, Option<&wgpu::TextureView>),
        field: Option<&wgpu::Buffer>,
    ) -> wgpu::BindGroup {
        let resources = [
            (ANIMATION_BINDING, Some(wgpu::BindingResource::TextureView(animation))),
            (MODEL_BINDING, Some(self.mesh.constants())),
            (FIELD_BINDING, field.map(wgpu::Buffer::as_entire_binding)),
            (CLIPS_BINDING, clips.map(wgpu::BindingResource::TextureView)),
            (MORPHS_BINDING, self.morphs.as_ref().filter(|_| field.is_some()).map(wgpu::BindingResource::TextureView)),
        ];
        let entry = |(binding, resource): (u32, Option<_>)| Some(wgpu::BindGroupEntry { binding, resource: resource? });
        let entries: Vec<_> = resources.into_iter().filter_map(entry).collect();
        device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some("gpuskin model"), layout, entries: &entries })
    }

    /// Binds vertices and indices, for `draw_indexed`.
    pub(crate) fn bind_mesh(&self, pass: &mut wgpu::RenderPass<'_>) {
        pass.set_vertex_buffer(0, self.vertices());
        let (buffer, range) = &self.mesh.indices;
        pass.set_index_buffer(buffer.slice(..range.end), self.index_format);
    }

    /// Binds what vertices of the run read instead of the palette, otherwise does the same as [`Self::bind`].
    /// Returns what that is.
    pub(crate) fn bind_others(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        group: u32,
        run: &DrawRun<'_>,
    ) -> Option<OtherPoses> {
        let Some((palette, (others, bind_group))) = run.palette.as_ref().and_then(|p| Some((p, p.others?))) else {
            self.bind(pass, group, run);
            return None;
        };
        pass.set_bind_group(group, bind_group, &[palette.offset]);
        self.bind_mesh(pass);
        Some(others)
    }

    /// Binds everything but the pipeline, for `draw_indexed`.
    pub(crate) fn bind(&self, pass: &mut wgpu::RenderPass<'_>, group: u32, run: &DrawRun<'_>) {
        match &run.palette {
            Some(palette) => pass.set_bind_group(group, palette.bind_group, &[palette.offset]),
            None => {
                match &run.poses {
                    Some(poses) => pass.set_bind_group(group, &poses.bind_group, &[poses.offset]),
                    None => pass.set_bind_group(group, self.texture(), &[]),
                }
                pass.set_vertex_buffer(1, run.places);
                pass.set_vertex_buffer(2, run.playbacks);
                run.previous.into_iter().for_each(|previous| pass.set_vertex_buffer(3, previous));
            }
        }
        self.bind_mesh(pass);
    }

    /// Constants of a material, for its bind group.
    pub(crate) fn material(&self, index: usize) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: &self.mesh.buffer,
            offset: self.mesh.materials + index as u64 * self.mesh.material_stride,
            size: wgpu::BufferSize::new(self.mesh.material_size),
        })
    }

    /// Copies the first bytes of the constants of a material.
    pub(crate) fn copy_material(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        index: u32,
        (to, at, bytes): (&wgpu::Buffer, u64, u64),
    ) {
        let from = self.mesh.materials + u64::from(index) * self.mesh.material_stride;
        encoder.copy_buffer_to_buffer(&self.mesh.buffer, from, to, at, bytes);
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
    material_size: u64,
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
        Self {
            vertices,
            indices,
            buffer,
            materials: materials_at.start,
            material_size: materials.size,
            material_stride: materials.stride,
        }
    }

    /// Binds the full size of the uniform; the shader reads only the clips that the uniform has.
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
        usage: usage | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
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
