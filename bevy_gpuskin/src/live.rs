//! Live bones: entities whose transforms the bones of a character take, and weights of morph targets.

use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::world::DeferredWorld;
use bevy::math::{Affine3A, Mat4};
use bevy::prelude::*;
use gpuskin_rt::{BakedModel, Bone, BoneInfo, Metadata, Morph, Time as Timestamp};

use crate::bake::Bake;
use crate::character::{Character, State};
use crate::collect::instance_transform;
use crate::outbox::Outbox;

/// Poses a [`Character`] by entities: bodies of a ragdoll, or the joints of a skeleton that Bevy or the game animates. Also sets weights
/// of morph targets: a face that the game animates.
///
/// Each bone that is listed is where its entity is, as its [`GlobalTransform`] after Bevy has propagated transforms. A bone that is
/// not listed keeps its place relative to the nearest of its ancestors that is: list the bones that move. Bones without such an
/// ancestor play the clip, and so do bones whose entity is gone.
///
/// The pose fades in over the clip and its layers, 0.2 s unless [`Self::fading`] sets another time. Remove the component to fade
/// back. The model needs the encoding `local-packed`. A character whose entities stand still costs a comparison of its pose, a
/// character without the component nothing.
///
/// Sockets follow live bones one frame later: a child of the body's entity needs no socket. They follow the clip while the pose fades
/// out. It has no [`Reflect`]: the bones' entities are set when it is made.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_gpuskin::{Character, LiveBones};
/// use bevy_gpuskin_sample_models::{bones, models::Soldier};
///
/// /// Bodies of the game's physics, at the joints of the soldier.
/// #[derive(Component)]
/// struct Ragdoll {
///     hips: Entity,
///     head: Entity,
/// }
///
/// fn fall(fallen: Query<(Entity, &Ragdoll), Added<Ragdoll>>, mut commands: Commands) {
///     for (soldier, bodies) in &fallen {
///         let bones = [(bones::SOLDIER_HIPS, bodies.hips), (bones::SOLDIER_HEAD, bodies.head)];
///         commands.entity(soldier).insert(LiveBones::<Soldier>::bodies(bones).fading(0.1));
///     }
/// }
///
/// fn get_up(soldier: Entity, commands: &mut Commands) {
///     commands.entity(soldier).remove::<LiveBones<Soldier>>();
/// }
/// ```
///
/// ```
/// use bevy::prelude::*;
/// use bevy_gpuskin::LiveBones;
/// use bevy_gpuskin_sample_models::{models::Jelly, morphs};
///
/// fn start(jelly: Entity, mut commands: Commands) {
///     commands.entity(jelly).insert(LiveBones::<Jelly>::morphs([(morphs::JELLY_SQUASH, 0.0)]));
/// }
///
/// fn breathe(mut jellies: Query<&mut LiveBones<Jelly>>, time: Res<Time>) {
///     for mut jelly in &mut jellies {
///         jelly.set_morphs([(morphs::JELLY_SQUASH, 0.5 + 0.5 * time.elapsed_secs().sin())]);
///     }
/// }
/// ```
#[derive(Component, Debug)]
#[component(on_discard = Self::on_discard)]
pub struct LiveBones<M: BakedModel> {
    bones: Vec<(Bone<M>, Entity)>,
    /// Weights of morph targets; `None`: those of the clip.
    morphs: Option<Vec<(Morph<M>, f32)>>,
    /// Seconds.
    fade: f32,
    scale: EntityScale,
    /// By bone of the model: index in `bones`, and the bone's transform relative to that entity. Empty before the first frame.
    sources: Vec<Option<(usize, Affine3A)>>,
    /// Bone-to-model transforms that the renderer has, rows; NaN for bones that play the clip. Empty before the first frame.
    pose: Vec<[[f32; 4]; 3]>,
}

/// Meaning of the scale of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntityScale {
    /// 1 in the bind pose, whatever the unit of the rig.
    OfBindPose,
    /// Scale of the joint in the rig.
    OfRig,
}

