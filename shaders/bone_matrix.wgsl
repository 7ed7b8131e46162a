// Bones stored as matrices; interpolated component-wise between frames and clips.

alias GpuskinBone = mat3x4<f32>;

fn gpuskin_mix_bones(a: GpuskinBone, b: GpuskinBone, t: f32) -> GpuskinBone {
    return a * (1.0 - t) + b * t;
}

fn gpuskin_bone_between(frames: GpuskinFramePair, bone: u32) -> GpuskinBone {
    return gpuskin_mix_bones(gpuskin_stored_bone(frames.a, bone), gpuskin_stored_bone(frames.b, bone), frames.t);
}

fn gpuskin_bone_matrix(bone: GpuskinBone) -> mat3x4<f32> {
    return bone;
}
