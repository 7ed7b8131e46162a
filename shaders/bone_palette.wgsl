// Bones from a palette, which a compute pass has written: local-packed.

// Where the pose of an instance is: the index of its first matrix.
alias GpuskinShown = u32;

fn gpuskin_shown(input: GpuskinInput, instance: GpuskinInstance, now: vec2<u32>) -> GpuskinShown {
    return input.instance * gpuskin_model.palette_stride;
}

// The skin matrix of a bone.
fn gpuskin_bone(shown: GpuskinShown, bone: u32) -> mat3x4<f32> {
    return gpuskin_palette[shown + bone];
}
