//! Pose cache: pictures and vertices equal those of the palette path in every frame, for any number
//! of cached poses.

use crate::common::model::{Pose, Random, Recipe, TestModel, many_clips, plain};
use crate::common::own::{Own, OwnDescriptor};
use crate::common::{BACKENDS, Canvas, Gpu, Picture, compute, gpu_with, wide_targets};
use glam::Vec3;
use gpuskin_rt::internals::render::{
    CacheState, CustomDraw, CustomPart, DrawPath, PoseSharing, time_grid_errors, vertex_buffers,
};
use gpuskin_rt::internals::*;
use gpuskin_test_harness::note;

const SIDE: u32 = 128;
const COUNT: u32 = 300;
const GRID: f32 = 0.05;
/// Number of samples of the clips: 0.7 s, 1 s and a single pose.
const MOMENTS: u32 = 15 + 21 + 2;

fn test_model(vertex: VertexFormat) -> TestModel {
    let mut random = Random(7);
    let mut recipe = Recipe::random(&mut random, Encoding::LocalPacked, vertex, 4);
    recipe.materials = vec![Material { double_sided: true, ..plain([1.0; 4]) }];
    recipe.build(|_, _| Pose::REST).with_bounds()
}

/// A model with so many clips that the culling pass reads their samples from a texture.
fn model_of_many_clips() -> TestModel {
    let vertex = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false };
    let mut random = Random(7);
    let mut recipe = Recipe::random(&mut random, Encoding::LocalPacked, vertex, 4);
    recipe.materials = vec![Material { double_sided: true, ..plain([1.0; 4]) }];
    recipe.clips = many_clips(5_000);
    recipe.vertices.truncate(60);
    recipe.indices.truncate(60);
    recipe.build(|_, _| Pose::REST).with_bounds()
}

fn narrow() -> TestModel {
    test_model(VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false })
}

/// Steps of each clip, with a sharing error of 0.
fn steps(test: &TestModel) -> Vec<(u32, f32)> {
    test.model.meta.clips.iter().map(|clip| (cache::steps(clip.duration as f32, GRID), 0.0)).collect()
}

struct Scene {
    renderer: CrowdRenderer,
    crowd: Crowd<Dynamic>,
    ids: Vec<InstanceId>,
}

/// Requests a draw path, with a cache of `poses` poses.
fn asked(path: DrawPath, poses: u32, test: &TestModel) -> CrowdDescriptor {
    let of_a_pose = u64::from(test.model.meta.mesh.vertex_count) * 16 + u64::from(test.model.meta.texture.rows) * 48;
    CrowdDescriptor {
        capacity: COUNT,
        time_grid: Some(GRID),
        cache_bytes: of_a_pose * u64::from(poses),
        path: Some(path),
        sharing: PoseSharing::Always,
        ..Default::default()
    }
}

/// Instances around the origin with all clips and all kinds of playback; every fifth is in a
/// crossfade, every seventh is hidden.
fn scene(gpu: &Gpu, test: &TestModel, of_renderer: RendererDescriptor, descriptor: CrowdDescriptor) -> Scene {
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, of_renderer).unwrap();
    let crowd = Crowd::with_model(&mut renderer, &test.model, descriptor).unwrap();
    let clips = test.model.meta.clips.len() as u32;
    // All three clips, or clips of any index.
    let clip = |i: u32| Clip::new((i * 1_639 % clips) as u16);
    let mut random = Random(3);
    let ids = (0..COUNT)
        .map(|i| {
            let at = random.vector() * 40.0;
            let instance = Instance::at(at.to_array()).facing(i as f32).scaled(random.within(0.5, 1.5));
            let instance = instance.play(clip(i)).phase(i as f32 * 0.137).speed(random.within(-1.5, 1.5));
            let id = crowd.spawn(match i % 4 {
                0 => instance.repeat(Repeat::Once),
                1 => instance.repeat(Repeat::PingPong),
                _ => instance.repeat(Repeat::Loop),
            });
            if i % 5 == 0 {
                crowd.play(id, Clip::new(1), Transition::crossfade(if i % 2 == 0 { 0.1 } else { 9.0 })).unwrap();
            }
            crowd.set_tint(id, [1.0, i as f32 / COUNT as f32, 0.5, 1.0]).unwrap();
            crowd.set_visible(id, i % 7 != 0).unwrap();
            id
        })
        .collect();
    Scene { renderer, crowd, ids }
}

fn camera(frame: usize) -> Camera {
    let (sin, cos) = (frame as f32 * 1.1).sin_cos();
    let eye = [cos * 8.0, frame as f32 * 2.0 - 10.0, sin * 8.0];
    Camera::perspective_look_at(eye, [sin * 30.0, 0.0, cos * 30.0], 0.9, 1.0, 0.1, 60.0)
}

