//! The baked sample models, and a device.

use std::path::Path;

use gpuskin_build::Manifest;
use gpuskin_build::{BakeOptions, bake};
use gpuskin_build::{Diagnostics, Style};
use gpuskin_rt::internals::{CrowdRenderer, Model, wgpu};

use crate::report::heading;

pub(crate) struct Context {
    /// Models of the manifest, in memory.
    pub(crate) models: Vec<Model>,
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    /// Whether the device has timestamp queries.
    pub(crate) timestamps: bool,
    software: bool,
}

impl Context {
    pub(crate) fn new(manifest: &Path) -> Result<Self, String> {
        let manifest = Manifest::load(manifest).map_err(|findings| text(&findings))?;
        let baked = bake(&manifest, &BakeOptions::default()).map_err(|failed| text(&failed.diagnostics))?;
        let models = baked.runtime_models();
        let (device, queue, info) = pollster::block_on(open(wgpu::Adapter::limits, FEATURES))?;
        heading(&format!("{} ({:?}, {})", info.name, info.backend, info.driver_info));
        let timestamps = device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        let software = info.device_type == wgpu::DeviceType::Cpu;
        Ok(Self { models, device, queue, timestamps, software })
    }

    /// Opens the adapter with WebGL2's limits: without compute shaders, the device plays the
    /// models' other encoding.
    pub(crate) fn without_compute(&self) -> Result<Self, String> {
        let limits =
            |adapter: &wgpu::Adapter| wgpu::Limits::downlevel_webgl2_defaults().using_resolution(adapter.limits());
        self.with(pollster::block_on(open(limits, FEATURES))?)
    }

    /// Opens the adapter without some features.
    pub(crate) fn without(&self, features: wgpu::Features) -> Result<Self, String> {
        self.with(pollster::block_on(open(wgpu::Adapter::limits, FEATURES - features))?)
    }

    fn with(&self, (device, queue, _): (wgpu::Device, wgpu::Queue, wgpu::AdapterInfo)) -> Result<Self, String> {
        let timestamps = device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        Ok(Self { models: self.models.clone(), device, queue, timestamps, software: self.software })
    }

    /// Whether the device is a software renderer.
    pub(crate) fn is_software(&self) -> bool {
        self.software
    }

    /// Waits until the device has completed all submitted work.
    pub(crate) fn wait(&self) -> Result<(), String> {
        self.device.poll(wgpu::PollType::wait_indefinitely()).map(|_| ()).map_err(|e| e.to_string())
    }
}

pub(crate) fn text(findings: &Diagnostics) -> String {
    findings.render(Style::Plain)
}

/// Features that the bench enables if the adapter has them. Unlike games, it does not enable
/// texture compression: textures are compared as RGBA8.
const FEATURES: wgpu::Features = CrowdRenderer::OPTIONAL_FEATURES
    .difference(wgpu::Features::TEXTURE_COMPRESSION_BC)
    .difference(wgpu::Features::TEXTURE_COMPRESSION_ETC2)
    .difference(wgpu::Features::TEXTURE_COMPRESSION_ASTC)
    .union(wgpu::Features::TIMESTAMP_QUERY);

/// Opens the adapter with the limits that `limits` returns, and those of `features` that it has.
async fn open(
    limits: impl Fn(&wgpu::Adapter) -> wgpu::Limits,
    features: wgpu::Features,
) -> Result<(wgpu::Device, wgpu::Queue, wgpu::AdapterInfo), String> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter =
        wgpu::util::initialize_adapter_from_env_or_default(&instance, None).await.map_err(|e| e.to_string())?;
    let descriptor = wgpu::DeviceDescriptor {
        required_features: adapter.features() & features,
        required_limits: limits(&adapter),
        ..Default::default()
    };
    let (device, queue) = adapter.request_device(&descriptor).await.map_err(|e| e.to_string())?;
    Ok((device, queue, adapter.get_info()))
}
