//! A game that bakes in its build script, and helpers for the tests that need both crates.
//!
//! Clips are typed by their model. This compiles:
//!
//! ```
//! use gpuskin_tests::{clips, models};
//! let _ = gpuskin_rt::Instance::<models::Soldier>::at([0.0; 3]).play(clips::SOLDIER_RUN);
//! ```
//!
//! A hound's clip on a soldier does not compile:
//!
//! ```compile_fail,E0308
//! use gpuskin_tests::{clips, models};
//! let _ = gpuskin_rt::Instance::<models::Soldier>::at([0.0; 3]).play(clips::HOUND_RUN);
//! ```

pub mod frames;
pub mod gpu;
#[cfg(doctest)]
mod guide;
pub mod shared;

gpuskin_rt::include_baked!();
