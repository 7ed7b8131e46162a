// Transforms of the previous frame, from a vertex buffer.

// Instance at the previous time.
fn gpuskin_previous_instance_of(input: GpuskinInput, previous_time: vec2<u32>) -> GpuskinInstance {
    let rotation = gpuskin_unpack_rotation(input.previous_look.xy);
    return gpuskin_with_transform(gpuskin_instance_of(input, previous_time), input.previous_place, rotation);
}
