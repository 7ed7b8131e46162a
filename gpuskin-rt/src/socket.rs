//! Where bones are, on the CPU: for what is held in a hand, hit boxes, servers.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;
use std::borrow::Cow;

use glam::{Vec3, Vec4};

use crate::files::{self, FileError};
use crate::local::compose;
use crate::playback::frame_pair;
use crate::{
    BakedModel, Bone, ClipInfo, ClipRecord, Dynamic, InstanceRecord, LayerSet, LiveBones, Metadata, Model, Playback,
    Shown, SkinMatrix, Texels, Time,
};

/// The bones of a model, to be asked where they are: from the same bytes as the GPU's, which it agrees with within 1e-5 of
/// the model's diagonal.
///
/// A transform is that of the bone's own space, the columns of its 3x3 the bone's axes, in metres: the bone as glTF has it,
/// and not the skin matrix, which starts from the mesh as modelled. Nothing is allocated to find one, and where the model
/// has a hierarchy only the bone and those above it are evaluated. Fades are in it. Layers and live bones stand in no record:
/// [`Sockets::in_world_over`] takes them.
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
    /// Those of the clips, and the first of them in place of all that there are not.
    records: Vec<ClipRecord>,
    file: Cow<'m, [u8]>,
    level: Range<usize>,
    model: PhantomData<fn() -> M>,
}

/// Why a model has no sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SocketError {
    /// The bytes of the model are not there.
    Files {
        /// The model.
        model: String,
        /// Why.
        error: FileError,
    },
    /// The model was baked in vertex mode: nothing is left of its bones.
    VertexMode {
        /// The model.
        model: String,
    },
    /// A model's constants contradict its bytes.
    Model {
        /// The model.
        model: String,
    },
}

impl fmt::Display for SocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files { model, error } => write!(f, "{model}: {error}"),
            Self::VertexMode { model } => {
                write!(f, "{model}: it was baked in vertex mode and has no bones; use mode = \"bone\" in gpuskin.toml")
            }
            Self::Model { model } => {
                write!(f, "{model}: its animation is not what its constants say; bake the model again")
            }
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

/// Clips that a record can name.
const CLIPS: usize = 1024;

impl<M: BakedModel> Sockets<'static, M> {
    /// Those of a model that was baked into the program.
    ///
    /// # Errors
    /// When its animation is missing or of another bake, or it was baked in vertex mode.
    pub fn new() -> Result<Self, SocketError> {
        Self::of(M::MODEL)
    }
}

