//! Statistics of the errors of a clip, collected in parallel and merged.

use gpuskin_rt::internals::{Aabb, ErrorInfo};
use rayon::prelude::*;

use super::curve::{CurveRecorder, ErrorCurve};
use super::location::ErrorLocation;
use super::{SampleDifference, SampleTime, SampleTimes, SteppedVertices};
use crate::vector_math::{Lanes, greatest_lanes, least_lanes};

/// Number of vertex evaluations per unit of parallel work.
const WORK_UNIT: usize = 1 << 18;
/// Fraction of distances above the percentile.
const TAIL: f64 = 0.0004;
/// One of this many sample times is measured in the first round.
const ROUND: usize = 8;

/// Lower bounds below which a sample cannot change a clip's reported error.
#[derive(Clone, Copy)]
struct ErrorFloor {
    /// Squared distances below this affect neither the maximum nor the percentile.
    floor: f32,
    /// Squared chords between normals up to this do not affect the maximum.
    normal: f32,
}

/// A clip to measure. An implementation may omit squared distances below the floor of the tally,
/// except for the greatest one of each sample time, and squared chords that are not above its
/// greatest one.
pub(crate) trait MeasuredClip: Sync {
    /// Returns the sample times.
    fn sample_times(&self) -> &SampleTimes;

    /// Returns the STEP tracks and the vertices that they move.
    fn stepped(&self) -> &SteppedVertices;

    /// Measures positions and normals at times of frames.
    fn at_frames(&self, frames: &[SampleTime], tally: &mut ErrorTally);

    /// Measures positions and normals at times between frames, except for vertices that STEP tracks move.
    fn between(&self, samples: &[SampleTime], tally: &mut ErrorTally);
}

/// Errors of a clip.
pub(crate) struct Measured {
    pub(crate) errors: ClipErrors,
    pub(crate) curve: ErrorCurve,
    /// Greatest squared distance of each point at frames, in the clip's order; empty if the clip records none.
    pub(crate) points: Vec<Lanes>,
    /// Differences of the source, in any order; empty if the clip records none.
    pub(crate) differences: Vec<SampleDifference>,
}

/// Measures clips in parallel. `vertices` is the number of vertices evaluated per sample time.
pub(crate) fn measure_all(clips: &[impl MeasuredClip], vertices: usize) -> Vec<Measured> {
    let points = ErrorCurve::points_per_clip(clips.len());
    clips.par_iter().map(|clip| measure_one(clip, vertices, points)).collect()
}

/// Measures one clip. `points` is the maximum number of points of the curve, at frames and between them each.
fn measure_one(clip: &impl MeasuredClip, vertices: usize, points: u32) -> Measured {
    let SampleTimes { frames, between } = clip.sample_times();
    let at_frames = frames.len() as u64 * vertices as u64;
    let count = at_frames + between.len() as u64 * (vertices - clip.stepped().count()) as u64;
    let chunk = (WORK_UNIT / vertices.max(1)).max(1);
    let look =
        |tally: ErrorTally, sample_times: &[SampleTime], at: &(dyn Fn(&[SampleTime], &mut ErrorTally) + Sync)| {
            let known = tally.known(count);
            let part = |part: &[SampleTime]| {
                let mut tally = ErrorTally::beside(known);
                at(part, &mut tally);
                tally
            };
            sample_times
                .par_chunks(chunk)
                .map(part)
                .reduce_with(ErrorTally::merge)
                .into_iter()
                .fold(tally, ErrorTally::merge)
        };
    let in_rounds =
        |tally: ErrorTally, sample_times: &[SampleTime], at: &(dyn Fn(&[SampleTime], &mut ErrorTally) + Sync)| {
            let (some, others) = rounds(sample_times);
            look(look(tally, &some, at), &others, at)
        };
    let tally = in_rounds(ErrorTally::default(), frames, &|part, tally| clip.at_frames(part, tally));
    let (encoding, bounds) = (tally.info(at_frames), tally.bounds());
    let mut tally = in_rounds(tally, between, &|part, tally| clip.between(part, tally));
    let curve = std::mem::take(&mut tally.curve).finish(clip.sample_times(), points);
    let errors = ClipErrors { encoding, motion: tally.info(count), bounds, step_tracks: clip.stepped().tracks };
    Measured { errors, curve, points: tally.points, differences: tally.differences }
}

