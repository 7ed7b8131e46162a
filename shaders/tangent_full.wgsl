// Words 14 to 17.
fn gpuskin_unpack_tangent(input: GpuskinInput) -> vec4<f32> {
    return bitcast<vec4<f32>>(vec4<u32>(gpuskin_words_3(input).zw, gpuskin_words_4(input).xy));
}
