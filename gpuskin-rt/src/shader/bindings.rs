//! Locations, bindings and the uniform buffer of a model.

use bytemuck::{Pod, Zeroable};

use crate::Metadata;

/// Location of the first instance attribute, of the place record; vertex attributes have lower locations.
pub const INSTANCE_LOCATION: u32 = 6;
/// Number of attributes of a place record, four words each.
pub const PLACE_ATTRIBUTES: u32 = 2;
/// Location of the first attribute of a playback record.
pub const PLAYBACK_LOCATION: u32 = INSTANCE_LOCATION + PLACE_ATTRIBUTES;
/// Number of attributes of a playback record, four words each.
pub const PLAYBACK_ATTRIBUTES: u32 = 3;
/// Location of the first of two attributes with the place record of the previous frame.
pub const PREVIOUS_LOCATION: u32 = PLAYBACK_LOCATION + PLAYBACK_ATTRIBUTES;
/// First location that no variant uses.
pub const FREE_LOCATION: u32 = PREVIOUS_LOCATION + PLACE_ATTRIBUTES;
/// Binding of the animation texture, or of the palette, in the model's bind group.
pub const ANIMATION_BINDING: u32 = 0;
/// Binding of the [`ModelUniform`] in the model's bind group.
pub const MODEL_BINDING: u32 = 1;
/// Binding of the place records in the model's bind group, if there is a palette.
pub const PLACES_BINDING: u32 = 2;
/// Binding of the instance list in the model's bind group, with a dynamic offset, if there is a
/// palette.
pub const LIST_BINDING: u32 = 3;
/// Binding of the playback records in the model's bind group, if there is a palette.
pub const PLAYBACKS_BINDING: u32 = 4;
/// Binding of the transforms of the previous frame in the model's bind group, if there is a palette
/// and `Variant::previous_transforms`.
pub const PREVIOUS_BINDING: u32 = 5;
/// Binding of the draws of a batch, in its bind group.
pub const DRAWS_BINDING: u32 = 5;
/// Binding of the places of poses in the model's bind group, with a dynamic offset, if a pass draws the poses.
pub const POSES_BINDING: u32 = 2;
/// Binding of the [`FieldUniform`](crate::field::FieldUniform) in the bind group of a field's
/// model.
pub const FIELD_BINDING: u32 = 2;
/// Binding of the texture with the clip records in the model's bind group, with `Variant::clip_texture`.
pub const CLIPS_BINDING: u32 = 3;
/// Binding of the texture with the deltas of morph targets in the model's bind group, unless
/// `Variant::morphs` is `MorphUse::None`.
pub const MORPHS_BINDING: u32 = 6;
/// Binding of the vertex buffer as a storage buffer, in the bind group of a model or of a batch, with
/// `Variant::loads_influences`.
pub const VERTICES_BINDING: u32 = 7;
/// Greatest number of clips whose records are in the model's uniform buffer, and whose bounds are in a uniform
/// buffer of the culling pass: 16 KiB are the largest that every device can bind. Models with more clips have
/// both in textures.
pub const UNIFORM_CLIPS: usize = 1017;
/// Width in texels of textures with a texel per clip.
pub const CLIPS_ACROSS: u32 = 128;
/// Size of a model's uniform buffer, bytes: [`ModelUniform`], then the records of up to [`UNIFORM_CLIPS`] clips.
pub const MODEL_BYTES: u64 = (size_of::<ModelUniform>() + UNIFORM_CLIPS * size_of::<crate::ClipRecord>()) as u64;

/// WGSL of [`CLIPS_ACROSS`].
pub(crate) fn clips_across() -> String {
    format!("const gpuskin_clips_across: u32 = {CLIPS_ACROSS}u;\n")
}

/// Uniform buffer of a model, up to the records of its clips. CPU layout of `GpuskinModel` in
/// `shaders/model.wgsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ModelUniform {
    /// Binary logarithm of the width of the animation texture in texels.
    pub width_shift: u32,
    /// Number of rows per frame: bones or vertices.
    pub rows: u32,
    /// Number of frames per layer.
    pub frames_per_layer: u32,
    /// Number of matrices per instance in the palette; 0 if there is no palette.
    pub palette_stride: u32,
    /// Least position, metres.
    pub position_min: [f32; 3],
    /// Number of vertices of the mesh.
    pub vertices: u32,
    /// Greatest position minus least position, metres.
    pub position_extent: [f32; 3],
    /// Number of matrices from an instance's current pose in the palette to its previous pose; 0 if
    /// the palette has no previous poses.
    pub palette_previous: u32,
    /// Least texture coordinate.
    pub uv_min: [f32; 2],
    /// Greatest texture coordinate minus least texture coordinate.
    pub uv_extent: [f32; 2],
    /// Minimum of the value range, [`crate::ValueRange::min`]; with a palette, minimum of the
    /// bounds of all clips, metres.
    pub value_min: [f32; 4],
    /// Extent of the value range, [`crate::ValueRange::extent`]; with a palette, extent of the
    /// bounds of all clips, metres.
    pub value_extent: [f32; 4],
    /// Number of vertices that morph targets move.
    pub morph_vertices: u32,
    /// Number of palette slots, from the first one up, whose morph targets a compute pass adds.
    pub morph_slots: u32,
    /// Number of palette matrices per pose for the sums: one for two moved vertices, or three for four with tangents.
    pub morph_stride: u32,
    /// Zero.
    pub reserved: u32,
}

impl ModelUniform {
    /// Derives the value from a model's metadata.
    pub fn of(meta: &Metadata) -> Self {
        let range = &meta.mesh.range;
        Self {
            width_shift: meta.texture.width.max(1).ilog2(),
            rows: meta.texture.rows,
            frames_per_layer: meta.texture.frames_per_layer,
            position_min: range.position_min,
            vertices: meta.mesh.vertex_count,
            position_extent: range.position_extent,
            uv_min: range.uv_min,
            uv_extent: range.uv_extent,
            value_min: meta.texture.range.min,
            value_extent: meta.texture.range.extent,
            ..Self::default()
        }
    }
}
