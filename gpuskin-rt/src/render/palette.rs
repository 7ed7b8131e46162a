//! Palette path: a compute pass writes the bones of each instance, which the vertex shader then
//! reads.

use core::ops::Range;
use std::sync::{Arc, OnceLock};

use super::Error;
use super::cache::{PoseCache, SharedPoses};
use super::compute;
use super::crowd::{APPEARANCE_BYTES, RECORD_BYTES};
use super::cull::{self, Culling, Draws, RevealPipelines, Views};
use super::error::at_most;
use super::geometry::Geometry;
use super::gpu::Gpu;
use super::layouts::{self, Layouts, storage, uniform};
use crate::cull::{ENTRY_BYTES, expand_bounds};
use crate::local::LocalTracks;
use crate::local::shader::{self, ENTRY_POINT, PaletteUniform, Scratch};
use crate::{Metadata, Time, View};

/// Bytes per skinning matrix.
pub(crate) const MATRIX_BYTES: u64 = 48;
/// Threads per workgroup.
const GROUP_SIZE: u32 = 64;
/// Storage buffers that a shader stage binds on this path.
const BUFFERS: u32 = 4;
/// Palettes begin at a multiple of this many instances, so that their appearances, of 16 bytes,
/// begin at a multiple of 256 bytes, as bindings must.
const INSTANCE_ALIGNMENT: u64 = 16;

const NO_COMPUTE: &str = "request a device with at least wgpu::Limits::downlevel_defaults(), or bake the model for \
    devices without compute as well, `devices = [\"compute\", \"webgl2\"]`, or in an encoding that needs none: \
    trs-packed, matrix-unorm, matrix-f32, matrix-f16, trs-f16 or fixed16";
const TOO_LARGE: &str = "request a device with higher limits, or bake the model smaller (fps, fewer clips)";

/// Checks that a device can evaluate poses at all.
pub(crate) fn computes(limits: &wgpu::Limits, meta: &Metadata) -> Result<(), Error> {
    let what = |text: &'static str| move || format!("{}: {text}", meta.name);
    let buffers = limits.max_storage_buffers_per_shader_stage.into();
    at_most(BUFFERS.into(), buffers, NO_COMPUTE, what("storage buffers per shader stage"))?;
    let threads = limits.max_compute_workgroup_size_x.min(limits.max_compute_invocations_per_workgroup);
    at_most(GROUP_SIZE.into(), threads.into(), NO_COMPUTE, what("threads per workgroup"))?;
    let memory = limits.max_compute_workgroup_storage_size.into();
    at_most(
        shader::WORKGROUP_NODES as u64 * MATRIX_BYTES + shader::POSE_BLEND_BYTES,
        memory,
        NO_COMPUTE,
        what("bytes of workgroup memory"),
    )
}

const LABEL: Option<&str> = Some("gpuskin palette");

/// Pipelines of the palette pass, created on first use: compiling takes longer than the rest of
/// start-up.
#[derive(Debug)]
pub(crate) struct PalettePipelines {
    layout: wgpu::BindGroupLayout,
    pipelines: [OnceLock<wgpu::ComputePipeline>; 2],
}

impl PalettePipelines {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let parameters = uniform(size_of::<PaletteUniform>() as u64, true);
        let (read, write) = (storage(true, false), storage(false, false));
        let layout = compute::layout(device, LABEL, &[parameters, read, read, write, read]);
        Self { layout, pipelines: Default::default() }
    }

    fn get(&self, device: &wgpu::Device, scratch: Scratch) -> &wgpu::ComputePipeline {
        let made = || compute::pipeline(device, LABEL, (&shader::palette(scratch), ENTRY_POINT), &[&self.layout]);
        self.pipelines[scratch as usize].get_or_init(made)
    }
}

/// Pose pass of a model: evaluates poses into a palette.
#[derive(Debug)]
pub(crate) struct PoseEvaluator {
    words: wgpu::Buffer,
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::ComputePipeline,
    /// Matrices per pose.
    matrices: u32,
    /// Poses per instance: 1, or 2 if the previous frame's pose is kept.
    pose_times: u32,
    pub(crate) nodes: u32,
    pub(crate) bones: u32,
    /// Bytes of the largest storage buffer that can be bound.
    pub(crate) binding: u64,
    /// Largest number of workgroups per dispatch dimension.
    max_groups: u32,
}

/// GPU buffer of layer sets and live poses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LayerBuffer {
    pub(crate) buffer: wgpu::Buffer,
    /// Start of the live poses, in units of four words.
    pub(crate) live_at: u32,
    /// Start of the previous frame's live poses, in units of four words; equal to `live_at` if they
    /// are not kept.
    pub(crate) previous_live_at: u32,
}

