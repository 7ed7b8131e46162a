// Packed vertices. CPU reference: unpack in gpuskin-rt/src/vertex.rs, which documents the layout.

fn gpuskin_unpack(input: GpuskinInput) -> GpuskinVertex {
    let words = input.words_0;
    let position = vec3<f32>(vec3<u32>(words.x & 0xffffu, words.x >> 16u, words.y & 0xffffu)) / 65535.0;
    let uv = vec2<f32>(vec2<u32>(words.w & 0xffffu, words.w >> 16u)) / 65535.0;
    let low = vec4<u32>(gpuskin_words_1(input).x) >> vec4<u32>(0u, 8u, 16u, 24u);
    let high = vec4<u32>(words.y) >> vec4<u32>(16u, 18u, 20u, 22u);
    let weights = gpuskin_unpack_weights(input);
    let more = gpuskin_unpack_more_weights(input);
    return GpuskinVertex(
        gpuskin_model.position_min + gpuskin_model.position_extent * position,
        gpuskin_from_octahedral(vec2<f32>(gpuskin_high_snorm16(words.z << 16u), gpuskin_high_snorm16(words.z))),
        gpuskin_unpack_tangent(input),
        gpuskin_model.uv_min + gpuskin_model.uv_extent * uv,
        (low & vec4<u32>(0xffu)) | ((high & vec4<u32>(3u)) << vec4<u32>(8u)),
        // The first weight is the remainder to 1: exact, since all are small multiples of a power
        // of two.
        vec4<f32>(1.0 - weights.x - weights.y - weights.z - more.x - more.y - more.z - more.w, weights),
        words.y >> 24u,
        gpuskin_unpack_color(input),
        gpuskin_unpack_more_joints(input),
        more,
    );
}
