// fixed16: bones as a quaternion, then a translation and a uniform scale, four texels per bone.
// Each number is two bytes: a sign, 7 integer bits and 8 fraction bits. CPU reference: Texels::trs
// in gpuskin-rt/src/encoding/texels.rs.

const gpuskin_texels: u32 = 4u;

// Two numbers from a texel.
fn gpuskin_from_fixed16(texel: vec4<u32>) -> vec2<f32> {
    let magnitude = vec2<f32>(texel.xz & vec2<u32>(0x7fu)) + vec2<f32>(texel.yw) / 256.0;
    return select(magnitude, -magnitude, (texel.xz & vec2<u32>(0x80u)) != vec2<u32>(0u));
}

fn gpuskin_stored_trs(frame: u32, bone: u32) -> GpuskinTrs {
    return GpuskinTrs(
        vec4<f32>(
            gpuskin_from_fixed16(gpuskin_texel(frame, bone, 0u)),
            gpuskin_from_fixed16(gpuskin_texel(frame, bone, 1u)),
        ),
        vec4<f32>(
            gpuskin_from_fixed16(gpuskin_texel(frame, bone, 2u)),
            gpuskin_from_fixed16(gpuskin_texel(frame, bone, 3u)),
        ),
    );
}
