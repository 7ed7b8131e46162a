//! A crowd: many instances of one model.

use core::marker::PhantomData;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::attach::{Attached, Attachments};
use super::cache::{CacheState, Share, Sharing};
use super::cull::Views;
use super::error::at_most;
use super::explain::DrawPath;
use super::geometry::{Geometry, draw_part};
use super::instances::Instances;
use super::layers::Layers;
use super::layouts::Layouts;
use super::material::Materials;
use super::palette::{CrowdBuffers, PaletteRun, Palettes};
use super::pipelines::{Pipelines, Surface};
use super::scatter::{Scatter, scatters};
use super::staging::Uploads;
use super::textures::Textures;
use super::{CrowdRenderer, Error, InstanceId, View};
use crate::shader::Variant;
use crate::{BakedModel, Dynamic, EventQueue, InstanceLook, InstanceRecord, MeshPart, Metadata, Model, Time};

/// How a crowd starts out.
#[derive(Clone, Debug)]
pub struct CrowdDescriptor {
    /// Instances that have room from the start. A crowd that outgrows it doubles, and uploads all of itself once.
    pub capacity: u32,
    /// The most instances that all views together see at once, where instances are culled: poses take memory for so
    /// many, 48 bytes a bone each. Where more are seen after all, those beyond show the poses of others, each where it
    /// stands. `None`: as many as there are, and each shows its own.
    pub visible: Option<u32>,
    /// Seconds of a clip from one of its moments to the next, of those that instances show, where they are culled: 1.0 / 30.0,
    /// say. Who neither fades nor has layers shows the nearest, half of that away at most: off by what a vertex moves in that
    /// time at the clip's own pace, whatever the speed of the instance ([`time_errors`](super::time_errors) tells how far), as
    /// long as that cannot be seen ([`CrowdDescriptor::share`]). So instances share poses, and these are composed and skinned
    /// once, and kept: all views draw them as if they stood still. `None`: every instance shows its own moment. See
    /// [`cache`](crate::cache).
    pub time_grid: Option<f32>,
    /// Who shares poses there.
    pub share: Share,
    /// Bytes that poses and vertices may take that are kept; 16 a vertex and 48 a bone, of each pose. Where not all moments of all
    /// clips fit, nothing is kept, unless [`CrowdDescriptor::path`] asks for it: then frames after one that lacked room begin
    /// anew, and who finds none has a pose of its own.
    pub cache_bytes: u64,
    /// Where vertices have their poses from; `None` chooses: the palette where the device composes poses, the cache if
    /// there is a [`CrowdDescriptor::time_grid`] and room for all its moments, else what stands in a texture.
    pub path: Option<DrawPath>,
}

impl Default for CrowdDescriptor {
    fn default() -> Self {
        Self { capacity: 256, visible: None, time_grid: None, share: Share::Unseen, cache_bytes: 128 << 20, path: None }
    }
}

/// Many instances of one model: a handle into the [`CrowdRenderer`] that draws them.
///
/// Clones are handles to the same crowd; it is gone when the last is dropped. Handles may be used from any thread.
/// What is done to a crowd shows after the next [`CrowdRenderer::prepare`].
///
/// ```no_run
/// # use gpuskin_rt::*;
/// # fn example<Soldier: BakedModel>(renderer: &mut CrowdRenderer, run: Clip<Soldier>, die: Clip<Soldier>) -> Result<(), Error> {
/// let crowd = Crowd::<Soldier>::new(renderer, CrowdDescriptor { capacity: 10_000, ..Default::default() })?;
/// let id = crowd.spawn(Instance::at([4.0, 0.0, -2.0]).play(run).phase(0.25));
/// crowd.play(id, die, Transition::crossfade(0.2));
/// # Ok(())
/// # }
/// ```
pub struct Crowd<M> {
    pub(super) core: Arc<CrowdCore>,
    pub(super) meta: Meta,
    model: PhantomData<fn() -> M>,
}

/// The constants of a model: part of the program, or read at run time.
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

/// A model on the device, ready to be drawn; crowds of the same model share it.
#[derive(Debug)]
pub(crate) struct GpuModel {
    pub(crate) geometry: Geometry,
    /// Of the parts of the geometry.
    pub(crate) surfaces: Vec<Surface>,
    pub(crate) materials: Materials,
    pub(crate) textures: Textures,
}

