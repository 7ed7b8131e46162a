//! How far a level's surface is from the finest one's, in every pose that is looked at and both ways: vertices of the finest from
//! the level, middles of the level's triangles and points of their edges from the finest.
//!
//! At rest all points are looked at, as far as they are not too many; in the other poses those that are farthest off at rest,
//! and some others.

use std::collections::BTreeSet;

use glam::Vec3;
use rayon::prelude::*;

use super::LodPoses;
use super::surface::{NodeBoxes, ClosestPoint, FittedTree, BoxTree};
use crate::geometry::Geometry;
use crate::vector_math::{add, scale};

/// Points that are looked at. Build scripts do this unoptimised.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointSample {
    /// In the rest pose.
    at_rest: usize,
    /// Of these, those that are looked at in every pose: the farthest, and others.
    farthest: usize,
    others: usize,
}

/// To tell attempts from each other.
pub(super) const QUICK: PointSample = PointSample { at_rest: 768, farthest: 32, others: 16 };
/// For the number that a level is chosen by.
const THOROUGH: PointSample = PointSample { at_rest: 2560, farthest: 64, others: 64 };

/// Points that one thread looks at in turn.
const POINTS_AT_ONCE: usize = 64;

/// What is farther off than this share of the error is what makes it.
const FAR: f32 = 0.6;

/// What is found of a surface.
pub(super) struct SurfaceError {
    /// Metres.
    pub(super) error: f32,
    /// Vertices of the finest that are about as far off.
    pub(super) vertices: Vec<u32>,
}

/// A point of a surface: the sum of these vertices' places over their number.
type SurfacePoint = [u32; 3];

/// Finds errors of levels of a mesh.
pub(super) struct LodErrorMeter<'a> {
    poses: &'a LodPoses,
    worn: Vec<Vec<usize>>,
    /// Of each surface: what the finest level has.
    finest: Vec<Finest>,
}

struct Finest {
    surface: PosedSurface,
    vertices: Vec<SurfacePoint>,
}

/// A surface in all poses.
struct PosedSurface {
    tree: BoxTree,
    /// Of each pose.
    boxes: Vec<NodeBoxes>,
}

impl PosedSurface {
    fn new<'a>(indices: impl Iterator<Item = &'a u32>, poses: &LodPoses) -> Self {
        let indices: Vec<u32> = indices.copied().collect();
        let tree = BoxTree::new(indices.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect(), &poses[0]);
        let boxes = poses.par_iter().map(|positions| tree.boxes(positions)).collect();
        Self { tree, boxes }
    }

    fn at<'a>(&'a self, poses: &'a LodPoses, pose: usize) -> FittedTree<'a> {
        FittedTree { tree: &self.tree, positions: &poses[pose], boxes: &self.boxes[pose] }
    }
}

impl<'a> LodErrorMeter<'a> {
    pub(super) fn new(geometry: &Geometry, poses: &'a LodPoses, worn: Vec<Vec<usize>>) -> Self {
        let finest = worn.iter().map(|parts| {
            let indices = parts.iter().flat_map(|&p| {
                let part = &geometry.parts[p];
                &geometry.indices[part.first_index as usize..][..part.index_count as usize]
            });
            let surface = PosedSurface::new(indices, poses);
            let mut vertices: Vec<u32> = surface.tree.triangles().iter().flatten().copied().collect();
            vertices.sort_unstable();
            vertices.dedup();
            Finest { surface, vertices: vertices.into_iter().map(|v| [v; 3]).collect() }
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
    pub(super) fn of_surface(&self, surface: usize, parts: &[Vec<u32>], sample: PointSample) -> SurfaceError {
        let finest = &self.finest[surface];
        let coarse = PosedSurface::new(parts.iter().flatten(), self.poses);
        // The middle of a triangle, and a third of each edge.
        let middles =
            coarse.tree.triangles().iter().flat_map(|&[a, b, c]| [[a, b, c], [a, a, b], [b, b, c], [c, c, a]]);
        let away = self.distances(&finest.vertices, &coarse, sample);
        let there = self.distances(&middles.collect::<Vec<_>>(), &finest.surface, sample);
        let error = away.iter().chain(&there).map(|(_, distance)| *distance).fold(0.0, f32::max);
        let far = away.into_iter().filter(|(_, distance)| *distance > error * FAR);
        SurfaceError { error, vertices: far.map(|(point, _)| point[0]).collect() }
    }

    /// The distances of points from a surface, of each the greatest that is found.
    fn distances(&self, points: &[SurfacePoint], surface: &PosedSurface, sample: PointSample) -> Vec<(SurfacePoint, f32)> {
        let at_rest = surface.at(self.poses, 0);
        let points: Vec<SurfacePoint> = strided(points, sample.at_rest).collect();
        // What is close to one point is not far from the next.
        let in_turn = |points: &'_ [SurfacePoint]| {
            let mut near = 0;
            let mut next = |point| {
                let found = at_rest.closest(middle(point, &self.poses[0]), near, 0.0);
                near = found.triangle;
                found
            };
            points.iter().map(&mut next).collect::<Vec<_>>()
        };
        let closest: Vec<ClosestPoint> = points.par_chunks(POINTS_AT_ONCE).flat_map_iter(in_turn).collect();
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|&a, &b| closest[b].distance.total_cmp(&closest[a].distance).then(a.cmp(&b)));
        let others = points.len().min(sample.others);
        let some: BTreeSet<usize> =
            order.into_iter().take(sample.farthest).chain((0..others).map(|i| i * points.len() / others)).collect();
        // Neither the error nor what is far depends on what is closer than this.
        let matters = closest.iter().fold(0.0, |most: f32, found| most.max(found.distance)) * FAR;
        let in_pose = |pose: usize| {
            let there = surface.at(self.poses, pose);
            let distance = |&i: &usize| {
                there.closest(middle(&points[i], &self.poses[pose]), closest[i].triangle, matters).distance
            };
            some.iter().map(distance).collect()
        };
        let moving: Vec<Vec<f32>> = (1..self.poses.len()).into_par_iter().map(in_pose).collect();
        let mut found: Vec<(SurfacePoint, f32)> = points.iter().copied().zip(closest.iter().map(|c| c.distance)).collect();
        for distances in moving {
            some.iter().zip(distances).for_each(|(&i, distance)| found[i].1 = found[i].1.max(distance));
        }
        found
    }
}

/// At most so many of them, evenly.
fn strided(points: &[SurfacePoint], most: usize) -> impl Iterator<Item = SurfacePoint> + '_ {
    let count = points.len().min(most);
    (0..count).map(move |i| points[i * points.len() / count])
}

fn middle(point: &SurfacePoint, positions: &[Vec3]) -> Vec3 {
    let [a, b, c] = *point;
    scale(add(add(positions[a as usize], positions[b as usize]), positions[c as usize]), 1.0 / 3.0)
}
