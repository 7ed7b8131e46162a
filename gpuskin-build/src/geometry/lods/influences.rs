//! Influences of coarser LODs. Vertices of small LODs get copies without the influences whose effect is small beside the error of the
//! LOD: far away, a frame costs what its vertices cost, and these read fewer bones.

use std::collections::BTreeMap;

use gpuskin_rt::internals::vertex::{MAX_INFLUENCES, Vertex};

use super::normals::{VertexCopy, narrow_room};
use super::poses::skin;
use crate::geometry::{Geometry, influences};
use crate::model::Model;
use crate::sample::Rows;

/// Maximum distance by which a vertex may be moved, relative to the error of its LOD.
const MAX_SHARE: f64 = 0.5;

/// Removes influences from vertices of coarser LODs.
pub(super) struct InfluenceReduction<'a> {
    geometry: &'a Geometry,
    /// Skinning matrices of all bones, in more poses than errors of LODs are measured in. `[pose][bone]`
    poses: Vec<Vec<Rows>>,
    /// Copies of each vertex of the geometry, by its index and the number of influences.
    known: BTreeMap<(u32, usize), u32>,
}

impl<'a> InfluenceReduction<'a> {
    /// Returns nothing for a model without clips: games move its bones in ways that are not known.
    pub(super) fn new(model: &Model, geometry: &'a Geometry) -> Option<Self> {
        let poses = influences::poses(model);
        (poses.len() > 1).then(|| Self { geometry, poses, known: BTreeMap::new() })
    }

    /// Replaces the vertices of a LOD that get by with fewer influences. `parts`: indices of each part of the LOD; `error`: its error
    /// in metres; `copies`: vertices whose indices follow those of the geometry, of which the LOD may have some of its own. Returns
    /// whether a vertex was replaced.
    pub(super) fn apply(&mut self, parts: &mut [Vec<u32>], error: f32, copies: &mut Vec<VertexCopy>) -> bool {
        let most = f64::from(error) * MAX_SHARE;
        let mut chosen: BTreeMap<u32, u32> = BTreeMap::new();
        let mut replaced = false;
        for index in parts.iter_mut().flatten() {
            let before = *index;
            *index = *chosen.entry(before).or_insert_with(|| {
                let new = self.replace(before, most, copies);
                replaced |= new.is_some();
                new.unwrap_or(before)
            });
        }
        replaced
    }

    /// Returns the index of the vertex that replaces one; nothing if it needs its influences.
    fn replace(&mut self, index: u32, most: f64, copies: &mut Vec<VertexCopy>) -> Option<u32> {
        let vertices = &self.geometry.vertices;
        let own = (index as usize).checked_sub(vertices.len());
        // Morph targets move vertices by their index.
        if !self.geometry.morphs.of(index as usize).is_empty() {
            return None;
        }
        let vertex = own.map_or_else(|| vertices[index as usize], |own| copies[own].vertex);
        let count = self.fewest(&vertex, most);
        if count == count_of(&vertex) {
            return None;
        }
        if let Some(own) = own {
            copies[own].vertex = with_influences(&vertex, count);
            return Some(index);
        }
        if let Some(known) = self.known.get(&(index, count)) {
            return Some(*known);
        }
        if narrow_room(self.geometry, copies) == 0 {
            return None;
        }
        let new = (vertices.len() + copies.len()) as u32;
        copies.push(VertexCopy { of: index, vertex: with_influences(&vertex, count) });
        self.known.insert((index, count), new);
        Some(new)
    }

    /// Returns the fewest influences with which a vertex moves by at most `most` metres in every pose.
    fn fewest(&self, vertex: &Vertex, most: f64) -> usize {
        let all = count_of(vertex);
        let is_close = |count: &usize| {
            let reduced = with_influences(vertex, *count);
            let at = |bones, vertex: &Vertex| skin(bones, vertex, vertex.position.as_dvec3());
            self.poses.iter().all(|bones| at(bones, vertex).distance(at(bones, &reduced)) <= most)
        };
        (1..all).find(is_close).unwrap_or(all)
    }
}

/// Returns the number of influences, whose weights descend.
fn count_of(vertex: &Vertex) -> usize {
    vertex.weights.iter().take_while(|weight| **weight > 0.0).count()
}

