//! Attachments: props fixed to a bone of every instance of a crowd. A prop is a mesh whose vertices
//! are all rigidly bound to one bone of the owner. The owner's shader draws it, from the owner's
//! instances, without per-instance work on the CPU.

use std::sync::Arc;

use glam::Vec3;

use super::attachments::{AttachedProp, format, mesh};
use super::gpu::guarded;
use super::gpu_model::playable;
use super::{AttachmentId, Crowd, CrowdRenderer, Error, InstanceId, StaleId};
use crate::shader::{MorphUse, Variant};
use crate::{Appearance, Attachment, Model};

impl<M> Crowd<M> {
    /// Attaches a prop to a bone of every instance: a sword for each soldier.
    /// [`CrowdRenderer::draw`] and [`CrowdRenderer::draw_depth`] draw it with the instance, and it
    /// follows fades, layers and live bones, without per-instance work on the CPU. The prop is any
    /// baked model, in the first frame of its first clip. It shows after the next
    /// [`CrowdRenderer::prepare`], on all instances. [`Crowd::set_attachment_visible`] shows or hides it per
    /// instance, and [`Attachment::with_part`] ties it to a part of the owner.
    ///
    /// A crowd has at most 14 attachments. `renderer` must be the crowd's own.
    ///
    /// ```no_run
    /// # use gpuskin_rt::*;
    /// # fn example<Soldier: BakedModel>(renderer: &mut CrowdRenderer, soldiers: &Crowd<Soldier>, sword: &Model,
    /// #   hand: Bone<Soldier>, recruit: InstanceId) -> Result<(), Error> {
    /// let sword = soldiers.attach(renderer, sword, Attachment::to(hand).at([0.0, 0.08, 0.0]))?;
    /// soldiers.set_attachment_visible(recruit, sword, false)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the crowd's model was baked in vertex mode or lacks the bone or part, if the crowd has
    /// the largest number of attachments already, if the renderer is another one, or if the prop
    /// cannot be loaded.
    pub fn attach(
        &self,
        renderer: &mut CrowdRenderer,
        prop: &Model,
        attachment: Attachment<M>,
    ) -> Result<AttachmentId, Error> {
        let wrong = |reason: String| Err(Error::Argument { model: self.meta.name.to_string(), reason });
        if !renderer.draws(&self.core) {
            return wrong("attach: the crowd belongs to another renderer; pass the renderer that created it".into());
        }
        if self.core.model.geometry.variant.encoding.is_vertex() {
            let remedy = "bake it with mode = \"bone\" in gpuskin.toml";
            return wrong(format!("attach: the model was baked in vertex mode and has no bones; {remedy}"));
        }
        let (bone, part) = (attachment.bone.index(), attachment.part.map(|part| part.index()));
        let Some(bound) = attachment.bound(&self.meta) else {
            return wrong(format!("attach: bone {bone} does not exist; the model has {} bones", self.meta.bones.len()));
        };
        if let Some(part) = part.filter(|part| usize::from(*part) >= self.meta.parts.len()) {
            return wrong(format!("attach: part {part} does not exist; the model has {} parts", self.meta.parts.len()));
        }
        let Some(slot) = self.core.state_mut().attachments.free() else {
            let max = Appearance::MAX_ATTACHMENTS;
            return wrong(format!("attach: the crowd already has {max} attachments, the maximum; detach one first"));
        };
        let device = renderer.gpu().device.clone();
        let own = Appearance::attachment_number(slot);
        let mesh = mesh(playable(&device, prop)?, bone.into(), part.map_or(own, |part| u32::from(part) + 1), &bound)?;
        let of_crowd = self.variant();
        let morphs = if of_crowd.morphs == MorphUse::None { MorphUse::None } else { MorphUse::Bound };
        let variant = Variant { vertex: format(&prop.meta), morphs, model_variants: false, ..of_crowd };
        let on_device = renderer.prop(prop, variant)?;
        let mut attached = guarded(&device, || Ok(AttachedProp::new(renderer.gpu(), variant, on_device, &mesh)))?;
        // A bone outside the mesh extends the bounds further.
        let rest = &self.meta.rest_bounds;
        let origin = bound.origin();
        let outside = origin.distance(origin.clamp(Vec3::from(rest.min), Vec3::from(rest.max).max(rest.min.into())));
        attached.reach += if outside.is_finite() { outside } else { 0.0 };

        let state = &mut *self.core.state_mut();
        state.instances.show_all(1 << own);
        state.bounds_changed |= attached.reach > state.attachments.reach();
        let slots = &mut state.attachments.slots;
        slots[slot].attached = Some(Arc::new(attached));
        Ok(AttachmentId { crowd: state.instances.crowd(), slot: slot as u32, generation: slots[slot].generation })
    }

    /// Removes an attachment from all instances.
    ///
    /// # Errors
    /// If the attachment no longer exists.
    pub fn detach(&self, id: AttachmentId) -> Result<(), StaleId> {
        let state = &mut *self.core.state_mut();
        state.attachments.get(state.instances.crowd(), id)?;
        state.attachments.slots[id.slot as usize].attached = None;
        Ok(())
    }

    /// Shows or hides an attachment on one instance.
    ///
    /// Instances that are spawned, or [set](Crowd::set), show all attachments. An attachment [with a part](Attachment::with_part)
    /// follows the visibility of that part instead, and this has no effect on it.
    ///
    /// # Errors
    /// If the instance or the attachment no longer exists.
    pub fn set_attachment_visible(
        &self,
        instance: InstanceId,
        attachment: AttachmentId,
        visible: bool,
    ) -> Result<(), StaleId> {
        let state = &mut *self.core.state_mut();
        state.attachments.get(state.instances.crowd(), attachment)?;
        let bit = 1 << Appearance::attachment_number(attachment.slot as usize);
        state.instances.change_appearance(instance, |appearance| appearance.show(bit, visible))
    }

    /// Returns the shader variant of an attachment, for a game's own pipelines: the crowd's variant with another vertex format.
    ///
    /// # Errors
    /// If the attachment no longer exists.
    pub fn attachment_variant(&self, id: AttachmentId) -> Result<Variant, StaleId> {
        Ok(self.attached(id)?.variant)
    }

    pub(super) fn attached(&self, id: AttachmentId) -> Result<Arc<AttachedProp>, StaleId> {
        let state = self.core.state();
        state.attachments.get(state.instances.crowd(), id).cloned()
    }
}