impl<'m> Sockets<'m, Dynamic> {
    /// Those of a model that is known at run time only.
    ///
    /// # Errors
    /// When its animation is missing or of another bake, or it was baked in vertex mode.
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
        let mut records: Vec<ClipRecord> = meta.clips.iter().map(ClipInfo::record).collect();
        let texels = file.get(level.clone()).and_then(|bytes| Texels::new(meta.encoding, meta.texture, bytes));
        if !texels.is_some_and(|texels| texels.holds(&records, meta.bones.len())) {
            return Err(SocketError::Model { model: name() });
        }
        records.resize(CLIPS, records[0]);
        Ok(Self { meta, records, file, level, model: PhantomData })
    }

    /// What the bake knows of the model.
    pub fn meta(&self) -> &'m Metadata {
        self.meta
    }

    /// The bone of a name in the glTF file; the first of several.
    pub fn find(&self, name: &str) -> Option<Bone<M>> {
        let index = self.meta.bones.iter().position(|bone| bone.name == name)?;
        u16::try_from(index).ok().map(Bone::new)
    }

    /// Where a bone is in the model, of what a playback shows at a moment. `None` where the model has no such bone. A
    /// clip that the model does not have is its first.
    pub fn of_playback(&self, bone: Bone<M>, playback: &Playback, now: impl Into<Time>) -> Option<SkinMatrix> {
        let record = self.records.get(playback.clip_index()).unwrap_or(&self.records[0]);
        self.place(bone, frame_pair(playback, record, now.into()).into())
    }

    /// Where a bone is in the model of an instance at a moment, in the middle of a fade too. `None` where the model has no
    /// such bone.
    pub fn in_model(&self, bone: Bone<M>, instance: &InstanceRecord, now: impl Into<Time>) -> Option<SkinMatrix> {
        self.place(bone, instance.shown(&self.records, now.into()))
    }

    /// Where a bone of an instance is in the world at a moment. `None` where the model has no such bone.
    pub fn in_world(&self, bone: Bone<M>, instance: &InstanceRecord, now: impl Into<Time>) -> Option<SkinMatrix> {
        self.in_model(bone, instance, now).map(|place| compose(&instance.matrix(), &place))
    }

    /// [`Sockets::in_model`] with what lies over the instance's clip: layers, and the live bones that [`LayerSet::set_live`]
    /// told of, in its weight. A server keeps a set for each instance that has some, as [`Crowd::layers`](crate::Crowd::layers)
    /// does; [`Transition::playback`](crate::Transition::playback) makes what a layer plays.
    ///
    /// As on the GPU, nothing lies over a clip in encodings other than [`Encoding::LocalPacked`](crate::Encoding::LocalPacked). A layer whose mask
    /// the model does not have shows nothing, and live bones that are fewer than the model's are left out.
    pub fn in_model_over(
        &self,
        bone: Bone<M>,
        instance: &InstanceRecord,
        (layers, live): (&LayerSet, Option<LiveBones<'_>>),
        now: impl Into<Time>,
    ) -> Option<SkinMatrix> {
        let now = now.into();
        let over = layers.shown(&self.records, live, now);
        self.place_with(bone, |texels, bone| texels.bone_over(instance.shown(&self.records, now), &over, bone))
    }

    /// [`Sockets::in_world`] with what lies over the instance's clip: as [`Sockets::in_model_over`].
    ///
    /// ```
    /// # use gpuskin_rt::*;
    /// # fn example<Soldier: BakedModel>(sockets: &Sockets<'_, Soldier>, hand: Bone<Soldier>, soldier: &InstanceRecord,
    /// #   attack: Clip<Soldier>, upper_body: Mask<Soldier>, now: Time) {
    /// let mut layers = LayerSet::default();
    /// let over = Transition::crossfade(0.15);
    /// layers.play(0, &over.playback(sockets.meta(), attack, now), Some(upper_body.index()), &over, 1.0, now);
    /// let sword = sockets.in_world_over(hand, soldier, (&layers, None), now + 0.3);
    /// # }
    /// ```
    pub fn in_world_over(
        &self,
        bone: Bone<M>,
        instance: &InstanceRecord,
        over: (&LayerSet, Option<LiveBones<'_>>),
        now: impl Into<Time>,
    ) -> Option<SkinMatrix> {
        self.in_model_over(bone, instance, over, now).map(|place| compose(&instance.matrix(), &place))
    }

    fn place(&self, bone: Bone<M>, shown: Shown) -> Option<SkinMatrix> {
        self.place_with(bone, |texels, bone| texels.bone(shown, bone))
    }

    /// Where a bone is that has this skin matrix.
    fn place_with(&self, bone: Bone<M>, skin: impl FnOnce(&Texels<'_>, u32) -> SkinMatrix) -> Option<SkinMatrix> {
        let info = self.meta.bones.get(usize::from(bone.index()))?;
        let texels = Texels::trusted(self.meta.encoding, self.meta.texture, &self.file[self.level.clone()]);
        let bind = SkinMatrix { rows: info.bind.map(Vec4::from) };
        Some(compose(&skin(&texels, bone.index().into()), &bind))
    }
}

impl InstanceRecord {
    /// From the model's space to the world, as a matrix.
    pub fn matrix(&self) -> SkinMatrix {
        let [x, y, z] = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| self.direction(axis) * self.scale);
        let row = |i: usize| Vec4::new(x[i], y[i], z[i], self.translation[i]);
        SkinMatrix { rows: [row(0), row(1), row(2)] }
    }
}

impl SkinMatrix {
    /// Where it takes the origin, metres: the place of a bone.
    pub fn translation(&self) -> Vec3 {
        Vec3::from(self.rows.map(|row| row.w))
    }
}
