//! Motion vectors, against those that Bevy makes of meshes in the poses of the CPU reference.

use bevy::camera::visibility::{NoFrustumCulling, RenderLayers};
use bevy::core_pipeline::prepass::{MotionVectorPrepass, ViewPrepassTextures};
use bevy::mesh::morph::{MeshMorphWeights, MorphAttributes};
use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy_gpuskin::gpuskin_rt::tools::CpuModel;
use bevy_gpuskin::gpuskin_rt::{BakedModel, Instance, InstanceRecord, Motion, wgpu};
use bevy_gpuskin::{Character, CharacterCrowd, CharacterPlugin, GpuskinPlugin, Transition};
use bevy_gpuskin_sample_models::clips;
use bevy_gpuskin_sample_models::models::{JELLY, Jelly, SOLDIER, Soldier};

use crate::common::{self, FRAME, HEIGHT, WIDTH, control};
use crate::of;

/// Number of characters that are entities.
const CHARACTERS: usize = 8;
/// Motion of the instances of the crowd.
const MOTION: Motion = Motion::forwards(4.0);

/// Adds a camera with motion vectors, in its place of the previous frame.
fn add_camera(app: &mut App) -> Entity {
    let image = common::target(app);
    let camera = common::camera(&image, Vec3::new(0.5, 1.9, 4.2), Vec3::new(0.0, 0.8, 0.0));
    app.world_mut().spawn((camera, Msaa::Off, MotionVectorPrepass)).id()
}

/// Moves and turns the camera, for one frame. Returns its former place.
fn move_camera(app: &mut App, camera: Entity) -> Transform {
    let place = Transform::from_xyz(0.53, 1.92, 4.15).looking_at(Vec3::new(0.03, 0.8, 0.0), Vec3::Y);
    let before = std::mem::replace(&mut *app.world_mut().get_mut::<Transform>(camera).unwrap(), place);
    app.update();
    before
}

/// Place of character `i`. `step`: number of frames in which it has moved; the even ones stay.
fn place(i: usize, step: usize) -> Transform {
    let step = if i.is_multiple_of(2) { 0.0 } else { step as f32 };
    Transform::from_xyz((i % 4) as f32 * 1.1 - 1.6 + 0.04 * step, 0.02 * step, -1.5 * (i / 4) as f32)
        .with_rotation(Quat::from_rotation_y(0.7 * i as f32 + 0.05 * step))
        .with_scale(Vec3::splat(0.9 + 0.03 * (i % 3) as f32 + 0.01 * step))
}

/// Place of a drop of jelly, which only its morph targets and its bones move.
fn jelly_place(i: usize) -> Transform {
    Transform::from_xyz(1.3 * i as f32 - 0.4, 0.0, 2.0).with_scale(Vec3::splat(0.5))
}

fn phase(i: usize) -> f32 {
    0.13 * i as f32
}

/// Instance `i` of the crowd.
fn in_crowd(i: usize) -> Instance<Soldier> {
    Instance::at([i as f32 * 1.5 - 1.5, 0.0, 1.5]).facing(2.0 * i as f32).play(clips::SOLDIER_WALK).moving(MOTION)
}

