//! Affine transforms, such as skinning matrices. CPU reference of `shaders/skin_matrix.wgsl`.

use core::ops::{Add, Mul};

use glam::{Vec3, Vec4};

/// An affine transform: upper three rows of a 4x4 matrix, which acts on column vectors in metres:
///
/// ```text
/// | x'|   | m00 m01 m02 tx | | x |
/// | y'| = | m10 m11 m12 ty | | y |      rows[0] = (m00, m01, m02, tx), ...
/// | z'|   | m20 m21 m22 tz | | z |
///                            | 1 |
/// ```
///
/// A skinning matrix is `global(joint) * inverse_bind`: from the bind pose of the mesh to model
/// space (right-handed, y up).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine3 {
    /// Rows of the matrix.
    #[doc(hidden)]
    pub rows: [Vec4; 3],
}

impl Affine3 {
    /// Zero matrix: the start of a weighted sum.
    #[doc(hidden)]
    pub const ZERO: Self = Self { rows: [Vec4::ZERO; 3] };
    /// Identity.
    #[doc(hidden)]
    pub const IDENTITY: Self = Self { rows: [Vec4::X, Vec4::Y, Vec4::Z] };

    /// Makes a matrix from a uniform scale, then a unit quaternion `x, y, z, w`, then a translation
    /// in metres.
    #[doc(hidden)]
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

    /// Makes a transform from the upper three rows of a 4x4 matrix that acts on column vectors.
    #[doc(hidden)]
    pub fn from_rows(rows: [[f32; 4]; 3]) -> Self {
        Self { rows: rows.map(Vec4::from) }
    }

    /// Returns the upper three rows of the 4x4 matrix.
    pub fn to_rows(&self) -> [[f32; 4]; 3] {
        self.rows.map(Into::into)
    }

    /// Returns the columns of the 4x4 matrix, for `glam::Mat4::from_cols_array_2d` and uniform buffers.
    pub fn to_cols_array_2d(&self) -> [[f32; 4]; 4] {
        let column = |i: usize, last: f32| [self.rows[0][i], self.rows[1][i], self.rows[2][i], last];
        [column(0, 0.0), column(1, 0.0), column(2, 0.0), column(3, 1.0)]
    }

    /// Returns the translation, metres: the position of a bone, for a bone's transform.
    pub fn translation(&self) -> [f32; 3] {
        self.rows.map(|row| row.w)
    }

    /// Transforms a point, metres.
    pub fn transform_point(&self, point: impl Into<[f32; 3]>) -> [f32; 3] {
        self.point(point.into().into()).into()
    }

    /// Transforms a direction: rotates and scales it, and does not translate it.
    pub fn transform_direction(&self, direction: impl Into<[f32; 3]>) -> [f32; 3] {
        self.direction(direction.into().into()).into()
    }

    /// Returns the transform that applies `first`, then `self`.
    #[doc(hidden)]
    pub fn compose(&self, first: &Self) -> Self {
        compose(self, first)
    }

    /// Returns the matrix with another translation, metres.
    #[doc(hidden)]
    pub fn translated(self, translation: Vec3) -> Self {
        let [x, y, z] = self.rows.map(|row| row.truncate());
        Self { rows: [x.extend(translation.x), y.extend(translation.y), z.extend(translation.z)] }
    }

    /// Interpolates component-wise from `self` (t = 0) to `other` (t = 1).
    #[doc(hidden)]
    pub fn lerp(self, other: Self, t: f32) -> Self {
        self * (1.0 - t) + other * t
    }

    /// Transforms a point.
    #[doc(hidden)]
    pub fn point(&self, p: Vec3) -> Vec3 {
        let p = p.extend(1.0);
        Vec3::new(self.rows[0].dot(p), self.rows[1].dot(p), self.rows[2].dot(p))
    }

    /// Transforms a direction that lies in the surface (a tangent). Not normalised.
    #[doc(hidden)]
    pub fn direction(&self, d: Vec3) -> Vec3 {
        let d = d.extend(0.0);
        Vec3::new(self.rows[0].dot(d), self.rows[1].dot(d), self.rows[2].dot(d))
    }

    /// Transforms a normal: cofactor matrix times the sign of the determinant, which equals the
    /// inverse transpose up to a positive factor and exists for singular matrices too. Not
    /// normalised.
    #[doc(hidden)]
    pub fn normal(&self, n: Vec3) -> Vec3 {
        let [r0, r1, r2] = self.rows.map(|r| r.truncate());
        let c0 = r1.cross(r2);
        let sign = if r0.dot(c0) < 0.0 { -1.0 } else { 1.0 };
        Vec3::new(c0.dot(n), r2.cross(r0).dot(n), r0.cross(r1).dot(n)) * sign
    }
}

/// Returns the product `a * b` of affine matrices, given by their upper three rows: `b` acts first.
pub fn compose(a: &Affine3, b: &Affine3) -> Affine3 {
    let row = |r: Vec4| b.rows[0] * r.x + b.rows[1] * r.y + b.rows[2] * r.z + Vec4::new(0.0, 0.0, 0.0, r.w);
    Affine3 { rows: a.rows.map(row) }
}

impl Add for Affine3 {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { rows: [0, 1, 2].map(|i| self.rows[i] + other.rows[i]) }
    }
}

impl Mul<f32> for Affine3 {
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
    fn from_trs_matches_quaternion_rotation() {
        let q = Quat::from_xyzw(0.3, -0.5, 0.1, 0.7).normalize();
        let m = Affine3::from_trs(Vec4::from(q), Vec3::new(1.0, 2.0, 3.0), 2.0);
        let p = Vec3::new(0.4, -0.2, 0.9);
        assert!(m.point(p).abs_diff_eq(q * (p * 2.0) + Vec3::new(1.0, 2.0, 3.0), 1e-6));
    }

    #[test]
    fn normal_matches_inverse_transpose_of_mirrored_and_sheared_matrices() {
        let n = Vec3::new(0.2, 0.9, -0.4).normalize();
        for m in [
            Mat3::from_cols_array(&[1.0, 0.2, 0.0, 0.1, 2.0, 0.3, -0.4, 0.0, 0.7]),
            Mat3::from_cols_array(&[-1.0, 0.2, 0.0, 0.1, 2.0, 0.3, -0.4, 0.0, 0.7]),
        ] {
            let rows = [0, 1, 2].map(|i| m.row(i).extend(9.0));
            let expected = (m.inverse().transpose() * n).normalize();
            assert!(Affine3 { rows }.normal(n).normalize().abs_diff_eq(expected, 1e-6));
        }
    }
}
