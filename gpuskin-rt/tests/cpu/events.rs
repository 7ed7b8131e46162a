//! Events and root motion of playbacks, compared with brute-force searches.

use crate::random::Random;
use glam::{DQuat, DVec3, Vec3};
use gpuskin_rt::internals::playback::{Repeat, phase};
use gpuskin_rt::internals::root_motion::Displacement;
use gpuskin_rt::internals::{
    Aabb, ClipEvent, ClipInfo, ErrorInfo, HeldFrames, InstanceRecord, Playback, RootKey, RootMotion, Time,
};

pub fn clip(phases: &[u32]) -> ClipInfo {
    let events: Vec<ClipEvent> = (0..).zip(phases).map(|(event, &phase)| ClipEvent { event, phase }).collect();
    ClipInfo {
        name: "clip".into(),
        source: "clip".into(),
        first_frame: 0,
        intervals: 1,
        stored: 2,
        held: HeldFrames::NONE,
        stepped: false,
        looped: true,
        duration: 1.0,
        frame_rate: 1.0,
        bounds: Aabb::EMPTY,
        events: events.into(),
        root_motion: None,
        additive: None,
        encoding_error: ErrorInfo::default(),
        motion_error: ErrorInfo::default(),
    }
}

pub fn playback(rate: i64, start: f64, offset: u32, repeat: Repeat) -> Playback {
    let rate = Time::from_bits(rate as u64).words();
    Playback { start: Time::from_secs(start).words(), rate, offset, clip: repeat.flag() }
}

/// Returns the rate for clip lengths per second.
pub fn speed(cycles: f64) -> i64 {
    (cycles * 4_294_967_296.0) as i64
}

pub const REPEATS: [Repeat; 3] = [Repeat::Loop, Repeat::Once, Repeat::PingPong];

fn found(clip: &ClipInfo, playback: &Playback, from: f64, to: f64) -> Vec<(u16, f64)> {
    clip.events_between(playback, from, to).map(|(event, time)| (event, time.as_secs())).collect()
}

#[test]
fn events_fire_once_per_loop_in_playback_order() {
    let steps = clip(&[0, 1 << 30, 3 << 30]);
    let forwards = playback(speed(0.5), 10.0, 0, Repeat::Loop);
    let expected = [(0, 10.0), (1, 10.5), (2, 11.5), (0, 12.0), (1, 12.5), (2, 13.5)];
    assert_eq!(found(&steps, &forwards, 0.0, 14.0), expected);
    assert_eq!(
        found(&steps, &forwards, 10.5, 12.0),
        expected[1..3],
        "the interval includes its start and excludes its end"
    );
    assert_eq!(found(&steps, &forwards, 0.0, 10.0), []);
    let backwards = playback(speed(-0.5), 10.0, 1 << 31, Repeat::Loop);
    assert_eq!(
        found(&steps, &backwards, 0.0, 13.6),
        [(1, 10.5), (0, 11.0), (2, 11.5), (1, 12.5), (0, 13.0), (2, 13.5)]
    );
    let from_zero = playback(speed(-0.5), 10.0, 0, Repeat::Loop);
    assert_eq!(found(&steps, &from_zero, 0.0, 12.1), [(0, 10.0), (2, 10.5), (1, 11.5), (0, 12.0)]);
}

#[test]
fn play_once_fires_no_events_after_its_end() {
    let steps = clip(&[0, 1 << 30, 3 << 30, u32::MAX]);
    let once = |r: f64, offset| playback(speed(r), 10.0, offset, Repeat::Once);
    let all = found(&steps, &once(0.5, 0), 0.0, 1e6);
    assert_eq!(all[..3], [(0, 10.0), (1, 10.5), (2, 11.5)]);
    assert!(all.len() == 4 && all[3].0 == 3 && (12.0 - all[3].1).abs() < 1e-8, "{all:?}");
    assert_eq!(found(&steps, &once(0.5, 1 << 31), 0.0, 1e6).len(), 2);
    assert_eq!(found(&steps, &once(-0.5, 1 << 31), 0.0, 1e6), [(1, 10.5), (0, 11.0)]);
    assert_eq!(found(&steps, &once(-0.5, 0), 0.0, 1e6), [], "a playback that starts at its end fires nothing");
    assert_eq!(found(&steps, &once(0.5, u32::MAX), 0.0, 1e6), []);
    assert_eq!(found(&steps, &once(0.0, 1 << 30), 0.0, 1e6), [], "a playback with rate 0 fires nothing");
}

