//! Material textures on the device, each in the first of its formats that the device supports.

use std::sync::OnceLock;

use super::Error;
use super::error::at_most;
use super::gpu::Gpu;
use super::payload::{load, slice};
use crate::{ColorFormat, ColorTexture, Material, MaterialTexture, Metadata, Model, Payload, Wrap};

/// Features worth requesting where the adapter has them: each enables a family of block-compressed
/// textures.
pub(crate) const FEATURES: wgpu::Features = wgpu::Features::TEXTURE_COMPRESSION_BC
    .union(wgpu::Features::TEXTURE_COMPRESSION_ASTC)
    .union(wgpu::Features::TEXTURE_COMPRESSION_ETC2);

/// Texture on the device, with its sampler.
#[derive(Clone, Debug)]
pub struct SampledTexture {
    /// View of all mip levels.
    pub view: wgpu::TextureView,
    /// Sampler with the wrapping and filtering of the material.
    pub sampler: wgpu::Sampler,
    /// Whether the texture has the second texture coordinates of the vertices, `gpuskin_second_uv`; of
    /// [`MaterialTextures::orm`], roughness and metallic.
    pub second_uv: bool,
}

/// Textures of a material on the device; see
/// [`CrowdRenderer::material_textures`](super::CrowdRenderer::material_textures).
///
/// Their texture coordinates are those of [`SampledTexture::second_uv`]. Occlusion, in `orm`, has those of
/// [`Material::occlusion_second_uv`].
#[derive(Clone, Debug)]
pub struct MaterialTextures {
    /// Base colour: [`Material::base_color_texture`]; `None` if the material has none. Of a material whose base colour differs
    /// between variants, it is that of the model's own look, or an array of all of them from
    /// [`CrowdRenderer::layered_material_textures`](super::CrowdRenderer::layered_material_textures).
    pub base_color: Option<SampledTexture>,
    /// Occlusion, roughness, metallic: [`Material::orm_texture`]; `None` if the material has none.
    pub orm: Option<SampledTexture>,
    /// Normals: [`Material::normal_texture`]; `None` if the material has none.
    pub normal: Option<SampledTexture>,
    /// Emitted light: [`Material::emissive_texture`]; `None` if the material has none.
    pub emissive: Option<SampledTexture>,
    /// Specular colour, and strength in alpha: [`Material::specular_texture`]; `None` if the material has none.
    pub specular: Option<SampledTexture>,
    /// Strength and roughness of the clear coat: [`Material::clearcoat_texture`]; `None` if the material has none.
    pub clearcoat: Option<SampledTexture>,
    /// Normals of the clear coat: [`Material::clearcoat_normal_texture`]; `None` if the material has none.
    pub clearcoat_normal: Option<SampledTexture>,
    /// Colour of the sheen, and its roughness in alpha: [`Material::sheen_texture`]; `None` if the material has none.
    pub sheen: Option<SampledTexture>,
}

const OTHER_TEXTURE: &str = "request a device with higher limits, or use a smaller texture";

/// Textures of a model, each uploaded on first use.
#[derive(Debug)]
pub(crate) struct Textures {
    views: Vec<OnceLock<wgpu::TextureView>>,
    /// First layer alone of textures with several, for a game's own pipelines. On OpenGL, a view cannot leave out layers.
    firsts: Vec<OnceLock<wgpu::TextureView>>,
}

impl Textures {
    pub(crate) fn new(meta: &Metadata) -> Self {
        let all = || meta.textures.iter().map(|_| OnceLock::new()).collect();
        Self { views: all(), firsts: all() }
    }

    /// Returns a texture with all layers; `model` must be the model given to [`Self::new`].
    pub(crate) fn get(&self, gpu: Gpu<'_>, model: &Model, index: u32) -> Result<wgpu::TextureView, Error> {
        Self::loaded(&self.views, gpu, model, index, u32::MAX)
    }

    /// Returns the first layer of a texture.
    fn first_layer(&self, gpu: Gpu<'_>, model: &Model, index: u32) -> Result<wgpu::TextureView, Error> {
        let layered = model.meta.textures.get(index as usize).is_some_and(|texture| texture.layers > 1);
        if layered { Self::loaded(&self.firsts, gpu, model, index, 1) } else { self.get(gpu, model, index) }
    }

