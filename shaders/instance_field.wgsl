// Instances of a field: from their number alone.

fn gpuskin_instance_number(input: GpuskinInput) -> u32 {
    return input.number;
}

fn gpuskin_instance_of(input: GpuskinInput, now: vec2<u32>) -> GpuskinInstance {
    return gpuskin_field_instance(input.number, now);
}

fn gpuskin_look_of(input: GpuskinInput) -> GpuskinLook {
    return gpuskin_field_look(input.number);
}
