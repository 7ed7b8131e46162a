//! Characters in pictures, against meshes that the CPU poses.

mod alpha;
mod common;
mod disabled;
mod extension;
mod field;
mod lights;
mod limits;
mod live;
mod morphs;
mod motion;
#[cfg(feature = "picking")]
mod picking;
mod regroup;
#[cfg(feature = "assets")]
mod reload;
mod scale;
mod second_uv;
mod surface;
mod tint_masks;
mod variants;
mod written;

use core::any::TypeId;

use bevy::app::Plugins;
use bevy::camera::visibility::RenderLayers;
use bevy::core_pipeline::prepass::MotionVectorPrepass;
use bevy::light::{CascadeShadowConfigBuilder, NotShadowCaster, NotShadowReceiver};
use bevy::pbr::ScreenSpaceAmbientOcclusion;
use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy_gpuskin::gpuskin_rt::{Clip, Instance, InstancePose, Sockets};
use bevy_gpuskin::{
    Attachment, Character, CharacterCrowd, CharacterInspector, CharacterPlugin, CharacterRenderer, GpuskinPlugin,
    Socket, Transition,
};
use bevy_gpuskin_sample_models::{bones, clips, masks, models::Guard, models::Soldier};
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
    scene_of(CharacterPlugin::<Guard>::default())
}

