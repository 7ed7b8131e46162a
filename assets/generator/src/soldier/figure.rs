//! Animation controls of the soldier: angles for the trunk, positions and directions for hands and
//! feet.

use super::gear::held;
use super::rig::{ARM, ARM_OUT, side, sided};
use crate::ik::{FootShape, Limb, solve};
use crate::math::{aim, arc, euler, rot_x, rot_y, rot_z};
use crate::skeleton::{Pose, Skeleton};
use glam::{DQuat, DVec3, dvec3};

/// Left and right value.
pub(crate) type Pair<T> = [T; 2];

/// Angles are (pitch, yaw, roll) in radians relative to the parent; lengths in metres. All fields
/// can be mixed linearly.
#[derive(Clone)]
pub(crate) struct Figure {
    /// Displacement of the hips from bind pose, model space; then their rotation.
    pub(crate) hips: DVec3,
    pub(crate) hips_turn: DVec3,
    pub(crate) spine: DVec3,
    pub(crate) chest: DVec3,
    pub(crate) neck: DVec3,
    pub(crate) head: DVec3,
    /// Shoulder girdle: x raises it, y draws it forward.
    pub(crate) shoulder: Pair<DVec3>,
    /// Positions of the wrists in the chest's space, relative to its joint.
    pub(crate) hand: Pair<DVec3>,
    /// Directions of the elbows in the chest's space.
    pub(crate) elbow: Pair<DVec3>,
    /// Directions in the chest's space: front of the shield (left) and point of the sword (right);
    /// then the shield's upper side and the sword's leading edge.
    pub(crate) aim: Pair<DVec3>,
    pub(crate) edge: Pair<DVec3>,
    /// Opening of the fingers, 0..1.
    pub(crate) open: Pair<f64>,
    /// Positions of the feet in model space: the point below the ankle of the flat foot, and y
    /// above the ground.
    pub(crate) foot: Pair<DVec3>,
    /// Rotations of the feet in radians: pitch about heel or ball (positive: on the toes), yaw
    /// outwards, roll.
    pub(crate) foot_turn: Pair<DVec3>,
    /// Directions of the knees in model space.
    pub(crate) knee: Pair<DVec3>,
}

impl Figure {
    /// Weighted sum of figures.
    pub(crate) fn mix(terms: &[(f64, &Self)]) -> Self {
        let v = |f: &dyn Fn(&Self) -> DVec3| terms.iter().map(|&(w, x)| f(x) * w).sum::<DVec3>();
        let pair = |f: &dyn Fn(&Self) -> Pair<DVec3>| [v(&|x| f(x)[0]), v(&|x| f(x)[1])];
        Self {
            hips: v(&|x| x.hips),
            hips_turn: v(&|x| x.hips_turn),
            spine: v(&|x| x.spine),
            chest: v(&|x| x.chest),
            neck: v(&|x| x.neck),
            head: v(&|x| x.head),
            shoulder: pair(&|x| x.shoulder),
            hand: pair(&|x| x.hand),
            elbow: pair(&|x| x.elbow),
            aim: pair(&|x| x.aim),
            edge: pair(&|x| x.edge),
            open: [0, 1].map(|i| terms.iter().map(|&(w, x)| w * x.open[i]).sum()),
            foot: pair(&|x| x.foot),
            foot_turn: pair(&|x| x.foot_turn),
            knee: pair(&|x| x.knee),
        }
    }

    /// On guard: shield in front of the body, sword at the hip, left foot forward.
    pub(crate) fn ready() -> Self {
        Self {
            hips: dvec3(0.0, -0.055, 0.0),
            hips_turn: dvec3(0.04, -0.22, 0.0),
            spine: dvec3(0.04, 0.05, 0.0),
            chest: dvec3(0.04, 0.05, 0.0),
            neck: dvec3(-0.02, 0.06, 0.0),
            head: dvec3(-0.06, 0.06, 0.0),
            shoulder: [dvec3(0.0, 0.12, 0.0), DVec3::ZERO],
            hand: [dvec3(0.17, -0.06, 0.31), dvec3(-0.31, -0.15, 0.17)],
            elbow: [dvec3(0.9, -0.7, -0.3), dvec3(-0.6, -0.3, -0.8)],
            aim: [dvec3(0.30, 0.02, 1.0), dvec3(-0.02, 0.62, 0.80)],
            edge: [dvec3(0.0, 1.0, 0.0), dvec3(0.3, -1.0, 0.5)],
            open: [0.0, 0.0],
            foot: [dvec3(0.135, 0.0, 0.13), dvec3(-0.145, 0.0, -0.15)],
            foot_turn: [dvec3(0.0, 0.10, 0.0), dvec3(0.0, 0.45, 0.0)],
            knee: [dvec3(0.15, 0.0, 1.0), dvec3(-0.40, 0.0, 1.0)],
        }
    }

    /// Converts the figure to bone rotations.
    pub(crate) fn pose(&self, s: &Skeleton) -> Pose {
        let mut pose = Pose::bind(s);
        pose.root = self.hips;
        for (bone, turn) in [
            ("Hips", self.hips_turn),
            ("Spine", self.spine),
            ("Chest", self.chest),
            ("Neck", self.neck),
            ("Head", self.head),
        ] {
            pose.local[s.find(bone)] = euler(turn);
        }
        for (i, sign) in [(0, 1.0), (1, -1.0)] {
            self.arm(s, &mut pose, i, sign);
            self.leg(s, &mut pose, i, sign);
        }
        self.skirt(s, &mut pose);
        pose
    }

