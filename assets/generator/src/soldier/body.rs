//! The soldier's skinned surfaces, lofted through cross-sections. Metres, bind pose.

use super::limbs;
use super::rig::{self, ARM, ARM_OUT, SHOULDER, WRIST, side, sided};
use super::texture as tex;
use crate::math::{TAU, cos_turn, lerp, smoothstep};
use crate::mesh::{Part, Ring, chain, grid, loft, plate, profile};
use crate::skeleton::Skeleton;
use glam::{DVec3, dvec3};

/// Parts of cloth, skin and leather.
pub(crate) fn cloth(s: &Skeleton) -> Vec<Part> {
    let mut parts = vec![
        torso().skinned(|p| rig::torso(s, p)),
        head().skinned(|p| rig::head(s, p)),
        scarf().skinned(|p| rig::torso(s, p)),
        belt().skinned(|p| rig::torso(s, p)),
        skirt().skinned(|p| rig::skirt(s, p)),
    ];
    parts.extend(straps().into_iter().map(|part| part.skinned(|p| rig::skirt(s, p))));
    for sign in [1.0, -1.0] {
        let flip = |part: Part| part.map(|p| side(p, sign));
        parts.push(flip(limbs::sleeve()).skinned(|p| rig::arm(s, sign, p)));
        parts.push(flip(limbs::arm()).skinned(|p| rig::arm(s, sign, p)));
        parts.push(flip(limbs::leg()).skinned(|p| rig::leg(s, sign, p)));
        parts.push(flip(limbs::boot()).skinned(|p| rig::leg(s, sign, p)));
        parts.push(flip(limbs::palm()).skinned(|p| rig::arm(s, sign, p)));
        for (part, thumb) in limbs::fingers() {
            parts.push(flip(part).skinned(|p| {
                let q = side(p, sign) - SHOULDER - ARM * WRIST;
                if thumb {
                    return chain(
                        q.dot(ARM),
                        &[(sided(s, "Hand", sign), 0.0, 0.0), (sided(s, "Thumb", sign), 0.035, 0.02)],
                    );
                }
                // Curl coordinate: along the arm up to the knuckles, then depth below the back of
                // the hand.
                let depth = -q.dot(ARM_OUT) + if q.dot(ARM) < 0.1 { 0.5 * (0.1 - q.dot(ARM)).min(0.02) } else { 0.0 };
                chain(
                    depth,
                    &[
                        (sided(s, "Hand", sign), -1.0, 0.0),
                        (sided(s, "Fingers", sign), 0.004, 0.01),
                        (sided(s, "FingerTips", sign), 0.035, 0.012),
                    ],
                )
            }));
        }
    }
    parts
}

/// Shoulder guards.
pub(crate) fn plates(s: &Skeleton) -> Vec<Part> {
    let mut parts = Vec::new();
    for sign in [1.0, -1.0] {
        for i in 0..4 {
            let start = -0.085 + 0.047 * f64::from(i);
            let guard = plate("guard", 3, 7, tex::STEEL, tex::SIZE, |v, u| {
                let along = start + 0.058 * v;
                let angle = lerp(-1.75, 1.75, u);
                // Each plate overlaps the next one inwards; all flare a little at the lower edge.
                let r =
                    0.079 + 0.010 * v + 0.010 * smoothstep(-0.1, 0.02, along) - 0.008 * smoothstep(0.06, 0.14, along);
                let out = ARM_OUT * libm::cos(angle) * 1.03 + DVec3::Z * libm::sin(angle) * 1.05;
                let p = |r: f64| SHOULDER - ARM_OUT * 0.004 + ARM * along + out * r;
                (p(r), p(r - 0.009))
            });
            parts.push(guard.map(|p| side(p, sign)).skinned(|p| rig::arm(s, sign, p)));
        }
    }
    parts
}

