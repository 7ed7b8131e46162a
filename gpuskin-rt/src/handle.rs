//! Names that the generated code gives to models and clips, checked by the compiler.

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

/// A clip of model `M`: `clips::SOLDIER_RUN` is a `Clip<models::Soldier>`, and no other model's crowd plays it.
pub struct Clip<M> {
    index: u16,
    model: PhantomData<fn() -> M>,
}

impl<M> Clip<M> {
    /// The clip of that index: in the order of the manifest, then of the file.
    pub const fn new(index: u16) -> Self {
        Self { index, model: PhantomData }
    }

    /// Its index.
    pub const fn index(self) -> u16 {
        self.index
    }
}

impl<M: BakedModel> Clip<M> {
    /// What the bake knows of it: duration, frame rate, bounds, errors.
    pub fn info(self) -> &'static ClipInfo {
        &M::MODEL.meta.clips[self.index as usize]
    }
}

// Not derived: these hold whatever M is.
impl<M> Clone for Clip<M> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<M> Copy for Clip<M> {}
impl<M> PartialEq for Clip<M> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}
impl<M> Eq for Clip<M> {}
impl<M> Hash for Clip<M> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.index.hash(state);
    }
}
impl<M> fmt::Debug for Clip<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clip({})", self.index)
    }
}

/// A bone of model `M`: `bones::SOLDIER_HAND_R`.
pub struct Bone<M> {
    index: u16,
    model: PhantomData<fn() -> M>,
}

impl<M> Bone<M> {
    /// The bone of that index.
    pub const fn new(index: u16) -> Self {
        Self { index, model: PhantomData }
    }

    /// Its index: its row in the animation texture, unless rows are vertices.
    pub const fn index(self) -> u16 {
        self.index
    }
}

impl<M> Clone for Bone<M> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<M> Copy for Bone<M> {}
impl<M> PartialEq for Bone<M> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}
impl<M> Eq for Bone<M> {}
impl<M> fmt::Debug for Bone<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bone({})", self.index)
    }
}
