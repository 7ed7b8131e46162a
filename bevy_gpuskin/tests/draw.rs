//! Characters in pictures, against meshes that the CPU poses.

mod common;

use bevy::camera::visibility::RenderLayers;
use bevy::core_pipeline::prepass::MotionVectorPrepass;
use bevy::light::CascadeShadowConfigBuilder;
use bevy::pbr::ScreenSpaceAmbientOcclusion;
use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy_gpuskin::gpuskin_rt::{Clip, Instance};
use bevy_gpuskin::{Character, CharacterPlugin, CharacterRenderer, GpuskinPlugin};
use bevy_gpuskin_sample_models::{clips, models::Soldier};
use common::control;

/// Place, clip and look of a character.
struct Placed {
    transform: Transform,
    clip: Clip<Soldier>,
    phase: f32,
    tint: Color,
}

fn placed() -> Vec<Placed> {
    let clips = [clips::SOLDIER_IDLE, clips::SOLDIER_WALK, clips::SOLDIER_RUN, clips::SOLDIER_ATTACK];
    let of = |i: usize| Placed {
        transform: Transform::from_xyz((i % 4) as f32 * 1.1 - 1.6, 0.0, -1.5 * (i / 4) as f32)
            .with_rotation(Quat::from_rotation_y(0.7 * i as f32))
            .with_scale(Vec3::splat(0.9 + 0.05 * (i % 3) as f32)),
        clip: clips[(i * 7) % 4],
        phase: 0.13 * i as f32,
        tint: if i % 5 == 2 { Color::linear_rgb(1.0, 0.5, 0.25) } else { Color::WHITE },
    };
    (0..12).map(of).collect()
}

/// Transform of an instance.
fn of(transform: Transform) -> bevy_gpuskin::gpuskin_rt::Transform {
    bevy_gpuskin::gpuskin_rt::Transform {
        translation: transform.translation.into(),
        rotation: transform.rotation.into(),
        scale: transform.scale.x,
    }
}

/// An app with ground, lights with shadows, fog and a camera.
fn scene() -> (App, Handle<Image>) {
    let mut app = common::app();
    app.add_plugins((GpuskinPlugin { lod_error: 0.0, ..default() }, CharacterPlugin::<Soldier>::default()));
    common::start(&mut app);
    let image = common::target(&mut app);
    let world = app.world_mut();
    world.spawn((
        common::camera(&image, Vec3::new(0.5, 1.9, 4.2), Vec3::new(0.0, 0.8, 0.0)),
        DistanceFog { falloff: FogFalloff::Exponential { density: 0.02 }, ..default() },
    ));
    world.spawn((
        DirectionalLight { shadow_maps_enabled: true, ..default() },
        Transform::from_xyz(3.0, 5.0, 4.0).looking_at(Vec3::ZERO, Vec3::Y),
        // So that each of the four cascades shows characters.
        CascadeShadowConfigBuilder { first_cascade_far_bound: 3.5, maximum_distance: 9.0, ..default() }.build(),
    ));
    world.spawn((
        PointLight { shadow_maps_enabled: true, intensity: 300_000.0, color: Color::srgb(0.5, 0.7, 1.0), ..default() },
        Transform::from_xyz(-3.0, 3.0, 1.0),
    ));
    let ground = world.resource_mut::<Assets<Mesh>>().add(Plane3d::default().mesh().size(40.0, 40.0));
    let grey = world.resource_mut::<Assets<StandardMaterial>>().add(Color::srgb(0.5, 0.55, 0.5));
    world.spawn((Mesh3d(ground), MeshMaterial3d(grey)));
    common::settle(&mut app);
    (app, image)
}

