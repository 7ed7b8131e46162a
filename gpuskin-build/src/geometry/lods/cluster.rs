//! Few triangles of many: vertices that stay close to each other in all poses become one.
//!
//! Where hardly a triangle is left of a hand, taking away one edge after the other removes hands. Here the farthest vertex
//! from all that are kept is kept next (Gonzalez 1985, "Clustering to minimize the maximum intercluster distance"), so that
//! every vertex is within some radius of one that is kept, in every pose, and so is the surface between.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use glam::Vec3;
use rayon::prelude::*;

use super::LodPoses;
use crate::geometry::Geometry;
use crate::vector_math::distance_squared;

/// Vertices that are kept, at most, of a surface; and distances that are looked at for that. Build scripts do this
/// unoptimised.
const MOST: usize = 384;
const MOST_DISTANCES: usize = 1 << 24;

/// Surfaces whose vertices are kept in an order, each by the groups of its triangles.
pub(super) struct Clusters<'a> {
    surfaces: Vec<ClusteredSurface<'a>>,
    /// All radii, descending, and how many triangles there are within each, as far as that was asked.
    radii: Vec<(f32, OnceCell<usize>)>,
}

struct ClusteredSurface<'a> {
    geometry: &'a Geometry,
    rest: &'a [Vec3],
    groups: Vec<&'a [u32]>,
    /// The vertices of the mesh that are used.
    used: Vec<UsedVertex>,
    /// The corners of each group's triangles: indices into `used`.
    corners: Vec<Vec<[u32; 3]>>,
    /// Vertices in the order in which they are kept: indices into `used`.
    order: Vec<u32>,
    /// How far each of them is from all before, metres; descending.
    radii: Vec<f32>,
    /// Whether all vertices are in order.
    complete: bool,
    /// Of each place: the vertices of the mesh that each group has there.
    places: Vec<BTreeMap<usize, Vec<u32>>>,
}

struct UsedVertex {
    /// Of the mesh.
    vertex: u32,
    /// Index into the places.
    place: u32,
    /// Those of the order that were the closest when they were kept.
    owners: Vec<u32>,
}

impl<'a> Clusters<'a> {
    /// Of surfaces, each some groups of triangles.
    pub(super) fn new(geometry: &'a Geometry, poses: &'a LodPoses, surfaces: Vec<Vec<&'a [u32]>>) -> Self {
        let surfaces: Vec<ClusteredSurface<'_>> =
            surfaces.into_iter().map(|groups| ClusteredSurface::new(geometry, poses, groups)).collect();
        let mut radii: Vec<f32> = surfaces.iter().flat_map(|surface| surface.radii.iter().copied()).collect();
        radii.sort_by(|a, b| b.total_cmp(a));
        radii.dedup();
        Self { surfaces, radii: radii.into_iter().map(|radius| (radius, OnceCell::new())).collect() }
    }

    /// The groups of each surface with at most so many triangles together, all within the same radius; `None` where more
    /// vertices would be needed than are in order.
    pub(super) fn with(&self, triangles: usize) -> Option<Vec<Vec<Vec<u32>>>> {
        let at = |radius: f32| -> Vec<Vec<Vec<u32>>> { self.surfaces.iter().map(|s| s.within(radius)).collect() };
        let count = |radius: f32| at(radius).iter().flatten().map(Vec::len).sum::<usize>() / 3;
        let enough = self.radii.partition_point(|(radius, found)| *found.get_or_init(|| count(*radius)) <= triangles);
        let radius = self.radii.get(enough.checked_sub(1)?)?.0;
        // Of a surface that has no more in order, smaller radii are not known.
        let known = |s: &ClusteredSurface<'_>| s.complete || s.radii.last().is_some_and(|last| *last <= radius);
        self.surfaces.iter().all(known).then(|| at(radius))
    }
}

