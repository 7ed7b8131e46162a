// No transforms of the previous frame: instances do not move.

// Instance at the previous time.
fn gpuskin_previous_instance_of(input: GpuskinInput, previous_time: vec2<u32>) -> GpuskinInstance {
    return gpuskin_instance_of(input, previous_time);
}
