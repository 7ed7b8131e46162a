//! A device, and pictures that are drawn on it; independent of fields.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use gpuskin_rt::wgpu;

use crate::Error;

pub(crate) const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
pub(crate) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// Device and queue.
#[derive(Debug)]
pub struct Gpu {
    /// Device with WebGL2's limits except for the texture size: fields need no more.
    pub device: wgpu::Device,
    /// Queue of the device.
    pub queue: wgpu::Queue,
}

/// Picture in RGBA8, sRGB, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Texels, four bytes per pixel.
    pub rgba: Vec<u8>,
}

impl Gpu {
    /// Opens the adapter that wgpu chooses; `WGPU_BACKEND` and `WGPU_ADAPTER_NAME` select another.
    ///
    /// # Errors
    /// Returns an error if there is no adapter or it refuses the device.
    pub fn open() -> Result<Self, Error> {
        pollster::block_on(async {
            let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
            let adapter = wgpu::util::initialize_adapter_from_env_or_default(&instance, None).await?;
            let least = wgpu::Limits::downlevel_webgl2_defaults().using_resolution(adapter.limits());
            let descriptor = wgpu::DeviceDescriptor { required_limits: least, ..Default::default() };
            let (device, queue) = adapter.request_device(&descriptor).await?;
            Ok(Self { device, queue })
        })
    }

    pub(crate) fn samples(&self) -> u32 {
        Self::samples_of(&self.device)
    }

    /// Samples per pixel; blades of grass are thinner than a pixel.
    pub(crate) fn samples_of(device: &wgpu::Device) -> u32 {
        if device.adapter_info().backend == wgpu::Backend::Gl { 1 } else { 4 }
    }

    /// Draws a picture and reads it back.
    pub(crate) fn picture(
        &self,
        mut encoder: wgpu::CommandEncoder,
        size: [u32; 2],
        draw: impl FnOnce(&mut wgpu::RenderPass<'_>),
    ) -> Result<Picture, Error> {
        let texture = |format, sample_count, usage| {
            self.device.create_texture(&wgpu::TextureDescriptor {
                label: Some("picture"),
                size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: usage | wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            })
        };
        let samples = self.samples();
        let picture = texture(COLOR, 1, wgpu::TextureUsages::COPY_SRC);
        let view = picture.create_view(&Default::default());
        let fine = (samples > 1)
            .then(|| texture(COLOR, samples, wgpu::TextureUsages::empty()).create_view(&Default::default()));
        let depth = texture(DEPTH, samples, wgpu::TextureUsages::empty()).create_view(&Default::default());
        draw(&mut encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: fine.as_ref().unwrap_or(&view),
                depth_slice: None,
                resolve_target: fine.as_ref().map(|_| &view),
                ops: Default::default(),
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &depth,
                depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
                stencil_ops: None,
            }),
            ..Default::default()
        }));
        let row = size[0] * 4;
        let padded = row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("picture"),
            size: u64::from(padded) * u64::from(size[1]),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(padded), rows_per_image: None };
        let target = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
        encoder.copy_texture_to_buffer(picture.as_image_copy(), target, picture.size());
        self.queue.submit([encoder.finish()]);
        let (sender, receiver) = std::sync::mpsc::channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            let _ = sender.send(result);
        });
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        receiver.recv()??;
        let bytes = buffer.get_mapped_range(..)?;
        let rgba = bytes.chunks_exact(padded as usize).flat_map(|padded| &padded[..row as usize]).copied().collect();
        Ok(Picture { size, rgba })
    }
}

impl Picture {
    /// Writes the picture as a PNG.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), self.size[0], self.size[1]);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header()?.write_image_data(&self.rgba)?;
        Ok(())
    }
}
