//! Rays against posed instances, compared with the vertices of the CPU reference.

use glam::Vec3;
use gpuskin_rt::internals::render::CpuModel;
use gpuskin_rt::{Appearance, BakedModel, Clip, Instance, InstanceRecord, Ray, RayCaster, Time, Transition};
use gpuskin_test_harness::note;
use gpuskin_tests::{clips, models, parts};

/// Metres.
const DISTANCE: f32 = 5e-4;
const TOLERANCE: f32 = 2e-5;

/// An instance in the middle of a crossfade.
fn fading<M: BakedModel>(clips: [Clip<M>; 2]) -> (InstanceRecord, Time) {
    let instance = Instance::at([3.0, 0.5, -2.0]).facing(0.7).scaled(1.3).play(clips[0]).phase(0.3);
    let mut record = instance.record(&M::MODEL.meta, Time::ZERO);
    record.play_clip(&M::MODEL.meta, clips[1], Transition::crossfade(0.4), 0.2);
    (record, Time::from_secs(0.35))
}

fn check<M: BakedModel>(clips: [Clip<M>; 2]) {
    let (caster, model) = (RayCaster::<M>::new().unwrap(), CpuModel::new(M::MODEL).unwrap());
    let (record, time) = fading(clips);
    let (posed, vertices) = (caster.pose(&record, time), model.vertices(&record, time));
    let (mut cast, mut exact, mut backs) = (0, 0, 0);
    for (i, material) in (0..).zip(M::MODEL.meta.materials()) {
        for triangle in model.triangles(i).iter().step_by(7) {
            let [a, b, c] = triangle.map(|vertex| Vec3::from(vertices[vertex as usize].position()));
            let normal = (b - a).cross(c - a);
            if normal.length() < 1e-6 {
                continue;
            }
            let (normal, point) = (normal.normalize(), (a + b + c) / 3.0);
            // The length of the direction has no effect.
            let ray = Ray { origin: (point + normal * DISTANCE).into(), direction: (normal * -3.0).into() };
            let hit = posed.hit(&ray, &Appearance::default()).expect("the triangle is hit");
            let entry = caster.reach(&ray, &record, time).expect("the box is reached");
            assert!(entry <= hit.distance && hit.distance < DISTANCE + TOLERANCE, "{entry}, {hit:?}");
            assert_eq!(hit.bone.is_none(), M::MODEL.meta.encoding.is_vertex());
            cast += 1;
            // Another triangle may be nearer.
            if (hit.distance - DISTANCE).abs() < TOLERANCE {
                exact += 1;
                assert!(Vec3::from(hit.position).distance(point) < TOLERANCE);
            }
            let behind = Ray { origin: (point - normal * DISTANCE).into(), direction: normal.into() };
            let back = posed.hit(&behind, &Appearance::default());
            let is_back_hit = back.is_some_and(|hit| (hit.distance - DISTANCE).abs() < TOLERANCE);
            match material.double_sided {
                true => assert!(back.is_some(), "the back of a double-sided triangle is not hit"),
                // Another triangle may face the other way in the same place.
                false => backs += usize::from(is_back_hit),
            }
        }
    }
    note!("{}: {exact} of {cast} triangles are hit exactly, {backs} from behind", M::MODEL.meta.name);
    assert!(cast > 50 && exact * 10 > cast * 9 && backs * 10 < cast, "{exact} of {cast}, {backs} backs");
    // From 10 m away, past the model.
    let past = Ray { origin: [3.0, 9.0, 8.0], direction: [0.0, 0.0, -1.0] };
    assert!(caster.reach(&past, &record, time).is_none() && posed.hit(&past, &Appearance::default()).is_none());
    for nowhere in [Ray { direction: [0.0; 3], ..past }, Ray { origin: [f32::NAN; 3], ..past }] {
        assert!(caster.reach(&nowhere, &record, time).is_none());
        assert!(posed.hit(&nowhere, &Appearance::default()).is_none());
    }
}

pub fn rays_hit_the_triangles_of_the_cpu_reference() {
    check::<models::Soldier>([clips::SOLDIER_RUN, clips::SOLDIER_ATTACK]);
    check::<models::Hound>([clips::HOUND_RUN, clips::HOUND_IDLE]);
}

pub fn rays_pass_through_hidden_parts() {
    let caster = RayCaster::<models::Soldier>::new().unwrap();
    let soldier = Instance::at([0.0; 3]).play(clips::SOLDIER_IDLE);
    let posed = caster.pose(&soldier.record(caster.meta(), Time::ZERO), Time::ZERO);
    let count = |appearance: Appearance| {
        let rays = (0..900).map(|i| [(i % 30) as f32 * 0.06 - 0.9, (i / 30) as f32 * 0.07, 5.0]);
        let hits = |origin: [f32; 3]| {
            let ray = |z: f32| Ray { origin: [origin[0], origin[1], origin[2] * z], direction: [0.0, 0.0, -z] };
            [1.0, -1.0].into_iter().filter(|z| posed.hit(&ray(*z), &appearance).is_some()).count()
        };
        rays.map(hits).sum::<usize>()
    };
    let (all, without) = (count(soldier.appearance()), count(soldier.without(parts::SOLDIER_SHIELD).appearance()));
    note!("{all} rays hit the soldier, {without} without the shield");
    assert!(all > 100 && without + 5 < all);
    assert_eq!(count(soldier.invisible().appearance()), 0);
}
