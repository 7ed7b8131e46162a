//! Morph pass: adds the deltas of morph targets once per pose, in compute, for the vertices of all passes.

use std::sync::OnceLock;

use super::compute;
use super::layouts::{self, MATRIX_BYTES, WORDS, storage, uniform};
use crate::Metadata;
use crate::local::shader::PaletteUniform;
use crate::morph::{MorphLists, sum_matrices};
use crate::shader::{self, MODEL_BYTES, MORPH_ENTRY_POINT};

const LABEL: Option<&str> = Some("gpuskin morph targets");

/// Pipelines of the pass, without and with tangents, created on first use.
#[derive(Debug)]
pub(crate) struct MorphPipelines {
    layout: wgpu::BindGroupLayout,
    pipelines: [OnceLock<wgpu::ComputePipeline>; 2],
}

impl MorphPipelines {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let parameters = uniform(size_of::<PaletteUniform>() as u64, true);
        let bindings = [parameters, uniform(MODEL_BYTES, false), storage(true, false), storage(false, false), WORDS];
        Self { layout: compute::layout(device, LABEL, &bindings), pipelines: Default::default() }
    }
}

/// Memory in palettes for the sums of a model's morph targets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MorphRoom {
    /// Number of vertices that targets move.
    pub(crate) vertices: u32,
    /// Number of palette slots that have any: the first ones.
    pub(crate) slots: u32,
    /// Matrices per pose.
    pub(crate) stride: u32,
    /// Poses per slot.
    pose_times: u32,
}

impl MorphRoom {
    /// `words`: lists of deltas. `most`: greatest number of bytes.
    pub(crate) fn new(meta: &Metadata, words: &[u8], pose_times: u32, most: u64) -> Self {
        let (words, _) = words.as_chunks::<4>();
        let words: Vec<u32> = words.iter().take(4).map(|word| u32::from_le_bytes(*word)).collect();
        let vertices = MorphLists::new(&words).moved(0).min(meta.mesh.vertex_count);
        let stride = sum_matrices(vertices, meta.mesh.format.tangent);
        let bytes = u64::from(stride) * u64::from(pose_times) * MATRIX_BYTES;
        let slots = most.checked_div(bytes).unwrap_or(0).min(u32::MAX.into()) as u32;
        Self { vertices, slots, stride, pose_times }
    }

    /// Bytes for a number of palette slots.
    pub(crate) fn bytes(self, slots: u32) -> u64 {
        u64::from(slots.min(self.slots)) * u64::from(self.stride) * u64::from(self.pose_times) * MATRIX_BYTES
    }
}

/// Morph pass of a model.
#[derive(Debug)]
pub(crate) struct MorphPass {
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::ComputePipeline,
    lists: wgpu::TextureView,
    /// Constants of the model, at the start of the buffer.
    constants: wgpu::Buffer,
}

impl MorphPass {
    pub(crate) fn new(
        device: &wgpu::Device,
        pipelines: &MorphPipelines,
        tangents: bool,
        lists: wgpu::TextureView,
        constants: wgpu::Buffer,
    ) -> Self {
        let layout = &pipelines.layout;
        let made = || compute::pipeline(device, LABEL, (&shader::morph_pass(tangents), MORPH_ENTRY_POINT), &[layout]);
        let pipeline = pipelines.pipelines[usize::from(tangents)].get_or_init(made).clone();
        Self { layout: layout.clone(), pipeline, lists, constants }
    }

    /// Creates the bind group. `parameters`: those of the palette pass.
    pub(crate) fn bind_group(
        &self,
        device: &wgpu::Device,
        parameters: wgpu::BufferBinding<'_>,
        playbacks: wgpu::BufferBinding<'_>,
        palette: &wgpu::Buffer,
    ) -> wgpu::BindGroup {
        let size = wgpu::BufferSize::new(MODEL_BYTES);
        let resources = [
            wgpu::BindingResource::Buffer(parameters),
            wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: &self.constants, offset: 0, size }),
            wgpu::BindingResource::Buffer(playbacks),
            palette.as_entire_binding(),
            wgpu::BindingResource::TextureView(&self.lists),
        ];
        layouts::bind_group(device, LABEL, &self.layout, &resources)
    }

    pub(crate) fn set(&self, pass: &mut wgpu::ComputePass<'_>, bind_group: &wgpu::BindGroup, offset: u32) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, bind_group, &[offset]);
    }
}
