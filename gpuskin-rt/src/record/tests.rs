use glam::Quat;

use super::*;
use crate::playback::{phase, rate};

const NOW: Time = Time::from_bits(5 << 32);

fn playback(clip: u32, speed: f64, offset: u32) -> Playback {
    Playback { start: NOW.words(), rate: Time::from_bits(rate(speed, 1.0) as u64).words(), offset, clip }
}

/// Returns clip, weight and phase of each visible clip.
fn shares(record: &InstanceRecord, time: Time) -> Vec<(u32, f32, f64)> {
    let weight = record.weight(time);
    let older = if weight < 1.0 { record.older() } else { 0.0 };
    let at = |p: Playback| f64::from(phase(&p, time).0) / 4_294_967_296.0;
    let parts = [
        (record.playback(), weight),
        (record.source(0), (1.0 - weight) * (1.0 - older)),
        (record.source(1), (1.0 - weight) * older),
    ];
    let mut shares: Vec<_> = parts.into_iter().filter(|p| p.1 > 0.0).map(|(p, w)| (p.clip, w, at(p))).collect();
    shares.sort_by_key(|share| share.0);
    shares
}

fn same(a: &[(u32, f32, f64)], b: &[(u32, f32, f64)], tolerance: f64) {
    assert_eq!(a.len(), b.len(), "{a:?} {b:?}");
    for (a, b) in a.iter().zip(b) {
        let (weights, places) = (f64::from(a.1 - b.1).abs(), (a.2 - b.2).abs());
        assert!(a.0 == b.0 && weights < tolerance && places.min(1.0 - places) < tolerance, "{a:?} {b:?}");
    }
}

#[test]
fn record_is_a_transform_and_ten_words() {
    assert_eq!([size_of::<PlaceRecord>(), size_of::<PlaybackRecord>(), size_of::<InstanceRecord>()], [32, 48, 72]);
    assert_eq!(core::mem::offset_of!(InstanceRecord, rotation), 16);
    assert_eq!(core::mem::offset_of!(InstanceRecord, start), 32);
    assert_eq!(core::mem::offset_of!(InstanceRecord, fade), 52);
    let mut record = InstanceRecord::playing(playback(3, 1.5, 77));
    record.set_transform(Transform::at([1.0, 2.0, 3.0]).facing(0.4).scaled(2.0));
    let words = record.played(([5, 6], 200));
    assert_eq!((&words[..2], &words[10..]), (&NOW.words()[..], &[5, 6][..]));
    assert_eq!(InstanceRecord::new(record.transform(), words), record);
    let look = crate::Appearance { tint: [1, 2, 3, 4], hidden: 9, custom: [5, 6], variant: 200 };
    let place = PlaceRecord::new(record.transform(), &look);
    assert_eq!(place.appearance(&words), look);
    let (found, set) = (place.transform(), record.transform());
    assert_eq!((found.translation, found.scale), (set.translation, set.scale));
    assert!(Vec4::from(found.rotation).abs_diff_eq(Vec4::from(set.rotation), 2e-5));
}

#[test]
fn rotate_ignores_quaternion_length() {
    let q = Quat::from_xyzw(0.1, -0.4, 0.3, 0.8).normalize();
    let v = Vec3::new(1.0, 2.0, -3.0);
    assert!(rotate(Vec4::from(q) * 1.001, v).abs_diff_eq(q * v, 1e-5));
}

