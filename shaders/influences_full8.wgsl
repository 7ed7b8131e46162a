// Fifth to eighth influence of full-precision vertices. CPU reference: unpack in
// gpuskin-rt/src/vertex.rs, which documents the layout.
fn gpuskin_unpack_more_joints(input: GpuskinInput) -> vec4<u32> {
    let word = gpuskin_words_3(input).z;
    let spread = gpuskin_words_2(input).x;
    let last = ((spread >> 10u) & 31u) | (((spread >> 26u) & 31u) << 5u);
    return vec4<u32>(word & 0x3ffu, (word >> 10u) & 0x3ffu, (word >> 20u) & 0x3ffu, last);
}

fn gpuskin_unpack_more_weights(input: GpuskinInput) -> vec4<f32> {
    return bitcast<vec4<f32>>(vec4<u32>(gpuskin_words_3(input).w, gpuskin_words_4(input).xyz));
}
