//! Morph targets, against meshes that the CPU morphs and poses.

use bevy::prelude::*;
use bevy_gpuskin::gpuskin_rt::Instance;
use bevy_gpuskin::{Character, CharacterPlugin, LiveBones};
use bevy_gpuskin_sample_models::models::{JELLY, Jelly};
use bevy_gpuskin_sample_models::{clips, morphs};

use crate::common::{self, control};
use crate::{assert_equal, of, scene_of};

fn place(i: usize) -> Transform {
    Transform::from_xyz(i as f32 * 1.2 - 1.9, 0.0, 0.8).with_rotation(Quat::from_rotation_y(0.9 * i as f32))
}

/// Draws drops of jelly, or their control. Also returns the picture without them. `phases`: whether they are at different times of
/// the clip, or all at its start, where no target has a weight.
fn jellies(is_control: bool, phases: bool) -> [Vec<[u8; 4]>; 2] {
    let (mut app, image) = scene_of(CharacterPlugin::<Jelly>::default());
    let empty = common::read(&mut app, &image);
    for i in 0..4 {
        let phase = if phases { 0.2 + 0.2 * i as f32 } else { 0.0 };
        if is_control {
            let instance = Instance::at([0.0; 3]).with_transform(of(place(i))).play(clips::JELLY_WOBBLE);
            let record = instance.phase(phase).speed(0.0).record(&JELLY.meta, 0.0.into());
            control::spawn::<Jelly>(&mut app, &record, Color::WHITE, 0.0);
        } else {
            app.world_mut().spawn((Character::playing(clips::JELLY_WOBBLE).phase(phase).speed(0.0), place(i)));
        }
    }
    common::settle(&mut app);
    [common::read(&mut app, &image), empty]
}

#[test]
fn morph_targets_are_drawn_as_morphed_meshes_are() {
    let ([drawn, empty], [control, _], [at_start, _]) =
        (jellies(false, true), jellies(true, true), jellies(true, false));
    common::save("jellies.png", &drawn);
    common::save("jellies-control.png", &control);
    assert!(common::different(&control, &at_start) > 5000, "the targets do not show in the control");
    assert_equal(&drawn, &control, &empty);
}

/// The clip has no rotation at its start and in its middle: its weights alone differ there.
#[test]
fn weights_of_the_game_replace_those_of_the_clip() {
    let (mut app, image) = scene_of(CharacterPlugin::<Jelly>::default());
    let at = |app: &mut App, phase: f32| {
        app.world_mut().spawn((Character::playing(clips::JELLY_WOBBLE).phase(phase).speed(0.0), place(1))).id()
    };
    let jelly = at(&mut app, 0.0);
    common::settle(&mut app);
    let round = common::read(&mut app, &image);
    app.world_mut().despawn(jelly);
    let jelly = at(&mut app, 0.5);
    common::settle(&mut app);
    let squashed = common::read(&mut app, &image);
    assert!(common::different(&round, &squashed) > 1000);

    // Weights of clips are rounded.
    let is_like = |a: &[_], b: &[_]| common::different(a, b) <= 20;
    let insert = |app: &mut App, live: LiveBones<Jelly>| {
        app.world_mut().entity_mut(jelly).insert(live.fading(0.0));
        app.update();
        common::read(app, &image)
    };
    let live = insert(&mut app, LiveBones::morphs([]));
    common::save("jelly-live.png", &live);
    assert!(is_like(&live, &round), "targets that are not listed have a weight");
    // Entities of bones beside the weights: here none.
    let bulged = insert(&mut app, LiveBones::bodies([]).with_morphs([(morphs::JELLY_BULGE, 1.0)]));
    assert!(common::different(&bulged, &squashed) > 500 && common::different(&bulged, &round) > 500);
    for (weight, expected) in [(1.0, &squashed), (0.0, &round)] {
        let mut live = app.world_mut().get_mut::<LiveBones<Jelly>>(jelly).unwrap();
        live.set_morphs([(morphs::JELLY_SQUASH, weight)]);
        app.update();
        assert!(is_like(&common::read(&mut app, &image), expected), "the weight is not {weight}");
    }
    app.world_mut().entity_mut(jelly).remove::<LiveBones<Jelly>>();
    app.update();
    assert!(is_like(&common::read(&mut app, &image), &squashed), "the clip has not returned");
}
