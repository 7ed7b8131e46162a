//! Bakes animated glTF models into animation textures and Rust constants.

pub mod bake;
#[cfg(feature = "cli")]
pub mod cli;
mod codegen;
mod color;
mod container;
mod encode;
pub mod finding;
mod frames;
mod geometry;
#[cfg(feature = "gpu")]
pub mod gpu;
mod identifiers;
pub mod import;
mod load;
pub mod manifest;
mod measure;
pub mod model;
mod names;
pub mod output;
pub mod pose;
#[cfg(feature = "gpu")]
pub mod preview;
mod sample;
mod script;
mod suggest;
mod units;

pub use script::{BuildError, build, try_build};
