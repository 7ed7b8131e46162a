//! Attachments: models carried by a bone of every instance of a crowd.

use glam::{Quat, Vec3, Vec4};

use crate::instance::{finite_position, finite_scale, packed_rotation};
use crate::skin_matrix::compose;
use crate::{Affine3, Bone, Metadata, Part};

/// Bone and offset of an attachment of model `M`: `crowd.attach(&mut renderer, &models::SWORD,
/// Attachment::to(bone))`.
///
/// The offset is in the bone's own space, like the transforms of [`Sockets`](crate::Sockets).
/// [`Attachment::offset`] returns it for use on the CPU.
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

// Not derived: a derive would require the same trait of `M`.
impl<M> Clone for Attachment<M> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<M> Copy for Attachment<M> {}

impl<M> Attachment<M> {
    /// Makes an attachment at the bone's origin, aligned with its axes, with scale 1.
    pub const fn to(bone: Bone<M>) -> Self {
        Self { bone, translation: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0], scale: 1.0, part: None }
    }

    /// Sets the translation. Bone space, metres.
    pub fn at(mut self, translation: impl Into<[f32; 3]>) -> Self {
        self.translation = translation.into();
        self
    }

    /// Sets the rotation, a unit quaternion `x, y, z, w`.
    pub fn rotated(mut self, quaternion: impl Into<[f32; 4]>) -> Self {
        self.rotation = quaternion.into();
        self
    }

    /// Sets the uniform scale, about the attachment's origin.
    pub fn scaled(mut self, scale: f32) -> Self {
        self.scale = scale;
        self
    }

    /// Links the attachment to a part of the owner: [`Crowd::set_part_visible`](crate::Crowd::set_part_visible) shows and
    /// hides both together.
    pub fn with_part(mut self, part: Part<M>) -> Self {
        self.part = Some(part);
        self
    }

    /// Returns the attachment-to-bone transform. Numbers that are not finite become 0; a scale
    /// becomes 1, a quaternion no rotation.
    #[doc(hidden)]
    pub fn offset(&self) -> Affine3 {
        let given = Quat::from_array(self.rotation);
        let nearly_unit = (given.length() - 1.0).abs() < 1e-3;
        // A quaternion of nearly unit length is not packed, and keeps its precision.
        let q = if nearly_unit { given } else { Quat::from_array(packed_rotation(self.rotation).map(f32::from)) };
        let translation = Vec3::from(finite_position(self.translation));
        Affine3::from_trs(Vec4::from(q.normalize()), translation, finite_scale(self.scale))
    }

    /// Returns the attachment-to-model transform in the owner's bind pose; `None` if the owner has
    /// no such bone.
    #[doc(hidden)]
    pub fn bound(&self, owner: &Metadata) -> Option<Affine3> {
        let bone = owner.bones.get(usize::from(self.bone.index()))?;
        Some(compose(&Affine3 { rows: bone.bind.map(Vec4::from) }, &self.offset()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dynamic;

    #[test]
    fn offset_scales_rotates_and_translates() {
        let quarter = Quat::from_rotation_z(core::f32::consts::FRAC_PI_2);
        let sword = Attachment::<Dynamic>::to(Bone::new(0)).at([1.0, 2.0, 3.0]).rotated(quarter).scaled(2.0);
        let tip = sword.offset().point(Vec3::X);
        assert!(tip.distance(Vec3::new(1.0, 4.0, 3.0)) < 1e-6, "{tip}");
        let odd = Attachment::<Dynamic>::to(Bone::new(0)).at([f32::NAN; 3]).rotated([0.0; 4]).scaled(f32::INFINITY);
        assert_eq!(odd.offset(), Affine3::IDENTITY);
        let long = Attachment::<Dynamic>::to(Bone::new(0)).rotated([0.0, 0.0, 3.0, 3.0]).offset();
        assert!(long.point(Vec3::X).distance(Vec3::Y) < 1e-4, "{}", long.point(Vec3::X));
    }
}