/// Reads the motion vectors of a camera, in pixels.
fn motion_vectors(app: &mut App, camera: Entity) -> Vec<Vec2> {
    let camera = app.world().get::<bevy::render::sync_world::RenderEntity>(camera).unwrap().id();
    let world = app.sub_app(RenderApp).world();
    let (device, queue) = (world.resource::<RenderDevice>().wgpu_device(), world.resource::<RenderQueue>());
    let textures = world.get::<ViewPrepassTextures>(camera).unwrap();
    let view = textures.motion_vectors_view().unwrap();
    // Bevy's texture cannot be copied.
    let source = wgpu::ShaderSource::Wgsl(
        "@group(0) @binding(0) var motion: texture_2d<f32>;
        @group(0) @binding(1) var<storage, read_write> read: array<vec2<f32>>;
        @compute @workgroup_size(8, 8)
        fn main(@builtin(global_invocation_id) at: vec3<u32>) {
            let size = textureDimensions(motion);
            read[at.y * size.x + at.x] = textureLoad(motion, at.xy, 0).xy * vec2<f32>(size);
        }"
        .into(),
    );
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    let size = u64::from(WIDTH * HEIGHT) * 8;
    let buffer =
        |usage| device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
    let written = buffer(wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC);
    let read = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(view) },
            wgpu::BindGroupEntry { binding: 1, resource: written.as_entire_binding() },
        ],
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(WIDTH / 8, HEIGHT / 8, 1);
    drop(pass);
    encoder.copy_buffer_to_buffer(&written, 0, &read, 0, size);
    queue.submit([encoder.finish()]);
    read.map_async(wgpu::MapMode::Read, .., |result| result.unwrap());
    device.poll(wgpu::PollType::Wait { submission_index: None, timeout: None }).unwrap();
    let bytes = read.get_mapped_range(..).unwrap();
    bytes.as_chunks::<8>().0.iter().map(|pixel| bytemuck::pod_read_unaligned::<[f32; 2]>(pixel).into()).collect()
}

/// Adds meshes of Bevy that are posed as `before`; with the weight 1 of their morph target, they are posed as `now`. Each pose is an
/// instance at a time, seconds.
fn spawn_control<M: BakedModel>(
    app: &mut App,
    before: (&InstanceRecord, f64),
    now: (&InstanceRecord, f64),
) -> Vec<Entity> {
    let model = CpuModel::new(M::MODEL).unwrap();
    let [from, to] = [before, now].map(|(record, time)| model.vertices(record, time));
    let delta = |(from, to): (_, _)| MorphAttributes { position: Vec3::from(to) - Vec3::from(from), ..default() };
    let deltas: Vec<_> = from.iter().map(|v| v.position()).zip(to.iter().map(|v| v.position())).map(delta).collect();
    let entities = control::spawn::<M>(app, before.0, Color::WHITE, before.1);
    for entity in &entities {
        let handle = app.world().get::<Mesh3d>(*entity).unwrap().0.clone();
        let mut meshes = app.world_mut().resource_mut::<Assets<Mesh>>();
        meshes.get_mut(&handle).unwrap().set_morph_targets(deltas.clone());
        let weights = MeshMorphWeights::Value { weights: vec![0.0] };
        app.world_mut().entity_mut(*entity).insert((weights, NoFrustumCulling));
    }
    entities
}

/// Returns the motion vectors of the control at a time, and those of the empty scene. `start`, `faded`: times at which characters were
/// spawned, and at which the crossfades started. Seconds.
fn control(start: f64, faded: f64, time: f64) -> [Vec<Vec2>; 2] {
    let mut app = common::app();
    common::start(&mut app);
    let camera = add_camera(&mut app);
    common::settle(&mut app);
    let before = move_camera(&mut app, camera);
    let empty = motion_vectors(&mut app, camera);
    *app.world_mut().get_mut::<Transform>(camera).unwrap() = before;
    let times = [time - FRAME, time];
    let mut meshes = Vec::new();
    for i in 0..CHARACTERS {
        let instance = Instance::at([0.0; 3]).play(clips::SOLDIER_RUN).phase(phase(i));
        let mut record = instance.record(&SOLDIER.meta, start.into());
        if i % 4 > 1 {
            record.play_clip(&SOLDIER.meta, clips::SOLDIER_ATTACK, Transition::crossfade(0.4), faded);
        }
        let [before, now] = [1, 2].map(|step| {
            record.set_transform(of(place(i, step)));
            record
        });
        meshes.extend(spawn_control::<Soldier>(&mut app, (&before, times[0]), (&now, times[1])));
    }
    for i in 0..3 {
        let record = in_crowd(i).record(&SOLDIER.meta, start.into());
        let [before, now] = times.map(|time| {
            let mut record = record;
            record.set_transform(MOTION.transform_after(record.transform(), time - start));
            record
        });
        meshes.extend(spawn_control::<Soldier>(&mut app, (&before, times[0]), (&now, times[1])));
    }
    for i in 0..2 {
        let instance = Instance::at([0.0; 3]).with_transform(of(jelly_place(i))).play(clips::JELLY_WOBBLE);
        let record = instance.phase(phase(i)).record(&JELLY.meta, start.into());
        meshes.extend(spawn_control::<Jelly>(&mut app, (&record, times[0]), (&record, times[1])));
    }
    common::settle(&mut app);
    for mesh in meshes {
        app.world_mut().entity_mut(mesh).insert(MeshMorphWeights::Value { weights: vec![1.0] });
    }
    move_camera(&mut app, camera);
    [motion_vectors(&mut app, camera), empty]
}

