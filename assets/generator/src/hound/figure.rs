//! Animation controls of the hound: angles for the trunk, positions for the paws.

use super::rig::sided;
use crate::ik::{FootShape, Limb, solve};
use crate::math::{euler, rot_x, rot_z};
use crate::skeleton::{Pose, Skeleton};
use glam::{DVec3, dvec3};

/// Paw, relative to its position in bind pose.
#[derive(Clone, Copy, Default)]
pub(crate) struct Paw {
    /// Displacement on the ground and above it, metres.
    pub(crate) at: DVec3,
    /// Pitch of the foot above the paw about the paw, radians: positive leans it forward over the toes.
    pub(crate) pitch: f64,
    /// Pitch of the paw relative to the ground: positive points the toes down.
    pub(crate) droop: f64,
}

/// Angles are (pitch, yaw, roll) in radians relative to the parent.
#[derive(Clone, Default)]
pub(crate) struct Figure {
    pub(crate) hips: DVec3,
    pub(crate) hips_turn: DVec3,
    /// Spine1, Spine2, Chest.
    pub(crate) back: [DVec3; 3],
    /// Neck1, Neck2, Head.
    pub(crate) neck: [DVec3; 3],
    pub(crate) jaw: f64,
    /// Pitch (positive: forward) and outward rotation of the left and the right ear.
    pub(crate) ears: [DVec3; 2],
    pub(crate) tail: [DVec3; 4],
    /// Left and right.
    pub(crate) fore: [Paw; 2],
    pub(crate) hind: [Paw; 2],
    /// Pitch of the shoulder blades: negative swings the leg forward.
    pub(crate) blade: [f64; 2],
}

impl Figure {
    pub(crate) fn pose(&self, s: &Skeleton) -> Pose {
        let mut pose = Pose::bind(s);
        pose.root = self.hips;
        pose.local[s.find("Hips")] = euler(self.hips_turn);
        for (names, turns) in [(["Spine1", "Spine2", "Chest"], self.back), (["Neck1", "Neck2", "Head"], self.neck)] {
            for (name, turn) in names.into_iter().zip(turns) {
                pose.local[s.find(name)] = euler(turn);
            }
        }
        for (name, turn) in ["Tail1", "Tail2", "Tail3", "Tail4"].into_iter().zip(self.tail) {
            pose.local[s.find(name)] = euler(turn);
        }
        pose.local[s.find("Jaw")] = rot_x(self.jaw);
        for (i, sign) in [(0, 1.0), (1, -1.0)] {
            pose.local[sided(s, "Ear", sign)] = rot_z(-sign * self.ears[i].y) * rot_x(self.ears[i].x);
            pose.local[sided(s, "Shoulder", sign)] = rot_x(self.blade[i]);
            leg(s, &mut pose, sign, ["UpperArm", "ForeArm", "Wrist", "ForePaw"], self.fore[i], -DVec3::Z);
            leg(s, &mut pose, sign, ["Thigh", "Shin", "Hock", "HindPaw"], self.hind[i], DVec3::Z);
        }
        pose
    }
}

/// Contact point of a foot: the joint of the paw, projected onto the ground.
pub(crate) fn foot_shape(s: &Skeleton, ankle: usize, paw: usize) -> FootShape {
    let paw = s.bones[paw].at;
    let pivot = dvec3(paw.x, 0.0, paw.z);
    FootShape { ankle: s.bones[ankle].at, heel: pivot, ball: pivot }
}

fn leg(s: &Skeleton, pose: &mut Pose, sign: f64, names: [&str; 4], paw: Paw, pole: DVec3) {
    let [upper, lower, ankle, foot] = names.map(|name| sided(s, name, sign));
    let shape = foot_shape(s, ankle, foot);
    let ground = dvec3(shape.ankle.x, 0.0, shape.ankle.z) + paw.at;
    // Slightly outwards, so that knees and elbows do not turn under the body.
    let pole = pole + DVec3::X * (0.06 * sign);
    solve(s, pose, Limb { upper, lower, end: ankle, bind_pole: pole }, shape.ankle(ground, paw.pitch, 0.0), pole);
    pose.set_global(s, ankle, rot_x(paw.pitch));
    pose.set_global(s, foot, rot_x(paw.droop));
}
