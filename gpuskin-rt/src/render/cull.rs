//! Culling pass: collects the instances of a crowd that a view sees, assigns palette slots to them,
//! and draws them indirectly, in the level of detail that the view needs. With occlusion culling, a
//! second pass finds the instances that the main view shows after all.

use core::ops::Range;

use super::compute::{LazyPipelines, layout, pipeline};
use super::layouts::{PLAYBACK_BYTES, WORDS, bind_group, storage, uniform};
use super::words_texture::words_texture;
use crate::cache::FILL_GROUP_SIZE;
use crate::cull::{
    self, BOUNDS_BYTES, CullScope, CullUniform, CullView, DRAW_BYTES, DRAWS_AT, ENTRY_BYTES, Frustum, GROUP_SIZE,
    LISTS_AT, MARK_BYTES, MAX_VIEWS, SAMPLE_BYTES,
};
use crate::shader::CLIPS_ACROSS;
use crate::{IndexRange, MAX_LODS, Time, View};

/// Alignment of instance lists, in entries: 256 bytes, as bindings must.
const LIST_ALIGNMENT: u32 = 32;
/// Bytes per view.
const VIEW_BYTES: u64 = size_of::<CullView>() as u64;
/// Device feature with which one call draws all levels of detail.
pub(crate) const DRAW_LODS_AT_ONCE: wgpu::Features = wgpu::Features::INDIRECT_FIRST_INSTANCE;

/// Mesh of a model, as the culling pass needs it.
pub(crate) struct CullMesh<'a> {
    /// Index ranges `[level][part]`, finest LOD first.
    pub(crate) lods: &'a [Vec<IndexRange>],
    /// LOD error per level, metres.
    pub(crate) errors: &'a [f32],
    pub(crate) influence_error: f32,
    pub(crate) vertex_count: u32,
    /// Poses per instance: 1, or 2 if the previous frame's pose is kept.
    pub(crate) pose_times: u32,
}

/// Views of the renderer, for the culling pass.
#[derive(Debug)]
pub(crate) struct Views {
    pub(crate) buffer: wgpu::Buffer,
    pub(crate) count: usize,
    /// Whether levels of detail are chosen per instance.
    choose_lods: bool,
    /// Whether the main view has a second pass.
    pub(crate) occlusion: bool,
    /// Whether indirect draws give the start of their instance list, so that one call draws all
    /// levels of detail.
    pub(crate) lods_at_once: bool,
    /// Pipelines for models with few clips, and for models with many.
    pipelines: [LazyPipelines<CullPipelines>; 2],
}

/// Views of the renderer with their frusta.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CulledViews<'a> {
    pub(crate) views: &'a Views,
    /// Frusta of the views, as far as their cameras are known on the CPU.
    pub(crate) frusta: &'a [Frustum],
}

impl Views {
    pub(crate) fn new(device: &wgpu::Device, choose_lods: bool, occlusion: bool) -> Self {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpuskin views"),
            size: MAX_VIEWS as u64 * VIEW_BYTES,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        // On D3D12, wgpu supports first instances only while it validates indirect draws, which
        // games may turn off.
        let counted = device.adapter_info().backend != wgpu::Backend::Dx12;
        let lods_at_once = counted && device.features().contains(DRAW_LODS_AT_ONCE);
        let few = LazyPipelines::new(device, |device| CullPipelines::new(device, CullScope::Single));
        let many = LazyPipelines::new(device, |device| CullPipelines::new(device, CullScope::ManyClips));
        let pipelines = [few, many];
        Self { buffer, count: 0, choose_lods, occlusion, lods_at_once, pipelines }
    }

    /// Pipelines for a model with or without [`many_clips`].
    pub(crate) fn pipelines(&self, many_clips: bool) -> &CullPipelines {
        self.pipelines[usize::from(many_clips)].get()
    }

