//! Sample vertices at which errors are measured during bit allocation.

use std::ops::Range;

use glam::{DMat4, DVec3};

use super::skeleton::Skeleton;
use crate::model::{Model, Primitive};
use crate::pose_extent::rest_diagonal;
use crate::sample::Sampler;
use crate::vector_math::{Columns, Lanes, add_lanes, dot_lanes, transform};

/// Sample vertices of a model: for each bone, the extreme vertices in 26 directions. The error of a
/// bone is affine in the position, so its maximum is at such a vertex if one bone moves it, and
/// near it if several bones do.
pub(super) struct Samples {
    vertices: Vec<Range<u32>>,
    /// Influences of all vertices.
    influences: Vec<Influence>,
}

struct Influence {
    bone: u32,
    /// Whether the vertex is a sample of this bone.
    counts: bool,
    /// Position times weight, and the weight.
    place: Lanes,
}

/// Minimum weight for which a vertex is a sample of a bone; for a bone with less weight everywhere, half of
/// its greatest weight.
const SLIGHT: f64 = 0.05;

/// Size of objects attached to sockets, relative to the diagonal of the rest pose: half a metre for
/// a model of 2 m.
const SOCKET_REACH: f64 = 0.25;

/// Returns points around each socket in the rest pose, in place of the vertices of attached
/// objects.
fn around_sockets(model: &Model) -> Vec<(usize, DVec3)> {
    if model.sockets.is_empty() {
        return Vec::new();
    }
    let reach = SOCKET_REACH * rest_diagonal(model);
    let sampler = Sampler::new(model, None);
    let bones = model.bones.iter().enumerate().filter(|(_, bone)| model.sockets.contains(&bone.node));
    let mut vertices = Vec::new();
    for (b, bone) in bones {
        let global = sampler.global(bone.node, 0.0);
        let back = (global * bone.inverse_bind).inverse();
        for offset in [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z] {
            let point = back.transform_point3(global.w_axis.truncate() + offset * reach);
            if point.is_finite() {
                vertices.push((b, point));
            }
        }
    }
    vertices
}

/// Returns the greatest number of morph targets that move one vertex.
fn overlap(model: &Model) -> usize {
    let of_vertex = |p: &Primitive, v: usize| p.targets.iter().filter(|t| t.positions[v] != DVec3::ZERO).count();
    let all = model.primitives.iter().flat_map(|p| (0..p.positions.len()).map(move |v| of_vertex(p, v)));
    all.max().unwrap_or(0)
}

impl Samples {
    pub(super) fn new(model: &Model) -> Self {
        let directions: Vec<DVec3> = (0..27)
            .map(|i| DVec3::new(f64::from(i % 3 - 1), f64::from(i / 3 % 3 - 1), f64::from(i / 9 - 1)))
            .filter(|d| *d != DVec3::ZERO)
            .collect();
        let mut greatest = vec![0.0_f64; model.bones.len()];
        // Best candidate: whether the bone has the greatest weight, distance in the direction,
        // primitive and vertex. `[bone][direction]`
        let mut farthest = vec![vec![(false, f64::NEG_INFINITY, (0, 0)); directions.len()]; model.bones.len()];
        for (i, primitive) in model.primitives.iter().enumerate() {
            for (v, p) in primitive.positions.iter().enumerate() {
                for (rank, &(bone, weight)) in primitive.influences.of(v).iter().enumerate() {
                    let greatest = &mut greatest[usize::from(bone)];
                    *greatest = greatest.max(weight);
                    for (best, direction) in farthest[usize::from(bone)].iter_mut().zip(&directions) {
                        let found = (rank == 0 || weight >= 0.5, p.dot(*direction), (i, v));
                        if (found.0, found.1) > (best.0, best.1) {
                            *best = found;
                        }
                    }
                }
            }
        }
        let mut chosen: Vec<(usize, usize)> =
            farthest.iter().flatten().filter(|f| f.1 > f64::NEG_INFINITY).map(|f| f.2).collect();
        chosen.sort_unstable();
        chosen.dedup();
        let least: Vec<f64> = greatest.iter().map(|weight| SLIGHT.min(weight / 2.0)).collect();
        let mut samples = Self { vertices: Vec::new(), influences: Vec::new() };
        for (i, v) in chosen {
            let p = model.primitives[i].positions[v];
            samples.push(
                p,
                &least,
                model.primitives[i].influences.of(v).iter().map(|&(bone, w)| (usize::from(bone), w)),
            );
        }
        // Translations that are weights: an error moves vertices as much, and those of several targets add up.
        let gain = (8.0 * overlap(model) as f64).sqrt();
        for bone in model.bones.len() - model.morph_bones..model.bones.len() {
            samples.push(DVec3::ZERO, &least, std::iter::once((bone, gain)));
        }
        for (bone, p) in around_sockets(model) {
            samples.push(p, &least, std::iter::once((bone, 1.0)));
        }
        samples
    }

