//! Sets of the systems in the main world.

use bevy::prelude::*;

/// Systems of this crate.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CharacterSystems {
    /// Triggers the events of the time since the last frame, in [`PreUpdate`].
    Events,
    /// Moves sockets to their bones, in [`PostUpdate`] before [`TransformSystems::Propagate`](bevy::transform::TransformSystems::Propagate).
    Sockets,
    /// Collects the commands, transforms and visibilities that have changed in this frame, in [`PostUpdate`].
    Collect,
}
