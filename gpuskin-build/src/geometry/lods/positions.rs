//! Positions of coarser LODs. Collapses of edges leave vertices where they were, so that triangles between them cut off what is round,
//! and what stuck out is gone. Vertices of small LODs move to where both surfaces are closest to each other, in several poses:
//! weighted least squares, whose weights grow with the distance, so that the greatest distance becomes smaller.

mod least_squares;
mod places;

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::error::{EVEN, FinestSurface, LodErrorMeter, SurfacePoint, THOROUGH, middle, strided};
use super::poses::{BonePoses, LodPoses};
use super::surface::{BoxTree, ClosestPoint, FittedTree, barycentric, closest};
use super::vertices::LevelVertices;
use crate::geometry::Geometry;
use least_squares::{Residual, moves};
use places::PlacedVertices;

/// Number of times that vertices move, and that their error is measured.
const ROUNDS: usize = 8;
/// Number of poses that a round looks at, of which the rest pose is one.
const POSES_PER_ROUND: usize = 4;
/// Maximum number of points of each of both surfaces whose distances are measured in the rest pose.
const AT_REST: usize = 1 << 11;
/// Number of these points at which a round measures distances: those with the greatest, and others.
const FARTHEST: usize = 1 << 8;
const OTHERS: usize = 1 << 8;
/// Part of the way to the solution of a round that vertices move.
const STEP: f64 = 0.6;

/// Moves vertices of coarser LODs.
pub(super) struct PositionFit<'a> {
    bones: &'a BonePoses,
    /// Positions of the vertices of the mesh. `[pose][vertex]`
    poses: &'a LodPoses,
    measure: &'a LodErrorMeter<'a>,
    /// Least and greatest coordinates of the vertices of the mesh, between which coordinates can be stored.
    range: [Vec3; 2],
}

impl<'a> PositionFit<'a> {
    /// `measure` has the same `poses`.
    pub(super) fn new(
        geometry: &Geometry,
        bones: &'a BonePoses,
        poses: &'a LodPoses,
        measure: &'a LodErrorMeter<'a>,
    ) -> Self {
        let all = || geometry.vertices.iter().map(|vertex| vertex.position);
        let range = [all().fold(Vec3::INFINITY, Vec3::min), all().fold(Vec3::NEG_INFINITY, Vec3::max)];
        Self { bones, poses, measure, range }
    }

    /// Moves the vertices of a LOD, unless its error does not become smaller. Returns the error in metres.
    pub(super) fn apply(&self, level: &mut LevelVertices<'_>) -> f32 {
        let (vertices, mut at) = PlacedVertices::new(level, self.bones, self.poses);
        let count = self.poses.len();
        let error = |posed: &LodPoses, sample| self.measure.error_of_vertices(&level.parts, posed, sample);
        let mut posed = vertices.positions(&at, count);
        let before = error(&posed, EVEN);
        let surfaces = self.measure.worn().iter().enumerate().filter_map(|(surface, worn)| {
            let triangles = worn.iter().flat_map(|&p| level.parts[p].as_chunks::<3>().0).copied().collect();
            FittedSurface::new(self.measure.finest(surface), &self.poses[0], triangles, &posed[0])
        });
        let surfaces: Vec<FittedSurface<'_>> = surfaces.collect();
        let (mut least, mut best) = (f32::INFINITY, None);
        for round in 0..ROUNDS {
            let residuals = self.residuals(&surfaces, &posed, round);
            for (p, by) in at.iter_mut().zip(moves(&residuals, &vertices)) {
                // As the vertex will be stored.
                *p = (*p + by * STEP).as_vec3().clamp(self.range[0], self.range[1]).as_dvec3();
            }
            posed = vertices.positions(&at, count);
            let found = error(&posed, THOROUGH);
            if found < least {
                (least, best) = (found, Some(at.clone()));
            }
        }
        let measured = best.map(|best| (error(&vertices.positions(&best, count), EVEN), best));
        match measured.filter(|(after, _)| *after < before) {
            Some((after, best)) => {
                vertices.place(&best, level);
                after
            }
            None => before,
        }
    }

