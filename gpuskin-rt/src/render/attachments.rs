//! Attachments of a crowd on the device: props that the shader of their owner draws, from the owner's
//! instances.

use std::sync::{Arc, Mutex, PoisonError};

use super::cpu_model::CpuModel;
use super::cull::Draws;
use super::draw_run::DrawRun;
use super::gpu::Gpu;
use super::gpu_model::GpuModel;
use super::layouts::Layouts;
use super::payload::{load, slice, words};
use super::pipelines::{DrawnPart, PassKind};
use super::{AttachmentId, Error, StaleId, View};
use crate::cull::DRAW_BYTES;
use crate::shader::Variant;
use crate::vertex::{Vertex, pack};
use crate::{Affine3, Appearance, FramePair, MeshPart, Metadata, Model, Packing, VertexFormat, VertexRange};

/// Attachments of a crowd.
#[derive(Debug, Default)]
pub(crate) struct Attachments {
    pub(super) slots: Vec<AttachmentSlot>,
}

#[derive(Debug)]
pub(super) struct AttachmentSlot {
    pub(super) generation: u32,
    pub(super) attached: Option<Arc<AttachedProp>>,
}

/// Prop on the device, as attached to the instances of a crowd.
#[derive(Debug)]
pub(crate) struct AttachedProp {
    pub(super) variant: Variant,
    /// Source of materials and textures.
    prop: Arc<GpuModel>,
    parts: Vec<DrawnPart>,
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    /// Distance by which the prop extends the bounds of the owner's clips, metres.
    pub(super) reach: f32,
    /// Arguments for the first pass of a frame, and for revealed instances after it.
    arguments: Mutex<[Option<Arguments>; 2]>,
}

/// Arguments of indirect draws, `[list][run][part][lod]`, with the instance counts of the owner's
/// lists.
#[derive(Clone, Debug)]
struct Arguments {
    buffer: wgpu::Buffer,
    shape: ArgumentsShape,
}

/// Number of draws per mesh part.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ArgumentsShape {
    /// One list for all views together, then one per view; or a single list of revealed instances.
    lists: usize,
    draw_runs: usize,
    /// Levels of detail of the owner that one call draws. A prop has no levels of its own.
    lods: u32,
    /// First-instance step per level of detail.
    step: u32,
}

impl Attachments {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<AttachedProp>> {
        self.slots.iter().filter_map(|slot| slot.attached.as_ref())
    }

    /// Largest distance by which a prop extends the bounds of the clips, metres.
    pub(crate) fn reach(&self) -> f32 {
        self.iter().map(|attached| attached.reach).fold(0.0, f32::max)
    }

    pub(crate) fn get(&self, crowd: u32, id: AttachmentId) -> Result<&Arc<AttachedProp>, StaleId> {
        let slot =
            self.slots.get(id.slot as usize).filter(|slot| crowd == id.crowd && slot.generation == id.generation);
        slot.and_then(|slot| slot.attached.as_ref()).ok_or(StaleId::Attachment(id))
    }

    /// Returns a free slot, with a generation that was not used before.
    pub(super) fn free(&mut self) -> Option<usize> {
        let usable = |slot: &AttachmentSlot| slot.attached.is_none() && slot.generation < u32::MAX;
        if let Some(at) = self.slots.iter().position(usable) {
            self.slots[at].generation += 1;
            return Some(at);
        }
        (self.slots.len() < Appearance::MAX_ATTACHMENTS).then(|| {
            self.slots.push(AttachmentSlot { generation: 0, attached: None });
            self.slots.len() - 1
        })
    }
}

/// Mesh of a prop, before its upload.
pub(super) struct Mesh {
    words: Vec<u32>,
    indices: Vec<u32>,
    /// Largest distance of a vertex from the bone's origin, metres.
    reach: f32,
}

/// Vertex format of a prop on its owner: full precision, because packed vertices would need the
/// owner's ranges.
pub(super) fn format(prop: &Metadata) -> VertexFormat {
    VertexFormat { packing: Packing::Full, ..prop.mesh.format }
}

