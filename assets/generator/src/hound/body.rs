//! Surface of the hound: blended capsules along its bones, ears, eyes and a collar. Metres, bind
//! pose.

use super::rig::{other_side, sided};
use super::texture as tex;
use crate::math::{TAU, lerp, mirror, smoothstep};
use crate::mesh::{Part, Ring, chain, grid, loft, plate};
use crate::sdf::{Blob, Shape, Skin};
use crate::skeleton::Skeleton;
use glam::{DVec3, dvec3};

pub(crate) fn fur(s: &Skeleton) -> Vec<Part> {
    let shape = shape(s);
    // Finer across (thin legs) than along; finest at the head.
    let xs: Vec<f64> = (-10..10).map(|i| (f64::from(i) + 0.5) * 0.0245).collect();
    let ys = spaced(-0.03, 1.06, |y| {
        if y < 0.10 {
            0.027
        } else if y > 0.80 {
            0.0265
        } else {
            0.038
        }
    });
    let zs = spaced(-0.87, 0.76, |z| {
        if z > 0.44 {
            0.0265
        } else if z < -0.5 {
            0.045
        } else {
            0.032
        }
    });
    let mut parts = vec![
        shape.mesh("hound", [&xs, &ys, &zs], tex::side, |bone| other_side(s, bone)),
        collar().skinned(|_| vec![(s.find("Neck1"), 0.5), (s.find("Neck2"), 0.5)]),
    ];
    for sign in [1.0, -1.0] {
        let flip = |part: Part| if sign > 0.0 { part } else { part.map(mirror) };
        let ear_bone = sided(s, "Ear", sign);
        let head = s.find("Head");
        parts.push(flip(ear()).skinned(move |p| chain(p.y, &[(head, 0.0, 0.0), (ear_bone, 0.955, 0.022)])));
        parts.push(flip(eye(shape.project(dvec3(0.05, 0.906, 0.542)))).skinned(|_| vec![(head, 1.0)]));
    }
    parts
}

/// Brass studs of the collar.
pub(crate) fn studs(s: &Skeleton) -> Vec<Part> {
    (0..10)
        .map(|k| {
            let turn = (f64::from(k) + 0.5) / 10.0 * TAU;
            let (p, out) = on_collar(turn, 0.012);
            let up = collar_axis();
            let side = up.cross(out);
            let ring =
                |h: f64, r: f64| Ring { center: p + out * h, side: side * r, front: up * r, back: up * r, power: 2.0 };
            loft("stud", &[ring(-0.004, 0.012), ring(0.004, 0.011), ring(0.018, 0.0015)], 5, tex::COLLAR, tex::SIZE)
                .skinned(|_| vec![(s.find("Neck1"), 0.5), (s.find("Neck2"), 0.5)])
        })
        .collect()
}

/// Grid planes from `a` to `b`; `step` gives the spacing at a position.
fn spaced(a: f64, b: f64, step: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut out = vec![a];
    while out[out.len() - 1] < b {
        let x = out[out.len() - 1];
        out.push(x + step(x));
    }
    out
}

