use super::*;
use crate::Motion;

fn record(x: f32) -> InstanceRecord {
    let mut record = InstanceRecord::default();
    record.translation[0] = x;
    record
}

fn taken((len, changes): (usize, &mut Changes)) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    changes.take(len, |changed| ranges.extend(changed.runs(len).map(|run| (run.start, run.end))));
    ranges
}

fn uploads(instances: &mut Instances) -> Vec<(usize, usize)> {
    let (places, changes) = instances.changed_places();
    taken((places.len(), changes))
}

fn playbacks(instances: &mut Instances) -> Vec<(usize, usize)> {
    let (playbacks, changes) = instances.changed_playbacks();
    taken((playbacks.len(), changes))
}

#[test]
fn ids_outlive_moves_and_are_refused_when_stale() {
    let mut crowd = Instances::new(1, 0, false, Arc::default());
    let ids: Vec<_> = (0..5).map(|i| crowd.spawn(record(i as f32), Appearance::default())).collect();
    assert!(crowd.despawn(ids[1]).is_ok());
    assert!(crowd.despawn(ids[1]).is_err());
    assert!(crowd.get(ids[1]).is_none());
    let x = |crowd: &Instances, i: usize| crowd.get(ids[i]).map(|r| r.translation[0]);
    assert_eq!([0, 2, 3, 4].map(|i| x(&crowd, i)), [0.0, 2.0, 3.0, 4.0].map(Some));
    let again = crowd.spawn(record(9.0), Appearance::default());
    assert_ne!(again, ids[1]);
    assert!(crowd.get(ids[1]).is_none() && crowd.get(again).is_some());
    assert!(crowd.change(ids[1], |r| r.scale = 7.0).is_err());
    crowd.clear();
    assert!(crowd.len() == 0 && crowd.get(again).is_none() && crowd.despawn(ids[0]).is_err());
    let reborn = crowd.spawn(record(1.0), Appearance::default());
    assert_eq!(crowd.get(reborn).unwrap().translation[0], 1.0);
    assert!(ids.iter().all(|id| crowd.get(*id).is_none()));
}

#[test]
fn ids_of_another_crowd_are_refused() {
    let (mut a, mut b) = (Instances::new(1, 0, false, Arc::default()), Instances::new(2, 0, false, Arc::default()));
    let id = a.spawn(record(0.0), Appearance::default());
    b.spawn(record(0.0), Appearance::default());
    assert!(b.get(id).is_none() && b.despawn(id).is_err());
}

#[test]
fn a_slot_that_ran_out_of_generations_is_not_used_again() {
    let mut crowd = Instances::new(1, 0, false, Arc::default());
    crowd.spawn(record(0.0), Appearance::default());
    crowd.slots[0].generation = u32::MAX;
    let last = InstanceId { crowd: 1, slot: 0, generation: u32::MAX };
    assert!(crowd.despawn(last).is_ok());
    let next = crowd.spawn(record(1.0), Appearance::default());
    assert_eq!(next.slot, 1);
    assert!(crowd.get(last).is_none());
}

#[test]
fn appearances_stay_with_their_instances() {
    let mut crowd = Instances::new(1, 0, false, Arc::default());
    let appearance = |i: u32| Appearance { custom: [i, 0], ..Appearance::default() };
    let ids: Vec<_> = (0..300).map(|i| crowd.spawn(record(0.0), appearance(i))).collect();
    assert_eq!((playbacks(&mut crowd), uploads(&mut crowd)), (vec![(0, 300)], vec![(0, 300)]));
    crowd.despawn(ids[70]).unwrap();
    crowd.change_appearance(ids[0], |appearance| appearance.hidden = 2).unwrap();
    crowd.change_appearance(ids[1], |appearance| appearance.custom = [9, 9]).unwrap();
    assert_eq!((playbacks(&mut crowd), uploads(&mut crowd)), (vec![(1, 2), (70, 71)], vec![(0, 1), (70, 71)]));
    assert_eq!(crowd.appearance(ids[299]), Some(appearance(299)));
    assert_eq!((crowd.id_at(70), crowd.id_at(299)), (Some(ids[299]), None));
    assert!(crowd.appearance(ids[70]).is_none() && crowd.change_appearance(ids[70], |_| ()).is_err());
}

