//! Instances that are small in the picture use the greatest four influences of each vertex, as the CPU reference decides.

use crate::common::model::{Random, Recipe, TestModel, plain};
use crate::common::{BACKENDS, Canvas, Gpu, Picture, compute, compute_eight};
use gpuskin_rt::internals::render::PoseSharing;
use gpuskin_rt::internals::*;

const SIDE: u32 = 160;
const COUNT: usize = 150;
const NOW: f64 = 4.5;
/// Error of four influences, and of the second level of detail, metres.
const ERROR: f32 = 0.12;
const OF_LEVEL: f32 = 0.06;

/// Triangles whose vertices have one to eight influences. `four`: those beyond four are left out, as a shader does.
fn model(packing: Packing, four: bool) -> TestModel {
    let format = VertexFormat { packing, tangent: false, second_uv: false, color: false };
    let mut recipe = Recipe::random(&mut Random(7), Encoding::LocalPacked, format, 6);
    recipe.materials = vec![Material { double_sided: true, ..plain([1.0; 4]) }];
    for vertex in &mut recipe.vertices {
        let mut influences: Vec<_> = vertex.weights.into_iter().zip(vertex.joints).collect();
        influences.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let sum: f32 = influences[..4].iter().map(|(weight, _)| weight).sum();
        let weight = |i: usize| if i < 4 { influences[i].0 / sum } else { 0.0 };
        vertex.joints = std::array::from_fn(|i| influences[i].1);
        vertex.weights = std::array::from_fn(|i| if four { weight(i) } else { influences[i].0 });
    }
    let mut random = Random(9);
    let mut test = recipe.build(|_, _| crate::common::model::Pose::random(&mut random, false)).with_bounds();
    let mesh = &mut test.model.meta.mesh;
    let half = |part: &MeshPart| IndexRange { index_count: part.index_count / 6 * 3, first_index: part.first_index };
    mesh.levels = vec![MeshLod { error: OF_LEVEL, parts: mesh.parts.iter().map(half).collect() }].into();
    test
}

/// Gives a model another hash, so that a renderer loads it as another model.
fn renamed(mut test: TestModel) -> TestModel {
    let model = &mut test.model;
    model.meta.content_hash[15] ^= 1;
    for payload in [&mut model.mesh, &mut model.animation] {
        let Data::Bytes(bytes) = &mut payload.data else { panic!("the payload is not in memory") };
        bytes.to_mut()[15] ^= 1;
    }
    test
}

fn instances() -> Vec<Instance<Dynamic>> {
    let mut random = Random(3);
    let at = |i: usize| {
        let instance = Instance::at((random.vector() * 20.0).to_array()).facing(i as f32);
        instance.scaled(random.within(0.5, 1.5)).play(Clip::new(0)).repeat(Repeat::Loop).phase(i as f32 * 0.37)
    };
    (0..COUNT).map(at).collect()
}

/// Cameras of the main view and of the sun.
fn cameras() -> [Camera; 2] {
    let main = Camera::perspective_look_at([0.0, 4.0, 30.0], [0.0; 3], 1.0, 1.0, 0.1, 200.0).with_height(SIDE);
    [main, Camera::orthographic_look_at([10.0, 50.0, 0.0], [0.0; 3], 25.0, 25.0, 100.0).with_height(SIDE * 2)]
}

/// Whether the CPU reference uses four influences for each instance.
fn choices(test: &TestModel, camera: &Camera, lod_error: f32) -> Vec<bool> {
    let (bounds, view) = (cull::pack_bounds(&test.model.meta).unwrap(), camera.uniform(lod_error));
    let of = |instance: Instance<Dynamic>| {
        let record = instance.record(&test.model.meta, Time::ZERO);
        let (middle, edges) = cull::instance_box(&bounds, &record, false, Time::from_secs(NOW)).unwrap();
        let level = cull::lod(&view, &[0.0, OF_LEVEL], middle, edges, record.scale);
        let scale = cull::error_scale(&view, middle, edges, record.scale);
        cull::four_influences(ERROR, [0.0, OF_LEVEL][level], scale)
    };
    instances().into_iter().map(of).collect()
}

