//! Roles of nodes (hand, foot, head, ...), from their names, and the directions that they imply.

use glam::DVec3;

use crate::identifier_case::snake;
use crate::import::FileOutline;
use crate::model::Model;
use crate::sample::Sampler;

/// Body part that a node represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Head,
    Spine,
    Hips,
    Hand,
    /// Node made for holding things, such as `handslot.r`.
    HandSlot,
    Arm,
    Leg,
    Foot,
    Toe,
}

/// Side of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

impl Role {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Spine => "spine",
            Self::Hips => "hips",
            Self::Hand => "hand",
            Self::HandSlot => "hand slot",
            Self::Arm => "arm",
            Self::Leg => "leg",
            Self::Foot => "foot",
            Self::Toe => "toe",
        }
    }
}

/// Words of nodes that control a limb or end it, but are not part of it.
const HELPERS: [&str; 22] = [
    "ik", "pole", "target", "control", "ctrl", "twist", "thumb", "index", "middle", "ring", "pinky", "finger",
    "fingers", "tip", "tips", "top", "nub", "helper", "end", "heel", "elbow", "knee",
];
const HEAD: &[&str] = &["head"];
const SPINE: &[&str] = &["spine", "abdomen", "torso", "chest", "waist"];
const HIPS: &[&str] = &["hips", "hip", "pelvis"];
const HAND: &[&str] = &["hand", "palm", "wrist", "fist"];
const HAND_SLOT: &[&str] = &["handslot", "handsocket"];
const ARM: &[&str] = &["upperarm", "shoulder", "arm", "clavicle"];
const LEG: &[&str] = &["upperleg", "upleg", "thigh", "leg"];
const FOOT: &[&str] = &["foot", "ankle"];
const TOE: &[&str] = &["toe", "toes", "toebase", "ball"];

/// Roles of the nodes of a scene, and their positions in the rest pose.
#[derive(Debug, Default)]
pub(super) struct Rig {
    /// `[node]`
    pub roles: Vec<Option<(Role, Option<Side>)>>,
    /// Position in the rest pose, in units of the file; empty without a model. `[node]`
    positions: Vec<DVec3>,
    parents: Vec<Option<usize>>,
    /// Number of ancestors. `[node]`
    depths: Vec<usize>,
    /// Whether a bone moves at or below the node. `[node]`
    pub has_bones: Vec<bool>,
}

impl Rig {
    pub(super) fn new(outline: &FileOutline, model: Option<&Model>) -> Self {
        let nodes = &outline.nodes;
        let parents: Vec<Option<usize>> = nodes.iter().map(|node| node.parent).collect();
        let mut roles: Vec<_> = nodes
            .iter()
            .map(|node| {
                // A skinned mesh is drawn by its joints: the transform of its node has no effect.
                let named =
                    node.name.as_deref().filter(|_| node.in_scene && !node.skinned && (node.joint || !node.mesh));
                named.and_then(role)
            })
            .collect();
        // Blender ends chains with `Foot.L_end`, which is where the foot points.
        for (i, node) in nodes.iter().enumerate() {
            let Some((Role::Foot, side)) = parents[i].and_then(|parent| roles[parent]) else { continue };
            let is_end = node.name.as_deref().is_some_and(|name| name.ends_with("_end"));
            if is_end && node.in_scene {
                roles[i] = Some((Role::Toe, side));
            }
        }
        let mut depths = vec![0; nodes.len()];
        let mut has_bones = vec![false; nodes.len()];
        let mut positions = Vec::new();
        if let Some(model) = model {
            positions = Sampler::new(model, None).globals(0.0).iter().map(|m| m.w_axis.truncate()).collect();
            // Nodes of the file, without those that have weights of morph targets.
            let placed = model.order.iter().filter(|node| !model.has_weights(**node));
            for &node in placed.clone() {
                depths[node] = parents[node].map_or(0, |parent| depths[parent] + 1);
            }
            let bones = model.bones.iter().filter(|bone| !model.has_weights(bone.node));
            bones.for_each(|bone| has_bones[bone.node] = true);
            for &node in placed.rev() {
                if let (true, Some(parent)) = (has_bones[node], parents[node]) {
                    has_bones[parent] = true;
                }
            }
        }
        Self { roles, positions, parents, depths, has_bones }
    }

    /// Returns the nodes with a role on a side, those with the fewest ancestors first. `None` for
    /// the side accepts any.
    pub(super) fn with_role(&self, role: Role, side: Option<Side>) -> Vec<usize> {
        let is = |&i: &usize| self.roles[i].is_some_and(|(r, s)| r == role && (side.is_none() || s == side));
        let mut nodes: Vec<usize> = (0..self.roles.len()).filter(is).collect();
        nodes.sort_by_key(|&i| (self.depths[i], i));
        nodes
    }

    /// Whether `node` is `ancestor` or below it.
    pub(super) fn is_under(&self, node: usize, ancestor: usize) -> bool {
        std::iter::successors(Some(node), |&n| self.parents[n]).any(|n| n == ancestor)
    }

