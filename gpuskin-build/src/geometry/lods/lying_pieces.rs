//! Pieces of coarser LODs that lie on larger ones, as eyes on a face. Errors of LODs are larger than the distances between such pieces,
//! so that a face with fewer triangles would hide its eyes. Vertices of lying pieces move until they are over the larger piece again.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use glam::{DVec3, Vec3};

use super::error::{EVEN, FinestSurface, LodErrorMeter};
use super::layers::{face, faces_same_way};
use super::places::PlacedVertices;
use super::poses::BonePoses;
use super::search_budget::SearchBudget;
use super::surface::{BoxTree, FittedTree, closest};
use super::vertices::{LevelVertices, VertexCopy};
use crate::vector_math::{add, scale};

/// Maximum height of a piece that lies on another one, relative to the error of a LOD. Higher ones are seldom hidden.
const MAX_HEIGHT: f32 = 0.5;
/// Maximum depth to which the larger piece hides it, relative to the error: both may be off.
const MAX_DEPTH: f32 = 2.0;
/// Minimum cosine of the angle between a normal and the way to a point that is over a triangle, or below it.
const OVER: f32 = 0.7;
/// Points of a triangle that are kept over the larger piece: weights of its corners.
const POINTS: [[f32; 3]; 7] = [
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [0.5, 0.5, 0.0],
    [0.0, 0.5, 0.5],
    [0.5, 0.0, 0.5],
    [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0],
];
/// Maximum number of times that pieces move: one may lie on another that moves.
const ROUNDS: usize = 3;
/// Maximum distances that vertices move, relative to the error of the LOD, until its error does not grow too much.
const FARTHEST: [f64; 2] = [1.0, 0.5];
/// Maximum ratio of errors after and before. Pieces that would be farther off stay.
const MAX_GROWTH: f32 = 1.1;
const NONE: u32 = u32::MAX;

/// Moves lying pieces of coarser LODs.
pub(super) struct LyingPieces<'a> {
    bones: &'a BonePoses,
    measure: &'a LodErrorMeter<'a>,
    /// Finest LOD of each surface.
    surfaces: Vec<OnceCell<FinestPieces<'a>>>,
}

/// Pieces of a surface of the finest LOD, in the rest pose.
struct FinestPieces<'a> {
    finest: &'a FinestSurface,
    tree: FittedTree<'a>,
    /// A triangle of each vertex of the mesh; [`NONE`] if it has none here.
    triangle_of: Vec<u32>,
    /// Twice the area of each piece.
    areas: Vec<f32>,
    /// Height of each vertex over the closest larger piece, as far as it is known.
    heights: Vec<OnceCell<Option<f32>>>,
    budget: SearchBudget,
}

impl<'a> LyingPieces<'a> {
    /// `measure` has the poses of the bones.
    pub(super) fn new(bones: &'a BonePoses, measure: &'a LodErrorMeter<'a>) -> Self {
        Self { bones, measure, surfaces: measure.worn().iter().map(|_| OnceCell::new()).collect() }
    }

    /// Returns whether pieces of a LOD lie on others. `parts`: indices of each part. `copies`: its own vertices, whose indices follow
    /// those of the mesh. `error`: in metres.
    pub(super) fn any(&self, parts: &[Vec<u32>], copies: &[VertexCopy], error: f32) -> bool {
        let count = self.measure.poses[0].len();
        let of = |vertex: u32| copies.get((vertex as usize).wrapping_sub(count)).map_or(vertex, |copy| copy.of);
        self.surfaces().any(|(worn, pieces)| pieces.lying(worn.iter().map(|p| &parts[*p]), of, error).contains(&true))
    }

    /// Moves the lying pieces of a LOD, unless its error grows too much. Returns its error. Both are in metres.
    pub(super) fn apply(&self, level: &mut LevelVertices<'_>, error: f32) -> f32 {
        let (vertices, start) = PlacedVertices::new(level, self.bones, self.measure.poses);
        for farthest in FARTHEST {
            let at = self.moved(level, (&vertices, &start), (error, farthest));
            if at == start {
                break;
            }
            let posed = vertices.positions(&at, self.measure.poses.len());
            let after = self.measure.error_of_vertices(&level.parts, &posed, EVEN);
            if after <= error * MAX_GROWTH {
                vertices.place(&at, level);
                return after.max(error);
            }
        }
        error
    }

