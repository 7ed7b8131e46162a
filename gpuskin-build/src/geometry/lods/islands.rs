//! Texture coordinates of coarser LODs. The parts of a texture that triangles share without a seam are its islands. Where a
//! collapse crosses a seam, the corners of a triangle come from several islands, and the triangle would show whatever is between
//! them in the texture. It gets vertices of its own, with texture coordinates of the island that most of it lies on.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use glam::{DVec3, Vec2, Vec3, Vec4};
use gpuskin_rt::internals::vertex::Vertex;

use super::layers::{face, faces_same_way};
use super::poses::BonePoses;
use super::search_budget::SearchBudget;
use super::sets::DisjointSets;
use super::surface::{BoxTree, FittedTree, NodeBoxes, barycentric};
use super::vertices::{LevelVertices, VertexCopy};
use crate::geometry::Geometry;
use crate::model::{Material, Model};
use crate::vector_math::{add, scale};

/// Points of a triangle that decide on which island it lies: weights of its corners.
const POINTS: [[f32; 3]; 4] = [[1.0 / 3.0; 3], [0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]];
/// Part of a texture below which an island is a point, as in a palette.
const POINT: f32 = 1e-4;

/// Islands of a mesh.
pub(super) struct IslandFit<'a> {
    geometry: &'a Geometry,
    bones: &'a BonePoses,
    /// Positions of vertices in the rest pose, in metres.
    positions: &'a [Vec3],
    /// Island of each vertex.
    islands: Vec<u32>,
    /// Connected piece of each vertex.
    pieces: Vec<u32>,
    /// Whether each part has a texture.
    textured: Vec<bool>,
    /// Finest LOD of each part.
    finest: Vec<OnceCell<FinestPart>>,
    budget: SearchBudget,
}

/// Triangles of a part in the rest pose.
struct FinestPart {
    tree: BoxTree,
    boxes: NodeBoxes,
    /// Normal of each triangle.
    faces: Vec<Vec3>,
}

impl<'a> IslandFit<'a> {
    /// `positions`: positions of all vertices in the rest pose.
    pub(super) fn new(model: &Model, geometry: &'a Geometry, bones: &'a BonePoses, positions: &'a [Vec3]) -> Self {
        let textured = |material: usize| model.materials.get(material).is_some_and(Material::is_textured);
        let textured: Vec<bool> = geometry.parts.iter().map(|part| textured(part.material as usize)).collect();
        let (islands, pieces) = match textured.contains(&true) {
            true => (islands(geometry), connected(geometry, |vertex| vertex.position.to_array())),
            false => Default::default(),
        };
        let finest = geometry.parts.iter().map(|_| OnceCell::new()).collect();
        let budget = SearchBudget::new(geometry.indices.len() / 3);
        Self { geometry, bones, positions, islands, pieces, textured, finest, budget }
    }

    /// Whether the corners of a triangle come from several islands. `parts`: indices of each part of a LOD. `copies`: its own
    /// vertices, whose indices follow those of the mesh.
    pub(super) fn are_crossed(&self, parts: &[Vec<u32>], copies: &[VertexCopy]) -> bool {
        let count = self.geometry.vertices.len();
        let of = |vertex: u32| copies.get((vertex as usize).wrapping_sub(count)).map_or(vertex, |copy| copy.of);
        let textured = parts.iter().zip(&self.textured).filter(|(_, textured)| **textured);
        textured.flat_map(|(part, _)| part.as_chunks::<3>().0).any(|triangle| self.is_crossed(triangle.map(of)))
    }

    /// Whether vertices of the mesh are of several islands.
    fn is_crossed(&self, vertices: [u32; 3]) -> bool {
        let [a, b, c] = vertices.map(|vertex| self.islands[vertex as usize]);
        a != b || b != c
    }

    /// Gives triangles whose corners come from several islands vertices of one island. `most`: number of vertices of the LOD.
    pub(super) fn apply(&self, level: &mut LevelVertices<'_>, most: usize) {
        let mut made: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for part in (0..level.parts.len()).filter(|part| self.textured[*part]) {
            for at in (0..level.parts[part].len()).step_by(3) {
                let triangle: [u32; 3] = std::array::from_fn(|corner| level.parts[part][at + corner]);
                let stays = self.budget.is_spent() || triangle.iter().any(|vertex| level.is_fixed(*vertex as usize));
                let islands = triangle.map(|vertex| self.islands[level.vertices[vertex as usize].of as usize]);
                // All corners, or none.
                if stays || islands == [islands[0]; 3] || level.vertices.len() + 3 > most {
                    continue;
                }
                let corners = triangle.map(|vertex| self.at_rest(level, vertex));
                let pieces = triangle.map(|vertex| self.pieces[level.vertices[vertex as usize].of as usize]);
                let Some(island) = self.island(part, corners, pieces) else { continue };
                let beyond = triangle.into_iter().zip(islands).enumerate().filter(|(_, (_, own))| *own != island);
                for (corner, (vertex, _)) in beyond {
                    let on_island = *made.entry((vertex, island)).or_insert_with(|| {
                        let own = level.vertices[vertex as usize];
                        let p = self.at_rest(level, vertex);
                        level.add(VertexCopy { vertex: self.on_island(&own.vertex, p, (part, island)), ..own })
                    });
                    level.parts[part][at + corner] = on_island;
                }
            }
        }
    }

