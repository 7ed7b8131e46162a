//! Two-bone inverse kinematics and planted feet.

use crate::math::{aim, hermite, lerp, rot_x, rot_y, wrap};
use crate::skeleton::{Pose, Skeleton};
use glam::{DVec3, dvec3};

/// Three bones of a limb: two that bend, and the end, which is placed.
#[derive(Clone, Copy)]
pub(crate) struct Limb {
    pub(crate) upper: usize,
    pub(crate) lower: usize,
    pub(crate) end: usize,
    /// Direction in which the middle joint bends, in bind pose.
    pub(crate) bind_pole: DVec3,
}

/// Turns `upper` and `lower` so that `end` reaches `target` (model space) and the middle joint
/// points along `pole`. If the target is out of reach, the limb stretches towards it as far as
/// possible.
pub(crate) fn solve(skeleton: &Skeleton, pose: &mut Pose, limb: Limb, target: DVec3, pole: DVec3) {
    let at = |b: usize| skeleton.bones[b].at;
    let (a, b) = (at(limb.lower) - at(limb.upper), at(limb.end) - at(limb.lower));
    let (la, lb) = (a.length(), b.length());
    let (_, origin) = pose.global(skeleton, limb.upper);
    let to = target - origin;
    let reach = to.length().clamp(libm::fabs(la - lb) + 1e-4, (la + lb) * 0.9995);
    let along = to.normalize();
    let side = (pole - along * along.dot(pole)).normalize();
    // Law of cosines: position of the middle joint along the line to the target (x), and beside it
    // (y).
    let x = (la * la - lb * lb + reach * reach) / (2.0 * reach);
    let y = libm::sqrt((la * la - x * x).max(0.0));
    let middle = along * x + side * y;
    // The hinge axis is perpendicular to the plane of the limb: as the second direction, it keeps
    // the limb from twisting.
    let hinge = along.cross(side);
    let bind_hinge = |d: DVec3| d.cross(limb.bind_pole);
    pose.set_global(skeleton, limb.upper, aim(a, bind_hinge(a), middle, hinge));
    pose.set_global(skeleton, limb.lower, aim(b, bind_hinge(b), along * reach - middle, hinge));
}

/// Motion of a foot over one stride, in place: the ground moves backwards at `speed`.
#[derive(Clone, Copy)]
pub(crate) struct Stride {
    /// Duration of a stride, seconds; then ground speed, metres per second.
    pub(crate) period: f64,
    pub(crate) speed: f64,
    /// Fraction of the period on the ground.
    pub(crate) duty: f64,
    /// Position of the foot in the middle of its stance: z, metres.
    pub(crate) center: f64,
    /// Height of the foot's arc, metres.
    pub(crate) lift: f64,
}

/// Position of a foot at one time.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    /// Position on the ground along z and height above it, metres.
    pub(crate) z: f64,
    pub(crate) y: f64,
    /// Progress of the stance as 0..1, or of the swing as 1..2.
    pub(crate) phase: f64,
}

impl Stride {
    /// `phase` is in turns; the foot strikes at 0.
    pub(crate) fn at(&self, phase: f64) -> Step {
        let phase = wrap(phase);
        let half = self.speed * self.period * self.duty / 2.0;
        if phase <= self.duty {
            let t = phase / self.duty;
            return Step { z: self.center + lerp(half, -half, t), y: 0.0, phase: t };
        }
        let t = (phase - self.duty) / (1.0 - self.duty);
        let slope = -self.speed * self.period * (1.0 - self.duty);
        // Leaves and meets the ground with part of the ground's speed: all of it would make the
        // foot overshoot.
        let z = self.center + hermite(-half, slope * 0.55, half, slope * 0.55, t);
        let y = self.lift * 16.0 * t * t * (1.0 - t) * (1.0 - t) * lerp(1.25, 0.75, t);
        Step { z, y, phase: 1.0 + t }
    }
}

/// Foot that rolls over its heel and its ball. Points in bind pose, with the sole at y = 0.
#[derive(Clone, Copy)]
pub(crate) struct FootShape {
    pub(crate) ankle: DVec3,
    pub(crate) heel: DVec3,
    pub(crate) ball: DVec3,
}

impl FootShape {
    /// Position of the ankle for a foot pitched by `pitch` radians and turned by `yaw`. `ground`:
    /// point below the ankle of the flat foot. Positive pitch lowers the toes and rolls over the
    /// ball; negative pitch raises them and rolls over the heel.
    pub(crate) fn ankle(&self, ground: DVec3, pitch: f64, yaw: f64) -> DVec3 {
        let pivot = if pitch > 0.0 { self.ball } else { self.heel };
        let base = dvec3(self.ankle.x, 0.0, self.ankle.z);
        ground + rot_y(yaw) * (pivot - base + rot_x(pitch) * (self.ankle - pivot))
    }
}

/// Smooth periodic curve through (phase, value) keys of a stride; the last key equals the first. It
/// never overshoots a key, and stays level between equal keys: the monotone cubic of Fritsch and
/// Butland. Unlike an ease from key to key, it does not stop at intermediate keys, and so turns no
/// faster than it must.
pub(crate) fn curve(keys: &[(f64, f64)], x: f64) -> f64 {
    let last = keys.len() - 1;
    let k = keys.iter().rposition(|&(a, _)| a <= x).unwrap_or(0).min(last - 1);
    let piece = |i: usize| (keys[i + 1].0 - keys[i].0, (keys[i + 1].1 - keys[i].1) / (keys[i + 1].0 - keys[i].0));
    let slope = |i: usize| {
        let ((ha, da), (hb, db)) = (piece(if i == 0 { last - 1 } else { i - 1 }), piece(if i == last { 0 } else { i }));
        if da * db <= 0.0 { 0.0 } else { 3.0 * (ha + hb) / ((2.0 * hb + ha) / da + (hb + 2.0 * ha) / db) }
    };
    let ((a, va), (b, vb)) = (keys[k], keys[k + 1]);
    hermite(va, slope(k) * (b - a), vb, slope(k + 1) * (b - a), (x - a) / (b - a))
}
