//! Render targets, and a picture that is read back.

use crate::diagnostic::{Diagnostic, DiagnosticCode};

/// Samples per pixel.
pub(super) const SAMPLES: u32 = 4;
/// Format of pictures that are read back.
pub(super) const PICTURE_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
/// Format of the depth buffer.
pub(super) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
/// Linear colour.
const BACKGROUND: wgpu::Color = wgpu::Color { r: 0.72, g: 0.735, b: 0.76, a: 1.0 };

/// Multisampled colour and depth buffers.
pub(super) struct Targets {
    samples: wgpu::TextureView,
    depth: wgpu::TextureView,
}

impl Targets {
    /// Creates buffers of `[width, height]` pixels.
    pub(super) fn new(device: &wgpu::Device, format: wgpu::TextureFormat, size: [u32; 2]) -> Self {
        let view = |label, format| {
            let usage = wgpu::TextureUsages::RENDER_ATTACHMENT;
            texture(device, label, format, size, SAMPLES, usage).create_view(&Default::default())
        };
        Self { samples: view("preview samples", format), depth: view("preview depth", DEPTH) }
    }

    /// Begins a pass that clears the buffers and resolves to `target`.
    pub(super) fn begin<'e>(
        &self,
        encoder: &'e mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
    ) -> wgpu::RenderPass<'e> {
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("preview"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.samples,
                depth_slice: None,
                resolve_target: Some(target),
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(BACKGROUND), store: wgpu::StoreOp::Discard },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        })
    }
}

/// A cell to draw to, and a buffer for a row of cells.
pub(super) struct Picture {
    cell: wgpu::Texture,
    /// View of the cell.
    pub(super) view: wgpu::TextureView,
    readback: wgpu::Buffer,
    stride: u32,
}

impl Picture {
    /// Creates a cell of `[width, height]` pixels, and a buffer for `columns` cells side by side.
    pub(super) fn new(device: &wgpu::Device, size: [u32; 2], columns: u32) -> Self {
        let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC;
        let cell = texture(device, "preview cell", PICTURE_FORMAT, size, 1, usage);
        let stride = (columns * size[0] * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let readback = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("preview row"),
            size: u64::from(stride) * u64::from(size[1]),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        Self { view: cell.create_view(&Default::default()), cell, readback, stride }
    }

    /// Copies the cell into the row buffer, `left` pixels from its start.
    pub(super) fn copy(&self, encoder: &mut wgpu::CommandEncoder, left: u32) {
        encoder.copy_texture_to_buffer(
            self.cell.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &self.readback,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: u64::from(left) * 4,
                    bytes_per_row: Some(self.stride),
                    rows_per_image: None,
                },
            },
            self.cell.size(),
        );
    }

    /// Passes the RGBA rows of the buffer and their length in bytes to `use_pixels`.
    pub(super) fn read(&self, device: &wgpu::Device, use_pixels: impl FnOnce(&[u8], usize)) -> Result<(), Diagnostic> {
        let failed = |reason: String| {
            Diagnostic::error(DiagnosticCode::GpuFailed, format!("the image could not be read back: {reason}"))
        };
        let (sender, receiver) = std::sync::mpsc::channel();
        self.readback.map_async(wgpu::MapMode::Read, .., move |result| {
            let _ = sender.send(result);
        });
        device.poll(wgpu::PollType::wait_indefinitely()).map_err(|e| failed(e.to_string()))?;
        receiver.recv().map_err(|e| failed(e.to_string()))?.map_err(|e| failed(e.to_string()))?;
        let bytes = self.readback.get_mapped_range(..).map_err(|e| failed(e.to_string()))?;
        use_pixels(&bytes, self.stride as usize);
        drop(bytes);
        self.readback.unmap();
        Ok(())
    }
}

fn texture(
    device: &wgpu::Device,
    label: &str,
    format: wgpu::TextureFormat,
    [width, height]: [u32; 2],
    sample_count: u32,
    usage: wgpu::TextureUsages,
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    })
}
