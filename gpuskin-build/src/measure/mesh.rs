//! What is measured of a model's vertices: source and drawn ones side by side, four at a time.

use std::collections::{HashMap, HashSet};

use bytemuck::{Pod, Zeroable};
use glam::{DVec3, DVec4, Vec3};
use gpuskin_rt::vertex::Vertex;

use super::DrawnModel;
use super::bounds::{BoxCorners, corners, slack};
use crate::model::Model;
use crate::vector_math::{Lanes, greatest, greatest_lanes, least};

/// What one bone adds to the error of a vertex.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct BoneTerm {
    bone: u32,
    /// Drawn weight times drawn position, and the weight.
    pub(super) drawn: [f32; 4],
    /// The same of the source.
    source: [f32; 4],
    /// The source's less the drawn.
    pub(super) lost: [f32; 4],
}

/// The entries of four points for one bone, by components.
pub(super) struct FourPoints {
    pub(super) drawn: [Lanes; 4],
    pub(super) source: [Lanes; 4],
    pub(super) lost: [Lanes; 4],
}

/// Vertices that all bones move alike, as those on both sides of a seam: evaluated once.
#[derive(Clone, Copy)]
pub(super) struct WeldedPoint {
    /// The first of the vertices.
    pub(super) vertex: u32,
    /// How many they are.
    pub(super) count: u32,
    /// The bone of greatest weight.
    pub(super) bone: u32,
}

/// Points of the same bones.
pub(super) struct PointGroup {
    pub(super) bones: Vec<u32>,
    pub(super) points: Vec<WeldedPoint>,
    /// For each four points, in their order, one for each of the bones. The last point stands in for those that lack.
    fours: Vec<FourPoints>,
    normals: Vec<FourNormals>,
    /// How many of these have the same weights: all, as where one bone moves everything, or one.
    alike: usize,
    /// For those one for each of the bones: the weights of source and picture.
    weights: Vec<[Lanes; 2]>,
    /// The greatest of the points, lane by lane: see [`slack`].
    pub(super) slack: Lanes,
}

/// Four normals of the source and the drawn ones, by components. The last stands in for those that lack.
pub(super) struct FourNormals {
    pub(super) source: [Lanes; 3],
    pub(super) drawn: [Lanes; 3],
}

/// The vertices of a model.
pub(super) struct MeasuredMesh {
    /// Those of fewest bones first: runs of as many are what processors foresee.
    pub(super) groups: Vec<PointGroup>,
    pub(super) vertices: usize,
    /// For each bone: around all that it moves, in the source and as drawn; none of bones without any.
    pub(super) boxes: Vec<Option<BoxCorners>>,
    /// The greatest of all points, lane by lane.
    pub(super) slack: Lanes,
}

/// Points of a group: with what bones do to them they stay in a cache while all moments of a clip's part are looked at.
const MOST: usize = 256;

/// What is put together of a point.
struct PointBuilder {
    entries: Vec<BoneTerm>,
    normals: Vec<NormalPair>,
    point: WeldedPoint,
    /// Of the source, and as drawn.
    positions: [Vec3; 2],
}

/// A normal of the source and the drawn one.
#[derive(Clone, Copy)]
struct NormalPair {
    source: Vec3,
    drawn: Vec3,
}

impl PointBuilder {
    fn bones(&self) -> impl Iterator<Item = u32> {
        self.entries.iter().map(|entry| entry.bone)
    }
}

impl MeasuredMesh {
    pub(super) fn new(model: &Model, drawn: &DrawnModel<'_>) -> Self {
        let (mut drafts, vertices) = drafts(model, drawn);
        drafts.sort_by(|a, b| a.entries.len().cmp(&b.entries.len()).then_with(|| a.bones().cmp(b.bones())));
        let boxes = boxes(&drafts, model.bones.len());
        let alike = drafts.chunk_by(|a, b| a.bones().eq(b.bones()));
        let groups: Vec<PointGroup> = alike.flat_map(|alike| alike.chunks(MOST)).map(PointGroup::new).collect();
        let slack = groups.iter().fold(Lanes::default(), |slack, group| greatest_lanes(slack, group.slack));
        Self { groups, vertices, boxes, slack }
    }
}

