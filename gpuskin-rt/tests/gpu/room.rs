//! Crowds whose palettes have room for the poses of some instances: their pictures equal those of crowds with room for all,
//! and the room follows what views show.

use crate::batch::{SIDE, Scene, build, recipe_of};
use crate::common::model::{TestModel, many_clips};
use crate::common::{Canvas, Picture};
use gpuskin_rt::internals::render::CustomDraw;
use gpuskin_rt::internals::*;

const DEVICE: &str = "a Vulkan device, which the test needs";
const COUNT: u32 = 300;

fn scene(test: &TestModel, descriptor: &RendererDescriptor, crowd: CrowdDescriptor) -> Scene {
    scene_on(wgpu::Limits::default(), test, descriptor, crowd)
}

fn scene_on(limits: wgpu::Limits, test: &TestModel, descriptor: &RendererDescriptor, crowd: CrowdDescriptor) -> Scene {
    let device = (limits, wgpu::Features::INDIRECT_FIRST_INSTANCE);
    let mut scene = Scene::empty(device, descriptor.clone()).expect(DEVICE);
    scene.add_with(test, CrowdDescriptor { capacity: COUNT, ..crowd }, COUNT, 1);
    scene
}

/// Number of poses for which there is room; `None` for all.
fn room(scene: &Scene) -> Option<u64> {
    scene.crowds[0].explain(&scene.renderer).room
}

/// Asserts that pictures are the same but for pixels at edges: chains of nodes are composed in another order.
fn assert_same(found: &[Picture], expected: &[Picture], what: &str) {
    assert_eq!(found.len(), expected.len());
    for (view, (a, b)) in found.iter().zip(expected).enumerate() {
        let far = |(a, b): &(&[u8; 4], &[u8; 4])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 3);
        let differing = a.pixels.iter().zip(&b.pixels).filter(far).count();
        if differing > 4 {
            let folder = std::env::temp_dir();
            a.save(&folder.join("gpuskin-room.png"));
            b.save(&folder.join("gpuskin-no-room.png"));
            panic!("{what}: {differing} pixels of view {view} differ, see {}", folder.display());
        }
    }
}

pub fn instances_without_a_palette_slot_have_their_own_pose() {
    for (number, occlusion) in [(0, false), (1, true), (2, true), (3, false), (4, true)] {
        let mut recipe = recipe_of(number);
        if number == 4 {
            // Bounds of the clips in a texture.
            recipe.clips = many_clips(1500);
        }
        let test = build(recipe, number);
        let shadows = ShadowDescriptor { cascades: 2, size: 256, distance: 60.0, caster_distance: 40.0 };
        let lit = Shading::MetallicRoughness(LightingFeatures { shadows: Some(shadows), ..Default::default() });
        let shading = if number == 3 { lit } else { Shading::Diffuse };
        let motion_vectors = number % 3 == 0;
        let descriptor = RendererDescriptor { occlusion, motion_vectors, shading, ..Default::default() };
        for visible in [0, 1, 100, COUNT - 1, COUNT, COUNT * 2] {
            let mut whole = scene(&test, &descriptor, CrowdDescriptor { pose_bytes: u64::MAX, ..Default::default() });
            let mut few = scene(&test, &descriptor, CrowdDescriptor { visible: Some(visible), ..Default::default() });
            for turn in 0..3 {
                let (found, expected) = (few.draw(turn, occlusion), whole.draw(turn, occlusion));
                assert!(expected[0].covered() > 500 || occlusion && turn == 0, "{}", expected[0].covered());
                assert_same(&found, &expected, &format!("model {number}, room for {visible}, turn {turn}"));
                let drawn = |scene: &Scene| {
                    let of = |view| scene.crowds[0].count_drawn(&scene.renderer, view).unwrap().lods;
                    [View::MAIN, View::REVEALED].map(of)
                };
                assert_eq!(drawn(&few), drawn(&whole));
            }
            let slots = visible.clamp(1, COUNT);
            assert_eq!((room(&few), room(&whole)), (Some(slots.into()), None));
            let explained = few.crowds[0].explain(&few.renderer).to_string();
            assert!(explained.contains(&format!("bytes per instance, room for the poses of {slots})")), "{explained}");
            assert_eq!(explained.contains("levels of detail, chosen"), number % 3 > 0, "{explained}");
        }
    }
}

