//! Opening a device: nothing here is about crowds.

use gpuskin_rt::{CrowdRenderer, wgpu};

use crate::Error;

/// A device and its queue.
#[derive(Debug)]
pub struct Gpu {
    /// Chosen by wgpu; `WGPU_BACKEND` and `WGPU_ADAPTER_NAME` choose another.
    pub adapter: wgpu::Adapter,
    /// With all the limits of its adapter.
    pub device: wgpu::Device,
    /// Of the device.
    pub queue: wgpu::Queue,
}

impl Gpu {
    /// Opens an adapter, one that can show a window's surface where there is one.
    ///
    /// # Errors
    /// When there is none.
    pub fn open(instance: &wgpu::Instance, surface: Option<&wgpu::Surface<'_>>) -> Result<Self, Error> {
        pollster::block_on(async {
            let adapter = wgpu::util::initialize_adapter_from_env_or_default(instance, surface).await?;
            let descriptor = wgpu::DeviceDescriptor {
                required_limits: adapter.limits(),
                // Block-compressed textures and fewer draw calls, where there are any.
                required_features: adapter.features() & CrowdRenderer::OPTIONAL_FEATURES,
                ..Default::default()
            };
            let (device, queue) = adapter.request_device(&descriptor).await?;
            Ok(Self { adapter, device, queue })
        })
    }

    /// Opens an adapter for pictures.
    ///
    /// # Errors
    /// When there is none.
    pub fn headless() -> Result<Self, Error> {
        Self::open(&wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env()), None)
    }

    /// What draws: `llvmpipe (LLVM 15.0.6, 256 bits), Vulkan`.
    pub fn name(&self) -> String {
        let info = self.adapter.get_info();
        format!("{}, {}", info.name, info.backend)
    }
}
