//! Instances before they are spawned.

use core::marker::PhantomData;

use glam::Quat;

use crate::appearance::packed_tint;
use crate::playback::Repeat;
use crate::transition::{Offset, Start};
use crate::{Appearance, Clip, InstanceRecord, Metadata, ModelVariant, Motion, Part, Time, Transform};

/// An instance of a crowd before it is spawned: transform, playback and appearance.
///
/// ```
/// # use gpuskin_rt::{Clip, Dynamic, Instance};
/// # const SOLDIER_RUN: Clip<Dynamic> = Clip::new(0);
/// let runner = Instance::at([4.0, 0.0, -2.0]).facing(1.6).play(SOLDIER_RUN).speed(1.1).phase(0.25);
/// ```
#[derive(Debug)]
pub struct Instance<M> {
    transform: Transform,
    clip: u16,
    begins: Start,
    start: Option<Time>,
    appearance: Appearance,
    motion: Motion,
    model: PhantomData<fn() -> M>,
}

// Not derived: a derive would require the same trait of `M`.
impl<M> Clone for Instance<M> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<M> Copy for Instance<M> {}

impl<M> Instance<M> {
    /// Makes an instance at a position in world space, metres: no rotation, scale 1, playing the
    /// first clip from its start.
    pub fn at(position: impl Into<[f32; 3]>) -> Self {
        Self {
            transform: Transform::at(position),
            clip: 0,
            begins: Start::default(),
            start: None,
            appearance: Appearance::default(),
            motion: Motion::STILL,
            model: PhantomData,
        }
    }

    /// Sets the whole transform.
    pub fn with_transform(mut self, transform: Transform) -> Self {
        self.transform = transform;
        self
    }

    /// Sets the rotation, a unit quaternion `x, y, z, w`.
    pub fn rotated(mut self, quaternion: impl Into<[f32; 4]>) -> Self {
        self.transform.rotation = quaternion.into();
        self
    }

    /// Sets the rotation about the y axis, radians, counter-clockwise seen from above.
    pub fn facing(self, yaw: f32) -> Self {
        self.rotated(Quat::from_rotation_y(yaw))
    }

    /// Sets the uniform scale, about the model's origin.
    pub fn scaled(mut self, scale: f32) -> Self {
        self.transform.scale = scale;
        self
    }

    /// Sets the motion, from the time of the spawn on: `Motion::forwards(1.4)`, or [`Motion::following_root`] to go where the
    /// clips go.
    pub fn moving(mut self, motion: Motion) -> Self {
        self.motion = motion;
        self
    }

    #[cfg(feature = "wgpu")]
    pub(crate) fn motion(&self) -> Motion {
        self.motion
    }

    /// Sets the clip.
    pub fn play(mut self, clip: Clip<M>) -> Self {
        self.clip = clip.index();
        self
    }

    /// Sets the speed as a factor of the clip's normal speed; 0 freezes the pose, negative plays
    /// backwards.
    pub fn speed(mut self, speed: f32) -> Self {
        self.begins.speed = speed;
        self
    }

    /// Starts at a fraction of the clip's length; the integer part is ignored.
    pub fn phase(mut self, fraction: f32) -> Self {
        self.begins.offset = Offset::Phase(f64::from(fraction));
        self
    }

    /// Starts at a time in the clip, in seconds, clamped to its length.
    pub fn seek(mut self, seconds: f64) -> Self {
        self.begins.offset = Offset::Seconds(seconds);
        self
    }

    /// Starts the clip at `time` instead of the time of the spawn. Until then the instance holds
    /// its first pose.
    pub fn starting(mut self, time: impl Into<Time>) -> Self {
        self.start = Some(time.into());
        self
    }

    /// Sets the behaviour at the ends of the clip, which overrides the manifest.
    pub fn repeat(mut self, repeat: Repeat) -> Self {
        self.begins.repeat = Some(repeat);
        self
    }

    /// Sets the tint: linear RGBA, 0..1, multiplied with the base colour.
    pub fn tinted(mut self, tint: impl Into<[f32; 4]>) -> Self {
        self.appearance.tint = packed_tint(tint.into());
        self
    }

    /// Sets custom data: two words for the game's own shaders, read as
    /// `gpuskin_appearance(input.appearance).custom`.
    pub fn custom(mut self, words: [u32; 2]) -> Self {
        self.appearance.custom = words;
        self
    }

    /// Sets the variant of the model's materials.
    pub fn variant(mut self, variant: ModelVariant<M>) -> Self {
        self.appearance.variant = variant.index().into();
        self
    }

    /// Hides a part of the model.
    pub fn without(mut self, part: Part<M>) -> Self {
        self.appearance.show(Appearance::part_bit(part.index()), false);
        self
    }

    /// Hides the instance until [`set_visible`](crate::Crowd::set_visible) shows it.
    pub fn invisible(mut self) -> Self {
        self.appearance.hidden |= Appearance::INVISIBLE_BIT;
        self
    }

    /// Returns the appearance, as the shaders read it.
    #[doc(hidden)]
    pub fn appearance(&self) -> Appearance {
        self.appearance
    }

    /// Returns the instance record, as the shaders read it. A clip that the model does not have
    /// becomes its first clip.
    ///
    /// `time`: start time, unless [`Instance::starting`] set another. Numbers that are not finite
    /// become 0; a scale becomes 1, a quaternion no rotation.
    pub fn record(&self, meta: &Metadata, time: Time) -> InstanceRecord {
        let playback = self.begins.playback(meta, self.clip, self.start.unwrap_or(time));
        let mut record = InstanceRecord::playing(playback);
        record.set_transform(self.transform.finite());
        record
    }
}
