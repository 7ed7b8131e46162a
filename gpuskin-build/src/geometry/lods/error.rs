//! Distance between the surface of a LOD and the finest LOD, in some poses and in both directions:
//! from vertices of the finest LOD, and from triangle centres and edge points of the coarser LOD.
//!
//! In the rest pose, and in poses that show what the rest pose hides, all points up to a maximum number
//! are measured; in the other poses, those with the greatest distance there, and some others.

use std::collections::BTreeSet;

use glam::Vec3;
use rayon::prelude::*;

use super::layers::Layers;
use super::poses::LodPoses;
use super::surface::{BoxTree, ClosestPoint, FittedTree, NodeBoxes};
use crate::geometry::Geometry;
use crate::vector_math::{add, scale};

/// Number of measured points. Build scripts run without optimisation.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointSample {
    /// Maximum number of points in the rest pose.
    at_rest: usize,
    /// Number of these points that are measured in every pose: those with the greatest distance,
    /// and others.
    farthest: usize,
    others: usize,
}

/// Sampling for comparing attempts.
pub(super) const QUICK_SAMPLE: PointSample = PointSample { at_rest: 768, farthest: 32, others: 16 };
/// Sampling for the stored error of a LOD.
pub(super) const THOROUGH: PointSample = PointSample { at_rest: 2560, farthest: 64, others: 64 };
/// Sampling for the stored error of a LOD whose vertices moved: distances differ less from each other, so that those which are
/// greatest in the rest pose need not be greatest in others.
pub(super) const EVEN: PointSample = PointSample { at_rest: 4096, farthest: 256, others: 256 };

/// All points in all poses.
#[cfg(test)]
pub(super) const EVERYTHING: PointSample = PointSample { at_rest: usize::MAX, farthest: usize::MAX, others: 0 };

/// Number of points per unit of parallel work.
const POINTS_AT_ONCE: usize = 64;

/// Maximum number of poses, besides the rest pose, in which all points are measured.
const MAX_REVEALING: usize = 4;
/// Ratio of a triangle's size in the rest pose to its greatest size, below which the rest pose hides the triangle.
const HIDDEN_RATIO: f32 = 0.05;
/// Ratio of a triangle's size in a pose to its greatest size, above which the pose shows the triangle.
const SHOWN_RATIO: f32 = 0.25;

/// Fraction of the error above which a point counts as one that causes the error.
const FAR_RATIO: f32 = 0.6;

/// Measured error of a surface.
pub(super) struct SurfaceError {
    /// Maximum distance, in metres.
    pub(super) error: f32,
    /// Vertices of the finest LOD with nearly the maximum distance.
    pub(super) vertices: Vec<u32>,
}

/// A point of a surface: the mean of three vertex positions.
pub(super) type SurfacePoint = [u32; 3];

/// Measures errors of LODs of a mesh.
pub(super) struct LodErrorMeter<'a> {
    /// Positions of the vertices of the mesh. `[pose][vertex]`
    pub(super) poses: &'a LodPoses,
    worn: Vec<Vec<usize>>,
    /// Finest LOD of each surface.
    finest: Vec<FinestSurface>,
    /// Poses that show triangles which the rest pose hides, such as those of a bone with a scale of nearly zero.
    pub(super) revealing: Vec<usize>,
}

/// Finest LOD of a surface.
pub(super) struct FinestSurface {
    pub(super) surface: PosedSurface,
    pub(super) vertices: Vec<SurfacePoint>,
    pub(super) layers: Layers,
}

/// A surface in all poses.
pub(super) struct PosedSurface {
    pub(super) tree: BoxTree,
    /// Bounding boxes of the tree. `[pose]`
    boxes: Vec<NodeBoxes>,
}

