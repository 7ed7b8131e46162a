//! A game's own pipelines from the public WGSL: the documented example, and outputs that only such
//! a pipeline can compare with the CPU reference.

use crate::common::model::{Pose, Random, Recipe, TestModel, many_clips, variant_names};
use crate::common::{BACKENDS, Canvas, Gpu, compute, compute_eight, gpu};
use glam::{Vec2, Vec3};
use gpuskin_rt::internals::render::{CustomDraw, vertex_buffers};
use gpuskin_rt::internals::shader::{MorphUse, Variant};
use gpuskin_rt::internals::*;

/// The example in the documentation, verbatim.
const EXAMPLE: &str = r"
    @group(0) @binding(0) var<uniform> view_proj: mat4x4<f32>;
    @group(0) @binding(1) var<uniform> time: vec4<u32>;          // Time::words(), then padding

    @vertex
    fn vertex(input: GpuskinInput) -> @builtin(position) vec4<f32> {
        let skinned = gpuskin_skin_vertex(input, time.xy);       // position, normal, tangent, uv, color; world space
        return view_proj * vec4<f32>(skinned.position + 0.02 * skinned.normal, 1.0);
    }

    @fragment
    fn fragment() -> @location(0) vec4<f32> { return vec4<f32>(0.0, 0.0, 0.0, 1.0); }
";

/// Writes tangents and texture coordinates to pixels, one pixel per vertex.
const PROBE: &str = r"
    @group(0) @binding(0) var<uniform> clock: vec4<u32>;

    struct Varyings {
        @builtin(position) pixel: vec4<f32>,
        @location(0) @interpolate(flat) tangent: vec4<f32>,
        @location(1) @interpolate(flat) uv: vec2<f32>,
    }

    fn probed(input: GpuskinInput, index: u32) -> Varyings {
        let skinned = gpuskin_skin_vertex(input, clock.xy);
        let x = (f32(index) + 0.5) / 256.0 * 2.0 - 1.0;
        return Varyings(vec4<f32>(x, 0.0, 0.0, 1.0), skinned.tangent, skinned.uv);
    }

    struct Texels {
        @location(0) tangent: vec4<u32>,
        @location(1) uv: vec4<u32>,
    }

    @fragment
    fn fragment(varyings: Varyings) -> Texels {
        return Texels(
            bitcast<vec4<u32>>(varyings.tangent),
            bitcast<vec4<u32>>(vec4<f32>(varyings.uv, 0.0, 0.0)),
        );
    }
";

/// Entry points of [`PROBE`]: with an index of the vertex of its own, and with that of `GpuskinInput`.
const PROBE_ENTRIES: [&str; 2] = [
    "@vertex fn vertex(input: GpuskinInput, @builtin(vertex_index) index: u32) -> Varyings { return probed(input, index); }",
    "@vertex fn vertex(input: GpuskinInput) -> Varyings { return probed(input, input.vertex); }",
];

/// Writes the lowest bits of the instance's number to red and green.
const NUMBERS: &str = r"
    @group(0) @binding(0) var<uniform> view_proj: mat4x4<f32>;
    @group(0) @binding(1) var<uniform> clock: vec4<u32>;

    struct Varyings {
        @builtin(position) position: vec4<f32>,
        @location(0) @interpolate(flat) number: u32,
    }

    @vertex
    fn vertex(input: GpuskinInput) -> Varyings {
        let position = gpuskin_skin_vertex(input, clock.xy).position;
        return Varyings(view_proj * vec4<f32>(position, 1.0), gpuskin_instance_number(input));
    }

    @fragment
    fn fragment(in: Varyings) -> @location(0) vec4<f32> { return vec4<f32>(f32(in.number & 1u), f32(in.number >> 1u), 1.0, 1.0); }
";

fn test_model(random: &mut Random, variant: Variant) -> TestModel {
    let mut recipe = Recipe::random(random, variant.encoding, variant.vertex, 12);
    recipe.normals = variant.normals;
    recipe.frames_per_layer = if variant.array { 5 } else { 32 };
    if variant.clip_texture {
        recipe.clips = many_clips(1_100);
        (recipe.width, recipe.frames_per_layer) = if variant.array { (512, 800) } else { (MAX_SIDE, u32::MAX) };
    }
    if variant.morphs == MorphUse::Applied {
        recipe = recipe.with_morphs(random);
    }
    let mut test = recipe.build(|_, _| Pose::random(random, false));
    test.model.meta.variants = variant_names(variant.has_variants());
    test
}

