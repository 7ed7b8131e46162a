// Texel k of a row (bone or vertex) in a frame, for an animation texture with one layer. CPU
// reference: AnimationTexture::texel in gpuskin-rt/src/model.rs.
fn gpuskin_texel(frame: u32, row: u32, k: u32) -> GpuskinTexel {
    let index = (frame * gpuskin_model.rows + row) * gpuskin_texels + k;
    let column = index & ((1u << gpuskin_model.width_shift) - 1u);
    return textureLoad(gpuskin_animation, vec2<u32>(column, index >> gpuskin_model.width_shift), 0);
}