/// Splits the sample times into a small first round, whose result lets the second round skip most
/// samples, and the second round.
fn rounds(sample_times: &[SampleTime]) -> (Vec<SampleTime>, Vec<SampleTime>) {
    let step = if sample_times.len() < 4 * ROUND { 1 } else { ROUND };
    let those = |first: bool| {
        let some = sample_times.iter().enumerate().filter(move |(i, _)| (i % step == 0) == first);
        some.map(|(_, sample)| *sample).collect()
    };
    (those(true), those(false))
}

/// Statistics over some sample times of a clip: maximum and distribution of distances, greatest
/// angle of normals, bounding box.
pub(crate) struct ErrorTally {
    /// Greatest squared distance; negative if there is none.
    greatest: f32,
    /// First sample with the greatest distance.
    at: ErrorLocation,
    /// Histogram over the upper half of the bits of the squared distance: the width of a bin is 0.4
    /// % of the distance.
    bins: Box<[u32; BINS]>,
    /// Squared distances below this are not counted.
    pub(crate) floor: f32,
    /// Greatest squared chord between normals.
    pub(crate) normal: f32,
    /// Greatest distance of each sample time.
    pub(crate) curve: CurveRecorder,
    /// Greatest squared distance of each point, four by four.
    pub(crate) points: Vec<Lanes>,
    /// Differences of the source.
    pub(crate) differences: Vec<SampleDifference>,
    /// Corners of the bounding box; the last lane is unused.
    low: Lanes,
    high: Lanes,
}

/// Number of bins: 15 bits, because squares have no sign.
const BINS: usize = 1 << 15;

impl Default for ErrorTally {
    fn default() -> Self {
        let bins = vec![0; BINS].try_into().expect("the vector has BINS elements");
        let ([x, y, z], [right, top, front]) = (Aabb::EMPTY.min, Aabb::EMPTY.max);
        let (low, high) = ([x, y, z, 0.0], [right, top, front, 0.0]);
        let (at, curve, points) = (ErrorLocation::default(), CurveRecorder::default(), Vec::new());
        let differences = Vec::new();
        Self { greatest: -1.0, at, bins, floor: 0.0, normal: 0.0, curve, points, differences, low, high }
    }
}

impl ErrorTally {
    /// Creates a tally that will be merged with one whose bounds are known.
    fn beside(ErrorFloor { floor, normal }: ErrorFloor) -> Self {
        Self { floor, normal, ..Self::default() }
    }

    /// Returns the bounds for further samples, when there are `count` distances in total.
    fn known(&self, count: u64) -> ErrorFloor {
        ErrorFloor { floor: self.percentile(count).0, normal: self.normal }
    }

    /// Whether one of the squared distances is to be counted.
    #[inline(always)]
    pub(crate) fn counts_any(&self, squared: &Lanes) -> bool {
        let counts = |squared: f32| squared >= self.floor || squared.is_nan();
        counts(squared[0]) || counts(squared[1]) || counts(squared[2]) || counts(squared[3])
    }

    /// Adds a squared distance of `count` vertices.
    #[inline]
    pub(crate) fn add(&mut self, squared: f32, count: u32, seen: ErrorLocation) {
        if squared < self.floor {
            return;
        }
        // A NaN counts as an infinite error.
        let squared = if squared < f32::INFINITY { squared } else { f32::INFINITY };
        self.bins[(squared.to_bits() >> 16) as usize % BINS] += count;
        if squared >= self.greatest {
            self.see(squared, seen);
        }
    }

    fn see(&mut self, squared: f32, seen: ErrorLocation) {
        if squared > self.greatest || seen < self.at {
            (self.greatest, self.at) = (squared, seen);
        }
    }

    pub(crate) fn add_normal(&mut self, chord_squared: f32) {
        self.normal = self.normal.max(chord_squared);
    }

    /// Extends the bounding box.
    pub(crate) fn widen(&mut self, low: [f32; 3], high: [f32; 3]) {
        let lanes = |[x, y, z]: [f32; 3]| [x, y, z, 0.0];
        self.low = least_lanes(self.low, lanes(low));
        self.high = greatest_lanes(self.high, lanes(high));
    }

    /// Merges two tallies; the result does not depend on the order.
    fn merge(mut self, other: Self) -> Self {
        self.low = least_lanes(self.low, other.low);
        self.high = greatest_lanes(self.high, other.high);
        self.normal = self.normal.max(other.normal);
        self.curve.append(other.curve);
        self.differences.extend(other.differences);
        if self.points.is_empty() {
            self.points = other.points;
        } else {
            self.points.iter_mut().zip(other.points).for_each(|(a, b)| *a = greatest_lanes(b, *a));
        }
        if other.greatest >= self.greatest {
            self.see(other.greatest, other.at);
        }
        self.bins.iter_mut().zip(other.bins.iter()).for_each(|(a, b)| *a = a.saturating_add(*b));
        self
    }

