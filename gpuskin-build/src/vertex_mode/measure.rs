//! Error of a bake in vertex mode: the distance between the glTF model, evaluated in `f64`, and the
//! CPU reference of the vertex shader, for every source vertex.

use glam::{DVec3, Vec3};
use gpuskin_rt::internals::encoding::vat::BakedVertex;
use gpuskin_rt::internals::playback::frame_pair;
use gpuskin_rt::internals::{ClipRecord, Texels, Time};

use super::Evaluator;
use crate::frames::FrameGrid;
use crate::measure::{
    ClipErrors, DrawnModel, ErrorCurve, ErrorLocation, ErrorTally, GreatestError, MeasuredClip, MeasuredTimes,
    MotionQuery, SampleTime, SampleTimes, SteppedVertices, measure_all, playback_at,
};
use crate::model::Model;

/// Measures every clip of a model. Returns the errors and the curve of each. `drawn` has texels and vertices as the shader sees them; its
/// method for normals is ignored.
pub(crate) fn measure(
    model: &Model,
    grids: &[FrameGrid],
    records: &[ClipRecord],
    drawn: &DrawnModel<'_>,
    times: MeasuredTimes,
) -> Vec<(ClipErrors, ErrorCurve)> {
    let all: Vec<usize> = (0..model.clips.len()).collect();
    measure_some(model, grids, records, drawn, times, &all)
}

/// For each given clip, whether its motion error is within a limit.
pub(crate) fn motion_within(
    model: &Model,
    grids: &[FrameGrid],
    records: &[ClipRecord],
    drawn: &DrawnModel<'_>,
    search: MotionQuery<'_>,
) -> Vec<bool> {
    let errors = measure_some(model, grids, records, drawn, MeasuredTimes::All, search.clips);
    errors.iter().map(|(errors, _)| f64::from(errors.motion.max) <= search.limit).collect()
}

fn measure_some(
    model: &Model,
    grids: &[FrameGrid],
    records: &[ClipRecord],
    drawn: &DrawnModel<'_>,
    times: MeasuredTimes,
    clips: &[usize],
) -> Vec<(ClipErrors, ErrorCurve)> {
    let row = |v: &u32| drawn.vertices[*v as usize].joints[0];
    let rows: Vec<u32> = drawn.baked_of_source.iter().map(row).collect();
    let work = |&i: &usize| Work {
        model,
        evaluator: Evaluator::in_place(model, &model.clips[i], &grids[i]),
        grid: &grids[i],
        record: records[i],
        texels: &drawn.texels,
        rows: &rows,
        stepped: SteppedVertices::new(model, &model.clips[i], true),
        sample_times: SampleTimes::new(&model.clips[i], &grids[i], times, true),
    };
    let all = measure_all(&clips.iter().map(work).collect::<Vec<_>>(), rows.len());
    all.into_iter().map(|measured| (measured.errors, measured.curve)).collect()
}

struct Work<'a> {
    model: &'a Model,
    evaluator: Evaluator<'a>,
    grid: &'a FrameGrid,
    record: ClipRecord,
    texels: &'a Texels<'a>,
    /// Texture row of each source vertex. `[source vertex]`
    rows: &'a [u32],
    stepped: SteppedVertices,
    sample_times: SampleTimes,
}

impl MeasuredClip for Work<'_> {
    fn sample_times(&self) -> &SampleTimes {
        &self.sample_times
    }

    fn stepped(&self) -> &SteppedVertices {
        &self.stepped
    }

    fn at_frames(&self, sample_times: &[SampleTime], tally: &mut ErrorTally) {
        self.look_at(sample_times, true, tally, |found, greatest, tally| {
            let place = found.position.as_vec3().to_array();
            tally.widen(place, place);
            greatest.see(found.squared, found.seen.vertex, found.seen.bone);
            tally.add(found.squared, 1, found.seen);
            tally.add_normal(found.chord_squared);
        });
    }

    fn between(&self, sample_times: &[SampleTime], tally: &mut ErrorTally) {
        self.look_at(sample_times, false, tally, |found, greatest, tally| {
            if !self.stepped.moves(found.seen.vertex as usize) {
                greatest.see(found.squared, found.seen.vertex, found.seen.bone);
                tally.add(found.squared, 1, found.seen);
            }
        });
    }
}

/// Errors of a vertex at a sample time.
struct VertexError {
    seen: ErrorLocation,
    /// Source position, in metres.
    position: DVec3,
    /// Squared distance between source position and drawn position, in square metres.
    squared: f32,
    /// Squared chord between source normal and drawn normal; 0 if normals are missing or not
    /// requested.
    chord_squared: f32,
}

impl Work<'_> {
    /// Evaluates all vertices at some sample times, and adds the greatest error of each time to the
    /// curve of the tally.
    fn look_at(
        &self,
        sample_times: &[SampleTime],
        normals: bool,
        tally: &mut ErrorTally,
        tell: impl Fn(VertexError, &mut GreatestError, &mut ErrorTally),
    ) {
        let mut decoded: Vec<(u32, Vec<BakedVertex>)> = Vec::new();
        for sample in sample_times {
            let seconds = sample.seconds;
            let frames = frame_pair(&playback_at(self.grid, seconds), &self.record, Time::ZERO);
            decoded.retain(|(frame, _)| [frames.a, frames.b].contains(frame));
            for frame in [frames.a, frames.b] {
                if decoded.iter().all(|(have, _)| *have != frame) {
                    decoded.push((frame, self.decode(frame)));
                }
            }
            let of = |frame: u32| decoded.iter().find(|(have, _)| *have == frame).map_or(&[][..], |(_, rows)| rows);
            let (a, b) = (of(frames.a), of(frames.b));
            let mut greatest = GreatestError::new(sample);
            let sample = self.evaluator.at(seconds);
            let mut v = 0;
            for (p, primitive) in self.model.primitives.iter().enumerate() {
                for local in 0..primitive.positions.len() {
                    let matrix = sample.matrix(p, local);
                    let position = sample.transformed_position(&matrix, p, local);
                    let row = self.rows[v] as usize;
                    let bone = u32::from(primitive.influences.of(local)[0].0);
                    let shown = a[row].position * (1.0 - frames.t) + b[row].position * frames.t;
                    let squared = (position - shown.as_dvec3()).length_squared() as f32;
                    let normal = if normals { sample.normal(&matrix, p, local) } else { DVec3::ZERO };
                    let chord_squared = if normal == DVec3::ZERO {
                        0.0
                    } else {
                        chord_squared(normal, BakedVertex::lerp(a[row], b[row], frames.t).normal)
                    };
                    let seen = ErrorLocation { seconds, vertex: v as u32, bone };
                    tell(VertexError { seen, position, squared, chord_squared }, &mut greatest, tally);
                    v += 1;
                }
            }
            tally.curve.push(greatest);
        }
    }

    /// Decodes all rows of a frame. Rows that store the value range decode to default values.
    fn decode(&self, frame: u32) -> Vec<BakedVertex> {
        let first = self.texels.encoding().range_rows();
        let range = (0..first).map(|_| BakedVertex::default());
        let end = self.rows.iter().map(|row| row + 1).max().unwrap_or(first);
        range.chain((first..end).map(|row| self.texels.stored_vertex(frame, row))).collect()
    }
}

/// Returns the squared distance between the tips of two unit normals.
fn chord_squared(source: DVec3, shown: Vec3) -> f32 {
    if shown == Vec3::ZERO { 0.0 } else { source.distance_squared(shown.as_dvec3()) as f32 }
}
