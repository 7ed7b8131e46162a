//! Frames of a clip: their rate, their times, and runs of equal frames that are stored once.

use gpuskin_rt::internals::playback::STEP_SLACK;
use gpuskin_rt::internals::{ClipRecord, HeldFrames};

use crate::manifest::Fps;
use crate::model::{Channel, Clip, Interpolation, MorphChannel};

/// Frame rate of clips whose keys have no uniform rate.
const FALLBACK_RATE: f64 = 30.0;
/// Minimum rate for `fps = "source"`, in frames per second. Hand-keyed clips have one or two keys
/// per second. Drawn poses are interpolated linearly between frames, so a lower rate is multiplied
/// by a whole number: frames are then close enough, and every key still falls on a frame.
const MIN_SOURCE_RATE: f64 = 24.0;
/// Maximum rate of keys that counts as a frame rate, in frames per second. Higher rates are noise
/// in key times.
const MAX_SOURCE_RATE: f64 = 240.0;
/// Maximum distance between a key and its frame, in frames. Times in `f32` seconds are precise to
/// 1e-4 frames at one minute.
const KEY_TOLERANCE: f64 = 5e-3;
/// Tolerance of a frame rate's difference to its nominal rate, relative to the rate. Sums of frame lengths in `f32` are
/// that far off after a minute.
#[cfg(any(feature = "cli", test))]
const NOMINAL_TOLERANCE: f64 = 3e-5;
/// Tolerance in frames: smaller differences are rounding errors.
const ROUNDING: f64 = 1e-4;

/// Frames of a clip: `intervals + 1` poses from its start to its end. In a loop, the last pose
/// equals the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameGrid {
    /// Time in seconds.
    pub duration: f64,
    /// Number of intervals between frames; at least 1.
    pub intervals: u32,
    /// Number of stored frames.
    pub stored: u32,
    /// Consecutive frames with equal pose, of which only the first is stored.
    pub held: HeldFrames,
    /// Whether each frame is shown until the next one: all curves that change are STEP.
    pub stepped: bool,
}

impl FrameGrid {
    /// Creates the grid of a clip. `closed` means that the last pose equals the first and is not
    /// stored. A clip of length zero has one frame.
    pub fn new(duration: f64, rate: f64, closed: bool) -> Self {
        if duration <= 0.0 {
            return Self::still(0.0);
        }
        let intervals = (duration * rate - ROUNDING).ceil().clamp(1.0, f64::from(u32::MAX - 1)) as u32;
        let stored = if closed { intervals } else { intervals + 1 };
        Self { duration, intervals, stored, held: HeldFrames::NONE, stepped: false }
    }

    /// Creates a grid of one stored frame, for a clip in which nothing moves.
    pub fn still(duration: f64) -> Self {
        Self { duration: duration.max(0.0), intervals: 1, stored: 1, held: HeldFrames::NONE, stepped: false }
    }

    /// Stores the frames within a hold of the clip only once, and takes over whether the clip is stepped.
    pub fn holding(mut self, hold: Hold) -> Self {
        let rate = self.rate();
        self.stepped = hold.stepped;
        // A first estimate, then the exact frame.
        let mut first = (hold.start * rate - 1.0).max(0.0) as u32;
        // A jump that is nearly at a frame is at it.
        let slack = |jumps: bool| if jumps { self.slack() } else { ROUNDING / rate };
        while self.time(first) < hold.start - slack(hold.jumps[0]) {
            first += 1;
        }
        let mut last = ((hold.end * rate + 1.0) as u32).min(self.stored - 1);
        // At a jump, a frame shows the pose after it.
        let over = |time: f64| {
            if hold.jumps[1] { time >= hold.end - slack(true) } else { time > hold.end + slack(false) }
        };
        while last > first && over(self.time(last)) {
            last -= 1;
        }
        let first_index = u16::try_from(first).ok().filter(|first| *first <= HeldFrames::LAST);
        if let (Some(first), Some(count)) = (first_index, last.checked_sub(first)) {
            let count = u16::try_from(count).unwrap_or(u16::MAX);
            self.held = HeldFrames { first, count };
            self.stored -= u32::from(count);
        }
        self
    }

