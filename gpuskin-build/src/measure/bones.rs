//! A clip of a model whose vertices bones move.

use glam::Vec3;
use gpuskin_rt::{ClipRecord, Normals, SkinMatrix};

use super::bounds::Bounds;
use super::mesh::{Four, FourNormals, Mesh, Point};
use super::{Drawn, Instant, Instants, Measured, Seen, Stepped, Tally, Times, drawn_pose};
use crate::frames::FrameGrid;
use crate::model::Model;
use crate::plain::{
    Lanes, add_lanes, cross_of, dot_of, greatest_lanes, least_lanes, multiply_lanes, scale_lanes, times,
};
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
        let mut reached = Reached::NOTHING;
        let mut widest = Widest::new(tally.normal);
        for group in &self.mesh.groups {
            for (moment, bones) in instants.iter().zip(&poses) {
                for (points, fours) in group.fours() {
                    let mut squared = Lanes::default();
                    errors_squared(fours, &group.bones, bones, &mut squared);
                    if tally.counts_any(&squared) {
                        points.iter().zip(squared).for_each(|(p, off)| tally.add(off, p.count, seen(moment, p)));
                    }
                    reach(fours, &group.bones, bones, &mut reached);
                }
                for (normals, weights) in group.normals() {
                    let (mut source, mut drawn) = (Turn::default(), Turn::default());
                    let of = (weights, &group.bones[..], &bones[..]);
                    source.set(of, SOURCE, Normals::Cofactor);
                    drawn.set(of, DRAWN, self.drawn.normals);
                    normals.iter().for_each(|normals| widest.look(&source, &drawn, normals));
                }
            }
        }
        tally.normal = widest.chord_squared;
        tally.widen(reached.low.map(least_of), reached.high.map(greatest_of));
    }

    fn between(&self, instants: &[Instant], tally: &mut Tally) {
        let poses: Vec<(Vec<Bone>, Bounds)> = instants
            .iter()
            .map(|moment| {
                let bones = self.bones(moment);
                let bounds = Bounds::new(self.mesh, &bones);
                (bones, bounds)
            })
            .collect();
        let floor = tally.floor.sqrt();
        for group in &self.mesh.groups {
            for (moment, (bones, bounds)) in instants.iter().zip(&poses) {
                if bounds.of(group) < floor {
                    continue;
                }
                for (points, fours) in group.fours() {
                    let mut squared = Lanes::default();
                    errors_squared(fours, &group.bones, bones, &mut squared);
                    if tally.counts_any(&squared) {
                        let stays = |point: &Point| !self.stepped.moves(point.vertex as usize);
                        let staying = points.iter().zip(squared).filter(|(point, _)| stays(point));
                        staying.for_each(|(p, off)| tally.add(off, p.count, seen(moment, p)));
                    }
                }
            }
        }
    }
}

fn seen(moment: &Instant, point: &Point) -> Seen {
    Seen { seconds: moment.seconds, vertex: point.vertex, bone: point.bone }
}

/// A bone's matrices at a moment, by rows.
pub(super) struct Bone {
    pub(super) source: [[f32; 4]; 3],
    pub(super) difference: [[f32; 4]; 3],
    drawn: [[f32; 4]; 3],
}

impl Bone {
    fn new(source: &Rows, drawn: &SkinMatrix) -> Self {
        let drawn = drawn.rows.map(|r| r.to_array());
        let difference = |r: usize, c: usize| (source[r][c] - f64::from(drawn[r][c])) as f32;
        Self {
            source: source.map(|row| row.map(|v| v as f32)),
            difference: [0, 1, 2].map(|r| [0, 1, 2, 3].map(|c| difference(r, c))),
            drawn,
        }
    }
}

// The following stand by themselves, so that a compiler sees four lanes from where they are read to where they are written.

