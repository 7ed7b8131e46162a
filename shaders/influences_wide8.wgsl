// Fifth to eighth influence of packed vertices. CPU reference: unpack in gpuskin-rt/src/vertex.rs, which
// documents the layout.
fn gpuskin_unpack_more_joints(input: GpuskinInput) -> vec4<u32> {
    let low = vec4<u32>(gpuskin_words_1(input).w) >> vec4<u32>(0u, 8u, 16u, 24u);
    let high = gpuskin_words_2(input).xxyy >> vec4<u32>(28u, 30u, 28u, 30u);
    return (low & vec4<u32>(0xffu)) | ((high & vec4<u32>(3u)) << vec4<u32>(8u));
}

fn gpuskin_unpack_more_weights(input: GpuskinInput) -> vec4<f32> {
    let steps = gpuskin_words_2(input).xxyy >> vec4<u32>(0u, 14u, 0u, 14u);
    return vec4<f32>(steps & vec4<u32>(0x3fffu)) / 65536.0;
}

fn gpuskin_tangent_word(input: GpuskinInput) -> u32 {
    return gpuskin_words_2(input).z;
}
