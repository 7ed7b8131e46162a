//! Scenes of many different models: the same soldiers as one model, or as many models of a few each; and how long they load.

use std::time::Instant;

use gpuskin_rt::internals::{
    Camera, Clip, ColorFormat, Crowd, CrowdDescriptor, CrowdRenderer, Data, Dynamic, Instance, InstanceId, Model,
    RendererDescriptor, Repeat, Transform, View, wgpu,
};

use super::gpu::{Frame, SIZE, Timer, depth_pass, target};
use crate::Options;
use crate::context::Context;
use crate::report::{Asked, compared, heading, median, seconds, time};

const MODELS: [usize; 5] = [1, 10, 50, 100, 200];
const VIEWS: [usize; 2] = [1, 5];
/// Parts of the time on the CPU.
const STEPS: [&str; 4] = ["commands of the game", "prepare", "recording of draws", "submit"];
const FRAMES: usize = 31;
const MOVING: &str = "moved and turned by slices in every frame";
/// Frames on a software renderer.
const SOFTWARE_FRAMES: usize = 5;
/// Distance between instances, metres.
const SPACING: f32 = 1.4;
/// Width and height of a shadow map, pixels.
const SHADOW_MAP: u32 = 2048;

pub(crate) fn measure(context: &Context, options: &Options) -> Result<(), String> {
    let usual = [if context.is_software() { 1_000 } else { 10_000 }];
    let counts = if options.counts.is_empty() { &usual[..] } else { &options.counts };
    let model = context.models.iter().find(|model| model.meta.encoding.needs_compute());
    let model = model.ok_or("no model in local-packed")?;
    for &count in counts {
        for moves in ["standing", MOVING] {
            table(context, model, count, moves)?;
        }
        let tables = wgpu::Features::TEXTURE_BINDING_ARRAY;
        if context.device.features().contains(tables) {
            table(&context.without(tables)?, model, count, "standing, each material bound by itself")?;
        }
        adding(context, model, count)?;
        second(context, model, count)?;
    }
    loading(context, model)
}

/// Loads the most models into a renderer that draws two, beside plain writes of the same bytes.
fn loading(context: &Context, model: &Model) -> Result<(), String> {
    let most = MODELS[MODELS.len() - 1];
    heading(&format!("models: {most} more loaded from memory and drawn once, over plain writes of the same bytes"));
    let models = (0..most + 2).map(|number| renamed(model, number)).collect::<Result<Vec<_>, _>>()?;
    let compressed = context.device.features().contains(wgpu::Features::TEXTURE_COMPRESSION_BC);
    let used = if compressed { ColorFormat::Bc7 } else { ColorFormat::Rgba8 };
    let formats = model.meta.textures.iter().flat_map(|texture| texture.formats.iter());
    let textures = model.textures.iter().zip(formats).filter(|(_, format)| **format == used).map(|(file, _)| file);
    let sizes: Vec<u64> = [&model.mesh, &model.animation].into_iter().chain(textures).map(|file| file.size).collect();
    let targets = Targets::new(context);
    let bytes = vec![1; sizes.iter().max().copied().unwrap_or_default() as usize];
    let (mut plain, mut loaded) = (Vec::new(), Vec::new());
    for frame in 0..SOFTWARE_FRAMES {
        let write = |size: &u64| {
            let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
            let size = size.next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
            let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
            let buffer = context.device.create_buffer(&descriptor);
            context.queue.write_buffer(&buffer, 0, &bytes[..(size as usize).min(bytes.len()) / 4 * 4]);
            buffer
        };
        let (wall, result) = seconds(|| {
            let buffers: Vec<_> = (0..most).flat_map(|_| sizes.iter().map(write)).collect();
            context.queue.submit([]);
            context.wait().map(|()| buffers)
        });
        result?;
        plain.push(wall);
        // The first two bring the renderer and its pipelines, of batches as well, which are not part of it.
        let mut scene = Scene { renderers: vec![Crowds::new(context, &models[..2], 2, 1, 1)?], side: 1 };
        scene.frame(context, &targets, VIEWS[0], frame, false)?;
        let (wall, result) = seconds(|| {
            models[2..].iter().try_for_each(|model| scene.renderers[0].add(model, &[0], 1))?;
            scene.frame(context, &targets, VIEWS[0], frame, false)?;
            context.wait()
        });
        result?;
        loaded.push(wall);
    }
    let plain = median(plain);
    let what = format!("plain writes of {:.0} MB", (sizes.iter().sum::<u64>() * most as u64) as f64 / 1e6);
    time(&what, plain);
    compared("loading and the first frame", median(loaded), ("plain writes", plain), Some(Asked::AtMost(1.1)));
    Ok(())
}

