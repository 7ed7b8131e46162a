//! Starling, for flocks, with the clips `flap`, `glide` and `dive`. 21 cm long, facing +Z; the origin
//! is the middle of its body.

use crate::glb::{Material, Model};
use crate::math::{cos_turn, hash, lerp, mirror, noise, rot_x, rot_y, rot_z, sin_turn, smoothstep};
use crate::mesh::{Part, Rect, Ring, chain, loft, plate, profile};
use crate::paint::{Canvas, band, mix, rgb, spot};
use crate::skeleton::{Clip, Pose, Skeleton};
use glam::{DVec3, dvec3};

const SIZE: f64 = 128.0;
const BODY: Rect = Rect::new(0.0, 0.0, 64.0, 128.0);
const WING: Rect = Rect::new(64.0, 0.0, 64.0, 64.0);
const TAIL: Rect = Rect::new(64.0, 64.0, 64.0, 64.0);

/// Joints of the left wing: distance from the middle, metres.
const SHOULDER: f64 = 0.018;
const WRIST: f64 = 0.075;
const FINGERS: f64 = 0.130;
const TIP: f64 = 0.195;

fn skeleton() -> Skeleton {
    let mut s = Skeleton::default();
    s.add("Body", "", DVec3::ZERO);
    s.add("Head", "Body", dvec3(0.0, 0.008, 0.042));
    s.add("Tail", "Body", dvec3(0.0, 0.0, -0.062));
    for (side, sign) in [("L", 1.0), ("R", -1.0)] {
        s.add(&format!("Arm.{side}"), "Body", dvec3(SHOULDER * sign, 0.010, 0.022));
        s.add(&format!("Hand.{side}"), &format!("Arm.{side}"), dvec3(WRIST * sign, 0.010, 0.030));
        s.add(&format!("Fingers.{side}"), &format!("Hand.{side}"), dvec3(FINGERS * sign, 0.010, 0.006));
    }
    s
}

fn body(s: &Skeleton) -> Part {
    // From the tip of the bill backwards: z, y, half of the width, half of the height.
    let rings = [
        [0.108, 0.004, 0.0008, 0.0008],
        [0.088, 0.007, 0.0045, 0.0045],
        [0.080, 0.009, 0.0105, 0.0110],
        [0.064, 0.012, 0.0165, 0.0165],
        [0.044, 0.009, 0.0175, 0.0185],
        [0.020, 0.003, 0.0250, 0.0250],
        [-0.015, -0.001, 0.0270, 0.0270],
        [-0.050, 0.000, 0.0180, 0.0185],
        [-0.074, 0.002, 0.0090, 0.0080],
        [-0.084, 0.002, 0.0030, 0.0025],
    ];
    let rings = rings.map(|[z, y, wide, high]| {
        let up = DVec3::Y * high;
        Ring { center: dvec3(0.0, y, z), side: DVec3::X * wide, front: up, back: up, power: 2.0 }
    });
    let [body, head, tail] = ["Body", "Head", "Tail"].map(|name| s.find(name));
    loft("Body", &rings, 8, BODY, SIZE)
        .skinned(|p| chain(-p.z, &[(head, 0.0, 0.0), (body, -0.040, 0.012), (tail, 0.066, 0.010)]))
}

/// Left wing, or the right one.
fn wing(s: &Skeleton, sign: f64) -> Part {
    // Distance from the middle; front and rear edge, metres.
    let outline = [
        [0.004, 0.030, -0.036],
        [0.040, 0.038, -0.042],
        [WRIST, 0.042, -0.040],
        [0.105, 0.026, -0.040],
        [FINGERS, 0.008, -0.042],
        [0.170, -0.026, -0.050],
        [TIP, -0.052, -0.056],
    ];
    let part = plate("Wing", 8, 3, WING, SIZE, |v, u| {
        let x = lerp(0.004, TIP, v);
        let [_, front, rear] = profile(&outline, x);
        let arch = 0.006 * (1.0 - (2.0 * u - 1.0) * (2.0 * u - 1.0)) * (1.0 - 0.6 * v);
        let p = dvec3(x, 0.010 + arch, lerp(front, rear, u));
        let half = DVec3::Y * lerp(0.0035, 0.0008, v) * lerp(1.0, 0.3, u);
        (p + half, p - half)
    });
    let part = if sign > 0.0 { part } else { part.map(mirror) };
    let side = if sign > 0.0 { "L" } else { "R" };
    let joint = |name: &str| s.find(&format!("{name}.{side}"));
    let joints = [
        (s.find("Body"), 0.0, 0.0),
        (joint("Arm"), SHOULDER, 0.010),
        (joint("Hand"), WRIST, 0.018),
        (joint("Fingers"), FINGERS, 0.018),
    ];
    part.skinned(|p| chain(libm::fabs(p.x), &joints))
}

