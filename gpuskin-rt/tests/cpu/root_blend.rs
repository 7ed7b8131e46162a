//! Root motion of instances through crossfades, compared with numerical integration.

use crate::events::{REPEATS, clip, distance, playback, speed, walk};
use crate::random::Random;
use glam::{DQuat, DVec3};
use gpuskin_rt::internals::playback::Repeat;
use gpuskin_rt::internals::root_motion::Displacement;
use gpuskin_rt::internals::{ClipInfo, Curve, InstanceRecord, Playback, RootKey, RootMotion, Time};

const CURVES: [Curve; 4] = [Curve::Linear, Curve::Smooth, Curve::EaseIn, Curve::EaseOut];

/// A clip of one second that moves and turns at constant rates.
fn steady(velocity: DVec3, turn_rate: f64) -> ClipInfo {
    let keys = (0..=64).map(|frame| {
        let t = f64::from(frame) / 64.0;
        // Integral of the velocity, which turns.
        let chord = if turn_rate == 0.0 { t } else { 2.0 * (0.5 * turn_rate * t).sin() / turn_rate };
        let moved = DQuat::from_rotation_y(0.5 * turn_rate * t) * velocity * chord;
        RootKey {
            translation: moved.as_vec3().into(),
            rotation: DQuat::from_rotation_y(turn_rate * t).as_quat().to_array(),
        }
    });
    let root_motion = Some(RootMotion { planar: true, keys: keys.collect::<Vec<_>>().into() });
    ClipInfo { root_motion, intervals: 64, stored: 65, ..clip(&[]) }
}

fn playing(clip: u32, rate: f64, start: f64, offset: u32, repeat: Repeat) -> Playback {
    let playback = playback(speed(rate), start, offset, repeat);
    Playback { clip: playback.clip | clip, ..playback }
}

/// Returns the displacement by blended velocities, in small steps. `weights`: of three clips at a time.
fn integrated(
    clips: &[ClipInfo],
    playbacks: [Playback; 3],
    weights: impl Fn(f64) -> [f64; 3],
    (from, to): (f64, f64),
) -> Displacement {
    let steps = 20_000;
    let mut place = Displacement::IDENTITY;
    for i in 0..steps {
        let [a, middle, b] = [0.0, 0.5, 1.0].map(|part| from + (to - from) * (f64::from(i) + part) / f64::from(steps));
        let (mut translation, mut turn) = (DVec3::ZERO, DVec3::ZERO);
        for (playback, weight) in playbacks.iter().zip(weights(middle)) {
            let moved = clips[playback.clip_index()].root_displacement(playback, a, b);
            translation += moved.translation * weight;
            turn += moved.rotation.to_scaled_axis() * weight;
        }
        place = place * Displacement { rotation: DQuat::from_scaled_axis(turn), translation };
    }
    place
}

#[test]
fn crossfade_moves_by_blended_velocities() {
    let clips = [
        steady(DVec3::new(0.0, 0.0, 1.4), 0.0),
        steady(DVec3::new(0.3, 0.0, 3.0), 1.5),
        steady(DVec3::new(0.0, 0.0, -1.0), -2.0),
    ];
    // Metres and radians.
    let most = |fade: f64| 5e-4 + 6e-3 * fade;
    for curve in CURVES {
        for fade in [0.05, 0.3, 1.0, 3.0] {
            let old = playing(0, 1.0, 10.0, 0, Repeat::Loop);
            let next = playing(1, 0.9, 12.0, 1 << 31, Repeat::Loop);
            let mut record = InstanceRecord::playing(old);
            record.play(&next, fade as f32, curve, Time::from_secs(12.0));
            let weights = |time: f64| {
                let weight = f64::from(curve.weight(((time - 12.0) / fade).clamp(0.0, 1.0) as f32));
                [1.0 - weight, weight, 0.0]
            };
            for part in [0.3, 0.7, 1.0, 1.5] {
                let to = 12.0 + part * fade;
                let found = record.root_displacement(&clips, 12.0, to);
                let expected = integrated(&clips, [old, next, next], weights, (12.0, to));
                let error = distance(found, expected);
                // The division into steps is an approximation.
                assert!(error < most(fade), "{curve:?} {fade} {part}: {found:?}, {expected:?}");
            }
            // Interrupted by a third clip, halfway.
            let middle = 12.0 + 0.5 * fade;
            let weight = f64::from(record.weight(Time::from_secs(middle)));
            let third = playing(2, 1.0, middle, 0, Repeat::Loop);
            record.play(&third, fade as f32, curve, Time::from_secs(middle));
            let weights = |time: f64| {
                let third = f64::from(curve.weight(((time - middle) / fade).clamp(0.0, 1.0) as f32));
                [(1.0 - third) * (1.0 - weight), (1.0 - third) * weight, third]
            };
            let found = record.root_displacement(&clips, middle, middle + 1.2 * fade);
            let expected = integrated(&clips, [old, next, third], weights, (middle, middle + 1.2 * fade));
            let error = distance(found, expected);
            assert!(error < most(fade), "{curve:?} {fade}: {found:?}, {expected:?}");
        }
    }
}

