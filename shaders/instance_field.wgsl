// Instances of a field, derived from their number.

fn gpuskin_instance_number(input: GpuskinInput) -> u32 {
    return input.number;
}

fn gpuskin_instance_of(input: GpuskinInput, time: vec2<u32>) -> GpuskinInstance {
    return gpuskin_field_instance(input.number, time);
}

fn gpuskin_appearance_words(input: GpuskinInput) -> vec4<u32> {
    return gpuskin_field_appearance_words(input.number);
}
