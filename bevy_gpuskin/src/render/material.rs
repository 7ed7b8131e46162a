//! Materials of a model, as the shaders of this crate and bevy_pbr's functions read them.

use core::array;

use bevy::material::descriptor::BindGroupLayoutDescriptor;
use bevy::render::render_resource::{BindGroupLayoutEntry, PipelineCache};
use bytemuck::{Pod, Zeroable};
use gpuskin_rt::pipeline::{Material, SampledTexture};
use gpuskin_rt::{CrowdRenderer, Error, Model, wgpu};

use super::extension_class::ExtendedPart;
use super::shader::SurfaceCode;

/// Layout of `CharacterMaterial` in `characters.wesl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct MaterialUniform {
    base_color: [f32; 4],
    /// The last number is the share of the camera's exposure that emitted light ignores: none of it, as in
    /// `StandardMaterial`.
    emissive: [f32; 4],
    metallic: f32,
    roughness: f32,
    occlusion_strength: f32,
    normal_scale: f32,
    alpha_cutoff: f32,
    flags: u32,
    padding: [u32; 2],
}

/// Layer of the base colour by variant, behind the [`MaterialUniform`] of a material that has such layers.
type VariantLayers = [u8; 256];

// Bits of bevy_pbr's render/pbr_types.wesl.
const DOUBLE_SIDED: u32 = 1 << 4;
const UNLIT: u32 = 1 << 5;
const FOG_ENABLED: u32 = 1 << 8;
const ALPHA_MODE_MASK: u32 = 1 << 29;
const ALPHA_MODE_BLEND: u32 = 2 << 29;

/// Alpha below which a surface that a function of the game cuts has a hole, where the material has no cutoff of its own.
const CUTOFF: f32 = 0.5;
/// Alpha below which a blended surface casts no shadow, as in bevy_pbr's render/pbr_prepass_functions.wesl.
const SHADOW_CUTOFF: f32 = 0.05;

impl MaterialUniform {
    fn of(material: &Material, class: MaterialClass) -> Self {
        let [r, g, b] = material.emissive;
        let flag = |bit, set| if set { bit } else { 0 };
        Self {
            base_color: material.base_color,
            emissive: [r, g, b, 0.0],
            metallic: material.metallic,
            roughness: material.roughness,
            occlusion_strength: material.occlusion_strength,
            normal_scale: material.normal_scale,
            alpha_cutoff: match class.alpha {
                AlphaClass::Opaque => 0.0,
                AlphaClass::CutOut { .. } => material.alpha_cutoff.unwrap_or(CUTOFF),
                AlphaClass::Blended => SHADOW_CUTOFF,
            },
            flags: FOG_ENABLED
                | flag(DOUBLE_SIDED, material.double_sided)
                | flag(UNLIT, material.unlit)
                | flag(ALPHA_MODE_MASK, matches!(class.alpha, AlphaClass::CutOut { .. }))
                | flag(ALPHA_MODE_BLEND, class.alpha == AlphaClass::Blended),
            padding: [0; 2],
        }
    }
}

/// Part of a pipeline key that a material decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct MaterialClass {
    pub(super) double_sided: bool,
    pub(super) alpha: AlphaClass,
    pub(super) normal_map: bool,
    /// Whether the base colour has a layer per variant of the model.
    pub(super) variants: bool,
    /// Whether the alpha of the base colour texture is the share of the tint.
    pub(super) tint_mask: bool,
    pub(super) second_uv: SecondUv,
}

/// Textures that have the second texture coordinates of the vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct SecondUv {
    pub(super) occlusion: bool,
    pub(super) metallic_roughness: bool,
    pub(super) normal: bool,
    pub(super) emissive: bool,
}

impl SecondUv {
    pub(super) fn of(material: &Material) -> Self {
        Self {
            occlusion: material.orm_texture.is_some() && material.occlusion_second_uv,
            metallic_roughness: material.orm_texture.is_some_and(|texture| texture.second_uv),
            normal: material.normal_texture.is_some_and(|texture| texture.second_uv),
            emissive: material.emissive_texture.is_some_and(|texture| texture.second_uv),
        }
    }
}

/// Meaning of the alpha of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum AlphaClass {
    Opaque,
    /// `by_surface`: the material is opaque, and the function of the game cuts it.
    CutOut {
        by_surface: bool,
    },
    Blended,
}

impl AlphaClass {
    fn of(material: &Material, surface: Option<SurfaceCode>) -> Self {
        let is_cut = surface.is_some_and(|surface| surface.cuts) && !material.unlit;
        match material {
            Material { alpha_blend: true, .. } => Self::Blended,
            Material { alpha_cutoff: Some(_), .. } => Self::CutOut { by_surface: false },
            _ if is_cut => Self::CutOut { by_surface: true },
            _ => Self::Opaque,
        }
    }
}

/// A material of a model on the device.
#[derive(Debug)]
pub(super) struct PartMaterial {
    pub(super) class: MaterialClass,
    pub(super) bind_group: wgpu::BindGroup,
    /// Bind group and class with the extension of the crowd, if it has one.
    pub(super) extended: Option<ExtendedPart>,
}