    /// Returns the time of a frame in seconds; `frame` is at most `intervals`.
    pub fn time(&self, frame: u32) -> f64 {
        self.duration * f64::from(frame) / f64::from(self.intervals)
    }

    /// Number of frames, including held frames but not a last frame that equals the first.
    pub fn frames(&self) -> u32 {
        self.stored + u32::from(self.held.count)
    }

    /// Returns the time in seconds of a stored frame.
    pub fn time_of(&self, row: u32) -> f64 {
        self.time(self.held.frame(row))
    }

    /// Returns the time before a frame from which on held values are those of the frame, in seconds.
    pub fn slack(&self) -> f64 {
        STEP_SLACK * self.duration / f64::from(self.intervals)
    }

    /// Whether a time is that of a frame, but for rounding.
    fn has(&self, time: f64) -> bool {
        let frame = time * self.rate();
        (frame - frame.round()).abs() <= STEP_SLACK
    }

    /// Whether all jumps of a curve are at frames.
    pub(crate) fn has_jumps<T: PartialEq>(&self, times: &[f64], values: &[T]) -> bool {
        let mut jumps = Vec::new();
        moving(Interpolation::Step, times, values, &mut jumps);
        jumps.iter().all(|(time, _)| self.has(*time))
    }

    /// Returns [`ClipRecord::held`].
    pub fn held_bits(&self) -> u32 {
        self.held.bits() | if self.stepped { ClipRecord::STEPPED } else { 0 }
    }

    /// Frame rate in frames per second; 0 for a clip of length zero.
    pub fn rate(&self) -> f64 {
        if self.duration > 0.0 { f64::from(self.intervals) / self.duration } else { 0.0 }
    }
}

/// Returns the frame rate of a clip, in frames per second. `morphs` includes keys of morph weights.
/// [`Fps::Auto`] and [`Fps::Enough`] start from the source rate.
pub fn rate(clip: &Clip, fps: Fps, morphs: bool) -> f64 {
    let source = || source_rate(clip, morphs).unwrap_or(FALLBACK_RATE);
    match fps {
        Fps::Rate(rate) => rate,
        Fps::Share(share) => source() * share,
        Fps::Source | Fps::Enough | Fps::Auto => source(),
    }
}

/// Returns a frame rate without the rounding errors of key times, for display: the closest whole number, or the closest
/// whole number divided by 1.001 as in video, if it is close enough.
///
/// Frames are laid out at the exact rate, so that the last one is at the last key.
#[cfg(any(feature = "cli", test))]
pub fn nominal_rate(rate: f64) -> f64 {
    let close = |nominal: &f64| (rate - nominal).abs() <= NOMINAL_TOLERANCE * rate;
    [rate.round(), (rate * 1.001).round() / 1.001].into_iter().find(close).unwrap_or(rate)
}

/// Returns rates for the search for one whose motion error is within the tolerance, lowest first:
/// multiples of the source rate, and with `fewer` whole fractions of it, so that frames fall on
/// keys.
pub fn rate_ladder(clip: &Clip, fewer: bool, morphs: bool) -> Vec<f64> {
    let source = source_rate(clip, morphs).unwrap_or(FALLBACK_RATE);
    let down = [24, 20, 16, 12, 10, 8, 6, 5, 4, 3, 2].map(|divisor| source / f64::from(divisor));
    let up = [1, 2, 3, 4, 6, 8].map(|factor| source * f64::from(factor));
    let down = down.into_iter().filter(|_| fewer);
    // At a low rate, a jump between frames would come too late.
    let on_frames = |rate: &f64| *rate >= source || jumps_are_at_frames(clip, *rate, morphs);
    let rates = down.chain(up).filter(|rate| *rate <= MAX_SOURCE_RATE * 1.001);
    let mut rates: Vec<f64> = rates.filter(on_frames).collect();
    // Rates below one frame per clip all give one interval.
    rates.dedup_by_key(|rate| FrameGrid::new(clip.end, *rate, false).intervals);
    rates
}

