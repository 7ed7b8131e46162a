//! Opens a GPU for previews and GPU poses.

use crate::diagnostic::{Diagnostic, DiagnosticCode};

/// An open GPU.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// Device, with the limits of its adapter.
    pub device: wgpu::Device,
    /// Queue of the device.
    pub queue: wgpu::Queue,
}

/// Opens the adapter that wgpu selects, with its own limits. `WGPU_BACKEND` and `WGPU_ADAPTER_NAME`
/// choose another adapter.
pub fn open() -> Result<Gpu, Diagnostic> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    open_on(&instance, None).map(|(_, gpu)| gpu)
}

/// Opens an adapter that can draw to `surface`, like [`open`].
pub(crate) fn open_on(
    instance: &wgpu::Instance,
    surface: Option<&wgpu::Surface<'_>>,
) -> Result<(wgpu::Adapter, Gpu), Diagnostic> {
    pollster::block_on(async {
        let adapter = wgpu::util::initialize_adapter_from_env_or_default(instance, surface).await.map_err(|e| {
            Diagnostic::error(DiagnosticCode::GpuMissing, format!("no GPU was found: {e}"))
                .help("install a Vulkan driver; on Debian, `apt-get install mesa-vulkan-drivers` installs a software renderer")
        })?;
        let limits = adapter.limits();
        let descriptor =
            wgpu::DeviceDescriptor { label: Some("gpuskin"), required_limits: limits, ..Default::default() };
        match adapter.request_device(&descriptor).await {
            Ok((device, queue)) => Ok((adapter, Gpu { device, queue })),
            Err(e) => Err(Diagnostic::error(
                DiagnosticCode::GpuFailed,
                format!("the adapter {} cannot be opened: {e}", adapter.get_info().name),
            )),
        }
    })
}