    fn loaded(
        views: &[OnceLock<wgpu::TextureView>],
        gpu: Gpu<'_>,
        model: &Model,
        index: u32,
        layers: u32,
    ) -> Result<wgpu::TextureView, Error> {
        let meta = &model.meta;
        let index = index as usize;
        let (Some(view), Some(info)) = (views.get(index), meta.textures.get(index)) else {
            return Err(Error::model(&meta.name, "a material refers to a texture that does not exist"));
        };
        if let Some(view) = view.get() {
            return Ok(view.clone());
        }
        let (format, payload) = choose(gpu.device.features(), model, index)?;
        let loaded = upload(gpu, meta, info, format, payload, layers)?;
        Ok(view.get_or_init(|| loaded).clone())
    }

    /// Returns all textures of a material. `layers`: whether the base colour has the layers of all variants.
    pub(crate) fn of_material(
        &self,
        gpu: Gpu<'_>,
        samplers: &mut Samplers,
        model: &Model,
        material: &Material,
        layers: bool,
    ) -> Result<MaterialTextures, Error> {
        let mut sampled = |texture: &Option<MaterialTexture>| -> Result<Option<SampledTexture>, Error> {
            let Some(texture) = texture else { return Ok(None) };
            let view = match layers {
                true => self.get(gpu, model, texture.texture)?,
                false => self.first_layer(gpu, model, texture.texture)?,
            };
            let (sampler, second_uv) = (samplers.get(gpu.device, texture), texture.second_uv);
            Ok(Some(SampledTexture { view, sampler, second_uv }))
        };
        Ok(MaterialTextures {
            base_color: sampled(&material.base_color_texture)?,
            orm: sampled(&material.orm_texture)?,
            normal: sampled(&material.normal_texture)?,
            emissive: sampled(&material.emissive_texture)?,
            specular: sampled(&material.specular_texture)?,
            clearcoat: sampled(&material.clearcoat_texture)?,
            clearcoat_normal: sampled(&material.clearcoat_normal_texture)?,
            sheen: sampled(&material.sheen_texture)?,
        })
    }
}

/// Returns the first format of a texture that a device with these features supports, and its file.
pub(super) fn choose(features: wgpu::Features, model: &Model, index: usize) -> Result<(ColorFormat, &Payload), Error> {
    let meta = &model.meta;
    let files: usize = meta.textures.iter().map(|texture| texture.formats.len()).sum();
    if files != model.textures.len() {
        return Err(Error::model(&meta.name, "the number of texture files differs from the metadata"));
    }
    let first: usize = meta.textures[..index].iter().map(|texture| texture.formats.len()).sum();
    let formats = &meta.textures[index].formats;
    let files = formats.iter().zip(&model.textures[first..]).filter(|(_, file)| !file.is_left_out());
    match files.clone().find(|(format, _)| features.contains(required(**format))) {
        Some((format, file)) => Ok((*format, file)),
        None => Err(Error::TextureFormat {
            model: meta.name.to_string(),
            formats: files.map(|(format, _)| format.name()).collect(),
        }),
    }
}

/// Device feature required by a format.
fn required(format: ColorFormat) -> wgpu::Features {
    match format {
        ColorFormat::Rgba8 => wgpu::Features::empty(),
        ColorFormat::Bc7 => wgpu::Features::TEXTURE_COMPRESSION_BC,
        ColorFormat::Astc => wgpu::Features::TEXTURE_COMPRESSION_ASTC,
        ColorFormat::Etc2 => wgpu::Features::TEXTURE_COMPRESSION_ETC2,
    }
}

fn device_format(format: ColorFormat, srgb: bool) -> wgpu::TextureFormat {
    use wgpu::TextureFormat as Format;
    let linear = match format {
        ColorFormat::Rgba8 => Format::Rgba8Unorm,
        ColorFormat::Bc7 => Format::Bc7RgbaUnorm,
        ColorFormat::Astc => Format::Astc { block: wgpu::AstcBlock::B4x4, channel: wgpu::AstcChannel::Unorm },
        ColorFormat::Etc2 => Format::Etc2Rgba8Unorm,
    };
    if srgb { linear.add_srgb_suffix() } else { linear }
}

