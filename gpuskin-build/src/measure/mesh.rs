//! What is measured of a model's vertices: source and drawn ones side by side.

use std::collections::HashMap;
use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use glam::{DVec3, DVec4, Vec3};
use gpuskin_rt::vertex::Vertex;

use super::Drawn;
use super::bounds::{Corners, corners, slack};
use crate::model::Model;
use crate::plain::{Lanes, greatest, greatest_lanes, least};

/// What one bone adds to the error of a vertex.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Entry {
    pub(super) bone: u32,
    /// Drawn weight times drawn position, and the weight.
    pub(super) drawn: Lanes,
    /// The same of the source.
    pub(super) source: Lanes,
    /// The source's less the drawn.
    pub(super) lost: Lanes,
}

/// Vertices that all bones move alike, as those on both sides of a seam: evaluated once.
pub(super) struct Point {
    entries: Range<u32>,
    normals: Range<u32>,
    /// The first of the vertices.
    pub(super) vertex: u32,
    /// How many they are.
    pub(super) count: u32,
    /// The bone of greatest weight.
    pub(super) bone: u32,
}

/// Points of the same bones.
pub(super) struct Group {
    points: Range<u32>,
    pub(super) bones: Vec<u32>,
    /// One bone moves them, all of each.
    pub(super) rigid: bool,
    /// The greatest of the points, lane by lane: see [`slack`].
    pub(super) slack: Lanes,
}

/// A normal of the source and the drawn one.
#[derive(Clone, Copy)]
pub(super) struct NormalPair {
    pub(super) source: Vec3,
    pub(super) drawn: Vec3,
}

impl NormalPair {
    fn bits(&self) -> [[u32; 3]; 2] {
        [self.source, self.drawn].map(|normal| normal.to_array().map(f32::to_bits))
    }
}

/// The vertices of a model.
pub(super) struct Mesh {
    entries: Vec<Entry>,
    normals: Vec<NormalPair>,
    /// Those of fewest bones first: runs of as many are what processors foresee.
    points: Vec<Point>,
    pub(super) groups: Vec<Group>,
    pub(super) vertices: usize,
    /// For each bone: around all that it moves, in the source and as drawn; none of bones without any.
    pub(super) boxes: Vec<Option<Corners>>,
    /// The greatest of all points, lane by lane.
    pub(super) slack: Lanes,
}

/// Points of a group: with what bones do to them they stay in a cache while all moments of a clip's part are looked at.
const MOST: usize = 256;

/// What is put together of a point.
struct Draft {
    entries: Vec<Entry>,
    normals: Vec<NormalPair>,
    vertex: u32,
    count: u32,
    bone: u32,
    /// Of the source, and as drawn.
    positions: [Vec3; 2],
}

impl Draft {
    fn bones(&self) -> impl Iterator<Item = u32> {
        self.entries.iter().map(|entry| entry.bone)
    }
}

impl Mesh {
    pub(super) fn new(model: &Model, drawn: &Drawn<'_>) -> Self {
        let (mut drafts, vertices) = drafts(model, drawn);
        drafts.sort_by(|a, b| a.entries.len().cmp(&b.entries.len()).then_with(|| a.bones().cmp(b.bones())));
        let mut mesh = Self {
            entries: Vec::new(),
            normals: Vec::new(),
            points: Vec::new(),
            groups: Vec::new(),
            vertices,
            boxes: boxes(&drafts, model.bones.len()),
            slack: Lanes::default(),
        };
        for draft in drafts {
            mesh.group(&draft);
            let Draft { entries, mut normals, vertex, count, bone, .. } = draft;
            if normals.len() > 1 {
                normals.sort_unstable_by_key(NormalPair::bits);
                normals.dedup_by_key(|pair| pair.bits());
            }
            let (first_entry, first_normal) = (mesh.entries.len() as u32, mesh.normals.len() as u32);
            mesh.entries.extend(entries);
            mesh.normals.extend(normals);
            let entries = first_entry..mesh.entries.len() as u32;
            let normals = first_normal..mesh.normals.len() as u32;
            mesh.points.push(Point { entries, normals, vertex, count, bone });
        }
        mesh
    }

    /// Puts the next point into a group.
    fn group(&mut self, draft: &Draft) {
        let next = self.points.len() as u32;
        let same = |group: &Group| group.points.len() < MOST && draft.bones().eq(group.bones.iter().copied());
        if !self.groups.last().is_some_and(same) {
            let bones = draft.bones().collect();
            self.groups.push(Group { points: next..next, bones, rigid: true, slack: Lanes::default() });
        }
        let slack = slack(draft.positions[0], &draft.entries);
        self.slack = greatest_lanes(self.slack, slack);
        if let Some(group) = self.groups.last_mut() {
            group.points.end = next + 1;
            group.rigid &= matches!(draft.entries[..], [Entry { source: [.., 1.0], drawn: [.., 1.0], .. }]);
            group.slack = greatest_lanes(group.slack, slack);
        }
    }

    pub(super) fn points(&self, group: &Group) -> &[Point] {
        &self.points[group.points.start as usize..group.points.end as usize]
    }

    /// What bones do to a point.
    pub(super) fn entries(&self, point: &Point) -> &[Entry] {
        &self.entries[point.entries.start as usize..point.entries.end as usize]
    }

    /// The normals of the vertices of a point.
    pub(super) fn normals(&self, point: &Point) -> &[NormalPair] {
        &self.normals[point.normals.start as usize..point.normals.end as usize]
    }
}

fn boxes(drafts: &[Draft], bones: usize) -> Vec<Option<Corners>> {
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
fn drafts(model: &Model, drawn: &Drawn<'_>) -> (Vec<Draft>, usize) {
    let mut drafts: Vec<Draft> = Vec::new();
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
                let (normals, positions) = (Vec::new(), [p.as_vec3(), baked.position]);
                drafts.push(Draft { entries, normals, vertex: vertex as u32, count: 0, bone, positions });
            }
            let draft = &mut drafts[point];
            draft.count += 1;
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
fn entries(position: DVec3, influences: &[(u16, f64)], baked: &Vertex) -> Vec<Entry> {
    let of_source = |&(bone, weight): &(u16, f64)| {
        let source = lanes((position * weight).extend(weight));
        Entry { bone: u32::from(bone), drawn: [0.0; 4], source, lost: source }
    };
    let mut entries: Vec<Entry> = influences.iter().map(of_source).collect();
    for (bone, weight) in baked.joints.into_iter().zip(baked.weights).filter(|&(_, w)| w > 0.0) {
        let shown = (baked.position * weight).extend(weight);
        let exact = (baked.position.as_dvec3() * f64::from(weight)).extend(f64::from(weight));
        match influences.iter().position(|&(b, _)| u32::from(b) == bone) {
            Some(i) => {
                let source = (position * influences[i].1).extend(influences[i].1);
                (entries[i].drawn, entries[i].lost) = (shown.to_array(), lanes(source - exact));
            }
            None => {
                entries.push(Entry { bone, drawn: shown.to_array(), source: [0.0; 4], lost: (-shown).to_array() });
            }
        }
    }
    entries
}

fn lanes(v: DVec4) -> Lanes {
    v.as_vec4().to_array()
}
