//! Live bones: poses computed by the game, for some instances of a crowd.

use super::crowd::CrowdState;
use super::layers::local_poses;
use super::palette::{LayerBuffer, PoseEvaluator};
use super::staging::{Staging, Uploads};
use super::{Crowd, Error, InstanceId, StaleId};
use crate::LiveBones;
use crate::local::shader::LIVE_WORDS;

/// Bytes of a row of the device's buffer: four floats. A node or bone has three rows.
const ROW_BYTES: u64 = 16;
/// Bytes per node or bone.
const LIVE_BYTES: usize = LIVE_WORDS * 4;

/// Live poses, stored on the device only: `[pose][node or bone][3 rows]`.
#[derive(Debug, Default)]
pub(crate) struct LivePoses {
    staging: Staging,
    count: usize,
    /// Rows per pose.
    stride: u64,
    free: Vec<u32>,
    previous: Option<PreviousPoses>,
}

/// Copies of the previous frame's poses.
#[derive(Debug, Default)]
struct PreviousPoses {
    /// Intermediate buffer: wgpu cannot copy within one buffer.
    between: Option<wgpu::Buffer>,
    /// Poses that did not exist in the previous frame.
    new: Vec<u32>,
}

impl LivePoses {
    /// `stride`: rows per pose. `pose_times`: poses per instance, 1 or 2.
    pub(super) fn new(stride: u32, pose_times: u32) -> Self {
        Self { stride: stride.into(), previous: (pose_times > 1).then(PreviousPoses::default), ..Self::default() }
    }

    /// Poses per instance: 1, or 2 if the previous frame's pose is kept.
    pub(super) fn pose_times(&self) -> u64 {
        1 + u64::from(self.previous.is_some())
    }

    /// Number of poses, free ones included.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Whether any pose is in use.
    pub(super) fn any(&self) -> bool {
        self.len() > self.free.len()
    }

    pub(super) fn pose_bytes(&self) -> u64 {
        self.stride * ROW_BYTES
    }

    pub(super) fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Reserves a pose; its contents are undefined.
    pub(super) fn add(&mut self) -> u32 {
        let pose = self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count as u32 - 1
        });
        self.previous.iter_mut().for_each(|previous| previous.new.push(pose));
        pose
    }

    pub(super) fn remove(&mut self, pose: u32) {
        self.free.push(pose);
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
        self.free.clear();
        self.staging.clear();
        self.previous.iter_mut().for_each(|previous| previous.new.clear());
    }

    /// Writes one pose. `bones` has at most as many rows as a pose.
    fn set(&mut self, device: &wgpu::Device, pose: u32, bones: &LiveBones<'_>) {
        self.set_run(device, pose, 1, bones);
    }

    /// Writes `count` consecutive poses. `bones` has the bones of all of them, the same number per
    /// pose.
    fn set_run(&mut self, device: &wgpu::Device, first: u32, count: u32, bones: &LiveBones<'_>) {
        let bytes = self.pose_bytes();
        if count == 0 {
            return;
        }
        let Some(mut to) = self.staging.put(device, u64::from(first) * bytes, u64::from(count) * bytes) else { return };
        if bones.len() as u64 * LIVE_BYTES as u64 == bytes * u64::from(count) {
            return write_pose(bones, to);
        }
        // Rows beyond the bones of a pose stay undefined, and are not read.
        let each = bones.len() / count as usize;
        for i in 0..count as usize {
            write_pose(&bones.part(i * each..(i + 1) * each), to.slice(i * bytes as usize..));
        }
    }

    /// Copies current poses to the previous ones, then uploads the poses that were written.
    pub(super) fn upload(&mut self, uploads: &mut Uploads<'_>, layers: &LayerBuffer) {
        let (pose, all) = (self.pose_bytes(), self.count as u64 * self.pose_bytes());
        let any = self.any();
        let Some(previous) = self.previous.as_mut().filter(|_| any) else {
            return self.staging.copy(uploads, &layers.buffer, layers.live_bytes());
        };
        let between = match previous.between.take() {
            Some(buffer) if buffer.size() >= all => buffer,
            _ => uploads.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("gpuskin previous live bones"),
                size: all.next_power_of_two(),
                usage: wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }),
        };
        let aside = |uploads: &mut Uploads<'_>, at: u64, bytes: u64| {
            let from = layers.live_bytes() + at;
            uploads.encoder().copy_buffer_to_buffer(&layers.buffer, from, &between, at, bytes);
        };
        aside(uploads, 0, all);
        self.staging.copy(uploads, &layers.buffer, layers.live_bytes());
        // A new pose has not moved: it is its own previous pose.
        previous.new.drain(..).for_each(|new| aside(uploads, u64::from(new) * pose, pose));
        uploads.encoder().copy_buffer_to_buffer(&between, 0, &layers.buffer, layers.previous_live_bytes(), all);
        previous.between = Some(between);
    }
}

