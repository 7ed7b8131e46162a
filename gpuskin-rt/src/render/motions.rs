//! Motions of the instances of a crowd.

use super::changes::Changes;
use super::roots::RootClips;
use crate::motion::{MotionRecord, MotionState, Playing, RootMotionRecord};
use crate::{Motion, Terrain, Time, Transform};

/// Storage buffers of the pass where instances follow their root motion.
const STORAGE_BUFFERS: u32 = 4;

/// Motions as the device reads them.
#[derive(Debug)]
pub(crate) enum MotionRecords {
    /// No instance has followed its root motion yet.
    Rates(Vec<MotionRecord>),
    Roots(Vec<RootMotionRecord>),
}

impl MotionRecords {
    fn zero(len: usize) -> Self {
        Self::Rates(vec![Default::default(); len])
    }

    fn push_zero(&mut self) {
        match self {
            Self::Rates(records) => records.push(Default::default()),
            Self::Roots(records) => records.push(Default::default()),
        }
    }

    fn swap_remove(&mut self, index: usize) {
        match self {
            Self::Rates(records) => _ = records.swap_remove(index),
            Self::Roots(records) => _ = records.swap_remove(index),
        }
    }

    pub(super) fn follow_root(&self) -> bool {
        matches!(self, Self::Roots(_))
    }

    /// Bytes per record.
    pub(super) fn stride(&self) -> u64 {
        if self.follow_root() { size_of::<RootMotionRecord>() as u64 } else { size_of::<MotionRecord>() as u64 }
    }
}

/// Motions in drawing order.
#[derive(Debug)]
pub(crate) struct Motions {
    states: Vec<MotionState>,
    /// [`MotionState::settled`] of all instances, so that crossfades are not evaluated again when they are over; empty until an
    /// instance follows its root motion.
    settled: Vec<MotionState>,
    records: MotionRecords,
    /// Number of instances that move.
    moving: usize,
    changed: Changes,
}

impl Motions {
    /// `len`: number of instances, which all stand still.
    pub(crate) fn new(len: usize) -> Self {
        let mut changed = Changes::default();
        changed.mark_all();
        let states = vec![Default::default(); len];
        Self { states, settled: Vec::new(), records: MotionRecords::zero(len), moving: 0, changed }
    }

    pub(crate) fn spawn(&mut self) {
        self.states.push(MotionState::default());
        self.records.push_zero();
        if self.records.follow_root() {
            self.settled.push(MotionState::default());
        }
        self.changed.mark(self.states.len() - 1);
    }

    pub(crate) fn despawn(&mut self, index: usize) {
        let removed = self.states.swap_remove(index);
        self.records.swap_remove(index);
        if self.records.follow_root() {
            self.settled.swap_remove(index);
        }
        self.moving -= usize::from(!removed.is_still());
        if index < self.states.len() {
            self.changed.mark(index);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.states.clear();
        self.settled.clear();
        self.records = MotionRecords::zero(0);
        self.moving = 0;
        self.changed.mark_all();
    }

    pub(crate) fn mark_all(&mut self) {
        self.changed.mark_all();
    }

    /// Motion of an instance; `None` if it stands still.
    pub(crate) fn get(&self, index: usize) -> Option<&MotionState> {
        self.states.get(index).filter(|state| !state.is_still())
    }

    /// Motion of an instance, from which its place at a time, or later, follows; `None` if it stands still.
    pub(crate) fn get_at(&self, index: usize, time: Time) -> Option<&MotionState> {
        let state = self.get(index)?;
        Some(self.settled.get(index).filter(|settled| settled.start <= time).unwrap_or(state))
    }

    /// Sets the motion of an instance. `playing`: what it plays from the start of the motion on.
    pub(crate) fn set(&mut self, index: usize, state: MotionState, playing: &Playing<'_>) {
        self.moving += usize::from(!state.is_still());
        self.moving -= usize::from(!self.states[index].is_still());
        self.states[index] = state;
        if state.motion.follows_root && !self.records.follow_root() {
            // The others move at constant rates, which do not depend on what they play.
            let record = |state: &MotionState| state.root_record(state, playing);
            self.settled.clone_from(&self.states);
            self.records = MotionRecords::Roots(self.states.iter().map(record).collect());
            self.changed.mark_all();
        }
        match &mut self.records {
            MotionRecords::Rates(records) => records[index] = state.record(),
            MotionRecords::Roots(records) => {
                self.settled[index] = state.settled(playing);
                records[index] = state.root_record(&self.settled[index], playing);
            }
        }
        self.changed.mark(index);
    }

    /// Whether any instance moves.
    pub(crate) fn any(&self) -> bool {
        self.moving > 0
    }

    /// Instances that move, and their motions.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &MotionState)> {
        self.states.iter().enumerate().filter(|(_, state)| !state.is_still())
    }

    /// Instances that move, each with [`Self::get_at`].
    pub(crate) fn iter_at(&self, time: Time) -> impl Iterator<Item = (usize, &MotionState)> {
        (0..self.states.len()).filter_map(move |index| Some((index, self.get_at(index, time)?)))
    }

    /// All records, and the changes since the last upload.
    pub(in crate::render) fn changed(&mut self) -> (&MotionRecords, &mut Changes) {
        (&self.records, &mut self.changed)
    }

    pub(super) fn records(&self) -> &MotionRecords {
        &self.records
    }

    /// Whether a device can move a crowd of some capacity. `roots`: root motion of its model. `terrain`: its ground.
    pub(crate) fn fit(
        &self,
        limits: &wgpu::Limits,
        capacity: usize,
        roots: Option<&RootClips>,
        terrain: Option<&Terrain>,
    ) -> bool {
        let most = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        let roots = roots.filter(|_| self.records.follow_root());
        let table = roots
            .is_none_or(|roots| roots.size() <= most && limits.max_storage_buffers_per_shader_stage >= STORAGE_BUFFERS);
        let ground = terrain
            .is_none_or(|terrain| terrain.size().into_iter().all(|side| side <= limits.max_texture_dimension_2d));
        table && ground && capacity as u64 * self.records.stride() <= most
    }
}

/// Gives an instance a motion at a time, or the same at another transform. `current`: where it is by then, if it
/// moves. A position that stays keeps its full precision. `terrain`: ground of the crowd.
pub(crate) fn restarted(
    current: Option<MotionState>,
    (before, after): (Transform, Transform),
    motion: Motion,
    (time, terrain): (Time, Option<&Terrain>),
) -> MotionState {
    let new = MotionState::new(after, motion, time).over_ground(terrain);
    let Some(current) = current else { return new };
    MotionState {
        origin: if before.translation == after.translation { current.origin } else { new.origin },
        rotation: if before.rotation == after.rotation { current.rotation } else { new.rotation },
        ..new
    }
}
