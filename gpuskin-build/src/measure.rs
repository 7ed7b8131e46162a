//! What baking lost: the distance between the glTF evaluated in `f64`, with all its influences, and the result as
//! drawn, over every source vertex.
//!
//! With source matrices S and drawn ones D, source weights w and drawn ones w', and positions p and p', the error of a
//! vertex is
//!
//! ```text
//! sum w S p - sum w' D p'  =  sum (S - D) w' p'  +  sum S (w p - w' p')
//! ```
//!
//! over homogeneous points. Both sums are of small numbers, so after the differences, taken in `f64`, `f32` is precise
//! and fast.

mod within;

use glam::{Vec3, Vec4};
use gpuskin_rt::playback::{clamped_offset, frame_pair};
use gpuskin_rt::vertex::Vertex;
use gpuskin_rt::{Aabb, ClipRecord, ErrorInfo, Normals, Playback, SkinMatrix, Texels, Time};
use rayon::prelude::*;

use crate::frames::FrameGrid;
use crate::model::{Clip, Interpolation, Model};
use crate::sample::{Rows, Sampler};

/// Motion error is measured at so many times a frame.
const MOTION_OVERSAMPLING: u32 = 4;
/// Vertex evaluations in a unit of parallel work.
const WORK_UNIT: usize = 1 << 17;
/// The share of distances that may be greater than the percentile.
const TAIL: f64 = 0.0004;

pub use within::{Search, motion_within};

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Drawn<'a> {
    /// The animation texture.
    pub texels: Texels<'a>,
    /// Vertices as unpacked by the shader.
    pub vertices: &'a [Vertex],
    /// For each source vertex: its vertex.
    pub baked_of_source: &'a [u32],
    /// How bones turn normals.
    pub normals: Normals,
}

/// The errors of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClipErrors {
    /// At the frames' own times.
    pub encoding: ErrorInfo,
    /// Between them as well, but for what STEP tracks move.
    pub motion: ErrorInfo,
    /// What the frames reach, metres.
    pub bounds: Aabb,
    /// Tracks with STEP keys, which jump between frames in the source and do not in the picture.
    pub step_tracks: usize,
}

/// At which times to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// At frames, between them and at source keys.
    All,
    /// At no more than this many frames of each clip: an estimate.
    Some(u32),
}

/// Measures every clip of a model.
pub fn measure(
    model: &Model,
    grids: &[FrameGrid],
    records: &[ClipRecord],
    drawn: &Drawn<'_>,
    times: Times,
) -> Vec<ClipErrors> {
    let mesh = Mesh::new(model, drawn);
    let chunk = (WORK_UNIT / mesh.vertices.len().max(1)).max(1);
    let clips: Vec<ClipWork<'_>> = (0..model.clips.len())
        .map(|i| ClipWork::new(model, &model.clips[i], &grids[i], records[i], &mesh, times))
        .collect();
    let units: Vec<(usize, &[Instant])> =
        clips.iter().enumerate().flat_map(|(i, work)| work.moments.chunks(chunk).map(move |c| (i, c))).collect();
    let results: Vec<(usize, Tally)> =
        units.into_par_iter().map(|(i, moments)| (i, clips[i].run(&mesh, drawn, moments))).collect();
    let mut tallies: Vec<Tally> = clips.iter().map(|_| Tally::default()).collect();
    results.into_iter().for_each(|(i, tally)| tallies[i].merge(tally));
    clips.iter().zip(tallies).map(|(work, tally)| tally.finish(work.step_tracks)).collect()
}

/// What one bone adds to the error of a vertex.
struct Entry {
    bone: u32,
    /// Drawn weight times drawn position, and the weight.
    drawn: Vec4,
    /// The same of the source, less the drawn.
    lost: Vec4,
}

/// A source vertex against its drawn one.
struct VertexPair {
    entries: std::ops::Range<u32>,
    source_normal: Vec3,
    drawn_normal: Vec3,
    has_normal: bool,
    /// The bone of greatest weight.
    bone: u32,
}

struct Mesh {
    entries: Vec<Entry>,
    vertices: Vec<VertexPair>,
}

