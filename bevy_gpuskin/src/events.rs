//! Events of clips, as events of Bevy.

use bevy::ecs::entity_disabling::Disabled;
use bevy::prelude::*;
use gpuskin_rt::{BakedModel, EventQueue, FiredEventKind, LayerSet, Metadata, Time as Timestamp};

use crate::bake::Bake;
use crate::character::Character;
use crate::outbox::Slot;
use crate::playing::Playing;

/// An event of a clip that a character has reached: a footstep, a hit. Needs [`CharacterPlugin::with_events`](crate::CharacterPlugin::with_events).
///
/// Observers of the character and global observers get it in [`PreUpdate`]: all events of the time since the last frame, in
/// order. Clips of layers fire events, too; a clip that fades out fires none, and so does a character while it is
/// [`Disabled`](bevy::ecs::entity_disabling::Disabled).
///
/// If the game sets [`Time<Virtual>`](bevy::time::Virtual) back, events fire again from the new time on. A clip that starts after that time
/// waits in its first pose until then: play what characters should do from the new time on.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_gpuskin::EventFired;
/// use bevy_gpuskin_sample_models::{events, models::Soldier};
///
/// fn step(fired: On<EventFired<Soldier>>, places: Query<&GlobalTransform>) {
///     if fired.event == events::SOLDIER_FOOTSTEP
///         && let Ok(place) = places.get(fired.entity)
///     {
///         println!("dust at {}", place.translation());
///     }
/// }
///
/// # let mut app = App::new();
/// app.add_observer(step);
/// ```
#[derive(EntityEvent, Debug)]
pub struct EventFired<M: BakedModel> {
    /// The character.
    pub entity: Entity,
    /// The event: compare it with the constants of the model.
    pub event: gpuskin_rt::Event<M>,
    /// Time of [`Time<Virtual>`](bevy::time::Virtual) at which the clip reached the event, seconds.
    pub time: f64,
}

/// The end of a clip that plays once. A character that is disabled then gets none. Needs [`CharacterPlugin::with_events`](crate::CharacterPlugin::with_events).
///
/// ```
/// use bevy::prelude::*;
/// use bevy_gpuskin::{Character, ClipFinished, Transition};
/// use bevy_gpuskin_sample_models::{clips, models::Soldier};
///
/// fn stand_up(finished: On<ClipFinished<Soldier>>, mut soldiers: Query<&mut Character<Soldier>>) {
///     if let Ok(mut soldier) = soldiers.get_mut(finished.entity) {
///         soldier.play(clips::SOLDIER_IDLE, Transition::crossfade(0.4));
///     }
/// }
/// ```
#[derive(EntityEvent, Debug)]
pub struct ClipFinished<M: BakedModel> {
    /// The character.
    pub entity: Entity,
    /// Layer of the clip; `None` for the current clip, which holds its last pose from now on.
    pub layer: Option<usize>,
    /// Time of [`Time<Virtual>`](bevy::time::Virtual) at which the clip ended, seconds.
    pub time: f64,
    model: core::marker::PhantomData<fn() -> M>,
}

/// Queues of the characters of a model.
#[derive(Resource, Debug)]
pub(crate) struct EventQueues<M: 'static> {
    clips: EventQueue<Entity>,
    /// The slot of a layer is that of its character times the number of layers, plus its number.
    layers: EventQueue<(Entity, usize)>,
    /// Time of the last frame: earlier events have fired.
    time: Timestamp,
    model: core::marker::PhantomData<fn() -> M>,
}

// Not derived: a derive would require the same trait of `M`.
impl<M> Default for EventQueues<M> {
    fn default() -> Self {
        let (clips, layers) = (EventQueue::new(), EventQueue::new());
        Self { clips, layers, time: Timestamp::ZERO, model: core::marker::PhantomData }
    }
}

impl<M: BakedModel> EventQueues<M> {
    /// Sets what a character plays, from `time` on.
    pub(crate) fn play(&mut self, meta: &Metadata, slot: Slot, entity: Entity, playing: &Playing, time: Timestamp) {
        let clips = meta.clips();
        self.clips.play(clips, slot, entity, playing.record.playback(), time);
        let Some(set) = &playing.layers else { return };
        for (layer, number) in layer_slots(slot) {
            match set.visible_playback(layer) {
                Some(playback) => self.layers.play(clips, number, (entity, layer), playback, time),
                None => self.layers.stop(clips, number, time),
            }
        }
    }

