//! Error of a bake in vertex mode: the distance between the glTF model, evaluated in `f64`, and the
//! CPU reference of the vertex shader, for every source vertex.

use glam::{DVec3, Vec3};
use gpuskin_rt::internals::encoding::vat::BakedVertex;
use gpuskin_rt::internals::playback::frame_pair;
use gpuskin_rt::internals::{ClipRecord, Texels, Time};

use super::Evaluator;
use crate::frames::FrameGrid;
use crate::measure::{
    ClipDifference, ClipErrors, DrawnModel, ErrorCurve, ErrorLocation, ErrorTally, GreatestError, Measured,
    MeasuredClip, MeasuredTimes, MotionQuery, SampleDifference, SampleTime, SampleTimes, SteppedVertices, VertexErrors,
    measure_all, playback_at,
};
use crate::model::Model;
use crate::vector_math::Lanes;

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
    let rows = drawn.baked_of_source.iter().map(|v| drawn.vertices[*v as usize].joints[0] + 1).max().unwrap_or(0);
    let values = 3 * rows.saturating_sub(drawn.texels.encoding().range_rows()) as usize;
    let whole = times == MeasuredTimes::All;
    let recorded = Recorded {
        vertices: whole && VertexErrors::kept(model.clips.len(), drawn.baked_of_source.len()),
        values: if whole && ClipDifference::kept(grids, values, drawn.vertices.len()) { values } else { 0 },
    };
    let measured = measure_some(model, grids, records, drawn, times, &all, recorded);
    let with_vertices = |Measured { errors, mut curve, points, differences }| {
        curve.difference = ClipDifference::new(differences);
        if !points.is_empty() {
            curve.vertices = VertexErrors::new(&vertex_errors(&points, drawn));
        }
        (errors, curve)
    };
    measured.into_iter().map(with_vertices).collect()
}

/// Returns the greatest distance of each baked vertex, in metres, from the squared distances of source vertices, four by four.
fn vertex_errors(points: &[Lanes], drawn: &DrawnModel<'_>) -> Vec<f32> {
    let mut errors = vec![0.0_f32; drawn.vertices.len()];
    for (squared, baked) in points.iter().flatten().zip(drawn.baked_of_source.iter()) {
        let error = &mut errors[*baked as usize];
        *error = error.max(squared.sqrt());
    }
    errors
}

/// For each given clip, whether its motion errors are within the limits.
pub(crate) fn motion_within(
    model: &Model,
    grids: &[FrameGrid],
    records: &[ClipRecord],
    drawn: &DrawnModel<'_>,
    search: MotionQuery<'_>,
) -> Vec<bool> {
    let found = measure_some(model, grids, records, drawn, MeasuredTimes::All, search.clips, Recorded::default());
    // The errors of motion include those at frames, which another rate does not reduce.
    let normals = |ClipErrors { encoding, motion, .. }: &ClipErrors| {
        f64::from(motion.normal_degrees) <= search.normal || motion.normal_degrees <= encoding.normal_degrees
    };
    let within = |errors: &ClipErrors| f64::from(errors.motion.max) <= search.limit && normals(errors);
    found.iter().map(|found| within(&found.errors)).collect()
}

/// Facts for a report.
#[derive(Clone, Copy, Default)]
struct Recorded {
    /// Whether the error of each vertex is recorded.
    vertices: bool,
    /// Number of values of the difference of the source at each sample time: three per texture row of a vertex. 0: it is not
    /// recorded.
    values: usize,
}

fn measure_some(
    model: &Model,
    grids: &[FrameGrid],
    records: &[ClipRecord],
    drawn: &DrawnModel<'_>,
    times: MeasuredTimes,
    clips: &[usize],
    recorded: Recorded,
) -> Vec<Measured> {
    let row = |v: &u32| drawn.vertices[*v as usize].joints[0];
    let rows: Vec<u32> = drawn.baked_of_source.iter().map(row).collect();
    let work = |&i: &usize| Work {
        model,
        evaluator: Evaluator::in_place(model, &model.clips[i], &grids[i]),
        grid: &grids[i],
        record: records[i],
        texels: &drawn.texels,
        rows: &rows,
        stepped: SteppedVertices::new(model, &model.clips[i], &grids[i], true, false),
        sample_times: SampleTimes::new(&model.clips[i], &grids[i], times, true),
        recorded,
    };
    measure_all(&clips.iter().map(work).collect::<Vec<_>>(), rows.len())
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
    recorded: Recorded,
}

impl MeasuredClip for Work<'_> {
    fn sample_times(&self) -> &SampleTimes {
        &self.sample_times
    }

    fn stepped(&self) -> &SteppedVertices {
        &self.stepped
    }

    fn at_frames(&self, sample_times: &[SampleTime], tally: &mut ErrorTally) {
        if self.recorded.vertices {
            tally.points = vec![Lanes::default(); self.rows.len().div_ceil(4)];
        }
        self.look_at(sample_times, tally, |found, greatest, tally| {
            let vertex = found.seen.vertex as usize;
            if let Some(lane) = tally.points.get_mut(vertex / 4).map(|lanes| &mut lanes[vertex % 4]) {
                *lane = if found.squared.is_nan() { f32::INFINITY } else { lane.max(found.squared) };
            }
            let place = found.position.as_vec3().to_array();
            tally.widen(place, place);
            greatest.see(found.squared, found.seen.vertex, found.seen.bone);
            tally.add(found.squared, 1, found.seen);
            tally.add_normal(found.chord_squared);
        });
    }

    fn between(&self, sample_times: &[SampleTime], tally: &mut ErrorTally) {
        self.look_at(sample_times, tally, |found, greatest, tally| {
            if !self.stepped.moves(found.seen.vertex as usize) {
                greatest.see(found.squared, found.seen.vertex, found.seen.bone);
                tally.add(found.squared, 1, found.seen);
                tally.add_normal(found.chord_squared);
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
    /// Squared chord between source normal and drawn normal; 0 if normals are missing.
    chord_squared: f32,
}

impl Work<'_> {
    /// Evaluates all vertices at some sample times, and adds the greatest error of each time to the
    /// curve of the tally.
    fn look_at(
        &self,
        sample_times: &[SampleTime],
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
            let mut difference = vec![0.0_f32; self.recorded.values];
            let posed = self.evaluator.at(seconds);
            let mut v = 0;
            for (p, primitive) in self.model.primitives.iter().enumerate() {
                for local in 0..primitive.positions.len() {
                    let matrix = posed.matrix(p, local);
                    let position = posed.transformed_position(&matrix, p, local);
                    let row = self.rows[v] as usize;
                    let bone = u32::from(primitive.influences.of(local)[0].0);
                    let shown = a[row].position * (1.0 - frames.t) + b[row].position * frames.t;
                    let off = position - shown.as_dvec3();
                    let squared = off.length_squared() as f32;
                    let first = 3 * (row - self.texels.encoding().range_rows() as usize);
                    // Vertices of one row move alike: any of them stands for all.
                    if let Some(values) = difference.get_mut(first..first + 3) {
                        values.copy_from_slice(&off.as_vec3().to_array());
                    }
                    let normal = posed.normal(&matrix, p, local);
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
            if !difference.is_empty() {
                tally.differences.extend(SampleDifference::new(self.grid, sample, || difference));
            }
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
