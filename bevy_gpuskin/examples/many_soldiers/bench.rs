//! Measures the scenes.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use bevy::prelude::*;
use bevy::render::render_resource::PollType;
use bevy::render::renderer::{RenderAdapterInfo, RenderDevice};
use bevy::render::{Render, RenderApp, RenderSystems};

use crate::stage::Ready;
use crate::{Options, Scene, common};

/// Frames between the loading of the last soldier and the first measured frame.
const WARM_UP: usize = 30;
/// Greatest number of frames until all soldiers are loaded.
const MAX_LOADING_FRAMES: usize = 5_000;
/// First word of the line that a process for one scene prints.
const RESULT: &str = "result";

/// Measures all scenes, each in a process of its own, and prints a table.
pub(crate) fn all(options: &Options) -> ExitCode {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => {
            eprintln!("this program does not find its own file: {error}");
            return ExitCode::FAILURE;
        }
    };
    let taa = if options.taa { "temporal anti-aliasing" } else { "no temporal anti-aliasing" };
    println!("{} soldiers, {} frames, 1920 x 1080, {taa}, 4 shadow cascades", options.count, options.frames);
    println!(
        "frame: time from frame to frame, each waits for the GPU; CPU: main + extract + render, wall clock, up to the"
    );
    println!("submission; threads: processor time of all threads. Milliseconds; medians, but for threads, a mean.\n");
    println!("{:<12}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}", "scene", "frame", "CPU", "main", "extract", "render", "threads");
    let mut result = ExitCode::SUCCESS;
    let mut adapter = String::new();
    for scene in Scene::ALL {
        if scene == Scene::Skinned && !cfg!(feature = "peers") {
            println!("{:<12}  not in this build: add --features peers", scene.name());
            continue;
        }
        let mut command = Command::new(&program);
        command.args(["--bench", "--scene", scene.name()]);
        command.args(["--count", &options.count.to_string(), "--frames", &options.frames.to_string()]);
        command.args(options.moving.then_some("--move")).args((!options.taa).then_some("--no-taa"));
        if let Some(path) = &options.headless {
            command.arg("--headless").arg(path.with_extension(format!("{}.png", scene.name())));
        }
        // Bevy's log is on stderr.
        let output = command.stderr(std::process::Stdio::inherit()).output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(RESULT));
        let Some((numbers, name)) = line.and_then(|line| line.split_once('|')) else {
            println!("{:<12}  failed: see the messages above", scene.name());
            result = ExitCode::FAILURE;
            continue;
        };
        let cells: String = numbers.split_whitespace().map(|cell| format!("{cell:>9}")).collect();
        println!("{:<12}{cells}", scene.name());
        adapter = name.trim().to_owned();
    }
    println!("\n{adapter}");
    result
}

/// Measures one scene, and prints a line for [`all`].
pub(crate) fn one(mut app: App, options: &Options) -> ExitCode {
    let Some(render) = app.get_sub_app_mut(RenderApp) else {
        eprintln!("Bevy found no device that renders");
        return ExitCode::FAILURE;
    };
    if let Some(mut extract) = render.take_extract() {
        render.set_extract(move |main, world| EXTRACT.time(|| extract(main, world)));
    }
    render.add_systems(Render, (|| RENDER.begin()).before(RenderSystems::ExtractCommands));
    render.add_systems(Render, wait.after(RenderSystems::Render).before(RenderSystems::Cleanup));
    common::load(&mut app);
    for frame in 0.. {
        if app.world().resource::<Ready>().0 >= options.count {
            break;
        }
        if frame == MAX_LOADING_FRAMES {
            eprintln!("{} of {} soldiers are loaded", app.world().resource::<Ready>().0, options.count);
            return ExitCode::FAILURE;
        }
        app.update();
    }
    (0..WARM_UP).for_each(|_| app.update());

    [&MAIN, &EXTRACT, &RENDER].into_iter().for_each(Stamp::clear);
    let mut frames = Vec::new();
    let before = processor_ms();
    for _ in 0..options.frames {
        let start = Instant::now();
        // Repeats `App::update`.
        MAIN.time(|| app.sub_apps_mut().main.run_default_schedule());
        let apps = app.sub_apps_mut();
        for sub in apps.sub_apps.values_mut() {
            sub.extract(apps.main.world_mut());
            sub.update();
        }
        apps.main.world_mut().clear_trackers();
        frames.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let threads = processor_ms().zip(before).map(|(after, before)| (after - before) / options.frames as f64);
    let [main, extract, render] = [&MAIN, &EXTRACT, &RENDER].map(Stamp::median_ms);
    let threads = threads.map_or("-".to_owned(), |threads| format!("{threads:.2}"));
    let cpu = main + extract + render;
    println!(
        "{RESULT} {:.3} {cpu:.3} {main:.3} {extract:.3} {render:.3} {threads} | {}",
        median(frames),
        app.world().resource::<RenderAdapterInfo>().name
    );
    match &options.headless {
        Some(path) => common::save(&mut app, Path::new(path)),
        None => ExitCode::SUCCESS,
    }
}

/// Waits until the GPU has drawn the frame.
fn wait(device: Res<RenderDevice>) {
    RENDER.end();
    if let Err(error) = device.poll(PollType::Wait { submission_index: None, timeout: None }) {
        error!("the device failed: {error}");
    }
}

/// Durations of the main schedule.
static MAIN: Stamp = Stamp::new();
/// Durations of the extraction from the main world to the render world.
static EXTRACT: Stamp = Stamp::new();
/// Durations of the render schedule up to its submission.
static RENDER: Stamp = Stamp::new();

/// Durations of one part of a frame, in milliseconds.
struct Stamp {
    times: Mutex<(Option<Instant>, Vec<f64>)>,
}

impl Stamp {
    const fn new() -> Self {
        Self { times: Mutex::new((None, Vec::new())) }
    }

    fn begin(&self) {
        self.times.lock().unwrap_or_else(PoisonError::into_inner).0 = Some(Instant::now());
    }

    fn end(&self) {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(start) = times.0.take() {
            times.1.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }

    fn time(&self, work: impl FnOnce()) {
        self.begin();
        work();
        self.end();
    }

    fn clear(&self) {
        self.times.lock().unwrap_or_else(PoisonError::into_inner).1.clear();
    }

    fn median_ms(&self) -> f64 {
        median(self.times.lock().unwrap_or_else(PoisonError::into_inner).1.clone())
    }
}

/// Median of the values; NaN if there are none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Processor time of this process, milliseconds; `None` where there is no `/proc`.
fn processor_ms() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may contain spaces.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    // Linux counts 100 ticks per second, on every architecture.
    Some(ticks * 10.0)
}
