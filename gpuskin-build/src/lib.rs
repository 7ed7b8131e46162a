//! Bakes animated glTF models into animation textures and Rust constants.
//!
//! A build script calls [`build`]; the game then says `gpuskin_rt::include_baked!()` and has `models`, `clips` and `bones`:
//!
//! ```no_run
//! // In the `main` of build.rs:
//! gpuskin_build::build("gpuskin.toml");
//! ```
//!
//! Other tools go through the stages themselves. Signatures tell the story:
//!
//! | stage | | |
//! |---|---|---|
//! | [`manifest`] | `gpuskin.toml` | [`manifest::Manifest`] |
//! | [`import`](mod@import) | manifest and glTF | [`model::Model`] |
//! | [`sample`] | a model and a time | skin matrices |
//! | [`bake`](mod@bake) | all models | [`bake::Baked`]: files in memory, errors, inputs |
//! | [`output`] | files in memory | a folder |
//!
//! [`pose`](mod@pose) evaluates models for comparison with a reference, [`finding`] holds what is wrong with the input.

pub mod bake;
#[cfg_attr(not(feature = "textures"), allow(dead_code, reason = "without textures a part of it has no user"))]
pub mod cache;
#[cfg(feature = "cli")]
pub mod cli;
mod codegen;
mod color;
mod container;
mod drive;
mod encode;
pub mod finding;
mod frames;
mod fs;
mod geometry;
#[cfg(feature = "gpu")]
pub mod gpu;
mod identifiers;
pub mod import;
mod keep;
mod ledger;
pub mod limits;
mod load;
pub mod manifest;
mod measure;
pub mod model;
mod names;
pub mod output;
mod plain;
pub mod pose;
#[cfg(feature = "gpu")]
pub mod preview;
mod root_motion;
pub mod sample;
mod script;
mod shard;
mod suggest;
mod units;
mod vertex_mode;

pub use script::{BuildError, Built, bake_into, build, try_build};