/// `layers`: greatest number of layers that are uploaded.
fn upload(
    Gpu { device, queue }: Gpu<'_>,
    meta: &Metadata,
    info: &ColorTexture,
    format: ColorFormat,
    payload: &Payload,
    layers: u32,
) -> Result<wgpu::TextureView, Error> {
    let limits = device.limits();
    let side = u64::from(limits.max_texture_dimension_2d);
    at_most(info.width.max(info.height).into(), side, OTHER_TEXTURE, || {
        format!("{}: texels along a side of a texture", meta.name)
    })?;
    at_most(info.layers.into(), limits.max_texture_array_layers.into(), OTHER_TEXTURE, || {
        format!("{}: layers of a texture", meta.name)
    })?;
    let mips = info.width.max(info.height).max(1).ilog2() + 1;
    let enough = info.levels as usize == payload.levels.len() && (1..=mips).contains(&info.levels);
    if info.width == 0 || info.height == 0 || info.layers == 0 || !enough {
        return Err(Error::model(&meta.name, "the mip levels of a texture differ from the metadata"));
    }
    if [info.width, info.height].iter().any(|side| !side.is_multiple_of(format.block_side())) {
        return Err(Error::model(&meta.name, "the size of a texture is not a multiple of its block size"));
    }
    let bytes = load(meta, payload)?;
    let mut levels = Vec::with_capacity(payload.levels.len());
    for (level, range) in (0..).zip(payload.levels.iter()) {
        let texels = slice(meta, &bytes, *range, "a texture")?;
        if texels.len() as u64 != info.level_bytes(format, level) {
            return Err(Error::model(&meta.name, "a mip level of a texture has the wrong size"));
        }
        let wanted = texels.len() / info.layers as usize * layers.min(info.layers) as usize;
        levels.push(&texels[..wanted]);
    }
    let info = ColorTexture { layers: layers.min(info.layers), ..info.clone() };
    Ok(create(device, queue, &info, format, &levels))
}

/// One white texel, for materials without a texture.
pub(crate) fn white(device: &wgpu::Device, queue: &wgpu::Queue, samplers: &mut Samplers) -> SampledTexture {
    let formats = [ColorFormat::Rgba8][..].to_vec().into();
    let info = ColorTexture { width: 1, height: 1, levels: 1, layers: 1, srgb: true, formats };
    let sampled = MaterialTexture { texture: 0, wrap: [Wrap::Repeat; 2], nearest: true, second_uv: false };
    SampledTexture {
        view: create(device, queue, &info, ColorFormat::Rgba8, &[&[255; 4]]),
        sampler: samplers.get(device, &sampled),
        second_uv: false,
    }
}

fn create(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    info: &ColorTexture,
    format: ColorFormat,
    levels: &[&[u8]],
) -> wgpu::TextureView {
    let extent = |[width, height]: [u32; 2]| wgpu::Extent3d { width, height, depth_or_array_layers: info.layers };
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("gpuskin color"),
        size: extent([info.width, info.height]),
        mip_level_count: levels.len() as u32,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: device_format(format, info.srgb),
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    // On OpenGL, wgpu copies compressed rows only from tightly packed data.
    let apart = device.adapter_info().backend == wgpu::Backend::Gl;
    let mut places = Vec::with_capacity(levels.len());
    let mut end = 0;
    for (mip_level, texels) in (0..).zip(levels) {
        let blocks = format.blocks(info.level_size(mip_level));
        let place = Place {
            level: wgpu::TexelCopyTextureInfo { mip_level, ..texture.as_image_copy() },
            texels,
            row: blocks[0] * format.block_bytes(),
            rows: blocks[1],
            // Whole blocks, even if a mip level is smaller than a block.
            size: extent(blocks.map(|side| side * format.block_side())),
            start: end,
        };
        if apart || texels.len() as u64 > ALONE {
            queue.write_texture(place.level, texels, place.layout(0, place.row), place.size);
        } else {
            end += u64::from(place.pitch()) * u64::from(place.rows) * u64::from(info.layers);
            places.push(place);
        }
    }
    if let Some(size) = wgpu::BufferSize::new(end) {
        write_together(device, queue, &places, size);
    }
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

/// Mip levels of more bytes are written separately: the cost of a write is then small against that
/// of the bytes.
const ALONE: u64 = 1 << 20;

/// Mip level, and its position in a buffer shared by several.
struct Place<'a> {
    level: wgpu::TexelCopyTextureInfo<'a>,
    texels: &'a [u8],
    /// Bytes per row of blocks.
    row: u32,
    /// Rows per layer.
    rows: u32,
    size: wgpu::Extent3d,
    start: u64,
}

