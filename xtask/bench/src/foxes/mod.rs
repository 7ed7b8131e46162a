//! Khronos foxes, as `xtask/bench-bevy` draws them: the same positions, clips, phases, camera and
//! picture size, one sun without shadows, no multisampling. Every frame waits for the GPU.

mod welded;

use std::path::{Path, PathBuf};
use std::process::Command;

use gpuskin_build::Manifest;
use gpuskin_build::{BakeOptions, bake};
use gpuskin_rt::internals::{
    Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Dynamic, Instance, Model, RendererDescriptor, Repeat, View,
};
use serde_json::Value;

use crate::Options;
use crate::context::{Context, text};
use crate::draw::{Frame, Timer};
use crate::report::{Asked, compared, heading, line, median, seconds, time};

const FRAMES: usize = 60;
/// Frames on a software renderer.
const SOFTWARE_FRAMES: usize = 12;
/// Distance between foxes, in metres. All values of the scene equal those in
/// `xtask/bench-bevy/src/stage.rs`.
const SPACING: f32 = 2.0;

pub(crate) fn measure(context: &Context, options: &Options) -> Result<(), String> {
    let folder = options.models.as_deref().ok_or("foxes: expected --models FOLDER, with FOLDER/Fox/Fox.glb")?;
    let counts = match &options.counts[..] {
        [] if context.is_software() => &[10][..],
        [] => &[10_000],
        counts => counts,
    };
    let temporary = std::env::temp_dir().join(format!("gpuskin-bench-foxes-{}", std::process::id()));
    let failed = |e: std::io::Error| format!("{}: {e}", temporary.display());
    std::fs::create_dir_all(temporary.join("Fox")).map_err(failed)?;
    let result = welded::write(&folder.join("Fox/Fox.glb"), &temporary.join("Fox/Fox.glb")).and_then(|()| {
        for (what, folder) in [("flat, as in the file", folder), ("welded, smooth", &temporary)] {
            let model = fox(folder)?;
            for &count in counts {
                table(context, (what, folder), &model, count, options.bevy.as_ref())?;
            }
        }
        Ok(())
    });
    std::fs::remove_dir_all(&temporary).map_err(failed)?;
    result
}

fn fox(folder: &Path) -> Result<Model, String> {
    let manifest = "[bake]\ntextures = [\"rgba8\"]\n[[model]]\nname = \"fox\"\npath = \"Fox.glb\"\nscale = 0.01\n";
    let path = folder.join("Fox/gpuskin.toml");
    let manifest = Manifest::parse(&path, manifest).map_err(|findings| text(&findings))?;
    let baked = bake(&manifest, &BakeOptions::default()).map_err(|failed| text(&failed.diagnostics))?;
    baked.runtime_models().pop().ok_or_else(|| "the fox was not baked".to_owned())
}

/// Median times of a frame, in seconds.
struct Times {
    /// Time from the first command until the GPU has drawn the frame.
    frame: f64,
    /// Time from the first command to the submission.
    cpu: f64,
    gpu: f64,
}

fn table(
    context: &Context,
    (what, folder): (&str, &Path),
    model: &Model,
    count: u32,
    bevy: Option<&PathBuf>,
) -> Result<(), String> {
    let triangles: u32 = model.meta.mesh.parts.iter().map(|p| p.index_count / 3).sum();
    let vertices = model.meta.mesh.vertex_count;
    heading(&format!(
        "foxes: {count} instances, {what}, {vertices} vertices, {triangles} triangles; frame until the GPU has drawn it"
    ));
    let frames = if context.is_software() { SOFTWARE_FRAMES } else { FRAMES };
    let asked = RendererDescriptor { culling: false, lod_error: 0.0, ..Default::default() };
    let [all, user] = [("without culling and LODs", asked), ("default settings", RendererDescriptor::default())].map(
        |(name, descriptor)| -> Result<Times, String> {
            let mut scene = Scene::new(context, model, count, descriptor)?;
            let times = scene.times(context, frames)?;
            time(&format!("gpuskin, {name}"), times.frame);
            time("  CPU: prepare, encode, submit", times.cpu);
            if scene.timer.is_some() {
                time("  GPU", times.gpu);
            }
            let drawn = scene.crowd.count_drawn(&scene.renderer, View::MAIN).map_err(|e| e.to_string())?;
            line("  instances drawn", drawn.total());
            Ok(times)
        },
    );
    let (all, user) = (all?, user?);
    let Some(program) = bevy else { return Ok(()) };
    let peer = peer(program, folder, count, frames)?;
    let ms = |key: &str| peer[key].as_f64().map_or(f64::NAN, |ms| ms * 1e-3);
    let asked = |bound| (!context.is_software()).then_some(Asked::AtLeast(bound));
    compared("Bevy 0.19", ms("frame_ms"), ("gpuskin", all.frame), asked(10.0));
    compared("  compared with default settings", ms("frame_ms"), ("gpuskin", user.frame), asked(25.0));
    compared("  CPU: Bevy's schedules", ms("cpu_ms"), ("gpuskin", all.cpu), asked(100.0));
    line("  Bevy's adapter", peer["adapter"].as_str().unwrap_or("?"));
    Ok(())
}