    /// Returns the position of a vertex of a LOD in the rest pose.
    fn at_rest(&self, level: &LevelVertices<'_>, vertex: u32) -> Vec3 {
        let VertexCopy { of, vertex } = &level.vertices[vertex as usize];
        let mesh = &self.geometry.vertices[*of as usize];
        if (mesh.position, mesh.joints, mesh.weights) == (vertex.position, vertex.joints, vertex.weights) {
            return self.positions[*of as usize];
        }
        self.bones.affines(vertex)[0].transform_point3(vertex.position.as_dvec3()).as_vec3()
    }

    /// Returns the island on which most of a triangle lies, which has its corners at these positions. `pieces`: those of the
    /// corners; others may be covered, as a face by a helmet.
    fn island(&self, part: usize, corners: [Vec3; 3], pieces: [u32; 3]) -> Option<u32> {
        let finest = self.finest(part);
        let tree = finest.tree(self.positions);
        let normal = face(&[0, 1, 2], &corners);
        let mut found: Vec<u32> = Vec::with_capacity(POINTS.len());
        let mut near = 0;
        for by in POINTS {
            let p = add(add(scale(corners[0], by[0]), scale(corners[1], by[1])), scale(corners[2], by[2]));
            let closest = self.budget.closest_of(&tree, p, near, |t| {
                let piece = self.pieces[finest.tree.triangles()[t as usize][0] as usize];
                pieces.contains(&piece) && faces_same_way(finest.faces[t as usize], normal)
            });
            if closest.distance.is_finite() {
                near = closest.triangle;
                found.push(self.island_of(finest, near));
            }
        }
        let votes = |island: &u32| found.iter().filter(|other| *other == island).count();
        // The first of equals is that of the centre.
        found.iter().rev().copied().max_by_key(votes)
    }

    /// Returns the island of a triangle of the finest LOD.
    fn island_of(&self, finest: &FinestPart, triangle: u32) -> u32 {
        self.islands[finest.tree.triangles()[triangle as usize][0] as usize]
    }

    /// Copies a vertex with the attributes that an island has at the place closest to a position.
    fn on_island(&self, vertex: &Vertex, p: Vec3, (part, island): (usize, u32)) -> Vertex {
        let finest = self.finest(part);
        let tree = finest.tree(self.positions);
        let closest = self.budget.closest_of(&tree, p, 0, |t| self.island_of(finest, t) == island).triangle;
        let corners = finest.tree.triangles()[closest as usize];
        let weights =
            barycentric(p, corners.map(|corner| self.positions[corner as usize])).unwrap_or(DVec3::X).as_vec3();
        let [a, b, c] = corners.map(|corner| &self.geometry.vertices[corner as usize]);
        let nearest = [a, b, c][weights.max_position()];
        let along = nearest.tangent.truncate();
        let tangent = (along - vertex.normal * along.dot(vertex.normal)).try_normalize().unwrap_or(along);
        Vertex {
            tangent: tangent.extend(nearest.tangent.w),
            uv: a.uv * weights.x + b.uv * weights.y + c.uv * weights.z,
            second_uv: a.second_uv * weights.x + b.second_uv * weights.y + c.second_uv * weights.z,
            color: (a.color * weights.x + b.color * weights.y + c.color * weights.z).clamp(Vec4::ZERO, Vec4::ONE),
            ..*vertex
        }
    }

    fn finest(&self, part: usize) -> &FinestPart {
        self.finest[part].get_or_init(|| {
            let info = &self.geometry.parts[part];
            let indices = &self.geometry.indices[info.first_index as usize..][..info.index_count as usize];
            let tree = BoxTree::new(indices.as_chunks::<3>().0.to_vec(), self.positions);
            let boxes = tree.boxes(self.positions);
            let faces = tree.triangles().iter().map(|triangle| face(triangle, self.positions)).collect();
            FinestPart { tree, boxes, faces }
        })
    }
}

