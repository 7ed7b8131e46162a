//! Instances that a compute pass writes.

use bevy::prelude::*;
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::{Render, RenderApp};
use bevy_gpuskin::gpuskin_rt::pipeline::instance_writer_source;
use bevy_gpuskin::gpuskin_rt::{Instance, wgpu};
use bevy_gpuskin::{Character, CharacterCrowd, CharacterPlugin, CharacterRenderSystems, CharacterRenderer};
use bevy_gpuskin_sample_models::{clips, models::Soldier};

use crate::common;

/// Crowd, and the x coordinate that the pass writes.
#[derive(Resource, Clone, Copy)]
struct Written(Entity, f32);

fn write(
    renderer: Res<CharacterRenderer>,
    written: Option<Res<Written>>,
    device: Res<RenderDevice>,
    queue: Res<RenderQueue>,
) {
    let Some(&Written(entity, x)) = written.as_deref() else { return };
    let Some(buffers) = renderer.crowd_of::<Soldier>(entity).and_then(|crowd| crowd.instance_buffers()) else { return };
    let device = device.wgpu_device();
    let source = format!(
        "{}
        @group(0) @binding(0) var<storage, read_write> places: array<GpuskinPlaceRecord>;
        @compute @workgroup_size(1)
        fn move_first() {{
            places[0].translation.x = {x:?};
        }}",
        instance_writer_source()
    );
    let source = wgpu::ShaderSource::Wgsl(source.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: buffers.places.as_entire_binding() }],
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(1, 1, 1);
    drop(pass);
    queue.submit([encoder.finish()]);
}

#[test]
fn instances_that_a_pass_writes_are_drawn_in_the_same_frame() {
    let mut app = common::app();
    app.add_plugins(CharacterPlugin::<Soldier>::default());
    app.sub_app_mut(RenderApp).add_systems(Render, write.in_set(CharacterRenderSystems::Write));
    common::start(&mut app);
    let image = common::target(&mut app);
    app.world_mut().spawn(common::camera(&image, Vec3::new(0.0, 1.0, 4.0), Vec3::Y));
    app.world_mut().spawn((DirectionalLight::default(), Transform::default().looking_to(-Vec3::Z, Vec3::Y)));
    common::settle(&mut app);
    let empty = common::read(&mut app, &image);
    let control = |x: f32| (Character::playing(clips::SOLDIER_IDLE).speed(0.0), Transform::from_xyz(x, 0.0, 0.0));
    let [left, right] = [-0.8, 0.8].map(|x| {
        let soldier = app.world_mut().spawn(control(x)).id();
        common::settle(&mut app);
        let picture = common::read(&mut app, &image);
        app.world_mut().despawn(soldier);
        picture
    });
    assert!(common::different(&left, &right) > 2000 && common::different(&left, &empty) > 2000);

    // Out of view, until the pass moves it.
    let away = Instance::at([50.0, 0.0, 0.0]).play(clips::SOLDIER_IDLE).speed(0.0);
    let crowd = app.world_mut().spawn(CharacterCrowd::<Soldier>::new([away])).id();
    common::settle(&mut app);
    assert_eq!(common::different(&empty, &common::read(&mut app, &image)), 0);
    for (x, control) in [(-0.8, &left), (0.8, &right), (-0.8, &left)] {
        app.sub_app_mut(RenderApp).insert_resource(Written(crowd, x));
        // The first frame from now on.
        assert_eq!(common::different(control, &common::read(&mut app, &image)), 0, "at {x} m");
    }
}
