// Words 19 to 22.
fn gpuskin_unpack_tangent(input: GpuskinInput) -> vec4<f32> {
    return bitcast<vec4<f32>>(vec4<u32>(gpuskin_words_4(input).w, gpuskin_words_5(input).xyz));
}
