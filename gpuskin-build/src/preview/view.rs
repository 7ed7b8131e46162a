//! `view`: one pose of a model, with its skeleton, masks, sockets and source.

mod gpu_shapes;
mod shapes;
mod surfaces;
#[cfg(feature = "view")]
mod window;

use std::path::Path;

use glam::{Vec2, Vec3};
use gpuskin_rt::internals::{
    Affine3, Camera, Crowd, CrowdDescriptor, CrowdRenderer, Dynamic, InstanceId, InstanceRecord, Metadata,
    RendererDescriptor, Time, compose,
};

use self::gpu_shapes::ShapeRenderer;
use self::shapes::{Color, Shapes};
use self::surfaces::Surface;
use super::canvas::Canvas;
use super::draw::{failed, guarded};
use super::framing::{Framing, Orbit};
use super::ground::Ground;
use super::options::{PreviewModel, SheetOptions};
use super::targets::{DEPTH, PICTURE_FORMAT, Picture, SAMPLES, Targets};
use crate::diagnostic::{Diagnostic, DiagnosticCode, Diagnostics, Label};
use crate::gpu::{self, Gpu};
use crate::manifest::Manifest;
use crate::suggest::{instead, quoted};
use crate::units::{digits, length};

#[cfg(feature = "view")]
pub(crate) use window::show;

const INK: Color = [0.02, 0.022, 0.03, 1.0];
const BONE: Color = [0.9, 0.75, 0.05, 1.0];
const JOINT: Color = [0.05, 0.05, 0.06, 1.0];
/// Colours of the axes of a socket: x, y, z.
const AXES: [Color; 3] = [[0.8, 0.03, 0.03, 1.0], [0.02, 0.5, 0.05, 1.0], [0.05, 0.15, 0.9, 1.0]];

/// Content of a picture of a model.
#[derive(Clone, Debug)]
pub struct ViewOptions {
    /// Encoding, parts, level of detail and camera. The first of `clips` is drawn; without one, the
    /// first clip of the model.
    pub sheet: SheetOptions,
    /// Time of the pose, in seconds from the start of the clip.
    pub time: f64,
    /// Speed of the clip in a window; 1 is the speed of the source.
    pub speed: f32,
    /// Whether bones are drawn, as lines to their parents.
    pub skeleton: bool,
    /// Whether the names of bones are drawn.
    pub names: bool,
    /// Whether sockets are drawn, as axes with names.
    pub sockets: bool,
    /// Whether the source model is drawn beside the baked one, evaluated in `f64`.
    pub source: bool,
    /// Name of a mask whose bones colour the model.
    pub mask: Option<String>,
}

impl Default for ViewOptions {
    fn default() -> Self {
        Self {
            sheet: SheetOptions::default(),
            time: 0.0,
            speed: 1.0,
            skeleton: false,
            names: false,
            sockets: false,
            source: false,
            mask: None,
        }
    }
}

/// Bakes a model, draws one pose of it, and writes the picture of `size` pixels as a PNG file.
/// Returns the warnings of the bake.
///
/// # Errors
/// If the model cannot be baked, it lacks what `options` name, there is no GPU, or the file cannot be
/// written.
pub fn view(
    manifest: &Manifest,
    model: &str,
    options: &ViewOptions,
    size: [u32; 2],
    out: &Path,
) -> Result<Diagnostics, Diagnostics> {
    let (model, warnings) = ViewModel::new(manifest, model, options)?;
    let state = ViewState::new(&model, options)?;
    let gpu = gpu::open()?;
    let device = gpu.device.clone();
    let most = device.limits().max_texture_dimension_2d;
    if size.iter().any(|edge| *edge > most) {
        let message = format!("the adapter draws pictures of at most {most} x {most} pixels");
        return Err(Diagnostic::error(DiagnosticCode::GpuFailed, message).help("choose a smaller size").into());
    }
    let draw = || {
        let mut scene = ViewScene::new(gpu, &model.preview, PICTURE_FORMAT, size)?;
        let picture = Picture::new(&device, size, 1);
        let mut encoder = scene.draw(&model, &state, &picture.view, &[])?;
        picture.copy(&mut encoder, 0);
        scene.queue.submit([encoder.finish()]);
        let mut canvas = Canvas::new(size[0], size[1], [0; 3]);
        picture.read(&device, |bytes, stride| canvas.blit([0; 2], size, bytes, stride))?;
        Ok(canvas)
    };
    let canvas = guarded(&device, draw).map_err(|diagnostic| diagnostic.within(Label::model(model.name())))?;
    canvas.write(out)?;
    Ok(warnings)
}