impl<M: BakedModel> LiveBones<M> {
    /// Makes live bones from entities in the size of the world: as for [`Socket`](crate::Socket), the scale 1 is that of the bind pose.
    ///
    /// An entity has the origin and the axes of its bone. If the origin of a body is elsewhere, such as in its centre of mass, give
    /// it a child entity at the joint and list that.
    pub fn bodies(bones: impl IntoIterator<Item = (Bone<M>, Entity)>) -> Self {
        Self::new(bones, EntityScale::OfBindPose)
    }

    /// Makes live bones from the joints of a skeleton that was loaded from the same file, which have the scale of the rig.
    pub fn skeleton(bones: impl IntoIterator<Item = (Bone<M>, Entity)>) -> Self {
        Self::new(bones, EntityScale::OfRig)
    }

    /// Makes live bones of weights of morph targets alone, over those of the clip and its layers. Targets that are not listed get the
    /// weight 0. All bones play the clip.
    pub fn morphs(weights: impl IntoIterator<Item = (Morph<M>, f32)>) -> Self {
        Self::bodies([]).with_morphs(weights)
    }

    fn new(bones: impl IntoIterator<Item = (Bone<M>, Entity)>, scale: EntityScale) -> Self {
        let bones = bones.into_iter().collect();
        Self { bones, morphs: None, fade: 0.2, scale, sources: Vec::new(), pose: Vec::new() }
    }

    /// Sets weights of morph targets, as [`Self::morphs`] does, beside bones that follow entities.
    pub fn with_morphs(mut self, weights: impl IntoIterator<Item = (Morph<M>, f32)>) -> Self {
        self.set_morphs(weights);
        self
    }

    /// Replaces the weights of morph targets, from this frame on. Targets that are not listed get the weight 0.
    pub fn set_morphs(&mut self, weights: impl IntoIterator<Item = (Morph<M>, f32)>) {
        let morphs = self.morphs.get_or_insert_default();
        morphs.clear();
        morphs.extend(weights);
    }

    /// Sets the time over which the pose fades in, and out when the component is removed. Seconds.
    pub const fn fading(mut self, seconds: f32) -> Self {
        self.fade = seconds;
        self
    }

    /// Returns the bone-to-model transforms of the last frame; `None` before the first.
    pub(crate) fn pose(&self) -> Option<gpuskin_rt::LiveBones<'_>> {
        (!self.pose.is_empty()).then_some(gpuskin_rt::LiveBones::Model(&self.pose))
    }

    /// Writes the pose of a character at `place` into `pose`.
    fn evaluate(
        &mut self,
        meta: &Metadata,
        place: &GlobalTransform,
        places: &Query<&GlobalTransform>,
        pose: &mut Vec<[[f32; 4]; 3]>,
    ) {
        if self.sources.is_empty() {
            self.sources = self.make_sources(meta);
        }
        // The transform that the renderer draws, also if the scale is not uniform.
        let gpuskin_rt::Transform { translation, rotation, scale } = instance_transform(place.compute_transform());
        let rotation = Quat::from_array(rotation);
        let to_world = Affine3A::from_scale_rotation_translation(Vec3::splat(scale), rotation, translation.into());
        let to_model = to_world.inverse();
        let of_entity = |(_, entity): &(Bone<M>, Entity)| match places.get(*entity) {
            Ok(place) => Some(to_model * place.affine()),
            Err(_) => {
                warn_once!("{entity}: a live bone without GlobalTransform plays the clip");
                None
            }
        };
        let entities: Vec<_> = self.bones.iter().map(of_entity).collect();
        let of_bone = |source: &Option<(usize, Affine3A)>| match source.and_then(|(i, bone)| Some(entities[i]? * bone))
        {
            Some(in_model) => rows(in_model),
            None => [[f32::NAN; 4]; 3],
        };
        pose.clear();
        pose.extend(self.sources.iter().map(of_bone));
        if let Some(morphs) = &self.morphs
            && let Err(error) = meta.write_morphs(morphs, pose)
        {
            warn_once!("weights of morph targets of the model {} have no effect: {error}", meta.name);
        }
    }

    fn make_sources(&self, meta: &Metadata) -> Vec<Option<(usize, Affine3A)>> {
        let bones = meta.bones();
        let source = |bone: usize| {
            let ancestors = std::iter::successors(Some(bone), |bone| bones[*bone].parent.map(|parent| parent as usize));
            let entity_of = |ancestor: usize| {
                let entity = self.bones.iter().position(|(bone, _)| usize::from(bone.index()) == ancestor)?;
                Some((ancestor, entity))
            };
            // Bones have fewer ancestors than there are bones.
            let (ancestor, entity) = ancestors.take(bones.len()).find_map(entity_of)?;
            let scale = match self.scale {
                EntityScale::OfBindPose => Affine3A::from_scale(bind_scale(bones[ancestor].bind)),
                EntityScale::OfRig => Affine3A::IDENTITY,
            };
            Some((entity, scale * bind(&bones[ancestor]).inverse() * bind(&bones[bone])))
        };
        // The bones behind them have weights of morph targets.
        let placed = meta.placed_bones();
        (0..bones.len()).map(|bone| (bone < placed).then(|| source(bone)).flatten()).collect()
    }

    fn on_discard(mut world: DeferredWorld, context: HookContext) {
        let Some(mut live) = world.get_mut::<Self>(context.entity).filter(|live| !live.pose.is_empty()) else { return };
        let (pose, fade) = (std::mem::take(&mut live.pose), live.fade);
        if let Some(mut character) = world.get_mut::<Character<M>>(context.entity) {
            character.release_live_bones(pose.into(), fade);
        }
    }
}

