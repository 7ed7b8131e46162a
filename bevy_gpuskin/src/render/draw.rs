//! Draws all crowds in a phase of one of Bevy's views.

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

use super::crowds::{CharacterRenderer, DrawnCrowd, DrawnMesh};
use super::pipelines::PartPipelines;
use super::shader::MODEL_GROUP;
use super::view_draws::Views;

/// Draws in the main pass.
pub(super) type DrawForward = (SetMeshViewBindGroup<0>, SetMeshViewBindingArrayBindGroup<1>, DrawCharacters<true>);

/// Draws in the prepass of a camera, or in a shadow map.
pub(super) type DrawPrepass = (SetPrepassViewBindGroup<0>, SetPrepassViewEmptyBindGroup<1>, DrawCharacters<false>);

pub(super) struct DrawCharacters<const FORWARD: bool>;

impl<P: PhaseItem, const FORWARD: bool> RenderCommand<P> for DrawCharacters<FORWARD> {
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
        let pipelines = if FORWARD { &draw.forward } else { &draw.prepass };
        for (crowd, pipelines) in renderer.crowds.iter().zip(pipelines) {
            for (mesh, pipelines) in crowd.meshes.iter().zip(pipelines) {
                let Some(compiled) = compiled(cache, pipelines) else { continue };
                draw_mesh(crowd, mesh, &compiled, CustomDraw::new(MODEL_GROUP).in_view(draw.view), pass);
            }
        }
        RenderCommandResult::Success
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
        pass.set_bind_group(MATERIAL_BIND_GROUP_INDEX as u32, &mesh.materials[index].bind_group, &[]);
    });
}
