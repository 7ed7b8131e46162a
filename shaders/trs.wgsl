// Bones as a quaternion, then a translation and a uniform scale, two texels: trs-f16. Twin of Texels::bone in
// gpuskin-rt/src/encoding.rs.

const gpuskin_texels: u32 = 2u;

// The skin matrix of a bone between two frames: the shortest arc between rotations (a quaternion and its negative are
// the same one), normalised; the rest component-wise.
fn gpuskin_bone(frames: GpuskinFramePair, bone: u32) -> mat3x4<f32> {
    let rotation_a = gpuskin_texel(frames.a, bone, 0u);
    let rotation_b = gpuskin_texel(frames.b, bone, 0u);
    let nearest_b = select(rotation_b, -rotation_b, dot(rotation_a, rotation_b) < 0.0);
    let rotation = normalize(rotation_a * (1.0 - frames.t) + nearest_b * frames.t);
    let translation_a = gpuskin_texel(frames.a, bone, 1u);
    let translation_b = gpuskin_texel(frames.b, bone, 1u);
    let translation = translation_a * (1.0 - frames.t) + translation_b * frames.t;
    return gpuskin_from_trs(rotation, translation.xyz, translation.w);
}
