//! Constants of materials, as the shaders read them.

use core::mem::offset_of;

use bytemuck::{Pod, Zeroable};

use crate::model::MAX_VARIANTS;
use crate::{Material, Metadata};

/// Layers of the base colour texture, a byte per variant.
type VariantLayers = [[u8; 16]; MAX_VARIANTS / 16];

/// Layout of `Material` in `shaders/diffuse_layers.wgsl`; its first members, in `shaders/diffuse_plain.wgsl`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct MaterialUniform {
    pub(crate) base_color: [f32; 4],
    pub(crate) emissive: [f32; 3],
    pub(crate) alpha_cutoff: f32,
    /// Read if [`Material::has_layers`].
    pub(crate) layers: VariantLayers,
}

/// Layout of `Material` in the metallic-roughness material.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct FullMaterialUniform {
    pub(crate) base_color: [f32; 4],
    pub(crate) emissive: [f32; 3],
    pub(crate) alpha_cutoff: f32,
    pub(crate) metallic: f32,
    pub(crate) roughness: f32,
    pub(crate) occlusion_strength: f32,
    pub(crate) normal_scale: f32,
    /// Reflectance of the dielectric at normal incidence, and strength; read if [`Material::has_specular`].
    pub(crate) specular: [f32; 4],
    /// Strength and roughness of the clear coat; read if [`Material::has_clearcoat`].
    pub(crate) clearcoat: [f32; 2],
    /// Read if the clear coat has normals of its own.
    pub(crate) clearcoat_normal_scale: f32,
    padding: f32,
    /// Read if [`Material::has_layers`].
    pub(crate) layers: VariantLayers,
}

/// Reflectance of a dielectric at normal incidence, and the strength of its reflection. Numbers that are not possible
/// are drawn as a refractive index of 1.5.
fn specular(material: &Material) -> [f32; 4] {
    let ratio = (material.ior - 1.0) / (material.ior + 1.0);
    let f0 = if ratio.is_finite() { (ratio * ratio).min(1.0) } else { 0.04 };
    let [r, g, b] = material.specular_color.map(|c| if c.is_nan() { f0 } else { (c * f0).clamp(0.0, 1e9) });
    [r, g, b, if material.specular.is_nan() { 1.0 } else { material.specular.clamp(0.0, 1.0) }]
}

/// Returns a number in 0..1; 0 for NaN.
fn share(x: f32) -> f32 {
    if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) }
}

/// Returns a scale of normals, in a range that cannot overflow; 1 for NaN.
fn scale(x: f32) -> f32 {
    if x.is_nan() { 1.0 } else { x.clamp(-1e9, 1e9) }
}

/// Layers of all variants; the first one for variants that the model does not have.
fn variant_layers(material: &Material) -> VariantLayers {
    let mut layers = VariantLayers::default();
    layers.as_flattened_mut().iter_mut().zip(material.variant_layers.iter()).for_each(|(to, layer)| *to = *layer);
    layers
}

/// Properties of a material that decide which constants its shader reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConstantsUse {
    /// Whether the renderer draws the metallic-roughness model.
    pub(crate) full: bool,
    pub(crate) layered: bool,
    pub(crate) specular: bool,
    pub(crate) clearcoat: bool,
    pub(crate) sheen: bool,
}

impl ConstantsUse {
    fn of(material: &Material, full: bool) -> Self {
        Self {
            full,
            layered: material.has_layers(),
            specular: material.has_specular(),
            clearcoat: material.has_clearcoat(),
            sheen: material.has_sheen(),
        }
    }

    /// Bytes up to the last member of [`FullMaterialUniform`] or [`MaterialUniform`] that is read: the offset of the sheen.
    pub(crate) fn first_part(self) -> usize {
        match self.full {
            true if self.layered => size_of::<FullMaterialUniform>(),
            false if self.layered => size_of::<MaterialUniform>(),
            true if self.clearcoat => offset_of!(FullMaterialUniform, layers),
            true if self.specular => offset_of!(FullMaterialUniform, clearcoat),
            true => offset_of!(FullMaterialUniform, specular),
            false => offset_of!(MaterialUniform, layers),
        }
    }

    /// Bytes of the constants of a material. A multiple of 16: the stride in an array.
    pub(crate) fn size(self) -> usize {
        self.first_part() + if self.full && self.sheen { size_of::<SheenUniform>() } else { 0 }
    }
}

/// Colour and roughness of the sheen.
pub(crate) type SheenUniform = [f32; 4];

/// Constants of all materials of a model, laid out as in its buffer.
#[derive(Debug)]
pub(crate) struct MaterialConstants {
    pub(crate) bytes: Vec<u8>,
    /// Alignment of a binding's offset, bytes.
    pub(crate) alignment: u64,
    /// Bytes per material, without what its alignment adds.
    pub(crate) size: u64,
    /// Bytes from a material to the next.
    pub(crate) stride: u64,
}

impl MaterialConstants {
    /// `full`: whether the renderer draws the metallic-roughness model.
    pub(crate) fn of(device: &wgpu::Device, meta: &Metadata, full: bool) -> Self {
        let alignment = device.limits().min_uniform_buffer_offset_alignment.max(1) as usize;
        let size = meta.materials.iter().map(|material| ConstantsUse::of(material, full).size()).max().unwrap_or(0);
        let stride = size.next_multiple_of(alignment);
        let mut bytes = vec![0; stride * meta.materials.len()];
        for (material, bytes) in meta.materials.iter().zip(bytes.chunks_exact_mut(stride)) {
            let uniform = FullMaterialUniform {
                base_color: material.base_color,
                emissive: material.emissive,
                alpha_cutoff: material.alpha_cutoff.unwrap_or(0.0),
                metallic: material.metallic,
                roughness: material.roughness,
                occlusion_strength: material.occlusion_strength,
                normal_scale: material.normal_scale,
                specular: specular(material),
                clearcoat: [material.clearcoat, material.clearcoat_roughness].map(share),
                clearcoat_normal_scale: scale(material.clearcoat_normal_scale),
                padding: 0.0,
                layers: variant_layers(material),
            };
            let used = ConstantsUse::of(material, full);
            let (first, rest) = bytes[..used.size()].split_at_mut(used.first_part());
            // The others are the first part of it, apart from the layers.
            first.copy_from_slice(&bytemuck::bytes_of(&uniform)[..first.len()]);
            if used.layered && !full {
                first[offset_of!(MaterialUniform, layers)..].copy_from_slice(uniform.layers.as_flattened());
            }
            let [r, g, b] = material.sheen_color;
            let sheen: SheenUniform = [r, g, b, material.sheen_roughness].map(share);
            rest.copy_from_slice(&bytemuck::bytes_of(&sheen)[..rest.len()]);
        }
        Self { bytes, alignment: alignment as u64, size: size as u64, stride: stride as u64 }
    }

    /// No materials, for a model that is drawn without them.
    #[cfg(feature = "testing")]
    pub(crate) const NONE: Self = Self { bytes: Vec::new(), alignment: 1, size: 0, stride: 0 };
}
