//! Crowds whose bones are evaluated by a compute pass, drawn on every available backend.

use crate::common::cells::{self, COUNT, PIXELS, ROW, camera, middle};
use crate::common::model::{Pose, Random, Recipe, TestModel, plain};
use crate::common::{BACKENDS, Canvas, Gpu, Picture, compute, gpu_with};
use gpuskin_rt::internals::*;

fn test_model(bones: u32) -> TestModel {
    let format = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false };
    let mut recipe = Recipe::random(&mut Random(7), Encoding::LocalPacked, format, bones);
    recipe.materials = vec![Material { double_sided: true, ..plain([1.0; 4]) }];
    recipe.build(|_, _| Pose::REST)
}

const SECONDS: f64 = 12.34;

struct Scene {
    renderer: CrowdRenderer,
    crowd: Crowd<Dynamic>,
    records: Vec<InstanceRecord>,
}

/// Instances with all clips and random phases.
fn scene(gpu: &Gpu, test: &TestModel) -> Scene {
    let descriptor = RendererDescriptor { depth_compare: wgpu::CompareFunction::LessEqual, ..Default::default() };
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
    let crowd =
        Crowd::with_model(&mut renderer, &test.model, CrowdDescriptor { capacity: 10, ..Default::default() }).unwrap();
    let instance = |i: u32| {
        Instance::at(middle(i).to_array())
            .play(Clip::new((i % 3) as u16))
            .repeat(Repeat::Loop)
            .phase(i as f32 * 0.137)
            .facing(i as f32)
    };
    let ids: Vec<_> = (0..COUNT).map(|i| crowd.spawn(instance(i))).collect();
    let records = ids.iter().map(|id| crowd.get(*id).unwrap()).collect();
    Scene { renderer, crowd, records }
}

fn draw(gpu: &Gpu, scene: &mut Scene, depth_first: bool) -> Picture {
    let canvas = Canvas::new(gpu, PIXELS * ROW);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    scene.renderer.prepare(&gpu.queue, &mut encoder, &camera(), SECONDS).unwrap();
    if depth_first {
        canvas.depth_pass(&mut encoder, |pass| scene.renderer.draw_depth(pass, View::MAIN));
        canvas.pass_over_depth(&mut encoder, |pass| scene.renderer.draw(pass));
    } else {
        canvas.pass(&mut encoder, |pass| scene.renderer.draw(pass));
    }
    canvas.finish(gpu, encoder)
}

/// Asserts that every instance covers the pixels that the CPU reference gives.
fn check(picture: &Picture, test: &TestModel, scene: &Scene) {
    let time = Time::from_secs(SECONDS);
    cells::check(picture, |i| test.on_cpu(&scene.records[i as usize], time).iter().map(|v| v.position).collect());
}

pub fn every_instance_has_its_own_pose_in_split_palettes() {
    for backend in BACKENDS {
        let Some(gpu) = compute(backend) else { continue };
        // The node matrices of 253 bones do not fit workgroup memory.
        for bones in [4, 253] {
            let test = test_model(bones);
            let mut whole = scene(&gpu, &test);
            let picture = draw(&gpu, &mut whole, false);
            check(&picture, &test, &whole);
            assert!(draw(&gpu, &mut whole, true) == picture, "with a depth prepass");

            // 64 instances per palette.
            let matrices = u64::from(if bones == 4 { bones } else { bones + bones + bones / 3 });
            let words = test.model.animation.levels[0].len;
            let mut limits = wgpu::Limits::downlevel_defaults();
            limits.max_storage_buffer_binding_size = (matrices * 48 * 79).max(words);
            let Some(small) = gpu_with(backend, limits) else { continue };
            let mut split = scene(&small, &test);
            assert!(draw(&small, &mut split, false) == picture, "{bones} bones in several palettes on {}", gpu.name);
            assert!(draw(&small, &mut split, true) == picture, "with a depth prepass");

            let ids: Vec<_> = (0..3).map(|_| split.crowd.spawn(Instance::at([1e4; 3]))).collect();
            assert!(draw(&small, &mut split, false) == picture, "after growing");
            ids.into_iter().for_each(|id| assert!(split.crowd.despawn(id).is_ok()));
            split.crowd.clear();
            assert_eq!(draw(&small, &mut split, false).covered(), 0);
        }
    }
}

pub fn dispatches_use_several_rows_of_workgroups() {
    for backend in BACKENDS {
        let Some(gpu) = compute(backend) else { continue };
        // Without bounds, all instances are dispatched; with bounds, those that the culling pass
        // counts.
        for test in [test_model(4), test_model(4).with_bounds()] {
            let picture = draw(&gpu, &mut scene(&gpu, &test), false);
            let mut limits = wgpu::Limits::downlevel_defaults();
            limits.max_compute_workgroups_per_dimension = 7;
            let Some(small) = gpu_with(backend, limits) else { continue };
            assert!(draw(&small, &mut scene(&small, &test), false) == picture, "on {}", gpu.name);
        }
    }
}
