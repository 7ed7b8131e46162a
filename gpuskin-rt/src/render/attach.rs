//! What hangs on the instances of a crowd: a prop is a mesh of its own whose vertices all hang on one bone of the owner, and
//! is drawn by the owner's shader, from the owner's instances. Nothing of it is per instance on the CPU.

use std::sync::{Arc, Mutex, PoisonError};

use glam::Vec3;

use super::crowd::{CrowdCore, DrawnPart, GpuModel, Run};
use super::cull::Draws;
use super::geometry::{load, playable, slice};
use super::layouts::Layouts;
use super::posed::{Posed, words};
use super::{Crowd, CrowdRenderer, Error, InstanceId, View};
use crate::cull::DRAW;
use crate::shader::Variant;
use crate::vertex::{Vertex, pack};
use crate::{
    Attachment, FramePair, InstanceLook, MeshPart, Metadata, Model, Packing, SkinMatrix, VertexFormat, VertexRange,
};

/// Something that hangs on the instances of a crowd, until it is detached. An id is never given twice, and is refused by
/// every other crowd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttachmentId {
    crowd: u32,
    slot: u32,
    generation: u32,
}

/// Those of a crowd.
#[derive(Debug, Default)]
pub(crate) struct Attachments {
    slots: Vec<Slot>,
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    attached: Option<Arc<Attached>>,
}

/// A prop on the device, as a crowd's instances carry it.
#[derive(Debug)]
pub(crate) struct Attached {
    variant: Variant,
    /// Materials and textures are those of the prop.
    prop: Arc<GpuModel>,
    parts: Vec<DrawnPart>,
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    /// How far it reaches from what the owner's clips reach, metres.
    reach: f32,
    /// For the first pass of a frame, and for what is revealed after it.
    arguments: Mutex<[Option<Arguments>; 2]>,
}

/// Arguments of indirect draws, [list][run][part][level]: as many instances as the owner has in that list.
#[derive(Clone, Debug)]
struct Arguments {
    buffer: wgpu::Buffer,
    shape: Shape,
}

/// How many draws there are, whatever the parts.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shape {
    /// All views together, then each of them; or what is revealed.
    lists: usize,
    runs: usize,
    /// Levels of the owner that are drawn at once: a prop has none of its own.
    levels: u32,
    /// From the first instance of a level to that of the next.
    step: u32,
}

impl Attachments {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Attached>> {
        self.slots.iter().filter_map(|slot| slot.attached.as_ref())
    }

    /// How far any of them reaches from what the clips reach, metres.
    pub(crate) fn reach(&self) -> f32 {
        self.iter().map(|attached| attached.reach).fold(0.0, f32::max)
    }

    fn get(&self, crowd: u32, id: AttachmentId) -> Option<&Arc<Attached>> {
        let slot = self.slots.get(id.slot as usize).filter(|_| crowd == id.crowd)?;
        slot.attached.as_ref().filter(|_| slot.generation == id.generation)
    }

    /// A slot without one, of another generation than before.
    fn free(&mut self) -> Option<usize> {
        let usable = |slot: &Slot| slot.attached.is_none() && slot.generation < u32::MAX;
        if let Some(at) = self.slots.iter().position(usable) {
            self.slots[at].generation += 1;
            return Some(at);
        }
        (self.slots.len() < InstanceLook::MAX_ATTACHMENTS).then(|| {
            self.slots.push(Slot { generation: 0, attached: None });
            self.slots.len() - 1
        })
    }
}

/// What is drawn of a prop, before it is on the device.
struct Mesh {
    words: Vec<u32>,
    indices: Vec<u32>,
    /// Greatest distance of a vertex from the bone's origin, metres.
    reach: f32,
}

/// The format of a prop's vertices among those of an owner: exact, because ranges of packed ones are the owner's.
fn format(prop: &Metadata) -> VertexFormat {
    VertexFormat { packing: Packing::Full, ..prop.mesh.format }
}

