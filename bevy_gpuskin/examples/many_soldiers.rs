//! Ten thousand soldiers, one entity each, under a sun with four shadow cascades.
//!
//! ```text
//! cargo run --release --example many_soldiers --features window
//! cargo run --release --example many_soldiers -- --headless out.png
//! cargo run --release --example many_soldiers -- --bench [--count N] [--frames N] [--move] [--static | --empty]
//! ```
//!
//! `--bench` renders to a texture of 1920 x 1080 and prints a line of JSON: `frame_ms`, the median time of a frame, which
//! waits for the GPU, and `cpu_ms`, the processor time of a frame on all threads (Linux). `--static` draws Bevy's own static
//! meshes instead: a soldier in one pose, without animation. `--empty` draws neither. `--move` moves all entities in each frame.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use bevy::asset::RenderAssetUsages;
use bevy::camera::RenderTarget;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::light::CascadeShadowConfigBuilder;
use bevy::mesh::{Indices, PrimitiveTopology};
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::gpu_readback::{Readback, ReadbackComplete};
use bevy::render::render_resource::{PollType, TextureFormat, TextureUsages};
use bevy::render::renderer::{RenderAdapterInfo, RenderDevice};
use bevy::render::settings::{WgpuFeatures, WgpuSettings};
use bevy::window::ExitCondition;
use bevy_gpuskin::gpuskin_rt::tools::CpuModel;
use bevy_gpuskin::gpuskin_rt::{BakedModel, CrowdDescriptor, Instance, Time as GpuskinTime};
use bevy_gpuskin::{Character, CharacterPlugin};
use bevy_gpuskin_sample_models::{clips, models::Soldier};

const WIDTH: u32 = 1920;
const HEIGHT: u32 = 1080;
/// Distance between soldiers, metres.
const SPACING: f32 = 1.6;

/// Scene that is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drawn {
    Characters,
    StaticMeshes,
    Nothing,
}

#[derive(Resource, Clone, Debug)]
struct Options {
    count: u32,
    frames: usize,
    headless: Option<PathBuf>,
    bench: bool,
    moving: bool,
    drawn: Drawn,
}

/// Image that is rendered to where there is no window.
#[derive(Resource)]
struct Target(Handle<Image>);

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let in_window = options.headless.is_none() && !options.bench;
    if in_window && !cfg!(feature = "window") {
        eprintln!("no window in this build: add --features window, or use --headless FILE.png");
        return ExitCode::FAILURE;
    }
    let mut app = App::new();
    let window = WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() };
    // Mesa's llvmpipe 22.3, which draws pictures where there is no GPU, applies the count of such a draw to later indirect
    // draws of the same pass.
    let disabled_features = (!in_window && !options.bench).then_some(WgpuFeatures::MULTI_DRAW_INDIRECT_COUNT);
    let plugins = DefaultPlugins.set(RenderPlugin {
        synchronous_pipeline_compilation: !in_window,
        render_creation: WgpuSettings { disabled_features, ..default() }.into(),
        ..default()
    });
    app.add_plugins(if in_window { plugins } else { headless(plugins.set(window)) });
    let crowd = CrowdDescriptor { capacity: options.count, ..default() };
    app.add_plugins(CharacterPlugin::<Soldier>::with_crowd(crowd))
        .insert_resource(ClearColor(Color::srgb(0.55, 0.68, 0.85)))
        .insert_resource(GlobalAmbientLight { brightness: 300.0, ..default() })
        .insert_resource(options.clone())
        .add_systems(Startup, (spawn_stage, spawn_soldiers));
    if options.moving {
        app.add_systems(Update, move_all);
    }
    if in_window {
        app.run();
        return ExitCode::SUCCESS;
    }
    app.finish();
    app.cleanup();
    // Bevy loads its shaders in the background.
    let start = Instant::now();
    while start.elapsed().as_secs_f32() < 2.0 {
        app.update();
    }
    if options.bench {
        bench(&mut app, &options);
    }
    match &options.headless {
        Some(path) => save(&mut app, path),
        None => ExitCode::SUCCESS,
    }
}

/// Removes the plugin that opens windows, if this build has it.
fn headless(plugins: bevy::app::PluginGroupBuilder) -> bevy::app::PluginGroupBuilder {
    #[cfg(feature = "window")]
    let plugins = plugins.disable::<bevy::winit::WinitPlugin>();
    plugins
}

fn options() -> Result<Options, lexopt::Error> {
    use lexopt::prelude::*;
    let mut options =
        Options { count: 10_000, frames: 200, headless: None, bench: false, moving: false, drawn: Drawn::Characters };
    let mut parser = lexopt::Parser::from_env();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("count") => options.count = parser.value()?.parse()?,
            Long("frames") => options.frames = parser.value()?.parse::<usize>()?.max(1),
            Long("headless") => options.headless = Some(parser.value()?.into()),
            Long("bench") => options.bench = true,
            Long("move") => options.moving = true,
            Long("static") => options.drawn = Drawn::StaticMeshes,
            Long("empty") => options.drawn = Drawn::Nothing,
            other => return Err(other.unexpected()),
        }
    }
    Ok(options)
}

