//! What instances do when they are told to: fades, pace, pauses, looks, seen in pictures on every backend that is here.

use crate::common::model::plain;
use crate::common::squares::{RED, draw, map, renderer, shows, square_recipe, squares};
use crate::common::{BACKENDS, gpu};
use gpuskin_rt::*;

/// Height of what is drawn of a square at x = 2 that stands on y = 2, metres: of the middle of what is covered.
fn height(picture: &crate::common::Picture) -> f32 {
    let covered = |y: &u32| picture.at(32, *y) != picture.pixels[0];
    let rows: Vec<u32> = (0..128).filter(covered).collect();
    assert!(!rows.is_empty(), "nothing is drawn");
    (128.0 - (rows[0] + rows[rows.len() - 1] + 1) as f32 / 2.0) / 16.0 - 2.0
}

#[test]
fn fades_pass_through_the_middle_and_do_not_pop_when_interrupted() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for encoding in [Encoding::MatrixF16, Encoding::TrsF16, Encoding::Fixed16] {
            let mut renderer = renderer(&gpu);
            let test = squares(square_recipe(encoding, plain([1.0, 0.0, 0.0, 1.0])));
            let crowd =
                Crowd::with_model(&mut renderer, &test.model, CrowdDescriptor { capacity: 1, ..Default::default() })
                    .unwrap();
            let mut seen = |time| height(&draw(&gpu, &mut renderer, &map(8.0), time));
            let near = |found: f32, expected: f32, what: &str| {
                assert!((found - expected).abs() < 0.05, "{what}: {found} instead of {expected}, {encoding:?}");
            };
            let id = crowd.spawn(Instance::at([2.0, 2.0, 0.0]));
            near(seen(10.0), 0.0, "before");
            // One metre up in a second.
            crowd.play(id, Clip::new(1), Transition::crossfade(1.0).curve(Curve::Linear));
            near(seen(10.25), 0.25, "a quarter of the way");
            near(seen(10.75), 0.75, "three quarters");
            // And back again from there.
            crowd.play(id, Clip::new(0), Transition::crossfade(1.0).curve(Curve::Linear));
            near(seen(10.7501), 0.75, "no pop");
            near(seen(11.25), 0.375, "half of the way back");
            crowd.pause(id);
            near(seen(20.0), 0.375, "paused");
            crowd.resume(id);
            near(seen(20.5), 0.0, "the rest of the way");
            near(seen(1e6), 0.0, "for good");
        }
    }
}

#[test]
fn pace_and_place_change_without_a_jump() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let mut renderer = renderer(&gpu);
        let test = squares(square_recipe(Encoding::TrsF16, plain([1.0, 0.0, 0.0, 1.0])));
        let crowd =
            Crowd::with_model(&mut renderer, &test.model, CrowdDescriptor { capacity: 1, ..Default::default() })
                .unwrap();
        let mut seen = |time| height(&draw(&gpu, &mut renderer, &map(8.0), time));
        // From one metre up to the ground in a second.
        let falling = Clip::new(2);
        let id = crowd.spawn(Instance::at([2.0, 2.0, 0.0]));
        seen(5.0);
        crowd.play(id, falling, Transition::cut());
        let near = |found: f32, expected: f32| assert!((found - expected).abs() < 0.05, "{found}, not {expected}");
        near(seen(5.5), 0.5);
        crowd.set_speed(id, -0.5);
        near(seen(5.5001), 0.5);
        near(seen(6.0), 0.75);
        assert_eq!(crowd.is_finished(id), Some(false));
        near(seen(9.0), 1.0);
        assert_eq!(crowd.is_finished(id), Some(true));
        crowd.seek(id, 0.25);
        near(seen(9.0), 0.75);
        crowd.play(id, falling, Transition::cut().repeat(Repeat::PingPong).seek(0.5));
        near(seen(9.25), 0.25);
        near(seen(10.0), 0.5);
        near(seen(10.0 + 2.0 * 3600.0), 0.5);
        assert!(crowd.despawn(id) && crowd.is_finished(id).is_none());
        assert!(!crowd.set_speed(id, 1.0) && !crowd.seek(id, 0.0) && !crowd.pause(id) && !crowd.resume(id));
    }
}

