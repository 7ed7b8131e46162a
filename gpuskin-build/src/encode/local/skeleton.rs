//! Reduced skeleton: the joints that clips move, parents before children, with static nodes folded
//! into them.
//!
//! A chain of nodes that no clip moves is one constant matrix C. If C is a similarity, it is folded
//! into the tracks of the joints below: `C * T(t) R(q) S(s) = T(C t) R(c q) S(|C| s)`, and
//! interpolation commutes with all three. Constants below the last joint are folded into the
//! inverse bind matrices. Only a non-uniform scale or shear above a joint needs joints of its own.

use glam::{DMat4, DQuat, DVec4};

use super::affine::{self, Similarity};
use crate::frames::FrameGrid;
use crate::model::{Clip, Curve, Interpolation, Local, Mask, Model, Property, Trs};
use crate::sample::{evaluate, matrix};

/// Hierarchy that the palette pass composes.
#[derive(Clone, Debug)]
pub(super) struct Skeleton {
    /// Joints, sorted by depth.
    pub(super) joints: Vec<Joint>,
    /// Bones, in the order of the model's bones.
    pub(super) bones: Vec<BoneBinding>,
}

/// A node of the runtime hierarchy.
#[derive(Clone, Debug)]
pub(super) struct Joint {
    /// Index of the parent, which is less than the joint's own.
    pub(super) parent: Option<usize>,
    /// Joint-to-parent transform in the rest pose.
    pub(super) rest: Trs,
    motion: JointMotion,
}

#[derive(Clone, Copy, Debug)]
enum JointMotion {
    /// No clip moves the joint.
    Still,
    /// Origin of bones whose weights of morph targets no clip changes: root motion does not move it either.
    Weights,
    /// The joint follows a node of the model, after the constant transform `above`.
    Follows { node: usize, above: Similarity },
    /// Second part of a node's matrix with shear. Clips that move the node replace the whole
    /// matrix, and this part becomes the identity.
    Turned { node: usize },
}

/// A bone, attached to a joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoneBinding {
    /// Index of the joint.
    pub(super) joint: usize,
    /// Transform from mesh space to joint space.
    pub(super) inverse_bind: DMat4,
}

/// Location of a model's node: a constant transform below a joint.
#[derive(Clone, Copy)]
struct NodeOffset {
    joint: Option<usize>,
    below: DMat4,
}

/// Maximum length of a joint chain that the palette pass composes at once, without links.
const SHORT: usize = 16;

impl Skeleton {
    pub(super) fn new(model: &Model) -> Self {
        let moved = moved(model);
        let mut needed = vec![false; model.nodes.len()];
        for bone in &model.bones {
            let mut next = Some(bone.node);
            while let Some(node) = next.filter(|n| !needed[*n]) {
                needed[node] = true;
                next = model.nodes[node].parent;
            }
        }
        let mut joints = Vec::new();
        let root = NodeOffset { joint: None, below: model.root };
        let mut places = vec![root; model.nodes.len()];
        let nowhere = NodeOffset { joint: None, below: DMat4::IDENTITY };
        for &node in model.order.iter().filter(|n| needed[**n]) {
            let parent = model.nodes[node].parent;
            let outside = if model.has_weights(node) { nowhere } else { root };
            let mut place = parent.map_or(outside, |p| places[p]);
            if !moved[node] {
                place.below *= matrix(&model.nodes[node].local);
                places[node] = place;
                continue;
            }
            let above = affine::similarity(&place.below).unwrap_or_else(|| {
                place = NodeOffset { joint: Some(still(&mut joints, place)), below: DMat4::IDENTITY };
                if let Some(p) = parent {
                    places[p] = place;
                }
                Similarity::IDENTITY
            });
            let (trs, turn) = match model.nodes[node].local {
                Local::Trs(trs) => (trs, None),
                Local::Matrix(m) => affine::decompose(&m),
            };
            let motion = JointMotion::Follows { node, above };
            joints.push(Joint { parent: place.joint, rest: above.of(&trs), motion });
            if let Some(rotation) = turn {
                let rest = Trs { rotation, ..Trs::IDENTITY };
                joints.push(Joint { parent: Some(joints.len() - 1), rest, motion: JointMotion::Turned { node } });
            }
            places[node] = NodeOffset { joint: Some(joints.len() - 1), below: DMat4::IDENTITY };
        }
        // Bones that no joint moves are attached to a joint at the origin.
        let (mut origin, mut of_weights) = (None, None);
        let bones = model.bones.iter().map(|bone| {
            let place = places[bone.node];
            let joint = place.joint.unwrap_or_else(|| {
                if model.has_weights(bone.node) {
                    return *of_weights.get_or_insert_with(|| {
                        joints.push(Joint { parent: None, rest: Trs::IDENTITY, motion: JointMotion::Weights });
                        joints.len() - 1
                    });
                }
                *origin.get_or_insert_with(|| still(&mut joints, NodeOffset { joint: None, below: DMat4::IDENTITY }))
            });
            BoneBinding { joint, inverse_bind: place.below * bone.inverse_bind }
        });
        let bones = bones.collect();
        by_depth(joints, bones)
    }

