//! Shadows of a low sun in four cascades, and of a fire among the soldiers: both lights cast the soldiers' shadows on the ground, on
//! Bevy's meshes and on the soldiers.
//!
//! ```text
//! cargo run --release --example shadows --features window
//! cargo run --release --example shadows -- --headless out.png
//! ```

mod common;

use std::f32::consts::TAU;
use std::process::ExitCode;

use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::light::CascadeShadowConfigBuilder;
use bevy::prelude::*;
use bevy_gpuskin::{Character, CharacterPlugin};
use bevy_gpuskin_sample_models::clips;
use bevy_gpuskin_sample_models::models::{Hound, Soldier};

/// A hound that walks around the fire.
#[derive(Component)]
struct Sentry;

#[derive(Component)]
struct Fire;

fn main() -> ExitCode {
    common::main(|app| {
        app.add_plugins((CharacterPlugin::<Soldier>::default(), CharacterPlugin::<Hound>::default()))
            .insert_resource(GlobalAmbientLight { brightness: 60.0, ..default() })
            .insert_resource(ClearColor(Color::srgb(0.32, 0.26, 0.34)))
            .add_systems(Startup, spawn)
            .add_systems(Update, (patrol, flicker));
    })
}

fn spawn(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>, mut materials: ResMut<Assets<StandardMaterial>>) {
    // A ring around the fire, and a column that marches past.
    for i in 0..7 {
        let angle = TAU * (i as f32 + 0.4) / 7.0;
        let at = Vec3::new(angle.sin(), 0.0, angle.cos()) * 2.6;
        let place = Transform::from_translation(at).looking_at(at * 2.0, Vec3::Y);
        commands.spawn((Character::playing(clips::SOLDIER_IDLE).phase(0.37 * i as f32), place));
    }
    for i in 0..60 {
        let place = Transform::from_xyz(1.5 * (i % 15) as f32 - 12.0, 0.0, -6.0 - 1.6 * (i / 15) as f32);
        let walk = Character::playing(clips::SOLDIER_WALK).phase(0.13 * i as f32);
        commands.spawn((walk, place.with_rotation(Quat::from_rotation_y(0.25 * TAU))));
    }
    for i in 0..2 {
        let angle = 0.5 * TAU * i as f32;
        let around = Transform::from_rotation(Quat::from_rotation_y(angle)) * Transform::from_xyz(4.2, 0.0, 0.0);
        commands.spawn((Character::playing(clips::HOUND_WALK).phase(0.5 * i as f32), Sentry, around));
    }
    commands.spawn((
        DirectionalLight {
            shadow_maps_enabled: true,
            illuminance: 6_000.0,
            color: Color::srgb(1.0, 0.75, 0.55),
            ..default()
        },
        CascadeShadowConfigBuilder { first_cascade_far_bound: 8.0, maximum_distance: 60.0, ..default() }.build(),
        Transform::default().looking_to(Vec3::new(0.75, -0.35, -0.5), Vec3::Y),
    ));
    let embers = materials.add(StandardMaterial { emissive: LinearRgba::rgb(900.0, 260.0, 40.0), ..default() });
    commands.spawn((
        Fire,
        PointLight { shadow_maps_enabled: true, color: Color::srgb(1.0, 0.55, 0.25), range: 20.0, ..default() },
        Transform::from_xyz(0.0, 0.7, 0.0),
    ));
    // The light is above the embers, so that they do not hide it.
    commands.spawn((
        Mesh3d(meshes.add(Sphere::new(0.22))),
        MeshMaterial3d(embers),
        bevy::light::NotShadowCaster,
        Transform::from_xyz(0.0, 0.15, 0.0).with_scale(Vec3::new(1.6, 0.6, 1.6)),
    ));
    let stone = materials.add(StandardMaterial {
        base_color: Color::srgb(0.5, 0.48, 0.44),
        perceptual_roughness: 0.95,
        ..default()
    });
    for x in [-6.5, 6.5] {
        commands.spawn((
            Mesh3d(meshes.add(Cuboid::new(1.2, 3.4, 1.2))),
            MeshMaterial3d(stone.clone()),
            Transform::from_xyz(x, 1.7, -3.0),
        ));
    }
    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(200.0, 200.0))),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: Color::srgb(0.42, 0.45, 0.32),
            perceptual_roughness: 1.0,
            ..default()
        })),
    ));
    commands.spawn((
        Camera3d::default(),
        Tonemapping::AcesFitted,
        Transform::from_xyz(-1.2, 3.4, 8.2).looking_at(Vec3::new(0.0, 0.7, -1.5), Vec3::Y),
    ));
}

/// The hounds walk around the fire, at the speed of their clip.
fn patrol(mut sentries: Query<&mut Transform, With<Sentry>>, time: Res<Time>) {
    for mut place in &mut sentries {
        let turn = Quat::from_rotation_y(0.85 / 4.2 * time.delta_secs());
        place.translation = turn * place.translation;
        let ahead = Vec3::Y.cross(place.translation);
        place.look_to(-ahead, Vec3::Y);
    }
}

fn flicker(mut fires: Query<&mut PointLight, With<Fire>>, time: Res<Time>) {
    let t = time.elapsed_secs();
    for mut light in &mut fires {
        light.intensity = 450_000.0 * (1.0 + 0.12 * (9.0 * t).sin() + 0.08 * (23.0 * t).sin());
    }
}
