//! Blends layers and live bones over the pose of a clip; [`crate::layers`] has the formulas.

use glam::{Vec3, Vec4};

use super::layout::clip;
use super::{LocalTracks, LocalTransform, compose, lerp, multiply, slerp};
use crate::layers::{LayerBlend, LayerSample, LiveBones};
use crate::{Affine3, FramePair, PoseBlend};

/// Squared lengths that can be normalised.
const LENGTHS: core::ops::Range<f32> = 1e-30..1e30;

impl LocalTransform {
    /// Adds an additive clip: the difference from its reference pose to its pose.
    #[doc(hidden)]
    pub fn add(&self, reference: &Self, pose: &Self) -> Self {
        let back = (-reference.rotation.truncate()).extend(reference.rotation.w);
        let stretch = |p: f32, r: f32| if r == 0.0 { 1.0 } else { p / r };
        let [x, y, z] = [0, 1, 2].map(|axis| stretch(pose.scale[axis], reference.scale[axis]));
        Self::new(
            multiply(self.rotation, multiply(back, pose.rotation)),
            self.translation + (pose.translation - reference.translation),
            self.scale * Vec3::new(x, y, z),
        )
    }

    /// Returns the transform with a rotation of unit length; `None` if a number is not finite, or
    /// the rotation has no length.
    fn sound(&self) -> Option<Self> {
        let square = self.rotation.dot(self.rotation);
        let finite = self.rotation.is_finite() && self.translation.is_finite() && self.scale.is_finite();
        (finite && LENGTHS.contains(&square)).then(|| Self { rotation: self.rotation / square.sqrt(), ..*self })
    }
}

impl LocalTracks<'_> {
    /// Returns the skinning matrices of all bones including layers and live bones.
    ///
    /// # Panics
    /// If no clip has these frames, a mask does not exist, or live bones are fewer than the
    /// model's.
    #[doc(hidden)]
    pub fn pose_over(&self, shown: impl Into<PoseBlend>, over: &LayerBlend<'_>) -> Vec<Affine3> {
        let globals = self.globals(&self.locals_over(shown, over));
        let bone = |i: usize| {
            let global = globals[self.bone_node(i)];
            compose(&with_live_bone(global, over, i), &self.inverse_bind(i))
        };
        (0..self.bone_count()).map(bone).collect()
    }

    /// Returns one bone of [`Self::pose_over`], bit-exact, evaluating only the node and its
    /// ancestors.
    ///
    /// # Panics
    /// In the cases of [`LocalTracks::pose_over`], and if the bone does not exist.
    #[doc(hidden)]
    pub fn bone_over(&self, shown: impl Into<PoseBlend>, over: &LayerBlend<'_>, bone: usize) -> Affine3 {
        let shown = shown.into();
        let global = self.chain(self.bone_node(bone), |node| self.local_over(&shown, over, node).matrix());
        compose(&with_live_bone(global, over, bone), &self.inverse_bind(bone))
    }

    /// Returns the node-to-parent transform of every node including layers and local live bones.
    ///
    /// # Panics
    /// In the cases of [`LocalTracks::pose_over`].
    #[doc(hidden)]
    pub fn locals_over(&self, shown: impl Into<PoseBlend>, over: &LayerBlend<'_>) -> Vec<LocalTransform> {
        let shown = shown.into();
        (0..self.node_count()).map(|node| self.local_over(&shown, over, node)).collect()
    }

    fn local_over(&self, shown: &PoseBlend, over: &LayerBlend<'_>, node: usize) -> LocalTransform {
        let base = shown.mix(|frames| self.local(self.clip_of(frames), frames, node), |a, b, t| a.blend(&b, t));
        let layered = over.layers.iter().fold(base, |under, layer| self.layer_over(under, layer, node));
        match over.live {
            Some((LiveBones::Local(bones), weight)) if weight > 0.0 => match bones[node].sound() {
                Some(own) if weight >= 1.0 => own,
                Some(own) => layered.blend(&own, weight),
                None => layered,
            },
            _ => layered,
        }
    }

    fn layer_over(&self, under: LocalTransform, layer: &LayerSample, node: usize) -> LocalTransform {
        if layer.weight <= 0.0 || layer.mask.is_some_and(|mask| !self.mask(mask, node)) {
            return under;
        }
        let pose = layer.shown.mix(|frames| self.clip_over(&under, frames, node), |a, b, t| a.blend(&b, t));
        if layer.weight >= 1.0 { pose } else { under.blend(&pose, layer.weight) }
    }

    /// Blends one clip of a layer over a node: the clip's own pose, or for an additive clip its
    /// difference added to the pose below.
    fn clip_over(&self, under: &LocalTransform, frames: FramePair, node: usize) -> LocalTransform {
        let at = self.clip_of(frames);
        let pose = self.local(at, frames, node);
        let Some(reference) = self.word(at + clip::REFERENCE).checked_sub(1) else { return pose };
        let first = self.record(reference).first_frame;
        let frames = FramePair { a: first, b: first, t: 0.0, first };
        under.add(&self.local(self.clip_at(reference), frames, node), &pose)
    }
}

