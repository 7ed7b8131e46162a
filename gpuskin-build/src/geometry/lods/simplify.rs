//! Simplification with `meshopt`: triangles are removed first where vertices move together and have
//! similar normals and colours.

use std::collections::{BTreeMap, BTreeSet};

use glam::Vec3;
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
/// Number of attributes without positions: normal, texture coordinates, colour.
#[cfg(test)]
const ATTRIBUTE_WEIGHTS: usize = 8;
/// Weight of all other poses together relative to the rest pose. Joints lose most in other poses: with 10 instead of 1, half
/// the triangles of CesiumMan are off by 6.7 mm instead of 24.8 mm at the worst of all points in sixteen poses. A crowd of a
/// million soldiers takes 0.94 of the time at the same allowed error.
const POSE_WEIGHT: f32 = 10.0;
/// Maximum number of vertices at a place that are tried for a triangle.
const MAX_CHOICES: usize = 8;
/// Weight of stretched texture coordinates against turned normals, where seams are given up.
const UV_MISFIT: f32 = 0.5;

/// A surface for meshopt. Its vertices are those of the mesh, or the places at which several of
/// them are.
pub(super) struct CollapsibleSurface<'a> {
    geometry: &'a Geometry,
    rest: &'a [Vec3],
    /// Group, and vertex of the mesh, of all vertices of this surface in order.
    sources: Vec<(usize, u32)>,
    /// Index of the first source of each vertex, and the number of sources.
    first: Vec<u32>,
    indices: Vec<u32>,
    positions: Vec<f32>,
    attributes: Vec<f32>,
    weights: Vec<f32>,
    locks: Vec<SimplifyVertex>,
    /// Number of groups.
    count: usize,
    /// Length in texture coordinates per metre.
    uv_scale: f32,
}

/// Treatment of seams: edges at which normals, texture coordinates or materials change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Seams {
    /// Vertices are those of the mesh, with one copy per group that uses them. For meshopt, the
    /// border between two groups is a seam, which stays closed.
    Kept,
    /// All vertices that stay together in all poses are one, without other attributes, so that
    /// hard edges and borders of materials do not hold the simplification up.
    Welded,
}

/// Options from restrictive to permissive: seams are kept; seams may be collapsed, as is necessary
/// if all edges are hard; small separate pieces may vanish; seams are given up.
pub(super) const OPTIONS: [(Seams, SimplifyOptions); 4] = [
    (Seams::Kept, SimplifyOptions::None),
    (Seams::Kept, SimplifyOptions::Permissive),
    (Seams::Kept, SimplifyOptions::Permissive.union(SimplifyOptions::Prune)),
    (Seams::Welded, SimplifyOptions::Permissive.union(SimplifyOptions::Prune)),
];