/// Adds a model to a scene of the most models while it is drawn.
fn adding(context: &Context, model: &Model, count: u32) -> Result<(), String> {
    let most = MODELS[MODELS.len() - 1];
    heading(&format!("models: one more model added to {most} while {count} instances are drawn, one view"));
    let mut scene = Scene::new(context, model, most, count)?;
    let targets = Targets::new(context);
    let frames = if context.is_software() { SOFTWARE_FRAMES } else { FRAMES };
    let [mut usual, mut with_addition, mut after_it] = [const { Vec::new() }; 3];
    for frame in 0..2 * frames {
        // Loaded from memory: a game reads files in another thread.
        let more = (frame % 4 == 3).then(|| renamed(model, most + frame)).transpose()?;
        let wall = with_more(context, (&mut scene, &targets), frame, more.as_ref())?;
        match frame % 4 {
            3 => with_addition.push(wall),
            // The first frames upload.
            _ if frame < 3 => {}
            // Crowds may be merged.
            0 => after_it.push(wall),
            _ => usual.push(wall),
        }
    }
    let longest = |walls: &[f64]| walls.iter().copied().fold(0.0, f64::max);
    let median = median(usual);
    time("median of all other frames, with waiting for the GPU", median);
    let asked = Some(Asked::AtMost(1.5));
    compared("longest frame in which a model is added", longest(&with_addition), ("median", median), asked);
    compared("longest of the frames after one", longest(&after_it), ("median", median), None);
    Ok(())
}

/// Draws a frame, before which a model may be added. Returns its time in seconds, with waiting for the GPU.
fn with_more(
    context: &Context,
    (scene, targets): (&mut Scene, &Targets),
    frame: usize,
    more: Option<&Model>,
) -> Result<f64, String> {
    let (wall, result) = seconds(|| {
        if let Some(more) = more {
            scene.renderers[0].add(more, &[0, 1, 2, 3, 4], scene.side)?;
        }
        scene.frame(context, targets, VIEWS[0], frame, false)
    });
    result.map(|_| wall)
}

/// Adds a second model to a scene of one while it is drawn: the first time that crowds are merged.
fn second(context: &Context, model: &Model, count: u32) -> Result<(), String> {
    heading(&format!("models: a second model added to one while {count} instances are drawn, one view"));
    let mut scene = Scene::new(context, model, 1, count)?;
    let targets = Targets::new(context);
    let frames = if context.is_software() { SOFTWARE_FRAMES } else { FRAMES };
    let (mut alone, mut with_second) = (Vec::new(), Vec::new());
    let start = Instant::now();
    for frame in 0.. {
        let more = (frame == frames).then(|| renamed(model, 1)).transpose()?;
        let wall = with_more(context, (&mut scene, &targets), frame, more.as_ref())?;
        match frame {
            // The first frames upload.
            0..4 => {}
            _ if frame < frames => alone.push(wall),
            _ => with_second.push(wall),
        }
        // Longer than any driver compiles.
        if frame > 2 * frames && start.elapsed().as_secs_f64() > 3.0 {
            break;
        }
    }
    let longest = with_second.iter().copied().fold(0.0, f64::max);
    let median = median(alone);
    time("median frame of one model, with waiting for the GPU", median);
    compared("longest frame from the second model on", longest, ("median", median), None);
    Ok(())
}