/// Whether all jumps of a clip are at frames of a rate.
fn jumps_are_at_frames(clip: &Clip, rate: f64, morphs: bool) -> bool {
    let grid = FrameGrid::new(clip.end, rate, false);
    let steps = |interpolation: Interpolation| interpolation == Interpolation::Step;
    let curves = clip.channels.iter().map(|c| &c.curve).filter(|curve| steps(curve.interpolation));
    let weights = clip.morphs.iter().map(|c| &c.curve).filter(|curve| morphs && steps(curve.interpolation));
    curves.into_iter().all(|curve| grid.has_jumps(&curve.times, &curve.values))
        && weights
            .into_iter()
            .all(|curve| grid.has_jumps(&curve.times, &curve.values.chunks(curve.targets).collect::<Vec<_>>()))
}

/// Returns the rate at which every key falls on a frame, multiplied by a whole number to at least
/// [`MIN_SOURCE_RATE`].
fn source_rate(clip: &Clip, morphs: bool) -> Option<f64> {
    let morph_keys = clip.morphs.iter().filter(|_| morphs).flat_map(|c| &c.curve.times);
    let mut times: Vec<f64> = clip.channels.iter().flat_map(|c| &c.curve.times).chain(morph_keys).copied().collect();
    times.push(0.0);
    times.sort_by(f64::total_cmp);
    let gap = times.windows(2).map(|w| w[1] - w[0]).filter(|&g| g * MAX_SOURCE_RATE > 0.5).min_by(f64::total_cmp)?;
    // The smallest gap is one frame, or up to four frames if no two neighbouring frames have keys.
    let rate = (1..=4).find_map(|frames_in_gap| {
        // The gap is the difference of two rounded times, too inexact to count the frames of a long clip. Each key
        // makes the rate more precise.
        let refine = |rate: f64, t: &f64| if t * rate < 0.5 { rate } else { (t * rate).round() / t };
        let rate = times.iter().fold(f64::from(frames_in_gap) / gap, refine);
        let on_frame = |t: &f64| (t * rate - (t * rate).round()).abs() < KEY_TOLERANCE;
        times.iter().all(on_frame).then_some(rate)
    })?;
    let rate = rate * (MIN_SOURCE_RATE / rate - 1e-3).ceil().max(1.0);
    (rate <= MAX_SOURCE_RATE * 1.001).then_some(rate)
}

/// A time span in which no curve of a clip changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hold {
    /// Time in seconds.
    pub start: f64,
    /// Time in seconds.
    pub end: f64,
    /// Whether a curve jumps at the start and at the end. The time of a jump at the end is not part
    /// of the hold.
    pub jumps: [bool; 2],
    /// Whether all that curves of the clip do is jump.
    pub stepped: bool,
}

impl Hold {
    /// Returns the longest hold of a clip; of length zero if there is none. `morphs` includes morph
    /// weights.
    pub fn longest(clip: &Clip, morphs: bool) -> Self {
        let mut moves = Vec::new();
        for Channel { curve, .. } in &clip.channels {
            moving(curve.interpolation, &curve.times, &curve.values, &mut moves);
        }
        for MorphChannel { curve, .. } in clip.morphs.iter().filter(|_| morphs) {
            let keys: Vec<&[f64]> = curve.values.chunks(curve.targets).collect();
            moving(curve.interpolation, &curve.times, &keys, &mut moves);
        }
        // At equal start times, jumps come before spans.
        moves.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        // The displacement of the root is taken out at all times.
        let stepped = clip.root.is_none() && !moves.is_empty() && moves.iter().all(|(from, to)| from == to);
        let mut longest = Self { start: 0.0, end: 0.0, jumps: [false; 2], stepped };
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

    /// Whether the hold covers the whole clip.
    pub fn is_all_of(&self, clip: &Clip) -> bool {
        self.start == 0.0 && self.end >= clip.end && !self.jumps[1]
    }
}

/// Adds the time spans in which a curve changes; a jump has length zero. `values` has one value per
/// key, or three for splines.
fn moving<T: PartialEq>(interpolation: Interpolation, times: &[f64], values: &[T], moves: &mut Vec<(f64, f64)>) {
    let keys = values.len() / times.len();
    for (i, span) in times.windows(2).enumerate() {
        let (a, b) = (&values[i * keys..][..keys], &values[(i + 1) * keys..][..keys]);
        match interpolation {
            Interpolation::Step if a != b => moves.push((span[1], span[1])),
            Interpolation::Linear if a != b => moves.push((span[0], span[1])),
            // Tangents can move a spline between equal values; that they may be zero is ignored.
            Interpolation::CubicSpline => moves.push((span[0], span[1])),
            _ => {}
        }
    }
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
        // The rounding error of 0.7 s in f32 does not add a frame.
        assert_eq!(FrameGrid::new(f64::from(0.7_f32), 30.0, false).intervals, 21);
        assert_eq!(FrameGrid::new(0.001, 30.0, false).stored, 2);
        assert_eq!(FrameGrid::new(0.0, 30.0, false), FrameGrid::still(0.0));
    }