impl PosedSurface {
    fn new<'a>(indices: impl Iterator<Item = &'a u32>, poses: &LodPoses) -> Self {
        let indices: Vec<u32> = indices.copied().collect();
        let tree = BoxTree::new(indices.as_chunks::<3>().0.iter().map(|t| [t[0], t[1], t[2]]).collect(), &poses[0]);
        let boxes = poses.par_iter().map(|positions| tree.boxes(positions)).collect();
        Self { tree, boxes }
    }

    pub(super) fn at<'a>(&'a self, poses: &'a LodPoses, pose: usize) -> FittedTree<'a> {
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
            let layers = Layers::new(&surface.tree, &poses[0]);
            FinestSurface { surface, vertices: vertices.into_iter().map(|v| [v; 3]).collect(), layers }
        });
        let finest: Vec<FinestSurface> = finest.collect();
        let revealing = revealing(&finest, poses);
        Self { poses, worn, finest, revealing }
    }

    /// Returns the surfaces of the mesh, each as indices of its parts.
    pub(super) fn worn(&self) -> &[Vec<usize>] {
        &self.worn
    }

    /// Returns the finest LOD of a surface.
    pub(super) fn finest(&self, surface: usize) -> &FinestSurface {
        &self.finest[surface]
    }

    /// Returns the parts of the mesh from the parts of its surfaces.
    pub(super) fn of_mesh(&self, surfaces: Vec<Vec<Vec<u32>>>) -> Vec<Vec<u32>> {
        let mut parts: Vec<(usize, Vec<u32>)> =
            self.worn.iter().flatten().copied().zip(surfaces.into_iter().flatten()).collect();
        parts.sort_by_key(|(p, _)| *p);
        parts.into_iter().map(|(_, part)| part).collect()
    }

    /// Returns the error of a LOD, in metres, from the parts of the mesh.
    pub(super) fn error(&self, parts: &[Vec<u32>]) -> f32 {
        self.error_of_sample(parts, THOROUGH)
    }

    /// Returns the error of a LOD at some points.
    pub(super) fn error_of_sample(&self, parts: &[Vec<u32>], sample: PointSample) -> f32 {
        let of = |(i, worn): (usize, &Vec<usize>)| {
            self.of_surface(i, &worn.iter().map(|&p| parts[p].clone()).collect::<Vec<_>>(), sample).error
        };
        self.worn.iter().enumerate().map(of).fold(0.0, f32::max)
    }

    /// Returns the error of a LOD with vertices of its own, in metres. `parts`: indices of each part, into `positions`, which are
    /// their positions in the same poses.
    pub(super) fn error_of_vertices(&self, parts: &[Vec<u32>], positions: &LodPoses, sample: PointSample) -> f32 {
        let mut most = 0.0_f32;
        for (finest, worn) in self.finest.iter().zip(&self.worn) {
            let coarse = PosedSurface::new(worn.iter().flat_map(|&p| &parts[p]), positions);
            // Vertices that moved may be off, too.
            let points = points_of(&coarse.tree);
            let away = self.distances((&finest.vertices, self.poses), (&coarse, positions), sample);
            let there = self.distances((&points, positions), (&finest.surface, self.poses), sample);
            most = away.iter().chain(&there).fold(most, |most, (_, distance)| most.max(*distance));
        }
        most
    }

    /// Returns the error of one surface, from its parts.
    pub(super) fn of_surface(&self, surface: usize, parts: &[Vec<u32>], sample: PointSample) -> SurfaceError {
        let finest = &self.finest[surface];
        let coarse = PosedSurface::new(parts.iter().flatten(), self.poses);
        let away = self.distances((&finest.vertices, self.poses), (&coarse, self.poses), sample);
        let there = self.distances((&middles(&coarse.tree), self.poses), (&finest.surface, self.poses), sample);
        let error = away.iter().chain(&there).map(|(_, distance)| *distance).fold(0.0, f32::max);
        let far = away.into_iter().filter(|(_, distance)| *distance > error * FAR_RATIO);
        SurfaceError { error, vertices: far.map(|(point, _)| point[0]).collect() }
    }

    /// Returns the distances of points from a surface, each the greatest over the measured poses. Points and surface come with the
    /// positions of their vertices.
    fn distances(
        &self,
        (points, of_points): (&[SurfacePoint], &LodPoses),
        (surface, of_surface): (&PosedSurface, &LodPoses),
        sample: PointSample,
    ) -> Vec<(SurfacePoint, f32)> {
        let points: Vec<SurfacePoint> = strided(points, sample.at_rest).collect();
        let closest_in = |pose: usize| -> Vec<ClosestPoint> {
            let there = surface.at(of_surface, pose);
            // The closest triangle of one point is probably close to the next point.
            let in_turn = |points: &'_ [SurfacePoint]| {
                let mut near = 0;
                let mut next = |point| {
                    let found = there.closest(middle(point, &of_points[pose]), near, 0.0);
                    near = found.triangle;
                    found
                };
                points.iter().map(&mut next).collect::<Vec<_>>()
            };
            points.par_chunks(POINTS_AT_ONCE).flat_map_iter(in_turn).collect()
        };
        let mut closest = closest_in(0);
        for &pose in &self.revealing {
            let farther = |(known, found): (&mut ClosestPoint, ClosestPoint)| {
                if found.distance > known.distance {
                    *known = found;
                }
            };
            closest.iter_mut().zip(closest_in(pose)).for_each(farther);
        }
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|&a, &b| closest[b].distance.total_cmp(&closest[a].distance).then(a.cmp(&b)));
        let others = points.len().min(sample.others);
        let some: BTreeSet<usize> =
            order.into_iter().take(sample.farthest).chain((0..others).map(|i| i * points.len() / others)).collect();
        // Distances below this affect neither the error nor the list of vertices.
        let matters = closest.iter().fold(0.0, |most: f32, found| most.max(found.distance)) * FAR_RATIO;
        let in_pose = |pose: usize| {
            let there = surface.at(of_surface, pose);
            let distance = |&i: &usize| {
                there.closest_around(middle(&points[i], &of_points[pose]), closest[i].triangle, matters).distance
            };
            some.iter().map(distance).collect()
        };
        let moving: Vec<Vec<f32>> = (1..self.poses.len()).into_par_iter().map(in_pose).collect();
        let mut found: Vec<(SurfacePoint, f32)> =
            points.iter().copied().zip(closest.iter().map(|c| c.distance)).collect();
        for distances in moving {
            some.iter().zip(distances).for_each(|(&i, distance)| found[i].1 = found[i].1.max(distance));
        }
        found
    }
}

