//! Crowds of the render world.

use bevy::ecs::entity::EntityHashMap;
use bevy::prelude::*;
use bevy::render::MainWorld;
use bevy::render::render_resource::PipelineCache;
use bevy::render::renderer::{RenderDevice, RenderQueue};
use gpuskin_rt::pipeline::{CustomDraw, CustomPart, Variant};
use gpuskin_rt::{
    BakedModel, Crowd, CrowdDescriptor, CrowdRenderer, Error, InstanceId, Model, RendererDescriptor, View, wgpu,
};

use super::material::{Materials, PartMaterial};
use crate::GpuskinPlugin;
use crate::outbox::{Batch, Command, Outbox};

/// Options of the renderer.
#[derive(Resource, Debug)]
pub(crate) struct Options(pub(crate) GpuskinPlugin);

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
}

impl CharacterRenderer {
    /// Returns the view in which a camera, an entity of the main world, draws characters.
    pub fn view_of(&self, camera: Entity) -> Option<View> {
        self.cameras.get(&camera).copied()
    }

    /// Returns gpuskin's renderer.
    pub const fn renderer(&self) -> &CrowdRenderer {
        &self.renderer
    }

    /// Returns the crowd of a model; `None` before its first character is drawn.
    pub fn crowd<M: BakedModel>(&self) -> Option<&Crowd<M>> {
        self.crowds.iter().find_map(|drawn| drawn.crowd.as_any().downcast_ref())
    }
}

/// A crowd with what draws it.
#[derive(Debug)]
pub(super) struct DrawnCrowd {
    pub(super) crowd: Box<dyn AnyCrowd>,
    pub(super) variant: Variant,
    /// By the index of the material in the model.
    pub(super) materials: Vec<PartMaterial>,
    /// Whether some part is shaded flat.
    pub(super) has_flat_parts: bool,
}

/// A crowd of any model.
pub(super) trait AnyCrowd: Send + Sync + core::fmt::Debug {
    fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        draw: CustomDraw,
        part: &mut dyn FnMut(&mut wgpu::RenderPass<'_>, CustomPart),
    );
    fn as_any(&self) -> &dyn core::any::Any;
}

impl<M: BakedModel> AnyCrowd for Crowd<M> {
    fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        draw: CustomDraw,
        part: &mut dyn FnMut(&mut wgpu::RenderPass<'_>, CustomPart),
    ) {
        self.draw_with(pass, draw, part);
    }

    fn as_any(&self) -> &dyn core::any::Any {
        self
    }
}

/// Batches of a model that are not applied yet, and its crowd.
#[derive(Resource, Debug)]
pub(crate) struct Inbox<M: 'static> {
    descriptor: CrowdDescriptor,
    batches: Vec<Batch<M>>,
    crowd: Option<Crowd<M>>,
    /// Instances by slot.
    ids: Vec<Option<InstanceId>>,
    /// Whether the crowd could not be made; said once.
    failed: bool,
    scratch: Vec<InstanceId>,
}

impl<M> Inbox<M> {
    pub(crate) fn new(descriptor: &CrowdDescriptor) -> Self {
        Self {
            descriptor: descriptor.clone(),
            batches: Vec::new(),
            crowd: None,
            ids: Vec::new(),
            failed: false,
            scratch: Vec::new(),
        }
    }
}

