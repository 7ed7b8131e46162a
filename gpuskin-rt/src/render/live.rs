//! Live bones: poses computed by the game, for some instances of a crowd.

use super::Error;
use super::palette::{LayerBuffer, PoseEvaluator};
use super::staging::{Staging, Uploads};
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
    pub(super) fn set(&mut self, device: &wgpu::Device, pose: u32, bones: &LiveBones<'_>) {
        self.set_run(device, pose, 1, bones);
    }

    /// Writes a pose whose bones all keep the pose below.
    pub(super) fn set_missing(&mut self, device: &wgpu::Device, pose: u32) {
        let bytes = self.pose_bytes();
        if let Some(mut to) = self.staging.put(device, u64::from(pose) * bytes, bytes) {
            // Each word is a NaN.
            to.fill(0xff);
        }
    }

    /// Writes `count` consecutive poses. `bones` has the bones of all of them, the same number per
    /// pose.
    pub(super) fn set_run(&mut self, device: &wgpu::Device, first: u32, count: u32, bones: &LiveBones<'_>) {
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
