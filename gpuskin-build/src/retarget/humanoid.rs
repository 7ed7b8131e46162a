//! Nodes of a file that are the bones of a humanoid. Limbs are found by their names in the conventions of common
//! tools, the spine by the hierarchy: it leads from the hips to the node where the arms begin.

use std::collections::BTreeMap;

use super::bone::{FINGER_BONES, Finger, HumanBone, Side};
use super::names::BoneWords;
use crate::model::Node;

/// Use of a node in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    /// Joint of a skin. In a file without skins, any node without a mesh.
    Bone,
    /// Node with a mesh that is no joint.
    Mesh,
    /// Any other node.
    Other,
}

/// Nodes of a skeleton by humanoid bone.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Humanoid(BTreeMap<HumanBone, usize>);

impl Humanoid {
    /// Returns the node of a bone.
    pub(crate) fn get(&self, bone: HumanBone) -> Option<usize> {
        self.0.get(&bone).copied()
    }

    /// Iterates over bones and their nodes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (HumanBone, usize)> + '_ {
        self.0.iter().map(|(bone, node)| (*bone, *node))
    }

    /// Returns the nodes of bones, each with the node of the bone that it hangs on. Feet hang on their legs, also where
    /// the nodes do not.
    pub(crate) fn lines(&self, nodes: &[Node]) -> Vec<[usize; 2]> {
        let above = |bone: HumanBone, node: usize| match bone {
            HumanBone::Foot(side) => self.get(HumanBone::LowerLeg(side)),
            _ => std::iter::successors(nodes[node].parent, |&node| nodes[node].parent)
                .find(|above| self.0.values().any(|of_bone| of_bone == above)),
        };
        self.iter().filter_map(|(bone, node)| Some([node, above(bone, node)?])).collect()
    }

    /// Returns the bones that retargeting needs and the skeleton lacks.
    pub(crate) fn missing(&self) -> Vec<HumanBone> {
        HumanBone::all().filter(|bone| bone.is_required() && !self.0.contains_key(bone)).collect()
    }

    /// Finds the bones of a skeleton. `order`: indices of all nodes, parents before their children. `kinds`: by node.
    /// `given`: bones whose nodes are known.
    pub(crate) fn find(nodes: &[Node], order: &[usize], kinds: &[NodeKind], given: &[(HumanBone, usize)]) -> Self {
        let words = nodes.iter().map(|node| BoneWords::new(&node.name)).collect();
        let mut finder = Finder { tree: Tree::new(nodes, order), words, kinds, found: given.iter().copied().collect() };
        Side::BOTH.into_iter().for_each(|side| finder.limbs(side));
        finder.head();
        finder.hips();
        finder.spine();
        Side::BOTH.into_iter().for_each(|side| finder.fingers(side));
        Self(finder.found)
    }
}

/// Node hierarchy that answers in constant time whether a node is below another.
struct Tree<'a> {
    nodes: &'a [Node],
    /// Number of ancestors. `[node]`
    depth: Vec<usize>,
    /// Position in depth-first order, in which all nodes below a node follow it. `[node]`
    place: Vec<usize>,
    /// Number of nodes at and below the node. `[node]`
    size: Vec<usize>,
}

impl<'a> Tree<'a> {
    /// `order`: indices of all nodes, parents before their children.
    fn new(nodes: &'a [Node], order: &[usize]) -> Self {
        let mut size = vec![1; nodes.len()];
        for &node in order.iter().rev() {
            if let Some(parent) = nodes[node].parent {
                size[parent] += size[node];
            }
        }
        let (mut depth, mut place) = (vec![0; nodes.len()], vec![0; nodes.len()]);
        // Position of the next child. `[node]`
        let (mut next, mut next_root) = (vec![0; nodes.len()], 0);
        for &node in order {
            let slot = match nodes[node].parent {
                Some(parent) => {
                    depth[node] = depth[parent] + 1;
                    &mut next[parent]
                }
                None => &mut next_root,
            };
            place[node] = *slot;
            *slot += size[node];
            next[node] = place[node] + 1;
        }
        Self { nodes, depth, place, size }
    }

