//! Mesh of a model in vertex mode: vertices grouped by equal motion, and their static attributes.

use std::collections::HashMap;

use glam::{DVec3, DVec4, Vec3, Vec4};
use gpuskin_rt::internals::encoding::vat::VertexSample;
use gpuskin_rt::internals::vertex::{Vertex, color_word};

use super::evaluate::{PosedModel, transform_direction, transform_normal};
use crate::geometry::{CornerAttributes, Dropped, Geometry, Groups, color, coordinates};
use crate::model::{Model, Primitive};

/// Mesh of a model in vertex mode.
#[derive(Clone, Debug)]
pub(crate) struct VertexMesh {
    /// Static attributes. The first joint of a vertex is its row, counted from 0.
    pub(crate) geometry: Geometry,
    /// Source of each row, in the order in which vertices first use the rows.
    rows: Vec<VertexRow>,
}

/// A source vertex, and the sources of its normal and tangent.
#[derive(Clone, Copy, Debug)]
struct VertexRow {
    primitive: u32,
    vertex: u32,
    normal: DirectionSource,
    tangent: DirectionSource,
}

#[derive(Clone, Copy, Debug)]
enum DirectionSource {
    /// Attribute of the source vertex.
    Own,
    /// Direction generated for a corner, transformed like the vertex.
    ModelOutput(DVec3),
    /// Normal of a triangle of the primitive, recomputed from its corners in each frame: glTF
    /// requires flat normals if the source has none.
    Face(u32),
}

impl VertexMesh {
    /// Builds the mesh. Vertices that are equal in all frames of any clip share one row.
    pub(crate) fn new(model: &Model) -> Self {
        let tangents = model.primitives.iter().any(|p| model.materials[p.material].normal_map);
        let mut weld = RowWeld::default();
        let mut groups = Groups::new();
        let mut baked_of_source = Vec::new();
        for (p, primitive) in model.primitives.iter().enumerate() {
            let corners = CornerAttributes::new(primitive, tangents);
            let mut baked = vec![None; primitive.positions.len()];
            let indices = groups.entry((primitive.part, primitive.material, false)).or_default();
            for (t, triangle) in primitive.triangles.iter().enumerate() {
                for (k, &v) in triangle.iter().enumerate() {
                    let slot = &mut baked[v as usize];
                    let index = match *slot {
                        Some(index) if !corners.split() => index,
                        _ => weld.index(p, primitive, v, &corners, Some((t, k))),
                    };
                    slot.get_or_insert(index);
                    indices.push(index);
                }
            }
            baked_of_source.extend(
                (0..).zip(baked).map(|(v, index)| index.unwrap_or_else(|| weld.index(p, primitive, v, &corners, None))),
            );
        }
        let RowWeld { rows, vertices, .. } = weld;
        let mut geometry =
            Geometry::arrange((vertices, Vec::new()), groups, baked_of_source, tangents, Dropped::default());
        geometry.second_uv = model.has_second_uv();
        let mut new_of_old = vec![u32::MAX; rows.len()];
        let mut ordered = Vec::with_capacity(rows.len());
        for vertex in &mut geometry.vertices {
            let row = &mut vertex.joints[0];
            let new = &mut new_of_old[*row as usize];
            if *new == u32::MAX {
                *new = ordered.len() as u32;
                ordered.push(rows[*row as usize]);
            }
            *row = *new;
        }
        Self { geometry, rows: ordered }
    }

    /// Number of rows: vertices with different motion.
    pub(crate) fn rows(&self) -> u32 {
        self.rows.len() as u32
    }

    /// Evaluates all rows at a time of a clip.
    pub(crate) fn at<'a>(
        &'a self,
        model: &'a Model,
        pose: &'a PosedModel<'_>,
    ) -> impl Iterator<Item = VertexSample> + 'a {
        self.rows.iter().map(|row| {
            let (p, v) = (row.primitive as usize, row.vertex as usize);
            let matrix = pose.matrix(p, v);
            let normal = match row.normal {
                DirectionSource::Own => pose.normal(&matrix, p, v),
                DirectionSource::ModelOutput(n) => transform_normal(&matrix, n),
                DirectionSource::Face(t) => {
                    let [a, b, c] = model.primitives[p].triangles[t as usize].map(|v| pose.position(p, v as usize));
                    (b - a).cross(c - a).normalize_or_zero()
                }
            };
            let tangent = match row.tangent {
                DirectionSource::ModelOutput(t) => transform_direction(&matrix, t),
                _ => pose.tangent(&matrix, p, v),
            };
            VertexSample {
                position: pose.transformed_position(&matrix, p, v),
                normal: if normal == DVec3::ZERO { DVec3::Z } else { normal },
                tangent,
            }
        })
    }

    /// Returns the bone with the greatest weight of a row.
    pub(super) fn bone(&self, model: &Model, row: usize) -> usize {
        let VertexRow { primitive, vertex, .. } = self.rows[row];
        usize::from(model.primitives[primitive as usize].influences.of(vertex as usize)[0].0)
    }
}

