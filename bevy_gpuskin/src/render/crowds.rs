//! Crowds of the render world.

use bevy::ecs::entity::EntityHashMap;
use bevy::prelude::*;
use bevy::render::MainWorld;
use bevy::render::render_resource::PipelineCache;
use bevy::render::renderer::{RenderDevice, RenderQueue};
use gpuskin_rt::pipeline::{CustomDraw, CustomPart, Variant};
use gpuskin_rt::{
    Aabb, Attachment, AttachmentId, BakedModel, Camera, Crowd, CrowdDescriptor, CrowdRenderer, Error, Field,
    FieldDescriptor, Model, RendererDescriptor, View, wgpu,
};

use super::material::{Materials, PartMaterial};
use super::shader::SurfaceCode;
use crate::outbox::Group;

/// Options of the renderer: those of [`GpuskinPlugin`](crate::GpuskinPlugin).
#[derive(Resource, Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) lod_error: f32,
    pub(crate) motion_vectors: bool,
}

/// gpuskin's renderer in the render world, on Bevy's device.
///
/// Systems of the render world may use it for what has no component, such as `Crowd::count_drawn` in tests.
#[derive(Resource, Debug)]
pub struct CharacterRenderer {
    pub(super) renderer: CrowdRenderer,
    pub(super) materials: Materials,
    pub(super) crowds: Vec<DrawnCrowd>,
    /// Views of the cameras of this frame, by the camera's entity in the main world.
    pub(super) cameras: EntityHashMap<View>,
    /// Time of the frame, seconds.
    pub(super) time: f64,
    /// Bind group that replaces bevy_pbr's `mesh_bindings` in pipelines of extensions; `None` until it is needed.
    pub(super) extended_mesh: Option<wgpu::BindGroup>,
}

impl CharacterRenderer {
    /// Returns the view in which a camera, an entity of the main world, draws characters.
    pub fn view_of(&self, camera: Entity) -> Option<View> {
        self.cameras.get(&camera).copied()
    }

    /// Returns the time of the frame, of [`Time<Virtual>`](bevy::time::Virtual): seconds.
    pub const fn time(&self) -> f64 {
        self.time
    }

    /// Returns gpuskin's renderer.
    pub const fn renderer(&self) -> &CrowdRenderer {
        &self.renderer
    }

    /// Returns the crowd of the characters of a model; `None` before the first of them is drawn. Characters that differ in their
    /// render layers, or in how shadows treat them, are in crowds of their own: this is the one that was made first.
    pub fn crowd<M: BakedModel>(&self) -> Option<&Crowd<M>> {
        let mut shared = self.crowds.iter().filter(|drawn| drawn.owner.is_none());
        shared.find_map(|drawn| drawn.crowd.as_any().downcast_ref())
    }

    /// Returns the crowd of a [`CharacterCrowd`](crate::CharacterCrowd), an entity of the main world.
    pub fn crowd_of<M: BakedModel>(&self, entity: Entity) -> Option<&Crowd<M>> {
        self.crowds
            .iter()
            .filter(|drawn| drawn.owner == Some(entity))
            .find_map(|drawn| drawn.crowd.as_any().downcast_ref())
    }

    /// Returns the field of a [`CharacterField`](crate::CharacterField), an entity of the main world.
    pub fn field_of<M: BakedModel>(&self, entity: Entity) -> Option<&Field<M>> {
        self.crowds
            .iter()
            .filter(|drawn| drawn.owner == Some(entity))
            .find_map(|drawn| drawn.crowd.as_any().downcast_ref())
    }
}

/// A crowd with what draws it.
#[derive(Debug)]
pub(super) struct DrawnCrowd {
    pub(super) crowd: Box<dyn AnyCrowd>,
    /// The model itself, then its attachments.
    pub(super) meshes: Vec<DrawnMesh>,
    /// Function of the game that changes surfaces.
    pub(super) surface: Option<SurfaceCode>,
    pub(super) group: Group,
    pub(super) visible: bool,
    /// Entity of the main world that is this crowd; `None` if each instance is an entity.
    pub(super) owner: Option<Entity>,
}

impl DrawnCrowd {
    /// Whether all materials have the bind groups of the extension, if there is one.
    pub(super) fn is_ready(&self) -> bool {
        let has_all = |mesh: &DrawnMesh| mesh.materials.iter().all(|material| material.extended.is_some());
        self.group.extension.is_none() || self.meshes.iter().all(has_all)
    }

    /// Sets what decides which views draw the crowd, and how.
    pub(super) fn draw_as(&mut self, group: Group, visible: bool) {
        let is_other = self.group.extension != group.extension;
        (self.group, self.visible) = (group, visible);
        // The bind groups are those of another extension.
        for material in self.meshes.iter_mut().flat_map(|mesh| &mut mesh.materials).filter(|_| is_other) {
            material.extended = None;
        }
    }

