//! Exact integer arithmetic of playback progress in both directions: the progress at a time, and
//! the time of a given progress. [`crate::playback::phase`] computes the first on its own.

use crate::playback::Repeat;
use crate::{Playback, Time};

/// A whole cycle, or the whole length of a clip, in 0.32 fixed point.
pub(crate) const CYCLE: u64 = 1 << 32;

/// A playback, unpacked for arithmetic.
///
/// The *distance* is the number of cycles played since the start, in either direction, with 32
/// fraction bits. It is an integer that never decreases, so the first time with a given distance is
/// exact too. Nothing overflows: 64 bits of time times 63 bits of rate leave 95 bits of distance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaybackTimeline {
    start: u64,
    /// Cycles per second, 32 fraction bits.
    rate: u64,
    pub(crate) backwards: bool,
    /// Phase in the cycle at the start, 0.32 fixed point.
    pub(crate) offset: u64,
    pub(crate) repeat: Repeat,
}

impl PlaybackTimeline {
    pub(crate) fn of(playback: &Playback) -> Self {
        let rate = playback.rate_bits();
        Self {
            start: Time::from_words(playback.start).to_bits(),
            rate: rate.unsigned_abs(),
            backwards: rate < 0,
            offset: playback.offset.into(),
            repeat: playback.repeat(),
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.rate == 0
    }

    /// Returns the distance at a time; 0 before the start. It keeps growing after the end of the
    /// clip.
    pub(crate) fn progress_at(&self, time: Time) -> u128 {
        let elapsed = time.to_bits().saturating_sub(self.start);
        (u128::from(elapsed) * u128::from(self.rate)) >> 32
    }

    /// Returns the first time with a distance of at least `progress`, which is below 2^95; `None` if
    /// [`Time::MAX`] comes first.
    pub(crate) fn time_at(&self, progress: u128) -> Option<Time> {
        if progress == 0 {
            return Some(Time::from_bits(self.start));
        }
        let elapsed = (!self.is_stopped()).then(|| (progress << 32).div_ceil(self.rate.into()))?;
        self.start.checked_add(u64::try_from(elapsed).ok()?).map(Time::from_bits)
    }

    /// Returns the first and the last distance that is reached within `from..to`.
    pub(crate) fn progress_within(&self, from: Time, to: Time) -> Option<(u128, u128)> {
        let before = |time: Time| Some(self.progress_at(Time::from_bits(time.to_bits().checked_sub(1)?)));
        if to.to_bits() <= self.start || to <= from {
            return None;
        }
        let first = if from.to_bits() <= self.start { 0 } else { before(from)? + 1 };
        Some((first, before(to)?)).filter(|(first, last)| first <= last)
    }

    /// Returns the distance to the end of a clip that plays once: the point with the greatest
    /// phase, or the least when playing backwards.
    pub(crate) fn end(&self) -> Option<u64> {
        let whole = if self.backwards { self.offset } else { u64::from(u32::MAX) - self.offset };
        (self.repeat == Repeat::Once).then_some(whole)
    }

    /// Returns the time at which a clip that plays once reaches its end.
    pub(crate) fn finish(&self) -> Option<Time> {
        let end = self.end().filter(|_| !self.is_stopped())?;
        self.time_at(end.into())
    }

    /// Returns the number of completed loops, and the phase in the clip, 0 to [`CYCLE`], at a time.
    pub(crate) fn loops_and_phase(&self, time: Time) -> (i128, u64) {
        let progress = self.progress_at(time) as i128;
        let position = i128::from(self.offset) + if self.backwards { -progress } else { progress };
        let whole = i128::from(CYCLE);
        match self.repeat {
            Repeat::Loop => (position.div_euclid(whole), position.rem_euclid(whole) as u64),
            Repeat::Once => (0, position.clamp(0, whole) as u64),
            // Folded like `playback::phase`.
            Repeat::PingPong => {
                let doubled = 2 * position.rem_euclid(whole) as u64;
                (0, if doubled < CYCLE { doubled } else { 2 * CYCLE - 1 - doubled })
            }
        }
    }
}

impl Playback {
    /// Returns the time at which a clip that plays once finishes; `None` if it never does: it
    /// loops, its rate is 0, or [`Time::MAX`] comes first.
    pub fn finishes_at(&self) -> Option<Time> {
        PlaybackTimeline::of(self).finish()
    }