/// The app of [`scene`], with soldiers and further plugins.
fn scene_of<P>(plugins: impl Plugins<P>) -> (App, Handle<Image>) {
    let mut app = common::app();
    app.add_plugins((GpuskinPlugin { lod_error: 0.0, ..default() }, CharacterPlugin::<Soldier>::default()));
    app.add_plugins(plugins);
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

/// Makes some characters, or their control, differ in how shadows treat them.
fn set_shadows(app: &mut App, i: usize, entity: Entity) {
    let mut entity = app.world_mut().entity_mut(entity);
    match i % 4 {
        1 => entity.insert(NotShadowCaster),
        2 => entity.insert(NotShadowReceiver),
        _ => &mut entity,
    };
}

/// Draws the placed characters on the CPU.
fn control(start: f64, time: f64, shadows: bool) -> Vec<[u8; 4]> {
    let (mut app, image) = scene();
    for (i, Placed { transform, clip, phase, tint }) in placed().into_iter().enumerate() {
        let instance = Instance::at([0.0; 3]).with_transform(of(transform)).play(clip).phase(phase);
        let record = instance.record(&bevy_gpuskin_sample_models::models::SOLDIER.meta, start.into());
        for mesh in control::spawn::<Soldier>(&mut app, &record, tint, time) {
            if shadows {
                set_shadows(&mut app, i, mesh);
            }
        }
    }
    common::settle(&mut app);
    common::read(&mut app, &image)
}

fn assert_equal(characters: &[[u8; 4]], control: &[[u8; 4]], empty: &[[u8; 4]]) {
    let pixels = control.len();
    let shown = common::different(empty, control);
    assert!(shown > pixels / 4, "the control shows {shown} of {pixels} pixels");
    let different = common::different(characters, control);
    println!("{different} of {pixels} pixels differ by more than 1/255; {shown} show characters or their shadows");
    assert!(different * 1000 <= pixels, "{different} of {pixels} pixels differ");
}

#[test]
fn characters_are_lit_and_shadowed_as_standard_meshes_are() {
    let (mut app, image) = scene();
    let empty = common::read(&mut app, &image);
    for (i, Placed { transform, clip, phase, tint }) in placed().into_iter().enumerate() {
        let entity = app.world_mut().spawn((Character::playing(clip).phase(phase).tinted(tint), transform)).id();
        set_shadows(&mut app, i, entity);
    }
    app.update();
    let start = app.world().resource::<Time<Virtual>>().elapsed_secs_f64();
    common::settle(&mut app);
    let time = common::stop_time(&mut app);
    assert!(time > start);
    let characters = common::read(&mut app, &image);
    common::save("characters.png", &characters);
    let control = control(start, time, true);
    common::save("control.png", &control);
    assert_equal(&characters, &control, &empty);
}

#[test]
fn crowd_of_one_entity_is_drawn_as_characters_are() {
    let (mut app, image) = scene();
    let empty = common::read(&mut app, &image);
    let tinted = |placed: &Placed| placed.tint.to_linear().to_f32_array();
    let instances: Vec<_> = placed()
        .iter()
        .map(|placed| Instance::at([9.0, 0.0, 0.0]).play(placed.clip).phase(placed.phase).tinted(tinted(placed)))
        .collect();
    let mut crowd = CharacterCrowd::new(instances);
    crowd.set_transforms(placed().iter().map(|placed| placed.transform));
    let entity = app.world_mut().spawn(crowd).id();
    app.update();
    let start = app.world().resource::<Time<Virtual>>().elapsed_secs_f64();
    common::settle(&mut app);
    let time = common::stop_time(&mut app);
    let drawn = common::read(&mut app, &image);
    common::save("crowd.png", &drawn);
    assert_equal(&drawn, &control(start, time, false), &empty);

    app.world_mut().entity_mut(entity).insert(Visibility::Hidden);
    app.update();
    assert_eq!(common::different(&common::read(&mut app, &image), &empty), 0, "the crowd is hidden");
    app.world_mut().entity_mut(entity).insert((Visibility::Visible, RenderLayers::layer(3)));
    app.update();
    assert_eq!(common::different(&common::read(&mut app, &image), &empty), 0, "no camera shows layer 3");
    app.world_mut().entity_mut(entity).remove::<RenderLayers>();
    app.update();
    assert_eq!(common::different(&common::read(&mut app, &image), &drawn), 0);
    let crowd_of = |app: &App| {
        let renderer = app.sub_app(RenderApp).world().resource::<CharacterRenderer>();
        renderer.crowd_of::<Soldier>(entity).map(bevy_gpuskin::gpuskin_rt::Crowd::len)
    };
    assert_eq!(crowd_of(&app), Some(12));
    app.world_mut().despawn(entity);
    app.update();
    assert_eq!(crowd_of(&app), None);
    assert_eq!(common::different(&common::read(&mut app, &image), &empty), 0, "the crowd is gone");
}

/// Sockets are where the bones of the drawn instance are: the renderer and the main world play the same.
#[test]
fn sockets_follow_the_bones_of_the_drawn_frame() {
    let mut app = common::app();
    app.add_plugins(CharacterPlugin::<Soldier>::default());
    common::start(&mut app);
    for id in [TypeId::of::<Socket<Soldier>>(), TypeId::of::<CharacterInspector>()] {
        assert!(app.world().resource::<AppTypeRegistry>().read().get(id).is_some(), "inspectors do not know {id:?}");
    }
    let image = common::target(&mut app);
    app.world_mut().spawn(common::camera(&image, Vec3::new(0.0, 1.0, 5.0), Vec3::Y));
    common::settle(&mut app);
    let place =
        Transform::from_xyz(1.0, 0.2, -1.0).with_rotation(Quat::from_rotation_y(0.7)).with_scale(Vec3::splat(1.5));
    let soldier = app.world_mut().spawn((Character::playing(clips::SOLDIER_RUN).phase(0.3), place)).id();
    let socket = app.world_mut().spawn((Socket::to(bones::SOLDIER_HAND_R), ChildOf(soldier))).id();
    let sockets = Sockets::<Soldier>::new().unwrap();
    let assert_follows = |app: &mut App, what: &str| {
        app.update();
        let now = app.world().resource::<Time<Virtual>>().elapsed_secs_f64();
        let crowd = app.sub_app(RenderApp).world().resource::<CharacterRenderer>().crowd::<Soldier>().unwrap();
        let id = crowd.id_at(0).unwrap();
        let (record, layers) = (crowd.get(id).unwrap(), crowd.layers(id));
        let pose = InstancePose::new(&record);
        let pose = layers.as_ref().map_or(pose, |layers| pose.with_layers(layers));
        let bone = sockets.in_world(bones::SOLDIER_HAND_R, pose, now).unwrap();
        let origin = Vec3::from(bone.rows.map(|row| row.w));
        let tip = Vec3::from(bone.rows.map(|row| row.y * 0.2 + row.w));
        let global = *app.world().get::<GlobalTransform>(socket).unwrap();
        let distance = global.translation().distance(origin).max(global.transform_point(Vec3::Y * 0.2).distance(tip));
        assert!(distance < 1e-4, "{what}: {distance} m off at {now} s");
        origin
    };
    let first = assert_follows(&mut app, "first frame");
    (0..7).for_each(|_| app.update());
    assert!(assert_follows(&mut app, "clip").distance(first) > 0.05, "the hand does not move");
    let command = |app: &mut App, what: &str, command: &dyn Fn(&mut Character<Soldier>)| {
        command(&mut app.world_mut().get_mut::<Character<Soldier>>(soldier).unwrap());
        let before = assert_follows(app, what);
        (0..5).for_each(|_| app.update());
        (before, assert_follows(app, what))
    };
    command(&mut app, "crossfade", &|soldier| {
        soldier.play(clips::SOLDIER_WALK, Transition::crossfade(0.3));
    });
    command(&mut app, "speed", &|soldier| {
        soldier.set_speed(1.7);
    });
    let upper_body = Some(masks::SOLDIER_UPPER_BODY);
    command(&mut app, "layer", &|soldier| {
        soldier.play_layer_once(0, clips::SOLDIER_ATTACK, upper_body, Transition::crossfade(0.1), 1.0);
    });
    command(&mut app, "second layer", &|soldier| {
        soldier
            .play_layer(1, clips::SOLDIER_IDLE, upper_body, Transition::crossfade(0.1), 0.5)
            .set_layer_weight(1, 0.2, 0.1);
    });
    command(&mut app, "seek", &|soldier| {
        soldier.seek_to(0.4);
    });
    let (before, after) = command(&mut app, "pause", &|soldier| {
        soldier.set_paused(true);
    });
    assert!(before.distance(after) < 1e-5);
    command(&mut app, "stopped layer", &|soldier| {
        soldier.set_paused(false).stop_layer(1, 0.05);
    });
    // A layer that does not exist is logged, and what follows is done.
    command(&mut app, "wrong layer", &|soldier| {
        soldier.play_layer(7, clips::SOLDIER_IDLE, None, Transition::cut(), 1.0).set_speed(0.5);
    });
    app.world_mut().despawn(soldier);
    app.update();
    assert!(app.world().get_entity(socket).is_err());
    // A socket without a character stays where it is.
    let lost = app.world_mut().spawn(Socket::to(bones::SOLDIER_HAND_R)).id();
    app.update();
    assert_eq!(app.world().get::<Transform>(lost), Some(&Transform::IDENTITY));
}

#[test]
fn attachments_are_drawn_and_hidden_per_character() {
    let mut app = common::app();
    let shoulder = Attachment::to(bones::SOLDIER_SHOULDER_L).at([0.0, 0.1, 0.0]).scaled(0.4);
    app.add_plugins(CharacterPlugin::<Soldier>::default().attach(&bevy_gpuskin_sample_models::models::HOUND, shoulder));
    common::start(&mut app);
    let image = common::target(&mut app);
    app.world_mut().spawn(common::camera(&image, Vec3::new(0.0, 1.2, 4.0), Vec3::Y));
    app.world_mut().spawn((DirectionalLight::default(), Transform::default().looking_to(-Vec3::Z, Vec3::Y)));
    let soldier = |x: f32| (Character::playing(clips::SOLDIER_IDLE).speed(0.0), Transform::from_xyz(x, 0.0, 0.0));
    let [left, _] = [-0.8, 0.8].map(|x| app.world_mut().spawn(soldier(x)).id());
    common::settle(&mut app);
    let both = common::read(&mut app, &image);
    common::save("attachments.png", &both);
    app.world_mut()
        .get_mut::<Character<Soldier>>(left)
        .unwrap()
        .set_attachment_visible(0, false)
        .set_attachment_visible(5, true);
    app.update();
    let one = common::read(&mut app, &image);
    // Differences on the left half of the picture alone.
    let row = common::WIDTH as usize;
    let halves = |picture: &[[u8; 4]], right: bool| -> Vec<[u8; 4]> {
        let half = |row: &[[u8; 4]]| if right { row[row.len() / 2..].to_vec() } else { row[..row.len() / 2].to_vec() };
        picture.chunks(row).flat_map(half).collect()
    };
    let [left, right] = [false, true].map(|right| common::different(&halves(&both, right), &halves(&one, right)));
    assert!(left > 500, "the hound covers {left} pixels");
    assert_eq!(right, 0);
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
fn cameras_draw_the_characters_of_their_layers() {
    let mut app = common::app();
    app.add_plugins(CharacterPlugin::<Soldier>::default());
    common::start(&mut app);
    let image = common::target(&mut app);
    let camera = common::camera(&image, Vec3::new(0.0, 1.0, 4.0), Vec3::Y);
    let camera = app.world_mut().spawn((camera, RenderLayers::layer(1))).id();
    let soldier = app.world_mut().spawn(Character::playing(clips::SOLDIER_RUN).speed(0.0)).id();
    common::settle(&mut app);
    let empty = common::read(&mut app, &image);
    app.world_mut().entity_mut(camera).insert(RenderLayers::layer(0));
    common::settle(&mut app);
    let all = common::read(&mut app, &image);
    let shown = common::different(&empty, &all);
    assert!(shown > 1000, "{shown} pixels show the soldier");
    let layers = |app: &mut App, of_soldier: Option<usize>, of_camera: usize| {
        app.world_mut().entity_mut(camera).insert(RenderLayers::layer(of_camera));
        match of_soldier {
            Some(layer) => app.world_mut().entity_mut(soldier).insert(RenderLayers::layer(layer)),
            None => app.world_mut().entity_mut(soldier).remove::<RenderLayers>(),
        };
        common::settle(app);
        common::read(app, &image)
    };
    assert_eq!(common::different(&empty, &layers(&mut app, None, 1)), 0);
    assert_eq!(common::different(&all, &layers(&mut app, Some(1), 1)), 0, "another layer changes the picture");
    assert_eq!(common::different(&empty, &layers(&mut app, Some(1), 0)), 0);
    assert_eq!(common::different(&empty, &layers(&mut app, None, 1)), 0);
    assert_eq!(common::different(&all, &layers(&mut app, None, 0)), 0);
}

/// Gives the camera a prepass and ambient occlusion.
fn add_prepass(app: &mut App) {
    let camera = app.world_mut().query_filtered::<Entity, With<Camera3d>>().single(app.world()).unwrap();
    app.world_mut().entity_mut(camera).insert((Msaa::Off, ScreenSpaceAmbientOcclusion::default(), MotionVectorPrepass));
    app.world_mut().insert_resource(GlobalAmbientLight { brightness: 2000.0, ..default() });
}

/// Draws the placed characters, or the control, with a camera that has a prepass and ambient occlusion.
fn with_prepass(control: bool) -> Vec<[u8; 4]> {
    let (mut app, image) = scene();
    add_prepass(&mut app);
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
