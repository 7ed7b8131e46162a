//! Materials of the renderer on the device: base colour and emitted light, each with a texture.

use std::sync::OnceLock;

use super::Error;
use super::geometry::Geometry;
use super::gpu::Gpu;
use super::layouts::Layouts;
use super::textures::{SampledTexture, Samplers, Textures};
use crate::{Material, MaterialTexture, Model};

/// Textures of a model's materials; their constants are in the model's buffer.
#[derive(Debug)]
pub(crate) struct Materials {
    /// Base colour and, for a material that emits light, the emissive texture.
    sampled: Vec<[Option<SampledTexture>; 2]>,
    /// Bind groups, created before the first draw.
    groups: OnceLock<Vec<wgpu::BindGroup>>,
}

impl Materials {
    pub(crate) fn new(
        gpu: Gpu<'_>,
        model: &Model,
        textures: &Textures,
        samplers: &mut Samplers,
        white: &SampledTexture,
    ) -> Result<Self, Error> {
        let mut sampled = |texture: Option<&MaterialTexture>| -> Result<SampledTexture, Error> {
            let Some(texture) = texture else { return Ok(white.clone()) };
            let view = textures.get(gpu, model, texture.texture)?;
            Ok(SampledTexture { view, sampler: samplers.get(gpu.device, texture) })
        };
        let mut both = |material: &Material| -> Result<[Option<SampledTexture>; 2], Error> {
            let base_color = sampled(material.base_color_texture.as_ref())?;
            let emitted = material.emits().then(|| sampled(material.emissive_texture.as_ref())).transpose()?;
            Ok([Some(base_color), emitted])
        };
        let sampled = model.meta.materials.iter().map(&mut both).collect::<Result<_, _>>()?;
        Ok(Self { sampled, groups: OnceLock::new() })
    }

    /// Creates the bind groups, before the first draw.
    pub(crate) fn bind(&self, device: &wgpu::Device, layouts: &Layouts, geometry: &Geometry) {
        let group = |(i, textures): (usize, &[Option<SampledTexture>; 2])| {
            let mut entries = Vec::with_capacity(5);
            entries.push(wgpu::BindGroupEntry { binding: 0, resource: geometry.material(i) });
            for (texture, binding) in textures.iter().flatten().zip([1, 3]) {
                let view = wgpu::BindingResource::TextureView(&texture.view);
                entries.push(wgpu::BindGroupEntry { binding, resource: view });
                let sampler = wgpu::BindingResource::Sampler(&texture.sampler);
                entries.push(wgpu::BindGroupEntry { binding: binding + 1, resource: sampler });
            }
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("gpuskin material"),
                layout: layouts.material(textures[1].is_some()),
                entries: &entries,
            })
        };
        self.groups.get_or_init(|| self.sampled.iter().enumerate().map(group).collect());
    }

    /// Returns the bind group of a material; `None` before [`Self::bind`].
    pub(crate) fn get(&self, material: u32) -> Option<&wgpu::BindGroup> {
        self.groups.get()?.get(material as usize)
    }
}
