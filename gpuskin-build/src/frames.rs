//! Where a clip's frames stand, and whether its ends meet.

use gpuskin_rt::internals::{Aabb, HeldFrames};

use crate::manifest::Fps;
use crate::model::{Channel, Clip, Interpolation, Model, MorphChannel};
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
/// Of a frame, what is rounding and not another one.
const ROUNDING: f64 = 1e-4;
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
    /// Those of one pose that the first of them stands for.
    pub held: HeldFrames,
}

impl FrameGrid {
    /// `closed`: the last pose is the first, and is not stored again. A clip without length is one frame.
    pub fn new(duration: f64, rate: f64, closed: bool) -> Self {
        if duration <= 0.0 {
            return Self::still(0.0);
        }
        let intervals = (duration * rate - ROUNDING).ceil().clamp(1.0, f64::from(u32::MAX - 1)) as u32;
        let stored = if closed { intervals } else { intervals + 1 };
        Self { duration, intervals, stored, held: HeldFrames::NONE }
    }

    /// One frame for all of a clip in which nothing moves.
    pub fn still(duration: f64) -> Self {
        Self { duration: duration.max(0.0), intervals: 1, stored: 1, held: HeldFrames::NONE }
    }

    /// With the frames in a hold of the clip stored once.
    pub fn holding(mut self, hold: Hold) -> Self {
        let rate = self.rate();
        // Nearby, then to the frame.
        let mut first = (hold.start * rate - 1.0).max(0.0) as u32;
        let slack = |jumps: bool| if jumps { 0.0 } else { ROUNDING / rate };
        while self.time(first) < hold.start - slack(hold.jumps[0]) {
            first += 1;
        }
        let mut last = ((hold.end * rate + 1.0) as u32).min(self.stored - 1);
        // At a jump a frame shows what follows.
        let over = |time: f64| time > hold.end + slack(hold.jumps[1]) || (hold.jumps[1] && time == hold.end);
        while last > first && over(self.time(last)) {
            last -= 1;
        }
        if let (Ok(first), Some(count)) = (u16::try_from(first), last.checked_sub(first)) {
            let count = u16::try_from(count).unwrap_or(u16::MAX);
            self.held = HeldFrames { first, count };
            self.stored -= u32::from(count);
        }
        self
    }

    /// Time of a frame in seconds; `frame` up to `intervals`.
    pub fn time(&self, frame: u32) -> f64 {
        self.duration * f64::from(frame) / f64::from(self.intervals)
    }

    /// Frames that are not the first again: those stored, and those that one of them stands for.
    pub fn frames(&self) -> u32 {
        self.stored + u32::from(self.held.count)
    }

    /// Time in seconds of a frame by its place among those that are stored.
    pub fn time_of(&self, row: u32) -> f64 {
        self.time(self.held.frame(row))
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

/// A time in which no curve of a clip moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hold {
    /// Seconds.
    pub start: f64,
    /// Seconds.
    pub end: f64,
    /// Whether something jumps at its start, and at its end, which then is no part of it.
    pub jumps: [bool; 2],
}

impl Hold {
    /// The longest of a clip; without length where there is none. `morphs`: that of its morph weights, too.
    pub fn longest(clip: &Clip, morphs: bool) -> Self {
        let mut moves = Vec::new();
        for Channel { curve, .. } in &clip.channels {
            moving(curve.interpolation, &curve.times, &curve.values, &mut moves);
        }
        for MorphChannel { curve, .. } in clip.morphs.iter().filter(|_| morphs) {
            let keys: Vec<&[f64]> = curve.values.chunks(curve.targets).collect();
            moving(curve.interpolation, &curve.times, &keys, &mut moves);
        }
        // Jumps before what goes on from there.
        moves.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut longest = Self { start: 0.0, end: 0.0, jumps: [false; 2] };
        let mut next = longest;
        for (from, to) in moves.into_iter().chain([(clip.end, f64::INFINITY)]) {
            let jumps = from == to;
            if from - next.start > longest.end - longest.start {
                longest = Self { end: from, jumps: [next.jumps[0], jumps], ..next };
            }
            if to >= next.start {
                next.jumps[0] = jumps || (to == next.start && next.jumps[0]);
                next.start = to;
            }
        }
        longest
    }

    /// Whether nothing moves in all of the clip.
    pub fn is_all_of(&self, clip: &Clip) -> bool {
        self.start == 0.0 && self.end >= clip.end && !self.jumps[1]
    }
}

/// Adds when a curve moves: from one key to another, or at a key where it jumps there. `values`: one a key, three of splines.
fn moving<T: PartialEq>(interpolation: Interpolation, times: &[f64], values: &[T], moves: &mut Vec<(f64, f64)>) {
    let keys = values.len() / times.len();
    for (i, span) in times.windows(2).enumerate() {
        let (a, b) = (&values[i * keys..][..keys], &values[(i + 1) * keys..][..keys]);
        match interpolation {
            Interpolation::Step if a != b => moves.push((span[1], span[1])),
            Interpolation::Linear if a != b => moves.push((span[0], span[1])),
            // The tangents of a spline move it between equal values; that they may be nothing is not looked at.
            Interpolation::CubicSpline => moves.push((span[0], span[1])),
            _ => {}
        }
    }
}

/// Greatest distance, in metres, between a vertex at the clip's start and at its end, but for root motion; `morphs`: with
/// morph targets.
pub fn seam(model: &Model, clip: &Clip, morphs: bool) -> f64 {
    let ends = FrameGrid { stored: 2, ..FrameGrid::still(clip.end) };
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
    use crate::model::{Curve, Property};
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
        assert_eq!(FrameGrid::new(0.0, 30.0, false), FrameGrid::still(0.0));
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
        let still = |clip: &Clip| Hold::longest(clip, true).is_all_of(clip);
        assert!(still(&clip));
        clip.channels[0].curve.interpolation = Interpolation::CubicSpline;
        clip.channels[0].curve.values = vec![DVec4::ZERO; 9];
        assert!(!still(&clip));
        clip.channels[0].curve.interpolation = Interpolation::Step;
        clip.channels[0].curve.values = vec![DVec4::ZERO, DVec4::X, DVec4::ZERO];
        assert!(!still(&clip));
        clip.channels[0].curve.values = vec![DVec4::ZERO, DVec4::ZERO, DVec4::X];
        assert!(!still(&clip));
    }

