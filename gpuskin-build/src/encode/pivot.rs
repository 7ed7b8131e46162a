//! Where the bones are as modelled: what their rotations turn about.

use glam::{DVec3, Vec3};

use crate::model::Model;

/// For each bone, the origin of its node in bind space, metres; no farther away than the vertices that it moves, which
/// rigid meshes far from their node would put it.
pub(super) fn pivots(model: &Model) -> Vec<Vec3> {
    let mut boxes = vec![(DVec3::INFINITY, DVec3::NEG_INFINITY); model.bones.len()];
    for primitive in &model.primitives {
        for (v, &p) in primitive.positions.iter().enumerate() {
            for &(bone, _) in primitive.influences.of(v) {
                let (least, greatest) = &mut boxes[usize::from(bone)];
                (*least, *greatest) = (least.min(p), greatest.max(p));
            }
        }
    }
    let pivot = |(bone, (least, greatest)): (&crate::model::Bone, (DVec3, DVec3))| {
        let origin = bone.inverse_bind.inverse().w_axis.truncate();
        if !least.is_finite() || !greatest.is_finite() {
            return Vec3::ZERO;
        }
        // A singular matrix has no inverse: the middle then.
        let origin = if origin.is_finite() { origin } else { (least + greatest) * 0.5 };
        origin.clamp(least, greatest).as_vec3()
    };
    model.bones.iter().zip(boxes).map(pivot).collect()
}
