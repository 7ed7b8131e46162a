//! The window, or a picture where there is no display. Nothing here depends on the model.

use std::sync::Arc;
use std::time::Instant;

use gpuskin_rt::{CrowdRenderer, wgpu};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{ElementState, WindowEvent};
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Window, WindowId};

use crate::{Error, Game};

/// Format of the depth buffer.
pub const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
/// Samples per pixel.
pub const SAMPLES: u32 = 4;
/// Size of the window and of the picture, in pixels.
const SIZE: [u32; 2] = [1280, 720];
/// File that is written where there is no display.
const PICTURE: &str = "out.png";

/// Opens a window; where that fails, draws one picture.
pub fn run() -> Result<(), Error> {
    if !has_display() {
        println!("no display found: drawing {PICTURE} instead of opening a window");
        return draw_picture();
    }
    let mut app = App::default();
    let opened = EventLoop::new().map_err(Error::from).and_then(|events| Ok(events.run_app(&mut app)?));
    match opened.and(app.error.map_or(Ok(()), Err)) {
        // A display can be named and be unreachable: over ssh, in a container.
        Err(error) if app.shown.is_none() => {
            println!("no window ({error}): drawing {PICTURE} instead");
            draw_picture()
        }
        result => result,
    }
}

fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

/// The frame that is being drawn.
pub struct Frame<'a> {
    pub encoder: &'a mut wgpu::CommandEncoder,
    /// Width divided by height.
    pub aspect: f32,
    targets: &'a Targets,
    output: &'a wgpu::TextureView,
}

impl Frame<'_> {
    /// Begins the pass that draws the picture.
    pub fn begin_pass(&mut self) -> wgpu::RenderPass<'_> {
        self.encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("crowd"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.targets.color,
                depth_slice: None,
                resolve_target: Some(self.output),
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Discard },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.targets.depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        })
    }
}

/// Multisampled colour and depth, of the size of the output.
struct Targets {
    color: wgpu::TextureView,
    depth: wgpu::TextureView,
}

impl Targets {
    fn new(device: &wgpu::Device, format: wgpu::TextureFormat, [width, height]: [u32; 2]) -> Self {
        let view = |format| {
            let texture = device.create_texture(&wgpu::TextureDescriptor {
                label: Some("target"),
                size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: SAMPLES,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            });
            texture.create_view(&Default::default())
        };
        Self { color: view(format), depth: view(DEPTH) }
    }
}

/// A device with its queue.
struct Gpu {
    adapter: wgpu::Adapter,
    device: wgpu::Device,
    queue: wgpu::Queue,
}

impl Gpu {
    fn open(instance: &wgpu::Instance, surface: Option<&wgpu::Surface<'_>>) -> Result<Self, Error> {
        pollster::block_on(async {
            let adapter = wgpu::util::initialize_adapter_from_env_or_default(instance, surface).await?;
            let descriptor = wgpu::DeviceDescriptor {
                required_limits: adapter.limits(),
                // Compressed textures, and fewer draw calls.
                required_features: adapter.features() & CrowdRenderer::OPTIONAL_FEATURES,
                ..Default::default()
            };
            let (device, queue) = adapter.request_device(&descriptor).await?;
            println!("GPU: {}", adapter.get_info().name);
            Ok(Self { adapter, device, queue })
        })
    }

    /// Draws one frame of the game into `output`.
    fn draw(&self, game: &mut Game, targets: &Targets, output: &wgpu::Texture, time: f64) -> Result<(), Error> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let aspect = output.width() as f32 / output.height() as f32;
        let view = output.create_view(&Default::default());
        game.draw(&self.queue, &mut Frame { encoder: &mut encoder, aspect, targets, output: &view }, time)?;
        self.queue.submit([encoder.finish()]);
        Ok(())
    }
}

#[derive(Default)]
struct App {
    shown: Option<Shown>,
    error: Option<Error>,
}

/// The window and its content.
struct Shown {
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    format: wgpu::TextureFormat,
    gpu: Gpu,
    targets: Targets,
    game: Game,
    start: Instant,
}

