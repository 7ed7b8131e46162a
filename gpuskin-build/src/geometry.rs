//! Drawn mesh of a model: all primitives in one vertex buffer and one index buffer, with sub-meshes
//! per part and material.

pub(crate) mod influences;
pub(crate) mod lods;
pub(crate) mod morphs;
pub(crate) mod order;
mod tangents;

use std::collections::{BTreeMap, HashMap};

use glam::{DVec2, DVec3, Vec2, Vec3, Vec4};
use gpuskin_rt::internals::vertex::{MAX_INFLUENCES, Vertex, color_word};
use gpuskin_rt::internals::{MeshPart, Packing, VertexFormat};
use influences::KeptInfluences;
use morphs::{MorphListSet, VertexMorphs};

use crate::model::{Model, Primitive};

/// The drawn mesh, before its vertices are packed.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// Vertices: those that morph targets move, then others. Each of both in the order of first use by triangles; unused
    /// vertices come last.
    pub vertices: Vec<Vertex>,
    /// Three indices per triangle, in an order in which neighbours follow each other.
    pub indices: Vec<u32>,
    /// Sub-meshes: parts that are always visible first, then sorted by part and material.
    pub parts: Vec<MeshPart>,
    /// Index of the baked vertex; one of them if a vertex was split, such as at a tangent seam.
    /// `[source vertex]`
    pub baked_of_source: Vec<u32>,
    /// Whether vertices have tangents.
    pub tangents: bool,
    /// Whether vertices have second texture coordinates.
    pub second_uv: bool,
    /// Whether some vertices have a colour other than white.
    pub colors: bool,
    /// Deltas of morph targets.
    pub morphs: VertexMorphs,
    /// Greatest distance between a vertex with all influences and with its greatest four alone, metres; 0 if no vertex keeps more.
    pub influence_error: f32,
    /// Influences that were dropped.
    pub dropped: Dropped,
}

/// Indices by part, material and flat shading; parts that are always visible come first.
pub(crate) type Groups = BTreeMap<(Option<u8>, usize, bool), Vec<u32>>;

/// Influences beyond the maximum per vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Dropped {
    /// Number of vertices that had more influences than the maximum.
    pub vertices: usize,
    /// Greatest sum of dropped weights of a vertex.
    pub weight: f64,
}

impl Geometry {
    /// Combines, welds and orders the primitives of a model.
    pub(crate) fn new(model: &Model, kept: &KeptInfluences) -> Self {
        let tangents = model.primitives.iter().any(|p| model.materials[p.material].normal_map);
        let mut weld = VertexWeld::default();
        let mut morphs = MorphListSet::new();
        let mut groups = Groups::new();
        let mut baked_of_source = Vec::new();
        let mut dropped = Dropped::default();
        for primitive in &model.primitives {
            let first = baked_of_source.len();
            weld.index_of.reserve(primitive.positions.len());
            let reduced = |v| reduce(primitive, v, kept.of(first + v), kept.is_loss(first + v).then_some(&mut dropped));
            let skin: Vec<_> = (0..primitive.positions.len()).map(reduced).collect();
            let lists: Vec<u32> = (0..primitive.positions.len()).map(|v| morphs.index(model, primitive, v)).collect();
            let mut baked = vec![None; primitive.positions.len()];
            // Tangents are orthogonal to the normal, so with tangents each corner has its own
            // normal.
            let flat = primitive.normals.is_none() && !tangents;
            let corners =
                if flat { CornerAttributes::shared(primitive) } else { CornerAttributes::new(primitive, tangents) };
            let indices = groups.entry((primitive.part, primitive.material, flat)).or_default();
            for (t, triangle) in primitive.triangles.iter().enumerate() {
                for (k, &v) in triangle.iter().enumerate() {
                    let v = v as usize;
                    let index = match baked[v] {
                        Some(index) if !corners.split => index,
                        _ => weld.index(corners.vertex(primitive, t, k, &skin[v]), lists[v]),
                    };
                    baked[v].get_or_insert(index);
                    indices.push(index);
                }
            }
            // Vertices without triangles are kept: they are few, and tools compare all source
            // vertices.
            baked_of_source.extend(baked.iter().enumerate().map(|(v, index)| {
                index.unwrap_or_else(|| weld.index(corners.unused(primitive, v, &skin[v]), lists[v]))
            }));
        }

        let mut geometry = Self::arrange((weld.vertices, weld.lists), groups, baked_of_source, tangents, dropped);
        geometry.morphs = VertexMorphs::new(morphs, std::mem::take(&mut geometry.morphs.of));
        geometry.second_uv = model.has_second_uv();
        geometry.influence_error = kept.error_of_four();
        geometry
    }

