//! Crowd as the renderer draws it: state that the renderer shares with the handles of a crowd.

use core::ops::Deref;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::attachments::{AttachedProp, Attachments};
use super::batch_members::SharedInstances;
use super::compute::LazyPipelines;
use super::cpu_cull::{CpuCulling, CulledModel, VisibleInstances};
use super::crowd_events::CrowdEvents;
use super::cull::CulledViews;
use super::draw_run::{DrawRun, DrawnPoses};
use super::error::at_most;
use super::gpu::Gpu;
use super::gpu_model::GpuModel;
use super::instances::Instances;
use super::layers::CrowdLayers;
use super::layouts::{Layouts, PLACE_BYTES, PLAYBACK_BYTES, part};
use super::motion_pass::{MotionPass, MotionPipelines};
use super::motions::{MotionRecords, Motions};
use super::palettes::{CrowdBuffers, Palettes};
use super::pipelines::DrawnPart;
use super::pose_room::PoseRoom;
use super::poses::{PosedLists, Poses};
use super::scatter::{Scatter, ScatterPipeline, scatters};
use super::sharing::{CacheState, SharedPoses};
use super::staging::Uploads;
use super::{CrowdDescriptor, Error, InstanceId, View};
use crate::cull::CullView;
use crate::{ClipInfo, Time};

mod batched;
mod frame_flags;
mod room;

use frame_flags::FrameFlags;

/// CrowdState shared by the renderer and the handles of a crowd.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct CrowdCore {
    /// First in memory, beside the counters of the `Arc`.
    flags: FrameFlags,
    pub(crate) model: Arc<GpuModel>,
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(crate) parts: Vec<DrawnPart>,
    pub(super) name: String,
    pub(super) clock: Arc<AtomicU64>,
    /// Textures of poses, if a pass draws those of the crowd.
    pub(super) poses: Arc<Poses>,
    sharing: Option<SharedPoses>,
    pub(super) cache: CacheState,
    state: Mutex<CrowdState>,
}

#[derive(Debug)]
pub(super) struct CrowdState {
    pub(super) instances: Instances,
    pub(super) layers: CrowdLayers,
    pub(super) attachments: Attachments,
    /// Whether attachments reach further than the bounds used for culling.
    pub(super) bounds_changed: bool,
    /// Created by the first call of [`Crowd::events`].
    pub(super) events: Option<CrowdEvents>,
    buffers: Option<BoundInstances>,
    /// Changed elements of each of `buffers`.
    scatter: [Scatter; 4],
    /// Number of instances that `buffers` can hold.
    capacity: usize,
    /// [`CrowdDescriptor::visible`].
    visible: Option<u32>,
    /// Room for poses, unless `visible` gives it.
    pose_room: PoseRoom,
    /// Bytes that the last upload wrote.
    uploaded_bytes: u64,
    /// Instances that views see, if the model has no palettes.
    pub(super) culled: CpuCulling,
    /// Poses that a pass has drawn.
    pub(super) posed: PosedLists,
    /// Palettes for the instances in `buffers`, if the model uses palettes.
    palettes: Option<Arc<Palettes>>,
    /// Number of instances that the batch has room for, if the crowd is in one.
    batched: Option<u32>,
    /// Whether a game's compute passes know `buffers`, which no other crowd may share from then on.
    exclusive: bool,
    /// Buffers that the game knows, while `buffers` are still those of a batch.
    next: Option<BoundInstances>,
}

/// Buffers are written by copies, and can be read back.
const COPIES: wgpu::BufferUsages = wgpu::BufferUsages::COPY_DST.union(wgpu::BufferUsages::COPY_SRC);

/// Instances on the device.
#[derive(Clone, Debug)]
struct BoundInstances {
    /// Number of the crowd's first instance in the buffers, which crowds of a batch share.
    first: u32,
    places: wgpu::Buffer,
    playbacks: wgpu::Buffer,
    /// Place records of the previous frame, if shaders read them.
    previous: Option<wgpu::Buffer>,
    /// Moves the instances, once one moves; `None` if the device cannot.
    motion: Option<MotionPass>,
    /// Buffers of the batch that these are part of.
    shared: Option<SharedInstances>,
}

