//! World-space bounding boxes of instances: for culling, picking and servers.

use glam::Vec3;

use crate::{Aabb, InstanceRecord, Metadata, Time};

/// Margin as a fraction of the diagonal: between frames, bones move on arcs that leave the box
/// around the frames.
const ARC_MARGIN: f32 = 1.0 / 64.0;
/// Margin as a fraction of the diagonal: a crossfade moves bones along arcs that leave the boxes of
/// both clips.
const FADE_MARGIN: f32 = 0.05;

impl Metadata {
    /// Returns the world-space bounding box of an instance at a time. Without a crossfade: the box
    /// of its clip's frames plus 1/64 of the diagonal. In a crossfade: the boxes of all its clips
    /// plus 1/20. Layers and live bones are not included.
    pub fn world_bounds(&self, instance: &InstanceRecord, time: impl Into<Time>) -> Aabb {
        let bounds = |clip: usize| self.clips.get(clip).or(self.clips.first()).map_or(self.bounds, |clip| clip.bounds);
        let mut clips = instance.clips(time.into()).map(bounds);
        let current = clips.next().unwrap_or(self.bounds);
        let (all, margin) = match clips.reduce(Aabb::union) {
            Some(sources) => (sources.union(current), FADE_MARGIN),
            None => (current, ARC_MARGIN),
        };
        let margin = margin * all.diagonal();
        instance.bounds(&Aabb { min: all.min.map(|c| c - margin), max: all.max.map(|c| c + margin) })
    }
}

impl InstanceRecord {
    /// Returns the world-space bounding box of a model-space box; empty if that is empty.
    #[doc(hidden)]
    pub fn bounds(&self, model: &Aabb) -> Aabb {
        let (min, max) = (Vec3::from(model.min), Vec3::from(model.max));
        if !min.cmple(max).all() {
            return Aabb::EMPTY;
        }
        let matrix = self.matrix();
        let (centre, half) = (matrix.point((min + max) * 0.5), (max - min) * 0.5);
        let reach = Vec3::from(matrix.rows.map(|row| row.truncate().abs().dot(half)));
        Aabb { min: (centre - reach).into(), max: (centre + reach).into() }
    }
}
