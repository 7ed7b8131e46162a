//! Transforms of instances.

use bytemuck::{Pod, Zeroable};
use glam::{DQuat, DVec4, Quat, Vec4};

/// Position, uniform scale and rotation of an instance, from model space to world space: first the
/// scale, then the rotation, then the translation.
///
/// ```
/// # use gpuskin_rt::Transform;
/// let there = Transform::at([4.0, 0.0, -2.0]).facing(1.6);
/// assert_eq!((there.translation, there.scale), ([4.0, 0.0, -2.0], 1.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Transform {
    /// Position of the model's origin. World space, metres.
    pub translation: [f32; 3],
    /// Uniform scale; 1 is the size of the model.
    pub scale: f32,
    /// Unit quaternion `x, y, z, w`; instances store it to within 0.004 degrees.
    pub rotation: [f32; 4],
}

impl Default for Transform {
    /// At the origin, with scale 1 and no rotation.
    fn default() -> Self {
        Self { translation: [0.0; 3], scale: 1.0, rotation: [0.0, 0.0, 0.0, 1.0] }
    }
}

impl Transform {
    /// Makes a transform at a position in world space, metres: scale 1, no rotation.
    pub fn at(position: impl Into<[f32; 3]>) -> Self {
        Self { translation: position.into(), ..Self::default() }
    }

    /// Sets the rotation about the y axis, radians, counter-clockwise seen from above.
    pub fn facing(self, yaw: f32) -> Self {
        self.rotated(Quat::from_rotation_y(yaw))
    }

    /// Sets the rotation, a unit quaternion `x, y, z, w`.
    pub fn rotated(mut self, quaternion: impl Into<[f32; 4]>) -> Self {
        self.rotation = quaternion.into();
        self
    }

    /// Sets the uniform scale, about the model's origin.
    pub fn scaled(mut self, scale: f32) -> Self {
        self.scale = scale;
        self
    }

    /// Returns the transform with the rotation of [`unit_rotation`], and without numbers that are not finite:
    /// they become 0, a scale 1, a quaternion no rotation.
    pub(crate) fn finite(self) -> Self {
        if self.is_finite() { self } else { self.replaced() }
    }

    /// Returns whether [`Self::finite`] surely changes nothing.
    pub(crate) fn is_finite(&self) -> bool {
        let [place, rotation]: [Vec4; 2] = bytemuck::cast(*self);
        ((rotation.length_squared() - 1.0).abs() < UNIT) & place.is_finite()
    }

    /// Returns whether [`Self::is_finite`] accepts four transforms, in half the time.
    #[cfg(any(feature = "wgpu", test))]
    pub(crate) fn are_finite(four: &[Self; 4]) -> bool {
        let halves: [[Vec4; 2]; 4] = bytemuck::cast(*four);
        // A component of all four rotations at a time.
        let glam::Mat4 { x_axis: x, y_axis: y, z_axis: z, w_axis: w } =
            glam::Mat4::from_cols(halves[0][1], halves[1][1], halves[2][1], halves[3][1]).transpose();
        // Zeros; or, of a number that is not finite, not a number, which no comparison accepts.
        let zeros = halves.map(|[place, _]| place * 0.0);
        let off = (x * x + y * y + z * z + w * w - Vec4::ONE).abs();
        (off + ((zeros[0] + zeros[1]) + (zeros[2] + zeros[3]))).cmplt(Vec4::splat(UNIT)).all()
    }

    /// Returns [`Self::finite`] of a transform that [`Self::is_finite`] does not accept.
    #[cold]
    pub(crate) fn replaced(self) -> Self {
        Self {
            translation: finite_position(self.translation),
            scale: finite_scale(self.scale),
            rotation: unit_rotation(self.rotation),
        }
    }
}

/// Largest difference from 1 of the square of a length that counts as 1: that of a quaternion rounded to
/// 16 bits stays.
const UNIT: f32 = 1e-4;

/// Replaces components that are not finite by 0.
pub(crate) fn finite_position(position: [f32; 3]) -> [f32; 3] {
    position.map(|c| if c.is_finite() { c } else { 0.0 })
}

