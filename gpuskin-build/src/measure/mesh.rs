//! Vertices for measuring errors: source and drawn vertices side by side, four at a time.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use glam::{DVec3, DVec4, Vec3};
use gpuskin_rt::internals::vertex::Vertex;

use super::DrawnModel;
use super::bone_matrices::BoneMatrices;
use super::bone_term::{BoneTerm, BoxCorners, corners, slack};
use super::morphed::{MorphBound, MorphReach, MorphedPoint, Placed, chord};
use crate::model::Model;
use crate::vector_math::{Lanes, greatest, greatest_lanes, least};

/// Entries of four points for one bone, in one lane per point.
#[derive(Clone)]
pub(super) struct FourPoints {
    pub(super) drawn: [Lanes; 4],
    pub(super) source: [Lanes; 4],
    pub(super) lost: [Lanes; 4],
}

/// Vertices with equal positions and influences, such as those on both sides of a seam. Evaluated
/// once.
#[derive(Clone, Copy)]
pub(super) struct WeldedPoint {
    /// Index of the first of the vertices.
    pub(super) vertex: u32,
    /// Number of vertices.
    pub(super) count: u32,
    /// Bone with the greatest weight.
    pub(super) bone: u32,
}

/// Points with the same set of bones.
#[derive(Clone)]
pub(super) struct PointGroup {
    pub(super) bones: Vec<u32>,
    /// Indices into [`MeasuredMesh::pairs`] of each bone with each of the bones before it.
    pub(super) pairs: Vec<u32>,
    pub(super) points: Vec<WeldedPoint>,
    /// For every four points, one entry per bone. A last block of fewer points repeats the last
    /// point.
    fours: Vec<FourPoints>,
    normals: Vec<FourNormals>,
    /// Greatest chord of `normals`, infinite if one is unknown.
    pub(super) packed: f32,
    /// Number of consecutive normals that share their weights: all, such as where one bone has the
    /// whole weight, or one.
    alike: usize,
    /// Source and drawn weights, one entry per bone for each run of normals with shared weights.
    weights: Vec<[Lanes; 2]>,
    /// Maximum over the points at rest, per lane: see [`slack`].
    pub(super) slack: Lanes,
    /// The points before morph targets move them; empty if none does.
    morphed: Vec<MorphedPoint>,
    reach: MorphReach,
}

/// Four source normals and drawn normals, in one lane per normal. A last block of fewer normals
/// repeats the last one.
#[derive(Clone)]
pub(super) struct FourNormals {
    pub(super) source: [Lanes; 3],
    pub(super) drawn: [Lanes; 3],
    /// Greatest chord between a source normal and its drawn normal; infinite if one has no length.
    pub(super) packed: f32,
}

/// The vertices of a model, for measuring.
pub struct MeasuredMesh {
    /// Groups sorted by number of bones, so that loop lengths repeat and branches are predicted
    /// well.
    pub(super) groups: Vec<PointGroup>,
    /// Pairs of bones that are in one group, sorted; the lower index first.
    pub(super) pairs: Vec<[u32; 2]>,
    pub(super) vertices: usize,
    /// Number of blocks of four points in all groups.
    pub(super) fours: usize,
    /// Source vertex that each source vertex is welded to: the first of those that are equal.
    welded: Vec<u32>,
    /// Box around all points that a bone moves, source and drawn; `None` for bones without points.
    /// `[bone]`
    pub(super) boxes: Vec<Option<BoxCorners>>,
    /// Maximum over all points, per lane: see [`slack`].
    pub(super) slack: Lanes,
}

/// Maximum number of points per group: a group and its bones stay in the processor cache while all
/// sample times of a chunk are measured.
const MAX_GROUP_POINTS: usize = 256;

/// Data of a point during construction.
struct PointBuilder {
    entries: Vec<BoneTerm>,
    normals: Vec<NormalPair>,
    point: WeldedPoint,
    /// Source position and drawn position.
    positions: [Vec3; 2],
    morphed: Option<MorphedPoint>,
}

/// A source normal and its drawn normal.
#[derive(Clone, Copy)]
struct NormalPair {
    source: Vec3,
    drawn: Vec3,
}

impl PointBuilder {
    fn bones(&self) -> impl Iterator<Item = u32> {
        self.entries.iter().map(|entry| entry.bone)
    }

    /// Whether morph targets move the point.
    fn moves(&self) -> bool {
        self.morphed.is_some()
    }
}

