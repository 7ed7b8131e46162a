//! Collects the changes of characters.

use bevy::camera::visibility::RenderLayers;
use bevy::ecs::entity_disabling::Disabled;
use bevy::light::{NotShadowCaster, NotShadowReceiver};
use bevy::prelude::*;
use gpuskin_rt::{BakedModel, Time as Timestamp};

use crate::bake::Bake;
use crate::character::{Character, State};
use crate::events::EventQueues;
use crate::extension::CharacterExtension;
use crate::outbox::{GroupComponents, Outbox};

type Changes<M> = Or<(
    Changed<Character<M>>,
    Changed<GlobalTransform>,
    Changed<InheritedVisibility>,
    Changed<RenderLayers>,
    Added<NotShadowCaster>,
    Added<NotShadowReceiver>,
    Changed<CharacterExtension>,
    Added<Disabled>,
)>;

/// A character with what decides how it is drawn.
type Collected<M> = (
    Entity,
    &'static mut Character<M>,
    Ref<'static, GlobalTransform>,
    &'static InheritedVisibility,
    GroupComponents,
    // Bevy leaves disabled entities out of queries that do not name it.
    Has<Disabled>,
);

/// Marks the characters of a model as changed that have lost a component on which their group or their
/// visibility depends.
pub(crate) fn mark_regrouped<M: BakedModel>(
    mut layers: RemovedComponents<RenderLayers>,
    mut casters: RemovedComponents<NotShadowCaster>,
    mut receivers: RemovedComponents<NotShadowReceiver>,
    mut extensions: RemovedComponents<CharacterExtension>,
    mut disabled: RemovedComponents<Disabled>,
    mut characters: Query<&mut Character<M>>,
) {
    let of_groups = layers.read().chain(casters.read()).chain(receivers.read()).chain(extensions.read());
    for entity in of_groups.chain(disabled.read()) {
        if let Ok(mut character) = characters.get_mut(entity) {
            character.set_changed();
        }
    }
}

/// Collects what has changed in a frame. Characters that stand still cost a comparison of ticks.
pub(crate) fn collect<M: BakedModel>(
    mut outbox: ResMut<Outbox<M>>,
    mut queues: Option<ResMut<EventQueues<M>>>,
    bake: Res<Bake<M>>,
    time: Res<Time<Virtual>>,
    mut changed: Query<Collected<M>, Changes<M>>,
) {
    let outbox = outbox.bypass_change_detection();
    let (meta, now) = (bake.meta(), Timestamp::from_secs(time.elapsed_secs_f64()));
    let reloaded = outbox.current.reloads();
    if let Some(queues) = &mut queues {
        outbox.current.despawned.iter().for_each(|slot| queues.stop(meta, *slot, now));
    }
    for (entity, mut character, transform, visibility, components, is_disabled) in &mut changed {
        // Taking the commands is no change.
        let character = character.bypass_change_detection();
        if usize::from(character.clip().index()) >= meta.clips().len() {
            let (clip, name, count) = (character.clip().index(), &M::MODEL.meta.name, meta.clips().len());
            warn_once!("{entity}: clip {clip} does not exist; the model {name} has {count} clips");
        }
        let group = outbox.group(components, character.variant().index());
        let is_shown = visibility.get() && !is_disabled;
        let was_shown = core::mem::replace(&mut character.is_shown, is_shown);
        let mut regrouped = false;
        let slot = match &mut character.state {
            State::Spawned(slot, in_group) => {
                if *in_group != group {
                    *in_group = group;
                    outbox.current.regrouped.push((*slot, group));
                    regrouped = true;
                }
                if transform.is_changed() {
                    outbox.current.moved.push(*slot);
                    outbox.current.transforms.push(instance_transform(transform.compute_transform()));
                }
                if is_shown != was_shown {
                    outbox.current.shown.push((*slot, is_shown));
                }
                *slot
            }
            State::New(instance) => {
                let instance = instance.with_transform(instance_transform(transform.compute_transform()));
                let shown = if is_shown { instance } else { instance.invisible() };
                character.play_until(meta, now);
                let slot = outbox.spawn(group, shown);
                character.state = State::Spawned(slot, group);
                slot
            }
        };
        character.play_until(meta, now);
        let pose = character.released_pose(now);
        if (regrouped || reloaded) && !pose.is_empty() {
            outbox.current.live.push((slot, None));
            let poses = &mut outbox.current.live_poses;
            let end = poses.len() + meta.bones().len();
            poses.extend_from_slice(pose);
            // A later bake may have more bones.
            poses.resize(end, [[f32::NAN; 4]; 3]);
        }
        if character.take_change()
            && let Some(queues) = &mut queues
        {
            queues.play(meta, slot, entity, character.play_until(meta, now), now);
        }
        outbox.current.commands.extend(character.take_commands().map(|command| (slot, command)));
    }
}

/// Ends the batch of the frame.
pub(crate) fn finish<M: BakedModel>(mut outbox: ResMut<Outbox<M>>, time: Res<Time<Virtual>>) {
    outbox.bypass_change_detection().finish(time.elapsed_secs_f64());
}

