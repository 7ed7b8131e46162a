//! Room for poses in the palettes of a crowd. It follows the number of poses that views show: a culling pass counts them, the
//! CPU reads the number some frames later, and estimates by a sample of the instances what has come into view since.
//! If the room is short nevertheless, vertices evaluate the poses beyond it: the picture is right in every frame.

use std::sync::{Arc, Mutex, PoisonError};

use super::instances::Instances;
use super::palettes::{Palettes, Room};
use crate::cull::{Frustum, GROUP_SIZE};

/// Greatest number of instances that stand for all.
const SAMPLES: usize = 256;
/// Frames after which the culling pass's numbers have arrived, as a rule.
const LATENCY: usize = 4;
/// Frames after which room for poses that no view shows any more is given back.
const KEPT: usize = 32;

/// Room for the poses of a crowd.
#[derive(Debug)]
pub(crate) struct PoseRoom {
    /// Bytes of poses for which there is always room.
    least_bytes: u64,
    /// Slots per palette at present.
    slots: u32,
    sample: Sample,
    /// Numbers of poses that the last frames wanted, as the culling pass has counted them, last one first.
    wanted: [u32; LATENCY],
    /// Numbers of slots that the last frames needed.
    needed: Needed,
    /// Buffers with numbers that the device has copied.
    copied: Arc<Mutex<Vec<wgpu::Buffer>>>,
    free: Vec<wgpu::Buffer>,
}

/// Instances and views of the next frame.
pub(crate) struct Seen<'a> {
    pub(crate) instances: &'a Instances,
    /// Distance from an instance that its bounds reach, metres at a scale of 1.
    pub(crate) radius: f32,
    /// Frusta of the views, as far as their cameras are known.
    pub(crate) frusta: &'a [Frustum],
    /// Whether occluded instances need no pose.
    pub(crate) occlusion: bool,
}

impl PoseRoom {
    pub(crate) fn new(least_bytes: u64) -> Self {
        Self {
            least_bytes,
            slots: 0,
            sample: Sample::default(),
            wanted: [0; LATENCY],
            needed: Needed::default(),
            copied: Arc::default(),
            free: Vec::new(),
        }
    }

    /// Whether there is room for all poses, so that vertices need not evaluate any.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.least_bytes == u64::MAX
    }

    /// Room for the next frame of a crowd with buffers for `capacity` instances, whose poses take `pose_bytes` bytes each.
    pub(crate) fn next(&mut self, capacity: u32, pose_bytes: u64, seen: &Seen<'_>) -> Room {
        let least = u32::try_from(self.least_bytes / pose_bytes.max(1)).unwrap_or(u32::MAX).max(1);
        if capacity <= least {
            return Room::ALL;
        }
        self.receive();
        let wanted = self.wanted.into_iter().max().unwrap_or(0);
        let needed = self.sample.expected(wanted, seen);
        self.slots = self.needed.room(self.slots, needed).max(least).min(capacity);
        Room { slots: Some(self.slots), slotless: true, grows: true }
    }

    /// Takes the numbers that the device has copied since the last frame.
    fn receive(&mut self) {
        for buffer in core::mem::take(&mut *self.copied.lock().unwrap_or_else(PoisonError::into_inner)) {
            let Ok(bytes) = buffer.get_mapped_range(..) else { continue };
            // The palette that wants most decides for all.
            let words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
            self.wanted.rotate_right(1);
            self.wanted[0] = words.max().unwrap_or(0);
            drop(bytes);
            buffer.unmap();
            self.free.push(buffer);
        }
    }

    /// Records copies of the numbers of slots that the last frame wanted.
    pub(crate) fn read(&mut self, device: &wgpu::Device, encoder: &mut wgpu::CommandEncoder, palettes: &Palettes) {
        let size = 4 * palettes.culled_len() as u64;
        if size == 0 {
            return;
        }
        self.free.retain(|buffer| buffer.size() == size);
        let buffer = self.free.pop().unwrap_or_else(|| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("gpuskin numbers of poses"),
                size,
                usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
                mapped_at_creation: false,
            })
        });
        palettes.copy_wanted_slots(encoder, &buffer);
        let (copied, mapped) = (self.copied.clone(), buffer.clone());
        encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Read, .., move |result| {
            if result.is_ok() {
                copied.lock().unwrap_or_else(PoisonError::into_inner).push(mapped);
            }
        });
    }
}

