//! Batches: pictures of many models whose passes are merged equal those of crowds that are drawn one by
//! one, on a device with too few storage buffers for batches.

use crate::common::model::{Pose, Random, Recipe, TestModel, plain};
use crate::common::{Canvas, Gpu, Picture, open};
use std::time::{Duration, Instant};

use glam::Vec3;
use gpuskin_rt::internals::*;

pub const SIDE: u32 = 160;
pub const MODELS: usize = 7;
const DEVICE: &str = "a Vulkan device, which the test needs";

/// Triangles within about a metre, in different shapes, vertex formats and numbers of bones.
pub fn recipe_of(number: usize) -> Recipe {
    let packing = [Packing::Narrow, Packing::Wide, Packing::Full, Packing::Wide8][number % 4];
    let format = VertexFormat { packing, tangent: number % 3 == 1, second_uv: number % 5 > 2, color: number % 3 == 2 };
    // 130 bones: more workgroup memory than the others need.
    let bones = [4, 1, 130, 7][number % 4];
    let mut recipe = Recipe::random(&mut Random(number as u64 + 7), Encoding::LocalPacked, format, bones);
    recipe.materials = vec![Material { double_sided: number.is_multiple_of(2), ..plain([1.0; 4]) }; 1 + number % 2];
    recipe
}

/// The model of [`recipe_of`].
fn test_model(number: usize) -> TestModel {
    build(recipe_of(number), number)
}

/// Builds a model with coarser levels, and a hash of its own.
pub fn build(recipe: Recipe, number: usize) -> TestModel {
    let mut test = recipe.build(|_, _| Pose::REST).with_bounds();
    let meta = &mut test.model.meta;
    let part = |p: &MeshPart, share: u32| IndexRange {
        first_index: p.first_index,
        index_count: p.index_count / 3 / share * 3,
    };
    let level = |(i, error)| MeshLod { error, parts: meta.mesh.parts.iter().map(|p| part(p, 2_u32 << i)).collect() };
    meta.mesh.levels = (0..).zip([0.15, 0.3]).take(number % 3).map(level).collect();
    meta.mesh.influence_error = if meta.mesh.format.packing.influences() > 4 { 0.05 } else { 0.0 };
    // Gives each model another hash, so that the renderer does not take one for the other.
    let change = |hash: &mut [u8]| hash.iter_mut().zip((number as u32 + 1).to_le_bytes()).for_each(|(a, b)| *a ^= b);
    change(&mut meta.content_hash);
    let model = &mut test.model;
    for payload in [&mut model.mesh, &mut model.animation].into_iter().chain(model.textures.to_mut()) {
        let Data::Bytes(bytes) = &mut payload.data else { panic!("the payload is not in memory") };
        change(&mut bytes.to_mut()[payload.hash_at as usize..][..16]);
    }
    test
}

pub struct Scene {
    pub gpu: Gpu,
    pub renderer: CrowdRenderer,
    pub crowds: Vec<Crowd<Dynamic>>,
    pub ids: Vec<Vec<InstanceId>>,
    pub sun: View,
}

impl Scene {
    pub fn new(
        device: (wgpu::Limits, wgpu::Features),
        models: &[TestModel],
        descriptor: RendererDescriptor,
        fewest: u32,
    ) -> Option<Self> {
        let mut scene = Self::empty(device, descriptor)?;
        let more = |i: usize| if fewest < 20 { fewest } else { fewest + i as u32 * 13 };
        models.iter().enumerate().for_each(|(i, model)| scene.add(model, more(i), i as u32));
        Some(scene)
    }