/// Blends a live bone over the bone's node-to-model transform.
fn with_live_bone(global: Affine3, over: &LayerBlend<'_>, bone: usize) -> Affine3 {
    let Some((LiveBones::Model(bones), weight)) = over.live else { return global };
    let own = Affine3 { rows: bones[bone].map(Vec4::from) };
    match weight {
        _ if weight <= 0.0 || !own.rows.iter().all(|row| row.is_finite()) => global,
        _ if weight >= 1.0 => own,
        _ => mix_matrices(&global, &own, weight),
    }
}

/// Returns the rotation of an affine matrix: that of its first column, and of its second column
/// orthogonalised against the first. No rotation if these have no length.
fn rotation_of(m: &Affine3) -> Vec4 {
    let column = |i: usize| Vec3::new(m.rows[0][i], m.rows[1][i], m.rows[2][i]);
    let (x, across) = (column(0), column(1));
    let x_square = x.dot(x);
    let y = across - x * (x.dot(across) / x_square);
    let y_square = y.dot(y);
    if !(LENGTHS.contains(&x_square) && LENGTHS.contains(&y_square)) {
        return Vec4::W;
    }
    let (a, b) = (x / x_square.sqrt(), y / y_square.sqrt());
    let c = a.cross(b);
    let trace = a.x + b.y + c.z;
    // Starts from the greatest of the four components, for precision.
    let q = if trace > 0.0 {
        Vec4::new(b.z - c.y, c.x - a.z, a.y - b.x, 1.0 + trace)
    } else if a.x >= b.y && a.x >= c.z {
        Vec4::new(1.0 + a.x - b.y - c.z, a.y + b.x, c.x + a.z, b.z - c.y)
    } else if b.y >= c.z {
        Vec4::new(a.y + b.x, 1.0 + b.y - a.x - c.z, b.z + c.y, c.x - a.z)
    } else {
        Vec4::new(c.x + a.z, b.z + c.y, 1.0 + c.z - a.x - b.y, a.y - b.x)
    };
    q.normalize()
}

/// Interpolates from one affine matrix (t = 0) to another, along the shorter arc.
fn mix_matrices(a: &Affine3, b: &Affine3, t: f32) -> Affine3 {
    let rotations = [a, b].map(rotation_of);
    let back = rotations.map(|q| Affine3::from_trs((-q.truncate()).extend(q.w), Vec3::ZERO, 1.0));
    let rest = compose(&back[0], a).lerp(compose(&back[1], b), t);
    let turn = Affine3::from_trs(slerp(rotations[0], rotations[1], t), Vec3::ZERO, 1.0);
    let place = |m: &Affine3| Vec3::from(m.rows.map(|row| row.w));
    compose(&turn, &rest).translated(lerp(place(a), place(b), t))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Mat3, Quat};

    #[test]
    fn rotation_of_ignores_scale() {
        for turn in [0.0_f32, 0.1, 1.0, 2.0, 3.0, 3.1, -2.5] {
            for axis in [Vec3::X, Vec3::Y, Vec3::Z, Vec3::new(1.0, -2.0, 0.5).normalize()] {
                let q = Quat::from_axis_angle(axis, turn);
                for stretch in [Vec3::ONE, Vec3::new(2.0, 0.5, -3.0)] {
                    let m = Mat3::from_quat(q) * Mat3::from_diagonal(stretch);
                    let found = rotation_of(&Affine3 { rows: [0, 1, 2].map(|i| m.row(i).extend(7.0)) });
                    assert!(found.dot(Vec4::from(q)).abs() > 1.0 - 1e-6, "{turn} {axis}: {found}");
                }
            }
        }
        assert_eq!(rotation_of(&Affine3::ZERO), Vec4::W);
    }

    #[test]
    fn mix_matrices_rotates_half_way_without_shrinking() {
        let from = |turn: f32| Affine3::from_trs(Quat::from_rotation_z(turn).into(), Vec3::splat(turn), 2.0);
        let half = mix_matrices(&from(0.0), &from(3.0), 0.5);
        for (found, expected) in half.rows.iter().zip(from(1.5).rows) {
            assert!(found.abs_diff_eq(expected, 1e-5), "{found} {expected}");
        }
    }

    #[test]
    fn adding_reference_pose_changes_nothing() {
        let rotation = |x: f32| Vec4::new(x, 0.3, -0.1, 0.8).normalize();
        let under = LocalTransform::new(rotation(0.2), Vec3::X, Vec3::new(1.0, 2.0, 3.0));
        let pose = LocalTransform::new(rotation(-0.6), Vec3::Y, Vec3::new(0.0, 2.0, 5.0));
        let same = under.add(&pose, &pose);
        assert!(same.rotation.abs_diff_eq(under.rotation, 1e-6));
        assert_eq!((same.translation, same.scale), (under.translation, under.scale));
        let added = LocalTransform::IDENTITY.add(&LocalTransform::IDENTITY, &pose);
        assert!(added.rotation.abs_diff_eq(pose.rotation, 1e-6));
        assert_eq!((added.translation, added.scale), (pose.translation, pose.scale));
    }
}