#[test]
fn previous_transforms_are_those_of_the_last_frame() {
    let mut crowd = Instances::new(1, 0, true, Arc::default());
    let ids: Vec<_> = (0..4).map(|i| crowd.spawn(record(i as f32), Appearance::default())).collect();
    // Index and position of each uploaded transform.
    let frame = |crowd: &mut Instances| {
        let (places, changes) = crowd.previous_transforms().unwrap();
        let mut found = Vec::new();
        changes.take(places.len(), |changed| {
            let x = |index: usize| (index, places[index].transform().translation[0]);
            changed.runs(places.len()).for_each(|run| found.extend(run.map(x)));
        });
        found
    };
    let to = |crowd: &mut Instances, id: usize, x: f32| crowd.change(ids[id], |r| r.translation[0] = x).unwrap();
    assert_eq!(frame(&mut crowd), [(0, 0.0), (1, 1.0), (2, 2.0), (3, 3.0)]);
    // Two moves within a frame count from where the instance was drawn. Others are not uploaded.
    to(&mut crowd, 1, 5.0);
    to(&mut crowd, 1, 6.0);
    crowd.change(ids[2], |r| r.set_paused(true, crate::Time::ZERO)).unwrap();
    assert_eq!(frame(&mut crowd), [(1, 1.0)]);
    to(&mut crowd, 1, 7.0);
    assert_eq!(frame(&mut crowd), [(1, 6.0)]);
    // It rests in the frame after.
    assert_eq!(frame(&mut crowd), [(1, 7.0)]);
    assert_eq!(frame(&mut crowd), []);
    // The last instance takes the place of a removed one, and its motion with it.
    to(&mut crowd, 3, 9.0);
    crowd.despawn(ids[0]).unwrap();
    assert_eq!(frame(&mut crowd), [(0, 3.0)]);
    assert_eq!(frame(&mut crowd), [(0, 9.0)]);
    // Placed anew, an instance does not move.
    to(&mut crowd, 2, 20.0);
    crowd.place(ids[2]);
    assert_eq!(frame(&mut crowd), [(2, 20.0)]);
    // Wherever it goes before it is drawn there.
    crowd.place(ids[2]);
    to(&mut crowd, 2, 21.0);
    let new = crowd.spawn(record(50.0), Appearance::default());
    crowd.change(new, |r| r.translation[0] = 60.0).unwrap();
    assert_eq!(frame(&mut crowd), [(2, 21.0), (3, 60.0)]);
    crowd.change(new, |r| r.translation[0] = 61.0).unwrap();
    assert_eq!(frame(&mut crowd), [(3, 60.0)]);
    to(&mut crowd, 2, 22.0);
    // All at once: one instance moves, from where it was drawn.
    crowd.update_transforms(|all| all.iter_mut().for_each(|transform| transform.translation[0] = 22.0));
    let moved: Vec<_> = frame(&mut crowd);
    assert_eq!(moved.len(), crowd.len());
    assert!(moved.iter().all(|(_, x)| *x != 22.0), "{moved:?}");
    crowd.set_transforms(&[ids[1], ids[0]], &[Transform::at([30.0, 0.0, 0.0]); 2]).unwrap_err();
    assert!(frame(&mut crowd).contains(&(1, 22.0)));
    crowd.clear();
    assert_eq!(frame(&mut crowd), []);
}

