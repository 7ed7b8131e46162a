//! The soldier's clips.

use super::figure::Figure;
use crate::ik::{Stride, curve};
use crate::math::{catmull_rom, cos_turn, sin_turn};
use crate::skeleton::{Clip, FPS, Skeleton};
use glam::dvec3;

pub(crate) fn all(s: &Skeleton) -> Vec<Clip> {
    vec![idle(s), walk(s), run(s), attack(s), die(s)]
}

/// Creates a clip through key figures at times in seconds; the last key is the end of the clip.
fn keyed(s: &Skeleton, name: &'static str, keys: &[(f64, Figure)]) -> Clip {
    let times: Vec<f64> = keys.iter().map(|k| k.0).collect();
    let end = times[times.len() - 1];
    Clip::sample(name, libm::round(end * FPS) as usize, false, |phase| {
        let terms = catmull_rom(&times, phase * end).map(|(k, w)| (w, &keys[k].1));
        Figure::mix(&terms).pose(s)
    })
}

fn idle(s: &Skeleton) -> Clip {
    let clip = Clip::sample("idle", 80, true, |t| {
        let mut f = Figure::ready();
        let breath = sin_turn(t * 2.0);
        let sway = sin_turn(t);
        f.hips += dvec3(0.014 * sway, 0.004 * cos_turn(t * 2.0) - 0.004, 0.004 * cos_turn(t));
        f.hips_turn += dvec3(0.0, 0.03 * sway, 0.02 * sway);
        f.spine += dvec3(-0.012 * breath, 0.0, -0.015 * sway);
        f.chest += dvec3(-0.018 * breath, -0.02 * sway, -0.01 * sway);
        f.head += dvec3(0.02 * breath, 0.10 * sin_turn(t + 0.1), 0.0);
        for i in 0..2 {
            f.shoulder[i].x += 0.03 * breath;
            f.hand[i].y += 0.010 * sin_turn(t * 2.0 - 0.06);
        }
        f.aim[1] += dvec3(0.03 * sway, 0.05 * sin_turn(t + 0.2), 0.0);
        f.hand[1] += dvec3(0.0, 0.0, 0.012 * sway);
        f.pose(s)
    });
    clip.splined(5)
}

pub(crate) const WALK: Stride = Stride { period: 1.0, speed: 1.35, duty: 0.60, center: 0.0, lift: 0.085 };
pub(crate) const RUN: Stride = Stride { period: 0.7, speed: 3.1, duty: 0.34, center: -0.05, lift: 0.17 };

/// Sets the feet of a gait; the right foot follows the left by half a turn.
fn feet(f: &mut Figure, stride: &Stride, t: f64, width: f64, pitch: &[(f64, f64)]) {
    for (i, sign) in [(0, 1.0), (1, -1.0)] {
        let step = stride.at(t + 0.5 * i as f64);
        f.foot[i] = dvec3(sign * width, step.y, step.z);
        f.foot_turn[i] = dvec3(curve(pitch, step.phase), 0.10, 0.0);
        f.knee[i] = dvec3(sign * 0.10, 0.0, 1.0);
    }
}

