//! Times of the frames of an app.

use core::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use bevy::diagnostic::DiagnosticsStore;
use bevy::prelude::*;
use bevy::render::diagnostic::RenderDiagnosticsPlugin;
use bevy::render::render_resource::PollType;
use bevy::render::renderer::RenderDevice;
use bevy::render::{Render, RenderApp, RenderSystems};

use crate::common;

/// Columns of [`Numbers`].
pub const HEADINGS: [&str; 6] = ["frame", "CPU", "main", "extract", "render", "threads"];
/// Meaning of [`HEADINGS`].
pub const EXPLANATION: &str =
    "frame: time from frame to frame, each waits for the GPU; CPU: main + extract + render, wall clock, up to the
submission; threads: processor time of all threads. Milliseconds; medians, but for threads, a mean.";

/// Frames between the end of loading and the first measured frame.
const WARM_UP: usize = 30;
/// Greatest number of frames until an app is loaded.
const MAX_LOADING_FRAMES: usize = 5_000;

/// Times of a frame, milliseconds.
pub struct Numbers {
    columns: [f64; HEADINGS.len()],
    /// GPU time of each pass of Bevy, by name; empty if they were not measured.
    pub passes: Vec<(String, f64)>,
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.columns.iter().try_for_each(|ms| write!(f, "{ms:>9.3}"))
    }
}

/// Measures frames of an app once `is_ready` says that it is loaded. `passes`: whether to measure the GPU time of each pass.
///
/// # Errors
/// If there is no device that renders, or if loading takes more than [`MAX_LOADING_FRAMES`].
pub fn measure(
    app: &mut App,
    frames: usize,
    passes: bool,
    is_ready: impl Fn(&World) -> bool,
) -> Result<Numbers, &'static str> {
    if passes {
        app.add_plugins(RenderDiagnosticsPlugin);
    }
    let render = app.get_sub_app_mut(RenderApp).ok_or("Bevy found no device that renders")?;
    if let Some(mut extract) = render.take_extract() {
        render.set_extract(move |main, world| EXTRACT.time(|| extract(main, world)));
    }
    render.add_systems(Render, (|| RENDER.begin()).before(RenderSystems::ExtractCommands));
    render.add_systems(Render, wait.after(RenderSystems::Render).before(RenderSystems::Cleanup));
    common::load(app);
    let mut loading = 0;
    while !is_ready(app.world()) {
        app.update();
        loading += 1;
        if loading == MAX_LOADING_FRAMES {
            return Err("loading does not end");
        }
    }
    (0..WARM_UP).for_each(|_| app.update());

    [&MAIN, &EXTRACT, &RENDER].into_iter().for_each(Stamp::clear);
    let mut times = Vec::new();
    let before = processor_ms();
    for _ in 0..frames {
        let start = Instant::now();
        // Repeats `App::update`.
        MAIN.time(|| app.sub_apps_mut().main.run_default_schedule());
        let apps = app.sub_apps_mut();
        for sub in apps.sub_apps.values_mut() {
            sub.extract(apps.main.world_mut());
            sub.update();
        }
        apps.main.world_mut().clear_trackers();
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let threads = processor_ms().zip(before).map_or(f64::NAN, |(after, before)| (after - before) / frames as f64);
    let [main, extract, render] = [&MAIN, &EXTRACT, &RENDER].map(Stamp::median_ms);
    let columns = [median(times), main + extract + render, main, extract, render, threads];
    Ok(Numbers { columns, passes: gpu_times(app.world()) })
}

/// Returns the GPU time of each pass, milliseconds.
fn gpu_times(world: &World) -> Vec<(String, f64)> {
    let diagnostics = world.get_resource::<DiagnosticsStore>().into_iter().flat_map(DiagnosticsStore::iter);
    let mut times: Vec<_> = diagnostics
        .filter_map(|diagnostic| {
            let name = diagnostic.path().as_str().strip_prefix("render/")?.strip_suffix("/elapsed_gpu")?;
            Some((name.to_owned(), median(diagnostic.values().copied().collect())))
        })
        .collect();
    times.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    times
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