    /// Parameters of the culling passes that depend on views and mesh alone.
    pub(crate) fn constants(&self, device: &wgpu::Device, mesh: &CullMesh<'_>) -> CullUniform {
        let mut errors = [0.0; MAX_LODS];
        errors.iter_mut().zip(mesh.errors).for_each(|(to, from)| *to = *from);
        CullUniform {
            views: self.count.min(MAX_VIEWS) as u32,
            parts: mesh.lods.first().map_or(0, Vec::len) as u32,
            max_groups: device.limits().max_compute_workgroups_per_dimension,
            lods: self.lods(mesh) as u32,
            influence_error: mesh.influence_error,
            errors,
            ..CullUniform::default()
        }
    }

    /// Number of levels of detail to choose from.
    pub(crate) fn lods(&self, mesh: &CullMesh<'_>) -> usize {
        if self.choose_lods { mesh.lods.len().min(MAX_LODS) } else { 1 }
    }

    /// Number of sets of instance lists: one per view, one for all views together if there are
    /// several, one for the second pass.
    pub(crate) fn sets(&self) -> usize {
        let views = self.count.min(MAX_VIEWS);
        views + usize::from(views > 1) + usize::from(self.occlusion)
    }

    /// Largest number of instances whose lists fit the largest binding. `cache_entries`: as in
    /// [`CullUniform`], if poses are cached.
    pub(crate) fn max_instances(&self, mesh: &CullMesh<'_>, binding: u64, cache_entries: Option<u32>) -> u64 {
        // Offsets have 32 bits.
        let binding = binding.min(u32::MAX.into()).saturating_sub(u64::from(cache_entries.unwrap_or(0)) * SAMPLE_BYTES);
        let lists = self.sets() * self.lods(mesh) * list_kinds(cache_entries.is_some()) as usize;
        let each = lists as u64 * ENTRY_BYTES + if self.occlusion { MARK_BYTES } else { 0 };
        let room = binding.saturating_sub(LISTS_AT) / each.max(1);
        (room / u64::from(LIST_ALIGNMENT) * u64::from(LIST_ALIGNMENT)).min(binding / PLAYBACK_BYTES)
    }

    /// Copies the views' uniform buffers, in their state at the submission of the encoder.
    pub(crate) fn copy<'v>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        uniforms: impl Iterator<Item = &'v wgpu::Buffer>,
    ) {
        for (i, uniform) in (0..MAX_VIEWS as u64).zip(uniforms) {
            encoder.copy_buffer_to_buffer(uniform, 0, &self.buffer, i * VIEW_BYTES, VIEW_BYTES);
        }
    }
}

/// Pipelines of the first pass, created when a crowd first needs them.
#[derive(Debug)]
pub(crate) struct CullPipelines {
    scope: CullScope,
    cull: (wgpu::BindGroupLayout, wgpu::ComputePipeline),
    arguments: (wgpu::BindGroupLayout, wgpu::ComputePipeline),
}

/// Pipelines of the second pass.
#[derive(Debug)]
pub(crate) struct RevealPipelines {
    reveal: wgpu::ComputePipeline,
    arguments: wgpu::ComputePipeline,
}

impl CullPipelines {
    fn new(device: &wgpu::Device, scope: CullScope) -> Self {
        let parameters = uniform(size_of::<CullUniform>() as u64, false);
        let views = uniform(MAX_VIEWS as u64 * VIEW_BYTES, false);
        let (read, write) = (storage(true, false), storage(false, false));
        let bounds = if scope == CullScope::ManyClips { WORDS } else { uniform(BOUNDS_BYTES, false) };
        let bindings = [parameters, bounds, views, read, write, write, read];
        let cull = layout(device, LABEL, &bindings);
        let arguments = layout(device, LABEL, &[parameters, write, write, write, write]);
        let first = pipeline(device, LABEL, (&cull::cull(scope), cull::CULL_ENTRY_POINT), &[&cull]);
        let then = pipeline(device, LABEL, (&cull::arguments(scope), cull::ARGUMENTS_ENTRY_POINT), &[&arguments]);
        Self { scope, cull: (cull, first), arguments: (arguments, then) }
    }