/// Resources that all materials share.
#[derive(Debug)]
pub(super) struct Materials {
    /// Time of the frame and of the previous frame.
    pub(super) clock: wgpu::Buffer,
    white: SampledTexture,
}

/// Returns the layout of bind group 3. `variants`: [`MaterialClass::variants`].
pub(super) fn layout(variants: bool) -> BindGroupLayoutDescriptor {
    let both = wgpu::ShaderStages::VERTEX_FRAGMENT;
    let entry = |binding, visibility, ty| BindGroupLayoutEntry { binding, visibility, ty, count: None };
    let uniform = |size: usize| wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Uniform,
        has_dynamic_offset: false,
        min_binding_size: wgpu::BufferSize::new(size as u64),
    };
    let texture = |view_dimension| wgpu::BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Float { filterable: true },
        view_dimension,
        multisampled: false,
    };
    let (plain, array) = (wgpu::TextureViewDimension::D2, wgpu::TextureViewDimension::D2Array);
    let base_color = if variants { array } else { plain };
    let sampler = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
    let fragment = wgpu::ShaderStages::FRAGMENT;
    let mut entries = vec![entry(0, fragment, uniform(uniform_size(variants))), entry(1, both, uniform(16))];
    for (binding, dimension) in [(2, base_color), (4, plain), (6, plain), (8, plain)] {
        entries.extend([entry(binding, fragment, texture(dimension)), entry(binding + 1, fragment, sampler)]);
    }
    BindGroupLayoutDescriptor::new("bevy_gpuskin material", &entries)
}

/// Bytes of the constants of a material.
const fn uniform_size(variants: bool) -> usize {
    size_of::<MaterialUniform>() + if variants { size_of::<VariantLayers>() } else { 0 }
}

impl Materials {
    pub(super) fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        let size = wgpu::Extent3d { width: 1, height: 1, depth_or_array_layers: 1 };
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("bevy_gpuskin white"),
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        queue.write_texture(texture.as_image_copy(), &[255; 4], wgpu::TexelCopyBufferLayout::default(), size);
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor::default());
        let clock = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("bevy_gpuskin clock"),
            size: 16,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Self { clock, white: SampledTexture { view, sampler, second_uv: false } }
    }

    /// Returns the materials of a model, by index. `variants`: whether its instances have variants of them. `surface`: the
    /// function of the game.
    pub(super) fn of_model(
        &self,
        renderer: &mut CrowdRenderer,
        gpu: (&wgpu::Device, &wgpu::Queue),
        cache: &PipelineCache,
        model: &Model,
        variants: bool,
        surface: Option<SurfaceCode>,
    ) -> Result<Vec<PartMaterial>, Error> {
        (0..)
            .zip(model.meta.materials())
            .map(|(index, material)| self.of(renderer, gpu, cache, (model, index, material), variants, surface))
            .collect()
    }

    fn of(
        &self,
        renderer: &mut CrowdRenderer,
        (device, queue): (&wgpu::Device, &wgpu::Queue),
        cache: &PipelineCache,
        (model, index, material): (&Model, u32, &Material),
        variants: bool,
        surface: Option<SurfaceCode>,
    ) -> Result<PartMaterial, Error> {
        let variants = variants && material.base_color_layer(0).is_some();
        let textures = match variants {
            true => renderer.layered_material_textures(model, index)?,
            false => renderer.material_textures(model, index)?,
        };
        let class = MaterialClass {
            double_sided: material.double_sided,
            alpha: AlphaClass::of(material, surface),
            normal_map: textures.normal.is_some(),
            variants,
            tint_mask: material.has_tint_mask(),
            second_uv: SecondUv::of(material),
        };
        let uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("bevy_gpuskin material"),
            size: uniform_size(variants) as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        queue.write_buffer(&uniform, 0, bytemuck::bytes_of(&MaterialUniform::of(material, class)));
        if variants {
            let layers: VariantLayers = array::from_fn(|i| material.base_color_layer(i as u8).unwrap_or(0));
            queue.write_buffer(&uniform, size_of::<MaterialUniform>() as u64, &layers);
        }
        let mut entries = vec![
            wgpu::BindGroupEntry { binding: 0, resource: uniform.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: self.clock.as_entire_binding() },
        ];
        let textures = [&textures.base_color, &textures.orm, &textures.normal, &textures.emissive];
        for (binding, texture) in [2, 4, 6, 8].into_iter().zip(textures) {
            let texture = texture.as_ref().unwrap_or(&self.white);
            entries.push(wgpu::BindGroupEntry { binding, resource: wgpu::BindingResource::TextureView(&texture.view) });
            entries.push(wgpu::BindGroupEntry {
                binding: binding + 1,
                resource: wgpu::BindingResource::Sampler(&texture.sampler),
            });
        }
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("bevy_gpuskin material"),
            layout: &cache.get_bind_group_layout(&layout(variants)),
            entries: &entries,
        });
        Ok(PartMaterial { class, bind_group, extended: None })
    }
}
