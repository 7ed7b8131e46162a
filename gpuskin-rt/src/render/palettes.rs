//! Palettes of a crowd: buffers for the poses of its instances, with their culling and their pose cache.

use core::ops::Range;
use std::sync::Arc;

use super::batched_palette::BatchedPalette;
use super::cache::PoseCache;
use super::cull::{self, CulledDraws, Culling, RevealPipelines, Views};
use super::draw_run::{OtherPoses, PaletteDraw};
use super::geometry::{Geometry, InstanceBindings};
use super::gpu::Gpu;
use super::layouts::{Layouts, PLACE_BYTES, PLAYBACK_BYTES, part};
use super::palette::{INSTANCE_ALIGNMENT, LayerBuffer, PoseBindings, PoseEvaluator, identity_list};
use super::sharing::SharedPoses;
use crate::cull::{SLOTS_WANTED_AT, expand_bounds};
use crate::local::shader::PaletteUniform;
use crate::{MAX_LODS, Time, View};

/// Palettes of a crowd: one, or several if one buffer cannot hold all instances.
#[derive(Debug)]
pub(crate) struct Palettes {
    /// Evaluates the poses; `None` in a batch, which does so for all of its crowds.
    own: Option<Arc<PoseEvaluator>>,
    chunks: Vec<PaletteChunk>,
    /// Instances per palette, but for the last one.
    instances_per_chunk: u32,
    pub(crate) room: Room,
    /// Number of views that the instance lists are made for; `None` if nothing is culled.
    pub(crate) views: Option<usize>,
    pub(crate) layers: Option<LayerBuffer>,
}

/// Buffers and limits of a crowd.
pub(crate) struct CrowdBuffers<'a> {
    pub(crate) places: &'a wgpu::Buffer,
    pub(crate) playbacks: &'a wgpu::Buffer,
    /// Transforms of the previous frame, if shaders read them.
    pub(crate) previous: Option<&'a wgpu::Buffer>,
    /// Instances that the buffers can hold.
    pub(crate) capacity: u32,
    /// Distance by which attachments extend the bounds of clips, metres.
    pub(crate) reach: f32,
    pub(crate) room: Room,
    /// Shared poses, if instances share any.
    pub(crate) sharing: Option<&'a SharedPoses>,
}

/// Number of poses for which each palette of a crowd has room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// `None`: one per instance.
    pub(crate) slots: Option<u32>,
    /// Whether vertices evaluate the poses of further instances. Else these use the poses of others.
    pub(crate) slotless: bool,
    /// Whether `slots` may become one per instance.
    pub(crate) grows: bool,
}

impl Room {
    /// Room for the poses of all instances.
    pub(crate) const ALL: Self = Self { slots: None, slotless: false, grows: false };
}

#[derive(Clone, Debug)]
struct PaletteChunk {
    drawing: Drawing,
    /// Bind group for instances that do not read their own pose from the palette, if there may be any.
    others: Option<(OtherPoses, wgpu::BindGroup)>,
    /// Lists and draws of the visible instances, if any are culled.
    culled: Option<CulledDraws>,
    /// Passes of this palette alone; `None` in a batch.
    passes: Option<PalettePasses>,
    /// Greatest number of poses.
    slots: u32,
}

/// Bind group for drawing a palette.
#[derive(Clone, Debug)]
enum Drawing {
    Own(wgpu::BindGroup),
    Batched(Arc<BatchedPalette>),
}

#[derive(Clone, Debug)]
struct PalettePasses {
    parameters: wgpu::Buffer,
    palette: wgpu::Buffer,
    compute: PoseBindings,
    culling: Option<Arc<Culling>>,
    cache: Option<PoseCache>,
}

impl PaletteChunk {
    fn drawing(&self) -> &wgpu::BindGroup {
        match &self.drawing {
            Drawing::Own(bind_group) => bind_group,
            Drawing::Batched(palette) => palette.bind_group(),
        }
    }

    /// Whether there is a second pass.
    fn reveals(&self) -> bool {
        self.culled.as_ref().is_some_and(CulledDraws::reveals)
    }
}

impl PalettePasses {
    /// Evaluates the poses that a culling pass has requested.
    fn evaluate(&self, pass: &mut wgpu::ComputePass<'_>, poses: &PoseEvaluator, culling: &Culling) {
        poses.dispatch_indirect(pass, &self.compute, (&culling.drawn.arguments, 0));
        if let Some(cache) = &self.cache {
            cache.record(pass, poses, &culling.drawn.arguments);
        }
    }
}