    /// Scene without crowds.
    pub fn empty((limits, features): (wgpu::Limits, wgpu::Features), descriptor: RendererDescriptor) -> Option<Self> {
        let gpu = open(wgpu::Backends::VULKAN, limits, features)?;
        let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).unwrap();
        let sun = renderer.add_view();
        Some(Self { gpu, renderer, crowds: Vec::new(), ids: Vec::new(), sun })
    }

    /// Adds a crowd with a few instances, some of them in a crossfade, tinted or invisible.
    fn add(&mut self, test: &TestModel, count: u32, seed: u32) {
        self.add_with(test, CrowdDescriptor { capacity: 10, ..Default::default() }, count, seed);
    }

    /// Adds a crowd as [`Scene::add`] does, with a descriptor.
    pub fn add_with(&mut self, test: &TestModel, descriptor: CrowdDescriptor, count: u32, seed: u32) {
        self.crowds.push(Crowd::with_model(&mut self.renderer, &test.model, descriptor).unwrap());
        self.ids.push(Vec::new());
        self.spawn(self.crowds.len() - 1, count, seed);
    }

    pub fn spawn(&mut self, number: usize, count: u32, seed: u32) {
        let (crowd, mut random) = (&self.crowds[number], Random(u64::from(seed) + 3));
        for i in 0..count {
            let at = random.vector() * 25.0;
            let instance = Instance::at(at.to_array()).facing(i as f32).scaled(random.within(0.5, 1.5));
            let id = crowd.spawn(instance.play(Clip::new((i % 3) as u16)).repeat(Repeat::Loop).phase(i as f32 * 0.137));
            if i % 3 == 0 {
                crowd.play(id, Clip::new(1), Transition::crossfade(if i % 2 == 0 { 0.1 } else { 9.0 })).unwrap();
            }
            crowd.set_tint(id, [1.0, i as f32 / count as f32, (seed % 5) as f32 / 5.0, 1.0]).unwrap();
            crowd.set_visible(id, i % 7 != 0).unwrap();
            self.ids[number].push(id);
        }
    }

    /// Number of crowds whose passes are merged with those of others.
    pub fn merged(&self) -> usize {
        self.crowds.iter().filter(|crowd| crowd.explain(&self.renderer).merged > 1).count()
    }

    /// Draws a frame, and returns the pictures of main view, sun and, if there is any, the second pass.
    pub fn draw(&mut self, turn: u32, occlusion: bool) -> Vec<Picture> {
        let Self { gpu, renderer, sun, .. } = self;
        let (sin, cos) = (turn as f32 * 1.1).sin_cos();
        let eye = Vec3::new(cos * 30.0, (turn % 8) as f32 * 3.0 - 9.0, sin * 30.0);
        let main = Camera::perspective_look_at(eye.to_array(), [0.0; 3], 0.9, 1.0, 0.1, 80.0).with_height(SIDE);
        let of_sun = Camera::orthographic_look_at([cos * 20.0, 30.0, 0.0], [0.0; 3], 12.0, 9.0, 60.0).with_height(600);
        let canvas = [Canvas::new(gpu, SIDE), Canvas::new(gpu, SIDE)];
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        renderer.prepare_view(&gpu.queue, *sun, &of_sun).unwrap();
        renderer.prepare(&gpu.queue, &mut encoder, &main, 4.5 + f64::from(turn) * 0.21).unwrap();
        renderer.draw_shadows(&mut encoder);
        canvas[0].pass(&mut encoder, |pass| renderer.draw(pass));
        canvas[1].pass(&mut encoder, |pass| renderer.draw_view(pass, *sun));
        if occlusion {
            renderer.reveal(&mut encoder, &canvas[0].depth).unwrap();
            // Over the depth of the first pass: its colours are gone, so that what is drawn again shows.
            let revealed = Canvas { depth: canvas[0].depth.clone(), ..Canvas::new(gpu, SIDE) };
            revealed.pass_over_depth(&mut encoder, |pass| renderer.draw_view(pass, View::REVEALED));
            let first = canvas[0].finish(gpu, encoder);
            let empty = || gpu.device.create_command_encoder(&Default::default());
            return vec![first, canvas[1].finish(gpu, empty()), revealed.finish(gpu, empty())];
        }
        let first = canvas[0].finish(gpu, encoder);
        vec![first, canvas[1].finish(gpu, gpu.device.create_command_encoder(&Default::default()))]
    }
}

