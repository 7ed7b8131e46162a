//! An app without a window: renders into an image that the test reads.

pub mod control;

use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bevy::app::PluginGroupBuilder;
use bevy::camera::RenderTarget;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::image::Image;
use bevy::light::{DirectionalLightShadowMap, PointLightShadowMap};
use bevy::log::tracing_subscriber::fmt;
use bevy::log::{BoxedLayer, LogPlugin};
use bevy::prelude::*;
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::PipelineCache;
use bevy::render::render_resource::{
    BufferDescriptor, BufferUsages, MapMode, PollType, TexelCopyBufferInfo, TexelCopyBufferLayout, TextureFormat,
    TextureUsages,
};
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::settings::{WgpuFeatures, WgpuLimits, WgpuSettings};
use bevy::render::texture::GpuImage;
use bevy::render::{RenderApp, RenderPlugin};
use bevy::time::TimeUpdateStrategy;
use bevy::window::ExitCondition;

pub const WIDTH: u32 = 512;
pub const HEIGHT: u32 = 384;

/// Features that apps do without. Mesa's llvmpipe 22.3 applies the count of an indirect draw to later ones of the same pass, and
/// decodes a block of a compressed texture for each texel that it reads, which was half the time of the tests.
const DISABLED: WgpuFeatures =
    WgpuFeatures::MULTI_DRAW_INDIRECT_COUNT.union(WgpuFeatures::TEXTURE_COMPRESSION_BC).union(ASTC_AND_ETC2);
const ASTC_AND_ETC2: WgpuFeatures =
    WgpuFeatures::TEXTURE_COMPRESSION_ASTC.union(WgpuFeatures::TEXTURE_COMPRESSION_ETC2);

/// Length of a frame, seconds.
pub const FRAME: f64 = 1.0 / 64.0;

/// Makes an app whose frames last [`FRAME`].
pub fn app() -> App {
    app_within(None)
}

/// Makes the app of [`app`] on a device with limits.
pub fn app_within(limits: Option<WgpuLimits>) -> App {
    let mut app = App::new();
    app.add_plugins(plugins(limits));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(FRAME)));
    // A quarter of Bevy's texels: software drivers take long to clear them.
    app.insert_resource(DirectionalLightShadowMap { size: 1024 }).insert_resource(PointLightShadowMap { size: 512 });
    app
}

/// Returns Bevy's plugins. `limits`: those that the device may not exceed.
pub fn plugins(limits: Option<WgpuLimits>) -> PluginGroupBuilder {
    let plugins = DefaultPlugins
        .set(LogPlugin { custom_layer: |_| Some(keep_log()), ..default() })
        .set(WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() })
        .set(RenderPlugin {
            synchronous_pipeline_compilation: true,
            render_creation: WgpuSettings {
                disabled_features: Some(DISABLED),
                constrained_limits: limits,
                ..default()
            }
            .into(),
            ..default()
        })
        // The tests look into the render world between frames.
        .disable::<PipelinedRenderingPlugin>();
    #[cfg(feature = "window")]
    let plugins = plugins.disable::<bevy::winit::WinitPlugin>();
    plugins
}

/// Log of all apps of this process.
static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOG.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Makes the layer that keeps what is logged. The first app of the process installs it, for all.
fn keep_log() -> BoxedLayer {
    Box::new(fmt::layer().with_ansi(false).with_writer(|| Log))
}

/// Returns the lines that were logged and contain a text, of all apps of this process.
pub fn logged(text: &str) -> Vec<String> {
    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    String::from_utf8_lossy(&log).lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
}

/// Ends the set-up of an app, so that `app.update()` runs frames.
pub fn start(app: &mut App) {
    app.finish();
    app.cleanup();
}

/// Adds an image to render to.
pub fn target(app: &mut App) -> Handle<Image> {
    let mut image = Image::new_target_texture(WIDTH, HEIGHT, TextureFormat::Rgba8UnormSrgb, None);
    image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
    app.world_mut().resource_mut::<Assets<Image>>().add(image)
}

/// Components of a camera that renders to an image.
pub fn camera(image: &Handle<Image>, eye: Vec3, at: Vec3) -> impl Bundle {
    (
        Camera3d::default(),
        Tonemapping::Reinhard,
        RenderTarget::from(image.clone()),
        Transform::from_translation(eye).looking_at(at, Vec3::Y),
    )
}

/// Runs frames until all pipelines are compiled.
pub fn settle(app: &mut App) {
    let mut ready = 0;
    for _ in 0..1000 {
        app.update();
        let cache = app.sub_app(RenderApp).world().resource::<PipelineCache>();
        ready = if cache.waiting_pipelines().next().is_none() { ready + 1 } else { 0 };
        if ready == 2 {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("pipelines are not compiled after 1000 frames");
}

/// Draws a frame, and returns the pixels of an image. Bevy's `Readback` would return them a frame later: with software
/// renderers, frames are what takes time.
pub fn read(app: &mut App, image: &Handle<Image>) -> Vec<[u8; 4]> {
    app.update();
    let world = app.sub_app(RenderApp).world();
    let (device, queue) = (world.resource::<RenderDevice>(), world.resource::<RenderQueue>());
    let texture = &world.resource::<RenderAssets<GpuImage>>().get(image).expect("the image is on the device").texture;
    assert_eq!((texture.width(), texture.height()), (WIDTH, HEIGHT));
    let buffer = device.create_buffer(&BufferDescriptor {
        label: None,
        size: u64::from(WIDTH * HEIGHT * 4),
        usage: BufferUsages::COPY_DST | BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&default());
    let layout = TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(WIDTH * 4), rows_per_image: None };
    let target = TexelCopyBufferInfo { buffer: &buffer, layout };
    encoder.copy_texture_to_buffer(texture.as_image_copy(), target, texture.size());
    queue.submit([encoder.finish()]);
    let slice = buffer.slice(..);
    slice.map_async(MapMode::Read, |result| result.unwrap());
    device.poll(PollType::wait_indefinitely()).unwrap();
    let data = slice.get_mapped_range().unwrap();
    let (pixels, []) = data.as_chunks::<4>() else { panic!("{} bytes are no pixels", data.len()) };
    pixels.to_vec()
}

/// Writes a picture to the folder of `BEVY_GPUSKIN_PICTURES`, if that is set.
pub fn save(name: &str, pixels: &[[u8; 4]]) {
    let Some(folder) = std::env::var_os("BEVY_GPUSKIN_PICTURES") else { return };
    let file = std::fs::File::create(Path::new(&folder).join(name)).unwrap();
    let mut encoder = png::Encoder::new(std::io::BufWriter::new(file), WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header().unwrap().write_image_data(pixels.as_flattened()).unwrap();
}

/// Stops the time of the game, and returns it in seconds.
pub fn stop_time(app: &mut App) -> f64 {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::ZERO));
    app.world().resource::<Time<Virtual>>().elapsed_secs_f64()
}

/// Number of pixels of which a channel differs by more than 1.
pub fn different(a: &[[u8; 4]], b: &[[u8; 4]]) -> usize {
    let differs = |(a, b): (&[u8; 4], &[u8; 4])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 1);
    a.iter().zip(b).filter(|pair| differs(*pair)).count()
}
