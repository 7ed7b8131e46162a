//! Few triangles of many: vertices that stay close to each other in all poses become one.
//!
//! Where hardly a triangle is left of a hand, taking away one edge after the other removes hands. Here the farthest vertex
//! from all that are kept is kept next (Gonzalez 1985, "Clustering to minimize the maximum intercluster distance"), so that
//! every vertex is within some radius of one that is kept, in every pose, and so is the surface between.

use std::collections::{BTreeMap, BTreeSet};

use glam::Vec3;
use rayon::prelude::*;

use super::Poses;
use crate::geometry::Geometry;

/// Vertices that are kept, at most, of a surface; and distances that are looked at for that. Build scripts do this
/// unoptimised.
const MOST: usize = 384;
const MOST_DISTANCES: usize = 1 << 24;

/// Surfaces whose vertices are kept in an order, each by the groups of its triangles.
pub(super) struct Clusters<'a> {
    surfaces: Vec<Surface<'a>>,
}

struct Surface<'a> {
    geometry: &'a Geometry,
    rest: &'a [Vec3],
    groups: Vec<&'a [u32]>,
    /// Vertices of the mesh, in the order in which they are kept.
    order: Vec<u32>,
    /// How far each of them is from all before, metres; descending.
    radii: Vec<f32>,
    /// Of each vertex of the mesh that is used: those of the order that were the closest when they were kept.
    owners: BTreeMap<u32, Vec<u32>>,
    /// Whether all vertices are in order.
    complete: bool,
    /// Vertices of a group at one place.
    twins: BTreeMap<(usize, Place), Vec<u32>>,
    /// The groups that have vertices there.
    groups_at: BTreeMap<Place, Vec<usize>>,
}

/// Bits of coordinates in the rest pose.
type Place = [u32; 3];

impl<'a> Clusters<'a> {
    /// Of surfaces, each some groups of triangles.
    pub(super) fn new(geometry: &'a Geometry, poses: &'a Poses, surfaces: Vec<Vec<&'a [u32]>>) -> Self {
        Self { surfaces: surfaces.into_iter().map(|groups| Surface::new(geometry, poses, groups)).collect() }
    }

    /// The groups of each surface with at most so many triangles together, all within the same radius; `None` where more
    /// vertices would be needed than are in order.
    pub(super) fn with(&self, triangles: usize) -> Option<Vec<Vec<Vec<u32>>>> {
        let mut radii: Vec<f32> = self.surfaces.iter().flat_map(|surface| surface.radii.iter().copied()).collect();
        radii.sort_by(|a, b| b.total_cmp(a));
        radii.dedup();
        let at = |radius: f32| -> Vec<Vec<Vec<u32>>> { self.surfaces.iter().map(|s| s.within(radius)).collect() };
        let count = |groups: &[Vec<Vec<u32>>]| groups.iter().flatten().map(Vec::len).sum::<usize>() / 3;
        let enough = radii.partition_point(|radius| count(&at(*radius)) <= triangles);
        let radius = *radii.get(enough.checked_sub(1)?)?;
        // Of a surface that has no more in order, smaller radii are not known.
        let known = |s: &Surface<'_>| s.complete || s.radii.last().is_some_and(|last| *last <= radius);
        self.surfaces.iter().all(known).then(|| at(radius))
    }
}

