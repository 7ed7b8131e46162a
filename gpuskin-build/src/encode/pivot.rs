//! Pivots of bones, about which they rotate.

use glam::{DVec3, Vec3};

use crate::model::Model;

/// Returns the pivot of each bone: the origin of its node in bind space, in metres, clamped to the
/// bounding box of its vertices. Without clamping, the pivot of a rigid mesh far from its node
/// would be far outside of the mesh.
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
        // A singular matrix has no inverse; the centre of the box is used instead.
        let origin = if origin.is_finite() { origin } else { (least + greatest) * 0.5 };
        origin.clamp(least, greatest).as_vec3()
    };
    model.bones.iter().zip(boxes).map(pivot).collect()
}
