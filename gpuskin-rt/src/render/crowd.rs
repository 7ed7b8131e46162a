//! Crowds: many instances of one model.

use core::marker::PhantomData;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::attach::{AttachedProp, Attachments};
use super::cache::{CacheState, PoseSharing, SharedPoses};
use super::cull::Views;
use super::error::at_most;
use super::explain::DrawPath;
use super::geometry::Geometry;
use super::gpu::Gpu;
use super::instances::Instances;
use super::layers::CrowdLayers;
use super::layouts::Layouts;
use super::material::Materials;
use super::palette::{CrowdBuffers, PaletteDraw, Palettes};
use super::pipelines::{Pipelines, Surface};
use super::scatter::{Scatter, scatters};
use super::staging::Uploads;
use super::textures::Textures;
use super::{CrowdRenderer, Error, InstanceId, View};
use crate::shader::Variant;
use crate::{Appearance, BakedModel, Dynamic, EventQueue, InstanceRecord, MeshPart, Metadata, Model, Time};

/// Options of a new crowd.
#[derive(Clone, Debug)]
pub struct CrowdDescriptor {
    /// Number of instances to reserve memory for. A crowd that outgrows its capacity doubles it,
    /// and uploads all instances once.
    pub capacity: u32,
    /// Largest number of instances that all views together show at once, where instances are
    /// culled. Palettes reserve memory for that many poses, 48 bytes per bone each. If more
    /// instances are visible, those beyond use the poses of other instances, at their own
    /// positions. `None`: every instance gets its own pose.
    pub visible: Option<u32>,
    /// Step of the time grid in seconds of a clip, such as 1.0 / 30.0; applies where instances are
    /// culled. Instances without a fade or a layer snap to the nearest sample of their clip, at
    /// most half a step away. The error is the movement of a vertex in that time at the clip's own
    /// speed, whatever the speed of the instance; `tools::time_grid_errors` measures it. Instances snap only if the error cannot be seen, as set by
    /// [`CrowdDescriptor::sharing`]. Shared poses are composed and skinned once, and cached: all
    /// views draw them like static meshes. `None`: every instance plays its exact time.
    pub time_grid: Option<f32>,
    /// Condition under which instances share poses on the time grid.
    pub sharing: PoseSharing,
    /// Memory limit of the pose cache in bytes; a pose takes 16 bytes per vertex and 48 bytes per
    /// bone. If the samples of all clips do not fit, nothing is cached, unless
    /// [`CrowdDescriptor::path`] asks for it. In that case, the cache is emptied after a frame in
    /// which it was full, and an instance that finds no cached pose gets one of its own.
    pub cache_bytes: u64,
    /// Source of poses for the vertex shader. `None` chooses: the palette if the device can compose
    /// poses, the cache if there is also a [`CrowdDescriptor::time_grid`] and memory for all its
    /// samples, else the animation texture.
    #[doc(hidden)]
    pub path: Option<DrawPath>,
}

impl Default for CrowdDescriptor {
    fn default() -> Self {
        Self {
            capacity: 256,
            visible: None,
            time_grid: None,
            sharing: PoseSharing::WithinLodError,
            cache_bytes: 128 << 20,
            path: None,
        }
    }
}

/// Numbers of instances that one view drew in a frame, counted by [`Crowd::count_drawn`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[cfg(feature = "testing")]
pub struct DrawCounts {
    /// Number of instances per level of detail, finest LOD first.
    pub lods: Vec<u64>,
    /// Number of instances whose vertices came from the pose cache.
    pub cached: u64,
}

#[cfg(feature = "testing")]
impl DrawCounts {
    /// Returns the number of instances of all levels of detail.
    pub fn total(&self) -> u64 {
        self.lods.iter().sum()
    }
}

