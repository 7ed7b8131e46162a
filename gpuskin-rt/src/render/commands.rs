//! Commands on the instances of a crowd. They take effect at the next `prepare`, which uploads only
//! the changes.

use super::crowd_core::CrowdState;
use super::crowd_events::CrowdEvents;
use super::{Crowd, InstanceId, StaleId};
use crate::appearance::packed_tint;
use crate::transform::{finite_position, finite_scale, unit_rotation};
use crate::{
    Appearance, Clip, FiredEvent, Instance, InstanceRecord, ModelVariant, Motion, Part, Terrain, Transform, Transition,
};
use glam::Quat;

impl<M> Crowd<M> {
    /// Adds an instance. It starts at the last prepared time, unless [`Instance::starting`] says
    /// otherwise.
    ///
    /// # Panics
    /// With 2^32 - 1 instances in the crowd already.
    pub fn spawn(&self, instance: Instance<M>) -> InstanceId {
        let record = instance.record(&self.meta, self.time());
        self.add(&mut self.core.state_mut(), record, &instance)
    }

    pub(super) fn add(&self, state: &mut CrowdState, record: InstanceRecord, instance: &Instance<M>) -> InstanceId {
        let id = state.instances.spawn(record, instance.appearance());
        // A new instance exists.
        let _ = state.instances.set_motions(&[id], &[instance.motion()]);
        if let Some(queue) = &mut state.events {
            queue.play(&self.meta.clips, id, record.playback(), self.time());
        }
        id
    }

