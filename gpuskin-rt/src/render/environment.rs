//! Environment map on the device: a cube whose mip levels are filtered for increasing roughness.

use super::Error;
use super::error::at_most;
use super::gpu::Gpu;
use crate::{Environment, files};

/// Bytes per texel of RGB9E5.
const TEXEL: u32 = 4;
const FACES: u32 = 6;

/// Cube map on the device, and its sampler.
#[derive(Debug)]
pub(crate) struct EnvironmentMap {
    pub(crate) view: wgpu::TextureView,
    pub(crate) sampler: wgpu::Sampler,
    /// Coarsest mip level.
    pub(crate) top: f32,
}

impl EnvironmentMap {
    /// Creates an environment without light.
    pub(crate) fn black(gpu: Gpu<'_>) -> Self {
        Self::create(gpu, 1, &[&[0; (FACES * TEXEL) as usize]])
    }

    /// Uploads a baked environment.
    pub(crate) fn new(gpu: Gpu<'_>, environment: &Environment) -> Result<Self, Error> {
        let Environment { name, content_hash, size, map, radiance: _ } = environment;
        let wrong = |reason: &str| Error::model(name, reason);
        let side = gpu.device.limits().max_texture_dimension_2d;
        at_most((*size).into(), side.into(), "bake it with a smaller `size`", || {
            format!("{name}: texels along a side of the environment")
        })?;
        if *size == 0 || map.levels.len() != Environment::levels(*size) as usize {
            return Err(wrong("the mip levels of the environment differ from its size"));
        }
        let bytes = files::load(map, content_hash).map_err(|error| Error::Files { model: name.to_string(), error })?;
        let mut levels = Vec::with_capacity(map.levels.len());
        for (level, range) in map.levels.iter().enumerate() {
            let end = range.offset.checked_add(range.len).and_then(|end| usize::try_from(end).ok());
            let texels = end.and_then(|end| bytes.get(range.offset as usize..end));
            let side = u64::from((size >> level).max(1));
            match texels.filter(|texels| texels.len() as u64 == u64::from(FACES * TEXEL) * side * side) {
                Some(texels) => levels.push(texels),
                None => return Err(wrong("a mip level of the environment has the wrong size")),
            }
        }
        Ok(Self::create(gpu, *size, &levels))
    }

    fn create(Gpu { device, queue }: Gpu<'_>, size: u32, levels: &[&[u8]]) -> Self {
        let label = Some("gpuskin environment");
        let extent = |side| wgpu::Extent3d { width: side, height: side, depth_or_array_layers: FACES };
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label,
            size: extent(size),
            mip_level_count: levels.len() as u32,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgb9e5Ufloat,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        for (mip_level, texels) in (0..).zip(levels) {
            let side = (size >> mip_level).max(1);
            let to = wgpu::TexelCopyTextureInfo { mip_level, ..texture.as_image_copy() };
            let (bytes_per_row, rows_per_image) = (Some(TEXEL * side), Some(side));
            let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row, rows_per_image };
            queue.write_texture(to, texels, layout, extent(side));
        }
        let view = texture.create_view(&wgpu::TextureViewDescriptor {
            dimension: Some(wgpu::TextureViewDimension::Cube),
            ..Default::default()
        });
        let filter = wgpu::FilterMode::Linear;
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label,
            mag_filter: filter,
            min_filter: filter,
            mipmap_filter: wgpu::MipmapFilterMode::Linear,
            ..Default::default()
        });
        Self { view, sampler, top: levels.len().saturating_sub(1) as f32 }
    }
}