fn spawn_stage(
    mut commands: Commands,
    options: Res<Options>,
    mut images: ResMut<Assets<Image>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let reach = side(options.count) as f32 * SPACING;
    let place = Transform::from_xyz(0.0, reach * 0.18 + 1.5, reach * 0.62)
        .looking_at(Vec3::new(0.0, 0.0, reach * 0.1), Vec3::Y);
    let mut camera = commands.spawn((
        Camera3d::default(),
        Tonemapping::AcesFitted,
        Projection::Perspective(PerspectiveProjection { far: 4.0 * reach, ..default() }),
        place,
    ));
    if options.bench || options.headless.is_some() {
        let mut image = Image::new_target_texture(WIDTH, HEIGHT, TextureFormat::Rgba8UnormSrgb, None);
        image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
        let image = images.add(image);
        camera.insert(RenderTarget::from(image.clone()));
        commands.insert_resource(Target(image));
    }
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

fn spawn_soldiers(
    mut commands: Commands,
    options: Res<Options>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let side = side(options.count);
    let clips = [clips::SOLDIER_RUN, clips::SOLDIER_WALK, clips::SOLDIER_IDLE, clips::SOLDIER_ATTACK];
    let places = (0..options.count).map(|i| {
        let at = [i % side, i / side].map(|c| (c as f32 - 0.5 * side as f32) * SPACING);
        Transform::from_xyz(at[0], 0.0, at[1]).with_rotation(Quat::from_rotation_y(0.3 * (i as f32 * 2.4).sin()))
    });
    match options.drawn {
        Drawn::Characters => {
            let all: Vec<_> = (0..)
                .zip(places)
                .map(|(i, place)| {
                    let phase = (i as f32 * 0.618).fract();
                    (Character::playing(clips[i % clips.len()]).phase(phase), place, Moves)
                })
                .collect();
            commands.spawn_batch(all);
        }
        Drawn::StaticMeshes => {
            let parts = static_meshes(&mut meshes, &mut materials);
            for place in places {
                for (mesh, material) in &parts {
                    commands.spawn((Mesh3d(mesh.clone()), MeshMaterial3d(material.clone()), place, Moves));
                }
            }
        }
        Drawn::Nothing => {}
    }
}

/// A soldier in one pose as Bevy's meshes: one per material.
fn static_meshes(
    meshes: &mut Assets<Mesh>,
    materials: &mut Assets<StandardMaterial>,
) -> Vec<(Handle<Mesh>, Handle<StandardMaterial>)> {
    let meta = &Soldier::MODEL.meta;
    let model = CpuModel::new(Soldier::MODEL).expect("the sample models are baked by the build script");
    let instance = Instance::at([0.0; 3]).play(clips::SOLDIER_IDLE).record(meta, GpuskinTime::ZERO);
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
        let standard = StandardMaterial {
            base_color: LinearRgba { red, green, blue, alpha }.into(),
            metallic: material.metallic,
            perceptual_roughness: material.roughness,
            ..default()
        };
        (meshes.add(mesh), materials.add(standard))
    };
    (0..).zip(meta.materials()).map(of_material).collect()
}

/// An entity that `--move` moves.
#[derive(Component)]
struct Moves;

fn move_all(time: Res<Time>, mut moving: Query<&mut Transform, With<Moves>>) {
    let step = 0.3 * time.delta_secs();
    moving.par_iter_mut().for_each(|mut transform| {
        let ahead = transform.rotation * Vec3::Z;
        transform.translation += ahead * step;
    });
}

fn side(count: u32) -> u32 {
    f64::from(count).sqrt().ceil() as u32
}

fn bench(app: &mut App, options: &Options) {
    let mut frames = Vec::new();
    let device = app.world().resource::<RenderDevice>().clone();
    let wait = || device.poll(PollType::Wait { submission_index: None, timeout: None });
    let _ = wait();
    let before = processor_ms();
    for _ in 0..options.frames {
        let start = Instant::now();
        app.update();
        if let Err(error) = wait() {
            eprintln!("the device failed: {error}");
            return;
        }
        frames.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let cpu = processor_ms().zip(before).map(|(after, before)| (after - before) / options.frames as f64);
    frames.sort_by(f64::total_cmp);
    let adapter = app.world().resource::<RenderAdapterInfo>().name.replace(['"', '\\'], "");
    println!(
        "{{\"drawn\":\"{:?}\",\"adapter\":\"{adapter}\",\"count\":{},\"frames\":{},\"moving\":{},\"frame_ms\":{:.4},\"cpu_ms\":{}}}",
        options.drawn,
        options.count,
        options.frames,
        options.moving,
        frames[frames.len() / 2],
        cpu.map_or("null".to_owned(), |cpu| format!("{cpu:.4}")),
    );
}

/// Processor time of this process, milliseconds; `None` where there is no `/proc`.
fn processor_ms() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may contain spaces.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    // Linux counts 100 ticks per second, on every architecture.
    Some(ticks * 10.0)
}

fn save(app: &mut App, path: &Path) -> ExitCode {
    let image = app.world().resource::<Target>().0.clone();
    let path = path.to_owned();
    let written = std::sync::Arc::new(std::sync::OnceLock::new());
    let sink = written.clone();
    app.world_mut().spawn(Readback::texture(image)).observe(move |complete: On<ReadbackComplete>| {
        sink.get_or_init(|| write_png(&path, &complete.data));
    });
    let device = app.world().resource::<RenderDevice>().clone();
    for _ in 0..100 {
        app.update();
        let _ = device.poll(PollType::Wait { submission_index: None, timeout: None });
        match written.get() {
            Some(Ok(())) => return ExitCode::SUCCESS,
            Some(Err(error)) => {
                eprintln!("the picture could not be written: {error}");
                return ExitCode::FAILURE;
            }
            None => {}
        }
    }
    eprintln!("the picture was not read back in 100 frames");
    ExitCode::FAILURE
}

fn write_png(path: &Path, pixels: &[u8]) -> Result<(), png::EncodingError> {
    let file = std::fs::File::create(path)?;
    let mut encoder = png::Encoder::new(std::io::BufWriter::new(file), WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(pixels)
}
