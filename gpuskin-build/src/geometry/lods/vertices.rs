//! Vertices of one LOD while they are changed, and the copies that result.

use std::collections::BTreeMap;

use glam::Vec3;
use gpuskin_rt::internals::vertex::Vertex;

use crate::geometry::Geometry;

/// Number of vertices up to which indices have 16 bits.
const NARROW: usize = 1 << 16;

/// A vertex with another normal and tangent, other texture coordinates, fewer influences, or another position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct VertexCopy {
    /// Index of the vertex that was copied.
    pub(crate) of: u32,
    pub(crate) vertex: Vertex,
}

/// Vertices of one LOD.
pub(super) struct LevelVertices<'a> {
    geometry: &'a Geometry,
    /// Indices of each part of the LOD, into the vertices.
    pub(super) parts: Vec<Vec<u32>>,
    /// Vertices, each with the index of the one of the mesh from which it comes.
    pub(super) vertices: Vec<VertexCopy>,
    /// Index of each vertex before; `u32::MAX` if it is new.
    before: Vec<u32>,
}

impl<'a> LevelVertices<'a> {
    /// `parts`: indices of each part of the LOD. `copies`: vertices of this LOD alone, whose indices follow those of the mesh.
    pub(super) fn new(geometry: &'a Geometry, parts: &[Vec<u32>], copies: &[VertexCopy]) -> Self {
        let mut known: BTreeMap<u32, u32> = BTreeMap::new();
        let mut own = Self { geometry, parts: Vec::new(), vertices: Vec::new(), before: Vec::new() };
        let mut local = |before: &u32| {
            *known.entry(*before).or_insert_with(|| {
                let vertex = |of: &Vertex| VertexCopy { of: *before, vertex: *of };
                let mesh = geometry.vertices.get(*before as usize).map(vertex);
                own.vertices.push(mesh.unwrap_or_else(|| copies[*before as usize - geometry.vertices.len()]));
                own.before.push(*before);
                own.before.len() as u32 - 1
            })
        };
        own.parts = parts.iter().map(|part| part.iter().map(&mut local).collect()).collect();
        own
    }

    /// Adds a vertex that only this LOD has, and returns its index.
    pub(super) fn add(&mut self, vertex: VertexCopy) -> u32 {
        self.vertices.push(vertex);
        self.before.push(u32::MAX);
        self.before.len() as u32 - 1
    }

    /// Whether a vertex must stay as it is: morph targets move vertices by their index.
    pub(super) fn is_fixed(&self, vertex: usize) -> bool {
        !self.geometry.morphs.of(self.vertices[vertex].of as usize).is_empty()
    }

    /// Returns the least and greatest coordinates of the vertices of the mesh.
    pub(super) fn range(&self) -> [Vec3; 2] {
        let all = || self.geometry.vertices.iter().map(|vertex| vertex.position);
        [all().fold(Vec3::INFINITY, Vec3::min), all().fold(Vec3::NEG_INFINITY, Vec3::max)]
    }

    /// Returns the indices of each part of the LOD, and the vertices that only it has, whose indices follow those of the mesh.
    pub(super) fn into_copies(self) -> (Vec<Vec<u32>>, Vec<VertexCopy>) {
        let mut copies = Vec::new();
        let mesh = &self.geometry.vertices;
        let mut place = |(copy, before): (VertexCopy, u32)| {
            if mesh.get(before as usize) == Some(&copy.vertex) {
                return before;
            }
            copies.push(copy);
            (mesh.len() + copies.len() - 1) as u32
        };
        let after: Vec<u32> = self.vertices.into_iter().zip(self.before).map(&mut place).collect();
        let renamed = |part: Vec<u32>| part.into_iter().map(|vertex| after[vertex as usize]).collect();
        (self.parts.into_iter().map(renamed).collect(), copies)
    }
}

/// Returns how many more vertices a mesh may have: more than [`NARROW`] would need wider indices.
pub(super) fn narrow_room(before: usize, copies: usize) -> usize {
    if before <= NARROW { NARROW.saturating_sub(before + copies) } else { usize::MAX }
}

#[cfg(test)]
mod tests {
    use gpuskin_rt::internals::morph::MorphDelta;

    use super::*;
    use crate::geometry::morphs::VertexMorphs;
    use crate::model::fixtures::{cube, model};

    #[test]
    fn changed_vertices_become_copies() {
        let mut geometry = Geometry::with_at_most(&model(cube(true, |_| vec![(0, 1.0)])), 4);
        let first = geometry.vertices.len() as u32;
        // The second vertex of the LOD is its own already.
        let own = VertexCopy { of: 3, vertex: Vertex { part: 1, ..geometry.vertices[3] } };
        let parts = [vec![2, first, 0], vec![0, 2, 5]];
        let mut level = LevelVertices::new(&geometry, &parts, &[own]);
        assert_eq!(level.vertices.iter().map(|vertex| vertex.of).collect::<Vec<_>>(), [2, 3, 0, 5]);
        assert_eq!(level.parts, [[0, 1, 2], [2, 0, 3]]);
        level.vertices[2].vertex.part = 4;
        let (after, copies) = level.into_copies();
        assert_eq!(after, [vec![2, first, first + 1], vec![first + 1, 2, 5]]);
        assert_eq!(copies, [own, VertexCopy { of: 0, vertex: Vertex { part: 4, ..geometry.vertices[0] } }]);
        // Morph targets find the vertices that they move by index.
        let delta = MorphDelta::unpack([1, 0, 0, 0]);
        geometry.morphs = VertexMorphs { lists: vec![Vec::new(), vec![delta]], of: vec![1, 0, 1], words: Vec::new() };
        let level = LevelVertices::new(&geometry, &parts, &[own]);
        assert_eq!([0, 1, 2, 3].map(|vertex| level.is_fixed(vertex)), [true, false, true, false]);
    }

    #[test]
    fn indices_of_16_bits_stay() {
        assert_eq!(
            [(10, 5), (NARROW - 1, 0), (NARROW - 1, 1)].map(|(own, more)| narrow_room(own, more)),
            [NARROW - 15, 1, 0]
        );
        assert_eq!(narrow_room(NARROW + 1, 7), usize::MAX);
    }
}
