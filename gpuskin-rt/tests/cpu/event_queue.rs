//! Events that a queue fires for many instances, compared with `ClipInfo::events_between` per
//! instance.

use crate::random::Random;
use gpuskin_rt::internals::event_queue::MAX_FIRED_EVENTS;
use gpuskin_rt::internals::playback::{Repeat, rate};
use gpuskin_rt::internals::{
    Aabb, ClipEvent, ClipInfo, ErrorInfo, EventQueue, FiredEvent, FiredEventKind, HeldFrames, Playback, Time,
};

fn clip(events: &[(u16, u32)], duration: f64) -> ClipInfo {
    let events: Vec<ClipEvent> = events.iter().map(|&(event, phase)| ClipEvent { event, phase }).collect();
    ClipInfo {
        name: "clip".into(),
        source: "clip".into(),
        first_frame: 0,
        intervals: 1,
        stored: 2,
        held: HeldFrames::NONE,
        stepped: false,
        looped: true,
        duration,
        frame_rate: 1.0 / duration,
        bounds: Aabb::EMPTY,
        events: events.into(),
        root_motion: None,
        additive: None,
        encoding_error: ErrorInfo::default(),
        motion_error: ErrorInfo::default(),
    }
}

fn clips() -> Vec<ClipInfo> {
    vec![
        clip(&[(0, 0), (1, 1 << 31)], 0.7),
        clip(&[], 1.3),
        clip(&[(2, 5), (3, 5), (0, 1 << 30), (4, u32::MAX)], 40.0),
        clip(&[(5, 77)], 4000.0),
        clip(&[(6, 1 << 29)], 1e7),
    ]
}

fn playing(clip: usize, speed: f64, start: Time, offset: u32, repeat: Repeat) -> Playback {
    let rate = Time::from_bits(rate(speed, clips()[clip].duration) as u64).words();
    Playback { start: start.words(), rate, offset, clip: clip as u32 | repeat.flag() }
}

/// Returns a random playback of clip `first_clip` or a later one; later clips are longer.
fn random_playback(random: &mut Random, now: Time, first_clip: u32) -> Playback {
    let clip = (first_clip + random.below(5 - first_clip)) as usize;
    let speed = *random.of(&[1.0, 0.9, -1.1, 3.0, 0.0]);
    let start = now + f64::from(random.within(-2.0, 2.0));
    let repeat = *random.of(&[Repeat::Loop, Repeat::Once, Repeat::PingPong]);
    playing(clip, speed, start, random.bits() as u32, repeat)
}

type Told = Vec<(u64, u32, u32)>;

fn kind(kind: FiredEventKind) -> u32 {
    match kind {
        FiredEventKind::Event(event) => event.into(),
        FiredEventKind::Finished => u32::MAX,
        FiredEventKind::LayerFinished(_) => panic!("a queue knows no layers"),
    }
}

fn sorted(notices: impl Iterator<Item = FiredEvent<u32>>) -> Told {
    let mut told: Told = notices.map(|n| (n.time.to_bits(), n.instance, kind(n.kind))).collect();
    assert!(told.is_sorted_by_key(|t| t.0), "not in order of time");
    told.sort_unstable();
    told
}

/// Adds the events of a playback within `from..to`, found without a queue.
fn asked(told: &mut Told, clips: &[ClipInfo], instance: u32, playback: &Playback, from: Time, to: Time) {
    let events = clips[playback.clip_index()].events_between(playback, from, to);
    told.extend(events.map(|(event, time)| (time.to_bits(), instance, event.into())));
    let at_end = if playback.rate_bits() < 0 { 0 } else { u32::MAX };
    let end = playback.finishes_at().filter(|end| (from..to).contains(end) && playback.offset != at_end);
    if let Some(end) = end {
        told.push((end.to_bits(), instance, u32::MAX));
    }
}

#[test]
fn every_event_fires_once_under_any_commands() {
    let clips = clips();
    for (seed, longest, first_clip) in [(1, 0.03, 0), (2, 0.3, 0), (3, 5.0, 0), (4, 100.0, 2), (5, 20_000.0, 3)] {
        let mut random = Random(seed);
        let mut queue = EventQueue::new();
        // Slot, name, playback and start time.
        let mut alive: Vec<(u32, u32, Playback, Time)> = Vec::new();
        let mut free: Vec<u32> = (0..300).collect();
        let (mut now, mut names, mut notices) = (Time::from_secs(1000.0), 0, 0);
        let mut expected = Told::new();
        for _ in 0..400 {
            for _ in 0..random.below(20) {
                let command = random.below(3);
                if command == 0 || alive.is_empty() {
                    let Some(slot) = free.pop() else { continue };
                    let playback = random_playback(&mut random, now, first_clip);
                    queue.play(&clips, slot, names, playback, now);
                    alive.push((slot, names, playback, now));
                    names += 1;
                } else {
                    let i = random.below(alive.len() as u32) as usize;
                    let (slot, name, playback, since) = alive[i];
                    asked(&mut expected, &clips, name, &playback, since, now);
                    if command == 1 {
                        queue.stop(&clips, slot, now);
                        free.push(slot);
                        alive.swap_remove(i);
                    } else {
                        let next = random_playback(&mut random, now, first_clip);
                        queue.play(&clips, slot, name, next, now);
                        alive[i] = (slot, name, next, now);
                    }
                }
                // Commands have times of their own between two drains.
                now = now + f64::from(random.within(0.0, 0.001));
            }
            now = now + f64::from(random.within(0.0, longest));
            for (_, name, playback, since) in &mut alive {
                asked(&mut expected, &clips, *name, playback, *since, now);
                *since = now;
            }
            expected.sort_unstable();
            let told = sorted(queue.drain(&clips, now));
            assert_eq!(told, expected, "{seed}");
            assert!(!queue.overflowed());
            notices += told.len();
            expected.clear();
            assert_eq!(queue.drain(&clips, now).count(), 0);
        }
        assert!(notices > 100, "{notices}");
    }
}