impl LayerBuffer {
    /// Byte offset of the live poses.
    pub(crate) fn live_bytes(&self) -> u64 {
        u64::from(self.live_at) * 16
    }

    /// Byte offset of the previous frame's live poses.
    pub(crate) fn previous_live_bytes(&self) -> u64 {
        u64::from(self.previous_live_at) * 16
    }
}

impl PoseEvaluator {
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        layouts: &Layouts,
        meta: &Metadata,
        words: &[u8],
    ) -> Result<Self, Error> {
        let limits = device.limits();
        computes(&limits, meta)?;
        let what = |text: &'static str| move || format!("{}: {text}", meta.name);
        let binding = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        at_most(words.len() as u64, binding, TOO_LARGE, what("bytes of animation"))?;

        let wrong = |reason: &str| Error::model(&meta.name, reason);
        let tracks = LocalTracks::new(words).ok_or_else(|| wrong("the animation refers to data outside itself"))?;
        let agree = tracks.bone_count() == meta.texture.rows as usize
            && words.len() as u64 == meta.texture.byte_len(meta.encoding)
            && tracks.clip_count() == meta.clips.len()
            && tracks.mask_count() == meta.masks.len()
            && meta.clips.iter().enumerate().all(|(i, clip)| {
                tracks.record(i) == clip.record() && tracks.reference(i) == clip.additive.map(usize::from)
            });
        if !agree {
            return Err(wrong("the animation does not match the metadata"));
        }
        let scratch = Scratch::of(tracks.node_count());
        let matrices = scratch.stride(tracks.bone_count(), tracks.node_count()) as u32;
        let pose_times = layouts.pose_times;
        at_most(
            u64::from(matrices * pose_times) * MATRIX_BYTES * INSTANCE_ALIGNMENT,
            binding,
            TOO_LARGE,
            what("bytes of the bones of 16 instances"),
        )?;

        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpuskin animation"),
            size: words.len() as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        queue.write_buffer(&buffer, 0, words);
        let pipelines = layouts.palettes();
        let (layout, pipeline) = (pipelines.layout.clone(), pipelines.get(device, scratch).clone());
        let [nodes, bones] = [tracks.node_count(), tracks.bone_count()].map(|count| count as u32);
        let max_groups = limits.max_compute_workgroups_per_dimension;
        Ok(Self { words: buffer, layout, pipeline, matrices, pose_times, nodes, bones, binding, max_groups })
    }

    /// Matrices per instance in a palette.
    pub(crate) fn stride(&self) -> u32 {
        self.matrices * self.pose_times
    }

    /// Matrices from an instance's pose to its previous pose; 0 if the previous pose is not kept.
    pub(crate) fn previous_offset(&self) -> u32 {
        self.matrices * (self.pose_times - 1)
    }

    /// Poses evaluated per instance, along z of the dispatch.
    pub(crate) fn pose_times(&self) -> u32 {
        self.pose_times
    }

    /// Parameters of a dispatch for the instances `first_instance..first_instance + instances`.
    /// `times`: current and previous time.
    pub(crate) fn parameters(
        &self,
        times: [Time; 2],
        first_instance: u32,
        instances: u32,
        layers: &LayerBuffer,
    ) -> PaletteUniform {
        PaletteUniform {
            time: times[0].words(),
            previous_time: times[1].words(),
            instances,
            first_instance,
            stride: self.stride(),
            live_at: layers.live_at,
            live_stride: self.live_stride(),
            previous_offset: self.previous_offset(),
            previous_live_at: layers.previous_live_at,
            max_groups: self.max_groups,
        }
    }

    /// Stride of live poses, in units of four words.
    pub(crate) fn live_stride(&self) -> u32 {
        shader::live_stride(self.bones as usize, self.nodes as usize) as u32
    }

    /// Largest number of instances in one palette on a device.
    pub(crate) fn max_instances(&self, device: &wgpu::Device) -> u32 {
        let limits = device.limits();
        let binding = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        let groups = u64::from(self.max_groups).pow(2);
        let max_instances = (binding / (u64::from(self.stride()) * MATRIX_BYTES))
            .min(binding / RECORD_BYTES)
            .min(binding / ENTRY_BYTES)
            .min(groups);
        (max_instances / INSTANCE_ALIGNMENT * INSTANCE_ALIGNMENT).min(1 << 31) as u32
    }

    /// Creates a palette buffer for a number of instances.
    pub(crate) fn palette(&self, device: &wgpu::Device, instances: u32) -> wgpu::Buffer {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpuskin palette"),
            size: u64::from(instances) * u64::from(self.stride()) * MATRIX_BYTES,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        })
    }

    /// Creates the bind group of the pass; `parameters` has a dynamic offset.
    pub(crate) fn bind_group(
        &self,
        device: &wgpu::Device,
        parameters: &wgpu::Buffer,
        records: wgpu::BufferBinding<'_>,
        palette: &wgpu::Buffer,
        layers: &LayerBuffer,
    ) -> wgpu::BindGroup {
        let parameters = wgpu::BufferBinding {
            buffer: parameters,
            offset: 0,
            size: wgpu::BufferSize::new(size_of::<PaletteUniform>() as u64),
        };
        let resources = [
            wgpu::BindingResource::Buffer(parameters),
            self.words.as_entire_binding(),
            wgpu::BindingResource::Buffer(records),
            palette.as_entire_binding(),
            layers.buffer.as_entire_binding(),
        ];
        layouts::bind_group(device, LABEL, &self.layout, &resources)
    }

    /// Evaluates `instances` instances, with the parameters at the byte offset `offset`.
    pub(crate) fn dispatch(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        bind_group: &wgpu::BindGroup,
        offset: u32,
        instances: u32,
    ) {
        self.set(pass, bind_group, offset);
        let across = instances.min(self.max_groups);
        pass.dispatch_workgroups(across, instances.div_ceil(across.max(1)), self.pose_times);
    }

    pub(crate) fn set(&self, pass: &mut wgpu::ComputePass<'_>, bind_group: &wgpu::BindGroup, offset: u32) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, bind_group, &[offset]);
    }
}

