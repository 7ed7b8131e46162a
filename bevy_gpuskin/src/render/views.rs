//! Gives each camera and shadow map of Bevy a view of gpuskin, and queues its phase items.

use bevy::asset::{AssetId, AssetServer};
use bevy::camera::visibility::RenderLayers;
use bevy::core_pipeline::core_3d::{
    Opaque3d, Opaque3dBatchSetKey, Opaque3dBinKey, Transparent3d, TransparentSortingInfo3d,
};
use bevy::core_pipeline::prepass::{Opaque3dPrepass, OpaqueNoLightmap3dBatchSetKey, OpaqueNoLightmap3dBinKey};
use bevy::ecs::system::SystemParam;
use bevy::material::descriptor::CachedRenderPipelineId;
use bevy::mesh::MeshVertexBufferLayouts;
use bevy::pbr::{
    LightEntity, LightKeyCache, MeshPipeline, MeshPipelineKey, PrepassPipeline, Shadow, ShadowBatchSetKey,
    ShadowBinKey, ViewKeyCache, ViewKeyPrepassCache,
};
use bevy::platform::collections::HashSet;
use bevy::prelude::*;
use bevy::render::mesh::allocator::MeshSlabs;
use bevy::render::render_phase::{
    BinnedPhaseItem, BinnedRenderPhase, BinnedRenderPhaseType, DrawFunctionId, DrawFunctions, InputUniformIndex,
    PhaseItemExtraIndex, SortedRenderPhase, ViewBinnedRenderPhases, ViewSortedRenderPhases,
};
use bevy::render::render_resource::PipelineCache;
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::sync_world::MainEntity;
use bevy::render::view::ExtractedView;
use gpuskin_rt::{Camera, View, wgpu};

use super::crowds::{CharacterRenderer, DrawnCrowd};
use super::draw::{CrowdIndex, DrawBlended, DrawForward, DrawPrepass, DrawShadow};
use super::pipelines::{Base, CrowdPipelines, Pipelines};
use super::shader::{Pass, imports_are_loaded};
use super::view_draws::{ViewDraw, Views};

/// Main-world entity of the phase items.
#[derive(Resource, Debug)]
pub(crate) struct PhaseEntity(pub(crate) Entity);

/// Camera that sees nothing.
const BLIND: Camera = Camera { view_proj: [[0.0; 4]; 4], eye: [0.0; 3], height: 0.0 };

/// Phases of all views.
#[derive(SystemParam)]
pub(crate) struct Phases<'w> {
    opaque: ResMut<'w, ViewBinnedRenderPhases<Opaque3d>>,
    prepass: ResMut<'w, ViewBinnedRenderPhases<Opaque3dPrepass>>,
    shadow: ResMut<'w, ViewBinnedRenderPhases<Shadow>>,
    blended: ResMut<'w, ViewSortedRenderPhases<Transparent3d>>,
    opaque_draws: Res<'w, DrawFunctions<Opaque3d>>,
    prepass_draws: Res<'w, DrawFunctions<Opaque3dPrepass>>,
    shadow_draws: Res<'w, DrawFunctions<Shadow>>,
    blended_draws: Res<'w, DrawFunctions<Transparent3d>>,
}

/// bevy_pbr's pipelines, and its keys of all views.
#[derive(SystemParam)]
pub(crate) struct Keys<'w> {
    mesh: Res<'w, MeshPipeline>,
    prepass: Res<'w, PrepassPipeline>,
    layouts: ResMut<'w, MeshVertexBufferLayouts>,
    cache: ResMut<'w, PipelineCache>,
    of_views: Res<'w, ViewKeyCache>,
    of_prepasses: Res<'w, ViewKeyPrepassCache>,
    of_lights: Res<'w, LightKeyCache>,
}

/// Finds out whether Bevy has loaded its shaders. While worlds are extracted, the render world has what the main world has
/// loaded.
pub(crate) fn extract_loaded(assets: Res<AssetServer>, mut views: ResMut<Views>) {
    if !views.can_draw && imports_are_loaded(&assets) {
        views.can_draw = true;
    }
}