impl<'a> CollapsibleSurface<'a> {
    /// Creates a surface from groups of triangles of a mesh.
    pub(super) fn new(geometry: &'a Geometry, poses: &'a LodPoses, groups: &[&[u32]], seams: Seams) -> Self {
        let count = (MAX_NUMBERS / (3 * geometry.vertices.len()).max(1)).clamp(1, MAX_POSES).min(poses.len() - 1);
        let chosen: Vec<usize> = (0..count).map(|i| 1 + i * (poses.len() - 1) / count).collect();
        let at = |v: u32, pose: usize| poses[pose][v as usize].to_array();
        // Vertices that differ in the rest pose or in the last one are apart.
        let place = |v: u32| {
            let bits = |pose: usize| at(v, pose).map(|c| (c + 0.0).to_bits());
            (bits(0), bits(chosen.last().copied().unwrap_or(0)))
        };

        // A vertex of this surface, by a key.
        let mut split: BTreeMap<(usize, u32), u32> = BTreeMap::new();
        let mut welded: BTreeMap<([u32; 3], [u32; 3]), u32> = BTreeMap::new();
        let mut members: Vec<Vec<(usize, u32)>> = Vec::new();
        let mut indices = Vec::new();
        for (g, group) in groups.iter().enumerate() {
            for &v in *group {
                let mut added = false;
                let own = *split.entry((g, v)).or_insert_with(|| {
                    added = true;
                    let next = members.len() as u32;
                    match seams {
                        Seams::Kept => next,
                        Seams::Welded => *welded.entry(place(v)).or_insert(next),
                    }
                });
                if added {
                    if own as usize == members.len() {
                        members.push(Vec::new());
                    }
                    members[own as usize].push((g, v));
                }
                indices.push(own);
            }
        }
        let first = members.iter().scan(0, |next, own| {
            *next += own.len() as u32;
            Some(*next - own.len() as u32)
        });
        let first: Vec<u32> = first.collect();
        let chief: Vec<(usize, u32)> = members.iter().map(|own| own[0]).collect();
        let sources: Vec<(usize, u32)> = members.into_iter().flatten().collect();

        let positions: Vec<f32> = chief.iter().flat_map(|&(_, v)| at(v, 0)).collect();
        let (least, greatest) =
            positions.as_chunks::<3>().0.iter().fold(([f32::MAX; 3], [f32::MIN; 3]), |(least, greatest), p| {
                ([0, 1, 2].map(|i| least[i].min(p[i])), [0, 1, 2].map(|i| greatest[i].max(p[i])))
            });
        // The longest side is the unit of length in meshopt.
        let extent = [0, 1, 2].map(|i| greatest[i] - least[i]).into_iter().fold(0.0, f32::max).max(f32::MIN_POSITIVE);
        let mut weights = Vec::new();
        if seams == Seams::Kept {
            let range = |of: fn(&Vertex) -> f32| {
                let values = || sources.iter().map(|&(_, v)| of(&geometry.vertices[v as usize]));
                (values().fold(f32::MIN, f32::max) - values().fold(f32::MAX, f32::min)).max(f32::MIN_POSITIVE)
            };
            let uv = range(|v| v.uv.x).max(range(|v| v.uv.y));
            weights.extend([NORMAL_WEIGHT; 3]);
            weights.extend([UV_WEIGHT / uv.max(1e-6); 2]);
            weights.extend([COLOR_WEIGHT; 3]);
        }
        let pose_weight = POSE_WEIGHT / extent / (chosen.len().max(1) as f32).sqrt();
        weights.extend(chosen.iter().flat_map(|_| [pose_weight; 3]));
        let mut attributes = Vec::with_capacity(chief.len() * weights.len());
        for &(_, v) in &chief {
            if seams == Seams::Kept {
                let vertex = &geometry.vertices[v as usize];
                attributes.extend(vertex.normal.to_array());
                attributes.extend(vertex.uv.to_array());
                attributes.extend(vertex.color.truncate().to_array());
            }
            attributes.extend(chosen.iter().flat_map(|&pose| at(v, pose)));
        }
        let locks = match seams {
            Seams::Kept => shared(&chief, &positions),
            Seams::Welded => vec![SimplifyVertex::None; chief.len()],
        };
        let mut surface = Self {
            geometry,
            rest: &poses[0],
            sources,
            first,
            indices,
            positions,
            attributes,
            weights,
            locks,
            count: groups.len(),
            uv_scale: 0.0,
        };
        if seams == Seams::Welded {
            surface.uv_scale = surface.uv_scale(groups);
        }
        surface
    }

    /// Returns the surface without its positions in other poses.
    #[cfg(test)]
    pub(super) fn of_rest_pose(mut self) -> Self {
        let (all, own) = (self.weights.len(), ATTRIBUTE_WEIGHTS);
        let vertices = self.attributes.chunks(all);
        self.attributes = vertices.flat_map(|of_vertex| &of_vertex[..own]).copied().collect();
        self.weights.truncate(own);
        self
    }

    /// Returns about `triangles` triangles, with an error up to `limit` in metres, as defined by
    /// meshopt; it includes attributes. Groups stay separate, and joined where they were joined.
    /// Vertices of the mesh in `locked` keep their positions.
    pub(super) fn simplify(
        &self,
        triangles: usize,
        limit: f32,
        options: SimplifyOptions,
        locked: &BTreeSet<u32>,
    ) -> Vec<Vec<u32>> {
        let mut locks = self.locks.clone();
        if !locked.is_empty() {
            let holds = |i: usize| self.of(i as u32).iter().any(|(_, vertex)| locked.contains(vertex));
            locks.iter_mut().enumerate().filter(|(i, _)| holds(*i)).for_each(|(_, lock)| *lock |= SimplifyVertex::Lock);
        }
        let bytes: &[u8] = bytemuck::cast_slice(&self.positions);
        let Ok(vertices) = VertexDataAdapter::new(bytes, 12, 0) else { return self.groups(&self.indices) };
        let indices = simplify_with_attributes_and_locks(
            &self.indices,
            &vertices,
            &self.attributes,
            &self.weights,
            self.weights.len() * 4,
            &locks,
            (triangles * 3).min(self.indices.len()),
            limit,
            options | SimplifyOptions::ErrorAbsolute,
            None,
        );
        self.groups(&indices)
    }