    /// Moves the time of the frame to `now`. If that is before the last frame, the events from `from` on fire again.
    fn follow_time(&mut self, meta: &Metadata, from: Timestamp, now: Timestamp, characters: &Characters<'_, '_, M>) {
        if now < self.time {
            *self = Self::default();
            // The new queues start at that time.
            self.clips.drain(meta.clips(), from);
            self.layers.drain(meta.clips(), from);
            for (entity, character, _) in characters {
                if let Some((slot, playing)) = character.spawned() {
                    self.play(meta, slot, entity, playing, from);
                }
            }
        }
        self.time = now;
    }

    /// Removes a character.
    pub(crate) fn stop(&mut self, meta: &Metadata, slot: Slot, time: Timestamp) {
        let clips = meta.clips();
        self.clips.stop(clips, slot, time);
        layer_slots(slot).for_each(|(_, number)| self.layers.stop(clips, number, time));
    }
}

/// Returns each layer of a slot, with its slot in the queue of layers.
fn layer_slots(slot: Slot) -> impl Iterator<Item = (usize, Slot)> {
    (0..LayerSet::LAYERS).map(move |layer| (layer, slot * LayerSet::LAYERS as Slot + layer as Slot))
}

/// All characters, the disabled ones, too.
type Characters<'w, 's, M> = Query<'w, 's, (Entity, &'static Character<M>, Has<Disabled>)>;

/// Notices that the game has set the time back in this frame, before characters are collected.
pub(crate) fn follow_time<M: BakedModel>(
    mut queues: ResMut<EventQueues<M>>,
    bake: Res<Bake<M>>,
    time: Res<Time<Virtual>>,
    characters: Characters<'_, '_, M>,
) {
    let now = Timestamp::from_secs(time.elapsed_secs_f64());
    queues.bypass_change_detection().follow_time(bake.meta(), now, now, &characters);
}

/// Triggers the events since the last frame. A character that is gone or disabled gets none.
pub(crate) fn fire<M: BakedModel>(
    mut commands: Commands,
    mut queues: ResMut<EventQueues<M>>,
    bake: Res<Bake<M>>,
    time: Res<Time<Virtual>>,
    characters: Characters<'_, '_, M>,
) {
    let queues = queues.bypass_change_detection();
    let (clips, now) = (bake.meta().clips(), Timestamp::from_secs(time.elapsed_secs_f64()));
    // A time that was set back after the last frame has moved on by this one, which no frame of Bevy exceeds: a jump is no frame.
    let frame = time.delta().min(time.max_delta());
    let from = Timestamp::from_secs((time.elapsed() - frame).as_secs_f64());
    queues.follow_time(bake.meta(), from, now, &characters);
    let of_clips = queues.clips.drain(clips, now).map(|fired| (fired.time, fired.instance, None, fired.kind));
    let of_layers = queues.layers.drain(clips, now).map(|fired| {
        let (entity, layer) = fired.instance;
        (fired.time, entity, Some(layer), fired.kind)
    });
    let mut fired: Vec<_> = of_clips.chain(of_layers).collect();
    fired.sort_by_key(|(time, ..)| *time);
    for (time, entity, layer, kind) in fired {
        if !characters.get(entity).is_ok_and(|(.., is_disabled)| !is_disabled) {
            continue;
        }
        let time = time.as_secs();
        match kind {
            FiredEventKind::Event(event) => {
                commands.trigger(EventFired::<M> { entity, event: gpuskin_rt::Event::new(event), time });
            }
            FiredEventKind::Finished | FiredEventKind::LayerFinished(_) => {
                commands.trigger(ClipFinished::<M> { entity, layer, time, model: core::marker::PhantomData });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bevy_gpuskin_sample_models::{clips, events, models::Soldier};
    use gpuskin_rt::Transition;

    use super::*;
    use crate::collect::collect;
    use crate::outbox::Outbox;

    /// Events that observers got: entity, event or `None` for the end of a clip, layer, time in milliseconds.
    #[derive(Resource, Default)]
    struct Got(Vec<(Entity, Option<u16>, Option<usize>, u32)>);

    fn app() -> App {
        let mut app = App::new();
        app.init_resource::<Outbox<Soldier>>().init_resource::<EventQueues<Soldier>>();
        app.init_resource::<Bake<Soldier>>();
        app.init_resource::<Time<Virtual>>().init_resource::<Got>();
        app.add_systems(PreUpdate, fire::<Soldier>)
            .add_systems(PostUpdate, (follow_time::<Soldier>, collect::<Soldier>).chain());
        app.add_observer(|fired: On<EventFired<Soldier>>, mut got: ResMut<Got>| {
            got.0.push((fired.entity, Some(fired.event.index()), None, (fired.time * 1e3).round() as u32));
        });
        app.add_observer(|end: On<ClipFinished<Soldier>>, mut got: ResMut<Got>| {
            got.0.push((end.entity, None, end.layer, (end.time * 1e3).round() as u32));
        });
        app
    }

    /// Runs frames of a tenth of a second, and returns the events.
    fn run(app: &mut App, frames: usize) -> Vec<(Entity, Option<u16>, Option<usize>, u32)> {
        for _ in 0..frames {
            app.world_mut().resource_mut::<Time<Virtual>>().advance_by(Duration::from_millis(100));
            app.update();
        }
        std::mem::take(&mut app.world_mut().resource_mut::<Got>().0)
    }

    #[test]
    fn footsteps_fire_in_order_until_the_clip_is_replaced() {
        let mut app = app();
        let first = app.world_mut().spawn(Character::playing(clips::SOLDIER_WALK)).id();
        let step = Some(events::SOLDIER_FOOTSTEP.index());
        // The character appears at 0.1 s; both feet of the clip come down, at 0 and 0.5 s.
        assert_eq!(run(&mut app, 12), [(first, step, None, 100), (first, step, None, 600), (first, step, None, 1100)]);
        let second = app.world_mut().spawn(Character::playing(clips::SOLDIER_WALK).phase(0.25)).id();
        // At 1.3 s, so that its steps are at 1.55 and 2.05 s.
        assert_eq!(run(&mut app, 5), [(second, step, None, 1550), (first, step, None, 1600)]);
        app.world_mut().get_mut::<Character<Soldier>>(first).unwrap().play(clips::SOLDIER_IDLE, Transition::cut());
        app.world_mut().despawn(second);
        assert_eq!(run(&mut app, 10), []);
    }

    #[test]
    fn ends_of_clips_and_layers_fire_once() {
        let mut app = app();
        let entity = app.world_mut().spawn(Character::playing(clips::SOLDIER_IDLE)).id();
        assert_eq!(run(&mut app, 1), []);
        let mut soldier = app.world_mut().get_mut::<Character<Soldier>>(entity).unwrap();
        soldier.play_layer_once(1, clips::SOLDIER_ATTACK, None, Transition::crossfade(0.1), 1.0);
        let attack = clips::SOLDIER_ATTACK.info().duration;
        let hit = Some(events::SOLDIER_HIT.index());
        // From 0.2 s on.
        let end = ((0.2 + attack) * 1e3).round() as u32;
        assert_eq!(run(&mut app, 30), [(entity, hit, None, 860), (entity, None, Some(1), end)]);

        let mut soldier = app.world_mut().get_mut::<Character<Soldier>>(entity).unwrap();
        soldier.play(clips::SOLDIER_DIE, Transition::cut()).set_speed(2.0);
        let end = ((3.2 + clips::SOLDIER_DIE.info().duration / 2.0) * 1e3).round() as u32;
        assert_eq!(run(&mut app, 60), [(entity, None, None, end)]);
    }

    #[test]
    fn what_is_paused_fires_nothing_until_it_plays_on() {
        let mut app = app();
        let entity = app.world_mut().spawn(Character::playing(clips::SOLDIER_WALK).phase(0.9)).id();
        run(&mut app, 1);
        app.world_mut().get_mut::<Character<Soldier>>(entity).unwrap().set_paused(true);
        assert_eq!(run(&mut app, 10), []);
        app.world_mut().get_mut::<Character<Soldier>>(entity).unwrap().set_paused(false);
        assert_eq!(run(&mut app, 4).len(), 1);
    }

    /// Time that a system in `Update` sets, in seconds, once.
    #[derive(Resource, Default)]
    struct Restored(Option<f64>);

    fn set_time(time: &mut Time<Virtual>, seconds: f64) {
        *time = Time::default();
        time.advance_by(Duration::from_secs_f64(seconds));
    }

    #[test]
    fn events_fire_again_after_the_time_is_set_back() {
        for in_update in [false, true] {
            let mut app = app();
            app.init_resource::<Restored>();
            app.add_systems(Update, |mut restored: ResMut<Restored>, mut time: ResMut<Time<Virtual>>| {
                restored.0.take().into_iter().for_each(|seconds| set_time(&mut time, seconds));
            });
            let restore = |app: &mut App, seconds: f64| match in_update {
                true => app.world_mut().resource_mut::<Restored>().0 = Some(seconds),
                false => set_time(&mut app.world_mut().resource_mut::<Time<Virtual>>(), seconds),
            };
            let step = Some(events::SOLDIER_FOOTSTEP.index());
            let walking = app.world_mut().spawn(Character::playing(clips::SOLDIER_WALK)).id();
            let dying = app.world_mut().spawn(Character::playing(clips::SOLDIER_DIE)).id();
            let end = ((0.1 + clips::SOLDIER_DIE.info().duration) * 1e3).round() as u32;
            assert!(end > 1100, "{end}");
            let first = run(&mut app, 100);
            assert_eq!(first.iter().filter(|(entity, ..)| *entity == dying).count(), 1, "{first:?}");
            // In `Update`, the frame before restores, and has the events up to then.
            restore(&mut app, 1.05);
            if in_update {
                assert_eq!(run(&mut app, 1), []);
            }
            let again = run(&mut app, 30);
            let steps: Vec<_> = again.iter().filter(|(entity, ..)| *entity == walking).collect();
            let expected: Vec<_> = (0..6).map(|i| (walking, step, None, 1100 + 500 * i)).collect();
            assert_eq!(steps, expected.iter().collect::<Vec<_>>(), "in `Update`: {in_update}");
            let ends: Vec<_> = again.iter().filter(|(entity, ..)| *entity == dying).collect();
            assert_eq!(ends, [&(dying, None, None, end)], "in `Update`: {in_update}");

            // Long after the end: commands count from the new time on.
            restore(&mut app, 0.0);
            run(&mut app, 1);
            let mut soldier = app.world_mut().get_mut::<Character<Soldier>>(dying).unwrap();
            soldier.play(clips::SOLDIER_WALK, Transition::crossfade(0.2));
            soldier.play_layer_once(1, clips::SOLDIER_ATTACK, None, Transition::crossfade(0.1), 1.0);
            app.world_mut().despawn(walking);
            let fired = run(&mut app, 5);
            let first = if in_update { 100 } else { 200 };
            assert!(fired.contains(&(dying, step, None, first)), "{fired:?}");
            let fired = run(&mut app, 40);
            assert_eq!(fired.iter().filter(|(_, event, layer, _)| (*event, *layer) == (None, Some(1))).count(), 1);
            assert!(fired.iter().all(|(entity, ..)| *entity == dying), "{fired:?}");
        }
    }

    #[test]
    fn disabled_characters_fire_nothing_until_they_are_enabled() {
        let mut app = app();
        let entity = app.world_mut().spawn((Character::playing(clips::SOLDIER_WALK), Disabled)).id();
        assert_eq!(run(&mut app, 12), []);
        app.world_mut().entity_mut(entity).remove::<Disabled>();
        let step = Some(events::SOLDIER_FOOTSTEP.index());
        // The clip has played on.
        assert_eq!(run(&mut app, 5), [(entity, step, None, 1600)]);
        app.world_mut().entity_mut(entity).insert(Disabled);
        assert_eq!(run(&mut app, 10), []);
        app.world_mut().entity_mut(entity).remove::<Disabled>();
        assert_eq!(run(&mut app, 5), [(entity, step, None, 3100)]);
    }
}
