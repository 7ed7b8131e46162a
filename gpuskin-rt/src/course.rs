//! How far a playback has come at a moment, and when it comes somewhere: the integers behind [`crate::playback::phase`],
//! both ways.

use crate::playback::Repeat;
use crate::{Playback, Time};

/// A cycle, or the length of a clip, in 0.32 fixed point.
pub(crate) const WHOLE: u64 = 1 << 32;

/// A playback, taken apart.
///
/// Its *way* is what it has played since its start, in either direction, in cycles with 32 fraction bits. It is an integer
/// that never falls, so a moment for each way is exact too. Nothing overflows: a clock of 64 bits times a rate of 63
/// leaves 95 bits of way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    start: u64,
    /// Cycles a second, 32 fraction bits.
    rate: u64,
    pub(crate) backwards: bool,
    /// Where in the cycle it starts.
    pub(crate) offset: u64,
    pub(crate) repeat: Repeat,
}

impl Course {
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

    pub(crate) fn stands(&self) -> bool {
        self.rate == 0
    }

    /// The way at a moment; 0 before the start. It goes on after the end.
    pub(crate) fn way(&self, time: Time) -> u128 {
        let elapsed = time.to_bits().saturating_sub(self.start);
        (u128::from(elapsed) * u128::from(self.rate)) >> 32
    }

    /// The first moment with a way of at least `way`, which is below 2^95; `None` where the clock ends before.
    pub(crate) fn moment(&self, way: u128) -> Option<Time> {
        if way == 0 {
            return Some(Time::from_bits(self.start));
        }
        let elapsed = (!self.stands()).then(|| (way << 32).div_ceil(self.rate.into()))?;
        self.start.checked_add(u64::try_from(elapsed).ok()?).map(Time::from_bits)
    }

    /// The first and the last way that is reached within `from..to`.
    pub(crate) fn reached(&self, from: Time, to: Time) -> Option<(u128, u128)> {
        let before = |time: Time| Some(self.way(Time::from_bits(time.to_bits().checked_sub(1)?)));
        if to.to_bits() <= self.start || to <= from {
            return None;
        }
        let first = if from.to_bits() <= self.start { 0 } else { before(from)? + 1 };
        Some((first, before(to)?)).filter(|(first, last)| first <= last)
    }

    /// The way at the end of a clip that is held there: where its phase is the greatest, or the least.
    pub(crate) fn end(&self) -> Option<u64> {
        let whole = if self.backwards { self.offset } else { u64::from(u32::MAX) - self.offset };
        (self.repeat == Repeat::Once).then_some(whole)
    }

    /// When it comes to the end of its clip and holds it.
    pub(crate) fn finish(&self) -> Option<Time> {
        let end = self.end().filter(|_| !self.stands())?;
        self.moment(end.into())
    }

    /// Times that a loop has begun anew, and where in the clip it is, 0 to [`WHOLE`], at a moment.
    pub(crate) fn place(&self, time: Time) -> (i128, u64) {
        let way = self.way(time) as i128;
        let place = i128::from(self.offset) + if self.backwards { -way } else { way };
        let whole = i128::from(WHOLE);
        match self.repeat {
            Repeat::Loop => (place.div_euclid(whole), place.rem_euclid(whole) as u64),
            Repeat::Once => (0, place.clamp(0, whole) as u64),
            // As `playback::phase` folds it.
            Repeat::PingPong => {
                let doubled = 2 * place.rem_euclid(whole) as u64;
                (0, if doubled < WHOLE { doubled } else { 2 * WHOLE - 1 - doubled })
            }
        }
    }
}

impl Playback {
    /// When it comes to the end of its clip and holds it; `None` where it never does: it loops, stands still, or the clock
    /// ends before.
    pub fn finishes_at(&self) -> Option<Time> {
        Course::of(self).finish()
    }

    /// Whether it has come to the end of its clip and holds it.
    pub fn is_finished(&self, now: Time) -> bool {
        self.finishes_at().is_some_and(|end| end <= now)
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
    fn a_way_is_first_reached_at_its_moment() {
        for rate in RATES {
            let course = Course::of(&playback(rate, 7 << 32, 5, 0));
            for way in [0, 1, 2, 1000, 1 << 31, (1 << 32) + 1, 1 << 50, 1 << 80] {
                let Some(moment) = course.moment(way) else { continue };
                assert!(course.way(moment) >= way, "{rate} {way}");
                let before = Time::from_bits(moment.to_bits() - 1);
                assert!(way == 0 || course.way(before) < way, "{rate} {way}");
            }
        }
        assert!(Course::of(&playback(0, 0, 0, 0)).moment(1).is_none());
    }

    #[test]
    fn places_are_the_phases_that_are_drawn() {
        for flags in [0, Playback::ONCE, Playback::PING_PONG] {
            for rate in RATES {
                for offset in OFFSETS {
                    let p = playback(rate, 3 << 32, offset, flags);
                    for time in [0, 3 << 32, (3 << 32) + 1, 0x3_8000_0000, 0xf_1234_5678, 1 << 45, u64::MAX] {
                        let time = Time::from_bits(time);
                        let (drawn, ended) = phase(&p, time);
                        let drawn = if ended { WHOLE } else { u64::from(drawn) };
                        assert_eq!(Course::of(&p).place(time).1, drawn, "{rate} {offset} {flags:x} {time:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn once_finishes_where_its_last_pose_is_first_drawn() {
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
