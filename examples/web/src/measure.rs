//! Measurements of the browser test, on a page and natively: poses that the device computes, pictures, and
//! the CPU's time per frame. `tests/browser.rs` compares both.

mod banners;
mod blends;
mod canvas;
mod demo;
mod many;
mod occluded;
mod outlined;
mod picture;
mod plasters;
mod read_model;
mod scene;
mod spheres;
mod weights;

use std::future::Future;

use crowd::baked::models;
use gpuskin_rt::tools::Capture;
use gpuskin_rt::{
    Camera, Clip, CrowdRenderer, Error, Instance, InstanceRecord, Model, RendererDescriptor, Repeat, Time, Transition,
    wgpu,
};

pub use canvas::SIZE;
pub use picture::{Drawn, Picture, picture};

use canvas::{COLOR, DEPTH, begin_pass, target};
use scene::Stage;

/// Constants of the models that `build.rs` baked.
#[allow(missing_docs, reason = "generated")]
mod baked {
    gpuskin_rt::include_baked!();
}

/// Number of instances whose CPU time is measured.
const INSTANCES: u32 = 10_000;
/// Number of blocks of frames that are measured, and frames per block: clocks of browsers are coarse.
const BLOCKS: u32 = 10;
const FRAMES: u32 = 10;

/// Models whose poses are compared: those of the demo, which are fetched, and one per encoding that needs no compute
/// shaders.
pub fn models() -> [&'static Model; 15] {
    use baked::models as encoded;
    [
        &models::SOLDIER,
        &models::HOUND,
        &encoded::MATRIX_F32,
        &encoded::MATRIX_F16,
        &encoded::MATRIX_UNORM,
        &encoded::TRS_F16,
        &encoded::TRS_PACKED,
        &encoded::FIXED16,
        &encoded::VAT_F32,
        &encoded::VAT_F16,
        &encoded::VAT_UNORM8,
        &encoded::VAT_UNORM16,
        &encoded::VAT_UNORM24,
        &encoded::VAT_PACKED,
        &encoded::VAT_PACKED_FINE,
    ]
}

/// Instances and times whose poses are compared: all clips at several phases, without a crossfade, in the middle of one, and in the
/// middle of an interrupted one.
pub fn frames(model: &Model) -> Vec<(InstanceRecord, Time)> {
    let clips = model.meta.clips().len() as u16;
    let of_clip = |clip: u16| {
        (0..4_u8).map(move |i| {
            let at = [0.1 * f32::from(clip), 0.0, -0.2 * f32::from(i)];
            let instance = Instance::<gpuskin_rt::Dynamic>::at(at).facing(0.7 * f32::from(i)).play(Clip::new(clip));
            let instance = instance.repeat(Repeat::Loop).phase(0.13 + 0.21 * f32::from(i));
            let mut record = instance.record(&model.meta, Time::ZERO);
            let now = 0.37 * f64::from(i);
            for fade in 0..[0, 1, 0, 2][usize::from(i)] {
                let next = Clip::<gpuskin_rt::Dynamic>::new((clip + 1 + fade) % clips);
                let start = now - 0.2 + 0.1 * f64::from(fade);
                record.play_clip(&model.meta, next, Transition::crossfade(0.3), start);
            }
            (record, Time::from_secs(now))
        })
    };
    (0..clips).flat_map(of_clip).collect()
}

/// Returns the positions that the device computes for [`frames`], world space, metres.
///
/// # Errors
/// If the model cannot be loaded, or the device cannot be read back.
pub async fn positions(device: &wgpu::Device, queue: &wgpu::Queue, model: &Model) -> Result<Vec<[f32; 3]>, Error> {
    let captured = Capture::new(device, queue, model)?.frames_async(&frames(model)).await?;
    Ok(captured.iter().flatten().map(|vertex| vertex.position).collect())
}

/// Returns the CPU's time per frame, milliseconds: with 10,000 instances that play on, and without any. The
/// fastest block of frames, because other programs of the machine only add time. `now` returns milliseconds, `rest` waits for the device between frames.
///
/// # Errors
/// If the model cannot be loaded.
pub async fn frame_times<R: Future<Output = ()>>(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    now: impl Fn() -> f64,
    rest: impl Fn() -> R,
) -> Result<[f64; 2], Error> {
    let targets = [COLOR, DEPTH].map(|format| target(device, format, wgpu::TextureUsages::empty()));
    // Few of the instances are in view, so that a device without a GPU keeps up.
    let camera = Camera::perspective_look_at([0.0, 1.6, 5.0], [0.0, 1.0, 0.0], 0.5, 4.0 / 3.0, 0.1, 12.0);
    let mut times = [0.0; 2];
    for (time, count) in times.iter_mut().zip([INSTANCES, 0]) {
        let descriptor = RendererDescriptor { color_format: COLOR, depth_format: Some(DEPTH), ..Default::default() };
        let mut renderer = CrowdRenderer::new(device, queue, descriptor)?;
        let mut stage = Stage { device, queue, renderer: &mut renderer, path: None };
        let crowd = (count > 0).then(|| demo::soldiers(&mut stage, count, 0.0)).transpose()?;
        *time = f64::INFINITY;
        // The first block creates pipelines.
        for block in 0..=BLOCKS {
            let mut spent = 0.0;
            for frame in 0..FRAMES {
                let start = now();
                let mut encoder = device.create_command_encoder(&Default::default());
                renderer.prepare(queue, &mut encoder, &camera, f64::from(block * FRAMES + frame) / 60.0)?;
                renderer.draw(&mut begin_pass(&mut encoder, targets.each_ref(), [true; 2]));
                queue.submit([encoder.finish()]);
                spent += now() - start;
                rest().await;
            }
            if block > 0 {
                *time = time.min(spent / f64::from(FRAMES));
            }
        }
        drop(crowd);
    }
    Ok(times)
}
