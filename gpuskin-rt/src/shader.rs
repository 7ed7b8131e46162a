//! Shader source as text: assembles WGSL modules for a model's variant.

mod binding_table;
mod bindings;
mod interface;
#[cfg(feature = "wgpu")]
pub(crate) mod material;
mod modules;
mod variant;

pub use bindings::*;
#[cfg(any(test, feature = "wgpu"))]
use interface::animation;
use interface::{color_word, interface, second_uv};
use modules::modules;
#[cfg(any(test, feature = "wgpu"))]
use modules::{frames, texel};
pub(crate) use variant::InstanceSource;
pub use variant::{MorphUse, Variant};

use crate::bit_fields;

/// Returns the WGSL of the pass that draws the poses of a variant's instances into a texture, with entry
/// points: bind group 0 has the animation texture and the model, group 1 the places.
#[cfg(any(test, feature = "wgpu"))]
pub(crate) fn pose_pass(variant: Variant) -> String {
    let mut text = animation(variant, 0);
    text.push_str(&bit_fields::wgsl());
    let before = [
        include_str!("../shaders/playback.wgsl"),
        include_str!("../shaders/instance.wgsl"),
        include_str!("../shaders/model.wgsl"),
        texel(variant),
        include_str!("../shaders/skin_matrix.wgsl"),
    ];
    let frames = frames(variant);
    let after = [
        include_str!("../shaders/bone.wgsl"),
        include_str!("../shaders/pose_places.wgsl"),
        include_str!("../shaders/pose_pass.wgsl"),
    ];
    for module in before.iter().chain(&frames).chain(variant.encoding.info().wgsl).chain(&after) {
        text.push('\n');
        text.push_str(module);
    }
    text
}

/// Compute entry point of [`morph_pass`]: one workgroup per pose, counted as those of
/// [`palette`](crate::local::shader::palette).
#[cfg(any(test, feature = "wgpu"))]
pub(crate) const MORPH_ENTRY_POINT: &str = "gpuskin_write_morphs";

/// Returns the WGSL of the pass that adds the deltas of morph targets once per pose. Group 0:
/// [`PaletteUniform`](crate::local::shader::PaletteUniform), [`ModelUniform`], playback records of the poses, the palette,
/// and the lists of deltas. `tangents`: whether vertices have tangents.
#[cfg(any(test, feature = "wgpu"))]
pub(crate) fn morph_pass(tangents: bool) -> String {
    let mut text = bit_fields::wgsl();
    let store = match tangents {
        true => include_str!("../shaders/morph_store_tangent.wgsl"),
        false => include_str!("../shaders/morph_store.wgsl"),
    };
    for module in [
        include_str!("../shaders/playback.wgsl"),
        include_str!("../shaders/instance.wgsl"),
        include_str!("../shaders/model.wgsl"),
        include_str!("../shaders/local_parameters.wgsl"),
        include_str!("../shaders/bone_translation_palette.wgsl"),
        include_str!("../shaders/morphs.wgsl"),
        include_str!("../shaders/morph_sum.wgsl"),
        include_str!("../shaders/morph_region.wgsl"),
        store,
        include_str!("../shaders/morph_pass.wgsl"),
    ] {
        text.push('\n');
        text.push_str(module);
    }
    text
}

/// Returns the WGSL that skins models of a variant: structures, bindings in `@group(group)`,
/// functions. No entry points.
pub fn source(variant: Variant, group: u32) -> String {
    text(variant, group, InstanceSource::Records)
}

/// Returns the WGSL that draws cached vertices of [`Encoding::LocalPacked`](crate::Encoding::LocalPacked), for instances that
/// share poses: parts with `CustomPart::cached`. It has no bones: of the functions of [`source`] it
/// lacks `gpuskin_bone`, `gpuskin_blend_bones` and `gpuskin_skin`. `GpuskinInput` has the index of
/// the vertex, `@builtin(vertex_index) vertex: u32`.
pub fn cached_source(variant: Variant, group: u32) -> String {
    text(variant, group, InstanceSource::Cached)
}

