//! Frustum culling on every available backend: pictures equal those of the whole crowd.

use crate::common::model::{Pose, Random, Recipe, TestModel, many_clips, plain};
use crate::common::{BACKENDS, Canvas, Gpu, Picture, compute, gpu, gpu_with};
use glam::Vec3;
use gpuskin_rt::internals::render::{CullingState, DrawPath};
use gpuskin_rt::internals::*;

const SIDE: u32 = 128;
const COUNT: u32 = 300;

/// Model with bounds as a bake computes them: boxes around the frames.
fn test_model(encoding: Encoding) -> TestModel {
    let format = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false };
    let mut recipe = Recipe::random(&mut Random(7), encoding, format, 4);
    recipe.materials = vec![Material { double_sided: true, ..plain([1.0; 4]) }];
    recipe.build(|_, _| Pose::REST).with_bounds()
}

/// Returns [`test_model`] with so many clips that their bounds are in a texture, and fewer vertices.
fn model_of_many_clips(encoding: Encoding) -> TestModel {
    let format = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false };
    let mut recipe = Recipe::random(&mut Random(7), encoding, format, 4);
    recipe.materials = vec![Material { double_sided: true, ..plain([1.0; 4]) }];
    recipe.clips = many_clips(5_000);
    recipe.frames_per_layer = 400;
    recipe.vertices.truncate(60);
    recipe.indices.truncate(60);
    let mut random = Random(8);
    recipe.build(|_, _| Pose::random(&mut random, false)).with_bounds()
}

struct Scene {
    renderer: CrowdRenderer,
    crowd: Crowd<Dynamic>,
    sun: View,
    /// Records of the instances that are not hidden.
    shown: Vec<InstanceRecord>,
}

/// Instances around the origin, every third of them in a crossfade.
fn scene(gpu: &Gpu, test: &TestModel, culling: bool) -> Scene {
    let mut renderer =
        CrowdRenderer::new(&gpu.device, &gpu.queue, RendererDescriptor { culling, ..Default::default() }).unwrap();
    let crowd =
        Crowd::with_model(&mut renderer, &test.model, CrowdDescriptor { capacity: COUNT, ..Default::default() })
            .unwrap();
    let clips = test.model.meta.clips.len() as u32;
    // All three clips, or clips of any index.
    let clip = |i: u32| Clip::new((i * 1_639 % clips) as u16);
    let mut random = Random(3);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let camera = cameras().next().unwrap().0;
    renderer.prepare(&gpu.queue, &mut encoder, &camera, 3.0).unwrap();
    let ids: Vec<_> = (0..COUNT)
        .map(|i| {
            let at = random.vector() * 40.0;
            let instance = Instance::at(at.to_array()).facing(i as f32).scaled(random.within(0.5, 1.5));
            let id = crowd.spawn(instance.play(clip(i)).repeat(Repeat::Loop).phase(i as f32 * 0.137));
            if i % 3 == 0 {
                crowd.play(id, clip(i + 1), Transition::crossfade(if i % 2 == 0 { 0.1 } else { 9.0 })).unwrap();
            }
            crowd.set_tint(id, [1.0, i as f32 / COUNT as f32, 0.5, 1.0]).unwrap();
            crowd.set_visible(id, i % 7 != 0).unwrap();
            id
        })
        .collect();
    let shown = (0..).zip(&ids).filter(|(i, _)| i % 7 != 0).map(|(_, id)| crowd.get(*id).unwrap()).collect();
    let sun = renderer.add_view();
    Scene { renderer, crowd, sun, shown }
}

/// Cameras of the main view and of the sun.
fn cameras() -> impl Iterator<Item = (Camera, Camera)> {
    (0..6).map(|i| {
        let (sin, cos) = (i as f32 * 1.1).sin_cos();
        let eye = Vec3::new(cos * 8.0, i as f32 * 4.0 - 10.0, sin * 8.0);
        let main = Camera::perspective_look_at(eye.to_array(), [sin * 30.0, 0.0, cos * 30.0], 0.7, 1.0, 0.1, 35.0);
        let sun = Camera::orthographic_look_at([cos * 20.0, 30.0, 0.0], [0.0, -30.0, sin], 12.0, 9.0, 60.0);
        (main, sun)
    })
}

const NOW: f64 = 4.5;

