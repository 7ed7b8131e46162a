//! Bakes animated glTF models into animation textures and Rust constants.
//!
//! A build script calls [`build`]. The game then writes `gpuskin_rt::include_baked!()`, which
//! brings the modules `models`, `clips` and `bones` into scope:
//!
//! ```no_run
//! // In the `main` of build.rs:
//! gpuskin_build::build("gpuskin.toml");
//! ```
//!
//! Other tools call the stages one by one:
//!
//! | stage | input | output |
//! |---|---|---|
//! | [`manifest`] | `gpuskin.toml` | [`manifest::Manifest`] |
//! | [`import`](mod@import) | manifest and glTF | [`model::Model`] |
//! | [`sample`] | a model and a time | skinning matrices |
//! | [`bake`](mod@bake) | all models | [`bake::Baked`]: files in memory, errors, inputs |
//! | [`output`] | files in memory | a folder |
//!
//! [`pose`](mod@pose) evaluates models for comparison with a reference. [`finding`] holds the
//! errors and warnings.

pub mod bake;
#[cfg_attr(not(feature = "textures"), allow(dead_code, reason = "parts are used only with the feature `textures`"))]
pub mod cache;
#[cfg(feature = "cli")]
pub mod cli;
mod codegen;
mod color;
mod container;
mod bake_job;
mod encode;
pub mod diagnostic;
mod frames;
mod fs;
mod geometry;
#[cfg(feature = "gpu")]
pub mod gpu;
mod name_collisions;
pub mod import;
mod model_cache;
mod stamp;
pub mod limits;
mod checked_manifest;
pub mod manifest;
mod measure;
pub mod model;
mod identifier_case;
pub mod output;
mod vector_math;
pub mod pose;
#[cfg(feature = "gpu")]
pub mod preview;
mod root_motion;
pub mod sample;
mod build_script;
mod shard;
mod suggest;
mod units;
mod vertex_mode;

pub use build_script::{BuildError, Built, bake_into, build, try_build};
