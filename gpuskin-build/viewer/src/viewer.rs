//! The class that the page's script uses.

use std::cell::RefCell;

use glam::Vec3;
use gpuskin_rt::{Camera, CrowdRenderer, RendererDescriptor, wgpu};
use wasm_bindgen::prelude::*;
use web_sys::HtmlCanvasElement;

use crate::gpu::{DEPTH, Gpu, SAMPLES};
use crate::lines::Lines;
use crate::subject::{Overlays, Shown, Subject};

/// Vertical field of view, radians.
const FOV_Y: f32 = 0.6;
/// Factor by which a level is drawn beyond its distance, so that rounding does not draw a finer one.
const MARGIN: f32 = 1.002;
/// Linear RGB.
const BACKGROUND: [f32; 3] = [0.075, 0.082, 0.095];

/// Draws a model on a canvas.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Viewer {
    gpu: Gpu,
    renderer: CrowdRenderer,
    lines: Lines,
    subject: Option<Subject>,
}

/// A frame: camera, time and options.
#[wasm_bindgen]
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    /// Size of the canvas, pixels.
    pub width: u32,
    /// Size of the canvas, pixels.
    pub height: u32,
    /// Index of the clip.
    pub clip: usize,
    /// Time since the start of the clip. Looping clips loop.
    pub seconds: f64,
    /// Direction from the model's centre to the camera: around y from +z, radians.
    pub yaw: f32,
    /// Direction from the model's centre to the camera: upwards, radians.
    pub pitch: f32,
    /// Least distance of the camera from the model's centre, metres.
    pub distance: f32,
    /// Level of detail.
    pub level: usize,
    /// Whether the camera is at least as far away as where the level is drawn: where its error is a pixel.
    pub far: bool,
    /// Bits: 1 bones, 2 bounds, 4 grid, 8 path of root motion, 16 sockets.
    pub overlays: u32,
    /// Content of the picture, if the model has it: 0 the baked model, 1 the errors of its vertices at the frames of the clip, 2 the
    /// source, 3 the difference of the source, 4 and up the masks.
    pub shown: u32,
    /// Factor by which the difference of the source displaces vertices.
    pub factor: f32,
    /// Difference that has the brightest colour, metres; 0 for the greatest one of the frame.
    pub brightest: f32,
}

#[wasm_bindgen]
impl Frame {
    /// Creates a frame with all fields zero.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }
}