/// The mesh of a prop as it stands at the start of its first clip, where `bound` takes it, on one bone.
fn mesh(prop: &Model, bone: u32, part: u32, bound: &SkinMatrix) -> Result<Mesh, Error> {
    let meta = &prop.meta;
    let posed = Posed::new(prop)?;
    let file = load(meta, &prop.mesh)?;
    let indices = slice(meta, &file, meta.mesh.indices, "mesh.bin")?;
    let mut indices: Vec<u32> = match meta.mesh.wide_indices {
        true => words(indices),
        false => indices.as_chunks::<2>().0.iter().map(|i| u16::from_le_bytes(*i).into()).collect(),
    };
    let first = posed.records.first().ok_or_else(|| Error::model(&meta.name, "it has no clips"))?.first_frame;
    let (origin, format) = (bound.translation(), format(meta));
    let mut mesh = Mesh { words: Vec::new(), indices: Vec::new(), reach: 0.0 };
    for shown in posed.vertices(FramePair { a: first, b: first, t: 0.0, first }) {
        let position = bound.point(shown.position);
        mesh.reach = mesh.reach.max(position.distance(origin));
        let tangent = bound.direction(shown.tangent.truncate()).normalize_or_zero();
        let vertex = Vertex {
            position,
            normal: bound.normal(shown.normal).normalize_or_zero(),
            tangent: tangent.extend(shown.tangent.w),
            uv: shown.uv,
            joints: [bone, 0, 0, 0],
            weights: [1.0, 0.0, 0.0, 0.0],
            part,
            color: shown.color,
        };
        mesh.words.extend(pack(&vertex, format, &VertexRange::default()));
    }
    // Where a bone mirrors, so do the matrices that it is drawn by: fronts stay fronts in the pose.
    let [x, y, z] = bound.rows.map(|row| row.truncate());
    if x.dot(y.cross(z)) < 0.0 {
        indices.as_chunks_mut::<3>().0.iter_mut().for_each(|triangle| triangle.swap(1, 2));
    }
    mesh.indices = indices;
    Ok(mesh)
}

impl Attached {
    fn new(renderer: &mut CrowdRenderer, owner: &CrowdCore, prop: &Model, mesh: &Mesh) -> Result<Self, Error> {
        let of_owner = owner.model.geometry.variant;
        let variant = Variant { vertex: format(&prop.meta), ..of_owner };
        let (on_device, parts) = renderer.prop(prop, variant)?;
        let (device, queue) = renderer.gpu();
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
        Ok(Self {
            variant,
            prop: on_device,
            parts,
            vertices: buffer("gpuskin attachment", &mesh.words, wgpu::BufferUsages::VERTEX),
            indices: buffer("gpuskin attachment", &mesh.indices, wgpu::BufferUsages::INDEX),
            reach: mesh.reach,
            arguments: Mutex::default(),
        })
    }

    /// After a culling pass: takes over how many instances each list has.
    fn record(
        &self,
        gpu: (&wgpu::Device, &wgpu::Queue),
        encoder: &mut wgpu::CommandEncoder,
        (owner, revealed): (&Lists<'_>, bool),
    ) {
        let parts = self.parts.len();
        let mut kept = self.arguments.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = &mut kept[usize::from(revealed)];
        let runs = owner.first().map_or(&[][..], Vec::as_slice);
        let Some(Draws { levels, step, .. }) = runs.first().copied() else { return };
        let shape = Shape { lists: owner.len(), runs: runs.len(), levels, step };
        let Arguments { buffer, .. } = match kept.take().filter(|arguments| arguments.shape == shape) {
            Some(arguments) => kept.insert(arguments),
            None => kept.insert(Arguments { buffer: self.new_arguments(gpu, shape), shape }),
        };
        for (i, draws) in owner.iter().flatten().enumerate() {
            for part in 0..parts {
                let first = (i * parts + part) as u64 * u64::from(levels);
                for (level, at) in (0..).zip(draws.counts()) {
                    // The second of a draw's arguments.
                    encoder.copy_buffer_to_buffer(draws.arguments, at, buffer, (first + level) * DRAW + 4, 4);
                }
            }
        }
    }

    fn new_arguments(&self, (device, queue): (&wgpu::Device, &wgpu::Queue), shape: Shape) -> wgpu::Buffer {
        let of_part = |part: &DrawnPart| {
            let MeshPart { index_count, first_index, .. } = part.mesh;
            (0..shape.levels).flat_map(move |level| [index_count, 0, first_index, 0, level * shape.step])
        };
        let of_run = |_| self.parts.iter().flat_map(of_part);
        let words: Vec<u32> = (0..shape.lists * shape.runs).flat_map(of_run).collect();
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpuskin attachment draws"),
            size: size_of_val(&words[..]) as u64,
            usage: wgpu::BufferUsages::INDIRECT | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&words));
        buffer
    }

    /// Makes what the first draw binds.
    pub(crate) fn bind(&self, device: &wgpu::Device, layouts: &Layouts) {
        self.prop.materials.bind(device, layouts, &self.prop.geometry);
    }

    /// Draws all parts for a run of its owner, which is bound: the number of the run, and whose view it is.
    fn draw(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        view: Option<View>,
        (number, run): (usize, &Run<'_>),
        mut part: impl FnMut(&mut wgpu::RenderPass<'_>, &DrawnPart),
    ) {
        let culled = run.palette.as_ref().is_some_and(|palette| palette.draws.is_some());
        let kept = self.arguments.lock().unwrap_or_else(PoisonError::into_inner);
        let arguments = kept[usize::from(view == Some(View::REVEALED))].clone();
        drop(kept);
        // One that came after `prepare` shows after the next.
        if culled && arguments.as_ref().is_none_or(|arguments| number >= arguments.shape.runs) {
            return;
        }
        pass.set_vertex_buffer(0, self.vertices.slice(..));
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
        for (i, drawn) in self.parts.iter().enumerate() {
            part(pass, drawn);
            match arguments.as_ref().filter(|_| culled) {
                Some(Arguments { buffer, shape: Shape { lists, runs, levels, .. } }) => {
                    // Those of all for a view that has come since, as the owner does; what is revealed has one alone.
                    let list = view.map_or(0, |View(view)| view.saturating_add(1));
                    let list = if list < *lists { list } else { 0 };
                    let part = (list * runs + number) * self.parts.len() + i;
                    pass.multi_draw_indexed_indirect(buffer, part as u64 * u64::from(*levels) * DRAW, *levels);
                }
                None => {
                    let MeshPart { first_index, index_count, .. } = drawn.mesh;
                    pass.draw_indexed(first_index..first_index + index_count, 0, 0..run.instances);
                }
            }
        }
    }

    /// The same with the renderer's own pipelines and the materials of the prop.
    pub(crate) fn draw_in(&self, pass: &mut wgpu::RenderPass<'_>, view: View, run: (usize, &Run<'_>), depth: bool) {
        self.draw(pass, Some(view), run, |pass, part| {
            pass.set_pipeline(part.pipelines.of(depth));
            pass.set_bind_group(2, self.prop.materials.get(part.mesh.material), &[]);
        });
    }
}

