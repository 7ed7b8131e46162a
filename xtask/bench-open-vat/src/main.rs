//! Ten thousand foxes that run in rings, the scene of `bevy_open_vat`'s example `many_foxes`: drawn by that crate, and by this one
//! with an entity per fox or as one crowd.
//!
//! ```text
//! FOX=path/to/Fox.glb cargo run --release -- [--count N] [--frames N] [--passes] [--scene NAME [--headless FILE.png]]
//! ```
//!
//! Without `--scene`, draws all scenes, each in a process of its own, to a texture of 1920 x 1080, and prints a table. `bevy_open_vat`
//! gets its textures from this crate's CPU reference, in the size of those of its example: 30 frames per second, three clips. Its
//! foxes have no base colour texture here.

#[path = "../../../bevy_gpuskin/examples/common/mod.rs"]
#[allow(dead_code, reason = "for examples with other options")]
mod common;
#[path = "../../../bevy_gpuskin/examples/common/measure.rs"]
mod measure;
mod open_vat;

use core::f32::consts::{PI, TAU};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::light::CascadeShadowConfigBuilder;
use bevy::prelude::*;
use bevy_gpuskin::gpuskin_rt::{CrowdDescriptor, Instance, Motion, Transform as Placement};
use bevy_gpuskin::{Character, CharacterCrowd, CharacterPlugin, GpuskinPlugin};

use crate::common::Output;

gpuskin_rt::include_baked!();

/// Distances between rings, and between the foxes of a ring, metres.
const SPACING: f32 = 2.0;
/// Speed of the foxes, metres per second, and of their clip.
const SPEED: f32 = 2.0;
/// Size of a fox whose model is in centimetres.
const SCALE: f32 = 0.01;

/// Scene that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scene {
    OpenVat,
    Characters,
    Crowd,
    Empty,
}

impl Scene {
    const ALL: [Self; 4] = [Self::OpenVat, Self::Characters, Self::Crowd, Self::Empty];

    const fn name(self) -> &'static str {
        match self {
            Self::OpenVat => "open-vat",
            Self::Characters => "characters",
            Self::Crowd => "crowd",
            Self::Empty => "empty",
        }
    }
}

#[derive(Clone, Debug)]
struct Options {
    count: usize,
    frames: usize,
    passes: bool,
    scene: Option<Scene>,
    headless: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    match options.scene {
        Some(scene) => one(scene, &options),
        None => all(&options),
    }
}

