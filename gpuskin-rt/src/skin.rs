//! A vertex of an instance, on the CPU. Twin of `shaders/skin.wgsl`.

use glam::{Vec2, Vec3, Vec4};

use crate::encoding::vat::BakedVertex;
use crate::vertex::Vertex;
use crate::{ClipRecord, InstanceRecord, Normals, Shown, SkinMatrix, Texels, Time};

/// A vertex where the pose has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinnedVertex {
    /// Metres.
    pub position: Vec3,
    /// Unit length.
    pub normal: Vec3,
    /// Unit length, and the sign of the bitangent in `w`.
    pub tangent: Vec4,
    /// Texture coordinates.
    pub uv: Vec2,
    /// Linear RGBA, which the base colour is multiplied by; 1 where the model has none.
    pub color: Vec4,
}

/// The weighted sum of the matrices of a vertex's bones (linear blend skinning).
pub fn pose(texels: &Texels<'_>, shown: impl Into<Shown>, vertex: &Vertex) -> SkinMatrix {
    let shown = shown.into();
    let mut sum = SkinMatrix::ZERO;
    for (joint, weight) in vertex.joints.into_iter().zip(vertex.weights) {
        if weight > 0.0 {
            sum = sum + texels.bone(shown, joint) * weight;
        }
    }
    sum
}

/// The same of a pose's matrices, [`Texels::pose`].
pub fn blend(bones: &[SkinMatrix], vertex: &Vertex) -> SkinMatrix {
    let mut sum = SkinMatrix::ZERO;
    for (joint, weight) in vertex.joints.into_iter().zip(vertex.weights) {
        if weight > 0.0 {
            sum = sum + bones[joint as usize] * weight;
        }
    }
    sum
}

/// A vertex in model space.
pub fn skin(matrix: &SkinMatrix, vertex: &Vertex, normals: Normals) -> SkinnedVertex {
    let normal = match normals {
        Normals::Cofactor => matrix.normal(vertex.normal),
        Normals::Plain => matrix.direction(vertex.normal),
    };
    SkinnedVertex {
        position: matrix.point(vertex.position),
        normal: normal.normalize_or_zero(),
        tangent: matrix.direction(vertex.tangent.truncate()).normalize_or_zero().extend(vertex.tangent.w),
        uv: vertex.uv,
        color: vertex.color,
    }
}

/// A vertex in model space, where rows of the texture are vertices. Twin of `gpuskin_in_model` in `shaders/vat.wgsl`.
pub fn baked(texels: &Texels<'_>, shown: impl Into<Shown>, vertex: &Vertex) -> SkinnedVertex {
    let stored = |frames| texels.vertex(frames, vertex.joints[0]);
    let BakedVertex { position, normal, tangent } = shown.into().mix(stored, BakedVertex::lerp);
    // Without tangents there is one that stands for none, as in other models.
    let tangent = if vertex.tangent.w == 0.0 { vertex.tangent } else { tangent.extend(vertex.tangent.w) };
    SkinnedVertex { position, normal, tangent, uv: vertex.uv, color: vertex.color }
}

/// A vertex of an instance in the world at a moment: what the vertex shader of a crowd computes.
pub fn skin_vertex(
    texels: &Texels<'_>,
    clips: &[ClipRecord],
    instance: &InstanceRecord,
    now: Time,
    vertex: &Vertex,
    normals: Normals,
) -> SkinnedVertex {
    let shown = instance.shown(clips, now);
    let model = if texels.encoding().is_vertex() {
        baked(texels, shown, vertex)
    } else {
        skin(&pose(texels, shown, vertex), vertex, normals)
    };
    in_world(instance, model)
}

/// A vertex of an instance from model space to the world.
pub fn in_world(instance: &InstanceRecord, model: SkinnedVertex) -> SkinnedVertex {
    SkinnedVertex {
        position: instance.point(model.position),
        normal: instance.direction(model.normal),
        tangent: instance.direction(model.tangent.truncate()).extend(model.tangent.w),
        uv: model.uv,
        color: model.color,
    }
}
