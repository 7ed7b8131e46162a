//! Commands on many instances at once, at about the cost of copying their values.

use super::{Crowd, Error, InstanceId, StaleId};
use crate::appearance::packed_tint;
use crate::{Clip, Instance, ModelVariant, Motion, Transform, Transition};

impl<M> Crowd<M> {
    /// Adds many instances, each as [`Crowd::spawn`] does. Returns their ids in the same order.
    ///
    /// # Panics
    /// With 2^32 - 1 instances in the crowd already.
    pub fn spawn_many(&self, instances: impl IntoIterator<Item = Instance<M>>) -> Vec<InstanceId> {
        let time = self.time();
        // Before the lock: the iterator is the game's, and may use the crowd.
        let new: Vec<_> = instances.into_iter().map(|instance| (instance.record(&self.meta, time), instance)).collect();
        let state = &mut *self.core.state_mut();
        new.into_iter().map(|(record, instance)| self.add(state, record, &instance)).collect()
    }

    /// Removes many instances.
    ///
    /// # Errors
    /// If one no longer exists: all others are removed, and the error names the first.
    pub fn despawn_many(&self, ids: &[InstanceId]) -> Result<(), StaleId> {
        let state = &mut *self.core.state_mut();
        first_error(ids.iter().map(|id| self.remove(state, *id)))
    }

    /// Sets the transforms of many instances; `transforms[i]` is that of `ids[i]`. Playback continues.
    /// Numbers that are not finite become 0, a scale 1, a quaternion no rotation.
    ///
    /// ```no_run
    /// # use gpuskin_rt::*;
    /// # fn march<Soldier: BakedModel>(crowd: &Crowd<Soldier>, ids: &[InstanceId], seconds: f32) -> Result<(), Error> {
    /// let transforms: Vec<Transform> =
    ///     (0..ids.len()).map(|i| Transform::at([i as f32, 0.0, 1.4 * seconds]).facing(0.0)).collect();
    /// crowd.set_transforms(ids, &transforms)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the slices have different lengths: nothing is set. If an instance no longer exists: all others
    /// are set, and the error names the first.
    pub fn set_transforms(&self, ids: &[InstanceId], transforms: &[Transform]) -> Result<(), Error> {
        self.same_length("set_transforms", ids.len(), "transforms", transforms.len())?;
        Ok(self.core.state_mut().instances.set_transforms(ids, transforms)?)
    }

    /// Changes the transforms of all instances in place: element `i` is that of [`Crowd::id_at`] `i`.
    /// Several threads may share the slice. Other calls on the crowd wait until `update` returns; from
    /// within `update` they would wait forever.
    ///
    /// ```no_run
    /// # use gpuskin_rt::*;
    /// # fn fall<Soldier: BakedModel>(crowd: &Crowd<Soldier>, metres: f32) {
    /// crowd.update_transforms(|transforms| {
    ///     std::thread::scope(|scope| {
    ///         for chunk in transforms.chunks_mut(10_000) {
    ///             scope.spawn(move || chunk.iter_mut().for_each(|transform| transform.translation[1] -= metres));
    ///         }
    ///     });
    /// });
    /// # }
    /// ```
    pub fn update_transforms(&self, update: impl FnOnce(&mut [Transform])) {
        self.core.state_mut().instances.update_transforms(update);
    }

    /// Sets the motions of many instances, `motions[i]` of `ids[i]`, each as [`Crowd::set_motion`] does.
    ///
    /// # Errors
    /// If the slices have different lengths: nothing is set. If an instance no longer exists: all others
    /// are set, and the error names the first.
    pub fn set_motions(&self, ids: &[InstanceId], motions: &[Motion]) -> Result<(), Error> {
        self.same_length("set_motions", ids.len(), "motions", motions.len())?;
        Ok(self.core.state_mut().instances.set_motions(ids, motions)?)
    }

