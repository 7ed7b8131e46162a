//! Measurement of a clip in bone mode.

use std::cmp::Ordering;

use gpuskin_rt::internals::{ClipRecord, Normals};

use super::bone_matrices::BoneMatrices;
use super::bounds::ErrorBounds;
use super::mesh::{FourPoints, MeasuredMesh, PointGroup, WeldedPoint};
use super::morphed::MorphBound;
use super::normal_bounds::NormalBounds;
use super::normals::{DRAWN, NormalMatrices, SOURCE, WidestAngle};
use super::{
    BoneBox, DrawnModel, ErrorLocation, ErrorTally, GreatestError, MeasuredClip, MeasuredTimes, SampleDifference,
    SampleTime, SampleTimes, SteppedVertices, VertexErrors, drawn_pose,
};
use crate::frames::FrameGrid;
use crate::model::Model;
use crate::sample::Sampler;
use crate::vector_math::{Lanes, add_lanes, dot_of, greatest_lanes, least_lanes, max_lane, min_lane, times};

/// A clip in its source form and its drawn form.
pub(super) struct ClipWork<'a> {
    sampler: Sampler<'a>,
    grid: FrameGrid,
    record: ClipRecord,
    pub(super) mesh: &'a MeasuredMesh,
    pub(super) drawn: &'a DrawnModel<'a>,
    pub(super) sample_times: SampleTimes,
    pub(super) stepped: SteppedVertices,
    /// Whether the error of each vertex is recorded.
    vertices: bool,
    /// Boxes in which the difference of the source is recorded.
    boxes: &'a [BoneBox],
}

impl<'a> ClipWork<'a> {
    /// Creates the work for one clip; `clip` is an index into [`Model::clips`].
    pub(super) fn new(
        model: &'a Model,
        clip: usize,
        grid: FrameGrid,
        record: ClipRecord,
        mesh: &'a MeasuredMesh,
        drawn: &'a DrawnModel<'a>,
        times: MeasuredTimes,
    ) -> Self {
        let clip = &model.clips[clip];
        let vertices = times == MeasuredTimes::All && VertexErrors::kept(model.clips.len(), mesh.vertices);
        let sample_times = SampleTimes::new(clip, &grid, times, false);
        let stepped = SteppedVertices::new(model, clip, &grid, !model.morph_tracks.is_empty(), drawn.holds_steps());
        Self {
            sampler: Sampler::in_place(model, clip, &grid),
            grid,
            record,
            mesh,
            drawn,
            sample_times,
            stepped,
            vertices,
            boxes: &[],
        }
    }

    /// Records the difference of the source in boxes.
    pub(super) fn recording(self, boxes: &'a [BoneBox]) -> Self {
        Self { boxes, ..self }
    }

    /// Returns the matrices of all bones at a sample time.
    pub(super) fn bones(&self, sample: &SampleTime) -> Vec<BoneMatrices> {
        let source = self.sampler.skin_matrices(sample.seconds);
        let shown = drawn_pose(&self.drawn.texels, &self.grid, &self.record, sample.seconds);
        source.iter().zip(&shown).map(|(s, d)| BoneMatrices::new(s, d)).collect()
    }
}