fn pipeline(
    gpu: &Gpu,
    renderer: &CrowdRenderer,
    variant: Variant,
    text: &str,
    topology: wgpu::PrimitiveTopology,
    formats: &[wgpu::TextureFormat],
    depth: bool,
) -> (wgpu::RenderPipeline, wgpu::BindGroupLayout) {
    let uniforms = text.matches("var<uniform>").count() as u32;
    let entries: Vec<_> = (0..uniforms)
        .map(|binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::VERTEX,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        })
        .collect();
    let own = gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
    // The model in group 2; group 1 is empty.
    let layout = gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&own), None, Some(renderer.model_layout(variant))],
        immediate_size: 0,
    });
    let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl((shader::source(variant, 2) + text).into()),
    });
    let targets: Vec<_> = formats.iter().map(|f| Some(wgpu::ColorTargetState::from(*f))).collect();
    let pipeline = gpu.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("vertex"),
            compilation_options: Default::default(),
            buffers: &vertex_buffers(variant).layouts(),
        },
        primitive: wgpu::PrimitiveState { topology, ..Default::default() },
        depth_stencil: depth.then_some(wgpu::DepthStencilState {
            format: wgpu::TextureFormat::Depth32Float,
            depth_write_enabled: Some(false),
            depth_compare: Some(wgpu::CompareFunction::Always),
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("fragment"),
            compilation_options: Default::default(),
            targets: &targets,
        }),
        multiview_mask: None,
        cache: None,
    });
    (pipeline, own)
}

fn bind(gpu: &Gpu, layout: &wgpu::BindGroupLayout, uniforms: &[&[u8]]) -> wgpu::BindGroup {
    let buffers: Vec<_> = uniforms
        .iter()
        .map(|bytes| {
            let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: bytes.len() as u64,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            gpu.queue.write_buffer(&buffer, 0, bytes);
            buffer
        })
        .collect();
    let entries: Vec<_> = (0..)
        .zip(&buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    gpu.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
}

pub fn documented_example_draws_outlines() {
    let documentation: Vec<&str> =
        include_str!("../../src/pipeline.rs").lines().map(|l| l.trim_start_matches("//!").trim()).collect();
    for line in EXAMPLE.lines().map(str::trim) {
        assert!(documentation.contains(&line), "line not found in the documentation: {line}");
    }
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
        let shown = |v: &Variant| !v.encoding.needs_compute() && !v.clip_texture && v.normals == Normals::Cofactor;
        let variant = Variant::all().filter(shown).last().unwrap();
        let test = test_model(&mut Random(1), variant);
        let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        assert_eq!(crowd.variant(), variant);
        crowd.spawn(Instance::at([0.0; 3]));
        let format = wgpu::TextureFormat::Rgba8UnormSrgb;
        let triangles = wgpu::PrimitiveTopology::TriangleList;
        let (pipeline, layout) = pipeline(&gpu, &renderer, variant, EXAMPLE, triangles, &[format], true);

        let camera = Camera::perspective_look_at([0.0, 0.0, 6.0], [0.0; 3], 0.6, 1.0, 0.1, 50.0);
        let canvas = Canvas::new(&gpu, 64);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        renderer.prepare(&gpu.queue, &mut encoder, &camera, 2.5).unwrap();
        let [seconds, fraction] = renderer.time().words();
        let clock = [seconds, fraction, 0, 0];
        let own = bind(&gpu, &layout, &[bytemuck::bytes_of(&camera.view_proj), bytemuck::bytes_of(&clock)]);
        canvas.pass(&mut encoder, |pass| {
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &own, &[]);
            let mut materials = Vec::new();
            crowd.draw_with(pass, CustomDraw::new(2), |_, part| materials.push(part.material));
            assert_eq!(materials, [0]);
        });
        let picture = canvas.finish(&gpu, encoder);
        assert!(picture.covered() > 200, "only {} pixels are covered", picture.covered());
        assert!(picture.pixels.contains(&[0, 0, 0, 255]));
    }
}

