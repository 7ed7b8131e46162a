//! A surface while its edges collapse: places, corners and triangles, and the vertices of the finest LOD that are closest
//! to each triangle.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use glam::{Vec2, Vec3};
use gpuskin_rt::internals::vertex::Vertex;

use crate::geometry::Geometry;
use crate::geometry::lods::error::FinestSurface;
use crate::geometry::lods::poses::LodPoses;
use crate::geometry::lods::search_budget::SearchBudget;
use crate::geometry::lods::surface::{BoxTree, FittedTree};

/// Maximum number of triangles of a surface.
const MAX_TRIANGLES: usize = 1 << 16;
/// Maximum number of samples per triangle, besides vertices of the surface itself.
const MAX_SAMPLES: usize = 2;
/// Maximum number of triangles of which points are measured in all poses, and minimum share of the
/// poses, as a divisor. Vertices of the finest LOD are measured in all poses.
const POINTS_IN_ALL_POSES: usize = 1 << 12;
const MAX_STRIDE: usize = 8;
/// Weight of distances in the rest pose relative to other poses in the first LOD, which must not be farther off there than what
/// `meshopt` makes of the rest pose alone.
const REST_WEIGHT: f32 = 1.8;
/// No corner or place.
pub(super) const NONE: u32 = u32::MAX;
/// Texture coordinates of a vertex: the first and the second ones.
pub(super) const COORDINATES: [fn(&Vertex) -> Vec2; 2] = [|v| v.uv, |v| v.second_uv];

/// Longest sides of the surface per unit of texture coordinates where every triangle has one point of a texture, as with a palette: a
/// colour that is 1/4096 of the palette away counts as far as 3 % of the surface.
const PALETTE_SIDES: f32 = 1024.0;

/// Treatment of seams: edges at which normals, texture coordinates or materials change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SeamRule {
    /// Vertices of a seam move along the seam.
    Kept,
    /// Corners that have no counterpart at the neighbour take the most similar one of their group.
    Crossed,
}

impl SeamRule {
    /// All rules, from restrictive to permissive.
    pub(crate) const ALL: [Self; 2] = [Self::Kept, Self::Crossed];
}

/// A surface from which vertices are removed.
pub(crate) struct HalfEdgeCollapse<'a> {
    pub(super) geometry: &'a Geometry,
    pub(super) poses: &'a LodPoses,
    pub(super) finest: &'a FinestSurface,
    pub(super) seams: SeamRule,
    /// Positions of the vertices of the finest LOD in all poses: of the places first. Vertices that
    /// stay together share a slot. `[slot][pose]`
    pub(super) positions: Vec<Vec3>,
    pub(super) corners: Vec<Corner>,
    /// A triangle of the finest LOD at each place.
    pub(super) near: Vec<u32>,
    /// A mark per place, and the last mark that was used: places with it are neighbours of one place.
    pub(super) marks: Vec<u32>,
    pub(super) mark: u32,
    /// Pose in which each place was too far off at the last attempt to remove it.
    pub(super) worst: Vec<u8>,
    /// Triangles, as indices of corners.
    pub(super) triangles: Vec<[u32; 3]>,
    /// Places of the corners of each triangle.
    pub(super) triangle_places: Vec<[u32; 3]>,
    /// Whether each triangle is removed.
    pub(super) removed: Vec<bool>,
    /// Triangles at each place.
    pub(super) around: Vec<Vec<u32>>,
    /// Vertices of the finest LOD that are closest to each triangle in the rest pose, as slots.
    pub(super) samples: Vec<Vec<u32>>,
    /// Collapses to try: limit at which they are tried, as bits; the place that is removed; its
    /// neighbour. Or removals of pieces: the limit; the piece; [`NONE`].
    pub(super) queue: BinaryHeap<Reverse<[u32; 3]>>,
    /// Longest side of the surface, in metres.
    pub(super) side: f32,
    /// Metres per unit of each of the [`COORDINATES`].
    pub(super) uv_scales: [f32; 2],
    /// Weight of distances in the rest pose relative to other poses.
    pub(super) rest_weight: f32,
    /// Points of triangles are measured in one pose of so many.
    pub(super) stride: usize,
    pub(super) pieces: Pieces,
    /// Number of groups of triangles.
    pub(super) groups: usize,
    /// Number of distances that were evaluated.
    pub(super) tests: usize,
}

