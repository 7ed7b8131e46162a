//! Commands on the layers of instances.

use super::crowd_core::CrowdState;
use super::palette::PoseEvaluator;
use super::{Crowd, Error, InstanceId, StaleId};
use crate::{Clip, LayerSet, Mask, Metadata, Playback, Repeat, Time, Transition};

/// Returns the pose pass of a crowd, or an error if the model has none, so that layers and live
/// bones are impossible.
pub(super) fn local_poses<'c, M>(crowd: &'c Crowd<M>, what: &'static str) -> Result<&'c PoseEvaluator, Error> {
    crowd.core.model.geometry.poses().map(|poses| &**poses).ok_or_else(|| Error::LocalPoses {
        model: crowd.meta.name.to_string(),
        what,
        encoding: crowd.variant().encoding.name(),
    })
}

fn argument(meta: &Metadata, reason: String) -> Error {
    Error::Argument { model: meta.name.to_string(), reason }
}

fn check_layer(meta: &Metadata, layer: usize) -> Result<(), Error> {
    if layer < LayerSet::LAYERS {
        return Ok(());
    }
    Err(argument(meta, format!("layer {layer} does not exist; layers are numbered 0 to {}", LayerSet::LAYERS - 1)))
}

impl<M> Crowd<M> {
    /// Plays a clip on one of the [`LayerSet::LAYERS`] layers of an instance, on the nodes of a
    /// mask, or on all nodes without a mask. The layer's weight fades to `weight`, 0..1, over the
    /// transition. If the layer already plays a clip, it crossfades; the mask changes at once. A
    /// clip with [`ClipInfo::additive`](crate::ClipInfo::additive) adds to the pose below. The
    /// layer stays until [`Crowd::stop_layer`]; a clip that plays once holds its last pose until
    /// then. [`Crowd::play_layer_once`] removes it at the end of the clip.
    ///
    /// Higher layers are blended over lower ones; an additive clip adds to the pose below. Layers add no
    /// cost to instances without layers.
    ///
    /// ```no_run
    /// # use gpuskin_rt::*;
    /// # fn example(crowd: Crowd<Dynamic>, id: InstanceId, aim: Clip<Dynamic>, upper_body: Mask<Dynamic>) -> Result<(), Error> {
    /// crowd.play_layer(id, 0, aim, Some(upper_body), Transition::crossfade(0.15), 1.0)?;
    /// // When the target is gone, fade back to walking:
    /// crowd.stop_layer(id, 0, 0.2)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the instance no longer exists; if the model does not play
    /// [`Encoding::LocalPacked`](crate::Encoding::LocalPacked) on this device; if the layer, clip
    /// or mask does not exist; or if the device has no memory for more instances with layers.
    pub fn play_layer(
        &self,
        id: InstanceId,
        layer: usize,
        clip: Clip<M>,
        mask: Option<Mask<M>>,
        transition: Transition,
        weight: f32,
    ) -> Result<(), Error> {
        self.start_layer(id, layer, clip, mask, transition, |set, next, mask, time| {
            set.play(layer, next, mask, &transition, weight, time);
        })
    }

    /// Plays a clip once on a layer, which then removes itself: attacks, reactions, gestures.
    ///
    /// Like [`Crowd::play_layer`], but the weight fades back to 0 at the end of the clip, for as long as
    /// the fade of the transition (rounded to 1/64 s, at most 8 s). The layer is gone when the clip ends,
    /// which [`Crowd::events`] reports. The clip plays once even if it loops otherwise.
    ///
    /// ```no_run
    /// # use gpuskin_rt::*;
    /// # fn example(crowd: Crowd<Dynamic>, id: InstanceId, attack: Clip<Dynamic>, upper_body: Mask<Dynamic>) -> Result<(), Error> {
    /// crowd.play_layer_once(id, 0, attack, Some(upper_body), Transition::crossfade(0.15), 1.0)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Crowd::play_layer`].
    pub fn play_layer_once(
        &self,
        id: InstanceId,
        layer: usize,
        clip: Clip<M>,
        mask: Option<Mask<M>>,
        transition: Transition,
        weight: f32,
    ) -> Result<(), Error> {
        let transition = transition.repeat(Repeat::Once);
        self.start_layer(id, layer, clip, mask, transition, |set, next, mask, time| {
            set.play_once(layer, next, mask, &transition, weight, time);
        })
    }

