//! Crowds whose bones a compute pass writes, drawn on every backend that is here.
#![allow(unreachable_pub, reason = "tests have no outside")]

mod common;

use common::model::{Pose, Random, Recipe, TestModel, plain};
use common::{BACKENDS, Canvas, Gpu, Picture, compute, gpu_with};
use glam::Vec3;
use gpuskin_rt::*;

/// Instances stand in squares of so many metres, so many a row.
const CELL: f32 = 8.0;
const ROW: u32 = 14;
/// Pixels of a square.
const PIXELS: u32 = 36;
const COUNT: u32 = ROW * ROW;

fn test_model(bones: u32) -> TestModel {
    let format = VertexFormat { packing: Packing::Narrow, tangent: false, color: false };
    let mut recipe = Recipe::random(&mut Random(7), Encoding::LocalPacked, format, bones);
    recipe.materials = vec![Material { double_sided: true, ..plain([1.0; 4]) }];
    recipe.build(|_, _| Pose::REST)
}

fn middle(i: u32) -> Vec3 {
    Vec3::new((i % ROW) as f32 + 0.5, (i / ROW) as f32 + 0.5, 0.0) * CELL
}

fn camera() -> Camera {
    let half = CELL * ROW as f32 / 2.0;
    Camera::orthographic_look_at([half, half, 50.0], [half, half, 0.0], half, half, 100.0)
}

const SECONDS: f64 = 12.34;

struct Scene {
    renderer: CrowdRenderer,
    crowd: Crowd<Dynamic>,
    records: Vec<InstanceRecord>,
}

/// Instances of all clips at all phases.
fn scene(gpu: &Gpu, test: &TestModel) -> Scene {
    let descriptor = RendererDescriptor { depth_compare: wgpu::CompareFunction::LessEqual, ..Default::default() };
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
    let crowd = Crowd::with_model(&mut renderer, &test.model, CrowdDescriptor { capacity: 10 }).unwrap();
    let instance = |i: u32| {
        Instance::at(middle(i).to_array())
            .play(Clip::new((i % 3) as u16))
            .looping()
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

/// Least and greatest pixel that is covered in the square of an instance, from its lower left.
fn covered(picture: &Picture, i: u32) -> Option<[u32; 4]> {
    let (left, bottom) = (i % ROW * PIXELS, i / ROW * PIXELS);
    let background = picture.at(left, picture.side - 1 - bottom);
    let mut bounds: Option<[u32; 4]> = None;
    for (x, y) in (0..PIXELS).flat_map(|y| (0..PIXELS).map(move |x| (x, y))) {
        if picture.at(left + x, picture.side - 1 - bottom - y) != background {
            let [a, b, c, d] = bounds.unwrap_or([x, y, x, y]);
            bounds = Some([a.min(x), b.min(y), c.max(x), d.max(y)]);
        }
    }
    bounds
}

/// Every instance covers what its twin says. A corner that only a sliver reaches covers no middle of a pixel: such are few.
fn check(picture: &Picture, test: &TestModel, scene: &Scene) {
    let to_pixels = PIXELS as f32 / CELL;
    let mut far = 0;
    for (i, record) in (0..).zip(&scene.records) {
        let expected = test.on_cpu(record, Time::from_secs(SECONDS));
        let corner = middle(i) - Vec3::splat(CELL / 2.0);
        let points = || expected.iter().map(|v| (v.position - corner) * to_pixels);
        let (least, greatest) = (points().reduce(Vec3::min).unwrap(), points().reduce(Vec3::max).unwrap());
        let found = covered(picture, i).unwrap_or_else(|| panic!("{i} is not drawn"));
        for (found, expected) in found.into_iter().zip([least.x, least.y, greatest.x - 1.0, greatest.y - 1.0]) {
            let off = (found as f32 - expected).abs();
            assert!(off < 8.0, "{i}: {found} instead of {expected}");
            far += u32::from(off > 2.0);
        }
    }
    assert!(far < COUNT * 4 / 5, "{far} sides of {COUNT} instances are elsewhere");
}

#[test]
fn every_instance_has_its_own_pose_however_palettes_are_split() {
    for backend in BACKENDS {
        let Some(gpu) = compute(backend) else { continue };
        // Bones and scratch of 253 bones are beyond workgroup memory.
        for bones in [4, 253] {
            let test = test_model(bones);
            let mut whole = scene(&gpu, &test);
            let picture = draw(&gpu, &mut whole, false);
            check(&picture, &test, &whole);
            assert!(draw(&gpu, &mut whole, true) == picture, "depth first");

            // 64 instances a palette.
            let matrices = u64::from(if bones == 4 { bones } else { bones + bones + bones / 3 });
            let words = test.model.animation.levels[0].len;
            let mut limits = wgpu::Limits::downlevel_defaults();
            limits.max_storage_buffer_binding_size = (matrices * 48 * 79).max(words);
            let Some(small) = gpu_with(backend, limits) else { continue };
            let mut split = scene(&small, &test);
            assert!(draw(&small, &mut split, false) == picture, "{bones} bones in several palettes on {}", gpu.name);
            assert!(draw(&small, &mut split, true) == picture, "depth first");

            let ids: Vec<_> = (0..3).map(|_| split.crowd.spawn(Instance::at([1e4; 3]))).collect();
            assert!(draw(&small, &mut split, false) == picture, "after growing");
            ids.into_iter().for_each(|id| assert!(split.crowd.despawn(id)));
            split.crowd.clear();
            assert_eq!(draw(&small, &mut split, false).covered(), 0);
        }
    }
}