/// Returns a vertex with its greatest influences alone.
fn with_influences(vertex: &Vertex, count: usize) -> Vertex {
    let sum: f32 = vertex.weights[..count].iter().sum();
    let (mut joints, mut weights) = ([0; MAX_INFLUENCES], [0.0; MAX_INFLUENCES]);
    for k in 0..count {
        (joints[k], weights[k]) = (vertex.joints[k], vertex.weights[k] / sum);
    }
    Vertex { joints, weights, ..*vertex }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use gpuskin_rt::internals::morph::MorphDelta;

    use super::*;
    use crate::geometry::morphs::VertexMorphs;
    use crate::model::fixtures::{cube, model};

    /// Greatest distance of a corner of the cube from where the second bone, which turns by 2.8 about x, moves it.
    fn reach() -> f64 {
        DVec3::ONE.with_x(0.0).length() * 2.0 * libm::sin(1.4)
    }

    #[test]
    fn influences_are_removed_within_half_of_the_error() {
        let model = model(cube(true, |_| vec![(0, 0.9), (1, 0.1)]));
        let geometry = Geometry::with_at_most(&model, 4);
        let just = (0.1 * reach() / MAX_SHARE) as f32;
        let mut reduction = InfluenceReduction::new(&model, &geometry).unwrap();
        let (mut near, mut copies) = ([geometry.indices.clone()], Vec::new());
        assert!(!reduction.apply(&mut near, just * 0.99, &mut copies) && copies.is_empty());
        assert_eq!(near[0], geometry.indices);
        let (mut far, mut farther) = (near.clone(), near);
        assert!(reduction.apply(&mut far, just * 1.01, &mut copies));
        assert!(reduction.apply(&mut farther, just * 2.0, &mut copies));
        // One copy of each vertex, for both.
        assert_eq!((far, copies.len()), (farther, geometry.vertices.len()));
        for VertexCopy { of, vertex } in &copies {
            let source = geometry.vertices[*of as usize];
            assert_eq!((vertex.joints[0], vertex.weights[0], vertex.weights[1]), (0, 1.0, 0.0));
            assert_eq!(Vertex { joints: source.joints, weights: source.weights, ..*vertex }, source);
        }
    }

    #[test]
    fn the_fewest_influences_that_suffice_are_kept() {
        let mut model = model(cube(true, |_| vec![(1, 0.5), (0, 0.4), (2, 0.1)]));
        model.bones.push(model.bones[0].clone());
        let geometry = Geometry::with_at_most(&model, 4);
        let reduction = InfluenceReduction::new(&model, &geometry).unwrap();
        let vertex = geometry.vertices[0];
        // The third bone stands still, like the first: 5/9 instead of 5/10 of the motion.
        let two = (5.0 / 9.0 - 0.5) * reach();
        assert_eq!([two * 0.99, two * 1.01].map(|most| reduction.fewest(&vertex, most)), [3, 2]);
        assert_eq!([0.5, 0.51].map(|part| reduction.fewest(&vertex, part * reach() * 0.999)), [2, 1]);
        let reduced = with_influences(&vertex, 2);
        assert!((reduced.weights[0] - 5.0 / 9.0).abs() < 1e-6 && reduced.weights[2..] == [0.0; 6]);
    }

    #[test]
    fn vertices_that_must_stay_keep_their_influences() {
        let mut model = model(cube(true, |_| vec![(0, 0.9), (1, 0.1)]));
        let geometry = Geometry::with_at_most(&model, 4);
        // A vertex of the level alone is changed in place.
        let own = geometry.vertices.len() as u32;
        let mut copies = vec![VertexCopy { of: 3, vertex: geometry.vertices[3] }];
        let mut far = [vec![own, 0, 1]];
        let mut reduction = InfluenceReduction::new(&model, &geometry).unwrap();
        assert!(reduction.apply(&mut far, 100.0, &mut copies));
        assert_eq!((far[0][0], copies[0].of, copies[0].vertex.weights[0]), (own, 3, 1.0));
        assert_eq!(copies.len(), 3);
        // Indices of 16 bits stay.
        let mut many = geometry.clone();
        many.vertices.resize((1 << 16) - 1, geometry.vertices[0]);
        let mut reduction = InfluenceReduction::new(&model, &many).unwrap();
        let (mut far, mut copies) = ([vec![0, 1, 2]], Vec::new());
        assert!(reduction.apply(&mut far, 100.0, &mut copies));
        assert_eq!((copies.len(), &far[0][1..]), (1, &[1, 2][..]));
        // Morph targets find the vertices that they move by index.
        let delta = MorphDelta::unpack([1, 0, 0, 0]);
        let mut moved = geometry.clone();
        moved.morphs = VertexMorphs { lists: vec![Vec::new(), vec![delta]], of: vec![1, 0, 1], words: Vec::new() };
        let mut reduction = InfluenceReduction::new(&model, &moved).unwrap();
        let (mut far, mut copies) = ([vec![0, 1, 2]], Vec::new());
        assert!(reduction.apply(&mut far, 100.0, &mut copies));
        assert_eq!((far[0][0], copies[0].of, far[0][2]), (0, 1, 2));
        // Without clips, it is not known how bones move.
        model.clips.clear();
        assert!(InfluenceReduction::new(&model, &geometry).is_none());
    }
}