/// Height, half width, extent to the front, extent to the back; metres.
const TORSO: [[f64; 4]; 11] = [
    [0.82, 0.120, 0.085, 0.100],
    [0.90, 0.168, 0.112, 0.128],
    [0.98, 0.166, 0.110, 0.118],
    [1.07, 0.148, 0.104, 0.100],
    [1.16, 0.153, 0.112, 0.106],
    [1.26, 0.172, 0.130, 0.120],
    [1.34, 0.186, 0.136, 0.126],
    [1.41, 0.180, 0.116, 0.114],
    [1.455, 0.128, 0.086, 0.092],
    [1.485, 0.078, 0.062, 0.072],
    [1.52, 0.060, 0.052, 0.062],
];

fn torso_ring(y: f64, extra: f64) -> Ring {
    let [_, w, f, b] = profile(&TORSO, y);
    let z = DVec3::Z;
    let power = lerp(2.2, 2.6, smoothstep(1.1, 1.3, y));
    Ring {
        center: dvec3(0.0, y, -0.008),
        side: DVec3::X * (w + extra),
        front: z * (f + extra),
        back: z * (b + extra),
        power,
    }
}

fn torso() -> Part {
    let mut rings: Vec<Ring> = [0.82, 0.87, 0.93, 0.99, 1.05].iter().map(|&y| torso_ring(y, 0.0)).collect();
    // Five bands around the trunk, each overlapping the one below.
    for i in 0..tex::BANDS {
        let y = tex::BAND_LOW + tex::BAND_HEIGHT * i as f64;
        rings.push(torso_ring(y, 0.013));
        rings.push(torso_ring(y + tex::BAND_HEIGHT * 0.94, 0.004));
    }
    rings.extend([1.385, 1.415, 1.44, 1.46, 1.485, 1.52].iter().map(|&y| torso_ring(y, 0.010)));
    // Top to bottom, as the texture is painted.
    rings.reverse();
    loft("torso", &rings, 20, tex::TORSO, tex::SIZE)
}

fn belt() -> Part {
    let rings: Vec<Ring> = [(1.005, 0.0), (1.012, 0.024), (1.04, 0.027), (1.072, 0.021), (1.08, 0.0)]
        .iter()
        .rev()
        .map(|&(y, e)| torso_ring(y, e))
        .collect();
    loft("belt", &rings, 18, tex::BELT, tex::SIZE)
}

/// Tunic below the belt: down the outside, around the hem, up the inside.
fn skirt() -> Part {
    const SHAPE: [[f64; 4]; 4] = [
        [0.0, 0.158, 0.112, 0.114],
        [0.3, 0.192, 0.144, 0.150],
        [0.65, 0.212, 0.166, 0.176],
        [1.0, 0.226, 0.184, 0.196],
    ];
    let rows =
        [(0.0, 0.0), (0.25, 0.0), (0.5, 0.0), (0.75, 0.0), (1.0, 0.0), (1.0, -0.008), (0.75, -0.014), (0.4, -0.03)];
    grid("skirt", rows.len(), 28, tex::SKIRT, tex::SIZE, |row, i| {
        let (t, inset) = rows[row];
        let u = i as f64 / 28.0;
        let [_, w, f, b] = profile(&SHAPE, t);
        let z = DVec3::Z;
        let fold = 1.0 + 0.035 * t * cos_turn(u * 7.0) + inset * 6.0;
        let ring = Ring {
            center: dvec3(0.0, 1.03 - 0.41 * t, -0.006),
            side: DVec3::X * w * fold,
            front: z * f * fold,
            back: z * b * fold,
            power: 2.2,
        };
        (ring.point(if i == 28 { 0.0 } else { u }), u, if inset < 0.0 { 1.0 } else { t })
    })
}

/// Leather straps that hang from the belt.
fn straps() -> Vec<Part> {
    (0..14)
        .map(|k| {
            let middle = (k as f64 + 0.5) / 14.0;
            plate("strap", 4, 2, tex::STRAP, tex::SIZE, move |v, u| {
                let t = lerp(0.0, 0.235, v);
                let at = middle + lerp(-0.0295, 0.0295, u) * if v > 0.9 { 0.55 } else { 1.0 };
                let p = |extra: f64| {
                    let flare = 0.35 * t;
                    let z = DVec3::Z;
                    let ring = Ring {
                        center: dvec3(0.0, 1.035 - t, -0.006),
                        side: DVec3::X * (0.166 + flare * 0.55 + extra),
                        front: z * (0.120 + flare * 0.60 + extra),
                        back: z * (0.124 + flare * 0.62 + extra),
                        power: 2.2,
                    };
                    ring.point(at)
                };
                (p(0.014), p(0.004))
            })
        })
        .collect()
}