/// Returns the scale of a bone in the bind pose, per axis; 1 for an axis without length. `bind`: rows of a 3x4 matrix.
pub(crate) fn bind_scale(bind: [[f32; 4]; 3]) -> Vec3 {
    let bind = bind.map(|row| Vec4::from(row).truncate());
    let lengths = (bind[0] * bind[0] + bind[1] * bind[1] + bind[2] * bind[2]).map(f32::sqrt);
    lengths.map(|length| if length > 0.0 { length } else { 1.0 })
}

fn bind(bone: &BoneInfo) -> Affine3A {
    let [x, y, z] = bone.bind.map(Vec4::from);
    Affine3A::from_mat4(Mat4::from_cols(x, y, z, Vec4::W).transpose())
}

fn rows(affine: Affine3A) -> [[f32; 4]; 3] {
    let rows = Mat4::from(affine).transpose();
    [rows.x_axis, rows.y_axis, rows.z_axis].map(|row| row.to_array())
}

/// Collects the poses of characters with live bones, after transforms are propagated and characters have their slots.
pub(crate) fn collect_live<M: BakedModel>(
    mut outbox: ResMut<Outbox<M>>,
    bake: Res<Bake<M>>,
    time: Res<Time<Virtual>>,
    mut characters: Query<(&mut Character<M>, &mut LiveBones<M>, &GlobalTransform)>,
    places: Query<&GlobalTransform>,
    mut pose: Local<Vec<[[f32; 4]; 3]>>,
) {
    let outbox = outbox.bypass_change_detection();
    let now = Timestamp::from_secs(time.elapsed_secs_f64());
    let is_other_bake = bake.is_changed();
    for (mut character, mut live, place) in &mut characters {
        let (character, live) = (character.bypass_change_detection(), live.bypass_change_detection());
        let State::Spawned(slot, group) = character.state else { continue };
        if is_other_bake {
            live.sources.clear();
        }
        live.evaluate(bake.meta(), place, &places, &mut pose);
        // The instance of another group has no pose yet.
        let is_known = character.live == Some(group);
        // As bits, because a NaN differs from itself.
        if is_known && bytemuck::cast_slice::<_, u32>(&pose[..]) == bytemuck::cast_slice::<_, u32>(&live.pose[..]) {
            continue;
        }
        let fade = character.live.is_none().then_some(live.fade);
        if let Some(fade) = fade {
            character.start_live_bones(fade, bake.meta(), now);
        }
        character.live = Some(group);
        live.pose.clone_from(&pose);
        outbox.current.live.push((slot, fade));
        outbox.current.live_poses.extend_from_slice(&pose);
    }
}

