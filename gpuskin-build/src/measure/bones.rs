//! A clip of a model whose vertices bones move.

use glam::Vec3;
use gpuskin_rt::{ClipRecord, Normals, SkinMatrix};

use super::bounds::Bounds;
use super::mesh::{Entry, Mesh, NormalPair, Point};
use super::{Drawn, Instant, Instants, Measured, Seen, Stepped, Tally, Times, drawn_pose};
use crate::frames::FrameGrid;
use crate::model::Model;
use crate::plain::{Columns, Lanes, add, add_lanes, cross, dot_lanes, scale, scale_lanes, transform};
use crate::sample::{Rows, Sampler};

/// A clip, as the source has it and as it is drawn.
pub(super) struct ClipWork<'a> {
    sampler: Sampler<'a>,
    grid: FrameGrid,
    record: ClipRecord,
    pub(super) mesh: &'a Mesh,
    drawn: &'a Drawn<'a>,
    pub(super) instants: Instants,
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
        let instants = Instants::new(clip, &grid, times, false);
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
    fn instants(&self) -> &Instants {
        &self.instants
    }

    fn stepped(&self) -> &Stepped {
        &self.stepped
    }

    fn at_frames(&self, instants: &[Instant], tally: &mut Tally) {
        let poses: Vec<Vec<Bone>> = instants.iter().map(|moment| self.bones(moment)).collect();
        for group in &self.mesh.groups {
            for (moment, bones) in instants.iter().zip(&poses) {
                let points = self.mesh.points(group);
                let normals = |point| Turns::new(self.mesh.entries(point), bones, self.drawn.normals);
                let shared = points.first().filter(|_| group.rigid).map(normals);
                for point in points {
                    let entries = self.mesh.entries(point);
                    tally.add(error_squared(entries, bones), point.count, seen(moment, point));
                    let mut place = Lanes::default();
                    position(entries, bones, &mut place);
                    tally.reach(place);
                    let pairs = self.mesh.normals(point);
                    if !pairs.is_empty() {
                        let own;
                        let turns = match &shared {
                            Some(turns) => turns,
                            None => {
                                own = normals(point);
                                &own
                            }
                        };
                        tally.normal = turns.chord_squared(pairs, tally.normal);
                    }
                }
            }
        }
    }

    fn between(&self, instants: &[Instant], tally: &mut Tally) {
        let floor = tally.floor.sqrt();
        let poses: Vec<(Vec<Bone>, Bounds)> = instants
            .iter()
            .map(|moment| {
                let bones = self.bones(moment);
                let bounds = Bounds::new(self.mesh, &bones);
                (bones, bounds)
            })
            .collect();
        for group in &self.mesh.groups {
            for (moment, (bones, bounds)) in instants.iter().zip(&poses) {
                if bounds.of(group) < floor {
                    continue;
                }
                for point in self.mesh.points(group) {
                    if !self.stepped.moves(point.vertex as usize) {
                        tally.add(error_squared(self.mesh.entries(point), bones), point.count, seen(moment, point));
                    }
                }
            }
        }
    }
}

fn seen(moment: &Instant, point: &Point) -> Seen {
    Seen { seconds: moment.seconds, vertex: point.vertex, bone: point.bone }
}

/// A bone's matrices at a moment.
pub(super) struct Bone {
    pub(super) source: Columns,
    pub(super) difference: Columns,
    source_linear: Linear,
    drawn_linear: Linear,
}

impl Bone {
    fn new(source: &Rows, drawn: &SkinMatrix) -> Self {
        let drawn = drawn.rows.map(|r| r.to_array());
        Self {
            source: columns(|r, c| source[r][c] as f32),
            difference: columns(|r, c| (source[r][c] - f64::from(drawn[r][c])) as f32),
            source_linear: Linear::new(|r, c| source[r][c] as f32),
            drawn_linear: Linear::new(|r, c| drawn[r][c]),
        }
    }
}

/// A matrix by what stands in a row and a column.
fn columns(at: impl Fn(usize, usize) -> f32) -> Columns {
    [0, 1, 2, 3].map(|c| [at(0, c), at(1, c), at(2, c), 0.0])
}

/// The square of how far a point is off.
pub(super) fn error_squared(entries: &[Entry], bones: &[Bone]) -> f32 {
    let mut off = Lanes::default();
    error(entries, bones, &mut off);
    dot_lanes(&off, &off)
}

// The following are not inlined for the sake of the fourth lane: see `crate::plain`.

/// How far a point is off.
#[inline(never)]
fn error(entries: &[Entry], bones: &[Bone], off: &mut Lanes) {
    let mut sum = [0.0; 4];
    for entry in entries {
        let bone = &bones[entry.bone as usize];
        let one = add_lanes(transform(&bone.difference, &entry.drawn), transform(&bone.source, &entry.lost));
        sum = add_lanes(sum, one);
    }
    *off = sum;
}

