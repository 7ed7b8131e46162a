//! How many bits each track gets: as few as keep every vertex within the tolerance.
//!
//! Steps start from how far a joint moves what hangs on it. Then rounds of coding and measuring follow, after each of which a
//! joint's steps grow or shrink with what its worst vertex has left: a finger's chain gets what the chain of a leg does not
//! need. The smallest clip within the tolerance wins.

use super::code::{Coded, Rest, LocalClip, Steps, code};
use super::samples::Samples;
use super::skeleton::Skeleton;

/// Rounds of coding and measuring.
const ROUNDS: usize = 14;
/// Rounds in which steps shrink only, where none was within the tolerance.
const RESCUES: usize = 24;
/// How far steps follow what is left, as a power of its share.
const EAGERNESS: f64 = 0.7;
/// Steps change by at most this factor a round.
const GREATEST_CHANGE: f64 = 1.6;
/// Frames at which levers are looked at.
const PROBES: usize = 4;

/// Codes a clip within a tolerance in metres. Where no precision reaches it, as precisely as there are bits.
pub(super) fn fit(skeleton: &Skeleton, rests: &[Rest], samples: &Samples, source: &LocalClip, tolerance: f64) -> Coded {
    let mut steps = first_steps(skeleton, samples, source, tolerance);
    let mut best: Option<(usize, Coded)> = None;
    let frames = source.frames();
    for round in 0..ROUNDS + RESCUES {
        let coded = code(skeleton, rests, source, &steps);
        let worst = by_joint(skeleton, &samples.errors(skeleton, &source.globals, &coded.globals));
        let fits = worst.iter().all(|w| *w <= tolerance);
        if fits {
            let bits = coded.bits(frames);
            if best.as_ref().is_none_or(|b| bits < b.0) {
                best = Some((bits, coded));
            }
        } else if round + 1 == ROUNDS + RESCUES && best.is_none() {
            best = Some((usize::MAX, coded));
        }
        if round + 1 >= ROUNDS && best.is_some() {
            break;
        }
        let only_shrinks = round + 1 >= ROUNDS;
        for (steps, worst) in steps.iter_mut().zip(&worst) {
            let left = (tolerance / worst.max(tolerance * 1e-3)).clamp(1e-6, 1e6);
            let most = if only_shrinks { 0.8 } else { GREATEST_CHANGE };
            let factor = libm::pow(left, EAGERNESS).clamp(1.0 / GREATEST_CHANGE, most);
            steps.rotation *= factor;
            steps.translation *= factor;
            steps.scale *= factor;
        }
    }
    best.expect("the last round leaves one").1
}

/// The worst of the bones at and below each joint.
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

/// Steps that alone would each move something by the tolerance, over what adds up.
fn first_steps(skeleton: &Skeleton, samples: &Samples, source: &LocalClip, tolerance: f64) -> Vec<Steps> {
    let count = skeleton.joints.len();
    let turns =
        |j: usize| source.locals[j].iter().any(|l| l.rotation.dot(source.locals[j][0].rotation).abs() < 1.0 - 1e-9);
    // Levers, metres: to all vertices below, and to what no other rotation takes back.
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
            Steps {
                // A step of the projection is a quarter of an angle.
                rotation: step(4.0 * own[j]),
                translation: step(spread[j]),
                scale: step(reach[j]) * scale.max(1e-6),
            }
        })
        .collect()
}
