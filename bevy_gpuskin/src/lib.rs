#![doc = include_str!("../README.md")]

#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/src/bevy.md")]
mod guide {}

#[cfg(feature = "assets")]
mod assets;
mod bake;
mod character;
mod collect;
mod crowd;
mod enabling;
mod events;
mod extension;
mod extension_plugin;
mod field;
mod inspector;
mod live;
mod outbox;
#[cfg(feature = "picking")]
mod picking;
mod playing;
mod plugin;
mod render;
mod sockets;
mod systems;

#[cfg(feature = "assets")]
pub use assets::{CharacterBake, CharacterModel};
pub use character::Character;
pub use crowd::CharacterCrowd;
pub use events::{ClipFinished, EventFired};
pub use extension::CharacterExtension;
pub use extension_plugin::CharacterExtensionPlugin;
pub use field::CharacterField;
pub use gpuskin_rt;
pub use gpuskin_rt::{Attachment, Curve, ModelVariant, Repeat, Transition};
pub use inspector::CharacterInspector;
pub use live::LiveBones;
pub use plugin::{CharacterPlugin, GpuskinPlugin};
pub use render::{CharacterRenderSystems, CharacterRenderer};
pub use sockets::Socket;
pub use systems::CharacterSystems;