/// Returns poses that show the triangles which the rest pose hides, those that show most of them first. Most models have
/// none.
fn revealing(finest: &[FinestSurface], poses: &LodPoses) -> Vec<usize> {
    let size = |triangle: &[u32; 3], pose: usize| {
        let [a, b, c] = triangle.map(|v| poses[pose][v as usize]);
        a.distance_squared(b).max(b.distance_squared(c)).max(c.distance_squared(a))
    };
    let greatest = |t: &[u32; 3]| (0..poses.len()).map(|pose| size(t, pose)).fold(0.0, f32::max);
    let triangles = finest.iter().flat_map(|finest| finest.surface.tree.triangles());
    let hidden =
        triangles.map(|t| (t, greatest(t))).filter(|(t, most)| size(t, 0) < most * HIDDEN_RATIO * HIDDEN_RATIO);
    let mut hidden: Vec<(&[u32; 3], f32)> = hidden.collect();
    let mut found = Vec::new();
    while !hidden.is_empty() && found.len() < MAX_REVEALING {
        let shows = |pose: usize, (t, most): &(&[u32; 3], f32)| size(t, pose) > most * SHOWN_RATIO * SHOWN_RATIO;
        let count = |pose: &usize| hidden.iter().filter(|triangle| shows(*pose, triangle)).count();
        let Some(best) = (1..poses.len()).rev().max_by_key(count) else { break };
        hidden.retain(|triangle| !shows(best, triangle));
        found.push(best);
    }
    found
}

/// Returns the centre of each triangle, and a point on each edge.
fn middles(tree: &BoxTree) -> Vec<SurfacePoint> {
    tree.triangles().iter().flat_map(|&[a, b, c]| [[a, b, c], [a, a, b], [b, b, c], [c, c, a]]).collect()
}

/// Returns the centre of each triangle, a point on each edge, and each corner.
pub(super) fn points_of(tree: &BoxTree) -> Vec<SurfacePoint> {
    let corners: BTreeSet<u32> = tree.triangles().iter().flatten().copied().collect();
    middles(tree).into_iter().chain(corners.into_iter().map(|vertex| [vertex; 3])).collect()
}

/// Returns at most `most` points, evenly spaced.
pub(super) fn strided(points: &[SurfacePoint], most: usize) -> impl Iterator<Item = SurfacePoint> + '_ {
    let count = points.len().min(most);
    (0..count).map(move |i| points[i * points.len() / count])
}

/// Returns the position of a point in a pose.
pub(super) fn middle(point: &SurfacePoint, positions: &[Vec3]) -> Vec3 {
    let [a, b, c] = *point;
    scale(add(add(positions[a as usize], positions[b as usize]), positions[c as usize]), 1.0 / 3.0)
}
