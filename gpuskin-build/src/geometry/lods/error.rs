//! Distance between the surface of a LOD and the finest LOD, in some poses and in both directions:
//! from vertices of the finest LOD, and from a grid of points of the coarser LOD.
//!
//! All points are measured in all poses. A search ends as soon as its point is closer than the
//! greatest distance known, so that only a few points need a search in other poses than the rest
//! pose.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use glam::Vec3;
use rayon::prelude::*;

use super::poses::LodPoses;
use super::surface::{BoxTree, ClosestPoint, FittedTree, NodeBoxes};
use crate::geometry::Geometry;
use crate::vector_math::{add, scale};

/// Number of measured points. Build scripts run without optimisation.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointSample {
    /// Maximum number of vertices of the finest LOD.
    vertices: usize,
    /// Approximate number of points of the coarser LOD.
    points: usize,
}

/// Sampling for comparing attempts.
pub(super) const QUICK_SAMPLE: PointSample = PointSample { vertices: 1024, points: 1024 };
/// Sampling for comparing attempts at the first coarser LOD.
pub(super) const NEAR_SAMPLE: PointSample = PointSample { vertices: 1 << 14, points: 1 << 12 };
/// Sampling for the stored error of a LOD.
const THOROUGH: PointSample = PointSample { vertices: 1 << 17, points: 1 << 13 };

/// Number of points per unit of parallel work.
const POINTS_AT_ONCE: usize = 64;
/// Maximum number of steps along the edge of a triangle between measured points.
const MAX_STEPS: u8 = 8;

/// Fraction of the error above which a point counts as one that causes the error.
const FAR_RATIO: f32 = 0.6;

/// Maximum distances of a surface, in metres.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LodError {
    /// Maximum over all poses.
    pub(super) all: f32,
    /// Maximum in the rest pose.
    pub(super) at_rest: f32,
}

impl LodError {
    /// Returns what decides between attempts. In the first coarser LOD, the rest pose matters as
    /// much as all poses: the product is small only if both are.
    pub(super) fn cost(&self, near: bool) -> f32 {
        if near { self.all * self.at_rest } else { self.all }
    }
}

/// Measured error of a surface.
pub(super) struct SurfaceError {
    pub(super) error: LodError,
    /// Vertices of the finest LOD at which the distance is nearly the maximum, in all poses or in
    /// the rest pose.
    pub(super) vertices: Vec<u32>,
}

/// Distance of a point from a surface.
#[derive(Clone, Copy, Debug)]
struct PointDistance {
    /// Maximum over the poses, in metres.
    most: f32,
    /// Closest triangle in the rest pose.
    at_rest: ClosestPoint,
}

/// A point of a triangle: its corners, and their shares of the point, which sum to one.
#[derive(Clone, Copy, Debug)]
struct SurfacePoint {
    corners: [u32; 3],
    shares: [f32; 3],
}

impl SurfacePoint {
    fn vertex(v: u32) -> Self {
        Self { corners: [v; 3], shares: [1.0, 0.0, 0.0] }
    }

    fn at(&self, positions: &[Vec3]) -> Vec3 {
        let [a, b, c] = self.corners.map(|v| positions[v as usize]);
        let [s, t, u] = self.shares;
        add(add(scale(a, s), scale(b, t)), scale(c, u))
    }
}

/// Measures errors of LODs of a mesh.
pub(super) struct LodErrorMeter<'a> {
    poses: &'a LodPoses,
    worn: Vec<Vec<usize>>,
    /// Finest LOD of each surface.
    finest: Vec<FinestSurface>,
}

struct FinestSurface {
    surface: PosedSurface,
    vertices: Vec<SurfacePoint>,
}

