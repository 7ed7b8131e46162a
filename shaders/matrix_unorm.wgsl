// matrix-unorm: bones as rows of 3x4 matrices, as 16-bit fractions of the model's ranges, three
// texels per bone. CPU reference: Texels::matrix in gpuskin-rt/src/encoding/texels.rs.

const gpuskin_texels: u32 = 3u;

fn gpuskin_stored_row(frame: u32, bone: u32, k: u32) -> vec4<f32> {
    let fraction = vec4<f32>(gpuskin_texel(frame, bone, k)) * (1.0 / 65535.0);
    let minimum = vec4<f32>(gpuskin_model.value_min.www, gpuskin_model.value_min[k]);
    let extent = vec4<f32>(gpuskin_model.value_extent.www, gpuskin_model.value_extent[k]);
    return minimum + extent * fraction;
}

// Skinning matrix of a bone in a frame.
fn gpuskin_stored_bone(frame: u32, bone: u32) -> mat3x4<f32> {
    return mat3x4<f32>(
        gpuskin_stored_row(frame, bone, 0u),
        gpuskin_stored_row(frame, bone, 1u),
        gpuskin_stored_row(frame, bone, 2u),
    );
}
