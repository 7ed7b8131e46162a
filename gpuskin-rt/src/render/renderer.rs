//! The renderer: the clock, the views and all crowds.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::cache::{CacheState, Sharing};
use super::crowd::{CrowdCore, DrawnPart, GpuModel};
use super::cull::Views;
use super::error::Error;
use super::explain::DrawPath;
use super::field::{FieldCore, not_textured};
use super::geometry::{Geometry, draw_part, playable};
use super::layouts::Layouts;
use super::material::{MaterialConstants, Materials};
use super::occlusion::Occlusion;
use super::pipelines::{PipelineCache, Surface};
use super::staging::Uploads;
use super::textures::{self, MaterialTextures, SampledTexture, Samplers, Textures};
use super::view::SceneUniform;
use super::{Camera, CrowdDescriptor, Light, RendererDescriptor, View};
use crate::cull::{CullView, MOST_VIEWS};
use crate::field::FieldDescriptor;
use crate::shader::{Instances, Variant};
use crate::{Encoding, MeshPart, Metadata, Model, Time};

/// Owns the clock, the views and what is on the device; draws the crowds of all models.
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
    /// The same for culling; `None` where it is off.
    seen_by: Option<Views>,
    pub(super) occlusion: Option<Occlusion>,
    lod_error: f32,
    /// The last prepared time, [`Time::to_bits`].
    clock: Arc<AtomicU64>,
    /// The one that was prepared before; none until something is prepared.
    before: Option<Time>,
    /// By content and encoding.
    models: HashMap<([u8; 16], Encoding), Weak<GpuModel>>,
    pub(super) crowds: Vec<Weak<CrowdCore>>,
    fields: Vec<Weak<FieldCore>>,
}

#[derive(Debug)]
struct ViewOnDevice {
    uniform: wgpu::Buffer,
    bind_group: wgpu::BindGroup,
    /// As it was last set.
    camera: Mutex<Option<Camera>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Pass {
    Color,
    Depth,
}

impl CrowdRenderer {
    /// A renderer without crowds.
    ///
    /// # Errors
    /// When the device cannot draw to these formats.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, descriptor: RendererDescriptor) -> Result<Self, Error> {
        descriptor.check(device)?;
        let mut layouts = Layouts::new(device);
        layouts.moments += u32::from(descriptor.motion_vectors);
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

    /// The last prepared time.
    pub fn time(&self) -> Time {
        Time::from_bits(self.clock.load(Ordering::Relaxed))
    }

    /// The time that was prepared before that: of the frame before, for motion vectors. At first it is the same.
    pub fn time_before(&self) -> Time {
        self.before.unwrap_or_else(|| self.time())
    }

    /// The light from the next [`CrowdRenderer::prepare`] on.
    pub fn set_light(&mut self, light: Light) {
        self.light = light;
    }

    /// Another view: a shadow map's, a mirror's. Set it with [`CrowdRenderer::prepare_view`].
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

    /// Sets the clock and the main view, and uploads what was done to the crowds. Once a frame, before drawing.
    ///
    /// What it costs does not depend on how many instances there are, only on how many were commanded. The uploads
    /// take effect before anything that is submitted to `queue` afterwards. Poses of models that need compute are
    /// evaluated in `encoder`, which must be submitted before what draws them, or draw itself.
    ///
    /// # Errors
    /// When a crowd has outgrown the device. It is drawn as it was; everything else is prepared.
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

    /// Whether culling is asked for, and how many views there are.
    pub(super) fn culls(&self) -> (bool, usize) {
        (self.seen_by.is_some(), self.views.len())
    }

    /// What instances are culled by; `None` where they are not.
    pub(super) fn culling(&self) -> Option<&Views> {
        self.seen_by.as_ref().filter(|views| views.count <= MOST_VIEWS)
    }

    /// Evaluates the poses of the crowds whose models need that.
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
        let times = [time, self.time_before()];
        for (palettes, d) in with_palettes {
            palettes.evaluate(queue, &mut pass, d.instances, (d.live, d.everyone), times);
        }
        drop(pass);
        for crowd in self.crowds.iter().filter_map(Weak::upgrade) {
            let each = (0..self.views.len()).map(|view| Some(View(view)));
            crowd.record_attachments((&self.device, queue), encoder, std::iter::once(None).chain(each));
        }
    }

    /// Sets another view. The clock is that of [`CrowdRenderer::prepare`]. Instances are culled by the views as they are
    /// when what `prepare` encoded is submitted: a view that is set again after that, and drawn, lacks some of them.
    ///
    /// # Errors
    /// When the view is of another renderer.
    pub fn prepare_view(&self, queue: &wgpu::Queue, view: View, camera: &Camera) -> Result<(), Error> {
        if view == View::REVEALED {
            return Err(Error::Descriptor {
                reason: "View::REVEALED has the camera of View::MAIN; set that".to_owned(),
            });
        }
        let Some(on_device) = self.views.get(view.0) else {
            return Err(Error::Descriptor { reason: format!("{view:?} is not of this renderer; use its add_view") });
        };
        queue.write_buffer(&on_device.uniform, 0, bytemuck::bytes_of(&camera.uniform(self.lod_error)));
        *on_device.camera.lock().unwrap_or_else(PoisonError::into_inner) = Some(*camera);
        Ok(())
    }