impl PointGroup {
    fn new(drafts: &[PointBuilder]) -> Self {
        let bones: Vec<u32> = drafts[0].bones().collect();
        let slack = drafts.iter().map(|draft| slack(draft.positions[0], &draft.entries));
        let slack = slack.fold(Lanes::default(), greatest_lanes);
        let mut fours = Vec::new();
        for some in drafts.chunks(4) {
            let entry = |k: usize, lane: usize| &some[lane.min(some.len() - 1)].entries[k];
            let by_component =
                |of: &dyn Fn(usize) -> [f32; 4]| [0, 1, 2, 3].map(|c| [0, 1, 2, 3].map(|lane| of(lane)[c]));
            fours.extend((0..bones.len()).map(|k| FourPoints {
                drawn: by_component(&|lane| entry(k, lane).drawn),
                source: by_component(&|lane| entry(k, lane).source),
                lost: by_component(&|lane| entry(k, lane).lost),
            }));
        }
        let turned = turned(drafts);
        let same = turned.windows(2).all(|pair| weights_of(pair[0].0).eq(weights_of(pair[1].0)));
        let (mut normals, mut weights) = (Vec::new(), Vec::new());
        for some in turned.chunks(4) {
            let one = |lane: usize| some[lane.min(some.len() - 1)];
            let by_component =
                |of: fn(&NormalPair) -> Vec3| [0, 1, 2].map(|c| [0, 1, 2, 3].map(|lane| of(&one(lane).1)[c]));
            normals
                .push(FourNormals { source: by_component(|pair| pair.source), drawn: by_component(|pair| pair.drawn) });
            if same && !weights.is_empty() {
                continue;
            }
            let weight = |k: usize, of: fn(&BoneTerm) -> f32| [0, 1, 2, 3].map(|lane| of(&one(lane).0[k]));
            weights.extend((0..bones.len()).map(|k| [weight(k, |e| e.source[3]), weight(k, |e| e.drawn[3])]));
        }
        let points = drafts.iter().map(|draft| draft.point).collect();
        let alike = if same { normals.len().max(1) } else { 1 };
        Self { bones, points, fours, normals, alike, weights, slack }
    }

    /// Four points at a time, and what each bone does to them.
    pub(super) fn fours(&self) -> impl Iterator<Item = (&[WeldedPoint], &[FourPoints])> {
        self.points.chunks(4).zip(self.fours.chunks_exact(self.bones.len()))
    }

    /// Normals that turn alike, and how the bones weigh.
    pub(super) fn normals(&self) -> impl Iterator<Item = (&[FourNormals], &[[Lanes; 2]])> {
        self.normals.chunks(self.alike).zip(self.weights.chunks_exact(self.bones.len()))
    }
}

/// The normals of some points, once each where they turn alike.
fn turned(drafts: &[PointBuilder]) -> Vec<(&[BoneTerm], NormalPair)> {
    let mut known = HashSet::new();
    let mut turned = Vec::new();
    for draft in drafts {
        for pair in &draft.normals {
            let key: Vec<u32> = weights_of(&draft.entries)
                .chain(pair.source.to_array())
                .chain(pair.drawn.to_array())
                .map(f32::to_bits)
                .collect();
            if known.insert(key) {
                turned.push((&draft.entries[..], *pair));
            }
        }
    }
    turned
}

fn weights_of(entries: &[BoneTerm]) -> impl Iterator<Item = f32> {
    entries.iter().flat_map(|entry| [entry.source[3], entry.drawn[3]])
}

fn boxes(drafts: &[PointBuilder], bones: usize) -> Vec<Option<BoxCorners>> {
    let mut boxes: Vec<Option<(Vec3, Vec3)>> = vec![None; bones];
    for draft in drafts {
        let [p, q] = draft.positions;
        for entry in &draft.entries {
            let (low, high) = boxes[entry.bone as usize].get_or_insert((p, p));
            (*low, *high) = (least(*low, least(p, q)), greatest(*high, greatest(p, q)));
        }
    }
    boxes.into_iter().map(|bounds| bounds.map(corners)).collect()
}

/// The points of a model, and how many vertices they are.
fn drafts(model: &Model, drawn: &DrawnModel<'_>) -> (Vec<PointBuilder>, usize) {
    let mut drafts: Vec<PointBuilder> = Vec::new();
    let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut vertex = 0;
    for primitive in &model.primitives {
        for (v, p) in primitive.positions.iter().enumerate() {
            let baked = &drawn.vertices[drawn.baked_of_source[vertex] as usize];
            let influences = primitive.influences.of(v);
            let entries = entries(*p, influences, baked);
            let next = drafts.len();
            let point = *known.entry(bytemuck::cast_slice(&entries).to_vec()).or_insert(next);
            if point == next {
                let bone = u32::from(influences[0].0);
                let point = WeldedPoint { vertex: vertex as u32, count: 0, bone };
                drafts.push(PointBuilder { entries, normals: Vec::new(), point, positions: [p.as_vec3(), baked.position] });
            }
            let draft = &mut drafts[point];
            draft.point.count += 1;
            let source = primitive.normals.as_ref().map_or(Vec3::ZERO, |n| n[v].as_vec3());
            let pair = NormalPair { source, drawn: baked.normal };
            if source.length_squared() > 0.0 {
                draft.normals.push(pair);
            }
            vertex += 1;
        }
    }
    (drafts, vertex)
}

/// What bones do to a vertex: those of the source first.
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
