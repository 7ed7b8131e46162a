// Base colour texture that all instances share.

struct DepthVaryings {
    @invariant @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) alpha: f32,
}

fn depth_varyings_of(position: vec4<f32>, skinned: GpuskinSkinned, input: GpuskinInput) -> DepthVaryings {
    var varyings: DepthVaryings;
    varyings.position = position;
    varyings.uv = skinned.uv;
    varyings.alpha = skinned.color.a;
    pass_depth_material(&varyings, input);
    return varyings;
}

fn base_color_texel(varyings: Varyings) -> vec4<f32> {
    return base_color_sampled(varyings.uv);
}

fn depth_base_color_texel(varyings: DepthVaryings) -> vec4<f32> {
    return base_color_sampled(varyings.uv);
}
