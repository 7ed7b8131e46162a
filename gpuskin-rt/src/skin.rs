//! Skinning of a vertex on the CPU. CPU reference of `shaders/skin.wgsl`.

use glam::{Vec2, Vec3, Vec4};

use crate::encoding::vat::BakedVertex;
use crate::morph::MorphLists;
use crate::vertex::Vertex;
use crate::{Affine3, ClipRecord, InstanceRecord, Normals, PoseBlend, Texels, Time};

/// A skinned vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinnedVertex {
    /// Position, metres.
    #[doc(hidden)]
    pub position: Vec3,
    /// Normal of unit length.
    #[doc(hidden)]
    pub normal: Vec3,
    /// Tangent of unit length; `w` is the sign of the bitangent.
    #[doc(hidden)]
    pub tangent: Vec4,
    /// Texture coordinates.
    #[doc(hidden)]
    pub uv: Vec2,
    /// Second texture coordinates.
    #[doc(hidden)]
    pub second_uv: Vec2,
    /// Colour: linear RGBA, multiplied with the base colour; 1 if the model has no colours.
    #[doc(hidden)]
    pub color: Vec4,
}

impl SkinnedVertex {
    /// Returns the position, metres.
    pub fn position(&self) -> [f32; 3] {
        self.position.into()
    }

    /// Returns the normal, of unit length.
    pub fn normal(&self) -> [f32; 3] {
        self.normal.into()
    }

    /// Returns the tangent, of unit length; the fourth number is the sign of the bitangent.
    pub fn tangent(&self) -> [f32; 4] {
        self.tangent.into()
    }

    /// Returns the texture coordinates.
    pub fn uv(&self) -> [f32; 2] {
        self.uv.into()
    }

    /// Returns the second texture coordinates, for textures of materials that name them; zero if the model has none.
    pub fn second_uv(&self) -> [f32; 2] {
        self.second_uv.into()
    }

    /// Returns the vertex colour, linear RGBA; white if the model has no vertex colours.
    pub fn color(&self) -> [f32; 4] {
        self.color.into()
    }
}

/// Returns the weighted sum of the skinning matrices of a vertex's bones (linear blend skinning), from the matrices of
/// [`Texels::pose`].
pub fn blend(bones: &[Affine3], vertex: &Vertex) -> Affine3 {
    let mut sum = Affine3::ZERO;
    for (joint, weight) in vertex.joints.into_iter().zip(vertex.weights) {
        if weight > 0.0 {
            sum = sum + bones[joint as usize] * weight;
        }
    }
    sum
}

/// Returns a vertex moved by morph targets, before skinning. `bones`: the matrices of [`Texels::pose`]; `index`:
/// index of the vertex. CPU reference of `gpuskin_morphed` in `shaders/morphs.wgsl`.
pub fn morphed(bones: &[Affine3], morphs: &MorphLists<'_>, index: usize, vertex: &Vertex) -> Vertex {
    let translation = |row: u32| bones.get(row as usize / 3).map_or(0.0, |bone| bone.rows[row as usize % 3].w);
    morphs.morphed(index, vertex, translation)
}

/// Transforms a vertex by a skinning matrix. The result is in model space.
pub fn skin(matrix: &Affine3, vertex: &Vertex, normals: Normals) -> SkinnedVertex {
    let normal = match normals {
        Normals::Cofactor => matrix.normal(vertex.normal),
        Normals::Plain => matrix.direction(vertex.normal),
    };
    SkinnedVertex {
        position: matrix.point(vertex.position),
        normal: normal.normalize_or_zero(),
        tangent: matrix.direction(vertex.tangent.truncate()).normalize_or_zero().extend(vertex.tangent.w),
        uv: vertex.uv,
        second_uv: vertex.second_uv,
        color: vertex.color,
    }
}

/// Returns a vertex of a model in vertex mode. Model space. CPU reference of `gpuskin_in_model` in
/// `shaders/vat.wgsl`.
pub fn baked(texels: &Texels<'_>, shown: impl Into<PoseBlend>, vertex: &Vertex) -> SkinnedVertex {
    let stored = |frames| texels.vertex(frames, vertex.joints[0]);
    let BakedVertex { position, normal, tangent } = shown.into().mix(stored, BakedVertex::lerp);
    // A model without tangents keeps its placeholder tangent, as in bone mode.
    let tangent = if vertex.tangent.w == 0.0 { vertex.tangent } else { tangent.extend(vertex.tangent.w) };
    let Vertex { uv, second_uv, color, .. } = *vertex;
    SkinnedVertex { position, normal, tangent, uv, second_uv, color }
}

/// Returns all vertices of an instance at a time, in world space: the results of a crowd's vertex
/// shader.
pub fn skin_vertices(
    texels: &Texels<'_>,
    clips: &[ClipRecord],
    instance: &InstanceRecord,
    time: Time,
    (vertices, morphs): (&[Vertex], &MorphLists<'_>),
    normals: Normals,
) -> Vec<SkinnedVertex> {
    let shown = instance.pose_blend(clips, time);
    let of_vertex = texels.encoding().is_vertex();
    let bones = if of_vertex { Vec::new() } else { texels.pose(shown) };
    let skinned = |(index, vertex): (usize, &Vertex)| {
        let model = if of_vertex {
            baked(texels, shown, vertex)
        } else {
            let vertex = morphed(&bones, morphs, index, vertex);
            skin(&blend(&bones, &vertex), &vertex, normals)
        };
        in_world(instance, model)
    };
    vertices.iter().enumerate().map(skinned).collect()
}

/// Transforms a vertex of an instance from model space to world space.
pub fn in_world(instance: &InstanceRecord, model: SkinnedVertex) -> SkinnedVertex {
    SkinnedVertex {
        position: instance.point(model.position),
        normal: instance.direction(model.normal),
        tangent: instance.direction(model.tangent.truncate()).extend(model.tangent.w),
        uv: model.uv,
        second_uv: model.second_uv,
        color: model.color,
    }
}
