//! Khronos foxes in Bevy with its own skinned animation, headless, after its example `many_foxes`.
//! The counterpart of `cargo xtask bench foxes`: the same foxes at the same positions with the same
//! clips and phases, the same camera, one sun without shadows, no multisampling, a texture of 1920
//! x 1080.
//!
//! ```text
//! gpuskin-bench-bevy --models FOLDER [--count N] [--frames N] [--picture FILE]
//! ```
//!
//! The last line of the output is one JSON object. `frame_ms`: median time from frame to frame with
//! Bevy's own pipelined rendering; each frame waits for the GPU. `cpu_ms`: `main_ms` (the main
//! schedule) + `extract_ms` + `render_ms` (the render schedule up to its submission), medians of
//! wall-clock times, on any number of threads.

mod stage;
mod stamps;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use bevy::prelude::*;
use bevy::render::renderer::RenderAdapterInfo;

use stage::{Players, Stage};

/// Frames between the loading of the last fox and the first measured frame.
const WARM_UP: usize = 20;
/// Greatest number of frames until all foxes have loaded.
const MAX_LOADING_FRAMES: usize = 3_000;

struct Options {
    models: PathBuf,
    count: u32,
    frames: usize,
    picture: Option<PathBuf>,
}

fn main() -> ExitCode {
    match options().and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Result<Options, String> {
    use lexopt::prelude::*;
    let mut options = Options { models: "../shared/models".into(), count: 1_000, frames: 100, picture: None };
    let mut parser = lexopt::Parser::from_env();
    let failed = |e: lexopt::Error| e.to_string();
    while let Some(arg) = parser.next().map_err(failed)? {
        match arg {
            Long("models") => options.models = parser.value().map_err(failed)?.into(),
            Long("count") => options.count = parser.value().map_err(failed)?.parse().map_err(failed)?,
            Long("frames") => options.frames = parser.value().map_err(failed)?.parse().map_err(failed)?,
            Long("picture") => options.picture = Some(parser.value().map_err(failed)?.into()),
            other => return Err(other.unexpected().to_string()),
        }
    }
    Ok(options)
}

fn run(options: Options) -> Result<(), String> {
    let folder = options.models.join("Fox");
    // Bevy resolves relative paths against the program's folder, so the path becomes absolute here.
    let folder = folder.canonicalize().map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut app = stage::app(&folder, Stage { count: options.count, picture: options.picture.clone() });
    app.finish();
    app.cleanup();

    let mut loading = 0;
    while app.world().resource::<Players>().playing < options.count {
        app.update();
        loading += 1;
        if loading > MAX_LOADING_FRAMES {
            return Err(format!(
                "{} of {} foxes have loaded after {MAX_LOADING_FRAMES} frames",
                app.world().resource::<Players>().playing,
                options.count
            ));
        }
    }
    (0..WARM_UP).for_each(|_| app.update());
    if options.picture.is_some() {
        stage::take_picture(&mut app);
        (0..10).for_each(|_| app.update());
    }

    stamps::clear();
    let mut frames = Vec::new();
    for _ in 0..options.frames {
        let start = Instant::now();
        stamps::MAIN.time(|| app.sub_apps_mut().main.run_default_schedule());
        // Repeats `SubApps::update`. Extraction waits for the last frame, which waits for the GPU.
        let apps = app.sub_apps_mut();
        for sub in apps.sub_apps.values_mut() {
            sub.extract(apps.main.world_mut());
            sub.update();
        }
        apps.main.world_mut().clear_trackers();
        frames.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let frame = stamps::median(frames);
    let [main, extract, render] = [&stamps::MAIN, &stamps::EXTRACT, &stamps::RENDER].map(|stamp| stamp.median_ms());
    let adapter = app.world().resource::<RenderAdapterInfo>().name.replace(['"', '\\'], "");
    println!(
        "{{\"peer\":\"bevy 0.19\",\"adapter\":\"{adapter}\",\"count\":{},\"frames\":{},\"frame_ms\":{frame:.4},\
         \"cpu_ms\":{:.4},\"main_ms\":{main:.4},\"extract_ms\":{extract:.4},\"render_ms\":{render:.4}}}",
        options.count,
        options.frames,
        main + extract + render,
    );
    Ok(())
}
