// The skin matrix of a bone, whatever an instance fades from. How bones stand in a clip is told by the text before:
// GpuskinBone, gpuskin_bone_between, gpuskin_mix_bones and gpuskin_bone_matrix. Twin of Texels::bone in
// gpuskin-rt/src/encoding/texels.rs.
fn gpuskin_bone(shown: GpuskinShown, bone: u32) -> mat3x4<f32> {
    // Nothing fades, most of the time.
    if (shown.first == 2u) {
        return gpuskin_bone_matrix(gpuskin_bone_between(shown.current, bone));
    }
    // A loop, so that the text of a bone stands once: compiling is most of what start-up costs.
    var mixed: GpuskinBone;
    for (var i = shown.first; i < 3u; i++) {
        let next = gpuskin_bone_between(gpuskin_shown_clip(shown, i), bone);
        if (i == shown.first) {
            mixed = next;
        } else {
            mixed = gpuskin_mix_bones(mixed, next, select(shown.weight, 1.0 - shown.older, i == 1u));
        }
    }
    return gpuskin_bone_matrix(mixed);
}
