//! WGSL that depends on numbers: the vertex input and the bindings.

use core::fmt::Write;

use super::bindings::{
    ANIMATION_BINDING, CLIPS_BINDING, DRAWS_BINDING, FIELD_BINDING, INSTANCE_LOCATION, LIST_BINDING, MODEL_BINDING,
    MORPHS_BINDING, PLACES_BINDING, PLAYBACK_ATTRIBUTES, PLAYBACK_LOCATION, PLAYBACKS_BINDING, POSES_BINDING,
    PREVIOUS_BINDING, PREVIOUS_LOCATION, VERTICES_BINDING, clips_across,
};
use super::variant::{InstanceSource, MorphUse, Variant};
use crate::{VertexFormat, local};

/// Returns the code that depends on numbers: the vertex input and the bindings.
pub(super) fn interface(variant: Variant, group: u32, instances: InstanceSource) -> String {
    let mut text = String::from(
        "// Words of a vertex, then of an instance. The shader does not read words that an attribute lacks.\n",
    );
    text.push_str("struct GpuskinInput {\n");
    for location in 0..variant.vertex_attributes().len() {
        let _ = writeln!(text, "    @location({location}) words_{location}: vec4<u32>,");
    }
    if variant.encoding.needs_compute() {
        if matches!(instances, InstanceSource::Batch { .. }) {
            text.push_str(&of_batch(variant, group));
            return text + &words(variant, group);
        }
        let poses = match instances {
            InstanceSource::Cached => "gpuskin_cached_vertices: array<vec4<u32>>",
            InstanceSource::Slotless => "gpuskin_words: array<u32>",
            _ => "gpuskin_palette: array<mat3x4<f32>>",
        };
        let number = if variant.reads_number(instances) { VERTEX_NUMBER } else { "" };
        let _ = write!(
            text,
            "    // Index into gpuskin_list.\n    @builtin(instance_index) drawn: u32,\n{number}}}\n\n\
             @group({group}) @binding({ANIMATION_BINDING}) var<storage, read> {poses};\n\
             @group({group}) @binding({MODEL_BINDING}) var<uniform> gpuskin_model: GpuskinModel;\n\
             // Place records, two vectors per instance.\n\
             @group({group}) @binding({PLACES_BINDING}) var<storage, read> gpuskin_places: array<vec4<u32>>;\n\
             // Palette slot; instance number.\n\
             @group({group}) @binding({LIST_BINDING}) var<storage, read> gpuskin_list: array<vec2<u32>>;\n\
             // Playback records, three vectors per instance.\n\
             @group({group}) @binding({PLAYBACKS_BINDING}) var<storage, read> gpuskin_playbacks: array<vec4<u32>>;\n"
        );
        if variant.previous_transforms {
            let _ = write!(
                text,
                "// Place records of the previous frame, two vectors per instance.\n\
                 @group({group}) @binding({PREVIOUS_BINDING}) var<storage, read> gpuskin_previous_places: array<vec4<u32>>;\n"
            );
        }
        text.push_str(&morphs_binding(variant, group));
        if instances == InstanceSource::Slotless {
            text.push_str(&local::shader::constants());
        }
        return text + &words(variant, group);
    }
    if instances == InstanceSource::Records {
        text.push_str(&place_record(INSTANCE_LOCATION, ""));
        for i in 0..PLAYBACK_ATTRIBUTES {
            let _ = writeln!(text, "    @location({}) playback_{i}: vec4<u32>,", PLAYBACK_LOCATION + i);
        }
        if variant.previous_transforms {
            text.push_str(&place_record(PREVIOUS_LOCATION, "previous_"));
        }
    }
    let number = if variant.reads_number(instances) { VERTEX_NUMBER } else { "" };
    let _ = write!(text, "    @builtin(instance_index) number: u32,\n{number}}}\n\n");
    text.push_str(&morphs_binding(variant, group));
    text.push_str(&words(variant, group));
    if instances.is_posed(variant) {
        let _ = write!(
            text,
            "@group({group}) @binding({ANIMATION_BINDING}) var gpuskin_poses: texture_2d_array<u32>;\n\
             @group({group}) @binding({MODEL_BINDING}) var<uniform> gpuskin_model: GpuskinModel;\n\
             @group({group}) @binding({POSES_BINDING}) var<uniform> gpuskin_pose_places: GpuskinPosePlaces;\n"
        );
        return text;
    }
    text.push_str(&animation(variant, group));
    if instances == InstanceSource::Field {
        let _ = writeln!(text, "@group({group}) @binding({FIELD_BINDING}) var<uniform> gpuskin_field: GpuskinField;");
    }
    text
}

/// Member of the vertex input with the index of the vertex.
const VERTEX_NUMBER: &str = "    @builtin(vertex_index) vertex: u32,\n";

/// Binding of the deltas of morph targets; empty without them.
fn morphs_binding(variant: Variant, group: u32) -> String {
    if variant.morphs == MorphUse::None {
        return String::new();
    }
    format!(
        "// Deltas of morph targets.\n@group({group}) @binding({MORPHS_BINDING}) var gpuskin_morph_lists: texture_2d<u32>;\n"
    )
}

