//! The instances of a crowd on the CPU: dense for the GPU, with ids that outlive moves, and what has changed since the
//! last upload.

use core::ops::Range;

use crate::InstanceRecord;

/// An instance of a crowd, until it is despawned. An id is never given twice, and is refused by every other crowd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InstanceId {
    crowd: u32,
    slot: u32,
    generation: u32,
}

/// Instances that are uploaded together: 64 records are 3 KiB, the most that one change costs.
const BLOCK: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Slot {
    generation: u32,
    /// Index of the instance in the dense list; the next free slot where there is none.
    index: u32,
}

const NO_SLOT: u32 = u32::MAX;

/// Instances in the order in which they are drawn.
#[derive(Debug)]
pub(crate) struct Instances {
    /// Number of the crowd.
    crowd: u32,
    records: Vec<InstanceRecord>,
    /// Slot of each record.
    slot_of: Vec<u32>,
    slots: Vec<Slot>,
    first_free: u32,
    /// Blocks that are not as on the device, in the order in which they changed.
    changed: Vec<u32>,
    /// Whether a block is in `changed`.
    is_changed: Vec<bool>,
}

impl Instances {
    pub(crate) fn new(crowd: u32, capacity: usize) -> Self {
        Self {
            crowd,
            records: Vec::with_capacity(capacity),
            slot_of: Vec::with_capacity(capacity),
            slots: Vec::with_capacity(capacity),
            first_free: NO_SLOT,
            changed: Vec::new(),
            is_changed: Vec::new(),
        }
    }

    pub(crate) fn records(&self) -> &[InstanceRecord] {
        &self.records
    }

    /// # Panics
    /// At 2^32 - 1 instances, 192 GiB of records.
    pub(crate) fn spawn(&mut self, record: InstanceRecord) -> InstanceId {
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
        self.slot_of.push(slot);
        self.mark(index as usize);
        InstanceId { crowd: self.crowd, slot, generation: self.slots[slot as usize].generation }
    }

    pub(crate) fn despawn(&mut self, id: InstanceId) -> bool {
        let Some(index) = self.index(id) else { return false };
        self.records.swap_remove(index);
        self.slot_of.swap_remove(index);
        if let Some(&moved) = self.slot_of.get(index) {
            self.slots[moved as usize].index = index as u32;
            self.mark(index);
        }
        self.release(id.slot);
        true
    }

    pub(crate) fn clear(&mut self) {
        for i in 0..self.slot_of.len() {
            self.release(self.slot_of[i]);
        }
        self.records.clear();
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
        self.mark(index);
        true
    }

    fn index(&self, id: InstanceId) -> Option<usize> {
        let slot = self.slots.get(id.slot as usize)?;
        // A free slot has a generation that no id has yet; one that is never used again, an index that is no record's.
        let alive = id.crowd == self.crowd && id.generation == slot.generation;
        let index = slot.index as usize;
        (alive && self.slot_of.get(index) == Some(&id.slot)).then_some(index)
    }

    fn mark(&mut self, index: usize) {
        let block = index / BLOCK;
        if block >= self.is_changed.len() {
            self.is_changed.resize(block + 1, false);
        }
        if !core::mem::replace(&mut self.is_changed[block], true) {
            self.changed.push(block as u32);
        }
    }

    /// Everything must be uploaded again.
    pub(crate) fn mark_all(&mut self) {
        for index in (0..self.records.len()).step_by(BLOCK) {
            self.mark(index);
        }
    }