    /// Iterates over a node and its ancestors.
    fn upwards(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(node), |&node| self.nodes[node].parent)
    }

    fn is_below(&self, node: usize, ancestor: usize) -> bool {
        let first = self.place[ancestor];
        (first + 1..first + self.size[ancestor]).contains(&self.place[node])
    }

    /// Returns the deepest node at or above all of the nodes.
    fn common(&self, nodes: &[usize]) -> Option<usize> {
        let (first, rest) = nodes.split_first()?;
        self.upwards(*first).find(|&above| rest.iter().all(|&node| node == above || self.is_below(node, above)))
    }

    /// Returns the nodes below an ancestor, down to a node, the topmost first.
    fn path(&self, ancestor: usize, node: usize) -> Vec<usize> {
        let mut path: Vec<usize> = self.upwards(node).take_while(|&above| above != ancestor).collect();
        path.reverse();
        path
    }
}

struct Finder<'a> {
    tree: Tree<'a>,
    /// Words of the names. `[node]`
    words: Vec<BoneWords>,
    kinds: &'a [NodeKind],
    found: BTreeMap<HumanBone, usize>,
}

impl Finder<'_> {
    /// Finds a bone by the first of the words that names a node which passes a test; of several nodes, the
    /// topmost.
    fn name(&mut self, bone: HumanBone, side: Option<Side>, words: &[&str], test: impl Fn(&Tree<'_>, usize) -> bool) {
        if self.found.contains_key(&bone) {
            return;
        }
        let is_taken = |node: usize| self.found.values().any(|taken| *taken == node);
        let named = |exact: bool| {
            words.iter().find_map(|word| {
                let fits = |&node: &usize| {
                    let found = &self.words[node];
                    let same = if exact { found.word == *word } else { found.word_without_digits() == *word };
                    self.kinds[node] == NodeKind::Bone
                        && found.side == side
                        && same
                        && !is_taken(node)
                        && test(&self.tree, node)
                };
                (0..self.words.len()).filter(fits).min_by_key(|&node| (self.tree.depth[node], node))
            })
        };
        if let Some(node) = named(true).or_else(|| named(false)) {
            self.found.insert(bone, node);
        }
    }

    fn limbs(&mut self, side: Side) {
        use HumanBone::*;
        let below = |above: Option<usize>| move |tree: &Tree<'_>, node| above.is_some_and(|a| tree.is_below(node, a));
        let get = |finder: &Self, bone| finder.found.get(&bone).copied();
        let side_of = Some(side);
        self.name(UpperLeg(side), side_of, &["upperleg", "upleg", "thigh", "thighbend", "hip"], |_, _| true);
        let upper_leg = get(self, UpperLeg(side));
        self.name(
            LowerLeg(side),
            side_of,
            &["lowerleg", "loleg", "calf", "shin", "shinbend", "knee", "leg"],
            below(upper_leg),
        );
        let lower_leg = get(self, LowerLeg(side));
        self.name(Foot(side), side_of, &["foot", "ankle"], below(lower_leg));
        // Rigs with inverse kinematics often export feet that do not hang on the leg.
        self.name(Foot(side), side_of, &["foot", "ankle"], |_, _| true);
        let foot = get(self, Foot(side));
        self.name(Toes(side), side_of, &["toes", "toe", "toebase", "ball"], below(foot));
        if let (Some(foot), None) = (foot, get(self, Toes(side))) {
            let is_child =
                |&node: &usize| self.tree.nodes[node].parent == Some(foot) && self.kinds[node] != NodeKind::Mesh;
            let mut children = (0..self.words.len()).filter(is_child);
            if let (Some(only), None) = (children.next(), children.next()) {
                self.found.insert(Toes(side), only);
            }
        }
        self.name(UpperArm(side), side_of, &["upperarm", "uparm", "shldr", "shldrbend", "arm"], |_, _| true);
        let elbow = (0..self.words.len()).find(|&node| {
            let words = &self.words[node];
            words.side == side_of && ["elbow", "lowerarm", "forearm"].contains(&&*words.word)
        });
        // Rigs that name joints instead of bones: the shoulder is where the upper arm begins.
        self.name(UpperArm(side), side_of, &["shoulder"], |tree, node| elbow.is_some_and(|e| tree.is_below(e, node)));
        let upper_arm = get(self, UpperArm(side));
        self.name(LowerArm(side), side_of, &["lowerarm", "loarm", "forearm", "forearmbend", "elbow"], below(upper_arm));
        let lower_arm = get(self, LowerArm(side));
        self.name(Hand(side), side_of, &["hand", "wrist", "palm", "fist"], below(lower_arm));
        self.name(Shoulder(side), side_of, &["shoulder", "clavicle", "collar", "collarbone"], |tree, node| {
            upper_arm.is_some_and(|arm| tree.is_below(arm, node))
        });
    }

    fn head(&mut self) {
        // The head of Rigify's deform bones is the last bone of the spine.
        self.name(HumanBone::Head, None, &["head", "spine6"], |_, _| true);
    }

    fn hips(&mut self) {
        let legs = Side::BOTH.map(|side| self.found.get(&HumanBone::UpperLeg(side)).copied());
        let [Some(left), Some(right)] = legs else { return };
        let mut ends = vec![left, right];
        ends.extend(self.found.get(&HumanBone::Head).or(self.found.get(&HumanBone::UpperArm(Side::Left))));
        let carries = |tree: &Tree<'_>, node: usize| ends.iter().all(|&end| tree.is_below(end, node));
        self.name(HumanBone::Hips, None, &["hips", "pelvis", "hip"], carries);
        if let Some(node) = self.tree.common(&ends).filter(|node| !ends.contains(node)) {
            self.found.entry(HumanBone::Hips).or_insert(node);
        }
    }

    /// Finds the spine: the path from the hips to the node where the arms begin, and the neck above it.
    fn spine(&mut self) {
        let get = |bone| self.found.get(&bone).copied();
        let Some(hips) = get(HumanBone::Hips) else { return };
        let arms = Side::BOTH.map(|side| get(HumanBone::Shoulder(side)).or(get(HumanBone::UpperArm(side))));
        let head = get(HumanBone::Head);
        let ends: Vec<usize> = arms.into_iter().chain([head]).flatten().collect();
        let Some(top) = self.tree.common(&ends).filter(|&top| self.tree.is_below(top, hips)) else { return };
        let path = self.tree.path(hips, top);
        let last = path.len() - 1;
        let spine: &[(HumanBone, usize)] = match last {
            0 => &[(HumanBone::Spine, 0)],
            1 => &[(HumanBone::Spine, 0), (HumanBone::Chest, 1)],
            _ => &[(HumanBone::Spine, 0), (HumanBone::Chest, last / 2), (HumanBone::UpperChest, last)],
        };
        let neck = head.filter(|&head| self.tree.is_below(head, top)).map(|head| self.tree.path(top, head)[0]);
        for (bone, at) in spine {
            self.found.entry(*bone).or_insert(path[*at]);
        }
        if let Some(neck) = neck.filter(|neck| Some(*neck) != head) {
            self.found.entry(HumanBone::Neck).or_insert(neck);
        }
    }

    /// Finds the fingers below a hand, whatever side their names have.
    fn fingers(&mut self, side: Side) {
        let Some(hand) = self.found.get(&HumanBone::Hand(side)).copied() else { return };
        for finger in Finger::ALL {
            let named = |&node: &usize| self.words[node].finger == Some(finger) && self.kinds[node] == NodeKind::Bone;
            let mut bones: Vec<(usize, usize)> = (0..self.words.len())
                .filter(named)
                .filter(|&node| self.tree.is_below(node, hand))
                .map(|node| (self.tree.depth[node], node))
                .collect();
            bones.sort_unstable();
            bones.dedup_by_key(|(depth, _)| *depth);
            for (i, (_, node)) in (0..FINGER_BONES).zip(bones) {
                self.found.entry(HumanBone::Finger(side, finger, i)).or_insert(node);
            }
        }
    }
}
