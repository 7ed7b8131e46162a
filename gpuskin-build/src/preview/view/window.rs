//! Window that shows a model until it is closed.

use std::f32::consts::{FRAC_PI_2, TAU};
use std::sync::Arc;
use std::time::Instant;

use winit::application::ApplicationHandler;
use winit::dpi::{PhysicalPosition, PhysicalSize};
use winit::event::{ElementState, KeyEvent, MouseButton, MouseScrollDelta, WindowEvent};
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::keyboard::{KeyCode, PhysicalKey};
use winit::window::{Window, WindowId};

use super::{Diagnostic, DiagnosticCode, Diagnostics, Gpu, Manifest, ViewModel, ViewOptions, ViewScene, ViewState};
use crate::gpu;
use crate::preview::framing::Orbit;

/// Radians per pixel that the mouse is dragged.
const DRAG: f32 = 0.008;
/// Factor per step of the mouse wheel, and its limits.
const ZOOM: f32 = 1.15;
const ZOOM_RANGE: [f32; 2] = [0.1, 100.0];
/// Speeds that the keys choose.
const SPEEDS: [f32; 7] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0];
/// Seconds by which a key moves a paused clip.
const STEP: f64 = 1.0 / 60.0;

const HELP: [&str; 3] = [
    "drag: turn   wheel: zoom   R: reset   Esc: quit   H: hide this help",
    "left/right: clip   up/down: speed   space: pause   , .: step   D: level of detail",
    "K: skeleton   N: names   S: sockets   M: mask   O: source beside baked",
];

/// Bakes a model and shows it in a window of `size` pixels until the window is closed. Returns the
/// warnings of the bake.
///
/// # Errors
/// If the model cannot be baked, it lacks what `options` name, or there is no window or GPU.
pub(crate) fn show(
    manifest: &Manifest,
    model: &str,
    options: &ViewOptions,
    size: [u32; 2],
) -> Result<Diagnostics, Diagnostics> {
    if !has_display() {
        return Err(no_window("neither DISPLAY nor WAYLAND_DISPLAY is set").into());
    }
    let (model, warnings) = ViewModel::new(manifest, model, options)?;
    let start = ViewState::new(&model, options)?;
    let speed = if options.speed.is_finite() { options.speed } else { 1.0 };
    let mut viewer =
        Viewer { state: start.clone(), start, speed, model, size, paused: false, help: true, open: None, failed: None };
    let events = EventLoop::new().map_err(|error| no_window(&error.to_string()))?;
    events.run_app(&mut viewer).map_err(|error| no_window(&error.to_string()))?;
    viewer.failed.map_or(Ok(warnings), |failed| Err(failed.into()))
}

fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

fn no_window(reason: &str) -> Diagnostic {
    Diagnostic::error(DiagnosticCode::ViewWindow, format!("no window can be opened: {reason}"))
        .help("pass --out FILE.png to write a picture instead")
}

/// The model, what is shown of it, and the window once it is open.
struct Viewer {
    model: ViewModel,
    state: ViewState,
    /// State after a reset.
    start: ViewState,
    speed: f32,
    paused: bool,
    help: bool,
    size: [u32; 2],
    open: Option<OpenWindow>,
    failed: Option<Diagnostic>,
}

struct OpenWindow {
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    adapter: wgpu::Adapter,
    format: wgpu::TextureFormat,
    scene: ViewScene,
    last: Instant,
    /// Position of the mouse, and whether its button is down.
    mouse: PhysicalPosition<f64>,
    dragging: bool,
}

