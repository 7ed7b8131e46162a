//! Levels of detail on the GPU: each instance is drawn in the LOD that the CPU reference selects;
//! and instances beyond the palette slots use poses of others where vertices cannot evaluate them.

use crate::common::model::{Pose, Random, Recipe, TestModel, plain};
use crate::common::{BACKENDS, Canvas, Gpu, Picture, compute, gpu, open};
use glam::Vec3;
use gpuskin_rt::internals::*;
use gpuskin_test_harness::note;

const SIDE: u32 = 128;
const COUNT: u32 = 400;
const NOW: f64 = 4.5;
/// LOD errors of the coarser levels, metres.
const ERRORS: [f32; 3] = [0.15, 0.3, 0.6];

/// Boxes of about a metre, with coarser levels that have fewer triangles.
fn test_model(levels: bool, encoding: Encoding) -> TestModel {
    let format = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false };
    let mut recipe = Recipe::random(&mut Random(7), encoding, format, 4);
    recipe.materials = vec![Material { double_sided: true, ..plain([1.0; 4]) }; 2];
    let mut test = recipe.build(|_, _| Pose::REST);
    let meta = &mut test.model.meta;
    let bounds = Aabb { min: [-1.5; 3], max: [1.5; 3] };
    meta.clips.to_mut().iter_mut().for_each(|clip| clip.bounds = bounds);
    meta.bounds = bounds;
    if levels {
        let part = |p: &MeshPart, share: u32| {
            let index_count = p.index_count / 3 / share * 3;
            IndexRange { first_index: p.first_index, index_count }
        };
        let level =
            |(i, error)| MeshLod { error, parts: meta.mesh.parts.iter().map(|p| part(p, 2_u32 << i)).collect() };
        meta.mesh.levels = (0..).zip(ERRORS).map(level).collect();
    }
    test
}

struct Scene {
    renderer: CrowdRenderer,
    crowd: Crowd<Dynamic>,
    ids: Vec<InstanceId>,
    sun: View,
}

fn scene(gpu: &Gpu, test: &TestModel, descriptor: RendererDescriptor) -> Scene {
    crowded(gpu, test, descriptor, CrowdDescriptor::default())
}

fn crowded(gpu: &Gpu, test: &TestModel, descriptor: RendererDescriptor, of_crowd: CrowdDescriptor) -> Scene {
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
    let of_crowd = CrowdDescriptor { capacity: COUNT, ..of_crowd };
    let crowd = Crowd::with_model(&mut renderer, &test.model, of_crowd).unwrap();
    let mut random = Random(3);
    let instance = |i: u32| {
        let at = random.vector() * 60.0;
        let instance = Instance::at(at.to_array()).facing(i as f32).scaled(random.within(0.3, 2.0));
        // With one start time, all instances show the same pose.
        instance.play(Clip::new(0)).repeat(Repeat::Loop).starting(0.0)
    };
    let ids: Vec<InstanceId> = (0..COUNT).map(instance).map(|instance| crowd.spawn(instance)).collect();
    ids.iter().step_by(7).for_each(|id| assert!(crowd.set_visible(*id, false).is_ok()));
    let sun = renderer.add_view();
    Scene { renderer, crowd, ids, sun }
}

/// Cameras of the main view and of the sun.
fn cameras() -> [Camera; 2] {
    let main = Camera::perspective_look_at([0.0, 4.0, 50.0], [0.0; 3], 1.0, 1.0, 0.1, 200.0).with_height(SIDE);
    [main, Camera::orthographic_look_at([10.0, 50.0, 0.0], [0.0; 3], 30.0, 20.0, 100.0).with_height(900)]
}

/// Returns the picture of the main view.
fn draw(gpu: &Gpu, scene: &mut Scene, [main, sun]: &[Camera; 2]) -> Picture {
    let canvas = Canvas::new(gpu, SIDE);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    scene.renderer.prepare_view(&gpu.queue, scene.sun, sun).unwrap();
    scene.renderer.prepare(&gpu.queue, &mut encoder, main, NOW).unwrap();
    canvas.pass(&mut encoder, |pass| scene.renderer.draw(pass));
    canvas.finish(gpu, encoder)
}