/// Instances that stand for all: every n-th.
#[derive(Debug, Default)]
struct Sample {
    /// Per instance, whether a view saw it in the last eight frames; the last one is bit 0.
    seen: Vec<u8>,
    /// Views of the last frame.
    frusta: Vec<Frustum>,
}

impl Sample {
    /// Number of slots that a frame needs, if one of the last frames wanted `wanted`.
    fn expected(&mut self, wanted: u32, seen: &Seen<'_>) -> u32 {
        let len = seen.instances.len();
        // Instances that move by themselves come into view slowly, and the culling pass counts them.
        if self.frusta == seen.frusta && !seen.instances.has_changed_places() {
            self.seen.iter_mut().for_each(|history| *history = *history << 1 | *history & 1);
            return wanted;
        }
        self.frusta.clear();
        self.frusta.extend_from_slice(seen.frusta);
        let step = len.div_ceil(SAMPLES).max(1);
        self.seen.resize(len.div_ceil(step), 0);
        let (mut in_view, mut new) = (0, 0);
        for (history, index) in self.seen.iter_mut().zip((0..len).step_by(step)) {
            let (translation, scale) = seen.instances.place_at(index);
            let reach = seen.radius * scale.abs();
            let sees = seen.frusta.iter().any(|frustum| frustum.sees_cube(translation.into(), reach));
            in_view += usize::from(sees);
            new += usize::from(sees && *history >> (LATENCY - 1) & 1 == 0);
            *history = *history << 1 | u8::from(sees);
        }
        // Few instances that come into view are probably occluded like the rest.
        if seen.occlusion && new * 4 < in_view {
            new = 0;
        }
        let all = |sampled: usize| of_all(sampled, step, len);
        wanted.max(wanted.saturating_add(all(new)).min(all(in_view)))
    }
}

/// Number of instances of `len` for which `sampled` of every `step`-th stand; less than twice the standard deviation of a random
/// sample above the most probable number.
fn of_all(sampled: usize, step: usize, len: usize) -> u32 {
    let spare = if step == 1 || sampled == 0 { 0 } else { 2 * sampled.isqrt() + 1 };
    u32::try_from((sampled + spare).saturating_mul(step).min(len)).unwrap_or(u32::MAX)
}

/// Numbers of slots that the last frames needed.
#[derive(Debug, Default)]
struct Needed {
    numbers: Vec<u32>,
    /// Place of the next number.
    next: usize,
}

impl Needed {
    /// Number of slots for a frame that needs `needed`, where there are `slots`.
    fn room(&mut self, slots: u32, needed: u32) -> u32 {
        // A workgroup of the culling pass may leave all of its instances without a slot.
        let with_spare = needed.saturating_add(needed / 64).saturating_add(GROUP_SIZE);
        if self.numbers.len() < KEPT {
            self.numbers.push(with_spare);
        } else {
            self.numbers[self.next] = with_spare;
        }
        self.next = (self.next + 1) % KEPT;
        if needed > slots {
            return with_spare;
        }
        let most = self.numbers.iter().max().copied().unwrap_or(0);
        let shrinks = self.numbers.len() == KEPT && u64::from(most) * 16 < u64::from(slots) * 15;
        if shrinks { most } else { slots }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Appearance, Camera, InstanceRecord, Transform};

    fn some(slots: u32) -> Room {
        Room { slots: Some(slots), slotless: true, grows: true }
    }

    #[test]
    fn room_grows_at_once_and_shrinks_later() {
        let mut needed = Needed::default();
        assert_eq!(needed.room(0, 6400), 6400 + 100 + GROUP_SIZE);
        assert_eq!(needed.room(7000, 6400), 7000);
        assert_eq!(needed.room(6399, 6400), 6400 + 100 + GROUP_SIZE);
        for _ in 0..KEPT - 1 {
            assert_eq!(needed.room(7000, 640), 7000);
        }
        assert_eq!(needed.room(7000, 640), 640 + 10 + GROUP_SIZE);
        assert_eq!(needed.room(760, 640), 760, "a little more than is needed");
        assert_eq!(needed.room(0, u32::MAX), u32::MAX);
    }

