//! Small numeric helpers. Everything that ends up in a file is computed in `f64` with `libm`.
//! glam's `f32` types use SIMD, and std's trigonometry differs between platforms: either would
//! change the bytes from machine to machine.

use glam::{DMat3, DQuat, DVec3, dvec3};

pub(crate) const TAU: f64 = core::f64::consts::TAU;

/// Rotation by `angle` radians about +X: positive pitches +Z (forward) down towards -Y.
pub(crate) fn rot_x(angle: f64) -> DQuat {
    DQuat::from_xyzw(libm::sin(angle / 2.0), 0.0, 0.0, libm::cos(angle / 2.0))
}

/// Rotation by `angle` radians about +Y: positive turns +Z (forward) towards +X (the left side).
pub(crate) fn rot_y(angle: f64) -> DQuat {
    DQuat::from_xyzw(0.0, libm::sin(angle / 2.0), 0.0, libm::cos(angle / 2.0))
}

/// Rotation by `angle` radians about +Z: positive leans +Y (up) towards -X (the right side).
pub(crate) fn rot_z(angle: f64) -> DQuat {
    DQuat::from_xyzw(0.0, 0.0, libm::sin(angle / 2.0), libm::cos(angle / 2.0))
}

/// Rotation `Ry * Rx * Rz` from (pitch, yaw, roll) in radians: roll first, then pitch, then yaw.
pub(crate) fn euler(pitch_yaw_roll: DVec3) -> DQuat {
    rot_y(pitch_yaw_roll.y) * rot_x(pitch_yaw_roll.x) * rot_z(pitch_yaw_roll.z)
}

/// Rotation that takes direction `a` to `b`, and `a_side` as near to `b_side` as possible.
pub(crate) fn aim(a: DVec3, a_side: DVec3, b: DVec3, b_side: DVec3) -> DQuat {
    let basis = |x: DVec3, y: DVec3| {
        let x = x.normalize();
        let y = (y - x * x.dot(y)).normalize();
        DMat3::from_cols(x, y, x.cross(y))
    };
    DQuat::from_mat3(&(basis(b, b_side) * basis(a, a_side).transpose())).normalize()
}

/// Shortest rotation from direction `a` to direction `b`.
pub(crate) fn arc(a: DVec3, b: DVec3) -> DQuat {
    let (a, b) = (a.normalize(), b.normalize());
    let c = a.cross(b);
    let w = 1.0 + a.dot(b);
    if w < 1e-9 {
        return aim(a, a.any_orthogonal_vector(), b, a.any_orthogonal_vector());
    }
    DQuat::from_xyzw(c.x, c.y, c.z, w).normalize()
}

pub(crate) fn lerp(a: f64, b: f64, t: f64) -> f64 {
    a + (b - a) * t
}

/// 0 up to `a`, 1 from `b` on, smooth between.
pub(crate) fn smoothstep(a: f64, b: f64, x: f64) -> f64 {
    let t = ((x - a) / (b - a)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// `sin` and `cos` of a phase in turns.
pub(crate) fn sin_turn(turns: f64) -> f64 {
    libm::sin(turns * TAU)
}

pub(crate) fn cos_turn(turns: f64) -> f64 {
    libm::cos(turns * TAU)
}

/// Wraps a phase in turns into 0..1.
pub(crate) fn wrap(turns: f64) -> f64 {
    turns - libm::floor(turns)
}

/// Bump of height 1 at phase `at`; falls to 0 at `half` turns to either side, around the circle.
pub(crate) fn bump(phase: f64, at: f64, half: f64) -> f64 {
    let d = wrap(phase - at + 0.5) - 0.5;
    1.0 - smoothstep(0.0, half, libm::fabs(d))
}

/// Cubic Hermite from `a` to `b` with slopes `da` and `db` (per unit of `t`).
pub(crate) fn hermite(a: f64, da: f64, b: f64, db: f64, t: f64) -> f64 {
    let (t2, t3) = (t * t, t * t * t);
    a * (2.0 * t3 - 3.0 * t2 + 1.0) + da * (t3 - 2.0 * t2 + t) + b * (3.0 * t2 - 2.0 * t3) + db * (t3 - t2)
}

/// Four keys around `x`, in ascending `at`, with their weights in a Catmull-Rom curve (non-uniform;
/// flat at both ends).
pub(crate) fn catmull_rom(at: &[f64], x: f64) -> [(usize, f64); 4] {
    let last = at.len() - 1;
    let x = x.clamp(at[0], at[last]);
    let k = at.iter().rposition(|&a| a <= x).unwrap_or(0).min(last - 1);
    let h = at[k + 1] - at[k];
    let t = (x - at[k]) / h;
    let (t2, t3) = (t * t, t * t * t);
    let (h00, h10, h01, h11) = (2.0 * t3 - 3.0 * t2 + 1.0, t3 - 2.0 * t2 + t, 3.0 * t2 - 2.0 * t3, t3 - t2);
    // Tangent at key i: the slope between its neighbours; none at the ends.
    let before = if k > 0 { h / (at[k + 1] - at[k - 1]) } else { 0.0 };
    let after = if k + 2 <= last { h / (at[k + 2] - at[k]) } else { 0.0 };
    [
        (k.saturating_sub(1), -h10 * before),
        (k, h00 - h11 * after),
        (k + 1, h01 + h10 * before),
        ((k + 2).min(last), h11 * after),
    ]
}

/// Pseudo-random number in 0..1, always the same for the same cell.
pub(crate) fn hash(x: i64, y: i64, seed: i64) -> f64 {
    let mut h = (x as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ (y as u64).wrapping_mul(0xC2B2_AE3D_27D4_EB4F)
        ^ (seed as u64).wrapping_mul(0x1656_67B1_9E37_79F9);
    h = (h ^ (h >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    h = (h ^ (h >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((h ^ (h >> 33)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Smooth value noise in 0..1 with one cell per unit.
pub(crate) fn noise(x: f64, y: f64, seed: i64) -> f64 {
    let (fx, fy) = (libm::floor(x), libm::floor(y));
    let (ix, iy) = (fx as i64, fy as i64);
    let (tx, ty) = (smoothstep(0.0, 1.0, x - fx), smoothstep(0.0, 1.0, y - fy));
    let top = lerp(hash(ix, iy, seed), hash(ix + 1, iy, seed), tx);
    let bottom = lerp(hash(ix, iy + 1, seed), hash(ix + 1, iy + 1, seed), tx);
    lerp(top, bottom, ty)
}

/// Mirrors left (+X) and right (-X).
pub(crate) fn mirror(p: DVec3) -> DVec3 {
    dvec3(-p.x, p.y, p.z)
}
