//! Batch: crowds of different models whose culling and poses are merged into one dispatch each.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::batch_draws::{BatchDraws, DrawPlan};
use super::batch_members::{Member, SharedInstances};
use super::batch_passes::{BatchContents, BatchPasses, BatchPipelines};
use super::batched_palette::BatchedPalette;
use super::compute::LazyPipelines;
use super::cull::{CulledDraws, Views, draw_arguments};
use super::gpu::Gpu;
use super::gpu_model::GpuModel;
use super::layouts::{Layouts, MATRIX_BYTES, PLACE_BYTES, PLAYBACK_BYTES};
use super::palette::PoseEvaluator;
use super::palettes::Palettes;
use super::pipelines::PassKind;
use crate::batch::{BatchFrame, BatchedCrowd, LENGTHS_AT, LENGTHS_HEADER, MAX_BATCHED_INSTANCES};
use crate::cull::{DRAW_BYTES, DRAWS_AT, ENTRY_BYTES, GROUP_SIZE, expand_bounds};
use crate::local::shader::Scratch;
use crate::{Time, View};

/// Crowds of different models whose passes are merged.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) instances: SharedInstances,
    crowds: Vec<BatchedCrowd>,
    frame: BatchFrame,
    /// Number of instances per crowd, of which the table on the device is made.
    counts: Vec<u32>,
    passes: BatchPasses,
    draws: BatchDraws,
    /// Number of views.
    views: u32,
    /// Whether the second pass of this frame has run.
    revealed: bool,
}

/// Sizes of the buffers of a batch, as far as devices limit them.
#[derive(Clone, Copy, Default)]
struct Sizes {
    instances: u64,
    matrices: u64,
    words: u64,
    /// Words of the lists' lengths and marks, and words of all sets of lists.
    lengths: u64,
    lists: u64,
    /// Draws per set of lists.
    draws: u64,
}

impl Sizes {
    /// Sizes with one more crowd, of a model and with room for `capacity` instances.
    fn with(self, (model, capacity): (&GpuModel, u32), views: &Views) -> Self {
        let capacity = u64::from(capacity);
        let (sets, lods) = (views.sets() as u64, views.lods(&model.geometry.cull_mesh()) as u64);
        let poses = model.geometry.poses();
        let marks = if views.occlusion { capacity } else { 0 };
        Self {
            instances: self.instances + capacity,
            matrices: self.matrices + capacity * poses.map_or(0, |poses| u64::from(poses.stride())),
            words: self.words + poses.map_or(0, |poses| poses.words().size()),
            lengths: self.lengths + u64::from(LENGTHS_HEADER) + sets * lods + marks,
            lists: self.lists + sets * lods * capacity * ENTRY_BYTES / 4,
            draws: self.draws + lods * model.geometry.parts.len() as u64,
        }
    }

    /// Whether a device can bind buffers of these sizes.
    fn fit(self, binding: u64) -> bool {
        let lists = (u64::from(LENGTHS_AT) + self.lengths + self.lists + 64) * 4;
        // A list of all changed instances has their indices as well.
        let all = [self.instances * (PLAYBACK_BYTES + 4) + 8, self.matrices * MATRIX_BYTES, self.words, lists];
        // Indices of drawn instances have 16 bits for the number of the draw.
        let numbered = self.draws <= MAX_BATCHED_INSTANCES.into();
        numbered && all.into_iter().all(|bytes| bytes <= binding.min(u32::MAX.into()))
    }
}

/// Returns how many crowds, from the first one on, one batch can hold on a device. `crowds`: models, and room for
/// instances.
pub(crate) fn batched<'a>(
    device: &wgpu::Device,
    crowds: impl Iterator<Item = (&'a GpuModel, u32)>,
    views: &Views,
) -> usize {
    let limits = device.limits();
    let binding = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
    let mut sizes = Sizes::default();
    let fits = |crowd: &(&'a GpuModel, u32)| {
        sizes = sizes.with(*crowd, views);
        sizes.fit(binding)
    };
    let groups = limits.max_compute_workgroups_per_dimension as usize;
    crowds.take_while(fits).count().min(groups)
}

