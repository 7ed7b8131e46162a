//! Compute pipelines and their bind group layouts.

use std::sync::OnceLock;

use super::layouts::entry;

/// Creates a bind group layout with these bindings, numbered from 0.
pub(crate) fn layout(
    device: &wgpu::Device,
    label: Option<&str>,
    bindings: &[wgpu::BindingType],
) -> wgpu::BindGroupLayout {
    let entries: Vec<_> =
        (0..).zip(bindings).map(|(binding, ty)| entry(binding, wgpu::ShaderStages::COMPUTE, *ty)).collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries })
}

/// Creates a compute pipeline from WGSL text and an entry point.
pub(crate) fn pipeline(
    device: &wgpu::Device,
    label: Option<&str>,
    (text, entry_point): (&str, &str),
    groups: &[&wgpu::BindGroupLayout],
) -> wgpu::ComputePipeline {
    let source = wgpu::ShaderSource::Wgsl(text.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label, source });
    let groups: Vec<_> = groups.iter().copied().map(Some).collect();
    let descriptor = wgpu::PipelineLayoutDescriptor { label, bind_group_layouts: &groups, immediate_size: 0 };
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label,
        layout: Some(&device.create_pipeline_layout(&descriptor)),
        module: &module,
        entry_point: Some(entry_point),
        // Each shader writes workgroup memory before it reads it.
        compilation_options: wgpu::PipelineCompilationOptions {
            zero_initialize_workgroup_memory: false,
            ..Default::default()
        },
        cache: None,
    })
}

/// Pipelines of a pass, created on first use: not every device supports them, and compiling takes
/// longer than the rest of start-up.
#[derive(Debug)]
pub(crate) struct LazyPipelines<T> {
    device: wgpu::Device,
    pipelines: OnceLock<T>,
    create: fn(&wgpu::Device) -> T,
}

impl<T> LazyPipelines<T> {
    pub(crate) fn new(device: &wgpu::Device, create: fn(&wgpu::Device) -> T) -> Self {
        Self { device: device.clone(), pipelines: OnceLock::new(), create }
    }

    pub(crate) fn get(&self) -> &T {
        self.pipelines.get_or_init(|| (self.create)(&self.device))
    }

    /// Returns them if they have been used.
    pub(crate) fn made(&self) -> Option<&T> {
        self.pipelines.get()
    }
}
