//! Bakes animated glTF models into animation textures and Rust constants.

pub mod finding;
pub mod identifiers;
pub mod manifest;
pub mod model;
mod suggest;
