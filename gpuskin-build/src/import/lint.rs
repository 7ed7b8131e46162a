//! What artists get wrong, and files say quite correctly.

use glam::DVec3;

use super::report::Report;
use crate::finding::{Code, Finding, Label};
use crate::model::{Channel, Clip, Curve, Interpolation, Local, Model, Property};

/// Cosine of half an angle: rotations whose quaternions are closer to a right angle turn by more than 176 degrees.
const HALF_AROUND: f64 = 0.035;
/// Keys closer than this, in seconds, are one that jumps.
const JUMP: f64 = 1e-5;
/// Axes whose scales differ by more than this share are scaled unevenly; less is rounding.
const UNEVEN: f64 = 0.01;

/// Warns of a model, read from `shown`; `moves` says which nodes move something that is drawn.
pub(super) fn lint(model: &Model, shown: &str, moves: &[bool], report: &mut Report<'_>) {
    for clip in &model.clips {
        flips(model, clip, shown, moves, report);
    }
    uneven_scale(model, shown, moves, report);
}

/// Warns of rotations of which the keys do not say which way they turn.
fn flips(model: &Model, clip: &Clip, shown: &str, moves: &[bool], report: &mut Report<'_>) {
    let turned = |c: &&Channel| c.property == Property::Rotation && moves[c.node];
    let mut all = clip.channels.iter().filter(turned).filter_map(|c| Some((c.node, flip(&c.curve)?)));
    let Some((node, [from, to])) = all.next() else { return };
    let label = Label::file(clip.file.as_deref().unwrap_or(shown)).clip(&clip.source);
    let label = label.node(node, Some(&model.nodes[node].name));
    let mut message = format!("it turns half around or more between its keys at {from:.3} s and {to:.3} s");
    match all.count() {
        0 => {}
        1 => message.push_str("; so does another node"),
        more => message.push_str(&format!("; so do {more} other nodes")),
    }
    report.warn(Finding::warning(Code::ClipFlip, message).within(label));
}

/// The first two keys of a rotation between which it turns half around, in seconds; where the interpolation is cubic, also
/// those whose quaternions are of opposite signs: nothing takes the shorter way there.
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

/// Warns of uneven scales of nodes that others hang on.
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
    let Some(&(node, scale, clip)) = found.first() else { return };
    let mut nodes: Vec<usize> = found.iter().map(|(node, ..)| *node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let label = Label::file(clip.and_then(|clip| clip.file.as_deref()).unwrap_or(shown));
    let label = clip.map_or(label.clone(), |clip| label.clip(&clip.source)).node(node, Some(&model.nodes[node].name));
    let [x, y, z] = scale.to_array();
    let mut message = format!("it is scaled unevenly, by {x:.3} x {y:.3} x {z:.3}, and other nodes hang on it");
    match nodes.len() - 1 {
        0 => {}
        1 => message.push_str("; another node is, too"),
        more => message.push_str(&format!("; {more} other nodes are, too")),
    }
    report.warn(Finding::warning(Code::NodeUnevenScale, message).within(label));
}

fn uneven(scale: &DVec3) -> bool {
    let sizes = scale.abs();
    sizes.max_element() - sizes.min_element() > UNEVEN * sizes.max_element()
}