    /// Starts a clip on many instances, `clips[i]` on `ids[i]`, each as [`Crowd::play`] does.
    ///
    /// # Errors
    /// If the slices have different lengths: nothing is played. If an instance no longer exists: all others
    /// play, and the error names the first.
    pub fn play_many(&self, ids: &[InstanceId], clips: &[Clip<M>], transition: Transition) -> Result<(), Error> {
        self.same_length("play_many", ids.len(), "clips", clips.len())?;
        let state = &mut *self.core.state_mut();
        let play = |(id, clip): (&InstanceId, &Clip<M>)| self.start(state, *id, *clip, transition);
        Ok(first_error(ids.iter().zip(clips).map(play))?)
    }

    /// Sets the speeds of many instances, `speeds[i]` of `ids[i]`, each as [`Crowd::set_speed`] does.
    ///
    /// # Errors
    /// If the slices have different lengths: nothing is set. If an instance no longer exists: all others
    /// are set, and the error names the first.
    pub fn set_speeds(&self, ids: &[InstanceId], speeds: &[f32]) -> Result<(), Error> {
        self.same_length("set_speeds", ids.len(), "speeds", speeds.len())?;
        let state = &mut *self.core.state_mut();
        let set = |(id, speed): (&InstanceId, &f32)| self.pace(state, *id, *speed);
        Ok(first_error(ids.iter().zip(speeds).map(set))?)
    }

    /// Sets the tints of many instances, `tints[i]` of `ids[i]`: linear RGBA, 0..1, multiplied with their
    /// base colours.
    ///
    /// # Errors
    /// If the slices have different lengths: nothing is set. If an instance no longer exists: all others
    /// are set, and the error names the first.
    pub fn set_tints(&self, ids: &[InstanceId], tints: &[[f32; 4]]) -> Result<(), Error> {
        self.same_length("set_tints", ids.len(), "tints", tints.len())?;
        let set = |appearance: &mut crate::Appearance, tint| appearance.tint = packed_tint(tint);
        Ok(self.core.state_mut().instances.change_appearances(ids, tints, set)?)
    }

    /// Sets the custom words of many instances, `words[i]` of `ids[i]`, each as [`Crowd::set_custom`]
    /// does.
    ///
    /// # Errors
    /// If the slices have different lengths: nothing is set. If an instance no longer exists: all others
    /// are set, and the error names the first.
    pub fn set_customs(&self, ids: &[InstanceId], words: &[[u32; 2]]) -> Result<(), Error> {
        self.same_length("set_customs", ids.len(), "words", words.len())?;
        let set = |appearance: &mut crate::Appearance, words| appearance.custom = words;
        Ok(self.core.state_mut().instances.change_appearances(ids, words, set)?)
    }

    /// Sets the variants of many instances, `variants[i]` of `ids[i]`, each as [`Crowd::set_variant`] does.
    ///
    /// # Errors
    /// If the slices have different lengths: nothing is set. If an instance no longer exists: all others
    /// are set, and the error names the first.
    pub fn set_variants(&self, ids: &[InstanceId], variants: &[ModelVariant<M>]) -> Result<(), Error> {
        self.same_length("set_variants", ids.len(), "variants", variants.len())?;
        let set = |appearance: &mut crate::Appearance, variant: ModelVariant<M>| {
            appearance.variant = variant.index().into();
        };
        Ok(self.core.state_mut().instances.change_appearances(ids, variants, set)?)
    }

    fn same_length(&self, command: &str, ids: usize, what: &str, values: usize) -> Result<(), Error> {
        if ids == values {
            return Ok(());
        }
        let reason = format!("{command}: {ids} ids, but {values} {what}; pass as many of both");
        Err(Error::Argument { model: self.meta.name.to_string(), reason })
    }
}

/// Runs all commands, and returns the first error.
fn first_error(results: impl Iterator<Item = Result<(), StaleId>>) -> Result<(), StaleId> {
    results.filter_map(Result::err).reduce(|first, _| first).map_or(Ok(()), Err)
}
