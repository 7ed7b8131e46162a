//! The rest mesh of vertex mode: the mesh at a frame or time that the manifest names, or in the
//! rest pose of the file.

use glam::Vec3;
use gpuskin_rt::internals::vertex::{Vertex, rest};
use gpuskin_rt::internals::{ByteRange, RestInfo};

use super::{Evaluator, VertexMesh};
use crate::frames::FrameGrid;
use crate::model::Model;

/// A packed rest mesh.
pub(crate) struct RestMesh {
    /// Description of the mesh; its byte range in the file is set later.
    pub(crate) info: RestInfo,
    pub(crate) words: Vec<u32>,
}

/// Builds the rest mesh. `time` is the index of a clip, the clip's frames, and a time in seconds;
/// root motion is removed, as in the texture.
pub(crate) fn rest_mesh(model: &Model, mesh: &VertexMesh, pose: Option<(usize, &FrameGrid, f64)>) -> RestMesh {
    let evaluator = match pose {
        Some((clip, grid, _)) => Evaluator::in_place(model, &model.clips[clip], grid),
        None => Evaluator::new(model, None),
    };
    let seconds = pose.map_or(0.0, |(.., seconds)| seconds);
    let samples: Vec<_> = mesh.at(model, &evaluator.at(seconds)).collect();
    let geometry = &mesh.geometry;
    let stands = |vertex: &Vertex| {
        let sample = &samples[vertex.joints[0] as usize];
        Vertex {
            position: sample.position.as_vec3(),
            normal: sample.normal.as_vec3(),
            tangent: sample.tangent.normalize_or(glam::DVec3::X).as_vec3().extend(vertex.tangent.w),
            ..*vertex
        }
    };
    let vertices: Vec<Vertex> = geometry.vertices.iter().map(stands).collect();
    let (mut min, mut max) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    vertices.iter().for_each(|v| (min, max) = (min.min(v.position), max.max(v.position)));
    let info = RestInfo {
        vertices: ByteRange::default(),
        position_min: min.into(),
        position_extent: (max - min).into(),
        clip: pose.map(|(clip, ..)| clip as u16),
        seconds,
    };
    let words = vertices.iter().flat_map(|v| rest::pack(v, geometry.tangents, &info)).collect();
    RestMesh { info, words }
}