    /// Returns the places of vertices before skinning after the lying pieces have moved.
    fn moved(
        &self,
        level: &LevelVertices<'_>,
        (vertices, start): (&PlacedVertices, &[DVec3]),
        (error, farthest): (f32, f64),
    ) -> Vec<DVec3> {
        let mut at = start.to_vec();
        for _ in 0..ROUNDS {
            let rest = vertices.positions(&at, 1).remove(0);
            // Way of each place before skinning, and its length in the rest pose.
            let mut ways: BTreeMap<u32, (f32, DVec3)> = BTreeMap::new();
            let mut push = |vertex: u32, normal: Vec3, by: f32| {
                let place = vertices.places[vertex as usize];
                let way = vertices.skinning[vertex as usize][0].matrix3.inverse() * (normal * by).as_dvec3();
                let longest = ways.get(&place).map_or(0.0, |(longest, _)| *longest);
                if by > longest && way.is_finite() && vertices.free[place as usize] {
                    ways.insert(place, (by, way));
                }
            };
            for (worn, pieces) in self.surfaces() {
                pieces.push(worn.iter().map(|p| &level.parts[*p]), (level, &rest), error, &mut push);
            }
            if ways.is_empty() {
                break;
            }
            for (place, (by, way)) in ways {
                let (at, from) = (&mut at[place as usize], start[place as usize]);
                let most = f64::from(error) * farthest * way.length() / f64::from(by);
                *at = vertices.stored(from + (*at + way - from).clamp_length_max(most));
            }
        }
        at
    }

    /// Returns the surfaces that have several pieces, each with its parts.
    fn surfaces(&self) -> impl Iterator<Item = (&[usize], &FinestPieces<'a>)> {
        let all = self.measure.worn().iter().zip(&self.surfaces).enumerate();
        let several = all.filter(|(surface, _)| self.measure.finest(*surface).layers.has_pieces());
        several.map(|(surface, (worn, pieces))| {
            (&worn[..], pieces.get_or_init(|| FinestPieces::new(self.measure, surface)))
        })
    }
}

impl<'a> FinestPieces<'a> {
    fn new(measure: &'a LodErrorMeter<'a>, surface: usize) -> Self {
        let finest = measure.finest(surface);
        let tree = finest.surface.at(measure.poses, 0);
        let mut triangle_of = vec![NONE; tree.positions.len()];
        let mut areas = vec![0.0; finest.layers.piece.iter().max().map_or(0, |last| *last as usize + 1)];
        for (t, (triangle, piece)) in (0..).zip(tree.tree.triangles().iter().zip(&finest.layers.piece)) {
            let [a, b, c] = triangle.map(|vertex| tree.positions[vertex as usize]);
            areas[*piece as usize] += (b - a).cross(c - a).length();
            triangle.iter().for_each(|vertex| triangle_of[*vertex as usize] = t);
        }
        let heights = tree.positions.iter().map(|_| OnceCell::new()).collect();
        let budget = SearchBudget::new(tree.tree.triangles().len());
        Self { finest, tree, triangle_of, areas, heights, budget }
    }

    /// Returns the piece of a vertex of the mesh.
    fn piece(&self, vertex: u32) -> u32 {
        self.finest.layers.piece[self.triangle_of[vertex as usize] as usize]
    }

    /// Whether a piece is larger than another one.
    fn is_larger(&self, piece: u32, other: u32) -> bool {
        (self.areas[piece as usize], piece) > (self.areas[other as usize], other)
    }

    /// Returns the height of a vertex of the mesh over the closest larger piece, in metres.
    fn height(&self, vertex: u32) -> Option<f32> {
        let layers = &self.finest.layers;
        let of = || {
            let t = self.triangle_of[vertex as usize];
            let (piece, normal) = (layers.piece[t as usize], layers.faces[t as usize]);
            let counts = |u: u32| {
                self.is_larger(layers.piece[u as usize], piece) && faces_same_way(layers.faces[u as usize], normal)
            };
            let p = self.tree.positions[vertex as usize];
            Some(self.height_of(&self.tree, &layers.faces, (p, t), counts)?.0)
        };
        *self.heights[vertex as usize].get_or_init(of)
    }

