//! Events of a crowd without commands: the cost of `EventQueue::drain` must follow the number of
//! fired events, not of instances.

use gpuskin_rt::internals::playback::{Repeat, rate};
use gpuskin_rt::internals::{ClipEvent, ClipInfo, EventQueue, Playback, Time};

use crate::report::{heading, line, median, seconds};

const COUNTS: [u32; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Number of frames, 1/60 s each.
const FRAMES: u32 = 600;
/// Duration of a clip with one event, in seconds: 100,000 instances fire a thousand events per
/// frame.
const DURATION: f64 = 1.667;

pub(crate) fn measure() {
    heading("events per frame, all instances playing: EventQueue::drain");
    let clip = ClipInfo {
        duration: DURATION,
        events: vec![ClipEvent { event: 0, phase: 1 << 30 }].into(),
        ..crate::models::SOLDIER.meta.clips[0].clone()
    };
    let clips = [clip];
    let mut at_100_000 = None;
    for count in COUNTS {
        let mut queue = EventQueue::new();
        let (inserted, ()) = seconds(|| (0..count).for_each(|i| queue.play(&clips, i, i, playback(i), Time::ZERO)));
        let (mut times, mut found) = (Vec::new(), 0);
        for frame in 1..=FRAMES {
            let now = Time::from_secs(f64::from(frame) / 60.0);
            let (time, notices) = seconds(|| queue.drain(&clips, now).count());
            found += notices;
            times.push(time);
        }
        let (each, time) = (inserted / f64::from(count), median(times));
        let found = found as f64 / f64::from(FRAMES);
        let text = format!("{:.1} us for {found:.0} events: {:.0} ns each", time * 1e6, time * 1e9 / found);
        line(&format!("{count} instances ({:.0} ns per play)", each * 1e9), text);
        if count == 100_000 {
            at_100_000 = Some((queue, time));
        }
    }
    let Some((mut queue, drain)) = at_100_000 else { return };
    // For comparison, every instance is queried without the queue.
    let (now, then) = (Time::from_secs(11.0), Time::from_secs(11.0 + 1.0 / 60.0));
    let asked = |i| clips[0].events_between(&playback(i), now, then).count();
    let (scan, found) = seconds(|| (0..100_000).map(asked).sum::<usize>());
    line(
        "100000 instances, events_between of each",
        format!("{:.0} us for {found}: {:.0} x", scan * 1e6, scan / drain),
    );
    queue.drain(&clips, now).for_each(drop);
    let command = |i: u32| queue.play(&clips, i.wrapping_mul(7919) % 100_000, i, playback(i + 1), now);
    let (commands, ()) = seconds(|| (0..1000).for_each(command));
    line("100000 instances, 1000 commands", format!("{:.0} us", commands * 1e6));
}

/// Playback of an instance, with its own rate and phase.
fn playback(i: u32) -> Playback {
    let speed = 0.8 + 0.4 * (f64::from(i) * 0.618).fract();
    Playback {
        start: Time::ZERO.words(),
        rate: Time::from_bits(rate(speed, DURATION) as u64).words(),
        offset: i.wrapping_mul(2_654_435_769),
        clip: Repeat::Loop.flag(),
    }
}
