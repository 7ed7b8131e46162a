//! How long the parts of a frame take, whichever thread runs them.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The main schedule.
pub static MAIN: Stamp = Stamp::new();
/// From the main world to the render world.
pub static EXTRACT: Stamp = Stamp::new();
/// The render schedule up to its submission.
pub static RENDER: Stamp = Stamp::new();

/// Times of one part, milliseconds.
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

/// Forgets what was measured.
pub fn clear() {
    for stamp in [&MAIN, &EXTRACT, &RENDER] {
        stamp.times.lock().unwrap_or_else(PoisonError::into_inner).1.clear();
    }
}

/// The middle one.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