/// Scenes of the same models: batched with draws whose number the device reads, batched with other draws,
/// and one crowd at a time.
type Scenes = [Scene; 3];

fn scenes(models: &[TestModel], descriptor: &RendererDescriptor) -> Option<Scenes> {
    scenes_of(models, descriptor, 20)
}

/// `fewest`: number of instances of the first model; the others have more.
fn scenes_of(models: &[TestModel], descriptor: &RendererDescriptor, fewest: u32) -> Option<Scenes> {
    let scene = |limits, features| Scene::new((limits, features), models, descriptor.clone(), fewest);
    let (batched, single) = (wgpu::Limits::default(), wgpu::Limits::downlevel_defaults());
    let plain = wgpu::Features::INDIRECT_FIRST_INSTANCE;
    Some([scene(batched.clone(), CrowdRenderer::OPTIONAL_FEATURES)?, scene(batched, plain)?, scene(single, plain)?])
}

fn assert_same(scenes: &mut Scenes, turn: u32, merged: usize, what: &str) {
    let [counted, batched, single] = scenes.each_mut().map(|scene| scene.draw(turn, false));
    assert_eq!(scenes.each_ref().map(Scene::merged), [merged, merged, 0], "{what}");
    for (pictures, kind) in [(batched, "plain"), (counted, "counted")] {
        for (view, (a, b)) in pictures.iter().zip(&single).enumerate() {
            assert!(b.covered() > 500, "{what}: {} pixels in view {view}", b.covered());
            if a != b {
                let folder = std::env::temp_dir();
                a.save(&folder.join("gpuskin-batched.png"));
                b.save(&folder.join("gpuskin-single.png"));
                panic!("{what}, {kind} draws: pictures of view {view} differ, see {}", folder.display());
            }
        }
    }
}

pub fn batched_pictures_in_the_full_material_match_single_crowds() {
    let models: Vec<_> = (0..MODELS).map(test_model).collect();
    let shadows = ShadowDescriptor { cascades: 2, size: 256, distance: 60.0, caster_distance: 40.0 };
    let features = LightingFeatures {
        shadows: Some(shadows),
        fog: true,
        tone_mapping: ToneMapping::Neutral,
        ..Default::default()
    };
    let descriptor = RendererDescriptor { shading: Shading::MetallicRoughness(features), ..Default::default() };
    let mut scenes = scenes(&models, &descriptor).expect(DEVICE);
    (0..3).for_each(|turn| assert_same(&mut scenes, turn, MODELS, "metallic-roughness"));
}

pub fn batched_pictures_of_blended_materials_match_single_crowds() {
    let mut models: Vec<_> = (0..MODELS).map(test_model).collect();
    for (i, test) in models.iter_mut().enumerate().filter(|(i, _)| i % 3 != 0) {
        for material in test.model.meta.materials.to_mut().iter_mut().skip(i % 2) {
            *material = Material { alpha_blend: true, base_color: [0.2, 0.5, 1.0, 0.4], ..material.clone() };
        }
    }
    for shading in [Shading::Diffuse, Shading::MetallicRoughness(Default::default())] {
        let mut scenes = scenes(&models, &RendererDescriptor { shading, ..Default::default() }).expect(DEVICE);
        (0..3).for_each(|turn| assert_same(&mut scenes, turn, MODELS, "blended"));
    }
}

