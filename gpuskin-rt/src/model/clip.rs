//! What the baker tells the runtime of a clip.

use super::{Aabb, List, Str};
use crate::{ClipRecord, HeldFrames};

/// A clip.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct ClipInfo {
    /// Name in Rust, as in the manifest: `run`.
    pub name: Str,
    /// Name in the glTF file: `HumanArmature|Run`.
    pub source: Str,
    /// First frame in the texture. Clips of the same motion share their frames.
    pub first_frame: u32,
    /// Intervals between frames over the clip's length, at least 1.
    pub intervals: u32,
    /// Frames stored: one less than its poses where the last is the first, and less those of [`Self::held`].
    pub stored: u32,
    /// The longest run of frames in which nothing moves.
    pub held: HeldFrames,
    /// Whether it starts over when it ends, unless an instance says otherwise.
    pub looped: bool,
    /// Seconds.
    pub duration: f64,
    /// Frames a second, `intervals / duration`; 0 for a clip without length.
    pub frame_rate: f64,
    /// What its frames reach, metres.
    pub bounds: Aabb,
    /// What happens in it, by ascending phase, then by name.
    pub events: List<ClipEvent>,
    /// How it moves the model as a whole, where that was taken out of its poses.
    pub root_motion: Option<RootMotion>,
    /// Index of the clip whose first frame is the pose that this one adds to; `None` where it is a pose of its own.
    pub additive: Option<u16>,
    /// At the frames' own times.
    pub encoding_error: ErrorInfo,
    /// Between frames as well: on a grid four times as fine, and at every source key.
    pub motion_error: ErrorInfo,
}

impl ClipInfo {
    /// What the GPU's playback needs of it.
    pub fn record(&self) -> ClipRecord {
        let Self { first_frame, intervals, stored, held, .. } = *self;
        ClipRecord { first_frame, intervals, stored, held: held.bits() }
    }
}

/// A moment of a clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct ClipEvent {
    /// Index into [`Metadata::events`](crate::Metadata::events).
    pub event: u16,
    /// When: a fraction of the clip's length in 0.32 fixed point, as [`Playback::offset`](crate::Playback::offset).
    /// What happens at the very end has the greatest one.
    pub phase: u32,
}

/// How a clip moves the model as a whole. Its poses do without: the source's are `displacement(t) * pose(t)`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct RootMotion {
    /// It moves in the ground plane and turns about y alone.
    pub planar: bool,
    /// Displacement since the clip's start at each frame, `0..=intervals`; the first is the identity.
    pub keys: List<RootKey>,
}

/// A displacement in the model's space: the rotation first, about the origin, then the translation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct RootKey {
    /// Metres.
    pub translation: [f32; 3],
    /// Unit quaternion `x, y, z, w`.
    pub rotation: [f32; 4],
}

impl RootKey {
    /// Moves nothing.
    pub const IDENTITY: Self = Self { translation: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0] };

    /// From `self` (t = 0) to `other` (t = 1): straight, and along the shorter arc at even speed.
    pub fn blend(&self, other: &Self, t: f32) -> Self {
        let (a, b) = (glam::Vec3::from(self.translation), glam::Vec3::from(other.translation));
        Self {
            translation: (a * (1.0 - t) + b * t).into(),
            rotation: crate::local::slerp(self.rotation.into(), other.rotation.into(), t).into(),
        }
    }
}

/// Distance between what is drawn and the glTF evaluated in `f64`, over all source vertices and the times named by
/// the field that holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct ErrorInfo {
    /// Greatest distance, metres.
    pub max: f32,
    /// 99.96 % of all distances are at most this, metres.
    pub p9996: f32,
    /// Greatest angle between normals, degrees; 0 where the source has none.
    pub normal_degrees: f32,
    /// Where `max` stood: seconds into the clip.
    pub time: f32,
    /// Where `max` stood: the bone with the greatest weight there.
    pub bone: u32,
    /// Where `max` stood: index over the source's vertices.
    pub vertex: u32,
}