    /// Gives the ranges of records that have changed since the last call, in order, neighbours together.
    pub(crate) fn upload(&mut self, mut write: impl FnMut(Range<usize>, &[InstanceRecord])) {
        self.changed.sort_unstable();
        let end = self.records.len();
        let blocks = |run: &[u32]| run[0] as usize * BLOCK..((run[run.len() - 1] as usize + 1) * BLOCK).min(end);
        for run in self.changed.chunk_by(|a, b| a + 1 == *b) {
            let range = blocks(run);
            // Blocks past the end were left by instances that are gone.
            if range.start < range.end {
                write(range.clone(), &self.records[range]);
            }
        }
        for block in self.changed.drain(..) {
            self.is_changed[block as usize] = false;
        }
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

    fn uploads(instances: &mut Instances) -> Vec<(usize, usize)> {
        let mut ranges = Vec::new();
        instances.upload(|range, records| {
            assert_eq!(range.len(), records.len());
            ranges.push((range.start, range.end));
        });
        ranges
    }

    #[test]
    fn ids_outlive_moves_and_are_refused_when_stale() {
        let mut crowd = Instances::new(1, 0);
        let ids: Vec<_> = (0..5).map(|i| crowd.spawn(record(i as f32))).collect();
        assert!(crowd.despawn(ids[1]));
        assert!(!crowd.despawn(ids[1]));
        assert!(crowd.get(ids[1]).is_none());
        let x = |crowd: &Instances, i: usize| crowd.get(ids[i]).map(|r| r.translation[0]);
        assert_eq!([0, 2, 3, 4].map(|i| x(&crowd, i)), [0.0, 2.0, 3.0, 4.0].map(Some));
        let again = crowd.spawn(record(9.0));
        assert_ne!(again, ids[1]);
        assert!(crowd.get(ids[1]).is_none() && crowd.get(again).is_some());
        assert!(!crowd.change(ids[1], |r| r.scale = 7.0));
        crowd.clear();
        assert!(crowd.records().is_empty() && crowd.get(again).is_none() && !crowd.despawn(ids[0]));
        let reborn = crowd.spawn(record(1.0));
        assert_eq!(crowd.get(reborn).unwrap().translation[0], 1.0);
        assert!(ids.iter().all(|id| crowd.get(*id).is_none()));
    }

    #[test]
    fn ids_of_another_crowd_are_refused() {
        let (mut a, mut b) = (Instances::new(1, 0), Instances::new(2, 0));
        let id = a.spawn(record(0.0));
        b.spawn(record(0.0));
        assert!(b.get(id).is_none() && !b.despawn(id));
    }

    #[test]
    fn a_slot_that_ran_out_of_generations_is_not_used_again() {
        let mut crowd = Instances::new(1, 0);
        crowd.spawn(record(0.0));
        crowd.slots[0].generation = u32::MAX;
        let last = InstanceId { crowd: 1, slot: 0, generation: u32::MAX };
        assert!(crowd.despawn(last));
        let next = crowd.spawn(record(1.0));
        assert_eq!(next.slot, 1);
        assert!(crowd.get(last).is_none());
    }

    #[test]
    fn only_changed_blocks_are_uploaded() {
        let mut crowd = Instances::new(1, 0);
        let ids: Vec<_> = (0..300).map(|i| crowd.spawn(record(i as f32))).collect();
        assert_eq!(uploads(&mut crowd), [(0, 300)]);
        assert_eq!(uploads(&mut crowd), []);
        crowd.change(ids[299], |r| r.scale = 2.0);
        crowd.change(ids[70], |r| r.scale = 2.0);
        crowd.change(ids[71], |r| r.scale = 2.0);
        assert_eq!(uploads(&mut crowd), [(64, 128), (256, 300)]);
        crowd.despawn(ids[299]);
        assert_eq!(uploads(&mut crowd), []);
        crowd.despawn(ids[0]);
        assert_eq!(uploads(&mut crowd), [(0, 64)]);
        crowd.change(ids[290], |r| r.scale = 2.0);
        crowd.clear();
        assert_eq!(uploads(&mut crowd), []);
        crowd.spawn(record(0.0));
        assert_eq!(uploads(&mut crowd), [(0, 1)]);
        crowd.mark_all();
        assert_eq!(uploads(&mut crowd), [(0, 1)]);
    }
}
