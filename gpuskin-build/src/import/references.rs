//! Sockets, parts, masks and motion roots: references from the manifest to nodes.

use std::collections::BTreeSet;

use super::file::File;
use super::hierarchy::Hierarchy;
use super::report::Report;
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::manifest::{At, ModelEntry, RootMotion};
use crate::model::{Bone, Channel, Clip, Interpolation, Mask, Primitive, Property, RootMotionSource};
use crate::suggest::quoted;

/// Resolves the reference clips of additive clips. The manifest has checked the names.
pub(super) fn references(entry: &ModelEntry, clips: &mut [Clip]) {
    let names: Vec<String> = clips.iter().map(|clip| clip.name.clone()).collect();
    for clip in clips {
        let reference = entry.clip(&clip.name).and_then(|settings| settings.additive.as_ref());
        // A reference clip that could not be read was already reported.
        clip.additive = reference.and_then(|at| names.iter().position(|name| *name == at.value));
    }
}

/// Returns the nodes that are sockets, ascending.
pub(super) fn sockets(
    file: &File<'_>,
    entry: &ModelEntry,
    hierarchy: &Hierarchy,
    report: &mut Report<'_>,
) -> Vec<usize> {
    let named = |name: &At<String>| hierarchy.named(file, name, "sockets", report);
    let mut sockets: Vec<usize> = entry.sockets.iter().flat_map(named).collect();
    sockets.sort_unstable();
    sockets.dedup();
    sockets
}

/// Assigns primitives to parts.
pub(super) fn parts(
    file: &File<'_>,
    entry: &ModelEntry,
    hierarchy: &Hierarchy,
    primitives: &mut [Primitive],
    report: &mut Report<'_>,
) {
    for (index, part) in entry.parts.iter().enumerate() {
        let errors = report.errors();
        let under = hierarchy.under(file, &part.nodes, "parts", report);
        let (mut any, mut both) = (false, None);
        for primitive in primitives.iter_mut().filter(|p| under[p.node]) {
            any = true;
            both = both.or(primitive.part.map(|other| (other, primitive.node)));
            primitive.part = Some(index as u8);
        }
        let name = quoted(&part.name.value);
        if let Some((other, node)) = both {
            let (other, node) = (&entry.parts[usize::from(other)].name.value, &hierarchy.nodes[node].name);
            let message = format!("the mesh of node {} is in two parts, {} and {name}", quoted(node), quoted(other));
            let help = "a part has all meshes at and below its nodes: name nodes further down the hierarchy";
            report.error_at(&part.name.span, Diagnostic::error(DiagnosticCode::ManifestConflict, message).help(help));
        } else if !any && report.errors() == errors {
            let message = format!("part {name} has no mesh: no mesh at or below its nodes is drawn");
            let help = "name nodes that have meshes; for skinned meshes, these are not nodes of the skeleton";
            report.error_at(&part.name.span, Diagnostic::error(DiagnosticCode::NodeEmptySelection, message).help(help));
        }
    }
}

/// Returns the masks with their nodes.
pub(super) fn masks(
    file: &File<'_>,
    entry: &ModelEntry,
    hierarchy: &Hierarchy,
    (bones, primitives): (&[Bone], &[Primitive]),
    report: &mut Report<'_>,
) -> Vec<Mask> {
    let mut masks = Vec::with_capacity(entry.masks.len());
    for mask in &entry.masks {
        let errors = report.errors();
        let mut nodes = hierarchy.under(file, &mask.roots, "masks", report);
        let excluded = hierarchy.under(file, &mask.exclude, "masks", report);
        nodes.iter_mut().zip(excluded).for_each(|(node, excluded)| *node &= !excluded);
        let morphed = |p: &Primitive| entry.morphs && nodes[p.node] && !p.targets.is_empty();
        let any = bones.iter().any(|bone| nodes[bone.node]) || primitives.iter().any(morphed);
        if report.errors() == errors && !any {
            let name = quoted(&mask.name.value);
            let message =
                format!("mask {name} has no bone: no node at or below its roots moves a vertex, or has morph targets");
            let help = "name nodes of the skeleton, and check `exclude`";
            report.error_at(&mask.name.span, Diagnostic::error(DiagnosticCode::NodeEmptySelection, message).help(help));
        }
        masks.push(Mask { name: mask.name.value.clone(), nodes });
    }
    masks
}