/// Finds the views that show characters, requests their pipelines, and adds items to their phases. `items`: entities of the items of
/// the transparent phase, by crowd.
pub(crate) fn queue(
    renderer: Option<ResMut<CharacterRenderer>>,
    mut views: ResMut<Views>,
    mut pipelines: ResMut<Pipelines>,
    mut phases: Phases,
    mut keys: Keys,
    entity: Res<PhaseEntity>,
    (mut commands, mut items): (Commands, Local<Vec<Entity>>),
    extracted: Query<(&ExtractedView, Has<LightEntity>, Option<&RenderLayers>)>,
) {
    let Some(mut renderer) = renderer else { return };
    let renderer = &mut *renderer;
    let entity = (Entity::PLACEHOLDER, MainEntity::from(entity.0));
    let functions = [
        phases.opaque_draws.read().id::<DrawForward>(),
        phases.prepass_draws.read().id::<DrawPrepass>(),
        phases.shadow_draws.read().id::<DrawShadow>(),
        phases.blended_draws.read().id::<DrawBlended>(),
    ];
    let blended: Vec<_> = renderer.crowds.iter().map(DrawnCrowd::blended_center).collect();
    for index in items.len()..blended.len() {
        items.push(commands.spawn(CrowdIndex(index)).id());
    }
    let mut seen = HashSet::new();
    renderer.cameras.clear();
    for (view, is_light, layers) in &extracted {
        let id = view.retained_view_entity;
        let opaque = phases.opaque.get_mut(&id);
        let prepass = phases.prepass.get_mut(&id);
        let shadow = phases.shadow.get_mut(&id);
        let default = const { &RenderLayers::layer(0) };
        let layers = layers.unwrap_or(default);
        let camera = camera(view, is_light);
        let sees = |crowd: &DrawnCrowd| {
            crowd.visible
                && crowd.is_ready()
                && crowd.group.layers.intersects(layers)
                && (crowd.group.casts_shadows() || !is_light)
                && crowd.crowd.is_in_view(&camera)
        };
        let forward_key = keys.of_views.get(&id).copied().filter(|_| opaque.is_some());
        let prepass_key = match is_light {
            true => keys.of_lights.get(&id).copied().map(|key| key | MeshPipelineKey::from_msaa_samples(1)),
            false => keys.of_prepasses.get(&id).copied().filter(|_| prepass.is_some()),
        };
        let prepass_key = prepass_key.filter(|_| prepass.is_some() || shadow.is_some());
        let shown =
            views.can_draw && renderer.crowds.iter().any(sees) && (forward_key.is_some() || prepass_key.is_some());
        add(opaque, entity, shown && forward_key.is_some(), functions[0]);
        add(prepass, entity, shown && prepass_key.is_some(), functions[1]);
        add(shadow, entity, shown && prepass_key.is_some(), functions[2]);
        if !shown {
            continue;
        }
        seen.insert(id);
        let mut base =
            Base { mesh: &keys.mesh, prepass: &keys.prepass, layouts: &mut keys.layouts, cache: &mut keys.cache };
        let mut of_pass = |pass, key: Option<MeshPipelineKey>| match key {
            Some(key) => {
                let mut of_crowd = |(crowd, blended): (&DrawnCrowd, &Option<Vec3>)| match sees(crowd) {
                    _ if pass == Pass::Cover && blended.is_none() => CrowdPipelines::default(),
                    _ if pass == Pass::Prepass && !is_light && !crowd.group.has_prepass() => CrowdPipelines::default(),
                    true => pipelines.of_crowd(&mut base, pass, key, crowd),
                    false => CrowdPipelines::default(),
                };
                renderer.crowds.iter().zip(&blended).map(&mut of_crowd).collect()
            }
            None => Vec::new(),
        };
        let [forward, cover, prepass] =
            [(Pass::Forward, forward_key), (Pass::Cover, forward_key), (Pass::Prepass, prepass_key)]
                .map(|(pass, key)| of_pass(pass, key));
        if let Some(phase) = phases.blended.get_mut(&id).filter(|_| forward_key.is_some()) {
            for ((crowd, center), item) in renderer.crowds.iter().zip(&blended).zip(&*items) {
                let Some(center) = center.filter(|_| sees(crowd)) else { continue };
                add_blended(phase, (*item, entity.1), center, functions[3]);
            }
        }
        let gpuskin_view = match views.draws.get(&id) {
            Some(draw) => draw.view,
            None => views.view_for(&mut renderer.renderer),
        };
        if !is_light {
            renderer.cameras.insert(id.main_entity.id(), gpuskin_view);
        }
        views.draws.insert(id, ViewDraw { view: gpuskin_view, camera, forward, cover, prepass });
    }
    let Views { draws, free, .. } = &mut *views;
    draws.retain(|id, draw| {
        let keep = seen.contains(id);
        if !keep {
            free.push(draw.view);
        }
        keep
    });
}

/// A phase to which an item for all characters can be added.
trait CharacterPhase: BinnedPhaseItem {
    fn keys(draw_function: DrawFunctionId) -> (Self::BatchSetKey, Self::BinKey);
}

impl CharacterPhase for Opaque3d {
    fn keys(draw_function: DrawFunctionId) -> (Self::BatchSetKey, Self::BinKey) {
        let set = Opaque3dBatchSetKey {
            pipeline: CachedRenderPipelineId::INVALID,
            draw_function,
            material_bind_group_index: None,
            slabs: MeshSlabs::default(),
            lightmap_slab: None,
        };
        (set, Opaque3dBinKey { asset_id: AssetId::<Mesh>::default().untyped() })
    }
}

