//! Values of a character for inspectors, which read and write components through [`Reflect`].

use bevy::prelude::*;
use gpuskin_rt::{BakedModel, Clip, Metadata, ModelVariant, Time as Timestamp, Transition};

use crate::bake::Bake;
use crate::character::Character;

/// Values of a [`Character`] for inspectors and consoles: [`Reflect`] reads what it plays, and fields that are written command it.
///
/// Add it to the characters that an inspector shows: each costs processor time per frame, characters without it cost none.
/// `Character` itself has no `Reflect`, because it holds commands for the renderer and no values.
///
/// A name that the model does not have is logged, and the field gets its former value again.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_gpuskin::{Character, CharacterInspector};
/// use bevy_gpuskin_sample_models::clips;
///
/// fn spawn(mut commands: Commands) {
///     commands.spawn((Character::playing(clips::SOLDIER_RUN), CharacterInspector::default()));
/// }
///
/// fn slow_motion(mut shown: Query<&mut CharacterInspector>) {
///     for mut shown in &mut shown {
///         shown.speed = 0.25;
///     }
/// }
/// ```
#[derive(Component, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct CharacterInspector {
    /// Name of the clip. A clip that is written starts with a crossfade of 0.2 s.
    pub clip: String,
    /// Name of the variant of the model's materials; empty if the model has only its own look.
    pub variant: String,
    /// Speed as a factor of the clip's normal speed, rounded to 1/1000.
    pub speed: f32,
    /// Whether the character is paused.
    pub paused: bool,
}

/// Crossfade to a clip that is written, seconds.
const CROSSFADE: f32 = 0.2;

/// Gives the commands of fields that were written, then shows what the characters play.
pub(crate) fn inspect<M: BakedModel>(
    bake: Res<Bake<M>>,
    time: Res<Time<Virtual>>,
    mut inspected: Query<(&mut Character<M>, &mut CharacterInspector)>,
) {
    let now = Timestamp::from_secs(time.elapsed_secs_f64());
    for (mut character, mut inspector) in &mut inspected {
        let is_written = inspector.is_changed() && !inspector.is_added();
        let mut playing = shown(character.bypass_change_detection(), bake.meta(), now);
        if is_written && *inspector != playing {
            command(&mut character, &inspector, &playing);
            playing = shown(character.bypass_change_detection(), bake.meta(), now);
        }
        // A change here is no command.
        let inspector = inspector.bypass_change_detection();
        if *inspector != playing {
            *inspector = playing;
        }
    }
}

/// Gives the commands that lead from what a character plays to what was written.
fn command<M: BakedModel>(character: &mut Character<M>, written: &CharacterInspector, playing: &CharacterInspector) {
    let meta = &M::MODEL.meta;
    if written.clip != playing.clip {
        match meta.find::<Clip<M>>(&written.clip) {
            Some(clip) => {
                character.play(clip, Transition::crossfade(CROSSFADE).speed(playing.speed));
            }
            None => unknown::<M>("clip", &written.clip, meta.clips().iter().map(|clip| clip.name.as_ref())),
        }
    }
    if written.variant != playing.variant {
        match meta.find::<ModelVariant<M>>(&written.variant) {
            Some(variant) => {
                character.set_variant(variant);
            }
            None => unknown::<M>("variant", &written.variant, meta.variants()),
        }
    }
    if written.speed != playing.speed {
        character.set_speed(written.speed);
    }
    if written.paused != playing.paused {
        character.set_paused(written.paused);
    }
}

fn unknown<M: BakedModel>(what: &str, name: &str, names: impl Iterator<Item = impl AsRef<str>>) {
    let names: Vec<_> = names.map(|name| name.as_ref().to_owned()).collect();
    warn!("model `{}`: {what} `{name}` not found; it has: {}", M::MODEL.meta.name, names.join(", "));
}

