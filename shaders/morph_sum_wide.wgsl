// Sums of deltas where vertex shaders add them, from animation textures. Counterpart: morph_sum.wgsl.

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

// Sum of a start and the deltas of a vertex. Eight deltas are loaded together, then their weights: one after the other, each
// would wait for two loads. In variables, because arrays would be in memory.
fn gpuskin_morph_sum(pose: GpuskinPoseSource, vertex: u32, start: GpuskinMorph) -> GpuskinMorph {
    var sum = start;
    let word = gpuskin_morph_word(gpuskin_morph_lists_at + vertex);
    let count = word & 0x7ffu;
    let first = word >> 11u;
    for (var done = 0u; done < count; done += 8u) {
        let left = vec4<u32>(count - done);
        let last = first + count - 1u;
        let at = first + done;
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
        gpuskin_add_delta(&sum, a, near_weights.x);
        gpuskin_add_delta(&sum, b, near_weights.y);
        gpuskin_add_delta(&sum, c, near_weights.z);
        gpuskin_add_delta(&sum, d, near_weights.w);
        gpuskin_add_delta(&sum, e, far_weights.x);
        gpuskin_add_delta(&sum, f, far_weights.y);
        gpuskin_add_delta(&sum, g, far_weights.z);
        gpuskin_add_delta(&sum, h, far_weights.w);
    }
    return sum;
}
