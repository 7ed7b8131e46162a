//! Crowds that join batches and leave them.

use std::sync::Arc;

use super::{BoundInstances, CrowdCore, CrowdState};
use crate::batch::MAX_BATCHED_INSTANCES;
use crate::cull;
use crate::render::batch_members::SharedInstances;
use crate::render::gpu::Gpu;
use crate::render::layouts::Layouts;
use crate::render::palettes::Palettes;
use crate::render::scatter::scatters;
use crate::shader::MorphUse;

/// Size of the largest animation and of the largest mesh that are copied into a batch, bytes. A crowd of a
/// larger model is drawn by itself.
const MAX_BATCHED_BYTES: u64 = 4 << 20;

impl CrowdCore {
    /// Needs of the crowd in a batch: room for instances, and the distance by which attachments extend
    /// the bounds of its clips, metres. `None` if it is drawn by itself.
    pub(crate) fn batch_needs(&self) -> Option<(u32, f32)> {
        if self.flags.is_active() {
            self.flags.set_batch_needs(self.needs_of(&self.state()));
        }
        self.flags.batch_needs()
    }

    /// [`CrowdCore::batch_needs`] of a state.
    fn needs_of(&self, state: &CrowdState) -> Option<(u32, f32)> {
        let geometry = &self.model.geometry;
        let poses = geometry.poses().filter(|_| geometry.bounds.is_some() && self.sharing.is_none())?;
        let copied = poses.words().size().max(geometry.vertices_len()).max(geometry.indices_len());
        let small = poses.in_workgroup() && copied <= MAX_BATCHED_BYTES;
        let morphs = geometry.variant.morphs != MorphUse::None;
        let plain = !morphs && state.visible.is_none() && !state.exclusive && !state.layers.any();
        let room = state.batched.filter(|room| state.instances.len() <= *room as usize);
        let grown = || (state.instances.len().next_power_of_two() as u32).max(cull::GROUP_SIZE);
        let room = room.unwrap_or_else(grown);
        (small && plain && room <= MAX_BATCHED_INSTANCES).then(|| (room, state.attachments.reach()))
    }

    /// Makes the crowd part of a batch: its instances move to `instances`, from the number `first` on, by
    /// copies in `encoder`.
    pub(crate) fn join_batch(
        &self,
        (encoder, layouts): (&mut wgpu::CommandEncoder, &Layouts),
        (instances, first): (&SharedInstances, u32),
        room: u32,
        palettes: Palettes,
    ) {
        let mut state = self.state_mut();
        let SharedInstances { places, playbacks, previous, .. } = instances.clone();
        let previous = previous.filter(|_| self.model.geometry.variant.previous_transforms);
        let new = BoundInstances { first, places, playbacks, previous, motion: None, shared: Some(instances.clone()) };
        if let Some(old) = state.buffers.take() {
            new.record_copy(encoder, &old, self.flags.uploaded());
        }
        self.model.materials.bind(&self.device, layouts, &self.model.geometry);
        state.buffers = Some(new);
        state.instances.mark_motions();
        state.palettes = Some(Arc::new(palettes));
        state.batched = Some(room);
    }

    /// Whether the crowd has instances on the device.
    pub(crate) fn has_buffers(&self) -> bool {
        self.state().buffers.is_some()
    }

    /// Takes the crowd out of its batch, if it is in one.
    pub(crate) fn leave_batch(&self) {
        let mut state = self.state_mut();
        if state.batched.is_some() {
            let own = state.next.take().unwrap_or_else(|| self.own_buffers(&mut state));
            state.buffers = Some(own);
            state.instances.mark_motions();
            (state.batched, state.palettes) = (None, None);
            self.flags.set_merged(false);
        }
    }

    /// Creates buffers of the crowd's own, with a copy of the instances of its batch.
    pub(super) fn own_buffers(&self, state: &mut CrowdState) -> BoundInstances {
        let previous = self.model.geometry.variant.previous_transforms;
        state.capacity = state.capacity.max(self.flags.uploaded() as usize).max(1);
        let own = BoundInstances::new(&self.device, state.capacity, scatters(&self.device.limits()), previous);
        if let Some(old) = &state.buffers {
            own.copy(Gpu { device: &self.device, queue: &self.queue }, old, self.flags.uploaded());
        }
        own
    }

    /// Number of instances as of the last upload.
    pub(crate) fn uploaded(&self) -> u32 {
        self.flags.uploaded()
    }
}