    #[test]
    fn source_rate_is_the_rate_of_the_keys() {
        let keys = |rate: f64, frames: &[u32]| source(&frames.iter().map(|&f| f64::from(f) / rate).collect::<Vec<_>>());
        assert!((keys(24.0, &[0, 1, 2, 3, 4, 40]) - 24.0).abs() < 1e-3);
        assert!((keys(60.0, &(0..600).collect::<Vec<_>>()) - 60.0).abs() < 1e-3);
        // Keys on every second and third frame at 30 frames per second.
        assert!((keys(30.0, &[0, 2, 5, 30]) - 30.0).abs() < 1e-3);
        // The first key is one frame late, as written by some exporters.
        assert!((keys(30.0, &[1, 2, 3, 9]) - 30.0).abs() < 1e-3);
        // One and ten keys per second: rates are multiplied.
        assert!((keys(1.0, &[0, 1, 2]) - 24.0).abs() < 1e-3);
        assert!((keys(10.0, &[0, 1, 2]) - 30.0).abs() < 1e-3);
    }

    #[test]
    fn rounded_times_of_long_clips_have_the_rate_of_the_keys() {
        let keys = |rate: f64, count: u32, round: fn(f64) -> f64| {
            source(&(0..count).map(|frame| round(f64::from(frame) / rate)).collect::<Vec<_>>())
        };
        // Two minutes in `f32`.
        assert!((keys(60.0, 7200, |t| t) - 60.0).abs() < 1e-3);
        // Half a minute with four decimals.
        assert!((keys(37.5, 1309, |t| (t * 1e4).round() / 1e4) - 37.5).abs() < 1e-3);
    }

    #[test]
    fn nominal_rates_are_those_of_clips_and_video() {
        for (rate, nominal) in
            [(59.999, 60.0), (30.000_000_7, 30.0), (23.976_1, 24.0 / 1.001), (59.940_2, 60.0 / 1.001), (0.0, 0.0)]
        {
            assert_eq!(nominal_rate(rate), nominal);
        }
        for rate in [59.99, 37.5, 30.06, 29.98, 2.5] {
            assert_eq!(nominal_rate(rate), rate);
        }
        // The frame lengths of a minute, summed in `f32`.
        let end = f64::from((0..3600).fold(0.0_f32, |time, _| time + 1.0 / 60.0));
        let grid = FrameGrid::new(end, 60.0, false);
        assert_ne!(grid.rate(), 60.0);
        assert_eq!(nominal_rate(3600.0 / end), 60.0);
    }

    #[test]
    fn a_clip_of_one_value_is_held_throughout() {
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

    /// Returns a clip from times in seconds and values.
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
        // Times of stored frames ascend, and match the frames they stand for.
        let times: Vec<f64> = (0..grid.stored).map(|row| grid.time_of(row)).collect();
        assert!(times.is_sorted() && times.iter().zip(0..).all(|(t, row)| *t == grid.time(grid.held.frame(row))));
        (grid.held.first, grid.held.count, grid.stored)
    }