/// Finds the root node of each clip with root motion: the node whose motion is that of the model.
pub(super) fn roots(
    file: &File<'_>,
    entry: &ModelEntry,
    hierarchy: &Hierarchy,
    bones: &[Bone],
    clips: &mut [Clip],
    report: &mut Report<'_>,
) {
    let wishes: Vec<_> =
        clips.iter().map(|clip| entry.clip(&clip.name).and_then(|settings| settings.root_motion.as_ref())).collect();
    if wishes.iter().all(Option::is_none) || bones.is_empty() {
        return;
    }
    let named = entry.root.as_ref().map(|name| (name, hierarchy.named(file, name, "root", report)));
    let chain = match &named {
        // With a named root, a motion of any node above it also moves the model.
        Some((_, nodes)) => match nodes[..] {
            [] => return,
            [node] => above(hierarchy, node),
            [..] => {
                let (name, _) = named.as_ref().expect("a root is named");
                let message =
                    format!("{} nodes are named {}, but `root` must name one node", nodes.len(), quoted(&name.value));
                report.error_at(
                    &name.span,
                    Diagnostic::error(DiagnosticCode::ClipAmbiguous, message).help("rename all of them but one"),
                );
                return;
            }
        },
        None => common(hierarchy, bones),
    };
    for (clip, wish) in clips.iter_mut().zip(wishes) {
        let Some(wish) = wish else { continue };
        let channels = clip.channels.iter().filter(|c| c.property != Property::Scale && moves(c));
        let moved: BTreeSet<usize> = channels.map(|c| c.node).collect();
        let Some(&topmost) = chain.iter().find(|node| moved.contains(node)) else {
            let clip = quoted(&clip.name);
            let (message, help) = match &named {
                Some((name, _)) => (
                    format!("clip {clip} moves neither {} nor any of its ancestors", quoted(&name.value)),
                    "remove `root_motion`, or name another `root`",
                ),
                None => (
                    format!("clip {clip} moves no common ancestor of all bones"),
                    "remove `root_motion`, or name the node that carries the model: root = \"Hips\"",
                ),
            };
            report.error_at(&wish.span, Diagnostic::error(DiagnosticCode::ClipRoot, message).help(help));
            continue;
        };
        let node = if named.is_some() { chain[chain.len() - 1] } else { topmost };
        clip.root = Some(RootMotionSource { node, planar: wish.value == RootMotion::Planar });
    }
}

/// Whether a curve has more than one value.
fn moves(channel: &Channel) -> bool {
    let curve = &channel.curve;
    curve.interpolation == Interpolation::CubicSpline || curve.values.iter().any(|v| *v != curve.values[0])
}

/// Returns a node and its ancestors, topmost first.
fn above(hierarchy: &Hierarchy, node: usize) -> Vec<usize> {
    let mut chain: Vec<usize> = std::iter::successors(Some(node), |&n| hierarchy.nodes[n].parent).collect();
    chain.reverse();
    chain
}

/// Returns the common ancestors of all bones, topmost first. A bone counts as its own ancestor.
fn common(hierarchy: &Hierarchy, bones: &[Bone]) -> Vec<usize> {
    let mut chain = above(hierarchy, bones[0].node);
    let mut places = vec![usize::MAX; hierarchy.nodes.len()];
    chain.iter().enumerate().for_each(|(place, &node)| places[node] = place);
    for bone in &bones[1..] {
        let mut upwards = std::iter::successors(Some(bone.node), |&n| hierarchy.nodes[n].parent);
        let meets = upwards.find(|&node| places[node] < chain.len());
        chain.truncate(meets.map_or(0, |node| places[node] + 1));
    }
    chain
}
