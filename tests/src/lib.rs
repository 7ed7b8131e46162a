//! The user who bakes in build.rs, and what the tests that need both crates share.
//!
//! A clip is one of its model. This compiles:
//!
//! ```
//! use gpuskin_tests::{clips, models};
//! let _ = gpuskin_rt::Instance::<models::Soldier>::at([0.0; 3]).play(clips::SOLDIER_RUN);
//! ```
//!
//! and a hound's run is none of a soldier's:
//!
//! ```compile_fail,E0308
//! use gpuskin_tests::{clips, models};
//! let _ = gpuskin_rt::Instance::<models::Soldier>::at([0.0; 3]).play(clips::HOUND_RUN);
//! ```

pub mod frames;
pub mod gpu;
pub mod shared;

gpuskin_rt::include_baked!();
