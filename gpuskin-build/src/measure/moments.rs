//! When a clip is measured, and what it shows then.

use gpuskin_rt::playback::{clamped_offset, frame_pair};
use gpuskin_rt::{ClipRecord, Playback, SkinMatrix, Texels, Time};

use super::MeasuredTimes;
use crate::frames::FrameGrid;
use crate::model::Clip;

/// Motion error is measured at so many times a frame.
const MOTION_OVERSAMPLING: u32 = 4;

/// A time at which a clip is measured.
#[derive(Clone, Copy)]
pub(crate) struct SampleTime {
    pub(crate) seconds: f64,
    /// A frame stands there.
    frame: bool,
}

/// The times at which a clip is measured, ascending.
pub(crate) struct SampleTimes {
    /// Where frames stand.
    pub(crate) frames: Vec<SampleTime>,
    pub(crate) between: Vec<SampleTime>,
}

impl SampleTimes {
    /// `morphs`: keys of morph weights are among them.
    pub(crate) fn new(clip: &Clip, grid: &FrameGrid, times: MeasuredTimes, morphs: bool) -> Self {
        let (frames, between) = instants(clip, grid, times, morphs).into_iter().partition(|instant| instant.frame);
        Self { frames, between }
    }
}

/// The matrices of all bones as drawn at a time of a clip, between frames too.
pub fn drawn_pose(texels: &Texels<'_>, grid: &FrameGrid, record: &ClipRecord, seconds: f64) -> Vec<SkinMatrix> {
    let frames = frame_pair(&playback_at(grid, seconds), record, Time::ZERO);
    texels.pose(frames)
}

/// The playback that shows a time of a clip, held at its ends; of the first clip of its table.
pub fn playback_at(grid: &FrameGrid, seconds: f64) -> Playback {
    let fraction = if grid.duration > 0.0 { seconds / grid.duration } else { 0.0 };
    Playback { offset: clamped_offset(fraction), clip: Playback::ONCE, ..Playback::default() }
}

fn instants(clip: &Clip, grid: &FrameGrid, times: MeasuredTimes, morphs: bool) -> Vec<SampleTime> {
    if let MeasuredTimes::Some(most) = times {
        let step = (grid.stored.div_ceil(most.max(1))).max(1) as usize;
        return (0..grid.stored).step_by(step).map(|row| SampleTime { seconds: grid.time_of(row), frame: true }).collect();
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
    // Keys that stand on the grid but for the rounding of f32 are not measured twice.
    let same = 1e-3 * grid.duration / fine as f64;
    all.dedup_by(|b, a| b.seconds - a.seconds < same && !b.frame);
    all
}
