//! Clip playback: the two frames that an instance shows at a time, and the fraction between them.
//! CPU reference of `shaders/playback.wgsl`.
//!
//! Everything is integer arithmetic. The phase of a clip is a fraction of its length in 0.32 fixed
//! point, so a loop is the natural wrap of a 32-bit word. Precision depends neither on how long the
//! game has run nor on how long the clip is.

use bytemuck::{Pod, Zeroable};

use crate::Time;

/// Frames of a clip, as playback needs them: 16 bytes, the layout that the shaders read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ClipRecord {
    /// Index of the clip's first frame in the animation texture.
    #[doc(hidden)]
    pub first_frame: u32,
    /// Number of intervals between frames from the start of the clip to its end, at least 1. Frame
    /// i has the phase i / intervals.
    #[doc(hidden)]
    pub intervals: u32,
    /// Number of stored frames: `intervals + 1`, or `intervals` if the last pose equals the first
    /// (a closed loop); minus the frames that [`Self::held`] leaves out.
    #[doc(hidden)]
    pub stored: u32,
    /// Run of identical frames: [`HeldFrames::bits`]. Bit 15: [`Self::STEPPED`].
    #[doc(hidden)]
    pub held: u32,
}

impl ClipRecord {
    /// Flag in [`Self::held`]: each frame is shown until the next one, as tracks with STEP demand.
    #[doc(hidden)]
    pub const STEPPED: u32 = 1 << 15;

    /// Returns the index in the animation texture of the pose of `frame`, which is at most
    /// `intervals`.
    #[doc(hidden)]
    pub const fn stored_frame(&self, frame: u32) -> u32 {
        let row = HeldFrames::from_bits(self.held).row(frame);
        self.first_frame + if row >= self.stored { row - self.stored } else { row }
    }

    /// Returns whether every frame up to `intervals` maps to a stored frame.
    pub(crate) fn is_sound(&self) -> bool {
        let held = HeldFrames::from_bits(self.held);
        let (intervals, all) = (u64::from(self.intervals), u64::from(self.stored) + u64::from(held.count));
        let within = u64::from(held.first) + u64::from(held.count) <= intervals;
        intervals > 0 && self.stored > 0 && (all == intervals || all == intervals + 1) && within
    }
}

/// Returns the blend factor of values that are held from frame to frame, 0 or 1. A time that names a frame
/// reaches it, although it may be rounded to slightly less.
pub fn stepped(t: f32) -> f32 {
    if t < 1.0 - STEP_SLACK as f32 { 0.0 } else { 1.0 }
}

/// Times that are less than this part of a frame interval before a frame count as its time, where values are
/// held: times of keys are rounded.
pub const STEP_SLACK: f64 = 1.0 / 128.0;

/// A run of identical frames in a clip. Only the first frame of the run is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "dynamic", derive(serde::Serialize, serde::Deserialize))]
pub struct HeldFrames {
    /// First frame of the run, at most [`HeldFrames::LAST`].
    pub first: u16,
    /// Number of frames after the first, which are not stored.
    pub count: u16,
}

impl HeldFrames {
    /// No run: all frames are stored.
    pub const NONE: Self = Self { first: 0, count: 0 };

    /// Greatest index of a frame that can start a run.
    pub const LAST: u16 = 0x7fff;

    /// Packs the run for shaders: `first` in the lower 15 bits, `count` in the upper 16.
    pub const fn bits(self) -> u32 {
        self.first as u32 | (self.count as u32) << 16
    }

    /// Unpacks [`Self::bits`].
    pub const fn from_bits(bits: u32) -> Self {
        Self { first: bits as u16 & Self::LAST, count: (bits >> 16) as u16 }
    }

    /// Returns the index of a frame among the stored frames.
    pub const fn row(self, frame: u32) -> u32 {
        let after = frame.saturating_sub(self.first as u32);
        frame - if after < self.count as u32 { after } else { self.count as u32 }
    }

    /// Returns the first frame that has the given index among the stored frames.
    pub const fn frame(self, row: u32) -> u32 {
        if row > self.first as u32 { row + self.count as u32 } else { row }
    }
}

/// Behaviour of a clip at its ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Repeat {
    /// The clip loops.
    #[default]
    Loop,
    /// The clip plays once and holds the last pose; the first, when playing backwards.
    Once,
    /// The clip reverses at both ends.
    PingPong,
}

