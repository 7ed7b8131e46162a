// Instances from storage buffers, by the list of drawn instances.

// Transform of the drawn instance. Its pose is in the palette: what it plays is zero.
fn gpuskin_instance_of(input: GpuskinInput, time: vec2<u32>) -> GpuskinInstance {
    let at = gpuskin_list[input.drawn].y * 2u;
    var instance: GpuskinInstance;
    return gpuskin_with_transform(instance, gpuskin_transforms[at], gpuskin_transforms[at + 1u]);
}

// Number of the drawn instance among those that share a palette.
fn gpuskin_instance_number(input: GpuskinInput) -> u32 {
    return gpuskin_list[input.drawn].y;
}

fn gpuskin_appearance_of(input: GpuskinInput) -> GpuskinAppearance {
    return gpuskin_appearance(gpuskin_appearances[gpuskin_instance_number(input)]);
}
