//! Number of influences that each vertex keeps.

use glam::{DVec3, DVec4};
use gpuskin_rt::internals::vertex::MAX_INFLUENCES;
use rayon::prelude::*;

use crate::manifest::InfluenceLimit;
use crate::model::{Model, Primitive};
use crate::sample::{Rows, Sampler};

/// Number of influences that every vertex format holds.
const ALWAYS: usize = 4;
/// Share of the tolerance that the dropped influences of a vertex may take.
const SHARE: f64 = 0.25;
/// Maximum number of poses in which the effect of dropped influences is evaluated.
const MAX_POSES: usize = 256;
/// Number of those poses per clip.
const OF_A_CLIP: usize = 16;

/// Number of influences that are kept, for every source vertex.
pub(crate) struct KeptInfluences {
    counts: Vec<u8>,
    /// Whether the counts follow from the tolerance.
    automatic: bool,
}

impl KeptInfluences {
    /// Chooses the counts. `distance`: allowed position error, metres. `angle`: allowed error of normals,
    /// degrees.
    pub(crate) fn new(model: &Model, limit: InfluenceLimit, distance: f64, angle: f64) -> Self {
        let vertices = model.primitives.iter().map(|primitive| primitive.positions.len()).sum();
        match limit {
            InfluenceLimit::Most(most) => Self { counts: vec![most as u8; vertices], automatic: false },
            InfluenceLimit::Auto => {
                let most = Loss { distance: distance * SHARE, angle: angle.to_radians() * SHARE };
                Self { counts: within(model, vertices, most), automatic: true }
            }
        }
    }

    /// Returns the count of a vertex.
    pub(crate) fn of(&self, source_vertex: usize) -> usize {
        self.counts[source_vertex].into()
    }

    /// Whether influences that a vertex loses are to be reported: not if they are within the tolerance.
    pub(crate) fn is_loss(&self, source_vertex: usize) -> bool {
        !self.automatic || self.of(source_vertex) == MAX_INFLUENCES
    }
}

/// Returns, for every source vertex, the least number of influences from [`ALWAYS`] up that has at most
/// this effect; [`MAX_INFLUENCES`] if no number does.
fn within(model: &Model, vertices: usize, most: Loss) -> Vec<u8> {
    let mut counts = vec![ALWAYS as u8; vertices];
    let mut affected: Vec<(usize, &Primitive, usize)> = Vec::new();
    let mut first = 0;
    for primitive in &model.primitives {
        let many = (0..primitive.positions.len()).filter(|v| primitive.influences.of(*v).len() > ALWAYS);
        affected.extend(many.map(|v| (first + v, primitive, v)));
        first += primitive.positions.len();
    }
    if affected.is_empty() {
        return counts;
    }
    let poses = poses(model);
    let chosen: Vec<u8> = affected
        .par_iter()
        .map(|&(_, primitive, vertex)| {
            let mut worst = [Loss::default(); MAX_INFLUENCES];
            poses.iter().for_each(|bones| raise(bones, primitive, vertex, &mut worst));
            let all = primitive.influences.of(vertex).len();
            let fits = |count: &usize| {
                let loss = worst[count - 1];
                *count >= all || (loss.distance <= most.distance && loss.angle <= most.angle)
            };
            let fits = (ALWAYS..MAX_INFLUENCES).find(fits);
            fits.unwrap_or(MAX_INFLUENCES) as u8
        })
        .collect();
    affected.iter().zip(chosen).for_each(|(&(source, ..), count)| counts[source] = count);
    counts
}

/// Returns the skinning matrices of the rest pose, and of some poses of the clips.
fn poses(model: &Model) -> Vec<Vec<Rows>> {
    let of_clip = |clip| (0..OF_A_CLIP).map(move |i| (Some(clip), i as f64 / (OF_A_CLIP - 1) as f64));
    let all: Vec<_> = model.clips.iter().flat_map(of_clip).collect();
    let count = all.len().min(MAX_POSES);
    let chosen = (0..count).map(|i| all[i * all.len() / count]);
    let times: Vec<_> = std::iter::once((None, 0.0)).chain(chosen).collect();
    let matrices = |(clip, part): (Option<&crate::model::Clip>, f64)| {
        Sampler::new(model, clip).skin_matrices(part * clip.map_or(0.0, |clip| clip.end))
    };
    times.into_par_iter().map(matrices).collect()
}

/// Effect of dropped influences.
#[derive(Clone, Copy, Default)]
struct Loss {
    /// Distance by which the vertex moves, metres.
    distance: f64,
    /// Angle by which its normal turns, radians.
    angle: f64,
}

/// Raises `worst[n - 1]` to the effect in a pose of keeping only the n greatest influences of a vertex.
fn raise(bones: &[Rows], primitive: &Primitive, vertex: usize, worst: &mut [Loss; MAX_INFLUENCES]) {
    let p = primitive.positions[vertex].extend(1.0);
    let normal = primitive.normals.as_ref().map_or(DVec4::ZERO, |normals| normals[vertex].extend(0.0));
    let skinned = |matrix: &[DVec4; 3], v: DVec4| DVec3::from(matrix.map(|row| row.dot(v)));
    let influences = primitive.influences.of(vertex);
    let add = |sum: [DVec4; 3], &(bone, weight): &(u16, f64)| {
        let matrix = bones[usize::from(bone)].map(DVec4::from_array);
        [0, 1, 2].map(|row| sum[row] + matrix[row] * weight)
    };
    let all = influences.iter().fold([DVec4::ZERO; 3], add);
    let (place, direction) = (skinned(&all, p), skinned(&all, normal));
    let (mut sum, mut weights) = ([DVec4::ZERO; 3], 0.0);
    for (influence, worst) in influences.iter().zip(worst) {
        sum = add(sum, influence);
        weights += influence.1;
        worst.distance = worst.distance.max((skinned(&sum, p) / weights).distance(place));
        let angle = skinned(&sum, normal).angle_between(direction);
        // Not a number without a normal.
        worst.angle = worst.angle.max(angle);
    }
}

#[cfg(test)]
mod tests;