impl Mesh {
    fn new(model: &Model, drawn: &Drawn<'_>) -> Self {
        let mut mesh = Self { entries: Vec::new(), vertices: Vec::new() };
        for primitive in &model.primitives {
            for (v, p) in primitive.positions.iter().enumerate() {
                let baked = &drawn.vertices[drawn.baked_of_source[mesh.vertices.len()] as usize];
                let start = mesh.entries.len();
                let influences = primitive.influences.of(v);
                for &(bone, weight) in influences {
                    let source = (*p * weight).extend(weight);
                    mesh.entries.push(Entry { bone: u32::from(bone), drawn: Vec4::ZERO, lost: source.as_vec4() });
                }
                for (bone, weight) in baked.joints.into_iter().zip(baked.weights).filter(|&(_, w)| w > 0.0) {
                    let shown = (baked.position * weight).extend(weight);
                    let exact = (baked.position.as_dvec3() * f64::from(weight)).extend(f64::from(weight));
                    match influences.iter().position(|&(b, _)| u32::from(b) == bone) {
                        Some(i) => {
                            let source = (*p * influences[i].1).extend(influences[i].1);
                            let entry = &mut mesh.entries[start + i];
                            (entry.drawn, entry.lost) = (shown, (source - exact).as_vec4());
                        }
                        None => mesh.entries.push(Entry { bone, drawn: shown, lost: -shown }),
                    }
                }
                let normal = primitive.normals.as_ref().map_or(Vec3::ZERO, |n| n[v].as_vec3());
                mesh.vertices.push(VertexPair {
                    entries: start as u32..mesh.entries.len() as u32,
                    source_normal: normal,
                    drawn_normal: baked.normal,
                    has_normal: normal.length_squared() > 0.0,
                    bone: u32::from(influences[0].0),
                });
            }
        }
        mesh
    }

    fn entries(&self, vertex: &VertexPair) -> &[Entry] {
        &self.entries[vertex.entries.start as usize..vertex.entries.end as usize]
    }
}

/// A time at which a clip is measured.
#[derive(Clone, Copy)]
pub(crate) struct Instant {
    pub(crate) seconds: f64,
    /// A frame stands there.
    pub(crate) frame: bool,
}

struct ClipWork<'a> {
    sampler: Sampler<'a>,
    grid: &'a FrameGrid,
    record: ClipRecord,
    moments: Vec<Instant>,
    step_tracks: usize,
    /// Per source vertex: a STEP track moves it.
    stepped: Vec<bool>,
}

impl<'a> ClipWork<'a> {
    fn new(
        model: &'a Model,
        clip: &'a Clip,
        grid: &'a FrameGrid,
        record: ClipRecord,
        mesh: &Mesh,
        times: Times,
    ) -> Self {
        let steps = |c: &&crate::model::Channel| {
            c.curve.interpolation == Interpolation::Step && c.curve.values.iter().any(|v| *v != c.curve.values[0])
        };
        let mut moved = vec![false; model.nodes.len()];
        clip.channels.iter().filter(steps).for_each(|c| moved[c.node] = true);
        for &node in &model.order {
            moved[node] |= model.nodes[node].parent.is_some_and(|p| moved[p]);
        }
        let step_tracks = clip.channels.iter().filter(steps).count();
        let on_stepped = |v: &VertexPair| mesh.entries(v).iter().any(|e| moved[model.bones[e.bone as usize].node]);
        let stepped = if step_tracks > 0 { mesh.vertices.iter().map(on_stepped).collect() } else { Vec::new() };
        Self {
            sampler: Sampler::in_place(model, clip, grid),
            grid,
            record,
            moments: instants(clip, grid, times, false),
            step_tracks,
            stepped,
        }
    }