    /// Returns the layout of the vertices in a packing.
    pub(crate) fn format(&self, packing: Packing) -> VertexFormat {
        VertexFormat { packing, tangent: self.tangents, second_uv: self.second_uv, color: self.colors }
    }

    /// Like [`Self::new`]: each vertex keeps at most this number of influences.
    #[cfg(test)]
    pub(crate) fn with_at_most(model: &Model, influences: usize) -> Self {
        let limit = crate::manifest::InfluenceLimit::Most(influences);
        Self::new(model, &KeptInfluences::new(model, limit, 0.0, 0.0))
    }

    /// Orders triangles and vertices for the GPU caches; without second texture coordinates. `welded`: vertices, and the list of
    /// deltas of each; no lists in vertex mode.
    pub(crate) fn arrange(
        (welded, mut lists): (Vec<Vertex>, Vec<u32>),
        groups: Groups,
        mut baked_of_source: Vec<u32>,
        tangents: bool,
        dropped: Dropped,
    ) -> Self {
        let mut parts = Vec::new();
        let mut indices = Vec::new();
        for ((part, material, flat), triangles) in groups {
            let ordered = order::for_vertex_cache(&order::without_degenerate(&triangles), welded.len());
            if !ordered.is_empty() {
                let (first_index, index_count) = (indices.len() as u32, ordered.len() as u32);
                parts.push(MeshPart { material: material as u32, part, flat, first_index, index_count });
                indices.extend(ordered);
            }
        }
        let mut new_of_old = order::by_first_use(&indices, welded.len());
        // Vertices that morph targets move come first, as `MorphLists` says.
        let still = |vertex: usize| lists.get(vertex).is_none_or(|list| *list == 0);
        let mut order: Vec<usize> = (0..welded.len()).collect();
        order.sort_by_key(|old| (still(*old), new_of_old[*old]));
        (0..).zip(order).for_each(|(new, old)| new_of_old[old] = new);
        indices.iter_mut().chain(&mut baked_of_source).for_each(|i| *i = new_of_old[*i as usize]);
        let mut vertices = welded.clone();
        for (old, &new) in new_of_old.iter().enumerate() {
            vertices[new as usize] = welded[old];
        }
        let old_lists = lists.clone();
        old_lists.iter().zip(&new_of_old).for_each(|(list, new)| lists[*new as usize] = *list);
        let morphs = VertexMorphs { of: lists, ..VertexMorphs::default() };
        let colors = vertices.iter().any(|v| color_word(v.color) != color_word(Vec4::ONE));
        Self {
            vertices,
            indices,
            parts,
            baked_of_source,
            tangents,
            second_uv: false,
            colors,
            morphs,
            influence_error: 0.0,
            dropped,
        }
    }
}

/// Merges vertices with equal bits and equal morph targets.
#[derive(Default)]
struct VertexWeld {
    vertices: Vec<Vertex>,
    /// Index of the list of deltas. `[vertex]`
    lists: Vec<u32>,
    index_of: HashMap<[u32; 33], u32>,
}

