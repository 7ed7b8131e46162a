//! Transfer of poses from one skeleton to another.

use std::collections::BTreeSet;

use glam::{DMat4, DQuat, DVec3};

use super::bone::{HumanBone, Side};
use super::leg::LegPose;
use super::rig::Rig;
use super::turn::{arc, rotation};
use crate::model::{Local, Trs};

/// Share of the length of a foot by which the heel is lifted when the foot stands on its toes alone.
const ON_TOES: f64 = 0.15;
/// Share of the leg's length by which hips come down at most, for a foot to reach the ground.
const MAX_LOWERING: f64 = 0.15;

/// Transfers poses of a source skeleton to a target skeleton.
#[derive(Debug)]
pub(super) struct Transfer<'a> {
    source: &'a Rig,
    target: &'a Rig,
    /// Rotation from the source's scene to the target's.
    turn: DQuat,
    /// Lengths of the target over lengths of the source.
    scale: f64,
    /// Bones of the target that follow the source.
    pairs: Vec<BonePair>,
    /// Local transforms of the reference pose of the target. `[node]`
    locals: Vec<Trs>,
    /// Position of the target's hips where the source's are at their reference.
    hips: DVec3,
}

/// Bone of the target, and the bone of the source that it follows.
#[derive(Clone, Copy, Debug)]
struct BonePair {
    bone: HumanBone,
    source: usize,
    target: usize,
    /// Rotation of the target in its scene where the source is at its reference.
    aligned: DQuat,
}

/// Nodes of the source that a bone of the target follows.
pub(super) struct Followed {
    pub(super) nodes: BTreeSet<usize>,
    /// Whether their translations matter, too.
    pub(super) places: bool,
}

/// Points of a foot that bear it, in the reference pose.
struct Sole {
    /// Point below the ankle, at the height of the toes.
    heel: DVec3,
    /// Node and position of the toes, if the foot has any.
    toes: Option<(usize, DVec3)>,
}

impl Sole {
    fn new(rig: &Rig, side: Side) -> Self {
        let ankle = rig.at(HumanBone::Foot(side));
        let toes = rig.bones.get(HumanBone::Toes(side)).map(|node| (node, rig.reference[node].w_axis.truncate()));
        let height = toes.map_or(0.0, |(_, toes)| (ankle - toes).dot(rig.body.y_axis).max(0.0));
        Self { heel: ankle - rig.body.y_axis * height, toes }
    }
}

/// Pose of the target.
pub(super) struct TargetPose {
    /// Node-to-parent transforms. `[node]`
    pub(super) locals: Vec<Trs>,
    /// Node-to-scene transforms. `[node]`
    globals: Vec<DMat4>,
}

impl<'a> Transfer<'a> {
    pub(super) fn new(source: &'a Rig, target: &'a Rig) -> Self {
        let turn = DQuat::from_mat3(&(target.body * source.body.transpose())).normalize();
        let scale = target.leg_length() / source.leg_length();
        let legs = |rig: &Rig| {
            let height = |bone: fn(Side) -> HumanBone| {
                Side::BOTH.map(|side| rig.at(bone(side)).dot(rig.body.y_axis)).iter().sum::<f64>() / 2.0
            };
            height(HumanBone::UpperLeg) - height(HumanBone::Foot)
        };
        // The reference poses may differ in the bend of the knees.
        let lift = scale * legs(source) - legs(target);
        let hips = target.at(HumanBone::Hips) + target.body.y_axis * lift;
        let locals = (0..target.reference.len()).map(|node| reference_local(target, node)).collect();
        let mut transfer = Self { source, target, turn, scale, pairs: Vec::new(), locals, hips };
        transfer.pair();
        transfer
    }

