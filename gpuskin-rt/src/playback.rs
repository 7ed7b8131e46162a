//! Which two frames an instance shows, and how far between them. Twin of `shaders/playback.wgsl`.
//!
//! All of it is integer arithmetic: the phase of a clip is a fraction of its length in 0.32 fixed point, so a loop is
//! the natural wrap of a word, and neither a long run nor a long clip costs precision.

use bytemuck::{Pod, Zeroable};

use crate::Time;

/// What playback needs to know of a clip: 16 bytes, as the shaders read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ClipRecord {
    /// Index of the clip's first frame in the animation texture.
    pub first_frame: u32,
    /// Intervals between frames from the clip's start to its end, at least 1. Frame i stands at i / intervals.
    pub intervals: u32,
    /// Frames stored: `intervals + 1`, or `intervals` where the last pose is the first (a closed loop); less those that
    /// [`Self::held`] leaves out.
    pub stored: u32,
    /// [`HeldFrames::bits`].
    pub held: u32,
}

impl ClipRecord {
    /// Index in the animation texture of what a frame shows; `frame` up to `intervals`.
    pub const fn stored_frame(&self, frame: u32) -> u32 {
        let row = HeldFrames::from_bits(self.held).row(frame);
        self.first_frame + if row >= self.stored { row - self.stored } else { row }
    }

    /// Whether every frame up to `intervals` shows one that is stored.
    pub(crate) fn is_sound(&self) -> bool {
        let held = HeldFrames::from_bits(self.held);
        let (intervals, all) = (u64::from(self.intervals), u64::from(self.stored) + u64::from(held.count));
        let within = u64::from(held.first) + u64::from(held.count) <= intervals;
        intervals > 0 && self.stored > 0 && (all == intervals || all == intervals + 1) && within
    }
}

/// Frames of a clip that all show one pose, of which the first is stored for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct HeldFrames {
    /// The first of them.
    pub first: u16,
    /// How many follow it, and are not stored.
    pub count: u16,
}

impl HeldFrames {
    /// All frames are stored.
    pub const NONE: Self = Self { first: 0, count: 0 };

    /// As shaders read it: the first in the lower half.
    pub const fn bits(self) -> u32 {
        self.first as u32 | (self.count as u32) << 16
    }

    /// Of [`Self::bits`].
    pub const fn from_bits(bits: u32) -> Self {
        Self { first: bits as u16, count: (bits >> 16) as u16 }
    }

    /// The place of a frame among those that are stored.
    pub const fn row(self, frame: u32) -> u32 {
        let after = frame.saturating_sub(self.first as u32);
        frame - if after < self.count as u32 { after } else { self.count as u32 }
    }

    /// The first frame at a place among those that are stored.
    pub const fn frame(self, row: u32) -> u32 {
        if row > self.first as u32 { row + self.count as u32 } else { row }
    }
}

/// What a clip does at its ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Repeat {
    /// Starts over.
    #[default]
    Loop,
    /// Holds the last pose; the first, when running backwards.
    Once,
    /// Turns round.
    PingPong,
}

/// Playback of a clip: what an [`InstanceRecord`](crate::InstanceRecord) holds, unpacked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Playback {
    /// When it started: [`Time::words`]. Before that the instance holds the pose at `offset`.
    pub start: [u32; 2],
    /// Cycles per second, signed 32.32 fixed point: `[whole, fraction]` of the two's complement. A cycle is the length of
    /// the clip; there and back in [`Repeat::PingPong`].
    pub rate: [u32; 2],
    /// Where it started, 0.32 fixed point of a cycle.
    pub offset: u32,
    /// Bits 0..16: index of the clip. Bits 30 and 31: [`Playback::PING_PONG`], [`Playback::ONCE`].
    pub clip: u32,
}

impl Playback {
    /// Flag in [`Playback::clip`]: hold the last pose (the first, when running backwards).
    pub const ONCE: u32 = 1 << 31;
    /// Flag in [`Playback::clip`]: turn round at both ends.
    pub const PING_PONG: u32 = 1 << 30;
    const CLIP_MASK: u32 = 0xffff;