/// Draws instances of models, and returns the pictures of the main view and of the sun. `shown`: model, and whether it has an
/// instance.
fn draw(gpu: &Gpu, shown: &[(&TestModel, Vec<bool>)], descriptor: RendererDescriptor, shared: bool) -> [Picture; 2] {
    let occlusion = descriptor.occlusion;
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
    let sun = renderer.add_view();
    let crowds: Vec<Crowd<Dynamic>> = shown
        .iter()
        .map(|(test, has)| {
            let time_grid = shared.then_some(0.02);
            let sharing = if shared { PoseSharing::Always } else { PoseSharing::default() };
            let of_crowd = CrowdDescriptor { capacity: COUNT as u32, time_grid, sharing, ..Default::default() };
            let crowd = Crowd::with_model(&mut renderer, &test.model, of_crowd).unwrap();
            crowd.spawn_many(instances().into_iter().zip(has).filter(|(_, has)| **has).map(|(instance, _)| instance));
            crowd
        })
        .collect();
    let [main, of_sun] = cameras();
    let canvas = [Canvas::new(gpu, SIDE), Canvas::new(gpu, SIDE)];
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare_view(&gpu.queue, sun, &of_sun).unwrap();
    renderer.prepare(&gpu.queue, &mut encoder, &main, NOW).unwrap();
    // The second frame counts: poses that instances share are in the cache, and with occlusion culling, all instances were behind
    // something before.
    fill_depth(&mut encoder, &canvas[0], 0.0);
    renderer.reveal(&mut encoder, &canvas[0].depth).unwrap();
    gpu.queue.submit([encoder.finish()]);
    encoder = gpu.device.create_command_encoder(&Default::default());
    renderer.prepare_view(&gpu.queue, sun, &of_sun).unwrap();
    renderer.prepare(&gpu.queue, &mut encoder, &main, NOW).unwrap();
    if occlusion {
        fill_depth(&mut encoder, &canvas[0], 1.0);
        renderer.reveal(&mut encoder, &canvas[0].depth).unwrap();
    }
    let view = if occlusion { View::REVEALED } else { View::MAIN };
    canvas[0].pass(&mut encoder, |pass| renderer.draw_view(pass, view));
    canvas[1].pass(&mut encoder, |pass| renderer.draw_view(pass, sun));
    let first = canvas[0].finish(gpu, encoder);
    let pictures = [first, canvas[1].finish(gpu, gpu.device.create_command_encoder(&Default::default()))];
    drop(crowds);
    pictures
}

fn fill_depth(encoder: &mut wgpu::CommandEncoder, canvas: &Canvas, depth: f32) {
    let depth_ops = Some(wgpu::Operations { load: wgpu::LoadOp::Clear(depth), store: wgpu::StoreOp::Store });
    let view = canvas.depth.create_view(&Default::default());
    let attachment = wgpu::RenderPassDepthStencilAttachment { view: &view, depth_ops, stencil_ops: None };
    let depth_stencil_attachment = Some(attachment);
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor { depth_stencil_attachment, ..Default::default() });
}

/// Number of pixels that differ by more than rounding.
fn different(a: &Picture, b: &Picture) -> usize {
    let far = |(a, b): (&[u8; 4], &[u8; 4])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 2);
    a.pixels.iter().zip(&b.pixels).filter(|pair| far(*pair)).count()
}

pub fn small_instances_use_four_influences() {
    // With all influences as attributes, and loaded from a buffer.
    let devices = BACKENDS.into_iter().flat_map(|backends| [compute(backends), compute_eight(backends)]).flatten();
    for gpu in devices {
        for packing in [Packing::Wide8, Packing::Full8] {
            check(&gpu, packing);
        }
    }
}

fn check(gpu: &Gpu, packing: Packing) {
    let all = model(packing, false);
    let mut four = renamed(model(packing, true));
    // Equal bounds, so that both are culled alike.
    four.model.meta.bounds = all.model.meta.bounds;
    for (to, from) in four.model.meta.clips.to_mut().iter_mut().zip(all.model.meta.clips.iter()) {
        to.bounds = from.bounds;
    }
    let mut chosen = model(packing, false);
    chosen.model.meta.mesh.influence_error = ERROR;
    let what = |name: &str| format!("{name}, {packing:?} on {}", gpu.name);
    // OpenGL has no occlusion culling.
    let occludes = gpu.device.adapter_info().backend == wgpu::Backend::Vulkan;
    for (lod_error, occlusion) in [(1.0, false), (1.0, occludes), (0.0, false)] {
        let descriptor = || RendererDescriptor { lod_error, occlusion, ..Default::default() };
        let mixed = draw(gpu, &[(&chosen, vec![true; COUNT])], descriptor(), false);
        let of_all = draw(gpu, &[(&all, vec![true; COUNT])], descriptor(), false);
        let of_four = draw(gpu, &[(&four, vec![true; COUNT])], descriptor(), false);
        for (view, camera) in cameras().iter().enumerate() {
            let small = choices(&all, camera, lod_error);
            let count = small.iter().filter(|small| **small).count();
            let large = small.iter().map(|small| !small).collect();
            let expected = draw(gpu, &[(&all, large), (&four, small)], descriptor(), false);
            let off = different(&mixed[view], &expected[view]);
            let others = [&of_all, &of_four].map(|pictures| different(&mixed[view], &pictures[view]));
            let what = what(&format!("view {view}, {off} and {others:?} pixels, {count} small ones, {lod_error}"));
            assert!(off <= 12, "{what}");
            if lod_error == 0.0 {
                assert_eq!((count, others[0]), (0, 0), "{what}");
            } else {
                assert!(count > 20 && others[0] > 100, "{what}");
                assert!(view > 0 || (count < COUNT - 20 && others[1] > 200), "{what}");
            }
        }
    }
    // Shared poses are skinned once, with all influences.
    let shared =
        [&chosen, &all].map(|test| draw(gpu, &[(test, vec![true; COUNT])], RendererDescriptor::default(), true));
    assert!(shared[0] == shared[1], "{}", what("shared poses"));
}
