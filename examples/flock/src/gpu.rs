//! A device, and pictures that are read back from it.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use gpuskin_rt::{CrowdRenderer, wgpu};

use crate::Error;

pub(crate) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// Adapter, device and queue.
#[derive(Debug)]
pub struct Gpu {
    /// Adapter chosen by wgpu; `WGPU_BACKEND` and `WGPU_ADAPTER_NAME` select another.
    pub adapter: wgpu::Adapter,
    /// Device with all limits of its adapter.
    pub device: wgpu::Device,
    /// Queue of the device.
    pub queue: wgpu::Queue,
}

impl Gpu {
    /// Opens an adapter, which can present to `surface` if there is one.
    ///
    /// # Errors
    /// Returns an error if there is no adapter, it refuses the device, or has no compute shaders.
    pub fn open(instance: &wgpu::Instance, surface: Option<&wgpu::Surface<'_>>) -> Result<Self, Error> {
        pollster::block_on(async {
            let adapter = wgpu::util::initialize_adapter_from_env_or_default(instance, surface).await?;
            if adapter.limits().max_storage_buffers_per_shader_stage < 4 {
                return Err(format!("{} has no compute shaders, which steer the flock", adapter.get_info().name).into());
            }
            let descriptor = wgpu::DeviceDescriptor {
                required_limits: adapter.limits(),
                required_features: adapter.features() & CrowdRenderer::OPTIONAL_FEATURES,
                ..Default::default()
            };
            let (device, queue) = adapter.request_device(&descriptor).await?;
            Ok(Self { adapter, device, queue })
        })
    }

    /// Opens an adapter without a surface.
    ///
    /// # Errors
    /// As [`Gpu::open`].
    pub fn headless() -> Result<Self, Error> {
        Self::open(&wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env()), None)
    }
}

/// Picture in RGBA8, sRGB, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Texels, four bytes per pixel.
    pub rgba: Vec<u8>,
}

impl Picture {
    /// Texture format of the pictures.
    pub const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;

    /// Texture to draw a picture into.
    pub fn texture(device: &wgpu::Device, [width, height]: [u32; 2]) -> wgpu::Texture {
        device.create_texture(&wgpu::TextureDescriptor {
            label: Some("picture"),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: Self::FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        })
    }

    /// Reads a texture back.
    ///
    /// # Errors
    /// Returns an error if the device fails.
    pub fn read(gpu: &Gpu, texture: &wgpu::Texture) -> Result<Self, Error> {
        let row = texture.width() * 4;
        let padded = row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("picture"),
            size: u64::from(padded) * u64::from(texture.height()),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(padded), rows_per_image: None };
        let target = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
        encoder.copy_texture_to_buffer(texture.as_image_copy(), target, texture.size());
        gpu.queue.submit([encoder.finish()]);
        let (sender, receiver) = std::sync::mpsc::channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            let _ = sender.send(result);
        });
        gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
        receiver.recv()??;
        let bytes = buffer.get_mapped_range(..)?;
        let rgba = bytes.chunks_exact(padded as usize).flat_map(|padded| &padded[..row as usize]).copied().collect();
        Ok(Self { size: [texture.width(), texture.height()], rgba })
    }

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