    /// Measures how far both surfaces are apart, in the poses of a round.
    fn residuals(&self, surfaces: &[FittedSurface<'_>], posed: &LodPoses, round: usize) -> Vec<Residual> {
        let others = self.poses.len() - 1;
        let count = others.min(POSES_PER_ROUND - 1);
        let poses = std::iter::once(0).chain((0..count).map(|i| 1 + (round + i * others / count) % others));
        let pairs: Vec<_> = poses.flat_map(|pose| surfaces.iter().map(move |surface| (pose, surface))).collect();
        pairs.into_par_iter().flat_map_iter(|(pose, surface)| surface.residuals((self.poses, posed), pose)).collect()
    }
}

/// A surface of a LOD, and points of both surfaces between which distances are measured.
struct FittedSurface<'a> {
    finest: &'a FinestSurface,
    tree: BoxTree,
    /// Points of the finest LOD, each with the closest triangle in the rest pose.
    from_finest: Vec<(SurfacePoint, u32)>,
    /// Points of this LOD, each with the closest triangle of the finest LOD in the rest pose.
    from_own: Vec<(SurfacePoint, u32)>,
}

impl<'a> FittedSurface<'a> {
    /// `triangles` have vertices at `rest`, and those of the finest LOD are at `finest_rest`, in the rest pose. Returns nothing if
    /// there are no triangles.
    fn new(finest: &'a FinestSurface, finest_rest: &[Vec3], triangles: Vec<[u32; 3]>, rest: &[Vec3]) -> Option<Self> {
        if triangles.is_empty() {
            return None;
        }
        let tree = BoxTree::new(triangles, rest);
        let finest_tree = &finest.surface.tree;
        // The centre and the corners of each triangle, and a point on each edge.
        let of_triangle =
            |&[a, b, c]: &[u32; 3]| [[a, b, c], [a, a, a], [b, b, b], [c, c, c], [a, a, b], [b, b, c], [c, c, a]];
        let points: Vec<SurfacePoint> = tree.triangles().iter().flat_map(of_triangle).collect();
        let from_finest = with_closest(&finest.vertices, finest_rest, (&tree, rest));
        let from_own = with_closest(&points, rest, (finest_tree, finest_rest));
        Some(Self { finest, tree, from_finest, from_own })
    }

    /// Returns how far points are from the other surface in a pose. `finest` and `own`: positions of the vertices of both LODs.
    fn residuals(&self, (finest, own): (&LodPoses, &LodPoses), pose: usize) -> Vec<Residual> {
        let there = self.finest.surface.at(finest, pose);
        let (finest, own) = (&finest[pose], &own[pose]);
        let boxes = self.tree.boxes(own);
        let here = FittedTree { tree: &self.tree, positions: own, boxes: &boxes };
        let corners = |tree: &BoxTree, triangle: u32, positions: &[Vec3]| {
            let vertices = tree.triangles()[triangle as usize];
            (vertices, vertices.map(|vertex| positions[vertex as usize]))
        };
        let from_finest = self.from_finest.iter().filter_map(|(point, near)| {
            let p = middle(point, finest);
            let (vertices, corners) = corners(&self.tree, here.closest(p, *near, 0.0).triangle, own);
            Some(Residual::new(pose, vertices, barycentric(p, corners)?, corners, p))
        });
        let from_own = self.from_own.iter().map(|(point, near)| {
            let p = middle(point, own);
            let (_, [a, b, c]) = corners(&self.finest.surface.tree, there.closest(p, *near, 0.0).triangle, finest);
            let corners = point.map(|vertex| own[vertex as usize]);
            Residual::new(pose, *point, DVec3::splat(1.0 / 3.0), corners, closest(p, a, b, c))
        });
        from_finest.chain(from_own).collect()
    }
}

/// Returns the points that are farthest from a surface in the rest pose, and others, each with the closest triangle.
fn with_closest(
    points: &[SurfacePoint],
    of_points: &[Vec3],
    (tree, positions): (&BoxTree, &[Vec3]),
) -> Vec<(SurfacePoint, u32)> {
    let boxes = tree.boxes(positions);
    let there = FittedTree { tree, positions, boxes: &boxes };
    let mut near = 0;
    let mut next = |point: SurfacePoint| {
        let found = there.closest(middle(&point, of_points), near, 0.0);
        near = found.triangle;
        (point, found)
    };
    let mut all: Vec<(SurfacePoint, ClosestPoint)> = strided(points, AT_REST).map(&mut next).collect();
    all.sort_by(|(_, a), (_, b)| b.distance.total_cmp(&a.distance));
    let others = all.len().saturating_sub(FARTHEST);
    let step = others.div_ceil(OTHERS).max(1);
    let chosen = all.iter().enumerate().filter(|(i, _)| *i < FARTHEST || i % step == 0);
    chosen.map(|(_, (point, found))| (*point, found.triangle)).collect()
}

#[cfg(test)]
mod tests;
