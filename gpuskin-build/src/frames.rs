//! Where a clip's frames stand, and whether its ends meet.

use gpuskin_rt::Aabb;

use crate::manifest::Fps;
use crate::model::{Clip, Curve, Interpolation, Model, WeightCurve};
use crate::sample::{Rows, Sampler};
use crate::vertex_mode::Evaluator;

/// Rate where the keys of a clip have none of their own.
const FALLBACK_RATE: f64 = 30.0;
/// Least rate that `fps = "source"` bakes at. Hand-keyed clips have a key or two a second; poses are joined by chords, so
/// such a rate is multiplied until frames are close enough, and still every key falls on a frame.
const LEAST_SOURCE_RATE: f64 = 24.0;
/// Greatest rate that is taken for a frame rate rather than for noise in the key times.
const GREATEST_SOURCE_RATE: f64 = 240.0;
/// How far, in frames, a key may be from the frame that it belongs to: `f32` seconds at a minute are good to 1e-4.
const KEY_TOLERANCE: f64 = 5e-3;
/// Distance between the ends of a clip that still counts as meeting: of the rest pose's diagonal, 0.1 mm on 2 m.
pub const SEAM_TOLERANCE: f64 = 5e-5;
/// The same where the encoding is the exact baseline.
pub const EXACT_SEAM_TOLERANCE: f64 = 5e-6;

/// The frames of a clip: `intervals + 1` poses from its start to its end, of which the last may be the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameGrid {
    /// Seconds.
    pub duration: f64,
    /// Intervals between frames, at least 1.
    pub intervals: u32,
    /// Frames stored.
    pub stored: u32,
}

impl FrameGrid {
    /// `closed`: the last pose is the first, and is not stored again. A clip without length is one frame.
    pub fn new(duration: f64, rate: f64, closed: bool) -> Self {
        if duration <= 0.0 {
            return Self { duration: 0.0, intervals: 1, stored: 1 };
        }
        // 1e-4 of a frame is rounding, not another frame.
        let intervals = (duration * rate - 1e-4).ceil().clamp(1.0, f64::from(u32::MAX - 1)) as u32;
        Self { duration, intervals, stored: if closed { intervals } else { intervals + 1 } }
    }

    /// Time of a frame in seconds; `frame` up to `intervals`.
    pub fn time(&self, frame: u32) -> f64 {
        self.duration * f64::from(frame) / f64::from(self.intervals)
    }

    /// Frames a second as baked; 0 for a clip without length.
    pub fn rate(&self) -> f64 {
        if self.duration > 0.0 { f64::from(self.intervals) / self.duration } else { 0.0 }
    }
}

/// The rate at which a clip is baked; `morphs`: with its morph weights. [`Fps::Auto`] and [`Fps::Enough`] start at the source's.
pub fn rate(clip: &Clip, fps: Fps, morphs: bool) -> f64 {
    let source = || source_rate(clip, morphs).unwrap_or(FALLBACK_RATE);
    match fps {
        Fps::Rate(rate) => rate,
        Fps::Share(share) => source() * share,
        Fps::Source | Fps::Enough | Fps::Auto => source(),
    }
}

/// Rates to search for one whose motion error is allowed, lowest first: multiples of the source's and, with `fewer`, the
/// source's divided by whole numbers, so that frames stand on keys.
pub fn rate_ladder(clip: &Clip, fewer: bool, morphs: bool) -> Vec<f64> {
    let source = source_rate(clip, morphs).unwrap_or(FALLBACK_RATE);
    let down = [24, 20, 16, 12, 10, 8, 6, 5, 4, 3, 2].map(|divisor| source / f64::from(divisor));
    let up = [1, 2, 3, 4, 6, 8].map(|factor| source * f64::from(factor));
    let down = down.into_iter().filter(|_| fewer);
    let mut rates: Vec<f64> = down.chain(up).filter(|rate| *rate <= GREATEST_SOURCE_RATE * 1.001).collect();
    // Rates of less than a frame a clip are all the same.
    rates.dedup_by_key(|rate| FrameGrid::new(clip.end, *rate, false).intervals);
    rates
}

