//! Tangents by MikkTSpace, as glTF recommends for meshes with a normal map and no tangents.

use bevy_mikktspace::{Geometry, Ops, TangentSpace, generate_tangents};
use glam::{Vec3, Vec4};

use crate::model::Primitive;

/// Returns one tangent per corner, with the sign of the bitangent in `w`. Degenerate triangles get
/// an arbitrary tangent.
pub(super) fn generate(primitive: &Primitive, normal: impl Fn(usize, usize) -> Vec3) -> Vec<Vec4> {
    let tangents = vec![Vec4::X; primitive.triangles.len() * 3];
    let mut mesh = TangentMesh { primitive, normal, tangents };
    // The current version never fails. If a later one does, tangents are arbitrary.
    if generate_tangents::<_, Libm>(&mut mesh).is_err() {
        mesh.tangents.fill(Vec4::X);
    }
    mesh.tangents
}

struct TangentMesh<'a, F> {
    primitive: &'a Primitive,
    normal: F,
    tangents: Vec<Vec4>,
}

impl<F: Fn(usize, usize) -> Vec3> Geometry<Libm> for TangentMesh<'_, F> {
    fn num_faces(&self) -> usize {
        self.primitive.triangles.len()
    }

    fn num_vertices_of_face(&self, _: usize) -> usize {
        3
    }

    fn position(&self, face: usize, corner: usize) -> [f32; 3] {
        self.primitive.positions[self.primitive.triangles[face][corner] as usize].as_vec3().to_array()
    }

    fn normal(&self, face: usize, corner: usize) -> [f32; 3] {
        (self.normal)(face, corner).to_array()
    }

    fn tex_coord(&self, face: usize, corner: usize) -> [f32; 2] {
        // In MikkTSpace v points up, in glTF down.
        let uv = self.primitive.tangent_uvs()[self.primitive.triangles[face][corner] as usize].as_vec2();
        [uv.x, 1.0 - uv.y]
    }

    fn set_tangent(&mut self, space: Option<TangentSpace>, face: usize, corner: usize) {
        self.tangents[face * 3 + corner] = Vec4::from_array(space.unwrap_or_default().tangent_encoded());
    }
}

/// Functions of `libm`, for the same bits on every machine.
struct Libm;

impl Ops for Libm {
    fn sqrt(x: f32) -> f32 {
        x.sqrt()
    }

    fn acos(x: f32) -> f32 {
        libm::acos(f64::from(x)) as f32
    }
}
