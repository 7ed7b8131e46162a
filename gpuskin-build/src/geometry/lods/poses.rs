//! Vertex positions at some times of the clips.

use glam::{DMat3, DVec3, Mat3, Vec3};

use crate::geometry::Geometry;
use crate::model::{Clip, Model};
use crate::sample::{Rows, Sampler};
use crate::vertex_mode::{Evaluator, VertexMesh};

/// Maximum number of poses, including the rest pose.
const MAX_POSES: usize = 16;
/// Maximum number of poses per clip.
const OF_A_CLIP: usize = 4;
/// Maximum number of vertex positions in all poses: 96 MB.
const MAX_POSITIONS: usize = 1 << 23;

/// A clip, or `None` for the rest pose, and a time in seconds.
type PoseTime<'a> = (Option<&'a Clip>, f64);

fn pose_times(model: &Model, vertices: usize) -> Vec<PoseTime<'_>> {
    let most = (MAX_POSITIONS / vertices.max(1)).clamp(4, MAX_POSES) - 1;
    let of_clip = |clip: &'_ Clip| {
        let count = if clip.end > 0.0 { OF_A_CLIP } else { 1 };
        (0..count).map(move |i| (i as f64 + 0.5) / count as f64)
    };
    let all: Vec<PoseTime<'_>> =
        model.clips.iter().flat_map(|clip| of_clip(clip).map(move |part| (Some(clip), part * clip.end))).collect();
    let count = most.min(all.len());
    std::iter::once((None, 0.0)).chain((0..count).map(|i| all[i * all.len() / count])).collect()
}

/// Returns the positions of vertices in bone mode, with the influences that are kept.
pub(crate) fn of_bones(model: &Model, geometry: &Geometry) -> LodPoses {
    let skinned = |(clip, seconds): PoseTime<'_>| {
        let bones = Sampler::new(model, clip).skin_matrices(seconds);
        let at = |(index, vertex): (usize, &gpuskin_rt::internals::vertex::Vertex)| {
            let weight = |row: u32| bones[row as usize / 3][row as usize % 3][3];
            let deltas = geometry.morphs.of(index).iter();
            let moved = deltas.map(|delta| delta.position.as_dvec3() * weight(delta.row));
            let p = vertex.position.as_dvec3() + moved.sum::<DVec3>();
            let moved = |m: &Rows| DVec3::from(m.map(|r| r[0] * p.x + r[1] * p.y + r[2] * p.z + r[3]));
            let influences = vertex.joints.iter().zip(vertex.weights).filter(|(_, weight)| *weight > 0.0);
            let parts = influences.map(|(&bone, weight)| moved(&bones[bone as usize]) * f64::from(weight));
            parts.sum::<DVec3>().as_vec3()
        };
        geometry.vertices.iter().enumerate().map(at).collect()
    };
    pose_times(model, geometry.vertices.len()).into_iter().map(skinned).collect()
}

/// Returns the linear part of the skinning matrix of each vertex in the rest pose.
pub(crate) fn rest_axes(model: &Model, geometry: &Geometry) -> Vec<Mat3> {
    let linear = |m: &Rows| DMat3::from_cols_array_2d(&m.map(|[x, y, z, _]| [x, y, z])).transpose();
    let bones: Vec<DMat3> = Sampler::new(model, None).skin_matrices(0.0).iter().map(linear).collect();
    let of = |vertex: &gpuskin_rt::internals::vertex::Vertex| {
        let influences = vertex.joints.iter().zip(vertex.weights).filter(|(_, weight)| *weight > 0.0);
        influences.map(|(&bone, weight)| bones[bone as usize] * f64::from(weight)).sum::<DMat3>().as_mat3()
    };
    geometry.vertices.iter().map(of).collect()
}

/// Returns the positions of vertices in vertex mode.
pub(crate) fn of_vertices(model: &Model, mesh: &VertexMesh) -> LodPoses {
    let posed = |(clip, seconds): PoseTime<'_>| {
        let evaluated = Evaluator::new(model, clip).at(seconds);
        let rows: Vec<Vec3> = mesh.at(model, &evaluated).map(|sample| sample.position.as_vec3()).collect();
        mesh.geometry.vertices.iter().map(|vertex| rows[vertex.joints[0] as usize]).collect()
    };
    pose_times(model, mesh.geometry.vertices.len()).into_iter().map(posed).collect()
}

/// Positions of all vertices in some poses, in metres; the rest pose comes first. `[pose][vertex]`
pub(crate) type LodPoses = Vec<Vec<Vec3>>;
