//! Node hierarchy: parents, order, transforms, and membership in the scene.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use glam::{DMat3, DMat4, DQuat, DVec3, DVec4};
use gltf::json::Index;

use super::document;
use super::file::File;
use super::morph;
use super::report::Report;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::manifest::{At, ModelEntry};
use crate::model::{Clip, Local, Node, Trs};
use crate::suggest::{instead, quoted};

/// The nodes of a file.
pub(super) struct Hierarchy {
    pub nodes: Vec<Node>,
    /// Node indices with parents before their children, otherwise ascending.
    pub order: Vec<usize>,
    /// Whether the scene contains the node. `[node]`
    pub in_scene: Vec<bool>,
    /// Node-to-scene transform of the rest pose. `[node]`
    pub rest: Vec<DMat4>,
}

impl Hierarchy {
    /// Takes the matrices of nodes apart that clips of other files move, so that a clip may move the rotation of a node, for
    /// example, and leave it in its place. Warns about a matrix that shears: the channels replace it.
    pub(super) fn take_apart(&mut self, file: &File<'_>, clips: &[Clip], report: &mut Report<'_>) {
        let of_others = clips.iter().filter(|clip| clip.file.is_some()).flat_map(|clip| &clip.channels);
        let moved: BTreeSet<usize> = of_others.map(|channel| channel.node).collect();
        for node in moved {
            let Local::Matrix(matrix) = self.nodes[node].local else { continue };
            match taken_apart(&matrix) {
                Some(trs) => self.nodes[node].local = Local::Trs(trs),
                None => {
                    let message = "clips of other files move a node whose matrix shears, which their channels replace";
                    let diagnostic = Diagnostic::warning(DiagnosticCode::NodeTransform, message).collected();
                    report.warn(diagnostic.within(node_label(file, node)));
                }
            }
        }
    }

    /// Reads and checks all nodes, and reports all errors. Returns `None` on errors.
    pub(super) fn read(file: &File<'_>, report: &mut Report<'_>) -> Option<Self> {
        let listed = &file.document.nodes;
        let most = file.limits().nodes;
        if listed.len() as u64 > most {
            let message = format!("the file has {} nodes; at most {most} are supported", listed.len());
            report.error(Diagnostic::error(DiagnosticCode::LimitNodes, message).within(Label::file(&file.shown)));
            return None;
        }
        let before = report.errors();
        let targets = morph::counts(file);
        let mut nodes = Vec::with_capacity(listed.len());
        for (i, node) in listed.iter().enumerate() {
            let name = node_name(node, i);
            let local = local(node, report, || node_label(file, i));
            let local = report.take(local.map_err(|e| e.within(node_label(file, i))));
            let weights = morph::rest_weights(file, node, &targets, report, || node_label(file, i));
            let weights = report.take(weights.map_err(|e| e.within(node_label(file, i))));
            nodes.push(Node {
                name,
                parent: None,
                local: local.unwrap_or(Local::Trs(Trs::IDENTITY)),
                weights: weights.unwrap_or_default(),
            });
        }
        for (i, node) in listed.iter().enumerate() {
            for child in node.children.iter() {
                let problem = match nodes.get_mut(child.value()) {
                    None => format!("child node {} does not exist", child),
                    Some(Node { parent: Some(other), .. }) => {
                        format!("child node {} is also a child of node {other}", child)
                    }
                    Some(node) => {
                        node.parent = Some(i);
                        continue;
                    }
                };
                report.error(Diagnostic::error(DiagnosticCode::NodeCycle, problem).within(node_label(file, i)));
            }
        }
        let order = order(file, &nodes);
        if let Some(stuck) = (0..nodes.len()).find(|i| !order.reached[*i]) {
            let message = "the node is in or below a cycle of the hierarchy";
            report.error(Diagnostic::error(DiagnosticCode::NodeCycle, message).within(node_label(file, stuck)));
        }
        let order = order.list;
        let most = file.limits().depth;
        let mut depths = vec![1_u64; nodes.len()];
        for &i in &order {
            depths[i] = nodes[i].parent.map_or(1, |parent| depths[parent] + 1);
            if depths[i] > most {
                let message = format!(
                    "the node is {} levels deep in the hierarchy; at most {most} levels are supported",
                    depths[i]
                );
                report.error(Diagnostic::error(DiagnosticCode::LimitDepth, message).within(node_label(file, i)));
                return None;
            }
        }
        let in_scene = report.take(scene(file))?;
        if report.errors() > before {
            return None;
        }
        let mut rest = vec![DMat4::IDENTITY; nodes.len()];
        for &i in &order {
            let local = matrix(&nodes[i].local);
            rest[i] = nodes[i].parent.map_or(local, |p| rest[p] * local);
            if !rest[i].is_finite() {
                let message = "the node-to-scene transform is not finite: scales or translations are too large";
                report.error(Diagnostic::error(DiagnosticCode::GltfNotFinite, message).within(node_label(file, i)));
                return None;
            }
        }
        Some(Self { nodes, order, in_scene, rest })
    }

