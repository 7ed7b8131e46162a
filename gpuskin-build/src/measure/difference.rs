//! Difference of the source from the drawn model over time, rounded so that a report can contain it.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::SampleTime;
use crate::frames::FrameGrid;

/// Maximum number of values of a model.
const MAX_VALUES: u64 = 1 << 21;
/// Maximum number of drawn vertices of a model.
const MAX_VERTICES: usize = 1 << 14;
/// Greatest value in steps. More steps are noise, which does not compress.
const STEPS: f32 = 15.0;
/// Tolerance in halves of an interval: smaller differences of times are rounding errors.
const ROUNDING: f64 = 5e-4;

/// Numbers as whole multiples of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundedValues {
    pub step: f32,
    pub values: Vec<i8>,
}

/// Source minus drawn model in a clip, at frames and midway between them, rounded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClipDifference {
    /// Metres per step at frames.
    pub step: f32,
    /// Metres per step midway between frames; at least `step`.
    pub step_between: f32,
    /// Steps at frames. In bone mode `[box][row][column][frame]`, see [`BoneBox::terms`]; in vertex mode
    /// `[texture row of a vertex][axis][frame]`. Empty if a model has too many values.
    pub at_frames: Vec<i8>,
    /// Steps midway between two frames, beyond the mean of both as rounded: encodings that blend matrices leave almost zero.
    /// As `at_frames`, with intervals for frames.
    pub between: Vec<i8>,
}

/// Difference at one sample time, in metres.
pub(crate) struct SampleDifference {
    /// Time in halves of an interval between frames.
    half: u32,
    values: Vec<f32>,
}

/// Box around the drawn vertices that a bone moves, in the bind pose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoneBox {
    pub bone: u32,
    /// In metres.
    pub centre: [f32; 3],
    /// Half of the size, in metres.
    pub half: [f32; 3],
}

impl RoundedValues {
    /// Rounds numbers to `steps` steps on each side of zero, at most 127.
    pub(super) fn new(values: &[f32], steps: f32) -> Self {
        let step = greatest(values) / steps;
        Self { step, values: values.iter().map(|value| rounded(*value, step, steps)).collect() }
    }
}

impl ClipDifference {
    /// Whether the differences of a model are kept: `values` per sample time, in clips with the given frames, of a mesh with
    /// `vertices`.
    pub(crate) fn kept(grids: &[FrameGrid], values: usize, vertices: usize) -> bool {
        let samples: u64 = grids.iter().map(|grid| 2 * u64::from(grid.intervals) + 1).sum();
        values > 0 && vertices <= MAX_VERTICES && samples.saturating_mul(values as u64) <= MAX_VALUES
    }

    /// Rounds the differences at the sample times of a clip, which come in any order. Empty if one is missing.
    pub(crate) fn new(mut samples: Vec<SampleDifference>) -> Self {
        samples.sort_by_key(|sample| sample.half);
        samples.dedup_by_key(|sample| sample.half);
        if samples.len().is_multiple_of(2) || (0..).zip(&samples).any(|(half, sample)| half != sample.half) {
            return Self::default();
        }
        let (frames, midway): (Vec<_>, Vec<_>) = samples.into_iter().partition(|sample| sample.half.is_multiple_of(2));
        let step = frames.iter().map(|sample| greatest(&sample.values)).fold(0.0, f32::max) / STEPS;
        let (mut at_frames, mut beyond) = (Vec::new(), Vec::new());
        for value in 0..frames[0].values.len() {
            let first = at_frames.len();
            at_frames.extend(frames.iter().map(|sample| rounded(sample.values[value], step, STEPS)));
            let ends = at_frames[first..].windows(2);
            let mean = |ends: &[i8]| 0.5 * step * (f32::from(ends[0]) + f32::from(ends[1]));
            beyond.extend(midway.iter().zip(ends).map(|(sample, ends)| sample.values[value] - mean(ends)));
        }
        let step_between = step.max(greatest(&beyond) / STEPS);
        let between = beyond.into_iter().map(|value| rounded(value, step_between, STEPS)).collect();
        Self { step, step_between, at_frames, between }
    }
}

impl SampleDifference {
    /// Creates the difference at a sample time; `None` if the time is neither that of a frame nor midway between two.
    pub(crate) fn new(grid: &FrameGrid, sample: &SampleTime, values: impl FnOnce() -> Vec<f32>) -> Option<Self> {
        let halves =
            if grid.duration > 0.0 { 2.0 * f64::from(grid.intervals) * sample.seconds / grid.duration } else { 0.0 };
        let half = halves.round();
        ((halves - half).abs() < ROUNDING).then(|| Self { half: half as u32, values: values() })
    }
}

impl BoneBox {
    /// Returns the boxes of bones that move vertices. `positions` yields a position in metres and a bone with a weight.
    pub(super) fn all(positions: impl Iterator<Item = (Vec3, u32)>, bones: usize) -> Vec<Self> {
        let mut boxes: Vec<Option<(Vec3, Vec3)>> = vec![None; bones];
        for (position, bone) in positions {
            let (low, high) = boxes[bone as usize].get_or_insert((position, position));
            (*low, *high) = (low.min(position), high.max(position));
        }
        let found = (0..).zip(boxes).filter_map(|(bone, ends)| Some((bone, ends?)));
        let made = |(bone, (low, high)): (u32, (Vec3, Vec3))| {
            let (centre, half) = (0.5 * (low + high), 0.5 * (high - low));
            Self { bone, centre: centre.into(), half: half.into() }
        };
        found.map(made).collect()
    }