impl FinestPart {
    fn tree<'a>(&'a self, positions: &'a [Vec3]) -> FittedTree<'a> {
        FittedTree { tree: &self.tree, positions, boxes: &self.boxes }
    }
}

/// Returns the island of each vertex. Triangles are of one island if they share a position and its texture coordinates; islands
/// that are the same point of a texture are one.
fn islands(geometry: &Geometry) -> Vec<u32> {
    let mut islands = connected(geometry, |Vertex { position: p, uv, .. }| [p.x, p.y, p.z, uv.x, uv.y]);
    let mut boxes: BTreeMap<u32, (Vec2, Vec2)> = BTreeMap::new();
    for (vertex, island) in geometry.vertices.iter().zip(&islands) {
        let (low, high) = boxes.entry(*island).or_insert((vertex.uv, vertex.uv));
        (*low, *high) = (low.min(vertex.uv), high.max(vertex.uv));
    }
    let mut points: BTreeMap<[i32; 2], u32> = BTreeMap::new();
    boxes.retain(|_, (low, high)| (*high - *low).max_element() < POINT);
    let point = |(island, (low, _)): (u32, (Vec2, Vec2))| {
        let at = low.to_array().map(|c| (c / POINT).round() as i32);
        (island, *points.entry(at).or_insert(island))
    };
    let same: BTreeMap<u32, u32> = boxes.into_iter().map(point).collect();
    islands.iter_mut().for_each(|island| *island = same.get(island).copied().unwrap_or(*island));
    islands
}

