//! What baking vertices lost: the distance between the glTF evaluated in `f64` and the twin of the vertex shader, over
//! every source vertex.

use glam::{DVec3, Vec3};
use gpuskin_rt::encoding::vat::BakedVertex;
use gpuskin_rt::playback::frame_pair;
use gpuskin_rt::{ClipRecord, Texels, Time};
use rayon::prelude::*;

use super::Evaluator;
use crate::frames::FrameGrid;
use crate::measure::{ClipErrors, Drawn, Instant, Search, Tally, Times, instants, playback_at};
use crate::model::{Clip, Interpolation, Model};

/// Vertex evaluations in a unit of parallel work.
const WORK_UNIT: usize = 1 << 17;

/// Measures every clip of a model. `drawn`: texels and vertices as the shader has them; how bones turn normals does not
/// matter.
pub(crate) fn measure(
    model: &Model,
    grids: &[FrameGrid],
    records: &[ClipRecord],
    drawn: &Drawn<'_>,
    times: Times,
) -> Vec<ClipErrors> {
    let all: Vec<usize> = (0..model.clips.len()).collect();
    measure_some(model, grids, records, drawn, times, &all)
}

/// For each of some clips, whether its motion error is within a limit.
pub(crate) fn motion_within(
    model: &Model,
    grids: &[FrameGrid],
    records: &[ClipRecord],
    drawn: &Drawn<'_>,
    search: Search<'_>,
) -> Vec<bool> {
    let errors = measure_some(model, grids, records, drawn, Times::All, search.clips);
    errors.iter().map(|errors| f64::from(errors.motion.max) <= search.limit).collect()
}

fn measure_some(
    model: &Model,
    grids: &[FrameGrid],
    records: &[ClipRecord],
    drawn: &Drawn<'_>,
    times: Times,
    clips: &[usize],
) -> Vec<ClipErrors> {
    let row = |v: &u32| drawn.vertices[*v as usize].joints[0];
    let rows: Vec<u32> = drawn.baked_of_source.iter().map(row).collect();
    let chunk = (WORK_UNIT / rows.len().max(1)).max(1);
    let work = |&i: &usize| Work {
        model,
        evaluator: Evaluator::in_place(model, &model.clips[i], &grids[i]),
        grid: &grids[i],
        record: records[i],
        texels: &drawn.texels,
        rows: &rows,
        stepped: stepped(model, &model.clips[i]),
        instants: instants(&model.clips[i], &grids[i], times, true),
    };
    let works: Vec<Work<'_>> = clips.iter().map(work).collect();
    let units: Vec<(usize, &[Instant])> =
        works.iter().enumerate().flat_map(|(i, work)| work.instants.chunks(chunk).map(move |c| (i, c))).collect();
    let results: Vec<(usize, Tally)> = units.into_par_iter().map(|(i, part)| (i, works[i].run(part))).collect();
    let mut tallies: Vec<Tally> = works.iter().map(|_| Tally::default()).collect();
    results.into_iter().for_each(|(i, tally)| tallies[i].merge(tally));
    tallies.into_iter().zip(&works).map(|(tally, work)| tally.finish(work.stepped.tracks)).collect()
}

/// What STEP tracks move.
struct Stepped {
    tracks: usize,
    /// Per source vertex; empty where there are no such tracks.
    vertices: Vec<bool>,
}