#[test]
fn ping_pong_fires_each_end_once_per_turn() {
    let steps = clip(&[0, 1 << 30, u32::MAX]);
    // Two seconds forwards, two seconds backwards.
    let there = playback(speed(0.25), 10.0, 0, Repeat::PingPong);
    let expected = [(0, 10.0), (1, 10.5), (2, 12.0), (1, 13.5), (0, 14.0), (1, 14.5), (2, 16.0)];
    assert_eq!(found(&steps, &there, 0.0, 16.1), expected);
    // Starts at a quarter of the clip, playing backwards.
    let back = playback(speed(-0.25), 10.0, 1 << 29, Repeat::PingPong);
    assert_eq!(
        found(&steps, &back, 0.0, 16.0),
        [(1, 10.0), (0, 10.5), (1, 11.0), (2, 12.5), (1, 14.0), (0, 14.5), (1, 15.0)]
    );
}

#[test]
fn events_of_a_week_are_iterated_lazily() {
    let steps = clip(&[1, 2, 1 << 31]);
    for rate in [speed(1.3), i64::MAX, i64::MIN, -1, 1] {
        let p = playback(rate, 0.0, 77, Repeat::Loop);
        let some: Vec<_> = steps.events_between(&p, Time::ZERO, Time::MAX).take(1000).collect();
        assert!(some.windows(2).all(|w| w[0].1 <= w[1].1));
        assert!(rate.unsigned_abs() == 1 || some.len() == 1000, "{rate}");
        assert!(steps.events_between(&p, Time::from_bits(u64::MAX - 9), Time::MAX).count() < 1 << 38 || rate < 0);
    }
}

/// Returns a random playback; all start at about the same time.
fn playbacks(random: &mut Random) -> Playback {
    let rate = match random.below(6) {
        0 => 0,
        1 => random.bits() as i64 >> (20 + random.below(30)),
        _ => speed(f64::from(random.within(-4.0, 4.0))),
    };
    let offset = *random.of(&[0, 1, 1 << 30, 1 << 31, u32::MAX - 1, u32::MAX, random.0 as u32]);
    playback(rate, f64::from(random.within(0.0, 4.0)), offset, *random.of(&REPEATS))
}

fn phases(random: &mut Random) -> Vec<u32> {
    let mut phases: Vec<u32> = (0..random.below(6))
        .map(|_| {
            *random.of(&[0, 1, 2, 1 << 30, 1 << 31, u32::MAX - 1, u32::MAX, random.0 as u32, (random.0 >> 32) as u32])
        })
        .collect();
    phases.sort_unstable();
    phases
}

#[test]
fn consecutive_intervals_fire_every_event_exactly_once() {
    let mut random = Random(4);
    let mut events = 0;
    for _ in 0..3000 {
        let (clip, p) = (clip(&phases(&mut random)), playbacks(&mut random));
        let (from, to) = (Time::ZERO, Time::from_secs(f64::from(random.within(1.0, 12.0))));
        let whole: Vec<_> = clip.events_between(&p, from, to).take(2000).collect();
        let mut cuts: Vec<u64> = (0..random.below(60)).map(|_| random.bits() % to.to_bits()).collect();
        // Cuts at, just before and just after events as well.
        for _ in 0..whole.len().min(20) {
            cuts.push((random.of(&whole).1.to_bits() + u64::from(random.below(3))).saturating_sub(1).min(to.to_bits()));
        }
        cuts.extend([from.to_bits(), to.to_bits()]);
        cuts.sort_unstable();
        let cuts: Vec<Time> = cuts.into_iter().map(Time::from_bits).collect();
        let split: Vec<_> = cuts.windows(2).flat_map(|w| clip.events_between(&p, w[0], w[1])).take(2000).collect();
        assert_eq!(split, whole, "{p:?} {:?}", clip.events);
        assert!(whole.iter().all(|(_, t)| *t >= from && *t < to));
        events += whole.len();
    }
    assert!(events > 20_000, "{events}");
}

