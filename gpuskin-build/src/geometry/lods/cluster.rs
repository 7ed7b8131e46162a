//! Simplification by clustering: vertices that stay close to each other in all poses are merged.
//!
//! If a hand has few triangles left, collapsing edges one by one can remove the hand. Here the next
//! vertex to keep is always the one farthest from all kept vertices (Gonzalez 1985, "Clustering to
//! minimize the maximum intercluster distance"). Every vertex, and the surface between vertices, is
//! then within some radius of a kept vertex, in every pose.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use glam::Vec3;
use rayon::prelude::*;

use super::poses::LodPoses;
use crate::geometry::Geometry;
use crate::vector_math::distance_squared;

/// Maximum number of kept vertices per surface, and of distances evaluated to find them. Build
/// scripts run without optimisation.
const MAX_VERTICES: usize = 384;
const MAX_DISTANCES: usize = 1 << 24;

/// Surfaces with an order in which their vertices are kept. Each surface has groups of triangles.
pub(super) struct Clusters<'a> {
    surfaces: Vec<ClusteredSurface<'a>>,
    /// All radii, descending, each with the number of triangles within it, computed on demand.
    radii: Vec<(f32, OnceCell<usize>)>,
}

struct ClusteredSurface<'a> {
    geometry: &'a Geometry,
    rest: &'a [Vec3],
    groups: Vec<&'a [u32]>,
    /// The vertices of the mesh that the surface uses.
    used: Vec<UsedVertex>,
    /// Triangles of each group, as indices into `used`.
    corners: Vec<Vec<[u32; 3]>>,
    /// Vertices in the order in which they are kept, as indices into `used`.
    order: Vec<u32>,
    /// Distance of each kept vertex from all kept before it, in metres; descending.
    radii: Vec<f32>,
    /// Whether `order` has all vertices.
    complete: bool,
    /// Vertices of the mesh per group at each position. `[position]`
    places: Vec<BTreeMap<usize, Vec<u32>>>,
}

struct UsedVertex {
    /// Index of the vertex in the mesh.
    vertex: u32,
    /// Index of the position in `places`.
    place: u32,
    /// Kept vertices, as indices into `order`, that were the closest when they were added.
    owners: Vec<u32>,
}

impl<'a> Clusters<'a> {
    /// Orders the vertices of surfaces, each given as groups of triangles.
    pub(super) fn new(geometry: &'a Geometry, poses: &'a LodPoses, surfaces: Vec<Vec<&'a [u32]>>) -> Self {
        let surfaces: Vec<ClusteredSurface<'_>> =
            surfaces.into_iter().map(|groups| ClusteredSurface::new(geometry, poses, groups)).collect();
        let mut radii: Vec<f32> = surfaces.iter().flat_map(|surface| surface.radii.iter().copied()).collect();
        radii.sort_by(|a, b| b.total_cmp(a));
        radii.dedup();
        Self { surfaces, radii: radii.into_iter().map(|radius| (radius, OnceCell::new())).collect() }
    }

    /// Returns the smallest common radius with at most `triangles` triangles in total. Returns `None`
    /// if that needs more kept vertices than are in order.
    pub(super) fn radius(&self, triangles: usize) -> Option<f32> {
        let count = |radius: f32| self.within(radius).iter().flatten().map(Vec::len).sum::<usize>() / 3;
        let enough = self.radii.partition_point(|(radius, found)| *found.get_or_init(|| count(*radius)) <= triangles);
        let radius = self.radii.get(enough.checked_sub(1)?)?.0;
        // For a surface with an incomplete order, smaller radii are unknown.
        let known = |s: &ClusteredSurface<'_>| s.complete || s.radii.last().is_some_and(|last| *last <= radius);
        self.surfaces.iter().all(known).then_some(radius)
    }

    /// Returns the groups of each surface for a radius.
    pub(super) fn within(&self, radius: f32) -> Vec<Vec<Vec<u32>>> {
        self.surfaces.iter().map(|surface| surface.within(radius)).collect()
    }
}

impl<'a> ClusteredSurface<'a> {
    fn new(geometry: &'a Geometry, poses: &'a LodPoses, groups: Vec<&'a [u32]>) -> Self {
        let rest = &poses[0][..];
        let mut used: Vec<u32> = groups.iter().copied().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let most = (MAX_DISTANCES / used.len().max(1)).min(MAX_VERTICES);
        let (mut order, mut radii) = (Vec::new(), Vec::new());
        // Squared distance to the closest kept vertex, and all kept vertices that were the closest
        // at some step.
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
            .map(|group| {
                group.as_chunks::<3>().0.iter().map(|t| [t[0], t[1], t[2]].map(|v| index[v as usize])).collect()
            })
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

    /// Returns the groups with enough vertices kept that every vertex is within `radius` of one; at
    /// least one triangle remains.
    fn within(&self, radius: f32) -> Vec<Vec<u32>> {
        let least = self.radii.partition_point(|r| *r > radius).max(2);
        let some = (least..=self.order.len()).map(|kept| self.keeping(kept)).find(|g| g.iter().any(|g| !g.is_empty()));
        some.unwrap_or_else(|| self.groups.iter().map(|group| group.to_vec()).collect())
    }

    /// Returns the groups with the first `kept` vertices kept.
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
        // For triangles that span two clusters, a corner in each.
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
        // Features thinner than the radius have no triangle with three clusters. They become one
        // triangle from end to end, with both windings.
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

    /// Returns the vertex to which a cluster is merged: the kept one, or, if the members belong to
    /// several groups, the one at a position that most groups share, so that no gaps open.
    fn center<'b>(&self, kept: &'b UsedVertex, members: &[&'b UsedVertex]) -> &'b UsedVertex {
        let groups = |used: &UsedVertex| &self.places[used.place as usize];
        if groups(kept).len() == self.groups.len() {
            return kept;
        }
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

    /// Returns the vertex that replaces `v` when it moves to the position of another vertex: the
    /// one of its group at that position with the closest texture coordinates, or `v` itself if its
    /// group has none there.
    fn stand_in(&self, group: usize, there: &UsedVertex, v: u32) -> u32 {
        let vertex = |v: u32| &self.geometry.vertices[v as usize];
        let off = |other: &u32| {
            let (a, b) = (vertex(*other), vertex(v));
            a.uv.distance_squared(b.uv) + a.second_uv.distance_squared(b.second_uv)
        };
        let twins = self.places[there.place as usize].get(&group);
        let closest = twins.into_iter().flatten().min_by(|a, b| off(a).total_cmp(&off(b)).then(a.cmp(b)));
        closest.copied().unwrap_or(v)
    }
}

/// Returns the greatest squared distance of two vertices in any pose, if it is below a limit.
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