impl Batch {
    /// Creates a batch of crowds, which copies in `encoder` fill. Returns the palettes of each crowd, which
    /// draw it by itself.
    pub(crate) fn new(
        (gpu, encoder): (Gpu<'_>, &mut wgpu::CommandEncoder),
        layouts: &Arc<Layouts>,
        views: &Views,
        pipelines: &Arc<LazyPipelines<BatchPipelines>>,
        members: &[Member<'_>],
    ) -> (Self, Vec<Palettes>) {
        let device = gpu.device;
        let sets = views.sets() as u32;
        let mut crowds: Vec<BatchedCrowd> = Vec::with_capacity(members.len());
        let mut bounds: Vec<u32> = Vec::new();
        let (mut instances, mut lengths, mut lists, mut matrices, mut draws) = (0, LENGTHS_AT, 0, 0, 0);
        for member in members {
            let mesh = member.model.geometry.cull_mesh();
            let (stride, previous_offset) =
                member.model.geometry.poses().map_or((0, 0), |poses| (poses.stride(), poses.previous_offset()));
            let mut culling = views.constants(device, &mesh);
            (culling.capacity, culling.palette_slots) = (member.capacity, member.capacity);
            let lengths_at = lengths;
            lengths += LENGTHS_HEADER + sets * culling.lods;
            if views.occlusion {
                culling.marks_at = lengths;
                lengths += member.capacity;
            }
            crowds.push(BatchedCrowd {
                culling,
                first_instance: instances,
                lengths_at,
                lists_at: lists,
                bounds_at: bounds.len() as u32 / 4,
                words_at: 0,
                palette_at: matrices,
                stride,
                previous_offset,
                draws_at: draws,
                ..BatchedCrowd::default()
            });
            bounds.extend(expand_bounds(member.model.geometry.bounds.as_deref().unwrap_or_default(), member.reach));
            instances += member.capacity;
            lists += culling.lods * member.capacity * (ENTRY_BYTES / 4) as u32;
            matrices += member.capacity * stride;
            draws += culling.parts * culling.lods;
        }
        let frame = BatchFrame {
            sets_at: lengths.next_multiple_of(64),
            set_words: lists,
            draws,
            crowds: crowds.len() as u32,
            ..BatchFrame::default()
        };

        let of_set: Vec<u32> = members
            .iter()
            .zip(&crowds)
            .flat_map(|(member, crowd)| {
                draw_arguments(&member.model.geometry.lods[..crowd.culling.lods as usize], member.capacity, 1)
            })
            .collect();
        let buffer = |label, bytes| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: u64::from(instances) * bytes,
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let previous = members.iter().any(|member| member.model.geometry.variant.previous_transforms);
        let instances = SharedInstances {
            places: buffer("gpuskin place records of a batch", PLACE_BYTES),
            playbacks: buffer("gpuskin playback records of a batch", PLAYBACK_BYTES),
            previous: previous.then(|| buffer("gpuskin previous place records of a batch", PLACE_BYTES)),
            changes: Arc::default(),
        };
        let words = copy_words((device, encoder), members, &mut crowds);
        let plan = DrawPlan::new((device, encoder), layouts, members, &crowds);
        let draws = [&of_set[..], &plan.of_set];
        let scratch = members.iter().map(|member| member.model.geometry.scratch()).max().unwrap_or(Scratch::of(0));
        let contents =
            BatchContents { frame: &frame, sets, words, scratch, bounds: &bounds, draws, order: &plan.order };
        let passes = BatchPasses::new(gpu, views, pipelines, &crowds, contents, &instances);
        let draws = BatchDraws::new(gpu, layouts, plan, members, (&crowds, frame), (&passes, &instances));

        let palettes = members.iter().zip(&crowds).map(|(member, crowd)| {
            let set_bytes = u64::from(frame.set_words) * 4;
            let culled = CulledDraws {
                arguments: passes.arguments.clone(),
                draws_at: DRAWS_AT + u64::from(crowd.draws_at) * DRAW_BYTES,
                draws_set: u64::from(frame.draws) * DRAW_BYTES,
                lists_at: (u64::from(frame.sets_at) + u64::from(crowd.lists_at)) * 4,
                lists_set: set_bytes,
                constants: crowd.culling,
                step: member.capacity,
            };
            let palette = BatchedPalette {
                device: device.clone(),
                layouts: layouts.clone(),
                model: member.model.clone(),
                instances: instances.clone(),
                lists: passes.lists.clone(),
                list_bytes: culled.bound_bytes(),
                palette: passes.palette.clone(),
                crowd: *crowd,
                made: OnceLock::new(),
            };
            Palettes::in_batch(palette, culled)
        });
        let palettes = palettes.collect();
        let counts = vec![u32::MAX; crowds.len()];
        let views = views.count as u32;
        (Self { instances, crowds, frame, counts, passes, draws, views, revealed: false }, palettes)
    }

    /// Number of the first instance of a crowd in the shared buffers.
    pub(crate) fn first_instance(&self, crowd: usize) -> u32 {
        self.crowds[crowd].first_instance
    }

    /// Culls and evaluates all crowds. `counts`: number of instances of each. `times`: current and
    /// previous time. With occlusion culling, the first pass draws all instances in view if the last frame had no second pass.
    pub(crate) fn record(
        &mut self,
        queue: &wgpu::Queue,
        pass: &mut wgpu::ComputePass<'_>,
        counts: &[u32],
        times: [Time; 2],
    ) {
        if self.counts != counts {
            self.counts.clear();
            self.counts.extend_from_slice(counts);
            let mut groups: Vec<[u32; 2]> = Vec::new();
            for (i, (crowd, &count)) in (0..).zip(self.crowds.iter_mut().zip(counts)) {
                crowd.culling.instances = count;
                groups.extend((0..count).step_by(GROUP_SIZE as usize).map(|first| [i, first]));
            }
            self.frame.groups = groups.len() as u32;
            self.passes.write(queue, &self.crowds, &groups);
        }
        let ignore_marks = !core::mem::take(&mut self.revealed);
        let frame = BatchFrame { time: times[0].words(), ignore_marks: ignore_marks.into(), ..self.frame };
        self.passes.record(queue, pass, &frame, times);
    }

    /// Second pass with occlusion culling.
    pub(crate) fn reveal(
        &mut self,
        pass: &mut wgpu::ComputePass<'_>,
        pyramid: (&wgpu::BindGroupLayout, &wgpu::BindGroup),
    ) {
        self.revealed = true;
        self.passes.reveal(pass, pyramid, &self.frame);
    }

    /// Draws all crowds, as far as they are visible in a view. Group 0 is bound.
    pub(crate) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, view: View, kind: PassKind) {
        // As in CulledDraws: a view added since has the lists of all views.
        let all = if self.views > 1 { self.views } else { 0 };
        let set = match view {
            View::REVEALED if self.revealed => all + 1,
            View::REVEALED => return,
            View(index) if index < self.views as usize => index as u32,
            View(_) => all,
        };
        self.draws.draw(pass, set, kind);
    }
}

/// Copies the animation of each model into one buffer, and sets where each crowd's is.
fn copy_words(
    (device, encoder): (&wgpu::Device, &mut wgpu::CommandEncoder),
    members: &[Member<'_>],
    crowds: &mut [BatchedCrowd],
) -> wgpu::Buffer {
    let mut starts: HashMap<*const PoseEvaluator, u64> = HashMap::new();
    let mut copies = Vec::new();
    let mut end = 0;
    for (poses, crowd) in members.iter().zip(crowds).filter_map(|(m, c)| Some((m.model.geometry.poses()?, c))) {
        let start = *starts.entry(Arc::as_ptr(poses)).or_insert_with(|| {
            let start = end;
            copies.push((poses, start));
            end += poses.words().size();
            start
        });
        crowd.words_at = (start / 4) as u32;
    }
    let words = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("gpuskin animation of a batch"),
        size: end.max(4),
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    for (poses, start) in copies {
        encoder.copy_buffer_to_buffer(poses.words(), 0, &words, start, poses.words().size());
    }
    words
}
