//! Window with the flock.

use std::sync::Arc;
use std::time::Instant;

use gpuskin_rt::wgpu;
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{ElementState, KeyEvent, WindowEvent};
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::keyboard::{KeyCode, PhysicalKey};
use winit::window::{Window, WindowId};

use crate::{Error, Flock, Gpu, STEP};

/// Whether a window can be opened.
pub fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

/// Shows `count` birds until the window is closed.
///
/// # Errors
/// Returns an error if there is no window or no device.
pub fn run(count: u32, size: [u32; 2]) -> Result<(), Error> {
    let mut app = App { count, size, shown: None, failed: None };
    EventLoop::new()?.run_app(&mut app)?;
    app.failed.map_or(Ok(()), Err)
}

struct App {
    count: u32,
    size: [u32; 2],
    shown: Option<Shown>,
    failed: Option<Error>,
}

/// Window with its device and flock.
struct Shown {
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    format: wgpu::TextureFormat,
    gpu: Gpu,
    flock: Flock,
    began: Instant,
    /// Frames since the title was set, and the time at which it was set.
    titled: (u32, Instant),
}

impl Shown {
    fn new(events: &ActiveEventLoop, count: u32, size: [u32; 2]) -> Result<Self, Error> {
        let attributes =
            Window::default_attributes().with_title("flock").with_inner_size(PhysicalSize::new(size[0], size[1]));
        let window = Arc::new(events.create_window(attributes)?);
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_with_display_handle_from_env(Box::new(
            events.owned_display_handle(),
        )));
        let surface = instance.create_surface(window.clone())?;
        let gpu = Gpu::open(&instance, Some(&surface))?;
        println!("{}\n{count} starlings; Esc quits", gpu.adapter.get_info().name);
        let formats = surface.get_capabilities(&gpu.adapter).formats;
        let format = formats.iter().copied().find(|f| f.is_srgb()).or(formats.first().copied());
        let format = format.ok_or("the window's surface supports no texture format")?;
        let flock = Flock::new((&gpu.device, &gpu.queue), format, count)?;
        let now = Instant::now();
        let shown = Self { window, surface, format, gpu, flock, began: now, titled: (0, now) };
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
        let (device, queue) = (&self.gpu.device, &self.gpu.queue);
        let behind = (self.began.elapsed().as_secs_f64() - self.flock.time()) / STEP;
        if behind > 4.0 {
            // A slow frame is not made up for: the flock waits.
            self.began += std::time::Duration::from_secs_f64((behind - 1.0) * STEP);
        }
        let mut encoder = device.create_command_encoder(&Default::default());
        // One step per frame, because its parameters are written once per submission.
        self.flock.record((device, queue), &mut encoder, &frame.texture, u32::from(behind >= 0.0))?;
        queue.submit([encoder.finish()]);
        queue.present(frame);
        if outdated {
            self.configure();
        }
        let (frames, since) = (self.titled.0 + 1, self.titled.1.elapsed().as_secs_f64());
        self.titled.0 = frames;
        if since > 0.5 {
            self.window.set_title(&format!("flock: {:.1} ms per frame", since / f64::from(frames) * 1e3));
            self.titled = (0, Instant::now());
        }
        Ok(())
    }
}

impl ApplicationHandler for App {
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
            WindowEvent::KeyboardInput {
                event: KeyEvent { physical_key: PhysicalKey::Code(KeyCode::Escape), state: ElementState::Pressed, .. },
                ..
            } => events.exit(),
            WindowEvent::RedrawRequested => match shown.draw() {
                Ok(()) => shown.window.request_redraw(),
                Err(error) => self.fail(events, error),
            },
            _ => {}
        }
    }
}

impl App {
    fn fail(&mut self, events: &ActiveEventLoop, error: Error) {
        self.failed = Some(error);
        events.exit();
    }
}
