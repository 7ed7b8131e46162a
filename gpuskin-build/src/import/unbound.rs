//! Primitives before their bones are numbered.

use super::weights::Weights;
use crate::model::{self, Influences};

/// A primitive whose bones have no final index yet.
pub(super) struct UnboundPrimitive {
    /// The primitive, without influences.
    pub primitive: model::Primitive,
    pub motion: PrimitiveBinding,
}

/// Bones that move a primitive.
pub(super) enum PrimitiveBinding {
    /// Several bones, with weights per vertex.
    Skinned(Weights),
    /// One bone.
    Rigid(u32),
}

impl UnboundPrimitive {
    /// Replaces bone indices by final ones: `places[i]` is the final index of bone `i`.
    pub(super) fn finish(self, places: &[u16]) -> model::Primitive {
        let mut primitive = self.primitive;
        primitive.influences = match self.motion {
            PrimitiveBinding::Skinned(weights) => weights.finish(places),
            PrimitiveBinding::Rigid(bone) => {
                let mut influences = Influences::default();
                for _ in 0..primitive.positions.len() {
                    influences.push([(places[bone as usize], 1.0)]);
                }
                influences
            }
        };
        primitive
    }
}