    fn run(&self, mesh: &Mesh, drawn: &Drawn<'_>, moments: &[Instant]) -> Tally {
        let mut tally = Tally::default();
        for moment in moments {
            let source = self.sampler.skin_matrices(moment.seconds);
            let shown = drawn_pose(&drawn.texels, self.grid, &self.record, moment.seconds);
            let bones: Vec<Bone> = source.iter().zip(&shown).map(|(s, d)| Bone::new(s, d)).collect();
            for (v, vertex) in mesh.vertices.iter().enumerate() {
                let entries = mesh.entries(vertex);
                let distance = distance_squared(entries, &bones);
                if moment.frame {
                    tally.reach(position(entries, &bones));
                    tally.encoding.add(distance, moment.seconds, v, vertex.bone);
                    if vertex.has_normal {
                        tally.encoding.add_normal(normal_chord_squared(vertex, entries, &bones, drawn.normals));
                    }
                }
                if moment.frame || self.stepped.is_empty() || !self.stepped[v] {
                    tally.motion.add(distance, moment.seconds, v, vertex.bone);
                }
            }
        }
        // Between frames normals follow positions; they are measured at frames only.
        tally.motion.normal = tally.encoding.normal;
        tally
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

/// The times at which a clip is measured, ascending. `morphs`: keys of morph weights are among them.
pub(crate) fn instants(clip: &Clip, grid: &FrameGrid, times: Times, morphs: bool) -> Vec<Instant> {
    if let Times::Some(most) = times {
        let step = (grid.stored.div_ceil(most.max(1))).max(1) as usize;
        return (0..grid.stored).step_by(step).map(|i| Instant { seconds: grid.time(i), frame: true }).collect();
    }
    if grid.duration == 0.0 {
        return vec![Instant { seconds: 0.0, frame: true }];
    }
    let fine = u64::from(grid.intervals) * u64::from(MOTION_OVERSAMPLING);
    let on_grid = (0..=fine).map(|i| {
        let frame = i % u64::from(MOTION_OVERSAMPLING) == 0;
        let seconds = if frame {
            grid.time((i / u64::from(MOTION_OVERSAMPLING)) as u32)
        } else {
            grid.duration * i as f64 / fine as f64
        };
        Instant { seconds, frame }
    });
    let inside = |t: &f64| (0.0..=grid.duration).contains(t);
    let morph_keys = clip.morphs.iter().filter(|_| morphs).flat_map(|c| &c.curve.times);
    let keys = clip.channels.iter().flat_map(|c| &c.curve.times).chain(morph_keys).copied().filter(inside);
    let mut all: Vec<Instant> = on_grid.chain(keys.map(|seconds| Instant { seconds, frame: false })).collect();
    all.sort_by(|a, b| a.seconds.total_cmp(&b.seconds).then(b.frame.cmp(&a.frame)));
    // Keys that stand on the grid but for the rounding of f32 are not measured twice.
    let same = 1e-3 * grid.duration / fine as f64;
    all.dedup_by(|b, a| b.seconds - a.seconds < same && !b.frame);
    all
}

/// A bone's matrices at a moment, by columns.
struct Bone {
    source: [Vec4; 4],
    drawn: [Vec4; 4],
    difference: [Vec4; 4],
}

impl Bone {
    fn new(source: &Rows, drawn: &SkinMatrix) -> Self {
        let d = drawn.rows.map(|r| r.to_array());
        let by_columns =
            |f: &dyn Fn(usize, usize) -> f32| [0, 1, 2, 3].map(|c| Vec4::new(f(0, c), f(1, c), f(2, c), 0.0));
        Self {
            source: by_columns(&|r, c| source[r][c] as f32),
            drawn: by_columns(&|r, c| d[r][c]),
            difference: by_columns(&|r, c| (source[r][c] - f64::from(d[r][c])) as f32),
        }
    }
}

fn transform(m: &[Vec4; 4], p: Vec4) -> Vec4 {
    m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3] * p.w
}

fn distance_squared(entries: &[Entry], bones: &[Bone]) -> f32 {
    let mut error = Vec4::ZERO;
    for entry in entries {
        let bone = &bones[entry.bone as usize];
        error += transform(&bone.difference, entry.drawn) + transform(&bone.source, entry.lost);
    }
    error.length_squared()
}

/// Where the source has a vertex, metres.
fn position(entries: &[Entry], bones: &[Bone]) -> Vec3 {
    let at = entries.iter().map(|e| transform(&bones[e.bone as usize].source, e.drawn + e.lost));
    at.fold(Vec4::ZERO, |sum, p| sum + p).truncate()
}

/// Squared distance between the tips of the two unit normals.
fn normal_chord_squared(vertex: &VertexPair, entries: &[Entry], bones: &[Bone], normals: Normals) -> f32 {
    let mut source = [Vec4::ZERO; 3];
    let mut drawn = [Vec4::ZERO; 3];
    for entry in entries {
        let bone = &bones[entry.bone as usize];
        let (w, w_drawn) = (entry.drawn.w + entry.lost.w, entry.drawn.w);
        for c in 0..3 {
            source[c] += bone.source[c] * w;
            drawn[c] += bone.drawn[c] * w_drawn;
        }
    }
    let a = cofactor(&source, vertex.source_normal);
    let n = vertex.drawn_normal;
    let b = match normals {
        Normals::Cofactor => cofactor(&drawn, n),
        Normals::Plain => (drawn[0] * n.x + drawn[1] * n.y + drawn[2] * n.z).truncate().normalize_or_zero(),
    };
    if a == Vec3::ZERO || b == Vec3::ZERO { 0.0 } else { a.distance_squared(b) }
}

/// The unit normal that a matrix, by columns, makes of one: `SkinMatrix::normal`, from columns.
fn cofactor(m: &[Vec4; 3], n: Vec3) -> Vec3 {
    let [a, b, c] = m.map(|c| c.truncate());
    let bc = b.cross(c);
    let sign = if a.dot(bc) < 0.0 { -1.0 } else { 1.0 };
    (bc * n.x + c.cross(a) * n.y + a.cross(b) * n.z).normalize_or_zero() * sign
}

/// Distances of one kind: their greatest, and how they are spread.
#[derive(Default)]
pub(crate) struct Spread {
    greatest: f32,
    at: Option<(f64, usize, u32)>,
    count: u64,
    /// By the upper half of the bits of the squared distance: 0.4 % of the distance a bin.
    bins: Vec<u32>,
    /// Greatest squared chord between normals.
    pub(crate) normal: f32,
}

impl Spread {
    pub(crate) fn add(&mut self, squared: f32, seconds: f64, vertex: usize, bone: u32) {
        // A pose that is no pose is infinitely wrong.
        let squared = if squared.is_nan() { f32::INFINITY } else { squared };
        if self.bins.is_empty() {
            self.bins = vec![0; 1 << 15];
        }
        self.count += 1;
        self.bins[(squared.to_bits() >> 16) as usize & 0x7fff] += 1;
        if squared > self.greatest || self.at.is_none() {
            self.greatest = squared;
            self.at = Some((seconds, vertex, bone));
        }
    }