impl Shown {
    fn new(events: &ActiveEventLoop) -> Result<Self, Error> {
        let [width, height] = SIZE;
        let attributes = Window::default_attributes()
            .with_title(env!("CARGO_PKG_NAME"))
            .with_inner_size(PhysicalSize::new(width, height));
        let window = Arc::new(events.create_window(attributes)?);
        let display = Box::new(events.owned_display_handle());
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_with_display_handle_from_env(display));
        let surface = instance.create_surface(window.clone())?;
        let gpu = Gpu::open(&instance, Some(&surface))?;
        let formats = surface.get_capabilities(&gpu.adapter).formats;
        let format = formats.iter().copied().find(wgpu::TextureFormat::is_srgb).or(formats.first().copied());
        let format = format.ok_or("the GPU cannot draw to the window")?;
        let game = Game::new(&gpu.device, &gpu.queue, format)?;
        let targets = Targets::new(&gpu.device, format, SIZE);
        let mut shown = Self { window, surface, format, gpu, targets, game, start: Instant::now() };
        shown.resize();
        Ok(shown)
    }

    fn resize(&mut self) {
        let PhysicalSize { width, height } = self.window.inner_size();
        // A minimised window has no area.
        if let (1.., 1..) = (width, height)
            && let Some(mut config) = self.surface.get_default_config(&self.gpu.adapter, width, height)
        {
            config.format = self.format;
            self.surface.configure(&self.gpu.device, &config);
            self.targets = Targets::new(&self.gpu.device, self.format, [width, height]);
        }
    }

    fn draw(&mut self) -> Result<(), Error> {
        let frame = match self.surface.get_current_texture() {
            wgpu::CurrentSurfaceTexture::Success(frame) | wgpu::CurrentSurfaceTexture::Suboptimal(frame) => frame,
            wgpu::CurrentSurfaceTexture::Timeout | wgpu::CurrentSurfaceTexture::Occluded => return Ok(()),
            _ => {
                self.resize();
                return Ok(());
            }
        };
        let time = self.start.elapsed().as_secs_f64();
        self.gpu.draw(&mut self.game, &self.targets, &frame.texture, time)?;
        self.gpu.queue.present(frame);
        Ok(())
    }
}

impl ApplicationHandler for App {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.shown.is_none() {
            match Shown::new(events) {
                Ok(shown) => self.shown = Some(shown),
                Err(error) => self.fail(events, error),
            }
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(shown) = &mut self.shown else { return };
        match event {
            WindowEvent::CloseRequested => events.exit(),
            WindowEvent::Resized(_) => shown.resize(),
            WindowEvent::KeyboardInput { event, .. } => {
                if event.state == ElementState::Pressed && event.logical_key == Key::Named(NamedKey::Escape) {
                    events.exit();
                }
            }
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
        self.error = Some(error);
        events.exit();
    }
}

/// Draws the frame at 1.5 s and writes it to [`PICTURE`].
fn draw_picture() -> Result<(), Error> {
    const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
    let [width, height] = SIZE;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let gpu = Gpu::open(&instance, None)?;
    let mut game = Game::new(&gpu.device, &gpu.queue, FORMAT)?;
    let output = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some(PICTURE),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: FORMAT,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    gpu.draw(&mut game, &Targets::new(&gpu.device, FORMAT, SIZE), &output, 1.5)?;

    // Rows of 1280 pixels meet wgpu's alignment of 256 bytes.
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(PICTURE),
        size: u64::from(4 * width * height),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(4 * width), rows_per_image: None };
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    encoder.copy_texture_to_buffer(
        output.as_image_copy(),
        wgpu::TexelCopyBufferInfo { buffer: &buffer, layout },
        output.size(),
    );
    gpu.queue.submit([encoder.finish()]);
    let (sender, receiver) = std::sync::mpsc::channel();
    buffer.map_async(wgpu::MapMode::Read, .., move |result| sender.send(result).unwrap_or_default());
    gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
    receiver.recv()??;
    let mut encoder = png::Encoder::new(std::fs::File::create(PICTURE)?, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(&buffer.get_mapped_range(..)?)?;
    println!("{PICTURE}: {width} x {height} pixels");
    Ok(())
}
