//! One list of bones for all skins and rigid meshes.

use std::collections::BTreeMap;

use glam::{DMat3, DMat4, DVec3};
use gltf::json::accessor::Type as Shape;
use gltf::json::{self, Index};

use super::accessor::Allowed;
use super::file::File;
use super::hierarchy::{Hierarchy, affine, matrix};
use super::mesh::{Draft, Motion};
use super::report::Report;
use crate::finding::{Code, Finding, Label};
use crate::model::{Bone, Node, Primitive};
use crate::suggest::quoted;

/// Vertices go through the inverse of an inverse bind matrix only when it loses no more than three of the sixteen digits
/// of `f64`, and of the seven that are stored.
const MAX_CONDITION: f64 = 1e3;

/// Takes a mirror out of a bone.
const MIRROR: DVec3 = DVec3::new(-1.0, 1.0, 1.0);

/// A joint that no vertex uses yet.
const UNUSED: u32 = u32::MAX;

/// A skin and which of its joints are bones.
pub(super) struct Skin {
    label: Label,
    joints: Vec<usize>,
    inverse_bind: Vec<DMat4>,
    bones: Vec<u32>,
}

impl Skin {
    pub(super) fn read(file: &File<'_>, index: Index<json::Skin>) -> Result<Self, Finding> {
        let within = |finding: Finding| finding.within(format_args!("skin {index}"));
        let skin = file.get(&file.document.skins, index, "skin")?;
        let joints: Vec<usize> = skin.joints.iter().map(|j| j.value()).collect();
        if joints.is_empty() {
            return Err(within(Finding::error(Code::SkinInvalid, "it has no joints")));
        }
        let nodes = file.document.nodes.len();
        if let Some(joint) = joints.iter().find(|j| **j >= nodes) {
            return Err(within(Finding::error(
                Code::GltfIndex,
                format!("its joint {joint} is no node; the file has {nodes}"),
            )));
        }
        let inverse_bind = match skin.inverse_bind_matrices {
            None => vec![DMat4::IDENTITY; joints.len()],
            Some(accessor) => {
                let numbers = file.finite(accessor, Shape::Mat4, Allowed::Float);
                let numbers = numbers.map_err(|e| within(e.within("inverse bind matrices")))?;
                if numbers.len() < joints.len() * 16 {
                    let (have, need) = (numbers.len() / 16, joints.len());
                    let message = format!("it has {have} inverse bind matrices for {need} joints");
                    return Err(within(Finding::error(Code::SkinInvalid, message)));
                }
                numbers.chunks_exact(16).take(joints.len()).map(DMat4::from_cols_slice).collect()
            }
        };
        let bones = vec![UNUSED; joints.len()];
        let label = Label::file(&file.shown).then(format_args!("skin {index}"));
        let label = match skin.inverse_bind_matrices {
            None => label,
            Some(accessor) => label.then("inverse bind matrices").then(Label::accessor(accessor.value())),
        };
        Ok(Self { label, joints, inverse_bind, bones })
    }

    /// Says which of the matrices in use are odd.
    pub(super) fn warn(&self, nodes: &[Node], report: &mut Report<'_>) {
        for (joint, m) in self.inverse_bind.iter().enumerate().filter(|(joint, _)| self.bones[*joint] != UNUSED) {
            let mut warn = |message: &str| {
                let joint = format!("element {joint}, for joint {}", quoted(&nodes[self.joints[joint]].name));
                report.warn(Finding::warning(Code::Affine3, message).within(joint).within(&self.label));
            };
            if affine(*m).1 {
                warn("its last row is not 0 0 0 1: taken as if it were");
            }
            if m.determinant() == 0.0 {
                warn("it is singular: what the joint moves is flattened, as the file has it");
            }
        }
    }

    /// Number of joints.
    pub(super) fn len(&self) -> usize {
        self.joints.len()
    }

    /// The bone of a joint; it becomes one when it is first used.
    pub(super) fn bone(&mut self, joint: usize, bones: &mut Bones) -> u32 {
        if self.bones[joint] == UNUSED {
            self.bones[joint] = bones.add(self.joints[joint], affine(self.inverse_bind[joint]).0);
        }
        self.bones[joint]
    }
}

/// Bones in the order in which they are first used.
#[derive(Default)]
pub(super) struct Bones {
    by_key: BTreeMap<(usize, [u64; 16]), u32>,
    by_node: BTreeMap<usize, Vec<u32>>,
    list: Vec<(usize, DMat4)>,
    /// Nodes that have a bone though nothing hangs on them.
    pub(super) sockets: Vec<usize>,
}

/// How a rigid mesh moves.
#[derive(Clone, Copy)]
struct Binding {
    bone: u32,
    /// From the mesh to the space that the bone's inverse bind matrix starts from.
    transform: DMat4,
}

