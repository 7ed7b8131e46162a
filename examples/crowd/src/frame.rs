//! Passes of a frame: shadows, crowds and ground, and revealed instances.

use gpuskin_rt::{
    Camera, CrowdRenderer, Fog, FogDensity, Light, Lighting, LightingFeatures, RendererDescriptor, Shading,
    ShadowDescriptor, ToneMapping, View, wgpu,
};

use crate::Error;
use crate::land::Land;
use crate::reload::Models;
use crate::scene::Scene;

pub(crate) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// Samples per pixel. On GL (Mesa llvmpipe), a second pass over a multisampled target finds it empty; the cause is
/// unknown.
pub(crate) fn samples(device: &wgpu::Device) -> u32 {
    if device.adapter_info().backend == wgpu::Backend::Gl { 1 } else { 4 }
}

/// Light of the scene: a low sun from the left.
pub const LIGHT: Light = Light {
    to_sun: [-0.82, 0.47, 0.06],
    sun: [2.0, 1.5, 0.95],
    sky: [0.32, 0.38, 0.50],
    ground: [0.20, 0.16, 0.115],
    wrap: 0.15,
};

/// Light of the scene, with haze that is densest on the field, so that the hills rise out of it.
fn lighting() -> Lighting {
    let density = FogDensity::Height { density: 0.0022, height: 20.0, falloff: 45.0 };
    let fog = Fog { color: [0.78, 0.62, 0.45], sun_glow: [0.70, 0.36, 0.08], density };
    Lighting { fog, exposure: 0.85, ..LIGHT.into() }
}

/// Scene with its renderer and targets.
#[derive(Debug)]
pub struct Stage {
    renderer: CrowdRenderer,
    /// Instances of the scene.
    pub scene: Scene,
    land: Land,
    format: wgpu::TextureFormat,
    targets: Option<Targets>,
}

impl Stage {
    /// Creates a scene of `count` instances for pictures of `format`.
    ///
    /// # Errors
    /// Returns an error if a model cannot be loaded.
    pub fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        format: wgpu::TextureFormat,
        count: u32,
    ) -> Result<Self, Error> {
        let features = LightingFeatures {
            shadows: Some(ShadowDescriptor { cascades: 4, distance: 300.0, ..Default::default() }),
            fog: true,
            tone_mapping: ToneMapping::Aces,
            ..Default::default()
        };
        let mut renderer = CrowdRenderer::new(
            device,
            queue,
            RendererDescriptor {
                color_format: format,
                depth_format: Some(DEPTH),
                sample_count: samples(device),
                shading: Shading::MetallicRoughness(features),
                occlusion: true,
                ..Default::default()
            },
        )?;
        renderer.set_lighting(&lighting());
        let scene = Scene::new(&mut renderer, count)?;
        let land = Land::new(device, &renderer, format)?;
        Ok(Self { renderer, scene, land, format, targets: None })
    }

    /// Replaces the models. On an error the scene stays as it is.
    ///
    /// # Errors
    /// Returns an error if a model cannot be drawn, or lacks clips that the program was built for.
    pub fn reload(&mut self, models: &Models) -> Result<(), Error> {
        let count = self.scene.len() as u32;
        self.scene = Scene::with_models(&mut self.renderer, models, count)?;
        Ok(())
    }

    /// Draws the scene at `time`, in seconds since it began.
    ///
    /// # Errors
    /// Returns an error if the crowds exceed the device's limits.
    pub fn draw(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        picture: &wgpu::Texture,
        camera: &Camera,
        time: f64,
    ) -> Result<(), Error> {
        let size = [picture.width(), picture.height()];
        let targets = self.targets.take().filter(|t| t.size == size);
        let targets = targets.unwrap_or_else(|| Targets::new(device, self.format, size));
        let picture = picture.create_view(&Default::default());

        let mut encoder = device.create_command_encoder(&Default::default());
        self.scene.advance(time);
        self.renderer.prepare(queue, &mut encoder, camera, time)?;
        self.renderer.draw_shadows(&mut encoder);
        {
            let mut pass = targets.begin(&mut encoder, &picture);
            self.renderer.draw(&mut pass);
            self.land.draw(&mut pass, &self.renderer);
        }
        self.renderer.reveal(&mut encoder, targets.depth.texture())?;
        self.renderer.draw_view(&mut targets.go_on(&mut encoder, &picture), View::REVEALED);
        queue.submit([encoder.finish()]);
        self.targets = Some(targets);
        Ok(())
    }
}

/// Colour and depth.
#[derive(Debug)]
struct Targets {
    size: [u32; 2],
    /// Multisampled colour; `None` where the picture is drawn directly.
    color: Option<wgpu::TextureView>,
    depth: wgpu::TextureView,
}

impl Targets {
    fn new(device: &wgpu::Device, format: wgpu::TextureFormat, size: [u32; 2]) -> Self {
        let color = (samples(device) > 1).then(|| target(device, "color", size, format));
        Self { size, color, depth: target(device, "depth", size, DEPTH) }
    }

    fn begin<'e>(&self, encoder: &'e mut wgpu::CommandEncoder, picture: &wgpu::TextureView) -> wgpu::RenderPass<'e> {
        self.pass(encoder, picture, wgpu::LoadOp::Clear(wgpu::Color::BLACK), wgpu::LoadOp::Clear(1.0))
    }

    /// Begins a pass that keeps the colours and depths drawn so far.
    fn go_on<'e>(&self, encoder: &'e mut wgpu::CommandEncoder, picture: &wgpu::TextureView) -> wgpu::RenderPass<'e> {
        self.pass(encoder, picture, wgpu::LoadOp::Load, wgpu::LoadOp::Load)
    }

    fn pass<'e>(
        &self,
        encoder: &'e mut wgpu::CommandEncoder,
        picture: &wgpu::TextureView,
        color: wgpu::LoadOp<wgpu::Color>,
        depth: wgpu::LoadOp<f32>,
    ) -> wgpu::RenderPass<'e> {
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("crowds, ground and sky"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: self.color.as_ref().unwrap_or(picture),
                depth_slice: None,
                resolve_target: self.color.is_some().then_some(picture),
                ops: wgpu::Operations { load: color, store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
                depth_ops: Some(wgpu::Operations { load: depth, store: wgpu::StoreOp::Store }),
                stencil_ops: None,
            }),
            ..Default::default()
        })
    }
}

/// Creates a render target; [`CrowdRenderer::reveal`] reads that of depth.
fn target(
    device: &wgpu::Device,
    label: &str,
    [width, height]: [u32; 2],
    format: wgpu::TextureFormat,
) -> wgpu::TextureView {
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: samples(device),
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    });
    texture.create_view(&Default::default())
}