    /// For each node, whether its mesh is imported: the scene contains the node, and `include` and
    /// `exclude` of the manifest select it.
    pub(super) fn taking_part(&self, file: &File<'_>, entry: &ModelEntry, report: &mut Report<'_>) -> Vec<bool> {
        let errors = report.errors();
        let mut included = self.under(file, &entry.include, "include", report);
        if entry.include.is_empty() || report.errors() > errors {
            // Without `include`, all nodes are selected. After an error the selection is unknown,
            // and all meshes are checked.
            included.fill(true);
        }
        let excluded = self.under(file, &entry.exclude, "exclude", report);
        (0..self.nodes.len()).map(|i| self.in_scene[i] && included[i] && !excluded[i]).collect()
    }

    /// Returns the nodes of the scene with a name, and reports an error if there are none. `key` is
    /// the manifest key that has the name.
    pub(super) fn named(&self, file: &File<'_>, name: &At<String>, key: &str, report: &mut Report<'_>) -> Vec<usize> {
        let is_it = |&i: &usize| self.in_scene[i] && self.nodes[i].name == name.value;
        let found: Vec<usize> = (0..self.nodes.len()).filter(is_it).collect();
        if !found.is_empty() {
            return found;
        }
        let document = &file.document;
        let carrier = document.nodes.iter().zip(&self.nodes).find(|(node, _)| {
            let mesh = node.mesh.and_then(|m| document.meshes.get(m.value()));
            mesh.is_some_and(|m| m.name.as_ref() == Some(&name.value))
        });
        let help = match carrier {
            Some((_, node)) => format!("this is the name of a mesh: use the name of its node, {}", quoted(&node.name)),
            None => instead(&name.value, self.nodes.iter().zip(&self.in_scene).filter(|x| *x.1).map(|x| &*x.0.name)),
        };
        let message = format!("{key}: node {} not found in the scene", quoted(&name.value));
        let diagnostic = Diagnostic::error(DiagnosticCode::NodeNotFound, message).bone(&name.value);
        report.error_at(&name.span, diagnostic.help(help).within(Label::file(&file.shown)));
        found
    }

    /// For each node, whether the node or one of its ancestors has one of the names.
    pub(super) fn under(&self, file: &File<'_>, names: &[At<String>], key: &str, report: &mut Report<'_>) -> Vec<bool> {
        let mut marks = vec![false; self.nodes.len()];
        for name in names {
            self.named(file, name, key, report).into_iter().for_each(|i| marks[i] = true);
        }
        for &i in &self.order {
            marks[i] |= self.nodes[i].parent.is_some_and(|p| marks[p]);
        }
        marks
    }
}

/// Returns the label of a node, such as ``art/a.glb: node 3 `Spine` ``.
pub(super) fn node_label(file: &File<'_>, i: usize) -> Label {
    Label::file(&file.shown).node(i, file.document.nodes.get(i).and_then(|n| n.name.as_deref()))
}

fn node_name(node: &document::GltfNode, i: usize) -> String {
    node.name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| format!("node {i}"))
}

fn local(node: &document::GltfNode, report: &mut Report<'_>, label: impl Fn() -> Label) -> Result<Local, Diagnostic> {
    let trs =
        [&node.translation.map(|t| t.to_vec()), &node.rotation.map(|r| r.to_vec()), &node.scale.map(|s| s.to_vec())];
    for (part, name) in trs.iter().zip(["translation", "rotation", "scale"]) {
        if part.as_ref().is_some_and(|numbers| numbers.iter().any(|x| !x.is_finite())) {
            return Err(Diagnostic::error(DiagnosticCode::GltfNotFinite, format!("the {name} is not finite")));
        }
    }
    if let Some(matrix) = &node.matrix {
        if matrix.iter().any(|x| !x.is_finite()) {
            return Err(Diagnostic::error(DiagnosticCode::GltfNotFinite, "the matrix is not finite"));
        }
        if trs.iter().any(|part| part.is_some()) {
            let message = "the node has both a matrix and translation, rotation or scale; the matrix is used";
            report.warn(Diagnostic::warning(DiagnosticCode::NodeTransform, message).collected().within(label()));
        }
        let (matrix, off) = affine(DMat4::from_cols_array(matrix));
        if off {
            let message = "the last row of the matrix is not 0 0 0 1; it is read as 0 0 0 1";
            report.warn(Diagnostic::warning(DiagnosticCode::NodeTransform, message).collected().within(label()));
        }
        return Ok(Local::Matrix(matrix));
    }
    if node.rotation == Some([0.0; 4]) {
        let message = "the rotation is a zero-length quaternion; the identity is used";
        report.warn(Diagnostic::warning(DiagnosticCode::NodeTransform, message).collected().within(label()));
    }
    if let Some(rotation) = node.rotation.filter(|rotation| is_far_from_unit(DVec4::from_array(*rotation))) {
        let length = DVec4::from_array(rotation).length();
        let message = format!("the rotation is a quaternion of length {length:.3}; it is normalised");
        let diagnostic = Diagnostic::warning(DiagnosticCode::NodeTransform, message);
        report.warn(diagnostic.collected_as("the rotation is not of unit length").within(label()));
    }
    Ok(Local::Trs(Trs {
        translation: node.translation.map_or(DVec3::ZERO, DVec3::from_array),
        rotation: node.rotation.map_or(DQuat::IDENTITY, |r| unit(DVec4::from_array(r))),
        scale: node.scale.map_or(DVec3::ONE, DVec3::from_array),
    }))
}