impl BoundInstances {
    /// `storage`: whether compute passes read and write them. `previous`: whether shaders read
    /// transforms of the previous frame.
    fn new(device: &wgpu::Device, capacity: usize, storage: bool, previous: bool) -> Self {
        let storage = if storage { wgpu::BufferUsages::STORAGE } else { wgpu::BufferUsages::empty() };
        let buffer = |label, bytes| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: capacity as u64 * bytes,
                usage: wgpu::BufferUsages::VERTEX | COPIES | storage,
                mapped_at_creation: false,
            })
        };
        Self {
            first: 0,
            places: buffer("gpuskin place records", PLACE_BYTES),
            playbacks: buffer("gpuskin playback records", PLAYBACK_BYTES),
            previous: previous.then(|| buffer("gpuskin previous place records", PLACE_BYTES)),
            motion: None,
            shared: None,
        }
    }

    /// Copies the first `instances` instances of other buffers. Submitted by itself, because later
    /// writes of the queue come before later copies.
    fn copy(&self, Gpu { device, queue }: Gpu<'_>, other: &Self, instances: u32) {
        let mut encoder = device.create_command_encoder(&Default::default());
        self.record_copy(&mut encoder, other, instances);
        queue.submit([encoder.finish()]);
    }

    fn record_copy(&self, encoder: &mut wgpu::CommandEncoder, other: &Self, instances: u32) {
        let mut copy = |from: &wgpu::Buffer, to: &wgpu::Buffer, bytes: u64| {
            let [read, write] = [other.first, self.first].map(|first| u64::from(first) * bytes);
            encoder.copy_buffer_to_buffer(from, read, to, write, u64::from(instances) * bytes);
        };
        copy(&other.places, &self.places, PLACE_BYTES);
        copy(&other.playbacks, &self.playbacks, PLAYBACK_BYTES);
        if let (Some(from), Some(to)) = (&other.previous, &self.previous) {
            copy(from, to, PLACE_BYTES);
        }
    }
}

/// Buffers of the instances of a crowd on the device, for a game's own compute passes. Elements are in
/// the order of [`Crowd::id_at`](crate::Crowd::id_at).
///
/// Both have the usages `STORAGE`, `VERTEX`, `COPY_SRC` and `COPY_DST`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InstanceBuffers {
    /// Transforms and appearances, 32 bytes each: `GpuskinPlaceRecord`.
    pub places: wgpu::Buffer,
    /// Clips of the instances, 48 bytes each: `GpuskinPlaybackRecord`.
    pub playbacks: wgpu::Buffer,
}

impl CrowdState {
    /// Number of the layer set of an instance.
    pub(super) fn layer_set(&self, id: InstanceId) -> Option<u32> {
        self.instances.get(id)?.layer_set().checked_sub(1)
    }

    /// Records the layers of an instance for events, after a change at `time`. `slot`: the layer set that
    /// the instance has, or had before the change.
    pub(super) fn follow_layers(&mut self, clips: &[ClipInfo], id: InstanceId, slot: u32, time: Time) {
        if let Some(events) = &mut self.events {
            events.play_layers(clips, id, (slot, self.layers.set(slot)), time);
        }
    }
}

/// Drawable state of a crowd, as of the last upload.
pub(crate) struct Drawn {
    buffers: BoundInstances,
    pub(crate) instances: u32,
    /// Whether any instance has live bones.
    pub(crate) live: bool,
    /// Whether the main view draws all instances in view, because the last frame had no second
    /// pass.
    pub(crate) ignore_marks: bool,
    /// Whether the second pass of this frame has run.
    pub(crate) revealed: bool,
    pub(crate) palettes: Option<Arc<Palettes>>,
    /// Instances that the CPU has selected for a view.
    pub(crate) culled: Option<Arc<VisibleInstances>>,
    /// Poses of the instances, if a pass has drawn them.
    pub(super) poses: Option<DrawnPoses>,
    /// Attachments of the instances.
    pub(crate) attached: Vec<Arc<AttachedProp>>,
}

impl Drawn {
    /// Playback records of all instances.
    pub(super) fn all_playbacks(&self) -> &wgpu::Buffer {
        &self.buffers.playbacks
    }