/// Compares events with those found by sampling the drawn phase in small steps.
#[test]
fn events_fire_when_drawn_phase_passes_them() {
    let mut random = Random(9);
    let mut events = 0;
    for _ in 0..400 {
        let p = playbacks(&mut random);
        if p.rate_bits().unsigned_abs() >> 32 > 4 {
            continue;
        }
        // Events at the ends have tests of their own.
        let mut at: Vec<u32> = (0..3).map(|_| (random.bits() as u32).clamp(1 << 16, u32::MAX - (1 << 16))).collect();
        at.sort_unstable();
        let clip = clip(&at);
        let step = |i: u64| Time::from_bits(i << 23);
        let place = |time| match phase(&p, time) {
            (_, true) => 1_i64 << 32,
            (phase, false) => i64::from(phase),
        };
        for i in 0..2500 {
            let (a, b) = (place(step(i)), place(step(i + 1)));
            let mut expected: Vec<u16> = Vec::new();
            let wraps = p.repeat() == Repeat::Loop && (a - b).abs() > 1 << 31;
            let turns = p.repeat() == Repeat::PingPong && (a.min(b) < 1 << 27 || a.max(b) > (1 << 32) - (1 << 27));
            if turns {
                continue;
            }
            for (event, e) in (0..).zip(at.iter().map(|e| i64::from(*e))) {
                let forwards = p.rate_bits() > 0;
                let passed = match (wraps, forwards) {
                    (true, true) => e > a || e <= b,
                    (true, false) => e < a || e >= b,
                    (false, _) if a < b => a < e && e <= b,
                    (false, _) => b <= e && e < a,
                };
                let starts = i64::from(p.offset) == e;
                if passed && !starts {
                    expected.push(event);
                }
            }
            // An event exactly at a step was passed by that step: (a, b] of phases is (t, t'] of
            // times.
            let after = |t: Time| Time::from_bits(t.to_bits() + 1);
            let mut told: Vec<u16> =
                clip.events_between(&p, after(step(i)), after(step(i + 1))).map(|(event, _)| event).collect();
            told.sort_unstable();
            assert_eq!(told, expected, "{p:?} {at:?} {:?}", step(i));
            events += told.len();
        }
    }
    assert!(events > 2_000, "{events}");
}

pub fn walk(random: &mut Random, keys: usize) -> ClipInfo {
    let mut at = Displacement::IDENTITY;
    let mut list = Vec::new();
    for _ in 0..keys {
        let rotation = at.rotation.as_quat().to_array();
        list.push(RootKey { translation: at.translation.as_vec3().into(), rotation });
        let turn = DQuat::from_axis_angle(random.direction().as_dvec3(), f64::from(random.within(-0.2, 0.2)));
        at = at * Displacement { rotation: turn, translation: random.vector().as_dvec3() * 0.1 };
    }
    let intervals = keys as u32 - 1;
    ClipInfo {
        root_motion: Some(RootMotion { planar: false, keys: list.into() }),
        intervals,
        stored: keys as u32,
        held: HeldFrames::NONE,
        ..clip(&[])
    }
}

pub fn distance(a: Displacement, b: Displacement) -> f64 {
    a.translation.distance(b.translation) + a.rotation.angle_between(b.rotation)
}

