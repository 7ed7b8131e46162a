//! Instances of a crowd on the CPU: densely packed for the GPU, with stable ids, and tracking of
//! changes since the last upload.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::StaleId;
use super::changes::Changes;
use super::ids::InstanceId;
use super::motions::Motions;
use super::previous::PreviousTransforms;
use super::roots::RootClips;
use crate::record::{PlaceRecord, PlaybackRecord, layer_set, played_appearance};
use crate::{Appearance, InstanceRecord, Playback, Terrain, Transform};

mod moving;

#[derive(Clone, Copy, Debug)]
struct InstanceSlot {
    generation: u32,
    /// Index of the instance in the dense list; for a free slot, the next free slot.
    index: u32,
}

const NO_SLOT: u32 = u32::MAX;

/// Transforms that [`Instances::update_transforms`] lends. They are kept: new memory would cost more than them.
#[derive(Debug, Default)]
struct LentTransforms {
    list: Vec<Transform>,
    /// Whether they are still those of the instances: to unpack them costs as much as to pack them.
    is_current: bool,
}

/// Instances in drawing order.
#[derive(Debug)]
pub(crate) struct Instances {
    /// Number of the crowd.
    crowd: u32,
    /// Place records; a moving instance has one of some earlier time.
    places: Vec<PlaceRecord>,
    playbacks: Vec<PlaybackRecord>,
    /// Slot of each instance.
    slot_of: Vec<u32>,
    slots: Vec<InstanceSlot>,
    first_free: u32,
    changed_places: Changes,
    changed_playbacks: Changes,
    /// Transforms of the previous frame, if shaders read them.
    previous: Option<PreviousTransforms>,
    /// Motions, once an instance moves.
    motions: Option<Motions>,
    /// Root motion of the model, if its clips have some.
    roots: Option<Arc<RootClips>>,
    /// Ground that moving instances stay on.
    terrain: Option<Terrain>,
    /// Last prepared time.
    clock: Arc<AtomicU64>,
    lent: LentTransforms,
}

impl Instances {
    /// `previous`: whether transforms of the previous frame are kept. `clock`: last prepared time.
    pub(crate) fn new(crowd: u32, capacity: usize, previous: bool, clock: Arc<AtomicU64>) -> Self {
        Self {
            crowd,
            places: Vec::with_capacity(capacity),
            playbacks: Vec::with_capacity(capacity),
            slot_of: Vec::with_capacity(capacity),
            slots: Vec::with_capacity(capacity),
            first_free: NO_SLOT,
            changed_places: Changes::default(),
            changed_playbacks: Changes::default(),
            previous: previous.then(PreviousTransforms::default),
            motions: None,
            roots: None,
            terrain: None,
            clock,
            lent: LentTransforms::default(),
        }
    }

    pub(crate) fn with_roots(mut self, roots: Option<Arc<RootClips>>) -> Self {
        self.roots = roots;
        self
    }

    pub(crate) fn crowd(&self) -> u32 {
        self.crowd
    }

