//! Characters whose render layers and shadows change in the middle of fades.

use std::time::Duration;

use bevy::camera::visibility::RenderLayers;
use bevy::light::{NotShadowCaster, NotShadowReceiver};
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_gpuskin::{Character, CharacterPlugin, GpuskinPlugin, LiveBones, Transition};
use bevy_gpuskin_sample_models::models::Soldier;
use bevy_gpuskin_sample_models::{bones, clips, masks};

use crate::common::{self, FRAME};

/// Seconds. The pictures are made in the middle of fades.
const FADE: f32 = 0.6;

fn soldier(app: &mut App, i: usize) -> Entity {
    let place = Transform::from_xyz(i as f32 * 0.9 - 1.4, 0.0, 1.0).with_rotation(Quat::from_rotation_y(0.3));
    let soldier = Character::playing(clips::SOLDIER_WALK).phase(0.2 * i as f32);
    app.world_mut().spawn((soldier, place)).id()
}

fn command(app: &mut App, entity: Entity, command: impl Fn(&mut Character<Soldier>)) {
    command(&mut app.world_mut().get_mut::<Character<Soldier>>(entity).unwrap());
}

/// Runs a frame that lasts some seconds.
fn step(app: &mut App, seconds: f64) {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(seconds)));
    app.update();
}

/// Returns the pictures in the middle of all fades and later. `changes`: whether the characters change before both, so that they
/// are in the crowd of another group, and back.
fn pictures(changes: bool) -> [Vec<[u8; 4]>; 2] {
    let mut app = common::app();
    app.add_plugins((GpuskinPlugin { lod_error: 0.0, ..default() }, CharacterPlugin::<Soldier>::default()));
    common::start(&mut app);
    let image = common::target(&mut app);
    let camera = common::camera(&image, Vec3::new(0.0, 1.6, 4.4), Vec3::new(0.0, 0.9, 0.0));
    app.world_mut().spawn((camera, Msaa::Off));
    app.world_mut().spawn((DirectionalLight::default(), Transform::default().looking_to(Vec3::NEG_ONE, Vec3::Y)));
    common::settle(&mut app);

    let [layered, fading, live, released] = [0, 1, 2, 3].map(|i| soldier(&mut app, i));
    let body = Transform::from_xyz(1.0, 1.6, 1.4).with_rotation(Quat::from_rotation_x(1.5));
    let body = app.world_mut().spawn(body).id();
    let bones = || LiveBones::<Soldier>::bodies([(bones::SOLDIER_CHEST, body)]).fading(FADE);
    app.world_mut().entity_mut(released).insert(bones());
    step(&mut app, FRAME);
    // Longer frames are cut by Bevy.
    (0..3).for_each(|_| step(&mut app, 0.25));
    command(&mut app, layered, |soldier| {
        let upper_body = Some(masks::SOLDIER_UPPER_BODY);
        soldier.play_layer_once(0, clips::SOLDIER_ATTACK, upper_body, Transition::crossfade(FADE), 1.0);
    });
    command(&mut app, fading, |soldier| {
        soldier.play(clips::SOLDIER_DIE, Transition::crossfade(FADE));
    });
    app.world_mut().entity_mut(live).insert(bones());
    step(&mut app, FRAME);
    app.world_mut().entity_mut(released).remove::<LiveBones<Soldier>>();
    step(&mut app, FRAME);
    step(&mut app, 0.2);
    let change = |app: &mut App, back: bool| {
        for entity in [layered, fading, live, released].into_iter().filter(|_| changes) {
            let mut entity = app.world_mut().entity_mut(entity);
            match back {
                false => entity.insert((RenderLayers::from_layers(&[0, 5]), NotShadowCaster)),
                true => entity.remove::<(RenderLayers, NotShadowCaster)>().insert(NotShadowReceiver),
            };
        }
    };
    change(&mut app, false);
    step(&mut app, FRAME);
    common::stop_time(&mut app);
    let first = common::read(&mut app, &image);
    change(&mut app, true);
    step(&mut app, FRAME);
    step(&mut app, 0.2);
    common::stop_time(&mut app);
    [first, common::read(&mut app, &image)]
}

#[test]
fn characters_play_on_when_their_render_layers_and_shadows_change() {
    let [stayed, changed] = [false, true].map(pictures);
    common::save("regroup.png", &changed[0]);
    common::save("regroup-later.png", &changed[1]);
    let [first, later] = [0, 1].map(|i| common::different(&stayed[i], &changed[i]));
    let moved = common::different(&stayed[0], &stayed[1]);
    println!("{first} and {later} pixels differ; {moved} have moved");
    assert!(moved > 3000, "{moved} pixels have moved");
    // Where soldiers touch, the order in which crowds are drawn shows.
    assert!(first.max(later) <= 10, "pixels differ");
}
