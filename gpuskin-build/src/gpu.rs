//! A GPU to draw on, whichever there is.

use crate::finding::{Code, Finding};

/// Opens the adapter that wgpu prefers (`WGPU_BACKEND` and `WGPU_ADAPTER_NAME` choose another), with its own limits.
pub fn open() -> Result<(wgpu::Device, wgpu::Queue), Finding> {
    pollster::block_on(async {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
        let adapter = wgpu::util::initialize_adapter_from_env_or_default(&instance, None).await.map_err(|e| {
            Finding::error(Code::GpuMissing, format!("no GPU was found: {e}"))
                .help("install a Vulkan driver; Debian's software renderer is `apt-get install mesa-vulkan-drivers`")
        })?;
        let limits = adapter.limits();
        let descriptor =
            wgpu::DeviceDescriptor { label: Some("gpuskin"), required_limits: limits, ..Default::default() };
        let opened = adapter.request_device(&descriptor).await;
        opened.map_err(|e| Finding::error(Code::GpuFailed, format!("{} refused to open: {e}", adapter.get_info().name)))
    })
}
