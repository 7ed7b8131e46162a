//! A meadow in the wind: a [`Field`] of grass, of which no tuft takes a byte, in a picture.
//!
//! Everything about fields is in [`Meadow::with_strips`]; the rest opens a device and paints ground and sky.

mod gpu;
mod ground;

pub use gpu::{Gpu, Picture};

use gpuskin_rt::field::{FieldDescriptor, Wind};
use gpuskin_rt::{Camera, CrowdRenderer, Field, Light, RendererDescriptor, wgpu};

use ground::Ground;

/// The constants of the model that `build.rs` baked.
#[allow(missing_docs, reason = "generated")]
pub mod baked {
    gpuskin_rt::include_baked!();
}

use baked::clips;
use baked::models::Grass;

/// Whatever went wrong, for a person to read.
pub type Error = Box<dyn std::error::Error>;

/// Metres of meadow on a side, in strips away from the camera: those that are not seen are not drawn.
const STRIP: [f32; 2] = [44.0, 11.0];
const STRIPS: u8 = 5;
/// Metres from a tuft to the next.
const SPACING: f32 = 0.22;

/// Late sun from the side, so that blades show.
const LIGHT: Light = Light {
    to_sun: [0.75, 0.5, -0.35],
    sun: [1.9, 1.6, 1.05],
    sky: [0.42, 0.5, 0.56],
    ground: [0.10, 0.11, 0.05],
    wrap: 0.5,
};

/// The meadow and what draws it.
#[derive(Debug)]
pub struct Meadow {
    renderer: CrowdRenderer,
    strips: Vec<Field<Grass>>,
    ground: Ground,
}

impl Meadow {
    /// Sows it.
    ///
    /// # Errors
    /// When the model cannot be loaded.
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        Self::with_strips(gpu, STRIPS)
    }

    /// Sows so many strips of it, the nearest first.
    ///
    /// # Errors
    /// When the model cannot be loaded.
    pub fn with_strips(gpu: &Gpu, count: u8) -> Result<Self, Error> {
        let descriptor = RendererDescriptor { sample_count: gpu.samples(), light: LIGHT, ..Default::default() };
        let mut renderer = CrowdRenderer::new(&gpu.device, &gpu.queue, descriptor)?;
        let mut strips = Vec::new();
        for strip in 0..count {
            let field = FieldDescriptor {
                origin: [-0.5 * STRIP[0], 0.0, -STRIP[1] * (f32::from(strip) + 1.0) + 1.1],
                size: STRIP.map(|metres| (metres / SPACING).round() as u32),
                spacing: [SPACING; 2],
                scale: [0.75, 1.35],
                // All lean about the same way, before the wind.
                turn: 0.7,
                tints: [[0.82, 0.95, 0.62, 1.0], [1.0, 0.93, 0.72, 1.0]],
                clips: vec![clips::GRASS_SWAY],
                speed: [0.85, 1.15],
                scatter: 0.2,
                wind: Some(Wind {
                    size: 4.5,
                    velocity: [3.2, 0.8],
                    sway: 0.7,
                    gust: Some(clips::GRASS_GUST),
                    strength: 1.0,
                }),
                ..FieldDescriptor::default()
            };
            strips.push(Field::new(&mut renderer, field)?);
        }
        Ok(Self { renderer, strips, ground: Ground::new(gpu) })
    }

    /// Number of tufts.
    pub fn len(&self) -> u64 {
        self.strips.iter().map(|strip| u64::from(strip.len())).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Draws it at a moment, seconds.
    ///
    /// # Errors
    /// When the device fails.
    pub fn picture(&mut self, gpu: &Gpu, size: [u32; 2], time: f64) -> Result<Picture, Error> {
        let aspect = size[0] as f32 / size[1] as f32;
        let camera = Camera::perspective_look_at([0.0, 1.75, 2.4], [0.0, 0.1, -7.0], 0.85, aspect, 0.1, 400.0);
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.renderer.prepare(&gpu.queue, &mut encoder, &camera, time)?;
        self.ground.prepare(gpu, &camera);
        gpu.picture(encoder, size, |pass| {
            self.renderer.draw(pass);
            self.ground.draw(pass);
        })
    }
}