    /// Adds a sample. `least`: weight from which on it counts for a bone.
    fn push(&mut self, position: DVec3, least: &[f64], bones: impl Iterator<Item = (usize, f64)>) {
        let start = self.influences.len() as u32;
        self.influences.extend(bones.map(|(bone, weight)| {
            let place = (position * weight).extend(weight).as_vec4().to_array();
            Influence { bone: bone as u32, counts: weight >= least[bone], place }
        }));
        self.vertices.push(start..self.influences.len() as u32);
    }

    fn of_vertices(&self) -> impl Iterator<Item = &[Influence]> {
        self.vertices.iter().map(|range| &self.influences[range.start as usize..range.end as usize])
    }

    /// Returns the greatest error of the sample vertices of each bone in any frame, in metres.
    pub(super) fn errors(&self, skeleton: &Skeleton, source: &[Vec<DMat4>], coded: &[Vec<DMat4>]) -> Vec<f64> {
        // Squared errors. The differences are computed in `f64` and are small, so `f32` is precise
        // enough for the rest.
        let mut worst = vec![0.0_f32; skeleton.bones.len()];
        let mut differences = vec![Columns::default(); skeleton.bones.len()];
        for f in 0..source.first().map_or(0, Vec::len) {
            for (difference, bone) in differences.iter_mut().zip(&skeleton.bones) {
                let lost = (coded[bone.joint][f] - source[bone.joint][f]) * bone.inverse_bind;
                *difference = lost.as_mat4().to_cols_array_2d();
            }
            for influences in self.of_vertices() {
                let mut off = Lanes::default();
                sum(influences, &differences, &mut off);
                let off = dot_lanes(&off, &off);
                let off = if off < f32::INFINITY { off } else { f32::INFINITY };
                for influence in influences {
                    let worst = &mut worst[influence.bone as usize];
                    if influence.counts && off > *worst {
                        *worst = off;
                    }
                }
            }
        }
        worst.into_iter().map(|squared| f64::from(squared).sqrt()).collect()
    }

    /// Returns the positions of the sample vertices of a bone.
    pub(super) fn of_bone(&self, bone: usize) -> impl Iterator<Item = DVec3> {
        let of_bone = move |influences: &'_ [Influence]| {
            let found = influences.iter().find(|influence| influence.bone as usize == bone && influence.counts)?;
            let [x, y, z, w] = found.place.map(f64::from);
            Some(DVec3::new(x, y, z) / w)
        };
        self.of_vertices().filter_map(of_bone)
    }
}

/// Computes the error vector of a vertex. Not inlined, so that the compiler uses four lanes: see
/// `crate::vector_math`.
#[inline(never)]
fn sum(influences: &[Influence], differences: &[Columns], off: &mut Lanes) {
    let mut sum = Lanes::default();
    for influence in influences {
        sum = add_lanes(sum, transform(&differences[influence.bone as usize], &influence.place));
    }
    *off = sum;
}
