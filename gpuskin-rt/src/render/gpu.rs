//! A device with its queue.

/// Device and queue that a renderer works with.
#[derive(Clone, Copy)]
pub(crate) struct Gpu<'a> {
    pub(crate) device: &'a wgpu::Device,
    pub(crate) queue: &'a wgpu::Queue,
}