/// Returns the pictures of the main view and of the sun.
fn draw(gpu: &Gpu, scene: &mut Scene, (main, sun): &(Camera, Camera)) -> [Picture; 2] {
    let canvas = [Canvas::new(gpu, SIDE), Canvas::new(gpu, SIDE)];
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    scene.renderer.prepare(&gpu.queue, &mut encoder, main, NOW).unwrap();
    // After the commands of `prepare` are encoded, before they are submitted.
    scene.renderer.prepare_view(&gpu.queue, scene.sun, sun).unwrap();
    canvas[1].pass(&mut encoder, |pass| scene.renderer.draw_view(pass, scene.sun));
    gpu.queue.submit([encoder.finish()]);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    canvas[0].pass(&mut encoder, |pass| scene.renderer.draw(pass));
    let main = canvas[0].finish(gpu, encoder);
    [main, canvas[1].finish(gpu, gpu.device.create_command_encoder(&Default::default()))]
}

pub fn culled_pictures_match_and_only_visible_instances_are_drawn() {
    let tests = [test_model(Encoding::LocalPacked), model_of_many_clips(Encoding::LocalPacked)];
    for (backend, test) in BACKENDS.into_iter().flat_map(|backend| tests.each_ref().map(|test| (backend, test))) {
        let Some(gpu) = compute(backend) else { continue };
        let (mut whole, mut culled) = (scene(&gpu, test, false), scene(&gpu, test, true));
        let mut limits = wgpu::Limits::downlevel_defaults();
        limits.max_storage_buffer_binding_size = (4 * 48 * 79).max(test.model.animation.levels[0].len);
        let small = gpu_with(backend, limits).unwrap();
        let mut split = scene(&small, test, true);
        let mut shown = 0;
        for (i, cameras) in cameras().enumerate() {
            let expected = draw(&gpu, &mut whole, &cameras);
            shown += expected.iter().map(Picture::covered).sum::<usize>();
            assert!(draw(&gpu, &mut culled, &cameras) == expected, "camera {i} on {}", gpu.name);
            assert!(draw(&small, &mut split, &cameras) == expected, "camera {i}, several palettes on {}", gpu.name);
            check_counts(test, &whole, &[&culled, &split], &cameras);
        }
        assert!(shown > 3000, "only {shown} pixels are covered");
    }
}

/// Returns how many instances the CPU reference sees: least and greatest number, because sums in another order may
/// differ at the edges of a view.
fn seen(test: &TestModel, shown: &[InstanceRecord], camera: &Camera) -> core::ops::RangeInclusive<u64> {
    let bounds = cull::pack_bounds(&test.model.meta).unwrap();
    let now = Time::from_secs(NOW);
    let [least, most] = [0.999, 1.001].map(|factor| {
        let sees = |record: &&InstanceRecord| {
            let (middle, edges) = cull::instance_box(&bounds, record, false, now).unwrap();
            cull::in_view(&camera.view_proj, middle, edges.map(|edge| edge * factor))
        };
        shown.iter().filter(sees).count() as u64
    });
    least..=most
}

/// Checks that each view draws the instances that the CPU reference sees.
fn check_counts(test: &TestModel, whole: &Scene, culled: &[&Scene], cameras: &(Camera, Camera)) {
    for (view, camera) in [(View::MAIN, &cameras.0), (whole.sun, &cameras.1)] {
        let expected = seen(test, &whole.shown, camera);
        for scene in culled {
            let drawn = scene.crowd.count_drawn(&scene.renderer, view).unwrap().total();
            assert!(expected.contains(&drawn), "{drawn} drawn, expected {expected:?}");
            assert!(drawn < u64::from(COUNT) / 2, "{drawn}");
        }
        assert_eq!(whole.crowd.count_drawn(&whole.renderer, view).unwrap().total(), u64::from(COUNT));
    }
}