/// A surface in all poses.
struct PosedSurface {
    tree: BoxTree,
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
            FinestSurface { surface, vertices: vertices.into_iter().map(SurfacePoint::vertex).collect() }
        });
        let finest = finest.collect();
        Self { poses, worn, finest }
    }

    /// Returns the surfaces of the mesh, each as indices of its parts.
    pub(super) fn worn(&self) -> &[Vec<usize>] {
        &self.worn
    }

    /// Returns the parts of the mesh from the parts of its surfaces.
    pub(super) fn of_mesh(&self, surfaces: Vec<Vec<Vec<u32>>>) -> Vec<Vec<u32>> {
        let mut parts: Vec<(usize, Vec<u32>)> =
            self.worn.iter().flatten().copied().zip(surfaces.into_iter().flatten()).collect();
        parts.sort_by_key(|(p, _)| *p);
        parts.into_iter().map(|(_, part)| part).collect()
    }

    /// Returns the error of a LOD from the parts of the mesh.
    pub(super) fn error(&self, parts: &[Vec<u32>]) -> LodError {
        let of = |(i, worn): (usize, &Vec<usize>)| {
            self.of_surface(i, &worn.iter().map(|&p| parts[p].clone()).collect::<Vec<_>>(), THOROUGH).error
        };
        self.worn
            .iter()
            .enumerate()
            .map(of)
            .fold(LodError::default(), |a, b| LodError { all: a.all.max(b.all), at_rest: a.at_rest.max(b.at_rest) })
    }

    /// Returns the error of one surface, from its parts.
    pub(super) fn of_surface(&self, surface: usize, parts: &[Vec<u32>], sample: PointSample) -> SurfaceError {
        let finest = &self.finest[surface];
        let coarse = PosedSurface::new(parts.iter().flatten(), self.poses);
        let triangles = coarse.tree.triangles();
        let each = sample.points as f64 / triangles.len().max(1) as f64;
        let steps = (libm::sqrt(2.0 * each) as u8).clamp(2, MAX_STEPS);
        let between: Vec<SurfacePoint> = triangles.iter().flat_map(|t| between(*t, steps)).collect();
        let away = self.distances(&strided(&finest.vertices, sample.vertices), &coarse);
        let there = self.distances(&strided(&between, sample.points.max(triangles.len())), &finest.surface);
        let all = || away.iter().chain(&there).map(|(_, distance)| distance);
        let error = all().map(|distance| distance.most).fold(0.0, f32::max);
        let at_rest = all().map(|distance| distance.at_rest.distance).fold(0.0, f32::max);
        let far = |distance: &PointDistance| {
            distance.most > error * FAR_RATIO || distance.at_rest.distance > at_rest * FAR_RATIO
        };
        let mut vertices: Vec<u32> = away.iter().filter(|(_, d)| far(d)).map(|(point, _)| point.corners[0]).collect();
        // Where a coarse triangle is far off, the corners of the closest triangle are missing.
        let finest = finest.surface.tree.triangles();
        let missing = there.iter().filter(|(_, d)| far(d)).flat_map(|(_, d)| finest[d.at_rest.triangle as usize]);
        vertices.extend(missing);
        SurfaceError { error: LodError { all: error, at_rest }, vertices }
    }

    /// Returns the distances of points from a surface. Distances below [`FAR_RATIO`] of the greatest
    /// one affect neither the error nor the list of vertices, and may be too great.
    fn distances(&self, points: &[SurfacePoint], surface: &PosedSurface) -> Vec<(SurfacePoint, PointDistance)> {
        let at_rest = surface.at(self.poses, 0);
        // Distances of some points: those of others matter only if they are not far smaller.
        let some = points.iter().step_by(POINTS_AT_ONCE).fold((0.0_f32, 0), |(most, near), point| {
            let found = at_rest.closest(point.at(&self.poses[0]), near, most * FAR_RATIO);
            (most.max(found.distance), found.triangle)
        });
        // The closest triangle of one point is probably close to the next point.
        let in_turn = |points: &'_ [SurfacePoint]| {
            let (mut near, mut most) = (0, some.0);
            let mut next = |point: &SurfacePoint| {
                let found = at_rest.closest(point.at(&self.poses[0]), near, most * FAR_RATIO);
                near = found.triangle;
                most = most.max(found.distance);
                (*point, PointDistance { most: found.distance, at_rest: found })
            };
            points.iter().map(&mut next).collect::<Vec<_>>()
        };
        let mut found: Vec<(SurfacePoint, PointDistance)> =
            points.par_chunks(POINTS_AT_ONCE).flat_map_iter(in_turn).collect();
        // Greatest distance so far, as the bits of a float: those of positive floats are in the order
        // of the floats. It is shared by all threads. When it grows affects only distances that do
        // not matter, so the result is the same with any number of threads.
        let greatest = AtomicU32::new(found.iter().fold(0.0, |most: f32, (_, found)| most.max(found.most)).to_bits());
        // The triangle that is closest in the rest pose is nearly always close enough in others.
        let moving = |found: &mut [(SurfacePoint, PointDistance)]| {
            for pose in 1..self.poses.len() {
                let (there, positions) = (surface.at(self.poses, pose), &self.poses[pose]);
                let (matters, mut most_here) = (f32::from_bits(greatest.load(Relaxed)) * FAR_RATIO, 0.0_f32);
                for (point, found) in found.iter_mut() {
                    let distance = there.closest(point.at(positions), found.at_rest.triangle, matters).distance;
                    found.most = found.most.max(distance);
                    most_here = most_here.max(distance);
                }
                greatest.fetch_max(most_here.to_bits(), Relaxed);
            }
        };
        found.par_chunks_mut(POINTS_AT_ONCE).for_each(moving);
        found
    }
}

/// Returns at most `most` points, evenly spaced.
fn strided(points: &[SurfacePoint], most: usize) -> Vec<SurfacePoint> {
    let count = points.len().min(most);
    (0..count).map(move |i| points[i * points.len() / count]).collect()
}

/// Returns points of a triangle in a grid, without the corners, and its centre.
fn between(corners: [u32; 3], steps: u8) -> impl Iterator<Item = SurfacePoint> {
    let third = 1.0 / 3.0;
    let part = move |n: u8| f32::from(n) / f32::from(steps);
    let grid = (0..steps).flat_map(move |i| (0..=steps - i).map(move |j| [part(i), part(j), part(steps - i - j)]));
    let inner = grid.filter(|shares| shares.iter().all(|share| *share < 1.0));
    inner.chain(std::iter::once([third; 3])).map(move |shares| SurfacePoint { corners, shares })
}
