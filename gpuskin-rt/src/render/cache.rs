//! Cache pass: skins poses that instances share once, and keeps them across frames.

use super::compute::{layout, pipeline};
use super::layouts::{bind_group, storage, uniform};
use super::palette::{PoseBindings, PoseEvaluator};
use crate::cache::{self, CACHED_VERTEX_BYTES, FILL_ENTRY_POINT};
use crate::cull::DISPATCH_BYTES;
use crate::local::shader::PaletteUniform;
use crate::shader::{MODEL_BYTES, Variant};

/// Pipeline that skins poses into the cache. Created when a crowd first needs it.
#[derive(Debug)]
pub(crate) struct Fill {
    layouts: [wgpu::BindGroupLayout; 2],
    pipeline: wgpu::ComputePipeline,
}

impl Fill {
    pub(crate) fn new(device: &wgpu::Device, variant: Variant) -> Self {
        let parameters = uniform(size_of::<PaletteUniform>() as u64, false);
        let (read, write) = (storage(true, false), storage(false, false));
        let layouts = [&[read, uniform(MODEL_BYTES, false)][..], &[parameters, read, write]];
        let layouts = layouts.map(|bindings| layout(device, LABEL, bindings));
        let pipeline = pipeline(device, LABEL, (&cache::fill(variant), FILL_ENTRY_POINT), &[&layouts[0], &layouts[1]]);
        Self { layouts, pipeline }
    }
}

const LABEL: Option<&str> = Some("gpuskin cache");

/// Model that a cache is filled from.
pub(crate) struct CacheSource<'a> {
    pub(crate) fill: &'a Fill,
    pub(crate) vertex_count: u32,
    /// Uniform buffer of the model.
    pub(crate) constants: wgpu::BindingResource<'a>,
    /// Vertices, as a storage buffer.
    pub(crate) vertices: wgpu::BindingResource<'a>,
}

/// Pose cache of a palette: its first poses, and their skinned vertices.
#[derive(Clone, Debug)]
pub(crate) struct PoseCache {
    pub(crate) parameters: wgpu::Buffer,
    /// Bind groups of the palette pass.
    compute: PoseBindings,
    fill: [wgpu::BindGroup; 2],
    pipeline: wgpu::ComputePipeline,
    /// Bind group for drawing the cached vertices.
    pub(crate) drawing: wgpu::BindGroup,
}

impl PoseCache {
    /// Creates a cache of `poses` poses. `drawing` creates the bind group of a draw from the vertex
    /// buffer.
    pub(crate) fn new(
        device: &wgpu::Device,
        source: CacheSource<'_>,
        poses: u32,
        (parameters, palette): (wgpu::Buffer, &wgpu::Buffer),
        compute: PoseBindings,
        drawing: impl FnOnce(&wgpu::Buffer) -> wgpu::BindGroup,
    ) -> Self {
        let vertices = device.create_buffer(&wgpu::BufferDescriptor {
            label: LABEL,
            size: u64::from(poses) * u64::from(source.vertex_count) * CACHED_VERTEX_BYTES,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        });
        let fill = source.fill;
        let group = |layout, resources: &[_]| bind_group(device, LABEL, layout, resources);
        let whole = wgpu::Buffer::as_entire_binding;
        let groups = [
            group(&fill.layouts[0], &[whole(palette), source.constants]),
            group(&fill.layouts[1], &[whole(&parameters), source.vertices, whole(&vertices)]),
        ];
        let drawing = drawing(&vertices);
        Self { parameters, compute, fill: groups, pipeline: fill.pipeline.clone(), drawing }
    }

    /// Returns the same cache with other bind groups of the palette pass.
    pub(crate) fn with_compute(&self, compute: PoseBindings) -> Self {
        Self { compute, ..self.clone() }
    }

    /// Evaluates and skins the new poses. The culling pass has written their number to the indirect
    /// arguments.
    pub(crate) fn record(&self, pass: &mut wgpu::ComputePass<'_>, poses: &PoseEvaluator, arguments: &wgpu::Buffer) {
        poses.dispatch_indirect(pass, &self.compute, (arguments, DISPATCH_BYTES));
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.fill[0], &[]);
        pass.set_bind_group(1, &self.fill[1], &[]);
        pass.dispatch_workgroups_indirect(arguments, 2 * DISPATCH_BYTES);
    }
}
