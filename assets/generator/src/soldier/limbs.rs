//! The soldier's left arm, hand, leg and boot; the right ones are their mirror images. Metres, bind pose.

use super::rig::{ARM, ARM_OUT, SHOULDER, WRIST};
use super::texture as tex;
use crate::mesh::{Part, Ring, loft, profile, tube};
use glam::{DVec3, dvec3};

/// Ring across the left arm. Keys: distance from the shoulder, extent outwards, extent forwards,
/// shift of the centre outwards.
fn arm_ring(keys: &[[f64; 4]], along: f64) -> Ring {
    let [_, out, front, shift] = profile(keys, along);
    Ring {
        center: SHOULDER + ARM * along + ARM_OUT * shift,
        // Around the arm from the back, over the outside.
        side: ARM_OUT * out,
        front: DVec3::Z * front,
        back: DVec3::Z * front,
        power: 2.1,
    }
}

pub(crate) fn sleeve() -> Part {
    const KEYS: [[f64; 4]; 6] = [
        [-0.12, 0.050, 0.055, -0.03],
        [-0.05, 0.070, 0.072, -0.006],
        [0.02, 0.076, 0.075, 0.0],
        [0.10, 0.072, 0.070, 0.0],
        [0.17, 0.074, 0.072, 0.0],
        [0.23, 0.079, 0.077, 0.0],
    ];
    let mut rings: Vec<Ring> =
        [-0.12, -0.07, -0.02, 0.03, 0.08, 0.15, 0.215].iter().map(|&s| arm_ring(&KEYS, s)).collect();
    for (along, scale) in [(0.218, 0.93), (0.19, 0.72)] {
        let r = arm_ring(&KEYS, along);
        rings.push(Ring { side: r.side * scale, front: r.front * scale, back: r.back * scale, ..r });
    }
    loft("sleeve", &rings, 12, tex::SLEEVE, tex::SIZE)
}

pub(crate) fn arm() -> Part {
    const KEYS: [[f64; 4]; 11] = [
        [0.10, 0.050, 0.052, 0.0],
        [0.15, 0.053, 0.055, 0.0],
        [0.20, 0.050, 0.050, 0.0],
        [0.25, 0.043, 0.043, 0.0],
        [0.285, 0.041, 0.041, 0.003],
        [0.325, 0.045, 0.046, 0.002],
        [0.37, 0.045, 0.047, 0.0],
        [0.42, 0.041, 0.043, 0.0],
        [0.47, 0.034, 0.037, 0.0],
        [0.52, 0.027, 0.033, 0.0],
        [0.55, 0.025, 0.034, 0.0],
    ];
    let mut rings = Vec::new();
    let mut push = |along: f64, extra: f64| {
        let r = arm_ring(&KEYS, along);
        rings.push(Ring {
            side: r.side + ARM_OUT * extra,
            front: r.front + DVec3::Z * extra,
            back: r.back + DVec3::Z * extra,
            ..r
        });
    };
    [0.13, 0.19, 0.24, 0.285, 0.33, 0.378].iter().for_each(|&a| push(a, 0.0));
    // The bracer stands out from the skin.
    [0.380, 0.43, 0.48, 0.522].iter().for_each(|&a| push(a, 0.007));
    [0.524, 0.55].iter().for_each(|&a| push(a, 0.0));
    loft("arm", &rings, 10, tex::ARM, tex::SIZE)
}

/// Point of the left hand: distance along the arm from the wrist, towards the palm, towards the
/// thumb.
fn hand_point(along: f64, palm: f64, thumb: f64) -> DVec3 {
    SHOULDER + ARM * (WRIST + along) - ARM_OUT * palm + DVec3::Z * thumb
}

pub(crate) fn palm() -> Part {
    // Distance along, half thickness, half width, then shift of the centre towards palm and thumb.
    const KEYS: [[f64; 5]; 5] = [
        [-0.015, 0.022, 0.030, 0.0, 0.0],
        [0.015, 0.023, 0.034, 0.003, 0.002],
        [0.050, 0.021, 0.043, 0.004, 0.002],
        [0.080, 0.018, 0.045, 0.002, 0.0],
        [0.097, 0.011, 0.042, 0.006, 0.0],
    ];
    let rings: Vec<Ring> = [-0.015, 0.01, 0.04, 0.07, 0.09, 0.097]
        .iter()
        .map(|&a| {
            let [_, thick, wide, shift, thumb] = profile(&KEYS, a);
            let front = DVec3::Z * wide;
            Ring { center: hand_point(a, shift, thumb), side: ARM_OUT * thick, front, back: front, power: 2.8 }
        })
        .collect();
    loft("palm", &rings, 10, tex::HAND, tex::SIZE)
}

