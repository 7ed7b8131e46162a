//! Instances: one character each, 48 bytes on the GPU. Twin of `shaders/instance.wgsl`.

use core::marker::PhantomData;

use bytemuck::{Pod, Zeroable};
use glam::{Quat, Vec3, Vec4};

use crate::playback::{clamped_offset, rate, wrapped_offset};
use crate::{Clip, Metadata, Playback, Time};

/// An instance as the shaders read it: three attributes of four words, stepped per instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct InstanceRecord {
    /// Where the model's origin stands, metres.
    pub translation: [f32; 3],
    /// Uniform scale, applied first.
    pub scale: f32,
    /// Unit quaternion `x, y, z, w`, signed 16 bits each over 32767.
    pub rotation: [i16; 4],
    /// What it plays.
    pub playback: Playback,
}

impl InstanceRecord {
    /// The quaternion, as far from unit length as its 16 bits left it.
    pub fn rotation(&self) -> Vec4 {
        Vec4::from(self.rotation.map(|c| f32::from(c) / 32_767.0))
    }

    /// From the model's space to the world.
    pub fn point(&self, p: Vec3) -> Vec3 {
        Vec3::from(self.translation) + rotate(self.rotation(), p * self.scale)
    }

    /// A direction from the model's space to the world's; keeps its length.
    pub fn direction(&self, d: Vec3) -> Vec3 {
        rotate(self.rotation(), d)
    }
}

/// A position without what is not finite: 0 instead.
pub(crate) fn finite_position(position: [f32; 3]) -> [f32; 3] {
    position.map(|c| if c.is_finite() { c } else { 0.0 })
}

/// A scale that is finite: 1 instead.
pub(crate) fn finite_scale(scale: f32) -> f32 {
    if scale.is_finite() { scale } else { 1.0 }
}

/// A quaternion as [`InstanceRecord::rotation`] has it; no rotation where it is none.
pub(crate) fn packed_rotation(quaternion: [f32; 4]) -> [i16; 4] {
    // In f64, where the square of no f32 overflows or vanishes.
    let q = quaternion.map(f64::from);
    let length = q.iter().map(|c| c * c).sum::<f64>().sqrt();
    let unit = if length.is_finite() && length > 0.0 { q.map(|c| c / length) } else { [0.0, 0.0, 0.0, 1.0] };
    unit.map(|c| (c * 32_767.0).round() as i16)
}

/// Rotation by a quaternion of any length but zero.
fn rotate(q: Vec4, v: Vec3) -> Vec3 {
    let u = q.truncate();
    let inner = u.cross(v) + v * q.w;
    v + u.cross(inner) * (2.0 / q.dot(q))
}

/// One character of a crowd, before it is spawned: where it stands and what it plays.
///
/// ```
/// # use gpuskin_rt::{Clip, Dynamic, Instance};
/// # const SOLDIER_RUN: Clip<Dynamic> = Clip::new(0);
/// let runner = Instance::at([4.0, 0.0, -2.0]).facing(1.6).play(SOLDIER_RUN).speed(1.1).phase(0.25);
/// ```
#[derive(Debug)]
pub struct Instance<M> {
    position: [f32; 3],
    rotation: [f32; 4],
    scale: f32,
    clip: u16,
    speed: f32,
    offset: Offset,
    start: Option<Time>,
    once: Option<bool>,
    model: PhantomData<fn() -> M>,
}

/// Where in its clip an instance starts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Offset {
    Phase(f64),
    Seconds(f64),
}

// Not derived: these hold whatever M is.
impl<M> Clone for Instance<M> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<M> Copy for Instance<M> {}

impl<M> Instance<M> {
    /// At a position in the world, metres; upright, facing as modelled, life-size, playing the first clip from its start.
    pub fn at(position: impl Into<[f32; 3]>) -> Self {
        Self {
            position: position.into(),
            rotation: [0.0, 0.0, 0.0, 1.0],
            scale: 1.0,
            clip: 0,
            speed: 1.0,
            offset: Offset::Phase(0.0),
            start: None,
            once: None,
            model: PhantomData,
        }
    }

