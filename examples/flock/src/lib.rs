//! A hundred thousand starlings that steer themselves in compute shaders, and choose their clips by
//! speed. The CPU spawns them once, and never touches one again.
//!
//! All code about instances that the device writes is in `steering.rs` and `steer.wgsl`; the rest
//! opens a device or a window, and draws the sky.

mod gpu;
mod sky;
mod steering;
pub mod window;

pub use gpu::{Gpu, Picture};

use gpuskin_rt::{Camera, Crowd, CrowdDescriptor, CrowdRenderer, Instance, Light, RendererDescriptor, Time, wgpu};

use sky::Sky;
use steering::{Steering, Step};

/// Constants of the model that `build.rs` baked.
#[allow(missing_docs, reason = "generated")]
pub mod baked {
    gpuskin_rt::include_baked!();
}

use baked::clips;
use baked::models::Starling;

/// Any error, with a message for people.
pub type Error = Box<dyn std::error::Error>;

/// Length of a step of the simulation, seconds.
pub const STEP: f64 = 1.0 / 60.0;
/// Radius within which `count` birds start, metres: as dense as the flock will be.
const START: f32 = 0.8;

/// Low sun behind the flock.
const LIGHT: Light = Light {
    to_sun: [-0.35, 0.25, -1.0],
    sun: [1.7, 1.05, 0.55],
    sky: [0.22, 0.24, 0.34],
    ground: [0.16, 0.10, 0.08],
    wrap: 0.4,
};

/// Flock with its renderer.
#[derive(Debug)]
pub struct Flock {
    renderer: CrowdRenderer,
    starlings: Crowd<Starling>,
    steering: Steering,
    sky: Sky,
    depth: Option<wgpu::Texture>,
    /// Steps since the start.
    steps: u64,
}

impl Flock {
    /// Spawns `count` birds.
    ///
    /// # Errors
    /// Returns an error if the model cannot be loaded.
    pub fn new(
        (device, queue): (&wgpu::Device, &wgpu::Queue),
        format: wgpu::TextureFormat,
        count: u32,
    ) -> Result<Self, Error> {
        let descriptor = RendererDescriptor { color_format: format, light: LIGHT, ..Default::default() };
        let mut renderer = CrowdRenderer::new(device, queue, descriptor)?;
        let starlings = Crowd::new(&mut renderer, CrowdDescriptor { capacity: count, ..Default::default() })?;
        let radius = START * (count as f32).cbrt();
        let home = roost(0.0);
        let mut birds = Vec::new();
        starlings.spawn_many((0..count).map(|bird| {
            let [a, b, c, lot] = [0, 1, 2, 3].map(|lot| random(bird, lot));
            // Uniform within a flat ball; all fly about the same way.
            let (height, away) = (2.0 * a - 1.0, radius * c.cbrt());
            let (sin, cos) = (core::f32::consts::TAU * b).sin_cos();
            let ring = (1.0 - height * height).sqrt();
            let at = [ring * cos * away * 1.4, height * away * 0.5, ring * sin * away];
            birds.push(([9.0 + 2.0 * a, 2.0 * b - 1.0, 2.0 * c - 1.0], lot));
            let at = [home[0] + at[0], home[1] + at[1], home[2] + at[2]];
            Instance::at(at).scaled(0.9 + 0.2 * lot).play(clips::STARLING_FLAP).phase(lot)
        }));
        let steering = Steering::new(device, queue, &birds);
        Ok(Self { renderer, starlings, steering, sky: Sky::new(device, format), depth: None, steps: 0 })
    }

    /// Time of the simulation, in seconds.
    pub fn time(&self) -> f64 {
        self.steps as f64 * STEP
    }

