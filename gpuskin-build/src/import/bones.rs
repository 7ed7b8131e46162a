//! One list of bones for all skins and rigid meshes.

use std::collections::BTreeMap;

use glam::{DMat3, DMat4, DVec3};
use gltf::json::accessor::Type as Shape;
use gltf::json::{self, Index};

use super::accessor::Allowed;
use super::file::File;
use super::hierarchy::{Hierarchy, affine, matrix};
use super::mesh::{UnboundPrimitive, PrimitiveBinding};
use super::report::Report;
use crate::diagnostic::{DiagnosticCode, Diagnostic, Label};
use crate::model::{Bone, Node, Primitive};
use crate::suggest::quoted;

/// Maximum condition number of an inverse bind matrix through whose inverse vertices are
/// transformed: the transform then loses at most three of the sixteen digits of `f64`, and of the
/// seven digits that are stored.
const MAX_CONDITION: f64 = 1e3;

/// Scale that cancels the mirroring of a bone.
const MIRROR: DVec3 = DVec3::new(-1.0, 1.0, 1.0);

/// Bone index of a joint that no vertex uses yet.
const UNUSED: u32 = u32::MAX;

/// A skin, and the bones of its joints.
pub(super) struct Skin {
    label: Label,
    joints: Vec<usize>,
    inverse_bind: Vec<DMat4>,
    bones: Vec<u32>,
}

