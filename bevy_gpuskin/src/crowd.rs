//! Crowds as one entity each.

use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::world::DeferredWorld;
use bevy::prelude::*;
use gpuskin_rt::{BakedModel, Clip, Crowd, CrowdDescriptor, Error, Instance, InstanceId, Motion, Transition};

use crate::collect::instance_transform;
use crate::outbox::{CrowdChange, CrowdCommand, Group, GroupComponents, Outbox};

/// A crowd of a baked model as one entity: for a hundred thousand characters and more, which need no entity each.
///
/// The instances have numbers, from 0 in the order in which they are spawned, and places in world space: the entity has no
/// transform. [`Visibility`], [`RenderLayers`], [`NotShadowCaster`], [`NotShadowReceiver`] and [`CharacterExtension`](crate::CharacterExtension)
/// of the entity are those of the whole crowd.
/// It has no [`Reflect`]: its instances are in the render world.
///
/// [`RenderLayers`]: bevy::camera::visibility::RenderLayers
/// [`NotShadowCaster`]: bevy::light::NotShadowCaster
/// [`NotShadowReceiver`]: bevy::light::NotShadowReceiver
///
/// ```
/// use bevy::prelude::*;
/// use bevy_gpuskin::gpuskin_rt::{Instance, Motion};
/// use bevy_gpuskin::CharacterCrowd;
/// use bevy_gpuskin_sample_models::{clips, models::Soldier};
///
/// fn spawn(mut commands: Commands) {
///     let soldiers = (0..100_000).map(|i| {
///         let at = [(i % 400) as f32, 0.0, (i / 400) as f32];
///         // The GPU moves them: no work on the CPU per frame.
///         Instance::at(at).play(clips::SOLDIER_RUN).phase(0.37 * i as f32).moving(Motion::forwards(3.1))
///     });
///     commands.spawn(CharacterCrowd::<Soldier>::new(soldiers));
/// }
///
/// fn turn(mut crowds: Query<&mut CharacterCrowd<Soldier>>) {
///     for mut crowd in &mut crowds {
///         crowd.set_motions(vec![Motion::forwards(3.1).turning(0.2); 100_000]);
///     }
/// }
/// ```
#[derive(Component)]
#[component(on_add = Self::on_add, on_discard = Self::on_discard)]
#[require(Visibility)]
pub struct CharacterCrowd<M: BakedModel> {
    descriptor: CrowdDescriptor,
    commands: Vec<CrowdCommand<M>>,
    /// Group and visibility as of the last frame.
    drawn_as: Option<(Group, bool)>,
}

impl<M: BakedModel> CharacterCrowd<M> {
    /// Makes a crowd of instances.
    pub fn new(instances: impl IntoIterator<Item = Instance<M>>) -> Self {
        let instances: Vec<_> = instances.into_iter().collect();
        let descriptor = CrowdDescriptor { capacity: instances.len() as u32, ..default() };
        let mut crowd = Self { descriptor, commands: Vec::new(), drawn_as: None };
        crowd.spawn(instances);
        crowd
    }

    /// Sets options of the crowd: capacity, shared poses. They have no effect on a crowd that is spawned already.
    pub fn with_descriptor(mut self, descriptor: CrowdDescriptor) -> Self {
        self.descriptor = descriptor;
        self
    }

    /// Adds instances.
    pub fn spawn(&mut self, instances: impl IntoIterator<Item = Instance<M>>) -> &mut Self {
        let instances: Vec<_> = instances.into_iter().collect();
        self.push(move |crowd, ids| {
            ids.extend(crowd.spawn_many(instances));
            Ok(())
        })
    }

