//! Pictures that are compared: a scene in one or two frames, read back.

use gpuskin_rt::internals::render::DrawPath;
use gpuskin_rt::{CrowdRenderer, Error, LightingFeatures, Model, RendererDescriptor, Shading, View, wgpu};

use super::banners::Banners;
use super::blends::Blends;
use super::canvas::{COLOR, DEPTH, SIZE, begin_pass, read, target};
use super::demo::{self, Demo};
use super::many::Many;
use super::occluded::Occluded;
use super::outlined::{self, Outlined};
use super::plasters::Plasters;
use super::read_model::ReadModel;
use super::scene::{Scene, Stage, TIME};
use super::spheres::Spheres;
use super::weights::Weights;

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
    /// Functions of the game that change surfaces and light, and outlines by pipelines of the game: of a crowd, of
    /// attachments, and of a field.
    Outlined,
    /// Additive layers, and weights of a morph target that the game sets: on the left they fade in, on the right they
    /// change.
    Weights,
    /// Occlusion culling, in the second frame: a wall has moved away from soldiers that it hid in the first frame.
    Occluded,
    /// A crowd and a field of a model that is read at run time.
    ReadModel,
    /// Textures with two sources of coordinates, as crowds in bone mode and in vertex mode, and as a field.
    Plasters,
}

impl Picture {
    /// All pictures.
    pub const ALL: [Self; 12] = [
        Self::Diffuse,
        Self::Lit,
        Self::Surfaces,
        Self::DiffuseSurfaces,
        Self::Banners,
        Self::Many,
        Self::Blends,
        Self::Outlined,
        Self::Weights,
        Self::Occluded,
        Self::ReadModel,
        Self::Plasters,
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
            Self::Weights => "weights",
            Self::Occluded => "occluded",
            Self::ReadModel => "read-model",
            Self::Plasters => "plasters",
        }
    }

    /// Greatest difference of a pixel from another device, of 255. Textures and normal maps add the difference of the
    /// devices' samplers.
    pub fn tolerance(self) -> u8 {
        match self {
            Self::Diffuse | Self::Lit | Self::Blends | Self::ReadModel => 2,
            Self::Surfaces | Self::DiffuseSurfaces | Self::Banners | Self::Many => 5,
            Self::Outlined | Self::Weights | Self::Occluded | Self::Plasters => 5,
        }
    }

    /// First column and number of columns of each frame. The scene changes between frames.
    fn frames(self) -> &'static [[u32; 2]] {
        const HALF: u32 = SIZE[0] / 2;
        match self {
            Self::Many | Self::Weights => &[[0, HALF], [HALF, HALF]],
            // The depth that hides instances is that of the whole picture.
            Self::Occluded => &[[0, SIZE[0]]; 2],
            _ => &[[0, SIZE[0]]],
        }
    }

    fn shading(self) -> Shading {
        match self {
            Self::Diffuse | Self::DiffuseSurfaces | Self::Banners | Self::Blends => Shading::Diffuse,
            Self::Weights | Self::Occluded | Self::ReadModel => Shading::Diffuse,
            Self::Lit => Shading::MetallicRoughness(demo::features()),
            Self::Surfaces => Shading::MetallicRoughness(LightingFeatures { environment: true, ..Default::default() }),
            Self::Many | Self::Plasters => Shading::MetallicRoughness(LightingFeatures::default()),
            Self::Outlined => Shading::MetallicRoughness(outlined::features()),
        }
    }

    fn scene(self, stage: &mut Stage<'_>, hound: &Model) -> Result<Box<dyn Scene>, Error> {
        Ok(match self {
            Self::Diffuse => Box::new(Demo::new(stage)?),
            Self::Lit => Box::new(Demo::lit(stage)?),
            Self::Surfaces => Box::new(Spheres::in_environment(stage)?),
            Self::DiffuseSurfaces => Box::new(Spheres::new(stage)?),
            Self::Banners => Box::new(Banners::new(stage)?),
            Self::Many => Box::new(Many::new(stage)?),
            Self::Blends => Box::new(Blends::new(stage)?),
            Self::Outlined => Box::new(Outlined::new(stage)?),
            Self::Weights => Box::new(Weights::new(stage)?),
            Self::Occluded => Box::new(Occluded::new(stage)?),
            Self::ReadModel => Box::new(ReadModel::new(stage, hound)?),
            Self::Plasters => Box::new(Plasters::new(stage)?),
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

/// Draws a picture. `path`: path of all crowds; `None`: that of the device. `hound`: the model of [`Picture::ReadModel`].
///
/// # Errors
/// If a model cannot be loaded, or the device cannot be read back.
pub async fn picture(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    picture: Picture,
    path: Option<DrawPath>,
    hound: &Model,
) -> Result<Drawn, Error> {
    let descriptor = RendererDescriptor {
        color_format: COLOR,
        depth_format: Some(DEPTH),
        shading: picture.shading(),
        occlusion: matches!(picture, Picture::Occluded),
        ..Default::default()
    };
    let mut renderer = CrowdRenderer::new(device, queue, descriptor)?;
    let scene = picture.scene(&mut Stage { device, queue, renderer: &mut renderer, path }, hound)?;
    let camera = scene.camera().with_height(SIZE[1]);
    let color = target(device, COLOR, wgpu::TextureUsages::COPY_SRC);
    let depth = target(device, DEPTH, wgpu::TextureUsages::TEXTURE_BINDING);
    let frame = |renderer: &mut CrowdRenderer, time: f64, [first, columns]: [u32; 2]| {
        let mut encoder = device.create_command_encoder(&Default::default());
        renderer.prepare(queue, &mut encoder, &camera, time)?;
        renderer.draw_shadows(&mut encoder);
        let mut pass = begin_pass(&mut encoder, [&color, &depth], [first == 0, true]);
        pass.set_viewport(first as f32, 0.0, columns as f32, SIZE[1] as f32, 0.0, 1.0);
        renderer.draw(&mut pass);
        scene.draw(&mut pass);
        drop(pass);
        renderer.reveal(&mut encoder, &depth)?;
        renderer.draw_view(&mut begin_pass(&mut encoder, [&color, &depth], [false; 2]), View::REVEALED);
        queue.submit([encoder.finish()]);
        Ok::<(), Error>(())
    };
    for (i, (columns, time)) in picture.frames().iter().zip([TIME, SECOND_TIME]).enumerate() {
        if i > 0 {
            scene.change()?;
        }
        frame(&mut renderer, time, *columns)?;
    }
    let mut facts = scene.facts(&renderer);
    for (what, count) in scene.counts(&renderer) {
        facts.push(format!("{} {what}", count.await?.total()));
    }
    drop(scene);
    Ok(Drawn { rgba: read(device, queue, &color).await?, facts })
}
