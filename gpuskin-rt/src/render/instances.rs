//! The instances of a crowd on the CPU: dense for the GPU, with ids that outlive moves, and what has changed since the
//! last upload.

pub(super) mod changes;

use crate::{InstanceLook, InstanceRecord};
use changes::Changes;

/// An instance of a crowd, until it is despawned. An id is never given twice, and is refused by every other crowd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InstanceId {
    crowd: u32,
    slot: u32,
    generation: u32,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    generation: u32,
    /// Index of the instance in the dense list; the next free slot where there is none.
    index: u32,
}

const NO_SLOT: u32 = u32::MAX;

impl InstanceId {
    /// A small number that no other instance has while this one lives.
    pub(crate) fn slot(self) -> u32 {
        self.slot
    }
}

/// Instances in the order in which they are drawn.
#[derive(Debug)]
pub(crate) struct Instances {
    /// Number of the crowd.
    crowd: u32,
    records: Vec<InstanceRecord>,
    looks: Vec<InstanceLook>,
    /// Slot of each record.
    slot_of: Vec<u32>,
    slots: Vec<Slot>,
    first_free: u32,
    changed_records: Changes,
    changed_looks: Changes,
}

impl Instances {
    pub(crate) fn new(crowd: u32, capacity: usize) -> Self {
        Self {
            crowd,
            records: Vec::with_capacity(capacity),
            looks: Vec::with_capacity(capacity),
            slot_of: Vec::with_capacity(capacity),
            slots: Vec::with_capacity(capacity),
            first_free: NO_SLOT,
            changed_records: Changes::default(),
            changed_looks: Changes::default(),
        }
    }

    pub(crate) fn crowd(&self) -> u32 {
        self.crowd
    }

    /// Shows what a bit of [`InstanceLook::hidden`] stands for, of all instances.
    pub(crate) fn show_all(&mut self, bit: u32) {
        for (i, look) in self.looks.iter_mut().enumerate().filter(|(_, look)| look.hidden & bit != 0) {
            look.show(bit, true);
            self.changed_looks.mark(i);
        }
    }

    pub(crate) fn records(&self) -> &[InstanceRecord] {
        &self.records
    }

    /// # Panics
    /// At 2^32 - 1 instances, 256 GiB of records.
    pub(crate) fn spawn(&mut self, record: InstanceRecord, look: InstanceLook) -> InstanceId {
        let index = self.records.len() as u32;
        assert!(self.records.len() < NO_SLOT as usize, "a crowd holds fewer than 2^32 - 1 instances");
        let slot = if self.first_free == NO_SLOT {
            self.slots.push(Slot { generation: 0, index });
            self.slots.len() as u32 - 1
        } else {
            let slot = self.first_free;
            self.first_free = core::mem::replace(&mut self.slots[slot as usize].index, index);
            slot
        };
        self.records.push(record);
        self.looks.push(look);
        self.slot_of.push(slot);
        self.changed_records.mark(index as usize);
        self.changed_looks.mark(index as usize);
        InstanceId { crowd: self.crowd, slot, generation: self.slots[slot as usize].generation }
    }

    pub(crate) fn despawn(&mut self, id: InstanceId) -> bool {
        let Some(index) = self.index(id) else { return false };
        self.records.swap_remove(index);
        self.looks.swap_remove(index);
        self.slot_of.swap_remove(index);
        if let Some(&moved) = self.slot_of.get(index) {
            self.slots[moved as usize].index = index as u32;
            self.changed_records.mark(index);
            self.changed_looks.mark(index);
        }
        self.release(id.slot);
        true
    }

    pub(crate) fn clear(&mut self) {
        for i in 0..self.slot_of.len() {
            self.release(self.slot_of[i]);
        }
        self.records.clear();
        self.looks.clear();
        self.slot_of.clear();
    }

    fn release(&mut self, slot: u32) {
        let next_free = core::mem::replace(&mut self.first_free, slot);
        let freed = &mut self.slots[slot as usize];
        freed.index = next_free;
        match freed.generation.checked_add(1) {
            Some(generation) => freed.generation = generation,
            // Four billion lives: the slot is not used again, so that its ids are never given twice.
            None => self.first_free = next_free,
        }
    }

