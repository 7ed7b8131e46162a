//! Drawing with a game's own pipeline.

use super::draw_run::{OtherPoses, PaletteDraw, draw_part};
use super::pipelines::DrawnPart;
use super::{AttachmentId, Crowd, Field, View};

/// Selection of what a game's own pipeline draws, for [`Crowd::draw_with`] and [`Field::draw_with`].
///
/// ```
/// # use gpuskin_rt::View;
/// # use gpuskin_rt::pipeline::CustomDraw;
/// let outline = CustomDraw::new(1);                              // model bind group at index 1; all visible instances
/// let mirror = CustomDraw::new(1).in_view(View::MAIN);           // instances visible in one view, with its LODs
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomDraw {
    pub(crate) group: u32,
    pub(crate) view: Option<View>,
    pub(crate) attachment: Option<AttachmentId>,
    pub(crate) pose_cache: bool,
    pub(crate) added_morphs: bool,
    /// `None`: all parts.
    pub(crate) blended: Option<bool>,
}

impl CustomDraw {
    /// Selects all instances that at least one view sees, each in the finest LOD that a view needs. `group` is the index of
    /// the model's bind group in the pipeline: the `group` given to [`pipeline::source`](crate::pipeline::source).
    pub const fn new(group: u32) -> Self {
        Self { group, view: None, attachment: None, pose_cache: false, added_morphs: false, blended: None }
    }

    /// Selects the instances that one view sees, in the LODs that this view needs.
    ///
    /// With [occlusion culling](super::RendererDescriptor::occlusion), [`View::MAIN`] selects the instances of the first pass,
    /// and [`View::REVEALED`] those that [`CrowdRenderer::reveal`](super::CrowdRenderer::reveal) added: draw both, before and
    /// after `reveal`, as the renderer does.
    pub const fn in_view(mut self, view: View) -> Self {
        self.view = Some(view);
        self
    }

    /// Draws an attachment of the instances instead of the instances, with a pipeline for its
    /// [`Crowd::attachment_variant`]. Draws nothing once the attachment is detached.
    pub const fn attachment(mut self, attachment: AttachmentId) -> Self {
        self.attachment = Some(attachment);
        self
    }

    /// Reads the vertices of cached poses from the pose cache ([`CrowdDescriptor::time_grid`](super::CrowdDescriptor::time_grid)).
    ///
    /// The game then needs two pipelines: for a part with [`CustomPart::cached`] one made from
    /// [`pipeline::cached_source`](crate::pipeline::cached_source), else one from [`pipeline::source`](crate::pipeline::source).
    /// Without this method, all poses are read from the palette, and one pipeline draws everything.
    pub const fn with_pose_cache(mut self) -> Self {
        self.pose_cache = true;
        self
    }

    /// Reads the sums of morph targets that a compute pass has stored
    /// ([`RendererDescriptor::morph_bytes`](super::RendererDescriptor::morph_bytes)).
    ///
    /// The game then needs two pipelines: for a part with [`CustomPart::morphs_added`] one made from
    /// [`pipeline::added_morphs_source`](crate::pipeline::added_morphs_source), else one from
    /// [`pipeline::source`](crate::pipeline::source). Without this method, one pipeline draws everything, and asks for each
    /// vertex whether its sums are stored, which takes longer.
    pub const fn with_added_morphs(mut self) -> Self {
        self.added_morphs = true;
        self
    }

    /// Draws only the parts whose material is blended ([`Material::alpha_blend`](crate::pipeline::Material::alpha_blend)), or only
    /// those whose material is not. Without this method, all parts are drawn.
    pub const fn blended_parts(mut self, blended: bool) -> Self {
        self.blended = Some(blended);
        self
    }

    fn draws(self, part: &DrawnPart) -> bool {
        self.blended.is_none_or(|blended| part.pipelines.blends() == blended)
    }
}

/// Part of a mesh that is about to be drawn, passed to the callback of [`Crowd::draw_with`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CustomPart {
    /// Index of the part's material in the model, or in the attached prop.
    pub material: u32,
    /// Number of the first instance of this draw. The sum of it and `gpuskin_instance_number` in the shader is the number that
    /// [`Crowd::id_at`] turns into an [`InstanceId`](super::InstanceId).
    pub first_instance: u32,
    /// Whether vertices come from the pose cache; only with [`CustomDraw::with_pose_cache`].
    pub cached: bool,
    /// Whether a compute pass has added the morph targets; only with [`CustomDraw::with_added_morphs`].
    pub morphs_added: bool,
    /// Whether the model has no normals here: its triangles are shaded flat, from derivatives of the position.
    pub flat: bool,
}

