//! Transforms that the instances of a crowd had in the previous frame, for motion vectors.

use super::changes::Changes;
use super::ids::InstanceId;
use crate::record::PlaceRecord;

/// Transforms as of the last upload, in drawing order.
#[derive(Debug, Default)]
pub(super) struct PreviousTransforms {
    places: Vec<PlaceRecord>,
    /// Whether the transform for the next upload is decided: the instance has moved or been placed since
    /// the last one. `[index]`
    decided: Vec<bool>,
    /// Whether those of all instances are, whatever `decided` says.
    all_decided: bool,
    /// Instances that have moved since the last upload.
    moving: Moved,
    /// Instances that were spawned or placed since the last upload: they stand still, wherever further
    /// commands move them before they are drawn.
    placed: Vec<InstanceId>,
    /// Instances that had moved before it: unless they move again, they now stand still.
    resting: Moved,
    changed: Changes,
}

/// Instances that moved in a frame.
#[derive(Debug, Default)]
struct Moved {
    /// Whether all instances may have moved, not only those of the list.
    all: bool,
    list: Vec<InstanceId>,
}

impl Moved {
    /// Returns the indices of those that still exist. `count`: number of instances of the crowd. `index`: returns that of an instance.
    fn indices(&self, count: usize, index: impl Fn(InstanceId) -> Option<usize>) -> impl Iterator<Item = usize> {
        let (all, list) = if self.all { (0..count, &[][..]) } else { (0..0, &self.list[..]) };
        all.chain(list.iter().copied().filter_map(index))
    }

    fn clear(&mut self) {
        self.all = false;
        self.list.clear();
    }
}

impl PreviousTransforms {
    pub(super) fn spawn(&mut self, id: InstanceId, place: &PlaceRecord) {
        self.places.push(*place);
        self.decided.push(true);
        self.placed.push(id);
    }

    pub(super) fn despawn(&mut self, index: usize) {
        self.places.swap_remove(index);
        self.decided.swap_remove(index);
        if index < self.places.len() {
            self.changed.mark(index);
        }
    }

    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.decided.clear();
    }

    /// Transforms as of the last upload.
    pub(super) fn places(&self) -> &[PlaceRecord] {
        &self.places
    }

    /// Notes the transform that an instance had before it moved.
    pub(super) fn change(&mut self, index: usize, id: InstanceId, before: &PlaceRecord) {
        if !self.all_decided && !core::mem::replace(&mut self.decided[index], true) {
            self.places[index] = *before;
            self.changed.mark(index);
            self.moving.list.push(id);
        }
    }

    /// Notes the transforms that all instances had before many of them move.
    pub(super) fn change_all(&mut self, before: &[PlaceRecord]) {
        if core::mem::replace(&mut self.all_decided, true) {
            return;
        }
        if self.placed.is_empty() && self.moving.list.is_empty() {
            self.places.copy_from_slice(before);
        } else {
            for ((place, decided), before) in self.places.iter_mut().zip(&self.decided).zip(before) {
                if !decided {
                    *place = *before;
                }
            }
        }
        self.changed.mark_all();
        self.moving.all = true;
    }

    /// Notes that an instance stands still in its new place.
    pub(super) fn place(&mut self, index: usize, id: InstanceId) {
        self.decided[index] = true;
        self.placed.push(id);
    }

    /// Notes that another crowd drew a new instance in its place in the last frame: if it moves before the next one, it has moved
    /// from there.
    pub(super) fn adopt(&mut self, index: usize, id: InstanceId) {
        // It is usually the last one.
        if let Some(at) = self.placed.iter().rposition(|placed| *placed == id) {
            self.placed.remove(at);
        }
        self.decided[index] = false;
        self.changed.mark(index);
    }

    /// Lets instances rest that have not moved again. Returns all places, and the changes since the
    /// last call; instances that move from now on belong to the next frame. `index` returns the index of
    /// an instance.
    pub(super) fn next_frame(
        &mut self,
        current: &[PlaceRecord],
        index: impl Fn(InstanceId) -> Option<usize>,
    ) -> (&[PlaceRecord], &mut Changes) {
        if !core::mem::take(&mut self.all_decided) {
            for index in self.resting.indices(current.len(), &index) {
                if !self.decided[index] {
                    self.places[index] = current[index];
                    self.changed.mark(index);
                }
            }
        }
        self.resting.clear();
        for index in self.placed.drain(..).filter_map(&index) {
            self.places[index] = current[index];
            self.changed.mark(index);
            self.decided[index] = false;
        }
        if self.moving.all {
            self.decided.fill(false);
        } else {
            self.moving.list.iter().copied().filter_map(index).for_each(|index| self.decided[index] = false);
        }
        core::mem::swap(&mut self.moving, &mut self.resting);
        (&self.places, &mut self.changed)
    }
}
