//! The bake of a model that is drawn: that of the program, or a later one that was loaded.

use bevy::prelude::*;
use gpuskin_rt::{BakedModel, Metadata, Model};

/// Bake of a model that is drawn now.
#[derive(Resource, Debug)]
pub(crate) struct Bake<M: 'static> {
    model: &'static Model,
    program: core::marker::PhantomData<fn() -> M>,
}

// Not derived: a derive would require the same trait of `M`.
impl<M: BakedModel> Default for Bake<M> {
    fn default() -> Self {
        Self { model: M::MODEL, program: core::marker::PhantomData }
    }
}

impl<M: BakedModel> Bake<M> {
    pub(crate) fn model(&self) -> &'static Model {
        self.model
    }

    pub(crate) fn meta(&self) -> &'static Metadata {
        &self.model.meta
    }

    /// Replaces the bake by a later one, which the program's constants fit.
    #[cfg(feature = "assets")]
    pub(crate) fn replace(&mut self, model: &'static Model) {
        self.model = model;
    }
}
