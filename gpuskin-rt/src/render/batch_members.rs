//! Members of a batch: what it needs to know of a crowd, and the buffers that its crowds share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::compute::LazyPipelines;
use super::gpu_model::GpuModel;
use super::pipelines::Pipelines;
use super::scatter::{ScatterList, ScatterPipeline};
use super::staging::Uploads;

/// Crowd that is to be part of a batch.
pub(crate) struct Member<'a> {
    pub(crate) model: &'a Arc<GpuModel>,
    /// Pipelines of each part.
    pub(crate) pipelines: Vec<Arc<Pipelines>>,
    /// Number of instances that there is room for; a multiple of [`GROUP_SIZE`].
    pub(crate) capacity: u32,
    /// Distance by which attachments extend the bounds of clips, metres.
    pub(crate) reach: f32,
}

/// Buffers of the instances of all crowds of a batch.
#[derive(Clone, Debug)]
pub(crate) struct SharedInstances {
    pub(crate) places: wgpu::Buffer,
    pub(crate) playbacks: wgpu::Buffer,
    pub(crate) previous: Option<wgpu::Buffer>,
    /// Changes that are not on the device yet.
    pub(crate) changes: Arc<Mutex<BatchChanges>>,
}

/// Changed elements of all crowds of a batch: of places, playbacks and previous places.
#[derive(Debug, Default)]
pub(crate) struct BatchChanges {
    pub(crate) places: ScatterList,
    pub(crate) playbacks: ScatterList,
    pub(crate) previous: ScatterList,
}

impl SharedInstances {
    pub(crate) fn changes(&self) -> MutexGuard<'_, BatchChanges> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Uploads the changes of all crowds.
    pub(crate) fn upload(
        &self,
        uploads: &mut Uploads<'_>,
        queue: &wgpu::Queue,
        pipeline: &LazyPipelines<ScatterPipeline>,
    ) {
        let mut changes = self.changes();
        changes.places.flush((uploads, queue), pipeline, &self.places);
        changes.playbacks.flush((uploads, queue), pipeline, &self.playbacks);
        if let Some(previous) = &self.previous {
            changes.previous.flush((uploads, queue), pipeline, previous);
        }
    }
}
