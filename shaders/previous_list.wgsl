// Transforms of the previous frame, from a storage buffer.

// Instance at the previous time.
fn gpuskin_previous_instance_of(input: GpuskinInput, previous_time: vec2<u32>) -> GpuskinInstance {
    let at = gpuskin_list[input.drawn].y * 2u;
    let instance = gpuskin_instance_of(input, previous_time);
    let rotation = gpuskin_unpack_rotation(gpuskin_previous_places[at + 1u].xy);
    return gpuskin_with_transform(instance, bitcast<vec4<f32>>(gpuskin_previous_places[at]), rotation);
}
