//! What a game does with the instances of a crowd: it shows after the next `prepare`, which uploads only what changed.

use super::crowd::State;
use super::{Crowd, InstanceId};
use crate::instance::{finite_position, finite_scale, packed_rotation};
use crate::look::packed_tint;
use crate::{Clip, EventQueue, Instance, InstanceLook, InstanceRecord, Notice, Part, Transition, playback};

impl<M> Crowd<M> {
    /// Adds an instance. It starts at the clock's last prepared time, unless [`Instance::starting`] says otherwise.
    ///
    /// # Panics
    /// At 2^32 - 1 instances.
    pub fn spawn(&self, instance: Instance<M>) -> InstanceId {
        let record = instance.record(&self.meta, self.now());
        let state = &mut *self.core.state();
        let id = state.instances.spawn(record, instance.look());
        if let Some(queue) = &mut state.events {
            queue.play(&self.meta.clips, id.slot(), id, record.playback(), self.now());
        }
        id
    }

    /// Removes an instance; `false` if it was gone already.
    pub fn despawn(&self, id: InstanceId) -> bool {
        let state = &mut *self.core.state();
        state.layers.release(&state.instances, id);
        if let (Some(queue), Some(_)) = (&mut state.events, state.instances.get(id)) {
            queue.stop(&self.meta.clips, id.slot(), self.now());
        }
        state.instances.despawn(id)
    }

    /// Replaces an instance: what it plays starts anew. `false` if it is gone.
    pub fn set(&self, id: InstanceId, instance: Instance<M>) -> bool {
        let record = instance.record(&self.meta, self.now());
        let state = &mut *self.core.state();
        state.layers.release(&state.instances, id);
        self.change(state, id, |r| *r = record) && state.instances.change_look(id, |l| *l = instance.look())
    }

    /// Starts a clip now: at once, or fading from what it played. The instance stays where it is. `false` if it is gone.
    pub fn play(&self, id: InstanceId, clip: Clip<M>, transition: Transition) -> bool {
        let now = self.now();
        let next = transition.start.playback(&self.meta, clip.index(), now);
        let state = &mut *self.core.state();
        state.layers.set_paused(&state.instances, id, false, now);
        self.change(state, id, |r| r.play(&next, transition.fade, transition.curve, now))
    }

    /// What instances have come to since the last call, in the order of time: events of their clips, and the ends of those
    /// that do not start over. Up to the last prepared time; the first call begins there, and finds nothing.
    ///
    /// It costs as much as it finds. Fading clips and layers have no events. At most
    /// [`MOST_NOTICES`](crate::MOST_NOTICES) are told at once.
    ///
    /// ```no_run
    /// # use gpuskin_rt::*;
    /// # fn example<Soldier: BakedModel>(crowd: &Crowd<Soldier>, footstep: Event<Soldier>) {
    /// for notice in crowd.events() {
    ///     if notice.kind == NoticeKind::Event(footstep.index()) {
    ///         println!("{:?} sets a foot down at {:.3} s", notice.instance, notice.time.as_secs());
    ///     }
    /// }
    /// # }
    /// ```
    pub fn events(&self) -> Vec<Notice<InstanceId>> {
        let now = self.now();
        let state = &mut *self.core.state();
        let clips = &self.meta.clips;
        if let Some(queue) = &mut state.events {
            return queue.drain(clips, now).collect();
        }
        let mut queue = EventQueue::new();
        for (id, record) in state.instances.iter() {
            queue.play(clips, id.slot(), id, record.playback(), now);
        }
        state.events = Some(queue);
        Vec::new()
    }

    /// Changes an instance, and what it comes to.
    fn change(&self, state: &mut State, id: InstanceId, change: impl FnOnce(&mut InstanceRecord)) -> bool {
        let changed = state.instances.change(id, change);
        if let (Some(queue), Some(record)) = (&mut state.events, state.instances.get(id)) {
            queue.play(&self.meta.clips, id.slot(), id, record.playback(), self.now());
        }
        changed
    }

    /// Changes the pace of what an instance plays, without a jump: times the clip's own; 0 stands still, negative runs
    /// backwards. `false` if it is gone.
    pub fn set_speed(&self, id: InstanceId, speed: f32) -> bool {
        let now = self.now();
        self.change(&mut self.core.state(), id, |r| {
            let (clip, lengths) = (r.clip_index(), r.playback().repeat().lengths());
            let duration = self.meta.clips.get(clip).map_or(0.0, |clip| clip.duration);
            r.set_rate(playback::rate(f64::from(speed), duration * lengths), now);
        })
    }