    #[test]
    fn frames_of_the_longest_hold_are_stored_once() {
        use Interpolation::{Linear, Step};
        // At the start, in the middle, at the end, none.
        assert_eq!(held(&keyed(&[(0.0, 1.0), (0.5, 1.0), (1.0, 2.0)], Linear), 10.0, false), (0, 5, 6));
        assert_eq!(held(&keyed(&[(0.0, 0.0), (0.2, 1.0), (0.7, 1.0), (1.0, 2.0)], Linear), 10.0, false), (2, 5, 6));
        assert_eq!(held(&keyed(&[(0.0, 1.0), (0.7, 2.0), (1.0, 2.0)], Linear), 10.0, false), (7, 3, 8));
        assert_eq!(held(&keyed(&[(0.0, 1.0), (1.0, 2.0)], Linear), 10.0, false).1, 0);
        // The longer of two holds; a hold that starts between frames; a hold before the first key.
        let two = [(0.0, 0.0), (0.2, 0.0), (0.4, 1.0), (0.8, 1.0), (1.0, 0.0)];
        assert_eq!(held(&keyed(&two, Linear), 10.0, true), (4, 4, 6));
        assert_eq!(held(&keyed(&[(0.0, 0.0), (0.25, 1.0), (0.65, 1.0), (1.0, 2.0)], Linear), 10.0, false), (3, 3, 8));
        assert_eq!(held(&keyed(&[(0.5, 0.0), (1.0, 2.0)], Linear), 10.0, false), (0, 5, 6));
        // In a loop, the last stored frame is one before the end.
        assert_eq!(held(&keyed(&[(0.0, 1.0), (0.5, 2.0), (0.7, 1.0), (1.0, 1.0)], Linear), 10.0, true), (7, 2, 8));
        // A jump is not held: the frame at it shows the pose after it.
        assert_eq!(held(&keyed(&[(0.0, 1.0), (0.5, 2.0), (1.0, 2.0)], Step), 10.0, false), (0, 4, 7));
        assert_eq!(held(&keyed(&[(0.0, 1.0), (0.75, 2.0), (1.0, 1.0)], Step), 10.0, false), (0, 7, 4));
        assert_eq!(held(&keyed(&[(0.0, 1.0), (0.5, 1.0), (1.0, 2.0)], Step), 10.0, false), (0, 9, 2));
        // Jumps whose times are rounded to more and to less than those of frames.
        let rounded = |key: u32| f64::from(key as f32 / 30.0);
        for key in 1..29 {
            let clip = keyed(&[(0.0, 1.0), (rounded(key), 2.0), (1.0, 2.0)], Step);
            let grid = FrameGrid::new(clip.end, 30.0, false).holding(Hold::longest(&clip, true));
            assert!(grid.stepped && grid.stored >= 2, "{grid:?}");
            let jump = (0..grid.stored).find(|row| grid.time_of(*row) + grid.slack() >= rounded(key));
            assert_eq!(jump.map(|row| grid.held.frame(row)), Some(key));
            let before = jump.unwrap() - 1;
            assert_eq!(
                grid.held.frame(before)
                    + if before == u32::from(grid.held.first) { u32::from(grid.held.count) } else { 0 },
                key - 1
            );
        }
        // Key times with `f32` rounding errors.
        assert_eq!(held(&keyed(&[(0.0, 1.0), (0.1, 2.0), (0.7, 2.0), (1.4, 1.0)], Linear), 30.0, false), (3, 18, 25));
        // More frames than the counters can store.
        let long = keyed(&[(0.0, 0.0), (2.0, 1.0), (3000.0, 1.0), (3001.0, 0.0)], Linear);
        assert_eq!(held(&long, 30.0, false), (60, u16::MAX, 30 * 3001 + 1 - 65_535));
        assert_eq!(held(&keyed(&[(0.0, 0.0), (3000.0, 1.0), (9000.0, 1.0)], Linear), 30.0, false).1, 0);
    }

    #[test]
    fn jumps_are_at_frames_of_low_rates() {
        let times: Vec<(f64, f64)> = (0..=10).map(|i| (f64::from(i as f32 * 0.1), f64::from(i / 2))).collect();
        let rates = |interpolation| rate_ladder(&keyed(&times, interpolation), true, false);
        // Jumps at multiples of 0.2 s.
        let low = |rates: &[f64]| rates.iter().copied().find(|rate| *rate > 3.0).unwrap();
        assert!((low(&rates(Interpolation::Step)) - 5.0).abs() < 1e-6, "{:?}", rates(Interpolation::Step));
        assert!(rates(Interpolation::Step)[0] > 4.9 && rates(Interpolation::Linear)[0] < 2.0);
    }

    #[test]
    fn uneven_keys_have_no_rate() {
        assert_eq!(source(&[0.0, 0.1, 0.2345, 0.9876]), FALLBACK_RATE);
        assert_eq!(source(&[0.0]), FALLBACK_RATE);
        assert_eq!(rate(&clip(&[0.0, 1.0]), Fps::Rate(12.0), false), 12.0);
    }
}
