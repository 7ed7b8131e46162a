//! CPU work of a frame in which nobody is commanded: it must not depend on how many instances there are.

use gpuskin_rt::{Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Instance, RendererDescriptor};

use crate::context::Context;
use crate::report::{heading, line, median, seconds};

const COUNTS: [u32; 3] = [1_000, 10_000, 100_000];
const FRAMES: usize = 200;
/// Where the device is a program: it evaluates the poses of all instances in every frame.
const SOFTWARE_FRAMES: usize = 16;

pub(crate) fn measure(context: &Context) -> Result<(), String> {
    heading("CPU of a frame, all instances playing on: prepare");
    let mut scenes = Vec::new();
    for count in COUNTS {
        let mut renderer = CrowdRenderer::new(&context.device, &context.queue, RendererDescriptor::default())
            .map_err(|e| e.to_string())?;
        let crowd = Crowd::with_model(&mut renderer, &context.models[0], CrowdDescriptor { capacity: count })
            .map_err(|e| e.to_string())?;
        for i in 0..count {
            let at = [(i % 316) as f32, 0.0, (i / 316) as f32];
            crowd.spawn(Instance::at(at).play(Clip::new(0)).phase(i as f32 * 0.618));
        }
        scenes.push((count, renderer, crowd));
    }
    let camera = Camera::perspective_look_at([0.0, 2.0, 5.0], [0.0, 1.0, 0.0], 1.0, 1.6, 0.1, 1000.0);
    let mut times = vec![Vec::new(); COUNTS.len()];
    // Interleaved, so that what else the machine does falls on all.
    let frames = if context.is_software() { SOFTWARE_FRAMES } else { FRAMES };
    for frame in 0..frames {
        for ((_, renderer, _), times) in scenes.iter_mut().zip(&mut times) {
            let mut encoder = context.device.create_command_encoder(&Default::default());
            let moment = frame as f64 / 60.0;
            let (time, result) = seconds(|| renderer.prepare(&context.queue, &mut encoder, &camera, moment));
            result.map_err(|e| e.to_string())?;
            context.queue.submit([encoder.finish()]);
            // The first frame uploads everybody.
            if frame > 0 {
                times.push(time);
            }
        }
        context.wait()?;
    }
    let medians: Vec<f64> = times.into_iter().map(median).collect();
    for ((count, ..), time) in scenes.iter().zip(&medians) {
        line(&format!("{count} instances"), format!("{:.2} us: {:.2} x", time * 1e6, time / medians[0]));
    }
    Ok(())
}
