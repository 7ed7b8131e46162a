//! Bakes animated glTF models into animation textures and Rust constants.

pub mod finding;
pub mod import;
pub mod manifest;
pub mod model;