/// Replaces a scale that is not finite by 1.
pub(crate) fn finite_scale(scale: f32) -> f32 {
    if scale.is_finite() { scale } else { 1.0 }
}

/// Returns a rotation in signed 16 bits per component, as it is stored.
pub(crate) fn packed_rotation(unit: [f32; 4]) -> [i16; 4] {
    // Rounds to nearest: the lower bits of the sum are the number in two's complement.
    let within = Vec4::from(unit).clamp(Vec4::NEG_ONE, Vec4::ONE);
    let [xy, zw]: [u64; 2] = bytemuck::cast(within * 32_767.0 + Vec4::splat(12_582_912.0));
    // Whole words: one component at a time, packing takes a third longer.
    let lower_halves = |pair: u64| pair & 0xffff | (pair >> 16) & 0xffff_0000;
    bytemuck::cast(lower_halves(xy) | lower_halves(zw) << 32)
}

/// Returns the rotation of [`packed_rotation`].
pub(crate) fn unpacked_rotation(packed: [i16; 4]) -> [f32; 4] {
    // Four at a time.
    (Vec4::from(packed.map(f32::from)) / 32_767.0).into()
}

/// Normalises a quaternion, unless its length is within 5e-5 of 1; no rotation if it has no length or is
/// not finite.
pub(crate) fn unit_rotation(quaternion: [f32; 4]) -> [f32; 4] {
    let q = Vec4::from(quaternion);
    let square = q.length_squared();
    if (square - 1.0).abs() < UNIT {
        return quaternion;
    }
    // f64: the square of an f32 neither overflows nor vanishes.
    let unit = DVec4::from(quaternion.map(f64::from)).try_normalize();
    unit.map_or(DQuat::IDENTITY, DQuat::from_vec4).as_quat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_have_unit_length() {
        let odd = [f32::NAN, 1.0, 0.0, 0.0];
        for given in [[0.0; 4], odd, [f32::INFINITY, 0.0, 0.0, 1.0]] {
            assert_eq!(unit_rotation(given), [0.0, 0.0, 0.0, 1.0]);
        }
        for size in [1e-30, 1e-5, 0.8, 1.0, 1.3, 1e30_f32] {
            let unit = Vec4::from(unit_rotation([0.1, -0.4, 0.3, 0.8].map(|c| c * size)));
            let expected = Vec4::new(0.1, -0.4, 0.3, 0.8).normalize();
            assert!(unit.abs_diff_eq(expected, 2e-7), "{size} {unit}");
        }
        assert_eq!(unit_rotation([0.0, 0.0, 0.0, -1.0]), [0.0, 0.0, 0.0, -1.0]);
        // Rounding twice changes nothing.
        for i in 0..1000 {
            let stored =
                packed_rotation(Quat::from_euler(glam::EulerRot::XYZ, i as f32, 0.3, 2.0 * i as f32).to_array());
            assert_eq!(packed_rotation(unit_rotation(unpacked_rotation(stored))), stored);
        }
    }

    #[test]
    fn four_transforms_are_checked_as_one() {
        let usual = [0.3, -1.0, 2e7, 0.0].map(|x| Transform::at([x, 1.0, -x]).facing(x).scaled(x));
        assert!(Transform::are_finite(&usual));
        let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
        let changes = (0..8).flat_map(|word| odd.map(|odd| (word, odd))).chain((4..8).map(|word| (word, 1.01)));
        for (word, value) in changes {
            for i in 0..4 {
                let mut four = usual;
                bytemuck::cast_mut::<_, [f32; 8]>(&mut four[i])[word] = value;
                assert!(!four[i].is_finite() && !Transform::are_finite(&four), "{value} in word {word} of {i}");
            }
        }
    }

    #[test]
    fn odd_numbers_are_replaced() {
        let odd = Transform { translation: [f32::NAN, 1.0, f32::INFINITY], scale: f32::NAN, rotation: [0.0; 4] };
        assert_eq!(odd.finite(), Transform::at([0.0, 1.0, 0.0]));
    }
}