impl OpenWindow {
    fn new(events: &ActiveEventLoop, model: &ViewModel, [width, height]: [u32; 2]) -> Result<Self, Diagnostic> {
        let title = format!("gpuskin view: {}", model.name());
        let attributes =
            Window::default_attributes().with_title(title).with_inner_size(PhysicalSize::new(width, height));
        let window = Arc::new(events.create_window(attributes).map_err(|error| no_window(&error.to_string()))?);
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_with_display_handle_from_env(Box::new(
            events.owned_display_handle(),
        )));
        let surface = instance.create_surface(window.clone()).map_err(|error| no_window(&error.to_string()))?;
        let (adapter, gpu) = gpu::open_on(&instance, Some(&surface))?;
        let formats = surface.get_capabilities(&adapter).formats;
        let format = formats.iter().copied().find(|format| format.is_srgb()).or(formats.first().copied());
        let format = format.ok_or_else(|| no_window("its surface supports no texture format"))?;
        let PhysicalSize { width, height } = window.inner_size();
        let scene = ViewScene::new(Gpu::clone(&gpu), &model.preview, format, [width.max(1), height.max(1)])?;
        let mut open = Self {
            window,
            surface,
            adapter,
            format,
            scene,
            last: Instant::now(),
            mouse: PhysicalPosition::default(),
            dragging: false,
        };
        open.configure();
        Ok(open)
    }

    fn configure(&mut self) {
        let PhysicalSize { width, height } = self.window.inner_size();
        if let (1.., 1..) = (width, height)
            && let Some(mut config) = self.surface.get_default_config(&self.adapter, width, height)
        {
            config.format = self.format;
            self.surface.configure(&self.scene.device, &config);
            self.scene.resize([width, height]);
        }
    }

    fn draw(&mut self, model: &ViewModel, state: &ViewState, help: &[&str]) -> Result<(), Diagnostic> {
        let (frame, outdated) = match self.surface.get_current_texture() {
            wgpu::CurrentSurfaceTexture::Success(frame) => (frame, false),
            wgpu::CurrentSurfaceTexture::Suboptimal(frame) => (frame, true),
            wgpu::CurrentSurfaceTexture::Timeout | wgpu::CurrentSurfaceTexture::Occluded => return Ok(()),
            _ => {
                self.configure();
                return Ok(());
            }
        };
        self.scene.resize([frame.texture.width(), frame.texture.height()]);
        let target = frame.texture.create_view(&Default::default());
        let encoder = self.scene.draw(model, state, &target, help)?;
        self.scene.queue.submit([encoder.finish()]);
        self.scene.queue.present(frame);
        if outdated {
            self.configure();
        }
        Ok(())
    }
}

impl ApplicationHandler for Viewer {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.open.is_none() {
            match OpenWindow::new(events, &self.model, self.size) {
                Ok(open) => self.open = Some(open),
                Err(failed) => self.fail(events, failed),
            }
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(open) = &mut self.open else { return };
        match event {
            WindowEvent::CloseRequested => events.exit(),
            WindowEvent::Resized(_) => open.configure(),
            WindowEvent::MouseInput { state, button: MouseButton::Left, .. } => {
                open.dragging = state == ElementState::Pressed;
            }
            WindowEvent::CursorMoved { position, .. } => {
                let [x, y] = [position.x - open.mouse.x, position.y - open.mouse.y].map(|pixels| pixels as f32 * DRAG);
                open.mouse = position;
                if open.dragging {
                    self.state.orbit = turned(self.state.orbit, -x, y);
                }
            }
            WindowEvent::MouseWheel { delta, .. } => {
                let steps = match delta {
                    MouseScrollDelta::LineDelta(_, lines) => lines,
                    MouseScrollDelta::PixelDelta(pixels) => pixels.y as f32 / 40.0,
                };
                let [least, most] = ZOOM_RANGE;
                self.state.zoom = (self.state.zoom * ZOOM.powf(steps)).clamp(least, most);
            }
            WindowEvent::KeyboardInput {
                event: KeyEvent { physical_key: PhysicalKey::Code(key), state: ElementState::Pressed, .. },
                ..
            } => match key {
                KeyCode::Escape => events.exit(),
                key => self.press(key),
            },
            WindowEvent::RedrawRequested => {
                if let Err(failed) = self.draw() {
                    self.fail(events, failed);
                }
            }
            _ => {}
        }
    }
}