    /// Index of the clip.
    pub const fn clip_index(&self) -> usize {
        (self.clip & Self::CLIP_MASK) as usize
    }

    /// What the clip does at its ends.
    pub const fn repeat(&self) -> Repeat {
        match (self.clip & Self::ONCE, self.clip & Self::PING_PONG) {
            (0, 0) => Repeat::Loop,
            (0, _) => Repeat::PingPong,
            _ => Repeat::Once,
        }
    }

    /// The rate as a number: cycles per second in 32.32 fixed point.
    pub const fn rate_bits(&self) -> i64 {
        Time::from_words(self.rate).to_bits() as i64
    }
}

impl Repeat {
    /// The flag in [`Playback::clip`].
    pub const fn flag(self) -> u32 {
        match self {
            Self::Loop => 0,
            Self::Once => Playback::ONCE,
            Self::PingPong => Playback::PING_PONG,
        }
    }

    /// Lengths of the clip in a cycle.
    pub const fn lengths(self) -> f64 {
        match self {
            Self::PingPong => 2.0,
            _ => 1.0,
        }
    }
}

/// Cycles per second in 32.32 fixed point, for a clip of `duration` seconds at `speed` times its own pace.
/// A clip without length, and a speed that is not finite, stand still.
pub fn rate(speed: f64, duration: f64) -> i64 {
    let cycles = speed / duration;
    if cycles.is_finite() { (cycles * 4_294_967_296.0).round() as i64 } else { 0 }
}

/// A fraction of a clip's length in 0.32 fixed point. Values outside 0..1 wrap.
pub fn wrapped_offset(fraction: f64) -> u32 {
    if !fraction.is_finite() {
        return 0;
    }
    ((fraction - fraction.floor()) * 4_294_967_296.0) as u32
}

/// A fraction of a clip's length in 0.32 fixed point, held at both ends; never short of a frame that it names.
pub fn clamped_offset(fraction: f64) -> u32 {
    (fraction * 4_294_967_296.0).ceil() as u32
}

/// Two frames of the animation texture and the way between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FramePair {
    /// Index of the earlier frame.
    pub a: u32,
    /// Index of the later one.
    pub b: u32,
    /// 0 shows `a`, 1 shows `b`.
    pub t: f32,
    /// Index of the clip's first frame: ranges of packed values stand before it.
    pub first: u32,
}

/// Where in its cycle a playback is at `now`: 0.32 fixed point, and `true` where it has come to an end.
pub fn cycle_phase(playback: &Playback, now: Time) -> (u32, bool) {
    let elapsed = now.to_bits().saturating_sub(Time::from_words(playback.start).to_bits());
    let rate = playback.rate_bits();
    // 64.64 fixed point; 32.32 of it are kept, and whether anything stood above them.
    let product = u128::from(elapsed) * u128::from(rate.unsigned_abs());
    let cycles = (product >> 32) as u64;
    let beyond = product >> 96 != 0;
    let offset = u64::from(playback.offset);
    let once = playback.clip & Playback::ONCE != 0;
    if rate < 0 {
        if once && (beyond || cycles > offset) {
            return (0, false);
        }
        return (offset.wrapping_sub(cycles) as u32, false);
    }
    let total = offset.wrapping_add(cycles);
    let ended = once && (beyond || total < cycles || total >> 32 != 0);
    (total as u32, ended)
}

/// Where in the clip a playback is at `now`: 0.32 fixed point of its length, and `true` where it has come to an end.
pub fn phase(playback: &Playback, now: Time) -> (u32, bool) {
    let (value, ended) = cycle_phase(playback, now);
    if playback.clip & Playback::PING_PONG == 0 {
        return (value, ended);
    }
    // There in the lower half of the cycle, back in the upper.
    (value << 1 ^ if value >> 31 != 0 { u32::MAX } else { 0 }, ended)
}

