//! Encodings `trs-f16` and `fixed16`: a quaternion, then translation and uniform scale. Non-uniform
//! scale and shear are lost and reported.

use glam::{DMat3, DQuat, DVec3, DVec4};
use gpuskin_rt::internals::encoding::fixed16;

use super::{EncodedTexture, Misfit};
use crate::sample::Rows;

/// Greatest finite `f16`.
const MAX_HALF: f64 = 65_504.0;

pub(super) fn halves(texels: &mut EncodedTexture, first_frame: u32, poses: &[Vec<Rows>]) -> Vec<Misfit> {
    each(poses, |frame, bone, trs| {
        let values = trs.values();
        texels.put_floats(first_frame + frame, bone, values);
        values.iter().all(|v| v.abs() <= MAX_HALF)
    })
}

pub(super) fn fixed(texels: &mut EncodedTexture, first_frame: u32, poses: &[Vec<Rows>]) -> Vec<Misfit> {
    each(poses, |frame, bone, trs| {
        let values = trs.values().map(fixed16);
        texels.put(first_frame + frame, bone, values.iter().flat_map(|v| v.unwrap_or([0x7f, 0xff])));
        values.iter().all(Option::is_some)
    })
}

/// Decomposes every bone of every frame and calls `encode`, which returns `false` if a value is out
/// of range.
pub(super) fn each(poses: &[Vec<Rows>], mut encode: impl FnMut(u32, usize, &RotationScale) -> bool) -> Vec<Misfit> {
    // The sign of each quaternion is chosen nearest to the previous frame, so that blending needs
    // no sign flip.
    let mut last = vec![DVec4::W; poses.first().map_or(0, Vec::len)];
    let (mut uneven, mut out_of_range) = (None, None);
    for (frame, pose) in (0..).zip(poses) {
        for (bone, rows) in pose.iter().enumerate() {
            let mut trs = decompose(rows);
            if trs.rotation.dot(last[bone]) < 0.0 {
                trs.rotation = -trs.rotation;
            }
            last[bone] = trs.rotation;
            if trs.residual > FAITHFUL {
                uneven.get_or_insert(Misfit::Uneven { bone });
            }
            if !encode(frame, bone, &trs) {
                out_of_range.get_or_insert(Misfit::OutOfRange { bone });
            }
        }
    }
    uneven.into_iter().chain(out_of_range).collect()
}

/// Maximum difference between a matrix and its decomposition, relative to its scale, that counts as
/// rounding by exporters rather than as shear or non-uniform scale.
const FAITHFUL: f64 = 1e-3;

/// The rotation with uniform scale nearest to a skinning matrix.
pub(super) struct RotationScale {
    /// Unit quaternion.
    pub(super) rotation: DVec4,
    /// Uniform scale; negative for a mirroring matrix.
    pub(super) scale: f64,
    /// Translation of the matrix.
    translation: DVec3,
    /// Greatest difference of an element of the 3x3 part, relative to its greatest element.
    residual: f64,
}

impl RotationScale {
    /// Returns quaternion, translation and scale.
    fn values(&self) -> [f64; 8] {
        let ([x, y, z, w], [tx, ty, tz]) = (self.rotation.to_array(), self.translation.to_array());
        [x, y, z, w, tx, ty, tz, self.scale]
    }
}

fn decompose(rows: &Rows) -> RotationScale {
    let column = |c: usize| DVec3::new(rows[0][c], rows[1][c], rows[2][c]);
    let m = DMat3::from_cols(column(0), column(1), column(2));
    let scale = libm::cbrt(m.determinant());
    let (rotation, scale) =
        if scale.is_normal() { (nearest_rotation(m * (1.0 / scale)), scale) } else { (DQuat::IDENTITY, 0.0) };
    let greatest = |m: DMat3| m.to_cols_array().iter().fold(0.0, |a: f64, c| a.max(c.abs()));
    let size = greatest(m);
    let residual = if size > 0.0 { greatest(m - DMat3::from_quat(rotation) * scale) / size } else { 0.0 };
    RotationScale { rotation: DVec4::from(rotation), scale, translation: column(3), residual }
}

/// Computes the polar decomposition by Newton's iteration (Higham 1986): averages a matrix with its
/// inverse transpose until it is orthogonal. For a matrix with uniform scale, the first step
/// changes nothing.
fn nearest_rotation(mut m: DMat3) -> DQuat {
    for _ in 0..32 {
        let next = (m + m.inverse().transpose()) * 0.5;
        if !next.is_finite() {
            break;
        }
        let change = (next - m).to_cols_array().iter().fold(0.0, |a: f64, c| a.max(c.abs()));
        m = next;
        if change < 1e-14 {
            break;
        }
    }
    let q = DQuat::from_mat3(&m);
    let length = q.length();
    if length.is_normal() { q * (1.0 / length) } else { DQuat::IDENTITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::rows;
    use glam::DMat4;

    #[test]
    fn matrices_decompose_into_rotation_and_scale() {
        let q = DQuat::from_xyzw(0.1, -0.7, 0.2, 0.4).normalize();
        for scale in [1.0, 0.01, -2.0] {
            let m = DMat4::from_scale_rotation_translation(DVec3::splat(scale), q, DVec3::ONE);
            let trs = decompose(&rows(&m));
            assert!((trs.scale - scale).abs() < 1e-12 && trs.residual < 1e-12);
            assert!(trs.rotation.dot(DVec4::from(q)).abs() > 1.0 - 1e-12);
        }
    }

    #[test]
    fn singular_matrices_decompose_to_finite_values() {
        for scale in [DVec3::ZERO, DVec3::new(1.0, 0.0, 1.0), DVec3::new(1e-200, 1.0, 1.0)] {
            let m = DMat4::from_scale_rotation_translation(scale, DQuat::IDENTITY, DVec3::ONE);
            let trs = decompose(&rows(&m));
            assert!(trs.rotation.is_finite() && trs.scale.is_finite() && trs.residual.is_finite());
        }
    }
}
