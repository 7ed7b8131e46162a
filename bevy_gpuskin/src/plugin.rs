//! Plugins.

use core::marker::PhantomData;

use bevy::camera::visibility::VisibilitySystems;
use bevy::prelude::*;
use bevy::transform::TransformSystems;
use gpuskin_rt::{Attachment, BakedModel, CrowdDescriptor, Model};

use crate::collect::{collect, finish, mark_regrouped};
use crate::crowd::collect_crowds;
use crate::events::{EventQueues, fire};
use crate::inspector::{CharacterInspector, inspect};
use crate::live::{LiveBones, collect_live};
use crate::outbox::Outbox;
use crate::render;
use crate::sockets::{Socket, follow};

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
            (
                CharacterSystems::Sockets.before(TransformSystems::Propagate),
                CharacterSystems::Collect
                    .after(TransformSystems::Propagate)
                    .after(VisibilitySystems::VisibilityPropagate),
            ),
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
    /// Whether characters fire [`EventFired`](crate::EventFired) and [`ClipFinished`](crate::ClipFinished).
    pub events: bool,
    attachments: Vec<(&'static Model, Attachment<M>)>,
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
        Self { crowd, events: false, attachments: Vec::new(), model: PhantomData }
    }

    /// Makes a plugin whose characters fire the events of their clips: [`EventFired`](crate::EventFired) and
    /// [`ClipFinished`](crate::ClipFinished). They cost processor time per event and per command; without, they cost nothing.
    pub const fn with_events(mut self) -> Self {
        self.events = true;
        self
    }

    /// Attaches a prop to a bone of every character: a sword for each soldier. The GPU draws it with the character, without an entity.
    ///
    /// Attachments have numbers, from 0 in the order in which they are attached, for
    /// [`Character::set_attachment_visible`](crate::Character::set_attachment_visible). A model has at most 14.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_gpuskin::{Attachment, CharacterPlugin};
    /// use bevy_gpuskin_sample_models::{bones, models};
    ///
    /// // A small hound on the shoulder. A game attaches a sword.
    /// let shoulder = Attachment::to(bones::SOLDIER_SHOULDER_L).at([0.0, 0.1, 0.0]).scaled(0.2);
    /// App::new().add_plugins(CharacterPlugin::<models::Soldier>::default().attach(&models::HOUND, shoulder));
    /// ```
    pub fn attach(mut self, prop: &'static Model, attachment: Attachment<M>) -> Self {
        self.attachments.push((prop, attachment));
        self
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
        let live = collect_live::<M>.run_if(any_with_component::<LiveBones<M>>);
        let collects = (mark_regrouped::<M>, collect_crowds::<M>, collect::<M>, live, finish::<M>).chain();
        app.init_resource::<Outbox<M>>().add_systems(
            PostUpdate,
            (
                inspect::<M>.before(CharacterSystems::Sockets),
                follow::<M>.in_set(CharacterSystems::Sockets),
                collects.in_set(CharacterSystems::Collect),
            ),
        );
        app.register_type::<Socket<M>>().register_type::<CharacterInspector>();
        if self.events {
            app.init_resource::<EventQueues<M>>().add_systems(PreUpdate, fire::<M>.in_set(CharacterSystems::Events));
        }
        render::build_model::<M>(app, &self.crowd, &self.attachments);
    }
}

/// Systems of this crate.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CharacterSystems {
    /// Triggers the events of the time since the last frame, in [`PreUpdate`].
    Events,
    /// Moves sockets to their bones, in [`PostUpdate`] before [`TransformSystems::Propagate`].
    Sockets,
    /// Collects the commands, transforms and visibilities that have changed in this frame, in [`PostUpdate`].
    Collect,
}