impl Viewer {
    fn draw(&mut self) -> Result<(), Diagnostic> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let elapsed = open.last.elapsed().as_secs_f64();
        open.last = Instant::now();
        if !self.paused {
            self.state.time += elapsed * f64::from(self.speed);
        }
        self.state.time = wrapped(self.state.time, duration(&self.model, self.state.clip));
        let speed = format!("speed {}{}", self.speed, if self.paused { "   paused" } else { "" });
        let mut lines = vec![speed.as_str()];
        lines.extend(HELP.iter().filter(|_| self.help));
        open.draw(&self.model, &self.state, &lines)?;
        open.window.request_redraw();
        Ok(())
    }

    fn press(&mut self, key: KeyCode) {
        let meta = self.model.meta();
        let (clips, state) = (meta.clips.len(), &mut self.state);
        match key {
            KeyCode::ArrowRight | KeyCode::ArrowLeft if clips > 0 => {
                let step = if key == KeyCode::ArrowRight { 1 } else { clips - 1 };
                (state.clip, state.time) = ((state.clip + step) % clips, 0.0);
            }
            KeyCode::ArrowUp => self.speed = SPEEDS.into_iter().find(|s| *s > self.speed).unwrap_or(self.speed),
            KeyCode::ArrowDown => {
                self.speed = SPEEDS.into_iter().rev().find(|s| *s < self.speed).unwrap_or(self.speed);
            }
            KeyCode::Space => self.paused = !self.paused,
            KeyCode::Period => (self.paused, state.time) = (true, state.time + STEP),
            KeyCode::Comma => (self.paused, state.time) = (true, state.time - STEP),
            KeyCode::KeyD => state.lod = (state.lod + 1) % (meta.mesh.levels.len() + 1),
            KeyCode::KeyK => state.skeleton = !state.skeleton,
            KeyCode::KeyN => state.names = !state.names,
            KeyCode::KeyS => state.sockets = !state.sockets,
            KeyCode::KeyO => state.source = !state.source,
            KeyCode::KeyM => state.mask = next_mask(state.mask, meta.masks.len()),
            KeyCode::KeyH => self.help = !self.help,
            KeyCode::KeyR => *state = ViewState { clip: state.clip, ..self.start.clone() },
            _ => {}
        }
    }

    fn fail(&mut self, events: &ActiveEventLoop, failed: Diagnostic) {
        self.failed = Some(failed);
        events.exit();
    }
}

/// Returns the orbit after a turn by angles in radians.
fn turned(orbit: Orbit, yaw: f32, pitch: f32) -> Orbit {
    Orbit { yaw: (orbit.yaw + yaw).rem_euclid(TAU), pitch: (orbit.pitch + pitch).clamp(-FRAC_PI_2, FRAC_PI_2) }
}

/// Returns the mask after `mask`: none, then all in turn.
fn next_mask(mask: Option<usize>, masks: usize) -> Option<usize> {
    let next = mask.map_or(0, |mask| mask + 1);
    (next < masks).then_some(next)
}

fn duration(model: &ViewModel, clip: usize) -> f64 {
    model.meta().clips.get(clip).map_or(0.0, |clip| clip.duration)
}

/// Returns a time within a clip that repeats, also if it plays once in a game.
fn wrapped(time: f64, duration: f64) -> f64 {
    if duration > 0.0 && time.is_finite() { time.rem_euclid(duration) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_mouse_stay_within_limits() {
        assert_eq!([None, Some(0), Some(1)].map(|mask| next_mask(mask, 2)), [Some(0), Some(1), None]);
        assert_eq!(next_mask(None, 0), None);
        assert_eq!([-0.25, 0.5, 2.5, f64::NAN].map(|time| wrapped(time, 1.0)), [0.75, 0.5, 0.5, 0.0]);
        assert_eq!(wrapped(3.0, 0.0), 0.0);
        let orbit = turned(Orbit { yaw: 0.1, pitch: 1.5 }, -0.2, 1.0);
        assert!((orbit.yaw - (TAU - 0.1)).abs() < 1e-6 && orbit.pitch == FRAC_PI_2, "{orbit:?}");
    }
}