/// The rate of which all keys of a clip are frames, or a multiple that is at least [`LEAST_SOURCE_RATE`].
fn source_rate(clip: &Clip, morphs: bool) -> Option<f64> {
    let morph_keys = clip.morphs.iter().filter(|_| morphs).flat_map(|c| &c.curve.times);
    let mut times: Vec<f64> = clip.channels.iter().flat_map(|c| &c.curve.times).chain(morph_keys).copied().collect();
    times.push(0.0);
    times.sort_by(f64::total_cmp);
    let last = *times.last()?;
    let gap =
        times.windows(2).map(|w| w[1] - w[0]).filter(|&g| g * GREATEST_SOURCE_RATE > 0.5).min_by(f64::total_cmp)?;
    // The least gap is one frame, or a few where no two neighbouring frames have keys.
    let rate = (1..=4).find_map(|frames_in_gap| {
        let frames = (last * f64::from(frames_in_gap) / gap).round();
        let rate = frames / last;
        let on_frame = |t: &f64| (t * rate - (t * rate).round()).abs() < KEY_TOLERANCE;
        times.iter().all(on_frame).then_some(rate)
    })?;
    let rate = rate * (LEAST_SOURCE_RATE / rate - 1e-3).ceil().max(1.0);
    (rate <= GREATEST_SOURCE_RATE * 1.001).then_some(rate)
}

/// Whether all curves of a clip hold one value from end to end; `morphs`: those of morph weights, too.
pub fn is_still(clip: &Clip, morphs: bool) -> bool {
    // The tangents of a spline move it between equal values.
    let flat = |interpolation, constant| interpolation != Interpolation::CubicSpline && constant;
    let still = |c: &Curve| flat(c.interpolation, c.values.iter().all(|v| *v == c.values[0]));
    let weights =
        |c: &WeightCurve| flat(c.interpolation, c.values.chunks(c.targets).all(|key| key == &c.values[..c.targets]));
    clip.channels.iter().all(|c| still(&c.curve)) && clip.morphs.iter().all(|c| !morphs || weights(&c.curve))
}

/// Greatest distance, in metres, between a vertex at the clip's start and at its end, but for root motion; `morphs`: with
/// morph targets.
pub fn seam(model: &Model, clip: &Clip, morphs: bool) -> f64 {
    let ends = FrameGrid { duration: clip.end, intervals: 1, stored: 2 };
    if morphs {
        let evaluator = Evaluator::in_place(model, clip, &ends);
        let (start, end) = (evaluator.at(0.0), evaluator.at(clip.end));
        return start.positions().zip(end.positions()).map(|(a, b)| a.distance(b)).fold(0.0, f64::max);
    }
    let sampler = Sampler::in_place(model, clip, &ends);
    greatest_distance(model, &sampler.skin_matrices(0.0), &sampler.skin_matrices(clip.end))
}

/// Bounds of all vertices in the rest pose, metres. Morph targets are in it as the file's own weights have them.
pub fn rest_bounds(model: &Model) -> Aabb {
    let mut bounds = Aabb::EMPTY;
    for at in Evaluator::new(model, None).at(0.0).positions() {
        let at = at.as_vec3().to_array();
        bounds = bounds.union(Aabb { min: at, max: at });
    }
    bounds
}

/// Length of the rest pose's diagonal, metres: what relative tolerances are relative to.
pub fn rest_diagonal(model: &Model) -> f64 {
    f64::from(rest_bounds(model).diagonal())
}

