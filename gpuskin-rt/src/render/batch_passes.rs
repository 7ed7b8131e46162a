//! Passes of a batch: culling, arguments and poses of all of its crowds, one dispatch each.

use std::sync::{Arc, OnceLock};

use super::batch_members::SharedInstances;
use super::compute::{LazyPipelines, layout, pipeline};
use super::cull::Views;
use super::gpu::Gpu;
use super::layouts::{MATRIX_BYTES, PLAYBACK_BYTES, bind_group, storage, uniform};
use crate::Time;
use crate::batch::{BatchFrame, BatchedCrowd};
use crate::cull::{self, CullScope, CullView, DRAWS_AT, GROUP_SIZE, MAX_VIEWS};
use crate::local::shader::{self, PaletteUniform, Scratch};

const LABEL: Option<&str> = Some("gpuskin batch");
/// Storage buffers that the culling pass of a batch binds.
pub(crate) const STORAGE_BUFFERS: u32 = 7;

/// Feature with which the device reads the number of draws of a call. It executes at most as many as the
/// call says, and these are all: the number on the device is larger. The calls are still worth it, because
/// wgpu checks each draw of other indirect calls, on the CPU too: about 50 ns per draw, and 200 models of 8
/// parts and 8 LODs are 12,800 draws per view. A number that is smaller would also count for later indirect
/// draws of the pass on lavapipe (Mesa 22.3).
pub(crate) const COUNTED_DRAWS: wgpu::Features = wgpu::Features::MULTI_DRAW_INDIRECT_COUNT;

/// Pipelines of the passes of a batch, each compiled on first use.
#[derive(Debug)]
pub(crate) struct BatchPipelines {
    device: wgpu::Device,
    cull: BatchPipeline,
    arguments: BatchPipeline,
    palette_layout: wgpu::BindGroupLayout,
    /// Palette passes, by [`Scratch::index`].
    palettes: [OnceLock<wgpu::ComputePipeline>; Scratch::COUNT],
    /// Second pass of occlusion culling: culling, and arguments.
    reveal: OnceLock<[wgpu::ComputePipeline; 2]>,
    /// Number on the device that exceeds that of all draws; `None` if the device reads no numbers of draws.
    unlimited: Option<wgpu::Buffer>,
}

/// Pipeline of one pass, with the layout of its bind group.
#[derive(Debug)]
struct BatchPipeline {
    layout: wgpu::BindGroupLayout,
    compiled: OnceLock<wgpu::ComputePipeline>,
}

impl BatchPipelines {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let frame = uniform(size_of::<BatchFrame>() as u64, false);
        let views = uniform(MAX_VIEWS as u64 * size_of::<CullView>() as u64, false);
        let (read, write) = (storage(true, false), storage(false, false));
        let parameters = uniform(size_of::<PaletteUniform>() as u64, false);
        let with =
            |bindings: &[_]| BatchPipeline { layout: layout(device, LABEL, bindings), compiled: OnceLock::new() };
        Self {
            device: device.clone(),
            cull: with(&[frame, read, views, read, write, write, read, read, read]),
            arguments: with(&[frame, read, write, write, write, write, read]),
            palette_layout: layout(device, LABEL, &[parameters, read, read, write, read]),
            palettes: Default::default(),
            reveal: OnceLock::new(),
            unlimited: device.features().contains(COUNTED_DRAWS).then(|| {
                let descriptor = wgpu::BufferDescriptor {
                    label: LABEL,
                    size: 4,
                    usage: wgpu::BufferUsages::INDIRECT,
                    mapped_at_creation: true,
                };
                let unlimited = device.create_buffer(&descriptor);
                // It fails only on a lost device, which draws nothing.
                if let Ok(mut bytes) = unlimited.get_mapped_range_mut(..) {
                    bytes.copy_from_slice(bytemuck::bytes_of(&i32::MAX));
                }
                unlimited.unmap();
                unlimited
            }),
        }
    }

    fn compiled<'a>(
        &'a self,
        pass: &'a BatchPipeline,
        text: impl FnOnce() -> String,
        entry: &str,
    ) -> &'a wgpu::ComputePipeline {
        pass.compiled.get_or_init(|| pipeline(&self.device, LABEL, (&text(), entry), &[&pass.layout]))
    }

    pub(crate) fn cull(&self) -> &wgpu::ComputePipeline {
        self.compiled(&self.cull, || cull::cull(CullScope::Batch), cull::CULL_ENTRY_POINT)
    }

    pub(crate) fn arguments(&self) -> &wgpu::ComputePipeline {
        self.compiled(&self.arguments, || cull::arguments(CullScope::Batch), cull::ARGUMENTS_ENTRY_POINT)
    }

    /// Palette pass. `scratch`: in workgroup memory.
    pub(crate) fn palette(&self, scratch: Scratch) -> &wgpu::ComputePipeline {
        self.palettes[scratch.index()].get_or_init(|| {
            let text = shader::batch_palette(scratch, &cull::batch_table());
            pipeline(&self.device, LABEL, (&text, shader::ENTRY_POINT), &[&self.palette_layout])
        })
    }

    /// Whether all pipelines but those of the second pass are compiled. `scratch`: of the palette pass.
    pub(crate) fn are_compiled(&self, scratch: Scratch) -> bool {
        let palette = self.palettes[scratch.index()].get();
        [self.cull.compiled.get(), self.arguments.compiled.get(), palette].iter().all(Option::is_some)
    }

    /// Pipelines of the second pass. `pyramid`: bind group layout of the depth pyramid.
    pub(crate) fn reveal(&self, pyramid: &wgpu::BindGroupLayout) -> &[wgpu::ComputePipeline; 2] {
        self.reveal.get_or_init(|| {
            let (culls, writes) = (cull::reveal(CullScope::Batch), cull::arguments(CullScope::Batch));
            let (cull_groups, write_groups) = ([&self.cull.layout, pyramid], [&self.arguments.layout]);
            [
                pipeline(&self.device, LABEL, (&culls, cull::REVEAL_ENTRY_POINT), &cull_groups),
                pipeline(&self.device, LABEL, (&writes, cull::REVEALED_ARGUMENTS_ENTRY_POINT), &write_groups),
            ]
        })
    }
}

