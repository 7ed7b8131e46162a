//! Flags of a crowd that each frame reads without the lock of its state.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Flags that each frame reads without the lock of the crowd's state: in a scene of many models, most crowds stand still. Written
/// while the state is locked, but for [`FrameFlags::begin`] and [`FrameFlags::set_revealed`].
#[derive(Debug)]
pub(super) struct FrameFlags {
    /// Whether the state may have changed since the frame began, or the next frame has something left to do. `active`: whether
    /// that was so when the frame began.
    touched: AtomicBool,
    active: AtomicBool,
    /// Whether a batch does all the work of the crowd on the device, as of the last upload.
    merged: AtomicBool,
    /// Whether the second pass has run since the last upload. `ignore_marks`: whether it had not run before that upload, so that
    /// the first pass draws all instances in view.
    revealed: AtomicBool,
    ignore_marks: AtomicBool,
    /// Whether palettes need room for the poses of all instances.
    all_poses: AtomicBool,
    /// Number of instances on the device that are drawn.
    uploaded: AtomicU32,
    /// [`CrowdCore::batch_needs`](super::CrowdCore::batch_needs) as of the last frame in which the crowd was active: room
    /// in the upper half, bits of the reach in the lower one. 0: `None`.
    batch_needs: AtomicU64,
}

impl Default for FrameFlags {
    fn default() -> Self {
        Self {
            touched: AtomicBool::new(true),
            active: AtomicBool::new(true),
            merged: AtomicBool::new(false),
            revealed: AtomicBool::new(false),
            ignore_marks: AtomicBool::new(true),
            all_poses: AtomicBool::new(false),
            uploaded: AtomicU32::new(0),
            batch_needs: AtomicU64::new(0),
        }
    }
}

impl FrameFlags {
    /// Begins a frame: changes from here on are also the next frame's.
    pub(super) fn begin(&self) {
        self.active.store(self.touched.swap(false, Relaxed), Relaxed);
        self.ignore_marks.store(!self.revealed.swap(false, Relaxed), Relaxed);
    }

    /// Whether the crowd has something to do in this frame.
    pub(super) fn is_active(&self) -> bool {
        self.active.load(Relaxed)
    }

    pub(super) fn touch(&self) {
        self.touched.store(true, Relaxed);
    }

    pub(super) fn is_merged(&self) -> bool {
        self.merged.load(Relaxed)
    }

    pub(super) fn set_merged(&self, merged: bool) {
        self.merged.store(merged, Relaxed);
    }

    pub(super) fn is_revealed(&self) -> bool {
        self.revealed.load(Relaxed)
    }

    /// Notes that the second pass has run.
    pub(super) fn set_revealed(&self) {
        self.revealed.store(true, Relaxed);
    }

    pub(super) fn ignores_marks(&self) -> bool {
        self.ignore_marks.load(Relaxed)
    }

    pub(super) fn needs_all_poses(&self) -> bool {
        self.all_poses.load(Relaxed)
    }

    pub(super) fn set_needs_all_poses(&self) {
        self.all_poses.store(true, Relaxed);
    }

    pub(super) fn uploaded(&self) -> u32 {
        self.uploaded.load(Relaxed)
    }

    /// Returns the number before.
    pub(super) fn set_uploaded(&self, instances: u32) -> u32 {
        self.uploaded.swap(instances, Relaxed)
    }

    pub(super) fn batch_needs(&self) -> Option<(u32, f32)> {
        let needs = self.batch_needs.load(Relaxed);
        (needs != 0).then(|| ((needs >> 32) as u32, f32::from_bits(needs as u32)))
    }

    /// `needs`: as those of [`FrameFlags::batch_needs`]; the room is above zero.
    pub(super) fn set_batch_needs(&self, needs: Option<(u32, f32)>) {
        let bits = needs.map_or(0, |(room, reach)| u64::from(room) << 32 | u64::from(reach.to_bits()));
        self.batch_needs.store(bits, Relaxed);
    }
}
