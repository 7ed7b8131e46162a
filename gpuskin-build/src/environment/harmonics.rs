//! Radiance as real orthonormal spherical harmonics.

use super::cube::Cube;

/// Returns the coefficients of the first three bands, linear RGB, in the order of `Ambient::harmonics`: bands 0,
/// 1 (y, z, x) and 2 (xy, yz, 3zz - 1, zx, xx - yy).
pub(super) fn of(cube: &Cube) -> [[f64; 3]; 9] {
    let mut sums = [[0.0; 3]; 9];
    for patch in cube.patches() {
        let radiance = patch.radiance.map(|c| f64::from(c) * f64::from(patch.solid_angle));
        for (sum, value) in sums.iter_mut().zip(basis(patch.direction.map(f64::from))) {
            sum.iter_mut().zip(radiance).for_each(|(sum, c)| *sum += value * c);
        }
    }
    sums
}

fn basis([x, y, z]: [f64; 3]) -> [f64; 9] {
    [
        0.282_094_791_773_878,
        0.488_602_511_902_920 * y,
        0.488_602_511_902_920 * z,
        0.488_602_511_902_920 * x,
        1.092_548_430_592_079 * x * y,
        1.092_548_430_592_079 * y * z,
        0.315_391_565_252_520 * (3.0 * z * z - 1.0),
        1.092_548_430_592_079 * z * x,
        0.546_274_215_296_040 * (x * x - y * y),
    ]
}
