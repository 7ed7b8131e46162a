//! WGSL modules that skin the instances of a variant.

use super::variant::{InstanceSource, MorphUse, Variant};
use crate::{Normals, Packing, VertexFormat};

/// Module that reads an animation texture.
pub(super) fn texel(variant: Variant) -> &'static str {
    match variant.array {
        true => include_str!("../../shaders/texel_array.wgsl"),
        false => include_str!("../../shaders/texel_plain.wgsl"),
    }
}

/// Returns the modules of all functions but `gpuskin_variant_of`.
pub(super) fn modules(variant: Variant, instances: InstanceSource) -> impl Iterator<Item = &'static str> {
    let reads_frames = !variant.encoding.needs_compute() && !instances.is_posed(variant);
    let texel = reads_frames.then(|| texel(variant));
    let color = match variant.vertex.color {
        true => include_str!("../../shaders/color_unorm.wgsl"),
        false => include_str!("../../shaders/color_none.wgsl"),
    };
    let influences: &[&str] = match instances.chooses_influences(variant) {
        true => &[include_str!("../../shaders/influences_by_size.wgsl")],
        false if instances.lists_slots(variant) => &[include_str!("../../shaders/influences_all.wgsl")],
        false => &[],
    };
    let own = if variant.encoding.is_vertex() { of_vertices(variant) } else { of_bones(variant, instances) };
    let from: &[&str] = match instances {
        InstanceSource::Field => {
            &[include_str!("../../shaders/field.wgsl"), include_str!("../../shaders/instance_field.wgsl")]
        }
        InstanceSource::Batch { .. } => &[include_str!("../../shaders/instance_batch.wgsl")],
        InstanceSource::Slotless => {
            &[include_str!("../../shaders/playback_words.wgsl"), include_str!("../../shaders/instance_list.wgsl")]
        }
        _ if variant.encoding.needs_compute() => {
            &[include_str!("../../shaders/playing_none.wgsl"), include_str!("../../shaders/instance_list.wgsl")]
        }
        _ => &[include_str!("../../shaders/instance_attributes.wgsl")],
    };
    let previous = match (variant.previous_transforms && instances.reads_previous(), variant.encoding.needs_compute()) {
        (false, _) => include_str!("../../shaders/previous_none.wgsl"),
        (true, true) => include_str!("../../shaders/previous_list.wgsl"),
        (true, false) => include_str!("../../shaders/previous_attributes.wgsl"),
    };
    [
        include_str!("../../shaders/playback.wgsl"),
        include_str!("../../shaders/instance.wgsl"),
        include_str!("../../shaders/appearance.wgsl"),
        match instances {
            InstanceSource::Batch { .. } => include_str!("../../shaders/drawn_crowd.wgsl"),
            _ => include_str!("../../shaders/model.wgsl"),
        },
        include_str!("../../shaders/skinned.wgsl"),
        color,
    ]
    .into_iter()
    .chain(texel)
    .chain(from.iter().copied())
    .chain([previous])
    .chain(influences.iter().copied())
    .chain(own)
    .chain(of_morphs(variant, instances))
    .chain([include_str!("../../shaders/skin_vertex.wgsl")])
}

/// Modules that move vertices by morph targets.
fn of_morphs(variant: Variant, instances: InstanceSource) -> Vec<&'static str> {
    let has_morphs = match instances {
        InstanceSource::Cached | InstanceSource::Slotless | InstanceSource::Batch { .. } => false,
        InstanceSource::Records | InstanceSource::Added | InstanceSource::Field => variant.morphs == MorphUse::Applied,
    };
    if !has_morphs {
        return vec![match instances.chooses_influences(variant) {
            true => include_str!("../../shaders/morphs_none_by_size.wgsl"),
            false => include_str!("../../shaders/morphs_none.wgsl"),
        }];
    }
    let shared = include_str!("../../shaders/morphs.wgsl");
    let from_lists =
        [include_str!("../../shaders/morph_sum_wide.wgsl"), include_str!("../../shaders/morphed_lists.wgsl")];
    let (weights, morphed) = if instances.is_posed(variant) {
        (include_str!("../../shaders/bone_translation_posed.wgsl"), from_lists.to_vec())
    } else if variant.encoding.needs_compute() {
        let load = match variant.has_tangents() {
            true => include_str!("../../shaders/morph_load_tangent.wgsl"),
            false => include_str!("../../shaders/morph_load.wgsl"),
        };
        let region = include_str!("../../shaders/morph_region.wgsl");
        let moved = include_str!("../../shaders/morph_vertex.wgsl");
        let mut modules = vec![region, load, moved, include_str!("../../shaders/added_morphs.wgsl")];
        modules.extend_from_slice(match instances {
            InstanceSource::Added => &[include_str!("../../shaders/morphed_added.wgsl")],
            _ => &[include_str!("../../shaders/morph_sum.wgsl"), include_str!("../../shaders/morphed_palette.wgsl")],
        });
        (include_str!("../../shaders/bone_translation_palette.wgsl"), modules)
    } else {
        (include_str!("../../shaders/bone_translation.wgsl"), from_lists.to_vec())
    };
    [weights, shared].into_iter().chain(morphed).collect()
}

/// Modules that read the bones of a pose pass.
const POSED: &[&str] = &[include_str!("../../shaders/pose_places.wgsl"), include_str!("../../shaders/bone_posed.wgsl")];