    /// `pyramid`: bind group layout of the depth pyramid.
    pub(crate) fn reveal(&self, device: &wgpu::Device, pyramid: &wgpu::BindGroupLayout) -> RevealPipelines {
        let groups = [&self.cull.0, pyramid];
        let arguments = [&self.arguments.0];
        RevealPipelines {
            reveal: pipeline(device, LABEL, (&cull::reveal(self.scope), cull::REVEAL_ENTRY_POINT), &groups),
            arguments: pipeline(
                device,
                LABEL,
                (&cull::arguments(self.scope), cull::REVEALED_ARGUMENTS_ENTRY_POINT),
                &arguments,
            ),
        }
    }
}

const LABEL: Option<&str> = Some("gpuskin culling");

/// Whether the bounds of clips, words of [`cull::pack_bounds`], are in a texture instead of a uniform buffer.
pub(crate) fn many_clips(bounds: &[u32]) -> bool {
    (bounds.len() as u64).saturating_mul(4) > cull::BOUNDS_BYTES
}

/// Culling of the instances that share a palette.
#[derive(Debug)]
pub(crate) struct Culling {
    parameters: wgpu::Buffer,
    pub(crate) visible_playbacks: wgpu::Buffer,
    pub(crate) lists: wgpu::Buffer,
    cull: wgpu::BindGroup,
    write: wgpu::BindGroup,
    pipelines: [wgpu::ComputePipeline; 2],
    many_clips: bool,
    /// Bounds of the clips.
    bounds: Bounds,
    /// Lists and draws that the passes write.
    pub(crate) drawn: CulledDraws,
}

/// Words of [`cull::pack_bounds`] on the device.
#[derive(Clone, Debug)]
enum Bounds {
    Uniform(wgpu::Buffer),
    Texture(wgpu::TextureView),
}

impl Bounds {
    fn new(device: &wgpu::Device, queue: &wgpu::Queue, bounds: &[u32]) -> Self {
        let words = bytemuck::cast_slice(bounds);
        if many_clips(bounds) {
            return Self::Texture(words_texture(device, queue, "gpuskin clips", CLIPS_ACROSS, words));
        }
        let uniform = buffer(device, BOUNDS_BYTES, wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST);
        queue.write_buffer(&uniform, 0, words);
        Self::Uniform(uniform)
    }

    fn resource(&self) -> wgpu::BindingResource<'_> {
        match self {
            Self::Uniform(buffer) => buffer.as_entire_binding(),
            Self::Texture(texture) => wgpu::BindingResource::TextureView(texture),
        }
    }
}

fn buffer(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    let label = Some("gpuskin culling");
    device.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false })
}

/// Instance lists and indirect draws of a crowd, which culling passes write.
#[derive(Clone, Debug)]
pub(crate) struct CulledDraws {
    /// Indirect arguments of the palette pass and of the draws.
    pub(crate) arguments: wgpu::Buffer,
    /// Byte offset of the crowd's draws in the first set, and bytes per set.
    pub(crate) draws_at: u64,
    pub(crate) draws_set: u64,
    /// Byte offset of the crowd's lists in the first set, and bytes per set.
    pub(crate) lists_at: u64,
    pub(crate) lists_set: u64,
    /// Parameters that stay the same in all frames.
    pub(crate) constants: CullUniform,
    /// First-instance step per level of detail, if one call draws all of them; else 0.
    pub(crate) step: u32,
}

/// Indirect draws of the levels of detail that one call draws: arguments `[part][lod]`.
#[derive(Clone, Copy)]
pub(crate) struct Draws<'a> {
    pub(crate) arguments: &'a wgpu::Buffer,
    /// Byte offset of the first level of the first part.
    at: u64,
    /// Bytes per part.
    part_bytes: u64,
    pub(crate) lods: u32,
    /// First-instance step per level of detail.
    pub(crate) step: u32,
}

