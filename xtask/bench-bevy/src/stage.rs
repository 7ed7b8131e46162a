//! The foxes, the camera and the sun.

use std::path::{Path, PathBuf};

use bevy::asset::AssetPlugin;
use bevy::camera::RenderTarget;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::image::Image;
use bevy::prelude::*;
use bevy::render::render_resource::{PollType, TextureFormat, TextureUsages};
use bevy::render::renderer::RenderDevice;
use bevy::render::view::screenshot::{Screenshot, save_to_disk};
use bevy::render::{Render, RenderApp, RenderPlugin, RenderSystems};
use bevy::window::{ExitCondition, WindowPlugin};
use bevy::world_serialization::WorldInstanceReady;

use crate::stamps;

const WIDTH: u32 = 1920;
const HEIGHT: u32 = 1080;
/// Distance between foxes, in metres. This and all values below equal those in
/// `xtask/bench/src/foxes/mod.rs`.
const SPACING: f32 = 2.0;
/// Metres per unit of the file, which is in centimetres.
const SCALE: f32 = 0.01;
const CLIPS: usize = 3;

/// Number of foxes, and the file for a picture.
#[derive(Resource, Clone)]
pub struct Stage {
    pub count: u32,
    pub picture: Option<PathBuf>,
}

/// Number of foxes that have loaded and play a clip.
#[derive(Resource, Default)]
pub struct Players {
    pub playing: u32,
}

#[derive(Resource)]
struct Target(Handle<Image>);

#[derive(Resource)]
struct Animations {
    clips: Vec<Handle<AnimationClip>>,
    nodes: Vec<AnimationNodeIndex>,
    graph: Handle<AnimationGraph>,
}

/// Index of a fox.
#[derive(Component)]
struct Number(u32);

/// Creates an app with Bevy's default plugins and no window.
pub fn app(folder: &Path, stage: Stage) -> App {
    let mut app = App::new();
    app.add_plugins(
        DefaultPlugins
            .set(WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() })
            .set(RenderPlugin { synchronous_pipeline_compilation: true, ..default() })
            .set(AssetPlugin { file_path: folder.display().to_string(), ..default() }),
    )
    // As in Bevy's own example: all objects of this scene move.
    .insert_resource(StaticTransformOptimizations::Disabled)
    .insert_resource(ClearColor(Color::BLACK))
    .insert_resource(GlobalAmbientLight { brightness: 300.0, ..default() })
    .insert_resource(stage)
    .init_resource::<Players>()
    .add_systems(Startup, setup);

    let Some(render) = app.get_sub_app_mut(RenderApp) else { return app };
    if let Some(mut extract) = render.take_extract() {
        render.set_extract(move |main, world| stamps::EXTRACT.time(|| extract(main, world)));
    }
    render.add_systems(Render, (|| stamps::RENDER.begin()).before(RenderSystems::ExtractCommands));
    render.add_systems(Render, wait.after(RenderSystems::Render).before(RenderSystems::Cleanup));
    app
}

/// Waits until the GPU has drawn the frame.
fn wait(device: Res<RenderDevice>) {
    stamps::RENDER.end();
    if let Err(error) = device.poll(PollType::Wait { submission_index: None, timeout: None }) {
        error!("the device failed: {error}");
    }
}

fn setup(
    mut commands: Commands,
    server: Res<AssetServer>,
    stage: Res<Stage>,
    mut graphs: ResMut<Assets<AnimationGraph>>,
    mut images: ResMut<Assets<Image>>,
) {
    let clips: Vec<_> = (0..CLIPS).map(|i| server.load(GltfAssetLabel::Animation(i).from_asset("Fox.glb"))).collect();
    let mut graph = AnimationGraph::new();
    let root = graph.root;
    let nodes = graph.add_clips(clips.iter().cloned(), 1.0, root).collect();
    commands.insert_resource(Animations { clips, nodes, graph: graphs.add(graph) });

    let fox: Handle<WorldAsset> = server.load(GltfAssetLabel::Scene(0).from_asset("Fox.glb"));
    let side = f64::from(stage.count).sqrt().ceil() as u32;
    for i in 0..stage.count {
        let at = [i % side, i / side].map(|c| (c as f32 - side as f32 / 2.0) * SPACING);
        let place = Transform::from_xyz(at[0], 0.0, at[1])
            .with_rotation(Quat::from_rotation_y(i as f32 * 2.4))
            .with_scale(Vec3::splat(SCALE));
        commands.spawn((WorldAssetRoot(fox.clone()), place, Number(i))).observe(play);
    }

    let mut target = Image::new_target_texture(WIDTH, HEIGHT, TextureFormat::Rgba8UnormSrgb, None);
    target.texture_descriptor.usage |= TextureUsages::COPY_SRC;
    let target = images.add(target);
    commands.insert_resource(Target(target.clone()));
    // From above, so that all foxes are in view.
    let reach = side as f32 * SPACING;
    commands.spawn((
        Camera3d::default(),
        RenderTarget::Image(target.into()),
        Msaa::Off,
        Tonemapping::None,
        Projection::Perspective(PerspectiveProjection {
            fov: 1.0,
            aspect_ratio: 16.0 / 9.0,
            near: 0.1,
            far: 4.0 * reach + 10.0,
            ..default()
        }),
        Transform::from_xyz(0.0, reach * 0.75, reach * 0.85).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    commands.spawn((
        DirectionalLight { shadow_maps_enabled: false, ..default() },
        Transform::from_xyz(0.4, 0.8, 0.45).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}

/// Starts the clip of a loaded fox, at the fox's own phase.
fn play(
    ready: On<WorldInstanceReady>,
    animations: Res<Animations>,
    clips: Res<Assets<AnimationClip>>,
    numbers: Query<&Number>,
    children: Query<&Children>,
    mut players: Query<&mut AnimationPlayer>,
    mut playing: ResMut<Players>,
    mut commands: Commands,
) {
    let Ok(Number(number)) = numbers.get(ready.entity) else { return };
    let clip = *number as usize % animations.nodes.len();
    let duration = clips.get(&animations.clips[clip]).map_or(1.0, AnimationClip::duration);
    for child in children.iter_descendants(ready.entity) {
        if let Ok(mut player) = players.get_mut(child) {
            let phase = (*number as f32 * 0.618).fract();
            player.play(animations.nodes[clip]).repeat().seek_to(phase * duration);
            commands.entity(child).insert(AnimationGraphHandle(animations.graph.clone()));
            playing.playing += 1;
        }
    }
}

/// Writes the next frame to the requested file.
pub fn take_picture(app: &mut App) {
    let world = app.world_mut();
    let (target, path) = (world.resource::<Target>().0.clone(), world.resource::<Stage>().picture.clone());
    if let Some(path) = path {
        world.spawn(Screenshot::image(target)).observe(save_to_disk(path));
    }
}