/// On devices without compute, the CPU culls: for the same pictures, with the same instances as a culling
/// pass selects.
pub fn cpu_culls_where_there_is_no_compute() {
    let few = [Encoding::MatrixF16, Encoding::TrsPacked].map(test_model);
    for test in few.into_iter().chain([model_of_many_clips(Encoding::MatrixF16)]) {
        for gpu in BACKENDS.into_iter().filter_map(gpu) {
            let (mut whole, mut culled) = (scene(&gpu, &test, false), scene(&gpu, &test, true));
            let mut shown = 0;
            for (i, cameras) in cameras().enumerate() {
                let expected = draw(&gpu, &mut whole, &cameras);
                shown += expected.iter().map(Picture::covered).sum::<usize>();
                assert!(draw(&gpu, &mut culled, &cameras) == expected, "camera {i} on {}", gpu.name);
                check_counts(&test, &whole, &[&culled], &cameras);
            }
            assert!(shown > 3000, "only {shown} pixels are covered");
            let explained = culled.crowd.explain(&culled.renderer);
            assert_eq!((explained.path, explained.culling), (DrawPath::Direct, CullingState::OnCpu { views: 2 }));
        }
    }
}

/// The selection of the CPU follows commands, time and the camera, also in frames in which only one of them
/// changes; and a frame without changes uploads nothing.
pub fn cpu_culling_follows_changes() {
    let test = test_model(Encoding::MatrixF16);
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let mut scenes = [scene(&gpu, &test, false), scene(&gpu, &test, true)];
        let cameras: Vec<_> = cameras().collect();
        let mut added = [None; 2];
        for frame in 0..12 {
            let now = NOW + if frame < 9 { 0.0 } else { f64::from(frame) };
            let pictures = [0, 1].map(|i| {
                let Scene { renderer, crowd, sun, .. } = &mut scenes[i];
                let id = |n| crowd.id_at(n).unwrap();
                match frame {
                    2 => crowd.move_to(id(5), [0.0, -8.0, 20.0]).unwrap(),
                    3 => added[i] = Some(crowd.spawn(Instance::at([2.0, -6.0, 18.0]).play(Clip::new(0)))),
                    4 => crowd.set_visible(added[i].unwrap(), false).unwrap(),
                    5 => crowd.set_visible(added[i].unwrap(), true).unwrap(),
                    6 => crowd.play(added[i].unwrap(), Clip::new(2), Transition::crossfade(20.0)).unwrap(),
                    7 => crowd.despawn(id(0)).unwrap(),
                    8 => crowd
                        .set_motion(added[i].unwrap(), Motion { velocity: [3.0, 0.0, 1.0], ..Motion::STILL })
                        .unwrap(),
                    _ => {}
                }
                let (main, low) = &cameras[if frame < 11 { 0 } else { 1 }];
                let canvas = [Canvas::new(&gpu, SIDE), Canvas::new(&gpu, SIDE)];
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                // The other view: before `prepare`, after it, and not at all.
                if frame % 3 == 0 {
                    renderer.prepare_view(&gpu.queue, *sun, low).unwrap();
                }
                renderer.prepare(&gpu.queue, &mut encoder, main, now).unwrap();
                if frame % 3 == 1 {
                    renderer.prepare_view(&gpu.queue, *sun, low).unwrap();
                }
                canvas[0].pass(&mut encoder, |pass| renderer.draw(pass));
                canvas[1].pass(&mut encoder, |pass| renderer.draw_view(pass, *sun));
                let first = canvas[0].finish(&gpu, encoder);
                [first, canvas[1].finish(&gpu, gpu.device.create_command_encoder(&Default::default()))]
            });
            assert!(pictures[0] == pictures[1], "frame {frame} on {}", gpu.name);
        }
    }
}

pub fn empty_single_and_fully_culled_crowds_are_drawn() {
    let test = test_model(Encoding::LocalPacked);
    for gpu in BACKENDS.into_iter().filter_map(compute) {
        let mut scene = scene(&gpu, &test, true);
        let cameras = cameras().next().unwrap();
        scene.crowd.clear();
        assert_eq!(draw(&gpu, &mut scene, &cameras)[0].covered(), 0);
        let id = scene.crowd.spawn(Instance::at([0.0; 3]));
        let away = Camera::perspective_look_at([0.0, 0.0, 9.0], [0.0, 0.0, 20.0], 0.7, 1.0, 0.1, 35.0);
        let at = Camera::perspective_look_at([0.0, 0.0, 9.0], [0.0; 3], 0.7, 1.0, 0.1, 35.0);
        assert_eq!(draw(&gpu, &mut scene, &(away, away)).map(|p| p.covered()), [0, 0]);
        let [main, sun] = draw(&gpu, &mut scene, &(at, away));
        assert!(main.covered() > 20 && sun.covered() == 0);
        let [main, sun] = draw(&gpu, &mut scene, &(away, at));
        assert!(main.covered() == 0 && sun.covered() > 20);
        scene.crowd.despawn(id).unwrap();
        assert_eq!(draw(&gpu, &mut scene, &(at, at)).map(|p| p.covered()), [0, 0]);
    }
}