/// Bindings of an animation texture and its model.
pub(super) fn animation(variant: Variant, group: u32) -> String {
    let dimension = if variant.array { "2d_array" } else { "2d" };
    let channel = if variant.encoding.format().is_integer() { "u32" } else { "f32" };
    let mut text = format!(
        "alias GpuskinTexel = vec4<{channel}>;\n\
         @group({group}) @binding({ANIMATION_BINDING}) var gpuskin_animation: texture_{dimension}<{channel}>;\n\
         @group({group}) @binding({MODEL_BINDING}) var<uniform> gpuskin_model: GpuskinModel;\n"
    );
    if variant.clip_texture {
        let _ = writeln!(
            text,
            "// Clip records, one per texel.\n@group({group}) @binding({CLIPS_BINDING}) var gpuskin_clip_records: \
             texture_2d<u32>;\n{}",
            clips_across().trim_end()
        );
    }
    text
}

/// Returns the functions that read the words of a vertex beyond the first four: from attributes, or from the vertex buffer.
fn words(variant: Variant, group: u32) -> String {
    let words = variant.vertex.words();
    let mut text = String::new();
    if variant.loads_from_buffer() {
        let _ = write!(
            text,
            "// Vertices, {words} words each.\n\
             @group({group}) @binding({VERTICES_BINDING}) var<storage, read> gpuskin_vertices: array<u32>;\n"
        );
    }
    for i in 1..words.div_ceil(4) {
        let load = |word: usize| match word < words {
            true => format!("gpuskin_vertices[input.vertex * {words}u + {word}u]"),
            false => "0u".to_owned(),
        };
        let value = match variant.loads_from_buffer() && i >= variant.vertex_attributes().len() {
            true => format!("vec4<u32>({})", [0, 1, 2, 3].map(|k| load(4 * i + k)).join(", ")),
            false => format!("input.words_{i}"),
        };
        let _ = write!(text, "\nfn gpuskin_words_{i}(input: GpuskinInput) -> vec4<u32> {{\n    return {value};\n}}\n");
    }
    text
}

/// Rest of the vertex input, and bindings of a batch.
fn of_batch(variant: Variant, group: u32) -> String {
    let number = if variant.loads_from_buffer() { VERTEX_NUMBER } else { "" };
    format!(
        "    // Number of the draw, and index into its list.\n    @builtin(instance_index) drawn: u32,\n{number}}}\n\n\
         @group({group}) @binding({ANIMATION_BINDING}) var<storage, read> gpuskin_palette: array<mat3x4<f32>>;\n\
         @group({group}) @binding({MODEL_BINDING}) var<storage, read> gpuskin_crowds: array<GpuskinDrawnCrowd>;\n\
         // Place records, two vectors per instance.\n\
         @group({group}) @binding({PLACES_BINDING}) var<storage, read> gpuskin_places: array<vec4<u32>>;\n\
         // Palette slot; instance number in its crowd.\n\
         @group({group}) @binding({LIST_BINDING}) var<storage, read> gpuskin_list: array<vec2<u32>>;\n\
         // Playback records, three vectors per instance.\n\
         @group({group}) @binding({PLAYBACKS_BINDING}) var<storage, read> gpuskin_playbacks: array<vec4<u32>>;\n\
         // Per draw: first entry of its list; number of its crowd, and of its material in the upper half.\n\
         @group({group}) @binding({DRAWS_BINDING}) var<storage, read> gpuskin_draws: array<vec2<u32>>;\n"
    )
}

/// Attributes of a place record: translation and scale, then the rest.
fn place_record(location: u32, prefix: &str) -> String {
    format!(
        "    @location({location}) {prefix}place: vec4<f32>,\n    @location({}) {prefix}look: vec4<u32>,\n",
        location + 1
    )
}

/// Returns a function that reads the word of the vertex colour, the last word of the vertex; empty
/// without colours.
pub(super) fn color_word(vertex: VertexFormat) -> String {
    if !vertex.color {
        return String::new();
    }
    let last = word(vertex.words() - 1);
    format!("\nfn gpuskin_color_word(input: GpuskinInput) -> u32 {{\n    return {last};\n}}\n")
}

/// Returns a function that reads the second texture coordinates of the vertex; empty without them.
pub(super) fn second_uv(vertex: VertexFormat) -> String {
    if !vertex.second_uv {
        return String::new();
    }
    let first = vertex.second_uv_word();
    let [u, v] = [first, first + 1].map(word);
    format!(
        "\n// Second texture coordinates.\nfn gpuskin_second_uv(input: GpuskinInput) -> vec2<f32> {{\n    \
         return bitcast<vec2<f32>>(vec2<u32>({u}, {v}));\n}}\n"
    )
}

/// Returns the expression of a word of the vertex.
fn word(index: usize) -> String {
    let (attribute, component) = (index / 4, ["x", "y", "z", "w"][index % 4]);
    match attribute {
        0 => format!("input.words_0.{component}"),
        _ => format!("gpuskin_words_{attribute}(input).{component}"),
    }
}
