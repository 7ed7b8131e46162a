// Base colour texture that all instances share.

fn base_color_texel(varyings: Varyings) -> vec4<f32> {
    return base_color_sampled(varyings.uv);
}

fn depth_base_color_texel(varyings: DepthVaryings) -> vec4<f32> {
    return base_color_sampled(varyings.uv);
}