/// A baked model with the bones that are sockets.
struct ViewModel {
    preview: PreviewModel,
    /// Whether each bone is a socket.
    sockets: Vec<bool>,
}

impl ViewModel {
    fn new(manifest: &Manifest, name: &str, options: &ViewOptions) -> Result<(Self, Diagnostics), Diagnostics> {
        let (preview, warnings) = PreviewModel::new(manifest, name, options.sheet.encoding, &options.sheet)?;
        let entry = manifest.models.iter().find(|entry| entry.name.value == name);
        let is_socket = |bone: &str| entry.is_some_and(|entry| entry.sockets.iter().any(|s| s.value == bone));
        let sockets = preview.meta().bones.iter().map(|bone| is_socket(&bone.name)).collect();
        Ok((Self { preview, sockets }, warnings))
    }

    fn meta(&self) -> &Metadata {
        self.preview.meta()
    }

    fn name(&self) -> &str {
        &self.meta().name
    }

    /// Returns the bone-to-model transforms of an instance; none in vertex mode.
    fn bones(&self, record: &InstanceRecord) -> Vec<Affine3> {
        if self.meta().encoding.is_vertex() {
            return Vec::new();
        }
        let trace = self.preview.baked.trace();
        let pose =
            self.preview.baked.texels(&self.preview.runtime).pose(record.pose_blend(&trace.plan.records, Time::ZERO));
        let bind = |bone: usize| Affine3 { rows: self.meta().bones[bone].bind.map(Into::into) };
        pose.iter().enumerate().map(|(bone, skinning)| compose(skinning, &bind(bone))).collect()
    }
}

/// Contents of a picture; keys of the window change it.
#[derive(Clone, Debug)]
struct ViewState {
    clip: usize,
    time: f64,
    lod: usize,
    orbit: Orbit,
    /// Magnification; 1 shows the whole model.
    zoom: f32,
    skeleton: bool,
    names: bool,
    sockets: bool,
    source: bool,
    mask: Option<usize>,
}

impl ViewState {
    fn new(model: &ViewModel, options: &ViewOptions) -> Result<Self, Diagnostic> {
        let masks = || model.meta().masks.iter().map(|mask| &*mask.name);
        let find = |name: &String| {
            masks().position(|mask| mask == name).ok_or_else(|| {
                Diagnostic::error(DiagnosticCode::PreviewMask, format!("mask {} not found", quoted(name)))
                    .within(Label::model(model.name()))
                    .help(instead(name, masks()))
            })
        };
        let ViewOptions { sheet, time, skeleton, names, sockets, source, .. } = options;
        Ok(Self {
            clip: model.preview.clips.first().copied().unwrap_or(0),
            time: *time,
            lod: sheet.lod,
            orbit: sheet.camera,
            zoom: 1.0,
            skeleton: *skeleton,
            names: *names,
            sockets: *sockets,
            source: *source,
            mask: options.mask.as_ref().map(find).transpose()?,
        })
    }
}

/// A model on a device, ready to be drawn.
struct ViewScene {
    device: wgpu::Device,
    queue: wgpu::Queue,
    renderer: CrowdRenderer,
    crowd: Crowd<Dynamic>,
    actor: InstanceId,
    ground: Ground,
    shapes: ShapeRenderer,
    #[cfg(feature = "view")]
    format: wgpu::TextureFormat,
    targets: Targets,
    size: [u32; 2],
}