#[test]
fn instances_are_tinted_undressed_and_hidden() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let mut renderer = renderer(&gpu);
        let mut recipe = square_recipe(Encoding::TrsF16, plain([1.0, 1.0, 1.0, 1.0]));
        // A second square above the first, which is a part.
        let (mut above, indices) = crate::common::squares::square(glam::Vec3::Y * 1.0, 0.2, 0);
        above.iter_mut().for_each(|v| v.part = 3);
        recipe.indices.extend(indices.map(|i| i + 4));
        recipe.vertices.extend(above);
        let test = squares(recipe);
        let crowd =
            Crowd::with_model(&mut renderer, &test.model, CrowdDescriptor { capacity: 1, ..Default::default() })
                .unwrap();
        let mut picture = || draw(&gpu, &mut renderer, &map(8.0), 0.0);
        let red = Instance::at([2.0, 2.0, 0.0]).tinted([1.0, 0.0, 0.0, 1.0]);
        let a = crowd.spawn(red);
        let b = crowd.spawn(red.without(Part::new(2)));
        crowd.move_to(b, [4.0, 2.0, 0.0]);
        let p = picture();
        let background = p.pixels[0];
        let at =
            |p: &crate::common::Picture| [[2.0, 2.0], [2.0, 3.0], [4.0, 2.0], [4.0, 3.0]].map(|[x, y]| shows(p, x, y));
        assert_eq!(at(&p), [RED, RED, RED, background], "{}", gpu.name);
        crowd.wear(a, Part::new(2), false);
        crowd.wear(b, Part::new(2), true);
        crowd.set_tint(b, [0.0, 0.0, 1.0, 1.0]);
        let blue = [0, 0, 255, 255];
        assert_eq!(at(&picture()), [RED, background, blue, blue]);
        crowd.set_visible(b, false);
        assert_eq!(at(&picture()), [RED, background, background, background]);
        crowd.set_visible(b, true);
        // The dense list closes up: looks move with their instances.
        crowd.despawn(a);
        assert_eq!(at(&picture()), [background, background, blue, blue]);
        assert!(!crowd.set_tint(a, [1.0; 4]) && !crowd.set_visible(a, true) && !crowd.wear(a, Part::new(0), true));
        assert_eq!(crowd.look(b).unwrap().tint, [0, 0, 255, 255]);
        assert_eq!((crowd.id_at(0), crowd.id_at(1)), (Some(b), None));
    }
}

#[test]
fn crowds_tell_what_their_instances_come_to() {
    let Some(gpu) = BACKENDS.into_iter().find_map(gpu) else { return };
    let mut renderer = renderer(&gpu);
    let mut test = squares(square_recipe(Encoding::TrsF16, plain([1.0, 0.0, 0.0, 1.0])));
    test.model.meta.events = vec!["hit".into()].into();
    // In the middle of the clip that falls for a second.
    test.model.meta.clips.to_mut()[2].events = vec![ClipEvent { event: 0, phase: 1 << 31 }].into();
    let crowd =
        Crowd::with_model(&mut renderer, &test.model, CrowdDescriptor { capacity: 1, ..Default::default() }).unwrap();
    let falling = Instance::at([2.0, 2.0, 0.0]).play(Clip::new(2));
    let a = crowd.spawn(falling);
    let mut prepare = |time: f64| {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        renderer.prepare(&gpu.queue, &mut encoder, &map(8.0), time).unwrap();
        gpu.queue.submit([encoder.finish()]);
    };
    let told = || {
        let notices = crowd.events();
        notices.iter().map(|n| (n.instance, n.kind, (n.time.as_secs() * 1e3).round() as u32)).collect::<Vec<_>>()
    };
    assert_eq!(told(), []);
    prepare(0.4);
    let b = crowd.spawn(falling);
    prepare(0.8);
    assert_eq!(told(), [(a, NoticeKind::Event(0), 500)]);
    prepare(1.2);
    assert_eq!(told(), [(b, NoticeKind::Event(0), 900), (a, NoticeKind::Finished, 1000)]);
    crowd.set_speed(b, 0.5);
    crowd.play(a, Clip::new(2), Transition::crossfade(0.1).looping());
    prepare(1.8);
    // What was left of b takes twice as long.
    assert_eq!(told(), [(b, NoticeKind::Finished, 1600), (a, NoticeKind::Event(0), 1700)]);
    crowd.pause(a);
    prepare(100.0);
    assert_eq!(told(), []);
    crowd.resume(a);
    crowd.despawn(b);
    prepare(101.0);
    assert_eq!(told(), [(a, NoticeKind::Event(0), 100_900)]);
    crowd.clear();
    prepare(200.0);
    assert_eq!(told(), []);
}