    /// A clip of values at times in seconds.
    fn keyed(keys: &[(f64, f64)], interpolation: Interpolation) -> Clip {
        let mut clip = clip(&keys.iter().map(|k| k.0).collect::<Vec<_>>());
        clip.channels[0].curve.values = keys.iter().map(|k| DVec4::splat(k.1)).collect();
        clip.channels[0].curve.interpolation = interpolation;
        clip
    }

    fn held(clip: &Clip, rate: f64, closed: bool) -> (u16, u16, u32) {
        let grid = FrameGrid::new(clip.end, rate, closed).holding(Hold::longest(clip, true));
        let all = FrameGrid::new(clip.end, rate, closed).stored;
        assert_eq!(grid.stored + u32::from(grid.held.count), all);
        // What is left out lies between its neighbours.
        let times: Vec<f64> = (0..grid.stored).map(|row| grid.time_of(row)).collect();
        assert!(times.is_sorted() && times.iter().zip(0..).all(|(t, row)| *t == grid.time(grid.held.frame(row))));
        (grid.held.first, grid.held.count, grid.stored)
    }

    #[test]
    fn frames_of_the_longest_hold_are_stored_once() {
        use Interpolation::{Linear, Step};
        // At the start, in the middle, at the end, nowhere.
        assert_eq!(held(&keyed(&[(0.0, 1.0), (0.5, 1.0), (1.0, 2.0)], Linear), 10.0, false), (0, 5, 6));
        assert_eq!(held(&keyed(&[(0.0, 0.0), (0.2, 1.0), (0.7, 1.0), (1.0, 2.0)], Linear), 10.0, false), (2, 5, 6));
        assert_eq!(held(&keyed(&[(0.0, 1.0), (0.7, 2.0), (1.0, 2.0)], Linear), 10.0, false), (7, 3, 8));
        assert_eq!(held(&keyed(&[(0.0, 1.0), (1.0, 2.0)], Linear), 10.0, false).1, 0);
        // The longer of two; between frames; before the first key.
        let two = [(0.0, 0.0), (0.2, 0.0), (0.4, 1.0), (0.8, 1.0), (1.0, 0.0)];
        assert_eq!(held(&keyed(&two, Linear), 10.0, true), (4, 4, 6));
        assert_eq!(held(&keyed(&[(0.0, 0.0), (0.25, 1.0), (0.65, 1.0), (1.0, 2.0)], Linear), 10.0, false), (3, 3, 8));
        assert_eq!(held(&keyed(&[(0.5, 0.0), (1.0, 2.0)], Linear), 10.0, false), (0, 5, 6));
        // Of a loop that ends as it begins, what is stored ends a frame before.
        assert_eq!(held(&keyed(&[(0.0, 1.0), (0.5, 2.0), (0.7, 1.0), (1.0, 1.0)], Linear), 10.0, true), (7, 2, 8));
        // A jump is not held: the frame at it shows what follows.
        assert_eq!(held(&keyed(&[(0.0, 1.0), (0.5, 2.0), (1.0, 2.0)], Step), 10.0, false), (0, 4, 7));
        assert_eq!(held(&keyed(&[(0.0, 1.0), (0.75, 2.0), (1.0, 1.0)], Step), 10.0, false), (0, 7, 4));
        assert_eq!(held(&keyed(&[(0.0, 1.0), (0.5, 1.0), (1.0, 2.0)], Step), 10.0, false), (0, 9, 2));
        // What `f32` makes of key times.
        assert_eq!(held(&keyed(&[(0.0, 1.0), (0.1, 2.0), (0.7, 2.0), (1.4, 1.0)], Linear), 30.0, false), (3, 18, 25));
        // More than there is room for.
        let long = keyed(&[(0.0, 0.0), (2.0, 1.0), (3000.0, 1.0), (3001.0, 0.0)], Linear);
        assert_eq!(held(&long, 30.0, false), (60, u16::MAX, 30 * 3001 + 1 - 65_535));
        assert_eq!(held(&keyed(&[(0.0, 0.0), (3000.0, 1.0), (9000.0, 1.0)], Linear), 30.0, false).1, 0);
    }

    #[test]
    fn uneven_keys_have_no_rate() {
        assert_eq!(source(&[0.0, 0.1, 0.2345, 0.9876]), FALLBACK_RATE);
        assert_eq!(source(&[0.0]), FALLBACK_RATE);
        assert_eq!(rate(&clip(&[0.0, 1.0]), Fps::Rate(12.0), false), 12.0);
    }
}