impl Bones {
    /// The bone of a node with an inverse bind matrix.
    fn add(&mut self, node: usize, inverse_bind: DMat4) -> u32 {
        // Adding zero makes -0.0 and 0.0 one key.
        let key = (node, inverse_bind.to_cols_array().map(|x| (x + 0.0).to_bits()));
        *self.by_key.entry(key).or_insert_with(|| {
            self.list.push((node, inverse_bind));
            let bone = self.list.len() as u32 - 1;
            self.by_node.entry(node).or_default().push(bone);
            bone
        })
    }

    /// Binds the rigid meshes. Each moves with the nearest node at or above its own that a clip moves; all
    /// that no clip moves share one bone.
    pub(super) fn bind_rigid(&mut self, hierarchy: &Hierarchy, moved: &[bool], drafts: &mut [Draft]) {
        // For each node: the nearest moved one, and the way there.
        let mut carriers = vec![(None, DMat4::IDENTITY); moved.len()];
        for &i in &hierarchy.order {
            carriers[i] = match (moved[i], hierarchy.nodes[i].parent) {
                (true, _) => (Some(i), DMat4::IDENTITY),
                (false, Some(p)) => {
                    let (carrier, way): (Option<usize>, DMat4) = carriers[p];
                    (carrier, way * matrix(&hierarchy.nodes[i].local))
                }
                (false, None) => (None, DMat4::IDENTITY),
            };
        }
        let rigid = drafts.iter().filter(|draft| matches!(draft.motion, Motion::Rigid(_)));
        let mut still: Vec<usize> = rigid.map(|d| d.primitive.node).filter(|i| carriers[*i].0.is_none()).collect();
        still.dedup();
        let shared = if still.len() > 1 { anchor(hierarchy, still[0]) } else { None };
        let mut bindings: BTreeMap<usize, Binding> = BTreeMap::new();
        for Draft { primitive, motion } in drafts {
            let Motion::Rigid(bone) = motion else { continue };
            let node = primitive.node;
            let binding = *bindings.entry(node).or_insert_with(|| match (carriers[node], shared) {
                ((Some(carrier), way), _) => self.bind(hierarchy, carrier, way),
                ((None, _), Some((anchor, inverse_bind))) => {
                    Binding { bone: self.add(anchor, inverse_bind), transform: hierarchy.rest[node] }
                }
                ((None, _), None) => self.bind(hierarchy, node, DMat4::IDENTITY),
            });
            *bone = binding.bone;
            transform(primitive, binding.transform);
        }
    }

    /// Binds to a node: to the bone that it is in a skin, where vertices can go into that bone's space without loss, or to
    /// one with an identity as its inverse bind matrix.
    fn bind(&mut self, hierarchy: &Hierarchy, carrier: usize, way: DMat4) -> Binding {
        let rest = hierarchy.rest[carrier];
        for &bone in self.by_node.get(&carrier).into_iter().flatten() {
            let inverse_bind = self.list[bone as usize].1;
            let mirrors = (rest * inverse_bind).determinant() <= 0.0;
            if let (false, Some(inverse)) = (mirrors, inverse(inverse_bind)) {
                return Binding { bone, transform: inverse * way };
            }
        }
        // A node that mirrors would turn triangles inside out when it is drawn, and no rotation and scale would stand for
        // its matrix: the vertices are mirrored instead, once.
        let flip = if rest.determinant() < 0.0 { MIRROR } else { DVec3::ONE };
        let flip = DMat4::from_scale(flip);
        Binding { bone: self.add(carrier, flip), transform: flip * way }
    }

    /// Mirrors the skinned meshes that all their joints mirror, once, and their inverse bind matrices with them: drawn as they
    /// are, they would be seen from inside. glTF turns the winding for nodes that mirror; what moves a skinned mesh are its
    /// joints.
    pub(super) fn unmirror(
        &mut self,
        hierarchy: &Hierarchy,
        drafts: &mut [Draft],
        label: impl Fn(usize) -> Label,
        report: &mut Report<'_>,
    ) {
        let flip = DMat4::from_scale(MIRROR);
        let determinant = |(node, inverse_bind): &(usize, DMat4)| (hierarchy.rest[*node] * *inverse_bind).determinant();
        let mirrors: Vec<bool> = self.list.iter().map(|bone| determinant(bone) < 0.0).collect();
        let mut unmirrored = vec![None; mirrors.len()];
        for draft in drafts {
            let Motion::Skinned(weights) = &mut draft.motion else { continue };
            let mirrored = weights.bones().filter(|bone| mirrors[*bone as usize]).count();
            if mirrored == 0 {
                continue;
            }
            if mirrored < weights.bones().count() {
                let message =
                    "some of the joints that move its mesh mirror it, and some do not: parts are seen from inside";
                let help = "apply negative scales before skinning, and export again";
                report
                    .warn(Finding::warning(Code::SkinMirrored, message).within(label(draft.primitive.node)).help(help));
                continue;
            }
            for bone in weights.bones_mut() {
                let (node, inverse_bind) = self.list[*bone as usize];
                *bone = *unmirrored[*bone as usize].get_or_insert_with(|| self.add(node, inverse_bind * flip));
            }
            transform(&mut draft.primitive, flip);
        }
    }

