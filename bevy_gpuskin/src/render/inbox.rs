//! Applies the batches of the main world to crowds.

use bevy::ecs::entity::EntityHashMap;
use bevy::prelude::*;
use bevy::render::MainWorld;
use bevy::render::render_resource::PipelineCache;
use bevy::render::renderer::{RenderDevice, RenderQueue};
use gpuskin_rt::{Attachment, BakedModel, Crowd, CrowdDescriptor, Error, Field, InstanceId, LiveBones, Model};

use super::crowds::{CharacterRenderer, DrawnCrowd, Gpu, Looks, MadeCrowd};
use super::shader::SurfaceCode;
#[cfg(feature = "assets")]
use crate::outbox::Refusal;
use crate::outbox::{Batch, Command, CrowdChange, FieldChange, Group, GroupIndex, LayerStart, Outbox, Slot};

/// Batches of a model that are not applied yet, and its crowds.
#[derive(Resource)]
pub(crate) struct Inbox<M: 'static> {
    pub(super) descriptor: CrowdDescriptor,
    pub(super) looks: Looks<M>,
    batches: Vec<Batch<M>>,
    /// By the index of the group; `None` before its first character, and if it could not be made.
    pub(super) crowds: Vec<(Group, Option<MadeCrowd<M>>)>,
    /// Group and instance by slot.
    pub(super) instances: Vec<Option<(GroupIndex, InstanceId)>>,
    /// Crowds that are entities.
    pub(super) entities: EntityHashMap<EntityCrowd<M>>,
    /// Whether a crowd could not be made; said once.
    pub(super) failed: bool,
    /// A later bake that is not drawn, until the main world is told.
    #[cfg(feature = "assets")]
    refusal: Option<Refusal>,
}

/// A crowd that is an entity.
#[derive(Debug)]
pub(super) struct EntityCrowd<M> {
    pub(super) made: MadeCrowd<M>,
    /// Instances by their numbers.
    pub(super) ids: Vec<InstanceId>,
    pub(super) descriptor: CrowdDescriptor,
}

