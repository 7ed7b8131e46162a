//! Values as Rust expressions, for a scope that imports `gpuskin_rt::*` and `Cow::Borrowed`.

use gpuskin_rt::internals::{
    Aabb, AnimationTexture, BoneInfo, ByteRange, ClipEvent, ClipInfo, ColorFormat, ColorTexture, Encoding, ErrorInfo,
    HeldFrames, IndexRange, List, MaskInfo, Material, MaterialTexture, MeshInfo, MeshLod, MeshPart, Metadata,
    MorphInfo, Normals, Packing, RestInfo, RootKey, RootMotion, Str, ValueRange, VertexFormat, VertexRange, Wrap,
};
use proc_macro2::{Literal as Token, TokenStream};
use quote::{format_ident, quote};

/// A value that can be written as a constant expression.
pub(super) trait Literal {
    /// Returns the expression.
    fn literal(&self) -> TokenStream;
}

macro_rules! integers {
    ($($ty:ty => $token:ident),*) => {$(
        impl Literal for $ty {
            fn literal(&self) -> TokenStream {
                let token = Token::$token(*self);
                quote!(#token)
            }
        }
    )*};
}
integers!(u8 => u8_unsuffixed, u16 => u16_unsuffixed, u32 => u32_unsuffixed, u64 => u64_unsuffixed);

macro_rules! floats {
    ($($ty:ident => $token:ident),*) => {$(
        impl Literal for $ty {
            fn literal(&self) -> TokenStream {
                let sign = self.is_sign_negative().then(|| quote!(-));
                if self.is_infinite() {
                    return quote!(#sign $ty::INFINITY);
                }
                if self.is_nan() {
                    return quote!($ty::NAN);
                }
                let token = Token::$token(self.abs());
                quote!(#sign #token)
            }
        }
    )*};
}
floats!(f32 => f32_unsuffixed, f64 => f64_unsuffixed);

/// Implements [`Literal`] for structs whose fields implement it.
macro_rules! structs {
    ($($ty:ident { $($field:ident),* })*) => {$(
        impl Literal for $ty {
            fn literal(&self) -> TokenStream {
                let $ty { $($field),* } = self;
                $(let $field = $field.literal();)*
                quote!($ty { $($field: #$field),* })
            }
        }
    )*};
}

/// Implements [`Literal`] for enums without fields, whose debug text is the name of the variant.
macro_rules! enums {
    ($($ty:ident),*) => {$(
        impl Literal for $ty {
            fn literal(&self) -> TokenStream {
                let variant = format_ident!("{self:?}");
                quote!($ty::#variant)
            }
        }
    )*};
}

structs! {
    Metadata {
        content_hash, format_version, name, encoding, texture, normals, clips, bones, events, masks, morphs, parts,
        variants, mesh, materials, textures, rest_bounds, bounds
    }
    AnimationTexture { width, height, layers, frames_per_layer, frames, rows, range }
    ValueRange { min, extent }
    ClipInfo {
        name, source, first_frame, intervals, stored, held, stepped, looped, duration, frame_rate, bounds, events,
        root_motion, additive, encoding_error, motion_error
    }
    HeldFrames { first, count }
    ClipEvent { event, phase }
    RootMotion { planar, keys }
    RootKey { translation, rotation }
    ErrorInfo { max, p9996, normal_degrees, time, bone, vertex }
    BoneInfo { name, parent, bind }
    MaskInfo { name, bones }
    MorphInfo { name, bone, axis, scale }
    MeshInfo { format, range, vertex_count, vertices, indices, wide_indices, clips, parts, levels, influence_error, morphs, rest }
    RestInfo { vertices, position_min, position_extent, clip, seconds }
    MeshPart { material, part, flat, first_index, index_count }
    MeshLod { error, parts }
    IndexRange { first_index, index_count }
    VertexFormat { packing, tangent, second_uv, color }
    VertexRange { position_min, position_extent, uv_min, uv_extent }
    Material {
        name, base_color, base_color_texture, tint_mask, variant_layers, metallic, roughness, occlusion_strength,
        occlusion_second_uv, orm_texture, normal_scale, normal_texture, emissive, emissive_texture, ior, specular, specular_color, specular_texture, clearcoat,
        clearcoat_roughness, clearcoat_texture, clearcoat_normal_scale, clearcoat_normal_texture, sheen_color,
        sheen_roughness, sheen_texture, double_sided, alpha_cutoff, alpha_blend, unlit
    }
    MaterialTexture { texture, wrap, nearest, second_uv }
    ColorTexture { width, height, levels, layers, srgb, formats }
    ByteRange { offset, len }
    Aabb { min, max }
}

enums!(Encoding, Packing, Wrap, Normals, ColorFormat);

impl Literal for bool {
    fn literal(&self) -> TokenStream {
        quote!(#self)
    }
}

impl Literal for Str {
    fn literal(&self) -> TokenStream {
        let text: &str = self;
        quote!(Borrowed(#text))
    }
}

impl<T: Literal + Clone> Literal for List<T> {
    fn literal(&self) -> TokenStream {
        let items = self.iter().map(Literal::literal);
        quote!(Borrowed(&[#(#items),*]))
    }
}

impl<T: Literal, const N: usize> Literal for [T; N] {
    fn literal(&self) -> TokenStream {
        let items = self.iter().map(Literal::literal);
        quote!([#(#items),*])
    }
}

impl<T: Literal> Literal for Option<T> {
    fn literal(&self) -> TokenStream {
        match self {
            Some(value) => {
                let value = value.literal();
                quote!(Some(#value))
            }
            None => quote!(None),
        }
    }
}