impl<'a> Draws<'a> {
    /// Draws a part in all of these levels of detail, with the bound resources.
    pub(crate) fn draw(&self, pass: &mut wgpu::RenderPass<'_>, part: usize) {
        pass.multi_draw_indexed_indirect(self.arguments, self.at + part as u64 * self.part_bytes, self.lods);
    }

    /// Byte offsets of the instance count of each level: the second word of a draw's arguments.
    pub(crate) fn counts(&self) -> impl Iterator<Item = u64> + use<'a> {
        let at = self.at;
        (0..self.lods).map(move |lod| at + u64::from(lod) * DRAW_BYTES + 4)
    }
}

/// Instances of a palette in the buffers of a crowd.
pub(crate) struct CullChunk<'a> {
    pub(crate) places: wgpu::BufferBinding<'a>,
    pub(crate) playbacks: wgpu::BufferBinding<'a>,
    pub(crate) instances: u32,
    /// Palette slots for instances with a pose of their own.
    pub(crate) palette_slots: u32,
    /// Cached poses, and entries of their table, as in [`CullUniform`].
    pub(crate) cached_poses: u32,
    pub(crate) cache_entries: u32,
    /// Whether vertices evaluate poses for which there is no palette slot.
    pub(crate) slotless: bool,
}

/// Number of kinds of instance lists in memory: instances with their own poses, then instances with shared
/// poses. Instances without a pose are at the end of the lists of the first kind.
fn list_kinds(cached_poses: bool) -> u32 {
    1 + u32::from(cached_poses)
}