    fn arm(&self, s: &Skeleton, pose: &mut Pose, i: usize, sign: f64) {
        let bone = |name: &str| sided(s, name, sign);
        pose.local[bone("Shoulder")] = rot_z(sign * self.shoulder[i].x) * rot_y(-sign * self.shoulder[i].y);
        let (turn, chest) = pose.global(s, s.find("Chest"));
        let limb = Limb {
            upper: bone("UpperArm"),
            lower: bone("LowerArm"),
            end: bone("Hand"),
            // Elbows point backwards in the bind pose.
            bind_pole: dvec3(0.0, 0.0, -1.0),
        };
        solve(s, pose, limb, chest + turn * self.hand[i], turn * self.elbow[i]);
        let axis = side(ARM, sign);
        // The upper arm swings without twist, and its lower half takes the twist: sleeve and
        // shoulder guard stay upright.
        let swung = pose.local[bone("UpperArm")];
        let twist = twist_about(swung, axis);
        pose.local[bone("UpperArm")] = (swung * twist.inverse()).normalize();
        pose.local[bone("ArmTwist")] = twist;
        let (a, b) = held(sign);
        let hand = aim(a, b, turn * self.aim[i], turn * self.edge[i]);
        // The forearm takes the hand's twist about its axis: half of it at its middle.
        let (lower, _) = pose.global(s, bone("LowerArm"));
        let local = lower.inverse() * hand;
        let twist = twist_about(local, axis);
        pose.local[bone("ForeTwist")] = twist;
        pose.set_global(s, bone("Hand"), hand);
        let curl = |amount: f64| DQuat::from_xyzw(0.0, 0.0, libm::sin(amount / 2.0), libm::cos(amount / 2.0));
        let open = sign * self.open[i];
        pose.local[bone("Fingers")] = curl(open * 0.7);
        pose.local[bone("FingerTips")] = curl(open * 0.9);
        pose.local[bone("Thumb")] = arc(axis, (axis + side(ARM_OUT, sign) * self.open[i] * 0.5).normalize());
    }

    fn leg(&self, s: &Skeleton, pose: &mut Pose, i: usize, sign: f64) {
        let bone = |name: &str| sided(s, name, sign);
        let turn = self.foot_turn[i];
        let yaw = sign * turn.y;
        let shape = foot_shape(s, sign);
        let target = shape.ankle(self.foot[i], turn.x, yaw);
        let limb = Limb { upper: bone("UpperLeg"), lower: bone("LowerLeg"), end: bone("Foot"), bind_pole: DVec3::Z };
        solve(s, pose, limb, target, self.knee[i]);
        pose.set_global(s, bone("Foot"), rot_y(yaw) * rot_x(turn.x) * rot_z(-sign * turn.z));
        // On the ball of the foot, the toes stay on the ground.
        let flat = turn.x.clamp(0.0, 1.0) * (1.0 - (self.foot[i].y * 6.0).clamp(0.0, 1.0) * 0.7);
        pose.local[bone("Toe")] = rot_x(-flat);
    }

    /// Makes the quarters of the skirt follow the thighs, and lie on the ground instead of passing
    /// through it.
    fn skirt(&self, s: &Skeleton, pose: &mut Pose) {
        for sign in [1.0, -1.0] {
            let down = s.at("LowerLeg.L") - s.at("UpperLeg.L");
            let thigh = pose.local[sided(s, "UpperLeg", sign)] * side(down, sign);
            let swing = libm::atan2(thigh.z, -thigh.y);
            let across = libm::sqrt(thigh.y * thigh.y + thigh.z * thigh.z);
            let out = libm::atan2(thigh.x * sign, across).clamp(-0.2, 0.6);
            // Pushed by the thigh on one side, hanging on the other: a smooth maximum of both.
            let pushed = |x: f64| 0.5 * (x + libm::sqrt(x * x + 0.03));
            let (front, back) = (sided(s, "SkirtFront", sign), sided(s, "SkirtBack", sign));
            pose.local[front] = rot_z(sign * out * 0.5) * rot_x(-pushed(swing));
            let hang = pushed(-swing) * 0.75 - 0.25 * pushed(swing - 0.9);
            let mut set = |lift: f64| {
                pose.local[back] = rot_z(sign * out * 0.5) * rot_x(hang - lift);
                let hem = [dvec3(0.10, 0.62, -0.21), dvec3(0.0, 0.62, -0.21), dvec3(0.08, 0.82, -0.17)];
                hem.map(|p| pose.carry(s, back, side(p, sign)).y).into_iter().fold(f64::INFINITY, f64::min)
            };
            if set(0.0) < HEM_CLEARANCE {
                let (mut low, mut high) = (0.0, 1.5);
                for _ in 0..24 {
                    let middle = (low + high) / 2.0;
                    if set(middle) < HEM_CLEARANCE { low = middle } else { high = middle }
                }
                set(high);
            }
        }
    }
}

/// Smallest height of the skirt's hem above the ground, metres: about the thickness of its cloth.
const HEM_CLEARANCE: f64 = 0.012;

/// Contact points of the soldier's boot.
pub(crate) fn foot_shape(s: &Skeleton, sign: f64) -> FootShape {
    let ankle = s.bones[sided(s, "Foot", sign)].at;
    let ball = s.bones[sided(s, "Toe", sign)].at;
    FootShape { ankle, heel: dvec3(ankle.x, 0.0, ankle.z - 0.055), ball: dvec3(ball.x, 0.0, ball.z) }
}

/// Part of a rotation that turns about `axis`.
fn twist_about(q: DQuat, axis: DVec3) -> DQuat {
    let along = axis * DVec3::new(q.x, q.y, q.z).dot(axis);
    let twist = DQuat::from_xyzw(along.x, along.y, along.z, q.w);
    let twist = if twist.length() < 1e-6 { DQuat::IDENTITY } else { twist.normalize() };
    if twist.w < 0.0 { -twist } else { twist }
}
