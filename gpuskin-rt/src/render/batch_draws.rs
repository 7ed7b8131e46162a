//! Draws of a batch: parts of all of its crowds that share a pipeline are drawn together.

use std::collections::HashMap;
use std::sync::Arc;

use super::batch_materials::{RunMaterials, SamplerSets};
use super::batch_members::{Member, SharedInstances};
use super::batch_passes::BatchPasses;
use super::geometry::Geometry;
use super::gpu::Gpu;
use super::gpu_model::GpuModel;
use super::layouts::{BATCH_BINDINGS, Layouts};
use super::pipelines::{PassKind, Pipelines};
use crate::VertexFormat;
use crate::batch::{BatchFrame, BatchedCrowd, DrawnCrowd};
use crate::cull::{DRAW_BYTES, ENTRY_BYTES};
use crate::shader::VERTICES_BINDING;

const LABEL: Option<&str> = Some("gpuskin batch");

/// Parts of a batch in the order in which they are drawn, and the buffers of their meshes.
pub(crate) struct DrawPlan {
    groups: Vec<DrawGroup>,
    /// Arguments of the draws of a set, in drawing order.
    pub(crate) of_set: Vec<u32>,
    /// Per draw, in drawing order: first entry of its list in the set; number of its crowd, and of its material in
    /// the run's table in the upper half.
    draws: Vec<[u32; 2]>,
    /// Place in the drawing order of each draw `[crowd][part][lod]`.
    pub(crate) order: Vec<u32>,
}

/// Parts that are drawn with one pipeline from one vertex and one index buffer.
#[derive(Debug)]
struct DrawGroup {
    pipelines: Arc<Pipelines>,
    vertices: wgpu::Buffer,
    /// Whether shaders load influences from the vertex buffer too.
    loads_influences: bool,
    indices: wgpu::Buffer,
    index_format: wgpu::IndexFormat,
    runs: Vec<MaterialRun>,
    /// Draws of all runs.
    draws: DrawRange,
}

/// Draws of a group that share a bind group of materials.
#[derive(Debug)]
struct MaterialRun {
    materials: RunMaterials,
    draws: DrawRange,
}

/// Consecutive draws of a set.
#[derive(Clone, Copy, Debug)]
struct DrawRange {
    /// First draw in the drawing order, and number of draws.
    first: u32,
    count: u32,
}

/// Draws of a batch on the device.
#[derive(Debug)]
pub(crate) struct BatchDraws {
    groups: Vec<DrawGroup>,
    /// Indirect arguments in drawing order: `[set][draw]`.
    arguments: wgpu::Buffer,
    /// Bind groups of the crowds, by group of draws.
    bind_groups: Vec<wgpu::BindGroup>,
    frame: BatchFrame,
    /// Number on the device that exceeds that of all draws; `None` if the device reads no numbers of draws.
    unlimited: Option<wgpu::Buffer>,
}

/// Part of a crowd of a batch.
struct Part<'a, 'm> {
    group: usize,
    crowd: usize,
    number: usize,
    /// Number of the samplers of its material; 0 without tables of materials.
    samplers: usize,
    material: u32,
    member: &'a Member<'m>,
}

/// Run that parts are added to.
struct OpenRun<'a> {
    group: usize,
    samplers: usize,
    materials: Vec<(&'a Arc<GpuModel>, u32)>,
    draws: DrawRange,
}

impl<'a> OpenRun<'a> {
    /// Adds draws of a part, and returns the number of its material in the run; `None` if the part needs another run.
    /// `len`: most materials of a run.
    fn add(&mut self, part: &Part<'a, '_>, len: usize, draws: u32) -> Option<u32> {
        if (self.group, self.samplers) != (part.group, part.samplers) {
            return None;
        }
        let is_same = |(model, material): &(&Arc<GpuModel>, u32)| {
            Arc::ptr_eq(model, part.member.model) && *material == part.material
        };
        // Materials of a crowd follow each other; crowds of one model may not.
        let number = self.materials.iter().rposition(is_same).or_else(|| {
            (self.materials.len() < len).then(|| {
                self.materials.push((part.member.model, part.material));
                self.materials.len() - 1
            })
        })?;
        self.draws.count += draws;
        Some(number as u32)
    }
}

