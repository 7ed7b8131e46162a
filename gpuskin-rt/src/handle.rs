//! Typed handles, which generated code names: models, clips, bones, events, masks, morph targets, parts and variants. The
//! compiler checks that a handle belongs to the right model.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

use crate::{ClipInfo, Model};

/// A model that is baked into the game's code. The generated module implements it for one type per
/// model: `models::Soldier`.
pub trait BakedModel: 'static {
    /// Constants of the model.
    const MODEL: &'static Model;
}

/// Placeholder for a model that is known only at run time.
#[derive(Clone, Copy, Debug)]
pub enum Dynamic {}

/// An index that is valid for one model only. Traits are not derived, because a derive would
/// require the same trait of `M`.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident($index:ty): $(#[$attribute:meta])* $meaning:literal;)*) => {$(
        $(#[$doc])*
        pub struct $name<M> {
            index: $index,
            model: PhantomData<fn() -> M>,
        }

        impl<M> $name<M> {
            /// Makes a handle from an index.
            #[doc(hidden)]
            pub const fn new(index: $index) -> Self {
                Self { index, model: PhantomData }
            }

            #[doc = concat!("Returns the index: ", $meaning, ".")]
            $(#[$attribute])*
            pub const fn index(self) -> $index {
                self.index
            }
        }

        impl<M> Clone for $name<M> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<M> Copy for $name<M> {}
        impl<M> PartialEq for $name<M> {
            fn eq(&self, other: &Self) -> bool {
                self.index == other.index
            }
        }
        impl<M> Eq for $name<M> {}
        impl<M> Hash for $name<M> {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.index.hash(state);
            }
        }
        impl<M> fmt::Debug for $name<M> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.index)
            }
        }
    )*};
}

handles! {
    /// A clip of model `M`: `clips::SOLDIER_RUN` is a `Clip<models::Soldier>`, which only crowds of
    /// that model accept.
    Clip(u16): "in the order of the manifest, then of the file";
    /// A bone of model `M`: `bones::SOLDIER_HAND_R`.
    Bone(u16): "its row in the animation texture, unless rows are vertices";
    /// An event name of model `M`: `events::SOLDIER_FOOTSTEP`.
    Event(u16): "into [`Metadata::events`](crate::Metadata::events)";
    /// A bone mask of model `M`, for layers: `masks::SOLDIER_UPPER_BODY`.
    Mask(u8): #[doc(hidden)] "into [`Metadata::masks`](crate::Metadata::masks)";
    /// A morph target of model `M`, in bone mode: `morphs::HEAD_SMILE`.
    Morph(u16): #[doc(hidden)] "into [`Metadata::morphs`](crate::Metadata::morphs)";
    /// A part of model `M`, which an instance can hide: `parts::SOLDIER_SWORD`.
    Part(u8): #[doc(hidden)] "into [`Metadata::parts`](crate::Metadata::parts)";
    /// A variant of model `M`, which changes base colour textures: `variants::SOLDIER_VETERAN`.
    ModelVariant(u8): "in the order of the manifest from 1 up; 0 is the model's own look";
}

impl<M> ModelVariant<M> {
    /// The model's own look.
    pub const BASE: Self = Self::new(0);
}

impl<M: BakedModel> ModelVariant<M> {
    /// Returns a random variant of the model, the same for the same number on every device.
    /// [`Metadata::random_variant`](crate::Metadata::random_variant) does this for models that are loaded at run time.
    ///
    /// `number`: any number of the character that the game keeps, such as its entity.
    ///
    /// ```
    /// # use gpuskin_rt::{BakedModel, Instance, ModelVariant};
    /// fn soldier<Soldier: BakedModel>(entity: u32) -> Instance<Soldier> {
    ///     Instance::at([0.0; 3]).variant(ModelVariant::random(entity))
    /// }
    /// ```
    pub fn random(number: u32) -> Self {
        M::MODEL.meta.random_variant(number)
    }
}

impl<M: BakedModel> Clip<M> {
    /// Returns the metadata of the clip: duration, frame rate, bounds, events, errors.
    pub fn info(self) -> &'static ClipInfo {
        &M::MODEL.meta.clips[self.index as usize]
    }
}