pub fn batched_pictures_match_single_crowds() {
    let models: Vec<_> = (0..MODELS).map(test_model).collect();
    for motion_vectors in [false, true] {
        let descriptor = RendererDescriptor { motion_vectors, ..Default::default() };
        let mut scenes = scenes(&models, &descriptor).expect(DEVICE);
        (0..3).for_each(|turn| assert_same(&mut scenes, turn, MODELS, "first frames"));
        let counts = scenes.each_ref().map(|Scene { crowds, renderer, sun, .. }| {
            let of = |crowd: &Crowd<_>| [View::MAIN, *sun].map(|view| crowd.count_drawn(renderer, view).unwrap());
            crowds.iter().map(of).collect::<Vec<_>>()
        });
        assert!(counts[0] == counts[2] && counts[1] == counts[2], "{counts:?}");
        assert!(counts[2].iter().flatten().any(|counts| counts.total() > 0));
        scenes.iter_mut().for_each(|scene| scene.spawn(2, 200, 99));
        assert_same(&mut scenes, 3, MODELS - 1, "a crowd outgrew its room");
        for scene in &mut scenes {
            let ids: Vec<_> = scene.ids[1].drain(..9).collect();
            ids.iter().for_each(|id| scene.crowds[1].despawn(*id).unwrap());
            let moved: Vec<_> = scene.ids[4].iter().step_by(2).copied().collect();
            moved.iter().for_each(|id| scene.crowds[4].move_to(*id, [1.0, 2.0, 3.0]).unwrap());
            scene.crowds[5].clear();
        }
        assert_same(&mut scenes, 4, MODELS, "instances despawned and moved");
        for Scene { crowds, ids, .. } in &scenes {
            // Few changes of several crowds, and all instances of one that has many.
            for (crowd, ids) in crowds.iter().zip(ids).filter(|(crowd, _)| !crowd.is_empty()) {
                let at = |i: usize| Transform::at([i as f32 * 0.3 - 9.0, (i % 5) as f32, 4.0]).facing(i as f32);
                let transforms: Vec<_> = (0..ids.len()).map(at).collect();
                crowd.set_transforms(ids, &transforms).unwrap();
                crowd.set_tint(ids[0], [0.2, 0.9, 0.4, 1.0]).unwrap();
                crowd.play(ids[1], Clip::new(2), Transition::crossfade(0.3)).unwrap();
            }
        }
        assert_same(&mut scenes, 4, MODELS, "all instances moved by slices");
        scenes.iter_mut().for_each(|scene| drop(scene.crowds.remove(0)));
        assert_same(&mut scenes, 5, MODELS - 1, "a crowd was removed");
        scenes.iter_mut().for_each(|scene| scene.add(&models[0], 670, 50));
        assert_same(&mut scenes, 6, MODELS - 1, "a crowd was added");
        assert_same(&mut scenes, 7, MODELS, "a crowd was merged");
    }
}

/// Merged crowds of which nothing has changed are passed over: the next command of each kind still shows.
pub fn commands_after_still_frames_match_single_crowds() {
    let models: Vec<_> = (0..4).map(test_model).collect();
    let mut scenes = scenes(&models, &RendererDescriptor::default()).expect(DEVICE);
    type Command = fn(&Crowd<Dynamic>, InstanceId);
    let commands: [(&str, usize, Command); 10] = [
        ("move", 4, |crowd, id| crowd.move_to(id, [1.0, 2.0, 3.0]).unwrap()),
        ("tint", 4, |crowd, id| crowd.set_tint(id, [1.0, 0.0, 1.0, 1.0]).unwrap()),
        ("play", 4, |crowd, id| crowd.play(id, Clip::new(2), Transition::crossfade(0.3)).unwrap()),
        ("speed", 4, |crowd, id| crowd.set_speed(id, 0.3).unwrap()),
        ("hide", 4, |crowd, id| crowd.set_visible(id, false).unwrap()),
        ("despawn", 4, |crowd, id| crowd.despawn(id).unwrap()),
        ("update", 4, |crowd, _| crowd.update_transforms(|all| all.iter_mut().for_each(|t| t.translation[0] += 1.0))),
        ("motion", 4, |crowd, id| crowd.set_motion(id, Motion::forwards(0.9)).unwrap()),
        ("standing again", 4, |crowd, _| {
            let ids: Vec<_> = (0..crowd.len() as u32).filter_map(|i| crowd.id_at(i)).collect();
            crowd.set_motions(&ids, &vec![Motion::STILL; ids.len()]).unwrap();
        }),
        ("layer", 3, |crowd, id| crowd.play_layer(id, 0, Clip::new(2), None, Transition::crossfade(0.1), 1.0).unwrap()),
    ];
    let mut turn = 0;
    for (i, (what, merged, command)) in commands.into_iter().enumerate() {
        for _ in 0..3 {
            assert_same(&mut scenes, turn, 4, &format!("still before {what}"));
            turn += 1;
        }
        for scene in &scenes {
            let bytes: u64 = scene.crowds.iter().map(|crowd| crowd.explain(&scene.renderer).uploaded_bytes).sum();
            assert_eq!(bytes, 0, "still before {what}");
            command(&scene.crowds[2], scene.ids[2][i]);
        }
        assert_same(&mut scenes, turn, merged, what);
        turn += 1;
    }
}