fn walk(s: &Skeleton) -> Clip {
    let clip = Clip::sample("walk", 30, true, |t| {
        let mut f = Figure::ready();
        // Heel strike, flat, heel off at the end of the stance; toes raised again before the next strike.
        let pitch = [(0.0, -0.36), (0.16, 0.0), (0.50, 0.0), (1.0, 0.85), (1.25, 0.75), (1.75, -0.30), (2.0, -0.36)];
        feet(&mut f, &WALK, t, 0.095, &pitch);
        // The left foot strikes at 0: its hip is forward then, and the body is lowest shortly
        // after.
        let (c, c2) = (cos_turn(t), cos_turn(t * 2.0 - 0.12));
        f.hips = dvec3(0.020 * sin_turn(t - 0.05), -0.052 - 0.019 * c2, 0.01);
        f.hips_turn = dvec3(0.05, -0.11 * c, 0.045 * sin_turn(t - 0.02));
        f.spine = dvec3(0.02, 0.09 * c, -0.030 * sin_turn(t - 0.02));
        f.chest = dvec3(0.02, 0.11 * c, -0.025 * sin_turn(t - 0.02));
        f.neck = dvec3(-0.02, -0.05 * c, 0.005 * sin_turn(t));
        f.head = dvec3(-0.06 + 0.012 * c2, -0.04 * c, 0.005 * sin_turn(t));
        // The sword arm swings against the right leg; the shield is carried at the side.
        let swing = cos_turn(t - 0.02);
        f.hand[1] = dvec3(-0.30 + 0.03 * swing, -0.30 + 0.04 * swing * swing, 0.06 + 0.17 * swing);
        f.elbow[1] = dvec3(-0.6, -0.1, -1.0);
        f.aim[1] = dvec3(0.12, 0.50 + 0.25 * swing, 0.85);
        f.edge[1] = dvec3(0.1, -1.0, 0.5);
        f.hand[0] = dvec3(0.30, -0.13 + 0.012 * c2, 0.20 - 0.035 * swing);
        f.elbow[0] = dvec3(0.6, -0.6, -0.8);
        f.aim[0] = dvec3(0.85, 0.02, 0.75 - 0.06 * swing);
        f.edge[0] = dvec3(0.05 * swing, 1.0, 0.12);
        f.shoulder = [dvec3(0.02, 0.03, 0.0), dvec3(0.0, 0.10 * swing, 0.0)];
        f.pose(s)
    });
    clip.at_speed(WALK.speed)
}

fn run(s: &Skeleton) -> Clip {
    let clip = Clip::sample("run", 21, true, |t| {
        let mut f = Figure::ready();
        let pitch = [(0.0, -0.10), (0.20, 0.0), (0.42, 0.0), (1.0, 1.0), (1.35, 1.25), (1.80, -0.05), (2.0, -0.10)];
        feet(&mut f, &RUN, t, 0.07, &pitch);
        for i in 0..2 {
            // The heel comes up behind while the foot passes under the body.
            let step = RUN.at(t + 0.5 * i as f64);
            if step.phase > 1.0 {
                let fold = sin_turn((step.phase - 1.0) * 0.5);
                f.foot[i].y += 0.12 * fold * fold;
            }
        }
        let c = cos_turn(t);
        // Lowest in the middle of each stance, which is at duty / 2.
        let dip = cos_turn((t - RUN.duty / 2.0) * 2.0);
        f.hips = dvec3(0.012 * sin_turn(t), -0.082 - 0.038 * dip, 0.02);
        f.hips_turn = dvec3(0.16, -0.17 * c, 0.05 * sin_turn(t));
        f.spine = dvec3(0.10, 0.15 * c, -0.03 * sin_turn(t));
        f.chest = dvec3(0.06, 0.20 * c, -0.03 * sin_turn(t));
        f.neck = dvec3(-0.12, -0.10 * c, 0.0);
        f.head = dvec3(-0.18 + 0.03 * dip, -0.08 * c, 0.0);
        let swing = cos_turn(t - 0.03);
        f.hand[1] = dvec3(-0.27 + 0.07 * swing, -0.10 + 0.10 * swing, 0.06 + 0.25 * swing);
        f.elbow[1] = dvec3(-0.5, -0.3, -1.0);
        f.aim[1] = dvec3(0.20, 0.75 + 0.15 * swing, 0.60);
        f.edge[1] = dvec3(0.2, -0.8, 0.8);
        f.hand[0] = dvec3(0.25, -0.06 + 0.02 * dip, 0.25 - 0.07 * swing);
        f.elbow[0] = dvec3(0.8, -0.6, -0.6);
        f.aim[0] = dvec3(0.65, 0.05, 0.85 - 0.08 * swing);
        f.edge[0] = dvec3(-0.06 * swing, 1.0, 0.05);
        f.shoulder = [dvec3(0.04, 0.06, 0.0), dvec3(0.03, 0.18 * swing, 0.0)];
        f.pose(s)
    });
    clip.at_speed(RUN.speed)
}

