//! A million soldiers around the camera: culling, levels of detail, occlusion, and poses of visible
//! instances.

use gpuskin_rt::internals::{
    Camera, Clip, Crowd, CrowdDescriptor, CrowdRenderer, Dynamic, Instance, MeshInfo, Model, RendererDescriptor,
    Repeat, View, wgpu,
};

use crate::Options;
use crate::context::Context;
use crate::report::{heading, line, median, seconds, time};

const SIZE: wgpu::Extent3d = wgpu::Extent3d { width: 1920, height: 1080, depth_or_array_layers: 1 };
const FRAMES: usize = 31;
/// Frames before those that are measured: they upload all instances, wake the device, and make room for poses.
const SETTLED: usize = 40;
/// Frames on a software renderer.
const SOFTWARE_FRAMES: usize = 4;
/// Height of the camera, in metres.
const EYE: f32 = 1.7;
/// Rotation of a turning camera per frame, in degrees: 90 per second at 60 frames per second.
const TURN: f32 = 1.5;

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
        "million: {count} instances of {}, {side} per side, 1 m apart; camera amid them, {EYE} m high; 1920 x 1080; LOD error 1 pixel",
        model.meta.name
    ));
    let aspect = SIZE.width as f32 / SIZE.height as f32;
    let across = 2.0 * ((30.0_f32).to_radians().tan() / aspect).atan();
    let frame = Frame::new(&context.device);
    for (occlusion, shared) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut scene = Scene::new(context, model, (count, side), (occlusion, shared))?;
        for (name, fov_y) in [("60 degrees across", across), ("60 degrees high", 60.0_f32.to_radians())] {
            for turn in if occlusion { &[0.0, TURN][..] } else { &[0.0] } {
                let occluded = if occlusion { ", occlusion" } else { "" };
                let sharing = if shared { ", shared poses where no difference shows" } else { "" };
                let turning = if *turn > 0.0 { ", turning 90 degrees per second" } else { "" };
                let camera = |i: usize| {
                    let (sin, cos) = (i as f32 * turn).to_radians().sin_cos();
                    let target = [sin * 10.0, EYE, -cos * 10.0];
                    Camera::perspective_look_at([0.0, EYE, 0.0], target, fov_y, aspect, 0.1, 2000.0)
                        .with_height(SIZE.height)
                };
                scene.measure(context, &frame, &format!("{name}{occluded}{sharing}{turning}"), camera)?;
            }
        }
    }
    Ok(())
}

struct Scene<'m> {
    renderer: CrowdRenderer,
    crowd: Crowd<Dynamic>,
    mesh: &'m MeshInfo,
    occlusion: bool,
}

impl<'m> Scene<'m> {
    fn new(
        context: &Context,
        model: &'m Model,
        (count, side): (u32, u32),
        (occlusion, shared): (bool, bool),
    ) -> Result<Self, String> {
        let descriptor = RendererDescriptor { occlusion, ..Default::default() };
        let mut renderer =
            CrowdRenderer::new(&context.device, &context.queue, descriptor).map_err(|e| e.to_string())?;
        let time_grid = shared.then_some(1.0 / 30.0);
        let descriptor = CrowdDescriptor { capacity: count, time_grid, ..Default::default() };
        let crowd = Crowd::with_model(&mut renderer, model, descriptor).map_err(|e| e.to_string())?;
        let clips = model.meta.clips.len() as u32;
        for i in 0..count {
            let at = [i % side, i / side].map(|c| c as f32 - (side / 2) as f32 + 0.5);
            let clip = Clip::new((i.wrapping_mul(2_654_435_761) >> 16) as u16 % clips as u16);
            let instance = Instance::at([at[0], 0.0, at[1]]).facing(i as f32 * 2.4).play(clip).phase(i as f32 * 0.618);
            crowd.spawn(instance.repeat(Repeat::Loop));
        }
        Ok(Self { renderer, crowd, mesh: &model.meta.mesh, occlusion })
    }

    fn measure(
        &mut self,
        context: &Context,
        frame: &Frame,
        name: &str,
        camera: impl Fn(usize) -> Camera,
    ) -> Result<(), String> {
        let (frames, first) = if context.is_software() { (SOFTWARE_FRAMES, 1) } else { (SETTLED + FRAMES, SETTLED) };
        let (mut all, mut steps, mut cpu) = (Vec::new(), [const { Vec::new() }; STEPS], Vec::new());
        let (mut cut, mut most) = (Vec::new(), 0.0_f64);
        for i in 0..frames {
            let mut encoder = context.device.create_command_encoder(&Default::default());
            let mark = |encoder: &mut wgpu::CommandEncoder, query: u32| {
                frame.timer.as_ref().inspect(|timer| timer.mark(encoder, query));
            };
            mark(&mut encoder, 0);
            let clock = 10.0 + i as f64 / 60.0;
            let (prepare, result) = seconds(|| self.renderer.prepare(&context.queue, &mut encoder, &camera(i), clock));
            result.map_err(|e| e.to_string())?;
            mark(&mut encoder, 1);
            frame.draw(&self.renderer, &mut encoder, View::MAIN);
            mark(&mut encoder, 2);
            let mut reveal = 0.0;
            if self.occlusion {
                let result;
                (reveal, result) = seconds(|| self.renderer.reveal(&mut encoder, &frame.depth));
                result.map_err(|e| e.to_string())?;
                mark(&mut encoder, 3);
                frame.draw(&self.renderer, &mut encoder, View::REVEALED);
            } else {
                mark(&mut encoder, 3);
            }
            mark(&mut encoder, 4);
            frame.timer.as_ref().inspect(|timer| timer.resolve(&mut encoder));
            let commands = encoder.finish();
            let (wall, result) = seconds(|| {
                context.queue.submit([commands]);
                context.wait()
            });
            result?;
            let durations = frame.timer.as_ref().map(|timer| timer.read(context)).transpose()?;
            let whole = durations.map_or(wall, |durations| durations.iter().sum());
            most = most.max(self.room());
            if i < first {
                cut.push(whole);
                continue;
            }
            cpu.push(prepare + reveal);
            all.push(whole);
            steps.iter_mut().zip(durations.into_iter().flatten()).for_each(|(step, duration)| step.push(duration));
        }
        let room = self.room();
        line(&format!("{name}: memory of poses (goal: 450 MB, 64 MB with occlusion)"), format!("{:.1} MB", room / 1e6));
        line(&format!("{name}: most memory of poses, after a cut"), format!("{:.1} MB", most / 1e6));
        time(&format!("{name}: longest of the first {first} frames, after a cut"), cut.into_iter().fold(0.0, f64::max));
        self.report(name, all, steps, cpu)
    }

