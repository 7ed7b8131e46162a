//! Layers over the clips of a crowd's instances: one [`LayerSet`] per instance that has some, and
//! the GPU buffer of all sets.

use super::changes::Changes;
use super::error::at_most;
use super::instances::Instances;
use super::live::LivePoses;
use super::palette::{LayerBuffer, PoseEvaluator};
use super::staging::Uploads;
use super::{Error, InstanceId, StaleId};
use crate::{LayerSet, Time};

/// Bytes of a layer set on the device.
const LAYER_SET_BYTES: u64 = LayerSet::WORDS as u64 * 4;
/// Number of calls of [`CrowdLayers::sweep`] that look at all sets.
const SWEEPS: usize = 64;
/// Length of the longest frame whose motion vectors are right when a layer has faded out.
const LAST_FRAME: Time = Time::from_bits(1 << 30);
const SPLIT: &str =
    "make several crowds of the model, or request the device with a higher max_storage_buffer_binding_size";

/// Layer sets and live poses of a crowd.
#[derive(Debug, Default)]
pub(crate) struct CrowdLayers {
    /// Sets; an instance record stores the index plus one. Sets without an owner are free.
    sets: Vec<LayerSet>,
    owners: Vec<Option<InstanceId>>,
    free: Vec<u32>,
    changed: Changes,
    pub(super) live: LivePoses,
    /// Set that was looked at last by [`CrowdLayers::sweep`].
    swept: usize,
    /// Number of sets and poses added since finished ones were last reclaimed.
    added: usize,
    device: Option<(LayerBuffer, LayerCapacity)>,
    /// Bytes of the largest buffer that the device can bind.
    max_bytes: u64,
}

/// Capacity of a buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LayerCapacity {
    sets: usize,
    poses: usize,
}

impl LayerCapacity {
    fn bytes(self, live: &LivePoses) -> u64 {
        self.sets as u64 * LAYER_SET_BYTES + self.poses as u64 * live.pose_bytes() * live.pose_times()
    }
}

impl CrowdLayers {
    /// `poses`: pose pass of the model; `None` for a model without a palette.
    pub(crate) fn new(poses: Option<&PoseEvaluator>) -> Self {
        let max_bytes = poses.map_or(0, |poses| poses.binding);
        let live =
            poses.map_or_else(LivePoses::default, |poses| LivePoses::new(poses.live_stride(), poses.pose_times()));
        Self { live, max_bytes, ..Self::default() }
    }

