//! The pass that moves the instances of a crowd.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::compute::{LazyPipelines, layout, pipeline};
use super::gpu::Gpu;
use super::layouts::{bind_group, storage, uniform};
use super::motions::Motions;
use super::roots::RootClips;
use crate::motion::{self, MOTION_ENTRY_POINT, MOTION_GROUP_SIZE, MotionUniform};
use crate::terrain::{Grid, TerrainUniform};
use crate::{Terrain, Time};

const LABEL: Option<&str> = Some("gpuskin motion");

/// Pipeline of the motion pass.
#[derive(Debug)]
struct MotionPipeline {
    layout: wgpu::BindGroupLayout,
    /// Layout of the terrain, if there is one.
    terrain: Option<wgpu::BindGroupLayout>,
    pipeline: wgpu::ComputePipeline,
}

impl MotionPipeline {
    fn new(device: &wgpu::Device, root_motion: bool, on_terrain: bool) -> Self {
        let parameters = uniform(size_of::<MotionUniform>() as u64, false);
        let mut bindings = vec![parameters, storage(true, false), storage(false, false)];
        if root_motion {
            // Playback records, and the root motion of the clips.
            bindings.extend([storage(true, false), storage(true, false)]);
        }
        let heights = wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: false },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let ground = [heights, uniform(size_of::<TerrainUniform>() as u64, false)];
        let terrain = on_terrain.then(|| layout(device, LABEL, &ground));
        let layout = layout(device, LABEL, &bindings);
        let groups: Vec<_> = core::iter::once(&layout).chain(&terrain).collect();
        let text = motion::motion(root_motion, on_terrain);
        let pipeline = pipeline(device, LABEL, (&text, MOTION_ENTRY_POINT), &groups);
        Self { layout, terrain, pipeline }
    }
}

/// Pipelines of the motion pass, without and with root motion, each without and with a terrain; and the heights of terrains
/// on the device.
#[derive(Debug)]
pub(crate) struct MotionPipelines {
    pipelines: [[LazyPipelines<MotionPipeline>; 2]; 2],
    heights: Mutex<Vec<(Weak<Grid>, wgpu::TextureView)>>,
}

impl MotionPipelines {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let lazy = |create| LazyPipelines::new(device, create);
        let flat = [lazy(|d| MotionPipeline::new(d, false, false)), lazy(|d| MotionPipeline::new(d, true, false))];
        let ground = [lazy(|d| MotionPipeline::new(d, false, true)), lazy(|d| MotionPipeline::new(d, true, true))];
        Self { pipelines: [flat, ground], heights: Mutex::default() }
    }

    /// Returns the heights of a terrain, which crowds share. Those of terrains that no longer exist are freed.
    fn heights(&self, Gpu { device, queue }: Gpu<'_>, terrain: &Terrain) -> wgpu::TextureView {
        let mut heights = self.heights.lock().unwrap_or_else(PoisonError::into_inner);
        heights.retain(|(grid, _)| grid.strong_count() > 0);
        let known = heights.iter().find(|(grid, _)| core::ptr::eq(grid.as_ptr(), Arc::as_ptr(terrain.grid())));
        if let Some((_, view)) = known {
            return view.clone();
        }
        let [width, height] = terrain.size();
        let size = wgpu::Extent3d { width, height, depth_or_array_layers: 1 };
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("gpuskin terrain"),
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::R32Float,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(width * 4), rows_per_image: None };
        queue.write_texture(texture.as_image_copy(), bytemuck::cast_slice(terrain.heights()), layout, size);
        let view = texture.create_view(&Default::default());
        heights.push((Arc::downgrade(terrain.grid()), view.clone()));
        view
    }
}

/// Motion pass of a crowd: over the transforms of this frame, and over those of the previous one, if
/// shaders read them.
#[derive(Clone, Debug)]
pub(crate) struct MotionPass {
    pub(crate) records: wgpu::Buffer,
    follows_root: bool,
    /// Ground, and its bind group.
    terrain: Option<(Terrain, wgpu::BindGroup)>,
    targets: Vec<(wgpu::Buffer, wgpu::BindGroup)>,
    pipeline: wgpu::ComputePipeline,
    max_groups: u32,
}

impl MotionPass {
    /// `targets`: place records, then those of the previous frame if there are any. `playing`: playback records, and root
    /// motion of the model if it has some. `terrain`: ground of the crowd.
    pub(crate) fn new<'b>(
        Gpu { device, queue }: Gpu<'_>,
        pipelines: &MotionPipelines,
        (capacity, motions): (usize, &Motions),
        targets: impl Iterator<Item = wgpu::BufferBinding<'b>>,
        (playbacks, roots): (wgpu::BufferBinding<'b>, Option<&RootClips>),
        terrain: Option<Terrain>,
    ) -> Self {
        let buffer = |size, usage| {
            let usage = usage | wgpu::BufferUsages::COPY_DST;
            device.create_buffer(&wgpu::BufferDescriptor { label: LABEL, size, usage, mapped_at_creation: false })
        };
        let records = buffer(capacity as u64 * motions.records().stride(), wgpu::BufferUsages::STORAGE);
        let roots = roots.filter(|_| motions.records().follow_root());
        let follows_root = roots.is_some();
        let used = pipelines.pipelines[usize::from(terrain.is_some())][usize::from(follows_root)].get();
        let table = roots.map(|roots| roots.buffer(Gpu { device, queue }).as_entire_binding());
        let read = table.map(|table| [wgpu::BindingResource::Buffer(playbacks), table]);
        let target = |places: wgpu::BufferBinding<'_>| {
            let parameters = buffer(size_of::<MotionUniform>() as u64, wgpu::BufferUsages::UNIFORM);
            let resources =
                [parameters.as_entire_binding(), records.as_entire_binding(), wgpu::BindingResource::Buffer(places)];
            let resources: Vec<_> = resources.into_iter().chain(read.iter().flatten().cloned()).collect();
            let group = bind_group(device, LABEL, &used.layout, &resources);
            (parameters, group)
        };
        let max_groups = device.limits().max_compute_workgroups_per_dimension;
        let targets = targets.map(target).collect();
        let terrain = terrain.zip(used.terrain.as_ref()).map(|(terrain, layout)| {
            let constants = buffer(size_of::<TerrainUniform>() as u64, wgpu::BufferUsages::UNIFORM);
            queue.write_buffer(&constants, 0, bytemuck::bytes_of(&terrain.uniform()));
            let heights = pipelines.heights(Gpu { device, queue }, &terrain);
            let resources = [wgpu::BindingResource::TextureView(&heights), constants.as_entire_binding()];
            let group = bind_group(device, LABEL, layout, &resources);
            (terrain, group)
        });
        let pipeline = used.pipeline.clone();
        Self { targets, records: records.clone(), follows_root, terrain, pipeline, max_groups }
    }

    /// Whether the pass reads the records of these motions, on this ground.
    pub(crate) fn reads(&self, motions: &Motions, terrain: Option<&Terrain>) -> bool {
        let ground = self.terrain.as_ref().map(|(terrain, _)| terrain);
        self.follows_root == motions.records().follow_root() && ground == terrain
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
        if let Some((_, ground)) = &self.terrain {
            pass.set_bind_group(1, ground, &[]);
        }
        for ((parameters, group), time) in self.targets.iter().zip(times) {
            let uniform = MotionUniform { time: time.words(), instances, reserved: 0 };
            queue.write_buffer(parameters, 0, bytemuck::bytes_of(&uniform));
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(across, groups.div_ceil(across), 1);
        }
    }
}
