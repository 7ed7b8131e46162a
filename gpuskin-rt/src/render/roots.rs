//! Root motion of the clips of a model, on the CPU and on the device.

use std::sync::OnceLock;

use super::gpu::Gpu;
use crate::list::List;
use crate::{ClipInfo, root_table};

/// Root motion of the clips of a model, of which at least one has some.
#[derive(Debug)]
pub(crate) struct RootClips {
    pub(crate) clips: List<ClipInfo>,
    words: Vec<[u32; 4]>,
    /// `words` on the device, once an instance follows its root motion.
    buffer: OnceLock<wgpu::Buffer>,
}

impl RootClips {
    /// Returns `None` if no clip has root motion.
    pub(crate) fn new(clips: &List<ClipInfo>) -> Option<Self> {
        Some(Self { words: root_table::pack(clips)?, clips: clips.clone(), buffer: OnceLock::new() })
    }

    /// Size of the buffer, bytes.
    pub(crate) fn size(&self) -> u64 {
        size_of_val(&self.words[..]) as u64
    }

    /// Returns the table that the motion pass reads.
    pub(crate) fn buffer(&self, Gpu { device, queue }: Gpu<'_>) -> &wgpu::Buffer {
        self.buffer.get_or_init(|| {
            let buffer = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("gpuskin root motion"),
                size: self.size(),
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&self.words));
            buffer
        })
    }
}
