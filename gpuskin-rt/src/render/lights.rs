//! Point and spot lights on the device.

use super::shading::LIGHTS_HEADER;
use crate::light_grid::{LIGHT_GRID_SIZE, LightGrid, LightGridUniform, has_light_grid};
use crate::lighting::{PunctualLight, PunctualUniform};
use crate::shader::material::{LIGHT_GRID_BINDING, LIGHTS_BINDING};

/// Point and spot lights of a renderer.
#[derive(Debug)]
pub(crate) struct Lights {
    uniform: wgpu::Buffer,
    /// Grid, if there are many lights.
    grid: Option<Grid>,
}

/// Grid of lights: its constants, and the texture of its cells and their lights.
#[derive(Debug)]
struct Grid {
    uniform: wgpu::Buffer,
    texture: wgpu::Texture,
    view: wgpu::TextureView,
}

impl Lights {
    /// Returns room for at most `count` lights; `None` for 0.
    pub(crate) fn new(device: &wgpu::Device, count: u32) -> Option<Self> {
        let uniform = |label, size| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let grid = || {
            let texture = device.create_texture(&wgpu::TextureDescriptor {
                label: Some("gpuskin light grid"),
                size: rows_of(LIGHT_GRID_SIZE[1]),
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: wgpu::TextureFormat::R32Uint,
                usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
                view_formats: &[],
            });
            let view = texture.create_view(&Default::default());
            Grid { uniform: uniform("gpuskin light grid", size_of::<LightGridUniform>() as u64), texture, view }
        };
        (count > 0).then(|| Self {
            uniform: uniform("gpuskin lights", LIGHTS_HEADER + u64::from(count) * size_of::<PunctualUniform>() as u64),
            grid: has_light_grid(count).then(grid),
        })
    }

    /// Uploads lights, in another order if there is a grid. The first ones, `shadowed` in number, have shadows and stay
    /// first.
    pub(crate) fn upload(&self, queue: &wgpu::Queue, lights: &mut [PunctualLight], shadowed: usize) {
        if let Some(grid) = &self.grid {
            grid.upload(queue, &LightGrid::new(lights, shadowed));
        }
        let mut bytes = bytemuck::bytes_of(&[lights.len() as u32, 0, 0, 0]).to_vec();
        lights.iter().for_each(|light| bytes.extend_from_slice(bytemuck::bytes_of(&PunctualUniform::new(light))));
        queue.write_buffer(&self.uniform, 0, &bytes);
    }

    /// Entries of the bind group of a view.
    pub(crate) fn entries(&self) -> impl Iterator<Item = wgpu::BindGroupEntry<'_>> {
        let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
        let grid = self.grid.iter().flat_map(move |grid| {
            let view = wgpu::BindingResource::TextureView(&grid.view);
            [entry(LIGHT_GRID_BINDING, grid.uniform.as_entire_binding()), entry(LIGHT_GRID_BINDING + 1, view)]
        });
        core::iter::once(entry(LIGHTS_BINDING, self.uniform.as_entire_binding())).chain(grid)
    }
}

impl Grid {
    fn upload(&self, queue: &wgpu::Queue, grid: &LightGrid) {
        queue.write_buffer(&self.uniform, 0, bytemuck::bytes_of(&grid.uniform));
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(4 * LIGHT_GRID_SIZE[0]),
            rows_per_image: None,
        };
        let size = rows_of(grid.words.len() as u32 / LIGHT_GRID_SIZE[0]);
        queue.write_texture(self.texture.as_image_copy(), bytemuck::cast_slice(&grid.words), layout, size);
    }
}

/// Size of a number of rows of the texture.
fn rows_of(height: u32) -> wgpu::Extent3d {
    wgpu::Extent3d { width: LIGHT_GRID_SIZE[0], height, depth_or_array_layers: 1 }
}
