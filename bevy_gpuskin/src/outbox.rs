//! Batches by which the characters of the main world change the crowds of the renderer: one per frame.

use bevy::prelude::*;
use gpuskin_rt::{Clip, Instance, Part, Transition};

/// Number of a character within its model, by which the renderer finds its instance.
pub(crate) type Slot = u32;

/// A change of a spawned character.
#[derive(Debug)]
pub(crate) enum Command<M> {
    Play(Clip<M>, Transition),
    Speed(f32),
    Seek(f64),
    Pause(bool),
    Tint([f32; 4]),
    Custom([u32; 2]),
    Part(Part<M>, bool),
}

/// Changes of all characters of a model in one frame.
#[derive(Debug)]
pub(crate) struct Batch<M> {
    /// Time of the frame, seconds.
    pub(crate) time: f64,
    /// Before the spawns, which may use the slots again.
    pub(crate) despawned: Vec<Slot>,
    pub(crate) spawned: Vec<(Slot, Instance<M>)>,
    pub(crate) moved: Vec<Slot>,
    /// Transform of each slot in `moved`.
    pub(crate) transforms: Vec<gpuskin_rt::Transform>,
    pub(crate) shown: Vec<(Slot, bool)>,
    pub(crate) commands: Vec<(Slot, Command<M>)>,
}

// Not derived: a derive would require the same trait of `M`.
impl<M> Default for Batch<M> {
    fn default() -> Self {
        Self {
            time: 0.0,
            despawned: Vec::new(),
            spawned: Vec::new(),
            moved: Vec::new(),
            transforms: Vec::new(),
            shown: Vec::new(),
            commands: Vec::new(),
        }
    }
}

impl<M> Batch<M> {
    fn is_empty(&self) -> bool {
        let Self { time: _, despawned, spawned, moved, transforms: _, shown, commands } = self;
        despawned.is_empty() && spawned.is_empty() && moved.is_empty() && shown.is_empty() && commands.is_empty()
    }
}

/// Batches of a model that the renderer has not read.
#[derive(Resource, Debug)]
pub(crate) struct Outbox<M: 'static> {
    pub(crate) current: Batch<M>,
    ready: Vec<Batch<M>>,
    free: Vec<Slot>,
    slots: Slot,
}

// Not derived: a derive would require the same trait of `M`.
impl<M> Default for Outbox<M> {
    fn default() -> Self {
        Self { current: Batch::default(), ready: Vec::new(), free: Vec::new(), slots: 0 }
    }
}

impl<M> Outbox<M> {
    /// Takes the batches of the frames so far.
    pub(crate) fn take(&mut self) -> Vec<Batch<M>> {
        std::mem::take(&mut self.ready)
    }

    pub(crate) fn despawn(&mut self, slot: Slot) {
        self.current.despawned.push(slot);
        self.free.push(slot);
    }

    pub(crate) fn spawn(&mut self, instance: Instance<M>) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        self.current.spawned.push((slot, instance));
        slot
    }

    pub(crate) fn finish(&mut self, time: f64) {
        self.current.time = time;
        if !self.current.is_empty() {
            self.ready.push(std::mem::take(&mut self.current));
        }
    }
}