/// Draws a frame that sees nothing.
fn draw_nothing(scene: &mut Scene) -> Picture {
    let Scene { gpu, renderer, sun, .. } = scene;
    let canvas = Canvas::new(gpu, SIDE);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let away = Camera::perspective_look_at([900.0; 3], [990.0; 3], 0.9, 1.0, 0.1, 80.0);
    renderer.prepare_view(&gpu.queue, *sun, &away).unwrap();
    renderer.prepare(&gpu.queue, &mut encoder, &away, 9.0).unwrap();
    canvas.pass(&mut encoder, |pass| renderer.draw(pass));
    canvas.finish(gpu, encoder)
}

pub fn room_follows_what_views_show() {
    let test = build(recipe_of(3), 3);
    let descriptor = RendererDescriptor { occlusion: true, ..Default::default() };
    let pose = 48 * 7;
    let mut whole = scene(&test, &descriptor, CrowdDescriptor { pose_bytes: u64::MAX, ..Default::default() });
    let mut some = scene(&test, &descriptor, CrowdDescriptor { pose_bytes: 80 * pose, ..Default::default() });
    let mut rooms = Vec::new();
    for frame in 0..12 {
        let turn = frame / 2;
        assert_same(&some.draw(turn, true), &whole.draw(turn, true), &format!("frame {frame}"));
        let counts = [View::MAIN, View::REVEALED, some.sun].map(|view| {
            let count = some.crowds[0].count_drawn(&some.renderer, view).unwrap().total();
            assert_eq!(count, whole.crowds[0].count_drawn(&whole.renderer, view).unwrap().total());
            count
        });
        rooms.push(room(&some).unwrap());
        assert!(rooms[frame as usize] >= counts[2].max(counts[0] + counts[1]), "{counts:?} of {rooms:?}");
    }
    assert!(rooms.is_sorted() && rooms[0] > 100 && rooms[11] <= COUNT.into(), "{rooms:?}");
    for _ in 0..50 {
        draw_nothing(&mut some);
    }
    assert_eq!(room(&some), Some(80));
    for frame in 0..12 {
        let turn = frame / 2;
        let (now, expected) = (some.draw(turn, true), whole.draw(turn, true));
        assert!(room(&some).unwrap() > 100);
        if frame > 0 {
            // The first pass of the first frame draws what the last frame has seen: nothing.
            assert_same(&now, &expected, &format!("back in frame {frame}"));
        }
    }
    // More instances than the buffers hold.
    let before = room(&some).unwrap();
    [&mut some, &mut whole].into_iter().for_each(|scene| scene.spawn(0, 400, 5));
    for frame in 0..8 {
        assert_same(&some.draw(frame, true), &whole.draw(frame, true), &format!("with more instances, {frame}"));
    }
    assert!(room(&some).unwrap() > before);
}

/// Instances that come into view where the CPU does not see it coming: every 17th of 4,300 is sampled.
pub fn room_grows_although_no_sampled_instance_is_in_view() {
    let test = build(recipe_of(0), 0);
    let descriptor = RendererDescriptor::default();
    let mut whole = scene(&test, &descriptor, CrowdDescriptor { pose_bytes: u64::MAX, ..Default::default() });
    let mut some = scene(&test, &descriptor, CrowdDescriptor { pose_bytes: 0, ..Default::default() });
    for scene in [&mut some, &mut whole] {
        scene.spawn(0, 4000, 7);
        for (i, id) in scene.ids[0].iter().enumerate().filter(|(i, _)| *i >= 1500 || i % 17 == 0) {
            scene.crowds[0].move_to(*id, [1000.0, i as f32, 0.0]).unwrap();
        }
    }
    let mut rooms = Vec::new();
    for frame in 0..8 {
        assert_same(&some.draw(0, false), &whole.draw(0, false), &format!("frame {frame}"));
        rooms.push(room(&some).unwrap());
    }
    assert_eq!(rooms[0], 1);
    assert!((500..2000).contains(&rooms[7]), "{rooms:?}");
}

