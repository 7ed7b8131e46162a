//! Bone transforms on the CPU: for weapons, hit boxes and servers.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;
use std::borrow::Cow;

use glam::{Vec3, Vec4};

use crate::files::{self, FileError};
use crate::playback::frame_pair;
use crate::record::clip_or_first;
use crate::skin_matrix::compose;
use crate::{
    Affine3, BakedModel, Bone, ClipInfo, ClipRecord, Dynamic, InstanceRecord, LayerSet, LiveBones, Metadata, Model,
    Playback, PoseBlend, Texels, Time,
};

/// Evaluates bone transforms of a model on the CPU. Reads the same bytes as the GPU and agrees with
/// it within 1e-5 of the model's diagonal.
///
/// A transform is that of the bone itself, as in glTF: the columns of its 3x3 are the bone's axes,
/// in metres. It is not the skinning matrix, which starts from the bind pose. An evaluation
/// allocates nothing; in [`Encoding::LocalPacked`](crate::Encoding::LocalPacked) it evaluates only
/// the bone and its ancestors. Crossfades are included. Layers and live bones are not part of an
/// instance record: pass an [`InstancePose`] to include them.
///
/// ```
/// # use gpuskin_rt::*;
/// # fn example<Soldier: BakedModel>(hand: Bone<Soldier>, soldier: &InstanceRecord, now: Time) -> Result<(), SocketError> {
/// let sockets = Sockets::<Soldier>::new()?;                    // once
/// let sword = sockets.in_world(hand, soldier, now);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Sockets<'m, M> {
    meta: &'m Metadata,
    /// Clip records, padded with the first one to the number of clips that an instance record can
    /// name.
    records: Vec<ClipRecord>,
    file: Cow<'m, [u8]>,
    level: Range<usize>,
    model: PhantomData<fn() -> M>,
}

/// Reason why [`Sockets`] cannot be created.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SocketError {
    /// The file of the animation is not available.
    Files {
        /// Name of the model.
        #[doc(hidden)]
        model: String,
        /// Reason.
        #[doc(hidden)]
        error: FileError,
    },
    /// The model was baked in vertex mode, which stores no bones.
    VertexMode {
        /// Name of the model.
        #[doc(hidden)]
        model: String,
    },
    /// The model's constants do not match its animation.
    Model {
        /// Name of the model.
        #[doc(hidden)]
        model: String,
    },
    /// A later bake of the model lacks what the program's constants name, or has it at another index.
    Constants {
        /// Name of the model.
        #[doc(hidden)]
        model: String,
        /// Kind and name of what differs, and the remedy.
        #[doc(hidden)]
        reason: String,
    },
}

impl fmt::Display for SocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files { model, error } => write!(f, "model `{model}`: {error}"),
            Self::VertexMode { model } => {
                write!(
                    f,
                    "model `{model}`: baked in vertex mode, which stores no bones; set mode = \"bone\" in gpuskin.toml"
                )
            }
            Self::Model { model } => {
                write!(f, "model `{model}`: the animation does not match the model's constants; bake the model again")
            }
            Self::Constants { model, reason } => write!(f, "model `{model}`: {reason}"),
        }
    }
}

impl std::error::Error for SocketError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Files { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl<M: BakedModel> Sockets<'static, M> {
    /// Opens the bones of a model that is baked into the program.
    ///
    /// # Errors
    /// If the animation is missing or comes from another bake, or the model was baked in vertex
    /// mode.
    pub fn new() -> Result<Self, SocketError> {
        Self::of(M::MODEL)
    }
}

impl<'m, M: BakedModel> Sockets<'m, M> {
    /// Opens the bones of a later bake of the model, loaded at run time, as [`Crowd::reloaded`](crate::Crowd::reloaded) draws
    /// it.
    ///
    /// # Errors
    /// If the loaded model lacks what the program's constants name, or has it in another order; or as [`Sockets::new`].
    pub fn reloaded(model: &'m Model) -> Result<Self, SocketError> {
        let built = &M::MODEL.meta;
        let differs = |reason| SocketError::Constants { model: built.name.to_string(), reason };
        model.meta.check_constants(built).map_err(differs)?;
        Self::of(model)
    }
}

impl<'m> Sockets<'m, Dynamic> {
    /// Opens the bones of a model that is known only at run time.
    ///
    /// # Errors
    /// If the animation is missing or comes from another bake, or the model was baked in vertex
    /// mode.
    pub fn with_model(model: &'m Model) -> Result<Self, SocketError> {
        Self::of(model)
    }
}

impl<'m, M> Sockets<'m, M> {
    fn of(model: &'m Model) -> Result<Self, SocketError> {
        let meta = &model.meta;
        let name = || meta.name.to_string();
        if meta.encoding.is_vertex() {
            return Err(SocketError::VertexMode { model: name() });
        }
        let file = files::load(&model.animation, &meta.content_hash)
            .map_err(|error| SocketError::Files { model: name(), error })?;
        let range = model.animation.levels.first().copied().unwrap_or_default();
        let level = range.offset as usize..range.offset.saturating_add(range.len) as usize;
        let records: Vec<ClipRecord> = meta.clips.iter().map(ClipInfo::record).collect();
        let texels = file.get(level.clone()).and_then(|bytes| Texels::new(meta.encoding, meta.texture, bytes));
        if !texels.is_some_and(|texels| texels.holds(&records, meta.bones.len())) {
            return Err(SocketError::Model { model: name() });
        }
        Ok(Self { meta, records, file, level, model: PhantomData })
    }

