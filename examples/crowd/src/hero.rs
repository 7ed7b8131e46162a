//! A soldier with an animator of the game's own, amid all those who play clips: he looks at the camera and waves his
//! sword. Same mesh, pipeline and draw; what he has of his own is a pose a frame.

use std::borrow::Cow;

use glam::{Quat, Vec3, Vec4};
use gpuskin_rt::local::{LocalTracks, LocalTransform};
use gpuskin_rt::{BakedModel, Bone, ClipRecord, Crowd, Instance, InstanceId, LiveBones, Time, files};

use crate::Error;
use crate::baked::{bones, models::Soldier};

/// Turns of neck and head, radians.
const MOST: f32 = 1.2;

/// The soldier.
#[derive(Debug)]
pub struct Hero {
    id: InstanceId,
    /// What the model's clips are made of, for the animator to begin with.
    words: Cow<'static, [u8]>,
    clips: Vec<ClipRecord>,
    /// Where he looks, in his own space.
    eye: Vec3,
}

impl Hero {
    /// Enters a crowd; `eye`: where he looks, in his own space.
    ///
    /// # Errors
    /// When the device plays the model in an encoding without local poses.
    pub fn new(crowd: &Crowd<Soldier>, instance: Instance<Soldier>, eye: Vec3) -> Result<Self, Error> {
        let model = Soldier::MODEL;
        let level = model.animation.levels[0];
        let mut words = files::load(&model.animation, &model.meta.content_hash)?;
        words.to_mut().drain(..level.offset as usize);
        words.to_mut().truncate(level.len as usize);
        let clips = model.meta.clips.iter().map(|clip| clip.record()).collect();
        let hero = Self { id: crowd.spawn(instance), words, clips, eye };
        let pose = hero.pose(crowd, 0.0).ok_or("the soldiers have no local poses: bake them with local-packed")?;
        crowd.set_live(hero.id, LiveBones::Local(&pose), 0.0)?;
        Ok(hero)
    }

    /// Once a frame.
    pub fn advance(&self, crowd: &Crowd<Soldier>, time: f64) {
        if let Some(pose) = self.pose(crowd, time) {
            // It is as long as that of `new`.
            let _ = crowd.update_live(self.id, LiveBones::Local(&pose));
        }
    }

    /// His clip, and what he makes of it.
    fn pose(&self, crowd: &Crowd<Soldier>, time: f64) -> Option<Vec<LocalTransform>> {
        let tracks = LocalTracks::new(&self.words)?;
        let shown = crowd.get(self.id)?.shown(&self.clips, Time::from(time));
        let mut animator = Animator { locals: tracks.locals(shown.current), tracks };
        let swing = (5.0 * time as f32).sin();
        animator.point(bones::SOLDIER_UPPER_ARM_R, bones::SOLDIER_LOWER_ARM_R, Vec3::new(-0.8, 0.5, 0.35));
        animator.point(bones::SOLDIER_LOWER_ARM_R, bones::SOLDIER_HAND_R, Vec3::new(0.5 * swing - 0.2, 1.0, 0.2));
        for (bone, share) in [(bones::SOLDIER_NECK, 0.5), (bones::SOLDIER_HEAD, 1.0)] {
            let head = animator.place(bones::SOLDIER_HEAD);
            let turn = Quat::from_rotation_arc(animator.facing(bones::SOLDIER_HEAD), (self.eye - head).normalize());
            let (axis, angle) = turn.to_axis_angle();
            animator.turn(bone, Quat::from_axis_angle(axis, share * angle.min(MOST)));
        }
        Some(animator.locals)
    }
}

/// A pose that is worked on, in the space of the model.
struct Animator<'a> {
    tracks: LocalTracks<'a>,
    locals: Vec<LocalTransform>,
}

impl Animator<'_> {
    fn node(&self, bone: Bone<Soldier>) -> usize {
        self.tracks.bone_node(bone.index() as usize)
    }

    /// Where a bone is.
    fn place(&self, bone: Bone<Soldier>) -> Vec3 {
        self.tracks.globals(&self.locals)[self.node(bone)].point(Vec3::ZERO)
    }

    /// Where what looked along z when it was modelled looks now.
    fn facing(&self, bone: Bone<Soldier>) -> Vec3 {
        self.tracks.bones(&self.tracks.globals(&self.locals))[bone.index() as usize].direction(Vec3::Z).normalize()
    }

    /// The rotation of a node's parent to the model.
    fn above(&self, node: usize) -> Quat {
        let chain = std::iter::successors(self.tracks.parent(node), |node| self.tracks.parent(*node));
        chain.fold(Quat::IDENTITY, |below, node| Quat::from_vec4(self.locals[node].rotation) * below)
    }

    /// Turns a bone, and all that hangs on it, about its own place.
    fn turn(&mut self, bone: Bone<Soldier>, turn: Quat) {
        let node = self.node(bone);
        let above = self.above(node);
        let own = Quat::from_vec4(self.locals[node].rotation);
        self.locals[node].rotation = Vec4::from((above.inverse() * turn * above * own).normalize());
    }

    /// Turns a bone so that another that hangs on it is in some direction.
    fn point(&mut self, bone: Bone<Soldier>, end: Bone<Soldier>, direction: Vec3) {
        let now = (self.place(end) - self.place(bone)).normalize();
        self.turn(bone, Quat::from_rotation_arc(now, direction.normalize()));
    }
}