#[test]
fn instances_that_moved_together_rest_together() {
    let mut crowd = Instances::new(1, 0, true, Arc::default());
    let ids: Vec<_> = (0..4).map(|i| crowd.spawn(record(i as f32), Appearance::default())).collect();
    // Position of each transform of the previous frame.
    let frame = |crowd: &mut Instances| -> Vec<f32> {
        let (places, changes) = crowd.previous_transforms().unwrap();
        changes.take(places.len(), |_| ());
        places.iter().map(|place| place.transform().translation[0]).collect()
    };
    assert_eq!(frame(&mut crowd), [0.0, 1.0, 2.0, 3.0]);
    // Three of four: the last one stays.
    let to = |x: f32| [x, x + 1.0, x + 2.0].map(|x| Transform::at([x, 0.0, 0.0]));
    crowd.set_transforms(&ids[..3], &to(10.0)).unwrap();
    crowd.change_transform(ids[0], |transform| transform.translation[0] = 15.0).unwrap();
    assert_eq!(frame(&mut crowd), [0.0, 1.0, 2.0, 3.0]);
    crowd.set_transforms(&ids[..3], &to(20.0)).unwrap();
    assert_eq!(frame(&mut crowd), [15.0, 11.0, 12.0, 3.0]);
    // One moves on. Those that rest, and a new one, do not move.
    crowd.change_transform(ids[1], |transform| transform.translation[0] = 31.0).unwrap();
    crowd.despawn(ids[0]).unwrap();
    crowd.spawn(record(7.0), Appearance::default());
    assert_eq!(frame(&mut crowd), [3.0, 21.0, 22.0, 7.0]);
    assert_eq!(frame(&mut crowd), [3.0, 31.0, 22.0, 7.0]);
    // Twice within a frame; then a new one appears, and an old one moves on.
    crowd.update_transforms(|all| all[3].translation[0] = 7.5);
    crowd.update_transforms(|all| all[3].translation[0] = 8.0);
    let new = crowd.spawn(record(9.0), Appearance::default());
    for id in [new, ids[1]] {
        crowd.change_transform(id, |transform| transform.translation[0] += 1.0).unwrap();
    }
    assert_eq!(frame(&mut crowd), [3.0, 31.0, 22.0, 7.0, 10.0]);
    assert_eq!(frame(&mut crowd), [3.0, 32.0, 22.0, 8.0, 10.0]);
    // A frame of many moves after one of few.
    crowd.change_transform(new, |transform| transform.translation[0] = 11.0).unwrap();
    crowd.place(ids[2]);
    crowd.update_transforms(|all| all.iter_mut().for_each(|transform| transform.translation[0] += 0.5));
    assert_eq!(frame(&mut crowd), [3.0, 32.0, 22.5, 8.0, 10.0]);
    crowd.despawn(new).unwrap();
    crowd.update_transforms(|all| all.iter_mut().for_each(|transform| transform.translation[0] -= 0.5));
    assert_eq!(frame(&mut crowd), [3.5, 32.5, 22.5, 8.5]);
    assert_eq!(frame(&mut crowd), [3.0, 32.0, 22.0, 8.0]);
    assert_eq!(frame(&mut crowd), [3.0, 32.0, 22.0, 8.0]);
}

#[test]
fn lent_transforms_are_those_of_the_instances() {
    let mut crowd = Instances::new(1, 0, false, Arc::default());
    let mut ids: Vec<_> = (0..4).map(|i| crowd.spawn(record(i as f32), Appearance::default())).collect();
    let turned = Transform::at([1.0, 2.0, 3.0]).facing(0.123);
    crowd.update_transforms(|all| all[1] = turned);
    crowd.update_transforms(|all| {
        // As it was written, not as it is stored.
        assert_eq!(all[1], turned);
        all[2].scale = f32::NAN;
    });
    let positions = |crowd: &mut Instances| -> Vec<f32> {
        let mut found = Vec::new();
        crowd.update_transforms(|all| {
            assert!(all.iter().all(|transform| transform.scale == 1.0));
            found = all.iter().map(|transform| transform.translation[0]).collect();
        });
        found
    };
    assert_eq!(positions(&mut crowd), [0.0, 1.0, 2.0, 3.0]);
    crowd.change_transform(ids[0], |transform| transform.translation[0] = 10.0).unwrap();
    assert_eq!(positions(&mut crowd), [10.0, 1.0, 2.0, 3.0]);
    ids.push(crowd.spawn(record(4.0), Appearance::default()));
    assert_eq!(positions(&mut crowd), [10.0, 1.0, 2.0, 3.0, 4.0]);
    crowd.set_transforms(&ids, &[5.0; 5].map(|x| Transform::at([x, 0.0, 0.0]))).unwrap();
    assert_eq!(positions(&mut crowd), [5.0; 5]);
    crowd.set_transforms(&ids[3..4], &[Transform::at([6.0, 0.0, 0.0])]).unwrap();
    crowd.despawn(ids[0]).unwrap();
    assert_eq!(positions(&mut crowd), [5.0, 5.0, 5.0, 6.0]);
    crowd.set_motions(&ids[1..2], &[Motion { velocity: [1.0, 0.0, 0.0], ..Motion::STILL }]).unwrap();
    crowd.change_transform(ids[1], |transform| transform.translation[0] = 9.0).unwrap();
    assert_eq!(positions(&mut crowd), [5.0, 9.0, 5.0, 6.0]);
    crowd.set_motions(&ids[1..2], &[Motion::STILL]).unwrap();
    assert_eq!((positions(&mut crowd), crowd.has_motion()), (vec![5.0, 9.0, 5.0, 6.0], false));
    crowd.clear();
    assert_eq!(positions(&mut crowd), []);
}

