//! Bakes animated glTF models into animation textures and Rust constants.

mod container;
mod encode;
pub mod finding;
mod frames;
mod geometry;
pub mod manifest;
mod measure;
pub mod model;
mod sample;
