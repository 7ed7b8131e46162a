//! Bit allocation: finds the fewest bits per track that keep every vertex within the tolerance.
//!
//! The first quantisation steps follow from how far a joint moves its vertices. In each round, the
//! clip is encoded and measured, and the steps of a joint grow or shrink with the remaining
//! tolerance of its worst vertex: a finger gets tolerance that a leg does not need. The smallest
//! encoding within the tolerance is used.

use super::clip::{EncodedClip, LocalClip, QuantizationSteps, RestTransform, code};
use super::samples::Samples;
use super::skeleton::Skeleton;

/// Number of rounds of encoding and measuring.
const MAX_ROUNDS: usize = 14;
/// Number of extra rounds in which steps only shrink, if no round was within the tolerance.
const RESCUES: usize = 24;
/// Exponent of the step adjustment: steps change by (tolerance / error) to this power.
const EAGERNESS: f64 = 0.7;
/// Maximum factor by which a step changes per round.
const MAX_CHANGE: f64 = 1.6;
/// Number of frames at which lever arms are measured.
const PROBES: usize = 4;

/// Encodes a clip within a tolerance in metres. If no precision is within the tolerance, uses the
/// maximum bit widths.
pub(super) fn fit(
    skeleton: &Skeleton,
    rests: &[RestTransform],
    samples: &Samples,
    source: &LocalClip,
    tolerance: f64,
) -> EncodedClip {
    let mut steps = first_steps(skeleton, samples, source, tolerance);
    let mut best: Option<(usize, EncodedClip)> = None;
    let frames = source.frames();
    for round in 0..MAX_ROUNDS + RESCUES {
        let coded = code(skeleton, rests, source, &steps);
        let worst = by_joint(skeleton, &samples.errors(skeleton, &source.globals, &coded.globals));
        let fits = worst.iter().all(|w| *w <= tolerance);
        if fits {
            let bits = coded.bits(frames);
            if best.as_ref().is_none_or(|b| bits < b.0) {
                best = Some((bits, coded));
            }
        } else if round + 1 == MAX_ROUNDS + RESCUES && best.is_none() {
            best = Some((usize::MAX, coded));
        }
        if round + 1 >= MAX_ROUNDS && best.is_some() {
            break;
        }
        let only_shrinks = round + 1 >= MAX_ROUNDS;
        for (steps, worst) in steps.iter_mut().zip(&worst) {
            let left = (tolerance / worst.max(tolerance * 1e-3)).clamp(1e-6, 1e6);
            let most = if only_shrinks { 0.8 } else { MAX_CHANGE };
            let factor = libm::pow(left, EAGERNESS).clamp(1.0 / MAX_CHANGE, most);
            steps.rotation *= factor;
            steps.translation *= factor;
            steps.scale *= factor;
        }
    }
    best.expect("the last round stores a result").1
}

/// Returns, for each joint, the greatest error of the bones at and below it.
fn by_joint(skeleton: &Skeleton, bones: &[f64]) -> Vec<f64> {
    let mut worst = vec![0.0; skeleton.joints.len()];
    for (bone, error) in skeleton.bones.iter().zip(bones) {
        worst[bone.joint] = f64::max(worst[bone.joint], *error);
    }
    for j in (0..worst.len()).rev() {
        if let Some(p) = skeleton.joints[j].parent {
            worst[p] = f64::max(worst[p], worst[j]);
        }
    }
    worst
}

/// Returns first steps, each of which alone moves a vertex by at most the tolerance.
fn first_steps(skeleton: &Skeleton, samples: &Samples, source: &LocalClip, tolerance: f64) -> Vec<QuantizationSteps> {
    let count = skeleton.joints.len();
    let turns =
        |j: usize| source.locals[j].iter().any(|l| l.rotation.dot(source.locals[j][0].rotation).abs() < 1.0 - 1e-9);
    // Lever arms in metres: `reach` to all vertices below the joint, `own` to vertices and joints
    // whose error no other rotation corrects.
    let (mut reach, mut own) = (vec![0.0_f64; count], vec![0.0_f64; count]);
    let mut spread = vec![0.0_f64; count];
    let frames = source.frames();
    for probe in 0..PROBES.min(frames) {
        let f = probe * frames / PROBES.min(frames);
        let place = |j: usize| source.globals[j][f].w_axis.truncate();
        for (b, bone) in skeleton.bones.iter().enumerate() {
            let to_model = source.globals[bone.joint][f] * bone.inverse_bind;
            for p in samples.of_bone(b).map(|p| to_model.transform_point3(p)) {
                let (mut next, mut direct) = (Some(bone.joint), true);
                while let Some(j) = next {
                    let lever = p.distance(place(j));
                    reach[j] = reach[j].max(lever);
                    if direct {
                        own[j] = own[j].max(lever);
                    }
                    direct &= !turns(j);
                    next = skeleton.joints[j].parent;
                }
            }
        }
        for (j, joint) in skeleton.joints.iter().enumerate() {
            let mut next = joint.parent;
            while let Some(p) = next {
                own[p] = own[p].max(place(j).distance(place(p)));
                if turns(p) {
                    break;
                }
                next = skeleton.joints[p].parent;
            }
            let above = joint.parent.map_or(glam::DMat4::IDENTITY, |p| source.globals[p][f]);
            let columns = [above.x_axis, above.y_axis, above.z_axis];
            spread[j] = columns.iter().fold(spread[j], |s, c| s.max(c.truncate().length()));
        }
    }
    let step = |lever: f64| if lever > 0.0 { tolerance / lever } else { 1.0 };
    (0..count)
        .map(|j| {
            let scale = source.locals[j].iter().fold(0.0, |s: f64, l| s.max(l.scale.abs().max_element()));
            QuantizationSteps {
                // The projection is about a quarter of the angle.
                rotation: step(4.0 * own[j]),
                translation: step(spread[j]),
                scale: step(reach[j]) * scale.max(1e-6),
            }
        })
        .collect()
}
