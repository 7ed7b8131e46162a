//! Snapshots of crowds: the state of all instances as bytes, for save games, network play and lost
//! devices. `bytes` is the format; here are the commands of a crowd.

mod bytes;

use bytes::{Names, SnapshotState};

use super::crowd_core::CrowdState;
use super::{Crowd, Error, InstanceId, StaleId};
use crate::{Appearance, InstanceRecord, Metadata};

impl<M> Crowd<M> {
    /// Returns the state of all instances as bytes: transforms, motions, clips, fades, timing, appearances and
    /// layers, and the last prepared time. Poses of live bones are not part of it, because the game
    /// computes them.
    ///
    /// The bytes have a version and a checksum, and name clips, masks and parts, so that they outlive
    /// another bake of the model. 88 bytes per instance, 132 more with layers, and 88 more where it moves.
    ///
    /// ```no_run
    /// # use gpuskin_rt::*;
    /// # fn example<Soldier: BakedModel>(renderer: &mut CrowdRenderer, crowd: &Crowd<Soldier>) -> Result<(), Error> {
    /// let saved: Vec<u8> = crowd.snapshot();
    /// // Later, in another run, or on another device:
    /// let crowd = Crowd::<Soldier>::new(renderer, CrowdDescriptor::default())?;
    /// let ids = crowd.restore(&saved)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn snapshot(&self) -> Vec<u8> {
        let time = self.time();
        let state = &*self.core.state();
        let layers = state.instances.layer_sets().enumerate().filter_map(|(i, number)| {
            let set = state.layers.set(number.checked_sub(1)?).without_live_bones();
            (!set.is_over(time)).then_some((i as u32, set))
        });
        let records = state.instances.records().map(|record| record.with_layer_set(0));
        let appearances = state.instances.appearances();
        bytes::write(&Names::of(&self.meta), time, records, appearances, layers, state.instances.moving())
    }

    /// Replaces all instances by those of a [`Crowd::snapshot`], and returns their ids in the order of
    /// [`Crowd::id_at`] when the snapshot was taken. All earlier ids become stale.
    ///
    /// Playback continues from the last prepared time as it would have from the time of the snapshot: if
    /// the renderer's time is not before that of the snapshot, the next frames are equal to the bit.
    /// Attachments are not part of a snapshot: attach them in the same order. Layers are left out where
    /// the model plays none on this device.
    ///
    /// # Errors
    /// If the bytes are damaged, of another version, or of a model that lacks a clip, mask or part that
    /// an instance uses; or if the device has no memory for the layers. After an error about the bytes,
    /// the crowd is as before.
    pub fn restore(&self, snapshot: &[u8]) -> Result<Vec<InstanceId>, Error> {
        let fail = |reason: String| Error::Argument {
            model: self.meta.name.to_string(),
            reason: format!("restore: {reason}"),
        };
        let mut saved = SnapshotState::read(snapshot).map_err(fail)?;
        saved.rename(&Names::of(&self.meta)).map_err(fail)?;
        let time = self.time();
        let terrain = self.core.state().instances.terrain().cloned();
        saved.motions.iter_mut().for_each(|(_, motion)| *motion = motion.over_ground(terrain.as_ref()));
        saved.move_to(time, &self.meta.clips);
        let layered = self.core.model.geometry.poses().is_some();
        self.clear();
        let state = &mut *self.core.state_mut();
        let CrowdState { instances, layers, events, .. } = state;
        let both = saved.records.iter().zip(&saved.appearances);
        let ids: Vec<InstanceId> = both.map(|(record, appearance)| instances.spawn(*record, *appearance)).collect();
        let clips = &self.meta.clips;
        for (index, set) in saved.layers.iter().filter(|_| layered) {
            let id = ids[*index as usize];
            let slot = layers.of(instances, id, &self.meta.name, time)?;
            layers.change(instances, slot, time, |given| *given = *set);
            if let Some(queue) = events {
                queue.play_layers(clips, id, (slot, set), time);
            }
        }
        for (index, motion) in &saved.motions {
            instances.set_motion_state(*index as usize, ids[*index as usize], *motion);
        }
        if let Some(queue) = events {
            for (id, record) in ids.iter().zip(&saved.records) {
                queue.play(clips, *id, record.playback(), time);
            }
        }
        Ok(ids)
    }

    /// Adds an instance from a record, as [`Crowd::get`] and [`Crowd::appearance`] return them: for state
    /// from a network or a file of the game's own. Times in the record are those of this renderer.
    /// Numbers of the transform that are not finite become 0, a scale 1. Layers are not part of a record:
    /// [`Crowd::set_layers`] sets them.
    ///
    /// # Errors
    /// If the model lacks a clip of the record.
    pub fn spawn_record(&self, record: InstanceRecord, appearance: Appearance) -> Result<InstanceId, Error> {
        let record = checked(&self.meta, record)?.with_layer_set(0);
        let state = &mut *self.core.state_mut();
        let id = state.instances.spawn(record, appearance);
        if let Some(queue) = &mut state.events {
            queue.play(&self.meta.clips, id, record.playback(), self.time());
        }
        Ok(id)
    }

    /// Adds an instance that another crowd drew in the last frame, at the transform of the record. Motion vectors contain how it
    /// moves from there before the next frame. Otherwise like [`Crowd::spawn_record`].
    ///
    /// # Errors
    /// If the model lacks a clip of the record.
    pub fn adopt(&self, record: InstanceRecord, appearance: Appearance) -> Result<InstanceId, Error> {
        let id = self.spawn_record(record, appearance)?;
        self.core.state_mut().instances.adopt(id);
        Ok(id)
    }

    /// Replaces the record of an instance: transform, clips, fades and timing. Its appearance and layers
    /// stay. Otherwise like [`Crowd::spawn_record`].
    ///
    /// # Errors
    /// If the instance no longer exists, or if the model lacks a clip of the record.
    pub fn set_record(&self, id: InstanceId, record: InstanceRecord) -> Result<(), Error> {
        let record = checked(&self.meta, record)?;
        let state = &mut *self.core.state_mut();
        let layers = state.instances.get(id).ok_or(StaleId::Instance(id))?.layer_set();
        self.pause_layers(state, id, record.is_paused());
        Ok(self.change(state, id, |r| *r = record.with_layer_set(layers))?)
    }
}

/// Returns a record with a valid transform, or an error if the model lacks one of its clips.
fn checked(meta: &Metadata, mut record: InstanceRecord) -> Result<InstanceRecord, Error> {
    let count = meta.clips.len();
    let missing = record.map_clips(|clip| (usize::from(clip) < count).then_some(clip)).err();
    if let Some(clip) = missing {
        let reason = format!("clip {clip} of the record does not exist; the model has {count} clips");
        return Err(Error::Argument { model: meta.name.to_string(), reason });
    }
    record.set_transform(record.transform().finite());
    Ok(record)
}