#[wasm_bindgen]
impl Viewer {
    /// Opens a device for a canvas.
    ///
    /// # Errors
    /// A text that says why there is no device.
    pub async fn open(canvas: HtmlCanvasElement) -> Result<Viewer, JsValue> {
        let gpu = Gpu::open(canvas).await?;
        let descriptor = RendererDescriptor {
            color_format: gpu.format,
            depth_format: Some(DEPTH),
            sample_count: SAMPLES,
            ..Default::default()
        };
        let renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor).map_err(|error| error.to_string())?;
        let lines = Lines::new(&gpu);
        Ok(Self { gpu, renderer, lines, subject: None })
    }

    /// Replaces the model.
    ///
    /// # Errors
    /// A text that says why the model cannot be drawn. Nothing is drawn then.
    pub fn show(&mut self, model: &[u8]) -> Result<(), JsValue> {
        self.subject = None;
        self.subject = Some(Subject::new(&mut self.renderer, model)?);
        Ok(())
    }

    /// Diagonal of the box around everything that the model reaches in a clip, metres.
    pub fn diagonal(&self, clip: usize) -> f32 {
        self.subject.as_ref().map_or(1.0, |subject| subject.bounds(clip).diagonal())
    }

    /// Whether the report has the source's poses of the model.
    pub fn has_source(&self) -> bool {
        self.subject.as_ref().is_some_and(Subject::has_source)
    }

    /// Whether the model has sockets.
    pub fn has_sockets(&self) -> bool {
        self.subject.as_ref().is_some_and(Subject::has_sockets)
    }

    /// Draws a frame. Returns four lengths in metres: the distance of the camera from the model's centre, the distance
    /// from which the level is drawn, the length that the brightest colour shows, and the greatest difference of the source;
    /// -1 if the baked model or a mask is shown.
    ///
    /// # Errors
    /// A text, if the device is lost or reported an error.
    pub fn draw(&mut self, frame: &Frame) -> Result<Vec<f32>, JsValue> {
        Ok(self.draw_and(frame, |_, _| {})?)
    }

    /// Draws a frame, and gives the picture to `after`. Returns what [`Viewer::draw`] returns.
    fn draw_and(
        &mut self,
        frame: &Frame,
        after: impl FnOnce(&mut wgpu::CommandEncoder, &wgpu::Texture),
    ) -> Result<Vec<f32>, String> {
        self.gpu.check()?;
        self.gpu.resize([frame.width, frame.height]);
        let Some(subject) = &mut self.subject else { return Ok(Vec::new()) };
        let overlays = Overlays(frame.overlays);
        subject.play(frame.clip, frame.seconds, overlays);
        let (sin, cos) = frame.pitch.sin_cos();
        let direction = Vec3::new(frame.yaw.sin() * cos, sin, frame.yaw.cos() * cos);
        let centre = subject.centre(frame.clip, frame.seconds);
        let aspect = frame.width.max(1) as f32 / frame.height.max(1) as f32;
        // The runtime measures a level's error where the box around the instance is nearest to the camera.
        let extent = subject.depth(centre, direction, frame.seconds);
        let error = subject.level_error(frame.level);
        let pixel = 2.0 * (0.5 * FOV_Y).tan() / frame.height.max(1) as f32;
        let own = error / pixel * MARGIN + extent;
        let distance = if frame.far { frame.distance.max(own) } else { frame.distance };
        // Nearer, the level is that of a picture with fewer pixels.
        let lod_height = match error > 0.0 {
            true => frame.height as f32 * ((distance - extent) * pixel / error / MARGIN).clamp(1e-6, 1.0),
            false => 0.0,
        };
        let (near, far) = (0.02 * distance, 20.0 * distance);
        let eye = centre + distance * direction;
        let camera = Camera::perspective_look_at(eye, centre, FOV_Y, aspect, near, far);
        let [hidden, seen] = subject.lines(frame.seconds, overlays);
        self.lines.prepare(&self.gpu, &camera.view_proj, &hidden, &seen);
        let camera = Camera { height: lod_height, ..camera };
        let shown = match frame.shown {
            0 => Shown::Baked,
            1 => Shown::Errors,
            2 => Shown::Source,
            3 => Shown::Difference { factor: frame.factor, brightest: frame.brightest },
            more => Shown::Mask(more as usize - 4),
        };
        let shown = subject.prepare_surface(&self.gpu, &mut self.renderer, (&camera, eye), frame.seconds, shown)?;
        let subject = &*subject;
        let (gpu, renderer, lines) = (&self.gpu, &mut self.renderer, &self.lines);
        let drawn = RefCell::new(renderer);
        gpu.frame(
            BACKGROUND,
            |encoder| {
                let mut renderer = drawn.borrow_mut();
                renderer.prepare(&gpu.queue, encoder, &camera, frame.seconds).map_err(|error| error.to_string())
            },
            |pass| {
                match shown {
                    Some(_) => subject.draw_surface(pass),
                    None => drawn.borrow().draw(pass),
                }
                lines.draw(pass);
            },
            after,
        )?;
        let [brightest, difference] = shown.map_or([-1.0; 2], |facts| [facts.brightest, facts.difference]);
        Ok(vec![distance, own, brightest, difference])
    }

    /// Draws a frame and returns its pixels: 4 bytes each, row by row, in the order of the canvas's format.
    ///
    /// # Errors
    /// As [`Viewer::draw`].
    pub fn pixels(&mut self, frame: &Frame) -> Result<js_sys::Promise, JsValue> {
        let (width, height) = (frame.width, frame.height);
        let stride = (4 * width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = self.gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("pixels"),
            size: u64::from(stride) * u64::from(height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        self.draw_and(frame, |encoder, picture| copy(encoder, picture, &buffer, stride))?;
        Ok(js_sys::Promise::new(&mut |resolve, reject| {
            let mapped = buffer.clone();
            buffer.map_async(wgpu::MapMode::Read, .., move |result| {
                let text = |error: &dyn std::fmt::Display| error.to_string();
                let bytes = result.map_err(|error| text(&error));
                let bytes = bytes.and_then(|()| mapped.get_mapped_range(..).map_err(|error| text(&error)));
                let answered = match bytes {
                    Ok(bytes) => {
                        let rows = bytes.chunks(stride as usize);
                        let rows: Vec<u8> = rows.flat_map(|row| row[..4 * width as usize].iter().copied()).collect();
                        resolve.call1(&JsValue::NULL, &js_sys::Uint8Array::from(&rows[..]))
                    }
                    Err(error) => reject.call1(&JsValue::NULL, &error.into()),
                };
                drop(answered);
            });
        }))
    }
}

fn copy(encoder: &mut wgpu::CommandEncoder, picture: &wgpu::Texture, buffer: &wgpu::Buffer, stride: u32) {
    encoder.copy_texture_to_buffer(
        picture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer,
            layout: wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(stride), rows_per_image: None },
        },
        picture.size(),
    );
}
