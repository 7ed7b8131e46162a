// Words 19 to 22.
fn gpuskin_unpack_tangent(input: GpuskinInput) -> vec4<f32> {
    return bitcast<vec4<f32>>(vec4<u32>(input.words_4.w, input.words_5.xyz));
}