impl CustomPart {
    fn of(part: &DrawnPart) -> Self {
        Self {
            material: part.mesh.material,
            first_instance: 0,
            cached: false,
            morphs_added: false,
            flat: part.mesh.flat,
        }
    }
}

impl<M> Crowd<M> {
    /// Draws the crowd, as of the last [`CrowdRenderer::prepare`](super::CrowdRenderer::prepare), with the game's own pipeline.
    ///
    /// Make the pipeline from [`pipeline::source`](crate::pipeline::source),
    /// [`pipeline::vertex_buffers`](crate::pipeline::vertex_buffers) and
    /// [`CrowdRenderer::model_layout`](super::CrowdRenderer::model_layout), and set it in `pass` or in `part`. `part` is called
    /// before each draw call, and may set the bind groups of a material. The draw calls of a crowd are split by part, by
    /// palette buffer and, where the device needs it, by LOD.
    ///
    /// The pipeline reads poses from a palette. Crowds of more than [`CrowdDescriptor::pose_bytes`](super::CrowdDescriptor::pose_bytes)
    /// have one for all visible instances from the second frame on; with `pose_bytes: u64::MAX` from the first.
    ///
    /// Culled instances are not drawn. If the camera of the pass is not that of the main view, add a view for it with
    /// [`CrowdRenderer::add_view`](super::CrowdRenderer::add_view).
    ///
    /// ```no_run
    /// # use gpuskin_rt::{wgpu, Crowd};
    /// use gpuskin_rt::pipeline::CustomDraw;
    ///
    /// # fn draw<M>(crowd: &Crowd<M>, pass: &mut wgpu::RenderPass<'_>, outline: &wgpu::RenderPipeline, materials: &[wgpu::BindGroup]) {
    /// pass.set_pipeline(outline);
    /// crowd.draw_with(pass, CustomDraw::new(1), |pass, part| {
    ///     pass.set_bind_group(2, &materials[part.material as usize], &[]);
    /// });
    /// # }
    /// ```
    pub fn draw_with(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        draw: CustomDraw,
        mut part: impl FnMut(&mut wgpu::RenderPass<'_>, CustomPart),
    ) {
        let CustomDraw { group, view, attachment, pose_cache, added_morphs, blended: _ } = draw;
        let prop = match attachment.map(|id| self.attached(id)) {
            None => None,
            Some(Ok(prop)) => Some(prop),
            Some(Err(_)) => return,
        };
        let Some(drawn) = self.core.drawn_with_poses(None) else { return };
        let geometry = &self.core.model.geometry;
        for (number, run) in drawn.draw_runs(view).enumerate() {
            let first_instance = run.first;
            if let Some(prop) = &prop {
                geometry.bind(pass, group, &run);
                prop.draw(pass, view, number, &run, |pass, drawn| {
                    let draws = draw.draws(drawn);
                    if draws {
                        part(pass, CustomPart { first_instance, ..CustomPart::of(drawn) });
                    }
                    draws
                });
                continue;
            }
            if run.others() == Some(OtherPoses::Slotless) {
                // The game's pipeline reads bones from the palette.
                self.core.needs_all_poses();
                continue;
            }
            let cached = pose_cache && geometry.bind_others(pass, group, &run).is_some();
            if !pose_cache {
                geometry.bind(pass, group, &run);
            }
            let added = |palette: &PaletteDraw<'_>| added_morphs && !cached && palette.morphs_added;
            let morphs_added = run.palette.as_ref().is_some_and(added);
            for (i, drawn) in self.core.parts.iter().enumerate().filter(|(_, drawn)| draw.draws(drawn)) {
                part(pass, CustomPart { first_instance, cached, morphs_added, ..CustomPart::of(drawn) });
                draw_part(pass, i, &drawn.mesh, &run);
            }
        }
    }
}

impl<M> Field<M> {
    /// Draws all instances of the field with the game's own pipeline.
    ///
    /// Make the pipeline from [`pipeline::field_source`](crate::pipeline::field_source),
    /// [`pipeline::field_vertex_buffers`](crate::pipeline::field_vertex_buffers) and
    /// [`CrowdRenderer::field_layout`](super::CrowdRenderer::field_layout). Fields have one level of detail and no attachments,
    /// and are not culled here: of `draw`, only the group and [`CustomDraw::blended_parts`] have an effect.
    pub fn draw_with(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        draw: CustomDraw,
        mut part: impl FnMut(&mut wgpu::RenderPass<'_>, CustomPart),
    ) {
        self.core.draw(pass, draw.group, |pass, _, drawn| {
            let draws = draw.draws(drawn);
            if draws {
                part(pass, CustomPart::of(drawn));
            }
            draws
        });
    }
}