#[test]
fn characters_are_lit_and_shadowed_as_standard_meshes_are() {
    let (mut app, image) = scene();
    let empty = common::read(&mut app, &image);
    for Placed { transform, clip, phase, tint } in placed() {
        app.world_mut().spawn((Character::playing(clip).phase(phase).tinted(tint), transform));
    }
    app.update();
    let start = app.world().resource::<Time<Virtual>>().elapsed_secs_f64();
    common::settle(&mut app);
    let time = common::stop_time(&mut app);
    assert!(time > start);
    let characters = common::read(&mut app, &image);
    common::save("characters.png", &characters);

    let (mut app, image) = scene();
    for Placed { transform, clip, phase, tint } in placed() {
        let instance = Instance::at([0.0; 3]).with_transform(of(transform)).play(clip).phase(phase);
        let record = instance.record(&bevy_gpuskin_sample_models::models::SOLDIER.meta, start.into());
        control::spawn::<Soldier>(&mut app, &record, tint, time);
    }
    common::settle(&mut app);
    let control = common::read(&mut app, &image);
    common::save("control.png", &control);

    let pixels = control.len();
    let shown = common::different(&empty, &control);
    assert!(shown > pixels / 4, "the control shows {shown} of {pixels} pixels");
    let different = common::different(&characters, &control);
    println!("{different} of {pixels} pixels differ by more than 1/255; {shown} show characters or their shadows");
    assert!(different * 1000 <= pixels, "{different} of {pixels} pixels differ");
}

/// Numbers of instances of the crowd, and of those that the view of a camera drew.
fn counts(app: &mut App, cameras: &[Entity]) -> (usize, Vec<u64>) {
    app.update();
    let world = app.sub_app(RenderApp).world();
    let renderer = world.resource::<CharacterRenderer>();
    let Some(crowd) = renderer.crowd::<Soldier>() else { return (0, Vec::new()) };
    let drawn = cameras.iter().map(|camera| {
        let view = renderer.view_of(*camera).expect("the camera shows characters");
        crowd.count_drawn(renderer.renderer(), view).unwrap().total()
    });
    (crowd.len(), drawn.collect())
}

#[test]
fn two_cameras_draw_what_each_of_them_sees() {
    let mut app = common::app();
    app.add_plugins(CharacterPlugin::<Soldier>::default());
    common::start(&mut app);
    let image = common::target(&mut app);
    let left =
        app.world_mut().spawn(common::camera(&image, Vec3::new(-50.0, 1.0, 5.0), Vec3::new(-50.0, 1.0, 0.0))).id();
    let right = app
        .world_mut()
        .spawn((
            common::camera(&image, Vec3::new(50.0, 1.0, 5.0), Vec3::new(50.0, 1.0, 0.0)),
            Camera { order: 1, ..default() },
        ))
        .id();
    common::settle(&mut app);
    assert_eq!(counts(&mut app, &[]), (0, vec![]));

    let soldier = |x: f32| (Character::playing(clips::SOLDIER_RUN), Transform::from_xyz(x, 0.0, 0.0));
    let first = app.world_mut().spawn(soldier(-50.0)).id();
    common::settle(&mut app);
    assert_eq!(counts(&mut app, &[left, right]), (1, vec![1, 0]));

    app.world_mut().spawn_batch((0..3).map(|i| soldier(50.0 + i as f32)));
    let hidden = app.world_mut().spawn((soldier(50.0), Visibility::Hidden)).id();
    let brief = app.world_mut().spawn(soldier(50.0)).id();
    app.world_mut().despawn(brief);
    assert_eq!(counts(&mut app, &[left, right]), (5, vec![1, 3]));

    app.world_mut().entity_mut(hidden).insert(Visibility::Visible);
    app.world_mut().get_mut::<Transform>(first).unwrap().translation.x = 50.0;
    assert_eq!(counts(&mut app, &[left, right]), (5, vec![0, 5]));

    app.world_mut().despawn(first);
    assert_eq!(counts(&mut app, &[left, right]), (4, vec![0, 4]));

    // A camera that is gone leaves its view to the next.
    app.world_mut().despawn(right);
    assert_eq!(counts(&mut app, &[left]), (4, vec![0]));
    app.world_mut().get_mut::<Transform>(left).unwrap().translation.x = 50.0;
    assert_eq!(counts(&mut app, &[left]), (4, vec![4]));
}

#[test]
fn cameras_of_other_layers_draw_no_characters() {
    let mut app = common::app();
    app.add_plugins(CharacterPlugin::<Soldier>::default());
    common::start(&mut app);
    let image = common::target(&mut app);
    let camera = common::camera(&image, Vec3::new(0.0, 1.0, 4.0), Vec3::Y);
    let camera = app.world_mut().spawn((camera, RenderLayers::layer(1))).id();
    app.world_mut().spawn(Character::playing(clips::SOLDIER_RUN));
    common::settle(&mut app);
    let empty = common::read(&mut app, &image);
    app.world_mut().entity_mut(camera).insert(RenderLayers::layer(0));
    common::settle(&mut app);
    let shown = common::different(&empty, &common::read(&mut app, &image));
    assert!(shown > 1000, "{shown} pixels show the soldier");
    app.world_mut().entity_mut(camera).insert(RenderLayers::layer(1));
    common::settle(&mut app);
    assert_eq!(common::different(&empty, &common::read(&mut app, &image)), 0);
}