    /// Turned by a unit quaternion `x, y, z, w`. It is kept to 0.004 degrees.
    pub fn rotated(mut self, quaternion: impl Into<[f32; 4]>) -> Self {
        self.rotation = quaternion.into();
        self
    }

    /// Turned about the y axis, radians, counter-clockwise seen from above.
    pub fn facing(self, yaw: f32) -> Self {
        self.rotated(Quat::from_rotation_y(yaw))
    }

    /// Scaled evenly, about the model's origin.
    pub fn scaled(mut self, scale: f32) -> Self {
        self.scale = scale;
        self
    }

    /// Plays a clip.
    pub fn play(mut self, clip: Clip<M>) -> Self {
        self.clip = clip.index();
        self
    }

    /// Times the clip's own pace; 0 stands still, negative runs backwards.
    pub fn speed(mut self, speed: f32) -> Self {
        self.speed = speed;
        self
    }

    /// Starts at a fraction of the clip's length; whole numbers do not matter.
    pub fn phase(mut self, fraction: f32) -> Self {
        self.offset = Offset::Phase(f64::from(fraction));
        self
    }

    /// Starts so many seconds into the clip, held at its ends.
    pub fn seek(mut self, seconds: f64) -> Self {
        self.offset = Offset::Seconds(seconds);
        self
    }

    /// Starts at a moment of the clock instead of when it is spawned. Until then it holds its first pose.
    pub fn starting(mut self, time: impl Into<Time>) -> Self {
        self.start = Some(time.into());
        self
    }

    /// Holds the last pose at the clip's end, even where the manifest says that it loops.
    pub fn once(mut self) -> Self {
        self.once = Some(true);
        self
    }

    /// Starts over at the clip's end, even where the manifest says that it does not.
    pub fn looping(mut self) -> Self {
        self.once = Some(false);
        self
    }

    /// The instance as the shaders read it. A clip that the model does not have plays the first one.
    ///
    /// `now`: when it starts, unless [`Instance::starting`] said otherwise.
    /// Numbers that are not finite become 0 (1 for the scale, no rotation for a quaternion).
    pub fn record(&self, meta: &Metadata, now: Time) -> InstanceRecord {
        let index = if (self.clip as usize) < meta.clips.len() { self.clip } else { 0 };
        let clip = &meta.clips[index as usize];
        let once = self.once.unwrap_or(!clip.looped);
        let offset = match self.offset {
            Offset::Phase(fraction) => wrapped_offset(fraction),
            Offset::Seconds(_) if clip.duration <= 0.0 => 0,
            Offset::Seconds(seconds) => clamped_offset(seconds / clip.duration),
        };
        InstanceRecord {
            translation: finite_position(self.position),
            scale: finite_scale(self.scale),
            rotation: packed_rotation(self.rotation),
            playback: Playback {
                start: self.start.unwrap_or(now).words(),
                rate: Time::from_bits(rate(f64::from(self.speed), clip.duration) as u64).words(),
                offset,
                clip: u32::from(index) | if once { Playback::ONCE } else { 0 },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_48_bytes_of_three_attributes() {
        assert_eq!(size_of::<InstanceRecord>(), 48);
        assert_eq!(core::mem::offset_of!(InstanceRecord, rotation), 16);
        assert_eq!(core::mem::offset_of!(InstanceRecord, playback), 24);
    }

    #[test]
    fn rotation_is_the_quaternions_whatever_its_length() {
        let q = Quat::from_xyzw(0.1, -0.4, 0.3, 0.8).normalize();
        let v = Vec3::new(1.0, 2.0, -3.0);
        assert!(rotate(Vec4::from(q) * 1.001, v).abs_diff_eq(q * v, 1e-5));
    }
}