    /// Returns the nodes of the source that bones of the target follow.
    pub(super) fn sources(&self) -> impl Iterator<Item = usize> + '_ {
        self.pairs.iter().map(|pair| pair.source)
    }

    /// Returns the bones of the target that follow the source, and their nodes.
    pub(super) fn targets(&self) -> impl Iterator<Item = (HumanBone, usize)> + '_ {
        self.pairs.iter().map(|pair| (pair.bone, pair.target))
    }

    /// Returns the nodes of the source that the local transform of a bone of the target depends on.
    pub(super) fn followed(&self, bone: HumanBone) -> Followed {
        let above = |rig: &Rig, node: usize| -> BTreeSet<usize> {
            std::iter::successors(Some(node), |&node| rig.model.nodes[node].parent).collect()
        };
        let pair_of = |node: usize| self.pairs.iter().find(|pair| pair.target == node);
        let is_of_legs = |bone: HumanBone| {
            use HumanBone::{Foot, Hips, LowerLeg, Toes, UpperLeg};
            matches!(bone, Hips | UpperLeg(_) | LowerLeg(_) | Foot(_) | Toes(_))
        };
        // Feet are put in their places, and hips come down where legs are too short.
        if is_of_legs(bone) {
            let legs = self.source.bones.iter().filter(|(bone, _)| is_of_legs(*bone));
            let nodes = legs.flat_map(|(_, node)| above(self.source, node)).collect();
            return Followed { nodes, places: true };
        }
        let of = |pair: &BonePair| above(self.source, pair.source);
        let own = self.pairs.iter().find(|pair| pair.bone == bone);
        let carrier = own.and_then(|own| {
            let mut parents =
                std::iter::successors(Some(own.target), |&node| self.target.model.nodes[node].parent).skip(1);
            parents.find_map(pair_of)
        });
        // A rotation relative to the bone that carries it does not depend on the nodes above both.
        let [own, carrier] = [own, carrier].map(|pair| pair.map(of).unwrap_or_default());
        Followed { nodes: own.symmetric_difference(&carrier).copied().collect(), places: false }
    }

    /// Returns the local transforms of the reference pose. `[node]`
    pub(super) fn reference(&self) -> &[Trs] {
        &self.locals
    }

    /// Returns the transform from the source's scene to the target's that brings the hips of the reference poses together.
    pub(super) fn placed(&self) -> DMat4 {
        let linear = DMat4::from_scale_rotation_translation(DVec3::splat(self.scale), self.turn, self.hips);
        linear * DMat4::from_translation(-self.source.at(HumanBone::Hips))
    }

    /// Whether poses move the node of a bone, besides turning it.
    pub(super) fn moves(&self, bone: HumanBone) -> bool {
        match bone {
            HumanBone::Hips => true,
            HumanBone::Foot(side) => self.is_detached(side),
            _ => false,
        }
    }

    /// Whether the foot of the target does not hang on its leg.
    fn is_detached(&self, side: Side) -> bool {
        let [leg, foot] = [HumanBone::LowerLeg(side), HumanBone::Foot(side)].map(|bone| self.target.node(bone));
        std::iter::successors(Some(foot), |&node| self.target.model.nodes[node].parent).all(|node| node != leg)
    }

    fn pair(&mut self) {
        let (source, target) = (self.source, self.target);
        let mut pairs = Vec::new();
        for (bone, node) in target.bones.iter() {
            let Some(of_source) = counterpart(source, target, bone).and_then(|bone| source.bones.get(bone)) else {
                continue;
            };
            let turned = self.alignment(bone);
            pairs.push(BonePair { bone, source: of_source, target: node, aligned: turned * target.rotations[node] });
        }
        self.pairs = pairs;
    }

    /// Returns the rotation that gives a bone of the target the direction that the source has in its
    /// reference pose.
    fn alignment(&self, bone: HumanBone) -> DQuat {
        let up = self.target.body.y_axis;
        let direction = |rig: &Rig, bone: HumanBone, end: HumanBone| {
            let at = |bone| Some(rig.reference[rig.bones.get(bone)?].w_axis.truncate());
            Some(at(end)? - at(bone)?)
        };
        let both =
            |bone, end| Some((direction(self.target, bone, end)?, self.turn * direction(self.source, bone, end)?));
        match bone {
            // Soles are flat on the ground in both poses, however high ankles are.
            HumanBone::Foot(side) | HumanBone::Toes(side) => {
                let found = both(HumanBone::Foot(side), HumanBone::Toes(side));
                let [from, to] =
                    found.map_or([DVec3::ZERO; 2], |(from, to)| [from, to].map(|way| way.reject_from_normalized(up)));
                arc(from, to)
            }
            _ => match bone.end().and_then(|end| both(bone, end)) {
                Some((from, to)) => arc(from, to),
                // A bone without a direction of its own keeps its angle to the bone that it hangs on.
                None => match bone {
                    HumanBone::Hand(side) => self.alignment(HumanBone::LowerArm(side)),
                    HumanBone::Finger(side, _, 0) => self.alignment(HumanBone::Hand(side)),
                    HumanBone::Finger(side, finger, i) => self.alignment(HumanBone::Finger(side, finger, i - 1)),
                    _ => DQuat::IDENTITY,
                },
            },
        }
    }

    /// Returns the pose of the target. `source`: node-to-scene transforms of the source. `[node]`
    pub(super) fn pose(&self, source: &[DMat4]) -> TargetPose {
        let mut turns: Vec<Option<DQuat>> = vec![None; self.locals.len()];
        for pair in &self.pairs {
            let moved = rotation(&source[pair.source]) * self.source.rotations[pair.source].conjugate();
            turns[pair.target] = Some(self.turn * moved * self.turn.conjugate() * pair.aligned);
        }
        let hips = self.target.node(HumanBone::Hips);
        let mut places = vec![None; self.locals.len()];
        places[hips] = Some(self.hips + self.way(source, HumanBone::Hips));
        let standing = self.compose(&turns, &places);

        let up = self.target.body.y_axis;
        let ankles = Side::BOTH.map(|side| self.ankle(side, source, &turns));
        let lacks = [0, 1].map(|i| self.leg(Side::BOTH[i], &standing).lack(ankles[i], up));
        let lack = lacks[0].max(lacks[1]).min(MAX_LOWERING * self.target.leg_length());
        places[hips] = places[hips].map(|place| place - up * lack);
        let standing = self.compose(&turns, &places);
        let forward =
            turns[hips].unwrap_or_default() * self.target.rotations[hips].conjugate() * self.target.body.z_axis;
        for (side, ankle) in Side::BOTH.into_iter().zip(ankles) {
            let bones = [HumanBone::UpperLeg(side), HumanBone::LowerLeg(side)];
            let rotations = self.leg(side, &standing).reaching(ankle, forward);
            for (bone, rotation) in bones.into_iter().zip(rotations) {
                let turn = &mut turns[self.target.node(bone)];
                *turn = turn.map(|turn| (rotation * turn).normalize());
            }
            if self.is_detached(side) {
                places[self.target.node(HumanBone::Foot(side))] = Some(ankle);
            }
        }
        self.compose(&turns, &places)
    }

    /// Returns the way of a bone of the source from its reference, as a way of the target.
    fn way(&self, source: &[DMat4], bone: HumanBone) -> DVec3 {
        let node = self.source.node(bone);
        self.way_of_point(source, node, self.source.reference[node].w_axis.truncate())
    }

    /// Returns the way of a point that follows a node of the source, as a way of the target. `at`: where the point is in the
    /// reference pose.
    fn way_of_point(&self, source: &[DMat4], node: usize, at: DVec3) -> DVec3 {
        let local = self.source.reference[node].inverse().transform_point3(at);
        self.turn * (source[node].transform_point3(local) - at) * self.scale
    }

    /// Returns the place for an ankle of the target, so that the sole is where the source has it, scaled. Feet differ in
    /// length and height, so the point that bears the foot is brought to its place: the heel, or the toes if the heel is
    /// lifted.
    fn ankle(&self, side: Side, source: &[DMat4], turns: &[Option<DQuat>]) -> DVec3 {
        let node = self.target.node(HumanBone::Foot(side));
        let turned = turns[node].unwrap_or(self.target.rotations[node]) * self.target.rotations[node].conjugate();
        let rest = self.target.at(HumanBone::Foot(side));
        let of_source = self.source.node(HumanBone::Foot(side));
        let [from, to] = [Sole::new(self.source, side), Sole::new(self.target, side)];
        let heel_way = self.way_of_point(source, of_source, from.heel);
        let on_heel = to.heel + heel_way + turned * (rest - to.heel);
        let (Some((toes, toes_from)), Some((_, toes_to))) = (from.toes, to.toes) else { return on_heel };
        let toes_way = self.way_of_point(source, toes, toes_from);
        let on_toes = toes_to + toes_way + turned * (rest - toes_to);
        let length = self.scale * from.heel.distance(toes_from);
        let lifted = (heel_way - toes_way).dot(self.target.body.y_axis) / length.max(f64::MIN_POSITIVE);
        let share = (lifted / ON_TOES).clamp(0.0, 1.0);
        on_heel.lerp(on_toes, share * share * (3.0 - 2.0 * share))
    }

    fn leg(&self, side: Side, pose: &TargetPose) -> LegPose {
        let at = |bone| pose.globals[self.target.node(bone)].w_axis.truncate();
        let [hip, knee] = [HumanBone::UpperLeg(side), HumanBone::LowerLeg(side)].map(at);
        let (leg, foot) = (self.target.node(HumanBone::LowerLeg(side)), self.target.node(HumanBone::Foot(side)));
        // The ankle as the lower leg carries it, also where the foot is elsewhere.
        let carried = self.target.reference[leg].inverse() * self.target.reference[foot];
        LegPose { hip, knee, ankle: pose.globals[leg].transform_point3(carried.w_axis.truncate()) }
    }

    /// Composes a pose of rotations and positions in the scene. Nodes without keep those of the reference
    /// relative to their parents.
    fn compose(&self, turns: &[Option<DQuat>], places: &[Option<DVec3>]) -> TargetPose {
        let mut locals = self.locals.clone();
        let mut globals = vec![DMat4::IDENTITY; locals.len()];
        let mut rotations = vec![DQuat::IDENTITY; locals.len()];
        for &node in &self.target.model.order {
            let parent = self.target.model.nodes[node].parent;
            let above = parent.map_or(DMat4::IDENTITY, |parent| globals[parent]);
            let turned = parent.map_or(DQuat::IDENTITY, |parent| rotations[parent]);
            let local = &mut locals[node];
            if let Some(turn) = turns[node] {
                local.rotation = (turned.conjugate() * turn).normalize();
            }
            if let Some(place) = places[node] {
                let inside = above.inverse().transform_point3(place);
                local.translation = if inside.is_finite() { inside } else { local.translation };
            }
            rotations[node] = (turned * local.rotation).normalize();
            globals[node] = above * crate::sample::matrix(&Local::Trs(*local));
        }
        TargetPose { locals, globals }
    }
}

/// Returns the bone of the source that a bone of the target follows. Spines have different numbers of bones:
/// the highest follows the highest.
fn counterpart(source: &Rig, target: &Rig, bone: HumanBone) -> Option<HumanBone> {
    use HumanBone::{Chest, Spine, UpperChest};
    let has = |bone: &HumanBone| source.bones.get(*bone).is_some();
    let spine = [UpperChest, Chest, Spine];
    let is_highest = spine.into_iter().find(|bone| target.bones.get(*bone).is_some()) == Some(bone);
    if is_highest { spine.into_iter().find(has) } else { Some(bone).filter(has) }
}

/// Returns the local transform of a node in the reference pose.
fn reference_local(rig: &Rig, node: usize) -> Trs {
    let found = Trs::from_matrix(&rig.local(node));
    match rig.model.nodes[node].local {
        Local::Trs(trs) if !found.is_finite() => trs,
        _ => found,
    }
}