    /// Returns the joint-to-parent transforms of all joints at a time of a clip in seconds. `root`
    /// is a rotation and translation applied to the whole model.
    pub(super) fn pose(&self, model: &Model, curves: &ClipCurves<'_>, root: Option<&DMat4>, time: f64) -> Vec<Trs> {
        let root = root.and_then(affine::similarity);
        let own = |joint: &Joint| match (&root, joint.parent) {
            (Some(root), None) if !joint.has_weights(model) => root.of(&joint.at(model, curves, time)),
            _ => joint.at(model, curves, time),
        };
        self.joints.iter().map(own).collect()
    }

    /// For each joint, whether its rotation, translation and scale are held between frames, because their curves are
    /// STEP. `displaced`: whether root motion is taken out of the clip.
    pub(super) fn held(&self, model: &Model, curves: &ClipCurves<'_>, displaced: bool) -> Vec<[bool; 3]> {
        let steps = |curve: Option<&Curve>| curve.is_some_and(|curve| curve.interpolation == Interpolation::Step);
        let of_joint = |joint: &Joint| match joint.motion {
            JointMotion::Follows { node, .. } if !displaced || joint.parent.is_some() || joint.has_weights(model) => {
                let [translation, rotation, scale] = curves.curves[node];
                [rotation, translation, scale].map(steps)
            }
            _ => [false; 3],
        };
        self.joints.iter().map(of_joint).collect()
    }

    /// Whether a joint is in a mask. Static joints are in none.
    pub(super) fn is_in(&self, joint: usize, mask: &Mask) -> bool {
        match self.joints[joint].motion {
            JointMotion::Still | JointMotion::Weights => false,
            JointMotion::Follows { node, .. } | JointMotion::Turned { node } => mask.nodes[node],
        }
    }

    /// Returns the joint-to-model matrices of all joints.
    pub(super) fn globals(&self, locals: impl Iterator<Item = Trs>) -> Vec<DMat4> {
        let mut globals: Vec<DMat4> = Vec::with_capacity(self.joints.len());
        for (joint, local) in self.joints.iter().zip(locals) {
            let own = matrix(&Local::Trs(local));
            globals.push(joint.parent.map_or(own, |p| globals[p] * own));
        }
        globals
    }

    /// Iterates from a joint over its ancestors to a root.
    pub(super) fn chain(&self, joint: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(joint), |&joint| self.joints[joint].parent)
    }

    /// Returns the number of joints per link: about the square root of the longest chain, so that a
    /// link has as many joints as a chain has links. Joints of a link, and then the links, are
    /// composed sequentially.
    pub(super) fn link(&self) -> usize {
        let longest = self.joints.len().checked_sub(1).map_or(0, |last| self.chain(last).count());
        if longest <= SHORT { 1 } else { longest.isqrt() }
    }
}

impl Joint {
    /// Whether the translation has weights of morph targets.
    fn has_weights(&self, model: &Model) -> bool {
        match self.motion {
            JointMotion::Weights => true,
            JointMotion::Follows { node, .. } => model.has_weights(node),
            JointMotion::Still | JointMotion::Turned { .. } => false,
        }
    }

    fn at(&self, model: &Model, curves: &ClipCurves<'_>, time: f64) -> Trs {
        let (node, above) = match self.motion {
            JointMotion::Still | JointMotion::Weights => return self.rest,
            JointMotion::Turned { node } if curves.curves[node].iter().all(Option::is_none) => return self.rest,
            JointMotion::Turned { .. } => return Trs::IDENTITY,
            JointMotion::Follows { node, above } => (node, above),
        };
        let [translation, rotation, scale] = curves.curves[node];
        if translation.is_none() && rotation.is_none() && scale.is_none() {
            return self.rest;
        }
        // As in `Sampler`: a curve replaces the matrix of a node.
        let rest = match model.nodes[node].local {
            Local::Trs(trs) => trs,
            Local::Matrix(_) => Trs::IDENTITY,
        };
        let at = |c: &Curve, property| evaluate(c, property, c.interpolation.time(time, curves.early));
        above.of(&Trs {
            translation: translation.map_or(rest.translation, |c| at(c, Property::Translation).truncate()),
            rotation: rotation.map_or(rest.rotation, |c| DQuat::from_vec4(at(c, Property::Rotation))),
            scale: scale.map_or(rest.scale, |c| at(c, Property::Scale).truncate()),
        })
    }
}