    /// Returns the place by which blended parts are sorted, world space, metres; `None` if there are none.
    pub(super) fn blended_center(&self) -> Option<Vec3> {
        if !self.visible || !self.meshes.iter().any(|mesh| mesh.has_blended_parts) {
            return None;
        }
        self.crowd.center()
    }
}

/// A model that is drawn for each instance of a crowd.
#[derive(Debug)]
pub(super) struct DrawnMesh {
    /// Whether the instances are those of a field.
    pub(super) is_field: bool,
    pub(super) model: &'static Model,
    pub(super) variant: Variant,
    /// By the index of the material in the model.
    pub(super) materials: Vec<PartMaterial>,
    /// Whether some part is shaded flat.
    pub(super) has_flat_parts: bool,
    /// Whether some material is blended.
    pub(super) has_blended_parts: bool,
    pub(super) attachment: Option<AttachmentId>,
}

impl DrawnMesh {
    /// Returns the layer that the base colour of a material has in its texture, in a variant of the crowd's model. Attachments have
    /// their own look.
    pub(super) fn base_color_layer(&self, material: usize, variant: u8) -> u8 {
        let variant = if self.attachment.is_some() { 0 } else { variant };
        self.model.meta.materials()[material].base_color_layer(variant).unwrap_or(0)
    }
}

/// A crowd of any model.
pub(super) trait AnyCrowd: Send + Sync + core::fmt::Debug {
    fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        draw: CustomDraw,
        part: &mut dyn FnMut(&mut wgpu::RenderPass<'_>, CustomPart),
    );
    /// Returns the mean position of the instances, world space, metres: of all of a small crowd, of some of a large one.
    fn center(&self) -> Option<Vec3>;
    /// Whether a view may show anything, before the GPU culls.
    fn is_in_view(&self, camera: &Camera) -> bool;
    fn as_any(&self) -> &dyn core::any::Any;
}

/// Number of instances from which [`AnyCrowd::center`] is computed, at most.
const CENTER_SAMPLES: usize = 64;

impl<M: BakedModel> AnyCrowd for Crowd<M> {
    fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        draw: CustomDraw,
        part: &mut dyn FnMut(&mut wgpu::RenderPass<'_>, CustomPart),
    ) {
        self.draw_with(pass, draw, part);
    }

    fn center(&self) -> Option<Vec3> {
        let bounds = &self.meta().bounds;
        let middle = 0.5 * (Vec3::from(bounds.min) + Vec3::from(bounds.max));
        let samples = self.len().min(CENTER_SAMPLES);
        let place = |i: usize| {
            let id = self.id_at(u32::try_from(i * self.len() / samples).ok()?)?;
            let transform = self.get(id)?.transform();
            Some(Vec3::from(transform.translation) + Quat::from_array(transform.rotation) * (middle * transform.scale))
        };
        let places: Vec<_> = (0..samples).filter_map(place).collect();
        (!places.is_empty()).then(|| places.iter().sum::<Vec3>() / places.len() as f32)
    }

    fn is_in_view(&self, _: &Camera) -> bool {
        true
    }

    fn as_any(&self) -> &dyn core::any::Any {
        self
    }
}

impl<M: BakedModel> AnyCrowd for Field<M> {
    fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        draw: CustomDraw,
        part: &mut dyn FnMut(&mut wgpu::RenderPass<'_>, CustomPart),
    ) {
        self.draw_with(pass, draw, part);
    }

    fn center(&self) -> Option<Vec3> {
        let Aabb { min, max } = self.bounds()?;
        Some(0.5 * (Vec3::from(min) + Vec3::from(max)))
    }

    fn is_in_view(&self, camera: &Camera) -> bool {
        self.is_in_view_of(camera)
    }

    fn as_any(&self) -> &dyn core::any::Any {
        self
    }
}

/// Makes the renderer.
pub(crate) fn start(mut commands: Commands, device: Res<RenderDevice>, queue: Res<RenderQueue>, options: Res<Options>) {
    let descriptor = RendererDescriptor {
        depth_compare: wgpu::CompareFunction::GreaterEqual,
        lod_error: options.lod_error,
        motion_vectors: options.motion_vectors,
        ..Default::default()
    };
    match CrowdRenderer::new(device.wgpu_device(), &queue, descriptor) {
        Ok(renderer) => {
            let materials = Materials::new(device.wgpu_device(), &queue);
            commands.insert_resource(CharacterRenderer {
                renderer,
                materials,
                crowds: Vec::new(),
                cameras: EntityHashMap::default(),
                time: 0.0,
                extended_mesh: None,
            });
        }
        Err(error) => error!("characters are not drawn: {error}"),
    }
}

/// Copies the time of the frame.
pub(crate) fn extract_time(main_world: Res<MainWorld>, renderer: Option<ResMut<CharacterRenderer>>) {
    let (Some(mut renderer), Some(time)) = (renderer, main_world.get_resource::<Time<Virtual>>()) else { return };
    renderer.time = time.elapsed_secs_f64();
}