/// The owner's draws, [list][run].
type Lists<'a> = [Vec<Draws<'a>>];

impl CrowdCore {
    /// After the culling pass: has what hangs on the instances drawn for those that are seen, by these views or by all
    /// together; or for those that are revealed, which is a view alone.
    pub(crate) fn record_attachments(
        &self,
        gpu: (&wgpu::Device, &wgpu::Queue),
        encoder: &mut wgpu::CommandEncoder,
        views: impl Iterator<Item = Option<View>>,
    ) {
        let Some(drawn) = self.drawn().filter(|drawn| !drawn.attached.is_empty()) else { return };
        let list = |view| drawn.runs(view).filter_map(|run| run.palette.and_then(|p| p.draws)).collect::<Vec<_>>();
        let mut views = views.peekable();
        let revealed = views.peek() == Some(&Some(View::REVEALED));
        let lists: Vec<_> = views.map(list).collect();
        if lists.first().is_some_and(|list| !list.is_empty()) {
            drawn.attached.iter().for_each(|attached| attached.record(gpu, encoder, (&lists, revealed)));
        }
    }
}

impl<M> Crowd<M> {
    /// Hangs a prop on a bone of every instance: a sword for each soldier, drawn by [`CrowdRenderer::draw`] and
    /// [`CrowdRenderer::draw_depth`] wherever the instance is, fades, layers and live bones included, at no cost per
    /// instance on the CPU. The prop is any baked model, as it stands at the start of its first clip. It shows after the
    /// next [`CrowdRenderer::prepare`], on all instances: [`Crowd::hold`] says who has it, and
    /// [`Attachment::with_part`] ties it to a part of the owner.
    ///
    /// A crowd has room for [`InstanceLook::MAX_ATTACHMENTS`]. `renderer`: the crowd's own.
    ///
    /// ```no_run
    /// # use gpuskin_rt::*;
    /// # fn example<Soldier: BakedModel>(renderer: &mut CrowdRenderer, soldiers: &Crowd<Soldier>, sword: &Model,
    /// #   hand: Bone<Soldier>, recruit: InstanceId) -> Result<(), Error> {
    /// let sword = soldiers.attach(renderer, sword, Attachment::to(hand).at([0.0, 0.08, 0.0]))?;
    /// soldiers.hold(recruit, sword, false);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the crowd's model was baked in vertex mode or has no such bone or part, there are as many already, the
    /// renderer is another, or the prop cannot be loaded.
    pub fn attach(
        &self,
        renderer: &mut CrowdRenderer,
        prop: &Model,
        attachment: Attachment<M>,
    ) -> Result<AttachmentId, Error> {
        let wrong = |reason: String| Err(Error::Argument { model: self.meta.name.to_string(), reason });
        if !renderer.draws(&self.core) {
            return wrong("attach: the crowd is of another renderer; give it the one that it was made with".into());
        }
        if self.core.model.geometry.variant.encoding.is_vertex() {
            let remedy = "bake it with mode = \"bone\" in gpuskin.toml";
            return wrong(format!("attach: it was baked in vertex mode and has no bones; {remedy}"));
        }
        let (bone, part) = (attachment.bone.index(), attachment.part.map(|part| part.index()));
        let Some(bound) = attachment.bound(&self.meta) else {
            return wrong(format!("attach: it has no bone {bone}; it has {}", self.meta.bones.len()));
        };
        if let Some(part) = part.filter(|part| usize::from(*part) >= self.meta.parts.len()) {
            return wrong(format!("attach: it has no part {part}; it has {}", self.meta.parts.len()));
        }
        let Some(slot) = self.core.state().attachments.free() else {
            let most = InstanceLook::MAX_ATTACHMENTS;
            return wrong(format!("attach: its crowd has {most} attachments already, the most; detach one"));
        };
        let device = renderer.gpu().0.clone();
        let own = InstanceLook::attachment_number(slot);
        let mesh = mesh(playable(&device, prop)?, bone.into(), part.map_or(own, |part| u32::from(part) + 1), &bound)?;
        let mut attached = Attached::new(renderer, &self.core, prop, &mesh)?;
        // A bone that lies outside of the mesh takes it further.
        let rest = &self.meta.rest_bounds;
        let origin = bound.translation();
        let outside = origin.distance(origin.clamp(Vec3::from(rest.min), Vec3::from(rest.max).max(rest.min.into())));
        attached.reach += if outside.is_finite() { outside } else { 0.0 };

        let state = &mut *self.core.state();
        state.instances.show_all(1 << own);
        state.bounds_changed |= attached.reach > state.attachments.reach();
        let slots = &mut state.attachments.slots;
        slots[slot].attached = Some(Arc::new(attached));
        Ok(AttachmentId { crowd: state.instances.crowd(), slot: slot as u32, generation: slots[slot].generation })
    }

