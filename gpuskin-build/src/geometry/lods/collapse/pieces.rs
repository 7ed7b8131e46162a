//! Removal of whole pieces of a surface, such as rivets, straps, and a body below clothes: each vertex must be close to
//! another piece that faces the same way.

use std::cmp::Reverse;

use glam::Vec3;

use super::state::NONE;
use super::{Attempt, HalfEdgeCollapse};
use crate::geometry::lods::layers::faces_same_way;
use crate::vector_math::{dot, sub};

/// Maximum number of vertices of a piece that are measured in the rest pose, and of those that are measured in all poses.
const AT_REST: usize = 48;
const IN_ALL_POSES: usize = 8;
/// Weight of the distance between a visible piece and what is seen instead: it has other colours.
const VISIBLE_WEIGHT: f32 = 2.0;

/// Closest surface to a vertex if its piece is removed.
struct Instead {
    /// Distance in metres; infinite if there is nothing.
    distance: f32,
    /// Another piece, and its closest triangle.
    piece: u32,
    triangle: u32,
    /// Whether it is in front of the vertex, which therefore is not seen.
    covers: bool,
}

impl HalfEdgeCollapse<'_> {
    /// Returns whether pieces may vanish: there are several.
    pub(crate) fn has_pieces(&self) -> bool {
        self.pieces.left.iter().filter(|left| **left).count() > 1
    }

    /// Queues the removal of each piece.
    pub(crate) fn with_pieces(mut self) -> Self {
        if self.has_pieces() {
            let left = (0..).zip(&self.pieces.left).filter(|(_, left)| **left);
            self.queue.extend(left.map(|(piece, _)| Reverse([0, piece, NONE])));
        }
        self
    }

    /// Tries to remove a piece. A visible one needs a limit of at least half its width: so far would its border move to its
    /// middle.
    pub(super) fn attempt_piece(&mut self, piece: u32, limit: f32) -> Attempt {
        if self.pieces.budget.is_spent() {
            return Attempt::Impossible;
        }
        let slots = &self.pieces.slots[piece as usize];
        let step = slots.len().div_ceil(AT_REST).max(1);
        let mut measured: Vec<(f32, u32, u32)> = Vec::new();
        let mut near = 0;
        let (mut covered, mut low, mut high) = (true, Vec3::INFINITY, Vec3::NEG_INFINITY);
        for &slot in slots.iter().step_by(step) {
            let instead = self.instead(piece, slot, 0, near);
            covered &= instead.covers;
            near = instead.triangle;
            measured.push((instead.distance, slot, near));
            (low, high) = (low.min(self.at(0, slot)), high.max(self.at(0, slot)));
        }
        measured.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let weight = if covered { 1.0 } else { VISIBLE_WEIGHT };
        let sides = high - low;
        // The second longest side.
        let width = sides.element_sum() - sides.max_element() - sides.min_element();
        let least = if covered { 0.0 } else { width * 0.5 };
        let mut needed = (measured.first().map_or(0.0, |(off, ..)| *off) * weight * self.rest_weight).max(least);
        if needed <= limit {
            'poses: for pose in 1..self.poses.len() {
                for (_, slot, near) in measured.iter_mut().take(IN_ALL_POSES) {
                    let instead = self.instead(piece, *slot, pose, *near);
                    *near = instead.triangle;
                    needed = needed.max(instead.distance * weight);
                    if needed > limit {
                        break 'poses;
                    }
                }
            }
        }
        if needed <= limit { Attempt::Allowed } else { Attempt::TooFar(needed) }
    }

    /// Removes a piece. Returns its number of triangles.
    pub(super) fn remove_piece(&mut self, piece: u32) -> usize {
        let (mut removed, mut near) = (0, 0);
        for slot in std::mem::take(&mut self.pieces.slots[piece as usize]) {
            // Slots behind the places are vertices that earlier levels lost.
            let around = self.around.get_mut(slot as usize).map(std::mem::take);
            for t in around.into_iter().flatten() {
                removed += usize::from(!std::mem::replace(&mut self.removed[t as usize], true));
            }
            let instead = self.instead(piece, slot, 0, near);
            near = instead.triangle;
            if instead.distance.is_finite() {
                self.pieces.slots[instead.piece as usize].push(slot);
            }
        }
        self.pieces.left[piece as usize] = false;
        removed
    }

    /// Finds what is closest to a slot among the pieces that are left, besides one. `near` is a triangle that may be close.
    fn instead(&self, piece: u32, slot: u32, pose: usize, near: u32) -> Instead {
        let (layers, surface) = (&self.finest.layers, &self.finest.surface);
        let normal = self.pieces.normals[slot as usize];
        let other = |t: u32| {
            let of = layers.piece[t as usize];
            of != piece && self.pieces.left[of as usize] && faces_same_way(layers.faces[t as usize], normal)
        };
        let p = self.at(pose, slot);
        let found = self.pieces.budget.closest_of(&surface.at(self.poses, pose), p, near, other);
        let [a, b, c] = surface.tree.triangles()[found.triangle as usize].map(|v| self.poses[pose][v as usize]);
        let covers = dot(sub(b, a).cross(sub(c, a)), sub(a, p)) > 0.0;
        let (distance, triangle) = (found.distance, found.triangle);
        Instead { distance, piece: layers.piece[triangle as usize], triangle, covers }
    }
}
