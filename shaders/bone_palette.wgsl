// Instances and their bones from storage buffers; a compute pass has written the bones: local-packed.

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

// Where the pose of an instance is: the index of its first matrix.
alias GpuskinShown = u32;

fn gpuskin_shown(input: GpuskinInput, instance: GpuskinInstance, now: vec2<u32>) -> GpuskinShown {
    return gpuskin_drawn[input.drawn].x * gpuskin_model.palette_stride;
}

// Where its pose at the last prepare before this one is; the same where the palette does not keep it.
fn gpuskin_shown_before(input: GpuskinInput, instance: GpuskinInstance, before: vec2<u32>) -> GpuskinShown {
    return gpuskin_shown(input, instance, before) + gpuskin_model.palette_before;
}

// The skin matrix of a bone.
fn gpuskin_bone(shown: GpuskinShown, bone: u32) -> mat3x4<f32> {
    return gpuskin_palette[shown + bone];
}