    /// Takes a prop off all instances; `false` if it was gone already.
    pub fn detach(&self, id: AttachmentId) -> bool {
        let state = &mut *self.core.state();
        let known = state.attachments.get(state.instances.crowd(), id).is_some();
        if known {
            state.attachments.slots[id.slot as usize].attached = None;
        }
        known
    }

    /// Has an instance hold a prop, or not: those that are spawned, or [set](Crowd::set), hold everything. A prop
    /// [with a part](Attachment::with_part) is worn with that instead: this does nothing to it. `false` if either is gone.
    pub fn hold(&self, instance: InstanceId, prop: AttachmentId, held: bool) -> bool {
        let state = &mut *self.core.state();
        let known = state.attachments.get(state.instances.crowd(), prop).is_some();
        let bit = 1 << InstanceLook::attachment_number(prop.slot as usize);
        known && state.instances.change_look(instance, |look| look.show(bit, held))
    }

    /// The shader variant that a prop is drawn with, for a game's own pipelines: its owner's, with other vertices. `None`
    /// if it is gone.
    pub fn attachment_variant(&self, id: AttachmentId) -> Option<Variant> {
        let state = self.core.state();
        Some(state.attachments.get(state.instances.crowd(), id)?.variant)
    }

    /// Draws a prop on all instances as [`Crowd::draw_geometry`] draws these: with a pipeline of
    /// [`Crowd::attachment_variant`]. `part` is called before each part of the prop is drawn, with the index of its
    /// material among the prop's.
    pub fn draw_attachment(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        group: u32,
        id: AttachmentId,
        part: impl FnMut(&mut wgpu::RenderPass<'_>, u32),
    ) {
        self.draw_attachment_seen(pass, (group, None), id, part);
    }

    /// The same for what one view sees, as [`Crowd::draw_numbered_in`] draws it.
    pub fn draw_attachment_in(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        group: u32,
        view: View,
        id: AttachmentId,
        part: impl FnMut(&mut wgpu::RenderPass<'_>, u32),
    ) {
        self.draw_attachment_seen(pass, (group, Some(view)), id, part);
    }

    fn draw_attachment_seen(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        (group, view): (u32, Option<View>),
        id: AttachmentId,
        mut part: impl FnMut(&mut wgpu::RenderPass<'_>, u32),
    ) {
        let attached = {
            let state = self.core.state();
            state.attachments.get(state.instances.crowd(), id).cloned()
        };
        let (Some(attached), Some(drawn)) = (attached, self.core.drawn()) else { return };
        for (i, run) in drawn.runs(view).enumerate() {
            self.core.model.geometry.bind(pass, group, &run);
            attached.draw(pass, view, (i, &run), |pass, drawn| part(pass, drawn.mesh.material));
        }
    }
}
