//! Normals of coarser LODs. Vertices keep their normals while the triangles between them are removed, so that some of the triangles
//! that are left face away from the normals of their corners. Such corners get copies of their vertices, with normals that are
//! fitted to the finest LOD.

use std::collections::BTreeMap;

use glam::{DMat3, DVec3, Mat3, Vec3};
use gpuskin_rt::internals::vertex::Vertex;
use rayon::prelude::*;

use super::layers::{face, faces_same_way};
use super::surface::{BoxTree, FittedTree, barycentric};
use super::vertices::VertexCopy;
use crate::geometry::Geometry;
use crate::vector_math::{add, dot, scale, sub};

/// Minimum cosine of the angle between a fitted normal and one that is used in its place: 60 degrees.
const SAME_NORMAL: f32 = 0.5;
/// Weight of the normals that vertices have, relative to those of the finest LOD.
const OWN_WEIGHT: f64 = 0.1;
/// Number of points per triangle of the finest LOD, and their weights for its corners.
const POINTS: [[f32; 3]; 3] = [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]];
/// Maximum number of triangles of the finest LOD with such points: so many per triangle of the coarser LOD, or so many in all.
const MOST_PER_TRIANGLE: usize = 2;
const MOST_OF_FEW: usize = 1024;
/// Number of triangles per unit of parallel work.
const TRIANGLES_AT_ONCE: usize = 64;

/// Fits the normals of coarser LODs in the rest pose.
pub(super) struct NormalFit<'a> {
    geometry: &'a Geometry,
    /// Positions of vertices, in metres.
    positions: &'a [Vec3],
    /// Unit normals of vertices, or 0.
    normals: Vec<Vec3>,
    /// Linear part of the skinning matrix of each vertex.
    axes: &'a [Mat3],
}

/// Point of the finest LOD, with the closest triangle of a coarser LOD.
struct NearPoint {
    triangle: u32,
    /// Barycentric coordinates of the closest point of the triangle.
    weights: DVec3,
    normal: Vec3,
    area: f32,
}

/// Corner of a triangle with a fitted normal.
struct FittedCorner {
    part: usize,
    /// Index into the indices of the part.
    at: usize,
    normal: Vec3,
    /// Cosine of the angle between the fitted normal and that of the vertex.
    likeness: f32,
    /// Twice the area of the triangle.
    area: f32,
}

impl<'a> NormalFit<'a> {
    /// `positions` and `axes`: positions, and linear parts of the skinning matrices, of all vertices in the rest pose.
    pub(super) fn new(geometry: &'a Geometry, positions: &'a [Vec3], axes: &'a [Mat3]) -> Self {
        let drawn = |(vertex, axes): (&Vertex, &Mat3)| (cofactor(axes) * vertex.normal).normalize_or_zero();
        let normals = geometry.vertices.iter().zip(axes).map(drawn).collect();
        Self { geometry, positions, normals, axes }
    }

    /// Gives corners of a LOD copies of their vertices where normals differ: at most `most`, where most is seen of them. The copies
    /// are added to `known`, whose indices continue those of the geometry. `parts`: indices of each part of the LOD, whose triangles
    /// are reordered.
    pub(super) fn fit(&self, parts: &mut [Vec<u32>], most: usize, known: &mut Vec<VertexCopy>) {
        let first = self.geometry.vertices.len() + known.len();
        let mut corners: Vec<FittedCorner> = Vec::new();
        for (part, indices) in parts.iter_mut().enumerate() {
            self.corners(part, indices, &mut corners);
        }
        corners.retain(|corner| corner.likeness < SAME_NORMAL);
        let seen = |corner: &FittedCorner| corner.area * (1.0 - corner.likeness);
        corners.sort_by(|a, b| seen(b).total_cmp(&seen(a)));
        let mut copies: Vec<(u32, Vec3)> = Vec::new();
        let mut copies_of: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for FittedCorner { part, at, normal, area, .. } in corners {
            let index = &mut parts[part][at];
            let of = copies_of.entry(*index).or_default();
            let alike = |copy: usize| dot(copies[copy].1.normalize_or_zero(), normal);
            let best = of.iter().map(|copy| (alike(*copy), *copy)).max_by(|(a, _), (b, _)| a.total_cmp(b));
            match best {
                Some((alike, copy)) if alike >= SAME_NORMAL => {
                    copies[copy].1 = add(copies[copy].1, scale(normal, area));
                    *index = (first + copy) as u32;
                }
                _ if copies.len() < most => {
                    of.push(copies.len());
                    copies.push((*index, scale(normal, area)));
                    *index = (first + copies.len() - 1) as u32;
                }
                _ => {}
            }
        }
        known.extend(copies.into_iter().map(|(of, normal)| VertexCopy { of, vertex: self.copy(of as usize, normal) }));
    }