/// Many instances of one model: a handle into the [`CrowdRenderer`] that draws them.
///
/// Clones are handles to the same crowd, which is removed when the last handle is dropped. Handles
/// can be used from any thread. Changes to a crowd show after the next [`CrowdRenderer::prepare`].
///
/// ```no_run
/// # use gpuskin_rt::*;
/// # fn example<Soldier: BakedModel>(renderer: &mut CrowdRenderer, run: Clip<Soldier>, die: Clip<Soldier>) -> Result<(), Error> {
/// let crowd = Crowd::<Soldier>::new(renderer, CrowdDescriptor { capacity: 10_000, ..Default::default() })?;
/// let id = crowd.spawn(Instance::at([4.0, 0.0, -2.0]).play(run).phase(0.25));
/// crowd.play(id, die, Transition::crossfade(0.2))?;
/// # Ok(())
/// # }
/// ```
pub struct Crowd<M> {
    pub(super) core: Arc<CrowdCore>,
    pub(super) meta: Meta,
    model: PhantomData<fn() -> M>,
}

/// Metadata of a model: compiled into the program, or loaded at run time.
#[derive(Clone)]
pub(super) enum Meta {
    Baked(&'static Metadata),
    Read(Arc<Metadata>),
}

impl core::ops::Deref for Meta {
    type Target = Metadata;
    fn deref(&self) -> &Metadata {
        match self {
            Self::Baked(meta) => meta,
            Self::Read(meta) => meta,
        }
    }
}

/// Model on the device, ready to draw; crowds of the same model share it.
#[derive(Debug)]
pub(crate) struct GpuModel {
    pub(crate) geometry: Geometry,
    /// Surface of each part of the geometry.
    pub(crate) surfaces: Vec<Surface>,
    pub(crate) materials: Materials,
    pub(crate) textures: Textures,
}

/// Mesh part and the pipelines of its material.
#[derive(Debug)]
pub(crate) struct DrawnPart {
    pub(crate) mesh: MeshPart,
    pub(crate) pipelines: Arc<Pipelines>,
    /// Pipelines that draw cached vertices, if the crowd has a cache.
    pub(crate) cached: Option<Arc<Pipelines>>,
}

/// State shared by the renderer and the handles of a crowd.
#[derive(Debug)]
pub(crate) struct CrowdCore {
    pub(crate) model: Arc<GpuModel>,
    pub(super) device: wgpu::Device,
    pub(crate) parts: Vec<DrawnPart>,
    name: String,
    clock: Arc<AtomicU64>,
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
    pub(super) events: Option<EventQueue<InstanceId>>,
    buffer: Option<wgpu::Buffer>,
    appearances: Option<wgpu::Buffer>,
    /// Changed elements of `buffer` and of `appearances`.
    scatter: [Scatter; 2],
    /// Number of records that `buffer` can hold.
    capacity: usize,
    /// [`CrowdDescriptor::visible`].
    visible: Option<u32>,
    /// Number of records in `buffer` that are drawn.
    uploaded: u32,
    /// Bytes of records and appearances that the last upload wrote.
    uploaded_bytes: u64,
    /// Whether the second pass has run since the last upload. `ignore_marks`: whether it had not run
    /// before that upload, so that the first pass draws all instances in view.
    revealed: bool,
    ignore_marks: bool,
    /// Palettes for the records in `buffer`, if the model uses palettes.
    palettes: Option<Arc<Palettes>>,
}

/// Drawable state of a crowd, as of the last upload.
pub(crate) struct Drawn {
    buffer: wgpu::Buffer,
    appearances: wgpu::Buffer,
    pub(crate) instances: u32,
    /// Whether any instance has live bones.
    pub(crate) live: bool,
    /// Whether the main view draws all instances in view, because the last frame had no second
    /// pass.
    pub(crate) ignore_marks: bool,
    /// Whether the second pass of this frame has run.
    pub(crate) revealed: bool,
    pub(crate) palettes: Option<Arc<Palettes>>,
    /// Attachments of the instances.
    pub(crate) attached: Vec<Arc<AttachedProp>>,
}

/// Draw run: instances that are drawn together.
pub(crate) struct DrawRun<'a> {
    pub(crate) records: wgpu::BufferSlice<'a>,
    pub(crate) appearances: wgpu::BufferSlice<'a>,
    pub(crate) instances: u32,
    /// Number of the run's first instance in the crowd.
    pub(crate) first: u32,
    /// Palette of the run; `None` if the model has an animation texture.
    pub(crate) palette: Option<PaletteDraw<'a>>,
}