/// Connected pieces of the finest LOD.
pub(super) struct Pieces {
    /// Whether each piece is left.
    pub(super) left: Vec<bool>,
    /// Slots for which each piece stands: those of its vertices, and of removed pieces to which it is closest.
    pub(super) slots: Vec<Vec<u32>>,
    /// Normal of the finest LOD at each slot, in the rest pose, of any length.
    pub(super) normals: Vec<Vec3>,
    /// Limit of searches among pieces; once it is spent, no piece is removed.
    pub(super) budget: SearchBudget,
}

impl Pieces {
    /// `slot_of`: returns the slot of a vertex of the mesh. `slots`: number of slots. `places`: number of those that are places.
    fn new(finest: &FinestSurface, slot_of: impl Fn(u32) -> u32, slots: usize, places: usize) -> Self {
        let layers = &finest.layers;
        let count = layers.piece.iter().max().map_or(0, |last| *last as usize + 1);
        let (mut of_slot, mut normals) = (vec![NONE; slots], vec![Vec3::ZERO; slots]);
        for (t, triangle) in finest.surface.tree.triangles().iter().enumerate() {
            for &v in triangle {
                let slot = slot_of(v) as usize;
                of_slot[slot] = layers.piece[t];
                normals[slot] += layers.faces[t];
            }
        }
        let (mut left, mut own) = (vec![false; count], vec![Vec::new(); count]);
        of_slot[..places].iter().for_each(|&piece| left[piece as usize] = true);
        (0..).zip(&of_slot).for_each(|(slot, &piece)| own[piece as usize].push(slot));
        let budget = SearchBudget::new(layers.faces.len());
        Self { left, slots: own, normals, budget }
    }
}

/// A vertex of a group of triangles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    pub(super) group: u32,
    /// Index of the vertex in the mesh.
    pub(super) vertex: u32,
    pub(super) place: u32,
}