    /// Returns the set of an instance; creates one if it has none.
    pub(super) fn of(
        &mut self,
        instances: &mut Instances,
        id: InstanceId,
        name: &str,
        time: Time,
    ) -> Result<u32, Error> {
        let record = instances.get(id).ok_or(StaleId::Instance(id))?;
        if let Some(slot) = record.layer_set().checked_sub(1) {
            return Ok(slot);
        }
        let paused = record.is_paused();
        self.look_for_room(instances, time);
        let mut set = LayerSet::default();
        set.set_paused(paused, time);
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                let slot = self.sets.len();
                at_most(slot as u64 + 1, LayerSet::MAX_NUMBER.into(), SPLIT, || {
                    format!("{name}: instances with layers")
                })?;
                self.fits(LayerCapacity { sets: slot + 1, poses: self.live.len() }, name)?;
                self.sets.push(set);
                self.owners.push(None);
                slot as u32
            }
        };
        self.sets[slot as usize] = set;
        self.owners[slot as usize] = Some(id);
        self.changed.mark(slot as usize);
        instances.change_playback(id, |r| *r = r.with_layer_set(slot + 1))?;
        Ok(slot)
    }

    /// Reserves a live pose.
    pub(super) fn add_pose(&mut self, name: &str) -> Result<u32, Error> {
        if self.live.is_full() {
            self.fits(LayerCapacity { sets: self.sets.len(), poses: self.live.len() + 1 }, name)?;
        }
        self.added += 1;
        Ok(self.live.add())
    }

    /// Gives the live bones of another set the pose of a set that it replaces, or a new one whose bones play the clip.
    pub(super) fn replace(
        &mut self,
        device: &wgpu::Device,
        slot: u32,
        other: &mut LayerSet,
        name: &str,
    ) -> Result<(), Error> {
        let pose = self.sets[slot as usize].take_live();
        if other.live_pose_number().is_none() {
            pose.into_iter().for_each(|pose| self.live.remove(pose));
            return Ok(());
        }
        let pose = match pose {
            Some(pose) => pose,
            None => self.add_pose(name)?,
        };
        other.renumber_live(pose);
        self.live.set_missing(device, pose);
        Ok(())
    }

    fn fits(&self, room: LayerCapacity, name: &str) -> Result<(), Error> {
        at_most(room.bytes(&self.live), self.max_bytes, SPLIT, || format!("{name}: bytes of layers and live bones"))
    }

    pub(super) fn set(&self, slot: u32) -> &LayerSet {
        &self.sets[slot as usize]
    }

    /// Changes a set; releases it if none of its layers is in use any more.
    pub(super) fn change(
        &mut self,
        instances: &mut Instances,
        slot: u32,
        time: Time,
        change: impl FnOnce(&mut LayerSet),
    ) {
        change(&mut self.sets[slot as usize]);
        self.changed.mark(slot as usize);
        self.tidy(instances, slot as usize, time);
    }

    /// Releases a set or live pose that has faded out.
    fn tidy(&mut self, instances: &mut Instances, slot: usize, time: Time) {
        let Some(owner) = self.owners[slot] else { return };
        let set = &mut self.sets[slot];
        if !set.has_live_bones(time)
            && let Some(pose) = set.take_live()
        {
            self.live.remove(pose);
            self.changed.mark(slot);
        }
        if set.is_over(time) {
            self.owners[slot] = None;
            self.free.push(slot as u32);
            let _ = instances.change_playback(owner, |r| *r = r.with_layer_set(0));
        }
    }

    /// Releases all sets that have faded out, before another set is added. Runs only every so
    /// often, so that the cost per added set stays small.
    fn look_for_room(&mut self, instances: &mut Instances, time: Time) {
        self.added += 1;
        if self.free.is_empty() && self.added > self.sets.len().max(64) {
            self.added = 0;
            (0..self.sets.len()).for_each(|slot| self.tidy(instances, slot, time));
        }
    }

    /// Releases some of the sets and live poses that have faded out, so that every one is looked at
    /// within a second or so.
    pub(super) fn sweep(&mut self, instances: &mut Instances, time: Time) {
        // Motion vectors need the pose of the last frame.
        let time = Time::from_bits(time.to_bits().saturating_sub(LAST_FRAME.to_bits()));
        for _ in 0..self.sets.len().div_ceil(SWEEPS) {
            self.swept = (self.swept + 1) % self.sets.len();
            self.tidy(instances, self.swept, time);
        }
    }

    /// Releases the layers of an instance.
    pub(super) fn release(&mut self, instances: &Instances, id: InstanceId) {
        let Some(slot) = instances.get(id).and_then(|record| record.layer_set().checked_sub(1)) else { return };
        if let Some(pose) = self.sets[slot as usize].take_live() {
            self.live.remove(pose);
        }
        self.owners[slot as usize] = None;
        self.free.push(slot);
    }

    /// Pauses or resumes the layers of an instance. Called before the instance record changes.
    pub(super) fn set_paused(&mut self, instances: &Instances, id: InstanceId, paused: bool, time: Time) {
        let Some(record) = instances.get(id).filter(|record| record.is_paused() != paused) else { return };
        let Some(slot) = record.layer_set().checked_sub(1) else { return };
        self.sets[slot as usize].set_paused(paused, time);
        self.changed.mark(slot as usize);
    }

    pub(super) fn clear(&mut self) {
        self.sets.clear();
        self.owners.clear();
        self.free.clear();
        self.live.clear();
    }

    /// Whether any instance has had layers since the last [`CrowdLayers::clear`].
    pub(super) fn any(&self) -> bool {
        !self.sets.is_empty()
    }

    /// Buffer that the palette pass binds; `None` before the first upload.
    pub(super) fn buffer(&self) -> Option<&LayerBuffer> {
        self.device.as_ref().map(|(buffer, _)| buffer)
    }

    /// Uploads changes, into a larger buffer if the current one is too small.
    pub(super) fn upload(&mut self, uploads: &mut Uploads<'_>, queue: &wgpu::Queue, poses: &PoseEvaluator) {
        let device = uploads.device;
        let needed = LayerCapacity { sets: self.sets.len(), poses: self.live.len() };
        let room = self.device.as_ref().map(|(_, room)| *room);
        if room.is_none_or(|room| room.sets < needed.sets || room.poses < needed.poses) {
            let room = self.grown(room.unwrap_or(LayerCapacity { sets: 0, poses: 0 }), needed);
            let buffer = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("gpuskin layers"),
                // wgpu cannot bind an empty buffer.
                size: room.bytes(&self.live).max(LAYER_SET_BYTES),
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            });
            let live_at = room.sets as u32 * (LAYER_SET_BYTES / 16) as u32;
            let kept = room.poses as u32 * poses.live_stride() * (poses.pose_times() - 1);
            let layers = LayerBuffer { buffer, live_at, previous_live_at: live_at + kept };
            if let Some((old, held)) = self.device.take().filter(|(_, held)| held.poses > 0) {
                let bytes = held.poses as u64 * self.live.pose_bytes();
                uploads.encoder().copy_buffer_to_buffer(
                    &old.buffer,
                    old.live_bytes(),
                    &layers.buffer,
                    layers.live_bytes(),
                    bytes,
                );
            }
            self.device = Some((layers, room));
            self.changed.mark_all();
        }
        let Some((layers, _)) = &self.device else { return };
        self.changed.take(self.sets.len(), |changed| {
            for range in changed.runs(self.sets.len()) {
                let words: Vec<_> = self.sets[range.clone()].iter().map(LayerSet::words).collect();
                queue.write_buffer(&layers.buffer, range.start as u64 * LAYER_SET_BYTES, bytemuck::cast_slice(&words));
            }
        });
        debug_assert_eq!(u64::from(poses.live_stride()) * 16, self.live.pose_bytes());
        self.live.upload(uploads, layers);
    }

    /// Doubles the capacity that is too small, as far as the largest buffer allows.
    fn grown(&self, room: LayerCapacity, needed: LayerCapacity) -> LayerCapacity {
        let twice = |room: usize, needed: usize| if needed > room { needed.max(room * 2) } else { room };
        let doubled = LayerCapacity { sets: twice(room.sets, needed.sets), poses: twice(room.poses, needed.poses) };
        [doubled, LayerCapacity { sets: needed.sets.max(room.sets), ..needed }, needed]
            .into_iter()
            .find(|room| room.bytes(&self.live) <= self.max_bytes)
            .unwrap_or(needed)
    }
}
