//! Motions of the instances of a crowd, and the pass that moves them.

use super::changes::Changes;
use super::compute::{LazyPipelines, layout, pipeline};
use super::layouts::{bind_group, storage, uniform};
use crate::motion::{self, MOTION_ENTRY_POINT, MOTION_GROUP_SIZE, MotionRecord, MotionState, MotionUniform};
use crate::{Motion, Time, Transform};

/// Bytes per motion on the device.
pub(crate) const MOTION_BYTES: u64 = size_of::<MotionRecord>() as u64;
const LABEL: Option<&str> = Some("gpuskin motion");

/// Motions in drawing order.
#[derive(Debug)]
pub(crate) struct Motions {
    states: Vec<MotionState>,
    records: Vec<MotionRecord>,
    /// Number of instances that move.
    moving: usize,
    changed: Changes,
}

impl Motions {
    /// `len`: number of instances, which all stand still.
    pub(crate) fn new(len: usize) -> Self {
        let mut changed = Changes::default();
        changed.mark_all();
        Self { states: vec![Default::default(); len], records: vec![Default::default(); len], moving: 0, changed }
    }

    pub(crate) fn spawn(&mut self) {
        self.states.push(MotionState::default());
        self.records.push(MotionRecord::default());
        self.changed.mark(self.states.len() - 1);
    }

    pub(crate) fn despawn(&mut self, index: usize) {
        let removed = self.states.swap_remove(index);
        self.records.swap_remove(index);
        self.moving -= usize::from(!removed.is_still());
        if index < self.states.len() {
            self.changed.mark(index);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.states.clear();
        self.records.clear();
        self.moving = 0;
    }

    pub(crate) fn mark_all(&mut self) {
        self.changed.mark_all();
    }

    /// Motion of an instance; `None` if it stands still.
    pub(crate) fn get(&self, index: usize) -> Option<&MotionState> {
        self.states.get(index).filter(|state| !state.is_still())
    }

    pub(crate) fn set(&mut self, index: usize, state: MotionState) {
        self.moving += usize::from(!state.is_still());
        self.moving -= usize::from(!self.states[index].is_still());
        self.states[index] = state;
        self.records[index] = state.record();
        self.changed.mark(index);
    }

    /// Whether any instance moves.
    pub(crate) fn any(&self) -> bool {
        self.moving > 0
    }

    /// Instances that move, and their motions.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &MotionState)> {
        self.states.iter().enumerate().filter(|(_, state)| !state.is_still())
    }

    /// All records, and the changes since the last upload.
    pub(crate) fn changed(&mut self) -> (&[MotionRecord], &mut Changes) {
        (&self.records, &mut self.changed)
    }
}

/// Moves an instance to another transform, or gives it another motion, at a time. `current`: where it
/// is, if it moves. A position that stays keeps its full precision.
pub(crate) fn restarted(
    current: Option<&MotionState>,
    (before, after): (Transform, Transform),
    motion: Motion,
    time: Time,
) -> MotionState {
    let new = MotionState::new(after, motion, time);
    let Some(current) = current.map(|state| state.rebased(time)) else { return new };
    MotionState {
        origin: if before.translation == after.translation { current.origin } else { new.origin },
        rotation: if before.rotation == after.rotation { current.rotation } else { new.rotation },
        ..new
    }
}

/// Pipeline of the motion pass.
#[derive(Debug)]
pub(crate) struct MotionPipeline {
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::ComputePipeline,
}

impl MotionPipeline {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let parameters = uniform(size_of::<MotionUniform>() as u64, false);
        let layout = layout(device, LABEL, &[parameters, storage(true, false), storage(false, false)]);
        let pipeline = pipeline(device, LABEL, (&motion::motion(), MOTION_ENTRY_POINT), &[&layout]);
        Self { layout, pipeline }
    }
}

/// Motion pass of a crowd: over the transforms of this frame, and over those of the previous one, if
/// shaders read them.
#[derive(Clone, Debug)]
pub(crate) struct MotionPass {
    pub(crate) records: wgpu::Buffer,
    targets: Vec<(wgpu::Buffer, wgpu::BindGroup)>,
    pipeline: wgpu::ComputePipeline,
    max_groups: u32,
}

impl MotionPass {
    /// `targets`: place records, then those of the previous frame if there are any.
    pub(crate) fn new<'b>(
        device: &wgpu::Device,
        pipeline: &LazyPipelines<MotionPipeline>,
        capacity: usize,
        targets: impl Iterator<Item = wgpu::BufferBinding<'b>>,
    ) -> Self {
        let buffer = |size, usage| {
            let usage = usage | wgpu::BufferUsages::COPY_DST;
            device.create_buffer(&wgpu::BufferDescriptor { label: LABEL, size, usage, mapped_at_creation: false })
        };
        let records = buffer(capacity as u64 * MOTION_BYTES, wgpu::BufferUsages::STORAGE);
        let MotionPipeline { layout, pipeline } = pipeline.get();
        let target = |places: wgpu::BufferBinding<'_>| {
            let parameters = buffer(size_of::<MotionUniform>() as u64, wgpu::BufferUsages::UNIFORM);
            let resources =
                [parameters.as_entire_binding(), records.as_entire_binding(), wgpu::BindingResource::Buffer(places)];
            let group = bind_group(device, LABEL, layout, &resources);
            (parameters, group)
        };
        let max_groups = device.limits().max_compute_workgroups_per_dimension;
        Self { targets: targets.map(target).collect(), records, pipeline: pipeline.clone(), max_groups }
    }

    /// Moves the first `instances` instances. `times`: current and previous time.
    pub(crate) fn record(
        &self,
        queue: &wgpu::Queue,
        pass: &mut wgpu::ComputePass<'_>,
        instances: u32,
        times: [Time; 2],
    ) {
        let groups = instances.div_ceil(MOTION_GROUP_SIZE);
        let across = groups.min(self.max_groups).max(1);
        pass.set_pipeline(&self.pipeline);
        for ((parameters, group), time) in self.targets.iter().zip(times) {
            let uniform = MotionUniform { time: time.words(), instances, reserved: 0 };
            queue.write_buffer(parameters, 0, bytemuck::bytes_of(&uniform));
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(across, groups.div_ceil(across), 1);
        }
    }
}

/// Whether a device can bind the motions of a crowd of some capacity.
pub(crate) fn binds(limits: &wgpu::Limits, capacity: usize) -> bool {
    let most = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
    capacity as u64 * MOTION_BYTES <= most
}
