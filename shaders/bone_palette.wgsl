// local-packed: bones from the palette that a compute pass has written.

// Index of the first matrix of an instance's pose.
alias GpuskinPoseSource = u32;

fn gpuskin_shown(input: GpuskinInput, instance: GpuskinInstance, now: vec2<u32>) -> GpuskinPoseSource {
    return gpuskin_list[input.drawn].x * gpuskin_model.palette_stride;
}

// Index of the first matrix of an instance's previous pose; the current pose if the palette does
// not keep it.
fn gpuskin_previous_pose_source(input: GpuskinInput, instance: GpuskinInstance, before: vec2<u32>) -> GpuskinPoseSource {
    return gpuskin_shown(input, instance, before) + gpuskin_model.palette_before;
}

// Skinning matrix of a bone.
fn gpuskin_bone(shown: GpuskinPoseSource, bone: u32) -> mat3x4<f32> {
    return gpuskin_palette[shown + bone];
}
