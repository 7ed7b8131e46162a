//! Occlusion culling: pictures equal those of the whole crowd in every frame, occluded instances
//! are not drawn, and the GPU decides like the CPU reference.

use crate::common::model::{Pose, Random, Recipe, TestModel, many_clips, plain};
use crate::common::occlusion::{HEIGHT, Targets, WIDTH, Wall, numbers};
use crate::common::{BACKENDS, Gpu, compute, gpu_with};
use glam::{Mat4, Vec3};
use gpuskin_rt::internals::render::{DrawPath, PoseSharing};
use gpuskin_rt::internals::vertex::Vertex;
use gpuskin_rt::internals::*;
use gpuskin_test_harness::note;

const COUNT: u32 = 400;

/// A box of 1.6 metres that rotates and moves in three clips, with bounds as a bake computes them.
fn test_model() -> TestModel {
    model_of_clips(3)
}

fn model_of_clips(clips: usize) -> TestModel {
    let format = VertexFormat { packing: Packing::Narrow, tangent: false, second_uv: false, color: false };
    let mut recipe = Recipe::random(&mut Random(7), Encoding::LocalPacked, format, 1);
    let corner = |i: usize| Vec3::from([0, 1, 2].map(|axis| if i >> axis & 1 == 0 { -0.8 } else { 0.8 }));
    let vertex = |i| {
        let position = corner(i);
        Vertex {
            position,
            normal: position.normalize(),
            joints: [0; 8],
            weights: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            ..recipe.vertices[0]
        }
    };
    recipe.vertices = (0..8).map(vertex).collect();
    let sides = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]];
    recipe.indices = sides.iter().flat_map(|[a, b, c, d]| [*a, *b, *c, *a, *c, *d]).collect();
    recipe.materials = vec![Material { double_sided: true, ..plain([1.0; 4]) }];
    recipe.clips = many_clips(clips);
    recipe.build(|_, _| Pose::REST).with_bounds()
}

/// Options of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Way {
    occlusion: bool,
    reversed: bool,
    samples: u32,
    format: wgpu::TextureFormat,
    sun: bool,
    visible: Option<u32>,
    /// Number of cached poses, if instances share poses.
    shared: Option<u32>,
}

const PLAIN: Way = Way {
    occlusion: true,
    reversed: false,
    samples: 1,
    format: wgpu::TextureFormat::Depth32Float,
    sun: false,
    visible: None,
    shared: None,
};

struct Scene {
    renderer: CrowdRenderer,
    crowd: Crowd<Dynamic>,
    ids: Vec<InstanceId>,
    sun: Option<View>,
    targets: Targets,
    wall: Wall,
    random: Random,
    /// Number of clips of the model.
    clips: u32,
    way: Way,
}

/// Returns the position of an instance; instances do not intersect.
fn place(i: u32) -> [f32; 3] {
    [(i % 20) as f32 * 4.5 - 42.0, (i / 20 % 2) as f32 * 4.5, -((i / 40) as f32) * 4.5]
}

/// `clips`: number of clips of the model.
fn instance(i: u32, clips: u32, random: &mut Random) -> Instance<Dynamic> {
    let instance = Instance::at(place(i)).facing(random.within(0.0, 6.0)).scaled(random.within(0.9, 1.1));
    instance.play(Clip::new((i * 1_639 % clips) as u16)).repeat(Repeat::Loop).phase(random.unit())
}

fn scene(gpu: &Gpu, test: &TestModel, way: Way) -> Scene {
    let descriptor = RendererDescriptor {
        occlusion: way.occlusion,
        depth_compare: if way.reversed { wgpu::CompareFunction::Greater } else { wgpu::CompareFunction::Less },
        depth_format: Some(way.format),
        sample_count: way.samples,
        ..Default::default()
    };
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
    let sun = way.sun.then(|| renderer.add_view());
    let descriptor = CrowdDescriptor {
        capacity: COUNT,
        visible: way.visible,
        time_grid: way.shared.map(|_| 0.1),
        sharing: PoseSharing::Always,
        path: way.shared.map(|poses| if poses > 0 { DrawPath::Cache } else { DrawPath::Palette }),
        // Eight vertices and one bone per pose.
        cache_bytes: u64::from(way.shared.unwrap_or(0)) * (8 * 16 + 48),
        ..Default::default()
    };
    let crowd = Crowd::with_model(&mut renderer, &test.model, descriptor).unwrap();
    let mut random = Random(3);
    let clips = test.model.meta.clips.len() as u32;
    let ids = (0..COUNT).map(|i| crowd.spawn(instance(i, clips, &mut random))).collect();
    let targets = Targets::new(gpu, way.format, way.samples);
    let wall = Wall::new(gpu, way.format, way.samples, way.reversed);
    Scene { renderer, crowd, ids, sun, targets, wall, random, clips, way }
}

