//! How an instance goes from one clip to another.

use crate::playback::{Repeat, clamped_offset, rate, wrapped_offset};
use crate::{Clip, Metadata, Playback, Time};

/// How a fade's weight follows its progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Curve {
    /// Evenly.
    Linear,
    /// Slowly at both ends: `p^2 (3 - 2 p)`.
    #[default]
    Smooth,
    /// Slowly at first: `p^2`.
    EaseIn,
    /// Slowly at last: `p (2 - p)`.
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

    /// The weight, 0..1, at a progress of 0..1. Twin of `gpuskin_curve` in `shaders/instance.wgsl`.
    pub fn weight(self, progress: f32) -> f32 {
        let p = progress;
        match self {
            Self::Linear => p,
            Self::Smooth => p * p * (3.0 - 2.0 * p),
            Self::EaseIn => p * p,
            Self::EaseOut => p * (2.0 - p),
        }
    }
}

/// Cycles a second that every record holds, in 32.32 fixed point.
const FASTEST: i64 = ((1 << 26) - 1) << 31;

/// How a clip begins that an instance is told to play.
///
/// ```
/// # use gpuskin_rt::{Curve, Transition};
/// let attack = Transition::crossfade(0.2).curve(Curve::EaseOut).speed(1.3).once();
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transition {
    pub(crate) fade: f32,
    pub(crate) curve: Curve,
    pub(crate) start: Start,
}

/// Where a clip starts and how it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Start {
    pub(crate) speed: f32,
    pub(crate) offset: Offset,
    pub(crate) repeat: Option<Repeat>,
}

/// Where in its clip an instance starts.
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
    /// A clip that begins so at a moment. A clip that the model does not have is its first.
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
            // A pose comes to its end at once: as fast as a record has it, in 30 ns.
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
    /// At once.
    pub const fn cut() -> Self {
        let start = Start { speed: 1.0, offset: Offset::Phase(0.0), repeat: None };
        Self { fade: 0.0, curve: Curve::Smooth, start }
    }

    /// Over so many seconds, while both clips run. What is not above zero is a cut.
    ///
    /// The mix is evaluated on the GPU. A fade that is itself interrupted goes on from what is shown at that moment.
    /// Rotations are mixed as quaternions, along the shorter arc, wherever the encoding holds them; matrix encodings
    /// mix matrices, and vertex encodings positions, which shrink a little in the middle of far turns.
    pub const fn crossfade(seconds: f32) -> Self {
        Self { fade: seconds, ..Self::cut() }
    }

    /// How the weight follows the time; [`Curve::Smooth`] unless said.
    pub const fn curve(mut self, curve: Curve) -> Self {
        self.curve = curve;
        self
    }

    /// Times the clip's own pace; 0 stands still, negative runs backwards.
    pub const fn speed(mut self, speed: f32) -> Self {
        self.start.speed = speed;
        self
    }

    /// Starts at a fraction of the clip's length; whole numbers do not matter.
    pub const fn phase(mut self, fraction: f32) -> Self {
        self.start.offset = Offset::Phase(fraction as f64);
        self
    }

    /// Starts so many seconds into the clip, held at its ends.
    pub const fn seek(mut self, seconds: f64) -> Self {
        self.start.offset = Offset::Seconds(seconds);
        self
    }

    /// What the clip does at its ends, whatever the manifest says.
    pub const fn repeat(mut self, repeat: Repeat) -> Self {
        self.start.repeat = Some(repeat);
        self
    }

    /// Holds the last pose at the clip's end, even where the manifest says that it loops.
    pub const fn once(self) -> Self {
        self.repeat(Repeat::Once)
    }

    /// Starts over at the clip's end, even where the manifest says that it does not.
    pub const fn looping(self) -> Self {
        self.repeat(Repeat::Loop)
    }

    /// A clip of a model that begins so at a moment, for [`InstanceRecord::play`](crate::InstanceRecord::play) and
    /// [`LayerSet::play`](crate::LayerSet::play): what crowds do, where there is none. A clip that the model does not have is its
    /// first.
    pub fn playback<M>(&self, meta: &Metadata, clip: Clip<M>, start: impl Into<Time>) -> Playback {
        self.start.playback(meta, clip.index(), start.into())
    }
}

impl Default for Transition {
    fn default() -> Self {
        Self::cut()
    }
}