/// `what` instances do in the scenes.
fn table(context: &Context, model: &Model, count: u32, what: &str) -> Result<(), String> {
    let moving = what == MOVING;
    heading(&format!(
        "models: {count} instances of {} as K models of their own, {what}; main view {} x {}, then four shadow maps",
        model.meta.name, SIZE[0], SIZE[1]
    ));
    let scene = |models: &usize| Scene::new(context, model, *models, count);
    let mut scenes = MODELS.iter().map(scene).collect::<Result<Vec<_>, _>>()?;
    let targets = Targets::new(context);
    let mut gpu = [const { [const { Vec::new() }; MODELS.len()] }; VIEWS.len()];
    let mut cpu = gpu.clone();
    let mut steps = [const { [const { [const { Vec::new() }; STEPS.len()] }; MODELS.len()] }; VIEWS.len()];
    let mut empty = [const { Vec::new() }; VIEWS.len()];
    let frames = if context.is_software() { SOFTWARE_FRAMES } else { FRAMES };
    for frame in 0..frames {
        for (v, &views) in VIEWS.iter().enumerate() {
            // Interleaved, so that clock rates and other load on the machine affect all alike.
            empty[v].push(targets.empty_frame(context, views)?);
            for (k, scene) in scenes.iter_mut().enumerate() {
                let (on_gpu, on_cpu) = scene.frame(context, &targets, views, frame, moving)?;
                // The first frames upload all instances.
                if frame > 1 {
                    gpu[v][k].push(on_gpu);
                    cpu[v][k].push(on_cpu.iter().sum());
                    on_cpu.into_iter().zip(&mut steps[v][k]).for_each(|(time, all)| all.push(time));
                }
            }
        }
    }
    for (v, views) in VIEWS.iter().enumerate() {
        let of = |times: &[Vec<f64>]| -> Vec<f64> { times.iter().cloned().map(median).collect() };
        let (on_gpu, on_cpu) = (of(&gpu[v]), of(&cpu[v]));
        let many = if *views == 1 { "1 view".to_owned() } else { format!("{views} views") };
        time(&format!("{many}: the same passes without anything in them, on the CPU"), median(empty[v].clone()));
        for (k, models) in MODELS.iter().enumerate() {
            let name = format!("{models} models, {many}: frame on the GPU");
            let asked = (*models == 200 && !moving).then_some(Asked::AtMost(1.15));
            compared(&name, on_gpu[k], ("1 model", on_gpu[0]), asked);
        }
        for (k, models) in MODELS.iter().enumerate() {
            time(&format!("{models} models, {many}: prepare, record and submit on the CPU"), on_cpu[k]);
        }
        for k in [0, MODELS.len() - 1] {
            for (step, times) in STEPS.iter().zip(&steps[v][k]) {
                time(&format!("{} models, {many}: of that, {step}", MODELS[k]), median(times.clone()));
            }
        }
    }
    Ok(())
}

struct Targets {
    frame: Frame,
    maps: Vec<wgpu::TextureView>,
    timer: Option<Timer>,
}

impl Targets {
    fn new(context: &Context) -> Self {
        let map = |_| {
            let map = target(&context.device, wgpu::TextureFormat::Depth32Float, [SHADOW_MAP; 2]);
            map.create_view(&Default::default())
        };
        let maps = (1..VIEWS[1]).map(map).collect();
        Self { frame: Frame::new(&context.device), maps, timer: Timer::new(context) }
    }

    /// Seconds on the CPU to record and submit the passes of a frame without anything in them.
    fn empty_frame(&self, context: &Context, views: usize) -> Result<f64, String> {
        let mut encoder = context.device.create_command_encoder(&Default::default());
        self.timer.as_ref().inspect(|timer| timer.mark(&mut encoder, 0));
        let (record, ()) = seconds(|| {
            self.maps.iter().take(views - 1).for_each(|map| depth_pass(&mut encoder, map, |_| {}));
            self.frame.pass(&mut encoder, |_| {});
        });
        let (_, submit) = Timer::submit_timed(self.timer.as_ref(), context, encoder)?;
        Ok(record + submit)
    }
}

struct Scene {
    /// One renderer per number of views.
    renderers: Vec<Crowds>,
    side: u32,
}

struct Crowds {
    renderer: CrowdRenderer,
    suns: Vec<View>,
    crowds: Vec<(Crowd<Dynamic>, Vec<InstanceId>, Vec<Transform>)>,
}

impl Scene {
    fn new(context: &Context, model: &Model, models: usize, count: u32) -> Result<Self, String> {
        let side = f64::from(count).sqrt().ceil() as u32;
        let models: Vec<Model> = (0..models).map(|number| renamed(model, number)).collect::<Result<_, _>>()?;
        let renderers = VIEWS.iter().map(|views| Crowds::new(context, &models, count, side, *views));
        Ok(Self { renderers: renderers.collect::<Result<_, _>>()?, side })
    }