    /// Returns the range of squared distances that contains the percentile of `count` distances, if
    /// those not counted are smaller.
    fn percentile(&self, count: u64) -> (f32, f32) {
        let mut above = (count as f64 * TAIL) as i64;
        let bin = self.bins.iter().rposition(|&n| {
            above -= i64::from(n);
            above < 0
        });
        let edge = |bin: usize| f32::from_bits((bin as u32) << 16);
        bin.map_or((0.0, 0.0), |bin| (edge(bin), edge(bin + 1)))
    }

    /// Returns the errors, when there are `count` distances in total.
    fn info(&self, count: u64) -> ErrorInfo {
        let greatest = self.greatest.max(0.0);
        let chord = f64::from(self.normal.sqrt());
        ErrorInfo {
            max: greatest.sqrt(),
            p9996: self.percentile(count).1.min(greatest).sqrt(),
            normal_degrees: (2.0 * libm::asin((chord / 2.0).min(1.0))).to_degrees() as f32,
            time: self.at.seconds as f32,
            bone: self.at.bone,
            vertex: self.at.vertex,
        }
    }

    /// Returns the bounding box.
    fn bounds(&self) -> Aabb {
        Aabb { min: three(self.low), max: three(self.high) }
    }
}

fn three([x, y, z, _]: Lanes) -> [f32; 3] {
    [x, y, z]
}

/// Errors of a clip.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ClipErrors {
    /// Errors at the times of frames.
    pub encoding: ErrorInfo,
    /// Errors at frames and between them, excluding vertices moved by [`Self::step_tracks`].
    pub motion: ErrorInfo,
    /// Bounding box of all frames, in metres.
    pub bounds: Aabb,
    /// Number of tracks with STEP keys which the encoding interpolates, or which jump between frames: they
    /// are not drawn as in the source.
    pub step_tracks: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_excludes_the_tail() {
        let mut tally = ErrorTally::default();
        for i in 0..10_000_u32 {
            tally.add((i as f32 * 1e-3).powi(2), 1, ErrorLocation { vertex: i, ..ErrorLocation::default() });
        }
        let info = tally.info(10_000);
        assert!((info.max - 9.999).abs() < 1e-3 && info.vertex == 9999);
        // 4 of 10,000 are above the percentile.
        assert!(info.p9996 >= 9.995 * 0.999 && info.p9996 <= 9.995 * 1.005, "{}", info.p9996);
        assert_eq!(ErrorTally::default().info(0), ErrorInfo::default());
        // Many equal distances in one call.
        let mut heaps = ErrorTally::default();
        (1..=1000).for_each(|i| {
            heaps.add((i as f32).powi(2), if i == 500 { 1_000_000 } else { 1 }, ErrorLocation::default())
        });
        assert!((heaps.info(1_000_999).p9996 - 600.0).abs() < 5.0);
        // Omitting distances below the floor does not change the result, and a part of the samples
        // suffices to find the floor.
        let mut tops = ErrorTally::beside(ErrorFloor { floor: 550.0 * 550.0, normal: 0.0 });
        (1..=1000).for_each(|i| tops.add((i as f32).powi(2), 1, ErrorLocation::default()));
        assert_eq!(tops.bins.iter().sum::<u32>(), 451);
        assert_eq!(tops.info(1_000_999), heaps.info(1_000_999));
        let floor = tops.known(1_000_999).floor.sqrt();
        assert!(floor <= tops.info(1_000_999).p9996 && floor > 590.0, "{floor}");
    }

    #[test]
    fn the_first_greatest_error_is_reported_in_any_merge_order() {
        let seen = [(2.0, 5), (1.0, 9), (1.0, 7), (3.0, 0)].map(|(seconds, vertex)| ErrorLocation {
            seconds,
            vertex,
            bone: 3,
        });
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]] {
            let mut parts = [ErrorTally::default(), ErrorTally::default()];
            for (n, &i) in order.iter().enumerate() {
                parts[n / 2].add(0.25, 1, seen[i]);
            }
            let [tally, other] = parts;
            let tally = tally.merge(other).merge(ErrorTally::default());
            let info = tally.info(4);
            assert_eq!((info.max, info.time, info.vertex, info.bone), (0.5, 1.0, 7, 3));
        }
    }
}
