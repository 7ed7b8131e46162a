//! Commands to instances: crossfades, rate, pauses, appearance; checked in pictures on every
//! available backend.

use crate::common::model::plain;
use crate::common::squares::{RED, draw, map, renderer, shows, square_recipe, squares};
use crate::common::{BACKENDS, gpu};
use gpuskin_rt::internals::*;

/// Returns the height of the drawn part of a square at x = 2 whose instance is at y = 2, metres:
/// centre of the covered rows.
fn height(picture: &crate::common::Picture) -> f32 {
    let covered = |y: &u32| picture.at(32, *y) != picture.pixels[0];
    let rows: Vec<u32> = (0..128).filter(covered).collect();
    assert!(!rows.is_empty(), "no pixel is covered");
    (128.0 - (rows[0] + rows[rows.len() - 1] + 1) as f32 / 2.0) / 16.0 - 2.0
}

pub fn crossfade_is_continuous_when_interrupted() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        for encoding in [Encoding::MatrixF16, Encoding::TrsF16, Encoding::Fixed16] {
            let mut renderer = renderer(&gpu);
            let test = squares(square_recipe(encoding, plain([1.0, 0.0, 0.0, 1.0])));
            let crowd =
                Crowd::with_model(&mut renderer, &test.model, CrowdDescriptor { capacity: 1, ..Default::default() })
                    .unwrap();
            let mut seen = |time| height(&draw(&gpu, &mut renderer, &map(8.0), time));
            let near = |found: f32, expected: f32, what: &str| {
                assert!((found - expected).abs() < 0.05, "{what}: {found}, expected {expected}, {encoding:?}");
            };
            let id = crowd.spawn(Instance::at([2.0, 2.0, 0.0]));
            near(seen(10.0), 0.0, "before");
            // One metre up within a second.
            crowd.play(id, Clip::new(1), Transition::crossfade(1.0).curve(Curve::Linear)).unwrap();
            near(seen(10.25), 0.25, "a quarter of the way");
            near(seen(10.75), 0.75, "three quarters");
            // Back down, from the middle of the crossfade.
            crowd.play(id, Clip::new(0), Transition::crossfade(1.0).curve(Curve::Linear)).unwrap();
            near(seen(10.7501), 0.75, "no jump");
            near(seen(11.25), 0.375, "half of the way back");
            crowd.set_paused(id, true).unwrap();
            near(seen(20.0), 0.375, "paused");
            crowd.set_paused(id, false).unwrap();
            near(seen(20.5), 0.0, "the rest of the way");
            near(seen(1e6), 0.0, "at rest");
        }
    }
}

pub fn rate_pause_and_seek_take_effect_without_a_jump() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let mut renderer = renderer(&gpu);
        let test = squares(square_recipe(Encoding::TrsF16, plain([1.0, 0.0, 0.0, 1.0])));
        let crowd =
            Crowd::with_model(&mut renderer, &test.model, CrowdDescriptor { capacity: 1, ..Default::default() })
                .unwrap();
        let mut seen = |time| height(&draw(&gpu, &mut renderer, &map(8.0), time));
        // From one metre up to the ground within a second.
        let falling = Clip::new(2);
        let id = crowd.spawn(Instance::at([2.0, 2.0, 0.0]));
        seen(5.0);
        crowd.play(id, falling, Transition::cut()).unwrap();
        let near = |found: f32, expected: f32| assert!((found - expected).abs() < 0.05, "{found}, expected {expected}");
        near(seen(5.5), 0.5);
        crowd.set_speed(id, -0.5).unwrap();
        near(seen(5.5001), 0.5);
        near(seen(6.0), 0.75);
        assert_eq!(crowd.is_finished(id), Ok(false));
        near(seen(9.0), 1.0);
        assert_eq!(crowd.is_finished(id), Ok(true));
        crowd.seek(id, 0.25).unwrap();
        near(seen(9.0), 0.75);
        crowd.play(id, falling, Transition::cut().repeat(Repeat::PingPong).seek(0.5)).unwrap();
        near(seen(9.25), 0.25);
        near(seen(10.0), 0.5);
        near(seen(10.0 + 2.0 * 3600.0), 0.5);
        assert!(crowd.despawn(id).is_ok() && crowd.is_finished(id).is_err());
        assert!(
            crowd.set_speed(id, 1.0).is_err()
                && crowd.seek(id, 0.0).is_err()
                && crowd.set_paused(id, true).is_err()
                && crowd.set_paused(id, false).is_err()
        );
    }
}

