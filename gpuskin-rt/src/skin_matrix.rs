//! The matrix that carries a vertex from the bind pose to where a bone has it. Twin of `shaders/skin_matrix.wgsl`.

use core::ops::{Add, Mul};

use glam::{Vec3, Vec4};

/// The upper three rows of a 4x4 skin matrix, which acts on column vectors in metres:
///
/// ```text
/// | x'|   | m00 m01 m02 tx | | x |
/// | y'| = | m10 m11 m12 ty | | y |      rows[0] = (m00, m01, m02, tx), ...
/// | z'|   | m20 m21 m22 tz | | z |
///                            | 1 |
/// ```
///
/// It is `global(joint) * inverse_bind`: from the mesh as modelled to the model's scene (right-handed, y up).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinMatrix {
    /// Rows of the matrix.
    pub rows: [Vec4; 3],
}

impl SkinMatrix {
    /// All zeros: the start of a weighted sum.
    pub const ZERO: Self = Self { rows: [Vec4::ZERO; 3] };
    /// Leaves every point where it is.
    pub const IDENTITY: Self = Self { rows: [Vec4::X, Vec4::Y, Vec4::Z] };

    /// `x, y, z, w` of a unit quaternion, then a translation in metres and a uniform scale, applied first.
    pub fn from_trs(rotation: Vec4, translation: Vec3, scale: f32) -> Self {
        let [x, y, z, w] = rotation.to_array();
        let s = scale;
        Self {
            rows: [
                Vec4::new(
                    s * (1.0 - 2.0 * (y * y + z * z)),
                    s * 2.0 * (x * y - z * w),
                    s * 2.0 * (x * z + y * w),
                    translation.x,
                ),
                Vec4::new(
                    s * 2.0 * (x * y + z * w),
                    s * (1.0 - 2.0 * (x * x + z * z)),
                    s * 2.0 * (y * z - x * w),
                    translation.y,
                ),
                Vec4::new(
                    s * 2.0 * (x * z - y * w),
                    s * 2.0 * (y * z + x * w),
                    s * (1.0 - 2.0 * (x * x + y * y)),
                    translation.z,
                ),
            ],
        }
    }

    /// The same with another translation, metres.
    pub fn translated(self, translation: Vec3) -> Self {
        let [x, y, z] = self.rows.map(|row| row.truncate());
        Self { rows: [x.extend(translation.x), y.extend(translation.y), z.extend(translation.z)] }
    }

    /// Component-wise from `self` (t = 0) to `other` (t = 1).
    pub fn lerp(self, other: Self, t: f32) -> Self {
        self * (1.0 - t) + other * t
    }

    /// Where the matrix takes a point.
    pub fn point(&self, p: Vec3) -> Vec3 {
        let p = p.extend(1.0);
        Vec3::new(self.rows[0].dot(p), self.rows[1].dot(p), self.rows[2].dot(p))
    }

    /// Where the matrix takes a direction that lies in the surface (a tangent). Not normalised.
    pub fn direction(&self, d: Vec3) -> Vec3 {
        let d = d.extend(0.0);
        Vec3::new(self.rows[0].dot(d), self.rows[1].dot(d), self.rows[2].dot(d))
    }

    /// Where the matrix takes a normal: cofactor matrix times the sign of the determinant, which is the inverse
    /// transpose up to a positive factor and exists for singular matrices too. Not normalised.
    pub fn normal(&self, n: Vec3) -> Vec3 {
        let [r0, r1, r2] = self.rows.map(|r| r.truncate());
        let c0 = r1.cross(r2);
        let sign = if r0.dot(c0) < 0.0 { -1.0 } else { 1.0 };
        Vec3::new(c0.dot(n), r2.cross(r0).dot(n), r0.cross(r1).dot(n)) * sign
    }
}

impl Add for SkinMatrix {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { rows: [0, 1, 2].map(|i| self.rows[i] + other.rows[i]) }
    }
}

impl Mul<f32> for SkinMatrix {
    type Output = Self;
    fn mul(self, factor: f32) -> Self {
        Self { rows: self.rows.map(|r| r * factor) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Mat3, Quat};

    #[test]
    fn trs_is_the_matrix_of_its_quaternion() {
        let q = Quat::from_xyzw(0.3, -0.5, 0.1, 0.7).normalize();
        let m = SkinMatrix::from_trs(Vec4::from(q), Vec3::new(1.0, 2.0, 3.0), 2.0);
        let p = Vec3::new(0.4, -0.2, 0.9);
        assert!(m.point(p).abs_diff_eq(q * (p * 2.0) + Vec3::new(1.0, 2.0, 3.0), 1e-6));
    }

    #[test]
    fn normals_are_the_inverse_transpose_of_mirrored_and_sheared_matrices_too() {
        let n = Vec3::new(0.2, 0.9, -0.4).normalize();
        for m in [
            Mat3::from_cols_array(&[1.0, 0.2, 0.0, 0.1, 2.0, 0.3, -0.4, 0.0, 0.7]),
            Mat3::from_cols_array(&[-1.0, 0.2, 0.0, 0.1, 2.0, 0.3, -0.4, 0.0, 0.7]),
        ] {
            let rows = [0, 1, 2].map(|i| m.row(i).extend(9.0));
            let expected = (m.inverse().transpose() * n).normalize();
            assert!(SkinMatrix { rows }.normal(n).normalize().abs_diff_eq(expected, 1e-6));
        }
    }
}