#[test]
fn adopted_instances_move_from_where_another_crowd_drew_them() {
    // Position of each uploaded transform.
    let frame = |crowd: &mut Instances| {
        let (places, changes) = crowd.previous_transforms().unwrap();
        let mut found = Vec::new();
        changes.take(places.len(), |changed| {
            let x = |index: usize| places[index].transform().translation[0];
            changed.runs(places.len()).for_each(|run| found.extend(run.map(x)));
        });
        found
    };
    for moves in [true, false] {
        let mut crowd = Instances::new(1, 0, true, Arc::default());
        let id = crowd.spawn(record(3.0), Appearance::default());
        crowd.adopt(id);
        if moves {
            crowd.change(id, |r| r.translation[0] = 4.0).unwrap();
        }
        assert_eq!(frame(&mut crowd), [3.0]);
        let rests: &[f32] = if moves { &[4.0] } else { &[] };
        assert_eq!(frame(&mut crowd), rests);
    }
}

#[test]
fn only_changed_elements_are_uploaded() {
    let mut crowd = Instances::new(1, 0, false, Arc::default());
    let ids: Vec<_> = (0..300).map(|i| crowd.spawn(record(i as f32), Appearance::default())).collect();
    assert_eq!(uploads(&mut crowd), [(0, 300)]);
    assert!(uploads(&mut crowd).is_empty());
    crowd.change(ids[299], |r| r.scale = 2.0).unwrap();
    crowd.change(ids[71], |r| r.scale = 2.0).unwrap();
    crowd.change(ids[70], |r| r.scale = 2.0).unwrap();
    crowd.change(ids[71], |r| r.scale = 3.0).unwrap();
    assert_eq!((uploads(&mut crowd), playbacks(&mut crowd)), (vec![(70, 72), (299, 300)], vec![(0, 300)]));
    // Neither a transform that stays nor one that changes uploads a playback record.
    crowd.change(ids[5], |_| ()).unwrap();
    crowd.change_transform(ids[6], |t| t.scale = 3.0).unwrap();
    assert_eq!((uploads(&mut crowd), playbacks(&mut crowd)), (vec![(6, 7)], vec![]));
    crowd.change(ids[7], |r| r.set_paused(true, crate::Time::ZERO)).unwrap();
    crowd.change_appearance(ids[9], |a| a.hidden |= Appearance::INVISIBLE_BIT).unwrap();
    assert_eq!((uploads(&mut crowd), playbacks(&mut crowd)), (vec![(9, 10)], vec![(7, 8)]));
    crowd.despawn(ids[299]).unwrap();
    assert!(uploads(&mut crowd).is_empty());
    crowd.despawn(ids[0]).unwrap();
    assert_eq!(uploads(&mut crowd), [(0, 1)]);
    crowd.change(ids[290], |r| r.scale = 2.0).unwrap();
    crowd.clear();
    assert!(uploads(&mut crowd).is_empty());
    crowd.spawn(record(0.0), Appearance::default());
    crowd.spawn(record(1.0), Appearance::default());
    assert_eq!(uploads(&mut crowd), [(0, 2)]);
    assert!(crowd.change(ids[1], |r| r.scale = 2.0).is_err());
}