/// Draws the sword back over the shoulder, lunges and cuts down across the body.
///
/// The hand moves around the shoulder: outside it on the way up, in front of it on the way down. A
/// straight path between keys would pass so close to the joint that the folded arm flips within a
/// frame.
fn attack(s: &Skeleton) -> Clip {
    let ready = Figure::ready();
    let windup = Figure {
        hips: dvec3(-0.03, -0.06, -0.06),
        hips_turn: dvec3(-0.02, -0.42, 0.0),
        spine: dvec3(-0.06, -0.14, -0.03),
        chest: dvec3(-0.08, -0.18, -0.04),
        neck: dvec3(0.02, 0.26, 0.0),
        head: dvec3(0.02, 0.30, 0.0),
        shoulder: [dvec3(0.0, 0.15, 0.0), dvec3(0.35, -0.10, 0.0)],
        hand: [dvec3(0.15, -0.03, 0.33), dvec3(-0.36, 0.42, -0.02)],
        elbow: [dvec3(0.9, -0.7, -0.3), dvec3(-1.0, -0.25, 0.15)],
        aim: [dvec3(0.5, 0.0, 1.0), dvec3(0.15, 0.62, -0.75)],
        edge: [dvec3(0.0, 1.0, 0.0), dvec3(0.0, 1.0, 0.6)],
        foot: [dvec3(0.135, 0.045, 0.17), ready.foot[1]],
        foot_turn: [dvec3(-0.12, 0.10, 0.0), ready.foot_turn[1]],
        ..ready.clone()
    };
    let mut raise = Figure::mix(&[(0.5, &ready), (0.5, &windup)]);
    raise.hand[1] = dvec3(-0.46, 0.12, 0.20);
    raise.elbow[1] = dvec3(-0.8, -0.6, -0.35);
    raise.aim[1] = dvec3(-0.05, 0.95, 0.25);
    raise.edge[1] = dvec3(0.1, -0.2, 1.0);
    let strike = Figure {
        hips: dvec3(0.02, -0.135, 0.10),
        hips_turn: dvec3(0.08, 0.18, 0.0),
        spine: dvec3(0.14, 0.14, 0.02),
        chest: dvec3(0.14, 0.18, 0.03),
        neck: dvec3(-0.10, -0.18, 0.0),
        head: dvec3(-0.14, -0.18, 0.0),
        shoulder: [dvec3(0.0, -0.10, 0.0), dvec3(0.12, 0.35, 0.0)],
        hand: [dvec3(0.31, -0.06, 0.16), dvec3(-0.10, 0.12, 0.47)],
        elbow: [dvec3(0.9, -0.6, -0.5), dvec3(-0.9, -0.5, -0.3)],
        aim: [dvec3(0.9, 0.0, 0.6), dvec3(0.10, 0.16, 1.0)],
        edge: [dvec3(0.0, 1.0, 0.0), dvec3(0.25, -1.0, 0.3)],
        foot: [dvec3(0.135, 0.0, 0.38), ready.foot[1]],
        foot_turn: [dvec3(0.0, 0.10, 0.0), dvec3(0.40, 0.35, 0.0)],
        ..ready.clone()
    };
    // The body leads, the arm comes after it.
    let mut cut = Figure::mix(&[(0.45, &windup), (0.55, &strike)]);
    cut.hand[1] = dvec3(-0.26, 0.42, 0.30);
    cut.elbow[1] = dvec3(-1.0, -0.35, 0.0);
    cut.aim[1] = dvec3(0.07, 0.95, 0.05);
    cut.edge[1] = dvec3(0.1, -0.3, 1.0);
    cut.foot[0] = dvec3(0.135, 0.06, 0.29);
    let follow = Figure {
        hips: dvec3(0.025, -0.15, 0.11),
        hips_turn: dvec3(0.10, 0.26, 0.0),
        spine: dvec3(0.18, 0.18, 0.02),
        chest: dvec3(0.18, 0.22, 0.03),
        hand: [dvec3(0.32, -0.06, 0.10), dvec3(0.03, -0.17, 0.30)],
        elbow: [dvec3(0.9, -0.6, -0.5), dvec3(-0.9, -0.2, -0.2)],
        aim: [dvec3(1.0, 0.0, 0.4), dvec3(0.50, -0.70, 0.50)],
        edge: [dvec3(0.0, 1.0, 0.0), dvec3(0.5, -0.8, -0.4)],
        ..strike.clone()
    };
    let back = Figure {
        hips: dvec3(0.01, -0.085, 0.05),
        hand: [dvec3(0.22, -0.06, 0.26), dvec3(-0.16, -0.20, 0.30)],
        aim: [dvec3(0.5, 0.02, 0.9), dvec3(0.40, 0.10, 0.85)],
        edge: [dvec3(0.0, 1.0, 0.0), dvec3(0.4, -1.0, 0.2)],
        foot: [dvec3(0.135, 0.05, 0.24), ready.foot[1]],
        foot_turn: [dvec3(-0.05, 0.10, 0.0), dvec3(0.15, 0.42, 0.0)],
        hips_turn: dvec3(0.06, -0.05, 0.0),
        ..ready.clone()
    };
    keyed(
        s,
        "attack",
        &[
            (0.0, ready.clone()),
            (0.19, raise),
            (0.37, windup.clone()),
            (0.42, windup),
            (0.57, cut),
            (0.72, strike),
            (0.88, follow.clone()),
            (0.94, follow),
            (1.12, back),
            (1.3, ready),
        ],
    )
}