/// A part and the pipelines of its material.
#[derive(Debug)]
pub(crate) struct DrawnPart {
    pub(crate) mesh: MeshPart,
    pub(crate) pipelines: Arc<Pipelines>,
    /// The same from a cache, where a crowd has one.
    pub(crate) cached: Option<Arc<Pipelines>>,
}

/// What the renderer and the handles of a crowd share.
#[derive(Debug)]
pub(crate) struct CrowdCore {
    pub(crate) model: Arc<GpuModel>,
    pub(super) device: wgpu::Device,
    pub(crate) parts: Vec<DrawnPart>,
    name: String,
    clock: Arc<AtomicU64>,
    sharing: Option<Sharing>,
    pub(super) cache: CacheState,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) instances: Instances,
    pub(super) layers: Layers,
    pub(super) attachments: Attachments,
    /// Whether they reach further than culling knows.
    pub(super) bounds_changed: bool,
    /// Once somebody has asked for events.
    pub(super) events: Option<EventQueue<InstanceId>>,
    buffer: Option<wgpu::Buffer>,
    looks: Option<wgpu::Buffer>,
    /// What changes in both.
    scatter: [Scatter; 2],
    /// Records that `buffer` has room for.
    capacity: usize,
    /// [`CrowdDescriptor::visible`].
    visible: Option<u32>,
    /// Records in `buffer` that are drawn.
    uploaded: u32,
    /// Bytes of records and looks that the last upload wrote.
    uploaded_bytes: u64,
    /// What was hidden has been looked at since the last upload; and had not been between the two before.
    revealed: bool,
    everyone: bool,
    /// Of the records in `buffer`, where the model needs them.
    palettes: Option<Arc<Palettes>>,
}

/// What is drawn of a crowd.
pub(crate) struct Drawn {
    buffer: wgpu::Buffer,
    looks: wgpu::Buffer,
    pub(crate) instances: u32,
    /// Some have bones of the game's own.
    pub(crate) live: bool,
    /// The main view shows all that it sees: what the last frame hid, nobody may look at in this one.
    pub(crate) everyone: bool,
    /// What was hidden in the last frame has been looked at in this one.
    pub(crate) revealed: bool,
    pub(crate) palettes: Option<Arc<Palettes>>,
    /// What hangs on them.
    pub(crate) attached: Vec<Arc<Attached>>,
}

/// Instances that are drawn at once.
pub(crate) struct Run<'a> {
    pub(crate) records: wgpu::BufferSlice<'a>,
    pub(crate) looks: wgpu::BufferSlice<'a>,
    pub(crate) instances: u32,
    /// Number of the first of them in the crowd.
    pub(crate) first: u32,
    /// Their palette; else the model's texture.
    pub(crate) palette: Option<PaletteRun<'a>>,
}

