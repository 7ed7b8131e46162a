//! Medians, and lines of a table.

use std::time::Instant;

/// Seconds that something takes.
pub(crate) fn seconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64(), result)
}

/// The middle one.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A heading.
pub(crate) fn heading(title: &str) {
    println!("\n{title}");
}

/// A name and what was measured.
pub(crate) fn line(name: &str, value: impl std::fmt::Display) {
    println!("  {name:<58} {value}");
}
