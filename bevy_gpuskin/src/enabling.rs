//! Entities that are `Disabled` no longer.

use bevy::ecs::entity_disabling::Disabled;
use bevy::prelude::*;
use gpuskin_rt::BakedModel;

use crate::character::Character;
use crate::crowd::CharacterCrowd;
use crate::field::CharacterField;
use crate::sockets::Socket;

/// An entity that this crate places or draws.
type Ours<M> = Or<(With<Character<M>>, With<CharacterCrowd<M>>, With<CharacterField<M>>, With<Socket<M>>)>;

/// Marks transform and visibility of entities that were enabled as changed, before Bevy propagates them. Bevy leaves
/// disabled entities out, and does not make up for it later.
pub(crate) fn mark_enabled<M: BakedModel>(
    mut enabled: RemovedComponents<Disabled>,
    mut ours: Query<(Option<&mut Transform>, &mut Visibility), Ours<M>>,
) {
    for entity in enabled.read() {
        let Ok((transform, mut visibility)) = ours.get_mut(entity) else { continue };
        visibility.set_changed();
        if let Some(mut transform) = transform {
            transform.set_changed();
        }
    }
}