impl Place<'_> {
    /// Bytes per row in the buffer, aligned for copies.
    fn pitch(&self) -> u32 {
        self.row.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT)
    }

    fn layout(&self, offset: u64, pitch: u32) -> wgpu::TexelCopyBufferLayout {
        wgpu::TexelCopyBufferLayout { offset, bytes_per_row: Some(pitch), rows_per_image: Some(self.rows) }
    }
}

/// Uploads mip levels through one buffer of `size` bytes: separate writes would take a tenth of a
/// small model's start-up.
fn write_together(device: &wgpu::Device, queue: &wgpu::Queue, places: &[Place<'_>], size: wgpu::BufferSize) {
    let label = Some("gpuskin color");
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label,
        size: size.get(),
        usage: wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    // Without a view, the device has reported the reason to its error handler, and nothing can be
    // written.
    let Some(mut view) = queue.write_buffer_with(&buffer, 0, size) else { return };
    for place in places {
        let pitch = place.pitch() as usize;
        // Rows without gaps are copied at once: copying row by row takes longer than the shared
        // buffer saves.
        let chunk = if place.row as usize == pitch { place.texels.len() } else { place.row as usize };
        let starts = (place.start as usize..).step_by(pitch);
        for (start, rows) in starts.zip(place.texels.chunks(chunk.max(1))) {
            view.slice(start..start + rows.len()).copy_from_slice(rows);
        }
    }
    drop(view);
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label });
    for place in places {
        let layout = place.layout(place.start, place.pitch());
        let source = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
        encoder.copy_buffer_to_texture(source, place.level, place.size);
    }
    queue.submit([encoder.finish()]);
}

/// Samplers by wrapping and filtering, shared by all models.
#[derive(Debug, Default)]
pub(crate) struct Samplers(Vec<([Wrap; 2], bool, wgpu::Sampler)>);

impl Samplers {
    pub(crate) fn get(&mut self, device: &wgpu::Device, texture: &MaterialTexture) -> wgpu::Sampler {
        let wanted = (texture.wrap, texture.nearest);
        if let Some((.., sampler)) = self.0.iter().find(|(wrap, nearest, _)| (*wrap, *nearest) == wanted) {
            return sampler.clone();
        }
        let sampler = sampler(device, texture);
        self.0.push((texture.wrap, texture.nearest, sampler.clone()));
        sampler
    }
}

fn sampler(device: &wgpu::Device, texture: &MaterialTexture) -> wgpu::Sampler {
    let address = texture.wrap.map(|wrap| match wrap {
        Wrap::Repeat => wgpu::AddressMode::Repeat,
        Wrap::Mirror => wgpu::AddressMode::MirrorRepeat,
        Wrap::Clamp => wgpu::AddressMode::ClampToEdge,
    });
    let near = if texture.nearest { wgpu::FilterMode::Nearest } else { wgpu::FilterMode::Linear };
    device.create_sampler(&wgpu::SamplerDescriptor {
        label: Some("gpuskin color"),
        address_mode_u: address[0],
        address_mode_v: address[1],
        mag_filter: near,
        min_filter: near,
        // Linear even if texels are sampled nearest: unfiltered mip levels flicker in the distance.
        mipmap_filter: wgpu::MipmapFilterMode::Linear,
        ..Default::default()
    })
}