impl Drawn {
    /// All instances: at once, or as many at a time as a palette holds. Where they are culled, those that a view sees, or
    /// any of all.
    pub(crate) fn runs(&self, view: Option<View>) -> impl Iterator<Item = Run<'_>> {
        let run = |first, instances, palette| Run {
            records: self.buffer.slice(..),
            looks: self.looks.slice(..),
            instances,
            first,
            palette,
        };
        let again = view == Some(View::REVEALED);
        let whole = run(0, self.instances, None);
        let palettes = self.palettes.iter().filter(move |_| !again || self.revealed);
        let palettes = palettes.flat_map(move |palettes| palettes.runs(self.instances, view));
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
        (sharing, cache): (Option<Sharing>, CacheState),
    ) -> Result<Self, Error> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let CrowdDescriptor { capacity, visible, .. } = *descriptor;
        room(device, name, capacity.into())?;
        let capacity = capacity as usize;
        let instances = Instances::new(NUMBER.fetch_add(1, Ordering::Relaxed), capacity);
        let layers = Layers::new(model.geometry.poses().map(|poses| &**poses));
        let state = Mutex::new(State {
            instances,
            layers,
            attachments: Attachments::default(),
            bounds_changed: false,
            events: None,
            buffer: None,
            looks: None,
            scatter: Default::default(),
            capacity,
            visible,
            uploaded: 0,
            uploaded_bytes: 0,
            revealed: false,
            everyone: true,
            palettes: None,
        });
        Ok(Self { model, parts, device: device.clone(), name: name.to_owned(), clock, sharing, cache, state })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // Nothing is left half-done where a panic could be: the state is good.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings the device up to date. On an error the crowd is drawn as it was.
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
        state.everyone = !core::mem::take(&mut state.revealed);
        let count = state.instances.records().len();
        let geometry = &self.model.geometry;
        if let Some(poses) = geometry.poses() {
            state.layers.upload(uploads, queue, poses);
        }
        state.attachments.iter().for_each(|attached| attached.bind(device, layouts));
        if state.buffer.is_none() && count > 0 || count > state.capacity {
            // Here, not when the model is loaded: they are a tenth of what that costs.
            geometry.bind_texture(device, layouts);
            self.model.materials.bind(device, layouts, geometry);
            let most = room(device, &self.name, count as u64)?;
            while state.capacity < count {
                state.capacity = (state.capacity * 2).max(64);
            }
            state.capacity = state.capacity.min(most);
            let storage = if scatters { wgpu::BufferUsages::STORAGE } else { wgpu::BufferUsages::empty() };
            let buffer = |label, bytes| {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some(label),
                    size: state.capacity as u64 * bytes,
                    usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST | storage,
                    mapped_at_creation: false,
                })
            };
            let (buffer, looks) = (buffer("gpuskin instances", RECORD), buffer("gpuskin looks", LOOK));
            state.looks = Some(looks);
            state.buffer = Some(buffer);
            state.palettes = None;
            state.instances.mark_all();
        }
        if core::mem::take(&mut state.bounds_changed) {
            state.palettes = None;
        }
        // Made anew for more views, too.
        let made = |palettes: &Arc<Palettes>| palettes.views.is_none_or(|made| views.is_some_and(|v| v.count == made));
        if let (Some(poses), Some(over), Some(buffer), Some(looks)) =
            (geometry.poses(), state.layers.buffer(), &state.buffer, &state.looks)
        {
            let gpu = (device, queue);
            let (capacity, visible) = (state.capacity as u32, state.visible);
            let reach = state.attachments.reach();
            let sharing = self.sharing.as_ref();
            let instances = CrowdBuffers { records: buffer, looks, capacity, visible, reach, sharing };
            state.palettes = Some(match state.palettes.take().filter(made) {
                Some(palettes) if palettes.over == *over => palettes,
                Some(palettes) => Arc::new(palettes.with_over(device, &instances, over)),
                None => Arc::new(Palettes::new(gpu, layouts, geometry, poses, &instances, over, views)),
            });
        }
        state.uploaded_bytes = 0;
        if let (Some(buffer), Some(looks)) = (&state.buffer, &state.looks) {
            let layouts = scatters.then_some(layouts);
            let (records, changes) = state.instances.changed_records();
            state.uploaded_bytes = state.scatter[0].upload((uploads, queue), layouts, changes, records, buffer);
            let (list, changes) = state.instances.changed_looks();
            state.uploaded_bytes += state.scatter[1].upload((uploads, queue), layouts, changes, list, looks);
        }
        state.uploaded = count as u32;
        Ok(())
    }

    /// Bytes of records and looks that the last upload wrote.
    pub(crate) fn uploaded_bytes(&self) -> u64 {
        self.state().uploaded_bytes
    }

    /// The instances as of the last upload; `None` where there are none.
    pub(crate) fn drawn(&self) -> Option<Drawn> {
        let state = self.state();
        let (buffer, looks) = (state.buffer.clone()?, state.looks.clone()?);
        let (palettes, attached) = (state.palettes.clone(), state.attachments.iter().cloned().collect());
        let (instances, live) = (state.uploaded, state.layers.live.any());
        let (everyone, revealed) = (state.everyone, state.revealed);
        let drawn = Drawn { buffer, looks, instances, live, everyone, revealed, palettes, attached };
        (state.uploaded > 0).then_some(drawn)
    }

    /// What was hidden has been looked at.
    pub(crate) fn set_revealed(&self) {
        self.state().revealed = true;
    }
}

pub(crate) const RECORD: u64 = size_of::<InstanceRecord>() as u64;
pub(crate) const LOOK: u64 = size_of::<InstanceLook>() as u64;
const SPLIT: &str = "make several crowds of the model, or request the device with a higher max_buffer_size";