/// Merges equal rows and vertices.
#[derive(Default)]
struct RowWeld {
    rows: Vec<VertexRow>,
    vertices: Vec<Vertex>,
    row_of: HashMap<[u8; 32], u32>,
    vertex_of: HashMap<(u32, [u32; 6]), u32>,
}

impl RowWeld {
    /// Returns the index of the vertex for a corner of a triangle, or for a vertex without
    /// triangles.
    fn index(
        &mut self,
        p: usize,
        primitive: &Primitive,
        vertex: u32,
        corners: &CornerAttributes,
        corner: Option<(usize, usize)>,
    ) -> u32 {
        let v = vertex as usize;
        let normal = match (&primitive.normals, corner) {
            (Some(_), _) => DirectionSource::Own,
            (None, None) => DirectionSource::ModelOutput(DVec3::Z),
            (None, Some((t, _))) if moves_as_one(primitive, t) => {
                DirectionSource::ModelOutput(corners.normal(primitive, t, 0).as_dvec3())
            }
            (None, Some((t, _))) => DirectionSource::Face(t as u32),
        };
        let own = primitive.tangents.as_ref().map(|t| t[v]);
        let made = corner.and_then(|(t, k)| corners.made_tangent(t, k)).map(Vec4::as_dvec4);
        let (tangent, sign) = match (made, own) {
            (Some(made), _) => (DirectionSource::ModelOutput(made.truncate()), made.w),
            (None, Some(own)) => (DirectionSource::Own, own.w),
            (None, None) => (DirectionSource::ModelOutput(DVec3::X), DVec4::X.w),
        };
        let row = VertexRow { primitive: p as u32, vertex, normal, tangent };
        let row = *self.row_of.entry(key(primitive, &row)).or_insert_with(|| {
            self.rows.push(row);
            self.rows.len() as u32 - 1
        });
        let [uv, second_uv] = [&primitive.uvs, &primitive.second_uvs].map(|uvs| coordinates(uvs, v));
        let color = color(primitive, v);
        let part = primitive.part.map_or(0, |part| u32::from(part) + 1);
        let [u, v, second_u, second_v] = [uv.x, uv.y, second_uv.x, second_uv.y].map(f32::to_bits);
        let bits = [u, v, second_u, second_v, u32::from(sign < 0.0) | part << 1, color_word(color)];
        *self.vertex_of.entry((row, bits)).or_insert_with(|| {
            let tangent = Vec4::new(1.0, 0.0, 0.0, if sign < 0.0 { -1.0 } else { 1.0 });
            let weights = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
            let (position, normal) = (Vec3::ZERO, Vec3::ZERO);
            let joints = [row, 0, 0, 0, 0, 0, 0, 0];
            self.vertices.push(Vertex { position, normal, tangent, uv, second_uv, joints, weights, part, color });
            self.vertices.len() as u32 - 1
        })
    }
}

/// Whether all corners of a triangle always have the same matrix.
fn moves_as_one(primitive: &Primitive, triangle: usize) -> bool {
    let [a, b, c] = primitive.triangles[triangle].map(|v| primitive.influences.of(v as usize));
    primitive.targets.is_empty() && a == b && b == c
}

/// Hash of everything that determines a row in all frames.
fn key(primitive: &Primitive, row: &VertexRow) -> [u8; 32] {
    let v = row.vertex as usize;
    let mut hasher = blake3::Hasher::new();
    let mut add = |tag: u8, v: DVec3| {
        hasher.update(&[tag]);
        // Adding zero turns -0.0 into 0.0.
        v.to_array().iter().for_each(|c| _ = hasher.update(&(c + 0.0).to_le_bytes()));
    };
    add(0, primitive.positions[v]);
    match row.normal {
        DirectionSource::Own => add(1, primitive.normals.as_ref().map_or(DVec3::ZERO, |n| n[v])),
        DirectionSource::ModelOutput(n) => add(1, n),
        DirectionSource::Face(_) => {}
    }
    match (row.tangent, &primitive.tangents) {
        (DirectionSource::ModelOutput(t), _) => add(2, t),
        (_, Some(tangents)) => add(2, tangents[v].truncate()),
        _ => {}
    }
    for target in &primitive.targets {
        add(3, target.positions[v]);
        let others = [(4, &target.normals), (5, &target.tangents)];
        others.into_iter().for_each(|(tag, deltas)| deltas.iter().for_each(|d| add(tag, d[v])));
    }
    for &(bone, weight) in primitive.influences.of(v) {
        hasher.update(&bone.to_le_bytes());
        hasher.update(&weight.to_le_bytes());
    }
    // Face normals depend on the primitive, and morph weights on the node.
    if let DirectionSource::Face(t) = row.normal {
        hasher.update(&[6]);
        hasher.update(&row.primitive.to_le_bytes());
        hasher.update(&t.to_le_bytes());
    }
    if !primitive.targets.is_empty() {
        hasher.update(&primitive.node.to_le_bytes());
    }
    *hasher.finalize().as_bytes()
}