impl MeasuredMesh {
    /// Prepares the vertices and morph targets of `drawn`, whose texels do not matter.
    pub(crate) fn new(model: &Model, drawn: &DrawnModel<'_>) -> Self {
        let (mut builders, welded) = builders(model, drawn);
        let order =
            |a: &PointBuilder, b: &PointBuilder| a.bones().cmp(b.bones()).then_with(|| a.moves().cmp(&b.moves()));
        builders.sort_by(|a, b| a.entries.len().cmp(&b.entries.len()).then_with(|| order(a, b)));
        let boxes = boxes(&builders, model.bones.len());
        let alike = builders.chunk_by_mut(|a, b| order(a, b).is_eq());
        let mut groups: Vec<PointGroup> =
            alike.flat_map(|alike| alike.chunks_mut(MAX_GROUP_POINTS)).map(PointGroup::new).collect();
        let slack = groups.iter().fold(Lanes::default(), |slack, group| greatest_lanes(slack, group.slack));
        let fours = groups.iter().map(|group| group.points.len().div_ceil(4)).sum();
        let pairs = pairs(&mut groups);
        Self { groups, pairs, vertices: welded.len(), fours, welded, boxes, slack }
    }

    /// Returns the greatest distance of each baked vertex, in metres, from the squared distance of each point.
    pub(super) fn vertex_errors(&self, points: &[Lanes], drawn: &DrawnModel<'_>) -> Vec<f32> {
        let mut of_source = vec![0.0; self.vertices];
        let mut fours = points.iter();
        for group in &self.groups {
            for (points, squared) in group.points.chunks(4).zip(fours.by_ref()) {
                points
                    .iter()
                    .zip(squared)
                    .for_each(|(point, squared)| of_source[point.vertex as usize] = squared.sqrt());
            }
        }
        let mut errors = vec![0.0_f32; drawn.vertices.len()];
        for (first, baked) in self.welded.iter().zip(drawn.baked_of_source.iter()) {
            let (error, vertex) = (of_source[*first as usize], &mut errors[*baked as usize]);
            *vertex = if error > *vertex || error.is_nan() { error } else { *vertex };
        }
        errors
    }
}

impl PointGroup {
    fn new(builders: &mut [PointBuilder]) -> Self {
        let morphed: Vec<_> = builders.iter_mut().filter_map(|builder| builder.morphed.take()).collect();
        let reach = MorphReach::new(&morphed);
        let builders = &*builders;
        let bones: Vec<u32> = builders[0].bones().collect();
        let slack = builders.iter().map(|builder| slack(builder.positions[0], &builder.entries));
        let slack = slack.fold(Lanes::default(), greatest_lanes);
        let mut fours = Vec::new();
        for some in builders.chunks(4) {
            let entry = |k: usize, lane: usize| &some[lane.min(some.len() - 1)].entries[k];
            let by_component =
                |of: &dyn Fn(usize) -> [f32; 4]| [0, 1, 2, 3].map(|c| [0, 1, 2, 3].map(|lane| of(lane)[c]));
            fours.extend((0..bones.len()).map(|k| FourPoints {
                drawn: by_component(&|lane| entry(k, lane).drawn),
                source: by_component(&|lane| entry(k, lane).source),
                lost: by_component(&|lane| entry(k, lane).lost),
            }));
        }
        let turned = turned(builders);
        let same = turned.windows(2).all(|pair| weights_of(pair[0].0).eq(weights_of(pair[1].0)));
        let (mut normals, mut weights) = (Vec::new(), Vec::new());
        for some in turned.chunks(4) {
            let one = |lane: usize| some[lane.min(some.len() - 1)];
            let by_component =
                |of: fn(&NormalPair) -> Vec3| [0, 1, 2].map(|c| [0, 1, 2, 3].map(|lane| of(&one(lane).1)[c]));
            let packed = some.iter().map(|(_, pair)| chord([pair.source, pair.drawn]));
            normals.push(FourNormals {
                source: by_component(|pair| pair.source),
                drawn: by_component(|pair| pair.drawn),
                packed: packed.fold(0.0, greatest_chord),
            });
            if same && !weights.is_empty() {
                continue;
            }
            let weight = |k: usize, of: fn(&BoneTerm) -> f32| [0, 1, 2, 3].map(|lane| of(&one(lane).0[k]));
            weights.extend((0..bones.len()).map(|k| [weight(k, |e| e.source[3]), weight(k, |e| e.drawn[3])]));
        }
        let points = builders.iter().map(|builder| builder.point).collect();
        let alike = if same { normals.len().max(1) } else { 1 };
        let packed = greatest_packed(&normals);
        Self { bones, pairs: Vec::new(), points, fours, normals, packed, alike, weights, slack, morphed, reach }
    }

