//! Layers over what the instances of a crowd play: [`LayerSet`]s for those that have some, and where they stand on the
//! device.

use super::crowd::State;
use super::error::at_most;
use super::instances::Instances;
use super::instances::changes::Changes;
use super::live::LivePoses;
use super::palette::{OverBuffer, Poses};
use super::staging::Uploads;
use super::{Crowd, Error, InstanceId};
use crate::{Clip, LayerSet, Mask, Metadata, Time, Transition};

/// Bytes that a set takes on the device.
const SET: u64 = LayerSet::WORDS as u64 * 4;
const SPLIT: &str =
    "make several crowds of the model, or request the device with a higher max_storage_buffer_binding_size";

/// What lies over the clips of a crowd's instances.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    /// Sets by their number less one; those without an owner are free.
    sets: Vec<LayerSet>,
    owners: Vec<Option<InstanceId>>,
    free: Vec<u32>,
    changed: Changes,
    pub(super) live: LivePoses,
    /// Sets and poses that were added since it was last looked which are over.
    added: usize,
    device: Option<(OverBuffer, Room)>,
    /// Bytes of the greatest buffer.
    most: u64,
}

/// What a buffer has room for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Room {
    sets: usize,
    poses: usize,
}

impl Room {
    fn bytes(self, live: &LivePoses) -> u64 {
        self.sets as u64 * SET + self.poses as u64 * live.pose_bytes() * live.moments()
    }
}

impl Layers {
    /// `poses`: what evaluates the model; `None` where it is no palette.
    pub(crate) fn new(poses: Option<&Poses>) -> Self {
        let most = poses.map_or(0, |poses| poses.binding);
        let live = poses.map_or_else(LivePoses::default, |poses| LivePoses::new(poses.live_stride(), poses.moments()));
        Self { live, most, ..Self::default() }
    }

