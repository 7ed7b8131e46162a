// The skin matrix of a bone, whatever an instance fades from. How bones stand in a clip is told by the text before:
// GpuskinBone, gpuskin_bone_between, gpuskin_mix_bones and gpuskin_bone_matrix. Twin of Texels::bone in
// gpuskin-rt/src/encoding/texels.rs.
fn gpuskin_bone(shown: GpuskinShown, bone: u32) -> mat3x4<f32> {
    var mixed = gpuskin_bone_between(shown.current, bone);
    if (shown.weight < 1.0) {
        var source = gpuskin_bone_between(shown.source, bone);
        if (shown.older > 0.0) {
            source = gpuskin_mix_bones(source, gpuskin_bone_between(shown.older_source, bone), shown.older);
        }
        mixed = gpuskin_mix_bones(source, mixed, shown.weight);
    }
    return gpuskin_bone_matrix(mixed);
}
