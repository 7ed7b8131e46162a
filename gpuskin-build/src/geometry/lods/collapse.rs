//! Simplification by half-edge collapses in the order of their greatest distance: a vertex moves to a
//! neighbour if afterwards no vertex of the finest LOD, and no point of the changed triangles, is
//! farther from the other surface than a limit, in any pose. The limit grows until enough triangles
//! are gone.
//!
//! `meshopt` minimises a sum of squared distances, so single points can be far off. LODs are selected
//! by their greatest distance.

mod star;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use glam::Vec3;

use super::error::{FinestSurface, SurfacePoint, middle};
use super::poses::LodPoses;
use super::surface::{BoxTree, FittedTree, closest};
use crate::geometry::Geometry;
use crate::vector_math::distance_squared;
use star::Star;

/// Maximum number of triangles of a surface.
const MAX_TRIANGLES: usize = 1 << 16;
/// Maximum number of distances between points and triangles, per triangle of the surface. Characters
/// need 150 to 1,500.
const MAX_TESTS: usize = 1 << 11;
/// Limit below which the order of collapses does not matter, relative to the longest side of the
/// surface: 0.2 mm for a human.
const LEAST_LIMIT: f32 = 1e-4;
/// Factor by which a collapse may exceed the limit. With 1, most collapses are tried many times.
const SLACK: f32 = 1.05;
/// Minimum growth of the limit until a collapse that was too far off is tried again.
const RETRY: f32 = 1.2;
/// Weight of distances in the rest pose relative to other poses.
const REST_WEIGHT: f32 = 1.8;
/// Maximum number of samples per triangle, besides vertices of the surface itself.
const MAX_SAMPLES: usize = 2;
/// Maximum number of triangles of which points are measured in all poses, and minimum share of the
/// poses, as a divisor. Vertices of the finest LOD are measured in all poses.
const POINTS_IN_ALL_POSES: usize = 1 << 12;
const MAX_STRIDE: usize = 8;
/// Changes at a removed vertex that count as much as a distance: of a normal by one radian and of a
/// colour by its range, relative to the longest side of the surface; and of texture coordinates,
/// relative to the distance by which the texture moves on the surface.
const NORMAL_WEIGHT: f32 = 0.005;
const COLOR_WEIGHT: f32 = 0.005;
const UV_WEIGHT: f32 = 0.12;

/// No corner or place.
const NONE: u32 = u32::MAX;

/// Treatment of seams: edges at which normals, texture coordinates or materials change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SeamRule {
    /// Vertices of a seam move along the seam.
    Kept,
    /// Corners that have no counterpart at the neighbour take the most similar one of their group.
    Crossed,
}

impl SeamRule {
    /// All rules, from restrictive to permissive.
    pub(super) const ALL: [Self; 2] = [Self::Kept, Self::Crossed];
}

/// A surface from which vertices are removed.
pub(super) struct HalfEdgeCollapse<'a> {
    geometry: &'a Geometry,
    poses: &'a LodPoses,
    finest: &'a FinestSurface,
    seams: SeamRule,
    /// Positions of the vertices of the finest LOD in all poses. `[slot][pose]`
    positions: Vec<Vec3>,
    /// Slot of each vertex of the mesh. Vertices at one place share a slot.
    slots: Vec<u32>,
    corners: Vec<Corner>,
    /// A vertex of the mesh at each place.
    places: Vec<u32>,
    /// A triangle of the finest LOD at each place.
    near: Vec<u32>,
    /// Pose in which each place was too far off at the last attempt to remove it.
    worst: Vec<u8>,
    /// Triangles, as indices of corners.
    triangles: Vec<[u32; 3]>,
    /// Places of the corners of each triangle.
    triangle_places: Vec<[u32; 3]>,
    /// Whether each triangle is removed.
    removed: Vec<bool>,
    /// Triangles at each place.
    around: Vec<Vec<u32>>,
    /// Vertices of the finest LOD that are closest to each triangle in the rest pose.
    samples: Vec<Vec<u32>>,
    /// Collapses to try: limit at which they are tried, as bits; the place that is removed; its
    /// neighbour.
    queue: BinaryHeap<Reverse<[u32; 3]>>,
    /// Longest side of the surface, in metres.
    side: f32,
    /// Metres per unit of texture coordinates.
    uv_scale: f32,
    /// Points of triangles are measured in one pose of so many.
    stride: usize,
    /// Number of groups of triangles.
    groups: usize,
    /// Number of distances that were evaluated.
    tests: usize,
}

/// A vertex of a group of triangles.
#[derive(Clone, Copy, Debug)]
struct Corner {
    group: u32,
    /// Index of the vertex in the mesh.
    vertex: u32,
    place: u32,
}

/// Result of an attempt to collapse an edge.
#[derive(Debug, PartialEq)]
enum Attempt {
    Allowed,
    /// Needs at least this limit, in metres.
    TooFar(f32),
    Impossible,
}

