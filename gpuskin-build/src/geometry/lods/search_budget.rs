//! Limit of the work of searches that accept only some triangles: where few are accepted, each of them visits all.

use std::cell::Cell;

use glam::Vec3;

use super::surface::{ClosestPoint, FittedTree};

/// Maximum number of tested triangles, for each of a mesh, and in all of a small mesh. The shared models, and eight others, need at
/// most 191 for each.
const MAX_TESTS: usize = 1 << 9;
const MAX_TESTS_OF_SMALL: usize = 1 << 22;
/// Number of tests that a search counts as, at least.
const LEAST_TESTS: usize = 16;

/// Number of triangles that searches have tested, and the maximum.
pub(super) struct SearchBudget {
    tests: Cell<usize>,
    most: usize,
}

impl SearchBudget {
    /// `triangles`: number of triangles that are searched.
    pub(super) fn new(triangles: usize) -> Self {
        Self { tests: Cell::new(0), most: (triangles * MAX_TESTS).max(MAX_TESTS_OF_SMALL) }
    }

    /// Whether nothing more may be searched for.
    pub(super) fn is_spent(&self) -> bool {
        self.tests.get() > self.most
    }

    /// Returns [`FittedTree::closest_of`], and counts its tests.
    pub(super) fn closest_of(
        &self,
        tree: &FittedTree<'_>,
        p: Vec3,
        near: u32,
        counts: impl Fn(u32) -> bool,
    ) -> ClosestPoint {
        let (found, tests) = tree.closest_of_counted(p, near, counts);
        self.tests.set(self.tests.get() + tests.max(LEAST_TESTS));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::lods::surface::BoxTree;

    #[test]
    fn searches_for_nothing_spend_most() {
        let positions: Vec<Vec3> = (0..3 * 10_000).map(|i| Vec3::new(i as f32, (i % 3) as f32, 0.0)).collect();
        let triangles: Vec<[u32; 3]> = (0..10_000).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        let tree = BoxTree::new(triangles, &positions);
        let fitted = FittedTree { tree: &tree, positions: &positions, boxes: &tree.boxes(&positions) };
        let searches = |counts: fn(u32) -> bool| {
            let budget = SearchBudget::new(10_000);
            let end = (0..5_000).find(|_| {
                budget.closest_of(&fitted, Vec3::new(500.0, 0.0, 0.0), 0, counts);
                budget.is_spent()
            });
            (end, budget.tests.get())
        };
        assert_eq!(searches(|_| false), (Some(MAX_TESTS), 10_000 * (MAX_TESTS + 1)));
        assert_eq!(searches(|_| true).0, None);
        assert!(!SearchBudget::new(0).is_spent());
    }
}
