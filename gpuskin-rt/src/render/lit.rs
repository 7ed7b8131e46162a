//! Light of the metallic-roughness material on the device.

use super::RendererDescriptor;
use super::albedo;
use super::environment::EnvironmentMap;
use super::gpu::Gpu;
use super::shading::{LIGHTS_HEADER, LightingFeatures};
use super::shadows::Shadows;
use crate::lighting::{Lighting, LightingUniform, PunctualLight, PunctualUniform};
use crate::shader::material::{ALBEDO_BINDING, ENVIRONMENT_BINDING, LIGHTING_BINDING, LIGHTS_BINDING, SHADOWS_BINDING};

/// Resources of the light that all views of a renderer share.
#[derive(Debug)]
pub(crate) struct Lit {
    uniform: wgpu::Buffer,
    albedo: (wgpu::TextureView, wgpu::Sampler),
    pub(crate) shadows: Option<Shadows>,
    /// Point and spot lights, if the material has any.
    lights: Option<wgpu::Buffer>,
    /// Environment map, if the material mirrors one.
    pub(crate) environment: Option<EnvironmentMap>,
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
        let lights = (features.lights > 0).then(|| {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("gpuskin lights"),
                size: LIGHTS_HEADER + u64::from(features.lights) * size_of::<PunctualUniform>() as u64,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        });
        let environment = features.environment.then(|| EnvironmentMap::black(gpu));
        Some(Self { uniform, albedo: albedo::table(gpu), shadows, lights, environment, features })
    }

    /// Uploads point and spot lights, at most as many as the features allow.
    pub(crate) fn upload_lights(&self, queue: &wgpu::Queue, lights: &[PunctualLight]) {
        let Some(buffer) = &self.lights else { return };
        let mut bytes = bytemuck::bytes_of(&[lights.len() as u32, 0, 0, 0]).to_vec();
        lights.iter().for_each(|light| bytes.extend_from_slice(bytemuck::bytes_of(&PunctualUniform::new(light))));
        queue.write_buffer(buffer, 0, &bytes);
    }

    /// Uploads the lighting.
    pub(crate) fn upload(&self, queue: &wgpu::Queue, lighting: &Lighting) {
        let top = self.environment.as_ref().map_or(0.0, |map| map.top);
        queue.write_buffer(&self.uniform, 0, bytemuck::bytes_of(&LightingUniform::new(lighting, top)));
    }

    /// Creates the bind group of a view: camera, time, light, shadows and environment.
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
        entries.extend(self.lights.as_ref().map(|lights| entry(LIGHTS_BINDING, lights.as_entire_binding())));
        if let Some(environment) = &self.environment {
            entries.extend([
                entry(ENVIRONMENT_BINDING, wgpu::BindingResource::TextureView(&environment.view)),
                entry(ENVIRONMENT_BINDING + 1, wgpu::BindingResource::Sampler(&environment.sampler)),
            ]);
        }
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("gpuskin lit view"),
            layout,
            entries: &entries,
        })
    }
}