/// Device, queue and pipelines of Bevy.
#[derive(Clone, Copy)]
pub(super) struct Gpu<'a> {
    pub(super) device: &'a wgpu::Device,
    pub(super) queue: &'a wgpu::Queue,
    pub(super) cache: &'a PipelineCache,
}

/// Models and code that the crowds of a model draw.
#[derive(Debug)]
pub(super) struct Looks<M: 'static> {
    /// Bake of the model.
    pub(super) model: &'static Model,
    pub(super) props: Vec<(&'static Model, Attachment<M>)>,
    /// Function of the game that changes surfaces.
    pub(super) surface: Option<SurfaceCode>,
}

/// A crowd of a known model.
#[derive(Debug)]
pub(super) struct MadeCrowd<M> {
    pub(super) crowd: Crowd<M>,
    /// By the number of the attachment in the plugin.
    pub(super) attachments: Vec<AttachmentId>,
}

impl CharacterRenderer {
    /// Makes a crowd, and draws it from now on.
    pub(super) fn make<M: BakedModel>(
        &mut self,
        gpu: Gpu<'_>,
        descriptor: CrowdDescriptor,
        looks: &Looks<M>,
        (group, owner): (Group, Option<Entity>),
    ) -> Result<MadeCrowd<M>, Error> {
        let (made, meshes) = self.build(gpu, descriptor, looks)?;
        let (crowd, surface) = (Box::new(made.crowd.clone()), looks.surface);
        self.crowds.push(DrawnCrowd { crowd, meshes, surface, group, visible: true, owner });
        Ok(made)
    }

    /// Makes a crowd without drawing it.
    pub(super) fn build<M: BakedModel>(
        &mut self,
        gpu: Gpu<'_>,
        descriptor: CrowdDescriptor,
        looks: &Looks<M>,
    ) -> Result<(MadeCrowd<M>, Vec<DrawnMesh>), Error> {
        let Looks { model, props, surface } = looks;
        // Bevy's pipelines read bones from a palette alone.
        let descriptor = CrowdDescriptor { pose_bytes: u64::MAX, ..descriptor };
        let crowd = match core::ptr::eq(*model, M::MODEL) {
            true => Crowd::<M>::new(&mut self.renderer, descriptor)?,
            false => Crowd::<M>::reloaded(&mut self.renderer, model, descriptor)?,
        };
        let mut meshes = vec![self.mesh(gpu, model, crowd.variant(), None, *surface)?];
        let mut attachments = Vec::new();
        for (prop, attachment) in props {
            let id = crowd.attach(&mut self.renderer, prop, *attachment)?;
            meshes.push(self.mesh(gpu, prop, crowd.attachment_variant(id)?, Some(id), *surface)?);
            attachments.push(id);
        }
        Ok((MadeCrowd { crowd, attachments }, meshes))
    }

    /// Makes a field, and draws it from now on.
    pub(super) fn make_field<M: BakedModel>(
        &mut self,
        gpu: Gpu<'_>,
        descriptor: FieldDescriptor<M>,
        looks: &Looks<M>,
        (group, owner): (Group, Entity),
        visible: bool,
    ) -> Result<(), Error> {
        let (field, meshes) = self.build_field(gpu, descriptor, looks)?;
        let (crowd, surface) = (Box::new(field), looks.surface);
        self.crowds.push(DrawnCrowd { crowd, meshes, surface, group, visible, owner: Some(owner) });
        Ok(())
    }

    /// Makes a field without drawing it.
    pub(super) fn build_field<M: BakedModel>(
        &mut self,
        gpu: Gpu<'_>,
        descriptor: FieldDescriptor<M>,
        looks: &Looks<M>,
    ) -> Result<(Field<M>, Vec<DrawnMesh>), Error> {
        let Looks { model, props: _, surface } = looks;
        let field = match core::ptr::eq(*model, M::MODEL) {
            true => Field::<M>::new(&mut self.renderer, descriptor)?,
            false => Field::<M>::reloaded(&mut self.renderer, model, descriptor)?,
        };
        let mesh = self.mesh(gpu, model, field.variant(), None, *surface)?;
        Ok((field, vec![DrawnMesh { is_field: true, ..mesh }]))
    }

    fn mesh(
        &mut self,
        gpu: Gpu<'_>,
        model: &'static Model,
        variant: Variant,
        attachment: Option<AttachmentId>,
        surface: Option<SurfaceCode>,
    ) -> Result<DrawnMesh, Error> {
        let materials = self.materials.of_model(
            &mut self.renderer,
            (gpu.device, gpu.queue),
            gpu.cache,
            model,
            variant.has_variants(),
            surface,
        )?;
        let has_flat_parts = model.meta.mesh.parts.iter().any(|part| part.flat);
        let has_blended_parts = model.meta.materials().iter().any(|material| material.alpha_blend);
        Ok(DrawnMesh { is_field: false, model, variant, materials, has_flat_parts, has_blended_parts, attachment })
    }
}
