//! A soldier with the game's own animator, among soldiers that play clips: it looks at the camera
//! and waves its sword. Mesh, pipeline and draw call are those of the crowd; only the pose is its
//! own, uploaded once per frame.

use std::borrow::Cow;

use glam::{Quat, Vec3};
use gpuskin_rt::tools::LocalTracks;
use gpuskin_rt::{BakedModel, Bone, Crowd, Instance, InstanceId, LiveBones, LocalTransform};

use crate::Error;
use crate::baked::{bones, models::Soldier};

/// Greatest rotation of neck and head, in radians.
const MAX_TURN: f32 = 1.2;

/// Soldier with its own animator.
#[derive(Debug)]
pub struct Hero {
    id: InstanceId,
    /// Words of the model's animation: its clips are the animator's starting point.
    words: Cow<'static, [u8]>,
    /// Point that the soldier looks at, in its own space, metres.
    eye: Vec3,
}

impl Hero {
    /// Spawns the soldier in a crowd. `eye` is the point that it looks at, in its own space,
    /// metres.
    ///
    /// # Errors
    /// Returns an error if the device plays the model in an encoding without local poses.
    pub fn new(crowd: &Crowd<Soldier>, instance: Instance<Soldier>, eye: Vec3) -> Result<Self, Error> {
        let model = Soldier::MODEL;
        let hero = Self { id: crowd.spawn(instance), words: model.animation_bytes()?, eye };
        let pose = hero.pose(crowd, 0.0).ok_or("the soldiers have no local poses: bake them with local-packed")?;
        crowd.set_live_bones(hero.id, LiveBones::Local(&pose), 0.0)?;
        Ok(hero)
    }

    /// Uploads the pose at `time`, in seconds. Call this once per frame.
    pub fn advance(&self, crowd: &Crowd<Soldier>, time: f64) {
        if let Some(pose) = self.pose(crowd, time) {
            // Cannot fail: the pose has as many transforms as the one in `new`.
            let _ = crowd.update_live_bones(&[self.id], LiveBones::Local(&pose));
        }
    }

    /// Pose of the soldier's clip with the animator's changes.
    fn pose(&self, crowd: &Crowd<Soldier>, time: f64) -> Option<Vec<LocalTransform>> {
        let tracks = LocalTracks::new(&self.words)?;
        let mut animator = Animator { locals: tracks.locals_at(&crowd.get(self.id)?, time), tracks };
        let swing = (5.0 * time as f32).sin();
        animator.point(bones::SOLDIER_UPPER_ARM_R, bones::SOLDIER_LOWER_ARM_R, Vec3::new(-0.8, 0.5, 0.35));
        animator.point(bones::SOLDIER_LOWER_ARM_R, bones::SOLDIER_HAND_R, Vec3::new(0.5 * swing - 0.2, 1.0, 0.2));
        for (bone, share) in [(bones::SOLDIER_NECK, 0.5), (bones::SOLDIER_HEAD, 1.0)] {
            let head = animator.place(bones::SOLDIER_HEAD);
            let turn = Quat::from_rotation_arc(animator.facing(bones::SOLDIER_HEAD), (self.eye - head).normalize());
            let (axis, angle) = turn.to_axis_angle();
            animator.turn(bone, Quat::from_axis_angle(axis, share * angle.min(MAX_TURN)));
        }
        Some(animator.locals)
    }
}

/// Pose that the animator changes.
struct Animator<'a> {
    tracks: LocalTracks<'a>,
    locals: Vec<LocalTransform>,
}

impl Animator<'_> {
    fn node(&self, bone: Bone<Soldier>) -> usize {
        self.tracks.bone_node(bone.index() as usize)
    }

    /// Position of a bone, model space, metres.
    fn place(&self, bone: Bone<Soldier>) -> Vec3 {
        Vec3::from(self.tracks.globals(&self.locals)[self.node(bone)].translation())
    }

    /// Current direction of a bone's axis that was +z in the bind pose, model space.
    fn facing(&self, bone: Bone<Soldier>) -> Vec3 {
        let bones = self.tracks.bones(&self.tracks.globals(&self.locals));
        Vec3::from(bones[bone.index() as usize].transform_direction(Vec3::Z)).normalize()
    }

    /// Rotation from the space of a node's parent to model space.
    fn above(&self, node: usize) -> Quat {
        let chain = std::iter::successors(self.tracks.parent(node), |node| self.tracks.parent(*node));
        chain.fold(Quat::IDENTITY, |below, node| Quat::from_array(self.locals[node].rotation()) * below)
    }

    /// Turns a bone and its descendants about the bone's position.
    fn turn(&mut self, bone: Bone<Soldier>, turn: Quat) {
        let node = self.node(bone);
        let above = self.above(node);
        let local = &mut self.locals[node];
        let rotation = above.inverse() * turn * above * Quat::from_array(local.rotation());
        *local = LocalTransform::new(rotation.normalize(), local.translation(), local.scale());
    }

    /// Turns a bone so that its descendant `end` lies in `direction`, model space.
    fn point(&mut self, bone: Bone<Soldier>, end: Bone<Soldier>, direction: Vec3) {
        let current = (self.place(end) - self.place(bone)).normalize();
        self.turn(bone, Quat::from_rotation_arc(current, direction.normalize()));
    }
}
