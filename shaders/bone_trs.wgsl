// The skin matrix of a bone between two frames, where frames hold rotations. Twin of Texels::bone in
// gpuskin-rt/src/encoding/texels.rs.

struct GpuskinTrs {
    // Quaternion x, y, z, w.
    rotation: vec4<f32>,
    // Translation in metres, uniform scale.
    translation: vec4<f32>,
}

fn gpuskin_bone(frames: GpuskinFramePair, bone: u32) -> mat3x4<f32> {
    let a = gpuskin_stored_trs(frames.a, bone);
    let b = gpuskin_stored_trs(frames.b, bone);
    let translation = a.translation * (1.0 - frames.t) + b.translation * frames.t;
    let rotation = gpuskin_blend_rotation(a.rotation, b.rotation, frames.t);
    return gpuskin_from_trs(rotation, translation.xyz, translation.w);
}
