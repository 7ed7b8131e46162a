//! Live bones: poses that the game computed, for chosen instances of a crowd.

use super::crowd::State;
use super::layers::local_poses;
use super::palette::{OverBuffer, Poses};
use super::staging::{Staging, Uploads};
use super::{Crowd, Error, InstanceId};
use crate::LiveBones;
use crate::local::shader::LIVE_WORDS;

/// A row of the device's buffer: four floats; a node or bone has three.
const ROW: u64 = 16;
/// Bytes of a node or bone.
const EACH: usize = LIVE_WORDS * 4;

/// Poses, which only the device has: one after the other, [pose][node or bone][3 rows].
#[derive(Debug, Default)]
pub(crate) struct LivePoses {
    staging: Staging,
    count: usize,
    /// Rows of a pose.
    stride: u64,
    free: Vec<u32>,
    before: Option<Before>,
}

/// What keeps the poses of the moment before.
#[derive(Debug, Default)]
struct Before {
    /// Between both in their buffer: nothing is copied within one.
    between: Option<wgpu::Buffer>,
    /// Poses that had no moment before.
    new: Vec<u32>,
}

impl LivePoses {
    /// Of so many rows each, at one moment or also the one before.
    pub(super) fn new(stride: u32, moments: u32) -> Self {
        Self { stride: stride.into(), before: (moments > 1).then(Before::default), ..Self::default() }
    }

    /// Moments of which poses are kept.
    pub(super) fn moments(&self) -> u64 {
        1 + u64::from(self.before.is_some())
    }

    /// Poses, those that are free included.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Whether there are some that are not free.
    pub(super) fn any(&self) -> bool {
        self.len() > self.free.len()
    }

    pub(super) fn pose_bytes(&self) -> u64 {
        self.stride * ROW
    }

    pub(super) fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Room for a pose, whatever it holds.
    pub(super) fn add(&mut self) -> u32 {
        let pose = self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count as u32 - 1
        });
        self.before.iter_mut().for_each(|before| before.new.push(pose));
        pose
    }

    pub(super) fn remove(&mut self, pose: u32) {
        self.free.push(pose);
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
        self.free.clear();
        self.staging.clear();
        self.before.iter_mut().for_each(|before| before.new.clear());
    }

    /// Of no more bones than a pose has room for.
    fn set(&mut self, device: &wgpu::Device, pose: u32, bones: &LiveBones<'_>) {
        self.set_run(device, pose, 1, bones);
    }

    /// Of so many poses one after the other, as many bones each.
    fn set_run(&mut self, device: &wgpu::Device, first: u32, count: u32, bones: &LiveBones<'_>) {
        let bytes = self.pose_bytes();
        if count == 0 {
            return;
        }
        let Some(mut to) = self.staging.put(device, u64::from(first) * bytes, u64::from(count) * bytes) else { return };
        if bones.len() as u64 * EACH as u64 == bytes * u64::from(count) {
            return write_pose(bones, to);
        }
        // Rows that a pose has no bones for hold anything, and are not read.
        let each = bones.len() / count as usize;
        for i in 0..count as usize {
            write_pose(&bones.part(i * each..(i + 1) * each), to.slice(i * bytes as usize..));
        }
    }

    /// Brings the poses that were set to where they stand on the device, and those that stood there to the moment before.
    pub(super) fn upload(&mut self, uploads: &mut Uploads<'_>, over: &OverBuffer) {
        let (pose, all) = (self.pose_bytes(), self.count as u64 * self.pose_bytes());
        let any = self.any();
        let Some(before) = self.before.as_mut().filter(|_| any) else {
            return self.staging.copy(uploads, &over.buffer, over.live_bytes());
        };
        let between = match before.between.take() {
            Some(buffer) if buffer.size() >= all => buffer,
            _ => uploads.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("gpuskin live bones before"),
                size: all.next_power_of_two(),
                usage: wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }),
        };
        let aside = |uploads: &mut Uploads<'_>, at: u64, bytes: u64| {
            let from = over.live_bytes() + at;
            uploads.encoder().copy_buffer_to_buffer(&over.buffer, from, &between, at, bytes);
        };
        aside(uploads, 0, all);
        self.staging.copy(uploads, &over.buffer, over.live_bytes());
        // They have not moved.
        before.new.drain(..).for_each(|new| aside(uploads, u64::from(new) * pose, pose));
        uploads.encoder().copy_buffer_to_buffer(&between, 0, &over.buffer, over.live_before_bytes(), all);
        before.between = Some(between);
    }
}

/// A pose as the device reads it, from the first row on.
pub(super) fn write_pose(bones: &LiveBones<'_>, mut to: wgpu::WriteOnly<'_, [u8]>) {
    let own: &[u8] = match bones {
        LiveBones::Model(bones) => bytemuck::cast_slice(bones),
        LiveBones::Local(nodes) => bytemuck::cast_slice(nodes),
    };
    to.slice(..own.len()).copy_from_slice(own);
}