#[test]
fn packed_rate_keeps_relative_precision() {
    for exponent in 0..63 {
        for mantissa in [1.0, 1.3, 1.999_999_9] {
            let exact = (2.0_f64.powi(exponent) * mantissa) as i64;
            for rate in [exact, -exact] {
                let error = |unpacked: i64| (unpacked as f64 - rate as f64).abs() / (rate as f64).abs();
                let fits = rate.unsigned_abs() < (1 << 57) - (1 << 30);
                let wide = unpack_rate::<RATE_BITS>(pack_rate::<RATE_BITS>(rate));
                assert!(if fits { error(wide) < 1.6e-8 } else { wide.signum() == rate.signum() }, "{rate} {wide}");
                let fits = rate.unsigned_abs() < (1 << 41) - (1 << 30);
                let narrow = unpack_rate::<FADING_RATE_BITS>(pack_rate::<FADING_RATE_BITS>(rate));
                assert!(
                    if fits { error(narrow) < 1.1e-3 } else { narrow.signum() == rate.signum() },
                    "{rate} {narrow}"
                );
            }
        }
    }
    for rate in [0, 1, -1, 1 << 32, i64::MIN, i64::MAX] {
        assert_eq!(unpack_rate::<RATE_BITS>(pack_rate::<RATE_BITS>(rate)).signum(), rate.signum());
    }
    assert_eq!(unpack_rate::<RATE_BITS>(pack_rate::<RATE_BITS>(1 << 32)), 1 << 32);
}

#[test]
fn playback_round_trips() {
    for flag in [0, Playback::ONCE, Playback::PING_PONG] {
        let p = playback(16_383 | flag, -0.25, 0x1234_5678);
        let record = InstanceRecord::playing(p);
        assert_eq!((record.playback(), record.clip_index(), record.weight(NOW)), (p, 16_383, 1.0));
    }
}

#[test]
fn crossfade_moves_weight_to_new_clip() {
    let mut record = InstanceRecord::playing(playback(1, 1.0, 1 << 30));
    let start = NOW + 2.0;
    let before = shares(&record, start);
    record.play(&playback(2, 0.5, 0), 0.4, Curve::Linear, start);
    same(&shares(&record, start), &before, 2e-5);
    same(&shares(&record, start + 0.1), &[(1, 0.75, 0.35), (2, 0.25, 0.05)], 1e-3);
    same(&shares(&record, start + 0.5), &[(2, 1.0, 0.25)], 1e-6);
    assert_eq!(record.weight(start + 1e6), 1.0);
    // A completed crossfade leaves nothing in the record.
    record.rebase(start + 1.0);
    assert_eq!(record.fade, [FADED, 0]);
}

#[test]
fn interrupted_crossfade_continues_from_current_blend() {
    for curve in [Curve::Linear, Curve::Smooth, Curve::EaseIn, Curve::EaseOut] {
        let mut record = InstanceRecord::playing(playback(1, 0.3, 0));
        record.play(&playback(2, 0.5, 0), 0.4, curve, NOW);
        let first = NOW + 0.15;
        let before = shares(&record, first);
        record.play(&playback(3, 1.0, 0), 0.4, curve, first);
        same(&shares(&record, first), &before, 3e-5);
        // All three clips are visible now.
        assert_eq!(shares(&record, first + 0.1).len(), 3);

        // A fourth clip: the one with the least weight is dropped, and no other changes by more
        // than that weight.
        let second = first + 0.3;
        let before = shares(&record, second);
        let least = before.iter().map(|share| share.1).reduce(f32::min).unwrap();
        record.play(&playback(4, 1.0, 0), 0.4, curve, second);
        let after = shares(&record, second);
        assert_eq!(after.len(), 2);
        for (clip, weight, _) in after {
            let shown = before.iter().find(|share| share.0 == clip).unwrap().1;
            assert!(weight >= shown - 1e-4 && weight <= shown + least + 1e-4, "{before:?}");
        }
    }
}

/// Playback does not change the number of the layer set, and the number does not change playback.
#[test]
fn layer_set_number_survives_playback() {
    for number in [0, 1, 0xffff, 0x1_0000, 0xa_5a5a, MAX_LAYER_SET] {
        let mut record = InstanceRecord::playing(playback(16_383 | Playback::PING_PONG, 1.0, 0)).with_layer_set(number);
        let mut plain = record.with_layer_set(0);
        let changes: [&dyn Fn(&mut InstanceRecord); 7] = [
            &|r| r.play(&playback(3, 0.5, 0), 0.4, Curve::EaseOut, NOW + 0.1),
            &|r| r.play(&playback(4_900, 1.0, 0), 0.4, Curve::EaseIn, NOW + 0.2),
            &|r| r.play(&playback(8_191, -1.0, 0), 0.4, Curve::Smooth, NOW + 0.3),
            &|r| r.rebase(NOW + 0.35),
            &|r| r.set_rate(0, NOW + 0.4),
            &|r| r.rebase(NOW + 2.0),
            &|r| r.play(&playback(1, 1.0, 0), 0.0, Curve::Linear, NOW + 3.0),
        ];
        for (i, change) in changes.into_iter().enumerate() {
            change(&mut record);
            change(&mut plain);
            assert_eq!(record.layer_set(), number, "change {i}");
            assert_eq!(record.with_layer_set(0), plain, "number {number}, change {i}");
        }
    }
}