/// Contents of the buffers of a batch that stay the same.
pub(crate) struct BatchContents<'a> {
    pub(crate) frame: &'a BatchFrame,
    /// Number of sets of lists.
    pub(crate) sets: u32,
    /// Animation of all models.
    pub(crate) words: wgpu::Buffer,
    /// Memory for the node matrices of the model that has the most.
    pub(crate) scratch: Scratch,
    /// Bounds of the clips of all crowds.
    pub(crate) bounds: &'a [u32],
    /// Arguments of the draws of a set: `[crowd][part][lod]`, and in drawing order.
    pub(crate) draws: [&'a [u32]; 2],
    /// Place of each draw in the drawing order.
    pub(crate) order: &'a [u32],
}

/// Buffers and bind groups of the passes of a batch.
#[derive(Debug)]
pub(crate) struct BatchPasses {
    pipelines: Arc<LazyPipelines<BatchPipelines>>,
    scratch: Scratch,
    frame: wgpu::Buffer,
    parameters: wgpu::Buffer,
    crowds: wgpu::Buffer,
    groups: wgpu::Buffer,
    pub(crate) lists: wgpu::Buffer,
    pub(crate) palette: wgpu::Buffer,
    /// Indirect arguments of the palette pass, then of the draws: `[set][crowd][part][lod]`.
    pub(crate) arguments: wgpu::Buffer,
    /// Indirect arguments of the draws in drawing order: `[set][draw]`.
    pub(crate) ordered_arguments: wgpu::Buffer,
    cull: wgpu::BindGroup,
    write: wgpu::BindGroup,
    pose: wgpu::BindGroup,
    max_groups: u32,
}

