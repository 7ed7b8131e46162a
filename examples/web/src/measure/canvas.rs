//! Textures of pictures.

use gpuskin_rt::{Error, wgpu};

/// Size of a picture in pixels.
pub const SIZE: [u32; 2] = [320, 240];
/// Formats of pictures.
pub(super) const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
pub(super) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth24Plus;

/// Returns the texels of a picture.
pub(super) async fn read(device: &wgpu::Device, queue: &wgpu::Queue, color: &wgpu::Texture) -> Result<Vec<u8>, Error> {
    let row = SIZE[0] * 4;
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("picture"),
        size: u64::from(row * SIZE[1]),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_texture_to_buffer(
        color.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None },
        },
        color.size(),
    );
    queue.submit([encoder.finish()]);
    gpuskin_rt::internals::render::map_for_reading(&buffer).await?;
    let bytes = buffer.get_mapped_range(..).map_err(|error| Error::Readback { reason: error.to_string() })?;
    Ok(bytes.to_vec())
}

/// Begins a pass. `clears`: whether it clears the colours and the depth that are there.
pub(super) fn begin_pass<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    targets: [&wgpu::Texture; 2],
    clears: [bool; 2],
) -> wgpu::RenderPass<'a> {
    let [color, depth] = targets.map(|texture| texture.create_view(&Default::default()));
    let background = wgpu::Color { r: 0.05, g: 0.07, b: 0.1, a: 1.0 };
    let load = if clears[0] { wgpu::LoadOp::Clear(background) } else { wgpu::LoadOp::Load };
    let load_depth = if clears[1] { wgpu::LoadOp::Clear(1.0) } else { wgpu::LoadOp::Load };
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("measure"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &color,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations { load, store: wgpu::StoreOp::Store },
        })],
        depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
            view: &depth,
            depth_ops: Some(wgpu::Operations { load: load_depth, store: wgpu::StoreOp::Store }),
            stencil_ops: None,
        }),
        ..Default::default()
    })
}

pub(super) fn target(device: &wgpu::Device, format: wgpu::TextureFormat, usage: wgpu::TextureUsages) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some("measure"),
        size: wgpu::Extent3d { width: SIZE[0], height: SIZE[1], depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | usage,
        view_formats: &[],
    })
}
