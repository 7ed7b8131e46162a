//! Instances that move.

use std::sync::atomic::Ordering;

use super::Instances;
use crate::motion::{MotionState, Playing};
use crate::render::StaleId;
use crate::render::ids::InstanceId;
use crate::render::motions::{Motions, restarted};
use crate::{InstanceRecord, Motion, Terrain, Time, Transform};

impl Instances {
    fn now(&self) -> Time {
        Time::from_bits(self.clock.load(Ordering::Relaxed))
    }

    /// Whether any instance moves by itself.
    pub(crate) fn has_motion(&self) -> bool {
        self.motions.as_ref().is_some_and(Motions::any)
    }

    /// Transform of an instance at the last prepared time.
    pub(super) fn transform(&self, index: usize) -> Transform {
        match self.motion_at(index, self.now()) {
            Some(state) => state.transform(self.now(), &self.playing(index)),
            None => self.places[index].transform(),
        }
    }

    /// Clips and scale of an instance.
    fn playing(&self, index: usize) -> Playing<'_> {
        let transform = Transform { scale: self.places[index].scale(), ..Transform::default() };
        let clips = self.roots.as_ref().map_or(&[][..], |roots| &roots.clips);
        let terrain = self.terrain.as_ref();
        Playing { record: InstanceRecord::new(transform, self.playbacks[index]), clips, terrain }
    }

    /// Motion of the instance at an index of the dense list; `None` if it stands still.
    fn motion(&self, index: usize) -> Option<&MotionState> {
        self.motions.as_ref()?.get(index)
    }

    /// Motion of the instance at an index, from which its place at a time follows; `None` if it stands still.
    fn motion_at(&self, index: usize, time: Time) -> Option<&MotionState> {
        self.motions.as_ref()?.get_at(index, time)
    }

    /// Motion of an instance, from where it is at the last prepared time; `None` if it stands still.
    fn rebased(&self, index: usize) -> Option<MotionState> {
        let now = self.now();
        Some(self.motion_at(index, now)?.rebased(now, &self.playing(index)))
    }

    /// Motion of an instance that follows its root motion, from where it is at the last prepared time.
    pub(super) fn followed(&self, index: usize) -> Option<MotionState> {
        self.motion(index).filter(|state| state.motion.follows_root)?;
        self.rebased(index)
    }

    /// Stores the motion of an instance that moved before.
    pub(super) fn store_motion(&mut self, index: usize, state: MotionState) {
        let mut motions = self.motions.take();
        motions.iter_mut().for_each(|motions| motions.set(index, state, &self.playing(index)));
        self.motions = motions;
    }

    /// Motion of an instance; `None` if it no longer exists.
    pub(crate) fn motion_of(&self, id: InstanceId) -> Option<Motion> {
        Some(self.motion(self.index(id)?).map_or(Motion::STILL, |state| state.motion))
    }

    /// Sets the motions of instances from the last prepared time on. Returns the first id that no instance
    /// has; the others are set.
    pub(crate) fn set_motions(&mut self, ids: &[InstanceId], motions: &[Motion]) -> Result<(), StaleId> {
        let now = self.now();
        self.each(ids, motions, |instances, index, id, motion| {
            if motion == Motion::STILL && instances.motion(index).is_none() {
                return;
            }
            let place = instances.transform(index);
            let state = restarted(instances.rebased(index), (place, place), motion, (now, instances.terrain()));
            instances.set_motion_state(index, id, state);
        })
    }

    /// Sets the motion of an instance, which may have begun earlier. Without root motion in the model, an instance
    /// that would follow it stands still.
    pub(crate) fn set_motion_state(&mut self, index: usize, id: InstanceId, mut state: MotionState) {
        if state.motion.follows_root && self.roots.is_none() {
            state.motion = Motion::STILL;
        }
        let stood = self.motion(index).is_none();
        if stood && state.is_still() {
            return;
        }
        let len = self.len();
        let transform = state.transform(self.now(), &self.playing(index));
        self.places[index].set_transform(transform);
        self.lent.is_current = false;
        self.motions.get_or_insert_with(|| Motions::new(len));
        self.store_motion(index, state);
        if state.is_still() {
            self.changed_places.mark(index);
            // It stood there at the last prepared time already.
            self.previous.iter_mut().for_each(|previous| previous.place(index, id));
        }
    }

    /// Motions of the instances that move, each with its index; where they start is in the world.
    pub(crate) fn moving(&self) -> impl Iterator<Item = (u32, MotionState)> {
        let moving = self.motions.iter().flat_map(Motions::iter);
        moving.map(|(index, state)| (index as u32, state.in_world(self.terrain())))
    }

    pub(crate) fn terrain(&self) -> Option<&Terrain> {
        self.terrain.as_ref()
    }

    /// Sets the ground. Instances go on from where they are at the last prepared time; the tilt of the old ground ends.
    pub(crate) fn set_terrain(&mut self, terrain: Option<Terrain>) {
        let now = self.now();
        let in_world = |(index, state): (usize, &MotionState)| {
            let state = state.rebased(now, &self.playing(index));
            (index, MotionState { origin: state.in_world(self.terrain()).origin, ..state })
        };
        let moving: Vec<_> = self.motions.iter().flat_map(|motions| motions.iter_at(now)).map(in_world).collect();
        self.terrain = terrain;
        for (index, state) in moving {
            self.store_motion(index, state.over_ground(self.terrain()));
        }
        self.mark_motions();
    }

    /// Motions of all instances, and the changes since the last upload; `None` while none has moved yet.
    pub(crate) fn motions(&mut self) -> Option<&mut Motions> {
        self.motions.as_mut()
    }

    /// Moves instances on the CPU, for devices that cannot: to where they are at the last prepared time.
    pub(crate) fn move_all(&mut self) {
        let now = self.now();
        let Some(motions) = self.motions.as_ref().filter(|motions| motions.any()) else { return };
        let moved: Vec<_> =
            motions.iter_at(now).map(|(i, state)| (i, state.transform(now, &self.playing(i)))).collect();
        for (index, transform) in moved {
            self.put(index, transform);
        }
    }

    pub(super) fn move_to(&mut self, index: usize, id: InstanceId, transform: Transform) {
        let Some(current) = self.rebased(index) else { return self.put(index, transform) };
        let before = self.transform(index);
        if before != transform {
            let state = restarted(Some(current), (before, transform), current.motion, (self.now(), self.terrain()));
            self.places[index].set_transform(transform);
            self.changed_places.mark(index);
            self.set_motion_state(index, id, state);
        }
    }

    /// Marks all motions as changed, for another buffer.
    pub(crate) fn mark_motions(&mut self) {
        self.motions.iter_mut().for_each(Motions::mark_all);
    }
}