/// Modules that evaluate the bones of local tracks.
const SLOTLESS: &[&str] = &[
    include_str!("../../shaders/local.wgsl"),
    include_str!("../../shaders/pose_source_frames.wgsl"),
    include_str!("../../shaders/bone_slotless.wgsl"),
];

/// Modules for encodings of bones.
fn of_bones(variant: Variant, instances: InstanceSource) -> Vec<&'static str> {
    let posed = instances.is_posed(variant);
    let textured = !variant.encoding.needs_compute() && !posed;
    let frames: &[&str] = if textured { &frames(variant) } else { &[] };
    let mixed = textured.then_some(include_str!("../../shaders/bone.wgsl"));
    let VertexFormat { packing, tangent, .. } = variant.vertex;
    let octahedral = !packing.is_full() || (tangent && !variant.vertex.has_full_tangent());
    let octahedral = octahedral.then_some(include_str!("../../shaders/octahedral.wgsl"));
    let unpack = match packing {
        Packing::Full | Packing::Full8 => include_str!("../../shaders/vertex_full.wgsl"),
        _ => include_str!("../../shaders/vertex_packed.wgsl"),
    };
    let weights = match packing {
        Packing::Full | Packing::Full8 => None,
        Packing::Wide | Packing::Wide8 => Some(include_str!("../../shaders/weights_wide.wgsl")),
        _ => Some(include_str!("../../shaders/weights_narrow.wgsl")),
    };
    let unpack_tangent = match (tangent, variant.vertex.has_full_tangent(), packing) {
        (false, ..) => include_str!("../../shaders/tangent_none.wgsl"),
        (true, true, Packing::Full) => include_str!("../../shaders/tangent_full.wgsl"),
        (true, true, _) => include_str!("../../shaders/tangent_full8.wgsl"),
        (true, false, _) => include_str!("../../shaders/tangent_packed.wgsl"),
    };
    let normal = match variant.normals {
        Normals::Cofactor => include_str!("../../shaders/normal_cofactor.wgsl"),
        Normals::Plain => include_str!("../../shaders/normal_plain.wgsl"),
    };
    // Fifth to eighth influence, and the word of a packed tangent behind wide weights or full-precision ones.
    let more: &[&str] = match packing {
        Packing::Full8 if octahedral.is_some() => &[
            include_str!("../../shaders/influences_full8.wgsl"),
            include_str!("../../shaders/tangent_word_full8.wgsl"),
        ],
        Packing::Full8 => &[include_str!("../../shaders/influences_full8.wgsl")],
        Packing::Wide8 => &[include_str!("../../shaders/influences_wide8.wgsl")],
        Packing::Wide => {
            &[include_str!("../../shaders/influences_four.wgsl"), include_str!("../../shaders/tangent_word_wide.wgsl")]
        }
        _ => &[include_str!("../../shaders/influences_four.wgsl")],
    };
    let vertex = [include_str!("../../shaders/vertex.wgsl"), unpack, unpack_tangent]
        .into_iter()
        .chain(octahedral)
        .chain(weights)
        .chain(more.iter().copied());
    if instances == InstanceSource::Cached {
        return vertex.chain([include_str!("../../shaders/cached.wgsl")]).collect();
    }
    let slotless = instances == InstanceSource::Slotless;
    let blend = match (packing.influences(), posed || (variant.encoding.needs_compute() && !slotless)) {
        (8, true) if posed => include_str!("../../shaders/blend_bones8_posed.wgsl"),
        (8, true) => include_str!("../../shaders/blend_bones8_palette.wgsl"),
        (8, false) => include_str!("../../shaders/blend_bones8.wgsl"),
        (_, true) => include_str!("../../shaders/blend_bones_palette.wgsl"),
        (_, false) => include_str!("../../shaders/blend_bones.wgsl"),
    };
    let bones = match instances {
        InstanceSource::Batch { .. } => &[include_str!("../../shaders/bone_batch.wgsl")],
        InstanceSource::Slotless => SLOTLESS,
        _ if posed => POSED,
        _ => variant.encoding.info().wgsl,
    };
    [include_str!("../../shaders/skin_matrix.wgsl"), normal]
        .into_iter()
        .chain(vertex)
        .chain(frames.iter().copied())
        .chain(bones.iter().copied())
        .chain(mixed)
        .chain([blend, include_str!("../../shaders/skin.wgsl")])
        .collect()
}

/// Modules that find frames in an animation texture.
pub(super) fn frames(variant: Variant) -> [&'static str; 2] {
    let clips = match variant.clip_texture {
        true => include_str!("../../shaders/clips_texture.wgsl"),
        false => include_str!("../../shaders/clips_uniform.wgsl"),
    };
    [clips, include_str!("../../shaders/pose_source_frames.wgsl")]
}

/// Modules for encodings of vertices.
fn of_vertices(variant: Variant) -> Vec<&'static str> {
    let tangent = if variant.vertex.tangent {
        include_str!("../../shaders/vat_tangent.wgsl")
    } else {
        include_str!("../../shaders/vat_tangent_none.wgsl")
    };
    let shared = [include_str!("../../shaders/vertex_static.wgsl"), tangent, include_str!("../../shaders/vat.wgsl")];
    frames(variant).into_iter().chain(shared).chain(variant.encoding.info().wgsl.iter().copied()).collect()
}