    /// Returns the bounds of what morph targets do in a pose; `None` if they move no point of the group.
    pub(super) fn morph_bound(&self, bones: &[BoneMatrices]) -> Option<MorphBound> {
        self.reach.bound(bones)
    }

    /// Returns the group with the positions and normals that morph targets make of its points in a pose.
    pub(super) fn posed(&self, bones: &[BoneMatrices]) -> Cow<'_, Self> {
        if self.morph_bound(bones).is_none() {
            return Cow::Borrowed(self);
        }
        let placed: Vec<[Placed; 2]> = self.morphed.iter().map(|point| point.at(bones)).collect();
        let (mut fours, mut normals, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for (points, placed) in self.morphed.chunks(4).zip(placed.chunks(4)) {
            let last = points.len() - 1;
            let lanes = |of: &dyn Fn(usize) -> [f32; 4]| {
                let of = [0, 1, 2, 3].map(|lane: usize| of(lane.min(last)));
                [0, 1, 2, 3].map(|c| of.map(|lane| lane[c]))
            };
            for k in 0..self.bones.len() {
                let term = |lane: usize, side: usize| {
                    let weight = points[lane].weights[k][side];
                    (placed[lane][side].position * weight).extend(weight)
                };
                fours.push(FourPoints {
                    drawn: lanes(&|lane| term(lane, 1).as_vec4().to_array()),
                    source: lanes(&|lane| term(lane, 0).as_vec4().to_array()),
                    lost: lanes(&|lane| (term(lane, 0) - term(lane, 1)).as_vec4().to_array()),
                });
            }
            let turned: Vec<usize> = (0..=last).filter(|lane| placed[*lane][0].normal != DVec3::ZERO).collect();
            let Some(end) = turned.len().checked_sub(1) else { continue };
            let lane = |lane: usize| turned[lane.min(end)];
            let normal = |at: usize, side: usize| placed[at][side].normal.as_vec3();
            let by_component = |side: usize| [0, 1, 2].map(|c| [0, 1, 2, 3].map(|at: usize| normal(lane(at), side)[c]));
            let packed = turned.iter().map(|at| chord([normal(*at, 0), normal(*at, 1)]));
            normals.push(FourNormals {
                source: by_component(0),
                drawn: by_component(1),
                packed: packed.fold(0.0, greatest_chord),
            });
            let weight = |k: usize, side: usize| [0, 1, 2, 3].map(|at| points[lane(at)].weights[k][side] as f32);
            weights.extend((0..self.bones.len()).map(|k| [weight(k, 0), weight(k, 1)]));
        }
        Cow::Owned(Self {
            bones: self.bones.clone(),
            pairs: self.pairs.clone(),
            points: self.points.clone(),
            fours,
            packed: greatest_packed(&normals),
            normals,
            alike: 1,
            weights,
            slack: self.slack,
            morphed: Vec::new(),
            reach: MorphReach::default(),
        })
    }

    /// Iterates over the points in fours, with one entry per bone.
    pub(super) fn fours(&self) -> impl Iterator<Item = (&[WeldedPoint], &[FourPoints])> {
        self.points.chunks(4).zip(self.fours.chunks_exact(self.bones.len()))
    }

    /// Iterates over runs of normals with shared weights, with the weights of the bones.
    pub(super) fn normals(&self) -> impl Iterator<Item = (&[FourNormals], &[[Lanes; 2]])> {
        self.normals.chunks(self.alike).zip(self.weights.chunks_exact(self.bones.len()))
    }
}

