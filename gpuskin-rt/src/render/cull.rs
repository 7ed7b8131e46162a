//! The culling pass: of the instances of a crowd, those that a view sees are gathered, get a place in the palette, and
//! are drawn indirectly.

use super::crowd::RECORD;
use super::layouts::{entry, storage, uniform};
use crate::Time;
use crate::cull::{
    self, BOUNDS_BYTES, CullUniform, DRAW, DRAWS_AT, ENTRY, GROUP_SIZE, LISTS_AT, MOST_LISTS, MOST_VIEWS,
};
use crate::{MeshPart, View};

/// Lists begin at multiples of so many entries: of 256 bytes, as bindings must.
const LIST_ALIGNMENT: u32 = 32;
/// Bytes of a matrix from the world to clip space.
const VIEW_PROJ: u64 = 64;

/// What the renderer sees, for the culling pass.
#[derive(Debug)]
pub(crate) struct Views {
    buffer: wgpu::Buffer,
    pub(crate) count: usize,
}

impl Views {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpuskin views"),
            size: MOST_VIEWS as u64 * VIEW_PROJ,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Self { buffer, count: 0 }
    }

    /// Takes in the views' uniform buffers, as they are when the encoder is submitted.
    pub(crate) fn copy<'v>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        uniforms: impl Iterator<Item = &'v wgpu::Buffer>,
    ) {
        for (i, uniform) in (0..MOST_VIEWS as u64).zip(uniforms) {
            encoder.copy_buffer_to_buffer(uniform, 0, &self.buffer, i * VIEW_PROJ, VIEW_PROJ);
        }
    }
}

/// The pipelines of the pass, made when a crowd first needs them.
#[derive(Debug)]
pub(crate) struct CullPipelines {
    cull: (wgpu::BindGroupLayout, wgpu::ComputePipeline),
    arguments: (wgpu::BindGroupLayout, wgpu::ComputePipeline),
}

impl CullPipelines {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let parameters = uniform(size_of::<CullUniform>() as u64, false);
        let views = uniform(MOST_VIEWS as u64 * VIEW_PROJ, false);
        let (read, write) = (storage(true, false), storage(false, false));
        let bindings = [parameters, uniform(BOUNDS_BYTES, false), views, read, write, write];
        Self {
            cull: pipeline(device, &cull::cull(), cull::CULL, &bindings),
            arguments: pipeline(device, &cull::arguments(), cull::ARGUMENTS, &[parameters, write, write, write]),
        }
    }
}

fn pipeline(
    device: &wgpu::Device,
    text: &str,
    entry_point: &str,
    bindings: &[wgpu::BindingType],
) -> (wgpu::BindGroupLayout, wgpu::ComputePipeline) {
    let label = Some("gpuskin culling");
    let entries: Vec<_> =
        (0..).zip(bindings).map(|(binding, ty)| entry(binding, wgpu::ShaderStages::COMPUTE, *ty)).collect();
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
    let source = wgpu::ShaderSource::Wgsl(text.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label, source });
    let groups = [Some(&layout)];
    let descriptor = wgpu::PipelineLayoutDescriptor { label, bind_group_layouts: &groups, immediate_size: 0 };
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label,
        layout: Some(&device.create_pipeline_layout(&descriptor)),
        module: &module,
        entry_point: Some(entry_point),
        // The pass itself empties what it counts in.
        compilation_options: wgpu::PipelineCompilationOptions {
            zero_initialize_workgroup_memory: false,
            ..Default::default()
        },
        cache: None,
    });
    (layout, pipeline)
}

/// What the lists of so many instances take of a binding, at most.
pub(crate) const fn most_bytes_of_an_instance() -> u64 {
    MOST_LISTS as u64 * ENTRY
}

/// Of the instances that share a palette, those that are seen.
#[derive(Debug)]
pub(crate) struct Culling {
    parameters: wgpu::Buffer,
    pub(crate) seen_instances: wgpu::Buffer,
    pub(crate) lists: wgpu::Buffer,
    /// Of the palette pass and of the draws.
    pub(crate) arguments: wgpu::Buffer,
    cull: wgpu::BindGroup,
    write: wgpu::BindGroup,
    pipelines: [wgpu::ComputePipeline; 2],
    /// Entries of a list.
    capacity: u32,
    parts: u32,
    views: u32,
    most_groups: u32,
}

