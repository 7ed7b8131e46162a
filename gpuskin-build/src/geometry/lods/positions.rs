//! Positions of coarser LODs. Collapses of edges leave vertices where they were, so that triangles between them cut off what is round,
//! and what stuck out is gone. Vertices of small LODs move to where both surfaces are closest to each other, in several poses:
//! weighted least squares, whose weights grow with the distance, so that the greatest distance becomes smaller.

mod least_squares;

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::error::{EVEN, FinestSurface, LodErrorMeter, SurfacePoint, middle, points_of, strided};
use super::places::PlacedVertices;
use super::poses::{BonePoses, LodPoses};
use super::surface::{BoxTree, ClosestPoint, FittedTree, barycentric, closest};
use super::vertices::LevelVertices;
use least_squares::{Residual, moves};

/// Number of times that vertices move.
const ROUNDS: usize = 6;
/// Number of poses that a round looks at, of which the rest pose is one.
const POSES_PER_ROUND: usize = 4;
/// Maximum number of points of each of both surfaces whose distances are measured in the rest pose.
const AT_REST: usize = 1 << 11;
/// Number of these points that are also measured in other poses, and that vertices move for: those with the greatest distances
/// before, and others.
const FARTHEST: usize = 1 << 8;
const OTHERS: usize = 1 << 8;
/// Part of the way to the solution of a round that vertices move.
const STEP: f64 = 0.6;

/// Moves vertices of coarser LODs.
pub(super) struct PositionFit<'a> {
    bones: &'a BonePoses,
    measure: &'a LodErrorMeter<'a>,
}

impl<'a> PositionFit<'a> {
    /// `measure` has the poses of the bones.
    pub(super) fn new(bones: &'a BonePoses, measure: &'a LodErrorMeter<'a>) -> Self {
        Self { bones, measure }
    }

    /// Moves the vertices of a LOD, unless its error does not become smaller. `known`: its error before at fewer points. Returns the
    /// error. Both are in metres.
    pub(super) fn apply(&self, level: &mut LevelVertices<'_>, known: f32) -> f32 {
        let (vertices, start) = PlacedVertices::new(level, self.bones, self.measure.poses);
        let mut at = start.clone();
        let count = self.measure.poses.len();
        let mut posed = vertices.positions(&at, count);
        let error = |posed: &LodPoses| self.measure.error_of_vertices(&level.parts, posed, EVEN);
        let surfaces = self.measure.worn().iter().enumerate().filter_map(|(surface, worn)| {
            let triangles = worn.iter().flat_map(|&p| level.parts[p].as_chunks::<3>().0).copied().collect();
            FittedSurface::new(self.measure.finest(surface), self.measure.poses, triangles, &posed[0])
        });
        let surfaces: Vec<FittedSurface<'_>> = surfaces.collect();
        let (mut least, mut best) = (self.farthest(&surfaces, &posed, f32::INFINITY), None);
        for round in 0..ROUNDS {
            let residuals = self.residuals(&surfaces, &posed, round);
            for (p, by) in at.iter_mut().zip(moves(&residuals, &vertices)) {
                *p = vertices.stored(*p + by * STEP);
            }
            posed = vertices.positions(&at, count);
            let found = self.farthest(&surfaces, &posed, least);
            if found < least {
                (least, best) = (found, Some(at.clone()));
            }
        }
        let after = best.as_ref().map(|best: &Vec<DVec3>| error(&vertices.positions(best, count)));
        // At as many points, the vertices before may be closer. That seldom needs to be known, and takes long.
        let before = match after {
            Some(after) if after < known => known,
            _ => error(&vertices.positions(&start, count)),
        };
        match best.zip(after).filter(|(_, after)| *after < before) {
            Some((best, after)) => {
                vertices.place(&best, level);
                after
            }
            None => before,
        }
    }

    /// Returns the greatest distance of the points of both surfaces, in metres, or one that is not below `enough`.
    fn farthest(&self, surfaces: &[FittedSurface<'_>], posed: &LodPoses, enough: f32) -> f32 {
        let in_pose = |pose: usize| {
            let farther = |most: f32, surface: &FittedSurface<'_>| {
                surface.farthest((self.measure.poses, posed), pose, [most, enough])
            };
            surfaces.iter().fold(0.0, farther)
        };
        (0..self.measure.poses.len()).into_par_iter().map(in_pose).reduce(|| 0.0, f32::max)
    }

    /// Measures how far both surfaces are apart, in the poses of a round.
    fn residuals(&self, surfaces: &[FittedSurface<'_>], posed: &LodPoses, round: usize) -> Vec<Residual> {
        let others = self.measure.poses.len() - 1;
        let count = others.min(POSES_PER_ROUND - 1);
        let poses = std::iter::once(0).chain((0..count).map(|i| 1 + (round + i * others / count) % others));
        let pairs: Vec<_> = poses.flat_map(|pose| surfaces.iter().map(move |surface| (pose, surface))).collect();
        pairs
            .into_par_iter()
            .flat_map_iter(|(pose, surface)| surface.residuals((self.measure.poses, posed), pose))
            .collect()
    }
}

/// A surface of a LOD, and points of both surfaces between which distances are measured.
struct FittedSurface<'a> {
    finest: &'a FinestSurface,
    tree: BoxTree,
    /// Points of the finest LOD, and their closest triangles.
    from_finest: MeasuredPoints,
    /// Points of this LOD, and their closest triangles in the finest LOD.
    from_own: MeasuredPoints,
}

