//! Fields: many copies of a model without per-instance data.

use core::marker::PhantomData;
use std::sync::Arc;

use super::field_core::{FieldCore, FieldState};
use super::{Camera, CrowdRenderer, Error, model_checks};
use crate::field::{FieldDescriptor, FieldUniform};
use crate::shader::Variant;
use crate::{Aabb, BakedModel, Dynamic, Model};

/// Many instances of one model, derived from a formula: swaying grass, for example. A handle into
/// the [`CrowdRenderer`], which draws fields together with its crowds.
///
/// Clones are handles to the same field, which is removed when the last handle is dropped.
/// Instances have no ids, take no commands, and cost neither memory nor CPU time. A view draws
/// either all of a field or, if the field is outside the view, nothing. Several fields that
/// continue each other are therefore culled more finely than a single large one.
///
/// The vertex shader reads bones or vertices from an animation texture. Bake the model in vertex
/// mode, for `devices = ["webgl2"]`, or in any encoding but `local-packed`.
///
/// ```no_run
/// # use gpuskin_rt::*;
/// # fn example<Grass: BakedModel>(renderer: &mut CrowdRenderer, sway: Clip<Grass>) -> Result<(), Error> {
/// let descriptor = FieldDescriptor { size: [300, 300], spacing: [0.4, 0.4], clips: vec![sway], ..Default::default() };
/// let meadow = Field::<Grass>::new(renderer, descriptor)?;
/// # Ok(())
/// # }
/// ```
pub struct Field<M> {
    pub(super) core: Arc<FieldCore>,
    model: PhantomData<fn() -> M>,
}

// Not derived: deriving would require `M: Clone` and `M: Debug`.
impl<M> Clone for Field<M> {
    fn clone(&self) -> Self {
        Self { core: self.core.clone(), model: PhantomData }
    }
}
impl<M> core::fmt::Debug for Field<M> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Field").field("core", &self.core).finish()
    }
}

impl<M: BakedModel> Field<M> {
    /// Creates a field of a model that was baked into the program. It shows after the next
    /// [`CrowdRenderer::prepare`].
    ///
    /// # Errors
    /// If a file of the model is missing or from another bake, if the device cannot hold the model,
    /// if the model has no animation texture, or if the field has more than 2^32 - 1 instances.
    pub fn new(renderer: &mut CrowdRenderer, descriptor: FieldDescriptor<M>) -> Result<Self, Error> {
        Ok(Self { core: renderer.field(M::MODEL, &descriptor)?, model: PhantomData })
    }

    /// Creates a field from a later bake of the model, loaded at run time, as [`Crowd::reloaded`](super::Crowd::reloaded) does
    /// crowds.
    ///
    /// # Errors
    /// If the loaded model lacks what the program's constants name, or has it in another order. Otherwise see [`Field::new`].
    pub fn reloaded(
        renderer: &mut CrowdRenderer,
        model: &Model,
        descriptor: FieldDescriptor<M>,
    ) -> Result<Self, Error> {
        model_checks::constants::<M>(model)?;
        Ok(Self { core: renderer.field(model, &descriptor)?, model: PhantomData })
    }
}

impl Field<Dynamic> {
    /// Creates a field of a model that was loaded at run time.
    ///
    /// # Errors
    /// See [`Field::new`].
    pub fn with_model(
        renderer: &mut CrowdRenderer,
        model: &Model,
        descriptor: FieldDescriptor<Dynamic>,
    ) -> Result<Self, Error> {
        Ok(Self { core: renderer.field(model, &descriptor)?, model: PhantomData })
    }
}

impl<M> Field<M> {
    /// Replaces the field's description: the wind turns, or the field moves. The cost is one small
    /// upload at the next [`CrowdRenderer::prepare`]. The distance that waves have travelled is
    /// derived from the time alone, so a change of wind speed or wave size makes the waves jump.
    ///
    /// # Errors
    /// If the field has more than 2^32 - 1 instances.
    pub fn set(&self, descriptor: &FieldDescriptor<M>) -> Result<(), Error> {
        let state = FieldState::new(descriptor, &self.core.meta)?;
        *self.core.state() = state;
        Ok(())
    }

    /// Returns the bounding box of all instances in world space, metres, with the reach of their clips; `None` if the model's bounds
    /// are not finite.
    pub fn bounds(&self) -> Option<Aabb> {
        self.core.state().bounds
    }

    /// Whether a camera may see any instance. [`Self::draw_with`] does not ask.
    pub fn is_in_view_of(&self, camera: &Camera) -> bool {
        self.core.is_in_view(camera)
    }

    /// Returns the uniform that the shaders read: [`FieldUniform::instance`] gives the transform
    /// and playback of each instance.
    #[doc(hidden)]
    pub fn uniform(&self) -> FieldUniform {
        self.core.state().uniform
    }

    /// Number of instances.
    #[doc(hidden)]
    pub fn len(&self) -> u32 {
        self.core.state().count
    }

    /// Whether the field has no instances.
    #[doc(hidden)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Shader variant of the model, for a game's own pipelines made from
    /// [`pipeline::field_source`](crate::pipeline::field_source).
    pub fn variant(&self) -> Variant {
        self.core.model.geometry.variant
    }
}
