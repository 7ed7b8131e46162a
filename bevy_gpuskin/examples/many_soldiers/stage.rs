//! Camera, sun, ground, and the soldiers.

use bevy::asset::RenderAssetUsages;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::light::CascadeShadowConfigBuilder;
use bevy::mesh::{Indices, PrimitiveTopology};
use bevy::prelude::*;
use bevy_gpuskin::gpuskin_rt::tools::CpuModel;
use bevy_gpuskin::gpuskin_rt::{BakedModel, CrowdDescriptor, Instance, Motion, Time as GpuskinTime};
use bevy_gpuskin::{Character, CharacterCrowd, CharacterPlugin, GpuskinPlugin};
use bevy_gpuskin_sample_models::{clips, models::Soldier};

use crate::{Options, Scene};

/// Distance between soldiers, metres.
const SPACING: f32 = 1.6;
/// Speed of soldiers that move, metres per second.
const SPEED: f32 = 0.3;

/// Number of soldiers that are loaded.
#[derive(Resource, Default)]
pub(crate) struct Ready(pub(crate) u32);

pub(crate) fn build(app: &mut App, options: &Options) {
    let crowd = CrowdDescriptor { capacity: options.count, ..default() };
    app.add_plugins((
        GpuskinPlugin { motion_vectors: options.taa, ..default() },
        CharacterPlugin::<Soldier>::with_crowd(crowd),
    ))
    .insert_resource(GlobalAmbientLight { brightness: 300.0, ..default() })
    .insert_resource(options.clone())
    .init_resource::<Ready>()
    .add_systems(Startup, (spawn_stage, spawn_soldiers));
    if options.moving {
        app.add_systems(Update, move_all);
    }
    if options.scene == Some(Scene::Static) {
        app.add_systems(Update, count_static);
    }
}

fn spawn_stage(
    mut commands: Commands,
    options: Res<Options>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let reach = side(options.count) as f32 * SPACING;
    let place = Transform::from_xyz(0.0, reach * 0.18 + 1.5, reach * 0.62)
        .looking_at(Vec3::new(0.0, 0.0, reach * 0.1), Vec3::Y);
    let camera = commands.spawn((
        Camera3d::default(),
        Tonemapping::AcesFitted,
        Projection::Perspective(PerspectiveProjection { far: 4.0 * reach, ..default() }),
        place,
    ));
    antialias(camera, &options);
    commands.spawn((
        DirectionalLight { shadow_maps_enabled: true, illuminance: 9_000.0, ..default() },
        Transform::default().looking_to(Vec3::new(-0.8, -0.9, -0.7), Vec3::Y),
        CascadeShadowConfigBuilder { maximum_distance: reach.max(20.0), ..default() }.build(),
    ));
    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(8.0 * reach, 8.0 * reach))),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: Color::srgb(0.42, 0.45, 0.32),
            perceptual_roughness: 1.0,
            ..default()
        })),
    ));
}

#[cfg(feature = "peers")]
fn antialias(mut camera: EntityCommands, options: &Options) {
    if options.taa {
        camera.insert((Msaa::Off, bevy::anti_alias::taa::TemporalAntiAliasing::default()));
    }
}

#[cfg(not(feature = "peers"))]
fn antialias(_: EntityCommands, _: &Options) {}

/// Places of the soldiers.
pub(crate) fn places(count: u32) -> impl Iterator<Item = Transform> {
    let side = side(count);
    (0..count).map(move |i| {
        let at = [i % side, i / side].map(|c| (c as f32 - 0.5 * side as f32) * SPACING);
        Transform::from_xyz(at[0], 0.0, at[1]).with_rotation(Quat::from_rotation_y(0.3 * (i as f32 * 2.4).sin()))
    })
}

/// Phase of the clip that a soldier plays.
pub(crate) fn phase(i: usize) -> f32 {
    (i as f32 * 0.618).fract()
}

