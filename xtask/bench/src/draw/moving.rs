//! Instances that move by a velocity and a turn rate, beside the same instances standing.

use gpuskin_rt::internals::{
    Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Dynamic, Instance, Model, Motion, RendererDescriptor, Repeat,
};

use super::gpu::{Frame, SIZE, Timer};
use crate::Options;
use crate::context::Context;
use crate::report::{Asked, compared, heading, median, seconds};

const FRAMES: usize = 31;
/// Frames on a software renderer.
const SOFTWARE_FRAMES: usize = 5;
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
    heading(&format!(
        "moving: {count} instances of {} that walk in circles, over the same standing; {} x {}, LOD error 1 pixel",
        model.meta.name, SIZE[0], SIZE[1]
    ));
    let mut scenes = [Scene::new(context, model, count, None)?, {
        let walk = Motion::forwards(0.5).turning(1.0);
        Scene::new(context, model, count, Some(walk))?
    }];
    let (frame, timer) = (Frame::new(&context.device), Timer::new(context));
    let (mut gpu, mut cpu) = ([const { Vec::new() }; 2], [const { Vec::new() }; 2]);
    for i in 0..if context.is_software() { SOFTWARE_FRAMES } else { FRAMES } {
        // In turns, so that clock rates and other load on the machine affect both alike.
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
    let [standing, moving] = gpu.map(median);
    compared("frame on the GPU", moving, ("standing", standing), Some(Asked::AtMost(1.02)));
    let [standing, moving] = cpu.map(median);
    compared("prepare on the CPU", moving, ("standing", standing), Some(Asked::AtMost(1.0)));
    Ok(())
}

struct Scene {
    renderer: CrowdRenderer,
    camera: Camera,
    _crowd: Crowd<Dynamic>,
}

impl Scene {
    fn new(context: &Context, model: &Model, count: u32, motion: Option<Motion>) -> Result<Self, String> {
        let failed = |e: gpuskin_rt::internals::Error| e.to_string();
        let mut renderer =
            CrowdRenderer::new(&context.device, &context.queue, RendererDescriptor::default()).map_err(failed)?;
        let descriptor = CrowdDescriptor { capacity: count, ..Default::default() };
        let crowd = Crowd::with_model(&mut renderer, model, descriptor).map_err(failed)?;
        let side = f64::from(count).sqrt().ceil() as u32;
        let clips = model.meta.clips.len() as u32;
        crowd.spawn_many((0..count).map(|i| {
            let [x, z] = [i % side, i / side].map(|c| (c as f32 - side as f32 / 2.0) * SPACING);
            let instance = Instance::at([x, 0.0, z]).facing(i as f32 * 2.4).play(Clip::new((i % clips) as u16));
            let instance = instance.phase(i as f32 * 0.618).repeat(Repeat::Loop);
            motion.map_or(instance, |motion| instance.moving(motion))
        }));
        let across = side as f32 * SPACING;
        let (eye, aspect) = ([0.0, across * 0.1, across * 0.5], SIZE[0] as f32 / SIZE[1] as f32);
        let camera = Camera::perspective_look_at(eye, [0.0; 3], 0.9, aspect, 0.1, across * 4.0).with_height(SIZE[1]);
        Ok(Self { renderer, camera, _crowd: crowd })
    }
}