impl<'a> ClusteredSurface<'a> {
    fn new(geometry: &'a Geometry, poses: &'a LodPoses, groups: Vec<&'a [u32]>) -> Self {
        let rest = &poses[0][..];
        let mut used: Vec<u32> = groups.iter().copied().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let most = (MOST_DISTANCES / used.len().max(1)).min(MOST);
        let (mut order, mut radii) = (Vec::new(), Vec::new());
        // Squared distance to the closest that is kept, and all that were that.
        let mut nearest = vec![(f32::INFINITY, Vec::new()); used.len()];
        let middle = used.iter().map(|&v| rest[v as usize]).sum::<Vec3>() / used.len().max(1) as f32;
        let farthest = |of: &dyn Fn(usize) -> f32| (0..used.len()).rev().max_by(|&a, &b| of(a).total_cmp(&of(b)));
        let mut next = farthest(&|i| rest[used[i] as usize].distance_squared(middle));
        while let Some(i) = next.filter(|_| order.len() < most) {
            let (kept, number) = (used[i], order.len() as u32);
            radii.push(nearest[i].0.sqrt());
            order.push(i as u32);
            nearest.par_iter_mut().zip(&used).with_min_len(1024).for_each(|((distance, owners), &v)| {
                if let Some(closer) = apart(poses, [kept, v], *distance) {
                    *distance = closer;
                    owners.push(number);
                }
            });
            next = farthest(&|i| nearest[i].0).filter(|&i| nearest[i].0 > 0.0);
        }
        let complete = next.is_none();

        let mut number_of: BTreeMap<[u32; 3], u32> = BTreeMap::new();
        let place = |v: u32| (rest[v as usize] + 0.0).to_array().map(f32::to_bits);
        let mut number = |v: u32| {
            let next = number_of.len() as u32;
            *number_of.entry(place(v)).or_insert(next)
        };
        let used: Vec<UsedVertex> = used
            .into_iter()
            .zip(nearest)
            .map(|(vertex, (_, owners))| UsedVertex { vertex, place: number(vertex), owners })
            .collect();
        let mut index = vec![0; geometry.vertices.len()];
        used.iter().enumerate().for_each(|(i, used)| index[used.vertex as usize] = i as u32);
        let corners: Vec<Vec<[u32; 3]>> = groups
            .iter()
            .map(|group| group.chunks_exact(3).map(|t| [t[0], t[1], t[2]].map(|v| index[v as usize])).collect())
            .collect();
        let mut places = vec![BTreeMap::<usize, Vec<u32>>::new(); number_of.len()];
        for (g, corners) in corners.iter().enumerate() {
            let mut has = vec![false; used.len()];
            corners.iter().flatten().for_each(|&i| has[i as usize] = true);
            for used in used.iter().zip(has).filter_map(|(used, has)| has.then_some(used)) {
                places[used.place as usize].entry(g).or_default().push(used.vertex);
            }
        }
        Self { geometry, rest, groups, used, corners, order, radii, complete, places }
    }

    /// The groups, as they are where every vertex is within a radius of one that is kept; but never nothing.
    fn within(&self, radius: f32) -> Vec<Vec<u32>> {
        let least = self.radii.partition_point(|r| *r > radius).max(2);
        let some = (least..=self.order.len()).map(|kept| self.keeping(kept)).find(|g| g.iter().any(|g| !g.is_empty()));
        some.unwrap_or_else(|| self.groups.iter().map(|group| group.to_vec()).collect())
    }

