//! Palette pass: a compute pass writes the bones of each instance, which the vertex shader then
//! reads.

use std::sync::OnceLock;

use super::Error;
use super::compute::{self, LazyPipelines};
use super::error::at_most;
use super::layouts::{self, MATRIX_BYTES, PLAYBACK_BYTES, storage, uniform};
use super::morph_pass::{MorphPass, MorphPipelines, MorphRoom};
use crate::cull::ENTRY_BYTES;
use crate::local::LocalTracks;
use crate::local::shader::{self, ENTRY_POINT, PaletteUniform, Scratch};
use crate::{Metadata, Time};

/// Threads per workgroup.
const GROUP_SIZE: u32 = 64;
/// Storage buffers that a shader stage binds on this path.
const BUFFERS: u32 = 4;
/// Palettes begin at a multiple of this many instances, so that their playback records, of 48 bytes,
/// begin at a multiple of 256 bytes, as bindings must.
pub(crate) const INSTANCE_ALIGNMENT: u64 = 16;

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
        shader::WORKGROUP_NODES[shader::WORKGROUP_NODES.len() - 1] as u64 * MATRIX_BYTES + shader::POSE_BLEND_BYTES,
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
    pipelines: [OnceLock<wgpu::ComputePipeline>; Scratch::COUNT],
    pub(crate) morphs: MorphPipelines,
}

impl PalettePipelines {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let parameters = uniform(size_of::<PaletteUniform>() as u64, true);
        let (read, write) = (storage(true, false), storage(false, false));
        let layout = compute::layout(device, LABEL, &[parameters, read, read, write, read]);
        Self { layout, pipelines: Default::default(), morphs: MorphPipelines::new(device) }
    }

    fn get(&self, device: &wgpu::Device, scratch: Scratch) -> &wgpu::ComputePipeline {
        let made = || compute::pipeline(device, LABEL, (&shader::palette(scratch), ENTRY_POINT), &[&self.layout]);
        self.pipelines[scratch.index()].get_or_init(made)
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
    /// Morph targets, if the model has any.
    morphs: Option<(MorphRoom, MorphPass)>,
}