fn seconds_of(frame: usize) -> f64 {
    0.3 + frame as f64 * 0.11
}

fn draw(gpu: &Gpu, scene: &mut Scene, frame: usize) -> Picture {
    let canvas = Canvas::new(gpu, SIDE);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    scene.renderer.prepare(&gpu.queue, &mut encoder, &camera(frame), seconds_of(frame)).unwrap();
    canvas.pass(&mut encoder, |pass| scene.renderer.draw(pass));
    canvas.finish(gpu, encoder)
}

/// One pixel in a thousand may lie on the other side of an edge.
fn assert_alike(a: &Picture, b: &Picture, what: &str) {
    let other = |(a, b): (&[u8; 4], &[u8; 4])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 1);
    let others = a.pixels.iter().zip(&b.pixels).filter(|(a, b)| other((a, b))).count();
    assert!(a.covered() > 300, "{what}: only {} pixels are covered", a.covered());
    assert!(others * 1000 <= a.pixels.len(), "{what}: {others} of {} pixels differ", a.pixels.len());
}

pub fn cached_pictures_match_palette_for_any_cache_size() {
    let test = narrow();
    for gpu in BACKENDS.into_iter().filter_map(compute) {
        for poses in [MOMENTS, 5, 1] {
            let mut palette = scene(&gpu, &test, Default::default(), asked(DrawPath::Palette, poses, &test));
            let mut cache = scene(&gpu, &test, Default::default(), asked(DrawPath::Cache, poses, &test));
            assert!(matches!(palette.crowd.explain(&palette.renderer).cache, CacheState::Palette));
            let mut of_all = 0;
            for frame in 0..12 {
                let expected = draw(&gpu, &mut palette, frame);
                let what = format!("{poses} poses, frame {frame} on {}", gpu.name);
                assert_alike(&expected, &draw(&gpu, &mut cache, frame), &what);
                let [seen, seen_there] = [&cache, &palette]
                    .map(|scene| scene.crowd.count_drawn(&scene.renderer, View::MAIN).unwrap().total());
                assert_eq!(seen, seen_there, "{what}");
                assert_eq!(palette.crowd.count_drawn(&palette.renderer, View::MAIN).unwrap().cached, 0);
                let cached = cache.crowd.count_drawn(&cache.renderer, View::MAIN).unwrap().cached;
                assert!(cached <= seen, "{what}: {cached} of {seen} instances are cached");
                of_all += cached;
            }
            let explained = cache.crowd.explain(&cache.renderer);
            assert_eq!(explained.path, DrawPath::Cache);
            assert!(
                matches!(explained.cache, CacheState::On { poses: p, samples: MOMENTS, .. } if p == poses),
                "{explained}"
            );
            // Draws the frame again: every instance without a crossfade finds its pose in the
            // cache.
            draw(&gpu, &mut cache, 11);
            let seen = cache.crowd.count_drawn(&cache.renderer, View::MAIN).unwrap().total();
            let cached = cache.crowd.count_drawn(&cache.renderer, View::MAIN).unwrap().cached;
            if poses == MOMENTS {
                assert!(
                    cached > seen * 3 / 4 && cached < seen,
                    "{cached} of {seen} instances are cached on {}",
                    gpu.name
                );
            }
            assert!(of_all > 12, "{poses} poses: {of_all} cached instances on {}", gpu.name);
        }
    }
}

const PROBE: &str = r"
@group(0) @binding(0) var<uniform> clock: vec4<u32>;

struct Varyings {
    @builtin(position) pixel: vec4<f32>,
    @location(0) @interpolate(flat) position: vec3<f32>,
    @location(1) @interpolate(flat) normal: vec3<f32>,
    @location(2) @interpolate(flat) tangent: vec4<f32>,
    @location(3) @interpolate(flat) color: vec4<f32>,
}

fn probe(input: GpuskinInput, index: u32) -> Varyings {
    let skinned = gpuskin_skin_vertex(input, clock.xy);
    let at = (vec2<f32>(vec2<u32>(index, gpuskin_instance_number(input))) + 0.5) / 512.0 * 2.0 - 1.0;
    return Varyings(vec4<f32>(at, 0.0, 1.0), skinned.position, skinned.normal, skinned.tangent, skinned.color);
}

struct Texels {
    @location(0) position: vec4<u32>,
    @location(1) normal: vec4<u32>,
    @location(2) tangent: vec4<u32>,
    @location(3) color: vec4<u32>,
}