/// Writes a pose in the layout that the device reads, from its first row on.
pub(super) fn write_pose(bones: &LiveBones<'_>, mut to: wgpu::WriteOnly<'_, [u8]>) {
    let own: &[u8] = match bones {
        LiveBones::Model(bones) => bytemuck::cast_slice(bones),
        LiveBones::Local(nodes) => bytemuck::cast_slice(nodes),
    };
    to.slice(..own.len()).copy_from_slice(own);
}

/// Checks that the number of live bones fits `instances` instances of the model.
pub(super) fn check(model: &str, poses: &PoseEvaluator, instances: usize, bones: &LiveBones<'_>) -> Result<(), Error> {
    let (what, each) = match bones {
        LiveBones::Model(_) => ("bones", poses.bones),
        LiveBones::Local(_) => ("nodes", poses.nodes),
    };
    let (found, needed) = (bones.len(), each as usize * instances);
    if found == needed {
        return Ok(());
    }
    let of = if instances == 1 { String::new() } else { format!(" for {instances} instances") };
    Err(Error::Argument {
        model: model.to_owned(),
        reason: format!("{found} live {what} given{of}, but {needed} expected"),
    })
}

impl<M> Crowd<M> {
    /// Shows bones computed by the game on one instance, over its clip and layers: a ragdoll, a
    /// cut-scene, a hero with its own animator. Their weight fades to 1 over `seconds`, blended
    /// with the pose below. Mesh, pipeline and draw call of the instance stay the same.
    ///
    /// A node or bone with a value that is not finite keeps the pose below.
    ///
    /// # Errors
    /// If the instance no longer exists, if the model does not play
    /// [`Encoding::LocalPacked`](crate::Encoding::LocalPacked) on this device, if the number of
    /// bones or nodes is not the model's, or if the device has no memory for more live poses.
    pub fn set_live_bones(&self, id: InstanceId, bones: LiveBones<'_>, seconds: f32) -> Result<(), Error> {
        let (poses, time) = (local_poses(self, "live bones")?, self.time());
        check(&self.meta.name, poses, 1, &bones)?;
        let CrowdState { instances, layers, .. } = &mut *self.core.state();
        let slot = layers.of(instances, id, &self.meta.name, time)?;
        let pose = match layers.set(slot).live_pose_number() {
            Some(pose) => pose,
            None => layers.add_pose(&self.meta.name)?,
        };
        layers.live.set(&self.core.device, pose, &bones);
        layers.change(instances, slot, time, |set| set.set_live_bones(&bones, pose, seconds, time));
        Ok(())
    }

    /// Updates the live bones of many instances, one instance after the other in `bones`. Has the
    /// effect of one call per instance, and is cheaper. Returns the number of instances updated;
    /// instances that no longer exist or whose live bones were released are skipped.
    ///
    /// # Errors
    /// If the number of bones or nodes does not match that many instances. Also at an instance
    /// whose live bones are of the other kind; the instances before it have been updated then.
    pub fn update_live_bones(&self, ids: &[InstanceId], bones: LiveBones<'_>) -> Result<usize, Error> {
        let poses = local_poses(self, "live bones")?;
        check(&self.meta.name, poses, ids.len(), &bones)?;
        let each = bones.len() / ids.len().max(1);
        let CrowdState { instances, layers, .. } = &mut *self.core.state();
        let (mut found, mut result) = (0, Ok(()));
        // Instances whose poses are consecutive: first instance, first pose, count.
        let mut run = (0, 0, 0);
        for (i, &id) in ids.iter().enumerate() {
            let slot = instances.get(id).and_then(|record| record.layer_set().checked_sub(1));
            let Some((set, pose)) =
                slot.map(|slot| layers.set(slot)).and_then(|set| Some((set, set.live_pose_number()?)))
            else {
                continue;
            };
            if !set.is_live_kind(&bones) {
                let reason = "live bones of the other kind given; call set_live_bones to change the kind".to_owned();
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

    /// Fades from the live bones back to the instance's own animation over `seconds`. Has no effect on an instance without
    /// live bones.
    ///
    /// # Errors
    /// If the instance no longer exists.
    pub fn release_live_bones(&self, id: InstanceId, seconds: f32) -> Result<(), StaleId> {
        let time = self.time();
        let CrowdState { instances, layers, .. } = &mut *self.core.state();
        let record = instances.get(id).ok_or(StaleId::Instance(id))?;
        let slot = record.layer_set().checked_sub(1);
        if let Some(slot) = slot.filter(|slot| layers.set(*slot).live_pose_number().is_some()) {
            layers.change(instances, slot, time, |set| set.release_live_bones(seconds, time));
        }
        Ok(())
    }
}