    /// Returns the metadata of the model.
    #[doc(hidden)]
    pub fn meta(&self) -> &'m Metadata {
        self.meta
    }

    /// Returns the bone with the given name in the glTF file; the first of several.
    #[doc(hidden)]
    pub fn find(&self, name: &str) -> Option<Bone<M>> {
        let index = self.meta.bones.iter().position(|bone| bone.name == name)?;
        u16::try_from(index).ok().map(Bone::new)
    }

    /// Returns the model-space transform of a bone for a playback at `time`; `None` if the model
    /// has no such bone. A clip that the model does not have becomes its first clip.
    #[doc(hidden)]
    pub fn of_playback(&self, bone: Bone<M>, playback: &Playback, time: impl Into<Time>) -> Option<Affine3> {
        let record = clip_or_first(&self.records, playback.clip_index());
        let blend = PoseBlend::from(frame_pair(playback, record, time.into()));
        self.bone_to_model(bone, |texels, bone| texels.bone(blend, bone))
    }

    /// Returns the model-space transform of a bone of an instance at `time`, including crossfades;
    /// `None` if the model has no such bone.
    ///
    /// `pose` is an instance record, or an [`InstancePose`] for an instance with layers or live
    /// bones.
    pub fn in_model<'a>(
        &self,
        bone: Bone<M>,
        pose: impl Into<InstancePose<'a>>,
        time: impl Into<Time>,
    ) -> Option<Affine3> {
        let (InstancePose { record, layers, live }, time) = (pose.into(), time.into());
        let blend = record.pose_blend(&self.records, time);
        let layers = layers.map(|layers| layers.sample(&self.records, live, time));
        self.bone_to_model(bone, |texels, bone| match &layers {
            Some(layers) => texels.bone_over(blend, layers, bone),
            None => texels.bone(blend, bone),
        })
    }

    /// Returns the world-space transform of a bone of an instance at `time`, including crossfades;
    /// `None` if the model has no such bone.
    ///
    /// `pose` is an instance record, or an [`InstancePose`] for an instance with layers or live
    /// bones.
    pub fn in_world<'a>(
        &self,
        bone: Bone<M>,
        pose: impl Into<InstancePose<'a>>,
        time: impl Into<Time>,
    ) -> Option<Affine3> {
        let pose = pose.into();
        self.in_model(bone, pose, time).map(|to_model| compose(&pose.record.matrix(), &to_model))
    }

    /// Converts the skinning matrix of a bone to the bone's model-space transform.
    fn bone_to_model(&self, bone: Bone<M>, skin: impl FnOnce(&Texels<'_>, u32) -> Affine3) -> Option<Affine3> {
        let info = self.meta.bones.get(usize::from(bone.index()))?;
        let texels = Texels::trusted(self.meta.encoding, self.meta.texture, &self.file[self.level.clone()]);
        let bind = Affine3 { rows: info.bind.map(Vec4::from) };
        Some(compose(&skin(&texels, bone.index().into()), &bind))
    }
}

/// Pose state of one instance: its record, and the layers and live bones over its clip.
///
/// An [`InstanceRecord`] alone converts to it. [`Crowd::layers`](crate::Crowd::layers) returns the
/// layers of an instance; a server keeps a [`LayerSet`] for each instance that has layers.
///
/// Encodings other than [`Encoding::LocalPacked`](crate::Encoding::LocalPacked) ignore layers and
/// live bones, as on the GPU. A layer whose mask the model does not have is ignored, and so are
/// live bones that are fewer than the model's.
///
/// ```
/// # use gpuskin_rt::*;
/// # fn example<Soldier: BakedModel>(sockets: &Sockets<'_, Soldier>, hand: Bone<Soldier>, soldier: &InstanceRecord,
/// #   attack: Clip<Soldier>, upper_body: Mask<Soldier>, time: Time) {
/// let mut layers = LayerSet::default();
/// let fade = Transition::crossfade(0.15);
/// layers.play(0, &fade.playback(sockets.meta(), attack, time), Some(upper_body.index()), &fade, 1.0, time);
/// let sword = sockets.in_world(hand, InstancePose::new(soldier).with_layers(&layers), time + 0.3);
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct InstancePose<'a> {
    pub(crate) record: &'a InstanceRecord,
    pub(crate) layers: Option<&'a LayerSet>,
    pub(crate) live: Option<LiveBones<'a>>,
}

impl<'a> InstancePose<'a> {
    /// Makes the pose state of an instance without layers.
    pub const fn new(record: &'a InstanceRecord) -> Self {
        Self { record, layers: None, live: None }
    }

    /// Adds layers.
    pub const fn with_layers(mut self, layers: &'a LayerSet) -> Self {
        self.layers = Some(layers);
        self
    }

    /// Adds live bones, weighted as [`LayerSet::set_live_bones`] specified. Requires layers.
    pub const fn with_live_bones(mut self, bones: LiveBones<'a>) -> Self {
        self.live = Some(bones);
        self
    }
}

impl<'a> From<&'a InstanceRecord> for InstancePose<'a> {
    fn from(record: &'a InstanceRecord) -> Self {
        Self::new(record)
    }
}

impl InstanceRecord {
    /// Returns the model-to-world transform.
    pub fn matrix(&self) -> Affine3 {
        let [x, y, z] = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| self.direction(axis) * self.scale);
        let row = |i: usize| Vec4::new(x[i], y[i], z[i], self.translation[i]);
        Affine3 { rows: [row(0), row(1), row(2)] }
    }
}

impl Affine3 {
    /// Returns the translation as a glam vector.
    #[doc(hidden)]
    pub fn origin(&self) -> Vec3 {
        Vec3::from(self.rows.map(|row| row.w))
    }
}
