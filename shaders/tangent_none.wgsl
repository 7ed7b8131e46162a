fn gpuskin_unpack_tangent(input: GpuskinInput) -> vec4<f32> {
    return vec4<f32>(1.0, 0.0, 0.0, 0.0);
}
