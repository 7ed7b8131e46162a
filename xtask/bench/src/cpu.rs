//! CPU work per frame: without commands it must not depend on the number of instances, with
//! commands only on the number of commands.

use gpuskin_rt::internals::{
    Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Dynamic, Instance, InstanceId, Model, RendererDescriptor,
    Transform, Transition,
};
use gpuskin_rt::wgpu;

use crate::context::Context;
use crate::report::{heading, line, median, seconds, time};

const COUNTS: [u32; 4] = [1_000, 10_000, 100_000, 1_000_000];
const FRAMES: usize = 200;
/// Frames on a software renderer, which evaluates the poses of all instances in every frame.
const SOFTWARE_FRAMES: usize = 16;
/// Instances of the crowd that gets commands, and commands per frame.
const COMMANDED: u32 = 100_000;
const COMMANDS: [usize; 3] = [100, 1_000, 10_000];

pub(crate) fn measure(context: &Context) -> Result<(), String> {
    idle(context)?;
    commands(context)?;
    moves(context)?;
    snapshots(context)
}

struct Scene {
    renderer: CrowdRenderer,
    crowd: Crowd<Dynamic>,
    ids: Vec<InstanceId>,
}

impl Scene {
    fn new(context: &Context, model: &Model, count: u32) -> Result<Self, String> {
        Self::with_renderer(context, model, count, RendererDescriptor::default())
    }

    fn with_renderer(
        context: &Context,
        model: &Model,
        count: u32,
        renderer: RendererDescriptor,
    ) -> Result<Self, String> {
        let failed = |e: gpuskin_rt::internals::Error| e.to_string();
        let mut renderer = CrowdRenderer::new(&context.device, &context.queue, renderer).map_err(failed)?;
        let descriptor = CrowdDescriptor { capacity: count, ..Default::default() };
        let crowd = Crowd::with_model(&mut renderer, model, descriptor).map_err(failed)?;
        let spawn = |i: u32| {
            let at = [(i % 316) as f32, 0.0, (i / 316) as f32];
            crowd.spawn(Instance::at(at).play(Clip::new(0)).phase(i as f32 * 0.618))
        };
        let ids = (0..count).map(spawn).collect();
        Ok(Self { renderer, crowd, ids })
    }

    /// Seconds of the commands and `prepare`, and of both with the submission.
    fn frame(&mut self, context: &Context, frame: usize, command: impl FnOnce(&Self)) -> Result<[f64; 2], String> {
        let camera = Camera::perspective_look_at([0.0, 2.0, 5.0], [0.0, 1.0, 0.0], 1.0, 1.6, 0.1, 1000.0);
        let (whole, prepared) = seconds(|| {
            let mut encoder = context.device.create_command_encoder(&Default::default());
            let (time, result) = seconds(|| {
                command(self);
                self.renderer.prepare(&context.queue, &mut encoder, &camera, frame as f64 / 60.0)
            });
            context.queue.submit([encoder.finish()]);
            result.map(|()| time).map_err(|e| e.to_string())
        });
        context.wait()?;
        Ok([prepared?, whole])
    }
}