/// Runs the program of `xtask/bench-bevy`. Returns the JSON object in the last line of its output.
fn peer(program: &Path, folder: &Path, count: u32, frames: usize) -> Result<Value, String> {
    let mut command = Command::new(program);
    command.arg("--models").arg(folder).args(["--count", &count.to_string(), "--frames", &frames.to_string()]);
    let output = command.output().map_err(|e| format!("{}: {e}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("{}: {}{said}", program.display(), String::from_utf8_lossy(&output.stderr)));
    }
    let last = said.lines().last().unwrap_or_default();
    serde_json::from_str(last).map_err(|e| format!("{}: {e}: {last}", program.display()))
}

struct Scene {
    renderer: CrowdRenderer,
    crowd: Crowd<Dynamic>,
    camera: Camera,
    frame: Frame,
    timer: Option<Timer>,
}

impl Scene {
    fn new(context: &Context, model: &Model, count: u32, descriptor: RendererDescriptor) -> Result<Self, String> {
        let failed = |e: gpuskin_rt::internals::Error| e.to_string();
        let mut renderer = CrowdRenderer::new(&context.device, &context.queue, descriptor).map_err(failed)?;
        let capacity = CrowdDescriptor { capacity: count, ..Default::default() };
        let crowd = Crowd::with_model(&mut renderer, model, capacity).map_err(failed)?;
        let side = f64::from(count).sqrt().ceil() as u32;
        let clips = model.meta.clips.len() as u32;
        for i in 0..count {
            let [x, z] = [i % side, i / side].map(|c| (c as f32 - side as f32 / 2.0) * SPACING);
            let (sin, cos) = (i as f32 * 1.2).sin_cos();
            let instance = Instance::at([x, 0.0, z]).rotated([0.0, sin, 0.0, cos]);
            crowd.spawn(
                instance.play(Clip::new((i % clips) as u16)).phase((i as f32 * 0.618).fract()).repeat(Repeat::Loop),
            );
        }
        let reach = side as f32 * SPACING;
        let eye = [0.0, reach * 0.75, reach * 0.85];
        let camera = Camera::perspective_look_at(eye, [0.0; 3], 1.0, 16.0 / 9.0, 0.1, 4.0 * reach + 10.0);
        Ok(Self { renderer, crowd, camera, frame: Frame::new(&context.device), timer: Timer::new(context) })
    }

    fn times(&mut self, context: &Context, frames: usize) -> Result<Times, String> {
        let [mut frame, mut cpu, mut gpu] = [const { Vec::new() }; 3];
        for i in 0..frames {
            let time = i as f64 / 60.0;
            // Wall-clock time, as Bevy is measured.
            let (whole, submitted) = seconds(|| {
                let (submitted, result) = seconds(|| {
                    let mut encoder = context.device.create_command_encoder(&Default::default());
                    self.encode(context, &mut encoder, time)?;
                    context.queue.submit([encoder.finish()]);
                    Ok::<_, String>(())
                });
                result.and_then(|()| context.wait()).map(|()| submitted)
            });
            // Time of the GPU alone.
            let mut encoder = context.device.create_command_encoder(&Default::default());
            if let Some(timer) = &self.timer {
                timer.mark(&mut encoder, 0);
            }
            self.encode(context, &mut encoder, time)?;
            let alone = Timer::submit(self.timer.as_ref(), context, encoder)?;
            // The first frames upload all instances.
            if i > 1 {
                frame.push(whole);
                cpu.push(submitted?);
                gpu.push(alone);
            }
        }
        Ok(Times { frame: median(frame), cpu: median(cpu), gpu: median(gpu) })
    }

    fn encode(
        &mut self,
        context: &Context,
        encoder: &mut gpuskin_rt::wgpu::CommandEncoder,
        time: f64,
    ) -> Result<(), String> {
        self.renderer.prepare(&context.queue, encoder, &self.camera, time).map_err(|e| e.to_string())?;
        self.frame.pass(encoder, |pass| self.renderer.draw(pass));
        Ok(())
    }
}