impl DrawPlan {
    /// Orders the parts of all crowds, and copies their meshes into common buffers.
    pub(crate) fn new(
        (device, encoder): (&wgpu::Device, &mut wgpu::CommandEncoder),
        layouts: &Layouts,
        members: &[Member<'_>],
        crowds: &[BatchedCrowd],
    ) -> Self {
        let meshes = Meshes::new((device, &mut *encoder), members);
        let mut groups: Vec<DrawGroup> = Vec::new();
        let mut numbers: HashMap<(*const Pipelines, bool), usize> = HashMap::new();
        let mut sampler_sets = SamplerSets::default();
        let mut parts = Vec::new();
        for (crowd, member) in members.iter().enumerate() {
            let geometry = &member.model.geometry;
            for (number, (part, pipelines)) in geometry.parts.iter().zip(&member.pipelines).enumerate() {
                let wide = geometry.index_format == wgpu::IndexFormat::Uint32;
                let group = *numbers.entry((Arc::as_ptr(pipelines), wide)).or_insert_with(|| {
                    groups.push(DrawGroup {
                        pipelines: pipelines.clone(),
                        vertices: meshes.vertices[&geometry.variant.vertex].clone(),
                        loads_influences: geometry.variant.loads_influences,
                        indices: meshes.indices[usize::from(wide)].clone(),
                        index_format: geometry.index_format,
                        runs: Vec::new(),
                        draws: DrawRange { first: 0, count: 0 },
                    });
                    groups.len() - 1
                });
                let samplers = match pipelines.has_tables() {
                    true => sampler_sets.number(member.model.materials.sampled(part.material)),
                    false => 0,
                };
                parts.push(Part { group, crowd, number, samplers, material: part.material, member });
            }
        }
        parts.sort_by_key(|part| (part.group, part.samplers, part.crowd, part.material));

        let count = crowds.iter().map(|crowd| (crowd.culling.parts * crowd.culling.lods) as usize).sum();
        let (mut of_set, mut draws, mut order) = (Vec::new(), Vec::new(), vec![0; count]);
        let mut runs: Vec<OpenRun<'_>> = Vec::new();
        for part in &parts {
            let (crowd, geometry) = (&crowds[part.crowd], &part.member.model.geometry);
            let place = meshes.places[&core::ptr::from_ref(geometry)];
            let len = layouts.table_len.filter(|_| groups[part.group].pipelines.has_tables());
            let len = len.map_or(1, |len| len.get() as usize);
            let first = draws.len() as u32;
            let material = runs.last_mut().and_then(|run| run.add(part, len, crowd.culling.lods));
            let material = material.unwrap_or_else(|| {
                runs.push(OpenRun {
                    group: part.group,
                    samplers: part.samplers,
                    materials: vec![(part.member.model, part.material)],
                    draws: DrawRange { first, count: crowd.culling.lods },
                });
                0
            });
            for lod in 0..crowd.culling.lods as usize {
                let range = &geometry.lods[lod][part.number];
                let entry = crowd.lists_at / (ENTRY_BYTES / 4) as u32 + lod as u32 * crowd.culling.capacity;
                let number = draws.len() as u32;
                order[crowd.draws_at as usize + part.number * crowd.culling.lods as usize + lod] = number;
                draws.push([entry, part.crowd as u32 | material << 16]);
                let first_index = place.first_index + (range.first_index - geometry.first_index());
                of_set.extend([range.index_count, 0, first_index, place.base_vertex, number << 16]);
            }
        }
        for OpenRun { group, materials, draws, .. } in runs {
            let group = &mut groups[group];
            let materials = RunMaterials::new((device, encoder), layouts, &group.pipelines, &materials);
            group.runs.push(MaterialRun { materials, draws });
        }
        for group in &mut groups {
            group.draws.first = group.runs.first().map_or(0, |run| run.draws.first);
            group.draws.count = group.runs.iter().map(|run| run.draws.count).sum();
        }
        Self { groups, of_set, draws, order }
    }
}

impl BatchDraws {
    pub(crate) fn new(
        Gpu { device, queue }: Gpu<'_>,
        layouts: &Layouts,
        plan: DrawPlan,
        members: &[Member<'_>],
        (crowds, frame): (&[BatchedCrowd], BatchFrame),
        (passes, instances): (&BatchPasses, &SharedInstances),
    ) -> Self {
        use wgpu::BufferUsages as Usages;
        let buffer = |size: u64, usage| {
            let usage = usage | Usages::COPY_DST;
            device.create_buffer(&wgpu::BufferDescriptor { label: LABEL, size, usage, mapped_at_creation: false })
        };
        let drawn = members.iter().zip(crowds).map(|(member, crowd)| {
            let constants = member.model.geometry.constants;
            DrawnCrowd {
                position_min: constants.position_min,
                palette_stride: crowd.stride,
                position_extent: constants.position_extent,
                palette_previous: crowd.previous_offset,
                uv_min: constants.uv_min,
                uv_extent: constants.uv_extent,
                palette_at: crowd.palette_at,
                first_instance: crowd.first_instance,
                ..DrawnCrowd::default()
            }
        });
        let drawn: Vec<DrawnCrowd> = drawn.collect();
        let [table, draws] = [bytemuck::cast_slice(&drawn), bytemuck::cast_slice(&plan.draws)].map(|bytes: &[u8]| {
            let buffer = buffer(bytes.len() as u64, Usages::STORAGE);
            queue.write_buffer(&buffer, 0, bytes);
            buffer
        });
        let unlimited = passes.unlimited().cloned();
        let whole = wgpu::Buffer::as_entire_binding;
        let of_set = wgpu::BufferBinding {
            buffer: &passes.lists,
            offset: 0,
            size: wgpu::BufferSize::new(u64::from(frame.set_words) * 4),
        };
        let resources = [
            whole(&passes.palette),
            whole(&table),
            whole(&instances.places),
            wgpu::BindingResource::Buffer(of_set),
            whole(&instances.playbacks),
            whole(&draws),
        ];
        let bind_groups = plan.groups.iter().map(|group| {
            let vertices = group.loads_influences.then(|| (VERTICES_BINDING, whole(&group.vertices)));
            let entries = BATCH_BINDINGS.into_iter().zip(resources.clone()).chain(vertices);
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: LABEL,
                layout: layouts.batch(group.loads_influences),
                entries: &entries
                    .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
                    .collect::<Vec<_>>(),
            })
        });
        let bind_groups = bind_groups.collect();
        Self { groups: plan.groups, arguments: passes.ordered_arguments.clone(), bind_groups, frame, unlimited }
    }