const NEAR: f32 = 0.1;
const FAR: f32 = 90.0;

/// Returns a camera that starts among the front rows, rotating and rising.
fn camera(frame: usize, reversed: bool) -> Camera {
    let at = frame as f32;
    let eye = [at * 1.3 - 4.0, 1.0 + at * 0.2, 9.0 - at * 0.7];
    let target = [at * 3.0 - 12.0, 1.5, -30.0];
    let camera = Camera::perspective_look_at(eye, target, 0.9, WIDTH as f32 / HEIGHT as f32, NEAR, FAR);
    if reversed { turned(camera) } else { camera }
}

/// Converts to reversed depth: 1 near and 0 far away.
fn turned(camera: Camera) -> Camera {
    let mut rows = Mat4::from_cols_array_2d(&camera.view_proj).transpose();
    rows.z_axis = rows.w_axis - rows.z_axis;
    Camera { view_proj: rows.transpose().to_cols_array_2d(), ..camera }
}

impl Scene {
    /// Draws a frame: pictures of the main view and of the sun.
    fn draw(&mut self, gpu: &Gpu, frame: usize, reveal: bool) -> [Vec<u8>; 2] {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let main = camera(frame, self.way.reversed);
        if let Some(sun) = self.sun {
            let camera = Camera::orthographic_look_at([0.0, 30.0, -10.0], [1.0, 0.0, -14.0], 20.0, 12.0, 60.0);
            let camera = if self.way.reversed { turned(camera) } else { camera };
            self.renderer.prepare_view(&gpu.queue, sun, &camera).unwrap();
        }
        self.renderer.prepare(&gpu.queue, &mut encoder, &main, 1.0 + frame as f64 * 0.1).unwrap();
        self.targets.pass(&mut encoder, self.way.reversed, true, |pass| {
            self.wall.draw(pass);
            self.renderer.draw(pass);
        });
        if reveal {
            self.renderer.reveal(&mut encoder, &self.targets.depth).unwrap();
            self.targets.pass(&mut encoder, self.way.reversed, false, |pass| {
                self.renderer.draw_view(pass, View::REVEALED);
            });
        }
        let picture = self.targets.finish(gpu, encoder);
        let Some(sun) = self.sun else { return [picture, Vec::new()] };
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        self.targets.pass(&mut encoder, self.way.reversed, true, |pass| self.renderer.draw_view(pass, sun));
        [picture, self.targets.finish(gpu, encoder)]
    }

    /// Changes the crowd between frames: despawns, spawns and moves some instances.
    fn change(&mut self, frame: usize) {
        for i in 0..20 {
            let at = self.random.below(self.ids.len() as u32);
            match (frame + i) % 3 {
                0 => assert!(self.crowd.despawn(self.ids.swap_remove(at as usize)).is_ok()),
                1 => assert!(self.crowd.move_to(self.ids[at as usize], place(COUNT + (frame * 20 + i) as u32)).is_ok()),
                _ => {
                    let number = COUNT * 2 + (frame * 20 + i) as u32;
                    self.ids.push(self.crowd.spawn(instance(number, self.clips, &mut self.random)));
                }
            }
        }
    }

    fn count(&self, view: View) -> u64 {
        self.crowd.count_drawn(&self.renderer, view).unwrap().total()
    }
}

