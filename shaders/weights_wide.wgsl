// Second to fourth weight: 16 bits each, in steps of 1/65536.
fn gpuskin_unpack_weights(input: GpuskinInput) -> vec3<f32> {
    let words = gpuskin_words_1(input).yz;
    return vec3<f32>(vec3<u32>(words.x & 0xffffu, words.x >> 16u, words.y & 0xffffu)) / 65536.0;
}
