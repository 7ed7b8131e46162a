fn gpuskin_unpack_color(input: GpuskinInput) -> vec4<f32> {
    return vec4<f32>(1.0);
}
