//! What hangs on a bone of every instance of a crowd: where, and how it is turned.

use glam::{Quat, Vec3, Vec4};

use crate::instance::{finite_position, finite_scale, packed_rotation};
use crate::local::compose;
use crate::{Bone, Metadata, Part, SkinMatrix};

/// Where something hangs on the instances of model `M`: `crowd.attach(&mut renderer, &models::SWORD, Attachment::to(bone))`.
///
/// Its place is told in the bone's own space, as [`Sockets`](crate::Sockets) gives it: [`Attachment::offset`] says where
/// it is on the CPU.
///
/// ```
/// # use gpuskin_rt::{Attachment, Bone, Dynamic};
/// # const HAND: Bone<Dynamic> = Bone::new(0);
/// let sword = Attachment::to(HAND).at([0.0, 0.08, 0.02]).scaled(0.9);
/// ```
#[derive(Debug)]
pub struct Attachment<M> {
    pub(crate) bone: Bone<M>,
    translation: [f32; 3],
    rotation: [f32; 4],
    scale: f32,
    pub(crate) part: Option<Part<M>>,
}

// Not derived: these hold whatever M is.
impl<M> Clone for Attachment<M> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<M> Copy for Attachment<M> {}

impl<M> Attachment<M> {
    /// At a bone's origin, along its axes, as large as it was modelled.
    pub const fn to(bone: Bone<M>) -> Self {
        Self { bone, translation: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0], scale: 1.0, part: None }
    }

    /// At a place in the bone's space.
    pub fn at(mut self, translation: impl Into<[f32; 3]>) -> Self {
        self.translation = translation.into();
        self
    }

    /// Turned by a unit quaternion `x, y, z, w`.
    pub fn rotated(mut self, quaternion: impl Into<[f32; 4]>) -> Self {
        self.rotation = quaternion.into();
        self
    }

    /// Scaled evenly, about its own origin.
    pub fn scaled(mut self, scale: f32) -> Self {
        self.scale = scale;
        self
    }

    /// Worn with a part of the owner: [`Crowd::wear`](crate::Crowd::wear) shows and hides both together.
    pub fn with_part(mut self, part: Part<M>) -> Self {
        self.part = Some(part);
        self
    }

    /// From what is attached to the bone's space. Numbers that are not finite are 0, 1 for the scale, no rotation for a
    /// quaternion.
    pub fn offset(&self) -> SkinMatrix {
        let given = Quat::from_array(self.rotation);
        let nearly_unit = (given.length() - 1.0).abs() < 1e-3;
        // What is nearly of unit length keeps its precision.
        let q = if nearly_unit { given } else { Quat::from_array(packed_rotation(self.rotation).map(f32::from)) };
        let translation = Vec3::from(finite_position(self.translation));
        SkinMatrix::from_trs(Vec4::from(q.normalize()), translation, finite_scale(self.scale))
    }

    /// From what is attached to where the owner was modelled; `None` where the owner has no such bone.
    pub fn bound(&self, owner: &Metadata) -> Option<SkinMatrix> {
        let bone = owner.bones.get(usize::from(self.bone.index()))?;
        Some(compose(&SkinMatrix { rows: bone.bind.map(Vec4::from) }, &self.offset()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dynamic;

    #[test]
    fn an_offset_scales_turns_and_moves() {
        let quarter = Quat::from_rotation_z(core::f32::consts::FRAC_PI_2);
        let sword = Attachment::<Dynamic>::to(Bone::new(0)).at([1.0, 2.0, 3.0]).rotated(quarter).scaled(2.0);
        let tip = sword.offset().point(Vec3::X);
        assert!(tip.distance(Vec3::new(1.0, 4.0, 3.0)) < 1e-6, "{tip}");
        let odd = Attachment::<Dynamic>::to(Bone::new(0)).at([f32::NAN; 3]).rotated([0.0; 4]).scaled(f32::INFINITY);
        assert_eq!(odd.offset(), SkinMatrix::IDENTITY);
        let long = Attachment::<Dynamic>::to(Bone::new(0)).rotated([0.0, 0.0, 3.0, 3.0]).offset();
        assert!(long.point(Vec3::X).distance(Vec3::Y) < 1e-4, "{}", long.point(Vec3::X));
    }
}
