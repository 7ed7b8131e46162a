//! Devices with the limits of WebGL2, which have no compute shaders and no storage buffers.

use bevy::prelude::*;
use bevy::render::settings::WgpuLimits;
use bevy_gpuskin::gpuskin_rt::{FieldDescriptor, Instance};
use bevy_gpuskin::{Character, CharacterCrowd, CharacterField, CharacterPlugin, GpuskinPlugin, Socket};
use bevy_gpuskin_sample_models::{bones, clips, models::Ghost, models::Soldier};

use crate::common;

/// Draws characters in the sun, with a cube in a hand, a crowd, blended and cut-out materials, and a field.
fn picture(limits: Option<WgpuLimits>) -> [Vec<[u8; 4]>; 2] {
    let mut app = common::app_within(limits);
    // Without compute shaders, there are no levels of detail.
    app.add_plugins(GpuskinPlugin { lod_error: 0.0, ..default() });
    app.add_plugins((CharacterPlugin::<Soldier>::default(), CharacterPlugin::<Ghost>::default()));
    common::start(&mut app);
    let image = common::target(&mut app);
    app.world_mut().spawn(common::camera(&image, Vec3::new(0.0, 1.9, 5.0), Vec3::Y));
    app.world_mut().spawn((
        DirectionalLight { shadow_maps_enabled: true, ..default() },
        Transform::default().looking_to(Vec3::new(-1.0, -2.0, -1.0), Vec3::Y),
    ));
    let ground = app.world_mut().resource_mut::<Assets<Mesh>>().add(Plane3d::default().mesh().size(40.0, 40.0));
    let cube = app.world_mut().resource_mut::<Assets<Mesh>>().add(Cuboid::from_length(0.3));
    let grey = app.world_mut().resource_mut::<Assets<StandardMaterial>>().add(Color::srgb(0.5, 0.55, 0.5));
    app.world_mut().spawn((Mesh3d(ground), MeshMaterial3d(grey.clone())));
    common::settle(&mut app);
    let empty = common::read(&mut app, &image);
    let world = app.world_mut();
    let soldier =
        Character::playing(clips::SOLDIER_RUN).phase(0.3).speed(0.0).tinted(Color::linear_rgb(1.0, 0.5, 0.25));
    let soldier = world.spawn((soldier, Transform::from_xyz(-1.2, 0.0, 0.0))).id();
    let hand = world.spawn((Socket::to(bones::SOLDIER_HAND_R), ChildOf(soldier))).id();
    world.spawn((Mesh3d(cube), MeshMaterial3d(grey), ChildOf(hand)));
    let ghost = Character::playing(clips::GHOST_SWAY).phase(0.4).speed(0.0);
    world.spawn((ghost, Transform::from_xyz(0.2, 0.0, 0.6)));
    let at = |i: usize| Instance::at([1.0 + i as f32, 0.0, 0.0]).play(clips::SOLDIER_ATTACK).phase(0.2 * i as f32);
    world.spawn(CharacterCrowd::<Soldier>::new((0..2).map(|i| at(i).speed(0.0))));
    let field = FieldDescriptor { size: [3, 1], spacing: [1.5, 1.0], speed: [0.0, 0.0], ..FieldDescriptor::default() };
    world.spawn((CharacterField::<Soldier>::new(field), Transform::from_xyz(-1.5, 0.0, -3.0)));
    common::settle(&mut app);
    [empty, common::read(&mut app, &image)]
}

#[test]
fn devices_without_compute_shaders_draw_the_same_pictures() {
    let [empty, control] = picture(None);
    let [limited_empty, limited] = picture(Some(WgpuLimits::downlevel_webgl2_defaults()));
    common::save("limits-control.png", &control);
    common::save("limits.png", &limited);
    assert_eq!(common::different(&empty, &limited_empty), 0, "the rest of the world differs");
    let drawn = common::different(&empty, &control);
    // Poses come from the texture that the bake has for such devices, with an error of its own.
    let different = common::different(&control, &limited);
    assert!(drawn > 30_000 && different < drawn / 20, "{different} of {drawn} pixels differ");
}
