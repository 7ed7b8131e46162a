//! Simplification with `meshopt`: triangles are removed first where vertices move together and have
//! similar normals and colours.

use std::collections::{BTreeMap, BTreeSet};

use gpuskin_rt::internals::vertex::Vertex;
use meshopt::{SimplifyOptions, SimplifyVertex, VertexDataAdapter, simplify_with_attributes_and_locks};

use super::poses::LodPoses;
use crate::geometry::Geometry;

/// Maximum number of poses besides the rest pose that decide which triangles are removed: meshopt
/// supports 32 attributes per vertex.
const MAX_POSES: usize = 7;
/// Maximum number of pose coordinates in memory.
const MAX_NUMBERS: usize = 1 << 24;
/// Weights of attributes relative to the longest side of the surface: a normal turned by one radian
/// counts as much as a distance of this fraction of the side. Likewise texture coordinates over
/// their range, and colours.
const NORMAL_WEIGHT: f32 = 0.05;
const UV_WEIGHT: f32 = 0.1;
const COLOR_WEIGHT: f32 = 0.05;

/// Vertices of a surface, with one copy per group that uses them. For meshopt, the border between
/// two groups is a seam, which stays closed.
pub(super) struct SplitSurface {
    /// Group, and vertex of the mesh.
    sources: Vec<(usize, u32)>,
    indices: Vec<u32>,
    positions: Vec<f32>,
    attributes: Vec<f32>,
    weights: Vec<f32>,
    locks: Vec<SimplifyVertex>,
    /// Number of groups.
    count: usize,
}

/// Options from restrictive to permissive: seams are kept; seams may be collapsed, as is necessary
/// if all edges are hard; small separate pieces may vanish.
pub(super) const OPTIONS: [SimplifyOptions; 3] =
    [SimplifyOptions::None, SimplifyOptions::Permissive, SimplifyOptions::Permissive.union(SimplifyOptions::Prune)];

impl SplitSurface {
    /// Creates a surface from groups of triangles of a mesh.
    pub(super) fn new(geometry: &Geometry, poses: &LodPoses, groups: &[&[u32]]) -> Self {
        let mut number: BTreeMap<(usize, u32), u32> = BTreeMap::new();
        let mut sources = Vec::new();
        let mut indices = Vec::new();
        for (g, group) in groups.iter().enumerate() {
            for &v in *group {
                let next = sources.len() as u32;
                let index = *number.entry((g, v)).or_insert(next);
                if index == next {
                    sources.push((g, v));
                }
                indices.push(index);
            }
        }
        let at = |v: u32, pose: usize| poses[pose][v as usize].to_array();
        let positions: Vec<f32> = sources.iter().flat_map(|&(_, v)| at(v, 0)).collect();
        let (least, greatest) =
            positions.as_chunks::<3>().0.iter().fold(([f32::MAX; 3], [f32::MIN; 3]), |(least, greatest), p| {
                ([0, 1, 2].map(|i| least[i].min(p[i])), [0, 1, 2].map(|i| greatest[i].max(p[i])))
            });
        // The longest side is the unit of length in meshopt.
        let extent = [0, 1, 2].map(|i| greatest[i] - least[i]).into_iter().fold(0.0, f32::max).max(f32::MIN_POSITIVE);
        let count = (MAX_NUMBERS / (3 * sources.len()).max(1)).clamp(1, MAX_POSES).min(poses.len() - 1);
        let chosen: Vec<usize> = (0..count).map(|i| 1 + i * (poses.len() - 1) / count).collect();

        let range = |of: fn(&Vertex) -> f32| {
            let values = || sources.iter().map(|&(_, v)| of(&geometry.vertices[v as usize]));
            (values().fold(f32::MIN, f32::max) - values().fold(f32::MAX, f32::min)).max(f32::MIN_POSITIVE)
        };
        let uv = range(|v| v.uv.x).max(range(|v| v.uv.y));
        let mut weights = vec![NORMAL_WEIGHT; 3];
        weights.extend([UV_WEIGHT / uv.max(1e-6); 2]);
        weights.extend([COLOR_WEIGHT; 3]);
        // All poses together have the same weight as the rest pose.
        let pose_weight = 1.0 / extent / (chosen.len().max(1) as f32).sqrt();
        weights.extend(chosen.iter().flat_map(|_| [pose_weight; 3]));
        let mut attributes = Vec::with_capacity(sources.len() * weights.len());
        for &(_, v) in &sources {
            let vertex = &geometry.vertices[v as usize];
            attributes.extend(vertex.normal.to_array());
            attributes.extend(vertex.uv.to_array());
            attributes.extend(vertex.color.truncate().to_array());
            attributes.extend(chosen.iter().flat_map(|&pose| at(v, pose)));
        }
        let locks = shared(&sources, &positions);
        Self { sources, indices, positions, attributes, weights, locks, count: groups.len() }
    }

    /// Locks vertices of the mesh, so that they keep their positions.
    pub(super) fn lock(&mut self, vertices: &BTreeSet<u32>) {
        for (lock, (_, vertex)) in self.locks.iter_mut().zip(&self.sources) {
            if vertices.contains(vertex) {
                *lock |= SimplifyVertex::Lock;
            }
        }
    }

    /// Returns about `triangles` triangles, with an error up to `limit` in metres, as defined by
    /// meshopt; it includes attributes. Groups stay separate, and joined where they were joined.
    pub(super) fn simplify(&self, triangles: usize, limit: f32, way: SimplifyOptions) -> Vec<Vec<u32>> {
        let bytes: &[u8] = bytemuck::cast_slice(&self.positions);
        let Ok(vertices) = VertexDataAdapter::new(bytes, 12, 0) else { return self.groups(&self.indices) };
        let indices = simplify_with_attributes_and_locks(
            &self.indices,
            &vertices,
            &self.attributes,
            &self.weights,
            self.weights.len() * 4,
            &self.locks,
            (triangles * 3).min(self.indices.len()),
            limit,
            way | SimplifyOptions::ErrorAbsolute,
            None,
        );
        self.groups(&indices)
    }

    /// Returns triangles by group, as indices of vertices of the mesh.
    fn groups(&self, indices: &[u32]) -> Vec<Vec<u32>> {
        let mut groups = vec![Vec::new(); self.count];
        for triangle in indices.as_chunks::<3>().0 {
            let sources = [0, 1, 2].map(|k| self.sources[triangle[k] as usize]);
            groups[sources[0].0].extend(sources.map(|(_, v)| v));
        }
        groups
    }
}

/// Marks vertices at which several groups meet as protected.
fn shared(sources: &[(usize, u32)], positions: &[f32]) -> Vec<SimplifyVertex> {
    let bits = |i: usize| [0, 1, 2].map(|k| (positions[i * 3 + k] + 0.0).to_bits());
    let mut group_at: BTreeMap<[u32; 3], Option<usize>> = BTreeMap::new();
    for (i, &(group, _)) in sources.iter().enumerate() {
        group_at.entry(bits(i)).and_modify(|g| *g = g.filter(|&g| g == group)).or_insert(Some(group));
    }
    let lock = |i| if group_at[&bits(i)].is_none() { SimplifyVertex::Protect } else { SimplifyVertex::None };
    (0..sources.len()).map(lock).collect()
}