#[test]
fn distant_times_and_time_max_fire() {
    let clips = clips();
    let mut queue = EventQueue::new();
    let far = [3.0, 100.0, 1e4, 1e6, 1e8, 4e9].map(Time::from_secs);
    for (slot, start) in (0..).zip(far) {
        queue.play(&clips, slot, slot, playing(0, 1.0, start, 1 << 31, Repeat::Once), Time::ZERO);
    }
    for (slot, start) in (0..).zip(far) {
        let told = sorted(queue.drain(&clips, start));
        assert!(told.is_empty(), "{told:?}");
        let told = sorted(queue.drain(&clips, start + 0.1));
        assert_eq!(told, [(start.to_bits(), slot, 1)]);
        let told = sorted(queue.drain(&clips, start + 1.0));
        assert!(told.len() == 1 && told[0].2 == u32::MAX);
    }
    queue.play(&clips, 0, 0, playing(0, 1.0, Time::MAX - 5.0, 0, Repeat::Loop), Time::MAX - 10.0);
    assert!(queue.drain(&clips, Time::MAX).count() >= 14);
    assert_eq!(queue.drain(&clips, Time::MAX).count(), 0);
}

#[test]
fn decreasing_time_fires_no_event_twice() {
    let clips = clips();
    let mut queue = EventQueue::new();
    queue.play(&clips, 0, 0, playing(0, 1.0, Time::from_secs(10.0), 0, Repeat::Loop), Time::from_secs(10.0));
    assert_eq!(queue.drain(&clips, Time::from_secs(20.0)).count(), 29);
    assert_eq!(queue.drain(&clips, Time::from_secs(15.0)).count(), 0);
    // The command uses the earlier time; its events fire when the queue is drained.
    queue.play(&clips, 1, 1, playing(0, 1.0, Time::from_secs(15.0), 0, Repeat::Once), Time::from_secs(15.0));
    assert_eq!(queue.drain(&clips, Time::from_secs(15.2)).count(), 1);
    assert_eq!(queue.drain(&clips, Time::from_secs(20.0)).count(), 2);
    assert_eq!(queue.drain(&clips, Time::from_secs(21.0)).count(), 3);
}

#[test]
fn jump_of_a_week_drains_a_bounded_number_of_events() {
    let clips = clips();
    let mut queue = EventQueue::new();
    for slot in 0..1000 {
        queue.play(&clips, slot, slot, playing(0, 1.0, Time::ZERO, slot << 20, Repeat::Loop), Time::ZERO);
    }
    let fast = Playback { rate: [1 << 30, 0], ..playing(0, 1.0, Time::ZERO, 0, Repeat::Loop) };
    queue.play(&clips, 1000, 1000, fast, Time::ZERO);
    let week = 7.0 * 86_400.0;
    assert_eq!(queue.drain(&clips, Time::from_secs(week)).count(), MAX_FIRED_EVENTS);
    assert!(queue.overflowed());
    queue.stop(&clips, 1000, Time::from_secs(week));
    // 1000 instances, two events each in 0.7 s.
    let second = queue.drain(&clips, Time::from_secs(week + 0.7)).count();
    assert!((1990..=2010).contains(&second) && !queue.overflowed(), "{second}");
}

#[test]
fn invalid_clips_and_slots_fire_nothing() {
    let clips = clips();
    let mut queue = EventQueue::new();
    let none = Playback { clip: 999, ..playing(0, 1.0, Time::ZERO, 0, Repeat::Loop) };
    queue.play(&clips, 7, 7, none, Time::ZERO);
    queue.stop(&clips, 8, Time::ZERO);
    queue.stop(&clips, u32::MAX, Time::ZERO);
    assert_eq!(queue.drain(&clips, Time::from_secs(100.0)).count(), 0);
    queue.play(&clips, 7, 7, playing(0, 1.0, Time::ZERO, 0, Repeat::Loop), Time::from_secs(100.0));
    queue.clear();
    assert_eq!(queue.drain(&clips, Time::from_secs(200.0)).count(), 0);
}
