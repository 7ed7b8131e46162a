//! Vertex positions at some times of the clips.

use glam::{DAffine3, DMat3, DVec3, Mat3, Vec3};
use gpuskin_rt::internals::vertex::Vertex;

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

/// Skinning matrices of all bones in some poses; the rest pose comes first. `[pose][bone]`
pub(crate) struct BonePoses(Vec<Vec<Rows>>);

impl BonePoses {
    /// `vertices`: number of vertices whose positions are wanted.
    pub(crate) fn new(model: &Model, vertices: usize) -> Self {
        let matrices = |(clip, seconds): PoseTime<'_>| Sampler::new(model, clip).skin_matrices(seconds);
        Self(pose_times(model, vertices).into_iter().map(matrices).collect())
    }

    /// Returns the positions of vertices with the influences that are kept.
    pub(crate) fn positions(&self, geometry: &Geometry) -> LodPoses {
        let skinned = |bones: &Vec<Rows>| {
            let at = |(index, vertex): (usize, &Vertex)| {
                let weight = |row: u32| bones[row as usize / 3][row as usize % 3][3];
                let deltas = geometry.morphs.of(index).iter();
                let moved = deltas.map(|delta| delta.position.as_dvec3() * weight(delta.row));
                skin(bones, vertex, vertex.position.as_dvec3() + moved.sum::<DVec3>()).as_vec3()
            };
            geometry.vertices.iter().enumerate().map(at).collect()
        };
        self.0.iter().map(skinned).collect()
    }

    /// Returns the skinning matrix of a vertex in each pose.
    pub(super) fn affines(&self, vertex: &Vertex) -> Vec<DAffine3> {
        let of = |bones: &Vec<Rows>| {
            let mut sum = [[0.0; 4]; 3];
            for (bone, weight) in influences(vertex) {
                sum.iter_mut().flatten().zip(bones[bone].iter().flatten()).for_each(|(sum, m)| *sum += m * weight);
            }
            let column = |k: usize| DVec3::from(sum.map(|row| row[k]));
            DAffine3 { matrix3: DMat3::from_cols(column(0), column(1), column(2)), translation: column(3) }
        };
        self.0.iter().map(of).collect()
    }

    /// Returns the linear part of the skinning matrix of each vertex in the rest pose.
    pub(crate) fn rest_axes(&self, geometry: &Geometry) -> Vec<Mat3> {
        let linear = |m: &Rows| DMat3::from_cols_array_2d(&m.map(|[x, y, z, _]| [x, y, z])).transpose();
        let bones: Vec<DMat3> = self.0[0].iter().map(linear).collect();
        let of = |vertex: &Vertex| {
            let axes = influences(vertex).map(|(bone, weight)| bones[bone] * weight);
            axes.sum::<DMat3>().as_mat3()
        };
        geometry.vertices.iter().map(of).collect()
    }
}

/// Iterates over the bones of a vertex and their weights.
fn influences(vertex: &Vertex) -> impl Iterator<Item = (usize, f64)> {
    let all = vertex.joints.iter().zip(vertex.weights).filter(|(_, weight)| *weight > 0.0);
    all.map(|(&bone, weight)| (bone as usize, f64::from(weight)))
}

/// Returns where a vertex is whose position is `p` before skinning.
pub(super) fn skin(bones: &[Rows], vertex: &Vertex, p: DVec3) -> DVec3 {
    let moved = |m: &Rows| DVec3::from(m.map(|r| r[0] * p.x + r[1] * p.y + r[2] * p.z + r[3]));
    influences(vertex).map(|(bone, weight)| moved(&bones[bone]) * weight).sum()
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
