//! The vertices at which a clip's error is looked at while its bits are handed out.

use glam::{DMat4, DVec3};

use super::skeleton::Skeleton;
use crate::frames::rest_diagonal;
use crate::model::Model;
use crate::sample::{Sampler, rows};

/// Some vertices of a model: for each bone those that stand out farthest in 26 directions. A bone's error is affine in the
/// position, so that it is greatest at such a vertex where one bone moves it, and nearly so where several do.
pub(super) struct Samples {
    /// For each vertex: its bones, and its position times the weight, and the weight.
    vertices: Vec<Vec<(usize, [f64; 4])>>,
}

/// Influences below this are not what a vertex is looked at for.
const SLIGHT: f64 = 0.05;

/// How far from a socket what hangs on it reaches, of the rest pose's diagonal: half a metre on 2 m.
const SOCKET_REACH: f64 = 0.25;

/// What would hang on sockets: points around each in the rest pose, as vertices of its bones.
fn around_sockets(model: &Model) -> Vec<Vec<(usize, [f64; 4])>> {
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
                vertices.push(vec![(b, point.extend(1.0).to_array())]);
            }
        }
    }
    vertices
}

impl Samples {
    pub(super) fn new(model: &Model) -> Self {
        let directions: Vec<DVec3> = (0..27)
            .map(|i| DVec3::new(f64::from(i % 3 - 1), f64::from(i / 3 % 3 - 1), f64::from(i / 9 - 1)))
            .filter(|d| *d != DVec3::ZERO)
            .collect();
        // For each bone and direction: how far, and which primitive and vertex. Those that the bone moves most come first.
        let mut farthest = vec![vec![(false, f64::NEG_INFINITY, (0, 0)); directions.len()]; model.bones.len()];
        for (i, primitive) in model.primitives.iter().enumerate() {
            for (v, p) in primitive.positions.iter().enumerate() {
                for (rank, &(bone, weight)) in primitive.influences.of(v).iter().enumerate() {
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
        let vertex = |(i, v): (usize, usize)| {
            let (p, influences) = (model.primitives[i].positions[v], model.primitives[i].influences.of(v));
            influences.iter().map(|&(bone, w)| (usize::from(bone), (p * w).extend(w).to_array())).collect()
        };
        let vertices = chosen.into_iter().map(vertex).chain(around_sockets(model)).collect();
        Self { vertices }
    }

    /// Greatest distance that the vertices of each bone are off in any frame, metres.
    pub(super) fn errors(&self, skeleton: &Skeleton, source: &[Vec<DMat4>], coded: &[Vec<DMat4>]) -> Vec<f64> {
        let mut worst = vec![0.0_f64; skeleton.bones.len()];
        let mut differences = vec![[[0.0; 4]; 3]; skeleton.bones.len()];
        for f in 0..source.first().map_or(0, Vec::len) {
            for (difference, bone) in differences.iter_mut().zip(&skeleton.bones) {
                *difference = rows(&((coded[bone.joint][f] - source[bone.joint][f]) * bone.inverse_bind));
            }
            for vertex in &self.vertices {
                let mut off = [0.0; 3];
                for (bone, p) in vertex {
                    let [x, y, z] = &differences[*bone];
                    off = [off[0] + dot(x, p), off[1] + dot(y, p), off[2] + dot(z, p)];
                }
                let off = (off[0] * off[0] + off[1] * off[1] + off[2] * off[2]).sqrt();
                let off = if off.is_nan() { f64::INFINITY } else { off };
                for (bone, p) in vertex {
                    if p[3] >= SLIGHT && off > worst[*bone] {
                        worst[*bone] = off;
                    }
                }
            }
        }
        worst
    }

    /// Where the vertices of a bone are in a frame, and their weights.
    pub(super) fn of_bone<'a>(&'a self, bone: usize) -> impl Iterator<Item = DVec3> + 'a {
        let of_bone =
            move |vertex: &'a Vec<(usize, [f64; 4])>| vertex.iter().find(|(b, p)| *b == bone && p[3] >= SLIGHT);
        self.vertices.iter().filter_map(of_bone).map(|(_, [x, y, z, w])| DVec3::new(*x, *y, *z) / *w)
    }
}

/// In plain arithmetic: see `crate::plain`.
#[inline(always)]
fn dot(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}
