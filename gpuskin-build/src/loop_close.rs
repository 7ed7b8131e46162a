//! Closes the seam of a loop: edits curves so that the last pose equals the first.

use glam::{DQuat, DVec4};

use crate::model::{Clip, Curve, Interpolation, Property, WeightCurve};
use crate::sample::{evaluate, evaluate_weights};

/// Greatest part of a clip in which its end is blended into its start, and its greatest length in
/// seconds.
const BLEND_SHARE: f64 = 0.25;
const BLEND_SECONDS: f64 = 0.3;
/// Greatest number of keys that are added to a curve, to bound the memory for clips of absurd length.
const MAX_ADDED_KEYS: f64 = 16_384.0;

/// Appends keys that repeat the first ones, `frame` seconds after the end.
pub(crate) fn repeat_first_key(clip: &mut Clip, frame: f64) {
    let [last, end] = [clip.end, clip.end + frame];
    for curve in clip.channels.iter_mut().map(|channel| &mut channel.curve).filter(|curve| curve.times.len() > 1) {
        let rows = rows(curve.interpolation);
        // A curve that ends earlier holds its last value to the end of the clip.
        if *curve.times.last().expect("several keys") < last {
            let value = curve.values[curve.values.len() - rows + rows / 2];
            push(curve, last, value);
        }
        let first = curve.values[rows / 2];
        push(curve, end, first);
    }
    for curve in clip.morphs.iter_mut().map(|morph| &mut morph.curve).filter(|curve| curve.times.len() > 1) {
        if *curve.times.last().expect("several keys") < last {
            let weights = evaluate_weights(curve, last);
            push_weights(curve, last, &weights);
        }
        let first = evaluate_weights(curve, 0.0);
        push_weights(curve, end, &first);
    }
    clip.end = end;
}

fn rows(interpolation: Interpolation) -> usize {
    if interpolation == Interpolation::CubicSpline { 3 } else { 1 }
}

/// Appends a key; in a cubic spline, one with flat tangents.
fn push(curve: &mut Curve, time: f64, value: DVec4) {
    curve.times.push(time);
    match curve.interpolation {
        Interpolation::CubicSpline => curve.values.extend([DVec4::ZERO, value, DVec4::ZERO]),
        _ => curve.values.push(value),
    }
}

fn push_weights(curve: &mut WeightCurve, time: f64, weights: &[f64]) {
    curve.times.push(time);
    let flat = std::iter::repeat_n(0.0, weights.len());
    match curve.interpolation {
        Interpolation::CubicSpline => curve.values.extend(flat.clone().chain(weights.iter().copied()).chain(flat)),
        _ => curve.values.extend(weights),
    }
}

/// Blends the end of a clip into its start: over the last 0.3 s, or a quarter of a shorter clip, the
/// difference between the ends is added with a weight that rises smoothly from 0 to 1. Curves of the
/// node of the root motion stay as they are. `frame`: time between two keys of the source, in seconds;
/// added keys are multiples of it, so that the frame rate of the clip stays what it is.
pub(crate) fn blend_shut(clip: &mut Clip, frame: f64) {
    let (end, root) = (clip.end, clip.root.map(|root| root.node));
    if end <= 0.0 {
        return;
    }
    let blend = Blend { start: end - (BLEND_SHARE * end).min(BLEND_SECONDS), end, frame };
    for channel in clip.channels.iter_mut().filter(|channel| Some(channel.node) != root) {
        blend.curve(&mut channel.curve, channel.property);
    }
    for channel in &mut clip.morphs {
        blend.weights(&mut channel.curve);
    }
}

/// Interval in which the end of a clip is blended, in seconds.
struct Blend {
    start: f64,
    end: f64,
    /// Time between added keys.
    frame: f64,
}

impl Blend {
    /// Weight of the correction at a time, 0 to 1.
    fn weight(&self, time: f64) -> f64 {
        let u = ((time - self.start) / (self.end - self.start)).clamp(0.0, 1.0);
        u * u * (3.0 - 2.0 * u)
    }

