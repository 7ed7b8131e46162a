//! Choice of the crowds whose passes are merged.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};

use super::batch::{self, Batch};
use super::batch_compiling::BatchCompiler;
use super::batch_members::Member;
use super::batch_passes::STORAGE_BUFFERS;
use super::compute::LazyPipelines;
use super::crowd_core::CrowdCore;
use super::cull::Views;
use super::error::Error;
use super::gpu::Gpu;
use super::gpu_model::GpuModel;
use super::layouts::Layouts;
use super::pipelines::{PassKind, PipelineCache};
use super::scatter::ScatterPipeline;
use super::staging::Uploads;
use crate::{Time, View};

/// New crowds join a batch that is at most this many times as large as they are.
const GROWTH: usize = 4;
/// New crowds join a batch if both have at most this many crowds.
const SMALL: usize = 16;

/// Batches of a renderer. Two or more crowds of small models are merged; a single crowd, and crowds with
/// layers, a pose cache or compute passes of the game, are drawn by themselves.
///
/// A batch cannot grow. New crowds get a batch of their own, into which earlier batches are merged that are not much
/// larger: one crowd beside two hundred does not stall a frame, and the number of batches grows with the logarithm of
/// the number of crowds.
#[derive(Debug)]
pub(crate) struct Batching {
    batches: Vec<BatchedCrowds>,
    compiler: BatchCompiler,
    /// Whether crowds have been prepared. From then on, no frame waits for pipelines of batches.
    is_drawing: bool,
    /// Views that the batches are made for.
    views: usize,
    /// Crowds of which the batches were made.
    wanted: Vec<(Weak<CrowdCore>, Needs)>,
}

#[derive(Debug)]
struct BatchedCrowds {
    batch: Batch,
    /// Crowds in their places; `None` once a crowd has left.
    crowds: Vec<Place>,
}

type Place = Option<(Weak<CrowdCore>, Needs)>;

/// Room for instances, and reach of attachments, of a crowd in a batch.
type Needs = (u32, f32);

