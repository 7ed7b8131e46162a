//! Materials of the renderer on the device: their constants, and the textures that the renderer samples.

use std::sync::OnceLock;

use super::Error;
use super::geometry::Geometry;
use super::gpu::Gpu;
use super::layouts::Layouts;
use super::surface;
use super::textures::{SampledTexture, Samplers, Textures};
use crate::shader::material::TextureSet;
use crate::{Material, MaterialTexture, Model};

/// Textures of a model's materials; their constants are in the model's buffer.
#[derive(Debug)]
pub(crate) struct Materials {
    /// Textures that the renderer samples, per material.
    sampled: Vec<SampledSet>,
    /// Bind groups, created before the first draw.
    groups: OnceLock<Vec<wgpu::BindGroup>>,
}

/// Textures of a material that the renderer samples.
#[derive(Debug)]
struct SampledSet {
    /// All of them, and whether the base colour has layers.
    set: TextureSet,
    textures: Vec<(TextureSet, SampledTexture)>,
}

impl Materials {
    pub(crate) fn new(
        gpu: Gpu<'_>,
        model: &Model,
        textures: &Textures,
        samplers: &mut Samplers,
        white: &SampledTexture,
        full: bool,
    ) -> Result<Self, Error> {
        let mut sampled = |texture: Option<&MaterialTexture>| -> Result<SampledTexture, Error> {
            let Some(texture) = texture else { return Ok(white.clone()) };
            let view = textures.get(gpu, model, texture.texture)?;
            Ok(SampledTexture { view, sampler: samplers.get(gpu.device, texture), second_uv: texture.second_uv })
        };
        let mut all = |material: &Material| -> Result<SampledSet, Error> {
            let set = surface::textures(material, full);
            let used = TextureSet::ALL.into_iter().filter(|texture| set.has(*texture));
            let textures = used.map(|texture| Ok((texture, sampled(of_kind(material, texture))?)));
            Ok(SampledSet { set, textures: textures.collect::<Result<_, Error>>()? })
        };
        let sampled = model.meta.materials.iter().map(&mut all).collect::<Result<_, _>>()?;
        Ok(Self { sampled, groups: OnceLock::new() })
    }

    /// Creates the bind groups, before the first draw.
    pub(crate) fn bind(&self, device: &wgpu::Device, layouts: &Layouts, geometry: &Geometry) {
        let group = |(i, SampledSet { set, textures }): (usize, &SampledSet)| {
            let mut entries = Vec::with_capacity(1 + 2 * textures.len());
            entries.push(wgpu::BindGroupEntry { binding: 0, resource: geometry.material(i) });
            for (texture, sampled) in textures {
                let binding = texture.binding();
                let view = wgpu::BindingResource::TextureView(&sampled.view);
                entries.push(wgpu::BindGroupEntry { binding, resource: view });
                let sampler = wgpu::BindingResource::Sampler(&sampled.sampler);
                entries.push(wgpu::BindGroupEntry { binding: binding + 1, resource: sampler });
            }
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("gpuskin material"),
                layout: &layouts.material(*set),
                entries: &entries,
            })
        };
        self.groups.get_or_init(|| self.sampled.iter().enumerate().map(group).collect());
    }

    /// Returns the textures of a material that the renderer samples, in the order of their bindings.
    pub(crate) fn sampled(&self, material: u32) -> &[(TextureSet, SampledTexture)] {
        self.sampled.get(material as usize).map_or(&[], |set| &set.textures)
    }

    /// Returns the bind group of a material; `None` before [`Self::bind`].
    pub(crate) fn get(&self, material: u32) -> Option<&wgpu::BindGroup> {
        self.groups.get()?.get(material as usize)
    }
}

/// Returns the texture of a material in one of its roles.
fn of_kind(material: &Material, texture: TextureSet) -> Option<&MaterialTexture> {
    match texture {
        TextureSet::EMISSIVE => material.emissive_texture.as_ref(),
        TextureSet::ORM => material.orm_texture.as_ref(),
        TextureSet::NORMAL => material.normal_texture.as_ref(),
        TextureSet::SPECULAR => material.specular_texture.as_ref(),
        TextureSet::CLEARCOAT => material.clearcoat_texture.as_ref(),
        TextureSet::SHEEN => material.sheen_texture.as_ref(),
        TextureSet::CLEARCOAT_NORMAL => material.clearcoat_normal_texture.as_ref(),
        _ => material.base_color_texture.as_ref(),
    }
}
