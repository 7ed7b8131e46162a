// Skinning matrix of a bone, including fades. The shader text before this file defines the encoding
// of bones: GpuskinBone, gpuskin_bone_between, gpuskin_mix_bones and gpuskin_bone_matrix. CPU
// reference: Texels::bone in gpuskin-rt/src/encoding/texels.rs.
fn gpuskin_bone(pose: GpuskinPoseSource, bone: u32) -> mat3x4<f32> {
    // The usual case: no fade.
    if (pose.first == 2u) {
        return gpuskin_bone_matrix(gpuskin_bone_between(pose.current, bone));
    }
    // A loop, so that the code of a bone is compiled only once: compiling dominates the start-up
    // time.
    var mixed: GpuskinBone;
    for (var i = pose.first; i < 3u; i++) {
        let next = gpuskin_bone_between(gpuskin_blended_clip(pose, i), bone);
        if (i == pose.first) {
            mixed = next;
        } else {
            mixed = gpuskin_mix_bones(mixed, next, select(pose.weight, 1.0 - pose.older_weight, i == 1u));
        }
    }
    return gpuskin_bone_matrix(mixed);
}
