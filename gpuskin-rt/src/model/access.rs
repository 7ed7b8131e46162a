//! Accessors of a baked model's metadata, for games and tools.

use std::borrow::Cow;

use super::{BoneInfo, ClipInfo, MAX_VARIANTS, Metadata, Model, MorphInfo};
use crate::aabb::Aabb;
use crate::field::hash;
use crate::files::{self, FileError};
use crate::{Bone, Clip, Encoding, Event, Mask, Material, ModelVariant, Morph, Part};

impl Model {
    /// Returns the names of all files that are not part of the program, as
    /// [`provide_file`](crate::provide_file) takes them, for all devices.
    #[doc(hidden)]
    pub fn side_files(&self) -> impl Iterator<Item = &str> {
        let models = std::iter::once(self).chain(self.others.iter());
        let payloads =
            models.flat_map(|model| [&model.animation, &model.mesh].into_iter().chain(model.textures.iter()));
        payloads.filter_map(super::Payload::side_file)
    }

    /// Returns the bytes of the animation: texels, or the words of
    /// [`LocalTracks`](crate::tools::LocalTracks).
    ///
    /// # Errors
    /// If the file is missing, or comes from another bake.
    pub fn animation_bytes(&self) -> Result<Cow<'_, [u8]>, FileError> {
        let file = files::load(&self.animation, &self.meta.content_hash)?;
        let range = self.animation.levels.first().copied().unwrap_or_default();
        let start = (range.offset as usize).min(file.len());
        let end = (range.offset.saturating_add(range.len) as usize).clamp(start, file.len());
        Ok(match file {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[start..end]),
            Cow::Owned(mut bytes) => {
                bytes.truncate(end);
                bytes.drain(..start);
                Cow::Owned(bytes)
            }
        })
    }
}

/// Returns the position of an item as the index type of a handle.
fn position<T, I: TryFrom<usize>>(items: &[T], is_it: impl FnMut(&T) -> bool) -> Option<I> {
    I::try_from(items.iter().position(is_it)?).ok()
}

/// Checks that `later` starts with the names of `built`. What follows them has no constant.
fn check_names<T>(kind: &str, later: &[T], built: &[T], name: fn(&T) -> &str) -> Result<(), String> {
    let differs = |&(i, item): &(usize, &T)| later.get(i).map(name) != Some(name(item));
    let Some((_, item)) = built.iter().enumerate().find(differs) else { return Ok(()) };
    let name_of_program = name(item);
    let difference = match later.iter().any(|item| name(item) == name_of_program) {
        true => format!("the later bake has the {kind} `{name_of_program}` at another index than the program"),
        false => format!("the later bake lacks the {kind} `{name_of_program}` of the program"),
    };
    Err(format!("{difference}; bake it as before, or build the program again"))
}

impl Metadata {
    /// Returns the name of the model in the manifest.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the encoding of the animation.
    #[doc(hidden)]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Checks that constants of an earlier bake are valid for this one: `built` is the metadata that the program contains.
    ///
    /// # Errors
    /// Names the first item of the program that this bake lacks, or has at another index, and the remedy.
    #[doc(hidden)]
    pub fn check_constants(&self, built: &Self) -> Result<(), String> {
        check_names("clip", &self.clips, &built.clips, |clip| &clip.name)?;
        check_names("bone", &self.bones, &built.bones, |bone| &bone.name)?;
        check_names("event", &self.events, &built.events, |event| event)?;
        check_names("mask", &self.masks, &built.masks, |mask| &mask.name)?;
        check_names("morph target", &self.morphs, &built.morphs, |morph| &morph.name)?;
        check_names("part", &self.parts, &built.parts, |part| part)?;
        check_names("variant", &self.variants, &built.variants, |variant| variant)
    }

    /// Returns the clips: those of the manifest in its order, then the others in the order of the file.
    pub fn clips(&self) -> &[ClipInfo] {
        &self.clips
    }

    /// Returns the bones, in the order of [`Bone::index`]. Vertex-mode models have none.
    pub fn bones(&self) -> &[BoneInfo] {
        &self.bones
    }

    /// Returns the number of bones that have a place in the model. The bones behind them have weights of morph targets.
    #[doc(hidden)]
    pub fn placed_bones(&self) -> usize {
        self.morphs.iter().map(|morph| morph.bone as usize).min().unwrap_or(self.bones.len()).min(self.bones.len())
    }

    /// Returns the morph targets of a model in bone mode, in the order of [`Morph::index`](crate::Morph::index).
    pub fn morphs(&self) -> &[MorphInfo] {
        &self.morphs
    }

    /// Writes weights of morph targets into live bones, [`LiveBones::Model`](crate::LiveBones::Model). Targets that are not
    /// listed get the weight 0. `bones` has one transform per bone of the model; those without weights are not changed.
    ///
    /// [`Crowd::set_morphs`](crate::Crowd::set_morphs) does this for instances without other live bones.
    ///
    /// # Errors
    /// If `bones` has another length, or a target does not exist.
    pub fn write_morphs<M>(
        &self,
        weights: &[(Morph<M>, f32)],
        bones: &mut [[[f32; 4]; 3]],
    ) -> Result<(), MorphWeightError> {
        if bones.len() != self.bones.len() {
            return Err(MorphWeightError::Bones { given: bones.len(), model: self.bones.len() });
        }
        for morph in self.morphs.iter() {
            if let Some(bone) = bones.get_mut(morph.bone as usize) {
                *bone = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
            }
        }
        for (morph, weight) in weights {
            let index = morph.index();
            let missing = MorphWeightError::Target { index, model: self.morphs.len() };
            let MorphInfo { bone, axis, scale, .. } = self.morphs.get(usize::from(index)).ok_or(missing)?;
            let row = bones.get_mut(*bone as usize).and_then(|bone| bone.get_mut(*axis as usize));
            row.ok_or(MorphWeightError::Target { index, model: self.morphs.len() })?[3] = weight * scale;
        }
        Ok(())
    }

