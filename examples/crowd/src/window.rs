//! Window: the camera swings in front of the field until the user steers it.

use std::sync::Arc;
use std::time::Instant;

use gpuskin_rt::{LoadError, wgpu};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{DeviceEvent, DeviceId, ElementState, KeyEvent, WindowEvent};
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::keyboard::{KeyCode, PhysicalKey};
use winit::window::{Window, WindowId};

use crate::Error;
use crate::frame::Stage;
use crate::gpu::Gpu;
use crate::pilot::Pilot;
use crate::reload::{Models, Watch};

/// Whether a window can be opened.
pub fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

/// Shows the scene until the window is closed. With `watch`, loads the models of the watched folder
/// whenever they change.
///
/// # Errors
/// Returns an error if there is no window or no device.
pub fn run(count: u32, size: [u32; 2], watch: Option<Watch>) -> Result<(), Error> {
    let mut game = Game { count, size, watch, shown: None, failed: None };
    EventLoop::new()?.run_app(&mut game)?;
    game.failed.map_or(Ok(()), Err)
}

struct Game {
    count: u32,
    size: [u32; 2],
    watch: Option<Watch>,
    shown: Option<Shown>,
    failed: Option<Error>,
}

/// Window with its device, scene and camera.
struct Shown {
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    format: wgpu::TextureFormat,
    gpu: Gpu,
    stage: Stage,
    pilot: Pilot,
    began: Instant,
    last: Instant,
    /// Frames since the title was set, and the time at which it was set.
    titled: (u32, Instant),
}

impl Shown {
    fn new(events: &ActiveEventLoop, count: u32, size: [u32; 2]) -> Result<Self, Error> {
        let attributes =
            Window::default_attributes().with_title("gpuskin").with_inner_size(PhysicalSize::new(size[0], size[1]));
        let window = Arc::new(events.create_window(attributes)?);
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_with_display_handle_from_env(Box::new(
            events.owned_display_handle(),
        )));
        let surface = instance.create_surface(window.clone())?;
        let gpu = Gpu::open(&instance, Some(&surface))?;
        println!("{}\n{count} instances\ndrag to look, WASD and QE to fly (Shift: faster), Esc quits", gpu.name());
        let formats = surface.get_capabilities(&gpu.adapter).formats;
        let format = formats.iter().copied().find(|f| f.is_srgb()).or(formats.first().copied());
        let format = format.ok_or("the window's surface supports no texture format")?;
        let stage = Stage::new(&gpu.device, &gpu.queue, format, count)?;
        let now = Instant::now();
        let shown = Self {
            window,
            surface,
            format,
            gpu,
            stage,
            pilot: Pilot::default(),
            began: now,
            last: now,
            titled: (0, now),
        };
        shown.configure();
        Ok(shown)
    }

    fn configure(&self) {
        let PhysicalSize { width, height } = self.window.inner_size();
        if let (1.., 1..) = (width, height)
            && let Some(mut config) = self.surface.get_default_config(&self.gpu.adapter, width, height)
        {
            config.format = self.format;
            self.surface.configure(&self.gpu.device, &config);
        }
    }

    /// Replaces the models. Keeps the old ones and prints the error if the new files are broken.
    fn reload(&mut self, changed: Result<Models, LoadError>) {
        match changed.map_err(Error::from).and_then(|models| self.stage.reload(&models)) {
            Ok(()) => println!("models reloaded"),
            Err(error) => eprintln!("models not reloaded: {error}"),
        }
    }

    fn draw(&mut self) -> Result<(), Error> {
        let (frame, outdated) = match self.surface.get_current_texture() {
            wgpu::CurrentSurfaceTexture::Success(frame) => (frame, false),
            wgpu::CurrentSurfaceTexture::Suboptimal(frame) => (frame, true),
            wgpu::CurrentSurfaceTexture::Timeout | wgpu::CurrentSurfaceTexture::Occluded => return Ok(()),
            _ => {
                self.configure();
                return Ok(());
            }
        };
        let now = Instant::now();
        self.pilot.advance((now - self.last).as_secs_f32());
        self.last = now;
        let aspect = frame.texture.width() as f32 / frame.texture.height().max(1) as f32;
        let time = (now - self.began).as_secs_f64();
        self.stage.draw(&self.gpu.device, &self.gpu.queue, &frame.texture, &self.pilot.camera(aspect), time)?;
        self.gpu.queue.present(frame);
        if outdated {
            self.configure();
        }

        let (frames, since) = (self.titled.0 + 1, self.titled.1.elapsed().as_secs_f64());
        self.titled.0 = frames;
        if since > 0.5 {
            let (each, count) = (since / f64::from(frames) * 1e3, self.stage.scene.len());
            self.window.set_title(&format!("gpuskin: {count} instances, {each:.1} ms per frame"));
            self.titled = (0, now);
        }
        Ok(())
    }
}

impl ApplicationHandler for Game {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.shown.is_none() {
            match Shown::new(events, self.count, self.size) {
                Ok(shown) => self.shown = Some(shown),
                Err(error) => self.fail(events, error),
            }
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(shown) = &mut self.shown else { return };
        match event {
            WindowEvent::CloseRequested => events.exit(),
            WindowEvent::Resized(_) => shown.configure(),
            WindowEvent::MouseInput { state, .. } => shown.pilot.looking = state == ElementState::Pressed,
            WindowEvent::KeyboardInput {
                event: KeyEvent { physical_key: PhysicalKey::Code(key), state, .. }, ..
            } => match key {
                KeyCode::Escape => events.exit(),
                key => shown.pilot.key(key, state == ElementState::Pressed),
            },
            WindowEvent::RedrawRequested => {
                if let Some(changed) = self.watch.as_mut().and_then(Watch::poll) {
                    shown.reload(changed);
                }
                if let Err(error) = shown.draw() {
                    return self.fail(events, error);
                }
                shown.window.request_redraw();
            }
            _ => {}
        }
    }

    fn device_event(&mut self, _: &ActiveEventLoop, _: DeviceId, event: DeviceEvent) {
        if let (Some(shown), DeviceEvent::MouseMotion { delta }) = (&mut self.shown, event) {
            shown.pilot.look(delta);
        }
    }
}

impl Game {
    fn fail(&mut self, events: &ActiveEventLoop, error: Error) {
        self.failed = Some(error);
        events.exit();
    }
}