    /// The groups with so many vertices kept.
    fn keeping(&self, kept: usize) -> Vec<Vec<u32>> {
        let owner = |used: &UsedVertex| used.owners[used.owners.partition_point(|&o| (o as usize) < kept).max(1) - 1];
        let owners: Vec<u32> = self.used.iter().map(owner).collect();
        let mut members: Vec<Vec<&UsedVertex>> = vec![Vec::new(); kept];
        for (used, &owner) in self.used.iter().zip(&owners) {
            members[owner as usize].push(used);
        }
        let centers: Vec<&UsedVertex> =
            self.order.iter().zip(&members).map(|(&c, members)| self.center(&self.used[c as usize], members)).collect();
        let becomes =
            |g: usize, owner: u32, i: u32| self.stand_in(g, centers[owner as usize], self.used[i as usize].vertex);

        let mut found = BTreeSet::new();
        let mut pairs = BTreeSet::new();
        let mut out = vec![Vec::new(); self.groups.len()];
        // Of what is in two groups of vertices, a corner in each.
        let mut ends: BTreeMap<(usize, u32, u32), u32> = BTreeMap::new();
        for (g, corners) in self.corners.iter().enumerate() {
            for &[i, j, k] in corners {
                let [a, b, c] = [owners[i as usize], owners[j as usize], owners[k as usize]];
                if a == b && b == c {
                    continue;
                }
                if a == b || b == c || c == a {
                    let (other, at) = if b == a { (c, k) } else { (b, j) };
                    ends.entry((g, a, other)).or_insert(i);
                    ends.entry((g, other, a)).or_insert(at);
                    continue;
                }
                let first = if a < b && a < c {
                    [a, b, c]
                } else if b < c {
                    [b, c, a]
                } else {
                    [c, a, b]
                };
                if found.insert(first) {
                    out[g].extend([becomes(g, a, i), becomes(g, b, j), becomes(g, c, k)]);
                    pairs.extend([(a, b), (b, c), (c, a)].map(|(a, b)| (a.min(b), a.max(b))));
                }
            }
        }
        // What is thinner than the radius has no triangle of three: one from end to end, seen from both sides.
        for (&(g, a, b), &near_a) in ends.iter().filter(|((_, a, b), _)| a < b) {
            if !pairs.insert((a, b)) {
                continue;
            }
            let [from, to] = [becomes(g, a, near_a), becomes(g, b, ends[&(g, b, a)])];
            let line = (self.at(to) - self.at(from)).normalize_or_zero();
            let aside = |u: &UsedVertex| (self.at(u.vertex) - self.at(from)).reject_from(line).length_squared();
            let both = [a, b].into_iter().flat_map(|c| &members[c as usize]).copied();
            let own = both.filter(|used| self.places[used.place as usize].contains_key(&g));
            let widest = own.max_by(|v, w| aside(v).total_cmp(&aside(w)).then(w.vertex.cmp(&v.vertex)));
            if let Some(wide) = widest.filter(|v| aside(v) > 0.0) {
                let wide = self.stand_in(g, wide, self.used[near_a as usize].vertex);
                out[g].extend([from, to, wide, from, wide, to]);
            }
        }
        out
    }

    /// Where some vertices go: to the one that is kept, or, if they are of several groups, where most of these have one, so
    /// that nothing gapes.
    fn center<'b>(&self, kept: &'b UsedVertex, members: &[&'b UsedVertex]) -> &'b UsedVertex {
        let groups = |used: &UsedVertex| &self.places[used.place as usize];
        let all: BTreeSet<usize> = members.iter().flat_map(|used| groups(used).keys()).copied().collect();
        if groups(kept).len() == all.len() {
            return kept;
        }
        let off = |used: &UsedVertex| self.at(used.vertex).distance_squared(self.at(kept.vertex));
        let better = |a: &&UsedVertex, b: &&UsedVertex| {
            groups(a).len().cmp(&groups(b).len()).then(off(b).total_cmp(&off(a))).then(b.vertex.cmp(&a.vertex))
        };
        members.iter().copied().max_by(better).unwrap_or(kept)
    }

    fn at(&self, v: u32) -> Vec3 {
        self.rest[v as usize]
    }

    /// What a vertex of a group becomes that goes where another is: of those of its group there, the one whose texture
    /// coordinates are the closest; where its group has none there, it stays.
    fn stand_in(&self, group: usize, there: &UsedVertex, v: u32) -> u32 {
        let uv = |v: u32| self.geometry.vertices[v as usize].uv;
        let off = |other: &u32| uv(*other).distance_squared(uv(v));
        let twins = self.places[there.place as usize].get(&group);
        let closest = twins.into_iter().flatten().min_by(|a, b| off(a).total_cmp(&off(b)).then(a.cmp(b)));
        closest.copied().unwrap_or(v)
    }
}

/// The greatest squared distance of two vertices in any pose, if it is less than a limit.
fn apart(poses: &LodPoses, [a, b]: [u32; 2], limit: f32) -> Option<f32> {
    let mut greatest = 0.0_f32;
    for pose in poses {
        greatest = greatest.max(distance_squared(pose[a as usize], pose[b as usize]));
        if greatest >= limit {
            return None;
        }
    }
    Some(greatest)
}
