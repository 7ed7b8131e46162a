//! Displacement of the root by a clip: keys at frames, interpolated as the runtime does.

use glam::{DMat3, DMat4, DQuat, DVec3};
use gpuskin_rt::internals::{RootKey, RootMotion};

/// Displacement of the root by a clip, at any time.
#[derive(Clone, Debug)]
pub struct Displacement {
    pub(crate) planar: bool,
    pub(crate) keys: Vec<RootKey>,
    pub(crate) duration: f64,
}

impl Displacement {
    /// Returns the displacement at a time in seconds, clamped to the ends of the clip. Model space,
    /// metres.
    pub fn at(&self, seconds: f64) -> DMat4 {
        let last = self.keys.len() - 1;
        let fraction = if self.duration > 0.0 { (seconds / self.duration).clamp(0.0, 1.0) } else { 0.0 };
        let place = fraction * last as f64;
        // Differences below 1e-9 frames are rounding errors.
        let place = if (place - place.round()).abs() < 1e-9 * place.max(1.0) { place.round() } else { place };
        let frame = (place as usize).min(last);
        let (a, b) = (&self.keys[frame], &self.keys[(frame + 1).min(last)]);
        let t = (place - frame as f64) as f32;
        let key = if t == 0.0 { *a } else { a.blend(b, t) };
        let rotation = DQuat::from_array(key.rotation.map(f64::from)).normalize();
        DMat4::from_rotation_translation(rotation, DVec3::from(key.translation.map(f64::from)))
    }

    /// Returns the inverse displacement at a time in seconds, which removes root motion from a
    /// pose.
    pub fn undone(&self, seconds: f64) -> DMat4 {
        let at = self.at(seconds);
        let turn = DMat3::from_mat4(at).transpose();
        DMat4::from_mat3_translation(turn, -(turn * at.w_axis.truncate()))
    }

    /// Returns the root motion in the form that the runtime uses.
    pub fn info(&self) -> RootMotion {
        RootMotion { planar: self.planar, keys: self.keys.clone().into() }
    }
}
