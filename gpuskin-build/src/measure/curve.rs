//! Error of a clip over time: the greatest distance at each sample time.

use serde::{Deserialize, Serialize};

use super::difference::ClipDifference;
use super::location::ErrorLocation;
use super::{SampleTime, SampleTimes};
use crate::vector_math::Lanes;

/// Maximum number of points of the curves of a model, at frames and between them each.
const MAX_MODEL_POINTS: usize = 1 << 14;
/// Maximum number of points of the curve of a clip, at frames and between them each.
const MAX_CLIP_POINTS: usize = 256;
/// Number of points that every clip may have, however many clips there are.
const MIN_CLIP_POINTS: usize = 16;

/// Error of a clip over time. The greatest of all points is the error of the clip.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorCurve {
    /// Number of frames that share a point, and number of intervals that share one.
    pub frames_per_point: u32,
    /// Greatest error of each run of frames, by ascending time.
    pub at_frames: Vec<CurvePoint>,
    /// Greatest error between the frames of each run of intervals, by ascending time.
    pub between: Vec<CurvePoint>,
    /// Errors of the baked vertices at frames.
    pub vertices: VertexErrors,
    /// Difference of the source from the drawn model.
    pub difference: ClipDifference,
}

/// Greatest error of each baked vertex at the frames of a clip.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VertexErrors {
    /// Greatest error of all, in metres.
    pub greatest: f32,
    /// Fractions of it in 31sts, which compress well; 31 also stands for infinite errors. Empty if there are too many
    /// vertices and clips.
    pub shares: Vec<u8>,
}

impl VertexErrors {
    /// Maximum number of values of a model.
    const MAX_VALUES: usize = 4 << 20;

    /// Whether errors of vertices are kept for a model.
    pub(crate) fn kept(clips: usize, vertices: usize) -> bool {
        clips.saturating_mul(vertices) <= Self::MAX_VALUES
    }

    /// Rounds errors in metres.
    pub(crate) fn new(errors: &[f32]) -> Self {
        let greatest = errors.iter().copied().filter(|error| error.is_finite()).fold(0.0, f32::max);
        // Not a number: greater than all.
        let share = |error: &f32| if *error == 0.0 { 0.0 } else { (error / greatest).min(1.0) };
        let share = |error: &f32| (31.0 * share(error)).round() as u8;
        Self { greatest, shares: errors.iter().map(share).collect() }
    }

    /// Adds the errors of copies of vertices, which follow the others.
    pub(crate) fn repeat(&mut self, copied: &[u32]) {
        if !self.shares.is_empty() {
            self.shares
                .extend_from_slice(&copied.iter().map(|vertex| self.shares[*vertex as usize]).collect::<Vec<_>>());
        }
    }
}

/// Point of an error curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Time of the error, in seconds from the start of the clip.
    pub seconds: f32,
    /// Greatest distance of a vertex at that time, in metres.
    pub error: f32,
    /// Source vertex of the error.
    pub vertex: u32,
    /// Bone with the greatest weight at that vertex.
    pub bone: u32,
}

impl ErrorCurve {
    /// Returns the maximum number of points for each clip of a model.
    pub(super) fn points_per_clip(clips: usize) -> u32 {
        (MAX_MODEL_POINTS / clips.max(1)).clamp(MIN_CLIP_POINTS, MAX_CLIP_POINTS) as u32
    }
}

/// Greatest error at one sample time.
#[derive(Clone, Copy)]
pub(crate) struct GreatestError {
    frame: bool,
    /// Squared distance, in square metres; negative if no vertex was seen.
    squared: f32,
    at: ErrorLocation,
}

impl GreatestError {
    pub(crate) fn new(sample: &SampleTime) -> Self {
        let at = ErrorLocation { seconds: sample.seconds, ..ErrorLocation::default() };
        Self { frame: sample.frame, squared: -1.0, at }
    }

    /// Squared distance, in square metres; 0 if no vertex was seen.
    pub(super) fn squared(&self) -> f32 {
        self.squared.max(0.0)
    }

    /// Whether one of the squared distances may become the greatest.
    #[inline(always)]
    pub(super) fn rises_by_any(&self, squared: &Lanes) -> bool {
        let rises = |squared: f32| (squared >= self.squared && squared > 0.0) || squared.is_nan();
        rises(squared[0]) || rises(squared[1]) || rises(squared[2]) || rises(squared[3])
    }

    /// Adds a squared distance. Of equal distances, the one at the first vertex is kept.
    #[inline]
    pub(crate) fn see(&mut self, squared: f32, vertex: u32, bone: u32) {
        // A NaN counts as an infinite error.
        let squared = if squared < f32::INFINITY { squared } else { f32::INFINITY };
        if squared > self.squared || (squared == self.squared && vertex < self.at.vertex) {
            self.squared = squared;
            (self.at.vertex, self.at.bone) = (vertex, bone);
        }
    }