/// Greatest distance, in metres, between any vertex in two poses.
fn greatest_distance(model: &Model, a: &[Rows], b: &[Rows]) -> f64 {
    let mut greatest: f64 = 0.0;
    for primitive in &model.primitives {
        for (v, p) in primitive.positions.iter().enumerate() {
            let mut d = [0.0; 3];
            for &(bone, weight) in primitive.influences.of(v) {
                let (ma, mb) = (&a[bone as usize], &b[bone as usize]);
                for r in 0..3 {
                    d[r] += weight
                        * ((ma[r][0] - mb[r][0]) * p.x
                            + (ma[r][1] - mb[r][1]) * p.y
                            + (ma[r][2] - mb[r][2]) * p.z
                            + (ma[r][3] - mb[r][3]));
                }
            }
            greatest = greatest.max(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        }
    }
    greatest.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Channel, Property};
    use glam::DVec4;

    fn clip(times: &[f64]) -> Clip {
        let times: Vec<f64> = times.iter().map(|&t| f64::from(t as f32)).collect();
        let curve = Curve { values: vec![DVec4::ZERO; times.len()], interpolation: Interpolation::Linear, times };
        let end = *curve.times.last().unwrap();
        let channels = vec![Channel { node: 0, property: Property::Scale, curve }];
        Clip { name: "a".into(), source: "a".into(), channels, end, ..Clip::default() }
    }

    fn source(times: &[f64]) -> f64 {
        rate(&clip(times), Fps::Source, false)
    }

    #[test]
    fn frames_reach_from_start_to_end() {
        let grid = FrameGrid::new(1.0, 30.0, false);
        assert_eq!((grid.intervals, grid.stored, grid.time(30)), (30, 31, 1.0));
        let grid = FrameGrid::new(1.01, 30.0, true);
        assert_eq!((grid.intervals, grid.stored, grid.time(31)), (31, 31, 1.01));
        // What f32 adds to 0.7 s is no frame.
        assert_eq!(FrameGrid::new(f64::from(0.7_f32), 30.0, false).intervals, 21);
        assert_eq!(FrameGrid::new(0.001, 30.0, false).stored, 2);
        assert_eq!(FrameGrid::new(0.0, 30.0, false), FrameGrid { duration: 0.0, intervals: 1, stored: 1 });
    }

    #[test]
    fn source_rate_is_that_of_the_keys() {
        let keys = |rate: f64, frames: &[u32]| source(&frames.iter().map(|&f| f64::from(f) / rate).collect::<Vec<_>>());
        assert!((keys(24.0, &[0, 1, 2, 3, 4, 40]) - 24.0).abs() < 1e-3);
        assert!((keys(60.0, &(0..600).collect::<Vec<_>>()) - 60.0).abs() < 1e-3);
        // Keys on every second and third frame of 30.
        assert!((keys(30.0, &[0, 2, 5, 30]) - 30.0).abs() < 1e-3);
        // The first key one frame late, as some exporters have it.
        assert!((keys(30.0, &[1, 2, 3, 9]) - 30.0).abs() < 1e-3);
        // One and twelve keys a second: multiplied.
        assert!((keys(1.0, &[0, 1, 2]) - 24.0).abs() < 1e-3);
        assert!((keys(10.0, &[0, 1, 2]) - 30.0).abs() < 1e-3);
    }

    #[test]
    fn a_clip_of_one_value_is_still() {
        let mut clip = clip(&[0.0, 0.5, 1.0]);
        assert!(is_still(&clip, true));
        clip.channels[0].curve.interpolation = Interpolation::CubicSpline;
        assert!(!is_still(&clip, true));
        clip.channels[0].curve.interpolation = Interpolation::Step;
        clip.channels[0].curve.values[1] = DVec4::X;
        assert!(!is_still(&clip, true));
    }

    #[test]
    fn uneven_keys_have_no_rate() {
        assert_eq!(source(&[0.0, 0.1, 0.2345, 0.9876]), FALLBACK_RATE);
        assert_eq!(source(&[0.0]), FALLBACK_RATE);
        assert_eq!(rate(&clip(&[0.0, 1.0]), Fps::Rate(12.0), false), 12.0);
    }
}
