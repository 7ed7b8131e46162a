//! Textures of words: records and bounds of clips that do not fit uniform buffers.

use crate::shader::CLIPS_ACROSS;

/// Creates a texture of words, four per texel, in rows of [`CLIPS_ACROSS`] texels.
pub(crate) fn words_texture(device: &wgpu::Device, queue: &wgpu::Queue, bytes: &[u8]) -> wgpu::TextureView {
    const ROW: usize = CLIPS_ACROSS as usize * 16;
    let height = bytes.len().div_ceil(ROW).max(1);
    let size = wgpu::Extent3d { width: CLIPS_ACROSS, height: height as u32, depth_or_array_layers: 1 };
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("gpuskin clips"),
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba32Uint,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    let mut rows = bytes.to_vec();
    rows.resize(height * ROW, 0);
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(ROW as u32), rows_per_image: None };
    queue.write_texture(texture.as_image_copy(), &rows, layout, size);
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}
