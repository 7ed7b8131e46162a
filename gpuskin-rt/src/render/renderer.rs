//! Renderer: owns the clock, the views and all crowds.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::cache::{CacheState, SharedPoses};
use super::crowd::{CrowdCore, DrawnPart, GpuModel};
use super::cull::Views;
use super::error::Error;
use super::explain::DrawPath;
use super::field::{FieldCore, not_textured};
use super::geometry::{Geometry, draw_part, playable};
use super::gpu::Gpu;
use super::layouts::Layouts;
use super::material::{MaterialConstants, Materials};
use super::occlusion::Occlusion;
use super::pipelines::{PassKind, PipelineCache, Surface};
use super::staging::Uploads;
use super::textures::{self, MaterialTextures, SampledTexture, Samplers, Textures};
use super::view::SceneUniform;
use super::{Camera, CrowdDescriptor, Light, RendererDescriptor, View};
use crate::cull::{CullView, MAX_VIEWS};
use crate::field::FieldDescriptor;
use crate::shader::{InstanceSource, Variant};
use crate::{Encoding, MeshPart, Metadata, Model, Time};

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
    pub(super) layouts: Layouts,
    pipelines: PipelineCache,
    samplers: Samplers,
    white: SampledTexture,
    light: Light,
    scene: wgpu::Buffer,
    views: Vec<ViewOnDevice>,
    /// Views for the culling pass; `None` if culling is off.
    seen_by: Option<Views>,
    pub(super) occlusion: Option<Occlusion>,
    lod_error: f32,
    /// Last prepared time, as [`Time::to_bits`].
    clock: Arc<AtomicU64>,
    /// Time of the `prepare` before the last one; `None` before the first.
    before: Option<Time>,
    /// Models on the device, by content hash and encoding.
    models: HashMap<([u8; 16], Encoding), Weak<GpuModel>>,
    pub(super) crowds: Vec<Weak<CrowdCore>>,
    fields: Vec<Weak<FieldCore>>,
}

#[derive(Debug)]
struct ViewOnDevice {
    uniform: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    /// Camera last set.
    camera: Mutex<Option<Camera>>,
}