fn scarf() -> Part {
    let rows = 6;
    let ring = |t: f64, r: f64| {
        let (c, s) = (cos_turn(t), crate::math::sin_turn(t));
        let z = DVec3::Z;
        let (w, d) = (0.072 + r * c, 0.074 + r * c);
        Ring {
            center: dvec3(0.0, 1.496 + r * 1.15 * s, -0.012),
            side: DVec3::X * w,
            front: z * d,
            back: z * d,
            power: 2.0,
        }
    };
    let rings: Vec<Ring> = (0..rows).map(|i| ring(0.45 - 0.9 * i as f64 / (rows - 1) as f64, 0.031)).collect();
    loft("scarf", &rings, 14, tex::SCARF, tex::SIZE)
}

fn head() -> Part {
    // Height, half width, front, back, z of the centre.
    const KEYS: [[f64; 5]; 14] = [
        [1.450, 0.064, 0.050, 0.058, -0.022],
        [1.500, 0.056, 0.048, 0.054, -0.018],
        [1.540, 0.055, 0.052, 0.056, -0.012],
        [1.562, 0.056, 0.072, 0.060, -0.004],
        [1.576, 0.058, 0.088, 0.066, 0.0],
        [1.600, 0.064, 0.094, 0.076, 0.0],
        [1.630, 0.070, 0.095, 0.088, 0.0],
        [1.660, 0.075, 0.095, 0.096, 0.0],
        [1.695, 0.078, 0.093, 0.102, 0.0],
        [1.730, 0.078, 0.096, 0.104, 0.0],
        [1.760, 0.074, 0.090, 0.100, 0.0],
        [1.790, 0.060, 0.070, 0.080, 0.0],
        [1.808, 0.036, 0.040, 0.048, 0.0],
        [1.815, 0.012, 0.012, 0.015, 0.0],
    ];
    let rows = [
        1.815, 1.79, 1.755, 1.736, 1.722, 1.71, 1.698, 1.685, 1.672, 1.660, 1.648, 1.634, 1.62, 1.604, 1.588, 1.572,
        1.555, 1.51, 1.45,
    ];
    let segments = 24;
    let hill = |x: f64, at: f64, width: f64| libm::exp(-(x - at) * (x - at) / (width * width));
    grid("head", rows.len(), segments, tex::HEAD, tex::SIZE, |row, i| {
        let y = rows[row];
        let even = i as f64 / segments as f64;
        // Closer columns in the face.
        let u = even + 0.07 * libm::sin(even * TAU);
        let [_, w, f, b, z] = profile(&KEYS, y);
        let ring =
            Ring { center: dvec3(0.0, y, z), side: DVec3::X * w, front: DVec3::Z * f, back: DVec3::Z * b, power: 2.15 };
        let mut p = ring.point(if i == segments { 0.0 } else { u });
        let x = libm::fabs(p.x);
        if p.z > 0.03 {
            let nose = hill(x, 0.0, 0.013) * if y > 1.658 { hill(y, 1.658, 0.045) } else { hill(y, 1.658, 0.012) };
            p.z += 0.031 * nose;
            p.z += 0.007 * hill(y, 1.722, 0.012) * (1.0 - smoothstep(0.045, 0.07, x));
            p.z -= 0.013 * hill(x, 0.030, 0.016) * hill(y, 1.698, 0.014);
            p.z += 0.005 * hill(x, 0.045, 0.016) * hill(y, 1.668, 0.016);
            p.z += 0.006 * hill(y, 1.628, 0.010) * hill(x, 0.0, 0.024);
            p.z -= 0.005 * hill(y, 1.608, 0.008) * hill(x, 0.0, 0.03);
            p.z += 0.009 * hill(y, 1.585, 0.014) * hill(x, 0.0, 0.026);
        }
        (p, u, (tex::HEAD_TOP - y) / (tex::HEAD_TOP - tex::HEAD_LOW))
    })
}
