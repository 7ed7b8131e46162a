//! Events of a crowd: those of the clips of its instances, and those of their layers.

use super::InstanceId;
use crate::{ClipInfo, EventQueue, FiredEvent, FiredEventKind, LayerSet, Playback, Time};

/// Event queues of a crowd that records events.
#[derive(Debug, Default)]
pub(super) struct CrowdEvents {
    clips: EventQueue<InstanceId>,
    /// The slot of a layer is that of its layer set times the number of layers, plus its number.
    layers: EventQueue<(InstanceId, u8)>,
}

impl CrowdEvents {
    /// Sets the playback of an instance, from `time` on.
    pub(super) fn play(&mut self, clips: &[ClipInfo], id: InstanceId, playback: Playback, time: Time) {
        self.clips.play(clips, id.slot(), id, playback, time);
    }

    /// Removes an instance; `layers`: its layer set.
    pub(super) fn stop(&mut self, clips: &[ClipInfo], id: InstanceId, layers: Option<u32>, time: Time) {
        self.clips.stop(clips, id.slot(), time);
        layers.into_iter().for_each(|slot| self.stop_layers(clips, slot, time));
    }

    /// Removes the layers of a layer set.
    pub(super) fn stop_layers(&mut self, clips: &[ClipInfo], slot: u32, time: Time) {
        numbers(slot).for_each(|(number, _)| self.layers.stop(clips, number, time));
    }

    /// Sets the playback of the layers of an instance, from `time` on. Layers whose weight goes to zero
    /// fire no more events.
    pub(super) fn play_layers(
        &mut self,
        clips: &[ClipInfo],
        id: InstanceId,
        (slot, set): (u32, &LayerSet),
        time: Time,
    ) {
        for (number, layer) in numbers(slot) {
            match set.visible_playback(layer.into()) {
                Some(playback) => self.layers.play(clips, number, (id, layer), playback, time),
                None => self.layers.stop(clips, number, time),
            }
        }
    }

    /// Returns the events before `time` that were not returned yet, in order of time.
    pub(super) fn drain(&mut self, clips: &[ClipInfo], time: Time) -> Vec<FiredEvent<InstanceId>> {
        let mut fired: Vec<_> = self.clips.drain(clips, time).collect();
        let of_clips = fired.len();
        fired.extend(self.layers.drain(clips, time).map(|FiredEvent { instance: (instance, layer), time, kind }| {
            let kind = match kind {
                FiredEventKind::Finished => FiredEventKind::LayerFinished(layer),
                kind => kind,
            };
            FiredEvent { instance, time, kind }
        }));
        if of_clips > 0 && of_clips < fired.len() {
            fired.sort_by_key(|fired| fired.time);
        }
        fired
    }

    pub(super) fn clear(&mut self) {
        self.clips.clear();
        self.layers.clear();
    }
}

/// Returns the slots of the layers of a layer set in the queue, each with the number of its layer.
fn numbers(slot: u32) -> impl Iterator<Item = (u32, u8)> {
    (0..LayerSet::LAYERS as u8).map(move |layer| (slot * LayerSet::LAYERS as u32 + u32::from(layer), layer))
}