impl MeasuredClip for ClipWork<'_> {
    fn sample_times(&self) -> &SampleTimes {
        &self.sample_times
    }

    fn stepped(&self) -> &SteppedVertices {
        &self.stepped
    }

    fn at_frames(&self, sample_times: &[SampleTime], tally: &mut ErrorTally) {
        let poses: Vec<Vec<BoneMatrices>> = sample_times.iter().map(|sample| self.bones(sample)).collect();
        sample_times.iter().zip(&poses).for_each(|(sample, bones)| self.record(sample, bones, tally));
        let normal_bounds = self.normal_bounds(poses.iter().map(|bones| &bones[..]));
        let mut reached = ReachedBox::NOTHING;
        let mut widest = WidestAngle::new(tally.normal);
        let mut greatest: Vec<GreatestError> = sample_times.iter().map(GreatestError::new).collect();
        if self.vertices {
            tally.points = vec![Lanes::default(); self.mesh.fours];
        }
        let mut first = 0;
        for group in &self.mesh.groups {
            let own = first..first + if self.vertices { group.points.len().div_ceil(4) } else { 0 };
            first = own.end;
            let samples = sample_times.iter().zip(poses.iter().zip(&normal_bounds));
            for ((sample, (bones, normal_bounds)), greatest) in samples.zip(&mut greatest) {
                let mut kept = own.clone();
                let group = &*group.posed(bones);
                for (points, fours) in group.fours() {
                    let mut squared = Lanes::default();
                    errors_squared(fours, &group.bones, bones, &mut squared);
                    if let Some(four) = kept.next() {
                        tally.points[four] = greatest_lanes(squared, tally.points[four]);
                    }
                    if greatest.rises_by_any(&squared) {
                        points.iter().zip(squared).for_each(|(p, off)| greatest.see(off, p.vertex, p.bone));
                    }
                    if tally.counts_any(&squared) {
                        points.iter().zip(squared).for_each(|(p, off)| tally.add(off, p.count, seen(sample, p)));
                    }
                    reach(fours, &group.bones, bones, &mut reached);
                }
                self.look_at_normals(group, bones, normal_bounds, &mut widest);
            }
        }
        greatest.into_iter().for_each(|greatest| tally.curve.push(greatest));
        tally.normal = widest.chord_squared;
        tally.widen(reached.low.map(min_lane), reached.high.map(max_lane));
    }

    fn between(&self, sample_times: &[SampleTime], tally: &mut ErrorTally) {
        let poses: Vec<(Vec<BoneMatrices>, ErrorBounds)> = sample_times
            .iter()
            .map(|sample| {
                let bones = self.bones(sample);
                let bounds = ErrorBounds::new(self.mesh, &bones);
                (bones, bounds)
            })
            .collect();
        sample_times.iter().zip(&poses).for_each(|(sample, (bones, _))| self.record(sample, bones, tally));
        let floor = tally.floor.sqrt();
        let normal_bounds = self.normal_bounds(poses.iter().map(|(bones, _)| &bones[..]));
        let mut widest = WidestAngle::new(tally.normal);
        let mut greatest: Vec<GreatestError> = sample_times.iter().map(GreatestError::new).collect();
        for group in &self.mesh.groups {
            let jumps = self.jumps(group);
            let samples = sample_times.iter().zip(poses.iter().zip(&normal_bounds));
            for ((sample, ((bones, bounds), normal_bounds)), greatest) in samples.zip(&mut greatest) {
                let bound = bounds.of(group, bones);
                let turns = !jumps && self.may_turn(group, bones, normal_bounds, &widest);
                if bound < floor && !turns {
                    continue;
                }
                let group = &*group.posed(bones);
                if turns {
                    self.look_at_normals(group, bones, normal_bounds, &mut widest);
                }
                if bound < floor {
                    continue;
                }
                for (points, fours) in group.fours() {
                    let mut squared = Lanes::default();
                    errors_squared(fours, &group.bones, bones, &mut squared);
                    if greatest.rises_by_any(&squared) {
                        self.staying(points, squared).for_each(|(p, off)| greatest.see(off, p.vertex, p.bone));
                    }
                    if tally.counts_any(&squared) {
                        self.staying(points, squared).for_each(|(p, off)| tally.add(off, p.count, seen(sample, p)));
                    }
                }
            }
        }
        tally.normal = widest.chord_squared;
        // Samples whose errors are all below the floor: the curve needs the greatest one.
        for ((bones, bounds), mut greatest) in poses.iter().zip(greatest) {
            if greatest.squared() < tally.floor {
                self.find_greatest(bones, bounds, floor, &mut greatest);
            }
            tally.curve.push(greatest);
        }
    }
}

