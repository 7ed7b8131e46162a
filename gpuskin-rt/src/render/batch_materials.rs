//! Materials of a batch: tables with the materials of many models, where the device can index them.

use std::sync::Arc;

use super::gpu_model::GpuModel;
use super::layouts::Layouts;
use super::pipelines::Pipelines;
use super::textures::SampledTexture;
use crate::shader::material::TextureSet;

const LABEL: Option<&str> = Some("gpuskin table of materials");

/// Materials of draws that one call draws.
#[derive(Debug)]
pub(crate) enum RunMaterials {
    /// Material of a model.
    Own(Arc<GpuModel>, u32),
    /// Bind group of a table.
    Table(wgpu::BindGroup),
}

impl RunMaterials {
    /// Returns the materials of models, which have the same samplers, as a table if the pipelines read one; else the
    /// first material.
    pub(crate) fn new<'a>(
        (device, encoder): (&wgpu::Device, &mut wgpu::CommandEncoder),
        layouts: &Layouts,
        pipelines: &Pipelines,
        materials: &[(&'a Arc<GpuModel>, u32)],
    ) -> Self {
        let (model, material) = materials[0];
        if !pipelines.has_tables() {
            return Self::Own(model.clone(), material);
        }
        let row = pipelines.constants_size() as u64;
        let constants = device.create_buffer(&wgpu::BufferDescriptor {
            label: LABEL,
            size: row * materials.len() as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        for (i, (model, material)) in (0..).zip(materials) {
            model.geometry.copy_material(encoder, *material, (&constants, i * row, row));
        }
        let first = model.materials.sampled(material);
        // The views of all materials, by texture.
        let view = |texture: usize| {
            move |(model, material): &(&'a Arc<GpuModel>, u32)| &model.materials.sampled(*material)[texture].1.view
        };
        let views: Vec<Vec<_>> =
            (0..first.len()).map(|texture| materials.iter().map(view(texture)).collect()).collect();
        let mut entries = vec![wgpu::BindGroupEntry { binding: 0, resource: constants.as_entire_binding() }];
        for ((texture, sampled), views) in first.iter().zip(&views) {
            let (binding, views) = (texture.binding(), wgpu::BindingResource::TextureViewArray(views));
            entries.push(wgpu::BindGroupEntry { binding, resource: views });
            let sampler = wgpu::BindingResource::Sampler(&sampled.sampler);
            entries.push(wgpu::BindGroupEntry { binding: binding + 1, resource: sampler });
        }
        Self::Table(device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: LABEL,
            layout: &layouts.table(pipelines.textures()),
            entries: &entries,
        }))
    }

    /// Returns the bind group; `None` if the model's materials are not bound yet.
    pub(crate) fn bind_group(&self) -> Option<&wgpu::BindGroup> {
        match self {
            Self::Own(model, material) => model.materials.get(*material),
            Self::Table(table) => Some(table),
        }
    }
}

/// Numbers of the sets of samplers in use: those of a table are the same for all of its materials.
#[derive(Debug, Default)]
pub(crate) struct SamplerSets(Vec<Vec<wgpu::Sampler>>);

impl SamplerSets {
    pub(crate) fn number(&mut self, textures: &[(TextureSet, SampledTexture)]) -> usize {
        let set = || textures.iter().map(|(_, texture)| &texture.sampler);
        self.0.iter().position(|known| known.iter().eq(set())).unwrap_or_else(|| {
            self.0.push(set().cloned().collect());
            self.0.len() - 1
        })
    }
}
