//! A humanoid skeleton in its reference pose.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::{DMat3, DMat4, DQuat, DVec3};

use super::bone::{HumanBone, Side};
use super::humanoid::Humanoid;
use super::stance::{self, Posed, Stray};
use super::turn::rotation;
use crate::model::{Clip, Model};
use crate::sample::Sampler;

/// Angle in radians within which an axis of the body is taken to be an axis of the scene: about ten degrees.
const ALIGNED: f64 = 0.17;
/// Relative difference of lengths that are equal.
const SAME_LENGTH: f64 = 0.02;
/// Share of the length of a thigh by which the feet of the bind pose may be above or below those of the nodes.
const SAME_GROUND: f64 = 0.5;

/// A humanoid skeleton: its bones, the pose in which skeletons are compared, and the axes of its body.
#[derive(Clone, Debug)]
pub(crate) struct Rig {
    /// Nodes, and their order. Has neither bones nor meshes.
    pub(crate) model: Arc<Model>,
    pub(crate) bones: Humanoid,
    /// Node-to-scene transforms of the reference pose. `[node]`
    pub(super) reference: Vec<DMat4>,
    /// Rotations of [`Self::reference`]. `[node]`
    pub(super) rotations: Vec<DQuat>,
    /// Axes of the body in the scene: to its left, up, and the direction it looks.
    pub(super) body: DMat3,
    /// Bone of the reference pose that is farthest off a standing pose, if the pose is that of the nodes.
    stray: Option<Stray>,
}

/// Reason why a skeleton cannot be retargeted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RigError {
    /// The skeleton lacks bones.
    Missing(Vec<HumanBone>),
    /// Two bones that are apart in any pose are at one place, or numbers are not finite.
    NoLength(HumanBone),
}

impl Rig {
    /// Makes a rig of the nodes of a model. `binds`: joint-to-mesh transforms of bind pose, the inverse of the inverse
    /// bind matrices, by node.
    ///
    /// The reference pose is the bind pose, if all bones have one and a transform that leads from it to the
    /// scene is known: that of the node above the topmost joint, or none. Else it is the pose of the nodes.
    /// Exporters write the bind pose as authored, often with stretched arms, but nodes in any pose. A bind pose that
    /// stands far above or below the feet of the nodes is moved to their height.
    ///
    /// # Errors
    /// If bones are missing, or a limb has no length.
    pub(crate) fn new(model: Model, bones: Humanoid, binds: &BTreeMap<usize, DMat4>) -> Result<Self, RigError> {
        let missing = bones.missing();
        if !missing.is_empty() {
            return Err(RigError::Missing(missing));
        }
        let rest = Sampler::new(&model, None).globals(0.0);
        let bind = bind_pose(&model, &bones, binds, &rest);
        let is_bind = bind.is_some();
        let reference = bind.unwrap_or(rest);
        let rotations = rotations(&reference);
        let (model, body) = (Arc::new(model), DMat3::IDENTITY);
        let mut rig = Self { model, bones, reference, rotations, body, stray: None };
        for side in Side::BOTH {
            use HumanBone::{Foot, LowerLeg, UpperLeg};
            for (bone, end) in [(UpperLeg(side), LowerLeg(side)), (LowerLeg(side), Foot(side))] {
                let length = rig.at(bone).distance(rig.at(end));
                if !(length > 0.0 && length.is_finite()) {
                    return Err(RigError::NoLength(bone));
                }
            }
        }
        rig.body = self::body(&rig.bones, &rig.reference).ok_or(RigError::NoLength(HumanBone::Hips))?;
        rig.stray = if is_bind { None } else { stance::stray(rig.posed(), rig.body) };
        Ok(rig)
    }

    /// Returns the bone that is farthest off a standing pose, if the reference pose is that of the nodes and is none.
    pub(crate) fn stray(&self) -> Option<Stray> {
        self.stray
    }

    /// Returns the rig in the reference pose of another with the same bones; `None` if they differ, or the other does not stand.
    pub(crate) fn posed_like(&self, other: &Self) -> Option<Self> {
        let same_length = |bone: HumanBone| {
            let length = |rig: &Self| Some(rig.posed().along(bone, bone.end()?)?.length());
            length(self).zip(length(other)).is_none_or(|(a, b)| (a - b).abs() <= SAME_LENGTH * a)
        };
        if other.stray.is_some() || !HumanBone::all().all(same_length) {
            return None;
        }
        let names: BTreeMap<&str, usize> =
            other.model.nodes.iter().enumerate().map(|(index, node)| (&*node.name, index)).collect();
        let same = |node: usize| names.get(&*self.model.nodes[node].name).copied();
        if self.bones.iter().any(|(bone, node)| other.bones.get(bone) != same(node)) {
            return None;
        }
        let mut reference = self.reference.clone();
        for &node in &self.model.order {
            let local = same(node).map_or_else(|| self.local(node), |node| other.local(node));
            let above = self.model.nodes[node].parent.map_or(DMat4::IDENTITY, |parent| reference[parent]);
            reference[node] = above * local;
        }
        reference.iter().all(DMat4::is_finite).then(|| self.in_pose(reference, other.body))
    }

    /// Returns the rig in a standing pose that is made from its joints. `clips`: clips of the skeleton, which tell where
    /// the ground is.
    pub(crate) fn stood_up(&self, clips: &[&Clip]) -> Self {
        let standing = stance::standing(self.posed(), clips);
        standing.map_or_else(|| self.clone(), |(reference, body)| self.in_pose(reference, body))
    }