    /// Returns whether each piece lies on a larger one, as far as triangles of a LOD have its vertices. `of`: vertex of the mesh from
    /// which one of the LOD comes.
    fn lying<'p>(&self, parts: impl Iterator<Item = &'p Vec<u32>>, of: impl Fn(u32) -> u32, error: f32) -> Vec<bool> {
        let mut lying = vec![None; self.areas.len()];
        for vertex in parts.flatten().map(|vertex| of(*vertex)) {
            let lies = &mut lying[self.piece(vertex) as usize];
            if *lies != Some(false) {
                *lies = Some(self.height(vertex).is_some_and(|height| height > 0.0 && height < error * MAX_HEIGHT));
            }
        }
        lying.into_iter().map(|lies| lies == Some(true)).collect()
    }

    /// Calls `push` for vertices of lying pieces that are lower than in the finest LOD: with a unit vector, and a distance in metres.
    /// `rest`: positions of the vertices of the LOD.
    fn push<'p>(
        &self,
        parts: impl Iterator<Item = &'p Vec<u32>> + Clone,
        (level, rest): (&LevelVertices<'_>, &[Vec3]),
        error: f32,
        push: &mut impl FnMut(u32, Vec3, f32),
    ) {
        let of = |vertex: u32| level.vertices[vertex as usize].of;
        let lying = self.lying(parts.clone(), of, error);
        if !lying.contains(&true) {
            return;
        }
        let tree = BoxTree::new(parts.flat_map(|part| part.as_chunks::<3>().0).copied().collect(), rest);
        let (boxes, triangles) = (tree.boxes(rest), tree.triangles());
        let faces: Vec<Vec3> = triangles.iter().map(|triangle| face(triangle, rest)).collect();
        let pieces: Vec<u32> = triangles.iter().map(|triangle| self.piece(of(triangle[0]))).collect();
        let here = FittedTree { tree: &tree, positions: rest, boxes: &boxes };
        for (t, triangle) in triangles.iter().enumerate().filter(|(t, _)| lying[pieces[*t] as usize]) {
            let counts =
                |u: u32| self.is_larger(pieces[u as usize], pieces[t]) && faces_same_way(faces[u as usize], faces[t]);
            let corners = triangle.map(|vertex| rest[vertex as usize]);
            let heights = triangle.map(|vertex| self.height(of(vertex)).unwrap_or(0.0));
            for by in POINTS {
                let p = add(add(scale(corners[0], by[0]), scale(corners[1], by[1])), scale(corners[2], by[2]));
                let Some((now, normal)) = self.height_of(&here, &faces, (p, t as u32), counts) else { continue };
                let before = heights[0] * by[0] + heights[1] * by[1] + heights[2] * by[2];
                if now < before && now > error * -MAX_DEPTH {
                    let involved = triangle.iter().zip(by).filter(|(_, weight)| *weight > 0.0);
                    involved.for_each(|(vertex, _)| push(*vertex, normal, before - now));
                }
            }
        }
    }

    /// Returns the height of a point over the closest of the triangles that `counts` accepts, in metres, and the unit normal of that
    /// triangle. Negative if the point is below; `None` if it is beside, or if too much was searched for. `near`: a triangle that may be
    /// close. `faces`: normal of each triangle.
    fn height_of(
        &self,
        tree: &FittedTree<'_>,
        faces: &[Vec3],
        (p, near): (Vec3, u32),
        counts: impl Fn(u32) -> bool,
    ) -> Option<(f32, Vec3)> {
        if self.budget.is_spent() {
            return None;
        }
        let found = self.budget.closest_of(tree, p, near, counts);
        let [a, b, c] = tree.tree.triangles()[found.triangle as usize].map(|vertex| tree.positions[vertex as usize]);
        let normal = faces[found.triangle as usize];
        let height = (p - closest(p, a, b, c)).dot(normal);
        (found.distance.is_finite() && height.abs() >= found.distance * OVER).then_some((height, normal))
    }
}

#[cfg(test)]
mod tests;
