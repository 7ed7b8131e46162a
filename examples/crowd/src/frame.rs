//! Passes of a frame: shadows of the crowds, crowds and ground, revealed instances, and the air in
//! front of all.

use gpuskin_rt::{Camera, CrowdRenderer, DepthPass, Light, RendererDescriptor, View, wgpu};

use crate::Error;
use crate::air::Air;
use crate::land::Land;
use crate::reload::Models;
use crate::scene::Scene;

/// Format of the linear colour target of crowds and ground; the air pass makes the picture from it.
pub(crate) const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;
pub(crate) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// Samples per pixel. On GL (Mesa llvmpipe), shaders read the samples of a texture as black; the
/// cause is unknown.
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

/// Scene with its renderer and targets.
#[derive(Debug)]
pub struct Stage {
    renderer: CrowdRenderer,
    /// Instances of the scene.
    pub scene: Scene,
    sun: View,
    land: Land,
    air: Air,
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
        let bias = wgpu::DepthBiasState { constant: 2, slope_scale: 1.5, clamp: 0.0 };
        let mut renderer = CrowdRenderer::new(
            device,
            queue,
            RendererDescriptor {
                color_format: COLOR,
                depth_format: Some(DEPTH),
                sample_count: samples(device),
                depth_pass: DepthPass { format: DEPTH, bias, ..Default::default() },
                light: LIGHT,
                occlusion: true,
                ..Default::default()
            },
        )?;
        let scene = Scene::new(&mut renderer, count)?;
        let sun = renderer.add_view();
        let air = Air::new(device, format);
        Ok(Self { renderer, scene, sun, land: Land::new(device, &air), air, targets: None })
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
        let targets = targets.unwrap_or_else(|| Targets::new(device, &self.air, size));
        let sun = self.scene.sun_camera(LIGHT.to_sun);

        let mut encoder = device.create_command_encoder(&Default::default());
        self.scene.advance(time);
        self.renderer.prepare(queue, &mut encoder, camera, time)?;
        self.renderer.prepare_view(queue, self.sun, &sun)?;
        self.air.prepare(queue, camera, &sun, &LIGHT);

        self.renderer.draw_depth(&mut self.air.begin_shadows(&mut encoder), self.sun);
        {
            let mut pass = targets.begin(&mut encoder);
            self.renderer.draw(&mut pass);
            self.land.draw(&mut pass, &self.air);
        }
        self.renderer.reveal(&mut encoder, targets.depth.texture())?;
        self.renderer.draw_view(&mut targets.go_on(&mut encoder), View::REVEALED);
        self.air.draw(&mut encoder, &targets, &picture.create_view(&Default::default()));
        queue.submit([encoder.finish()]);
        self.targets = Some(targets);
        Ok(())
    }
}

/// Render targets of crowds and ground: colour in linear light, and depth.
#[derive(Debug)]
pub(crate) struct Targets {
    size: [u32; 2],
    color: wgpu::TextureView,
    depth: wgpu::TextureView,
    pub(crate) bind_group: wgpu::BindGroup,
}

impl Targets {
    fn new(device: &wgpu::Device, air: &Air, size: [u32; 2]) -> Self {
        let samples = samples(device);
        let color = target(device, "color", size, COLOR, samples);
        let depth = target(device, "depth", size, DEPTH, samples);
        Self { size, bind_group: air.bind_drawn(device, [&color, &depth]), color, depth }
    }

    fn begin<'e>(&self, encoder: &'e mut wgpu::CommandEncoder) -> wgpu::RenderPass<'e> {
        self.pass(encoder, wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT), cleared_depth(&self.depth))
    }

    /// Begins a pass that keeps the colours and depths drawn so far.
    fn go_on<'e>(&self, encoder: &'e mut wgpu::CommandEncoder) -> wgpu::RenderPass<'e> {
        let depth_ops = Some(wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store });
        self.pass(
            encoder,
            wgpu::LoadOp::Load,
            wgpu::RenderPassDepthStencilAttachment { depth_ops, ..cleared_depth(&self.depth) },
        )
    }

    fn pass<'e>(
        &self,
        encoder: &'e mut wgpu::CommandEncoder,
        load: wgpu::LoadOp<wgpu::Color>,
        depth: wgpu::RenderPassDepthStencilAttachment<'_>,
    ) -> wgpu::RenderPass<'e> {
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("crowds and ground"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.color,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations { load, store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(depth),
            ..Default::default()
        })
    }
}

pub(crate) fn cleared_depth(view: &wgpu::TextureView) -> wgpu::RenderPassDepthStencilAttachment<'_> {
    let depth_ops = Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Store });
    wgpu::RenderPassDepthStencilAttachment { view, depth_ops, stencil_ops: None }
}

/// Creates a texture that is a render target and is read by a shader.
pub(crate) fn target(
    device: &wgpu::Device,
    label: &str,
    [width, height]: [u32; 2],
    format: wgpu::TextureFormat,
    sample_count: u32,
) -> wgpu::TextureView {
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    });
    texture.create_view(&Default::default())
}
