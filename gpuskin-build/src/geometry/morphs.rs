//! Deltas of morph targets for each vertex of the drawn mesh.

use std::collections::HashMap;

use glam::{DVec3, Vec3};
use gpuskin_rt::internals::morph::{MorphDelta, MorphLists};

use crate::model::{Model, MorphTrack, Primitive};

/// Deltas of morph targets of a drawn mesh.
#[derive(Clone, Debug, Default)]
pub struct VertexMorphs {
    /// Different lists of deltas; the first one is empty.
    pub(super) lists: Vec<Vec<MorphDelta>>,
    /// Index of the list. `[vertex]`
    pub(super) of: Vec<u32>,
    /// Words of the texture with the deltas, without levels of detail; empty without morph targets.
    pub words: Vec<u32>,
}

impl VertexMorphs {
    /// Returns the deltas of a vertex.
    pub fn of(&self, vertex: usize) -> &[MorphDelta] {
        self.of.get(vertex).map_or(&[], |list| &self.lists[*list as usize])
    }

    /// Combines the lists of a mesh, and the index of the list of each vertex.
    pub(super) fn new(lists: MorphListSet, of: Vec<u32>) -> Self {
        let mut morphs = Self { lists: lists.lists, of, words: Vec::new() };
        morphs.words = morphs.pack(morphs.of.len(), std::iter::empty());
        morphs
    }

    /// Makes the words of the texture. `vertices`: number of vertices with those that only coarser levels of detail have, which
    /// no target moves. `levels`: indices of these levels, `[part][corner]`.
    pub(crate) fn pack<'l>(&self, vertices: usize, levels: impl Iterator<Item = &'l [Vec<u32>]>) -> Vec<u32> {
        let Some((_, lists)) = self.lists.split_first().filter(|(_, lists)| !lists.is_empty()) else {
            return Vec::new();
        };
        let mut coarsest = vec![0; vertices];
        for (level, indices) in (1..).zip(levels) {
            indices.iter().flatten().for_each(|vertex| coarsest[*vertex as usize] = level);
        }
        let lists: Vec<_> = lists.iter().map(Vec::as_slice).collect();
        let mut of = self.of.clone();
        of.resize(vertices, 0);
        MorphLists::pack(&lists, &of, |vertex| coarsest[vertex])
    }
}

/// Lists of deltas during construction; equal lists are one.
pub(super) struct MorphListSet {
    lists: Vec<Vec<MorphDelta>>,
    index_of: HashMap<Vec<[u32; 4]>, u32>,
}

impl MorphListSet {
    pub(super) fn new() -> Self {
        Self { lists: vec![Vec::new()], index_of: HashMap::from([(Vec::new(), 0)]) }
    }

    /// Returns the index of the list of a source vertex.
    pub(super) fn index(&mut self, model: &Model, primitive: &Primitive, vertex: usize) -> u32 {
        if model.morph_tracks.is_empty() || primitive.targets.is_empty() {
            return 0;
        }
        let deltas = deltas(model, primitive, vertex);
        let key = deltas.iter().map(|delta| delta.pack()).collect();
        *self.index_of.entry(key).or_insert_with(|| {
            self.lists.push(deltas);
            self.lists.len() as u32 - 1
        })
    }
}

/// Returns the deltas of a source vertex by morph targets, for its normal and tangent of unit length.
fn deltas(model: &Model, primitive: &Primitive, vertex: usize) -> Vec<MorphDelta> {
    let normal = primitive.normals.as_ref().map_or(1.0, |normals| normals[vertex].length());
    let tangent = primitive.tangents.as_ref().map_or(1.0, |tangents| tangents[vertex].truncate().length());
    let of_track = |(track, [p, n, t]): (&MorphTrack, [DVec3; 3])| {
        let unit = |delta: DVec3, length: f64| if length > 0.0 { delta / (length * track.scale) } else { DVec3::ZERO };
        let [position, normal, tangent] = [unit(p, 1.0), unit(n, normal), unit(t, tangent)].map(|d| d.as_vec3());
        MorphDelta { row: (3 * track.bone + track.axis) as u32, position, normal, tangent }
    };
    let moves = |delta: &MorphDelta| [delta.position, delta.normal, delta.tangent] != [Vec3::ZERO; 3];
    source_deltas(model, primitive, vertex).map(of_track).filter(moves).collect()
}

/// Iterates over the morph targets of a source vertex that bones have the weights of, with its deltas of position, normal
/// and tangent at a weight of one.
pub(crate) fn source_deltas<'a>(
    model: &'a Model,
    primitive: &'a Primitive,
    vertex: usize,
) -> impl Iterator<Item = (&'a MorphTrack, [DVec3; 3])> {
    model.morph_tracks.iter().filter(|track| track.node == primitive.node).filter_map(move |track| {
        let target = primitive.targets.get(track.target)?;
        let of = |deltas: &Option<Vec<DVec3>>| deltas.as_ref().map_or(DVec3::ZERO, |deltas| deltas[vertex]);
        Some((track, [target.positions[vertex], of(&target.normals), of(&target.tangents)]))
    })
}

#[cfg(test)]
mod tests {
    use gpuskin_rt::internals::MAX_LODS;

    use super::*;

    #[test]
    fn vertices_of_coarser_levels_are_not_moved() {
        let lists = vec![Vec::new(), vec![MorphDelta::unpack([1, 0, 0, 0])]];
        let morphs = VertexMorphs { lists, of: vec![0, 1, 0, 1, 1], words: Vec::new() };
        let level = [vec![0, 1, 5], vec![8, 3, 1]];
        let words = morphs.pack(9, std::iter::once(&level[..]));
        let packed = MorphLists::new(&words);
        assert_eq!(std::array::from_fn(|vertex| packed.of(vertex).count()), [0, 1, 0, 1, 1, 0, 0, 0, 0]);
        assert_eq!([0, 1].map(|level| packed.moved(level)), [5, 3]);
        // The vertices in the order of the coarsest level that draws them follow the lists.
        assert_eq!(words[MAX_LODS + 12..][..5], [0, 1, 3, 2, 4]);
    }
}
