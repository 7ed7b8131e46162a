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
//! [`pose`](mod@pose) evaluates models for comparison with a reference. [`diagnostic`] holds the
//! errors and warnings.

pub mod bake;
mod bake_job;
mod build_script;
#[cfg_attr(not(feature = "textures"), allow(dead_code, reason = "parts are used only with the feature `textures`"))]
pub mod cache;
mod checked_manifest;
#[cfg(feature = "cli")]
pub mod cli;
mod codegen;
mod color;
mod container;
pub mod diagnostic;
mod displacement;
mod encode;
mod frames;
mod fs;
mod geometry;
#[cfg(feature = "gpu")]
pub mod gpu;
mod identifier_case;
pub mod import;
pub mod limits;
pub mod manifest;
mod measure;
pub mod model;
mod model_cache;
mod name_collisions;
pub mod output;
pub mod pose;
mod pose_extent;
#[cfg(feature = "gpu")]
pub mod preview;
mod root_motion;
pub mod sample;
mod shard;
mod stamp;
mod suggest;
mod units;
mod vector_math;
mod vertex_mode;

pub use build_script::{BuildError, Built, bake_into, build, try_build};
