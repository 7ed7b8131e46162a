// Instances from storage buffers, by the list of drawn instances.

// Record of the drawn instance.
fn gpuskin_instance_of(input: GpuskinInput, time: vec2<u32>) -> GpuskinInstance {
    let at = gpuskin_list[input.drawn].y * 4u;
    return gpuskin_instance(
        gpuskin_instances[at],
        gpuskin_instances[at + 1u],
        gpuskin_instances[at + 2u],
        gpuskin_instances[at + 3u],
    );
}

// Number of the drawn instance among those that share a palette.
fn gpuskin_instance_number(input: GpuskinInput) -> u32 {
    return gpuskin_list[input.drawn].y;
}

fn gpuskin_appearance_of(input: GpuskinInput) -> GpuskinAppearance {
    return gpuskin_appearance(gpuskin_appearances[gpuskin_instance_number(input)]);
}
