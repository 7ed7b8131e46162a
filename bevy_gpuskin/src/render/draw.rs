//! Draws crowds in a phase of one of Bevy's views.

use bevy::ecs::system::SystemParamItem;
use bevy::ecs::system::lifetimeless::{Read, SRes};
use bevy::pbr::{
    MATERIAL_BIND_GROUP_INDEX, SetMeshViewBindGroup, SetMeshViewBindingArrayBindGroup, SetPrepassViewBindGroup,
    SetPrepassViewEmptyBindGroup,
};
use bevy::prelude::*;
use bevy::render::render_phase::{PhaseItem, RenderCommand, RenderCommandResult, TrackedRenderPass};
use bevy::render::render_resource::{PipelineCache, RenderPipeline};
use bevy::render::view::ExtractedView;
use gpuskin_rt::pipeline::CustomDraw;
use gpuskin_rt::wgpu;

use super::crowds::{CharacterRenderer, DrawnCrowd, DrawnMesh};
use super::material::PartMaterial;
use super::pipelines::{CrowdPipelines, PartPipelines};
use super::shader::{EXTENDED_MODEL_GROUP, MODEL_GROUP};
use super::view_draws::{ViewDraw, Views};

/// Draws the parts of all crowds that are not blended in the main pass.
pub(super) type DrawForward =
    (SetMeshViewBindGroup<0>, SetMeshViewBindingArrayBindGroup<1>, DrawCharacters<InMainPass>);

/// Draws the blended parts of one crowd in the main pass.
pub(super) type DrawBlended = (SetMeshViewBindGroup<0>, SetMeshViewBindingArrayBindGroup<1>, DrawBlendedParts);

/// Draws the parts of all crowds that are not blended in the prepass of a camera.
pub(super) type DrawPrepass = (SetPrepassViewBindGroup<0>, SetPrepassViewEmptyBindGroup<1>, DrawCharacters<InPrepass>);

/// Draws all crowds in a shadow map.
pub(super) type DrawShadow = (SetPrepassViewBindGroup<0>, SetPrepassViewEmptyBindGroup<1>, DrawCharacters<InShadowMap>);

/// Pipelines and parts that a phase draws.
pub(super) trait Drawn: Send + Sync + 'static {
    /// Pipelines by crowd.
    fn pipelines(draw: &ViewDraw) -> &[CrowdPipelines];
    /// Selects the parts.
    fn parts(draw: CustomDraw) -> CustomDraw;
}

pub(super) struct InMainPass;

impl Drawn for InMainPass {
    fn pipelines(draw: &ViewDraw) -> &[CrowdPipelines] {
        &draw.forward
    }

    fn parts(draw: CustomDraw) -> CustomDraw {
        draw.blended_parts(false)
    }
}

pub(super) struct InPrepass;

impl Drawn for InPrepass {
    fn pipelines(draw: &ViewDraw) -> &[CrowdPipelines] {
        &draw.prepass
    }

    fn parts(draw: CustomDraw) -> CustomDraw {
        draw.blended_parts(false)
    }
}

pub(super) struct InShadowMap;

impl Drawn for InShadowMap {
    fn pipelines(draw: &ViewDraw) -> &[CrowdPipelines] {
        &draw.prepass
    }

    fn parts(draw: CustomDraw) -> CustomDraw {
        draw
    }
}

pub(super) struct DrawCharacters<D>(core::marker::PhantomData<D>);

impl<P: PhaseItem, D: Drawn> RenderCommand<P> for DrawCharacters<D> {
    type Param = (SRes<CharacterRenderer>, SRes<Views>, SRes<PipelineCache>);
    type ViewQuery = Read<ExtractedView>;
    type ItemQuery = ();

    fn render<'w>(
        _: &P,
        view: &ExtractedView,
        _: Option<()>,
        (renderer, views, cache): SystemParamItem<'w, '_, Self::Param>,
        pass: &mut TrackedRenderPass<'w>,
    ) -> RenderCommandResult {
        let (renderer, views, cache) = (renderer.into_inner(), views.into_inner(), cache.into_inner());
        let Some(draw) = views.draws.get(&view.retained_view_entity) else { return RenderCommandResult::Skip };
        for (crowd, pipelines) in renderer.crowds.iter().zip(D::pipelines(draw)) {
            let parts = D::parts(CustomDraw::new(model_group(pipelines)).in_view(draw.view));
            draw_crowd(renderer, crowd, pipelines, cache, parts, pass);
        }
        RenderCommandResult::Success
    }
}

