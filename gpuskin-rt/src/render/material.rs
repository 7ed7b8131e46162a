//! Constants of materials, as the shaders read them.

use crate::Metadata;
use bytemuck::{Pod, Zeroable};

/// Layout of `Material` in `shaders/crowd.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct MaterialUniform {
    pub(crate) base_color: [f32; 4],
    pub(crate) emissive: [f32; 3],
    pub(crate) alpha_cutoff: f32,
}

/// Constants of all materials of a model, laid out as in its buffer.
#[derive(Debug)]
pub(crate) struct MaterialConstants {
    pub(crate) bytes: Vec<u8>,
    /// Alignment of a binding's offset, bytes.
    pub(crate) alignment: u64,
    /// Bytes per material.
    pub(crate) stride: u64,
}

impl MaterialConstants {
    pub(crate) fn of(device: &wgpu::Device, meta: &Metadata) -> Self {
        let alignment = device.limits().min_uniform_buffer_offset_alignment.max(1) as usize;
        let stride = size_of::<MaterialUniform>().next_multiple_of(alignment);
        let mut bytes = vec![0; stride * meta.materials.len()];
        for (material, bytes) in meta.materials.iter().zip(bytes.chunks_exact_mut(stride)) {
            let uniform = MaterialUniform {
                base_color: material.base_color,
                emissive: material.emissive,
                alpha_cutoff: material.alpha_cutoff.unwrap_or(0.0),
            };
            bytes[..size_of::<MaterialUniform>()].copy_from_slice(bytemuck::bytes_of(&uniform));
        }
        Self { bytes, alignment: alignment as u64, stride: stride as u64 }
    }

    /// No materials, for a model that is drawn without them.
    #[cfg(feature = "testing")]
    pub(crate) const NONE: Self = Self { bytes: Vec::new(), alignment: 1, stride: 0 };
}