    /// Returns the times of the keys after an edit: the keys of the curve, and one per frame where a
    /// line between two keys would not follow the curve.
    fn times(&self, keys: &[f64], interpolation: Interpolation) -> Vec<f64> {
        let from = if interpolation == Interpolation::CubicSpline { 0.0 } else { self.start };
        let frame = self.frame.max((self.end - from) / MAX_ADDED_KEYS);
        let [first, last] = [from, self.end].map(|time| (time / frame).floor() as u64);
        let between = (first..=last).map(|index| index as f64 * frame);
        let keys = keys.iter().copied().chain(between).filter(|time| *time < self.end - 1e-6);
        let mut times: Vec<f64> = keys.chain([self.end]).collect();
        times.sort_by(f64::total_cmp);
        times.dedup_by(|b, a| *b - *a < 1e-6);
        times
    }

    fn curve(&self, curve: &mut Curve, property: Property) {
        let at = |time| evaluate(curve, property, time);
        let [first, last] = [0.0, self.end].map(at);
        if first == last {
            return;
        }
        if curve.interpolation == Interpolation::Step {
            return hold_first(&mut curve.times, &mut curve.values, self.end, &[first]);
        }
        let times = self.times(&curve.times, curve.interpolation);
        let value = |time: &f64| match property {
            Property::Rotation => turned(at(*time), first, last, self.weight(*time)),
            _ => at(*time) + (first - last) * self.weight(*time),
        };
        let mut values: Vec<DVec4> = times.iter().map(value).collect();
        // Without rounding errors, so that the last frame need not be stored.
        *values.last_mut().expect("the end is a key") = first;
        *curve = Curve { times, values, interpolation: Interpolation::Linear };
    }

    fn weights(&self, curve: &mut WeightCurve) {
        let [first, last] = [0.0, self.end].map(|time| evaluate_weights(curve, time));
        if first == last {
            return;
        }
        if curve.interpolation == Interpolation::Step {
            return hold_first(&mut curve.times, &mut curve.values, self.end, &first);
        }
        let times = self.times(&curve.times, curve.interpolation);
        let values = times.iter().flat_map(|&time| {
            let corrected = |((now, first), last): ((f64, &f64), &f64)| now + (first - last) * self.weight(time);
            evaluate_weights(curve, time).into_iter().zip(&first).zip(&last).map(corrected).collect::<Vec<_>>()
        });
        let mut values: Vec<f64> = values.collect();
        let tail = values.len() - curve.targets;
        values[tail..].copy_from_slice(&first);
        *curve = WeightCurve { times, values, targets: curve.targets, interpolation: Interpolation::Linear };
    }
}

/// Makes the last value of a STEP curve the first one, from `end` on.
fn hold_first<T: Copy>(times: &mut Vec<f64>, values: &mut Vec<T>, end: f64, first: &[T]) {
    if times.last().is_some_and(|last| *last >= end) {
        values.truncate(values.len() - first.len());
    } else {
        times.push(end);
    }
    values.extend_from_slice(first);
}