impl<M: BakedModel> Inbox<M> {
    pub(crate) fn new(
        descriptor: &CrowdDescriptor,
        props: &[(&'static Model, Attachment<M>)],
        surface: Option<SurfaceCode>,
    ) -> Self {
        Self {
            descriptor: descriptor.clone(),
            looks: Looks { model: M::MODEL, props: props.to_vec(), surface },
            batches: Vec::new(),
            crowds: Vec::new(),
            instances: Vec::new(),
            entities: EntityHashMap::default(),
            failed: false,
            #[cfg(feature = "assets")]
            refusal: None,
        }
    }
}

/// Takes the batches of a model.
pub(crate) fn extract<M: BakedModel>(mut main_world: ResMut<MainWorld>, mut inbox: ResMut<Inbox<M>>) {
    if let Some(mut outbox) = main_world.get_resource_mut::<Outbox<M>>() {
        let outbox = outbox.bypass_change_detection();
        inbox.batches.append(&mut outbox.take());
        #[cfg(feature = "assets")]
        if let Some(refusal) = inbox.refusal.take() {
            outbox.refusal = Some(refusal);
        }
    }
}

/// Applies the batches of a model to its crowds.
pub(crate) fn apply<M: BakedModel>(
    mut inbox: ResMut<Inbox<M>>,
    renderer: Option<ResMut<CharacterRenderer>>,
    (device, queue): (Res<RenderDevice>, Res<RenderQueue>),
    cache: Res<PipelineCache>,
) {
    let inbox = &mut *inbox;
    let batches = std::mem::take(&mut inbox.batches);
    let Some(mut renderer) = renderer else { return };
    let gpu = Gpu { device: device.wgpu_device(), queue: &queue, cache: &cache };
    for batch in batches {
        renderer.renderer.set_time(batch.time);
        inbox.apply(&mut renderer, gpu, batch);
    }
}

/// Logs an error; what else there is to do goes on.
fn log<M: BakedModel, T>(result: Result<T, impl Into<Error>>) {
    if let Err(error) = result {
        error!("a command to characters of the model {} failed: {}", M::MODEL.meta.name, error.into());
    }
}

impl<M: BakedModel> Inbox<M> {
    fn apply(&mut self, renderer: &mut CharacterRenderer, gpu: Gpu<'_>, batch: Batch<M>) {
        let reloads = batch.reloads();
        let Batch { groups, despawned, spawned, regrouped, moved, transforms, shown, commands, .. } = batch;
        let Batch { time: _, model, props, live, live_poses, crowds, fields, .. } = batch;
        self.crowds.extend(groups.into_iter().map(|group| (group, None)));
        let mut is_refused = false;
        if reloads && let Err(error) = self.reload(renderer, gpu, model, props) {
            error!("the new bake of the model {} is not drawn, the earlier one stays: {error}", M::MODEL.meta.name);
            is_refused = true;
            #[cfg(feature = "assets")]
            {
                let drawn_props = self.looks.props.iter().map(|(prop, _)| *prop).collect();
                self.refusal = Some(Refusal { model, drawn: self.looks.model, drawn_props });
            }
        }
        for slot in despawned {
            if let Some((group, id)) = self.instances.get_mut(slot as usize).and_then(Option::take)
                && let Some(made) = self.made(group)
            {
                log::<M, _>(made.crowd.despawn(id));
            }
        }
        // One call per run of characters of a group.
        for run in spawned.chunk_by(|(_, a, _), (_, b, _)| a == b) {
            let group = run[0].1;
            self.make(renderer, gpu, group);
            let Some(made) = self.made(group) else { continue };
            let ids = made.crowd.spawn_many(run.iter().map(|(.., instance)| *instance));
            for ((slot, ..), id) in run.iter().zip(ids) {
                self.set(*slot, group, id);
            }
        }
        for (slot, group) in regrouped {
            self.make(renderer, gpu, group);
            log::<M, _>(self.regroup(slot, group));
        }
        self.transform(&moved, transforms);
        for (slot, visible) in shown {
            let Some((made, id)) = self.get(slot) else { continue };
            log::<M, _>(made.crowd.set_visible(id, visible));
        }
        for (slot, command) in commands {
            let Some((made, id)) = self.get(slot) else { continue };
            log::<M, _>(made.apply(id, command));
        }
        self.pose(&live, &live_poses);
        for (entity, change) in crowds {
            log::<M, _>(self.change(renderer, gpu, entity, change));
        }
        for change in fields {
            log::<M, _>(self.change_field(renderer, gpu, change, model.is_some() && !is_refused));
        }
    }

    fn made(&self, group: GroupIndex) -> Option<&MadeCrowd<M>> {
        self.crowds.get(usize::from(group))?.1.as_ref()
    }

    fn get(&self, slot: Slot) -> Option<(&MadeCrowd<M>, InstanceId)> {
        let (group, id) = self.instances.get(slot as usize).copied().flatten()?;
        Some((self.made(group)?, id))
    }

    fn set(&mut self, slot: Slot, group: GroupIndex, id: InstanceId) {
        let slot = slot as usize;
        if self.instances.len() <= slot {
            self.instances.resize(slot + 1, None);
        }
        self.instances[slot] = Some((group, id));
    }

    /// Makes the crowd of a group, if it is not there.
    fn make(&mut self, renderer: &mut CharacterRenderer, gpu: Gpu<'_>, group: GroupIndex) {
        let Some((group, made @ None)) = self.crowds.get_mut(usize::from(group)) else { return };
        if self.failed {
            return;
        }
        match renderer.make(gpu, self.descriptor.clone(), &self.looks, (group.clone(), None)) {
            Ok(crowd) => *made = Some(crowd),
            Err(error) => {
                error!("characters of the model {} are not drawn: {error}", M::MODEL.meta.name);
                self.failed = true;
            }
        }
    }

    /// Moves an instance to the crowd of another group, where it plays on. The main world sends the pose of its live bones again.
    fn regroup(&mut self, slot: Slot, group: GroupIndex) -> Result<(), Error> {
        let (Some((from, id)), Some(to)) = (self.get(slot), self.made(group)) else { return Ok(()) };
        let (Some(record), Some(appearance)) = (from.crowd.get(id), from.crowd.appearance(id)) else { return Ok(()) };
        let new = to.crowd.adopt(record, appearance)?;
        let carried = from.crowd.layers(id).map_or(Ok(()), |layers| to.crowd.set_layers(new, &layers));
        from.crowd.despawn(id)?;
        self.set(slot, group, new);
        carried
    }

    /// Moves characters: one call per run of characters of a group.
    fn transform(&self, moved: &[Slot], transforms: Vec<gpuskin_rt::Transform>) {
        let placed: Vec<_> = moved
            .iter()
            .zip(transforms)
            .filter_map(|(slot, transform)| {
                let (group, id) = self.instances.get(*slot as usize).copied().flatten()?;
                Some((group, id, transform))
            })
            .collect();
        for run in placed.chunk_by(|(a, ..), (b, ..)| a == b) {
            let Some(made) = self.made(run[0].0) else { continue };
            let (ids, transforms): (Vec<_>, Vec<_>) = run.iter().map(|(_, id, transform)| (*id, *transform)).unzip();
            log::<M, _>(made.crowd.set_transforms(&ids, &transforms));
        }
    }

    /// Sets live bones: one call per run of characters of a group whose bones only move.
    fn pose(&self, live: &[(Slot, Option<f32>)], poses: &[[[f32; 4]; 3]]) {
        let bones = self.looks.model.meta.bones().len();
        // Poses of a bake that is not drawn: the main world sends others.
        if poses.len() != live.len() * bones {
            return;
        }
        let pose = |at: usize, count: usize| LiveBones::Model(&poses[at * bones..(at + count) * bones]);
        let instance = |at: usize| {
            let (slot, fade) = *live.get(at)?;
            let (group, id) = self.instances.get(slot as usize).copied().flatten()?;
            Some((group, id, fade))
        };
        let mut at = 0;
        while at < live.len() {
            let first = at;
            at += 1;
            let Some((group, id, fade)) = instance(first) else { continue };
            let Some(made) = self.made(group) else { continue };
            if let Some(fade) = fade {
                log::<M, _>(made.crowd.set_live_bones(id, pose(first, 1), fade));
                continue;
            }
            let mut ids = vec![id];
            while let Some((_, id, None)) = instance(at).filter(|(next, ..)| *next == group) {
                ids.push(id);
                at += 1;
            }
            if let Err(error) = made.crowd.update_live_bones(&ids, pose(first, ids.len())) {
                error_once!("characters of the model {} do not follow live bones: {error}", M::MODEL.meta.name);
            }
        }
    }

    /// Applies the changes of a crowd that is an entity.
    fn change(
        &mut self,
        renderer: &mut CharacterRenderer,
        gpu: Gpu<'_>,
        entity: Entity,
        change: CrowdChange<M>,
    ) -> Result<(), Error> {
        let is_it = |drawn: &DrawnCrowd| drawn.owner == Some(entity) && drawn.crowd.as_any().is::<Crowd<M>>();
        let CrowdChange::Changed { group, visible, descriptor, commands } = change else {
            renderer.crowds.retain(|drawn| !is_it(drawn));
            self.entities.remove(&entity);
            return Ok(());
        };
        let EntityCrowd { made, ids, .. } = match self.entities.entry(entity) {
            bevy::platform::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            bevy::platform::collections::hash_map::Entry::Vacant(entry) => {
                let made = renderer.make(gpu, descriptor.clone(), &self.looks, (group.clone(), Some(entity)))?;
                entry.insert(EntityCrowd { made, ids: Vec::new(), descriptor })
            }
        };
        for drawn in renderer.crowds.iter_mut().filter(|drawn| is_it(drawn)) {
            drawn.draw_as(group.clone(), visible);
        }
        for command in commands {
            log::<M, _>(command(&made.crowd, ids));
        }
        Ok(())
    }

    /// Applies the changes of a field. `is_reloaded`: whether the batch has a later bake of the model.
    fn change_field(
        &self,
        renderer: &mut CharacterRenderer,
        gpu: Gpu<'_>,
        (entity, change): (Entity, FieldChange<M>),
        is_reloaded: bool,
    ) -> Result<(), Error> {
        let is_it = |drawn: &DrawnCrowd| drawn.owner == Some(entity) && drawn.crowd.as_any().is::<Field<M>>();
        let FieldChange::Changed { group, visible, descriptor } = change else {
            renderer.crowds.retain(|drawn| !is_it(drawn));
            return Ok(());
        };
        let Some(drawn) = renderer.crowds.iter_mut().find(|drawn| is_it(drawn)) else {
            return renderer.make_field(gpu, *descriptor, &self.looks, (group, entity), visible);
        };
        drawn.draw_as(group, visible);
        if let Some(field) = drawn.crowd.as_any().downcast_ref::<Field<M>>() {
            field.set(&descriptor)?;
        }
        match is_reloaded {
            true => self.reload_field(renderer, gpu, entity, *descriptor),
            false => Ok(()),
        }
    }
}

impl<M: BakedModel> MadeCrowd<M> {
    fn apply(&self, id: InstanceId, command: Command<M>) -> Result<(), Error> {
        let crowd = &self.crowd;
        match command {
            Command::Play(clip, transition) => crowd.play(id, clip, transition)?,
            Command::Speed(speed) => crowd.set_speed(id, speed)?,
            Command::Seek(seconds) => crowd.seek(id, seconds)?,
            Command::Pause(paused) => crowd.set_paused(id, paused)?,
            Command::Layer(LayerStart { layer, clip, mask, transition, weight, once }) => match once {
                true => crowd.play_layer_once(id, layer, clip, mask, transition, weight)?,
                false => crowd.play_layer(id, layer, clip, mask, transition, weight)?,
            },
            Command::LayerWeight(layer, weight, seconds) => crowd.set_layer_weight(id, layer, weight, seconds)?,
            Command::Tint(tint) => crowd.set_tint(id, tint)?,
            Command::Custom(words) => crowd.set_custom(id, words)?,
            Command::ReleaseLive(seconds) => crowd.release_live_bones(id, seconds)?,
            Command::Variant(variant) => crowd.set_variant(id, variant)?,
            Command::Part(part, visible) => crowd.set_part_visible(id, part, visible)?,
            Command::Attachment(index, visible) => match self.attachments.get(index) {
                Some(attachment) => crowd.set_attachment_visible(id, *attachment, visible)?,
                None => warn!(
                    "attachment {index} of the model {} does not exist; its plugin has {}: see CharacterPlugin::attach",
                    M::MODEL.meta.name,
                    self.attachments.len()
                ),
            },
        }
        Ok(())
    }
}