    fn point(&self) -> CurvePoint {
        let ErrorLocation { seconds, vertex, bone } = self.at;
        CurvePoint { seconds: seconds as f32, error: self.squared().sqrt(), vertex, bone }
    }

    /// Returns the greater of two errors, or the earlier of equal ones.
    fn greater(self, other: Self) -> Self {
        let earlier = other.squared == self.squared && other.at.seconds < self.at.seconds;
        if other.squared > self.squared || earlier { other } else { self }
    }
}

/// Greatest errors of some sample times, collected in any order.
#[derive(Default)]
pub(crate) struct CurveRecorder {
    samples: Vec<GreatestError>,
}

impl CurveRecorder {
    /// Adds the result of a sample time.
    pub(crate) fn push(&mut self, greatest: GreatestError) {
        self.samples.push(greatest);
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.samples.append(&mut other.samples);
    }

    /// Returns the curve with at most `most` points at frames and between them each.
    pub(super) fn finish(mut self, times: &SampleTimes, most: u32) -> ErrorCurve {
        self.samples.sort_by(|a, b| a.at.seconds.total_cmp(&b.at.seconds));
        let run = times.frames.len().div_ceil(most.max(1) as usize).max(1);
        let (frames, between): (Vec<GreatestError>, Vec<GreatestError>) =
            self.samples.into_iter().partition(|sample| sample.frame);
        let at_frames = frames.chunks(run).filter_map(|run| run.iter().copied().reduce(GreatestError::greater));
        let run_of = |sample: &GreatestError| {
            times.frames.partition_point(|frame| frame.seconds <= sample.at.seconds).saturating_sub(1) / run
        };
        let runs = between.chunk_by(|a, b| run_of(a) == run_of(b));
        let between = runs.filter_map(|run| run.iter().copied().reduce(GreatestError::greater));
        ErrorCurve {
            frames_per_point: run as u32,
            at_frames: at_frames.map(|sample| sample.point()).collect(),
            between: between.map(|sample| sample.point()).collect(),
            vertices: VertexErrors::default(),
            difference: ClipDifference::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(frames: usize) -> SampleTimes {
        let time = |seconds: f64, frame| SampleTime { seconds, frame };
        SampleTimes {
            frames: (0..frames).map(|i| time(i as f64, true)).collect(),
            between: (0..frames - 1).flat_map(|i| [0.25, 0.5].map(|t| time(i as f64 + t, false))).collect(),
        }
    }

    fn recorded(times: &SampleTimes, error: impl Fn(f64) -> f32) -> CurveRecorder {
        let mut recorder = CurveRecorder::default();
        for sample in times.between.iter().chain(&times.frames) {
            let mut greatest = GreatestError::new(sample);
            greatest.see(error(sample.seconds).powi(2), 7, 2);
            greatest.see(0.0, 3, 1);
            recorder.push(greatest);
        }
        recorder
    }

    #[test]
    fn a_short_clip_has_a_point_per_frame_and_per_interval() {
        let times = samples(4);
        let curve = recorded(&times, |t| t as f32).finish(&times, 16);
        assert_eq!(curve.frames_per_point, 1);
        let errors = |points: &[CurvePoint]| points.iter().map(|p| (p.seconds, p.error)).collect::<Vec<_>>();
        assert_eq!(errors(&curve.at_frames), [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]);
        assert_eq!(errors(&curve.between), [(0.5, 0.5), (1.5, 1.5), (2.5, 2.5)]);
        assert_eq!((curve.at_frames[0].vertex, curve.at_frames[1].vertex), (3, 7), "zero is at the first vertex");
    }

    #[test]
    fn a_long_clip_has_bounded_points_and_loses_no_peak() {
        let times = samples(1000);
        let spike = |t: f64| if t == 777.0 || t == 333.25 { 5.0 } else { 1.0 };
        let curve = recorded(&times, spike).finish(&times, 16);
        assert!(curve.at_frames.len() <= 16 && curve.between.len() <= 16, "{}", curve.between.len());
        assert_eq!(curve.frames_per_point, 63);
        let peak =
            |points: &[CurvePoint]| points.iter().filter(|p| p.error == 5.0).map(|p| p.seconds).collect::<Vec<_>>();
        assert_eq!((peak(&curve.at_frames), peak(&curve.between)), (vec![777.0], vec![333.25]));
    }

    #[test]
    fn errors_of_vertices_are_shares_of_the_greatest() {
        let errors = VertexErrors::new(&[0.0, 0.5, 2.0, f32::INFINITY, f32::NAN]);
        assert_eq!((errors.greatest, &errors.shares[..]), (2.0, &[0, 8, 31, 31, 31][..]));
        assert_eq!(VertexErrors::new(&[0.0]).shares, [0], "0 / 0 is no error");
    }

    #[test]
    fn points_are_bounded_per_model() {
        assert_eq!([0, 1, 64, 300, 100_000].map(ErrorCurve::points_per_clip), [256, 256, 256, 54, 16]);
    }
}