/// Returns the lowest vertex to which each vertex is connected: by triangles, and by having the same key as another one.
fn connected<const N: usize>(geometry: &Geometry, key: impl Fn(&Vertex) -> [f32; N]) -> Vec<u32> {
    let mut sets = DisjointSets::new(geometry.vertices.len());
    for &[a, b, c] in geometry.indices.as_chunks::<3>().0 {
        sets.join(a, b);
        sets.join(b, c);
    }
    let mut known: BTreeMap<[u32; N], u32> = BTreeMap::new();
    for (i, vertex) in (0..).zip(&geometry.vertices) {
        let same = *known.entry(key(vertex).map(|c| (c + 0.0).to_bits())).or_insert(i);
        sets.join(same, i);
    }
    (0..geometry.vertices.len() as u32).map(|vertex| sets.least(vertex)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use glam::{DVec2, DVec3};
    use gpuskin_rt::internals::Wrap;
    use gpuskin_rt::internals::morph::MorphDelta;

    use super::*;
    use crate::geometry::morphs::VertexMorphs;
    use crate::model::fixtures::model;
    use crate::model::{Influences, Primitive, Texture};

    const LEFT: f64 = 0.0;
    const RIGHT: f64 = 0.8;

    /// Squares of one metre, each with its least corner and the texture coordinates of that, ten metres per unit.
    fn squares(of: &[(DVec3, DVec2)]) -> Model {
        let mut made = Primitive::default();
        let (mut normals, mut influences) = (Vec::new(), Influences::default());
        for (least, uv) in of {
            let first = made.positions.len() as u32;
            for [x, y] in [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]] {
                made.positions.push(*least + DVec3::new(x, y, 0.0));
                made.uvs.push(*uv + DVec2::new(x, y) * 0.1);
                normals.push(DVec3::Z);
                influences.push(vec![(0, 1.0)]);
            }
            made.triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        }
        let mut model = model(Primitive { normals: Some(normals), influences, ..made });
        let texture = Texture { image: 0, wrap: [Wrap::Repeat; 2], nearest: false, second_uv: false };
        model.materials[0].base_color_texture = Some(texture);
        model
    }

    /// Two squares side by side, on two islands, and one half a metre above both.
    fn seam() -> Model {
        let (left, right) = (DVec2::splat(LEFT), DVec2::splat(RIGHT));
        let above = DVec3::new(0.5, 0.0, 0.5);
        squares(&[(DVec3::ZERO, left), (DVec3::X, right), (above, DVec2::splat(0.5))])
    }

    /// Fits triangles of a LOD, whose corners are positions, each with the island it comes from. Returns the texture coordinates of
    /// the corners, and the number of vertices. `lift`: how far vertices have moved upwards.
    fn fitted(
        model: &Model,
        change: impl FnOnce(&mut Geometry),
        triangles: &[[([f32; 2], f64); 3]],
        (lift, most): (f32, usize),
    ) -> (Vec<[f32; 2]>, usize) {
        let mut geometry = Geometry::with_at_most(model, 4);
        change(&mut geometry);
        let bones = BonePoses::new(model, geometry.vertices.len());
        let poses = bones.positions(&geometry);
        let fit = IslandFit::new(model, &geometry, &bones, &poses[0]);
        let vertex = |([x, y], island): ([f32; 2], f64)| {
            let is = |v: &Vertex| v.position == Vec3::new(x, y, 0.0) && (f64::from(v.uv.y) - island).abs() < 0.11;
            geometry.vertices.iter().position(is).expect("a corner") as u32
        };
        let parts = [triangles.iter().flatten().map(|corner| vertex(*corner)).collect()];
        let mut level = LevelVertices::new(&geometry, &parts, &[]);
        if fit.are_crossed(&parts, &[]) {
            level.vertices.iter_mut().for_each(|own| own.vertex.position.z += lift);
            fit.apply(&mut level, most);
        }
        let uvs = level.parts[0].iter().map(|vertex| level.vertices[*vertex as usize].vertex.uv.to_array()).collect();
        (uvs, level.vertices.len())
    }

    fn assert_near(found: &[[f32; 2]], expected: &[[f32; 2]]) {
        let near = |(a, b): (&[f32; 2], &[f32; 2])| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5);
        assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?}, {expected:?}");
    }

    /// A triangle mostly on the right square, and one mostly on the left.
    const CROSSED: [[([f32; 2], f64); 3]; 2] = [
        [([0.0, 0.0], LEFT), ([2.0, 0.0], RIGHT), ([2.0, 1.0], RIGHT)],
        [([0.0, 0.0], LEFT), ([2.0, 1.0], RIGHT), ([0.0, 1.0], LEFT)],
    ];

    #[test]
    fn crossed_triangles_get_coordinates_of_one_island() {
        // Corners beyond the seam have the coordinates at the place of the seam that is closest.
        let expected = [[0.8, 0.8], [0.9, 0.8], [0.9, 0.9], [0.0, 0.0], [0.1, 0.1], [0.0, 0.1]];
        for lift in [0.0, 0.45] {
            // The square above is closer to the lifted vertices, but no corner comes from it.
            let (uvs, vertices) = fitted(&seam(), |_| (), &CROSSED, (lift, 100));
            assert_near(&uvs, &expected);
            assert_eq!(vertices, 6);
        }
        // A second triangle on the same island shares the copies.
        let twice = [CROSSED[0], CROSSED[0], CROSSED[1]];
        assert_eq!(fitted(&seam(), |_| (), &twice, (0.0, 100)).1, 6);
        // No room for a whole triangle.
        let before = [[0.0, 0.0], [0.9, 0.8], [0.9, 0.9], [0.0, 0.0], [0.9, 0.9], [0.0, 0.1]];
        let (uvs, vertices) = fitted(&seam(), |_| (), &CROSSED, (0.0, 6));
        assert_near(&uvs, &before);
        assert_eq!(vertices, 4);
    }

    #[test]
    fn other_triangles_stay() {
        let stays = |model: &Model, change: fn(&mut Geometry), triangles: &[_]| {
            fitted(model, change, triangles, (0.0, 100)).1 == 4
        };
        // Within one island, though not within one square of the finest LOD.
        let quad = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]].map(|at| (at, LEFT));
        assert!(stays(&seam(), |_| (), &[[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]));
        // Without a texture.
        let mut plain = seam();
        plain.materials[0].base_color_texture = None;
        assert!(stays(&plain, |_| (), &CROSSED));
        plain.materials[0].normal_texture = seam().materials[0].base_color_texture;
        assert!(!stays(&plain, |_| (), &CROSSED));
        // Morph targets move vertices by their index.
        let moved = |geometry: &mut Geometry| {
            let lists = vec![Vec::new(), vec![MorphDelta::unpack([1, 0, 0, 0])]];
            geometry.morphs = VertexMorphs { lists, of: vec![1; geometry.vertices.len()], words: Vec::new() };
        };
        assert!(stays(&seam(), moved, &CROSSED));
        // Islands that are the same point of a palette.
        let palette = squares(&[(DVec3::ZERO, DVec2::ZERO), (DVec3::X * 3.0, DVec2::ZERO)]);
        let mut geometry = Geometry::with_at_most(&palette, 4);
        let count = |geometry: &Geometry| islands(geometry).into_iter().collect::<BTreeSet<_>>().len();
        geometry.vertices.iter_mut().for_each(|v| v.uv.x = 0.3);
        assert_eq!(count(&geometry), 2, "lines of a texture");
        geometry.vertices.iter_mut().for_each(|v| v.uv.y = 0.6);
        assert_eq!(count(&geometry), 1);
    }
}
