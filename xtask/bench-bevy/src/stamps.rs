//! Durations of the parts of a frame, on any thread.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Durations of the main schedule.
pub static MAIN: Stamp = Stamp::new();
/// Durations of the extraction from the main world to the render world.
pub static EXTRACT: Stamp = Stamp::new();
/// Durations of the render schedule up to its submission.
pub static RENDER: Stamp = Stamp::new();

/// Durations of one part of a frame, in milliseconds.
pub struct Stamp {
    times: Mutex<(Option<Instant>, Vec<f64>)>,
}

impl Stamp {
    const fn new() -> Self {
        Self { times: Mutex::new((None, Vec::new())) }
    }

    pub fn begin(&self) {
        self.times.lock().unwrap_or_else(PoisonError::into_inner).0 = Some(Instant::now());
    }

    pub fn end(&self) {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(start) = times.0.take() {
            times.1.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }

    pub fn time(&self, work: impl FnOnce()) {
        self.begin();
        work();
        self.end();
    }

    pub fn median_ms(&self) -> f64 {
        median(self.times.lock().unwrap_or_else(PoisonError::into_inner).1.clone())
    }
}

/// Clears all measurements.
pub fn clear() {
    for stamp in [&MAIN, &EXTRACT, &RENDER] {
        stamp.times.lock().unwrap_or_else(PoisonError::into_inner).1.clear();
    }
}

/// Median of the values; NaN if there are none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
