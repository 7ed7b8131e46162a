//! One hero whom a camera follows: walks with the arrow keys, attacks with the space bar while it walks, has a light
//! at its hand, and leaves a mark at each step.
//!
//! ```text
//! cargo run --release --example third_person --features window
//! cargo run --release --example third_person -- --headless out.png
//! ```
//!
//! The picture shows the hero as it walks and attacks.

mod common;

use std::process::ExitCode;

use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::prelude::*;
use bevy_gpuskin::{Character, CharacterPlugin, ClipFinished, EventFired, Socket, Transition};
use bevy_gpuskin_sample_models::{bones, clips, events, masks, models::Soldier};

use crate::common::Output;

/// Speed of the clip `walk`, metres per second.
const SPEED: f32 = 1.35;
/// Seconds that a mark on the ground stays.
const MARK_SECONDS: f32 = 4.0;

#[derive(Component)]
struct Hero {
    attacks: bool,
}

/// A mark of a foot.
#[derive(Component)]
struct Mark(Timer);

/// Mesh and material of marks.
#[derive(Resource)]
struct MarkLook(Handle<Mesh>, Handle<StandardMaterial>);

fn main() -> ExitCode {
    common::main(|app| {
        app.add_plugins(CharacterPlugin::<Soldier>::default().with_events())
            .insert_resource(GlobalAmbientLight { brightness: 200.0, ..default() })
            .add_systems(Startup, spawn)
            .add_systems(Update, (steer, follow.after(steer), fade))
            .add_observer(step)
            .add_observer(attacked);
    })
}

fn spawn(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>, mut materials: ResMut<Assets<StandardMaterial>>) {
    let lamp = materials.add(StandardMaterial { emissive: LinearRgba::rgb(60.0, 25.0, 5.0), ..default() });
    let light =
        PointLight { color: Color::srgb(1.0, 0.6, 0.3), intensity: 60_000.0, shadow_maps_enabled: true, ..default() };
    commands.spawn((
        Character::playing(clips::SOLDIER_IDLE),
        Hero { attacks: false },
        children![(
            Socket::to(bones::SOLDIER_HAND_R),
            children![(
                light,
                Mesh3d(meshes.add(Sphere::new(0.06))),
                MeshMaterial3d(lamp),
                Transform::from_xyz(0.0, 0.15, 0.0)
            )],
        )],
    ));
    commands.spawn((Camera3d::default(), Tonemapping::AcesFitted));
    commands.spawn((
        DirectionalLight { shadow_maps_enabled: true, illuminance: 2_000.0, ..default() },
        Transform::default().looking_to(Vec3::new(-0.8, -0.9, -0.7), Vec3::Y),
    ));
    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(200.0, 200.0))),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: Color::srgb(0.42, 0.45, 0.32),
            perceptual_roughness: 1.0,
            ..default()
        })),
    ));
    commands.insert_resource(MarkLook(
        meshes.add(Circle::new(0.12)),
        materials.add(StandardMaterial { base_color: Color::srgb(0.2, 0.18, 0.12), unlit: true, ..default() }),
    ));
}

fn steer(
    hero: Single<(&mut Character<Soldier>, &mut Transform, &mut Hero)>,
    keys: Res<ButtonInput<KeyCode>>,
    output: Res<Output>,
    time: Res<Time>,
) {
    let (mut character, mut place, mut hero) = hero.into_inner();
    let is_picture = *output != Output::Window;
    let turn = i32::from(keys.pressed(KeyCode::ArrowLeft)) - i32::from(keys.pressed(KeyCode::ArrowRight));
    if turn != 0 {
        place.rotate_y(turn as f32 * 2.5 * time.delta_secs());
    }
    let walks = is_picture || keys.pressed(KeyCode::ArrowUp);
    if walks {
        let ahead = place.rotation * Vec3::Z;
        place.translation += ahead * SPEED * time.delta_secs();
    }
    // Commands on change alone: what plays on costs nothing.
    let clip = if walks { clips::SOLDIER_WALK } else { clips::SOLDIER_IDLE };
    if character.clip() != clip {
        character.play(clip, Transition::crossfade(0.25));
    }
    if !hero.attacks && (is_picture || keys.just_pressed(KeyCode::Space)) {
        hero.attacks = true;
        let upper_body = Some(masks::SOLDIER_UPPER_BODY);
        character.play_layer_once(0, clips::SOLDIER_ATTACK, upper_body, Transition::crossfade(0.15), 1.0);
    }
}

/// The hero may attack again when the layer has ended.
fn attacked(finished: On<ClipFinished<Soldier>>, mut heroes: Query<&mut Hero>) {
    if let (Some(_), Ok(mut hero)) = (finished.layer, heroes.get_mut(finished.entity)) {
        hero.attacks = false;
    }
}

/// Leaves a mark where the hero steps.
fn step(fired: On<EventFired<Soldier>>, places: Query<&Transform>, look: Res<MarkLook>, mut commands: Commands) {
    if fired.event != events::SOLDIER_FOOTSTEP {
        return;
    }
    let Ok(place) = places.get(fired.entity) else { return };
    let flat = Quat::from_rotation_x(-core::f32::consts::FRAC_PI_2);
    commands.spawn((
        Mark(Timer::from_seconds(MARK_SECONDS, TimerMode::Once)),
        Mesh3d(look.0.clone()),
        MeshMaterial3d(look.1.clone()),
        Transform::from_translation(place.translation + Vec3::Y * 0.01).with_rotation(flat),
    ));
}

fn fade(mut commands: Commands, mut marks: Query<(Entity, &mut Mark)>, time: Res<Time>) {
    for (entity, mut mark) in &mut marks {
        if mark.0.tick(time.delta()).just_finished() {
            commands.entity(entity).despawn();
        }
    }
}

fn follow(
    hero: Single<&Transform, With<Hero>>,
    mut camera: Single<&mut Transform, (With<Camera3d>, Without<Hero>)>,
    output: Res<Output>,
) {
    // From the front in the picture, so that it shows the light at the hand.
    let away = if *output == Output::Window { Vec3::new(0.0, 1.8, -4.0) } else { Vec3::new(-1.8, 1.6, 3.0) };
    let eye = hero.translation + hero.rotation * away;
    **camera = Transform::from_translation(eye).looking_at(hero.translation + Vec3::Y, Vec3::Y);
}
