//! Vertices of the source beside those of the drawn mesh, rounded so that a report can contain them.

use glam::Vec3;
use gpuskin_rt::internals::vertex::Vertex;
use serde::{Deserialize, Serialize};

use super::DrawnModel;
use super::difference::{BoneBox, RoundedValues};
use crate::model::Model;

/// Greatest difference of positions in steps: rounded positions are noise, which does not compress.
const POSITION_STEPS: f32 = 15.0;
/// Number of steps of a weight of 1. Packed weights have 4096 or 65536.
const WEIGHT_STEPS: f64 = (1 << 16) as f64;

/// Source vertices minus drawn vertices, in bone mode. Of the source vertices that share a drawn one, the first counts. Vertices of
/// levels of detail that are moved or use fewer influences are compared with a source that is moved by the same, and has these
/// influences alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceMesh {
    /// Boxes of the bones that move drawn vertices.
    pub boxes: Vec<BoneBox>,
    /// Differences of positions in metres. `[drawn vertex][axis]`
    pub positions: RoundedValues,
    /// Differences of weights in steps of 2^-16, for each influence of a drawn vertex with a weight but the first: the sum of
    /// all weights is 1.
    pub weights: Vec<i32>,
    /// Influences that are not drawn: drawn vertex, bone and weight.
    pub dropped: Vec<(u32, u32, f32)>,
}

impl SourceMesh {
    /// `copies`: vertices that follow the drawn ones, each with the index of the vertex that it copies.
    pub(crate) fn new(model: &Model, drawn: &DrawnModel<'_>, copies: impl Iterator<Item = (u32, Vertex)>) -> Self {
        let boxes = boxes(drawn.vertices, model.bones.len());
        let mut sources = vec![None; drawn.vertices.len()];
        let vertices = model.primitives.iter().flat_map(|primitive| {
            primitive.positions.iter().enumerate().map(|(v, position)| (*position, primitive.influences.of(v)))
        });
        for (source, baked) in vertices.zip(drawn.baked_of_source.iter()) {
            sources[*baked as usize].get_or_insert(source);
        }
        let (mut positions, mut weights, mut dropped) = (Vec::new(), Vec::new(), Vec::new());
        for (number, (of, vertex)) in (0..).zip((0..).zip(drawn.vertices.iter().copied()).chain(copies)) {
            // Every drawn vertex comes from a source vertex.
            let source = sources[of as usize];
            // The errors of levels of detail say how far they move vertices, and what they lose.
            let drawn_at = drawn.vertices[of as usize].position.as_dvec3();
            positions.extend(source.map_or([0.0; 3], |(position, _)| (position - drawn_at).as_vec3().to_array()));
            let count = |vertex| drawn_influences(vertex).count();
            let is_whole = count(&vertex) == count(&drawn.vertices[of as usize]);
            let Some((_, influences)) = source.filter(|_| is_whole) else {
                weights.extend(drawn_influences(&vertex).skip(1).map(|_| 0));
                continue;
            };
            let weight_of =
                |bone: u32| influences.iter().filter(|(b, _)| u32::from(*b) == bone).map(|(_, w)| w).sum::<f64>();
            let lost = |(bone, weight)| ((weight_of(bone) - f64::from(weight)) * WEIGHT_STEPS).round() as i32;
            weights.extend(drawn_influences(&vertex).skip(1).map(lost));
            let missing = |(bone, weight): &(u16, f64)| {
                let bone = u32::from(*bone);
                let drawn = *weight <= 0.0 || drawn_influences(&vertex).any(|(drawn, _)| drawn == bone);
                (!drawn).then_some((number, bone, *weight as f32))
            };
            dropped.extend(influences.iter().filter_map(missing));
        }
        Self { boxes, positions: RoundedValues::new(&positions, POSITION_STEPS), weights, dropped }
    }
}

/// Returns the boxes of the bones that move drawn vertices.
pub(super) fn boxes(drawn: &[Vertex], bones: usize) -> Vec<BoneBox> {
    let of_vertex = |vertex: &Vertex| -> Vec<(Vec3, u32)> {
        drawn_influences(vertex).map(|(bone, _)| (vertex.position, bone)).collect()
    };
    BoneBox::all(drawn.iter().flat_map(of_vertex), bones)
}

/// Iterates over the bones and weights of a drawn vertex.
fn drawn_influences(vertex: &Vertex) -> impl Iterator<Item = (u32, f32)> {
    vertex.joints.into_iter().zip(vertex.weights).filter(|(_, weight)| *weight > 0.0)
}
