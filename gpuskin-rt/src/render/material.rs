//! Materials on the device: a colour and a texture each.

use bytemuck::{Pod, Zeroable};

use super::Error;
use super::error::at_most;
use super::geometry::{Geometry, load, slice};
use super::layouts::Layouts;
use crate::{ColorTexture, Metadata, Model, Wrap};

/// Twin of `Material` in `shaders/crowd.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct MaterialUniform {
    pub(crate) base_color: [f32; 4],
    pub(crate) alpha_cutoff: f32,
    padding: [u32; 3],
}

/// A texture and how it is sampled.
#[derive(Clone, Debug)]
pub(crate) struct Colors {
    view: wgpu::TextureView,
    sampler: wgpu::Sampler,
}

const OTHER_TEXTURE: &str = "request a device with higher limits, or use a smaller texture";

impl Colors {
    /// One white texel, for materials without a texture.
    pub(crate) fn white(device: &wgpu::Device, queue: &wgpu::Queue, samplers: &mut Samplers) -> Self {
        let info = ColorTexture { width: 1, height: 1, levels: 1, wrap: [Wrap::Repeat; 2], nearest: true };
        let texture = create(device, &info);
        write(queue, &texture, &info, 0, &[255; 4]);
        Self { view: texture.create_view(&Default::default()), sampler: samplers.get(device, &info) }
    }

    /// All textures of a model.
    pub(crate) fn of_model(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        samplers: &mut Samplers,
        model: &Model,
    ) -> Result<Vec<Self>, Error> {
        let meta = &model.meta;
        if meta.textures.len() != model.textures.len() {
            return Err(Error::model(&meta.name, "it has not as many colour textures as its constants say"));
        }
        let side = u64::from(device.limits().max_texture_dimension_2d);
        let mut all = Vec::with_capacity(meta.textures.len());
        for (info, payload) in meta.textures.iter().zip(model.textures.iter()) {
            at_most(info.width.max(info.height).into(), side, OTHER_TEXTURE, || {
                format!("{}: texels along a colour texture", meta.name)
            })?;
            let mips = info.width.max(info.height).max(1).ilog2() + 1;
            let enough = info.levels as usize == payload.levels.len() && (1..=mips).contains(&info.levels);
            if info.width == 0 || info.height == 0 || !enough {
                return Err(Error::model(&meta.name, "a colour texture has other levels than its constants say"));
            }
            let bytes = load(meta, payload)?;
            let texture = create(device, info);
            for (level, range) in (0..).zip(payload.levels.iter()) {
                let texels = slice(meta, &bytes, *range, "a colour texture")?;
                let [width, height] = level_size(info, level).map(u64::from);
                if texels.len() as u64 != width * height * 4 {
                    return Err(Error::model(&meta.name, "a level of a colour texture is incomplete"));
                }
                write(queue, &texture, info, level, texels);
            }
            all.push(Self { view: texture.create_view(&Default::default()), sampler: samplers.get(device, info) });
        }
        Ok(all)
    }
}

fn level_size(info: &ColorTexture, level: u32) -> [u32; 2] {
    [info.width, info.height].map(|side| (side >> level).max(1))
}

fn create(device: &wgpu::Device, info: &ColorTexture) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some("gpuskin color"),
        size: wgpu::Extent3d { width: info.width, height: info.height, depth_or_array_layers: 1 },
        mip_level_count: info.levels,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8UnormSrgb,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    })
}

fn write(queue: &wgpu::Queue, texture: &wgpu::Texture, info: &ColorTexture, level: u32, texels: &[u8]) {
    let [width, height] = level_size(info, level);
    queue.write_texture(
        wgpu::TexelCopyTextureInfo { mip_level: level, ..texture.as_image_copy() },
        texels,
        wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(width * 4), rows_per_image: Some(height) },
        wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
    );
}

fn sampler(device: &wgpu::Device, info: &ColorTexture) -> wgpu::Sampler {
    let address = info.wrap.map(|wrap| match wrap {
        Wrap::Repeat => wgpu::AddressMode::Repeat,
        Wrap::Mirror => wgpu::AddressMode::MirrorRepeat,
        Wrap::Clamp => wgpu::AddressMode::ClampToEdge,
    });
    let near = if info.nearest { wgpu::FilterMode::Nearest } else { wgpu::FilterMode::Linear };
    device.create_sampler(&wgpu::SamplerDescriptor {
        label: Some("gpuskin color"),
        address_mode_u: address[0],
        address_mode_v: address[1],
        mag_filter: near,
        min_filter: near,
        // Also where texels are shown nearest: far away, whatever is not averaged glitters.
        mipmap_filter: wgpu::MipmapFilterMode::Linear,
        ..Default::default()
    })
}

/// Samplers by what they do, shared by all models.
#[derive(Debug, Default)]
pub(crate) struct Samplers(Vec<([Wrap; 2], bool, wgpu::Sampler)>);

impl Samplers {
    fn get(&mut self, device: &wgpu::Device, info: &ColorTexture) -> wgpu::Sampler {
        if let Some((.., sampler)) =
            self.0.iter().find(|(wrap, nearest, _)| (*wrap, *nearest) == (info.wrap, info.nearest))
        {
            return sampler.clone();
        }
        let sampler = sampler(device, info);
        self.0.push((info.wrap, info.nearest, sampler.clone()));
        sampler
    }
}

/// The constants of all materials of a model, as they stand in its buffer.
#[derive(Debug)]
pub(crate) struct MaterialConstants {
    pub(crate) bytes: Vec<u8>,
    /// What a binding's offset must be a multiple of.
    pub(crate) alignment: u64,
    /// Bytes from one to the next.
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
                alpha_cutoff: material.alpha_cutoff.unwrap_or(0.0),
                padding: [0; 3],
            };
            bytes[..size_of::<MaterialUniform>()].copy_from_slice(bytemuck::bytes_of(&uniform));
        }
        Self { bytes, alignment: alignment as u64, stride: stride as u64 }
    }

    /// Of a model whose materials nobody binds.
    pub(crate) const NONE: Self = Self { bytes: Vec::new(), alignment: 1, stride: 0 };
}

/// A bind group for every material of a model; their constants stand in the model's buffer.
pub(crate) fn bind_groups(
    device: &wgpu::Device,
    layouts: &Layouts,
    meta: &Metadata,
    geometry: &Geometry,
    textures: &[Colors],
    white: &Colors,
) -> Result<Vec<wgpu::BindGroup>, Error> {
    let mut groups = Vec::with_capacity(meta.materials.len());
    for (i, material) in meta.materials.iter().enumerate() {
        let colors = match material.base_color_texture {
            None => white,
            Some(i) => textures
                .get(i as usize)
                .ok_or_else(|| Error::model(&meta.name, "a material has a texture that is not there"))?,
        };
        groups.push(device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("gpuskin material"),
            layout: &layouts.material,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: geometry.material(i) },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::TextureView(&colors.view) },
                wgpu::BindGroupEntry { binding: 2, resource: wgpu::BindingResource::Sampler(&colors.sampler) },
            ],
        }));
    }
    Ok(groups)
}
