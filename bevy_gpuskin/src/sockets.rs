//! Sockets: child entities that follow a bone.

use bevy::prelude::*;
use gpuskin_rt::{BakedModel, Bone, Sockets, Time as Timestamp};

use crate::character::Character;

/// A child entity of a character whose [`Transform`] follows a bone: for weapons, lights, particles and hit boxes.
///
/// The transform is that of the bone, in the frame that is drawn, with crossfades and layers. The size is the world's, whatever the
/// unit of the rig: a bone has the scale 1 in the bind pose. Children of the socket have offsets of their own.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_gpuskin::{Character, Socket};
/// use bevy_gpuskin_sample_models::{bones, clips};
///
/// fn spawn(mut commands: Commands) {
///     commands.spawn((
///         Character::playing(clips::SOLDIER_RUN),
///         children![(
///             Socket::to(bones::SOLDIER_HAND_R),
///             children![(PointLight::default(), Transform::from_xyz(0.0, 0.3, 0.0))],
///         )],
///     ));
/// }
/// ```
///
/// A bone of another model does not follow: the parent must be a [`Character`] of the model `M`. Name bones under `sockets` in
/// `gpuskin.toml` if no vertex follows them, because the bake drops other such bones.
#[derive(Component, Debug)]
#[require(Transform, Visibility)]
pub struct Socket<M: BakedModel> {
    /// The bone.
    pub bone: Bone<M>,
}

impl<M: BakedModel> Socket<M> {
    /// Makes a socket that follows a bone.
    pub const fn to(bone: Bone<M>) -> Self {
        Self { bone }
    }
}

/// Bones of a model, read when the first socket is there.
#[derive(Default)]
pub(crate) enum Bones<M: BakedModel> {
    #[default]
    Unread,
    Failed,
    Read(Sockets<'static, M>),
}

/// Moves the sockets of a model to their bones.
pub(crate) fn follow<M: BakedModel>(
    time: Res<Time<Virtual>>,
    mut sockets: Query<(Entity, &Socket<M>, Option<&ChildOf>, &mut Transform)>,
    mut characters: Query<&mut Character<M>>,
    mut bones: Local<Bones<M>>,
) {
    if sockets.is_empty() {
        return;
    }
    if matches!(*bones, Bones::Unread) {
        *bones = match Sockets::<M>::new() {
            Ok(sockets) => Bones::Read(sockets),
            Err(error) => {
                error!("sockets do not follow their bones: {error}");
                Bones::Failed
            }
        };
    }
    let Bones::Read(bones) = &*bones else { return };
    let now = Timestamp::from_secs(time.elapsed_secs_f64());
    for (entity, socket, parent, mut transform) in &mut sockets {
        let Some(mut character) = parent.and_then(|parent| characters.get_mut(parent.parent()).ok()) else {
            let name = &M::MODEL.meta.name;
            warn_once!("{entity}: a socket of the model {name} stays where it is; make it a child of such a character");
            continue;
        };
        // A copy of the playback is no change of the character.
        let playing = character.bypass_change_detection().play_until(now);
        let Some(in_model) = bones.in_model(socket.bone, playing.pose(), now) else { continue };
        let bind = M::MODEL.meta.bones[usize::from(socket.bone.index())].bind;
        transform.set_if_neq(relative_to_bind(in_model.rows.map(|row| row.to_array()), bind));
    }
}

/// Returns the transform of a bone, with the scale relative to that of the bind pose. Both are rows of a 3x4 matrix.
fn relative_to_bind(bone: [[f32; 4]; 3], bind: [[f32; 4]; 3]) -> Transform {
    let [x, y, z] = bone.map(Vec4::from);
    let bone = Mat4::from_cols(x, y, z, Vec4::W).transpose();
    let bind = bind.map(|row| Vec4::from(row).truncate());
    let bind = (bind[0] * bind[0] + bind[1] * bind[1] + bind[2] * bind[2]).map(f32::sqrt);
    let (scale, rotation, translation) = bone.to_scale_rotation_translation();
    Transform { translation, rotation, scale: scale / bind.map(|length| if length > 0.0 { length } else { 1.0 }) }
}