/// Whether there are as many as so many instances of the model have.
pub(super) fn check(model: &str, poses: &Poses, instances: usize, bones: &LiveBones<'_>) -> Result<(), Error> {
    let (what, each) = match bones {
        LiveBones::Model(_) => ("bones", poses.bones),
        LiveBones::Local(_) => ("nodes", poses.nodes),
    };
    let (found, needed) = (bones.len(), each as usize * instances);
    if found == needed {
        return Ok(());
    }
    let of = if instances == 1 { String::new() } else { format!(" for {instances} instances") };
    Err(Error::Argument { model: model.to_owned(), reason: format!("{found} live {what}{of}; it has {needed}") })
}

impl<M> Crowd<M> {
    /// Shows bones that the game computed on one instance, over its clip and layers: a ragdoll, a cut-scene, a hero with an
    /// animator of its own. Their weight goes to 1 over so many seconds, mixed with what they hide; the instance
    /// keeps its mesh, pipeline and draw. `false` if it is gone.
    ///
    /// A node or bone with a number that is not finite shows as it would without live bones.
    ///
    /// # Errors
    /// On a model that does not play [`Encoding::LocalPacked`](crate::Encoding::LocalPacked) on this device; where the bones
    /// or nodes are not as many as the model's; and where the device has no room for more.
    pub fn set_live(&self, id: InstanceId, bones: LiveBones<'_>, seconds: f32) -> Result<bool, Error> {
        let (poses, now) = (local_poses(self, "live bones")?, self.now());
        check(&self.meta.name, poses, 1, &bones)?;
        let State { instances, layers, .. } = &mut *self.core.state();
        let Some(slot) = layers.of(instances, id, &self.meta.name, now)? else { return Ok(false) };
        let pose = match layers.set(slot).live_pose() {
            Some(pose) => pose,
            None => layers.add_pose(&self.meta.name)?,
        };
        layers.live.set(&self.core.device, pose, &bones);
        layers.change(instances, slot, now, |set| set.set_live(&bones, pose, seconds, now));
        Ok(true)
    }

    /// The bones of this frame, for an instance that [`Crowd::set_live`] was told of; of the same kind. `false` if it is gone
    /// or was released.
    ///
    /// # Errors
    /// Where the bones or nodes are not as many as the model's, or of the other kind.
    pub fn update_live(&self, id: InstanceId, bones: LiveBones<'_>) -> Result<bool, Error> {
        Ok(self.update_lives(&[id], bones)? == 1)
    }

    /// The bones of this frame for many instances, one instance after the other: as much as [`Crowd::update_live`] of each,
    /// and cheaper. Says how many there were; those that are gone or were released are left out.
    ///
    /// # Errors
    /// Where the bones or nodes are not as many as those of so many instances; and, after what stands before it, at an
    /// instance whose live bones are of the other kind.
    pub fn update_lives(&self, ids: &[InstanceId], bones: LiveBones<'_>) -> Result<usize, Error> {
        let poses = local_poses(self, "live bones")?;
        check(&self.meta.name, poses, ids.len(), &bones)?;
        let each = bones.len() / ids.len().max(1);
        let State { instances, layers, .. } = &mut *self.core.state();
        let (mut found, mut result) = (0, Ok(()));
        // Instances whose poses stand one after the other: the first instance and pose, and how many.
        let mut run = (0, 0, 0);
        for (i, &id) in ids.iter().enumerate() {
            let slot = instances.get(id).and_then(|record| record.layer_set().checked_sub(1));
            let Some((set, pose)) = slot.map(|slot| layers.set(slot)).and_then(|set| Some((set, set.live_pose()?)))
            else {
                continue;
            };
            if !set.is_live_kind(&bones) {
                let reason = "live bones of the other kind; call set_live to change it".to_owned();
                result = Err(Error::Argument { model: self.meta.name.to_string(), reason });
                break;
            }
            found += 1;
            let (first, first_pose, count) = run;
            if i == first + count && pose as usize == first_pose as usize + count {
                run.2 += 1;
                continue;
            }
            layers.live.set_run(
                &self.core.device,
                first_pose,
                count as u32,
                &bones.part(first * each..(first + count) * each),
            );
            run = (i, pose, 1);
        }
        let (first, first_pose, count) = run;
        layers.live.set_run(
            &self.core.device,
            first_pose,
            count as u32,
            &bones.part(first * each..(first + count) * each),
        );
        result.map(|()| found)
    }

    /// Goes back to what an instance plays, over so many seconds, from the last live bones. `false` if it is gone or has
    /// none.
    pub fn release_live(&self, id: InstanceId, seconds: f32) -> bool {
        let now = self.now();
        let State { instances, layers, .. } = &mut *self.core.state();
        let slot = instances.get(id).and_then(|record| record.layer_set().checked_sub(1));
        let Some(slot) = slot.filter(|slot| layers.set(*slot).live_pose().is_some()) else { return false };
        layers.change(instances, slot, now, |set| set.release_live(seconds, now));
        true
    }
}
