//! Motion vectors as the documentation of `shader` makes them, and poses that are played once.
#![allow(unreachable_pub, reason = "tests have no outside")]

mod common;

use common::model::plain;
use common::squares::{map, renderer, square_recipe, squares};
use common::{BACKENDS, Gpu, gpu};
use gpuskin_rt::render::vertex_buffers;
use gpuskin_rt::*;

/// The text in the documentation of `shader` that makes motion vectors; with a target that every device draws to.
fn documented() -> String {
    let lines = include_str!("../src/shader.rs").lines().map(|line| line.trim_start_matches("//!"));
    let example = lines.skip_while(|line| line.trim() != "```wgsl").skip(1).take_while(|line| line.trim() != "```");
    let text = example.collect::<Vec<_>>().join("\n");
    let written = text.replace("@location(0) vec4<f32> {\n     // Of", "@location(0) vec4<u32> {\n     // Of");
    let written =
        written.replace("return vec4<f32>(varyings.now.xy", "return bitcast<vec4<u32>>(vec4<f32>(varyings.now.xy");
    written.replace(", 0.0, 1.0);\n }", ", 0.0, 1.0));\n }")
}

/// What the middle of the picture moved by.
fn motion(
    gpu: &Gpu,
    renderer: &CrowdRenderer,
    crowd: &Crowd<Dynamic>,
    cameras: [Camera; 2],
    times: [f64; 2],
) -> [f32; 4] {
    let variant = crowd.variant();
    let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl((shader::source(variant, 1) + &documented()).into()),
    });
    let own = gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::VERTEX,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        }],
    });
    let layout = gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&own), Some(renderer.model_layout(variant))],
        immediate_size: 0,
    });
    let pipeline = gpu.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("vertex"),
            compilation_options: Default::default(),
            buffers: &vertex_buffers(variant).layouts(),
        },
        primitive: Default::default(),
        depth_stencil: None,
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("fragment"),
            compilation_options: Default::default(),
            targets: &[Some(wgpu::TextureFormat::Rgba32Uint.into())],
        }),
        multiview_mask: None,
        cache: None,
    });
    let clocks = times.map(|time| Time::from_secs(time).words());
    let matrices: [[[f32; 4]; 4]; 2] = cameras.map(|camera| camera.view_proj);
    let bytes = [bytemuck::bytes_of(&matrices), bytemuck::bytes_of(&clocks)].concat();
    let uniform = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: bytes.len() as u64,
        usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    gpu.queue.write_buffer(&uniform, 0, &bytes);
    let bind_group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &own,
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() }],
    });
    let target = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width: 16, height: 16, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba32Uint,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &target.create_view(&Default::default()),
                depth_slice: None,
                resolve_target: None,
                ops: Default::default(),
            })],
            ..Default::default()
        });
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &bind_group, &[]);
        crowd.draw_geometry(&mut pass, 1, |_, _| {});
    }
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 16 * 256,
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(256), rows_per_image: None };
    let to = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
    encoder.copy_texture_to_buffer(target.as_image_copy(), to, target.size());
    gpu.queue.submit([encoder.finish()]);
    buffer.map_async(wgpu::MapMode::Read, .., |result| result.unwrap());
    gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let bytes = buffer.get_mapped_range(..).unwrap();
    bytemuck::cast_slice::<u8, [f32; 4]>(&bytes)[8 * 16 + 8]
}

#[test]
fn motion_is_that_of_pose_and_camera() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let mut renderer = renderer(&gpu);
        let test = squares(square_recipe(Encoding::MatrixF16, plain([1.0; 4])));
        let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        // A metre down in a second from a metre up, as large as the picture.
        let at = Instance::at([4.0, 4.0, 0.0]).scaled(40.0).play(Clip::new(2)).starting(10.0);
        crowd.spawn(at);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        renderer.prepare(&gpu.queue, &mut encoder, &map(8.0), 10.99).unwrap();
        gpu.queue.submit([encoder.finish()]);
        let near = |found: [f32; 4], x: f32, y: f32| {
            assert!(
                (found[0] - x).abs() < 1e-4 && (found[1] - y).abs() < 1e-4 && found[3] == 1.0,
                "{found:?}, not {x}, {y}"
            );
        };
        let (here, there) = (map(8.0), Camera::orthographic_look_at([5.0, 4.0, 5.0], [5.0, 4.0, 0.0], 4.0, 4.0, 10.0));
        // 40 metres a second over 4 metres of half a picture, for 10 ms.
        near(motion(&gpu, &renderer, &crowd, [here; 2], [10.99, 10.98]), 0.0, -0.1);
        near(motion(&gpu, &renderer, &crowd, [here; 2], [10.99, 10.99]), 0.0, 0.0);
        near(motion(&gpu, &renderer, &crowd, [here, there], [10.99, 10.99]), 0.25, 0.0);
        near(motion(&gpu, &renderer, &crowd, [here; 2], [90.0, 20.0]), 0.0, 0.0);
    }
}

#[test]
fn a_pose_that_is_played_once_ends_as_it_begins() {
    let test = squares(square_recipe(Encoding::MatrixF16, plain([1.0; 4])));
    let meta = &test.model.meta;
    for speed in [1.0, -0.5] {
        let pose = Instance::<Dynamic>::at([0.0; 3]).play(Clip::new(1)).speed(speed).starting(5.0);
        let record = pose.once().record(meta, Time::ZERO);
        assert!(record.playback().finishes_at().unwrap().since(Time::from_secs(5.0)) < 1e-7);
        assert!([5.000_001, 1e9].iter().all(|now| record.is_finished(Time::from_secs(*now))));
        assert!(!record.is_finished(Time::from_secs(4.9)));
        let mut queue = EventQueue::new();
        queue.play(&meta.clips, 0, "pose", record.playback(), Time::from_secs(4.0));
        let ends: Vec<_> = queue.drain(&meta.clips, Time::from_secs(6.0)).map(|n| (n.instance, n.kind)).collect();
        assert_eq!(ends, [("pose", NoticeKind::Finished)]);
        for now in [0.0, 5.0, 5e8] {
            let y = test.on_cpu(&record, Time::from_secs(now))[0].position.y;
            assert!((y - 0.8).abs() < 1e-3, "{y} at {now}");
        }
        let looped = pose.looping().record(meta, Time::ZERO);
        assert_eq!((looped.playback().finishes_at(), looped.is_finished(Time::MAX)), (None, false));
    }
    let still = Instance::<Dynamic>::at([0.0; 3]).play(Clip::new(1)).speed(0.0).once().record(meta, Time::ZERO);
    assert!(!still.is_finished(Time::MAX));
}
