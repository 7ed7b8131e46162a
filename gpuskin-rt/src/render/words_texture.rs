//! Textures of words: records and bounds of clips that do not fit uniform buffers, and deltas of morph targets.

/// Creates a texture of words, four per texel, in rows of `across` texels.
pub(crate) fn words_texture(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    label: &str,
    across: u32,
    bytes: &[u8],
) -> wgpu::TextureView {
    let row = across as usize * 16;
    let height = bytes.len().div_ceil(row).max(1);
    let size = wgpu::Extent3d { width: across, height: height as u32, depth_or_array_layers: 1 };
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba32Uint,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    let mut rows = bytes.to_vec();
    rows.resize(height * row, 0);
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row as u32), rows_per_image: None };
    queue.write_texture(texture.as_image_copy(), &rows, layout, size);
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}