#[test]
fn cut_removes_fading_clips() {
    let mut record = InstanceRecord::playing(playback(1, 1.0, 0));
    for fade in [0.0, -1.0, f32::NAN] {
        record.play(&playback(2, 1.0, 0), 0.2, Curve::Smooth, NOW + 1.0);
        record.play(&playback(1, 1.0, 0), fade, Curve::Smooth, NOW + 1.1);
        assert_eq!(shares(&record, NOW + 1.1), [(1, 1.0, 0.0)], "{fade}");
    }
}

#[test]
fn rate_change_and_pause_do_not_jump() {
    let mut record = InstanceRecord::playing(playback(1, 1.0, 0));
    record.play(&playback(2, 1.0, 0), 1.0, Curve::Smooth, NOW);
    let changed_at = NOW + 0.5;
    let before = shares(&record, changed_at);
    record.set_rate(rate(-3.0, 1.0), changed_at);
    same(&shares(&record, changed_at), &before, 2e-5);
    same(&shares(&record, changed_at + 0.1)[1..], &[(2, 0.648, 0.2)], 1e-3);

    record.set_paused(true, changed_at);
    same(&shares(&record, changed_at + 1e5), &before, 4e-5);
    record.set_paused(false, changed_at + 1e5);
    same(&shares(&record, changed_at + 1e5), &before, 6e-5);
    same(&shares(&record, changed_at + 1e5 + 0.1)[1..], &[(2, 0.648, 0.2)], 1e-3);
}

#[test]
fn play_once_finishes() {
    let mut record = InstanceRecord::playing(playback(Playback::ONCE, 2.0, 0));
    assert!(!record.is_finished(NOW) && !record.is_finished(NOW + 0.499) && record.is_finished(NOW + 0.5));
    record.rebase(NOW + 3.0);
    assert!(record.is_finished(NOW + 3.0) && record.is_finished(NOW + 4.0));
    record.set_rate(rate(-1.0, 1.0), NOW + 4.0);
    assert!(!record.is_finished(NOW + 4.5) && record.is_finished(NOW + 5.1));
    record.seek(0.25, NOW + 6.0);
    assert!((f64::from(phase(&record.playback(), NOW + 6.0).0) / 4_294_967_296.0 - 0.25).abs() < 1e-9);
    let looping = InstanceRecord::playing(playback(0, 2.0, 0));
    assert!(!looping.is_finished(NOW + 9.0));
}

#[test]
fn rebase_before_start_changes_nothing() {
    let mut record = InstanceRecord::playing(playback(1, 1.0, 1 << 29));
    let copy = record;
    record.rebase(NOW - 2.0);
    assert_eq!(record, copy);
    assert_eq!(shares(&record, NOW - 2.0), shares(&record, NOW));
}

#[test]
fn crossfade_is_as_smooth_after_a_week() {
    let week = NOW + 7.0 * 86_400.0;
    let mut record = InstanceRecord::playing(playback(1, 1.0 / 0.7, 0));
    record.play(&playback(2, 1.0 / 1.3, 0), 0.5, Curve::Linear, week);
    let weights: Vec<f32> = (0..30).map(|i| record.weight(week + f64::from(i) / 60.0)).collect();
    for (i, pair) in weights.windows(2).enumerate() {
        assert!((pair[1] - pair[0] - 1.0 / 30.0).abs() < 1e-5, "{i}: {pair:?}");
    }
}