fn stepped(model: &Model, clip: &Clip) -> Stepped {
    let jumps = |interpolation, moves| interpolation == Interpolation::Step && moves;
    let mut nodes = vec![false; model.nodes.len()];
    let mut tracks = 0;
    for channel in &clip.channels {
        let curve = &channel.curve;
        if jumps(curve.interpolation, curve.values.iter().any(|v| *v != curve.values[0])) {
            (nodes[channel.node], tracks) = (true, tracks + 1);
        }
    }
    for &node in &model.order {
        nodes[node] |= model.nodes[node].parent.is_some_and(|p| nodes[p]);
    }
    let mut morphs = vec![false; model.nodes.len()];
    for channel in &clip.morphs {
        let curve = &channel.curve;
        if jumps(curve.interpolation, curve.values.chunks(curve.targets).any(|k| k != &curve.values[..curve.targets])) {
            (morphs[channel.node], tracks) = (true, tracks + 1);
        }
    }
    let mut vertices = Vec::new();
    for p in model.primitives.iter().filter(|_| tracks > 0) {
        let morphs = morphs[p.node] && !p.targets.is_empty();
        let on_node = |v| p.influences.of(v).iter().any(|&(bone, _)| nodes[model.bones[usize::from(bone)].node]);
        vertices.extend((0..p.positions.len()).map(|v| morphs || on_node(v)));
    }
    Stepped { tracks, vertices }
}

struct Work<'a> {
    model: &'a Model,
    evaluator: Evaluator<'a>,
    grid: &'a FrameGrid,
    record: ClipRecord,
    texels: &'a Texels<'a>,
    /// The row of each source vertex.
    rows: &'a [u32],
    stepped: Stepped,
    instants: Vec<Instant>,
}

impl Work<'_> {
    fn run(&self, instants: &[Instant]) -> Tally {
        let mut tally = Tally::default();
        let mut decoded: Vec<(u32, Vec<BakedVertex>)> = Vec::new();
        for instant in instants {
            let seconds = instant.seconds;
            let frames = frame_pair(&playback_at(self.grid, seconds), &self.record, Time::ZERO);
            decoded.retain(|(frame, _)| [frames.a, frames.b].contains(frame));
            for frame in [frames.a, frames.b] {
                if decoded.iter().all(|(have, _)| *have != frame) {
                    decoded.push((frame, self.decode(frame)));
                }
            }
            let of = |frame: u32| decoded.iter().find(|(have, _)| *have == frame).map_or(&[][..], |(_, rows)| rows);
            let (a, b) = (of(frames.a), of(frames.b));
            let moment = self.evaluator.at(seconds);
            let mut v = 0;
            for (p, primitive) in self.model.primitives.iter().enumerate() {
                for local in 0..primitive.positions.len() {
                    let matrix = moment.matrix(p, local);
                    let position = moment.carried(&matrix, p, local);
                    let row = self.rows[v] as usize;
                    let bone = || u32::from(primitive.influences.of(local)[0].0);
                    let shown = a[row].position * (1.0 - frames.t) + b[row].position * frames.t;
                    let squared = (position - shown.as_dvec3()).length_squared() as f32;
                    if instant.frame {
                        tally.reach(position.as_vec3());
                        tally.encoding.add(squared, seconds, v, bone());
                        let normal = moment.normal(&matrix, p, local);
                        if normal != DVec3::ZERO {
                            let shown = BakedVertex::lerp(a[row], b[row], frames.t).normal;
                            tally.encoding.add_normal(chord_squared(normal, shown));
                        }
                    }
                    if instant.frame || self.stepped.vertices.is_empty() || !self.stepped.vertices[v] {
                        tally.motion.add(squared, seconds, v, bone());
                    }
                    v += 1;
                }
            }
        }
        // Between frames normals follow positions; they are measured at frames only.
        tally.motion.normal = tally.encoding.normal;
        tally
    }

    /// All rows of a frame; those that hold its range mean nothing.
    fn decode(&self, frame: u32) -> Vec<BakedVertex> {
        let first = self.texels.encoding().range_rows();
        let range = (0..first).map(|_| BakedVertex::default());
        let end = self.rows.iter().map(|row| row + 1).max().unwrap_or(first);
        range.chain((first..end).map(|row| self.texels.stored_vertex(frame, row))).collect()
    }
}

/// Squared distance between the tips of two unit normals.
fn chord_squared(source: DVec3, shown: Vec3) -> f32 {
    if shown == Vec3::ZERO { 0.0 } else { source.distance_squared(shown.as_dvec3()) as f32 }
}