/// Creates an instance list in which instance i has palette slot i.
pub(crate) fn identity_list(device: &wgpu::Device, queue: &wgpu::Queue, instances: u32) -> wgpu::Buffer {
    let list: Vec<[u32; 2]> = (0..instances).map(|i| [i, i]).collect();
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("gpuskin instance list"),
        size: u64::from(instances) * ENTRY_BYTES,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&list));
    buffer
}

/// Palettes of a crowd: one, or several if one buffer cannot hold all instances.
#[derive(Debug)]
pub(crate) struct Palettes {
    poses: Arc<PoseEvaluator>,
    chunks: Vec<PaletteChunk>,
    /// Instances per palette, but for the last one.
    instances_per_chunk: u32,
    /// Number of views that the instance lists are made for; `None` if nothing is culled.
    pub(crate) views: Option<usize>,
    pub(crate) layers: LayerBuffer,
}

/// Buffers and limits of a crowd.
pub(crate) struct CrowdBuffers<'a> {
    pub(crate) records: &'a wgpu::Buffer,
    pub(crate) appearances: &'a wgpu::Buffer,
    /// Instances that both buffers can hold.
    pub(crate) capacity: u32,
    /// Distance by which attachments extend the bounds of clips, metres.
    pub(crate) reach: f32,
    /// Largest number of instances visible at once; `None`: all.
    pub(crate) visible: Option<u32>,
    /// Shared poses, if instances share any.
    pub(crate) sharing: Option<&'a SharedPoses>,
}

#[derive(Clone, Debug)]
struct PaletteChunk {
    parameters: wgpu::Buffer,
    palette: wgpu::Buffer,
    compute: wgpu::BindGroup,
    drawing: wgpu::BindGroup,
    culling: Option<Arc<Culling>>,
    cache: Option<PoseCache>,
}

impl PaletteChunk {
    /// Culling with a second pass, if there is one.
    fn reveals(&self) -> Option<&Culling> {
        self.culling.as_deref().filter(|culling| culling.reveals())
    }

    /// Evaluates the poses that a culling pass has requested.
    fn evaluate(&self, pass: &mut wgpu::ComputePass<'_>, poses: &PoseEvaluator, culling: &Culling) {
        poses.set(pass, &self.compute, 0);
        pass.dispatch_workgroups_indirect(&culling.arguments, 0);
        if let Some(cache) = &self.cache {
            cache.record(pass, poses, &culling.arguments);
        }
    }
}

/// Draw run: instances drawn from one palette.
pub(crate) struct PaletteDraw<'a> {
    pub(crate) instances: u32,
    /// Levels of detail of this run.
    pub(crate) lods: Range<u32>,
    /// Number of the run's first instance in the crowd.
    pub(crate) first: u32,
    pub(crate) bind_group: &'a wgpu::BindGroup,
    /// Bind group with cached vertices instead of the palette, if the run's instances share poses.
    pub(crate) cached: Option<&'a wgpu::BindGroup>,
    /// Byte offset of the run's instance list.
    pub(crate) offset: u32,
    /// Indirect draws, if instances are culled.
    pub(crate) draws: Option<Draws<'a>>,
}