    /// Returns the displacements in the box by a difference of matrices, in metres: per row the displacement of the centre in the
    /// last column, and in the others the change from there to a side.
    pub(super) fn terms(&self, difference: &[[f32; 4]; 3]) -> [f32; 12] {
        let ([x, y, z], [right, up, front]) = (self.centre, self.half);
        let row = |[a, b, c, d]: [f32; 4]| [a * right, b * up, c * front, a * x + b * y + c * z + d];
        let [first, second, third] = difference.map(row);
        let mut terms = [0.0; 12];
        terms[..4].copy_from_slice(&first);
        terms[4..8].copy_from_slice(&second);
        terms[8..].copy_from_slice(&third);
        terms
    }
}

/// Returns the greatest magnitude of finite values.
fn greatest(values: &[f32]) -> f32 {
    values.iter().filter(|value| value.is_finite()).fold(0.0, |most, value| most.max(value.abs()))
}

/// Returns a value in whole steps, at most `steps` on each side of zero, which is at most 127.
fn rounded(value: f32, step: f32, steps: f32) -> i8 {
    if value == 0.0 { 0 } else { (value / step).round().clamp(-steps, steps) as i8 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(seconds: &[f64]) -> Vec<SampleDifference> {
        let grid = FrameGrid::new(1.0, 2.0, false);
        let time = |seconds: f64| SampleTime { seconds, frame: seconds % 0.5 == 0.0 };
        seconds.iter().filter_map(|at| SampleDifference::new(&grid, &time(*at), || vec![*at as f32, -2.0])).collect()
    }

    #[test]
    fn frames_and_times_midway_are_kept() {
        let found = ClipDifference::new(samples(&[0.75, 0.25, 0.125, 0.0, 1.0, 0.5, 0.3]));
        let step = 2.0 / 15.0;
        // Seconds at 0, 1/2 and 1, and a constant.
        assert_eq!((found.step, &found.at_frames[..]), (step, &[0, 4, 7, -15, -15, -15][..]));
        assert_eq!((found.step_between, &found.between[..]), (step, &[0, 0, 0, 0][..]));
        let mut bent = samples(&[0.0, 0.25, 0.5]);
        bent[1].values = vec![2.0, 4.0];
        let bent = ClipDifference::new(bent);
        // 2 m beyond the mean of 0 and 4 steps, 4 m beyond -2 m.
        assert_eq!((bent.step_between, bent.between), (6.0 / 15.0, vec![4, 15]));
        // Exact at frames.
        let mut curved = samples(&[0.0, 0.25, 0.5]);
        curved.iter_mut().step_by(2).for_each(|sample| sample.values = vec![0.0; 2]);
        let curved = ClipDifference::new(curved);
        assert_eq!((curved.step, curved.step_between, curved.between), (0.0, step, vec![2, -15]));
        assert_eq!(ClipDifference::new(samples(&[0.0, 0.25, 0.75, 1.0])), ClipDifference::default());
        assert_eq!(ClipDifference::new(Vec::new()), ClipDifference::default());
    }

    #[test]
    fn numbers_that_are_not_finite_do_not_set_the_step() {
        let rounded = RoundedValues::new(&[1.0, -0.5, f32::INFINITY, f32::NAN, 0.0], 127.0);
        assert_eq!((rounded.step, &rounded.values[..]), (1.0 / 127.0, &[127, -64, 127, 0, 0][..]));
        assert_eq!(RoundedValues::new(&[0.0, f32::NEG_INFINITY], 31.0).values, [0, -31]);
    }

    #[test]
    fn terms_give_back_the_displacement_of_a_point() {
        let points = [Vec3::new(0.0, 1.0, 2.0), Vec3::new(2.0, 1.0, -2.0)];
        let [found] = &BoneBox::all(points.iter().map(|point| (*point, 1)), 3)[..] else {
            panic!("one bone has points")
        };
        assert_eq!(*found, BoneBox { bone: 1, centre: [1.0, 1.0, 0.0], half: [1.0, 0.0, 2.0] });
        let difference = [[1.0, 2.0, 3.0, 4.0], [0.0, -1.0, 0.5, 0.0], [0.0; 4]];
        let terms = found.terms(&difference);
        for point in points {
            let side = |axis: usize| {
                if found.half[axis] > 0.0 { (point[axis] - found.centre[axis]) / found.half[axis] } else { 0.0 }
            };
            for (row, terms) in difference.iter().zip(terms.chunks(4)) {
                let exact = row[0] * point.x + row[1] * point.y + row[2] * point.z + row[3];
                assert_eq!(terms[0] * side(0) + terms[1] * side(1) + terms[2] * side(2) + terms[3], exact);
            }
        }
    }

    #[test]
    fn large_models_are_left_out() {
        let grid = FrameGrid::new(10.0, 30.0, false);
        assert!(ClipDifference::kept(&[grid], 12, 8) && !ClipDifference::kept(&[grid], 0, 8));
        assert!(!ClipDifference::kept(&[grid; 100], 12 * 100, 8));
        assert!(!ClipDifference::kept(&[grid], 12, 20_000));
    }
}