/// With as many views as there can be, each draws the instances that it sees: of one crowd, and of merged crowds.
pub fn each_of_the_most_views_culls_for_itself() {
    let test = test_model(Encoding::LocalPacked);
    for (backend, merged) in BACKENDS.into_iter().flat_map(|backend| [(backend, false), (backend, true)]) {
        let Some(gpu) = compute(backend) else { continue };
        let mut scene = scene(&gpu, &test, true);
        let other = merged.then(|| {
            let crowd = Crowd::<Dynamic>::with_model(&mut scene.renderer, &test.model, Default::default()).unwrap();
            let spawn = |i: u32| crowd.spawn(Instance::at([(i % 9) as f32 - 4.0, 0.0, (i / 9) as f32 - 4.0]));
            let ids: Vec<_> = (0..81).map(spawn).collect();
            let shown: Vec<_> = ids.iter().map(|id| crowd.get(*id).unwrap()).collect();
            (crowd, shown)
        });
        let mut views = vec![View::MAIN, scene.sun];
        views.extend((2..cull::MAX_VIEWS).map(|_| scene.renderer.add_view()));
        let camera = |i: usize| {
            let (sin, cos) = (i as f32 * 0.9).sin_cos();
            Camera::perspective_look_at([sin, 2.0, cos], [sin * 9.0, cos, cos * 9.0], 0.7, 1.0, 0.1, 20.0 + i as f32)
        };
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        scene.renderer.prepare(&gpu.queue, &mut encoder, &camera(0), NOW).unwrap();
        for (i, view) in views.iter().enumerate().skip(1) {
            scene.renderer.prepare_view(&gpu.queue, *view, &camera(i)).unwrap();
        }
        gpu.queue.submit([encoder.finish()]);
        assert_eq!(scene.crowd.explain(&scene.renderer).culling, CullingState::On { views: cull::MAX_VIEWS });
        let crowds = [Some((&scene.crowd, &scene.shown)), other.as_ref().map(|(crowd, shown)| (crowd, shown))];
        for (crowd, shown) in crowds.into_iter().flatten() {
            let mut different = std::collections::BTreeSet::new();
            for (i, view) in views.iter().enumerate() {
                let drawn = crowd.count_drawn(&scene.renderer, *view).unwrap().total();
                let expected = seen(&test, shown, &camera(i));
                assert!(expected.contains(&drawn), "view {i} on {}: {drawn}, expected {expected:?}", gpu.name);
                different.insert(drawn);
            }
            assert!(different.len() > 5, "views see different numbers: {different:?}");
        }
    }
}

pub fn too_many_views_disable_culling() {
    let test = test_model(Encoding::LocalPacked);
    let gpu = BACKENDS.into_iter().find_map(compute).expect("a device, which the test needs");
    let mut scene = scene(&gpu, &test, true);
    let cameras = cameras().next().unwrap();
    let few = draw(&gpu, &mut scene, &cameras);
    let views: Vec<_> = (0..cull::MAX_VIEWS).map(|_| scene.renderer.add_view()).collect();
    assert!(draw(&gpu, &mut scene, &cameras) == few);
    assert_eq!(scene.crowd.count_drawn(&scene.renderer, views[0]).unwrap().total(), u64::from(COUNT));
}

pub fn models_without_bounds_are_not_culled() {
    let mut test = test_model(Encoding::LocalPacked);
    test.model.meta.bounds = Aabb::EMPTY;
    assert!(cull::pack_bounds(&test.model.meta).is_none());
    let gpu = BACKENDS.into_iter().find_map(compute).expect("a device, which the test needs");
    let mut scene = scene(&gpu, &test, true);
    draw(&gpu, &mut scene, &cameras().next().unwrap());
    assert_eq!(scene.crowd.count_drawn(&scene.renderer, View::MAIN).unwrap().total(), u64::from(COUNT));
}