    /// Moves instances: element `i` is the transform of instance `i`. Further instances stay. Of a scale that is not uniform, the
    /// mean of its axes is taken.
    pub fn set_transforms(&mut self, transforms: impl IntoIterator<Item = Transform>) -> &mut Self {
        let transforms: Vec<_> = transforms.into_iter().map(instance_transform).collect();
        self.push(move |crowd, ids| {
            let count = transforms.len().min(ids.len());
            crowd.set_transforms(&ids[..count], &transforms[..count])
        })
    }

    /// Lets the GPU move instances: element `i` is the motion of instance `i`. Further instances move as before.
    pub fn set_motions(&mut self, motions: Vec<Motion>) -> &mut Self {
        self.push(move |crowd, ids| {
            let count = motions.len().min(ids.len());
            crowd.set_motions(&ids[..count], &motions[..count])
        })
    }

    /// Plays clips: element `i` on instance `i`. Further instances play on.
    pub fn play(&mut self, clips: Vec<Clip<M>>, transition: Transition) -> &mut Self {
        self.push(move |crowd, ids| {
            let count = clips.len().min(ids.len());
            crowd.play_many(&ids[..count], &clips[..count], transition)
        })
    }

    /// Gives commands to gpuskin's crowd: all that [`Crowd`] has, such as `update_transforms` and `set_tints`. They count from the time of
    /// the frame. An error is logged.
    ///
    /// The function runs in the render world, with the ids of the instances in the order of their numbers. It removes the ids
    /// that it despawns.
    ///
    /// ```
    /// use bevy_gpuskin::CharacterCrowd;
    /// use bevy_gpuskin_sample_models::models::Soldier;
    ///
    /// fn rise(crowd: &mut CharacterCrowd<Soldier>) {
    ///     crowd.command(|crowd, _| {
    ///         crowd.update_transforms(|all| all.iter_mut().for_each(|transform| transform.translation[1] += 0.1));
    ///         Ok(())
    ///     });
    /// }
    /// ```
    pub fn command(
        &mut self,
        command: impl FnOnce(&Crowd<M>, &mut Vec<InstanceId>) -> Result<(), Error> + Send + Sync + 'static,
    ) -> &mut Self {
        self.push(command)
    }

    fn push(
        &mut self,
        command: impl FnOnce(&Crowd<M>, &mut Vec<InstanceId>) -> Result<(), Error> + Send + Sync + 'static,
    ) -> &mut Self {
        self.commands.push(Box::new(command));
        self
    }

    fn on_add(world: DeferredWorld, context: HookContext) {
        if world.get_resource::<Outbox<M>>().is_none() {
            let name = &M::MODEL.meta.name;
            error_once!(
                "{}: a crowd of the model {name} is not drawn; add CharacterPlugin of this model to the app",
                context.entity
            );
        }
    }

    fn on_discard(mut world: DeferredWorld, context: HookContext) {
        if let Some(mut outbox) = world.get_resource_mut::<Outbox<M>>() {
            outbox.current.crowds.push((context.entity, CrowdChange::Removed));
        }
    }
}

/// Collects what has changed in a frame.
pub(crate) fn collect_crowds<M: BakedModel>(
    mut outbox: ResMut<Outbox<M>>,
    mut crowds: Query<(Entity, &mut CharacterCrowd<M>, &InheritedVisibility, GroupComponents, Has<Disabled>)>,
) {
    let outbox = outbox.bypass_change_detection();
    for (entity, mut crowd, visibility, components, is_disabled) in &mut crowds {
        let crowd = crowd.bypass_change_detection();
        let (group, visible) = (Group::of(components, 0), visibility.get() && !is_disabled);
        let drawn_as = (group.clone(), visible);
        if crowd.commands.is_empty() && crowd.drawn_as.as_ref() == Some(&drawn_as) {
            continue;
        }
        crowd.drawn_as = Some(drawn_as);
        let change = CrowdChange::Changed {
            group,
            visible,
            descriptor: crowd.descriptor.clone(),
            commands: std::mem::take(&mut crowd.commands),
        };
        outbox.current.crowds.push((entity, change));
    }
}