/// The squares of how far four points are off. `of`: the bones of their group.
#[inline(never)]
pub(super) fn errors_squared(fours: &[Four], of: &[u32], bones: &[Bone], squared: &mut Lanes) {
    let [mut x, mut y, mut z] = [Lanes::default(); 3];
    for (four, &bone) in fours.iter().zip(of) {
        let Bone { source, difference, .. } = &bones[bone as usize];
        x = add_lanes(x, add_lanes(times(&difference[0], &four.drawn), times(&source[0], &four.lost)));
        y = add_lanes(y, add_lanes(times(&difference[1], &four.drawn), times(&source[1], &four.lost)));
        z = add_lanes(z, add_lanes(times(&difference[2], &four.drawn), times(&source[2], &four.lost)));
    }
    *squared = dot_of(&[x, y, z], &[x, y, z]);
}

/// What points of the source reach, by components.
struct Reached {
    low: [Lanes; 3],
    high: [Lanes; 3],
}

impl Reached {
    const NOTHING: Self = Self { low: [[f32::INFINITY; 4]; 3], high: [[f32::NEG_INFINITY; 4]; 3] };
}

/// Widens by where the source has four points, metres.
#[inline(never)]
fn reach(fours: &[Four], of: &[u32], bones: &[Bone], reached: &mut Reached) {
    let [mut x, mut y, mut z] = [Lanes::default(); 3];
    for (four, &bone) in fours.iter().zip(of) {
        let source = &bones[bone as usize].source;
        x = add_lanes(x, times(&source[0], &four.source));
        y = add_lanes(y, times(&source[1], &four.source));
        z = add_lanes(z, times(&source[2], &four.source));
    }
    let Reached { low, high } = reached;
    *low = [least_lanes(low[0], x), least_lanes(low[1], y), least_lanes(low[2], z)];
    *high = [greatest_lanes(high[0], x), greatest_lanes(high[1], y), greatest_lanes(high[2], z)];
}

/// Which of a bone's matrices, and of a normal's weights.
const SOURCE: usize = 0;
const DRAWN: usize = 1;

/// What turns four normals, without normalising them: matrices by columns.
#[derive(Default)]
struct Turn([[Lanes; 3]; 3]);

impl Turn {
    #[inline(never)]
    fn set(&mut self, (weights, of, bones): (&[[Lanes; 2]], &[u32], &[Bone]), which: usize, how: Normals) {
        let [mut a, mut b, mut c] = [[Lanes::default(); 3]; 3];
        for (weights, &bone) in weights.iter().zip(of) {
            let bone = &bones[bone as usize];
            let [x, y, z] = if which == SOURCE { &bone.source } else { &bone.drawn };
            let weight = weights[which];
            add_scaled(&mut a, weight, [x[0], y[0], z[0]]);
            add_scaled(&mut b, weight, [x[1], y[1], z[1]]);
            add_scaled(&mut c, weight, [x[2], y[2], z[2]]);
        }
        let Self([first, second, third]) = self;
        if how == Normals::Plain {
            (*first, *second, *third) = (a, b, c);
            return;
        }
        // As they turn the surface: `SkinMatrix::normal`.
        let (p, q, r) = (cross_of(&b, &c), cross_of(&c, &a), cross_of(&a, &b));
        // The first row of the matrix times that of its cofactors.
        let determinant = dot_of(&[a[0], b[0], c[0]], &[p[0], q[0], r[0]]);
        let sign = |i: usize| if determinant[i] < 0.0 { -1.0 } else { 1.0 };
        let sign = [sign(0), sign(1), sign(2), sign(3)];
        let signed =
            |v: [Lanes; 3]| [multiply_lanes(v[0], sign), multiply_lanes(v[1], sign), multiply_lanes(v[2], sign)];
        (*first, *second, *third) = (signed(p), signed(q), signed(r));
    }

