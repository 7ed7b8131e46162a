//! Sockets: child entities that follow a bone.

use core::any::type_name;
use core::marker::PhantomData;

use bevy::ecs::entity_disabling::Disabled;
use bevy::prelude::*;
use bevy::reflect::TypePath;
use bevy::reflect::utility::GenericTypePathCell;
use gpuskin_rt::{BakedModel, Bone, Sockets, Time as Timestamp};

use crate::bake::Bake;
use crate::character::Character;
use crate::live::{LiveBones, bind_scale};

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
/// While the character is [`Disabled`](bevy::ecs::entity_disabling::Disabled), its sockets stay where they are.
///
/// A bone of another model does not follow: the parent must be a [`Character`] of the model `M`. Name bones under `sockets` in
/// `gpuskin.toml` if no vertex follows them, because the bake drops other such bones.
///
/// [`Reflect`] reads and writes the index of the bone in [`Metadata::bones`](gpuskin_rt::Metadata::bones).
#[derive(Component, Reflect, Debug)]
#[reflect(Component, type_path = false)]
#[require(Transform, Visibility)]
pub struct Socket<M: BakedModel> {
    bone: u16,
    #[reflect(ignore)]
    model: PhantomData<fn() -> M>,
}

// Not derived: a derive would require that generated models have paths.
impl<M: BakedModel> TypePath for Socket<M> {
    fn type_path() -> &'static str {
        static PATHS: GenericTypePathCell = GenericTypePathCell::new();
        PATHS.get_or_insert::<Self, _>(|| format!("bevy_gpuskin::Socket<{}>", type_name::<M>()))
    }

    fn short_type_path() -> &'static str {
        static PATHS: GenericTypePathCell = GenericTypePathCell::new();
        let model = type_name::<M>();
        PATHS.get_or_insert::<Self, _>(|| format!("Socket<{}>", model.rsplit("::").next().unwrap_or(model)))
    }
}

impl<M: BakedModel> Socket<M> {
    /// Makes a socket that follows a bone.
    pub const fn to(bone: Bone<M>) -> Self {
        Self { bone: bone.index(), model: PhantomData }
    }

    /// Returns the bone.
    pub const fn bone(&self) -> Bone<M> {
        Bone::new(self.bone)
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
    bake: Res<Bake<M>>,
    time: Res<Time<Virtual>>,
    mut sockets: Query<(Entity, &Socket<M>, Option<&ChildOf>, &mut Transform)>,
    mut characters: Query<(&mut Character<M>, Option<&LiveBones<M>>, Has<Disabled>)>,
    mut bones: Local<Bones<M>>,
) {
    if bake.is_changed() {
        *bones = Bones::Unread;
    }
    if sockets.is_empty() {
        return;
    }
    if matches!(*bones, Bones::Unread) {
        *bones = match Sockets::<M>::reloaded(bake.model()) {
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
        let Some((mut character, live, is_disabled)) =
            parent.and_then(|parent| characters.get_mut(parent.parent()).ok())
        else {
            let name = &M::MODEL.meta.name;
            warn_once!("{entity}: a socket of the model {name} stays where it is; make it a child of such a character");
            continue;
        };
        if is_disabled {
            continue;
        }
        let Some(bone) = bake.meta().bones().get(usize::from(socket.bone)) else {
            let (name, count) = (&M::MODEL.meta.name, bake.meta().bones().len());
            warn_once!(
                "{entity}: a socket stays where it is: bone {} does not exist; the model {name} has {count}",
                socket.bone
            );
            continue;
        };
        // A copy of the playback is no change of the character.
        let playing = character.bypass_change_detection().play_until(bake.meta(), now);
        let pose = playing.pose();
        let pose = live.and_then(LiveBones::pose).map_or(pose, |live| pose.with_live_bones(live));
        let Some(in_model) = bones.in_model(socket.bone(), pose, now) else { continue };
        transform.set_if_neq(relative_to_bind(in_model.rows.map(|row| row.to_array()), bone.bind));
    }
}

/// Returns the transform of a bone, with the scale relative to that of the bind pose. Both are rows of a 3x4 matrix.
fn relative_to_bind(bone: [[f32; 4]; 3], bind: [[f32; 4]; 3]) -> Transform {
    let [x, y, z] = bone.map(Vec4::from);
    let bone = Mat4::from_cols(x, y, z, Vec4::W).transpose();
    let (scale, rotation, translation) = bone.to_scale_rotation_translation();
    Transform { translation, rotation, scale: scale / bind_scale(bind) }
}

#[cfg(test)]
mod tests {
    use bevy_gpuskin_sample_models::{bones, models::Soldier};

    use super::*;

    #[test]
    fn the_bone_is_read_and_written_by_reflection() {
        let mut app = App::new();
        app.register_type::<Socket<Soldier>>();
        let entity = app.world_mut().spawn(Socket::to(bones::SOLDIER_HAND_R)).id();
        let registry = app.world().resource::<AppTypeRegistry>().clone();
        let registry = registry.read();
        let component =
            registry.get_with_short_type_path("Socket<Soldier>").unwrap().data::<ReflectComponent>().unwrap();
        let mut entity = app.world_mut().entity_mut(entity);
        let mut socket = component.reflect_mut(&mut entity).unwrap();
        let bone = socket.reflect_mut().as_struct().unwrap().field_mut("bone").unwrap();
        assert_eq!(bone.try_downcast_ref::<u16>(), Some(&bones::SOLDIER_HAND_R.index()));
        bone.try_apply(&bones::SOLDIER_SHOULDER_L.index()).unwrap();
        assert_eq!(entity.get::<Socket<Soldier>>().unwrap().bone(), bones::SOLDIER_SHOULDER_L);
    }
}