    /// Returns the sources of a vertex of this surface.
    fn of(&self, i: u32) -> &[(usize, u32)] {
        let end = self.first.get(i as usize + 1).map_or(self.sources.len(), |&end| end as usize);
        &self.sources[self.first[i as usize] as usize..end]
    }

    /// Returns triangles by group, as indices of vertices of the mesh.
    fn groups(&self, indices: &[u32]) -> Vec<Vec<u32>> {
        let mut groups = vec![Vec::new(); self.count];
        for &[a, b, c] in indices.as_chunks::<3>().0 {
            let corners = [self.of(a), self.of(b), self.of(c)];
            let (group, vertices) = match corners {
                [[a], [b], [c]] => (a.0, [a.1, b.1, c.1]),
                _ => self.dressed(corners),
            };
            groups[group].extend(vertices);
        }
        groups
    }

    /// Returns the group of a triangle, and the vertices of the mesh at its corners whose attributes
    /// suit it best.
    fn dressed(&self, corners: [&[(usize, u32)]; 3]) -> (usize, [u32; 3]) {
        let at = |source: &(usize, u32)| self.rest[source.1 as usize];
        let [a, b, c] = corners.map(|corner| at(&corner[0]));
        let face = (b - a).cross(c - a).normalize_or_zero();
        let around = a.distance(b) + b.distance(c) + c.distance(a);
        let all: BTreeSet<usize> = corners.iter().flat_map(|corner| corner.iter().map(|(group, _)| *group)).collect();
        let mut best = (0, f32::INFINITY, corners[0][0].0, corners.map(|corner| corner[0].1));
        for group in all {
            // A corner where the group has no vertex takes one of another group.
            let options = corners.map(|corner| {
                let own: Vec<u32> = corner.iter().filter(|(g, _)| *g == group).map(|(_, v)| *v).collect();
                let has = !own.is_empty();
                let mut all = if has { own } else { corner.iter().map(|(_, v)| *v).collect() };
                all.truncate(MAX_CHOICES);
                (has, all)
            });
            let has = options.iter().filter(|(has, _)| *has).count();
            for &i in &options[0].1 {
                for &j in &options[1].1 {
                    for &k in &options[2].1 {
                        let off = self.misfit([i, j, k], face, around);
                        if has > best.0 || has == best.0 && off < best.1 {
                            best = (has, off, group, [i, j, k]);
                        }
                    }
                }
            }
        }
        (best.2, best.3)
    }

    /// Returns how badly attributes suit a triangle: normals that are not those of the face, and
    /// texture coordinates that are farther apart than the corners are.
    fn misfit(&self, corners: [u32; 3], face: Vec3, around: f32) -> f32 {
        let [a, b, c] = corners.map(|v| &self.geometry.vertices[v as usize]);
        let turned = 3.0 - (a.normal + b.normal + c.normal).dot(face);
        let uv_around = a.uv.distance(b.uv) + b.uv.distance(c.uv) + c.uv.distance(a.uv);
        let stretched = uv_around / (self.uv_scale * around).max(f32::MIN_POSITIVE) - 1.0;
        turned + UV_MISFIT * stretched.clamp(0.0, 4.0)
    }

    /// Returns the length in texture coordinates per metre, averaged over the edges of triangles.
    fn uv_scale(&self, groups: &[&[u32]]) -> f32 {
        let (mut uv, mut metres) = (0.0, 0.0);
        for &[a, b, c] in groups.iter().flat_map(|group| group.as_chunks::<3>().0) {
            for (v, w) in [(a, b), (b, c), (c, a)].map(|(v, w)| (v as usize, w as usize)) {
                uv += self.geometry.vertices[v].uv.distance(self.geometry.vertices[w].uv);
                metres += self.rest[v].distance(self.rest[w]);
            }
        }
        uv / metres.max(f32::MIN_POSITIVE)
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