fn tail(s: &Skeleton) -> Part {
    let tail = s.find("Tail");
    let part = plate("Tail", 3, 3, TAIL, SIZE, |v, u| {
        let across = 2.0 * u - 1.0;
        let p = dvec3(across * lerp(0.007, 0.019, v), 0.003, lerp(-0.066, -0.118, v) + 0.005 * v * across * across);
        let half = DVec3::Y * lerp(0.0025, 0.0008, v);
        (p + half, p - half)
    });
    part.skinned(|_| vec![(tail, 1.0)])
}

/// Angles of a wing in radians: up, back and twist of arm, hand and fingers.
#[derive(Clone, Copy)]
struct WingAngles {
    up: [f64; 3],
    back: [f64; 3],
    twist: f64,
}

/// `wings`: the left and the right one. `tilt`: pitch of the head, and of the tail, radians.
fn pose(s: &Skeleton, wings: [WingAngles; 2], tilt: [f64; 2], heave: f64) -> Pose {
    let mut pose = Pose::bind(s);
    pose.root = DVec3::Y * heave;
    pose.local[s.find("Head")] = rot_x(tilt[0]);
    pose.local[s.find("Tail")] = rot_x(tilt[1]);
    for ((side, sign), wing) in [("L", 1.0), ("R", -1.0)].into_iter().zip(wings) {
        for ((name, up), back) in ["Arm", "Hand", "Fingers"].into_iter().zip(wing.up).zip(wing.back) {
            let twist = if name == "Arm" { wing.twist } else { 0.0 };
            pose.local[s.find(&format!("{name}.{side}"))] = rot_z(sign * up) * rot_y(sign * back) * rot_x(twist);
        }
    }
    pose
}

fn flap(s: &Skeleton) -> Clip {
    let clip = Clip::sample("flap", 12, true, |t| {
        // Hand and fingers follow the arm late, and fold while the wing rises.
        let beat = |lag: f64| cos_turn(t - lag);
        let rise = 0.5 - 0.5 * sin_turn(t - 0.04);
        let wing = WingAngles {
            up: [0.10 + 0.60 * beat(0.0), -0.10 + 0.30 * beat(0.14), -0.04 + 0.24 * beat(0.22)],
            back: [0.10 * rise, 0.34 * rise, 0.22 * rise],
            twist: 0.16 * sin_turn(t),
        };
        pose(s, [wing; 2], [0.03 * beat(0.1), 0.06 * beat(0.3)], -0.008 * beat(0.03))
    });
    clip.splined(1)
}

fn glide(s: &Skeleton) -> Clip {
    let clip = Clip::sample("glide", 60, true, |t| {
        let wing = |side: f64| WingAngles {
            up: [
                0.12 + 0.05 * sin_turn(t) * side + 0.02 * sin_turn(3.0 * t),
                0.02 + 0.03 * sin_turn(t + 0.1) * side,
                0.05 + 0.02 * sin_turn(2.0 * t + 0.3 * side),
            ],
            back: [0.05, 0.10, 0.06],
            twist: 0.03 * sin_turn(t) * side,
        };
        pose(s, [wing(1.0), wing(-1.0)], [0.05 * sin_turn(2.0 * t), 0.08 * sin_turn(t + 0.2)], 0.002 * sin_turn(t))
    });
    clip.splined(3)
}

fn dive(s: &Skeleton) -> Clip {
    let clip = Clip::sample("dive", 30, true, |t| {
        let tremble = |phase: f64| 0.03 * sin_turn(5.0 * t + phase);
        let wing = |side: f64| WingAngles {
            up: [0.16 + tremble(0.1 * side), -0.16, -0.08],
            back: [0.42 + tremble(0.2), 0.55 + 0.5 * tremble(0.3 * side), 0.34],
            twist: -0.08,
        };
        pose(s, [wing(1.0), wing(-1.0)], [-0.10, 0.05 * sin_turn(2.0 * t)], 0.0)
    });
    clip.splined(1)
}

