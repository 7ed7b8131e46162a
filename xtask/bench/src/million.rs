//! A million soldiers, seen from among them: culling, levels of detail and poses of those that are seen.

use gpuskin_rt::{Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Instance, RendererDescriptor, View, wgpu};

use crate::Options;
use crate::context::Context;
use crate::report::{heading, line, median, seconds, time};

const SIZE: wgpu::Extent3d = wgpu::Extent3d { width: 1920, height: 1080, depth_or_array_layers: 1 };
const FRAMES: usize = 31;
/// Where the device is a program.
const SOFTWARE_FRAMES: usize = 4;
/// Metres.
const EYE: f32 = 1.7;

pub(crate) fn measure(context: &Context, options: &Options) -> Result<(), String> {
    let usual = [if context.is_software() { 400 } else { 1_000_000 }];
    let counts = if options.counts.is_empty() { &usual[..] } else { &options.counts };
    counts.iter().try_for_each(|&count| measure_one(context, count))
}

fn measure_one(context: &Context, count: u32) -> Result<(), String> {
    let model = context
        .models
        .iter()
        .find(|m| m.meta.encoding.needs_compute() && !m.meta.mesh.levels.is_empty())
        .ok_or("no model in local-packed that has levels of detail")?;
    let side = f64::from(count).sqrt().ceil() as u32;
    heading(&format!(
        "million: {count} of {}, {side} to a side, 1 m apart; eye at {EYE} m in their midst; 1920 x 1080; error 1 pixel",
        model.meta.name
    ));
    let mut renderer = CrowdRenderer::new(&context.device, &context.queue, RendererDescriptor::default())
        .map_err(|e| e.to_string())?;
    let descriptor = CrowdDescriptor { capacity: count, ..Default::default() };
    let crowd = Crowd::with_model(&mut renderer, model, descriptor).map_err(|e| e.to_string())?;
    let clips = model.meta.clips.len() as u32;
    for i in 0..count {
        let at = [i % side, i / side].map(|c| c as f32 - (side / 2) as f32 + 0.5);
        let clip = Clip::new((i.wrapping_mul(2_654_435_761) >> 16) as u16 % clips as u16);
        let instance = Instance::at([at[0], 0.0, at[1]]).facing(i as f32 * 2.4).play(clip).phase(i as f32 * 0.618);
        crowd.spawn(instance.looping());
    }
    let frame = Frame::new(&context.device);
    let aspect = SIZE.width as f32 / SIZE.height as f32;
    let across = 2.0 * ((30.0_f32).to_radians().tan() / aspect).atan();
    for (name, fov_y) in [("60 degrees across", across), ("60 degrees high", 60.0_f32.to_radians())] {
        let camera = Camera::perspective_look_at([0.0, EYE, 0.0], [0.0, EYE, -10.0], fov_y, aspect, 0.1, 2000.0);
        let camera = camera.with_height(SIZE.height);
        let [mut all, mut poses, mut cpu] = [const { Vec::new() }; 3];
        let (frames, first) = if context.is_software() { (SOFTWARE_FRAMES, 1) } else { (FRAMES, 5) };
        for i in 0..frames {
            let mut encoder = context.device.create_command_encoder(&Default::default());
            frame.timer.as_ref().inspect(|timer| timer.mark(&mut encoder, 0));
            let moment = 10.0 + i as f64 / 60.0;
            let (prepare, result) = seconds(|| renderer.prepare(&context.queue, &mut encoder, &camera, moment));
            result.map_err(|e| e.to_string())?;
            frame.timer.as_ref().inspect(|timer| timer.mark(&mut encoder, 1));
            frame.draw(&renderer, &mut encoder);
            if let Some(timer) = &frame.timer {
                timer.mark(&mut encoder, 2);
                timer.resolve(&mut encoder);
            }
            let commands = encoder.finish();
            let (wall, result) = seconds(|| {
                context.queue.submit([commands]);
                context.wait()
            });
            result?;
            let [before, drawing] = match &frame.timer {
                Some(timer) => timer.read(context)?,
                None => [f64::NAN, wall],
            };
            // The first frames upload everybody, and wake the device.
            if i >= first {
                all.push(if before.is_nan() { drawing } else { before + drawing });
                poses.push(before);
                cpu.push(prepare);
            }
        }
        let counts = crowd.count_levels(&renderer, View::MAIN).map_err(|e| e.to_string())?;
        let seen: u64 = counts.iter().sum();
        let mesh = &model.meta.mesh;
        let triangles: u64 = counts.iter().enumerate().map(|(level, count)| count * mesh.triangles(level)).sum();
        line(&format!("{name}: in the frustum"), seen);
        for (level, count) in counts.iter().enumerate() {
            let error = if level == 0 { 0.0 } else { mesh.levels[level - 1].error * 1e3 };
            let what = format!("    level {level}, {} triangles, {error:.1} mm", mesh.triangles(level));
            line(&what, count);
        }
        line(&format!("{name}: triangles drawn"), triangles);
        time(&format!("{name}: a frame on the GPU (16.6 are asked of an NVIDIA H200)"), median(all));
        time(&format!("{name}: of it, culling and poses"), median(poses));
        time(&format!("{name}: prepare on the CPU"), median(cpu));
    }
    Ok(())
}

/// What is drawn to, and when.
struct Frame {
    color: wgpu::TextureView,
    depth: wgpu::TextureView,
    timer: Option<Timer>,
}

impl Frame {
    fn new(device: &wgpu::Device) -> Self {
        let target = |format| {
            let texture = device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: SIZE,
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            });
            texture.create_view(&Default::default())
        };
        let timer = device.features().contains(wgpu::Features::TIMESTAMP_QUERY).then(|| Timer::new(device));
        let color = target(RendererDescriptor::default().color_format);
        Self { color, depth: target(wgpu::TextureFormat::Depth32Float), timer }
    }

    fn draw(&self, renderer: &CrowdRenderer, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: None,
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.color,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        renderer.draw(&mut pass);
    }
}

/// Moments of a frame on the GPU: before it, between poses and drawing, after it.
struct Timer {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readable: wgpu::Buffer,
}

const MARKS: u32 = 3;

impl Timer {
    fn new(device: &wgpu::Device) -> Self {
        let buffer = |usage| {
            let size = u64::from(MARKS) * 8;
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        let ty = wgpu::QueryType::Timestamp;
        Self {
            queries: device.create_query_set(&wgpu::QuerySetDescriptor { label: None, ty, count: MARKS }),
            resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            readable: buffer(wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ),
        }
    }

    fn mark(&self, encoder: &mut wgpu::CommandEncoder, query: u32) {
        let timestamp_writes = Some(wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(query),
            end_of_pass_write_index: None,
        });
        encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
    }

    fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.resolve_query_set(&self.queries, 0..MARKS, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.readable, 0, u64::from(MARKS) * 8);
    }

    /// Seconds between the marks.
    fn read(&self, context: &Context) -> Result<[f64; 2], String> {
        let slice = self.readable.slice(..);
        slice.map_async(wgpu::MapMode::Read, |_| ());
        context.wait()?;
        let ticks: Vec<u64> = {
            let bytes = slice.get_mapped_range().map_err(|e| e.to_string())?;
            bytes.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().expect("eight bytes"))).collect()
        };
        self.readable.unmap();
        let tick = f64::from(context.queue.get_timestamp_period()) * 1e-9;
        Ok([0, 1].map(|i| ticks[i + 1].wrapping_sub(ticks[i]) as f64 * tick))
    }
}