    /// Place records of the instances, and the byte offset of the first one.
    #[cfg(feature = "testing")]
    pub(crate) fn places(&self) -> (&wgpu::Buffer, u64) {
        (&self.buffers.places, u64::from(self.buffers.first) * PLACE_BYTES)
    }

    /// Pass that moves the instances, if any moves.
    pub(crate) fn motion(&self) -> Option<&MotionPass> {
        self.buffers.motion.as_ref()
    }

    /// Draw runs of all instances: one, or one per palette. Where instances are culled, only those
    /// visible in `view`, or in any view with `None`.
    pub(crate) fn draw_runs(&self, view: Option<View>) -> impl Iterator<Item = DrawRun<'_>> {
        let run = |first, instances, palette| DrawRun {
            places: self.buffers.places.slice(..),
            playbacks: self.buffers.playbacks.slice(..),
            previous: self.buffers.previous.as_ref().map(|previous| previous.slice(..)),
            instances,
            first,
            lod: None,
            poses: self.poses.as_ref(),
            start: 0,
            palette,
        };
        let again = view == Some(View::REVEALED);
        let whole = run(0, self.instances, None);
        let palettes = self.palettes.iter().filter(move |_| !again || self.revealed);
        let palettes = palettes.flat_map(move |palettes| palettes.draw_runs(self.instances, view));
        let split = palettes.map(move |palette| {
            let (first, instances) = (palette.first, palette.instances);
            run(first, instances, Some(palette))
        });
        let levels = self.culled.iter().filter(move |_| !again).flat_map(|culled| culled.visible_levels());
        let levels = levels.map(|level| DrawRun {
            places: level.places.slice(..),
            playbacks: level.playbacks.slice(..),
            previous: level.previous.map(|previous| previous.slice(..)),
            instances: level.instances,
            first: 0,
            lod: Some((level.lod, level.parts)),
            poses: self.poses.as_ref(),
            start: level.start,
            palette: None,
        });
        let all = self.palettes.is_none() && self.culled.is_none() && !again;
        all.then_some(whole).into_iter().chain(levels).chain(split)
    }
}

