//! Drawing: crowds in the render world, which Bevy's views and phases draw.
//!
//! | module | does |
//! |---|---|
//! | `crowds` | the renderer and its crowds |
//! | `inbox` | applies the batches of the main world to crowds |
//! | `reload` | replaces the crowds of a model by those of a later bake |
//! | `view_draws` | views of gpuskin, and pipelines of each |
//! | `views` | gives each camera and shadow map a view of gpuskin, and queues its phase item |
//! | `draw` | draws crowds in a phase |
//! | `pipelines` | pipelines of a view |
//! | `shader` | shaders: gpuskin's functions, bevy_pbr's functions |
//! | `material` | materials of a model as bevy_pbr reads them |
//! | `extension_class` | part of a pipeline that an extension of materials decides |
//! | `extension` | the same materials as `ExtendedMaterial` of bevy_pbr |

mod crowds;
mod draw;
mod extension;
mod extension_class;
mod inbox;
mod material;
mod pipelines;
mod reload;
mod shader;
mod view_draws;
mod views;

use core::hash::Hash;

use bevy::core_pipeline::core_3d::{Opaque3d, Transparent3d};
use bevy::core_pipeline::prepass::Opaque3dPrepass;
use bevy::pbr::{MaterialExtension, MeshPipelineSystems, Shadow};
use bevy::prelude::*;
use bevy::render::render_asset::prepare_assets;
use bevy::render::render_phase::AddRenderCommand;
use bevy::render::texture::GpuImage;
use bevy::render::{ExtractSchedule, Render, RenderApp, RenderStartup, RenderSystems};
use gpuskin_rt::{Attachment, BakedModel, CrowdDescriptor, Model};

pub use crowds::CharacterRenderer;
pub(crate) use crowds::Options;
pub(crate) use shader::SurfaceCode;

/// Systems of this crate in Bevy's [`Render`] schedule, in this order.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CharacterRenderSystems {
    /// Applies the commands of the frame to the crowds.
    Apply,
    /// Empty: for a game's compute passes that write the instances of a crowd. Submit them to the queue in this set, and they are
    /// drawn in the same frame.
    ///
    /// [`CharacterRenderer::crowd_of`] has the crowd, `Crowd::instance_buffers` its buffers from the second frame on, and
    /// [`gpuskin_rt::pipeline`] the functions that write them. The example `crowd_from_gpu` steers a crowd.
    Write,
    /// Culls and evaluates poses, for all views.
    Prepare,
}

/// Entity of the main world that stands for all characters in Bevy's phases.
#[derive(Component, Debug)]
struct AllCharacters;

pub(crate) fn has_renderer(app: &App) -> bool {
    app.get_sub_app(RenderApp).is_some()
}

/// Whether the renderer draws characters of a model.
pub(crate) fn has_model<M: BakedModel>(app: &App) -> bool {
    app.get_sub_app(RenderApp).is_some_and(|app| app.world().contains_resource::<inbox::Inbox<M>>())
}

pub(crate) fn build(app: &mut App, options: Options) {
    if !has_renderer(app) {
        return;
    }
    let entity = app.world_mut().spawn((AllCharacters, Name::new("all characters of bevy_gpuskin"))).id();
    let Some(render_app) = app.get_sub_app_mut(RenderApp) else { return };
    render_app
        .insert_resource(options)
        .insert_resource(views::PhaseEntity(entity))
        .init_resource::<pipelines::Pipelines>()
        .init_resource::<view_draws::Views>()
        .init_resource::<extension::StandardMaterials>()
        .add_render_command::<Opaque3d, draw::DrawForward>()
        .add_render_command::<Opaque3dPrepass, draw::DrawPrepass>()
        .add_render_command::<Shadow, draw::DrawShadow>()
        .add_render_command::<Transparent3d, draw::DrawBlended>()
        .add_systems(ExtractSchedule, (crowds::extract_time, views::extract_loaded))
        .add_systems(RenderStartup, (crowds::start, pipelines::start).chain().after(MeshPipelineSystems))
        .configure_sets(
            Render,
            (
                CharacterRenderSystems::Apply.in_set(RenderSystems::PrepareAssets),
                CharacterRenderSystems::Write.in_set(RenderSystems::Queue),
                CharacterRenderSystems::Prepare.in_set(RenderSystems::PrepareResources),
            ),
        )
        .add_systems(
            Render,
            (
                (extension::lend, extension::prepare_mesh)
                    .in_set(RenderSystems::PrepareAssets)
                    .after(CharacterRenderSystems::Apply)
                    .after(prepare_assets::<GpuImage>),
                views::queue.in_set(RenderSystems::Queue),
                views::prepare.in_set(CharacterRenderSystems::Prepare),
            ),
        );
}

/// Lets the renderer draw an extension of materials.
pub(crate) fn build_extension<E: MaterialExtension>(app: &mut App)
where
    E::Data: Copy + Eq + Hash,
{
    let extensions = extension::Extensions::<E>::new(app.world().resource::<AssetServer>());
    let Some(render_app) = app.get_sub_app_mut(RenderApp) else { return };
    render_app
        .insert_resource(extensions)
        .init_resource::<extension::StandardMaterials>()
        .add_systems(ExtractSchedule, extension::extract::<E>)
        .add_systems(Render, extension::prepare::<E>.in_set(RenderSystems::PrepareMeshes));
}

pub(crate) fn build_model<M: BakedModel>(
    app: &mut App,
    crowd: &CrowdDescriptor,
    props: &[(&'static Model, Attachment<M>)],
    surface: Option<SurfaceCode>,
) {
    let Some(render_app) = app.get_sub_app_mut(RenderApp) else { return };
    render_app
        .insert_resource(inbox::Inbox::<M>::new(crowd, props, surface))
        .add_systems(ExtractSchedule, inbox::extract::<M>)
        .add_systems(Render, inbox::apply::<M>.in_set(CharacterRenderSystems::Apply));
}
