//! How far a level's surface is from the finest one's, in every pose that is looked at and both ways: vertices of the finest from
//! the level, middles of the level's triangles and points of their edges from the finest.
//!
//! At rest all points are looked at, as far as they are not too many; in the other poses those that are farthest off at rest,
//! and some others.

use std::collections::BTreeSet;

use glam::Vec3;
use rayon::prelude::*;

use super::Poses;
use super::surface::{Fitted, Tree};
use crate::geometry::Geometry;

/// Points that are looked at. Build scripts do this unoptimised.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// In the rest pose.
    at_rest: usize,
    /// Of these, those that are looked at in every pose: the farthest, and others.
    farthest: usize,
    others: usize,
}

/// To tell attempts from each other.
pub(super) const QUICK: Sample = Sample { at_rest: 768, farthest: 32, others: 16 };
/// For the number that a level is chosen by.
const THOROUGH: Sample = Sample { at_rest: 2560, farthest: 64, others: 64 };

/// What is farther off than this share of the error is what makes it.
const FAR: f32 = 0.6;

/// What is found of a surface.
pub(super) struct Found {
    /// Metres.
    pub(super) error: f32,
    /// Vertices of the finest that are about as far off.
    pub(super) vertices: Vec<u32>,
}

/// A point of a surface: the sum of these vertices' places over their number.
type Point = [u32; 3];

/// Finds errors of levels of a mesh.
pub(super) struct Measure<'a> {
    poses: &'a Poses,
    worn: Vec<Vec<usize>>,
    /// Of each surface: what the finest level has.
    finest: Vec<(Tree, Vec<Point>)>,
}

impl<'a> Measure<'a> {
    pub(super) fn new(geometry: &Geometry, poses: &'a Poses, worn: Vec<Vec<usize>>) -> Self {
        let finest = worn.iter().map(|parts| {
            let indices = parts.iter().flat_map(|&p| {
                let part = &geometry.parts[p];
                &geometry.indices[part.first_index as usize..][..part.index_count as usize]
            });
            let tree = tree(indices, &poses[0]);
            let mut vertices: Vec<u32> = tree.triangles().iter().flatten().copied().collect();
            vertices.sort_unstable();
            vertices.dedup();
            (tree, vertices.into_iter().map(|v| [v; 3]).collect())
        });
        let finest = finest.collect();
        Self { poses, worn, finest }
    }

    /// The surfaces of a mesh, each by its parts.
    pub(super) fn worn(&self) -> &[Vec<usize>] {
        &self.worn
    }

    /// The parts of the mesh, from those of its surfaces.
    pub(super) fn of_mesh(&self, surfaces: Vec<Vec<Vec<u32>>>) -> Vec<Vec<u32>> {
        let mut parts: Vec<(usize, Vec<u32>)> =
            self.worn.iter().flatten().copied().zip(surfaces.into_iter().flatten()).collect();
        parts.sort_by_key(|(p, _)| *p);
        parts.into_iter().map(|(_, part)| part).collect()
    }

    /// The error of a level, metres; by the parts of the mesh.
    pub(super) fn error(&self, parts: &[Vec<u32>]) -> f32 {
        let of = |(i, worn): (usize, &Vec<usize>)| {
            self.of_surface(i, &worn.iter().map(|&p| parts[p].clone()).collect::<Vec<_>>(), THOROUGH).error
        };
        self.worn.iter().enumerate().map(of).fold(0.0, f32::max)
    }

    /// That of one of its surfaces, by the parts of that.
    pub(super) fn of_surface(&self, surface: usize, parts: &[Vec<u32>], sample: Sample) -> Found {
        let (finest, vertices) = &self.finest[surface];
        let coarse = tree(parts.iter().flatten(), &self.poses[0]);
        // The middle of a triangle, and a third of each edge.
        let middles = coarse.triangles().iter().flat_map(|&[a, b, c]| [[a, b, c], [a, a, b], [b, b, c], [c, c, a]]);
        let away = self.distances(vertices, &coarse, sample);
        let there = self.distances(&middles.collect::<Vec<_>>(), finest, sample);
        let error = away.iter().chain(&there).map(|(_, distance)| *distance).fold(0.0, f32::max);
        let far = away.into_iter().filter(|(_, distance)| *distance > error * FAR);
        Found { error, vertices: far.map(|(point, _)| point[0]).collect() }
    }

    /// The distances of points from a surface, of each the greatest that is found.
    fn distances(&self, points: &[Point], tree: &Tree, sample: Sample) -> Vec<(Point, f32)> {
        let at_rest = tree.fit(&self.poses[0]);
        let points: Vec<Point> = strided(points, sample.at_rest).collect();
        let mut found: Vec<(Point, f32)> =
            points.par_iter().map(|point| (*point, distance(&at_rest, point, &self.poses[0]))).collect();
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|&a, &b| found[b].1.total_cmp(&found[a].1).then(a.cmp(&b)));
        let others = points.len().min(sample.others);
        let some: BTreeSet<usize> =
            order.into_iter().take(sample.farthest).chain((0..others).map(|i| i * points.len() / others)).collect();
        let in_pose = |positions: &Vec<Vec3>| {
            let fitted = tree.fit(positions);
            some.iter().map(|&i| distance(&fitted, &points[i], positions)).collect()
        };
        let moving: Vec<Vec<f32>> = self.poses[1..].par_iter().map(in_pose).collect();
        for distances in moving {
            some.iter().zip(distances).for_each(|(&i, distance)| found[i].1 = found[i].1.max(distance));
        }
        found
    }
}

fn tree<'a>(indices: impl Iterator<Item = &'a u32>, positions: &[Vec3]) -> Tree {
    let indices: Vec<u32> = indices.copied().collect();
    Tree::new(indices.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect(), positions)
}

/// At most so many of them, evenly.
fn strided(points: &[Point], most: usize) -> impl Iterator<Item = Point> + '_ {
    let count = points.len().min(most);
    (0..count).map(move |i| points[i * points.len() / count])
}

fn distance(surface: &Fitted<'_>, point: &Point, positions: &[Vec3]) -> f32 {
    surface.distance(point.map(|v| positions[v as usize]).iter().sum::<Vec3>() / 3.0)
}