#[test]
fn crossfade_to_the_same_clip_moves_as_that_clip() {
    let mut random = Random(3);
    let clips = [walk(&mut random, 9)];
    let alone = playing(0, 0.7, 1.0, 1 << 30, Repeat::Loop);
    let mut record = InstanceRecord::playing(alone);
    record.rebase(Time::from_secs(3.0));
    let next = record.playback();
    record.play(&next, 2.0, Curve::Smooth, Time::from_secs(3.0));
    for to in [3.1, 4.0, 4.9, 9.0] {
        let apart = distance(record.root_displacement(&clips, 3.0, to), clips[0].root_displacement(&alone, 3.0, to));
        // Clips that fade out have phases of 16 bits, and rates of 10.
        assert!(apart < 2e-3, "{to}: {apart}");
    }
}

#[test]
fn crossfade_starts_at_the_old_velocity_and_ends_at_the_new_one() {
    let clips = [steady(DVec3::new(0.0, 0.0, 1.4), 0.8), steady(DVec3::new(0.5, 0.0, 3.0), -2.0)];
    let (old, next) = (playing(0, 1.0, 0.0, 0, Repeat::Loop), playing(1, 1.0, 5.0, 0, Repeat::Loop));
    for curve in CURVES {
        let mut record = InstanceRecord::playing(old);
        record.play(&next, 0.4, curve, Time::from_secs(5.0));
        let short = 1e-4;
        let near = |from: f64, playback: &Playback| {
            let found = record.root_displacement(&clips, from, from + short);
            let alone = clips[playback.clip_index()].root_displacement(playback, from, from + short);
            // Metres and radians per second.
            distance(found, alone) / short
        };
        assert!(near(5.0, &old) < 0.01, "{curve:?}: {}", near(5.0, &old));
        assert!(near(5.4 - short, &next) < 0.25, "{curve:?}: {}", near(5.4 - short, &next));
        assert!(near(5.4, &next) < 0.01 && near(9.0, &next) < 1e-6, "{curve:?}");
    }
}

fn random_record(random: &mut Random, fades: &[f32]) -> InstanceRecord {
    let mut next = |start: f64| {
        let repeat = *random.of(&REPEATS);
        playing(random.below(4), random.within(-3.0, 3.0).into(), start, random.bits() as u32, repeat)
    };
    let mut record = InstanceRecord::playing(next(1.0));
    let plays = [next(2.0), next(2.4), next(2.5)];
    let count = random.below(4) as usize;
    for (playback, time) in plays[..count].iter().zip([2.0, 2.4, 2.5]) {
        let fade = *random.of(fades);
        record.play(playback, fade, *random.of(&CURVES), Time::from_secs(time));
    }
    record
}

fn random_clips(random: &mut Random) -> Vec<ClipInfo> {
    let mut clips: Vec<_> = (0..3)
        .map(|_| {
            let keys = 2 + random.below(9) as usize;
            walk(random, keys)
        })
        .collect();
    clips.push(clip(&[]));
    clips
}

#[test]
fn displacements_of_consecutive_intervals_multiply_within_crossfades() {
    let mut random = Random(7);
    for _ in 0..2000 {
        let (clips, record) = (random_clips(&mut random), random_record(&mut random, &[0.0, 0.01, 0.3, 2.0, 60.0]));
        let [a, b, c] = [0; 3].map(|_| f64::from(random.within(2.0, 6.0)));
        let between = |from, to| record.root_displacement(&clips, from, to);
        let error = distance(between(a, c), between(a, b) * between(b, c));
        assert!(error < 1e-7, "{record:?} {a} {b} {c}: {error:e}");
        assert!(distance(between(a, b), between(b, a).inverse()) < 1e-7);
        // No jump anywhere.
        let step = distance(between(a, b), between(a, b + 1e-6));
        assert!(step < 1e-4, "{record:?} {a} {b}: {step}");
    }
}