impl VertexWeld {
    fn index(&mut self, vertex: Vertex, list: u32) -> u32 {
        let mut key = [0; 33];
        let floats = [
            &vertex.position.to_array()[..],
            &vertex.normal.to_array(),
            &vertex.tangent.to_array(),
            &vertex.uv.to_array(),
            &vertex.weights,
            &vertex.second_uv.to_array(),
        ];
        for (slot, value) in key.iter_mut().zip(floats.into_iter().flatten()) {
            *slot = value.to_bits();
        }
        key[22..30].copy_from_slice(&vertex.joints);
        (key[30], key[31], key[32]) = (color_word(vertex.color), vertex.part, list);
        *self.index_of.entry(key).or_insert_with(|| {
            self.vertices.push(vertex);
            self.lists.push(list);
            self.vertices.len() as u32 - 1
        })
    }
}

/// Bones and weights of a vertex.
type SkinBinding = ([u32; MAX_INFLUENCES], [f32; MAX_INFLUENCES]);

/// Returns the greatest influences of a vertex, normalised to a sum of one.
fn reduce(primitive: &Primitive, vertex: usize, influences: usize, dropped: Option<&mut Dropped>) -> SkinBinding {
    let all = primitive.influences.of(vertex);
    let kept = &all[..all.len().min(influences)];
    let sum: f64 = kept.iter().map(|(_, weight)| weight).sum();
    if let Some(dropped) = dropped.filter(|_| all.len() > kept.len()) {
        dropped.vertices += 1;
        dropped.weight = dropped.weight.max(1.0 - sum);
    }
    let (mut joints, mut weights) = ([0; MAX_INFLUENCES], [0.0; MAX_INFLUENCES]);
    for (k, &(bone, weight)) in kept.iter().enumerate() {
        joints[k] = u32::from(bone);
        weights[k] = (weight / sum) as f32;
    }
    (joints, weights)
}

/// Normals and tangents of a primitive: per vertex, or per corner if triangles that share a vertex
/// differ.
pub(crate) struct CornerAttributes {
    /// Whether a vertex can differ between its triangles.
    split: bool,
    /// Generated normals, if the source has none.
    made: Option<GeneratedNormals>,
    /// Generated tangents, if needed. `[corner]`
    tangents: Option<Vec<Vec4>>,
}

/// Generated normals.
enum GeneratedNormals {
    /// One normal per triangle.
    Flat(Vec<Vec3>),
    /// One normal per vertex.
    Smooth(Vec<Vec3>),
}

impl CornerAttributes {
    /// Creates smooth normals of a primitive without normals that is drawn with flat shading.
    fn shared(primitive: &Primitive) -> Self {
        Self { split: false, made: Some(GeneratedNormals::Smooth(smooth_normals(primitive))), tangents: None }
    }

    pub(crate) fn new(primitive: &Primitive, tangents: bool) -> Self {
        let flat = primitive
            .normals
            .is_none()
            .then(|| primitive.triangles.iter().map(|t| face_normal(primitive, t)).collect());
        let mut corners = Self { split: flat.is_some(), made: flat.map(GeneratedNormals::Flat), tangents: None };
        if tangents && primitive.tangents.is_none() && !primitive.tangent_uvs().is_empty() {
            corners.tangents = Some(tangents::generate(primitive, |t, k| corners.normal(primitive, t, k)));
            corners.split = true;
        }
        corners
    }

    /// Whether a vertex can differ between its triangles.
    pub(crate) fn split(&self) -> bool {
        self.split
    }

    /// Returns the generated tangent of a corner, if there is one.
    pub(crate) fn made_tangent(&self, triangle: usize, corner: usize) -> Option<Vec4> {
        self.tangents.as_ref().map(|t| t[triangle * 3 + corner])
    }