/// Struck from the front: recoils, the knees give way, sits down and falls onto the back.
fn die(s: &Skeleton) -> Clip {
    let ready = Figure::ready();
    let hit = Figure {
        hips: dvec3(0.0, -0.07, -0.09),
        hips_turn: dvec3(-0.12, -0.05, 0.03),
        spine: dvec3(-0.14, 0.08, 0.0),
        chest: dvec3(-0.18, 0.10, 0.0),
        neck: dvec3(0.12, 0.0, 0.0),
        head: dvec3(0.25, 0.05, 0.0),
        hand: [dvec3(0.38, 0.02, 0.26), dvec3(-0.42, 0.10, 0.18)],
        aim: [dvec3(0.8, 0.2, 0.7), dvec3(-0.5, 0.8, 0.3)],
        edge: [dvec3(-0.1, 1.0, 0.0), dvec3(0.0, -0.3, 1.0)],
        open: [0.0, 0.2],
        ..ready.clone()
    };
    let buckle = Figure {
        hips: dvec3(0.02, -0.34, -0.26),
        hips_turn: dvec3(-0.30, 0.0, 0.06),
        spine: dvec3(0.02, 0.05, 0.05),
        chest: dvec3(0.05, 0.06, 0.05),
        neck: dvec3(0.05, 0.0, 0.05),
        head: dvec3(0.10, 0.05, 0.12),
        hand: [dvec3(0.42, -0.12, 0.24), dvec3(-0.46, -0.10, 0.16)],
        aim: [dvec3(0.9, 0.2, 0.5), dvec3(-0.7, 0.3, 0.6)],
        foot: [dvec3(0.15, 0.0, 0.14), dvec3(-0.17, 0.0, -0.02)],
        foot_turn: [dvec3(0.0, 0.25, 0.0), dvec3(0.25, 0.45, 0.0)],
        knee: [dvec3(0.35, 0.3, 1.0), dvec3(-0.5, 0.3, 1.0)],
        open: [0.1, 0.4],
        ..hit.clone()
    };
    let sit = Figure {
        hips: dvec3(0.03, -0.80, -0.44),
        hips_turn: dvec3(-0.78, 0.03, 0.04),
        spine: dvec3(0.18, 0.0, 0.05),
        chest: dvec3(0.16, 0.0, 0.05),
        neck: dvec3(0.15, 0.0, 0.05),
        head: dvec3(0.15, 0.05, 0.10),
        hand: [dvec3(0.46, -0.05, 0.30), dvec3(-0.50, 0.0, 0.26)],
        aim: [dvec3(0.9, 0.1, 0.5), dvec3(-0.8, 0.3, 0.5)],
        foot: [dvec3(0.17, 0.0, 0.22), dvec3(-0.19, 0.0, 0.06)],
        foot_turn: [dvec3(-0.15, 0.35, 0.0), dvec3(0.0, 0.35, 0.0)],
        knee: [dvec3(0.35, 1.0, 0.6), dvec3(-0.45, 1.0, 0.5)],
        open: [0.2, 0.6],
        ..buckle.clone()
    };
    let fall = Figure {
        hips: dvec3(0.03, -0.818, -0.48),
        hips_turn: dvec3(-1.42, 0.03, 0.0),
        spine: dvec3(-0.05, 0.0, 0.0),
        chest: dvec3(-0.06, 0.0, 0.0),
        neck: dvec3(0.16, 0.0, 0.0),
        head: dvec3(0.10, 0.10, 0.05),
        hand: [dvec3(0.58, 0.16, 0.06), dvec3(-0.60, 0.30, 0.00)],
        elbow: [dvec3(0.2, -1.0, -0.25), dvec3(-0.2, -1.0, -0.25)],
        aim: [dvec3(0.25, -0.2, 1.0), dvec3(-0.55, 0.85, 0.06)],
        edge: [dvec3(-0.3, 1.0, 0.1), dvec3(-0.8, -0.5, 0.0)],
        foot: [dvec3(0.20, 0.0, 0.33), dvec3(-0.20, 0.0, 0.02)],
        foot_turn: [dvec3(-0.7, 0.55, 0.0), dvec3(-0.05, 0.35, 0.0)],
        knee: [dvec3(0.30, 1.0, 0.3), dvec3(-0.50, 1.0, 0.3)],
        open: [0.3, 0.8],
        ..sit.clone()
    };
    let bounce = Figure {
        spine: dvec3(0.02, 0.0, 0.0),
        chest: dvec3(0.02, 0.0, 0.0),
        head: dvec3(0.04, 0.20, 0.06),
        ..fall.clone()
    };
    let rest = Figure {
        hips: dvec3(0.03, -0.822, -0.50),
        hips_turn: dvec3(-1.55, 0.03, 0.0),
        hand: [dvec3(0.58, 0.16, 0.025), dvec3(-0.60, 0.30, -0.085)],
        spine: dvec3(0.0, 0.0, 0.0),
        chest: dvec3(-0.02, 0.0, 0.0),
        neck: dvec3(0.14, 0.05, 0.0),
        head: dvec3(0.06, 0.40, 0.08),
        foot: [dvec3(0.22, 0.0, 0.345), dvec3(-0.24, 0.0, 0.08)],
        foot_turn: [dvec3(-0.95, 0.70, 0.0), dvec3(-0.10, 0.45, 0.0)],
        knee: [dvec3(0.40, 1.0, 0.2), dvec3(-0.75, 1.0, 0.3)],
        ..fall.clone()
    };
    keyed(
        s,
        "die",
        &[
            (0.0, ready),
            (0.17, hit),
            (0.55, buckle),
            (0.90, sit),
            (1.17, fall),
            (1.30, bounce),
            (1.50, rest.clone()),
            // Twice, so that the curve arrives without a slope.
            (1.54, rest.clone()),
            (1.8, rest),
        ],
    )
}