fn shape(s: &Skeleton) -> Shape {
    let mut blobs: Vec<Blob> = Vec::new();
    let mut add = |a: (f64, f64, f64), b: (f64, f64, f64), radius: [f64; 2], width: f64, melt: f64, skin: Skin| {
        let v = |p: (f64, f64, f64)| dvec3(p.0, p.1, p.2);
        blobs.push(Blob { a: v(a), b: v(b), radius, scale: dvec3(width, 1.0, 1.0), melt, skin });
    };
    let bone = |name: &str| s.find(name);
    let left = |name: &str| sided(s, name, 1.0);
    let one = |bone: usize| -> Skin { Box::new(move |_| vec![(bone, 1.0)]) };
    let trunk = || -> Skin {
        let joints = [
            (bone("Hips"), -9.0, 0.0),
            (bone("Spine1"), -0.22, 0.09),
            (bone("Spine2"), -0.05, 0.09),
            (bone("Chest"), 0.12, 0.09),
            (bone("Neck1"), 0.30, 0.08),
        ];
        Box::new(move |p| chain(p.z, &joints))
    };
    let neck = || -> Skin {
        // Along the neck, which rises at about 45 degrees.
        let joints = [
            (bone("Chest"), -9.0, 0.0),
            (bone("Neck1"), 0.70, 0.06),
            (bone("Neck2"), 0.825, 0.06),
            (bone("Head"), 0.945, 0.05),
        ];
        Box::new(move |p| chain((p.y + p.z) * 0.707, &joints))
    };
    let tail = || -> Skin {
        let joints = [
            (bone("Hips"), -9.0, 0.0),
            (bone("Tail1"), 0.44, 0.04),
            (bone("Tail2"), 0.56, 0.05),
            (bone("Tail3"), 0.66, 0.05),
            (bone("Tail4"), 0.75, 0.05),
        ];
        Box::new(move |p| chain(-p.z, &joints))
    };
    // Trunk: deep chest, tucked belly, rump, withers.
    add((0.0, 0.595, 0.20), (0.0, 0.615, -0.02), [0.170, 0.158], 0.80, 0.05, trunk());
    add((0.0, 0.625, -0.02), (0.0, 0.665, -0.26), [0.150, 0.108], 0.82, 0.08, trunk());
    add((0.0, 0.655, -0.28), (0.0, 0.635, -0.40), [0.122, 0.100], 0.95, 0.06, trunk());
    add((0.0, 0.735, 0.16), (0.0, 0.720, -0.05), [0.085, 0.060], 0.85, 0.06, trunk());
    add((0.0, 0.560, 0.27), (0.0, 0.600, 0.22), [0.100, 0.12], 0.85, 0.06, trunk());
    // Neck and head.
    add((0.0, 0.685, 0.24), (0.0, 0.860, 0.425), [0.130, 0.088], 0.85, 0.07, neck());
    let head = || one(bone("Head"));
    add((0.0, 0.897, 0.455), (0.0, 0.900, 0.495), [0.083, 0.078], 0.95, 0.04, head());
    add((0.038, 0.868, 0.48), (0.034, 0.868, 0.53), [0.050, 0.040], 1.0, 0.03, head());
    add((0.0, 0.880, 0.53), (0.0, 0.862, 0.675), [0.062, 0.041], 0.90, 0.03, head());
    add((0.0, 0.872, 0.690), (0.0, 0.870, 0.700), [0.022, 0.019], 1.0, 0.012, head());
    add((0.024, 0.925, 0.530), (0.030, 0.920, 0.520), [0.024, 0.024], 1.0, 0.025, head());
    add((0.0, 0.840, 0.53), (0.0, 0.826, 0.645), [0.038, 0.027], 0.95, 0.014, one(bone("Jaw")));
    // Tail, thick with fur.
    add((0.0, 0.670, -0.42), (0.0, 0.615, -0.58), [0.046, 0.044], 1.0, 0.05, tail());
    add((0.0, 0.615, -0.58), (0.0, 0.515, -0.73), [0.044, 0.040], 1.0, 0.03, tail());
    add((0.0, 0.515, -0.73), (0.0, 0.465, -0.79), [0.039, 0.020], 1.0, 0.03, tail());
    // Foreleg.
    add((0.080, 0.68, 0.16), (0.095, 0.54, 0.235), [0.085, 0.078], 1.0, 0.05, one(left("Shoulder")));
    add((0.098, 0.53, 0.240), (0.100, 0.43, 0.155), [0.075, 0.056], 1.0, 0.04, one(left("UpperArm")));
    add((0.100, 0.425, 0.150), (0.100, 0.31, 0.160), [0.053, 0.044], 1.0, 0.03, one(left("ForeArm")));
    add((0.100, 0.31, 0.160), (0.100, 0.155, 0.175), [0.044, 0.034], 1.0, 0.02, one(left("ForeArm")));
    add((0.100, 0.145, 0.176), (0.100, 0.055, 0.200), [0.035, 0.032], 1.0, 0.02, one(left("Wrist")));
    add((0.100, 0.030, 0.205), (0.102, 0.024, 0.245), [0.041, 0.032], 1.0, 0.02, one(left("ForePaw")));
    // Hind leg.
    add((0.078, 0.615, -0.365), (0.098, 0.47, -0.305), [0.112, 0.080], 0.95, 0.05, one(left("Thigh")));
    add((0.098, 0.48, -0.300), (0.100, 0.42, -0.275), [0.078, 0.062], 1.0, 0.03, one(left("Thigh")));
    add((0.100, 0.42, -0.285), (0.098, 0.30, -0.390), [0.062, 0.043], 1.0, 0.03, one(left("Shin")));
    add((0.098, 0.30, -0.390), (0.098, 0.225, -0.455), [0.043, 0.034], 1.0, 0.02, one(left("Shin")));
    add((0.098, 0.225, -0.458), (0.098, 0.055, -0.425), [0.035, 0.031], 1.0, 0.02, one(left("Hock")));
    add((0.098, 0.030, -0.420), (0.100, 0.024, -0.380), [0.040, 0.032], 1.0, 0.02, one(left("HindPaw")));
    Shape { blobs }
}

