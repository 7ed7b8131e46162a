//! Nodes: parents, order, transforms, and which of them the scene draws.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::{DMat4, DQuat, DVec3, DVec4};
use gltf::json::Index;

use super::document;
use super::file::File;
use super::morph;
use super::report::Report;
use crate::finding::{Code, Finding, Label};
use crate::manifest::{At, ModelEntry};
use crate::model::{Local, Node, Trs};
use crate::suggest::{instead, quoted};

/// Most nodes of a file. Rigs have hundreds, levels tens of thousands.
const MAX_NODES: usize = 1 << 18;

/// The nodes of a file.
pub(super) struct Hierarchy {
    pub nodes: Vec<Node>,
    /// Parents before their children, otherwise ascending.
    pub order: Vec<usize>,
    /// Whether the scene draws it.
    pub in_scene: Vec<bool>,
    /// To the scene, where no clip moves it.
    pub rest: Vec<DMat4>,
}

impl Hierarchy {
    /// Reads and checks all nodes. All that is wrong is reported.
    pub(super) fn read(file: &File<'_>, report: &mut Report<'_>) -> Option<Self> {
        let listed = &file.document.nodes;
        if listed.len() > MAX_NODES {
            let message = format!("{} nodes; at most {MAX_NODES} are read", listed.len());
            report.error(Finding::error(Code::LimitNodes, message).within(Label::file(&file.shown)));
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
                    None => format!("its child {} does not exist", child),
                    Some(Node { parent: Some(other), .. }) => {
                        format!("its child {} is a child of node {other}, too", child)
                    }
                    Some(node) => {
                        node.parent = Some(i);
                        continue;
                    }
                };
                report.error(Finding::error(Code::NodeCycle, problem).within(node_label(file, i)));
            }
        }
        let order = order(file, &nodes);
        if let Some(stuck) = (0..nodes.len()).find(|i| !order.reached[*i]) {
            let message = "it is in a cycle of nodes that are each other's children";
            report.error(Finding::error(Code::NodeCycle, message).within(node_label(file, stuck)));
        }
        let order = order.list;
        let in_scene = report.take(scene(file))?;
        if report.errors() > before {
            return None;
        }
        let mut rest = vec![DMat4::IDENTITY; nodes.len()];
        for &i in &order {
            let local = matrix(&nodes[i].local);
            rest[i] = nodes[i].parent.map_or(local, |p| rest[p] * local);
            if !rest[i].is_finite() {
                let message = "its transform to the scene is not finite: scales or translations are too large";
                report.error(Finding::error(Code::GltfNotFinite, message).within(node_label(file, i)));
                return None;
            }
        }
        Some(Self { nodes, order, in_scene, rest })
    }

    /// For each node, whether meshes under it take part: it is in the scene, and the manifest includes it.
    pub(super) fn taking_part(&self, file: &File<'_>, entry: &ModelEntry, report: &mut Report<'_>) -> Vec<bool> {
        let errors = report.errors();
        let mut included = self.under(file, &entry.include, "include", report);
        if entry.include.is_empty() || report.errors() > errors {
            // All of it is wanted; or what was meant is not known, and all meshes are checked.
            included.fill(true);
        }
        let excluded = self.under(file, &entry.exclude, "exclude", report);
        (0..self.nodes.len()).map(|i| self.in_scene[i] && included[i] && !excluded[i]).collect()
    }

    /// The nodes of the scene of a name; an error where there are none. `key` asks for them.
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
            Some((_, node)) => format!("it is the name of a mesh: write that of its node, {}", quoted(&node.name)),
            None => instead(&name.value, self.nodes.iter().zip(&self.in_scene).filter(|x| *x.1).map(|x| &*x.0.name)),
        };
        let message = format!("{key}: the scene has no node {}", quoted(&name.value));
        let finding = Finding::error(Code::NodeNotFound, message).bone(&name.value);
        report.error_at(&name.span, finding.help(help).within(Label::file(&file.shown)));
        found
    }

    /// For each node, whether it has one of these names or is below one that has.
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

/// ``art/a.glb: node 3 `Spine` ``.
pub(super) fn node_label(file: &File<'_>, i: usize) -> Label {
    Label::file(&file.shown).node(i, file.document.nodes.get(i).and_then(|n| n.name.as_deref()))
}

fn node_name(node: &document::Node, i: usize) -> String {
    node.name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| format!("node {i}"))
}

