//! Scales that are not uniform, of characters and of their parents.

use core::f32::consts::PI;

use bevy::prelude::*;
use bevy_gpuskin::gpuskin_rt::{self, Instance, Sockets};
use bevy_gpuskin::{Character, CharacterPlugin, Socket};
use bevy_gpuskin_sample_models::models::{SOLDIER, Soldier};
use bevy_gpuskin_sample_models::{bones, clips};

use crate::common::{self, control};

/// A character below a parent, and how it is drawn.
struct Case {
    parent: Transform,
    character: Transform,
    drawn: gpuskin_rt::Transform,
}

fn drawn(at: [f32; 3], scale: f32, rotation: Quat) -> gpuskin_rt::Transform {
    gpuskin_rt::Transform { translation: at, scale, rotation: rotation.normalize().into() }
}

fn cases() -> Vec<Case> {
    let turn = Quat::from_rotation_y(0.7);
    let at = |x: f32, scale: Vec3| Transform::from_xyz(x, 0.0, 0.0).with_rotation(turn).with_scale(scale);
    let sheared = Transform::from_scale(Vec3::new(1.0, 1.0, 2.0));
    let place = GlobalTransform::from(sheared).mul_transform(at(1.6, Vec3::ONE));
    vec![
        // The mean of the scale.
        Case {
            parent: Transform::IDENTITY,
            character: at(-1.6, Vec3::new(1.0, 1.4, 0.3)),
            drawn: drawn([-1.6, 0.0, 0.0], 0.9, turn),
        },
        // A negative x axis does not mirror.
        Case {
            parent: Transform::IDENTITY,
            character: at(-0.5, Vec3::new(-1.0, 1.0, 1.0)),
            drawn: drawn([-0.5, 0.0, 0.0], 1.0, turn),
        },
        // A negative z axis turns the character round.
        Case {
            parent: Transform::from_scale(Vec3::new(1.0, 1.0, 1.0)),
            character: at(0.5, Vec3::new(1.0, 1.0, -1.0)),
            drawn: drawn([0.5, 0.0, 0.0], 1.0, turn * Quat::from_rotation_y(PI)),
        },
        // A turned child of a parent that is longer on one axis.
        Case {
            parent: sheared,
            character: at(1.6, Vec3::ONE),
            drawn: drawn([1.6, 0.0, 0.0], place.scale().element_sum() / 3.0, place.rotation()),
        },
    ]
}

#[test]
fn scales_that_are_not_uniform_draw_their_mean() {
    let mut app = common::app();
    app.add_plugins((
        bevy_gpuskin::GpuskinPlugin { lod_error: 0.0, ..default() },
        CharacterPlugin::<Soldier>::default(),
    ));
    common::start(&mut app);
    let image = common::target(&mut app);
    app.world_mut().spawn(common::camera(&image, Vec3::new(0.0, 1.0, 3.3), Vec3::Y));
    app.world_mut().spawn((DirectionalLight::default(), Transform::default().looking_to(Vec3::NEG_ONE, Vec3::Y)));
    common::settle(&mut app);
    let empty = common::read(&mut app, &image);
    let mut parents = Vec::new();
    let mut hands = Vec::new();
    for Case { parent, character, .. } in cases() {
        let parent = app.world_mut().spawn((parent, Visibility::default())).id();
        let soldier = (Character::playing(clips::SOLDIER_RUN).speed(0.0), character, ChildOf(parent));
        let soldier = app.world_mut().spawn(soldier).id();
        hands.push(app.world_mut().spawn((Socket::to(bones::SOLDIER_HAND_R), ChildOf(soldier))).id());
        parents.push(parent);
    }
    common::settle(&mut app);
    let characters = common::read(&mut app, &image);
    common::save("scale.png", &characters);
    let sockets = Sockets::<Soldier>::new().unwrap();
    for (Case { parent, character, drawn }, hand) in cases().into_iter().zip(hands) {
        let record = Instance::at([0.0; 3]).with_transform(drawn).play(clips::SOLDIER_RUN).speed(0.0);
        let record = record.record(&SOLDIER.meta, 0.0.into());
        control::spawn::<Soldier>(&mut app, &record, Color::WHITE, 0.0);
        // The socket has the whole scale: it is beside the drawn hand.
        let hand = app.world().get::<GlobalTransform>(hand).unwrap().translation();
        let pose = gpuskin_rt::InstancePose::new(&record);
        let in_model = sockets.in_model(bones::SOLDIER_HAND_R, pose, 0.0).unwrap().rows.map(|row| row.w);
        let place = GlobalTransform::from(parent).mul_transform(character);
        assert!(hand.distance(place.transform_point(in_model.into())) < 1e-4);
        let drawn = Vec3::from(sockets.in_world(bones::SOLDIER_HAND_R, pose, 0.0).unwrap().rows.map(|row| row.w));
        println!("the socket is {:.3} m from the drawn hand", hand.distance(drawn));
        assert!(hand.distance(drawn) > 0.05);
    }
    for parent in parents {
        app.world_mut().despawn(parent);
    }
    common::settle(&mut app);
    let control = common::read(&mut app, &image);
    common::save("scale-control.png", &control);
    crate::assert_equal(&characters, &control, &empty);
}