impl Culling {
    /// `parameters_of_poses`: parameters of the palette pass for instances and for cached poses;
    /// the culling pass writes their counts. `before`: culling of the same instances for another number of palette
    /// slots, whose lists and marks are used on.
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        (mesh, bounds): (&CullMesh<'_>, &[u32]),
        views: &Views,
        chunk: CullChunk<'_>,
        parameters_of_poses: [&wgpu::Buffer; 2],
        before: Option<&Self>,
    ) -> Self {
        use wgpu::BufferUsages as Usages;
        let (lods, sets) = (views.lods(mesh), views.sets());
        let kinds = list_kinds(chunk.cached_poses > 0) as usize;
        let kinds_of_draws = kinds + usize::from(chunk.slotless);
        let capacity = chunk.instances.next_multiple_of(LIST_ALIGNMENT);
        let buffer = |size, usage| buffer(device, size, usage);
        let step = if views.lods_at_once { capacity } else { 0 };
        let draws = draw_arguments(&mesh.lods[..lods], step, sets * kinds_of_draws);
        let parameters = buffer(size_of::<CullUniform>() as u64, Usages::UNIFORM | Usages::COPY_DST);
        let many_clips = many_clips(bounds);
        let bounds = before.map_or_else(|| Bounds::new(device, queue, bounds), |before| before.bounds.clone());
        let visible_playbacks =
            buffer(u64::from(chunk.cached_poses + chunk.palette_slots) * PLAYBACK_BYTES, Usages::STORAGE);
        let list_bytes = u64::from(capacity) * ENTRY_BYTES;
        let marks_at = LISTS_AT + (sets * kinds * lods) as u64 * list_bytes;
        // Zero-initialised: with occlusion culling, no instance was visible before, and no pose is
        // cached.
        let cache_at = marks_at + if views.occlusion { u64::from(capacity) * MARK_BYTES } else { 0 };
        let cache_entries = if chunk.cached_poses > 0 { chunk.cache_entries } else { 0 };
        let lists_bytes = cache_at + u64::from(cache_entries) * SAMPLE_BYTES;
        let lists = before.map(|before| before.lists.clone());
        let lists = lists.unwrap_or_else(|| buffer(lists_bytes, Usages::STORAGE | Usages::COPY_SRC));
        let arguments = buffer(
            DRAWS_AT + draws.len() as u64 * 4,
            Usages::STORAGE | Usages::INDIRECT | Usages::COPY_DST | Usages::COPY_SRC,
        );
        queue.write_buffer(&arguments, DRAWS_AT, bytemuck::cast_slice(&draws));
        // The palette pass counts poses per instance along z; the pass that fills the cache counts
        // vertices along x, poses along y.
        let along_z = mesh.pose_times;
        let dispatches =
            [[0, 0, along_z, 0], [0, 1, along_z, 0], [mesh.vertex_count.div_ceil(FILL_GROUP_SIZE), 0, 1, 0]];
        queue.write_buffer(&arguments, 0, bytemuck::cast_slice(&dispatches));
        let pipelines = views.pipelines(many_clips);
        let group = |layout, resources: &[_]| bind_group(device, LABEL, layout, resources);
        let whole = wgpu::Buffer::as_entire_binding;
        let resources = [
            whole(&parameters),
            bounds.resource(),
            whole(&views.buffer),
            wgpu::BindingResource::Buffer(chunk.places),
            whole(&visible_playbacks),
            whole(&lists),
            wgpu::BindingResource::Buffer(chunk.playbacks),
        ];
        let cull = group(&pipelines.cull.0, &resources);
        let [of_palette, of_cache] = parameters_of_poses.map(whole);
        let resources = [whole(&parameters), whole(&lists), whole(&arguments), of_palette, of_cache];
        let write = group(&pipelines.arguments.0, &resources);
        let constants = CullUniform {
            capacity,
            palette_slots: chunk.palette_slots,
            marks_at: if views.occlusion { (marks_at / 4) as u32 } else { 0 },
            cached_poses: chunk.cached_poses,
            cache_at: (cache_at / 4) as u32,
            cache_entries,
            slotless: chunk.slotless.into(),
            ..views.constants(device, mesh)
        };
        let pipelines = [pipelines.cull.1.clone(), pipelines.arguments.1.clone()];
        let drawn = CulledDraws {
            arguments,
            draws_at: DRAWS_AT,
            draws_set: u64::from(constants.parts * constants.lods) * DRAW_BYTES,
            lists_at: LISTS_AT,
            lists_set: u64::from(constants.lods) * list_bytes,
            constants,
            step,
        };
        Self { parameters, visible_playbacks, lists, cull, write, pipelines, many_clips, bounds, drawn }
    }

    /// Culls the first `instances` instances. `live`: layers of some of them hold live bones.
    /// `ignore_marks`: with occlusion culling, the first pass draws all instances in view, and leaves
    /// none to the second pass.
    pub(crate) fn record(
        &self,
        queue: &wgpu::Queue,
        pass: &mut wgpu::ComputePass<'_>,
        instances: u32,
        (live, ignore_marks): (bool, bool),
        time: Time,
    ) {
        let [live, ignore_marks] = [live, ignore_marks].map(u32::from);
        let parameters = CullUniform { time: time.words(), instances, live, ignore_marks, ..self.drawn.constants };
        queue.write_buffer(&self.parameters, 0, bytemuck::bytes_of(&parameters));
        self.dispatch(pass, [&self.pipelines[0], &self.pipelines[1]], instances);
    }

    /// Second pass over the first `instances` instances, after [`Culling::record`]: draws those in
    /// the main view that the depth pyramid does not occlude and that are not drawn yet.
    pub(crate) fn reveal<'p>(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        pipelines: &dyn Fn(bool) -> &'p RevealPipelines,
        pyramid: &wgpu::BindGroup,
        instances: u32,
    ) {
        let pipelines = pipelines(self.many_clips);
        pass.set_bind_group(1, pyramid, &[]);
        self.dispatch(pass, [&pipelines.reveal, &pipelines.arguments], instances);
    }

    fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>, pipelines: [&wgpu::ComputePipeline; 2], instances: u32) {
        let groups = instances.div_ceil(GROUP_SIZE);
        let across = groups.min(self.drawn.constants.max_groups).max(1);
        pass.set_pipeline(pipelines[0]);
        pass.set_bind_group(0, &self.cull, &[]);
        pass.dispatch_workgroups(across, groups.div_ceil(across), 1);
        pass.set_pipeline(pipelines[1]);
        pass.set_bind_group(0, &self.write, &[]);
        pass.dispatch_workgroups(1, 1, 1);
    }
}

