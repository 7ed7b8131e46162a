//! Pictures without a display.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use gpuskin_rt::wgpu;

use crate::Error;
use crate::frame::Stage;
use crate::scene;

/// Picture in RGBA8, sRGB, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Texels, four bytes per pixel.
    pub rgba: Vec<u8>,
}

/// Texture format of the pictures.
pub const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
/// Time of the pictures, in seconds: all moving instances are under way.
pub const PICTURE_TIME: f64 = 2.4;

/// Draws a scene of `count` instances.
///
/// # Errors
/// Returns an error if the device fails.
pub fn draw(device: &wgpu::Device, queue: &wgpu::Queue, size: [u32; 2], count: u32) -> Result<Picture, Error> {
    let mut stage = Stage::new(device, queue, FORMAT, count)?;
    picture(device, queue, &mut stage, size)
}

/// Draws a scene at [`PICTURE_TIME`], and reads the picture back.
///
/// # Errors
/// Returns an error if the device fails.
pub fn picture(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    stage: &mut Stage,
    size: [u32; 2],
) -> Result<Picture, Error> {
    let [width, height] = size;
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("picture"),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: FORMAT,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    stage.draw(device, queue, &texture, &scene::camera(width as f32 / height as f32), PICTURE_TIME)?;
    Ok(Picture { size, rgba: read(device, queue, &texture)? })
}

fn read(device: &wgpu::Device, queue: &wgpu::Queue, texture: &wgpu::Texture) -> Result<Vec<u8>, Error> {
    let row = texture.width() * 4;
    let padded = row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("picture"),
        size: u64::from(padded) * u64::from(texture.height()),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(padded), rows_per_image: None },
        },
        texture.size(),
    );
    queue.submit([encoder.finish()]);
    let (sender, receiver) = std::sync::mpsc::channel();
    buffer.map_async(wgpu::MapMode::Read, .., move |result| {
        let _ = sender.send(result);
    });
    device.poll(wgpu::PollType::wait_indefinitely())?;
    receiver.recv()??;
    let bytes = buffer.get_mapped_range(..)?;
    Ok(bytes.chunks_exact(padded as usize).flat_map(|padded| &padded[..row as usize]).copied().collect())
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