/// The frames that a playback shows at `now`.
pub fn frame_pair(playback: &Playback, clip: &ClipRecord, now: Time) -> FramePair {
    let (phase, ended) = phase(playback, now);
    let position = u64::from(phase) * u64::from(clip.intervals);
    let (mut frame, mut fraction) = ((position >> 32) as u32, position as u32);
    if ended {
        (frame, fraction) = (clip.intervals, 0);
    }
    FramePair {
        a: clip.stored_frame(frame),
        b: clip.stored_frame((frame + 1).min(clip.intervals)),
        t: (fraction >> 8) as f32 / 16_777_216.0,
        first: clip.first_frame,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOP: ClipRecord = ClipRecord { first_frame: 10, intervals: 4, stored: 4, held: 0 };
    const OPEN: ClipRecord = ClipRecord { first_frame: 10, intervals: 4, stored: 5, held: 0 };

    fn playing(speed: f64, duration: f64, offset: u32, once: bool) -> Playback {
        let rate = Time::from_bits(rate(speed, duration) as u64).words();
        Playback { start: [5, 0], rate, offset, clip: if once { Playback::ONCE } else { 0 } }
    }

    fn at(p: &Playback, clip: &ClipRecord, seconds: f64) -> (u32, u32, f32) {
        let f = frame_pair(p, clip, Time::from_secs(5.0 + seconds));
        (f.a, f.b, f.t)
    }

    #[test]
    fn loops_wrap_to_the_first_frame() {
        let p = playing(1.0, 2.0, 0, false);
        assert_eq!(at(&p, &LOOP, 0.0), (10, 11, 0.0));
        assert_eq!(at(&p, &LOOP, 0.25), (10, 11, 0.5));
        assert_eq!(at(&p, &LOOP, 1.75), (13, 10, 0.5));
        assert_eq!(at(&p, &LOOP, 2.0), (10, 11, 0.0));
        assert_eq!(at(&p, &OPEN, 1.75), (13, 14, 0.5));
    }

    #[test]
    fn once_holds_both_ends() {
        let p = playing(1.0, 2.0, 0, true);
        assert_eq!(at(&p, &OPEN, 2.0), (14, 14, 0.0));
        assert_eq!(at(&p, &OPEN, 1e9), (14, 14, 0.0));
        assert_eq!(at(&p, &LOOP, 7.0), (10, 10, 0.0));
        let back = playing(-1.0, 2.0, 1 << 31, true);
        assert_eq!(at(&back, &OPEN, 0.0), (12, 13, 0.0));
        assert_eq!(at(&back, &OPEN, 0.5), (11, 12, 0.0));
        assert_eq!(at(&back, &OPEN, 9.0), (10, 11, 0.0));
    }

    #[test]
    fn held_frames_show_the_first_of_them() {
        for (held, rows) in [
            (HeldFrames { first: 0, count: 2 }, [0, 0, 0, 1, 2]),
            (HeldFrames { first: 1, count: 2 }, [0, 1, 1, 1, 2]),
            (HeldFrames { first: 2, count: 2 }, [0, 1, 2, 2, 2]),
            (HeldFrames { first: 0, count: 4 }, [0; 5]),
            (HeldFrames { first: 4, count: 0 }, [0, 1, 2, 3, 4]),
        ] {
            assert_eq!(HeldFrames::from_bits(held.bits()), held);
            assert_eq!([0, 1, 2, 3, 4].map(|frame| held.row(frame)), rows);
            (0..=rows[4])
                .for_each(|row| assert_eq!(rows.iter().position(|r| *r == row), Some(held.frame(row) as usize)));
            let clip = ClipRecord { stored: rows[4] + 1, held: held.bits(), ..OPEN };
            assert!(clip.is_sound());
            for i in 0..4 {
                let f = frame_pair(&playing(1.0, 2.0, i << 30, true), &clip, Time::from_secs(5.0));
                assert_eq!((f.a, f.b), (10 + rows[i as usize], 10 + rows[i as usize + 1]), "{held:?}");
            }
            assert_eq!(at(&playing(1.0, 2.0, 0, true), &clip, 9.0), (10 + rows[4], 10 + rows[4], 0.0));
        }
        // A loop that ends as it begins wraps from what is held.
        let clip = ClipRecord { stored: 3, held: HeldFrames { first: 2, count: 1 }.bits(), ..LOOP };
        assert!(clip.is_sound());
        assert_eq!(at(&playing(1.0, 2.0, 3 << 30, false), &clip, 0.25), (12, 10, 0.5));
        for held in [HeldFrames { first: 3, count: 2 }, HeldFrames { first: 0, count: 3 }] {
            assert!(!ClipRecord { stored: 3, held: held.bits(), ..LOOP }.is_sound());
        }
        assert!(!ClipRecord { stored: 3, ..LOOP }.is_sound() && !ClipRecord::default().is_sound());
    }

    #[test]
    fn speed_and_direction() {
        assert_eq!(at(&playing(2.0, 2.0, 0, false), &LOOP, 0.25), (11, 12, 0.0));
        assert_eq!(at(&playing(-1.0, 2.0, 0, false), &LOOP, 0.25), (13, 10, 0.5));
        assert_eq!(at(&playing(0.0, 2.0, 3 << 30, false), &LOOP, 1e6), (13, 10, 0.0));
        assert_eq!(at(&playing(f64::NAN, 2.0, 0, false), &LOOP, 1.0), (10, 11, 0.0));
        assert_eq!(at(&playing(1.0, 0.0, 0, false), &LOOP, 1.0), (10, 11, 0.0));
    }

    #[test]
    fn ping_pong_turns_round_at_both_ends() {
        let mut p = playing(0.5, 2.0, 0, false);
        p.clip |= Playback::PING_PONG;
        assert_eq!(at(&p, &OPEN, 0.5), (11, 12, 0.0));
        assert_eq!(at(&p, &OPEN, 1.75), (13, 14, 0.5));
        let (a, b, t) = at(&p, &OPEN, 2.0);
        assert!((a, b) == (13, 14) && t > 0.999_999);
        let (a, b, t) = at(&p, &OPEN, 2.25);
        assert!((a, b) == (13, 14) && (t - 0.5).abs() < 1e-6);
        assert_eq!(at(&p, &OPEN, 4.0), (10, 11, 0.0));
        assert_eq!(at(&p, &OPEN, 4.5), (11, 12, 0.0));
    }

    #[test]
    fn before_its_start_an_instance_holds_its_first_pose() {
        let p = playing(1.0, 2.0, 1 << 30, false);
        let f = frame_pair(&p, &LOOP, Time::from_secs(1.0));
        assert_eq!((f.a, f.b, f.t), (11, 12, 0.0));
    }

    #[test]
    fn a_week_costs_no_smoothness() {
        let p = playing(1.0, 0.7, 0, false);
        let week = 7.0 * 86_400.0;
        let step = |from: f64| {
            let phases = [0.0, 1.0 / 60.0].map(|d| phase(&p, Time::from_secs(5.0 + from + d)).0);
            phases[1].wrapping_sub(phases[0])
        };
        assert!(step(0.0).abs_diff(step(week)) <= 16, "{} {}", step(0.0), step(week));
    }

    #[test]
    fn every_frame_can_be_named_exactly() {
        for intervals in [1_u32, 3, 7, 30, 999, 65_535] {
            let clip = ClipRecord { first_frame: 0, intervals, stored: intervals + 1, held: 0 };
            for i in [0, intervals / 3, intervals / 2, intervals - 1] {
                let offset = clamped_offset(f64::from(i) / f64::from(intervals));
                let p = Playback { offset, clip: Playback::ONCE, ..Default::default() };
                let f = frame_pair(&p, &clip, Time::ZERO);
                assert!(f.a == i && f.t < 1e-4, "{i}/{intervals}: {f:?}");
            }
        }
        assert_eq!(clamped_offset(1.0), u32::MAX);
        assert_eq!(clamped_offset(-1.0), 0);
    }
}