/// Returns translation, rotation and scale of a matrix; `None` if it shears or flattens.
fn taken_apart(matrix: &DMat4) -> Option<Trs> {
    const ROUNDING: f64 = 1e-5;
    let trs = Trs::from_matrix(matrix);
    let back = DMat4::from_scale_rotation_translation(trs.scale, trs.rotation, trs.translation);
    let size = DMat3::from_mat4(*matrix).to_cols_array().iter().fold(0.0, |size: f64, x| size.max(x.abs()));
    (trs.is_finite() && DMat3::from_mat4(back).abs_diff_eq(DMat3::from_mat4(*matrix), ROUNDING * size)).then_some(trs)
}

/// Whether the length of a quaternion is more than 2 % off, which neither rounding nor storage in 8 bits
/// explains. Zero has its own warning.
pub(super) fn is_far_from_unit(q: DVec4) -> bool {
    q != DVec4::ZERO && (q.length() - 1.0).abs() > 0.02
}

/// Normalises a quaternion; zero becomes the identity.
pub(super) fn unit(q: DVec4) -> DQuat {
    // Scaled first, because squares of tiny or huge numbers leave the range of f64.
    let largest = q.abs().max_element();
    if largest == 0.0 {
        return DQuat::IDENTITY;
    }
    let q = q / largest;
    DQuat::from_vec4(q / q.length())
}

/// Returns the matrix with last row 0 0 0 1, and whether the row differed by more than rounding
/// errors.
pub(super) fn affine(mut m: DMat4) -> (DMat4, bool) {
    const ROUNDING: f64 = 1e-5;
    let off = (m.row(3) - DVec4::W).abs().max_element() > ROUNDING;
    (m.x_axis.w, m.y_axis.w, m.z_axis.w, m.w_axis.w) = (0.0, 0.0, 0.0, 1.0);
    (m, off)
}

/// Returns the node-to-parent transform: `translation * rotation * scale`.
pub(super) fn matrix(local: &Local) -> DMat4 {
    match local {
        Local::Trs(t) => DMat4::from_scale_rotation_translation(t.scale, t.rotation, t.translation),
        Local::Matrix(m) => *m,
    }
}

struct NodeOrder {
    list: Vec<usize>,
    reached: Vec<bool>,
}

/// Sorts nodes topologically: parents before their children, lowest index first.
fn order(file: &File<'_>, nodes: &[Node]) -> NodeOrder {
    let mut ready: BinaryHeap<_> = (0..nodes.len()).filter(|i| nodes[*i].parent.is_none()).map(Reverse).collect();
    let mut list = Vec::with_capacity(nodes.len());
    let mut reached = vec![false; nodes.len()];
    while let Some(Reverse(i)) = ready.pop() {
        list.push(i);
        reached[i] = true;
        for child in file.document.nodes[i].children.iter() {
            let child = child.value();
            // A child that is listed twice was already reported as an error.
            if child < nodes.len() && nodes[child].parent == Some(i) && !reached[child] {
                ready.push(Reverse(child));
            }
        }
    }
    NodeOrder { list, reached }
}

/// For each node, whether the scene contains it: the roots of the scene and their descendants. In a
/// file without scenes, all nodes.
fn scene(file: &File<'_>) -> Result<Vec<bool>, Diagnostic> {
    let document = &file.document;
    let nodes = &document.nodes;
    if document.scenes.is_empty() {
        return Ok(vec![true; nodes.len()]);
    }
    let within = |diagnostic: Diagnostic| diagnostic.within(Label::file(&file.shown));
    let scene = file.get(&document.scenes, document.scene.unwrap_or(Index::new(0)), "scene").map_err(within)?;
    let mut drawn = vec![false; nodes.len()];
    let mut stack: Vec<usize> = scene.nodes.iter().map(|n| n.value()).collect();
    while let Some(i) = stack.pop() {
        let Some(node) = nodes.get(i) else {
            return Err(within(Diagnostic::error(
                DiagnosticCode::GltfIndex,
                format!("the scene lists node {i}, but the file has {} nodes", nodes.len()),
            )));
        };
        if !std::mem::replace(&mut drawn[i], true) {
            stack.extend(node.children.iter().map(|c| c.value()));
        }
    }
    Ok(drawn)
}