/// Makes the renderer.
pub(crate) fn start(mut commands: Commands, device: Res<RenderDevice>, queue: Res<RenderQueue>, options: Res<Options>) {
    let descriptor = RendererDescriptor {
        depth_compare: wgpu::CompareFunction::GreaterEqual,
        lod_error: options.0.lod_error,
        motion_vectors: options.0.motion_vectors,
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

/// Takes the batches of a model.
pub(crate) fn extract<M: BakedModel>(mut main_world: ResMut<MainWorld>, mut inbox: ResMut<Inbox<M>>) {
    if let Some(mut outbox) = main_world.get_resource_mut::<Outbox<M>>() {
        inbox.batches.append(&mut outbox.bypass_change_detection().take());
    }
}

/// Applies the batches of a model to its crowd.
pub(crate) fn apply<M: BakedModel>(
    mut inbox: ResMut<Inbox<M>>,
    renderer: Option<ResMut<CharacterRenderer>>,
    (device, queue): (Res<RenderDevice>, Res<RenderQueue>),
    cache: Res<PipelineCache>,
) {
    let inbox = &mut *inbox;
    let Some(mut renderer) = renderer else { return inbox.batches.clear() };
    for batch in inbox.batches.drain(..) {
        if inbox.crowd.is_none() && !inbox.failed {
            match make::<M>(&mut renderer, (device.wgpu_device(), &queue), &cache, &inbox.descriptor) {
                Ok(crowd) => inbox.crowd = Some(crowd),
                Err(error) => {
                    error!("characters of the model {} are not drawn: {error}", M::MODEL.meta.name);
                    inbox.failed = true;
                }
            }
        }
        let Some(crowd) = &inbox.crowd else { continue };
        renderer.renderer.set_time(batch.time);
        if let Err(error) = apply_batch(crowd, &mut inbox.ids, &mut inbox.scratch, batch) {
            error!("a command to characters of the model {} failed: {error}", M::MODEL.meta.name);
        }
    }
}

fn make<M: BakedModel>(
    renderer: &mut CharacterRenderer,
    gpu: (&wgpu::Device, &wgpu::Queue),
    cache: &PipelineCache,
    descriptor: &CrowdDescriptor,
) -> Result<Crowd<M>, Error> {
    let crowd = Crowd::<M>::new(&mut renderer.renderer, descriptor.clone())?;
    let model: &Model = M::MODEL;
    let materials = renderer.materials.of_model(&mut renderer.renderer, gpu, cache, model)?;
    renderer.crowds.push(DrawnCrowd {
        variant: crowd.variant(),
        has_flat_parts: model.meta.mesh.parts.iter().any(|part| part.flat),
        materials,
        crowd: Box::new(crowd.clone()),
    });
    Ok(crowd)
}

fn apply_batch<M: BakedModel>(
    crowd: &Crowd<M>,
    ids: &mut Vec<Option<InstanceId>>,
    scratch: &mut Vec<InstanceId>,
    batch: Batch<M>,
) -> Result<(), Error> {
    let Batch { time: _, despawned, spawned, moved, transforms, shown, commands } = batch;
    scratch.clear();
    scratch.extend(despawned.into_iter().filter_map(|slot| ids.get_mut(slot as usize)?.take()));
    crowd.despawn_many(scratch)?;

    let new = crowd.spawn_many(spawned.iter().map(|(_, instance)| *instance));
    for ((slot, _), id) in spawned.iter().zip(new) {
        let slot = *slot as usize;
        if ids.len() <= slot {
            ids.resize(slot + 1, None);
        }
        ids[slot] = Some(id);
    }

    let id_of = |slot: u32| ids.get(slot as usize).copied().flatten();
    scratch.clear();
    scratch.extend(moved.iter().filter_map(|slot| id_of(*slot)));
    // Each of them was spawned in this batch or an earlier one, so that the lengths are equal.
    crowd.set_transforms(scratch, &transforms)?;
    for (slot, visible) in shown {
        id_of(slot).map_or(Ok(()), |id| crowd.set_visible(id, visible))?;
    }
    for (slot, command) in commands {
        let Some(id) = id_of(slot) else { continue };
        match command {
            Command::Play(clip, transition) => crowd.play(id, clip, transition),
            Command::Speed(speed) => crowd.set_speed(id, speed),
            Command::Seek(seconds) => crowd.seek(id, seconds),
            Command::Pause(paused) => crowd.set_paused(id, paused),
            Command::Tint(tint) => crowd.set_tint(id, tint),
            Command::Custom(words) => crowd.set_custom(id, words),
            Command::Part(part, visible) => crowd.set_part_visible(id, part, visible),
        }?;
    }
    Ok(())
}
