//! Metadata of a baked clip.

use crate::aabb::Aabb;
use crate::list::{List, Str};
use crate::{ClipRecord, HeldFrames};

/// A baked clip.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct ClipInfo {
    /// Name in Rust, as in the manifest: `run`.
    #[doc(hidden)]
    pub name: Str,
    /// Name in the glTF file: `HumanArmature|Run`.
    #[doc(hidden)]
    pub source: Str,
    /// Index of the clip's first frame in the animation texture. Clips with identical motion share
    /// frames.
    #[doc(hidden)]
    pub first_frame: u32,
    /// Number of intervals between frames over the length of the clip, at least 1.
    #[doc(hidden)]
    pub intervals: u32,
    /// Number of stored frames: `intervals + 1`, minus one if the last pose equals the first, minus
    /// the repeats in [`Self::held`].
    #[doc(hidden)]
    pub stored: u32,
    /// Longest run of identical frames.
    #[doc(hidden)]
    pub held: HeldFrames,
    /// Whether each frame is shown until the next one: all tracks that move are STEP.
    #[doc(hidden)]
    pub stepped: bool,
    /// Whether the clip loops by default; an instance can override it.
    #[doc(hidden)]
    pub looped: bool,
    /// Length, seconds.
    #[doc(hidden)]
    pub duration: f64,
    /// Frames per second, `intervals / duration`; 0 for a clip of length zero.
    #[doc(hidden)]
    pub frame_rate: f64,
    /// Bounding box of the clip's frames. Model space, metres.
    #[doc(hidden)]
    pub bounds: Aabb,
    /// Events of the clip, by ascending phase, then by name.
    #[doc(hidden)]
    pub events: List<ClipEvent>,
    /// Root motion, if it was removed from the poses.
    #[doc(hidden)]
    pub root_motion: Option<RootMotion>,
    /// For an additive clip, index of the clip whose first frame is the reference pose; `None` for
    /// an ordinary clip.
    #[doc(hidden)]
    pub additive: Option<u16>,
    /// Error at the times of the stored frames.
    #[doc(hidden)]
    pub encoding_error: ErrorInfo,
    /// Error including the times between frames: on a grid four times as fine, and at every source
    /// key.
    #[doc(hidden)]
    pub motion_error: ErrorInfo,
}

impl ClipInfo {
    /// Returns the name of the clip in the manifest, such as `run`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the length of the clip at speed 1, seconds.
    pub fn duration(&self) -> f64 {
        self.duration
    }

    /// Returns whether the clip loops unless an instance says otherwise.
    pub fn is_looping(&self) -> bool {
        self.looped
    }

    /// Returns whether the clip adds to the pose under it when it is played on a layer.
    #[doc(hidden)]
    pub fn is_additive(&self) -> bool {
        self.additive.is_some()
    }

    /// Returns whether root motion was removed from the poses; [`ClipInfo::root_displacement`] then moves the instance.
    #[doc(hidden)]
    pub fn has_root_motion(&self) -> bool {
        self.root_motion.is_some()
    }

    /// Returns the bounding box of the clip's frames. Model space, metres.
    pub fn bounds(&self) -> Aabb {
        self.bounds
    }

    /// Returns the greatest distance between the drawn mesh and the glTF, metres, over all source vertices and all times.
    pub fn error(&self) -> f32 {
        self.motion_error.max
    }

    /// Returns the part that GPU playback needs.
    #[doc(hidden)]
    pub fn record(&self) -> ClipRecord {
        let Self { first_frame, intervals, stored, held, stepped, .. } = *self;
        let stepped = if stepped { ClipRecord::STEPPED } else { 0 };
        ClipRecord { first_frame, intervals, stored, held: held.bits() | stepped }
    }
}

/// An event at a fixed phase of a clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct ClipEvent {
    /// Index into [`Metadata::events`](crate::Metadata::events).
    pub event: u16,
    /// Time of the event: a fraction of the clip's length in 0.32 fixed point, like
    /// [`Playback::offset`](crate::Playback::offset). An event at the very end has the greatest
    /// value.
    pub phase: u32,
}

/// Root motion: movement of the whole model during a clip. Baked poses exclude it: the source pose
/// at time t is `displacement(t) * pose(t)`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct RootMotion {
    /// Whether the model moves only in the ground plane and turns only about y.
    pub planar: bool,
    /// Displacement since the start of the clip at each frame, `0..=intervals`; the first is the
    /// identity.
    pub keys: List<RootKey>,
}

/// A displacement in model space: first a rotation about the origin, then a translation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct RootKey {
    /// Translation, metres.
    pub translation: [f32; 3],
    /// Unit quaternion `x, y, z, w`.
    pub rotation: [f32; 4],
}

impl RootKey {
    /// No displacement.
    pub const IDENTITY: Self = Self { translation: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0] };

    /// Interpolates from `self` (t = 0) to `other` (t = 1): translation linearly, rotation along
    /// the shorter arc at constant angular speed.
    pub fn blend(&self, other: &Self, t: f32) -> Self {
        let (a, b) = (glam::Vec3::from(self.translation), glam::Vec3::from(other.translation));
        Self {
            translation: (a * (1.0 - t) + b * t).into(),
            rotation: crate::local::slerp(self.rotation.into(), other.rotation.into(), t).into(),
        }
    }
}

/// Distance between the drawn mesh and the glTF evaluated in `f64`, over all source vertices. The
/// field that holds the value defines the times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct ErrorInfo {
    /// Greatest distance, metres.
    pub max: f32,
    /// 99.96th percentile of the distances, metres.
    pub p9996: f32,
    /// Greatest angle between normals, degrees; 0 if the source has no normals.
    pub normal_degrees: f32,
    /// Time of `max`: seconds into the clip.
    pub time: f32,
    /// Bone with the greatest weight at the vertex of `max`.
    pub bone: u32,
    /// Source vertex of `max`: index over all source vertices.
    pub vertex: u32,
}