impl<'a> HalfEdgeCollapse<'a> {
    /// Prepares a LOD of a surface, given as groups of triangles. Returns `None` if there are too
    /// many triangles.
    pub(crate) fn new(
        geometry: &'a Geometry,
        poses: &'a LodPoses,
        finest: &'a FinestSurface,
        groups: &[Vec<u32>],
        seams: SeamRule,
    ) -> Option<Self> {
        let total = groups.iter().map(Vec::len).sum::<usize>() / 3;
        if total > MAX_TRIANGLES || finest.vertices.len() > MAX_TRIANGLES {
            return None;
        }
        // Vertices that differ in the rest pose or in the last one are apart.
        let bits = |pose: usize, v: u32| poses[pose][v as usize].to_array().map(|c| (c + 0.0).to_bits());
        let key = |v: u32| [bits(0, v), bits(poses.len() - 1, v)];
        let mut sorted: Vec<([[u32; 3]; 2], u32)> = finest.vertices.iter().map(|&[v, ..]| (key(v), v)).collect();
        sorted.sort_unstable();
        let mut first_of = vec![NONE; geometry.vertices.len()];
        // The first vertex of each set of vertices that stay together.
        let mut firsts = Vec::new();
        for same in sorted.chunk_by(|a, b| a.0 == b.0) {
            same.iter().for_each(|(_, v)| first_of[*v as usize] = firsts.len() as u32);
            firsts.push(same[0].1);
        }

        let (mut place_of, mut corner_of) = (vec![NONE; firsts.len()], vec![NONE; first_of.len()]);
        let (mut corners, mut slots, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
        for (g, group) in groups.iter().enumerate() {
            for t in group.as_chunks::<3>().0 {
                triangles.push(t.map(|v| {
                    let first = first_of[v as usize] as usize;
                    if place_of[first] == NONE {
                        place_of[first] = slots.len() as u32;
                        slots.push(firsts[first]);
                    }
                    let corner = &mut corner_of[v as usize];
                    if *corner == NONE {
                        *corner = corners.len() as u32;
                        corners.push(Corner { group: g as u32, vertex: v, place: place_of[first] });
                    }
                    *corner
                }));
            }
            group.iter().for_each(|&v| corner_of[v as usize] = NONE);
        }
        let places = slots.len();
        let mut slot_of = place_of.clone();
        let lost = slot_of.iter_mut().filter(|slot| **slot == NONE);
        lost.zip(places as u32..).for_each(|(slot, next)| *slot = next);
        let pieces = Pieces::new(finest, |v| slot_of[first_of[v as usize] as usize], slot_of.len(), places);
        slots.extend(firsts.iter().zip(&place_of).filter(|(_, place)| **place == NONE).map(|(v, _)| *v));
        let positions = slots.iter().flat_map(|&v| poses.iter().map(move |pose| pose[v as usize])).collect();
        let mut around = vec![Vec::new(); places];
        let mut triangle_places = Vec::with_capacity(triangles.len());
        let mut removed = vec![false; triangles.len()];
        for (t, triangle) in triangles.iter().enumerate() {
            let [a, b, c] = triangle.map(|corner| corners[corner as usize].place);
            triangle_places.push([a, b, c]);
            removed[t] = a == b || b == c || c == a;
            if !removed[t] {
                [a, b, c].iter().for_each(|&p| around[p as usize].push(t as u32));
            }
        }
        let mut near = vec![0; places];
        for (t, triangle) in finest.surface.tree.triangles().iter().enumerate() {
            for &v in triangle {
                let place = place_of[first_of[v as usize] as usize];
                if place != NONE {
                    near[place as usize] = t as u32;
                }
            }
        }

        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let (mut uv, mut metres) = ([0.0; 2], 0.0);
        for triangle in &triangles {
            for i in 0..3 {
                let [v, w] = [i, (i + 1) % 3].map(|i| corners[triangle[i] as usize].vertex as usize);
                (low, high) = (low.min(poses[0][v]), high.max(poses[0][v]));
                let [a, b] = [v, w].map(|vertex| &geometry.vertices[vertex]);
                uv.iter_mut().zip(COORDINATES).for_each(|(uv, of)| *uv += of(a).distance(of(b)));
                metres += poses[0][v].distance(poses[0][w]);
            }
        }
        let side = (high - low).max_element();
        let mut surface = Self {
            geometry,
            poses,
            finest,
            seams,
            positions,
            worst: vec![0; places],
            marks: vec![0; places],
            mark: 0,
            samples: vec![Vec::new(); triangles.len()],
            corners,
            near,
            triangles,
            triangle_places,
            removed,
            around,
            queue: BinaryHeap::new(),
            side,
            uv_scales: uv.map(|uv| if uv > 0.0 { metres / uv } else { PALETTE_SIDES * side }),
            rest_weight: if total == finest.surface.tree.triangles().len() { REST_WEIGHT } else { 1.0 },
            stride: (total / POINTS_IN_ALL_POSES).clamp(1, MAX_STRIDE),
            pieces,
            groups: groups.len(),
            tests: 0,
        };
        surface.assign_samples(&slots[places..]);
        Some(surface)
    }

    /// Assigns samples to triangles: the vertices of the surface, and some of those that the finest
    /// LOD has besides.
    fn assign_samples(&mut self, lost: &[u32]) {
        let places = self.around.len() as u32;
        for (place, around) in (0..).zip(&self.around) {
            around.first().into_iter().for_each(|&t| self.samples[t as usize].push(place));
        }
        let vertices = |t: &[u32; 3]| t.map(|corner| self.corners[corner as usize].vertex);
        let own: BTreeMap<[u32; 3], usize> = match lost.is_empty() {
            true => BTreeMap::new(),
            false => self.triangles.iter().map(vertices).zip(0..).collect(),
        };
        let rest = &self.poses[0];
        let tree = BoxTree::new(own.keys().copied().collect(), rest);
        let fitted = FittedTree { tree: &tree, positions: rest, boxes: &tree.boxes(rest) };
        let step = lost.len().div_ceil(self.triangles.len() * MAX_SAMPLES).max(1);
        let mut near = 0;
        for (slot, &v) in (places..).zip(lost).step_by(step) {
            let found = fitted.closest(rest[v as usize], near, 0.0);
            near = found.triangle;
            if found.distance.is_finite() {
                self.samples[own[&tree.triangles()[near as usize]]].push(slot);
            }
        }
    }

    pub(super) fn places_of(&self, triangle: u32) -> [u32; 3] {
        self.triangle_places[triangle as usize]
    }

    pub(super) fn vertices_of(&self, corners: [u32; 3]) -> [u32; 3] {
        corners.map(|corner| self.corners[corner as usize].vertex)
    }

    /// Returns the position of a slot in a pose. Places are slots.
    pub(super) fn at(&self, pose: usize, slot: u32) -> Vec3 {
        self.positions[slot as usize * self.poses.len() + pose]
    }
}