    #[inline(always)]
    fn of(&self, v: &[Lanes; 3]) -> [Lanes; 3] {
        let Self([a, b, c]) = self;
        [dot_of(&[a[0], b[0], c[0]], v), dot_of(&[a[1], b[1], c[1]], v), dot_of(&[a[2], b[2], c[2]], v)]
    }
}

#[inline(always)]
fn add_scaled(sum: &mut [Lanes; 3], lanes: Lanes, by: [f32; 3]) {
    sum[0] = add_lanes(sum[0], scale_lanes(lanes, by[0]));
    sum[1] = add_lanes(sum[1], scale_lanes(lanes, by[1]));
    sum[2] = add_lanes(sum[2], scale_lanes(lanes, by[2]));
}

/// The greatest chord between the tips of normals that are made as long as one.
struct Widest {
    chord_squared: f32,
    /// Squared sines that are less belong to lesser chords without a doubt.
    sine_squared: f32,
}

/// Lengths whose products and squares `f32` has in full.
const LENGTHS: std::ops::Range<f32> = 1e-30..1e30;

impl Widest {
    fn new(chord_squared: f32) -> Self {
        // What rounding does to a sine is less than 1e-6. Beyond a right angle any sine will do.
        let sine = (chord_squared * (1.0 - 0.25 * chord_squared)).sqrt() - 2e-6;
        let sine_squared = if chord_squared >= 2.0 { 2.0 } else { sine.max(0.0) * sine.max(0.0) * 0.9999 };
        Self { chord_squared, sine_squared }
    }

    /// Looks at four normals and what is drawn for them.
    fn look(&mut self, source: &Turn, drawn: &Turn, normals: &FourNormals) {
        let mut found = Angles::default();
        found.set(source, drawn, normals);
        let Angles { along, across, lengths } = found;
        let less =
            |i: usize| along[i] > 0.0 && across[i] < self.sine_squared * lengths[i] && LENGTHS.contains(&lengths[i]);
        if less(0) && less(1) && less(2) && less(3) {
            return;
        }
        let (source, drawn) = (source.of(&normals.source), drawn.of(&normals.drawn));
        for i in 0..4 {
            let at = |lanes: &[Lanes; 3]| Vec3::new(lanes[0][i], lanes[1][i], lanes[2][i]);
            let chord_squared = greater_chord(self.chord_squared, at(&source), at(&drawn));
            if chord_squared > self.chord_squared {
                *self = Self::new(chord_squared);
            }
        }
    }
}

/// Products of four pairs of vectors.
#[derive(Default)]
struct Angles {
    along: Lanes,
    /// Squared.
    across: Lanes,
    /// Of their lengths, squared.
    lengths: Lanes,
}

impl Angles {
    #[inline(never)]
    fn set(&mut self, source: &Turn, drawn: &Turn, normals: &FourNormals) {
        let (a, b) = (source.of(&normals.source), drawn.of(&normals.drawn));
        let cross = cross_of(&a, &b);
        self.along = dot_of(&a, &b);
        self.across = dot_of(&cross, &cross);
        self.lengths = multiply_lanes(dot_of(&a, &a), dot_of(&b, &b));
    }
}

/// The greater of a squared chord and that between the tips of two vectors that are made as long as one. In `f64`: of vectors
/// nearly alike little is left of the difference.
fn greater_chord(known: f32, a: Vec3, b: Vec3) -> f32 {
    let (a, b) = (a.as_dvec3(), b.as_dvec3());
    let lengths = a.length_squared() * b.length_squared();
    let squared = (2.0 - 2.0 * a.dot(b) / lengths.sqrt()) as f32;
    // Neither what rounding left below nothing nor what is no number.
    if squared > known && lengths < f64::INFINITY { squared } else { known }
}

pub(super) fn least_of(lanes: Lanes) -> f32 {
    lanes.into_iter().fold(f32::INFINITY, f32::min)
}

pub(super) fn greatest_of(lanes: Lanes) -> f32 {
    lanes.into_iter().fold(f32::NEG_INFINITY, f32::max)
}
