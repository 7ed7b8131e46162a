// Morph targets of bones: deltas per vertex, and weights in the translations of bones. CPU reference:
// gpuskin-rt/src/morph.rs, which documents the layout.

const gpuskin_morphs_across: u32 = 1024u;

fn gpuskin_morph_texel(index: u32) -> vec4<u32> {
    let texel = vec2<u32>(index % gpuskin_morphs_across, index / gpuskin_morphs_across);
    return textureLoad(gpuskin_morph_lists, texel, 0);
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
fn gpuskin_add_delta(morphed: ptr<function, GpuskinVertex>, words: vec4<u32>, weight: f32) {
    let of_position = weight * gpuskin_morph_factor(words.w >> 26u);
    let of_others = weight * gpuskin_morph_factor((words.y >> 28u) | (((words.w >> 24u) & 3u) << 4u));
    let position = vec3<u32>(words.x << 16u, words.x, words.y << 16u);
    let normal = vec3<u32>(words.z) << vec3<u32>(22u, 12u, 2u);
    let tangent = vec3<u32>(words.w) << vec3<u32>(24u, 16u, 8u);
    (*morphed).position += gpuskin_high_snorms(position, 16u, 32767.0) * of_position;
    (*morphed).normal += gpuskin_high_snorms(normal, 22u, 511.0) * of_others;
    (*morphed).tangent += vec4<f32>(gpuskin_high_snorms(tangent, 24u, 127.0) * of_others, 0.0);
}

// Weights of four deltas.
fn gpuskin_morph_weights(pose: GpuskinPoseSource, words: vec4<u32>) -> vec4<f32> {
    let rows = (words >> vec4<u32>(16u)) & vec4<u32>(0xfffu);
    return vec4<f32>(
        gpuskin_bone_translation(pose, rows.x),
        gpuskin_bone_translation(pose, rows.y),
        gpuskin_bone_translation(pose, rows.z),
        gpuskin_bone_translation(pose, rows.w),
    );
}

// Vertex before skinning. Eight deltas are loaded together, then their weights: one after the other, each would wait for two
// loads. In variables, because arrays would be in memory.
fn gpuskin_morphed(input: GpuskinInput, pose: GpuskinPoseSource, vertex: GpuskinVertex) -> GpuskinVertex {
    var morphed = vertex;
    let list = gpuskin_morph_texel(input.vertex >> 2u)[input.vertex & 3u];
    let count = list & 0x7ffu;
    let first = list >> 11u;
    for (var start = 0u; start < count; start += 8u) {
        let left = vec4<u32>(count - start);
        let last = first + count - 1u;
        let at = first + start;
        let a = gpuskin_morph_texel(at);
        let b = gpuskin_morph_texel(min(at + 1u, last));
        let c = gpuskin_morph_texel(min(at + 2u, last));
        let d = gpuskin_morph_texel(min(at + 3u, last));
        let e = gpuskin_morph_texel(min(at + 4u, last));
        let f = gpuskin_morph_texel(min(at + 5u, last));
        let g = gpuskin_morph_texel(min(at + 6u, last));
        let h = gpuskin_morph_texel(min(at + 7u, last));
        let near = gpuskin_morph_weights(pose, vec4<u32>(a.y, b.y, c.y, d.y));
        let far = gpuskin_morph_weights(pose, vec4<u32>(e.y, f.y, g.y, h.y));
        let near_weights = select(vec4<f32>(0.0), near, left > vec4<u32>(0u, 1u, 2u, 3u));
        let far_weights = select(vec4<f32>(0.0), far, left > vec4<u32>(4u, 5u, 6u, 7u));
        gpuskin_add_delta(&morphed, a, near_weights.x);
        gpuskin_add_delta(&morphed, b, near_weights.y);
        gpuskin_add_delta(&morphed, c, near_weights.z);
        gpuskin_add_delta(&morphed, d, near_weights.w);
        gpuskin_add_delta(&morphed, e, far_weights.x);
        gpuskin_add_delta(&morphed, f, far_weights.y);
        gpuskin_add_delta(&morphed, g, far_weights.z);
        gpuskin_add_delta(&morphed, h, far_weights.w);
    }
    return morphed;
}