pub fn tint_parts_and_visibility_change_the_picture() {
    for gpu in BACKENDS.into_iter().filter_map(gpu) {
        let mut renderer = renderer(&gpu);
        let mut recipe = square_recipe(Encoding::TrsF16, plain([1.0, 1.0, 1.0, 1.0]));
        // A second square above the first, as a part of its own.
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
        crowd.move_to(b, [4.0, 2.0, 0.0]).unwrap();
        let p = picture();
        let background = p.pixels[0];
        let at =
            |p: &crate::common::Picture| [[2.0, 2.0], [2.0, 3.0], [4.0, 2.0], [4.0, 3.0]].map(|[x, y]| shows(p, x, y));
        assert_eq!(at(&p), [RED, RED, RED, background], "{}", gpu.name);
        crowd.set_part_visible(a, Part::new(2), false).unwrap();
        crowd.set_part_visible(b, Part::new(2), true).unwrap();
        crowd.set_tint(b, [0.0, 0.0, 1.0, 1.0]).unwrap();
        let blue = [0, 0, 255, 255];
        assert_eq!(at(&picture()), [RED, background, blue, blue]);
        crowd.set_visible(b, false).unwrap();
        assert_eq!(at(&picture()), [RED, background, background, background]);
        crowd.set_visible(b, true).unwrap();
        // The dense list closes the gap: appearances move with their instances.
        crowd.despawn(a).unwrap();
        assert_eq!(at(&picture()), [background, background, blue, blue]);
        assert!(
            crowd.set_tint(a, [1.0; 4]).is_err()
                && crowd.set_visible(a, true).is_err()
                && crowd.set_part_visible(a, Part::new(0), true).is_err()
        );
        assert_eq!(crowd.appearance(b).unwrap().tint, [0, 0, 255, 255]);
        assert_eq!((crowd.id_at(0), crowd.id_at(1)), (Some(b), None));
    }
}

pub fn crowd_reports_fired_events() {
    let gpu = BACKENDS.into_iter().find_map(gpu).expect("a device, which the test needs");
    let mut renderer = renderer(&gpu);
    let mut test = squares(square_recipe(Encoding::TrsF16, plain([1.0, 0.0, 0.0, 1.0])));
    test.model.meta.events = vec!["hit".into()].into();
    // An event in the middle of the clip that falls for a second.
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
    assert_eq!(told(), [(a, FiredEventKind::Event(0), 500)]);
    prepare(1.2);
    assert_eq!(told(), [(b, FiredEventKind::Event(0), 900), (a, FiredEventKind::Finished, 1000)]);
    crowd.set_speed(b, 0.5).unwrap();
    crowd.play(a, Clip::new(2), Transition::crossfade(0.1).repeat(Repeat::Loop)).unwrap();
    prepare(1.8);
    // The rest of b's clip takes twice as long.
    assert_eq!(told(), [(b, FiredEventKind::Finished, 1600), (a, FiredEventKind::Event(0), 1700)]);
    crowd.set_paused(a, true).unwrap();
    prepare(100.0);
    assert_eq!(told(), []);
    crowd.set_paused(a, false).unwrap();
    crowd.despawn(b).unwrap();
    prepare(101.0);
    assert_eq!(told(), [(a, FiredEventKind::Event(0), 100_900)]);
    crowd.clear();
    prepare(200.0);
    assert_eq!(told(), []);
}