    /// Goes to so many seconds of the clip that an instance plays, held at its ends. `false` if it is gone.
    pub fn seek(&self, id: InstanceId, seconds: f64) -> bool {
        let now = self.now();
        self.change(&mut self.core.state(), id, |r| {
            let duration = self.meta.clips.get(r.clip_index()).map_or(0.0, |clip| clip.duration);
            r.seek(if duration > 0.0 { seconds / duration } else { 0.0 }, now);
        })
    }

    /// Stops an instance where it is, its layers and fades too. `false` if it is gone.
    pub fn pause(&self, id: InstanceId) -> bool {
        self.set_paused(id, true)
    }

    /// Goes on from where [`Crowd::pause`] stopped it. `false` if it is gone.
    pub fn resume(&self, id: InstanceId) -> bool {
        self.set_paused(id, false)
    }

    fn set_paused(&self, id: InstanceId, paused: bool) -> bool {
        let now = self.now();
        let state = &mut *self.core.state();
        state.layers.set_paused(&state.instances, id, paused, now);
        self.change(state, id, |r| r.set_paused(paused, now))
    }

    /// Whether an instance has come to the end of a clip that does not start over; `None` if it is gone.
    pub fn is_finished(&self, id: InstanceId) -> Option<bool> {
        Some(self.get(id)?.is_finished(self.now()))
    }

    /// Moves an instance, metres; what it plays goes on. `false` if it is gone.
    pub fn move_to(&self, id: InstanceId, position: impl Into<[f32; 3]>) -> bool {
        let translation = finite_position(position.into());
        self.core.state().instances.change(id, |r| r.translation = translation)
    }

    /// Turns an instance by a unit quaternion `x, y, z, w` from how it was modelled; what it plays goes on.
    /// `false` if it is gone.
    pub fn rotate_to(&self, id: InstanceId, quaternion: impl Into<[f32; 4]>) -> bool {
        let rotation = packed_rotation(quaternion.into());
        self.core.state().instances.change(id, |r| r.rotation = rotation)
    }

    /// Makes an instance so many times as large as it was modelled; what it plays goes on. `false` if it is gone.
    pub fn scale_to(&self, id: InstanceId, scale: f32) -> bool {
        self.core.state().instances.change(id, |r| r.scale = finite_scale(scale))
    }

    /// Base colours of an instance are multiplied by a linear RGBA, 0..1. `false` if it is gone.
    pub fn set_tint(&self, id: InstanceId, tint: impl Into<[f32; 4]>) -> bool {
        let tint = packed_tint(tint.into());
        self.core.state().instances.change_look(id, |look| look.tint = tint)
    }

    /// Two words of an instance for the game's own shaders: `gpuskin_look(input.look).custom`. `false` if it is gone.
    pub fn set_custom(&self, id: InstanceId, words: [u32; 2]) -> bool {
        self.core.state().instances.change_look(id, |look| look.custom = words)
    }

    /// Shows or hides an instance; what it plays goes on. `false` if it is gone.
    pub fn set_visible(&self, id: InstanceId, visible: bool) -> bool {
        self.core.state().instances.change_look(id, |look| look.show(InstanceLook::INVISIBLE_BIT, visible))
    }

    /// Has an instance wear a part of its model, or not. `false` if it is gone.
    pub fn wear(&self, id: InstanceId, part: Part<M>, worn: bool) -> bool {
        self.core.state().instances.change_look(id, |look| look.show(InstanceLook::part_bit(part.index()), worn))
    }

    /// How an instance looks, as the shaders read it; `None` if it is gone.
    pub fn look(&self, id: InstanceId) -> Option<InstanceLook> {
        self.core.state().instances.look(id).copied()
    }

    /// The instance with that number, for picking: what [`Crowd::draw_numbered`] says plus `gpuskin_instance_number` in a
    /// shader. Numbers change when instances are despawned. `None` where there are not as many.
    pub fn id_at(&self, index: u32) -> Option<InstanceId> {
        self.core.state().instances.id_at(index as usize)
    }

    /// An instance as the shaders read it; `None` if it is gone.
    pub fn get(&self, id: InstanceId) -> Option<InstanceRecord> {
        self.core.state().instances.get(id).copied()
    }

    /// Number of instances.
    pub fn len(&self) -> usize {
        self.core.state().instances.records().len()
    }

    /// Whether there are no instances.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all instances; their ids become stale.
    pub fn clear(&self) {
        let state = &mut *self.core.state();
        state.layers.clear();
        state.instances.clear();
        if let Some(queue) = &mut state.events {
            queue.clear();
        }
    }
}