/// Turns a rotation by a share of the rotation from `last` to `first`, along the shorter arc.
fn turned(now: DVec4, first: DVec4, last: DVec4, share: f64) -> DVec4 {
    let [now, first, last] = [now, first, last].map(DQuat::from_vec4);
    let correction = first * last.inverse();
    let correction = if correction.w < 0.0 { -correction } else { correction };
    let axis = DVec4::new(correction.x, correction.y, correction.z, 0.0);
    let (sine, cosine) = (axis.length(), correction.w);
    if sine < 1e-12 {
        return now.into();
    }
    // Functions of `libm`, so that the same input gives the same bits on every machine.
    let half = share * libm::atan2(sine, cosine);
    let part = axis / sine * libm::sin(half);
    (DQuat::from_xyzw(part.x, part.y, part.z, libm::cos(half)) * now).normalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Channel, MorphChannel, RootMotionSource};

    fn channel(node: usize, property: Property, times: &[f64], values: &[DVec4]) -> Channel {
        let curve = Curve { times: times.to_vec(), values: values.to_vec(), interpolation: Interpolation::Linear };
        Channel { node, property, curve }
    }

    fn about_y(angle: f64) -> DVec4 {
        DVec4::new(0.0, (0.5 * angle).sin(), 0.0, (0.5 * angle).cos())
    }

    fn x(x: f64) -> DVec4 {
        DVec4::new(x, 0.0, 0.0, 0.0)
    }

    #[test]
    fn repeated_key_closes_all_curves() {
        let short = channel(1, Property::Translation, &[0.0, 0.5], &[x(1.0), x(2.0)]);
        let constant = channel(2, Property::Scale, &[0.0], &[x(7.0)]);
        let long = channel(0, Property::Translation, &[0.0, 1.0], &[x(3.0), x(4.0)]);
        let mut clip = Clip { channels: vec![short, constant.clone(), long], end: 1.0, ..Clip::default() };
        repeat_first_key(&mut clip, 0.1);
        assert_eq!(clip.end, 1.1);
        assert_eq!(clip.channels[0].curve.times, [0.0, 0.5, 1.0, 1.1]);
        assert_eq!(clip.channels[0].curve.values, [x(1.0), x(2.0), x(2.0), x(1.0)]);
        assert_eq!(clip.channels[1], constant);
        assert_eq!(clip.channels[2].curve.values, [x(3.0), x(4.0), x(3.0)]);
    }

    #[test]
    fn blend_changes_the_end_only() {
        let moved = channel(0, Property::Translation, &[0.0, 2.0], &[x(0.0), x(0.4)]);
        let turned = channel(0, Property::Rotation, &[0.0, 2.0], &[about_y(0.2), about_y(1.0)]);
        let morphs = WeightCurve {
            times: vec![0.0, 2.0],
            values: vec![0.0, 1.0, 0.5, 1.0],
            targets: 2,
            interpolation: Interpolation::Linear,
        };
        let morphs = vec![MorphChannel { node: 0, curve: morphs }];
        let source = Clip { channels: vec![moved, turned], morphs, end: 2.0, ..Clip::default() };
        let mut clip = source.clone();
        blend_shut(&mut clip, 1.0 / 120.0);
        for (before, after) in source.channels.iter().zip(&clip.channels) {
            let at = |channel: &Channel, time| evaluate(&channel.curve, channel.property, time);
            assert_eq!(at(after, 2.0), at(before, 0.0));
            for time in [0.0, 0.7, 1.69] {
                assert!(at(after, time).abs_diff_eq(at(before, time), 1e-9), "{time}");
            }
            // Halfway through the blend, half of the difference is corrected.
            let expected = match before.property {
                Property::Rotation => about_y(0.2 + 0.8 * 1.85 / 2.0 - 0.4),
                _ => x(0.4 * 1.85 / 2.0 - 0.2),
            };
            assert!(at(after, 1.85).abs_diff_eq(expected, 1e-4), "{} {expected}", at(after, 1.85));
        }
        let weights = |time| evaluate_weights(&clip.morphs[0].curve, time);
        assert_eq!(weights(2.0), [0.0, 1.0]);
        assert!((weights(1.0)[0] - 0.25).abs() < 1e-9);
        assert_eq!(clip.end, 2.0);
    }

    #[test]
    fn blend_keeps_root_motion_and_steps() {
        let walk = channel(3, Property::Translation, &[0.0, 1.0], &[x(0.0), x(5.0)]);
        let mut blink = channel(1, Property::Scale, &[0.0, 0.5], &[x(1.0), x(0.0)]);
        blink.curve.interpolation = Interpolation::Step;
        let root = Some(RootMotionSource { node: 3, planar: true });
        let mut clip = Clip { channels: vec![walk.clone(), blink], end: 1.0, root, ..Clip::default() };
        blend_shut(&mut clip, 1.0 / 120.0);
        assert_eq!(clip.channels[0], walk);
        assert_eq!(clip.channels[1].curve.times, [0.0, 0.5, 1.0]);
        assert_eq!(clip.channels[1].curve.values, [x(1.0), x(0.0), x(1.0)]);
    }
}