/// Returns what a character plays after its commands so far.
fn shown<M: BakedModel>(character: &mut Character<M>, meta: &Metadata, now: Timestamp) -> CharacterInspector {
    let mut record = character.play_until(meta, now).record;
    let paused = record.is_paused();
    // A pause hides the speed.
    record.set_paused(false, now);
    let playback = record.playback();
    let clip = meta.clips().get(record.clip_index());
    let cycles = playback.rate_bits() as f64 / (1_u64 << 32) as f64;
    let duration = clip.map_or(0.0, |clip| clip.duration) * playback.repeat().lengths();
    CharacterInspector {
        clip: clip.map(|clip| clip.name.to_string()).unwrap_or_default(),
        variant: meta.variants().nth(character.variant().index().into()).unwrap_or_default().to_owned(),
        speed: ((cycles * duration * 1e3).round() / 1e3) as f32,
        paused,
    }
}

#[cfg(test)]
mod tests {
    use bevy_gpuskin_sample_models::models::Guard;
    use bevy_gpuskin_sample_models::{clips, variants};

    use super::*;
    use crate::outbox::Outbox;

    fn app() -> App {
        let mut app = App::new();
        app.init_resource::<Outbox<Guard>>().init_resource::<Bake<Guard>>().init_resource::<Time<Virtual>>();
        app.register_type::<CharacterInspector>().add_systems(Update, inspect::<Guard>);
        app
    }

    /// Reads a field of an entity's component as an inspector does: by its name, through the type registry.
    fn field<T: Clone + 'static>(app: &App, entity: Entity, name: &str) -> T {
        let registry = app.world().resource::<AppTypeRegistry>().read();
        let component = registry.get_with_short_type_path("CharacterInspector").unwrap().data::<ReflectComponent>();
        let reflected = component.unwrap().reflect(app.world().entity(entity)).unwrap();
        let value = reflected.reflect_ref().as_struct().unwrap().field(name).unwrap();
        value.try_downcast_ref::<T>().unwrap().clone()
    }

    /// Writes a field through the type registry.
    fn set<T: Reflect>(app: &mut App, entity: Entity, name: &str, value: T) {
        let registry = app.world().resource::<AppTypeRegistry>().clone();
        let registry = registry.read();
        let component = registry.get_with_short_type_path("CharacterInspector").unwrap().data::<ReflectComponent>();
        let mut entity = app.world_mut().entity_mut(entity);
        let mut reflected = component.unwrap().reflect_mut(&mut entity).unwrap();
        let field = reflected.reflect_mut().as_struct().unwrap().field_mut(name).unwrap();
        field.try_apply(&value).unwrap();
    }

    #[test]
    fn inspectors_read_and_write_what_a_character_plays() {
        let mut app = app();
        let guard = Character::playing(clips::GUARD_RUN).speed(1.5).with_variant(variants::GUARD_BLUE);
        let entity = app.world_mut().spawn((guard, CharacterInspector::default())).id();
        app.update();
        assert_eq!(field::<String>(&app, entity, "clip"), "run");
        assert_eq!(field::<String>(&app, entity, "variant"), "blue");
        assert_eq!((field::<f32>(&app, entity, "speed"), field::<bool>(&app, entity, "paused")), (1.5, false));

        set(&mut app, entity, "clip", "idle".to_owned());
        set(&mut app, entity, "variant", "base".to_owned());
        app.update();
        let get = |app: &App| {
            let guard = app.world().get::<Character<Guard>>(entity).unwrap();
            (guard.clip(), guard.variant())
        };
        assert_eq!(get(&app), (clips::GUARD_IDLE, variants::GUARD_BASE));
        assert_eq!(field::<f32>(&app, entity, "speed"), 1.5);
        set(&mut app, entity, "speed", -0.5_f32);
        set(&mut app, entity, "paused", true);
        app.update();
        app.update();
        assert_eq!((field::<f32>(&app, entity, "speed"), field::<bool>(&app, entity, "paused")), (-0.5, true));

        // A name that does not exist is no command.
        set(&mut app, entity, "clip", "dance".to_owned());
        app.update();
        assert_eq!((field::<String>(&app, entity, "clip"), get(&app).0), ("idle".to_owned(), clips::GUARD_IDLE));

        // Commands of the game are shown.
        app.world_mut().get_mut::<Character<Guard>>(entity).unwrap().play(clips::GUARD_RUN, Transition::cut());
        app.update();
        assert_eq!(
            (field::<String>(&app, entity, "clip"), field::<f32>(&app, entity, "speed")),
            ("run".to_owned(), 1.0)
        );
    }
}
