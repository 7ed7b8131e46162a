//! The hound's clips.

use super::figure::{Figure, Paw};
use crate::ik::{Stride, curve};
use crate::math::{bump, cos_turn, sin_turn};
use crate::skeleton::{Clip, Skeleton};
use glam::dvec3;

pub(crate) fn all(s: &Skeleton) -> Vec<Clip> {
    vec![idle(s), walk(s), run(s)]
}

fn idle(s: &Skeleton) -> Clip {
    let clip = Clip::sample("idle", 90, true, |t| {
        let breath = sin_turn(t * 2.0);
        let look = sin_turn(t);
        let mut f = Figure {
            hips: dvec3(0.006 * look, -0.006 + 0.002 * breath, 0.0),
            jaw: 0.05 + 0.03 * breath,
            ..Figure::default()
        };
        f.back = [
            dvec3(-0.010 * breath, 0.0, 0.0),
            dvec3(0.008 * breath, 0.02 * look, 0.0),
            dvec3(0.010 * breath, 0.03 * look, 0.0),
        ];
        f.neck = [
            dvec3(0.03 * breath - 0.05, 0.10 * look, 0.0),
            dvec3(0.02 * breath, 0.14 * look, 0.0),
            dvec3(-0.04 * breath + 0.10, 0.20 * sin_turn(t + 0.05), 0.10 * look),
        ];
        for (k, turn) in f.tail.iter_mut().enumerate() {
            let lag = 0.05 * k as f64;
            *turn = dvec3(0.05 - 0.03 * k as f64, 0.16 * sin_turn(t * 3.0 - lag * 2.0), 0.0);
        }
        // An ear twitches now and then.
        f.ears = [
            dvec3(-0.35 * bump(t, 0.30, 0.06), 0.30 * bump(t, 0.30, 0.06), 0.0),
            dvec3(-0.35 * bump(t, 0.74, 0.06), 0.25 * bump(t, 0.74, 0.06), 0.0),
        ];
        f.pose(s)
    });
    clip.splined(3)
}

/// Fore and hind paws have the same period and speed; only reach and lift differ.
pub(crate) const WALK: Stride = Stride { period: 28.0 / 30.0, speed: 0.85, duty: 0.64, center: 0.0, lift: 0.075 };
pub(crate) const RUN: Stride = Stride { period: 14.0 / 30.0, speed: 5.0, duty: 0.22, center: 0.0, lift: 0.15 };

/// Phases at which the paws strike the ground: left and right, hind and fore.
pub(crate) struct Gait {
    pub(crate) hind: [f64; 2],
    pub(crate) fore: [f64; 2],
}

/// The fore paw of each side follows its hind paw by about a quarter.
pub(crate) const WALK_GAIT: Gait = Gait { hind: [0.0, 0.5], fore: [0.22, 0.72] };
/// Rotary gallop: hind left, hind right, flight stretched, fore right, fore left, flight gathered.
pub(crate) const RUN_GAIT: Gait = Gait { hind: [0.0, 0.10], fore: [0.54, 0.43] };

fn paw(stride: &Stride, phase: f64, lean: &[(f64, f64)], droop: &[(f64, f64)]) -> Paw {
    let step = stride.at(phase);
    Paw { at: dvec3(0.0, step.y, step.z), pitch: curve(lean, step.phase), droop: curve(droop, step.phase) }
}