fn spawn_soldiers(
    mut commands: Commands,
    options: Res<Options>,
    mut ready: ResMut<Ready>,
    mut meshes: ResMut<Assets<Mesh>>,
    server: Res<AssetServer>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let scene = options.scene.unwrap_or(Scene::Characters);
    let places = places(options.count);
    // Side by side in the bench, so that all play one clip there.
    let clips = [clips::SOLDIER_RUN, clips::SOLDIER_WALK, clips::SOLDIER_IDLE, clips::SOLDIER_ATTACK];
    let clip = |i: usize| clips[if options.scene.is_some() { 0 } else { i % clips.len() }];
    match scene {
        Scene::Characters => {
            let of = |(i, place)| (Character::playing(clip(i)).phase(phase(i)), place, Moves);
            commands.spawn_batch(places.enumerate().map(of).collect::<Vec<_>>());
        }
        Scene::Crowd => {
            let motion = if options.moving { Motion::forwards(SPEED) } else { Motion::STILL };
            let instance = |i| Instance::at([0.0; 3]).play(clip(i)).phase(phase(i)).moving(motion);
            let mut crowd = CharacterCrowd::<Soldier>::new((0..options.count as usize).map(instance));
            crowd.set_transforms(places);
            commands.spawn(crowd);
        }
        // By `skinned`, if the feature `peers` is on.
        Scene::Skinned => return,
        Scene::Static => {
            let parts = static_meshes(&mut meshes, &mut materials, &server);
            for place in places {
                for (mesh, material) in &parts {
                    commands.spawn((Mesh3d(mesh.clone()), MeshMaterial3d(material.clone()), place, Moves));
                }
            }
            return;
        }
        Scene::Empty => {}
    }
    ready.0 = options.count;
}

/// Counts static soldiers as loaded once their materials are: Bevy does not draw a mesh whose material is not loaded.
fn count_static(
    options: Res<Options>,
    materials: Query<&MeshMaterial3d<StandardMaterial>>,
    loaded: Res<Assets<StandardMaterial>>,
    mut ready: ResMut<Ready>,
) {
    if ready.0 == 0 && materials.iter().all(|material| loaded.contains(material)) {
        ready.0 = options.count;
    }
}

/// A soldier in one pose as Bevy's meshes: one per material.
fn static_meshes(
    meshes: &mut Assets<Mesh>,
    materials: &mut Assets<StandardMaterial>,
    server: &AssetServer,
) -> Vec<(Handle<Mesh>, Handle<StandardMaterial>)> {
    let meta = &Soldier::MODEL.meta;
    let model = CpuModel::new(Soldier::MODEL).expect("the sample models are baked by the build script");
    let instance = Instance::at([0.0; 3]).play(clips::SOLDIER_RUN).record(meta, GpuskinTime::ZERO);
    let vertices = model.vertices(&instance, 0.0);
    let of_material = |(index, material): (u32, &bevy_gpuskin::gpuskin_rt::pipeline::Material)| {
        let mesh = Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::RENDER_WORLD)
            .with_inserted_attribute(
                Mesh::ATTRIBUTE_POSITION,
                vertices.iter().map(|v| v.position()).collect::<Vec<_>>(),
            )
            .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, vertices.iter().map(|v| v.normal()).collect::<Vec<_>>())
            .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, vertices.iter().map(|v| v.uv()).collect::<Vec<_>>())
            .with_inserted_indices(Indices::U32(model.triangles(index).into_iter().flatten().collect()));
        let [red, green, blue, alpha] = material.base_color;
        let plain = || StandardMaterial {
            base_color: LinearRgba { red, green, blue, alpha }.into(),
            metallic: material.metallic,
            perceptual_roughness: material.roughness,
            ..default()
        };
        let standard = file_material(server, index).unwrap_or_else(|| materials.add(plain()));
        (meshes.add(mesh), standard)
    };
    (0..).zip(meta.materials()).map(of_material).collect()
}

/// Returns a material of the file, with its texture.
fn file_material(server: &AssetServer, index: u32) -> Option<Handle<StandardMaterial>> {
    cfg!(feature = "peers").then(|| server.load(format!("embedded://many_soldiers/soldier.glb#Material{index}/std")))
}

/// An entity that `--move` moves.
#[derive(Component)]
pub(crate) struct Moves;

fn move_all(time: Res<Time>, mut moving: Query<&mut Transform, With<Moves>>) {
    let step = SPEED * time.delta_secs();
    moving.par_iter_mut().for_each(|mut transform| {
        let ahead = transform.rotation * Vec3::Z;
        transform.translation += ahead * step;
    });
}

fn side(count: u32) -> u32 {
    f64::from(count).sqrt().ceil() as u32
}
