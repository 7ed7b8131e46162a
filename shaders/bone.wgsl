// Skinning matrix of a bone, including fades. The shader text before this file defines the encoding
// of bones: GpuskinBone, gpuskin_bone_between, gpuskin_mix_bones and gpuskin_bone_matrix. CPU
// reference: Texels::bone in gpuskin-rt/src/encoding/texels.rs.
fn gpuskin_bone(shown: GpuskinPoseSource, bone: u32) -> mat3x4<f32> {
    // The usual case: no fade.
    if (shown.first == 2u) {
        return gpuskin_bone_matrix(gpuskin_bone_between(shown.current, bone));
    }
    // A loop, so that the code of a bone is compiled only once: compiling dominates the start-up
    // time.
    var mixed: GpuskinBone;
    for (var i = shown.first; i < 3u; i++) {
        let next = gpuskin_bone_between(gpuskin_blended_clip(shown, i), bone);
        if (i == shown.first) {
            mixed = next;
        } else {
            mixed = gpuskin_mix_bones(mixed, next, select(shown.weight, 1.0 - shown.older, i == 1u));
        }
    }
    return gpuskin_bone_matrix(mixed);
}