fn idle(context: &Context) -> Result<(), String> {
    heading("CPU time per frame, all instances playing, no commands");
    let scenes: Result<Vec<_>, _> =
        COUNTS.into_iter().map(|count| Scene::new(context, &context.models[0], count)).collect();
    let mut scenes = scenes?;
    let (mut times, mut empty) = (vec![[const { Vec::new() }; 2]; COUNTS.len()], Vec::new());
    // Interleaved, so that other load on the machine affects all scenes alike.
    let frames = if context.is_software() { SOFTWARE_FRAMES } else { FRAMES };
    for frame in 0..frames {
        for (scene, times) in scenes.iter_mut().zip(&mut times) {
            let now = scene.frame(context, frame, |_| ())?;
            // The first frame uploads all instances.
            if frame > 0 {
                times.iter_mut().zip(now).for_each(|(times, now)| times.push(now));
            }
        }
        let (time, ()) = seconds(|| {
            let encoder = context.device.create_command_encoder(&Default::default());
            context.queue.submit([encoder.finish()]);
        });
        context.wait()?;
        empty.push(time);
    }
    let medians: Vec<[f64; 2]> = times.into_iter().map(|times| times.map(median)).collect();
    time("an empty submission", median(empty));
    for ((count, scene), [prepare, whole]) in COUNTS.into_iter().zip(&scenes).zip(&medians) {
        let palettes = scene.crowd.explain(&scene.renderer).palettes;
        let buffers = if palettes > 1 { format!(" ({palettes} palettes)") } else { String::new() };
        line(
            &format!("{count} instances{buffers}: prepare; prepare and submit"),
            format!("{:.2} us: {:.2} x; {:.2} us", prepare * 1e6, prepare / medians[0][0], whole * 1e6),
        );
    }
    Ok(())
}

fn snapshots(context: &Context) -> Result<(), String> {
    heading(&format!("Snapshot and restore, {COMMANDED} instances, a tenth with layers or fades"));
    let scene = Scene::new(context, &context.models[0], COMMANDED)?;
    let clip = Clip::new((scene.crowd.meta().clips.len() - 1) as u16);
    for (i, id) in scene.ids.iter().enumerate().step_by(10) {
        if i % 20 == 0 {
            scene.crowd.play(*id, clip, Transition::crossfade(5.0)).map_err(|e| e.to_string())?;
        } else {
            let over = Transition::crossfade(5.0);
            scene.crowd.play_layer(*id, 0, clip, None, over, 1.0).map_err(|e| e.to_string())?;
        }
    }
    let (mut saving, mut restoring, mut bytes) = (Vec::new(), Vec::new(), 0);
    for _ in 0..SOFTWARE_FRAMES {
        let (time, saved) = seconds(|| scene.crowd.snapshot());
        saving.push(time);
        bytes = saved.len();
        let (time, restored) = seconds(|| scene.crowd.restore(&saved));
        restored.map_err(|e| e.to_string())?;
        restoring.push(time);
    }
    line("snapshot (target: under 10 ms)", format!("{:.2} ms, {bytes} bytes", median(saving) * 1e3));
    line("restore (target: under 10 ms)", format!("{:.2} ms", median(restoring) * 1e3));
    Ok(())
}

fn commands(context: &Context) -> Result<(), String> {
    heading(&format!("CPU time per frame, {COMMANDED} instances, with commands: half fade to a clip, half move"));
    let mut scene = Scene::new(context, &context.models[0], COMMANDED)?;
    let clips = scene.crowd.meta().clips.len();
    scene.frame(context, 0, |_| ())?;
    let frames = if context.is_software() { SOFTWARE_FRAMES } else { FRAMES };
    for count in COMMANDS {
        let (mut times, mut bytes) = (Vec::new(), Vec::new());
        for frame in 1..=frames {
            let command = |scene: &Scene| {
                for i in 0..count {
                    // Spread over the whole crowd.
                    let id = scene.ids[(i * 7_919 + frame * 104_729) % scene.ids.len()];
                    if i % 2 == 0 {
                        scene.crowd.play(id, Clip::new((i % clips) as u16), Transition::crossfade(0.2)).unwrap();
                    } else {
                        scene.crowd.move_to(id, [i as f32, 0.0, frame as f32]).unwrap();
                    }
                }
            };
            times.push(scene.frame(context, frame, command)?[0]);
            bytes.push(scene.crowd.explain(&scene.renderer).uploaded_bytes as f64);
        }
        let (time, bytes) = (median(times), median(bytes));
        let asked = if count == 1_000 { " (target: under 1 ms)" } else { "" };
        line(
            &format!("{count} commands: commands and prepare; upload"),
            format!("{:.3} ms{asked}; {bytes:.0} bytes, {:.0} per command", time * 1e3, bytes / count as f64),
        );
    }
    Ok(())
}

