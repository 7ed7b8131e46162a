//! Rotations between directions and of matrices.

use glam::{DMat3, DMat4, DQuat, DVec3};

/// Returns the shortest rotation from one direction to another; the identity if one has no length.
pub(super) fn arc(from: DVec3, to: DVec3) -> DQuat {
    match (from.try_normalize(), to.try_normalize()) {
        (Some(from), Some(to)) => DQuat::from_rotation_arc(from, to),
        _ => DQuat::IDENTITY,
    }
}

/// Returns the rotation of an affine matrix whose axes may have any lengths; the identity if it has none.
pub(super) fn rotation(m: &DMat4) -> DQuat {
    let axes = [m.x_axis, m.y_axis, m.z_axis].map(|axis| axis.truncate().try_normalize());
    let [Some(x), Some(y), Some(z)] = axes else { return DQuat::IDENTITY };
    let x = if x.cross(y).dot(z) < 0.0 { -x } else { x };
    let rotation = DQuat::from_mat3(&DMat3::from_cols(x, y, z)).normalize();
    if rotation.is_finite() { rotation } else { DQuat::IDENTITY }
}
