// Last word: red, green, blue and alpha, 8 bits each.
fn gpuskin_unpack_color(input: GpuskinInput) -> vec4<f32> {
    return gpuskin_unorm4x8(gpuskin_color_word(input));
}