/// Curves of a clip.
pub(super) struct ClipCurves<'a> {
    /// Translation, rotation, scale. `[node]`
    curves: Vec<[Option<&'a Curve>; 3]>,
    /// Time by which STEP curves jump early, seconds.
    early: f64,
}

impl<'a> ClipCurves<'a> {
    pub(super) fn new(model: &Model, clip: &'a Clip, grid: &FrameGrid) -> Self {
        let mut curves = vec![[None; 3]; model.nodes.len()];
        for channel in &clip.channels {
            curves[channel.node][channel.property as usize] = Some(&channel.curve);
        }
        Self { curves, early: grid.slack() }
    }
}

/// For each node, whether a clip moves it away from its rest pose.
fn moved(model: &Model) -> Vec<bool> {
    let mut moved = vec![false; model.nodes.len()];
    for channel in model.clips.iter().flat_map(|c| &c.channels) {
        moved[channel.node] |= match model.nodes[channel.node].local {
            Local::Matrix(_) => true,
            Local::Trs(rest) => !rests(&channel.curve, channel.property, &rest),
        };
    }
    moved
}

/// Tolerance for rounding of `f32`, the precision of keys and rest poses in files.
const SAME: f64 = 1e-7;

/// Whether all values of a curve equal the rest pose.
fn rests(curve: &Curve, property: Property, rest: &Trs) -> bool {
    let (rest, either_sign) = match property {
        Property::Translation => (rest.translation.extend(0.0), false),
        Property::Rotation => (DVec4::from(rest.rotation), true),
        Property::Scale => (rest.scale.extend(0.0), false),
    };
    let near = |a: DVec4, b: DVec4| (a - b).abs().max_element() <= SAME * b.abs().max_element().max(1e-3);
    let same = |v: &DVec4| near(*v, rest) || (either_sign && near(-*v, rest));
    match curve.interpolation {
        Interpolation::CubicSpline => {
            curve.values.as_chunks::<3>().0.iter().all(|k| k[0] == DVec4::ZERO && same(&k[1]) && k[2] == DVec4::ZERO)
        }
        _ => curve.values.iter().all(same),
    }
}

/// Adds a static joint, or two for a matrix with shear; returns the index of the last.
fn still(joints: &mut Vec<Joint>, place: NodeOffset) -> usize {
    let (rest, turn) = affine::decompose(&place.below);
    joints.push(Joint { parent: place.joint, rest, motion: JointMotion::Still });
    if let Some(rotation) = turn {
        let (parent, rest) = (Some(joints.len() - 1), Trs { rotation, ..Trs::IDENTITY });
        joints.push(Joint { parent, rest, motion: JointMotion::Still });
    }
    joints.len() - 1
}

/// Sorts joints, which are listed after their parents, by depth.
fn by_depth(joints: Vec<Joint>, mut bones: Vec<BoneBinding>) -> Skeleton {
    let mut depths: Vec<usize> = Vec::with_capacity(joints.len());
    for joint in &joints {
        depths.push(joint.parent.map_or(0, |p| depths[p] + 1));
    }
    let mut sorted: Vec<usize> = (0..joints.len()).collect();
    sorted.sort_by_key(|&i| (depths[i], i));
    let mut places = vec![0; joints.len()];
    sorted.iter().enumerate().for_each(|(place, &i)| places[i] = place);
    bones.iter_mut().for_each(|b| b.joint = places[b.joint]);
    let joints = sorted.iter().map(|&i| Joint { parent: joints[i].parent.map(|p| places[p]), ..joints[i].clone() });
    Skeleton { joints: joints.collect(), bones }
}

impl Similarity {
    /// Returns the similarity composed with a transform, which is applied first.
    fn of(&self, trs: &Trs) -> Trs {
        Trs {
            translation: self.translation + self.rotation * (trs.translation * self.scale),
            rotation: self.rotation * trs.rotation,
            scale: trs.scale * self.scale,
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) use tests::awkward;