impl BatchPasses {
    pub(crate) fn new(
        Gpu { device, queue }: Gpu<'_>,
        views: &Views,
        pipelines: &Arc<LazyPipelines<BatchPipelines>>,
        crowds: &[BatchedCrowd],
        contents: BatchContents<'_>,
        instances: &SharedInstances,
    ) -> Self {
        use wgpu::BufferUsages as Usages;
        let buffer = |size: u64, usage| {
            // wgpu cannot bind an empty buffer.
            let size = size.max(16);
            device.create_buffer(&wgpu::BufferDescriptor { label: LABEL, size, usage, mapped_at_creation: false })
        };
        let written = |bytes: &[u8], usage| {
            let buffer = buffer(bytes.len() as u64, usage | Usages::COPY_DST);
            queue.write_buffer(&buffer, 0, bytes);
            buffer
        };
        let BatchContents { frame, sets, words, scratch, bounds, draws: [of_set, ordered], order } = contents;
        let capacity: u64 = crowds.iter().map(|crowd| u64::from(crowd.culling.capacity)).sum();
        let of_crowd = |crowd: &BatchedCrowd| u64::from(crowd.culling.capacity) * u64::from(crowd.stride);
        let matrices: u64 = crowds.iter().map(of_crowd).sum();
        let bounds = written(bytemuck::cast_slice(bounds), Usages::STORAGE);
        let table = written(bytemuck::cast_slice(crowds), Usages::STORAGE);
        let groups = buffer(capacity.div_ceil(GROUP_SIZE.into()) * 8, Usages::STORAGE | Usages::COPY_DST);
        let visible = buffer(capacity * PLAYBACK_BYTES, Usages::STORAGE);
        let palette = buffer(matrices * MATRIX_BYTES, Usages::STORAGE);
        // Zero-initialised: with occlusion culling, no instance was visible before.
        let sets_words = u64::from(sets) * u64::from(frame.set_words);
        let lists = buffer((u64::from(frame.sets_at) + sets_words) * 4, Usages::STORAGE);
        let arguments = buffer(
            DRAWS_AT + u64::from(sets) * size_of_val(of_set) as u64,
            Usages::STORAGE | Usages::INDIRECT | Usages::COPY_DST | Usages::COPY_SRC,
        );
        // The palette pass counts poses per instance along z.
        let along_z = crowds.iter().map(|crowd| 1 + u32::from(crowd.previous_offset > 0)).max().unwrap_or(1);
        let mut first_arguments = vec![0, 1, along_z];
        first_arguments.resize(DRAWS_AT as usize / 4, 0);
        first_arguments.extend(of_set.repeat(sets as usize));
        queue.write_buffer(&arguments, 0, bytemuck::cast_slice(&first_arguments));
        let ordered = ordered.repeat(sets as usize);
        let ordered_arguments = written(bytemuck::cast_slice(&ordered), Usages::STORAGE | Usages::INDIRECT);
        let order = written(bytemuck::cast_slice(order), Usages::STORAGE);
        let uniform = |size: usize, usage| buffer(size as u64, Usages::UNIFORM | Usages::COPY_DST | usage);
        let frame = uniform(size_of::<BatchFrame>(), Usages::empty());
        let parameters = uniform(size_of::<PaletteUniform>(), Usages::STORAGE);

        let group = |layout, buffers: &[&wgpu::Buffer]| {
            let resources: Vec<_> = buffers.iter().map(|buffer| buffer.as_entire_binding()).collect();
            bind_group(device, LABEL, layout, &resources)
        };
        let SharedInstances { places, playbacks, .. } = instances;
        let culling = [&frame, &table, &views.buffer, places, &visible, &lists, playbacks, &bounds, &groups];
        let made = pipelines.get();
        let cull = group(&made.cull.layout, &culling);
        let writes = [&frame, &table, &lists, &arguments, &parameters, &ordered_arguments, &order];
        let write = group(&made.arguments.layout, &writes);
        let pose = group(&made.palette_layout, &[&parameters, &words, &visible, &palette, &table]);
        let max_groups = device.limits().max_compute_workgroups_per_dimension;
        let pipelines = pipelines.clone();
        Self {
            pipelines,
            scratch,
            frame,
            parameters,
            crowds: table,
            groups,
            lists,
            palette,
            arguments,
            ordered_arguments,
            cull,
            write,
            pose,
            max_groups,
        }
    }

    /// Number on the device that exceeds that of all draws; `None` if the device reads no numbers of draws.
    pub(crate) fn unlimited(&self) -> Option<&wgpu::Buffer> {
        self.pipelines.get().unlimited.as_ref()
    }

    /// Writes the table of crowds, and the crowd and first instance of each workgroup.
    pub(crate) fn write(&self, queue: &wgpu::Queue, crowds: &[BatchedCrowd], groups: &[[u32; 2]]) {
        queue.write_buffer(&self.crowds, 0, bytemuck::cast_slice(crowds));
        queue.write_buffer(&self.groups, 0, bytemuck::cast_slice(groups));
    }

    /// Culls all crowds and evaluates the poses of visible instances. `times`: current and previous time.
    pub(crate) fn record(
        &self,
        queue: &wgpu::Queue,
        pass: &mut wgpu::ComputePass<'_>,
        frame: &BatchFrame,
        times: [Time; 2],
    ) {
        queue.write_buffer(&self.frame, 0, bytemuck::bytes_of(frame));
        let parameters = PaletteUniform {
            time: times[0].words(),
            previous_time: times[1].words(),
            max_groups: self.max_groups,
            ..PaletteUniform::default()
        };
        queue.write_buffer(&self.parameters, 0, bytemuck::bytes_of(&parameters));
        let pipelines = self.pipelines.get();
        self.dispatch(pass, [pipelines.cull(), pipelines.arguments()], frame);
    }

    /// Second pass with occlusion culling, after [`BatchPasses::record`]. `pyramid`: layout and bind group
    /// of the depth pyramid.
    pub(crate) fn reveal(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        (layout, pyramid): (&wgpu::BindGroupLayout, &wgpu::BindGroup),
        frame: &BatchFrame,
    ) {
        let [reveal, arguments] = self.pipelines.get().reveal(layout);
        pass.set_bind_group(1, pyramid, &[]);
        self.dispatch(pass, [reveal, arguments], frame);
    }

    fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>, pipelines: [&wgpu::ComputePipeline; 2], frame: &BatchFrame) {
        if frame.groups > 0 {
            let across = frame.groups.min(self.max_groups).max(1);
            pass.set_pipeline(pipelines[0]);
            pass.set_bind_group(0, &self.cull, &[]);
            pass.dispatch_workgroups(across, frame.groups.div_ceil(across), 1);
        }
        pass.set_pipeline(pipelines[1]);
        pass.set_bind_group(0, &self.write, &[]);
        pass.dispatch_workgroups(frame.crowds, 1, 1);
        pass.set_pipeline(self.pipelines.get().palette(self.scratch));
        pass.set_bind_group(0, &self.pose, &[]);
        pass.dispatch_workgroups_indirect(&self.arguments, 0);
    }
}
