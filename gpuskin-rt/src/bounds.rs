//! Where instances are, roughly: for culling, picking, servers.

use glam::Vec3;

use crate::{Aabb, InstanceRecord, Metadata, Time};

/// Of the diagonal: between frames bones swing on arcs, which leave the box around the frames.
const ARC_MARGIN: f32 = 1.0 / 64.0;
/// Of the diagonal: rotations of two clips are mixed along arcs, which leave the box around both ends.
const FADE_MARGIN: f32 = 0.05;

impl Metadata {
    /// A box in the world around an instance at a moment: what the frames of its clip reach and 1/64 of the diagonal around
    /// that; in a fade, what the frames of its clips reach and a twentieth. Layers and live bones are not in it.
    pub fn world_bounds(&self, instance: &InstanceRecord, now: impl Into<Time>) -> Aabb {
        let bounds = |clip: usize| self.clips.get(clip).or(self.clips.first()).map_or(self.bounds, |clip| clip.bounds);
        let mut clips = instance.clips(now.into()).map(bounds);
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
    /// The box in the world around a box in the model; empty where that is.
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
