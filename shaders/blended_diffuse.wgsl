
// Texture of the base colour of the diffuse material.
fn base_color_texel(uv: vec2<f32>) -> vec4<f32> {
    return textureSample(base_color_texture, base_color_sampler, uv);
}
