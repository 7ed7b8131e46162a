//! Picking: a game's own pipeline writes who covers a pixel, and the pixel leads to the instance.
#![allow(unreachable_pub, reason = "tests have no outside")]

mod common;

use common::cells::{CELL, COUNT, PIXELS, ROW, camera, middle};
use common::model::{Pose, Random, Recipe, TestModel, plain};
use common::{BACKENDS, Gpu, gpu, gpu_with};
use gpuskin_rt::render::vertex_buffers;
use gpuskin_rt::*;

/// Writes numbers from 1 on; 0 is nobody.
const PICK: &str = r"
    @group(0) @binding(0) var<uniform> view_proj: mat4x4<f32>;
    @group(0) @binding(1) var<uniform> first: vec4<u32>;            // dynamic offset: the number that a draw begins with

    struct Varyings {
        @builtin(position) position: vec4<f32>,
        @location(0) @interpolate(flat) number: u32,
    }

    @vertex
    fn vertex(input: GpuskinInput) -> Varyings {
        let skinned = gpuskin_skin_vertex(input, vec2<u32>(3u, 0u));
        let number = first.x + gpuskin_instance_number(input) + 1u;
        return Varyings(view_proj * vec4<f32>(skinned.position, 1.0), number);
    }

    @fragment
    fn fragment(varyings: Varyings) -> @location(0) vec4<u32> {
        return vec4<u32>(varyings.number, 0u, 0u, 0u);
    }
";
const SIDE: u32 = ROW * PIXELS;
/// Bytes from one first number to the next.
const SLOT: u32 = 256;

fn test_model(encoding: Encoding) -> TestModel {
    let format = VertexFormat { packing: Packing::Narrow, tangent: false, color: false };
    let mut recipe = Recipe::random(&mut Random(2), encoding, format, 12);
    recipe.materials = vec![Material { double_sided: true, ..plain([1.0; 4]) }];
    let mut random = Random(3);
    recipe.build(|_, _| Pose::random(&mut random, false))
}

/// Who covers each pixel, rows from the top; and the numbers that draws began with.
fn picked(gpu: &Gpu, renderer: &mut CrowdRenderer, crowd: &Crowd<Dynamic>) -> (Vec<u32>, Vec<u32>) {
    let variant = crowd.variant();
    let buffer_of = |has_dynamic_offset| wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Uniform,
        has_dynamic_offset,
        min_binding_size: None,
    };
    let visibility = wgpu::ShaderStages::VERTEX;
    let entry = |binding, ty| wgpu::BindGroupLayoutEntry { binding, visibility, ty, count: None };
    let own = gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &[entry(0, buffer_of(false)), entry(1, buffer_of(true))],
    });
    let layout = gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&own), Some(renderer.model_layout(variant))],
        immediate_size: 0,
    });
    let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl((shader::source(variant, 1) + PICK).into()),
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
            targets: &[Some(wgpu::TextureFormat::R32Uint.into())],
        }),
        multiview_mask: None,
        cache: None,
    });
    // Palettes begin at multiples of 16 instances.
    let firsts: Vec<u32> = (0..COUNT.div_ceil(16)).flat_map(|i| [i * 16].into_iter().chain([0; 63])).collect();
    let uniform = |bytes: &[u8]| {
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes.len() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        gpu.queue.write_buffer(&buffer, 0, bytes);
        buffer
    };
    let (view_proj, firsts) =
        (uniform(bytemuck::bytes_of(&camera().view_proj)), uniform(bytemuck::cast_slice(&firsts)));
    let size = wgpu::BufferSize::new(16);
    let first = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: &firsts, offset: 0, size });
    let bind_group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &own,
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: view_proj.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: first },
        ],
    });
    let target = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width: SIDE, height: SIDE, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::R32Uint,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare(&gpu.queue, &mut encoder, &camera(), 3.0).unwrap();
    let mut began = Vec::new();
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
        crowd.draw_numbered(&mut pass, 1, |pass, _, first| {
            began.push(first);
            pass.set_bind_group(0, &bind_group, &[first / 16 * SLOT]);
        });
    }
    let row = (SIDE * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(row * SIDE),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
    let to = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
    encoder.copy_texture_to_buffer(target.as_image_copy(), to, target.size());
    gpu.queue.submit([encoder.finish()]);
    buffer.map_async(wgpu::MapMode::Read, .., |result| result.unwrap());
    gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let bytes = buffer.get_mapped_range(..).unwrap();
    let rows = bytes.chunks(row as usize).flat_map(|row| &row[..SIDE as usize * 4]).copied().collect::<Vec<u8>>();
    (bytemuck::pod_collect_to_vec(&rows), began)
}

#[test]
fn a_pixel_leads_to_the_instance_that_covers_it() {
    // Palettes of 16 to 112 instances.
    let limits = wgpu::Limits { max_storage_buffer_binding_size: 64 << 10, ..wgpu::Limits::downlevel_defaults() };
    for (textured, computing) in BACKENDS.into_iter().filter_map(|b| Some((gpu(b)?, gpu_with(b, limits.clone())?))) {
        for (gpu, encoding) in [(textured, Encoding::MatrixF16), (computing, Encoding::LocalPacked)] {
            let test = test_model(encoding);
            let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
            let crowd = Crowd::with_model(
                &mut renderer,
                &test.model,
                CrowdDescriptor { capacity: COUNT, ..Default::default() },
            )
            .unwrap();
            let mut ids: Vec<_> = (0..COUNT).map(|i| crowd.spawn(Instance::at(middle(i)).scaled(0.8))).collect();
            // Numbers change when instances go: ids do not.
            for i in [3, 60, 150] {
                assert!(crowd.despawn(ids[i as usize]));
                ids[i as usize] = crowd.spawn(Instance::at(middle(i)).scaled(0.8));
            }
            assert!(crowd.set_visible(ids[5], false));
            let (pixels, began) = picked(&gpu, &mut renderer, &crowd);
            assert_eq!(began.len() > 1, encoding.needs_compute(), "{began:?} on {}", gpu.name);
            let mut seen = vec![0; COUNT as usize];
            for (at, number) in (0..).zip(&pixels).filter(|(_, number)| **number > 0) {
                let (x, y) = (at % SIDE, SIDE - 1 - at / SIDE);
                let cell = y / PIXELS * ROW + x / PIXELS;
                let id = crowd.id_at(number - 1);
                assert_eq!(id, Some(ids[cell as usize]), "{encoding:?} on {}, pixel {x}, {y} of {CELL} m", gpu.name);
                seen[cell as usize] += 1;
            }
            let unseen: Vec<_> = (0..COUNT).filter(|i| seen[*i as usize] == 0).collect();
            assert_eq!(unseen, [5], "{encoding:?} on {}", gpu.name);
            assert_eq!(crowd.id_at(COUNT), None);
        }
    }
}