    /// The bones that are used, parents before their children, and where each of the list so far went.
    pub(super) fn finish(
        mut self,
        hierarchy: &Hierarchy,
        drafts: &[Draft],
        most: u64,
    ) -> Result<(Vec<Bone>, Vec<u16>), Finding> {
        let mut used = vec![false; self.list.len()];
        for draft in drafts {
            match &draft.motion {
                Motion::Skinned(weights) => weights.bones().for_each(|bone| used[bone as usize] = true),
                Motion::Rigid(bone) => used[*bone as usize] = true,
            }
        }
        for node in std::mem::take(&mut self.sockets) {
            // A bone whose inverse bind matrix can be undone says where its node is.
            let of_node = self.by_node.get(&node).into_iter().flatten().map(|bone| *bone as usize);
            let known = of_node.into_iter().any(|bone| used[bone] && inverse(self.list[bone].1).is_some());
            if !known {
                let bone = self.add(node, DMat4::IDENTITY) as usize;
                used.resize(self.list.len(), false);
                used[bone] = true;
            }
        }
        let mut sorted: Vec<usize> = (0..self.list.len()).filter(|i| used[*i]).collect();
        if sorted.len() as u64 > most {
            let message =
                format!("{} bones move its vertices or are sockets; at most {most} are supported", sorted.len());
            return Err(Finding::error(Code::LimitBones, message));
        }
        let mut rank = vec![0; hierarchy.nodes.len()];
        for (i, &node) in hierarchy.order.iter().enumerate() {
            rank[node] = i;
        }
        sorted.sort_by_key(|i| (rank[self.list[*i].0], *i));
        let mut places = vec![0; self.list.len()];
        let mut bones = Vec::with_capacity(sorted.len());
        for (place, &i) in sorted.iter().enumerate() {
            places[i] = place as u16;
            let (node, inverse_bind) = self.list[i];
            bones.push(Bone { name: hierarchy.nodes[node].name.clone(), node, inverse_bind });
        }
        Ok((bones, places))
    }
}

/// The uppermost node at or above a still one whose transform to the scene can be undone, and what undoes it: a bone
/// that moves nothing.
fn anchor(hierarchy: &Hierarchy, node: usize) -> Option<(usize, DMat4)> {
    let mut found = None;
    let mut next = Some(node);
    while let Some(i) = next {
        if let Some(inverse) = inverse(hierarchy.rest[i]) {
            found = Some((i, inverse));
        }
        next = hierarchy.nodes[i].parent;
    }
    found
}

/// The inverse of an affine matrix that is well enough conditioned.
fn inverse(m: DMat4) -> Option<DMat4> {
    let affine = m.row(3).to_array() == [0.0, 0.0, 0.0, 1.0];
    let inverse = affine.then(|| m.inverse()).filter(DMat4::is_finite)?;
    let norm = |m: DMat4| {
        let m = DMat3::from_mat4(m);
        (m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared()).sqrt()
    };
    (norm(m) * norm(inverse) <= MAX_CONDITION).then_some(inverse)
}

/// Moves a primitive into another space; its outer side stays outside.
fn transform(primitive: &mut Primitive, m: DMat4) {
    if m == DMat4::IDENTITY {
        return;
    }
    let linear = DMat3::from_mat4(m);
    let [a, b, c] = [linear.x_axis, linear.y_axis, linear.z_axis];
    let mirrors = linear.determinant() < 0.0;
    let sign = if mirrors { -1.0 } else { 1.0 };
    // The inverse transpose up to scale, which exists for singular matrices, too.
    let cofactor = DMat3::from_cols(b.cross(c), c.cross(a), a.cross(b)) * sign;
    for position in &mut primitive.positions {
        *position = m.transform_point3(*position);
    }
    for delta in primitive.targets.iter_mut().flat_map(|target| &mut target.positions) {
        *delta = linear * *delta;
    }
    // What morph targets add goes with what it is added to, and is scaled by as much.
    for (v, normal) in primitive.normals.iter_mut().flatten().enumerate() {
        let (unit, length) = normalized(cofactor * *normal);
        *normal = unit;
        for delta in primitive.targets.iter_mut().filter_map(|target| target.normals.as_mut()) {
            delta[v] = cofactor * delta[v] / length;
        }
    }
    for (v, tangent) in primitive.tangents.iter_mut().flatten().enumerate() {
        let (unit, length) = normalized(linear * tangent.truncate());
        *tangent = unit.extend(tangent.w * sign);
        for delta in primitive.targets.iter_mut().filter_map(|target| target.tangents.as_mut()) {
            delta[v] = linear * delta[v] / length;
        }
    }
    if mirrors {
        for triangle in &mut primitive.triangles {
            triangle.swap(1, 2);
        }
    }
}

/// At unit length, and what it was divided by; zero as it is, by one.
fn normalized(v: DVec3) -> (DVec3, f64) {
    let length = v.length();
    match v.try_normalize() {
        Some(unit) => (unit, length),
        None => (DVec3::ZERO, 1.0),
    }
}