    fn posed(&self) -> Posed<'_> {
        Posed { model: &self.model, bones: &self.bones, pose: &self.reference }
    }

    /// Returns the node-to-parent transform of the reference pose.
    pub(super) fn local(&self, node: usize) -> DMat4 {
        match self.model.nodes[node].parent {
            Some(parent) => self.reference[parent].inverse() * self.reference[node],
            None => self.reference[node],
        }
    }

    fn in_pose(&self, reference: Vec<DMat4>, body: DMat3) -> Self {
        let (model, bones) = (self.model.clone(), self.bones.clone());
        Self { model, bones, rotations: rotations(&reference), reference, body, stray: None }
    }

    /// Returns the node of a bone that [`Humanoid::missing`] has checked.
    pub(super) fn node(&self, bone: HumanBone) -> usize {
        self.bones.get(bone).expect("required bones exist")
    }

    /// Returns the position of a required bone in the reference pose.
    pub(super) fn at(&self, bone: HumanBone) -> DVec3 {
        self.reference[self.node(bone)].w_axis.truncate()
    }

    /// Returns the mean length of both legs, from hip to ankle, in units of the scene.
    pub(super) fn leg_length(&self) -> f64 {
        let length = |side| {
            let [hip, knee, ankle] =
                [HumanBone::UpperLeg(side), HumanBone::LowerLeg(side), HumanBone::Foot(side)].map(|bone| self.at(bone));
            hip.distance(knee) + knee.distance(ankle)
        };
        0.5 * (length(Side::Left) + length(Side::Right))
    }
}

fn rotations(pose: &[DMat4]) -> Vec<DQuat> {
    pose.iter().map(rotation).collect()
}

/// Returns the axes of a body in a pose.
fn body(bones: &Humanoid, pose: &[DMat4]) -> Option<DMat3> {
    let at = |bone| bones.get(bone).map(|node| pose[node].w_axis.truncate());
    let middle = |of: fn(Side) -> HumanBone| Some(0.5 * (at(of(Side::Left))? + at(of(Side::Right))?));
    let top = at(HumanBone::Head).or_else(|| middle(HumanBone::UpperArm))?;
    let up = nearest_axis(top - middle(HumanBone::Foot)?)?;
    let left = at(HumanBone::UpperLeg(Side::Left))? - at(HumanBone::UpperLeg(Side::Right))?;
    let left = left.reject_from_normalized(up).try_normalize()?;
    let left = nearest_axis(left).filter(|axis| axis.angle_between(left) < ALIGNED).unwrap_or(left);
    Some(DMat3::from_cols(left, up, left.cross(up)))
}

/// Returns the axis of the scene that is nearest to a direction.
fn nearest_axis(v: DVec3) -> Option<DVec3> {
    let axis = (0..3).max_by(|a, b| v[*a].abs().total_cmp(&v[*b].abs()))?;
    let length = v[axis];
    (length != 0.0 && v.is_finite()).then(|| DVec3::AXES[axis] * length.signum())
}

/// Returns the bind pose in the scene. `None` if a bone has none, or its transform to the scene is unknown.
fn bind_pose(model: &Model, bones: &Humanoid, binds: &BTreeMap<usize, DMat4>, rest: &[DMat4]) -> Option<Vec<DMat4>> {
    let has_bind = |bone: HumanBone| bones.get(bone).is_none_or(|node| binds.contains_key(&node));
    // Ends of toes and fingers are often no joints.
    let is_end = |bone: HumanBone| matches!(bone, HumanBone::Toes(_) | HumanBone::Finger(..));
    if !HumanBone::all().all(|bone| is_end(bone) || has_bind(bone)) {
        return None;
    }
    let topmost = model.order.iter().find(|node| binds.contains_key(node))?;
    let above = model.nodes[*topmost].parent.map_or(DMat4::IDENTITY, |parent| rest[parent]);
    let scene_up = body(bones, rest)?.y_axis;
    let length = |pose: &dyn Fn(usize) -> DVec3| {
        let of = |bone| bones.get(bone).map(pose);
        let side = Side::Left;
        Some(of(HumanBone::UpperLeg(side))?.distance(of(HumanBone::LowerLeg(side))?))
    };
    let wanted = length(&|node| rest[node].w_axis.truncate())?;
    let lowest = |pose: &dyn Fn(usize) -> DVec3| {
        let feet = Side::BOTH.map(|side| bones.get(HumanBone::Foot(side)).map(|node| pose(node).dot(scene_up)));
        Some(feet[0]?.min(feet[1]?))
    };
    let ground = lowest(&|node| rest[node].w_axis.truncate())?;
    [above, DMat4::IDENTITY].into_iter().find_map(|to_scene| {
        let place = |node: usize| (to_scene * binds[&node]).w_axis.truncate();
        let sunk = ground - lowest(&place)?;
        let lift = if sunk.abs() > SAME_GROUND * wanted { scene_up * sunk } else { DVec3::ZERO };
        let to_scene = DMat4::from_translation(lift) * to_scene;
        let place = |node: usize| (to_scene * binds[&node]).w_axis.truncate();
        let same_length = (length(&place)? - wanted).abs() <= SAME_LENGTH * wanted;
        let mut pose = vec![DMat4::IDENTITY; rest.len()];
        for &node in &model.order {
            let parent = model.nodes[node].parent;
            let local = || parent.map_or(rest[node], |parent| rest[parent].inverse() * rest[node]);
            pose[node] = match (binds.get(&node), parent) {
                (Some(bind), _) => to_scene * *bind,
                (None, Some(parent)) => pose[parent] * local(),
                (None, None) => rest[node],
            };
        }
        let stands = body(bones, &pose)?.y_axis == scene_up;
        (same_length && stands && pose.iter().all(DMat4::is_finite)).then_some(pose)
    })
}