@fragment
fn fragment(varyings: Varyings) -> Texels {
    return Texels(
        bitcast<vec4<u32>>(vec4<f32>(varyings.position, 1.0)),
        bitcast<vec4<u32>>(vec4<f32>(varyings.normal, 1.0)),
        bitcast<vec4<u32>>(varyings.tangent),
        bitcast<vec4<u32>>(varyings.color),
    );
}
";
/// Side of the probe's targets, texels.
const TEXELS: u32 = 512;
const OF_VERTEX: &str = "@vertex fn vertex(input: GpuskinInput, @builtin(vertex_index) index: u32) -> Varyings { return probe(input, index); }";
const OF_NUMBERED_VERTEX: &str =
    "@vertex fn vertex(input: GpuskinInput) -> Varyings { return probe(input, input.vertex); }";

fn own<'a>(gpu: &Gpu, scene: &'a Scene, text: String, clock: &'a [u8]) -> Own {
    let variant = scene.crowd.variant();
    let descriptor = OwnDescriptor {
        text,
        instances: scene.renderer.model_layout(variant),
        buffers: vertex_buffers(variant),
        uniforms: vec![clock],
        topology: wgpu::PrimitiveTopology::PointList,
        format: wgpu::TextureFormat::Rgba32Uint,
        targets: 4,
        side: TEXELS,
    };
    Own::new(gpu, descriptor)
}

/// Per target of the probe: the texels of all vertices of all instances.
type Probed = Vec<Vec<[f32; 4]>>;

/// Texel of a vertex of an instance.
fn texel(probed: &[[f32; 4]], instance: u32, vertex: usize) -> [f32; 4] {
    probed[(TEXELS - 1 - instance) as usize * TEXELS as usize + vertex]
}

/// Reads prepared vertices: those that every pipeline draws, and those that come from the cache.
fn probe(gpu: &Gpu, scene: &Scene, clock: &[u8], encoder: wgpu::CommandEncoder) -> [Probed; 2] {
    let variant = scene.crowd.variant();
    let entry = if variant.has_vertex_index() { OF_NUMBERED_VERTEX } else { OF_VERTEX };
    let draw = own(gpu, scene, shader::source(variant, 1) + PROBE + entry, clock);
    let all = draw.draw(gpu, encoder, |pass| scene.crowd.draw_with(pass, CustomDraw::new(1), |_, _| ()));
    let draw = own(gpu, scene, shader::cached_source(variant, 1) + PROBE + OF_NUMBERED_VERTEX, clock);
    let encoder = gpu.device.create_command_encoder(&Default::default());
    let cached = draw.draw(gpu, encoder, |pass| {
        scene.crowd.draw_with(pass, CustomDraw::new(1).with_pose_cache(), |pass, CustomPart { cached, .. }| {
            // Instances with a pose of their own are drawn by the other pipeline.
            let side = if cached { TEXELS } else { 0 };
            pass.set_scissor_rect(0, 0, side, side);
        });
    });
    [all, cached]
}

/// In every vertex layout: vertices drawn from the palette equal those of the CPU reference, even
/// if the cache is on; vertices drawn from the cache are equal up to their packing.
pub fn cached_vertices_match_cpu_reference() {
    let formats = [Packing::Full, Packing::Narrow, Packing::Wide, Packing::Full8, Packing::Wide8].into_iter().flat_map(
        |packing| [false, true].map(|tangent| VertexFormat { packing, tangent, second_uv: false, color: tangent }),
    );
    let gpu = gpu_with(wgpu::Backends::VULKAN, wide_targets()).expect("a device, which the test needs");
    let everything = Camera::orthographic_look_at([0.0, 0.0, 200.0], [0.0; 3], 150.0, 150.0, 400.0);
    let now = Time::from_secs(seconds_of(3));
    let clock: [u32; 4] = [now.words()[0], now.words()[1], 0, 0];
    let clock = bytemuck::bytes_of(&clock);
    for test in formats.map(test_model).chain([model_of_many_clips()]) {
        let meta = &test.model.meta;
        let format = (meta.clips.len(), meta.mesh.format);
        let clips = steps(&test);
        let mut bounds = cull::pack_bounds(meta).unwrap();
        let [samples, _] = cache::set_steps(&mut bounds, &clips);
        assert!(if clips.len() == 3 { samples == MOMENTS } else { samples > 60_000 }, "{samples}");
        let prepare = |scene: &mut Scene| {
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            scene.renderer.prepare(&gpu.queue, &mut encoder, &everything, now).unwrap();
            encoder
        };
        let descriptor = RendererDescriptor { lod_error: 0.0, ..Default::default() };
        let mut scene = scene(&gpu, &test, descriptor, asked(DrawPath::Cache, samples.min(2_000), &test));
        // An extra frame first, so that all poses are cached.
        gpu.queue.submit([prepare(&mut scene).finish()]);
        let encoder = prepare(&mut scene);
        let [all, cached] = probe(&gpu, &scene, clock, encoder);
        let errors = time_grid_errors(&test.model, GRID).unwrap();
        assert!(errors[0] > 0.05 && errors[2] < 1e-5, "{errors:?}");
        let (mut shared, mut moved) = (0, 0.0_f32);
        for (i, id) in (0..).zip(&scene.ids).filter(|(i, _)| i % 7 != 0) {
            let record = scene.crowd.get(*id).unwrap();
            let own = test.on_cpu(&record, now);
            let still = cache::shared_pose(&bounds, &record, now, None);
            let expected = still.map_or_else(|| own.clone(), |(_, still)| test.on_cpu(&still, now));
            shared += u32::from(still.is_some());
            for (vertex, expected) in expected.iter().enumerate() {
                let off = expected.position.distance(own[vertex].position) / record.scale;
                let stated = errors[record.clip_index()];
                assert!(off <= stated * 1.02 + 1e-4, "{format:?}, {i}: off by {off} m, stated error {stated} m");
                moved = moved.max(off / stated.max(1e-6));
                let [position, normal] = [0, 1].map(|target| Vec3::from_slice(&texel(&all[target], i, vertex)));
                assert!(position.abs_diff_eq(expected.position, 1e-4), "{format:?}, {i}: {position} {expected:?}");
                assert!(normal.abs_diff_eq(expected.normal, 1e-3), "{format:?}, {i}: {normal} {expected:?}");
                for (target, most) in [1e-4, 2e-4, 2e-4, 0.0].into_iter().enumerate() {
                    let [a, b] = [&all, &cached].map(|probed| glam::Vec4::from(texel(&probed[target], i, vertex)));
                    let there = if still.is_some() { a } else { glam::Vec4::ZERO };
                    assert!(b.abs_diff_eq(there, most), "{format:?}, {i}, target {target}: {b}, expected {there}");
                }
            }
        }
        assert!(shared > COUNT / 2 && shared < COUNT * 6 / 7, "{shared}");
        assert!(moved > 0.7, "{format:?}: greatest error is only {moved} of the stated one");
    }
}