/// Index of the crowd whose blended parts an item of the transparent phase stands for.
#[derive(Component, Clone, Copy, Debug)]
pub(super) struct CrowdIndex(pub(super) usize);

pub(super) struct DrawBlendedParts;

impl<P: PhaseItem> RenderCommand<P> for DrawBlendedParts {
    type Param = (SRes<CharacterRenderer>, SRes<Views>, SRes<PipelineCache>);
    type ViewQuery = Read<ExtractedView>;
    type ItemQuery = Read<CrowdIndex>;

    fn render<'w>(
        _: &P,
        view: &ExtractedView,
        index: Option<&CrowdIndex>,
        (renderer, views, cache): SystemParamItem<'w, '_, Self::Param>,
        pass: &mut TrackedRenderPass<'w>,
    ) -> RenderCommandResult {
        let (renderer, views, cache) = (renderer.into_inner(), views.into_inner(), cache.into_inner());
        let (Some(draw), Some(CrowdIndex(index))) = (views.draws.get(&view.retained_view_entity), index) else {
            return RenderCommandResult::Skip;
        };
        let Some(crowd) = renderer.crowds.get(*index) else { return RenderCommandResult::Skip };
        // Depth, then colour: each pixel shows the nearest surface, in whatever order instances are drawn.
        for pipelines in [&draw.cover, &draw.forward].into_iter().filter_map(|pipelines| pipelines.get(*index)) {
            let parts = CustomDraw::new(model_group(pipelines)).in_view(draw.view).blended_parts(true);
            draw_crowd(renderer, crowd, pipelines, cache, parts, pass);
        }
        RenderCommandResult::Success
    }
}

/// Returns the index of the model's bind group.
const fn model_group(pipelines: &CrowdPipelines) -> u32 {
    if pipelines.extended { EXTENDED_MODEL_GROUP } else { MODEL_GROUP }
}

fn draw_crowd(
    renderer: &CharacterRenderer,
    crowd: &DrawnCrowd,
    pipelines: &CrowdPipelines,
    cache: &PipelineCache,
    draw: CustomDraw,
    pass: &mut TrackedRenderPass<'_>,
) {
    let extended_mesh = renderer.extended_mesh.as_ref().filter(|_| pipelines.extended);
    for (mesh, pipelines) in crowd.meshes.iter().zip(&pipelines.meshes) {
        if let Some(compiled) = compiled(cache, pipelines) {
            draw_mesh(crowd, mesh, &compiled, extended_mesh, draw, pass);
        }
    }
}

/// Returns the pipelines of a crowd by material; `None` until all of them are compiled.
fn compiled<'c>(cache: &'c PipelineCache, pipelines: &[PartPipelines]) -> Option<Vec<[Option<&'c RenderPipeline>; 2]>> {
    let get = |id: Option<_>| match id {
        Some(id) => cache.get_render_pipeline(id).map(Some),
        None => Some(None),
    };
    pipelines.iter().map(|[smooth, flat]| Some([get(*smooth)?, get(*flat)?])).collect()
}

fn draw_mesh(
    crowd: &DrawnCrowd,
    mesh: &DrawnMesh,
    pipelines: &[[Option<&RenderPipeline>; 2]],
    extended_mesh: Option<&wgpu::BindGroup>,
    draw: CustomDraw,
    pass: &mut TrackedRenderPass<'_>,
) {
    let draw = match mesh.attachment {
        Some(attachment) => draw.attachment(attachment),
        None => draw,
    };
    crowd.crowd.draw(pass.wgpu_pass(), draw, &mut |pass, part| {
        let index = part.material as usize;
        if let Some(pipeline) = pipelines[index][usize::from(part.flat)] {
            pass.set_pipeline(pipeline);
        }
        let PartMaterial { bind_group, extended, .. } = &mesh.materials[index];
        let bind_group = match (extended_mesh, extended) {
            (Some(extended_mesh), Some(part)) => {
                pass.set_bind_group(MODEL_GROUP, extended_mesh, &[]);
                &part.bind_group
            }
            _ => bind_group,
        };
        pass.set_bind_group(MATERIAL_BIND_GROUP_INDEX as u32, bind_group, &[]);
    });
}