    /// Draws all crowds, seen from the main view.
    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        self.draw_view(pass, View::MAIN);
    }

    /// Draws all crowds, seen from another view, or what [`CrowdRenderer::reveal`] found: [`View::REVEALED`]. A view of another
    /// renderer shows nothing.
    pub fn draw_view(&self, pass: &mut wgpu::RenderPass<'_>, view: View) {
        self.draw_pass(pass, view, Pass::Color);
    }

    /// Draws depth only: for [`RendererDescriptor::depth_pass`]. A view of another renderer shows nothing.
    pub fn draw_depth(&self, pass: &mut wgpu::RenderPass<'_>, view: View) {
        self.draw_pass(pass, view, Pass::Depth);
    }

    fn draw_pass(&self, pass: &mut wgpu::RenderPass<'_>, view: View, kind: Pass) {
        let again = view == View::REVEALED;
        let Some(on_device) = self.views.get(if again { View::MAIN.0 } else { view.0 }) else { return };
        pass.set_bind_group(0, &on_device.bind_group, &[]);
        for crowd in self.crowds.iter().filter_map(Weak::upgrade) {
            let Some(drawn) = crowd.drawn() else { continue };
            let model = &*crowd.model;
            for (number, run) in drawn.runs(Some(view)).enumerate() {
                let cached = model.geometry.bind_cached(pass, 1, &run);
                for (i, part) in crowd.parts.iter().enumerate() {
                    let pipelines = part.cached.as_ref().filter(|_| cached).unwrap_or(&part.pipelines);
                    pass.set_pipeline(pipelines.of(kind == Pass::Depth));
                    pass.set_bind_group(2, model.materials.get(part.mesh.material), &[]);
                    draw_part(pass, i, &part.mesh, &run);
                }
                if cached && !drawn.attached.is_empty() {
                    // They hang on bones.
                    model.geometry.bind(pass, 1, &run);
                }
                for attached in &drawn.attached {
                    attached.draw_in(pass, view, (number, &run), kind == Pass::Depth);
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
                    pass.set_pipeline(part.pipelines.of(kind == Pass::Depth));
                    pass.set_bind_group(2, model.materials.get(part.mesh.material), &[]);
                });
            }
        }
    }

    /// Layout of the bind group that [`crate::Field::draw_geometry`] sets; `None` for variants without an animation
    /// texture.
    pub fn field_layout(&self, variant: Variant) -> Option<&wgpu::BindGroupLayout> {
        self.layouts.field(variant)
    }

    /// Layout of the bind group that [`crate::Crowd::draw_geometry`] sets, for a game's own pipelines.
    pub fn model_layout(&self, variant: Variant) -> &wgpu::BindGroupLayout {
        self.layouts.model(variant)
    }

    /// Features of wgpu that are worth requesting where the adapter has them: with them a device reads the
    /// block-compressed textures of models, which take a quarter of the memory, and all levels of detail of a crowd are drawn
    /// by one call a part. No feature is needed.
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
    pub const OPTIONAL_FEATURES: wgpu::Features = textures::FEATURES.union(super::cull::TOGETHER);

    /// The textures of a material, for a game's own pipelines: base colour, occlusion-roughness-metallic, normals and
    /// emitted light. The factors that they are multiplied by stand in [`crate::Material`].
    ///
    /// The renderer itself shows the base colour alone; other textures are loaded when they are first asked for here, and
    /// kept as long as the model has a crowd.
    ///
    /// ```no_run
    /// # use gpuskin_rt::{wgpu, Crowd, CrowdRenderer, Error, Model, BakedModel, render::MaterialTextures};
    /// # fn load<Soldier: BakedModel>(renderer: &mut CrowdRenderer, crowd: &Crowd<Soldier>) -> Result<(), Error> {
    /// # let soldier: &'static Model = Soldier::MODEL;
    /// let materials: Vec<MaterialTextures> = (0..soldier.meta.materials.len() as u32)
    ///     .map(|material| renderer.material_textures(soldier, material))
    ///     .collect::<Result<_, _>>()?;
    /// // A bind group each, which `crowd.draw_geometry(pass, group, |pass, material| ...)` sets for the part that it draws.
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the model has no such material, a file is missing or of another bake, or the device reads none of the formats
    /// that a texture was baked to.
    pub fn material_textures(&mut self, model: &Model, material: u32) -> Result<MaterialTextures, Error> {
        let on_device = self.model(model)?;
        let meta = &model.meta;
        let Some(material) = meta.materials.get(material as usize) else {
            return Err(Error::model(&meta.name, format!("it has no material {material}")));
        };
        on_device.textures.of_material((&self.device, &self.queue), &mut self.samplers, model, material)
    }

    pub(crate) fn gpu(&self) -> (&wgpu::Device, &wgpu::Queue) {
        (&self.device, &self.queue)
    }

    /// Whether a crowd is one of this renderer's.
    pub(crate) fn draws(&self, crowd: &Arc<CrowdCore>) -> bool {
        self.crowds.iter().any(|own| core::ptr::eq(own.as_ptr(), Arc::as_ptr(crowd)))
    }

    /// A model on the device, and its parts, counted from its own first index, as another variant draws them.
    pub(crate) fn prop(&mut self, model: &Model, variant: Variant) -> Result<(Arc<GpuModel>, Vec<DrawnPart>), Error> {
        let played = playable(&self.device, model)?;
        let on_device = self.load(model, played)?;
        let parts = self.parts(&played.meta.mesh.parts, &on_device.surfaces, (variant, Instances::Records));
        Ok((on_device, parts))
    }

    /// Parts of a mesh, and what draws them.
    fn parts(&mut self, mesh: &[MeshPart], surfaces: &[Surface], text: (Variant, Instances)) -> Vec<DrawnPart> {
        let pipelines = surfaces.iter().map(|surface| self.pipelines.get(&self.layouts, text, *surface));
        let parts = mesh.iter().zip(pipelines);
        parts.map(|(mesh, pipelines)| DrawnPart { mesh: *mesh, pipelines, cached: None }).collect()
    }

    /// A field that this renderer draws.
    pub(crate) fn field<M>(&mut self, model: &Model, descriptor: &FieldDescriptor<M>) -> Result<Arc<FieldCore>, Error> {
        let played = textured(model).ok_or_else(|| not_textured(&model.meta))?;
        let on_device = self.load(model, played)?;
        let geometry = &on_device.geometry;
        on_device.materials.bind(&self.device, &self.layouts, geometry);
        let parts = self.parts(&geometry.parts, &on_device.surfaces, (geometry.variant, Instances::Field));
        let bind_group = |uniform: &wgpu::Buffer| geometry.with_field(&self.device, &self.layouts, uniform);
        let on_device = (on_device.clone(), parts);
        let core = Arc::new(FieldCore::new(&self.device, on_device, &played.meta, bind_group, descriptor)?);
        self.fields.push(Arc::downgrade(&core));
        Ok(core)
    }

    /// A crowd that this renderer draws.
    pub(crate) fn crowd(&mut self, model: &Model, descriptor: &CrowdDescriptor) -> Result<Arc<CrowdCore>, Error> {
        let played = match descriptor.path {
            Some(DrawPath::Direct) => textured(model).ok_or_else(|| not_direct(&model.meta))?,
            _ => playable(&self.device, model)?,
        };
        let on_device = self.load(model, played)?;
        let geometry = &on_device.geometry;
        let (name, clock) = (&model.meta.name, self.clock.clone());
        let shared = Sharing::of(&self.device, (played, geometry), self.seen_by.is_some(), descriptor)?;
        let mut parts = self.parts(&geometry.parts, &on_device.surfaces, (geometry.variant, Instances::Records));
        if matches!(shared.1, CacheState::On { .. }) {
            let cached = self.parts(&geometry.parts, &on_device.surfaces, (geometry.variant, Instances::Cached));
            parts.iter_mut().zip(cached).for_each(|(part, cached)| part.cached = Some(cached.pipelines));
        }
        let on_device = (on_device.clone(), parts);
        let core = Arc::new(CrowdCore::new(&self.device, on_device, name, clock, descriptor, shared)?);
        self.crowds.push(Arc::downgrade(&core));
        Ok(core)
    }

    /// The model on the device, shared by all of its crowds.
    fn model(&mut self, model: &Model) -> Result<Arc<GpuModel>, Error> {
        self.load(model, playable(&self.device, model)?)
    }

    /// The same of a model, or of itself in another encoding.
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
        let gpu = (&self.device, &self.queue);
        let sampled = (&mut self.samplers, &self.white);
        let materials = Materials::new(gpu, model, &textures, sampled)?;
        let surface = |part: &MeshPart| Surface::of(part, &meta.materials[part.material as usize]);
        let surfaces = geometry.parts.iter().map(surface).collect();
        let loaded = Arc::new(GpuModel { geometry, surfaces, materials, textures });
        self.models.insert(key, Arc::downgrade(&loaded));
        Ok(loaded)
    }
}

/// The model, or the same in another encoding, that stands in a texture.
fn textured(model: &Model) -> Option<&Model> {
    std::iter::once(model).chain(model.others.iter()).find(|model| !model.meta.encoding.needs_compute())
}

fn not_direct(meta: &Metadata) -> Error {
    let reason = format!(
        "path: `direct` reads poses from an animation texture, and it is baked to {} alone; add \"webgl2\" to `devices` for it \
         in gpuskin.toml, or name another encoding",
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
