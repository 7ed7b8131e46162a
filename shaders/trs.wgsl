// trs-f16: bones as a quaternion, then a translation and a uniform scale, two texels per bone. CPU
// reference: Texels::trs in gpuskin-rt/src/encoding/texels.rs.

const gpuskin_texels: u32 = 2u;

fn gpuskin_stored_trs(frame: u32, bone: u32) -> GpuskinTrs {
    return GpuskinTrs(gpuskin_texel(frame, bone, 0u), gpuskin_texel(frame, bone, 1u));
}
