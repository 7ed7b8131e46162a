//! Root motion of a playback of one clip: displacement of the whole model, exact over any number of loops. `root_blend` is that
//! of an instance, through crossfades.

use glam::{DQuat, DVec3};

use crate::timeline::{CYCLE, PlaybackTimeline};
use crate::transform::{finite_position, unit_rotation};
use crate::{ClipInfo, InstanceRecord, Playback, RootKey, Time, Transform};

/// A rigid displacement: first a rotation about the model's origin, then a translation.
///
/// Relative to the model's own space at the start of the movement, so consecutive displacements are
/// a product:
///
/// ```text
/// between(a, c) = between(a, b) * between(b, c)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Displacement {
    /// Unit quaternion.
    #[doc(hidden)]
    pub rotation: DQuat,
    /// Translation, metres.
    #[doc(hidden)]
    pub translation: DVec3,
}

impl Displacement {
    /// No displacement.
    #[doc(hidden)]
    pub const IDENTITY: Self = Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO };

    /// Returns the rotation, a unit quaternion `x, y, z, w`.
    pub fn rotation(&self) -> [f64; 4] {
        self.rotation.to_array()
    }

    /// Returns the translation, metres.
    pub fn translation(&self) -> [f64; 3] {
        self.translation.to_array()
    }

    /// Returns the inverse displacement.
    #[doc(hidden)]
    pub fn inverse(self) -> Self {
        let rotation = self.rotation.conjugate();
        Self { rotation, translation: rotation * -self.translation }
    }

    /// Returns the displacement repeated `times` times; inverted if `times` is negative.
    #[doc(hidden)]
    pub fn repeated(self, times: i128) -> Self {
        let mut power = if times < 0 { self.inverse() } else { self };
        let (mut left, mut product) = (times.unsigned_abs(), Self::IDENTITY);
        while left > 0 {
            if left & 1 == 1 {
                product = product * power;
            }
            power = power * power;
            left >>= 1;
        }
        product
    }

    /// Returns the displacement with its translation multiplied by a scale.
    #[cfg(any(feature = "wgpu", test))]
    pub(crate) fn scaled(self, scale: f64) -> Self {
        Self { translation: self.translation * scale, ..self }
    }

    pub(crate) fn of(key: &RootKey) -> Self {
        Self { rotation: unit(key.rotation), translation: DVec3::from(key.translation.map(f64::from)) }
    }
}

impl InstanceRecord {
    /// Moves and rotates the instance by a displacement in its own space, multiplied by its scale.
    pub fn displace(&mut self, by: Displacement) {
        let rotation = unit(self.rotation().to_array());
        let progress = rotation * (by.translation * f64::from(self.scale));
        let position = DVec3::from(self.translation.map(f64::from)) + progress;
        let translation = finite_position(position.as_vec3().into());
        let rotation = unit_rotation((rotation * by.rotation).as_quat().into());
        self.set_transform(Transform { translation, scale: self.scale, rotation });
    }
}

/// Composition: the left displacement first, then the right one from where the left one ends.
impl core::ops::Mul for Displacement {
    type Output = Self;
    fn mul(self, next: Self) -> Self {
        Self {
            rotation: (self.rotation * next.rotation).normalize(),
            translation: self.translation + self.rotation * next.translation,
        }
    }
}

/// Normalises a quaternion; no rotation if it has no length.
fn unit(quaternion: [f32; 4]) -> DQuat {
    let q = glam::DVec4::from(quaternion.map(f64::from));
    q.try_normalize().map_or(DQuat::IDENTITY, DQuat::from_vec4)
}

impl ClipInfo {
    /// Returns the root motion of a playback of this clip between two times; `to` may be earlier.
    /// No displacement if the clip was baked without root motion. For an instance, which may fade between clips, see
    /// [`InstanceRecord::root_displacement`].
    ///
    /// Each loop continues where the previous one ended. A clip that plays once stops at its end; a
    /// ping-pong clip returns to its start.
    pub fn root_displacement(&self, playback: &Playback, from: impl Into<Time>, to: impl Into<Time>) -> Displacement {
        let keys = self.root_keys();
        let Some(whole) = keys.last().map(Displacement::of) else { return Displacement::IDENTITY };
        let timeline = PlaybackTimeline::of(playback);
        let [(loops_from, from), (loops_to, to)] = [from.into(), to.into()].map(|time| timeline.loops_and_phase(time));
        if loops_from == loops_to {
            return at(keys, from).inverse() * at(keys, to);
        }
        at(keys, from).inverse() * whole.repeated(loops_to - loops_from) * at(keys, to)
    }

    /// Returns the displacement since the start of the clip at each frame; empty without root motion.
    pub(crate) fn root_keys(&self) -> &[RootKey] {
        self.root_motion.as_ref().map_or(&[], |motion| &motion.keys)
    }

    /// Returns the displacement since the start of the clip, at a fraction of its length with 32 fraction bits.
    #[cfg(any(feature = "wgpu", test))]
    pub(crate) fn root_at(&self, position: u64) -> Displacement {
        let keys = self.root_keys();
        if keys.is_empty() { Displacement::IDENTITY } else { at(keys, position) }
    }
}

/// Returns the displacement since the start of the clip, at a fraction of its length with 32
/// fraction bits.
fn at(keys: &[RootKey], position: u64) -> Displacement {
    let frames = u128::from(position) * (keys.len() - 1) as u128;
    let (frame, t) = ((frames / u128::from(CYCLE)) as usize, (frames % u128::from(CYCLE)) as f64 / CYCLE as f64);
    let a = Displacement::of(&keys[frame]);
    let Some(b) = keys.get(frame + 1).map(Displacement::of) else { return a };
    Displacement { rotation: a.rotation.slerp(b.rotation, t), translation: a.translation.lerp(b.translation, t) }
}
