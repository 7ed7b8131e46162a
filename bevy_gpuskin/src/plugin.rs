//! Plugins.

use core::marker::PhantomData;

use bevy::camera::visibility::VisibilitySystems;
use bevy::prelude::*;
use bevy::transform::TransformSystems;
use gpuskin_rt::{BakedModel, CrowdDescriptor};

use crate::collect::collect;
use crate::outbox::Outbox;
use crate::render;

/// Options that all models share. [`CharacterPlugin`] adds it with its defaults, if it is not there.
#[derive(Clone, Debug)]
pub struct GpuskinPlugin {
    /// Allowed error of the levels of detail, in pixels of the camera or of the shadow map. 0 draws everything in the
    /// finest level.
    pub lod_error: f32,
    /// Whether the motion vectors of [`MotionVectorPrepass`](bevy::core_pipeline::prepass::MotionVectorPrepass), which
    /// temporal anti-aliasing needs, contain the movements of characters. Poses then take twice the memory and twice the time.
    /// Without it, they contain the movement of the camera alone.
    pub motion_vectors: bool,
}

impl Default for GpuskinPlugin {
    fn default() -> Self {
        Self { lod_error: 1.0, motion_vectors: false }
    }
}

impl Plugin for GpuskinPlugin {
    fn build(&self, app: &mut App) {
        app.configure_sets(
            PostUpdate,
            CharacterSystems::Collect.after(TransformSystems::Propagate).after(VisibilitySystems::VisibilityPropagate),
        );
        render::build(app, self);
    }
}

/// Draws the characters of one model.
///
/// ```no_run
/// use bevy::prelude::*;
/// use bevy_gpuskin::CharacterPlugin;
/// use bevy_gpuskin_sample_models::models;
///
/// App::new()
///     .add_plugins((DefaultPlugins, CharacterPlugin::<models::Soldier>::default(), CharacterPlugin::<models::Hound>::default()))
///     .run();
/// ```
#[derive(Clone, Debug)]
pub struct CharacterPlugin<M> {
    /// Options of the crowd that draws the characters.
    pub crowd: CrowdDescriptor,
    model: PhantomData<fn() -> M>,
}

// Not derived: a derive would require the same trait of `M`.
impl<M> Default for CharacterPlugin<M> {
    fn default() -> Self {
        Self::with_crowd(CrowdDescriptor::default())
    }
}

impl<M> CharacterPlugin<M> {
    /// Makes a plugin with options of the crowd: capacity, shared poses.
    pub const fn with_crowd(crowd: CrowdDescriptor) -> Self {
        Self { crowd, model: PhantomData }
    }
}

impl<M: BakedModel> Plugin for CharacterPlugin<M> {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<GpuskinPlugin>() {
            app.add_plugins(GpuskinPlugin::default());
        }
        if !render::has_renderer(app) {
            return;
        }
        app.init_resource::<Outbox<M>>().add_systems(PostUpdate, collect::<M>.in_set(CharacterSystems::Collect));
        render::build_model::<M>(app, &self.crowd);
    }
}

/// Systems of this crate in [`PostUpdate`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CharacterSystems {
    /// Collects the commands, transforms and visibilities that have changed in this frame.
    Collect,
}