impl CrowdCore {
    pub(crate) fn new(
        Gpu { device, queue }: Gpu<'_>,
        (model, parts): (Arc<GpuModel>, Vec<DrawnPart>),
        name: &str,
        (clock, poses): (Arc<AtomicU64>, Arc<Poses>),
        descriptor: &CrowdDescriptor,
        (sharing, cache): (Option<SharedPoses>, CacheState),
    ) -> Result<Self, Error> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let CrowdDescriptor { capacity, visible, pose_bytes, .. } = *descriptor;
        max_instances(device, name, capacity.into())?;
        let capacity = capacity as usize;
        let previous = model.geometry.variant.previous_transforms;
        let instances = Instances::new(NUMBER.fetch_add(1, Ordering::Relaxed), capacity, previous, clock.clone());
        let instances = instances.with_roots(model.roots.clone());
        let layers = CrowdLayers::new(model.geometry.poses().map(|poses| &**poses));
        let state = Mutex::new(CrowdState {
            instances,
            layers,
            attachments: Attachments::default(),
            bounds_changed: false,
            events: None,
            buffers: None,
            scatter: Default::default(),
            capacity,
            visible,
            pose_room: PoseRoom::new(pose_bytes),
            uploaded_bytes: 0,
            culled: CpuCulling::default(),
            posed: PosedLists::default(),
            palettes: None,
            batched: None,
            exclusive: false,
            next: None,
        });
        let (device, queue) = (device.clone(), queue.clone());
        let flags = FrameFlags::default();
        Ok(Self { flags, model, parts, device, queue, name: name.to_owned(), clock, poses, sharing, cache, state })
    }

    /// Locks the state to read it.
    pub(super) fn state(&self) -> impl Deref<Target = CrowdState> {
        self.locked()
    }

    /// Locks the state to change what the next frame draws.
    pub(super) fn state_mut(&self) -> MutexGuard<'_, CrowdState> {
        let state = self.locked();
        self.flags.touch();
        state
    }

    /// Locks the state to change what [`CrowdCore::upload`] does not depend on.
    pub(super) fn locked(&self) -> MutexGuard<'_, CrowdState> {
        // No panic can occur while the state is half changed, so a poisoned lock is safe to use.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a frame, before its crowds are merged and upload.
    pub(crate) fn begin(&self) {
        self.flags.begin();
    }

    /// Uploads the changes since the last call. After an error, the crowd is drawn as before.
    pub(crate) fn upload(
        &self,
        queue: &wgpu::Queue,
        uploads: &mut Uploads<'_>,
        layouts: &Layouts,
        (scatter, motion): (&LazyPipelines<ScatterPipeline>, &MotionPipelines),
        views: Option<CulledViews<'_>>,
    ) -> Result<(), Error> {
        if self.is_merged() && !self.flags.is_active() {
            return Ok(());
        }
        let device = &self.device;
        let scatters = scatters(&uploads.limits);
        let mut state = self.locked();
        let state = &mut *state;
        let count = state.instances.len();
        if state.batched.is_some_and(|room| count > room as usize) {
            // Another thread has spawned instances since the batches were formed. The next frame makes room.
            return Ok(());
        }
        let geometry = &self.model.geometry;
        if let Some(poses) = geometry.poses() {
            let CrowdState { layers, instances, .. } = state;
            layers.sweep(instances, Time::from_bits(self.clock.load(Ordering::Relaxed)));
            state.layers.upload(uploads, queue, poses);
        }
        state.attachments.iter().for_each(|attached| attached.bind(device, layouts));
        let batched = state.batched.is_some();
        if !batched && (state.buffers.is_none() && count > 0 || count > state.capacity) {
            // Here instead of at load time: creating bind groups is a tenth of the cost of loading.
            geometry.bind_texture(device, layouts);
            self.model.materials.bind(device, layouts, geometry);
            let max_capacity = max_instances(device, &self.name, count as u64).inspect_err(|_| self.flags.touch())?;
            while state.capacity < count {
                state.capacity = (state.capacity * 2).max(64);
            }
            state.capacity = state.capacity.min(max_capacity);
            let previous = geometry.variant.previous_transforms;
            let new = BoundInstances::new(device, state.capacity, scatters, previous);
            if let Some(old) = state.buffers.take() {
                new.copy(Gpu { device, queue }, &old, self.flags.uploaded());
            }
            state.buffers = Some(new);
            state.instances.mark_motions();
            state.palettes = None;
        }
        if core::mem::take(&mut state.bounds_changed) && !batched {
            state.palettes = None;
        }
        let room = self.next_room(state, views);
        let views = views.map(|CulledViews { views, .. }| views);
        // Palettes are also created anew if the number of views has changed.
        let fits_views = |palettes: &Arc<Palettes>| {
            palettes.views.is_none_or(|fits_views| views.is_some_and(|v| v.count == fits_views))
        };
        if let (Some(poses), Some(layers), Some(BoundInstances { places, playbacks, previous, .. })) =
            (geometry.poses().filter(|_| !batched), state.layers.buffer(), &state.buffers)
        {
            let gpu = Gpu { device, queue };
            let capacity = state.capacity as u32;
            let reach = state.attachments.reach();
            let sharing = self.sharing.as_ref();
            let previous = previous.as_ref();
            let instances = CrowdBuffers { places, playbacks, previous, capacity, room, reach, sharing };
            let new = |before: Option<&Palettes>| {
                Arc::new(Palettes::new(gpu, layouts, geometry, poses, &instances, layers, (views, before)))
            };
            state.palettes = Some(match state.palettes.take().filter(fits_views) {
                Some(palettes) if palettes.room != room => new(Some(&palettes)),
                Some(palettes) if palettes.layers.as_ref() == Some(layers) => palettes,
                Some(palettes) => Arc::new(palettes.with_layers(device, &instances, layers)),
                None => new(None),
            });
        }
        let culls_on_cpu = views.is_some() && self.can_cull_on_cpu(state);
        let mut bytes = 0;
        if let Some(buffers) = &mut state.buffers {
            let scatter = scatters.then_some(scatter);
            let [of_places, of_playbacks, of_previous, of_motions] = &mut state.scatter;
            let instances = &mut state.instances;
            let (first, capacity) = (buffers.first, state.batched.map_or(state.capacity, |room| room as usize));
            // Culling on the CPU needs to know where the instances are.
            let roots = self.model.roots.as_deref();
            let terrain = instances.terrain().cloned();
            let ground = terrain.as_ref();
            let moves = |motions: &Motions| motions.any() && motions.fit(&uploads.limits, capacity, roots, ground);
            if let Some(motions) = instances.motions().filter(|motions| scatters && !culls_on_cpu && moves(motions)) {
                let pass = buffers.motion.take().filter(|pass| pass.reads(motions, ground));
                let pass = pass.unwrap_or_else(|| {
                    let bound = |buffer, bytes| part(buffer, bytes, first, capacity as u32);
                    let targets = core::iter::once(&buffers.places).chain(&buffers.previous);
                    let targets = targets.map(|buffer| bound(buffer, PLACE_BYTES));
                    let playing = (bound(&buffers.playbacks, PLAYBACK_BYTES), roots);
                    MotionPass::new(
                        Gpu { device, queue },
                        motion,
                        (capacity, motions),
                        targets,
                        playing,
                        terrain.clone(),
                    )
                });
                let (list, changes) = motions.changed();
                let target = (&pass.records, 0);
                bytes += match list {
                    MotionRecords::Rates(list) => {
                        of_motions.upload((uploads, queue), scatter, changes, list, target, None)
                    }
                    MotionRecords::Roots(list) => {
                        of_motions.upload((uploads, queue), scatter, changes, list, target, None)
                    }
                };
                buffers.motion = Some(pass);
            } else {
                buffers.motion = None;
                instances.motions().into_iter().for_each(Motions::mark_all);
                instances.move_all();
            }
            let mut shared = buffers.shared.as_ref().map(SharedInstances::changes);
            let list_of = shared.as_deref_mut().map(|all| (&mut all.places, &mut all.playbacks, &mut all.previous));
            let (to_places, to_playbacks, to_previous) =
                list_of.map_or((None, None, None), |(a, b, c)| (Some(a), Some(b), Some(c)));
            let (list, changes) = instances.changed_places();
            let target = (&buffers.places, first);
            bytes += of_places.upload((uploads, queue), scatter, changes, list, target, to_places);
            let (list, changes) = instances.changed_playbacks();
            let target = (&buffers.playbacks, first);
            bytes += of_playbacks.upload((uploads, queue), scatter, changes, list, target, to_playbacks);
            if let (Some(buffer), Some((list, changes))) = (&buffers.previous, instances.previous_transforms()) {
                let target = (buffer, first);
                bytes += of_previous.upload((uploads, queue), scatter, changes, list, target, to_previous);
            }
        }
        let changed = self.flags.set_uploaded(count as u32) != count as u32 || bytes > 0;
        if changed {
            state.culled.instances_changed();
        }
        state.uploaded_bytes = bytes;
        let moves = state.instances.has_motion();
        self.flags.set_merged(batched && !moves && state.attachments.iter().next().is_none());
        // Layers end by themselves, and transforms of the previous frame follow in the next one.
        if changed || moves || state.layers.any() {
            self.flags.touch();
        }
        Ok(())
    }

    /// Bytes that the last upload wrote.
    pub(crate) fn uploaded_bytes(&self) -> u64 {
        self.state().uploaded_bytes
    }

    /// Whether the CPU can select the instances that views see: not those of a model with palettes, which a
    /// culling pass selects, and not those that a game's compute passes write.
    fn can_cull_on_cpu(&self, state: &CrowdState) -> bool {
        self.model.geometry.poses().is_none() && self.model.geometry.bounds.is_some() && !state.exclusive
    }

    /// Selects the instances that a view sees, if the CPU does it for this crowd. `None`: the view draws all
    /// instances.
    pub(crate) fn select_visible(&self, index: usize, view: Option<&CullView>) {
        let mut state = self.locked();
        let state = &mut *state;
        let geometry = &self.model.geometry;
        let (true, Some(view), Some(bounds)) = (self.can_cull_on_cpu(state), view, &geometry.bounds) else {
            return state.culled.forget(index);
        };
        let reach = state.attachments.reach();
        let model = CulledModel { lods: &geometry.lods, errors: &geometry.errors, bounds, reach };
        let gpu = Gpu { device: &self.device, queue: &self.queue };
        let time = Time::from_bits(self.clock.load(Ordering::Relaxed));
        state.culled.select(gpu, (index, view), &model, &state.instances, time);
    }

    /// Whether the CPU selects the instances that views see.
    pub(crate) fn culls_on_cpu(&self) -> bool {
        self.can_cull_on_cpu(&self.state())
    }

    /// Drawable state as of the last upload, with the instances that a view sees; `None` if there are no
    /// instances.
    pub(crate) fn drawn_in(&self, View(index): View) -> Option<Drawn> {
        let drawn = self.drawn()?;
        Some(Drawn { culled: self.state().culled.view(index).cloned(), ..drawn })
    }

    /// Drawable state as of the last upload; `None` if there are no instances.
    pub(crate) fn drawn(&self) -> Option<Drawn> {
        let state = self.state();
        let buffers = state.buffers.clone()?;
        let (palettes, attached) = (state.palettes.clone(), state.attachments.iter().cloned().collect());
        let (instances, live) = (self.flags.uploaded(), state.layers.live.any());
        let (ignore_marks, revealed) = (self.flags.ignores_marks(), self.flags.is_revealed());
        let (culled, poses) = (None, None);
        let drawn = Drawn { buffers, instances, live, ignore_marks, revealed, palettes, culled, poses, attached };
        (instances > 0).then_some(drawn)
    }

    /// Whether a batch does all the work of the crowd on the device. Takes no lock: in a scene of many
    /// models, most crowds are merged.
    pub(crate) fn is_merged(&self) -> bool {
        self.flags.is_merged()
    }

    /// Buffers of the instances; `None` before the first upload, or if shaders cannot bind them.
    pub(crate) fn instance_buffers(&self) -> Option<InstanceBuffers> {
        let mut state = self.state_mut();
        state.exclusive = true;
        if state.batched.is_some() && state.next.is_none() {
            state.next = Some(self.own_buffers(&mut state));
        }
        let BoundInstances { places, playbacks, .. } = state.next.as_ref().or(state.buffers.as_ref())?.clone();
        places.usage().contains(wgpu::BufferUsages::STORAGE).then_some(InstanceBuffers { places, playbacks })
    }

    /// Records that the second pass has run.
    pub(crate) fn set_revealed(&self) {
        self.flags.set_revealed();
    }
}