/// Sets the pairs of each group, and returns all of them.
fn pairs(groups: &mut [PointGroup]) -> Vec<[u32; 2]> {
    let of = |bones: &[u32]| -> Vec<[u32; 2]> {
        let with = |i: usize| (0..i).map(move |j| [bones[i].min(bones[j]), bones[i].max(bones[j])]);
        (0..bones.len()).flat_map(with).collect()
    };
    let mut pairs: Vec<[u32; 2]> = groups.iter().flat_map(|group| of(&group.bones)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    for group in groups {
        let index = |pair: &[u32; 2]| pairs.binary_search(pair).expect("all pairs are known") as u32;
        group.pairs = of(&group.bones).iter().map(index).collect();
    }
    pairs
}

/// Returns the greatest chord of normals, infinite if one is unknown.
fn greatest_packed(normals: &[FourNormals]) -> f32 {
    normals.iter().fold(0.0, |most, normals| greatest_chord(most, normals.packed))
}

/// Returns the greater of two chords; infinity if the second one is unknown.
fn greatest_chord(most: f32, chord: f32) -> f32 {
    if chord.is_nan() { f32::INFINITY } else { chord.max(most) }
}

/// Returns the normals of points, without duplicates of equal normals and weights.
fn turned(builders: &[PointBuilder]) -> Vec<(&[BoneTerm], NormalPair)> {
    let mut known = HashSet::new();
    let mut turned = Vec::new();
    for builder in builders {
        for pair in &builder.normals {
            let key: Vec<u32> = weights_of(&builder.entries)
                .chain(pair.source.to_array())
                .chain(pair.drawn.to_array())
                .map(f32::to_bits)
                .collect();
            if known.insert(key) {
                turned.push((&builder.entries[..], *pair));
            }
        }
    }
    turned
}

fn weights_of(entries: &[BoneTerm]) -> impl Iterator<Item = f32> {
    entries.iter().flat_map(|entry| [entry.source[3], entry.drawn[3]])
}

fn boxes(builders: &[PointBuilder], bones: usize) -> Vec<Option<BoxCorners>> {
    let mut boxes: Vec<Option<(Vec3, Vec3)>> = vec![None; bones];
    for builder in builders {
        let [p, q] = builder.positions;
        for entry in &builder.entries {
            let (low, high) = boxes[entry.bone as usize].get_or_insert((p, p));
            (*low, *high) = (least(*low, least(p, q)), greatest(*high, greatest(p, q)));
        }
    }
    boxes.into_iter().map(|bounds| bounds.map(|(low, high)| corners(low, high))).collect()
}

/// Returns the points of a model, and the first of the vertices that each of its vertices is welded to.
fn builders(model: &Model, drawn: &DrawnModel<'_>) -> (Vec<PointBuilder>, Vec<u32>) {
    let mut builders: Vec<PointBuilder> = Vec::new();
    let mut welded = Vec::new();
    let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut vertex = 0;
    for primitive in &model.primitives {
        for (v, p) in primitive.positions.iter().enumerate() {
            let baked = &drawn.vertices[drawn.baked_of_source[vertex] as usize];
            let influences = primitive.influences.of(v);
            let entries = entries(*p, influences, baked);
            let next = builders.len();
            let places = (v, drawn.baked_of_source[vertex] as usize);
            let morphed = MorphedPoint::new(model, drawn, primitive, places, &entries);
            // Points that morph targets move are not welded.
            let mut key = bytemuck::cast_slice(&entries).to_vec();
            key.extend(morphed.iter().flat_map(|_| vertex.to_le_bytes()));
            let point = *known.entry(key).or_insert(next);
            if point == next {
                let bone = u32::from(influences[0].0);
                let point = WeldedPoint { vertex: vertex as u32, count: 0, bone };
                builders.push(PointBuilder {
                    entries,
                    normals: Vec::new(),
                    point,
                    positions: [p.as_vec3(), baked.position],
                    morphed,
                });
            }
            let builder = &mut builders[point];
            builder.point.count += 1;
            welded.push(builder.point.vertex);
            let source = primitive.normals.as_ref().map_or(Vec3::ZERO, |n| n[v].as_vec3());
            let pair = NormalPair { source, drawn: baked.normal };
            if source.length_squared() > 0.0 {
                builder.normals.push(pair);
            }
            vertex += 1;
        }
    }
    (builders, welded)
}

/// Returns the entries of a vertex; bones of the source come first.
fn entries(position: DVec3, influences: &[(u16, f64)], baked: &Vertex) -> Vec<BoneTerm> {
    let of_source = |&(bone, weight): &(u16, f64)| {
        let source = lanes((position * weight).extend(weight));
        BoneTerm { bone: u32::from(bone), drawn: [0.0; 4], source, lost: source }
    };
    let mut entries: Vec<BoneTerm> = influences.iter().map(of_source).collect();
    for (bone, weight) in baked.joints.into_iter().zip(baked.weights).filter(|&(_, w)| w > 0.0) {
        let shown = (baked.position * weight).extend(weight);
        let exact = (baked.position.as_dvec3() * f64::from(weight)).extend(f64::from(weight));
        match influences.iter().position(|&(b, _)| u32::from(b) == bone) {
            Some(i) => {
                let source = (position * influences[i].1).extend(influences[i].1);
                (entries[i].drawn, entries[i].lost) = (shown.to_array(), lanes(source - exact));
            }
            None => {
                entries.push(BoneTerm { bone, drawn: shown.to_array(), source: [0.0; 4], lost: (-shown).to_array() });
            }
        }
    }
    entries
}

fn lanes(v: DVec4) -> [f32; 4] {
    v.as_vec4().to_array()
}