/// Packs the transform of a place record one component at a time.
fn packed_words(transform: &Transform) -> [u32; 6] {
    let Transform { translation, scale, rotation } = *transform;
    let finite = |c: f32, other: f32| if c.is_finite() { c } else { other };
    let rotation = crate::transform::unit_rotation(rotation);
    let [x, y, z, w] = rotation.map(|c| (c.clamp(-1.0, 1.0) * 32_767.0 + 12_582_912.0).to_bits() & 0xffff);
    let [a, b, c] = translation.map(|c| finite(c, 0.0).to_bits());
    [a, b, c, finite(scale, 1.0).to_bits(), x | y << 16, z | w << 16]
}

fn place_words(crowd: &Instances) -> Vec<[u32; 6]> {
    crowd.places.iter().map(|place| bytemuck::cast_slice::<_, u32>(&[*place])[..6].try_into().unwrap()).collect()
}

#[test]
fn consecutive_ids_are_set_as_single_ones_are() {
    let mut state = 1_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 1e-42, -0.0, 1.0, -1.0, 1.00004, 2.0];
    let count = 4 * BLOCK + 7;
    let mut transforms: Vec<_> = (0..count)
        .map(|i| {
            let turn = glam::Quat::from_euler(glam::EulerRot::XYZ, i as f32, 0.3, random() as f32);
            Transform::at([i as f32, -0.1, random() as f32]).scaled(0.5).rotated(turn)
        })
        .collect();
    for transform in transforms.iter_mut().step_by(5) {
        let numbers: &mut [f32] = bytemuck::cast_slice_mut(core::slice::from_mut(transform));
        numbers[random() as usize % 8] = odd[random() as usize % odd.len()];
    }
    let mut crowd = Instances::new(1, 0, false, Arc::default());
    let mut ids: Vec<_> = (0..count).map(|i| crowd.spawn(record(i as f32), Appearance::default())).collect();
    let spawned = |i: usize| packed_words(&record(i as f32).transform());
    // In the order of their records.
    assert_eq!(consecutive(1, &crowd.slots, &ids), Some(0..count));
    crowd.set_transforms(&ids, &transforms).unwrap();
    assert_eq!(place_words(&crowd), transforms.iter().map(packed_words).collect::<Vec<_>>());
    crowd.update_transforms(|all| all.copy_from_slice(&transforms));
    assert_eq!(place_words(&crowd), transforms.iter().map(packed_words).collect::<Vec<_>>());
    // Each kind of id that interrupts the order.
    let other = InstanceId { crowd: 2, ..ids[9] };
    let (stale, last) = (ids[BLOCK + 3], ids[count - 1]);
    for (i, id) in ids.iter().enumerate() {
        crowd.change_transform(*id, |transform| *transform = record(i as f32).transform()).unwrap();
    }
    assert_eq!(place_words(&crowd), (0..count).map(spawned).collect::<Vec<_>>());
    crowd.despawn(stale).unwrap();
    // The slot of `stale` gets another generation, and the last record.
    let reborn = crowd.spawn(record(0.0), Appearance::default());
    assert_eq!(reborn.slot, stale.slot);
    ids[9] = other;
    ids.swap(2 * BLOCK + 1, 2 * BLOCK + 2);
    ids[3 * BLOCK + 1] = ids[3 * BLOCK];
    assert_eq!(crowd.set_transforms(&ids, &transforms), Err(StaleId::Instance(other)));
    let mut expected: Vec<_> = (0..count).map(spawned).collect();
    for (id, transform) in ids.iter().zip(&transforms).filter(|(id, _)| **id != other && **id != stale) {
        expected[if *id == last { BLOCK + 3 } else { id.slot as usize }] = packed_words(transform);
    }
    expected[count - 1] = spawned(0);
    assert_eq!(place_words(&crowd), expected);
}

#[test]
fn retired_slots_have_no_consecutive_ids() {
    let mut crowd = Instances::new(1, 0, false, Arc::default());
    let ids = [0.0, 1.0].map(|x| crowd.spawn(record(x), Appearance::default()));
    crowd.slots[1].generation = u32::MAX;
    let last = InstanceId { generation: u32::MAX, ..ids[1] };
    crowd.despawn(last).unwrap();
    assert_eq!(consecutive(1, &crowd.slots, &[last]), None);
    assert_eq!(crowd.set_transforms(&[last], &[Transform::default()]), Err(StaleId::Instance(last)));
}