impl ClipWork<'_> {
    /// Records the difference of the source at a sample time.
    fn record(&self, sample: &SampleTime, bones: &[BoneMatrices], tally: &mut ErrorTally) {
        if !self.boxes.is_empty() {
            let terms = || self.boxes.iter().flat_map(|one| one.terms(&bones[one.bone as usize].difference)).collect();
            tally.differences.extend(SampleDifference::new(&self.grid, sample, terms));
        }
    }

    /// Returns the bounds of each pose for the angles of normals.
    fn normal_bounds<'p>(&self, poses: impl Iterator<Item = &'p [BoneMatrices]>) -> Vec<NormalBounds> {
        poses.map(|bones| NormalBounds::new(self.mesh, bones, self.drawn.normals)).collect()
    }

    /// Whether a STEP track moves a point of a group, so that its normals jump between frames.
    pub(super) fn jumps(&self, group: &PointGroup) -> bool {
        group.points.iter().any(|point| self.stepped.moves(point.vertex as usize))
    }

    /// Whether a normal of a group may have a wider angle than the widest one: always, unless morph targets move the group,
    /// whose normals are made anew in each pose.
    pub(super) fn may_turn(
        &self,
        group: &PointGroup,
        bones: &[BoneMatrices],
        bounds: &NormalBounds,
        widest: &WidestAngle,
    ) -> bool {
        let morphed = group.morph_bound(bones);
        // A chord that is not a number may be any.
        let is_less = |bound: MorphBound| {
            let least = bounds.least_packed(group, widest.chord_squared.sqrt());
            bound.chord.partial_cmp(&least) == Some(Ordering::Less)
        };
        !morphed.is_some_and(is_less)
    }

    /// Compares the normals of a group at a sample time, without those whose angles are known to be smaller than
    /// the widest one.
    pub(super) fn look_at_normals(
        &self,
        group: &PointGroup,
        bones: &[BoneMatrices],
        bounds: &NormalBounds,
        widest: &mut WidestAngle,
    ) {
        let least = bounds.least_packed(group, widest.chord_squared.sqrt());
        if group.packed < least {
            return;
        }
        for (normals, weights) in group.normals() {
            if normals.iter().all(|normals| normals.packed < least) {
                continue;
            }
            let (mut source, mut drawn) = (NormalMatrices::default(), NormalMatrices::default());
            source.set(weights, &group.bones, bones, SOURCE, Normals::Cofactor);
            drawn.set(weights, &group.bones, bones, DRAWN, self.drawn.normals);
            let unknown = normals.iter().filter(|normals| normals.packed >= least);
            unknown.for_each(|normals| widest.look(&source, &drawn, normals));
        }
    }

    /// Iterates over points and their squared errors, without points that STEP tracks move: those
    /// jump between frames.
    fn staying<'p>(&self, points: &'p [WeldedPoint], squared: Lanes) -> impl Iterator<Item = (&'p WeldedPoint, f32)> {
        let stays = |(point, _): &(&WeldedPoint, f32)| !self.stepped.moves(point.vertex as usize);
        points.iter().zip(squared).filter(stays)
    }

    /// Finds the greatest error of a sample among the groups whose bound is below `floor`, in metres;
    /// the others are in `greatest` already. Groups with high bounds come first, because the others
    /// can then be skipped.
    fn find_greatest(&self, bones: &[BoneMatrices], bounds: &ErrorBounds, floor: f32, greatest: &mut GreatestError) {
        let bound = |group| bounds.of(group, bones);
        let mut left: Vec<(f32, &PointGroup)> = self.mesh.groups.iter().map(|group| (bound(group), group)).collect();
        left.retain(|(bound, _)| *bound < floor);
        left.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (bound, group) in left {
            if bound * bound <= greatest.squared() {
                break;
            }
            for (points, fours) in group.posed(bones).fours() {
                let mut squared = Lanes::default();
                errors_squared(fours, &group.bones, bones, &mut squared);
                if greatest.rises_by_any(&squared) {
                    self.staying(points, squared).for_each(|(p, off)| greatest.see(off, p.vertex, p.bone));
                }
            }
        }
    }
}

fn seen(sample: &SampleTime, point: &WeldedPoint) -> ErrorLocation {
    ErrorLocation { seconds: sample.seconds, vertex: point.vertex, bone: point.bone }
}

// The following loops are separate functions without inlining, so that the compiler keeps four
// lanes from load to store.

/// Computes the squared errors of four points, in square metres. `of` lists the bones of their
/// group.
#[inline(never)]
pub(super) fn errors_squared(fours: &[FourPoints], of: &[u32], bones: &[BoneMatrices], squared: &mut Lanes) {
    let [mut x, mut y, mut z] = [Lanes::default(); 3];
    for (four, &bone) in fours.iter().zip(of) {
        let BoneMatrices { source, difference, .. } = &bones[bone as usize];
        x = add_lanes(x, add_lanes(times(&difference[0], &four.drawn), times(&source[0], &four.lost)));
        y = add_lanes(y, add_lanes(times(&difference[1], &four.drawn), times(&source[1], &four.lost)));
        z = add_lanes(z, add_lanes(times(&difference[2], &four.drawn), times(&source[2], &four.lost)));
    }
    *squared = dot_of(&[x, y, z], &[x, y, z]);
}

/// Bounding box of source points, in four lanes per component.
struct ReachedBox {
    low: [Lanes; 3],
    high: [Lanes; 3],
}

impl ReachedBox {
    const NOTHING: Self = Self { low: [[f32::INFINITY; 4]; 3], high: [[f32::NEG_INFINITY; 4]; 3] };
}

/// Extends the bounding box by the source positions of four points, in metres.
#[inline(never)]
fn reach(fours: &[FourPoints], of: &[u32], bones: &[BoneMatrices], reached: &mut ReachedBox) {
    let [mut x, mut y, mut z] = [Lanes::default(); 3];
    for (four, &bone) in fours.iter().zip(of) {
        let source = &bones[bone as usize].source;
        x = add_lanes(x, times(&source[0], &four.source));
        y = add_lanes(y, times(&source[1], &four.source));
        z = add_lanes(z, times(&source[2], &four.source));
    }
    let ReachedBox { low, high } = reached;
    *low = [least_lanes(low[0], x), least_lanes(low[1], y), least_lanes(low[2], z)];
    *high = [greatest_lanes(high[0], x), greatest_lanes(high[1], y), greatest_lanes(high[2], z)];
}
