// Texel k of a row (bone or vertex) in a frame, for an animation texture with several layers. CPU
// reference: AnimationTexture::texel in gpuskin-rt/src/model.rs.
fn gpuskin_texel(frame: u32, row: u32, k: u32) -> GpuskinTexel {
    let layer = frame / gpuskin_model.frames_per_layer;
    let frame_in_layer = frame - layer * gpuskin_model.frames_per_layer;
    let index = (frame_in_layer * gpuskin_model.rows + row) * gpuskin_texels + k;
    let column = index & ((1u << gpuskin_model.width_shift) - 1u);
    return textureLoad(gpuskin_animation, vec2<u32>(column, index >> gpuskin_model.width_shift), layer, 0);
}