/// Creates the mesh of a prop in the first frame of its first clip, transformed by `bound` and
/// bound to one bone.
pub(super) fn mesh(prop: &Model, bone: u32, part: u32, bound: &Affine3) -> Result<Mesh, Error> {
    let meta = &prop.meta;
    let posed = CpuModel::new(prop)?;
    let file = load(meta, &prop.mesh)?;
    let indices = slice(meta, &file, meta.mesh.indices, "mesh.bin")?;
    let mut indices: Vec<u32> = match meta.mesh.wide_indices {
        true => words(indices),
        false => indices.as_chunks::<2>().0.iter().map(|i| u16::from_le_bytes(*i).into()).collect(),
    };
    let first = posed.records.first().ok_or_else(|| Error::model(&meta.name, "the model has no clips"))?.first_frame;
    let (origin, format) = (bound.origin(), format(meta));
    let mut mesh = Mesh { words: Vec::new(), indices: Vec::new(), reach: 0.0 };
    for shown in posed.vertices_between(FramePair { a: first, b: first, t: 0.0, first }) {
        let position = bound.point(shown.position);
        mesh.reach = mesh.reach.max(position.distance(origin));
        let tangent = bound.direction(shown.tangent.truncate()).normalize_or_zero();
        let vertex = Vertex {
            position,
            normal: bound.normal(shown.normal).normalize_or_zero(),
            tangent: tangent.extend(shown.tangent.w),
            uv: shown.uv,
            second_uv: shown.second_uv,
            joints: [bone, 0, 0, 0, 0, 0, 0, 0],
            weights: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            part,
            color: shown.color,
        };
        mesh.words.extend(pack(&vertex, format, &VertexRange::default()));
    }
    // If the bone mirrors, so do its skinning matrices; the swap keeps front faces in front.
    let [x, y, z] = bound.rows.map(|row| row.truncate());
    if x.dot(y.cross(z)) < 0.0 {
        indices.as_chunks_mut::<3>().0.iter_mut().for_each(|triangle| triangle.swap(1, 2));
    }
    mesh.indices = indices;
    Ok(mesh)
}

impl AttachedProp {
    /// `parts`: parts of the prop, with pipelines for `variant`.
    pub(super) fn new(
        Gpu { device, queue }: Gpu<'_>,
        variant: Variant,
        (prop, parts): (Arc<GpuModel>, Vec<DrawnPart>),
        mesh: &Mesh,
    ) -> Self {
        let buffer = |label, words: &[u32], usage| {
            let buffer = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: size_of_val(words) as u64,
                usage: usage | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            queue.write_buffer(&buffer, 0, bytemuck::cast_slice(words));
            buffer
        };
        Self {
            variant,
            prop,
            parts,
            vertices: buffer("gpuskin attachment", &mesh.words, wgpu::BufferUsages::VERTEX),
            indices: buffer("gpuskin attachment", &mesh.indices, wgpu::BufferUsages::INDEX),
            reach: mesh.reach,
            arguments: Mutex::default(),
        }
    }

    /// Copies the instance counts of each list from the owner's draws. Called after a culling pass.
    pub(super) fn record(&self, gpu: Gpu<'_>, encoder: &mut wgpu::CommandEncoder, owner: &Lists<'_>, revealed: bool) {
        let parts = self.parts.len();
        let mut arguments_of_pass = self.arguments.lock().unwrap_or_else(PoisonError::into_inner);
        let arguments_of_pass = &mut arguments_of_pass[usize::from(revealed)];
        let draw_runs = owner.first().map_or(&[][..], Vec::as_slice);
        let Some(Draws { lods, step, .. }) = draw_runs.first().copied() else { return };
        let shape = ArgumentsShape { lists: owner.len(), draw_runs: draw_runs.len(), lods, step };
        let Arguments { buffer, .. } = match arguments_of_pass.take().filter(|arguments| arguments.shape == shape) {
            Some(arguments) => arguments_of_pass.insert(arguments),
            None => arguments_of_pass.insert(Arguments { buffer: self.new_arguments(gpu, shape), shape }),
        };
        for (i, draws) in owner.iter().flatten().enumerate() {
            for part in 0..parts {
                let first = (i * parts + part) as u64 * u64::from(lods);
                for (lod, at) in (0..).zip(draws.counts()) {
                    // Second word of a draw's arguments: the instance count.
                    encoder.copy_buffer_to_buffer(draws.arguments, at, buffer, (first + lod) * DRAW_BYTES + 4, 4);
                }
            }
        }
    }