#[test]
fn motion_vectors_are_those_of_meshes_that_move_so() {
    let mut app = common::app();
    app.add_plugins((GpuskinPlugin { lod_error: 0.0, motion_vectors: true }, CharacterPlugin::<Soldier>::default()));
    app.add_plugins(CharacterPlugin::<Jelly>::default());
    common::start(&mut app);
    let camera = add_camera(&mut app);
    common::settle(&mut app);
    let soldier = |i| (Character::playing(clips::SOLDIER_RUN).phase(phase(i)), place(i, 0));
    let soldiers: Vec<_> = (0..CHARACTERS).map(|i| app.world_mut().spawn(soldier(i)).id()).collect();
    app.world_mut().spawn(CharacterCrowd::new((0..3).map(in_crowd)));
    for i in 0..2 {
        app.world_mut().spawn((Character::playing(clips::JELLY_WOBBLE).phase(phase(i)), jelly_place(i)));
    }
    app.update();
    let now = |app: &App| app.world().resource::<Time<Virtual>>().elapsed_secs_f64();
    let start = now(&app);
    common::settle(&mut app);
    for (_, soldier) in soldiers.iter().enumerate().filter(|(i, _)| i % 4 > 1) {
        let mut soldier = app.world_mut().get_mut::<Character<Soldier>>(*soldier).unwrap();
        soldier.play(clips::SOLDIER_ATTACK, Transition::crossfade(0.4));
    }
    app.update();
    let faded = now(&app);
    (0..3).for_each(|_| app.update());
    for step in [1, 2] {
        for (i, soldier) in soldiers.iter().enumerate() {
            app.world_mut().get_mut::<Transform>(*soldier).unwrap().set_if_neq(place(i, step));
            // In the frame in which it moves, a character may change the crowd that draws it.
            if (i % 3, step) == (0, 2) {
                app.world_mut().entity_mut(*soldier).insert(RenderLayers::from_layers(&[0, 5]));
            }
        }
        match step {
            1 => app.update(),
            _ => drop(move_camera(&mut app, camera)),
        }
    }
    let time = now(&app);
    let moved = motion_vectors(&mut app, camera);
    let [control, empty] = control(start, faded, time);
    let count = |a: &[Vec2], b: &[Vec2]| a.iter().zip(b).filter(|(a, b)| a.distance(**b) > 0.1).count();
    let (shown, different) = (count(&control, &empty), count(&moved, &control));
    let longest = control.iter().map(|v| v.length()).fold(0.0, f32::max);
    println!("{different} of {shown} motion vectors differ by more than 0.1 pixels; the longest has {longest:.1}");
    assert!(shown > control.len() / 4 && longest > 5.0);
    assert!(different * 1000 <= shown);

    common::stop_time(&mut app);
    app.update();
    let resting = motion_vectors(&mut app, camera);
    assert!(resting.iter().all(|v| v.length() < 1e-3), "what rests has a motion vector");
}