impl Batching {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        let compiler = BatchCompiler::new(device);
        Self { batches: Vec::new(), compiler, is_drawing: false, views: 0, wanted: Vec::new() }
    }

    /// Forms batches of the crowds of a renderer, if anything has changed. Called before crowds upload. `pyramid`: bind
    /// group layout of the depth pyramid, with occlusion culling.
    ///
    /// # Errors
    /// If the device could not create pipelines. Crowds that need them are drawn by themselves.
    pub(super) fn update(
        &mut self,
        gpu: Gpu<'_>,
        (layouts, pipelines): (&Layouts, &mut PipelineCache),
        (views, pyramid): (Option<&Views>, Option<&wgpu::BindGroupLayout>),
        crowds: &[Arc<CrowdCore>],
    ) -> Result<(), Error> {
        let limits = gpu.device.limits();
        let able = limits.max_storage_buffers_per_shader_stage >= STORAGE_BUFFERS
            && limits.min_storage_buffer_offset_alignment <= 256;
        let views = views.filter(|views| able && views.lods_at_once);
        let needs = |crowd: &Arc<CrowdCore>| Some((crowd.clone(), views.and(crowd.batch_needs())?));
        let mut wanted: Vec<(Arc<CrowdCore>, Needs)> = crowds.iter().filter_map(needs).collect();
        let mut result = Ok(());
        if wanted.len() >= 2 {
            let (able, at_once) = (wanted.iter().map(|(crowd, _)| crowd), !self.is_drawing);
            result = self.compiler.compile(gpu.device, (layouts, pipelines), pyramid, able, at_once);
            wanted.retain(|(crowd, _)| crowd.model.batched.get().is_some());
        }
        if wanted.len() < 2 {
            wanted.clear();
        }
        self.is_drawing |= !crowds.is_empty();
        let views_differ = views.is_some_and(|views| views.count != self.views);
        let known = self.wanted.iter().map(|(crowd, needs)| (crowd.as_ptr(), *needs));
        if !views_differ && known.eq(wanted.iter().map(|(crowd, needs)| (Arc::as_ptr(crowd), *needs))) {
            return result;
        }
        self.wanted = wanted.iter().map(|(crowd, needs)| (Arc::downgrade(crowd), *needs)).collect();
        let alive = |batch: &BatchedCrowds| -> Vec<_> { batch.crowds.iter().map(upgrade).collect() };
        let before: Vec<_> = self.batches.iter().flat_map(alive).collect();
        if views_differ {
            self.batches.clear();
        }
        let stays: HashMap<_, _> = wanted.iter().map(|(crowd, needs)| (Arc::as_ptr(crowd), *needs)).collect();
        self.batches.retain_mut(|batch| batch.keep(|crowd, needs| stays.get(&crowd) == Some(&needs)));
        if let Some(views) = views {
            self.views = views.count;
            let new = self.unbatched(&wanted, gpu.device, views);
            self.form(gpu, layouts, views, &new);
        }
        let held = self.held();
        let left = before.iter().flatten().filter(|crowd| !held.contains(&Arc::as_ptr(crowd)));
        left.for_each(|crowd| crowd.leave_batch());
        result
    }

    /// Crowds of all batches.
    fn held(&self) -> HashSet<*const CrowdCore> {
        self.batches.iter().flat_map(BatchedCrowds::held).collect()
    }

    /// Returns the crowds that are in no batch, in order. Removes the last batches if one batch can hold their crowds
    /// as well.
    fn unbatched(
        &mut self,
        wanted: &[(Arc<CrowdCore>, Needs)],
        device: &wgpu::Device,
        views: &Views,
    ) -> Vec<(Arc<CrowdCore>, Needs)> {
        let mut held = self.held();
        let without = |held: &HashSet<_>| -> Vec<_> {
            wanted.iter().filter(|(crowd, _)| !held.contains(&Arc::as_ptr(crowd))).cloned().collect()
        };
        let mut new = without(&held);
        while let Some(last) = self.batches.last().filter(|_| !new.is_empty()) {
            let len = held.len();
            last.held().for_each(|crowd| _ = held.remove(&crowd));
            let len = len - held.len();
            let is_near = new.len() * GROWTH >= len || new.len() + len <= SMALL;
            let together = without(&held);
            if !is_near || batch::batched(device, sizes(&together), views) < together.len() {
                break;
            }
            new = together;
            self.batches.pop();
        }
        new
    }

    /// Forms batches of crowds whose pipelines are compiled.
    fn form(&mut self, gpu: Gpu<'_>, layouts: &Layouts, views: &Views, wanted: &[(Arc<CrowdCore>, Needs)]) {
        if wanted.is_empty() {
            return;
        }
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut start = 0;
        while start < wanted.len() {
            let all = &wanted[start..];
            let count = batch::batched(gpu.device, sizes(all), views);
            if count == 0 {
                // A crowd that no batch has room for is drawn by itself.
                start += 1;
                continue;
            }
            let all = &all[..count];
            let members = all.iter().map(|(crowd, (capacity, reach))| {
                let pipelines = crowd.model.batched.get().cloned().unwrap_or_default();
                Member { model: &crowd.model, pipelines, capacity: *capacity, reach: *reach }
            });
            let members: Vec<_> = members.collect();
            let passes = self.compiler.passes();
            let (batch, palettes) = Batch::new((gpu, &mut encoder), layouts, views, passes, &members);
            for (i, ((crowd, (room, _)), palettes)) in all.iter().zip(palettes).enumerate() {
                crowd.join_batch((&mut encoder, layouts), (&batch.instances, batch.first_instance(i)), *room, palettes);
            }
            let crowds = all.iter().map(|(crowd, needs)| Some((Arc::downgrade(crowd), *needs))).collect();
            self.batches.push(BatchedCrowds { batch, crowds });
            start += count;
        }
        // By itself: later writes of the queue come before later copies.
        gpu.queue.submit([encoder.finish()]);
    }

    /// Uploads the changes of all crowds. Called after each crowd's own upload.
    pub(super) fn upload(
        &self,
        uploads: &mut Uploads<'_>,
        queue: &wgpu::Queue,
        pipeline: &LazyPipelines<ScatterPipeline>,
    ) {
        self.batches.iter().for_each(|batched| batched.batch.instances.upload(uploads, queue, pipeline));
    }

    /// Culls and evaluates all crowds of all batches. `times`: current and previous time.
    pub(super) fn record(&mut self, queue: &wgpu::Queue, pass: &mut wgpu::ComputePass<'_>, times: [Time; 2]) {
        for BatchedCrowds { batch, crowds } in &mut self.batches {
            let alive: Vec<_> = crowds.iter().map(upgrade).collect();
            let counts: Vec<u32> = alive.iter().map(|c| c.as_ref().map_or(0, |crowd| crowd.uploaded())).collect();
            batch.record(queue, pass, &counts, times);
        }
    }

    /// Second pass with occlusion culling. `pyramid`: layout and bind group of the depth pyramid.
    pub(super) fn reveal(
        &mut self,
        pass: &mut wgpu::ComputePass<'_>,
        pyramid: (&wgpu::BindGroupLayout, &wgpu::BindGroup),
    ) {
        self.batches.iter_mut().for_each(|batched| batched.batch.reveal(pass, pyramid));
    }

    /// Draws all crowds of all batches, without attachments. Group 0 is bound.
    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, view: View, kind: PassKind) {
        self.batches.iter().for_each(|batched| batched.batch.draw(pass, view, kind));
    }

    /// Number of crowds whose passes are merged with those of `crowd`, itself included.
    pub(super) fn merged(&self, crowd: &Arc<CrowdCore>) -> u32 {
        self.batches.iter().find(|batch| batch.has(crowd)).map_or(1, |batch| batch.held().count() as u32)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }
}

impl BatchedCrowds {
    fn held(&self) -> impl Iterator<Item = *const CrowdCore> {
        self.crowds.iter().flatten().map(|(crowd, _)| crowd.as_ptr())
    }

    fn has(&self, crowd: &Arc<CrowdCore>) -> bool {
        self.held().any(|own| core::ptr::eq(own, Arc::as_ptr(crowd)))
    }

    /// Removes the crowds that do not stay. Returns `false` if more places are empty than not: the others are better
    /// off in a new batch.
    fn keep(&mut self, stays: impl Fn(*const CrowdCore, Needs) -> bool) -> bool {
        for place in &mut self.crowds {
            place.take_if(|(crowd, needs)| !stays(crowd.as_ptr(), *needs));
        }
        2 * self.held().count() >= self.crowds.len()
    }
}

fn upgrade(place: &Place) -> Option<Arc<CrowdCore>> {
    place.as_ref()?.0.upgrade()
}

/// Models of crowds, and the room that their instances need.
fn sizes(crowds: &[(Arc<CrowdCore>, Needs)]) -> impl Iterator<Item = (&GpuModel, u32)> {
    crowds.iter().map(|(crowd, (capacity, _))| (&*crowd.model, *capacity))
}
