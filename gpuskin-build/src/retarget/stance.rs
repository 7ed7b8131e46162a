//! Reference poses of skeletons whose nodes stand in none. A file of clips without a skin has no bind pose, and its nodes often
//! have the pose of some frame.
//!
//! A standing pose is made from what joints tell in any pose. Joints that hang on the same bone turn with it, so the legs
//! and the spine give the axes of the hips, the shoulders and the neck those of the chest, the fingers those of
//! the hand. A bent elbow or knee gives the axis that it bends about, and with the direction of the limb
//! its twist. Limbs are stretched: legs down, arms sideways.

use std::collections::BTreeMap;

use glam::{DMat3, DMat4, DQuat, DVec3, DVec4};

use super::bone::{Finger, HumanBone, Side};
use super::humanoid::Humanoid;
use super::turn::{arc, rotation};
use crate::model::{Clip, Model};
use crate::sample::Sampler;

/// Angle in degrees by which limbs and trunk of a reference pose are off a standing pose at most.
const STANDING: f64 = 30.0;
/// Least angle in radians between two bones whose joint tells the axis that it bends about: 15 degrees.
const BENT: f64 = 0.26;
/// Angle in radians by which the axis of a knee is off that of the hips at most: 60 degrees.
const KNEE: f64 = 1.05;
/// Angle in radians by which an upright trunk leans at most: 60 degrees.
const UPRIGHT: f64 = 1.05;
/// Angle in radians by which the shoulders of a body that looks along z are turned at most, as in clips that run
/// sideways: 75 degrees.
const SIDEWAYS: f64 = 1.31;
/// Angle in radians by which a neck leans forward: 10 degrees.
const NECK: f64 = 0.17;
/// Heights of ankles above the ground, relative to the length of a leg: least, assumed, and greatest.
const ANKLE_HEIGHTS: [f64; 3] = [-0.05, 0.12, 0.3];
/// Slope of a foot from the ankle to the toes, in radians: least, assumed, and greatest.
const FOOT_SLOPES: [f64; 3] = [0.0, 0.55, 1.0];
/// Maximum number of poses that are searched for the ground.
const POSES: usize = 1024;
/// Poses per second among them.
const RATE: f64 = 30.0;

/// Upwards in the scene of a glTF file.
const UP: DVec3 = DVec3::Y;

/// A skeleton in a pose.
#[derive(Clone, Copy)]
pub(super) struct Posed<'a> {
    pub(super) model: &'a Model,
    pub(super) bones: &'a Humanoid,
    /// Node-to-scene transforms. `[node]`
    pub(super) pose: &'a [DMat4],
}

impl Posed<'_> {
    /// Returns the position of a bone.
    fn at(&self, bone: HumanBone) -> Option<DVec3> {
        Some(self.pose[self.bones.get(bone)?].w_axis.truncate())
    }

    /// Returns the way from one bone to another, if it has a length.
    pub(super) fn along(&self, from: HumanBone, to: HumanBone) -> Option<DVec3> {
        Some(self.at(to)? - self.at(from)?).filter(|way| way.try_normalize().is_some())
    }

    /// Returns the way from a bone of the right side to that of the left side.
    fn across(&self, bone: fn(Side) -> HumanBone) -> Option<DVec3> {
        self.along(bone(Side::Right), bone(Side::Left))
    }

    fn middle(&self, bone: fn(Side) -> HumanBone) -> Option<DVec3> {
        Some(0.5 * (self.at(bone(Side::Left))? + self.at(bone(Side::Right))?))
    }

    /// Returns the length of the left leg, from hip to ankle.
    fn leg_length(&self) -> Option<f64> {
        use HumanBone::{Foot, LowerLeg, UpperLeg};
        let side = Side::Left;
        Some(self.along(UpperLeg(side), LowerLeg(side))?.length() + self.along(LowerLeg(side), Foot(side))?.length())
    }
}

/// A bone that is off a standing pose, and its angle in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stray {
    pub(crate) bone: HumanBone,
    pub(crate) degrees: f64,
}

