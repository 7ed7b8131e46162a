//! Vertices that bones move: source and drawn ones side by side.

use glam::{Vec3, Vec4};
use gpuskin_rt::{ClipRecord, Normals, SkinMatrix};

use super::{Drawn, Instant, Measured, Stepped, Tally, Times, drawn_pose, instants};
use crate::frames::FrameGrid;
use crate::model::Model;
use crate::sample::{Rows, Sampler};

/// What one bone adds to the error of a vertex.
pub(super) struct Entry {
    pub(super) bone: u32,
    /// Drawn weight times drawn position, and the weight.
    pub(super) drawn: Vec4,
    /// The same of the source, less the drawn.
    lost: Vec4,
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
                let distance = distance_squared(entries, &bones);
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

/// A bone's matrices at a moment, by columns.
pub(super) struct Bone {
    source: [Vec4; 4],
    drawn: [Vec4; 4],
    pub(super) difference: [Vec4; 4],
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

pub(super) fn transform(m: &[Vec4; 4], p: Vec4) -> Vec4 {
    m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3] * p.w
}

pub(super) fn distance_squared(entries: &[Entry], bones: &[Bone]) -> f32 {
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