/// Draws the placed characters, or the control, with a camera that has a prepass and ambient occlusion.
fn with_prepass(control: bool) -> Vec<[u8; 4]> {
    let (mut app, image) = scene();
    let camera = app.world_mut().query_filtered::<Entity, With<Camera3d>>().single(app.world()).unwrap();
    app.world_mut().entity_mut(camera).insert((Msaa::Off, ScreenSpaceAmbientOcclusion::default(), MotionVectorPrepass));
    app.world_mut().insert_resource(GlobalAmbientLight { brightness: 2000.0, ..default() });
    for Placed { transform, clip, phase, tint } in placed() {
        if control {
            let instance = Instance::at([0.0; 3]).with_transform(of(transform)).play(clip).phase(phase).speed(0.0);
            let record = instance.record(&bevy_gpuskin_sample_models::models::SOLDIER.meta, 0.0.into());
            control::spawn::<Soldier>(&mut app, &record, tint, 0.0);
        } else {
            app.world_mut().spawn((Character::playing(clip).phase(phase).speed(0.0).tinted(tint), transform));
        }
    }
    common::settle(&mut app);
    common::read(&mut app, &image)
}

#[test]
fn prepass_has_the_depth_and_normals_of_standard_meshes() {
    let [characters, control] = [false, true].map(with_prepass);
    common::save("prepass.png", &characters);
    common::save("prepass-control.png", &control);
    let different = common::different(&characters, &control);
    println!("{different} of {} pixels differ by more than 1/255", control.len());
    assert!(different * 1000 <= control.len(), "{different} pixels differ");
}

/// Draws rows of soldiers on a ground. Returns the number of pixels that show them, and their number per level of detail.
fn rows(lod_error: f32) -> (usize, Vec<u64>) {
    let mut app = common::app();
    app.add_plugins((GpuskinPlugin { lod_error, ..default() }, CharacterPlugin::<Soldier>::default()));
    common::start(&mut app);
    let image = common::target(&mut app);
    let camera = common::camera(&image, Vec3::new(0.0, 5.0, 12.0), Vec3::new(0.0, 0.0, -4.0));
    let camera = app.world_mut().spawn(camera).id();
    // Meshes of Bevy in the same pass.
    let ground = app.world_mut().resource_mut::<Assets<Mesh>>().add(Plane3d::default().mesh().size(90.0, 90.0));
    let grey = app.world_mut().resource_mut::<Assets<StandardMaterial>>().add(StandardMaterial {
        base_color: Color::WHITE,
        unlit: true,
        ..default()
    });
    app.world_mut().spawn((Mesh3d(ground), MeshMaterial3d(grey)));
    common::settle(&mut app);
    let empty = common::read(&mut app, &image);
    let place = |i: u32| Transform::from_xyz((i % 6) as f32 * 1.6 - 4.0, 0.0, (i / 6) as f32 * -4.0 + 6.0);
    let soldiers: Vec<_> = (0..60).map(|i| (Character::playing(clips::SOLDIER_IDLE).speed(0.0), place(i))).collect();
    app.world_mut().spawn_batch(soldiers);
    common::settle(&mut app);
    let shown = common::different(&empty, &common::read(&mut app, &image));
    let renderer = app.sub_app(RenderApp).world().resource::<CharacterRenderer>();
    let crowd = renderer.crowd::<Soldier>().unwrap();
    (shown, crowd.count_drawn(renderer.renderer(), renderer.view_of(camera).unwrap()).unwrap().lods)
}

#[test]
fn all_levels_of_detail_are_drawn() {
    let ((shown, lods), (finest, all_finest)) = (rows(1.0), rows(0.0));
    println!("{lods:?} cover {shown} pixels; {all_finest:?} cover {finest}");
    assert!(lods.iter().filter(|count| **count > 0).count() > 1, "{lods:?}");
    assert_eq!(lods.iter().sum::<u64>(), all_finest[0]);
    assert!(shown.abs_diff(finest) * 50 < finest, "{shown} pixels show soldiers, {finest} in the finest level");
}
