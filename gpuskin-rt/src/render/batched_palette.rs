//! Bind group of a crowd of a batch, for draws of that crowd alone.

use std::sync::{Arc, OnceLock};

use super::batch_members::SharedInstances;
use super::geometry::InstanceBindings;
use super::gpu_model::GpuModel;
use super::layouts::{Layouts, MATRIX_BYTES, PLACE_BYTES, PLAYBACK_BYTES, part};
use crate::batch::BatchedCrowd;

/// Poses and instances of a crowd in the buffers of its batch. Most crowds of a batch are never drawn by themselves, so
/// the bind group is created on first use.
#[derive(Debug)]
pub(crate) struct BatchedPalette {
    pub(crate) device: wgpu::Device,
    pub(crate) layouts: Arc<Layouts>,
    pub(crate) model: Arc<GpuModel>,
    pub(crate) instances: SharedInstances,
    pub(crate) lists: wgpu::Buffer,
    /// Bytes of the lists that are bound at once.
    pub(crate) list_bytes: u64,
    pub(crate) palette: wgpu::Buffer,
    pub(crate) crowd: BatchedCrowd,
    pub(crate) made: OnceLock<wgpu::BindGroup>,
}

impl BatchedPalette {
    pub(crate) fn bind_group(&self) -> &wgpu::BindGroup {
        self.made.get_or_init(|| {
            let (geometry, instances, crowd) = (&self.model.geometry, &self.instances, &self.crowd);
            let (first, capacity) = (crowd.first_instance, crowd.culling.capacity);
            let size = wgpu::BufferSize::new(self.list_bytes);
            let previous = instances.previous.as_ref().filter(|_| geometry.variant.previous_transforms);
            let bindings = InstanceBindings {
                places: part(&instances.places, PLACE_BYTES, first, capacity),
                list: wgpu::BufferBinding { buffer: &self.lists, offset: 0, size },
                playbacks: part(&instances.playbacks, PLAYBACK_BYTES, first, capacity),
                previous: previous.map(|previous| part(previous, PLACE_BYTES, first, capacity)),
            };
            let palette = part(&self.palette, MATRIX_BYTES, crowd.palette_at, capacity * crowd.stride);
            geometry.with_palette(&self.device, &self.layouts, palette, bindings)
        })
    }
}