    /// Whether it has a head, two arms and two legs, and its head is above its hips.
    pub(super) fn is_biped(&self, up: DVec3) -> bool {
        let both = |roles: &[Role]| {
            [Side::Left, Side::Right]
                .iter()
                .all(|side| roles.iter().any(|role| !self.with_role(*role, Some(*side)).is_empty()))
        };
        let upright = self.between(Role::Hips, Role::Head).or(self.between(Role::Foot, Role::Head));
        let upright = upright.is_some_and(|v| v.dot(up) > 0.7 * v.length());
        upright && both(&[Role::Hand, Role::HandSlot, Role::Arm]) && both(&[Role::Leg, Role::Foot])
    }

    /// Returns the axis along which the legs stand, from the feet to the hips; `None` without
    /// named feet and hips, or if it is not along an axis.
    pub(super) fn up(&self) -> Option<DVec3> {
        let legs = self.between(Role::Foot, Role::Hips).or_else(|| self.between(Role::Foot, Role::Leg))?;
        let length = legs.length();
        let axes = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::NEG_X, DVec3::NEG_Y, DVec3::NEG_Z];
        axes.into_iter().find(|axis| legs.dot(*axis) > 0.8 * length)
    }

    /// Returns the horizontal unit direction from ankles to toes.
    pub(super) fn toes(&self, up: DVec3) -> Option<DVec3> {
        let mut sum = DVec3::ZERO;
        for side in [Some(Side::Left), Some(Side::Right)] {
            let foot = self.with_role(Role::Foot, side).first().copied();
            let toe = self.with_role(Role::Toe, side).first().copied();
            if let (Some(foot), Some(toe)) = (foot, toe) {
                sum += self.position(toe)? - self.position(foot)?;
            }
        }
        horizontal(sum, up)
    }

    /// Returns the horizontal unit direction in which the model looks if its left is on its left.
    pub(super) fn facing_by_sides(&self, up: DVec3) -> Option<DVec3> {
        let mut left = DVec3::ZERO;
        for role in [Role::Hand, Role::Arm, Role::Leg, Role::Foot] {
            let l = self.with_role(role, Some(Side::Left)).first().copied();
            let r = self.with_role(role, Some(Side::Right)).first().copied();
            if let (Some(l), Some(r)) = (l, r) {
                left += self.position(l)? - self.position(r)?;
            }
        }
        horizontal(left.cross(up), up)
    }

    /// Returns the vector between the mean positions of two roles.
    fn between(&self, from: Role, to: Role) -> Option<DVec3> {
        let vector = self.mean(to)? - self.mean(from)?;
        (vector.length() > 0.0 && vector.is_finite()).then_some(vector)
    }

    /// Returns the mean position of the topmost nodes with a role, one per side.
    fn mean(&self, role: Role) -> Option<DVec3> {
        let mut nodes: Vec<usize> = [Side::Left, Side::Right]
            .iter()
            .filter_map(|side| self.with_role(role, Some(*side)).first().copied())
            .collect();
        if nodes.is_empty() {
            nodes.extend(self.with_role(role, None).first());
        }
        let sum = nodes.iter().map(|&node| self.position(node)).sum::<Option<DVec3>>()?;
        (!nodes.is_empty()).then(|| sum / nodes.len() as f64)
    }

    fn position(&self, node: usize) -> Option<DVec3> {
        self.positions.get(node).copied().filter(|p| p.is_finite())
    }
}

fn horizontal(v: DVec3, up: DVec3) -> Option<DVec3> {
    (v - up * v.dot(up)).try_normalize()
}

/// Returns the role that a node's name suggests: `mixamorig:LeftHand`, `Hand.L`, `b_LeftHand_011`.
pub(super) fn role(name: &str) -> Option<(Role, Option<Side>)> {
    let name = name.rsplit([':', '|']).next().unwrap_or(name);
    if name.len() > 128 {
        return None;
    }
    let snake = snake(name);
    let mut side = None;
    let mut words = Vec::new();
    for word in snake.split('_') {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let (found, rest) = match word {
            "l" | "left" => (Some(Side::Left), ""),
            "r" | "right" => (Some(Side::Right), ""),
            _ => match (word.strip_prefix("left"), word.strip_prefix("right")) {
                (Some(rest), _) => (Some(Side::Left), rest),
                (_, Some(rest)) => (Some(Side::Right), rest),
                _ => (None, word),
            },
        };
        side = found.or(side);
        if !rest.is_empty() {
            words.push(rest);
        }
    }
    if words.iter().any(|word| HELPERS.contains(word)) {
        return None;
    }
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let lower = has(&["lower", "fore", "lowerarm", "forearm", "lowerleg", "shin", "calf"]);
    let slot = has(HAND_SLOT) || (has(HAND) && has(&["slot", "socket", "attach", "weapon", "holder"]));
    let role = match side {
        Some(_) if slot => Role::HandSlot,
        Some(_) if has(HAND) => Role::Hand,
        Some(_) if has(TOE) => Role::Toe,
        Some(_) if has(FOOT) => Role::Foot,
        Some(_) if has(LEG) && !lower => Role::Leg,
        Some(_) if has(ARM) && !lower => Role::Arm,
        None if has(HEAD) => Role::Head,
        None if has(SPINE) => Role::Spine,
        None if has(HIPS) => Role::Hips,
        _ => return None,
    };
    Some((role, side))
}