impl Drawn {
    /// Draw runs of all instances: one, or one per palette. Where instances are culled, only those
    /// visible in `view`, or in any view with `None`.
    pub(crate) fn draw_runs(&self, view: Option<View>) -> impl Iterator<Item = DrawRun<'_>> {
        let run = |first, instances, palette| DrawRun {
            records: self.buffer.slice(..),
            appearances: self.appearances.slice(..),
            instances,
            first,
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
        (self.palettes.is_none() && !again).then_some(whole).into_iter().chain(split)
    }
}

impl CrowdCore {
    pub(crate) fn new(
        device: &wgpu::Device,
        (model, parts): (Arc<GpuModel>, Vec<DrawnPart>),
        name: &str,
        clock: Arc<AtomicU64>,
        descriptor: &CrowdDescriptor,
        (sharing, cache): (Option<SharedPoses>, CacheState),
    ) -> Result<Self, Error> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let CrowdDescriptor { capacity, visible, .. } = *descriptor;
        max_instances(device, name, capacity.into())?;
        let capacity = capacity as usize;
        let instances = Instances::new(NUMBER.fetch_add(1, Ordering::Relaxed), capacity);
        let layers = CrowdLayers::new(model.geometry.poses().map(|poses| &**poses));
        let state = Mutex::new(CrowdState {
            instances,
            layers,
            attachments: Attachments::default(),
            bounds_changed: false,
            events: None,
            buffer: None,
            appearances: None,
            scatter: Default::default(),
            capacity,
            visible,
            uploaded: 0,
            uploaded_bytes: 0,
            revealed: false,
            ignore_marks: true,
            palettes: None,
        });
        Ok(Self { model, parts, device: device.clone(), name: name.to_owned(), clock, sharing, cache, state })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, CrowdState> {
        // No panic can occur while the state is half changed, so a poisoned lock is safe to use.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Uploads the changes since the last call. After an error, the crowd is drawn as before.
    pub(crate) fn upload(
        &self,
        queue: &wgpu::Queue,
        uploads: &mut Uploads<'_>,
        layouts: &Layouts,
        views: Option<&Views>,
    ) -> Result<(), Error> {
        let device = &self.device;
        let scatters = scatters(&device.limits());
        let mut state = self.state();
        let state = &mut *state;
        state.ignore_marks = !core::mem::take(&mut state.revealed);
        let count = state.instances.records().len();
        let geometry = &self.model.geometry;
        if let Some(poses) = geometry.poses() {
            state.layers.upload(uploads, queue, poses);
        }
        state.attachments.iter().for_each(|attached| attached.bind(device, layouts));
        if state.buffer.is_none() && count > 0 || count > state.capacity {
            // Here instead of at load time: creating bind groups is a tenth of the cost of loading.
            geometry.bind_texture(device, layouts);
            self.model.materials.bind(device, layouts, geometry);
            let max_capacity = max_instances(device, &self.name, count as u64)?;
            while state.capacity < count {
                state.capacity = (state.capacity * 2).max(64);
            }
            state.capacity = state.capacity.min(max_capacity);
            let storage = if scatters { wgpu::BufferUsages::STORAGE } else { wgpu::BufferUsages::empty() };
            let buffer = |label, bytes| {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some(label),
                    size: state.capacity as u64 * bytes,
                    usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST | storage,
                    mapped_at_creation: false,
                })
            };
            let (buffer, appearances) =
                (buffer("gpuskin instances", RECORD_BYTES), buffer("gpuskin appearances", APPEARANCE_BYTES));
            state.appearances = Some(appearances);
            state.buffer = Some(buffer);
            state.palettes = None;
            state.instances.mark_all();
        }
        if core::mem::take(&mut state.bounds_changed) {
            state.palettes = None;
        }
        // Palettes are also created anew if the number of views has changed.
        let fits_views = |palettes: &Arc<Palettes>| {
            palettes.views.is_none_or(|fits_views| views.is_some_and(|v| v.count == fits_views))
        };
        if let (Some(poses), Some(layers), Some(buffer), Some(appearances)) =
            (geometry.poses(), state.layers.buffer(), &state.buffer, &state.appearances)
        {
            let gpu = Gpu { device, queue };
            let (capacity, visible) = (state.capacity as u32, state.visible);
            let reach = state.attachments.reach();
            let sharing = self.sharing.as_ref();
            let instances = CrowdBuffers { records: buffer, appearances, capacity, visible, reach, sharing };
            state.palettes = Some(match state.palettes.take().filter(fits_views) {
                Some(palettes) if palettes.layers == *layers => palettes,
                Some(palettes) => Arc::new(palettes.with_layers(device, &instances, layers)),
                None => Arc::new(Palettes::new(gpu, layouts, geometry, poses, &instances, layers, views)),
            });
        }
        state.uploaded_bytes = 0;
        if let (Some(buffer), Some(appearances)) = (&state.buffer, &state.appearances) {
            let layouts = scatters.then_some(layouts);
            let (records, changes) = state.instances.changed_records();
            state.uploaded_bytes = state.scatter[0].upload((uploads, queue), layouts, changes, records, buffer);
            let (list, changes) = state.instances.changed_appearances();
            state.uploaded_bytes += state.scatter[1].upload((uploads, queue), layouts, changes, list, appearances);
        }
        state.uploaded = count as u32;
        Ok(())
    }

    /// Bytes of records and appearances that the last upload wrote.
    pub(crate) fn uploaded_bytes(&self) -> u64 {
        self.state().uploaded_bytes
    }

    /// Drawable state as of the last upload; `None` if there are no instances.
    pub(crate) fn drawn(&self) -> Option<Drawn> {
        let state = self.state();
        let (buffer, appearances) = (state.buffer.clone()?, state.appearances.clone()?);
        let (palettes, attached) = (state.palettes.clone(), state.attachments.iter().cloned().collect());
        let (instances, live) = (state.uploaded, state.layers.live.any());
        let (ignore_marks, revealed) = (state.ignore_marks, state.revealed);
        let drawn = Drawn { buffer, appearances, instances, live, ignore_marks, revealed, palettes, attached };
        (state.uploaded > 0).then_some(drawn)
    }

    /// Records that the second pass has run.
    pub(crate) fn set_revealed(&self) {
        self.state().revealed = true;
    }
}