    #[test]
    fn samples_stand_for_all_with_some_to_spare() {
        assert_eq!(of_all(200, 1, 256), 200);
        assert_eq!(of_all(0, 1000, 1_000_000), 0);
        assert_eq!(of_all(256, 977, 1_000_000), (256 + 33) * 977);
        assert_eq!(of_all(1024, 977, 1_000_000), 1_000_000);
        assert_eq!(of_all(usize::MAX / 2, 3, usize::MAX), u32::MAX);
    }

    /// Instances in a row of 10 metres each; views that see 10 metres of it.
    fn row(count: u32) -> Instances {
        let mut instances = Instances::new(0, 0, false, Arc::default());
        for i in 0..count {
            let at = Transform::at([i as f32 * 10.0 / count as f32, 0.0, 0.0]);
            instances.spawn(InstanceRecord::new(at, Default::default()), Appearance::default());
        }
        instances
    }

    fn frustum(from: f32, to: f32) -> Frustum {
        let middle = (from + to) / 2.0;
        let camera = Camera::orthographic_look_at([middle, 0.0, 5.0], [middle, 0.0, 0.0], (to - from) / 2.0, 1.0, 10.0);
        Frustum::new(&camera.view_proj)
    }

    #[test]
    fn instances_that_come_into_view_are_expected() {
        let mut instances = row(100);
        let mut sample = Sample::default();
        let mut expected = |wanted, frusta: &[Frustum], occlusion| {
            sample.expected(wanted, &Seen { instances: &instances, radius: 0.0, frusta, occlusion })
        };
        let (half, other, most) = (frustum(-0.05, 4.95), frustum(4.95, 10.0), frustum(-0.05, 7.95));
        // All are new for as many frames as the count of the culling pass takes to arrive.
        for _ in 0..LATENCY {
            assert_eq!(expected(0, &[half], true), 50);
        }
        assert_eq!(expected(50, &[half], true), 50);
        assert_eq!(expected(8, &[half], true), 8, "the others are occluded");
        assert_eq!(expected(8, &[most], false), 38);
        assert_eq!(expected(8, &[other], true), 50, "a cut");
        assert_eq!(expected(8, &[half, other], true), 58);
        assert_eq!(expected(8, &[], true), 8);
        assert_eq!(expected(0, &[], false), 0);
        expected(0, &[other], false);
        // Neither views nor instances have changed.
        let (_, changes) = instances.changed_places();
        changes.take(100, |_| ());
        let mut expected = |wanted, instances: &Instances, frusta: &[Frustum]| {
            sample.expected(wanted, &Seen { instances, radius: 0.0, frusta, occlusion: true })
        };
        (0..4).for_each(|_| assert_eq!(expected(20, &instances, &[other]), 20));
        assert_eq!(expected(20, &instances, &[half]), 50, "after still frames, those that came into view are new");
        instances.spawn(InstanceRecord::default(), Appearance::default());
        assert_eq!(expected(20, &instances, &[half]), 51);
    }

    #[test]
    fn small_crowds_have_room_for_all() {
        let instances = row(200);
        let frusta = [frustum(-1.0, 11.0)];
        let seen = Seen { instances: &instances, radius: 0.0, frusta: &frusta, occlusion: false };
        let none = Seen { frusta: &[], ..seen };
        let mut room = PoseRoom::new(4800);
        assert_eq!(room.next(100, 48, &none), Room::ALL);
        assert_eq!(room.next(101, 48, &none), some(100));
        assert_eq!(room.next(1000, 48, &seen), some(200 + 3 + GROUP_SIZE));
        assert_eq!(room.next(250, 48, &seen), some(250));
        assert_eq!(room.next(250, 1 << 40, &none), some(250));
        assert_eq!(PoseRoom::new(0).next(2, 0, &none), some(1));
        assert_eq!(PoseRoom::new(u64::MAX).next(u32::MAX, 1, &seen), Room::ALL);
    }
}
