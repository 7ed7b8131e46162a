// No fifth to eighth influence.
fn gpuskin_unpack_more_joints(input: GpuskinInput) -> vec4<u32> {
    return vec4<u32>(0u);
}

fn gpuskin_unpack_more_weights(input: GpuskinInput) -> vec4<f32> {
    return vec4<f32>(0.0);
}
