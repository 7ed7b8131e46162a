#![doc = include_str!("../README.md")]

#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/src/bevy.md")]
mod guide {}

mod character;
mod collect;
mod outbox;
mod plugin;
mod render;

pub use character::Character;
pub use gpuskin_rt;
pub use gpuskin_rt::{Curve, Repeat, Transition};
pub use plugin::{CharacterPlugin, CharacterSystems, GpuskinPlugin};
pub use render::CharacterRenderer;
