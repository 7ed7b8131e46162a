// Instances from storage buffers, by a list of those that are drawn.

// The instance that is drawn.
fn gpuskin_instance_of(input: GpuskinInput, now: vec2<u32>) -> GpuskinInstance {
    let at = gpuskin_drawn[input.drawn].y * 4u;
    return gpuskin_instance(
        gpuskin_instances[at],
        gpuskin_instances[at + 1u],
        gpuskin_instances[at + 2u],
        gpuskin_instances[at + 3u],
    );
}

// Its number among all instances that share a palette.
fn gpuskin_instance_number(input: GpuskinInput) -> u32 {
    return gpuskin_drawn[input.drawn].y;
}

fn gpuskin_look_of(input: GpuskinInput) -> GpuskinLook {
    return gpuskin_look(gpuskin_looks[gpuskin_instance_number(input)]);
}