/// An instance whose sharing error would be visible has a pose of its own; the error of every other
/// one is below the limit.
pub fn sharing_error_is_never_visible() {
    let gpu = gpu_with(wgpu::Backends::VULKAN, wide_targets()).expect("a device, which the test needs");
    let test = narrow();
    let bounds = cull::pack_bounds(&test.model.meta).unwrap();
    let mut shared_at = Vec::new();
    for lod_error in [0.0, 0.3, 1.0, 4.0] {
        let descriptor =
            CrowdDescriptor { sharing: PoseSharing::WithinLodError, ..asked(DrawPath::Cache, MOMENTS, &test) };
        let mut scene = scene(&gpu, &test, RendererDescriptor { lod_error, ..Default::default() }, descriptor);
        let (mut shared, mut seen, mut close) = (0_u64, 0_u64, 0.0_f32);
        for frame in 0..4 {
            let now = Time::from_secs(seconds_of(frame));
            let clock: [u32; 4] = [now.words()[0], now.words()[1], 0, 0];
            let camera = camera(frame).with_height(100);
            // An extra frame first, so that all poses are cached.
            for _ in 0..2 {
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                scene.renderer.prepare(&gpu.queue, &mut encoder, &camera, now).unwrap();
                gpu.queue.submit([encoder.finish()]);
            }
            let encoder = gpu.device.create_command_encoder(&Default::default());
            let [all, _] = probe(&gpu, &scene, bytemuck::bytes_of(&clock), encoder);
            shared += scene.crowd.count_drawn(&scene.renderer, View::MAIN).unwrap().cached;
            seen += scene.crowd.count_drawn(&scene.renderer, View::MAIN).unwrap().total();
            for (i, id) in (0..).zip(&scene.ids) {
                let record = scene.crowd.get(*id).unwrap();
                if texel(&all[0], i, 0) == [0.0; 4] {
                    continue;
                }
                let (middle, edges) = cull::instance_box(&bounds, &record, false, now).unwrap();
                let error_scale = cull::error_scale(&camera.uniform(lod_error), middle, edges, record.scale);
                for (vertex, own) in test.on_cpu(&record, now).iter().enumerate() {
                    let off = Vec3::from_slice(&texel(&all[0], i, vertex)).distance(own.position) / record.scale;
                    let may = error_scale.map_or(0.0, |error_scale| 1.0 / error_scale);
                    assert!(off <= may * 1.001 + 1e-4, "{i} at {lod_error} pixels: off by {off} m, limit {may} m");
                    close = close.max(off / may.max(1e-3));
                }
            }
        }
        note!("{lod_error} pixels: {shared} of {seen} instances share; greatest error is {close} of the limit");
        shared_at.push(shared);
        assert!(shared == 0 || close > 0.3, "{close}");
    }
    assert!(shared_at[0] == 0 && shared_at.is_sorted_by(|a, b| a < b), "{shared_at:?}");
}
