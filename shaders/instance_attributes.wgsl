// Instances from a vertex buffer.

// Number of the drawn instance within its draw.
fn gpuskin_instance_number(input: GpuskinInput) -> u32 {
    return input.number;
}

fn gpuskin_instance_of(input: GpuskinInput, time: vec2<u32>) -> GpuskinInstance {
    return gpuskin_instance(input.instance_0, input.instance_1, input.instance_2, input.instance_3);
}

fn gpuskin_appearance_of(input: GpuskinInput) -> GpuskinAppearance {
    return gpuskin_appearance(input.appearance);
}
