//! Decomposition of affine matrices into transforms that joints can store.

use glam::{DMat3, DMat4, DQuat, DVec3};

use crate::model::Trs;

/// Tolerance for uniform scale, relative to the size of the matrix: rounding errors of `f32`.
const EVEN: f64 = 1e-7;

/// Uniform scale, then rotation, then translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Similarity {
    /// Scale factor; negative if it mirrors. Every mirroring is a rotation of the point reflection
    /// at the origin.
    pub(super) scale: f64,
    pub(super) rotation: DQuat,
    pub(super) translation: DVec3,
}

impl Similarity {
    pub(super) const IDENTITY: Self = Self { scale: 1.0, rotation: DQuat::IDENTITY, translation: DVec3::ZERO };
}

/// Decomposes a matrix into a similarity, if it is one.
pub(super) fn similarity(m: &DMat4) -> Option<Similarity> {
    let linear = DMat3::from_mat4(*m);
    let columns = [linear.x_axis, linear.y_axis, linear.z_axis];
    let squares = columns.map(DVec3::length_squared);
    let size = squares[0].max(squares[1]).max(squares[2]);
    let even = squares.iter().all(|s| size - s <= 2.0 * EVEN * size);
    let [a, b, c] = columns;
    let square = [a.dot(b), b.dot(c), c.dot(a)].iter().all(|d| d.abs() <= EVEN * size);
    let scale = libm::cbrt(linear.determinant());
    if !(even && square && scale.is_normal()) {
        return None;
    }
    let rotation = rotation(&(linear * (1.0 / scale)));
    Some(Similarity { scale, rotation, translation: m.w_axis.truncate() })
}

/// Decomposes a matrix into translation, rotation and scale per axis, and for a matrix with shear a
/// second rotation that is applied first (singular value decomposition).
pub(super) fn decompose(m: &DMat4) -> (Trs, Option<DQuat>) {
    let linear = DMat3::from_mat4(*m);
    let gram = linear.transpose() * linear;
    let size = gram.x_axis.x.max(gram.y_axis.y).max(gram.z_axis.z);
    let shear = [gram.x_axis.y, gram.y_axis.z, gram.z_axis.x].iter().any(|d| d.abs() > EVEN * size);
    let turn = if shear { eigenvectors(gram) } else { DMat3::IDENTITY };
    let stretched = linear * turn;
    let mut columns = [stretched.x_axis, stretched.y_axis, stretched.z_axis];
    let mut scale = columns.map(DVec3::length);
    // Axes of length zero get any direction orthogonal to the others.
    let flat = size.sqrt() * 1e-12;
    for i in 0..3 {
        if scale[i] > flat {
            columns[i] /= scale[i];
        } else {
            (columns[i], scale[i]) = (DVec3::ZERO, 0.0);
        }
    }
    complete(&mut columns);
    if columns[0].cross(columns[1]).dot(columns[2]) < 0.0 {
        columns = columns.map(|c| -c);
        scale = scale.map(|s| -s);
    }
    let trs = Trs {
        translation: m.w_axis.truncate(),
        rotation: rotation(&DMat3::from_cols(columns[0], columns[1], columns[2])),
        scale: DVec3::from(scale),
    };
    (trs, shear.then(|| rotation(&turn.transpose())))
}

/// Replaces zero axes by directions orthogonal to the others.
fn complete(axes: &mut [DVec3; 3]) {
    for i in 0..3 {
        if axes[i] != DVec3::ZERO {
            continue;
        }
        let (b, c) = (axes[(i + 1) % 3], axes[(i + 2) % 3]);
        axes[i] = match (b != DVec3::ZERO, c != DVec3::ZERO) {
            (true, true) => b.cross(c).normalize(),
            (false, false) => [DVec3::X, DVec3::Y, DVec3::Z][i],
            (true, false) => b.any_orthonormal_vector(),
            (false, true) => c.any_orthonormal_vector(),
        };
    }
}

fn rotation(m: &DMat3) -> DQuat {
    let q = DQuat::from_mat3(m);
    let length = q.length();
    if length.is_normal() { q * (1.0 / length) } else { DQuat::IDENTITY }
}

/// Returns a rotation whose columns are the eigenvectors of a symmetric matrix (Jacobi's method).
fn eigenvectors(mut m: DMat3) -> DMat3 {
    let mut vectors = DMat3::IDENTITY;
    for _ in 0..16 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off = m.col(q)[p];
            if off == 0.0 {
                continue;
            }
            let theta = (m.col(q)[q] - m.col(p)[p]) / (2.0 * off);
            let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
            let sine = tangent * cosine;
            let mut turn = DMat3::IDENTITY;
            turn.col_mut(p)[p] = cosine;
            turn.col_mut(q)[q] = cosine;
            turn.col_mut(q)[p] = sine;
            turn.col_mut(p)[q] = -sine;
            m = turn.transpose() * m * turn;
            vectors *= turn;
        }
    }
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Local;
    use crate::sample::matrix;

    fn back(m: &DMat4) -> (f64, bool) {
        let (trs, turn) = decompose(m);
        assert!((trs.rotation.length() - 1.0).abs() < 1e-12);
        let again = matrix(&Local::Trs(trs)) * turn.map_or(DMat4::IDENTITY, DMat4::from_quat);
        let difference =
            again.to_cols_array().iter().zip(m.to_cols_array()).fold(0.0, |d: f64, (a, b)| d.max((a - b).abs()));
        (difference, turn.is_some())
    }

    #[test]
    fn decomposed_matrices_recompose() {
        let q = DQuat::from_xyzw(0.3, -0.2, 0.5, 0.7).normalize();
        for scale in [DVec3::ONE, DVec3::new(2.0, 0.5, 100.0), DVec3::new(-1.0, 1.0, 1.0), DVec3::new(-3.0, -1.0, -0.1)]
        {
            let m = DMat4::from_scale_rotation_translation(scale, q, DVec3::new(1.0, 2.0, -3.0));
            let (difference, sheared) = back(&m);
            assert!(difference < 1e-12 * 100.0 && !sheared, "{scale}: {difference}");
            let (difference, sheared) = back(&(m * DMat4::from_quat(DQuat::from_rotation_z(0.4)) * m));
            assert!(difference < 1e-6 && sheared == (scale.abs() != DVec3::ONE), "{scale}: {difference}");
        }
        for flat in [DVec3::ZERO, DVec3::new(1.0, 0.0, 2.0), DVec3::new(0.0, 0.0, 2.0)] {
            let m = DMat4::from_scale_rotation_translation(flat, q, DVec3::ONE);
            assert!(back(&m).0 < 1e-9);
            assert!(back(&(m * DMat4::from_quat(DQuat::from_rotation_x(0.4)))).0 < 1e-9);
            assert_eq!(similarity(&m), None);
        }
    }

    #[test]
    fn matrices_with_uniform_scale_are_similarities() {
        let q = DQuat::from_xyzw(0.3, -0.2, 0.5, 0.7).normalize();
        for mirror in [1.0, -1.0] {
            let m = DMat4::from_scale_rotation_translation(DVec3::new(2.0 * mirror, 2.0, 2.0), q, DVec3::ONE);
            let s = similarity(&m).unwrap();
            assert!((s.scale - 2.0 * mirror).abs() < 1e-12);
            let p = DVec3::new(0.3, 0.7, -0.1);
            assert!((s.rotation * (p * s.scale) + s.translation - m.transform_point3(p)).length() < 1e-12);
        }
        assert_eq!(similarity(&DMat4::from_scale(DVec3::new(1.0, 1.0, 1.001))), None);
    }
}