fn options() -> Result<Options, lexopt::Error> {
    use lexopt::prelude::*;
    let mut options = Options { count: 10_000, frames: 200, passes: false, scene: None, headless: None };
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("count") => options.count = parser.value()?.parse()?,
            Long("frames") => options.frames = parser.value()?.parse::<usize>()?.max(1),
            Long("passes") => options.passes = true,
            Long("headless") => options.headless = Some(parser.value()?.into()),
            Long("scene") => {
                let name = parser.value()?.string()?;
                let scene = Scene::ALL.into_iter().find(|scene| scene.name() == name);
                let names = Scene::ALL.map(Scene::name).join(", ");
                options.scene = Some(scene.ok_or_else(|| format!("no scene {name}; there are {names}"))?);
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(options)
}

/// Measures all scenes, and prints a table.
fn all(options: &Options) -> ExitCode {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => {
            eprintln!("this program does not find its own file: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{} foxes, {} frames, 1920 x 1080, 4 shadow cascades, 4 samples", options.count, options.frames);
    println!("{}\n", measure::EXPLANATION);
    println!("{:<12}{}", "scene", measure::HEADINGS.map(|heading| format!("{heading:>9}")).concat());
    for scene in Scene::ALL {
        let mut command = Command::new(&program);
        command.args(["--scene", scene.name(), "--count", &options.count.to_string()]);
        command.args(["--frames", &options.frames.to_string()]).args(options.passes.then_some("--passes"));
        if let Some(path) = &options.headless {
            command.arg("--headless").arg(path.with_extension(format!("{}.png", scene.name())));
        }
        match command.status() {
            Ok(status) if status.success() => {}
            _ => return ExitCode::FAILURE,
        }
    }
    ExitCode::SUCCESS
}

/// Measures one scene, and prints its row.
fn one(scene: Scene, options: &Options) -> ExitCode {
    let mut app = common::app(&Output::Texture);
    app.insert_resource(StaticTransformOptimizations::Disabled);
    let crowd = CrowdDescriptor { capacity: options.count as u32, ..default() };
    app.add_plugins((GpuskinPlugin::default(), CharacterPlugin::<models::Fox>::with_crowd(crowd)));
    let foxes = Foxes::new(options.count);
    let radius = foxes.radius;
    app.add_systems(Startup, move |commands: Commands, meshes: ResMut<Assets<Mesh>>, materials: ResMut<_>| {
        spawn_stage(commands, meshes, materials, radius);
    });
    app.add_systems(Update, turn_rings);
    match scene {
        Scene::OpenVat => open_vat::build(&mut app, foxes),
        Scene::Characters => spawn_rings(&mut app, &foxes, |_, fox| {
            Character::playing(clips::FOX_RUN).speed(SPEED).seek(fox.seconds.into())
        }),
        Scene::Crowd => {
            let crowd = CharacterCrowd::<models::Fox>::new(foxes.iter().map(instance));
            app.world_mut().spawn(crowd);
        }
        Scene::Empty => {}
    }
    let numbers = match measure::measure(&mut app, options.frames, options.passes, |_| true) {
        Ok(numbers) => numbers,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{:<12}{numbers}", scene.name());
    numbers.passes.iter().for_each(|(name, ms)| println!("  {name:<40}{ms:>9.3}"));
    match &options.headless {
        Some(path) => common::save(&mut app, path),
        None => ExitCode::SUCCESS,
    }
}

/// Rings of foxes.
#[derive(Clone, Debug)]
struct Foxes {
    rings: Vec<Vec<Fox>>,
    /// Radius of the ring after the last one, metres.
    radius: f32,
}

/// A fox in its ring.
#[derive(Clone, Copy, Debug)]
struct Fox {
    place: Transform,
    /// Time in its clip at the start.
    seconds: f32,
    /// Rate at which its ring turns about +Y, radians per second.
    turn_rate: f32,
}

impl Foxes {
    fn new(count: usize) -> Self {
        let (mut rings, mut radius, mut remaining) = (Vec::new(), SPACING, count);
        while remaining > 0 {
            let forwards = rings.len() % 2 == 1;
            let number = ((TAU * radius / SPACING) as usize).min(remaining);
            let fox = |i: usize| {
                let angle = TAU * i as f32 / number as f32;
                let base = if forwards { 0.0 } else { PI };
                let place = Transform::from_xyz(radius * angle.cos(), 0.0, radius * angle.sin())
                    .with_scale(Vec3::splat(SCALE))
                    .with_rotation(Quat::from_rotation_y(base - angle));
                let sign = if forwards { -1.0 } else { 1.0 };
                Fox { place, seconds: i as f32 * 0.1, turn_rate: sign * SPEED / radius }
            };
            rings.push((0..number).map(fox).collect());
            remaining -= number;
            radius += SPACING;
        }
        Self { rings, radius }
    }

    fn iter(&self) -> impl Iterator<Item = &Fox> {
        self.rings.iter().flatten()
    }
}

/// A fox of a crowd, which the GPU moves.
fn instance(fox: &Fox) -> Instance<models::Fox> {
    let Transform { translation, rotation, .. } = fox.place;
    let place = Placement { rotation: rotation.to_array(), ..Placement::at(translation.to_array()).scaled(SCALE) };
    Instance::at([0.0; 3])
        .with_transform(place)
        .play(clips::FOX_RUN)
        .speed(SPEED)
        .seek(fox.seconds.into())
        .moving(Motion::forwards(SPEED).turning(fox.turn_rate))
}

/// Rate at which a ring turns about +Y, radians per second.
#[derive(Component)]
struct Ring(f32);

/// Spawns foxes as children of their rings.
fn spawn_rings<B: Bundle>(app: &mut App, foxes: &Foxes, mut fox: impl FnMut(&mut World, &Fox) -> B) {
    let world = app.world_mut();
    for ring in &foxes.rings {
        let Some(first) = ring.first() else { continue };
        let parent = world.spawn((Transform::default(), Visibility::default(), Ring(first.turn_rate))).id();
        for place in ring {
            let bundle = fox(world, place);
            world.spawn((bundle, place.place, ChildOf(parent)));
        }
    }
}

fn turn_rings(time: Res<Time>, mut rings: Query<(&Ring, &mut Transform)>) {
    for (ring, mut transform) in &mut rings {
        transform.rotate_y(ring.0 * time.delta_secs());
    }
}

fn spawn_stage(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    radius: f32,
) {
    let place = radius * 0.8 * Vec3::new(1.25, 0.5, 1.5);
    let camera = Transform::from_translation(place).looking_at(0.2 * Vec3::new(place.x, 0.0, place.z), Vec3::Y);
    commands.spawn((Camera3d::default(), Tonemapping::AcesFitted, camera));
    let ground = Plane3d::default().mesh().size(5000.0, 5000.0);
    commands.spawn((Mesh3d(meshes.add(ground)), MeshMaterial3d(materials.add(Color::srgb(0.3, 0.5, 0.3)))));
    commands.spawn((
        Transform::from_rotation(Quat::from_euler(EulerRot::ZYX, 0.0, 1.0, -PI / 4.0)),
        DirectionalLight { shadow_maps_enabled: true, ..default() },
        CascadeShadowConfigBuilder {
            first_cascade_far_bound: 0.9 * radius,
            maximum_distance: 2.8 * radius,
            ..default()
        }
        .build(),
    ));
}