/// The vertices of a hidden instance stay in one point where a shader moves them along their normals.
pub fn hidden_instances_have_no_outline() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
        let variant = Variant::all().find(|v| v.encoding == Encoding::MatrixF16 && v.is_posed() && !v.array).unwrap();
        let test = test_model(&mut Random(1), variant);
        let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        let id = crowd.spawn(Instance::at([0.0; 3]));
        let format = wgpu::TextureFormat::Rgba8UnormSrgb;
        let triangles = wgpu::PrimitiveTopology::TriangleList;
        let (pipeline, layout) = pipeline(&gpu, &renderer, crowd.variant(), EXAMPLE, triangles, &[format], true);
        // The outlines of the example are 0.02 m wide.
        let camera = Camera::orthographic_look_at([0.0, 0.0, 5.0], [0.0; 3], 0.05, 0.05, 10.0);
        let canvas = Canvas::new(&gpu, 64);
        for visible in [true, false] {
            crowd.set_visible(id, visible).unwrap();
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            renderer.prepare(&gpu.queue, &mut encoder, &camera, 2.5).unwrap();
            let [seconds, fraction] = renderer.time().words();
            let clock = [seconds, fraction, 0, 0];
            let own = bind(&gpu, &layout, &[bytemuck::bytes_of(&camera.view_proj), bytemuck::bytes_of(&clock)]);
            canvas.pass(&mut encoder, |pass| {
                pass.set_pipeline(&pipeline);
                pass.set_bind_group(0, &own, &[]);
                crowd.draw_with(pass, CustomDraw::new(2), |_, _| {});
            });
            let black =
                canvas.finish(&gpu, encoder).pixels.into_iter().filter(|pixel| *pixel == [0, 0, 0, 255]).count();
            assert_eq!(black > 0, visible, "{black} pixels are drawn");
        }
    }
}

/// Without compute, the main view draws copies of the instances that it sees: a game's own pipeline has the numbers of
/// the crowd all the same, whether `prepare` or the draw itself starts the pass for their poses.
pub fn numbers_are_those_of_the_crowd_without_compute() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let format = wgpu::TextureFormat::Rgba8UnormSrgb;
        let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
        let shown = |v: &Variant| v.is_posed() && !v.array && v.encoding == Encoding::MatrixF16;
        let test = test_model(&mut Random(1), Variant::all().find(shown).unwrap());
        let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
        let unseen = crowd.spawn(Instance::at([100.0, 0.0, 0.0]));
        let seen = crowd.spawn(Instance::at([0.0; 3]));
        let triangles = wgpu::PrimitiveTopology::TriangleList;
        let (pipeline, layout) = pipeline(&gpu, &renderer, crowd.variant(), NUMBERS, triangles, &[format], true);
        let camera = Camera::perspective_look_at([0.0, 0.0, 6.0], [0.0; 3], 0.6, 1.0, 0.1, 50.0);
        let canvas = Canvas::new(&gpu, 64);
        for (frame, draws) in [true, true, false, true].into_iter().enumerate() {
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            renderer.prepare(&gpu.queue, &mut encoder, &camera, frame as f64).unwrap();
            let [seconds, fraction] = renderer.time().words();
            let clock = [seconds, fraction, 0, 0];
            let own = bind(&gpu, &layout, &[bytemuck::bytes_of(&camera.view_proj), bytemuck::bytes_of(&clock)]);
            canvas.pass(&mut encoder, |pass| {
                // The renderer's own pipeline draws the instances in view.
                if !draws {
                    return renderer.draw(pass);
                }
                pass.set_pipeline(&pipeline);
                pass.set_bind_group(0, &own, &[]);
                crowd.draw_with(pass, CustomDraw::new(2), |_, part| assert_eq!(part.first_instance, 0));
            });
            let picture = canvas.finish(&gpu, encoder);
            assert!(picture.covered() > 200, "only {} pixels are covered in frame {frame}", picture.covered());
            if draws {
                let mut found: Vec<[u8; 4]> = picture.pixels.into_iter().filter(|pixel| pixel[2] == 255).collect();
                found.sort_unstable();
                found.dedup();
                assert_eq!(found, [[255, 0, 255, 255]], "frame {frame}");
            }
        }
        assert_eq!((crowd.id_at(0), crowd.id_at(1)), (Some(unseen), Some(seen)));
    }
}