    fn new_arguments(&self, Gpu { device, queue }: Gpu<'_>, shape: ArgumentsShape) -> wgpu::Buffer {
        let of_part = |part: &DrawnPart| {
            let MeshPart { index_count, first_index, .. } = part.mesh;
            (0..shape.lods).flat_map(move |lod| [index_count, 0, first_index, 0, lod * shape.step])
        };
        let of_run = |_| self.parts.iter().flat_map(of_part);
        let words: Vec<u32> = (0..shape.lists * shape.draw_runs).flat_map(of_run).collect();
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpuskin attachment draws"),
            size: size_of_val(&words[..]) as u64,
            usage: wgpu::BufferUsages::INDIRECT | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&words));
        buffer
    }

    /// Creates bind groups before the first draw.
    pub(crate) fn bind(&self, device: &wgpu::Device, layouts: &Layouts) {
        self.prop.materials.bind(device, layouts, &self.prop.geometry);
    }

    /// Whether a part is drawn in a kind of pass.
    pub(crate) fn draws(&self, kind: PassKind) -> bool {
        self.parts.iter().any(|part| part.pipelines.draws(kind))
    }

    /// Draws parts for a run of the owner, whose resources are bound: those for which `part` returns true.
    /// `number`: number of the run.
    pub(super) fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        view: Option<View>,
        number: usize,
        run: &DrawRun<'_>,
        mut part: impl FnMut(&mut wgpu::RenderPass<'_>, &DrawnPart) -> bool,
    ) {
        let culled = run.palette.as_ref().is_some_and(|palette| palette.draws.is_some());
        let arguments_of_pass = self.arguments.lock().unwrap_or_else(PoisonError::into_inner);
        let arguments = arguments_of_pass[usize::from(view == Some(View::REVEALED))].clone();
        drop(arguments_of_pass);
        // A prop attached after `prepare` shows after the next one.
        if culled && arguments.as_ref().is_none_or(|arguments| number >= arguments.shape.draw_runs) {
            return;
        }
        pass.set_vertex_buffer(0, self.vertices.slice(..));
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
        for (i, drawn) in self.parts.iter().enumerate() {
            if !part(pass, drawn) {
                continue;
            }
            match arguments.as_ref().filter(|_| culled) {
                Some(Arguments { buffer, shape: ArgumentsShape { lists, draw_runs, lods, .. } }) => {
                    // As for the owner, a view added since has the list of all views. Revealed
                    // instances have a single list.
                    let list = view.map_or(0, |View(view)| view.saturating_add(1));
                    let list = if list < *lists { list } else { 0 };
                    let part = (list * draw_runs + number) * self.parts.len() + i;
                    pass.multi_draw_indexed_indirect(buffer, part as u64 * u64::from(*lods) * DRAW_BYTES, *lods);
                }
                None => {
                    let MeshPart { first_index, index_count, .. } = drawn.mesh;
                    pass.draw_indexed(first_index..first_index + index_count, 0, run.numbers());
                }
            }
        }
    }

    /// Draws with the renderer's own pipelines and the prop's materials.
    pub(crate) fn draw_in(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        view: View,
        number: usize,
        run: &DrawRun<'_>,
        kind: PassKind,
    ) {
        self.draw(pass, Some(view), number, run, |pass, part| {
            let Some(pipeline) = part.pipelines.of(kind) else { return false };
            pass.set_pipeline(pipeline);
            pass.set_bind_group(2, self.prop.materials.get(part.mesh.material), &[]);
            true
        });
    }
}

/// Draws of the owner, `[list][run]`.
pub(super) type Lists<'a> = [Vec<Draws<'a>>];
