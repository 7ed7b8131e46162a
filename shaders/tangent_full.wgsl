// Words 14 to 17.
fn gpuskin_unpack_tangent(input: GpuskinInput) -> vec4<f32> {
    return bitcast<vec4<f32>>(vec4<u32>(input.words_3.zw, input.words_4.xy));
}