impl<'a> HalfEdgeCollapse<'a> {
    /// Prepares a LOD of a surface, given as groups of triangles. Returns `None` if there are too
    /// many triangles.
    pub(super) fn new(
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
        let mut slots = vec![NONE; geometry.vertices.len()];
        let mut positions = Vec::with_capacity(sorted.len() * poses.len());
        // The first vertex of each slot.
        let mut firsts = Vec::new();
        for same in sorted.chunk_by(|a, b| a.0 == b.0) {
            same.iter().for_each(|(_, v)| slots[*v as usize] = firsts.len() as u32);
            positions.extend(poses.iter().map(|pose| pose[same[0].1 as usize]));
            firsts.push(same[0].1);
        }

        let (mut place_of, mut corner_of) = (vec![NONE; firsts.len()], vec![NONE; slots.len()]);
        let (mut corners, mut places, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
        for (g, group) in groups.iter().enumerate() {
            for t in group.as_chunks::<3>().0 {
                triangles.push(t.map(|v| {
                    let slot = slots[v as usize] as usize;
                    if place_of[slot] == NONE {
                        place_of[slot] = places.len() as u32;
                        places.push(firsts[slot]);
                    }
                    let corner = &mut corner_of[v as usize];
                    if *corner == NONE {
                        *corner = corners.len() as u32;
                        corners.push(Corner { group: g as u32, vertex: v, place: place_of[slot] });
                    }
                    *corner
                }));
            }
            group.iter().for_each(|&v| corner_of[v as usize] = NONE);
        }
        let mut around = vec![Vec::new(); places.len()];
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
        let mut near = vec![0; places.len()];
        for (t, triangle) in finest.surface.tree.triangles().iter().enumerate() {
            for &v in triangle {
                let place = place_of[slots[v as usize] as usize];
                if place != NONE {
                    near[place as usize] = t as u32;
                }
            }
        }

        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let (mut uv, mut metres) = (0.0, 0.0);
        for triangle in &triangles {
            for i in 0..3 {
                let [v, w] = [i, (i + 1) % 3].map(|i| corners[triangle[i] as usize].vertex as usize);
                (low, high) = (low.min(poses[0][v]), high.max(poses[0][v]));
                uv += geometry.vertices[v].uv.distance(geometry.vertices[w].uv);
                metres += poses[0][v].distance(poses[0][w]);
            }
        }
        let mut surface = Self {
            geometry,
            poses,
            finest,
            seams,
            positions,
            slots,
            worst: vec![0; places.len()],
            samples: vec![Vec::new(); triangles.len()],
            corners,
            places,
            near,
            triangles,
            triangle_places,
            removed,
            around,
            queue: BinaryHeap::new(),
            side: (high - low).max_element(),
            uv_scale: if uv > 0.0 { metres / uv } else { 0.0 },
            stride: (total / POINTS_IN_ALL_POSES).clamp(1, MAX_STRIDE),
            groups: groups.len(),
            tests: 0,
        };
        let lost = firsts.iter().zip(&place_of).filter(|(_, place)| **place == NONE).map(|(v, _)| *v);
        surface.assign_samples(lost.collect());
        Some(surface)
    }

    /// Assigns samples to triangles: the vertices of the surface, and some of those that the finest
    /// LOD has besides.
    fn assign_samples(&mut self, lost: Vec<u32>) {
        for (&v, around) in self.places.iter().zip(&self.around) {
            around.first().into_iter().for_each(|&t| self.samples[t as usize].push(v));
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
        for &v in lost.iter().step_by(step) {
            let found = fitted.closest(rest[v as usize], near, 0.0);
            near = found.triangle;
            if found.distance.is_finite() {
                self.samples[own[&tree.triangles()[near as usize]]].push(v);
            }
        }
    }

    /// Removes vertices until at most `triangles` triangles are left. Returns the limit that was
    /// needed, in metres, and the groups of triangles. Returns `None` if the limit would exceed
    /// `most`, or the work its maximum.
    pub(super) fn simplify(mut self, triangles: usize, most: f32) -> Option<(f32, Vec<Vec<u32>>)> {
        let mut left = self.removed.iter().filter(|removed| !**removed).count();
        let most_tests = MAX_TESTS * left;
        for place in 0..self.places.len() as u32 {
            let all = self.around[place as usize].iter().flat_map(|&t| self.places_of(t));
            let mut neighbours: Vec<u32> = all.filter(|&p| p != place).collect();
            neighbours.sort_unstable();
            neighbours.dedup();
            self.queue.extend(neighbours.iter().map(|&u| Reverse([0, place, u])));
        }
        let mut limit = LEAST_LIMIT * self.side;
        let mut star = Star::default();
        while left > triangles {
            let Reverse([key, v, u]) = self.queue.pop()?;
            limit = limit.max(f32::from_bits(key));
            if limit > most * REST_WEIGHT || self.tests > most_tests {
                return None;
            }
            match self.attempt(v, u, limit * SLACK, &mut star) {
                Attempt::Allowed => {
                    left -= star.gone.len();
                    self.collapse(v, u, &star);
                }
                Attempt::TooFar(more) if more.is_finite() => {
                    self.queue.push(Reverse([more.max(limit * RETRY).to_bits(), v, u]));
                }
                Attempt::TooFar(_) | Attempt::Impossible => {}
            }
        }
        let mut groups = vec![Vec::new(); self.groups];
        for (triangle, _) in self.triangles.iter().zip(&self.removed).filter(|(_, removed)| !**removed) {
            let group = self.corners[triangle[0] as usize].group;
            groups[group as usize].extend(self.vertices_of(*triangle));
        }
        Some((limit, groups))
    }

    fn places_of(&self, triangle: u32) -> [u32; 3] {
        self.triangle_places[triangle as usize]
    }

    fn vertices_of(&self, corners: [u32; 3]) -> [u32; 3] {
        corners.map(|corner| self.corners[corner as usize].vertex)
    }

    /// Returns the position of a vertex of the mesh in a pose.
    fn at(&self, pose: usize, vertex: u32) -> Vec3 {
        self.positions[self.slots[vertex as usize] as usize * self.poses.len() + pose]
    }

    /// Tries to move place `v` to place `u`.
    fn attempt(&mut self, v: u32, u: u32, limit: f32, star: &mut Star) -> Attempt {
        if !self.find_star(v, u, star) {
            return Attempt::Impossible;
        }
        let weight = |pose: usize| if pose == 0 { REST_WEIGHT } else { 1.0 };
        // The removed vertex is likely to be farthest off, in the pose in which it was before.
        let own = self.places[v as usize];
        let last = self.worst[v as usize] as usize;
        for i in 0..self.poses.len() {
            let pose = if last + i < self.poses.len() { last + i } else { last + i - self.poses.len() };
            self.pose(pose, star);
            let off = self.distance(self.at(pose, own), star, limit / weight(pose)) * weight(pose);
            if off > limit || off.is_nan() {
                self.worst[v as usize] = pose as u8;
                return Attempt::TooFar(off);
            }
        }
        if self.turns(0, star) {
            return Attempt::Impossible;
        }
        let changed = self.changed_attributes(v, star);
        if changed > limit || changed.is_nan() {
            return Attempt::TooFar(changed);
        }
        self.find_points(v, u, star);
        for pose in 0..self.poses.len() {
            let enough = limit / weight(pose);
            if !star.samples.is_empty() {
                self.pose(pose, star);
            }
            for i in 0..star.samples.len() {
                let off = self.distance(self.at(pose, star.samples[i]), star, enough);
                if off > enough || off.is_nan() {
                    return Attempt::TooFar(off * weight(pose));
                }
            }
            if pose % self.stride > 0 {
                continue;
            }
            if pose > 0 && self.turns(pose, star) {
                return Attempt::Impossible;
            }
            let finest = self.finest.surface.at(self.poses, pose);
            for (point, near) in &mut star.points {
                self.tests += 4;
                let found = finest.closest(middle(point, &self.poses[pose]), *near, enough);
                *near = found.triangle;
                if found.distance > enough || found.distance.is_nan() {
                    return Attempt::TooFar(found.distance * weight(pose));
                }
            }
        }
        Attempt::Allowed
    }

    /// Returns the distance of a point from the triangles of a star, or from the first one within
    /// `enough`, in metres.
    fn distance(&mut self, p: Vec3, star: &Star, enough: f32) -> f32 {
        let mut best = f32::INFINITY;
        for &[a, b, c] in &star.posed {
            self.tests += 1;
            let squared = distance_squared(closest(p, a, b, c), p);
            if squared < best {
                best = squared;
                if best <= enough * enough {
                    break;
                }
            }
        }
        best.sqrt()
    }

    /// Moves place `v` to place `u`.
    fn collapse(&mut self, v: u32, u: u32, star: &Star) {
        let mut samples: Vec<u32> = Vec::new();
        for &t in star.gone.iter().chain(&star.kept) {
            samples.append(&mut self.samples[t as usize]);
        }
        for &t in &star.gone {
            self.removed[t as usize] = true;
            for p in self.places_of(t) {
                self.around[p as usize].retain(|&other| other != t);
            }
        }
        for &t in &star.kept {
            for corner in &mut self.triangles[t as usize] {
                if let Some(&(_, to)) = star.moved.iter().find(|(from, _)| from == corner) {
                    *corner = to;
                }
            }
            let places = &mut self.triangle_places[t as usize];
            places.iter_mut().filter(|p| **p == v).for_each(|p| *p = u);
            self.around[u as usize].push(t);
        }
        self.around[v as usize].clear();
        let posed: Vec<[Vec3; 3]> = star.after.iter().map(|t| t.map(|v| self.at(0, v))).collect();
        for sample in samples {
            let p = self.at(0, sample);
            let squared = |t: &[Vec3; 3]| distance_squared(closest(p, t[0], t[1], t[2]), p);
            let found = (0..posed.len()).min_by(|&i, &j| squared(&posed[i]).total_cmp(&squared(&posed[j])));
            found.into_iter().for_each(|i| self.samples[star.kept[i] as usize].push(sample));
        }
        // Collapses of edges that were there before keep their limits: few become easier.
        for &(place, _) in star.neighbours.iter().filter(|(p, _)| *p != u && !star.common.contains(p)) {
            self.queue.extend([Reverse([0, place, u]), Reverse([0, u, place])]);
        }
    }
}
