//! Plugins.

use core::marker::PhantomData;

use bevy::camera::visibility::VisibilitySystems;
use bevy::prelude::*;
use bevy::transform::TransformSystems;
use gpuskin_rt::{Attachment, BakedModel, CrowdDescriptor, Model};

use crate::bake::Bake;
use crate::collect::{collect, finish, mark_regrouped};
use crate::crowd::collect_crowds;
use crate::enabling::mark_enabled;
use crate::events::{EventQueues, fire, follow_time};
use crate::field::collect_fields;
use crate::inspector::{CharacterInspector, inspect};
use crate::live::{LiveBones, collect_live};
use crate::outbox::Outbox;
use crate::render::{self, SurfaceCode};
use crate::sockets::{Socket, follow};
use crate::systems::CharacterSystems;

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
        let Self { lod_error, motion_vectors } = *self;
        render::build(app, render::Options { lod_error, motion_vectors });
    }
}

/// Draws the characters of one model. Add it after `DefaultPlugins`.
///
/// In an app without a renderer, such as a server with `MinimalPlugins` and `TransformPlugin`, characters fire their events and
/// sockets follow their bones.
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
    #[cfg(feature = "picking")]
    picking: bool,
    #[cfg(feature = "assets")]
    asset: Option<bevy::asset::AssetPath<'static>>,
    surface: Option<SurfaceCode>,
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
        Self {
            crowd,
            events: false,
            #[cfg(feature = "picking")]
            picking: false,
            #[cfg(feature = "assets")]
            asset: None,
            surface: None,
            attachments: Vec::new(),
            model: PhantomData,
        }
    }

    /// Makes a plugin whose characters fire the events of their clips: [`EventFired`](crate::EventFired) and
    /// [`ClipFinished`](crate::ClipFinished). They cost processor time per event and per command; without, they cost nothing.
    pub const fn with_events(mut self) -> Self {
        self.events = true;
        self
    }

    /// Makes a plugin whose characters are targets of Bevy's pointers: observers get `PointerOver`, `PointerClick` and
    /// so on. Needs the feature `picking`.
    ///
    /// The pointer hits the triangles of the drawn pose, with layers and live bones, in the finest level of detail. Holes of cut-out
    /// materials are hit, attachments are not. `hit.extra_as` of an event has the [`RayHit`](gpuskin_rt::RayHit), with the bone
    /// under the pointer. [`Pickable`](bevy::picking::Pickable), [`RenderLayers`](bevy::camera::visibility::RenderLayers) and visibility are
    /// respected. A [`CharacterCrowd`](crate::CharacterCrowd) is not a target: use [`gpuskin_rt::RayCaster`].
    ///
    /// Per ray and frame, a character far from the ray costs a test of a sphere, one whose bounding box is hit the skinning
    /// of its vertices.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_gpuskin::CharacterPlugin;
    /// use bevy_gpuskin::gpuskin_rt::RayHit;
    /// use bevy_gpuskin_sample_models::{bones, models::Soldier};
    ///
    /// fn build(app: &mut App) {
    ///     app.add_plugins(CharacterPlugin::<Soldier>::default().with_picking());
    ///     app.add_observer(|click: On<PointerClick>| {
    ///         if let Some(hit) = click.hit.extra_as::<RayHit<Soldier>>() {
    ///             println!("{}: {}", click.entity, if hit.bone == Some(bones::SOLDIER_HEAD) { "head" } else { "body" });
    ///         }
    ///     });
    /// }
    /// ```
    #[cfg(feature = "picking")]
    pub const fn with_picking(mut self) -> Self {
        self.picking = true;
        self
    }

    /// Sets WGSL of the game that changes the surfaces of characters and attachments before Bevy lights them: a function
    /// `fn surface(point: SurfacePoint, uv: vec2<f32>) -> SurfacePoint`, and whatever it needs. Such a function of
    /// `LightingFeatures::surface` in gpuskin_rt works here, too.
    ///
    /// | member of `SurfacePoint` | |
    /// |---|---|
    /// | `position: vec3<f32>` | world space, metres |
    /// | `face_normal`, `normal: vec3<f32>` | unit normals on the visible side: of the mesh, and with the normal map |
    /// | `to_eye: vec3<f32>` | unit vector |
    /// | `base_color: vec3<f32>` | linear, with texture, vertex colour and tint |
    /// | `metallic`, `roughness`, `occlusion: f32` | 0..1; the roughness is the perceptual one |
    /// | `emitted: vec3<f32>` | emitted light, linear, as `emissive` of `StandardMaterial` |
    /// | `custom: vec2<u32>` | the words of [`Character::custom`](crate::Character::custom) |
    /// | `alpha: f32` | with texture, vertex colour and tint; 1 if the material is opaque, and then without effect |
    ///
    /// `globals.time` is Bevy's time in seconds. `position` and `face_normal` have no effect if they are changed. Begin other names of your own with a
    /// prefix of your own. A mistake in the text is logged, and the characters are not drawn. Unlit surfaces do not call it.
    ///
    /// Shadow maps and the prepass call it for cut-out materials, shadow maps for blended ones, too: holes that it makes are holes of
    /// shadows. There, `to_eye` is the direction to the light. They do not call it for opaque materials, unless it is set by
    /// [`Self::with_cutting_surface`]. Ambient occlusion sees the normals of the mesh.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_gpuskin::CharacterPlugin;
    /// use bevy_gpuskin_sample_models::models;
    ///
    /// const SNOW: &str = "
    ///     fn surface(point: SurfacePoint, uv: vec2<f32>) -> SurfacePoint {
    ///         var snowy = point;
    ///         snowy.base_color = mix(point.base_color, vec3<f32>(0.9), smoothstep(0.4, 0.7, point.normal.y));
    ///         return snowy;
    ///     }
    /// ";
    /// App::new().add_plugins(CharacterPlugin::<models::Soldier>::default().with_surface(SNOW));
    /// ```
    pub const fn with_surface(mut self, wgsl: &'static str) -> Self {
        self.surface = Some(SurfaceCode { text: wgsl, cuts: false });
        self
    }

    /// Sets WGSL of the game as [`Self::with_surface`] does, whose function cuts holes in opaque materials, too: to dissolve characters, or
    /// for a cloak in rags.
    ///
    /// A fragment is cut out if the function returns an `alpha` below the cutoff of its material, or discards it; the cutoff of opaque
    /// materials is 0.5. Shadow maps and the prepass call the function for all lit materials, which costs time there: opaque materials
    /// otherwise have no fragment shader in shadow maps.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_gpuskin::CharacterPlugin;
    /// use bevy_gpuskin_sample_models::models;
    ///
    /// // The first custom word is the share of the body that is gone, 0..100 percent, from the feet up.
    /// const DISSOLVE: &str = "
    ///     fn surface(point: SurfacePoint, uv: vec2<f32>) -> SurfacePoint {
    ///         var dissolved = point;
    ///         dissolved.alpha = step(0.018 * f32(point.custom.x), point.position.y);
    ///         return dissolved;
    ///     }
    /// ";
    /// App::new().add_plugins(CharacterPlugin::<models::Soldier>::default().with_cutting_surface(DISSOLVE));
    /// ```
    pub const fn with_cutting_surface(mut self, wgsl: &'static str) -> Self {
        self.surface = Some(SurfaceCode { text: wgsl, cuts: true });
        self
    }

    /// Draws bakes that Bevy's [`AssetServer`] loads, in place of the program's: a new bake shows while the game runs. Needs the
    /// feature `assets`.
    ///
    /// `path`: the generated module of a bake, `gpuskin.rs`, in the game's asset folder. The files of the models are in `gpuskin/` beside
    /// it, as `gpuskin bake --out assets/baked` writes them. Until the asset is loaded, the bake of the program is drawn.
    ///
    /// With Bevy's feature `file_watcher`, each later bake replaces the model. Characters play on by the names of their clips; sockets,
    /// events, picking and fields follow the new bake. Attachments follow if the bake has models of their names. A clip keeps its speed
    /// in cycles per second until it is played again. The constants of the program stay valid: a bake that lacks their clips, bones,
    /// events or parts, or has them in another order, is refused. A bake that is refused or cannot be loaded is logged once, and the earlier
    /// one stays. Each reload keeps the memory of the earlier bake until the program ends, and a plugin with attachments that of all
    /// models of the loaded bake.
    ///
    /// ```no_run
    /// use bevy::prelude::*;
    /// use bevy_gpuskin::CharacterPlugin;
    /// use bevy_gpuskin_sample_models::models;
    ///
    /// App::new()
    ///     .add_plugins((DefaultPlugins, CharacterPlugin::<models::Soldier>::default().with_asset("baked/gpuskin.rs")))
    ///     .run();
    /// ```
    #[cfg(feature = "assets")]
    pub fn with_asset(mut self, path: impl Into<bevy::asset::AssetPath<'static>>) -> Self {
        self.asset = Some(path.into());
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
        let live = collect_live::<M>.run_if(any_with_component::<LiveBones<M>>);
        let collects =
            (mark_regrouped::<M>, collect_crowds::<M>, collect_fields::<M>, collect::<M>, live, finish::<M>).chain();
        app.insert_resource(Outbox::<M>::new(render::has_renderer(app))).init_resource::<Bake<M>>().add_systems(
            PostUpdate,
            (
                inspect::<M>.before(CharacterSystems::Sockets),
                mark_enabled::<M>.before(TransformSystems::Propagate).before(VisibilitySystems::VisibilityPropagate),
                follow::<M>.in_set(CharacterSystems::Sockets),
                collects.in_set(CharacterSystems::Collect),
            ),
        );
        app.register_type::<Socket<M>>().register_type::<CharacterInspector>();
        if self.events {
            app.init_resource::<EventQueues<M>>();
            app.add_systems(PreUpdate, fire::<M>.in_set(CharacterSystems::Events));
            app.add_systems(PostUpdate, follow_time::<M>.in_set(CharacterSystems::Collect).before(collect::<M>));
        }
        #[cfg(feature = "assets")]
        if let Some(path) = &self.asset {
            crate::assets::build::<M>(app, path, &self.attachments);
        }
        #[cfg(feature = "picking")]
        if self.picking {
            crate::picking::build::<M>(app);
        }
        render::build_model::<M>(app, &self.crowd, &self.attachments, self.surface);
    }

    fn finish(&self, app: &mut App) {
        if render::has_renderer(app) && !render::has_model::<M>(app) {
            let name = &M::MODEL.meta.name;
            error!("characters of the model {name} are not drawn; add their CharacterPlugin after DefaultPlugins");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bevy::time::TimeUpdateStrategy;
    use bevy_gpuskin_sample_models::{bones, clips, events, models::Soldier};

    use super::*;
    use crate::{Character, EventFired};

    #[derive(Resource, Default)]
    struct Steps(usize);

    #[test]
    fn events_fire_and_sockets_follow_without_a_renderer() {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, TransformPlugin, CharacterPlugin::<Soldier>::default().with_events()));
        app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(100))).init_resource::<Steps>();
        app.add_observer(|fired: On<EventFired<Soldier>>, mut steps: ResMut<Steps>| {
            steps.0 += usize::from(fired.event == events::SOLDIER_FOOTSTEP);
        });
        app.finish();
        app.cleanup();
        let hand = (Socket::to(bones::SOLDIER_HAND_R), Name::new("hand"));
        app.world_mut().spawn((
            Character::playing(clips::SOLDIER_WALK),
            Transform::from_xyz(8.0, 0.0, 0.0),
            children![hand],
        ));
        (0..15).for_each(|_| app.update());
        assert_eq!(app.world().resource::<Steps>().0, 3);
        let mut hands = app.world_mut().query_filtered::<&GlobalTransform, With<Socket<Soldier>>>();
        let hand = hands.single(app.world()).unwrap().translation();
        assert!((0.05..1.0).contains(&(hand.x - 8.0).abs()) && hand.y > 0.3, "{hand}");
        assert!(
            app.world_mut().resource_mut::<Outbox<Soldier>>().take().is_empty(),
            "batches are kept without a reader"
        );
    }
}
