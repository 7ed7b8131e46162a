//! Opens a device; independent of crowds.

use gpuskin_rt::{CrowdRenderer, wgpu};

use crate::Error;

/// Adapter, device and queue.
#[derive(Debug)]
pub struct Gpu {
    /// Adapter chosen by wgpu; `WGPU_BACKEND` and `WGPU_ADAPTER_NAME` select another.
    pub adapter: wgpu::Adapter,
    /// Device with all limits of its adapter.
    pub device: wgpu::Device,
    /// Queue of the device.
    pub queue: wgpu::Queue,
}

impl Gpu {
    /// Opens an adapter, which can present to `surface` if there is one.
    ///
    /// # Errors
    /// Returns an error if there is no adapter or it refuses the device.
    pub fn open(instance: &wgpu::Instance, surface: Option<&wgpu::Surface<'_>>) -> Result<Self, Error> {
        pollster::block_on(async {
            let adapter = wgpu::util::initialize_adapter_from_env_or_default(instance, surface).await?;
            let descriptor = wgpu::DeviceDescriptor {
                required_limits: adapter.limits(),
                // Block-compressed textures and fewer draw calls, if the adapter supports them.
                required_features: adapter.features() & CrowdRenderer::OPTIONAL_FEATURES,
                ..Default::default()
            };
            let (device, queue) = adapter.request_device(&descriptor).await?;
            Ok(Self { adapter, device, queue })
        })
    }

    /// Opens an adapter without a surface.
    ///
    /// # Errors
    /// Returns an error if there is no adapter or it refuses the device.
    pub fn headless() -> Result<Self, Error> {
        Self::open(&wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env()), None)
    }

    /// Name of the adapter and its backend, such as `llvmpipe (LLVM 15.0.6, 256 bits), Vulkan`.
    pub fn name(&self) -> String {
        let info = self.adapter.get_info();
        format!("{}, {}", info.name, info.backend)
    }
}