impl CulledDraws {
    /// Whether there is a second pass.
    pub(crate) fn reveals(&self) -> bool {
        self.constants.marks_at > 0
    }

    /// Lists to draw one after the other: per kind, the range of levels of detail that one call
    /// draws. Kind 1 is for instances with shared poses, or for those without a pose.
    pub(crate) fn lists(&self) -> impl Iterator<Item = (u32, Range<u32>)> {
        let (lods, at_once) = (self.constants.lods, self.lods_at_once());
        let of_kind = move |kind| (0..lods).step_by(at_once as usize).map(move |first| (kind, first..first + at_once));
        (0..self.draw_kinds()).flat_map(of_kind)
    }

    fn lods_at_once(&self) -> u32 {
        if self.step > 0 { self.constants.lods } else { 1 }
    }

    /// Number of kinds of draws.
    fn draw_kinds(&self) -> u32 {
        list_kinds(self.constants.cached_poses > 0) + self.constants.slotless
    }

    /// Number of the set of lists for a view, or for all views with `None`. A view added since has the lists of all
    /// views.
    fn set(&self, view: Option<View>) -> u32 {
        let CullUniform { views, .. } = self.constants;
        let all = if views > 1 { views } else { 0 };
        match view {
            // After all other sets.
            Some(View::REVEALED) => all + 1,
            Some(View(index)) if index < views as usize => index as u32,
            _ => all,
        }
    }

    /// Byte offset of the list of a kind and level.
    pub(crate) fn list_at(&self, view: Option<View>, (kind, lod): (u32, u32)) -> u32 {
        let in_set = u64::from(lod) * self.list_bytes();
        let kinds = list_kinds(self.constants.cached_poses > 0);
        let set = self.set(view) * kinds + kind.min(kinds - 1);
        (self.lists_at + u64::from(set) * self.lists_set + in_set) as u32
    }

    /// Bytes per list.
    fn list_bytes(&self) -> u64 {
        u64::from(self.constants.capacity) * ENTRY_BYTES
    }

    /// Bytes of the lists that one draw binds.
    pub(crate) fn bound_bytes(&self) -> u64 {
        u64::from(self.lods_at_once()) * self.list_bytes()
    }

    /// Draws of a kind and a range of levels from [`Culling::lists`].
    pub(crate) fn draws(&self, view: Option<View>, kind: u32, lods: &Range<u32>) -> Draws<'_> {
        Draws {
            arguments: &self.arguments,
            at: self.draws_at
                + u64::from(self.set(view) * self.draw_kinds() + kind) * self.draws_set
                + u64::from(lods.start) * DRAW_BYTES,
            part_bytes: u64::from(self.constants.lods) * DRAW_BYTES,
            lods: lods.end - lods.start,
            step: self.step,
        }
    }
}

/// Initial arguments of all draws, with zero instances: `[set][kind][part][lod]`. `step`:
/// first-instance step per level.
pub(crate) fn draw_arguments(lods: &[Vec<IndexRange>], step: u32, sets_and_kinds: usize) -> Vec<u32> {
    let parts = lods.first().map_or(0, Vec::len);
    let mut of_set = Vec::with_capacity(lods.len() * parts * (DRAW_BYTES / 4) as usize);
    for part in 0..parts {
        for (first, lod) in (0..).zip(lods) {
            of_set.extend_from_slice(&[lod[part].index_count, 0, lod[part].first_index, 0, first * step]);
        }
    }
    of_set.repeat(sets_and_kinds)
}
