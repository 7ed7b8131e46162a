//! `Model -> Skeleton`: the joints that clips move, parents before children, and what stands still folded into them.
//!
//! A chain of nodes that no clip moves is one constant matrix. Where it turns, moves and scales evenly, it goes into the
//! tracks of the joints below: `C * T(t) R(q) S(s) = T(C t) R(c q) S(|C| s)`, and interpolation commutes with all three. What
//! stands below the last joint goes into the inverse bind matrices. Only an uneven scale or a shear above a joint needs
//! joints of its own.

use glam::{DMat4, DQuat, DVec4};

use super::affine::{self, Similarity};
use crate::model::{Clip, Curve, Interpolation, Local, Mask, Model, Property, Trs};
use crate::sample::{evaluate, matrix};

/// What the palette pass composes.
#[derive(Clone, Debug)]
pub(super) struct Skeleton {
    /// By how far they are from a root.
    pub(super) joints: Vec<Joint>,
    /// In the order of the model's bones.
    pub(super) bones: Vec<BoneBinding>,
}

/// A node of the hierarchy as the runtime has it.
#[derive(Clone, Debug)]
pub(super) struct Joint {
    /// Index of its parent, which stands before it.
    pub(super) parent: Option<usize>,
    /// Its transform where no clip moves it.
    pub(super) rest: Trs,
    motion: JointMotion,
}

#[derive(Clone, Copy, Debug)]
enum JointMotion {
    /// No clip moves it.
    Still,
    /// It moves as a node of the model does, below a constant.
    Follows { node: usize, above: Similarity },
    /// The second half of a node's matrix with shear: clips that move the node replace the matrix, and this goes away.
    Turned { node: usize },
}

/// A bone by its joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoneBinding {
    /// Index of the joint.
    pub(super) joint: usize,
    /// From the mesh as modelled to the joint's space.
    pub(super) inverse_bind: DMat4,
}

/// Where a node of the model is: a constant below a joint.
#[derive(Clone, Copy)]
struct NodeOffset {
    joint: Option<usize>,
    below: DMat4,
}

/// Longest chain that the palette pass composes at once, without links.
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
        for &node in model.order.iter().filter(|n| needed[**n]) {
            let parent = model.nodes[node].parent;
            let mut place = parent.map_or(root, |p| places[p]);
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
        // What no joint moves hangs on one that stands at the origin.
        let mut origin = None;
        let bones = model.bones.iter().map(|bone| {
            let place = places[bone.node];
            let joint = place.joint.unwrap_or_else(|| {
                *origin.get_or_insert_with(|| still(&mut joints, NodeOffset { joint: None, below: DMat4::IDENTITY }))
            });
            BoneBinding { joint, inverse_bind: place.below * bone.inverse_bind }
        });
        let bones = bones.collect();
        by_depth(joints, bones)
    }

    /// Every joint's transform to its parent at a time of a clip in seconds. `root`: a rotation and a translation that all of
    /// the model is moved by.
    pub(super) fn pose(&self, model: &Model, curves: &ClipCurves<'_>, root: Option<&DMat4>, time: f64) -> Vec<Trs> {
        let root = root.and_then(affine::similarity);
        let own = |joint: &Joint| match (&root, joint.parent) {
            (Some(root), None) => root.of(&joint.at(model, curves, time)),
            _ => joint.at(model, curves, time),
        };
        self.joints.iter().map(own).collect()
    }

    /// Whether a joint is in a mask: what a constant chain has for itself never moves.
    pub(super) fn is_in(&self, joint: usize, mask: &Mask) -> bool {
        match self.joints[joint].motion {
            JointMotion::Still => false,
            JointMotion::Follows { node, .. } | JointMotion::Turned { node } => mask.nodes[node],
        }
    }

    /// Every joint's matrix to the model.
    pub(super) fn globals(&self, locals: impl Iterator<Item = Trs>) -> Vec<DMat4> {
        let mut globals: Vec<DMat4> = Vec::with_capacity(self.joints.len());
        for (joint, local) in self.joints.iter().zip(locals) {
            let own = matrix(&Local::Trs(local));
            globals.push(joint.parent.map_or(own, |p| globals[p] * own));
        }
        globals
    }

    /// A joint, its parent, and so on up to a root.
    pub(super) fn chain(&self, joint: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(joint), |&joint| self.joints[joint].parent)
    }

    /// Joints of a link: as many as there are links in the longest chain, since both are composed one after the other.
    pub(super) fn link(&self) -> usize {
        let longest = self.joints.len().checked_sub(1).map_or(0, |last| self.chain(last).count());
        if longest <= SHORT { 1 } else { longest.isqrt() }
    }
}

impl Joint {
    fn at(&self, model: &Model, curves: &ClipCurves<'_>, time: f64) -> Trs {
        let (node, above) = match self.motion {
            JointMotion::Still => return self.rest,
            JointMotion::Turned { node } if curves.0[node].iter().all(Option::is_none) => return self.rest,
            JointMotion::Turned { .. } => return Trs::IDENTITY,
            JointMotion::Follows { node, above } => (node, above),
        };
        let [translation, rotation, scale] = curves.0[node];
        if translation.is_none() && rotation.is_none() && scale.is_none() {
            return self.rest;
        }
        // As `Sampler` reads it: a curve replaces a matrix.
        let rest = match model.nodes[node].local {
            Local::Trs(trs) => trs,
            Local::Matrix(_) => Trs::IDENTITY,
        };
        above.of(&Trs {
            translation: translation.map_or(rest.translation, |c| evaluate(c, Property::Translation, time).truncate()),
            rotation: rotation.map_or(rest.rotation, |c| DQuat::from_vec4(evaluate(c, Property::Rotation, time))),
            scale: scale.map_or(rest.scale, |c| evaluate(c, Property::Scale, time).truncate()),
        })
    }
}

/// The curves of a clip, by node: translation, rotation, scale.
pub(super) struct ClipCurves<'a>(Vec<[Option<&'a Curve>; 3]>);

impl<'a> ClipCurves<'a> {
    pub(super) fn new(model: &Model, clip: &'a Clip) -> Self {
        let mut curves = vec![[None; 3]; model.nodes.len()];
        for channel in &clip.channels {
            curves[channel.node][channel.property as usize] = Some(&channel.curve);
        }
        Self(curves)
    }
}

/// Which nodes a clip moves away from where they rest.
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

/// Rounding of `f32`, in which files have both keys and rest.
const SAME: f64 = 1e-7;

/// Whether a curve never leaves the rest.
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
            curve.values.chunks_exact(3).all(|k| k[0] == DVec4::ZERO && same(&k[1]) && k[2] == DVec4::ZERO)
        }
        _ => curve.values.iter().all(same),
    }
}

/// Adds what stands still as joints: one, or two where it shears.
fn still(joints: &mut Vec<Joint>, place: NodeOffset) -> usize {
    let (rest, turn) = affine::decompose(&place.below);
    joints.push(Joint { parent: place.joint, rest, motion: JointMotion::Still });
    if let Some(rotation) = turn {
        let (parent, rest) = (Some(joints.len() - 1), Trs { rotation, ..Trs::IDENTITY });
        joints.push(Joint { parent, rest, motion: JointMotion::Still });
    }
    joints.len() - 1
}

/// Sorts joints, which stand after their parents, by how far they are from a root.
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
    /// This after a transform.
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
