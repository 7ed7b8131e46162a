//! Quantisation of a clip with given steps, and the poses that result.

use glam::{DMat4, DQuat, DVec3};

use super::skeleton::Skeleton;
use super::track::Track;
use crate::model::Trs;

/// Rest transform of a joint in the runtime, for clips that have no track for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RestTransform {
    pub(super) rotation: [f32; 4],
    pub(super) translation: [f32; 3],
    pub(super) scale: [f32; 3],
}

impl RestTransform {
    pub(super) fn of(trs: &Trs) -> Self {
        Self {
            rotation: trs.rotation.as_quat().to_array(),
            translation: trs.translation.as_vec3().to_array(),
            scale: trs.scale.as_vec3().to_array(),
        }
    }
}

/// Quantisation steps of a joint's tracks: stereographic projection of the rotation, metres of
/// translation, factor of scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct QuantizationSteps {
    pub(super) rotation: f64,
    pub(super) translation: f64,
    pub(super) scale: f64,
}

/// A clip before quantisation.
pub(super) struct LocalClip {
    /// Joint-to-parent transforms. `[joint][frame]`
    pub(super) locals: Vec<Vec<Trs>>,
    /// Joint-to-model transforms. `[joint][frame]`
    pub(super) globals: Vec<Vec<DMat4>>,
    /// Whether rotation, translation and scale are held between frames. `[joint]`
    pub(super) held: Vec<[bool; 3]>,
}

impl LocalClip {
    pub(super) fn frames(&self) -> usize {
        self.locals.first().map_or(0, Vec::len)
    }
}

/// A clip after quantisation.
#[derive(Clone, Debug)]
pub(super) struct EncodedClip {
    /// Rotation, translation and scale track. `[joint]`
    pub(super) tracks: Vec<[Track; 3]>,
    /// Joint-to-model transforms after decoding. `[joint][frame]`
    pub(super) globals: Vec<Vec<DMat4>>,
}

impl EncodedClip {
    /// Returns the size of the tracks, in bits.
    pub(super) fn bits(&self, frames: usize) -> usize {
        self.tracks.iter().flatten().map(|t| t.bits(frames)).sum()
    }
}

/// Quantises a clip joint by joint, parents first. Moving tracks of a joint also correct the
/// rounding errors of its ancestors, so that errors do not accumulate along a chain.
pub(super) fn code(
    skeleton: &Skeleton,
    rests: &[RestTransform],
    source: &LocalClip,
    steps: &[QuantizationSteps],
) -> EncodedClip {
    let frames = source.frames();
    let mut coded = EncodedClip { tracks: Vec::new(), globals: Vec::new() };
    // Rotation error of each joint: coded = source * error. `[joint][frame]`
    let mut turned: Vec<Vec<DQuat>> = Vec::new();
    for (j, joint) in skeleton.joints.iter().enumerate() {
        let (rest, steps) = (&rests[j], &steps[j]);
        let mut rotations: Vec<DQuat> = source.locals[j].iter().map(|l| l.rotation).collect();
        let mut rotation = Track::of_rotations(&rotations, rest.rotation, steps.rotation);
        if let (Some(p), true) = (joint.parent, rotation.is_moving()) {
            for (q, turned) in rotations.iter_mut().zip(&turned[p]) {
                *q = (turned.conjugate() * *q).normalize();
            }
            rotation = Track::of_rotations(&rotations, rest.rotation, steps.rotation);
        }
        let mut translations: Vec<DVec3> = source.locals[j].iter().map(|l| l.translation).collect();
        let mut translation = Track::of_vectors(&translations, rest.translation, steps.translation);
        if let (Some(p), true) = (joint.parent, translation.is_moving()) {
            for (f, t) in translations.iter_mut().enumerate() {
                let back = coded.globals[p][f].inverse() * source.globals[p][f];
                if back.is_finite() {
                    *t = back.transform_point3(*t);
                }
            }
            translation = Track::of_vectors(&translations, rest.translation, steps.translation);
        }
        let scales: Vec<DVec3> = source.locals[j].iter().map(|l| l.scale).collect();
        let scale = Track::of_vectors(&scales, rest.scale, steps.scale);

        let mut globals = Vec::with_capacity(frames);
        let mut turns = Vec::with_capacity(frames);
        for (f, original) in source.locals[j].iter().enumerate() {
            let local = Trs {
                rotation: rotation.rotation(f, rest.rotation),
                translation: translation.vector(f, rest.translation),
                scale: scale.vector(f, rest.scale),
            };
            let own = crate::sample::matrix(&crate::model::Local::Trs(local));
            globals.push(joint.parent.map_or(own, |p| coded.globals[p][f] * own));
            let above = joint.parent.map_or(DQuat::IDENTITY, |p| turned[p][f]);
            let turn = original.rotation.conjugate() * above * local.rotation;
            turns.push(turn.normalize());
        }
        turned.push(turns);
        coded.globals.push(globals);
        let held = source.held[j];
        coded.tracks.push([rotation.held_if(held[0]), translation.held_if(held[1]), scale.held_if(held[2])]);
    }
    coded
}