    /// Clears a bit of [`Appearance::hidden`] in all instances.
    pub(crate) fn show_all(&mut self, bit: u32) {
        for index in 0..self.len() {
            let mut appearance = self.appearance_at(index);
            if appearance.hidden & bit != 0 {
                appearance.show(bit, true);
                self.set_appearance(index, &appearance);
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.slot_of.len()
    }

    /// Translation and scale of an instance.
    pub(crate) fn place_at(&self, index: usize) -> ([f32; 3], f32) {
        if self.has_motion() {
            let transform = self.transform(index);
            return (transform.translation, transform.scale);
        }
        let place = &self.places[index];
        (place.translation(), place.scale())
    }

    /// Whether transforms or appearances have changed since [`Instances::changed_places`] was taken.
    pub(crate) fn has_changed_places(&self) -> bool {
        self.changed_places.any()
    }

    /// Records of all instances, in drawing order.
    pub(crate) fn records(&self) -> impl ExactSizeIterator<Item = InstanceRecord> {
        (0..self.len()).map(|index| self.record(index))
    }

    fn record(&self, index: usize) -> InstanceRecord {
        InstanceRecord::new(self.transform(index), self.playbacks[index])
    }

    /// Numbers of the layer sets of all instances, in drawing order; 0: none.
    pub(crate) fn layer_sets(&self) -> impl Iterator<Item = u32> {
        self.playbacks.iter().map(layer_set)
    }

    /// Appearances of all instances, in drawing order.
    pub(crate) fn appearances(&self) -> impl ExactSizeIterator<Item = Appearance> {
        (0..self.len()).map(|index| self.appearance_at(index))
    }

    fn appearance_at(&self, index: usize) -> Appearance {
        self.places[index].appearance(&self.playbacks[index])
    }

    fn set_appearance(&mut self, index: usize, appearance: &Appearance) {
        let before = self.appearance_at(index);
        if (before.tint, before.hidden) != (appearance.tint, appearance.hidden) {
            self.places[index].set_appearance(appearance);
            self.changed_places.mark(index);
        }
        if (before.custom, before.variant) != (appearance.custom, appearance.variant) {
            let playback = &mut self.playbacks[index];
            *playback =
                InstanceRecord::new(Transform::default(), *playback).played((appearance.custom, appearance.variant));
            self.changed_playbacks.mark(index);
        }
    }

    /// # Panics
    /// With 2^32 - 1 instances, 320 GiB of records.
    pub(crate) fn spawn(&mut self, record: InstanceRecord, appearance: Appearance) -> InstanceId {
        let index = self.len() as u32;
        assert!(self.len() < NO_SLOT as usize, "a crowd holds fewer than 2^32 - 1 instances");
        let slot = if self.first_free == NO_SLOT {
            self.slots.push(InstanceSlot { generation: 0, index });
            self.slots.len() as u32 - 1
        } else {
            let slot = self.first_free;
            self.first_free = core::mem::replace(&mut self.slots[slot as usize].index, index);
            slot
        };
        let place = PlaceRecord::new(record.transform(), &appearance);
        self.places.push(place);
        self.lent.is_current = false;
        self.playbacks.push(record.played((appearance.custom, appearance.variant)));
        self.slot_of.push(slot);
        self.mark(index as usize);
        let id = InstanceId { crowd: self.crowd, slot, generation: self.slots[slot as usize].generation };
        self.previous.iter_mut().for_each(|previous| previous.spawn(id, &place));
        self.motions.iter_mut().for_each(Motions::spawn);
        id
    }

    pub(crate) fn despawn(&mut self, id: InstanceId) -> Result<(), StaleId> {
        let index = self.index(id).ok_or(StaleId::Instance(id))?;
        self.places.swap_remove(index);
        self.lent.is_current = false;
        self.playbacks.swap_remove(index);
        self.slot_of.swap_remove(index);
        self.previous.iter_mut().for_each(|previous| previous.despawn(index));
        self.motions.iter_mut().for_each(|motions| motions.despawn(index));
        if let Some(&moved) = self.slot_of.get(index) {
            self.slots[moved as usize].index = index as u32;
            self.mark(index);
        }
        self.release(id.slot);
        Ok(())
    }

    pub(crate) fn clear(&mut self) {
        for i in 0..self.slot_of.len() {
            self.release(self.slot_of[i]);
        }
        self.places.clear();
        self.lent.is_current = false;
        self.playbacks.clear();
        self.slot_of.clear();
        self.previous.iter_mut().for_each(PreviousTransforms::clear);
        self.motions.iter_mut().for_each(Motions::clear);
    }

    fn release(&mut self, slot: u32) {
        let next_free = core::mem::replace(&mut self.first_free, slot);
        let freed = &mut self.slots[slot as usize];
        freed.index = next_free;
        match freed.generation.checked_add(1) {
            Some(generation) => freed.generation = generation,
            // After four billion uses, the slot is retired, so that no id is given twice.
            None => (freed.index, self.first_free) = (NO_SLOT, next_free),
        }
    }

    fn mark(&mut self, index: usize) {
        self.changed_places.mark(index);
        self.changed_playbacks.mark(index);
    }

    pub(crate) fn get(&self, id: InstanceId) -> Option<InstanceRecord> {
        self.index(id).map(|index| self.record(index))
    }

    /// Changes the record of an instance.
    pub(crate) fn change(&mut self, id: InstanceId, change: impl FnOnce(&mut InstanceRecord)) -> Result<(), StaleId> {
        let index = self.index(id).ok_or(StaleId::Instance(id))?;
        let mut record = self.record(index);
        let before = record.transform();
        change(&mut record);
        let old = self.playbacks[index];
        let playback = record.played(played_appearance(&old));
        if playback != old {
            self.set_playback(index, playback);
        }
        // A rotation that was rounded when it was stored is not rounded again.
        if record.transform() != before {
            self.move_to(index, id, record.transform());
        }
        Ok(())
    }

    /// Changes what an instance plays; its transform stays, whatever `change` does to it. Place records
    /// are not read, because each is another cache miss.
    pub(crate) fn change_playback(
        &mut self,
        id: InstanceId,
        change: impl FnOnce(&mut InstanceRecord),
    ) -> Result<(), StaleId> {
        let index = self.index(id).ok_or(StaleId::Instance(id))?;
        let before = self.playbacks[index];
        let mut record = InstanceRecord::new(Transform::default(), before);
        change(&mut record);
        self.set_playback(index, record.played(played_appearance(&before)));
        Ok(())
    }

    /// Replaces what an instance plays from the last prepared time on.
    fn set_playback(&mut self, index: usize, playback: PlaybackRecord) {
        let moved = self.followed(index);
        self.playbacks[index] = playback;
        self.changed_playbacks.mark(index);
        if let Some(state) = moved {
            self.store_motion(index, state);
        }
    }

    /// Playback of the current clip of an instance; `None` if it no longer exists.
    pub(crate) fn playback(&self, id: InstanceId) -> Option<Playback> {
        let playback = self.playbacks[self.index(id)?];
        Some(InstanceRecord::new(Transform::default(), playback).playback())
    }

    /// Changes the transform of an instance.
    pub(crate) fn change_transform(
        &mut self,
        id: InstanceId,
        change: impl FnOnce(&mut Transform),
    ) -> Result<(), StaleId> {
        let index = self.index(id).ok_or(StaleId::Instance(id))?;
        let mut transform = self.transform(index);
        let before = transform;
        change(&mut transform);
        if transform != before {
            self.move_to(index, id, transform);
        }
        Ok(())
    }

    /// Sets the transforms of instances. Returns the first id that no instance has; the others are set.
    pub(crate) fn set_transforms(&mut self, ids: &[InstanceId], transforms: &[Transform]) -> Result<(), StaleId> {
        if ids.len() >= self.len() / 2 {
            self.changed_places.mark_all();
            if !self.has_motion() {
                self.previous.iter_mut().for_each(|previous| previous.change_all(&self.places));
                return self.set_standing(ids, transforms);
            }
        }
        self.each(ids, transforms, |instances, index, id, transform| instances.move_to(index, id, transform.finite()))
    }

    /// Sets the transforms of instances that stand, without marking the changes.
    fn set_standing(&mut self, ids: &[InstanceId], transforms: &[Transform]) -> Result<(), StaleId> {
        self.lent.is_current = false;
        let (crowd, slots, places) = (self.crowd, &self.slots[..], &mut self.places[..]);
        let mut stale = None;
        for (ids, transforms) in ids.chunks(BLOCK).zip(transforms.chunks(BLOCK)) {
            if let Some(places) = consecutive(crowd, slots, ids).and_then(|range| places.get_mut(range)) {
                PlaceRecord::set_all(places, transforms);
                continue;
            }
            for (id, transform) in ids.iter().zip(transforms) {
                match index(crowd, slots, *id).and_then(|index| places.get_mut(index)) {
                    Some(place) => _ = place.set_finite(transform),
                    None => stale = stale.or(Some(*id)),
                }
            }
        }
        stale.map_or(Ok(()), |id| Err(StaleId::Instance(id)))
    }

    /// Changes the appearances of instances by a list of values. Returns the first id that no instance
    /// has; the others are changed.
    pub(crate) fn change_appearances<T: Copy>(
        &mut self,
        ids: &[InstanceId],
        values: &[T],
        change: impl Fn(&mut Appearance, T),
    ) -> Result<(), StaleId> {
        self.each(ids, values, |instances, index, _, value| {
            let mut appearance = instances.appearance_at(index);
            change(&mut appearance, value);
            instances.set_appearance(index, &appearance);
        })
    }

    fn each<T: Copy>(
        &mut self,
        ids: &[InstanceId],
        values: &[T],
        mut set: impl FnMut(&mut Self, usize, InstanceId, T),
    ) -> Result<(), StaleId> {
        let mut stale = None;
        for (id, value) in ids.iter().zip(values) {
            match self.index(*id) {
                Some(index) => set(self, index, *id, *value),
                None => stale = stale.or(Some(*id)),
            }
        }
        stale.map_or(Ok(()), |id| Err(StaleId::Instance(id)))
    }

    /// Passes the transforms of all instances in drawing order, to be changed.
    pub(crate) fn update_transforms(&mut self, update: impl FnOnce(&mut [Transform])) {
        let LentTransforms { list: mut transforms, is_current } = core::mem::take(&mut self.lent);
        let moving = self.has_motion();
        if moving {
            transforms.clear();
            transforms.extend((0..self.len()).map(|index| self.transform(index)));
        } else if !is_current {
            transforms.clear();
            transforms.extend(self.places.iter().map(PlaceRecord::transform));
        }
        update(&mut transforms);
        self.changed_places.mark_all();
        if !moving {
            self.previous.iter_mut().for_each(|previous| previous.change_all(&self.places));
            if !PlaceRecord::set_all(&mut self.places, &transforms) {
                transforms.iter_mut().for_each(|transform| *transform = transform.finite());
            }
        } else {
            for (index, transform) in transforms.iter().enumerate() {
                if let Some(id) = self.id_at(index) {
                    self.move_to(index, id, transform.finite());
                }
            }
        }
        self.lent = LentTransforms { list: transforms, is_current: !moving };
    }

    /// Writes the transform of an instance.
    fn put(&mut self, index: usize, transform: Transform) {
        let before = self.places[index];
        self.lent.is_current = false;
        self.places[index].set_transform(transform);
        if self.places[index] != before {
            self.changed_places.mark(index);
            if let (Some(id), Some(previous)) = (self.id_at(index), &mut self.previous) {
                previous.change(index, id, &before);
            }
        }
    }

    /// Makes an instance stand still in its place, also if it has just been moved there.
    pub(crate) fn place(&mut self, id: InstanceId) {
        if let (Some(index), Some(previous)) = (self.index(id), &mut self.previous) {
            previous.place(index, id);
        }
    }

    /// Lets a new instance move from its place, in which another crowd drew it in the last frame.
    pub(crate) fn adopt(&mut self, id: InstanceId) {
        if let (Some(index), Some(previous)) = (self.index(id), &mut self.previous) {
            previous.adopt(index, id);
        }
    }

    /// Changes the appearance of an instance.
    pub(crate) fn change_appearance(
        &mut self,
        id: InstanceId,
        change: impl FnOnce(&mut Appearance),
    ) -> Result<(), StaleId> {
        let index = self.index(id).ok_or(StaleId::Instance(id))?;
        let mut appearance = self.appearance_at(index);
        change(&mut appearance);
        self.set_appearance(index, &appearance);
        Ok(())
    }

    pub(crate) fn appearance(&self, id: InstanceId) -> Option<Appearance> {
        self.index(id).map(|index| self.appearance_at(index))
    }

    /// Instances in drawing order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (InstanceId, InstanceRecord)> {
        let id = |i: usize| self.id_at(i).expect("every record has a slot");
        self.records().enumerate().map(move |(i, record)| (id(i), record))
    }

    /// Id of the instance at an index of the dense list.
    pub(crate) fn id_at(&self, index: usize) -> Option<InstanceId> {
        let slot = *self.slot_of.get(index)?;
        Some(InstanceId { crowd: self.crowd, slot, generation: self.slots[slot as usize].generation })
    }

    fn index(&self, id: InstanceId) -> Option<usize> {
        index(self.crowd, &self.slots, id)
    }

    /// Transforms of the previous frame, and the changes since the last upload; `None` if they are not
    /// kept. Called once per frame.
    pub(crate) fn previous_transforms(&mut self) -> Option<(&[PlaceRecord], &mut Changes)> {
        let Self { crowd, places, slots, previous, .. } = self;
        Some(previous.as_mut()?.next_frame(places, |id| index(*crowd, slots, id)))
    }

    /// Place and playback records of all instances, and transforms of the previous frame if shaders read
    /// them, in drawing order.
    pub(crate) fn all(&self) -> (&[PlaceRecord], &[PlaybackRecord], Option<&[PlaceRecord]>) {
        (&self.places, &self.playbacks, self.previous.as_ref().map(PreviousTransforms::places))
    }

    /// All place records, and the changes since the last upload.
    pub(crate) fn changed_places(&mut self) -> (&[PlaceRecord], &mut Changes) {
        (&self.places, &mut self.changed_places)
    }

    /// All playback records, and the changes since the last upload.
    pub(crate) fn changed_playbacks(&mut self) -> (&[PlaybackRecord], &mut Changes) {
        (&self.playbacks, &mut self.changed_playbacks)
    }
}

/// Returns the index of an instance in the dense list.
fn index(crowd: u32, slots: &[InstanceSlot], id: InstanceId) -> Option<usize> {
    let slot = slots.get(id.slot as usize)?;
    // A free slot has a generation that no id has yet.
    let alive = id.crowd == crowd && id.generation == slot.generation && slot.index != NO_SLOT;
    alive.then_some(slot.index as usize)
}

/// Number of ids that [`consecutive`] checks at once.
const BLOCK: usize = 256;

/// Returns the indices of instances whose slots and indices both follow each other, as those of instances
/// spawned together do. Compilers check several ids at a time.
fn consecutive(crowd: u32, slots: &[InstanceSlot], ids: &[InstanceId]) -> Option<Range<usize>> {
    let slot = ids.first()?.slot;
    let slots = slots.get(slot as usize..)?.get(..ids.len())?;
    let index = slots.first()?.index;
    let mut difference = 0;
    for (i, (id, other)) in (0..).zip(ids.iter().zip(slots)) {
        difference |= (id.crowd ^ crowd) | (id.slot ^ slot.wrapping_add(i)) | (id.generation ^ other.generation);
        difference |= other.index ^ index.wrapping_add(i);
    }
    // A retired slot has no index.
    (difference == 0 && index != NO_SLOT).then_some(index as usize..index as usize + ids.len())
}

#[cfg(test)]
mod tests;