    /// Returns whether the clip has finished: it plays once and holds its end.
    #[doc(hidden)]
    pub fn is_finished(&self, time: Time) -> bool {
        self.finishes_at().is_some_and(|end| end <= time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playback::{phase, rate};

    fn playback(rate: i64, start: u64, offset: u32, flags: u32) -> Playback {
        Playback {
            start: Time::from_bits(start).words(),
            rate: Time::from_bits(rate as u64).words(),
            offset,
            clip: flags,
        }
    }

    const RATES: [i64; 12] = [
        1,
        -1,
        3,
        1 << 20,
        -(1 << 31),
        1 << 32,
        0x1_2345_6789,
        -0x7_6543_2101,
        1 << 40,
        -(1 << 52),
        i64::MAX,
        i64::MIN,
    ];
    const OFFSETS: [u32; 5] = [0, 1, 0x4000_0000, u32::MAX - 1, u32::MAX];

    #[test]
    fn time_at_is_the_first_time_with_the_progress() {
        for rate in RATES {
            let timeline = PlaybackTimeline::of(&playback(rate, 7 << 32, 5, 0));
            for progress in [0, 1, 2, 1000, 1 << 31, (1 << 32) + 1, 1 << 50, 1 << 80] {
                let Some(found) = timeline.time_at(progress) else { continue };
                assert!(timeline.progress_at(found) >= progress, "{rate} {progress}");
                let before = Time::from_bits(found.to_bits() - 1);
                assert!(progress == 0 || timeline.progress_at(before) < progress, "{rate} {progress}");
            }
        }
        assert!(PlaybackTimeline::of(&playback(0, 0, 0, 0)).time_at(1).is_none());
    }

    #[test]
    fn place_matches_drawn_phase() {
        for flags in [0, Playback::ONCE, Playback::PING_PONG] {
            for rate in RATES {
                for offset in OFFSETS {
                    let p = playback(rate, 3 << 32, offset, flags);
                    for time in [0, 3 << 32, (3 << 32) + 1, 0x3_8000_0000, 0xf_1234_5678, 1 << 45, u64::MAX] {
                        let time = Time::from_bits(time);
                        let (drawn, ended) = phase(&p, time);
                        let drawn = if ended { CYCLE } else { u64::from(drawn) };
                        assert_eq!(
                            PlaybackTimeline::of(&p).loops_and_phase(time).1,
                            drawn,
                            "{rate} {offset} {flags:x} {time:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn play_once_finishes_when_last_pose_is_first_drawn() {
        let end = |r: f64, d, offset| playback(rate(r, d), 5 << 32, offset, Playback::ONCE).finishes_at();
        let near = |time: Option<Time>, seconds: f64| time.is_some_and(|t| (t.as_secs() - seconds).abs() < 1e-9);
        assert!(near(end(1.0, 2.0, 0), 7.0));
        assert!(near(end(2.0, 2.0, 1 << 31), 5.5));
        assert_eq!(end(-1.0, 2.0, 1 << 31), Some(Time::from_secs(6.0)));
        assert_eq!(end(-1.0, 2.0, 0), Some(Time::from_secs(5.0)));
        assert_eq!(end(1.0, 2.0, u32::MAX), Some(Time::from_secs(5.0)));
        assert_eq!(end(0.0, 2.0, 0), None);
        assert_eq!(end(1e-9, 1e9, 0), None);
        assert_eq!(playback(1 << 32, 0, 0, 0).finishes_at(), None);
        for rate in RATES {
            for offset in OFFSETS {
                let p = playback(rate, 5 << 32, offset, Playback::ONCE);
                let Some(end) = p.finishes_at() else { continue };
                let shown = |time| match phase(&p, time) {
                    (phase, _) if rate < 0 => phase == 0,
                    (phase, ended) => ended || phase == u32::MAX,
                };
                assert!(shown(end) && p.is_finished(end), "{rate} {offset}");
                let before = Time::from_bits(end.to_bits() - 1);
                assert!(!p.is_finished(before) && (before.to_bits() < 5 << 32 || !shown(before)), "{rate} {offset}");
            }
        }
    }
}