/// Where the source has a point, metres.
#[inline(never)]
fn position(entries: &[Entry], bones: &[Bone], place: &mut Lanes) {
    let mut sum = [0.0; 4];
    for entry in entries {
        sum = add_lanes(sum, transform(&bones[entry.bone as usize].source, &entry.source));
    }
    *place = sum;
}

/// The weighted matrices of source and picture.
#[inline(never)]
fn blend(entries: &[Entry], bones: &[Bone], source: &mut Linear, drawn: &mut Linear) {
    let (mut a, mut b) = (Linear::default(), Linear::default());
    for entry in entries {
        let bone = &bones[entry.bone as usize];
        a.add(&bone.source_linear, entry.source[3]);
        b.add(&bone.drawn_linear, entry.drawn[3]);
    }
    (*source, *drawn) = (a, b);
}

/// What turns normals of a point, in the source and as drawn; by columns.
struct Turns {
    source: [Vec3; 3],
    drawn: [Vec3; 3],
}

impl Turns {
    fn new(entries: &[Entry], bones: &[Bone], normals: Normals) -> Self {
        let (mut source, mut drawn) = (Linear::default(), Linear::default());
        blend(entries, bones, &mut source, &mut drawn);
        let drawn = match normals {
            Normals::Cofactor => cofactor(drawn.columns()),
            Normals::Plain => drawn.columns(),
        };
        Self { source: cofactor(source.columns()), drawn }
    }

    /// The greatest squared distance between the tips of unit normals; `known` where none is greater.
    fn chord_squared(&self, pairs: &[NormalPair], known: f32) -> f32 {
        let mut greatest = known;
        for pair in pairs {
            greatest = greater_chord(greatest, turn(&self.source, pair.source), turn(&self.drawn, pair.drawn));
        }
        greatest
    }
}

/// A 3x3 matrix by columns, nine numbers on end.
#[derive(Clone, Copy, Default)]
struct Linear {
    first: Lanes,
    second: Lanes,
    last: f32,
}

impl Linear {
    /// By what stands in a row and a column.
    fn new(at: impl Fn(usize, usize) -> f32) -> Self {
        Self {
            first: [at(0, 0), at(1, 0), at(2, 0), at(0, 1)],
            second: [at(1, 1), at(2, 1), at(0, 2), at(1, 2)],
            last: at(2, 2),
        }
    }

    #[inline(always)]
    fn add(&mut self, other: &Self, weight: f32) {
        self.first = add_lanes(self.first, scale_lanes(other.first, weight));
        self.second = add_lanes(self.second, scale_lanes(other.second, weight));
        self.last += other.last * weight;
    }

    #[inline(always)]
    fn columns(&self) -> [Vec3; 3] {
        let ([a, b, c, d], [e, f, g, h]) = (self.first, self.second);
        [Vec3 { x: a, y: b, z: c }, Vec3 { x: d, y: e, z: f }, Vec3 { x: g, y: h, z: self.last }]
    }
}

/// What turns normals as a 3x3 matrix turns the surface, both by columns: `SkinMatrix::normal`.
fn cofactor([a, b, c]: [Vec3; 3]) -> [Vec3; 3] {
    let of = [cross(b, c), cross(c, a), cross(a, b)];
    // The first row of the matrix times that of its cofactors.
    let determinant = a.x * of[0].x + b.x * of[1].x + c.x * of[2].x;
    if determinant < 0.0 { of.map(|column| scale(column, -1.0)) } else { of }
}

/// A 3x3 matrix by columns times a vector.
#[inline(always)]
fn turn(m: &[Vec3; 3], v: Vec3) -> Vec3 {
    add(add(scale(m[0], v.x), scale(m[1], v.y)), scale(m[2], v.z))
}

/// The greater of a squared chord and that between the tips of two vectors that are made as long as one, where that can be. In
/// `f64`: of vectors nearly alike little is left of the difference.
#[inline(always)]
fn greater_chord(known: f32, a: Vec3, b: Vec3) -> f32 {
    let (ax, ay, az) = (a.x as f64, a.y as f64, a.z as f64);
    let (bx, by, bz) = (b.x as f64, b.y as f64, b.z as f64);
    let lengths = (ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz);
    let along = ax * bx + ay * by + az * bz;
    // Most are less without a doubt, which asks for no root and no division. What rounding does is less than 1e-12.
    let cosine = 1.0 - 0.5 * known as f64;
    if along > 0.0 && cosine > 0.0 && along * along > cosine * cosine * lengths * (1.0 + 1e-12) {
        return known;
    }
    let squared = (2.0 - 2.0 * along / lengths.sqrt()) as f32;
    // Neither what rounding left below nothing nor what is no number.
    if squared > known && lengths < f64::INFINITY { squared } else { known }
}