/// Returns the WGSL that skins instances whose morph targets a compute pass has added, which is faster than what [`source`]
/// returns: parts with `CustomPart::morphs_added`. For models with morph targets on devices with compute.
pub fn added_morphs_source(variant: Variant, group: u32) -> String {
    text(variant, group, InstanceSource::Added)
}

/// Returns the WGSL that skins the instances of a field. For models with an animation texture.
pub fn field_source(variant: Variant, group: u32) -> String {
    text(variant, group, InstanceSource::Field)
}

/// Returns WGSL for a game's own compute passes that write the instances of a crowd,
/// [`Crowd::instance_buffers`](crate::Crowd::instance_buffers): structures and functions, without
/// bindings and entry points.
pub fn instance_writer_source() -> String {
    let mut text = bit_fields::wgsl();
    for module in [
        include_str!("../shaders/playback.wgsl"),
        include_str!("../shaders/instance.wgsl"),
        include_str!("../shaders/pack_rotation.wgsl"),
        include_str!("../shaders/write_playback.wgsl"),
    ] {
        text.push('\n');
        text.push_str(module);
    }
    text
}

fn text(variant: Variant, group: u32, instances: InstanceSource) -> String {
    let mut text = skinning(variant, group, instances);
    if variant.model_variants {
        text.push('\n');
        text.push_str(match instances {
            InstanceSource::Field => include_str!("../shaders/variant_field.wgsl"),
            InstanceSource::Batch { .. } => include_str!("../shaders/variant_batch.wgsl"),
            _ if variant.encoding.needs_compute() => include_str!("../shaders/variant_list.wgsl"),
            _ => include_str!("../shaders/variant_attributes.wgsl"),
        });
    }
    text
}

/// Returns [`text`] in group 1 for a shader of the renderer. `layers`: whether the base colour texture of the surface has
/// layers.
fn drawn_text(variant: Variant, instances: InstanceSource, layers: bool) -> String {
    let model_variants = variant.model_variants && layers;
    let mut text = text(Variant { model_variants, ..variant }, 1, instances);
    if layers && !model_variants {
        text.push('\n');
        text.push_str(include_str!("../shaders/variant_none.wgsl"));
    }
    text
}

/// Interface of depth passes for base colours without layers.
const DEPTH_VARYINGS: &str = include_str!("../shaders/depth_varyings.wgsl");

/// Returns the base colour texture of a surface, and the interface of its depth pass.
fn base_color(layers: bool, instances: InstanceSource) -> String {
    let module = match layers {
        true => include_str!("../shaders/base_color_layers.wgsl").to_owned(),
        false => DEPTH_VARYINGS.to_owned() + "\n" + include_str!("../shaders/base_color_plain.wgsl"),
    };
    module + &binding_table::texture("base_color", 1, layers, instances)
}

/// Returns all functions except `gpuskin_variant_of`.
fn skinning(variant: Variant, group: u32, instances: InstanceSource) -> String {
    let mut text = interface(variant, group, instances);
    text.push_str(&color_word(variant.vertex));
    text.push_str(&second_uv(variant.vertex));
    text.push('\n');
    text.push_str(&bit_fields::wgsl());
    for module in modules(variant, instances) {
        text.push('\n');
        text.push_str(module);
    }
    text
}

/// Returns the functions that pass the colour of vertices and instances on to fragments. `colors`: whether vertices have
/// colours. `mask`: whether the tint is weighted by a mask.
fn surface_color(colors: bool, mask: bool) -> String {
    match (colors, mask) {
        (_, true) => with_lines(include_str!("../shaders/tint_mask.wgsl"), COLOR_LINES, colors),
        (true, false) => include_str!("../shaders/vertex_color.wgsl").to_owned(),
        (false, false) => include_str!("../shaders/tint.wgsl").to_owned(),
    }
}

