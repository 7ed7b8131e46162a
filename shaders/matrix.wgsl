// matrix-f32 and matrix-f16: bones as rows of 3x4 matrices, three texels per bone. CPU reference:
// Texels::matrix in gpuskin-rt/src/encoding/texels.rs.

const gpuskin_texels: u32 = 3u;

// Skinning matrix of a bone in a frame.
fn gpuskin_stored_bone(frame: u32, bone: u32) -> mat3x4<f32> {
    return mat3x4<f32>(
        gpuskin_texel(frame, bone, 0u),
        gpuskin_texel(frame, bone, 1u),
        gpuskin_texel(frame, bone, 2u),
    );
}
