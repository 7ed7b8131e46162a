// The skin matrix of a bone between two frames, where frames hold matrices: component-wise. Twin of Texels::bone in
// gpuskin-rt/src/encoding/texels.rs.
fn gpuskin_bone(frames: GpuskinFramePair, bone: u32) -> mat3x4<f32> {
    return gpuskin_stored_bone(frames.a, bone) * (1.0 - frames.t) + gpuskin_stored_bone(frames.b, bone) * frames.t;
}
