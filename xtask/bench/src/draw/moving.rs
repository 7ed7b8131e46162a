//! Instances that move by a velocity and a turn rate, also on a terrain, or by root motion, beside the same instances standing.

use gpuskin_rt::internals::{
    Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Dynamic, Instance, Model, Motion, RendererDescriptor, Repeat,
    RootKey, RootMotion, Terrain, Transform, Transition,
};

use super::gpu::{Frame, SIZE, Timer};
use crate::Options;
use crate::context::Context;
use crate::report::{Asked, compared, heading, median, seconds};

const FRAMES: usize = 31;
/// Frames on a software renderer.
const SOFTWARE_FRAMES: usize = 5;
/// Speed of the walk, metres per second.
const SPEED: f32 = 0.5;
/// Turn rate of the walk, radians per second.
const TURN_RATE: f32 = 1.0;
/// Distance between instances, metres.
const SPACING: f32 = 1.2;

pub(crate) fn measure(context: &Context, options: &Options) -> Result<(), String> {
    let usual = [if context.is_software() { 400 } else { 1_000_000 }];
    let counts = if options.counts.is_empty() { &usual[..] } else { &options.counts };
    let model = context.models.iter().find(|model| model.meta.encoding.needs_compute());
    let model = model.ok_or("no model in local-packed")?;
    counts.iter().try_for_each(|&count| table(context, model, count))
}

fn table(context: &Context, model: &Model, count: u32) -> Result<(), String> {
    let walk = Motion::forwards(SPEED).turning(TURN_RATE);
    let model = &circling(model);
    for (fades, which) in [(false, ""), (true, ", all of them halfway through a crossfade")] {
        heading(&format!(
            "moving: {count} instances of {} that walk in circles{which}, over the same standing; {} x {}, LOD error 1 pixel",
            model.meta.name, SIZE[0], SIZE[1]
        ));
        let motions = [Motion::STILL, walk, Motion::following_root()];
        let scenes = motions.map(|motion| Scene::new(context, model, count, motion, fades));
        let [standing, rates, roots] = scenes;
        let on_terrain = Scene::new(context, model, count, walk, fades)?;
        on_terrain.crowd.set_terrain(Some(&plain(count)?));
        measure_scenes(context, &mut [standing?, rates?, roots?, on_terrain])?;
    }
    Ok(())
}

/// Returns a terrain under all instances that tilts them: of height 0, so that the picture is the same.
fn plain(count: u32) -> Result<Terrain, String> {
    const SAMPLES: usize = 1024;
    let across = f64::from(count).sqrt() as f32 * SPACING;
    let terrain = Terrain::new([-0.5 * across; 2], across / SAMPLES as f32, SAMPLES, vec![0.0; SAMPLES * SAMPLES]);
    Ok(terrain.map_err(|e| e.to_string())?.tilted(1.0))
}

/// Measures instances that stand, that move at constant rates, that follow their root motion, and that move at constant
/// rates on a terrain.
fn measure_scenes(context: &Context, scenes: &mut [Scene; 4]) -> Result<(), String> {
    let (frame, timer) = (Frame::new(&context.device), Timer::new(context));
    let (mut gpu, mut cpu) = ([const { Vec::new() }; 4], [const { Vec::new() }; 4]);
    for i in 0..if context.is_software() { SOFTWARE_FRAMES } else { FRAMES } {
        // In turns, so that clock rates and other load on the machine affect all alike.
        for (scene, (gpu, cpu)) in scenes.iter_mut().zip(gpu.iter_mut().zip(&mut cpu)) {
            let mut encoder = context.device.create_command_encoder(&Default::default());
            timer.as_ref().inspect(|timer| timer.mark(&mut encoder, 0));
            let time = 10.0 + i as f64 / 60.0;
            let (prepare, result) =
                seconds(|| scene.renderer.prepare(&context.queue, &mut encoder, &scene.camera, time));
            result.map_err(|e| e.to_string())?;
            frame.pass(&mut encoder, |pass| scene.renderer.draw(pass));
            let on_gpu = Timer::submit(timer.as_ref(), context, encoder)?;
            // The first frames upload all instances.
            if i > 1 {
                gpu.push(on_gpu);
                cpu.push(prepare);
            }
        }
    }
    let [standing, rates, roots, on_terrain] = gpu.map(median);
    compared("frame on the GPU, by velocity", rates, ("standing", standing), Some(Asked::AtMost(1.02)));
    compared("frame on the GPU, by root motion", roots, ("standing", standing), None);
    compared("frame on the GPU, by velocity on a terrain", on_terrain, ("standing", standing), None);
    let [standing, rates, roots, on_terrain] = cpu.map(median);
    compared("prepare on the CPU, by velocity", rates, ("standing", standing), Some(Asked::AtMost(1.0)));
    compared("prepare on the CPU, by root motion", roots, ("standing", standing), None);
    compared("prepare on the CPU, by velocity on a terrain", on_terrain, ("standing", standing), None);
    Ok(())
}

/// Returns the model with clips whose root motion is a walk in circles.
fn circling(model: &Model) -> Model {
    let mut model = model.clone();
    for clip in model.meta.clips.to_mut() {
        let key = |frame: u32| {
            let seconds = clip.duration * f64::from(frame) / f64::from(clip.intervals);
            let there = Motion::forwards(SPEED).turning(TURN_RATE).transform_after(Transform::default(), seconds);
            RootKey { translation: there.translation, rotation: there.rotation }
        };
        let keys: Vec<RootKey> = (0..=clip.intervals).map(key).collect();
        clip.root_motion = Some(RootMotion { planar: true, keys: keys.into() });
    }
    model
}

struct Scene {
    renderer: CrowdRenderer,
    camera: Camera,
    crowd: Crowd<Dynamic>,
}

impl Scene {
    /// `fades`: whether all instances are in a crossfade, of which half has passed at a time of 10 seconds.
    fn new(context: &Context, model: &Model, count: u32, motion: Motion, fades: bool) -> Result<Self, String> {
        let failed = |e: gpuskin_rt::internals::Error| e.to_string();
        let mut renderer =
            CrowdRenderer::new(&context.device, &context.queue, RendererDescriptor::default()).map_err(failed)?;
        let descriptor = CrowdDescriptor { capacity: count, ..Default::default() };
        let crowd = Crowd::with_model(&mut renderer, model, descriptor).map_err(failed)?;
        let side = f64::from(count).sqrt().ceil() as u32;
        let clips = model.meta.clips.len() as u32;
        let ids = crowd.spawn_many((0..count).map(|i| {
            let [x, z] = [i % side, i / side].map(|c| (c as f32 - side as f32 / 2.0) * SPACING);
            let instance = Instance::at([x, 0.0, z]).facing(i as f32 * 2.4).play(Clip::new((i % clips) as u16));
            instance.phase(i as f32 * 0.618).repeat(Repeat::Loop).moving(motion)
        }));
        if fades {
            let next: Vec<_> = (0..count).map(|i| Clip::new(((i + 1) % clips) as u16)).collect();
            let fade = Transition::crossfade(20.0).repeat(Repeat::Loop);
            crowd.play_many(&ids, &next, fade).map_err(failed)?;
        }
        let across = side as f32 * SPACING;
        let (eye, aspect) = ([0.0, across * 0.1, across * 0.5], SIZE[0] as f32 / SIZE[1] as f32);
        let camera = Camera::perspective_look_at(eye, [0.0; 3], 0.9, aspect, 0.1, across * 4.0).with_height(SIZE[1]);
        Ok(Self { renderer, camera, crowd })
    }
}
