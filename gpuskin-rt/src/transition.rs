//! Transitions from one clip to another.

use crate::playback::{Repeat, clamped_offset, rate, wrapped_offset};
use crate::{Clip, Metadata, Playback, Time};

/// Easing curve: the weight of a fade as a function of its progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Curve {
    /// Linear: `p`.
    Linear,
    /// Slow at both ends: `p^2 (3 - 2 p)`.
    #[default]
    Smooth,
    /// Slow at the start: `p^2`.
    EaseIn,
    /// Slow at the end: `p (2 - p)`.
    EaseOut,
}

impl Curve {
    pub(crate) const fn from_bits(bits: u16) -> Self {
        match bits {
            0 => Self::Linear,
            1 => Self::Smooth,
            2 => Self::EaseIn,
            _ => Self::EaseOut,
        }
    }

    pub(crate) const fn to_bits(self) -> u16 {
        self as u16
    }

    /// Returns the weight, 0..1, at a progress of 0..1. CPU reference of `gpuskin_curve` in
    /// `shaders/instance.wgsl`.
    #[doc(hidden)]
    pub fn weight(self, progress: f32) -> f32 {
        let p = progress;
        match self {
            Self::Linear => p,
            Self::Smooth => p * p * (3.0 - 2.0 * p),
            Self::EaseIn => p * p,
            Self::EaseOut => p * (2.0 - p),
        }
    }

    /// Returns the mean weight between two progresses of 0..1. CPU reference of `gpuskin_mean_weight` in
    /// `shaders/root_motion.wgsl`.
    pub(crate) fn mean_weight(self, from: f64, to: f64) -> f64 {
        let p = 0.5 * (from + to);
        let square = (from * from + from * to + to * to) / 3.0;
        let cube = p * 0.5 * (from * from + to * to);
        match self {
            Self::Linear => p,
            Self::Smooth => 3.0 * square - 2.0 * cube,
            Self::EaseIn => square,
            Self::EaseOut => 2.0 * p - square,
        }
    }
}

/// Greatest playback rate that every instance record can hold: cycles per second, 32.32 fixed
/// point.
const FASTEST: i64 = ((1 << 26) - 1) << 31;

/// Start of a clip on an instance: crossfade, speed, phase and looping.
///
/// ```
/// # use gpuskin_rt::{Curve, Repeat, Transition};
/// let attack = Transition::crossfade(0.2).curve(Curve::EaseOut).speed(1.3).repeat(Repeat::Once);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transition {
    pub(crate) fade: f32,
    pub(crate) curve: Curve,
    pub(crate) start: Start,
}

/// Start phase, speed and looping of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Start {
    pub(crate) speed: f32,
    pub(crate) offset: Offset,
    pub(crate) repeat: Option<Repeat>,
}

/// Start phase of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Offset {
    Phase(f64),
    Seconds(f64),
}

impl Default for Start {
    fn default() -> Self {
        Self { speed: 1.0, offset: Offset::Phase(0.0), repeat: None }
    }
}

impl Start {
    /// Returns the playback of a clip that starts at `start`. A clip that the model does not have
    /// becomes its first clip.
    pub(crate) fn playback(&self, meta: &Metadata, clip: u16, start: Time) -> Playback {
        let index = if (clip as usize) < meta.clips.len() { clip } else { 0 };
        let clip = &meta.clips[index as usize];
        let repeat = self.repeat.unwrap_or(if clip.looped { Repeat::Loop } else { Repeat::Once });
        let lengths = repeat.lengths();
        let offset = match self.offset {
            Offset::Phase(fraction) => wrapped_offset(fraction / lengths),
            Offset::Seconds(_) if clip.duration <= 0.0 => 0,
            Offset::Seconds(seconds) => clamped_offset((seconds / clip.duration).clamp(0.0, 1.0) / lengths),
        };
        let mut rate = rate(f64::from(self.speed), clip.duration * lengths);
        let mut offset = offset;
        if repeat == Repeat::Once && clip.duration <= 0.0 && self.speed != 0.0 {
            // A clip of length zero finishes immediately: the greatest rate ends it within 30 ns.
            (rate, offset) = if self.speed < 0.0 { (-FASTEST, u32::MAX) } else { (FASTEST, 0) };
        }
        Playback {
            start: start.words(),
            rate: Time::from_bits(rate as u64).words(),
            offset,
            clip: u32::from(index) | repeat.flag(),
        }
    }
}

impl Transition {
    /// Makes a transition without a crossfade.
    pub const fn cut() -> Self {
        let start = Start { speed: 1.0, offset: Offset::Phase(0.0), repeat: None };
        Self { fade: 0.0, curve: Curve::Smooth, start }
    }

    /// Makes a crossfade over `seconds`, during which both clips play. A value that is not positive
    /// makes a cut.
    ///
    /// The GPU evaluates the blend. A crossfade that is interrupted continues from its current
    /// blend. Rotations are blended as quaternions along the shorter arc where the encoding stores
    /// quaternions. Matrix encodings blend matrices and vertex encodings blend positions; both
    /// shrink slightly in the middle of large rotations.
    pub const fn crossfade(seconds: f32) -> Self {
        Self { fade: seconds, ..Self::cut() }
    }

    /// Sets the easing curve; the default is [`Curve::Smooth`].
    pub const fn curve(mut self, curve: Curve) -> Self {
        self.curve = curve;
        self
    }

    /// Sets the speed as a factor of the clip's normal speed; 0 freezes the pose, negative plays
    /// backwards.
    pub const fn speed(mut self, speed: f32) -> Self {
        self.start.speed = speed;
        self
    }

    /// Starts at a fraction of the clip's length; the integer part is ignored.
    pub const fn phase(mut self, fraction: f32) -> Self {
        self.start.offset = Offset::Phase(fraction as f64);
        self
    }

    /// Starts at a time in the clip, in seconds, clamped to its length.
    pub const fn seek(mut self, seconds: f64) -> Self {
        self.start.offset = Offset::Seconds(seconds);
        self
    }

    /// Sets the behaviour at the ends of the clip, which overrides the manifest.
    pub const fn repeat(mut self, repeat: Repeat) -> Self {
        self.start.repeat = Some(repeat);
        self
    }

    /// Returns the playback of a clip that starts at `start`, for
    /// [`InstanceRecord::play`](crate::InstanceRecord::play) and
    /// [`LayerSet::play`](crate::LayerSet::play). For servers, which have no crowd to do this. A
    /// clip that the model does not have becomes its first clip.
    #[doc(hidden)]
    pub fn playback<M>(&self, meta: &Metadata, clip: Clip<M>, start: impl Into<Time>) -> Playback {
        self.start.playback(meta, clip.index(), start.into())
    }
}

impl Default for Transition {
    fn default() -> Self {
        Self::cut()
    }
}