/// Returns the number of instances per LOD in a view, by the CPU reference; with LOD errors and box
/// edges multiplied by `factor`.
fn expected(scene: &Scene, test: &TestModel, camera: &Camera, lod_error: f32, factor: f32) -> [u64; 4] {
    let (bounds, view) = (cull::pack_bounds(&test.model.meta).unwrap(), camera.uniform(lod_error));
    let errors = [0.0, ERRORS[0], ERRORS[1], ERRORS[2]].map(|error| error * factor);
    let mut counts = [0; 4];
    for id in &scene.ids {
        let (record, look) = (scene.crowd.get(*id).unwrap(), scene.crowd.appearance(*id).unwrap());
        let (middle, edges) = cull::instance_box(&bounds, &record, false, Time::from_secs(NOW)).unwrap();
        if look.hidden == 0 && cull::in_view(&camera.view_proj, middle, edges.map(|edge| edge * factor)) {
            counts[cull::lod(&view, &errors, middle, edges, record.scale)] += 1;
        }
    }
    counts
}

/// Encodings, and devices that choose levels of detail for them: on the GPU, and on the CPU.
fn encodings() -> impl Iterator<Item = (Encoding, Gpu)> {
    let on_gpu = BACKENDS.into_iter().filter_map(compute).map(|gpu| (Encoding::LocalPacked, gpu));
    on_gpu.chain(BACKENDS.into_iter().filter_map(gpu).map(|gpu| (Encoding::MatrixF16, gpu)))
}

pub fn lods_match_cpu_reference() {
    for (encoding, gpu) in encodings() {
        let test = test_model(true, encoding);
        for lod_error in [0.0, 1.0, 4.0] {
            let mut scene = scene(&gpu, &test, RendererDescriptor { lod_error, ..Default::default() });
            let cameras = cameras();
            draw(&gpu, &mut scene, &cameras);
            for (view, camera) in [(View::MAIN, &cameras[0]), (scene.sun, &cameras[1])] {
                let counts = scene.crowd.count_drawn(&scene.renderer, view).unwrap().lods;
                let twin = expected(&scene, &test, camera, lod_error, 1.0);
                let differs = differs(&scene, &test, camera, lod_error, &counts);
                assert!(!differs, "{counts:?}, expected {twin:?} on {}", gpu.name);
                assert!(twin.iter().sum::<u64>() > 50);
                if lod_error == 0.0 {
                    assert_eq!(twin[1..], [0; 3]);
                } else if view == View::MAIN && lod_error == 1.0 {
                    assert!(twin.iter().filter(|count| **count > 10).count() >= 3, "{twin:?}");
                }
            }
        }
    }
}

/// Whether numbers of instances per LOD are not those of the CPU reference. Sums in another order may differ at the edges of a
/// view, and between two LODs.
fn differs(scene: &Scene, test: &TestModel, camera: &Camera, lod_error: f32, counts: &[u64]) -> bool {
    let of = |factor| expected(scene, test, camera, lod_error, factor);
    let (twin, edges) = (of(1.0), [0.9995, 1.0005].map(of));
    let slack = |level: usize| edges.iter().map(|edge| edge[level].abs_diff(twin[level])).sum::<u64>();
    (0..4).any(|level| counts[level].abs_diff(twin[level]) > slack(level))
}

/// LODs of the renderer's shadow maps may be off by 1.5 texels where pictures allow one pixel.
pub fn shadow_maps_allow_a_larger_error() {
    let cascades = ShadowDescriptor { cascades: 2, size: 256, distance: 120.0, caster_distance: 60.0 };
    let tile = LightShadowDescriptor { tiles: 1, size: 128 };
    let features =
        LightingFeatures { shadows: Some(cascades), lights: 1, light_shadows: Some(tile), ..Default::default() };
    for (encoding, gpu) in encodings() {
        let test = test_model(true, encoding);
        let shading = Shading::MetallicRoughness(features.clone());
        let mut scene = scene(&gpu, &test, RendererDescriptor { shading, ..Default::default() });
        let cone = LightCone { direction: [0.0, -1.0, 0.0], inner: 0.5, outer: 0.6 };
        let lamp = PunctualLight {
            position: [0.0, 60.0, 0.0],
            intensity: 5.0,
            shadow: true,
            cone: Some(cone),
            ..Default::default()
        };
        scene.renderer.set_lights(&[lamp]).unwrap();
        draw(&gpu, &mut scene, &cameras());
        let mut cameras = Vec::new();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        scene.renderer.draw_shadows_with(&mut encoder, |_, camera| cameras.push(*camera));
        assert_eq!(cameras.len(), 3);
        let mut plain = 0;
        for (view, camera) in scene.renderer.shadow_views().iter().zip(&cameras) {
            let counts = scene.crowd.count_drawn(&scene.renderer, *view).unwrap().lods;
            let twin = expected(&scene, &test, camera, 1.5, 1.0);
            assert!(!differs(&scene, &test, camera, 1.5, &counts), "{counts:?}, expected {twin:?} on {}", gpu.name);
            plain += usize::from(!differs(&scene, &test, camera, 1.0, &counts));
        }
        assert!(plain < 3, "the error of pictures was allowed on {}", gpu.name);
    }
}

