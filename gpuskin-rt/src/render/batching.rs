//! Choice of the crowds whose passes are merged.

use std::collections::HashMap;
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

/// Batches are merged with later ones of at least one crowd per this many of their own. New crowds also take in as many
/// others each.
const GROWTH: usize = 4;
/// Batches that have together at most this many crowds are merged in any case.
const SMALL: usize = 16;
/// Most crowds of a batch that is made of earlier ones, unless there are as many new ones: a frame takes as long as
/// creating and copying them does.
const MERGED: usize = 32;
/// Batches that wait for a frame without new crowds, at most. With more of them, a frame that has some merges them.
const WAITING: usize = 3;

/// Batches of a renderer. Two or more crowds of small models are merged; a single crowd, and crowds with
/// layers, a pose cache or compute passes of the game, are drawn by themselves.
///
/// A batch cannot grow. New crowds get a batch of their own, which takes in few others; those that it could be merged
/// with wait for a frame without new crowds, because a frame with some loads their models. So one crowd beside two
/// hundred does not stall a frame.
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
    /// Whether small batches wait to be merged.
    waits: bool,
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
        Self { batches: Vec::new(), compiler, is_drawing: false, views: 0, wanted: Vec::new(), waits: false }
    }

    /// Forms batches of the crowds of a renderer, if anything has changed. Called before crowds upload. `pyramid`: bind
    /// group layout of the depth pyramid, with occlusion culling.
    ///
    /// # Errors
    /// If the device could not create pipelines. Crowds that need them are drawn by themselves.
    pub(super) fn update(
        &mut self,
        gpu: Gpu<'_>,
        (layouts, pipelines): (&Arc<Layouts>, &mut PipelineCache),
        (views, pyramid): (Option<&Views>, Option<&wgpu::BindGroupLayout>),
        crowds: &[Arc<CrowdCore>],
        uploads: &mut Uploads<'_>,
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
        let same = |known: &Weak<CrowdCore>, crowd: &Arc<CrowdCore>| core::ptr::eq(known.as_ptr(), Arc::as_ptr(crowd));
        let pairs = self.wanted.iter().zip(&wanted);
        let known = pairs.take_while(|(known, crowd)| same(&known.0, &crowd.0) && known.1 == crowd.1).count();
        let stays = known == self.wanted.len() && !views_differ;
        if stays && known == wanted.len() && !self.waits {
            return result;
        }
        // Usually, crowds are added, and nothing else changes.
        let before = if stays { Vec::new() } else { self.drop_changed(&wanted, views_differ) };
        let new = wanted[known..].iter().map(|(crowd, needs)| (Arc::downgrade(crowd), *needs));
        self.wanted.truncate(known);
        self.wanted.extend(new);
        if let Some(views) = views {
            self.views = views.count;
            let new = self.unbatched(&wanted, gpu.device, views);
            self.form((gpu, uploads), layouts, views, &new);
        } else {
            self.waits = false;
        }
        if !before.is_empty() {
            let numbers = self.numbers();
            let left = before.iter().filter(|crowd| !numbers.contains_key(&Arc::as_ptr(crowd)));
            left.for_each(|crowd| crowd.leave_batch());
        }
        result
    }

    /// Removes crowds that are not wanted as they are, and batches that have more gaps than crowds, or all of them.
    /// Returns the crowds that were in a batch.
    fn drop_changed(&mut self, wanted: &[(Arc<CrowdCore>, Needs)], all: bool) -> Vec<Arc<CrowdCore>> {
        let before = self.batches.iter().flat_map(|batch| batch.crowds.iter().filter_map(upgrade)).collect();
        if all {
            self.batches.clear();
        }
        let stays: HashMap<_, _> = wanted.iter().map(|(crowd, needs)| (Arc::as_ptr(crowd), *needs)).collect();
        self.batches.retain_mut(|batch| batch.keep(|crowd, needs| stays.get(&crowd) == Some(&needs)));
        before
    }

    /// Number of the batch of each crowd that is in one.
    fn numbers(&self) -> HashMap<*const CrowdCore, usize> {
        let mut numbers = HashMap::with_capacity(self.wanted.len());
        for (number, batch) in self.batches.iter().enumerate() {
            numbers.extend(batch.held().map(|crowd| (crowd, number)));
        }
        numbers
    }

    /// Returns the crowds that are to form a batch, in order: those that are in none, and those of the last batches, which
    /// are removed, as far as they are merged.
    fn unbatched(
        &mut self,
        wanted: &[(Arc<CrowdCore>, Needs)],
        device: &wgpu::Device,
        views: &Views,
    ) -> Vec<(Arc<CrowdCore>, Needs)> {
        let (count, numbers) = (self.batches.len(), self.numbers());
        // New crowds follow those of the last batch. One that no batch has room for is drawn by itself.
        let number = |crowd: &(Arc<CrowdCore>, Needs)| {
            let fits = || batch::batched(device, sizes(core::slice::from_ref(crowd)), views) == 1;
            numbers.get(&Arc::as_ptr(&crowd.0)).copied().or_else(|| fits().then_some(count))
        };
        let numbers: Vec<Option<usize>> = wanted.iter().map(number).collect();
        let from = |first: usize| -> Vec<_> {
            let crowds = wanted.iter().zip(&numbers).filter(|(_, number)| number.is_some_and(|number| number >= first));
            crowds.map(|(crowd, _)| crowd.clone()).collect()
        };
        let mut lens = vec![0; count + 1];
        numbers.iter().flatten().for_each(|number| lens[*number] += 1);
        let new = lens[count];
        if new == 0 {
            lens.pop();
        }
        let waits = core::mem::take(&mut self.waits);
        let Some(start) = lens.len().checked_sub(1).filter(|_| new > 0 || waits) else { return Vec::new() };
        let merges =
            |len: usize, before: usize| len + before <= SMALL || len + before <= MERGED && len * GROWTH >= before;
        let all =
            lens[..start].iter().rev().scan(lens[start], |len, before| merges(*len, *before).then(|| *len += before));
        let now = new == 0 || all.count() > WAITING;
        let (mut first, mut len) = (start, lens[start]);
        while let Some(last) = first.checked_sub(1) {
            let together = len + lens[last];
            let joins = together <= new * (1 + GROWTH) || now && merges(len, lens[last]);
            if !joins || batch::batched(device, sizes(&from(last)), views) < together {
                break;
            }
            (first, len) = (last, together);
        }
        self.waits = !now && first > 0 && merges(len, lens[first - 1]);
        if new == 0 && first == start {
            return Vec::new();
        }
        self.batches.truncate(first);
        from(first)
    }

    /// Forms batches of crowds whose pipelines are compiled.
    fn form(
        &mut self,
        (gpu, uploads): (Gpu<'_>, &mut Uploads<'_>),
        layouts: &Arc<Layouts>,
        views: &Views,
        wanted: &[(Arc<CrowdCore>, Needs)],
    ) {
        if wanted.is_empty() {
            return;
        }
        // Instances move to buffers that the queue writes to in this frame. Its writes come before copies that are
        // submitted later, so these are submitted now.
        let moves = wanted.iter().any(|(crowd, _)| crowd.has_buffers());
        let mut own = moves.then(|| gpu.device.create_command_encoder(&Default::default()));
        let encoder = own.as_mut().unwrap_or_else(|| uploads.encoder());
        let mut start = 0;
        while start < wanted.len() {
            let all = &wanted[start..];
            // Each has room by itself.
            let count = batch::batched(gpu.device, sizes(all), views).max(1);
            let all = &all[..count];
            let members = all.iter().map(|(crowd, (capacity, reach))| {
                let pipelines = crowd.model.batched.get().cloned().unwrap_or_default();
                Member { model: &crowd.model, pipelines, capacity: *capacity, reach: *reach }
            });
            let members: Vec<_> = members.collect();
            let passes = self.compiler.passes();
            let (batch, palettes) = Batch::new((gpu, &mut *encoder), layouts, views, passes, &members);
            for (i, ((crowd, (room, _)), palettes)) in all.iter().zip(palettes).enumerate() {
                crowd.join_batch(
                    (&mut *encoder, layouts),
                    (&batch.instances, batch.first_instance(i)),
                    *room,
                    palettes,
                );
            }
            let crowds = all.iter().map(|(crowd, needs)| Some((Arc::downgrade(crowd), *needs))).collect();
            self.batches.push(BatchedCrowds { batch, crowds });
            start += count;
        }
        if let Some(encoder) = own {
            gpu.queue.submit([encoder.finish()]);
        }
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
