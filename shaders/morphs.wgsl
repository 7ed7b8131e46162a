// Morph targets of bones: lists of deltas, and weights in the translations of bones. CPU reference:
// gpuskin-rt/src/morph.rs, which documents the layout.

const gpuskin_morphs_across: u32 = 1024u;
// Word of the first vertex, behind those of the levels of detail.
const gpuskin_morph_lists_at: u32 = 8u;

// Sum of deltas, or a vertex that they are added to.
struct GpuskinMorph {
    position: vec3<f32>,
    normal: vec3<f32>,
    tangent: vec3<f32>,
}

fn gpuskin_morph_texel(index: u32) -> vec4<u32> {
    let texel = vec2<u32>(index % gpuskin_morphs_across, index / gpuskin_morphs_across);
    return textureLoad(gpuskin_morph_lists, texel, 0);
}

fn gpuskin_morph_word(index: u32) -> u32 {
    return gpuskin_morph_texel(index >> 2u)[index & 3u];
}

// Factor of an exponent.
fn gpuskin_morph_factor(exponent: u32) -> f32 {
    return bitcast<f32>((exponent + 87u) << 23u);
}

// Signed numbers in the upper bits, as -1..1; right: 32 minus the number of bits.
fn gpuskin_high_snorms(words: vec3<u32>, right: u32, top: f32) -> vec3<f32> {
    return max(vec3<f32>(bitcast<vec3<i32>>(words) >> vec3<u32>(right)) / top, vec3<f32>(-1.0));
}

// Adds a delta.
fn gpuskin_add_delta(sum: ptr<function, GpuskinMorph>, words: vec4<u32>, weight: f32) {
    let of_position = weight * gpuskin_morph_factor(words.w >> 26u);
    let of_others = weight * gpuskin_morph_factor((words.y >> 28u) | (((words.w >> 24u) & 3u) << 4u));
    let position = vec3<u32>(words.x << 16u, words.x, words.y << 16u);
    let normal = vec3<u32>(words.z) << vec3<u32>(22u, 12u, 2u);
    let tangent = vec3<u32>(words.w) << vec3<u32>(24u, 16u, 8u);
    (*sum).position += gpuskin_high_snorms(position, 16u, 32767.0) * of_position;
    (*sum).normal += gpuskin_high_snorms(normal, 22u, 511.0) * of_others;
    (*sum).tangent += gpuskin_high_snorms(tangent, 24u, 127.0) * of_others;
}
