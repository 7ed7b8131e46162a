//! Light of the metallic-roughness material on the device.

use std::sync::{Mutex, PoisonError};

use super::albedo;
use super::environment::EnvironmentMap;
use super::gpu::Gpu;
use super::light_shadows::LightShadows;
use super::lights::Lights;
use super::shading::LightingFeatures;
use super::shadow_map::ShadowMap;
use super::shadows::Cascades;
use super::{Camera, RendererDescriptor};
use crate::lighting::{Lighting, LightingUniform, PunctualLight};
use crate::shader::material::{
    ALBEDO_BINDING, ENVIRONMENT_BINDING, LIGHT_SHADOWS_BINDING, LIGHTING_BINDING, SHADOW_MAP_BINDING, SHADOWS_BINDING,
};

/// Resources of the light that all views of a renderer share.
#[derive(Debug)]
pub(crate) struct Lit {
    uniform: wgpu::Buffer,
    albedo: (wgpu::TextureView, wgpu::Sampler),
    /// Shadow map, if sun or lights cast shadows.
    pub(crate) shadow_map: Option<ShadowMap>,
    pub(crate) cascades: Option<Cascades>,
    light_shadows: Option<LightShadows>,
    /// Point and spot lights, if the material has any.
    lights: Option<Lights>,
    /// Lights to upload, in the next `prepare`.
    set_lights: Mutex<Option<Vec<PunctualLight>>>,
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
        let shadow_map = ShadowMap::new(gpu.device, &features, reversed);
        let tiles = shadow_map.as_ref().map_or(&[][..], |map| &map.tiles);
        let cascades = features.shadows.as_ref().map(|sun| Cascades::new(gpu.device, sun, tiles, reversed));
        let light_shadows =
            features.light_shadows.as_ref().map(|lights| LightShadows::new(gpu.device, lights, tiles, reversed));
        let lights = Lights::new(gpu.device, features.lights);
        let environment = features.environment.then(|| EnvironmentMap::black(gpu));
        let (albedo, set_lights) = (albedo::table(gpu), Mutex::new(Some(Vec::new())));
        Some(Self { uniform, albedo, shadow_map, cascades, light_shadows, lights, set_lights, environment, features })
    }

    /// Sets the lights of the next upload, at most as many as the features allow.
    pub(crate) fn set_lights(&self, lights: &[PunctualLight]) {
        *self.set_lights.lock().unwrap_or_else(PoisonError::into_inner) = Some(lights.to_vec());
    }

    /// Uploads point and spot lights if they were set since the last upload. Returns the cameras of their shadows, one per
    /// tile.
    pub(crate) fn upload_lights(&self, queue: &wgpu::Queue) -> Vec<Camera> {
        let set = self.set_lights.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((uploaded, mut lights)) = self.lights.as_ref().zip(set) else { return Vec::new() };
        // First, because it sorts the lights.
        let (shadowed, cameras) =
            self.light_shadows.as_ref().map_or_else(Default::default, |shadows| shadows.fit(queue, &mut lights));
        uploaded.upload(queue, &mut lights, shadowed);
        cameras
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
        let cascades = self.cascades.as_ref().map(|cascades| (SHADOWS_BINDING, &cascades.uniform));
        let tiles = self.light_shadows.as_ref().map(|shadows| (LIGHT_SHADOWS_BINDING, &shadows.uniform));
        let uniforms = cascades.into_iter().chain(tiles);
        entries.extend(uniforms.map(|(binding, buffer)| entry(binding, buffer.as_entire_binding())));
        if let Some(map) = &self.shadow_map {
            entries.extend([
                entry(SHADOW_MAP_BINDING, wgpu::BindingResource::TextureView(&map.texture)),
                entry(SHADOW_MAP_BINDING + 1, wgpu::BindingResource::Sampler(&map.sampler)),
            ]);
        }
        entries.extend(self.lights.iter().flat_map(Lights::entries));
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
