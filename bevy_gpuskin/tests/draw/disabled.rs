//! Entities that are `Disabled` for some time, which Bevy's transforms and visibility leave out meanwhile.

use bevy::ecs::entity_disabling::Disabled;
use bevy::prelude::*;
use bevy_gpuskin::gpuskin_rt::{FieldDescriptor, Instance};
use bevy_gpuskin::{Character, CharacterCrowd, CharacterField, CharacterPlugin, Socket};
use bevy_gpuskin_sample_models::{bones, clips, models::Soldier};

use crate::common;

fn scene() -> (App, Handle<Image>) {
    let mut app = common::app();
    app.add_plugins(CharacterPlugin::<Soldier>::default());
    common::start(&mut app);
    let image = common::target(&mut app);
    app.world_mut().spawn(common::camera(&image, Vec3::new(0.0, 1.2, 4.0), Vec3::Y));
    app.world_mut().spawn((DirectionalLight::default(), Transform::default().looking_to(-Vec3::Z, Vec3::Y)));
    (app, image)
}

/// Spawns a soldier below a parent, with a cube in its hand. Returns parent, soldier and hand.
fn spawn(app: &mut App, at: Transform) -> [Entity; 3] {
    let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(Cuboid::from_length(0.3));
    let material = app.world_mut().resource_mut::<Assets<StandardMaterial>>().add(Color::srgb(0.9, 0.2, 0.1));
    let world = app.world_mut();
    let parent = world.spawn((at, Visibility::default())).id();
    let soldier = (Character::playing(clips::SOLDIER_RUN).speed(0.0), Transform::from_xyz(0.4, 0.0, 0.0));
    let soldier = world.spawn((soldier, ChildOf(parent))).id();
    let hand = world.spawn((Socket::to(bones::SOLDIER_HAND_R), ChildOf(soldier))).id();
    world.spawn((Mesh3d(mesh), MeshMaterial3d(material), ChildOf(hand)));
    [parent, soldier, hand]
}

#[test]
fn characters_that_are_enabled_appear_with_what_they_hold() {
    let (mut app, image) = scene();
    common::settle(&mut app);
    let empty = common::read(&mut app, &image);
    let (place, other) = (Transform::from_xyz(-0.2, 0.1, 0.0), Transform::from_xyz(0.5, 0.0, -1.0));
    let [parent, _, hand] = spawn(&mut app, place);
    common::settle(&mut app);
    let shown = common::read(&mut app, &image);
    common::save("disabled-control.png", &shown);
    assert!(common::different(&empty, &shown) > 5000);
    let hand_at = *app.world().get::<GlobalTransform>(hand).unwrap();
    app.world_mut().despawn(parent);

    let [parent, soldier, hand] = spawn(&mut app, other);
    app.world_mut().entity_mut(soldier).insert_recursive::<Children>(Disabled);
    (0..2).for_each(|_| app.update());
    assert_eq!(common::different(&empty, &common::read(&mut app, &image)), 0, "a disabled soldier is drawn");
    let assert_appears = |app: &mut App, what: &str| {
        app.world_mut().entity_mut(soldier).remove_recursive::<Children, Disabled>();
        let picture = common::read(app, &image);
        common::save("disabled-enabled.png", &picture);
        assert_eq!(common::different(&picture, &shown), 0, "{what}: not as a soldier that was never disabled");
        let at = app.world().get::<GlobalTransform>(hand).unwrap();
        assert!(at.translation().distance(hand_at.translation()) < 1e-5, "{what}: the hand is at {at:?}");
    };
    // The parent of the soldier moves meanwhile.
    app.world_mut().entity_mut(parent).insert(place);
    app.update();
    assert_appears(&mut app, "spawned disabled");
    app.world_mut().entity_mut(soldier).insert_recursive::<Children>(Disabled);
    assert_eq!(common::different(&empty, &common::read(&mut app, &image)), 0, "it does not disappear");
    // The soldier moves, and back.
    for x in [2.0, 0.4] {
        app.world_mut().get_mut::<Transform>(soldier).unwrap().translation.x = x;
        app.update();
    }
    assert_appears(&mut app, "disabled again");
    // The entity of the character alone.
    app.world_mut().entity_mut(soldier).insert(Disabled);
    app.update();
    app.world_mut().get_mut::<Transform>(soldier).unwrap().translation.x = 3.0;
    app.update();
    app.world_mut().get_mut::<Transform>(soldier).unwrap().translation.x = 0.4;
    assert_appears(&mut app, "disabled without its children");
}

#[test]
fn crowds_and_fields_that_are_enabled_appear() {
    let (mut app, image) = scene();
    common::settle(&mut app);
    let empty = common::read(&mut app, &image);
    let instance = Instance::at([0.0; 3]).play(clips::SOLDIER_RUN);
    let crowd = app.world_mut().spawn((CharacterCrowd::<Soldier>::new([instance]), Disabled)).id();
    let field = FieldDescriptor { clips: vec![clips::SOLDIER_IDLE], origin: [-2.0, 0.0, -3.0], ..default() };
    let field = FieldDescriptor { size: [4, 1], ..field };
    let field = app.world_mut().spawn((CharacterField::<Soldier>::new(field), Disabled)).id();
    common::settle(&mut app);
    for (entity, what) in [(crowd, "crowd"), (field, "field")] {
        assert_eq!(common::different(&empty, &common::read(&mut app, &image)), 0, "a disabled {what} is drawn");
        app.world_mut().entity_mut(entity).remove::<Disabled>();
        common::settle(&mut app);
        let picture = common::read(&mut app, &image);
        assert!(common::different(&empty, &picture) > 1000, "an enabled {what} is not drawn");
        app.world_mut().entity_mut(entity).insert(Disabled);
        app.update();
    }
}
