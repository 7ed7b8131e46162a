//! Shadow map of a renderer: one depth texture, whose tiles are the cascades of the sun and the views of lights.

use super::View;
use super::shading::{LightingFeatures, ShadowLayout, ShadowTile};

/// Format of the shadow map.
pub(crate) const SHADOW_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// Depth texture, and the views that are drawn into it.
#[derive(Debug)]
pub(crate) struct ShadowMap {
    reversed: bool,
    pub(crate) texture: wgpu::TextureView,
    pub(crate) sampler: wgpu::Sampler,
    /// Cascades, then tiles of lights.
    pub(crate) tiles: Vec<ShadowTile>,
    /// One view per tile.
    pub(crate) views: Vec<View>,
}

impl ShadowMap {
    /// Returns `None` without shadows. `reversed`: whether depth is 1 at the light.
    pub(crate) fn new(device: &wgpu::Device, features: &LightingFeatures, reversed: bool) -> Option<Self> {
        let label = Some("gpuskin shadows");
        let ShadowLayout { size: [width, height], tiles } = ShadowLayout::new(features)?;
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label,
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: SHADOW_FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let compare = if reversed { wgpu::CompareFunction::GreaterEqual } else { wgpu::CompareFunction::LessEqual };
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label,
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            compare: Some(compare),
            ..Default::default()
        });
        let texture = texture.create_view(&Default::default());
        Some(Self { reversed, texture, sampler, tiles, views: Vec::new() })
    }

    /// Begins the pass of all tiles.
    pub(crate) fn begin<'e>(&self, encoder: &'e mut wgpu::CommandEncoder) -> wgpu::RenderPass<'e> {
        let clear = if self.reversed { 0.0 } else { 1.0 };
        let depth_ops = Some(wgpu::Operations { load: wgpu::LoadOp::Clear(clear), store: wgpu::StoreOp::Store });
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("gpuskin shadows"),
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.texture,
                depth_ops,
                stencil_ops: None,
            }),
            ..Default::default()
        })
    }

    /// Limits a pass to a tile.
    pub(crate) fn set_tile(&self, pass: &mut wgpu::RenderPass<'_>, tile: usize) {
        let ShadowTile { first: [x, y], side } = self.tiles[tile];
        pass.set_viewport(x as f32, y as f32, side as f32, side as f32, 0.0, 1.0);
        pass.set_scissor_rect(x, y, side, side);
    }
}