impl CrowdCore {
    /// Updates the draws of all attachments after a culling pass: for these views, with `None` for
    /// all views together, or for [`View::REVEALED`] alone.
    pub(crate) fn record_attachments(
        &self,
        gpu: Gpu<'_>,
        encoder: &mut wgpu::CommandEncoder,
        views: impl Iterator<Item = Option<View>>,
    ) {
        let Some(drawn) = self.drawn().filter(|drawn| !drawn.attached.is_empty()) else { return };
        let list = |view| drawn.draw_runs(view).filter_map(|run| run.palette.and_then(|p| p.draws)).collect::<Vec<_>>();
        let mut views = views.peekable();
        let revealed = views.peek() == Some(&Some(View::REVEALED));
        let lists: Vec<_> = views.map(list).collect();
        if lists.first().is_some_and(|list| !list.is_empty()) {
            drawn.attached.iter().for_each(|attached| attached.record(gpu, encoder, &lists, revealed));
        }
    }
}

const SPLIT: &str = "make several crowds of the model, or request the device with a higher max_buffer_size";

/// Returns the largest number of instances that a device can hold; an error if that is below
/// `needed`.
fn max_instances(device: &wgpu::Device, name: &str, needed: u64) -> Result<usize, Error> {
    let bytes = device.limits().max_buffer_size;
    at_most(needed * PLAYBACK_BYTES, bytes, SPLIT, || format!("{name}: bytes of {needed} instances"))?;
    Ok((bytes / PLAYBACK_BYTES) as usize)
}
