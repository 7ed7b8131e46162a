//! Light of the metallic-roughness material on the device.

use super::RendererDescriptor;
use super::albedo;
use super::gpu::Gpu;
use super::shading::LightingFeatures;
use super::shadows::Shadows;
use crate::lighting::{Lighting, LightingUniform};
use crate::shader::material::{ALBEDO_BINDING, LIGHTING_BINDING, SHADOWS_BINDING};

/// Resources of the light that all views of a renderer share.
#[derive(Debug)]
pub(crate) struct Lit {
    uniform: wgpu::Buffer,
    albedo: (wgpu::TextureView, wgpu::Sampler),
    pub(crate) shadows: Option<Shadows>,
    pub(crate) features: LightingFeatures,
}

impl Lit {
    /// Returns `None` for a renderer with another material.
    pub(crate) fn new(gpu: Gpu<'_>, descriptor: &RendererDescriptor) -> Option<Self> {
        let features = descriptor.shading.features()?.clone();
        let reversed = descriptor.reversed_depth().unwrap_or(false);
        let uniform = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("gpuskin lighting"),
            size: size_of::<LightingUniform>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let shadows = features.shadows.as_ref().map(|shadows| Shadows::new(gpu.device, shadows, reversed));
        Some(Self { uniform, albedo: albedo::table(gpu), shadows, features })
    }

    /// Uploads the lighting.
    pub(crate) fn upload(&self, queue: &wgpu::Queue, lighting: &Lighting) {
        queue.write_buffer(&self.uniform, 0, bytemuck::bytes_of(&LightingUniform::new(lighting)));
    }

    /// Creates the bind group of a view: camera, time, light and shadows.
    pub(crate) fn bind_group(
        &self,
        device: &wgpu::Device,
        layout: &wgpu::BindGroupLayout,
        [view, scene]: [&wgpu::Buffer; 2],
    ) -> wgpu::BindGroup {
        let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
        let mut entries = vec![
            entry(0, view.as_entire_binding()),
            entry(1, scene.as_entire_binding()),
            entry(LIGHTING_BINDING, self.uniform.as_entire_binding()),
            entry(ALBEDO_BINDING, wgpu::BindingResource::TextureView(&self.albedo.0)),
            entry(ALBEDO_BINDING + 1, wgpu::BindingResource::Sampler(&self.albedo.1)),
        ];
        if let Some(shadows) = &self.shadows {
            entries.extend([
                entry(SHADOWS_BINDING, shadows.uniform.as_entire_binding()),
                entry(SHADOWS_BINDING + 1, wgpu::BindingResource::TextureView(&shadows.map)),
                entry(SHADOWS_BINDING + 2, wgpu::BindingResource::Sampler(&shadows.sampler)),
            ]);
        }
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("gpuskin lit view"),
            layout,
            entries: &entries,
        })
    }
}
