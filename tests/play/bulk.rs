//! Commands on many instances at once do what single commands do.

use gpuskin_rt::internals::{Clip, Crowd, CrowdDescriptor, CrowdRenderer, Instance, InstanceId, Transform, Transition};
use gpuskin_tests::gpu::{Gpu, vulkan};
use gpuskin_tests::{clips, models};

type Soldiers = Crowd<models::Soldier>;

fn crowds<const N: usize>() -> (Gpu, CrowdRenderer, [Soldiers; N]) {
    let gpu = vulkan();
    let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, Default::default()).unwrap();
    let crowds = core::array::from_fn(|_| Crowd::new(&mut renderer, CrowdDescriptor::default()).unwrap());
    (gpu, renderer, crowds)
}

fn place(i: usize) -> Transform {
    Transform::at([i as f32, 0.5, -(i as f32)]).facing(i as f32 * 0.1).scaled(1.0 + i as f32)
}

fn instances() -> impl Iterator<Item = Instance<models::Soldier>> {
    (0..40).map(|i| Instance::at([i as f32, 0.0, 0.0]).phase(i as f32 * 0.1))
}

pub fn bulk_commands_equal_single_ones() {
    let (_gpu, _renderer, [one, many]) = crowds();
    let ids: Vec<_> = instances().map(|instance| one.spawn(instance)).collect();
    let all = many.spawn_many(instances());
    assert_eq!((all.len(), one.snapshot() == many.snapshot()), (40, true));

    // Every other instance, from the last to the first.
    let of = |ids: &[InstanceId]| ids.iter().rev().step_by(2).copied().collect::<Vec<_>>();
    let (chosen, bulk) = (of(&ids), of(&all));
    let numbers = || 0..chosen.len();
    let tint = |i: usize| [i as f32 / 40.0, 0.5, 1.0, 1.0];
    let clip = |i: usize| if i.is_multiple_of(3) { clips::SOLDIER_IDLE } else { clips::SOLDIER_RUN };
    for (i, id) in chosen.iter().enumerate() {
        one.set_transform(*id, place(i)).unwrap();
        one.set_tint(*id, tint(i)).unwrap();
        one.set_custom(*id, [i as u32, 7]).unwrap();
        one.play(*id, clip(i), Transition::crossfade(0.3)).unwrap();
        one.set_speed(*id, 0.5 + i as f32).unwrap();
    }
    many.set_transforms(&bulk, &numbers().map(place).collect::<Vec<_>>()).unwrap();
    many.set_tints(&bulk, &numbers().map(tint).collect::<Vec<_>>()).unwrap();
    many.set_customs(&bulk, &numbers().map(|i| [i as u32, 7]).collect::<Vec<_>>()).unwrap();
    many.play_many(&bulk, &numbers().map(clip).collect::<Vec<_>>(), Transition::crossfade(0.3)).unwrap();
    many.set_speeds(&bulk, &numbers().map(|i| 0.5 + i as f32).collect::<Vec<_>>()).unwrap();
    assert!(one.snapshot() == many.snapshot());
    assert_eq!(many.transform(bulk[3]).map(|t| (t.translation, t.scale)), Some((place(3).translation, place(3).scale)));

    chosen.iter().for_each(|id| one.despawn(*id).unwrap());
    many.despawn_many(&bulk).unwrap();
    assert!(one.len() == 20 && one.snapshot() == many.snapshot());
}

pub fn wrong_slices_are_refused_and_stale_ids_skipped() {
    let (_gpu, _renderer, [crowd]) = crowds();
    let ids = crowd.spawn_many(instances());
    let before = crowd.snapshot();
    let errors = [
        crowd.set_transforms(&ids, &[place(1); 3]),
        crowd.set_tints(&ids[..2], &[[1.0; 4]; 3]),
        crowd.set_customs(&[], &[[1, 2]]),
        crowd.play_many(&ids, &[], Transition::crossfade(0.2)),
        crowd.set_speeds(&ids[..1], &[]),
    ];
    for (error, text) in errors.into_iter().zip([
        "40 ids, but 3 transforms",
        "2 ids, but 3 tints",
        "0 ids, but 1 words",
        "40 ids, but 0 clips",
        "1 ids, but 0 speeds",
    ]) {
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("soldier: ") && error.contains(text), "{error}");
    }
    assert!(crowd.snapshot() == before);

    crowd.despawn(ids[4]).unwrap();
    crowd.despawn(ids[30]).unwrap();
    let odd = Transform { translation: [f32::NAN, 2.0, f32::INFINITY], scale: f32::NAN, rotation: [0.0; 4] };
    let stale = crowd.set_transforms(&ids, &[odd; 40]).unwrap_err().to_string();
    assert!(stale.contains(&format!("{:?}", ids[4])) && stale.contains("despawned"), "{stale}");
    for id in ids.iter().filter(|id| **id != ids[4] && **id != ids[30]) {
        assert_eq!(crowd.transform(*id), Some(Transform::at([0.0, 2.0, 0.0])));
    }
    assert!(crowd.play_many(&ids, &[Clip::new(0); 40], Transition::crossfade(0.1)).is_err());
    // An id that is there twice is stale the second time.
    assert!(crowd.despawn_many(&[ids[0], ids[1], ids[0], ids[2]]).is_err());
    assert_eq!(crowd.len(), 35);
}

pub fn threads_change_one_crowd() {
    let (_gpu, _renderer, [by_id, in_place]) = crowds();
    let ids = by_id.spawn_many(instances());
    in_place.spawn_many(instances());
    let transforms: Vec<_> = (0..40).map(place).collect();
    std::thread::scope(|scope| {
        for (ids, transforms) in ids.chunks(10).zip(transforms.chunks(10)) {
            let crowd = by_id.clone();
            scope.spawn(move || crowd.set_transforms(ids, transforms).unwrap());
        }
    });
    in_place.update_transforms(|all| {
        std::thread::scope(|scope| {
            for (all, transforms) in all.chunks_mut(10).zip(transforms.chunks(10)) {
                scope.spawn(move || all.copy_from_slice(transforms));
            }
        });
    });
    assert!(by_id.snapshot() == in_place.snapshot());
    assert_eq!(
        in_place.id_at(7).and_then(|id| in_place.transform(id)).map(|t| t.translation),
        Some(place(7).translation)
    );
    in_place.update_transforms(|all| all[0].scale = f32::NAN);
    assert_eq!(in_place.id_at(0).and_then(|id| in_place.transform(id)).map(|t| t.scale), Some(1.0));
}