impl Culling {
    /// `palette_parameters`: of the palette that they share; the pass counts the instances in them.
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        pipelines: &CullPipelines,
        (parts, bounds): (&[MeshPart], &[u32]),
        views: &Views,
        (records, instances): (wgpu::BufferBinding<'_>, u32),
        palette_parameters: &wgpu::Buffer,
    ) -> Self {
        use wgpu::BufferUsages as Usages;
        let count = views.count.min(MOST_VIEWS) as u32;
        let capacity = instances.next_multiple_of(LIST_ALIGNMENT);
        let buffer = |size, usage| {
            let label = Some("gpuskin culling");
            device.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false })
        };
        let draws = draw_arguments(parts, count + 1);
        let parameters = buffer(size_of::<CullUniform>() as u64, Usages::UNIFORM | Usages::COPY_DST);
        let bounds_buffer = buffer(BOUNDS_BYTES, Usages::UNIFORM | Usages::COPY_DST);
        queue.write_buffer(&bounds_buffer, 0, bytemuck::cast_slice(bounds));
        let seen_instances = buffer(u64::from(instances) * RECORD, Usages::STORAGE);
        let lists = buffer(LISTS_AT + u64::from(count + 1) * u64::from(capacity) * ENTRY, Usages::STORAGE);
        let arguments = buffer(
            DRAWS_AT + draws.len() as u64 * 4,
            Usages::STORAGE | Usages::INDIRECT | Usages::COPY_DST | Usages::COPY_SRC,
        );
        queue.write_buffer(&arguments, DRAWS_AT, bytemuck::cast_slice(&draws));
        let group = |layout: &wgpu::BindGroupLayout, resources: &[wgpu::BindingResource<'_>]| {
            let entries: Vec<_> = (0..)
                .zip(resources)
                .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource: resource.clone() })
                .collect();
            let label = Some("gpuskin culling");
            device.create_bind_group(&wgpu::BindGroupDescriptor { label, layout, entries: &entries })
        };
        let whole = wgpu::Buffer::as_entire_binding;
        let resources = [
            whole(&parameters),
            whole(&bounds_buffer),
            whole(&views.buffer),
            wgpu::BindingResource::Buffer(records),
            whole(&seen_instances),
            whole(&lists),
        ];
        let cull = group(&pipelines.cull.0, &resources);
        let resources = [whole(&parameters), whole(&lists), whole(&arguments), whole(palette_parameters)];
        let write = group(&pipelines.arguments.0, &resources);
        Self {
            parameters,
            seen_instances,
            lists,
            arguments,
            cull,
            write,
            pipelines: [pipelines.cull.1.clone(), pipelines.arguments.1.clone()],
            capacity,
            parts: parts.len() as u32,
            views: count,
            most_groups: device.limits().max_compute_workgroups_per_dimension,
        }
    }

    /// Looks at the first `instances`.
    pub(crate) fn record(&self, queue: &wgpu::Queue, pass: &mut wgpu::ComputePass<'_>, instances: u32, time: Time) {
        let parameters = CullUniform {
            clock: time.words(),
            instances,
            views: self.views,
            capacity: self.capacity,
            parts: self.parts,
            most_groups: self.most_groups,
            reserved: 0,
        };
        queue.write_buffer(&self.parameters, 0, bytemuck::bytes_of(&parameters));
        let groups = instances.div_ceil(GROUP_SIZE);
        let across = groups.min(self.most_groups).max(1);
        pass.set_pipeline(&self.pipelines[0]);
        pass.set_bind_group(0, &self.cull, &[]);
        pass.dispatch_workgroups(across, groups.div_ceil(across), 1);
        pass.set_pipeline(&self.pipelines[1]);
        pass.set_bind_group(0, &self.write, &[]);
        pass.dispatch_workgroups(1, 1, 1);
    }

    /// The list of a view, or of all together; of all for a view that has come since.
    fn list(&self, view: Option<View>) -> u32 {
        view.map(|View(index)| index as u32 + 1).filter(|&list| list <= self.views).unwrap_or(0)
    }

    /// Bytes of the lists before that of a view, or of all together.
    pub(crate) fn list_at(&self, view: Option<View>) -> u32 {
        LISTS_AT as u32 + self.list(view) * self.capacity * ENTRY as u32
    }

    /// Bytes of a list.
    pub(crate) fn list_bytes(&self) -> u64 {
        u64::from(self.capacity) * ENTRY
    }

    /// Bytes of the arguments before those of a view's first part.
    pub(crate) fn draws_at(&self, view: Option<View>) -> u64 {
        DRAWS_AT + u64::from(self.list(view) * self.parts) * DRAW
    }
}

/// The arguments of all draws, [list][part], of no instances.
fn draw_arguments(parts: &[MeshPart], lists: u32) -> Vec<u32> {
    let of_list = |_| parts.iter().flat_map(|part| [part.index_count, 0, part.first_index, 0, 0]);
    (0..lists).flat_map(of_list).collect()
}