/// Transform of an instance: of a scale that is not uniform, the mean of its axes. Of a sheared transform, the rotation is that of
/// [`GlobalTransform::rotation`], normalised as gpuskin does.
pub(crate) fn instance_transform(transform: Transform) -> gpuskin_rt::Transform {
    let rotation = match transform.rotation.is_normalized() {
        true => transform.rotation,
        false => Vec4::from(transform.rotation).try_normalize().map_or(Quat::IDENTITY, Quat::from_vec4),
    };
    gpuskin_rt::Transform {
        translation: transform.translation.to_array(),
        scale: transform.scale.abs().element_sum() / 3.0,
        rotation: rotation.to_array(),
    }
}

#[cfg(test)]
mod tests {
    use bevy_gpuskin_sample_models::{clips, models::Soldier};

    use super::*;
    use crate::Transition;
    use crate::outbox::{Batch, Command};

    fn app() -> App {
        let mut app = App::new();
        app.init_resource::<Outbox<Soldier>>().init_resource::<Bake<Soldier>>().init_resource::<Time<Virtual>>();
        app.add_systems(Update, (mark_regrouped::<Soldier>, collect::<Soldier>, finish::<Soldier>).chain());
        app
    }

    fn batches(app: &mut App) -> Vec<Batch<Soldier>> {
        app.update();
        app.world_mut().resource_mut::<Outbox<Soldier>>().take()
    }

    fn soldier() -> Character<Soldier> {
        Character::playing(clips::SOLDIER_RUN)
    }

    #[test]
    fn what_stands_still_sends_nothing() {
        let mut app = app();
        let entity = app.world_mut().spawn(soldier()).id();
        let first = batches(&mut app);
        assert_eq!((first.len(), first[0].spawned.len()), (1, 1));
        assert!(first[0].moved.is_empty() && first[0].shown.is_empty() && first[0].commands.is_empty());
        assert!(batches(&mut app).is_empty());

        app.world_mut().get_mut::<Character<Soldier>>(entity).unwrap().play(clips::SOLDIER_DIE, Transition::cut());
        let played = batches(&mut app);
        assert!(matches!(played[0].commands[..], [(0, Command::Play(clip, _))] if clip == clips::SOLDIER_DIE));
        assert!(played[0].spawned.is_empty() && played[0].moved.is_empty());
        assert!(batches(&mut app).is_empty());
    }

    #[test]
    fn moves_and_visibility_are_sent_once() {
        let mut app = app();
        let entity = app.world_mut().spawn((soldier(), InheritedVisibility::VISIBLE)).id();
        batches(&mut app);
        *app.world_mut().get_mut::<GlobalTransform>(entity).unwrap() =
            Transform::from_xyz(1.0, 2.0, 3.0).with_scale(Vec3::splat(2.0)).into();
        *app.world_mut().get_mut::<InheritedVisibility>(entity).unwrap() = InheritedVisibility::HIDDEN;
        let moved = batches(&mut app);
        assert_eq!(moved[0].transforms, [gpuskin_rt::Transform::at([1.0, 2.0, 3.0]).scaled(2.0)]);
        assert_eq!((&moved[0].moved[..], &moved[0].shown[..]), (&[0][..], &[(0, false)][..]));
        assert!(batches(&mut app).is_empty());
    }

    #[test]
    fn disabled_characters_are_hidden_until_they_are_enabled() {
        let mut app = app();
        let visible = (soldier(), InheritedVisibility::VISIBLE);
        let first = app.world_mut().spawn(visible).id();
        let second = app.world_mut().spawn((soldier(), InheritedVisibility::VISIBLE, Disabled)).id();
        batches(&mut app);
        app.world_mut().entity_mut(first).insert(Disabled);
        app.world_mut().entity_mut(second).remove::<Disabled>();
        let shown = batches(&mut app)[0].shown.clone();
        assert!(shown.len() == 2 && shown.contains(&(0, false)) && shown.contains(&(1, true)), "{shown:?}");
        assert!(batches(&mut app).is_empty());
        app.world_mut().entity_mut(first).remove::<Disabled>();
        assert_eq!(batches(&mut app)[0].shown, [(0, true)]);
        app.world_mut().entity_mut(first).insert(Disabled);
        app.world_mut().despawn(first);
        assert_eq!(batches(&mut app)[0].despawned, [0]);
    }

    #[test]
    fn spawned_and_despawned_in_one_frame_sends_nothing() {
        let mut app = app();
        let entity = app.world_mut().spawn(soldier()).id();
        app.world_mut().despawn(entity);
        assert!(batches(&mut app).is_empty());
    }

    #[test]
    fn slots_are_used_again_after_their_despawn() {
        let mut app = app();
        let entities: Vec<_> = (0..3).map(|_| app.world_mut().spawn(soldier()).id()).collect();
        let spawned = batches(&mut app);
        assert_eq!(spawned[0].spawned.iter().map(|(slot, ..)| *slot).collect::<Vec<_>>(), [0, 1, 2]);
        app.world_mut().despawn(entities[1]);
        // Replacing a character starts it anew.
        app.world_mut().entity_mut(entities[2]).insert(soldier());
        let changed = batches(&mut app);
        assert_eq!(changed[0].despawned, [1, 2]);
        assert_eq!(changed[0].spawned.iter().map(|(slot, ..)| *slot).collect::<Vec<_>>(), [2]);
        app.world_mut().entity_mut(entities[0]).remove::<Character<Soldier>>();
        assert_eq!(batches(&mut app)[0].despawned, [0]);
    }
}