/// Playback of a clip: the unpacked form of the playback in an
/// [`InstanceRecord`](crate::InstanceRecord).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Playback {
    /// Start time: [`Time::words`]. Before it, the instance holds the pose at `offset`.
    #[doc(hidden)]
    pub start: [u32; 2],
    /// Playback rate in cycles per second, signed 32.32 fixed point: `[whole, fraction]` of the
    /// two's complement. A cycle is the length of the clip; in [`Repeat::PingPong`], forward and
    /// back.
    #[doc(hidden)]
    pub rate: [u32; 2],
    /// Phase at the start time, 0.32 fixed point of a cycle.
    #[doc(hidden)]
    pub offset: u32,
    /// Bits 0..16: index of the clip. Bits 30 and 31: [`Playback::PING_PONG`], [`Playback::ONCE`].
    #[doc(hidden)]
    pub clip: u32,
}

impl Playback {
    /// Flag in [`Playback::clip`] for [`Repeat::Once`].
    #[doc(hidden)]
    pub const ONCE: u32 = 1 << 31;
    /// Flag in [`Playback::clip`] for [`Repeat::PingPong`].
    #[doc(hidden)]
    pub const PING_PONG: u32 = 1 << 30;
    const CLIP_MASK: u32 = 0xffff;

    /// Returns the index of the clip.
    #[doc(hidden)]
    pub const fn clip_index(&self) -> usize {
        (self.clip & Self::CLIP_MASK) as usize
    }

    /// Returns the behaviour at the ends of the clip.
    #[doc(hidden)]
    pub const fn repeat(&self) -> Repeat {
        match (self.clip & Self::ONCE, self.clip & Self::PING_PONG) {
            (0, 0) => Repeat::Loop,
            (0, _) => Repeat::PingPong,
            _ => Repeat::Once,
        }
    }

    /// Returns the playback rate as one number: cycles per second in 32.32 fixed point.
    #[doc(hidden)]
    pub const fn rate_bits(&self) -> i64 {
        Time::from_words(self.rate).to_bits() as i64
    }
}

impl Repeat {
    /// Returns the flag for [`Playback::clip`].
    #[doc(hidden)]
    pub const fn flag(self) -> u32 {
        match self {
            Self::Loop => 0,
            Self::Once => Playback::ONCE,
            Self::PingPong => Playback::PING_PONG,
        }
    }

    /// Returns the number of clip lengths per cycle.
    #[doc(hidden)]
    pub const fn lengths(self) -> f64 {
        match self {
            Self::PingPong => 2.0,
            _ => 1.0,
        }
    }
}

/// Returns cycles per second in 32.32 fixed point, for a clip of `duration` seconds played at
/// `speed` times its normal speed. Returns 0 for a clip of length zero or a speed that is not
/// finite.
pub fn rate(speed: f64, duration: f64) -> i64 {
    let cycles = speed / duration;
    if cycles.is_finite() { (cycles * 4_294_967_296.0).round() as i64 } else { 0 }
}

/// Converts a fraction of a clip's length to 0.32 fixed point. Values outside 0..1 wrap.
pub fn wrapped_offset(fraction: f64) -> u32 {
    if !fraction.is_finite() {
        return 0;
    }
    ((fraction - fraction.floor()) * 4_294_967_296.0) as u32
}

/// Converts a fraction of a clip's length to 0.32 fixed point, clamped to 0..1. Rounds up, so that
/// a fraction that names a frame reaches it.
pub fn clamped_offset(fraction: f64) -> u32 {
    (fraction * 4_294_967_296.0).ceil() as u32
}

/// Two frames of the animation texture and the blend factor between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FramePair {
    /// Index of the earlier frame.
    #[doc(hidden)]
    pub a: u32,
    /// Index of the later frame.
    #[doc(hidden)]
    pub b: u32,
    /// Blend factor: 0 gives `a`, 1 gives `b`.
    #[doc(hidden)]
    pub t: f32,
    /// Index of the clip's first frame; range frames of the clip precede it.
    #[doc(hidden)]
    pub first: u32,
}

