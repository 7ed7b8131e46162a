//! A crowd that a compute pass steers: soldiers drift with a flow that turns slowly, walk where it is slow and run where it is fast.
//! The CPU does nothing per soldier.
//!
//! ```text
//! cargo run --release --example crowd_from_gpu --features window
//! cargo run --release --example crowd_from_gpu -- --headless out.png
//! ```

mod common;

use std::process::ExitCode;

use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::light::CascadeShadowConfigBuilder;
use bevy::prelude::*;
use bevy::render::extract_resource::{ExtractResource, ExtractResourcePlugin};
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::{Render, RenderApp};
use bevy_gpuskin::gpuskin_rt::pipeline::{InstanceBuffers, instance_writer_source};
use bevy_gpuskin::gpuskin_rt::{self, Clip, Instance, wgpu};
use bevy_gpuskin::{CharacterCrowd, CharacterPlugin, CharacterRenderSystems, CharacterRenderer};
use bevy_gpuskin_sample_models::{clips, models::Soldier, wgsl};

use crate::common::Output;

/// Side of the square in which the flow stays, per soldier of a row, metres.
const SPACE: f32 = 1.3;

/// Places are moved by the flow, whose stream function is zero at the edges: it has no sources, so that the crowd keeps its density.
const FLOW: &str = r"
struct Step {
    // Time of the frame: Time::words().
    time: vec2<u32>,
    // Time of the frame, and since the frame before.
    now: f32,
    seconds: f32,
    soldiers: u32,
    // Half the side of the square, metres.
    half_side: f32,
}

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read_write> places: array<GpuskinPlaceRecord>;
@group(0) @binding(2) var<storage, read_write> playbacks: array<GpuskinPlaybackRecord>;

// Velocity of one whirl of the flow, metres per second. waves: half waves in the square.
fn whirl(at: vec2<f32>, waves: vec2<f32>, strength: f32, turn: f32) -> vec2<f32> {
    let k = waves * (3.14159265 / (2.0 * step.half_side));
    let phase = (at + step.half_side) * k;
    let s = sin(phase);
    let c = cos(phase);
    return vec2<f32>(k.y * s.x * c.y, -k.x * c.x * s.y) * (step.half_side * strength * cos(turn));
}

fn flow(at: vec2<f32>) -> vec2<f32> {
    return whirl(at, vec2<f32>(1.0, 2.0), 0.75, 0.05 * step.now)
        + whirl(at, vec2<f32>(3.0, 2.0), 0.34, 0.11 * step.now + 1.0)
        + whirl(at, vec2<f32>(2.0, 5.0), 0.12, 0.17 * step.now + 2.0);
}

// Clip for a speed. Other limits hold for the clip that plays, so that it does not change in every frame.
fn clip_for(speed: f32, playing: u32) -> u32 {
    let walks_from = select(0.45, 0.3, playing != SOLDIER_IDLE);
    let runs_from = select(2.1, 1.8, playing == SOLDIER_RUN);
    return select(select(SOLDIER_IDLE, SOLDIER_WALK, speed > walks_from), SOLDIER_RUN, speed > runs_from);
}

// Cycles per second at which the feet do not slide.
fn rate_of(clip: u32, speed: f32) -> vec2<u32> {
    switch clip {
        case SOLDIER_WALK: { return gpuskin_cycles_per_second(speed / 1.35, WALK_SECONDS); }
        case SOLDIER_RUN: { return gpuskin_cycles_per_second(speed / 3.1, RUN_SECONDS); }
        default: { return gpuskin_cycles_per_second(1.0, IDLE_SECONDS); }
    }
}

@compute @workgroup_size(64)
fn steer(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= step.soldiers) {
        return;
    }
    var at = places[id.x].translation;
    let velocity = flow(at.xz);
    let speed = length(velocity);
    at += vec3<f32>(velocity.x, 0.0, velocity.y) * step.seconds;
    places[id.x].translation = at;
    if (speed > 0.05) {
        let half_turn = 0.5 * atan2(velocity.x, velocity.y);
        places[id.x].rotation = gpuskin_pack_rotation(vec4<f32>(0.0, sin(half_turn), 0.0, cos(half_turn)));
    }
    let playing = gpuskin_current_clip(playbacks[id.x]);
    let clip = clip_for(speed, playing);
    let rate = rate_of(clip, speed);
    if (clip != playing) {
        playbacks[id.x] = gpuskin_play(playbacks[id.x], clip, rate, id.x * 2654435769u, 0.3, step.time);
    } else {
        playbacks[id.x] = gpuskin_set_rate(playbacks[id.x], rate, step.time);
    }
}
";

/// The crowd that the pass steers.
#[derive(Resource, ExtractResource, Clone, Copy)]
#[extract_app(RenderApp)]
struct Steered(Entity);

/// Pipeline of the pass, made in its first frame.
#[derive(Resource, Default)]
struct Steering {
    pipeline: Option<wgpu::ComputePipeline>,
    /// Time of the frame before, seconds.
    before: f64,
}