    pub(crate) fn add_normal(&mut self, chord_squared: f32) {
        self.normal = self.normal.max(chord_squared);
    }

    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.normal = self.normal.max(other.normal);
        if other.greatest > self.greatest || self.at.is_none() {
            (self.greatest, self.at) = (other.greatest, other.at);
        }
        if self.bins.is_empty() {
            self.bins = other.bins;
        } else {
            self.bins.iter_mut().zip(other.bins).for_each(|(a, b)| *a = a.saturating_add(b));
        }
    }

    fn finish(&self) -> ErrorInfo {
        let (seconds, vertex, bone) = self.at.unwrap_or_default();
        let mut above = (self.count as f64 * TAIL) as i64;
        let bin = self.bins.iter().rposition(|&n| {
            above -= i64::from(n);
            above < 0
        });
        let edge = bin.map_or(0.0, |bin| f32::from_bits((bin as u32 + 1) << 16));
        let chord = f64::from(self.normal.sqrt());
        ErrorInfo {
            max: self.greatest.sqrt(),
            p9996: edge.min(self.greatest).sqrt(),
            normal_degrees: (2.0 * libm::asin((chord / 2.0).min(1.0))).to_degrees() as f32,
            time: seconds as f32,
            bone,
            vertex: vertex as u32,
        }
    }
}

/// What is found at some times of a clip.
pub(crate) struct Tally {
    pub(crate) encoding: Spread,
    pub(crate) motion: Spread,
    least: Vec3,
    greatest: Vec3,
}

impl Default for Tally {
    fn default() -> Self {
        let (least, greatest) = (Aabb::EMPTY.min.into(), Aabb::EMPTY.max.into());
        Self { encoding: Spread::default(), motion: Spread::default(), least, greatest }
    }
}

impl Tally {
    /// Widens the bounds.
    pub(crate) fn reach(&mut self, position: Vec3) {
        self.least = self.least.min(position);
        self.greatest = self.greatest.max(position);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
        self.encoding.merge(other.encoding);
        self.motion.merge(other.motion);
    }

    pub(crate) fn finish(self, step_tracks: usize) -> ClipErrors {
        ClipErrors {
            encoding: self.encoding.finish(),
            motion: self.motion.finish(),
            bounds: Aabb { min: self.least.into(), max: self.greatest.into() },
            step_tracks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_leaves_out_the_tail() {
        let mut spread = Spread::default();
        for i in 0..10_000_u32 {
            spread.add((i as f32 * 1e-3).powi(2), f64::from(i), i as usize, 0);
        }
        let info = spread.finish();
        assert!((info.max - 9.999).abs() < 1e-3 && info.vertex == 9999);
        // 4 of 10,000 are above.
        assert!(info.p9996 >= 9.995 * 0.999 && info.p9996 <= 9.995 * 1.005, "{}", info.p9996);
        assert_eq!(Spread::default().finish(), ErrorInfo::default());
    }
}
