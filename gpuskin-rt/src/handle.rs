//! Names that the generated code gives to models and what they have, checked by the compiler.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

use crate::{ClipInfo, Model};

/// A model that was baked into the game's code. The generated module implements it for one type a model:
/// `models::Soldier`.
pub trait BakedModel: 'static {
    /// The model's constants.
    const MODEL: &'static Model;
}

/// Stands for a model that is known at run time only.
#[derive(Clone, Copy, Debug)]
pub enum Dynamic {}

/// A number that means something to one model only. Traits are not derived: these hold whatever `M` is.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident($index:ty): $meaning:literal;)*) => {$(
        $(#[$doc])*
        pub struct $name<M> {
            index: $index,
            model: PhantomData<fn() -> M>,
        }

        impl<M> $name<M> {
            /// The one of that index.
            pub const fn new(index: $index) -> Self {
                Self { index, model: PhantomData }
            }

            #[doc = concat!("Its index: ", $meaning, ".")]
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
    /// A clip of model `M`: `clips::SOLDIER_RUN` is a `Clip<models::Soldier>`, and no other model's crowd plays it.
    Clip(u16): "in the order of the manifest, then of the file";
    /// A bone of model `M`: `bones::SOLDIER_HAND_R`.
    Bone(u16): "its row in the animation texture, unless rows are vertices";
    /// What happens in clips of model `M`: `events::SOLDIER_FOOTSTEP`.
    Event(u16): "into [`Metadata::events`](crate::Metadata::events)";
    /// Bones of model `M` that a layer acts on: `masks::SOLDIER_UPPER_BODY`.
    Mask(u8): "into [`Metadata::masks`](crate::Metadata::masks)";
    /// Meshes of model `M` that an instance may leave off: `parts::SOLDIER_SWORD`.
    Part(u8): "into [`Metadata::parts`](crate::Metadata::parts)";
}

impl<M: BakedModel> Clip<M> {
    /// What the bake knows of it: duration, frame rate, bounds, events, errors.
    pub fn info(self) -> &'static ClipInfo {
        &M::MODEL.meta.clips[self.index as usize]
    }
}