fn main() -> ExitCode {
    common::main(|app| {
        app.add_plugins((CharacterPlugin::<Soldier>::default(), ExtractResourcePlugin::<Steered>::default()))
            .insert_resource(GlobalAmbientLight { brightness: 250.0, ..default() })
            .add_systems(Startup, spawn);
        if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
            render_app.init_resource::<Steering>().add_systems(Render, steer.in_set(CharacterRenderSystems::Write));
        }
    })
}

fn spawn(
    output: Res<Output>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    // Fewer in a picture, which the CPU may draw.
    let side = if *output == Output::Window { 100 } else { 30 };
    let half_side = 0.5 * SPACE * side as f32;
    let soldiers = (0..side * side).map(|i| {
        // Not in rows: a third of the spaces between them to and fro.
        let scatter = |salt: u32| ((i * 2 + salt).wrapping_mul(2_654_435_769) >> 8) as f32 / (1 << 24) as f32 - 0.5;
        let [x, z] = [(i % side, 0), (i / side, 1)].map(|(n, salt)| (n as f32 + 0.5 + 0.7 * scatter(salt)) * SPACE);
        Instance::at([x - half_side, 0.0, z - half_side]).play(clips::SOLDIER_IDLE).phase(scatter(0))
    });
    let crowd = commands.spawn(CharacterCrowd::<Soldier>::new(soldiers)).id();
    commands.insert_resource(Steered(crowd));
    commands.spawn((
        Camera3d::default(),
        Tonemapping::AcesFitted,
        Transform::from_xyz(0.0, 0.5 * half_side, 1.4 * half_side).looking_at(Vec3::Z * (0.25 * half_side), Vec3::Y),
    ));
    commands.spawn((
        DirectionalLight { shadow_maps_enabled: true, illuminance: 8_000.0, ..default() },
        CascadeShadowConfigBuilder { first_cascade_far_bound: 20.0, maximum_distance: 110.0, ..default() }.build(),
        Transform::default().looking_to(Vec3::new(-0.8, -0.9, -0.4), Vec3::Y),
    ));
    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(400.0, 400.0))),
        MeshMaterial3d(materials.add(StandardMaterial {
            base_color: Color::srgb(0.5, 0.47, 0.36),
            perceptual_roughness: 1.0,
            ..default()
        })),
    ));
}

/// Steers the soldiers, before they are culled and posed.
fn steer(
    mut steering: ResMut<Steering>,
    renderer: Res<CharacterRenderer>,
    steered: Option<Res<Steered>>,
    device: Res<RenderDevice>,
    queue: Res<RenderQueue>,
) {
    // No crowd in the first frames: Bevy loads its shaders.
    let Some(crowd) = steered.and_then(|steered| renderer.crowd_of::<Soldier>(steered.0)) else { return };
    let Some(InstanceBuffers { places, playbacks, .. }) = crowd.instance_buffers() else { return };
    let device = device.wgpu_device();
    let now = renderer.time();
    let seconds = (now - std::mem::replace(&mut steering.before, now)) as f32;
    let pipeline = steering.pipeline.get_or_insert_with(|| pipeline(device));
    let [high, low] = gpuskin_rt::Time::from_secs(now).words();
    let soldiers = crowd.len() as u32;
    let half_side = 0.5 * SPACE * (soldiers as f32).sqrt();
    let step = [high, low, (now as f32).to_bits(), seconds.to_bits(), soldiers, half_side.to_bits(), 0, 0];
    let step = wgpu::util::BufferInitDescriptor {
        label: Some("step"),
        contents: bytemuck::bytes_of(&step),
        usage: wgpu::BufferUsages::UNIFORM,
    };
    let step = wgpu::util::DeviceExt::create_buffer_init(device, &step);
    let buffers = (0..).zip([&step, &places, &playbacks]);
    let entries: Vec<_> = buffers
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    let layout = &pipeline.get_bind_group_layout(0);
    let group =
        device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some("steer"), layout, entries: &entries });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("steer") });
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(soldiers.div_ceil(64), 1, 1);
    drop(pass);
    queue.submit([encoder.finish()]);
}

fn pipeline(device: &wgpu::Device) -> wgpu::ComputePipeline {
    let seconds = |clip: Clip<Soldier>| clip.info().duration;
    let constants = format!(
        "const IDLE_SECONDS: f32 = {:?};\nconst WALK_SECONDS: f32 = {:?};\nconst RUN_SECONDS: f32 = {:?};\n",
        seconds(clips::SOLDIER_IDLE),
        seconds(clips::SOLDIER_WALK),
        seconds(clips::SOLDIER_RUN),
    );
    let source = instance_writer_source() + wgsl::SOLDIER + &constants + FLOW;
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("steer"),
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("steer"),
        layout: None,
        module: &module,
        entry_point: Some("steer"),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    })
}
