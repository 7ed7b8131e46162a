//! Evaluation of vertices at a time, in `f64`, with all influences and morph targets.

use glam::DVec3;

use crate::frames::FrameGrid;
use crate::model::{Clip, Model, Primitive};
use crate::sample::{Rows, Sampler};

/// Evaluates the vertices of a model in a clip, or in its rest pose.
#[derive(Debug)]
pub(crate) struct Evaluator<'a> {
    model: &'a Model,
    sampler: Sampler<'a>,
}

impl<'a> Evaluator<'a> {
    /// Creates an evaluator of a clip, or of the rest pose for `None`.
    pub(crate) fn new(model: &'a Model, clip: Option<&'a Clip>) -> Self {
        Self { model, sampler: Sampler::new(model, clip) }
    }

    /// Creates an evaluator of a clip with root motion removed, as baked with the frames of `grid`.
    pub(crate) fn in_place(model: &'a Model, clip: &'a Clip, grid: &FrameGrid) -> Self {
        Self { model, sampler: Sampler::in_place(model, clip, grid) }
    }

    /// Returns the pose at a time in seconds.
    pub(crate) fn at(&self, seconds: f64) -> PosedModel<'a> {
        let weights = |p: &Primitive| match p.targets.is_empty() {
            true => Vec::new(),
            false => self.sampler.morph_weights(p.node, seconds),
        };
        PosedModel {
            model: self.model,
            bones: self.sampler.skin_matrices(seconds),
            weights: self.model.primitives.iter().map(weights).collect(),
        }
    }
}

/// Pose of a model: skinning matrices and morph weights.
#[derive(Debug)]
pub(crate) struct PosedModel<'a> {
    model: &'a Model,
    bones: Vec<Rows>,
    /// Morph weights. `[primitive][target]`
    weights: Vec<Vec<f64>>,
}

impl PosedModel<'_> {
    /// Returns the weighted sum of the matrices of a vertex's bones.
    pub(crate) fn matrix(&self, primitive: usize, vertex: usize) -> Rows {
        let influences = self.model.primitives[primitive].influences.of(vertex);
        if let [(bone, 1.0)] = influences {
            return self.bones[usize::from(*bone)];
        }
        let mut sum = [[0.0; 4]; 3];
        for &(bone, weight) in influences {
            for (sum, row) in sum.iter_mut().flatten().zip(self.bones[usize::from(bone)].iter().flatten()) {
                *sum += weight * row;
            }
        }
        sum
    }

    /// Returns the position of a vertex, in metres.
    pub(crate) fn position(&self, primitive: usize, vertex: usize) -> DVec3 {
        self.transformed_position(&self.matrix(primitive, vertex), primitive, vertex)
    }

    /// Returns the position of a vertex transformed by its matrix, in metres.
    pub(crate) fn transformed_position(&self, matrix: &Rows, primitive: usize, vertex: usize) -> DVec3 {
        let p = self.model.primitives[primitive].position(vertex, &self.weights[primitive]);
        DVec3::from(matrix.map(|r| r[0] * p.x + r[1] * p.y + r[2] * p.z + r[3]))
    }

    /// Returns the unit normal of a vertex; zero if it has none.
    pub(crate) fn normal(&self, matrix: &Rows, primitive: usize, vertex: usize) -> DVec3 {
        let normal = self.model.primitives[primitive].normal(vertex, &self.weights[primitive]);
        normal.map_or(DVec3::ZERO, |n| transform_normal(matrix, n))
    }

    /// Returns the tangent of a vertex, of any length; zero if it has none.
    pub(crate) fn tangent(&self, matrix: &Rows, primitive: usize, vertex: usize) -> DVec3 {
        let tangent = self.model.primitives[primitive].tangent(vertex, &self.weights[primitive]);
        tangent.map_or(DVec3::ZERO, |t| transform_direction(matrix, t.truncate()))
    }

    /// Returns the positions of all vertices of all primitives, in order.
    pub(crate) fn positions(&self) -> impl Iterator<Item = DVec3> + '_ {
        let primitives = self.model.primitives.iter().enumerate();
        primitives.flat_map(move |(p, primitive)| (0..primitive.positions.len()).map(move |v| self.position(p, v)))
    }
}

/// Transforms a direction within the surface.
pub(super) fn transform_direction(m: &Rows, d: DVec3) -> DVec3 {
    DVec3::from(m.map(|r| r[0] * d.x + r[1] * d.y + r[2] * d.z))
}

/// Transforms a normal by the inverse transpose, and normalises it; zero if undefined.
pub(super) fn transform_normal(m: &Rows, n: DVec3) -> DVec3 {
    let [a, b, c] = [0, 1, 2].map(|c| DVec3::new(m[0][c], m[1][c], m[2][c]));
    let bc = b.cross(c);
    let sign = if a.dot(bc) < 0.0 { -1.0 } else { 1.0 };
    (bc * n.x + c.cross(a) * n.y + a.cross(b) * n.z).normalize_or_zero() * sign
}