pub fn occlusion_keeps_pictures_and_skips_occluded_instances() {
    let test = test_model();
    let other =
        Way { reversed: true, samples: 4, format: wgpu::TextureFormat::Depth24PlusStencil8, sun: true, ..PLAIN };
    for backend in BACKENDS {
        let Some(gpu) = compute(backend) else { continue };
        // On OpenGL, every instance is drawn.
        let occludes = backend != wgpu::Backends::GL;
        let shared = [12, 2].map(|poses| Way { shared: Some(poses), ..other });
        let ways = if occludes { vec![PLAIN, other, shared[0], shared[1]] } else { vec![PLAIN] };
        for way in ways {
            // Several palettes, with the second set of options.
            let mut limits = wgpu::Limits::downlevel_defaults();
            limits.max_storage_buffer_binding_size = (48 * 160).max(test.model.animation.levels[0].len);
            let small = if way.sun { gpu_with(backend, limits).unwrap() } else { compute(backend).unwrap() };
            let mut whole = scene(&gpu, &test, Way { occlusion: false, shared: way.shared.map(|_| 0), ..way });
            // Per thousand bytes: cached vertices are packed.
            let most = if way.shared.is_some() { 1 } else { 0 };
            let apart =
                |a: &[u8], b: &[u8]| a.iter().zip(b).filter(|(a, b)| a.abs_diff(**b) > 1).count() * 1000 / a.len();
            let mut part = scene(&small, &test, way);
            let (mut all, mut drawn, mut revealed, mut cached) = (0, 0, 0, 0);
            for frame in 0..8 {
                let expected = whole.draw(&gpu, frame, false);
                let found = part.draw(&small, frame, true);
                let palettes = part.crowd.explain(&part.renderer).palettes;
                assert_eq!(palettes > 1, way.sun, "{palettes}");
                for i in 0..2 {
                    let same = found[i] == expected[i] || most > 0 && apart(&found[i], &expected[i]) < most;
                    assert!(same, "view {i} of frame {frame} on {}, {way:?}", gpu.name);
                }
                cached += [View::MAIN, View::REVEALED]
                    .map(|view| part.crowd.count_drawn(&part.renderer, view).unwrap().cached)
                    .iter()
                    .sum::<u64>();
                let counts = [View::MAIN, View::REVEALED].map(|view| part.count(view));
                let in_sight = whole.count(View::MAIN);
                note!("{frame}: {in_sight} in the frustum, {counts:?} drawn");
                assert_eq!(part.crowd.explain(&part.renderer).occlusion, occludes);
                if frame == 0 || !occludes {
                    assert_eq!(counts, [in_sight, 0], "every instance in the frustum is drawn");
                } else {
                    (all, drawn, revealed) = (all + in_sight, drawn + counts[0] + counts[1], revealed + counts[1]);
                }
                whole.change(frame);
                part.change(frame);
            }
            assert!(!occludes || drawn * 3 < all * 2 && revealed > 20, "{drawn} of {all} drawn, {revealed} revealed");
            assert_eq!(cached > 20, way.shared.is_some(), "{cached} of {drawn} instances came from the cache");
            // A scene that does not call `reveal` draws everything.
            whole.draw(&gpu, 8, false);
            part.draw(&small, 8, false);
            let (found, expected) = (part.draw(&small, 9, false), whole.draw(&gpu, 9, false));
            assert!(found == expected || most > 0 && apart(&found[0], &expected[0]) < most);
            assert_eq!((part.count(View::MAIN), part.count(View::REVEALED)), (whole.count(View::MAIN), 0));
        }
    }
}

/// Returns the numbers of the instances in the frustum, and of those that the CPU reference finds
/// occluded.
fn by_the_twin(scene: &Scene, test: &TestModel, frame: usize, depth: &[f32], factor: f32) -> [Vec<u32>; 2] {
    let bounds = cull::pack_bounds(&test.model.meta).unwrap();
    let camera = camera(frame, scene.way.reversed);
    let pyramid = cull::DepthPyramid::new(WIDTH, depth, scene.way.reversed).unwrap();
    let now = Time::from_secs(1.0 + frame as f64 * 0.1);
    let (mut seen, mut hidden) = (Vec::new(), Vec::new());
    for number in 0..scene.ids.len() as u32 {
        let record = scene.crowd.get(scene.crowd.id_at(number).unwrap()).unwrap();
        let (middle, edges) = cull::instance_box(&bounds, &record, false, now).unwrap();
        let edges = edges.map(|edge| edge * factor);
        if cull::in_view(&camera.view_proj, middle, edges) {
            seen.push(number);
            if pyramid.hides(&camera.view_proj, middle, edges) {
                hidden.push(number);
            }
        }
    }
    [seen, hidden]
}

