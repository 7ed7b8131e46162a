//! Renderer: owns the clock, the views and all crowds.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::batch_passes::COUNTED_DRAWS;
use super::batching::Batching;
use super::compute::LazyPipelines;
use super::crowd_core::{CrowdCore, Drawn};
use super::cull::{CulledViews, DRAW_LODS_AT_ONCE, Views};
use super::draw_run::{OtherPoses, draw_part};
use super::error::Error;
use super::field_core::FieldCore;
use super::geometry::PoseMemory;
use super::gpu::{Gpu, guarded};
use super::gpu_model::GpuModel;
use super::layouts::{Layouts, MATERIAL_TABLES};
use super::lit::Lit;
use super::motion_pass::MotionPipelines;
use super::occlusion::Occlusion;
use super::palette::PalettePipelines;
use super::pipelines::{PassKind, PipelineCache};
use super::poses::{self, Poses};
use super::scatter::ScatterPipeline;
use super::staging::Uploads;
use super::textures::{self, SampledTexture, Samplers};
use super::view::SceneUniform;
use super::{Camera, Light, RendererDescriptor, View};
use crate::cull::{CullView, Frustum, MAX_VIEWS};
use crate::lighting::Lighting;
use crate::shader::Variant;
use crate::{Encoding, Time};

/// Allowed LOD error in the renderer's shadow maps, in texels, over that in pictures, in pixels. Their filter averages over 5 x 5
/// texels.
const SHADOW_LOD_ERROR: f32 = 1.5;

/// Draws crowds of all models. Owns the clock, the views and the GPU resources.
///
/// ```no_run
/// # use gpuskin_rt::{wgpu, Camera, CrowdRenderer, Error};
/// # fn frame(renderer: &mut CrowdRenderer, device: &wgpu::Device, queue: &wgpu::Queue, seconds: f64,
/// #          pass: &wgpu::RenderPassDescriptor<'_>) -> Result<(), Error> {
/// let camera = Camera::perspective_look_at([0.0, 2.0, 8.0], [0.0, 1.0, 0.0], 0.9, 16.0 / 9.0, 0.1, 500.0);
/// let mut encoder = device.create_command_encoder(&Default::default());
/// renderer.prepare(queue, &mut encoder, &camera, seconds)?;
/// renderer.draw(&mut encoder.begin_render_pass(pass));
/// queue.submit([encoder.finish()]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CrowdRenderer {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) layouts: Arc<Layouts>,
    /// Textures of poses that a pass draws, where there is no compute.
    pub(super) poses: Arc<Poses>,
    pub(super) palette_pipelines: LazyPipelines<PalettePipelines>,
    scatter_pipeline: LazyPipelines<ScatterPipeline>,
    motion_pipelines: MotionPipelines,
    pub(super) pose_memory: PoseMemory,
    pub(super) pipelines: PipelineCache,
    pub(super) samplers: Samplers,
    pub(super) white: SampledTexture,
    pub(super) light: Light,
    pub(super) lighting: Lighting,
    /// Light on the device; `None` if the material is diffuse.
    pub(super) lit: Option<Lit>,
    scene: wgpu::Buffer,
    views: Vec<ViewOnDevice>,
    /// Views for the culling pass; `None` if culling is off.
    pub(super) culled_views: Option<Views>,
    pub(super) occlusion: Option<Occlusion>,
    lod_error: f32,
    /// Current time, as [`Time::to_bits`].
    pub(super) clock: Arc<AtomicU64>,
    /// Time of the last `prepare`; `None` before the first.
    prepared: Option<Time>,
    /// Time of the `prepare` before the last one; `None` before the first.
    before: Option<Time>,
    /// Models on the device, by content hash and encoding.
    pub(super) models: HashMap<([u8; 16], Encoding), Weak<GpuModel>>,
    pub(super) crowds: Vec<Weak<CrowdCore>>,
    /// Crowds of which no batch does all the work, as of the last `prepare`.
    pub(super) alone: Vec<Weak<CrowdCore>>,
    pub(super) fields: Vec<Weak<FieldCore>>,
    /// Crowds whose passes are merged.
    pub(super) batching: Batching,
}