/// Whether vertices pass the tint on as a word of its own, and not as a factor of their colour.
const fn passes_tint(colors: bool, mask: bool) -> bool {
    mask || !colors
}

/// Name of the lines for surfaces with vertex colours, for [`with_lines`].
const COLOR_LINES: &str = "vertex colors";

/// Returns a module with the lines that a surface needs. Lines that end with `// if NAME` are for surfaces that have the
/// feature of this name, lines that end with `// unless NAME` for the others.
fn with_lines(module: &str, name: &str, used: bool) -> String {
    let marks = [(format!(" // if {name}"), used), (format!(" // unless {name}"), !used)];
    let mut text = String::with_capacity(module.len());
    for line in module.lines() {
        let marked = marks.iter().find_map(|(mark, needed)| Some((line.strip_suffix(mark.as_str())?, *needed)));
        if let (line, true) = marked.unwrap_or((line, true)) {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// Returns the renderer's own shader: [`source`] in group 1, and its entry points.
pub fn crowd(variant: Variant) -> String {
    drawn(variant, InstanceSource::Records, DiffuseCode { layers: variant.model_variants, ..Default::default() })
}

/// Properties of a surface that select code of the diffuse material.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct DiffuseCode {
    /// Whether the base colour texture has layers.
    pub(crate) layers: bool,
    /// Whether its alpha is a tint mask.
    pub(crate) tint_mask: bool,
    /// Whether the emissive texture has the second texture coordinates.
    pub(crate) second_emissive: bool,
}

/// Returns the renderer's own shader for an instance source.
pub(crate) fn drawn(variant: Variant, instances: InstanceSource, surface: DiffuseCode) -> String {
    let DiffuseCode { layers, tint_mask, second_emissive } = surface;
    let interface = match layers {
        true => include_str!("../shaders/diffuse_layers.wgsl"),
        false => include_str!("../shaders/diffuse_plain.wgsl"),
    };
    let own = drawn_text(variant, instances, layers);
    let base = base_color(layers, instances);
    // The layout of a surface that emits no light lacks the binding; no entry point for it reads the texture.
    let emissive = binding_table::texture("emissive", 3, false, instances);
    let colors = variant.vertex.color;
    let interface = with_lines(interface, COLOR_LINES, colors);
    let interface = with_lines(&interface, "tint word", passes_tint(colors, tint_mask));
    let second_uv = second_emissive && variant.vertex.second_uv;
    let [interface, entries] =
        [&interface, include_str!("../shaders/crowd.wgsl")].map(|text| with_lines(text, "second uv", second_uv));
    let color = surface_color(colors, tint_mask);
    let text = [&own, &interface, &base, &emissive, &color, &entries, OPAQUE].join("\n");
    binding_table::with_constants(text, layers, instances)
}

/// Functions of surfaces that are not blended.
pub(crate) const OPAQUE: &str = include_str!("../shaders/opaque.wgsl");

/// Returns a shader of the renderer for blended surfaces: with their entry points, and without [`OPAQUE`].
#[cfg(any(feature = "wgpu", test))]
pub(crate) fn blended(text: String) -> String {
    text.replace(OPAQUE, include_str!("../shaders/blended.wgsl"))
}

/// Returns the shader that reads vertices back: [`source`] in group 1, and its entry points.
pub fn capture(variant: Variant) -> String {
    let entry = match variant.reads_number(InstanceSource::Records) {
        true => include_str!("../shaders/capture_vertex_numbered.wgsl"),
        false => include_str!("../shaders/capture_vertex.wgsl"),
    };
    [&source(variant, 1), include_str!("../shaders/capture.wgsl"), entry].join("\n")
}

/// WGSL of the pass that copies changed instances to their slots.
#[cfg(any(test, feature = "wgpu"))]
pub(crate) const SCATTER: &str = include_str!("../shaders/scatter.wgsl");

#[cfg(test)]
mod tests;
