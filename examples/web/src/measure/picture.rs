//! Pictures that are compared: a scene in one or two frames, read back.

use gpuskin_rt::internals::render::DrawPath;
use gpuskin_rt::{CrowdRenderer, Error, LightingFeatures, RendererDescriptor, Shading, wgpu};

use super::banners::Banners;
use super::blends::Blends;
use super::canvas::{COLOR, DEPTH, SIZE, begin_pass, read, target};
use super::demo::{self, Demo};
use super::many::Many;
use super::outlined::{self, Outlined};
use super::scene::{Scene, Stage, TIME};
use super::spheres::Spheres;

/// Time of the second frame, seconds.
const SECOND_TIME: f64 = 1.9;

/// Pictures that are compared.
#[derive(Debug, Clone, Copy)]
pub enum Picture {
    /// Models of the demo in the diffuse material.
    Diffuse,
    /// Models of the demo in the metallic-roughness material, with all its features but an environment.
    Lit,
    /// Spheres with all kinds of surfaces and deformations, as a crowd and as a field, in an environment. Without the
    /// other features: with them, Chromium's software renderer takes more than twice as long.
    Surfaces,
    /// Spheres of [`Self::Surfaces`] in the diffuse material, as a crowd.
    DiffuseSurfaces,
    /// Tint masks, variants, an unlit material and crossfades in the diffuse material, in bone mode and in vertex mode.
    Banners,
    /// Crowds of three models with attachments, on the left as they were spawned, on the right after all of them were moved.
    Many,
    /// Crossfades, layers and live bones.
    Blends,
    /// Functions of the game that change surfaces and light, and outlines by a pipeline of the game.
    Outlined,
}

impl Picture {
    /// All pictures.
    pub const ALL: [Self; 8] = [
        Self::Diffuse,
        Self::Lit,
        Self::Surfaces,
        Self::DiffuseSurfaces,
        Self::Banners,
        Self::Many,
        Self::Blends,
        Self::Outlined,
    ];

    /// Name of the picture's file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Diffuse => "diffuse",
            Self::Lit => "lit",
            Self::Surfaces => "surfaces",
            Self::DiffuseSurfaces => "diffuse-surfaces",
            Self::Banners => "banners",
            Self::Many => "many",
            Self::Blends => "blends",
            Self::Outlined => "outlined",
        }
    }

    /// Greatest difference of a pixel from another device, of 255. Textures and normal maps add the difference of the
    /// devices' samplers.
    pub fn tolerance(self) -> u8 {
        match self {
            Self::Diffuse | Self::Lit | Self::Blends | Self::Outlined => 2,
            Self::Surfaces | Self::DiffuseSurfaces | Self::Banners | Self::Many => 5,
        }
    }

    /// Whether the scene changes, and a second frame is drawn to the right of the first one.
    fn is_of_two_frames(self) -> bool {
        matches!(self, Self::Many)
    }

    fn shading(self) -> Shading {
        match self {
            Self::Diffuse | Self::DiffuseSurfaces | Self::Banners | Self::Blends => Shading::Diffuse,
            Self::Lit => Shading::MetallicRoughness(demo::features()),
            Self::Surfaces => Shading::MetallicRoughness(LightingFeatures { environment: true, ..Default::default() }),
            Self::Many => Shading::MetallicRoughness(LightingFeatures::default()),
            Self::Outlined => Shading::MetallicRoughness(outlined::features()),
        }
    }

    fn scene(self, stage: &mut Stage<'_>) -> Result<Box<dyn Scene>, Error> {
        Ok(match self {
            Self::Diffuse => Box::new(Demo::new(stage)?),
            Self::Lit => Box::new(Demo::lit(stage)?),
            Self::Surfaces => Box::new(Spheres::in_environment(stage)?),
            Self::DiffuseSurfaces => Box::new(Spheres::new(stage)?),
            Self::Banners => Box::new(Banners::new(stage)?),
            Self::Many => Box::new(Many::new(stage)?),
            Self::Blends => Box::new(Blends::new(stage)?),
            Self::Outlined => Box::new(Outlined::new(stage)?),
        })
    }
}

/// A picture that was drawn.
#[derive(Debug)]
pub struct Drawn {
    /// RGBA, sRGB, rows from the top.
    pub rgba: Vec<u8>,
    /// Texts of the runtime about the scene.
    pub facts: Vec<String>,
}

/// Draws a picture. `path`: path of all crowds; `None`: that of the device.
///
/// # Errors
/// If a model cannot be loaded, or the device cannot be read back.
pub async fn picture(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    picture: Picture,
    path: Option<DrawPath>,
) -> Result<Drawn, Error> {
    let shading = picture.shading();
    let descriptor =
        RendererDescriptor { color_format: COLOR, depth_format: Some(DEPTH), shading, ..Default::default() };
    let mut renderer = CrowdRenderer::new(device, queue, descriptor)?;
    let scene = picture.scene(&mut Stage { device, queue, renderer: &mut renderer, path })?;
    let camera = scene.camera().with_height(SIZE[1]);
    let color = target(device, COLOR, wgpu::TextureUsages::COPY_SRC);
    let depth = target(device, DEPTH, wgpu::TextureUsages::empty());
    let frame = |renderer: &mut CrowdRenderer, time: f64, [first, columns]: [u32; 2]| {
        let mut encoder = device.create_command_encoder(&Default::default());
        renderer.prepare(queue, &mut encoder, &camera, time)?;
        renderer.draw_shadows(&mut encoder);
        let mut pass = begin_pass(&mut encoder, [&color, &depth], first == 0);
        pass.set_viewport(first as f32, 0.0, columns as f32, SIZE[1] as f32, 0.0, 1.0);
        renderer.draw(&mut pass);
        scene.draw(&mut pass);
        drop(pass);
        queue.submit([encoder.finish()]);
        Ok::<(), Error>(())
    };
    let half = SIZE[0] / 2;
    if picture.is_of_two_frames() {
        frame(&mut renderer, TIME, [0, half])?;
        scene.change()?;
        frame(&mut renderer, SECOND_TIME, [half, half])?;
    } else {
        frame(&mut renderer, TIME, [0, SIZE[0]])?;
    }
    let facts = scene.facts(&renderer);
    drop(scene);
    Ok(Drawn { rgba: read(device, queue, &color).await?, facts })
}