impl CrowdRenderer {
    /// Creates a renderer without crowds.
    ///
    /// # Errors
    /// If the device cannot draw to the formats of the descriptor.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, descriptor: RendererDescriptor) -> Result<Self, Error> {
        descriptor.check(device)?;
        let mut layouts = Layouts::new(device);
        layouts.pose_times += u32::from(descriptor.motion_vectors);
        let mut samplers = Samplers::default();
        let scene = uniform_buffer(device, "gpuskin scene", size_of::<SceneUniform>(), wgpu::BufferUsages::empty());
        let lod_error = descriptor.lod_error;
        let occlusion = Occlusion::new(device, &descriptor);
        let seen_by = descriptor.culling.then(|| Views::new(device, lod_error > 0.0, occlusion.is_some()));
        let mut renderer = Self {
            device: device.clone(),
            queue: queue.clone(),
            light: descriptor.light,
            white: textures::white(device, queue, &mut samplers),
            samplers,
            pipelines: PipelineCache::new(device, descriptor),
            layouts,
            scene,
            views: Vec::new(),
            seen_by,
            occlusion,
            lod_error,
            clock: Arc::default(),
            before: None,
            models: HashMap::new(),
            crowds: Vec::new(),
            fields: Vec::new(),
        };
        renderer.add_view();
        Ok(renderer)
    }

    /// Last prepared time.
    pub fn time(&self) -> Time {
        Time::from_bits(self.clock.load(Ordering::Relaxed))
    }

    /// Time of the previous frame, for motion vectors: the time prepared before
    /// [`CrowdRenderer::time`]. In the first frame, the same time.
    pub fn previous_time(&self) -> Time {
        self.before.unwrap_or_else(|| self.time())
    }

    /// Sets the light. Takes effect at the next [`CrowdRenderer::prepare`].
    pub fn set_light(&mut self, light: Light) {
        self.light = light;
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
        self.views.push(ViewOnDevice { uniform, bind_group, camera: Mutex::new(None) });
        if let Some(views) = &mut self.seen_by {
            views.count = self.views.len();
        }
        View(self.views.len() - 1)
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
    /// If a crowd has outgrown the device. That crowd is drawn as before; everything else is
    /// prepared.
    pub fn prepare(
        &mut self,
        queue: &wgpu::Queue,
        encoder: &mut wgpu::CommandEncoder,
        camera: &Camera,
        time: impl Into<Time>,
    ) -> Result<(), Error> {
        let time = time.into();
        self.before = Some(if self.before.is_some() { self.time() } else { time });
        self.clock.store(time.to_bits(), Ordering::Relaxed);
        queue.write_buffer(&self.scene, 0, bytemuck::bytes_of(&SceneUniform::new(time, &self.light)));
        self.crowds.retain(|crowd| crowd.strong_count() > 0);
        self.fields.retain(|field| field.strong_count() > 0);
        self.fields.iter().filter_map(Weak::upgrade).for_each(|field| field.upload(queue));
        let mut result = self.prepare_view(queue, View::MAIN, camera);
        let mut uploads = Uploads::new(&self.device);
        for crowd in self.crowds.iter().filter_map(Weak::upgrade) {
            result = result.and(crowd.upload(queue, &mut uploads, &self.layouts, self.culling()));
        }
        uploads.submit(queue);
        self.evaluate(queue, encoder, time);
        result
    }

    /// Whether culling is enabled, and the number of views.
    pub(super) fn culls(&self) -> (bool, usize) {
        (self.seen_by.is_some(), self.views.len())
    }

    /// Views to cull by; `None` if nothing is culled.
    pub(super) fn culling(&self) -> Option<&Views> {
        self.seen_by.as_ref().filter(|views| views.count <= MAX_VIEWS)
    }

    /// Culls, and evaluates the poses of crowds whose models need compute.
    fn evaluate(&self, queue: &wgpu::Queue, encoder: &mut wgpu::CommandEncoder, time: Time) {
        let drawn: Vec<_> = self.crowds.iter().filter_map(Weak::upgrade).filter_map(|c| c.drawn()).collect();
        let mut with_palettes = drawn.iter().filter_map(|d| Some((d.palettes.as_ref()?, d))).peekable();
        if with_palettes.peek().is_none() {
            return;
        }
        if let Some(views) = self.culling() {
            views.copy(encoder, self.views.iter().map(|view| &view.uniform));
        }
        let descriptor = wgpu::ComputePassDescriptor { label: Some("gpuskin palettes"), timestamp_writes: None };
        let mut pass = encoder.begin_compute_pass(&descriptor);
        let times = [time, self.previous_time()];
        for (palettes, d) in with_palettes {
            palettes.evaluate(queue, &mut pass, d.instances, (d.live, d.ignore_marks), times);
        }
        drop(pass);
        for crowd in self.crowds.iter().filter_map(Weak::upgrade) {
            let each = (0..self.views.len()).map(|view| Some(View(view)));
            crowd.record_attachments(Gpu { device: &self.device, queue }, encoder, std::iter::once(None).chain(each));
        }
    }

    /// Sets the camera of another view; the time is that of [`CrowdRenderer::prepare`]. Culling
    /// uses the cameras as they are when the encoder of `prepare` is submitted: a view that is set
    /// again after that, and drawn, lacks some instances.
    ///
    /// # Errors
    /// If the view belongs to another renderer.
    pub fn prepare_view(&self, queue: &wgpu::Queue, view: View, camera: &Camera) -> Result<(), Error> {
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
        queue.write_buffer(&on_device.uniform, 0, bytemuck::bytes_of(&camera.uniform(self.lod_error)));
        *on_device.camera.lock().unwrap_or_else(PoisonError::into_inner) = Some(*camera);
        Ok(())
    }

    /// Draws all crowds and fields in the main view.
    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        self.draw_view(pass, View::MAIN);
    }

    /// Draws all crowds and fields in a view. [`View::REVEALED`] draws the instances that
    /// [`CrowdRenderer::reveal`] found. A view of another renderer draws nothing.
    pub fn draw_view(&self, pass: &mut wgpu::RenderPass<'_>, view: View) {
        self.draw_pass(pass, view, PassKind::Color);
    }

    /// Draws depth only, into [`RendererDescriptor::depth_pass`]. A view of another renderer draws
    /// nothing.
    pub fn draw_depth(&self, pass: &mut wgpu::RenderPass<'_>, view: View) {
        self.draw_pass(pass, view, PassKind::Depth);
    }

    fn draw_pass(&self, pass: &mut wgpu::RenderPass<'_>, view: View, kind: PassKind) {
        let again = view == View::REVEALED;
        let Some(on_device) = self.views.get(if again { View::MAIN.0 } else { view.0 }) else { return };
        pass.set_bind_group(0, &on_device.bind_group, &[]);
        for crowd in self.crowds.iter().filter_map(Weak::upgrade) {
            let Some(drawn) = crowd.drawn() else { continue };
            let model = &*crowd.model;
            for (number, run) in drawn.draw_runs(Some(view)).enumerate() {
                let cached = model.geometry.bind_cached(pass, 1, &run);
                for (i, part) in crowd.parts.iter().enumerate() {
                    let pipelines = part.cached.as_ref().filter(|_| cached).unwrap_or(&part.pipelines);
                    pass.set_pipeline(pipelines.of(kind));
                    pass.set_bind_group(2, model.materials.get(part.mesh.material), &[]);
                    draw_part(pass, i, &part.mesh, &run);
                }
                if cached && !drawn.attached.is_empty() {
                    // Attachments need bones, not cached vertices.
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
            if camera.is_some_and(|camera| field.is_in_view(&camera)) {
                field.draw(pass, 1, |pass, model, part| {
                    pass.set_pipeline(part.pipelines.of(kind));
                    pass.set_bind_group(2, model.materials.get(part.mesh.material), &[]);
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
    /// and one call per part draws all levels of detail of a crowd.
    ///
    /// ```no_run
    /// # use gpuskin_rt::{wgpu, CrowdRenderer};
    /// # async fn open(adapter: &wgpu::Adapter) -> Result<(wgpu::Device, wgpu::Queue), wgpu::RequestDeviceError> {
    /// adapter
    ///     .request_device(&wgpu::DeviceDescriptor {
    ///         required_features: adapter.features() & CrowdRenderer::OPTIONAL_FEATURES,
    ///         ..Default::default()
    ///     })
    ///     .await
    /// # }
    /// ```
    pub const OPTIONAL_FEATURES: wgpu::Features = textures::FEATURES.union(super::cull::DRAW_LODS_AT_ONCE);

    /// Returns the textures of a material, for a game's own pipelines: base colour,
    /// occlusion-roughness-metallic, normals and emitted light. The factors that they are
    /// multiplied with are in [`crate::Material`].
    ///
    /// The renderer itself loads base colours and emissive textures. Others are loaded on the first
    /// call, and kept as long as the model has a crowd.
    ///
    /// ```no_run
    /// # use gpuskin_rt::{wgpu, Crowd, CrowdRenderer, Error, Model, BakedModel, pipeline::MaterialTextures};
    /// # fn load<Soldier: BakedModel>(renderer: &mut CrowdRenderer, crowd: &Crowd<Soldier>) -> Result<(), Error> {
    /// # let soldier: &'static Model = Soldier::MODEL;
    /// let materials: Vec<MaterialTextures> = (0..soldier.meta.materials().len() as u32)
    ///     .map(|material| renderer.material_textures(soldier, material))
    ///     .collect::<Result<_, _>>()?;
    /// // Create a bind group per material, and set it in the callback of `crowd.draw_with`: `part.material` is the index.
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the model has no such material, a file is missing or from another bake, or the device
    /// supports none of a texture's formats.
    pub fn material_textures(&mut self, model: &Model, material: u32) -> Result<MaterialTextures, Error> {
        let on_device = self.model(model)?;
        let meta = &model.meta;
        let Some(material) = meta.materials.get(material as usize) else {
            return Err(Error::model(&meta.name, format!("material {material} does not exist")));
        };
        on_device.textures.of_material(
            Gpu { device: &self.device, queue: &self.queue },
            &mut self.samplers,
            model,
            material,
        )
    }

    pub(crate) fn gpu(&self) -> Gpu<'_> {
        Gpu { device: &self.device, queue: &self.queue }
    }

    /// Whether a crowd belongs to this renderer.
    pub(crate) fn draws(&self, crowd: &Arc<CrowdCore>) -> bool {
        self.crowds.iter().any(|own| core::ptr::eq(own.as_ptr(), Arc::as_ptr(crowd)))
    }

    /// Loads a prop, and returns its parts with pipelines for another variant. First indices count
    /// from the prop's own first index.
    pub(crate) fn prop(&mut self, model: &Model, variant: Variant) -> Result<(Arc<GpuModel>, Vec<DrawnPart>), Error> {
        let played = playable(&self.device, model)?;
        let on_device = self.load(model, played)?;
        let parts = self.parts(&played.meta.mesh.parts, &on_device.surfaces, (variant, InstanceSource::Records));
        Ok((on_device, parts))
    }

    /// Returns mesh parts with their pipelines.
    fn parts(&mut self, mesh: &[MeshPart], surfaces: &[Surface], text: (Variant, InstanceSource)) -> Vec<DrawnPart> {
        let pipelines = surfaces.iter().map(|surface| self.pipelines.get(&self.layouts, text, *surface));
        let parts = mesh.iter().zip(pipelines);
        parts.map(|(mesh, pipelines)| DrawnPart { mesh: *mesh, pipelines, cached: None }).collect()
    }

    /// Creates a field in this renderer.
    pub(crate) fn field<M>(&mut self, model: &Model, descriptor: &FieldDescriptor<M>) -> Result<Arc<FieldCore>, Error> {
        let played = textured(model).ok_or_else(|| not_textured(&model.meta))?;
        let on_device = self.load(model, played)?;
        let geometry = &on_device.geometry;
        on_device.materials.bind(&self.device, &self.layouts, geometry);
        let parts = self.parts(&geometry.parts, &on_device.surfaces, (geometry.variant, InstanceSource::Field));
        let bind_group = |uniform: &wgpu::Buffer| geometry.with_field(&self.device, &self.layouts, uniform);
        let on_device = (on_device.clone(), parts);
        let core = Arc::new(FieldCore::new(&self.device, on_device, &played.meta, bind_group, descriptor)?);
        self.fields.push(Arc::downgrade(&core));
        Ok(core)
    }

    /// Creates a crowd in this renderer.
    pub(crate) fn crowd(&mut self, model: &Model, descriptor: &CrowdDescriptor) -> Result<Arc<CrowdCore>, Error> {
        let played = match descriptor.path {
            Some(DrawPath::Direct) => textured(model).ok_or_else(|| not_direct(&model.meta))?,
            _ => playable(&self.device, model)?,
        };
        let on_device = self.load(model, played)?;
        let geometry = &on_device.geometry;
        let (name, clock) = (&model.meta.name, self.clock.clone());
        let shared = SharedPoses::of(&self.device, (played, geometry), self.seen_by.is_some(), descriptor)?;
        let mut parts = self.parts(&geometry.parts, &on_device.surfaces, (geometry.variant, InstanceSource::Records));
        if matches!(shared.1, CacheState::On { .. }) {
            let cached = self.parts(&geometry.parts, &on_device.surfaces, (geometry.variant, InstanceSource::Cached));
            parts.iter_mut().zip(cached).for_each(|(part, cached)| part.cached = Some(cached.pipelines));
        }
        let on_device = (on_device.clone(), parts);
        let core = Arc::new(CrowdCore::new(&self.device, on_device, name, clock, descriptor, shared)?);
        self.crowds.push(Arc::downgrade(&core));
        Ok(core)
    }

    /// Returns the model on the device, shared by all of its crowds.
    fn model(&mut self, model: &Model) -> Result<Arc<GpuModel>, Error> {
        self.load(model, playable(&self.device, model)?)
    }

    /// Loads a model. `played`: the model itself, or its alternative in another encoding.
    fn load(&mut self, model: &Model, played: &Model) -> Result<Arc<GpuModel>, Error> {
        let meta = &model.meta;
        let key = (meta.content_hash, played.meta.encoding);
        if let Some(loaded) = self.models.get(&key).and_then(Weak::upgrade) {
            return Ok(loaded);
        }
        self.models.retain(|_, model| model.strong_count() > 0);
        let constants = MaterialConstants::of(&self.device, meta);
        let geometry = Geometry::new(&self.device, &self.queue, &self.layouts, played, &constants)?;
        let textures = Textures::new(meta);
        let gpu = Gpu { device: &self.device, queue: &self.queue };
        let materials = Materials::new(gpu, model, &textures, &mut self.samplers, &self.white)?;
        let surface = |part: &MeshPart| Surface::of(part, &meta.materials[part.material as usize]);
        let surfaces = geometry.parts.iter().map(surface).collect();
        let loaded = Arc::new(GpuModel { geometry, surfaces, materials, textures });
        self.models.insert(key, Arc::downgrade(&loaded));
        Ok(loaded)
    }
}

/// Returns the first encoding of a model that has an animation texture: the model itself, or one of
/// its alternatives.
fn textured(model: &Model) -> Option<&Model> {
    std::iter::once(model).chain(model.others.iter()).find(|model| !model.meta.encoding.needs_compute())
}

fn not_direct(meta: &Metadata) -> Error {
    let reason = format!(
        "path: `direct` needs an animation texture, but the model is baked to {} alone; add \"webgl2\" to `devices` for it \
         in gpuskin.toml, or choose another encoding",
        meta.encoding.name()
    );
    Error::Argument { model: meta.name.to_string(), reason }
}

fn uniform_buffer(device: &wgpu::Device, label: &str, size: usize, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: size as u64,
        usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST | usage,
        mapped_at_creation: false,
    })
}