impl Palettes {
    /// Creates palettes for the capacity of the buffers. With `views`, only instances visible
    /// in one of them are drawn. `before`: palettes of the same instances, views and attachments with another room, whose
    /// lists are used on.
    pub(crate) fn new(
        Gpu { device, queue }: Gpu<'_>,
        layouts: &Layouts,
        geometry: &Geometry,
        poses: &Arc<PoseEvaluator>,
        buffers: &CrowdBuffers<'_>,
        layers: &LayerBuffer,
        (views, before): (Option<&Views>, Option<&Self>),
    ) -> Self {
        let mut bounds = geometry.bounds.as_deref().map(|bounds| expand_bounds(bounds, buffers.reach));
        bounds.iter_mut().zip(buffers.sharing).for_each(|(bounds, sharing)| sharing.set_steps(bounds));
        let culled = views.zip(bounds.as_deref());
        let sharing = buffers.sharing.filter(|sharing| sharing.cached_poses > 0 && culled.is_some());
        let cached_poses = sharing.map_or(0, |sharing| sharing.cached_poses);
        let max_instances = poses.max_instances(device).saturating_sub(cached_poses).max(INSTANCE_ALIGNMENT as u32);
        let max_instances = max_instances / INSTANCE_ALIGNMENT as u32 * INSTANCE_ALIGNMENT as u32;
        let instances_per_chunk = match culled {
            // Only visible instances have a pose.
            Some((views, _)) => {
                let listed =
                    views.max_instances(&geometry.cull_mesh(), poses.binding, sharing.map(|sharing| sharing.entries));
                let posed = match buffers.room {
                    Room { slots: Some(slots), grows: false, .. } if slots <= max_instances => u32::MAX,
                    _ => max_instances,
                };
                (listed / INSTANCE_ALIGNMENT * INSTANCE_ALIGNMENT).min(posed.into()).min(1 << 31) as u32
            }
            None => max_instances,
        };
        let cache_entries = sharing.map_or(0, |sharing| sharing.entries);
        let cached_poses = if cached_poses > 0 {
            (cached_poses / buffers.capacity.div_ceil(instances_per_chunk.max(1)).max(1)).max(1)
        } else {
            0
        };
        let chunk = |(number, first): (usize, u32)| {
            let instances = instances_per_chunk.min(buffers.capacity - first);
            let slots = buffers.room.slots.filter(|_| culled.is_some()).unwrap_or(instances);
            let palette_slots = slots.clamp(1, instances.max(1));
            let slotless = buffers.room.slotless && culled.is_some();
            // Lists are the same whether all instances have room or only some.
            let before = before.filter(|before| before.instances_per_chunk == instances_per_chunk);
            let before = before.and_then(|before| before.chunks.get(number)?.passes.as_ref()?.culling.as_deref());
            let palette = poses.palette(device, cached_poses + palette_slots);
            let [parameters, of_cache] = ["gpuskin palette parameters", "gpuskin cache parameters"].map(|label| {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some(label),
                    size: size_of::<PaletteUniform>() as u64,
                    usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
                    mapped_at_creation: false,
                })
            });
            let places = part(buffers.places, PLACE_BYTES, first, instances);
            let playbacks = part(buffers.playbacks, PLAYBACK_BYTES, first, instances);
            let culling = culled.map(|(views, bounds)| {
                let chunk = cull::CullChunk {
                    places: places.clone(),
                    playbacks: playbacks.clone(),
                    instances,
                    palette_slots,
                    cached_poses,
                    cache_entries,
                    slotless,
                };
                let parameters = [&parameters, &of_cache];
                let mesh = geometry.cull_mesh();
                Arc::new(Culling::new(device, queue, (&mesh, bounds), views, chunk, parameters, before))
            });
            let list = culling.as_ref().map_or_else(|| identity_list(device, queue, instances), |c| c.lists.clone());
            let list = wgpu::BufferBinding {
                buffer: &list,
                offset: 0,
                size: culling.as_ref().and_then(|culling| wgpu::BufferSize::new(culling.drawn.bound_bytes())),
            };
            let previous = buffers.previous.map(|previous| part(previous, PLACE_BYTES, first, instances));
            let of_instances = InstanceBindings { places, list, playbacks: playbacks.clone(), previous };
            let drawing = |poses: &wgpu::Buffer| {
                let poses = poses.as_entire_buffer_binding();
                geometry.with_palette(device, layouts, poses, of_instances.clone())
            };
            let seen = culling.as_ref().map_or(playbacks, |c| c.visible_playbacks.as_entire_buffer_binding());
            let cache = (cached_poses > 0).then(|| {
                let compute = poses.bind_group(device, &of_cache, seen.clone(), &palette, layers);
                PoseCache::new(
                    device,
                    geometry.cache_source(device),
                    cached_poses,
                    (of_cache, &palette),
                    compute,
                    drawing,
                )
            });
            let compute = poses.bind_group(device, &parameters, seen, &palette, layers);
            let cached = cache.as_ref().map(|cache| (OtherPoses::Cached, cache.drawing.clone()));
            let others = cached.or_else(|| slotless.then(|| (OtherPoses::Slotless, drawing(poses.words()))));
            let drawing = Drawing::Own(drawing(&palette));
            let culled = culling.as_ref().map(|culling| culling.drawn.clone());
            let passes = Some(PalettePasses { parameters, palette, compute, culling, cache });
            PaletteChunk { drawing, others, culled, passes, slots: palette_slots }
        };
        let starts = (0..buffers.capacity).step_by(instances_per_chunk.max(1) as usize);
        let chunks = starts.enumerate().map(chunk).collect();
        let (views, room) = (culled.map(|(views, _)| views.count), buffers.room);
        Self { own: Some(poses.clone()), chunks, instances_per_chunk, room, views, layers: Some(layers.clone()) }
    }

    /// Records copies of the number of palette slots that the passes of the last frame wanted in each palette, one word
    /// each.
    pub(crate) fn copy_wanted_slots(&self, encoder: &mut wgpu::CommandEncoder, to: &wgpu::Buffer) {
        for (at, lists) in (0..to.size()).step_by(4).zip(self.lists()) {
            encoder.copy_buffer_to_buffer(lists, SLOTS_WANTED_AT, to, at, 4);
        }
    }

    /// Number of palettes whose instances are culled.
    pub(crate) fn culled_len(&self) -> usize {
        self.lists().count()
    }

    fn lists(&self) -> impl Iterator<Item = &wgpu::Buffer> {
        self.chunks.iter().filter_map(|chunk| Some(&chunk.passes.as_ref()?.culling.as_ref()?.lists))
    }

    /// Number of poses for which there is room, if it is not always that of the crowd's capacity.
    pub(crate) fn room(&self) -> Option<u64> {
        self.room.slots.map(|_| self.chunks.iter().map(|chunk| u64::from(chunk.slots)).sum())
    }

    /// Palette of a crowd of a batch, which evaluates and culls.
    pub(crate) fn in_batch(palette: BatchedPalette, culled: CulledDraws) -> Self {
        let drawing = Drawing::Batched(Arc::new(palette));
        let chunk = PaletteChunk { drawing, others: None, culled: Some(culled), passes: None, slots: 0 };
        let (room, instances_per_chunk) = (Room::ALL, u32::MAX);
        Self { own: None, chunks: vec![chunk], instances_per_chunk, room, views: None, layers: None }
    }

    /// Whether a batch evaluates the poses.
    pub(crate) fn is_batched(&self) -> bool {
        self.own.is_none()
    }

    /// Returns the same palettes for the same instances, with another layer buffer.
    pub(crate) fn with_layers(&self, device: &wgpu::Device, buffers: &CrowdBuffers<'_>, layers: &LayerBuffer) -> Self {
        let passes = |first: u32, poses: &PoseEvaluator, passes: &PalettePasses| {
            let instances = self.instances_per_chunk.min(buffers.capacity - first);
            let all = || part(buffers.playbacks, PLAYBACK_BYTES, first, instances);
            let playbacks =
                passes.culling.as_ref().map_or_else(all, |c| c.visible_playbacks.as_entire_buffer_binding());
            let bind_group =
                |parameters| poses.bind_group(device, parameters, playbacks.clone(), &passes.palette, layers);
            let cache = passes.cache.as_ref().map(|cache| cache.with_compute(bind_group(&cache.parameters)));
            PalettePasses { compute: bind_group(&passes.parameters), cache, ..passes.clone() }
        };
        let chunk = |(first, chunk): (u32, &PaletteChunk)| {
            let own = self.own.as_deref().zip(chunk.passes.as_ref()).map(|(poses, own)| passes(first, poses, own));
            PaletteChunk { passes: own, ..chunk.clone() }
        };
        let chunks = (0..buffers.capacity)
            .step_by(self.instances_per_chunk.max(1) as usize)
            .zip(&self.chunks)
            .map(chunk)
            .collect();
        Self { own: self.own.clone(), chunks, layers: Some(layers.clone()), ..*self }
    }

    /// Draw runs of the first `instances` instances that are visible in `view`, or in any view with
    /// `None`. A run covers one palette, and all levels of detail or a single one.
    pub(crate) fn draw_runs(&self, instances: u32, view: Option<View>) -> impl Iterator<Item = PaletteDraw<'_>> {
        // Without culling, the first pass has drawn everything.
        let again = view == Some(View::REVEALED);
        let parts = self.parts(instances).filter(move |(_, chunk)| !again || chunk.reveals());
        parts.flat_map(move |(range, chunk)| {
            let culling = chunk.culled.as_ref();
            let identity_list = culling.is_none().then_some((0, 0..1));
            let lists = culling.into_iter().flat_map(CulledDraws::lists).chain(identity_list);
            lists.map(move |(kind, lods)| PaletteDraw {
                instances: range.end - range.start,
                first: range.start,
                bind_group: chunk.drawing(),
                others: chunk.others.as_ref().filter(|_| kind > 0).map(|(others, bind_group)| (*others, bind_group)),
                morphs_added: self
                    .own
                    .as_ref()
                    .is_some_and(|poses| poses.morphs_fit((range.end - range.start).min(chunk.slots))),
                offset: culling.map_or(0, |culling| culling.list_at(view, (kind, lods.start))),
                draws: culling.map(|culling| culling.draws(view, kind, &lods)),
                lods,
            })
        })
    }

    /// Evaluates the current and previous poses of the first `instances` instances, or of the
    /// visible ones among them. The flags are those of [`Culling::record`].
    pub(crate) fn evaluate(
        &self,
        queue: &wgpu::Queue,
        pass: &mut wgpu::ComputePass<'_>,
        instances: u32,
        flags: (bool, bool),
        times: [Time; 2],
    ) {
        let (Some(poses), Some(layers)) = (&self.own, &self.layers) else { return };
        for (range, passes) in self.parts(instances).filter_map(|(range, chunk)| Some((range, chunk.passes.as_ref()?)))
        {
            let count = range.end - range.start;
            let level_mask = if passes.culling.is_some() { MAX_LODS as u32 - 1 } else { 0 };
            let parameters = PaletteUniform { level_mask, ..poses.parameters(times, 0, count, layers) };
            let of_cache = passes.cache.as_ref().map(|cache| &cache.parameters);
            for buffer in std::iter::once(&passes.parameters).chain(of_cache) {
                queue.write_buffer(buffer, 0, bytemuck::bytes_of(&parameters));
            }
            match &passes.culling {
                Some(culling) => {
                    culling.record(queue, pass, count, flags, times[0]);
                    passes.evaluate(pass, poses, culling);
                }
                None => poses.dispatch(pass, &passes.compute, 0, count),
            }
        }
    }

    /// Evaluates the poses of instances that the second pass reveals in the main view, in palette
    /// slots behind those in use. `pipelines`: those for models with many clips, or with few.
    pub(crate) fn reveal<'p>(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        pipelines: &dyn Fn(bool) -> &'p RevealPipelines,
        pyramid: &wgpu::BindGroup,
        instances: u32,
    ) {
        let Some(poses) = &self.own else { return };
        for (range, chunk) in self.parts(instances).filter(|(_, chunk)| chunk.reveals()) {
            if let Some((passes, culling)) = chunk.passes.as_ref().and_then(|own| Some((own, own.culling.as_ref()?))) {
                culling.reveal(pass, pipelines, pyramid, range.end - range.start);
                passes.evaluate(pass, poses, culling);
            }
        }
    }

    fn parts(&self, instances: u32) -> impl Iterator<Item = (Range<u32>, &PaletteChunk)> {
        let starts = (0..instances).step_by(self.instances_per_chunk.max(1) as usize);
        starts
            .zip(&self.chunks)
            .map(move |(first, chunk)| (first..first.saturating_add(self.instances_per_chunk).min(instances), chunk))
    }
}
