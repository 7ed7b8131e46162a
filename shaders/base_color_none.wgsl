// Base colour without a texture.

fn base_color_texel(varyings: Varyings) -> vec4<f32> {
    return vec4<f32>(1.0);
}

fn depth_base_color_texel(varyings: DepthVaryings) -> vec4<f32> {
    return vec4<f32>(1.0);
}