/// The picture of an LOD equals that of a model which has only this one.
pub fn lod_draws_its_own_triangles() {
    for (encoding, gpu) in encodings() {
        lod_draws_its_own_triangles_of(encoding, &gpu);
    }
}

fn lod_draws_its_own_triangles_of(encoding: Encoding, gpu: &Gpu) {
    let (levels, mut coarse) = (test_model(true, encoding), test_model(false, encoding));
    let parts = levels.model.meta.mesh.levels[2].parts.clone();
    // Gives the model another hash, so that the renderer loads it as another model.
    let meta = &mut coarse.model.meta;
    meta.content_hash[15] ^= 1;
    for payload in [&mut coarse.model.mesh, &mut coarse.model.animation] {
        let Data::Bytes(bytes) = &mut payload.data else { panic!("the payload is not in memory") };
        bytes.to_mut()[15] ^= 1;
    }
    for (part, range) in meta.mesh.parts.to_mut().iter_mut().zip(parts.iter()) {
        (part.first_index, part.index_count) = (range.first_index, range.index_count);
    }
    // All instances are far enough for the coarsest LOD.
    let descriptor = || RendererDescriptor { lod_error: 1e4, ..Default::default() };
    let mut few = scene(gpu, &coarse, descriptor());
    let mut all = scene(gpu, &levels, descriptor());
    let picture = draw(gpu, &mut all, &cameras());
    assert!(picture == draw(gpu, &mut few, &cameras()) && picture.covered() > 100, "{}", gpu.name);
    let counts = all.crowd.count_drawn(&all.renderer, View::MAIN).unwrap().lods;
    assert!(counts[3] > 100 && counts[..3] == [0; 3], "{counts:?}");
    let mut fine = scene(gpu, &levels, RendererDescriptor { lod_error: 0.0, ..Default::default() });
    assert!(draw(gpu, &mut fine, &cameras()).covered() > picture.covered());
}

/// Without `INDIRECT_FIRST_INSTANCE`, the renderer draws one LOD after the other: same pictures,
/// same instances and attachments, with and without shared poses.
pub fn lods_draw_same_picture_in_one_or_many_calls() {
    let mut test = test_model(true, Encoding::LocalPacked);
    let bind = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
    test.model.meta.bones = vec![BoneInfo { name: "hand".into(), parent: None, bind }; 4].into();
    let format = VertexFormat { packing: Packing::Full, tangent: false, second_uv: false, color: false };
    let prop = Recipe::random(&mut Random(8), Encoding::MatrixF16, format, 3).build(|_, _| Pose::REST);
    let at_once = wgpu::Features::INDIRECT_FIRST_INSTANCE;
    for time_grid in [None, Some(0.1)] {
        let found = [at_once, wgpu::Features::empty()].map(|features| {
            let gpu = open(wgpu::Backends::VULKAN, wgpu::Limits::downlevel_defaults(), features)?;
            if gpu.device.features() != features {
                note!("SKIPPED: {} cannot draw all LODs in one call", gpu.name);
                return None;
            }
            let of_crowd = CrowdDescriptor { time_grid, sharing: render::PoseSharing::Always, ..Default::default() };
            let mut scene = crowded(&gpu, &test, RendererDescriptor::default(), of_crowd);
            let bare = draw(&gpu, &mut scene, &cameras());
            let hand = Attachment::to(Bone::new(2)).scaled(0.5);
            scene.crowd.attach(&mut scene.renderer, &prop.model, hand).unwrap();
            let pictures = [(); 2].map(|()| draw(&gpu, &mut scene, &cameras()));
            assert!(pictures[0] != bare);
            let counts =
                [View::MAIN, scene.sun].map(|view| scene.crowd.count_drawn(&scene.renderer, view).unwrap().lods);
            assert!(counts[0].iter().filter(|count| **count > 10).count() >= 3, "{counts:?}");
            Some((pictures, counts, scene.crowd.explain(&scene.renderer)))
        });
        let [Some(at_once), Some(one_by_one)] = found else { continue };
        assert!(at_once.0 == one_by_one.0 && at_once.1 == one_by_one.1, "{:?}, {:?}", at_once.1, one_by_one.1);
        let kinds = 1 + u32::from(time_grid.is_some());
        assert_eq!((at_once.2.lods, at_once.2.draws), (4, 2 * kinds), "{}", at_once.2);
        assert_eq!((one_by_one.2.lods, one_by_one.2.draws), (4, 2 * kinds * 4), "{}", one_by_one.2);
    }
}

