//! Vertices that bones move: source and drawn ones side by side.

use glam::{DVec4, Vec3};
use gpuskin_rt::{ClipRecord, Normals, SkinMatrix};

use super::{Drawn, Instant, Measured, Stepped, Tally, Times, drawn_pose, instants};
use crate::frames::FrameGrid;
use crate::model::Model;
use crate::plain::{Row, add, cross, dot, dot4, scale};
use crate::sample::{Rows, Sampler};

/// What one bone adds to the error of a vertex.
pub(super) struct Entry {
    pub(super) bone: u32,
    /// Drawn weight times drawn position, and the weight.
    pub(super) drawn: Row,
    /// The same of the source.
    source: Row,
    /// The source's less the drawn.
    lost: Row,
}

/// A source vertex against its drawn one.
pub(super) struct VertexPair {
    entries: std::ops::Range<u32>,
    source_normal: Vec3,
    drawn_normal: Vec3,
    has_normal: bool,
    /// The bone of greatest weight.
    bone: u32,
}

/// The vertices of a model.
pub(super) struct Mesh {
    pub(super) entries: Vec<Entry>,
    pub(super) vertices: Vec<VertexPair>,
}

impl Mesh {
    pub(super) fn new(model: &Model, drawn: &Drawn<'_>) -> Self {
        let mut mesh = Self { entries: Vec::new(), vertices: Vec::new() };
        for primitive in &model.primitives {
            for (v, p) in primitive.positions.iter().enumerate() {
                let baked = &drawn.vertices[drawn.baked_of_source[mesh.vertices.len()] as usize];
                let start = mesh.entries.len();
                let influences = primitive.influences.of(v);
                for &(bone, weight) in influences {
                    let source = row((*p * weight).extend(weight));
                    mesh.entries.push(Entry { bone: u32::from(bone), drawn: [0.0; 4], source, lost: source });
                }
                for (bone, weight) in baked.joints.into_iter().zip(baked.weights).filter(|&(_, w)| w > 0.0) {
                    let shown = (baked.position * weight).extend(weight);
                    let exact = (baked.position.as_dvec3() * f64::from(weight)).extend(f64::from(weight));
                    let drawn = shown.to_array();
                    match influences.iter().position(|&(b, _)| u32::from(b) == bone) {
                        Some(i) => {
                            let source = (*p * influences[i].1).extend(influences[i].1);
                            let entry = &mut mesh.entries[start + i];
                            (entry.drawn, entry.lost) = (drawn, row(source - exact));
                        }
                        None => mesh.entries.push(Entry { bone, drawn, source: [0.0; 4], lost: (-shown).to_array() }),
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

    pub(super) fn entries(&self, vertex: &VertexPair) -> &[Entry] {
        &self.entries[vertex.entries.start as usize..vertex.entries.end as usize]
    }
}

/// A clip, as the source has it and as it is drawn.
pub(super) struct ClipWork<'a> {
    sampler: Sampler<'a>,
    grid: FrameGrid,
    record: ClipRecord,
    pub(super) mesh: &'a Mesh,
    drawn: &'a Drawn<'a>,
    pub(super) instants: Vec<Instant>,
    pub(super) stepped: Stepped,
}

impl<'a> ClipWork<'a> {
    /// `clip`: index of a clip of a model.
    pub(super) fn new(
        (model, clip): (&'a Model, usize),
        grid: FrameGrid,
        record: ClipRecord,
        mesh: &'a Mesh,
        drawn: &'a Drawn<'a>,
        times: Times,
    ) -> Self {
        let clip = &model.clips[clip];
        let instants = instants(clip, &grid, times, false);
        let stepped = Stepped::new(model, clip, false);
        Self { sampler: Sampler::in_place(model, clip, &grid), grid, record, mesh, drawn, instants, stepped }
    }

    /// The matrices of all bones at a moment.
    pub(super) fn bones(&self, moment: &Instant) -> Vec<Bone> {
        let source = self.sampler.skin_matrices(moment.seconds);
        let shown = drawn_pose(&self.drawn.texels, &self.grid, &self.record, moment.seconds);
        source.iter().zip(&shown).map(|(s, d)| Bone::new(s, d)).collect()
    }
}

impl Measured for ClipWork<'_> {
    fn instants(&self) -> &[Instant] {
        &self.instants
    }

    fn step_tracks(&self) -> usize {
        self.stepped.tracks
    }

    fn run(&self, instants: &[Instant]) -> Tally {
        let mut tally = Tally::default();
        for moment in instants {
            let bones = self.bones(moment);
            for (v, vertex) in self.mesh.vertices.iter().enumerate() {
                let entries = self.mesh.entries(vertex);
                let distance = error_squared(entries, &bones);
                if moment.frame {
                    tally.reach(position(entries, &bones));
                    tally.encoding.add(distance, moment.seconds, v, vertex.bone);
                    if vertex.has_normal {
                        let normals = self.drawn.normals;
                        tally.encoding.add_normal(normal_chord_squared(vertex, entries, &bones, normals));
                    }
                }
                if moment.frame || !self.stepped.moves(v) {
                    tally.motion.add(distance, moment.seconds, v, vertex.bone);
                }
            }
        }
        // Between frames normals follow positions; they are measured at frames only.
        tally.motion.normal = tally.encoding.normal;
        tally
    }
}

fn row(v: DVec4) -> Row {
    v.as_vec4().to_array()
}

/// A bone's matrices at a moment.
pub(super) struct Bone {
    source: [Row; 3],
    drawn: [Row; 3],
    pub(super) difference: [Row; 3],
}

impl Bone {
    fn new(source: &Rows, drawn: &SkinMatrix) -> Self {
        let drawn = drawn.rows.map(|r| r.to_array());
        let difference = [0, 1, 2].map(|r| [0, 1, 2, 3].map(|c| (source[r][c] - f64::from(drawn[r][c])) as f32));
        Self { source: source.map(|row| row.map(|x| x as f32)), drawn, difference }
    }
}

#[inline(always)]
pub(super) fn transform(m: &[Row; 3], p: &Row) -> Vec3 {
    Vec3 { x: dot4(&m[0], p), y: dot4(&m[1], p), z: dot4(&m[2], p) }
}

/// The square of how far a vertex is off.
pub(super) fn error_squared(entries: &[Entry], bones: &[Bone]) -> f32 {
    let mut error = Vec3::ZERO;
    for entry in entries {
        let bone = &bones[entry.bone as usize];
        error = add(error, add(transform(&bone.difference, &entry.drawn), transform(&bone.source, &entry.lost)));
    }
    dot(error, error)
}

/// Where the source has a vertex, metres.
fn position(entries: &[Entry], bones: &[Bone]) -> Vec3 {
    let mut sum = Vec3::ZERO;
    for entry in entries {
        sum = add(sum, transform(&bones[entry.bone as usize].source, &entry.source));
    }
    sum
}

/// Squared distance between the tips of the two unit normals.
fn normal_chord_squared(vertex: &VertexPair, entries: &[Entry], bones: &[Bone], normals: Normals) -> f32 {
    let mut source = [Vec3::ZERO; 3];
    let mut drawn = [Vec3::ZERO; 3];
    for entry in entries {
        let bone = &bones[entry.bone as usize];
        blend(&mut source, &bone.source, entry.source[3]);
        blend(&mut drawn, &bone.drawn, entry.drawn[3]);
    }
    let a = cofactor(&source, vertex.source_normal);
    let n = vertex.drawn_normal;
    let b = match normals {
        Normals::Cofactor => cofactor(&drawn, n),
        Normals::Plain => Vec3 { x: dot(drawn[0], n), y: dot(drawn[1], n), z: dot(drawn[2], n) },
    };
    chord_squared(a, b)
}

/// Adds a weighted 3x3 matrix, by rows.
#[inline(always)]
fn blend(sum: &mut [Vec3; 3], m: &[Row; 3], weight: f32) {
    sum[0] = add(sum[0], scale(Vec3 { x: m[0][0], y: m[0][1], z: m[0][2] }, weight));
    sum[1] = add(sum[1], scale(Vec3 { x: m[1][0], y: m[1][1], z: m[1][2] }, weight));
    sum[2] = add(sum[2], scale(Vec3 { x: m[2][0], y: m[2][1], z: m[2][2] }, weight));
}

/// The normal that a 3x3 matrix, by rows, makes of one, of any length: `SkinMatrix::normal`.
fn cofactor(m: &[Vec3; 3], n: Vec3) -> Vec3 {
    let [a, b, c] = *m;
    let bc = cross(b, c);
    let sign = if dot(a, bc) < 0.0 { -1.0 } else { 1.0 };
    // The rows of the matrix of cofactors are the cross products of rows.
    Vec3 { x: sign * dot(bc, n), y: sign * dot(cross(c, a), n), z: sign * dot(cross(a, b), n) }
}

/// Squared distance between the tips of two vectors that are made as long as one; none where that cannot be. In `f64`: of
/// vectors nearly alike little is left of the difference.
fn chord_squared(a: Vec3, b: Vec3) -> f32 {
    let (ax, ay, az) = (a.x as f64, a.y as f64, a.z as f64);
    let (bx, by, bz) = (b.x as f64, b.y as f64, b.z as f64);
    let lengths = (ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz);
    let along = ax * bx + ay * by + az * bz;
    let squared = 2.0 - 2.0 * along / lengths.sqrt();
    // Neither what rounding left below nothing nor what is no number.
    if squared > 0.0 && lengths < f64::INFINITY { squared as f32 } else { 0.0 }
}
