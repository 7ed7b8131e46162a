//! Where instances are, roughly: for culling, picking, servers.

use glam::Vec3;

use crate::{Aabb, InstanceRecord, Metadata, Time};

impl Metadata {
    /// A box in the world around an instance at a moment: what the frames of its clip reach, and of those that it fades
    /// from. Between frames, and between clips, rotations may leave it a little: by the motion error of a clip.
    pub fn world_bounds(&self, instance: &InstanceRecord, now: impl Into<Time>) -> Aabb {
        let bounds = |clip: usize| self.clips.get(clip).or(self.clips.first()).map_or(self.bounds, |clip| clip.bounds);
        instance.bounds(&instance.clips(now.into()).map(bounds).fold(Aabb::EMPTY, Aabb::union))
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
