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
    /// Greatest distance between a vertex with all influences and with its greatest four, of those that keep more, metres.
    error_of_four: f64,
    /// Whether the counts follow from the tolerance.
    automatic: bool,
}

impl KeptInfluences {
    /// Chooses the counts. `distance`: allowed position error, metres. `angle`: allowed error of normals,
    /// degrees.
    pub(crate) fn new(model: &Model, limit: InfluenceLimit, distance: f64, angle: f64) -> Self {
        match limit {
            InfluenceLimit::Most(most) if most <= ALWAYS => {
                let vertices = model.primitives.iter().map(|primitive| primitive.positions.len()).sum();
                Self { counts: vec![most as u8; vertices], error_of_four: 0.0, automatic: false }
            }
            InfluenceLimit::Most(most) => Self { automatic: false, ..Self::choose(model, most, |_, _| most) },
            InfluenceLimit::Auto => {
                let most = Loss { distance: distance * SHARE, angle: angle.to_radians() * SHARE };
                Self::choose(model, ALWAYS, |losses, all| {
                    let fits = |count: &usize| {
                        let loss = losses[count - 1];
                        *count >= all || (loss.distance <= most.distance && loss.angle <= most.angle)
                    };
                    (ALWAYS..MAX_INFLUENCES).find(fits).unwrap_or(MAX_INFLUENCES)
                })
            }
        }
    }

    /// Gives a count to each vertex. `usual`: that of vertices with at most [`ALWAYS`] influences. `of_many`: that of another, from
    /// its losses and the number of its influences.
    fn choose(model: &Model, usual: usize, of_many: impl Fn(&[Loss; MAX_INFLUENCES], usize) -> usize + Sync) -> Self {
        let vertices = model.primitives.iter().map(|primitive| primitive.positions.len()).sum();
        let mut kept = Self { counts: vec![usual as u8; vertices], error_of_four: 0.0, automatic: true };
        let mut affected: Vec<(usize, &Primitive, usize)> = Vec::new();
        let mut first = 0;
        for primitive in &model.primitives {
            let many = (0..primitive.positions.len()).filter(|v| primitive.influences.of(*v).len() > ALWAYS);
            affected.extend(many.map(|v| (first + v, primitive, v)));
            first += primitive.positions.len();
        }
        if affected.is_empty() {
            return kept;
        }
        let poses = poses(model);
        let of_vertex = |&(_, primitive, vertex): &(usize, &Primitive, usize)| {
            let mut worst = [Loss::default(); MAX_INFLUENCES];
            poses.iter().for_each(|bones| raise(bones, primitive, vertex, &mut worst));
            (of_many(&worst, primitive.influences.of(vertex).len()), worst[ALWAYS - 1].distance)
        };
        let chosen: Vec<_> = affected.par_iter().map(of_vertex).collect();
        for (&(source, ..), (count, loss)) in affected.iter().zip(chosen) {
            kept.counts[source] = count as u8;
            if count > ALWAYS {
                kept.error_of_four = kept.error_of_four.max(loss);
            }
        }
        kept
    }

    /// Returns the greatest distance between a vertex with all influences and with its greatest four alone, over some poses of all
    /// clips, metres; 0 if no vertex keeps more than four.
    pub(crate) fn error_of_four(&self) -> f32 {
        self.error_of_four as f32
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

/// Returns the skinning matrices of the rest pose, and of some poses of the clips.
pub(super) fn poses(model: &Model) -> Vec<Vec<Rows>> {
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
