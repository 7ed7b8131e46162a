//! Meshes that the CPU skins: the source model, and the bones of a mask as a colour on the model.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use gpuskin_rt::internals::morph::MorphLists;
use gpuskin_rt::internals::skin::SkinnedVertex;
use gpuskin_rt::internals::vertex::Vertex;
use gpuskin_rt::internals::{Data, InstanceRecord, MaskInfo, Time, skin};

use super::shapes::Color;
use crate::preview::options::PreviewModel;
use crate::vertex_mode::Evaluator;

const CLAY: Color = [0.42, 0.4, 0.37, 1.0];
/// Colour of a vertex that moves with the bones of a mask only; alpha follows the weight.
const PAINT: Color = [1.0, 0.3, 0.0, 0.75];

/// Vertex of a surface. Same layout as the inputs of `surface` in `view.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct SurfaceVertex {
    position: [f32; 3],
    normal: [f32; 3],
    color: Color,
}

/// An indexed triangle list.
#[derive(Clone, Debug, Default)]
pub(super) struct Surface {
    pub(super) vertices: Vec<SurfaceVertex>,
    pub(super) indices: Vec<u32>,
}

impl Surface {
    /// Returns the source model at a time, evaluated in `f64` without root motion, and moved by
    /// `offset`.
    pub(super) fn source(model: &PreviewModel, clip: usize, seconds: f64, offset: Vec3) -> Self {
        let plan = &model.baked.trace().plan;
        let (source, grid) = (&plan.model, &plan.grids[clip]);
        let pose = Evaluator::in_place(source, &source.clips[clip], grid).at(seconds.clamp(0.0, grid.duration));
        let mut surface = Self::default();
        for (p, primitive) in source.primitives.iter().enumerate() {
            let first = surface.vertices.len() as u32;
            surface.indices.extend(primitive.triangles.iter().flatten().map(|index| first + index));
            surface.vertices.extend((0..primitive.positions.len()).map(|v| {
                let matrix = pose.matrix(p, v);
                let position = pose.transformed_position(&matrix, p, v).as_vec3() + offset;
                let normal = pose.normal(&matrix, p, v).as_vec3();
                SurfaceVertex { position: position.into(), normal: normal.into(), color: CLAY }
            }));
        }
        surface
    }

    /// Returns the baked model in the colour of a mask: opaque where vertices move with its bones
    /// only, transparent where they move with none of them.
    pub(super) fn mask(model: &PreviewModel, mask: &MaskInfo, instance: &InstanceRecord, lod: usize) -> Self {
        let meta = model.meta();
        let (texels, vertices) = (model.baked.texels(&model.runtime), model.baked.vertices(&model.runtime));
        let records = &model.baked.trace().plan.records;
        let morphs = model.baked.morphs(&model.runtime);
        let mesh = (&vertices[..], &MorphLists::new(&morphs));
        let skinned = skin::skin_vertices(&texels, records, instance, Time::ZERO, mesh, meta.normals);
        let painted = |(vertex, skinned): (&Vertex, &SkinnedVertex)| {
            let influences = vertex.joints.into_iter().zip(vertex.weights);
            let weight: f32 = influences.filter(|(bone, _)| mask.contains(*bone as usize)).map(|(_, w)| w).sum();
            let [r, g, b, alpha] = PAINT;
            SurfaceVertex {
                position: skinned.position(),
                normal: skinned.normal(),
                color: [r, g, b, alpha * weight.clamp(0.0, 1.0)],
            }
        };
        let vertices = vertices.iter().zip(&skinned).map(painted).collect();
        Self { vertices, indices: indices(model, lod) }
    }
}

/// Returns the vertex indices of a level of detail, without hidden parts.
pub(super) fn indices(model: &PreviewModel, lod: usize) -> Vec<u32> {
    let mesh = &model.meta().mesh;
    let Data::Bytes(bytes) = &model.runtime.mesh.data else { return Vec::new() };
    let bytes = &bytes[mesh.indices.offset as usize..][..mesh.indices.len as usize];
    let all: Vec<u32> = match mesh.wide_indices {
        true => bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect(),
        false => bytes.as_chunks::<2>().0.iter().map(|half| u16::from_le_bytes(*half).into()).collect(),
    };
    let level = lod.checked_sub(1).and_then(|level| mesh.levels.get(level));
    let shown = mesh.parts.iter().enumerate().filter(|(_, part)| part.part.is_none_or(|part| !model.hides(part)));
    let ranges = shown.map(|(index, part)| match level {
        Some(level) => (level.parts[index].first_index, level.parts[index].index_count),
        None => (part.first_index, part.index_count),
    });
    ranges.flat_map(|(first, count)| all[first as usize..][..count as usize].iter().copied()).collect()
}