impl<'a> Surface<'a> {
    fn new(geometry: &'a Geometry, poses: &'a Poses, groups: Vec<&'a [u32]>) -> Self {
        let rest = &poses[0][..];
        let used: BTreeSet<u32> = groups.iter().copied().flatten().copied().collect();
        let used: Vec<u32> = used.into_iter().collect();
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
            order.push(kept);
            nearest.par_iter_mut().zip(&used).with_min_len(1024).for_each(|((distance, owners), &v)| {
                if let Some(closer) = apart(poses, [kept, v], *distance) {
                    *distance = closer;
                    owners.push(number);
                }
            });
            next = farthest(&|i| nearest[i].0).filter(|&i| nearest[i].0 > 0.0);
        }
        let complete = next.is_none();
        let mut twins: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        let mut groups_at: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (g, group) in groups.iter().enumerate() {
            for v in group.iter().copied().collect::<BTreeSet<u32>>() {
                let twins = twins.entry((g, place(rest, v))).or_default();
                twins.push(v);
                if twins.len() == 1 {
                    groups_at.entry(place(rest, v)).or_default().push(g);
                }
            }
        }
        let owners = used.into_iter().zip(nearest.into_iter().map(|(_, owners)| owners)).collect();
        Self { geometry, rest, groups, order, radii, owners, complete, twins, groups_at }
    }

    /// The groups, as they are where every vertex is within a radius of one that is kept; but never nothing.
    fn within(&self, radius: f32) -> Vec<Vec<u32>> {
        let least = self.radii.partition_point(|r| *r > radius).max(2);
        let some = (least..=self.order.len()).map(|kept| self.keeping(kept)).find(|g| g.iter().any(|g| !g.is_empty()));
        some.unwrap_or_else(|| self.groups.iter().map(|group| group.to_vec()).collect())
    }

    /// The groups with so many vertices kept.
    fn keeping(&self, kept: usize) -> Vec<Vec<u32>> {
        let owner = |v: u32| {
            let owners = &self.owners[&v];
            owners[owners.partition_point(|&owner| (owner as usize) < kept).max(1) - 1]
        };
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); kept];
        for &v in self.owners.keys() {
            members[owner(v) as usize].push(v);
        }
        let centers: Vec<u32> = (0..kept).map(|c| self.center(self.order[c], &members[c])).collect();
        let becomes = |g: usize, owner: u32, v: u32| self.stand_in(g, centers[owner as usize], v);

        let mut found = BTreeSet::new();
        let mut pairs = BTreeSet::new();
        let mut out = vec![Vec::new(); self.groups.len()];
        // Of what is in two groups of vertices, a corner in each.
        let mut ends: BTreeMap<(usize, u32, u32), u32> = BTreeMap::new();
        for (g, group) in self.groups.iter().enumerate() {
            for triangle in group.chunks_exact(3) {
                let corners = [0, 1, 2].map(|k| owner(triangle[k]));
                let [a, b, c] = corners;
                if a == b || b == c || c == a {
                    if let Some(other) = (1..3).find(|&k| corners[k] != a) {
                        ends.entry((g, a, corners[other])).or_insert(triangle[0]);
                        ends.entry((g, corners[other], a)).or_insert(triangle[other]);
                    }
                    continue;
                }
                let first = (0..3).min_by_key(|&k| corners[k]).unwrap_or(0);
                if found.insert([0, 1, 2].map(|k| corners[(first + k) % 3])) {
                    out[g].extend([0, 1, 2].map(|k| becomes(g, corners[k], triangle[k])));
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
            let aside = |v: &u32| (self.at(*v) - self.at(from)).reject_from(line).length_squared();
            let both = [a, b].into_iter().flat_map(|c| &members[c as usize]).copied();
            let own = both.filter(|v| self.twins.contains_key(&(g, place(self.rest, *v))));
            let widest = own.max_by(|v, w| aside(v).total_cmp(&aside(w)).then(w.cmp(v)));
            if let Some(wide) = widest.filter(|v| aside(v) > 0.0) {
                let wide = self.stand_in(g, wide, near_a);
                out[g].extend([from, to, wide, from, wide, to]);
            }
        }
        out
    }

    /// Where some vertices go: to the one that is kept, or, if they are of several groups, where most of these have one, so
    /// that nothing gapes.
    fn center(&self, kept: u32, members: &[u32]) -> u32 {
        let groups = |v: u32| self.groups_at.get(&place(self.rest, v)).map_or(0, Vec::len);
        let all: BTreeSet<usize> =
            members.iter().filter_map(|&v| self.groups_at.get(&place(self.rest, v))).flatten().copied().collect();
        if groups(kept) == all.len() {
            return kept;
        }
        let off = |v: u32| self.at(v).distance_squared(self.at(kept));
        let better = |&a: &u32, &b: &u32| groups(a).cmp(&groups(b)).then(off(b).total_cmp(&off(a))).then(b.cmp(&a));
        members.iter().copied().max_by(better).unwrap_or(kept)
    }

    fn at(&self, v: u32) -> Vec3 {
        self.rest[v as usize]
    }

    /// What a vertex of a group becomes that goes where another is: of those of its group there, the one whose texture
    /// coordinates are the closest; where its group has none there, it stays.
    fn stand_in(&self, group: usize, there: u32, v: u32) -> u32 {
        let uv = |v: u32| self.geometry.vertices[v as usize].uv;
        let off = |other: &u32| uv(*other).distance_squared(uv(v));
        let twins = self.twins.get(&(group, place(self.rest, there)));
        let closest = twins.into_iter().flatten().min_by(|a, b| off(a).total_cmp(&off(b)).then(a.cmp(b)));
        closest.copied().unwrap_or(v)
    }
}

fn place(rest: &[Vec3], v: u32) -> Place {
    (rest[v as usize] + 0.0).to_array().map(f32::to_bits)
}

/// The greatest squared distance of two vertices in any pose, if it is less than a limit.
fn apart(poses: &Poses, [a, b]: [u32; 2], limit: f32) -> Option<f32> {
    let mut greatest = 0.0_f32;
    for pose in poses {
        greatest = greatest.max(pose[a as usize].distance_squared(pose[b as usize]));
        if greatest >= limit {
            return None;
        }
    }
    Some(greatest)
}