/// Instances that another thread spawns while frames are prepared.
pub fn instances_spawned_during_frames_are_drawn() {
    const MORE: u32 = 4_000;
    let models: Vec<_> = (0..3).map(test_model).collect();
    let limits = (wgpu::Limits::default(), CrowdRenderer::OPTIONAL_FEATURES);
    let mut scene = Scene::new(limits, &models, RendererDescriptor::default(), 20).expect(DEVICE);
    scene.draw(0, false);
    let crowd = scene.crowds[1].clone();
    let before = crowd.len() as u32;
    let spawner = std::thread::spawn(move || {
        for _ in 0..MORE {
            crowd.spawn(Instance::at([0.0, 0.0, 0.0]));
            std::thread::sleep(Duration::from_micros(50));
        }
    });
    while !spawner.is_finished() {
        scene.draw(0, false);
    }
    spawner.join().unwrap();
    (0..3).for_each(|_| drop(scene.draw(0, false)));
    let explanations: Vec<_> = scene.crowds.iter().map(|crowd| crowd.explain(&scene.renderer)).collect();
    assert_eq!(explanations[1].instances, before + MORE);
    assert!(explanations.iter().all(|explanation| explanation.merged == 3 && explanation.uploaded_bytes == 0));
}

/// Crowds that come and go while others are drawn: they are merged by and by, and few batches are remade.
pub fn crowds_that_come_and_go_match_single_crowds() {
    const MANY: usize = 40;
    let models: Vec<_> = (0..MANY).map(|i| build(recipe_of(i % MODELS), i)).collect();
    let mut scenes = scenes_of(&models, &RendererDescriptor::default(), 3).expect(DEVICE);
    let merged = |scenes: &Scenes| -> Vec<u32> {
        let Scene { crowds, renderer, .. } = &scenes[1];
        crowds.iter().map(|crowd| crowd.explain(renderer).merged).collect()
    };
    assert_same(&mut scenes, 0, MANY, "one batch");
    let mut turn = 1;
    let mut drawn = |scenes: &mut Scenes, lone: usize, what: &str| {
        assert_same(scenes, turn, scenes[0].crowds.len() - lone, what);
        turn += 1;
        merged(scenes)
    };
    // Number of crowds added in all; numbers that the added ones are merged with in that frame, and in the next.
    let added: [(usize, Vec<u32>, Vec<u32>); 7] = [
        (1, vec![1], vec![1]),
        (2, vec![2; 2], vec![2; 2]),
        (9, vec![9; 9], vec![9; 9]),
        (10, [vec![9; 9], vec![1]].concat(), vec![10; 10]),
        (20, vec![20; 20], vec![20; 20]),
        (21, [vec![20; 20], vec![1]].concat(), [vec![20; 20], vec![1]].concat()),
        (25, [vec![20; 20], vec![5; 5]].concat(), vec![25; 25]),
    ];
    for (added, now, then) in added {
        let more = added + MANY - scenes[0].crowds.len();
        scenes.iter_mut().for_each(|scene| (0..more).for_each(|i| scene.add(&models[i], 5, 60 + i as u32)));
        for (expected, when) in [(now, "at once"), (then, "in the next frame")] {
            let lone = expected.iter().filter(|merged| **merged == 1).count();
            let found = drawn(&mut scenes, lone, "crowds were added");
            assert_eq!(found, [vec![40; 40], expected].concat(), "{added} added, {when}");
        }
    }
    // A crowd that outgrows its room leaves a gap, and so does one that is removed.
    scenes.iter_mut().for_each(|scene| scene.spawn(2, 200, 99));
    let expected = [vec![39; 2], vec![1], vec![39; 37], vec![25; 25]].concat();
    assert_eq!(drawn(&mut scenes, 1, "a crowd outgrew its room"), expected);
    scenes.iter_mut().for_each(|scene| scene.crowds.drain(3..27).for_each(drop));
    scenes.iter_mut().for_each(|scene| drop(scene.ids.drain(3..27)));
    assert_eq!(drawn(&mut scenes, 0, "most crowds of a batch were removed"), vec![41; 41]);
    scenes.iter_mut().for_each(|scene| drop((scene.crowds.pop(), scene.ids.pop())));
    assert_eq!(drawn(&mut scenes, 0, "a crowd was removed"), vec![40; 40]);
    // One crowd in every frame: few batches wait.
    for (added, model) in (1..=21).zip(&models) {
        scenes.iter_mut().for_each(|scene| scene.add(model, 5, 90 + added));
        scenes.iter_mut().for_each(|scene| drop(scene.draw(20, false)));
        let batches: f32 = merged(&scenes).iter().map(|merged| 1.0 / *merged as f32).sum();
        assert!(batches.round() <= 5.0, "{batches} batches with {added} more crowds");
    }
    assert_eq!(
        drawn(&mut scenes, 0, "a crowd was added in every frame"),
        [vec![40; 40], vec![17; 17], vec![4; 4]].concat()
    );
}