    /// The set of an instance, a new one where it has none; `None` where there is no such instance.
    pub(super) fn of(
        &mut self,
        instances: &mut Instances,
        id: InstanceId,
        name: &str,
        now: Time,
    ) -> Result<Option<u32>, Error> {
        let Some(record) = instances.get(id) else { return Ok(None) };
        if let Some(slot) = record.layer_set().checked_sub(1) {
            return Ok(Some(slot));
        }
        let paused = record.is_paused();
        self.look_for_room(instances, now);
        let mut set = LayerSet::default();
        set.set_paused(paused, now);
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                let slot = self.sets.len();
                at_most(slot as u64 + 1, LayerSet::MOST.into(), SPLIT, || format!("{name}: instances with layers"))?;
                self.fits(Room { sets: slot + 1, poses: self.live.len() }, name)?;
                self.sets.push(set);
                self.owners.push(None);
                slot as u32
            }
        };
        self.sets[slot as usize] = set;
        self.owners[slot as usize] = Some(id);
        self.changed.mark(slot as usize);
        instances.change(id, |r| *r = r.with_layer_set(slot + 1));
        Ok(Some(slot))
    }

    /// Room for another live pose.
    pub(super) fn add_pose(&mut self, name: &str) -> Result<u32, Error> {
        if self.live.is_full() {
            self.fits(Room { sets: self.sets.len(), poses: self.live.len() + 1 }, name)?;
        }
        self.added += 1;
        Ok(self.live.add())
    }

    fn fits(&self, room: Room, name: &str) -> Result<(), Error> {
        at_most(room.bytes(&self.live), self.most, SPLIT, || format!("{name}: bytes of layers and live bones"))
    }

    pub(super) fn set(&self, slot: u32) -> &LayerSet {
        &self.sets[slot as usize]
    }

    /// Changes a set; the instance gives it back where nothing is left of it.
    pub(super) fn change(
        &mut self,
        instances: &mut Instances,
        slot: u32,
        now: Time,
        change: impl FnOnce(&mut LayerSet),
    ) {
        change(&mut self.sets[slot as usize]);
        self.changed.mark(slot as usize);
        self.tidy(instances, slot as usize, now);
    }

    /// Takes back a set or live pose that does not show any more.
    fn tidy(&mut self, instances: &mut Instances, slot: usize, now: Time) {
        let Some(owner) = self.owners[slot] else { return };
        let set = &mut self.sets[slot];
        if !set.has_live(now)
            && let Some(pose) = set.take_live()
        {
            self.live.remove(pose);
            self.changed.mark(slot);
        }
        if set.is_over(now) {
            self.owners[slot] = None;
            self.free.push(slot as u32);
            instances.change(owner, |r| *r = r.with_layer_set(0));
        }
    }

    /// Before a set is added: takes back what faded away. Not at every one, so that it costs little for each.
    fn look_for_room(&mut self, instances: &mut Instances, now: Time) {
        self.added += 1;
        if self.free.is_empty() && self.added > self.sets.len().max(64) {
            self.added = 0;
            (0..self.sets.len()).for_each(|slot| self.tidy(instances, slot, now));
        }
    }

    /// The instance has nothing over its clip any more.
    pub(super) fn release(&mut self, instances: &Instances, id: InstanceId) {
        let Some(slot) = instances.get(id).and_then(|record| record.layer_set().checked_sub(1)) else { return };
        if let Some(pose) = self.sets[slot as usize].take_live() {
            self.live.remove(pose);
        }
        self.owners[slot as usize] = None;
        self.free.push(slot);
    }

    /// Before an instance is paused or goes on: its layers with it.
    pub(super) fn set_paused(&mut self, instances: &Instances, id: InstanceId, paused: bool, now: Time) {
        let Some(record) = instances.get(id).filter(|record| record.is_paused() != paused) else { return };
        let Some(slot) = record.layer_set().checked_sub(1) else { return };
        self.sets[slot as usize].set_paused(paused, now);
        self.changed.mark(slot as usize);
    }

    pub(super) fn clear(&mut self) {
        self.sets.clear();
        self.owners.clear();
        self.free.clear();
        self.live.clear();
    }

    /// What the palette pass binds, after the first upload.
    pub(super) fn buffer(&self) -> Option<&OverBuffer> {
        self.device.as_ref().map(|(buffer, _)| buffer)
    }

    /// Brings the device up to date, in another buffer where the one that is there has not enough room.
    pub(super) fn upload(&mut self, uploads: &mut Uploads<'_>, queue: &wgpu::Queue, poses: &Poses) {
        let device = uploads.device;
        let needed = Room { sets: self.sets.len(), poses: self.live.len() };
        let room = self.device.as_ref().map(|(_, room)| *room);
        if room.is_none_or(|room| room.sets < needed.sets || room.poses < needed.poses) {
            let room = self.grown(room.unwrap_or(Room { sets: 0, poses: 0 }), needed);
            let buffer = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("gpuskin layers"),
                // An empty buffer cannot be bound.
                size: room.bytes(&self.live).max(SET),
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            });
            let live_at = room.sets as u32 * (SET / 16) as u32;
            let kept = room.poses as u32 * poses.live_stride() * (poses.moments() - 1);
            let over = OverBuffer { buffer, live_at, live_before_at: live_at + kept };
            if let Some((old, held)) = self.device.take().filter(|(_, held)| held.poses > 0) {
                let bytes = held.poses as u64 * self.live.pose_bytes();
                uploads.encoder().copy_buffer_to_buffer(
                    &old.buffer,
                    old.live_bytes(),
                    &over.buffer,
                    over.live_bytes(),
                    bytes,
                );
            }
            self.device = Some((over, room));
            self.changed.mark_all();
        }
        let Some((over, _)) = &self.device else { return };
        self.changed.take(self.sets.len(), |changed| {
            for range in changed.runs(self.sets.len()) {
                let words: Vec<_> = self.sets[range.clone()].iter().map(LayerSet::words).collect();
                queue.write_buffer(&over.buffer, range.start as u64 * SET, bytemuck::cast_slice(&words));
            }
        });
        debug_assert_eq!(u64::from(poses.live_stride()) * 16, self.live.pose_bytes());
        self.live.upload(uploads, over);
    }

    /// Twice as much of what is short, as far as a buffer goes.
    fn grown(&self, room: Room, needed: Room) -> Room {
        let twice = |room: usize, needed: usize| if needed > room { needed.max(room * 2) } else { room };
        let most = Room { sets: twice(room.sets, needed.sets), poses: twice(room.poses, needed.poses) };
        [most, Room { sets: needed.sets.max(room.sets), ..needed }, needed]
            .into_iter()
            .find(|room| room.bytes(&self.live) <= self.most)
            .unwrap_or(needed)
    }
}