/// Devices whose bindings hold fewer poses than a crowd has instances.
pub fn several_palettes_have_room_each() {
    let test = build(recipe_of(3), 3);
    let descriptor = RendererDescriptor::default();
    let pose = 48 * 7;
    let words = test.model.animation.levels[0].len;
    let limits = wgpu::Limits { max_storage_buffer_binding_size: (pose * 112).max(words), ..Default::default() };
    let mut whole = scene(&test, &descriptor, CrowdDescriptor { pose_bytes: u64::MAX, ..Default::default() });
    let split = |crowd| scene_on(limits.clone(), &test, &descriptor, crowd);
    let mut some = split(CrowdDescriptor { pose_bytes: 10 * pose, ..Default::default() });
    let mut fixed = split(CrowdDescriptor { visible: Some(20), ..Default::default() });
    let palettes = |scene: &Scene| scene.crowds[0].explain(&scene.renderer).palettes;
    for frame in 0..8 {
        let expected = whole.draw(frame / 2, false);
        assert_same(&some.draw(frame / 2, false), &expected, &format!("several palettes, frame {frame}"));
        assert_same(&fixed.draw(frame / 2, false), &expected, &format!("one palette, frame {frame}"));
    }
    assert!(palettes(&some) > 1 && room(&some).is_some_and(|room| room <= COUNT.into()), "{}", palettes(&some));
    assert_eq!((palettes(&fixed), room(&fixed), palettes(&whole)), (1, Some(20), 1));
}

pub fn crowds_that_need_all_poses_have_room_for_them() {
    let mut test = build(recipe_of(0), 0);
    let bind = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
    test.model.meta.bones = vec![BoneInfo { name: "hand".into(), parent: None, bind }; 4].into();
    let descriptor = RendererDescriptor::default();
    type Change = fn(&mut Scene, &TestModel);
    let changes: [(&str, Change); 3] = [
        ("layer", |scene, _| {
            let id = scene.ids[0][1];
            scene.crowds[0].play_layer(id, 0, Clip::new(2), None, Transition::cut(), 1.0).unwrap();
        }),
        ("live bones", |scene, _| {
            let matrices = [[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.5], [0.0, 0.0, 1.0, 0.0]]; 4];
            scene.crowds[0].set_live_bones(scene.ids[0][1], LiveBones::Model(&matrices), 0.0).unwrap();
        }),
        ("attachment", |scene, test| {
            let hand = Attachment::to(Bone::new(1)).scaled(0.5);
            scene.crowds[0].attach(&mut scene.renderer, &test.model, hand).unwrap();
        }),
    ];
    for (what, change) in changes {
        let mut whole = scene(&test, &descriptor, CrowdDescriptor { pose_bytes: u64::MAX, ..Default::default() });
        let mut some = scene(&test, &descriptor, CrowdDescriptor { pose_bytes: 0, ..Default::default() });
        assert_same(&some.draw(0, false), &whole.draw(0, false), what);
        assert!(room(&some).is_some(), "{what}");
        [&mut some, &mut whole].into_iter().for_each(|scene| change(scene, &test));
        for turn in 1..4 {
            assert_same(&some.draw(turn, false), &whole.draw(turn, false), what);
            assert_eq!(room(&some), None, "{what}");
        }
    }
    // The game's own pipeline reads bones from the palette: from the next frame on, all are there.
    let mut some = scene(&test, &descriptor, CrowdDescriptor { pose_bytes: 0, ..Default::default() });
    let count = |scene: &mut Scene| {
        scene.draw(0, false);
        let canvas = Canvas::new(&scene.gpu, SIDE);
        let mut encoder = scene.gpu.device.create_command_encoder(&Default::default());
        let mut parts = 0;
        canvas.pass(&mut encoder, |pass| {
            scene.renderer.draw(pass);
            scene.crowds[0].draw_with(pass, CustomDraw::new(1), |_, _| parts += 1);
        });
        parts
    };
    assert_eq!((count(&mut some), room(&some).is_some()), (1, true));
    assert_eq!((count(&mut some), room(&some)), (1, None));
    // With room for all, vertices evaluate no poses: those beyond a fixed number use others, in every pipeline.
    let fixed = CrowdDescriptor { visible: Some(1), pose_bytes: u64::MAX, ..Default::default() };
    let mut some = scene(&test, &descriptor, fixed);
    let mut evaluated = scene(&test, &descriptor, CrowdDescriptor { visible: Some(1), ..Default::default() });
    assert_eq!((count(&mut some), room(&some)), (1, Some(1)));
    assert!(some.draw(0, false)[0] != evaluated.draw(0, false)[0]);
    // Places that a game's passes write are not known on the CPU.
    let mut some = scene(&test, &descriptor, CrowdDescriptor { pose_bytes: 0, ..Default::default() });
    some.draw(0, false);
    assert!(room(&some).is_some() && some.crowds[0].instance_buffers().is_some());
    some.draw(0, false);
    assert_eq!(room(&some), None);
}
