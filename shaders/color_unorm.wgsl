// The last word: red, green, blue and alpha, 8 bits each. By hand: WebGL2 has no unpackUnorm4x8.
fn gpuskin_unpack_color(input: GpuskinInput) -> vec4<f32> {
    let word = gpuskin_color_word(input);
    return vec4<f32>((vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu)) / 255.0;
}
