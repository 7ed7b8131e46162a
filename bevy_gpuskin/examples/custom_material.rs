//! A WGSL function of the game on top of Bevy's PBR: soldiers of flesh, in snow, of bronze, and a hologram. Each chooses by a word of
//! its own. The space bar gives each soldier the next surface.
//!
//! ```text
//! cargo run --release --example custom_material --features window
//! cargo run --release --example custom_material -- --headless out.png
//! ```

mod common;

use std::process::ExitCode;

use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::prelude::*;
use bevy_gpuskin::{Character, CharacterPlugin};
use bevy_gpuskin_sample_models::{clips, models::Soldier};

/// Surfaces by [`Character::custom`]: 0 as baked, 1 snow, 2 bronze, 3 hologram.
const SURFACE: &str = r"
fn surface(point: SurfacePoint, uv: vec2<f32>) -> SurfacePoint {
    var changed = point;
    switch point.custom.x {
        case 1u: {
            let snow = smoothstep(0.2, 0.5, point.normal.y);
            changed.base_color = mix(point.base_color, vec3<f32>(0.9, 0.93, 1.0), snow);
            changed.roughness = mix(point.roughness, 0.9, snow);
            changed.metallic *= 1.0 - snow;
        }
        case 2u: {
            // The darker the texture, the more verdigris.
            let light = dot(point.base_color, vec3<f32>(0.3, 0.6, 0.1));
            let verdigris = smoothstep(0.16, 0.05, light);
            changed.base_color = mix(vec3<f32>(0.75, 0.42, 0.16), vec3<f32>(0.12, 0.33, 0.26), verdigris);
            changed.metallic = 1.0 - verdigris;
            changed.roughness = mix(0.35, 0.8, verdigris);
        }
        case 3u: {
            let rim = pow(1.0 - max(dot(point.normal, point.to_eye), 0.0), 2.0);
            let stripes = 0.6 + 0.4 * sin(120.0 * point.position.y - 6.0 * globals.time);
            changed.base_color = vec3<f32>(0.0);
            changed.emitted = vec3<f32>(0.15, 0.7, 1.0) * (0.12 + 1.6 * rim) * stripes;
        }
        default: {}
    }
    return changed;
}
";

fn main() -> ExitCode {
    common::main(|app| {
        app.add_plugins(CharacterPlugin::<Soldier>::default().with_surface(SURFACE))
            .insert_resource(GlobalAmbientLight { brightness: 400.0, ..default() })
            .add_systems(Startup, spawn)
            .add_systems(Update, change);
    })
}

fn spawn(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>, mut materials: ResMut<Assets<StandardMaterial>>) {
    let clips = [clips::SOLDIER_IDLE, clips::SOLDIER_WALK, clips::SOLDIER_ATTACK, clips::SOLDIER_RUN];
    for (i, clip) in (0..).zip(clips) {
        let place = Transform::from_xyz(1.3 * i as f32 - 1.95, 0.0, 0.0).with_rotation(Quat::from_rotation_y(0.3));
        commands.spawn((Character::playing(clip).phase(0.3).custom([i, 0]), place));
    }
    commands.spawn((
        Camera3d::default(),
        Tonemapping::AcesFitted,
        Transform::from_xyz(0.0, 1.5, 4.6).looking_at(Vec3::new(0.0, 0.95, 0.0), Vec3::Y),
    ));
    commands.spawn((
        DirectionalLight { shadow_maps_enabled: true, illuminance: 6_000.0, ..default() },
        Transform::default().looking_to(Vec3::new(-0.6, -1.0, -0.7), Vec3::Y),
    ));
    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(60.0, 60.0))),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: Color::srgb(0.4, 0.42, 0.4),
            perceptual_roughness: 1.0,
            ..default()
        })),
    ));
}

/// The space bar gives each soldier the next surface.
fn change(mut soldiers: Query<&mut Character<Soldier>>, keys: Res<ButtonInput<KeyCode>>, mut turns: Local<u32>) {
    if keys.just_pressed(KeyCode::Space) {
        *turns += 1;
        for (i, mut soldier) in (0..).zip(&mut soldiers) {
            soldier.set_custom([(i + *turns) % 4, 0]);
        }
    }
}
