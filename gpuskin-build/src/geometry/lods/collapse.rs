//! Simplification by half-edge collapses in the order of their greatest distance: a vertex moves to a
//! neighbour if afterwards no vertex of the finest LOD, and no point of the changed triangles, is
//! farther from the other surface than a limit, in any pose. The limit grows until enough triangles
//! are gone. Pieces that are close to others vanish whole, at the limit that they need.
//!
//! `meshopt` minimises a sum of squared distances, so single points can be far off. LODs are selected
//! by their greatest distance.

mod pieces;
mod star;
mod state;

use std::cmp::Reverse;

use glam::Vec3;

use super::error::middle;
use super::surface::closest;
use crate::vector_math::distance_squared;
use star::Star;
use state::NONE;
pub(super) use state::{HalfEdgeCollapse, SeamRule};

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

/// Result of an attempt to collapse an edge.
#[derive(Debug, PartialEq)]
enum Attempt {
    Allowed,
    /// Needs at least this limit, in metres.
    TooFar(f32),
    Impossible,
}

/// A simplified surface.
pub(super) struct Collapsed {
    /// Limit that was needed, in metres.
    pub(super) limit: f32,
    /// Groups of triangles.
    pub(super) groups: Vec<Vec<u32>>,
    /// Whether pieces vanished.
    pub(super) lost_pieces: bool,
}

impl HalfEdgeCollapse<'_> {
    /// Removes vertices until at most `triangles` triangles are left. Returns `None` if the limit would exceed `most`, or the work
    /// its maximum.
    pub(super) fn simplify(mut self, triangles: usize, most: f32) -> Option<Collapsed> {
        let mut left = self.removed.iter().filter(|removed| !**removed).count();
        let most_tests = MAX_TESTS * left;
        let mut edges = self.edges().into_iter().peekable();
        let mut limit = LEAST_LIMIT * self.side;
        let mut star = Star::default();
        let mut lost_pieces = false;
        while left > triangles {
            // The edges of the start come in order: a queue of all of them would be slow.
            let start = match (edges.peek(), self.queue.peek()) {
                (Some(edge), Some(Reverse(next))) => edge < next,
                (edge, _) => edge.is_some(),
            };
            let [key, v, u] = if start { edges.next() } else { self.queue.pop().map(|Reverse(next)| next) }?;
            limit = limit.max(f32::from_bits(key));
            if limit > most * self.rest_weight || self.tests > most_tests {
                return None;
            }
            let whole = u == NONE;
            let attempt = match whole {
                true => self.attempt_piece(v, limit * SLACK),
                false => self.attempt(v, u, limit * SLACK, &mut star),
            };
            match attempt {
                Attempt::Allowed if whole => {
                    left -= self.remove_piece(v);
                    lost_pieces = true;
                }
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
        Some(Collapsed { limit, groups, lost_pieces })
    }

    /// Returns the edges in both directions, as entries of the queue in order.
    fn edges(&self) -> Vec<[u32; 3]> {
        let mut edges = Vec::new();
        let mut neighbours = Vec::new();
        for (place, around) in (0..).zip(&self.around) {
            neighbours.clear();
            neighbours.extend(around.iter().flat_map(|&t| self.places_of(t)).filter(|&p| p != place));
            neighbours.sort_unstable();
            neighbours.dedup();
            edges.extend(neighbours.iter().map(|&u| [0, place, u]));
        }
        edges
    }

    /// Tries to move place `v` to place `u`.
    fn attempt(&mut self, v: u32, u: u32, limit: f32, star: &mut Star) -> Attempt {
        if !self.find_star(v, u, star) {
            return Attempt::Impossible;
        }
        // The removed vertex is likely to be farthest off, in the pose in which it was before.
        let last = self.worst[v as usize] as usize;
        let mut near = 0;
        for i in 0..self.poses.len() {
            let pose = if last + i < self.poses.len() { last + i } else { last + i - self.poses.len() };
            let weight = self.weight(pose);
            let off = self.distance(v, pose, &star.after, &mut near, limit / weight) * weight;
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
        let mut poses = 0..self.poses.len();
        let failed = match self.stride {
            1 => poses.find_map(|pose| {
                self.attempt_samples(pose, limit, star).or_else(|| self.attempt_points(pose, limit, star))
            }),
            // Samples of large surfaces are more often too far off than points, and cost less than searches.
            stride => poses
                .clone()
                .find_map(|pose| self.attempt_samples(pose, limit, star))
                .or_else(|| poses.step_by(stride).find_map(|pose| self.attempt_points(pose, limit, star))),
        };
        failed.unwrap_or(Attempt::Allowed)
    }

    /// Weight of distances in a pose.
    fn weight(&self, pose: usize) -> f32 {
        if pose == 0 { self.rest_weight } else { 1.0 }
    }

    /// Returns why the samples of a collapse prevent it in a pose.
    fn attempt_samples(&mut self, pose: usize, limit: f32, star: &mut Star) -> Option<Attempt> {
        let enough = limit / self.weight(pose);
        for (sample, near) in &mut star.samples {
            let off = self.distance(*sample, pose, &star.after, near, enough);
            if off > enough || off.is_nan() {
                return Some(Attempt::TooFar(off * self.weight(pose)));
            }
        }
        None
    }

    /// Returns why the changed triangles of a collapse prevent it in a pose.
    fn attempt_points(&mut self, pose: usize, limit: f32, star: &mut Star) -> Option<Attempt> {
        if pose > 0 && self.turns(pose, star) {
            return Some(Attempt::Impossible);
        }
        let enough = limit / self.weight(pose);
        let finest = self.finest.surface.at(self.poses, pose);
        for (point, near) in &mut star.points {
            self.tests += 4;
            let found = finest.closest_around(middle(point, &self.poses[pose]), *near, enough);
            *near = found.triangle;
            if found.distance > enough || found.distance.is_nan() {
                return Some(Attempt::TooFar(found.distance * self.weight(pose)));
            }
        }
        None
    }

    /// Returns the distance of a slot from triangles between places in a pose, or from the first one
    /// within `enough`, in metres. `near` is the index of the first triangle to test, and becomes that
    /// of the closest.
    fn distance(&mut self, slot: u32, pose: usize, triangles: &[[u32; 3]], near: &mut usize, enough: f32) -> f32 {
        let p = self.at(pose, slot);
        let first = *near;
        let mut best = f32::INFINITY;
        for i in 0..triangles.len() {
            let i = if i == 0 { first } else { i - usize::from(i <= first) };
            let [a, b, c] = triangles[i];
            let [a, b, c] = [self.at(pose, a), self.at(pose, b), self.at(pose, c)];
            self.tests += 1;
            let squared = distance_squared(closest(p, a, b, c), p);
            if squared < best {
                (best, *near) = (squared, i);
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
        let posed: Vec<[Vec3; 3]> = star.after.iter().map(|t| t.map(|place| self.at(0, place))).collect();
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
