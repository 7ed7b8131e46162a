//! A headless server. Soldiers fight in pairs. From the same baked constants as the picture, the
//! server knows which soldier hits which, and when a clip has ended. It does not depend on wgpu:
//! `cargo tree -p server -e normal`.
//!
//! | item | use |
//! |---|---|
//! | [`EventQueue`] | events and ends of clips |
//! | [`Sockets`] | position of a hand in the world |
//! | [`Metadata::world_bounds`](gpuskin_rt::Metadata::world_bounds) | bounding box of a soldier |
//! | [`InstanceRecord::root_displacement`](gpuskin_rt::InstanceRecord::root_displacement) | root motion of what an instance plays |

use glam::Vec3;
use gpuskin_rt::{
    Aabb, BakedModel, Bone, Clip, EventQueue, FiredEvent, FiredEventKind, Instance, InstanceRecord, Metadata, Repeat,
    SocketError, Sockets, Time, Transition,
};

/// Constants of the models that `build.rs` baked.
#[allow(missing_docs, reason = "generated")]
pub mod baked {
    gpuskin_rt::include_baked!();
}

use baked::models::Soldier;
use baked::{bones, clips, events};

/// Metadata of the model of all soldiers.
pub const META: &Metadata = &Soldier::MODEL.meta;
/// Bone of the hand that strikes.
pub const HAND: Bone<Soldier> = bones::SOLDIER_HAND_R;
/// Event of the attack at which the blade can hit.
const HIT: FiredEventKind = FiredEventKind::Event(events::SOLDIER_HIT.index());
/// Distance from the hand to the tip of the blade, in metres.
const REACH: f32 = 0.9;
/// Duration of a crossfade from one clip to the next, in seconds.
const FADE: f32 = 0.15;

/// Soldiers and their state.
#[derive(Debug)]
pub struct World {
    /// Instance records, as for a picture. Even and odd soldiers face each other.
    pub soldiers: Vec<InstanceRecord>,
    /// Whether each soldier has fallen.
    pub fallen: Vec<bool>,
    sockets: Sockets<'static, Soldier>,
    queue: EventQueue<usize>,
    now: Time,
}

impl World {
    /// Creates `pairs` pairs of soldiers, each with its own phase and speed.
    ///
    /// # Errors
    /// Returns an error if the model's animation is missing or has no bones.
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

    /// Advances the world to `now`. Returns the events that fired since the last tick.
    pub fn tick(&mut self, now: impl Into<Time>) -> Vec<FiredEvent<usize>> {
        let (before, now) = (self.now, now.into());
        for soldier in &mut self.soldiers {
            // Clips that were baked with root motion move their soldier.
            soldier.displace(soldier.root_displacement(META.clips(), before, now));
        }
        self.now = now;
        let notices: Vec<_> = self.queue.drain(META.clips(), now).collect();
        for notice in &notices {
            let (striker, other) = (notice.instance, notice.instance ^ 1);
            if self.fallen[striker] || self.fallen[other] {
                continue;
            }
            if notice.kind == FiredEventKind::Finished {
                self.play(striker, clips::SOLDIER_ATTACK, 1.1);
            } else if notice.kind == HIT && self.strikes(striker, other, notice.time) {
                self.fallen[other] = true;
                self.play(other, clips::SOLDIER_DIE, 1.0);
            }
        }
        notices
    }

    /// Position of a soldier's hand, world space, metres.
    pub fn hand(&self, soldier: usize, now: impl Into<Time>) -> Vec3 {
        let place = self.sockets.in_world(HAND, &self.soldiers[soldier], now);
        place.map_or(Vec3::ZERO, |place| place.translation().into())
    }

    /// Bounding box of a soldier, world space, metres.
    pub fn bounds(&self, soldier: usize, now: impl Into<Time>) -> Aabb {
        META.world_bounds(&self.soldiers[soldier], now)
    }

    fn strikes(&self, striker: usize, other: usize, now: Time) -> bool {
        let (hand, bounds) = (self.hand(striker, now), self.bounds(other, now));
        let nearest = hand.clamp(bounds.min.into(), bounds.max.into());
        hand.distance(nearest) < REACH
    }

    fn play(&mut self, i: usize, clip: Clip<Soldier>, speed: f32) {
        let transition = Transition::crossfade(FADE).speed(speed).repeat(Repeat::Once);
        let soldier = &mut self.soldiers[i];
        soldier.play_clip(META, clip, transition, self.now);
        self.queue.play(META.clips(), i as u32, i, soldier.playback(), self.now);
    }
}