/// Returns tangents and texture coordinates of all vertices of a single instance.
fn probe(gpu: &Gpu, test: &TestModel, instance: Instance<Dynamic>, now: Time) -> Vec<([f32; 4], [f32; 4])> {
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
    let crowd = Crowd::with_model(&mut renderer, &test.model, Default::default()).unwrap();
    let variant = crowd.variant();
    crowd.spawn(instance);
    let format = wgpu::TextureFormat::Rgba32Uint;
    let points = wgpu::PrimitiveTopology::PointList;
    let text = PROBE.to_owned() + PROBE_ENTRIES[usize::from(variant.has_vertex_index())];
    let (pipeline, layout) = pipeline(gpu, &renderer, variant, &text, points, &[format; 2], false);
    let [seconds, fraction] = now.words();
    let own = bind(gpu, &layout, &[bytemuck::bytes_of(&[seconds, fraction, 0, 0])]);
    let targets = [0, 1].map(|_| {
        gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width: 256, height: 1, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        })
    });
    let views = targets.each_ref().map(|t| t.create_view(&Default::default()));
    let attachments = views.each_ref().map(|view| {
        Some(wgpu::RenderPassColorAttachment { view, depth_slice: None, resolve_target: None, ops: Default::default() })
    });
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let camera = Camera::orthographic_look_at([0.0; 3], [0.0, 0.0, -1.0], 1.0, 1.0, 1.0);
    renderer.prepare(&gpu.queue, &mut encoder, &camera, now).unwrap();
    {
        let mut pass = encoder
            .begin_render_pass(&wgpu::RenderPassDescriptor { color_attachments: &attachments, ..Default::default() });
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &own, &[]);
        crowd.draw_with(&mut pass, CustomDraw::new(2), |_, _| {});
    }
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 2 * 4096,
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    for (i, texture) in (0..).zip(&targets) {
        let layout = wgpu::TexelCopyBufferLayout { offset: i * 4096, bytes_per_row: Some(4096), rows_per_image: None };
        let to = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
        encoder.copy_texture_to_buffer(texture.as_image_copy(), to, texture.size());
    }
    gpu.queue.submit([encoder.finish()]);
    buffer.map_async(wgpu::MapMode::Read, .., |result| result.unwrap());
    gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let bytes = buffer.get_mapped_range(..).unwrap();
    let texels: &[[f32; 4]] = bytemuck::cast_slice(&bytes);
    texels[..256].iter().copied().zip(texels[256..].iter().copied()).collect()
}

pub fn tangents_and_texture_coordinates_match_cpu_reference() {
    for (textured, computing, loading) in
        BACKENDS.into_iter().filter_map(|b| Some((gpu(b)?, compute(b)?, compute_eight(b)?)))
    {
        for (seed, variant) in (0..).zip(Variant::all()) {
            let gpu = match (variant.encoding.needs_compute(), variant.loads_influences) {
                (false, _) => &textured,
                (true, false) => &computing,
                (true, true) => &loading,
            };
            let test = test_model(&mut Random(seed), variant);
            let of_device = Variant { previous_transforms: false, loads_influences: false, ..variant };
            assert_eq!(Variant::of(&test.model.meta), of_device);
            // An open clip; with a texture of clip records, one beyond those of the uniform buffer.
            let clip = Clip::new(test.model.meta.clips.len() as u16 / 3 * 3 - 2);
            let instance = Instance::at([0.3, 0.1, 0.0]).rotated([0.1, 0.5, -0.2, 0.7]).scaled(1.3);
            let instance = instance.play(clip).starting(1.0);
            let now = Time::from_secs(1.23);
            let record = instance.record(&test.model.meta, Time::ZERO);
            let captured = probe(gpu, &test, instance, now);
            for ((tangent, uv), twin) in captured.iter().zip(test.on_cpu(&record, now)) {
                let [x, y, z, w] = *tangent;
                // Without tangents, what morph targets do to them has no meaning.
                let moved = variant.morphs == MorphUse::Applied && !variant.has_tangents();
                let near = Vec3::new(x, y, z).distance(twin.tangent.truncate()) < 2e-6 || moved;
                let near = near && w == twin.tangent.w;
                assert!(near, "{variant:?} on {}: {tangent:?}, expected {:?}", gpu.name, twin.tangent);
                assert!(
                    Vec2::new(uv[0], uv[1]).distance(twin.uv) < 2e-6,
                    "{variant:?}: {uv:?}, expected {:?}",
                    twin.uv
                );
            }
        }
    }
}