pub(crate) const RECORD_BYTES: u64 = size_of::<InstanceRecord>() as u64;
pub(crate) const APPEARANCE_BYTES: u64 = size_of::<Appearance>() as u64;
const SPLIT: &str = "make several crowds of the model, or request the device with a higher max_buffer_size";

/// Returns the largest number of instances that a device can hold; an error if that is below
/// `needed`.
fn max_instances(device: &wgpu::Device, name: &str, needed: u64) -> Result<usize, Error> {
    let bytes = device.limits().max_buffer_size;
    at_most(needed * RECORD_BYTES, bytes, SPLIT, || format!("{name}: bytes of {needed} instances"))?;
    Ok((bytes / RECORD_BYTES) as usize)
}

/// Reads back one 32-bit word of a buffer. Waits for the GPU.
#[cfg(feature = "testing")]
fn read_word(Gpu { device, queue }: Gpu<'_>, buffer: &wgpu::Buffer, at: u64) -> Result<u32, Error> {
    let failed = |reason: String| Error::Readback { reason };
    let readback = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("gpuskin readback"),
        size: 4,
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(buffer, at, &readback, 0, 4);
    queue.submit([encoder.finish()]);
    readback.map_async(wgpu::MapMode::Read, .., |_| ());
    device.poll(wgpu::PollType::wait_indefinitely()).map_err(|e| failed(e.to_string()))?;
    let bytes = readback.get_mapped_range(..).map_err(|e| failed(e.to_string()))?;
    bytemuck::try_pod_read_unaligned(&bytes).map_err(|e| failed(e.to_string()))
}