pub fn occluded_instances_match_cpu_reference() {
    let (few, many) = (test_model(), model_of_clips(5_000));
    if let Some(gpu) = compute(wgpu::Backends::VULKAN) {
        for (test, reversed) in [(&few, false), (&few, true), (&many, false)] {
            let mut scene = scene(&gpu, test, Way { reversed, ..PLAIN });
            let (mut kept, mut unsure, mut hides) = ((0..COUNT).collect::<Vec<_>>(), Vec::new(), 0);
            for frame in 0..4 {
                scene.draw(&gpu, frame, true);
                let [first, then] = numbers(&gpu, &scene.renderer, &scene.crowd);
                // Depth at the time of the test: instances of the first pass.
                let depth = scene.depth_of_first(&gpu);
                let [seen, hidden] = by_the_twin(&scene, test, frame, &depth, 1.0);
                // Sums in another order may differ at edges.
                let [wide, narrow] = [1.0005, 0.9995].map(|f| by_the_twin(&scene, test, frame, &depth, f));
                let sure = |number: &u32| {
                    wide[0].contains(number) == narrow[0].contains(number)
                        && wide[1].contains(number) == narrow[1].contains(number)
                };
                let visible = |number: &u32| seen.contains(number) && !hidden.contains(number);
                // Their visibility in the previous frame is not known either.
                for number in (0..COUNT).filter(|number| sure(number) && !unsure.contains(number)) {
                    let drawn = kept.contains(&number) && seen.contains(&number);
                    assert_eq!(
                        first.contains(&number),
                        drawn,
                        "instance {number} in the first pass, frame {frame} on {}",
                        gpu.name
                    );
                    let after_all = visible(&number) && !drawn;
                    assert_eq!(
                        then.contains(&number),
                        after_all,
                        "instance {number} in the second pass, frame {frame} on {}",
                        gpu.name
                    );
                }
                kept = (0..COUNT).filter(visible).collect();
                unsure = (0..COUNT).filter(|number| !sure(number)).collect();
                assert!(unsure.len() < 10, "{unsure:?}");
                hides += hidden.len();
            }
            assert!(hides > 200, "{hides}");
        }
    }
}

impl Scene {
    /// Returns the depths after the first pass of the last frame.
    fn depth_of_first(&self, gpu: &Gpu) -> Vec<f32> {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        self.targets.pass(&mut encoder, self.way.reversed, true, |pass| {
            self.wall.draw(pass);
            self.renderer.draw(pass);
        });
        self.targets.depths(gpu, encoder)
    }
}

pub fn depth_prepass_draws_both_passes() {
    let test = test_model();
    let gpu = compute(wgpu::Backends::VULKAN).expect("a device, which the test needs");
    let [mut whole, mut part] = [false, true].map(|occlusion| scene(&gpu, &test, Way { occlusion, ..PLAIN }));
    for frame in 0..3 {
        let expected = whole.draw(&gpu, frame, false);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let camera = camera(frame, false);
        part.renderer.prepare(&gpu.queue, &mut encoder, &camera, 1.0 + frame as f64 * 0.1).unwrap();
        part.targets.depth_pass(&mut encoder, true, |pass| part.renderer.draw_depth(pass, View::MAIN));
        part.renderer.reveal(&mut encoder, &part.targets.depth).unwrap();
        part.targets.depth_pass(&mut encoder, false, |pass| part.renderer.draw_depth(pass, View::REVEALED));
        // Draws again to see that no instance is missing; a game would compare with the existing
        // depth.
        part.targets.pass(&mut encoder, false, true, |pass| {
            part.wall.draw(pass);
            part.renderer.draw(pass);
            part.renderer.draw_view(pass, View::REVEALED);
        });
        assert!(part.targets.finish(&gpu, encoder) == expected[0], "frame {frame}");
    }
}