    /// Checks the arguments of a layer, and starts it with `start`.
    fn start_layer(
        &self,
        id: InstanceId,
        layer: usize,
        clip: Clip<M>,
        mask: Option<Mask<M>>,
        transition: Transition,
        start: impl FnOnce(&mut LayerSet, &Playback, Option<u8>, Time),
    ) -> Result<(), Error> {
        local_poses(self, "layers")?;
        let (meta, time) = (&*self.meta, self.time());
        check_layer(meta, layer)?;
        if clip.index() as usize >= meta.clips.len() {
            return Err(argument(
                meta,
                format!("clip {} does not exist; the model has {} clips", clip.index(), meta.clips.len()),
            ));
        }
        if let Some(mask) = mask.filter(|mask| mask.index() as usize >= meta.masks.len()) {
            return Err(argument(
                meta,
                format!("mask {} does not exist; the model has {} masks", mask.index(), meta.masks.len()),
            ));
        }
        let next = transition.start.playback(meta, clip.index(), time);
        let state = &mut *self.core.state_mut();
        let CrowdState { instances, layers, .. } = state;
        let slot = layers.of(instances, id, &meta.name, time)?;
        let paused = instances.get(id).is_some_and(|record| record.is_paused());
        layers.change(instances, slot, time, |set| {
            start(set, &next, mask.map(Mask::index), time);
            set.set_paused(paused, time);
        });
        state.follow_layers(&meta.clips, id, slot, time);
        Ok(())
    }

    /// Fades the weight of a layer to `weight`, 0..1, over `seconds`. Has no effect on an instance without layers.
    ///
    /// # Errors
    /// If the instance no longer exists, or for a layer number that is too great.
    pub fn set_layer_weight(&self, id: InstanceId, layer: usize, weight: f32, seconds: f32) -> Result<(), Error> {
        let time = self.time();
        check_layer(&self.meta, layer)?;
        let state = &mut *self.core.state_mut();
        let CrowdState { instances, layers, .. } = state;
        let record = instances.get(id).ok_or(StaleId::Instance(id))?;
        if let Some(slot) = record.layer_set().checked_sub(1) {
            layers.change(instances, slot, time, |set| set.set_weight(layer, weight, seconds, time));
            state.follow_layers(&self.meta.clips, id, slot, time);
        }
        Ok(())
    }

    /// Fades out a layer over `seconds`. Has no effect on an instance without layers.
    ///
    /// # Errors
    /// If the instance no longer exists, or for a layer number that is too great.
    pub fn stop_layer(&self, id: InstanceId, layer: usize, seconds: f32) -> Result<(), Error> {
        self.set_layer_weight(id, layer, 0.0, seconds)
    }

    /// Returns the layers of an instance; `None` if the instance no longer exists or has no layers.
    pub fn layers(&self, id: InstanceId) -> Option<LayerSet> {
        let state = self.core.state();
        let slot = state.instances.get(id)?.layer_set().checked_sub(1)?;
        Some(*state.layers.set(slot))
    }

    /// Replaces the layers of an instance by those that [`Crowd::layers`] returned for an instance of the same model: with
    /// [`Crowd::get`] and [`Crowd::adopt`], an instance goes on in another crowd of the same renderer.
    ///
    /// Live bones keep their weight, and its fade. The poses of live bones are not part of the layers: until
    /// [`Crowd::update_live_bones`], the bones play the clip.
    ///
    /// # Errors
    /// If the instance no longer exists; if the model does not play
    /// [`Encoding::LocalPacked`](crate::Encoding::LocalPacked) on this device, or lacks a clip or mask of the layers; or if the
    /// device has no memory for more instances with layers.
    pub fn set_layers(&self, id: InstanceId, layers: &LayerSet) -> Result<(), Error> {
        local_poses(self, "layers")?;
        let (meta, time, mut set) = (&*self.meta, self.time(), *layers);
        let known = |count: usize| move |index: u16| (usize::from(index) < count).then_some(index);
        let missing = |what: &str| {
            let what = what.to_owned();
            move |index: u16| argument(meta, format!("set_layers: {what} {index} does not exist"))
        };
        set.map_clips(known(meta.clips.len())).map_err(missing("clip"))?;
        set.map_masks(known(meta.masks.len())).map_err(missing("mask"))?;
        let state = &mut *self.core.state_mut();
        let CrowdState { instances, layers, .. } = state;
        let slot = layers.of(instances, id, &meta.name, time)?;
        layers.replace(&self.core.device, slot, &mut set, &meta.name)?;
        let paused = instances.get(id).is_some_and(|record| record.is_paused());
        layers.change(instances, slot, time, |given| {
            *given = set;
            given.set_paused(paused, time);
        });
        state.follow_layers(&meta.clips, id, slot, time);
        Ok(())
    }
}