/// All instances show the same pose, so that the poses of others do not change the picture.
pub fn instances_beyond_palette_slots_use_poses_of_others() {
    let test = test_model(true, Encoding::LocalPacked);
    for backend in BACKENDS {
        // Without `INDIRECT_FIRST_INSTANCE`, no vertices evaluate poses for which there is no slot.
        let gpu = open(backend, wgpu::Limits::downlevel_defaults(), wgpu::Features::empty());
        let Some(gpu) = gpu else { continue };
        let draw_with = |visible| {
            let of_crowd = CrowdDescriptor { visible, ..Default::default() };
            let mut scene = crowded(&gpu, &test, RendererDescriptor::default(), of_crowd);
            let picture = draw(&gpu, &mut scene, &cameras());
            assert!(scene.crowd.count_drawn(&scene.renderer, View::MAIN).unwrap().total() > 100);
            picture
        };
        let expected = draw_with(None);
        for visible in [0, 1, 70, COUNT * 2] {
            assert!(draw_with(Some(visible)) == expected, "{visible} on {}", gpu.name);
        }
    }
}

pub fn layers_are_culled_by_model_bounds_and_live_bones_are_never_culled() {
    let test = test_model(true, Encoding::LocalPacked);
    let gpu = BACKENDS.into_iter().find_map(compute).expect("a device, which the test needs");
    let mut scene = scene(&gpu, &test, RendererDescriptor::default());
    let away = [Camera::perspective_look_at([0.0, 0.0, 200.0], [0.0, 0.0, 300.0], 1.0, 1.0, 0.1, 90.0); 2];
    let drawn = |scene: &mut Scene| {
        draw(&gpu, scene, &away);
        scene.crowd.count_drawn(&scene.renderer, View::MAIN).unwrap().total()
    };
    for id in &scene.ids[..20] {
        assert!(scene.crowd.play_layer(*id, 0, Clip::new(1), None, Transition::cut(), 0.5).is_ok());
    }
    assert_eq!(drawn(&mut scene), 0);
    // Just outside the view: its clip does not reach into it; with a layer it may.
    let (near, layered) = (scene.ids[30], scene.ids[31]);
    for id in [near, layered] {
        assert!(
            scene.crowd.move_to(id, Vec3::new(0.0, 0.0, 197.5).to_array()).is_ok()
                && scene.crowd.scale_to(id, 1.0).is_ok()
        );
    }
    assert!(scene.crowd.play_layer(layered, 0, Clip::new(1), None, Transition::cut(), 0.5).is_ok());
    assert_eq!(drawn(&mut scene), 1);
    let matrices = [[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]; 4];
    assert!(scene.crowd.set_live_bones(scene.ids[0], LiveBones::Model(&matrices), 0.0).is_ok());
    // The pass does not know which instances have live bones: it keeps all with layers. Some of
    // them are hidden.
    let visible = |id: &&InstanceId| scene.crowd.appearance(**id).is_some_and(|look| look.hidden == 0);
    let expected = scene.ids[..20].iter().chain([&layered]).filter(visible).count() as u64;
    assert_eq!(drawn(&mut scene), expected);
}
