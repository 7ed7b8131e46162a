//! Instances: one character each, before it is spawned.

use core::marker::PhantomData;

use glam::Quat;

use crate::look::packed_tint;
use crate::playback::Repeat;
use crate::transition::{Offset, Start};
use crate::{Clip, InstanceLook, InstanceRecord, Metadata, Part, Time};

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
    begins: Start,
    start: Option<Time>,
    look: InstanceLook,
    model: PhantomData<fn() -> M>,
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
            begins: Start::default(),
            start: None,
            look: InstanceLook::default(),
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
        self.begins.speed = speed;
        self
    }

    /// Starts at a fraction of the clip's length; whole numbers do not matter.
    pub fn phase(mut self, fraction: f32) -> Self {
        self.begins.offset = Offset::Phase(f64::from(fraction));
        self
    }

    /// Starts so many seconds into the clip, held at its ends.
    pub fn seek(mut self, seconds: f64) -> Self {
        self.begins.offset = Offset::Seconds(seconds);
        self
    }

    /// Starts at a moment of the clock instead of when it is spawned. Until then it holds its first pose.
    pub fn starting(mut self, time: impl Into<Time>) -> Self {
        self.start = Some(time.into());
        self
    }

    /// What the clip does at its ends, whatever the manifest says.
    pub fn repeat(mut self, repeat: Repeat) -> Self {
        self.begins.repeat = Some(repeat);
        self
    }

    /// Holds the last pose at the clip's end, even where the manifest says that it loops.
    pub fn once(self) -> Self {
        self.repeat(Repeat::Once)
    }

    /// Starts over at the clip's end, even where the manifest says that it does not.
    pub fn looping(self) -> Self {
        self.repeat(Repeat::Loop)
    }

    /// Turns round at both ends of the clip.
    pub fn ping_pong(self) -> Self {
        self.repeat(Repeat::PingPong)
    }

    /// Base colours are multiplied by a linear RGBA, 0..1.
    pub fn tinted(mut self, tint: impl Into<[f32; 4]>) -> Self {
        self.look.tint = packed_tint(tint.into());
        self
    }

    /// Two words for the game's own shaders: `gpuskin_look(input.look).custom`.
    pub fn custom(mut self, words: [u32; 2]) -> Self {
        self.look.custom = words;
        self
    }

    /// Does not wear a part of its model.
    pub fn without(mut self, part: Part<M>) -> Self {
        self.look.show(InstanceLook::part_bit(part.index()), false);
        self
    }

    /// Is not drawn until [`set_visible`](crate::Crowd::set_visible) says so.
    pub fn invisible(mut self) -> Self {
        self.look.hidden |= InstanceLook::INVISIBLE_BIT;
        self
    }

    /// How it looks, as the shaders read it.
    pub fn look(&self) -> InstanceLook {
        self.look
    }

    /// The instance as the shaders read it. A clip that the model does not have plays the first one.
    ///
    /// `now`: when it starts, unless [`Instance::starting`] said otherwise.
    /// Numbers that are not finite become 0 (1 for the scale, no rotation for a quaternion).
    pub fn record(&self, meta: &Metadata, now: Time) -> InstanceRecord {
        let playback = self.begins.playback(meta, self.clip, self.start.unwrap_or(now));
        let mut record = InstanceRecord::playing(playback);
        record.translation = finite_position(self.position);
        record.scale = finite_scale(self.scale);
        record.rotation = packed_rotation(self.rotation);
        record
    }
}