/// Left ear: upright, its shell open to the front and the side.
fn ear() -> Part {
    plate("ear", 6, 5, tex::EAR, tex::SIZE, |v, u| {
        let across = lerp(-1.0, 1.0, u);
        let width = 0.046 * libm::sqrt((1.0 - v * v * v).max(0.0)) * lerp(1.0, 0.75, v) + 0.002;
        let up = dvec3(0.22, 1.0, -0.08).normalize();
        let wide = dvec3(0.80, 0.0, -0.60);
        let back = dvec3(-0.55, 0.1, -0.83).normalize();
        let base = dvec3(0.048, 0.925, 0.462);
        let bowl = 0.020 * (1.0 - across * across) * (1.0 - 0.6 * v);
        let p = base + up * (0.125 * v) + wide * (across * width) + back * bowl;
        (p + back * 0.004, p - back * 0.004)
    })
}

/// Left eye, set into the surface at `center`.
fn eye(center: DVec3) -> Part {
    let look = dvec3(0.62, 0.10, 0.78).normalize();
    let side = look.cross(DVec3::Y).normalize();
    let ring = |h: f64, r: f64| Ring {
        center: center + look * h,
        side: side * r,
        front: side.cross(look) * r,
        back: side.cross(look) * r,
        power: 2.0,
    };
    loft(
        "eye",
        &[ring(-0.012, 0.010), ring(-0.005, 0.0125), ring(0.0, 0.0100), ring(0.0028, 0.0038)],
        8,
        tex::EYE,
        tex::SIZE,
    )
}

fn collar_axis() -> DVec3 {
    dvec3(0.0, 0.687, 0.726).normalize()
}

/// Point on the collar (turn 0 is below, at the throat), and the direction away from the neck.
fn on_collar(turn: f64, extra: f64) -> (DVec3, DVec3) {
    let axis = collar_axis();
    let down = dvec3(0.0, -axis.z, axis.y);
    let out = DVec3::X * libm::sin(turn) + down * libm::cos(turn);
    let (w, h) = (0.098 + extra, 0.116 + extra);
    let p = dvec3(0.0, 0.772, 0.332) + DVec3::X * libm::sin(turn) * w + down * libm::cos(turn) * h;
    (p, out)
}

fn collar() -> Part {
    // Cross-section of the strap, around its inside and outside.
    let section = [
        (-0.8, -0.012),
        (-1.0, 0.0),
        (-1.0, 0.006),
        (-0.85, 0.010),
        (0.0, 0.012),
        (0.85, 0.010),
        (1.0, 0.006),
        (1.0, 0.0),
        (0.8, -0.012),
    ];
    grid("collar", section.len(), 20, tex::COLLAR, tex::SIZE, |row, i| {
        let (along, extra) = section[row];
        let turn = (i % 20) as f64 / 20.0 * TAU;
        (on_collar(turn, extra).0 + collar_axis() * (along * 0.021), i as f64 / 20.0, smoothstep(-1.0, 1.0, along))
    })
}
