//! Birds of `examples/flock`, which a compute pass steers.

use flock::{Flock, Picture};
use gpuskin_rt::internals::wgpu;

use super::gpu::{SIZE, Timer};
use crate::Options;
use crate::context::Context;
use crate::report::{heading, median, seconds, time};

/// Steps before the first frame that is measured.
const STEPS: u32 = 180;
const FRAMES: u32 = 61;

pub(crate) fn measure(context: &Context, options: &Options) -> Result<(), String> {
    let usual = [if context.is_software() { 2_000 } else { 100_000 }];
    let counts = if options.counts.is_empty() { &usual[..] } else { &options.counts };
    counts.iter().try_for_each(|&count| table(context, count).map_err(|e| e.to_string()))
}

fn table(context: &Context, count: u32) -> Result<(), flock::Error> {
    heading(&format!("flock: {count} birds, steered and drawn at {} x {}", SIZE[0], SIZE[1]));
    let to = (&context.device, &context.queue);
    let mut flock = Flock::new(to, Picture::FORMAT, count)?;
    let (texture, timer) = (Picture::texture(&context.device, SIZE), Timer::new(context));
    let [mut on_gpu, mut record, mut submit] = [const { Vec::new() }; 3];
    for frame in 0..STEPS + FRAMES {
        let mut encoder = context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        timer.as_ref().inspect(|timer| timer.mark(&mut encoder, 0));
        let (commands, result) = seconds(|| flock.record(to, &mut encoder, &texture, 1));
        result?;
        let (frame_time, finish) = Timer::submit_timed(timer.as_ref(), context, encoder)?;
        if frame >= STEPS {
            on_gpu.push(frame_time);
            record.push(commands);
            submit.push(finish);
        }
    }
    time("frame on the GPU (target on an NVIDIA H200: 4 ms)", median(on_gpu));
    time("steer, prepare and draw on the CPU (target: 0.1 ms)", median(record));
    time("submit on the CPU", median(submit));
    Ok(())
}