impl<M: BakedModel> Crowd<M> {
    /// Creates an empty crowd of a model that was baked into the program.
    ///
    /// # Errors
    /// If a file of the model is missing or from another bake, or if the device cannot hold the
    /// model.
    pub fn new(renderer: &mut CrowdRenderer, descriptor: CrowdDescriptor) -> Result<Self, Error> {
        let core = renderer.crowd(M::MODEL, &descriptor)?;
        Ok(Self { core, meta: Meta::Baked(&M::MODEL.meta), model: PhantomData })
    }

    /// Creates an empty crowd from a later bake of the model, loaded at run time: shows changes
    /// without a rebuild.
    ///
    /// # Errors
    /// If the loaded model lacks clips, bones, events or parts that the program's constants name,
    /// or if the device cannot hold it.
    pub fn reloaded(renderer: &mut CrowdRenderer, model: &Model, descriptor: CrowdDescriptor) -> Result<Self, Error> {
        let (built, read) = (&M::MODEL.meta, &model.meta);
        let clips = read.clips.iter().map(|c| &c.name).take(built.clips.len()).eq(built.clips.iter().map(|c| &c.name));
        let bones = read.bones.iter().map(|b| &b.name).take(built.bones.len()).eq(built.bones.iter().map(|b| &b.name));
        if !(clips && bones && read.events == built.events && read.parts == built.parts) {
            let reason = "clips, bones, events or parts differ from those that the program was built for";
            return Err(Error::model(&built.name, reason));
        }
        let core = renderer.crowd(model, &descriptor)?;
        Ok(Self { core, meta: Meta::Read(Arc::new(read.clone())), model: PhantomData })
    }
}

impl Crowd<Dynamic> {
    /// Creates an empty crowd of a model that was loaded at run time.
    ///
    /// # Errors
    /// If a file of the model is missing or from another bake, or if the device cannot hold the
    /// model.
    pub fn with_model(renderer: &mut CrowdRenderer, model: &Model, descriptor: CrowdDescriptor) -> Result<Self, Error> {
        let core = renderer.crowd(model, &descriptor)?;
        Ok(Self { core, meta: Meta::Read(Arc::new(model.meta.clone())), model: PhantomData })
    }
}

impl<M> Crowd<M> {
    /// Metadata of the model.
    pub fn meta(&self) -> &Metadata {
        &self.meta
    }

    /// Shader variant of the model, for a game's own pipelines.
    pub fn variant(&self) -> Variant {
        self.core.model.geometry.variant
    }

    /// Counts the instances that the last submitted frame drew in a view. Waits for the GPU: meant for tools and tests.
    ///
    /// # Errors
    /// If the counts cannot be read back from the device.
    #[cfg(feature = "testing")]
    pub fn count_drawn(&self, renderer: &CrowdRenderer, view: View) -> Result<DrawCounts, Error> {
        let mut counts = DrawCounts { lods: vec![0; self.core.model.geometry.lods.len()], cached: 0 };
        for run in self.core.drawn().iter().flat_map(|drawn| drawn.draw_runs(Some(view))) {
            let cached = run.palette.as_ref().is_some_and(|palette| palette.cached.is_some());
            let Some((lods, draws)) = run.palette.and_then(|palette| Some((palette.lods, palette.draws?))) else {
                counts.lods[0] += u64::from(run.instances);
                continue;
            };
            for (lod, at) in lods.zip(draws.counts()) {
                let count = u64::from(read_word(renderer.gpu(), draws.arguments, at)?);
                counts.lods[lod as usize] += count;
                counts.cached += if cached { count } else { 0 };
            }
        }
        Ok(counts)
    }

    pub(super) fn time(&self) -> Time {
        Time::from_bits(self.core.clock.load(Ordering::Relaxed))
    }
}

// Not derived: deriving would require `M: Clone` and `M: Debug`.
impl<M> Clone for Crowd<M> {
    fn clone(&self) -> Self {
        Self { core: self.core.clone(), meta: self.meta.clone(), model: PhantomData }
    }
}

impl<M> core::fmt::Debug for Crowd<M> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Crowd").field("model", &self.meta.name).field("len", &self.len()).finish_non_exhaustive()
    }
}