#[cfg(test)]
mod tests {
    use bevy_gpuskin_sample_models::{bones, clips, models::Soldier};

    use super::*;
    use crate::collect::{collect, finish};
    use crate::outbox::{Batch, Command};

    fn app() -> App {
        let mut app = App::new();
        app.init_resource::<Outbox<Soldier>>().init_resource::<Bake<Soldier>>().init_resource::<Time<Virtual>>();
        app.add_systems(Update, (collect::<Soldier>, collect_live::<Soldier>, finish::<Soldier>).chain());
        app
    }

    fn batch(app: &mut App) -> Option<Batch<Soldier>> {
        app.update();
        app.world_mut().resource_mut::<Outbox<Soldier>>().take().pop()
    }

    fn transform_of(pose: &[[[f32; 4]; 3]], bone: Bone<Soldier>) -> Affine3A {
        bind(&BoneInfo { name: "".into(), parent: None, bind: pose[usize::from(bone.index())] })
    }

    #[test]
    fn bones_are_where_their_entities_are() {
        let mut app = app();
        let place =
            Transform::from_xyz(4.0, 0.0, -3.0).with_rotation(Quat::from_rotation_y(1.0)).with_scale(Vec3::splat(2.0));
        let body =
            Transform::from_xyz(3.0, 2.0, 1.0).with_rotation(Quat::from_rotation_x(0.5)).with_scale(Vec3::splat(2.0));
        let [arm, gone] = [body, body].map(|body| app.world_mut().spawn(GlobalTransform::from(body)).id());
        let live = LiveBones::bodies([(bones::SOLDIER_UPPER_ARM_R, arm), (bones::SOLDIER_HEAD, gone)]);
        let soldier = (Character::playing(clips::SOLDIER_RUN), GlobalTransform::from(place), live.fading(0.5));
        let soldier = app.world_mut().spawn(soldier).id();
        app.world_mut().despawn(gone);

        let first = batch(&mut app).unwrap();
        assert_eq!(first.live, [(0, Some(0.5))]);
        let pose = &first.live_poses;
        assert_eq!(pose.len(), Soldier::MODEL.meta.bones().len());
        let info = |bone: Bone<Soldier>| &Soldier::MODEL.meta.bones()[usize::from(bone.index())];
        // In the world, the arm is its body, and the hand has its place of the bind pose relative to the arm.
        let world = |bone| place.compute_affine() * transform_of(pose, bone);
        assert!(world(bones::SOLDIER_UPPER_ARM_R).abs_diff_eq(body.compute_affine(), 1e-5));
        let offset = bind(info(bones::SOLDIER_UPPER_ARM_R)).inverse() * bind(info(bones::SOLDIER_HAND_R));
        assert!(offset.translation.length() > 0.3);
        assert!(world(bones::SOLDIER_HAND_R).abs_diff_eq(body.compute_affine() * offset, 1e-5));
        // Bones without an entity, or without the entity that they have, play the clip.
        for bone in [bones::SOLDIER_HIPS, bones::SOLDIER_HAND_L, bones::SOLDIER_HEAD] {
            assert!(pose[usize::from(bone.index())].as_flattened().iter().all(|x| x.is_nan()), "{bone:?}");
        }

        // A pose is sent if an entity moves.
        assert!(batch(&mut app).is_none());
        *app.world_mut().get_mut::<GlobalTransform>(arm).unwrap() = Transform::from_xyz(3.0, 1.0, 1.0).into();
        let moved = batch(&mut app).unwrap();
        assert_eq!((&moved.live[..], moved.live_poses.len()), (&[(0, None)][..], pose.len()));
        assert!(moved.commands.is_empty());

        // Removing the component fades back; a new one starts again.
        app.world_mut().entity_mut(soldier).remove::<LiveBones<Soldier>>();
        let released = batch(&mut app).unwrap();
        assert!(matches!(released.commands[..], [(0, Command::ReleaseLive(0.5))]) && released.live.is_empty());
        app.world_mut().entity_mut(soldier).insert(LiveBones::bodies([(bones::SOLDIER_HEAD, arm)]).fading(0.0));
        assert_eq!(batch(&mut app).unwrap().live, [(0, Some(0.0))]);
        // A character that starts anew has its live bones again.
        app.world_mut().entity_mut(soldier).insert(Character::playing(clips::SOLDIER_WALK));
        assert_eq!(batch(&mut app).unwrap().live, [(0, Some(0.0))]);
    }