/// Fingers closed around a grip; the flag marks the thumb.
pub(crate) fn fingers() -> Vec<(Part, bool)> {
    let mut parts = Vec::new();
    for (k, length) in [0.95, 1.05, 1.0, 0.86].into_iter().enumerate() {
        let z = 0.0325 - 0.0215 * k as f64;
        let p = |a: f64, b: f64, r: f64| (hand_point(0.085 + (a - 0.085) * length, b, z), r);
        let points = [
            p(0.072, 0.002, 0.011),
            p(0.104, 0.006, 0.0132),
            p(0.117, 0.032, 0.0125),
            p(0.098, 0.055, 0.0115),
            p(0.072, 0.047, 0.009),
        ];
        parts.push((tube("finger", &points, DVec3::Z, 5, tex::HAND, tex::SIZE), false));
    }
    let t = |a: f64, b: f64, z: f64, r: f64| (hand_point(a, b, z), r);
    let thumb = [
        t(0.012, 0.006, 0.026, 0.014),
        t(0.038, 0.018, 0.046, 0.0155),
        t(0.066, 0.042, 0.048, 0.0135),
        t(0.088, 0.063, 0.036, 0.012),
        t(0.098, 0.070, 0.022, 0.009),
    ];
    parts.push((tube("thumb", &thumb, ARM_OUT, 6, tex::HAND, tex::SIZE), true));
    parts
}

pub(crate) fn leg() -> Part {
    // Height, half width, front, back, then x and z of the centre.
    const KEYS: [[f64; 6]; 13] = [
        [0.06, 0.038, 0.042, 0.046, 0.110, -0.018],
        [0.12, 0.036, 0.036, 0.042, 0.110, -0.018],
        [0.20, 0.040, 0.038, 0.048, 0.109, -0.012],
        [0.28, 0.050, 0.044, 0.062, 0.108, -0.006],
        [0.35, 0.057, 0.048, 0.073, 0.107, -0.002],
        [0.41, 0.056, 0.050, 0.066, 0.105, 0.002],
        [0.46, 0.053, 0.054, 0.056, 0.104, 0.006],
        [0.505, 0.056, 0.060, 0.053, 0.103, 0.008],
        [0.56, 0.060, 0.062, 0.060, 0.102, 0.006],
        [0.66, 0.074, 0.076, 0.074, 0.100, 0.002],
        [0.78, 0.087, 0.088, 0.090, 0.096, 0.0],
        [0.88, 0.090, 0.090, 0.104, 0.094, -0.004],
        [0.96, 0.080, 0.080, 0.095, 0.090, -0.006],
    ];
    let mut rings = Vec::new();
    let mut push = |y: f64, extra: f64| {
        let [_, w, f, b, x, z] = profile(&KEYS, y);
        let (w, f, b) = (w + extra, f + extra, b + extra);
        rings.push(Ring {
            center: dvec3(x, y, z),
            side: DVec3::X * w,
            front: DVec3::Z * f,
            back: DVec3::Z * b,
            power: 2.1,
        });
    };
    // Breeches, bare skin below the knee, boot.
    [0.95, 0.86, 0.75, 0.65, 0.58, 0.54, 0.505, 0.47, 0.442].iter().for_each(|&y| push(y, 0.006));
    [0.438, 0.39, 0.325].iter().for_each(|&y| push(y, 0.0));
    push(0.320, 0.010);
    [0.31, 0.26, 0.19, 0.13, 0.09, 0.06].iter().for_each(|&y| push(y, 0.006));
    loft("leg", &rings, 12, tex::LEG, tex::SIZE)
}

pub(crate) fn boot() -> Part {
    // z, half width, extent upwards from 3 cm above the ground, x of the centre.
    const KEYS: [[f64; 4]; 9] = [
        [-0.085, 0.018, 0.030, 0.109],
        [-0.078, 0.032, 0.055, 0.109],
        [-0.045, 0.040, 0.085, 0.110],
        [0.000, 0.041, 0.086, 0.110],
        [0.040, 0.042, 0.058, 0.112],
        [0.085, 0.047, 0.037, 0.115],
        [0.125, 0.049, 0.026, 0.117],
        [0.160, 0.040, 0.017, 0.114],
        [0.180, 0.022, 0.006, 0.111],
    ];
    let rings: Vec<Ring> = [-0.085, -0.074, -0.045, 0.0, 0.035, 0.07, 0.10, 0.13, 0.155, 0.17, 0.18]
        .iter()
        .map(|&z| {
            let [_, w, up, x] = profile(&KEYS, z);
            let down = if (-0.08..0.175).contains(&z) { 0.03 } else { 0.018 };
            Ring {
                center: dvec3(x, 0.03, z),
                side: DVec3::X * w,
                front: DVec3::Y * up,
                back: DVec3::Y * down,
                power: 2.7,
            }
        })
        .collect();
    loft("boot", &rings, 12, tex::BOOT, tex::SIZE)
}

/// Middle of the grip in the closed left hand.
pub(crate) fn grip() -> DVec3 {
    hand_point(0.091, 0.030, 0.0)
}