fn walk(s: &Skeleton) -> Clip {
    let clip = Clip::sample("walk", 28, true, |t| {
        let mut f = Figure::default();
        let hind = Stride { center: 0.015, ..WALK };
        let fore = Stride { center: 0.0, ..WALK };
        for i in 0..2 {
            let h = t - WALK_GAIT.hind[i];
            let g = t - WALK_GAIT.fore[i];
            f.hind[i] = paw(
                &hind,
                h,
                &[(0.0, -0.30), (0.4, 0.0), (1.0, 0.50), (1.35, 0.85), (1.75, 0.0), (2.0, -0.30)],
                &[(0.0, -0.1), (0.1, 0.0), (0.85, 0.0), (1.0, 0.08), (1.3, 0.9), (1.85, -0.15), (2.0, -0.1)],
            );
            f.fore[i] = paw(
                &fore,
                g,
                &[(0.0, -0.18), (0.4, 0.0), (1.0, 0.58), (1.42, 1.25), (1.82, 0.0), (2.0, -0.18)],
                &[(0.0, -0.1), (0.1, 0.0), (0.85, 0.0), (1.0, 0.08), (1.35, 1.35), (1.85, -0.15), (2.0, -0.1)],
            );
            let reach = cos_turn(g - WALK.duty / 2.0 + 0.28);
            f.blade[i] = -0.20 * reach;
        }
        let c = cos_turn(t);
        let c2 = cos_turn(t * 2.0 - 0.25);
        f.hips = dvec3(0.012 * sin_turn(t), -0.022 + 0.008 * c2, 0.0);
        f.hips_turn = dvec3(0.010 * c2, -0.06 * c, 0.05 * sin_turn(t));
        f.back = [
            dvec3(0.0, 0.06 * c, -0.02 * sin_turn(t)),
            dvec3(0.0, 0.05 * c, -0.03 * sin_turn(t)),
            dvec3(-0.02 * c2, -0.05 * sin_turn(t), -0.02 * sin_turn(t)),
        ];
        // The head nods with the forelegs and stays level.
        let nod = cos_turn(t * 2.0 - 0.55);
        f.neck = [
            dvec3(0.14 + 0.05 * nod, 0.03 * sin_turn(t), 0.0),
            dvec3(0.06 + 0.03 * nod, 0.02 * sin_turn(t), 0.0),
            dvec3(-0.12 - 0.06 * nod, 0.0, 0.0),
        ];
        f.jaw = 0.06 + 0.02 * c2;
        for (k, turn) in f.tail.iter_mut().enumerate() {
            let lag = 0.07 * k as f64;
            *turn = dvec3(0.04 + 0.03 * cos_turn(t * 2.0 - lag), 0.13 * sin_turn(t - lag), 0.0);
        }
        for ear in &mut f.ears {
            *ear = dvec3(-0.10 + 0.06 * cos_turn(t * 2.0 - 0.6), 0.05, 0.0);
        }
        f.pose(s)
    });
    clip.at_speed(WALK.speed)
}

fn run(s: &Skeleton) -> Clip {
    let clip = Clip::sample("run", 14, true, |t| {
        let mut f = Figure::default();
        // 1 when gathered, the hind legs under the body; -1 when stretched.
        let gather = cos_turn(t - 0.90);
        let hind = Stride { center: 0.10, ..RUN };
        let fore = Stride { center: -0.01, lift: 0.09, ..RUN };
        for i in 0..2 {
            let h = t - RUN_GAIT.hind[i];
            let g = t - RUN_GAIT.fore[i];
            f.hind[i] = paw(
                &hind,
                h,
                &[(0.0, -0.25), (0.4, 0.1), (1.0, 0.75), (1.30, 1.05), (1.70, 0.2), (2.0, -0.25)],
                &[(0.0, -0.1), (0.1, 0.0), (0.85, 0.0), (1.0, 0.08), (1.29, 1.3), (1.8, -0.1), (2.0, -0.1)],
            );
            f.fore[i] = paw(
                &fore,
                g,
                &[(0.0, -0.20), (0.4, 0.0), (1.0, 0.80), (1.33, 1.31), (1.87, 0.07), (2.0, -0.20)],
                &[(0.0, -0.1), (0.1, 0.0), (0.85, 0.0), (1.0, 0.12), (1.32, 1.6), (1.85, -0.1), (2.0, -0.1)],
            );
            f.blade[i] = -0.32 * cos_turn(g + 0.16);
        }
        let heave = cos_turn(t - 0.30);
        f.hips = dvec3(0.0, -0.072 - 0.030 * cos_turn(t - 0.12), 0.02 - 0.02 * gather);
        f.hips_turn = dvec3(-0.06 - 0.20 * gather, 0.0, 0.0);
        f.back = [
            dvec3(0.02 + 0.16 * gather, 0.0, 0.0),
            dvec3(0.03 + 0.18 * gather, 0.0, 0.0),
            dvec3(0.02 + 0.10 * gather - 0.04 * heave, 0.0, 0.0),
        ];
        f.neck = [
            dvec3(0.34 - 0.10 * gather, 0.0, 0.0),
            dvec3(0.12 - 0.06 * gather, 0.0, 0.0),
            dvec3(-0.36 - 0.02 * gather, 0.0, 0.0),
        ];
        f.jaw = 0.16;
        for (k, turn) in f.tail.iter_mut().enumerate() {
            let lag = 0.08 * k as f64;
            *turn = dvec3(0.22 - 0.05 * k as f64 + 0.16 * cos_turn(t - 0.05 - lag), 0.04 * sin_turn(t - lag), 0.0);
        }
        for ear in &mut f.ears {
            *ear = dvec3(-0.75 + 0.14 * cos_turn(t - 0.45), 0.25, 0.0);
        }
        f.pose(s)
    });
    clip.at_speed(RUN.speed)
}