#[test]
fn displacements_of_consecutive_intervals_multiply() {
    let mut random = Random(2);
    for _ in 0..3000 {
        let keys = 2 + random.below(9) as usize;
        let (clip, p) = (walk(&mut random, keys), playbacks(&mut random));
        if p.rate_bits().unsigned_abs() >> 32 > 100 {
            continue;
        }
        let [a, b, c] = [0; 3].map(|_| f64::from(random.within(0.0, 20.0)));
        let between = |from, to| clip.root_displacement(&p, from, to);
        let error = distance(between(a, c), between(a, b) * between(b, c));
        assert!(error < 1e-7, "{p:?} {a} {b} {c}: {error:e}");
        assert!(distance(between(a, b), between(b, a).inverse()) < 1e-7);
        assert_eq!(distance(between(a, a), Displacement::IDENTITY), 0.0);
    }
}

#[test]
fn each_loop_continues_where_previous_one_ended() {
    let key = |x: f32, yaw: f32| RootKey {
        translation: [x, 0.0, 0.0],
        rotation: glam::Quat::from_rotation_y(yaw).to_array(),
    };
    let quarter = std::f32::consts::FRAC_PI_2;
    let keys = vec![key(0.0, 0.0), key(1.0, 0.0), key(2.0, quarter)];
    let clip = ClipInfo {
        root_motion: Some(RootMotion { planar: true, keys: keys.into() }),
        intervals: 2,
        stored: 3,
        held: HeldFrames::NONE,
        ..clip(&[])
    };
    let moved = |rate: f64, repeat, to: f64| clip.root_displacement(&playback(speed(rate), 0.0, 0, repeat), 0.0, to);
    let near = |d: Displacement, x: f64, z: f64| d.translation.distance(DVec3::new(x, 0.0, z)) < 1e-6;
    assert!(near(moved(1.0, Repeat::Loop, 0.25), 0.5, 0.0));
    assert!(near(moved(1.0, Repeat::Loop, 1.0), 2.0, 0.0));
    // Each loop moves forwards and turns left by a quarter, seen from above: the next one moves
    // along -z.
    assert!(near(moved(1.0, Repeat::Loop, 1.5), 2.0, -1.0));
    assert!(near(moved(1.0, Repeat::Loop, 4.0), 0.0, 0.0), "four loops close a square");
    assert!(near(moved(1.0, Repeat::Loop, 4_000_000.25), 0.5, 0.0), "a million rounds and a quarter loop");
    assert!(near(moved(-1.0, Repeat::Loop, 4.0), 0.0, 0.0));
    // Backwards from the start: to where the previous loop came from.
    assert!(near(moved(-1.0, Repeat::Loop, 1.0), 0.0, -2.0), "{:?}", moved(-1.0, Repeat::Loop, 1.0));
    assert!(near(moved(1.0, Repeat::Once, 7.0), 2.0, 0.0));
    assert!(near(moved(0.5, Repeat::PingPong, 2.0), 0.0, 0.0));
    assert!(near(moved(0.5, Repeat::PingPong, 1.5), 1.0, 0.0));
    // Rotated by half a turn and scaled by 2: moves along -x.
    let mut instance = InstanceRecord::default();
    (instance.translation, instance.rotation, instance.scale) = ([10.0, 5.0, 0.0], [0.0, 1.0, 0.0, 0.0], 2.0);
    instance.displace(moved(1.0, Repeat::Loop, 1.0));
    assert!(Vec3::from(instance.translation).distance(Vec3::new(6.0, 5.0, 0.0)) < 1e-4);
    // Rotates to its own left, which is the world's +z: x' = -z.
    assert!(instance.direction(Vec3::X).distance(Vec3::Z) < 1e-3, "{}", instance.direction(Vec3::X));
}

#[test]
fn invalid_root_keys_keep_displacement_finite() {
    let zero = RootKey { translation: [0.0; 3], rotation: [0.0; 4] };
    for keys in [vec![], vec![zero], vec![zero; 3]] {
        let clip = ClipInfo { root_motion: Some(RootMotion { planar: true, keys: keys.into() }), ..clip(&[]) };
        for rate in [i64::MIN, i64::MAX, 0, 5] {
            let moved = clip.root_displacement(&playback(rate, 1.0, 9, Repeat::Loop), Time::ZERO, Time::MAX);
            assert_eq!(moved, Displacement::IDENTITY);
        }
    }
}
