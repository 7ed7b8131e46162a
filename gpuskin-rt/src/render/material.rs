//! The renderer's own materials on the device: base colour and emitted light, with a texture each.

use bytemuck::{Pod, Zeroable};

use super::Error;
use super::geometry::Geometry;
use super::layouts::Layouts;
use super::textures::{SampledTexture, Samplers, Textures};
use crate::{MaterialTexture, Metadata, Model};

/// Twin of `Material` in `shaders/crowd.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct MaterialUniform {
    pub(crate) base_color: [f32; 4],
    pub(crate) emissive: [f32; 3],
    pub(crate) alpha_cutoff: f32,
}

/// The constants of all materials of a model, as they stand in its buffer.
#[derive(Debug)]
pub(crate) struct MaterialConstants {
    pub(crate) bytes: Vec<u8>,
    /// What a binding's offset must be a multiple of.
    pub(crate) alignment: u64,
    /// Bytes from one to the next.
    pub(crate) stride: u64,
}

impl MaterialConstants {
    pub(crate) fn of(device: &wgpu::Device, meta: &Metadata) -> Self {
        let alignment = device.limits().min_uniform_buffer_offset_alignment.max(1) as usize;
        let stride = size_of::<MaterialUniform>().next_multiple_of(alignment);
        let mut bytes = vec![0; stride * meta.materials.len()];
        for (material, bytes) in meta.materials.iter().zip(bytes.chunks_exact_mut(stride)) {
            let uniform = MaterialUniform {
                base_color: material.base_color,
                emissive: material.emissive,
                alpha_cutoff: material.alpha_cutoff.unwrap_or(0.0),
            };
            bytes[..size_of::<MaterialUniform>()].copy_from_slice(bytemuck::bytes_of(&uniform));
        }
        Self { bytes, alignment: alignment as u64, stride: stride as u64 }
    }

    /// Of a model whose materials nobody binds.
    pub(crate) const NONE: Self = Self { bytes: Vec::new(), alignment: 1, stride: 0 };
}

/// A bind group for every material of a model; their constants stand in the model's buffer.
pub(crate) fn bind_groups(
    (device, queue): (&wgpu::Device, &wgpu::Queue),
    layouts: &Layouts,
    model: &Model,
    geometry: &Geometry,
    textures: &Textures,
    (samplers, white): (&mut Samplers, &SampledTexture),
) -> Result<Vec<wgpu::BindGroup>, Error> {
    let meta = &model.meta;
    let mut groups = Vec::with_capacity(meta.materials.len());
    for (i, material) in meta.materials.iter().enumerate() {
        let mut sampled = |texture: Option<&MaterialTexture>| -> Result<SampledTexture, Error> {
            let Some(texture) = texture else { return Ok(white.clone()) };
            let view = textures.get((device, queue), model, texture.texture)?;
            Ok(SampledTexture { view, sampler: samplers.get(device, texture) })
        };
        let base_color = sampled(material.base_color_texture.as_ref())?;
        let emissive = sampled(material.emissive_texture.as_ref().filter(|_| material.emits()))?;
        groups.push(device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("gpuskin material"),
            layout: &layouts.material,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: geometry.material(i) },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::TextureView(&base_color.view) },
                wgpu::BindGroupEntry { binding: 2, resource: wgpu::BindingResource::Sampler(&base_color.sampler) },
                wgpu::BindGroupEntry { binding: 3, resource: wgpu::BindingResource::TextureView(&emissive.view) },
                wgpu::BindGroupEntry { binding: 4, resource: wgpu::BindingResource::Sampler(&emissive.sampler) },
            ],
        }));
    }
    Ok(groups)
}