/// The most instances that a device has room for, if it is `needed` at least.
fn room(device: &wgpu::Device, name: &str, needed: u64) -> Result<usize, Error> {
    let bytes = device.limits().max_buffer_size;
    at_most(needed * RECORD, bytes, SPLIT, || format!("{name}: bytes of {needed} instances"))?;
    Ok((bytes / RECORD) as usize)
}

/// A word of a buffer.
fn read_word((device, queue): (&wgpu::Device, &wgpu::Queue), buffer: &wgpu::Buffer, at: u64) -> Result<u32, Error> {
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
    /// An empty crowd of a model that was baked into the program.
    ///
    /// # Errors
    /// When a file of the model is missing or of another bake, or the device cannot hold the model.
    pub fn new(renderer: &mut CrowdRenderer, descriptor: CrowdDescriptor) -> Result<Self, Error> {
        let core = renderer.crowd(M::MODEL, &descriptor)?;
        Ok(Self { core, meta: Meta::Baked(&M::MODEL.meta), model: PhantomData })
    }

    /// The same with a later bake of the model, which was read at run time: to see changes without a build.
    ///
    /// # Errors
    /// When it has not the clips and bones that the program's constants name, or the device cannot hold it.
    pub fn reloaded(renderer: &mut CrowdRenderer, model: &Model, descriptor: CrowdDescriptor) -> Result<Self, Error> {
        let (built, read) = (&M::MODEL.meta, &model.meta);
        let clips = read.clips.iter().map(|c| &c.name).take(built.clips.len()).eq(built.clips.iter().map(|c| &c.name));
        let bones = read.bones.iter().map(|b| &b.name).take(built.bones.len()).eq(built.bones.iter().map(|b| &b.name));
        if !(clips && bones && read.events == built.events && read.parts == built.parts) {
            let reason = "its clips, bones, events or parts are not those that the program was built for";
            return Err(Error::model(&built.name, reason));
        }
        let core = renderer.crowd(model, &descriptor)?;
        Ok(Self { core, meta: Meta::Read(Arc::new(read.clone())), model: PhantomData })
    }
}

impl Crowd<Dynamic> {
    /// An empty crowd of a model that is known at run time only.
    ///
    /// # Errors
    /// When a file of the model is missing or of another bake, or the device cannot hold the model.
    pub fn with_model(renderer: &mut CrowdRenderer, model: &Model, descriptor: CrowdDescriptor) -> Result<Self, Error> {
        let core = renderer.crowd(model, &descriptor)?;
        Ok(Self { core, meta: Meta::Read(Arc::new(model.meta.clone())), model: PhantomData })
    }
}

impl<M> Crowd<M> {
    /// What the bake knows of the model.
    pub fn meta(&self) -> &Metadata {
        &self.meta
    }

    /// The shader variant of the model, for a game's own pipelines.
    pub fn variant(&self) -> Variant {
        self.core.model.geometry.variant
    }