/// Returns the bone of legs and trunk that is farthest off a standing pose; `None` if the pose stands. `body`: axes of the
/// body: left, up, forward.
pub(super) fn stray(posed: Posed<'_>, body: DMat3) -> Option<Stray> {
    use HumanBone::{Foot, Hips, LowerLeg, Spine, UpperArm, UpperLeg};
    let [left, up] = [body.x_axis, body.y_axis];
    let limbs = Side::BOTH.into_iter().flat_map(|side| {
        let bones = [(UpperLeg(side), LowerLeg(side)), (LowerLeg(side), Foot(side))];
        bones.map(|(bone, end)| (bone, posed.along(bone, end), -up))
    });
    let trunk = posed.middle(UpperArm).zip(posed.middle(UpperLeg)).map(|(arms, legs)| arms - legs);
    let all = limbs.chain([(Hips, posed.across(UpperLeg), left), (Spine, trunk, up)]);
    let strays = all.filter_map(|(bone, is, wanted)| {
        let is = is?.try_normalize()?;
        Some(Stray { bone, degrees: is.angle_between(wanted).to_degrees() })
    });
    strays.max_by(|a, b| a.degrees.total_cmp(&b.degrees)).filter(|stray| stray.degrees > STANDING)
}

/// Returns a standing pose over the origin, as node-to-scene transforms, and the axes of the body in it: left, up, forward.
/// `None` if bones are missing. The scene is that of a glTF file: y is up. `clips`: clips of the skeleton, whose
/// lowest feet are taken to stand on the ground.
pub(super) fn standing(posed: Posed<'_>, clips: &[&Clip]) -> Option<(Vec<DMat4>, DMat3)> {
    let habits = Habits::new(posed, clips);
    let body = DMat3::from_cols(habits.left, UP, habits.left.cross(UP));
    let turns = Joints { posed, body }.turns(&habits);
    let mut pose = posed.pose.to_vec();
    for &node in &posed.model.order {
        if let Some(parent) = posed.model.nodes[node].parent {
            pose[node] = pose[parent] * (posed.pose[parent].inverse() * posed.pose[node]);
        }
        if let Some(turn) = turns.get(&node) {
            // Lengths of the axes stay.
            pose[node] = DMat4 { w_axis: pose[node].w_axis, ..DMat4::from_quat(*turn) * posed.pose[node] };
        }
    }
    let stood = Posed { pose: &pose, ..posed };
    let hips = stood.at(HumanBone::Hips)?;
    let [left, right] = Side::BOTH.map(|side| stood.at(HumanBone::Foot(side)));
    let ankle = left?.y.min(right?.y);
    let way = DMat4::from_translation(UP * (hips.y + habits.ankle - ankle) - hips);
    let moved: Vec<DMat4> = pose.iter().map(|m| way * *m).collect();
    moved.iter().all(DMat4::is_finite).then_some((moved, body))
}

/// Properties of a standing body that clips tell.
struct Habits {
    /// Left of the body: x, for a body that looks along z as glTF wants it, or the axis that is nearest to the left of the
    /// shoulders.
    left: DVec3,
    /// Height of the ankle above the origin of the scene.
    ankle: f64,
    /// Angle in radians by which toes are lower than the ankle, seen from it.
    slope: f64,
    /// Rotation in the scene of a head that looks ahead: its mean, while the body is upright.
    head: Option<DQuat>,
}

impl Habits {
    fn new(posed: Posed<'_>, clips: &[&Clip]) -> Self {
        use HumanBone::{Foot, Head, Toes, UpperArm, UpperLeg};
        let (mut ankle, mut toe) = (f64::INFINITY, f64::INFINITY);
        let (mut left, mut head) = (DVec3::ZERO, DVec4::ZERO);
        let each = (POSES / clips.len().max(1)).max(1);
        for clip in clips.iter().take(POSES) {
            let sampler = Sampler::new(posed.model, Some(clip));
            let poses = ((clip.end * RATE) as usize).saturating_add(1).min(each);
            for i in 0..poses {
                let pose = sampler.globals(clip.end * i as f64 / poses as f64);
                let now = Posed { pose: &pose, ..posed };
                for side in Side::BOTH {
                    ankle = now.at(Foot(side)).map_or(ankle, |at| ankle.min(at.y));
                    toe = now.at(Toes(side)).map_or(toe, |at| toe.min(at.y));
                }
                let trunk = now.middle(UpperArm).zip(now.middle(UpperLeg)).map(|(arms, legs)| arms - legs);
                if trunk.is_some_and(|trunk| trunk.angle_between(UP) < UPRIGHT) {
                    left += now.across(UpperArm).unwrap_or_default();
                    let rotation = posed.bones.get(Head).map(|node| DVec4::from(rotation(&pose[node])));
                    head += rotation.map_or(DVec4::ZERO, |rotation| rotation * rotation.dot(head).signum());
                }
            }
        }
        let left = if left == DVec3::ZERO { posed.across(UpperArm).unwrap_or(DVec3::X) } else { left };
        let left = match left {
            left if left.angle_between(DVec3::X) < SIDEWAYS => DVec3::X,
            left if left.x.abs() >= left.z.abs() => DVec3::X * left.x.signum(),
            left => DVec3::Z * left.z.signum(),
        };
        let [least, assumed, most] = ANKLE_HEIGHTS.map(|share| share * posed.leg_length().unwrap_or(0.0));
        let stands = (least..=most).contains(&ankle);
        let foot = posed.along(Foot(Side::Left), Toes(Side::Left));
        let slope = foot.map(|foot| ((ankle - toe) / foot.length()).asin());
        let [flattest, usual, steepest] = FOOT_SLOPES;
        let slope = slope.filter(|slope| stands && (flattest..=steepest).contains(slope)).unwrap_or(usual);
        let head = head.try_normalize().map(DQuat::from_vec4);
        Self { left, ankle: if stands { ankle } else { assumed }, slope, head }
    }
}

