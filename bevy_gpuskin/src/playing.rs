//! Clip and layers of a character in the main world, for events and sockets.

use gpuskin_rt::{Appearance, BakedModel, InstancePose, InstanceRecord, LayerSet, LiveBones, Metadata, Repeat, Time};

use crate::outbox::{Command, LayerStart};

/// Clip and layers of a character: what the renderer's instance has after the same commands.
#[derive(Debug)]
pub(crate) struct Playing {
    pub(crate) record: InstanceRecord,
    pub(crate) layers: Option<Box<LayerSet>>,
    /// Parts that are hidden: [`Appearance::hidden`](gpuskin_rt::Appearance::hidden).
    pub(crate) hidden: u32,
}

impl Playing {
    /// Applies a command at the time of the frame. Returns whether the clip and the layers have changed.
    pub(crate) fn apply<M: BakedModel>(&mut self, command: &Command<M>, meta: &Metadata, time: Time) -> bool {
        match command {
            Command::Play(clip, transition) => self.record.play_clip(meta, *clip, *transition, time),
            Command::Speed(speed) => self.record.set_speed(meta, *speed, time),
            Command::Seek(seconds) => self.record.seek_to(meta, *seconds, time),
            Command::Pause(paused) => {
                self.record.set_paused(*paused, time);
                if let Some(layers) = &mut self.layers {
                    layers.set_paused(*paused, time);
                }
            }
            Command::Layer(start) => self.start_layer(start, meta, time),
            Command::LayerWeight(layer, weight, seconds) => {
                if let Some(layers) = self.layers.as_mut().filter(|_| *layer < LayerSet::LAYERS) {
                    layers.set_weight(*layer, *weight, *seconds, time);
                }
            }
            Command::ReleaseLive(seconds) => {
                if let Some(layers) = &mut self.layers {
                    layers.release_live_bones(*seconds, time);
                }
                return false;
            }
            Command::Part(part, visible) => {
                let bit = Appearance::part_bit(part.index());
                self.hidden = if *visible { self.hidden & !bit } else { self.hidden | bit };
                return false;
            }
            Command::Tint(_) | Command::Custom(_) | Command::Variant(_) | Command::Attachment(..) => return false,
        }
        true
    }

    fn start_layer<M: BakedModel>(&mut self, start: &LayerStart<M>, meta: &Metadata, time: Time) {
        let LayerStart { layer, clip, mask, transition, weight, once } = start;
        // The renderer reports it.
        if *layer >= LayerSet::LAYERS {
            return;
        }
        let set = self.layers.get_or_insert_default();
        let mask = mask.map(gpuskin_rt::Mask::index);
        if *once {
            let transition = transition.repeat(Repeat::Once);
            let next = transition.playback(meta, *clip, time);
            set.play_once(*layer, &next, mask, &transition, *weight, time);
        } else {
            let next = transition.playback(meta, *clip, time);
            set.play(*layer, &next, mask, transition, *weight, time);
        }
        set.set_paused(self.record.is_paused(), time);
    }

    /// Fades live bones in over `seconds`.
    pub(crate) fn start_live_bones(&mut self, seconds: f32, time: Time) {
        // The pose itself is not part of the set.
        self.layers.get_or_insert_default().set_live_bones(&LiveBones::Model(&[]), 0, seconds, time);
    }

    pub(crate) fn pose(&self) -> InstancePose<'_> {
        let pose = InstancePose::new(&self.record);
        match &self.layers {
            Some(layers) => pose.with_layers(layers),
            None => pose,
        }
    }
}