    /// Draws all instances, as of the last `prepare`, with the pipeline that is set: one made from
    /// [`crate::shader::source`] with this `group`, [`super::vertex_buffers`] and [`CrowdRenderer::model_layout`].
    /// Where instances are culled, those that any view of the renderer sees: one with the camera of a pass of the game's
    /// own, from [`CrowdRenderer::add_view`], makes sure that it lacks nobody. `part` is called before each part is drawn,
    /// with the index of its material, and may bind what it needs. Instances are drawn some at a time, all parts of each:
    /// level of detail by level, in the finest that a view shows them in, and where their poses do not fit one buffer.
    /// With [occlusion](super::RendererDescriptor::occlusion) the main view counts here as it does before
    /// [`CrowdRenderer::reveal`]: what that finds is drawn by [`Crowd::draw_numbered_in`].
    pub fn draw_geometry(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        group: u32,
        mut part: impl FnMut(&mut wgpu::RenderPass<'_>, u32),
    ) {
        self.draw_numbered(pass, group, |pass, material, _| part(pass, material));
    }

    /// The same for picking: `part` is also told the number of the first instance of those that are drawn at a time.
    /// Together with `gpuskin_instance_number` in the shader that is what [`Crowd::id_at`] takes.
    pub fn draw_numbered(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        group: u32,
        part: impl FnMut(&mut wgpu::RenderPass<'_>, u32, u32),
    ) {
        self.draw_seen(pass, group, None, part);
    }

    /// The same for what one view sees, in the level of detail that this view needs. [`View::REVEALED`] has what
    /// [`CrowdRenderer::reveal`] found: with occlusion a game's own pipeline draws [`View::MAIN`] before that and this view
    /// after it, as the renderer does.
    pub fn draw_numbered_in(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        group: u32,
        view: View,
        part: impl FnMut(&mut wgpu::RenderPass<'_>, u32, u32),
    ) {
        self.draw_seen(pass, group, Some(view), part);
    }

    /// The same of all views together or of one, with two pipelines of the game's own, in crowds that share poses
    /// ([`CrowdDescriptor::time_grid`]): `part` is also told whether vertices come from the cache, and sets a pipeline made from
    /// [`crate::shader::cached_source`] then, and else one made from [`crate::shader::source`]. All other ways to draw read the
    /// poses from the palette, which has those that are shared, too, and take one pipeline.
    pub fn draw_from_cache(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        group: u32,
        view: Option<View>,
        mut part: impl FnMut(&mut wgpu::RenderPass<'_>, u32, bool),
    ) {
        let Some(drawn) = self.core.drawn() else { return };
        for run in drawn.runs(view) {
            let cached = self.core.model.geometry.bind_cached(pass, group, &run);
            for (i, p) in self.core.parts.iter().enumerate() {
                part(pass, p.mesh.material, cached);
                draw_part(pass, i, &p.mesh, &run);
            }
        }
    }

    fn draw_seen(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        group: u32,
        view: Option<View>,
        mut part: impl FnMut(&mut wgpu::RenderPass<'_>, u32, u32),
    ) {
        let Some(drawn) = self.core.drawn() else { return };
        for run in drawn.runs(view) {
            self.core.model.geometry.bind(pass, group, &run);
            for (i, p) in self.core.parts.iter().enumerate() {
                part(pass, p.mesh.material, run.first);
                draw_part(pass, i, &p.mesh, &run);
            }
        }
    }

    /// A tool, not a way to draw: how many instances the last frame that was submitted drew in a view. It waits for the
    /// GPU.
    ///
    /// # Errors
    /// When the device fails to give the numbers back.
    pub fn count_drawn(&self, renderer: &CrowdRenderer, view: View) -> Result<u64, Error> {
        Ok(self.count_levels(renderer, view)?.into_iter().sum())
    }

    /// The same for each level of detail, the finest first.
    ///
    /// # Errors
    /// As [`Crowd::count_drawn`].
    pub fn count_levels(&self, renderer: &CrowdRenderer, view: View) -> Result<Vec<u64>, Error> {
        let mut counts = vec![0; self.core.model.geometry.levels.len()];
        for run in self.core.drawn().iter().flat_map(|drawn| drawn.runs(Some(view))) {
            let Some((levels, draws)) = run.palette.and_then(|palette| Some((palette.levels, palette.draws?))) else {
                counts[0] += u64::from(run.instances);
                continue;
            };
            for (level, at) in levels.zip(draws.counts()) {
                counts[level as usize] += u64::from(read_word(renderer.gpu(), draws.arguments, at)?);
            }
        }
        Ok(counts)
    }

    /// Of [`Crowd::count_drawn`], those whose vertices came from the cache.
    ///
    /// # Errors
    /// As [`Crowd::count_drawn`].
    pub fn count_cached(&self, renderer: &CrowdRenderer, view: View) -> Result<u64, Error> {
        let drawn = self.core.drawn();
        let cached = drawn.iter().flat_map(|drawn| drawn.runs(Some(view))).filter_map(|run| run.palette);
        let draws = cached.filter(|palette| palette.cached.is_some()).filter_map(|palette| palette.draws);
        let counts = draws.flat_map(|draws| draws.counts().map(move |at| (draws.arguments, at)));
        counts.map(|(arguments, at)| Ok(u64::from(read_word(renderer.gpu(), arguments, at)?))).sum()
    }

    pub(super) fn now(&self) -> Time {
        Time::from_bits(self.core.clock.load(Ordering::Relaxed))
    }
}

// Not derived: these hold whatever M is.
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