    /// Removes an instance.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn despawn(&self, id: InstanceId) -> Result<(), StaleId> {
        self.remove(&mut self.core.state_mut(), id)
    }

    pub(super) fn remove(&self, state: &mut CrowdState, id: InstanceId) -> Result<(), StaleId> {
        let layers = state.layer_set(id);
        state.layers.release(&state.instances, id);
        if let (Some(queue), Some(_)) = (&mut state.events, state.instances.get(id)) {
            queue.stop(&self.meta.clips, id, layers, self.time());
        }
        state.instances.despawn(id)
    }

    /// Replaces an instance; its clip starts anew. In motion vectors it stands still: this also moves an
    /// instance from one place to another without a trace.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn set(&self, id: InstanceId, instance: Instance<M>) -> Result<(), StaleId> {
        let record = instance.record(&self.meta, self.time());
        let state = &mut *self.core.state_mut();
        let layers = state.layer_set(id);
        if let (Some(queue), Some(slot)) = (&mut state.events, layers) {
            queue.stop_layers(&self.meta.clips, slot, self.time());
        }
        state.layers.release(&state.instances, id);
        self.change(state, id, |r| *r = record)?;
        state.instances.place(id);
        state.instances.set_motions(&[id], &[instance.motion()])?;
        state.instances.change_appearance(id, |appearance| *appearance = instance.appearance())
    }

    /// Starts a clip at the last prepared time, at once or as a crossfade from the current one. The
    /// instance keeps its transform.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn play(&self, id: InstanceId, clip: Clip<M>, transition: Transition) -> Result<(), StaleId> {
        self.start(&mut self.core.state_mut(), id, clip, transition)
    }

    pub(super) fn start(
        &self,
        state: &mut CrowdState,
        id: InstanceId,
        clip: Clip<M>,
        transition: Transition,
    ) -> Result<(), StaleId> {
        let time = self.time();
        let next = transition.start.playback(&self.meta, clip.index(), time);
        self.pause_layers(state, id, false);
        self.change_playback(state, id, |r| r.play(&next, transition.fade, transition.curve, time))
    }

    /// Returns the events fired since the last call, in order of time: events of clips, and ends of
    /// clips that play once, on instances and on their layers. They reach up to the last prepared time.
    /// The first call starts the recording and returns nothing.
    ///
    /// A clip fires events from the command that starts it until the command that replaces or stops it;
    /// what fades out afterwards fires none. The cost is proportional to the number of events returned.
    /// One call returns at most 2^20 events of clips, and as many of layers.
    ///
    /// ```no_run
    /// # use gpuskin_rt::*;
    /// # fn example<Soldier: BakedModel>(crowd: &Crowd<Soldier>, footstep: Event<Soldier>) {
    /// for fired in crowd.events() {
    ///     if fired.kind == FiredEventKind::Event(footstep.index()) {
    ///         println!("{:?}: footstep at {:.3} s", fired.instance, fired.time.as_secs());
    ///     }
    /// }
    /// # }
    /// ```
    pub fn events(&self) -> Vec<FiredEvent<InstanceId>> {
        let time = self.time();
        let state = &mut *self.core.locked();
        let clips = &self.meta.clips;
        if let Some(queue) = &mut state.events {
            return queue.drain(clips, time);
        }
        let mut queue = CrowdEvents::default();
        for (id, record) in state.instances.iter() {
            queue.play(clips, id, record.playback(), time);
            if let Some(slot) = record.layer_set().checked_sub(1) {
                queue.play_layers(clips, id, (slot, state.layers.set(slot)), time);
            }
        }
        state.events = Some(queue);
        Vec::new()
    }

    /// Changes an instance record, and updates the event queue.
    pub(super) fn change(
        &self,
        state: &mut CrowdState,
        id: InstanceId,
        change: impl FnOnce(&mut InstanceRecord),
    ) -> Result<(), StaleId> {
        let changed = state.instances.change(id, change);
        self.follow(state, id);
        changed
    }

    /// Changes what an instance plays, and updates the event queue.
    fn change_playback(
        &self,
        state: &mut CrowdState,
        id: InstanceId,
        change: impl FnOnce(&mut InstanceRecord),
    ) -> Result<(), StaleId> {
        let changed = state.instances.change_playback(id, change);
        self.follow(state, id);
        changed
    }

    /// Updates the event queue after a change of an instance.
    fn follow(&self, state: &mut CrowdState, id: InstanceId) {
        if let Some(queue) = &mut state.events
            && let Some(playback) = state.instances.playback(id)
        {
            queue.play(&self.meta.clips, id, playback, self.time());
        }
    }

    /// Pauses or resumes the layers of an instance. Called before the instance record changes.
    pub(super) fn pause_layers(&self, state: &mut CrowdState, id: InstanceId, paused: bool) {
        let time = self.time();
        state.layers.set_paused(&state.instances, id, paused, time);
        if let Some(slot) = state.layer_set(id) {
            state.follow_layers(&self.meta.clips, id, slot, time);
        }
    }

    /// Sets the playback speed of an instance without a jump, as a factor of the clip's own speed:
    /// 0 pauses, negative values play backwards.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn set_speed(&self, id: InstanceId, speed: f32) -> Result<(), StaleId> {
        self.pace(&mut self.core.state_mut(), id, speed)
    }

    pub(super) fn pace(&self, state: &mut CrowdState, id: InstanceId, speed: f32) -> Result<(), StaleId> {
        let time = self.time();
        self.change_playback(state, id, |r| r.set_speed(&self.meta, speed, time))
    }

    /// Seeks to a time within the current clip of an instance, in seconds, clamped to the clip.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn seek(&self, id: InstanceId, seconds: f64) -> Result<(), StaleId> {
        let time = self.time();
        self.change_playback(&mut self.core.state_mut(), id, |r| r.seek_to(&self.meta, seconds, time))
    }

    /// Pauses an instance at its current pose, layers and fades included, or resumes it from there.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn set_paused(&self, id: InstanceId, paused: bool) -> Result<(), StaleId> {
        let time = self.time();
        let state = &mut *self.core.state_mut();
        self.pause_layers(state, id, paused);
        self.change_playback(state, id, |r| r.set_paused(paused, time))
    }

    /// Whether an instance has reached the end of a clip that plays once.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn is_finished(&self, id: InstanceId) -> Result<bool, StaleId> {
        Ok(self.get(id).ok_or(StaleId::Instance(id))?.is_finished(self.time()))
    }

    /// Returns the transform of an instance; `None` if it no longer exists.
    pub fn transform(&self, id: InstanceId) -> Option<Transform> {
        Some(self.get(id)?.transform())
    }

    /// Sets the transform of an instance. Playback continues. Numbers that are not finite become 0, a
    /// scale 1, a quaternion no rotation.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn set_transform(&self, id: InstanceId, transform: Transform) -> Result<(), StaleId> {
        let transform = transform.finite();
        self.core.state_mut().instances.change_transform(id, |t| *t = transform)
    }

    /// Moves an instance at constant rates or by its root motion from the last prepared time on, until another
    /// motion replaces this one: [`Motion::STILL`] stops it. The device computes where it is, at no cost to the CPU
    /// per frame; culling, attachments, sockets and motion vectors follow. Commands that move or turn it, or change
    /// what it plays, take effect at once, and the motion goes on from there.
    ///
    /// If no clip of the model has root motion, [`Motion::following_root`] is [`Motion::STILL`].
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn set_motion(&self, id: InstanceId, motion: Motion) -> Result<(), StaleId> {
        self.core.state_mut().instances.set_motions(&[id], &[motion])
    }

    /// Keeps instances that move on the ground, from where they are at the last prepared time; `None`: they move as if there
    /// were none. Their height above the ground stays as it is, and changes with their vertical velocity: place them on it with
    /// [`Terrain::height`]. If the terrain tilts instances, those that move lean as the ground does and not otherwise. The
    /// device computes it in the same pass, from a copy of the heights that all crowds of the renderer share.
    /// Commands and queries are in world space, as without a terrain. Instances that stand do not change.
    pub fn set_terrain(&self, terrain: Option<&Terrain>) {
        self.core.state_mut().instances.set_terrain(terrain.cloned());
    }

    /// Returns the motion of an instance; `None` if it no longer exists.
    pub fn motion(&self, id: InstanceId) -> Option<Motion> {
        self.core.state().instances.motion_of(id)
    }

    /// Moves an instance; `position` is in world space, metres. Playback continues.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn move_to(&self, id: InstanceId, position: impl Into<[f32; 3]>) -> Result<(), StaleId> {
        let translation = finite_position(position.into());
        self.core.state_mut().instances.change_transform(id, |t| t.translation = translation)
    }

    /// Rotates an instance by a unit quaternion `x, y, z, w`, from model space to world space.
    /// Playback continues.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn rotate_to(&self, id: InstanceId, quaternion: impl Into<[f32; 4]>) -> Result<(), StaleId> {
        let rotation = unit_rotation(quaternion.into());
        self.core.state_mut().instances.change_transform(id, |t| t.rotation = rotation)
    }

    /// Turns an instance about the y axis: radians, counter-clockwise seen from above. Playback continues.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn face(&self, id: InstanceId, yaw: f32) -> Result<(), StaleId> {
        self.rotate_to(id, Quat::from_rotation_y(yaw))
    }

    /// Moves and turns an instance: `position` in world space, metres; `yaw` as in [`Crowd::face`].
    /// Playback continues.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn move_and_face(&self, id: InstanceId, position: impl Into<[f32; 3]>, yaw: f32) -> Result<(), StaleId> {
        let translation = finite_position(position.into());
        let rotation = unit_rotation(Quat::from_rotation_y(yaw).into());
        self.core.state_mut().instances.change_transform(id, |t| (t.translation, t.rotation) = (translation, rotation))
    }

    /// Sets the uniform scale of an instance; 1 is the size of the model. Playback continues.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn scale_to(&self, id: InstanceId, scale: f32) -> Result<(), StaleId> {
        self.core.state_mut().instances.change_transform(id, |t| t.scale = finite_scale(scale))
    }

    /// Sets the tint of an instance: linear RGBA, 0..1, multiplied with its base colours.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn set_tint(&self, id: InstanceId, tint: impl Into<[f32; 4]>) -> Result<(), StaleId> {
        let tint = packed_tint(tint.into());
        self.core.state_mut().instances.change_appearance(id, |appearance| appearance.tint = tint)
    }

    /// Sets the two custom words of an instance, for the game's own shaders:
    /// `gpuskin_appearance(input.appearance).custom`.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn set_custom(&self, id: InstanceId, words: [u32; 2]) -> Result<(), StaleId> {
        self.core.state_mut().instances.change_appearance(id, |appearance| appearance.custom = words)
    }

    /// Sets the variant of the model's materials on an instance; playback continues.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn set_variant(&self, id: InstanceId, variant: ModelVariant<M>) -> Result<(), StaleId> {
        self.core.state_mut().instances.change_appearance(id, |appearance| appearance.variant = variant.index().into())
    }

    /// Shows or hides an instance; playback continues.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn set_visible(&self, id: InstanceId, visible: bool) -> Result<(), StaleId> {
        self.core
            .state_mut()
            .instances
            .change_appearance(id, |appearance| appearance.show(Appearance::INVISIBLE_BIT, visible))
    }

    /// Shows or hides a part of the model on one instance.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn set_part_visible(&self, id: InstanceId, part: Part<M>, visible: bool) -> Result<(), StaleId> {
        self.core
            .state_mut()
            .instances
            .change_appearance(id, |appearance| appearance.show(Appearance::part_bit(part.index()), visible))
    }

    /// Returns the appearance of an instance, as the shaders read it; `None` if the instance no
    /// longer exists.
    pub fn appearance(&self, id: InstanceId) -> Option<Appearance> {
        self.core.state().instances.appearance(id)
    }

    /// Returns the instance with a given number, for picking: the number is `first_instance` of
    /// [`CustomPart`](crate::pipeline::CustomPart) plus `gpuskin_instance_number` in a shader.
    /// Despawning changes the numbers of other instances. `None` if `index` is not below
    /// [`Crowd::len`].
    pub fn id_at(&self, index: u32) -> Option<InstanceId> {
        self.core.state().instances.id_at(index as usize)
    }

    /// Returns the record of an instance: its transform, and what it plays; `None` if the instance no longer
    /// exists.
    pub fn get(&self, id: InstanceId) -> Option<InstanceRecord> {
        self.core.state().instances.get(id)
    }

    /// Number of instances.
    pub fn len(&self) -> usize {
        self.core.state().instances.len()
    }

    /// Whether there are no instances.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all instances. Their ids become stale.
    pub fn clear(&self) {
        let state = &mut *self.core.state_mut();
        state.layers.clear();
        state.instances.clear();
        if let Some(queue) = &mut state.events {
            queue.clear();
        }
    }
}