    pub(crate) fn get(&self, id: InstanceId) -> Option<&InstanceRecord> {
        self.index(id).map(|index| &self.records[index])
    }

    /// Changes an instance; `false` where there is none of that id.
    pub(crate) fn change(&mut self, id: InstanceId, change: impl FnOnce(&mut InstanceRecord)) -> bool {
        let Some(index) = self.index(id) else { return false };
        change(&mut self.records[index]);
        self.changed_records.mark(index);
        true
    }

    /// Changes how an instance looks; `false` where there is none of that id.
    pub(crate) fn change_look(&mut self, id: InstanceId, change: impl FnOnce(&mut InstanceLook)) -> bool {
        let Some(index) = self.index(id) else { return false };
        change(&mut self.looks[index]);
        self.changed_looks.mark(index);
        true
    }

    pub(crate) fn look(&self, id: InstanceId) -> Option<&InstanceLook> {
        self.index(id).map(|index| &self.looks[index])
    }

    /// All of them, in the order in which they are drawn.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (InstanceId, &InstanceRecord)> {
        let id = |i: usize| self.id_at(i).expect("records have slots");
        self.records.iter().enumerate().map(move |(i, record)| (id(i), record))
    }

    /// The instance that stands at an index of the dense list.
    pub(crate) fn id_at(&self, index: usize) -> Option<InstanceId> {
        let slot = *self.slot_of.get(index)?;
        Some(InstanceId { crowd: self.crowd, slot, generation: self.slots[slot as usize].generation })
    }

    fn index(&self, id: InstanceId) -> Option<usize> {
        let slot = self.slots.get(id.slot as usize)?;
        // A free slot has a generation that no id has yet; one that is never used again, an index that is no record's.
        let alive = id.crowd == self.crowd && id.generation == slot.generation;
        let index = slot.index as usize;
        (alive && self.slot_of.get(index) == Some(&id.slot)).then_some(index)
    }

    /// Everything must be uploaded again.
    pub(crate) fn mark_all(&mut self) {
        self.changed_records.mark_all();
        self.changed_looks.mark_all();
    }

    /// All records, and which of them have changed since they were last taken.
    pub(crate) fn changed_records(&mut self) -> (&[InstanceRecord], &mut Changes) {
        (&self.records, &mut self.changed_records)
    }

    /// The same of looks.
    pub(crate) fn changed_looks(&mut self) -> (&[InstanceLook], &mut Changes) {
        (&self.looks, &mut self.changed_looks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(x: f32) -> InstanceRecord {
        let mut record = InstanceRecord::default();
        record.translation[0] = x;
        record
    }

    fn taken((len, changes): (usize, &mut Changes)) -> Vec<(usize, usize)> {
        let mut ranges = Vec::new();
        changes.take(len, |changed| ranges.extend(changed.runs(len).map(|run| (run.start, run.end))));
        ranges
    }

    fn uploads(instances: &mut Instances) -> Vec<(usize, usize)> {
        let (records, changes) = instances.changed_records();
        taken((records.len(), changes))
    }

    #[test]
    fn ids_outlive_moves_and_are_refused_when_stale() {
        let mut crowd = Instances::new(1, 0);
        let ids: Vec<_> = (0..5).map(|i| crowd.spawn(record(i as f32), InstanceLook::default())).collect();
        assert!(crowd.despawn(ids[1]));
        assert!(!crowd.despawn(ids[1]));
        assert!(crowd.get(ids[1]).is_none());
        let x = |crowd: &Instances, i: usize| crowd.get(ids[i]).map(|r| r.translation[0]);
        assert_eq!([0, 2, 3, 4].map(|i| x(&crowd, i)), [0.0, 2.0, 3.0, 4.0].map(Some));
        let again = crowd.spawn(record(9.0), InstanceLook::default());
        assert_ne!(again, ids[1]);
        assert!(crowd.get(ids[1]).is_none() && crowd.get(again).is_some());
        assert!(!crowd.change(ids[1], |r| r.scale = 7.0));
        crowd.clear();
        assert!(crowd.records().is_empty() && crowd.get(again).is_none() && !crowd.despawn(ids[0]));
        let reborn = crowd.spawn(record(1.0), InstanceLook::default());
        assert_eq!(crowd.get(reborn).unwrap().translation[0], 1.0);
        assert!(ids.iter().all(|id| crowd.get(*id).is_none()));
    }

    #[test]
    fn ids_of_another_crowd_are_refused() {
        let (mut a, mut b) = (Instances::new(1, 0), Instances::new(2, 0));
        let id = a.spawn(record(0.0), InstanceLook::default());
        b.spawn(record(0.0), InstanceLook::default());
        assert!(b.get(id).is_none() && !b.despawn(id));
    }

    #[test]
    fn a_slot_that_ran_out_of_generations_is_not_used_again() {
        let mut crowd = Instances::new(1, 0);
        crowd.spawn(record(0.0), InstanceLook::default());
        crowd.slots[0].generation = u32::MAX;
        let last = InstanceId { crowd: 1, slot: 0, generation: u32::MAX };
        assert!(crowd.despawn(last));
        let next = crowd.spawn(record(1.0), InstanceLook::default());
        assert_eq!(next.slot, 1);
        assert!(crowd.get(last).is_none());
    }

    #[test]
    fn looks_stay_with_their_instances() {
        let mut crowd = Instances::new(1, 0);
        let look = |i: u32| InstanceLook { custom: [i, 0], ..InstanceLook::default() };
        let ids: Vec<_> = (0..300).map(|i| crowd.spawn(record(0.0), look(i))).collect();
        let looks = |crowd: &mut Instances| {
            let (looks, changes) = crowd.changed_looks();
            taken((looks.len(), changes))
        };
        assert_eq!((looks(&mut crowd), uploads(&mut crowd)), (vec![(0, 300)], vec![(0, 300)]));
        crowd.despawn(ids[70]);
        crowd.change_look(ids[0], |look| look.hidden = 2);
        assert_eq!((looks(&mut crowd), uploads(&mut crowd)), (vec![(0, 1), (70, 71)], vec![(70, 71)]));
        assert_eq!(crowd.look(ids[299]), Some(&look(299)));
        assert_eq!((crowd.id_at(70), crowd.id_at(299)), (Some(ids[299]), None));
        assert!(crowd.look(ids[70]).is_none() && !crowd.change_look(ids[70], |_| ()));
    }

    #[test]
    fn only_what_changed_is_uploaded() {
        let mut crowd = Instances::new(1, 0);
        let ids: Vec<_> = (0..300).map(|i| crowd.spawn(record(i as f32), InstanceLook::default())).collect();
        assert_eq!(uploads(&mut crowd), [(0, 300)]);
        assert!(uploads(&mut crowd).is_empty());
        crowd.change(ids[299], |r| r.scale = 2.0);
        crowd.change(ids[71], |r| r.scale = 2.0);
        crowd.change(ids[70], |r| r.scale = 2.0);
        crowd.change(ids[71], |r| r.scale = 3.0);
        assert_eq!(uploads(&mut crowd), [(70, 72), (299, 300)]);
        crowd.despawn(ids[299]);
        assert!(uploads(&mut crowd).is_empty());
        crowd.despawn(ids[0]);
        assert_eq!(uploads(&mut crowd), [(0, 1)]);
        crowd.change(ids[290], |r| r.scale = 2.0);
        crowd.clear();
        assert!(uploads(&mut crowd).is_empty());
        crowd.spawn(record(0.0), InstanceLook::default());
        crowd.spawn(record(1.0), InstanceLook::default());
        assert_eq!(uploads(&mut crowd), [(0, 2)]);
        crowd.change(ids[1], |r| r.scale = 2.0);
        crowd.mark_all();
        assert_eq!(uploads(&mut crowd), [(0, 2)]);
        assert!(uploads(&mut crowd).is_empty());
    }
}
