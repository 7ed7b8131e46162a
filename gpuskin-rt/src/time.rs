//! Time: seconds as 32.32 fixed point.

use core::ops::{Add, Sub};
use core::time::Duration;

/// A time of a [`crate::CrowdRenderer`], in seconds since an epoch that the game chooses (usually
/// its own start).
///
/// Unsigned 32.32 fixed point: a range of 136 years in steps of 0.23 ns. `f32` seconds are not
/// precise enough: after a day their step is 8 ms. The GPU receives both words and subtracts them
/// exactly, so a crowd moves as smoothly after a month as in the first second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The epoch.
    pub const ZERO: Self = Self(0);
    /// The greatest time.
    #[doc(hidden)]
    pub const MAX: Self = Self(u64::MAX);

    /// Converts from seconds. Negative values and NaN become [`Time::ZERO`], values out of range
    /// become [`Time::MAX`].
    pub fn from_secs(seconds: f64) -> Self {
        Self((seconds * 4_294_967_296.0) as u64)
    }

    /// Makes a time from its 32.32 fixed-point number.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the 32.32 fixed-point number.
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// Returns the seconds since the epoch; exact up to 2^21 seconds (24 days), rounded to nearest
    /// beyond.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 4_294_967_296.0
    }

    /// Returns `[seconds, fraction]`, the form that the shaders read.
    pub const fn words(self) -> [u32; 2] {
        [(self.0 >> 32) as u32, self.0 as u32]
    }

    /// Makes a time from `[seconds, fraction]`.
    #[doc(hidden)]
    pub const fn from_words(words: [u32; 2]) -> Self {
        Self((words[0] as u64) << 32 | words[1] as u64)
    }

    /// Returns the seconds from `earlier` to `self`; 0 if `earlier` is later.
    #[doc(hidden)]
    pub fn since(self, earlier: Self) -> f64 {
        Self(self.0.saturating_sub(earlier.0)).as_secs()
    }
}

impl From<f64> for Time {
    fn from(seconds: f64) -> Self {
        Self::from_secs(seconds)
    }
}

impl From<Duration> for Time {
    fn from(duration: Duration) -> Self {
        let seconds = duration.as_secs().min(u64::from(u32::MAX)) << 32;
        Self(seconds | ((u64::from(duration.subsec_nanos()) << 32) / 1_000_000_000))
    }
}

/// Adds seconds; saturates at both ends.
impl Add<f64> for Time {
    type Output = Self;
    fn add(self, seconds: f64) -> Self {
        if seconds < 0.0 {
            return self - -seconds;
        }
        Self(self.0.saturating_add(Self::from_secs(seconds).0))
    }
}

/// Subtracts seconds; saturates at both ends.
impl Sub<f64> for Time {
    type Output = Self;
    fn sub(self, seconds: f64) -> Self {
        if seconds < 0.0 {
            return self + -seconds;
        }
        Self(self.0.saturating_sub(Self::from_secs(seconds).0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_words_and_durations_convert_exactly() {
        let t = Time::from_secs(1.25);
        assert_eq!(t.words(), [1, 0x4000_0000]);
        assert_eq!(Time::from_words(t.words()), t);
        assert_eq!(Time::from(Duration::from_millis(1250)), t);
        assert_eq!(t.as_secs(), 1.25);
        assert_eq!((t + 0.75).as_secs(), 2.0);
        assert_eq!((t - 0.25).as_secs(), 1.0);
        assert_eq!((t + -0.25).as_secs(), 1.0);
    }

    #[test]
    fn invalid_seconds_saturate() {
        assert_eq!(Time::from_secs(-1.0), Time::ZERO);
        assert_eq!(Time::from_secs(f64::NAN), Time::ZERO);
        assert_eq!(Time::from_secs(1e30), Time::MAX);
        assert_eq!(Time::ZERO - 1.0, Time::ZERO);
        assert_eq!(Time::MAX + 1.0, Time::MAX);
        assert_eq!(Time::from_secs(1.0).since(Time::from_secs(2.0)), 0.0);
    }
}
