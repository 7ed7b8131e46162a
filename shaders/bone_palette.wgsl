// Bones from a palette, which a compute pass has written: local-packed.

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