impl Palettes {
    /// Creates palettes for the capacity of the record buffer. With `views`, only instances visible
    /// in one of them are drawn.
    pub(crate) fn new(
        Gpu { device, queue }: Gpu<'_>,
        layouts: &Layouts,
        geometry: &Geometry,
        poses: &Arc<PoseEvaluator>,
        buffers: &CrowdBuffers<'_>,
        layers: &LayerBuffer,
        views: Option<&Views>,
    ) -> Self {
        let mut bounds = geometry.bounds.as_deref().map(|bounds| expand_bounds(bounds, buffers.reach));
        bounds.iter_mut().zip(buffers.sharing).for_each(|(bounds, sharing)| sharing.set_steps(bounds));
        let culled = views.zip(bounds.as_deref());
        let sharing = buffers.sharing.filter(|sharing| sharing.cached_poses > 0 && culled.is_some());
        let cached_poses = sharing.map_or(0, |sharing| sharing.cached_poses);
        let max_instances = poses.max_instances(device).saturating_sub(cached_poses).max(INSTANCE_ALIGNMENT as u32);
        let max_instances = max_instances / INSTANCE_ALIGNMENT as u32 * INSTANCE_ALIGNMENT as u32;
        let instances_per_chunk = match culled {
            // Only visible instances have a pose.
            Some((views, _)) => {
                let listed = views.max_instances(geometry, poses.binding, sharing.map(|sharing| sharing.samples));
                let posed = buffers
                    .visible
                    .map_or(max_instances, |visible| if visible <= max_instances { u32::MAX } else { max_instances });
                (listed / INSTANCE_ALIGNMENT * INSTANCE_ALIGNMENT).min(posed.into()).min(1 << 31) as u32
            }
            None => max_instances,
        };
        let cache_samples = sharing.map_or(0, |sharing| sharing.samples);
        let cached_poses = if cached_poses > 0 {
            (cached_poses / buffers.capacity.div_ceil(instances_per_chunk.max(1)).max(1)).max(1)
        } else {
            0
        };
        let chunk = |first: u32| {
            let instances = instances_per_chunk.min(buffers.capacity - first);
            let visible = buffers.visible.filter(|_| culled.is_some()).unwrap_or(instances);
            let palette_slots = visible.clamp(1, instances.max(1));
            let palette = poses.palette(device, cached_poses + palette_slots);
            let [parameters, of_cache] = ["gpuskin palette parameters", "gpuskin cache parameters"].map(|label| {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some(label),
                    size: size_of::<PaletteUniform>() as u64,
                    usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                })
            });
            let records = part(buffers.records, RECORD_BYTES, first, instances);
            let appearances = part(buffers.appearances, APPEARANCE_BYTES, first, instances);
            let culling = culled.map(|(views, bounds)| {
                let (records, appearances) = (records.clone(), appearances.clone());
                let chunk =
                    cull::CullChunk { records, appearances, instances, palette_slots, cached_poses, cache_samples };
                let parameters = [&parameters, &of_cache];
                Arc::new(Culling::new(device, queue, layouts.culling(), (geometry, bounds), views, chunk, parameters))
            });
            let list = culling.as_ref().map_or_else(|| identity_list(device, queue, instances), |c| c.lists.clone());
            let list = wgpu::BufferBinding {
                buffer: &list,
                offset: 0,
                size: culling.as_ref().and_then(|culling| wgpu::BufferSize::new(culling.bound_bytes())),
            };
            let drawing = |poses: &wgpu::Buffer| {
                geometry.with_palette(device, layouts, poses, records.clone(), list.clone(), appearances.clone())
            };
            let seen = culling.as_ref().map_or(records.clone(), |c| c.visible_instances.as_entire_buffer_binding());
            let cache = (cached_poses > 0).then(|| {
                let compute = poses.bind_group(device, &of_cache, seen.clone(), &palette, layers);
                PoseCache::new(device, geometry, cached_poses, (of_cache, &palette), compute, drawing)
            });
            let compute = poses.bind_group(device, &parameters, seen, &palette, layers);
            let drawing = drawing(&palette);
            PaletteChunk { parameters, palette, compute, drawing, culling, cache }
        };
        let chunks = (0..buffers.capacity).step_by(instances_per_chunk.max(1) as usize).map(chunk).collect();
        let views = culled.map(|(views, _)| views.count);
        Self { poses: poses.clone(), chunks, instances_per_chunk, views, layers: layers.clone() }
    }

    /// Returns the same palettes for the same records, with another layer buffer.
    pub(crate) fn with_layers(&self, device: &wgpu::Device, buffers: &CrowdBuffers<'_>, layers: &LayerBuffer) -> Self {
        let chunk = |(first, chunk): (u32, &PaletteChunk)| {
            let all =
                || part(buffers.records, RECORD_BYTES, first, self.instances_per_chunk.min(buffers.capacity - first));
            let records = chunk.culling.as_ref().map_or_else(all, |c| c.visible_instances.as_entire_buffer_binding());
            let bind_group =
                |parameters| self.poses.bind_group(device, parameters, records.clone(), &chunk.palette, layers);
            let cache = chunk.cache.as_ref().map(|cache| cache.with_compute(bind_group(&cache.parameters)));
            PaletteChunk { compute: bind_group(&chunk.parameters), cache, ..chunk.clone() }
        };
        let chunks = (0..buffers.capacity)
            .step_by(self.instances_per_chunk.max(1) as usize)
            .zip(&self.chunks)
            .map(chunk)
            .collect();
        Self { poses: self.poses.clone(), chunks, layers: layers.clone(), ..*self }
    }

    /// Draw runs of the first `instances` instances that are visible in `view`, or in any view with
    /// `None`. A run covers one palette, and all levels of detail or a single one.
    pub(crate) fn draw_runs(&self, instances: u32, view: Option<View>) -> impl Iterator<Item = PaletteDraw<'_>> {
        // Without culling, the first pass has drawn everything.
        let again = view == Some(View::REVEALED);
        let parts = self.parts(instances).filter(move |(_, chunk)| !again || chunk.reveals().is_some());
        parts.flat_map(move |(range, chunk)| {
            let culling = chunk.culling.as_deref();
            let identity_list = culling.is_none().then_some((0, 0..1));
            let lists = culling.into_iter().flat_map(Culling::lists).chain(identity_list);
            lists.map(move |(kind, lods)| PaletteDraw {
                instances: range.end - range.start,
                first: range.start,
                bind_group: &chunk.drawing,
                cached: chunk.cache.as_ref().filter(|_| kind > 0).map(|cache| &cache.drawing),
                offset: culling.map_or(0, |culling| culling.list_at(view, (kind, lods.start))),
                draws: culling.map(|culling| culling.draws(view, kind, &lods)),
                lods,
            })
        })
    }

    /// Evaluates the current and previous poses of the first `instances` instances, or of the
    /// visible ones among them. The flags are those of [`Culling::record`].
    pub(crate) fn evaluate(
        &self,
        queue: &wgpu::Queue,
        pass: &mut wgpu::ComputePass<'_>,
        instances: u32,
        flags: (bool, bool),
        times: [Time; 2],
    ) {
        for (range, chunk) in self.parts(instances) {
            let count = range.end - range.start;
            let parameters = self.poses.parameters(times, 0, count, &self.layers);
            let of_cache = chunk.cache.as_ref().map(|cache| &cache.parameters);
            for buffer in std::iter::once(&chunk.parameters).chain(of_cache) {
                queue.write_buffer(buffer, 0, bytemuck::bytes_of(&parameters));
            }
            match &chunk.culling {
                Some(culling) => {
                    culling.record(queue, pass, count, flags, times[0]);
                    chunk.evaluate(pass, &self.poses, culling);
                }
                None => self.poses.dispatch(pass, &chunk.compute, 0, count),
            }
        }
    }

    /// Evaluates the poses of instances that the second pass reveals in the main view, in palette
    /// slots behind those in use.
    pub(crate) fn reveal(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        pyramid: (&RevealPipelines, &wgpu::BindGroup),
        instances: u32,
    ) {
        for (range, chunk) in self.parts(instances) {
            if let Some(culling) = chunk.reveals() {
                culling.reveal(pass, pyramid, range.end - range.start);
                chunk.evaluate(pass, &self.poses, culling);
            }
        }
    }

    fn parts(&self, instances: u32) -> impl Iterator<Item = (Range<u32>, &PaletteChunk)> {
        let starts = (0..instances).step_by(self.instances_per_chunk.max(1) as usize);
        starts
            .zip(&self.chunks)
            .map(move |(first, chunk)| (first..first.saturating_add(self.instances_per_chunk).min(instances), chunk))
    }
}

/// Binds the elements of `instances` instances from `first` on, `bytes` bytes each.
fn part(buffer: &wgpu::Buffer, bytes: u64, first: u32, instances: u32) -> wgpu::BufferBinding<'_> {
    let size = wgpu::BufferSize::new(u64::from(instances) * bytes);
    wgpu::BufferBinding { buffer, offset: u64::from(first) * bytes, size }
}