fn local(node: &document::Node, report: &mut Report<'_>, label: impl Fn() -> Label) -> Result<Local, Finding> {
    let trs =
        [&node.translation.map(|t| t.to_vec()), &node.rotation.map(|r| r.to_vec()), &node.scale.map(|s| s.to_vec())];
    for (part, name) in trs.iter().zip(["translation", "rotation", "scale"]) {
        if part.as_ref().is_some_and(|numbers| numbers.iter().any(|x| !x.is_finite())) {
            return Err(Finding::error(Code::GltfNotFinite, format!("its {name} is not finite")));
        }
    }
    if let Some(matrix) = &node.matrix {
        if matrix.iter().any(|x| !x.is_finite()) {
            return Err(Finding::error(Code::GltfNotFinite, "its matrix is not finite"));
        }
        if trs.iter().any(|part| part.is_some()) {
            let message = "it has a matrix as well as translation, rotation or scale: the matrix is used";
            report.warn(Finding::warning(Code::NodeTransform, message).within(label()));
        }
        let (matrix, off) = affine(DMat4::from_cols_array(matrix));
        if off {
            let message = "the last row of its matrix is not 0 0 0 1: taken as if it were";
            report.warn(Finding::warning(Code::NodeTransform, message).within(label()));
        }
        return Ok(Local::Matrix(matrix));
    }
    if node.rotation == Some([0.0; 4]) {
        let message = "its rotation is a quaternion of length zero: taken as none";
        report.warn(Finding::warning(Code::NodeTransform, message).within(label()));
    }
    Ok(Local::Trs(Trs {
        translation: node.translation.map_or(DVec3::ZERO, DVec3::from_array),
        rotation: node.rotation.map_or(DQuat::IDENTITY, |r| unit(DVec4::from_array(r))),
        scale: node.scale.map_or(DVec3::ONE, DVec3::from_array),
    }))
}

/// The quaternion at unit length; the identity where it has none.
pub(super) fn unit(q: DVec4) -> DQuat {
    // Scaled first: squares of tiny or huge numbers leave the range of f64.
    let largest = q.abs().max_element();
    if largest == 0.0 {
        return DQuat::IDENTITY;
    }
    let q = q / largest;
    DQuat::from_vec4(q / q.length())
}

/// The matrix with 0 0 0 1 as its last row, and whether it was another one by more than rounding.
pub(super) fn affine(mut m: DMat4) -> (DMat4, bool) {
    const ROUNDING: f64 = 1e-5;
    let off = (m.row(3) - DVec4::W).abs().max_element() > ROUNDING;
    (m.x_axis.w, m.y_axis.w, m.z_axis.w, m.w_axis.w) = (0.0, 0.0, 0.0, 1.0);
    (m, off)
}

/// A node's transform to its parent: `translation * rotation * scale`.
pub(super) fn matrix(local: &Local) -> DMat4 {
    match local {
        Local::Trs(t) => DMat4::from_scale_rotation_translation(t.scale, t.rotation, t.translation),
        Local::Matrix(m) => *m,
    }
}

struct Order {
    list: Vec<usize>,
    reached: Vec<bool>,
}

/// Parents before their children; of the nodes that could be next, the lowest.
fn order(file: &File<'_>, nodes: &[Node]) -> Order {
    let mut ready: BinaryHeap<_> = (0..nodes.len()).filter(|i| nodes[*i].parent.is_none()).map(Reverse).collect();
    let mut list = Vec::with_capacity(nodes.len());
    let mut reached = vec![false; nodes.len()];
    while let Some(Reverse(i)) = ready.pop() {
        list.push(i);
        reached[i] = true;
        for child in file.document.nodes[i].children.iter() {
            let child = child.value();
            // Where a file names a child twice, that is an error already.
            if child < nodes.len() && nodes[child].parent == Some(i) && !reached[child] {
                ready.push(Reverse(child));
            }
        }
    }
    Order { list, reached }
}

/// Which nodes the scene draws: its roots and all below. Without scenes, all.
fn scene(file: &File<'_>) -> Result<Vec<bool>, Finding> {
    let document = &file.document;
    let nodes = &document.nodes;
    if document.scenes.is_empty() {
        return Ok(vec![true; nodes.len()]);
    }
    let within = |finding: Finding| finding.within(Label::file(&file.shown));
    let scene = file.get(&document.scenes, document.scene.unwrap_or(Index::new(0)), "scene").map_err(within)?;
    let mut drawn = vec![false; nodes.len()];
    let mut stack: Vec<usize> = scene.nodes.iter().map(|n| n.value()).collect();
    while let Some(i) = stack.pop() {
        let Some(node) = nodes.get(i) else {
            return Err(within(Finding::error(
                Code::GltfIndex,
                format!("the scene has node {i}; the file has {} nodes", nodes.len()),
            )));
        };
        if !std::mem::replace(&mut drawn[i], true) {
            stack.extend(node.children.iter().map(|c| c.value()));
        }
    }
    Ok(drawn)
}