    /// Seconds of a frame on the GPU, and of each of [`STEPS`] on the CPU.
    fn frame(
        &mut self,
        context: &Context,
        targets: &Targets,
        views: usize,
        frame: usize,
        moving: bool,
    ) -> Result<(f64, [f64; STEPS.len()]), String> {
        let across = self.side as f32 * SPACING;
        let eye = Camera::perspective_look_at(
            [0.0, across * 0.5, across * 0.75],
            [0.0; 3],
            0.9,
            SIZE[0] as f32 / SIZE[1] as f32,
            0.1,
            across * 4.0,
        );
        let eye = eye.with_height(SIZE[1]);
        let sun = |i: usize| {
            let (sin, cos) = (0.5 + i as f32 * 0.4).sin_cos();
            let from = [sin * across, across, cos * across];
            Camera::orthographic_look_at(from, [0.0; 3], across * 1.6, across * 1.6, across * 4.0)
                .with_height(SHADOW_MAP)
        };
        let at = VIEWS.iter().position(|own| *own == views).ok_or("no such number of views")?;
        let Crowds { renderer, suns, crowds } = &mut self.renderers[at];
        let failed = |e: gpuskin_rt::internals::Error| e.to_string();
        let mut encoder = context.device.create_command_encoder(&Default::default());
        targets.timer.as_ref().inspect(|timer| timer.mark(&mut encoder, 0));
        let (commands, result) = seconds(|| {
            for (crowd, ids, transforms) in crowds.iter_mut().filter(|_| moving) {
                let turn = frame as f32 * 0.05;
                for transform in transforms.iter_mut() {
                    transform.translation[1] = turn.sin() * 0.1;
                    transform.rotation = [0.0, turn.sin(), 0.0, turn.cos()];
                }
                crowd.set_transforms(ids, transforms).map_err(failed)?;
            }
            Ok::<_, String>(())
        });
        result?;
        let (prepare, result) = seconds(|| {
            for (i, view) in suns.iter().enumerate() {
                renderer.prepare_view(&context.queue, *view, &sun(i)).map_err(failed)?;
            }
            renderer.prepare(&context.queue, &mut encoder, &eye, 10.0 + frame as f64 / 60.0).map_err(failed)
        });
        result?;
        let (record, ()) = seconds(|| {
            for (view, map) in suns.iter().zip(&targets.maps) {
                depth_pass(&mut encoder, map, |pass| renderer.draw_depth(pass, *view));
            }
            targets.frame.pass(&mut encoder, |pass| renderer.draw(pass));
        });
        let (on_gpu, submit) = Timer::submit_timed(targets.timer.as_ref(), context, encoder)?;
        Ok((on_gpu, [commands, prepare, record, submit]))
    }
}

impl Crowds {
    fn new(context: &Context, models: &[Model], count: u32, side: u32, views: usize) -> Result<Self, String> {
        let failed = |e: gpuskin_rt::internals::Error| e.to_string();
        let mut renderer =
            CrowdRenderer::new(&context.device, &context.queue, RendererDescriptor::default()).map_err(failed)?;
        let suns = (1..views).map(|_| renderer.add_view()).collect();
        let mut crowds = Self { renderer, suns, crowds: Vec::new() };
        for (number, model) in models.iter().enumerate() {
            let own: Vec<u32> = (0..count).filter(|i| *i as usize % models.len() == number).collect();
            crowds.add(model, &own, side)?;
        }
        Ok(crowds)
    }

    /// Adds a crowd of a model with instances at these places.
    fn add(&mut self, model: &Model, places: &[u32], side: u32) -> Result<(), String> {
        let descriptor = CrowdDescriptor { capacity: places.len() as u32, ..Default::default() };
        let crowd = Crowd::with_model(&mut self.renderer, model, descriptor).map_err(|e| e.to_string())?;
        let clips = model.meta.clips.len() as u32;
        let spawn = |i: &u32| {
            let [x, z] = [i % side, i / side].map(|c| (c as f32 - side as f32 / 2.0) * SPACING);
            let instance = Instance::at([x, 0.0, z]).facing(*i as f32 * 2.4);
            let id =
                crowd.spawn(instance.play(Clip::new((i % clips) as u16)).phase(*i as f32 * 0.618).repeat(Repeat::Loop));
            (id, crowd.transform(id))
        };
        let (ids, transforms): (Vec<_>, Vec<_>) = places.iter().map(spawn).unzip();
        self.crowds.push((crowd, ids, transforms.into_iter().flatten().collect()));
        Ok(())
    }
}

/// Returns a model that the renderer takes for another one, because its hash differs.
fn renamed(model: &Model, number: usize) -> Result<Model, String> {
    let mut model = model.clone();
    let number = (number as u32 + 1).to_le_bytes();
    let change = |hash: &mut [u8]| hash.iter_mut().zip(number).for_each(|(byte, number)| *byte ^= number);
    change(&mut model.meta.content_hash);
    for payload in [&mut model.mesh, &mut model.animation].into_iter().chain(model.textures.to_mut()) {
        let Data::Bytes(bytes) = &mut payload.data else { return Err("a file is not in memory".to_owned()) };
        change(&mut bytes.to_mut()[payload.hash_at as usize..][..16]);
    }
    Ok(model)
}