/// A crowd that no batch has room for is drawn by itself; the others are merged as they come.
pub fn crowds_too_large_for_batches_do_not_keep_others_apart() {
    // Later crowds share the pipelines of the first two.
    let models: Vec<_> = (0..7).map(|i| build(recipe_of(if i == 2 { 2 } else { i % 2 }), i)).collect();
    let limited = wgpu::Limits { max_storage_buffer_binding_size: 1 << 20, ..Default::default() };
    let scene = |limits, features| {
        Scene::new((limits, features), &models[..3], RendererDescriptor::default(), 20).expect(DEVICE)
    };
    let (single, plain) = (wgpu::Limits::downlevel_defaults(), wgpu::Features::INDIRECT_FIRST_INSTANCE);
    let mut scenes =
        [scene(limited.clone(), CrowdRenderer::OPTIONAL_FEATURES), scene(limited, plain), scene(single, plain)];
    // 256 instances of 130 bones: 1.6 MB of poses.
    scenes.iter_mut().for_each(|scene| scene.spawn(2, 200, 99));
    (0..2).for_each(|turn| assert_same(&mut scenes, turn, 2, "one crowd is too large"));
    for (i, (model, merged)) in models[3..].iter().zip([[3, 3], [4, 4], [5, 5], [5, 6]]).enumerate() {
        scenes.iter_mut().for_each(|scene| scene.add(model, 9, i as u32));
        let turn = 2 + 2 * i as u32;
        assert_same(&mut scenes, turn, merged[0], "a crowd was added");
        assert_same(&mut scenes, turn + 1, merged[1], "the next frame");
    }
}