    /// A turned child of a parent whose scale is not uniform has a sheared transform.
    #[test]
    fn bones_of_sheared_characters_are_where_their_entities_are() {
        let mut app = app();
        let sheared = GlobalTransform::from(Transform::from_scale(Vec3::new(1.0, 1.0, 3.0)))
            .mul_transform(Transform::from_rotation(Quat::from_rotation_y(0.8)));
        let body = GlobalTransform::from_xyz(0.3, 1.5, 0.2);
        let arm = app.world_mut().spawn(body).id();
        let live = LiveBones::bodies([(bones::SOLDIER_UPPER_ARM_R, arm)]);
        app.world_mut().spawn((Character::playing(clips::SOLDIER_RUN), sheared, live));
        let batch = batch(&mut app).unwrap();
        let gpuskin_rt::Transform { translation, rotation, scale } =
            batch.spawned[0].2.record(&Soldier::MODEL.meta, Timestamp::from_secs(0.0)).transform();
        // gpuskin draws the quaternion normalised.
        let rotation = Quat::from_array(rotation).normalize();
        let drawn = Affine3A::from_scale_rotation_translation(Vec3::splat(scale), rotation, translation.into());
        let in_world = drawn * transform_of(&batch.live_poses, bones::SOLDIER_UPPER_ARM_R);
        let scale = bind_scale(Soldier::MODEL.meta.bones()[usize::from(bones::SOLDIER_UPPER_ARM_R.index())].bind);
        assert!(in_world.abs_diff_eq(body.affine() * Affine3A::from_scale(scale), 1e-4), "{in_world:?}");
    }

    #[cfg(feature = "assets")]
    #[test]
    fn pose_that_fades_out_has_all_bones_of_a_later_bake() {
        let mut app = app();
        let body = app.world_mut().spawn(GlobalTransform::default()).id();
        let live = LiveBones::bodies([(bones::SOLDIER_HEAD, body)]);
        let soldier = app.world_mut().spawn((Character::playing(clips::SOLDIER_RUN), live)).id();
        batch(&mut app);
        app.world_mut().resource_mut::<Time<Virtual>>().advance_by(core::time::Duration::from_secs(1));
        app.world_mut().entity_mut(soldier).remove::<LiveBones<Soldier>>();
        let mut later = Soldier::MODEL.clone();
        later.meta.bones.to_mut().push(BoneInfo { name: "cape".into(), ..Soldier::MODEL.meta.bones()[0].clone() });
        let later: &_ = Box::leak(Box::new(later));
        app.world_mut().resource_mut::<Bake<Soldier>>().replace(later);
        app.world_mut().resource_mut::<Outbox<Soldier>>().current.model = Some(later);
        let reloaded = batch(&mut app).unwrap();
        assert_eq!((reloaded.live.len(), reloaded.live_poses.len()), (1, later.meta.bones().len()));
    }

    #[test]
    fn joints_of_a_skeleton_have_the_scale_of_the_rig() {
        let entity = Entity::PLACEHOLDER;
        let bone = bones::SOLDIER_HEAD;
        let [bodies, skeleton] = [LiveBones::bodies, LiveBones::skeleton].map(|make: fn(_) -> LiveBones<Soldier>| {
            make(vec![(bone, entity)]).make_sources(&Soldier::MODEL.meta)[usize::from(bone.index())].unwrap().1
        });
        let scale = bind_scale(Soldier::MODEL.meta.bones()[usize::from(bone.index())].bind);
        assert!(skeleton.abs_diff_eq(Affine3A::IDENTITY, 1e-5));
        assert!(bodies.abs_diff_eq(Affine3A::from_scale(scale), 1e-5));
    }
}
