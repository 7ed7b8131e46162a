//! Influences of coarser LODs. Vertices of small LODs lose the influences whose effect is small beside the error of the LOD: far away,
//! a frame costs what its vertices cost, and these read fewer bones.

use gpuskin_rt::internals::vertex::{MAX_INFLUENCES, Vertex};

use super::poses::skin;
use super::vertices::LevelVertices;
use crate::geometry::influences;
use crate::model::Model;
use crate::sample::Rows;

/// Maximum distance by which a vertex may be moved, relative to the error of its LOD.
const MAX_SHARE: f64 = 0.5;

/// Removes influences from vertices of coarser LODs.
pub(super) struct InfluenceReduction {
    /// Skinning matrices of all bones, in more poses than errors of LODs are measured in. `[pose][bone]`
    poses: Vec<Vec<Rows>>,
}

impl InfluenceReduction {
    /// Returns nothing for a model without clips: games move its bones in ways that are not known.
    pub(super) fn new(model: &Model) -> Option<Self> {
        let poses = influences::poses(model);
        (poses.len() > 1).then_some(Self { poses })
    }

    /// Leaves each vertex of a LOD the influences that it needs. `error`: error of the LOD in metres.
    pub(super) fn apply(&self, level: &mut LevelVertices<'_>, error: f32) {
        let most = f64::from(error) * MAX_SHARE;
        for i in 0..level.vertices.len() {
            if !level.is_fixed(i) {
                let vertex = &mut level.vertices[i].vertex;
                let count = self.fewest(vertex, most);
                if count < count_of(vertex) {
                    *vertex = with_influences(vertex, count);
                }
            }
        }
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

    use super::*;
    use crate::geometry::Geometry;
    use crate::model::fixtures::{cube, model};

    /// Greatest distance of a corner of the cube from where the second bone, which turns by 2.8 about x, moves it.
    fn reach() -> f64 {
        DVec3::ONE.with_x(0.0).length() * 2.0 * libm::sin(1.4)
    }

    #[test]
    fn influences_are_removed_within_half_of_the_error() {
        let mut model = model(cube(true, |_| vec![(0, 0.9), (1, 0.1)]));
        let geometry = Geometry::with_at_most(&model, 4);
        let just = (0.1 * reach() / MAX_SHARE) as f32;
        let reduction = InfluenceReduction::new(&model).unwrap();
        let reduced = |error: f32| {
            let mut level = LevelVertices::new(&geometry, std::slice::from_ref(&geometry.indices), &[]);
            reduction.apply(&mut level, error);
            level.into_copies()
        };
        assert_eq!(reduced(just * 0.99), (vec![geometry.indices.clone()], Vec::new()));
        let (_, copies) = reduced(just * 1.01);
        assert_eq!(copies.len(), geometry.vertices.len());
        for copy in &copies {
            let source = geometry.vertices[copy.of as usize];
            assert_eq!((copy.vertex.joints[0], copy.vertex.weights[0], copy.vertex.weights[1]), (0, 1.0, 0.0));
            assert_eq!(Vertex { joints: source.joints, weights: source.weights, ..copy.vertex }, source);
        }
        // Without clips, it is not known how bones move.
        model.clips.clear();
        assert!(InfluenceReduction::new(&model).is_none());
    }

    #[test]
    fn the_fewest_influences_that_suffice_are_kept() {
        let mut model = model(cube(true, |_| vec![(1, 0.5), (0, 0.4), (2, 0.1)]));
        model.bones.push(model.bones[0].clone());
        let geometry = Geometry::with_at_most(&model, 4);
        let reduction = InfluenceReduction::new(&model).unwrap();
        let vertex = geometry.vertices[0];
        // The third bone stands still, like the first: 5/9 instead of 5/10 of the motion.
        let two = (5.0 / 9.0 - 0.5) * reach();
        assert_eq!([two * 0.99, two * 1.01].map(|most| reduction.fewest(&vertex, most)), [3, 2]);
        assert_eq!([0.5, 0.51].map(|part| reduction.fewest(&vertex, part * reach() * 0.999)), [2, 1]);
        let reduced = with_influences(&vertex, 2);
        assert!((reduced.weights[0] - 5.0 / 9.0).abs() < 1e-6 && reduced.weights[2..] == [0.0; 6]);
    }
}
