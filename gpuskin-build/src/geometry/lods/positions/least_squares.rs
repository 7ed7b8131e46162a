//! Positions of vertices for which points between them come closest to others.

use glam::{DMat3, DVec3, Vec3};

use crate::geometry::lods::places::PlacedVertices;

/// Weight of points without distance, relative to those with the greatest.
const LEAST_WEIGHT: f64 = 0.02;
/// Weight of the positions that vertices have, relative to the points around them.
const STIFFNESS: f64 = 0.05;
/// Least stiffness of a vertex, relative to the mean over all: for vertices without points.
const LEAST_STIFFNESS: f64 = 1e-3;
/// Number of steps of the solver (conjugate gradients).
const STEPS: usize = 8;

/// How far a point between three vertices is from where it should be.
pub(super) struct Residual {
    pose: usize,
    vertices: [u32; 3],
    weights: DVec3,
    /// From the point to where it should be, in metres.
    off: DVec3,
}

impl Residual {
    /// `corners`: positions of the vertices in the pose. `to`: where the point should be.
    pub(super) fn new(pose: usize, vertices: [u32; 3], weights: DVec3, corners: [Vec3; 3], to: Vec3) -> Self {
        let [a, b, c] = corners.map(|corner| corner.as_dvec3());
        let off = to.as_dvec3() - (a * weights.x + b * weights.y + c * weights.z);
        Self { pose, vertices, weights, off }
    }
}

/// Returns how far each place moves before skinning, so that the weighted squares of all distances are least. Weights are the fourth
/// powers of distances, so that repetition minimises the sum of their sixth powers (iteratively reweighted least squares).
pub(super) fn moves(residuals: &[Residual], vertices: &PlacedVertices) -> Vec<DVec3> {
    let count = vertices.free.len();
    let most = residuals.iter().map(|residual| residual.off.length()).fold(0.0, f64::max);
    let mut found = vec![DVec3::ZERO; count];
    if !(most > 0.0 && most.is_finite()) {
        return found;
    }
    // Linear parts of the motion of each point, by the motions of three places.
    let parts = |residual: &Residual| {
        let share = residual.off.length_squared() / (most * most);
        let weight = share * share + LEAST_WEIGHT;
        let part = |k: usize| {
            let vertex = residual.vertices[k] as usize;
            let place = vertices.places[vertex] as usize;
            let free = f64::from(u8::from(vertices.free[place]));
            let matrix: DMat3 = vertices.skinning[vertex][residual.pose].matrix3 * (residual.weights[k] * free);
            (place, matrix)
        };
        (weight, [0, 1, 2].map(part))
    };
    let parts: Vec<(f64, [(usize, DMat3); 3])> = residuals.iter().map(parts).collect();
    let (mut wanted, mut stiffness) = (vec![DVec3::ZERO; count], vec![0.0; count]);
    for ((weight, parts), residual) in parts.iter().zip(residuals) {
        for (place, matrix) in parts {
            wanted[*place] += matrix.transpose() * residual.off * *weight;
            let squares: f64 = matrix.to_cols_array().iter().map(|c| c * c).sum();
            stiffness[*place] += squares / 3.0 * weight;
        }
    }
    let mean = stiffness.iter().sum::<f64>() / count as f64;
    stiffness.iter_mut().for_each(|own| *own = *own * STIFFNESS + mean * LEAST_STIFFNESS);
    let apply = |x: &[DVec3]| {
        let mut y: Vec<DVec3> = x.iter().zip(&stiffness).map(|(x, own)| *x * *own).collect();
        for (weight, parts) in &parts {
            let moved: DVec3 = parts.iter().map(|(place, matrix)| *matrix * x[*place]).sum();
            parts.iter().for_each(|(place, matrix)| y[*place] += matrix.transpose() * moved * *weight);
        }
        y
    };
    let dot = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
    // Hestenes and Stiefel, "Methods of Conjugate Gradients for Solving Linear Systems", 1952.
    let mut rest = wanted;
    let mut direction = rest.clone();
    let mut square = dot(&rest, &rest);
    for _ in 0..STEPS {
        let changed = apply(&direction);
        let length = square / dot(&direction, &changed);
        if !length.is_finite() {
            break;
        }
        for i in 0..count {
            found[i] += direction[i] * length;
            rest[i] -= changed[i] * length;
        }
        let before = std::mem::replace(&mut square, dot(&rest, &rest));
        for i in 0..count {
            direction[i] = rest[i] + direction[i] * (square / before);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use glam::DAffine3;

    use super::*;

    /// Solves for two vertices at one place, one at another, and one that is fixed.
    fn solved(skinning: DAffine3, residuals: &[Residual]) -> Vec<DVec3> {
        moves(residuals, &PlacedVertices::of_places(&[0, 0, 1, 2], &[true, true, false], skinning))
    }

    fn residual(vertices: [u32; 3], weights: DVec3, off: DVec3) -> Residual {
        Residual { pose: 0, vertices, weights, off }
    }

    #[test]
    fn places_move_to_where_their_points_should_be() {
        let off = DVec3::new(0.3, -0.1, 0.2);
        // Each free place by itself, the first by both of its vertices.
        let residuals = [
            residual([0, 2, 3], DVec3::X, off),
            residual([1, 2, 3], DVec3::X, off),
            residual([0, 2, 3], DVec3::Y, -off),
            residual([0, 2, 3], DVec3::Z, off),
        ];
        for turn in [0.0, 1.0, 3.0] {
            let skinning = DAffine3::from_rotation_x(turn) * DAffine3::from_scale(DVec3::splat(2.0));
            let found = solved(skinning, &residuals);
            for (place, wanted) in [off, -off, DVec3::ZERO].into_iter().enumerate() {
                let moved = skinning.matrix3 * found[place];
                assert!(moved.distance(wanted) < 0.06 * off.length(), "{turn}: place {place} moves by {moved}");
            }
        }
    }

    #[test]
    fn far_points_count_more_than_near_ones() {
        // One of two points in one place, if it is twice as far off, counts (1 + 0.02) / (1/16 + 0.02) times as much.
        let residuals = [residual([0, 2, 3], DVec3::X, DVec3::X), residual([0, 2, 3], DVec3::X, DVec3::X * -0.5)];
        let found = solved(DAffine3::IDENTITY, &residuals);
        let (far, near) = (1.0 + LEAST_WEIGHT, 0.0625 + LEAST_WEIGHT);
        let wanted = (far - 0.5 * near) / (far + near) / (1.0 + STIFFNESS);
        assert!((found[0].x - wanted).abs() < 1e-3, "{} instead of {wanted}", found[0].x);
        // Without distances, or with broken ones, nothing moves.
        for off in [DVec3::ZERO, DVec3::NAN, DVec3::INFINITY] {
            assert_eq!(solved(DAffine3::IDENTITY, &[residual([0, 2, 3], DVec3::X, off)]), [DVec3::ZERO; 3]);
        }
    }
}