impl<'a> FittedSurface<'a> {
    /// `triangles` have vertices at `rest` in the rest pose; those of the finest LOD are at `finest_poses`. Returns nothing if there
    /// are no triangles.
    fn new(
        finest: &'a FinestSurface,
        finest_poses: &LodPoses,
        triangles: Vec<[u32; 3]>,
        rest: &[Vec3],
    ) -> Option<Self> {
        if triangles.is_empty() {
            return None;
        }
        let tree = BoxTree::new(triangles, rest);
        let here = FittedTree { tree: &tree, positions: rest, boxes: &tree.boxes(rest) };
        let from_finest = MeasuredPoints::new(&finest.vertices, &finest_poses[0], &here);
        let from_own = MeasuredPoints::new(&points_of(&tree), rest, &finest.surface.at(finest_poses, 0));
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
        let from_finest = self.from_finest.in_every_pose().filter_map(|(point, near)| {
            let p = middle(point, finest);
            let (vertices, corners) = corners(&self.tree, here.closest_around(p, *near, 0.0).triangle, own);
            Some(Residual::new(pose, vertices, barycentric(p, corners)?, corners, p))
        });
        let from_own = self.from_own.in_every_pose().map(|(point, near)| {
            let p = middle(point, own);
            let (_, [a, b, c]) =
                corners(&self.finest.surface.tree, there.closest_around(p, *near, 0.0).triangle, finest);
            let corners = point.map(|vertex| own[vertex as usize]);
            Residual::new(pose, *point, DVec3::splat(1.0 / 3.0), corners, closest(p, a, b, c))
        });
        from_finest.chain(from_own).collect()
    }

    /// Returns the greatest distance of points in a pose if it is above `most`, or one that is not below `enough`.
    fn farthest(&self, (finest, own): (&LodPoses, &LodPoses), pose: usize, [mut most, enough]: [f32; 2]) -> f32 {
        let there = self.finest.surface.at(finest, pose);
        let boxes = self.tree.boxes(&own[pose]);
        let here = FittedTree { tree: &self.tree, positions: &own[pose], boxes: &boxes };
        let from_finest =
            self.from_finest.in_pose(pose).map(|(point, near)| (middle(point, &finest[pose]), near, &here));
        let from_own = self.from_own.in_pose(pose).map(|(point, near)| (middle(point, &own[pose]), near, &there));
        for (p, near, other) in from_finest.chain(from_own) {
            if most >= enough {
                break;
            }
            most = most.max(other.closest_around(p, *near, most).distance);
        }
        most
    }
}

/// Points of a surface whose distances from another one are measured.
struct MeasuredPoints {
    /// Each with the closest triangle in the rest pose, before vertices move.
    points: Vec<(SurfacePoint, u32)>,
    /// Number of them that are measured in poses besides the rest pose: the first ones.
    moving: usize,
}

impl MeasuredPoints {
    /// `of_points`: positions of the vertices of the points. `there`: the other surface. Both are in the rest pose.
    fn new(points: &[SurfacePoint], of_points: &[Vec3], there: &FittedTree<'_>) -> Self {
        let mut near = 0;
        let mut next = |point: SurfacePoint| {
            let found = there.closest(middle(&point, of_points), near, 0.0);
            near = found.triangle;
            (point, found)
        };
        let mut all: Vec<(SurfacePoint, ClosestPoint)> = strided(points, AT_REST).map(&mut next).collect();
        all.sort_by(|(_, a), (_, b)| b.distance.total_cmp(&a.distance));
        let step = all.len().saturating_sub(FARTHEST).div_ceil(OTHERS).max(1);
        let with_triangle = |(i, (point, found)): (usize, (SurfacePoint, ClosestPoint))| (i, (point, found.triangle));
        let (mut points, others): (Vec<_>, Vec<_>) =
            all.into_iter().enumerate().map(with_triangle).partition(|(i, _)| *i < FARTHEST || i % step == 0);
        let moving = points.len();
        points.extend(others);
        Self { points: points.into_iter().map(|(_, point)| point).collect(), moving }
    }

    /// Returns the points that are measured in a pose.
    fn in_pose(&self, pose: usize) -> impl Iterator<Item = &(SurfacePoint, u32)> {
        self.points[..if pose == 0 { self.points.len() } else { self.moving }].iter()
    }

    /// Returns the points that are measured in all poses.
    fn in_every_pose(&self) -> impl Iterator<Item = &(SurfacePoint, u32)> {
        self.points[..self.moving].iter()
    }
}

#[cfg(test)]
mod tests;
