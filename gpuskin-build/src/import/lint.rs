//! Warnings about likely authoring mistakes in valid glTF files.

use glam::DVec3;

use super::report::Report;
use crate::diagnostic::{Diagnostic, DiagnosticCode, Label};
use crate::model::{Channel, Clip, Curve, Interpolation, Local, Model, Property};

/// Cosine of 88 degrees: the absolute dot product of two quaternions is below this if the
/// rotation between them is more than 176 degrees.
const HALF_AROUND: f64 = 0.035;
/// Keys closer together than this, in seconds, are an intended jump.
const JUMP: f64 = 1e-5;
/// Tolerance for differences between the scales of two axes, relative to the larger scale. Smaller
/// differences are rounding errors.
const UNEVEN: f64 = 0.01;

/// Warns about likely mistakes in a model. `shown` is the path of its file; `moves` says per node
/// whether it moves something that is drawn.
pub(super) fn lint(model: &Model, shown: &str, moves: &[bool], report: &mut Report<'_>) {
    for clip in &model.clips {
        flips(model, clip, shown, moves, report);
    }
    uneven_scale(model, shown, moves, report);
}

/// Warns about rotations whose keys leave the direction of the turn ambiguous.
fn flips(model: &Model, clip: &Clip, shown: &str, moves: &[bool], report: &mut Report<'_>) {
    let turned = |c: &&Channel| c.property == Property::Rotation && moves[c.node];
    for channel in clip.channels.iter().filter(turned) {
        let Some([from, to]) = flip(&channel.curve) else { continue };
        let label = Label::file(clip.file.as_deref().unwrap_or(shown)).clip(&clip.source);
        let label = label.node(channel.node, Some(&model.nodes[channel.node].name));
        let message =
            format!("the rotation turns by about 180 degrees or more between its keys at {from:.3} s and {to:.3} s");
        let diagnostic = Diagnostic::warning(DiagnosticCode::ClipFlip, message);
        report.warn(diagnostic.collected_as("the rotation turns by about 180 degrees").within(label));
    }
}

/// Returns the times in seconds of the first two keys between which a rotation turns by 180 degrees
/// or more. For cubic interpolation, also of two keys with quaternions of opposite signs, because
/// cubic splines do not take the shorter way.
fn flip(curve: &Curve) -> Option<[f64; 2]> {
    let value = |key: usize| match curve.interpolation {
        Interpolation::CubicSpline => curve.values[3 * key + 1],
        _ => curve.values[key],
    };
    if curve.interpolation == Interpolation::Step {
        return None;
    }
    let cubic = curve.interpolation == Interpolation::CubicSpline;
    let turns = |key: usize| {
        let cosine = value(key - 1).normalize_or_zero().dot(value(key).normalize_or_zero());
        (if cubic { cosine } else { cosine.abs() }) < HALF_AROUND
    };
    let key = (1..curve.times.len()).find(|&i| curve.times[i] - curve.times[i - 1] > JUMP && turns(i))?;
    Some([curve.times[key - 1], curve.times[key]])
}

/// Warns about non-uniform scales of nodes that have children.
fn uneven_scale(model: &Model, shown: &str, moves: &[bool], report: &mut Report<'_>) {
    let mut carries = vec![false; model.nodes.len()];
    for (node, _) in model.nodes.iter().enumerate().filter(|(i, _)| moves[*i]) {
        if let Some(parent) = model.nodes[node].parent {
            carries[parent] = true;
        }
    }
    let mut found: Vec<(usize, DVec3, Option<&Clip>)> = Vec::new();
    for clip in &model.clips {
        for channel in clip.channels.iter().filter(|c| c.property == Property::Scale && carries[c.node]) {
            let each = if channel.curve.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
            let mut keys = channel.curve.values.iter().skip(each / 2).step_by(each).map(|v| v.truncate());
            if let Some(scale) = keys.find(uneven) {
                found.push((channel.node, scale, Some(clip)));
            }
        }
    }
    for (i, node) in model.nodes.iter().enumerate().filter(|(i, _)| carries[*i]) {
        match node.local {
            Local::Trs(trs) if uneven(&trs.scale) => found.push((i, trs.scale, None)),
            _ => {}
        }
    }
    let mut told = vec![false; model.nodes.len()];
    for (node, scale, clip) in found {
        if std::mem::replace(&mut told[node], true) {
            continue;
        }
        let label = Label::file(clip.and_then(|clip| clip.file.as_deref()).unwrap_or(shown));
        let label = clip.map_or(label.clone(), |clip| label.clip(&clip.source));
        let [x, y, z] = scale.to_array();
        let message = format!("the scale {x:.3} x {y:.3} x {z:.3} is non-uniform, and the node has child nodes");
        let diagnostic = Diagnostic::warning(DiagnosticCode::NodeUnevenScale, message);
        let label = label.node(node, Some(&model.nodes[node].name));
        report.warn(diagnostic.collected_as("the scale is non-uniform").within(label));
    }
}

fn uneven(scale: &DVec3) -> bool {
    let sizes = scale.abs();
    sizes.max_element() - sizes.min_element() > UNEVEN * sizes.max_element()
}
