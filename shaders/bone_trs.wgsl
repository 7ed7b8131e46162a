// Bones stored with rotations.

struct GpuskinTrs {
    // Quaternion x, y, z, w.
    rotation: vec4<f32>,
    // Translation in metres, then uniform scale.
    translation: vec4<f32>,
}

alias GpuskinBone = GpuskinTrs;

fn gpuskin_mix_bones(a: GpuskinBone, b: GpuskinBone, t: f32) -> GpuskinBone {
    return GpuskinBone(
        gpuskin_blend_rotation(a.rotation, b.rotation, t),
        a.translation * (1.0 - t) + b.translation * t,
    );
}

fn gpuskin_bone_between(frames: GpuskinFramePair, bone: u32) -> GpuskinBone {
    return gpuskin_mix_bones(gpuskin_stored_trs(frames.a, bone), gpuskin_stored_trs(frames.b, bone), frames.t);
}

fn gpuskin_bone_matrix(bone: GpuskinBone) -> mat3x4<f32> {
    return gpuskin_from_trs(bone.rotation, bone.translation.xyz, bone.translation.w);
}