    /// Records `steps` steps of the simulation, and all passes that draw the flock into a texture.
    ///
    /// # Errors
    /// Returns an error if the device fails.
    pub fn record(
        &mut self,
        (device, queue): (&wgpu::Device, &wgpu::Queue),
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::Texture,
        steps: u32,
    ) -> Result<(), Error> {
        for _ in 0..steps {
            self.advance((device, queue), encoder);
        }
        let aspect = target.width() as f32 / target.height().max(1) as f32;
        let camera = self.camera(aspect).with_height(target.height());
        self.renderer.prepare(queue, encoder, &camera, self.time())?;
        self.sky.prepare(queue, &camera);
        let depth = self.depth.take().filter(|depth| depth.size() == target.size());
        let depth = self.depth.insert(depth.unwrap_or_else(|| {
            device.create_texture(&wgpu::TextureDescriptor {
                label: Some("depth"),
                size: target.size(),
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: gpu::DEPTH,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            })
        }));
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &target.create_view(&Default::default()),
                depth_slice: None,
                resolve_target: None,
                ops: Default::default(),
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &depth.create_view(&Default::default()),
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        self.renderer.draw(&mut pass);
        self.sky.draw(&mut pass);
        Ok(())
    }

    /// Records one step of the simulation. Before the first `prepare` there are no birds on the device
    /// yet, so that step only passes time.
    fn advance(&mut self, (device, queue): (&wgpu::Device, &wgpu::Queue), encoder: &mut wgpu::CommandEncoder) {
        self.steps += 1;
        let time = self.time();
        let Some(buffers) = self.starlings.instance_buffers() else { return };
        let step = Step { time: Time::from_secs(time), seconds: STEP as f32, roost: roost(time), hawk: hawk(time) };
        self.steering.record((device, queue), encoder, buffers, step);
    }

    /// Draws the flock after some seconds, and reads the picture back.
    ///
    /// # Errors
    /// Returns an error if the device fails.
    pub fn picture(&mut self, gpu: &Gpu, size: [u32; 2], time: f64) -> Result<Picture, Error> {
        let texture = Picture::texture(&gpu.device, size);
        let end = (time / STEP).round().max(1.0) as u64;
        loop {
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            if self.steps == 0 || self.steps + 1 >= end {
                self.record((&gpu.device, &gpu.queue), &mut encoder, &texture, 1)?;
            } else {
                // One submission per step, because each writes its own parameters.
                self.advance((&gpu.device, &gpu.queue), &mut encoder);
            }
            gpu.queue.submit([encoder.finish()]);
            if self.steps >= end {
                return Picture::read(gpu, &texture);
            }
        }
    }

    /// Camera beside the flock, which turns to it.
    fn camera(&self, aspect: f32) -> Camera {
        let [x, y, z, _] = roost(self.time());
        Camera::perspective_look_at([0.0, 5.0, 62.0], [x * 0.85, y + 2.0, z], 0.95, aspect, 0.1, 1000.0)
    }
}

/// Point that the flock circles, and the distance at which birds turn back.
fn roost(time: f64) -> [f32; 4] {
    let t = time as f32;
    [30.0 * (t * 0.21).sin(), 34.0 + 9.0 * (t * 0.33).sin(), -22.0 + 22.0 * (t * 0.27).cos(), 20.0]
}

/// Position of a hawk that strikes through the flock, and the distance at which birds flee.
fn hawk(time: f64) -> [f32; 4] {
    let [x, y, z, _] = roost(time);
    let t = time as f32;
    [x + 34.0 * (t * 0.9).cos(), y + 12.0 * (t * 0.7).sin(), z + 30.0 * (t * 0.63).sin(), 15.0]
}

/// Number from 0 to 1, always the same for the same bird.
fn random(bird: u32, lot: u32) -> f32 {
    let mut h = bird.wrapping_mul(0x9E37_79B9) ^ lot.wrapping_mul(0x85EB_CA6B) ^ 0x27D4_EB2F;
    for _ in 0..2 {
        h = (h ^ (h >> 16)).wrapping_mul(0x7FEB_352D);
        h = (h ^ (h >> 15)).wrapping_mul(0x846C_A68B);
    }
    (h >> 8) as f32 / 16_777_216.0
}