    /// Returns the names of the variants, in the order of [`ModelVariant::index`](crate::ModelVariant::index): `base`, then
    /// those of the manifest; none at all if the model has only its own look.
    pub fn variants(&self) -> impl ExactSizeIterator<Item = &str> {
        self.variants.iter().map(|name| &**name)
    }

    /// Returns a random variant, the same for the same number on every device. `number`: any number of the
    /// character that the game keeps, such as its entity.
    pub fn random_variant<M>(&self, number: u32) -> ModelVariant<M> {
        let count = self.variants.len().min(MAX_VARIANTS) as u64;
        // The upper half of the product is evenly distributed below `count`.
        ModelVariant::new(((u64::from(hash(number)) * count) >> 32) as u8)
    }

    /// Returns the materials, in the order that the mesh parts refer to.
    pub fn materials(&self) -> &[Material] {
        &self.materials
    }

    /// Returns the bounding box over all clips. Model space, metres.
    #[doc(hidden)]
    pub fn bounds(&self) -> Aabb {
        self.bounds
    }

    /// Returns the name of an event; `None` if the model has no such event.
    #[doc(hidden)]
    pub fn event_name(&self, event: u16) -> Option<&str> {
        self.events.get(usize::from(event)).map(|name| &**name)
    }

    /// Returns the number of levels of detail of the mesh, at least 1.
    #[doc(hidden)]
    pub fn lod_count(&self) -> usize {
        1 + self.mesh.levels.len()
    }

    /// Returns the number of triangles of a level of detail with all parts visible; 0 for an LOD that does not exist.
    #[doc(hidden)]
    pub fn triangles(&self, lod: usize) -> u64 {
        self.mesh.triangles(lod)
    }

    /// Finds a clip, bone, event, mask, morph target, part or variant by its name.
    ///
    /// Names are those of the manifest. A bone has the name of its node in the glTF file; of several
    /// bones with one name, the first is found. Games with models that are baked into the program use
    /// the generated constants instead.
    ///
    /// ```
    /// # use gpuskin_rt::{Bone, Clip, Metadata};
    /// # fn example(meta: &Metadata) {
    /// let run: Option<Clip<_>> = meta.find::<Clip<gpuskin_rt::Dynamic>>("run");
    /// let hand = meta.find::<Bone<gpuskin_rt::Dynamic>>("hand_r");
    /// # }
    /// ```
    pub fn find<H: Handle>(&self, name: &str) -> Option<H> {
        H::find(self, name)
    }
}

/// Error of [`Metadata::write_morphs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MorphWeightError {
    /// Wrong number of bones.
    Bones {
        /// Number of transforms given.
        given: usize,
        /// Number of bones of the model.
        model: usize,
    },
    /// The model has no such morph target.
    Target {
        /// Index of the target.
        index: u16,
        /// Number of morph targets of the model.
        model: usize,
    },
}

impl core::fmt::Display for MorphWeightError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Bones { given, model } => write!(f, "{given} bones given; the model has {model}"),
            Self::Target { index, model } => {
                write!(f, "morph target {index} does not exist; the model has {model}")
            }
        }
    }
}

impl std::error::Error for MorphWeightError {}

/// A handle that can be found by name: [`Clip`], [`Bone`], [`Event`], [`Mask`], [`Morph`],
/// [`Part`] or [`ModelVariant`].
#[doc(hidden)]
pub trait Handle: Sized {
    /// Finds a handle by its name.
    fn find(meta: &Metadata, name: &str) -> Option<Self>;
}

impl<M> Handle for Clip<M> {
    fn find(meta: &Metadata, name: &str) -> Option<Self> {
        position(&meta.clips, |clip| clip.name == name).map(Clip::new)
    }
}

impl<M> Handle for Bone<M> {
    fn find(meta: &Metadata, name: &str) -> Option<Self> {
        position(&meta.bones, |bone| bone.name == name).map(Bone::new)
    }
}

impl<M> Handle for Event<M> {
    fn find(meta: &Metadata, name: &str) -> Option<Self> {
        position(&meta.events, |event| event == name).map(Event::new)
    }
}

impl<M> Handle for Mask<M> {
    fn find(meta: &Metadata, name: &str) -> Option<Self> {
        position(&meta.masks, |mask| mask.name == name).map(Mask::new)
    }
}

impl<M> Handle for Morph<M> {
    fn find(meta: &Metadata, name: &str) -> Option<Self> {
        position(&meta.morphs, |morph| morph.name == name).map(Morph::new)
    }
}

impl<M> Handle for Part<M> {
    fn find(meta: &Metadata, name: &str) -> Option<Self> {
        position(&meta.parts, |part| part == name).map(Part::new)
    }
}

impl<M> Handle for ModelVariant<M> {
    fn find(meta: &Metadata, name: &str) -> Option<Self> {
        position(&meta.variants, |variant| variant == name).map(ModelVariant::new)
    }
}
