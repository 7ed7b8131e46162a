//! Windows and pictures of the examples.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bevy::app::PluginGroupBuilder;
use bevy::camera::RenderTarget;
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::gpu_readback::{Readback, ReadbackComplete};
use bevy::render::render_resource::{PollType, TextureFormat, TextureUsages};
use bevy::render::renderer::RenderDevice;
use bevy::render::settings::{WgpuFeatures, WgpuSettings};
use bevy::window::ExitCondition;

pub const WIDTH: u32 = 1920;
pub const HEIGHT: u32 = 1080;

/// Longest time in which Bevy loads its shaders and assets, before a picture.
const LOADING: Duration = Duration::from_secs(2);

/// Target of the cameras.
#[derive(Resource, Clone, Debug, PartialEq, Eq)]
pub enum Output {
    Window,
    /// A texture without a file.
    #[allow(dead_code, reason = "not all examples measure")]
    Texture,
    /// A PNG file.
    File(PathBuf),
}

impl Output {
    /// Reads the options of an example that has no other ones: `--headless FILE.png`.
    fn from_args() -> Result<Self, lexopt::Error> {
        use lexopt::prelude::*;
        let mut output = Self::Window;
        let mut parser = lexopt::Parser::from_env();
        while let Some(arg) = parser.next()? {
            match arg {
                Long("headless") => output = Self::File(parser.value()?.into()),
                other => return Err(other.unexpected()),
            }
        }
        if output == Self::Window && !cfg!(feature = "window") {
            return Err("no window in this build: add --features window, or use --headless FILE.png".into());
        }
        Ok(output)
    }
}

/// Image that is rendered to where there is no window.
#[derive(Resource)]
pub struct Target(pub Handle<Image>);

/// Returns Bevy's plugins, without a window if none is wanted.
pub fn plugins(output: &Output) -> PluginGroupBuilder {
    let is_window = *output == Output::Window;
    // Mesa's llvmpipe 22.3, which draws where there is no GPU, applies the count of such a draw to later indirect draws of the
    // same pass: distant characters would be missing. Measured frames have the features of a game.
    let disabled_features = (*output != Output::Texture).then_some(WgpuFeatures::MULTI_DRAW_INDIRECT_COUNT);
    let plugins = DefaultPlugins.set(RenderPlugin {
        synchronous_pipeline_compilation: !is_window,
        render_creation: WgpuSettings { disabled_features, ..default() }.into(),
        ..default()
    });
    if is_window {
        // In a web page, the canvas has the size of the page.
        let window = Window { fit_canvas_to_parent: true, ..default() };
        return plugins.set(WindowPlugin { primary_window: Some(window), ..default() });
    }
    let window = WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() };
    let plugins = plugins.set(window);
    #[cfg(feature = "window")]
    let plugins = plugins.disable::<bevy::winit::WinitPlugin>();
    plugins
}

/// Makes an app, with an image to render to where there is no window.
pub fn app(output: &Output) -> App {
    let mut app = App::new();
    app.add_plugins(plugins(output)).insert_resource(output.clone());
    app.insert_resource(ClearColor(Color::srgb(0.55, 0.68, 0.85)));
    if *output != Output::Window {
        let mut image = Image::new_target_texture(WIDTH, HEIGHT, TextureFormat::Rgba8UnormSrgb, None);
        image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
        let image = app.world_mut().resource_mut::<Assets<Image>>().add(image);
        app.insert_resource(Target(image));
        app.add_observer(render_to_image);
    }
    app
}

/// Lets cameras render to the image.
fn render_to_image(added: On<Add<Camera3d>>, target: Res<Target>, mut commands: Commands) {
    commands.entity(added.entity).insert(RenderTarget::from(target.0.clone()));
}

/// Runs an example that has no other options: `build` adds to its app.
#[allow(dead_code, reason = "many_soldiers has more options")]
pub fn main(build: impl FnOnce(&mut App)) -> ExitCode {
    let output = match Output::from_args() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let mut app = app(&output);
    build(&mut app);
    run(app, &output)
}

/// Runs an example until its window is closed, or until the picture is written.
pub fn run(mut app: App, output: &Output) -> ExitCode {
    match output {
        Output::Window => {
            app.run();
            ExitCode::SUCCESS
        }
        Output::Texture => ExitCode::SUCCESS,
        Output::File(path) => {
            load(&mut app);
            save(&mut app, path)
        }
    }
}

/// Runs frames while Bevy loads its shaders in the background.
pub fn load(app: &mut App) {
    app.finish();
    app.cleanup();
    let start = Instant::now();
    while start.elapsed() < LOADING {
        app.update();
    }
}

/// Writes the picture of the next frame.
pub fn save(app: &mut App, path: &Path) -> ExitCode {
    let image = app.world().resource::<Target>().0.clone();
    let written = Arc::new(OnceLock::new());
    let (sink, path) = (written.clone(), path.to_owned());
    app.world_mut().spawn(Readback::texture(image)).observe(move |complete: On<ReadbackComplete>| {
        sink.get_or_init(|| write_png(&path, &complete.data));
    });
    let device = app.world().resource::<RenderDevice>().clone();
    for _ in 0..100 {
        app.update();
        let _ = device.poll(PollType::Wait { submission_index: None, timeout: None });
        match written.get() {
            Some(Ok(())) => return ExitCode::SUCCESS,
            Some(Err(error)) => {
                eprintln!("the picture could not be written: {error}");
                return ExitCode::FAILURE;
            }
            None => {}
        }
    }
    eprintln!("the picture was not read back in 100 frames");
    ExitCode::FAILURE
}

fn write_png(path: &Path, pixels: &[u8]) -> Result<(), png::EncodingError> {
    let file = std::fs::File::create(path)?;
    let mut encoder = png::Encoder::new(std::io::BufWriter::new(file), WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(pixels)
}
