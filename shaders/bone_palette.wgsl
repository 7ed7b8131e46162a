// local-packed: bones from the palette that a compute pass has written.

// Index of the first matrix of an instance's pose.
alias GpuskinPoseSource = u32;

fn gpuskin_pose_source(input: GpuskinInput, instance: GpuskinInstance, time: vec2<u32>) -> GpuskinPoseSource {
    return gpuskin_slot(gpuskin_list[input.drawn].x) * gpuskin_model.palette_stride;
}

// Index of the first matrix of an instance's previous pose; the current pose if the palette does
// not keep it.
fn gpuskin_previous_pose_source(input: GpuskinInput, instance: GpuskinInstance, previous_time: vec2<u32>) -> GpuskinPoseSource {
    return gpuskin_pose_source(input, instance, previous_time) + gpuskin_model.palette_previous;
}

// Skinning matrix of a bone.
fn gpuskin_bone(pose: GpuskinPoseSource, bone: u32) -> mat3x4<f32> {
    return gpuskin_palette[pose + bone];
}