impl ViewScene {
    fn new(gpu: Gpu, model: &PreviewModel, format: wgpu::TextureFormat, size: [u32; 2]) -> Result<Self, Diagnostic> {
        let Gpu { device, queue } = gpu;
        let descriptor = RendererDescriptor {
            color_format: format,
            depth_format: Some(DEPTH),
            sample_count: SAMPLES,
            ..Default::default()
        };
        let mut renderer = CrowdRenderer::new(&device, &queue, descriptor).map_err(failed)?;
        let crowd = CrowdDescriptor { capacity: 1, ..Default::default() };
        let crowd = Crowd::with_model(&mut renderer, &model.runtime, crowd).map_err(failed)?;
        let actor = crowd.spawn(model.instance(0, Vec3::ZERO));
        let ground = Ground::new(&device, format, DEPTH, SAMPLES);
        let shapes = ShapeRenderer::new(&device, format);
        let targets = Targets::new(&device, format, size);
        Ok(Self {
            device,
            queue,
            renderer,
            crowd,
            actor,
            ground,
            shapes,
            #[cfg(feature = "view")]
            format,
            targets,
            size,
        })
    }

    #[cfg(feature = "view")]
    fn resize(&mut self, size: [u32; 2]) {
        if self.size != size {
            self.targets = Targets::new(&self.device, self.format, size);
            self.size = size;
        }
    }

    /// Records a picture, with lines of text at its lower left corner.
    fn draw(
        &mut self,
        model: &ViewModel,
        state: &ViewState,
        target: &wgpu::TextureView,
        help: &[&str],
    ) -> Result<wgpu::CommandEncoder, Diagnostic> {
        let (framing, spacing) = self.framing(model.meta(), state);
        let camera = framing.camera();
        let [right, ..] = framing.axes();
        let instance = model.preview.instance(state.clip, -right * spacing).seek(state.time).speed(0.0);
        let record = instance.record(model.meta(), Time::ZERO);
        self.crowd.set(self.actor, instance).map_err(|stale| failed(stale.into()))?;

        let mut surfaces = Vec::new();
        if let Some(mask) = state.mask.and_then(|mask| model.meta().masks.get(mask)) {
            surfaces.push(Surface::mask(&model.preview, mask, &record, state.lod));
        }
        if state.source {
            surfaces.push(Surface::source(&model.preview, state.clip, state.time, right * spacing));
        }
        let mut shapes = Shapes::new(self.size);
        draw_bones(&mut shapes, model, state, &record, |point| framing.pixel(point, self.size));
        self.draw_texts(&mut shapes, model, state, help);

        let height = model.preview.camera_height(state.lod, framing.half[1]);
        let camera = Camera { height, ..camera };
        let mut encoder = self.device.create_command_encoder(&Default::default());
        self.renderer.prepare(&self.queue, &mut encoder, &camera, Time::ZERO).map_err(failed)?;
        self.ground.place(&self.queue, &framing, &camera);
        let buffers = self.shapes.upload(&self.device, &self.queue, &camera, &surfaces, &shapes);
        {
            let mut pass = self.targets.begin(&mut encoder, target);
            self.renderer.draw(&mut pass);
            self.shapes.draw_surfaces(&mut pass, &buffers);
            self.ground.draw(&mut pass);
            self.shapes.draw_shapes(&mut pass, &buffers);
        }
        Ok(encoder)
    }

    /// Returns the view, and the distance of each model from its centre if there are two.
    fn framing(&self, meta: &Metadata, state: &ViewState) -> (Framing, f32) {
        let bounds = meta.clips.get(state.clip).map_or(&meta.bounds, |clip| &clip.bounds);
        let [min, max] = [bounds.min, bounds.max].map(Vec3::from);
        let radius = 0.5 * (max - min).length();
        let sound = radius.is_finite() && radius > f32::MIN_POSITIVE;
        let (center, radius) = if sound { (min.midpoint(max), radius) } else { (Vec3::ZERO, 1.0) };
        let spacing = if state.source { 0.7 * radius } else { 0.0 };
        let aspect = self.size[0] as f32 / self.size[1].max(1) as f32;
        // Two models side by side need more room across than one.
        let radius = if state.source { radius * (1.7 / aspect.max(1.0)).max(1.0) } else { radius };
        (Framing::sphere(center, radius / state.zoom, min.y.min(0.0), state.orbit, aspect), spacing)
    }

