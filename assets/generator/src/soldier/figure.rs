//! The soldier as an animator handles it: a few numbers for the trunk, the hands by their place and direction, the feet by theirs.

use super::gear::held;
use super::rig::{ARM, ARM_OUT, side, sided};
use crate::ik::{FootShape, Limb, solve};
use crate::math::{aim, arc, euler, rot_x, rot_y, rot_z};
use crate::skeleton::{Pose, Skeleton};
use glam::{DQuat, DVec3, dvec3};

/// Two numbers or points, left and right.
pub(crate) type Pair<T> = [T; 2];

/// Angles are (pitch, yaw, roll) in radians, relative to the parent; metres. Every field can be mixed with another figure's.
#[derive(Clone)]
pub(crate) struct Figure {
    /// Displacement from the bind pose, and rotation, of the hips in model space.
    pub(crate) hips: DVec3,
    pub(crate) hips_turn: DVec3,
    pub(crate) spine: DVec3,
    pub(crate) chest: DVec3,
    pub(crate) neck: DVec3,
    pub(crate) head: DVec3,
    /// Shoulder girdle: x raises, y draws forward.
    pub(crate) shoulder: Pair<DVec3>,
    /// Wrists in the chest's space: relative to its joint, along its axes.
    pub(crate) hand: Pair<DVec3>,
    /// Where the elbows point, in the chest's space.
    pub(crate) elbow: Pair<DVec3>,
    /// Chest space: the way the shield faces (left), the sword points (right); and the shield's upper side, the sword's leading edge.
    pub(crate) aim: Pair<DVec3>,
    pub(crate) edge: Pair<DVec3>,
    /// How far the fingers open, 0..1.
    pub(crate) open: Pair<f64>,
    /// Feet on the ground in model space (where the ankle stands over when the foot is flat), and y above it.
    pub(crate) foot: Pair<DVec3>,
    /// Feet: pitch about heel or ball (positive: on the toes), yaw outwards, and roll, radians.
    pub(crate) foot_turn: Pair<DVec3>,
    /// Where the knees point, in model space.
    pub(crate) knee: Pair<DVec3>,
}

impl Figure {
    /// The weighted sum of figures.
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

    /// On guard: shield before the body, sword at the hip, left foot forward.
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

    /// The figure as rotations of the bones.
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
        // The upper arm only swings; its twist is its lower half's, so that sleeve and shoulder guard keep their upper side up.
        let swung = pose.local[bone("UpperArm")];
        let twist = twist_about(swung, axis);
        pose.local[bone("UpperArm")] = (swung * twist.inverse()).normalize();
        pose.local[bone("ArmTwist")] = twist;
        let (a, b) = held(sign);
        let hand = aim(a, b, turn * self.aim[i], turn * self.edge[i]);
        // The forearm takes the hand's twist about its own axis, half of it at its middle.
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

    /// Lets the skirt's quarters follow the thighs, and lie on the ground rather than pass through it.
    fn skirt(&self, s: &Skeleton, pose: &mut Pose) {
        for sign in [1.0, -1.0] {
            let down = s.at("LowerLeg.L") - s.at("UpperLeg.L");
            let thigh = pose.local[sided(s, "UpperLeg", sign)] * side(down, sign);
            let swing = libm::atan2(thigh.z, -thigh.y);
            let across = libm::sqrt(thigh.y * thigh.y + thigh.z * thigh.z);
            let out = libm::atan2(thigh.x * sign, across).clamp(-0.2, 0.6);
            // Pushed by the thigh on its side, hanging on the other: the larger of both, rounded off.
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

/// The skirt's hem stays this far above the ground, metres: about the thickness of its cloth.
const HEM_CLEARANCE: f64 = 0.012;

/// The soldier's boot, for planting.
pub(crate) fn foot_shape(s: &Skeleton, sign: f64) -> FootShape {
    let ankle = s.bones[sided(s, "Foot", sign)].at;
    let ball = s.bones[sided(s, "Toe", sign)].at;
    FootShape { ankle, heel: dvec3(ankle.x, 0.0, ankle.z - 0.055), ball: dvec3(ball.x, 0.0, ball.z) }
}

/// The part of a rotation that turns about `axis`.
fn twist_about(q: DQuat, axis: DVec3) -> DQuat {
    let along = axis * DVec3::new(q.x, q.y, q.z).dot(axis);
    let twist = DQuat::from_xyzw(along.x, along.y, along.z, q.w);
    let twist = if twist.length() < 1e-6 { DQuat::IDENTITY } else { twist.normalize() };
    if twist.w < 0.0 { -twist } else { twist }
}