/// Returns the phase in the cycle at `time`, 0.32 fixed point, and whether the playback has passed
/// the end of a clip that plays once.
pub fn cycle_phase(playback: &Playback, time: Time) -> (u32, bool) {
    let elapsed = time.to_bits().saturating_sub(Time::from_words(playback.start).to_bits());
    let rate = playback.rate_bits();
    // 64.64 fixed point. Keeps 32.32 of it, and whether any higher bit was set.
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

/// Returns the phase in the clip at `time`, 0.32 fixed point of its length, and whether the playback
/// has passed the end of a clip that plays once.
pub fn phase(playback: &Playback, time: Time) -> (u32, bool) {
    let (value, ended) = cycle_phase(playback, time);
    if playback.clip & Playback::PING_PONG == 0 {
        return (value, ended);
    }
    // The lower half of the cycle plays forwards, the upper half backwards.
    (value << 1 ^ if value >> 31 != 0 { u32::MAX } else { 0 }, ended)
}

/// Returns the frames that a playback shows at `time`.
pub fn frame_pair(playback: &Playback, clip: &ClipRecord, time: Time) -> FramePair {
    let (phase, ended) = phase(playback, time);
    let position = u64::from(phase) * u64::from(clip.intervals);
    let (mut frame, mut fraction) = ((position >> 32) as u32, position as u32);
    if ended {
        (frame, fraction) = (clip.intervals, 0);
    }
    let t = (fraction >> 8) as f32 / 16_777_216.0;
    FramePair {
        a: clip.stored_frame(frame),
        b: clip.stored_frame((frame + 1).min(clip.intervals)),
        t: if clip.held & ClipRecord::STEPPED == 0 { t } else { stepped(t) },
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
    fn loop_wraps_to_first_frame() {
        let p = playing(1.0, 2.0, 0, false);
        assert_eq!(at(&p, &LOOP, 0.0), (10, 11, 0.0));
        assert_eq!(at(&p, &LOOP, 0.25), (10, 11, 0.5));
        assert_eq!(at(&p, &LOOP, 1.75), (13, 10, 0.5));
        assert_eq!(at(&p, &LOOP, 2.0), (10, 11, 0.0));
        assert_eq!(at(&p, &OPEN, 1.75), (13, 14, 0.5));
    }

    #[test]
    fn play_once_holds_both_ends() {
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
    fn held_frames_map_to_first_frame_of_run() {
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
        // A closed loop whose run ends at its last stored frame wraps to the first frame.
        let clip = ClipRecord { stored: 3, held: HeldFrames { first: 2, count: 1 }.bits(), ..LOOP };
        assert!(clip.is_sound());
        assert_eq!(at(&playing(1.0, 2.0, 3 << 30, false), &clip, 0.25), (12, 10, 0.5));
        for held in [HeldFrames { first: 3, count: 2 }, HeldFrames { first: 0, count: 3 }] {
            assert!(!ClipRecord { stored: 3, held: held.bits(), ..LOOP }.is_sound());
        }
        assert!(!ClipRecord { stored: 3, ..LOOP }.is_sound() && !ClipRecord::default().is_sound());
    }

    #[test]
    fn frames_of_a_stepped_clip_are_held() {
        let clip =
            ClipRecord { held: ClipRecord::STEPPED | HeldFrames { first: 2, count: 1 }.bits(), stored: 4, ..OPEN };
        assert!(clip.is_sound());
        let p = playing(1.0, 2.0, 0, true);
        assert_eq!(at(&p, &clip, 0.0), (10, 11, 0.0));
        assert_eq!(at(&p, &clip, 0.49), (10, 11, 0.0));
        // A time that is rounded to just below that of frame 1.
        assert_eq!(at(&p, &clip, 0.4999), (10, 11, 1.0));
        assert_eq!(at(&p, &clip, 0.75), (11, 12, 0.0));
        assert_eq!(at(&p, &clip, 1.75), (12, 13, 0.0));
        assert_eq!(at(&p, &clip, 3.0), (13, 13, 0.0));
        assert_eq!([0.0, 0.99, 0.9922, 1.0].map(stepped), [0.0, 0.0, 1.0, 1.0]);
    }

    #[test]
    fn speed_scales_and_reverses_playback() {
        assert_eq!(at(&playing(2.0, 2.0, 0, false), &LOOP, 0.25), (11, 12, 0.0));
        assert_eq!(at(&playing(-1.0, 2.0, 0, false), &LOOP, 0.25), (13, 10, 0.5));
        assert_eq!(at(&playing(0.0, 2.0, 3 << 30, false), &LOOP, 1e6), (13, 10, 0.0));
        assert_eq!(at(&playing(f64::NAN, 2.0, 0, false), &LOOP, 1.0), (10, 11, 0.0));
        assert_eq!(at(&playing(1.0, 0.0, 0, false), &LOOP, 1.0), (10, 11, 0.0));
    }

    #[test]
    fn ping_pong_reverses_at_both_ends() {
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
    fn first_pose_is_held_before_start_time() {
        let p = playing(1.0, 2.0, 1 << 30, false);
        let f = frame_pair(&p, &LOOP, Time::from_secs(1.0));
        assert_eq!((f.a, f.b, f.t), (11, 12, 0.0));
    }

    #[test]
    fn playback_is_as_smooth_after_a_week() {
        let p = playing(1.0, 0.7, 0, false);
        let week = 7.0 * 86_400.0;
        let step = |from: f64| {
            let phases = [0.0, 1.0 / 60.0].map(|d| phase(&p, Time::from_secs(5.0 + from + d)).0);
            phases[1].wrapping_sub(phases[0])
        };
        assert!(step(0.0).abs_diff(step(week)) <= 16, "{} {}", step(0.0), step(week));
    }

    #[test]
    fn clamped_offset_reaches_every_frame() {
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
