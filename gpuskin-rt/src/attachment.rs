//! Attachments: models carried by a bone of every instance of a crowd.

use glam::{Vec3, Vec4};

use crate::skin_matrix::compose;
use crate::transform::{finite_position, finite_scale, unit_rotation};
use crate::{Affine3, Bone, Metadata, Part};

/// Bone and offset of an attachment of model `M`: `crowd.attach(&mut renderer, &models::SWORD,
/// Attachment::to(bone))`.
///
/// The offset is in metres, along the axes of the bone. A prop has its modelled size, whatever the unit
/// of the rig: the bones of some rigs are in centimetres, and have a scale of 0.01.
/// [`Attachment::with_bone_scale`] applies that scale, as an engine does that makes the prop a child of
/// the bone. A bone that a clip scales also scales the prop.
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
    bone_scale: bool,
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
        Self { bone, translation: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0], scale: 1.0, bone_scale: false, part: None }
    }

    /// Sets the translation along the axes of the bone. Metres.
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

    /// Applies the scale that the bone has in the bind pose to the prop, its offset included.
    pub fn with_bone_scale(mut self) -> Self {
        self.bone_scale = true;
        self
    }

    /// Links the attachment to a part of the owner: [`Crowd::set_part_visible`](crate::Crowd::set_part_visible) shows and
    /// hides both together.
    pub fn with_part(mut self, part: Part<M>) -> Self {
        self.part = Some(part);
        self
    }

    /// Returns the transform of the prop relative to the bone's origin and axes. Numbers that are not finite become 0; a scale
    /// becomes 1, a quaternion no rotation.
    #[doc(hidden)]
    pub fn offset(&self) -> Affine3 {
        let rotation = Vec4::from(unit_rotation(self.rotation)).normalize();
        let translation = Vec3::from(finite_position(self.translation));
        Affine3::from_trs(rotation, translation, finite_scale(self.scale))
    }

    /// Returns the attachment-to-model transform in the owner's bind pose; `None` if the owner has
    /// no such bone.
    #[doc(hidden)]
    pub fn bound(&self, owner: &Metadata) -> Option<Affine3> {
        let bone = owner.bones.get(usize::from(self.bone.index()))?;
        let bind = Affine3 { rows: bone.bind.map(Vec4::from) };
        Some(compose(&if self.bone_scale { bind } else { without_scale(bind) }, &self.offset()))
    }
}

/// Returns a transform whose axes have length 1. An axis of length zero stays.
fn without_scale(transform: Affine3) -> Affine3 {
    let [x, y, z] = transform.rows;
    let inverse = Vec4::new(1.0, 1.0, 1.0, 0.0) * (x * x + y * y + z * z);
    let inverse = Vec3::from_array([inverse.x, inverse.y, inverse.z].map(|squared| match squared {
        squared if squared > 0.0 && squared.is_finite() => squared.sqrt().recip(),
        _ => 1.0,
    }));
    Affine3 { rows: [x, y, z].map(|row| row * inverse.extend(1.0)) }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;
    use crate::Dynamic;

    #[test]
    fn bind_pose_loses_its_scale() {
        let turned = Quat::from_rotation_y(0.7);
        let bind = Affine3::from_trs(turned.into(), Vec3::new(0.3, 1.2, -0.1), 0.01);
        let metres = without_scale(bind);
        assert!(metres.origin().distance(bind.origin()) < 1e-6);
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let direction = metres.point(axis) - metres.origin();
            assert!(direction.distance(turned * axis) < 1e-5, "{direction}");
        }
        let flat = Affine3 { rows: [Vec4::X, Vec4::ZERO, Vec4::Z] };
        assert_eq!(without_scale(flat), flat, "an axis of length zero has no direction");
    }

    #[test]
    fn offset_scales_rotates_and_translates() {
        let quarter = Quat::from_rotation_z(core::f32::consts::FRAC_PI_2);
        let sword = Attachment::<Dynamic>::to(Bone::new(0)).at([1.0, 2.0, 3.0]).rotated(quarter).scaled(2.0);
        let tip = sword.offset().point(Vec3::X);
        assert!(tip.distance(Vec3::new(1.0, 4.0, 3.0)) < 1e-6, "{tip}");
        let odd = Attachment::<Dynamic>::to(Bone::new(0)).at([f32::NAN; 3]).rotated([0.0; 4]).scaled(f32::INFINITY);
        assert_eq!(odd.offset(), Affine3::IDENTITY);
        // A quaternion that is almost a unit scales nothing.
        let almost = Attachment::<Dynamic>::to(Bone::new(0)).rotated([0.0, 0.0, 0.70713, 0.70713]).offset();
        assert!((almost.point(Vec3::X).length() - 1.0).abs() < 1e-6);
        let long = Attachment::<Dynamic>::to(Bone::new(0)).rotated([0.0, 0.0, 3.0, 3.0]).offset();
        assert!(long.point(Vec3::X).distance(Vec3::Y) < 1e-4, "{}", long.point(Vec3::X));
    }
}
