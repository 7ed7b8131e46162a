// Transforms of the previous frame, from a storage buffer.

// Instance at the previous time.
fn gpuskin_previous_instance_of(input: GpuskinInput, previous_time: vec2<u32>) -> GpuskinInstance {
    let at = gpuskin_list[input.drawn].y * 2u;
    let instance = gpuskin_instance_of(input, previous_time);
    return gpuskin_with_transform(instance, gpuskin_previous_transforms[at], gpuskin_previous_transforms[at + 1u]);
}