/// Pipelines of batches compile while frames are drawn: crowds are drawn by themselves until they are there.
pub fn crowds_are_drawn_while_pipelines_of_batches_compile() {
    let models: Vec<_> = (0..3).map(test_model).collect();
    let mut scenes = scenes(&models[..1], &RendererDescriptor::default()).expect(DEVICE);
    assert_same(&mut scenes, 0, 0, "a single crowd");
    scenes.iter_mut().for_each(|scene| scene.add(&models[1], 30, 1));
    assert_same(&mut scenes, 1, 0, "a second crowd, in the frame in which it came");
    let until = |scenes: &mut Scenes, merged: usize| {
        let start = Instant::now();
        while scenes[..2].iter().any(|scene| scene.merged() < merged) {
            assert!(start.elapsed() < Duration::from_secs(120), "no batch of {merged} crowds");
            scenes[..2].iter_mut().for_each(|scene| drop(scene.draw(2, false)));
        }
        assert_same(scenes, 3, merged, "compiled");
    };
    until(&mut scenes, 2);
    scenes.iter_mut().for_each(|scene| scene.add(&models[2], 30, 2));
    assert_same(&mut scenes, 4, 2, "two are merged, and a third came whose pipelines are not there");
    until(&mut scenes, 3);
    // Another crowd of the first model needs nothing new.
    scenes.iter_mut().for_each(|scene| scene.add(&models[0], 30, 3));
    assert_same(&mut scenes, 5, 4, "a crowd whose pipelines are there");
}

/// Thousands of models, and views that come while they are drawn.
pub fn thousands_of_models_and_new_views_match_single_crowds() {
    const MANY: usize = 4_096;
    let models: Vec<_> = (0..MANY).map(|i| build(recipe_of(i % MODELS), i)).collect();
    let mut scenes = scenes_of(&models, &RendererDescriptor::default(), 3).expect(DEVICE);
    assert_same(&mut scenes, 0, MANY, "many models");
    scenes.iter_mut().for_each(|scene| scene.sun = scene.renderer.add_view());
    assert_same(&mut scenes, 1, MANY, "a view was added");
}

pub fn crowds_leave_their_batch_and_keep_their_picture() {
    let models: Vec<_> = (0..4).map(test_model).collect();
    let mut scenes = scenes(&models, &RendererDescriptor::default()).expect(DEVICE);
    assert_same(&mut scenes, 0, 4, "all are merged");
    for scene in &mut scenes {
        let id = scene.ids[1][1];
        scene.crowds[1].play_layer(id, 0, Clip::new(2), None, Transition::crossfade(0.1), 1.0).unwrap();
    }
    assert_same(&mut scenes, 1, 3, "a crowd with layers");
    // In the batched scenes alone: the picture is that of a crowd that nothing else writes.
    scenes[..2].iter().for_each(|scene| assert!(scene.crowds[0].instance_buffers().is_some()));
    assert_same(&mut scenes, 2, 2, "a crowd that a compute pass of the game may write");
    scenes[..2].iter().flat_map(|scene| &scene.crowds).for_each(|crowd| drop(crowd.instance_buffers()));
    assert_same(&mut scenes, 3, 0, "no crowd is left");
}

pub fn revealed_instances_of_a_batch_match_single_crowds() {
    let models: Vec<_> = (0..MODELS).map(test_model).collect();
    let descriptor = RendererDescriptor { occlusion: true, ..Default::default() };
    let mut scenes = scenes(&models, &descriptor).expect(DEVICE);
    for turn in 0..4 {
        let [counted, batched, single] = scenes.each_mut().map(|scene| scene.draw(turn, true));
        assert_eq!(scenes.each_ref().map(Scene::merged), [MODELS, MODELS, 0]);
        assert!(counted == single && batched == single, "turn {turn}");
        assert!(turn == 0 || single[2].covered() > 0, "turn {turn}: nothing was revealed");
    }
}