pub fn scarce_poses_are_shared_and_live_bones_are_never_occluded() {
    let test = test_model();
    let gpu = compute(wgpu::Backends::VULKAN).expect("a device, which the test needs");
    // Every instance is drawn, some with the pose of another one.
    let mut few = scene(&gpu, &test, Way { visible: Some(10), sun: true, ..PLAIN });
    let mut whole = scene(&gpu, &test, Way { occlusion: false, sun: true, ..PLAIN });
    for frame in 0..3 {
        whole.draw(&gpu, frame, false);
        few.draw(&gpu, frame, true);
        let drawn = few.count(View::MAIN) + few.count(View::REVEALED);
        assert!((11..=whole.count(View::MAIN)).contains(&drawn), "{drawn}");
    }
    let mut scene = scene(&gpu, &test, PLAIN);
    let drawn = |scene: &mut Scene| {
        scene.draw(&gpu, 0, true);
        scene.draw(&gpu, 0, true);
        scene.count(View::MAIN) + scene.count(View::REVEALED)
    };
    let before = drawn(&mut scene);
    // The last rows, which are occluded.
    let behind: Vec<_> = scene.ids[COUNT as usize - 30..].to_vec();
    for id in &behind {
        assert!(scene.crowd.play_layer(*id, 0, Clip::new(1), None, Transition::cut(), 0.5).is_ok());
    }
    let layered = drawn(&mut scene);
    let matrices = [[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]];
    assert!(scene.crowd.set_live_bones(behind[0], LiveBones::Model(&matrices), 0.0).is_ok());
    let live = drawn(&mut scene);
    note!("{before}, {layered} with layers, {live} with live bones");
    assert!(live >= layered + 10 && layered < before + 30, "{before}, {layered}, {live}");
}

pub fn unreadable_depth_occludes_nothing_and_is_reported() {
    let test = test_model();
    let gpu = compute(wgpu::Backends::VULKAN).expect("a device, which the test needs");
    let mut scene = scene(&gpu, &test, PLAIN);
    scene.draw(&gpu, 0, true);
    scene.draw(&gpu, 0, true);
    let saved = scene.count(View::MAIN) + scene.count(View::REVEALED);
    let texture = |format, usage, layers| {
        gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width: WIDTH, height: HEIGHT, depth_or_array_layers: layers },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | usage,
            view_formats: &[],
        })
    };
    let (depth, read) = (wgpu::TextureFormat::Depth32Float, wgpu::TextureUsages::TEXTURE_BINDING);
    let wrong = [
        (texture(depth, wgpu::TextureUsages::COPY_SRC, 1), "TEXTURE_BINDING"),
        (texture(wgpu::TextureFormat::Rgba8Unorm, read, 1), "not a depth format"),
        (texture(depth, read, 2), "2 layers"),
    ];
    for (texture, reason) in &wrong {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        scene.renderer.prepare(&gpu.queue, &mut encoder, &camera(0, false), 1.0).unwrap();
        let error = scene.renderer.reveal(&mut encoder, texture).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
        gpu.queue.submit([encoder.finish()]);
        let drawn = scene.count(View::MAIN) + scene.count(View::REVEALED);
        assert!(drawn * 2 > saved * 3, "{drawn} drawn, {saved} with occlusion culling");
    }
    scene.draw(&gpu, 0, true);
    scene.draw(&gpu, 0, true);
    assert_eq!(scene.count(View::MAIN) + scene.count(View::REVEALED), saved);

    let error = scene.renderer.prepare_view(&gpu.queue, View::REVEALED, &camera(0, false)).unwrap_err();
    assert!(error.to_string().contains("View::MAIN"), "{error}");
    let depth_compare = wgpu::CompareFunction::Always;
    let descriptor = RendererDescriptor { occlusion: true, depth_compare, ..Default::default() };
    let error = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap_err().to_string();
    assert!(error.contains("depth_compare") && error.contains("Always"), "{error}");

    // A scene without occlusion culling is unaffected.
    let mut plain = scene_without(&gpu, &test);
    plain.draw(&gpu, 0, true);
    assert!(plain.count(View::MAIN) * 2 > saved * 3 && plain.count(View::REVEALED) == 0);
    assert!(!plain.crowd.explain(&plain.renderer).occlusion && scene.crowd.explain(&scene.renderer).occlusion);
    let told = scene.crowd.explain(&scene.renderer).to_string();
    assert!(told.contains("occlusion:"), "{told}");
    // No instance, one, and one behind the wall.
    for count in [0, 1] {
        scene.crowd.clear();
        for i in 0..count {
            scene.crowd.spawn(instance(i, scene.clips, &mut Random(1)));
        }
        scene.draw(&gpu, 0, true);
        assert!(scene.count(View::MAIN) + scene.count(View::REVEALED) <= u64::from(count));
    }
}

fn scene_without(gpu: &Gpu, test: &TestModel) -> Scene {
    scene(gpu, test, Way { occlusion: false, ..PLAIN })
}
