//! The hound: a large war dog with a studded collar.

mod body;
mod clips;
mod figure;
mod rig;
mod texture;

#[cfg(test)]
pub(crate) use clips::{RUN, RUN_GAIT, WALK, WALK_GAIT};

use crate::glb::{Material, Model};

pub(crate) fn model() -> Model {
    let skeleton = rig::skeleton();
    let materials = vec![
        Material { name: "Fur", color: [1.0; 3], textured: true, metallic: 0.0, roughness: 0.9 },
        Material { name: "Brass", color: [0.60, 0.36, 0.08], textured: false, metallic: 0.6, roughness: 0.4 },
    ];
    let body = vec![(0, body::fur(&skeleton)), (1, body::studs(&skeleton))];
    let clips = clips::all(&skeleton);
    Model { name: "Hound", skeleton, materials, texture: texture::paint(), body, rigid: Vec::new(), clips }
}

/// Bone above a paw and its contact point, for tests.
#[cfg(test)]
pub(crate) fn foot(s: &crate::skeleton::Skeleton, fore: bool, sign: f64) -> (usize, crate::ik::FootShape) {
    let [ankle, paw] = if fore { ["Wrist", "ForePaw"] } else { ["Hock", "HindPaw"] }.map(|n| rig::sided(s, n, sign));
    (ankle, figure::foot_shape(s, ankle, paw))
}
