//! A meadow in the wind, drawn into a picture: a [`Field`] of grass that stores no data per tuft.
//!
//! All code about fields is in [`Meadow::with_strips`]; the rest opens a device and draws ground
//! and sky.

mod gpu;
mod ground;

pub use gpu::{Gpu, Picture};

use gpuskin_rt::{Camera, CrowdRenderer, Field, FieldDescriptor, Light, RendererDescriptor, Wind, wgpu};

use ground::Ground;

/// Constants of the model that `build.rs` baked.
#[allow(missing_docs, reason = "generated")]
pub mod baked {
    gpuskin_rt::include_baked!();
}

use baked::clips;
use baked::models::Grass;

/// Any error, with a message for people.
pub type Error = Box<dyn std::error::Error>;

/// Width and depth of a strip of the meadow in metres, and the number of strips away from the
/// camera. Strips outside the view are not drawn.
const STRIP: [f32; 2] = [44.0, 11.0];
const STRIPS: u8 = 5;
/// Distance between tufts, in metres.
const SPACING: f32 = 0.22;

/// Late sun from the side, which makes single blades visible.
const LIGHT: Light = Light {
    to_sun: [0.75, 0.5, -0.35],
    sun: [1.9, 1.6, 1.05],
    sky: [0.42, 0.5, 0.56],
    ground: [0.10, 0.11, 0.05],
    wrap: 0.5,
};

/// Meadow with its renderer.
#[derive(Debug)]
pub struct Meadow {
    renderer: CrowdRenderer,
    strips: Vec<Field<Grass>>,
    ground: Ground,
}

impl Meadow {
    /// Creates the whole meadow.
    ///
    /// # Errors
    /// Returns an error if the model cannot be loaded.
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        Self::with_strips(gpu, STRIPS)
    }

    /// Creates the nearest `count` strips of the meadow.
    ///
    /// # Errors
    /// Returns an error if the model cannot be loaded.
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
                // All tufts lean in about the same direction, with the wind.
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

    /// Whether the meadow has no tufts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Draws the meadow at `time`, in seconds.
    ///
    /// # Errors
    /// Returns an error if the device fails.
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
