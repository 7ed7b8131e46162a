//! Updates scattered elements of a buffer at once: the changed elements are uploaded as one list,
//! and a compute pass copies them to their indices. A separate write or copy per element would cost
//! about a microsecond each.

use bytemuck::Pod;

use super::changes::{Changed, Changes};
use super::compute::{LazyPipelines, layout, pipeline};
use super::layouts::{bind_group, storage};
use super::staging::Uploads;
use crate::shader::SCATTER;

const GROUP_SIZE: u32 = 64;
/// Up to this many separate writes are as fast.
const FEW: usize = 8;
/// Changes of at least this many bytes are not added to a list that crowds share.
const LARGE: usize = 16 << 10;

/// Whether a device can run the pass.
pub(crate) fn scatters(limits: &wgpu::Limits) -> bool {
    limits.max_storage_buffers_per_shader_stage >= 2
        && limits.max_compute_workgroup_size_x.min(limits.max_compute_invocations_per_workgroup) >= GROUP_SIZE
        && limits.max_compute_workgroups_per_dimension > 0
}

#[derive(Debug)]
pub(crate) struct ScatterPipeline {
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::ComputePipeline,
}

impl ScatterPipeline {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let label = Some("gpuskin scatter");
        let layout = layout(device, label, &[storage(true, false), storage(false, false)]);
        let pipeline = pipeline(device, label, (SCATTER, "gpuskin_scatter"), &[&layout]);
        Self { layout, pipeline }
    }
}

/// Uploads of the changed elements of one buffer.
#[derive(Debug, Default)]
pub(crate) struct Scatter {
    list: ScatterList,
}

impl Scatter {
    /// Uploads the changed elements of a buffer, and returns the number of bytes uploaded.
    /// `pipeline`: present if the device [`scatters`] and shaders can bind the target. `first`: number of
    /// the first element in the target; a multiple of 64. `shared`: list of a target that crowds share, for
    /// few changes.
    pub(crate) fn upload<T: Pod>(
        &mut self,
        (uploads, queue): (&mut Uploads<'_>, &wgpu::Queue),
        pipeline: Option<&LazyPipelines<ScatterPipeline>>,
        changes: &mut Changes,
        elements: &[T],
        (target, first): (&wgpu::Buffer, u32),
        shared: Option<&mut ScatterList>,
    ) -> u64 {
        let mut bytes = 0;
        let at = u64::from(first) * size_of::<T>() as u64;
        // Shaders must be able to bind the target, and a list as long as the target.
        let most = uploads.limits.max_storage_buffer_binding_size;
        let pipeline = pipeline.filter(|_| target.size() <= most / 4);
        changes.take(elements.len(), |changed| {
            let count: usize = changed.runs(elements.len()).map(|run| run.len()).sum();
            if let Some(list) = shared.filter(|_| count * size_of::<T>() < LARGE) {
                changed.runs(elements.len()).for_each(|run| list.push(first + run.start as u32, &elements[run]));
                bytes = (count * size_of::<T>()) as u64;
                return;
            }
            bytes = match (changed, pipeline) {
                (Changed::Some(indices), Some(pipeline)) if changed.runs(elements.len()).nth(FEW).is_some() => {
                    self.list.clear();
                    let element = |index: u32| core::slice::from_ref(&elements[index as usize]);
                    indices.iter().for_each(|&index| self.list.push(index, element(index)));
                    self.list.scatter((uploads, queue), pipeline.get(), (target, at))
                }
                _ => {
                    let write = |range: core::ops::Range<usize>| {
                        let bytes: &[u8] = bytemuck::cast_slice(&elements[range.clone()]);
                        let at = at + (range.start * size_of::<T>()) as u64;
                        queue.write_buffer(target, at, bytes);
                        bytes.len() as u64
                    };
                    changed.runs(elements.len()).map(write).sum()
                }
            };
        });
        bytes
    }
}

/// Changed elements of one buffer, from several crowds.
#[derive(Debug, Default)]
pub(crate) struct ScatterList {
    /// Number of elements, words per element, indices.
    indices: Vec<u32>,
    words: Vec<u32>,
    buffer: Option<wgpu::Buffer>,
}

impl ScatterList {
    fn clear(&mut self) {
        self.indices.clear();
        self.words.clear();
    }

    /// Adds elements that follow each other.
    fn push<T: Pod>(&mut self, first: u32, elements: &[T]) {
        if self.indices.is_empty() {
            self.indices.extend([0, (size_of::<T>() / 4) as u32]);
        }
        self.indices.extend(first..first + elements.len() as u32);
        self.words.extend_from_slice(bytemuck::cast_slice(elements));
    }

    /// Uploads the elements added since the last call, from instances that follow each other at once if they are few.
    pub(crate) fn flush(
        &mut self,
        to: (&mut Uploads<'_>, &wgpu::Queue),
        pipeline: &LazyPipelines<ScatterPipeline>,
        target: &wgpu::Buffer,
    ) {
        let Some(indices) = self.indices.get(2..) else { return };
        let runs = || indices.chunk_by(|before, index| before + 1 == *index);
        if runs().nth(FEW).is_some() {
            self.scatter(to, pipeline.get(), (target, 0));
        } else {
            let (words, mut first) = (self.indices[1] as usize, 0);
            for run in runs() {
                let end = first + run.len() * words;
                let at = u64::from(run[0]) * words as u64 * 4;
                to.1.write_buffer(target, at, bytemuck::cast_slice(&self.words[first..end]));
                first = end;
            }
        }
        self.clear();
    }

    fn scatter(
        &mut self,
        (uploads, queue): (&mut Uploads<'_>, &wgpu::Queue),
        pipeline: &ScatterPipeline,
        (target, at): (&wgpu::Buffer, u64),
    ) -> u64 {
        let device = uploads.device;
        self.indices[0] = self.indices.len() as u32 - 2;
        let bytes = [size_of_val(&self.indices[..]), size_of_val(&self.words[..])].map(|bytes| bytes as u64);
        let all: u64 = bytes.iter().sum();
        let buffer = match &self.buffer {
            Some(buffer) if buffer.size() >= all => buffer,
            _ => self.buffer.insert(device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("gpuskin changes"),
                size: all.next_power_of_two().min(uploads.limits.max_buffer_size),
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })),
        };
        queue.write_buffer(buffer, 0, bytemuck::cast_slice(&self.indices));
        queue.write_buffer(buffer, bytes[0], bytemuck::cast_slice(&self.words));
        let elements = wgpu::BufferBinding { buffer: target, offset: at, size: None };
        let list = wgpu::BufferBinding { buffer, offset: 0, size: wgpu::BufferSize::new(all) };
        let resources = [list, elements].map(wgpu::BindingResource::Buffer);
        let bind_group = bind_group(device, Some("gpuskin scatter"), &pipeline.layout, &resources);
        let groups = (self.words.len() as u32).div_ceil(GROUP_SIZE);
        let across = groups.min(uploads.limits.max_compute_workgroups_per_dimension).max(1);
        let mut pass = uploads.encoder().begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline.pipeline);
        pass.set_bind_group(0, &bind_group, &[]);
        pass.dispatch_workgroups(across, groups.div_ceil(across), 1);
        all
    }
}