/// Bind groups of the passes that evaluate poses.
#[derive(Clone, Debug)]
pub(crate) struct PoseBindings {
    poses: wgpu::BindGroup,
    morphs: Option<wgpu::BindGroup>,
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
    /// `pose_times`: poses per instance, 1 or 2.
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        pipelines: &LazyPipelines<PalettePipelines>,
        pose_times: u32,
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
        at_most(
            u64::from(matrices * pose_times) * MATRIX_BYTES * INSTANCE_ALIGNMENT,
            binding,
            TOO_LARGE,
            what("bytes of the bones of 16 instances"),
        )?;

        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpuskin animation"),
            size: words.len() as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        queue.write_buffer(&buffer, 0, words);
        let pipelines = pipelines.get();
        let (layout, pipeline) = (pipelines.layout.clone(), pipelines.get(device, scratch).clone());
        let [nodes, bones] = [tracks.node_count(), tracks.bone_count()].map(|count| count as u32);
        let max_groups = limits.max_compute_workgroups_per_dimension;
        let morphs = None;
        Ok(Self { words: buffer, layout, pipeline, matrices, pose_times, nodes, bones, binding, max_groups, morphs })
    }

    /// Adds the morph pass of the model.
    pub(crate) fn with_morphs(self, room: MorphRoom, pass: MorphPass) -> Self {
        Self { morphs: Some((room, pass)), ..self }
    }

    /// Whether the morph pass adds the morph targets of this number of poses.
    pub(crate) fn morphs_fit(&self, poses: u32) -> bool {
        self.morphs.as_ref().is_some_and(|(room, _)| poses <= room.slots)
    }

    /// Animation of the model.
    pub(crate) fn words(&self) -> &wgpu::Buffer {
        &self.words
    }

    /// Memory for node matrices.
    pub(crate) fn scratch(&self) -> Scratch {
        Scratch::of(self.nodes as usize)
    }

    /// Whether the hierarchy is composed in workgroup memory.
    pub(crate) fn in_workgroup(&self) -> bool {
        self.scratch() != Scratch::Palette
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
            level_mask: 0,
            reserved: 0,
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
        let bones = u64::from(self.stride()) * MATRIX_BYTES;
        let room = self.morphs.as_ref().map(|(room, _)| *room).unwrap_or_default();
        // All instances have room for morph targets, or the first ones have.
        let all = binding / (bones + room.bytes(1));
        let some = binding.saturating_sub(room.bytes(u32::MAX)) / bones;
        let max_instances = (if all <= room.slots.into() { all } else { some })
            .min(binding / PLAYBACK_BYTES)
            .min(binding / ENTRY_BYTES)
            .min(groups);
        (max_instances / INSTANCE_ALIGNMENT * INSTANCE_ALIGNMENT).min(1 << 31) as u32
    }

    /// Creates a palette buffer for a number of instances.
    pub(crate) fn palette(&self, device: &wgpu::Device, instances: u32) -> wgpu::Buffer {
        let sums = self.morphs.as_ref().map_or(0, |(room, _)| room.bytes(instances));
        device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpuskin palette"),
            size: u64::from(instances) * u64::from(self.stride()) * MATRIX_BYTES + sums,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        })
    }

    /// Creates the bind groups of the passes; `parameters` has a dynamic offset.
    pub(crate) fn bind_group(
        &self,
        device: &wgpu::Device,
        parameters: &wgpu::Buffer,
        playbacks: wgpu::BufferBinding<'_>,
        palette: &wgpu::Buffer,
        layers: &LayerBuffer,
    ) -> PoseBindings {
        let parameters = wgpu::BufferBinding {
            buffer: parameters,
            offset: 0,
            size: wgpu::BufferSize::new(size_of::<PaletteUniform>() as u64),
        };
        let of_morphs = |(_, pass): &(MorphRoom, MorphPass)| {
            pass.bind_group(device, parameters.clone(), playbacks.clone(), palette)
        };
        let morphs = self.morphs.as_ref().map(of_morphs);
        let resources = [
            wgpu::BindingResource::Buffer(parameters),
            self.words.as_entire_binding(),
            wgpu::BindingResource::Buffer(playbacks),
            palette.as_entire_binding(),
            layers.buffer.as_entire_binding(),
        ];
        PoseBindings { poses: layouts::bind_group(device, LABEL, &self.layout, &resources), morphs }
    }

    /// Evaluates `instances` instances, with the parameters at the byte offset `offset`.
    pub(crate) fn dispatch(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        bindings: &PoseBindings,
        offset: u32,
        instances: u32,
    ) {
        let across = instances.min(self.max_groups);
        let groups = [across, instances.div_ceil(across.max(1)), self.pose_times];
        self.run(pass, bindings, offset, &|pass| pass.dispatch_workgroups(groups[0], groups[1], groups[2]));
    }

    /// Evaluates as many instances as the indirect arguments say, with the parameters at the byte offset 0.
    pub(crate) fn dispatch_indirect(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        bindings: &PoseBindings,
        (arguments, at): (&wgpu::Buffer, u64),
    ) {
        self.run(pass, bindings, 0, &|pass| pass.dispatch_workgroups_indirect(arguments, at));
    }

    fn run(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        bindings: &PoseBindings,
        offset: u32,
        dispatch: &dyn Fn(&mut wgpu::ComputePass<'_>),
    ) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &bindings.poses, &[offset]);
        dispatch(pass);
        if let Some(((_, morphs), bind_group)) = self.morphs.as_ref().zip(bindings.morphs.as_ref()) {
            morphs.set(pass, bind_group, offset);
            dispatch(pass);
        }
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