    fn draw_texts(&self, shapes: &mut Shapes, model: &ViewModel, state: &ViewState, help: &[&str]) {
        let meta = model.meta();
        let scale = if self.size[1] >= 900 { 2.0 } else { 1.0 };
        let mut line = |index: f32, text: &str| {
            let y = if index < 0.0 { self.size[1] as f32 } else { 12.0 };
            shapes.text(Vec2::new(12.0, y + 13.0 * scale * index), scale, INK, text);
        };
        line(0.0, &format!("{}   {}", meta.name, meta.encoding.name()));
        if let Some(clip) = meta.clips.get(state.clip) {
            let number = format!("clip {} of {}", state.clip + 1, meta.clips.len());
            let wraps = if clip.looped { "loops" } else { "once" };
            line(1.0, &format!("{}   \"{}\"   {number}   {wraps}", clip.name, clip.source));
            let error = length(clip.encoding_error.max);
            line(2.0, &format!("{:.3} of {} s   error {error}", state.time, digits(clip.duration)));
        }
        let triangles = surfaces::indices(&model.preview, state.lod).len() / 3;
        let levels = meta.mesh.levels.len();
        line(3.0, &format!("level of detail {} of 0 to {levels}   {triangles} triangles", state.lod));
        if let Some(mask) = state.mask.and_then(|mask| meta.masks.get(mask)) {
            line(4.0, &format!("mask {}", mask.name));
        }
        for (index, text) in help.iter().rev().enumerate() {
            line(-1.5 - index as f32, text);
        }
        if state.source {
            let y = self.size[1] as f32 * 0.9;
            for (x, text) in [(0.3, "baked"), (0.7, "source")] {
                let half = 0.5 * scale * super::font::width(text) as f32;
                shapes.text(Vec2::new(x * self.size[0] as f32 - half, y), scale, INK, text);
            }
        }
    }
}

/// Draws skeleton, names and sockets. `pixel` returns the position of a point of the world.
fn draw_bones(
    shapes: &mut Shapes,
    model: &ViewModel,
    state: &ViewState,
    record: &InstanceRecord,
    pixel: impl Fn(Vec3) -> Vec2,
) {
    if !(state.skeleton || state.names || state.sockets) {
        return;
    }
    let meta = model.meta();
    let to_world = record.matrix();
    let bones = model.bones(record);
    let bones: Vec<Affine3> = bones.iter().take(meta.placed_bones()).map(|bone| compose(&to_world, bone)).collect();
    let at = |bone: usize| pixel(bones[bone].origin());
    if state.skeleton {
        for (bone, info) in meta.bones.iter().enumerate().take(bones.len()) {
            if let Some(parent) = info.parent {
                shapes.line(at(parent as usize), at(bone), 3.0, BONE);
            }
        }
        (0..bones.len()).for_each(|bone| shapes.dot(at(bone), 5.0, JOINT));
    }
    if state.sockets {
        let edge = 0.06 * (Vec3::from(meta.bounds.max) - Vec3::from(meta.bounds.min)).length();
        for (bone, transform) in bones.iter().enumerate().filter(|(bone, _)| model.sockets[*bone]) {
            for (axis, color) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().zip(AXES) {
                let tip = transform.origin() + transform.direction(axis).normalize_or_zero() * edge;
                shapes.line(at(bone), pixel(tip), 3.0, color);
            }
            shapes.text(at(bone) + Vec2::new(8.0, 6.0), 1.0, INK, &meta.bones[bone].name);
        }
    }
    if state.names {
        for (bone, info) in meta.bones.iter().enumerate().take(bones.len()) {
            shapes.text(at(bone) + Vec2::new(6.0, -4.0), 1.0, INK, &info.name);
        }
    }
}
