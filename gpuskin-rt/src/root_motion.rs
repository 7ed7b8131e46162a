//! How far a playback moves its model as a whole: exact over any number of loops.

use glam::{DQuat, DVec3};

use crate::course::{Course, WHOLE};
use crate::instance::{finite_position, packed_rotation};
use crate::{ClipInfo, InstanceRecord, Playback, RootKey, Time};

/// A way and a turn: the rotation first, about the model's origin, then the translation.
///
/// In the model's own space at the start of the movement, so that one after the other is a product:
///
/// ```text
/// between(a, c) = between(a, b) * between(b, c)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Displacement {
    /// Unit quaternion.
    pub rotation: DQuat,
    /// Metres.
    pub translation: DVec3,
}

impl Displacement {
    /// Moves nothing.
    pub const IDENTITY: Self = Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO };

    /// Back where it came from.
    pub fn inverse(self) -> Self {
        let rotation = self.rotation.conjugate();
        Self { rotation, translation: rotation * -self.translation }
    }

    /// So many times in a row; backwards where `times` is negative.
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

    fn of(key: &RootKey) -> Self {
        Self { rotation: unit(key.rotation), translation: DVec3::from(key.translation.map(f64::from)) }
    }
}

impl InstanceRecord {
    /// Moves and turns it, in its own space and by its own size.
    pub fn displace(&mut self, by: Displacement) {
        let rotation = unit(self.rotation().to_array());
        let way = rotation * (by.translation * f64::from(self.scale));
        let place = DVec3::from(self.translation.map(f64::from)) + way;
        self.translation = finite_position(place.as_vec3().into());
        self.rotation = packed_rotation((rotation * by.rotation).as_quat().into());
    }
}

/// The movement on the left, then, from where it led, that on the right.
impl core::ops::Mul for Displacement {
    type Output = Self;
    fn mul(self, next: Self) -> Self {
        Self {
            rotation: (self.rotation * next.rotation).normalize(),
            translation: self.translation + self.rotation * next.translation,
        }
    }
}

/// The quaternion of length one; no rotation where it has none.
fn unit(quaternion: [f32; 4]) -> DQuat {
    let q = glam::DVec4::from(quaternion.map(f64::from));
    q.try_normalize().map_or(DQuat::IDENTITY, DQuat::from_vec4)
}

impl ClipInfo {
    /// How far a playback of this clip moves its model from one moment to another, which may be the earlier. Nowhere,
    /// where the clip was baked without root motion.
    ///
    /// Loops go on from where they end. A clip that is held at its end does not move on, and one that is played to and fro
    /// comes back to where it was.
    pub fn root_displacement(&self, playback: &Playback, from: impl Into<Time>, to: impl Into<Time>) -> Displacement {
        let keys = self.root_motion.as_ref().map_or(&[][..], |motion| &motion.keys);
        let Some(whole) = keys.last().map(Displacement::of) else { return Displacement::IDENTITY };
        let course = Course::of(playback);
        let [(loops_from, from), (loops_to, to)] = [from.into(), to.into()].map(|time| course.place(time));
        if loops_from == loops_to {
            return at(keys, from).inverse() * at(keys, to);
        }
        at(keys, from).inverse() * whole.repeated(loops_to - loops_from) * at(keys, to)
    }
}

/// The displacement since the clip's start, at a fraction of its length with 32 fraction bits.
fn at(keys: &[RootKey], place: u64) -> Displacement {
    let frames = u128::from(place) * (keys.len() - 1) as u128;
    let (frame, t) = ((frames / u128::from(WHOLE)) as usize, (frames % u128::from(WHOLE)) as f64 / WHOLE as f64);
    let a = Displacement::of(&keys[frame]);
    let Some(b) = keys.get(frame + 1).map(Displacement::of) else { return a };
    Displacement { rotation: a.rotation.slerp(b.rotation, t), translation: a.translation.lerp(b.translation, t) }
}
