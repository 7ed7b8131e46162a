//! Checks that a model's metadata is consistent, and that the model fits the constants of the program and the limits of a device.

use super::Error;
use super::error::at_most;
use super::layouts::vertex_buffers;
use super::material::MaterialConstants;
use crate::shader::{MODEL_BYTES, Variant};
use crate::{AnimationTexture, BakedModel, ClipRecord, MAX_CLIPS, MAX_LODS, MaterialTexture, Metadata, Model};

const OTHER_BAKE: &str = "request a device with higher limits, or bake the model smaller (fps, fewer clips, trs-f16)";
const OTHER_LIMITS: &str = "request the device with at least wgpu::Limits::downlevel_webgl2_defaults()";

/// Checks that a model's metadata is consistent, as far as drawing relies on it.
pub(super) fn consistent(meta: &Metadata) -> Result<(), &'static str> {
    let (mesh, texture) = (&meta.mesh, &meta.texture);
    let index_bytes = if mesh.wide_indices { 4 } else { 2 };
    let index_count = mesh.indices.len / index_bytes;
    // Frames in a storage buffer are checked where they are read.
    let textured = !meta.encoding.needs_compute();
    // Whether a texture exists is checked where it is uploaded.
    let layers = |t: &MaterialTexture| meta.textures.get(t.texture as usize).map_or(1, |texture| texture.layers);
    let frames_hold = |first: u32, stored: u32| first.checked_add(stored).is_some_and(|end| end <= texture.frames);
    let checks = [
        (meta.clips.is_empty(), "the model has no clips"),
        (meta.clips.len() > MAX_CLIPS, "the model has more clips than the runtime supports"),
        (mesh.clips.len != (meta.clips.len() * size_of::<ClipRecord>()) as u64, "the clip records have the wrong size"),
        (
            !meta.clips.iter().all(|c| c.record().is_sound() && frames_hold(c.first_frame, c.stored)),
            "a clip record is invalid, or its frames exceed the animation texture",
        ),
        (
            !meta.clips.iter().all(|c| c.first_frame >= meta.encoding.range_frames()),
            "a clip has no value ranges before its frames",
        ),
        (mesh.vertex_count == 0 || index_count == 0, "the mesh has no vertices or no indices"),
        (
            mesh.vertices.len != u64::from(mesh.vertex_count) * mesh.format.stride() as u64,
            "the vertex data has the wrong size",
        ),
        (
            !mesh.parts.iter().all(|p| u64::from(p.first_index) + u64::from(p.index_count) <= index_count),
            "a mesh part exceeds the index buffer",
        ),
        (
            !mesh.parts.iter().all(|p| (p.material as usize) < meta.materials.len()),
            "a mesh part refers to a material that does not exist",
        ),
        (
            !meta.materials.iter().all(|m| m.layers_are_sound(layers)),
            "the layers of a texture do not match the variants of the model",
        ),
        (
            !meta.materials.iter().all(|m| m.has_coordinates(mesh.format.second_uv)),
            "a texture has second texture coordinates, which vertices have not",
        ),
        (mesh.levels.len() >= MAX_LODS, "the mesh has more levels of detail than the runtime supports"),
        (
            !mesh.levels.iter().all(|l| l.parts.len() == mesh.parts.len()),
            "a level of detail has a different number of parts than the mesh",
        ),
        (
            !mesh
                .levels
                .iter()
                .flat_map(|l| l.parts.iter())
                .all(|p| u64::from(p.first_index) + u64::from(p.index_count) <= index_count),
            "a level of detail exceeds the index buffer",
        ),
        (!texture.width.is_power_of_two(), "the width of the animation texture is not a power of two"),
        (!Variant::of(meta).is_sound(), "the vertex format does not match the encoding"),
        (texture.rows <= meta.encoding.range_rows(), "the animation texture has no rows for vertices"),
        (texture.rows == 0 || texture.frames_per_layer == 0, "the animation texture is empty"),
        (
            u64::from(texture.frames_per_layer) * u64::from(texture.layers) < u64::from(texture.frames),
            "the animation texture has fewer frames than the metadata says",
        ),
        (
            textured
                && u64::from(texture.frames_per_layer.min(texture.frames))
                    * u64::from(texture.rows)
                    * u64::from(meta.encoding.texels())
                    > u64::from(texture.width) * u64::from(texture.height),
            "the animation texture is too small for its frames",
        ),
    ];
    checks.into_iter().find(|(wrong, _)| *wrong).map_or(Ok(()), |(_, reason)| Err(reason))
}

/// Checks that a later bake of a model fits the constants of the program.
pub(super) fn constants<M: BakedModel>(later: &Model) -> Result<(), Error> {
    let built = &M::MODEL.meta;
    let differs = |reason| Error::Constants { model: built.name.to_string(), reason };
    later.meta.check_constants(built).map_err(differs)
}

/// Checks that a model fits the limits of a device.
pub(super) fn allowed(
    limits: &wgpu::Limits,
    meta: &Metadata,
    variant: Variant,
    materials: &MaterialConstants,
) -> Result<(), Error> {
    let (mesh, texture) = (&meta.mesh, &meta.texture);
    // A storage buffer has limits of its own.
    let texture = if meta.encoding.needs_compute() { &AnimationTexture::default() } else { texture };
    let what = |text: &'static str| move || format!("{}: {text}", meta.name);
    let side = u64::from(limits.max_texture_dimension_2d);
    at_most(texture.width.into(), side, OTHER_BAKE, what("texels across the animation texture"))?;
    at_most(texture.height.into(), side, OTHER_BAKE, what("texels down the animation texture"))?;
    let layers = limits.max_texture_array_layers.into();
    at_most(texture.layers.into(), layers, OTHER_BAKE, what("layers of the animation texture"))?;
    at_most(mesh.vertices.len, limits.max_buffer_size, OTHER_BAKE, what("bytes of vertices"))?;
    at_most(mesh.indices.len, limits.max_buffer_size, OTHER_BAKE, what("bytes of indices"))?;
    let together =
        [mesh.vertices.len, mesh.indices.len, MODEL_BYTES, materials.bytes.len() as u64 + materials.alignment]
            .into_iter()
            .fold(0, u64::saturating_add);
    at_most(together, limits.max_buffer_size, OTHER_BAKE, what("bytes of vertices and indices"))?;
    let stride = mesh.format.stride() as u64;
    at_most(stride, limits.max_vertex_buffer_array_stride.into(), OTHER_LIMITS, what("bytes per vertex"))?;
    let attributes = vertex_buffers(variant).attributes() as u64;
    at_most(attributes, limits.max_vertex_attributes.into(), OTHER_LIMITS, what("vertex attributes"))?;
    let uniform = limits.max_uniform_buffer_binding_size.min(limits.max_buffer_size);
    at_most(MODEL_BYTES, uniform, OTHER_LIMITS, what("bytes of a uniform buffer"))
}
