//! Live bones, against meshes that the CPU poses.

use bevy::light::NotShadowCaster;
use bevy::prelude::*;
use bevy_gpuskin::gpuskin_rt::{Bone, Instance, InstanceRecord, Sockets};
use bevy_gpuskin::{Character, LiveBones, Socket};
use bevy_gpuskin_sample_models::models::{SOLDIER, Soldier};
use bevy_gpuskin_sample_models::{bones, clips};

use crate::common::{self, control};
use crate::{assert_equal, of, scene};

fn place(i: usize) -> Transform {
    Transform::from_xyz(i as f32 * 1.1 - 1.6, 0.0, 1.0)
        .with_rotation(Quat::from_rotation_y(0.7 * i as f32))
        .with_scale(Vec3::splat(0.8 + 0.1 * i as f32))
}

/// A pose other than the one that soldier `i` plays.
fn other_pose(i: usize) -> InstanceRecord {
    let clip = if i.is_multiple_of(2) { clips::SOLDIER_ATTACK } else { clips::SOLDIER_DIE };
    let instance = Instance::at([0.0; 3]).with_transform(of(place(i))).play(clip).phase(0.3 + 0.1 * i as f32);
    instance.speed(0.0).record(&SOLDIER.meta, 0.0.into())
}

/// Returns each bone of a pose, with its transform in the world.
fn bones_of(pose: &InstanceRecord) -> impl Iterator<Item = (Bone<Soldier>, Transform)> {
    let sockets = Sockets::<Soldier>::new().unwrap();
    (0..SOLDIER.meta.bones().len()).map(move |i| {
        let bone = Bone::new(i as u16);
        let [x, y, z] = sockets.in_world(bone, pose, 0.0).unwrap().rows.map(|row| Vec4::from(row.to_array()));
        (bone, Transform::from_matrix(Mat4::from_cols(x, y, z, Vec4::W).transpose()))
    })
}

#[test]
fn live_bones_pose_characters_until_they_are_removed() {
    let (mut app, image) = scene();
    let empty = common::read(&mut app, &image);
    let soldier = |i| (Character::playing(clips::SOLDIER_RUN).phase(0.2 * i as f32).speed(0.0), place(i));
    let soldiers: Vec<_> = (0..4).map(|i| app.world_mut().spawn(soldier(i)).id()).collect();
    let socket = app.world_mut().spawn((Socket::to(bones::SOLDIER_HAND_R), ChildOf(soldiers[0]))).id();
    common::settle(&mut app);
    let running = common::read(&mut app, &image);
    // In the poses of their neighbours first, so that bones move after the start.
    let entities: Vec<Vec<_>> = (0..4)
        .map(|i| bones_of(&other_pose(3 - i)).map(|(bone, at)| (bone, app.world_mut().spawn(at).id())).collect())
        .collect();
    for (soldier, entities) in soldiers.iter().zip(&entities) {
        app.world_mut().entity_mut(*soldier).insert(LiveBones::skeleton(entities.clone()).fading(0.0));
    }
    (0..2).for_each(|_| app.update());
    for (i, entities) in entities.iter().enumerate() {
        for ((_, at), (_, entity)) in bones_of(&other_pose(i)).zip(entities) {
            *app.world_mut().get_mut::<Transform>(*entity).unwrap() = at;
        }
    }
    let hand = entities[0][usize::from(bones::SOLDIER_HAND_R.index())].1;
    (0..2).for_each(|_| app.update());
    let live = common::read(&mut app, &image);
    common::save("live.png", &live);
    let control = {
        let (mut app, image) = scene();
        (0..4).for_each(|i| drop(control::spawn::<Soldier>(&mut app, &other_pose(i), Color::WHITE, 0.0)));
        common::settle(&mut app);
        common::read(&mut app, &image)
    };
    common::save("live-control.png", &control);
    assert!(common::different(&running, &control) > 5000, "the poses do not differ");
    assert_equal(&live, &control, &empty);
    let [socket, hand] = [socket, hand].map(|e| app.world().get::<GlobalTransform>(e).unwrap().translation());
    assert!(socket.distance(hand) < 1e-3, "the socket is {} m off", socket.distance(hand));

    // In the crowd of another group, a character keeps its pose.
    app.world_mut().entity_mut(soldiers[1]).insert(NotShadowCaster);
    common::settle(&mut app);
    app.world_mut().entity_mut(soldiers[1]).remove::<NotShadowCaster>();
    (0..2).for_each(|_| app.update());
    assert_eq!(common::different(&live, &common::read(&mut app, &image)), 0);

    for soldier in soldiers {
        app.world_mut().entity_mut(soldier).remove::<LiveBones<Soldier>>();
    }
    (0..2).for_each(|_| app.update());
    assert_eq!(common::different(&running, &common::read(&mut app, &image)), 0, "the clip plays on");
}