impl Skin {
    pub(super) fn read(file: &File<'_>, index: Index<json::Skin>) -> Result<Self, Diagnostic> {
        let within = |diagnostic: Diagnostic| diagnostic.within(format_args!("skin {index}"));
        let skin = file.get(&file.document.skins, index, "skin")?;
        let joints: Vec<usize> = skin.joints.iter().map(|j| j.value()).collect();
        if joints.is_empty() {
            return Err(within(Diagnostic::error(DiagnosticCode::SkinInvalid, "it has no joints")));
        }
        let nodes = file.document.nodes.len();
        if let Some(joint) = joints.iter().find(|j| **j >= nodes) {
            return Err(within(Diagnostic::error(
                DiagnosticCode::GltfIndex,
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
                    return Err(within(Diagnostic::error(DiagnosticCode::SkinInvalid, message)));
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

    /// Warns about invalid inverse bind matrices of joints in use.
    pub(super) fn warn(&self, nodes: &[Node], report: &mut Report<'_>) {
        for (joint, m) in self.inverse_bind.iter().enumerate().filter(|(joint, _)| self.bones[*joint] != UNUSED) {
            let mut warn = |message: &str| {
                let joint = format!("element {joint}, for joint {}", quoted(&nodes[self.joints[joint]].name));
                report.warn(Diagnostic::warning(DiagnosticCode::SkinMatrix, message).within(joint).within(&self.label));
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

    /// Returns the bone of a joint. A joint becomes a bone on its first use.
    pub(super) fn bone(&mut self, joint: usize, bones: &mut Bones) -> u32 {
        if self.bones[joint] == UNUSED {
            self.bones[joint] = bones.add(self.joints[joint], affine(self.inverse_bind[joint]).0);
        }
        self.bones[joint]
    }
}

/// Bones in the order of their first use.
#[derive(Default)]
pub(super) struct Bones {
    by_key: BTreeMap<(usize, [u64; 16]), u32>,
    by_node: BTreeMap<usize, Vec<u32>>,
    list: Vec<(usize, DMat4)>,
    /// Nodes that need a bone although they move no vertex.
    pub(super) sockets: Vec<usize>,
}

/// Bone of a rigid mesh.
#[derive(Clone, Copy)]
struct Binding {
    bone: u32,
    /// Transform from mesh space to the space on which the bone's inverse bind matrix acts.
    transform: DMat4,
}

impl Bones {
    /// Returns the bone with a node and an inverse bind matrix; adds it on first use.
    fn add(&mut self, node: usize, inverse_bind: DMat4) -> u32 {
        // Adding zero turns -0.0 into 0.0, so that both have the same key.
        let key = (node, inverse_bind.to_cols_array().map(|x| (x + 0.0).to_bits()));
        *self.by_key.entry(key).or_insert_with(|| {
            self.list.push((node, inverse_bind));
            let bone = self.list.len() as u32 - 1;
            self.by_node.entry(node).or_default().push(bone);
            bone
        })
    }

    /// Binds the rigid meshes to bones. The bone of a mesh is the nearest node, at or above the
    /// mesh's own node, that a clip moves. All meshes that no clip moves share one bone.
    pub(super) fn bind_rigid(&mut self, hierarchy: &Hierarchy, moved: &[bool], drafts: &mut [UnboundPrimitive]) {
        // Per node: the nearest node at or above it that a clip moves, and the transform to that
        // node.
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
        let rigid = drafts.iter().filter(|draft| matches!(draft.motion, PrimitiveBinding::Rigid(_)));
        let mut still: Vec<usize> = rigid.map(|d| d.primitive.node).filter(|i| carriers[*i].0.is_none()).collect();
        still.dedup();
        let shared = if still.len() > 1 { anchor(hierarchy, still[0]) } else { None };
        let mut bindings: BTreeMap<usize, Binding> = BTreeMap::new();
        for UnboundPrimitive { primitive, motion } in drafts {
            let PrimitiveBinding::Rigid(bone) = motion else { continue };
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

    /// Binds a mesh to a node. Uses an existing skin bone of the node if vertices can be
    /// transformed into its space without loss, else a bone with the identity as inverse bind
    /// matrix.
    fn bind(&mut self, hierarchy: &Hierarchy, carrier: usize, way: DMat4) -> Binding {
        let rest = hierarchy.rest[carrier];
        for &bone in self.by_node.get(&carrier).into_iter().flatten() {
            let inverse_bind = self.list[bone as usize].1;
            let mirrors = (rest * inverse_bind).determinant() <= 0.0;
            if let (false, Some(inverse)) = (mirrors, inverse(inverse_bind)) {
                return Binding { bone, transform: inverse * way };
            }
        }
        // A mirroring node would turn triangles inside out when drawn, and its matrix cannot be
        // written as rotation and scale. The vertices are mirrored once instead.
        let flip = if rest.determinant() < 0.0 { MIRROR } else { DVec3::ONE };
        let flip = DMat4::from_scale(flip);
        Binding { bone: self.add(carrier, flip), transform: flip * way }
    }

    /// Mirrors skinned meshes whose joints all mirror them, together with the inverse bind
    /// matrices. Otherwise such meshes would be drawn inside out: glTF flips the winding for
    /// mirroring nodes, but a skinned mesh is moved by its joints.
    pub(super) fn unmirror(
        &mut self,
        hierarchy: &Hierarchy,
        drafts: &mut [UnboundPrimitive],
        label: impl Fn(usize) -> Label,
        report: &mut Report<'_>,
    ) {
        let flip = DMat4::from_scale(MIRROR);
        let determinant = |(node, inverse_bind): &(usize, DMat4)| (hierarchy.rest[*node] * *inverse_bind).determinant();
        let mirrors: Vec<bool> = self.list.iter().map(|bone| determinant(bone) < 0.0).collect();
        let mut unmirrored = vec![None; mirrors.len()];
        for draft in drafts {
            let PrimitiveBinding::Skinned(weights) = &mut draft.motion else { continue };
            let mirrored = weights.bones().filter(|bone| mirrors[*bone as usize]).count();
            if mirrored == 0 {
                continue;
            }
            if mirrored < weights.bones().count() {
                let message =
                    "some of the joints that move its mesh mirror it, and some do not: parts are seen from inside";
                let help = "apply negative scales before skinning, and export again";
                report
                    .warn(Diagnostic::warning(DiagnosticCode::SkinMirrored, message).within(label(draft.primitive.node)).help(help));
                continue;
            }
            for bone in weights.bones_mut() {
                let (node, inverse_bind) = self.list[*bone as usize];
                *bone = *unmirrored[*bone as usize].get_or_insert_with(|| self.add(node, inverse_bind * flip));
            }
            transform(&mut draft.primitive, flip);
        }
    }

    /// Returns the bones in use, parents before their children, and for each bone of the list its
    /// final index.
    pub(super) fn finish(
        mut self,
        hierarchy: &Hierarchy,
        drafts: &[UnboundPrimitive],
        most: u64,
    ) -> Result<(Vec<Bone>, Vec<u16>), Diagnostic> {
        let mut used = vec![false; self.list.len()];
        for draft in drafts {
            match &draft.motion {
                PrimitiveBinding::Skinned(weights) => weights.bones().for_each(|bone| used[bone as usize] = true),
                PrimitiveBinding::Rigid(bone) => used[*bone as usize] = true,
            }
        }
        for node in std::mem::take(&mut self.sockets) {
            // A used bone with an invertible bind matrix already yields the node's transform.
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
            return Err(Diagnostic::error(DiagnosticCode::LimitBones, message));
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

/// Returns the topmost node at or above an unmoved node whose node-to-scene transform is
/// invertible, with the inverse. A bone made of both moves nothing.
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

/// Returns the inverse of an affine matrix, unless the matrix is ill-conditioned.
fn inverse(m: DMat4) -> Option<DMat4> {
    let affine = m.row(3).to_array() == [0.0, 0.0, 0.0, 1.0];
    let inverse = affine.then(|| m.inverse()).filter(DMat4::is_finite)?;
    let norm = |m: DMat4| {
        let m = DMat3::from_mat4(m);
        (m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared()).sqrt()
    };
    (norm(m) * norm(inverse) <= MAX_CONDITION).then_some(inverse)
}

/// Transforms a primitive into another space. If the transform mirrors, the winding is flipped, so
/// that the outside stays outside.
fn transform(primitive: &mut Primitive, m: DMat4) {
    if m == DMat4::IDENTITY {
        return;
    }
    let linear = DMat3::from_mat4(m);
    let [a, b, c] = [linear.x_axis, linear.y_axis, linear.z_axis];
    let mirrors = linear.determinant() < 0.0;
    let sign = if mirrors { -1.0 } else { 1.0 };
    // The inverse transpose up to a factor. Unlike the inverse, it exists for singular matrices.
    let cofactor = DMat3::from_cols(b.cross(c), c.cross(a), a.cross(b)) * sign;
    for position in &mut primitive.positions {
        *position = m.transform_point3(*position);
    }
    for delta in primitive.targets.iter_mut().flat_map(|target| &mut target.positions) {
        *delta = linear * *delta;
    }
    // Deltas of morph targets are transformed and scaled together with the vectors to which they
    // are added.
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

/// Returns the normalised vector and its previous length; for the zero vector, zero and 1.
fn normalized(v: DVec3) -> (DVec3, f64) {
    let length = v.length();
    match v.try_normalize() {
        Some(unit) => (unit, length),
        None => (DVec3::ZERO, 1.0),
    }
}