    /// Returns the normal of a corner, in the space of the positions.
    pub(crate) fn normal(&self, primitive: &Primitive, triangle: usize, corner: usize) -> Vec3 {
        match &self.made {
            Some(GeneratedNormals::Flat(normals)) => normals[triangle],
            _ => self.vertex_normal(primitive, primitive.triangles[triangle][corner] as usize),
        }
    }

    fn vertex(&self, primitive: &Primitive, triangle: usize, corner: usize, skin: &SkinBinding) -> Vertex {
        let v = primitive.triangles[triangle][corner] as usize;
        let made = self.made_tangent(triangle, corner);
        vertex(primitive, v, self.normal(primitive, triangle, corner), made, skin)
    }

    fn unused(&self, primitive: &Primitive, v: usize, skin: &SkinBinding) -> Vertex {
        vertex(primitive, v, self.vertex_normal(primitive, v), None, skin)
    }

    fn vertex_normal(&self, primitive: &Primitive, v: usize) -> Vec3 {
        match (&self.made, &primitive.normals) {
            (Some(GeneratedNormals::Smooth(normals)), _) => normals[v],
            (_, Some(normals)) => unit(normals[v]),
            _ => Vec3::Z,
        }
    }
}

fn vertex(
    primitive: &Primitive,
    v: usize,
    normal: Vec3,
    made: Option<Vec4>,
    &(joints, weights): &SkinBinding,
) -> Vertex {
    let kept = primitive.tangents.as_ref().map(|t| t[v].as_vec4());
    Vertex {
        position: primitive.positions[v].as_vec3(),
        normal,
        tangent: made.or(kept).unwrap_or(Vec4::X),
        uv: coordinates(&primitive.uvs, v),
        second_uv: coordinates(&primitive.second_uvs, v),
        joints,
        weights,
        part: primitive.part.map_or(0, |part| u32::from(part) + 1),
        color: color(primitive, v),
    }
}

/// Returns the texture coordinates of a vertex; zero if there are none.
pub(crate) fn coordinates(uvs: &[DVec2], v: usize) -> Vec2 {
    uvs.get(v).map_or(Vec2::ZERO, |uv| uv.as_vec2())
}

/// Returns the colour of a vertex; white if it has none.
pub(crate) fn color(primitive: &Primitive, v: usize) -> Vec4 {
    primitive.colors.as_ref().map_or(Vec4::ONE, |colors| Vec4::from(colors[v]))
}

/// Returns the flat normal of a triangle in bind space, which glTF requires for primitives without
/// normals (section 3.7.2.1). Skinning then transforms it.
fn face_normal(primitive: &Primitive, triangle: &[u32; 3]) -> Vec3 {
    unit(area_vector(primitive, triangle))
}

/// Returns the normal of a triangle, with twice its area as length.
fn area_vector(primitive: &Primitive, triangle: &[u32; 3]) -> DVec3 {
    let [a, b, c] = triangle.map(|v| primitive.positions[v as usize]);
    (b - a).cross(c - a)
}

/// Returns, per vertex, the area-weighted normal of all triangles at its position.
fn smooth_normals(primitive: &Primitive) -> Vec<Vec3> {
    let place = |v: u32| (primitive.positions[v as usize] + DVec3::ZERO).to_array().map(f64::to_bits);
    let mut sums: HashMap<[u64; 3], DVec3> = HashMap::new();
    for triangle in &primitive.triangles {
        let area = area_vector(primitive, triangle);
        triangle.iter().for_each(|&v| *sums.entry(place(v)).or_default() += area);
    }
    let normal = |v| sums.get(&place(v)).map_or(Vec3::Z, |sum| unit(*sum));
    (0..primitive.positions.len() as u32).map(normal).collect()
}

/// Normalises a vector to `f32`; zero becomes z.
fn unit(v: DVec3) -> Vec3 {
    let length = v.length();
    if length > 0.0 { (v / length).as_vec3() } else { Vec3::Z }
}

#[cfg(test)]
mod tests;
