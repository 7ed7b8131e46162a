// Second to fourth weight: 11, 11 and 10 bits, in steps of 1/4096.
fn gpuskin_unpack_weights(input: GpuskinInput) -> vec3<f32> {
    let word = gpuskin_words_1(input).y;
    return vec3<f32>(vec3<u32>(word & 2047u, (word >> 11u) & 2047u, word >> 22u)) / 4096.0;
}

fn gpuskin_tangent_word(input: GpuskinInput) -> u32 {
    return gpuskin_words_1(input).z;
}
