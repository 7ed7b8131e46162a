//! The soldier: a legionary in banded armour, with helmet, shield and short sword.

mod body;
mod clips;
mod figure;
mod gear;
mod limbs;
mod rig;
mod texture;

#[cfg(test)]
pub(crate) use clips::{RUN, WALK};

use crate::glb::{Material, Model};

pub(crate) fn model() -> Model {
    let skeleton = rig::skeleton();
    let materials = vec![
        Material { name: "Uniform", color: [1.0; 3], textured: true, metallic: 0.0, roughness: 0.85 },
        Material { name: "Steel", color: [0.34, 0.36, 0.39], textured: false, metallic: 0.6, roughness: 0.4 },
    ];
    let body = vec![(0, body::cloth(&skeleton)), (1, body::plates(&skeleton))];
    let rigid = gear::all(&skeleton);
    let clips = clips::all(&skeleton);
    Model { name: "Soldier", skeleton, materials, texture: texture::paint(), body, rigid, clips }
}

/// Bone of a foot and its contact points, for tests.
#[cfg(test)]
pub(crate) fn foot(s: &crate::skeleton::Skeleton, sign: f64) -> (usize, crate::ik::FootShape) {
    (rig::sided(s, "Foot", sign), figure::foot_shape(s, sign))
}
