//! Rotations without trigonometry: identical results on every machine, including GPUs whose sine
//! has three exact digits.

use glam::{Vec3, Vec4};

/// Returns the unit quaternion of a stereographic projection, `xyz / (1 + w)` (modified Rodrigues
/// parameters).
///
/// All rotations lie in the unit ball, the identity at its centre. A small step of the projection
/// rotates by two to four times its length, anywhere in the ball.
pub fn from_projection(p: Vec3) -> Vec4 {
    let square = p.dot(p);
    (p * 2.0).extend(1.0 - square) * (1.0 / (1.0 + square))
}

/// Returns the projection of a unit quaternion, using the sign of the quaternion whose projection
/// is in the unit ball.
pub fn to_projection(q: Vec4) -> Vec3 {
    let q = if q.w < 0.0 { -q } else { q };
    q.truncate() / (1.0 + q.w)
}

/// Returns the product of quaternions: `b` rotates first.
pub fn multiply(a: Vec4, b: Vec4) -> Vec4 {
    let (u, v) = (a.truncate(), b.truncate());
    (v * a.w + u * b.w + u.cross(v)).extend(a.w * b.w - u.dot(v))
}

/// Interpolates unit quaternions from `a` (t = 0) to `b` (t = 1) along the shorter arc, at constant
/// angular speed.
///
/// A polynomial interpolates the half of the arc in which `t` lies: within 4e-7 rad of the exact
/// rotation for any two quaternions, before rounding.
pub fn slerp(a: Vec4, b: Vec4, t: f32) -> Vec4 {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    let middle = (a + b).normalize();
    let (from, to, t) = if t < 0.5 { (a, middle, 2.0 * t) } else { (middle, b, 2.0 * t - 1.0) };
    let difference = to - from;
    let versine = 0.5 * difference.dot(difference);
    (from * arc_weight(1.0 - t, versine) + to * arc_weight(t, versine)).normalize()
}

/// Returns sin(t x) / sin(x), where `versine` is 1 - cos(x), for x up to 45 degrees.
///
/// Four terms of the series in the versine (D. Eberly, "A Fast and Accurate Algorithm for Computing
/// SLERP", 2011). The last term is multiplied by 1.15 to compensate for the truncated rest.
fn arc_weight(t: f32, versine: f32) -> f32 {
    const BALANCE: f32 = 1.15;
    let square = t * t;
    let term = |rate: f32, bend: f32| (rate - bend * square) * versine;
    let series = 1.0 + BALANCE * term(4.0 / 9.0, 1.0 / 36.0);
    let series = 1.0 + term(3.0 / 7.0, 1.0 / 21.0) * series;
    let series = 1.0 + term(2.0 / 5.0, 1.0 / 10.0) * series;
    t * (1.0 + term(1.0 / 3.0, 1.0 / 3.0) * series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DQuat, DVec3};

    fn angle(a: Vec4, b: DQuat) -> f64 {
        let a = a.as_dvec4();
        let b = glam::DVec4::from(b);
        let b = if a.dot(b) < 0.0 { -b } else { b };
        4.0 * ((a.normalize() - b).length() / 2.0).asin()
    }

    #[test]
    fn slerp_error_is_below_one_microradian() {
        let mut worst: f64 = 0.0;
        for axis in [DVec3::X, DVec3::new(1.0, -2.0, 0.5).normalize(), DVec3::new(0.1, 0.2, 1.0).normalize()] {
            for degrees in [0.0, 1e-4, 0.01, 1.0, 5.0, 20.0, 45.0, 90.0, 135.0, 179.0, -60.0, 200.0, 359.0] {
                let start = DQuat::from_xyzw(0.3, -0.5, 0.1, 0.7).normalize();
                let turn = DQuat::from_axis_angle(axis, f64::to_radians(degrees));
                let (a, b) = (start.as_quat(), (start * turn).as_quat());
                let shorter = if degrees > 180.0 { degrees - 360.0 } else { degrees };
                for i in 0..=64 {
                    let t = i as f32 / 64.0;
                    let expected = start * DQuat::from_axis_angle(axis, shorter.to_radians() * f64::from(t));
                    worst = worst.max(angle(slerp(Vec4::from(a), Vec4::from(b), t), expected));
                    worst = worst.max(angle(slerp(Vec4::from(a), Vec4::from(-b), t), expected));
                }
            }
        }
        println!("slerp: {worst:.1e} rad");
        assert!(worst < 1e-6, "{worst:.1e}");
    }

    #[test]
    fn arc_weight_polynomial_error_is_below_rounding() {
        for degrees in [0.5, 5.0, 22.0, 45.0] {
            let x = f64::to_radians(degrees);
            for i in 0..=32 {
                let t = f64::from(i) / 32.0;
                let exact = (t * x).sin() / x.sin();
                let found = f64::from(arc_weight(t as f32, (1.0 - x.cos()) as f32));
                assert!((found - exact).abs() < 2.5e-6, "{degrees} {t}: {found} {exact}");
            }
        }
    }

    #[test]
    fn stereographic_projection_round_trips() {
        for q in [[0.1, -0.7, 0.2, 0.4], [0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.5, 0.5, -0.5, -0.5]] {
            let q = Vec4::from(q).normalize();
            let p = to_projection(q);
            assert!(p.length() < 1.0 + 1e-6);
            assert!(from_projection(p).dot(q).abs() > 1.0 - 1e-6);
        }
    }

    #[test]
    fn multiply_rotates_by_second_factor_first() {
        let (a, b) = (DQuat::from_rotation_x(0.3).as_quat(), DQuat::from_rotation_y(1.1).as_quat());
        assert!((multiply(Vec4::from(a), Vec4::from(b)) - Vec4::from(a * b)).length() < 1e-6);
    }
}
