//! Error of a model whose morph targets are not baked.

use glam::DVec3;

use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::model::{Clip, Interpolation, Model, Primitive, WeightCurve};
use crate::sample::{Rows, Sampler, evaluate_weights};
use crate::units::length;

/// Number of times sampled between two keys of a CUBICSPLINE curve, which can overshoot its keys.
const BETWEEN: u32 = 4;
/// Maximum number of sampled times whose vertices are evaluated: those with the greatest possible
/// displacement. A face has thousands of keys, and tens of targets per vertex.
const LOOKED_AT: usize = 64;

/// A time at which morph targets displace vertices.
struct MorphSample<'a> {
    node: usize,
    /// The clip; `None` for the rest pose, if some clip does not animate the weights.
    clip: Option<&'a Clip>,
    seconds: f64,
    /// Upper bound of the displacement of any vertex before skinning, in units of the file: the sum
    /// of each weight times the greatest displacement of its target.
    bound: f64,
}

/// Returns a warning with the greatest vertex error if morph targets are not baked, or `None` if
/// the model has no morph targets.
pub(super) fn in_bone_mode(model: &Model) -> Option<Diagnostic> {
    model.primitives.iter().find(|p| !p.targets.is_empty())?;
    let Some((loss, sample)) = greatest(model) else {
        let message = "morph targets are not baked; no clip uses them, so the drawn model does not change";
        return Some(Diagnostic::warning(DiagnosticCode::MorphLost, message));
    };
    let when = match sample.clip {
        Some(clip) => format!("clip `{}` at {:.3} s", clip.source, sample.seconds),
        None => "in the rest pose".to_owned(),
    };
    let (node, name) = (sample.node, &model.nodes[sample.node].name);
    let off = length(loss as f32);
    let message =
        format!("morph targets are not baked: vertices of node {node} `{name}` have an error of up to {off} ({when})");
    Some(Diagnostic::warning(DiagnosticCode::MorphLost, message).help("remove `morphs = false`"))
}

/// Returns the greatest displacement by morph targets, in metres, or `None` if it is zero.
fn greatest(model: &Model) -> Option<(f64, MorphSample<'_>)> {
    let mut worst: Option<(f64, MorphSample<'_>)> = None;
    for sample in samples(model) {
        let displacement = displacement(model, &sample);
        if displacement > worst.as_ref().map_or(0.0, |(most, _)| *most) {
            worst = Some((displacement, sample));
        }
    }
    worst
}

/// Returns the times to evaluate: keys of weights, and the rest pose for weights that some clip
/// does not animate.
fn samples(model: &Model) -> Vec<MorphSample<'_>> {
    let mut samples = Vec::new();
    let reaches = reaches(model);
    let bound = |node: usize, weights: &[f64]| -> f64 {
        weights.iter().zip(&reaches[node]).map(|(weight, reach)| weight.abs() * reach).sum()
    };
    let mut moved = vec![0; model.nodes.len()];
    for clip in &model.clips {
        for channel in clip.morphs.iter().filter(|c| !reaches[c.node].is_empty()) {
            let node = channel.node;
            moved[node] += 1;
            for seconds in times(&channel.curve, clip.end) {
                let bound = bound(node, &evaluate_weights(&channel.curve, seconds));
                samples.push(MorphSample { node, clip: Some(clip), seconds, bound });
            }
            keep_greatest(&mut samples);
        }
    }
    for (node, data) in model.nodes.iter().enumerate() {
        if moved[node] < model.clips.len() && !reaches[node].is_empty() {
            samples.push(MorphSample { node, clip: None, seconds: 0.0, bound: bound(node, &data.weights) });
        }
    }
    keep_greatest(&mut samples);
    samples
}

fn keep_greatest(samples: &mut Vec<MorphSample<'_>>) {
    samples.retain(|sample| sample.bound > 0.0);
    samples.sort_by(|a, b| b.bound.total_cmp(&a.bound));
    samples.truncate(LOOKED_AT);
}

/// For each node, the greatest displacement by each of its morph targets at weight one, in units of
/// the file.
fn reaches(model: &Model) -> Vec<Vec<f64>> {
    let mut reaches = vec![Vec::new(); model.nodes.len()];
    for primitive in &model.primitives {
        let reaches: &mut Vec<f64> = &mut reaches[primitive.node];
        if reaches.len() < primitive.targets.len() {
            reaches.resize(primitive.targets.len(), 0.0);
        }
        for (reach, target) in reaches.iter_mut().zip(&primitive.targets) {
            *reach = target.positions.iter().map(|delta| delta.length()).fold(*reach, f64::max);
        }
    }
    reaches
}

/// Returns times in seconds at which weights may have their maximum.
fn times(curve: &WeightCurve, end: f64) -> Vec<f64> {
    let steps = if curve.interpolation == Interpolation::CubicSpline { BETWEEN + 1 } else { 1 };
    let mut times = vec![0.0, end];
    for (i, &key) in curve.times.iter().enumerate() {
        let next = curve.times.get(i + 1).copied().unwrap_or(key);
        for step in 0..steps {
            times.push(key + (next - key) * f64::from(step) / f64::from(steps));
        }
    }
    times.retain(|seconds| (0.0..=end).contains(seconds));
    times
}

/// Returns the greatest displacement of a vertex by morph targets at a time, in metres.
fn displacement(model: &Model, sample: &MorphSample<'_>) -> f64 {
    let sampler = Sampler::new(model, sample.clip);
    let weights = sampler.morph_weights(sample.node, sample.seconds);
    let bones = sampler.skin_matrices(sample.seconds);
    let of_vertex = |primitive: &Primitive, v: usize| {
        let moved = primitive.position(v, &weights) - primitive.positions[v];
        let influences = primitive.influences.of(v).iter();
        let moved: DVec3 = influences.map(|&(bone, weight)| turned(&bones[usize::from(bone)], moved) * weight).sum();
        moved.length()
    };
    let primitives = model.primitives.iter().filter(|p| p.node == sample.node);
    let all = primitives.flat_map(|p| (0..p.positions.len()).map(move |v| (p, v)));
    all.map(|(primitive, v)| of_vertex(primitive, v)).fold(0.0, f64::max)
}

fn turned(rows: &Rows, v: DVec3) -> DVec3 {
    DVec3::from(rows.map(|r| r[0] * v.x + r[1] * v.y + r[2] * v.z))
}
