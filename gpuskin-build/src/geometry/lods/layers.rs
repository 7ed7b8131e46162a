//! Pieces of a surface that are not connected, and which way its triangles face.

use std::collections::BTreeMap;

use glam::Vec3;

use super::sets::DisjointSets;
use super::surface::BoxTree;
use crate::vector_math::{dot, sub};

/// Minimum cosine of the angle between a triangle and a normal that face the same way.
const SAME_WAY: f32 = 0.3;

/// Pieces and directions of the triangles of a surface, in the rest pose.
pub(super) struct Layers {
    /// Piece of each triangle, from 0.
    pub(super) piece: Vec<u32>,
    /// Unit normal of each triangle; 0 if it has no area.
    pub(super) faces: Vec<Vec3>,
}

impl Layers {
    pub(super) fn new(tree: &BoxTree, positions: &[Vec3]) -> Self {
        let triangles = tree.triangles();
        Self { piece: pieces(triangles, positions), faces: triangles.iter().map(|t| face(t, positions)).collect() }
    }

    /// Returns whether there are several pieces.
    pub(super) fn has_pieces(&self) -> bool {
        self.piece.iter().any(|piece| *piece > 0)
    }
}

/// Returns the unit normal of a triangle; 0 if it has no area.
pub(super) fn face(triangle: &[u32; 3], positions: &[Vec3]) -> Vec3 {
    let [a, b, c] = triangle.map(|v| positions[v as usize]);
    sub(b, a).cross(sub(c, a)).normalize_or_zero()
}

/// Returns whether a triangle faces the same way as a normal of any length.
pub(super) fn faces_same_way(face: Vec3, normal: Vec3) -> bool {
    dot(face, normal) > SAME_WAY * dot(normal, normal).sqrt()
}

/// Returns the piece of each triangle: triangles with corners at the same place are connected.
fn pieces(triangles: &[[u32; 3]], positions: &[Vec3]) -> Vec<u32> {
    let bits = |v: u32| positions[v as usize].to_array().map(|c| (c + 0.0).to_bits());
    let mut place_at: BTreeMap<[u32; 3], u32> = BTreeMap::new();
    let mut sets = DisjointSets::default();
    let mut places = Vec::with_capacity(triangles.len());
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| *place_at.entry(bits(v)).or_insert_with(|| sets.add()));
        sets.join(a, b);
        sets.join(b, c);
        places.push(a);
    }
    let mut number_of: BTreeMap<u32, u32> = BTreeMap::new();
    let mut number = |place: u32| {
        let next = number_of.len() as u32;
        *number_of.entry(sets.least(place)).or_insert(next)
    };
    places.into_iter().map(&mut number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_connected_at_places() {
        // Two triangles that share a place but no vertex, and one elsewhere.
        let at = |x: f32| [Vec3::new(x, 0.0, 0.0), Vec3::new(x + 1.0, 0.0, 0.0), Vec3::new(x, 1.0, 0.0)];
        let positions = [at(0.0), at(1.0), at(9.0)].concat();
        let tree = BoxTree::new(vec![[0, 1, 2], [6, 7, 8], [3, 5, 4]], &positions);
        let layers = Layers::new(&tree, &positions);
        let of = |corner: u32| tree.triangles().iter().position(|t| t.contains(&corner)).unwrap();
        let [a, b, c] = [0, 3, 6].map(of);
        assert_eq!(layers.piece[a], layers.piece[b]);
        assert_ne!(layers.piece[a], layers.piece[c]);
        assert_eq!(layers.piece.iter().max(), Some(&1));
        assert_eq!([a, b].map(|t| layers.faces[t]), [Vec3::Z, Vec3::NEG_Z]);
        assert!(faces_same_way(layers.faces[a], Vec3::new(0.0, 1.0, 1.0) * 5.0));
        assert!(!faces_same_way(layers.faces[b], Vec3::Z) && !faces_same_way(layers.faces[a], Vec3::X));
    }
}
