//! Binding of primitives to bones: rigid meshes, mirrored skins, and the final order of bones.

use std::collections::BTreeMap;

use glam::{DMat3, DMat4, DVec3};

use super::bones::Bones;
use super::hierarchy::{Hierarchy, matrix};
use super::report::Report;
use super::unbound::{PrimitiveBinding, UnboundPrimitive};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::model::{Bone, Primitive};

/// Maximum condition number of an inverse bind matrix through whose inverse vertices are
/// transformed: the transform then loses at most three of the sixteen digits of `f64`, and of the
/// seven digits that are stored.
const MAX_CONDITION: f64 = 1e3;

/// Scale that cancels the mirroring of a bone.
const MIRROR: DVec3 = DVec3::new(-1.0, 1.0, 1.0);

/// Bone of a rigid mesh.
#[derive(Clone, Copy)]
struct Binding {
    bone: u32,
    /// Transform from mesh space to the space on which the bone's inverse bind matrix acts.
    transform: DMat4,
}

impl Bones {
    /// Binds the rigid meshes to bones. The bone of a mesh is the nearest node, at or above the
    /// mesh's own node, that a clip moves. All meshes that no clip moves share one bone.
    pub(super) fn bind_rigid(
        &mut self,
        hierarchy: &Hierarchy,
        moved: &[bool],
        unbound_primitives: &mut [UnboundPrimitive],
    ) {
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
        let rigid = unbound_primitives.iter().filter(|unbound| matches!(unbound.motion, PrimitiveBinding::Rigid(_)));
        let mut still: Vec<usize> = rigid.map(|d| d.primitive.node).filter(|i| carriers[*i].0.is_none()).collect();
        still.dedup();
        let shared = if still.len() > 1 { anchor(hierarchy, still[0]) } else { None };
        let mut bindings: BTreeMap<usize, Binding> = BTreeMap::new();
        for UnboundPrimitive { primitive, motion } in unbound_primitives {
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
        unbound_primitives: &mut [UnboundPrimitive],
        label: impl Fn(usize) -> Label,
        report: &mut Report<'_>,
    ) {
        let flip = DMat4::from_scale(MIRROR);
        let determinant = |(node, inverse_bind): &(usize, DMat4)| (hierarchy.rest[*node] * *inverse_bind).determinant();
        let mirrors: Vec<bool> = self.list.iter().map(|bone| determinant(bone) < 0.0).collect();
        let mut unmirrored = vec![None; mirrors.len()];
        for unbound in unbound_primitives {
            let PrimitiveBinding::Skinned(weights) = &mut unbound.motion else { continue };
            let mirrored = weights.bones().filter(|bone| mirrors[*bone as usize]).count();
            if mirrored == 0 {
                continue;
            }
            if mirrored < weights.bones().count() {
                let message =
                    "some joints of the mesh mirror it and others do not; parts of the mesh are drawn inside out";
                let help = "apply negative scales before skinning, and export the file again";
                report.warn(
                    Diagnostic::warning(DiagnosticCode::SkinMirrored, message)
                        .collected()
                        .within(label(unbound.primitive.node))
                        .help(help),
                );
                continue;
            }
            for bone in weights.bones_mut() {
                let (node, inverse_bind) = self.list[*bone as usize];
                *bone = *unmirrored[*bone as usize].get_or_insert_with(|| self.add(node, inverse_bind * flip));
            }
            transform(&mut unbound.primitive, flip);
        }
    }

    /// Returns the bones in use, parents before their children, and for each bone of the list its
    /// final index.
    pub(super) fn finish(
        mut self,
        hierarchy: &Hierarchy,
        unbound_primitives: &[UnboundPrimitive],
        most: u64,
    ) -> Result<(Vec<Bone>, Vec<u16>), Diagnostic> {
        let mut used = vec![false; self.list.len()];
        for unbound in unbound_primitives {
            match &unbound.motion {
                PrimitiveBinding::Skinned(weights) => weights.bones().for_each(|bone| used[bone as usize] = true),
                PrimitiveBinding::Rigid(bone) => used[*bone as usize] = true,
            }
        }
        for node in std::mem::take(&mut self.sockets) {
            // A used bone with an invertible bind matrix already yields the node's transform.
            let at_node = self.by_node.get(&node).into_iter().flatten().map(|bone| *bone as usize);
            let known = at_node.into_iter().any(|bone| used[bone] && inverse(self.list[bone].1).is_some());
            if !known {
                let bone = self.add(node, DMat4::IDENTITY) as usize;
                used.resize(self.list.len(), false);
                used[bone] = true;
            }
        }
        let mut sorted: Vec<usize> = (0..self.list.len()).filter(|i| used[*i]).collect();
        if sorted.len() as u64 > most {
            let message = format!("{} bones move vertices or are sockets; at most {most} are supported", sorted.len());
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