    /// Draws all crowds from a set of lists. Group 0 is bound.
    pub(crate) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, set: u32, kind: PassKind) {
        if !self.groups.iter().any(|group| group.pipelines.draws(kind)) {
            return;
        }
        let lists_at = (self.frame.sets_at + set * self.frame.set_words) * 4;
        let draw = |pass: &mut wgpu::RenderPass<'_>, draws: DrawRange| {
            let at = (u64::from(set) * u64::from(self.frame.draws) + u64::from(draws.first)) * DRAW_BYTES;
            match &self.unlimited {
                Some(most) => pass.multi_draw_indexed_indirect_count(&self.arguments, at, most, 0, draws.count),
                None => pass.multi_draw_indexed_indirect(&self.arguments, at, draws.count),
            }
        };
        for (group, bind_group) in self.groups.iter().zip(&self.bind_groups) {
            let (Some(first), Some(pipeline)) = (group.runs.first(), group.pipelines.of(kind)) else { continue };
            pass.set_pipeline(pipeline);
            pass.set_bind_group(1, bind_group, &[lists_at]);
            pass.set_vertex_buffer(0, group.vertices.slice(..));
            pass.set_index_buffer(group.indices.slice(..), group.index_format);
            if group.pipelines.reads_material(kind) {
                for run in &group.runs {
                    pass.set_bind_group(2, run.materials.bind_group(), &[]);
                    draw(pass, run.draws);
                }
            } else {
                // The layout wants a material; no shader reads it.
                pass.set_bind_group(2, first.materials.bind_group(), &[]);
                draw(pass, group.draws);
            }
        }
    }
}

/// Meshes of all models of a batch in common buffers: vertices by format, and indices of two bytes, then of
/// four.
struct Meshes {
    vertices: HashMap<VertexFormat, wgpu::Buffer>,
    indices: [wgpu::Buffer; 2],
    places: HashMap<*const Geometry, MeshPlace>,
}

/// Place of the mesh of a model in the common buffers.
#[derive(Clone, Copy)]
struct MeshPlace {
    base_vertex: u32,
    first_index: u32,
}

impl Meshes {
    fn new((device, encoder): (&wgpu::Device, &mut wgpu::CommandEncoder), members: &[Member<'_>]) -> Self {
        let mut places = HashMap::new();
        let mut vertex_bytes: HashMap<VertexFormat, u64> = HashMap::new();
        let mut index_bytes = [0_u64; 2];
        let mut copies = Vec::new();
        for geometry in members.iter().map(|member| &member.model.geometry) {
            let key = core::ptr::from_ref(geometry);
            if places.contains_key(&key) {
                continue;
            }
            let format = geometry.variant.vertex;
            let (stride, index) = (format.stride() as u64, geometry.index_format.byte_size() as u64);
            let wide = usize::from(geometry.index_format == wgpu::IndexFormat::Uint32);
            let vertices_at = vertex_bytes.entry(format).or_default();
            let place = MeshPlace {
                base_vertex: (*vertices_at / stride) as u32,
                first_index: (index_bytes[wide] / index) as u32,
            };
            copies.push((geometry, *vertices_at, index_bytes[wide]));
            *vertices_at += geometry.vertices_len();
            index_bytes[wide] += geometry.indices_len().next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
            places.insert(key, place);
        }
        let buffer = |size: u64, usage| {
            let usage = usage | wgpu::BufferUsages::COPY_DST;
            let size = size.max(wgpu::COPY_BUFFER_ALIGNMENT);
            device.create_buffer(&wgpu::BufferDescriptor { label: LABEL, size, usage, mapped_at_creation: false })
        };
        let indices = index_bytes.map(|bytes| buffer(bytes, wgpu::BufferUsages::INDEX));
        let vertices: HashMap<_, _> = vertex_bytes
            .iter()
            .map(|(format, bytes)| (*format, buffer(*bytes, wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::STORAGE)))
            .collect();
        for (geometry, vertices_at, indices_at) in copies {
            let wide = usize::from(geometry.index_format == wgpu::IndexFormat::Uint32);
            let to = (&vertices[&geometry.variant.vertex], vertices_at);
            geometry.copy_mesh(encoder, to, (&indices[wide], indices_at));
        }
        Self { vertices, indices, places }
    }
}