/// Positions of joints in any pose.
struct Joints<'a> {
    posed: Posed<'a>,
    /// Axes of the standing body: left, up, forward.
    body: DMat3,
}

impl Joints<'_> {
    /// Returns the rotations in the scene, by node, that make the pose a standing one with arms stretched sideways.
    fn turns(&self, habits: &Habits) -> BTreeMap<usize, DQuat> {
        let mut turns = BTreeMap::new();
        let mut turn = |bone: HumanBone, rotation: DQuat| {
            if let Some(node) = self.posed.bones.get(bone) {
                turns.insert(node, rotation.normalize());
            }
        };
        let (hips, chest) = self.trunk();
        let spine: Vec<HumanBone> = self.spine().collect();
        let head = self.posed.bones.get(HumanBone::Head).zip(habits.head);
        let head = head.map_or(chest, |(node, ahead)| ahead * rotation(&self.posed.pose[node]).conjugate());
        turn(HumanBone::Hips, hips);
        for (i, bone) in spine.iter().enumerate() {
            let twisted = hips.slerp(chest, (i + 1) as f64 / spine.len() as f64);
            let along = spine.get(i + 1).and_then(|above| self.posed.along(*bone, *above));
            turn(*bone, along.map_or(twisted, |along| arc(twisted * along, self.up()) * twisted));
        }
        let twisted = chest.slerp(head, 0.5);
        let leaning = self.up() * NECK.cos() + self.forward() * NECK.sin();
        let neck = self.posed.along(HumanBone::Neck, HumanBone::Head);
        turn(HumanBone::Neck, neck.map_or(twisted, |along| arc(twisted * along, leaning) * twisted));
        turn(HumanBone::Head, head);
        for side in Side::BOTH {
            self.arm(side, chest, &mut turn);
            self.leg(side, hips, habits.slope, &mut turn);
        }
        turns
    }

    /// Returns the rotations that turn the hips and the chest into those of a standing body.
    fn trunk(&self) -> (DQuat, DQuat) {
        let hips = self.hips(self.spine().next());
        (hips, self.spine().last().and_then(|chest| self.chest(chest)).unwrap_or(hips))
    }

    /// Returns the bones of the spine, from the hips upwards.
    fn spine(&self) -> impl Iterator<Item = HumanBone> {
        let bones = [HumanBone::Spine, HumanBone::Chest, HumanBone::UpperChest];
        bones.into_iter().filter(|bone| self.posed.bones.get(*bone).is_some())
    }

    fn hips(&self, spine: Option<HumanBone>) -> DQuat {
        use HumanBone::{UpperArm, UpperLeg};
        let legs = UpperLeg;
        let up = spine.and_then(|spine| Some(self.posed.at(spine)? - self.posed.middle(legs)?));
        let up = up.filter(|up| Some(up.length()) > self.posed.across(legs).map(|across| 0.1 * across.length()));
        let up = up.or_else(|| Some(self.posed.middle(UpperArm)? - self.posed.middle(legs)?));
        let found = self.posed.across(legs).zip(up);
        found.map_or(DQuat::IDENTITY, |(across, up)| framed((across, up), (self.left(), self.up())))
    }

    fn chest(&self, chest: HumanBone) -> Option<DQuat> {
        let arms = if self.posed.bones.get(HumanBone::Shoulder(Side::Left)).is_some() {
            HumanBone::Shoulder
        } else {
            HumanBone::UpperArm
        };
        let top = self
            .posed
            .at(HumanBone::Neck)
            .or_else(|| self.posed.at(HumanBone::Head))
            .or_else(|| self.posed.middle(arms))?;
        Some(framed((self.posed.across(arms)?, top - self.posed.at(chest)?), (self.left(), self.up())))
    }

    fn arm(&self, side: Side, chest: DQuat, turn: &mut impl FnMut(HumanBone, DQuat)) {
        use HumanBone::{Hand, LowerArm, Shoulder, UpperArm};
        let (out, sign) = if side == Side::Left { (self.left(), 1.0) } else { (-self.left(), -1.0) };
        let stretched = |carried: DQuat, along: DVec3| arc(carried * along, out) * carried;
        let shoulder = self.posed.along(Shoulder(side), UpperArm(side)).map_or(chest, |along| stretched(chest, along));
        turn(Shoulder(side), shoulder);
        let (Some(upper), Some(lower)) =
            (self.posed.along(UpperArm(side), LowerArm(side)), self.posed.along(LowerArm(side), Hand(side)))
        else {
            return;
        };
        // Palms look down, and elbows bend forward.
        let hinge = bend(upper, lower).map(|hinge| (hinge, -sign * self.up()));
        let [upper, lower] = self.limb(out, [upper, lower], hinge, shoulder);
        turn(UpperArm(side), upper);
        turn(LowerArm(side), lower);
        let finger = |finger| HumanBone::Finger(side, finger, 0);
        let along = self.posed.along(Hand(side), finger(Finger::Middle));
        let across = self.posed.along(finger(Finger::Little), finger(Finger::Index));
        let hand = match (along, across) {
            (Some(along), Some(across)) => framed((along, across), (out, self.forward())),
            (Some(along), None) => stretched(lower, along),
            _ => lower,
        };
        turn(Hand(side), hand);
        HumanBone::all().filter(|bone| matches!(bone, HumanBone::Finger(of, ..) if *of == side)).for_each(|bone| {
            turn(bone, hand);
        });
    }

    fn leg(&self, side: Side, hips: DQuat, slope: f64, turn: &mut impl FnMut(HumanBone, DQuat)) {
        use HumanBone::{Foot, LowerLeg, Toes, UpperLeg};
        let (Some(upper), Some(lower)) =
            (self.posed.along(UpperLeg(side), LowerLeg(side)), self.posed.along(LowerLeg(side), Foot(side)))
        else {
            return;
        };
        // Knees bend backwards.
        let hinge = bend(upper, lower).map(|hinge| (hinge, self.left()));
        let carried = arc(hips * upper, -self.up()) * hips;
        let hinge = hinge.filter(|(hinge, left)| (carried * *hinge).angle_between(*left) < KNEE);
        let [upper, lower] = self.limb(-self.up(), [upper, lower], hinge, hips);
        turn(UpperLeg(side), upper);
        turn(LowerLeg(side), lower);
        let foot = self.posed.along(Foot(side), Toes(side)).map_or(lower, |along| {
            let sloping = self.forward() * slope.cos() - self.up() * slope.sin();
            arc(lower * along, sloping) * lower
        });
        turn(Foot(side), foot);
        turn(Toes(side), foot);
    }

    /// Returns the rotations of both bones of a limb that point it along `to`. `hinge`: the axis that it bends about, and
    /// the axis of the stretched limb. `carried`: rotation of the bone above.
    fn limb(&self, to: DVec3, bones: [DVec3; 2], hinge: Option<(DVec3, DVec3)>, carried: DQuat) -> [DQuat; 2] {
        match hinge {
            Some((from, wanted)) => bones.map(|along| framed((along, from), (to, wanted))),
            None => {
                let upper = arc(carried * bones[0], to) * carried;
                [upper, arc(upper * bones[1], to) * upper]
            }
        }
    }

    fn left(&self) -> DVec3 {
        self.body.x_axis
    }

    fn up(&self) -> DVec3 {
        self.body.y_axis
    }

    fn forward(&self) -> DVec3 {
        self.body.z_axis
    }
}

/// Returns the rotation from one pair of directions to another: of the first exactly, of the second as well as it can.
fn framed(from: (DVec3, DVec3), to: (DVec3, DVec3)) -> DQuat {
    let frame = |(first, second): (DVec3, DVec3)| {
        let first = first.try_normalize()?;
        let second = second.reject_from_normalized(first).try_normalize()?;
        Some(DMat3::from_cols(first, second, first.cross(second)))
    };
    match (frame(from), frame(to)) {
        (Some(from), Some(to)) => DQuat::from_mat3(&(to * from.transpose())).normalize(),
        _ => arc(from.0, to.0),
    }
}

/// Returns the axis that a joint between two bones bends about; `None` if it is nearly straight.
fn bend(upper: DVec3, lower: DVec3) -> Option<DVec3> {
    let angle = upper.angle_between(lower);
    upper.cross(lower).try_normalize().filter(|_| (BENT..std::f64::consts::PI - BENT).contains(&angle))
}
