//! Choice of the crowds whose passes are merged.

use std::sync::{Arc, Weak};

use super::batch::{self, Batch};
use super::batch_members::Member;
use super::batch_passes::{BatchPipelines, STORAGE_BUFFERS};
use super::compute::LazyPipelines;
use super::crowd_core::CrowdCore;
use super::cull::Views;
use super::gpu::Gpu;
use super::layouts::Layouts;
use super::pipelines::{PassKind, PipelineCache};
use super::scatter::ScatterPipeline;
use super::staging::Uploads;
use super::surface::Surface;
use crate::shader::{InstanceSource, Variant};
use crate::{Time, View};

/// Batches of a renderer. Two or more crowds of small models are merged; a single crowd, and crowds with
/// layers, a pose cache or compute passes of the game, are drawn by themselves.
#[derive(Debug, Default)]
pub(crate) struct Batching {
    batches: Vec<BatchedCrowds>,
    pipelines: Option<Arc<BatchPipelines>>,
    /// Views that the batches are made for.
    views: usize,
}

#[derive(Debug)]
struct BatchedCrowds {
    batch: Batch,
    crowds: Vec<(Weak<CrowdCore>, Needs)>,
}

/// Room for instances, and reach of attachments, of a crowd in a batch.
type Needs = (u32, f32);

impl Batching {
    /// Forms batches of the crowds of a renderer, if anything has changed. Called before crowds upload.
    pub(super) fn update(
        &mut self,
        gpu: Gpu<'_>,
        (layouts, pipelines): (&Layouts, &mut PipelineCache),
        views: Option<&Views>,
        crowds: &[Arc<CrowdCore>],
    ) {
        let limits = gpu.device.limits();
        let able = limits.max_storage_buffers_per_shader_stage >= STORAGE_BUFFERS
            && limits.min_storage_buffer_offset_alignment <= 256;
        let views = views.filter(|views| able && views.lods_at_once);
        let needs = |crowd: &Arc<CrowdCore>| Some((crowd.clone(), views.and(crowd.batch_needs())?));
        let mut wanted: Vec<(Arc<CrowdCore>, Needs)> = crowds.iter().filter_map(needs).collect();
        if wanted.len() < 2 {
            wanted.clear();
        }
        if self.holds(&wanted) && views.is_none_or(|views| views.count == self.views) {
            return;
        }
        let old = core::mem::take(&mut self.batches);
        if let Some(views) = views {
            self.views = views.count;
            self.form(gpu, (layouts, pipelines), views, &wanted);
        }
        let is_batched = |crowd: &Arc<CrowdCore>| self.batches.iter().any(|batch| batch.has(crowd));
        let left = old.iter().flat_map(|batch| &batch.crowds).filter_map(|(crowd, _)| crowd.upgrade());
        left.filter(|crowd| !is_batched(crowd)).for_each(|crowd| crowd.leave_batch());
    }

    /// Whether the batches consist of these crowds.
    fn holds(&self, wanted: &[(Arc<CrowdCore>, Needs)]) -> bool {
        let held = self.batches.iter().flat_map(|batch| &batch.crowds).map(|(crowd, has)| (crowd.as_ptr(), *has));
        held.eq(wanted.iter().map(|(crowd, needs)| (Arc::as_ptr(crowd), *needs)))
    }

    fn form(
        &mut self,
        gpu: Gpu<'_>,
        (layouts, pipelines): (&Layouts, &mut PipelineCache),
        views: &Views,
        wanted: &[(Arc<CrowdCore>, Needs)],
    ) {
        let mut member = |(crowd, (capacity, reach)): &(Arc<CrowdCore>, Needs)| {
            let variant = Variant { previous_transforms: false, ..crowd.model.geometry.variant };
            let source = InstanceSource::Batch { table: layouts.table_len.is_some() };
            let of = |surface: &Surface| pipelines.get(layouts, (variant, source), *surface);
            let pipelines = crowd.model.surfaces.iter().map(of).collect();
            (pipelines, *capacity, *reach)
        };
        let prepared: Vec<_> = wanted.iter().map(&mut member).collect();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut start = 0;
        while start < wanted.len() {
            let all = &wanted[start..];
            let members: Vec<_> = all
                .iter()
                .zip(&prepared[start..])
                .map(|((crowd, _), (pipelines, capacity, reach))| {
                    let pipelines: &Vec<_> = pipelines;
                    Member { model: &crowd.model, pipelines: pipelines.clone(), capacity: *capacity, reach: *reach }
                })
                .collect();
            let count = batch::batched(gpu.device, &members, views);
            if count == 0 {
                // A crowd that no batch has room for is drawn by itself.
                start += 1;
                continue;
            }
            let passes = self.pipelines.get_or_insert_with(|| Arc::new(BatchPipelines::new(gpu.device)));
            let (batch, palettes) = Batch::new((gpu, &mut encoder), layouts, views, passes, &members[..count]);
            for (i, ((crowd, (room, _)), palettes)) in all.iter().zip(palettes).enumerate() {
                crowd.join_batch((&mut encoder, layouts), (&batch.instances, batch.first_instance(i)), *room, palettes);
            }
            let crowds = all[..count].iter().map(|(crowd, needs)| (Arc::downgrade(crowd), *needs)).collect();
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
            let alive: Vec<_> = crowds.iter().map(|(crowd, _)| crowd.upgrade()).collect();
            let counts: Vec<u32> = alive.iter().map(|c| c.as_ref().map_or(0, |crowd| crowd.uploaded())).collect();
            let ignore_marks = alive.iter().flatten().any(|crowd| crowd.ignores_marks());
            batch.record(queue, pass, &counts, times, ignore_marks);
        }
    }

    /// Second pass with occlusion culling. `pyramid`: layout and bind group of the depth pyramid.
    pub(super) fn reveal(
        &mut self,
        device: &wgpu::Device,
        pass: &mut wgpu::ComputePass<'_>,
        pyramid: (&wgpu::BindGroupLayout, &wgpu::BindGroup),
    ) {
        self.batches.iter_mut().for_each(|batched| batched.batch.reveal(device, pass, pyramid));
    }

    /// Draws all crowds of all batches, without attachments. Group 0 is bound.
    pub(super) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, view: View, kind: PassKind) {
        self.batches.iter().for_each(|batched| batched.batch.draw(pass, view, kind));
    }

    /// Number of crowds whose passes are merged with those of `crowd`, itself included.
    pub(super) fn merged(&self, crowd: &Arc<CrowdCore>) -> u32 {
        self.batches.iter().find(|batch| batch.has(crowd)).map_or(1, |batch| batch.crowds.len() as u32)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }
}

impl BatchedCrowds {
    fn has(&self, crowd: &Arc<CrowdCore>) -> bool {
        self.crowds.iter().any(|(own, _)| core::ptr::eq(own.as_ptr(), Arc::as_ptr(crowd)))
    }
}