/// What evaluates a crowd's poses, if layers and live bones can enter there.
pub(super) fn local_poses<'c, M>(crowd: &'c Crowd<M>, what: &'static str) -> Result<&'c Poses, Error> {
    crowd.core.model.geometry.poses().map(|poses| &**poses).ok_or_else(|| Error::LocalPoses {
        model: crowd.meta.name.to_string(),
        what,
        encoding: crowd.variant().encoding.name(),
    })
}

fn argument(meta: &Metadata, reason: String) -> Error {
    Error::Argument { model: meta.name.to_string(), reason }
}

impl<M> Crowd<M> {
    /// Lays a clip over what an instance plays, on one of its [`LayerSet::LAYERS`] layers: on the nodes of a mask, or on all
    /// without one. Its weight goes to `weight`, 0..1, over the transition's fade. A layer that shows something fades from
    /// that to the clip; the mask changes at once. A clip with [`ClipInfo::additive`](crate::ClipInfo::additive) adds to what
    /// is under it. The layer lasts until [`Crowd::stop_layer`], at the end of a clip that does not start over too: it holds
    /// its last pose until then. `false` if the instance is gone.
    ///
    /// Layers above others are laid over them; [`crate::layers`] has the formulas. Instances without layers cost what
    /// they did.
    ///
    /// ```no_run
    /// # use gpuskin_rt::*;
    /// # fn example(crowd: Crowd<Dynamic>, id: InstanceId, attack: Clip<Dynamic>, upper_body: Mask<Dynamic>) -> Result<(), Error> {
    /// crowd.play_layer(id, 0, attack, Some(upper_body), Transition::crossfade(0.15), 1.0)?;
    /// // When it is done, walking shows again:
    /// crowd.stop_layer(id, 0, 0.2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// On a model that does not play [`Encoding::LocalPacked`](crate::Encoding::LocalPacked) on this device; for a layer, clip
    /// or mask that there is not; and where the device has no room for more instances with layers.
    pub fn play_layer(
        &self,
        id: InstanceId,
        layer: usize,
        clip: Clip<M>,
        mask: Option<Mask<M>>,
        transition: Transition,
        weight: f32,
    ) -> Result<bool, Error> {
        local_poses(self, "layers")?;
        let (meta, now) = (&*self.meta, self.now());
        if layer >= LayerSet::LAYERS {
            return Err(argument(meta, format!("layer {layer}; layers are numbered 0 to {}", LayerSet::LAYERS - 1)));
        }
        if clip.index() as usize >= meta.clips.len() {
            return Err(argument(meta, format!("clip {}; it has {}", clip.index(), meta.clips.len())));
        }
        if let Some(mask) = mask.filter(|mask| mask.index() as usize >= meta.masks.len()) {
            return Err(argument(meta, format!("mask {}; it has {}", mask.index(), meta.masks.len())));
        }
        let next = transition.start.playback(meta, clip.index(), now);
        let State { instances, layers, .. } = &mut *self.core.state();
        let Some(slot) = layers.of(instances, id, &meta.name, now)? else { return Ok(false) };
        let paused = instances.get(id).is_some_and(|record| record.is_paused());
        layers.change(instances, slot, now, |set| {
            set.play(layer, &next, mask.map(Mask::index), &transition, weight, now);
            set.set_paused(paused, now);
        });
        Ok(true)
    }

    /// Another weight for a layer, 0..1, over so many seconds. `false` if the instance is gone or has nothing there.
    pub fn set_layer_weight(&self, id: InstanceId, layer: usize, weight: f32, seconds: f32) -> bool {
        let now = self.now();
        let State { instances, layers, .. } = &mut *self.core.state();
        let slot = instances.get(id).and_then(|record| record.layer_set().checked_sub(1));
        let Some(slot) = slot.filter(|_| layer < LayerSet::LAYERS) else { return false };
        layers.change(instances, slot, now, |set| set.set_weight(layer, weight, seconds, now));
        true
    }

    /// Takes a layer away, over so many seconds. `false` if the instance is gone or has nothing there.
    pub fn stop_layer(&self, id: InstanceId, layer: usize, seconds: f32) -> bool {
        self.set_layer_weight(id, layer, 0.0, seconds)
    }

    /// What lies over the clip of an instance; `None` if it is gone or has nothing there.
    pub fn layers(&self, id: InstanceId) -> Option<LayerSet> {
        let state = self.core.state();
        let slot = state.instances.get(id)?.layer_set().checked_sub(1)?;
        Some(*state.layers.set(slot))
    }
}