impl CharacterPhase for Opaque3dPrepass {
    fn keys(draw_function: DrawFunctionId) -> (Self::BatchSetKey, Self::BinKey) {
        let set = OpaqueNoLightmap3dBatchSetKey {
            pipeline: CachedRenderPipelineId::INVALID,
            draw_function,
            material_bind_group_index: None,
            slabs: MeshSlabs::default(),
        };
        (set, OpaqueNoLightmap3dBinKey { asset_id: AssetId::<Mesh>::default().untyped() })
    }
}

impl CharacterPhase for Shadow {
    fn keys(draw_function: DrawFunctionId) -> (Self::BatchSetKey, Self::BinKey) {
        let set = ShadowBatchSetKey {
            pipeline: CachedRenderPipelineId::INVALID,
            draw_function,
            material_bind_group_index: None,
            slabs: MeshSlabs::default(),
        };
        (set, ShadowBinKey { asset_id: AssetId::<Mesh>::default().untyped() })
    }
}

/// Adds the item of all characters to a phase, or removes it. Phases keep their items from frame to frame.
fn add<P: CharacterPhase>(
    phase: Option<&mut BinnedRenderPhase<P>>,
    entity: (Entity, MainEntity),
    shown: bool,
    draw_function: DrawFunctionId,
) {
    let Some(phase) = phase else { return };
    phase.remove(entity.1);
    if shown {
        let (set, bin) = P::keys(draw_function);
        phase.add(set, bin, entity, InputUniformIndex::default(), BinnedRenderPhaseType::NonMesh);
    }
}

/// Adds the item of a crowd with blended parts to a phase, for this frame.
fn add_blended(
    phase: &mut SortedRenderPhase<Transparent3d>,
    entity: (Entity, MainEntity),
    center: Vec3,
    draw_function: DrawFunctionId,
) {
    phase.add_transient(Transparent3d {
        sorting_info: TransparentSortingInfo3d::Sorted { mesh_center: center, depth_bias: 0.0 },
        // Bevy computes it.
        distance: 0.0,
        pipeline: CachedRenderPipelineId::INVALID,
        entity,
        draw_function,
        batch_range: 0..1,
        extra_index: PhaseItemExtraIndex::None,
        indexed: true,
    });
}

/// Allowed LOD error in shadow maps, in texels, over that in pictures, in pixels, as in gpuskin_rt: Bevy's default
/// filter averages over 5 x 5 texels, too.
const SHADOW_LOD_ERROR: f32 = 1.5;

/// Camera by which a view is culled.
fn camera(view: &ExtractedView, is_light: bool) -> Camera {
    let clip_from_world = view
        .clip_from_world
        .unwrap_or_else(|| view.clip_from_view * Mat4::from(view.world_from_view.affine().inverse()));
    let mut rows = clip_from_world.transpose();
    // Parallel light: what is before the near plane casts a shadow, too.
    if is_light && view.clip_from_view.w_axis.w == 1.0 {
        rows.z_axis = rows.w_axis * 0.5;
    }
    Camera {
        view_proj: rows.transpose().to_cols_array_2d(),
        eye: view.world_from_view.translation().to_array(),
        height: view.viewport.w as f32 / if is_light { SHADOW_LOD_ERROR } else { 1.0 },
    }
}

/// Uploads, culls for all views and evaluates poses, before Bevy's passes.
pub(crate) fn prepare(
    renderer: Option<ResMut<CharacterRenderer>>,
    views: Res<Views>,
    device: Res<RenderDevice>,
    queue: Res<RenderQueue>,
) {
    let Some(mut renderer) = renderer else { return };
    let CharacterRenderer { renderer, materials, crowds, time, .. } = &mut *renderer;
    if crowds.is_empty() {
        return;
    }
    let mut main = BLIND;
    let mut others: Vec<_> = views.free.iter().map(|view| (*view, BLIND)).collect();
    others.extend(views.draws.values().map(|draw| (draw.view, draw.camera)));
    let mut result = Ok(());
    for (view, camera) in others {
        match view == View::MAIN {
            true => main = camera,
            false => result = result.and(renderer.prepare_view(&queue, view, &camera)),
        }
    }
    let mut encoder =
        device.wgpu_device().create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("bevy_gpuskin") });
    result = result.and(renderer.prepare(&queue, &mut encoder, &main, *time));
    let clock = [renderer.time().words(), renderer.previous_time().words()];
    queue.write_buffer(&materials.clock, 0, bytemuck::cast_slice(&clock));
    queue.submit([encoder.finish()]);
    if let Err(error) = result {
        error_once!("not all characters are drawn: {error}");
    }
}