/// Transforms of all instances from slices, against plain writes of the same bytes into a buffer.
fn moves(context: &Context) -> Result<(), String> {
    heading(&format!("CPU time per frame, all of {COMMANDED} instances move and turn"));
    let mut scene = Scene::new(context, &context.models[0], COMMANDED)?;
    scene.frame(context, 0, |_| ())?;
    let with_vectors = RendererDescriptor { motion_vectors: true, ..Default::default() };
    let mut blurred = Scene::with_renderer(context, &context.models[0], COMMANDED, with_vectors)?;
    blurred.frame(context, 0, |_| ())?;
    let bytes = u64::from(COMMANDED) * size_of::<Transform>() as u64;
    let buffer = context.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: bytes,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    // Two sets of transforms, so that all of them change in every frame.
    let sets = [0.0, 1.0].map(|by| {
        let at = |i: u32| [(i % 316) as f32 + by, 0.0, (i / 316) as f32];
        (0..COMMANDED).map(|i| Transform::at(at(i)).facing(i as f32 + by)).collect::<Vec<_>>()
    });
    let frames = if context.is_software() { SOFTWARE_FRAMES } else { FRAMES };
    // Readers of transforms on the CPU need a list of them, which takes this copy at least.
    let mut copied = vec![Transform::default(); COMMANDED as usize];
    let mut times = [const { Vec::new() }; 7];
    for frame in 1..=frames {
        let set = &sets[frame % 2];
        let plain = |_: &Scene| context.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(set));
        let bulk = |scene: &Scene| scene.crowd.set_transforms(&scene.ids, set).unwrap();
        let threads = |scene: &Scene, set: &[Transform]| {
            scene.crowd.update_transforms(|all| {
                std::thread::scope(|scope| {
                    for (all, set) in all.chunks_mut(25_000).zip(set.chunks(25_000)) {
                        scope.spawn(move || all.copy_from_slice(set));
                    }
                });
            });
        };
        let single = |scene: &Scene| {
            scene.ids.iter().zip(set).for_each(|(id, transform)| scene.crowd.set_transform(*id, *transform).unwrap());
        };
        // In turns, each after a frame that moves them back.
        let back = &sets[1 - frame % 2];
        times[0].push(scene.frame(context, frame, |_| ())?[1]);
        times[1].push(scene.frame(context, frame, plain)?[1]);
        times[2].push(scene.frame(context, frame, bulk)?[1]);
        scene.frame(context, frame, |scene| threads(scene, back))?;
        times[3].push(scene.frame(context, frame, |scene| threads(scene, set))?[1]);
        times[6].push(seconds(|| copied.copy_from_slice(core::hint::black_box(set))).0);
        scene.frame(context, frame, |scene| scene.crowd.set_transforms(&scene.ids, back).unwrap())?;
        times[4].push(scene.frame(context, frame, single)?[1]);
        scene.frame(context, frame, |scene| scene.crowd.set_transforms(&scene.ids, back).unwrap())?;
        times[5].push(blurred.frame(context, frame, bulk)?[1]);
    }
    let [idle, plain, bulk, threads, single, vectors, copy] = times.map(median);
    line("no command: prepare", format!("{:.3} ms", idle * 1e3));
    line(&format!("plain writes of {bytes} bytes, and prepare"), format!("{:.3} ms", plain * 1e3));
    line("a copy of these bytes in memory", format!("{:.3} ms", copy * 1e3));
    let of_plain = |time: f64| format!("{:.3} ms: {:.2} x plain writes", time * 1e3, time / plain);
    line("set_transforms, and prepare (target: 1.2 x)", of_plain(bulk));
    line("update_transforms on four threads, and prepare", of_plain(threads));
    line("set_transform for each, and prepare", of_plain(single));
    line("set_transforms with motion vectors, and prepare", of_plain(vectors));
    Ok(())
}
