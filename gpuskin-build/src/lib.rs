//! Bakes animated glTF models into animation textures and Rust constants.

pub mod bake;
mod codegen;
mod color;
mod container;
mod encode;
pub mod finding;
mod frames;
mod geometry;
pub mod identifiers;
pub mod manifest;
mod measure;
pub mod model;
pub mod output;
mod sample;
mod suggest;
mod units;