#[derive(Debug)]
struct ViewOnDevice {
    uniform: wgpu::Buffer,
    /// View and time.
    bind_group: wgpu::BindGroup,
    /// View, time, light and shadows, if the material is not diffuse.
    lit: Option<wgpu::BindGroup>,
    /// Camera last set.
    camera: Mutex<Option<Camera>>,
    /// Whether the camera was set after the last `prepare`.
    set_since: AtomicBool,
    /// Whether it was at the last draw, and so probably will be again.
    is_set_late: AtomicBool,
}

impl CrowdRenderer {
    /// Creates a renderer without crowds.
    ///
    /// # Errors
    /// If the device cannot draw to the formats of the descriptor.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, descriptor: RendererDescriptor) -> Result<Self, Error> {
        descriptor.check(device)?;
        let pose_times = 1 + u32::from(descriptor.motion_vectors);
        let pose_memory = PoseMemory { pose_times, morph_bytes: descriptor.morph_bytes };
        let mut samplers = Samplers::default();
        let scene = uniform_buffer(device, "gpuskin scene", size_of::<SceneUniform>(), wgpu::BufferUsages::empty());
        let lod_error = descriptor.lod_error;
        let occlusion = Occlusion::new(device, &descriptor);
        let culled_views = descriptor.culling.then(|| Views::new(device, lod_error > 0.0, occlusion.is_some()));
        let lit = Lit::new(Gpu { device, queue }, &descriptor);
        let layouts = Arc::new(Layouts::new(device, descriptor.shading.features()));
        let poses = Arc::new(Poses::new(device, layouts.clone(), descriptor.motion_vectors));
        let mut renderer = Self {
            device: device.clone(),
            queue: queue.clone(),
            light: descriptor.light,
            lighting: descriptor.light.into(),
            lit,
            white: textures::white(device, queue, &mut samplers),
            samplers,
            pipelines: PipelineCache::new(device, descriptor),
            layouts,
            poses,
            palette_pipelines: LazyPipelines::new(device, PalettePipelines::new),
            scatter_pipeline: LazyPipelines::new(device, ScatterPipeline::new),
            motion_pipelines: MotionPipelines::new(device),
            pose_memory,
            scene,
            views: Vec::new(),
            culled_views,
            occlusion,
            lod_error,
            clock: Arc::default(),
            prepared: None,
            before: None,
            models: HashMap::new(),
            crowds: Vec::new(),
            alone: Vec::new(),
            fields: Vec::new(),
            batching: Batching::new(device),
        };
        renderer.add_view();
        renderer.add_shadow_views();
        Ok(renderer)
    }

    /// Current time: that of the last [`CrowdRenderer::prepare`] or [`CrowdRenderer::set_time`].
    pub fn time(&self) -> Time {
        Time::from_bits(self.clock.load(Ordering::Relaxed))
    }

    /// Sets the time from which commands count until the next [`CrowdRenderer::prepare`]. Without it, commands between two
    /// frames count from the time of the first; an engine that knows the time of the second sets it before them.
    pub fn set_time(&mut self, time: impl Into<Time>) {
        self.clock.store(time.into().to_bits(), Ordering::Relaxed);
    }

    /// Time of the previous frame, for motion vectors: the time prepared before
    /// [`CrowdRenderer::time`]. In the first frame, the same time.
    pub fn previous_time(&self) -> Time {
        self.before.unwrap_or_else(|| self.time())
    }

    /// Adds a view, for a shadow map or a mirror for example. Set its camera with
    /// [`CrowdRenderer::prepare_view`].
    pub fn add_view(&mut self) -> View {
        let copied = wgpu::BufferUsages::COPY_SRC;
        let uniform = uniform_buffer(&self.device, "gpuskin view", size_of::<CullView>(), copied);
        let bind_group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("gpuskin view"),
            layout: &self.layouts.view,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: self.scene.as_entire_binding() },
            ],
        });
        let lit = self.lit_group_of(&uniform);
        self.views.push(ViewOnDevice {
            uniform,
            bind_group,
            lit,
            camera: Mutex::new(None),
            set_since: AtomicBool::new(false),
            is_set_late: AtomicBool::new(false),
        });
        if let Some(views) = &mut self.culled_views {
            views.count = self.views.len();
        }
        View(self.views.len() - 1)
    }

    /// Creates the bind group of a view with light, if the material is not diffuse.
    fn lit_group_of(&self, view: &wgpu::Buffer) -> Option<wgpu::BindGroup> {
        let (lit, layout) = self.lit.as_ref().zip(self.layouts.lit_view.as_ref())?;
        Some(lit.bind_group(&self.device, layout, [view, &self.scene]))
    }

    /// Creates the bind groups with light of all views anew.
    pub(super) fn bind_lighting(&mut self) {
        let groups: Vec<_> = self.views.iter().map(|view| self.lit_group_of(&view.uniform)).collect();
        self.views.iter_mut().zip(groups).for_each(|(view, lit)| view.lit = lit);
    }

    /// Adds the views of the shadow map.
    fn add_shadow_views(&mut self) {
        let count = self.lit.as_ref().and_then(|lit| lit.shadow_map.as_ref()).map_or(0, |map| map.tiles.len());
        let views: Vec<_> = (0..count).map(|_| self.add_view()).collect();
        if let Some(map) = self.lit.as_mut().and_then(|lit| lit.shadow_map.as_mut()) {
            map.views = views;
        }
    }

    /// Whether the renderer draws the metallic-roughness model.
    pub(super) fn is_full(&self) -> bool {
        self.lit.is_some()
    }

    /// Uploads the lighting, and sets the cameras of the shadow map.
    fn upload_lighting(&self, queue: &wgpu::Queue, camera: &Camera) -> Result<(), Error> {
        let Some(lit) = &self.lit else { return Ok(()) };
        lit.upload(queue, &self.lighting);
        let of_lights = lit.upload_lights(queue);
        let Some(map) = &lit.shadow_map else { return Ok(()) };
        let to_sun = self.lighting.sun.direction();
        let of_sun = lit.cascades.as_ref().map_or_else(Vec::new, |cascades| cascades.fit(queue, camera, to_sun));
        let (cascades, tiles) = map.views.split_at(of_sun.len());
        let cameras = cascades.iter().zip(&of_sun).chain(tiles.iter().zip(&of_lights));
        cameras.into_iter().try_for_each(|(view, camera)| self.set_camera(queue, *view, camera))
    }

    /// Allowed LOD error in a view, in pixels or texels.
    fn lod_error_in(&self, view: View) -> f32 {
        let map = self.lit.as_ref().and_then(|lit| lit.shadow_map.as_ref());
        let is_shadow = map.is_some_and(|map| map.views.contains(&view));
        self.lod_error * if is_shadow { SHADOW_LOD_ERROR } else { 1.0 }
    }

    /// Camera last set of a view.
    pub(super) fn camera_of(&self, view: View) -> Option<Camera> {
        *self.views.get(view.0)?.camera.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bind group of a view with light and shadows.
    pub(super) fn lit_group(&self, view: View) -> Option<&wgpu::BindGroup> {
        let view = if view == View::REVEALED { View::MAIN } else { view };
        self.views.get(view.0)?.lit.as_ref()
    }

    /// Sets the time and the main camera, and uploads changes of the crowds. Call it once per
    /// frame, before drawing.
    ///
    /// The CPU cost depends on the number of changed instances, not on the number of instances.
    /// Uploads take effect before anything submitted to `queue` afterwards. For models that need
    /// compute, poses are evaluated in `encoder`; submit it before the draws, or record the draws
    /// in it.
    ///
    /// # Errors
    /// If a crowd has outgrown the device: that crowd is drawn as before; everything else is
    /// prepared. If the device is lost.
    pub fn prepare(
        &mut self,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
        camera: &Camera,
        time: impl Into<Time>,
    ) -> Result<(), Error> {
        let time = time.into();
        self.before = Some(self.prepared.unwrap_or(time));
        self.prepared = Some(time);
        self.clock.store(time.to_bits(), Ordering::Relaxed);
        self.fields.retain(|field| field.strong_count() > 0);
        guarded(&self.device.clone(), || self.upload(queue, encoder, camera, time))
    }

    fn upload(
        &mut self,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
        camera: &Camera,
        time: Time,
    ) -> Result<(), Error> {
        queue.write_buffer(&self.scene, 0, bytemuck::bytes_of(&SceneUniform::new(time, &self.light)));
        self.fields.iter().filter_map(Weak::upgrade).for_each(|field| field.upload(queue));
        let mut result = self.set_camera(queue, View::MAIN, camera).and_then(|()| self.upload_lighting(queue, camera));
        let mut crowds = Vec::with_capacity(self.crowds.len());
        self.crowds.retain(|crowd| crowd.upgrade().map(|crowd| crowds.push(crowd)).is_some());
        crowds.iter().for_each(|crowd| crowd.begin());
        let views = self.culled_views.as_ref().filter(|views| views.count <= MAX_VIEWS);
        let pyramid = self.occlusion.as_ref().map(Occlusion::layout);
        let (gpu, pipelines) = (Gpu { device: &self.device, queue }, (&self.layouts, &mut self.pipelines));
        let mut uploads = Uploads::new(&self.device);
        result = result.and(self.batching.update(gpu, pipelines, (views, pyramid), &crowds, &mut uploads));
        let camera_of = |view: &ViewOnDevice| *view.camera.lock().unwrap_or_else(PoisonError::into_inner);
        let cameras = self.views.iter().filter_map(camera_of);
        let frusta: Vec<_> = cameras.map(|camera| Frustum::new(&camera.view_proj)).collect();
        let views = self.culling().map(|views| CulledViews { views, frusta: &frusta });
        for crowd in &crowds {
            let pipelines = (&self.scatter_pipeline, &self.motion_pipelines);
            result = result.and(crowd.upload(queue, &mut uploads, &self.layouts, pipelines, views));
        }
        self.batching.upload(&mut uploads, queue, &self.scatter_pipeline);
        uploads.submit(queue);
        crowds.retain(|crowd| !crowd.is_merged());
        self.alone = crowds.iter().map(Arc::downgrade).collect();
        self.select_visible(&crowds);
        self.poses.begin([time, self.previous_time()]);
        let posed: Vec<_> = crowds.iter().filter(|crowd| crowd.is_posed()).cloned().collect();
        for view in (0..self.views.len()).map(View) {
            result = result.and(self.draw_poses(encoder, &posed, view));
        }
        self.evaluate(queue, encoder, &crowds, time);
        result
    }

    /// Draws the poses of the instances that a view sees. With the main view also those of all instances, for crowds that
    /// it does not cull, and for those of which the last frame drew all.
    fn draw_poses(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        crowds: &[Arc<CrowdCore>],
        view: View,
    ) -> Result<(), Error> {
        let drawn = crowds.iter().filter_map(|crowd| Some((crowd, crowd.drawn_in(view)?)));
        let (culled, mut all): (Vec<_>, Vec<_>) = drawn.partition(|(_, drawn)| drawn.culled.is_some());
        if view == View::MAIN {
            let again = culled.iter().map(|(crowd, _)| *crowd).filter(|crowd| crowd.drew_all_poses());
            all.extend(again.filter_map(|crowd| Some((crowd, crowd.drawn()?))));
        } else {
            all.clear();
        }
        let mut result = Ok(());
        for (texture, drawn) in [(poses::of_view(view.0), culled), (poses::ALL, all)] {
            let lists: Vec<_> = drawn.iter().map(|(crowd, drawn)| crowd.unposed(drawn, texture)).collect();
            if !lists.is_empty() {
                let (posed, fits) = self.poses.draw(self.gpu(), encoder, texture, &lists);
                drawn.iter().zip(posed).for_each(|((crowd, _), posed)| crowd.set_poses(texture, posed));
                result = result.and(fits);
            }
        }
        result
    }

    /// Whether culling is enabled, and the number of views.
    pub(super) fn culls(&self) -> (bool, usize) {
        (self.culled_views.is_some(), self.views.len())
    }

    /// Views to cull by; `None` if nothing is culled.
    pub(super) fn culling(&self) -> Option<&Views> {
        self.culled_views.as_ref().filter(|views| views.count <= MAX_VIEWS)
    }

    /// Culls, and evaluates the poses of crowds whose models need compute. `crowds`: those that no batch does all work of.
    fn evaluate(
        &mut self,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
        crowds: &[Arc<CrowdCore>],
        time: Time,
    ) {
        let drawn: Vec<_> = crowds.iter().filter_map(|crowd| crowd.drawn()).collect();
        let mut moving = drawn.iter().filter_map(|d| Some((d.motion()?, d.instances))).peekable();
        let own = |d: &&Drawn| d.palettes.as_ref().is_some_and(|palettes| !palettes.is_batched());
        let mut with_palettes = drawn.iter().filter(own).filter_map(|d| Some((d.palettes.as_ref()?, d))).peekable();
        if with_palettes.peek().is_none() && moving.peek().is_none() && self.batching.is_empty() {
            return;
        }
        if let Some(views) = self.culling() {
            views.copy(encoder, self.views.iter().map(|view| &view.uniform));
        }
        crowds.iter().for_each(|crowd| crowd.read_wanted_poses(encoder));
        let descriptor = wgpu::ComputePassDescriptor { label: Some("gpuskin palettes"), timestamp_writes: None };
        let mut pass = encoder.begin_compute_pass(&descriptor);
        let times = [time, self.previous_time()];
        moving.for_each(|(motion, instances)| motion.record(queue, &mut pass, instances, times));
        self.batching.record(queue, &mut pass, times);
        for (palettes, d) in with_palettes {
            palettes.evaluate(queue, &mut pass, d.instances, (d.live, d.ignore_marks), times);
        }
        drop(pass);
        for crowd in crowds {
            let each = (0..self.views.len()).map(|view| Some(View(view)));
            crowd.record_attachments(Gpu { device: &self.device, queue }, encoder, std::iter::once(None).chain(each));
        }
    }

    /// Culls the crowds that have no culling pass. A view whose camera is set after `prepare` waits for it.
    fn select_visible(&self, crowds: &[Arc<CrowdCore>]) {
        let culls = self.culling().is_some();
        for (index, view) in self.views.iter().enumerate() {
            view.set_since.store(false, Ordering::Relaxed);
            let waits = index != View::MAIN.0 && view.is_set_late.load(Ordering::Relaxed);
            let camera = *view.camera.lock().unwrap_or_else(PoisonError::into_inner);
            let lod_error = self.lod_error_in(View(index));
            let camera = camera.filter(|_| culls && !waits).map(|camera| camera.uniform(lod_error));
            crowds.iter().for_each(|crowd| crowd.select_visible(index, camera.as_ref()));
        }
    }

    /// Sets the camera of another view; the time is that of [`CrowdRenderer::prepare`]. Culling
    /// uses the cameras as they are when the encoder of `prepare` is submitted: a view that is set
    /// again after that, and drawn, lacks some instances.
    ///
    /// # Errors
    /// If the view belongs to another renderer.
    pub fn prepare_view(&self, queue: &wgpu::Queue, view: View, camera: &Camera) -> Result<(), Error> {
        guarded(&self.device, || {
            self.set_camera(queue, view, camera)?;
            if self.culling().is_some() {
                self.views[view.0].set_since.store(true, Ordering::Relaxed);
                let camera = Some(camera.uniform(self.lod_error_in(view)));
                let crowds: Vec<_> = self.alone.iter().filter_map(Weak::upgrade).collect();
                crowds.iter().for_each(|crowd| crowd.select_visible(view.0, camera.as_ref()));
                let posed: Vec<_> = crowds.into_iter().filter(|crowd| crowd.is_posed()).collect();
                if !posed.is_empty() && view != View::MAIN {
                    let mut encoder = self.device.create_command_encoder(&Default::default());
                    let result = self.draw_poses(&mut encoder, &posed, view);
                    queue.submit([encoder.finish()]);
                    return result;
                }
            }
            Ok(())
        })
    }

    fn set_camera(&self, queue: &wgpu::Queue, view: View, camera: &Camera) -> Result<(), Error> {
        if view == View::REVEALED {
            return Err(Error::Descriptor {
                reason: "View::REVEALED uses the camera of View::MAIN; set that view instead".to_owned(),
            });
        }
        let Some(on_device) = self.views.get(view.0) else {
            return Err(Error::Descriptor {
                reason: format!("{view:?} belongs to another renderer; create it with add_view of this one"),
            });
        };
        queue.write_buffer(&on_device.uniform, 0, bytemuck::bytes_of(&camera.uniform(self.lod_error_in(view))));
        *on_device.camera.lock().unwrap_or_else(PoisonError::into_inner) = Some(*camera);
        Ok(())
    }

    /// Draws all crowds and fields in the main view.
    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        self.draw_view(pass, View::MAIN);
    }

    /// Draws all crowds and fields in a view. [`View::REVEALED`] draws the instances that
    /// [`CrowdRenderer::reveal`] found. A view of another renderer draws nothing.
    ///
    /// Blended materials are drawn last, in two steps: depth, then colour. With
    /// [occlusion culling](RendererDescriptor::occlusion) that is with [`View::REVEALED`], for all instances, because
    /// a blended part hides no instance.
    pub fn draw_view(&self, pass: &mut wgpu::RenderPass<'_>, view: View) {
        self.draw_pass(pass, view, PassKind::Color);
        let views: &[View] = match (self.occlusion.is_some(), view) {
            _ if !self.pipelines.blends => &[],
            (true, View::MAIN) => &[],
            (true, View::REVEALED) => &[View::MAIN, View::REVEALED],
            _ => &[view],
        };
        for kind in [PassKind::Cover, PassKind::Blend] {
            views.iter().for_each(|view| self.draw_pass(pass, *view, kind));
        }
    }

    /// Draws depth only, into [`RendererDescriptor::depth_pass`]. Blended materials are left out, because they
    /// would hide things behind them in a pre-pass. A view of another renderer draws nothing.
    pub fn draw_depth(&self, pass: &mut wgpu::RenderPass<'_>, view: View) {
        self.draw_pass(pass, view, PassKind::Depth);
    }

    pub(super) fn draw_pass(&self, pass: &mut wgpu::RenderPass<'_>, view: View, kind: PassKind) {
        let again = view == View::REVEALED;
        let Some(on_device) = self.views.get(if again { View::MAIN.0 } else { view.0 }) else { return };
        on_device.is_set_late.store(on_device.set_since.load(Ordering::Relaxed), Ordering::Relaxed);
        let lit = on_device.lit.as_ref().filter(|_| !matches!(kind, PassKind::Depth | PassKind::Shadow));
        pass.set_bind_group(0, lit.unwrap_or(&on_device.bind_group), &[]);
        self.batching.draw(pass, view, kind);
        for crowd in self.alone.iter().filter_map(Weak::upgrade) {
            let Some(drawn) = crowd.drawn_with_poses(Some(view)) else { continue };
            let batched = drawn.palettes.as_ref().is_some_and(|palettes| palettes.is_batched());
            let draws_own = !batched && crowd.parts.iter().any(|part| part.pipelines.draws(kind));
            if !draws_own && !drawn.attached.iter().any(|attached| attached.draws(kind)) {
                continue;
            }
            let model = &*crowd.model;
            for (number, run) in drawn.draw_runs(Some(view)).enumerate() {
                let others = model.geometry.bind_others(pass, 1, &run);
                let morphs_added = run.palette.as_ref().is_some_and(|palette| palette.morphs_added);
                for (i, part) in crowd.parts.iter().enumerate().filter(|_| draws_own) {
                    let added = part.morphs_added.as_ref().filter(|_| morphs_added);
                    let pipelines = match others {
                        Some(OtherPoses::Cached) => part.cached.as_ref(),
                        Some(OtherPoses::Slotless) => part.slotless.as_ref(),
                        None => added,
                    };
                    let pipelines = pipelines.unwrap_or(&part.pipelines);
                    let Some(pipeline) = pipelines.of(kind) else { continue };
                    pass.set_pipeline(pipeline);
                    pass.set_bind_group(2, model.materials.get(part.mesh.material), &[]);
                    draw_part(pass, i, &part.mesh, &run);
                }
                if others.is_some() && !drawn.attached.is_empty() {
                    // Attachments need bones from the palette. Crowds with attachments have room there for all poses.
                    model.geometry.bind(pass, 1, &run);
                }
                for attached in &drawn.attached {
                    attached.draw_in(pass, view, number, &run, kind);
                }
            }
        }
        if again {
            return;
        }
        let camera = *on_device.camera.lock().unwrap_or_else(PoisonError::into_inner);
        for field in self.fields.iter().filter_map(Weak::upgrade) {
            if field.draws(kind) && camera.is_some_and(|camera| field.is_in_view(&camera)) {
                field.draw(pass, 1, |pass, model, part| {
                    let Some(pipeline) = part.pipelines.of(kind) else { return false };
                    pass.set_pipeline(pipeline);
                    pass.set_bind_group(2, model.materials.get(part.mesh.material), &[]);
                    true
                });
            }
        }
    }

    /// Layout of the bind group that [`crate::Field::draw_with`] sets; `None` for variants without an
    /// animation texture.
    pub fn field_layout(&self, variant: Variant) -> Option<&wgpu::BindGroupLayout> {
        self.layouts.field(variant)
    }

    /// Layout of the bind group that [`crate::Crowd::draw_with`] sets, for a game's own pipelines.
    pub fn model_layout(&self, variant: Variant) -> &wgpu::BindGroupLayout {
        self.layouts.model(variant)
    }

    /// wgpu features worth requesting where the adapter has them; none is required. With them, a
    /// device reads the block-compressed textures of models, which take a quarter of the memory,
    /// one call per part draws all levels of detail of a crowd, and of crowds that share their draws, the CPU
    /// neither checks each draw nor binds each material. For the latter, the device also needs the adapter's
    /// `max_binding_array_elements_per_shader_stage`; wgpu's default is 0.
    ///
    /// ```no_run
    /// # use gpuskin_rt::{wgpu, CrowdRenderer};
    /// # async fn open(adapter: &wgpu::Adapter) -> Result<(wgpu::Device, wgpu::Queue), wgpu::RequestDeviceError> {
    /// adapter
    ///     .request_device(&wgpu::DeviceDescriptor {
    ///         required_features: adapter.features() & CrowdRenderer::OPTIONAL_FEATURES,
    ///         required_limits: adapter.limits(),
    ///         ..Default::default()
    ///     })
    ///     .await
    /// # }
    /// ```
    pub const OPTIONAL_FEATURES: wgpu::Features =
        textures::FEATURES.union(DRAW_LODS_AT_ONCE).union(COUNTED_DRAWS).union(MATERIAL_TABLES);

    pub(crate) fn gpu(&self) -> Gpu<'_> {
        Gpu { device: &self.device, queue: &self.queue }
    }

    /// Whether a crowd belongs to this renderer.
    pub(crate) fn draws(&self, crowd: &Arc<CrowdCore>) -> bool {
        self.crowds.iter().any(|own| core::ptr::eq(own.as_ptr(), Arc::as_ptr(crowd)))
    }
}

fn uniform_buffer(device: &wgpu::Device, label: &str, size: usize, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: size as u64,
        usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST | usage,
        mapped_at_creation: false,
    })
}
