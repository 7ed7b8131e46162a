//! A headless server. Soldiers fence in pairs; it knows who hits whom, and when a clip has ended, from the same constants
//! as the picture. It needs no wgpu: `cargo tree -p server -e normal`.
//!
//! | | |
//! |---|---|
//! | [`EventQueue`] | what clips come to: their events, and their ends |
//! | [`Sockets`] | where a hand is, in the world |
//! | [`Metadata::world_bounds`](gpuskin_rt::Metadata::world_bounds) | what a soldier fills |
//! | [`ClipInfo::root_displacement`](gpuskin_rt::ClipInfo::root_displacement) | where his clip takes him |

use glam::Vec3;
use gpuskin_rt::{
    Aabb, BakedModel, Bone, Clip, Curve, EventQueue, Instance, InstanceRecord, Metadata, Notice, NoticeKind,
    SocketError, Sockets, Time,
};

/// The constants of the models that `build.rs` baked.
#[allow(missing_docs, reason = "generated")]
pub mod baked {
    gpuskin_rt::include_baked!();
}

use baked::models::Soldier;
use baked::{bones, clips, events};

/// The model of all.
pub const META: &Metadata = &Soldier::MODEL.meta;
/// What strikes.
pub const HAND: Bone<Soldier> = bones::SOLDIER_HAND_R;
/// The moment of a stroke that hurts.
const HIT: NoticeKind = NoticeKind::Event(events::SOLDIER_HIT.index());
/// Metres from a hand to the end of the blade.
const REACH: f32 = 0.9;
/// Seconds from one clip to the next.
const FADE: f32 = 0.15;

/// Soldiers and what they are at.
#[derive(Debug)]
pub struct World {
    /// As the picture would have them: even and odd ones face each other.
    pub soldiers: Vec<InstanceRecord>,
    /// Who has fallen.
    pub fallen: Vec<bool>,
    sockets: Sockets<'static, Soldier>,
    queue: EventQueue<usize>,
    now: Time,
}

impl World {
    /// So many pairs, each at a time of its own.
    ///
    /// # Errors
    /// When the model's animation is missing, or has no bones.
    pub fn new(pairs: u32) -> Result<Self, SocketError> {
        let mut world = Self {
            soldiers: Vec::new(),
            fallen: vec![false; 2 * pairs as usize],
            sockets: Sockets::new()?,
            queue: EventQueue::new(),
            now: Time::ZERO,
        };
        for i in 0..2 * pairs {
            let (pair, second) = ((i / 2) as f32, i % 2 == 1);
            let (z, yaw) = if second { (0.6, std::f32::consts::PI) } else { (-0.6, 0.0) };
            let waits = Instance::at([3.0 * pair, 0.0, z]).facing(yaw).play(clips::SOLDIER_IDLE).phase(0.37 * i as f32);
            world.soldiers.push(waits.record(META, Time::ZERO));
            world.play(i as usize, clips::SOLDIER_ATTACK, 0.8 + 0.05 * (i % 9) as f32);
        }
        Ok(world)
    }

    /// Goes on to a moment. Gives what soldiers have come to since the last.
    pub fn tick(&mut self, now: impl Into<Time>) -> Vec<Notice<usize>> {
        let (before, now) = (self.now, now.into());
        for soldier in &mut self.soldiers {
            // Clips that were baked with root motion take their soldier along.
            let clip = &META.clips[soldier.clip_index()];
            soldier.displace(clip.root_displacement(&soldier.playback(), before, now));
        }
        self.now = now;
        let notices: Vec<_> = self.queue.drain(&META.clips, now).collect();
        for notice in &notices {
            let (striker, other) = (notice.instance, notice.instance ^ 1);
            if self.fallen[striker] || self.fallen[other] {
                continue;
            }
            if notice.kind == NoticeKind::Finished {
                self.play(striker, clips::SOLDIER_ATTACK, 1.1);
            } else if notice.kind == HIT && self.strikes(striker, other, notice.time) {
                self.fallen[other] = true;
                self.play(other, clips::SOLDIER_DIE, 1.0);
            }
        }
        notices
    }

    /// Where a soldier's hand is, metres in the world.
    pub fn hand(&self, soldier: usize, now: impl Into<Time>) -> Vec3 {
        let place = self.sockets.in_world(HAND, &self.soldiers[soldier], now);
        place.map_or(Vec3::ZERO, |place| place.translation())
    }

    /// What a soldier fills, metres in the world.
    pub fn bounds(&self, soldier: usize, now: impl Into<Time>) -> Aabb {
        META.world_bounds(&self.soldiers[soldier], now)
    }

    fn strikes(&self, striker: usize, other: usize, now: Time) -> bool {
        let (hand, bounds) = (self.hand(striker, now), self.bounds(other, now));
        let nearest = hand.clamp(bounds.min.into(), bounds.max.into());
        hand.distance(nearest) < REACH
    }

    fn play(&mut self, i: usize, clip: Clip<Soldier>, speed: f32) {
        let next = Instance::at([0.0; 3]).play(clip).speed(speed).once().record(META, self.now).playback();
        let soldier = &mut self.soldiers[i];
        soldier.play(&next, FADE, Curve::Smooth, self.now);
        self.queue.play(&META.clips, i as u32, i, soldier.playback(), self.now);
    }
}