#[test]
fn commands_at_any_time_continue_from_there() {
    let mut random = Random(8);
    for _ in 0..500 {
        let (clips, record) = (random_clips(&mut random), random_record(&mut random, &[0.0, 0.1, 0.3, 0.5]));
        let (time, to) = (f64::from(random.within(2.5, 3.0)), f64::from(random.within(4.0, 7.0)));
        // Starting the record anew at its current pose changes nothing but the division into steps and the rounding of
        // clips that fade out.
        let mut again = record;
        again.rebase(Time::from_secs(time));
        let [found, expected] = [&again, &record].map(|record| record.root_displacement(&clips, time, to));
        assert!(distance(found, expected) < 0.01, "{record:?} {time} {to}: {found:?}, {expected:?}");
        let mut paused = record;
        paused.set_paused(true, Time::from_secs(time));
        assert!(distance(paused.root_displacement(&clips, time, to), Displacement::IDENTITY) < 1e-12);
    }
}

#[test]
fn layers_and_clips_without_root_motion_move_nothing() {
    let clips = [clip(&[]), steady(DVec3::Z, 0.0)];
    let idle = InstanceRecord::playing(playing(0, 1.0, 0.0, 0, Repeat::Loop)).with_layer_set(3);
    assert_eq!(idle.root_displacement(&clips, 1.0, 9.0), Displacement::IDENTITY);
    // Comes to rest: with a linear weight, half of the way of the clip alone.
    let mut stops = InstanceRecord::playing(playing(1, 1.0, 0.0, 0, Repeat::Loop));
    stops.play(&playing(0, 1.0, 2.0, 0, Repeat::Loop), 1.0, Curve::Linear, Time::from_secs(2.0));
    let way = stops.root_displacement(&clips, 2.0, 9.0).translation;
    assert!(way.distance(DVec3::Z * 0.5) < 1e-4, "{way}");
}

#[test]
fn odd_records_and_keys_give_finite_displacements() {
    let zero = RootKey { translation: [1e30, -1e30, 0.0], rotation: [0.0; 4] };
    let root_motion = Some(RootMotion { planar: true, keys: vec![zero; 3].into() });
    let clips = [ClipInfo { root_motion, intervals: 2, stored: 3, ..clip(&[]) }, steady(DVec3::Z, 3.0)];
    let mut random = Random(9);
    for _ in 0..5_000 {
        let words: [u32; 18] = core::array::from_fn(|i| match i {
            0..8 => 0,
            // Times and fades that end at the limits.
            _ => {
                *random.of(&[0, 1, u32::MAX, 0xffff_0000, 0x8000_0000])
                    ^ if random.below(2) == 0 { random.bits() as u32 } else { 0 }
            }
        });
        let record: InstanceRecord = bytemuck::cast(words);
        for (from, to) in
            [(Time::ZERO, Time::MAX), (Time::MAX, Time::from_secs(1e9)), (Time::from_secs(1.0), Time::from_secs(2.0))]
        {
            let found = record.root_displacement(&clips, from, to);
            assert!(
                found.translation.is_finite() && found.rotation.is_finite(),
                "{record:?} {from:?} {to:?}: {found:?}"
            );
        }
    }
}

#[test]
fn opposite_half_turns_cancel_out() {
    let half_turn = |y: f32| {
        let keys = vec![RootKey::IDENTITY, RootKey { translation: [0.0; 3], rotation: [0.0, y, 0.0, 0.0] }];
        let root_motion = Some(RootMotion { planar: true, keys: keys.into() });
        ClipInfo { root_motion, ..clip(&[]) }
    };
    let clips = [half_turn(1.0), half_turn(-1.0)];
    // One step, and one loop within it.
    let [old, next] = [0, 1].map(|clip| playing(clip, 32.0, 0.0, 0, Repeat::Loop));
    let mut record = InstanceRecord::playing(old);
    record.play(&next, 1.0 / 32.0, Curve::Linear, Time::ZERO);
    assert_eq!(record.root_displacement(&clips, 0.0, 1.0 / 32.0), Displacement::IDENTITY);
}