    /// Fits the normals of the corners of a part, whose triangles it reorders.
    fn corners(&self, part: usize, indices: &mut Vec<u32>, corners: &mut Vec<FittedCorner>) {
        let info = &self.geometry.parts[part];
        if info.flat || indices.is_empty() {
            return;
        }
        let tree = BoxTree::new(indices.as_chunks::<3>().0.to_vec(), self.positions);
        let boxes = tree.boxes(self.positions);
        let triangles = tree.triangles();
        *indices = triangles.iter().flatten().copied().collect();
        let fitted = FittedTree { tree: &tree, positions: self.positions, boxes: &boxes };
        let finest = &self.geometry.indices[info.first_index as usize..][..info.index_count as usize];
        let near = self.near_points(&fitted, finest.as_chunks::<3>().0);
        // Least squares: corner normals X with X A = B, where A sums w wT, and B sums n wT, of points with weights w and normals n.
        let mut sums = vec![(DMat3::ZERO, DMat3::ZERO); triangles.len()];
        let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
        for NearPoint { triangle, weights, normal, area } in near {
            let (a, b) = &mut sums[triangle as usize];
            let area = f64::from(area);
            *a += outer(weights * area, weights);
            *b += outer(normal.as_dvec3() * area, weights);
        }
        for (t, (triangle, (a, b))) in triangles.iter().zip(sums).enumerate() {
            let diagonal = DVec3::new(a.x_axis.x, a.y_axis.y, a.z_axis.z);
            let total = diagonal.element_sum();
            if total <= 0.0 {
                continue;
            }
            // A corner far from all points keeps its normal.
            let stay = DMat3::from_diagonal(diagonal * OWN_WEIGHT + DVec3::splat(total * 1e-6));
            let own = triangle.map(|vertex| self.normals[vertex as usize].as_dvec3());
            let solved = (b + DMat3::from_cols(own[0], own[1], own[2]) * stay) * (a + stay).inverse();
            let [p, q, r] = triangle.map(|vertex| self.positions[vertex as usize]);
            let area = sub(q, p).cross(sub(r, p)).length();
            for (corner, vertex) in triangle.iter().enumerate() {
                // Morph targets move vertices by their index.
                let may_differ = self.geometry.morphs.of(*vertex as usize).is_empty() && self.is_invertible(*vertex);
                if let Some(normal) = solved.col(corner).as_vec3().try_normalize().filter(|_| may_differ) {
                    let likeness = dot(self.normals[*vertex as usize], normal);
                    corners.push(FittedCorner { part, at: 3 * t + corner, normal, likeness, area });
                }
            }
        }
    }

    /// Finds the closest triangle that faces the same way for points of the finest LOD, evenly spaced triangles of which are used.
    fn near_points(&self, coarse: &FittedTree<'_>, finest: &[[u32; 3]]) -> Vec<NearPoint> {
        let triangles = coarse.tree.triangles();
        let faces: Vec<Vec3> = triangles.iter().map(|triangle| face(triangle, self.positions)).collect();
        let most = (triangles.len() * MOST_PER_TRIANGLE).max(MOST_OF_FEW).min(finest.len());
        let used: Vec<[u32; 3]> = (0..most).map(|i| finest[i * finest.len() / most]).collect();
        let of = |triangle: &[u32; 3], near: &mut u32| {
            let corners = triangle.map(|vertex| self.positions[vertex as usize]);
            let normals = triangle.map(|vertex| self.normals[vertex as usize]);
            let area = sub(corners[1], corners[0]).cross(sub(corners[2], corners[0])).length();
            let mean =
                |of: [Vec3; 3], by: [f32; 3]| add(add(scale(of[0], by[0]), scale(of[1], by[1])), scale(of[2], by[2]));
            POINTS.map(|weights| {
                let (p, normal) = (mean(corners, weights), mean(normals, weights).try_normalize()?);
                let found = coarse.closest_of(p, *near, |t| faces_same_way(faces[t as usize], normal));
                *near = found.triangle;
                let at = triangles.get(found.triangle as usize).filter(|_| found.distance.is_finite())?;
                let weights = barycentric(p, at.map(|vertex| self.positions[vertex as usize]))?;
                Some(NearPoint { triangle: found.triangle, weights, normal, area })
            })
        };
        // Triangles that follow each other are probably neighbours.
        let in_turn = |triangles: &[[u32; 3]]| {
            let mut near = 0;
            triangles.iter().flat_map(|triangle| of(triangle, &mut near)).flatten().collect::<Vec<_>>()
        };
        used.par_chunks(TRIANGLES_AT_ONCE).flat_map_iter(in_turn).collect()
    }

    fn is_invertible(&self, vertex: u32) -> bool {
        let determinant = self.axes[vertex as usize].determinant();
        determinant.is_normal() && self.normals[vertex as usize] != Vec3::ZERO
    }

    /// Copies a vertex with another normal in the rest pose. Tangents stay orthogonal to normals.
    fn copy(&self, vertex: usize, normal: Vec3) -> Vertex {
        let (axes, vertex) = (&self.axes[vertex], self.geometry.vertices[vertex]);
        // Inverse of the cofactor matrix, up to a positive factor.
        let bound = axes.transpose() * (normal * axes.determinant().signum());
        let normal = bound.try_normalize().unwrap_or(vertex.normal);
        let along = vertex.tangent.truncate();
        let tangent = (along - normal * along.dot(normal)).try_normalize().unwrap_or(along);
        Vertex { normal, tangent: tangent.extend(vertex.tangent.w), ..vertex }
    }
}

/// Cofactor matrix, which maps normals as the matrix maps surfaces.
fn cofactor(m: &Mat3) -> Mat3 {
    Mat3::from_cols(m.y_axis.cross(m.z_axis), m.z_axis.cross(m.x_axis), m.x_axis.cross(m.y_axis))
}