pub(crate) fn model() -> Model {
    let s = skeleton();
    let parts = vec![body(&s), wing(&s, 1.0), wing(&s, -1.0), tail(&s)];
    let clips = vec![flap(&s), glide(&s), dive(&s)];
    let materials = vec![Material { name: "Plumage", color: [1.0; 3], textured: true, metallic: 0.0, roughness: 0.5 }];
    Model {
        name: "Starling",
        skeleton: s,
        materials,
        texture: paint(),
        body: vec![(0, parts)],
        rigid: Vec::new(),
        clips,
    }
}

/// Paints dark plumage with a green and violet gloss, pale specks, and brown edges of the feathers.
fn paint() -> Vec<u8> {
    let dark = rgb(0x1B1A22);
    let mut canvas = Canvas::new(SIZE as usize, dark);
    canvas.fill(BODY, |u, v| {
        // u: around, from the middle of the belly over a side to the back. v: from the bill to the tail.
        let back = 0.5 - 0.5 * cos_turn(u);
        let gloss = mix(rgb(0x1F4A44), rgb(0x45306B), noise(u * 5.0, v * 6.0, 21));
        let mut c = mix(dark, gloss, 0.55 * (1.0 - smoothstep(0.55, 0.8, v)));
        // One speck per cell, at a place of its own.
        let (across, along) = (u * 12.0, v * 26.0);
        let cell = (libm::floor(across), libm::floor(along));
        let lot = |k: i64| 0.3 + 0.4 * hash(cell.0 as i64, cell.1 as i64, 22 + k);
        let speck = spot(across, along, (cell.0 + lot(0), cell.1 + lot(1)), (0.24, 0.30), 0.5);
        c = mix(c, rgb(0xC9B68E), 0.75 * speck * band(v, 0.25, 0.95, 0.05) * lerp(0.9, 0.55, back));
        c = mix(c, rgb(0x0A0A0C), spot(libm::fabs(u - 0.5), v, (0.17, 0.205), (0.035, 0.014), 0.4));
        mix(c, rgb(0xC7A23C), 1.0 - smoothstep(0.085, 0.11, v))
    });
    canvas.fill(WING, |u, v| {
        // u runs over the upper side, then back over the lower one; v from the body to the tip.
        let under = smoothstep(0.48, 0.52, u);
        let rear = 1.0 - libm::fabs(2.0 * u - 1.0);
        let quill = libm::fabs(2.0 * (v * 15.0 - libm::floor(v * 15.0)) - 1.0);
        let edge = smoothstep(0.70, 0.95, quill) * smoothstep(0.30, 0.55, rear);
        let upper = mix(mix(dark, rgb(0x2C4A48), 0.45 * (1.0 - rear)), rgb(0x8A6A48), 0.8 * edge);
        let lower = mix(rgb(0x4A4440), rgb(0x7B6C60), edge * 0.7);
        mix(upper, lower, under) * lerp(0.85, 1.15, noise(u * 20.0, v * 20.0, 23))
    });
    canvas.fill(TAIL, |u, v| {
        let quill = libm::fabs(2.0 * (u * 12.0 - libm::floor(u * 12.0)) - 1.0);
        mix(dark, rgb(0x7A5E42), 0.7 * smoothstep(0.7, 0.95, quill) + 0.5 * smoothstep(0.85, 1.0, v))
    });
    canvas.png()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Position of the tip of the left wing in each frame of a clip.
    fn tips(model: &Model, clip: &str) -> Vec<DVec3> {
        let clip = model.clips.iter().find(|c| c.name == clip).unwrap();
        let s = &model.skeleton;
        clip.frames.iter().map(|pose| pose.carry(s, s.find("Fingers.L"), dvec3(TIP, 0.010, -0.05))).collect()
    }

    #[test]
    fn wings_beat_glide_and_fold() {
        let model = model();
        let [flap, glide, dive] = ["flap", "glide", "dive"].map(|clip| tips(&model, clip));
        let high = |tips: &[DVec3]| tips.iter().map(|p| p.y).fold(f64::MIN, f64::max);
        let low = |tips: &[DVec3]| tips.iter().map(|p| p.y).fold(f64::MAX, f64::min);
        assert!(high(&flap) > 0.10 && low(&flap) < -0.08, "{} {}", high(&flap), low(&flap));
        assert!(high(&glide) - low(&glide) < 0.04);
        assert!(dive.iter().all(|p| p.x < 0.13 && p.z < -0.10), "{dive:?}");
    }
}