    /// Bytes of the poses for which there is room.
    fn room(&self) -> f64 {
        let explained = self.crowd.explain(&self.renderer);
        explained.room.unwrap_or(u64::from(explained.instances)) as f64 * explained.bytes_per_instance as f64
    }

    fn report(&self, name: &str, all: Vec<f64>, steps: [Vec<f64>; STEPS], cpu: Vec<f64>) -> Result<(), String> {
        let count = |view| self.crowd.count_drawn(&self.renderer, view).map_err(|e| e.to_string());
        let [first, then] = [count(View::MAIN)?, count(View::REVEALED)?];
        if self.occlusion {
            line(&format!("{name}: first pass, visible in the last frame"), first.total());
            line(&format!("{name}: second pass, revealed"), then.total());
        } else {
            line(&format!("{name}: in the frustum"), first.total());
        }
        let counts: Vec<u64> = first.lods.iter().zip(&then.lods).map(|(a, b)| a + b).collect();
        for (level, count) in counts.iter().enumerate() {
            let error = if level == 0 { 0.0 } else { self.mesh.levels[level - 1].error * 1e3 };
            line(&format!("    LOD {level}, {} triangles, {error:.1} mm", self.mesh.triangles(level)), count);
        }
        let triangles: u64 = counts.iter().enumerate().map(|(level, count)| count * self.mesh.triangles(level)).sum();
        line(&format!("{name}: triangles drawn"), triangles);
        line(&format!("{name}: instances drawn with cached poses"), first.cached + then.cached);
        time(&format!("{name}: frame on the GPU (target on an NVIDIA H200: 16.6 ms)"), median(all));
        let names = ["culling and poses", "first pass", "depth pyramid, second culling and poses", "second pass"];
        for (step, what) in steps.into_iter().zip(names).take(if self.occlusion { STEPS } else { 2 }) {
            time(&format!("{name}: step: {what}"), median(step));
        }
        time(&format!("{name}: prepare{} on the CPU", if self.occlusion { " and reveal" } else { "" }), median(cpu));
        Ok(())
    }
}

/// Render targets and timer of a frame.
struct Frame {
    color: wgpu::TextureView,
    depth: wgpu::Texture,
    timer: Option<Timer>,
}

impl Frame {
    fn new(device: &wgpu::Device) -> Self {
        let target = |format, usage| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: SIZE,
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | usage,
                view_formats: &[],
            })
        };
        let timer = device.features().contains(wgpu::Features::TIMESTAMP_QUERY).then(|| Timer::new(device));
        let color = target(RendererDescriptor::default().color_format, wgpu::TextureUsages::empty());
        let depth = target(wgpu::TextureFormat::Depth32Float, wgpu::TextureUsages::TEXTURE_BINDING);
        Self { color: color.create_view(&Default::default()), depth, timer }
    }

    /// Encodes a pass. The pass of revealed instances keeps the contents of the targets.
    fn draw(&self, renderer: &CrowdRenderer, encoder: &mut wgpu::CommandEncoder, view: View) {
        let (color, depth) = match view {
            View::REVEALED => (wgpu::LoadOp::Load, wgpu::LoadOp::Load),
            _ => (wgpu::LoadOp::Clear(wgpu::Color::BLACK), wgpu::LoadOp::Clear(1.0)),
        };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: None,
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.color,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load: color, store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth.create_view(&Default::default()),
                depth_ops: Some(wgpu::Operations { load: depth, store: wgpu::StoreOp::Store }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        renderer.draw_view(&mut pass, view);
    }
}

/// Timestamps of a frame on the GPU: before it, and after each step.
struct Timer {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readable: wgpu::Buffer,
}

/// Steps of a frame: first culling and poses, first draw, second culling and poses, second draw.
const STEPS: usize = 4;
const MARKS: u32 = STEPS as u32 + 1;

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

    /// Seconds between consecutive marks.
    fn read(&self, context: &Context) -> Result<[f64; STEPS], String> {
        let slice = self.readable.slice(..);
        slice.map_async(wgpu::MapMode::Read, |_| ());
        context.wait()?;
        let ticks: Vec<u64> = {
            let bytes = slice.get_mapped_range().map_err(|e| e.to_string())?;
            bytes.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b)).collect()
        };
        self.readable.unmap();
        let tick = f64::from(context.queue.get_timestamp_period()) * 1e-9;
        Ok(core::array::from_fn(|i| ticks[i + 1].wrapping_sub(ticks[i]) as f64 * tick))
    }
}
