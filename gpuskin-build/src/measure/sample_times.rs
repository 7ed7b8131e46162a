//! Times at which a clip is measured, and the pose drawn at each.

use crate::frames::FrameGrid;
use crate::model::Clip;

/// Number of samples per frame interval for measuring the motion error.
const MOTION_OVERSAMPLING: u32 = 4;

/// A time at which a clip is measured.
#[derive(Clone, Copy)]
pub(crate) struct SampleTime {
    pub(crate) seconds: f64,
    /// Whether a frame has this time.
    pub(super) frame: bool,
}

/// Times at which a clip is measured, ascending.
pub(crate) struct SampleTimes {
    /// Times of frames.
    pub(crate) frames: Vec<SampleTime>,
    pub(crate) between: Vec<SampleTime>,
}

impl SampleTimes {
    /// Returns the sample times of a clip. `morphs` adds the key times of morph weights.
    pub(crate) fn new(clip: &Clip, grid: &FrameGrid, times: MeasuredTimes, morphs: bool) -> Self {
        let (frames, between) = sample_times(clip, grid, times, morphs).into_iter().partition(|sample| sample.frame);
        Self { frames, between }
    }
}

fn sample_times(clip: &Clip, grid: &FrameGrid, times: MeasuredTimes, morphs: bool) -> Vec<SampleTime> {
    if let MeasuredTimes::Some(most) = times {
        let step = (grid.stored.div_ceil(most.max(1))).max(1) as usize;
        return (0..grid.stored)
            .step_by(step)
            .map(|row| SampleTime { seconds: grid.time_of(row), frame: true })
            .collect();
    }
    if grid.duration == 0.0 {
        return vec![SampleTime { seconds: 0.0, frame: true }];
    }
    let fine = u64::from(grid.intervals) * u64::from(MOTION_OVERSAMPLING);
    let on_grid = (0..=fine).map(|i| {
        let frame = i % u64::from(MOTION_OVERSAMPLING) == 0;
        let seconds = if frame {
            grid.time((i / u64::from(MOTION_OVERSAMPLING)) as u32)
        } else {
            grid.duration * i as f64 / fine as f64
        };
        SampleTime { seconds, frame }
    });
    let inside = |t: &f64| (0.0..=grid.duration).contains(t);
    let morph_keys = clip.morphs.iter().filter(|_| morphs).flat_map(|c| &c.curve.times);
    let keys = clip.channels.iter().flat_map(|c| &c.curve.times).chain(morph_keys).copied().filter(inside);
    let mut all: Vec<SampleTime> = on_grid.chain(keys.map(|seconds| SampleTime { seconds, frame: false })).collect();
    all.sort_by(|a, b| a.seconds.total_cmp(&b.seconds).then(b.frame.cmp(&a.frame)));
    // Keys that equal a grid time but for `f32` rounding are not measured twice.
    let same = 1e-3 * grid.duration / fine as f64;
    all.dedup_by(|b, a| b.seconds - a.seconds < same && !b.frame);
    all
}

/// Times at which errors are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasuredTimes {
    /// At frames, between frames, and at source keys.
    All,
    /// At no more than this many frames per clip, for an estimate.
    Some(u32),
}
